/* engine/place/split.h - a split as JSON, the form of the published plans:
 *
 *     {"maxLoad": ms, "fpgas": [{"load": ms, "nodes": [ids]}], "cpus": [{"load": ms, "nodes":
 * [ids]}]}
 *
 * For the latency of one sample, totalLatency replaces maxLoad. Loads are not read. A file may list
 * fewer devices than there are, and only the forward nodes of a training graph: the others follow
 * by color. We add "copies" of a stage, on the one of its devices that lists its nodes; the others
 * list none. Pieces of a latency plan are left out, as they can be found again. */
#ifndef AUTOMAP_ENGINE_PLACE_SPLIT_H
#define AUTOMAP_ENGINE_PLACE_SPLIT_H

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Errors carry line and column: an id unknown or twice, more devices than the graph has, a class of
 * colors on two devices, a node on none; more copies than devices (without a place). Value and
 * faults are those of `rules`. */
int place_split_parse(const char *text, size_t size, const struct place_graph *g,
                      const struct place_rules *rules, struct placement **out,
                      struct err *e) MUST_CHECK;
int place_split_read(const char *path, const struct place_graph *g, const struct place_rules *rules,
                     struct placement **out, struct err *e) MUST_CHECK;

/* `load` of all devices, as place_loads fills it. Devices without nodes are left out at the end. */
void place_split_write(const struct placement *p, const struct place_graph *g,
                       const struct place_rules *rules, const struct place_load *load,
                       bool is_latency, struct str *out);

#endif
