/* engine/pipeline/tabulate.h - a model on a cluster as tables for the pipeline solvers
 * (pipe_instance.h).
 *
 * One point per forward operation (order.h): point i is the operation at position i together with
 * the backward operations placed there.
 *
 * Compute: the roofline of each instruction (or its measured time) at the samples of the busiest of
 * r replicas, each one device unsplit. Work with a batch dim is proportional to the samples; work
 * without one counts in full, and so do launches. So a micro-batch of half the size takes more than
 * half the time. Update: the module's own instructions that make a variable's new value and state
 * (variable_updates.h).
 *
 * Memory of a point (cost/fusion.h says what is stored at all):
 *   state      parameters, their gradients, their optimizer state, as large as the file has them
 *   stash      stored forward values that the backward pass needs, at the last place where it needs
 *              them: what arrives over a cut is kept after it
 *   temporary  stored values of the backward pass that are live there, except gradients of
 *              variables
 *
 * Variables used far apart (more than PIPE_TIE_SHARE of the forward time between first and last
 * use) are ties; variables with the same uses form one tie; beyond PIPE_TIES_MOST only the largest
 * are ties. A cut between the uses of any other variable sends it and its gradient once a step. */
#ifndef AUTOMAP_ENGINE_PIPELINE_TABULATE_H
#define AUTOMAP_ENGINE_PIPELINE_TABULATE_H

#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#define PIPE_TIE_SHARE 0.05

/* On the cluster of the problem. `out` is finished; it keeps nothing of `o`. Errors as
 * pipe_instance_new. O(operations x devices x types). */
int pipe_tabulate(const struct order *o, const struct pipe_options *options,
                  struct pipe_instance *out, struct err *e) MUST_CHECK;

/* [roles.param_count] bytes of optimizer state of each variable; what names no variable is shared
 * out by size. The caller frees it; NULL out of memory. */
double *pipe_variable_state(const struct problem *p);

/* [steps.value_count] 1: a variable or other state of which no pass reads anything, not even a
 * slice. It is the first stage's, with its update. The caller frees it; NULL out of memory.
 * O(values). */
uint8_t *pipe_unread(const struct order *o);

/* Which cuts a solver may choose from. */
enum pipe_cut_kind {
    PIPE_CUTS_CHEAPEST, /* of each of N parts of equal compute the cut with fewest bytes */
    PIPE_CUTS_ALL,      /* between any two forward operations */
    PIPE_CUTS_EQUAL,    /* between N parts of equal compute */
};
/* Fills cut[.. N + 1] for pipe_instance_coarsen (cut[.. points + 1] for PIPE_CUTS_ALL) and returns
 * the count of points. */
uint32_t pipe_cut_points(const struct pipe_instance *in, enum pipe_cut_kind kind, uint32_t n,
                         uint32_t *cut);

#endif
