#include "engine/exact/stability.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/exact/exact.h"
#include "engine/exact/limit.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

const char *const stability_names[STABILITY_COUNT] = {
#define X(id, name) name,
    STABILITY_FIGURES(X)
#undef X
};

static const double NEAR = 1e-9;

enum { CROSSINGS_MOST = 40, BISECTIONS_MOST = 12, BATCH_FAR = 16, SIDE_WORK = 150 };

struct ask {
    struct problem *p;
    const struct stability_options *o;
    struct cluster base, changed; /* changed: scratch */
    struct err *e;
};

struct answer {
    label *on; /* NULL: none fits */
    double ms;
};

/* The best plan as `p` is priced now, within `limit`. */
static int best_plan(struct ask *a, double limit, struct answer *out)
{
    struct limit_options within = {.limit = limit,
                                   .variables = a->o->variables,
                                   .inputs = a->o->inputs,
                                   .work_most = SIDE_WORK,
                                   .stop = a->p->stop};
    struct exact_options all = {.goal = EXACT_STEP_TIME,
                                .variables = a->o->variables,
                                .inputs = a->o->inputs,
                                .stop = a->p->stop};
    struct exact_result exact;
    struct limit_result found;
    struct strict s;
    int rc = strict_new(&a->p->labels, &s, a->e);

    *out = (struct answer){0};
    if (rc)
        return rc;
    if (a->o->fix)
        rc = a->o->fix(a->o->context, a->p, &s, a->e);
    if (!rc && isfinite(limit)) {
        rc = exact_limited(&a->p->step_tables, &a->p->memory, &s, &within, &found, a->e);
        if (!rc && found.fits)
            *out = (struct answer){found.on, found.value};
        else if (!rc)
            limit_release(&found);
    } else if (!rc) {
        rc = exact_strict(&a->p->step_tables, &s, &all, &exact, a->e);
        if (!rc)
            *out = (struct answer){exact.on, exact.value};
    }
    strict_release(&s);
    if (rc || !stop_asked(a->p->stop))
        return rc;
    free(out->on); /* the best of what was looked at: not what the answer is about */
    *out = (struct answer){0};
    return err_set(a->e, ERR_STOPPED, "stopped before the stability of the plan was known");
}

static double step_of(const struct ask *a, const label *on)
{
    return step_tables_cost(&a->p->step_tables, on).step_ms;
}

/* Is the plan possible as `p` is priced now? Another batch admits other labels. */
static bool is_possible(const struct ask *a, const label *on)
{
    for (class_id k = 0; k < a->p->classes.count; k++) {
        if (!label_is_admissible(&a->p->labels, k, on[k]))
            return false;
    }
    return true;
}

/* ---- bandwidths ---- */

static int set_bandwidth(struct ask *a, enum stability_figure figure, double factor)
{
    char mesh[sizeof a->p->options.mesh];

    a->changed = a->base;
    snprintf(mesh, sizeof mesh, "%s", a->p->options.mesh);
    for (uint32_t g = 0; g < a->changed.groups; g++) {
        if (figure == STABILITY_LINK)
            a->changed.group[g].link.bandwidth *= factor;
        else
            a->changed.group[g].network *= factor;
    }
    if (figure == STABILITY_NETWORK)
        a->changed.network *= factor;
    return problem_set_cluster(a->p, &a->changed, mesh, a->e);
}

/* Steps of the plan and of another at the base: what the lines start from. */
static int base_steps(struct ask *a, enum stability_figure figure, const label *other, double *own,
                      double *theirs)
{
    int rc = set_bandwidth(a, figure, 1);

    *own = rc ? 0 : step_of(a, a->o->on);
    *theirs = rc ? 0 : step_of(a, other);
    return rc;
}

/* From factor `far` towards 1: the crossing nearest to 1 at which another plan takes over. */
static int find_crossing(struct ask *a, enum stability_figure figure, double far, double now,
                         struct stability_side *out)
{
    double u = 1 / far;

    for (int k = 0; k < CROSSINGS_MOST; k++) {
        struct answer best;
        double own, theirs;
        int rc = set_bandwidth(a, figure, 1 / u);
        rc = rc ? rc : best_plan(a, a->o->limit, &best);
        if (rc)
            return rc;
        double here = step_of(a, a->o->on);
        if (!best.on || best.ms >= here * (1 - NEAR)) {
            free(best.on);
            return 0;
        }
        free(out->on);
        *out = (struct stability_side){
            .end = STABILITY_BREAKS, .value = now / u, .step_ms = best.ms, .on = best.on};
        rc = base_steps(a, figure, best.on, &own, &theirs);
        if (rc)
            return rc;
        double gap = own - theirs, slope = (here - best.ms - gap) / (u - 1);
        bool at_once = gap > -NEAR * own;
        double next = at_once ? 1 : 1 - gap / slope;
        if (!(fabs(next - 1) < fabs(u - 1) * (1 - NEAR)))
            return 0; /* they cross here */
        out->value = now / next;
        out->step_ms = own + (here - own) * (next - 1) / (u - 1);
        if (at_once)
            return 0;
        u = next;
    }
    return 0;
}

static double bandwidth_now(const struct cluster *c, enum stability_figure figure)
{
    if (figure == STABILITY_LINK)
        return c->group[0].devices > 1 ? c->group[0].link.bandwidth : 0;
    return c->servers > 1 ? cluster_network_of(c, 0) : 0;
}

static int move_bandwidth(struct ask *a, enum stability_figure figure, struct stability *out)
{
    double now = bandwidth_now(&a->base, figure);
    struct err lost;

    out->now[figure] = now;
    if (now <= 0)
        return 0;
    int rc = find_crossing(a, figure, 1 / STABILITY_FAR, now, &out->down[figure]);
    rc = rc ? rc : find_crossing(a, figure, STABILITY_FAR, now, &out->up[figure]);
    int back = set_bandwidth(&(struct ask){.p = a->p, .base = a->base, .e = &lost}, figure, 1);
    return rc ? rc : back;
}

/* ---- memory ---- */

static int move_memory(struct ask *a, struct stability *out)
{
    double now = isfinite(a->o->limit) ? a->o->limit : cluster_weakest(&a->base).memory_bytes,
           high = 0;
    struct stability_side *down = &out->down[STABILITY_MEMORY], *up = &out->up[STABILITY_MEMORY];
    double *scratch = memory_scratch(&a->p->memory), here = step_of(a, a->o->on);
    struct answer best = {0};

    if (!scratch)
        return err_no_memory(a->e, "for the stability of a plan");
    double peak = memory_of(&a->p->memory, &a->p->labels, a->o->on, scratch).peak;
    out->now[STABILITY_MEMORY] = now;
    int rc = best_plan(a, peak * (1 - NEAR), &best);
    *down = (struct stability_side){
        .end = STABILITY_NO_LONGER, .value = peak, .step_ms = best.ms, .on = best.on};
    rc = rc ? rc : best_plan(a, INFINITY, &best);
    bool faster = !rc && best.ms < here * (1 - NEAR);
    if (faster)
        high = memory_of(&a->p->memory, &a->p->labels, best.on, scratch).peak;
    free(scratch);
    if (!faster || high <= now) {
        free(best.on);
        return rc;
    }
    *up = (struct stability_side){
        .end = STABILITY_BREAKS, .value = high, .step_ms = best.ms, .on = best.on};
    double low = now;
    for (int k = 0; k < BISECTIONS_MOST && high > low * 1.001 && !rc; k++) {
        double middle = 0.5 * (low + high);
        rc = best_plan(a, middle, &best);
        if (rc || !best.on || best.ms >= here * (1 - NEAR)) {
            free(best.on);
            low = middle;
            continue;
        }
        free(up->on);
        *up = (struct stability_side){
            .end = STABILITY_BREAKS, .value = middle, .step_ms = best.ms, .on = best.on};
        high = middle;
    }
    return rc;
}

/* ---- the batch ---- */

/* Is another plan better with this batch? Then *side says which. */
static int try_batch(struct ask *a, int64_t size, struct stability_side *side, bool *changed)
{
    double *scratch = memory_scratch(&a->p->memory);
    struct answer best = {0};
    int rc = scratch ? problem_set_batch_size(a->p, size, a->e)
                     : err_no_memory(a->e, "for the stability of a plan");

    rc = rc ? rc : best_plan(a, a->o->limit, &best);
    bool possible = !rc && is_possible(a, a->o->on);
    if (possible && isfinite(a->o->limit))
        possible = memory_of(&a->p->memory, &a->p->labels, a->o->on, scratch).peak <=
                   a->o->limit * (1 + NEAR);
    *changed = !rc && (!possible || (best.on && best.ms < step_of(a, a->o->on) * (1 - NEAR)));
    free(scratch);
    if (!*changed) {
        free(best.on);
        return rc;
    }
    free(side->on);
    *side = (struct stability_side){.end = possible ? STABILITY_BREAKS : STABILITY_NO_LONGER,
                                    .value = (double)size,
                                    .step_ms = best.ms,
                                    .on = best.on};
    return 0;
}

/* Sizes are counted in micro-batches' worth: multiples of `unit`. */
static int search_batch(struct ask *a, int64_t from, int64_t unit, bool up,
                        struct stability_side *side)
{
    int64_t same = from / unit, other = 0, most = up ? same * BATCH_FAR : 1;
    int rc = 0;

    while (!rc && !other && (up ? same < most : same > most)) {
        int64_t next = up ? same * 2 : same / 2;
        bool changed;
        rc = try_batch(a, next * unit, side, &changed);
        if (!rc && changed)
            other = next;
        else
            same = next;
    }
    while (!rc && other && (up ? other - same : same - other) > 1) {
        int64_t middle = (same + other) / 2;
        bool changed;
        rc = try_batch(a, middle * unit, side, &changed);
        *(changed ? &other : &same) = middle;
    }
    return rc;
}

static int move_batch(struct ask *a, struct stability *out)
{
    int64_t size = problem_batch_size(a->p), asked = a->p->options.batch_size,
            unit = problem_batch_and_zero(a->p).micro_batches;
    struct err lost;

    if (!size)
        return 0;
    out->now[STABILITY_BATCH] = (double)size;
    int rc = search_batch(a, size, unit, false, &out->down[STABILITY_BATCH]);
    rc = rc ? rc : search_batch(a, size, unit, true, &out->up[STABILITY_BATCH]);
    int back = problem_set_batch_size(a->p, asked, &lost);
    return rc ? rc : back;
}

int stability_of(struct problem *p, const struct stability_options *o, struct stability *out,
                 struct err *e)
{
    struct ask *a = mem_alloc(sizeof *a);
    struct answer best;

    memset(out, 0, sizeof *out);
    *a = (struct ask){.p = p, .o = o, .base = p->cluster, .e = e};
    int rc = best_plan(a, o->limit, &best);
    if (rc)
        goto out;
    out->is_best = !best.on || best.ms >= step_of(a, o->on) * (1 - NEAR);
    free(best.on);
    rc = move_bandwidth(a, STABILITY_LINK, out);
    if (rc)
        goto out;
    rc = move_bandwidth(a, STABILITY_NETWORK, out);
    if (rc)
        goto out;
    rc = move_memory(a, out);
    if (rc)
        goto out;
    rc = move_batch(a, out);
out:
    free(a);
    if (rc)
        stability_release(out);
    return rc;
}

void stability_release(struct stability *s)
{
    for (int k = 0; k < STABILITY_COUNT; k++) {
        free(s->down[k].on);
        free(s->up[k].on);
    }
    memset(s, 0, sizeof *s);
}
