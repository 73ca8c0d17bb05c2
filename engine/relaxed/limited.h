/* engine/relaxed/limited.h - the best relaxed plan found that stays within a device's memory.
 *
 * What lives at one position of the schedule is a sum over values of bytes that depend on how a
 * value is made and how its uses find it: costs of a node and of an edge of the energy. So a price
 * (multiplier) per position that becomes a peak, in ms per byte, makes memory part of the energy:
 *     D(m) = min over plans of step + sum of m_t (bytes_t - limit) <= step of any plan that fits
 * for all m >= 0, and message passing bounds the minimum from below. D is concave and every plan
 * found is a tangent of it, so the next prices are the highest point of all tangents, in a box
 * around the best ones (cutting_plane.h); the last plan and messages are each solve's start. Then
 * some prices around the best are looked at for their plans alone. The strict optimum within the
 * limit is a candidate.
 *
 * Between the best plan that fits and each new one lie others: parts in which they differ and that
 * no edge joins are changed one by one (limited_between.c). Equal layers have equal prices and
 * change all at once; so they do not have to.
 *
 * Where no plan that fits is known memory alone is made small first: with shares of the peaks that
 * add up to 1 the least of sum share_t bytes_t is what every plan needs, wherever its own peak is;
 * the shares come from the same tangents.
 *
 * Whether a plan fits is decided by relaxed_memory, all of it. A peak inside a loop or branch
 * counts what lives there with what lives around it. bytes_t is a lower bound: it has the mean of
 * what a loop carries in one buffer from constants on, where the largest counts; the copy of a
 * variable before its update as the smallest it may be, where that depends on an all-reduce; and
 * not an output that stands in the schedule in a status of its own. */
#ifndef AUTOMAP_ENGINE_RELAXED_LIMITED_H
#define AUTOMAP_ENGINE_RELAXED_LIMITED_H

#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "hlo/support/err.h"

struct relaxed_limited {
    double limit;       /* bytes of one device */
    bool fits;          /* else the plan is that of the smallest peak found */
    double peak;        /* bytes of the plan */
    double least_bound; /* not fits: no plan needs fewer bytes; over the limit: proven that none
                           fits */
    bool is_skipped;    /* its bound without a limit says that it takes `beaten_ms` or more */
    double bound_ms;    /* of all plans within the limit; the best D found */
    uint32_t positions, rounds; /* that got a multiplier; solves with multipliers */
};

/* Under the pins of `r`, which must have been made with RELAXED_FOLD_OFF (ERR_INPUT): within a
 * limit equal layers may differ. out->bound_ms and gap are of plans within the limit, strict_ms is
 * the strict plan within it (0: none found). At most 24 solves for the bound, 5 for plans and 12 of
 * memory alone; 12 and 12 where nothing fits. `beaten_ms`: of a plan that is known from elsewhere;
 * INFINITY: none. */
int relaxed_solve_limited(struct relaxed *r, double limit, double beaten_ms,
                          struct relaxed_plan *out, struct relaxed_limited *how,
                          struct err *e) MUST_CHECK;

#endif
