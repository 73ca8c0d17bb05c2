/* engine/place/graph_file.h - operator graphs as JSON, the form of Tarnawski et al.'s published
 * data (github.com/msr-fiddle/dnn-partitioning), with additions of ours.
 *
 *     {"maxSizePerFPGA": bytes, "maxFPGAs": k, "maxCPUs": l,
 *      "nodes": [{"id", "supportedOnFpga", "cpuLatency", "fpgaLatency", "isBackwardNode",
 *                 "colorClass", "size", "name"}],
 *      "edges": [{"sourceId", "destId", "cost"}]}
 *
 * "FPGA" is any accelerator. isBackwardNode, colorClass, size, name may be left out; other keys are
 * passed over. Ours, all optional:
 *     "kinds": [{"name", "count", "memory"}] in place of maxFPGAs and maxSizePerFPGA, with
 *         "latencies": [ms by kind] in place of a node's fpgaLatency
 *     "perServer": accelerators of one server, with "costFar" of an edge: the cost to another one
 *     "syncPerByte": ms to send a byte of a replicated stage's weights; "syncPerByteFar": where its
 *         copies are on more than one server */
#ifndef AUTOMAP_ENGINE_PLACE_GRAPH_FILE_H
#define AUTOMAP_ENGINE_PLACE_GRAPH_FILE_H

#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum { PLACE_FILE_BYTES_MAX = 1 << 30 };

/* Errors carry line and column: no JSON, a key twice or missing, NaN, a negative number, an id
 * twice or unknown, two costs of one source (more than 1e-6 apart), an output field
 * (containedSubnodes), and what place_graph_connect finds. O(size + nodes log nodes). */
int place_graph_parse(const char *text, size_t size, struct place_graph **out,
                      struct err *e) MUST_CHECK;

/* The same from a file, plain or gzipped; "-" is standard input. Errors name the file. */
int place_graph_read(const char *path, struct place_graph **out, struct err *e) MUST_CHECK;

/* Does a text begin like one? Everything else is a model. */
bool place_graph_is(const char *text, size_t size);

/* A text that place_graph_parse reads as the same graph, all its numbers to the last bit. */
void place_graph_write(const struct place_graph *g, struct str *out);

#endif
