/* engine/plan/export_hlo_internal.h - what is annotated, and how: shared by writing and checking.
 */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_HLO_INTERNAL_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_HLO_INTERNAL_H

#include "engine/decide/labels.h"
#include "engine/plan/export_loops.h"
#include "engine/plan/plan.h"
#include "engine/plan/resharding.h"
#include "hlo/support/err.h"

struct hlo_annotations {
    label *over;     /* [dims] of every value, free ones too */
    bool *is_shared; /* [values] free, and uses want different splits */
    bool *is_meant;  /* [computations] holds values, not a reducer or comparator */

    struct export_loops loops;
    struct resharding resharding;
};

/* To be released also on error. O(instructions). */
int hlo_annotations_new(const struct plan *plan, struct hlo_annotations *out,
                        struct err *e) MUST_CHECK;
void hlo_annotations_release(struct hlo_annotations *a);

#endif
