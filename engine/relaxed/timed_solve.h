/* engine/relaxed/timed_solve.h - the labels of least energy that stay within a limit of memory over
 * time, with a bound: prices (price_ascent.h), rounding, repair, and search by trees.
 *
 * Work is counted in cells of tables, not in seconds: the same seed and work give the same answer
 * on every machine, however busy. */
#ifndef AUTOMAP_ENGINE_RELAXED_TIMED_SOLVE_H
#define AUTOMAP_ENGINE_RELAXED_TIMED_SOLVE_H

#include "engine/relaxed/contract.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/over_time.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

struct timed_options {
    uint64_t work; /* cells */
    uint64_t seed;
    double forbidden;        /* labellings of this energy and more are none; INFINITY: all are */
    const atomic_bool *stop; /* NULL: never */
};

struct timed_result {
    uint16_t *x;   /* [nodes] of what is left; NULL: nothing that fits was found */
    double energy; /* of x */
    double bound;  /* no labelling within the limit has less */
    uint64_t work; /* spent */
};

/* Adds to the tables of `g`. Ends early where the bound is reached. ERR_INFEASIBLE: at some point
 * no labelling fits. out->x is the caller's. */
int timed_solve(struct energy *g, const struct over_time *m, const struct timed_options *o,
                struct timed_result *out, struct err *e) MUST_CHECK;
void timed_result_release(struct timed_result *r);

#endif
