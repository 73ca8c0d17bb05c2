#include "tui/files/complete_path.h"

#include "hlo/support/text.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NAMES_BYTES = 400, LOOKED_AT = 20000 };

struct matches {
    int count;
    char shared[NAME_MAX + 1];
};

static void add_match(struct matches *m, const char *name)
{
    size_t same = 0;

    if (m->count++ == 0) {
        snprintf(m->shared, sizeof m->shared, "%s", name);
        return;
    }
    while (m->shared[same] && m->shared[same] == name[same])
        same++;
    m->shared[same] = 0;
}

static void add_name(struct str *names, const char *name)
{
    char clean[NAME_MAX * 4 + 1];

    if (!names || names->size > NAMES_BYTES)
        return;
    text_clean(clean, sizeof clean, name, strlen(name));
    str_format(names, "%s%s", names->size ? "  " : "", clean);
}

static bool is_directory(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

/* Names are sorted, for a directory gives them in any order. */
static void look_in_folder(const char *dir, const char *begin, struct matches *m, struct str *names)
{
    DIR *d = opendir(dir);
    char **found = NULL;
    size_t count = 0, room = 0;

    if (!d)
        return;
    for (int seen = 0; seen < LOOKED_AT; seen++) {
        const struct dirent *entry = readdir(d);
        if (!entry)
            break;
        bool hidden = entry->d_name[0] == '.' && begin[0] != '.';
        if (hidden || strncmp(entry->d_name, begin, strlen(begin)) != 0 ||
            !mem_grow(&found, &room, count, 1))
            continue;
        if ((found[count] = strdup(entry->d_name)))
            count++;
    }
    closedir(d);
    if (count)
        qsort(found, count, sizeof *found, by_name);
    for (size_t n = 0; n < count; n++) {
        add_match(m, found[n]);
        add_name(names, found[n]);
        free(found[n]);
    }
    free(found);
}

int complete_path(const char *typed, char *most, size_t room, struct str *names)
{
    const char *slash = strrchr(typed, '/'), *begin = slash ? slash + 1 : typed;
    char dir[PATH_MAX];
    struct matches m = {0};

    snprintf(most, room, "%s", typed);
    if ((size_t)(begin - typed) >= sizeof dir)
        return 0;
    snprintf(dir, sizeof dir, "%.*s", (int)(begin - typed), typed);
    look_in_folder(slash ? dir : ".", begin, &m, names);
    if (!m.count)
        return 0;
    snprintf(most, room, "%.*s%s", (int)(begin - typed), typed, m.shared);
    size_t size = strlen(most);
    if (m.count == 1 && size + 2 < room && is_directory(most))
        memcpy(most + size, "/", 2);
    return m.count;
}
