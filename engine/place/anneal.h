/* engine/place/anneal.h - plans of any sets: a search by moves of positions, from a plan at hand.
 *
 * Annealing (Kirkpatrick et al. 1983) on the p-norm of the loads, with p growing as it cools; what
 * breaks memory, kinds or pins is a penalty. A move takes a position, now and then all of a net's
 * pins on its device, to the device of a neighbour or to any. Rounds start from the plan at hand,
 * from the best, and from a random plan. Never worse than the plan it began with. */
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

/* ERR_INFEASIBLE when no plan was met that keeps memory, kinds and pins. Bound: the work shared
 * out. */
int place_anneal(const struct place_graph *g, const struct place_annealing *a,
                 struct placement **out, struct err *e) MUST_CHECK;

#endif
