/* rl/aligned.h - aligned, zeroed memory, and a mark for loops that gain from wider vectors. Private
 * to rl/. */
#ifndef AUTOMAP_RL_ALIGNED_H
#define AUTOMAP_RL_ALIGNED_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* count x size bytes aligned to a cache line, contents undefined; NULL on overflow or failure.
 * Pages never touched cost nothing. The caller frees it with free(). */
static inline void *rl_alloc_raw(size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - 64) / size)
        return NULL;
    size_t bytes = (count * size + 63) / 64 * 64;
    return aligned_alloc(64, bytes ? bytes : 64);
}

/* The same, zeroed. */
static inline void *rl_alloc(size_t count, size_t size)
{
    void *p = rl_alloc_raw(count, size);

    if (p)
        memset(p, 0, count * size);
    return p;
}

/* Compiles a second copy of an elementwise loop for processors with 256-bit vectors. Without
 * contraction (-ffp-contract=off) both copies give the same bits: only the width differs. Off with
 * sanitizers, whose run-time is not up yet when the copy is picked. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RL_WIDE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RL_WIDE
#endif
#endif
#if !defined(RL_WIDE) && defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define RL_WIDE __attribute__((target_clones("avx2", "default")))
#elif !defined(RL_WIDE)
#define RL_WIDE
#endif

#endif
