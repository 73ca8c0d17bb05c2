/* tests/unit/slow_reads.h - at which positions of the forward order each operation runs, worked out
 * from the definition until nothing changes: what is free runs wherever something reads it. */
#ifndef AUTOMAP_TESTS_SLOW_READS_H
#define AUTOMAP_TESTS_SLOW_READS_H

#include "engine/pipeline/order.h"
#include "engine/problem/problem.h"
#include "hlo/support/mem.h"

#include <string.h>

static inline bool slow_reads_it(const struct order *o, uint32_t user, uint32_t op)
{
    for (uint32_t k = 0; k < o->steps.ops[user].operand_count; k++) {
        if (o->steps.values[o->steps.operands[o->steps.ops[user].operands + k]].op == op)
            return true;
    }
    return false;
}

/* All it makes is free, and something reads it. */
static inline bool slow_is_remade(const struct order *o, uint32_t op)
{
    const struct problem *p = o->steps.problem;
    hlo_id id = o->steps.ops[op].id;

    for (hlo_value v = p->m->leaf_base[id]; v < p->m->leaf_base[id + 1]; v++) {
        if (!p->classes.is_free[v])
            return false;
    }
    for (uint32_t user = 0; user < o->steps.op_count; user++) {
        if (slow_reads_it(o, user, op))
            return true;
    }
    return false;
}

/* [ops][count]; the caller frees it. */
static inline bool *slow_runs(const struct order *o)
{
    uint32_t ops = o->steps.op_count;
    bool *runs = mem_alloc((size_t)ops * o->count + 1), changed = true;

    memset(runs, 0, (size_t)ops * o->count + 1);
    for (uint32_t n = 0; n < ops; n++)
        runs[(size_t)n * o->count + o->position[n]] = !slow_is_remade(o, n);
    while (changed) {
        changed = false;
        for (uint32_t n = 0; n < ops; n++) {
            if (!slow_is_remade(o, n))
                continue;
            for (uint32_t user = 0; user < ops; user++) {
                for (uint32_t p = 0; p < o->count && slow_reads_it(o, user, n); p++) {
                    bool *here = &runs[(size_t)n * o->count + p];
                    changed |= runs[(size_t)user * o->count + p] && !*here;
                    *here |= runs[(size_t)user * o->count + p];
                }
            }
        }
    }
    return runs;
}

/* The first position of [i, j) at which an operation runs; UINT32_MAX: it does not. */
static inline uint32_t slow_place(const struct order *o, const bool *runs, uint32_t op, uint32_t i,
                                  uint32_t j)
{
    for (uint32_t p = i; p < j; p++) {
        if (runs[(size_t)op * o->count + p])
            return p;
    }
    return UINT32_MAX;
}

#endif
