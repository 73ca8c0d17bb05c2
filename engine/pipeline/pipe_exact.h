/* engine/pipeline/pipe_exact.h - the pipeline of smallest L, proven, over all pivots and device
 * cuts.
 *
 * Dynamic programming from the last stage to the first. What follows a node affects what is put
 * before it only through three figures:
 *     X  its L        Y  the longest way through it without R: max over Q of sum F + T(Q) + sum B
 *     Z  the largest R that is still to come when its first backward pass ends
 * and a node with F, B, R and steady time T put before it has
 *     Y' = max(F + B + Y, F + T + B)    X' = max(F + X, R + Y', F + T + Z)    Z' = max(R, Z - B)
 * all of them growing in X, Y and Z. So of the plans for a state - the stages' first point, the
 * first stage's devices, and, where memory is limited, the count of stages, which says how many
 * micro-batches are in flight - only those are kept that no other beats in all three. Sets are cut
 * only beyond `entries_most`, and then the result is not certified. States whose bound passes a
 * known plan's L are dropped.
 *
 * Work: the device cuts' triples times points, and pairs of them times pairs of points, each times
 * the size of a set (1 to some tens). */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPE_EXACT_H
#define AUTOMAP_ENGINE_PIPELINE_PIPE_EXACT_H

#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_before.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"

#include <stdatomic.h>

/* Transitions after which the search gives up: some seconds. */
enum { PIPE_EXACT_TRANSITIONS_MOST = 40000000 };

struct pipe_exact_options {
    const uint8_t *device_cut; /* [devices + 1] 1: a stage may begin there; NULL: anywhere */
    uint32_t stages;           /* exactly so many; 0: any number */
    struct pipe_pins pins;
    bool variables;      /* every stage holds a trainable variable */
    double known_ms;     /* L of a plan that is known; 0: none. What cannot be as good is dropped */
    double tolerance_ms; /* entries that near to another are dropped too: lengths are then up to
                            2 x stages times as much too long, and nothing is certified; 0: none */
    uint64_t entries_most;     /* kept at one time; 0: 2^24, 0.8 GB */
    uint64_t transitions_most; /* 0: PIPE_EXACT_TRANSITIONS_MOST */
    const atomic_bool *stop;   /* set by another thread or a signal: end now; NULL: never */
};

struct pipe_exact_result {
    bool found;     /* false: no plan, or none as good as known_ms */
    bool ended;     /* before all was looked at: stopped, out of memory, too many transitions */
    bool certified; /* the plan is optimal; when none was found, there is none (as good) */
    struct pipe_plan plan;
    double length_ms;
    uint64_t transitions, entries;
    uint64_t before;   /* stages looked at for what stands before (pipe_before.h) */
    uint32_t set_most; /* entries of the largest set */
};

/* In steps, one device cut each, from the last to the first, so that it can be watched and left.
 * The instance and the pins are borrowed; the options are copied. */
struct pipe_exact;
int pipe_exact_new(const struct pipe_instance *in, const struct pipe_exact_options *o,
                   struct pipe_exact **out, struct err *e) MUST_CHECK;
/* False: it is finished. Out of memory, past `transitions_most` and stopped count as finished, not
 * certified; a stop is seen within a millisecond. */
bool pipe_exact_step(struct pipe_exact *x);
uint32_t pipe_exact_steps(const struct pipe_exact *x); /* in all */
uint32_t pipe_exact_steps_done(const struct pipe_exact *x);
/* When finished. */
void pipe_exact_result(const struct pipe_exact *x, struct pipe_exact_result *out);
void pipe_exact_free(struct pipe_exact *x); /* NULL ok */
/* When finished, of a programme for exactly so many stages: L of the best completion behind stages
 * whose last ends before `point` on devices [a, b), with `left` more stages; INFINITY: there is
 * none, or none as good as known_ms. O(device cuts x size of a set). */
double pipe_exact_behind(const struct pipe_exact *x, const struct pipe_prefix *before, uint32_t a,
                         uint32_t b, uint32_t left, uint32_t point);

/* All at once. */
int pipe_exact_solve(const struct pipe_instance *in, const struct pipe_exact_options *o,
                     struct pipe_exact_result *out, struct err *e) MUST_CHECK;

#endif
