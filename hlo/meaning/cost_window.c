/* hlo/meaning/cost_window.c - costs of windowed operations (xla/service/hlo_cost_analysis.cc). */
#include "hlo/meaning/cost_internal.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

static bool window_of(const struct hlo_coster *k, struct hlo_window *w)
{
    const struct hlo_attr *a = hlo_attr(k->m, k->id, HLO_ATTR_WINDOW);

    w->rank = 0;
    return !a || hlo_parse_window(a->text, a->size, w);
}

static double window_elements(const struct hlo_window *w)
{
    double n = 1;

    for (uint8_t d = 0; d < w->rank; d++)
        n *= (double)w->size[d];
    return n;
}

/* The dim in which the window is a reduction of all rows for each row: size 2n - 1, n - 1 rows of
 * padding on both sides; it is counted as one reduction. -1: none. */
static int whole_dim(const struct hlo_window *w, const struct hlo_shape *in)
{
    int found = -1;

    for (uint8_t d = 0; d < w->rank && d < in->rank; d++) {
        if (w->size[d] == 1)
            continue;
        if (found >= 0 || w->size[d] != 2 * in->dims[d] - 1 || w->pad_low[d] != in->dims[d] - 1 ||
            w->pad_high[d] != in->dims[d] - 1 || w->stride[d] != 1 || w->base_dilation[d] != 1 ||
            w->window_dilation[d] != 1)
            return -1;
        found = d;
    }
    return found;
}

void hlo_cost_REDUCE_WINDOW(struct hlo_coster *k)
{
    double out = hlo_cost_elements(k, hlo_shape(k->m, k->id));
    struct hlo_window w;

    if (!window_of(k, &w))
        return;
    double times = (window_elements(&w) - 1) * out;
    int whole = whole_dim(&w, hlo_cost_operand(k, 0));
    if (whole >= 0) {
        double rows = (double)hlo_cost_operand(k, 0)->dims[whole];
        times = out / rows + rows - 1;
    }
    hlo_cost_apply(k, hlo_cost_called(k, 0), times);
}

void hlo_cost_SELECT_AND_SCATTER(struct hlo_coster *k)
{
    double source = hlo_cost_elements(k, hlo_cost_operand(k, 1));
    struct hlo_window w;

    if (!window_of(k, &w))
        return;
    hlo_cost_apply(k, hlo_cost_called(k, 0), source * (window_elements(&w) - 1));
    hlo_cost_apply(k, hlo_cost_called(k, 1), source);
}

/* ---- convolution ---- */

/* Number of i in [0, n) for which u = c + i * step is in [0, last] and a multiple of `grid`. */
static int64_t hits(int64_t n, int64_t step, int64_t c, int64_t last, int64_t grid)
{
    int64_t low = c >= 0 ? 0 : (-c + step - 1) / step;
    int64_t high = last < c ? -1 : (last - c) / step;

    high = high < n - 1 ? high : n - 1;
    if (high < low)
        return 0;
    int64_t period = grid / hlo_gcd(step, grid);
    for (int64_t i = low; i <= high && i < low + period; i++)
        if ((c + i * step) % grid == 0)
            return (high - i) / period + 1;
    return 0;
}

enum { CONV_LOOP_MAX = 1 << 20 };

/* Pairs (kernel row, output row) that meet an input row, not padding or a dilation hole. The two
 * play alike in u = output * stride + kernel * dilation - pad: the shorter is walked. Above
 * CONV_LOOP_MAX rows every pair is counted. */
static double valid_pairs(const struct hlo_window *w, uint8_t d, int64_t in, int64_t out)
{
    int64_t rows = w->size[d], step = w->window_dilation[d], others = out,
            other_step = w->stride[d];

    if (rows > others) {
        rows = out;
        step = w->stride[d];
        others = w->size[d];
        other_step = w->window_dilation[d];
    }
    const int64_t most = INT64_C(1) << 40; /* products below stay in 64 bits */
    if (rows > CONV_LOOP_MAX || step < 1 || other_step < 1 || w->base_dilation[d] < 1 || in < 1 ||
        step > CONV_LOOP_MAX || other_step > CONV_LOOP_MAX || w->base_dilation[d] > CONV_LOOP_MAX ||
        in > most || others > most || w->pad_low[d] > most || w->pad_low[d] < -most)
        return (double)rows * (double)others;
    double pairs = 0;
    for (int64_t r = 0; r < rows; r++)
        pairs += (double)hits(others, other_step, r * step - w->pad_low[d],
                              (in - 1) * w->base_dilation[d], w->base_dilation[d]);
    return pairs;
}

static double size_of(const struct hlo_shape *s, uint8_t d)
{
    return d < s->rank && s->dims[d] > 0 ? (double)s->dims[d] : 0;
}

/* 2 * in features per group * out features * batch per group * valid pairs of each spatial dim */
void hlo_cost_CONVOLUTION(struct hlo_coster *k)
{
    const struct hlo_attr *a = hlo_attr(k->m, k->id, HLO_ATTR_DIM_LABELS);
    const struct hlo_shape *in = hlo_cost_operand(k, 0), *kernel = hlo_cost_operand(k, 1);
    const struct hlo_shape *out = hlo_shape(k->m, k->id);
    struct hlo_conv_dims d;
    struct hlo_window w;

    if (!a || !kernel || !window_of(k, &w) || !hlo_parse_conv_dims(a->text, a->size, &d))
        return;
    double n =
        2 * size_of(in, d.in_feature) * size_of(kernel, d.kernel_out) * size_of(in, d.in_batch);
    n /= (double)hlo_attr_int(k->m, k->id, HLO_ATTR_FEATURE_GROUP_COUNT, 1);
    n /= (double)hlo_attr_int(k->m, k->id, HLO_ATTR_BATCH_GROUP_COUNT, 1);
    for (uint8_t i = 0; i < d.spatial_count && i < w.rank; i++) {
        if (d.in_spatial[i] >= in->rank || d.out_spatial[i] >= out->rank)
            return;
        n *= valid_pairs(&w, i, in->dims[d.in_spatial[i]], out->dims[d.out_spatial[i]]);
    }
    k->cost.flops = n;
}
