/* rl/twins.h - which decisions of a replay are the same: equal observations, equal actions.
 *
 * Where the same decisions always earn the same, what one of them was followed by all of them could
 * have been, so twins share the best return that any of them saw (the table of Lin et al. 2018,
 * "Episodic Memory Deep Q-Networks"). A decision that was tried in many poor episodes and in one
 * good one is then worth the good one in every batch, and not the mean of all.
 *
 * Decisions are told apart by 64 bits of their observation and action: among 2^16 of them two that
 * differ are taken for twins once in 2^33 times. Not thread-safe. Memory: 28 to 36 bytes a
 * decision. */
#ifndef AUTOMAP_RL_TWINS_H
#define AUTOMAP_RL_TWINS_H

#include "rl/error.h"

#include <stdint.h>

struct rl_twins_of {
    uint64_t key;
    uint32_t count; /* decisions held; of a free one the next free one */
    float best;     /* return; -INFINITY: none is known */
};

struct rl_twins {
    uint32_t capacity;
    uint32_t *group;            /* [capacity] of a slot; UINT32_MAX: it holds nothing */
    struct rl_twins_of *groups; /* [capacity] */
    uint32_t *bucket;           /* [mask + 1] group + 1 by key, linear probing; 0: free */
    uint32_t mask, free;
};

int rl_twins_init(struct rl_twins *t, uint32_t capacity) RL_MUST_CHECK;
void rl_twins_release(struct rl_twins *t);
void rl_twins_clear(struct rl_twins *t); /* no slot holds anything. O(capacity) */

uint64_t rl_twins_key(const float *observation, uint32_t size, uint32_t action);

/* The slot holds a decision of this key from now on, in place of what it held. O(1) expected. */
void rl_twins_put(struct rl_twins *t, uint32_t slot, uint64_t key);

/* The best return of the slot's decision and its twins. The slot must hold one. */
float rl_twins_best(const struct rl_twins *t, uint32_t slot);

/* A return that the slot's decision was followed by; the best there is now. */
float rl_twins_raise(struct rl_twins *t, uint32_t slot, float earned);

void rl_twins_forget_returns(struct rl_twins *t); /* who is whose twin stays. O(capacity) */

#endif
