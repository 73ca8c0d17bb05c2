/* HLO JSON: the protobuf-JSON mapping of HloModuleProto, HloProto or HloSnapshot. */
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/proto/read_message.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

int hlo_read_json(char *input, size_t size, const struct hlo_load_options *o,
                  struct hlo_module **out, struct err *e)
{
    struct arena scratch = {.limit = hlo_memory_limit(size)};
    ProtobufCMessage *root = NULL;

    (void)o;
    int rc = hlo_reflect_from_json(hlo_read_message_roots, input, size, &scratch, &root, e);
    if (rc)
        goto out;
    rc = hlo_read_message(root, HLO_FORMAT_JSON, &scratch, size, out, e);
out:
    arena_release(&scratch);
    free(input);
    return rc;
}
