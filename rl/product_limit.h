/* rl/product_limit.h - the matrix products of one textbook update and nothing else: no update over
 * this BLAS that does the same work can be faster. For benchmarks. */
#ifndef AUTOMAP_RL_PRODUCT_LIMIT_H
#define AUTOMAP_RL_PRODUCT_LIMIT_H

#include "rl/error.h"
#include "rl/net.h"

struct rl_limit {
    struct rl_net net;
    uint32_t batch;
    float *a, *b, *c; /* operands and result of the largest product */
    double flops;     /* of one rl_limit_run */
};

int rl_limit_init(struct rl_limit *l, const struct rl_net *net, uint32_t batch) RL_MUST_CHECK;
void rl_limit_release(struct rl_limit *l);

/* Three forward passes of `batch` rows (observation online, next online, next by the target), the
 * gradient of every weight, and that of every layer's input but the first. Without the value
 * row. */
void rl_limit_run(struct rl_limit *l);

#endif
