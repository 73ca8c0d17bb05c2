/* engine/doctor/region.h - what lies around an instruction, as far as splits go. Private to
 * engine/doctor. */
#ifndef AUTOMAP_ENGINE_DOCTOR_REGION_H
#define AUTOMAP_ENGINE_DOCTOR_REGION_H

#include "hlo/module/hlo.h"

#include <stdbool.h>
#include <stdint.h>

enum { REGION_MOST = 256 };

struct region {
    hlo_id id[REGION_MOST]; /* the nearest first */
    uint32_t count, most;
};

/* How far: in a few steps, as what is there passes a split on; also from inside a loop to what it
 * carries outside; in more steps, also through what no split passes, such as products, to what
 * their other sides want. */
enum region_reach { REGION_NEAR, REGION_OVER_LOOPS, REGION_FAR };
void region_find(const struct hlo_module *m, hlo_id from, enum region_reach reach,
                 struct region *g);
bool region_has(const struct region *g, hlo_id id);

#endif
