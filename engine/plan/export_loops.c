#include "engine/plan/export_loops.h"

#include "hlo/module/flows.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

#define CARRIED_ENDING ".carried"

/* The number that an array holds everywhere, when it is written so. */
static bool number_of(const struct hlo_module *m, hlo_id id, double *x)
{
    while (hlo_at(m, id)->opcode == HLO_OP_BROADCAST || hlo_at(m, id)->opcode == HLO_OP_RESHAPE ||
           hlo_at(m, id)->opcode == HLO_OP_CONVERT)
        id = hlo_operand(m, id, 0);
    return hlo_constant_number(m, id, x);
}

/* The operand that a selection by a constant always takes; HLO_NONE: none. */
static hlo_id always_selects(const struct hlo_module *m, hlo_id id)
{
    double x;

    return hlo_at(m, id)->opcode == HLO_OP_SELECT && number_of(m, hlo_operand(m, id, 0), &x)
               ? hlo_operand(m, id, x != 0 ? 1 : 2)
               : HLO_NONE;
}

/* 0 or 1, or an array of such. */
static bool is_neutral(const struct hlo_module *m, hlo_id id)
{
    hlo_id chosen;
    double x;

    while ((chosen = always_selects(m, id)) != HLO_NONE)
        id = chosen;
    return number_of(m, id, &x) && (x == 0 || x == 1);
}

/* The operand that an instruction may fold into: of reshapes and the like of as many elements, of
 * arithmetic with 0 or 1, of selections by a constant. HLO_NONE: none. */
static hlo_id folds_into(const struct hlo_module *m, hlo_id id)
{
    static const uint16_t views[] = {HLO_OP_RESHAPE, HLO_OP_BROADCAST,    HLO_OP_COPY,
                                     HLO_OP_BITCAST, HLO_OP_TRANSPOSE,    HLO_OP_CONVERT,
                                     HLO_OP_SLICE,   HLO_OP_DYNAMIC_SLICE};
    const struct hlo_instruction *i = hlo_at(m, id);
    hlo_id chosen = always_selects(m, id);

    if (chosen != HLO_NONE)
        return chosen;
    for (size_t k = 0; k < sizeof views / sizeof *views; k++) {
        if (i->opcode == views[k] && i->operand_count)
            return hlo_shape(m, id)->elements == hlo_shape(m, hlo_operand(m, id, 0))->elements
                       ? hlo_operand(m, id, 0)
                       : HLO_NONE;
    }
    if (!(hlo_op_info[i->opcode].flags & HLO_OP_IS_ELEMENTWISE) || i->operand_count != 2)
        return HLO_NONE;
    return is_neutral(m, hlo_operand(m, id, 1))   ? hlo_operand(m, id, 0)
           : is_neutral(m, hlo_operand(m, id, 0)) ? hlo_operand(m, id, 1)
                                                  : HLO_NONE;
}

/* [values] the value each is when tuples, and perhaps views, are looked through; NULL: no memory.
 */
static hlo_value *look_through(const struct hlo_module *m, bool views, struct err *e)
{
    hlo_value *same = mem_try((size_t)m->value_count + 1, sizeof *same);
    struct hlo_flows flows = {0};
    int rc = same ? 0 : err_no_memory(e, "to export the plan");

    if (rc)
        goto out;
    for (hlo_value v = 0; v < m->value_count; v++)
        same[v] = v;
    for (hlo_id id = 0; id < m->count; id++) {
        uint16_t opcode = hlo_at(m, id)->opcode;
        hlo_id view = views ? folds_into(m, id) : HLO_NONE;
        if (view != HLO_NONE && hlo_shape(m, view)->leaf_count == 1)
            same[m->leaf_base[id]] = same[m->leaf_base[view]];
        if (opcode != HLO_OP_TUPLE && opcode != HLO_OP_GET_TUPLE_ELEMENT)
            continue;
        rc = hlo_flows_of(m, id, &flows, e);
        if (rc)
            goto out;
        for (size_t k = 0; k < flows.count; k++)
            same[flows.items[k].to] = same[flows.items[k].from];
    }
out:
    hlo_flows_release(&flows);
    if (rc) {
        free(same);
        same = NULL;
    }
    return same;
}

static void mark_loop(const struct hlo_module *m, const hlo_value *same, hlo_id loop,
                      struct export_loops *l)
{
    const struct hlo_computation *body = &m->computations[hlo_called(m, loop, 0)];
    hlo_value first = m->leaf_base[body->params[0]], root = m->leaf_base[body->root];

    for (uint32_t k = 0; root + k < m->leaf_base[body->root + 1]; k++) {
        if (same[root + k] != first + k)
            continue;
        l->is_unchanged[root + k] = true;
        l->is_left[loop] |= hlo_at(m, body->root)->opcode != HLO_OP_TUPLE;
    }
}

int export_loops_new(const struct hlo_module *m, struct export_loops *out, struct err *e)
{
    *out = (struct export_loops){.is_unchanged =
                                     mem_try((size_t)m->value_count + 1, sizeof *out->is_unchanged),
                                 .is_left = mem_try((size_t)m->count + 1, sizeof *out->is_left)};
    if (!out->is_unchanged || !out->is_left)
        return err_no_memory(e, "to export the plan");
    out->source = look_through(m, false, e);
    hlo_value *same = out->source ? look_through(m, true, e) : NULL;
    if (!same)
        return e->code;
    for (hlo_id id = 0; id < m->count; id++) {
        if (hlo_at(m, id)->opcode == HLO_OP_WHILE &&
            m->computations[hlo_called(m, id, 0)].param_count == 1)
            mark_loop(m, same, id, out);
    }
    free(same);
    return 0;
}

void export_loops_release(struct export_loops *l)
{
    free(l->is_unchanged);
    free(l->is_left);
    free(l->source);
    memset(l, 0, sizeof *l);
}

/* Operand `n` of `id` is one of several results, and `id` may fold into it. */
static bool folds_into_one_of_several(const struct hlo_module *m, const struct export_loops *l,
                                      hlo_id id, uint32_t n)
{
    hlo_id from = folds_into(m, id);

    if (from == HLO_NONE || from != hlo_operand(m, id, n) || hlo_shape(m, from)->leaf_count != 1)
        return false;
    hlo_id maker = m->value_instruction[l->source[m->leaf_base[from]]];
    return hlo_shape(m, maker)->type == HLO_TUPLE && hlo_at(m, maker)->opcode != HLO_OP_PARAMETER;
}

hlo_value export_loops_held(const struct hlo_module *m, const struct export_loops *l, hlo_id id,
                            uint32_t n)
{
    hlo_value v = m->leaf_base[id];

    if (folds_into_one_of_several(m, l, id, n))
        return m->leaf_base[hlo_operand(m, id, n)];
    if (hlo_at(m, id)->opcode != HLO_OP_TUPLE)
        return HLO_NONE;
    v += hlo_shape(m, id)->part_leaf[n];
    for (uint32_t k = 0; k < hlo_shape(m, hlo_operand(m, id, n))->leaf_count; k++) {
        if (l->is_unchanged[v + k])
            return v;
    }
    return HLO_NONE;
}

void export_loops_name(const struct hlo_module *m, hlo_id id, uint32_t n, struct str *out)
{
    str_format(out, "%s" CARRIED_ENDING "%u", hlo_name(m, id), n);
}

bool export_loops_is_barrier(const struct hlo_module *m, hlo_id id)
{
    const char *name = hlo_name(m, id);
    size_t end = strlen(name), n = strlen(CARRIED_ENDING);

    while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    return hlo_at(m, id)->opcode == HLO_OP_OPT_BARRIER && end >= n && end < strlen(name) &&
           !memcmp(name + end - n, CARRIED_ENDING, n);
}
