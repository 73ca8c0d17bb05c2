/* tui/watch/price.h - the best possible step with a decision: the proven optimum when it is
 * pinned. */
#ifndef AUTOMAP_TUI_WATCH_PRICE_H
#define AUTOMAP_TUI_WATCH_PRICE_H
#include "engine/cost/step_tables.h"
#include "tui/watch/watch.h"

struct price {
    bool known;
    bool impossible; /* not known: with the other pins it can not be */
    bool over;   /* not known: no plan found with it fits; `memory` is the least of them. Neither:
                    it takes longer than a frame may */
    bool proven; /* no plan is shorter; over: none fits */
    struct step_cost cost;
    uint32_t reduces;     /* all-reduces of a step */
    double reduced_bytes; /* local, of a step */
    uint32_t changes;     /* decisions that differ from the present optimum */
    double memory;        /* peak of one device, bytes; 0: not asked for */
};

/* The pins of the search, with `move` pinned split (1), whole (0) or as it is (-1; MOVE_NONE
 * allowed). Milliseconds: left unknown where the search's own optimum took more cases than a frame
 * may, by their number. */
struct price price_at_best(const struct watch *w, int move, int split);
/* With its memory: O(instructions) more. */
struct price price_with_memory(const struct watch *w, int move, int split);
/* The same of the decisions first .. first + count - 1 together. */
struct price price_of_series(const struct watch *w, int first, int count, int split);

#endif
