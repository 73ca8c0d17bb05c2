#include "engine/compare/fewer.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/keep.h"
#include "engine/cluster/mesh.h"
#include "engine/compare/best_pipeline.h"
#include "engine/cost/memory.h"
#include "engine/exact/exact.h"
#include "engine/exact/limit.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/units.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const fewer_names[FEWER_KIND_COUNT] = {"strict", "relaxed", "pipeline"};

enum { LIMIT_WORK = 200 }; /* eliminations within a memory limit, of one candidate */
static const double FASTER = 0.99;

struct candidate {
    struct cluster_kept kept[CLUSTER_GROUPS_MOST];
    char mesh[32];
    double strict_ms; /* INFINITY: no plan that fits was found */
    double order_ms;  /* the same; where none within the limit could win, without one */
    bool proven;
};

struct look {
    const struct problem *all;
    const struct fewer_question *q;
    struct problem on; /* all, on the devices of the candidate looked at */
    struct candidate list[FEWER_MOST];
    uint32_t count, order[CLUSTER_GROUPS_MOST]; /* groups, the fastest devices first */
    struct fewer *out;
    struct err *e;
};

/* ---- which devices ---- */

static void order_groups(const struct cluster *c, uint32_t *order)
{
    for (uint32_t g = 0; g < c->groups; g++) {
        double peak = cluster_peak(&c->type[c->group[g].type], PEAK_F32);
        uint32_t at = g;
        for (; at && cluster_peak(&c->type[c->group[order[at - 1]].type], PEAK_F32) < peak; at--)
            order[at] = order[at - 1];
        order[at] = g;
    }
}

static struct candidate *add_candidate(struct look *k)
{
    if (k->count == FEWER_MOST)
        return NULL;
    memset(&k->list[k->count], 0, sizeof k->list[k->count]);
    return &k->list[k->count++];
}

/* The first `whole` of the groups in order, and `servers` of the next. */
static void add_fastest(struct look *k, uint32_t whole, uint32_t servers)
{
    struct candidate *c = add_candidate(k);

    for (uint32_t n = 0; c && n < whole; n++)
        c->kept[k->order[n]].servers = k->all->cluster.group[k->order[n]].count;
    if (c && servers)
        c->kept[k->order[whole]].servers = servers;
}

/* Sets of whole groups other than the fastest ones. */
static void add_subsets(struct look *k)
{
    const struct cluster *all = &k->all->cluster;

    for (uint32_t set = 2; all->groups <= FEWER_GROUPS_MOST && set + 1 < 1u << all->groups; set++) {
        struct candidate *c =
            (set & (set + 1)) ? add_candidate(k) : NULL; /* 1, 3, 7: the fastest */
        for (uint32_t n = 0; c && n < all->groups; n++) {
            if (set >> n & 1)
                c->kept[k->order[n]].servers = all->group[k->order[n]].count;
        }
    }
}

static void add_all(struct look *k)
{
    const struct cluster *all = &k->all->cluster;

    order_groups(all, k->order);
    add_subsets(k);
    for (uint32_t n = 0; n < all->groups; n++) {
        for (uint32_t s = 1; s < all->group[k->order[n]].count; s *= 2)
            add_fastest(k, n, s);
        if (n + 1 < all->groups)
            add_fastest(k, n + 1, 0);
    }
    for (uint32_t n = 0; n < all->groups; n++) {
        const struct cluster_group *g = &all->group[k->order[n]];
        for (uint32_t d = 1; d < g->devices && !g->link.rank; d *= 2) {
            struct candidate *c = add_candidate(k);
            if (c)
                c->kept[k->order[n]] = (struct cluster_kept){1, d};
        }
    }
}

/* ---- what they take ---- */

static double limit_of(const struct look *k)
{
    return k->q->limit_bytes > 0 ? k->q->limit_bytes : problem_device_limit(&k->on);
}

static int price_within(const struct look *k, struct candidate *c)
{
    struct limit_options o = {.limit = limit_of(k),
                              .variables = k->q->variables,
                              .inputs = k->q->inputs,
                              .work_most = LIMIT_WORK,
                              .stop = k->on.stop};
    struct limit_result r;
    int rc = exact_limited(&k->on.step_tables, &k->on.memory, NULL, &o, &r, k->e);

    if (rc)
        return rc;
    if (r.fits && r.value < c->strict_ms) {
        c->strict_ms = r.value;
        c->order_ms = fmin(c->order_ms, r.value);
        c->proven = r.proven;
        mesh_format(&k->on.mesh, c->mesh, sizeof c->mesh);
    }
    limit_release(&r);
    return 0;
}

/* The strict optimum on the mesh that k->on has. If it does not fit and is no shorter than what is
 * there already, nor is any within the limit. */
static int price_strict(const struct look *k, struct candidate *c, double *scratch)
{
    struct exact_options o = {
        .variables = k->q->variables, .inputs = k->q->inputs, .stop = k->on.stop};
    struct exact_result r;
    int rc = exact_strict(&k->on.step_tables, NULL, &o, &r, k->e);

    if (rc)
        return rc;
    bool fits = memory_of(&k->on.memory, &k->on.labels, r.on, scratch).peak <= limit_of(k);
    bool is_better = r.value < c->strict_ms;
    bool may_win = r.bound < k->out->step_ms;
    if (is_better && fits) {
        c->strict_ms = r.value;
        c->proven = r.proven;
        mesh_format(&k->on.mesh, c->mesh, sizeof c->mesh);
    }
    if (fits || !may_win)
        c->order_ms = fmin(c->order_ms, r.value);
    exact_release(&r);
    return is_better && may_win && !fits ? price_within(k, c) : 0;
}

/* One mesh of a candidate's devices; one that does not divide so is no plan. */
static int price_mesh(struct look *k, const struct cluster *c, struct candidate *one,
                      uint32_t outer, double *scratch)
{
    char mesh[32];

    if (outer > 1)
        snprintf(mesh, sizeof mesh, "%ux%u", outer, c->devices / outer);
    else
        snprintf(mesh, sizeof mesh, "%u", c->devices);
    int rc = problem_set_cluster(&k->on, c, mesh, k->e);
    if (rc)
        return rc == ERR_INPUT || rc == ERR_LIMIT ? 0 : rc;
    return price_strict(k, one, scratch);
}

static void keep_devices(const struct look *k, const struct candidate *one, struct cluster *out)
{
    *out = k->all->cluster;
    cluster_keep_first(out, one->kept);
}

static int price_candidate(struct look *k, struct candidate *one, double *scratch)
{
    struct cluster c;

    keep_devices(k, one, &c);
    if (k->q->does_not_fit &&
        cluster_weakest(&c).memory_bytes <= cluster_weakest(&k->all->cluster).memory_bytes)
        return 0;
    uint32_t outer = c.servers > 1 ? c.servers : k->all->mesh.axes > 1 ? 2 : 1;
    int rc = price_mesh(k, &c, one, 1, scratch);
    if (!rc && outer > 1 && c.devices % outer == 0 && c.devices > outer)
        rc = price_mesh(k, &c, one, outer, scratch);
    return rc;
}

/* ---- the best of them ---- */

static int take_faster(struct look *k, const struct candidate *one, enum fewer_kind kind, double ms)
{
    struct str list = {0};
    struct cluster c;

    if (ms >= k->out->step_ms)
        return 0;
    keep_devices(k, one, &c);
    cluster_keep_write(&k->all->cluster, one->kept, &list);
    if (list.size >= sizeof k->out->servers) { /* nobody could be told so */
        str_release(&list);
        return 0;
    }
    *k->out = (struct fewer){.found = true,
                             .kind = kind,
                             .proven = kind == FEWER_STRICT && one->proven,
                             .step_ms = ms,
                             .devices = c.devices,
                             .of = k->all->cluster.devices};
    snprintf(k->out->servers, sizeof k->out->servers, "%s", list.failed ? "" : list.text);
    if (kind != FEWER_PIPELINE)
        snprintf(k->out->mesh, sizeof k->out->mesh, "%s", one->mesh);
    int rc = list.failed ? err_no_memory(k->e, "for a list of servers") : 0;
    str_release(&list);
    return rc;
}

static int look_at_relaxed(struct look *k, const struct candidate *one)
{
    const struct relaxed_options o = {.reduce_at_once = k->all->options.reduce_at_once};
    struct memory_cost memory;
    struct relaxed_plan x;
    int rc = relaxed_solve_overlapped(&k->on, &o, NULL, 0, &x, k->e);

    if (rc)
        return rc == ERR_MEMORY ? rc : 0;
    rc = relaxed_memory(&x, &memory, k->e);
    if (!rc && memory.peak <= limit_of(k))
        rc = take_faster(k, one, FEWER_RELAXED, x.cost.step_ms);
    relaxed_plan_release(&x);
    return rc;
}

static int look_at_pipeline(struct look *k, const struct candidate *one)
{
    struct pipeline_options o = *k->q->pipeline;
    struct pipeline_plan plan;
    struct pipeline *l;

    o.pins = 0; /* of devices by their numbers among all */
    int rc = best_pipeline_new(&k->on, &o, &l, &plan, k->e);
    if (rc)
        return rc == ERR_MEMORY ? rc : 0;
    rc = plan.fits ? take_faster(k, one, FEWER_PIPELINE, pipeline_step_ms(l, &plan)) : 0;
    best_pipeline_free(l);
    return rc;
}

static int look_closer(struct look *k, const struct candidate *one)
{
    struct cluster c;

    keep_devices(k, one, &c);
    int rc = problem_set_cluster(&k->on, &c, one->mesh, k->e);
    if (!rc && k->q->relaxed && !stop_asked(k->on.stop))
        rc = look_at_relaxed(k, one);
    if (!rc && k->q->pipeline && c.devices > 1 && !stop_asked(k->on.stop))
        rc = look_at_pipeline(k, one);
    return rc == ERR_MEMORY ? rc : 0; /* devices that no such plan divides over are no answer */
}

static double arithmetic_of(const struct look *k, const struct candidate *one)
{
    const struct cluster *all = &k->all->cluster;
    double sum = 0;

    for (uint32_t g = 0; g < all->groups; g++) {
        uint32_t own = one->kept[g].devices ? one->kept[g].devices : all->group[g].devices;
        sum += cluster_peak(&all->type[all->group[g].type], PEAK_F32) * own * one->kept[g].servers;
    }
    return sum;
}

/* Shorter strict steps first; those without one by their arithmetic, the most first. */
static bool comes_before(const struct look *k, const struct candidate *x,
                         const struct candidate *than)
{
    if (isfinite(x->order_ms) || isfinite(than->order_ms))
        return x->order_ms < than->order_ms;
    return arithmetic_of(k, x) > arithmetic_of(k, than);
}

/* The first that was not chosen yet; NULL: none is left. */
static const struct candidate *next_best(const struct look *k, bool *chosen)
{
    uint32_t best = k->count;

    for (uint32_t n = 0; n < k->count; n++) {
        if (!chosen[n] && (best == k->count || comes_before(k, &k->list[n], &k->list[best])))
            best = n;
    }
    if (best == k->count)
        return NULL;
    chosen[best] = true;
    return &k->list[best];
}

static int look_at_all(struct look *k)
{
    double *scratch = memory_scratch(&k->on.memory);
    bool chosen[FEWER_MOST] = {false};
    const struct candidate *one;
    int rc = scratch ? 0 : err_no_memory(k->e, "to look at fewer devices");

    for (uint32_t n = 0; n < k->count; n++)
        k->list[n].strict_ms = k->list[n].order_ms = INFINITY;
    for (uint32_t n = 0; n < k->count && !rc && !stop_asked(k->on.stop); n++)
        rc = price_candidate(k, &k->list[n], scratch);
    for (uint32_t n = 0; n < FEWER_CLOSER && !rc && (one = next_best(k, chosen)); n++) {
        rc = take_faster(k, one, FEWER_STRICT, one->strict_ms);
        if (!rc && (k->q->relaxed || k->q->pipeline) && !stop_asked(k->on.stop))
            rc = look_closer(k, one);
    }
    free(scratch);
    return rc;
}

int fewer_devices(const struct problem *p, const struct fewer_question *q, struct fewer *out,
                  struct err *e)
{
    const atomic_bool *stop = q->stop ? q->stop : p->stop;
    const struct problem_change none = {.batch_param = BATCH_AS_FOUND, .until = stop};

    *out = (struct fewer){.step_ms = q->step_ms * FASTER};
    const struct pipeline_options *o = q->pipeline;
    if (p->cluster.devices < 2 || (o && o->batch && o->batch != problem_batch_size(p)))
        return 0;
    struct look *k = mem_try(1, sizeof *k);
    if (!k)
        return err_no_memory(e, "to look at fewer devices");
    *k = (struct look){.all = p, .q = q, .out = out, .e = e};
    add_all(k);
    int rc = problem_derive(p, &none, &k->on, e);
    if (rc)
        goto out;
    k->on.stop = stop;
    rc = look_at_all(k);
    problem_release(&k->on);
out:
    free(k);
    return rc == ERR_STOPPED ? 0 : rc;
}

void fewer_write(const struct fewer *f, struct str *out)
{
    static const char *const how[FEWER_KIND_COUNT] = {
        [FEWER_RELAXED] = " --mode relaxed", [FEWER_PIPELINE] = " --kind pp"};
    char ms[UNITS_ROOM];

    str_format(out, "%s on %u of the %u devices: --servers %s%s%s%s", units_ms(ms, f->step_ms),
               f->devices, f->of, f->servers, f->mesh[0] ? " --mesh " : "", f->mesh,
               how[f->kind] ? how[f->kind] : "");
}
