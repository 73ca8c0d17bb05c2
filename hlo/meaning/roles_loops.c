/* Steps that train several times in a loop (minibatches, epochs): one turn of it is the step. */
#include "hlo/meaning/roles_internal.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* In list[first .. end) every `old` becomes `new`. */
static void replace(hlo_value *list, uint32_t first, uint32_t end, hlo_value old, hlo_value new)
{
    for (uint32_t k = first; k < end; k++)
        list[k] = list[k] == old ? new : list[k];
}

/* Is the value `begin` that a loop begins with a parameter, or what an outer loop carries from one?
 */
static bool is_from_param(const struct hlo_roles_work *w, hlo_value begin, const bool *is_cut)
{
    begin = hlo_graph_source(&w->g, begin);
    return w->param_of[begin] != HLO_NONE || is_cut[begin];
}

/* Cuts the way back of one carried value: what every turn reads is what the first one did, and what
 * the loop gives is what a turn makes. */
static bool cut_leaf(struct hlo_roles_work *w, hlo_value in, hlo_value out, hlo_value result,
                     bool *is_cut)
{
    struct hlo_graph *g = &w->g;
    hlo_value begin = HLO_NONE;

    if (is_cut[in] || in == out || !w->claim_of[in] || !hlo_work_is_float(w, in) ||
        !hlo_value_shape(w->m, in)->rank)
        return false;
    for (uint32_t k = g->pred_first[in]; k < g->pred_first[in + 1]; k++)
        begin = g->preds[k] == out ? begin : g->preds[k];
    if (begin == HLO_NONE || !is_from_param(w, begin, is_cut))
        return false;
    replace(g->preds, g->pred_first[in], g->pred_first[in + 1], out, begin);
    replace(g->preds, g->pred_first[result], g->pred_first[result + 1], in, out);
    replace(g->succs, g->succ_first[out], g->succ_first[out + 1], in, result);
    for (uint32_t k = g->succ_first[in]; k < g->succ_first[in + 1]; k++) {
        if (g->succs[k] != result)
            replace(g->succs, g->succ_first[in], g->succ_first[in + 1], result, g->succs[k]);
    }
    return is_cut[in] = true;
}

/* All that one loop carries; true: something was cut. */
static bool cut_loop(struct hlo_roles_work *w, hlo_id id, bool *is_cut)
{
    const struct hlo_module *m = w->m;
    bool any = false;

    if (hlo_at(m, id)->opcode != HLO_OP_WHILE)
        return false;
    const struct hlo_computation *c = &m->computations[hlo_called(m, id, 0)];
    uint32_t leaves = c->param_count == 1 ? hlo_shape(m, id)->leaf_count : 0;
    for (uint32_t k = 0; k < leaves; k++)
        any |= cut_leaf(w, hlo_value_of(m, c->params[0], k), hlo_value_of(m, c->root, k),
                        hlo_value_of(m, id, k), is_cut);
    return any;
}

/* is_cut[value]: of those carried. An inner loop may begin with what an outer one carries, which
 * comes behind it, a later one with what an earlier one gives: so back and forth. */
static bool cut_loops(struct hlo_roles_work *w, bool *is_cut)
{
    uint32_t count = w->m->count;
    bool any = false;

    for (bool again = true; again;) {
        again = false;
        for (hlo_id id = count; id-- > 0;)
            again |= cut_loop(w, id, is_cut);
        for (hlo_id id = 0; id < count; id++)
            again |= cut_loop(w, id, is_cut);
        any |= again;
    }
    return any;
}

int hlo_roles_one_turn(struct hlo_roles_work *w, bool *any, struct err *e)
{
    bool *is_cut = mem_try(w->m->value_count, 1);

    if (!is_cut)
        return err_no_memory(e, "for the roles of the parameters");
    *any = cut_loops(w, is_cut);
    free(is_cut);
    return 0;
}
