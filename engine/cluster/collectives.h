/* engine/cluster/collectives.h - how long a collective takes on a mesh.
 *
 * For a set S of axes with n devices in a group, g of them in each server, s servers, D devices a
 * server; W what a device sends on the link inside, N a server's network card, which all its D
 * devices share. A phase with nobody in it (g = 1, s = 1) costs nothing, latency included:
 *                     inside                            across
 *     gather(b)       latency + (g-1)/g b / W           latency + (s-1)/s b (D/g) / N
 *     all-to-all      latency + h(g) (g/n) b / W        latency + (s-1)/s b D / N
 *     permute         latency + b / w                   latency + b (D/g) / N
 * All-gather and reduce-scatter are one gather, all-reduce is two. The phases add up; of a permute
 * the longer counts.
 * h(g) is (g-1)/g behind a switch, floor(g^2/4)/g, the mean distance, on a ring used both ways.
 * w, one device's step to its neighbour, is W behind a switch, W/2 on a ring (W for two devices).
 * On a torus of d sides each side is such a ring with W/d: a gather adds up the sides its set
 * spans, an all-to-all is as slow as its slowest side, a step has W/(2d). Along a part of a side, a
 * stretch has 1/2 of the ring (no way around), every t-th place 1/t of it (t sets share it).
 * Unequal servers: each phase takes as long as its slowest server; a server with m of a group's n
 * devices brings in (n-m)/n b. Equal servers give the lines above.
 * A link with `protocol: nccl` has NCCL's latencies in place of the file's: the least, over its
 * protocols, of a call, a step per neighbour and phase, and the bytes at the protocol's part of the
 * bandwidth. An all-reduce over 8 devices on NVLink: 10 us when small.
 * Sources: engine/cluster/README.md; all-to-all on a ring: Austin et al., "How to Scale Your
 * Model", part 3 (XLA's auto-sharding and Alpa take rings to be used one way, twice this).
 *
 * `bytes` is local to one device and is the larger end: all-gather its result, reduce-scatter its
 * operand, the others their buffer. */
#ifndef AUTOMAP_ENGINE_CLUSTER_COLLECTIVES_H
#define AUTOMAP_ENGINE_CLUSTER_COLLECTIVES_H

#include "engine/cluster/mesh.h"
#include "hlo/support/mem.h"

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
    double inside_ms, across_ms; /* moving bytes */
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
