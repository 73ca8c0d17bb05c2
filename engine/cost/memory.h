/* engine/cost/memory.h - memory of one device: live ranges over a stated schedule, local sizes.
 *
 * The schedule is that of XLA's CPU backend (instruction_order.h, depth first). A stored value
 * (fusion.h) lives from its instruction to its last use; a use by a fused value counts as the uses
 * of that value, and tuples and their elements are aliases. Arguments live throughout. An output
 * that aliases an argument needs no memory of its own. An element-wise result reuses the memory of
 * an operand that dies there: the operand then ends one position earlier. A loop or branch adds its
 * own peak while it runs. Sizes are local: bytes x shares of the classes of the dims. So what is
 * live at a position is a sum over ranges, whatever the plan, and a memory limit is a linear
 * constraint per position.
 *
 * An all-reduce has a result besides its operand: both count until the result's first read ends.
 * The gradients share one all-reduce (XLA's combiner, xla/service/all_reduce_combiner.cc, unlimited
 * on CPU): its operands live until the last gradient is made, and there all count twice. Where
 * partial sums are reduced before they are added up, they are its operands.
 *
 * A variable updated in place is copied if something reads it that its next value does not depend
 * on, as the gradient of a layer's input reads the weights: XLA inserts copies before it has an
 * order (xla/service/copy_insertion.cc). The copy lives from the first read to the update. If the
 * gradient is all-reduced, the update waits for all gradients and no copy is needed.
 *
 * Convolutions copy operands whose dims are not in order (fusion.h), and the gradient of
 * max-pooling has an index array per dim of its operand: both while they run.
 *
 * What the partitioner runs whole (decide/partitioner.h) keeps its split operands whole from the
 * first such use to the last, and its results whole while it runs.
 *
 * Micro-batches and ZeRO (training.h). Sizes are those of one micro-batch, except for inputs. With
 * k > 1 each sum over the passes is an accumulator that lives throughout, besides the result of the
 * current pass. Stored in pieces: level 1 optimizer state; 2 gradients, from one position after
 * they are made (k > 1: accumulators), of a stack that a loop fills each slice; 3 variables, with a
 * gathered copy from the first to the last use in the forward pass, and another in the backward
 * pass. Checked against XLA: engine/cost/README.md. Built once per module; a plan is then O(stored
 * values). */
#ifndef AUTOMAP_ENGINE_COST_MEMORY_H
#define AUTOMAP_ENGINE_COST_MEMORY_H

#include "engine/cost/fusion.h"
#include "engine/cost/instruction_order.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum memory_kind {
    MEMORY_PARAMETERS, /* trainable variables and other state kept between steps */
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,
    MEMORY_INPUTS,
    MEMORY_ACTIVATIONS, /* everything else that lives within the step */
    MEMORY_KIND_COUNT
};
extern const char *const memory_kind_names[MEMORY_KIND_COUNT];

/* One stored value in its computation's schedule. Positions of a computation are its ids' range. */
struct memory_range {
    hlo_value value;
    uint32_t start, end; /* positions in the schedule: where it is made, last needed */
    uint8_t kind;
    bool is_argument;   /* of the entry: lives throughout */
    uint8_t storing;    /* enum memory_storing */
    uint32_t variable;  /* the variable whose axes it is stored along, or whose gradient it is; into
                           roles.params; STORED_REDUCED: UINT32_MAX if not a gradient */
    hlo_value gradient; /* STORED_TWICE: the buffer of the variable's gradient; HLO_NONE */
};
enum memory_storing {
    STORED_AS_USED,
    STORED_IN_PIECES, /* in pieces if the plan allows cutting `variable`, else as used */
    STORED_GATHERED,  /* the gathered copy of a variable stored in pieces; empty if it is not cut */
    STORED_REDUCED,   /* the second buffer of an all-reduce; empty if the plan reduces nothing */
    STORED_TWICE,     /* the copy of a variable before its update; empty if its gradient is reduced
                       */
    STORED_COPY,      /* relaxed plans: the copy of a variable that its uses share; empty in strict
                         plans */
    STORED_WHOLE,     /* a whole copy besides the piece, for an instruction that the partitioner
                         runs whole; empty if the value is not split */
    STORED_LAID_OUT,  /* the copy of an operand that has its dims in another order */
    STORED_WORKSPACE, /* what a kernel needs while it runs; `value` is its first result */
    STORED_INDICES,   /* positions of an operand's elements, a number per dim and element */
    STORED_COUNT
};
/* What a range is, besides its value: "all-reduced copy"; "" for the value itself. */
extern const char *const memory_storing_words[STORED_COUNT];

struct memory_model {
    const struct hlo_module *m;
    const struct classes *classes;
    const struct training *training;
    const struct fusion *fusion;
    struct batch_and_zero batching;
    struct instruction_order schedule;
    bool is_listed;       /* the schedule is the list scheduler's; else depth first */
    bool reduces_at_once; /* partial sums are reduced where they arise, not after they are added up
                           */
    struct memory_range *ranges; /* by computation, then start */
    uint32_t count;
    uint32_t *first;  /* [computations + 1] into ranges */
    uint32_t *by_end; /* [count] ranges of each computation by end */
    uint32_t *again;  /* [values] of buffers that are made on the fly: where that is done last */
};

/* For the whole batch at once and everything stored whole. `t` and `f` must outlive it. */
int memory_new(const struct training *t, const struct fusion *f, bool reduces_at_once,
               struct memory_model *out, struct err *e) MUST_CHECK;
/* The same in the list scheduler's order, whatever depth first needs, with the batching of `from`:
 * for steps whose weight gradients do not wait (recompute/recompute.h). */
int memory_new_listed(const struct memory_model *from, struct memory_model *out,
                      struct err *e) MUST_CHECK;
/* Changes the batching and keeps the schedule; on error nothing changes. */
int memory_set_batch_and_zero(struct memory_model *m, const struct batch_and_zero *r,
                              struct err *e) MUST_CHECK;
void memory_release(struct memory_model *m);

struct memory_cost {
    double bytes[MEMORY_KIND_COUNT]; /* at the peak: all arguments, and what else is live then */
    double arguments, outputs;       /* local sums over entry parameters, and over all leaves of the
                                        root */
    double temporaries;              /* peak - arguments */
    double peak;
    hlo_id at;         /* entry instruction at the peak */
    uint32_t position; /* its position in the schedule */
};
/* Memory under an assignment on[class]. `scratch` from memory_scratch; one per thread. */
struct memory_cost memory_of(const struct memory_model *m, const struct labels *l, const label *on,
                             double *scratch);
/* The same from bytes[values], the local bytes of each value, stored as it is used, and
 * second[values], those of its second buffer (a reduced value's, or a variable's copy); 0: none. */
struct memory_cost memory_of_values(const struct memory_model *m, const double *bytes,
                                    const double *second, double *scratch);
double *memory_scratch(const struct memory_model *m); /* NULL out of memory; free() it */
/* [positions] within a scratch: bytes that live at each besides the ranges, copies that a relaxed
 * plan makes, filled in by whoever knows them. In a new scratch all 0. */
double *memory_copies(const struct memory_model *m, double *scratch);
/* Where `id` has read its operands for the last time: its own position, or where those run that
 * make its result on the fly. O(results). */
uint32_t memory_last_read(const struct memory_model *m, hlo_id id);

/* Bytes of one range under an assignment; and the classes they depend on (writes at most `room`,
 * ascending; returns how many there are). */
double memory_range_bytes(const struct memory_model *m, const struct labels *l, const label *on,
                          const struct memory_range *r);
/* The same from the bytes of its value and of the second buffer of that (STORED_TWICE: of the
 * gradient's; 0: none), as in memory_of_values. */
double memory_range_bytes_from(const struct memory_model *m, const struct memory_range *r,
                               double bytes, double second);
/* Bytes of a range that goes with its value's whatever the plan, for each byte of the value: copies
 * in another order, index arrays, workspaces; 0: no such range. */
double memory_range_beside(const struct memory_model *m, const struct memory_range *r);
uint32_t memory_range_classes(const struct memory_model *m, const struct memory_range *r,
                              class_id *out, uint32_t room);

/* The peak from known bytes of each range, scratch[range]: returns the most that lives besides the
 * arguments; at[computation] receives the position of its peak. */
double memory_sweep(const struct memory_model *m, double *scratch, uint32_t *at);

/* Memory over time in the entry: live bytes of each kind while each instruction runs, [entry
 * count] rows of MEMORY_KIND_COUNT; row n is of instruction schedule.order[entry first + n]. */
void memory_timeline(const struct memory_model *m, const struct labels *l, const label *on,
                     double *scratch, double (*rows)[MEMORY_KIND_COUNT]);
/* The same from known bytes, scratch[range], with the inner peaks as memory_of_values left them. */
void memory_timeline_of(const struct memory_model *m, const double *scratch,
                        double (*rows)[MEMORY_KIND_COUNT]);
/* The largest buffers live while entry instruction `at` runs: up to `room`, largest first. Returns
 * how many. A value may appear twice, with its second buffer. */
struct memory_top {
    hlo_value value;
    double bytes;
    uint8_t kind, storing;
};
uint32_t memory_tops(const struct memory_model *m, const struct labels *l, const label *on,
                     hlo_id at, struct memory_top *out, uint32_t room);

#endif
