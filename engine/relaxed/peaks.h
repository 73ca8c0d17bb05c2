/* engine/relaxed/peaks.h - memory at the points of a schedule while it changes: bytes are added to
 * spans of points, the largest is asked for. */
#ifndef AUTOMAP_ENGINE_RELAXED_PEAKS_H
#define AUTOMAP_ENGINE_RELAXED_PEAKS_H

#include <stdbool.h>
#include <stdint.h>

struct peaks {
    uint32_t points, leaves; /* a power of two */
    double *most;            /* [2 leaves] of a node's points, what was added above left out */
    double *added;           /* [2 leaves] to all points of a node */
};

bool peaks_new(uint32_t points, struct peaks *out); /* all 0; false: no memory */
void peaks_release(struct peaks *p);
void peaks_set(struct peaks *p, const double *bytes);                      /* [points]; O(points) */
void peaks_add(struct peaks *p, uint32_t from, uint32_t to, double bytes); /* O(log points) */
uint32_t peaks_worst(const struct peaks *p); /* the first point that has the most; O(log points) */

static inline double peaks_most(const struct peaks *p)
{
    return p->points ? p->most[1] : 0;
}

#endif
