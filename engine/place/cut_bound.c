#include "engine/place/cut_bound.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_cut.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>

/* Work and nets of p alone: no more than this is ever the bound of p. */
static double alone(const struct place_nets *n, uint32_t p)
{
    double all = place_least_time(n, p, false);

    for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++)
        all += n->near_ms[n->net[i]];
    return fmin(all, place_least_time(n, p, true));
}

static double least_load(struct place_cut *c, const struct place_nets *n, uint8_t *where,
                         uint32_t p)
{
    double cut = INFINITY;

    where[p] = PLACE_CUT_IN;
    if (isfinite(place_least_time(n, p, false)))
        cut = place_cut_least(c, where, true, INFINITY, NULL);
    where[p] = PLACE_CUT_FREE;
    return fmin(cut, place_least_time(n, p, true));
}

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
            if (!seen[v] && (p == PLACE_NONE || alone(n, v) > alone(n, p)))
                p = v;
        }
        seen[p] = true;
        if (alone(n, p) <= *out)
            break;
        double cut = least_load(c, n, where, p);
        *out = isfinite(cut) ? fmax(*out, cut) : *out;
    }
out:
    free(seen);
    free(where);
    place_cut_free(c);
    return rc;
}
