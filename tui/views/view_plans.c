/* Plans: ranked by step time, those that do not fit in memory last. Compare: parts first, decisions
 * second. */
#include "engine/decide/labels.h"
#include "engine/live/snapshot.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "engine/search/game.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/plans_draw.h"
#include "tui/views/views.h"
#include "tui/watch/layer_diff.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PLANS_MARK,
    PLANS_COMPARE,
    PLANS_SWAP,
    PLANS_TAKE_A,
    PLANS_TAKE_B,
    PLANS_TAKE_ALL,
    PLANS_BACK
};
static const struct action plans_actions[] = {
    [PLANS_MARK] = {"mark", "in this view", "mark one of two to compare", "mark", "*", NULL},
    [PLANS_COMPARE] = {"compare", "in this view", "compare the marked", "compare", "c or Enter",
                       NULL},
    [PLANS_SWAP] = {"swap", "in this view", "swap the two", "swap", "x", NULL},
    [PLANS_TAKE_A] = {"take-a", "in this view", "pin A's choice, B's choice", "pin as A, B", ">",
                      NULL},
    [PLANS_TAKE_B] = {"take-b", "in this view", NULL, NULL, "<", NULL},
    [PLANS_TAKE_ALL] = {"take-all", "in this view", "pin all of a plan", "pin all", "t", NULL},
    [PLANS_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table plans_keys = {"plans", plans_actions,
                                            sizeof plans_actions / sizeof *plans_actions};

label *plans_labels(const struct plans *v, int row)
{
    return v->rows[row].plan ? v->rows[row].plan->on : v->whole;
}

double plans_memory_limit(const struct panel *p)
{
    return watch_memory_limit(p->scene->watch);
}

bool plans_compare_relaxed(const struct plans *v)
{
    return v->rows[v->a].relaxed || v->rows[v->b].relaxed;
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

static void insert_row(struct panel *p, const struct plan_row *row)
{
    struct plans *v = p->state;
    int at = v->count++;

    for (; at > 0 && is_before(row, &v->rows[at - 1], plans_memory_limit(p)); at--)
        v->rows[at] = v->rows[at - 1];
    v->rows[at] = *row;
}

static void add_row(struct panel *p, struct live_plan *plan, bool marked)
{
    struct plans *v = p->state;
    struct plan_row row = {.plan = plan, .marked = marked};
    struct err e;

    if (v->count == PLAN_ROWS_MOST ||
        plan_figures(p->scene->watch, plan ? plan->on : v->whole, &row.figures, &e))
        return;
    if (plan)
        live_plan_share(plan);
    insert_row(p, &row);
}

/* The relaxed plan is of another kind: its figures alone stand in the list. */

const struct relaxed_plan *plans_relaxed(const struct watch *w, struct relaxed_look *look)
{
    *look = (struct relaxed_look){0};
    if (w->relaxed)
        relaxed_job_look(w->relaxed, look);
    return look->plan;
}

static void add_relaxed(struct panel *p, bool marked)
{
    struct plans *v = p->state;
    struct plan_row row = {.relaxed = true, .marked = marked};
    struct relaxed_look look;
    const struct relaxed_plan *plan = plans_relaxed(p->scene->watch, &look);

    if (!plan || v->count == PLAN_ROWS_MOST)
        return;
    row.figures.cost = plan->cost;
    row.figures.memory = look.memory.peak;
    row.figures.reduces = (uint32_t)(look.sums[RESHARD_ALL_REDUCE].count + 0.5);
    row.bound_ms = plan->bound_ms;
    row.reshards = plan->reshard_count;
    for (int k = 0; k < RESHARD_KIND_COUNT; k++)
        row.figures.reduced_bytes += k == RESHARD_SLICE ? 0 : look.sums[k].bytes;
    insert_row(p, &row);
}

static bool holds_relaxed(const struct plans *v)
{
    for (int n = 0; n < v->count; n++) {
        if (v->rows[n].relaxed)
            return true;
    }
    return false;
}

static bool holds_plan(const struct plans *v, const struct live_plan *plan)
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
    const struct live_plan *marked[PLAN_ROWS_MOST];
    int marks = 0;
    struct relaxed_look look;
    bool relaxed = s && plans_relaxed(p->scene->watch, &look);
    struct live_plan *plans[WATCH_PLANS_MOST];
    uint32_t count = s ? plan_load_all(p->scene->watch, plans) : 0;
    bool same = s && v->count == (int)count + 1 + relaxed && relaxed == holds_relaxed(v);

    for (uint32_t n = 0; same && n < count; n++)
        same = holds_plan(v, plans[n]);
    if (s && v->comparing && v->moves != s->moves)
        v->comparing = false;
    if (!s || same || v->comparing)
        return;
    bool whole = false, other = false;
    for (int n = 0; n < v->count; n++) {
        whole |= v->rows[n].marked && !v->rows[n].plan && !v->rows[n].relaxed;
        other |= v->rows[n].marked && v->rows[n].relaxed;
        if (v->rows[n].marked && v->rows[n].plan)
            marked[marks++] = v->rows[n].plan; /* only compared */
    }
    drop_rows(v);
    for (uint32_t n = 0; n < count; n++) {
        bool mark = false;
        for (int i = 0; i < marks; i++)
            mark |= marked[i] == plans[n];
        if (!holds_plan(v, plans[n]))
            add_row(p, plans[n], mark);
    }
    add_row(p, NULL, whole);
    add_relaxed(p, other);
    list_fit(&v->list, v->count, v->count);
}

static bool find_differences(struct panel *p);

/* The best plans of two moments of the past, beside each other at once. */
static void compare_moments(struct panel *p)
{
    struct plans *v = p->state;
    int at[2] = {-1, -1};

    for (int k = 0; k < 2; k++) {
        const struct live_plan *plan = plan_load_of_moment(p->scene->watch, k);
        for (int n = 0; plan && n < v->count; n++) {
            if (v->rows[n].plan == plan)
                at[k] = n;
        }
    }
    if (at[0] < 0 || at[1] < 0 || at[0] == at[1])
        return;
    v->a = at[0];
    v->b = at[1];
    v->rows[v->a].marked = v->rows[v->b].marked = true;
    v->comparing = find_differences(p);
}

static int open_plans(struct panel *p, const void *arg, struct err *e)
{
    struct plans *v = p->state;

    if (!p->scene->watch)
        return err_set(e, ERR_INPUT, "no search is open");
    v->whole = mem_try((size_t)p->scene->problem->classes.count + 1, sizeof *v->whole);
    if (!v->whole)
        return err_set(e, ERR_MEMORY, "not enough memory for the plans");
    read_plans(p);
    for (int n = 0; arg && n < v->count; n++) {
        if (v->rows[n].plan == arg)
            v->list.cursor = n;
    }
    if (arg && arg == plan_load_of_moment(p->scene->watch, 0))
        compare_moments(p);
    return 0;
}

static void close_plans(struct panel *p)
{
    struct plans *v = p->state;
    drop_rows(v);
    free(v->whole);
    free(v->differences);
    free(v->layers);
}

static void draw_plans(struct panel *p, const struct pane *pane)
{
    const struct plans *v = p->state;

    if (!p->scene->watch)
        return;
    if (v->comparing)
        plans_draw_compare(p, pane);
    else
        plans_draw_list(p, pane);
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

    v->difference_count = v->layer_count = 0;
    v->moves = p->scene->watch->moves;
    v->below = (struct list){0};
    if (plans_compare_relaxed(v))
        return true;
    if (plan_differences(p->scene->watch, plans_labels(v, v->a), plans_labels(v, v->b), &items,
                         &v->difference_count, &e)) {
        host_say_err(p->scene, &e);
        return false;
    }
    free(v->differences);
    v->differences = items;
    free(v->layers);
    v->layers = NULL;
    v->layer_count = 0;
    if (layer_differences(p->scene->watch, plans_labels(v, v->a), plans_labels(v, v->b), &v->layers,
                          &v->layer_count, &e)) {
        host_say_err(p->scene, &e);
        return false;
    }
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

static const struct plan_difference *difference_here(const struct plans *v)
{
    bool any = v->comparing && (size_t)v->below.cursor < v->difference_count;
    return any ? &v->differences[v->below.cursor] : NULL;
}

/* Carries one decision of a plan over into the search, as a pin. */
static void take_over(struct panel *p, bool of_a)
{
    const struct plan_difference *d = difference_here(p->state);
    const struct scene *scene = p->scene;
    struct watch *w = p->scene->watch;

    if (!d) {
        host_say(scene, "there is no decision to take over");
        return;
    }
    uint32_t split = of_a ? d->a : d->b;
    if (d->move == MOVE_NONE)
        host_say(scene, "this search does not decide it, so it can not be pinned");
    else if (split && split < d->classes)
        host_say(scene, "%c splits %u of its %u classes; a pin is for all of them",
                 of_a ? 'A' : 'B', split, d->classes);
    else {
        watch_send(w, "pin @%d=%d", d->move, split > 0);
        host_say(scene, "%s = %d is pinned, as in %c; u takes it back", w->move[d->move].name,
                 split > 0, of_a ? 'A' : 'B');
    }
}

/* Every decision of the plan under the cursor as a pin: splits first, so that nothing that is about
 * to be whole is in their way. */
static void take_all(struct panel *p)
{
    const struct plans *v = p->state;
    struct watch *w = p->scene->watch;
    const int row = v->comparing ? v->b : (int)v->list.cursor;
    int pinned = 0, parts = 0;

    if (row >= v->count || v->rows[row].relaxed) {
        host_say(p->scene, "a relaxed plan has no decisions that could be pinned");
        return;
    }
    const label *on = plans_labels(v, row);
    for (int split = 1; split >= 0; split--) {
        for (int n = 0; n < w->move_count; n++) {
            uint32_t of = plan_splits(w, on, n);
            bool whole = of == 0, all = of == w->moves->items[n].class_count;
            if ((split && !all) || (!split && !whole)) {
                parts += split && !all && !whole;
                continue;
            }
            watch_send(w, "pin @%d=%d", n, split);
            pinned++;
        }
    }
    if (parts)
        host_say(p->scene, "%d decisions are pinned as in this plan; %d are split in part and stay",
                 pinned, parts);
    else
        host_say(p->scene, "all %d decisions are pinned as in this plan; u takes back one", pinned);
}

static bool act_plans(struct panel *p, int action)
{
    struct plans *v = p->state;
    const struct scene *scene = p->scene;

    if (action == PLANS_BACK) {
        if (!v->comparing) {
            host_close(scene);
            return true;
        }
        v->comparing = false;
        read_plans(p);
        return true;
    }
    if (action == PLANS_TAKE_ALL) {
        take_all(p);
        return true;
    }
    if (action == PLANS_SWAP && !v->comparing) {
        host_say(scene, "x swaps two plans that are compared; c compares them");
        return true;
    }
    if (v->comparing && (action == PLANS_MARK || action == PLANS_COMPARE)) {
        host_say(scene, "two are compared already; Esc goes back to the list");
        return true;
    }
    if (action == PLANS_SWAP) {
        int was = v->a;
        v->a = v->b;
        v->b = was;
        return find_differences(p);
    }
    if (action == PLANS_TAKE_A || action == PLANS_TAKE_B) {
        take_over(p, action == PLANS_TAKE_A);
        return true;
    }
    if (action == PLANS_MARK && v->count) {
        if (!mark(v))
            host_say(scene, "two are marked; * on one of them unmarks it");
        return true;
    }
    if (action != PLANS_COMPARE || v->count < 2)
        return false;
    choose_two(v);
    v->comparing = find_differences(p);
    return true;
}

static bool works_plans(const struct panel *p, int action)
{
    const struct plans *v = p->state;
    const struct plan_difference *d = difference_here(v);

    if (action == PLANS_TAKE_A || action == PLANS_TAKE_B)
        return d && d->move != MOVE_NONE;
    return action == PLANS_BACK || action == PLANS_TAKE_ALL ||
           (action == PLANS_SWAP) == v->comparing;
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

static const struct relaxed_plan *relaxed_here(const struct panel *p)
{
    const struct plans *v = p->state;
    const int row = v->comparing ? v->b : (int)v->list.cursor;
    struct relaxed_look look;

    return row < v->count && v->rows[row].relaxed ? plans_relaxed(p->scene->watch, &look) : NULL;
}

static void message_plans(const struct panel *p, char *out, size_t room)
{
    const struct plans *v = p->state;
    const struct plan_difference *d = difference_here(v);

    if (!v->comparing && v->list.cursor < v->count && v->rows[v->list.cursor].relaxed)
        snprintf(
            out, room,
            "another space: every use may have its own split; V s opens it, and e there writes it");
    else if (d)
        plan_difference_sentence(p->scene->watch, d, out, room);
    else if (!v->comparing)
        snprintf(out, room, "this search decides %s, strictly; batch split decides inputs",
                 p->scene->watch->shot->options.game.kind == GAME_ADP ? "inputs" : "variables");
}

static bool page_plans(const struct panel *p, struct str *out)
{
    const struct plans *v = p->state;

    if (v->comparing && out)
        plans_page(p, out);
    return v->comparing;
}

const struct panel_ops view_plans = {
    .name = "plans",
    .title = "Plans",
    .place = PLACE_FULL,
    .of_search = true,
    .anew = true,
    .keys = &plans_keys,
    .hints = "down=choose mark compare swap take-a take-all why export back",
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
    .relaxed_here = relaxed_here,
    .page = page_plans,
    .message = message_plans,
};
