/* engine/relaxed/copies.h - copies of values that a relaxed plan keeps besides the values: part of
 * plan_totals.h's memory.
 *
 * The partitioner works before the fusion. What it sends is made first, and what arrives cannot be
 * made again by its readers: a value that one device would make on the fly is in memory where its
 * uses share what a collective makes of it, from there until the last of them has run. An operand
 * that a single use wants otherwise is there from that use until whatever makes the use's result on
 * the fly has run. Slices are made on the fly. What a convolution reads in another order arrives in
 * that order: the piece is copied before it is sent. A loop that carries a value of the computation
 * around it along has it in that value's buffer (fusion.h), unless it keeps it otherwise: the state
 * is then a copy while the loop runs. */
#ifndef AUTOMAP_ENGINE_RELAXED_COPIES_H
#define AUTOMAP_ENGINE_RELAXED_COPIES_H

#include "engine/cost/memory.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

/* Positions of the schedule where copies of a value live if its uses share what a collective makes
 * of it. */
struct copy_span {
    uint32_t start, end; /* the result, besides the value's range; start > end: none */
    uint32_t begun; /* what the collective reads, besides: as made where the value has no range,
                       else the smaller of both; HLO_NONE: a range stands for it */
    bool has_range;
};

/* spans[values] of origins; of others none. O(operands + ranges). */
int copy_spans_new(const struct problem *p, const struct memory_model *memory,
                   const hlo_value *origin, struct copy_span **spans, struct err *e) MUST_CHECK;

/* Whether going from one status to another sends anything: all but slices of what is whole. */
bool copy_is_sent(status from, status to, uint32_t axes);

/* Whether what sending makes of `from` to become `state`, which a loop carries, lives besides: in
 * no buffer that has a range of the state's size; where, goes to `at`. */
bool copy_of_state(const struct problem *p, hlo_value from, hlo_value state, uint32_t *at);

/* Bytes of all copies that live at each position of the schedule, out[positions]. */
int relaxed_copies(const struct relaxed_plan *plan, const struct memory_model *memory, double *out,
                   struct err *e) MUST_CHECK;

#endif
