/* Arithmetic on constants, as XLA does it on the way from StableHLO to HLO
 * (stablehlo/transforms/optimization/StablehloAggressiveFolder.cpp). */
#include "hlo/stablehlo/simplify_internal.h"

#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLD_MOST = 128 };

/* A real number, or a whole one: integers and truth values. */
union number {
    double real;
    int64_t whole;
};

/* The elements of a constant; one that stands for all, or as many as the array has. */
struct numbers {
    union number list[FOLD_MOST];
    size_t count;
    uint8_t type; /* enum hlo_type */
};

static bool is_real(uint8_t type)
{
    return hlo_type_info[type].class == 'F';
}

/* Bits of the significand; 0: no type that is folded. */
static int precision_of(uint8_t type)
{
    switch (type) {
    case HLO_F64:
        return 53;
    case HLO_F32:
        return 24;
    case HLO_F16:
        return 11;
    case HLO_BF16:
        return 8;
    default:
        return 0;
    }
}

static bool is_folded(uint8_t type)
{
    if (type >= HLO_TYPE_COUNT)
        return false;
    char class = hlo_type_info[type].class;
    return class == 'P' || class == 'I' || class == 'U' || precision_of(type);
}

/* ---- reading ---- */

/* Numbers of nested brackets, row by row; false for what is written as bits or left out. */
static bool read_numbers(const char *p, const char *end, struct numbers *out)
{
    for (out->count = 0; p < end;) {
        union number *n = &out->list[out->count];
        char *behind = NULL;
        if (lex_is(*p, LEX_BLANK) || *p == '[' || *p == ']' || *p == ',') {
            p++;
            continue;
        }
        if (out->count == FOLD_MOST || (p[0] == '0' && p[1] == 'x'))
            return false;
        if (hlo_lex_is_word(p, "true") || hlo_lex_is_word(p, "false")) {
            if (is_real(out->type))
                return false;
            n->whole = *p == 't';
            p = lex_name_end(p);
        } else if (is_real(out->type)) {
            n->real = strtod(p, &behind);
            if (behind == p || !isfinite(n->real))
                return false;
            p = behind;
        } else {
            p = hlo_lex_int(p, &n->whole);
            if (!p)
                return false;
        }
        out->count++;
    }
    return p == end && out->count;
}

static bool read_constant(const struct simplifier *z, mlir_value v, struct numbers *out)
{
    mlir_op_id id = z->s->constant[v];
    struct mlir_span s;

    out->type = mlir_shape(z->m, v)->type;
    if (id == MLIR_NONE || !is_folded(out->type) ||
        !hlo_mlir_attr(z->m, &z->m->ops[id], "value", NULL, &s) || s.size < 8 ||
        memcmp(s.text, "dense<", 6))
        return false;
    const char *end = memchr(s.text, '>', s.size);
    return end && read_numbers(s.text + 6, end, out) &&
           (out->count == 1 || (int64_t)out->count == mlir_shape(z->m, v)->elements);
}

bool hlo_mlir_whole_numbers(const struct simplifier *z, mlir_value v, size_t count, int64_t *out)
{
    struct numbers list;

    if (!read_constant(z, v, &list) || is_real(list.type) ||
        (list.count > 1 && list.count != count))
        return false;
    for (size_t n = 0; n < count; n++)
        out[n] = list.list[list.count > 1 ? n : 0].whole;
    return true;
}

/* ---- rounding ---- */

/* To the type's nearest number, ties to even; false when it has none near: it would be infinite or
 * subnormal, where XLA may flush. */
static bool round_real(uint8_t type, double *value)
{
    int bits = precision_of(type), exponent;
    int least = type == HLO_F16 ? -13 : type == HLO_F64 ? -1021 : -125;
    int most = type == HLO_F16 ? 16 : type == HLO_F64 ? 1024 : 128;
    double part = frexp(*value, &exponent);

    if (!isfinite(*value))
        return false;
    *value = ldexp(nearbyint(ldexp(part, bits)), exponent - bits);
    frexp(*value, &exponent);
    return *value == 0 || (exponent >= least && exponent <= most);
}

/* Two's complement of the type's width; false for what int64 cannot hold. */
static bool wrap_whole(uint8_t type, int64_t *value)
{
    const struct hlo_type_info *t = &hlo_type_info[type];
    uint64_t bits = (uint64_t)*value;

    if (t->class == 'P')
        *value = *value != 0;
    else if (t->bits < 64 && t->class == 'U')
        *value = (int64_t)(bits & (((uint64_t)1 << t->bits) - 1));
    else if (t->bits < 64)
        *value = (int64_t)(bits << (64 - t->bits)) >> (64 - t->bits);
    return t->class != 'U' || *value >= 0;
}

static bool fit(uint8_t type, union number *n)
{
    return is_real(type) ? round_real(type, &n->real) : wrap_whole(type, &n->whole);
}

/* ---- the operations ---- */

static double real_add(double a, double b)
{
    return a + b;
}
static double real_subtract(double a, double b)
{
    return a - b;
}
static double real_multiply(double a, double b)
{
    return a * b;
}
static double real_divide(double a, double b)
{
    return a / b;
}
static double real_maximum(double a, double b)
{
    return a > b || (a == b && !signbit(a)) ? a : b;
}
static double real_minimum(double a, double b)
{
    return a < b || (a == b && signbit(a)) ? a : b;
}
static double real_negate(double a)
{
    return -a;
}
static double real_rsqrt(double a)
{
    return 1 / sqrt(a);
}
static double real_logistic(double a)
{
    return 1 / (1 + exp(-a));
}
static double real_sign(double a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a;
}
static int64_t whole_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static int64_t whole_subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static int64_t whole_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
static int64_t whole_divide(int64_t a, int64_t b)
{
    return a / b;
}
static int64_t whole_remainder(int64_t a, int64_t b)
{
    return a % b;
}
static int64_t whole_maximum(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static int64_t whole_minimum(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t whole_and(int64_t a, int64_t b)
{
    return a & b;
}
static int64_t whole_or(int64_t a, int64_t b)
{
    return a | b;
}
static int64_t whole_negate(int64_t a)
{
    return whole_subtract(0, a);
}
static int64_t whole_abs(int64_t a)
{
    return a < 0 ? whole_negate(a) : a;
}
static int64_t whole_sign(int64_t a)
{
    return (a > 0) - (a < 0);
}

static const struct operation {
    uint16_t row;
    bool of_truths; /* truth values are folded, too */
    double (*real1)(double);
    double (*real2)(double, double);
    int64_t (*whole1)(int64_t);
    int64_t (*whole2)(int64_t, int64_t);
} operations[] = {
    {.row = MLIR_OP_SAME_ABS, .real1 = fabs, .whole1 = whole_abs},
    {.row = MLIR_OP_SAME_ADD, .real2 = real_add, .whole2 = whole_add},
    {.row = MLIR_OP_SAME_AND, .of_truths = true, .whole2 = whole_and},
    {.row = MLIR_OP_SAME_COSINE, .real1 = cos},
    {.row = MLIR_OP_SAME_DIVIDE, .real2 = real_divide, .whole2 = whole_divide},
    {.row = MLIR_OP_EXPONENTIAL, .real1 = exp},
    {.row = MLIR_OP_LOG, .real1 = log},
    {.row = MLIR_OP_SAME_LOGISTIC, .real1 = real_logistic},
    {.row = MLIR_OP_SAME_MAXIMUM, .real2 = real_maximum, .whole2 = whole_maximum},
    {.row = MLIR_OP_SAME_MINIMUM, .real2 = real_minimum, .whole2 = whole_minimum},
    {.row = MLIR_OP_SAME_MULTIPLY, .real2 = real_multiply, .whole2 = whole_multiply},
    {.row = MLIR_OP_SAME_NEGATE, .real1 = real_negate, .whole1 = whole_negate},
    {.row = MLIR_OP_SAME_OR, .of_truths = true, .whole2 = whole_or},
    {.row = MLIR_OP_SAME_REMAINDER, .real2 = fmod, .whole2 = whole_remainder},
    {.row = MLIR_OP_SAME_ROUND_NEAREST_AFZ, .real1 = round},
    {.row = MLIR_OP_SAME_ROUND_NEAREST_EVEN, .real1 = nearbyint},
    {.row = MLIR_OP_SAME_RSQRT, .real1 = real_rsqrt},
    {.row = MLIR_OP_SAME_SIGN, .real1 = real_sign, .whole1 = whole_sign},
    {.row = MLIR_OP_SAME_SINE, .real1 = sin},
    {.row = MLIR_OP_SQRT, .real1 = sqrt},
    {.row = MLIR_OP_SAME_SUBTRACT, .real2 = real_subtract, .whole2 = whole_subtract},
    {.row = MLIR_OP_SAME_TAN, .real1 = tan},
    {.row = MLIR_OP_SAME_TANH, .real1 = tanh},
};

/* How one result follows from one element of each operand. */
struct folding {
    const struct mlir_op *op;
    const struct operation *of; /* NULL: of the rows below */
    struct mlir_span direction; /* of a comparison */
    uint8_t from, to; /* types of the operands (the first may be a truth value) and result */
};

static bool fold_compare(const struct folding *f, const union number *in, union number *out)
{
    static const struct {
        const char *word;
        bool less, equal, greater;
    } words[] = {{"EQ", 0, 1, 0}, {"NE", 1, 0, 1}, {"LT", 1, 0, 0},
                 {"LE", 1, 1, 0}, {"GT", 0, 0, 1}, {"GE", 0, 1, 1}};
    bool less = is_real(f->from) ? in[0].real < in[1].real : in[0].whole < in[1].whole;
    bool greater = is_real(f->from) ? in[0].real > in[1].real : in[0].whole > in[1].whole;

    for (size_t n = 0; n < sizeof words / sizeof *words; n++) {
        if (hlo_mlir_is(f->direction, words[n].word)) {
            out->whole = less ? words[n].less : greater ? words[n].greater : words[n].equal;
            return true;
        }
    }
    return false;
}

/* As a number that rounds to one of `type` as the whole one does: what a double has no room for is
 * one bit, so that nothing is rounded twice. */
static double real_of(int64_t whole, uint8_t type)
{
    uint64_t size = whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole, low = size & 2047;

    if (type == HLO_F64 || size >> 53 == 0)
        return (double)whole;
    size = size - low + (low && !(size & 2048) ? 2048 : 0);
    return whole < 0 ? -(double)size : (double)size;
}

static bool fold_convert(const struct folding *f, const union number *in, union number *out)
{
    if (is_real(f->from) == is_real(f->to))
        *out = *in;
    else if (is_real(f->to))
        out->real = real_of(in->whole, f->to);
    else if (hlo_type_info[f->to].class == 'P')
        out->whole = in->real != 0;
    else if (fabs(in->real) < 0x1p31)
        out->whole = (int64_t)in->real;
    else
        return false;
    union number wrapped = *out; /* what does not fit is left to XLA */
    return fit(f->to, &wrapped) &&
           (is_real(f->to) || hlo_type_info[f->to].class == 'P' || wrapped.whole == out->whole);
}

static bool fold_operation(const struct folding *f, const union number *in, union number *out)
{
    const struct operation *of = f->of;

    if (is_real(f->from)) {
        if (!of->real1 && !of->real2)
            return false;
        out->real = of->real1 ? of->real1(in->real) : of->real2(in[0].real, in[1].real);
        return true;
    }
    if ((!of->whole1 && !of->whole2) || (hlo_type_info[f->from].class == 'P' && !of->of_truths) ||
        ((of->row == MLIR_OP_SAME_DIVIDE || of->row == MLIR_OP_SAME_REMAINDER) &&
         (in[1].whole == 0 || in[1].whole == -1)))
        return false;
    out->whole = of->whole1 ? of->whole1(in->whole) : of->whole2(in[0].whole, in[1].whole);
    return true;
}

static bool fold_one(const struct folding *f, const union number *in, union number *out)
{
    bool ok = true;

    switch (f->op->row) {
    case MLIR_OP_COMPARE:
        ok = fold_compare(f, in, out);
        break;
    case MLIR_OP_CONVERT:
        ok = fold_convert(f, in, out);
        break;
    case MLIR_OP_SELECT:
        *out = in[0].whole ? in[1] : in[2];
        break;
    case MLIR_OP_CLAMP:
        if (is_real(f->to))
            out->real = real_minimum(real_maximum(in[1].real, in[0].real), in[2].real);
        else
            out->whole = whole_minimum(whole_maximum(in[1].whole, in[0].whole), in[2].whole);
        break;
    case MLIR_OP_SAME_NOT:
        out->whole = hlo_type_info[f->from].class == 'P' ? !in->whole : ~in->whole;
        ok = !is_real(f->from);
        break;
    default:
        ok = f->of && fold_operation(f, in, out);
    }
    return ok && fit(f->to, out);
}

/* ---- writing ---- */

/* As MLIR prints it, six digits, where they are enough. */
static void add_real(struct str *text, double value)
{
    char digits[40];

    snprintf(digits, sizeof digits, "%e", value);
    if (strtod(digits, NULL) != value)
        snprintf(digits, sizeof digits, "%.16e", value);
    str_add(text, digits);
}

static void add_number(struct str *text, uint8_t type, union number n)
{
    if (is_real(type))
        add_real(text, n.real);
    else if (hlo_type_info[type].class == 'P')
        str_add(text, n.whole ? "true" : "false");
    else
        str_add_int(text, n.whole);
}

/* `[[1, 2], [3, 4]]` */
static void add_list(struct str *text, const struct hlo_shape *s, const struct numbers *of,
                     uint8_t dim, size_t *at)
{
    if (dim == s->rank) {
        add_number(text, of->type, of->list[(*at)++]);
        return;
    }
    str_add_char(text, '[');
    for (int64_t n = 0; n < s->dims[dim]; n++) {
        str_add(text, n ? ", " : "");
        add_list(text, s, of, (uint8_t)(dim + 1), at);
    }
    str_add_char(text, ']');
}

bool hlo_mlir_add_attr(struct mlir_module *m, struct mlir_op *op, const char *name,
                       struct str *text)
{
    size_t size = text->size;

    str_add(text, "        "); /* readers look some bytes ahead */
    if (text->failed || size > INT32_MAX ||
        !mem_grow(&m->attr_pool, &m->attr_room, m->attr_count, 1))
        return false;
    char *kept = arena_text(&hlo_builder_module(m->b)->arena, text->text, text->size);
    if (!kept)
        return false;
    m->attr_pool[m->attr_count++] =
        (struct mlir_attr){{name, (uint32_t)strlen(name)}, {kept, (uint32_t)size}};
    op->attr_count++;
    return true;
}

static bool become_constant(struct simplifier *z, struct mlir_op *op, const struct numbers *of)
{
    struct mlir_op made = *op;
    struct str text = {0};
    size_t at = 0;

    str_add(&text, "dense<");
    if (of->count == 1)
        add_number(&text, of->type, of->list[0]);
    else
        add_list(&text, mlir_shape(z->m, op->results), of, 0, &at);
    str_add_char(&text, '>');
    made.row = MLIR_OP_CONSTANT;
    made.operand_count = made.attr_count = 0;
    made.attrs = (uint32_t)z->m->attr_count;
    bool ok = hlo_mlir_add_attr(z->m, &made, "value", &text);
    str_release(&text);
    if (ok)
        *op = made;
    return ok;
}

/* ---- an operation ---- */

static const struct operation *operation_of(uint16_t row)
{
    for (size_t n = 0; n < sizeof operations / sizeof *operations; n++) {
        if (operations[n].row == row)
            return &operations[n];
    }
    return NULL;
}

/* The operation, and no attribute that says more. */
static bool is_plain(const struct simplifier *z, struct folding *f)
{
    const struct mlir_op *op = f->op;
    struct mlir_span s;

    if (op->row == MLIR_OP_COMPARE) {
        bool has = hlo_mlir_attr(z->m, op, "comparison_direction", "word0", &f->direction);
        f->direction = hlo_mlir_word(f->direction);
        return has && op->attr_count <= 2 &&
               !(hlo_mlir_attr(z->m, op, "compare_type", "word1", &s) &&
                 hlo_mlir_is(hlo_mlir_word(s), "TOTALORDER"));
    }
    f->of = operation_of(op->row);
    return !op->attr_count && (f->of || op->row == MLIR_OP_CONVERT || op->row == MLIR_OP_SELECT ||
                               op->row == MLIR_OP_CLAMP || op->row == MLIR_OP_SAME_NOT);
}

/* Each operand's elements: one, or as many as the result has. */
static bool read_operands(struct simplifier *z, const struct folding *f, struct numbers *in,
                          size_t *count)
{
    const struct mlir_op *op = f->op;

    *count = 1;
    for (uint32_t n = 0; n < op->operand_count; n++) {
        if (!read_constant(z, operand_of(z, op, n), &in[n]))
            return false;
        if (in[n].count > 1)
            *count = in[n].count;
    }
    return *count == 1 || (int64_t)*count == mlir_shape(z->m, op->results)->elements;
}

/* Types and dims as they must be: a constant would hide from the check of the module that they are
 * not. */
static bool is_well_formed(const struct simplifier *z, const struct folding *f)
{
    const struct mlir_op *op = f->op;
    const struct hlo_shape *to = mlir_shape(z->m, op->results);

    for (uint32_t n = 0; n < op->operand_count; n++) {
        const struct hlo_shape *s = mlir_shape(z->m, operand_of(z, op, n));
        bool may_be_one =
            (op->row == MLIR_OP_SELECT && n == 0) || (op->row == MLIR_OP_CLAMP && n != 1);
        if (s->type != (op->row == MLIR_OP_SELECT && n == 0 ? HLO_PRED : f->from))
            return false;
        if (!(may_be_one && !s->rank) &&
            (s->rank != to->rank ||
             (s->rank && memcmp(s->dims, to->dims, s->rank * sizeof *s->dims))))
            return false;
    }
    return op->row == MLIR_OP_CONVERT || f->to == (op->row == MLIR_OP_COMPARE ? HLO_PRED : f->from);
}

/* Numbers without nan, each beside itself. */
static bool fold_itself(struct simplifier *z, struct folding *f, struct mlir_op *op)
{
    union number equal[2] = {{.whole = 0}, {.whole = 0}};
    struct numbers out = {.count = 1, .type = HLO_PRED};

    f->from = mlir_shape(z->m, operand_of(z, op, 0))->type;
    return is_folded(f->from) && !is_real(f->from) && is_plain(z, f) && is_well_formed(z, f) &&
           fold_compare(f, equal, out.list) && become_constant(z, op, &out);
}

bool hlo_mlir_fold(struct simplifier *z, struct mlir_op *op)
{
    struct folding f = {.op = op, .direction = {"", 0}};
    struct numbers in[3], out;
    size_t count;

    if (!op->operand_count || op->operand_count > 3 || op->result_count != 1 || op->region_count)
        return false;
    f.to = out.type = mlir_shape(z->m, op->results)->type;
    if (op->row == MLIR_OP_COMPARE && op->operand_count == 2 &&
        operand_of(z, op, 0) == operand_of(z, op, 1))
        return fold_itself(z, &f, op);
    for (uint32_t n = 0; n < op->operand_count; n++) {
        if (z->s->constant[operand_of(z, op, n)] == MLIR_NONE)
            return false;
    }
    if (!is_folded(f.to) || !is_plain(z, &f) || !read_operands(z, &f, in, &count))
        return false;
    uint32_t wanted = f.of                         ? (f.of->real2 || f.of->whole2 ? 2 : 1)
                      : op->row == MLIR_OP_COMPARE ? 2
                      : op->row == MLIR_OP_SELECT || op->row == MLIR_OP_CLAMP ? 3
                                                                              : 1;
    if (op->operand_count != wanted)
        return false;
    f.from = in[op->row == MLIR_OP_SELECT].type;
    if (!is_well_formed(z, &f))
        return false;
    for (out.count = 0; out.count < count; out.count++) {
        union number elements[3];
        for (uint32_t n = 0; n < op->operand_count; n++)
            elements[n] = in[n].list[in[n].count > 1 ? out.count : 0];
        if (!fold_one(&f, elements, &out.list[out.count]))
            return false;
    }
    return become_constant(z, op, &out);
}

void hlo_mlir_become_number(struct simplifier *z, struct mlir_op *op, int64_t value)
{
    struct numbers of = {.list = {{.whole = value}}, .count = 1};

    of.type = mlir_shape(z->m, op->results)->type;
    if (become_constant(z, op, &of))
        z->s->constant[op->results] = (mlir_op_id)(op - z->m->ops);
}
