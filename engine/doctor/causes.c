/* From evidence to a cause: the partitioner's patterns, the surest first. */
#define _GNU_SOURCE /* memmem */
#include "engine/doctor/causes.h"

#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/moves.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <string.h>

/* The names JAX gives collectives that a person writes in shard_map or pmap. */
static bool is_by_hand(const struct evidence *v)
{
    static const char *const names[] = {"psum",       "psum2",          "psum_invariant",
                                        "pmax",       "pmin",           "pmean",
                                        "ppermute",   "all_gather",     "all_gather_invariant",
                                        "all_to_all", "reduce_scatter", "psum_scatter",
                                        "pbroadcast"};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (!strcmp(v->primitive, names[k]))
            return true;
    }
    return v->m->replica_count > 1 && v->m->num_partitions <= 1; /* pmap: nothing was partitioned */
}

static bool is_output(const struct evidence *v)
{
    return !*v->primitive;
}

/* Halves of counters that threefry puts together again, before they were made partitionable. */
static bool is_random(const struct evidence *v)
{
    static const char *const words[] = {"threefry", "random_bits", "_bernoulli",
                                        "_uniform", "_normal",     "rng_bit"};
    char class = hlo_type_info[hlo_shape(v->m, v->id)->type].class;
    bool drawn = false;

    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        drawn = drawn || evidence_says(v->m, v->speaker, words[k]);
    return drawn && (class == 'U' || class == 'I' || v->kind == COLLECTIVE_PERMUTE);
}

/* Rows that each device answers for are masked too, whatever call has made the row numbers. */
static bool sums_rows(const struct evidence *v)
{
    return v->opcode == HLO_OP_GATHER || v->opcode == HLO_OP_SCATTER || v->opcode == HLO_OP_DOT;
}

static bool is_host(const struct evidence *v)
{
    return strstr(v->primitive, "callback") || (v->call != HLO_NONE && !sums_rows(v));
}

static bool is_one_device(const struct evidence *v)
{
    return v->kind == COLLECTIVE_ALL_REDUCE && v->is_masked && !sums_rows(v);
}

/* What is moved was made by the instruction it serves: that has had its operands already. */
static bool moves_result(const struct evidence *v)
{
    const struct hlo_module *m = v->m;
    hlo_id from = v->source;

    if (from == HLO_NONE)
        return false;
    for (int n = 0; n < 8 && moves_fusion(m, from, true); n++) /* slices, compiled */
        from = moves_up(m, hlo_operand(m, from, 0));
    return from == v->op || (moves_holds(m, from, v->opcode) &&
                             evidence_frame(m, from) == evidence_frame(m, v->speaker) &&
                             !strcmp(hlo_meta(m, from)->op_name, hlo_meta(m, v->speaker)->op_name));
}

static bool is_gather(const struct evidence *v)
{
    return v->opcode == HLO_OP_GATHER && (v->kind == COLLECTIVE_ALL_REDUCE || !moves_result(v));
}

/* Partial rows are summed, and the row numbers, integers, were gathered for that. */
static bool is_gather_rows(const struct evidence *v)
{
    char class = hlo_type_info[hlo_shape(v->m, v->id)->type].class;

    return is_gather(v) && (v->kind == COLLECTIVE_ALL_REDUCE ||
                            (v->kind == COLLECTIVE_ALL_GATHER && strchr("UI", class)));
}

bool doctor_gathers_rows(const struct evidence *v)
{
    return v->opcode == HLO_OP_SCATTER && v->kind == COLLECTIVE_ALL_GATHER && v->op != HLO_NONE &&
           v->slot != 0 && !moves_result(v);
}

static bool is_scatter(const struct evidence *v)
{
    return v->opcode == HLO_OP_SCATTER &&
           (v->kind == COLLECTIVE_ALL_REDUCE || v->kind == COLLECTIVE_REDUCE_SCATTER ||
            doctor_gathers_rows(v));
}

/* Argmax gathers what each device found in place of a sum. */
static bool is_partial(const struct evidence *v)
{
    return v->kind == COLLECTIVE_ALL_REDUCE || v->kind == COLLECTIVE_REDUCE_SCATTER ||
           (v->kind == COLLECTIVE_ALL_GATHER && v->opcode == HLO_OP_REDUCE &&
            (v->slot < 0 || v->is_reduced));
}

static bool is_halo(const struct evidence *v)
{
    bool is_edge = v->source != HLO_NONE && hlo_at(v->m, v->source)->opcode == HLO_OP_SLICE;

    return v->kind == COLLECTIVE_PERMUTE &&
           (v->groups->is_shift || is_edge || v->opcode == HLO_OP_CONVOLUTION ||
            v->opcode == HLO_OP_SLICE || v->opcode == HLO_OP_PAD ||
            v->opcode == HLO_OP_REDUCE_WINDOW);
}

static bool works_along_dims(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_SORT:
    case HLO_OP_REDUCE_WINDOW:
    case HLO_OP_CONCATENATE:
    case HLO_OP_FFT:
    case HLO_OP_CHOLESKY:
    case HLO_OP_TRIANGULAR_SOLVE:
    case HLO_OP_REVERSE:
    case HLO_OP_CUSTOM_CALL:
    case HLO_OP_SELECT_AND_SCATTER:
    case HLO_OP_DYNAMIC_SLICE:
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
    case HLO_OP_TOPK:
        return true;
    default:
        return false;
    }
}

/* Whether `part`, which a slice takes out of its operand or puts there, is less than all of a dim.
 */
static bool takes_part(const struct hlo_module *m, hlo_id slice, hlo_id part, int64_t dim)
{
    return hlo_shape(m, part)->dims[dim] < hlo_shape(m, hlo_operand(m, slice, 0))->dims[dim];
}

bool doctor_works_along(const struct hlo_module *m, hlo_id op, int64_t dim)
{
    const struct hlo_attr *window = hlo_attr(m, op, HLO_ATTR_WINDOW);
    uint8_t rank = hlo_at(m, op)->operand_count ? hlo_shape(m, hlo_operand(m, op, 0))->rank : 0;
    int64_t dims[HLO_RANK_MAX];
    struct hlo_window w;

    switch (hlo_at(m, op)->opcode) {
    case HLO_OP_SORT:
    case HLO_OP_CONCATENATE:
    case HLO_OP_REVERSE:
        for (size_t n = hlo_attr_ints(m, op, HLO_ATTR_DIMENSIONS, dims); n-- > 0;) {
            if (dims[n] == dim)
                return true;
        }
        return false;
    case HLO_OP_REDUCE_WINDOW:
    case HLO_OP_SELECT_AND_SCATTER:
        return !window || !hlo_parse_window(window->text, window->size, &w) || dim >= w.rank ||
               w.size[dim] > 1;
    case HLO_OP_CHOLESKY:
    case HLO_OP_TRIANGULAR_SOLVE:
        return dim + 2 >= rank;
    case HLO_OP_FFT:
        return dim + (int64_t)hlo_attr_ints(m, op, HLO_ATTR_FFT_LENGTH, dims) >= rank;
    case HLO_OP_DYNAMIC_SLICE:
        return dim >= rank || takes_part(m, op, op, dim);
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
        return dim >= rank || takes_part(m, op, hlo_operand(m, op, 1), dim);
    default:
        return true;
    }
}

/* What is solved for, gathered along the dim of which each column is a solution of its own (with
 * the matrix on the right, each row): devices can share these. */
static bool is_of_solutions(const struct evidence *v)
{
    const struct hlo_attr *side = hlo_attr(v->m, v->op, HLO_ATTR_BACKEND_CONFIG);
    bool is_right = hlo_attr_is(v->m, v->op, HLO_ATTR_LEFT_SIDE, "false") ||
                    (side && memmem(side->text, side->size, "side = 82", 9)); /* 'R' */

    return !strcmp(v->primitive, "triangular_solve") && v->slot == 1 && v->dim >= 0 &&
           hlo_shape(v->m, v->id)->rank - v->dim == (is_right ? 2 : 1);
}

bool doctor_has_no_batch(const struct evidence *v)
{
    static const char *const libraries[] = {"lapack", "cusolver",        "hipsolver",
                                            "cublas", "magma",           "Qr",
                                            "Eigh",   "LuDecomposition", "ProductOfElementary"};
    const struct hlo_attr *target;
    bool solves = false;

    if (v->op == HLO_NONE || !hlo_at(v->m, v->op)->operand_count ||
        hlo_shape(v->m, hlo_operand(v->m, v->op, 0))->rank > 2 || is_of_solutions(v))
        return false;
    switch (hlo_at(v->m, v->op)->opcode) {
    case HLO_OP_CHOLESKY:
    case HLO_OP_TRIANGULAR_SOLVE:
        return true;
    case HLO_OP_CUSTOM_CALL:
        break;
    default:
        return false;
    }
    target = hlo_attr(v->m, v->op, HLO_ATTR_CUSTOM_CALL_TARGET);
    for (size_t k = 0; target && k < sizeof libraries / sizeof *libraries; k++)
        solves = solves || memmem(target->text, target->size, libraries[k], strlen(libraries[k]));
    return solves;
}

/* A slice along other dims than the gathered one needs no gather: something else asked for it. */
static bool is_slice_elsewhere(const struct evidence *v)
{
    return (v->opcode == HLO_OP_DYNAMIC_SLICE || v->opcode == HLO_OP_DYNAMIC_UPDATE_SLICE) &&
           v->kind == COLLECTIVE_ALL_GATHER && v->op != HLO_NONE && v->dim >= 0 &&
           !doctor_works_along(v->m, v->op, v->dim);
}

/* Whole tiles change places, for no operation that puts rows elsewhere. */
static bool is_order(const struct evidence *v)
{
    return v->kind == COLLECTIVE_PERMUTE && !works_along_dims(v->opcode) &&
           v->opcode != HLO_OP_RESHAPE;
}

static bool is_unsplit(const struct evidence *v)
{
    return works_along_dims(v->opcode) && !is_slice_elsewhere(v);
}

/* Whether the dim `dim` of one side of a reshape is a dim of the other too. */
static bool keeps_dim(const struct hlo_shape *from, const struct hlo_shape *to, int64_t dim)
{
    int64_t before = 1, there = 1;
    uint8_t k = 0;

    for (int64_t d = 0; d < dim; d++)
        before *= from->dims[d];
    while (k < to->rank && there < before)
        there *= to->dims[k++];
    while (k < to->rank && to->dims[k] == 1 && from->dims[dim] != 1)
        k++;
    return there == before && k < to->rank && to->dims[k] == from->dims[dim];
}

bool doctor_reshape_keeps(const struct hlo_module *m, hlo_id reshape, uint8_t rank, int64_t dim)
{
    if (reshape == HLO_NONE || hlo_at(m, reshape)->opcode != HLO_OP_RESHAPE || dim < 0 ||
        dim >= rank)
        return false;
    const struct hlo_shape *in = hlo_shape(m, hlo_operand(m, reshape, 0));
    const struct hlo_shape *out = hlo_shape(m, reshape);
    return (in->rank == rank && keeps_dim(in, out, dim)) ||
           (in->rank != rank && out->rank == rank && keeps_dim(out, in, dim));
}

/* A dim that the reshape leaves alone is gathered for the constraint behind it. */
static bool is_reshape(const struct evidence *v)
{
    return v->opcode == HLO_OP_RESHAPE &&
           !(v->asks != HLO_NONE && v->kind == COLLECTIVE_ALL_GATHER &&
             doctor_reshape_keeps(v->m, v->op, hlo_shape(v->m, v->id)->rank, v->dim));
}

/* A product of batches, or of a value with itself, has no weight. */
static bool is_of_activations(const struct evidence *v)
{
    const struct hlo_module *m = v->m;
    int64_t dims[HLO_RANK_MAX];

    if (v->op == HLO_NONE || hlo_at(m, v->op)->opcode != HLO_OP_DOT)
        return false;
    return hlo_attr_ints(m, v->op, HLO_ATTR_LHS_BATCH_DIMS, dims) > 0 ||
           moves_operand(m, v->op, 0) == v->source || moves_operand(m, v->op, 1) == v->source;
}

/* The kernel of x @ w is the second operand; names tell the rest. */
static bool is_weight(const struct evidence *v)
{
    if (v->kind == COLLECTIVE_ALL_GATHER && v->is_vector && !v->is_sliced &&
        hlo_op_info[v->opcode].flags & HLO_OP_IS_ELEMENTWISE)
        return true;
    return v->kind == COLLECTIVE_ALL_GATHER && v->is_stored && !v->is_sliced &&
           (v->opcode == HLO_OP_DOT || v->opcode == HLO_OP_CONVOLUTION) &&
           (evidence_is_weight(v->stored) || (v->slot == 1 && !is_of_activations(v)));
}

bool doctor_contracts(const struct evidence *v)
{
    int64_t dims[HLO_RANK_MAX];

    if (v->op == HLO_NONE || hlo_at(v->m, v->op)->opcode != HLO_OP_DOT || v->slot < 0)
        return false;
    size_t count = hlo_attr_ints(
        v->m, v->op, v->slot ? HLO_ATTR_RHS_CONTRACTING_DIMS : HLO_ATTR_LHS_CONTRACTING_DIMS, dims);
    /* Compiled, the first dims may have been merged: dims are counted from the last. */
    int64_t from_last = hlo_shape(v->m, v->id)->rank - v->dim;
    uint8_t rank = hlo_shape(v->m, hlo_operand(v->m, v->op, (uint32_t)v->slot))->rank;
    for (size_t k = 0; k < count; k++) {
        if (rank - dims[k] == from_last)
            return true;
    }
    return false;
}

static bool is_operand(const struct evidence *v)
{
    return v->kind == COLLECTIVE_ALL_GATHER && v->opcode == HLO_OP_DOT && !v->is_sliced &&
           doctor_contracts(v);
}

static bool is_rows(const struct evidence *v)
{
    return v->kind == COLLECTIVE_ALL_GATHER && v->opcode == HLO_OP_DOT && v->slot >= 0;
}

static bool is_remat(const struct evidence *v)
{
    return v->kind == COLLECTIVE_ALL_GATHER && v->is_sliced && !v->is_asked_so;
}

bool doctor_is_batched(const struct hlo_module *m, hlo_id op)
{
    int64_t dims[HLO_RANK_MAX];

    return op != HLO_NONE && hlo_at(m, op)->opcode == HLO_OP_DOT &&
           (hlo_attr_ints(m, op, HLO_ATTR_LHS_BATCH_DIMS, dims) > 0 || hlo_shape(m, op)->rank > 3);
}

bool doctor_is_of_tables(const struct hlo_module *m, hlo_id op)
{
    int64_t dims[HLO_RANK_MAX];

    return op != HLO_NONE && hlo_at(m, op)->opcode == HLO_OP_GATHER &&
           hlo_attr_ints(m, op, HLO_ATTR_OPERAND_BATCHING_DIMS, dims) > 0 &&
           hlo_at(m, moves_operand(m, op, 0))->opcode == HLO_OP_PARAMETER;
}

/* The value that a broadcast inside `op` repeats: operand `n`; HLO_NONE: it is not repeated. */
static hlo_id spread_by(const struct hlo_module *m, hlo_id op, uint32_t n)
{
    hlo_id id = hlo_operand(m, op, n);

    for (int k = 0; k < 8 && hlo_at(m, id)->operand_count &&
                    (moves_only(m, id) || hlo_at(m, id)->opcode == HLO_OP_ALL_TO_ALL);
         k++)
        id = hlo_operand(m, id, 0);
    return hlo_at(m, id)->opcode == HLO_OP_BROADCAST ? id : HLO_NONE;
}

/* Whether a broadcast puts a dim of `size` rows (0: any but one) where the other has none. */
static bool has_own_dim(const struct hlo_module *m, hlo_id broadcast, hlo_id other, int64_t size)
{
    const struct hlo_shape *s = hlo_shape(m, broadcast);
    int64_t mine[HLO_RANK_MAX], theirs[HLO_RANK_MAX];
    size_t count = hlo_attr_ints(m, broadcast, HLO_ATTR_DIMENSIONS, mine);
    size_t others = hlo_attr_ints(m, other, HLO_ATTR_DIMENSIONS, theirs);

    for (size_t k = 0; k < count; k++) {
        int64_t rows = mine[k] >= 0 && mine[k] < s->rank ? s->dims[mine[k]] : 1;
        bool is_own = rows != 1 && (!size || rows == size);
        for (size_t n = 0; n < others; n++)
            is_own = is_own && theirs[n] != mine[k];
        if (is_own)
            return true;
    }
    return false;
}

/* Made of an iota or a constant: no value that lies anywhere. */
static bool is_counted(const struct hlo_module *m, hlo_id id)
{
    for (int k = 0; k < 16; k++) {
        uint16_t opcode = hlo_at(m, id = moves_up(m, id))->opcode;
        if (opcode == HLO_OP_IOTA || opcode == HLO_OP_CONSTANT)
            return true;
        if ((opcode != HLO_OP_BROADCAST && !(hlo_op_info[opcode].flags & HLO_OP_IS_ELEMENTWISE)) ||
            !hlo_at(m, id)->operand_count)
            return false;
        id = hlo_operand(m, id, 0);
    }
    return false;
}

bool doctor_is_of_pairs(const struct hlo_module *m, hlo_id op, int64_t rows)
{
    if (op == HLO_NONE || !(hlo_op_info[hlo_at(m, op)->opcode].flags & HLO_OP_IS_ELEMENTWISE) ||
        hlo_at(m, op)->operand_count != 2)
        return false;
    hlo_id a = spread_by(m, op, 0), b = spread_by(m, op, 1);
    if (a == HLO_NONE || b == HLO_NONE || is_counted(m, a) || is_counted(m, b))
        return false;
    return (has_own_dim(m, a, b, rows) && has_own_dim(m, b, a, 0)) ||
           (has_own_dim(m, b, a, rows) && has_own_dim(m, a, b, 0));
}

bool doctor_makes_pairs(const struct evidence *v)
{
    const struct hlo_shape *whole = hlo_shape(v->m, v->id);

    if (v->is_paired)
        return true;
    if (v->kind == COLLECTIVE_ALL_TO_ALL)
        return doctor_is_of_pairs(v->m, v->op, 0);
    return v->kind == COLLECTIVE_ALL_GATHER && v->dim >= 0 && v->dim < whole->rank &&
           doctor_is_of_pairs(v->m, v->op, whole->dims[v->dim]);
}

static bool is_dispatch(const struct evidence *v)
{
    return v->kind == COLLECTIVE_ALL_TO_ALL && !v->is_stored &&
           (doctor_is_batched(v->m, v->op) || doctor_is_of_tables(v->m, v->op));
}

static bool is_asked(const struct evidence *v)
{
    return (!strcmp(v->primitive, "sharding_constraint") || !strcmp(v->primitive, "shard_map")) &&
           (!v->is_sliced || v->is_asked_so);
}

static bool is_constraint(const struct evidence *v)
{
    return v->asks != HLO_NONE || !strcmp(v->primitive, "sharding_constraint");
}

/* Nothing but the split of the result asks for all of one operand: the other lies whole, and is
 * cut to fit that. */
static bool is_output_product(const struct evidence *v)
{
    return is_rows(v) && v->slot < 2 && v->asks == HLO_NONE && v->is_handed_out &&
           evidence_is_piece(v->m, moves_operand(v->m, v->op, v->slot == 0 ? 1 : 0));
}

/* One value comes in, and it goes out as the result alone: out_shardings says how. */
static bool is_output_late(const struct evidence *v)
{
    return v->asks == HLO_NONE && v->is_alone && v->is_handed_out;
}

static bool is_mismatch(const struct evidence *v)
{
    return v->opcode != HLO_OP_UNKNOWN || *v->primitive;
}

static const struct {
    bool (*fits)(const struct evidence *v);
    enum doctor_cause cause;
} rules[] = {
    {is_by_hand, DOCTOR_BY_HAND},       {is_output, DOCTOR_OUTPUT},
    {is_random, DOCTOR_RANDOM},         {is_host, DOCTOR_HOST},
    {is_one_device, DOCTOR_ONE_DEVICE}, {is_gather_rows, DOCTOR_GATHER_ROWS},
    {is_gather, DOCTOR_GATHER_ANY},     {is_scatter, DOCTOR_SCATTER},
    {is_partial, DOCTOR_PARTIAL},       {is_halo, DOCTOR_HALO},
    {is_order, DOCTOR_ORDER},           {is_asked, DOCTOR_CONSTRAINT},
    {is_unsplit, DOCTOR_UNSPLIT},       {is_reshape, DOCTOR_RESHAPE},
    {is_remat, DOCTOR_REMAT},           {is_weight, DOCTOR_WEIGHT},
    {is_operand, DOCTOR_OPERAND},       {is_dispatch, DOCTOR_DISPATCH},
    {is_constraint, DOCTOR_CONSTRAINT}, {is_output_product, DOCTOR_OUTPUT},
    {is_rows, DOCTOR_OPERAND},          {doctor_makes_pairs, DOCTOR_OPERAND},
    {is_output_late, DOCTOR_OUTPUT},    {is_mismatch, DOCTOR_MISMATCH},
};

enum doctor_cause doctor_cause_of(const struct evidence *v, double trips)
{
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        if (!rules[k].fits(v))
            continue;
        bool repeated = !(trips <= 1);
        bool moves = rules[k].cause == DOCTOR_CONSTRAINT || rules[k].cause == DOCTOR_MISMATCH;
        return repeated && moves ? DOCTOR_LOOP : rules[k].cause;
    }
    return DOCTOR_UNKNOWN;
}
