#include "hlo/meaning/kernels.h"

#include <string.h>

double hlo_kernel_reach_on(const struct hlo_kernel *k, const char *device)
{
    double other = 0;

    for (uint32_t n = 0; n < k->reach_count; n++) {
        if (!k->reach[n].device[0])
            other = k->reach[n].part;
        else if (strstr(device, k->reach[n].device))
            return k->reach[n].part;
    }
    return other;
}
