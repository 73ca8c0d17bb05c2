#include "hlo/module/whole_number.h"

#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <math.h>
#include <string.h>

static bool fold_two(uint16_t opcode, int64_t a, int64_t b, int64_t *out)
{
    switch (opcode) {
    case HLO_OP_ADD:
        return !__builtin_add_overflow(a, b, out);
    case HLO_OP_SUBTRACT:
        return !__builtin_sub_overflow(a, b, out);
    case HLO_OP_MULTIPLY:
        return !__builtin_mul_overflow(a, b, out);
    case HLO_OP_MINIMUM:
    case HLO_OP_MAXIMUM:
        *out = (a < b) == (opcode == HLO_OP_MINIMUM) ? a : b;
        return true;
    default:
        return false;
    }
}

static bool fold_compare(const struct hlo_module *m, hlo_id id, int64_t a, int64_t b, int64_t *out)
{
    static const struct {
        const char *name;
        bool less, equal, more;
    } directions[] = {{"LT", true, false, false}, {"LE", true, true, false},
                      {"GT", false, false, true}, {"GE", false, true, true},
                      {"EQ", false, true, false}, {"NE", true, false, true}};

    for (size_t k = 0; k < sizeof directions / sizeof *directions; k++) {
        if (!hlo_attr_is(m, id, HLO_ATTR_DIRECTION, directions[k].name))
            continue;
        *out = a < b ? directions[k].less : a > b ? directions[k].more : directions[k].equal;
        return true;
    }
    return false;
}

bool hlo_can_fold(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_shape *s = hlo_shape(m, id);

    return s->type != HLO_TUPLE && !s->rank && !strchr("FC", hlo_type_info[s->type].class) &&
           hlo_at(m, id)->operand_count <= HLO_FOLD_OPERANDS_MOST;
}

bool hlo_fold(const struct hlo_module *m, hlo_id id, const int64_t *a, int64_t *out)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    double constant;

    if (hlo_constant_number(m, id, &constant)) {
        *out = (int64_t)constant;
        return fabs(constant) < 1e15;
    }
    if (i->operand_count == 1 && (i->opcode == HLO_OP_CONVERT || i->opcode == HLO_OP_NEGATE)) {
        *out = i->opcode == HLO_OP_NEGATE ? -a[0] : a[0];
        return a[0] != INT64_MIN;
    }
    if (i->opcode == HLO_OP_SELECT && i->operand_count == 3) {
        *out = a[0] ? a[1] : a[2];
        return true;
    }
    if (i->operand_count != 2)
        return false;
    return i->opcode == HLO_OP_COMPARE ? fold_compare(m, id, a[0], a[1], out)
                                       : fold_two(i->opcode, a[0], a[1], out);
}

bool hlo_slice_dim(const struct hlo_shape *whole, const struct hlo_shape *part, uint32_t *dim)
{
    uint32_t found = 0;

    if (whole->rank != part->rank)
        return false;
    for (uint32_t d = 0; d < whole->rank; d++) {
        if (part->dims[d] == whole->dims[d])
            continue;
        if (part->dims[d] != 1)
            return false;
        *dim = d;
        found++;
    }
    return found == 1;
}
