/* engine/place/anneal.h - plans of any sets, searched by moving positions, from a given plan on.
 *
 * Annealing (Kirkpatrick et al. 1983) on the p-norm of the loads, with p growing as it cools;
 * breaking memory, kinds or pins costs a penalty. A move takes a position, or now and then all pins
 * of a net on one device, to a neighbour's device or to any other. Rounds start from the given
 * plan, from the best so far, and from a random plan. The result is never worse than the given
 * plan. */
#ifndef AUTOMAP_ENGINE_PLACE_ANNEAL_H
#define AUTOMAP_ENGINE_PLACE_ANNEAL_H

#include "engine/place/contiguous.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"

enum { PLACE_ANNEAL_MOVES = 12000000 };

struct place_annealing {
    struct place_rules rules;
    uint64_t moves;  /* of all rounds; 0: PLACE_ANNEAL_MOVES */
    uint32_t rounds; /* 0: 8 */
    uint64_t seed;
    const struct placement *start; /* NULL: random */
    struct place_tally *tally;     /* every move is a plan priced; NULL: not counted */
    void (*better)(void *context, const struct placement *p);
    void *context;
    const atomic_bool *stop;
};

/* ERR_INFEASIBLE: it met no plan that keeps memory, kinds and pins. The bound is place_work_bound.
 */
int place_anneal(const struct place_graph *g, const struct place_annealing *a,
                 struct placement **out, struct err *e) MUST_CHECK;

#endif
