/* engine/place/place_json.h - a placement for programs: schema automap-place-1. */
#ifndef AUTOMAP_ENGINE_PLACE_PLACE_JSON_H
#define AUTOMAP_ENGINE_PLACE_PLACE_JSON_H

#include "engine/place/graph.h"
#include "engine/place/nets.h"
#include "engine/place/placement.h"
#include "engine/place/solve.h"

#include <cjson/cJSON.h>

/* schema, fingerprint, nodes, edges, value_ms, bound_ms, gap, proven, contiguous, objective,
 * communication, passes, algo, bound_by, seconds, positions, ideals, pairs, moves, faults,
 * devices[{name, kind, copies, load_ms, compute_ms, in_ms, out_ms, memory_bytes, stage, nodes}],
 * limits {memory_bytes, accelerators, cores}. NULL: not enough memory. */
cJSON *place_json(const struct place_graph *g, const struct place_job *job,
                  const struct placement *p, const struct place_load *load);

#endif
