/* engine/cost/gathers.h - the all-gathers before an instruction that the partitioner runs whole.
 *
 * Each split operand is made whole on every device, dim by dim from the last on, as XLA's
 * partitioner does (PartitionedHlo::Replicate); a value once for all such instructions
 * (classes->is_gathered). Results are cut off locally. O(leaves x dims). */
#ifndef AUTOMAP_ENGINE_COST_GATHERS_H
#define AUTOMAP_ENGINE_COST_GATHERS_H

#include "engine/cost/step_tables.h"
#include "hlo/module/hlo.h"

/* Of instruction `id`, classes->runs_whole. Returns how many. */
uint32_t gathers_of(const struct step_tables *t, hlo_id id, const label *on,
                    struct reduction out[static TERM_CLASSES_MOST]);

#endif
