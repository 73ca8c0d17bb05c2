/* engine/linear/cutting_plane.h - the maximum over a box of a concave function known by its
 * tangents (Kelley 1960; the box after Marsten, Hogan and Blankenship 1975): a small linear
 * program, solved by the simplex method with Bland's rule. */
#ifndef AUTOMAP_ENGINE_LINEAR_CUTTING_PLANE_H
#define AUTOMAP_ENGINE_LINEAR_CUTTING_PLANE_H

#include "hlo/support/err.h"

#include <stdint.h>

struct cutting_planes {
    uint32_t count, places;   /* tangents, >= 1; coordinates */
    const double *value;      /* [count] at 0 */
    const double *slope;      /* [count][places] */
    const double *low, *high; /* [places] the box, low <= high, finite */
    double sum;               /* upper bound on the sum of x - low; INFINITY: none */
};

/* x[places] within the box maximises min over k of value[k] + slope[k] . x, which is *top.
 * O((count + places) x places) a pivot. */
int cutting_plane_top(const struct cutting_planes *c, double *x, double *top,
                      struct err *e) MUST_CHECK;

#endif
