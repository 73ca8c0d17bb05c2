#include "engine/cost/on_host.h"

#include "hlo/meaning/kernels.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"

/* The operand whose place decides where the result of `id` is; HLO_NONE: it is on the device. */
static hlo_id comes_with(const struct hlo_module *m, hlo_id id)
{
    switch (hlo_at(m, id)->opcode) {
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
        return hlo_operand(m, id, 1); /* what is put in: the stack goes with it */
    case HLO_OP_DYNAMIC_SLICE:
    case HLO_OP_SLICE:
    case HLO_OP_RESHAPE:
    case HLO_OP_BITCAST:
    case HLO_OP_COPY:
        return hlo_operand(m, id, 0);
    default:
        return HLO_NONE;
    }
}

/* A stack is read by loops that may stand before those that fill it: until nothing changes, at most
 * as often as there are loops between. */
enum { SWEEPS_MOST = 8 };

static bool sweep_module(const struct hlo_module *m, const hlo_value *buffer, uint8_t *is_on_host)
{
    bool changed = false;

    for (hlo_id id = 0; id < m->count; id++) {
        hlo_value v = m->leaf_base[id];
        if (m->leaf_base[id + 1] != v + 1 || is_on_host[buffer[v]])
            continue;
        hlo_id with = comes_with(m, id);
        bool is = hlo_kernel_effect_of(m, id) == KERNEL_TO_HOST;
        if (with != HLO_NONE && m->leaf_base[with] < m->leaf_base[with + 1])
            is = is_on_host[buffer[m->leaf_base[with]]];
        changed |= is;
        is_on_host[buffer[v]] |= is;
    }
    return changed;
}

void on_host_find(const struct hlo_module *m, const hlo_value *buffer, uint8_t *is_on_host)
{
    bool any = false;

    for (hlo_id id = 0; id < m->count && m->kernels; id++)
        any |= hlo_kernel_effect_of(m, id) == KERNEL_TO_HOST;
    for (int k = 0; k < SWEEPS_MOST && any; k++)
        any = sweep_module(m, buffer, is_on_host);
}
