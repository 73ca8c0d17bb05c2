#include "tui/screen/path.h"

#include "tui/screen/grid.h"
#include "tui/screen/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PARTS_MOST = 32, PATH_ROOM = 512 };

struct parts {
    const char *at[PARTS_MOST];
    int size[PARTS_MOST], count;
    int widest; /* a part of more columns is cut in its middle */
};

static void split_path(struct parts *p, const char *path)
{
    p->count = 0;
    while (p->count < PARTS_MOST) {
        size_t size = p->count + 1 < PARTS_MOST ? strcspn(path, "/") : strlen(path);
        p->at[p->count] = path;
        p->size[p->count++] = (int)size;
        if (!path[size])
            return;
        path += size + 1;
    }
}

static const char *part_text(const struct parts *p, int n, char out[static PATH_ROOM])
{
    char part[PATH_ROOM];

    snprintf(part, sizeof part, "%.*s", p->size[n], p->at[n]);
    return text_cut_middle(out, PATH_ROOM, part, p->widest);
}

/* The parts that are kept, ".." for each run that is not. Returns its columns. */
static int join_kept(const struct parts *p, uint32_t kept, char out[static PATH_ROOM])
{
    char part[PATH_ROOM];
    size_t size = 0;

    out[0] = 0;
    for (int n = 0; n < p->count && size + 1 < PATH_ROOM; n++) {
        bool keeps = kept >> n & 1;
        if (!keeps && n && !(kept >> (n - 1) & 1))
            continue;
        size += (size_t)snprintf(out + size, PATH_ROOM - size, "%s%s", n ? "/" : "",
                                 keeps ? part_text(p, n, part) : "..");
    }
    return utf8_text_columns(out);
}

/* The first part that the other path has not in its place; -1: it goes on behind the end. */
static int first_difference(const struct parts *p, const struct parts *other)
{
    for (int n = 0; n < p->count; n++) {
        if (n >= other->count || p->size[n] != other->size[n] ||
            memcmp(p->at[n], other->at[n], (size_t)p->size[n]) != 0)
            return n;
    }
    return -1;
}

/* What tells it from the others, cut in the middle as far as it must be; *kept: of it and the last
 * part what fits. False: all of the former does not. */
static bool keep_telling(struct parts *p, uint32_t telling, int columns, uint32_t *kept)
{
    static const int widest[] = {PATH_ROOM, 18, 12, 8};
    uint32_t last = UINT32_C(1) << (p->count - 1);
    char text[PATH_ROOM];

    for (size_t n = 0; n < sizeof widest / sizeof *widest; n++) {
        p->widest = widest[n];
        for (int without = 0; without < 2; without++) {
            *kept = without ? telling : telling | last;
            if (*kept && join_kept(p, *kept, text) <= columns)
                return true;
        }
    }
    return false;
}

char *path_cut_apart(char *out, size_t room, const char *path, const char *const *others, int count,
                     int columns)
{
    struct parts p, other;
    char text[PATH_ROOM];
    uint32_t telling = 0, kept;

    split_path(&p, path);
    for (int n = 0; n < count; n++) {
        split_path(&other, others[n]);
        int part = first_difference(&p, &other);
        telling |= part < 0 ? 0 : UINT32_C(1) << part;
    }
    bool keeps = telling && utf8_text_columns(path) > columns && strlen(path) < PATH_ROOM;
    while (keeps && !keep_telling(&p, telling, columns, &kept)) {
        int last = PARTS_MOST - 1;
        while (!(telling >> last & 1))
            last--;
        telling ^= UINT32_C(1) << last; /* the first ones say more */
        keeps = telling != 0;
    }
    if (!keeps)
        return text_cut_left(out, room, path, columns);
    for (int n = p.count - 1; n >= 0; n--) {
        uint32_t more = kept | UINT32_C(1) << n;
        kept = join_kept(&p, more, text) <= columns ? more : kept;
    }
    join_kept(&p, kept, text);
    snprintf(out, room, "%s", text);
    return out;
}
