/* engine/hybrid/interleave.h - interleaved 1F1B: every group of devices has several chunks of the
 * model (Narayanan et al., arXiv 2104.04473, 2.2; the order is that of Megatron-LM,
 * core/pipeline_parallel/schedules.py).
 *
 * Chunk c of p v lies on device group c mod p. Micro-batches go in groups of p: a device runs p of
 * them through its first chunk, then the same p through its second, and so on. It runs min(M v,
 * 2 (p - s - 1) + (v - 1) p) passes forward first, then one forward and one backward in turn. */
#ifndef AUTOMAP_ENGINE_HYBRID_INTERLEAVE_H
#define AUTOMAP_ENGINE_HYBRID_INTERLEAVE_H

#include "engine/pipeline/formula.h"
#include "engine/pipeline/simulation.h"
#include "hlo/support/err.h"

struct interleave {
    uint32_t groups, chunks, micro_batches; /* p; v a group; M, a multiple of p */
    const struct pipe_node *chunk;          /* [p v] */
    const struct pipe_node *transfer;       /* [p v - 1] behind each but the last */
    struct pipe_schedule *tasks; /* filled with what is played: task has room for all passes and
                                    transfers, node 2 c a chunk, 2 c + 1 the transfer behind
                                    it; NULL: the makespan alone is wanted */
};

/* Chunks that device group s has in flight at most. */
uint32_t interleave_in_flight(const struct interleave *x, uint32_t s);

/* The simulated makespan: transfers overlap computation, a link makes one transfer at a time, and
 * what follows the last backward pass of a group's chunks runs one after the other. INFINITY: no
 * memory. O(p v M). */
double interleave_makespan(const struct interleave *x);

#endif
