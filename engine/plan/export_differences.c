#include "engine/plan/export_differences.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/partitioner.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <string.h>

/* Sums over more loop indices that lie along different axes than a plan lists by themselves: a
 * relaxed one two, a strict one those of reduces and products. */
static bool reduces_apart(const struct plan *p, hlo_id id)
{
    const struct classes *c = &p->problem->classes;
    uint32_t reducing = 0;

    for (uint32_t n = 0; n < c->factor_base[id + 1] - c->factor_base[id]; n++)
        reducing += c->factors[c->factor_base[id] + n].kind == HLO_FACTOR_REDUCE &&
                    plan_factor_label(p, id, n);
    return p->relaxed ? reducing > 2
                      : reducing > 1 && hlo_at(p->problem->m, id)->opcode == HLO_OP_CONVOLUTION;
}

/* A convolution of what every device makes itself, split by what it sums and by something else. */
static bool convolves_free(const struct plan *p, hlo_id id)
{
    const struct hlo_module *m = p->problem->m;
    const struct classes *c = &p->problem->classes;
    bool is_free = false, sums = false, keeps = false;

    if (hlo_at(m, id)->opcode != HLO_OP_CONVOLUTION || p->problem->classes.runs_whole[id])
        return false;
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++)
        is_free |= p->problem->classes.is_free[m->leaf_base[hlo_operand(m, id, n)]];
    for (uint32_t n = 0; n < c->factor_base[id + 1] - c->factor_base[id]; n++) {
        bool reduces = c->factors[c->factor_base[id] + n].kind == HLO_FACTOR_REDUCE;
        sums |= reduces && plan_factor_label(p, id, n);
        keeps |= !reduces && plan_factor_label(p, id, n);
    }
    return is_free && sums && keeps;
}

/* Batch groups whose summed dim leaves no equal pieces on all devices (partitioner.h). */
static bool sums_unevenly(const struct plan *p, hlo_id id)
{
    const struct problem *q = p->problem;
    const struct classes *c = &q->classes;
    label used = 0, summed = 0;
    int64_t size = 1;

    if (!partitioner_sums_everywhere(q->partitioner, q->m, id))
        return false;
    for (uint32_t n = 0; n < c->factor_base[id + 1] - c->factor_base[id]; n++) {
        const struct class_factor *f = &c->factors[c->factor_base[id] + n];
        label over = plan_factor_label(p, id, n);
        used |= over;
        if (!over || f->kind != HLO_FACTOR_REDUCE)
            continue;
        summed = over;
        size = f->size;
    }
    label spare = step_tables_spare_axes(&q->step_tables, id, used);
    return summed && spare && size % q->labels.parts[summed | spare];
}

/* A convolution with a kernel of one feature a group whose result is a single point. */
static bool makes_points_by_depth(const struct hlo_module *m, hlo_id id, struct hlo_conv_dims *d)
{
    const struct hlo_attr *a = hlo_attr(m, id, HLO_ATTR_DIM_LABELS);

    if (hlo_at(m, id)->opcode != HLO_OP_CONVOLUTION || !a || hlo_at(m, id)->operand_count < 2 ||
        hlo_attr_int(m, id, HLO_ATTR_FEATURE_GROUP_COUNT, 1) < 2 ||
        !hlo_parse_conv_dims(a->text, a->size, d) ||
        hlo_shape(m, hlo_operand(m, id, 1))->dims[d->kernel_in] != 1)
        return false;
    for (uint8_t k = 0; k < d->spatial_count; k++)
        if (hlo_shape(m, id)->dims[d->out_spatial[k]] != 1)
            return false;
    return true;
}

/* Such a convolution split by features over part of the devices, all else whole. XLA takes it for
 * a product of matrices and frees what it does not own (jaxlib 0.10.2, four and eight devices; a
 * batch that is split as well, more points, or all devices: no fault). */
static bool aborts_in_xla(const struct plan *p, hlo_id id)
{
    struct hlo_conv_dims d;

    if (!makes_points_by_depth(p->problem->m, id, &d))
        return false;
    hlo_value v = p->problem->m->leaf_base[id];
    label over = plan_dim_label(p, v, d.out_feature);
    uint32_t parts = p->problem->labels.parts[over];
    return parts > 1 && parts < p->problem->mesh.devices && !plan_dim_label(p, v, d.out_batch);
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

/* Of a strict plan: a relaxed one has the gathers as reshards, and says so there. */
static bool is_gathered(const struct plan *p, hlo_id id)
{
    const struct classes *c = &p->problem->classes;
    uint32_t results = c->m->leaf_base[id + 1] - c->m->leaf_base[id];
    bool is_split = false;

    for (uint32_t leaf = 0;
         !p->relaxed && c->runs_whole[id] && leaf + results < class_leaf_count(c, id) && !is_split;
         leaf++) {
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        for (uint32_t d = 0; d < hlo_value_shape(c->m, v)->rank; d++)
            is_split |= plan_dim_label(p, v, d) != 0;
    }
    return is_split;
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
    {aborts_in_xla,
     "is a depthwise convolution to a single point, split by features over part of the devices: "
     "XLA's partitioner aborts on it; split it over all of them, along the batch too, or not at "
     "all"},
    {is_gathered,
     "is split, and the partitioner runs it whole on every device: the plan counts the "
     "all-gathers of its operands (automap explain says why)"},
    {reduces_apart, "sums over several dims that are split along different axes: XLA does that in "
                    "as many all-reduces as it likes"},
    {sums_unevenly, "is a convolution with batch groups whose sum does not divide among all "
                    "devices: XLA would count some of it twice, so its operands are gathered, "
                    "which the plan does not have"},
    {convolves_free, "convolves a value that every device makes: XLA may gather the other operand "
                     "in place of the planned sums"},
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
