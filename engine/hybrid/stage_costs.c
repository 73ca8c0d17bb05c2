#include "engine/hybrid/stage_costs.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "engine/pipeline/variable_updates.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the costs of stages";

struct pattern {
    uint64_t hash[2];
    size_t at, size; /* into costs_of: [entries][COSTS], or [entries] of an update */
};

/* ---- terms ---- */

static uint32_t integer_power(uint32_t base, uint32_t exponent)
{
    return exponent ? base * integer_power(base, exponent - 1) : 1;
}

static bool is_admissible(const struct stage_costs *k, class_id class, label a)
{
    return label_is_admissible(&k->labels, class, a);
}

/* Gives the classes of a list the axes of an entry. False when some label
 * cannot be. */
static bool set_entry(const struct stage_costs *k, const class_id *list, uint32_t count,
                      uint32_t entry)
{
    bool ok = true;

    for (uint32_t n = 0; n < count; n++)
        k->on[list[n]] = 0;
    for (uint32_t x = 0; x < k->labels.axes; x++, entry /= count + 1)
        if (entry % (count + 1))
            k->on[list[entry % (count + 1) - 1]] |= (label)(1u << x);
    for (uint32_t n = 0; n < count; n++)
        ok &= is_admissible(k, list[n], k->on[list[n]]);
    return ok;
}

static void clear(const struct stage_costs *k, const class_id *list, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++)
        k->on[list[n]] = 0;
}

const double *bill_at(const struct stage_costs *k, const struct bill *t)
{
    uint32_t entry = 0, weight = 1;
    const class_id *list = k->pool + t->classes;

    for (uint32_t x = 0; x < k->labels.axes; x++, weight *= t->count + 1)
        for (uint32_t n = 0; n < t->count; n++)
            if (k->on[list[n]] >> x & 1)
                entry += (n + 1) * weight;
    return k->figures + t->table + (size_t)entry * ROW_FIGURES;
}

/* The term over this list, in this order, among those from `first` on; a new
 * one of zeros. NULL: no memory. */
static struct bill *find_bill(struct stage_costs *k, size_t first, const class_id *list,
                              uint32_t count)
{
    uint32_t entries = integer_power(count + 1, k->labels.axes);
    size_t size = (size_t)entries * ROW_FIGURES;

    for (size_t n = first; n < k->bill_count; n++) {
        struct bill *t = &k->bills[n];
        if (t->count == count && !memcmp(k->pool + t->classes, list, count * sizeof *list))
            return t;
    }
    if (!mem_grow(&k->bills, &k->bill_room, k->bill_count, 1) ||
        !mem_grow(&k->pool, &k->pool_room, k->pool_count, count + 1) ||
        !mem_grow(&k->figures, &k->figure_room, k->figure_count, size))
        return NULL;
    struct bill *t = &k->bills[k->bill_count++];
    *t = (struct bill){(uint32_t)k->pool_count, count, (uint32_t)k->figure_count, entries,
                       UINT32_MAX};
    if (count)
        memcpy(k->pool + k->pool_count, list, count * sizeof *list);
    memset(k->figures + k->figure_count, 0, size * sizeof *k->figures);
    k->pool_count += count;
    k->figure_count += size;
    return t;
}

/* ---- operations ---- */

/* What a pass takes, and what hides reductions beside it: nothing where it cannot be. */
static void add_to_pass(const struct stage_costs *k, uint8_t pass, const double cost[static COSTS],
                        double *to)
{
    static const uint8_t took[SECTION_PASSES] = {ROW_FORWARD, ROW_BACKWARD, ROW_ONCE};
    double compute = cost[COST_IN_PASS] - cost[COST_COLLECTIVE];

    to[took[pass]] += cost[COST_IN_PASS];
    if (k->overlap.is_bounded && pass != SECTION_ONCE && compute < INFINITY)
        to[pass == SECTION_FORWARD ? ROW_FORWARD_BALANCE : ROW_BACKWARD_BALANCE] +=
            overlap_balance(&k->overlap, compute, 0);
}

void stage_costs_add(const struct stage_costs *k, uint32_t n, const double cost[static COSTS],
                     double *to)
{
    add_to_pass(k, k->s->pass[n], cost, to);
    if (stage_costs_runs_again(k, n))
        add_to_pass(k, SECTION_BACKWARD, cost, to);
    to[ROW_SUMS] += cost[COST_AT_END];
}

void stage_costs_operation(const struct stage_costs *k, uint32_t n, double out[static COSTS])
{
    const struct unroll_op *op = &k->s->order->steps.ops[n];
    const struct classes *c = &k->p->classes;
    struct instruction_cost cost = step_tables_instruction(&k->tables, op->id, k->on);
    struct reduction list[TERM_CLASSES_MOST];
    uint32_t count = step_tables_reductions(&k->tables, op->id, k->on, list);
    bool waits = true, is_gradient = true;

    for (uint32_t v = c->m->leaf_base[op->id]; v < c->m->leaf_base[op->id + 1]; v++)
        waits &= k->p->training.waits[v];
    for (uint32_t v = op->values; v < op->values + op->value_count; v++)
        is_gradient &= k->s->gradient[v] == ORDER_VARIABLE;
    out[COST_IN_PASS] = cost.times > 0 ? cost.compute_ms / cost.times * op->times : 0;
    out[COST_COLLECTIVE] = out[COST_AT_END] = 0;
    for (uint32_t r = 0; r < count; r++) {
        double ms = list[r].ms * op->times;
        if (!waits || list[r].kind != COLLECTIVE_ALL_REDUCE)
            out[COST_COLLECTIVE] += ms;
        else if (!(op->is_backward && is_gradient))
            out[COST_AT_END] +=
                ms; /* a variable's gradients are reduced together: price_variable */
    }
    out[COST_IN_PASS] += out[COST_COLLECTIVE];
}

/* The figures of this hash; *is_new: so many, to be filled. NULL: no memory. */
static double *find_pattern(struct stage_costs *k, const uint64_t hash[2], size_t size,
                            bool *is_new)
{
    struct slot_walk at;

    *is_new = false;
    for (uint32_t i = slots_first(&k->slots, hash[0], &at); i != SLOTS_END;
         i = slots_next(&k->slots, &at)) {
        const struct pattern *p = &k->patterns[i];
        if (p->hash[0] == hash[0] && p->hash[1] == hash[1] && p->size == size)
            return k->costs_of + p->at;
    }
    if (!mem_grow(&k->patterns, &k->pattern_room, k->pattern_count, 1) ||
        !mem_grow(&k->costs_of, &k->cost_room, k->cost_count, size) ||
        !slots_add(&k->slots, hash[0], (uint32_t)k->pattern_count))
        return NULL;
    *is_new = true;
    k->patterns[k->pattern_count++] = (struct pattern){{hash[0], hash[1]}, k->cost_count, size};
    k->cost_count += size;
    return k->costs_of + k->cost_count - size;
}

/* Costs of operation n by entry; worked out for the first of those alike. NULL:
 * no memory. */
static const double *operation_costs(struct stage_costs *k, uint32_t n, const class_id *list,
                                     uint32_t count, const uint64_t hash[2])
{
    uint32_t entries = integer_power(count + 1, k->labels.axes);

    bool is_new;
    double *out = find_pattern(k, hash, (size_t)entries * COSTS, &is_new);

    if (!out || !is_new)
        return out;
    for (uint32_t e = 0; e < entries; e++) {
        out[e * COSTS + COST_IN_PASS] = INFINITY;
        out[e * COSTS + COST_COLLECTIVE] = out[e * COSTS + COST_AT_END] = 0;
        if (set_entry(k, list, count, e))
            stage_costs_operation(k, n, out + (size_t)e * COSTS);
    }
    clear(k, list, count);
    return out;
}

bool bill_add_operation(struct stage_costs *k, size_t first, uint32_t n)
{
    class_id list[TERM_CLASSES_MOST];
    uint64_t hash[2];

    if (k->s->is_remade[n])
        return true;
    uint32_t count = sections_pattern(k->s, n, list, hash);
    const double *costs = operation_costs(k, n, list, count, hash);
    struct bill *t = costs ? find_bill(k, first, list, count) : NULL;

    if (!t)
        return false;
    for (uint32_t e = 0; e < t->entries; e++) {
        double *to = k->figures + t->table + (size_t)e * ROW_FIGURES;
        stage_costs_add(k, n, costs + (size_t)e * COSTS, to);
    }
    return true;
}

/* ---- values ---- */

static double local_bytes(const struct stage_costs *k, const struct unroll_value *v)
{
    const struct classes *c = &k->p->classes;
    double bytes = v->bytes;

    for (dim_id d = c->dim_base[v->value]; d < c->dim_base[v->value + 1]; d++)
        if (c->class_of[d] != CLASS_NONE)
            bytes *= label_share(&k->labels, c->class_of[d], k->on[c->class_of[d]]);
    return bytes;
}

/* Gathers and scatters of a variable beside a pass. */
static void add_beside(const struct stage_costs *k, double ms, uint32_t figure, uint32_t balance,
                       uint32_t hidden, double *to)
{
    double hides = k->overlap.is_bounded ? k->overlap.hidden * ms : 0;

    to[figure] += ms - hides;
    to[hidden] += hides;
    to[balance] += k->overlap.is_bounded ? overlap_balance(&k->overlap, 0, ms) : 0;
}

/* What storing part of a variable in pieces adds to the passes, as the strict model prices it. */
static void add_storing(const struct stage_costs *k, uint32_t param, double part, double *to)
{
    struct storage_cost s = step_tables_storage(&k->tables, param, k->on);
    double waits = k->o->micro_batches - 1, M = waits + 1;

    for (uint32_t n = 0; n < s.count; n++) {
        double ms = part * s.items[n].count * s.items[n].ms; /* of a step */
        if (s.items[n].kind == COLLECTIVE_REDUCE_SCATTER) {  /* M - 1 scatters */
            add_beside(k, ms / M, ROW_BACKWARD, ROW_BACKWARD_BALANCE, ROW_BACKWARD_HIDDEN, to);
            continue;
        }
        ms /= 2 * M - 1; /* 2 M - 1 gathers in place of the update's one */
        add_beside(k, ms, ROW_FORWARD, ROW_FORWARD_BALANCE, ROW_FORWARD_HIDDEN, to);
        add_beside(k, waits / M * ms, ROW_BACKWARD, ROW_BACKWARD_BALANCE, ROW_BACKWARD_HIDDEN, to);
    }
}

static void price_variable(const struct stage_costs *k, const struct unroll_value *v, double *to)
{
    const struct problem *p = k->p;
    const struct hlo_param_role *r = &p->roles.params[v->param];
    double whole = (double)hlo_value_shape(p->m, r->value)->bytes;
    double local = local_bytes(k, v), part = whole > 0 ? v->bytes / whole : 0;
    double share = v->bytes > 0 ? local / v->bytes : 0;
    uint8_t zero = k->o->zero;
    label over = training_axes(&p->training, v->param, k->on);
    double piece = training_piece(&p->training, &k->labels, k->on, r->value, over);

    if (r->role != HLO_ROLE_VARIABLE) {
        to[ROW_FIXED] += local;
        return;
    }
    double gradient =
        part * share *
        (r->gradient != HLO_NONE ? (double)hlo_value_shape(p->m, r->gradient)->bytes : whole);
    double state = k->s->state_bytes[v->param] * part * share;
    const struct mesh_span *span = &k->shape->mesh.span[over];
    double gather = span->gather_inside + span->gather_across; /* ms per byte */
    to[ROW_FIXED] += local * (zero >= 3 ? piece : 1) + gradient * (zero >= 2 ? piece : 1) +
                     state * (zero >= 1 ? piece : 1);
    to[ROW_SUMS] += 2 * gather * gradient;
    if (zero >= 2)
        add_storing(k, v->param, part, to);
}

/* The module's own instructions that update a variable, split as it is: what else they meet is
 * whole. From ZeRO 1 on a piece. */
static double update_ms(const struct stage_costs *k, const struct unroll_value *v,
                        const class_id *list, uint32_t count)
{
    const struct variable_updates *u = &k->s->updates;
    double whole = (double)hlo_value_shape(k->p->m, k->p->roles.params[v->param].value)->bytes;
    double ms = 0;

    if (k->p->roles.params[v->param].role != HLO_ROLE_VARIABLE || whole <= 0)
        return 0;
    for (uint32_t n = 0; n < count; n++)
        k->alone[list[n]] = k->on[list[n]];
    for (uint32_t n = u->base[v->param]; n < u->base[v->param + 1]; n++) {
        struct instruction_cost c = step_tables_instruction(&k->tables, u->op[n], k->alone);
        ms += c.compute_ms + c.communication_ms;
    }
    for (uint32_t n = 0; n < count; n++)
        k->alone[list[n]] = 0;
    return ms * v->bytes / whole;
}

/* The same by entry; worked out for the first of those alike. NULL: no memory. */
static const double *update_costs(struct stage_costs *k, uint32_t value, const class_id *list,
                                  uint32_t count)
{
    const struct unroll_value *v = &k->s->order->steps.values[value];
    uint32_t entries = integer_power(count + 1, k->labels.axes);
    uint64_t hash[2];
    bool is_new;

    sections_update_pattern(k->s, value, list, count, hash);
    double *out = find_pattern(k, hash, entries, &is_new);
    for (uint32_t e = 0; out && is_new && e < entries; e++)
        out[e] = set_entry(k, list, count, e) ? update_ms(k, v, list, count) : INFINITY;
    clear(k, list, count);
    return out;
}

/* What a value adds under the labels of k->on, but for a variable's update. */
static void price_value(const struct stage_costs *k, const struct section_value *v, double *to)
{
    static const uint8_t figure_of[SECTION_USES] = {[SECTION_KEPT] = ROW_KEPT,
                                                    [SECTION_FIXED] = ROW_FIXED,
                                                    [SECTION_WORKING] = ROW_WORKING,
                                                    [SECTION_INPUT] = ROW_INPUT};
    const struct unroll_value *value = &k->s->order->steps.values[v->value];
    double ms[COSTS];

    if (v->use == SECTION_REMADE) {
        stage_costs_operation(k, value->op, ms);
        stage_costs_add(k, value->op, ms, to);
        return;
    }
    if (v->use == SECTION_VARIABLE)
        price_variable(k, value, to);
    else if (v->use == SECTION_WORKING)
        to[ROW_WORKING] = fmax(to[ROW_WORKING], local_bytes(k, value));
    else
        to[figure_of[v->use]] += local_bytes(k, value);
}

void stage_costs_value(const struct stage_costs *k, const struct section_value *v, double *to)
{
    class_id list[BILL_CLASSES_MOST];

    price_value(k, v, to);
    if (v->use == SECTION_VARIABLE) {
        uint32_t count = sections_value_classes(k->s, v, list);
        to[ROW_ONCE] += update_ms(k, &k->s->order->steps.values[v->value], list, count);
    }
}

bool bill_add_value(struct stage_costs *k, size_t first, const struct section_value *v)
{
    class_id list[BILL_CLASSES_MOST];
    uint32_t count = sections_value_classes(k->s, v, list);
    bool is_variable = v->use == SECTION_VARIABLE;
    const double *updates = is_variable ? update_costs(k, v->value, list, count) : NULL;
    struct bill *t = updates || !is_variable ? find_bill(k, first, list, count) : NULL;

    if (!t)
        return false;
    for (uint32_t e = 0; e < t->entries; e++) {
        double *to = k->figures + t->table + (size_t)e * ROW_FIGURES;
        if (set_entry(k, list, count, e)) {
            price_value(k, v, to);
            to[ROW_ONCE] += updates ? updates[e] : 0;
        }
    }
    clear(k, list, count);
    return true;
}

/* ---- the whole ---- */

struct row_rates stage_costs_rates(const struct stage_costs *k)
{
    label batch = k->on[k->s->order->steps.batch];
    label rest = (label)((k->labels.count - 1) & ~batch);
    const struct mesh_span *across = &k->shape->mesh.span[rest],
                           *over = &k->shape->mesh.span[batch];

    return (struct row_rates){.overlap = k->overlap,
                              .gather = (across->gather_inside + across->gather_across) /
                                        k->labels.parts[batch],
                              .arrive = collective_lines_of(across, COLLECTIVE_ALL_GATHER),
                              .reduce = collective_lines_of(over, COLLECTIVE_ALL_REDUCE)};
}

int stage_costs_new(const struct stage_tables *t, const struct stage_shape *shape,
                    struct stage_costs *out, struct err *e)
{
    const struct problem *p = t->sections->problem;
    const struct stage_options *o = &t->options;
    int64_t of = p->training.batch_divisor, file = t->sections->order->steps.batch_size;
    struct label_cut cut = {p->training.batch, o->micro_batches, of * o->batch / file, of};

    *out = (struct stage_costs){.s = t->sections,
                                .p = p,
                                .o = o,
                                .shape = shape,
                                .overlap = overlap_on(&shape->cluster.group[0], o->overlap),
                                .e = e};
    int rc =
        labels_new(&p->classes, &shape->mesh, p->options.exact_divisibility, &cut, &out->labels, e);
    if (rc)
        return rc;
    out->tables = (struct step_tables){.labels = &out->labels,
                                       .mesh = &shape->mesh,
                                       .costs = &p->costs,
                                       .device = cluster_weakest(&shape->cluster),
                                       .traffic = &p->traffic,
                                       .attention = &p->attention,
                                       .measured_ms = p->measured_ms,
                                       .training = &p->training,
                                       .joined = p->step_tables.joined,
                                       .batching = {o->micro_batches, o->zero, 0}};
    out->on = mem_try(p->classes.count, sizeof *out->on);
    out->alone = mem_try(p->classes.count, sizeof *out->alone);
    if (out->on && out->alone)
        return 0;
    stage_costs_release(out);
    return err_no_memory(e, MEMORY_FOR);
}

void stage_costs_release(struct stage_costs *k)
{
    labels_release(&k->labels);
    free(k->on);
    free(k->alone);
    free(k->bills);
    free(k->pool);
    free(k->figures);
    free(k->patterns);
    slots_release(&k->slots);
    free(k->costs_of);
    memset(k, 0, sizeof *k);
}
