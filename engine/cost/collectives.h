/* engine/cost/collectives.h - how long a collective takes on a mesh.
 *
 * For a set S of axes with n devices in a group, g of them inside each server, s servers, D devices
 * per server; W what a device sends on the link inside, N the network card of a server, which all
 * D devices share; a phase with nobody in it ([g > 1], [s > 1]) costs nothing:
 *     gather(b)   = [g > 1] (latency_in + (g-1)/g b / W) + [s > 1] (latency_out + (s-1)/s b (D/g) / N)
 *     all-gather, reduce-scatter = gather(b)     all-reduce = 2 gather(b)
 *     all-to-all  = [g > 1] (latency_in + h(g) (g/n) b / W) + [s > 1] (latency_out + (s-1)/s b D / N)
 *     permute     = the slower of: one step inside, b / w; one step out of the server, b (D/g) / N
 * h(g) is (g-1)/g behind a switch, floor(g^2/4)/g on a ring used both ways (g/4: the mean distance).
 * w, one device's step to its neighbour, is W behind a switch, W/2 on a ring (W for two devices).
 * On a torus of d sides each side is such a ring with W/d: a gather adds up the sides its set spans,
 * an all-to-all is as slow as its slowest side, a step has W/(2d). Along a part of a side, a stretch
 * has 1/2 of the ring (no way around), every t-th place 1/t of it (t sets share it).
 * Unequal servers: each phase takes as long as its slowest server; a server with m of a group's n
 * devices brings in (n-m)/n b. Equal servers give the lines above.
 * Sources: hierarchical gather and D/g: engine/README.md; ring all-to-all b/4: Austin et al., "How to
 * Scale Your Model", part 3; the factor n/2 of one-way rings, as in Alpa, is not used.
 *
 * `bytes` is local to one device and is the larger end: all-gather its result, reduce-scatter its
 * operand, the others their buffer. */
#ifndef AUTOMAP_ENGINE_COST_COLLECTIVES_H
#define AUTOMAP_ENGINE_COST_COLLECTIVES_H

#include "engine/cost/mesh.h"
#include "hlo/mem.h"

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_PERMUTE,
    COLLECTIVE_COUNT
};

/* The parts of one collective, ms. The phases follow each other: total = sum; of a permute they
 * run side by side: total = the longer. */
struct collective_cost {
    double inside_ms, across_ms;                 /* moving bytes */
    double latency_inside_ms, latency_across_ms;
    double total_ms;
};

/* O(1), allocates nothing. `set` < 2^axes; bytes >= 0. The empty set costs 0. */
struct collective_cost collective_cost(const struct cluster_mesh *m, enum collective_kind kind,
                                       uint32_t set, double bytes);
double collective_ms(const struct cluster_mesh *m, enum collective_kind kind, uint32_t set,
                     double bytes);

const char *collective_name(enum collective_kind kind); /* as HLO spells it: "all-reduce" */

/* One line per part with the figures it comes from, for a person who opens a total. */
void collective_explain(const struct cluster_mesh *m, enum collective_kind kind, uint32_t set,
                        double bytes, struct str *out);

#endif
