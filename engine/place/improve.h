/* engine/place/improve.h - the questions that better the best chain over one family of ideals.
 *
 * Passes together: one question. A target: the fewest accelerators. Passes apart: along the front
 * of (forward, backward) maxima, from the least backward load on; forward loads fall, backward
 * loads rise, and it ends where even the least forward load cannot win. Who answers a question, a
 * program over devices or one over servers, is the caller's choice. */
#ifndef AUTOMAP_ENGINE_PLACE_IMPROVE_H
#define AUTOMAP_ENGINE_PLACE_IMPROVE_H

#include "engine/place/chain_program.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"

struct place_improving {
    const struct place_graph *graph;
    const struct place_rules *rules;
    double target_ms;                /* > 0: the fewest accelerators that reach it */
    struct place_chain *const *best; /* so far; NULL: none */
    const double *value_ms;          /* of it, INFINITY without one */
    const bool *limited;             /* a question was given up */
    /* Answers one question; it sets how many pairs that may take. */
    int (*ask)(void *context, struct place_question *q, struct place_chain **out, struct err *e);
    /* Takes over a better chain: best and value_ms follow. */
    int (*take)(void *context, struct place_chain *c, double value, struct err *e);
    void *context;
};

/* Errors are those of ask and take. */
int place_improve(const struct place_improving *i, struct err *e) MUST_CHECK;

#endif
