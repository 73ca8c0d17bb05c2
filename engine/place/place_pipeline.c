#include "engine/place/place_pipeline.h"

#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/unroll.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <string.h>

/* The stages that hold forward operations, in the order of the chain. */
struct chain {
    uint32_t *stage; /* by position in the usual order */
    uint32_t *run, runs;
    uint32_t stages;
    uint32_t device[PIPE_STAGES_MOST], copies[PIPE_STAGES_MOST]; /* by stage, the placement's */
    uint32_t pivot[PIPE_STAGES_MOST + 1];
};

/* ---- is it one? ---- */

static int check(const struct place_graph *g, const struct placement *q, struct err *e)
{
    uint32_t cores = g->type[g->types - 1].count, accelerators = place_devices(g) - cores;

    if (!q->contiguous)
        return err_set(e, ERR_INFEASIBLE, "not a pipeline: its sets are not contiguous");
    if (!g->training)
        return err_set(e, ERR_INFEASIBLE, "not a pipeline: there is no backward pass");
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (q->device[v] >= accelerators)
            return err_set(e, ERR_INFEASIBLE, "not a pipeline: some operators are on the host");
        if (q->stage[q->device[v]] == PLACE_NONE)
            return err_set(e, ERR_INFEASIBLE, "not a pipeline: a device has no place in a chain");
    }
    return 0;
}

/* ---- the chain ---- */

/* Stages with forward operations, numbered without gaps. */
static int number_stages(const struct order *o, const struct placement *q, struct chain *c,
                         struct err *e)
{
    uint32_t number[PLACE_DEVICES_MAX + 1];

    memset(number, 0xff, sizeof number);
    for (uint32_t p = 0; p < o->count; p++)
        number[q->stage[q->device[o->forward[p]]]] = 0;
    for (uint32_t s = 0; s < q->devices; s++) {
        if (number[s] == PLACE_NONE)
            continue;
        if (c->stages == PIPE_STAGES_MOST)
            return err_set(e, ERR_LIMIT, "more than %d stages", PIPE_STAGES_MOST);
        number[s] = c->stages++;
    }
    for (uint32_t p = 0; p < o->count; p++) {
        uint32_t d = q->device[o->forward[p]], s = number[q->stage[d]];
        c->stage[p] = s;
        c->device[s] = d;
        c->copies[s] = q->copies[d] > 1 ? q->copies[d] : 1;
    }
    return 0;
}

static void find_pivots(const struct order *o, struct chain *c)
{
    for (uint32_t p = 0; p < o->count; p++)
        c->pivot[c->stage[p] + 1]++;
    for (uint32_t s = 0; s < c->stages; s++)
        c->pivot[s + 1] += c->pivot[s];
}

static int find_chain(const struct order *o, const struct placement *q, struct chain *c,
                      uint32_t *raised, struct err *e)
{
    int rc;

    c->stage = mem_try((size_t)o->count + 1, sizeof *c->stage);
    c->run = mem_try(2 * (size_t)o->count + 1, sizeof *c->run);
    if (!c->stage || !c->run)
        return err_no_memory(e, "for a pipeline");
    rc = number_stages(o, q, c, e);
    if (rc)
        return rc;
    rc = order_chain_runs(o, c->stage, raised, c->run, &c->runs, e);
    if (rc)
        return rc;
    find_pivots(o, c);
    for (uint32_t s = 0; s < c->stages; s++) {
        if (c->pivot[s] == c->pivot[s + 1])
            return err_set(e, ERR_INFEASIBLE, "not a pipeline: a stage reads all from later ones");
    }
    return 0;
}

/* ---- devices ---- */

/* Stage after stage, each on its copies; the rest idle. False: a stage would change its kind. */
static bool pack_chain(const struct place_graph *g, const struct chain *c, struct pipe_plan *out)
{
    uint32_t at = 0;

    *out = (struct pipe_plan){.stages = c->stages};
    memcpy(out->pivot, c->pivot, (c->stages + 1) * sizeof *c->pivot);
    for (uint32_t s = 0; s < c->stages; s++) {
        for (uint32_t k = 0; k < c->copies[s]; k++) {
            if (place_type_of(g, at + k) != place_type_of(g, c->device[s]))
                return false;
        }
        at += c->copies[s];
        out->device[s + 1] = at;
    }
    return true;
}

/* Every stage on its own device and, as copies, those up to the next stage's. */
static bool spread_chain(const struct place_graph *g, const struct chain *c, struct pipe_plan *out)
{
    *out = (struct pipe_plan){.stages = c->stages};
    memcpy(out->pivot, c->pivot, (c->stages + 1) * sizeof *c->pivot);
    for (uint32_t s = 1; s < c->stages; s++) {
        if (c->device[s] <= out->device[s - 1])
            return false;
        out->device[s] = c->device[s];
    }
    out->device[c->stages] = place_devices(g) - g->type[g->types - 1].count;
    return true;
}

/* ---- pricing ---- */

static bool is_better(const struct pipeline *l, const struct pipeline_plan *a,
                      const struct place_pipeline *than)
{
    return a->fits != than->plan.fits
               ? a->fits
               : pipeline_step_ms(l, a) < pipeline_step_ms(&than->pipeline, &than->plan);
}

/* One assignment of devices, kept where it is better than what is there. */
static int offer_pipeline(const struct problem *p, const struct pipeline_options *asked,
                          const struct chain *c, const struct pipe_plan *plan, bool *found,
                          struct place_pipeline *out, struct err *e)
{
    struct pipeline_options o = *asked;
    struct pipeline l;
    struct pipeline_plan priced = {0};
    int rc;

    o.run = c->run;
    o.runs = c->runs > 1 ? c->runs : 0; /* one run is the usual order */
    o.chosen_for = plan;
    rc = pipeline_new(p, &o, &l, e);
    if (rc)
        return rc;
    if (!pipe_plan_is_valid(&l.all, plan)) {
        pipeline_release(&l);
        return *found ? 0
                      : err_set(e, ERR_INFEASIBLE,
                                "not a pipeline of this cluster, which has %u devices",
                                p->cluster.devices);
    }
    pipeline_price(&l, plan, &priced);
    if (*found && !is_better(&l, &priced, out)) {
        pipeline_release(&l);
        return 0;
    }
    if (*found)
        pipeline_release(&out->pipeline);
    *found = true;
    out->pipeline = l;
    out->plan = priced;
    snprintf(out->plan.found_by, sizeof out->plan.found_by, "place");
    return 0;
}

static int offer_all(const struct problem *p, const struct place_graph *g,
                     const struct pipeline_options *o, const struct chain *c,
                     struct place_pipeline *out, struct err *e)
{
    bool (*const ways[])(const struct place_graph *, const struct chain *,
                         struct pipe_plan *) = {pack_chain, spread_chain};
    struct pipeline_options again = *o;
    struct pipe_plan plan, last = {0};
    bool found = false;
    int rc = 0;

    for (int tries = 0; tries < 2 && (!found || !out->plan.fits); tries++) {
        again.recompute |= tries == 1;
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            if (!ways[k](g, c, &plan) || (k && pipe_plan_equal(&plan, &last)))
                continue;
            rc = offer_pipeline(p, &again, c, &plan, &found, out, e);
            if (rc)
                goto out;
            last = plan;
        }
    }
    if (!found)
        return err_set(e, ERR_INFEASIBLE,
                       "not a pipeline: kinds of devices do not follow each other along the chain");
out:
    if (rc && found)
        pipeline_release(&out->pipeline);
    return rc;
}

/* ---- the whole ---- */

static void count_elsewhere(const struct placement *q, const struct chain *c,
                            struct place_pipeline *out)
{
    const struct order *o = &out->pipeline.order;

    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        uint32_t s = 0;
        if (!o->steps.ops[n].is_backward)
            continue;
        while (o->position[n] >= c->pivot[s + 1])
            s++;
        out->backward++;
        out->elsewhere += q->stage[c->device[s]] != q->stage[q->device[n]];
    }
}

int place_pipeline_new(const struct problem *p, const struct place_graph *g,
                       const struct placement *q, const struct pipeline_options *o,
                       struct place_pipeline *out, struct err *e)
{
    struct chain c = {0};
    struct order usual;
    int rc = check(g, q, e);

    *out = (struct place_pipeline){0};
    if (rc)
        return rc;
    rc = order_new(p, &usual, e);
    if (rc)
        return rc;
    rc = find_chain(&usual, q, &c, &out->raised, e);
    if (rc)
        goto out;
    rc = offer_all(p, g, o, &c, out, e);
    if (rc)
        goto out;
    count_elsewhere(q, &c, out);
out:
    free(c.stage);
    free(c.run);
    order_release(&usual);
    return rc;
}
