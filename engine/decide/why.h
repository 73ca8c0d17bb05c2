/* engine/decide/why.h - the chain of rules behind a status.
 *
 * Steps join two dims of one class: a factor of an instruction that binds both, or a tie (data that
 * flows unchanged, a variable and its next value). The shortest chain of steps answers "why is this
 * split so?". */
#ifndef AUTOMAP_ENGINE_DECIDE_WHY_H
#define AUTOMAP_ENGINE_DECIDE_WHY_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct why_step {
    dim_id dim;      /* reached by this step; step 0 is the dim asked for */
    hlo_id through;  /* instruction whose factor or flow joins it to the step before; HLO_NONE for
                        step 0 and for "next step's value" */
    uint32_t factor; /* into classes->factors; UINT32_MAX: a flow or next value */
};

/* Shortest chain from `from` to the first dim for which `is_target` holds (which may be `from`).
 * The caller frees *steps; it is NULL and count is 0 when no target is in the class. O(class size).
 */
int why_chain(const struct classes *c, dim_id from,
              bool (*is_target)(const void *context, dim_id d), const void *context,
              struct why_step **steps, size_t *count, struct err *e) MUST_CHECK;
int why_chain_to(const struct classes *c, dim_id from, dim_id to, struct why_step **steps,
                 size_t *count, struct err *e) MUST_CHECK;

/* The distance in ties of each dim of class `k` from the nearest for which `is_start` holds:
 * step[dim] = 1 for those, 2 for dims tied to them, and so on. `step` covers all dims of the
 * module; other entries stay. *steps receives the greatest step; 0: no dim is a start. O(class
 * size). */
int why_spread(const struct classes *c, class_id k, bool (*is_start)(const void *context, dim_id d),
               const void *context, uint16_t *step, uint32_t *steps, struct err *e) MUST_CHECK;

/* The usual name for what a factor does at its instruction: "batch", "contracting", "lhs", "rhs",
 * "dim 1", "new dim 0", "reduced". */
void why_factor_name(const struct classes *c, hlo_id id, uint32_t factor, char *out, size_t room);

#endif
