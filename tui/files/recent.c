#include "tui/files/recent.h"

#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/files/user_files.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FILE_MOST = 64 * 1024 };

static const char *path_of(char out[static PATH_MAX], const char *state_dir)
{
    snprintf(out, PATH_MAX, "%s/recent", state_dir);
    return out;
}

static int parse_recent(struct recent *r, char *line)
{
    char *field[6] = {NULL}, *end;

    for (int i = 0; i < 6 && line; i++) {
        field[i] = line;
        line = strchr(line, '\t');
        if (line)
            *line++ = 0;
    }
    if (!field[4])
        return 0;
    r->session[0] = 0;
    if (field[5] && strlen(field[5]) < sizeof r->session)
        memcpy(r->session, field[5], strlen(field[5]) + 1);
    r->time = strtoll(field[0], &end, 10);
    if (*end || end == field[0] || r->time < 0)
        return 0;
    r->best_ms = strtod(field[1], NULL);
    r->gap = strtod(field[2], NULL);
    return snprintf(r->cluster, sizeof r->cluster, "%s", field[3]) < (int)sizeof r->cluster &&
           snprintf(r->path, sizeof r->path, "%s", field[4]) < (int)sizeof r->path && r->path[0];
}

int recent_load(struct recent out[static RECENT_MOST], const char *state_dir)
{
    char path[PATH_MAX], *text = NULL;
    struct err e = {0};
    size_t size = 0;
    int count = 0;

    if (!state_dir || file_read(&text, &size, path_of(path, state_dir), FILE_MOST, &e))
        return 0;
    for (char *line = text, *end; line && *line && count < RECENT_MOST; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        count += parse_recent(&out[count], line);
    }
    free(text);
    return count;
}

static void add_line(struct str *s, const struct recent *r)
{
    if (!strpbrk(r->path, "\t\n") && !strpbrk(r->cluster, "\t\n") && !strpbrk(r->session, "\t\n"))
        str_format(s, "%lld\t%.1f\t%.4f\t%s\t%s\t%s\n", (long long)r->time, r->best_ms, r->gap,
                   r->cluster, r->path, r->session);
}

void recent_add(const char *state_dir, const struct recent *r)
{
    struct recent *old = mem_alloc(RECENT_MOST * sizeof *old);
    struct str s = {.limit = FILE_MOST};
    struct err ignored = {0};
    char path[PATH_MAX];
    int count = recent_load(old, state_dir), kept = 1;

    add_line(&s, r);
    for (int i = 0; i < count && kept < RECENT_MOST; i++) {
        if (strcmp(old[i].path, r->path) != 0 || strcmp(old[i].cluster, r->cluster) != 0) {
            add_line(&s, &old[i]);
            kept++;
        }
    }
    if (state_dir && s.text && file_write(path_of(path, state_dir), s.text, s.size, true, &ignored))
        ignored.code = ERR_NONE; /* a list of conveniences is not worth a message */
    str_release(&s);
    free(old);
}

char *recent_day(char out[static 16], int64_t then, int64_t today)
{
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    int64_t days = today / 86400 - then / 86400;
    time_t a = (time_t)then, b = (time_t)today;
    struct tm day, now;

    if (!gmtime_r(&a, &day) || !gmtime_r(&b, &now)) { /* a year that no int holds */
        out[0] = 0;
        return out;
    }
    if (days == 0 || days == 1)
        snprintf(out, 16, "%s", days ? "yesterday" : "today");
    else if (day.tm_year == now.tm_year)
        snprintf(out, 16, "%d %s", day.tm_mday, months[day.tm_mon]);
    else
        snprintf(out, 16, "%d %s %d", day.tm_mday, months[day.tm_mon],
                 (day.tm_year + 1900) % 10000);
    return out;
}
