/* engine/place/published.h - the published instances of device placement (Tarnawski et al., arXiv
 * 2006.16423; data: github.com/msr-fiddle/dnn-partitioning), known by fingerprint, with what others
 * reach on them. Six digits; measured with the published code and with integer programs, for the
 * paper's repository has no table of values. */
#ifndef AUTOMAP_ENGINE_PLACE_PUBLISHED_H
#define AUTOMAP_ENGINE_PLACE_PUBLISHED_H

#include <stdbool.h>
#include <stdint.h>

struct place_published {
    uint64_t fingerprint; /* place_fingerprint of the graph as read */
    const char *name;
    const char *file; /* below the kind's folder, without .json */
    bool latency;     /* of latency-inputs; else of throughput-inputs */
    /* throughput: the optimum of contiguous plans by the published solver, its seconds (0: it ends
     * out of memory at 21 GB), the best plan of any sets known before */
    double contiguous_ms, seconds, any_ms;
    /* latency: greedy and max-load plans of the published code; 0: none */
    double greedy_ms, max_load_ms;
};
extern const struct place_published place_published[]; /* ends with name NULL */

/* NULL: none of them. */
const struct place_published *place_published_find(uint64_t fingerprint);

/* Nodes (ids) whose outgoing edges PipeDream's components are found without: input layers and
 * layers of size zero, which the published code knows by number (throughput-dp/dp.cpp,
 * fillDccIdsWithBiconnectedComponent). Ends with 0; NULL: none. */
const int64_t *place_published_inputs(uint64_t fingerprint);

#endif
