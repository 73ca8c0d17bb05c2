/* tui/pipeline_job.h - a pipeline for the problem on screen, made in a thread of its own: first the instant
 * answer, then the proven smallest L, then the plan taken by simulation. */
#ifndef AUTOMAP_TUI_PIPELINE_JOB_H
#define AUTOMAP_TUI_PIPELINE_JOB_H

#include "engine/pipeline/pipeline.h"

struct pipeline_job;

struct pipeline_look {
    const struct pipeline *pipeline; /* NULL: not made yet. Constant from then on; lives with the job */
    struct pipeline_plan plan;       /* valid when version > 0 */
    uint32_t version;                /* a better plan: one more */
    struct pipe_exact_result exact;  /* when has_exact: over points of `few` */
    bool has_exact, done;
    uint32_t steps, steps_done;      /* of the exact search */
    char trouble[256];               /* done without a plan: why */
};

/* `p` must outlive it. `in_thread` false: all of it before this returns, for pictures. */
int pipeline_job_new(const struct problem *p, const struct pipeline_options *o, bool in_thread, struct pipeline_job **out,
                     struct err *e) MUST_CHECK;
void pipeline_job_free(struct pipeline_job *j); /* stops and joins; NULL ok */
void pipeline_job_look(struct pipeline_job *j, struct pipeline_look *out);

#endif
