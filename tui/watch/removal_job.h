/* tui/watch/removal_job.h - what a plan would cost without one of its reshards
 * (engine/plan/explain_reshard.h), worked out in a thread of its own. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_REMOVAL_JOB_H
#define AUTOMAP_TUI_WATCH_REMOVAL_JOB_H

#include "engine/relaxed/relaxed.h"
#include "hlo/support/err.h"

struct removal_job;

struct removal_look {
    bool done, is_possible;
    double step_ms;
    char trouble[160]; /* done, and not possible: why */
};

/* The plan is copied. `in_thread` false: all of it before this returns, for pictures. */
int removal_job_new(const struct relaxed_plan *x, uint32_t number, bool in_thread,
                    struct removal_job **out, struct err *e) MUST_CHECK;
void removal_job_free(struct removal_job *j); /* waits for the sweeps it is at; NULL ok */
void removal_job_look(struct removal_job *j, struct removal_look *out);

#endif
