/* tui/watch/other_way.h - a strict plan with what a class decides the other way round: that class
 * alone, its decision, all decisions alike in a series, and the decision with the rest decided
 * anew. Worked out row by row, since each row prices a whole plan. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_OTHER_WAY_H
#define AUTOMAP_TUI_WATCH_OTHER_WAY_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/live/snapshot.h"
#include "tui/watch/watch.h"

#include <stdbool.h>
#include <stdint.h>

enum { OTHER_WAYS = 4 };

struct other_way {
    char name[NAME_ROOM + 16]; /* of what is turned */
    bool anew;                 /* the rest is decided anew, under the pins; else it stays */
    bool known, impossible;
    bool slow;              /* anew, impossible: to work out, it takes longer than a frame may */
    bool over;              /* anew, impossible: none found fits; `memory` is the least of them */
    bool pinned;            /* anew: there are pins */
    bool proven;            /* anew: nothing is shorter; over: none fits */
    uint32_t in_way;        /* decisions that can not stay split with it */
    double step_ms, memory; /* memory of a device, bytes; 0: not known */
    uint32_t reduces;
    int first, count; /* moves */
    class_id only;
};

struct other_ways {
    bool split; /* they would be split; false: whole */
    struct other_way rows[OTHER_WAYS];
    int count, done;
    const struct live_moves *moves; /* the rows are of these; only compared */
    double step_ms, memory;         /* of the plan as it is */
    uint32_t reduces;
};

/* Which rows there are for class `k` under `on`, along an axis it is split over, if it is: none
 * where no decision of this search is about it.
 * O(instructions). */
void other_ways_begin(struct other_ways *o, const struct watch *w, const label *on, class_id k);
/* Works out the next row; false: all are known. O(instructions), anew: one optimum. */
bool other_ways_work(struct other_ways *o, const struct watch *w, const label *on);

#endif
