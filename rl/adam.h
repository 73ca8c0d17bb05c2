/* rl/adam.h - Adam (Kingma and Ba 2015, algorithm 1, bias corrected) over one block of float32, as
 * PyTorch's torch.optim.Adam computes it. Private to rl/. */
#ifndef AUTOMAP_RL_ADAM_H
#define AUTOMAP_RL_ADAM_H

#include <stddef.h>
#include <stdint.h>

struct rl_adam {
    float *mean, *square; /* [count] moments, owned by the caller; zero at the start */
    uint64_t step;        /* updates done */
};

struct rl_adam_rule {
    double rate, beta1, beta2, eps;
};

/* Euclidean norm of x[count], summed in double. Not finite if one of x is not. */
double rl_adam_norm(const float *x, size_t count);

/* parameters -= step along gradient x scale. `scale` carries the clipping. */
void rl_adam_step(struct rl_adam *a, const struct rl_adam_rule *rule, float scale,
                  const float *gradient, float *parameters, size_t count);

#endif
