/* engine/exact/limit_search.h - the state that the parts of limit.c share: plans (limit_plans.c),
 * multipliers (limit_price.c), branch and bound (limit_branch.c). Private to engine/exact. */
#ifndef AUTOMAP_ENGINE_EXACT_LIMIT_SEARCH_H
#define AUTOMAP_ENGINE_EXACT_LIMIT_SEARCH_H

#include "engine/exact/limit.h"
#include "engine/exact/limit_model.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

/* A relative difference that counts as zero. */
#define LIMIT_NEAR 1e-9

enum { LIMIT_MOMENTS_MOST = 64 };

struct limit_search {
    struct limit_model l;
    double limit, beat_ms;
    uint32_t work, work_most; /* eliminations */
    uint32_t looks;           /* at whole plans, while the best one is improved */
    const atomic_bool *stop;
    uint32_t *choice, *trial; /* [nodes] scratch */
    double *weight;           /* [units] price x how often live, while branching */
    bool seeks_least;
    uint32_t *best; /* [nodes] best within the limit */
    double best_ms;
    uint32_t *least; /* [nodes] least memory */
    double least_bytes;
    double price[LIMIT_MOMENTS_MOST]; /* best multipliers on time + memory: ms a byte */
    double bound;                     /* what they prove, ms */
    double excess;                    /* the weight of the excess of overlap with which they do */
    double share[LIMIT_MOMENTS_MOST]; /* best multipliers on memory alone; they sum to 1 */
    double least_bound;               /* what they prove, bytes */
    struct err *e;
};

/* No plan within the limit is as fast as the one to beat. */
static inline bool limit_is_beaten(const struct limit_search *s)
{
    return s->beat_ms > 0 && s->bound > s->beat_ms * (1 + LIMIT_NEAR);
}

/* A look at a whole plan takes about as long as the sixteenth part of an elimination. Pairs of
 * changes are as many as the square of the classes: improving may take as long as the rest. */
enum { LIMIT_LOOKS_A_WORK = 16 };
static inline bool limit_is_out_of_looks(const struct limit_search *s)
{
    return s->looks / LIMIT_LOOKS_A_WORK >= s->work_most || stop_asked(s->stop);
}

static inline bool limit_is_out_of_work(const struct limit_search *s)
{
    return s->work >= s->work_most || stop_asked(s->stop) || limit_is_beaten(s);
}

/* ---- limit_plans.c ---- */

/* Finds the peak of a complete choice, and keeps the choice if it is the best of its kind. *moment:
 * where the peak is. */
int limit_consider(struct limit_search *s, const uint32_t *choice, double *peak,
                   uint32_t *moment) MUST_CHECK;
/* Frees memory change by change until the choice fits or no change frees any. `with_time` false:
 * frees as much memory as possible. */
int limit_repair(struct limit_search *s, uint32_t *choice, bool with_time) MUST_CHECK;
/* Applies changes and pairs of changes that make the best plan faster, until there are none. */
int limit_improve(struct limit_search *s) MUST_CHECK;

/* ---- limit_price.c ---- */

/* One point of the dual: the minimum of time + price x (memory - limit) over what `fixed` leaves
 * open. */
struct limit_point {
    double value, bound;              /* of that sum; bound: proven */
    double slope[LIMIT_MOMENTS_MOST]; /* memory - limit at each moment known beforehand */
    double peak;
    uint32_t moment; /* of the peak */
};

/* scale x time + sum of price x (memory - limit, or memory where scale is 0) at its minimum;
 * s->choice receives the choice there, after limit_consider. */
int limit_evaluate(struct limit_search *s, double scale, const double *price, const uint32_t *fixed,
                   struct limit_point *out) MUST_CHECK;
/* Finds multipliers on time and memory, and repairs plans on the way: s->bound, s->price,
 * s->best. */
int limit_price_memory(struct limit_search *s) MUST_CHECK;
/* Where communication overlaps and the best plan has an excess: finds the weight of the excess that
 * proves most, and multipliers with it. */
int limit_price_excess(struct limit_search *s) MUST_CHECK;
/* Finds multipliers on memory alone: s->least_bound, s->share, s->least. */
int limit_weigh_memory(struct limit_search *s) MUST_CHECK;

/* ---- limit_branch.c ---- */

/* Best bound first. s->bound becomes the bound of the whole tree; INFINITY: no plan fits. */
int limit_branch_and_bound(struct limit_search *s) MUST_CHECK;

#endif
