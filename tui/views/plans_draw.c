/* Drawing of the plans: the list, what each decides, and two of them compared. */
#include "tui/views/plans_draw.h"

#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/watch/class_look.h"
#include "tui/watch/layer_diff.h"
#include "tui/watch/versus.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BARS_WIDTH = 96 };

/* ---- the list ---- */

void plans_found_by(const struct plan_row *r, char *out, size_t room)
{
    if (r->other.kind != OTHER_NONE)
        other_plan_name(&r->other, out, room);
    else if (r->plan)
        plan_found_by(r->plan, out, room);
    else
        snprintf(out, room, "everything whole");
}

/* Ends of the columns; 0: left out. */
struct columns {
    int step, over, compute, network, reduces, memory, proof;
    bool small; /* no plan takes a GB: memory is in MB */
};

static struct columns columns_for(int width)
{
    struct columns c = {.step = 36};
    int gap = width >= 110 ? 12 : 10, x = c.step;

    c.over = x += gap + 1;
    if (width >= 76 + 2 * gap) {
        c.compute = x += gap;
        c.network = x += gap;
    }
    if (width >= 66)
        c.reduces = x += gap + (width >= 110) * 2;
    c.memory = x += gap;
    c.proof = x + 2;
    return c;
}

static void draw_titles(const struct pane *p, const struct columns *c)
{
    pane_text(p, 3, 0, ROLE_DIM, "found by");
    pane_right(p, c->step, 0, ROLE_DIM, "step ms");
    pane_right(p, c->over, 0, ROLE_DIM, "over row 1");
    if (c->compute) {
        pane_right(p, c->compute, 0, ROLE_DIM, "compute");
        pane_right(p, c->network, 0, ROLE_DIM, "network");
    }
    if (c->reduces)
        pane_right(p, c->reduces, 0, ROLE_DIM, p->width >= 110 ? "all-reduces" : "reduces");
    pane_right_format(p, c->memory, 0, ROLE_DIM, "%s%s", p->width >= 110 ? "memory " : "",
                      c->small ? "MB" : "GB");
    pane_text(p, c->proof, 0, ROLE_DIM, "proof");
}

static void draw_plan(const struct panel *p, const struct pane *pane, int y, int n,
                      const struct columns *c)
{
    const struct plans *v = p->state;
    const struct plan_row *r = &v->rows[n];
    const struct plan_figures *f = &r->figures;
    bool over = f->memory > plans_memory_limit(p),
         own = r->plan && r->plan == p->scene->watch->best;
    char text[96];

    pane_format(pane, 0, y, ROLE_DIM, "%d", n + 1);
    if (r->marked)
        pane_text(pane, 1, y, ROLE_PIN | BOLD, "*");
    plans_found_by(r, text, sizeof text);
    pane_cut(pane, 3, y, c->step - 12, own ? ROLE_TITLE | BOLD : ROLE_TEXT, text);
    pane_right_ms(pane, c->step, y, own ? ROLE_TITLE | BOLD : ROLE_TEXT, f->cost.step_ms);
    if (n)
        pane_right_format(
            pane, c->over, y, ROLE_TEXT, "%s %%",
            units_change(text, (f->cost.step_ms / v->rows[0].figures.cost.step_ms - 1) * 100, 1));
    bool known = !isnan(f->cost.compute_ms);
    if (c->compute && known) {
        pane_right_ms(pane, c->compute, y, ROLE_TEXT, f->cost.compute_ms);
        pane_right_ms(pane, c->network, y, ROLE_TEXT, f->cost.communication_ms);
    }
    if (c->reduces && known)
        pane_right(pane, c->reduces, y, ROLE_TEXT, units_count(text, f->reduces));
    pane_right_number(pane, c->memory, y, over ? ROLE_ERR : ROLE_TEXT,
                      f->memory / (c->small ? 1e6 : 1e9), c->small ? 0 : 1);
    if (over)
        pane_format(pane, c->proof, y, ROLE_ERR, "over %.4g", plans_memory_limit(p) / 1e9);
    else if (r->other.bound_ms > 0)
        pane_text(pane, c->proof, y, ROLE_TEXT, "bound");
    else
        pane_text(pane, c->proof, y, r->plan && r->plan->proven ? ROLE_OK : ROLE_DIM,
                  r->plan && r->plan->proven ? "optimum" : "-");
}

/* What the search's own plan lacks. */
static void draw_verdict(const struct panel *p, const struct pane *pane, int y)
{
    const struct watch *w = p->scene->watch;
    double gap = watch_gap(w);
    char text[UNITS_ROOM];
    int differ = 0;

    if (y >= pane->height || !w->best)
        return;
    for (int n = 0; n < w->move_count; n++)
        differ += w->move[n].best != w->move[n].exact;
    if (!w->best->fits)
        pane_text(pane, 0, y, ROLE_ERR,
                  w->exact && w->exact->proven && !w->exact->fits
                      ? "no plan of this search's space fits, proven"
                      : "the search has found no plan that fits");
    else if (isnan(gap))
        pane_text(pane, 0, y, ROLE_DIM, "no optimum of this search's space is known");
    else if (gap == 0) /* watch_gap says 0 for the optimum itself */
        pane_text(pane, 0, y, ROLE_OK,
                  watch_is_baseline(w) ? "the baseline is the proven best plan of its space"
                                       : "the search holds the proven best plan of its space");
    else
        pane_format(pane, 0, y, ROLE_WARN, "the %s is %s from the best plan of its space: %d %s",
                    watch_is_baseline(w) ? "baseline" : "search", units_percent(text, gap), differ,
                    differ == 1 ? "decision differs" : "decisions differ");
}

/* The relaxed plan, of another space: one line, with its proof. */
static void draw_relaxed(const struct panel *p, const struct pane *pane, int y)
{
    const struct watch *w = p->scene->watch;
    struct relaxed_look look;
    char text[256], ms[UNITS_ROOM], bound[UNITS_ROOM];

    if (y >= pane->height)
        return;
    if (!plans_relaxed(w, &look)) {
        pane_text(pane, 0, y, ROLE_DIM,
                  look.done    ? "no relaxed plan was found"
                  : w->relaxed ? "relaxed: not solved yet"
                               : "V s looks for a plan that may reshard");
        return;
    }
    int size = look.plan->bound_ms > 0
                   ? snprintf(text, sizeof text, "the relaxed plan's bound is %s, %s",
                              units_ms(bound, look.plan->bound_ms),
                              relaxed_bound_names[look.plan->bound_kind])
                   : snprintf(text, sizeof text, "the relaxed plan has no bound");
    if (w->best && pane->width >= 110)
        snprintf(text + size, sizeof text - (size_t)size, "; the plan is %s %% against %s",
                 units_change(ms, (look.plan->cost.step_ms / w->best->cost.step_ms - 1) * 100, 1),
                 watch_is_baseline(w) ? "the baseline" : "this search's best");
    pane_cut(pane, 0, y, pane->width, ROLE_TEXT, text);
}

/* ---- what every plan decides, side by side ---- */

static void draw_choice(const struct pane *p, int x, int y, uint32_t part, uint32_t of)
{
    if (part == 0 || part == of)
        pane_text(p, x, y, part ? ROLE_CHOICE_1 | BOLD : ROLE_CHOICE_0, part ? "1" : "0");
    else
        pane_format(p, x, y, ROLE_CHOICE_1 | BOLD, "%u/%u", part, of);
}

enum { MATRIX = 120, MATRIX_NAME = 36, MATRIX_DIMS = 10, MATRIX_CELL = 7 };

/* Columns of the names: as many as they take and the plans leave. */
static int matrix_name(const struct panel *p, const struct pane *pane)
{
    const struct plans *v = p->state;
    const struct watch *w = p->scene->watch;
    int widest = MATRIX_NAME, most = pane->width - MATRIX_DIMS - v->count * MATRIX_CELL;

    for (int n = 0; n < w->move_count; n++) {
        int columns = utf8_text_columns(w->move[n].name) + 2;
        widest = columns > widest ? columns : widest;
    }
    return widest < most ? widest : most > MATRIX_NAME ? most : MATRIX_NAME;
}

/* One row of it: the name dim where all plans agree. */
static void draw_matrix_row(const struct panel *p, const struct pane *pane, int y, const char *name,
                            int names, int move, class_id k)
{
    struct plans *v = p->state;
    const struct watch *w = p->scene->watch;
    uint32_t of = move == MOVE_NONE ? 1 : w->moves->items[move].class_count,
             split[PLAN_ROWS_MOST] = {0}, first = UINT32_MAX;
    bool same = true;
    char cut[NAME_ROOM];

    for (int n = 0; n < v->count; n++) {
        const label *on = plans_labels(v, n);
        if (v->rows[n].other.kind != OTHER_NONE)
            continue;
        split[n] = move == MOVE_NONE ? on[k] != 0 : plan_splits(w, on, move);
        first = first == UINT32_MAX ? split[n] : first;
        same &= split[n] == first;
        draw_choice(pane, names + MATRIX_DIMS + n * MATRIX_CELL, y, split[n], of);
    }
    if (move == MOVE_NONE)
        watch_short_name(cut, sizeof cut, name, names - 2);
    else
        watch_move_name(w, move, cut, sizeof cut, names - 2);
    pane_text(pane, 0, y, same ? ROLE_DIM : ROLE_TEXT, cut);
    const struct class_info *info = &w->problem->classes.info[k];
    pane_right_number(pane, names + 6, y, ROLE_DIM,
                      move == MOVE_NONE ? info->var_dims + info->input_dims : w->move[move].dims,
                      0);
}

static bool is_split_outside(const struct panel *p, class_id k)
{
    struct plans *v = p->state;

    if (watch_move_of(p->scene->watch, k) != MOVE_NONE)
        return false;
    for (int n = 0; n < v->count; n++) {
        if (v->rows[n].other.kind == OTHER_NONE && plans_labels(v, n)[k])
            return true;
    }
    return false;
}

static void draw_matrix(const struct panel *p, const struct pane *pane)
{
    const struct plans *v = p->state;
    const struct watch *w = p->scene->watch;
    int y = 2, left = 0, names = matrix_name(p, pane);
    char name[NAME_ROOM];

    pane_head(
        pane, 0,
        &(struct head){0, "Decisions", "of each plan by its number · dim where all agree", false});
    pane_text(pane, 0, 1, ROLE_DIM, "group");
    pane_right(pane, names + 6, 1, ROLE_DIM, "dims");
    for (int n = 0; n < v->count; n++) {
        if (v->rows[n].other.kind == OTHER_NONE)
            pane_format(pane, names + MATRIX_DIMS + n * MATRIX_CELL, 1, ROLE_DIM, "%d", n + 1);
    }
    for (int n = 0; n < w->move_count; n++) {
        if (y < pane->height - 1)
            draw_matrix_row(p, pane, y++, w->move[n].name, names, n,
                            w->moves->pool[w->moves->items[n].classes]);
        else
            left++;
    }
    for (class_id k = 0; k < w->problem->classes.count; k++) {
        if (!is_split_outside(p, k))
            continue;
        if (y < pane->height - 1)
            draw_matrix_row(p, pane, y++, class_name(&w->names, k, name), names, MOVE_NONE, k);
        else
            left++;
    }
    if (left)
        pane_format(pane, 0, y, ROLE_DIM, "%d more", left);
}

void plans_draw_list(struct panel *p, const struct pane *pane)
{
    struct plans *v = p->state;
    struct columns c = columns_for(pane->width);
    int shown = pane->height - 3;

    pane_head(pane, 0,
              &(struct head){0, "Plans",
                             pane->width >= 60 ? "by step time · * marks two to compare" : "",
                             true});
    struct pane body = pane_part(pane, 0, 1, pane->width, pane->height - 1);
    c.small = true;
    for (int n = 0; n < v->count; n++)
        c.small &= v->rows[n].figures.memory < 1e9;
    draw_titles(&body, &c);
    list_fit(&v->list, v->count, shown > 0 ? shown : 1);
    for (int y = 0; y < shown && v->list.top + y < v->count; y++) {
        int n = (int)v->list.top + y;
        draw_plan(p, &body, y + 1, n, &c);
        if (n != v->list.cursor)
            continue;
        pane_select(&body, y + 1, ROLE_SELECT);
        pane->grid->cursor_x = body.x;
        pane->grid->cursor_y = body.y + y + 1;
    }
    draw_verdict(p, pane, v->count + 3);
    draw_relaxed(p, pane, v->count + 4);
    int below = v->count + 6;
    if (pane->width >= 78 && pane->height >= below + 5) { /* 80 less its margins */
        struct pane matrix = pane_part(pane, 0, below, pane->width < MATRIX ? pane->width : MATRIX,
                                       pane->height - below);
        draw_matrix(p, &matrix);
    }
}

/* ---- compare ---- */

static void draw_change(const struct pane *p, int end, int y, double change, int decimals,
                        bool strong)
{
    bool none = fabs(change) < 0.5 * pow(10, -decimals);
    char text[UNITS_ROOM];
    unsigned style = none ? ROLE_DIM : !strong ? ROLE_TEXT : change > 0 ? ROLE_WARN : ROLE_OK;

    pane_right(p, end, y, style, units_change(text, change, decimals));
}

static int bars_end(const struct pane *p)
{
    return p->width < 126 ? p->width : 126;
}

/* Grows from one line: left is faster. */
static void draw_bar(const struct pane *p, int y, double change, double most)
{
    int middle = 66 + (bars_end(p) - 66) / 2, room = bars_end(p) - middle - 2;
    int size = most > 0 ? (int)(fabs(change) / most * room + 0.5) : 0;

    pane_put(p, middle, y, ROLE_BORDER, U'│');
    size = fabs(change) >= pane_ms_least(p) && size < 1 ? 1 : size;
    for (int i = 1; i <= size; i++)
        pane_put(p, change < 0 ? middle - i : middle + i, y, change < 0 ? ROLE_OK : ROLE_WARN,
                 U'█');
}

/* What computes and what is sent, by phase where that is known. */
static int add_work(const struct plans *v, int decimals, struct plans_part *out, int count)
{
    const struct plan_row *a = &v->rows[v->a], *b = &v->rows[v->b];
    const struct plan_figures *x = &a->figures, *y = &b->figures;
    static const char *const compute[] = {"compute forward", "compute backward", "compute update",
                                          "compute other"};
    static const char *const network[] = {"all-reduce forward", "all-reduce backward",
                                          "all-reduce update", "all-reduce other"};
    const double least = 0.5 * pow(10, -decimals);
    bool by_phase = plans_compared(v) == OTHER_NONE;

    if (!by_phase) {
        out[count++] =
            (struct plans_part){"compute", x->cost.compute_ms, y->cost.compute_ms, decimals};
        out[count++] = (struct plans_part){"network", x->cost.communication_ms,
                                           y->cost.communication_ms, decimals};
    }
    for (int i = 0; i < HLO_PHASE_COUNT && by_phase; i++) {
        if (x->compute_ms[i] >= least || y->compute_ms[i] >= least)
            out[count++] =
                (struct plans_part){compute[i], x->compute_ms[i], y->compute_ms[i], decimals};
    }
    for (int i = 0; i < HLO_PHASE_COUNT && by_phase; i++) {
        if (x->network_ms[i] >= least || y->network_ms[i] >= least)
            out[count++] =
                (struct plans_part){network[i], x->network_ms[i], y->network_ms[i], decimals};
    }
    out[count++] = (struct plans_part){"all-reduces", x->reduces, y->reduces, 0};
    out[count++] = (struct plans_part){"reshards", a->other.parts, b->other.parts, 0};
    out[count++] =
        (struct plans_part){"collective MB", x->reduced_bytes / 1e6, y->reduced_bytes / 1e6, 0};
    return count;
}

int plans_parts(const struct plans *v, int decimals, struct plans_part out[static PLANS_PARTS])
{
    const struct plan_figures *a = &v->rows[v->a].figures, *b = &v->rows[v->b].figures;
    int count = 0;

    out[count++] = (struct plans_part){"step, ms", a->cost.step_ms, b->cost.step_ms, decimals};
    if (plans_compared(v) <= OTHER_RELAXED)
        count = add_work(v, decimals, out, count);
    bool small = a->memory < 1e9 && b->memory < 1e9; /* "0.0" and "0.1" say nothing */
    double unit = small ? 1e6 : 1e9;
    out[count++] = (struct plans_part){small ? "memory, MB" : "memory, GB", a->memory / unit,
                                       b->memory / unit, small ? 0 : 1};
    return count;
}

static int draw_parts(const struct panel *p, const struct pane *pane, int y, int most_rows)
{
    const struct plans *v = p->state;
    struct plans_part parts[PLANS_PARTS];
    int count = plans_parts(v, pane_ms_decimals(pane), parts), last = count - 4;
    double most = 0;
    bool bars = pane->width >= BARS_WIDTH;
    int first = pane->width >= 64 ? 34 : 29, second = first + 13, third = second + 13;

    for (int i = 1; i < last; i++)
        most = fmax(most, fabs(parts[i].b - parts[i].a));
    pane_right(pane, first, y, ROLE_DIM, "A");
    pane_right(pane, second, y, ROLE_DIM, "B");
    pane_right(pane, third, y, ROLE_DIM, "B - A");
    if (bars) {
        pane_text(pane, 66, y, ROLE_DIM, "B faster");
        pane_right(pane, bars_end(pane) - 1, y, ROLE_DIM, "B slower");
    }
    for (int i = 0; i < count && i < most_rows; i++) {
        const struct plans_part *part = &parts[i];
        double change = part->b - part->a;
        y++;
        pane_text(pane, 0, y, i ? ROLE_DIM : ROLE_TITLE | BOLD, part->name);
        for (int k = 0; k < 2; k++) {
            pane_right_number(pane, k ? second : first, y, ROLE_TEXT, k ? part->b : part->a,
                              part->decimals);
        }
        draw_change(pane, third, y, change, part->decimals, i == 0);
        if (bars && i && i < last)
            draw_bar(pane, y, change, most);
    }
    return y + 1;
}

void plans_where(const struct watch *w, const struct plan_difference *d, char *out, size_t room)
{
    const struct hlo_module *m = w->problem->m;
    char scope[64];

    out[0] = 0;
    if (d->where == HLO_NONE)
        return;
    const struct hlo_meta *first = hlo_meta(m, d->where), *last = hlo_meta(m, d->where_last);
    instruction_source(m, d->where, out, room);
    size_t size = strlen(out);
    if (first->source_file[0] && !strcmp(first->source_file, last->source_file) &&
        last->source_line > first->source_line)
        size += (size_t)snprintf(out + size, room - size, "–%u", last->source_line);
    instruction_scope(w->tree, d->where, scope, sizeof scope);
    snprintf(out + size, room - size, "  %s", scope);
}

enum { WHERE_WIDTH = 100 };

static void draw_difference(const struct panel *p, const struct pane *pane, int y,
                            const struct plan_difference *d)
{
    const struct watch *w = p->scene->watch;
    int dims = pane->width >= 100 ? 60 : pane->width - 20, price = dims + 18;
    char name[NAME_ROOM], text[NAME_ROOM];

    draw_choice(pane, 0, y, d->a, d->classes);
    draw_choice(pane, 5, y, d->b, d->classes);
    if (d->move == MOVE_NONE)
        watch_short_name(name, sizeof name, class_name(&w->names, d->class, text), dims - 17);
    else
        watch_move_name(w, d->move, name, sizeof name, dims - 17);
    pane_text(pane, 10, y, ROLE_TEXT, name);
    pane_right(pane, dims, y, ROLE_TEXT, units_count(text, d->dims));
    if (d->priced)
        pane_right(pane, price, y, ROLE_TEXT,
                   units_change(text, d->price_ms, pane_ms_decimals(pane)));
    else
        pane_right(pane, price, y, ROLE_DIM, "-");
    if (d->priced && d->along)
        pane_text(pane, price, y, ROLE_WARN, "*");
    if (pane->width < WHERE_WIDTH)
        return;
    char where[128];
    plans_where(w, d, where, sizeof where);
    pane_cut(pane, price + 3, y, pane->width - price - 3, ROLE_DIM, where);
}

static void draw_equal(const struct panel *p, const struct pane *pane, int y, int differ)
{
    int equal = p->scene->watch->move_count - differ;

    if (equal > 0)
        pane_format(pane, 0, y, ROLE_DIM, "=    =    %d %s equal", equal,
                    equal == 1 ? "decision" : "decisions");
}

static size_t layers_that_differ(const struct plans *v)
{
    size_t differ = 0;

    for (size_t n = 0; n < v->layer_count; n++)
        differ += layer_change(&v->layers[n]) != 0;
    return differ;
}

/* `alone`: there is no room for the layers. */
static void draw_differences(struct panel *p, const struct pane *pane, bool alone)
{
    struct plans *v = p->state;
    int dims = pane->width >= 100 ? 60 : pane->width - 20, rows = pane->height - 2;
    char note[96];
    int decisions = 0, size;

    if (plans_compared(v) != OTHER_NONE) {
        pane_head(pane, 0, &(struct head){0, "Decisions that differ", "", false});
        pane_cut(pane, 0, 1, pane->width, ROLE_DIM, plans_undecided[plans_compared(v)]);
        return;
    }
    while ((size_t)decisions < v->difference_count && v->differences[decisions].move != MOVE_NONE)
        decisions++;
    size = snprintf(note, sizeof note, "%d of %d", decisions, p->scene->watch->move_count);
    if ((size_t)decisions < v->difference_count)
        size += snprintf(note + size, sizeof note - (size_t)size, " · %zu outside",
                         v->difference_count - (size_t)decisions);
    if (alone && layers_that_differ(v))
        snprintf(note + size, sizeof note - (size_t)size, " · layer by layer: e export");
    pane_head(pane, 0, &(struct head){0, "Decisions that differ", note, false});
    pane_text(pane, 0, 1, ROLE_DIM, "A    B    group");
    pane_right(pane, dims, 1, ROLE_DIM, "dims");
    pane_right(pane, dims + 18, 1, ROLE_DIM, "price of B, ms");
    if (pane->width >= WHERE_WIDTH)
        pane_text(pane, dims + 21, 1, ROLE_DIM, "where");
    list_fit(&v->below, (int64_t)v->difference_count, rows > 0 ? rows : 1);
    for (int y = 0; y < rows && v->below.top + y < v->below.count; y++) {
        draw_difference(p, pane, y + 2, &v->differences[v->below.top + y]);
        if (v->below.top + y != v->below.cursor)
            continue;
        pane_select(pane, y + 2, ROLE_SELECT);
        pane->grid->cursor_x = pane->x;
        pane->grid->cursor_y = pane->y + y + 2;
    }
    if (!v->difference_count)
        pane_text(pane, 0, 2, ROLE_DIM, "none: the two plans are equal");
    else if (v->below.count - v->below.top < rows)
        draw_equal(p, pane, 2 + (int)(v->below.count - v->below.top), decisions);
}

char *plans_verdict(const struct plans *v, char *out, size_t room)
{
    const struct plan_figures *a = &v->rows[v->a].figures, *b = &v->rows[v->b].figures;

    return versus_sentence(&(struct versus_side){"A", a->cost, a->reduced_bytes},
                           &(struct versus_side){"B", b->cost, b->reduced_bytes}, out, room);
}

/* ---- per layer ---- */

static void put_layer_sign(const struct pane *p, int x, int y, bool network)
{
    pane_put(p, x, y, network ? ROLE_WARN : ROLE_PLOT_0, network ? U'▒' : U'█');
}

/* One bar a plan: computing, then what is sent. */
static void draw_layer_bar(const struct pane *p, int x, int y, int width, double compute,
                           double network, double most)
{
    int first = (int)(compute / most * width + 0.5),
        all = (int)((compute + network) / most * width + 0.5);

    for (int i = 0; i < all && i < width; i++)
        put_layer_sign(p, x + i, y, i >= first);
}

enum { LAYER_NAME = 30 };

static void draw_layer(const struct pane *p, int y, const struct layer_difference *d, double most)
{
    int end = p->width < 126 ? p->width : 126, bars = end - LAYER_NAME - 28;
    char text[NAME_ROOM];

    text_cut_middle(text, sizeof text, d->name, LAYER_NAME - 6);
    int x = pane_text(p, 0, y, ROLE_TEXT, text);
    if (d->times > 1)
        pane_format(p, x + 1, y, ROLE_DIM, "×%u", d->times);
    for (int k = 0; k < 2; k++) {
        if (bars >= 10 && y + k < p->height)
            draw_layer_bar(p, LAYER_NAME + k * (bars / 2 + 1), y, bars / 2, d->compute[k],
                           d->network[k], most);
        pane_right_ms(p, end - 18 + 9 * k, y, ROLE_TEXT, d->compute[k] + d->network[k]);
    }
    draw_change(p, end, y, layer_change(d) / d->times, pane_ms_decimals(p), true);
}

/* As many as there is room for, then one line about the rest. Returns the rows used. */
static int draw_layers(const struct plans *v, const struct pane *pane, int rows)
{
    int shown = 0, end = pane->width < 126 ? pane->width : 126, bars = end - LAYER_NAME - 28;
    size_t differ = layers_that_differ(v), equal = v->layer_count - differ;
    double most = 0;

    for (size_t n = 0; n < v->layer_count; n++) {
        const struct layer_difference *d = &v->layers[n];
        most = layer_change(d) == 0
                   ? most
                   : fmax(most, fmax(d->compute[0] + d->network[0], d->compute[1] + d->network[1]));
    }
    if (!differ || rows < 4)
        return 0;
    pane_head(pane, 0,
              &(struct head){0, "Per layer",
                             pane->width >= 80 ? "ms of one, forward and backward" : "ms of one",
                             false});
    if (bars >= 10) {
        for (int network = 0; network < 2; network++)
            put_layer_sign(pane, network ? 12 : 0, 1, network);
        pane_text(pane, 2, 1, ROLE_DIM, "computing");
        pane_text(pane, 14, 1, ROLE_DIM, "all-reduce");
        pane_text(pane, LAYER_NAME, 1, ROLE_DIM, "A");
        pane_text(pane, LAYER_NAME + bars / 2 + 1, 1, ROLE_DIM, "B");
    }
    pane_right(pane, end - 18, 1, ROLE_DIM, "A");
    pane_right(pane, end - 9, 1, ROLE_DIM, "B");
    pane_right(pane, end, 1, ROLE_DIM, "B - A");
    for (; (size_t)shown < differ && shown < rows - 3; shown++)
        draw_layer(pane, shown + 2, &v->layers[shown], most);
    size_t left = differ - (size_t)shown;
    if (left)
        pane_format(pane, 0, shown + 2, ROLE_DIM, "%zu more differ, %zu equal", left, equal);
    else if (equal)
        pane_format(pane, 0, shown + 2, ROLE_DIM, "%zu equal", equal);
    return shown + 2 + (left || equal);
}

void plans_draw_compare(struct panel *p, const struct pane *pane)
{
    struct plans *v = p->state;
    char a[48], b[48], note[112], verdict[256];

    plans_found_by(&v->rows[v->a], a, sizeof a);
    plans_found_by(&v->rows[v->b], b, sizeof b);
    snprintf(note, sizeof note, "A %s   B %s", a, b);
    pane_head(pane, 0, &(struct head){0, "Compare", note, true});
    int gap = pane->height >= 22, below = (int)v->difference_count + 2;
    int most = pane->height - 3 - 2 * gap - (below < 6 ? below : 6);
    pane_cut(pane, 0, 1, pane->width, ROLE_TITLE | BOLD, plans_verdict(v, verdict, sizeof verdict));
    int y = draw_parts(p, pane, 2 + gap, most > 2 ? most - 1 : 1) + gap;
    int room = pane->height - y - gap - (below < 8 ? below : 8);
    struct pane middle = pane_part(pane, 0, y, pane->width, room > 0 ? room : 0);
    int layers = draw_layers(v, &middle, room < 12 ? room : 12);
    y += layers ? layers + gap : 0;
    struct pane low = pane_part(pane, 0, y, pane->width, pane->height - y);
    if (low.height > 2)
        draw_differences(p, &low, !layers);
}
