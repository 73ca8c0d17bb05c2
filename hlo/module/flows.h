/* hlo/module/flows.h - which values are the same array: what tuples, loops, calls and barriers pass
 * on. */
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

/* True when the dims of operands and result are not blocked though no factor binds them: values
 * only pass (flows tell which), or come from outside (parameter, infeed). A while, call or fusion
 * whose computation is shared by several callers is one all the same: see hlo_inline. */
bool hlo_is_flow(const struct hlo_module *m, hlo_id id);

/* Replaces the contents of `f` by the flows of `id`; none for most opcodes. */
int hlo_flows_of(const struct hlo_module *m, hlo_id id, struct hlo_flows *f,
                 struct err *e) MUST_CHECK;
void hlo_flows_release(struct hlo_flows *f);

/* The value that a tuple's leaf or an element of a tuple stands for within its computation; any
 * other value itself. O(tuples passed x their operands). */
hlo_value hlo_value_source(const struct hlo_module *m, hlo_value v);

#endif
