#include "hlo/proto/read_message.h"

#include "hlo/module/hlo.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

const ProtobufCMessageDescriptor *const hlo_read_message_roots[4] = {
    &xla__hlo_module_proto__descriptor, &xla__hlo_proto__descriptor,
    &xla__hlo_snapshot__descriptor};

int hlo_read_message(ProtobufCMessage *root, enum hlo_format format, struct arena *scratch,
                     size_t size, struct hlo_module **out, struct err *e)
{
    if (root && root->descriptor == &xla__hlo_snapshot__descriptor)
        root = (ProtobufCMessage *)((Xla__HloSnapshot *)root)->hlo;
    if (root && root->descriptor == &xla__hlo_proto__descriptor)
        root = (ProtobufCMessage *)((Xla__HloProto *)root)->hlo_module;
    if (!root)
        return err_set(e, ERR_INPUT, "hlo_module is missing, expected a module");
    return hlo_convert_read((Xla__HloModuleProto *)root, format, scratch, hlo_memory_limit(size),
                            out, e);
}
