/* engine/decide/partitioner.h - what XLA's partitioner runs whole though it could be split.
 *
 * hlo/meaning/factors.h says how an instruction may be split; a compiler does less. What GSPMD has
 * no rule for it replicates: each split operand is gathered, every device computes all of it and
 * keeps its part. Costs, plans and exports go by that. Measured by partitioning each on four
 * simulated devices, every splittable dim by itself (jaxlib 0.10.2, SPMD partitioner of XLA, CPU;
 * HLO in, so partitioners that a framework registers for its own calls are not there). */
#ifndef AUTOMAP_ENGINE_DECIDE_PARTITIONER_H
#define AUTOMAP_ENGINE_DECIDE_PARTITIONER_H

#include "hlo/module/hlo.h"

#define PARTITIONER_NAME "XLA GSPMD, jaxlib 0.10.2"

/* Why `id` runs whole on every device, for people: "has no rule for ..."; NULL: it is split as its
 * factors say. O(1). */
const char *partitioner_runs_whole(const struct hlo_module *m, hlo_id id);

/* Its sums are over all devices, whichever axes its summed dim is split along: a convolution with
 * batch groups, the gradient of a grouped kernel. Where some axes split none of its dims XLA adds
 * equal copies and the result is too large by their number (2 x 2 devices, batch on x: twice the
 * gradient, run on CPU). So its operands are split along those axes too, which takes no
 * communication (step_tables_spare_axes). O(1). */
bool partitioner_sums_everywhere(const struct hlo_module *m, hlo_id id);

#endif
