/* Results of convolution, reduce-window and select-and-scatter. */
#include "hlo/module/attr.h"
#include "hlo/module/infer.h"
#include "hlo/module/shape.h"

#include <string.h>

/* Positions of a window dim over `size` elements; -1 when the window is nonsense. */
static int64_t window_positions(const struct hlo_window *w, uint8_t d, int64_t size)
{
    int64_t base = size, reach;

    if (w->stride[d] < 1 || w->base_dilation[d] < 1 || w->window_dilation[d] < 1 || w->size[d] < 0)
        return -1;
    if (size > 0 && (__builtin_mul_overflow(size - 1, w->base_dilation[d], &base) ||
                     __builtin_add_overflow(base, 1, &base)))
        return -1;
    if (__builtin_add_overflow(base, w->pad_low[d], &base) ||
        __builtin_add_overflow(base, w->pad_high[d], &base))
        return -1;
    if (!w->size[d])
        return 0;
    if (__builtin_mul_overflow(w->size[d] - 1, w->window_dilation[d], &reach) ||
        __builtin_add_overflow(reach, 1, &reach))
        return -1;
    return base < reach ? 0 : (base - reach) / w->stride[d] + 1;
}

static int parse_window(struct hlo_infer *f, uint8_t rank, struct hlo_window *w)
{
    const struct hlo_attr *a = hlo_infer_attr(f, HLO_ATTR_WINDOW);

    if (!a || a->size <= 2) { /* none, or {}: one element everywhere */
        hlo_parse_window("{}", 2, w);
        w->rank = rank;
        return 0;
    }
    if (!hlo_parse_window(a->text, a->size, w) || w->rank != rank)
        return hlo_infer_bad(f, "window of %d dims, expected %d", w->rank, rank);
    return 0;
}

static int slide(struct hlo_infer *f, const struct hlo_window *w, uint8_t d, int64_t size,
                 int64_t *out)
{
    *out = window_positions(w, d, size);
    return *out < 0
               ? hlo_infer_bad(f,
                               "window dim %d does not fit, expected strides and dilations of 1 "
                               "or more and a result below 2^63",
                               d)
               : 0;
}

/* ---- reduce-window, select-and-scatter ---- */

int hlo_infer_reduce_window(struct hlo_infer *f)
{
    struct hlo_window w;

    if (!f->operand_count || f->operand_count % 2)
        return hlo_infer_bad(f, "%u operands, expected as many inputs as initial values",
                             f->operand_count);
    const struct hlo_shape *s = f->operands[0];
    f->inputs = f->operand_count / 2;
    for (uint32_t n = 1; n < f->inputs; n++) {
        if (!hlo_same_dims(s, f->operands[n]))
            return hlo_infer_bad(f, "input %u has other dims than input 0, expected the same", n);
    }
    if (parse_window(f, s->rank, &w))
        return f->e->code;
    f->rank = s->rank;
    for (uint8_t d = 0; d < s->rank; d++) {
        if (slide(f, &w, d, s->dims[d], &f->dims[d]))
            return f->e->code;
    }
    f->claim = s->dynamic ? HLO_INFER_NOTHING : HLO_INFER_INPUTS;
    return 0;
}

/* The source has the dims that a reduce-window of the operand would have. */
int hlo_infer_select_and_scatter(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0], *source = f->operands[1];
    struct hlo_window w;

    if (parse_window(f, s->rank, &w))
        return f->e->code;
    if (source->rank != s->rank)
        return hlo_infer_bad(f, "source of %d dims, expected %d", source->rank, s->rank);
    for (uint8_t d = 0; d < s->rank; d++) {
        int64_t size;
        if (slide(f, &w, d, s->dims[d], &size))
            return f->e->code;
        if (size != source->dims[d] && !s->dynamic && !source->dynamic)
            return hlo_infer_bad(f, "source of size %lld in dim %d, expected %lld by the window",
                                 (long long)source->dims[d], d, (long long)size);
    }
    hlo_infer_like(f, 0);
    return 0;
}

/* ---- convolution ---- */

struct convolution {
    struct hlo_window w;
    struct hlo_conv_dims d;
    int64_t feature_groups, batch_groups;
};

static int check_groups(struct hlo_infer *f, const struct convolution *c)
{
    const struct hlo_shape *in = f->operands[0], *kernel = f->operands[1];
    int64_t in_features = in->dims[c->d.in_feature], batch = in->dims[c->d.in_batch];
    int64_t out_features = kernel->dims[c->d.kernel_out];

    if (c->feature_groups < 1 || c->batch_groups < 1 ||
        (c->feature_groups > 1 && c->batch_groups > 1))
        return hlo_infer_bad(f,
                             "%lld feature and %lld batch groups, expected 1 or more of one kind",
                             (long long)c->feature_groups, (long long)c->batch_groups);
    if (in->dynamic || kernel->dynamic)
        return 0;
    if (in_features % c->feature_groups || batch % c->batch_groups ||
        out_features % c->feature_groups || out_features % c->batch_groups)
        return hlo_infer_bad(f, "features or batch are not a multiple of the groups, expected one");
    if (in_features / c->feature_groups != kernel->dims[c->d.kernel_in])
        return hlo_infer_bad(
            f, "%lld input features per group and %lld in the kernel, expected the same",
            (long long)(in_features / c->feature_groups), (long long)kernel->dims[c->d.kernel_in]);
    return 0;
}

static int read_convolution(struct hlo_infer *f, struct convolution *c)
{
    const struct hlo_attr *labels = hlo_infer_attr(f, HLO_ATTR_DIM_LABELS);
    const struct hlo_shape *in = f->operands[0], *kernel = f->operands[1];

    if (!hlo_parse_conv_dims(labels->text, labels->size, &c->d))
        return hlo_infer_bad(f, "dim_labels are wrong, expected some such as b01f_01io->b01f");
    size_t named[3] = {0};
    const char *bar = memchr(labels->text, '_', labels->size),
               *arrow = memchr(labels->text, '-', labels->size);
    named[0] = (size_t)(bar - labels->text);
    named[1] = (size_t)(arrow - bar) - 1;
    named[2] = labels->size - named[0] - named[1] - 3;
    if (named[0] != in->rank || named[1] != kernel->rank)
        return hlo_infer_bad(f, "dim_labels for %zu and %zu dims, expected %d and %d", named[0],
                             named[1], in->rank, kernel->rank);
    f->rank = (uint8_t)named[2];
    c->feature_groups = hlo_infer_int(f, HLO_ATTR_FEATURE_GROUP_COUNT, 1);
    c->batch_groups = hlo_infer_int(f, HLO_ATTR_BATCH_GROUP_COUNT, 1);
    if (parse_window(f, c->d.spatial_count, &c->w))
        return f->e->code;
    return check_groups(f, c);
}

int hlo_infer_convolution(struct hlo_infer *f)
{
    struct convolution c;

    if (f->operand_count < 2)
        return hlo_infer_bad(f, "%u operands, expected input and kernel", f->operand_count);
    const struct hlo_shape *in = f->operands[0], *kernel = f->operands[1];
    if (read_convolution(f, &c))
        return f->e->code;
    bool has_unused = f->rank != c.d.spatial_count + 2; /* `?` dims: their size is not told */
    for (uint8_t n = 0; n < c.d.spatial_count; n++) {
        int64_t size = kernel->dims[c.d.kernel_spatial[n]];
        if (size != c.w.size[n] && !kernel->dynamic)
            return hlo_infer_bad(
                f, "window of size %lld over a kernel of size %lld, expected the same",
                (long long)c.w.size[n], (long long)size);
        if (slide(f, &c.w, n, in->dims[c.d.in_spatial[n]], &f->dims[c.d.out_spatial[n]]))
            return f->e->code;
    }
    f->dims[c.d.out_batch] = in->dims[c.d.in_batch] / c.batch_groups;
    f->dims[c.d.out_feature] = kernel->dims[c.d.kernel_out];
    f->claim = has_unused || in->dynamic || kernel->dynamic ? HLO_INFER_NOTHING : HLO_INFER_DIMS;
    return 0;
}
