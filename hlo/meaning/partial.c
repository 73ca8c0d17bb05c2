/* hlo/meaning/partial.c - combiners, and the way of partial results. */
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

/* ---- combiners ---- */

/* A parameter, perhaps widened for the computation. */
static hlo_id behind_convert(const struct hlo_module *m, hlo_id id)
{
    while (hlo_at(m, id)->opcode == HLO_OP_CONVERT)
        id = hlo_operand(m, id, 0);
    return id;
}

enum hlo_combiner hlo_combiner_of(const struct hlo_module *m, hlo_comp reducer)
{
    static const struct {
        uint8_t opcode, combiner, of_pred;
    } known[] = {
        {HLO_OP_ADD, HLO_COMBINE_ADD, HLO_COMBINE_OR},
        {HLO_OP_MULTIPLY, HLO_COMBINE_MUL, HLO_COMBINE_AND},
        {HLO_OP_MAXIMUM, HLO_COMBINE_MAX, HLO_COMBINE_OR},
        {HLO_OP_MINIMUM, HLO_COMBINE_MIN, HLO_COMBINE_AND},
        {HLO_OP_AND, HLO_COMBINE_AND, HLO_COMBINE_AND},
        {HLO_OP_OR, HLO_COMBINE_OR, HLO_COMBINE_OR},
    };
    const struct hlo_computation *c = &m->computations[reducer];

    if (c->param_count != 2)
        return HLO_COMBINE_NONE;
    hlo_id root = behind_convert(m, c->root);
    if (hlo_at(m, root)->operand_count != 2)
        return HLO_COMBINE_NONE;
    hlo_id a = behind_convert(m, hlo_operand(m, root, 0)),
           b = behind_convert(m, hlo_operand(m, root, 1));
    if (!(a == c->params[0] && b == c->params[1]) && !(a == c->params[1] && b == c->params[0]))
        return HLO_COMBINE_NONE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (hlo_at(m, root)->opcode == known[i].opcode)
            return hlo_shape(m, root)->type == HLO_PRED ? known[i].of_pred : known[i].combiner;
    return HLO_COMBINE_NONE;
}

/* ---- partial results ---- */

static enum hlo_partial together_if(bool yes)
{
    return yes ? HLO_PARTIAL_TOGETHER : HLO_PARTIAL_STOPS;
}

static enum hlo_partial alone_if(bool yes)
{
    return yes ? HLO_PARTIAL_ALONE : HLO_PARTIAL_STOPS;
}

/* Combiner of the reducer that merges values: the last computation it names (select-and-scatter
 * names select, scatter). */
static bool reducer_is(const struct hlo_module *m, hlo_id id, enum hlo_combiner c)
{
    uint32_t n = hlo_at(m, id)->called_count;

    return n && hlo_combiner_of(m, hlo_called(m, id, n - 1)) == c;
}

/* Sums survive rounding between floats; order survives every conversion between numbers. */
static bool conversion_passes(char from, char to, enum hlo_combiner c)
{
    if (c == HLO_COMBINE_ADD)
        return (from == 'F' || from == 'C') && (to == 'F' || to == 'C') && from == to;
    if (c == HLO_COMBINE_MAX || c == HLO_COMBINE_MIN)
        return from == 'F' && to == 'F';
    return false;
}

/* Types of the operand and of the result matter: a sum of predicates is not a sum. */
static enum hlo_partial of_arithmetic(enum hlo_partial_rule rule, uint32_t leaf, char from, char to,
                                      enum hlo_combiner c)
{
    bool is_sum = c == HLO_COMBINE_ADD && to != 'P' && from != 'P';

    switch (rule) {
    case HLO_PARTIAL_SUM:
        return together_if(is_sum);
    case HLO_PARTIAL_CONVERT:
        return together_if(conversion_passes(from, to, c));
    case HLO_PARTIAL_PRODUCT:
        if (c == HLO_COMBINE_MUL || (c == HLO_COMBINE_AND && to == 'P'))
            return together_if(to != 'P' || c == HLO_COMBINE_AND);
        return alone_if(is_sum);
    case HLO_PARTIAL_BILINEAR:
        return alone_if(is_sum && leaf < 2);
    case HLO_PARTIAL_QUOTIENT:
        return alone_if(is_sum && leaf == 0 && (to == 'F' || to == 'C'));
    case HLO_PARTIAL_MAX:
        return together_if(c == HLO_COMBINE_MAX);
    case HLO_PARTIAL_MIN:
        return together_if(c == HLO_COMBINE_MIN);
    case HLO_PARTIAL_AND:
        return together_if(c == HLO_COMBINE_AND);
    case HLO_PARTIAL_OR:
        return together_if(c == HLO_COMBINE_OR);
    default:
        return HLO_PARTIAL_STOPS;
    }
}

enum hlo_partial hlo_passes_partial(const struct hlo_module *m, hlo_id id, uint32_t leaf,
                                    enum hlo_combiner c)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    enum hlo_partial_rule rule = (enum hlo_partial_rule)hlo_op_info[i->opcode].partial;

    if (rule == HLO_PARTIAL_NONE || c == HLO_COMBINE_NONE || leaf >= i->operand_count ||
        hlo_shape(m, id)->type == HLO_TUPLE)
        return HLO_PARTIAL_STOPS;
    enum hlo_type from = (enum hlo_type)hlo_shape(m, hlo_operand(m, id, leaf))->type;
    enum hlo_type to = (enum hlo_type)hlo_shape(m, id)->type;
    uint32_t last = i->operand_count - 1;
    switch (rule) {
    case HLO_PARTIAL_MOVE:
        return together_if(from == to); /* not a bitcast to another type */
    case HLO_PARTIAL_MOVE_FIRST:
        return together_if(leaf == 0);
    case HLO_PARTIAL_UPDATE:
        return together_if(leaf < 2);
    case HLO_PARTIAL_SELECT:
        return together_if(leaf > 0);
    case HLO_PARTIAL_LAST:
        return alone_if(c == HLO_COMBINE_ADD && leaf == last);
    case HLO_PARTIAL_REDUCE:
        return together_if(reducer_is(m, id, c));
    case HLO_PARTIAL_SCATTER:
        return together_if(leaf != last / 2 && reducer_is(m, id, c));
    case HLO_PARTIAL_SCATTER_SELECTED:
        return together_if(leaf > 0 && reducer_is(m, id, c));
    default:
        return of_arithmetic(rule, leaf, hlo_type_info[from].class, hlo_type_info[to].class, c);
    }
}
