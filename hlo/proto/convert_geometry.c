/* Kinds with a notation of their own: slices, padding, pairs, aliasing, windows, dim_labels. */
#include "hlo/module/shape.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/convert_kind.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- geometry ---- */

static Xla__HloInstructionProto__SliceDimensions *slice_at(const struct convert_value *v, size_t n)
{
    return *(Xla__HloInstructionProto__SliceDimensions **)hlo_reflect_at(v->m, v->f, n);
}

/* Strides are printed for all dims or, when all are 1, for none. */
static void print_slices(const struct convert_value *v, struct str *out)
{
    bool strides = false;

    for (size_t i = 0; i < hlo_reflect_count(v->m, v->f); i++)
        strides |= slice_at(v, i)->stride != 1;
    str_add_char(out, '{');
    for (size_t i = 0; i < hlo_reflect_count(v->m, v->f); i++) {
        const Xla__HloInstructionProto__SliceDimensions *d = slice_at(v, i);
        str_format(out, "%s[%lld:%lld", i ? ", " : "", (long long)d->start, (long long)d->limit);
        if (strides)
            str_format(out, ":%lld", (long long)d->stride);
        str_add_char(out, ']');
    }
    str_add_char(out, '}');
}
static bool take_slices(const struct convert_value *v, struct scan *s)
{
    if (!hlo_scan_char(s, '{'))
        return false;
    while (!hlo_scan_char(s, '}')) {
        Xla__HloInstructionProto__SliceDimensions *d;
        bool first = !hlo_reflect_count(v->m, v->f);
        if ((!first && !hlo_scan_char(s, ',')) ||
            !(d = (Xla__HloInstructionProto__SliceDimensions *)hlo_reflect_child(v->c->arena, v->m,
                                                                                 v->f)))
            return false;
        d->stride = 1;
        if (!hlo_scan_char(s, '[') || !hlo_scan_int(s, &d->start) || !hlo_scan_char(s, ':') ||
            !hlo_scan_int(s, &d->limit) ||
            (hlo_scan_char(s, ':') && !hlo_scan_int(s, &d->stride)) || !hlo_scan_char(s, ']'))
            return false;
    }
    return true;
}

static void print_padding(const struct convert_value *v, struct str *out)
{
    const Xla__PaddingConfig *p = *(Xla__PaddingConfig **)hlo_reflect_at(v->m, v->f, 0);

    for (size_t i = 0; p && i < p->n_dimensions; i++) {
        const Xla__PaddingConfig__PaddingConfigDimension *d = p->dimensions[i];
        str_format(out, "%s%lld_%lld", i ? "x" : "", (long long)d->edge_padding_low,
                   (long long)d->edge_padding_high);
        if (d->interior_padding)
            str_format(out, "_%lld", (long long)d->interior_padding);
    }
}
static bool take_padding(const struct convert_value *v, struct scan *s)
{
    Xla__PaddingConfig *p = (Xla__PaddingConfig *)hlo_reflect_child(v->c->arena, v->m, v->f);

    if (!p)
        return false;
    do {
        Xla__PaddingConfig__PaddingConfigDimension *d = arena_get(v->c->arena, 1, sizeof *d);
        if (!d)
            return false;
        xla__padding_config__padding_config_dimension__init(d);
        if (!hlo_scan_int(s, &d->edge_padding_low) || !hlo_scan_char(s, '_') ||
            !hlo_scan_int(s, &d->edge_padding_high) ||
            (hlo_scan_char(s, '_') && !hlo_scan_int(s, &d->interior_padding)) ||
            !hlo_convert_append(v->c->arena, (void ***)&p->dimensions, &p->n_dimensions, d))
            return false;
    } while (hlo_scan_char(s, 'x'));
    return true;
}

static void print_pairs(const struct convert_value *v, struct str *out)
{
    str_add_char(out, '{');
    for (size_t i = 0; i < hlo_reflect_count(v->m, v->f); i++) {
        const Xla__SourceTarget *p = *(Xla__SourceTarget **)hlo_reflect_at(v->m, v->f, i);
        str_format(out, "%s{%lld,%lld}", i ? "," : "", (long long)p->source, (long long)p->target);
    }
    str_add_char(out, '}');
}
static bool take_pairs(const struct convert_value *v, struct scan *s)
{
    if (!hlo_scan_char(s, '{'))
        return false;
    while (!hlo_scan_char(s, '}')) {
        Xla__SourceTarget *p;
        bool first = !hlo_reflect_count(v->m, v->f);
        if ((!first && !hlo_scan_char(s, ',')) ||
            !(p = (Xla__SourceTarget *)hlo_reflect_child(v->c->arena, v->m, v->f)) ||
            !hlo_scan_char(s, '{') || !hlo_scan_int(s, &p->source) || !hlo_scan_char(s, ',') ||
            !hlo_scan_int(s, &p->target) || !hlo_scan_char(s, '}'))
            return false;
    }
    return true;
}

static void print_aliasing(const struct convert_value *v, struct str *out)
{
    str_add_char(out, '{');
    for (size_t i = 0; i < hlo_reflect_count(v->m, v->f); i++) {
        const Xla__OutputOperandAliasing *p =
            *(Xla__OutputOperandAliasing **)hlo_reflect_at(v->m, v->f, i);
        str_add(out, i ? ", {" : "{");
        hlo_print_ints(p->output_shape_index, p->n_output_shape_index, ",", out);
        str_format(out, "}: (%lld, {", (long long)p->operand_index);
        hlo_print_ints(p->operand_shape_index, p->n_operand_shape_index, ",", out);
        str_add(out, "})");
    }
    str_add_char(out, '}');
}
static bool take_aliasing(const struct convert_value *v, struct scan *s)
{
    struct arena *a = v->c->arena;

    if (!hlo_scan_char(s, '{'))
        return false;
    while (!hlo_scan_char(s, '}')) {
        Xla__OutputOperandAliasing *p;
        bool first = !hlo_reflect_count(v->m, v->f);
        if ((!first && !hlo_scan_char(s, ',')) ||
            !(p = (Xla__OutputOperandAliasing *)hlo_reflect_child(a, v->m, v->f)) ||
            !hlo_scan_ints(s, a, "{,}", &p->output_shape_index, &p->n_output_shape_index) ||
            !hlo_scan_char(s, ':') || !hlo_scan_char(s, '(') ||
            !hlo_scan_int(s, &p->operand_index) || !hlo_scan_char(s, ',') ||
            !hlo_scan_ints(s, a, "{,}", &p->operand_shape_index, &p->n_operand_shape_index) ||
            !hlo_scan_char(s, ')'))
            return false;
    }
    return true;
}

/* ---- window={size=3x3 stride=2x2 pad=1_1x0_1 lhs_dilate=.. rhs_dilate=.. rhs_reversal=1x1} ----
 */

static const struct {
    const char *name;
    size_t offset, high; /* of WindowDimension; pad has two numbers */
    int64_t plain;       /* not printed when all dims are this */
} window_parts[] = {
    {"size", offsetof(Xla__WindowDimension, size), 0, INT64_MIN},
    {"stride", offsetof(Xla__WindowDimension, stride), 0, 1},
    {"pad", offsetof(Xla__WindowDimension, padding_low),
     offsetof(Xla__WindowDimension, padding_high), 0},
    {"lhs_dilate", offsetof(Xla__WindowDimension, base_dilation), 0, 1},
    {"rhs_dilate", offsetof(Xla__WindowDimension, window_dilation), 0, 1},
};
enum { WINDOW_PARTS = sizeof window_parts / sizeof *window_parts };

static int64_t *window_number(Xla__WindowDimension *d, size_t offset)
{
    return (int64_t *)(void *)((char *)d + offset);
}

/* Strides and dilations of 0 mean 1. */
static int64_t window_value(Xla__WindowDimension *d, size_t part)
{
    int64_t value = *window_number(d, window_parts[part].offset);

    return !value && window_parts[part].plain == 1 ? 1 : value;
}

static void print_window_part(const Xla__Window *w, size_t part, struct str *out)
{
    bool plain = true;

    for (size_t i = 0; i < w->n_dimensions; i++) {
        plain &= window_value(w->dimensions[i], part) == window_parts[part].plain;
        plain &=
            !window_parts[part].high || !*window_number(w->dimensions[i], window_parts[part].high);
    }
    if (plain)
        return;
    str_format(out, "%s%s=", part ? " " : "", window_parts[part].name);
    for (size_t i = 0; i < w->n_dimensions; i++) {
        if (i)
            str_add_char(out, 'x');
        str_add_int(out, window_value(w->dimensions[i], part));
        if (window_parts[part].high)
            str_format(out, "_%lld",
                       (long long)*window_number(w->dimensions[i], window_parts[part].high));
    }
}

static void print_window(const struct convert_value *v, struct str *out)
{
    const Xla__Window *w = convert_instruction(v)->window;
    bool reversal = false;

    if (!w || !w->n_dimensions)
        return;
    str_add_char(out, '{');
    for (size_t part = 0; part < WINDOW_PARTS; part++)
        print_window_part(w, part, out);
    for (size_t i = 0; i < w->n_dimensions; i++)
        reversal |= w->dimensions[i]->window_reversal;
    if (reversal)
        str_add(out, " rhs_reversal=");
    for (size_t i = 0; i < w->n_dimensions && reversal; i++)
        str_format(out, "%s%d", i ? "x" : "", w->dimensions[i]->window_reversal);
    str_add_char(out, '}');
}

static bool window_dim(struct arena *a, Xla__Window *w, size_t i)
{
    if (i < w->n_dimensions)
        return true;
    Xla__WindowDimension *d = arena_get(a, 1, sizeof *d);
    if (!d || i >= HLO_RANK_MAX)
        return false;
    xla__window_dimension__init(d);
    d->stride = d->base_dilation = d->window_dilation = 1;
    return hlo_convert_append(a, (void ***)&w->dimensions, &w->n_dimensions, d);
}

static bool take_window_part(struct arena *a, struct scan *s, Xla__Window *w, size_t part)
{
    size_t i = 0;
    int64_t number;

    do {
        if (!window_dim(a, w, i))
            return false;
        Xla__WindowDimension *d = w->dimensions[i++];
        if (part == WINDOW_PARTS) {
            if (!hlo_scan_int(s, &number))
                return false;
            d->window_reversal = number != 0;
        } else if (!hlo_scan_int(s, window_number(d, window_parts[part].offset)) ||
                   (window_parts[part].high &&
                    (!hlo_scan_char(s, '_') ||
                     !hlo_scan_int(s, window_number(d, window_parts[part].high))))) {
            return false;
        }
    } while (hlo_scan_char(s, 'x'));
    return true;
}

static bool take_window(const struct convert_value *v, struct scan *s)
{
    struct arena *a = v->c->arena;
    Xla__Window *w = (Xla__Window *)hlo_reflect_new(a, &xla__window__descriptor);

    convert_instruction(v)->window = w;
    if (!w || !hlo_scan_char(s, '{'))
        return false;
    while (!hlo_scan_char(s, '}')) {
        size_t part = 0;
        while (part < WINDOW_PARTS && !hlo_scan_key(s, window_parts[part].name))
            part++;
        if ((part == WINDOW_PARTS && !hlo_scan_key(s, "rhs_reversal")) ||
            !take_window_part(a, s, w, part))
            return false;
    }
    return true;
}

/* ---- dim_labels=b01f_01io->b01f ---- */

/* One of the three words: two special dims and the spatial ones, '?' where none is. */
static bool print_label(const int64_t special[2], const char letters[2], const int64_t *spatial,
                        size_t count, struct str *out)
{
    char word[HLO_RANK_MAX + 1];
    size_t rank = 0;

    if (count > 10)
        return false;
    memset(word, '?', sizeof word);
    for (size_t i = 0; i < count + 2; i++) {
        int64_t dim = i < 2 ? special[i] : spatial[i - 2];
        if (dim < 0 || dim >= HLO_RANK_MAX)
            return false;
        word[dim] = i < 2 ? letters[i] : (char)('0' + (i - 2));
        rank = (size_t)dim + 1 > rank ? (size_t)dim + 1 : rank;
    }
    str_add_bytes(out, word, rank);
    return true;
}

static void print_labels(const struct convert_value *v, struct str *out)
{
    const Xla__ConvolutionDimensionNumbers *d =
        convert_instruction(v)->convolution_dimension_numbers;

    if (!d)
        return;
    int64_t in[2] = {d->input_batch_dimension, d->input_feature_dimension};
    int64_t kernel[2] = {d->kernel_input_feature_dimension, d->kernel_output_feature_dimension};
    int64_t result[2] = {d->output_batch_dimension, d->output_feature_dimension};
    bool done =
        print_label(in, "bf", d->input_spatial_dimensions, d->n_input_spatial_dimensions, out);
    str_add_char(out, '_');
    done &= print_label(kernel, "io", d->kernel_spatial_dimensions, d->n_kernel_spatial_dimensions,
                        out);
    str_add(out, "->");
    done &= print_label(result, "bf", d->output_spatial_dimensions, d->n_output_spatial_dimensions,
                        out);
    if (!done)
        str_clear(out);
}

static bool take_label(struct arena *a, struct scan *s, const char letters[2], int64_t *special[2],
                       int64_t **spatial, size_t *count)
{
    bool seen[12] = {false};
    size_t most = 0;

    *spatial = arena_get(a, 10, sizeof **spatial);
    if (!*spatial)
        return false;
    for (int64_t dim = 0; s->at < s->end && dim < HLO_RANK_MAX; dim++, s->at++) {
        char c = *s->at;
        size_t digit = (size_t)(c - '0');
        if (c == letters[0] || c == letters[1]) {
            seen[10 + (c == letters[1])] = true;
            *special[c == letters[1]] = dim;
        } else if (c >= '0' && c <= '9') {
            seen[digit] = true;
            (*spatial)[digit] = dim;
            most = digit + 1 > most ? digit + 1 : most;
        } else if (c != '?') {
            break;
        }
    }
    for (size_t i = 0; i < most; i++) {
        if (!seen[i])
            return false;
    }
    *count = most;
    return seen[10] && seen[11];
}

static bool take_labels(const struct convert_value *v, struct scan *s)
{
    struct arena *a = v->c->arena;
    Xla__ConvolutionDimensionNumbers *d = (Xla__ConvolutionDimensionNumbers *)hlo_reflect_new(
        a, &xla__convolution_dimension_numbers__descriptor);

    convert_instruction(v)->convolution_dimension_numbers = d;
    return d &&
           take_label(a, s, "bf",
                      (int64_t *[]){&d->input_batch_dimension, &d->input_feature_dimension},
                      &d->input_spatial_dimensions, &d->n_input_spatial_dimensions) &&
           hlo_scan_char(s, '_') &&
           take_label(a, s, "io",
                      (int64_t *[]){&d->kernel_input_feature_dimension,
                                    &d->kernel_output_feature_dimension},
                      &d->kernel_spatial_dimensions, &d->n_kernel_spatial_dimensions) &&
           hlo_scan_text(s, "->") &&
           take_label(a, s, "bf",
                      (int64_t *[]){&d->output_batch_dimension, &d->output_feature_dimension},
                      &d->output_spatial_dimensions, &d->n_output_spatial_dimensions);
}

const struct convert_kind hlo_kind_slices = {print_slices, take_slices};
const struct convert_kind hlo_kind_padding = {print_padding, take_padding};
const struct convert_kind hlo_kind_pairs = {print_pairs, take_pairs};
const struct convert_kind hlo_kind_aliasing = {print_aliasing, take_aliasing};
const struct convert_kind hlo_kind_window = {print_window, take_window};
const struct convert_kind hlo_kind_labels = {print_labels, take_labels};
