#include "hlo/module/infer.h"

#include "hlo/module/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- helpers ---- */

int hlo_infer_bad(struct hlo_infer *f, const char *format, ...)
{
    char what[sizeof f->e->what];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return err_set(f->e, ERR_INPUT, "%s", what);
}

bool hlo_same_dims(const struct hlo_shape *a, const struct hlo_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (uint8_t d = 0; d < a->rank; d++) {
        bool is_free = (a->dynamic && a->dynamic[d]) || (b->dynamic && b->dynamic[d]);
        if (a->dims[d] != b->dims[d] && !is_free)
            return false;
    }
    return true;
}

void hlo_infer_name(char *out, size_t size, const struct hlo_shape *s)
{
    size_t at = (size_t)snprintf(out, size, "%s",
                                 s->type == HLO_TUPLE ? "a tuple" : hlo_type_info[s->type].name);

    if (s->type == HLO_TUPLE || at >= size)
        return;
    for (uint8_t d = 0; d <= s->rank && at + 24 < size; d++) {
        if (d == s->rank)
            at += (size_t)snprintf(out + at, size - at, d ? "]" : "[]");
        else if (s->dims[d] == HLO_DIM_UNBOUNDED)
            at += (size_t)snprintf(out + at, size - at, d ? ",?" : "[?");
        else
            at +=
                (size_t)snprintf(out + at, size - at, d ? ",%lld" : "[%lld", (long long)s->dims[d]);
    }
}

bool hlo_infer_types_mix(enum hlo_type a, enum hlo_type b)
{
    return a == b || (hlo_type_info[a].class == 'F' && hlo_type_info[b].class == 'F');
}

const struct hlo_attr *hlo_infer_attr(const struct hlo_infer *f, enum hlo_attr_key key)
{
    for (uint32_t n = 0; n < f->attr_count; n++) {
        if (f->attrs[n].key == key)
            return &f->attrs[n];
    }
    return NULL;
}

int64_t hlo_infer_int(const struct hlo_infer *f, enum hlo_attr_key key, int64_t absent)
{
    const struct hlo_attr *a = hlo_infer_attr(f, key);
    int64_t value;

    return a && hlo_parse_int(a->text, a->size, &value) ? value : absent;
}

int hlo_infer_list(struct hlo_infer *f, enum hlo_attr_key key, int64_t below,
                   struct hlo_dim_list *out)
{
    const struct hlo_attr *a = hlo_infer_attr(f, key);

    out->count = 0;
    out->mask = 0;
    if (!a)
        return 0;
    if (!hlo_parse_ints(a->text, a->size, out->dims, HLO_RANK_MAX, &out->count))
        return hlo_infer_bad(f, "%s lists more than %d numbers", hlo_attr_info[key].name,
                             HLO_RANK_MAX);
    for (size_t n = 0; n < out->count; n++) {
        int64_t d = out->dims[n];
        if (below >= 0 && (d < 0 || d >= below))
            return hlo_infer_bad(f, "%s names dim %lld, expected one of 0 to %lld",
                                 hlo_attr_info[key].name, (long long)d, (long long)below - 1);
        if (below >= 0 && (out->mask >> d & 1))
            return hlo_infer_bad(f, "%s names dim %lld twice, expected once",
                                 hlo_attr_info[key].name, (long long)d);
        if (d >= 0 && d < HLO_RANK_MAX)
            out->mask |= (uint64_t)1 << d;
    }
    return 0;
}

void hlo_infer_like(struct hlo_infer *f, uint32_t n)
{
    const struct hlo_shape *s = f->operands[n];

    f->claim = HLO_INFER_ARRAY;
    f->type = s->type;
    f->rank = s->rank;
    if (s->rank)
        memcpy(f->dims, s->dims, s->rank * sizeof *f->dims);
}

/* ---- elementwise ---- */

static int same_operands(struct hlo_infer *f, uint32_t from)
{
    const struct hlo_shape *first = f->operands[from];

    for (uint32_t n = from + 1; n < f->operand_count; n++) {
        const struct hlo_shape *s = f->operands[n];
        char a[128], b[128];
        if (hlo_same_dims(first, s) && hlo_infer_types_mix(first->type, s->type))
            continue;
        hlo_infer_name(a, sizeof a, first);
        hlo_infer_name(b, sizeof b, s);
        return hlo_infer_bad(f, "operands of shapes %s and %s, expected the same", a, b);
    }
    return 0;
}

static int infer_like(struct hlo_infer *f)
{
    hlo_infer_like(f, 0);
    return same_operands(f, 0);
}

static int infer_first(struct hlo_infer *f)
{
    if (f->operands[0]->type != HLO_TUPLE)
        hlo_infer_like(f, 0);
    return 0;
}

static int infer_compare(struct hlo_infer *f)
{
    hlo_infer_like(f, 0);
    f->type = HLO_PRED;
    return same_operands(f, 0);
}

static int infer_number(struct hlo_infer *f)
{
    f->claim = HLO_INFER_ARRAY;
    f->type = HLO_U32;
    return 0;
}

static int infer_dims(struct hlo_infer *f)
{
    hlo_infer_like(f, 0);
    f->claim = HLO_INFER_DIMS;
    return 0;
}

/* Bits of an element kept: same dims. Otherwise the narrower array has one more, of the elements
 * that make one of the other's; numbers are both complex or both not. */
static int infer_bitcast_convert(struct hlo_infer *f)
{
    const struct hlo_shape *from = f->operands[0], *to = f->declared;
    char a[128], b[128];

    if (!to || !hlo_type_info[to->type].bits)
        return 0;
    uint8_t from_bits = hlo_type_info[from->type].bits, to_bits = hlo_type_info[to->type].bits;
    const struct hlo_shape *wide = from_bits < to_bits ? to : from,
                           *narrow = from_bits < to_bits ? from : to;
    struct hlo_shape same = *wide;
    bool fits = (hlo_type_info[from->type].class == 'C') == (hlo_type_info[to->type].class == 'C');
    if (from_bits == to_bits && fits)
        return infer_dims(f);
    same.dims = narrow->dims;
    uint8_t wide_bits = hlo_type_info[wide->type].bits, bits = hlo_type_info[narrow->type].bits;
    if (fits && narrow->rank == wide->rank + 1 && hlo_same_dims(wide, &same) &&
        wide_bits % bits == 0 && narrow->dims[wide->rank] == wide_bits / bits)
        return 0;
    hlo_infer_name(a, sizeof a, from);
    hlo_infer_name(b, sizeof b, to);
    return hlo_infer_bad(f, "%s made of the bits of %s, expected as many bits an element", b, a);
}

static uint8_t part_type(uint8_t type)
{
    return type == HLO_C64 ? HLO_F32 : type == HLO_C128 ? HLO_F64 : type;
}

static int infer_part(struct hlo_infer *f)
{
    hlo_infer_like(f, 0);
    f->type = part_type(f->type);
    return 0;
}

static int infer_complex(struct hlo_infer *f)
{
    hlo_infer_like(f, 0);
    f->type = f->type == HLO_F64 ? HLO_C128 : HLO_C64;
    return same_operands(f, 0);
}

/* Scalars fit arrays of any dims here. */
static int scalar_or_like(struct hlo_infer *f, uint32_t n, uint32_t array)
{
    if (!f->operands[n]->rank || hlo_same_dims(f->operands[n], f->operands[array]))
        return 0;
    char a[128], b[128];
    hlo_infer_name(a, sizeof a, f->operands[n]);
    hlo_infer_name(b, sizeof b, f->operands[array]);
    return hlo_infer_bad(f, "operand %u of shape %s, expected a scalar or the dims of %s", n, a, b);
}

static int infer_select(struct hlo_infer *f)
{
    if (f->operands[1]->type == HLO_TUPLE || f->operands[1]->type == HLO_TOKEN)
        return 0;
    if (f->operands[0]->type != HLO_PRED)
        return hlo_infer_bad(f, "a choice of type %s, expected pred",
                             hlo_type_info[f->operands[0]->type].name);
    hlo_infer_like(f, 1);
    int rc = same_operands(f, 1);
    return rc ? rc : scalar_or_like(f, 0, 1);
}

static int infer_clamp(struct hlo_infer *f)
{
    hlo_infer_like(f, 1);
    int rc = scalar_or_like(f, 0, 1);
    return rc ? rc : scalar_or_like(f, 2, 1);
}

/* ---- the table ---- */

struct rule {
    hlo_infer_rule rule;
    uint16_t required; /* enum hlo_attr_key; 0 (never required): none */
    bool takes_tuples; /* operands need not be arrays */
};

enum { NONE = 0 };
static const struct rule rules[HLO_OP_COUNT] = {
#define LIKE(id) [HLO_OP_##id] = {infer_like, NONE, false}
    LIKE(ACOS),
    LIKE(ACOSH),
    LIKE(ADD),
    LIKE(AND),
    LIKE(ASIN),
    LIKE(ASINH),
    LIKE(ATAN2),
    LIKE(ATANH),
    LIKE(CBRT),
    LIKE(CEIL),
    LIKE(COUNT_LEADING_ZEROS),
    LIKE(COSINE),
    LIKE(COSH),
    LIKE(DIVIDE),
    LIKE(ERF),
    LIKE(EXPONENTIAL),
    LIKE(EXPONENTIAL_MINUS_ONE),
    LIKE(FLOOR),
    LIKE(LOG),
    LIKE(LOG_PLUS_ONE),
    LIKE(LOGISTIC),
    LIKE(MAXIMUM),
    LIKE(MINIMUM),
    LIKE(MULHI),
    LIKE(MULTIPLY),
    LIKE(NEGATE),
    LIKE(NOT),
    LIKE(OR),
    LIKE(POPCNT),
    LIKE(POWER),
    LIKE(REDUCE_PRECISION),
    LIKE(REMAINDER),
    LIKE(ROUND_NEAREST_AFZ),
    LIKE(ROUND_NEAREST_EVEN),
    LIKE(RSQRT),
    LIKE(SHIFT_LEFT),
    LIKE(SHIFT_RIGHT_ARITHMETIC),
    LIKE(SHIFT_RIGHT_LOGICAL),
    LIKE(SIGN),
    LIKE(SINE),
    LIKE(SINH),
    LIKE(SQRT),
    LIKE(SUBTRACT),
    LIKE(TAN),
    LIKE(TANH),
    LIKE(XOR),
#undef LIKE
    [HLO_OP_ABS] = {infer_part, NONE, false},
    [HLO_OP_REAL] = {infer_part, NONE, false},
    [HLO_OP_IMAG] = {infer_part, NONE, false},
    [HLO_OP_COMPLEX] = {infer_complex, NONE, false},
    [HLO_OP_COMPARE] = {infer_compare, HLO_ATTR_DIRECTION, false},
    [HLO_OP_IS_FINITE] = {infer_compare, NONE, false},
    [HLO_OP_CONVERT] = {infer_dims, NONE, false},
    [HLO_OP_STOCHASTIC_CONVERT] = {infer_dims, NONE, false},
    [HLO_OP_BITCAST_CONVERT] = {infer_bitcast_convert, NONE, false},
    [HLO_OP_REPLICA_ID] = {infer_number, NONE, false},
    [HLO_OP_PARTITION_ID] = {infer_number, NONE, false},
    [HLO_OP_SELECT] = {infer_select, NONE, true},
    [HLO_OP_CLAMP] = {infer_clamp, NONE, false},
    [HLO_OP_COPY] = {infer_first, NONE, true},
    [HLO_OP_DOMAIN] = {infer_first, HLO_ATTR_DOMAIN, true},
    [HLO_OP_ADD_DEPENDENCY] = {infer_first, NONE, true},
    [HLO_OP_OPT_BARRIER] = {infer_first, NONE, true},
    [HLO_OP_BROADCAST] = {hlo_infer_broadcast, NONE, false},
    [HLO_OP_TRANSPOSE] = {hlo_infer_transpose, HLO_ATTR_DIMENSIONS, false},
    [HLO_OP_REVERSE] = {hlo_infer_reverse, HLO_ATTR_DIMENSIONS, false},
    [HLO_OP_RESHAPE] = {hlo_infer_reshape, NONE, false},
    [HLO_OP_CONCATENATE] = {hlo_infer_concatenate, HLO_ATTR_DIMENSIONS, false},
    [HLO_OP_SLICE] = {hlo_infer_slice, HLO_ATTR_SLICE, false},
    [HLO_OP_DYNAMIC_SLICE] = {hlo_infer_dynamic_slice, HLO_ATTR_DYNAMIC_SLICE_SIZES, false},
    [HLO_OP_DYNAMIC_UPDATE_SLICE] = {hlo_infer_dynamic_update_slice, NONE, false},
    [HLO_OP_PAD] = {hlo_infer_pad, HLO_ATTR_PADDING, false},
    [HLO_OP_IOTA] = {hlo_infer_iota, HLO_ATTR_IOTA_DIMENSION, false},
    [HLO_OP_REDUCE] = {hlo_infer_reduce, HLO_ATTR_DIMENSIONS, false},
    [HLO_OP_SORT] = {hlo_infer_sort, HLO_ATTR_DIMENSIONS, false},
    [HLO_OP_DOT] = {hlo_infer_dot, NONE, false},
    [HLO_OP_GATHER] = {hlo_infer_gather, HLO_ATTR_SLICE_SIZES, false},
    [HLO_OP_SCATTER] = {hlo_infer_scatter, HLO_ATTR_INDEX_VECTOR_DIM, false},
    [HLO_OP_CONVOLUTION] = {hlo_infer_convolution, HLO_ATTR_DIM_LABELS, false},
    [HLO_OP_REDUCE_WINDOW] = {hlo_infer_reduce_window, NONE, false},
    [HLO_OP_SELECT_AND_SCATTER] = {hlo_infer_select_and_scatter, NONE, false},
    [HLO_OP_FFT] = {hlo_infer_fft, HLO_ATTR_FFT_LENGTH, false},
    [HLO_OP_GET_DIMENSION_SIZE] = {hlo_infer_dimension_size, HLO_ATTR_DIMENSIONS, false},
    [HLO_OP_SET_DIMENSION_SIZE] = {hlo_infer_dimension_size, HLO_ATTR_DIMENSIONS, false},
    [HLO_OP_CHOLESKY] = {hlo_infer_cholesky, NONE, false},
    [HLO_OP_TRIANGULAR_SOLVE] = {hlo_infer_triangular_solve, NONE, false},
    [HLO_OP_ALL_GATHER] = {hlo_infer_all_gather, HLO_ATTR_DIMENSIONS, true},
    [HLO_OP_REDUCE_SCATTER] = {hlo_infer_reduce_scatter, HLO_ATTR_DIMENSIONS, true},
    [HLO_OP_BATCH_NORM_INFERENCE] = {hlo_infer_batch_norm_inference, HLO_ATTR_FEATURE_INDEX, false},
    [HLO_OP_BATCH_NORM_TRAINING] = {hlo_infer_batch_norm_inference, HLO_ATTR_FEATURE_INDEX, false},
    [HLO_OP_BATCH_NORM_GRAD] = {hlo_infer_batch_norm_inference, HLO_ATTR_FEATURE_INDEX, false},
    [HLO_OP_TOPK] = {hlo_infer_topk, HLO_ATTR_K, false},
    [HLO_OP_RNG] = {NULL, HLO_ATTR_DISTRIBUTION, false},
    [HLO_OP_RNG_BIT_GENERATOR] = {NULL, HLO_ATTR_ALGORITHM, false},
    [HLO_OP_CUSTOM_CALL] = {NULL, HLO_ATTR_CUSTOM_CALL_TARGET, true},
    [HLO_OP_FUSION] = {NULL, HLO_ATTR_KIND, true},
    [HLO_OP_COLLECTIVE_PERMUTE] = {NULL, HLO_ATTR_SOURCE_TARGET_PAIRS, true},
};

bool hlo_infer_is_elementwise(uint16_t opcode)
{
    return rules[opcode].rule == infer_like;
}

static int need_arrays(struct hlo_infer *f)
{
    for (uint32_t n = 0; n < f->operand_count; n++) {
        if (!hlo_type_info[f->operands[n]->type].bits)
            return hlo_infer_bad(f, "operand %u is of type %s, expected an array", n,
                                 hlo_type_info[f->operands[n]->type].name);
    }
    return 0;
}

int hlo_infer(struct hlo_infer *f)
{
    const struct rule *r = &rules[f->opcode];
    int rc = 0;

    f->claim = HLO_INFER_NOTHING;
    f->type = f->rank = 0;
    f->inputs = 0;
    if (r->required != NONE && !hlo_infer_attr(f, (enum hlo_attr_key)r->required))
        return hlo_infer_bad(f, "attribute %s is missing", hlo_attr_info[r->required].name);
    if (!r->rule)
        return 0;
    if (!r->takes_tuples)
        rc = need_arrays(f);
    return rc ? rc : r->rule(f);
}
