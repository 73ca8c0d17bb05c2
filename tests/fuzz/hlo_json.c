/* Any bytes as HLO JSON; as protobuf text when they do not begin with '{'. */
#include "hlo_cycle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_reader(size && data[0] == '{' ? hlo_read_json : hlo_read_proto_text, data, size);
    return 0;
}
