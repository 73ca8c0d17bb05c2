#include "engine/place/tally.h"

#include <math.h>
#include <stddef.h>

const uint64_t place_levels[PLACE_LEVELS] = {1,   10,   20,   50,    100,    200,
                                             500, 1000, 2000, 10000, 100000, 1000000};

void place_tally_begin(struct place_tally *t, uint64_t most)
{
    *t = (struct place_tally){.most = most, .best_ms = INFINITY};
}

void place_tally_plan(struct place_tally *t, double best_ms)
{
    if (!t)
        return;
    t->priced++;
    if (best_ms < t->best_ms) {
        t->best_ms = best_ms;
        t->best_at = t->priced;
    }
    for (uint32_t i = 0; i < PLACE_LEVELS; i++) {
        if (t->priced == place_levels[i])
            t->curve[i] = t->best_ms;
    }
}

void place_tally_end(struct place_tally *t)
{
    for (uint32_t i = 0; i < PLACE_LEVELS; i++) {
        if (t->priced < place_levels[i])
            t->curve[i] = t->best_ms;
    }
}
