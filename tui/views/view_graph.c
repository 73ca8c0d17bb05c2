/* Panel 1: the module as a tree. What is open, and the rows in sight, are in tui/watch/tree_rows.h.
 */
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/screen/path.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/part.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"
#include "tui/watch/wave.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/watch/question.h"
#include "tui/watch/shape_text.h"
#include "tui/watch/tree_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct graph {
    struct list list;
    const struct problem *problem; /* the tree is of this one; only compared */
    struct tree_rows rows;
    const struct match *filter; /* the panel's */
    char name[256];
};

enum { GRAPH_UNFOLD, GRAPH_FOLD, GRAPH_TOGGLE, GRAPH_FOLD_ALL, GRAPH_TRIVIAL };
static const struct action graph_actions[] = {
    [GRAPH_UNFOLD] = {"unfold", "in this panel", "unfold, fold", "unfold", "l or Right", "Right"},
    [GRAPH_FOLD] = {"fold", "in this panel", NULL, NULL, "h or Left", "Left"},
    [GRAPH_TOGGLE] = {"toggle", "in this panel", "fold, all", "fold", "x or Enter", NULL},
    [GRAPH_FOLD_ALL] = {"fold-all", "in this panel", NULL, NULL, "X", NULL},
    [GRAPH_TRIVIAL] = {"trivial", "in this panel", "all operations", NULL, "t", NULL},
};
static const struct key_table graph_keys = {"graph", graph_actions, 5};

/* ---- rows ---- */

static void make_rows(struct graph *g)
{
    tree_rows_make(&g->rows, g->filter);
    list_fit(&g->list, (int64_t)g->rows.count, g->list.rows);
}

static const struct tree_row *row_at(const struct graph *g, int64_t at)
{
    return at >= 0 && (size_t)at < g->rows.count ? &g->rows.row[at] : NULL;
}

/* The other views look at what the cursor is on; of a module, at its first telling instruction. */
static void follow_cursor(const struct panel *p)
{
    const struct graph *g = p->state;
    const struct tree_row *row = row_at(g, g->list.cursor);

    if (row && p->scene->watch)
        p->scene->watch->here =
            row->instruction != HLO_NONE ? row->instruction : g->rows.tree->nodes[row->node].begins;
}

static void read_graph(struct panel *p)
{
    struct graph *g = p->state;

    if (g->problem == p->scene->problem)
        return;
    tree_rows_begin(&g->rows, p->scene->watch ? p->scene->watch->tree : NULL);
    g->problem = p->scene->problem;
    g->list = (struct list){0};
    make_rows(g);
    follow_cursor(p);
}

static void *remember_graph(const struct panel *p)
{
    const struct graph *g = p->state;
    return tree_rows_remember(&g->rows);
}

static void recall_graph(struct panel *p, const void *memory)
{
    struct graph *g = p->state;
    tree_rows_recall(&g->rows, memory);
    make_rows(g);
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
    tree_rows_release(&g->rows);
}

/* ---- drawing ---- */

static void draw_mark(const struct pane *p, int y, int mark)
{
    static const struct {
        const char *sign;
        unsigned style;
    } marks[] = {[TREE_MIXED] = {" ", 0},
                 [TREE_OPEN] = {"·", ROLE_DIM},
                 [TREE_WHOLE] = {"0", ROLE_CHOICE_0},
                 [TREE_SPLIT] = {"1", ROLE_CHOICE_1 | BOLD},
                 [TREE_NEXT] = {"▸", ROLE_NEXT | REVERSE}};
    pane_text(p, 0, y, marks[mark].style, marks[mark].sign);
}

/* Beside the status: the last wave came by; brighter where it is now. */
static void draw_light(const struct pane *p, int y, enum wave_light light)
{
    if (light != WAVE_DARK)
        pane_text(p, 1, y, ROLE_CHANGED | (light == WAVE_FRONT ? BOLD | REVERSE : 0), "~");
}

/* Where the parts of a row stand. */
struct columns {
    int indent, ms, bar; /* bar: its width, 0 none */
    int shapes;          /* where shapes of instructions begin; 0: each behind its name */
};

static struct columns columns_for(int width)
{
    int bar = width >= 52 ? width / 12 : 0;
    return (struct columns){
        .indent = width >= 50 ? 2 : 1, .bar = bar, .ms = width - (bar ? bar + 1 : 0)};
}

static bool has_shape(const struct hlo_module *m, hlo_id id)
{
    return m->leaf_base[id + 1] - m->leaf_base[id] == 1;
}

/* One column for all shapes in sight: behind the names, which are cut only where a shape would be
 * left fewer than 12 columns; whatever is decided, it stays. */
static int shapes_column(const struct graph *g, const struct columns *c, int height)
{
    enum { NAME_LEAST = 12, NAME_MOST = 40, SHAPE_LEAST = 12, MS_ROOM = 8 };
    const struct hlo_module *m = g->problem->m;
    int names = 0, shapes = c->ms - MS_ROOM - SHAPE_LEAST, least = 0;
    const struct tree_row *row;

    for (int y = 0; y < height && (row = row_at(g, g->list.top + y)); y++) {
        if (row->instruction == HLO_NONE || !has_shape(m, row->instruction))
            continue;
        int x = 4 + c->indent * g->rows.tree->nodes[row->node].depth;
        int name = utf8_text_columns(tree_instruction_name(g->rows.tree, row->instruction));
        name = x + (name < NAME_MOST ? name : NAME_MOST) + 2;
        names = name > names ? name : names;
        least = x + NAME_LEAST + 2 > least ? x + NAME_LEAST + 2 : least;
    }
    int column = names < shapes ? names : shapes;
    return column > least ? column : least;
}

/* Returns where they begin. */
static int draw_ms(const struct graph *g, const struct pane *p, int y, double ms,
                   const struct columns *c, bool bar)
{
    double share = g->rows.tree->most_ms > 0 ? ms / g->rows.tree->most_ms : 0,
           part = ms / g->rows.tree->total_ms;
    unsigned heat = part < 1. / 3 ? ROLE_HEAT_0 : part < 2. / 3 ? ROLE_HEAT_1 : ROLE_HEAT_2;

    if (bar && c->bar)
        pane_bar(p, c->ms + 1, y, c->bar, share, heat);
    return pane_right_ms(p, c->ms, y, ROLE_TEXT, ms);
}

static void draw_node(const struct graph *g, const struct watch *w, const struct pane *p, int y,
                      int n, const struct columns *c)
{
    const struct tree_node *node = &g->rows.tree->nodes[n];
    int x = 2 + c->indent * node->depth;

    draw_mark(p, y, node->mark);
    draw_light(
        p, y, g->rows.open[n] ? WAVE_DARK : tree_light(node, &w->wave)); /* open: its rows say it */
    pane_text(p, x, y, ROLE_DIM, g->rows.open[n] || g->filter ? "▾" : "▸");
    int room = c->ms - 8 - (x + 2);
    x = pane_cut(p, x + 2, y, room, node->depth == 0 ? ROLE_TITLE | BOLD : ROLE_TEXT, node->name);
    if (node->series && c->ms - x >= 14)
        x = pane_format(p, x + 2, y, ROLE_DIM, "×%d", node->series);
    if (node->differs && c->ms - x >= 10)
        pane_text(p, x + 1, y, ROLE_WARN | BOLD, "^");
    draw_ms(g, p, y, node->ms, c, true);
}

/* The name of an instruction; a path where it differs from those in the rows beside it. */
static const char *cut_apart(const struct graph *g, const struct tree_row *row, int columns,
                             char *out, size_t room)
{
    enum { BESIDE = 8 };
    const char *name = tree_instruction_name(g->rows.tree, row->instruction), *others[2 * BESIDE];
    int64_t here = row - g->rows.row;
    int count = 0;

    if (!strchr(name, '/'))
        return text_cut_middle(out, room, name, columns);
    for (int64_t at = here - BESIDE; at <= here + BESIDE; at++) {
        const struct tree_row *other = at == here ? NULL : row_at(g, at);
        if (other && other->instruction != HLO_NONE)
            others[count++] = tree_instruction_name(g->rows.tree, other->instruction);
    }
    return path_cut_apart(out, room, name, others, count, columns);
}

static void draw_instruction(const struct graph *g, const struct watch *w, const struct pane *p,
                             int y, const struct tree_row *row, const struct columns *c)
{
    static const int marks[] = {TREE_MIXED, TREE_OPEN, TREE_WHOLE, TREE_SPLIT};
    const struct hlo_module *m = g->problem->m;
    int x = 4 + c->indent * g->rows.tree->nodes[row->node].depth, ms_end = c->ms;
    const char *name = tree_instruction_name(g->rows.tree, row->instruction);
    double ms = w->ms[row->instruction];
    int move =
        w->position != MOVE_NONE ? watch_move_of_instruction(w, row->instruction) : MOVE_NONE;

    draw_mark(p, y,
              move != MOVE_NONE && move == w->position
                  ? TREE_NEXT
                  : marks[watch_status(w, row->instruction) + 2]);
    draw_light(p, y, wave_light_of(&w->wave, &w->problem->classes, row->instruction));
    if (ms >= pane_ms_least(p)) {
        ms_end = draw_ms(g, p, y, ms, c, false) - 2;
    }
    bool shaped = has_shape(m, row->instruction);
    hlo_value v = m->leaf_base[row->instruction];
    int room = ms_end - x, own = utf8_text_columns(name), name_room = own,
        shape = shaped ? shape_plain_width(w, v) + 2 : 7;
    if (c->shapes > x) {
        name_room = c->shapes - 2 - x;
        if (own > name_room && room - shape > name_room) /* a short shape leaves more */
            name_room = own < room - shape ? own : room - shape;
    } else if (name_room > room - shape) {
        name_room = shape < room - room / 3 ? room - shape : room / 3;
    }
    char cut[256];
    pane_text(p, x, y, ROLE_TEXT, cut_apart(g, row, name_room, cut, sizeof cut));
    if (shaped)
        shape_draw(w, v, p, x + name_room + 2, y, room - name_room - 2);
    else
        pane_text(p, x + name_room + 2, y, ROLE_DIM, "tuple");
}

static void draw_more(const struct graph *g, const struct pane *p, int y,
                      const struct tree_row *row, const struct columns *c)
{
    const struct tree_node *node = &g->rows.tree->nodes[row->node];
    double ms = g->filter ? 0 : tree_rows_more_ms(&g->rows, (size_t)(row - g->rows.row));
    char count[UNITS_ROOM];
    int x = 4 + c->indent * node->depth;

    x = pane_format(p, x, y, ROLE_DIM, "%s more", units_count(count, row->more));
    if (c->ms - x > 32)
        pane_text(p, x + 2, y, ROLE_DIM,
                  !g->filter && g->rows.shown[row->node] < node->telling ? "Enter shows them"
                                                                         : "t shows them");
    if (ms >= pane_ms_least(p))
        draw_ms(g, p, y, ms, c, false);
}

static void draw_graph(struct panel *p, const struct pane *pane)
{
    struct graph *g = p->state;
    const struct watch *w = p->scene->watch;
    struct columns c = columns_for(pane->width);
    const struct tree_row *row;

    if (!g->rows.tree || !w)
        return;
    if (!g->filter)
        tree_rows_fit(&g->rows, pane->height);
    list_fit(&g->list, (int64_t)g->rows.count, pane->height);
    if (pane->width >= 50)
        c.shapes = shapes_column(g, &c, pane->height);
    for (int y = 0; y < pane->height && (row = row_at(g, g->list.top + y)); y++) {
        if (row->more)
            draw_more(g, pane, y, row, &c);
        else if (row->instruction == HLO_NONE)
            draw_node(g, w, pane, y, row->node, &c);
        else
            draw_instruction(g, w, pane, y, row, &c);
        if (g->list.top + y != g->list.cursor)
            continue;
        struct pane line = pane_part(pane, 0, y, pane->width, 1);
        pane_select(&line, 0, p->focus ? ROLE_SELECT : ROLE_SELECT_DIM);
        if (p->focus) {
            pane->grid->cursor_x = pane->x;
            pane->grid->cursor_y = pane->y + y;
        }
    }
}

static void head_graph(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct watch *w = p->scene->watch;

    snprintf(note, room, p->width >= 50 ? "by layer · %s, ms" : "%s, ms",
             w ? watch_plan_word(w) : "all whole");
    h->note = note;
}

/* ---- moving about ---- */

static void go_to_node(struct graph *g, int n)
{
    for (size_t i = 0; i < g->rows.count; i++) {
        const struct tree_row *row = &g->rows.row[i];
        if (row->node == n && row->instruction == HLO_NONE && !row->more) {
            list_go(&g->list, (int64_t)i);
            return;
        }
    }
}

static void open_node(struct graph *g, int n, bool open)
{
    tree_rows_set_open(&g->rows, n, open);
    make_rows(g);
    go_to_node(g, n);
}

static bool act_graph(struct panel *p, int action)
{
    struct graph *g = p->state;
    const struct tree_row *row = row_at(g, g->list.cursor);

    if (!row)
        return false;
    int n = row->node;
    bool own = row->instruction == HLO_NONE && !row->more;
    g->rows.kept = true;
    if (action == GRAPH_FOLD_ALL) {
        memset(g->rows.open, 0, (size_t)g->rows.tree->count * sizeof *g->rows.open);
        make_rows(g);
        list_go(&g->list, 0);
    } else if (action == GRAPH_TRIVIAL || (row->more && action != GRAPH_FOLD)) {
        int64_t at = g->list.cursor;
        if (action != GRAPH_TRIVIAL && !g->filter &&
            g->rows.shown[n] < g->rows.tree->nodes[n].telling)
            g->rows.shown[n] = g->rows.tree->nodes[n].telling;
        else
            g->rows.all = !g->rows.all;
        make_rows(g);
        list_go(&g->list, at < g->list.count ? at : g->list.count - 1);
    } else if (action == GRAPH_UNFOLD) {
        if (own)
            open_node(g, n, true);
    } else if (own && (!g->rows.open[n] || action == GRAPH_TOGGLE)) {
        if (action == GRAPH_TOGGLE)
            open_node(g, n, !g->rows.open[n]);
        else if (g->rows.tree->nodes[n].parent != TREE_NONE)
            go_to_node(g, g->rows.tree->nodes[n].parent);
    } else {
        open_node(g, n, false);
    }
    follow_cursor(p);
    return true;
}

static bool move_graph(struct panel *p, enum list_move move)
{
    struct graph *g = p->state;
    bool moved = list_move(&g->list, move);
    g->rows.kept = true;
    follow_cursor(p);
    return moved;
}

static void click_graph(struct panel *p, int x, int y, bool twice)
{
    struct graph *g = p->state;
    (void)x;
    g->rows.kept = true;
    list_go(&g->list, g->list.top + y);
    if (twice)
        act_graph(p, GRAPH_TOGGLE);
    follow_cursor(p);
}

/* Opens what hides an instruction and goes there. */
static void go_to(struct graph *g, hlo_id id)
{
    tree_rows_reveal(&g->rows, id);
    make_rows(g);
    for (size_t i = 0; i < g->rows.count; i++) {
        if (g->rows.row[i].instruction == id) {
            list_go(&g->list, (int64_t)i);
            return;
        }
    }
}

/* Where an instruction stands in reading order; of a node, its first. */
static uint32_t place_of(const struct graph *g, const struct tree_row *row)
{
    const struct tree_node *node = &g->rows.tree->nodes[row->node];

    if (row->instruction == HLO_NONE)
        return node->first;
    for (uint32_t i = 0; i < node->count; i++) {
        if (g->rows.tree->order[node->first + i] == row->instruction)
            return node->first + i;
    }
    return node->first;
}

static void filter_graph(struct panel *p)
{
    struct graph *g = p->state;
    const struct tree_row *row = row_at(g, g->list.cursor);
    hlo_id here = row ? row->instruction : HLO_NONE;

    g->filter = p->filter;
    make_rows(g);
    if (here != HLO_NONE && !g->filter)
        go_to(g, here);
    follow_cursor(p);
}

/* The next that fits from the cursor on; HLO_NONE: none. `all`: optimizer state too. */
static hlo_id next_match(const struct graph *g, const struct tree_row *row,
                         const struct match *pattern, int step, bool all)
{
    uint32_t count = g->problem->m->count, here = place_of(g, row);

    for (uint32_t i = step && row->instruction != HLO_NONE ? 1 : 0; i <= count; i++) {
        uint32_t at = (step < 0 ? here + count - i % count : here + i) % count;
        hlo_id id = g->rows.tree->order[at];
        if (tree_rows_matches(&g->rows, id, pattern) && (all || !tree_is_state(g->rows.tree, id)))
            return id;
    }
    return HLO_NONE;
}

/* All instructions, folded ones too: by name, variable, module or op_name; optimizer state where
 * nothing else fits. */
static bool find_graph(struct panel *p, const struct match *pattern, int step)
{
    struct graph *g = p->state;
    const struct tree_row *row = row_at(g, g->list.cursor);

    if (!row || !g->rows.tree)
        return false;
    hlo_id id = next_match(g, row, pattern, step, false);
    if (id == HLO_NONE)
        id = next_match(g, row, pattern, step, true);
    if (id == HLO_NONE)
        return false;
    go_to(g, id);
    follow_cursor(p);
    return true;
}

static const char *name_here(const struct panel *p)
{
    struct graph *g = p->state;
    const struct tree_row *row = row_at(g, g->list.cursor);

    if (!row)
        return NULL;
    snprintf(g->name, sizeof g->name, "%s",
             row->instruction == HLO_NONE ? g->rows.tree->nodes[row->node].name
                                          : hlo_name(g->problem->m, row->instruction));
    return g->name;
}

static int move_here(const struct panel *p)
{
    const struct graph *g = p->state;
    const struct watch *w = p->scene->watch;
    const struct tree_row *row = row_at(g, g->list.cursor);

    if (!row || !w)
        return MOVE_NONE;
    if (row->instruction != HLO_NONE)
        return watch_move_of_instruction(w, row->instruction);
    const struct tree_node *node = &g->rows.tree->nodes[row->node];
    for (uint32_t i = 0; i < node->telling; i++) {
        int move = watch_move_of_instruction(w, g->rows.tree->order[node->first + i]);
        if (move != MOVE_NONE)
            return move;
    }
    return MOVE_NONE;
}

static hlo_id instruction_here(const struct panel *p)
{
    const struct graph *g = p->state;
    const struct tree_row *row = row_at(g, g->list.cursor);
    return row && !row->more ? row->instruction : HLO_NONE;
}

static void question_here(const struct panel *p, struct question *q)
{
    const struct graph *g = p->state;
    const struct tree_row *row = row_at(g, g->list.cursor);

    if (row && !row->more && row->instruction == HLO_NONE)
        *q = (struct question){.kind = QUESTION_PART, .part = part_of_node(row->node)};
}

static void go_to_node_graph(struct panel *p, int node)
{
    struct graph *g = p->state;

    if (!g->rows.tree)
        return;
    for (int n = g->rows.tree->nodes[node].parent; n != TREE_NONE;
         n = g->rows.tree->nodes[n].parent)
        g->rows.open[n] = true;
    g->rows.kept = true;
    make_rows(g);
    go_to_node(g, node);
    follow_cursor(p);
}

static void go_to_graph(struct panel *p, hlo_id id)
{
    struct graph *g = p->state;
    if (!g->rows.tree)
        return;
    go_to(g, id);
    follow_cursor(p);
}

/* Of a parameter that is one array; NULL: it is something else. */
static const struct hlo_param_role *role_of(const struct problem *p, hlo_id id)
{
    if (hlo_at(p->m, id)->opcode != HLO_OP_PARAMETER)
        return NULL;
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (p->m->value_instruction[p->roles.params[k].value] == id)
            return &p->roles.params[k];
    }
    return NULL;
}

static void message_graph(const struct panel *p, char *out, size_t room)
{
    const struct graph *g = p->state;
    const struct tree_row *row = row_at(g, g->list.cursor);
    char count[UNITS_ROOM], ms[UNITS_ROOM], all[UNITS_ROOM];

    if (!row)
        return;
    if (row->instruction == HLO_NONE) {
        const struct tree_node *node = &g->rows.tree->nodes[row->node];
        snprintf(out, room, "%s: %s instructions, %s of %s%s", node->name,
                 units_count(count, node->below), units_plain_ms(ms, node->ms),
                 units_ms(all, g->rows.tree->total_ms),
                 node->differs ? "; the optimum decides otherwise here" : "");
        return;
    }
    const struct hlo_param_role *r = role_of(g->problem, row->instruction);
    if (r) {
        const struct watch *w = p->scene->watch;
        const char *shown = w ? watch_parameter_name(w, row->instruction) : NULL;
        bool renamed = shown && strcmp(shown, r->name) != 0;
        snprintf(out, room, "%s%s%s: %s, %s%s; %s", shown ? shown : r->name,
                 renamed ? ", in the file " : "", renamed ? r->name : "", hlo_role_names[r->role],
                 hlo_confidence_names[r->confidence],
                 r->confidence == HLO_DOUBTFUL ? ", r sets it" : "", r->evidence);
        return;
    }
    const struct hlo_meta *meta = hlo_meta(g->problem->m, row->instruction);
    if (meta->op_name[0] && meta->source_file[0])
        snprintf(out, room, "%s  %s:%u", meta->op_name, meta->source_file, meta->source_line);
    else if (meta->op_name[0])
        snprintf(out, room, "%s", meta->op_name);
    else
        snprintf(out, room, "%s  line %u", hlo_name(g->problem->m, row->instruction),
                 hlo_at(g->problem->m, row->instruction)->line);
}

static const struct list *list_here(const struct panel *p)
{
    const struct graph *v = p->state;
    return &v->list;
}

const struct panel_ops view_graph = {
    .name = "graph",
    .title = "Graph",
    .place = PLACE_LAYOUT,
    .id = PANEL_GRAPH,
    .keys = &graph_keys,
    .hints = "run decide pin backtrack undo why +plans=views command export search toggle "
             "graph-view zoom help",
    .size = sizeof(struct graph),
    .open = open_graph,
    .close = close_graph,
    .read = read_graph,
    .list = list_here,
    .draw = draw_graph,
    .head = head_graph,
    .act = act_graph,
    .move = move_graph,
    .click = click_graph,
    .find = find_graph,
    .filter = filter_graph,
    .move_here = move_here,
    .instruction_here = instruction_here,
    .question_here = question_here,
    .go_to = go_to_graph,
    .go_to_node = go_to_node_graph,
    .remember = remember_graph,
    .recall = recall_graph,
    .name_here = name_here,
    .message = message_graph,
};
