/* engine/relaxed/iopddl.h - instances of the ASPLOS / EuroSys 2025 contest on intra-operator
 * parallelism (github.com/google/iopddl, asplos-contest/2025/IOPDDL.md): which strategy each
 * operator takes, at least cost, within memory over time.
 *
 *     {"problem": {"name", "usage_limit",
 *                  "nodes": {"intervals": [[from, to) ...], "costs": [[...] ...], "usages": ...},
 *                  "edges": {"nodes": [[a, b] ...], "costs": [[row by a, column by b ...] ...]}}}
 *
 * One item a node or edge; usage_limit may be missing. Whole numbers of 0 and more; a cost of
 * IOPDDL_FORBIDDEN and more is one that no solution may have. Keys may come in any order. */
#ifndef AUTOMAP_ENGINE_RELAXED_IOPDDL_H
#define AUTOMAP_ENGINE_RELAXED_IOPDDL_H

#include "engine/relaxed/energy.h"
#include "engine/relaxed/over_time.h"
#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <stddef.h>
#include <stdint.h>

#define IOPDDL_FORBIDDEN INT64_C(100000000000000000)
enum {
    IOPDDL_BYTES_MAX = 1 << 30,
    IOPDDL_NODES_MAX = 1 << 20,
    IOPDDL_EDGES_MAX = 1 << 22,
    IOPDDL_STRATEGIES_MAX = 1 << 12
};

struct iopddl {
    char name[64];
    bool has_limit;
    struct tables tables;
    struct energy energy;
    struct memory_lives lives; /* its arrays are those below */
    int64_t *from, *to;
    size_t *first;
    double *bytes;
    double forbidden; /* what a forbidden cost is in the energy: more than all others together */
    uint32_t given_edges;
};

/* Errors carry line and column. Equal lists of costs are kept once. O(size). */
int iopddl_parse(const char *text, size_t size, struct iopddl **out, struct err *e) MUST_CHECK;
/* The same from a file, plain or gzipped; "-" is standard input. Errors name the file. */
int iopddl_read(const char *path, struct iopddl **out, struct err *e) MUST_CHECK;
void iopddl_free(struct iopddl *p); /* NULL ok */

struct iopddl_options {
    uint64_t work; /* as in timed_solve.h */
    uint64_t seed;
    const atomic_bool *stop;
};

struct iopddl_answer {
    uint16_t *x;        /* [nodes] strategies; NULL: none found */
    double cost, bound; /* bound: -INFINITY when it was stopped before there was one */
    double peak;        /* most memory, of all points of time */
    uint32_t nodes_left, edges_left, labels_left, points; /* after contraction */
    uint64_t work;
};

/* ERR_INFEASIBLE: proven that nothing fits. May be called again. */
int iopddl_solve(struct iopddl *p, const struct iopddl_options *o, struct iopddl_answer *out,
                 struct err *e) MUST_CHECK;
void iopddl_answer_release(struct iopddl_answer *a);

#endif
