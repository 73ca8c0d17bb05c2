/* The StableHLO reader never crashes, and what it reads goes through the other forms and back. */
#include "hlo_cycle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_reader(hlo_read_stablehlo, data, size);
    return 0;
}
