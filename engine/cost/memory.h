/* engine/cost/memory.h - memory of one device: live ranges over a stated schedule, local sizes.
 *
 * The schedule is the module's order, or a list scheduler's (schedule.h) where that needs less than two
 * thirds of the temporaries unsplit. A stored value (fusion.h) lives from its instruction to its last use, where a use by a fused value counts as the
 * uses of that value. Arguments live all the time; an output that takes an argument's place
 * (input-output alias) takes no other; an element-wise result takes the place of an operand that ends
 * there: the operand then ends one position earlier. A loop's or branch's own peak is added while it
 * runs. Sizes are local: bytes x shares of the classes of the dims. So what is live at a position is a
 * sum over ranges, whatever the plan: a memory limit is a linear constraint per position.
 * Checked against XLA: engine/README.md. Built once per module; a plan is then O(stored values). */
#ifndef AUTOMAP_ENGINE_COST_MEMORY_H
#define AUTOMAP_ENGINE_COST_MEMORY_H

#include "engine/cost/schedule.h"
#include "engine/decide/labels.h"
#include "hlo/roles.h"

enum memory_kind {
    MEMORY_PARAMETERS, /* trainable variables and other state that is carried over */
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,
    MEMORY_INPUTS,
    MEMORY_ACTIVATIONS, /* all that lives within the step and is no gradient */
    MEMORY_KIND_COUNT
};
extern const char *const memory_kind_names[MEMORY_KIND_COUNT];

/* One stored value in its computation's schedule. Positions of a computation are its ids' range. */
struct memory_range {
    hlo_value value;
    uint32_t start, end; /* positions in the schedule: made at, needed until */
    uint8_t kind;
    bool is_argument;    /* of the entry: lives all the time */
};

struct memory_model {
    const struct hlo_module *m;
    const struct classes *classes;
    struct schedule schedule;
    struct memory_range *ranges; /* by computation, then start */
    uint32_t count;
    uint32_t *first;             /* [computations + 1] into ranges */
    uint32_t *by_end;            /* [count] ranges of each computation by end */
};

int memory_new(const struct classes *c, const struct fusion *f, const struct hlo_roles *roles,
               struct memory_model *out, struct err *e) MUST_CHECK;
void memory_release(struct memory_model *m);

struct memory_cost {
    double bytes[MEMORY_KIND_COUNT]; /* at the peak; arguments all, the rest what is live then */
    double arguments, outputs;       /* local sums over entry parameters; over all leaves of the root */
    double temporaries;              /* peak - arguments */
    double peak;
    hlo_id at;                       /* entry instruction at the peak */
    uint32_t position;               /* its position in the schedule */
};
/* Of an assignment: on[class]. `scratch` from memory_scratch; one per thread. */
struct memory_cost memory_of(const struct memory_model *m, const struct labels *l, const label *on, double *scratch);
double *memory_scratch(const struct memory_model *m); /* NULL out of memory; free() it */

double memory_local_bytes(const struct memory_model *m, const struct labels *l, const label *on, hlo_value v);

/* The course of it over the entry: live bytes of each kind while each instruction runs, [entry count]
 * rows of MEMORY_KIND_COUNT; row n is of instruction schedule.order[entry first + n]. */
void memory_timeline(const struct memory_model *m, const struct labels *l, const label *on, double *scratch,
                     double (*rows)[MEMORY_KIND_COUNT]);
/* The largest values live while entry instruction `at` runs: up to `room`, largest first. Returns how many. */
struct memory_top {
    hlo_value value;
    double bytes;
    uint8_t kind;
};
uint32_t memory_tops(const struct memory_model *m, const struct labels *l, const label *on, hlo_id at,
                     struct memory_top *out, uint32_t room);

#endif
