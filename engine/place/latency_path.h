/* engine/place/latency_path.h - why one sample takes as long as it does: the blocks (a piece of an
 * accelerator, or a node on the host) that wait for each other without a gap, up to the last end.
 */
#ifndef AUTOMAP_ENGINE_PLACE_LATENCY_PATH_H
#define AUTOMAP_ENGINE_PLACE_LATENCY_PATH_H

#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

struct place_latency_step {
    uint32_t device, piece;
    uint32_t nodes, node; /* how many, and the first of them */
    uint32_t waits_for;   /* whose output it waits for; PLACE_NONE: nobody's, or the piece before */
    double begin_ms, fetch_ms, compute_ms, send_ms, end_ms;
};

/* In order of time; *steps is the caller's to free. `p` has pieces and its value; there are no
 * steps when pieces wait for each other in a circle. O(nodes + edges). */
int place_latency_path(const struct place_graph *g, const struct placement *p,
                       struct place_latency_step **steps, uint32_t *count,
                       struct err *e) MUST_CHECK;

#endif
