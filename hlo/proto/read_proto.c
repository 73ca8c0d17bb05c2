/* Binary HloModuleProto, HloProto or HloSnapshot. */
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/proto/read_message.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* The content of the first field 1, as far as the bytes are a message at all. */
static bool first_field(const uint8_t *data, size_t size, const uint8_t **out, size_t *length)
{
    size_t at = 1, value = 0;

    if (!size || data[0] != (1 << 3 | 2))
        return false;
    for (unsigned shift = 0; at < size && shift < 63; shift += 7) {
        uint8_t byte = data[at++];
        value |= (size_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = data + at;
            *length = value < size - at ? value : size - at;
            return true;
        }
    }
    return false;
}

/* Field 1 of a module is its name, of the others a message: tags of its first fields are control
 * characters, which names do not begin with. */
static const ProtobufCMessageDescriptor *root_of(const uint8_t *data, size_t size)
{
    size_t depth = 0;

    while (depth < 2 && first_field(data, size, &data, &size) && size && data[0] < ' ')
        depth++;
    return hlo_read_message_roots[depth];
}

int hlo_read_proto(char *input, size_t size, const struct hlo_load_options *o,
                   struct hlo_module **out, struct err *e)
{
    struct arena scratch = {.limit = hlo_memory_limit(size)};
    ProtobufCMessage *root = NULL;

    (void)o;
    int rc = hlo_reflect_from_wire(root_of((const uint8_t *)input, size), input, size, &scratch,
                                   &root, e);
    if (rc)
        goto out;
    rc = hlo_read_message(root, HLO_FORMAT_PROTO, &scratch, size, out, e);
out:
    arena_release(&scratch);
    free(input);
    return rc;
}
