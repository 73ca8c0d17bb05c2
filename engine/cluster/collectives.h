/* engine/cluster/collectives.h - how long a collective takes on a mesh.
 *
 * For a set S of axes with n devices in a group, g of them in each server, s servers, D devices a
 * server; W the bandwidth of a device on the link inside, N that of a server's network card, which
 * all its D devices share. A phase without partners (g = 1, s = 1) costs nothing, not even latency:
 *                     inside                            across
 *     gather(b)       latency + (g-1)/g b / W           latency + (s-1)/s b (D/g) / N
 *     all-to-all      latency + h(g) (g/n) b / W        latency + (s-1)/s b D / N
 *     permute         latency + b / w                   latency + b (D/g) / N
 * All-gather and reduce-scatter are one gather, all-reduce is two. The phases add up; for a permute
 * the longer one counts. h(g) is (g-1)/g behind a switch, floor(g^2/4)/g, the mean distance, on a
 * ring used in both directions. w, one device's step to its neighbour, is W behind a switch, W/2 on
 * a ring (W for two devices). On a torus of d sides each side is such a ring with W/d: a gather
 * adds up the sides its set spans, an all-to-all is as slow as its slowest side, a step has W/(2d).
 * A set that covers part of a side gets 1/2 of the ring if it is a stretch (no way around), and 1/t
 * if it is every t-th device (t sets share the ring). Unequal servers: each phase takes as long as
 * its slowest server; a server with m of a group's n devices receives (n-m)/n b. Equal servers give
 * the lines above. A link with `protocol: nccl` uses NCCL's latencies instead of the file's: the
 * least over its protocols of a call, a step per neighbour and phase, and the bytes at the
 * protocol's share of the bandwidth. An all-reduce over 8 devices on NVLink: 10 us when small.
 * Sources: engine/cluster/README.md; all-to-all on a ring: Austin et al., "How to Scale Your
 * Model", part 3 (XLA's auto-sharding and Alpa assume one direction, which doubles it).
 *
 * `bytes` is local to one device and counts the larger side: the result of an all-gather, the
 * operand of a reduce-scatter, else the buffer. */
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

/* The parts of one collective, ms. Phases run one after the other, so total = sum; those of a
 * permute run in parallel, so total = the longer. */
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

/* A message by its size alone: the least over `count` lines, one for each protocol where the link
 * has NCCL's, else one. For sums of many messages that travel as one. */
enum { COLLECTIVE_LINES_MOST = 3 };
struct collective_lines {
    uint32_t count;
    struct {
        double ms, factor; /* latency; times what moving the bytes takes at the full bandwidth */
    } line[COLLECTIVE_LINES_MOST];
};
struct collective_lines collective_lines_of(const struct mesh_span *s, enum collective_kind kind);
/* moving_ms: its bytes at the full bandwidth, inside and across together; 0: there is no message.
 * Of other kinds than permutes the same as collective_ms; increasing. */
double collective_lines_ms(const struct collective_lines *l, double moving_ms);

const char *collective_name(enum collective_kind kind); /* as HLO spells it: "all-reduce" */

/* Appends one line per part with the figures behind it, for a person who opens a total. */
void collective_explain(const struct cluster_mesh *m, enum collective_kind kind, uint32_t set,
                        double bytes, struct str *out);

#endif
