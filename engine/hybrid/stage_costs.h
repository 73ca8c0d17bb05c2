/* engine/hybrid/stage_costs.h - what operations and values of a stage cost on
 * one shape, and bills: those costs added up as functions of the labels of a
 * few classes. Private to engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_STAGE_COSTS_H
#define AUTOMAP_ENGINE_HYBRID_STAGE_COSTS_H

#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_rows.h"
#include "engine/hybrid/stage_table.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/slots.h"

enum { BILL_CLASSES_MOST = SECTION_CLASSES_MOST };

/* Figures as a function of who owns each axis, of a few classes: entry = sum
 * over axes x of owner(x) (count + 1)^x, owner 0 nobody (step_tables.h). */
struct bill {
    uint32_t classes, count; /* into pool */
    uint32_t table;          /* into figures, [entries][ROW_FIGURES] */
    uint32_t entries;
    uint32_t part; /* local classes that hang together it has; UINT32_MAX: none */
};

/* What stages cost on one shape under the labels in `on`. */
struct stage_costs {
    const struct sections *s;
    const struct problem *p;
    const struct stage_options *o;
    const struct stage_shape *shape;
    struct err *e;
    struct labels labels;
    struct step_tables tables;
    struct overlap overlap;
    label *on;    /* [classes] */
    label *alone; /* [classes] scratch, all whole between uses: those of one variable */
    /* bills */
    struct bill *bills;
    class_id *pool;
    double *figures;
    size_t bill_count, bill_room, pool_count, pool_room, figure_count, figure_room;
    /* costs of operations, and of updates, that cost alike */
    struct pattern *patterns;
    struct slots slots; /* of patterns, by hash */
    double *costs_of;
    size_t pattern_count, pattern_room, cost_count, cost_room;
};

/* Everything whole. `t` and `shape` must outlive it. ERR_MEMORY. */
int stage_costs_new(const struct stage_tables *t, const struct stage_shape *shape,
                    struct stage_costs *out, struct err *e) MUST_CHECK;
void stage_costs_release(struct stage_costs *k);

/* Milliseconds of one operation: in its pass, and the part of that which collectives take; of
 * reductions that wait for the last. By k->on. */
enum { COST_IN_PASS, COST_COLLECTIVE, COST_AT_END, COSTS };
void stage_costs_operation(const struct stage_costs *k, uint32_t op, double out[static COSTS]);
/* It runs once more before the backward pass, which the module leaves out. */
static inline bool stage_costs_runs_again(const struct stage_costs *k, uint32_t op)
{
    return k->o->whole_layers && k->s->is_left_out[op];
}
/* Adds the operation's costs to the figures, its pass among them; `again`: once more in the
 * backward pass. */
void stage_costs_add(const struct stage_costs *k, uint32_t op, const double cost[static COSTS],
                     double *to);
/* What a value adds to the figures. */
void stage_costs_value(const struct stage_costs *k, const struct section_value *v, double *to);
struct row_rates stage_costs_rates(const struct stage_costs *k);

/* Adds an operation, a value to the bills from `first` on. False: no memory. */
bool bill_add_operation(struct stage_costs *k, size_t first, uint32_t op);
bool bill_add_value(struct stage_costs *k, size_t first, const struct section_value *v);
/* The figures of a bill under k->on. */
const double *bill_at(const struct stage_costs *k, const struct bill *t);

#endif
