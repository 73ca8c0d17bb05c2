#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include "engine/text/units.h"
#include "tui/screen/edit.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/price.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOUND_MOST = 200, ROWS = 8, PRICES_MOST = 64 };

struct found {
    int index; /* of colon_line */
    int score;
    uint64_t hits;
};

/* The optimum with a pin; move MOVE_NONE: as pins are now. */
struct priced {
    int move;
    bool split;
    struct price price;
};

struct palette {
    struct edit line;
    struct found found[FOUND_MOST];
    int count;
    struct list list;
    struct priced prices[PRICES_MOST];
    int price_count;
};

static int better(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->index - y->index;
}

/* The lines are those of the view below: the palette itself has none. */
static bool line_at(const struct panel *p, int i, struct colon_line *line)
{
    return host_line(p->scene, i, line);
}

static void search(struct panel *p)
{
    struct palette *s = p->state;
    struct colon_line line;

    s->count = 0;
    for (int i = 0; s->count < FOUND_MOST && line_at(p, i, &line); i++) {
        struct found f = {.index = i};
        f.score = fuzzy_score(s->line.text, line.text, &f.hits);
        if (f.score)
            s->found[s->count++] = f;
    }
    if (s->line.size)
        qsort(s->found, (size_t)s->count, sizeof *s->found, better);
    s->list = (struct list){0};
    list_fit(&s->list, s->count, ROWS);
}

static int open_palette(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    search(p);
    return 0;
}

/* ---- prices of pins ---- */

static const struct price *price_of(const struct palette *s, int move, bool split)
{
    for (int n = 0; n < s->price_count; n++) {
        if (s->prices[n].move == move && s->prices[n].split == split)
            return &s->prices[n].price;
    }
    return NULL;
}

/* One that is missing for a row in sight: each takes up to a frame. False: none is. */
static bool find_price(struct panel *p)
{
    struct palette *s = p->state;
    const struct watch *w = p->scene->watch;
    struct colon_line line;

    if (!w || s->price_count == PRICES_MOST)
        return false;
    for (int i = 0; i < s->list.rows && s->list.top + i < s->count; i++) {
        if (!line_at(p, s->found[s->list.top + i].index, &line) || !line.pins)
            continue;
        bool first = !price_of(s, MOVE_NONE, false);
        int move = first ? MOVE_NONE : line.move;
        bool split = !first && line.split;
        if (price_of(s, move, split))
            continue;
        s->prices[s->price_count++] =
            (struct priced){move, split, price_at_best(w, move, first ? -1 : split)};
        return true;
    }
    return false;
}

static void settle_palette(struct panel *p)
{
    while (find_price(p))
        ;
}

/* "350.5 ms   +105.4" in place of the words. False: not known yet, or not at all. */
static bool draw_price(const struct palette *s, const struct pane *pane, int y, int x,
                       const struct colon_line *line)
{
    const struct price *now = price_of(s, MOVE_NONE, false);
    const struct price *with = line->pins ? price_of(s, line->move, line->split) : NULL;
    char text[UNITS_ROOM];

    if (!now || !with || !now->known || !with->known || pane->width < x + 30)
        return false;
    double change = with->cost.step_ms - now->cost.step_ms;
    pane_right(pane, x + 12, y, ROLE_DIM, units_ms(text, with->cost.step_ms));
    pane_right(pane, x + 22, y, change > 0.05 ? ROLE_WARN : ROLE_TEXT,
               units_change(text, change, 1));
    return true;
}

/* ---- drawing ---- */

/* Where words begin: behind the longest line in sight. */
static int words_column(struct panel *p)
{
    const struct palette *s = p->state;
    struct colon_line line;
    int column = 30;

    for (int i = 0; i < s->list.rows && s->list.top + i < s->count; i++) {
        if (line_at(p, s->found[s->list.top + i].index, &line) &&
            utf8_text_columns(line.text) + 4 > column)
            column = utf8_text_columns(line.text) + 4;
    }
    return column;
}

static void draw_found(struct panel *p, const struct pane *pane, int y, const struct found *f,
                       int words)
{
    struct colon_line line;
    int x = 2;

    if (!line_at(p, f->index, &line))
        return;
    const char *s = line.text;
    uint32_t c;
    for (int i = 0; (c = utf8_next(&s)); i++)
        x = pane_put(pane, x, y, i < 64 && f->hits >> i & 1 ? ROLE_MATCH : ROLE_TEXT, c);
    int keys = pane_right(pane, pane->width, y, ROLE_KEY, line.keys);
    if (pane->width >= 60 && !draw_price(p->state, pane, y, words, &line))
        pane_cut(pane, words, y, keys - 2 - words, ROLE_DIM, line.words);
}

static void draw_palette(struct panel *p, const struct pane *pane)
{
    struct palette *s = p->state;
    char note[32];

    list_fit(&s->list, s->count, pane->height - 3);
    snprintf(note, sizeof note, "%d", s->count);
    pane_head(pane, 0, &(struct head){0, "Command", note, true});
    pane_text(pane, 0, 1, ROLE_KEY, ":");
    pane->grid->cursor_x = pane->x + edit_draw(&s->line, pane, 2, 1, ROLE_TEXT);
    pane->grid->cursor_y = pane->y + 1;
    if (!s->count)
        pane_text(pane, 2, 3, ROLE_DIM, "nothing has these letters in this order");
    if (p->scene->now_ms > 0 && find_price(p))
        host_touch(p->scene); /* the next one in the next frame */
    int words = words_column(p);
    for (int i = 0; i < s->list.rows && s->list.top + i < s->count; i++) {
        draw_found(p, pane, 3 + i, &s->found[s->list.top + i], words);
        if (s->list.top + i == s->list.cursor) {
            pane_text(pane, 0, 3 + i, ROLE_TEXT, "▸");
            pane_select(&(struct pane){pane->grid, pane->x, pane->y + 3 + i, pane->width, 1}, 0,
                        ROLE_SELECT);
        }
    }
}

static void run(struct panel *p)
{
    struct palette *s = p->state;
    const struct scene *scene = p->scene;
    struct colon_line line;

    if (!s->count || !line_at(p, s->found[s->list.cursor].index, &line))
        return;
    if (line.takes && strncmp(s->line.text, line.text, strlen(line.text)) != 0) {
        edit_set(&s->line, line.text);
        search(p);
        return;
    }
    char text[EDIT_ROOM];
    snprintf(text, sizeof text, "%s", line.takes ? s->line.text : line.text);
    host_close(scene);
    host_command(scene, text);
}

static bool key_palette(struct panel *p, uint32_t key)
{
    struct palette *s = p->state;

    if (key == KEYC_ESC || key == 3) {
        host_close(p->scene);
    } else if (key == KEYC_ENTER) {
        run(p);
    } else if (key == KEYC_DOWN || key == KEYC_UP) {
        list_move(&s->list, key == KEYC_DOWN ? LIST_DOWN : LIST_UP);
    } else if (key == KEYC_PAGE_DOWN || key == KEYC_PAGE_UP) {
        list_move(&s->list, key == KEYC_PAGE_DOWN ? LIST_PAGE_DOWN : LIST_PAGE_UP);
    } else if (key == KEYC_TAB) {
        struct colon_line line;
        if (s->count && line_at(p, s->found[s->list.cursor].index, &line)) {
            edit_set(&s->line, line.text);
            search(p);
        }
    } else if (edit_key(&s->line, key)) {
        search(p);
    } else {
        return false;
    }
    return true;
}

static int palette_rows(const struct panel *p, int width)
{
    (void)p;
    (void)width;
    return ROWS + 3;
}

static void message_palette(const struct panel *p, char *out, size_t room)
{
    const struct palette *s = p->state;
    const struct price *now = price_of(s, MOVE_NONE, false);

    if (now && now->known)
        snprintf(out, room, "prices: the best step possible with that pin%s",
                 now->proven ? ", proven" : "");
}

enum { PALETTE_CHOOSE, PALETTE_CHOOSE_UP, PALETTE_COMPLETE, PALETTE_DO, PALETTE_CLOSE };
static const struct action palette_actions[] = {
    [PALETTE_CHOOSE] = {"choose", "palette", "choose", "choose", "Down", NULL},
    [PALETTE_CHOOSE_UP] = {"choose-up", "palette", NULL, NULL, "Up", NULL},
    [PALETTE_COMPLETE] = {"complete", "palette", "complete", "complete", "Tab", NULL},
    [PALETTE_DO] = {"do", "palette", "do it", "do it", "Enter", NULL},
    [PALETTE_CLOSE] = {"leave", "palette", "leave", "leave", "Esc", NULL},
};
static const struct key_table palette_keys = {"palette", palette_actions, 5};

const struct panel_ops view_palette = {
    .name = "palette",
    .title = "Command",
    .place = PLACE_DIALOG,
    .keys = &palette_keys,
    .hints = "choose complete do leave",
    .size = sizeof(struct palette),
    .open = open_palette,
    .draw = draw_palette,
    .key = key_palette,
    .dialog_rows = palette_rows,
    .settle = settle_palette,
    .message = message_palette,
};
