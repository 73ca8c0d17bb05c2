/* hlo/proto/write.h - a module as a binary HloModuleProto and as its JSON mapping. Appended. */
#ifndef AUTOMAP_HLO_PROTO_WRITE_H
#define AUTOMAP_HLO_PROTO_WRITE_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

int hlo_write_json(const struct hlo_module *m, struct str *out, struct err *e) MUST_CHECK;
int hlo_write_proto(const struct hlo_module *m, struct str *out, struct err *e) MUST_CHECK;

#endif
