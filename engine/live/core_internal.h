/* engine/live/core_internal.h - what core.c and acts.c share. Private to engine/live. */
#ifndef AUTOMAP_ENGINE_LIVE_CORE_INTERNAL_H
#define AUTOMAP_ENGINE_LIVE_CORE_INTERNAL_H

#include "engine/live/core.h"

void core_say(struct core *c, enum log_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct live_plan *core_make_plan(const struct core *c, const label *on, const char *found_by);
void core_replace_plan(struct live_plan **at, struct live_plan *with); /* takes over `with` */
/* The proven optimum of what this search can reach, under the pins of the act in force. */
void core_solve_exactly(struct core *c);
void core_find_baseline(struct core *c);
int core_renew_search(struct core *c, const struct search_options *o, struct err *e) MUST_CHECK;
void core_follow_best(struct core *c); /* c->best becomes the search's */
/* Counts, curves, log and best plan follow c->event: the last step, which took `seconds`. */
void core_note_step(struct core *c, double seconds);

void act_release(struct act *a);

#endif
