/* engine/compare/best_strict.h - the plan without stages that stands for its kind when kinds are
 * compared: operators split, data parallel, or both. */
#ifndef AUTOMAP_ENGINE_COMPARE_BEST_STRICT_H
#define AUTOMAP_ENGINE_COMPARE_BEST_STRICT_H

#include "engine/compare/compare.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#include <stdatomic.h>
#include <stdbool.h>

/* What every kind keeps to. */
struct strict_rules {
    const struct problem *problem; /* at the global batch */
    struct problem *own;           /* the same, where another batch was asked for; else NULL */
    double limit;                  /* bytes of a device; INFINITY: none */
    bool batching_given;           /* micro-batches and ZeRO are the problem's: not to be chosen */
    const atomic_bool *stop;       /* once set, the best so far; NULL: never */
};

/* Batch and memory limit are those of `o`. ERR_INPUT: the batch cannot be had. Free with
 * strict_rules_release, also after an error. */
int strict_rules_new(const struct problem *p, const struct pipeline_options *o,
                     struct strict_rules *out, struct err *e) MUST_CHECK;
void strict_rules_release(struct strict_rules *r);

/* The best of c->kind, as compare.h says, on the problem's mesh and on servers x devices; the rest
 * of `c` is filled (contender_release) but for `why`. `found`: a search's plan of variables and
 * inputs, taken for COMPARE_BOTH if it is faster; may be NULL. */
int best_strict(const struct strict_rules *rules, const struct plan *found, struct contender *c,
                struct err *e) MUST_CHECK;

/* Whether a plan like that takes its place: one that fits before one that does not, then the
 * shorter. */
bool contender_loses_to(const struct contender *c, bool fits, double step_ms);

#endif
