/* engine/live/search_state_internal.h - functions that the files of engine/live share. */
#ifndef AUTOMAP_ENGINE_LIVE_SEARCH_STATE_INTERNAL_H
#define AUTOMAP_ENGINE_LIVE_SEARCH_STATE_INTERNAL_H

#include "engine/live/search_state.h"
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"

/* True if the last step found a new best plan, which goes into the journal. */
static inline bool state_found_best(const struct search_state *c)
{
    return c->event.ended && c->event.improved && c->best;
}

void state_say(struct search_state *c, enum log_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void state_renew_ledger(struct search_state *c); /* after a change of the acts */
struct live_plan *state_make_plan(const struct search_state *c, const label *on,
                                  const char *found_by);
/* Solves for the proven optimum within reach of this search, under the current pins. */
void state_solve_exactly(struct search_state *c);
void state_find_baseline(struct search_state *c);
int state_renew_search(struct search_state *c, const struct search_options *o,
                       struct err *e) MUST_CHECK;
void state_follow_best(struct search_state *c); /* c->best becomes the search's */

/* Makes a plan for comparison that splits the batch. */
void state_split_batch(struct search_state *c);

#endif
