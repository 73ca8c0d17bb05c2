#include "rl/adam.h"

#include "rl/aligned.h"

#include <math.h>

enum { LANES = 8 };

/* Eight sums in a fixed order, so that the width of the vectors does not matter. */
RL_WIDE static double sum_of_squares(const float *x, size_t count)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= count; i += LANES) {
        for (size_t k = 0; k < LANES; k++)
            lane[k] += (double)x[i + k] * (double)x[i + k];
    }
    for (; i < count; i++)
        sum += (double)x[i] * (double)x[i];
    for (size_t k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

double rl_adam_norm(const float *x, size_t count)
{
    return sqrt(sum_of_squares(x, count));
}

struct pace {
    float scale, beta1, rest1, beta2, rest2, rate, root, eps;
};

RL_WIDE static void step_all(struct pace p, const float *restrict gradient, float *restrict mean,
                             float *restrict square, float *restrict parameters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float g = gradient[i] * p.scale;
        float m = p.beta1 * mean[i] + p.rest1 * g;
        float v = p.beta2 * square[i] + p.rest2 * g * g;
        mean[i] = m;
        square[i] = v;
        parameters[i] -= p.rate * m / (sqrtf(v) * p.root + p.eps);
    }
}

void rl_adam_step(struct rl_adam *a, const struct rl_adam_rule *rule, float scale,
                  const float *gradient, float *parameters, size_t count)
{
    double t = (double)++a->step;
    struct pace p = {
        .scale = scale,
        .beta1 = (float)rule->beta1,
        .rest1 = (float)(1 - rule->beta1),
        .beta2 = (float)rule->beta2,
        .rest2 = (float)(1 - rule->beta2),
        .rate = (float)(rule->rate / (1 - pow(rule->beta1, t))),
        .root = (float)(1 / sqrt(1 - pow(rule->beta2, t))),
        .eps = (float)rule->eps,
    };

    step_all(p, gradient, a->mean, a->square, parameters, count);
}
