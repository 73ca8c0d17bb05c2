/* engine/relaxed/limited.h - the best relaxed plan found that fits in a device's memory.
 *
 * The bytes live at a position of the schedule are a sum over values, and each term depends on how
 * a value is made and how its uses receive it: costs of a node and of an edge of the energy. So a
 * price (multiplier), in ms per byte, for each position that becomes a peak makes memory part of
 * the energy:
 *     D(m) = min over plans of step + sum of m_t (bytes_t - limit) <= step of any plan that fits
 * for all m >= 0, and message passing bounds the minimum from below. D is concave and every plan
 * found gives a tangent, so the next prices maximise the minimum of the tangents in a box around
 * the best prices (cutting_plane.h). Each solve starts from the last plan and messages. The strict
 * optimum within the limit is a candidate too.
 *
 * Equal layers have equal prices, so the plans of these solves change all of them at once. Once the
 * bound is near the top of the tangents, moves of trees at its prices look for plans in which
 * layers differ (limited_trees.c), each exact in time and memory; what is above the limit is
 * repaired at prices that rise where it is. The gap they leave says how much more of the bound is
 * worth its time. Where none fits, plans at higher prices are tried.
 *
 * Between the best plan that fits and each new one lie others: the parts in which the two differ,
 * if no edge joins them, can change one at a time (limited_between.c). Otherwise equal layers,
 * which have equal prices, would all change at once.
 *
 * If no plan that fits is known, memory alone is minimised first: for shares of the peaks that sum
 * to 1, the minimum of sum share_t bytes_t is a bound on what every plan needs, wherever its own
 * peak is. The shares come from tangents in the same way.
 *
 * relaxed_memory alone decides whether a plan fits. A peak inside a loop or branch includes what
 * lives around it. bytes_t is a lower bound: for loop state in one buffer that starts from
 * constants it takes the mean where the largest counts; it takes the smallest possible copy of a
 * variable before its update, where that depends on an all-reduce; and it leaves out outputs with a
 * status of their own. */
#ifndef AUTOMAP_ENGINE_RELAXED_LIMITED_H
#define AUTOMAP_ENGINE_RELAXED_LIMITED_H

#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "hlo/support/err.h"

struct relaxed_limited {
    double limit;       /* bytes of one device */
    bool fits;          /* false: the plan is the one of smallest peak found */
    double peak;        /* bytes of the plan */
    double least_bound; /* not fits: no plan needs fewer bytes; above the limit this proves that
                           none fits */
    bool is_skipped;    /* its bound without a limit is `beaten_ms` or more */
    double bound_ms;    /* for all plans within the limit; the best D found */
    uint32_t positions, rounds; /* positions with a multiplier; solves with multipliers */
};

/* Solves under the pins of `r`, which must have been made with RELAXED_FOLD_OFF (else ERR_INPUT),
 * since equal layers may differ within a limit. out->bound_ms and gap refer to plans within the
 * limit, strict_ms to the strict plan within it as relaxed plans are counted (0: none found; proven
 * only where the optimum by strict mode's count is). At most 24 solves for the bound, 8
 * for plans where trees find none, and 12 for memory alone; 12 and 12 if nothing fits. Where
 * computation cannot hide all overlapping communication of the best plan (cost/overlap.h), the same
 * again at up to 3 weights of the excess: the fastest plan of all, the highest of the bounds.
 * `beaten_ms`: the step of a plan known from elsewhere; INFINITY: none. */
int relaxed_solve_limited(struct relaxed *r, double limit, double beaten_ms,
                          struct relaxed_plan *out, struct relaxed_limited *how,
                          struct err *e) MUST_CHECK;
/* The same, but the proof that nothing fits is enough: no search for the smallest peak then, and
 * how->peak is that of some plan. */
int relaxed_solve_limited_or_prove(struct relaxed *r, double limit, double beaten_ms,
                                   struct relaxed_plan *out, struct relaxed_limited *how,
                                   struct err *e) MUST_CHECK;

#endif
