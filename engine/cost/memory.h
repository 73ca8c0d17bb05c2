/* engine/cost/memory.h - memory of one device: live ranges over a stated schedule, local sizes.
 *
 * The schedule is that of XLA's CPU backend (schedule.h, depth first), or a list scheduler's where
 * that needs less than two thirds of the memory unsplit. A stored value (fusion.h) lives from its
 * instruction to its last use, where a use by a fused value counts as the uses of that value;
 * tuples and their elements are other names of buffers and use nothing. Arguments live all the
 * time; an output that takes an argument's place (input-output alias) takes no other; an
 * element-wise result takes the place of an operand that ends there: the operand then ends one
 * position earlier. A loop's or branch's own peak is added while it runs. Sizes are local: bytes x
 * shares of the classes of the dims. So what is live at a position is a sum over ranges, whatever
 * the plan: a memory limit is a linear constraint per position.
 *
 * An all-reduce has a result beside its operand: both count while the result is read first. The
 * all-reduces of gradients are one (XLA's combiner, xla/service/all_reduce_combiner.cc, on CPU
 * without a limit of bytes): their operands live until the last gradient is made, and there all
 * count twice.
 *
 * A variable whose next value takes its place is copied where something reads it that the next
 * value does not need, as the gradient of a layer's input reads its weights: XLA inserts copies
 * before it has an order (xla/service/copy_insertion.cc). The copy lives from the first read to the
 * update. Where the gradient is all-reduced the update needs all gradients, and there is none.
 *
 * Micro-batches and ZeRO (training.h). Sizes are those of one micro-batch, but for inputs. With k >
 * 1 each sum over the passes is an accumulator that lives all the time, beside the result of the
 * pass, which lives while it is made. Stored in pieces: level 1 optimizer state; 2 gradients, from
 * one position after they are made (k > 1: accumulators); 3 variables, with a whole copy from the
 * first use to the last in the forward pass, and another in the backward pass. Checked against XLA:
 * engine/cost/README.md. Built once per module; a plan is then O(stored values). */
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
    MEMORY_PARAMETERS, /* trainable variables and other state that is carried over */
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,
    MEMORY_INPUTS,
    MEMORY_ACTIVATIONS, /* all that lives within the step and is no gradient */
    MEMORY_KIND_COUNT
};
extern const char *const memory_kind_names[MEMORY_KIND_COUNT];

/* One stored value in its computation's schedule. Positions of a computation are its ids' range. */
struct memory_range {
    hlo_value value;
    uint32_t start, end; /* positions in the schedule: made at, needed until */
    uint8_t kind;
    bool is_argument;  /* of the entry: lives all the time */
    uint8_t storing;   /* enum memory_storing */
    uint32_t variable; /* whose axes it is stored along, or whose gradient it is; into roles.params;
                          STORED_REDUCED: UINT32_MAX no gradient */
    hlo_value gradient; /* STORED_TWICE: the buffer of the variable's gradient; HLO_NONE */
};
enum memory_storing {
    STORED_AS_USED,
    STORED_IN_PIECES, /* a piece of it, where the plan lets `variable` be cut; else as used */
    STORED_GATHERED,  /* the whole copy of a variable stored in pieces; nothing where it is not cut
                       */
    STORED_REDUCED, /* the second buffer of an all-reduce; nothing where the plan reduces nothing */
    STORED_TWICE, /* the copy of a variable before its update; nothing where its gradient is reduced
                   */
    STORED_COPY, /* of a variable, as its uses share it: of relaxed plans, nothing in strict ones */
    STORED_COUNT
};
/* What a range is beside its value: "all-reduced copy"; "" for the value itself. */
extern const char *const memory_storing_words[STORED_COUNT];

struct memory_model {
    const struct hlo_module *m;
    const struct classes *classes;
    const struct training *training;
    const struct fusion *fusion;
    struct batch_and_zero batching;
    struct instruction_order schedule;
    bool is_listed;              /* that of the list scheduler; else depth first */
    struct memory_range *ranges; /* by computation, then start */
    uint32_t count;
    uint32_t *first;  /* [computations + 1] into ranges */
    uint32_t *by_end; /* [count] ranges of each computation by end */
};

/* For the batch at once and everything stored whole. `t` and `f` must outlive it. */
int memory_new(const struct training *t, const struct fusion *f, struct memory_model *out,
               struct err *e) MUST_CHECK;
/* In the list scheduler's order, whatever depth first needs, under `from`'s batching: what a step
 * needs whose weight gradients do not wait (recompute/recompute.h). */
int memory_new_listed(const struct memory_model *from, struct memory_model *out,
                      struct err *e) MUST_CHECK;
/* The same schedule under another batching; on error nothing changes. */
int memory_set_batch_and_zero(struct memory_model *m, const struct batch_and_zero *r,
                              struct err *e) MUST_CHECK;
void memory_release(struct memory_model *m);

struct memory_cost {
    double bytes[MEMORY_KIND_COUNT]; /* at the peak; arguments all, the rest what is live then */
    double arguments, outputs; /* local sums over entry parameters; over all leaves of the root */
    double temporaries;        /* peak - arguments */
    double peak;
    hlo_id at;         /* entry instruction at the peak */
    uint32_t position; /* its position in the schedule */
};
/* Of an assignment: on[class]. `scratch` from memory_scratch; one per thread. */
struct memory_cost memory_of(const struct memory_model *m, const struct labels *l, const label *on,
                             double *scratch);
/* The same from the local bytes of each value, [values], everything stored as it is used, and of
 * its second buffer: of a value that is reduced, and of a variable's copy; 0: none. */
struct memory_cost memory_of_values(const struct memory_model *m, const double *bytes,
                                    const double *second, double *scratch);
double *memory_scratch(const struct memory_model *m); /* NULL out of memory; free() it */

/* Bytes of one range under an assignment, and the classes they depend on (at most `room`,
 * ascending; returns how many there are). */
double memory_range_bytes(const struct memory_model *m, const struct labels *l, const label *on,
                          const struct memory_range *r);
uint32_t memory_range_classes(const struct memory_model *m, const struct memory_range *r,
                              class_id *out, uint32_t room);

/* The same from the bytes of ranges, scratch[range], for those who know them. Returns the most that
 * lives beside the arguments; at[computation]: the position of each one's peak. */
double memory_sweep(const struct memory_model *m, double *scratch, uint32_t *at);

/* The course of it over the entry: live bytes of each kind while each instruction runs, [entry
 * count] rows of MEMORY_KIND_COUNT; row n is of instruction schedule.order[entry first + n]. */
void memory_timeline(const struct memory_model *m, const struct labels *l, const label *on,
                     double *scratch, double (*rows)[MEMORY_KIND_COUNT]);
/* The largest buffers live while entry instruction `at` runs: up to `room`, largest first. Returns
 * how many. A value may have a second one. */
struct memory_top {
    hlo_value value;
    double bytes;
    uint8_t kind, storing;
};
uint32_t memory_tops(const struct memory_model *m, const struct labels *l, const label *on,
                     hlo_id at, struct memory_top *out, uint32_t room);

#endif
