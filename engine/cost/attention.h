/* engine/cost/attention.h - finds attention that a module writes out, and prices it as the one
 * kernel people run.
 *
 * Written out, attention is a product of queries and keys, scaling, masks, softmax, and a product
 * with the values; the backward pass has four more products and the gradient of softmax. Every
 * value in between has an element for each pair of a query and a key, and goes through memory.
 * Fused kernels (FlashAttention: Dao, arXiv 2205.14135 and 2307.08691; cuDNN, splash) keep those
 * values on chip: the forward kernel reads q, k, v and writes o, the backward kernel computes the
 * scores again. Where attention counts as fused, therefore,
 *   - values with a query and a key dim, and stacks of them that loops carry, are neither stored
 *     nor moved;
 *   - the products take flops x c / (peak x reach), with c = 1/2 for a causal mask; the four
 *     backward products count as five unless the module itself recomputes the scores.
 * The search for an attention begins at an exponential whose operand comes from a batched product
 * and whose result goes to one, through element-wise work on values of one size alone.
 * Plan-independent; built once per module, O(instructions). */
#ifndef AUTOMAP_ENGINE_COST_ATTENTION_H
#define AUTOMAP_ENGINE_COST_ATTENTION_H

#include "engine/cluster/cluster.h"
#include "engine/cost/fusion.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/kernels.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct attention {
    uint8_t *is_inside; /* [values] of buffers: kept inside a kernel */
    double *work;       /* [instructions] factor on the flops of its products; 0: not part of an
                           attention */
    uint32_t *kernel;   /* [instructions] number of its kernel + 1; 0: none. Even: backward pass */
    uint32_t count;     /* attentions found */
    struct hlo_kernel as[2]; /* what runs it, forward and backward: its reach counts */
};

/* `as`: the kernels that run it forward and backward (kernel_rules_attention); NULL: attention
 * stays as the module writes it out, and none is found. */
int attention_new(const struct classes *c, const struct hlo_roles *roles, const struct fusion *f,
                  const struct hlo_kernel as[2], struct attention *out, struct err *e) MUST_CHECK;
void attention_release(struct attention *a);

static inline bool attention_is_backward(const struct attention *a, hlo_id id)
{
    return a->kernel[id] && a->kernel[id] % 2 == 0;
}

/* Operations per second of such a kernel on a device: its share of the data sheet's peak. A device
 * without `matmul` has peaks that are 3/4 of that. */
double attention_rate(const struct hlo_kernel *as, const struct cluster_device *d,
                      enum peak_type type);

#endif
