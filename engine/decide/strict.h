/* engine/decide/strict.h - decisions on classes, their immediate consequences, and undo.
 *
 * The state of a class on an axis: undecided, split, or whole. Splitting a class along an axis
 * makes every class it meets whole along that axis; a class whose admissible labels leave no choice
 * is settled. On one axis this is exactly the full propagation of statuses. A decision costs what
 * it changes; undo pops a trail. Not thread-safe; one per search. */
#ifndef AUTOMAP_ENGINE_DECIDE_STRICT_H
#define AUTOMAP_ENGINE_DECIDE_STRICT_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct strict_change {
    class_id class;
    label on, off; /* before */
};

struct strict {
    const struct labels *labels;
    label *on, *off; /* [classes->count] axes along which the class is split; is whole */
    label all;       /* every axis */
    struct strict_change *trail;
    size_t trail_count, trail_room;
};

struct strict_clash {
    class_id class; /* the decision asked for */
    class_id other; /* the split class that forbids it; CLASS_NONE: the class can never be so */
    hlo_id place;   /* where they meet */
};

int strict_new(const struct labels *l, struct strict *out, struct err *e) MUST_CHECK;
void strict_release(struct strict *s);

/* Splits class `k` along `axis`, or makes it whole there. Returns false and changes nothing when
 * earlier decisions forbid it; `clash` (may be NULL) then says why. Returns true and changes
 * nothing when it is already settled that way. The changes of one decision, its wave, are
 * trail[mark ..] in order. */
bool strict_decide(struct strict *s, class_id k, uint32_t axis, bool split,
                   struct strict_clash *clash);

static inline size_t strict_mark(const struct strict *s)
{
    return s->trail_count;
}
void strict_undo(struct strict *s, size_t mark); /* back to a mark; O(changes) */

/* Status of class `k` along `axis`: -1 undecided, 0 whole, 1 split. */
static inline int strict_status(const struct strict *s, class_id k, uint32_t axis)
{
    return s->on[k] >> axis & 1 ? 1 : s->off[k] >> axis & 1 ? 0 : -1;
}

#endif
