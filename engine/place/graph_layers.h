/* engine/place/graph_layers.h - which part of the model a node belongs to, by its name: for people.
 *
 * bert.encoder.layer.0.output.dense.weight is of "layer 0", encoder/layer_000/self/dot of
 * "encoder/layer_000": the path up to the first part that ends in a number (hlo/meaning/scope.h),
 * its last two parts. Outside of layers the path's first part counts, what all paths begin with
 * left out. Names that are no paths say nothing, nor do parts of fewer than three nodes. */
#ifndef AUTOMAP_ENGINE_PLACE_GRAPH_LAYERS_H
#define AUTOMAP_ENGINE_PLACE_GRAPH_LAYERS_H

#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"

/* Fills g->layer. At most 256 parts are told apart. O(nodes x (parts + name)). */
int place_graph_name_layers(struct place_graph *g, struct err *e) MUST_CHECK;

#endif
