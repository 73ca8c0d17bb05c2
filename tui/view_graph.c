/* Panel 1: the module as a tree. What is open belongs to this view; the rows in sight are found in a
 * list made anew when something opens or closes. */
#include "tui/view_graph.h"

#include "engine/units.h"
#include "tui/app.h"
#include "tui/shape.h"
#include "tui/theme.h"
#include "tui/tree.h"
#include "tui/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    int node;
    hlo_id instruction; /* HLO_NONE: the node's own row */
    uint32_t more;      /* instructions this row stands for; 0: it is one itself */
};

struct graph {
    struct list list;
    const struct problem *problem; /* the tree is of this one; only compared */
    struct tree *tree;             /* the watch's; NULL: no model */
    bool *open;                    /* [nodes] */
    bool all;                      /* trivial instructions too */
    const struct match *filter;    /* the panel's */
    struct row *rows;
    size_t row_count, row_room;
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

static bool add_row(struct graph *g, struct row row)
{
    if (!mem_grow(&g->rows, &g->row_room, g->row_count, 1))
        return false;
    g->rows[g->row_count++] = row;
    return true;
}

static void add_node(struct graph *g, int n)
{
    const struct tree_node *node = &g->tree->nodes[n];
    uint32_t shown = g->all ? node->count : node->telling;

    if (!node->below || !add_row(g, (struct row){n, HLO_NONE, 0}) || !g->open[n])
        return;
    for (int k = node->first_child; k != TREE_NONE; k = g->tree->nodes[k].next)
        add_node(g, k);
    for (uint32_t i = 0; i < shown; i++) {
        if (!add_row(g, (struct row){n, g->tree->order[node->first + i], 0}))
            return;
    }
    if (shown < node->count)
        (void)add_row(g, (struct row){n, HLO_NONE, node->count - shown});
}

static bool matches(const struct graph *g, hlo_id id, const struct match *pattern);

/* What matches a filter, folded or not, below the modules that hold it. */
static void add_matching(struct graph *g, int n, const struct match *filter)
{
    const struct tree_node *node = &g->tree->nodes[n];
    size_t before = g->row_count;

    if (!node->below || !add_row(g, (struct row){n, HLO_NONE, 0}))
        return;
    for (int k = node->first_child; k != TREE_NONE; k = g->tree->nodes[k].next)
        add_matching(g, k, filter);
    for (uint32_t i = 0; i < node->count; i++) {
        hlo_id id = g->tree->order[node->first + i];
        if (matches(g, id, filter) && !add_row(g, (struct row){n, id, 0}))
            return;
    }
    if (g->row_count == before + 1)
        g->row_count = before;
}

static void make_rows(struct graph *g)
{
    g->row_count = 0;
    for (int n = g->tree ? g->tree->first_root : TREE_NONE; n != TREE_NONE; n = g->tree->nodes[n].next) {
        if (g->filter)
            add_matching(g, n, g->filter);
        else
            add_node(g, n);
    }
    list_fit(&g->list, (int64_t)g->row_count, g->list.rows);
}

/* Two levels of the forward pass are open, series stay shut. */
static void open_first(struct graph *g)
{
    const struct tree *t = g->tree;

    for (int n = 0; n < t->count; n++) {
        const struct tree_node *node = &t->nodes[n];
        int root = node->depth == 1 ? node->parent : node->depth == 0 ? n : TREE_NONE;
        g->open[n] = root != TREE_NONE && !strcmp(t->nodes[root].name, "forward") && node->first_child != TREE_NONE &&
                     !node->series;
    }
}

static const struct row *row_at(const struct graph *g, int64_t at)
{
    return at >= 0 && (size_t)at < g->row_count ? &g->rows[at] : NULL;
}

/* The other views look at what the cursor is on; of a module, at its first telling instruction. */
static void follow(const struct panel *p)
{
    const struct graph *g = p->state;
    const struct row *row = row_at(g, g->list.cursor);

    if (row && p->scene->watch)
        p->scene->watch->here =
            row->instruction != HLO_NONE ? row->instruction : g->tree->nodes[row->node].begins;
}

static void read_graph(struct panel *p)
{
    struct graph *g = p->state;

    if (g->problem == p->scene->problem)
        return;
    free(g->open);
    g->tree = p->scene->watch ? p->scene->watch->tree : NULL;
    g->open = NULL;
    g->problem = p->scene->problem;
    g->list = (struct list){0};
    if (g->tree) {
        g->open = mem_alloc(((size_t)g->tree->count + 1) * sizeof *g->open);
        open_first(g);
    }
    make_rows(g);
    follow(p);
}

/* ---- what is open, told by names: an edited problem has another tree ---- */

struct folds {
    bool all;
    size_t count;
    uint64_t open[]; /* hashes of paths */
};

static uint64_t path_of(const struct tree *t, int n)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a, from the node to its root */

    for (; n != TREE_NONE; n = t->nodes[n].parent) {
        for (const char *c = t->nodes[n].name; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        hash = (hash ^ '/') * 1099511628211u;
    }
    return hash;
}

static void *remember_graph(const struct panel *p)
{
    const struct graph *g = p->state;
    struct folds *f = g->tree ? mem_try(1, sizeof *f + (size_t)g->tree->count * sizeof *f->open) : NULL;

    if (!f)
        return NULL;
    f->all = g->all;
    for (int n = 0; n < g->tree->count; n++) {
        if (g->open[n])
            f->open[f->count++] = path_of(g->tree, n);
    }
    return f;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void recall_graph(struct panel *p, const void *memory)
{
    struct graph *g = p->state;
    const struct folds *f = memory;
    uint64_t *sorted = mem_try(f->count + 1, sizeof *sorted);

    if (g->tree && sorted) {
        memcpy(sorted, f->open, f->count * sizeof *sorted);
        qsort(sorted, f->count, sizeof *sorted, compare_hashes);
        for (int n = 0; n < g->tree->count; n++) {
            uint64_t path = path_of(g->tree, n);
            g->open[n] = bsearch(&path, sorted, f->count, sizeof *sorted, compare_hashes) != NULL;
        }
        g->all = f->all;
        make_rows(g);
    }
    free(sorted);
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
    free(g->rows);
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
};

static struct columns columns_for(int width)
{
    int bar = width >= 52 ? width / 12 : 0;
    return (struct columns){.indent = width >= 50 ? 2 : 1, .bar = bar, .ms = width - (bar ? bar + 1 : 0)};
}

static void draw_ms(const struct graph *g, const struct pane *p, int y, double ms, const struct columns *c, bool bar)
{
    double share = g->tree->most_ms > 0 ? ms / g->tree->most_ms : 0, part = ms / g->tree->total_ms;
    unsigned heat = part < 1. / 3 ? ROLE_HEAT_0 : part < 2. / 3 ? ROLE_HEAT_1 : ROLE_HEAT_2;

    pane_right_ms(p, c->ms, y, ROLE_TEXT, ms);
    if (bar && c->bar)
        pane_bar(p, c->ms + 1, y, c->bar, share, heat);
}

static void draw_node(const struct graph *g, const struct watch *w, const struct pane *p, int y, int n,
                      const struct columns *c)
{
    const struct tree_node *node = &g->tree->nodes[n];
    int x = 2 + c->indent * node->depth;

    draw_mark(p, y, node->mark);
    draw_light(p, y, g->open[n] ? WAVE_DARK : tree_light(node, &w->wave)); /* open: its rows say it */
    pane_text(p, x, y, ROLE_DIM, g->open[n] || g->filter ? "▾" : "▸");
    int room = c->ms - 8 - (x + 2);
    x = pane_cut(p, x + 2, y, room, node->depth == 0 ? ROLE_TITLE | BOLD : ROLE_TEXT, node->name);
    if (node->series && c->ms - x >= 14)
        x = pane_format(p, x + 2, y, ROLE_DIM, "×%d", node->series);
    if (node->differs && c->ms - x >= 10)
        pane_text(p, x + 1, y, ROLE_WARN | BOLD, "^");
    draw_ms(g, p, y, node->ms, c, true);
}

static void draw_instruction(const struct graph *g, const struct watch *w, const struct pane *p, int y,
                             const struct row *row, const struct columns *c)
{
    static const int marks[] = {TREE_MIXED, TREE_OPEN, TREE_WHOLE, TREE_SPLIT};
    const struct hlo_module *m = g->problem->m;
    int x = 4 + c->indent * g->tree->nodes[row->node].depth, ms_end = c->ms;
    const char *name = tree_instruction_name(g->tree, row->instruction);
    double ms = w->ms[row->instruction];
    int move = w->position != MOVE_NONE ? watch_move_of_instruction(w, row->instruction) : MOVE_NONE;

    draw_mark(p, y, move != MOVE_NONE && move == w->position ? TREE_NEXT : marks[watch_status(w, row->instruction) + 2]);
    draw_light(p, y, wave_light_of(&w->wave, &w->problem->classes, row->instruction));
    if (ms >= pane_ms_least(p)) {
        draw_ms(g, p, y, ms, c, false);
        ms_end -= 8;
    }
    hlo_value v = m->leaf_base[row->instruction];
    bool is_one = m->leaf_base[row->instruction + 1] - v == 1;
    int shape = is_one ? shape_width(w, v) : 0, room = ms_end - x;
    int name_room = room - shape - 2 < room / 3 ? room / 3 : room - shape - 2, own = utf8_text_columns(name);
    enum { ALIGNED = 18 };
    if (p->width >= 50 && own <= ALIGNED && room - ALIGNED - 2 >= shape)
        name_room = ALIGNED;
    else if (own < name_room)
        name_room = own;
    pane_cut(p, x, y, name_room, ROLE_TEXT, name);
    if (is_one)
        shape_draw(w, v, p, x + name_room + 2, y, room - name_room - 2);
    else
        pane_text(p, x + name_room + 2, y, ROLE_DIM, "tuple");
}

static void draw_more(const struct graph *g, const struct pane *p, int y, const struct row *row, const struct columns *c)
{
    const struct tree_node *node = &g->tree->nodes[row->node];
    char count[UNITS_ROOM];
    int x = 4 + c->indent * node->depth;

    x = pane_format(p, x, y, ROLE_DIM, "%s more", units_count(count, row->more));
    if (c->ms - x > 32)
        pane_text(p, x + 2, y, ROLE_DIM, "t shows them");
}

static void draw_graph(struct panel *p, const struct pane *pane)
{
    struct graph *g = p->state;
    const struct watch *w = p->scene->watch;
    struct columns c = columns_for(pane->width);
    const struct row *row;

    if (!g->tree || !w)
        return;
    list_fit(&g->list, (int64_t)g->row_count, pane->height);
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
    const char *plan = w && w->best ? "best plan" : "all whole";

    snprintf(note, room, p->width >= 50 ? "by layer · %s, ms" : "%s, ms", plan);
    h->note = note;
}

/* ---- moving about ---- */

static void go_to_node(struct graph *g, int n)
{
    for (size_t i = 0; i < g->row_count; i++) {
        if (g->rows[i].node == n && g->rows[i].instruction == HLO_NONE && !g->rows[i].more) {
            list_go(&g->list, (int64_t)i);
            return;
        }
    }
}

static void open_node(struct graph *g, int n, bool open)
{
    g->open[n] = open;
    make_rows(g);
    go_to_node(g, n);
}

static bool act_graph(struct panel *p, int action)
{
    struct graph *g = p->state;
    const struct row *row = row_at(g, g->list.cursor);

    if (!row)
        return false;
    int n = row->node;
    bool own = row->instruction == HLO_NONE && !row->more;
    if (action == GRAPH_FOLD_ALL) {
        memset(g->open, 0, (size_t)g->tree->count * sizeof *g->open);
        make_rows(g);
        list_go(&g->list, 0);
    } else if (action == GRAPH_TRIVIAL || (row->more && action != GRAPH_FOLD)) {
        int64_t at = g->list.cursor;
        g->all = !g->all;
        make_rows(g);
        list_go(&g->list, at < g->list.count ? at : g->list.count - 1);
    } else if (action == GRAPH_UNFOLD) {
        if (own)
            open_node(g, n, true);
    } else if (own && (!g->open[n] || action == GRAPH_TOGGLE)) {
        if (action == GRAPH_TOGGLE)
            open_node(g, n, !g->open[n]);
        else if (g->tree->nodes[n].parent != TREE_NONE)
            go_to_node(g, g->tree->nodes[n].parent);
    } else {
        open_node(g, n, false);
    }
    follow(p);
    return true;
}

static bool move_graph(struct panel *p, enum list_move move)
{
    struct graph *g = p->state;
    bool moved = list_move(&g->list, move);
    follow(p);
    return moved;
}

static void click_graph(struct panel *p, int x, int y, bool twice)
{
    struct graph *g = p->state;
    (void)x;
    list_go(&g->list, g->list.top + y);
    if (twice)
        act_graph(p, GRAPH_TOGGLE);
    follow(p);
}

/* Opens what hides an instruction and goes there. */
static void go_to(struct graph *g, hlo_id id)
{
    int node = g->tree->node_of[id];
    const struct tree_node *own = &g->tree->nodes[node];

    for (int n = node; n != TREE_NONE; n = g->tree->nodes[n].parent)
        g->open[n] = true;
    bool told = false;
    for (uint32_t i = 0; i < own->telling; i++)
        told |= g->tree->order[own->first + i] == id;
    g->all |= !told;
    make_rows(g);
    for (size_t i = 0; i < g->row_count; i++) {
        if (g->rows[i].instruction == id) {
            list_go(&g->list, (int64_t)i);
            return;
        }
    }
}

/* Where an instruction stands in reading order; of a node, its first. */
static uint32_t place_of(const struct graph *g, const struct row *row)
{
    const struct tree_node *node = &g->tree->nodes[row->node];

    if (row->instruction == HLO_NONE)
        return node->first;
    for (uint32_t i = 0; i < node->count; i++) {
        if (g->tree->order[node->first + i] == row->instruction)
            return node->first + i;
    }
    return node->first;
}

static bool matches(const struct graph *g, hlo_id id, const struct match *pattern)
{
    return match_any(pattern, tree_instruction_name(g->tree, id), hlo_name(g->problem->m, id),
                     hlo_meta(g->problem->m, id)->op_name);
}

static void filter_graph(struct panel *p)
{
    struct graph *g = p->state;
    const struct row *row = row_at(g, g->list.cursor);
    hlo_id here = row ? row->instruction : HLO_NONE;

    g->filter = p->filter;
    make_rows(g);
    if (here != HLO_NONE && !g->filter)
        go_to(g, here);
    follow(p);
}

/* All instructions, folded ones too: by name, variable or op_name. */
static bool find_graph(struct panel *p, const struct match *pattern, int step)
{
    struct graph *g = p->state;
    const struct row *row = row_at(g, g->list.cursor);

    if (!row || !g->tree)
        return false;
    uint32_t count = g->problem->m->count, here = place_of(g, row);
    for (uint32_t i = step && row->instruction != HLO_NONE ? 1 : 0; i <= count; i++) {
        uint32_t at = (step < 0 ? here + count - i % count : here + i) % count;
        if (matches(g, g->tree->order[at], pattern)) {
            go_to(g, g->tree->order[at]);
            follow(p);
            return true;
        }
    }
    return false;
}

static const char *name_here(const struct panel *p)
{
    struct graph *g = p->state;
    const struct row *row = row_at(g, g->list.cursor);

    if (!row)
        return NULL;
    snprintf(g->name, sizeof g->name, "%s",
             row->instruction == HLO_NONE ? g->tree->nodes[row->node].name : hlo_name(g->problem->m, row->instruction));
    return g->name;
}

static int move_here(const struct panel *p)
{
    const struct graph *g = p->state;
    const struct watch *w = p->scene->watch;
    const struct row *row = row_at(g, g->list.cursor);

    if (!row || !w)
        return MOVE_NONE;
    if (row->instruction != HLO_NONE)
        return watch_move_of_instruction(w, row->instruction);
    const struct tree_node *node = &g->tree->nodes[row->node];
    for (uint32_t i = 0; i < node->telling; i++) {
        int move = watch_move_of_instruction(w, g->tree->order[node->first + i]);
        if (move != MOVE_NONE)
            return move;
    }
    return MOVE_NONE;
}

static hlo_id instruction_here(const struct panel *p)
{
    const struct graph *g = p->state;
    const struct row *row = row_at(g, g->list.cursor);
    return row && !row->more ? row->instruction : HLO_NONE;
}

static void go_to_graph(struct panel *p, hlo_id id)
{
    struct graph *g = p->state;
    if (!g->tree)
        return;
    go_to(g, id);
    follow(p);
}

static void message_graph(const struct panel *p, char *out, size_t room)
{
    const struct graph *g = p->state;
    const struct row *row = row_at(g, g->list.cursor);
    char count[UNITS_ROOM], ms[UNITS_ROOM], all[UNITS_ROOM];

    if (!row)
        return;
    if (row->instruction == HLO_NONE) {
        const struct tree_node *node = &g->tree->nodes[row->node];
        snprintf(out, room, "%s: %s instructions, %s of %s%s", node->name, units_count(count, node->below),
                 units_plain_ms(ms, node->ms), units_ms(all, g->tree->total_ms), node->differs ? "; the optimum decides otherwise here" : "");
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
    .hints = "run decide pin backtrack undo why +plans=views export command search toggle graph-view zoom help",
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
    .go_to = go_to_graph,
    .remember = remember_graph,
    .recall = recall_graph,
    .name_here = name_here,
    .message = message_graph,
};
