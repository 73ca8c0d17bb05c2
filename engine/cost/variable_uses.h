/* engine/cost/variable_uses.h - what ZeRO makes of how a step uses its variables.
 *
 * The update. From level 1 a device updates its piece of a variable: instructions of the update
 * that make, element by element, something of the variable's dims from which its new value or that
 * of its optimizer state follows. The gathers. At level 3 a pass gathers a variable as it reads it:
 * after the convert, where all its uses convert it first (half the bytes of f32 for bf16), and a
 * stack that loops slice layer by layer, one layer at a time; PyTorch's FSDP and XLA do both. Rows
 * that are sliced but not by a loop that takes each once are read of the whole. Private to
 * engine/cost. */
#ifndef AUTOMAP_ENGINE_COST_VARIABLE_USES_H
#define AUTOMAP_ENGINE_COST_VARIABLE_USES_H

#include "engine/cost/training.h"
#include "hlo/support/err.h"

/* Fills t->update_of and, of each variable, gathered_part and layers. O(instructions + uses of
 * variables). */
int variable_uses_find(struct training *t, struct err *e) MUST_CHECK;

#endif
