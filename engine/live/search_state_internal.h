/* engine/live/search_state_internal.h - what core.c and acts.c share. Private to engine/live. */
#ifndef AUTOMAP_ENGINE_LIVE_SEARCH_STATE_INTERNAL_H
#define AUTOMAP_ENGINE_LIVE_SEARCH_STATE_INTERNAL_H

#include "engine/live/search_state.h"

/* The last step found a new best plan: what the journal keeps. */
static inline bool core_found_best(const struct core *c)
{
    return c->event.ended && c->event.improved && c->best;
}

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

/* The batch split as a plan to compare with. */
void core_split_batch(struct core *c);

void act_release(struct act *a);
bool act_copy(const struct act *from, uint32_t more,
              struct act *out); /* with room for `more` pins */
/* Makes `next` the newest act (takes it over); what had been undone is gone. */
int core_push_act(struct core *c, struct act *next, struct err *e) MUST_CHECK;

/* engine/live/problem_edits.c: cluster, mesh, role, batch. */
int core_edit_problem(struct core *c, const struct live_command *command, struct err *e) MUST_CHECK;
/* The problem that lines of edits make of c->base; NULL: they do not. For checkpoints. */
struct live_problem *core_redo_edits(const struct core *c, const char *edits);
/* `kept`, a plan of problem `from`, priced on the problem in force, when it is possible there. */
void core_carry_plan(struct core *c, const struct problem *from, const struct live_plan *kept);

#endif
