/* engine/exact/eliminate.h - minimises sums of small tables over nodes with few choices, exactly.
 *
 * Bucket elimination (Dechter 1999), with conditioning where a joint table would be too large;
 * exact.h and limit.h build on it. Private to engine/exact. */
#ifndef AUTOMAP_ENGINE_EXACT_ELIMINATE_H
#define AUTOMAP_ENGINE_EXACT_ELIMINATE_H

#include "engine/cluster/mesh.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "hlo/support/err.h"

/* A function of a few nodes: value[i], i = sum over its nodes n of choice(n) x stride(n), first
 * node fastest. Nodes ascending. */
struct solver_table {
    uint32_t *nodes, count;
    double *value;
    size_t size;
};

/* A class with more than one label to choose from. */
struct node {
    class_id class;
    label labels[MESH_SETS_MOST];
    uint32_t domain;
};

struct solver {
    const struct step_tables *t;
    const struct exact_options *o;
    struct err *e;
    struct node *nodes;
    uint32_t node_count;
    uint32_t *node_of;           /* [classes], CLASS_NONE: fixed */
    label *fixed;                /* [classes] label of classes that are not nodes */
    struct solver_table *tables; /* those given, then joint ones while eliminating */
    size_t table_count, table_room;
    size_t table_most;   /* entries of a joint table */
    uint64_t nodes_most; /* cases of conditioning */
    double constant;
    uint32_t width;
};

enum { NOT_FIXED = UINT32_MAX };

/* Builds nodes and tables for the step time without the excess of overlap (or for the reward), and
 * tables that forbid clashes. `fixed` NULL: nothing is decided. */
int solver_new(const struct step_tables *t, const struct strict *fixed,
               const struct exact_options *o, struct solver *out, struct err *e) MUST_CHECK;
void solver_release(struct solver *s);

/* A zeroed table over ascending nodes. ERR_LIMIT: more entries than table_most; ERR_MEMORY. */
int solver_table_new(const struct solver *s, const uint32_t *nodes, uint32_t count,
                     struct solver_table *out) MUST_CHECK;
void solver_table_release(struct solver_table *f);
int solver_push_table(struct solver *s,
                      struct solver_table *f) MUST_CHECK; /* taken over, also on error */
/* Steps `choice` (one entry per node) to the next combination; false after the last. */
bool solver_next_choice(const struct solver *s, const uint32_t *nodes, uint32_t count,
                        uint32_t *choice);

/* The least sum of all tables with fixed[node] held (NOT_FIXED: free). choice [nodes] is a minimum,
 * or the best found; no choice is below `bound`. INFINITY: no choice is possible. */
struct solver_answer {
    double value, bound;
    uint64_t cases;
};
int solver_minimise(struct solver *s, const uint32_t *fixed, uint32_t *choice,
                    struct solver_answer *out) MUST_CHECK;

#endif
