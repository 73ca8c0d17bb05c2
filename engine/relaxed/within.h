/* engine/relaxed/within.h - the best relaxed plan found that stays within a device's memory.
 *
 * What lives at one position of the schedule is a sum over values of bytes that depend on how a
 * value is made and how its uses find it: costs of a node and of an edge of the energy. So a
 * multiplier per position that becomes a peak, in ms per byte, makes memory part of the energy:
 *     D(m) = min over plans of step + sum of m_t (bytes_t - limit) <= step of any plan that fits
 * for all m >= 0, and message passing bounds the minimum from below. Multipliers grow until a plan
 * fits, and then halve the way between those that fit and those that do not; the last plan and
 * messages are each solve's start. The strict optimum within the limit is a candidate.
 *
 * Where no plan found fits, memory alone is made small: with shares of the peaks that add up to 1 the
 * least of sum share_t bytes_t is what every plan needs, wherever its own peak is. The shares are the
 * part of the rounds in which each peak was the highest (fictitious play, Brown 1951).
 *
 * Whether a plan fits is decided by relaxed_memory, all of it. A peak inside a loop or branch counts
 * what lives there with what lives around it. Left out of bytes_t, so that it stays a lower bound: an
 * output that stands in the schedule in a status of its own, what loops carry from constants on, second
 * buffers of all-reduces and copies before an update. */
#ifndef AUTOMAP_ENGINE_RELAXED_WITHIN_H
#define AUTOMAP_ENGINE_RELAXED_WITHIN_H

#include "engine/relaxed/relaxed.h"

struct relaxed_within {
    double limit;    /* bytes of one device */
    bool fits;       /* else the plan is that of the smallest peak found */
    double peak;     /* bytes of the plan */
    double least_bound; /* not fits: no plan needs fewer bytes; over the limit: proven that none fits */
    bool is_skipped; /* its bound without a limit says that it takes `beaten_ms` or more */
    double bound_ms; /* of all plans within the limit; the best D found */
    uint32_t positions, rounds; /* that got a multiplier; solves with multipliers */
};

/* Under the pins of `r`, which must have been made with RELAXED_FOLD_OFF (ERR_INPUT): within a limit
 * equal layers may differ. out->bound_ms and gap are of plans within the limit, strict_ms is the
 * strict plan within it (0: none found). At most 24 solves, and 16 more of memory alone. `beaten_ms`: of a
 * plan that is known from elsewhere; INFINITY: none. */
int relaxed_solve_within(struct relaxed *r, double limit, double beaten_ms, struct relaxed_plan *out,
                         struct relaxed_within *how, struct err *e) MUST_CHECK;

#endif
