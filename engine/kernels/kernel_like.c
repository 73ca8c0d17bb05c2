#include "engine/kernels/kernel_like.h"

#include "engine/kernels/kernel_text.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct writer {
    char *text;
    size_t size;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void add(struct writer *w, const char *form, ...)
{
    va_list list;

    va_start(list, form);
    int used = vsnprintf(w->text + w->size, KERNEL_LIKE_ROOM - w->size, form, list);
    va_end(list);
    w->failed |= used < 0 || (size_t)used >= KERNEL_LIKE_ROOM - w->size;
    w->size += w->failed ? 0 : (size_t)used;
}

/* ---- products ---- */

struct dot_side {
    int64_t batch[HLO_RANK_MAX], summed[HLO_RANK_MAX];
    size_t batch_count, summed_count;
    const struct hlo_shape *shape;
    char free; /* first letter of its free dims */
};

static bool read_side(const struct kernel_match *k, const char *numbers, const char *side,
                      struct dot_side *out)
{
    const struct hlo_attr *a = kernel_config_of(k);
    char path[160];

    if (!a)
        return false;
    snprintf(path, sizeof path, "%s.%s_batch_dimensions", numbers, side);
    if (!kernel_config_list(a->text, a->size, path, out->batch, HLO_RANK_MAX, &out->batch_count))
        out->batch_count = 0; /* none: not written */
    snprintf(path, sizeof path, "%s.%s_contracting_dimensions", numbers, side);
    if (!kernel_config_list(a->text, a->size, path, out->summed, HLO_RANK_MAX, &out->summed_count))
        out->summed_count = 0;
    return true;
}

static int place_in(const int64_t *list, size_t count, int64_t dim)
{
    for (size_t n = 0; n < count; n++) {
        if (list[n] == dim)
            return (int)n;
    }
    return -1;
}

static void write_side(struct writer *w, const struct dot_side *s)
{
    uint32_t free = 0;

    for (uint8_t d = 0; d < s->shape->rank; d++) {
        int batch = place_in(s->batch, s->batch_count, d),
            summed = place_in(s->summed, s->summed_count, d);
        if (batch >= 0)
            add(w, "b%d ", batch);
        else if (summed >= 0)
            add(w, "s%d ", summed);
        else
            add(w, "%c%u ", s->free, free++);
    }
}

/* What it makes: batch dims, then the free ones of both sides. */
static void write_product(struct writer *w, const struct dot_side *l, const struct dot_side *r)
{
    for (size_t n = 0; n < l->batch_count; n++)
        add(w, "b%zu ", n);
    for (size_t n = 0; n + l->batch_count + l->summed_count < l->shape->rank; n++)
        add(w, "m%zu ", n);
    for (size_t n = 0; n + r->batch_count + r->summed_count < r->shape->rank; n++)
        add(w, "n%zu ", n);
}

static bool like_dot(const struct kernel_match *k, const char *numbers, struct kernel_like *out)
{
    struct dot_side l = {.free = 'm'}, r = {.free = 'n'};
    struct writer w = {.text = out->dims};

    if (k->operands < 2 || k->leaves == k->operands || !numbers ||
        !read_side(k, numbers, "lhs", &l) || !read_side(k, numbers, "rhs", &r) ||
        l.batch_count != r.batch_count || l.summed_count != r.summed_count)
        return false;
    l.shape = kernel_leaf_shape(k, 0);
    r.shape = kernel_leaf_shape(k, 1);
    size_t free = r.shape->rank - r.batch_count - r.summed_count;
    out->summed = 's';
    out->flops = 2 * (double)kernel_leaf_shape(k, k->operands)->elements;
    for (size_t n = 0; n < l.summed_count; n++) {
        if (l.summed[n] < 0 || l.summed[n] >= l.shape->rank)
            return false;
        out->flops *= (double)l.shape->dims[l.summed[n]];
    }
    write_side(&w, &l);
    add(&w, ", ");
    write_side(&w, &r);
    add(&w, ", ");
    write_product(&w, &l, &r);
    if (free)
        add(&w, "?, n%zu?, _?, _?, _?, _?, _? -> ", free - 1);
    else
        add(&w, "?, _?, _?, _?, _?, _? -> ");
    write_product(&w, &l, &r);
    add(&w, ", ");
    write_product(&w, &l, &r);
    add(&w, "?, _?, _?");
    return !w.failed;
}

/* ---- convolutions ---- */

enum part { INPUT, FILTER, OUTPUT };

/* The dims of one part in order: the letters of its batch (or input features) and features, and _
 * for positions. */
static void write_part(struct writer *w, const struct hlo_shape *s, uint8_t first, char a,
                       uint8_t last, char b)
{
    for (uint8_t d = 0; d < s->rank; d++)
        add(w, "%c ", d == first ? a : d == last ? b : '_');
}

static int64_t count_of(const struct kernel_match *k, enum hlo_attr_key key)
{
    const struct hlo_attr *a = hlo_attr(k->m, k->id, key);
    int64_t count;

    return a && hlo_parse_int(a->text, a->size, &count) ? count : 1;
}

/* `leaf`: of the input, the filter and the output; the one among the results is made. */
static bool like_convolution(const struct kernel_match *k, const uint32_t leaf[static 3],
                             struct kernel_like *out)
{
    const struct hlo_attr *a = hlo_attr(k->m, k->id, HLO_ATTR_DIM_LABELS);
    struct writer w = {.text = out->dims};
    struct hlo_conv_dims d;
    const struct hlo_shape *shape[3];
    char text[3][2 * HLO_RANK_MAX + 1];
    const char *made = NULL, *given[2] = {NULL, NULL};

    if (k->operands < 2 || k->leaves == k->operands || !a ||
        !hlo_parse_conv_dims(a->text, a->size, &d))
        return false;
    bool is_grouped = count_of(k, HLO_ATTR_FEATURE_GROUP_COUNT) > 1 ||
                      count_of(k, HLO_ATTR_BATCH_GROUP_COUNT) > 1;
    char i = is_grouped ? '_' : 'i', o = is_grouped ? '_' : 'o';
    for (int n = 0; n < 3; n++) {
        struct writer one = {.text = text[n]};
        shape[n] = kernel_leaf_shape(k, leaf[n] == 2 ? k->operands : leaf[n]);
        if (shape[n]->rank != d.spatial_count + 2)
            return false;
        if (n == INPUT)
            write_part(&one, shape[n], d.in_batch, 'b', d.in_feature, i);
        else if (n == FILTER)
            write_part(&one, shape[n], d.kernel_in, i, d.kernel_out, o);
        else
            write_part(&one, shape[n], d.out_batch, 'b', d.out_feature, o);
        if (leaf[n] == 2)
            made = text[n];
        else
            given[leaf[n]] = text[n];
    }
    out->summed = leaf[FILTER] == 2 ? 'b' : leaf[INPUT] == 2 ? o : i;
    int64_t features = shape[FILTER]->dims[d.kernel_out];
    out->flops = features > 0 ? 2 * (double)shape[OUTPUT]->elements *
                                    (double)shape[FILTER]->elements / (double)features
                              : 0;
    add(&w, "%s, %s, %c?, %s?, _?, _? -> %s, _?, _?", given[0], given[1], o, made, made);
    return !w.failed;
}

/* ---- by name ---- */

const char kernel_like_words[] = "dot, convolution, convolution-input or convolution-filter";

/* Where input, filter and output are: operand 0 or 1, or result 0. */
static const struct {
    const char *name;
    uint32_t leaf[3];
} convolutions[] = {{"convolution", {0, 1, 2}},
                    {"convolution-input", {2, 1, 0}},
                    {"convolution-filter", {0, 2, 1}}};
enum { CONVOLUTIONS = sizeof convolutions / sizeof *convolutions };

bool kernel_like_is(const char *like)
{
    for (size_t n = 0; n < CONVOLUTIONS; n++) {
        if (!strcmp(like, convolutions[n].name))
            return true;
    }
    return !strcmp(like, "dot");
}

bool kernel_like_of(const struct kernel_match *k, const char *like, const char *numbers,
                    struct kernel_like *out)
{
    for (size_t n = 0; n < CONVOLUTIONS; n++) {
        if (!strcmp(like, convolutions[n].name))
            return like_convolution(k, convolutions[n].leaf, out);
    }
    return !strcmp(like, "dot") && like_dot(k, numbers, out);
}
