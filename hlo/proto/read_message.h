/* hlo/proto/read_message.h - what the readers and writers of messages share. Private to hlo/. */
#ifndef AUTOMAP_HLO_PROTO_READ_MESSAGE_H
#define AUTOMAP_HLO_PROTO_READ_MESSAGE_H

#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/proto/convert.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* HloModuleProto, HloProto, HloSnapshot, NULL. */
extern const ProtobufCMessageDescriptor *const hlo_read_message_roots[4];

/* Any of the roots to a module. `scratch` holds the message. */
int hlo_read_message(ProtobufCMessage *root, enum hlo_format format, struct arena *scratch,
                     size_t size, struct hlo_module **out, struct err *e) MUST_CHECK;

#endif
