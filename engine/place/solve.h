/* engine/place/solve.h - a placement question and the algorithms that answer it. */
#ifndef AUTOMAP_ENGINE_PLACE_SOLVE_H
#define AUTOMAP_ENGINE_PLACE_SOLVE_H

#include "engine/place/contiguous.h"
#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"

struct place_job {
    struct place_rules rules;
    bool latency;    /* time of one sample; else time per sample of a stream */
    bool any_sets;   /* else contiguous */
    uint32_t pieces; /* latency: of one accelerator; 0: 1 */
    uint64_t seed;
    uint64_t moves;   /* of searches; 0: their defaults */
    double target_ms; /* > 0: the fewest accelerators that reach it (contiguous throughput) */
    struct place_limits limits;
    uint64_t looks;            /* pairs of ideals considered; 0: as place_asking */
    struct place_tally *tally; /* plans priced by random, local, anneal, dqn; NULL: not counted */
    void (*better)(void *context, const struct placement *p);
    void *context;
    const atomic_bool *stop;
};

/* Limits that place a model's operators within seconds; past them the plan comes with a bound. */
void place_job_of_model(struct place_job *job);

struct place_algorithm {
    const char *name, *what;
    bool counts;            /* it prices plan after plan, counted in job->tally */
    const char *no_latency; /* why it answers throughput alone; NULL: it answers both */
};
extern const struct place_algorithm place_algorithms[]; /* ends with name NULL; the first is best */

/* By an algorithm of that list: "exact" is the program over ideals for contiguous plans; for any
 * sets and for latency the search that begins with it. Fills algo and seconds. ERR_USAGE: the
 * algorithm does not answer this; ERR_INFEASIBLE: see place_needs. */
int place_solve(const struct place_graph *g, const struct place_job *job, const char *algorithm,
                struct placement **out, struct err *e) MUST_CHECK;

/* Does the plan answer the question: within memory, kinds and pins, and contiguous where that is
 * asked? Opponents do not all look at everything. Sets `contiguous` and the stages of a plan of a
 * stream whose devices are a chain. O(nodes + edges + devices^2). */
int place_answers(const struct place_graph *g, const struct place_job *job, struct placement *p,
                  bool *answers, struct err *e) MUST_CHECK;

/* What would be enough where nothing fits, for contiguous plans, which answer the other questions
 * too: the least that a short search finds, or with job->looks the least along a few orders. That
 * none was found says nothing about other plans. */
struct place_needs {
    bool fits;     /* another search finds a plan of the very question; then no number is filled */
    bool by_exact; /* then: the exact search does; dpl does not */
    double memory_bytes;   /* of each accelerator, as many as there are; INFINITY: with none a plan
                              was found */
    uint32_t accelerators; /* of the first kind, with the memory there is; 0: with none was one */
};
int place_find_needs(const struct place_graph *g, const struct place_job *job,
                     struct place_needs *out, struct err *e) MUST_CHECK;

#endif
