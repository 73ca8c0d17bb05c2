/* engine/hybrid/hybrid_file.h - hybrid plans kept in files: JSON of schema automap.hybrid/1,
 * written whole or not at all, read back strictly. Costs are not taken from the file but computed;
 * what the search proved (bound_ms, certified) is the file's word (hybrid.is_said), and that only
 * as long as the step comes out as the file has it.
 *
 *     options       batch, micro_batches, schedule, chunks, zero, overlap, whole layers, memory
 *                   limit
 *     stages[]      from, to: positions in the forward order, and the layers there; devices
 *                   [a, b); axes; recompute; decisions: of every class that is split one dim of one
 *                   value, with the axes it is split over; figures
 *     transfers[]   between neighbours */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_FILE_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_FILE_H

#include "engine/hybrid/hybrid.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#include <cjson/cJSON.h>

#define HYBRID_SCHEMA "automap.hybrid/1"

cJSON *hybrid_json(const struct hybrid *h);
int hybrid_file_save(const struct hybrid *h, const char *path, struct err *e) MUST_CHECK;

/* Fills `out` with the plan priced on `p`; free with hybrid_release. ERR_INPUT for a plan of
 * another model or cluster, and for what is no plan: stages that leave a gap, devices or axes no
 * stage can have, decisions that clash. */
int hybrid_file_parse(const struct problem *p, const char *text, size_t size, struct hybrid *out,
                      struct err *e) MUST_CHECK;
int hybrid_file_load(const struct problem *p, const char *path, struct hybrid *out,
                     struct err *e) MUST_CHECK;

enum { HYBRID_ZERO_ROOM = 16 };
/* The ZeRO levels that a bound is of, where that level was taken: "ZeRO 1", "ZeRO 1 to 3"; returns
 * `out`. */
const char *hybrid_zero_words(int asked, uint8_t taken, char out[static HYBRID_ZERO_ROOM]);

/* Whether the head of the file names the schema. */
bool hybrid_file_is(const char *path);
/* How many devices its cluster has: for commands that are given none. */
int hybrid_file_devices(const char *path, uint32_t *devices, struct err *e) MUST_CHECK;

#endif
