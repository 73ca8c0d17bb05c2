/* engine/place/place_file.h - placements for programs and kept in files: JSON of schema
 * automap.place/1, written whole or not at all, read back strictly. Loads are not taken from the
 * file but computed. What a search proved (bound_ms, proven) is the file's word: the plan says so
 * (placement.written_in), and so does what is written or printed of it.
 *
 *     model, cluster      of a plan for a model: name, size, fingerprint
 *     nodes, edges, fingerprint    of the operator graph, before devices and pins were set
 *     value_ms, bound_ms, gap, proven, bound_by
 *     as_written          true: bound_ms and proven were read from such a file, and not checked
 *     objective, sets, communication, passes, pieces, replicate, pins      what was asked
 *     contiguous          the devices take differences of a chain of ideals
 *     algo, positions, ideals, pairs, moves, and printed, not kept in files: seconds
 *     faults              what the plan breaks: memory, kind, pin, apart
 *     devices[]           name, kind, stage, copies; load_ms = compute_ms + in_ms + out_ms (sum);
 *                         memory_bytes; nodes: ids; pieces: of each node, where a plan for
 *                         latency has several on a device and may have them
 *     limits              device with the largest load, the heaviest transfer it pays; kinds[]:
 *                         count and memory there were
 * Any thread. */
#ifndef AUTOMAP_ENGINE_PLACE_PLACE_FILE_H
#define AUTOMAP_ENGINE_PLACE_PLACE_FILE_H

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/solve.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#include <cjson/cJSON.h>

#define PLACE_SCHEMA "automap.place/1"

struct place_document {
    const struct problem *problem;   /* NULL: the graph is of a file */
    const struct place_graph *graph; /* with its devices and pins */
    uint64_t fingerprint;            /* of the graph before these were set */
    const struct place_job *job;
    const char *const *pin; /* in words (place_pins.h) */
    uint32_t pins;
    const struct placement *plan;
    const struct place_load *load; /* [devices] */
};

/* A new object of the caller's; NULL: not enough memory. O(nodes log + edges). */
cJSON *place_json(const struct place_document *d, bool with_seconds);

/* ERR_LIMIT: ids beyond 2^53, which JSON does not hold. Errors name the file. */
int place_file_save(const struct place_document *d, const char *path, struct err *e) MUST_CHECK;

/* ---- reading ---- */

/* True when the file begins like one; false too when it cannot be read. */
bool place_file_is(const char *path);
/* Devices of its cluster, 0: it is of no model; samples of a step, 0: the model's. Errors name the
 * file. */
int place_file_setup(const char *path, uint32_t *devices, int64_t *batch, struct err *e) MUST_CHECK;

struct place_saved {
    struct place_job job;
    struct placement *plan;  /* names its algo and bound_by from here */
    struct place_load *load; /* [plan->devices] */
    char algo[24], bound_by[64];
    char *path;
    char **pin; /* in words */
    uint32_t pins;
};

/* `p` is the model's problem, NULL for a graph of a file; `g` its graph as it was read: devices,
 * memory and pins of the file are set on it, on errors too in part. Freed with place_saved_free; it
 * does not hold `g`. `path` names the file. Errors: as json_document; another model, cluster or
 * graph; a node unknown, twice, on none, or apart from its class; ERR_INFEASIBLE: pins that clash.
 */
int place_file_parse(const char *text, size_t size, const char *path, const struct problem *p,
                     struct place_graph *g, struct place_saved **out, struct err *e) MUST_CHECK;
int place_file_load(const char *path, const struct problem *p, struct place_graph *g,
                    struct place_saved **out, struct err *e) MUST_CHECK;
void place_saved_free(struct place_saved *s); /* NULL is fine */

#endif
