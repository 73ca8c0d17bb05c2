/* engine/pipeline/simulation.h - simulates a pipeline: which stage runs which pass when.
 *
 * Every stage carries out a fixed list of passes, as soon as what a pass needs is there: first
 * min(K, M) forward passes, then backward and forward in turn, then the backward passes left; K is
 * 2k - 1 (eager), k (1F1B) or M (GPipe) for a stage with k stages to the end. A transfer takes its
 * turn on its own link, forward and backward each in order; on a half-duplex link, of those that
 * wait, the one that came first (backward on ties). After its last backward pass a node does what
 * follows a step: all-reduce and optimizer, or the transfer of once_bytes.
 * The makespan is when the last of all that is done. Deterministic; no clock. */
#ifndef AUTOMAP_ENGINE_PIPELINE_SIMULATION_H
#define AUTOMAP_ENGINE_PIPELINE_SIMULATION_H

#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"

enum pipe_task_kind { PIPE_FORWARD, PIPE_BACKWARD, PIPE_REDUCE };

struct pipe_task {
    uint32_t node;        /* even: stage node / 2; odd: the transfer after stage node / 2 */
    uint32_t micro_batch; /* of a PIPE_REDUCE: M */
    enum pipe_task_kind kind;
    double start_ms, end_ms;
};

struct pipe_schedule {
    struct pipe_task *task; /* in order of start; at one start by node, backward first */
    uint32_t count;         /* nodes x (2 M + 1) */
    uint32_t nodes, micro_batches;
    enum pipe_schedule_kind kind;
    double makespan_ms;
};

/* PIPE_TASKS_MOST bounds nodes x (2 M + 1): ERR_LIMIT. The options' schedule is not looked at, nor
 * is memory. O(tasks x nodes). */
enum { PIPE_TASKS_MOST = 1 << 22 };
int pipe_schedule_make(const struct pipe_instance *in, const struct pipe_plan *p,
                       enum pipe_schedule_kind kind, struct pipe_schedule *out,
                       struct err *e) MUST_CHECK;
/* The same of nodes; of the options micro_batches and half_duplex count. */
int pipe_nodes_schedule(const struct pipe_node *node, uint32_t count, const struct pipe_options *o,
                        enum pipe_schedule_kind kind, struct pipe_schedule *out,
                        struct err *e) MUST_CHECK;
void pipe_schedule_free(struct pipe_schedule *s);

/* The makespan alone: the same figure, bit for bit. O(tasks), on half-duplex links O(tasks x
 * nodes). INFINITY past PIPE_TASKS_MOST, or when memory for it is lacking. */
double pipe_makespan(const struct pipe_instance *in, const struct pipe_plan *p,
                     enum pipe_schedule_kind kind);
double pipe_nodes_makespan(const struct pipe_node *node, uint32_t count,
                           const struct pipe_options *o, enum pipe_schedule_kind kind);

/* ms in which a node computes or moves something, its all-reduce included. */
double pipe_schedule_busy_ms(const struct pipe_schedule *s, uint32_t node);

#endif
