#include "tui/files/sessions.h"

#include "engine/live/journal.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/files/user_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool dir_of(char out[static PATH_MAX], const char *state_dir)
{
    int size = state_dir ? snprintf(out, PATH_MAX, "%s/sessions", state_dir) : -1;

    return size > 0 && size < PATH_MAX - SESSION_NAME_ROOM - 16;
}

/* ---- which are there ---- */

struct found {
    char name[SESSION_NAME_ROOM];
    struct timespec changed;
};

static int compare_found(const void *x, const void *y)
{
    const struct found *a = x, *b = y;

    if (a->changed.tv_sec != b->changed.tv_sec)
        return a->changed.tv_sec < b->changed.tv_sec ? 1 : -1;
    if (a->changed.tv_nsec != b->changed.tv_nsec)
        return a->changed.tv_nsec < b->changed.tv_nsec ? 1 : -1;
    return strcmp(b->name, a->name);
}

static bool is_journal(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && name[0] != '.' && strlen(name) < SESSION_NAME_ROOM &&
           strcmp(dot, ".checkpoint") != 0 && strcmp(dot, ".new") != 0;
}

/* All of them, newest first; to be freed. */
static struct found *list_sessions(const char *dir, size_t *count)
{
    struct found *all = NULL;
    size_t room = 0;
    DIR *d = opendir(dir);

    *count = 0;
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct stat about;
        if (!is_journal(entry->d_name) || fstatat(dirfd(d), entry->d_name, &about, 0) ||
            !S_ISREG(about.st_mode) || !mem_grow(&all, &room, *count, 1))
            continue;
        struct found *f = &all[(*count)++];
        memcpy(f->name, entry->d_name, strlen(entry->d_name) + 1);
        f->changed = about.st_mtim;
    }
    if (d)
        closedir(d);
    if (*count)
        qsort(all, *count, sizeof *all, compare_found);
    return all;
}

/* Whether somebody writes it now: a search holds a lock on its journal. */
static bool is_running(const char *dir, const char *name)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return is_held;
}

/* Unless a session writes it. */
static void remove_session(const char *dir, const char *name)
{
    char path[2 * PATH_MAX], beside[2 * PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!flock(fd, LOCK_EX | LOCK_NB)) {
        unlink(path);
        if (checkpoint_path(beside, sizeof beside, path))
            unlink(beside);
    }
    close(fd);
}

/* ---- a new one ---- */

/* "t5-base6" of "models/t5-base6.hlo.txt", nothing that a shell or a screen might take amiss. */
static void plain_path(char *out, size_t room, const char *path)
{
    const char *name = hlo_file_name(path);
    size_t size = 0;

    for (; *name && *name != '.' && size + 1 < room; name++) {
        unsigned char c = (unsigned char)*name;
        bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c == '-' && size) || c == '_'; /* no option begins a name */
        out[size++] = kept ? *name : '_';
    }
    out[size] = 0;
}

bool session_new_path(char out[static PATH_MAX], const char *state_dir, const char *model,
                      const char *cluster, int64_t now)
{
    char dir[PATH_MAX], m[96], c[96], day[32];
    time_t then = (time_t)now;
    struct tm t;
    size_t count;

    if (!dir_of(dir, state_dir))
        return false;
    mkdir(dir, 0700);
    struct found *all = list_sessions(dir, &count);
    for (size_t n = SESSIONS_MOST - 1; n < count; n++)
        remove_session(dir, all[n].name);
    free(all);
    plain_path(m, sizeof m, model);
    plain_path(c, sizeof c, cluster);
    gmtime_r(&then, &t);
    strftime(day, sizeof day, "%Y%m%d-%H%M%S", &t);
    for (int n = 1; n < 1000; n++) {
        char again[16] = "";
        if (n > 1)
            snprintf(again, sizeof again, "-%d", n);
        int size = snprintf(out, PATH_MAX, "%s/%s.%s.%s%s", dir, m, c, day, again);
        if (size > 0 && size < PATH_MAX && !file_is_there(out))
            return true;
    }
    return false;
}

bool session_find(char out[static PATH_MAX], const char *state_dir, const char *name)
{
    char dir[PATH_MAX];
    size_t count = 0;

    if (strchr(name, '/') || file_is_there(name))
        return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
    if (!dir_of(dir, state_dir))
        return false;
    if (strcmp(name, "last") != 0) {
        int size = snprintf(out, PATH_MAX, "%s/%s", dir, name);
        return size > 0 && size < PATH_MAX && file_is_there(out);
    }
    struct found *all = list_sessions(dir, &count);
    size_t n = 0;
    while (n < count && is_running(dir, all[n].name))
        n++;
    n = n < count ? n : 0; /* all run: the newest is refused with its reason */
    bool any = count && snprintf(out, PATH_MAX, "%s/%s", dir, all[n].name) < PATH_MAX;
    free(all);
    return any;
}

int session_names(struct session_name out[static SESSIONS_MOST], const char *state_dir)
{
    char dir[PATH_MAX];
    size_t count = 0;
    int n = 0;

    if (!dir_of(dir, state_dir))
        return 0;
    struct found *all = list_sessions(dir, &count);
    for (; (size_t)n < count && n < SESSIONS_MOST; n++)
        memcpy(out[n].text, all[n].name, sizeof all[n].name);
    free(all);
    return n;
}

/* ---- a look at one ---- */

enum { TAIL = 16384, SUM_DIGITS = 16 };

static void take_line(const char *line, uint64_t *steps, double *best_ms)
{
    uint64_t step, score, ms;
    char kind;

    if (strlen(line) < SUM_DIGITS + 2 ||
        sscanf(line + SUM_DIGITS, " %c %" SCNu64, &kind, &step) != 2)
        return;
    if (strchr("csebm", kind))
        *steps = step;
    if (kind == 'b' && sscanf(line + SUM_DIGITS + 3, "%*u %" SCNx64 " %" SCNx64, &score, &ms) == 2)
        memcpy(best_ms, &ms, sizeof *best_ms);
}

bool session_glance(const char *path, uint64_t *steps, double *best_ms)
{
    char text[TAIL + 1];
    FILE *f = fopen(path, "rb");

    *steps = 0;
    *best_ms = 0;
    if (!f)
        return false;
    bool cut = !fseeko(f, -TAIL, SEEK_END);
    if (!cut)
        rewind(f);
    size_t size = fread(text, 1, TAIL, f);
    fclose(f);
    text[size] = 0;
    char *at = cut ? strchr(text, '\n') : text, *end;
    for (; at && (end = strchr(at, '\n')); at = end + 1) {
        *end = 0;
        take_line(at, steps, best_ms);
    }
    return *steps > 0;
}
