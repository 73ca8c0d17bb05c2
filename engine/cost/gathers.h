/* engine/cost/gathers.h - the all-gathers before an instruction that the partitioner runs whole.
 *
 * Each split operand is gathered on every device, dim by dim from the last on, as XLA's partitioner
 * does (PartitionedHlo::Replicate); a value once for all such instructions (classes->is_gathered).
 * Results are sliced locally. O(leaves x dims). */
#ifndef AUTOMAP_ENGINE_COST_GATHERS_H
#define AUTOMAP_ENGINE_COST_GATHERS_H

#include "engine/cost/step_tables.h"
#include "hlo/module/hlo.h"

/* Writes those of instruction `id`, for which classes->runs_whole holds, and returns their
 * number. */
uint32_t gathers_of(const struct step_tables *t, hlo_id id, const label *on,
                    struct reduction out[static TERM_CLASSES_MOST]);

#endif
