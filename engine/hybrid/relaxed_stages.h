/* engine/hybrid/relaxed_stages.h - the stages of a plan solved relaxed: values may change their
 * split between uses (relaxed/relaxed.h), so that what is whole between two products is split along
 * the sequence there: all-reduces become reduce-scatters and all-gathers, and norms and residuals
 * are computed once, not on every device (sequence parallelism; Korthikanti et al., arXiv
 * 2205.05198, 4.2).
 *
 * What a stage stores stays as its labels have it: variables, optimizer state and inputs are
 * pinned. All stages on equal shapes with equal labels are solved at once, as the whole model on
 * such a shape in M micro-batches; a stage is what its own operations and the collectives on their
 * way take there. What arrives over a cut, and R but for new sums, are as in the strict plan; under
 * OVERLAP_AUTO new sums show by their share alone, without what the last backward pass cannot hide.
 * A value that is made in pieces and read whole is kept whole for the backward pass; where that
 * does not fit, in pieces, and gathered again (there, 4.2.2). */
#ifndef AUTOMAP_ENGINE_HYBRID_RELAXED_STAGES_H
#define AUTOMAP_ENGINE_HYBRID_RELAXED_STAGES_H

#include "engine/hybrid/hybrid.h"
#include "hlo/support/err.h"

/* Fills stage[].relaxed of a priced plan and relaxed_ms, the step as played with them; a stage that
 * gains nothing, or of which relaxed mode has no plan, keeps its strict point. INFINITY: some stage
 * does not fit; the plan itself need not fit. `h` must not have ZeRO 2 or 3, which relaxed mode
 * decides itself: then relaxed_ms is that of the strict stages. One problem and one relaxed solve
 * for each kind of stage. */
int hybrid_relax(struct hybrid *h, struct err *e) MUST_CHECK;

#endif
