/* engine/doctor/sums.h - sums that a smaller collective, or fewer of them, would give as well.
 * Private to engine/doctor. In a bounded number of steps, so that no graph makes them slow. */
#ifndef AUTOMAP_ENGINE_DOCTOR_SUMS_H
#define AUTOMAP_ENGINE_DOCTOR_SUMS_H

#include "hlo/module/hlo.h"

#include <stdbool.h>
#include <stdint.h>

/* The reduce that all of `id`, gathered along `dim`, goes into and that adds it up along that dim
 * alone: each device may add up its own part, and one all-reduce add these. HLO_NONE: there is
 * none, or more becomes of it. */
hlo_id sums_gathered(const struct hlo_module *m, hlo_id id, int64_t dim);
/* Whether every trip of a loop adds `id`, a sum over devices, to what the loop carries, and neither
 * its body nor its condition reads that for anything else: each device may add its own, and the sum
 * be made once behind the loop. */
bool sums_in_loop(const struct hlo_module *m, hlo_id id);

#endif
