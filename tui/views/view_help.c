#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/views/glossary.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"

#include "tui/screen/edit.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/actions.h"
#include "tui/views/host.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_MOST = 256, GROUPS_MOST = 24, KEYS_ROOM = 40, WORDS_MOST = 12 };

/* One line: the keys of an action and of those that share its words. */
struct row {
    const struct key_table *table;
    int action;
    const char *group, *words;
    char keys[KEYS_ROOM];
};

struct help {
    const struct panel_ops *below;
    struct row rows[ROWS_MOST];
    int count;
    struct edit filter;
    bool by_key;
    int chosen; /* among the rows shown; -1: none */
    int shown, top;
    int word[WORDS_MOST], words; /* of the glossary, on the screen below */
};

static bool contains(const char *text, const char *part);

/* The signs of every screen, which are no keys. */
static const struct {
    const char *sign, *words;
    unsigned role;
} signs[] = {
    {"1", "split", ROLE_CHOICE_1},
    {"0", "whole", ROLE_CHOICE_0},
    {"·", "undecided", ROLE_DIM},
    {"▸", "decided next", ROLE_NEXT},
    {"~", "in the last wave", ROLE_CHANGED},
    {"P", "pinned by you", ROLE_PIN},
    {"^", "best and exact differ", ROLE_WARN},
    {"x", "can never be split", ROLE_ERR},
    {"12/4", "12, split over 4", ROLE_CHOICE_1},
};
enum { SIGNS = sizeof signs / sizeof *signs };

/* Keys as "h  l", and a long row of them as "0-9". */
static void row_keys(const struct keymap *m, const struct key_table *t, int first, int end,
                     char *out)
{
    const char *begin = keymap_keys(m, t, first, 0), *last = keymap_keys(m, t, end - 1, 0);
    size_t size = 0;

    out[0] = 0;
    if (end - first > 4 && begin && last) {
        snprintf(out, KEYS_ROOM, "%s-%s", begin, last);
        return;
    }
    for (int a = first; a < end; a++) {
        const char *key = keymap_keys(m, t, a, 0);
        if (key && size + strlen(key) + 3 < KEYS_ROOM)
            size += (size_t)snprintf(out + size, KEYS_ROOM - size, "%s%s", size ? "  " : "", key);
    }
}

static void add_table(struct help *h, const struct keymap *m, const struct key_table *t,
                      const char *group)
{
    for (int a = 0, end; t && a < t->count; a = end) {
        for (end = a + 1; end < t->count && !t->actions[end].words;)
            end++;
        if (h->count == ROWS_MOST)
            return;
        struct row *r = &h->rows[h->count];
        *r = (struct row){.table = t, .action = a, .words = t->actions[a].words};
        r->group = group ? group : t->actions[a].group;
        row_keys(m, t, a, end, r->keys);
        if (r->keys[0])
            h->count++;
    }
}

static int open_help(struct panel *p, const void *arg, struct err *e)
{
    struct help *h = p->state;
    const struct panel *below = arg;
    const struct keymap *m = p->scene->keymap;

    (void)e;
    h->below = below ? below->ops : NULL;
    h->chosen = -1;
    if (below)
        add_table(h, m, below->ops->keys, NULL);
    add_table(h, m, p->scene->user_keys, NULL);
    add_table(h, m, &common_keys, NULL);
    const struct grid *g = p->scene->grid;
    if (below && g && g->cells) {
        int y = g->cursor_y;
        h->words = glossary_on(g, y, h->word, WORDS_MOST);
    }
    return 0;
}

static bool contains(const char *text, const char *part)
{
    size_t size = strlen(part);
    for (; *text; text++) {
        size_t i = 0;
        while (i < size && text[i] && (text[i] | 32) == (part[i] | 32))
            i++;
        if (i == size)
            return true;
    }
    return size == 0;
}

static bool passes_filter(const struct help *h, const struct row *r)
{
    if (!h->filter.size)
        return true;
    return h->by_key ? !strncmp(r->keys, h->filter.text, h->filter.size)
                     : contains(r->words, h->filter.text) || contains(r->group, h->filter.text);
}

/* ---- words ---- */

/* Those that are asked for, else those of the screen below. */
static int words_shown(const struct help *h, int *out)
{
    int count = 0;

    if (!h->filter.size || h->by_key) {
        memcpy(out, h->word, (size_t)h->words * sizeof *out);
        return h->by_key ? 0 : h->words;
    }
    for (int n = 0; glossary[n].word && count < WORDS_MOST; n++) {
        bool twice = n && !strcmp(glossary[n].meaning, glossary[n - 1].meaning);
        if (!twice && contains(glossary[n].word, h->filter.text))
            out[count++] = n;
    }
    return count;
}

/* What they mean, from row y on: at most a third of the screen. Returns the row below. */
static int draw_words(const struct help *h, const struct pane *p, int y)
{
    enum { MEANING = 18 };
    int word[WORDS_MOST], count = words_shown(h, word), end = y + p->height / 3;
    int room = p->width - MEANING > 20 ? p->width - MEANING : 20;

    if (!count)
        return y;
    pane_text(p, 0, y++, ROLE_TITLE | BOLD,
              h->filter.size ? "words" : "words on this screen  ? one by one");
    for (int n = 0; n < count; n++) {
        const struct glossary_word *g = &glossary[word[n]];
        int rows = (utf8_text_columns(g->meaning) + room) / room;
        if (y + rows > end)
            break;
        struct pane meaning = pane_part(p, MEANING, y, room, rows);
        pane_text(p, 0, y, ROLE_KEY, g->word);
        pane_sentence(&meaning, ROLE_TEXT, g->meaning);
        y += rows;
    }
    return y + 1;
}

/* Groups in the order of first use. */
static int groups_of(const struct help *h, const char **groups)
{
    int count = 0;
    for (int i = 0; i < h->count; i++) {
        int g = 0;
        while (g < count && strcmp(groups[g], h->rows[i].group) != 0)
            g++;
        if (g == count && count < GROUPS_MOST && passes_filter(h, &h->rows[i]))
            groups[count++] = h->rows[i].group;
    }
    return count;
}

/* Where the next line goes: columns are filled from the top, the shortest first. */
struct flow {
    const struct pane *pane;
    struct help *help;
    int columns, width, y[3], index;
};

static int shortest(const struct flow *f)
{
    int best = 0;
    for (int c = 1; c < f->columns; c++) {
        if (f->y[c] < f->y[best])
            best = c;
    }
    return best;
}

static void draw_row(struct flow *f, int column, const char *keys, unsigned key_style,
                     const char *words)
{
    int x = column * f->width, keys_width = f->width >= 30 ? 11 : 9;
    struct pane cell = pane_part(f->pane, x, f->y[column]++ - f->help->top,
                                 f->width - (column < f->columns - 1), 1);

    int end = pane_text(&cell, 0, 0, key_style, keys);
    int at = end >= keys_width ? end + 1 : keys_width;
    pane_cut(&cell, at, 0, cell.width - at, ROLE_TEXT, words);
}

static void draw_group(struct flow *f, const char *group)
{
    struct help *h = f->help;
    int column = shortest(f);

    if (f->y[column])
        f->y[column]++;
    pane_text(f->pane, column * f->width, f->y[column]++ - h->top, ROLE_TITLE | BOLD, group);
    for (int i = 0; i < h->count; i++) {
        if (strcmp(h->rows[i].group, group) != 0 || !passes_filter(h, &h->rows[i]))
            continue;
        int y = f->y[column] - h->top;
        draw_row(f, column, h->rows[i].keys, ROLE_KEY, h->rows[i].words);
        if (f->index++ == h->chosen) {
            struct pane part = pane_part(f->pane, column * f->width, y, f->width - 1, 1);
            pane_select(&part, 0, ROLE_SELECT);
        }
    }
}

static void draw_signs(struct flow *f)
{
    int column = shortest(f);
    if (f->y[column])
        f->y[column]++;
    pane_text(f->pane, column * f->width, f->y[column]++ - f->help->top, ROLE_TITLE | BOLD,
              "signs");
    for (int i = 0; i < SIGNS; i++)
        draw_row(f, column, signs[i].sign, signs[i].role, signs[i].words);
}

/* Returns the lines that all of it takes. */
static int draw_body(struct help *h, const struct pane *body, int width, int columns)
{
    struct flow f = {body, h, columns, (width + 1) / columns, {0, 0, 0}, 0};
    const char *groups[GROUPS_MOST];
    int count = groups_of(h, groups), rows = 0;

    for (int i = 0; i < count; i++)
        draw_group(&f, groups[i]);
    h->shown = f.index;
    if (!h->filter.size)
        draw_signs(&f);
    for (int c = 0; c < columns; c++)
        rows = f.y[c] > rows ? f.y[c] : rows;
    return rows;
}

static void draw_help(struct panel *p, const struct pane *pane)
{
    struct help *h = p->state;
    struct grid *g = pane->grid;
    char note[96];

    snprintf(note, sizeof note, "type to filter · %s%s", h->below ? h->below->title : "automap",
             " · " AUTOMAP_VERSION);
    pane_head(pane, 0, &(struct head){0, "Keys", note, true});
    pane_text(pane, 0, 1, ROLE_KEY, h->by_key ? "key" : "/");
    int x = h->by_key ? 4 : 2;
    if (!h->filter.size)
        pane_text(pane, x, 1, ROLE_DIM, h->by_key ? "press a key" : "filter");
    g->cursor_x = pane->x + edit_draw(&h->filter, pane, x, 1, ROLE_TEXT);
    g->cursor_y = pane->y + 1;

    const struct pane page =
        pane_part(pane, 0, 0, pane->width < 126 ? pane->width : 126, pane->height);
    pane = &page; /* wider, the columns lose each other */
    int columns = pane->width >= 96 ? 3 : pane->width >= 68 ? 2 : 1;
    int first = draw_words(h, pane, 3);
    struct pane body = pane_part(pane, 0, first, pane->width, pane->height - first),
                nowhere = {.grid = g};
    int rows = draw_body(h, &nowhere, pane->width, columns); /* as long as it is */
    if (h->top > rows - body.height)
        h->top = rows > body.height ? rows - body.height : 0;
    (void)draw_body(h, &body, pane->width, columns);
    if (rows > body.height)
        pane_right_format(pane, pane->width, 1, ROLE_DIM, "lines %d–%d of %d", h->top + 1,
                          h->top + body.height < rows ? h->top + body.height : rows, rows);
}

/* The row that is shown as the n-th, in the order of drawing. */
static const struct row *nth_shown(const struct help *h, int n)
{
    const char *groups[GROUPS_MOST];
    int count = groups_of(h, groups);

    for (int g = 0; g < count; g++) {
        for (int i = 0; i < h->count; i++) {
            if (!strcmp(h->rows[i].group, groups[g]) && passes_filter(h, &h->rows[i]) && n-- == 0)
                return &h->rows[i];
        }
    }
    return NULL;
}

static void do_chosen(struct panel *p)
{
    struct help *h = p->state;
    const struct scene *scene = p->scene;
    const struct row *r = nth_shown(h, h->chosen >= 0 ? h->chosen : h->shown == 1 ? 0 : -1);

    if (!r)
        return;
    const struct key_table *table = r->table;
    int action = r->action;
    host_close(scene); /* frees h and r */
    host_act(scene, table, action);
}

static void choose_row(struct help *h, int step)
{
    h->chosen += step;
    if (h->chosen >= h->shown)
        h->chosen = h->shown - 1;
    if (h->chosen < 0)
        h->chosen = h->shown ? 0 : -1;
}

/* By key: what is pressed is looked for, whatever it is. */
static bool filter_by_key(struct help *h, uint32_t key)
{
    char name[KEY_NAME_ROOM];
    if (key == KEYC_BACKSPACE || key == KEYC_TAB || key == KEYC_ESC || key == KEYC_ENTER)
        return false;
    edit_set(&h->filter, key_text(name, key));
    return true;
}

static bool key_help(struct panel *p, uint32_t key)
{
    struct help *h = p->state;

    if (key == KEYC_ESC && (h->filter.size || h->by_key)) {
        edit_set(&h->filter, "");
        h->by_key = false;
    } else if (key == KEYC_ESC || (key == '?' && !h->filter.size && !h->by_key)) {
        struct scene *s = p->scene;
        host_close(s); /* frees the help */
        if (key == '?')
            host_act(s, &common_keys, ACT_WORD);
    } else if (key == KEYC_ENTER) {
        do_chosen(p);
    } else if (key == KEYC_TAB) {
        h->by_key = !h->by_key;
        edit_set(&h->filter, "");
    } else if (h->by_key && filter_by_key(h, key)) {
        h->chosen = -1;
    } else if (key == KEYC_DOWN || key == KEYC_UP) {
        choose_row(h, key == KEYC_DOWN ? 1 : -1);
    } else if (key == KEYC_PAGE_DOWN || key == KEYC_PAGE_UP) {
        h->top += key == KEYC_PAGE_DOWN ? 10 : h->top >= 10 ? -10 : -h->top;
    } else if (edit_key(&h->filter, key)) {
        h->chosen = -1;
        h->top = 0;
    } else {
        return false;
    }
    return true;
}

static void message_help(const struct panel *p, char *out, size_t room)
{
    int changed = keymap_changed(p->scene->keymap);
    if (changed)
        snprintf(out, room,
                 "all keys are from the live table; %d of yours differ%s from the default", changed,
                 changed == 1 ? "s" : "");
    else
        snprintf(out, room, "all keys are from the live table; keys: in config.yaml changes them");
}

enum { HELP_BY_KEY, HELP_DO, HELP_CLOSE };
static const struct action help_actions[] = {
    [HELP_BY_KEY] = {"by-key", "help", "by key", "by key", "Tab", NULL},
    [HELP_DO] = {"do", "help", "do it", "do it", "Enter", NULL},
    [HELP_CLOSE] = {"close", "help", "close", "close", "Esc", NULL},
};
static const struct key_table help_keys = {"help", help_actions, 3};

const struct panel_ops view_help = {
    .name = "help",
    .title = "Keys",
    .place = PLACE_BARE,
    .keys = &help_keys,
    .types = true,
    .hints = "by-key do down close",
    .size = sizeof(struct help),
    .open = open_help,
    .draw = draw_help,
    .key = key_help,
    .message = message_help,
};
