/* engine/live/problem_edits.h - a person's edits of the problem itself: cluster, mesh,
 * micro-batches, ZeRO level, roles, batch. Each makes a new problem, which the act holds. */
#ifndef AUTOMAP_ENGINE_LIVE_PROBLEM_EDITS_H
#define AUTOMAP_ENGINE_LIVE_PROBLEM_EDITS_H

#include "engine/live/command.h"
#include "engine/live/search_state.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* Applies an edit: the search starts over on the edited problem, with the same pins. */
int edits_apply(struct search_state *c, const struct live_command *command,
                struct err *e) MUST_CHECK;
/* The problem that lines of edits make from c->base; NULL: they fail. For checkpoints. */
struct live_problem *edits_redo(const struct search_state *c, const char *edits);
/* Reprices `kept`, a plan for problem `from`, on the current problem, if it is possible there, and
 * stores it as c->before. */
void edits_carry_plan(struct search_state *c, const struct problem *from,
                      const struct live_plan *kept);

#endif
