/* hlo/support/sort.h - plain numbers in ascending order, in place. Not stable, which nobody can see
 * of equal numbers. O(n log n). Any thread. */
#ifndef AUTOMAP_HLO_SUPPORT_SORT_H
#define AUTOMAP_HLO_SUPPORT_SORT_H

#include <stddef.h>
#include <stdint.h>

void sort_u32(uint32_t *numbers, size_t count);
void sort_doubles(double *numbers, size_t count); /* none of them NaN */
/* What would stand at `nth` < count in order; moves the others about. O(n) where sorting is O(n log
 * n), and at worst that. */
double select_double(double *numbers, size_t count, size_t nth);

#endif
