/* Any bytes as a binary HloModuleProto, HloProto or HloSnapshot. */
#include "hlo_cycle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_reader(hlo_read_proto, data, size);
    return 0;
}
