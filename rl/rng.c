#include "rl/rng.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void rl_rng_seed(struct rl_rng *r, uint64_t seed, uint64_t stream)
{
    uint64_t mixed = stream;
    uint64_t state = seed ^ splitmix(&mixed);

    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix(&state);
}

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

uint64_t rl_rng_next(struct rl_rng *r)
{
    uint64_t result = rotate(r->s[1] * 5, 7) * 9;
    uint64_t t = r->s[1] << 17;

    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = rotate(r->s[3], 45);
    return result;
}

double rl_rng_unit(struct rl_rng *r)
{
    return (double)(rl_rng_next(r) >> 11) * 0x1p-53;
}

/* Lemire 2019: multiply, reject the few draws that would bias the low part. */
uint32_t rl_rng_below(struct rl_rng *r, uint32_t n)
{
    uint64_t product = (rl_rng_next(r) >> 32) * n;

    if ((uint32_t)product < n) {
        uint32_t least = (0u - n) % n;
        while ((uint32_t)product < least)
            product = (rl_rng_next(r) >> 32) * n;
    }
    return (uint32_t)(product >> 32);
}
