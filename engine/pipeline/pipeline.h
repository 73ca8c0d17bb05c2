/* engine/pipeline/pipeline.h - the pipeline question of a problem: a global batch cut into
 * micro-batches, the tables for it, and plans with what they come to.
 *
 * The same cost model as for every other plan: instructions by roofline or measured profile, the
 * cluster's links, one overlap rule: of the all-reduces of gradients the part `overlap` is hidden
 * behind computation (formula.h). Everything else waits for its communication, but that a
 * stage computes on while its transfers run. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPELINE_H
#define AUTOMAP_ENGINE_PIPELINE_PIPELINE_H

#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "engine/pipeline/tabulate.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

enum { PIPELINE_POINTS = 128 }; /* points solvers choose from unless told otherwise */

/* A cut a person holds: a stage begins at `device` with the forward operation named, or, as "25 %"
 * or "25%", at the cut nearest to that share of the forward computation (an instruction of an
 * unrolled loop: its first trip). The text is borrowed. */
struct pipeline_pin {
    uint32_t device;
    const char *place; /* NULL: `position` in the forward order */
    uint32_t position;
};
enum { PIPELINE_PINS_MOST = 32 };

struct pipeline_options {
    uint32_t batch;         /* global, of one step; 0: that of the file */
    uint32_t micro_batches; /* divides the batch; 0: the number with the shortest instant answer */
    uint32_t stages;        /* exactly; 0: any */
    enum pipe_schedule_kind schedule;
    double overlap; /* 0 .. 1 or OVERLAP_AUTO: problem_overlap, unless read from a file */
    bool recompute, half_duplex, no_limit; /* no_limit: device memory does not matter */
    double limit_bytes;                    /* less than a device has; 0: what it has */
    enum pipe_cut_kind points;
    uint32_t point_count;                        /* 0: PIPELINE_POINTS */
    struct pipeline_pin pin[PIPELINE_PINS_MOST]; /* they hold in every plan found here */
    uint32_t pins;
    /* Another order of the forward operations (order.h), pairs; none: the usual one. Borrowed while
     * a pipeline is made, then its own. */
    const uint32_t *run;
    uint32_t runs;
    /* With one, over the points of that order, micro-batches are chosen for it. Borrowed while a
     * pipeline is made. */
    const struct pipe_plan *chosen_for;
    const atomic_bool *stop; /* set elsewhere: searches here end with what they have; NULL: never */
};

struct pipeline {
    const struct problem *problem;
    struct pipeline_options options; /* filled in */
    struct order order;
    uint32_t *run;            /* that of the options, a copy; NULL */
    struct pipe_instance all; /* a point per forward operation */
    struct pipe_instance few; /* what solvers choose from */
    uint32_t *cut; /* [few.points + 1] where its cuts lie in `all`; pinned ones are among them */
    struct pipe_pin pin_all[PIPELINE_PINS_MOST], pin_few[PIPELINE_PINS_MOST]; /* [options.pins] */
};

/* `p` must outlive it. ERR_INPUT when the batch cannot be cut so, or a pin's place is none;
 * ERR_INFEASIBLE when pins contradict each other, or there are fewer devices or parts with a
 * trainable variable than stages; else as order_new, pipe_tabulate. */
int pipeline_new(const struct problem *p, const struct pipeline_options *o, struct pipeline *out,
                 struct err *e) MUST_CHECK;
void pipeline_release(struct pipeline *l);

/* The pins over the points of `all`, of `few`. */
struct pipe_pins pipeline_pins(const struct pipeline *l, const struct pipe_instance *in);

/* A plan over the points of `all`, and what it comes to. */
struct pipeline_plan {
    struct pipe_plan plan;
    double length_ms;                        /* L */
    double makespan_ms[PIPE_SCHEDULE_COUNT]; /* simulated */
    bool fits;                               /* every stage its devices */
    double optimum_ms;                       /* smallest L over `few`; 0: not known */
    bool certified;                          /* that one is proven */
    char found_by[32];
    uint64_t seed;
};
/* Fills in all but optimum, found_by and seed. */
void pipeline_price(const struct pipeline *l, const struct pipe_plan *plan,
                    struct pipeline_plan *out);
/* The time of its schedule: what plans of other kinds call a step. */
static inline double pipeline_step_ms(const struct pipeline *l, const struct pipeline_plan *p)
{
    return p->makespan_ms[l->options.schedule];
}
/* Memory of the fullest device, and its stage (may be NULL). */
double pipeline_memory(const struct pipeline *l, const struct pipeline_plan *p, uint32_t *stage);

/* The plan to take. From each start (over points of `all`) descent by simulated makespan, first on
 * the points of `few`, where a step is about a layer, then on all, at most PIPELINE_DESCENT_MOST
 * plans each; the shortest that fits. What L calls best is not always what runs best: L knows
 * nothing of how transfers and passes wait for each other.
 * `name` of the start goes to found_by. False: none fits. */
struct pipeline_start {
    struct pipe_plan plan;
    const char *name;
};
enum { PIPELINE_DESCENT_MOST = 2000, PIPELINE_CANDIDATES_MOST = 100000 };
bool pipeline_choose(const struct pipeline *l, const struct pipeline_start *start, uint32_t count,
                     struct pipeline_plan *out);

/* The smallest L over `few`, by dynamic programming, over all device cuts, leaving out what cannot
 * be as good as `known`, a plan over points of `few` (NULL: none), or as the instant answer's; past
 * PIPE_EXACT_TRANSITIONS_MOST it is given up, and what is known by then is not certified; and the
 * best of the paper's candidates, by trying all, up to PIPELINE_CANDIDATES_MOST. Both over points
 * of `few`. */
int pipeline_exact(const struct pipeline *l, const struct pipe_plan *known,
                   struct pipe_exact_result *out, struct err *e) MUST_CHECK;
/* What that proof is about, for people: "over cuts at 61 of 12,034 points", or "at any point". A
 * plan taken by simulation may cut elsewhere and be shorter. */
enum { PIPELINE_SCOPE_ROOM = 64 };
void pipeline_scope(const struct pipeline *l, char *out, size_t room);
/* The instant answer, by simulated makespan: closed form and descent, over points of `few`. */
bool pipeline_instant(const struct pipeline *l, struct pipe_plan *out);
bool pipeline_best_candidate(const struct pipeline *l, struct pipe_plan *out, double *length_ms);

/* From points of `few` to points of `all`. */
struct pipe_plan pipeline_refine(const struct pipeline *l, const struct pipe_plan *few);

/* Part of the forward computation before a cut of `all`. */
double pipeline_share(const struct pipeline *l, uint32_t cut);
/* "encoder/layer_003", "layers[17]" for the trip of an unrolled loop, "" where there is none: the
 * layer of the forward operation at a point, or of the last before it that has one. */
void pipeline_layer(const struct pipeline *l, uint32_t point, char *out, size_t room);

#endif
