/* tui/watch/plan_diff.h - figures of a plan beyond its step time, and how two plans differ, class
 * by class. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_PLAN_DIFF_H
#define AUTOMAP_TUI_WATCH_PLAN_DIFF_H

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/watch/watch.h"

struct plan_figures {
    struct step_cost cost;
    uint32_t reduces; /* all-reduces of a step, their local bytes */
    double reduced_bytes;
    double memory;                                                   /* peak of one device, bytes */
    double compute_ms[HLO_PHASE_COUNT], network_ms[HLO_PHASE_COUNT]; /* by phase */
};

/* O(instructions). */
int plan_figures(const struct watch *w, label *on, struct plan_figures *out,
                 struct err *e) MUST_CHECK;

/* How many classes of decision `move` a plan splits. O(its classes). */
uint32_t plan_splits(const struct watch *w, const label *on, int move);

/* How many decisions two plans take differently. O(classes of all). */
uint32_t plan_decisions_differ(const struct watch *w, const label *a, const label *b);

struct plan_difference {
    int move;               /* MOVE_NONE: no decision of this search, a class alone */
    class_id class;         /* its first */
    uint32_t classes, dims; /* dims of variables and inputs */
    uint32_t a, b;          /* of its classes split in either plan */
    bool priced;            /* false: A can not take it at all */
    uint32_t along;         /* splits of A that stand in its way, and are whole then */
    double price_ms;        /* A's step time with this as in B, against A */
    hlo_id where; /* the first use of its first class's dims of variables or inputs; HLO_NONE */
    hlo_id where_last; /* the last such in the order of source lines */
};

/* Decisions first, in their order, then classes that no decision of this search reaches. *items is
 * the caller's to free. O(classes + terms of those that differ). */
int plan_differences(const struct watch *w, const label *a, const label *b,
                     struct plan_difference **items, size_t *count, struct err *e) MUST_CHECK;
/* What its row is about: the pins of either way, or that no decision is; and what its price holds.
 * Returns out. */
char *plan_difference_sentence(const struct watch *w, const struct plan_difference *d, char *out,
                               size_t room);

#endif
