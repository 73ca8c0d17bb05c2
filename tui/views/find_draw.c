#include "tui/views/find_draw.h"

#include "hlo/support/mem.h"
#include "tui/screen/path.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ALIKE_MOST = 16, PASSES = 4 };

const char *find_enter_does(enum find_kind kind)
{
    switch (kind) {
    case FIND_PLAN:
    case FIND_CLASS:
    case FIND_VIEW:
        return "open";
    case FIND_COMMAND:
    case FIND_OPTION:
        return "do it";
    case FIND_TOUR:
        return "play";
    default:
        return "go there";
    }
}

struct columns {
    int name, what, now, enter; /* where they begin; 0: left out */
    int end;                    /* of the last but the key's */
};

static int wider(int columns, const char *text)
{
    int own = utf8_text_columns(text);

    return own > columns ? own : columns;
}

/* Wide enough for the names in sight, as long as the rest has its least: what is said of them and,
 * on a wide screen, where they stand now. */
static struct columns columns_for(const struct find_row *rows, int count, int width)
{
    struct columns c = {.name = 14};
    int name = 24, said = 12, told = 6;

    for (int n = 0; n < count; n++) {
        name = wider(name, rows[n].entry->name);
        said = wider(said, rows[n].what);
        told = wider(told, rows[n].now);
    }
    said = said < 28 ? said + 2 : 30;
    told = told < 20 ? told : 20;
    if (width >= 100)
        c.enter = width - 8;
    c.end = c.enter ? c.enter - 2 : width;
    int least = width >= 60 ? said : 0;
    least += width >= 100 ? told + 2 : 0;
    name = name > c.end - c.name - least ? c.end - c.name - least : name;
    if (least) {
        c.what = c.name + name + 2;
        c.now = c.end - told;
        c.now = c.now < c.what + said ? 0 : c.now;
    }
    return c;
}

/* A row as it is shown, and the others that read like it without more. */
struct shown {
    char name[FIND_TEXT_ROOM], what[FIND_TEXT_ROOM];
    int alike[ALIKE_MOST], count;
};

/* Paths are told apart by their ends, or where they differ from those that read alike. */
static void cut(char *out, const char *text, const char *const *others, int count, int columns)
{
    if (!strchr(text, '/'))
        text_cut_middle(out, FIND_TEXT_ROOM, text, columns);
    else
        path_cut_apart(out, FIND_TEXT_ROOM, text, others, count, columns);
}

static void show(const struct find_row *rows, int n, const struct columns *c, struct shown *s)
{
    const char *names[ALIKE_MOST], *whats[ALIKE_MOST];

    for (int k = 0; k < s->count; k++) {
        names[k] = rows[s->alike[k]].entry->name;
        whats[k] = rows[s->alike[k]].what;
    }
    cut(s->name, rows[n].entry->name, names, s->count, (c->what ? c->what - 2 : c->end) - c->name);
    int end = c->now && rows[n].now[0] ? c->now - 2 : c->end;
    if (c->what && rows[n].entry->kind == FIND_COMMAND)
        text_cut_words(s->what, FIND_TEXT_ROOM, rows[n].what, end - c->what);
    else if (c->what)
        cut(s->what, rows[n].what, whats, s->count, end - c->what);
}

/* Another row that reads alike is one to be told from. False: there is none. */
static bool add_alike(struct shown *all, int count, int n)
{
    struct shown *s = &all[n];
    int before = s->count;

    for (int k = 0; k < count && s->count < ALIKE_MOST; k++) {
        if (k != n && !strcmp(all[k].name, s->name) && !strcmp(all[k].what, s->what))
            s->alike[s->count++] = k;
    }
    return s->count > before;
}

static void draw_row(const struct find_row *r, const struct shown *s, const struct pane *pane,
                     int y, const struct columns *c)
{
    pane_text(pane, 0, y, ROLE_DIM, find_kind_names[r->entry->kind]);
    pane_text(pane, c->name, y, r->entry->kind == FIND_STATE ? ROLE_DIM : ROLE_TEXT, s->name);
    if (c->what)
        pane_text(pane, c->what, y, ROLE_DIM, s->what);
    if (c->now)
        pane_cut(pane, c->now, y, c->end - c->now, ROLE_DIM, r->now);
    if (c->enter)
        pane_text(pane, c->enter, y, ROLE_KEY, find_enter_does((enum find_kind)r->entry->kind));
}

void find_draw_rows(const struct find_row *rows, int count, const struct pane *pane)
{
    struct columns c = columns_for(rows, count, pane->width);
    struct shown *all = mem_alloc(((size_t)count + 1) * sizeof *all);
    bool more = true;

    for (int n = 0; n < count; n++)
        show(rows, n, &c, &all[n]);
    for (int pass = 0; pass < PASSES && more; pass++) {
        more = false;
        for (int n = 0; n < count; n++)
            more |= add_alike(all, count, n);
        for (int n = 0; n < count && more; n++)
            show(rows, n, &c, &all[n]);
    }
    for (int n = 0; n < count; n++)
        draw_row(&rows[n], &all[n], pane, n, &c);
    free(all);
}
