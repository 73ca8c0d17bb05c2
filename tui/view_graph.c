/* Computations and, unfolded, their instructions. Rows are found by counting, never stored. */
#include "tui/view_graph.h"

#include "engine/units.h"
#include "hlo/hlo.h"
#include "hlo/mem.h"
#include "tui/app.h"
#include "tui/theme.h"
#include "tui/utf8.h"

#include <stdio.h>
#include <string.h>

struct graph {
    struct list list;
    const struct hlo_module *module;
    bool *open; /* by computation */
    char name[256];
};

struct row {
    hlo_comp computation;
    hlo_id instruction; /* HLO_NONE: the computation's own row */
};

enum { GRAPH_UNFOLD, GRAPH_FOLD, GRAPH_TOGGLE, GRAPH_FOLD_ALL };
static const struct action graph_actions[] = {
    [GRAPH_UNFOLD] = {"unfold", "in this panel", "unfold, fold", "unfold", "l or Right", "Right"},
    [GRAPH_FOLD] = {"fold", "in this panel", NULL, NULL, "h or Left", "Left"},
    [GRAPH_TOGGLE] = {"toggle", "in this panel", "fold, all", "fold", "x or Enter", NULL},
    [GRAPH_FOLD_ALL] = {"fold-all", "in this panel", NULL, NULL, "X", NULL},
};
static const struct key_table graph_keys = {"graph", graph_actions, 4};

static void read_graph(struct panel *p)
{
    struct graph *g = p->state;
    const struct hlo_module *m = p->scene->module;

    if (g->module == m)
        return;
    free(g->open);
    g->module = m;
    g->open = mem_alloc(m ? m->computation_count * sizeof *g->open : 1);
    g->list = (struct list){0};
    if (m)
        g->open[m->entry] = true;
}

static int open_graph(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    read_graph(p);
    return 0;
}

static void close_graph(struct panel *p)
{
    struct graph *g = p->state;
    free(g->open);
}

/* Computations in reading order: the entry first. */
static hlo_comp nth_computation(const struct hlo_module *m, uint32_t n)
{
    if (n == 0)
        return m->entry;
    hlo_comp c = m->computation_count - n;
    return c <= m->entry ? c - 1 : c;
}

static int64_t rows_of(const struct graph *g, hlo_comp c)
{
    return 1 + (g->open[c] ? (int64_t)g->module->computations[c].count : 0);
}

static int64_t count_rows(const struct graph *g)
{
    int64_t rows = 0;
    for (hlo_comp c = 0; g->module && c < g->module->computation_count; c++)
        rows += rows_of(g, c);
    return rows;
}

static bool row_at(const struct graph *g, int64_t at, struct row *row)
{
    for (uint32_t n = 0; g->module && n < g->module->computation_count; n++) {
        hlo_comp c = nth_computation(g->module, n);
        int64_t rows = rows_of(g, c);
        if (at < rows) {
            hlo_id first = g->module->computations[c].first;
            *row = (struct row){c, at ? first + (hlo_id)(at - 1) : HLO_NONE};
            return true;
        }
        at -= rows;
    }
    return false;
}

static void draw_row(const struct graph *g, const struct pane *pane, int y, const struct row *row)
{
    const struct hlo_module *m = g->module;
    char count[UNITS_ROOM];

    if (row->instruction == HLO_NONE) {
        const struct hlo_computation *c = &m->computations[row->computation];
        pane_text(pane, 2, y, ROLE_DIM, g->open[row->computation] ? "▾" : "▸");
        int end = pane_right(pane, pane->width, y, ROLE_TEXT, units_count(count, c->count));
        pane_cut(pane, 4, y, end - 6, row->computation == m->entry ? ROLE_TITLE | BOLD : ROLE_TEXT,
                 c->name);
        return;
    }
    struct str shape = {.limit = 256};
    hlo_write_shape(m, m->instructions[row->instruction].shape, false, &shape);
    int names = pane->width / 2 - 4;
    pane_cut(pane, 6, y, names, ROLE_TEXT, hlo_name(m, row->instruction));
    pane_cut(pane, 8 + names, y, pane->width - 8 - names, ROLE_DIM, shape.text ? shape.text : "");
    str_release(&shape);
}

static void draw_graph(struct panel *p, const struct pane *pane)
{
    struct graph *g = p->state;
    struct row row;

    read_graph(p);
    list_fit(&g->list, count_rows(g), pane->height);
    for (int y = 0; y < pane->height && row_at(g, g->list.top + y, &row); y++) {
        draw_row(g, pane, y, &row);
        if (g->list.top + y == g->list.cursor) {
            struct pane line = pane_part(pane, 0, y, pane->width, 1);
            pane_select(&line, 0, p->focus ? ROLE_SELECT : ROLE_SELECT_DIM);
            if (p->focus) {
                pane->grid->cursor_x = pane->x;
                pane->grid->cursor_y = pane->y + y;
            }
        }
    }
}

static void head_graph(const struct panel *p, struct head *h, char *note, size_t room)
{
    (void)p;
    snprintf(note, room, "by computation · instructions");
    h->note = note;
}

static bool act_graph(struct panel *p, int action)
{
    struct graph *g = p->state;
    struct row row;

    if (action == GRAPH_FOLD_ALL) {
        memset(g->open, 0, g->module ? g->module->computation_count : 0);
        list_go(&g->list, 0);
        return true;
    }
    if (!row_at(g, g->list.cursor, &row))
        return false;
    bool was = g->open[row.computation];
    g->open[row.computation] = action == GRAPH_UNFOLD || (action == GRAPH_TOGGLE && !was);
    if (was && !g->open[row.computation] && row.instruction != HLO_NONE) {
        int64_t back = row.instruction - g->module->computations[row.computation].first + 1;
        g->list.cursor -= back; /* to the computation's own row */
    }
    list_fit(&g->list, count_rows(g), g->list.rows);
    return true;
}

static bool move_graph(struct panel *p, enum list_move move)
{
    struct graph *g = p->state;
    return list_move(&g->list, move);
}

static void click_graph(struct panel *p, int x, int y, bool twice)
{
    struct graph *g = p->state;
    (void)x;
    list_go(&g->list, g->list.top + y);
    if (twice)
        act_graph(p, GRAPH_TOGGLE);
}

static const char *row_name(const struct graph *g, const struct row *row)
{
    return row->instruction == HLO_NONE ? g->module->computations[row->computation].name
                                        : hlo_name(g->module, row->instruction);
}

static bool find_graph(struct panel *p, const char *pattern, int step)
{
    struct graph *g = p->state;
    struct row row;
    int64_t count = count_rows(g);

    for (int64_t i = step ? 1 : 0; i <= count && count; i++) {
        int64_t at = (g->list.cursor + (step < 0 ? -i : i) + count) % count;
        if (row_at(g, at, &row) && strstr(row_name(g, &row), pattern)) {
            list_go(&g->list, at);
            return true;
        }
    }
    return false;
}

static const char *name_here(const struct panel *p)
{
    struct graph *g = p->state;
    struct row row;
    if (!row_at(g, g->list.cursor, &row))
        return NULL;
    snprintf(g->name, sizeof g->name, "%s", row_name(g, &row));
    return g->name;
}

static void message_graph(const struct panel *p, char *out, size_t room)
{
    struct graph *g = p->state;
    struct row row;

    if (!row_at(g, g->list.cursor, &row) || row.instruction == HLO_NONE)
        return;
    const struct hlo_meta *meta = hlo_meta(g->module, row.instruction);
    if (meta->op_name[0] && meta->source_file[0])
        snprintf(out, room, "%s  %s:%u", meta->op_name, meta->source_file, meta->source_line);
    else
        snprintf(out, room, "%s", meta->op_name);
}

const struct panel_ops view_graph = {
    .name = "graph",
    .title = "Graph",
    .place = PLACE_LAYOUT,
    .id = PANEL_GRAPH,
    .keys = &graph_keys,
    .hints = "down=row toggle search copy=copy zoom command help",
    .size = sizeof(struct graph),
    .open = open_graph,
    .close = close_graph,
    .read = read_graph,
    .draw = draw_graph,
    .head = head_graph,
    .act = act_graph,
    .move = move_graph,
    .click = click_graph,
    .find = find_graph,
    .name_here = name_here,
    .message = message_graph,
};
