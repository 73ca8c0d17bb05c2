/* tui/watch/why_find.h - the answer behind view_why.c, without drawing: what is true of a dim, and
 * the one or two chains of ties that prove it. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_WHY_FIND_H
#define AUTOMAP_TUI_WATCH_WHY_FIND_H

#include "engine/cluster/collectives.h"
#include "engine/decide/classes.h"
#include "engine/decide/why.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/watch/watch.h"

enum why_kind {
    WHY_FREE,   /* constants and scalars: nothing to split */
    WHY_NEVER,  /* its class is forbidden */
    WHY_NO_FIT, /* no label of this mesh fits */
    WHY_SPLIT,
    WHY_OPEN,     /* not decided yet */
    WHY_EXCLUDED, /* whole, because a class it meets is split */
    WHY_WHOLE,    /* whole by decision */
};

struct why_side {
    dim_id from; /* where the chain begins */
    struct why_step *steps;
    size_t count;
};

struct why_answer {
    enum why_kind kind;
    dim_id dim;
    class_id class, other; /* other: WHY_EXCLUDED, the split one */
    hlo_id place;          /* WHY_NEVER, WHY_EXCLUDED: where it happens */
    hlo_value
        shared; /* the one value that holds both dims; HLO_NONE: only an instruction joins them */
    struct why_side side[2]; /* SPLIT: dim to the nearest variable. EXCLUDED: from the place to the
                                dim, and to a variable of `other`. NEVER: from the dim to the place,
                                twice where two dims of one value are the reason */
    uint32_t meets;          /* other classes it meets */
    uint32_t excluders;      /* EXCLUDED: how many of them are split, `other` among them */
    uint32_t makes[COLLECTIVE_COUNT]; /* collectives it causes, with their time */
    double makes_ms;
    double compute_saved_ms; /* against itself whole, the rest staying */
    double step_ms, flip_ms; /* of these statuses; with the class the other way round, the rest
                                staying; flip < 0: not possible */
};

/* `w`: statuses and problem. O(instructions + class). */
int why_find(const struct watch *w, dim_id d, struct why_answer *out, struct err *e) MUST_CHECK;
void why_answer_release(struct why_answer *a);

/* Of the classes that keep `k` whole under `on` [classes], for they are split, the first that a
 * decision of this search is about, else the first; NULL: along some axes `k` could still be split.
 * O(meets). */
const struct class_meet *why_excluded_by(const struct watch *w, const label *on, class_id k);

/* The dim of an instruction's first value that says most: split, open, decided, forbidden;
 * DIM_NONE: it has no dims. */
#define DIM_NONE UINT32_MAX
dim_id why_dim_of_instruction(const struct watch *w, hlo_id id);
/* A dim of a variable or input of class `k`, else its first. */
dim_id why_dim_of_class(const struct problem *p, class_id k);

#endif
