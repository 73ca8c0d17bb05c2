#include "hlo/support/pages.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LARGE_PAGE = 2 << 20,
    APART_LEAST = 32 << 20, /* a block that comes and goes by itself */
    HEAP_FIRST = 96 << 20,  /* of addresses; memory is taken as it is used */
    HEAP_STEP = 1 << 20,
    HEAP_FREE = 256 << 20, /* kept at its end */
    PROBE = 1 << 19,       /* more than is free at the start, less than LARGE_PAGE */
};

void pages_begin(void)
{
#if defined(MADV_HUGEPAGE) && defined(M_ARENA_MAX)
    mallopt(M_ARENA_MAX, 1); /* what one thread frees another uses */
    mallopt(M_MMAP_THRESHOLD, APART_LEAST);
    mallopt(M_TRIM_THRESHOLD, HEAP_FREE);
    mallopt(M_TOP_PAD, HEAP_FIRST);
    char *probe = malloc(PROBE); /* the heap grows to hold it */
    mallopt(M_TOP_PAD, HEAP_STEP);
    if (!probe)
        return;
    uintptr_t at = (uintptr_t)probe, behind = (uintptr_t)sbrk(0);
    uintptr_t begin = (at + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
    uintptr_t end = behind & ~(uintptr_t)(LARGE_PAGE - 1);
    if (begin < end && end - begin <= HEAP_FIRST)
        madvise(probe + (begin - at), end - begin, MADV_HUGEPAGE);
    free(probe);
#endif
}

void pages_give_back(void)
{
#ifdef M_ARENA_MAX
    malloc_trim(0);
#endif
}
