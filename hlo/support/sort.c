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

static double median(double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;

    return c < low ? low : c > high ? high : c;
}

double select_double(double *numbers, size_t count, size_t nth)
{
    enum { ROUNDS = 32, FEW = 16 }; /* then sorting is as good, and never quadratic */
    size_t low = 0, high = count;

    for (int round = 0; round < ROUNDS && high - low > FEW; round++) {
        double pivot = median(numbers[low], numbers[low + (high - low) / 2], numbers[high - 1]);
        size_t below = low, above = high;
        for (size_t i = low; i < above;) {
            double x = numbers[i];
            if (x < pivot) {
                numbers[i++] = numbers[below];
                numbers[below++] = x;
            } else if (x > pivot) {
                numbers[i] = numbers[--above];
                numbers[above] = x;
            } else {
                i++;
            }
        }
        if (nth >= below && nth < above)
            return pivot;
        low = nth < below ? low : above;
        high = nth < below ? below : high;
    }
    sort_doubles(numbers + low, high - low);
    return numbers[nth];
}
