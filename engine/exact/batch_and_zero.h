/* engine/exact/batch_and_zero.h - micro-batches and ZeRO level as choices: the best strict plan
 * over all of them within a memory limit, or what it would take.
 *
 * Numbers of micro-batches: the divisors of the batch, ascending; levels 0 to 3. Each pair is first
 * solved without the limit, which gives a bound that rules out losers, then within it with little
 * work; the best gets more work. Ties go to fewer micro-batches, then to the lower level. */
#ifndef AUTOMAP_ENGINE_EXACT_BATCH_AND_ZERO_H
#define AUTOMAP_ENGINE_EXACT_BATCH_AND_ZERO_H

#include "engine/cost/training.h"
#include "engine/decide/strict.h"
#include "engine/exact/limit.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

enum { BATCH_AND_ZERO_MOST = 256 };

/* What is known of a pair whatever the limit. */
struct batch_and_zero_pair {
    struct batch_and_zero of;
    double free_ms;     /* a step's without a limit; INFINITY: the fixed decisions cannot hold */
    double least_bound; /* no plan needs less, bytes; 0: not known */
    double least_peak;  /* of the plan that came nearest to it */
};

/* What is known of pairs from the same choice within a smaller limit, and a plan that fits in any
 * larger one too. */
struct batch_and_zero_known {
    struct batch_and_zero_pair pairs[BATCH_AND_ZERO_MOST];
    uint32_t count;
    double best_ms; /* 0: none */
};

struct batch_and_zero_options {
    double limit;           /* bytes of one device; INFINITY: none */
    bool variables, inputs; /* as in exact_options */
    uint32_t micro_batches; /* 0: automap chooses */
    int zero;               /* -1: automap chooses */
    /* Applies the fixed decisions to an empty state of the problem as it is priced now; NULL: none.
     * ERR_INFEASIBLE: impossible with this number of micro-batches. */
    int (*fix)(void *context, const struct problem *p, struct strict *s, struct err *e);
    void *context;
    struct batch_and_zero_known *known; /* used and added to; NULL: nothing is known. What is
                                           slower than known->best_ms is not looked for */
    bool is_rough; /* a fifth of the work of a first look at each pair is enough */
};

struct batch_and_zero_try {
    struct batch_and_zero batching;
    bool fits, proven;        /* as in limit_result */
    bool is_skipped;          /* cannot beat the best, by its bound */
    double value, bound;      /* ms; value only where it fits */
    double peak, least_bound; /* bytes: of the plan, or of the one that needs least */
};

struct batch_and_zero_result {
    bool fits, proven;        /* proven: no allowed pair has a better plan; or none has any plan */
    struct limit_result plan; /* the best that fits, else that of least memory over the allowed
                                 pairs; on NULL: what is known says that there is nothing to find */
    struct batch_and_zero batching; /* its pair, under which the problem is priced on return */
    double bound;                   /* ms, over all allowed pairs */
    double least_bound; /* not fits: no plan of any allowed pair needs less, bytes; 0: not known */
    uint32_t needs_micro_batches; /* not fits: the least number with which some plan fits at the
                                     allowed levels; 0: none */
    uint32_t work;                /* eliminations within the limit, of all pairs */
    struct batch_and_zero_try tries[BATCH_AND_ZERO_MOST];
    uint32_t count;
};

/* Reprices `p` for each pair. Fails on errors other than clashes of the fixed decisions, and then
 * restores the batching. */
int exact_batch_and_zero(struct problem *p, const struct batch_and_zero_options *o,
                         struct batch_and_zero_result *out, struct err *e) MUST_CHECK;
/* Writes the possible numbers of micro-batches, ascending; returns how many. */
uint32_t batch_and_zero_numbers(const struct problem *p, uint32_t *out, uint32_t room);

void batch_and_zero_release(struct batch_and_zero_result *r);

#endif
