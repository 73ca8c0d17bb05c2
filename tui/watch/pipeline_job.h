/* tui/watch/pipeline_job.h - a pipeline for the problem on screen, made in a thread of its own:
 * first the instant answer, then the network's, then the proven smallest L, which knows both, then
 * the plan taken by simulation. */
#ifndef AUTOMAP_TUI_WATCH_PIPELINE_JOB_H
#define AUTOMAP_TUI_WATCH_PIPELINE_JOB_H

#include "engine/pipeline/network_answer.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

struct pipeline_job;

/* Where none fits: what the fastest pipeline without a limit would need, as asked for and
 * otherwise. */
enum { PIPELINE_TRIES = 4 };
struct pipeline_try {
    bool recompute, deepest; /* a stage on every device */
    uint32_t stages, stage;  /* of that plan; its fullest, from 0 */
    double bytes;            /* of a device there */
};

struct pipeline_look {
    const struct pipeline
        *pipeline;             /* NULL: not made yet. Constant from then on; lives with the job */
    struct pipeline_plan plan; /* valid when version > 0 */
    uint32_t version;          /* a better plan: one more */
    struct pipe_exact_result exact; /* when has_exact: over points of `few` */
    bool has_exact, done;
    struct network_answer network; /* when has_network: of the shipped network, else of equal shares
                                      where there is none */
    bool has_network, has_net;
    double network_s, proof_s;  /* CPU time of both; the proof knows the network's plan */
    uint32_t steps, steps_done; /* of the exact search */
    char trouble[256];          /* done without a plan: why */
    struct pipeline_try tries[PIPELINE_TRIES];
    uint32_t try_count; /* none fits: so many of them could be made */
    double limit_bytes; /* of the smallest device */
};

/* `p` must outlive it. `in_thread` false: all of it before this returns, for pictures. */
int pipeline_job_new(const struct problem *p, const struct pipeline_options *o, bool in_thread,
                     struct pipeline_job **out, struct err *e) MUST_CHECK;
/* As it was asked for, or as the file has them. */
const struct pipeline_options *pipeline_job_options(const struct pipeline_job *j);
/* To be left: `done` comes after the step it is at, up to some tenths of a second on 64 devices. */
void pipeline_job_stop(struct pipeline_job *j);
/* One that is done already, with the plan of a file (engine/pipeline/pipeline_file.h). */
int pipeline_job_of_file(const struct problem *p, const char *path, struct pipeline_job **out,
                         struct err *e) MUST_CHECK;
/* Another user of it; pipeline_job_free is for each. UI thread. */
struct pipeline_job *pipeline_job_share(struct pipeline_job *j);
void pipeline_job_free(
    struct pipeline_job *j); /* the last stops, waits for `done` and joins; NULL ok */
void pipeline_job_look(struct pipeline_job *j, struct pipeline_look *out);

#endif
