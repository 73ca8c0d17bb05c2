#include "tui/view_palette.h"

#include "tui/app.h"
#include "tui/colon.h"
#include "tui/theme.h"
#include "tui/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOUND_MOST = 200, ROWS = 8 };

struct found {
    int index; /* of colon_line */
    int score;
    uint64_t hits;
};

struct palette {
    struct edit line;
    struct found found[FOUND_MOST];
    int count;
    struct list list;
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
    return colon_line(p->scene->app, i, line);
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

static void draw_found(struct panel *p, const struct pane *pane, int y, const struct found *f)
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
    if (pane->width >= 60)
        pane_cut(pane, 30, y, keys - 32, ROLE_DIM, line.words);
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
    for (int i = 0; i < s->list.rows && s->list.top + i < s->count; i++) {
        draw_found(p, pane, 3 + i, &s->found[s->list.top + i]);
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
    struct app *app = p->scene->app;
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
    app_close_top(app);
    app_command(app, text);
}

static bool key_palette(struct panel *p, uint32_t key)
{
    struct palette *s = p->state;

    if (key == KEYC_ESC || key == 3) {
        app_close_top(p->scene->app);
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
};
