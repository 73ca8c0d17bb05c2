#include "rl/twins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX };

int rl_twins_init(struct rl_twins *t, uint32_t capacity)
{
    uint64_t buckets = 2;

    while (buckets < 2 * (uint64_t)capacity)
        buckets *= 2;
    *t = (struct rl_twins){.capacity = capacity, .mask = (uint32_t)(buckets - 1)};
    t->group = malloc(capacity * sizeof *t->group);
    t->groups = malloc(capacity * sizeof *t->groups);
    t->bucket = malloc(buckets * sizeof *t->bucket);
    if (!t->group || !t->groups || !t->bucket) {
        rl_twins_release(t);
        return RL_E_MEMORY;
    }
    rl_twins_clear(t);
    return RL_OK;
}

void rl_twins_release(struct rl_twins *t)
{
    free(t->group);
    free(t->groups);
    free(t->bucket);
    *t = (struct rl_twins){0};
}

void rl_twins_clear(struct rl_twins *t)
{
    memset(t->group, 0xff, t->capacity * sizeof *t->group);
    memset(t->bucket, 0, ((size_t)t->mask + 1) * sizeof *t->bucket);
    for (uint32_t i = 0; i < t->capacity; i++)
        t->groups[i] = (struct rl_twins_of){.count = i + 1};
    t->free = 0;
}

/* Mixes 64 bits well (the finalizer of SplitMix64, Steele et al. 2014). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t rl_twins_key(const float *observation, uint32_t size, uint32_t action)
{
    uint64_t key = mix(action + 1);

    for (uint32_t k = 0; k < size; k++) {
        uint32_t bits;
        memcpy(&bits, observation + k, sizeof bits);
        key = (key ^ bits) * 0x9e3779b97f4a7c15u;
        key ^= key >> 32;
    }
    return mix(key);
}

/* The bucket of the key, or the free one where it would stand. */
static uint32_t find_bucket(const struct rl_twins *t, uint64_t key)
{
    uint32_t at = (uint32_t)key & t->mask;

    while (t->bucket[at] && t->groups[t->bucket[at] - 1].key != key)
        at = (at + 1) & t->mask;
    return at;
}

/* Those behind the freed bucket move up, so that none is cut off from where its search begins. */
static void free_bucket(struct rl_twins *t, uint32_t hole)
{
    for (uint32_t at = (hole + 1) & t->mask; t->bucket[at]; at = (at + 1) & t->mask) {
        uint32_t home = (uint32_t)t->groups[t->bucket[at] - 1].key & t->mask;
        if (((at - home) & t->mask) < ((at - hole) & t->mask))
            continue;
        t->bucket[hole] = t->bucket[at];
        hole = at;
    }
    t->bucket[hole] = 0;
}

static void take_out(struct rl_twins *t, uint32_t slot)
{
    uint32_t g = t->group[slot];

    if (g == NONE || --t->groups[g].count)
        return;
    free_bucket(t, find_bucket(t, t->groups[g].key));
    t->groups[g].count = t->free;
    t->free = g;
}

void rl_twins_put(struct rl_twins *t, uint32_t slot, uint64_t key)
{
    take_out(t, slot);
    uint32_t at = find_bucket(t, key);
    if (!t->bucket[at]) {
        uint32_t g = t->free;
        t->free = t->groups[g].count;
        t->groups[g] = (struct rl_twins_of){.key = key, .best = -INFINITY};
        t->bucket[at] = g + 1;
    }
    t->group[slot] = t->bucket[at] - 1;
    t->groups[t->group[slot]].count++;
}

float rl_twins_best(const struct rl_twins *t, uint32_t slot)
{
    return t->groups[t->group[slot]].best;
}

float rl_twins_raise(struct rl_twins *t, uint32_t slot, float earned)
{
    struct rl_twins_of *g = &t->groups[t->group[slot]];

    if (earned > g->best)
        g->best = earned;
    return g->best;
}

void rl_twins_forget_returns(struct rl_twins *t)
{
    for (uint32_t i = 0; i < t->capacity; i++)
        t->groups[i].best = -INFINITY;
}
