/* engine/compare/fewer.h - whether fewer devices would be faster.
 *
 * A step on unequal devices waits for the slowest, and one across servers for their network, so
 * leaving devices idle can be faster. Looked at are all subsets of up to FEWER_GROUPS_MOST groups
 * of servers (of more groups: the fastest, the two fastest, ..), the faster groups with 1, 2, 4, ..
 * servers of the next, and 1, 2, 4, .. devices of one server of each group. Each is judged by the
 * strict optimum within its memory, on one axis, on servers x devices, and for one server on halves
 * if the problem's mesh has several axes. Where the optimum without a limit does not fit and is no
 * shorter than the step there is already, none within the limit is, and it is not looked for. The
 * FEWER_CLOSER best of these also by relaxed plans and by pipelines, where asked for: in the order
 * of the strict steps, those without a limit where none within it was looked for; behind them the
 * ones with the most arithmetic, since a pipeline may fit where no strict plan does. */
#ifndef AUTOMAP_ENGINE_COMPARE_FEWER_H
#define AUTOMAP_ENGINE_COMPARE_FEWER_H

#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <stdbool.h>
#include <stdint.h>

enum { FEWER_MOST = 128, FEWER_GROUPS_MOST = 4, FEWER_CLOSER = 3 };

struct fewer_question {
    double step_ms;         /* of the plan on all devices */
    bool does_not_fit;      /* that one, in their memory */
    double limit_bytes;     /* of a device; 0: what the problem's devices have, less the margin;
                               INFINITY: none */
    bool variables, inputs; /* what strict plans split */
    bool relaxed;           /* look at plans that reshard too */
    const struct pipeline_options *pipeline; /* and at pipelines like these; NULL: at none */
    const atomic_bool *stop;                 /* once set, the best so far; NULL: the problem's */
};

enum fewer_kind { FEWER_STRICT, FEWER_RELAXED, FEWER_PIPELINE, FEWER_KIND_COUNT };
extern const char *const fewer_names[FEWER_KIND_COUNT]; /* "strict", "relaxed", "pipeline" */

struct fewer {
    bool found;           /* one is faster by more than 1 % */
    enum fewer_kind kind; /* of its plan */
    bool proven;          /* strict: no strict plan on these devices and this mesh, within the
                             memory limit, is faster */
    double step_ms;
    uint32_t devices, of; /* that it uses, of how many */
    char servers[512];    /* in the form of --servers */
    char mesh[32];        /* "": of a pipeline, which needs none */
};

/* Looks for devices to leave out so that the step is below q->step_ms. Where the plan on all
 * devices does not fit, only those are looked at whose smallest memory is larger. Nothing is found
 * for pipelines of another batch than the problem's: strict plans are of that one. Once stopped it
 * returns the best so far. At most 3 FEWER_MOST calls of problem_set_cluster, exact_strict
 * and exact_limited, and FEWER_CLOSER of each other kind. */
int fewer_devices(const struct problem *p, const struct fewer_question *q, struct fewer *out,
                  struct err *e) MUST_CHECK;

/* "13.7 ms on 8 of the 16 devices: --servers 0 --mesh 8", with the kind where it is not strict. */
void fewer_write(const struct fewer *f, struct str *out);

#endif
