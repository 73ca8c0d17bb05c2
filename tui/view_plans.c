/* Plans: ranked by step time, those that do not fit in memory last. Compare: parts first, decisions
 * second. */
#include "tui/view_plans.h"

#include "engine/units.h"
#include "tui/app.h"
#include "tui/plan_diff.h"
#include "tui/relaxed_job.h"
#include "tui/theme.h"
#include "tui/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MOST = PLANS_MOST + 1, PARTS = 9, BARS_WIDTH = 96 };

struct plan_row {
    struct live_plan *plan; /* kept; NULL: everything whole */
    struct plan_figures figures;
    bool marked;
};

struct plans {
    struct plan_row rows[ROWS_MOST];
    int count;
    label *whole;
    struct list list, below; /* plans; differences */
    bool comparing;
    int a, b;
    struct plan_difference *differences;
    size_t difference_count;
    const struct live_moves *moves; /* the differences are of these; only compared */
};

enum { PLANS_MARK, PLANS_COMPARE, PLANS_SWAP, PLANS_BACK };
static const struct action plans_actions[] = {
    [PLANS_MARK] = {"mark", "in this view", "mark one of two to compare", "mark", "*", NULL},
    [PLANS_COMPARE] = {"compare", "in this view", "compare the marked", "compare", "c or Enter",
                       NULL},
    [PLANS_SWAP] = {"swap", "in this view", "swap the two", "swap", "x", NULL},
    [PLANS_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table plans_keys = {"plans", plans_actions, 4};

static label *labels_of(struct plans *v, int row)
{
    return v->rows[row].plan ? v->rows[row].plan->on : v->whole;
}

static double memory_limit(const struct panel *p)
{
    return watch_memory_limit(p->scene->watch);
}

/* ---- rows ---- */

static void drop_rows(struct plans *v)
{
    for (int n = 0; n < v->count; n++)
        live_plan_release(v->rows[n].plan);
    v->count = 0;
}

static bool is_before(const struct plan_row *x, const struct plan_row *y, double limit)
{
    bool over_x = x->figures.memory > limit, over_y = y->figures.memory > limit;

    return over_x != over_y ? over_y : x->figures.cost.step_ms < y->figures.cost.step_ms;
}

static void add_row(struct panel *p, struct live_plan *plan, bool marked)
{
    struct plans *v = p->state;
    struct plan_row row = {.plan = plan, .marked = marked};
    struct err e;
    int at = v->count;

    if (at == ROWS_MOST ||
        plan_figures(p->scene->watch, plan ? plan->on : v->whole, &row.figures, &e))
        return;
    if (plan)
        live_plan_share(plan);
    for (; at > 0 && is_before(&row, &v->rows[at - 1], memory_limit(p)); at--)
        v->rows[at] = v->rows[at - 1];
    v->rows[at] = row;
    v->count++;
}

static bool holds(const struct plans *v, const struct live_plan *plan)
{
    for (int n = 0; n < v->count; n++) {
        if (v->rows[n].plan == plan)
            return true;
    }
    return false;
}

static void read_plans(struct panel *p)
{
    struct plans *v = p->state;
    const struct snapshot *s = p->scene->watch ? p->scene->watch->shot : NULL;
    const struct live_plan *marked[ROWS_MOST];
    int marks = 0;
    bool same = s && v->count == (int)s->plan_count + 1;

    for (uint32_t n = 0; same && n < s->plan_count; n++)
        same = holds(v, s->plans[n]);
    if (s && v->comparing && v->moves != s->moves)
        v->comparing = false;
    if (!s || same || v->comparing)
        return;
    bool whole = false;
    for (int n = 0; n < v->count; n++) {
        whole |= v->rows[n].marked && !v->rows[n].plan;
        if (v->rows[n].marked && v->rows[n].plan)
            marked[marks++] = v->rows[n].plan; /* only compared */
    }
    drop_rows(v);
    for (uint32_t n = 0; n < s->plan_count; n++) {
        bool mark = false;
        for (int i = 0; i < marks; i++)
            mark |= marked[i] == s->plans[n];
        if (!holds(v, s->plans[n]))
            add_row(p, s->plans[n], mark);
    }
    add_row(p, NULL, whole);
    list_fit(&v->list, v->count, v->count);
}

static int open_plans(struct panel *p, const void *arg, struct err *e)
{
    struct plans *v = p->state;

    (void)arg;
    if (!p->scene->watch)
        return err_set(e, ERR_INPUT, "no search is open");
    v->whole = mem_try((size_t)p->scene->problem->classes.count + 1, sizeof *v->whole);
    if (!v->whole)
        return err_set(e, ERR_MEMORY, "not enough memory for the plans");
    read_plans(p);
    return 0;
}

static void close_plans(struct panel *p)
{
    struct plans *v = p->state;
    drop_rows(v);
    free(v->whole);
    free(v->differences);
}

/* ---- the list ---- */

/* "exact, 45 cases"; "dqn, episode 353". */
static void write_found_by(const struct plan_row *r, char *out, size_t room)
{
    char count[UNITS_ROOM];

    if (!r->plan)
        snprintf(out, room, "everything whole");
    else if (r->plan->nodes)
        snprintf(out, room, "%s, %s %s", r->plan->found_by,
                 units_count(count, (int64_t)r->plan->nodes),
                 r->plan->nodes == 1 ? "case" : "cases");
    else if (r->plan->episode && strcmp(r->plan->found_by, "batch split") != 0)
        snprintf(out, room, "%s, episode %s", r->plan->found_by,
                 units_count(count, (int64_t)r->plan->episode));
    else
        snprintf(out, room, "%s", r->plan->found_by);
}

/* Ends of the columns; 0: left out. */
struct columns {
    int step, over, compute, network, reduces, memory, proof;
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
    pane_right(p, c->over, 0, ROLE_DIM, "over best");
    if (c->compute) {
        pane_right(p, c->compute, 0, ROLE_DIM, "compute");
        pane_right(p, c->network, 0, ROLE_DIM, "network");
    }
    if (c->reduces)
        pane_right(p, c->reduces, 0, ROLE_DIM, p->width >= 110 ? "all-reduces" : "reduces");
    pane_right(p, c->memory, 0, ROLE_DIM, p->width >= 110 ? "memory GB" : "GB");
    pane_text(p, c->proof, 0, ROLE_DIM, "proof");
}

static void draw_plan(const struct panel *p, const struct pane *pane, int y, int n,
                      const struct columns *c)
{
    const struct plans *v = p->state;
    const struct plan_row *r = &v->rows[n];
    const struct plan_figures *f = &r->figures;
    bool over = f->memory > memory_limit(p), own = r->plan && r->plan == p->scene->watch->best;
    char text[96];

    if (r->marked)
        pane_text(pane, 1, y, ROLE_PIN | BOLD, "*");
    write_found_by(r, text, sizeof text);
    pane_cut(pane, 3, y, c->step - 12, own ? ROLE_TITLE | BOLD : ROLE_TEXT, text);
    pane_right_ms(pane, c->step, y, own ? ROLE_TITLE | BOLD : ROLE_TEXT, f->cost.step_ms);
    if (n)
        pane_right_format(pane, c->over, y, ROLE_TEXT, "%s %%",
                          units_change(text, (f->cost.step_ms / v->rows[0].figures.cost.step_ms - 1) * 100, 1));
    if (c->compute) {
        pane_right_ms(pane, c->compute, y, ROLE_TEXT, f->cost.compute_ms);
        pane_right_ms(pane, c->network, y, ROLE_TEXT, f->cost.communication_ms);
    }
    if (c->reduces)
        pane_right(pane, c->reduces, y, ROLE_TEXT, units_count(text, f->reduces));
    pane_right_number(pane, c->memory, y, over ? ROLE_ERR : ROLE_TEXT, f->memory / 1e9, 1);
    if (over)
        pane_format(pane, c->proof, y, ROLE_ERR, "over %.4g", memory_limit(p) / 1e9);
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
                  w->exact && w->exact->proven && !w->exact->fits ? "no plan of this search's space fits, proven"
                                                                  : "the search has found no plan that fits");
    else if (isnan(gap))
        pane_text(pane, 0, y, ROLE_DIM, "no optimum of this search's space is known");
    else if (gap == 0) /* watch_gap says 0 for the optimum itself */
        pane_text(pane, 0, y, ROLE_OK, "the search holds the proven best plan of its space");
    else
        pane_format(pane, 0, y, ROLE_WARN,
                    "the search is %s from the best plan of its space: %d %s", units_percent(text, gap),
                    differ, differ == 1 ? "decision differs" : "decisions differ");
}

/* The relaxed plan, of another space: one line, with its proof. */
static void draw_relaxed(const struct panel *p, const struct pane *pane, int y)
{
    const struct watch *w = p->scene->watch;
    struct relaxed_look look = {0};
    char text[256], count[UNITS_ROOM], ms[UNITS_ROOM], bound[UNITS_ROOM], bytes[UNITS_ROOM];

    if (y >= pane->height)
        return;
    if (w->relaxed)
        relaxed_job_look(w->relaxed, &look);
    if (!look.plan) {
        pane_text(pane, 0, y, ROLE_DIM, look.done ? "no relaxed plan was found" : w->relaxed ? "relaxed: not solved yet"
                                                                                        : "V s looks for a plan that may reshard");
        return;
    }
    int size = snprintf(text, sizeof text, "relaxed %s, bound %s %s; %s reshards, %s", units_ms(ms, look.plan->cost.step_ms),
                        units_ms(bound, look.plan->bound_ms), relaxed_bound_names[look.plan->bound_kind],
                        units_count(count, look.plan->reshard_count), units_bytes(bytes, look.memory.peak));
    if (w->best && pane->width >= 110)
        snprintf(text + size, sizeof text - (size_t)size, "; %s %% against this search's best",
                 units_change(ms, (look.plan->cost.step_ms / w->best->cost.step_ms - 1) * 100, 1));
    pane_cut(pane, 0, y, pane->width, ROLE_TEXT, text);
}

static void draw_list(struct panel *p, const struct pane *pane)
{
    struct plans *v = p->state;
    struct columns c = columns_for(pane->width);
    int shown = pane->height - 3;

    pane_head(pane, 0,
              &(struct head){0, "Plans",
                             pane->width >= 60 ? "by step time · * marks two to compare" : "",
                             true});
    struct pane body = pane_part(pane, 0, 1, pane->width, pane->height - 1);
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
}

/* ---- compare ---- */

static void draw_change(const struct pane *p, int end, int y, double change, bool is_ms,
                        bool strong)
{
    bool none = fabs(change) < (is_ms ? 0.05 : 0.5);
    char text[UNITS_ROOM];
    unsigned style = none ? ROLE_DIM : !strong ? ROLE_TEXT : change > 0 ? ROLE_WARN : ROLE_OK;

    pane_right(p, end, y, style, units_change(text, change, is_ms));
}

/* Grows from one line: left is faster. */
static void draw_bar(const struct pane *p, int y, double change, double most)
{
    int middle = 66 + (p->width - 66) / 2, room = p->width - middle - 2;
    int size = most > 0 ? (int)(fabs(change) / most * room + 0.5) : 0;

    pane_put(p, middle, y, ROLE_BORDER, U'│');
    size = fabs(change) >= 0.05 && size < 1 ? 1 : size;
    for (int i = 1; i <= size; i++)
        pane_put(p, change < 0 ? middle - i : middle + i, y, change < 0 ? ROLE_OK : ROLE_WARN,
                 U'█');
}

struct part {
    const char *name;
    double a, b;
    bool is_ms;
};

static int list_parts(const struct panel *p, struct part out[static PARTS + 2 * HLO_PHASE_COUNT])
{
    const struct plans *v = p->state;
    const struct plan_figures *a = &v->rows[v->a].figures, *b = &v->rows[v->b].figures;
    static const char *const compute[] = {"compute forward", "compute backward", "compute update",
                                          "compute other"};
    static const char *const network[] = {"all-reduce forward", "all-reduce backward",
                                          "all-reduce update", "all-reduce other"};
    int count = 0;

    out[count++] = (struct part){"step, ms", a->cost.step_ms, b->cost.step_ms, true};
    for (int i = 0; i < HLO_PHASE_COUNT; i++) {
        if (a->compute_ms[i] >= 0.05 || b->compute_ms[i] >= 0.05)
            out[count++] = (struct part){compute[i], a->compute_ms[i], b->compute_ms[i], true};
    }
    for (int i = 0; i < HLO_PHASE_COUNT; i++) {
        if (a->network_ms[i] >= 0.05 || b->network_ms[i] >= 0.05)
            out[count++] = (struct part){network[i], a->network_ms[i], b->network_ms[i], true};
    }
    out[count++] = (struct part){"all-reduces", a->reduces, b->reduces, false};
    out[count++] = (struct part){"  MB", a->reduced_bytes / 1e6, b->reduced_bytes / 1e6, false};
    out[count++] = (struct part){"memory, GB", a->memory / 1e9, b->memory / 1e9, true};
    return count;
}

static int draw_parts(const struct panel *p, const struct pane *pane, int y, int most_rows)
{
    struct part parts[PARTS + 2 * HLO_PHASE_COUNT];
    int count = list_parts(p, parts), last = count - 3;
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
        pane_right(pane, pane->width - 1, y, ROLE_DIM, "B slower");
    }
    for (int i = 0; i < count && i < most_rows; i++) {
        const struct part *part = &parts[i];
        double change = part->b - part->a;
        y++;
        pane_text(pane, 0, y, i ? ROLE_DIM : ROLE_TITLE | BOLD, part->name);
        for (int k = 0; k < 2; k++) {
            pane_right_number(pane, k ? second : first, y, ROLE_TEXT, k ? part->b : part->a, part->is_ms);
        }
        draw_change(pane, third, y, change, part->is_ms, i == 0);
        if (bars && i && i < last)
            draw_bar(pane, y, change, most);
    }
    return y + 1;
}

static void draw_choice(const struct pane *p, int x, int y, uint32_t part, uint32_t of)
{
    if (part == 0 || part == of)
        pane_text(p, x, y, part ? ROLE_CHOICE_1 | BOLD : ROLE_CHOICE_0, part ? "1" : "0");
    else
        pane_format(p, x, y, ROLE_CHOICE_1 | BOLD, "%u/%u", part, of);
}

static void draw_difference(const struct panel *p, const struct pane *pane, int y,
                            const struct plan_difference *d)
{
    const struct watch *w = p->scene->watch;
    int dims = pane->width >= 100 ? 60 : pane->width - 20, price = dims + 18;
    char name[NAME_ROOM], text[NAME_ROOM];

    draw_choice(pane, 0, y, d->a, d->classes);
    draw_choice(pane, 5, y, d->b, d->classes);
    snprintf(name, sizeof name, "%s",
             d->move == MOVE_NONE ? class_name(&w->names, d->class, text) : w->move[d->move].name);
    pane_text(pane, 10, y, ROLE_TEXT, watch_short_name(text, sizeof text, name, dims - 17));
    pane_right(pane, dims, y, ROLE_TEXT, units_count(text, d->dims));
    if (d->priced)
        pane_right(pane, price, y, ROLE_TEXT, units_change(text, d->price_ms, 1));
    else
        pane_right(pane, price, y, ROLE_DIM, "-");
}

static void draw_differences(struct panel *p, const struct pane *pane)
{
    struct plans *v = p->state;
    int dims = pane->width >= 100 ? 60 : pane->width - 20, rows = pane->height - 2;
    char note[64];
    int decisions = 0, size;

    while ((size_t)decisions < v->difference_count && v->differences[decisions].move != MOVE_NONE)
        decisions++;
    size = snprintf(note, sizeof note, "%d of %d", decisions, p->scene->watch->move_count);
    if ((size_t)decisions < v->difference_count)
        snprintf(note + size, sizeof note - (size_t)size, " · %zu outside",
                 v->difference_count - (size_t)decisions);
    pane_head(pane, 0, &(struct head){0, "Decisions that differ", note, false});
    pane_text(pane, 0, 1, ROLE_DIM, "A    B    class");
    pane_right(pane, dims, 1, ROLE_DIM, "dims");
    pane_right(pane, dims + 18, 1, ROLE_DIM, "price of B, ms");
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
}

static void draw_compare(struct panel *p, const struct pane *pane)
{
    struct plans *v = p->state;
    char a[48], b[48], note[112];

    write_found_by(&v->rows[v->a], a, sizeof a);
    write_found_by(&v->rows[v->b], b, sizeof b);
    snprintf(note, sizeof note, "A %s   B %s", a, b);
    pane_head(pane, 0, &(struct head){0, "Compare", note, true});
    int gap = pane->height >= 22, below = (int)v->difference_count + 2;
    int most = pane->height - 3 - 2 * gap - (below < 6 ? below : 6);
    int y = draw_parts(p, pane, 1 + gap, most > 1 ? most : 1) + gap;
    struct pane low = pane_part(pane, 0, y, pane->width, pane->height - y);
    if (low.height > 2)
        draw_differences(p, &low);
}

static void draw_plans(struct panel *p, const struct pane *pane)
{
    const struct plans *v = p->state;

    if (!p->scene->watch)
        return;
    if (v->comparing)
        draw_compare(p, pane);
    else
        draw_list(p, pane);
}

/* ---- acts ---- */

/* The two marked, the better one first; else the best and the one under the cursor. */
static void choose_two(struct plans *v)
{
    int marked[2] = {0, (int)v->list.cursor}, count = 0;

    for (int n = 0; n < v->count; n++) {
        if (v->rows[n].marked && count < 2)
            marked[count++] = n;
    }
    if (count < 2) {
        int other = count ? marked[0] : 0, here = (int)v->list.cursor;
        here = here == other ? (other ? 0 : 1) : here;
        marked[0] = other < here ? other : here;
        marked[1] = other < here ? here : other;
    }
    v->a = marked[0];
    v->b = marked[1];
}

static bool find_differences(struct panel *p)
{
    struct plans *v = p->state;
    struct plan_difference *items;
    struct err e = {0};

    if (plan_differences(p->scene->watch, labels_of(v, v->a), labels_of(v, v->b), &items,
                         &v->difference_count, &e)) {
        app_say_err(p->scene->app, &e);
        return false;
    }
    free(v->differences);
    v->differences = items;
    v->moves = p->scene->watch->moves;
    v->below = (struct list){0};
    list_fit(&v->below, (int64_t)v->difference_count, 1);
    return true;
}

static bool mark(struct plans *v)
{
    int marks = 0;

    for (int n = 0; n < v->count; n++)
        marks += v->rows[n].marked;
    struct plan_row *r = &v->rows[v->list.cursor];
    if (marks >= 2 && !r->marked)
        return false;
    r->marked = !r->marked;
    return true;
}

static bool act_plans(struct panel *p, int action)
{
    struct plans *v = p->state;
    struct app *app = p->scene->app;

    if (action == PLANS_BACK) {
        if (!v->comparing) {
            app_close_top(app);
            return true;
        }
        v->comparing = false;
        read_plans(p);
        return true;
    }
    if (action == PLANS_SWAP && v->comparing) {
        int was = v->a;
        v->a = v->b;
        v->b = was;
        return find_differences(p);
    }
    if (action == PLANS_MARK && !v->comparing && v->count) {
        if (!mark(v))
            app_say(app, "two are marked; * on one of them unmarks it");
        return true;
    }
    if (action != PLANS_COMPARE || v->comparing || v->count < 2)
        return false;
    choose_two(v);
    v->comparing = find_differences(p);
    return true;
}

static bool works_plans(const struct panel *p, int action)
{
    const struct plans *v = p->state;
    return action == PLANS_BACK || (action == PLANS_SWAP) == v->comparing;
}

static bool move_plans(struct panel *p, enum list_move move)
{
    struct plans *v = p->state;
    return list_move(v->comparing ? &v->below : &v->list, move);
}

static int move_here(const struct panel *p)
{
    const struct plans *v = p->state;

    if (!v->comparing || (size_t)v->below.cursor >= v->difference_count)
        return MOVE_NONE;
    return v->differences[v->below.cursor].move;
}

static const struct live_plan *plan_here(const struct panel *p)
{
    const struct plans *v = p->state;

    if (v->comparing)
        return v->rows[v->b].plan;
    return v->list.cursor < v->count ? v->rows[v->list.cursor].plan : NULL;
}

static void message_plans(const struct panel *p, char *out, size_t room)
{
    const struct plans *v = p->state;

    if (v->comparing)
        snprintf(out, room,
                 "price: A with this one decision of B; - where A's other splits forbid it");
    else
        snprintf(out, room, "this search decides %s, strictly; batch split decides inputs",
                 p->scene->watch->shot->options.game.kind == GAME_ADP ? "inputs" : "variables");
}

const struct panel_ops view_plans = {
    .name = "plans",
    .title = "Plans",
    .place = PLACE_FULL,
    .keys = &plans_keys,
    .hints = "down=choose mark compare swap why export back",
    .size = sizeof(struct plans),
    .open = open_plans,
    .close = close_plans,
    .read = read_plans,
    .draw = draw_plans,
    .act = act_plans,
    .move = move_plans,
    .works = works_plans,
    .move_here = move_here,
    .plan_here = plan_here,
    .message = message_plans,
};
