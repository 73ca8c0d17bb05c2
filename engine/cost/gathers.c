#include "engine/cost/gathers.h"

#include "engine/cluster/collectives.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

/* The part of value `v` that one device has along its dims before `end`. */
static double part_before(const struct step_tables *t, hlo_value v, const label *on, dim_id end)
{
    const struct classes *c = t->labels->classes;
    double part = 1;

    for (dim_id d = c->dim_base[v]; d < end; d++) {
        class_id k = c->class_of[d];
        int64_t size = hlo_value_shape(c->m, v)->dims[d - c->dim_base[v]];
        part *= k == CLASS_NONE ? 1 : label_part(t->labels, k, on[k], size);
    }
    return part;
}

uint32_t gathers_of(const struct step_tables *t, hlo_id id, const label *on,
                    struct reduction out[static TERM_CLASSES_MOST])
{
    const struct classes *c = t->labels->classes;
    uint32_t count = 0, results = c->m->leaf_base[id + 1] - c->m->leaf_base[id];

    for (uint32_t leaf = 0; leaf + results < class_leaf_count(c, id); leaf++) {
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        if (!c->is_gathered[c->leaf_base[id] + leaf])
            continue;
        for (dim_id d = c->dim_base[v + 1]; d-- > c->dim_base[v] && count < TERM_CLASSES_MOST;) {
            class_id k = c->class_of[d];
            if (k == CLASS_NONE || !on[k])
                continue;
            double bytes = (double)hlo_value_shape(c->m, v)->bytes * part_before(t, v, on, d);
            out[count++] = (struct reduction){
                .kind = COLLECTIVE_ALL_GATHER,
                .class = k,
                .over = on[k],
                .count = 1,
                .bytes = bytes,
                .times = step_tables_times(t, id),
                .ms = collective_ms(t->mesh, COLLECTIVE_ALL_GATHER, on[k], bytes)};
        }
    }
    return count;
}
