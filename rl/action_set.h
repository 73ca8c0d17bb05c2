/* rl/action_set.h - sets of actions: bit a of an array of words means action a, so that a set is as
 * long as its environment needs. Bits past the number of actions are 0. Where there are at most 64
 * actions a set is one word, and a pointer to a mask will do. */
#ifndef AUTOMAP_RL_ACTION_SET_H
#define AUTOMAP_RL_ACTION_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RL_ACTIONS_MAX = 1024, RL_WORDS_MAX = RL_ACTIONS_MAX / 64 };

/* Words of a set of n actions. */
static inline uint32_t rl_words(uint32_t n)
{
    return (n + 63) / 64;
}

static inline bool rl_has(const uint64_t *set, uint32_t action)
{
    return set[action / 64] >> action % 64 & 1;
}

static inline void rl_put(uint64_t *set, uint32_t action)
{
    set[action / 64] |= (uint64_t)1 << action % 64;
}

/* Set i of an array of sets. */
static inline const uint64_t *rl_set(const uint64_t *sets, uint32_t i, uint32_t n)
{
    return sets + (size_t)i * rl_words(n);
}

/* The bits of word w that actions of n stand for. */
static inline uint64_t rl_word_of_all(uint32_t n, uint32_t w)
{
    uint32_t left = n - 64 * w;

    return left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
}

static inline void rl_put_all(uint64_t *set, uint32_t n)
{
    for (uint32_t w = 0; w < rl_words(n); w++)
        set[w] = rl_word_of_all(n, w);
}

/* Takes out what is no action of n. */
static inline void rl_keep_actions(uint64_t *set, uint32_t n)
{
    for (uint32_t w = 0; w < rl_words(n); w++)
        set[w] &= rl_word_of_all(n, w);
}

/* Whether all that is in the set is one of n actions. */
static inline bool rl_is_of(const uint64_t *set, uint32_t n)
{
    for (uint32_t w = 0; w < rl_words(n); w++) {
        if (set[w] & ~rl_word_of_all(n, w))
            return false;
    }
    return true;
}

static inline uint32_t rl_count(const uint64_t *set, uint32_t n)
{
    uint32_t count = 0;

    for (uint32_t w = 0; w < rl_words(n); w++)
        count += (uint32_t)__builtin_popcountll(set[w]);
    return count;
}

/* The k-th action of the set, from 0; k is below their number. */
static inline uint32_t rl_nth(const uint64_t *set, uint32_t k)
{
    uint32_t w = 0;

    for (uint32_t here; k >= (here = (uint32_t)__builtin_popcountll(set[w])); w++)
        k -= here;
    uint64_t word = set[w];
    while (k--)
        word &= word - 1;
    return 64 * w + (uint32_t)__builtin_ctzll(word);
}

#endif
