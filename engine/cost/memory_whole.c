#include "engine/cost/memory_whole.h"

#include "engine/decide/classes.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

struct whole {
    const struct memory_model *m;
    struct memory_range *list;
    uint32_t *range_of; /* [values] of an operand, + 1 */
    size_t room;
    uint32_t count;
};

static bool add_whole(struct whole *w, hlo_value v, uint32_t at)
{
    if (!mem_grow(&w->list, &w->room, w->count, 1))
        return false;
    w->list[w->count++] = (struct memory_range){.value = v,
                                                .start = at,
                                                .end = at,
                                                .kind = MEMORY_ACTIVATIONS,
                                                .storing = STORED_WHOLE,
                                                .variable = UINT32_MAX,
                                                .gradient = HLO_NONE};
    return true;
}

/* Leaves of the instruction at position `at`: operands, then results. */
static bool add_leaves(struct whole *w, hlo_id id, uint32_t at)
{
    const struct classes *c = w->m->classes;
    uint32_t results = c->m->leaf_base[id + 1] - c->m->leaf_base[id];

    for (uint32_t leaf = 0; leaf < class_leaf_count(c, id); leaf++) {
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        bool is_operand = leaf + results < class_leaf_count(c, id);
        if (is_operand && c->is_free[v])
            continue;
        if (is_operand && w->range_of[v]) {
            w->list[w->range_of[v] - 1].end = at;
            continue;
        }
        if (!add_whole(w, v, at))
            return false;
        if (is_operand)
            w->range_of[v] = w->count;
    }
    return true;
}

bool memory_whole_find(const struct memory_model *m, struct memory_range **out, uint32_t *count)
{
    struct whole w = {.m = m,
                      .range_of = mem_try((size_t)m->m->value_count + 1, sizeof *w.range_of)};
    bool ok = w.range_of != NULL;

    for (uint32_t n = 0; n < m->m->count && ok; n++) {
        hlo_id id = m->schedule.order[n];
        if (m->classes->runs_whole[id])
            ok = add_leaves(&w, id, n);
    }
    free(w.range_of);
    *out = w.list;
    *count = w.count;
    return ok;
}
