/* engine/plan/splats.h - arrays of one number that constants alone decide. Compilers fold these
 * before they partition, sign(2) spread to 1s as well as 1 spread, and make one of equal ones. */
#ifndef AUTOMAP_ENGINE_PLAN_SPLATS_H
#define AUTOMAP_ENGINE_PLAN_SPLATS_H

#include "hlo/module/hlo.h"

struct splats {
    bool *is_splat; /* [instructions] */
    double *number; /* [instructions] as its type rounds it; of no meaning where it is none */
};

/* False: no memory. O(operands). */
bool splats_new(const struct hlo_module *m, struct splats *out);
void splats_release(struct splats *s);

#endif
