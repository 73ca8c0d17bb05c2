#include "engine/plan/recompute_at.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/cost_parts.h"
#include "engine/problem/problem.h"
#include "engine/recompute/primal.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* Bytes of one device's piece of a value as it is made, of one micro-batch. */
static double local_bytes(const struct plan *plan, hlo_value v)
{
    const struct problem *p = plan->problem;
    const struct hlo_shape *s = hlo_value_shape(p->m, v);
    double bytes = (double)s->bytes;

    for (uint32_t d = 0; d < s->rank && bytes > 0; d++) {
        class_id k = p->classes.class_of[class_dim(&p->classes, v, d)];
        bytes *= label_part(&p->labels, k, plan_dim_label(plan, v, d), s->dims[d]);
    }
    return bytes;
}

/* And as its uses find it. */
static double held_bytes(const struct plan *plan, hlo_value v)
{
    double made = local_bytes(plan, v);

    if (!plan->relaxed)
        return made;
    return fmax(made, relaxed_local_bytes(plan->problem, v, plan->relaxed->held[v]));
}

enum { FACTORS_MOST = 256 };

/* All-reduces of what an instruction leaves partial, wherever the step reduces it. */
static double strict_reductions_ms(const struct plan *plan, hlo_id id)
{
    const struct problem *p = plan->problem;
    const struct classes *c = &p->classes;
    uint32_t first = c->factor_base[id], count = c->factor_base[id + 1] - first;
    double share[FACTORS_MOST], ms = 0;

    if (count > FACTORS_MOST || c->runs_whole[id])
        return 0;
    for (uint32_t k = 0; k < count; k++) {
        class_id class = c->factors[first + k].class;
        share[k] = class == CLASS_NONE ? 1 : label_share(&p->labels, class, plan->on[class]);
    }
    for (uint32_t k = 0; k < count; k++) {
        const struct class_factor *f = &c->factors[first + k];
        if (f->kind != HLO_FACTOR_REDUCE || f->class == CLASS_NONE || !plan->on[f->class])
            continue;
        struct reduction r =
            step_tables_reduction(&p->step_tables, id, first + k, plan->on[f->class], share);
        ms += r.ms * r.times;
    }
    return ms;
}

/* What reducing the partial results of each value takes. */
static void add_reductions(const struct relaxed_plan *plan, double *reduced)
{
    for (uint32_t k = 0; k < plan->reshard_count; k++) {
        const struct relaxed_reshard *r = &plan->reshards[k];
        hlo_value origin = plan->origin[r->value];
        hlo_value v = origin == HLO_NONE ? r->value : origin;
        if (r->kind == RESHARD_ALL_REDUCE || r->kind == RESHARD_REDUCE_SCATTER)
            reduced[v] += r->ms;
    }
}

/* Where a loop stacks a value as some use wants it, gathered, that is what is kept. */
static void widen_stacks(const struct plan_recompute *r, const struct memory_model *m,
                         const double *range_bytes, double *bytes)
{
    hlo_comp entry = m->m->entry;

    for (uint32_t k = m->first[entry]; k < m->first[entry + 1]; k++) {
        uint32_t node = r->graph.of_buffer[m->ranges[k].value];
        if (!node || m->ranges[k].storing != STORED_AS_USED || m->ranges[k].is_argument)
            continue;
        double one = range_bytes[k] / r->graph.nodes[node - 1].trips;
        bytes[node - 1] = fmax(bytes[node - 1], one);
    }
}

/* ms of making `whole` bytes of the pieces of a value again, over the fewest axes that do. */
static double gather_ms(const struct problem *p, double whole, double piece)
{
    label over = 0;

    for (label a = 1; a < p->labels.count; a++) {
        if (p->labels.parts[a] >= whole / piece * (1 - 1e-6) &&
            (!over || p->labels.parts[a] < p->labels.parts[over]))
            over = a;
    }
    return over ? collective_ms(&p->mesh, COLLECTIVE_ALL_GATHER, over, whole) : 0;
}

struct node_prices {
    double *bytes, *piece_bytes, *gather_ms, *work_ms, *reader_bytes;
    double *reduced; /* [values] of a relaxed plan */
};

static bool node_prices_new(const struct plan_recompute *r, struct node_prices *p)
{
    size_t nodes = (size_t)r->graph.count + 1, values = r->plan->problem->m->value_count;

    p->bytes = mem_try(nodes, sizeof(double));
    p->piece_bytes = mem_try(nodes, sizeof(double));
    p->gather_ms = mem_try(nodes, sizeof(double));
    p->work_ms = mem_try(nodes, sizeof(double));
    p->reader_bytes = mem_try((size_t)r->graph.reader_count + 1, sizeof(double));
    p->reduced = mem_try(values + 1, sizeof(double));
    return p->bytes && p->piece_bytes && p->gather_ms && p->work_ms && p->reader_bytes &&
           p->reduced;
}

static void node_prices_release(struct node_prices *p)
{
    free(p->bytes);
    free(p->piece_bytes);
    free(p->gather_ms);
    free(p->work_ms);
    free(p->reader_bytes);
    free(p->reduced);
}

static void price_nodes(const struct plan_recompute *r, const struct memory_model *m,
                        const double *range_bytes, struct node_prices *p)
{
    const struct plan *plan = r->plan;
    double passes = plan->batching.micro_batches ? plan->batching.micro_batches : 1;

    if (plan->relaxed)
        add_reductions(plan->relaxed, p->reduced);
    for (uint32_t k = 0; k < r->graph.count; k++) {
        const struct primal *n = &r->graph.nodes[k];
        hlo_value v = plan->relaxed && plan->relaxed->origin[n->value] != HLO_NONE
                          ? plan->relaxed->origin[n->value]
                          : n->value;
        p->bytes[k] = held_bytes(plan, n->value);
        p->piece_bytes[k] = local_bytes(plan, n->value);
        if (n->rule == PRIMAL_WORK)
            p->work_ms[k] = plan_compute_ms(plan, n->maker) +
                            (plan->relaxed ? p->reduced[v] : strict_reductions_ms(plan, n->maker));
    }
    if (plan->relaxed)
        widen_stacks(r, m, range_bytes, p->bytes);
    for (uint32_t k = 0; k < r->graph.count; k++) {
        if (p->bytes[k] > p->piece_bytes[k] && p->piece_bytes[k] > 0)
            p->gather_ms[k] = gather_ms(plan->problem, p->bytes[k], p->piece_bytes[k]) *
                              r->graph.nodes[k].trips * passes;
    }
    for (uint32_t k = 0; k < r->graph.reader_count; k++)
        p->reader_bytes[k] = local_bytes(plan, plan->problem->m->leaf_base[r->graph.readers[k].id]);
}

static int memory_at(const struct plan *plan, const struct memory_model *m, double *scratch,
                     double *peak, struct err *e)
{
    struct memory_cost cost;
    int rc = 0;

    if (plan->relaxed)
        rc = relaxed_memory_in(plan->relaxed, m, &cost, NULL, scratch, e);
    else
        cost = memory_of(m, &plan->problem->labels, plan->on, scratch);
    *peak = rc ? 0 : cost.peak;
    return rc;
}

/* The graph, in the plan's order of instructions; where layers are written out, in the list's, in
 * which weight gradients do not wait for the end. */
static int make_graph(const struct problem *p, struct plan_recompute *out, struct err *e)
{
    int rc = primal_new(&p->memory, &p->roles, &p->costs, &p->attention, &out->graph, e);

    if (rc || out->graph.layers < 2 || p->memory.is_listed || p->m->is_scheduled)
        return rc;
    primal_release(&out->graph);
    rc = memory_new_listed(&p->memory, &out->listed, e);
    if (rc)
        return rc;
    rc = primal_new(&out->listed, &p->roles, &p->costs, &p->attention, &out->graph, e);
    out->is_listed = !rc;
    return rc;
}

/* The link to host memory, and the computation of a step that hides copies over it. */
static struct recompute_host host_of(const struct plan *plan)
{
    const struct problem *p = plan->problem;
    struct recompute_host h = {.bytes_per_ms = p->step_tables.host_link / 1e3,
                               .passes =
                                   plan->batching.micro_batches ? plan->batching.micro_batches : 1};

    for (hlo_id id = 0; id < p->m->count && h.bytes_per_ms > 0; id++) {
        if (p->roles.phase[id] == HLO_PHASE_FORWARD)
            h.forward_ms += plan_compute_ms(plan, id);
        else if (p->roles.phase[id] == HLO_PHASE_BACKWARD)
            h.backward_ms += plan_compute_ms(plan, id);
    }
    return h;
}

/* All but the graph. */
static int price_graph(struct plan_recompute *out, bool ends_alone, struct err *e)
{
    static const char FOR[] = "for what the backward pass keeps";
    const struct plan *plan = out->plan;
    const struct problem *p = plan->problem;
    struct node_prices n = {0};
    double *scratch = NULL;
    int rc;

    const struct memory_model *memory = out->is_listed ? &out->listed : &p->memory;
    scratch = memory_scratch(memory);
    if (!scratch || !node_prices_new(out, &n)) {
        rc = err_no_memory(e, FOR);
        goto out;
    }
    rc = memory_at(plan, memory, scratch, &out->engine_peak, e);
    if (rc)
        goto out;
    price_nodes(out, memory, scratch, &n);
    struct recompute_prices prices = {
        .bytes = n.bytes,
        .piece_bytes = n.piece_bytes,
        .gather_ms = n.gather_ms,
        .work_ms = n.work_ms,
        .reader_bytes = n.reader_bytes,
        .bytes_per_ms = cluster_bandwidth(&p->step_tables.device) / 1e3,
        .passes = plan->batching.micro_batches ? plan->batching.micro_batches : 1,
        .host = host_of(plan),
        .memory = memory,
        .range_bytes = scratch,
        .ends_alone = ends_alone,
    };
    rc = recompute_new(&out->graph, &prices, &out->front, e);
    if (rc)
        goto out;
    uint8_t *own = out->front.module.state;
    struct recompute_choice module = {.rest = own, .first = own};
    out->free_ms = plan->cost.step_ms - out->front.module.ms;
    out->module_peak = recompute_peak(&out->front, &module);
    rc = out->module_peak < 0 ? err_no_memory(e, FOR) : 0;
out:
    free(scratch);
    node_prices_release(&n);
    return rc;
}

int plan_recompute_new(const struct plan *plan, struct plan_recompute *out, struct err *e)
{
    *out = (struct plan_recompute){.plan = plan};
    int rc = make_graph(plan->problem, out, e);

    rc = rc ? rc : price_graph(out, false, e);
    if (rc)
        plan_recompute_release(out);
    return rc;
}

int plan_recompute_next(const struct plan *plan, struct plan_recompute *r, struct err *e)
{
    const struct problem *p = plan->problem;
    int rc = 0;

    r->plan = plan;
    recompute_release(&r->front);
    if (!r->graph.of_buffer) {
        rc = make_graph(p, r, e);
    } else if (r->is_listed) {
        memory_release(&r->listed);
        rc = memory_new_listed(&p->memory, &r->listed, e);
    }
    return rc ? rc : price_graph(r, true, e);
}

void plan_recompute_release(struct plan_recompute *r)
{
    recompute_release(&r->front);
    primal_release(&r->graph);
    memory_release(&r->listed);
    memset(r, 0, sizeof *r);
}
