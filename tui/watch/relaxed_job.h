/* tui/watch/relaxed_job.h - the best plan whose values may change their split between uses, with
 * its bound (engine/relaxed/relaxed.h), made in a thread of its own for the problem on screen and
 * its pins. */
#ifndef AUTOMAP_TUI_WATCH_RELAXED_JOB_H
#define AUTOMAP_TUI_WATCH_RELAXED_JOB_H

#include "engine/cost/memory.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/support/err.h"

struct relaxed_job;

struct relaxed_look {
    const struct relaxed_plan *plan; /* NULL: none yet. Once `done` constant; lives with the job */
    struct memory_cost memory;
    struct relaxed_sum sums[RESHARD_KIND_COUNT];
    bool done;
    uint32_t sweeps;   /* so far */
    char trouble[256]; /* done without a plan: why */
};

/* Variables of pinned classes are stored and used as the pin says. `in_thread` false: all of it
 * before this returns, for pictures. `s` is only read here. */
int relaxed_job_new(const struct problem *p, const struct snapshot *s, bool in_thread,
                    struct relaxed_job **out, struct err *e) MUST_CHECK;
/* One that is done already, with a copy of a plan made elsewhere. */
int relaxed_job_of(const struct relaxed_plan *x, struct relaxed_job **out,
                   struct err *e) MUST_CHECK;
void relaxed_job_free(struct relaxed_job *j); /* stops and joins; NULL ok */
void relaxed_job_look(struct relaxed_job *j, struct relaxed_look *out);

#endif
