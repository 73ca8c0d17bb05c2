/* engine/plan/export_hlo_internal.h - the annotations of a module, shared by writing and checking.
 */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_HLO_INTERNAL_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_HLO_INTERNAL_H

#include "engine/decide/labels.h"
#include "engine/plan/export_loops.h"
#include "engine/plan/partial_sums.h"
#include "engine/plan/plan.h"
#include "engine/plan/resharding.h"
#include "engine/plan/sharding.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct hlo_annotations {
    label *over;     /* [dims] of every value, free ones too */
    bool *is_shared; /* [values] free, and its uses want different splits */
    bool *is_meant;  /* [computations] holds values; not a reducer or comparator */

    struct partial_sums sums; /* nothing: sums are combined where they arise */
    struct export_loops loops;
    struct resharding resharding;
};

/* `keeps_sums`: keep partial sums, for Shardy. Release it even on error. O(instructions). */
int hlo_annotations_new(const struct plan *plan, bool keeps_sums, struct hlo_annotations *out,
                        struct err *e) MUST_CHECK;
/* The module under such annotations, as export_hlo writes it. */
int hlo_annotations_write(const struct plan *plan, struct hlo_annotations *of,
                          enum sharding_form form, struct str *out, struct str *warnings,
                          struct err *e) MUST_CHECK;
void hlo_annotations_release(struct hlo_annotations *a);

#endif
