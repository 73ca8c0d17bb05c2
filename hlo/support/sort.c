#include "hlo/support/sort.h"

#include <stdlib.h>

#define COMPARE(name, type)                              \
    static int name(const void *a, const void *b)        \
    {                                                    \
        type x = *(const type *)a, y = *(const type *)b; \
                                                         \
        return (x > y) - (x < y);                        \
    }

COMPARE(compare_u32, uint32_t)
COMPARE(compare_doubles, double)

/* qsort may not be given NULL, not even for nothing. */
static void sort_some(void *items, size_t count, size_t size,
                      int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(items, count, size, compare);
}

void sort_u32(uint32_t *numbers, size_t count)
{
    sort_some(numbers, count, sizeof *numbers, compare_u32);
}

void sort_doubles(double *numbers, size_t count)
{
    sort_some(numbers, count, sizeof *numbers, compare_doubles);
}
