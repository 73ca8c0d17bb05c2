/* engine/live/past.h - a recorded search at any of its steps, as it was then: played again from its
 * journal, bit for bit.
 *
 * A point of the past is a number of steps; all that a person did at that step belongs to it. The
 * journal is surveyed once, from its start, which notes events and keeps states on the way, at most
 * KEPT_MOST, ever further apart; going to a point loads the last one before it and plays from
 * there. Every best plan passed is held against the journal's. One thread at a time. */
#ifndef AUTOMAP_ENGINE_LIVE_PAST_H
#define AUTOMAP_ENGINE_LIVE_PAST_H

#include "engine/live/journal.h"
#include "engine/live/search_state.h"
#include "engine/live/series.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"

struct past;

struct past_event {
    uint64_t step, episode;
    uint32_t act; /* number of a person's act; 0: a new best plan, or stage 2 began */
    bool stage;   /* the latter */
    double ms;    /* of the best plan then; 0: none */
    char text[LOG_TEXT_ROOM];
};

/* `log` is borrowed and outlives it, as `p` does; `o` are the options the search began with.
 * ERR_INPUT: the journal is of another problem. */
int past_new(const struct problem *p, const struct search_options *o, const struct journal_log *log,
             struct past **out, struct err *e) MUST_CHECK;
void past_free(struct past *t); /* NULL ok */

/* Surveys `steps` steps further; *done when the journal has no more. ERR_INPUT: the replay goes
 * another way than the journal did. */
int past_survey(struct past *t, uint64_t steps, bool *done, struct err *e) MUST_CHECK;
/* What the survey has seen. Pointers stay until the next one. */
const struct past_event *past_events(const struct past *t, size_t *count);
/* steps[n]: at the end of episode n + 1. */
const uint64_t *past_episodes(const struct past *t, size_t *count);
uint64_t past_last_step(const struct past *t); /* of the journal */

/* Goes towards a point, at most the journal's last, by `most` steps at most; the state there, until
 * the next call, or NULL: call it again. ERR_INPUT as above. O(steps since the last state kept). */
int past_go(struct past *t, uint64_t step, uint64_t most, struct search_state **out,
            struct err *e) MUST_CHECK;

#endif
