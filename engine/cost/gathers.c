#include "engine/cost/gathers.h"

#include "engine/cluster/collectives.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"

uint32_t gathers_of(const struct step_tables *t, hlo_id id, const label *on,
                    struct reduction out[static TERM_CLASSES_MOST])
{
    const struct classes *c = t->labels->classes;
    uint32_t count = 0, results = c->m->leaf_base[id + 1] - c->m->leaf_base[id];

    for (uint32_t leaf = 0; leaf + results < class_leaf_count(c, id) && count < TERM_CLASSES_MOST;
         leaf++) {
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        struct reduction r = {.kind = COLLECTIVE_ALL_GATHER,
                              .class = CLASS_NONE,
                              .count = 1,
                              .bytes = (double)hlo_value_shape(c->m, v)->bytes,
                              .times = step_tables_times(t, id)};
        for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
            class_id k = c->class_of[d];
            if (k == CLASS_NONE || !on[k])
                continue;
            r.over |= on[k];
            r.class = k;
        }
        if (!r.over || !c->is_gathered[c->leaf_base[id] + leaf])
            continue;
        r.ms = collective_ms(t->mesh, COLLECTIVE_ALL_GATHER, r.over, r.bytes);
        out[count++] = r;
    }
    return count;
}
