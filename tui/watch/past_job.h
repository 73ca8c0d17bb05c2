/* tui/watch/past_job.h - the past of the search that is open (engine/live/past.h), surveyed and
 * played in a thread of its own, from its journal as it is when this begins. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_PAST_JOB_H
#define AUTOMAP_TUI_WATCH_PAST_JOB_H

#include "engine/live/past.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "tui/watch/branches.h"

struct past_job;

struct past_look {
    const struct past_event *events; /* until the next look */
    const uint64_t *episodes;        /* [episode_count] steps at their ends */
    size_t event_count, episode_count;
    uint64_t last_step;          /* of the journal */
    uint64_t step;               /* of `shot` */
    const struct snapshot *shot; /* the state at the point asked for last, once it is there; kept by
                                    the job until the next look; NULL: none yet */
    const struct past_branch *branches; /* of this search; the newest first */
    int branch_count, more_branches;
    bool looked_for;         /* before, there may be others */
    bool surveyed, is_there; /* the whole journal was seen; the shot is of the point asked for */
    struct err trouble;      /* code 0: none */
};

/* `p` and `o` as the session began; the journal is read before this returns. `in_thread` false:
 * everything is done at once, for pictures. `state_dir`: where kept sessions are, which may be
 * branches of it; NULL: none. */
int past_job_new(const struct problem *p, const struct search_options *o, const char *journal,
                 const char *state_dir, bool in_thread, struct past_job **out,
                 struct err *e) MUST_CHECK;
void past_job_free(struct past_job *j); /* NULL ok */
void past_job_look(struct past_job *j, struct past_look *out);
void past_job_go(struct past_job *j, uint64_t step);
/* Writes what was up to `step` as a journal of its own. */
int past_job_branch(struct past_job *j, uint64_t step, const char *path, struct err *e) MUST_CHECK;

#endif
