/* engine/cost/traffic.h - what kernels read and write: which leaves of an instruction move bytes.
 *
 * A kernel computes a stored value from every distinct stored value that it reaches through fused
 * work, and writes it; several kernels that reach one value read it each. The rules, as compilers
 * for accelerators fuse (XLA: service/gpu/transforms, multi_output_fusion, priority_fusion):
 *   - an element-wise value is stored when a product, convolution, other kernel, tuple or the root
 *     uses it, or when several users would read more than 3 large values again;
 *   - transposes and contiguous slices are read in place by products: their layout says how;
 *   - a reduction over the minor dims, of at most 65,536 elements, is one kernel with the
 *     element-wise work of its users: softmax and layer-norm read once and write once;
 *   - element-wise work that stores and is read on, and siblings that read the same largest value,
 *     are one kernel: mean and variance; Adam's three results. Never where one waits for another;
 *   - a slice or gather reads its part; an update of a part writes its part.
 *   - what a fused attention keeps within it is not moved, and its products are one kernel each
 * way. fusion.h has which values take memory, which is another question: compilers for CPUs,
 * against which that one is checked, fuse less. Plan-independent; built once per module. */
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
    hlo_id *kernel; /* [instructions] the first of those that are one kernel with it; itself */
};

/* O(instructions x operands of a kernel). */
int traffic_new(const struct classes *c, const struct fusion *f, const struct attention *a,
                struct traffic *out, struct err *e) MUST_CHECK;
void traffic_release(struct traffic *t);

#endif
