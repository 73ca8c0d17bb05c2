#include "engine/place/cut_bound.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_cut.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>

int place_cut_bound(const struct place_nets *n, const struct place_rules *r, double *out,
                    struct err *e)
{
    struct place_cut *c = NULL;
    uint8_t *where;
    bool *seen;

    *out = 0;
    if (r->communication != PLACE_SUM || r->apart || r->replicate)
        return 0;
    seen = mem_try((size_t)n->positions + 1, 1);
    where = mem_try((size_t)n->positions + 1, 1);
    int rc = seen && where ? place_cut_new(n, &c, e) : err_no_memory(e, "for a bound");
    if (rc)
        goto out;
    for (uint32_t k = 0; k < PLACE_CUT_FLOWS && k < n->positions; k++) {
        uint32_t p = PLACE_NONE;
        for (uint32_t v = 0; v < n->positions; v++) {
            if (!seen[v] && (p == PLACE_NONE || place_cut_alone(n, v) > place_cut_alone(n, p)))
                p = v;
        }
        seen[p] = true;
        if (place_cut_alone(n, p) <= *out)
            break;
        double cut = place_cut_with(c, where, p);
        *out = isfinite(cut) ? fmax(*out, cut) : *out;
    }
out:
    free(seen);
    free(where);
    place_cut_free(c);
    return rc;
}
