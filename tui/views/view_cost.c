/* Panel 8: the step time of the plan on screen by phase; Enter opens a part into its own: layers,
 * then operations, then instructions, and of all-reduces the classes that make them. */
#include "engine/cost/memory.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/path.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include "engine/decide/names.h"
#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/cost_split.h"
#include "tui/watch/part.h"
#include "tui/watch/question.h"
#include "tui/watch/short_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = PART_FILTERS - 1,
    BESIDE = 150,
    TABLE = 100
}; /* columns from which the parts of a row stand beside it */

struct cost {
    struct cost_split split;
    struct cost_filter filters[DEPTH]; /* opened, from outside in */
    int64_t cursors[DEPTH];            /* where the cursor was when it was opened */
    bool were_unfolded[DEPTH];
    bool unfolded; /* layers and linkage groups that are alike are rows of their own */
    int depth;
    enum cost_key key; /* grouped by */
    struct cost_group *groups;
    size_t group_count;
    struct cost_group sum;
    struct list list;
    bool stale;
    char name[128];
};

enum { COST_OPEN, COST_BACK, COST_KEY };
static const struct action cost_actions[] = {
    [COST_OPEN] = {"open", "in this panel", "open a part, close it", "open", "Enter or l or Right",
                   NULL},
    [COST_BACK] = {"back", "in this panel", NULL, NULL, "h or Left or Backspace", NULL},
    [COST_KEY] = {"group", "in this panel",
                  "by phase, layer, operation, linkage group, instruction", "group by", "o", NULL},
};
static const struct key_table cost_keys = {"cost", cost_actions, 3};

/* ---- figures ---- */

static void add_up(struct cost *v)
{
    v->sum = (struct cost_group){0};
    for (size_t n = 0; n < v->group_count; n++) {
        const struct cost_group *g = &v->groups[n];
        v->sum.compute_ms += g->compute_ms;
        v->sum.network_ms += g->network_ms;
        v->sum.reduces += g->reduces;
        v->sum.bytes += g->bytes;
    }
}

static void group_rows(struct panel *p)
{
    struct cost *v = p->state;
    struct err e;

    free(v->groups);
    v->groups = NULL;
    v->group_count = 0;
    v->stale = false;
    v->sum = (struct cost_group){0};
    if (cost_split_group(&v->split, v->filters, v->depth, v->key, &v->groups, &v->group_count,
                         &e)) {
        host_say_err(p->scene, &e);
        return;
    }
    if (!v->unfolded && (v->key == COST_BY_LAYER || v->key == COST_BY_CLASS))
        v->group_count = cost_fold_alike(p->scene->watch, v->key, v->groups, v->group_count);
    add_up(v);
    list_fit(&v->list, (int64_t)v->group_count, v->list.rows);
}

static void read_cost(struct panel *p)
{
    struct cost *v = p->state;
    const struct watch *w = p->scene->watch;

    if (w && (v->split.watch != w || v->split.version != w->ms_version)) {
        if (v->split.watch != w)
            v->depth = 0;
        v->stale = true;
    }
}

/* Taken apart when it is looked at, not before: other panels may hide this one for ever. */
static void make_rows(struct panel *p)
{
    struct cost *v = p->state;
    struct err e;

    if (!v->stale)
        return;
    if (cost_split_read(&v->split, p->scene->watch, &e))
        host_say_err(p->scene, &e);
    else
        group_rows(p);
}

static int open_cost(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    read_cost(p);
    return 0;
}

static void close_cost(struct panel *p)
{
    struct cost *v = p->state;
    cost_split_release(&v->split);
    free(v->groups);
}

/* ---- the summary: where the panel is one of many ---- */

static void draw_bar(const struct pane *p, int y, int from, int to, double ms, double most,
                     unsigned role)
{
    if (to - from >= 4 && most > 0)
        pane_bar(p, from, y, to - from, ms / most, role);
}

static int draw_phases(const struct cost *v, const struct pane *p, int y, bool network, double most)
{
    const int name = p->width >= 50 ? 12 : 9, ms_end = name + 18,
              tail = p->width >= 56 ? p->width - 16 : p->width;
    bool first = true;

    for (size_t n = 0; n < v->group_count; n++) {
        const struct cost_group *g = &v->groups[n];
        double ms = network ? g->network_ms : g->compute_ms;
        char count[UNITS_ROOM], bytes[UNITS_ROOM];
        if (ms < pane_ms_least(p) || y >= p->height)
            continue;
        if (first)
            pane_text(p, 0, y, ROLE_DIM, network ? name > 11 ? "all-reduce" : "reduce" : "compute");
        first = false;
        pane_text(p, name, y, ROLE_DIM, hlo_phase_names[g->value]);
        pane_right_ms(p, ms_end, y, ROLE_TEXT, ms);
        draw_bar(p, y, ms_end + 1, tail - 1, ms, most, network ? ROLE_PLOT_1 : ROLE_PLOT_0);
        if (network && tail < p->width)
            pane_right_format(p, p->width, y, ROLE_DIM, "%s, %s",
                              units_count(count, (int64_t)(g->reduces + 0.5)),
                              units_bytes(bytes, g->bytes));
        y++;
    }
    return y;
}

static void draw_summary(const struct cost *v, const struct watch *w, const struct pane *p)
{
    const int name = p->width >= 50 ? 12 : 9;
    double most = 0, step = v->sum.compute_ms + v->sum.network_ms;
    char count[UNITS_ROOM], bytes[UNITS_ROOM];

    for (size_t n = 0; n < v->group_count; n++) {
        most = v->groups[n].compute_ms > most ? v->groups[n].compute_ms : most;
        most = v->groups[n].network_ms > most ? v->groups[n].network_ms : most;
    }
    int y = draw_phases(v, p, 0, false, most);
    y = draw_phases(v, p, y, true, most);
    pane_text(p, name, y, ROLE_TEXT | BOLD, "step");
    pane_right_ms(p, name + 18, y, ROLE_TEXT | BOLD, step);
    if (p->width >= 56)
        pane_right_format(p, p->width, y, ROLE_DIM, "%s, %s",
                          units_count(count, (int64_t)(v->sum.reduces + 0.5)),
                          units_bytes(bytes, v->sum.bytes));
    if (y + 3 > p->height || step <= 0)
        return;
    const double *b = w->memory.bytes;
    double state = b[MEMORY_PARAMETERS] + b[MEMORY_OPTIMIZER], limit = watch_memory_limit(w);
    pane_text(p, 0, y + 2, ROLE_DIM, "devices");
    pane_format(p, name, y + 2, ROLE_TEXT, "%s, busy %.0f %%, links %.0f %%",
                units_count(count, w->problem->cluster.devices), v->sum.compute_ms / step * 100,
                v->sum.network_ms / step * 100);
    pane_text(p, 0, y + 3, ROLE_DIM, "memory");
    pane_format(p, name, y + 3, ROLE_TEXT, "%s state + %s others, of %.4g GB",
                units_number(count, state / 1e9, 2),
                units_number(bytes, (w->memory.peak - state) / 1e9, 2), limit / 1e9);
}

/* ---- the table ---- */

/* Where columns end; 0: left out. */
struct columns {
    int name_end, total, compute, network, share, bar, reduces, megabytes, count;
};

static struct columns columns_for(int width)
{
    struct columns c = {0};
    int x = width;

    if (width >= 92) {
        c.count = x;
        x -= 9;
    }
    if (width >= 60) {
        c.megabytes = x;
        c.reduces = x - 8;
        x = c.reduces - 9;
    }
    if (width >= 110) {
        c.bar = 20;
        x -= c.bar + 1;
    }
    if (width >= 70) {
        c.share = x;
        x -= 9;
    }
    if (width >= 44) {
        c.network = x;
        c.compute = x - 9;
        x = c.compute - 9;
    }
    c.total = x;
    c.name_end = x - 8;
    return c;
}

static void draw_titles(const struct cost *v, const struct pane *p, const struct columns *c)
{
    pane_text(p, 0, 0, ROLE_DIM, cost_key_names[v->key]);
    pane_right(p, c->total, 0, ROLE_DIM, "ms");
    if (c->compute) {
        pane_right(p, c->compute, 0, ROLE_DIM, "compute");
        pane_right(p, c->network, 0, ROLE_DIM, "reduce");
    }
    if (c->share)
        pane_right(p, c->share, 0, ROLE_DIM, "share");
    if (c->bar) {
        int x = pane_text(p, c->share + 2, 0, ROLE_PLOT_0, "█");
        x = pane_text(p, pane_text(p, x, 0, ROLE_DIM, " compute "), 0, ROLE_PLOT_1, "▒");
        pane_text(p, x, 0, ROLE_DIM, " reduce");
    }
    if (c->reduces) {
        pane_right(p, c->reduces, 0, ROLE_DIM, "reduces");
        pane_right(p, c->megabytes, 0, ROLE_DIM, "MB");
    }
    if (c->count)
        pane_right(p, c->count, 0, ROLE_DIM, "instr");
}

static void draw_ms(const struct pane *p, int end, int y, unsigned style, double ms)
{
    if (end && ms > 0)
        pane_right_ms(p, end, y, style, ms);
}

static void draw_group(const struct cost *v, const struct pane *p, int y,
                       const struct cost_group *g, const char *name, const struct columns *c,
                       unsigned style)
{
    double ms = g->compute_ms + g->network_ms, all = v->sum.compute_ms + v->sum.network_ms;
    double first = v->group_count ? v->groups[0].compute_ms + v->groups[0].network_ms : 0;
    char text[UNITS_ROOM];

    for (size_t n = 1; v->key == COST_BY_PHASE && n < v->group_count; n++)
        first = v->groups[n].compute_ms + v->groups[n].network_ms > first
                    ? v->groups[n].compute_ms + v->groups[n].network_ms
                    : first;
    pane_cut(p, 0, y, c->name_end, style, name);
    pane_right_ms(p, c->total, y, style, ms);
    draw_ms(p, c->compute, y, style, g->compute_ms);
    draw_ms(p, c->network, y, style, g->network_ms);
    if (c->share && all > 0)
        pane_right(p, c->share, y, ROLE_DIM, units_percent(text, ms / all));
    if (c->bar && style == ROLE_TEXT && first > 0) {
        int compute = (int)(g->compute_ms / first * c->bar + 0.5);
        pane_bar(p, c->share + 2, y, c->bar, g->compute_ms / first, ROLE_PLOT_0);
        int network = (int)(g->network_ms / first * c->bar + 0.5);
        network = network < c->bar - compute ? network : c->bar - compute;
        pane_repeat(p, c->share + 2 + compute, y, network, (struct cell){U'▒', ROLE_PLOT_1});
    }
    if (c->reduces && g->reduces > 0) {
        pane_right(p, c->reduces, y, style, units_count(text, (int64_t)(g->reduces + 0.5)));
        pane_right(p, c->megabytes, y, style, units_count(text, (int64_t)(g->bytes / 1e6 + 0.5)));
    }
    if (c->count && g->instructions)
        pane_right(p, c->count, y, ROLE_DIM, units_count(text, g->instructions));
}

enum { ROWS_MOST = 256 };

/* Names of rows from `first` on in so many columns, told apart: paths where they differ, others by
 * their words. */
static void name_rows(const struct watch *w, const struct cost *v, int64_t first, int count,
                      int columns, char (*out)[SHORT_NAME_ROOM])
{
    char(*name)[SHORT_NAME_ROOM] = mem_alloc((size_t)count * sizeof *name + 1);
    const char *of[ROWS_MOST], *others[ROWS_MOST];

    for (int n = 0; n < count; n++) {
        cost_row_name(w, v->key, &v->groups[first + n], name[n], sizeof *name);
        of[n] = name[n];
    }
    if (v->key != COST_BY_LAYER)
        short_names(of, count, columns, watch_shorten, out);
    for (int n = 0; n < count && v->key == COST_BY_LAYER; n++) {
        int other = 0;
        for (int k = 0; k < count; k++) {
            if (k != n)
                others[other++] = name[k];
        }
        path_cut_apart(out[n], sizeof *out, name[n], others, other, columns);
    }
    free(name);
}

static void draw_table(struct panel *p, const struct pane *pane)
{
    struct cost *v = p->state;
    const struct watch *w = p->scene->watch;
    struct columns c = columns_for(pane->width);
    int rows = pane->height - 2;

    draw_titles(v, pane, &c);
    list_fit(&v->list, (int64_t)v->group_count, rows > 0 ? rows : 1);
    int64_t end =
        v->list.top + v->list.rows < v->list.count ? v->list.top + v->list.rows : v->list.count;
    char(*name)[SHORT_NAME_ROOM] = mem_alloc((size_t)(end - v->list.top) * sizeof *name + 1);
    end = end - v->list.top < ROWS_MOST ? end : v->list.top + ROWS_MOST;
    name_rows(w, v, v->list.top, (int)(end - v->list.top), c.name_end, name);
    for (int64_t n = v->list.top; n < end; n++) {
        int y = 1 + (int)(n - v->list.top);
        draw_group(v, pane, y, &v->groups[n], name[y - 1], &c, ROLE_TEXT);
        if (n != v->list.cursor)
            continue;
        pane_select(pane, y, p->focus ? ROLE_SELECT : ROLE_SELECT_DIM);
        if (p->focus) {
            pane->grid->cursor_x = pane->x;
            pane->grid->cursor_y = pane->y + y;
        }
    }
    free(name);
    int last = 1 + (int)(end - v->list.top);
    char more[48];
    snprintf(more, sizeof more, end < v->list.count ? "all, %lld more" : "all",
             (long long)(v->list.count - end));
    if (last < pane->height)
        draw_group(v, pane, last, &v->sum, more, &c, ROLE_DIM);
}

/* What a part is opened into. */
static enum cost_key inner_key(enum cost_key key, const struct cost_group *g)
{
    if (key == COST_BY_PHASE)
        return COST_BY_LAYER;
    if (key == COST_BY_LAYER)
        return g->network_ms > g->compute_ms ? COST_BY_CLASS : COST_BY_OPCODE;
    return COST_BY_INSTRUCTION;
}

static bool is_taken(const struct cost *v, enum cost_key key)
{
    bool taken = false;
    for (int n = 0; n < v->depth; n++)
        taken |= v->filters[n].key == key;
    return taken;
}

static enum cost_key next_key(const struct cost *v, enum cost_key key, const struct cost_group *g)
{
    enum cost_key next = inner_key(key, g);
    while (is_taken(v, next))
        next = (enum cost_key)((int)next + 1);
    return next;
}

/* What Enter would show, without going there. */
static void draw_parts_of(struct panel *p, const struct pane *pane)
{
    const struct cost *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct cost_group *g = &v->groups[v->list.cursor];
    struct cost inner = {.split = v->split, .depth = v->depth};
    struct columns c = columns_for(pane->width);
    char name[128], title[160];
    struct err e;

    cost_group_name(w, v->key, g->value, name, sizeof name);
    if (g->times > 1) /* the parts of one of them */
        snprintf(name + strlen(name), sizeof name - strlen(name), ", one of %u", g->times);
    if (v->key == COST_BY_INSTRUCTION || v->depth == DEPTH)
        return;
    memcpy(inner.filters, v->filters, sizeof inner.filters);
    inner.filters[inner.depth++] = (struct cost_filter){v->key, g->value};
    inner.key = next_key(&inner, v->key, g);
    if (cost_split_group(&inner.split, inner.filters, inner.depth, inner.key, &inner.groups,
                         &inner.group_count, &e))
        return; /* no memory: the table alone */
    add_up(&inner);
    snprintf(title, sizeof title, "%.120s, by %s", name, cost_key_names[inner.key]);
    pane_text(pane, 0, 0, ROLE_TITLE | BOLD, title);
    struct pane body = pane_part(pane, 0, 1, pane->width, pane->height - 1);
    draw_titles(&inner, &body, &c);
    int rows = body.height - 2,
        shown = (int)inner.group_count < rows ? (int)inner.group_count : rows;
    shown = shown < 0 ? 0 : shown < ROWS_MOST ? shown : ROWS_MOST;
    char(*names)[SHORT_NAME_ROOM] = mem_alloc((size_t)shown * sizeof *names + 1);
    name_rows(w, &inner, 0, shown, c.name_end, names);
    for (int y = 0; y < shown; y++)
        draw_group(&inner, &body, y + 1, &inner.groups[y], names[y], &c, ROLE_TEXT);
    free(names);
    char more[48];
    snprintf(more, sizeof more, (size_t)shown < inner.group_count ? "all, %zu more" : "all",
             inner.group_count - (size_t)shown);
    draw_group(&inner, &body, shown + 1, &inner.sum, more, &c, ROLE_DIM);
    free(inner.groups);
}

/* The table where the panel has the keys, or room for it. */
static bool is_table(const struct panel *p)
{
    const struct cost *v = p->state;
    return p->focus || v->depth || v->key != COST_BY_PHASE;
}

static void draw_cost(struct panel *p, const struct pane *pane)
{
    struct cost *v = p->state;

    if (!p->scene->watch)
        return;
    make_rows(p);
    if (is_table(p) && pane->width >= BESIDE) {
        struct pane left = pane_part(pane, 0, 0, TABLE, pane->height),
                    right = pane_part(pane, TABLE + 4, 0, pane->width - TABLE - 4, pane->height);
        draw_table(p, &left);
        for (int y = 0; y < pane->height; y++)
            pane_put(pane, TABLE + 1, y, ROLE_BORDER, U'│');
        if ((size_t)v->list.cursor < v->group_count)
            draw_parts_of(p, &right);
    } else if (is_table(p))
        draw_table(p, pane);
    else
        draw_summary(v, p->scene->watch, pane);
}

/* "best plan · backward › layer_003 · ms" */
static void head_cost(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct cost *v = p->state;
    const struct watch *w = p->scene->watch;
    char path[96] = "", name[128];
    size_t size = 0;

    if (!w)
        return;
    for (int n = 0; n < v->depth && size + 34 < sizeof path; n++) {
        char cut[128];
        cost_group_name(w, v->filters[n].key, v->filters[n].value, name, sizeof name);
        size += (size_t)snprintf(path + size, sizeof path - size, "%s%s", n ? " › " : "",
                                 text_cut_middle(cut, sizeof cut, name, 20));
    }
    snprintf(note, room, "%s%s%s · ms", watch_plan_word(w), size ? " · " : "", path);
    if (utf8_text_columns(note) + 12 > p->width)
        snprintf(note, room, "%s", size ? path : "ms");
    h->note = note;
}

/* ---- acts ---- */

/* Those that are alike become rows, with the cursor on `value`. */
static void unfold(struct panel *p, uint32_t value)
{
    struct cost *v = p->state;

    v->unfolded = true;
    group_rows(p);
    for (size_t n = 0; n < v->group_count; n++) {
        if (v->groups[n].value == value)
            list_go(&v->list, (int64_t)n);
    }
}

static void open_part(struct panel *p)
{
    struct cost *v = p->state;
    const struct cost_group *g =
        (size_t)v->list.cursor < v->group_count ? &v->groups[v->list.cursor] : NULL;

    if (!g)
        return;
    if (v->key == COST_BY_INSTRUCTION) {
        host_go_to(p->scene, g->value);
        return;
    }
    if (g->times > 1) {
        unfold(p, g->value);
        return;
    }
    if (v->depth == DEPTH)
        return;
    v->filters[v->depth] = (struct cost_filter){v->key, g->value};
    v->were_unfolded[v->depth] = v->unfolded;
    v->unfolded = false;
    v->cursors[v->depth++] = v->list.cursor;
    v->key = next_key(v, v->key, g);
    v->list = (struct list){.rows = v->list.rows};
    group_rows(p);
    if (v->group_count == 1 && v->key != COST_BY_INSTRUCTION && v->depth < DEPTH)
        open_part(p); /* a single part says nothing new */
}

static void close_part(struct panel *p)
{
    struct cost *v = p->state;

    if (v->unfolded) { /* folded again before it closes */
        v->unfolded = false;
        group_rows(p);
        return;
    }
    if (!v->depth) {
        v->key = COST_BY_PHASE;
        group_rows(p);
        return;
    }
    v->depth--;
    v->unfolded = v->were_unfolded[v->depth];
    v->key = v->filters[v->depth].key;
    group_rows(p);
    list_go(&v->list, v->cursors[v->depth]);
}

static bool act_cost(struct panel *p, int action)
{
    struct cost *v = p->state;

    if (!p->scene->watch)
        return false;
    make_rows(p);
    if (action == COST_OPEN) {
        open_part(p);
    } else if (action == COST_BACK) {
        close_part(p);
    } else {
        do
            v->key = (enum cost_key)((v->key + 1) % COST_KEY_COUNT);
        while (is_taken(v, v->key));
        v->unfolded = false;
        v->list = (struct list){.rows = v->list.rows};
        group_rows(p);
    }
    return true;
}

static bool move_cost(struct panel *p, enum list_move move)
{
    struct cost *v = p->state;
    return list_move(&v->list, move);
}

static void click_cost(struct panel *p, int x, int y, bool twice)
{
    struct cost *v = p->state;
    (void)x;
    if (y < 1 || !v->groups)
        return;
    list_go(&v->list, v->list.top + y - 1);
    if (twice)
        open_part(p);
}

static const struct cost_group *here(const struct panel *p)
{
    const struct cost *v = p->state;
    return v->groups && (size_t)v->list.cursor < v->group_count ? &v->groups[v->list.cursor] : NULL;
}

static hlo_id instruction_here(const struct panel *p)
{
    const struct cost *v = p->state;
    const struct cost_group *g = here(p);
    return g && v->key == COST_BY_INSTRUCTION ? g->value : HLO_NONE;
}

static int move_here(const struct panel *p)
{
    const struct cost *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct cost_group *g = here(p);

    if (!g || !w)
        return MOVE_NONE;
    if (v->key == COST_BY_INSTRUCTION)
        return watch_move_of_instruction(w, g->value);
    return v->key == COST_BY_CLASS && g->value < w->problem->classes.count
               ? watch_move_of(w, g->value)
               : MOVE_NONE;
}

/* A row that no decision and no instruction is: the part of the model that it adds up. */
static void question_here(const struct panel *p, struct question *q)
{
    const struct cost *v = p->state;
    const struct cost_group *g = here(p);

    if (!g)
        return;
    if (v->key == COST_BY_INSTRUCTION && g->reduces > 0)
        *q = (struct question){.kind = QUESTION_COLLECTIVE, .instruction = g->value};
    if (v->key == COST_BY_INSTRUCTION || (v->key == COST_BY_CLASS && move_here(p) != MOVE_NONE))
        return;
    *q = (struct question){.kind = QUESTION_PART,
                           .part = {.filter_count = v->depth + 1, .times = g->times}};
    memcpy(q->part.filters, v->filters, (size_t)v->depth * sizeof *v->filters);
    q->part.filters[v->depth] =
        (struct cost_filter){v->key, g->value}; /* of alike ones the first */
}

static const char *name_here(const struct panel *p)
{
    struct cost *v = p->state;
    const struct cost_group *g = here(p);

    return g && p->scene->watch
               ? cost_group_name(p->scene->watch, v->key, g->value, v->name, sizeof v->name)
               : NULL;
}

static void message_cost(const struct panel *p, char *out, size_t room)
{
    const struct cost *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct cost_group *g = here(p);
    char name[128], bytes[UNITS_ROOM], ms[UNITS_ROOM], network[UNITS_ROOM], count[UNITS_ROOM];

    if (!w || !g)
        return;
    cost_row_name(w, v->key, g, name, sizeof name);
    if (v->key == COST_BY_INSTRUCTION) {
        char how[256];
        cost_explain(w, g->value, how, sizeof how);
        snprintf(out, room, "%s: %s%s", name, how, g->reduces > 0 ? "; and its all-reduces" : "");
    } else if (g->reduces > 0) {
        snprintf(out, room, "%s: %s computing, %s in %s all-reduce%s of %s. Enter opens it.", name,
                 units_ms(ms, g->compute_ms), units_ms(network, g->network_ms),
                 units_number(count, g->reduces, 0), g->reduces > 1.5 ? "s" : "",
                 units_bytes(bytes, g->bytes));
    } else {
        snprintf(out, room, "%s: %s in %s instructions. Enter opens it.", name,
                 units_ms(ms, g->compute_ms), units_count(count, g->instructions));
    }
}

static const struct list *list_here(const struct panel *p)
{
    const struct cost *v = p->state;
    return is_table(p) ? &v->list : NULL;
}

const struct panel_ops view_cost = {
    .name = "cost",
    .title = "Cost",
    .place = PLACE_LAYOUT,
    .id = PANEL_COST,
    .keys = &cost_keys,
    .hints = "run down=choose open=open,_close group why +plans=views zoom command help",
    .size = sizeof(struct cost),
    .open = open_cost,
    .close = close_cost,
    .read = read_cost,
    .list = list_here,
    .draw = draw_cost,
    .head = head_cost,
    .act = act_cost,
    .move = move_cost,
    .click = click_cost,
    .move_here = move_here,
    .instruction_here = instruction_here,
    .question_here = question_here,
    .name_here = name_here,
    .message = message_cost,
};
