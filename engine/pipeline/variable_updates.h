/* engine/pipeline/variable_updates.h - which instructions of a step's update are whose.
 *
 * A stage updates the variables it has, so what the update takes is asked variable by variable. An
 * instruction that runs once a step (training.is_once) belongs to the variable that its largest
 * operand belongs to: parameters and state to theirs, a gradient to its variable, a result to what
 * makes it (the norm of a gradient to that gradient's variable). What is inside a loop or fusion
 * and has no such operand belongs to its caller's variable, and what has none at all - a counter -
 * to the first variable, so that nothing is lost. */
#ifndef AUTOMAP_ENGINE_PIPELINE_VARIABLE_UPDATES_H
#define AUTOMAP_ENGINE_PIPELINE_VARIABLE_UPDATES_H

#include "engine/cluster/cluster.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct variable_updates {
    uint32_t *base; /* [roles.param_count + 1] into op */
    hlo_id *op;     /* those that cost something, ascending for each variable */
};

/* ERR_MEMORY. O(instructions + operands). */
int variable_updates_new(const struct problem *p, struct variable_updates *out,
                         struct err *e) MUST_CHECK;
void variable_updates_release(struct variable_updates *u);

/* Milliseconds of the whole variable's update on one device that has all of it. O(its
 * instructions). */
double variable_updates_ms(const struct variable_updates *u, const struct problem *p,
                           uint32_t param, const struct cluster_device *d);

#endif
