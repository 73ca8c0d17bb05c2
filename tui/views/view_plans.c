/* Plans: ranked by step time, those that do not fit in memory last. Compare: parts first, decisions
 * second. */
#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/live/snapshot.h"
#include "engine/pipeline/pipeline.h"
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
#include "tui/watch/other_plans.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/question.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_of.h"

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

const char *const plans_undecided[OTHER_KINDS] = {
    [OTHER_RELAXED] =
        "a relaxed plan decides value by value, with reshards between: V s lists them",
    [OTHER_PIPELINE] = "a pipeline decides where stages begin: V i shows them, w on its row why",
    [OTHER_HYBRID] = "a hybrid plan decides anew in each stage: V h shows it, w there says why"};

enum other_kind plans_compared(const struct plans *v)
{
    enum other_kind a = v->rows[v->a].other.kind, b = v->rows[v->b].other.kind;

    return a > b ? a : b;
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

/* Of plans of other kinds figures alone stand in the list. */

const struct relaxed_plan *plans_relaxed(const struct watch *w, struct relaxed_look *look)
{
    *look = (struct relaxed_look){0};
    if (w->relaxed)
        relaxed_job_look(w->relaxed, look);
    return look->plan;
}

/* Of the relaxed plan all the list has columns for. */
static void read_relaxed(const struct watch *w, struct plan_figures *f)
{
    struct relaxed_look look;
    const struct relaxed_plan *plan = plans_relaxed(w, &look);

    f->cost = plan->cost;
    f->reduces = (uint32_t)(look.sums[RESHARD_ALL_REDUCE].count + 0.5);
    for (int k = 0; k < RESHARD_KIND_COUNT; k++)
        f->reduced_bytes += k == RESHARD_SLICE ? 0 : look.sums[k].bytes;
}

static void add_other(struct panel *p, const struct other_plan *o, bool marked)
{
    struct plans *v = p->state;
    struct plan_row row = {.marked = marked, .other = *o};

    if (v->count == PLAN_ROWS_MOST)
        return;
    row.figures.cost =
        (struct step_cost){.step_ms = o->step_ms, .compute_ms = NAN, .communication_ms = NAN};
    if (o->kind == OTHER_RELAXED)
        read_relaxed(p->scene->watch, &row.figures);
    row.figures.memory = o->memory_bytes;
    insert_row(p, &row);
}

/* The row of that plan, as it was when the rows were read; NULL: none. */
static const struct plan_row *row_of_kind(const struct plans *v, enum other_kind kind)
{
    for (int n = 0; n < v->count; n++) {
        if (v->rows[n].other.kind == kind)
            return &v->rows[n];
    }
    return NULL;
}

static bool holds_others(const struct plans *v, const struct other_plan *others, int count)
{
    for (int n = 0; n < count; n++) {
        const struct plan_row *row = row_of_kind(v, others[n].kind);
        if (!row || row->other.step_ms != others[n].step_ms || row->other.parts != others[n].parts)
            return false;
    }
    return true;
}

static bool holds_plan(const struct plans *v, const struct live_plan *plan)
{
    for (int n = 0; n < v->count; n++) {
        if (v->rows[n].plan == plan)
            return true;
    }
    return false;
}

/* What is marked stays so when the rows are read anew. */
struct marked {
    const struct live_plan *plans[PLAN_ROWS_MOST]; /* only compared */
    int count;
    bool whole, kinds[OTHER_KINDS];
};

static struct marked marked_rows(const struct plans *v)
{
    struct marked m = {.count = 0};

    for (int n = 0; n < v->count; n++) {
        const struct plan_row *r = &v->rows[n];
        if (r->marked && r->plan)
            m.plans[m.count++] = r->plan;
        else if (r->marked && r->other.kind != OTHER_NONE)
            m.kinds[r->other.kind] = true;
        else if (r->marked)
            m.whole = true;
    }
    return m;
}

static bool is_marked(const struct marked *m, const struct live_plan *plan)
{
    for (int n = 0; n < m->count; n++) {
        if (m->plans[n] == plan)
            return true;
    }
    return false;
}

static void read_plans(struct panel *p)
{
    struct plans *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct snapshot *s = w ? w->shot : NULL;
    struct live_plan *plans[WATCH_PLANS_MOST];
    struct other_plan others[OTHER_PLANS_MOST];
    int count = s ? (int)plan_load_all(w, plans) : 0, other_count = s ? other_plans(w, others) : 0;
    bool adds_whole = s && !plan_load_has_whole(w);
    bool same =
        s && v->count == count + adds_whole + other_count && holds_others(v, others, other_count);

    for (int n = 0; same && n < count; n++)
        same = holds_plan(v, plans[n]);
    if (s && v->comparing && v->moves != s->moves)
        v->comparing = false;
    if (!s || same || v->comparing)
        return;
    struct marked marked = marked_rows(v);
    drop_rows(v);
    for (int n = 0; n < count; n++) {
        if (!holds_plan(v, plans[n]))
            add_row(p, plans[n], is_marked(&marked, plans[n]));
    }
    if (adds_whole)
        add_row(p, NULL, marked.whole);
    for (int n = 0; n < other_count; n++)
        add_other(p, &others[n], marked.kinds[others[n].kind]);
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
    if (plans_compared(v) != OTHER_NONE)
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

    if (row >= v->count || v->rows[row].other.kind != OTHER_NONE) {
        host_say(p->scene, "a plan of another kind has no decisions that could be pinned here");
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

static struct live_plan *plan_here(const struct panel *p)
{
    const struct plans *v = p->state;

    if (v->comparing)
        return v->rows[v->b].plan;
    return v->list.cursor < v->count ? v->rows[v->list.cursor].plan : NULL;
}

/* What the row under the cursor, or B of two compared, is of. */
static enum other_kind kind_here(const struct panel *p)
{
    const struct plans *v = p->state;
    const int row = v->comparing ? v->b : (int)v->list.cursor;

    return row < v->count ? v->rows[row].other.kind : OTHER_NONE;
}

static const struct relaxed_plan *relaxed_here(const struct panel *p)
{
    struct relaxed_look look;

    return kind_here(p) == OTHER_RELAXED ? plans_relaxed(p->scene->watch, &look) : NULL;
}

static const char *export_line(const struct panel *p)
{
    static const char *const lines[OTHER_KINDS] = {
        [OTHER_PIPELINE] = "pipeline-plan ", [OTHER_HYBRID] = "hybrid-plan "};

    return lines[kind_here(p)];
}

/* A pipeline is asked about by its first stage. */
static void question_here(const struct panel *p, struct question *q)
{
    struct plans *v = p->state;
    const struct pipeline *pipeline =
        kind_here(p) == OTHER_PIPELINE ? why_of_pipeline(p->scene->watch, &v->staged) : NULL;

    if (pipeline)
        *q = (struct question){
            .kind = QUESTION_STAGE, .pipeline = pipeline, .staged = &v->staged, .stage = 0};
}

static void message_plans(const struct panel *p, char *out, size_t room)
{
    static const char *const about[OTHER_KINDS] = {
        [OTHER_RELAXED] = "another space: every use may have its own split; V s opens it, and e "
                          "there writes it",
        [OTHER_PIPELINE] = "another space: stages, one behind the other; V i opens it",
        [OTHER_HYBRID] = "another space: stages that are split themselves; V h opens it"};
    const struct plans *v = p->state;
    const struct plan_difference *d = difference_here(v);

    if (!v->comparing && kind_here(p) != OTHER_NONE)
        snprintf(out, room, "%s", about[kind_here(p)]);
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
    .question_here = question_here,
    .export_line = export_line,
    .page = page_plans,
    .message = message_plans,
};
