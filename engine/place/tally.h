/* engine/place/tally.h - counts the plans a search prices, so that a race is fair.
 *
 * Pricing a plan means computing the value of one whole assignment, from scratch or by a move from
 * the last. Filled by the searching thread. */
#ifndef AUTOMAP_ENGINE_PLACE_TALLY_H
#define AUTOMAP_ENGINE_PLACE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

enum { PLACE_LEVELS = 12 };
extern const uint64_t place_levels[PLACE_LEVELS]; /* 1, 10, 20, 50, 100 .. */

struct place_tally {
    uint64_t most; /* plans that may be priced */
    uint64_t priced;
    uint64_t best_at;           /* plans priced when best_ms was met; 0: not yet */
    double best_ms;             /* of plans that keep all rules, INFINITY before the first */
    double curve[PLACE_LEVELS]; /* best_ms after so many plans */
};

void place_tally_begin(struct place_tally *t, uint64_t most);
/* One more plan was priced; best_ms is the best by now, INFINITY: none. NULL: nobody counts. */
void place_tally_plan(struct place_tally *t, double best_ms);
/* The search is over: the rest of the curve is level. */
void place_tally_end(struct place_tally *t);

static inline bool place_tally_is_spent(const struct place_tally *t)
{
    return t && t->priced >= t->most;
}

#endif
