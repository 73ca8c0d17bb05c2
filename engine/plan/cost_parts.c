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

double plan_compute_ms(const struct plan *p, hlo_id id)
{
    const struct problem *q = p->problem;
    const struct classes *c = &q->classes;
    double share[FACTORS_MOST];
    uint32_t first = c->factor_base[id], count = c->factor_base[id + 1] - first;

    if (!p->relaxed)
        return step_tables_instruction(&q->step_tables, id, p->on).compute_ms;
    if (q->costs.times[id] <= 0 || count > FACTORS_MOST)
        return 0;
    for (uint32_t k = 0; k < count; k++) {
        const struct class_factor *f = &c->factors[first + k];
        label over = status_dim(p->relaxed->choice[id], q->mesh.axes, k);
        share[k] = f->class == CLASS_NONE ? 1
                   : label_is_admissible(&q->labels, f->class, over)
                       ? label_share(&q->labels, f->class, over)
                       : label_part(&q->labels, f->class, over, f->size);
    }
    return step_tables_compute_ms(&q->step_tables, id, share);
}

struct cost_parts plan_cost_parts(const struct plan *p)
{
    struct cost_parts out = {.ms = {[PART_COMMUNICATION] = p->cost.communication_ms}};

    for (hlo_id id = 0; id < p->problem->m->count; id++) {
        if (p->problem->costs.times[id] > 0)
            out.ms[part_of(p->problem, id)] += plan_compute_ms(p, id);
    }
    return out;
}
