#include "engine/cost/memory_chain.h"

#include "hlo/module/hlo.h"

#include <string.h>

void memory_chain_find(const struct memory_model *m, const double *scratch, const uint32_t *at,
                       struct memory_chain *out)
{
    hlo_comp c = m->m->entry;

    out->depth = 0;
    while (out->depth < MEMORY_CHAIN_MOST) {
        hlo_id id = m->schedule.order[at[c]];
        hlo_comp most = HLO_NONE;
        out->at[out->depth++] = at[c];
        for (uint32_t k = 0; k < hlo_at(m->m, id)->called_count; k++) {
            hlo_comp inner = hlo_called(m->m, id, k);
            double bytes = scratch[m->count + inner];
            if (bytes > 0 && (most == HLO_NONE || bytes > scratch[m->count + most]))
                most = inner;
        }
        if (most == HLO_NONE)
            return;
        c = most;
    }
}

bool memory_chain_equals(const struct memory_chain *a, const struct memory_chain *b)
{
    return a->depth == b->depth && !memcmp(a->at, b->at, a->depth * sizeof *a->at);
}

void memory_chain_each(const struct memory_model *m, const struct memory_chain *c,
                       void (*each)(void *self, uint32_t range), void *self)
{
    for (uint32_t d = 0; d < c->depth; d++) {
        hlo_comp comp = hlo_at(m->m, m->schedule.order[c->at[d]])->computation;
        for (uint32_t k = m->first[comp]; k < m->first[comp + 1]; k++) {
            const struct memory_range *r = &m->ranges[k];
            if (r->is_argument || (r->start <= c->at[d] && c->at[d] <= r->end))
                each(self, k);
        }
    }
}
