#include "engine/plan/cost_parts.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"

const char *const cost_part_names[PART_COUNT] = {"products", "convolutions", "kernels",
                                                 "movement", "update",       "communication"};

static enum cost_part part_of(const struct problem *p, hlo_id id)
{
    if (p->training.is_once[id])
        return PART_UPDATE;
    if (p->attention.kernel[id])
        return PART_KERNELS;
    switch (hlo_at(p->m, id)->opcode) {
    case HLO_OP_DOT:
    case HLO_OP_RAGGED_DOT:
    case HLO_OP_SCALED_DOT:
        return PART_PRODUCTS;
    case HLO_OP_CONVOLUTION:
        return PART_CONVOLUTIONS;
    case HLO_OP_CUSTOM_CALL:
        return PART_KERNELS;
    default:
        return PART_MOVEMENT;
    }
}

enum { FACTORS_MOST = 256 };

/* Computing of one instruction, and what of it adds up gradients; ms per step. */
struct computing {
    double all_ms, adding_ms;
};

static struct computing computing_of(const struct plan *p, hlo_id id)
{
    const struct problem *q = p->problem;
    const struct classes *c = &q->classes;
    double share[FACTORS_MOST];
    uint32_t first = c->factor_base[id], count = c->factor_base[id + 1] - first;

    if (!p->relaxed) {
        struct instruction_cost cost = step_tables_instruction(&q->step_tables, id, p->on);
        return (struct computing){cost.compute_ms, cost.adding_ms};
    }
    if (q->costs.times[id] <= 0 || count > FACTORS_MOST)
        return (struct computing){0};
    for (uint32_t k = 0; k < count; k++) {
        const struct class_factor *f = &c->factors[first + k];
        label over = status_dim(p->relaxed->choice[id], q->mesh.axes, k);
        share[k] = f->class == CLASS_NONE ? 1
                   : label_is_admissible(&q->labels, f->class, over)
                       ? label_share(&q->labels, f->class, over)
                       : label_part(&q->labels, f->class, over, f->size);
    }
    return (struct computing){step_tables_compute_ms(&q->step_tables, id, share),
                              step_tables_compute_adding_ms(&q->step_tables, id, share)};
}

double plan_compute_ms(const struct plan *p, hlo_id id)
{
    return computing_of(p, id).all_ms;
}

struct cost_parts plan_cost_parts(const struct plan *p)
{
    struct cost_parts out = {.ms = {[PART_COMMUNICATION] = p->cost.communication_ms}};

    for (hlo_id id = 0; id < p->problem->m->count; id++) {
        if (p->problem->costs.times[id] <= 0)
            continue;
        struct computing ms = computing_of(p, id);
        out.ms[part_of(p->problem, id)] += ms.all_ms - ms.adding_ms;
        out.ms[PART_MOVEMENT] += ms.adding_ms;
    }
    return out;
}
