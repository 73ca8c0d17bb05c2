/* tui/watch/unstaged_job.h - what a pipeline is held against: the fastest plan without stages. The
 * search's own plans are of one mesh, in one batching; here the proven optimum on every mesh that
 * is tried, within the memory of a device over micro-batches and ZeRO levels, is worked out beside
 * them in a thread of its own (engine/compare/best_strict.h). UI thread. */
#ifndef AUTOMAP_TUI_WATCH_UNSTAGED_JOB_H
#define AUTOMAP_TUI_WATCH_UNSTAGED_JOB_H

#include <stdbool.h>
#include <stddef.h>

struct watch;
struct unstaged_job;

struct unstaged {
    double step_ms;
    char name[128]; /* "mesh 4x8, ZeRO 1, proven over strict plans"; "batch split"; "relaxed" */
};

/* Asked for, of the problem on screen, within `limit_bytes` of a device (0: what it has); again
 * only for another limit. `in_thread` false: all of it before this returns, for pictures. Without
 * memory for it, what is known stays the answer. */
void unstaged_follow(struct watch *w, double limit_bytes, bool in_thread);
bool unstaged_is_asked(const struct watch *w); /* the answer is not there yet */

/* The fastest known that fits within that: of the job, of the search, of files, relaxed. false:
 * none is. */
bool unstaged_best(const struct watch *w, struct unstaged *out);

void unstaged_job_free(struct unstaged_job *j); /* stops and joins; NULL ok */

#endif
