/* engine/place/place_pins.h - what a person asks of single nodes before a search:
 *
 *     NODE on B               on that device (place_device_name; h: a core)
 *     NODE with NODE          both on one device
 *     NODE apart from NODE    on two
 *     NODE off host           on no core
 *
 * NODE is an id or a name. Every algorithm keeps them, for they become part of the graph: nodes of
 * one device or together are one class of colors, the rest is `fixed`, `allowed` and `apart`. */
#ifndef AUTOMAP_ENGINE_PLACE_PLACE_PINS_H
#define AUTOMAP_ENGINE_PLACE_PLACE_PINS_H

#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"

/* A connected graph with its devices set. ERR_INPUT: not of a form above, no such node (or several
 * of that name) or device. ERR_INFEASIBLE: it clashes with earlier pins or colors; the message
 * names both. ERR_LIMIT: more than PLACE_PINS_MAX pairs apart, or devices pinned to. On an error
 * the graph stays as it was. O(nodes). */
int place_pin(struct place_graph *g, const char *text, struct err *e) MUST_CHECK;

/* The node of that id or name. ERR_INPUT: none, or several. O(nodes). */
int place_find_node(const struct place_graph *g, const char *word, size_t size, uint32_t *out,
                    struct err *e) MUST_CHECK;

/* The same by numbers. */
int place_pin_on(struct place_graph *g, uint32_t node, uint32_t device, struct err *e) MUST_CHECK;
int place_pin_together(struct place_graph *g, uint32_t a, uint32_t b, struct err *e) MUST_CHECK;
int place_pin_apart(struct place_graph *g, uint32_t a, uint32_t b, struct err *e) MUST_CHECK;
int place_pin_off_host(struct place_graph *g, uint32_t node, struct err *e) MUST_CHECK;

#endif
