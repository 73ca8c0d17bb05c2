/* tui/watch/flips.h - what each decision is worth in the best plan: the plan with that decision the
 * other way round, the rest as it is as far as it can be. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_FLIPS_H
#define AUTOMAP_TUI_WATCH_FLIPS_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "tui/watch/watch.h"

#include <stdbool.h>
#include <stdint.h>

struct flip {
    bool known;       /* worked out for the best plan there is now */
    bool impossible;  /* it can not be the other way: no class is to split, or a size forbids it */
    bool split;       /* the other way: some of its classes are whole, and would be split */
    bool one;         /* of the moves only one, that changes it least: they exclude each other */
    double change_ms; /* of the step; > 0: the best plan is better as it is */
    uint32_t
        in_way; /* decisions the plan splits, and classes nothing decides, that can not stay so */
};

/* The best plan there can be with it the other way, the rest decided anew under the pins. */
struct turned {
    bool known;
    bool impossible;  /* it can not be so, or takes longer to work out than a frame may */
    bool proven;      /* nothing is shorter */
    double change_ms; /* against the best plan there is now */
};

struct flips;

struct flips *flips_new(void);
void flips_free(struct flips *f); /* NULL ok */

/* Of the moves first .. first + count - 1, one or a series, together: all whole where the best plan
 * splits one of them, else split. Works it out where that was not done before and `until_s`
 * (clock_seconds; <= 0: ever) has not come; else it is not known yet. O(classes + cost tables). */
struct flip flips_of(struct flips *f, const struct watch *w, int first, int count, double until_s);

/* The same with the rest decided anew. One optimum, or one for each that excludes the others. */
struct turned flips_anew(struct flips *f, const struct watch *w, int first, int count,
                         double until_s);

/* How many decisions fall, themselves among them, when the moves first .. first + count - 1 are
 * split, one after another as far as they can be, and nothing else is decided, pins neither; 0: out
 * of memory. O(classes). */
uint32_t flips_settled(const struct watch *w, int first, int count);

/* Turns the statuses `on` [classes] in place: the moves first .. first + count - 1 (of them class
 * `only`, if it is not CLASS_NONE) split or whole, the rest as it was as far as it can stay;
 * *in_way: decisions that can not. False, and `on` as it was: it can not be so. O(classes). */
bool flips_turn(const struct watch *w, int first, int count, class_id only, bool split, label *on,
                uint32_t *in_way);
/* The same, but every class of decision `move` (MOVE_NONE: class `k` on every axis) as `to`
 * [classes] has it. */
bool flips_take(const struct watch *w, int move, class_id k, const label *to, label *on,
                uint32_t *in_way);

#endif
