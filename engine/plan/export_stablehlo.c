#include "engine/plan/export_stablehlo.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/labels.h"
#include "engine/plan/export_hlo.h"
#include "engine/plan/sharding.h"
#include "engine/problem/problem.h"
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/write_stablehlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static void write_axes(const struct cluster_mesh *mesh, label over, bool *is_first, struct str *out)
{
    for (uint32_t x = 0; x < mesh->axes; x++) {
        if (!(over >> x & 1))
            continue;
        str_format(out, "%s\"%s\"", *is_first ? "" : ", ", mesh->axis[x].name);
        *is_first = false;
    }
}

/* HLO's sharding as Shardy's dims: `[{"x"}, {}]`, the first axis outermost. */
static bool write_dims(void *context, const char *text, size_t size, uint32_t rank, struct str *out)
{
    const struct cluster_mesh *mesh = context;
    label over[HLO_RANK_MAX] = {0}, inner, all = (label)((1U << mesh->axes) - 1);

    if (rank > HLO_RANK_MAX ||
        sharding_read_inner(mesh, text, size, rank, all, over, &inner) != size)
        return false;
    str_add_char(out, '[');
    for (uint32_t d = 0; d < rank; d++) {
        bool is_first = true;
        str_add(out, d ? ", {" : "{");
        write_axes(mesh, over[d] & (label)~inner, &is_first, out);
        write_axes(mesh, over[d] & inner, &is_first, out);
        str_add_char(out, '}');
    }
    str_add_char(out, ']');
    return true;
}

static void write_mesh(const struct cluster_mesh *mesh, struct str *out)
{
    str_add(out, "<[");
    for (uint32_t x = 0; x < mesh->axes; x++)
        str_format(out, "%s\"%s\"=%u", x ? ", " : "", mesh->axis[x].name, mesh->axis[x].size);
    str_add(out, "]>");
}

/* The module as export_hlo annotates it. */
static int annotated(const struct plan *plan, struct str *warnings, struct hlo_module **out,
                     struct err *e)
{
    struct str text = {0};
    int rc = export_hlo(plan, SHARDING_V2, &text, warnings, e);

    if (!rc)
        rc = export_hlo_check(plan, text.text, text.size, e);
    if (!rc)
        rc = hlo_load_memory("plan", text.text, text.size, NULL, out, e);
    str_release(&text);
    return rc;
}

int export_stablehlo(const struct plan *plan, struct str *out, struct str *warnings, struct err *e)
{
    struct cluster_mesh mesh = plan->problem->mesh;
    struct hlo_module *m = NULL;
    struct str axes = {0};
    int rc = annotated(plan, warnings, &m, e);

    if (rc)
        goto out;
    write_mesh(&mesh, &axes);
    struct stablehlo_write_options o = {.mesh = axes.text, .dims = write_dims, .context = &mesh};
    rc = axes.failed ? err_no_memory(e, "to export the plan") : hlo_write_stablehlo(m, &o, out, e);
    if (!rc && plan->problem->file->format != HLO_FORMAT_STABLEHLO)
        str_add(warnings,
                "the model was read from HLO: the StableHLO is its translation, not the text "
                "that JAX prints\n");
out:
    hlo_free(m);
    str_release(&axes);
    return rc;
}

int export_stablehlo_check(const struct plan *plan, const char *text, size_t size, struct err *e)
{
    const struct problem *p = plan->problem;
    struct hlo_module *m = NULL;
    int rc = hlo_load_memory("export", text, size, NULL, &m, e);

    if (rc)
        return rc;
    const struct hlo_computation *was = &p->m->computations[p->m->entry];
    const struct hlo_computation *is = &m->computations[m->entry];
    if (is->param_count != was->param_count)
        rc = err_set(e, ERR_INPUT, "the export does not read back as the plan");
    for (uint32_t n = 0; !rc && n < was->param_count; n++) {
        const struct hlo_shape *a = hlo_shape(p->m, was->params[n]),
                               *b = hlo_shape(m, is->params[n]);
        if (a->type != b->type || a->rank != b->rank || a->elements != b->elements)
            rc = err_set(e, ERR_INPUT, "the export does not read back as the plan");
    }
    hlo_free(m);
    return rc;
}
