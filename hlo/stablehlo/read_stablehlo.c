/* StableHLO (MLIR text) to a module. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <string.h>

static int set_name(struct mlir_module *m)
{
    struct hlo_module *out = hlo_builder_module(m->b);
    size_t size = m->name.size < HLO_NAME_MAX ? m->name.size : HLO_NAME_MAX;
    char *copy = arena_get(&out->arena, size + 8, 1);

    if (!copy)
        return hlo_mlir_memory(m);
    if (size)
        text_clean(copy, size + 1, m->name.text, size);
    else
        memcpy(copy, "main", 5);
    for (char *p = copy; *p; p++) { /* a name of HLO ends at these */
        if (*p == ' ' || *p == ',' || *p == ':')
            *p = '_';
    }
    out->name = copy;
    out->format = HLO_FORMAT_STABLEHLO;
    return 0;
}

static int read_module(struct mlir_module *m, hlo_comp *entry)
{
    struct lower *l;
    const char *zero = memchr(m->input, 0, m->size);
    int rc;

    if (zero) {
        err_set(m->e, ERR_INPUT, "a zero byte in text, expected MLIR");
        return err_at(m->e, m->input, m->size, (size_t)(zero - m->input));
    }
    l = mem_try(1, sizeof *l);
    rc = l ? hlo_mlir_parse(m) : hlo_mlir_memory(m);
    if (rc)
        goto out;
    l->m = m;
    l->b = m->b;
    l->e = m->e;
    rc = set_name(m);
    if (rc)
        goto out;
    rc = hlo_lower_module(l, entry);
out:
    free(l);
    return rc;
}

int hlo_read_stablehlo(char *input, size_t size, const struct hlo_load_options *o,
                       struct hlo_module **out, struct err *e)
{
    struct mlir_module m = {.input = input, .size = size, .e = e};
    hlo_comp entry = HLO_NONE;

    (void)o;
    m.b = hlo_builder_new(input, size, hlo_memory_limit(size));
    if (!m.b)
        return err_set(e, ERR_MEMORY, "not enough memory for this module");
    int rc = read_module(&m, &entry);
    hlo_mlir_release(&m);
    if (rc) {
        hlo_builder_free(m.b);
        return rc;
    }
    return hlo_builder_finish(m.b, entry, out, e);
}
