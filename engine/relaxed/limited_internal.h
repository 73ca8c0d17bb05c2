/* engine/relaxed/limited_internal.h - shared by the files that implement limited.h. */
#ifndef AUTOMAP_ENGINE_RELAXED_LIMITED_INTERNAL_H
#define AUTOMAP_ENGINE_RELAXED_LIMITED_INTERNAL_H

#include "engine/cost/memory.h"
#include "engine/cost/memory_chain.h"
#include "engine/relaxed/copies.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/limited.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"

enum {
    SEARCH_MOST = 24, /* solves for the bound */
    AROUND_MOST = 5,  /* for plans around its prices */
    ABOVE_MOST = 8,   /* for plans at higher ones, instead, where none fits */
    WEIGH_MOST = 12,  /* of memory alone */
    SOLVES_MOST = SEARCH_MOST + ABOVE_MOST + WEIGH_MOST,
    POSITIONS_MOST = 64
};

/* A position of the schedule that was the peak of some plan. */
struct peak {
    struct memory_chain where;
    double now, best; /* ms per byte: current price; price at the highest bound */
};

/* A plan that was found. */
struct known_plan {
    uint16_t *x;   /* [nodes] labels */
    double *bytes; /* of ranges and copies, as memory_sweep leaves them */
    double ms, peak;
};

/* Prices of a value's memory, ms per byte except for the last. */
struct value_price {
    double made;         /* for its size as made, or as its uses share it, whichever is larger */
    double copied;       /* a variable's copy that its uses share */
    double second;       /* the second buffer of an all-reduce */
    double sent, begun;  /* copies.h: what a collective makes of it, and what it reads */
    double laid_out;     /* of `made`: copies in another order */
    double unreduced_ms; /* if it is not all-reduced: the copy of the variable whose gradient it
                            is */
};

struct limited_search {
    double strict_ms;   /* of the best strict plan found within the limit; 0: none */
    bool strict_proven; /* none is faster */
    struct relaxed *r;
    double limit, unit, weigh_unit; /* ms per byte: initial price; of all shares together */
    size_t tables_before;           /* cells in use before */
    struct peak peaks[POSITIONS_MOST];
    uint32_t count;
    struct known_plan known[SOLVES_MOST + 1];
    uint32_t known_count;
    bool is_priced;  /* r->pinned is changed */
    bool weighs;     /* memory alone: times are left out */
    bool proves;     /* where nothing fits, that is the answer */
    table_id *unary; /* [nodes] without prices */
    const struct energy_edge *edges;
    struct energy_edge *priced; /* [edges] with them */
    uint32_t *hub_edge; /* [values] of origins: the edge from maker to hub; UINT32_MAX: none */
    uint32_t *carried;  /* [values] free values: how many others' buffers are named after them */
    struct value_price *price;  /* [values] */
    bool *is_param, *is_output; /* [values] */
    struct copy_span *spans;    /* [values] */
    double *edge_price;         /* [edges] ms per byte of a copy for one use */
    double constant;            /* ms of bytes that no label changes */
    struct relaxed_plan best;
    uint16_t *best_x; /* [nodes] its labels */
    struct relaxed_limited *how;
};

/* Put the prices of w->peaks into the energy, and remove them. */
int limited_price_new(struct limited_search *w, struct err *e) MUST_CHECK;
int limited_price(struct limited_search *w, struct err *e) MUST_CHECK;
void limited_unprice(struct limited_search *w);
void limited_price_release(struct limited_search *w);

/* limited.c: keeps the plan of r->best if it is better: fitting beats not fitting, then the faster
 * step, or the lower peak if neither fits. *memory, *where: its peak. bytes[ranges] (may be NULL):
 * its bytes. */
int limited_offer(struct limited_search *w, double *ms, struct memory_cost *memory,
                  struct memory_chain *where, double *bytes, struct err *e) MUST_CHECK;

/* limited.c: the position, with a price of 0 if it is new; NULL: there are too many. */
bool limited_has_room(const struct limited_search *w); /* for more tables */
struct peak *limited_peak_at(struct limited_search *w, const struct memory_chain *where);

/* limited_between.c: plans between the best, which fits, and the labels x. Parts in which the two
 * differ and that no edge joins can change independently: time and memory are sums over them. Each
 * part has a scale of the current prices at which it changes, so the scales order the plans from
 * least memory to least time, and bisection finds the fastest that fits. Offers O(log(parts))
 * plans; overwrites r->best. */
int limited_try_between(struct limited_search *w, const uint16_t *x, struct err *e) MUST_CHECK;

/* limited_trees.c: plans near the known ones of least energy at the best prices, by moves of trees
 * (tree_search.h). Offers the best; overwrites r->best and the prices in the energy. */
int limited_walk_trees(struct limited_search *w, struct err *e) MUST_CHECK;

#endif
