#include "tui/views/place_run.h"

#include "engine/place/look.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/published.h"
#include "engine/place/solve.h"
#include "engine/place/split.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/files/user_files.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/place_draw.h"
#include "tui/watch/placing.h"
#include "tui/watch/watch.h"

#include <string.h>

/* ---- the job ---- */

static void drop_plan(struct place_view *v)
{
    struct place_shown *s = &v->shown;

    placement_free((struct placement *)s->plan);
    place_look_free(s->look);
    free(s->price);
    free(s->reason);
    s->plan = NULL;
    s->look = NULL;
    s->price = NULL;
    s->reason = NULL;
    s->reasons = 0;
    s->graph = NULL;
    s->stage = PLACE_NONE;
    s->moved = false;
    v->version = 0;
    v->fresh = false;
}

void place_run_start(struct panel *p)
{
    struct place_view *v = p->state;

    drop_plan(v);
    if (v->job)
        placing_stop(v->job);
    v->starts = true;
}

/* Another job, once the one that was left has ended. */
static int begin_place(struct panel *p, struct err *e)
{
    struct place_view *v = p->state;

    if (v->job)
        placing_look(v->job, &v->found);
    if (!v->starts || (v->job && !v->found.done))
        return 0;
    placing_free(v->job);
    v->job = NULL;
    v->found = (struct placing_look){.graph = NULL};
    v->starts = false;
    const struct placing_source source = {p->scene->problem, v->graph};
    return placing_new(&source, &v->asked, p->scene->now_ms > 0, &v->job, e);
}

static int take_graph(struct panel *p, const struct place_opening *o, struct err *e)
{
    struct place_view *v = p->state;

    v->graph = o->graph;
    v->shown.published = place_published_find(o->graph->fingerprint);
    if (o->job) {
        v->job = o->job;
        v->asked = placing_question(v->job);
        return 0;
    }
    if (v->shown.published && v->shown.published->latency)
        v->asked.objective = PLACING_LATENCY;
    place_run_start(p);
    int rc = begin_place(p, e);
    if (rc)
        v->graph = NULL; /* the caller's again */
    return rc;
}

int place_run_open(struct panel *p, const void *arg, struct err *e)
{
    struct place_view *v = p->state;

    drop_plan(v);
    if (arg)
        return take_graph(p, arg, e);
    if (!p->scene->problem)
        return err_set(e, ERR_INPUT, "no model is open");
    if (p->scene->watch && p->scene->watch->placing) { /* a plan of a file waits */
        v->job = p->scene->watch->placing;
        p->scene->watch->placing = NULL;
        v->asked = placing_question(v->job);
        return 0;
    }
    place_run_start(p);
    return begin_place(p, e);
}

void place_run_close(struct panel *p)
{
    struct place_view *v = p->state;

    drop_plan(v);
    placing_free(v->job);
    placing_graph_release(v->graph);
}

bool place_run_is_live(const struct panel *p)
{
    const struct place_view *v = p->state;

    return v->starts || v->sweeps || (v->job && !v->found.done);
}

/* ---- what is shown ---- */

/* Its name for as long as the program runs; of plans on the way that of who looks for them. */
static const char *algorithm_of(const struct place_view *v, const struct placement *plan)
{
    for (const struct place_algorithm *a = place_algorithms; a->name && plan->algo; a++) {
        if (!strcmp(a->name, plan->algo))
            return a->name;
    }
    return plan->algo ? "file" : place_algorithms[v->asked.algorithm].name;
}

/* A row of the table: the plan of this algorithm, sets and objective as it is now. */
static void note_plan(struct place_view *v, const struct placement *plan)
{
    struct place_shown *s = &v->shown;
    uint32_t i = 0;
    struct place_tried t = {.algorithm = algorithm_of(v, plan),
                            .objective = v->asked.objective,
                            .value_ms = plan->value_ms,
                            .bound_ms = plan->bound_ms,
                            .contiguous = plan->contiguous,
                            .proven = plan->proven,
                            .written = plan->written_in,
                            .fits = !plan->faults};

    while (i < s->tries &&
           (s->tried[i].objective != t.objective || s->tried[i].contiguous != t.contiguous ||
            strcmp(s->tried[i].algorithm, t.algorithm) != 0))
        i++;
    if (i == PLACE_TRIED)
        return;
    s->tries += i == s->tries;
    s->tried[i] = t;
}

static int take_plan(struct place_view *v, struct err *e)
{
    struct place_rules rules = placing_rules(v->asked.objective);
    struct place_shown *s = &v->shown;
    struct placement *plan;

    if (placing_take(v->job, &plan, e))
        return e->code;
    if (!plan)
        return 0;
    placement_free((struct placement *)s->plan);
    s->plan = plan;
    s->graph = v->found.graph;
    if (s->look) {
        place_look_set(s->look, plan);
    } else {
        if (place_look_new(s->graph, &rules, plan, &s->look, e))
            return e->code;
        s->price = mem_try((size_t)plan->devices + 1, sizeof *s->price);
        s->reason = mem_try(((size_t)plan->devices + 1) * PLACE_REASONS, sizeof *s->reason);
        if (!s->price || !s->reason)
            return err_no_memory(e, "for a placement");
    }
    s->layered = false;
    for (uint32_t n = 0; n < s->graph->nodes && !s->layered; n++)
        s->layered = s->graph->layer[n];
    s->moved = false;
    s->stage = PLACE_NONE;
    note_plan(v, plan);
    v->version = v->found.version;
    v->fresh = false;
    return 0;
}

/* The next algorithm that answers the objective; the first again after the last. */
void place_run_next_algorithm(struct place_view *v)
{
    bool latency = v->asked.objective == PLACING_LATENCY;

    do {
        v->asked.algorithm++;
        if (!place_algorithms[v->asked.algorithm].name)
            v->asked.algorithm = 0;
    } while (latency && place_algorithms[v->asked.algorithm].no_latency);
}

/* One after the other, until it is the first one's turn again. */
static void go_on_sweeping(struct panel *p)
{
    struct place_view *v = p->state;

    if (!v->sweeps || v->starts || !v->found.done)
        return;
    place_run_next_algorithm(v);
    v->sweeps = v->asked.algorithm != 0;
    place_run_start(p);
}

/* Prices of the node's class, once. */
static void price_reason(struct place_shown *s, uint32_t node)
{
    uint32_t i = 0;

    while (i < s->reasons && s->graph->color[s->reason_node[i]] != s->graph->color[node])
        i++;
    if (i < s->reasons || i == PLACE_REASONS)
        return;
    place_look_prices(s->look, node, s->reason + (size_t)i * s->look->state->devices);
    s->reason_node[s->reasons++] = node;
}

/* What would it take elsewhere: of a stream, where a price is a matter of the nets of one class. */
static void price_reasons(struct place_shown *s)
{
    uint32_t known = s->crossings < PLACE_CROSSINGS ? s->crossings : PLACE_CROSSINGS;
    uint32_t heavy[PLACE_REASONS], count = place_draw_heaviest(s, PLACE_NONE, heavy);

    s->reasons = 0;
    if (s->look->sample || s->look->state->devices > PLACE_REASON_DEVICES)
        return;
    for (uint32_t i = 0; i < known; i++)
        price_reason(s, s->crossing[i].node);
    for (uint32_t i = 0; i < count; i++)
        price_reason(s, heavy[i]);
}

/* Prices and what holds the node at the cursor: once per plan and cursor. */
static void freshen(struct place_view *v)
{
    struct place_shown *s = &v->shown;
    uint32_t devices = s->look->state->devices, home;

    s->node = s->node < s->graph->nodes ? s->node : 0;
    if (v->fresh)
        return;
    home = place_look_device(s->look, s->node);
    place_look_prices(s->look, s->node, s->price);
    s->holder = place_look_holder(s->look, s->node, &s->held_ms);
    s->crossings = place_look_crossings(s->look, s->crossing, PLACE_CROSSINGS);
    price_reasons(s);
    if (s->target >= devices || s->target == home)
        s->target = (home + 1) % devices;
    v->fresh = true;
}

static bool refresh_once(struct panel *p)
{
    struct place_view *v = p->state;
    struct err e;

    if (begin_place(p, &e))
        host_say_err(p->scene, &e);
    if (!v->job || v->starts)
        return false;
    placing_look(v->job, &v->found);
    if (v->found.version != v->version && !v->shown.moved && v->found.graph && take_plan(v, &e)) {
        host_say_err(p->scene, &e);
        drop_plan(v);
        return false;
    }
    v->shown.done = v->found.done && !v->sweeps;
    v->shown.any_sets = v->shown.plan ? !v->shown.plan->contiguous : v->asked.any_sets;
    v->shown.objective = v->asked.objective;
    v->shown.of_model = !v->graph;
    v->shown.algorithm = place_algorithms[v->asked.algorithm].name;
    if (!v->shown.look || !v->shown.graph->nodes || !v->shown.look->state->devices)
        return false;
    freshen(v);
    go_on_sweeping(p);
    return v->shown.look != NULL;
}

/* For pictures no time passes: all that is asked is done at once. */
bool place_run_refresh(struct panel *p)
{
    struct place_view *v = p->state;
    bool shown = refresh_once(p);

    while (p->scene->now_ms <= 0 && v->starts)
        shown = refresh_once(p);
    return shown;
}

/* ---- taking it away ---- */

int place_run_export(const struct place_view *v, const char *path, bool overwrite, struct err *e)
{
    const struct place_shown *s = &v->shown;
    struct place_rules rules = placing_rules(v->asked.objective);
    struct place_load *load = mem_try((size_t)s->plan->devices + 1, sizeof *load);
    struct placement *plan = NULL;
    struct str text = {0};
    int rc = load ? placement_copy(s->plan, &plan, e) : err_no_memory(e, "for a plan");

    if (rc)
        goto out;
    for (uint32_t n = 0; n < s->graph->nodes; n++)
        plan->device[n] = place_look_device(s->look, n);
    rc = placement_value(plan, s->graph, &rules, load, e);
    if (rc)
        goto out;
    plan->value_ms = place_look_value(s->look);
    place_split_write(plan, s->graph, &rules, load, v->asked.objective == PLACING_LATENCY, &text);
    rc = text.failed ? err_no_memory(e, "for a split")
                     : file_write(path, text.text, text.size, overwrite, e);
out:
    str_release(&text);
    placement_free(plan);
    free(load);
    return rc;
}
