/* hlo/meaning/factors_dot.c - dot, ragged-dot, scaled-dot.
 *
 * Result dims of a dot: batch, free dims of lhs, free dims of rhs, each group in operand order. */
#include "hlo/meaning/factors.h"
#include "hlo/meaning/factors_internal.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

/* What a dim of lhs or rhs is for. */
struct dot_dims {
    int64_t lhs_batch[HLO_RANK_MAX], rhs_batch[HLO_RANK_MAX];
    int64_t lhs_contracting[HLO_RANK_MAX], rhs_contracting[HLO_RANK_MAX];
    size_t batch, contracting;
    bool lhs_taken[HLO_RANK_MAX], rhs_taken[HLO_RANK_MAX]; /* batch or contracting */
};

static bool dot_dims(struct hlo_maker *k, struct dot_dims *d)
{
    const struct hlo_module *m = k->m;

    *d = (struct dot_dims){.batch = 0};
    d->batch = hlo_attr_ints(m, k->id, HLO_ATTR_LHS_BATCH_DIMS, d->lhs_batch);
    d->contracting = hlo_attr_ints(m, k->id, HLO_ATTR_LHS_CONTRACTING_DIMS, d->lhs_contracting);
    if (hlo_attr_ints(m, k->id, HLO_ATTR_RHS_BATCH_DIMS, d->rhs_batch) != d->batch ||
        hlo_attr_ints(m, k->id, HLO_ATTR_RHS_CONTRACTING_DIMS, d->rhs_contracting) !=
            d->contracting)
        return false;
    hlo_mark_dims(k, HLO_ATTR_LHS_BATCH_DIMS, d->lhs_taken);
    hlo_mark_dims(k, HLO_ATTR_LHS_CONTRACTING_DIMS, d->lhs_taken);
    hlo_mark_dims(k, HLO_ATTR_RHS_BATCH_DIMS, d->rhs_taken);
    hlo_mark_dims(k, HLO_ATTR_RHS_CONTRACTING_DIMS, d->rhs_taken);
    return true;
}

/* Free dims of operand `leaf` -> result dims from `out` on; `skip` dims (ragged) take their place
 * in the result and stay whole. Returns the result dim after them. */
static int64_t free_dims(struct hlo_maker *k, uint32_t leaf, const bool *taken, const bool *skip,
                         int64_t out)
{
    const struct hlo_shape *s = hlo_leaf_shape(k, leaf);

    for (uint8_t d = 0; d < s->rank; d++) {
        if (taken[d])
            continue;
        if (!skip[d]) {
            hlo_factor_begin(k, s->dims[d], HLO_FACTOR_PASS);
            hlo_factor_bind(k, leaf, d);
            hlo_factor_bind(k, k->operands, out);
        }
        out++;
    }
    return out;
}

static const bool no_dims[HLO_RANK_MAX];

void hlo_factors_DOT(struct hlo_maker *k)
{
    const struct hlo_shape *l = hlo_leaf_shape(k, 0);
    struct dot_dims d;

    if (!dot_dims(k, &d))
        return;
    for (size_t i = 0; i < d.batch; i++) {
        hlo_factor_begin(k, hlo_dim(l, d.lhs_batch[i]), HLO_FACTOR_PASS);
        hlo_factor_bind(k, 0, d.lhs_batch[i]);
        hlo_factor_bind(k, 1, d.rhs_batch[i]);
        hlo_factor_bind(k, k->operands, (int64_t)i);
    }
    int64_t out = free_dims(k, 0, d.lhs_taken, no_dims, (int64_t)d.batch);
    free_dims(k, 1, d.rhs_taken, no_dims, out);
    for (size_t i = 0; i < d.contracting; i++) {
        hlo_factor_begin_reduce(k, hlo_dim(l, d.lhs_contracting[i]), HLO_COMBINE_ADD);
        hlo_factor_bind(k, 0, d.lhs_contracting[i]);
        hlo_factor_bind(k, 1, d.rhs_contracting[i]);
    }
}

/* A scale has the rank of its operand and one element per block: where the operand is split, so is
 * the scale, if the parts hold whole blocks. A dim of size 1 serves the whole operand. */
static void tie_scale(struct hlo_maker *k, struct hlo_factor *f, const int8_t *dims, uint32_t leaf)
{
    const struct hlo_shape *data = hlo_leaf_shape(k, leaf), *scale = hlo_leaf_shape(k, leaf + 2);
    int8_t d = dims[leaf];

    if (d < 0 || scale->rank != data->rank || scale->dims[d] < 2)
        return;
    if (scale->dims[d] != data->dims[d]) {
        f->must_divide = true;
        f->size = scale->dims[d] < f->size ? scale->dims[d] : f->size;
    }
    hlo_factor_bind(k, leaf + 2, d);
}

/* operands lhs, rhs, lhs_scale, rhs_scale */
void hlo_factors_SCALED_DOT(struct hlo_maker *k)
{
    struct hlo_factors *f = k->f;

    hlo_factors_DOT(k);
    uint32_t count = f->count;
    for (uint32_t n = 0; n < count; n++) {
        f->count = n + 1; /* the factor that bind writes to */
        k->is_open = true;
        const int8_t *dims = f->dims + (size_t)n * f->leaf_count;
        tie_scale(k, &f->items[n], dims, 0);
        tie_scale(k, &f->items[n], dims, 1);
    }
    f->count = count;
}

/* group_sizes is [g] or [batch.., g]: its leading dims go with the batch dims. */
static void ragged_batch(struct hlo_maker *k, const struct dot_dims *d, const bool *ragged,
                         int64_t out)
{
    const struct hlo_shape *l = hlo_leaf_shape(k, 0), *groups = hlo_leaf_shape(k, 2);

    for (size_t i = 0; i < d->batch; i++) {
        if (d->lhs_batch[i] < 0 || d->lhs_batch[i] >= l->rank || ragged[d->lhs_batch[i]])
            continue;
        hlo_factor_begin(k, hlo_dim(l, d->lhs_batch[i]), HLO_FACTOR_PASS);
        hlo_factor_bind(k, 0, d->lhs_batch[i]);
        hlo_factor_bind(k, 1, d->rhs_batch[i]);
        hlo_factor_bind(k, 3, out + (int64_t)i);
        if (groups->rank > 1)
            hlo_factor_bind(k, 2, (int64_t)i);
    }
}

/* The ragged dim and the groups stay whole; a ragged contracting dim puts the group dim first in
 * the result. With group sizes per row, the free dims of lhs that index them stay whole too. */
void hlo_factors_RAGGED_DOT(struct hlo_maker *k)
{
    const struct hlo_shape *l = hlo_leaf_shape(k, 0);
    bool ragged[HLO_RANK_MAX] = {false}, group[HLO_RANK_MAX] = {false};
    struct dot_dims d;

    if (!dot_dims(k, &d))
        return;
    hlo_mark_dims(k, HLO_ATTR_LHS_RAGGED_DIMS, ragged);
    hlo_mark_dims(k, HLO_ATTR_RHS_GROUP_DIMS, group);
    int64_t first = 0;
    for (size_t i = 0; i < d.contracting; i++)
        if (d.lhs_contracting[i] >= 0 && d.lhs_contracting[i] < l->rank &&
            ragged[d.lhs_contracting[i]])
            first = 1;
    ragged_batch(k, &d, ragged, first);
    for (uint8_t i = 0; i < l->rank && hlo_leaf_shape(k, 2)->rank > 1 + d.batch; i++)
        ragged[i] = true;
    int64_t out = free_dims(k, 0, d.lhs_taken, ragged, first + (int64_t)d.batch);
    bool rhs_taken[HLO_RANK_MAX];
    for (int i = 0; i < HLO_RANK_MAX; i++)
        rhs_taken[i] = d.rhs_taken[i] || group[i];
    free_dims(k, 1, rhs_taken, no_dims, out);
    for (size_t i = 0; i < d.contracting; i++) {
        int64_t c = d.lhs_contracting[i];
        if (c < 0 || c >= l->rank || ragged[c])
            continue;
        hlo_factor_begin_reduce(k, l->dims[c], HLO_COMBINE_ADD);
        hlo_factor_bind(k, 0, c);
        hlo_factor_bind(k, 1, d.rhs_contracting[i]);
    }
}
