#include "engine/place/coarsen.h"

#include "engine/place/nets.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* Weight of the nets each prefix of the order cuts: [positions + 1]. */
static bool prefix_cuts(const struct place_nets *n, const uint32_t *order, double *cut)
{
    uint32_t *inside = mem_try((size_t)n->nets + 1, sizeof *inside);
    double now = 0;

    if (!inside)
        return false;
    cut[0] = 0;
    for (uint32_t i = 0; i < n->positions; i++) {
        for (uint32_t k = n->net_at[order[i]]; k < n->net_at[order[i] + 1]; k++) {
            uint32_t h = n->net[k], pins = n->pin_at[h + 1] - n->pin_at[h];
            inside[h]++;
            if (inside[h] == 1)
                now += n->near_ms[h];
            else if (inside[h] == pins)
                now -= n->near_ms[h];
        }
        cut[i + 1] = now;
    }
    free(inside);
    return true;
}

/* What a position weighs when work is shared out: time, and a little for being there at all. */
static double weight_of(const struct place_nets *n, uint32_t p, double each)
{
    return place_nets_time(n, 0, 0, p) + place_nets_time(n, 1, 0, p) + each;
}

/* Where a stage of the plan at hand ends along the order, the neighbourhood is kept fine. */
static void mark_fine(const struct place_nets *n, const uint32_t *order, const uint32_t *stage_of,
                      uint32_t reach, bool *fine)
{
    uint32_t done = 0; /* everything before is marked as far as it will be */

    for (uint32_t i = 0; i + 1 < n->positions; i++) {
        if (stage_of[order[i]] == stage_of[order[i + 1]])
            continue;
        uint32_t from = i > reach ? i - reach : 0;
        uint32_t to = i + reach < n->positions ? i + reach : n->positions;
        for (uint32_t k = from > done ? from : done; k < to; k++)
            fine[k] = true;
        done = to;
    }
}

/* Group numbers along the order. A slot is closed at its cheapest place, looked for in its second
 * half and the half slot behind it. */
static uint32_t cut_slots(const struct place_nets *n, const uint32_t *order, const double *cut,
                          const bool *fine, const double slots[2], double each, uint32_t *group_of)
{
    uint32_t group = 0, begin = 0, m = n->positions;

    while (begin < m) {
        uint32_t best = begin + 1;
        double slot = slots[fine[begin]];
        double sum = weight_of(n, order[begin], each), least = cut[begin + 1];
        for (uint32_t i = begin + 1; i < m && fine[i] == fine[begin] && sum < 1.5 * slot; i++) {
            sum += weight_of(n, order[i], each);
            if (sum <= 1.5 * slot && (sum < 0.5 * slot || cut[i + 1] <= least)) {
                best = i + 1;
                least = cut[i + 1];
            }
        }
        for (uint32_t i = begin; i < best; i++)
            group_of[order[i]] = group;
        group++;
        begin = best;
    }
    return group;
}

int place_coarsen(const struct place_prepared *p, const uint32_t *order, uint32_t target,
                  const uint32_t *stage_of, uint32_t rounds, struct place_prepared **out,
                  uint32_t **group_of, struct err *e)
{
    const struct place_nets *n = p->nets;
    uint32_t m = n->positions, groups;
    double *cut = mem_try((size_t)m + 1, sizeof *cut), work = 0;
    bool *fine = mem_try((size_t)m + 1, 1);
    int rc = 0;

    *group_of = mem_try((size_t)m + 1, sizeof **group_of);
    if (!cut || !fine || !*group_of || !prefix_cuts(n, order, cut)) {
        rc = err_no_memory(e, "to coarsen this graph");
    } else {
        for (uint32_t v = 0; v < m; v++)
            work += weight_of(n, v, 0);
        double fineness = pow(16, rounds ? rounds - 1 : 0);
        if (stage_of)
            mark_fine(n, order, stage_of, 1 + (uint32_t)(2.0 * m / target / fineness), fine);
        double each = work > 0 ? work / m / 4 : 1, all = work + each * m;
        double slots[2] = {all / target, all / target / fineness / 16};
        groups = cut_slots(n, order, cut, fine, slots, each, *group_of);
        rc = place_prepare_groups(p, *group_of, groups, out, e);
    }
    free(cut);
    free(fine);
    if (rc) {
        free(*group_of);
        *group_of = NULL;
    }
    return rc;
}

int place_coarsen_undo(struct place_chain *c, const uint32_t *group_of, uint32_t positions,
                       struct err *e)
{
    uint32_t *stage_of = mem_try((size_t)positions + 1, sizeof *stage_of);

    if (!stage_of)
        return err_no_memory(e, "for a plan");
    for (uint32_t p = 0; p < positions; p++)
        stage_of[p] = c->stage_of[group_of[p]];
    free(c->stage_of);
    c->stage_of = stage_of;
    c->positions = positions;
    return 0;
}
