/* engine/relaxed/live_bytes.h - memory of a relaxed plan while its labels change one at a time.
 *
 * The same bytes as relaxed_memory (plan_totals.h), kept for every position of the schedule: a
 * label changes what a few values and copies take, and those live over spans of positions. What a
 * loop or a branch calls has its positions between those of its caller, so the largest of all is
 * the peak. */
#ifndef AUTOMAP_ENGINE_RELAXED_LIVE_BYTES_H
#define AUTOMAP_ENGINE_RELAXED_LIVE_BYTES_H

#include "engine/cost/memory_chain.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/support/err.h"

#include <stdint.h>

struct live_bytes;

/* `like`: any plan of this model, for what parameters become. *out is NULL, without an error, where
 * calls of calls make more than 2^20 positions. Both must outlive it. O(operands + ranges). */
int live_bytes_new(const struct model *m, const struct relaxed_plan *like, struct live_bytes **out,
                   struct err *e) MUST_CHECK;
void live_bytes_free(struct live_bytes *l); /* NULL ok */

void live_bytes_set(struct live_bytes *l, const uint16_t *x); /* O(ranges + positions) */
/* x[node] is new; all others are as they were told. O(log positions) for each value and copy that
 * depends on it. Returns how many do. */
uint32_t live_bytes_change(struct live_bytes *l, const uint16_t *x, uint32_t node);
double live_bytes_peak(const struct live_bytes *l);

/* Where most lives, the most first: peaks of the schedule above `limit`, no two next to each other.
 * Writes at most `room`; returns how many. O(terms + positions x room). */
uint32_t live_bytes_above(struct live_bytes *l, double limit, struct memory_chain *out,
                          uint32_t room);

#endif
