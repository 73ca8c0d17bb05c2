/* hlo/meaning/cost.h - flops, transcendental operations and bytes of an instruction, as XLA's
 * HloCostAnalysis counts them (xla/service/hlo_cost_analysis.cc). One multiply-add is 2 flops. */
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
     * of what it calls (a loop: of one trip): sum either callers or callees. */
    struct hlo_cost *instruction;
    double *times;               /* [module->count] executions in one run of the entry: the trip
                                    counts of the loops around it, summed over callers; 0: never
                                    run, or a reducer whose cost is in the instruction that applies
                                    it; 10^30 at most */
    struct hlo_cost total;       /* as XLA counts: loop bodies once, unknown costs left out */
    struct hlo_cost total_trips; /* loop bodies by their trip counts (unknown: once), conditions
                                    once more; 10^60 at most */
};

/* True for calls, loops, branches and fusions: their cost is that of their callees, which
 * `instruction` holds as well. */
static inline bool hlo_cost_is_of_callees(uint16_t opcode)
{
    return opcode == HLO_OP_WHILE || opcode == HLO_OP_CONDITIONAL || opcode == HLO_OP_CALL ||
           opcode == HLO_OP_FUSION || opcode == HLO_OP_ASYNC_START;
}

/* O(count), apart from walks over conditions and windows. 0 or ERR_MEMORY. */
int hlo_costs_new(const struct hlo_module *m, struct hlo_costs *out, struct err *e) MUST_CHECK;
void hlo_costs_release(struct hlo_costs *c);
/* FLOP of each instruction in one run of the entry, instruction.flops * times [count], in a third
 * of the memory; 0 or less: none or unknown. Frees with free(). The same time and errors. */
int hlo_flops_new(const struct hlo_module *m, double **out, struct err *e) MUST_CHECK;

#endif
