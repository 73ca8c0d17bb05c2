/* engine/hybrid/hybrid.h - searches hybrid plans for a problem: pipelines whose stages are each
 * split over a sub-mesh.
 *
 * For every number of micro-batches it makes the tables (stage_table.h) and, with the program over
 * ideal rows, a bound for all strict plans. In order of these bounds, while one can still win, it
 * finds the plan of least L and those near it (hybrid_exact.h) within the memory of eager 1F1B and
 * of 1F1B. It simulates them in every schedule that fits, and improves the shortest by small
 * changes (hybrid_descent.h). The shortest simulated plan wins. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_H

#include "engine/cost/training.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid_exact.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#include <math.h>

struct hybrid;

/* ZeRO levels looked at, where none is given. Level 1 is never longer than 0 and holds less. */
enum {
    HYBRID_ZERO_NEEDED = -1, /* 1; 2 and 3 where nothing fits */
    HYBRID_ZERO_ANY = -2     /* 1, 2 and 3: the shortest; not of algorithms that play */
};
enum { HYBRID_TRIES_MOST = HYBRID_MICRO_MOST * ZERO_LEVEL_MOST };

struct hybrid_options {
    uint32_t batch;         /* of a step; 0: the file's */
    uint32_t micro_batches; /* 0: powers of two that divide the batch, and the batch */
    uint32_t stages;        /* exactly; 0: any */
    bool is_schedule_given;
    enum pipe_schedule_kind schedule;
    enum stage_recompute recompute;
    int zero;            /* ZeRO level, or one of those above */
    double overlap;      /* 0 to 1, or OVERLAP_AUTO */
    uint32_t tp, dp;     /* of every stage; 0: any */
    uint32_t chunks;     /* 1: not interleaved; of uniform plans 2 .. exactly so many; 0: any */
    bool whole_layers;   /* see stage_options */
    bool relaxes;        /* stages are solved relaxed, of the last plans found: relaxed_stages.h */
    bool keeps_values;   /* what stages keep is chosen value by value, of the last plans found:
                            by_value.h; not with `relaxes` */
    double memory_times; /* > 1: plans may take so many times the memory there is */
    bool no_limit, half_duplex;
    bool is_uniform;       /* all stages alike: devices, axes, labels that are data and tensor
                              parallelism; 1F1B unless a schedule is given, interleaved too */
    double limit_bytes;    /* less than a device has; 0: what it has */
    bool only_interleaved; /* of uniform plans */
    bool no_bound;         /* the bound is not asked for */
    enum hybrid_algorithm algorithm;
    struct hybrid_search_options play; /* of those that play */
    const struct hybrid_wish *pins;    /* [pin_count] borrowed while the search is used */
    uint32_t pin_count;
    const atomic_bool *stop;
    /* Called on the search's thread when a shorter plan was taken, which is priced then, and when a
     * number of micro-batches was looked at; NULL: never. */
    void (*watch)(const struct hybrid *h, void *context);
    void *context;
};

/* A stage as found; names for people are in hybrid_file.h. */
struct hybrid_stage {
    struct hybrid_point point;   /* times and bytes */
    struct hybrid_point relaxed; /* the same solved relaxed: relaxed_stages.h */
    struct by_value by_value;    /* the same, what it keeps chosen value by value */
    uint32_t section, end_section, device, end_device;
    uint32_t axes, size[STAGE_AXES_MOST];
    uint32_t dp, in_flight;
    double memory_bytes, limit_bytes;
    double forward_collective_ms, backward_collective_ms; /* of the passes of a micro-batch */
    label *on;                                            /* [classes] */
};

struct hybrid_cut {
    double forward_bytes, backward_bytes, once_bytes; /* of a micro-batch; of a step */
    struct pipe_node node;                            /* ms */
};

/* The best plan with one number of micro-batches at one ZeRO level. */
struct hybrid_try {
    uint32_t micro_batches;
    uint8_t zero;
    double bound_ms; /* of plans that are not interleaved. INFINITY: nothing fits; 0: not known */
    double interleaved_bound_ms; /* of those that are; INFINITY: there are none */
    double step_ms;              /* INFINITY: none found, or left out because of its bound */
    double length_ms;
    bool is_certified; /* the bound */
};

/* How a search that plays went, and the time of every search. */
enum { HYBRID_MARKS = 10 };
extern const uint64_t hybrid_marks[HYBRID_MARKS]; /* numbers of plans: 1 10 20 50 .. */
struct hybrid_played {
    uint64_t evaluations, best_evaluation;
    double curve[HYBRID_MARKS]; /* the best step after so many plans; NAN: no plan yet */
    double table_seconds;       /* of all, for the tables and the bound */
    double seconds, best_seconds;
    bool diverged; /* the learner ended early */
};

struct hybrid {
    const struct problem *problem;
    struct hybrid_options options; /* filled in */
    struct order order;
    struct sections sections;
    struct hybrid_pins pins;
    struct hybrid_try tried[HYBRID_TRIES_MOST + 1]; /* the last is scratch */
    uint32_t tries;
    /* the plan taken */
    bool found;
    uint32_t micro_batches, stages;
    uint8_t zero;
    enum pipe_schedule_kind schedule;
    uint32_t chunks;       /* interleaved: so many stages lie on each group of devices; 1: not */
    double interleaved_ms; /* simulated, when chunks > 1 */
    struct hybrid_stage *stage; /* [stages] */
    struct hybrid_cut *cut;     /* [stages - 1] behind each */
    double relaxed_ms;  /* the step with relaxed stages (relaxed_stages.h); 0: not asked for */
    double by_value_ms; /* the step with what stages keep chosen by value (by_value.h), in that
                           schedule; 0: not asked for */
    enum pipe_schedule_kind by_value_schedule;
    double length_ms;                        /* L */
    double makespan_ms[PIPE_SCHEDULE_COUNT]; /* INFINITY: does not fit */
    double bound_ms;   /* of all strict plans that are not interleaved; where the plan taken is, of
                          interleaved ones too; 0: none */
    bool is_certified; /* the bound holds for its whole scope */
    bool is_said;      /* the two above are a file's word, which nobody checked */
    char said_scope[320]; /* what it says the bound is of */
    struct hybrid_played played;
    uint64_t transitions;
    uint32_t points;
    bool is_ended; /* stopped before all was looked at */
};

/* Searches. `p` must outlive it. ERR_INFEASIBLE: no plan fits, or (stopped) none was found; errors
 * of order_new, sections_new. */
int hybrid_new(const struct problem *p, const struct hybrid_options *o, struct hybrid *out,
               struct err *e) MUST_CHECK;
void hybrid_release(struct hybrid *h);

/* For a plan made elsewhere. hybrid_open makes an empty one; the caller sets options.batch,
 * micro_batches, schedule, chunks, zero, the limits, and each stage's sections, devices, axes,
 * labels and point.recompute; hybrid_price computes the rest. ERR_INPUT names the stage: devices or
 * axes no stage can have, labels that clash. Call hybrid_release after either, also when the second
 * fails. */
int hybrid_open(const struct problem *p, struct hybrid *out, struct err *e) MUST_CHECK;
/* With sections that begin at these positions too (sections_new). */
int hybrid_open_at(const struct problem *p, const uint32_t *cuts, uint32_t count,
                   struct hybrid *out, struct err *e) MUST_CHECK;
int hybrid_price(struct hybrid *h, struct err *e) MUST_CHECK;
/* Forgets the plan: stages and cuts. */
void hybrid_free_plan(struct hybrid *h);

/* Slots and links for the plan's own stages, no fronts. ERR_LIMIT as hybrid_instance_new. */
int hybrid_plan_instance(const struct hybrid *h, struct hybrid_instance *out,
                         struct err *e) MUST_CHECK;

/* What instances are made for. */
struct pipe_options hybrid_pipe_options(const struct hybrid_options *o, uint32_t micro_batches);

static inline double hybrid_step_ms(const struct hybrid *h)
{
    return h->chunks > 1 ? h->interleaved_ms : h->makespan_ms[h->schedule];
}

/* With strict stages that keep all or are recomputed. False: only with relaxed ones, or by value,
 * if h->relaxed_ms or h->by_value_ms says that those fit. */
static inline bool hybrid_fits(const struct hybrid *h)
{
    for (uint32_t n = 0; n < h->stages; n++) {
        if (h->stage[n].memory_bytes > h->stage[n].limit_bytes)
            return false;
    }
    return true;
}

/* Its stages run with what they keep chosen by value: that is shorter, or fits alone. */
static inline bool hybrid_is_by_value(const struct hybrid *h)
{
    return h->by_value_ms > 0 && h->by_value_ms < INFINITY &&
           (h->by_value_ms < hybrid_step_ms(h) || !hybrid_fits(h));
}

/* The step, or that of stages that keep what they keep by value, where it is shorter or the only
 * one that fits. */
static inline double hybrid_least_ms(const struct hybrid *h)
{
    double step = hybrid_step_ms(h);
    bool is_less = h->by_value_ms > 0 && (h->by_value_ms < step || !hybrid_fits(h));

    return is_less ? h->by_value_ms : step;
}

#endif
