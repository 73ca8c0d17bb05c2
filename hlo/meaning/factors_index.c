/* hlo/meaning/factors_index.c - gather, scatter, dynamic-slice, dynamic-update-slice. */
#include "hlo/meaning/factors.h"
#include "hlo/meaning/factors_internal.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

/* All indices are scalars and unmapped: dims taken whole pass. */
void hlo_factors_DYNAMIC_SLICE(struct hlo_maker *k)
{
    hlo_factors_SLICE(k);
}

/* operand, update, indices -> result. Where the update covers the dim it is split with it. One row
 * is whole on every device, and the one that has its place writes it; several may straddle. */
void hlo_factors_DYNAMIC_UPDATE_SLICE(struct hlo_maker *k)
{
    const struct hlo_shape *r = hlo_result_shape(k, 0), *update = hlo_leaf_shape(k, 1);

    if (update->rank != r->rank || hlo_leaf_shape(k, 0)->rank != r->rank)
        return;
    for (uint8_t d = 0; d < r->rank; d++) {
        bool is_whole = update->dims[d] == r->dims[d];
        if (!is_whole && update->dims[d] != 1)
            continue;
        struct hlo_factor *f = hlo_factor_begin(k, r->dims[d], HLO_FACTOR_PASS);
        if (f)
            f->is_masked = !is_whole;
        hlo_factor_bind(k, 0, d);
        hlo_factor_bind(k, k->operands, d);
        if (is_whole)
            hlo_factor_bind(k, 1, d);
    }
}

/* ---- gather and scatter ----
 *
 * Both pair a data array (gathered from, scattered into) with a window array (result of gather,
 * updates of scatter) through indices:
 *   window dims of the window array  = data dims that are neither collapsed nor batching, in order
 *   other dims of the window array   = index dims but index_vector_dim, in order */
struct index_dims {
    bool is_window[HLO_RANK_MAX];    /* of the window array */
    bool is_collapsed[HLO_RANK_MAX]; /* of data: collapsed / inserted */
    bool is_batching[HLO_RANK_MAX];  /* of data */
    int64_t data_batch[HLO_RANK_MAX], index_batch[HLO_RANK_MAX];
    size_t batch;
    int64_t vector_dim;
};

/* Attribute keys of the two opcodes, in the order of use below. */
struct index_keys {
    enum hlo_attr_key window, collapsed, data_batch, index_batch;
};
static const struct index_keys gather_keys = {HLO_ATTR_OFFSET_DIMS, HLO_ATTR_COLLAPSED_SLICE_DIMS,
                                              HLO_ATTR_OPERAND_BATCHING_DIMS,
                                              HLO_ATTR_START_INDICES_BATCHING_DIMS};
static const struct index_keys scatter_keys = {
    HLO_ATTR_UPDATE_WINDOW_DIMS, HLO_ATTR_INSERTED_WINDOW_DIMS, HLO_ATTR_INPUT_BATCHING_DIMS,
    HLO_ATTR_SCATTER_INDICES_BATCHING_DIMS};

static bool index_dims(struct hlo_maker *k, const struct index_keys *keys, struct index_dims *x)
{
    *x = (struct index_dims){.batch = 0};
    hlo_mark_dims(k, keys->window, x->is_window);
    hlo_mark_dims(k, keys->collapsed, x->is_collapsed);
    hlo_mark_dims(k, keys->data_batch, x->is_batching);
    x->batch = hlo_attr_ints(k->m, k->id, keys->data_batch, x->data_batch);
    x->vector_dim = hlo_attr_int(k->m, k->id, HLO_ATTR_INDEX_VECTOR_DIM, -1);
    return hlo_attr_ints(k->m, k->id, keys->index_batch, x->index_batch) == x->batch &&
           x->vector_dim >= 0;
}

/* The n-th dim of the window array that is (or is not) a window dim; -1: none. */
static int64_t nth_dim(const struct hlo_shape *s, const bool *is_window, bool wanted, int64_t n)
{
    for (uint8_t d = 0; d < s->rank; d++)
        if (is_window[d] == wanted && n-- == 0)
            return d;
    return -1;
}

/* Batching dim of data that index dim d goes with; -1: an ordinary index dim. */
static int64_t batching_dim(const struct index_dims *x, int64_t d)
{
    for (size_t i = 0; i < x->batch; i++)
        if (x->index_batch[i] == d)
            return x->data_batch[i];
    return -1;
}

/* operand, indices -> result */
void hlo_factors_GATHER(struct hlo_maker *k)
{
    const struct hlo_shape *data = hlo_leaf_shape(k, 0), *indices = hlo_leaf_shape(k, 1);
    const struct hlo_shape *r = hlo_result_shape(k, 0);
    int64_t window = 0, batch = 0;
    struct index_dims x;

    if (!index_dims(k, &gather_keys, &x))
        return;
    for (uint8_t d = 0; d < indices->rank; d++) {
        if (d == x.vector_dim)
            continue;
        hlo_factor_begin(k, indices->dims[d], HLO_FACTOR_PASS);
        hlo_factor_bind(k, 1, d);
        if (batching_dim(&x, d) >= 0)
            hlo_factor_bind(k, 0, batching_dim(&x, d));
        hlo_factor_bind(k, 2, nth_dim(r, x.is_window, false, batch++));
    }
    for (uint8_t d = 0; d < data->rank; d++) {
        if (x.is_batching[d])
            continue;
        int64_t out = x.is_collapsed[d] ? -1 : nth_dim(r, x.is_window, true, window++);
        int64_t slice = x.is_collapsed[d] ? 1 : hlo_dim(r, out);
        if (slice == data->dims[d] && !x.is_collapsed[d]) {
            hlo_factor_begin(k, data->dims[d], HLO_FACTOR_PASS);
            hlo_factor_bind(k, 0, d);
            hlo_factor_bind(k, 2, out);
        } else if (slice == 1) { /* each device looks up its own rows and gives 0 for the others */
            hlo_factor_begin_reduce(k, data->dims[d], HLO_COMBINE_ADD);
            if (k->is_open)
                k->f->items[k->f->count - 1].is_masked = true;
            hlo_factor_bind(k, 0, d);
        }
    }
}

/* Binds dim `data` of all operands and results and dim `update` of all updates; -1: not bound. */
static void scatter_bind(struct hlo_maker *k, int64_t data, int64_t update)
{
    uint32_t inputs = k->operands / 2;

    for (uint32_t n = 0; n < inputs; n++) {
        if (update >= 0)
            hlo_factor_bind(k, inputs + 1 + n, update);
        if (data >= 0)
            hlo_factor_bind(k, n, data);
        if (data >= 0)
            hlo_factor_bind(k, k->operands + n, data);
    }
}

/* Dims of the indices go with the updates: batching dims also with the data; over the others the
 * updates of each device give a partial result, where the data enters on one device only. */
static void scatter_index_dims(struct hlo_maker *k, const struct index_dims *x)
{
    uint32_t inputs = k->operands / 2;
    const struct hlo_shape *indices = hlo_leaf_shape(k, inputs);
    const struct hlo_shape *updates = hlo_leaf_shape(k, inputs + 1);
    enum hlo_combiner c =
        inputs == 1 ? hlo_combiner_of(k->m, hlo_called(k->m, k->id, 0)) : HLO_COMBINE_NONE;
    int64_t batch = 0;

    for (uint8_t d = 0; d < indices->rank; d++) {
        if (d == x->vector_dim)
            continue;
        int64_t update = nth_dim(updates, x->is_window, false, batch++), data = batching_dim(x, d);
        if (update < 0 || (data < 0 && c == HLO_COMBINE_NONE))
            continue;
        if (data >= 0)
            hlo_factor_begin(k, indices->dims[d], HLO_FACTOR_PASS);
        else
            hlo_factor_begin_reduce(k, indices->dims[d], c);
        hlo_factor_bind(k, inputs, d);
        scatter_bind(k, data, update);
    }
}

/* N operands, indices, N updates -> N results */
void hlo_factors_SCATTER(struct hlo_maker *k)
{
    const struct hlo_shape *data = hlo_leaf_shape(k, 0);
    int64_t window = 0;
    struct index_dims x;

    if (k->operands < 3 || k->operands % 2 == 0 || !hlo_at(k->m, k->id)->called_count ||
        !index_dims(k, &scatter_keys, &x))
        return;
    const struct hlo_shape *updates = hlo_leaf_shape(k, k->operands / 2 + 1);
    scatter_index_dims(k, &x);
    for (uint8_t d = 0; d < data->rank; d++) {
        if (x.is_batching[d])
            continue;
        int64_t update = x.is_collapsed[d] ? -1 : nth_dim(updates, x.is_window, true, window++);
        int64_t slice = x.is_collapsed[d] ? 1 : hlo_dim(updates, update);
        if (slice == data->dims[d] && !x.is_collapsed[d]) {
            hlo_factor_begin(k, data->dims[d], HLO_FACTOR_PASS);
            scatter_bind(k, d, update);
        } else if (slice == 1) { /* whole updates; each device applies those of its own rows */
            struct hlo_factor *f = hlo_factor_begin(k, data->dims[d], HLO_FACTOR_PASS);
            if (f)
                f->is_masked = true;
            scatter_bind(k, d, -1);
        }
    }
}
