/* hlo/meaning/cost.c - flops, transcendental operations and bytes, rule by rule, summed over the
 * call graph. Source of every rule: xla/service/hlo_cost_analysis.cc; the table is in
 * hlo/meaning/README.md. */
#include "hlo/meaning/cost.h"
#include "hlo/meaning/cost_internal.h"
#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/module/special.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* ---- what rules ask ---- */

double hlo_cost_elements(const struct hlo_coster *k, const struct hlo_shape *s)
{
    return s && s->leaf_count ? (double)k->m->shapes[s->leaves[0]].elements : 0;
}

const struct hlo_shape *hlo_cost_operand(const struct hlo_coster *k, uint32_t n)
{
    return n < hlo_at(k->m, k->id)->operand_count ? hlo_shape(k->m, hlo_operand(k->m, k->id, n))
                                                  : NULL;
}

struct hlo_cost hlo_cost_called(const struct hlo_coster *k, uint32_t n)
{
    if (n >= hlo_at(k->m, k->id)->called_count)
        return (struct hlo_cost){0, 0, 0};
    return k->computations[hlo_called(k->m, k->id, n)];
}

void hlo_cost_apply(struct hlo_coster *k, struct hlo_cost of, double times)
{
    k->cost.flops += of.flops * times;
    k->cost.transcendentals += of.transcendentals * times;
}

static const struct hlo_shape *result(const struct hlo_coster *k)
{
    return hlo_shape(k->m, k->id);
}

static double elements(const struct hlo_coster *k, uint32_t operand)
{
    return hlo_cost_elements(k, hlo_cost_operand(k, operand));
}

enum { POINTER_BYTES = 8, DYNAMIC_SIZE_BYTES = 4 };

/* Arrays of dynamic size carry the size of each dim behind them. */
static double leaf_bytes(const struct hlo_module *m, const struct hlo_shape *s)
{
    double sum = 0;

    for (uint32_t leaf = 0; leaf < s->leaf_count; leaf++) {
        const struct hlo_shape *array = &m->shapes[s->leaves[leaf]];
        sum +=
            (double)array->bytes + (array->dynamic ? (double)DYNAMIC_SIZE_BYTES * array->rank : 0);
    }
    return sum;
}

static double bytes(const struct hlo_coster *k, uint32_t operand)
{
    const struct hlo_shape *s = hlo_cost_operand(k, operand);

    return s ? k->bytes[s - k->m->shapes].read : 0;
}

static double all_elements(const struct hlo_coster *k, const struct hlo_shape *s)
{
    double n = 0;

    for (uint32_t leaf = 0; leaf < s->leaf_count; leaf++)
        n += (double)k->m->shapes[s->leaves[leaf]].elements;
    return n;
}

/* Loops in loops soon run more often than a double can say: all figures end here, and stay numbers
 * whatever they are multiplied with later. */
static const double runs_most = 1e30, cost_most = 1e60;

/* fmin() without the call, which each instruction would make six times. */
static inline double least(double a, double b)
{
    return a < b ? a : b;
}

static void add_cost(struct hlo_cost *sum, struct hlo_cost c, double times)
{
    sum->flops = least(sum->flops + c.flops * times, cost_most);
    sum->transcendentals = least(sum->transcendentals + c.transcendentals * times, cost_most);
    sum->bytes = least(sum->bytes + c.bytes * times, cost_most);
}

/* ---- rules ---- */

static bool is_constant(const struct hlo_module *m, hlo_id id)
{
    while (hlo_at(m, id)->opcode == HLO_OP_BROADCAST || hlo_at(m, id)->opcode == HLO_OP_CONVERT)
        id = hlo_operand(m, id, 0);
    return hlo_at(m, id)->opcode == HLO_OP_CONSTANT;
}

static void special_cost(struct hlo_coster *k, const struct hlo_special *s)
{
    double elements = hlo_cost_elements(k, result(k));
    uint8_t type = result(k)->type;
    bool is_complex = hlo_type_info[type].class == 'C';
    int flops = is_complex                        ? s->flops_complex
                : type == HLO_F64 && s->flops_f64 ? s->flops_f64
                                                  : s->flops;

    int transcendentals = is_complex ? s->transcendentals_complex : s->transcendentals;

    if (s->flops_constant && hlo_at(k->m, k->id)->operand_count &&
        is_constant(k->m, hlo_operand(k->m, k->id, 0))) {
        flops = s->flops_constant;
        transcendentals = s->transcendentals_constant;
    }
    if (!is_complex && hlo_type_info[type].bits < 32)
        flops += s->converts;
    k->cost.flops = elements * flops;
    k->cost.transcendentals = elements * transcendentals;
}

void hlo_cost_NOTHING(struct hlo_coster *k)
{
    k->cost.bytes = 0;
}

void hlo_cost_ZERO(struct hlo_coster *k)
{
    (void)k;
}

void hlo_cost_ELEMENTWISE(struct hlo_coster *k)
{
    k->cost.flops = hlo_cost_elements(k, result(k));
}

void hlo_cost_TRANSCENDENTAL(struct hlo_coster *k)
{
    double elements = hlo_cost_elements(k, result(k));
    const struct hlo_complex_function *f =
        hlo_type_info[result(k)->type].class == 'C'
            ? hlo_complex_function_of(hlo_at(k->m, k->id)->opcode)
            : NULL;

    k->cost.flops = f ? elements * f->flops : 0;
    k->cost.transcendentals = f ? elements * f->transcendentals : elements;
}

void hlo_cost_RNG(struct hlo_coster *k)
{
    k->cost.transcendentals = all_elements(k, result(k));
}

/* Only the table of pointers is written. */
void hlo_cost_TUPLE(struct hlo_coster *k)
{
    k->cost.bytes = (double)POINTER_BYTES * result(k)->part_count;
}

void hlo_cost_INFEED(struct hlo_coster *k)
{
    k->cost.bytes = leaf_bytes(k->m, result(k));
}

void hlo_cost_OUTFEED(struct hlo_coster *k)
{
    k->cost.bytes = leaf_bytes(k->m, hlo_cost_operand(k, 0));
}

/* Free where the layouts of both sides make it the same bytes. */
void hlo_cost_TRANSPOSE(struct hlo_coster *k)
{
    const struct hlo_shape *s = hlo_cost_operand(k, 0), *r = result(k);
    int64_t from[HLO_RANK_MAX];

    if (hlo_attr_ints(k->m, k->id, HLO_ATTR_DIMENSIONS, from) != r->rank || s->rank != r->rank)
        return;
    for (uint8_t i = 0; i < r->rank; i++) {
        int64_t in = s->minor_to_major ? s->minor_to_major[i] : s->rank - 1 - i;
        uint8_t out = r->minor_to_major ? r->minor_to_major[i] : (uint8_t)(r->rank - 1 - i);
        if (in != from[out])
            return;
    }
    k->cost.bytes = 0;
}

static double contracted(const struct hlo_coster *k)
{
    const struct hlo_shape *l = hlo_cost_operand(k, 0);
    int64_t dims[HLO_RANK_MAX];
    size_t count = hlo_attr_ints(k->m, k->id, HLO_ATTR_LHS_CONTRACTING_DIMS, dims);
    double n = 1;

    for (size_t i = 0; i < count; i++)
        n *= dims[i] >= 0 && dims[i] < l->rank ? (double)l->dims[dims[i]] : 1;
    return n;
}

void hlo_cost_DOT(struct hlo_coster *k)
{
    k->cost.flops = 2 * hlo_cost_elements(k, result(k)) * contracted(k);
}

/* Each row belongs to one group: where the ragged dim is contracted, the group dim of the result,
 * its first, does not multiply the work. */
void hlo_cost_RAGGED_DOT(struct hlo_coster *k)
{
    int64_t ragged[HLO_RANK_MAX], dims[HLO_RANK_MAX];
    size_t count = hlo_attr_ints(k->m, k->id, HLO_ATTR_LHS_CONTRACTING_DIMS, dims);
    size_t ragged_count = hlo_attr_ints(k->m, k->id, HLO_ATTR_LHS_RAGGED_DIMS, ragged);

    hlo_cost_DOT(k);
    for (size_t i = 0; i < count && ragged_count; i++)
        if (dims[i] == ragged[0] && result(k)->rank && result(k)->dims[0] > 0)
            k->cost.flops /= (double)result(k)->dims[0];
}

/* The reducer runs once for each element that disappears; of several inputs it takes one of each.
 */
void hlo_cost_REDUCE(struct hlo_coster *k)
{
    hlo_cost_apply(k, hlo_cost_called(k, 0), elements(k, 0) - hlo_cost_elements(k, result(k)));
}

void hlo_cost_MAP(struct hlo_coster *k)
{
    hlo_cost_apply(k, hlo_cost_called(k, 0), hlo_cost_elements(k, result(k)));
}

void hlo_cost_SCAN(struct hlo_coster *k)
{
    hlo_cost_apply(k, hlo_cost_called(k, 0), elements(k, 1));
}

void hlo_cost_SORT(struct hlo_coster *k)
{
    double n = elements(k, 0);

    k->cost.flops = n > 1 ? n * ceil(log2(n)) : 0;
}

void hlo_cost_GATHER(struct hlo_coster *k)
{
    k->cost.bytes = 2 * (double)result(k)->bytes + bytes(k, 1);
}

/* N operands, indices, N updates: the first updates count, the bytes of all. */
void hlo_cost_SCATTER(struct hlo_coster *k)
{
    uint32_t inputs = hlo_at(k->m, k->id)->operand_count / 2;

    k->cost.bytes = bytes(k, inputs);
    for (uint32_t n = 0; n < inputs; n++)
        k->cost.bytes += 3 * bytes(k, inputs + 1 + n);
    hlo_cost_apply(k, hlo_cost_called(k, 0), elements(k, inputs + 1));
}

void hlo_cost_SLICE(struct hlo_coster *k)
{
    k->cost.bytes = 2 * (double)result(k)->bytes;
}

void hlo_cost_DYNAMIC_SLICE(struct hlo_coster *k)
{
    k->cost.bytes = 2 * (double)result(k)->bytes + bytes(k, 1);
}

void hlo_cost_DYNAMIC_UPDATE_SLICE(struct hlo_coster *k)
{
    k->cost.bytes = 2 * bytes(k, 1) + bytes(k, 2);
}

/* 4 multiply-adds for a complex one, log2 of each length. */
void hlo_cost_FFT(struct hlo_coster *k)
{
    int64_t lengths[HLO_RANK_MAX];
    size_t count = hlo_attr_ints(k->m, k->id, HLO_ATTR_FFT_LENGTH, lengths);
    double n = 2 * 4 * elements(k, 0);

    for (size_t i = 0; i < count; i++)
        n *= lengths[i] > 0 ? floor(log2((double)lengths[i])) : 0;
    k->cost.flops = n;
}

static double last_dim(const struct hlo_shape *s)
{
    return s && s->rank ? (double)s->dims[s->rank - 1] : 0;
}

void hlo_cost_CHOLESKY(struct hlo_coster *k)
{
    k->cost.flops = floor(last_dim(hlo_cost_operand(k, 0)) * elements(k, 0) / 3);
    k->cost.bytes = bytes(k, 0);
}

void hlo_cost_TRIANGULAR_SOLVE(struct hlo_coster *k)
{
    k->cost.flops = 2 * last_dim(hlo_cost_operand(k, 0)) * elements(k, 1);
    k->cost.bytes = (double)result(k)->bytes + bytes(k, 0) / 2 + bytes(k, 1);
}

/* Two replicas: one addition for each element. */
void hlo_cost_ALL_REDUCE(struct hlo_coster *k)
{
    k->cost.flops = all_elements(k, result(k));
}

void hlo_cost_CALL(struct hlo_coster *k)
{
    k->cost = hlo_cost_called(k, 0);
}

/* One trip: body and condition. */
void hlo_cost_WHILE(struct hlo_coster *k)
{
    k->cost = hlo_cost_called(k, 0);
    add_cost(&k->cost, hlo_cost_called(k, 1), 1);
}

/* The dearest branch, for each figure. */
void hlo_cost_CONDITIONAL(struct hlo_coster *k)
{
    k->cost = (struct hlo_cost){0, 0, 0};
    for (uint32_t n = 0; n < hlo_at(k->m, k->id)->called_count; n++) {
        struct hlo_cost c = hlo_cost_called(k, n);
        k->cost.flops = fmax(k->cost.flops, c.flops);
        k->cost.transcendentals = fmax(k->cost.transcendentals, c.transcendentals);
        k->cost.bytes = fmax(k->cost.bytes, c.bytes);
    }
}

void hlo_cost_UNKNOWN(struct hlo_coster *k)
{
    const struct hlo_special *s = hlo_special_of(k->m, k->id);

    if (s) {
        special_cost(k, s);
        return;
    }
    k->cost = (struct hlo_cost){-1, -1, -1};
}

/* ---- fusion: the memory it touches ---- */

static bool uses(const struct hlo_module *m, hlo_id user, uint32_t n, hlo_id value)
{
    return n < hlo_at(m, user)->operand_count && hlo_operand(m, user, n) == value;
}

/* Slices read their part; the other readers share one reading of the whole. */
static double parameter_bytes(const struct hlo_module *m, hlo_id p)
{
    double whole = (double)hlo_shape(m, p)->bytes, sum = 0;
    bool is_read = false;

    for (uint32_t n = 0; n < hlo_at(m, p)->user_count; n++) {
        hlo_id user = hlo_user(m, p, n);
        switch (hlo_at(m, user)->opcode) {
        case HLO_OP_SLICE:
            sum += (double)hlo_shape(m, user)->bytes;
            break;
        case HLO_OP_DYNAMIC_SLICE:
            sum += uses(m, user, 0, p) ? (double)hlo_shape(m, user)->bytes : whole;
            break;
        case HLO_OP_DYNAMIC_UPDATE_SLICE:
            sum += uses(m, user, 0, p) ? 0 : whole; /* updated in place */
            break;
        case HLO_OP_BROADCAST:
        case HLO_OP_RESHAPE:
            sum += whole;
            break;
        default:
            sum += is_read ? 0 : whole;
            is_read = true;
            break;
        }
    }
    return sum;
}

/* A dynamic-update-slice writes its update in place. */
static double written_bytes(const struct hlo_module *m, hlo_id root)
{
    if (hlo_at(m, root)->opcode == HLO_OP_DYNAMIC_UPDATE_SLICE)
        return (double)hlo_shape(m, hlo_operand(m, root, 1))->bytes;
    if (hlo_at(m, root)->opcode != HLO_OP_TUPLE)
        return (double)hlo_shape(m, root)->bytes;
    double sum = 0;
    for (uint32_t n = 0; n < hlo_at(m, root)->operand_count; n++) {
        hlo_id part = hlo_operand(m, root, n);
        bool is_update = hlo_at(m, part)->opcode == HLO_OP_DYNAMIC_UPDATE_SLICE;
        sum += (double)hlo_shape(m, is_update ? hlo_operand(m, part, 1) : part)->bytes;
    }
    return sum;
}

void hlo_cost_FUSION(struct hlo_coster *k)
{
    k->cost = hlo_cost_called(k, 0);
    if (!hlo_at(k->m, k->id)->called_count)
        return;
    const struct hlo_computation *c = &k->m->computations[hlo_called(k->m, k->id, 0)];
    k->cost.bytes = written_bytes(k->m, c->root);
    for (uint32_t n = 0; n < c->param_count; n++)
        k->cost.bytes += parameter_bytes(k->m, c->params[n]);
    for (hlo_id id = c->first; id < c->first + c->count; id++)
        if (hlo_at(k->m, id)->opcode == HLO_OP_CONSTANT && hlo_shape(k->m, id)->elements > 1)
            k->cost.bytes += (double)hlo_shape(k->m, id)->bytes;
}

/* ---- the module ---- */

typedef void (*cost_rule)(struct hlo_coster *k);
static const cost_rule rules[HLO_COST_COUNT] = {
#define X(rule) [HLO_COST_##rule] = hlo_cost_##rule,
    HLO_COST_RULES(X)
#undef X
};

static struct hlo_shape_bytes *shape_bytes(const struct hlo_module *m)
{
    struct hlo_shape_bytes *all = mem_try(m->shape_count, sizeof *all);

    for (uint32_t n = 0; all && n < m->shape_count; n++) {
        const struct hlo_shape *s = &m->shapes[n];
        all[n].leaves = leaf_bytes(m, s);
        all[n].read = s->type == HLO_TUPLE ? (double)POINTER_BYTES * s->part_count : all[n].leaves;
    }
    return all;
}

/* `k` holds all but the instruction and gets its cost. */
static void find_cost(struct hlo_coster *k, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(k->m, id);
    const hlo_id *operand = k->m->operand_pool + i->operands, *end = operand + i->operand_count;
    double sum = k->bytes[i->shape].leaves;

    for (; operand < end; operand++)
        sum += k->bytes[hlo_at(k->m, *operand)->shape].read;
    k->id = id;
    k->cost = (struct hlo_cost){.bytes = sum};
    rules[hlo_op_info[i->opcode].cost](k);
}

/* Bodies as often as they run; a condition runs once more. `once`: with each body run once. */
static struct hlo_cost with_trips(struct hlo_coster *often, hlo_id id, struct hlo_cost once)
{
    const struct hlo_module *m = often->m;
    const struct hlo_cost *computations = often->computations;

    if (!hlo_at(m, id)->called_count)
        return once;
    int64_t trips = hlo_at(m, id)->opcode == HLO_OP_WHILE ? hlo_trip_count(m, id) : -1;

    if (trips < 0) {
        find_cost(often, id);
        return often->cost;
    }
    struct hlo_cost c = {0, 0, 0};
    add_cost(&c, computations[hlo_called(m, id, 0)], (double)trips);
    add_cost(&c, computations[hlo_called(m, id, 1)], (double)trips + 1);
    return c;
}

/* Callees come before callers, so that each computation is summed once. Where costs themselves are
 * not wanted (out->instruction NULL) times become FLOP. */
static void sum_up(const struct hlo_module *m, const struct hlo_shape_bytes *shapes,
                   struct hlo_costs *out, struct hlo_cost *once, struct hlo_cost *often)
{
    struct hlo_coster k = {.m = m, .bytes = shapes, .computations = once},
                      trips = {.m = m, .bytes = shapes, .computations = often};

    for (hlo_comp c = 0; c < m->computation_count; c++) {
        const struct hlo_computation *comp = &m->computations[c];
        for (hlo_id id = comp->first; id < comp->first + comp->count; id++) {
            find_cost(&k, id);
            if (out->instruction)
                out->instruction[id] = k.cost;
            else
                out->times[id] *= k.cost.flops;
            if (k.cost.bytes < 0)
                continue; /* unknown is not added */
            add_cost(&once[c], k.cost, 1);
            add_cost(&often[c], with_trips(&trips, id, k.cost), 1);
        }
    }
    out->total = once[m->entry];
    out->total_trips = often[m->entry];
}

/* Runs of computation n of `id` in one run of `id`; 0 for what is only applied to elements. */
static double runs_of(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    switch (hlo_at(m, id)->opcode) {
    case HLO_OP_WHILE: {
        int64_t trips = hlo_trip_count(m, id);
        return trips < 0 ? 1 : (double)trips + (n == 1);
    }
    case HLO_OP_CALL:
    case HLO_OP_FUSION:
    case HLO_OP_CONDITIONAL:
    case HLO_OP_ASYNC_START:
        return 1;
    default:
        return 0;
    }
}

/* Parameters stay; so does what has an effect of its own. */
static bool stays_in_place(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->opcode == HLO_OP_PARAMETER ||
           hlo_op_info[hlo_at(m, id)->opcode].flags & HLO_OP_IS_SIDE_EFFECT;
}

struct needs {
    const struct hlo_module *m;
    bool *leaf;     /* [values] somebody needs it */
    double *needed; /* [instructions] 1: it, or a leaf of it */
    struct hlo_flows flows;
};

/* The operand that a select never takes, because its predicate is a constant or one spread: 1 or 2;
 * UINT32_MAX: either may be taken. Compilers fold such selects. */
static uint32_t never_taken(const struct hlo_module *m, hlo_id id)
{
    double predicate;

    if (hlo_at(m, id)->opcode != HLO_OP_SELECT)
        return UINT32_MAX;
    hlo_id from = hlo_operand(m, id, 0);
    while (hlo_at(m, from)->opcode == HLO_OP_BROADCAST)
        from = hlo_operand(m, from, 0);
    if (!hlo_constant_number(m, from, &predicate))
        return UINT32_MAX;
    return predicate != 0 ? 2 : 1;
}

/* Of a tuple and of an element of one only the leaves that are read on. */
static int need_operands(struct needs *w, hlo_id id, struct err *e)
{
    const struct hlo_module *m = w->m;
    uint16_t opcode = hlo_at(m, id)->opcode;
    bool passes = opcode == HLO_OP_TUPLE || opcode == HLO_OP_GET_TUPLE_ELEMENT;
    int rc = passes ? hlo_flows_of(m, id, &w->flows, e) : 0;
    uint32_t never = never_taken(m, id);

    for (size_t k = 0; !rc && passes && k < w->flows.count; k++) {
        const struct hlo_flow *f = &w->flows.items[k];
        if (!w->leaf[f->to])
            continue;
        w->leaf[f->from] = true;
        w->needed[m->value_instruction[f->from]] = 1;
    }
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id from = hlo_operand(m, id, n);
        bool has_leaves = m->leaf_base[from] < m->leaf_base[from + 1];
        if ((passes && has_leaves) || n == never)
            continue;
        w->needed[from] = 1;
        for (hlo_value v = m->leaf_base[from]; v < m->leaf_base[from + 1]; v++)
            w->leaf[v] = true;
    }
    return rc;
}

/* Of a computation, users before what they use: needed[id] becomes `runs` of what its root needs;
 * compilers drop the rest. What these call runs with them. */
static int count_runs_of(struct needs *w, const struct hlo_computation *comp, double runs,
                         double *of_computations, struct err *e)
{
    const struct hlo_module *m = w->m;
    int rc = 0;

    for (hlo_id id = comp->first + comp->count; id-- > comp->first && !rc;) {
        bool stays = id == comp->root || stays_in_place(m, id);
        for (hlo_value v = m->leaf_base[id]; stays && v < m->leaf_base[id + 1]; v++)
            w->leaf[v] = true;
        if (!stays && w->needed[id] <= 0)
            continue;
        rc = need_operands(w, id, e);
        w->needed[id] = runs;
        for (uint32_t n = 0; n < hlo_at(m, id)->called_count && runs > 0; n++) {
            double *of = &of_computations[hlo_called(m, id, n)];
            *of = least(*of + runs * runs_of(m, id, n), runs_most);
        }
    }
    return rc;
}

/* From the entry down: callers come after callees. */
static int count_runs(const struct hlo_module *m, double *times, double *runs, struct err *e)
{
    struct needs w = {.m = m, .needed = times, .leaf = mem_try((size_t)m->value_count + 1, 1)};
    int rc = w.leaf ? 0 : err_no_memory(e, "for the costs of %u instructions", m->count);

    runs[m->entry] = 1;
    for (hlo_comp c = m->computation_count; c-- > 0 && !rc;)
        rc = count_runs_of(&w, &m->computations[c], runs[c], runs, e);
    hlo_flows_release(&w.flows);
    free(w.leaf);
    return rc;
}

/* `out` holds the arrays that are wanted; what fails leaves them for the caller. */
static int fill_costs(const struct hlo_module *m, struct hlo_costs *out, struct err *e)
{
    struct hlo_cost *once = mem_try(m->computation_count, sizeof *once);
    struct hlo_cost *often = mem_try(m->computation_count, sizeof *often);
    double *runs = mem_try(m->computation_count, sizeof *runs);
    struct hlo_shape_bytes *shapes = shape_bytes(m);
    int rc = once && often && runs && shapes && out->times
                 ? 0
                 : err_no_memory(e, "for the costs of %u instructions", m->count);

    rc = rc ? rc : count_runs(m, out->times, runs, e);
    if (!rc)
        sum_up(m, shapes, out, once, often);
    free(once);
    free(often);
    free(runs);
    free(shapes);
    return rc;
}

int hlo_costs_new(const struct hlo_module *m, struct hlo_costs *out, struct err *e)
{
    *out = (struct hlo_costs){.instruction = mem_try_whole(m->count, sizeof *out->instruction),
                              .times = mem_try_whole(m->count, sizeof *out->times)};
    int rc = out->instruction ? fill_costs(m, out, e)
                              : err_no_memory(e, "for the costs of %u instructions", m->count);
    if (rc)
        hlo_costs_release(out);
    return rc;
}

int hlo_flops_new(const struct hlo_module *m, double **out, struct err *e)
{
    struct hlo_costs costs = {.times = mem_try_whole(m->count, sizeof *costs.times)};
    int rc = fill_costs(m, &costs, e);

    if (rc)
        hlo_costs_release(&costs);
    *out = costs.times;
    return rc;
}

void hlo_costs_release(struct hlo_costs *c)
{
    free(c->instruction);
    free(c->times);
    memset(c, 0, sizeof *c);
}
