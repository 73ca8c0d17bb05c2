/* hlo/meaning/cost.h - flops, transcendental operations and bytes of an instruction, as XLA's
 * HloCostAnalysis has them (xla/service/hlo_cost_analysis.cc). One multiply-add is 2 flops. */
#ifndef AUTOMAP_HLO_MEANING_COST_H
#define AUTOMAP_HLO_MEANING_COST_H

#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"

struct hlo_cost {
    double flops, transcendentals, bytes; /* -1 in all three: unknown (custom-call) */
};

struct hlo_costs {
    /* [module->count], one execution of each. A while, conditional, call or fusion holds the cost
     * of what it calls (of a loop one trip): sum either callers or callees. */
    struct hlo_cost *instruction;
    double *times;               /* [module->count] executions in one run of the entry: trip counts
                                    of the loops around it, callers added; 0: never run, or applied
                                    to elements by an instruction that counts it (reducers) */
    struct hlo_cost total;       /* as XLA: loop bodies once; unknown costs left out */
    struct hlo_cost total_trips; /* loop bodies times their trip counts (unknown: once), conditions
                                    once more */
};

/* Calls, loops, branches, fusions: their cost is that of what they call, which `instruction` has
 * too. */
static inline bool hlo_cost_is_of_callees(uint16_t opcode)
{
    return opcode == HLO_OP_WHILE || opcode == HLO_OP_CONDITIONAL || opcode == HLO_OP_CALL ||
           opcode == HLO_OP_FUSION || opcode == HLO_OP_ASYNC_START;
}

/* O(count), walks of conditions and windows aside. 0 or ERR_MEMORY. */
int hlo_costs_new(const struct hlo_module *m, struct hlo_costs *out, struct err *e) MUST_CHECK;
void hlo_costs_release(struct hlo_costs *c);

#endif
