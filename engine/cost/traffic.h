/* engine/cost/traffic.h - what kernels read and write: which leaves of an instruction move bytes.
 *
 * A kernel computes a stored value from every distinct stored value that it reaches through fused
 * work, and writes it; if several kernels reach one value, each reads it. The rules follow how
 * compilers for accelerators fuse (XLA: service/gpu/transforms, multi_output_fusion,
 * priority_fusion):
 *   - an element-wise value is stored when a product, convolution, other kernel, tuple or the root
 *     uses it, or when several users would read more than 3 large values again;
 *   - products read transposes and contiguous slices in place: their layout says how;
 *   - a reduction over the minor dims, of at most 65,536 elements, is one kernel with the
 *     element-wise work of its users: softmax and layer-norm read once and write once;
 *   - element-wise work that is stored and read on, and siblings that read the same largest value,
 *     are one kernel: mean and variance, Adam's three results; never if one waits for the other;
 *   - a slice or gather reads its part; an update of a part writes its part;
 *   - what a fused attention keeps inside is not moved, and its products are one kernel each way.
 * Which values take memory is another question (fusion.h): it is checked against compilers for
 * CPUs, which fuse less. Plan-independent; built once per module. */
#ifndef AUTOMAP_ENGINE_COST_TRAFFIC_H
#define AUTOMAP_ENGINE_COST_TRAFFIC_H

#include "engine/cost/attention.h"
#include "engine/cost/fusion.h"
#include "engine/decide/classes.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct traffic {
    /* [classes->leaf_base[id] + leaf] how often an execution of `id` moves all bytes of the leaf:
     * kernels that read an operand leaf here; writes of a result leaf. */
    uint8_t *weight;
    hlo_id *kernel; /* [instructions] the first instruction of its kernel; itself when alone */
};

/* O(instructions x operands of a kernel). */
int traffic_new(const struct classes *c, const struct fusion *f, const struct attention *a,
                struct traffic *out, struct err *e) MUST_CHECK;
void traffic_release(struct traffic *t);

#endif
