/* Results of dot, gather, scatter, linear algebra and batch norm. */
#include "hlo/module/attr.h"
#include "hlo/module/infer.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <string.h>

/* ---- dot ---- */

struct dot_dims {
    struct hlo_dim_list lhs_batch, lhs_contract, rhs_batch, rhs_contract;
};

static int pair_dims(struct hlo_infer *f, const char *what, const struct hlo_dim_list *l,
                     const struct hlo_dim_list *r)
{
    const struct hlo_shape *a = f->operands[0], *b = f->operands[1];

    if (l->count != r->count)
        return hlo_infer_bad(f, "%zu %s dims on the left and %zu on the right, expected as many",
                             l->count, what, r->count);
    for (size_t n = 0; n < l->count; n++) {
        int64_t x = a->dims[l->dims[n]], y = b->dims[r->dims[n]];
        bool is_free =
            (a->dynamic && a->dynamic[l->dims[n]]) || (b->dynamic && b->dynamic[r->dims[n]]);
        if (x != y && !is_free)
            return hlo_infer_bad(
                f, "%s dims %lld and %lld have sizes %lld and %lld, expected the same", what,
                (long long)l->dims[n], (long long)r->dims[n], (long long)x, (long long)y);
    }
    return 0;
}

int hlo_infer_dot(struct hlo_infer *f)
{
    const struct hlo_shape *a = f->operands[0], *b = f->operands[1];
    struct dot_dims d;

    if (hlo_infer_list(f, HLO_ATTR_LHS_BATCH_DIMS, a->rank, &d.lhs_batch) ||
        hlo_infer_list(f, HLO_ATTR_LHS_CONTRACTING_DIMS, a->rank, &d.lhs_contract) ||
        hlo_infer_list(f, HLO_ATTR_RHS_BATCH_DIMS, b->rank, &d.rhs_batch) ||
        hlo_infer_list(f, HLO_ATTR_RHS_CONTRACTING_DIMS, b->rank, &d.rhs_contract) ||
        pair_dims(f, "batch", &d.lhs_batch, &d.rhs_batch) ||
        pair_dims(f, "contracting", &d.lhs_contract, &d.rhs_contract))
        return f->e->code;
    if ((d.lhs_batch.mask & d.lhs_contract.mask) || (d.rhs_batch.mask & d.rhs_contract.mask))
        return hlo_infer_bad(f, "a dim is both batch and contracting, expected one of them");
    size_t rank = a->rank + b->rank - d.lhs_batch.count - d.lhs_contract.count -
                  d.rhs_contract.count - d.rhs_batch.count + d.lhs_batch.count;
    if (rank > HLO_RANK_MAX)
        return hlo_infer_bad(f, "a result of more than %d dims", HLO_RANK_MAX);
    f->claim = HLO_INFER_DIMS; /* the result may be wider than the operands: preferred type */
    f->rank = 0;
    for (size_t n = 0; n < d.lhs_batch.count; n++)
        f->dims[f->rank++] = a->dims[d.lhs_batch.dims[n]];
    for (uint8_t n = 0; n < a->rank; n++) {
        if (!hlo_infer_has(&d.lhs_batch, n) && !hlo_infer_has(&d.lhs_contract, n))
            f->dims[f->rank++] = a->dims[n];
    }
    for (uint8_t n = 0; n < b->rank; n++) {
        if (!hlo_infer_has(&d.rhs_batch, n) && !hlo_infer_has(&d.rhs_contract, n))
            f->dims[f->rank++] = b->dims[n];
    }
    return 0;
}

/* ---- gather, scatter ---- */

/* Dims of the indices that stay: all but index_vector_dim. */
static int index_batch(struct hlo_infer *f, const struct hlo_shape *indices, int64_t vector_dim,
                       size_t map_count, int64_t *out, size_t *count)
{
    char class = hlo_type_info[indices->type].class;
    int64_t length = vector_dim >= 0 && vector_dim < indices->rank ? indices->dims[vector_dim] : 1;

    if (class != 'I' && class != 'U')
        return hlo_infer_bad(f, "indices of type %s, expected integers",
                             hlo_type_info[indices->type].name);
    if (vector_dim < 0 || vector_dim > indices->rank)
        return hlo_infer_bad(f, "index_vector_dim is %lld, expected 0 to %d", (long long)vector_dim,
                             indices->rank);
    if (length != (int64_t)map_count && !indices->dynamic)
        return hlo_infer_bad(f, "index vectors of %lld numbers for %zu dims, expected one each",
                             (long long)length, map_count);
    *count = 0;
    for (uint8_t d = 0; d < indices->rank; d++) {
        if (d != vector_dim)
            out[(*count)++] = indices->dims[d];
    }
    return 0;
}

/* Each slice size within its operand dim; those of dims that disappear are 1 (or 0). */
static int check_slice_sizes(struct hlo_infer *f, const struct hlo_dim_list *sizes, uint64_t gone)
{
    const struct hlo_shape *s = f->operands[0];

    if (sizes->count != s->rank)
        return hlo_infer_bad(f, "%zu slice sizes for %d dims, expected one each", sizes->count,
                             s->rank);
    for (uint8_t d = 0; d < s->rank; d++) {
        bool is_gone = gone >> d & 1;
        int64_t most = is_gone ? 1 : s->dims[d];
        if (sizes->dims[d] < 0 || (sizes->dims[d] > most && !s->dynamic))
            return hlo_infer_bad(f, "slice size %lld in dim %d, expected 0 to %lld",
                                 (long long)sizes->dims[d], d, (long long)most);
    }
    return 0;
}

int hlo_infer_gather(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0], *indices = f->operands[1];
    struct hlo_dim_list offset, collapsed, map, batching, sizes;
    int64_t batch[HLO_RANK_MAX];
    size_t batch_count, b = 0, w = 0;

    if (hlo_infer_list(f, HLO_ATTR_OFFSET_DIMS, HLO_RANK_MAX, &offset) ||
        hlo_infer_list(f, HLO_ATTR_COLLAPSED_SLICE_DIMS, s->rank, &collapsed) ||
        hlo_infer_list(f, HLO_ATTR_START_INDEX_MAP, s->rank, &map) ||
        hlo_infer_list(f, HLO_ATTR_OPERAND_BATCHING_DIMS, s->rank, &batching) ||
        hlo_infer_list(f, HLO_ATTR_SLICE_SIZES, -1, &sizes) ||
        index_batch(f, indices, hlo_infer_int(f, HLO_ATTR_INDEX_VECTOR_DIM, indices->rank),
                    map.count, batch, &batch_count) ||
        check_slice_sizes(f, &sizes, collapsed.mask | batching.mask))
        return f->e->code;
    size_t rank = offset.count + batch_count;
    if (offset.count + collapsed.count + batching.count != s->rank || rank > HLO_RANK_MAX)
        return hlo_infer_bad(
            f, "%zu offset, %zu collapsed and %zu batching dims, expected %d together",
            offset.count, collapsed.count, batching.count, s->rank);
    f->claim = HLO_INFER_ARRAY;
    f->type = s->type;
    f->rank = (uint8_t)rank;
    for (uint8_t d = 0; d < rank; d++) {
        if (!hlo_infer_has(&offset, d)) {
            if (b == batch_count)
                return hlo_infer_bad(
                    f, "offset_dims names dims past the result, expected below %zu", rank);
            f->dims[d] = batch[b++];
            continue;
        }
        while (hlo_infer_has(&collapsed, (int64_t)w) || hlo_infer_has(&batching, (int64_t)w))
            w++;
        f->dims[d] = sizes.dims[w++];
    }
    return 0;
}

/* Updates: index batch dims in order, window dims where update_window_dims says. */
static int check_updates(struct hlo_infer *f, const struct hlo_shape *updates,
                         const struct hlo_dim_list *window, uint64_t gone, const int64_t *batch,
                         size_t batch_count)
{
    const struct hlo_shape *s = f->operands[0];
    size_t b = 0, w = 0;

    if (updates->rank != window->count + batch_count)
        return hlo_infer_bad(f, "updates of %d dims, expected %zu", updates->rank,
                             window->count + batch_count);
    for (uint8_t d = 0; d < updates->rank; d++) {
        bool is_window = hlo_infer_has(window, d);
        while (is_window && w < s->rank && (gone >> w & 1))
            w++;
        if (is_window ? w >= s->rank : b >= batch_count)
            return hlo_infer_bad(
                f, "update_window_dims does not fit the updates, expected dims below %d",
                updates->rank);
        int64_t most = is_window ? s->dims[w++] : batch[b++];
        bool fits = is_window ? updates->dims[d] <= most : updates->dims[d] == most;
        if (!fits && !updates->dynamic && !s->dynamic && !f->operands[f->inputs]->dynamic)
            return hlo_infer_bad(f, "updates of size %lld in dim %d, expected %s%lld",
                                 (long long)updates->dims[d], d, is_window ? "at most " : "",
                                 (long long)most);
    }
    return 0;
}

int hlo_infer_scatter(struct hlo_infer *f)
{
    struct hlo_dim_list window, inserted, map, batching;
    int64_t batch[HLO_RANK_MAX];
    size_t batch_count;

    if (f->operand_count < 3 || f->operand_count % 2 == 0)
        return hlo_infer_bad(f, "%u operands, expected N arrays, indices and N updates",
                             f->operand_count);
    f->inputs = f->operand_count / 2;
    const struct hlo_shape *s = f->operands[0], *indices = f->operands[f->inputs];
    if (hlo_infer_list(f, HLO_ATTR_UPDATE_WINDOW_DIMS, HLO_RANK_MAX, &window) ||
        hlo_infer_list(f, HLO_ATTR_INSERTED_WINDOW_DIMS, s->rank, &inserted) ||
        hlo_infer_list(f, HLO_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, s->rank, &map) ||
        hlo_infer_list(f, HLO_ATTR_INPUT_BATCHING_DIMS, s->rank, &batching) ||
        index_batch(f, indices, hlo_infer_int(f, HLO_ATTR_INDEX_VECTOR_DIM, indices->rank),
                    map.count, batch, &batch_count))
        return f->e->code;
    if (window.count + inserted.count + batching.count != s->rank)
        return hlo_infer_bad(f,
                             "%zu window, %zu inserted and %zu batching dims, expected %d together",
                             window.count, inserted.count, batching.count, s->rank);
    for (uint32_t n = 0; n < f->inputs; n++) {
        if (!hlo_same_dims(s, f->operands[n]))
            return hlo_infer_bad(f, "operand %u has other dims than operand 0, expected the same",
                                 n);
        if (check_updates(f, f->operands[f->inputs + 1 + n], &window, inserted.mask | batching.mask,
                          batch, batch_count))
            return f->e->code;
    }
    hlo_infer_like(f, 0);
    f->claim = HLO_INFER_INPUTS;
    return 0;
}

/* ---- linear algebra ---- */

static int need_matrix(struct hlo_infer *f, const struct hlo_shape *s)
{
    bool is_square = s->rank >= 2 && s->dims[s->rank - 1] == s->dims[s->rank - 2];

    return is_square || s->dynamic
               ? 0
               : hlo_infer_bad(f, "operand 0 is not a square matrix, expected one");
}

int hlo_infer_cholesky(struct hlo_infer *f)
{
    hlo_infer_like(f, 0);
    return need_matrix(f, f->operands[0]);
}

int hlo_infer_triangular_solve(struct hlo_infer *f)
{
    const struct hlo_shape *a = f->operands[0], *b = f->operands[1];

    if (need_matrix(f, a))
        return f->e->code;
    const struct hlo_attr *left = hlo_infer_attr(f, HLO_ATTR_LEFT_SIDE);
    bool is_left = left && left->text[0] == 't';
    if (b->rank != a->rank)
        return hlo_infer_bad(f, "operands of %d and %d dims, expected as many", a->rank, b->rank);
    if (!a->dynamic && !b->dynamic && b->dims[b->rank - (is_left ? 2 : 1)] != a->dims[a->rank - 1])
        return hlo_infer_bad(
            f, "matrices of sizes that do not fit, expected the same in the dim solved");
    hlo_infer_like(f, 1);
    return 0;
}

static int64_t half(int64_t n)
{
    return n ? n / 2 + 1 : 0;
}

/* FFT and IFFT keep dims; RFFT halves the last, IRFFT doubles it. */
int hlo_infer_fft(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0];
    const struct hlo_attr *kind = hlo_infer_attr(f, HLO_ATTR_FFT_TYPE);
    struct hlo_dim_list length;
    bool is_real = kind && memchr(kind->text, 'R', kind->size);
    bool is_inverse = kind && kind->text[0] == 'I';

    if (hlo_infer_list(f, HLO_ATTR_FFT_LENGTH, -1, &length))
        return f->e->code;
    if (!length.count || length.count > s->rank)
        return hlo_infer_bad(f, "%zu lengths for an operand of %d dims, expected 1 to that",
                             length.count, s->rank);
    for (size_t n = 0; n < length.count; n++) {
        size_t d = s->rank - length.count + n;
        bool is_last = n + 1 == length.count;
        int64_t want = is_real && is_inverse && is_last ? half(length.dims[n]) : length.dims[n];
        if (s->dims[d] != want && !s->dynamic)
            return hlo_infer_bad(f, "dim %zu of size %lld, expected %lld by fft_length", d,
                                 (long long)s->dims[d], (long long)want);
    }
    hlo_infer_like(f, 0);
    f->claim = HLO_INFER_DIMS;
    int64_t last = length.dims[length.count - 1];
    f->dims[f->rank - 1] = is_real && !is_inverse ? half(last)
                           : is_real              ? last
                                                  : f->dims[f->rank - 1];
    return 0;
}

/* ---- batch norm, all three: scale, mean and so on have one dim, the feature's ---- */

int hlo_infer_batch_norm_inference(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0];
    int64_t feature = hlo_infer_int(f, HLO_ATTR_FEATURE_INDEX, -1);
    uint32_t vectors =
        f->opcode == HLO_OP_BATCH_NORM_GRAD ? f->operand_count - 1 : f->operand_count;

    if (feature < 0 || feature >= s->rank)
        return hlo_infer_bad(f, "feature_index is %lld, expected a dim of the operand below %d",
                             (long long)feature, s->rank);
    for (uint32_t n = 1; n < vectors; n++) {
        const struct hlo_shape *v = f->operands[n];
        if (v->rank != 1 || (v->dims[0] != s->dims[feature] && !s->dynamic && !v->dynamic))
            return hlo_infer_bad(f, "operand %u is not a vector of %lld features, expected one", n,
                                 (long long)s->dims[feature]);
    }
    if (f->opcode == HLO_OP_BATCH_NORM_INFERENCE)
        hlo_infer_like(f, 0);
    return 0;
}
