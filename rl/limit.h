/* rl/limit.h - the products of matrices of one textbook update and nothing else: the time below
 * which no update over this BLAS can go without doing less. For benchmarks. */
#ifndef AUTOMAP_RL_LIMIT_H
#define AUTOMAP_RL_LIMIT_H

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
 * gradient of every weight, and of every layer's input but the first's. Without the value row. */
void rl_limit_run(struct rl_limit *l);

#endif
