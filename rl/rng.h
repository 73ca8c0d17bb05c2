/* rl/rng.h - random numbers: xoshiro256** (Blackman and Vigna 2018), seeded through SplitMix64.
 * One stream per use (init, act, sample, environment), so that switching one component of the
 * learner does not change the draws of another. Plain data: copy it to save it. */
#ifndef AUTOMAP_RL_RNG_H
#define AUTOMAP_RL_RNG_H

#include <stdint.h>

struct rl_rng {
    uint64_t s[4];
};

/* Different streams of one seed are independent for all practical purposes. */
void rl_rng_seed(struct rl_rng *r, uint64_t seed, uint64_t stream);
uint64_t rl_rng_next(struct rl_rng *r);
double rl_rng_unit(struct rl_rng *r);                /* uniform in [0, 1), 53 bits */
uint32_t rl_rng_below(struct rl_rng *r, uint32_t n); /* uniform in [0, n), n > 0, no bias */

#endif
