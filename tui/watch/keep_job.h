/* tui/watch/keep_job.h - what the backward pass keeps under a plan, what it computes again and what
 * waits on the host: the front of memory against time, and the choice within the memory limit
 * (engine/plan/recompute_at.h). Worked out in a thread of its own. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_KEEP_JOB_H
#define AUTOMAP_TUI_WATCH_KEEP_JOB_H

#include "engine/live/snapshot.h"
#include "engine/plan/recompute_rows.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/watch/watch.h"

enum { KEEP_POINTS_MOST = 128 };

/* A choice: bytes and ms of one device and step. */
struct keep_point {
    double peak, step_ms, kept, host_bytes;
    double ms_per_gb; /* what it gives back to the one before it, which needs more; 0: the first */
    uint32_t layers;  /* of two kinds, how many recompute more; 0: one kind */
    bool is_the_choice; /* the fastest within the memory limit */
};

struct keep_look {
    bool done;
    char trouble[160];                          /* done, and there is nothing: why */
    struct keep_point points[KEEP_POINTS_MOST]; /* from most memory, the fastest, to least */
    uint32_t count, choice;                     /* choice: place of the one within the limit */
    double limit;                               /* bytes, that the job was asked for */
    bool fits;                                  /* it */
    bool is_listed;  /* memory in an order in which weight gradients do not wait */
    double now_ms;   /* as the module is written */
    double bound_ms; /* of the step within the limit, no choice with this plan is faster */
};

struct keep_job;

/* The plan is copied; NULL: everything whole. The problem outlives the job. `in_thread` false: all
 * of it before this returns, for pictures. */
int keep_job_new(const struct watch *w, const struct live_plan *plan, double limit, bool in_thread,
                 struct keep_job **out, struct err *e) MUST_CHECK;
void keep_job_free(struct keep_job *j); /* waits for its end; NULL ok */
/* NULL: not done yet. The job's. */
const struct keep_look *keep_job_look(const struct keep_job *j);
/* Of a done job the rows of one point, most bytes first; the caller frees *out. */
int keep_job_rows(const struct keep_job *j, uint32_t point, struct recompute_row **out,
                  uint32_t *count, struct err *e) MUST_CHECK;
/* The value that a row is of. */
hlo_value keep_job_value(const struct keep_job *j, const struct recompute_row *row);

#endif
