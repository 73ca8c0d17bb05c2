/* Attributes and constants in MLIR's generic form. */
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/stablehlo/write_internal.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void hlo_mlir_write_attrs_begin(struct mlir_writer *w)
{
    w->attrs = 0;
    str_add(w->out, " <{");
}

void hlo_mlir_write_attrs_end(struct mlir_writer *w)
{
    if (w->attrs) {
        str_add(w->out, "}>");
        return;
    }
    w->out->size -= 3; /* an empty list is not written */
    w->out->text[w->out->size] = '\0';
}

void hlo_mlir_write_attr(struct mlir_writer *w, const char *name)
{
    str_format(w->out, "%s%s = ", w->attrs++ ? ", " : "", name);
}

void hlo_mlir_write_ints_list(struct mlir_writer *w, const int64_t *ints, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        str_add(w->out, n ? ", " : "");
        str_add_int(w->out, ints[n]);
    }
}

void hlo_mlir_write_string(struct mlir_writer *w, const char *text, size_t size)
{
    str_add_char(w->out, '"');
    for (size_t n = 0; n < size; n++) {
        unsigned char c = (unsigned char)text[n];
        if (c == '"' || c == '\\')
            str_format(w->out, "\\%c", c);
        else if (c < ' ' || c >= 0x7f)
            str_format(w->out, "\\%02X", c);
        else
            str_add_char(w->out, (char)c);
    }
    str_add_char(w->out, '"');
}

void hlo_mlir_write_hlo_string(struct mlir_writer *w, const struct hlo_attr *a)
{
    char *bytes = a->size > 2 ? mem_try(a->size, 1) : NULL;

    if (bytes)
        hlo_mlir_write_string(w, bytes, hlo_lex_unescape(bytes, a->text + 1, a->size - 2));
    else
        str_add(w->out, "\"\"");
    w->out->failed |= a->size > 2 && !bytes;
    free(bytes);
}

void hlo_mlir_write_array(struct mlir_writer *w, const char *name, const int64_t *ints,
                          size_t count)
{
    hlo_mlir_write_attr(w, name);
    str_add(w->out, count ? "array<i64: " : "array<i64");
    hlo_mlir_write_ints_list(w, ints, count);
    str_add_char(w->out, '>');
}

void hlo_mlir_write_int(struct mlir_writer *w, const char *name, int64_t value, const char *type)
{
    hlo_mlir_write_attr(w, name);
    str_format(w->out, "%lld : %s", (long long)value, type);
}

/* ---- kinds of the table ---- */

/* Words of StableHLO's enumerations, by the name of the attribute. */
static const struct {
    const char *attr, *name;
} enumerations[] = {
    {"fft_type", "fft_type"},
    {"transpose_a", "transpose"},
    {"rng_distribution", "rng_distribution"},
    {"rng_algorithm", "rng_algorithm"},
};

static void write_word(struct mlir_writer *w, const char *attr, const struct hlo_attr *a)
{
    const char *name = attr, *text = a->text;
    size_t size = a->size;

    for (size_t n = 0; n < sizeof enumerations / sizeof *enumerations; n++) {
        if (!strcmp(enumerations[n].attr, attr))
            name = enumerations[n].name;
    }
    if (size > 4 && !memcmp(text, "rng_", 4)) {
        text += 4;
        size -= 4;
    }
    str_format(w->out, "#stablehlo<%s ", name);
    for (size_t n = 0; n < size; n++)
        str_add_char(w->out, text[n] >= 'a' && text[n] <= 'z' ? (char)(text[n] - 32) : text[n]);
    str_add_char(w->out, '>');
}

static void write_precision(struct mlir_writer *w, const struct hlo_attr *a, const char *dialect)
{
    bool is_first = true;

    str_add_char(w->out, '[');
    for (const char *p = a->text + 1, *end = a->text + a->size; p < end;) {
        const char *from = p;
        while (p < end && *p != ',' && *p != '}')
            p++;
        str_format(w->out, "%s#%s<precision ", is_first ? "" : ", ", dialect);
        for (; from < p; from++)
            str_add_char(w->out, *from >= 'a' && *from <= 'z' ? (char)(*from - 32) : *from);
        str_add_char(w->out, '>');
        is_first = false;
        p++;
    }
    str_add_char(w->out, ']');
}

enum { GROUPS_MAX = 1 << 16 }; /* device ids, as many as are read */

/* Rows of `{{0,1},{2}}` and the longest of them. */
static bool count_groups(const struct hlo_attr *a, size_t *rows, size_t *longest)
{
    size_t row = 0;

    *rows = *longest = 0;
    if (a->size < 2 || a->text[0] != '{')
        return false;
    for (uint32_t n = 1; n < a->size; n++) {
        if (a->text[n] == '{') {
            row = 0;
            ++*rows;
        }
        row += lex_is(a->text[n], LEX_DIGIT) && !lex_is(a->text[n - 1], LEX_DIGIT);
        *longest = row > *longest ? row : *longest;
    }
    return !*longest || *rows <= GROUPS_MAX / *longest;
}

/* `{{0,1},{2}}`: rows of equal length, the shorter ones filled up with -1; no pairs are 0x2. */
static bool write_groups(struct mlir_writer *w, const struct hlo_attr *a)
{
    size_t rows, longest, row = 0;

    if (!count_groups(a, &rows, &longest))
        return false;
    str_add(w->out, "dense<");
    for (uint32_t n = 0; n < a->size && rows; n++) {
        char c = a->text[n];
        row = c == '{' ? 0 : row + (lex_is(c, LEX_DIGIT) && !lex_is(a->text[n - 1], LEX_DIGIT));
        for (; c == '}' && n + 1 < a->size && row < longest; row++)
            str_add(w->out, row ? ",-1" : "-1");
        str_add_char(w->out, c == '{' ? '[' : c == '}' ? ']' : c);
    }
    if (!rows && a->key == HLO_ATTR_SOURCE_TARGET_PAIRS)
        longest = 2;
    str_format(w->out, "> : tensor<%zux%zuxi64>", rows, longest);
    return true;
}

static int write_kind(struct mlir_writer *w, hlo_id id, const struct mlir_attr_info *info,
                      const struct hlo_attr *a)
{
    int64_t ints[HLO_RANK_MAX];
    size_t count = hlo_attr_ints(w->m, id, (enum hlo_attr_key)info->key, ints);

    if (hlo_at(w->m, id)->opcode == HLO_OP_MAP) { /* HLO may leave them out, and means all */
        for (count = 0; count < hlo_shape(w->m, id)->rank; count++)
            ints[count] = (int64_t)count;
    }
    switch (info->kind) {
    case MLIR_KIND_INTS:
    case MLIR_KIND_INTS_OR_NOT:
        hlo_mlir_write_array(w, info->name, ints, count);
        return 0;
    case MLIR_KIND_INT_LIST:
    case MLIR_KIND_SORT_DIM:
        hlo_mlir_write_int(w, info->name, count ? ints[0] : 0, "i64");
        return 0;
    case MLIR_KIND_INT:
    case MLIR_KIND_INT_OR_ZERO:
    case MLIR_KIND_COUNT:
        hlo_mlir_write_int(
            w, info->name,
            hlo_attr_int(w->m, id, (enum hlo_attr_key)info->key, info->kind == MLIR_KIND_COUNT),
            "i64");
        return 0;
    case MLIR_KIND_FLAG:
        hlo_mlir_write_attr(w, info->name);
        str_add(w->out,
                hlo_attr_bool(w->m, id, (enum hlo_attr_key)info->key, false) ? "true" : "false");
        return 0;
    default:
        break;
    }
    if (!a)
        return 0;
    hlo_mlir_write_attr(w, info->name);
    if (info->kind == MLIR_KIND_FLOAT) {
        double value = 0;
        text_real(a->text, a->size, &value);
        str_format(w->out, "%.9e : f32", value);
    } else if (info->kind == MLIR_KIND_PRECISION) {
        write_precision(w, a, hlo_at(w->m, id)->opcode == HLO_OP_RAGGED_DOT ? "chlo" : "stablehlo");
    } else if (info->kind == MLIR_KIND_GROUPS) {
        if (!write_groups(w, a))
            return hlo_mlir_write_fail(w, id, "its device groups are not a list of equal rows");
    } else if (info->kind == MLIR_KIND_STRING) {
        str_add_bytes(w->out, a->text, a->size);
    } else {
        write_word(w, info->name, a);
    }
    return 0;
}

/* Fields `struct/field` of one struct attribute: #stablehlo.gather<a = [..], ..>. */
static void write_struct(struct mlir_writer *w, hlo_id id, const struct mlir_op_info *info,
                         const char *name, size_t size)
{
    const char *type = !strncmp(name, "scatter", 7)   ? "scatter"
                       : !strncmp(name, "channel", 7) ? "channel_handle"
                                                      : "gather";
    bool is_first = true;

    str_format(w->out, "%s%.*s = #stablehlo.%s<", w->attrs++ ? ", " : "", (int)size, name, type);
    for (int n = 0; n < MLIR_OP_ATTRS_MAX && info->attrs[n].name; n++) {
        const struct mlir_attr_info *a = &info->attrs[n];
        int64_t ints[HLO_RANK_MAX];
        if (strncmp(a->name, name, size) != 0 || a->name[size] != '/')
            continue;
        str_format(w->out, "%s%s = ", is_first ? "" : ", ", a->name + size + 1);
        is_first = false;
        if (a->kind == MLIR_KIND_INT || a->kind == MLIR_KIND_INT_OR_ZERO) {
            str_add_int(w->out, hlo_attr_int(w->m, id, (enum hlo_attr_key)a->key, 0));
        } else {
            size_t count = hlo_attr_ints(w->m, id, (enum hlo_attr_key)a->key, ints);
            str_add_char(w->out, '[');
            hlo_mlir_write_ints_list(w, ints, count);
            str_add_char(w->out, ']');
        }
    }
    str_add(w->out, *type == 'c' ? ", type = 1>" : ">");
}

int hlo_mlir_write_table(struct mlir_writer *w, hlo_id id, const struct mlir_op_info *info)
{
    const char *done = NULL;

    for (int n = 0; n < MLIR_OP_ATTRS_MAX && info->attrs[n].name; n++) {
        const struct mlir_attr_info *a = &info->attrs[n];
        const struct hlo_attr *found = hlo_attr(w->m, id, (enum hlo_attr_key)a->key);
        const char *slash = strchr(a->name, '/');
        if (!slash) {
            if (a->key == HLO_ATTR_USE_GLOBAL_DEVICE_IDS) {
                if (found)
                    str_format(w->out, "%suse_global_device_ids", w->attrs++ ? ", " : "");
            } else if (write_kind(w, id, a, found)) {
                return w->e->code;
            }
            continue;
        }
        size_t size = (size_t)(slash - a->name);
        if (done && !strncmp(done, a->name, size + 1))
            continue;
        done = a->name;
        if (strncmp(a->name, "channel", 7) != 0 || found)
            write_struct(w, id, info, a->name, size);
    }
    return 0;
}

/* ---- windows ---- */

static void write_padding(struct mlir_writer *w, const struct hlo_window *x, uint32_t rank)
{
    hlo_mlir_write_attr(w, "padding");
    str_add(w->out, rank ? "dense<[" : "dense<");
    for (uint32_t n = 0; n < rank; n++)
        str_format(w->out, "%s[%lld, %lld]", n ? ", " : "", (long long)x->pad_low[n],
                   (long long)x->pad_high[n]);
    str_format(w->out, "%s> : tensor<%ux2xi64>", rank ? "]" : "", rank);
}

static bool window_of(struct mlir_writer *w, hlo_id id, uint32_t rank, struct hlo_window *x)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_WINDOW);

    return hlo_parse_window(a ? a->text : "{}", a ? a->size : 2, x) &&
           (x->rank == rank || !x->rank);
}

int hlo_mlir_write_window(struct mlir_writer *w, hlo_id id, uint32_t rank)
{
    struct hlo_window x;

    if (!window_of(w, id, rank, &x))
        return hlo_mlir_write_fail(w, id, "its window is not of its rank");
    hlo_mlir_write_array(w, "window_dimensions", x.size, rank);
    hlo_mlir_write_array(w, "window_strides", x.stride, rank);
    if (hlo_at(w->m, id)->opcode == HLO_OP_REDUCE_WINDOW) {
        hlo_mlir_write_array(w, "base_dilations", x.base_dilation, rank);
        hlo_mlir_write_array(w, "window_dilations", x.window_dilation, rank);
    }
    if (rank)
        write_padding(w, &x, rank);
    return 0;
}

static void write_labels(struct mlir_writer *w, const char *letters, uint8_t first, uint8_t second,
                         const uint8_t *spatial, uint8_t count)
{
    str_add_char(w->out, '[');
    for (uint8_t d = 0; d < count + 2; d++) {
        str_add(w->out, d ? ", " : "");
        if (d == first || d == second) {
            str_add_char(w->out, letters[d == second]);
            continue;
        }
        for (uint8_t n = 0; n < count; n++) {
            if (spatial[n] == d)
                str_add_int(w->out, n);
        }
    }
    str_add_char(w->out, ']');
}

int hlo_mlir_write_convolution(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_DIM_LABELS);
    struct hlo_conv_dims d;
    struct hlo_window x;

    if (!a || !hlo_parse_conv_dims(a->text, a->size, &d) ||
        !window_of(w, id, d.spatial_count, &x) || memchr(a->text, '?', a->size))
        return hlo_mlir_write_fail(w, id, "its dims or window cannot be said");
    uint32_t rank = d.spatial_count;
    hlo_mlir_write_attr(w, "dimension_numbers");
    str_add(w->out, "#stablehlo.conv<");
    write_labels(w, "bf", d.in_batch, d.in_feature, d.in_spatial, d.spatial_count);
    str_add_char(w->out, 'x');
    write_labels(w, "io", d.kernel_in, d.kernel_out, d.kernel_spatial, d.spatial_count);
    str_add(w->out, "->");
    write_labels(w, "bf", d.out_batch, d.out_feature, d.out_spatial, d.spatial_count);
    str_add_char(w->out, '>');
    hlo_mlir_write_array(w, "window_strides", x.stride, rank);
    hlo_mlir_write_array(w, "lhs_dilation", x.base_dilation, rank);
    hlo_mlir_write_array(w, "rhs_dilation", x.window_dilation, rank);
    if (rank)
        write_padding(w, &x, rank);
    hlo_mlir_write_attr(w, "window_reversal");
    str_add(w->out, rank ? "array<i1: " : "array<i1");
    for (uint32_t n = 0; n < rank; n++)
        str_format(w->out, "%s%s", n ? ", " : "", x.reversal[n] ? "true" : "false");
    str_add_char(w->out, '>');
    return 0;
}

/* ---- constants ---- */

/* Bits of what has no decimal form. */
static const struct {
    uint8_t type;
    const char *inf, *minus_inf, *nan;
} special_bits[] = {
    {HLO_F16, "0x7C00", "0xFC00", "0x7E00"},
    {HLO_BF16, "0x7F80", "0xFF80", "0x7FC0"},
    {HLO_F32, "0x7F800000", "0xFF800000", "0x7FC00000"},
    {HLO_F64, "0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"},
    {HLO_F8E5M2, "0x7C", "0xFC", "0x7E"},
    {HLO_F8E4M3, "0x78", "0xF8", "0x7C"},
    {HLO_F8E3M4, "0x70", "0xF0", "0x78"},
    {HLO_F8E4M3FN, NULL, NULL, "0x7F"},
    {HLO_F8E5M2FNUZ, NULL, NULL, "0x80"},
    {HLO_F8E4M3FNUZ, NULL, NULL, "0x80"},
    {HLO_F8E4M3B11FNUZ, NULL, NULL, "0x80"},
};

static const char *special(uint8_t type, const char *p)
{
    bool minus = *p == '-';

    p += *p == '-' || *p == '+';
    for (size_t n = 0; n < sizeof special_bits / sizeof *special_bits; n++) {
        if (special_bits[n].type != type)
            continue;
        return *p == 'n'   ? special_bits[n].nan
               : *p != 'i' ? NULL
               : minus     ? special_bits[n].minus_inf
                           : special_bits[n].inf;
    }
    return NULL;
}

/* One number at p; past it. */
static const char *write_number(struct mlir_writer *w, uint8_t type, const char *p, const char *end)
{
    const char *from = p;
    double value;

    while (p < end && !strchr(",{}()/ \n\t\r", *p))
        p++;
    if (p < end && *p == '(' && from[0] == 'n')
        p = hlo_lex_group_end(p); /* nan(0x7f) */
    size_t size = (size_t)(p - from);
    if (hlo_type_info[type].class != 'F') {
        str_add_bytes(w->out, from, size);
        return p;
    }
    const char *bits = special(type, from);
    if (bits) {
        str_add(w->out, bits);
        return p;
    }
    if (!text_real(from, size, &value))
        return NULL;
    bits = isinf(value) ? special(type, value < 0 ? "-inf" : "inf") : NULL;
    if (bits)
        str_add(w->out, bits);
    else
        str_format(w->out, type == HLO_F64 ? "%.17e" : "%.9e", value);
    return p;
}

int hlo_mlir_write_literal(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_shape *s = hlo_shape(w->m, id);
    const struct hlo_text *t = &w->m->literals[hlo_at(w->m, id)->literal];
    const char *p = t->text, *end = t->text + t->size;
    bool is_complex = hlo_type_info[s->type].class == 'C';
    uint8_t type = s->type == HLO_C64 ? HLO_F32 : s->type == HLO_C128 ? HLO_F64 : s->type;

    if (t->size >= 5 && !memcmp(t->text, "{...}", 5))
        return hlo_mlir_write_fail(w, id,
                                   "the file has not its values ({...}), which "
                                   "--xla_dump_large_constants=true would print");
    str_add(w->out, "dense<");
    for (p = lex_skip(p); p < end && s->elements; p = lex_skip(p)) { /* and XLA's comments */
        char c = *p;
        if (c == '{' || c == '}') {
            str_add_char(w->out, c == '{' ? '[' : ']');
        } else if (c == ',' || (is_complex && (c == '(' || c == ')'))) {
            str_add_char(w->out, c);
        } else {
            const char *number = p;
            if (hlo_type_info[s->type].class == 'P' && (c == '0' || c == '1')) {
                str_add(w->out, c == '1' ? "true" : "false");
                p++;
                continue;
            }
            p = write_number(w, type, p, end);
            if (!p || p == number)
                return hlo_mlir_write_fail(w, id, "its value cannot be read");
            continue;
        }
        p++;
    }
    str_add(w->out, "> : ");
    hlo_mlir_write_type(w, s);
    return 0;
}
