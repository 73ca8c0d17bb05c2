#include "engine/plan/export_differences.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <string.h>

/* How instruction `id` is split along its `n`-th factor. */
static label factor_label(const struct plan *p, hlo_id id, uint32_t n)
{
    const struct classes *c = &p->problem->classes;
    const struct class_factor *f = &c->factors[c->factor_base[id] + n];

    if (p->relaxed) /* n + 1 in the byte of an axis */
        return status_dim(p->relaxed->choice[id], p->problem->mesh.axes, n);
    return f->class == CLASS_NONE ? 0 : p->on[f->class];
}

static bool is_split(const struct plan *p, hlo_id id)
{
    const struct classes *c = &p->problem->classes;

    for (uint32_t n = 0; n < c->factor_base[id + 1] - c->factor_base[id]; n++) {
        if (factor_label(p, id, n))
            return true;
    }
    return false;
}

/* Sums over several loop indices that lie along different axes. */
static bool reduces_apart(const struct plan *p, hlo_id id)
{
    const struct classes *c = &p->problem->classes;
    uint32_t reducing = 0;

    for (uint32_t n = 0; n < c->factor_base[id + 1] - c->factor_base[id]; n++)
        reducing +=
            c->factors[c->factor_base[id] + n].kind == HLO_FACTOR_REDUCE && factor_label(p, id, n);
    return reducing > 1 && (p->relaxed || hlo_at(p->problem->m, id)->opcode == HLO_OP_CONVOLUTION);
}

static bool is_grouped_or_dilated(const struct plan *p, hlo_id id)
{
    const struct hlo_module *m = p->problem->m;
    const struct hlo_attr *window = hlo_attr(m, id, HLO_ATTR_WINDOW);

    if (hlo_at(m, id)->opcode != HLO_OP_CONVOLUTION || !is_split(p, id))
        return false;
    bool dilated = false;
    for (size_t k = 0; window && k + 10 <= window->size && !dilated; k++)
        dilated = !memcmp(window->text + k, "rhs_dilate", 10);
    return dilated || hlo_attr_int(m, id, HLO_ATTR_BATCH_GROUP_COUNT, 1) > 1 ||
           hlo_attr_int(m, id, HLO_ATTR_FEATURE_GROUP_COUNT, 1) > 1;
}

/* Single elements, not rows, are looked up or added at indices. */
static bool has_single_elements(const struct hlo_module *m, hlo_id id)
{
    bool is_gather = hlo_at(m, id)->opcode == HLO_OP_GATHER;
    uint32_t operands = hlo_at(m, id)->operand_count;
    int64_t dims[HLO_RANK_MAX], window = 1;
    size_t count =
        hlo_attr_ints(m, id, is_gather ? HLO_ATTR_SLICE_SIZES : HLO_ATTR_UPDATE_WINDOW_DIMS, dims);

    if (operands < 2 || hlo_attr(m, id, HLO_ATTR_OPERAND_BATCHING_DIMS) ||
        hlo_attr(m, id, HLO_ATTR_INPUT_BATCHING_DIMS))
        return false;
    const struct hlo_shape *updates = hlo_shape(m, hlo_operand(m, id, operands - 1));
    for (size_t k = 0; k < count; k++)
        window *= is_gather                                 ? dims[k]
                  : dims[k] >= 0 && dims[k] < updates->rank ? updates->dims[dims[k]]
                                                            : 1;
    return window == 1;
}

/* XLA chooses between masks, gathers and sums by sizes of its own. */
static bool is_of_single_elements(const struct plan *p, hlo_id id)
{
    const struct hlo_module *m = p->problem->m;
    const struct classes *c = &p->problem->classes;
    uint16_t opcode = hlo_at(m, id)->opcode;

    if ((opcode != HLO_OP_GATHER && opcode != HLO_OP_SCATTER) || !class_leaf_count(c, id) ||
        p->problem->costs.times[id] <= 0 || !has_single_elements(m, id))
        return false;
    bool makes = is_split(p, id);
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++)
        makes |= c->is_free[m->leaf_base[hlo_operand(m, id, n)]];
    return makes;
}

/* Free values made split and summed whole: XLA sums the parts. */
static bool sums_made_values(const struct plan *p, hlo_id id)
{
    const struct classes *c = &p->problem->classes;
    const struct hlo_module *m = p->problem->m;

    return hlo_at(m, id)->opcode == HLO_OP_REDUCE && p->problem->costs.times[id] > 0 &&
           c->is_free[m->leaf_base[id]] && hlo_shape(m, hlo_operand(m, id, 0))->elements > 1;
}

static bool is_padded(const struct plan *p, hlo_id id)
{
    const struct classes *c = &p->problem->classes;

    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1] && !p->relaxed; k++) {
        class_id class = c->factors[k].class;
        if (class != CLASS_NONE && p->on[class] &&
            label_pads(&p->problem->labels, class, p->on[class]))
            return true;
    }
    return false;
}

/* Operations that move rows between the pieces of an uneven split. */
static bool moves_padded_rows(const struct plan *p, hlo_id id)
{
    switch (hlo_at(p->problem->m, id)->opcode) {
    case HLO_OP_RESHAPE:
    case HLO_OP_GATHER:
    case HLO_OP_SCATTER:
    case HLO_OP_CONCATENATE:
    case HLO_OP_SLICE:
    case HLO_OP_PAD:
    case HLO_OP_CONVOLUTION:
    case HLO_OP_REVERSE:
        return is_padded(p, id);
    default:
        return false;
    }
}

static bool is_collective_of_file(const struct plan *p, hlo_id id)
{
    uint16_t opcode = hlo_at(p->problem->m, id)->opcode;

    return hlo_op_info[opcode].flags & HLO_OP_IS_COLLECTIVE || opcode == HLO_OP_PARTITION_ID ||
           opcode == HLO_OP_REPLICA_ID ||
           hlo_attr_is(p->problem->m, id, HLO_ATTR_CUSTOM_CALL_TARGET, "SPMDFullToShardShape") ||
           hlo_attr_is(p->problem->m, id, HLO_ATTR_CUSTOM_CALL_TARGET, "SPMDShardToFullShape");
}

static const struct {
    bool (*is_so)(const struct plan *p, hlo_id id);
    const char *what;
} differences[] = {
    {is_collective_of_file,
     "is of a program for fixed devices (shard_map, pmap): XLA may refuse the export, and what it "
     "does on other devices is not the plan's; plan the program without it"},
    {reduces_apart, "sums over several dims that are split along different axes: XLA does that in "
                    "as many all-reduces as it likes"},
    {is_grouped_or_dilated, "is a convolution with groups or a dilated kernel: XLA may gather an "
                            "operand in place of the planned sums"},
    {is_of_single_elements, "looks up or adds single elements by index: XLA chooses between masks, "
                            "gathers and sums by sizes of its own"},
    {sums_made_values, "sums values that every device makes: where other uses want parts of them "
                       "XLA sums the parts, in one all-reduce more"},
    {moves_padded_rows, "is split unevenly and does not keep the padded pieces: XLA inserts "
                        "collectives the plan does not have; --divisibility exact makes plans "
                        "without"},
};

void export_differences(const struct plan *plan, struct str *out)
{
    const struct hlo_module *m = plan->problem->m;

    for (size_t k = 0; k < sizeof differences / sizeof *differences; k++) {
        uint32_t count = 0;
        hlo_id first = HLO_NONE;
        for (hlo_id id = 0; id < m->count; id++) {
            if (!differences[k].is_so(plan, id))
                continue;
            first = first == HLO_NONE ? id : first;
            count++;
        }
        if (!count)
            continue;
        str_format(out, "%s ", hlo_name(m, first));
        if (count > 1)
            str_format(out, "(and %u more like it) ", count - 1);
        str_format(out, "%s\n", differences[k].what);
    }
}
