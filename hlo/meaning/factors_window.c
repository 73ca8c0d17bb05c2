/* hlo/meaning/factors_window.c - reductions, windows, convolution, batch norm, scan. */
#include "hlo/meaning/factors.h"
#include "hlo/meaning/factors_internal.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

/* reduce: N inputs, N inits -> N results. Reduced dims combine if the reducer is a known one of one
 * input; each device starts from the neutral element but one, which starts from the init. */
void hlo_factors_REDUCE(struct hlo_maker *k)
{
    uint32_t inputs = k->operands / 2;
    bool reduced[HLO_RANK_MAX] = {false};
    int64_t out = 0;

    if (!inputs || !hlo_at(k->m, k->id)->called_count)
        return;
    enum hlo_combiner c =
        inputs == 1 ? hlo_combiner_of(k->m, hlo_called(k->m, k->id, 0)) : HLO_COMBINE_NONE;
    hlo_mark_dims(k, HLO_ATTR_DIMENSIONS, reduced);
    for (uint8_t d = 0; d < hlo_leaf_shape(k, 0)->rank; d++) {
        int64_t size = hlo_leaf_shape(k, 0)->dims[d];
        if (reduced[d] && c == HLO_COMBINE_NONE)
            continue;
        if (reduced[d])
            hlo_factor_begin_reduce(k, size, c);
        else
            hlo_factor_begin(k, size, HLO_FACTOR_PASS);
        for (uint32_t n = 0; n < inputs; n++)
            hlo_factor_bind(k, n, d);
        for (uint32_t n = 0; n < k->results && !reduced[d]; n++)
            hlo_factor_bind(k, k->operands + n, out);
        out += !reduced[d];
    }
}

/* ---- windows ---- */

static bool is_trivial(const struct hlo_window *w, uint8_t d)
{
    return w->size[d] == 1 && w->stride[d] == 1 && !w->pad_low[d] && !w->pad_high[d] &&
           w->base_dilation[d] == 1;
}

/* Dims in which the window does nothing, over the first `operands` operands and the results. */
static void untouched_dims(struct hlo_maker *k, uint32_t operands)
{
    const struct hlo_attr *a = hlo_attr(k->m, k->id, HLO_ATTR_WINDOW);
    struct hlo_window w = {.rank = 0};
    bool blocked[HLO_RANK_MAX];

    if (a && !hlo_parse_window(a->text, a->size, &w))
        return;
    for (uint8_t d = 0; d < HLO_RANK_MAX; d++)
        blocked[d] = a && (d >= w.rank || !is_trivial(&w, d));
    hlo_factor_same_dims(k, blocked, operands);
}

void hlo_factors_REDUCE_WINDOW(struct hlo_maker *k)
{
    untouched_dims(k, k->operands / 2);
}

void hlo_factors_SELECT_AND_SCATTER(struct hlo_maker *k)
{
    untouched_dims(k, 2); /* operand, source; not the init */
}

/* ---- convolution ---- */

static void conv_bind(struct hlo_maker *k, int input, int kernel, int output)
{
    if (input >= 0)
        hlo_factor_bind(k, 0, input);
    if (kernel >= 0)
        hlo_factor_bind(k, 1, kernel);
    if (output >= 0)
        hlo_factor_bind(k, k->operands, output);
}

/* Groups: as many parts as divide their count keep whole groups, in input and output features. */
static void conv_groups(struct hlo_maker *k, int64_t groups, int input,
                        const struct hlo_conv_dims *d)
{
    struct hlo_factor *f = hlo_factor_begin(k, groups, HLO_FACTOR_PASS);

    if (f)
        f->must_divide = true;
    conv_bind(k, input, d->kernel_out, d->out_feature);
}

static void conv_spatial(struct hlo_maker *k, const struct hlo_conv_dims *d)
{
    const struct hlo_attr *a = hlo_attr(k->m, k->id, HLO_ATTR_WINDOW);
    struct hlo_window w;

    if (!a || !hlo_parse_window(a->text, a->size, &w))
        return;
    for (uint8_t i = 0; i < d->spatial_count && i < w.rank; i++) {
        if (!is_trivial(&w, i))
            continue;
        hlo_factor_begin(k, hlo_dim(hlo_leaf_shape(k, 0), d->in_spatial[i]), HLO_FACTOR_PASS);
        conv_bind(k, d->in_spatial[i], -1, d->out_spatial[i]);
    }
}

/* Roles come from dim_labels, so weight gradients (f01b_i01o->01bf) are no special case: there the
 * batch plays the input feature and is contracted. */
void hlo_factors_CONVOLUTION(struct hlo_maker *k)
{
    const struct hlo_attr *a = hlo_attr(k->m, k->id, HLO_ATTR_DIM_LABELS);
    int64_t feature_groups = hlo_attr_int(k->m, k->id, HLO_ATTR_FEATURE_GROUP_COUNT, 1);
    int64_t batch_groups = hlo_attr_int(k->m, k->id, HLO_ATTR_BATCH_GROUP_COUNT, 1);
    struct hlo_conv_dims d;

    if (!a || k->operands < 2 || !hlo_parse_conv_dims(a->text, a->size, &d))
        return;
    const struct hlo_shape *in = hlo_leaf_shape(k, 0), *kernel = hlo_leaf_shape(k, 1);
    if (batch_groups == 1) {
        hlo_factor_begin(k, hlo_dim(in, d.in_batch), HLO_FACTOR_PASS);
        conv_bind(k, d.in_batch, -1, d.out_batch);
    } else {
        conv_groups(k, batch_groups, d.in_batch, &d);
    }
    if (feature_groups == 1) {
        hlo_factor_begin_reduce(k, hlo_dim(in, d.in_feature), HLO_COMBINE_ADD);
        conv_bind(k, d.in_feature, d.kernel_in, -1);
    } else {
        conv_groups(k, feature_groups, d.in_feature, &d);
    }
    if (feature_groups == 1 && batch_groups == 1) {
        hlo_factor_begin(k, hlo_dim(kernel, d.kernel_out), HLO_FACTOR_PASS);
        conv_bind(k, -1, d.kernel_out, d.out_feature);
    }
    conv_spatial(k, &d);
}

/* ---- batch norm ---- */

/* Full arrays are operand 0, in grad also operand 4 (the incoming gradient), and result 0; all
 * others are vectors over the feature dim. */
static void batch_norm(struct hlo_maker *k, enum hlo_factor_kind others)
{
    const struct hlo_shape *s = hlo_leaf_shape(k, 0);
    bool is_grad = hlo_at(k->m, k->id)->opcode == HLO_OP_BATCH_NORM_GRAD;
    int64_t feature = hlo_attr_int(k->m, k->id, HLO_ATTR_FEATURE_INDEX, -1);

    for (uint8_t d = 0; d < s->rank; d++) {
        struct hlo_factor *f =
            hlo_factor_begin(k, s->dims[d], d == feature ? HLO_FACTOR_PASS : others);
        if (f && f->kind == HLO_FACTOR_INSIDE)
            f->combiner = HLO_COMBINE_ADD;
        for (uint32_t leaf = 0; leaf < k->operands + k->results; leaf++) {
            bool is_full = leaf == 0 || leaf == k->operands || (is_grad && leaf == 4);
            if (is_full)
                hlo_factor_bind(k, leaf, d);
            else if (d == feature)
                hlo_factor_bind(k, leaf, 0);
        }
    }
}

/* The statistics over the batch are summed inside, and the first result needs them. */
void hlo_factors_BATCH_NORM(struct hlo_maker *k)
{
    batch_norm(k, HLO_FACTOR_INSIDE);
}

void hlo_factors_BATCH_NORM_INFERENCE(struct hlo_maker *k)
{
    batch_norm(k, HLO_FACTOR_PASS);
}

/* ---- scan ---- */

static bool is_elementwise_body(const struct hlo_module *m, const struct hlo_computation *body)
{
    for (hlo_id id = body->first; id < body->first + body->count; id++) {
        const struct hlo_op_info *op = &hlo_op_info[hlo_at(m, id)->opcode];
        int opcode = hlo_at(m, id)->opcode;
        bool is_scalar_constant = opcode == HLO_OP_CONSTANT && !hlo_shape(m, id)->rank;
        bool is_fill = opcode == HLO_OP_BROADCAST && !hlo_shape(m, hlo_operand(m, id, 0))->rank;
        if (!(op->flags & HLO_OP_IS_ELEMENTWISE) && opcode != HLO_OP_PARAMETER &&
            opcode != HLO_OP_TUPLE && opcode != HLO_OP_COPY && !is_scalar_constant && !is_fill)
            return false;
    }
    return true;
}

/* scan: inputs, inits -> outputs, last carries. The scanned dim is one of inputs and outputs only;
 * the others pass when the body works element by element on arrays of one shape. */
void hlo_factors_SCAN(struct hlo_maker *k)
{
    uint32_t carries = (uint32_t)hlo_attr_int(k->m, k->id, HLO_ATTR_NUM_CARRIES, 0);
    int64_t dim[HLO_RANK_MAX];

    if (!hlo_at(k->m, k->id)->called_count || carries > k->operands || carries > k->results ||
        hlo_attr_ints(k->m, k->id, HLO_ATTR_DIMENSIONS, dim) != 1 || carries == k->operands ||
        !is_elementwise_body(k->m, &k->m->computations[hlo_called(k->m, k->id, 0)]))
        return;
    const struct hlo_shape *first = hlo_leaf_shape(k, 0);
    for (uint8_t d = 0; d < first->rank; d++) {
        if (d == dim[0])
            continue;
        hlo_factor_begin(k, first->dims[d], HLO_FACTOR_PASS);
        for (uint32_t leaf = 0; leaf < k->operands + k->results; leaf++) {
            bool is_carry = leaf < k->operands ? leaf >= k->operands - carries
                                               : leaf >= k->operands + k->results - carries;
            int64_t at = is_carry && d > dim[0] ? d - 1 : d;
            const struct hlo_shape *s = hlo_leaf_shape(k, leaf);
            if (s->rank != first->rank - is_carry || hlo_dim(s, at) != first->dims[d])
                at = -1; /* another shape: no factor */
            hlo_factor_bind(k, leaf, at);
        }
    }
}
