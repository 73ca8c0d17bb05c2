/* engine/relaxed/written_plan.c - a plan from decisions written down: each node's label looked up.
 */
#include "engine/relaxed/model.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static uint32_t label_of_choice(const struct model *m, const struct model_node *n, uint32_t choice)
{
    const struct model_pattern *pattern = &m->patterns[n->pattern];

    for (uint32_t k = 0; k < pattern->labels; k++) {
        if (m->choices[pattern->choices + k] == choice)
            return k;
    }
    return UINT32_MAX;
}

static uint32_t label_of_node(const struct model *m, const struct model_node *n,
                              const struct relaxed_decisions *d)
{
    switch (n->kind) {
    case MODEL_INSTRUCTION:
        return label_of_choice(m, n, d->choice[n->id]);
    case MODEL_HUB:
        return status_find(&m->spaces, n->space, d->held[n->value]);
    case MODEL_OUTPUT:
        return status_find(&m->spaces, n->space, d->ended[n->value]);
    default:
        return status_find(&m->spaces, n->space, d->made[n->value]);
    }
}

int relaxed_price_decisions(struct relaxed *r, const struct relaxed_decisions *d,
                            struct relaxed_plan *out, struct err *e)
{
    const struct model *m = &r->model;

    memset(out, 0, sizeof *out);
    for (uint32_t k = 0; k < m->energy.nodes; k++) {
        uint32_t found = label_of_node(m, &m->nodes[k], d);
        if (found == UINT32_MAX)
            return err_set(
                e, ERR_INPUT, "%.120s: no plan has it so: %s", hlo_name(m->p->m, m->nodes[k].id),
                m->nodes[k].kind == MODEL_INSTRUCTION ? "it cannot be split along these factors"
                                                      : "its result cannot have this status");
        r->trial[k] = (uint16_t)found;
    }
    memcpy(r->best, r->trial, m->energy.nodes * sizeof *r->best);
    r->has_best = true;
    return relaxed_extract(r, out, e);
}

/* ---- copies ---- */

static void *copy_of(const void *from, size_t count, size_t size, bool *ok)
{
    void *to = mem_try(count + 1, size);

    *ok = *ok && to;
    return to && count ? memcpy(to, from, count * size) : to;
}

int relaxed_plan_copy(const struct relaxed_plan *from, struct relaxed_plan *out, struct err *e)
{
    const struct hlo_module *m = from->problem->m;
    bool ok = true;

    *out = *from;
    out->choice = copy_of(from->choice, m->count, sizeof *out->choice, &ok);
    out->leaf =
        copy_of(from->leaf, from->problem->classes.leaf_base[m->count], sizeof *out->leaf, &ok);
    out->made = copy_of(from->made, m->value_count, sizeof *out->made, &ok);
    out->held = copy_of(from->held, m->value_count, sizeof *out->held, &ok);
    out->ended = copy_of(from->ended, m->value_count, sizeof *out->ended, &ok);
    out->origin = copy_of(from->origin, m->value_count, sizeof *out->origin, &ok);
    out->updates =
        copy_of(from->updates, from->problem->roles.param_count, sizeof *out->updates, &ok);
    out->reshards = copy_of(from->reshards, from->reshard_count, sizeof *out->reshards, &ok);
    if (ok)
        return 0;
    relaxed_plan_release(out);
    return err_no_memory(e, "for the plan");
}
