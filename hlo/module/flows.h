/* hlo/module/flows.h - which values are the same array, because tuples, loops, calls or barriers
 * pass them on. */
#ifndef AUTOMAP_HLO_MODULE_FLOWS_H
#define AUTOMAP_HLO_MODULE_FLOWS_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

/* Two values that are the same array: tuple and get-tuple-element, loop init = body parameter =
 * body root = condition parameter = result, call and fusion arguments, branches, barriers. */
struct hlo_flow {
    hlo_value from, to;
    bool is_copy; /* false: the very same buffer */
};
struct hlo_flows {
    struct hlo_flow *items;
    size_t count, room;
};

/* True when no factor binds the dims of operands and result and yet they are not blocked: values
 * only pass through (hlo_flows_of says which), or come from outside (parameter, infeed). This holds
 * even for a while, call or fusion whose computation has several callers; see hlo_inline. */
bool hlo_is_flow(const struct hlo_module *m, hlo_id id);

/* True for a custom-call at the edge of a region that is written for one device (shard_map):
 * operand n becomes result n; dims that the region's own axes cut differ in size. */
bool hlo_is_manual_edge(const struct hlo_module *m, hlo_id id);

/* Replaces the contents of `f` by the flows of `id`; none for most opcodes. */
int hlo_flows_of(const struct hlo_module *m, hlo_id id, struct hlo_flows *f,
                 struct err *e) MUST_CHECK;
void hlo_flows_release(struct hlo_flows *f);

/* The value behind a tuple's leaf or a tuple element within its computation; any other value is its
 * own source. O(tuples passed x their operands). */
hlo_value hlo_value_source(const struct hlo_module *m, hlo_value v);

#endif
