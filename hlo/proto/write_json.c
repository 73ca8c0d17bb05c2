/* The module as the protobuf-JSON of HloModuleProto, lowerCamelCase keys. */
#include "hlo/module/hlo.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/proto/reflect.h"
#include "hlo/proto/write.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

int hlo_write_json(const struct hlo_module *m, struct str *out, struct err *e)
{
    struct arena scratch = {0};
    Xla__HloModuleProto *root = NULL;
    int rc = hlo_convert_write(m, &scratch, &root, e);

    if (!rc)
        hlo_reflect_to_json(&root->base, out);
    arena_release(&scratch);
    if (!rc && out->failed)
        rc = err_no_memory(e, "to write the module");
    return rc;
}
