#include "engine/cost/free_cost.h"

#include "engine/cluster/cluster.h"
#include "engine/decide/classes.h"
#include "hlo/module/hlo.h"

#include <math.h>

static double whole_bytes(const struct classes *c, hlo_id id)
{
    double bytes = 0;

    for (hlo_value v = c->m->leaf_base[id]; v < c->m->leaf_base[id + 1]; v++)
        bytes += c->is_made_whole[v] ? (double)hlo_value_shape(c->m, v)->bytes : 0;
    return bytes;
}

/* What a loop carries goes through its parameter; element-wise work and views ride along. */
static double traffic(const struct classes *c, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(c->m, id);

    switch (i->opcode) {
    case HLO_OP_PARAMETER:
        return i->computation == c->m->entry ? 0 : 2 * whole_bytes(c, id);
    case HLO_OP_CONCATENATE:
    case HLO_OP_SORT:
    case HLO_OP_GATHER:
    case HLO_OP_SCATTER:
    case HLO_OP_RNG_BIT_GENERATOR:
        return 2 * whole_bytes(c, id);
    default:
        return 0;
    }
}

struct instruction_cost free_cost(const struct step_tables *t, hlo_id id)
{
    const struct classes *c = t->labels->classes;
    struct instruction_cost out = {.times = t->costs->times[id]};

    if (whole_bytes(c, id) <= 0)
        return out;
    out.flops = fmax(t->costs->instruction[id].flops, 0);
    out.bytes = traffic(c, id);
    out.compute_ms = out.times * 1e3 *
                     fmax(out.flops / cluster_peak(&t->device, PEAK_F32),
                          out.bytes / cluster_bandwidth(&t->device));
    return out;
}
