/* Constants: `dense<..>` to HLO's literals, made once per computation where they are first used. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- bits of floats ---- */

enum float_kind {
    FLOAT_IEEE,  /* largest exponent: inf, nan */
    FLOAT_FN,    /* all ones: nan; no inf */
    FLOAT_FNUZ,  /* only the sign: nan; no inf, no -0 */
    FLOAT_PLAIN, /* no inf, no nan */
};
static const struct float_format {
    uint8_t type, exponent, mantissa, kind;
    int bias;
} float_formats[] = {
    {HLO_F16, 5, 10, FLOAT_IEEE, 15},          {HLO_BF16, 8, 7, FLOAT_IEEE, 127},
    {HLO_F32, 8, 23, FLOAT_IEEE, 127},         {HLO_F64, 11, 52, FLOAT_IEEE, 1023},
    {HLO_F8E5M2, 5, 2, FLOAT_IEEE, 15},        {HLO_F8E4M3, 4, 3, FLOAT_IEEE, 7},
    {HLO_F8E3M4, 3, 4, FLOAT_IEEE, 3},         {HLO_F8E4M3FN, 4, 3, FLOAT_FN, 7},
    {HLO_F8E5M2FNUZ, 5, 2, FLOAT_FNUZ, 16},    {HLO_F8E4M3FNUZ, 4, 3, FLOAT_FNUZ, 8},
    {HLO_F8E4M3B11FNUZ, 4, 3, FLOAT_FNUZ, 11}, {HLO_F6E2M3FN, 2, 3, FLOAT_PLAIN, 1},
    {HLO_F6E3M2FN, 3, 2, FLOAT_PLAIN, 3},      {HLO_F4E2M1FN, 2, 1, FLOAT_PLAIN, 1},
};

static double float_of_bits(uint8_t type, uint64_t bits)
{
    const struct float_format *f = float_formats;

    if (type == HLO_F8E8M0FNU)
        return bits == 255 ? NAN : ldexp(1, (int)bits - 127);
    for (size_t n = 0; n < sizeof float_formats / sizeof *float_formats; n++) {
        if (float_formats[n].type == type)
            f = &float_formats[n];
    }
    uint64_t mantissa = bits & (((uint64_t)1 << f->mantissa) - 1);
    uint64_t most = ((uint64_t)1 << f->exponent) - 1, exponent = bits >> f->mantissa & most;
    bool minus = bits >> (f->exponent + f->mantissa) & 1;
    if (f->kind == FLOAT_IEEE && exponent == most)
        return mantissa ? NAN : minus ? -INFINITY : INFINITY;
    if ((f->kind == FLOAT_FN && exponent == most && mantissa == ((uint64_t)1 << f->mantissa) - 1) ||
        (f->kind == FLOAT_FNUZ && minus && !exponent && !mantissa))
        return NAN;
    double value = exponent
                       ? ldexp(1 + ldexp((double)mantissa, -f->mantissa), (int)exponent - f->bias)
                       : ldexp((double)mantissa, 1 - f->bias - f->mantissa);
    return minus ? -value : value;
}

static void add_float(struct str *out, uint8_t type, uint64_t bits)
{
    double value = float_of_bits(type, bits);

    if (isnan(value))
        str_add(out, "nan");
    else if (isinf(value))
        str_add(out, value < 0 ? "-inf" : "inf");
    else
        str_format(out, type == HLO_F64 ? "%.17g" : "%.9g", value);
}

static void add_bits(struct str *out, uint8_t type, uint64_t bits)
{
    const struct hlo_type_info *t = &hlo_type_info[type];

    if (t->class == 'P')
        str_add(out, bits & 1 ? "true" : "false");
    else if (t->class == 'F')
        add_float(out, type, bits);
    else if (t->class == 'U')
        str_format(out, "%" PRIu64, t->bits < 64 ? bits & (((uint64_t)1 << t->bits) - 1) : bits);
    else
        str_add_int(out, t->bits < 64 ? (int64_t)(bits << (64 - t->bits)) >> (64 - t->bits)
                                      : (int64_t)bits);
}

/* ---- one element as text ---- */

static int64_t most_of(const struct hlo_type_info *t)
{
    int bits = t->bits - (t->class == 'I');

    return bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}

static const char *hex_end(const char *p, uint64_t *out)
{
    const char *begin = p += 2;

    for (*out = 0; lex_is(*p, LEX_DIGIT) || (*p >= 'a' && *p <= 'f') || (*p >= 'A' && *p <= 'F');
         p++)
        *out = *out << 4 | (uint64_t)(lex_is(*p, LEX_DIGIT) ? *p - '0' : (*p | 32) - 'a' + 10);
    return p > begin && p - begin <= 16 ? p : NULL;
}

static const char *integer_end(struct lower *l, const struct hlo_type_info *t, const char *p)
{
    int64_t value;
    const char *end = hlo_lex_int(p, &value);
    int64_t most = most_of(t), least = t->class == 'I' ? -most - 1 : 0;

    if (!end || (t->bits < 64 && (value < least || value > most)))
        return NULL;
    str_add_bytes(&l->text, p, (size_t)(end - p));
    return end;
}

static const char *real_end(const char *p)
{
    bool has_digit = false;

    p += *p == '-' || *p == '+';
    for (; lex_is(*p, LEX_DIGIT); p++)
        has_digit = true;
    if (*p == '.') {
        for (p++; lex_is(*p, LEX_DIGIT); p++)
            has_digit = true;
    }
    if (has_digit && (*p == 'e' || *p == 'E')) {
        const char *exponent = p + 1 + (p[1] == '-' || p[1] == '+');
        if (!lex_is(*exponent, LEX_DIGIT))
            return NULL;
        for (p = exponent; lex_is(*p, LEX_DIGIT);)
            p++;
    }
    return has_digit ? p : NULL;
}

/* From these on a number rounds to infinity: MLIR reads it as that, XLA refuses it. Types without
 * infinity are not in the list. */
static const struct {
    uint8_t type;
    double least;
} too_large[] = {
    {HLO_F16, 65520},    {HLO_BF16, 0x1.ffp127}, {HLO_F32, 0x1.ffffffp127}, {HLO_F64, HUGE_VAL},
    {HLO_F8E5M2, 61440}, {HLO_F8E4M3, 248},      {HLO_F8E3M4, 15.75},
};

static const char *lower_real(struct lower *l, uint8_t type, const char *p)
{
    const char *end = real_end(p);
    double value;

    if (!end || !text_real(p, (size_t)(end - p), &value))
        return NULL;
    for (size_t n = 0; n < sizeof too_large / sizeof *too_large; n++) {
        if (too_large[n].type == type && fabs(value) >= too_large[n].least) {
            str_add(&l->text, value < 0 ? "-inf" : "inf");
            return end;
        }
    }
    str_add_bytes(&l->text, p, (size_t)(end - p));
    return end;
}

/* An element of this type at p, to l->text. Past it, or NULL. */
static const char *lower_element(struct lower *l, uint8_t type, const char *p)
{
    const struct hlo_type_info *t = &hlo_type_info[type];
    uint64_t bits;

    if (t->class == 'C') {
        uint8_t part = type == HLO_C64 ? HLO_F32 : HLO_F64;
        if (*p != '(')
            return NULL;
        str_add_char(&l->text, '(');
        p = lower_element(l, part, lex_skip(p + 1));
        if (!p || *(p = lex_skip(p)) != ',')
            return NULL;
        str_add(&l->text, ", ");
        p = lower_element(l, part, lex_skip(p + 1));
        if (!p || *(p = lex_skip(p)) != ')')
            return NULL;
        str_add_char(&l->text, ')');
        return p + 1;
    }
    if (p[0] == '0' && p[1] == 'x') {
        p = hex_end(p, &bits);
        if (p)
            add_bits(&l->text, type, bits);
        return p;
    }
    if (t->class == 'P' && (hlo_lex_is_word(p, "true") || hlo_lex_is_word(p, "false"))) {
        const char *end = lex_name_end(p);
        str_add_bytes(&l->text, p, (size_t)(end - p));
        return end;
    }
    if (t->class == 'F')
        return lower_real(l, type, p);
    return t->class == 'O' ? NULL : integer_end(l, t, p);
}

/* ---- arrays ---- */

static const char *lower_list(struct lower *l, const struct hlo_shape *s, uint8_t dim,
                              const char *p)
{
    if (dim == s->rank)
        return lower_element(l, s->type, p);
    if (*p != '[')
        return NULL;
    p = lex_skip(p + 1);
    str_add_char(&l->text, '{');
    for (int64_t n = 0; n < s->dims[dim]; n++) {
        if (n) {
            if (*p != ',')
                return NULL;
            p = lex_skip(p + 1);
            str_add(&l->text, ", ");
        }
        p = lower_list(l, s, (uint8_t)(dim + 1), p);
        if (!p)
            return NULL;
        p = lex_skip(p);
    }
    if (*p != ']')
        return NULL;
    str_add_char(&l->text, '}');
    return p + 1;
}

/* Braces of an array without elements. */
static int add_empty(struct lower *l, const struct hlo_shape *s, uint8_t dim)
{
    str_add_char(&l->text, '{');
    for (int64_t n = 0; dim + 1 < s->rank && n < s->dims[dim]; n++) {
        if (n)
            str_add(&l->text, ", ");
        if (l->text.size > 1 << 20)
            return hlo_lower_fail(l, "an array without elements of too many parts");
        if (add_empty(l, s, (uint8_t)(dim + 1)))
            return l->e->code;
    }
    str_add_char(&l->text, '}');
    return 0;
}

/* ---- blobs: `"0x..."`, little-endian, row by row ---- */

struct blob {
    const char *hex; /* behind 0x */
    size_t bytes;
    uint32_t width; /* bytes of an element (of its part, when complex) */
    bool is_packed; /* booleans, eight in a byte */
};

static unsigned byte_at(const struct blob *b, size_t n)
{
    unsigned value = 0;

    for (int k = 0; k < 2; k++) {
        char c = b->hex[2 * n + (size_t)k];
        value =
            value << 4 | (unsigned)(lex_is(c, LEX_DIGIT) ? c - '0' : ((c | 32) - 'a' + 10) & 15);
    }
    return value;
}

static uint64_t bits_at(const struct blob *b, size_t element)
{
    uint64_t bits = 0;

    if (b->is_packed)
        return byte_at(b, element / 8) >> (element % 8) & 1;
    for (uint32_t k = 0; k < b->width; k++)
        bits |= (uint64_t)byte_at(b, element * b->width + k) << (8 * k);
    return bits;
}

static void add_blob_element(struct lower *l, const struct hlo_shape *s, const struct blob *b,
                             size_t n)
{
    if (hlo_type_info[s->type].class != 'C') {
        add_bits(&l->text, s->type, bits_at(b, n));
        return;
    }
    uint8_t part = s->type == HLO_C64 ? HLO_F32 : HLO_F64;
    str_add_char(&l->text, '(');
    add_bits(&l->text, part, bits_at(b, 2 * n));
    str_add(&l->text, ", ");
    add_bits(&l->text, part, bits_at(b, 2 * n + 1));
    str_add_char(&l->text, ')');
}

static void add_blob(struct lower *l, const struct hlo_shape *s, const struct blob *b, uint8_t dim,
                     size_t *n)
{
    if (dim == s->rank) {
        add_blob_element(l, s, b, (*n)++);
        return;
    }
    str_add_char(&l->text, '{');
    for (int64_t k = 0; k < s->dims[dim] && !l->text.failed; k++) {
        if (k)
            str_add(&l->text, ", ");
        add_blob(l, s, b, (uint8_t)(dim + 1), n);
    }
    str_add_char(&l->text, '}');
}

/* `hex` behind "0x, `digits` of it. */
static int read_blob(struct lower *l, const struct hlo_shape *s, const char *hex, size_t digits)
{
    const struct hlo_type_info *t = &hlo_type_info[s->type];
    struct blob b = {.hex = hex, .bytes = digits / 2};
    size_t elements = (size_t)s->elements, n = 0;

    b.width = (uint32_t)(t->bits + 7) / 8 / (t->class == 'C' ? 2 : 1);
    size_t whole = (size_t)(t->bits + 7) / 8;
    if (!whole || digits % 2 || elements > SIZE_MAX / whole)
        return hlo_lower_fail(l, "a blob of %zu digits", digits);
    b.is_packed = t->class == 'P' && b.bytes != elements && b.bytes == (elements + 7) / 8;
    if (b.bytes != whole * elements && !b.is_packed)
        return hlo_lower_fail(l, "a blob of %zu bytes, expected %zu", b.bytes, whole * elements);
    add_blob(l, s, &b, 0, &n);
    return 0;
}

/* ---- a whole constant ---- */

static struct mlir_span value_of(const struct lower *l, const struct mlir_op *op)
{
    struct mlir_span s = {"", 0};

    hlo_mlir_attr(l->m, op, "value", NULL, &s);
    return s;
}

/* What stands in `dense<..>`; empty when it is something else. */
static struct mlir_span inner(struct mlir_span s)
{
    if (s.size < 7 || memcmp(s.text, "dense<", 6))
        return (struct mlir_span){"", 0};
    const char *p = lex_skip(s.text + 6), *end = hlo_mlir_group_end(s.text + 5);
    if (!end || end-- > s.text + s.size || p > end)
        return (struct mlir_span){"", 0};
    return (struct mlir_span){p, (uint32_t)(end - p)};
}

static bool is_splat(const struct lower *l, const struct mlir_op *op)
{
    struct mlir_span s = inner(value_of(l, op));

    return s.size && *s.text != '[' && *s.text != '"' && *s.text != '.';
}

static struct mlir_span resource(const struct lower *l, struct mlir_span s)
{
    struct mlir_span none = {"", 0};

    if (s.size < 16 || memcmp(s.text, "dense_resource<", 15))
        return none;
    const char *end = memchr(s.text, '>', s.size);
    if (!end)
        return none;
    struct mlir_span name = {s.text + 15, (uint32_t)(end - s.text - 15)};
    for (size_t n = 0; n < l->m->resource_count; n++) {
        const struct mlir_attr *r = &l->m->resources[n];
        if (r->name.size == name.size && !memcmp(r->name.text, name.text, name.size))
            return r->value;
    }
    return none;
}

static int write_literal(struct lower *l, const struct mlir_op *op, const struct hlo_shape *s)
{
    struct mlir_span value = value_of(l, op), in = inner(value), blob = resource(l, value);
    size_t header = 10; /* of a resource: 0x and four bytes of alignment */

    str_clear(&l->text);
    if (in.size && *in.text == '"') {
        blob = in;
        header = 2;
    }
    if (!in.size && s->rank && !s->elements)
        return add_empty(l, s, 0);
    if (blob.size > header + 2) {
        const char *end = memchr(blob.text + 1, '"', blob.size - 1);
        const char *hex = blob.text + 1 + header;
        size_t digits = end && end > hex ? (size_t)(end - hex) : 0;
        if (memchr(hex, '.', digits)) {
            str_add(&l->text, "{...}");
            return 0;
        }
        return read_blob(l, s, hex, digits);
    }
    if (!in.size || *in.text == '.') { /* elided, or an attribute of another dialect */
        str_add(&l->text, "{...}");
        return 0;
    }
    const char *end =
        is_splat(l, op) ? lower_element(l, s->type, in.text) : lower_list(l, s, 0, in.text);
    if (!end || lex_skip(end) < in.text + in.size)
        return hlo_lower_fail(l, "\"%.*s\" is not a value of its type",
                              in.size < 60 ? (int)in.size : 60, in.text);
    return l->text.failed ? hlo_lower_memory(l) : 0;
}

/* ---- made once ---- */

static uint64_t constant_hash(const struct lower *l, struct mlir_span literal, hlo_shape_id shape)
{
    return mem_hash(literal.text, literal.size, ((uint64_t)l->computation << 32) | shape);
}

static struct lower_constant *find_constant(struct lower *l, struct mlir_span literal,
                                            hlo_shape_id shape, uint64_t hash)
{
    size_t mask = l->constant_room - 1, slot = hash & mask;

    for (;; slot = (slot + 1) & mask) {
        struct lower_constant *c = &l->constants[slot];
        if (c->id == HLO_NONE || (c->hash == hash && c->computation == l->computation &&
                                  c->shape == shape && c->literal.size == literal.size &&
                                  !memcmp(c->literal.text, literal.text, literal.size)))
            return c;
    }
}

static bool constants_grow(struct lower *l)
{
    struct lower_constant *old = l->constants;
    size_t room = l->constant_room, grown = room ? room * 2 : 256;

    l->constants = mem_try(grown, sizeof *l->constants);
    if (!l->constants) {
        l->constants = old;
        return false;
    }
    l->constant_room = grown;
    for (size_t n = 0; n < grown; n++)
        l->constants[n].id = HLO_NONE;
    for (size_t n = 0; n < room; n++) {
        if (old[n].id == HLO_NONE)
            continue;
        size_t slot = old[n].hash & (grown - 1);
        while (l->constants[slot].id != HLO_NONE)
            slot = (slot + 1) & (grown - 1);
        l->constants[slot] = old[n];
    }
    free(old);
    return true;
}

/* The constant with this literal (of the input's text, for comparison) and shape. */
static int make_once(struct lower *l, const struct mlir_op *op, hlo_shape_id shape, hlo_id *out)
{
    struct mlir_span value = value_of(l, op);
    const struct hlo_shape *s = hlo_builder_shape(l->b, shape);
    bool is_wide = s->rank && is_splat(l, op) && s->elements != 1;

    if (is_splat(l, op))
        value = inner(value);
    if (l->constant_count * 2 >= l->constant_room && !constants_grow(l))
        return hlo_lower_memory(l);
    uint64_t hash = constant_hash(l, value, shape);
    struct lower_constant *known = find_constant(l, value, shape, hash);
    if (known->id != HLO_NONE) {
        *out = known->id;
        return 0;
    }
    int rc = 0;
    if (is_wide) {
        hlo_shape_id scalar = hlo_lower_array(l, (enum hlo_type)s->type, NULL, 0, &rc);
        if (rc || make_once(l, op, scalar, out) || hlo_lower_broadcast(l, *out, shape, out))
            return l->e->code;
    } else {
        if (write_literal(l, op, s))
            return l->e->code;
        if (is_splat(l, op)) { /* one element: its braces */
            struct str braced = {0};
            for (uint8_t n = 0; n < s->rank; n++)
                str_add_char(&braced, '{');
            str_add_bytes(&braced, l->text.text, l->text.size);
            for (uint8_t n = 0; n < s->rank; n++)
                str_add_char(&braced, '}');
            str_release(&l->text);
            l->text = braced;
        }
        char *kept = l->text.failed
                         ? NULL
                         : arena_text(&hlo_builder_module(l->b)->arena, l->text.text, l->text.size);
        if (!kept || l->text.size > UINT32_MAX)
            return hlo_lower_memory(l);
        struct lower_new n = {
            .opcode = HLO_OP_CONSTANT, .shape = shape, .literal = {kept, (uint32_t)l->text.size}};
        if (hlo_lower_make(l, &n, out))
            return l->e->code;
    }
    known = find_constant(l, value, shape, hash);
    *known = (struct lower_constant){hash, l->computation, shape, value, *out};
    l->constant_count++;
    return 0;
}

int hlo_lower_constant(struct lower *l, mlir_value v, hlo_id *out)
{
    const struct mlir_op *user = l->op, *op = &l->m->ops[l->s.constant[v]];
    hlo_shape_id shape = hlo_builder_shape(l->b, l->m->values[v].shape)->bare;
    uint32_t meta = l->meta;
    size_t attrs = l->attr_base;
    struct mlir_span base = l->base;

    if (hlo_builder_shape(l->b, shape)->type >= HLO_TYPE_COUNT ||
        !hlo_type_info[hlo_builder_shape(l->b, shape)->type].bits)
        return hlo_lower_fail(l, "a constant that is not an array");
    l->op = op;
    l->meta = 0;
    l->base.size = 0;
    l->attr_base = l->attr_count;
    int rc = make_once(l, op, shape, out);
    l->op = user;
    l->meta = meta;
    l->base = base;
    l->attr_base = attrs;
    if (rc)
        return rc;
    lower_set(l, v, *out);
    return rc;
}
