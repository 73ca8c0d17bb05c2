#include "engine/plan/splats.h"

#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { NUMBER_TEXT_MAX = 64 };

static char class_of(const struct hlo_module *m, hlo_id id)
{
    return hlo_type_info[hlo_shape(m, id)->type].class;
}

/* A scalar constant as written; false: no finite number. */
static bool read_number(const struct hlo_module *m, hlo_id id, double *out)
{
    const struct hlo_text *t = &m->literals[hlo_at(m, id)->literal];
    char text[NUMBER_TEXT_MAX], *end;

    if (hlo_shape(m, id)->rank || !t->size || t->size >= sizeof text)
        return false;
    memcpy(text, t->text, t->size);
    text[t->size] = '\0';
    *out = strtod(text, &end);
    return end != text && isfinite(*out);
}

static bool unary(uint16_t opcode, double x, double *out)
{
    switch (opcode) {
    case HLO_OP_ABS:
        *out = fabs(x);
        return true;
    case HLO_OP_EXPONENTIAL:
        *out = exp(x);
        return true;
    case HLO_OP_LOG:
        *out = log(x);
        return true;
    case HLO_OP_NEGATE:
        *out = -x;
        return true;
    case HLO_OP_RSQRT:
        *out = 1 / sqrt(x);
        return true;
    case HLO_OP_SIGN:
        *out = (x > 0) - (x < 0);
        return true;
    case HLO_OP_SQRT:
        *out = sqrt(x);
        return true;
    default:
        return false;
    }
}

static bool binary(uint16_t opcode, double x, double y, double *out)
{
    switch (opcode) {
    case HLO_OP_ADD:
        *out = x + y;
        return true;
    case HLO_OP_DIVIDE:
        *out = x / y;
        return true;
    case HLO_OP_MAXIMUM:
        *out = fmax(x, y);
        return true;
    case HLO_OP_MINIMUM:
        *out = fmin(x, y);
        return true;
    case HLO_OP_MULTIPLY:
        *out = x * y;
        return true;
    case HLO_OP_POWER:
        *out = pow(x, y);
        return true;
    case HLO_OP_SUBTRACT:
        *out = x - y;
        return true;
    default:
        return false;
    }
}

static bool moves_elements(uint16_t opcode)
{
    return opcode == HLO_OP_BROADCAST || opcode == HLO_OP_RESHAPE || opcode == HLO_OP_TRANSPOSE ||
           opcode == HLO_OP_SLICE || opcode == HLO_OP_COPY || opcode == HLO_OP_CONVERT;
}

static bool compute(const struct splats *s, const struct hlo_module *m, hlo_id id, double *out)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode == HLO_OP_CONSTANT)
        return read_number(m, id, out);
    if (!i->operand_count || i->operand_count > 2 || i->called_count)
        return false;
    hlo_id first = hlo_operand(m, id, 0), last = hlo_operand(m, id, i->operand_count - 1);
    if (!s->is_splat[first] || !s->is_splat[last])
        return false;
    if (i->operand_count == 2)
        return binary(i->opcode, s->number[first], s->number[last], out);
    *out = s->number[first];
    return moves_elements(i->opcode) || unary(i->opcode, s->number[first], out);
}

/* Bits of a float's significand, the leading one too; 0: as many as a double's. */
static const uint8_t significand_bits[HLO_TYPE_COUNT] = {
    [HLO_F32] = 24,          [HLO_F16] = 11,    [HLO_BF16] = 8,      [HLO_F8E5M2] = 3,
    [HLO_F8E5M2FNUZ] = 3,    [HLO_F8E4M3] = 4,  [HLO_F8E4M3FN] = 4,  [HLO_F8E4M3FNUZ] = 4,
    [HLO_F8E4M3B11FNUZ] = 4, [HLO_F8E3M4] = 5,  [HLO_F8E8M0FNU] = 1, [HLO_F6E2M3FN] = 4,
    [HLO_F6E3M2FN] = 3,      [HLO_F4E2M1FN] = 2};

/* As the type holds it, its range aside; whole numbers beyond 2^53 are not told apart. */
static double rounded(uint8_t type, double x)
{
    int exponent, bits = significand_bits[type];
    double part = frexp(x, &exponent);

    if (hlo_type_info[type].class != 'F')
        return trunc(x);
    return bits ? ldexp(nearbyint(ldexp(part, bits)), exponent - bits) : x;
}

bool splats_new(const struct hlo_module *m, struct splats *out)
{
    *out = (struct splats){.is_splat = mem_try((size_t)m->count + 1, sizeof *out->is_splat),
                           .number = mem_try((size_t)m->count + 1, sizeof *out->number)};
    if (!out->is_splat || !out->number) {
        splats_release(out);
        return false;
    }
    for (hlo_id id = 0; id < m->count; id++) {
        double number = 0;
        char class = class_of(m, id);
        if (!strchr("FIU", class) || !compute(out, m, id, &number) || !isfinite(number))
            continue;
        out->is_splat[id] = true;
        out->number[id] = rounded(hlo_shape(m, id)->type, number);
    }
    return true;
}

void splats_release(struct splats *s)
{
    free(s->is_splat);
    free(s->number);
    *s = (struct splats){0};
}
