#include "tui/watch/series_names.h"

#include "engine/decide/names.h"
#include "hlo/support/mem.h"
#include "tui/screen/utf8.h"
#include "tui/watch/watch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One layer, or some, of those that its stem says. */
static bool has_layers(const struct watch_move *m)
{
    return strcmp(m->stem, m->name) != 0;
}

static bool in_one_series(const struct watch_move *a, const struct watch_move *b)
{
    return has_layers(a) && has_layers(b) && !strcmp(a->stem, b->stem);
}

int watch_series_end(const struct watch *w, int first)
{
    int end = first + 1;

    while (end < w->move_count && in_one_series(&w->move[end], &w->move[first]))
        end++;
    return end;
}

int watch_series_begin(const struct watch *w, int move)
{
    while (move > 0 && in_one_series(&w->move[move - 1], &w->move[move]))
        move--;
    return move;
}

const char *watch_series_name(const struct watch *w, int first, int end)
{
    return end - first > 1 ? w->move[first].stem : w->move[first].name;
}

/* A series as it is shown, and where it begins. */
struct shown {
    const char *name;
    int first;
};

static int by_name(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : x->first - y->first;
}

/* The words that all names of a series begin with: "decoder value 1–3" of "decoder value 1–3, 64"
 * and "decoder value 1–3, 8". */
static void common_words(const struct watch *w, int first, int end, char out[static NAME_ROOM])
{
    size_t common = strlen(w->move[first].name);

    snprintf(out, NAME_ROOM, "%s", w->move[first].name);
    for (int n = first + 1; n < end; n++) {
        const char *name = w->move[n].name;
        size_t same = 0;
        while (same < common && name[same] == out[same])
            same++;
        if (out[same] || name[same]) { /* back to the end of a word */
            bool whole = (!out[same] || out[same] == ' ') && (!name[same] || name[same] == ' ');
            while (!whole && same && out[same] != ' ')
                same--;
        }
        common = same;
        out[common] = 0;
    }
    while (common && (out[common - 1] == ',' || out[common - 1] == ' '))
        out[--common] = 0;
}

void series_tell_apart(struct watch *w)
{
    struct shown *all = mem_alloc(((size_t)w->move_count + 1) * sizeof *all);
    char name[NAME_ROOM];

    for (int pass = 0; pass < 2; pass++) {
        int count = 0;
        for (int n = 0; n < w->move_count; n = watch_series_end(w, n))
            all[count++] = (struct shown){watch_series_name(w, n, watch_series_end(w, n)), n};
        qsort(all, (size_t)count, sizeof *all, by_name);
        for (int n = 0, end; n < count; n = end) {
            for (end = n + 1; end < count && !strcmp(all[end].name, all[n].name);)
                end++;
            for (int i = n; i < end && end - n > 1; i++) {
                int first = all[i].first, last = watch_series_end(w, first);
                if (last - first < 2)
                    continue; /* a name of its own */
                common_words(w, first, last, name);
                if (pass)
                    snprintf(name, sizeof name, "%.130s and on", w->move[first].name);
                for (int k = first; k < last && name[0]; k++)
                    snprintf(w->move[k].stem, sizeof w->move[k].stem, "%s", name);
            }
        }
    }
    free(all);
}

/* The first letter of a word, and all from its number on: "b10_1" of "block10_1". */
static int write_numbered(char *out, size_t room, const char *word, size_t size)
{
    size_t letters = strcspn(word, "0123456789");

    return snprintf(out, room, "%.1s%.*s", word, (int)(size - letters), word + letters);
}

static bool has_number(const char *word, size_t size)
{
    size_t letters = strcspn(word, "0123456789");

    return letters > 0 && letters < size;
}

void series_initials(char out[static SHORT_NAME_ROOM], const char *name, int columns)
{
    size_t first = strcspn(name, " ");
    const char *second = name + first + (name[first] == ' ');
    size_t size = strcspn(second, " ");

    if (utf8_text_columns(name) <= columns) {
        snprintf(out, SHORT_NAME_ROOM, "%s", name);
    } else if (!*second && first > 4 && has_number(name, first)) { /* "conv1_2" */
        write_numbered(out, SHORT_NAME_ROOM, name, first);
    } else if (has_number(name, first) && has_number(second, size)) { /* "c4b10_1" */
        int begin = write_numbered(out, SHORT_NAME_ROOM / 2, name, first);
        write_numbered(out + begin, SHORT_NAME_ROOM / 2, second, size);
    } else if (*second && !(*second >= '0' && *second <= '9')) {
        snprintf(out, SHORT_NAME_ROOM, "%.1s %.*s", name, (int)(size > 4 ? 3 : size), second);
    } else {
        snprintf(out, SHORT_NAME_ROOM, "%.*s", (int)(first > 6 ? 3 : first), name);
    }
}
