/* engine/relaxed/relaxed_internal.h - shared by relaxed.c and read_plan.c. */
#ifndef AUTOMAP_ENGINE_RELAXED_RELAXED_INTERNAL_H
#define AUTOMAP_ENGINE_RELAXED_RELAXED_INTERNAL_H

#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/fold_energy.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/trws.h"
#include "hlo/support/err.h"

/* What is being solved: the whole energy, or the folded one. */
struct stage {
    bool is_folded;
    struct folded_energy folded; /* of the pinned energy */
    struct reduction_of_energy reduced;
    struct trws trws;
    uint16_t *left;     /* [reduced.left.nodes] labels, scratch */
    uint16_t *coloured; /* [colours] labels, scratch */
};

struct relaxed {
    const struct problem *p;
    const atomic_bool *stop;
    struct relaxed_options options;
    struct model model;
    struct energy
        pinned; /* the model's energy with pins in its unary costs; edges: the model's or own */
    struct energy_edge *own_edges; /* NULL: nothing is forbidden */
    bool is_folded;                /* the answer treats equal layers alike */
    struct stage tied, whole;
    uint16_t *best, *trial; /* [nodes] labels */
    double best_ms;
    uint16_t *strict_x; /* [nodes] labels of the strict optimum under the pins */
    bool has_strict;    /* it can be expressed in labels */
    double strict_ms;   /* 0: no strict plan keeps the pins */
    bool strict_proven;
    uint32_t *out_first, *out_edges; /* edges by their a end: [nodes + 1], [edges] */
    uint32_t *reached;               /* [nodes] states of loops that a pin reaches; scratch */
    uint64_t *reached_by; /* [nodes] number of the pin that reached it last, of pins so far */
    uint64_t pins_made;
    struct strict fixed;   /* the pins as far as strict mode can keep them */
    bool is_beyond_strict; /* strict mode cannot keep them all */
    bool is_ready;         /* stages belong to the current pins */
    bool has_best;         /* best comes from an earlier solve */
};

/* The stage whose bound counts. */
static inline struct stage *relaxed_stage(struct relaxed *r)
{
    return r->is_folded ? &r->tied : &r->whole;
}

/* pinned_costs.c: the model's unary costs with the pins in them. */
int relaxed_index_edges(struct relaxed *r, struct err *e) MUST_CHECK;

/* Makes what is pinned, held and forbidden in `from` so in `r`, which is new and differs in its
 * weight of the excess alone. */
int relaxed_take_pins(struct relaxed *r, const struct relaxed *from, struct err *e) MUST_CHECK;

/* Minimises r->pinned unfolded, after a solve and with changed costs; leaves the labels in r->best.
 * r->whole.trws.bound is a bound on that energy. */
int relaxed_minimise(struct relaxed *r, uint32_t sweeps, struct err *e) MUST_CHECK;

/* improve_by_axis.c: lowers the energy of stage->left, axis by axis; does nothing with one axis. */
int relaxed_improve_by_axis(struct relaxed *r, struct stage *stage, struct err *e) MUST_CHECK;

/* Fills the plan from the best labels; `out` already holds the search's figures. */
int relaxed_extract(struct relaxed *r, struct relaxed_plan *out, struct err *e) MUST_CHECK;

#endif
