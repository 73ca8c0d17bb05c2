/* hlo/read_message.h - what the readers and writers of messages share. Private to hlo/. */
#ifndef AUTOMAP_HLO_READ_MESSAGE_H
#define AUTOMAP_HLO_READ_MESSAGE_H

#include "hlo/convert.h"
#include "hlo/read.h"

/* HloModuleProto, HloProto, HloSnapshot, NULL. */
extern const ProtobufCMessageDescriptor *const read_message_roots[4];

/* Any of the roots to a module. `scratch` holds the message. */
int read_message(ProtobufCMessage *root, enum hlo_format format, struct arena *scratch, size_t size,
                 struct hlo_module **out, struct err *e) MUST_CHECK;

#endif
