/* engine/plan/export_differences.h - warns where XLA's partitioner may insert other collectives
 * than the plan has, by name of the instruction, before anybody finds out on a cluster. Measured by
 * tests/script/xla_zoo.py. Differences covered by decide/partitioner.h are in the plan already. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_DIFFERENCES_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_DIFFERENCES_H

#include "engine/plan/plan.h"
#include "hlo/support/mem.h"

/* A line for each kind of difference, with the first instruction and how many more. Appended.
 * O(instructions x factors). */
void export_differences(const struct plan *plan, struct str *out);

#endif
