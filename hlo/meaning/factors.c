/* hlo/meaning/factors.c - asks the rule of an opcode for its factors; rules in which dims keep
 * their place.
 */
#include "hlo/meaning/factors.h"
#include "hlo/meaning/factors_internal.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/module/special.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const hlo_factor_rule rules[HLO_FACTORS_COUNT] = {
#define X(rule) [HLO_FACTORS_##rule] = hlo_factors_##rule,
    HLO_FACTOR_RULES(X)
#undef X
};

/* ---- writing factors ---- */

struct hlo_factor *hlo_factor_begin(struct hlo_maker *k, int64_t size, enum hlo_factor_kind kind)
{
    struct hlo_factors *f = k->f;
    size_t used = (size_t)f->count * f->leaf_count;

    k->is_open = false;
    if (size < 2 || k->failed)
        return NULL;
    if (!mem_grow(&f->items, &f->items_room, f->count, 1) ||
        !mem_grow(&f->dims, &f->dims_room, used, f->leaf_count)) {
        k->failed = true;
        return NULL;
    }
    memset(f->dims + used, -1, f->leaf_count);
    f->items[f->count] = (struct hlo_factor){.size = size, .kind = (uint8_t)kind};
    k->is_open = true;
    return &f->items[f->count++];
}

void hlo_factor_begin_reduce(struct hlo_maker *k, int64_t size, enum hlo_combiner c)
{
    struct hlo_factor *f = hlo_factor_begin(k, size, HLO_FACTOR_REDUCE);

    if (f)
        f->combiner = (uint8_t)c;
}

void hlo_factor_bind(struct hlo_maker *k, uint32_t leaf, int64_t dim)
{
    struct hlo_factors *f = k->f;

    if (!k->is_open)
        return;
    if (leaf >= f->leaf_count ||
        hlo_dim(hlo_leaf_shape(k, leaf), dim) < f->items[f->count - 1].size) {
        f->count--;
        k->is_open = false;
        return;
    }
    f->dims[(size_t)(f->count - 1) * f->leaf_count + leaf] = (int8_t)dim;
}

const struct hlo_shape *hlo_result_shape(const struct hlo_maker *k, uint32_t leaf)
{
    return &k->m->shapes[hlo_shape(k->m, k->id)->leaves[leaf]];
}

const struct hlo_shape *hlo_leaf_shape(const struct hlo_maker *k, uint32_t leaf)
{
    if (leaf < k->operands)
        return hlo_shape(k->m, hlo_operand(k->m, k->id, leaf));
    return hlo_result_shape(k, leaf - k->operands);
}

int64_t hlo_dim(const struct hlo_shape *s, int64_t d)
{
    return d >= 0 && d < s->rank ? s->dims[d] : -1;
}

void hlo_mark_dims(struct hlo_maker *k, enum hlo_attr_key key, bool marks[static HLO_RANK_MAX])
{
    int64_t dims[HLO_RANK_MAX];
    size_t count = hlo_attr_ints(k->m, k->id, key, dims);

    for (size_t i = 0; i < count; i++)
        if (dims[i] >= 0 && dims[i] < HLO_RANK_MAX)
            marks[dims[i]] = true;
}

void hlo_factor_same_dims(struct hlo_maker *k, const bool blocked[static HLO_RANK_MAX],
                          uint32_t operands)
{
    const struct hlo_shape *r = hlo_result_shape(k, 0);

    for (uint8_t d = 0; d < r->rank; d++) {
        if (blocked[d] || !hlo_factor_begin(k, r->dims[d], HLO_FACTOR_PASS))
            continue;
        for (uint32_t leaf = 0; leaf < k->operands + k->results; leaf++) {
            const struct hlo_shape *s = hlo_leaf_shape(k, leaf);
            if ((leaf < operands || leaf >= k->operands) && s->rank == r->rank &&
                s->dims[d] == r->dims[d])
                hlo_factor_bind(k, leaf, d);
        }
    }
}

/* ---- asking ---- */

static bool operands_are_arrays(const struct hlo_module *m, hlo_id id)
{
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        const struct hlo_shape *s = hlo_shape(m, hlo_operand(m, id, n));
        if (s->leaf_count != 1 || s->type == HLO_TUPLE)
            return false;
    }
    return true;
}

/* Those of a rule file. */
static void kernel_factors(struct hlo_maker *k, const struct hlo_kernel *kernel)
{
    for (uint32_t n = 0; n < kernel->factor_count; n++) {
        const struct hlo_kernel_factor *from = &kernel->factors[n];
        if (from->kind == HLO_FACTOR_REDUCE)
            hlo_factor_begin_reduce(k, from->size, (enum hlo_combiner)from->combiner);
        else {
            struct hlo_factor *f = hlo_factor_begin(k, from->size, from->kind);
            if (f)
                f->combiner = from->combiner;
        }
        for (uint32_t leaf = 0; leaf < kernel->leaves && leaf < k->f->leaf_count; leaf++) {
            if (from->dims[leaf] >= 0)
                hlo_factor_bind(k, leaf, from->dims[leaf]);
        }
    }
}

int hlo_factors_of(const struct hlo_module *m, hlo_id id, struct hlo_factors *f, struct err *e)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    struct hlo_maker k = {.m = m,
                          .id = id,
                          .f = f,
                          .operands = i->operand_count,
                          .results = hlo_shape(m, id)->leaf_count};
    uint8_t rule = hlo_op_info[i->opcode].factors;

    f->count = 0;
    f->operand_leaves = 0;
    for (uint32_t n = 0; n < i->operand_count; n++)
        f->operand_leaves += hlo_shape(m, hlo_operand(m, id, n))->leaf_count;
    f->leaf_count = f->operand_leaves + k.results;
    if (rule == HLO_FACTORS_NONE || !k.results || !operands_are_arrays(m, id))
        return 0;
    if (hlo_kernel_of(m, id))
        kernel_factors(&k, hlo_kernel_of(m, id));
    else
        rules[rule](&k);
    if (k.failed)
        return err_no_memory(e, "for the factors of an instruction");
    for (uint32_t n = 0; n < f->count; n++)
        f->items[n].dims = f->dims + (size_t)n * f->leaf_count;
    return 0;
}

void hlo_factors_release(struct hlo_factors *f)
{
    free(f->items);
    free(f->dims);
    memset(f, 0, sizeof *f);
}

hlo_value hlo_factors_value(const struct hlo_module *m, hlo_id id, uint32_t leaf)
{
    uint32_t operands = hlo_at(m, id)->operand_count;

    if (!hlo_at(m, id)->takes_tuples)
        return leaf < operands ? hlo_value_of(m, hlo_operand(m, id, leaf), 0)
                               : hlo_value_of(m, id, leaf - operands);
    for (uint32_t n = 0; n < operands; n++) {
        hlo_id operand = hlo_operand(m, id, n);
        uint32_t leaves = hlo_shape(m, operand)->leaf_count;
        if (leaf < leaves)
            return hlo_value_of(m, operand, leaf);
        leaf -= leaves;
    }
    return hlo_value_of(m, id, leaf);
}

bool hlo_is_convolution(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->opcode == HLO_OP_CONVOLUTION;
}

/* ---- rules: dims keep their place ---- */

void hlo_factors_NONE(struct hlo_maker *k)
{
    (void)k;
}

/* Made from nothing (iota, random numbers): each dim on its own. */
void hlo_factors_RESULT(struct hlo_maker *k)
{
    for (uint8_t d = 0; d < hlo_result_shape(k, 0)->rank; d++) {
        hlo_factor_begin(k, hlo_result_shape(k, 0)->dims[d], HLO_FACTOR_PASS);
        hlo_factor_bind(k, k->operands, d);
    }
}

/* (state, bits): the state stays whole, the last leaf splits. */
void hlo_factors_RNG_BITS(struct hlo_maker *k)
{
    const struct hlo_shape *bits = hlo_result_shape(k, k->results - 1);

    for (uint8_t d = 0; d < bits->rank; d++) {
        hlo_factor_begin(k, bits->dims[d], HLO_FACTOR_PASS);
        hlo_factor_bind(k, k->operands + k->results - 1, d);
    }
}

void hlo_factors_ELEMENTWISE(struct hlo_maker *k)
{
    const bool blocked[HLO_RANK_MAX] = {false};

    hlo_factor_same_dims(k, blocked, k->operands);
}

/* Several arrays side by side: operand n with result leaf n. */
void hlo_factors_PAIRWISE(struct hlo_maker *k)
{
    for (uint32_t n = 0; n < k->operands && n < k->results; n++) {
        const struct hlo_shape *r = hlo_result_shape(k, n);
        for (uint8_t d = 0; d < r->rank; d++) {
            if (hlo_dim(hlo_leaf_shape(k, n), d) != r->dims[d])
                continue;
            hlo_factor_begin(k, r->dims[d], HLO_FACTOR_PASS);
            hlo_factor_bind(k, n, d);
            hlo_factor_bind(k, k->operands + n, d);
        }
    }
}

/* operand[d0, d1, ..] -> result dims given; new dims on the result alone. */
void hlo_factors_BROADCAST(struct hlo_maker *k)
{
    const struct hlo_shape *s = hlo_leaf_shape(k, 0), *r = hlo_result_shape(k, 0);
    int64_t to[HLO_RANK_MAX];
    size_t count = hlo_attr_ints(k->m, k->id, HLO_ATTR_DIMENSIONS, to);

    if (count != s->rank)
        return;
    for (uint8_t d = 0; d < r->rank; d++) {
        hlo_factor_begin(k, r->dims[d], HLO_FACTOR_PASS);
        for (size_t i = 0; i < count; i++)
            if (to[i] == d)
                hlo_factor_bind(k, 0, (int64_t)i);
        hlo_factor_bind(k, 1, d);
    }
}

void hlo_factors_TRANSPOSE(struct hlo_maker *k)
{
    const struct hlo_shape *r = hlo_result_shape(k, 0);
    int64_t from[HLO_RANK_MAX];

    if (hlo_attr_ints(k->m, k->id, HLO_ATTR_DIMENSIONS, from) != r->rank)
        return;
    for (uint8_t d = 0; d < r->rank; d++) {
        hlo_factor_begin(k, r->dims[d], HLO_FACTOR_PASS);
        hlo_factor_bind(k, 0, from[d]);
        hlo_factor_bind(k, 1, d);
    }
}

/* f32[2,3] <-> u8[2,3,4]: the common dims; the bytes of an element stay together. */
void hlo_factors_BITCAST_CONVERT(struct hlo_maker *k)
{
    const struct hlo_shape *s = hlo_leaf_shape(k, 0), *r = hlo_result_shape(k, 0);

    for (uint8_t d = 0; d < s->rank && d < r->rank; d++) {
        if (s->dims[d] != r->dims[d])
            continue;
        hlo_factor_begin(k, r->dims[d], HLO_FACTOR_PASS);
        hlo_factor_bind(k, 0, d);
        hlo_factor_bind(k, 1, d);
    }
}

void hlo_factors_REVERSE(struct hlo_maker *k)
{
    bool blocked[HLO_RANK_MAX] = {false};

    hlo_mark_dims(k, HLO_ATTR_DIMENSIONS, blocked);
    hlo_factor_same_dims(k, blocked, k->operands);
}

void hlo_factors_CONCATENATE(struct hlo_maker *k)
{
    hlo_factors_REVERSE(k); /* all dims but the named one */
}

void hlo_factors_SORT(struct hlo_maker *k)
{
    hlo_factors_REVERSE(k); /* all operands and results together */
}

void hlo_factors_PAD(struct hlo_maker *k)
{
    const struct hlo_attr *a = hlo_attr(k->m, k->id, HLO_ATTR_PADDING);
    int64_t pad[HLO_RANK_MAX][3];
    bool blocked[HLO_RANK_MAX] = {false};
    size_t count = 0;

    if (!a || !hlo_parse_padding(a->text, a->size, pad, HLO_RANK_MAX, &count))
        count = 0;
    for (size_t d = 0; d < HLO_RANK_MAX; d++) /* -1_1 keeps the size and moves the rows */
        blocked[d] = d >= count || pad[d][0] || pad[d][1] || pad[d][2];
    hlo_factor_same_dims(k, blocked, 1);
}

void hlo_factors_SLICE(struct hlo_maker *k)
{
    const struct hlo_shape *s = hlo_leaf_shape(k, 0);
    bool blocked[HLO_RANK_MAX] = {false};

    /* As many rows as the operand has, with any legal stride, are all of them. */
    for (uint8_t d = 0; d < s->rank; d++)
        blocked[d] = s->dims[d] != hlo_dim(hlo_result_shape(k, 0), d);
    hlo_factor_same_dims(k, blocked, 1);
}

void hlo_factors_DIMENSION_SIZE(struct hlo_maker *k)
{
    const struct hlo_shape *s = hlo_leaf_shape(k, 0);
    bool blocked[HLO_RANK_MAX] = {false};

    hlo_mark_dims(k, HLO_ATTR_DIMENSIONS, blocked);
    if (hlo_at(k->m, k->id)->opcode == HLO_OP_SET_DIMENSION_SIZE) {
        hlo_factor_same_dims(k, blocked, 1);
        return;
    }
    for (uint8_t d = 0; d < s->rank; d++) {
        if (blocked[d])
            continue;
        hlo_factor_begin(k, s->dims[d], HLO_FACTOR_PASS); /* the answer is the same everywhere */
        hlo_factor_bind(k, 0, d);
    }
}

/* Works on the last `inner` dims; those before them are batch. */
static void batch_dims(struct hlo_maker *k, size_t inner)
{
    size_t rank = hlo_leaf_shape(k, 0)->rank;

    for (size_t d = 0; d + inner < rank; d++) {
        int64_t size = hlo_leaf_shape(k, 0)->dims[d];
        hlo_factor_begin(k, size, HLO_FACTOR_PASS);
        for (uint32_t leaf = 0; leaf < k->operands + k->results; leaf++)
            if (hlo_dim(hlo_leaf_shape(k, leaf), (int64_t)d) == size)
                hlo_factor_bind(k, leaf, (int64_t)d);
    }
}

void hlo_factors_TOPK(struct hlo_maker *k)
{
    batch_dims(k, 1);
}

void hlo_factors_MATRIX(struct hlo_maker *k)
{
    batch_dims(k, 2);
}

void hlo_factors_FFT(struct hlo_maker *k)
{
    int64_t lengths[HLO_RANK_MAX];
    size_t inner = hlo_attr_ints(k->m, k->id, HLO_ATTR_FFT_LENGTH, lengths);

    if (inner)
        batch_dims(k, inner);
}

/* Operand n becomes result first + n: dims of one size that are not blocked pass. */
static void paired_dims(struct hlo_maker *k, uint32_t first, const bool blocked[HLO_RANK_MAX])
{
    for (uint32_t n = 0; n < k->operands && first + n < k->results; n++) {
        const struct hlo_shape *s = hlo_leaf_shape(k, n);
        for (uint8_t d = 0; d < s->rank; d++) {
            if (blocked[d] || s->dims[d] != hlo_dim(hlo_result_shape(k, first + n), d))
                continue;
            hlo_factor_begin(k, s->dims[d], HLO_FACTOR_PASS);
            hlo_factor_bind(k, n, d);
            hlo_factor_bind(k, k->operands + first + n, d);
        }
    }
}

/* all-gather, reduce-scatter, all-to-all: the named dim changes, the others pass. */
void hlo_factors_COLLECTIVE_DIM(struct hlo_maker *k)
{
    bool blocked[HLO_RANK_MAX] = {false};
    bool is_start = k->results != k->operands; /* ((operands), (results), context ..) */

    if (is_start && k->results < 2 * k->operands)
        return;
    hlo_mark_dims(k, HLO_ATTR_DIMENSIONS, blocked);
    paired_dims(k, is_start ? k->operands : 0, blocked);
}

/* Targets whose meaning is known; the others must run whole. Identities are flows. */
void hlo_factors_CUSTOM_CALL(struct hlo_maker *k)
{
    static const struct {
        const char *target;
        uint8_t inner; /* dims it works on */
    } known[] = {
        {"TopK", 1},
        {"mhlo.topk", 1},
        {"Eigh", 2},
        {"Qr", 2},
        {"ProductOfElementaryHouseholderReflectors", 2},
    };

    if (hlo_special_of(k->m, k->id)) {
        hlo_factors_ELEMENTWISE(k);
        return;
    }
    if (hlo_is_manual_edge(k->m, k->id)) {
        paired_dims(k, 0, (const bool[HLO_RANK_MAX]){false});
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (k->operands && hlo_attr_is(k->m, k->id, HLO_ATTR_CUSTOM_CALL_TARGET, known[i].target))
            batch_dims(k, known[i].inner);
}
