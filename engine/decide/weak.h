/* engine/decide/weak.h - the paper's propagation: value by value, from settled values only.
 *
 * A value is open, whole, or split on one dim. A settled value wakes the instructions that use or
 * make it: alternatives (one factor split, or none) that disagree with settled values drop out, and
 * a value on which all remaining ones agree is settled in turn. Nothing is known in advance: that a
 * class can never be split, or that two splits exclude each other, shows only when the wave reaches
 * an instruction without an alternative left: a conflict. The full propagation of strict.h avoids
 * that. One mesh axis. Not thread-safe; one per search. A decision costs what it settles. */
#ifndef AUTOMAP_ENGINE_DECIDE_WEAK_H
#define AUTOMAP_ENGINE_DECIDE_WEAK_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum { WEAK_OPEN = -1, WEAK_WHOLE = 0 }; /* 1 + d: split on dim d */

/* One entry of the wave: a value was settled, or (is_dim) one dim of a value excluded. */
struct weak_change {
    uint32_t id; /* hlo_value or dim_id */
    bool is_dim;
};

/* A decision that settled something; there is at most one of each dim. */
struct weak_decision {
    dim_id dim;
    bool split;
    size_t mark;     /* where its wave begins */
    uint64_t serial; /* no two decisions that were ever made have the same */
};

struct weak {
    const struct labels *labels;
    uint32_t parts;
    int8_t *status;            /* [values] */
    uint64_t *may;             /* [values] statuses that it may take, as bits; settled: its own */
    hlo_value *leaf;           /* [leaves of all instructions], as classes->leaf_base has them */
    uint8_t *off;              /* [dims] decided 0 while the value is open */
    uint8_t *never;            /* [dims] not offered: too small, or a kernel's under rules paper */
    uint32_t *tie_first;       /* [dims + 1] into classes->ties */
    struct weak_change *trail; /* in order of settling */
    size_t trail_count, trail_room;
    struct weak_decision *decisions; /* in force, in order */
    size_t decision_count;
    uint64_t serial; /* of the last decision */
    hlo_id clash;    /* where the last conflict was */
};

/* ERR_INPUT: the mesh has several axes. O(dims + ties + leaves). */
int weak_new(const struct labels *l, struct weak *out, struct err *e) MUST_CHECK;
void weak_release(struct weak *w);

/* Decides a dim and propagates. False on a conflict: weak->clash is the place, and what was settled
 * before it stays until undone to a mark. */
bool weak_decide(struct weak *w, dim_id d, bool split);
static inline size_t weak_mark(const struct weak *w)
{
    return w->trail_count;
}
void weak_undo(struct weak *w, size_t mark); /* to a mark taken between decisions */

/* Status of a dim: -1 open, 0 whole, 1 split. */
static inline int weak_status(const struct weak *w, dim_id d)
{
    const struct classes *c = w->labels->classes;
    hlo_value v = c->dim_value[d];

    if (w->status[v] != WEAK_OPEN)
        return w->status[v] == 1 + (int)(d - c->dim_base[v]);
    return w->off[d] || w->never[d] ? 0 : -1;
}

#endif
