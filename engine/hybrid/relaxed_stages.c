#include "engine/hybrid/relaxed_stages.h"

#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/interleave.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_costs.h"
#include "engine/hybrid/stage_rows.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "engine/pipeline/unroll.h"
#include "engine/plan/cost_parts.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for relaxed stages";

/* Stages that are solved at once. */
struct kind {
    struct hybrid *h;
    struct hybrid_instance *in;
    struct stage_tables tables; /* no rows: sections and options alone */
    struct stage_shape *shape;
    label *on;         /* [classes] of the whole model */
    struct problem *q; /* it, on the shape */
    struct plan plan;
    double *strict_ms, *relaxed_ms; /* [instructions] one execution in the passes */
    double *computes_ms;            /* [instructions] how much more of that is computation */
    double *once_ms;   /* [instructions] collectives once a step that strict ones lack */
    hlo_id *reader;    /* [instructions] HLO_NONE: none */
    uint8_t *is_op;    /* [instructions] */
    double *gather_ms; /* [values] to gather a value that all uses share, once */
    status *summed;    /* [values] of a partial one: what it becomes; STATUS_UNKNOWN: not known */
    struct err *e;
};

/* ---- the whole model under a stage's labels ---- */

/* Sections of other stages take the labels of their like in stage `n`. */
static void spread_labels(const struct hybrid *h, uint32_t n, label *on)
{
    const struct hybrid_stage *s = &h->stage[n];
    const struct sections *x = &h->sections;

    memcpy(on, s->on, h->problem->classes.count * sizeof *on);
    for (uint32_t m = 0; m < x->count; m++) {
        uint32_t like = s->section;
        while (like < s->end_section && x->kind[like] != x->kind[m])
            like++;
        if (like == s->end_section || (m >= s->section && m < s->end_section))
            continue;
        for (uint32_t k = 0; k < x->local_base[m + 1] - x->local_base[m]; k++)
            on[x->local[x->local_base[m] + k]] = s->on[x->local[x->local_base[like] + k]];
    }
}

static int derive_kind(struct kind *k)
{
    struct batch_and_zero batching = {.micro_batches = k->h->micro_batches};
    char mesh[32];
    const struct stage_shape *s = k->shape;

    snprintf(mesh, sizeof mesh, s->axes > 1 ? "%ux%u" : "%u", s->size[0], s->size[1]);
    struct problem_change change = {.cluster = &s->cluster,
                                    .mesh = mesh,
                                    .batch_param = k->h->problem->batch_param,
                                    .batch_dim = k->h->problem->batch_dim};
    int rc = problem_derive(k->h->problem, &change, k->q, k->e);

    if (rc)
        return rc;
    k->q->stop = k->h->options.stop ? k->h->options.stop : k->h->problem->stop;
    rc = problem_set_batch_size(k->q, k->h->options.batch, k->e);
    rc = rc ? rc : problem_set_batch_and_zero(k->q, &batching, k->e);
    if (rc)
        problem_release(k->q);
    return rc;
}

/* Parameters as the labels have them. */
static int pin_labels(const struct kind *k, struct relaxed *r)
{
    const struct problem *q = k->q;
    struct relaxed_pin *pins = NULL;
    size_t count = 0, room = 0;

    for (uint32_t n = 0; n < q->roles.param_count; n++) {
        hlo_value v = q->roles.params[n].value;
        uint32_t places = hlo_value_shape(q->m, v)->rank * q->mesh.axes;
        if (!mem_grow(&pins, &room, count, places + 1)) {
            free(pins);
            return err_no_memory(k->e, MEMORY_FOR);
        }
        for (uint32_t m = 0; m < places; m++) {
            uint32_t d = m / q->mesh.axes, x = m % q->mesh.axes;
            class_id c = q->classes.class_of[class_dim(&q->classes, v, d)];
            bool split = c != CLASS_NONE && (k->on[c] >> x & 1);
            pins[count++] = (struct relaxed_pin){n, d, x, split ? RELAXED_SPLIT : RELAXED_WHOLE};
        }
    }
    int rc = relaxed_set_pins(r, pins, (uint32_t)count, k->e);
    free(pins);
    return rc;
}

static int solve_kind(struct kind *k)
{
    struct relaxed_options o = {.folding = RELAXED_FOLD_AUTO};
    struct relaxed *r = NULL;
    struct relaxed_plan found;
    int rc = relaxed_new(k->q, &o, &r, k->e);

    if (rc)
        return rc;
    rc = pin_labels(k, r);
    rc = rc ? rc : relaxed_solve(r, 0, &found, k->e);
    relaxed_free(r);
    return rc ? rc : plan_from_relaxed(&found, &k->plan, k->e);
}

/* ---- what one execution takes ---- */

/* The operation that makes what `id` hands on: what only renames values is none. */
static hlo_id maker_of(const struct kind *k, hlo_id id)
{
    while (!k->is_op[id] && hlo_at(k->q->m, id)->operand_count)
        id = hlo_operand(k->q->m, id, 0);
    return id;
}

/* The first operation that reads what `id` makes, through what only renames it. */
static void find_readers(struct kind *k)
{
    const struct hlo_module *m = k->q->m;

    for (hlo_id id = m->count; id-- > 0;)
        for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++)
            k->reader[hlo_operand(m, id, n)] = k->is_op[id] ? id : k->reader[id];
}

/* Where a collective belongs: to the operation it serves; one shared by all uses to the maker; of
 * what no operation makes, a variable's slice, to the first that reads it. */
static hlo_id owner_of(const struct kind *k, const struct relaxed_reshard *r)
{
    hlo_id made = k->q->m->value_instruction[r->value], id;

    if (r->user != HLO_NONE && k->is_op[r->user])
        return r->user;
    id = maker_of(k, made);
    return k->is_op[id] || k->reader[made] == HLO_NONE ? id : k->reader[made];
}

/* What waits for the last micro-batch comes once: gradients over the axes of the batch are in R,
 * new are those over others, of what is split there now (scales of norms). */
static void add_reshards(struct kind *k)
{
    const struct relaxed_plan *p = k->plan.relaxed;

    for (uint32_t n = 0; n < p->reshard_count; n++) {
        const struct relaxed_reshard *r = &p->reshards[n];
        hlo_id id = owner_of(k, r);
        label batch = k->on[k->h->order.steps.batch];
        if (!(r->times > 0))
            continue;
        if (k->q->training.waits[r->value]) {
            k->once_ms[id] += r->over & batch ? 0 : r->ms / r->times;
            continue;
        }
        k->relaxed_ms[id] += r->ms / r->times;
        if (r->kind == RESHARD_REDUCE_SCATTER || k->summed[r->value] == (status)STATUS_UNKNOWN)
            k->summed[r->value] = r->to;
        if (r->user == HLO_NONE && r->kind == RESHARD_ALL_GATHER)
            k->gather_ms[r->value] += r->ms / r->times;
    }
}

static int price_operations(struct kind *k)
{
    const struct unrolled *u = &k->h->order.steps;
    struct stage_costs costs;
    int rc = stage_costs_new(&k->tables, k->shape, &costs, k->e);

    if (rc)
        return rc;
    memcpy(costs.on, k->on, k->h->problem->classes.count * sizeof *k->on);
    for (uint32_t n = 0; n < u->op_count; n++) {
        hlo_id id = u->ops[n].id;
        double ms[COSTS], times = step_tables_times(&k->q->step_tables, id);
        if (k->is_op[id])
            continue; /* of another trip */
        k->is_op[id] = 1;
        stage_costs_operation(&costs, n, ms);
        k->strict_ms[id] = ms[COST_IN_PASS] / u->ops[n].times;
        k->relaxed_ms[id] = times > 0 ? plan_compute_ms(&k->plan, id) / times : 0;
        k->computes_ms[id] =
            k->relaxed_ms[id] - (ms[COST_IN_PASS] - ms[COST_COLLECTIVE]) / u->ops[n].times;
    }
    stage_costs_release(&costs);
    find_readers(k);
    add_reshards(k);
    return 0;
}

/* ---- a stage ---- */

static double local_bytes(const struct problem *q, const struct unroll_value *v, status s)
{
    const struct hlo_shape *shape = hlo_value_shape(q->m, v->value);
    double bytes = v->bytes;

    for (uint32_t d = 0; d < shape->rank; d++) {
        class_id c = q->classes.class_of[class_dim(&q->classes, v->value, d)];
        label over = status_dim(s, q->mesh.axes, d);
        if (over || (c != CLASS_NONE && c == q->labels.cut))
            bytes *= label_part(&q->labels, c, over, shape->dims[d]);
    }
    return bytes;
}

static status status_of_labels(const struct kind *k, hlo_value v)
{
    const struct classes *c = &k->q->classes;
    status s = STATUS_WHOLE;

    for (uint32_t d = 0; d < hlo_value_shape(k->q->m, v)->rank; d++) {
        class_id class = c->class_of[class_dim(c, v, d)];
        for (uint32_t x = 0; x < k->q->mesh.axes && class != CLASS_NONE; x++)
            if (k->on[class] >> x & 1)
                s = status_with(s, x, d + 1);
    }
    return s;
}

/* What values kept for the backward pass need more than in the strict plan: as they are read, or
 * in the pieces they are made in, which are gathered again. */
struct kept {
    double whole_bytes, piece_bytes;
    double again_ms;
};

/* Partial results are not kept: what they are summed to is. */
static status once_summed(const struct kind *k, hlo_value own, status s)
{
    for (uint32_t x = 0; x < k->q->mesh.axes; x++)
        if (status_on(s, x) == STATUS_PARTIAL && k->summed[own] != (status)STATUS_UNKNOWN)
            return k->summed[own];
    return s;
}

static void add_kept(const struct kind *k, uint32_t value, struct kept *to)
{
    const struct unroll_value *v = &k->h->order.steps.values[value];
    const struct relaxed_plan *p = k->plan.relaxed;
    hlo_value own = p->origin[v->value];

    if (own == HLO_NONE || !hlo_value_shape(k->q->m, v->value)->rank)
        return;
    double made = local_bytes(k->q, v, once_summed(k, own, p->made[v->value])),
           held = local_bytes(k->q, v, once_summed(k, own, p->held[v->value])),
           strict = local_bytes(k->q, v, status_of_labels(k, v->value));
    to->whole_bytes += fmax(made, held) - strict;
    to->piece_bytes += fmin(made, held) - strict;
    to->again_ms += held > made ? k->gather_ms[own] : 0;
}

static bool is_used(const struct sections *s, const struct section_spread *x,
                    const struct hybrid_stage *stage)
{
    for (uint32_t n = 0; n < x->section_count; n++)
        if (s->spread_pool[x->sections + n] >= stage->section &&
            s->spread_pool[x->sections + n] < stage->end_section)
            return true;
    return false;
}

/* Kept for each micro-batch; where the stage recomputes, only what arrives is. */
static struct kept kept_of(const struct kind *k, const struct hybrid_stage *stage)
{
    const struct sections *s = &k->h->sections;
    struct kept out = {0};

    if (stage->point.recompute)
        return out;
    for (uint32_t n = s->value_base[stage->section]; n < s->value_base[stage->end_section]; n++)
        if (s->values[n].use == SECTION_KEPT)
            add_kept(k, s->values[n].value, &out);
    for (uint32_t n = 0; n < s->spread_count; n++)
        if (s->spread[n].use == SECTION_KEPT && is_used(s, &s->spread[n], stage))
            add_kept(k, s->spread[n].value, &out);
    return out;
}

static bool fits(const struct hybrid_stage *stage, const struct hybrid_point *p)
{
    double more = stage->in_flight * (p->stash_bytes - stage->point.stash_bytes);

    return stage->memory_bytes + more <= stage->limit_bytes;
}

/* How much more shows of `once` ms more of reductions, where the passes before them compute so much
 * more, ms. */
static int shown_ms(const struct kind *k, const struct hybrid_stage *stage, double once,
                    const double computes[static SECTION_PASSES], double *out)
{
    struct row_sum f;
    int rc = rows_price(&k->tables, k->shape, k->on, stage->section, stage->end_section, &f, k->e);

    if (rc)
        return rc;
    bool again = stage->point.recompute;
    double sums = collective_lines_ms(&f.rates.reduce, f.figure[ROW_SUMS]);
    double before = f.figure[ROW_BACKWARD_BALANCE] + (again ? f.figure[ROW_FORWARD_BALANCE] : 0);
    double more = computes[SECTION_BACKWARD] + (again ? computes[SECTION_FORWARD] : 0);
    const struct overlap *o = &f.rates.overlap;
    *out = stage_tables_reduce_ms(o, sums + once, 0, before + overlap_balance(o, more, 0)) -
           stage_tables_reduce_ms(o, sums, 0, before);
    return 0;
}

static int price_stage(const struct kind *k, struct hybrid_stage *stage)
{
    const struct sections *s = &k->h->sections;
    double more[SECTION_PASSES] = {0}, computes[SECTION_PASSES] = {0}, once = 0, shown;
    struct hybrid_point *p = &stage->relaxed;

    for (uint32_t i = s->op_base[stage->section]; i < s->op_base[stage->end_section]; i++) {
        const struct unroll_op *op = &k->h->order.steps.ops[s->op[i]];
        double ms = (k->relaxed_ms[op->id] - k->strict_ms[op->id]) * op->times;
        more[s->pass[s->op[i]]] += ms;
        computes[s->pass[s->op[i]]] += k->computes_ms[op->id] * op->times;
        once += k->once_ms[op->id] * op->times;
        if (!k->h->options.whole_layers || !s->is_left_out[s->op[i]])
            continue;
        more[SECTION_BACKWARD] += ms;
        computes[SECTION_BACKWARD] += k->computes_ms[op->id] * op->times;
    }
    int rc = shown_ms(k, stage, once, computes, &shown);
    if (rc)
        return rc;
    if (stage->point.recompute)
        more[SECTION_BACKWARD] += more[SECTION_FORWARD];
    struct kept kept = kept_of(k, stage);
    *p = stage->point;
    p->forward_ms += more[SECTION_FORWARD];
    p->both_ms += more[SECTION_FORWARD] + more[SECTION_BACKWARD];
    p->reduce_ms += shown;
    p->stash_bytes = fmax(0, stage->point.stash_bytes + kept.whole_bytes);
    if (!fits(stage, p)) {
        p->both_ms += kept.again_ms;
        p->stash_bytes = fmax(0, stage->point.stash_bytes + kept.piece_bytes);
    }
    bool was_fitting = fits(stage, &stage->point);
    double gain = k->h->micro_batches * (stage->point.both_ms - p->both_ms) -
                  (p->reduce_ms - stage->point.reduce_ms);
    if (was_fitting && (!(gain > 0) || !fits(stage, p)))
        *p = stage->point;
    return 0;
}

/* ---- kinds of stages ---- */

static bool is_like(const struct kind *k, uint32_t n, uint32_t m, label *aside)
{
    const struct hybrid_stage *a = &k->h->stage[n], *b = &k->h->stage[m];

    if (a->axes != b->axes || a->size[0] != b->size[0] ||
        (a->axes > 1 && a->size[1] != b->size[1]) ||
        hybrid_slot_of(k->in, a->device, a->end_device) !=
            hybrid_slot_of(k->in, b->device, b->end_device))
        return false;
    spread_labels(k->h, m, aside);
    return !memcmp(k->on, aside, k->h->problem->classes.count * sizeof *aside);
}

static int make_shape(struct kind *k, uint32_t n)
{
    const struct hybrid_stage *s = &k->h->stage[n];
    uint32_t slot = hybrid_slot_of(k->in, s->device, s->end_device);

    return stage_shape_new(&k->h->problem->cluster, k->in, slot, s->size[0],
                           s->axes > 1 ? s->size[1] : 0, k->shape, k->e);
}

/* Solves for stage `n` and prices all that are like it. */
static int relax_kind(struct kind *k, uint32_t n, uint8_t *is_done, label *aside)
{
    size_t count = k->h->problem->m->count + 1;

    memset(k->is_op, 0, count);
    memset(k->reader, 0xff, count * sizeof *k->reader); /* HLO_NONE */
    memset(k->once_ms, 0, count * sizeof *k->once_ms);
    memset(k->strict_ms, 0, count * sizeof *k->strict_ms);
    memset(k->relaxed_ms, 0, count * sizeof *k->relaxed_ms);
    memset(k->computes_ms, 0, count * sizeof *k->computes_ms);
    memset(k->summed, 0xff, ((size_t)k->h->problem->m->value_count + 1) * sizeof *k->summed);
    memset(k->gather_ms, 0, ((size_t)k->h->problem->m->value_count + 1) * sizeof *k->gather_ms);
    spread_labels(k->h, n, k->on);
    int rc = make_shape(k, n);
    rc = rc ? rc : derive_kind(k);
    if (rc)
        return rc;
    rc = solve_kind(k);
    bool is_solved = !rc, stays = rc == ERR_INFEASIBLE || rc == ERR_LIMIT; /* as strict ones */
    if (is_solved)
        rc = price_operations(k);
    for (uint32_t m = n; m < k->h->stages; m++) {
        if ((rc && !stays) || is_done[m] || !is_like(k, n, m, aside))
            continue;
        if (is_solved)
            rc = price_stage(k, &k->h->stage[m]);
        is_done[m] = 1;
    }
    if (is_solved)
        plan_release(&k->plan);
    problem_release(k->q);
    return stays ? 0 : rc;
}

/* ---- the plan ---- */

static double play_schedule(const struct hybrid *h)
{
    struct pipe_options o = hybrid_pipe_options(&h->options, h->micro_batches);
    struct pipe_node node[PIPE_NODES_MOST], chunk[HYBRID_STAGES_MOST], transfer[HYBRID_STAGES_MOST];
    struct interleave x = {
        h->stages / h->chunks, h->chunks, h->micro_batches, chunk, transfer, NULL};

    for (uint32_t n = 0; n < h->stages; n++) {
        node[2 * n] = chunk[n] = hybrid_stage_node(&h->stage[n].relaxed);
        if (n + 1 < h->stages)
            node[2 * n + 1] = transfer[n] = h->cut[n].node;
    }
    return h->chunks > 1 ? interleave_makespan(&x)
                         : pipe_nodes_makespan(node, 2 * h->stages - 1, &o, h->schedule);
}

static int relax_all(struct kind *k)
{
    size_t classes = (size_t)k->h->problem->classes.count + 1,
           count = (size_t)k->h->problem->m->count + 1;
    uint8_t *is_done = mem_try((size_t)k->h->stages + 1, 1);
    label *aside = mem_try(classes, sizeof *aside);
    int rc = 0;

    k->shape = mem_try(1, sizeof *k->shape);
    k->q = mem_try(1, sizeof *k->q);
    k->on = mem_try(classes, sizeof *k->on);
    k->is_op = mem_try(count, 1);
    k->reader = mem_try(count, sizeof *k->reader);
    k->once_ms = mem_try(count, sizeof *k->once_ms);
    k->strict_ms = mem_try(count, sizeof *k->strict_ms);
    k->relaxed_ms = mem_try(count, sizeof *k->relaxed_ms);
    k->computes_ms = mem_try(count, sizeof *k->computes_ms);
    k->gather_ms = mem_try((size_t)k->h->problem->m->value_count + 1, sizeof *k->gather_ms);
    k->summed = mem_try((size_t)k->h->problem->m->value_count + 1, sizeof *k->summed);
    if (!is_done || !aside || !k->is_op || !k->reader || !k->once_ms || !k->gather_ms ||
        !k->summed || !k->shape || !k->q || !k->on || !k->strict_ms || !k->relaxed_ms ||
        !k->computes_ms)
        rc = err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t n = 0; n < k->h->stages; n++) {
        bool is_one = k->h->stage[n].end_device - k->h->stage[n].device == 1;
        if (rc || stop_asked(k->h->options.stop))
            break;
        if (!is_done[n] && !is_one)
            rc = relax_kind(k, n, is_done, aside);
    }
    free(is_done);
    free(aside);
    free(k->shape);
    free(k->q);
    free(k->on);
    free(k->is_op);
    free(k->reader);
    free(k->once_ms);
    free(k->strict_ms);
    free(k->relaxed_ms);
    free(k->computes_ms);
    free(k->gather_ms);
    free(k->summed);
    return rc;
}

int hybrid_relax(struct hybrid *h, struct err *e)
{
    struct hybrid_instance in;
    struct kind k = {.h = h,
                     .in = &in,
                     .tables = {.sections = &h->sections,
                                .options = {.batch = h->options.batch,
                                            .micro_batches = h->micro_batches,
                                            .zero = h->zero,
                                            .overlap = h->options.overlap,
                                            .whole_layers = h->options.whole_layers}},
                     .e = e};

    for (uint32_t n = 0; n < h->stages; n++)
        h->stage[n].relaxed = h->stage[n].point;
    h->relaxed_ms = hybrid_step_ms(h);
    if (h->zero > 1)
        return 0;
    int rc = hybrid_plan_instance(h, &in, e);
    if (rc)
        return rc;
    rc = relax_all(&k);
    bool all_fit = true;
    for (uint32_t n = 0; n < h->stages; n++)
        all_fit &= fits(&h->stage[n], &h->stage[n].relaxed);
    h->relaxed_ms = rc || !all_fit ? INFINITY : play_schedule(h);
    hybrid_instance_release(&in);
    return rc;
}
