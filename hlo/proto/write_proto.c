/* The module as HloProto, what XLA's tools write with --xla_dump_hlo_as_proto. */
#include "hlo/module/hlo.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/proto/reflect.h"
#include "hlo/proto/write.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

int hlo_write_proto(const struct hlo_module *m, struct str *out, struct err *e)
{
    struct arena scratch = {0};
    Xla__HloProto root = XLA__HLO_PROTO__INIT;
    int rc = hlo_convert_write(m, &scratch, &root.hlo_module, e);

    if (!rc)
        hlo_reflect_to_wire(&root.base, out);
    arena_release(&scratch);
    if (!rc && out->failed)
        rc = err_no_memory(e, "to write the module");
    return rc;
}
