/* tui/watch/other_plans.h - the plans of other kinds than the search's: the relaxed one, the
 * pipeline, the hybrid plan, as soon as a view has made them or a file was read. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_OTHER_PLANS_H
#define AUTOMAP_TUI_WATCH_OTHER_PLANS_H

#include "engine/live/snapshot.h"
#include "tui/watch/watch.h"

#include <stddef.h>
#include <stdint.h>

enum other_kind {
    OTHER_NONE,     /* it is of the search's kind, a live_plan */
    OTHER_RELAXED,  /* reshards between values */
    OTHER_PIPELINE, /* stages of replicas */
    OTHER_HYBRID,   /* stages that are split themselves */
    OTHER_KINDS
};

struct other_plan {
    enum other_kind kind;
    double step_ms, memory_bytes; /* of the fullest device */
    double bound_ms;              /* no plan of its kind is faster; 0: not known */
    uint32_t parts;               /* its reshards, or its stages */
};

enum { OTHER_PLANS_MOST = 3 };
/* Those there are, by kind; returns how many. O(stages). */
int other_plans(const struct watch *w, struct other_plan out[static OTHER_PLANS_MOST]);

/* "relaxed, 12 reshards", "hybrid, 8 stages". Returns out. */
char *other_plan_name(const struct other_plan *o, char *out, size_t room);

/* A plan that fits and is faster than the one in the headline, of another space than the search's.
 */
struct elsewhere {
    double step_ms;
    char name[64]; /* "batch split", "relaxed, 12 reshards (bound 201.7)" */
};
enum { ELSEWHERE_MOST = PLANS_MOST + OTHER_PLANS_MOST };
/* All there are, the fastest first; where nothing fits in the headline, all that fit. Returns how
 * many. */
int elsewhere(const struct watch *w, struct elsewhere out[static ELSEWHERE_MOST]);

#endif
