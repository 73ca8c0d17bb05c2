#include "engine/plan/export_stablehlo.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/labels.h"
#include "engine/plan/export_hlo.h"
#include "engine/plan/export_hlo_internal.h"
#include "engine/plan/partial_sums.h"
#include "engine/plan/sharding.h"
#include "engine/problem/problem.h"
#include "hlo/load.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/write_stablehlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
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

struct annotator {
    struct cluster_mesh mesh;
    struct unreduced {
        const char *name; /* of the instruction */
        label on, ends;
    } * list; /* sorted by name */
    size_t count;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct unreduced *)a)->name, ((const struct unreduced *)b)->name);
}

/* Names are those of the plan's module, which writing and reading keep. */
static int list_unreduced(struct annotator *a, const struct hlo_module *m,
                          const struct partial_sums *sums, struct err *e)
{
    a->list = mem_try((size_t)m->count + 1, sizeof *a->list);
    if (!a->list)
        return err_no_memory(e, "to export the plan");
    for (hlo_id id = 0; sums->on && id < m->count; id++) {
        if (sums->on[id])
            a->list[a->count++] = (struct unreduced){hlo_name(m, id), sums->on[id], sums->ends[id]};
    }
    qsort(a->list, a->count, sizeof *a->list, by_name);
    return 0;
}

static const struct unreduced *unreduced_of(const struct annotator *a, const char *name)
{
    struct unreduced key = {.name = name};

    return a->count ? bsearch(&key, a->list, a->count, sizeof *a->list, by_name) : NULL;
}

static void write_unreduced(void *context, const char *name, bool is_second, struct str *out)
{
    const struct annotator *a = context;
    const struct unreduced *found = unreduced_of(a, name);
    label on = !found ? 0 : is_second ? found->on & (label)~found->ends : found->on;
    bool is_first = true;

    if (!on)
        return;
    str_add(out, ", unreduced={");
    write_axes(&a->mesh, on, &is_first, out);
    str_add_char(out, '}');
}

static bool is_combined_behind(void *context, const char *name)
{
    const struct unreduced *found = unreduced_of(context, name);

    return found && found->ends;
}

/* HLO's sharding as Shardy's dims: `[{"x"}, {}]`, the first axis outermost. */
static bool write_dims(void *context, const char *text, size_t size, uint32_t rank, struct str *out)
{
    const struct cluster_mesh *mesh = &((const struct annotator *)context)->mesh;
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

/* The module as export_hlo annotates it, read again, and which sums it keeps. */
static int annotated(const struct plan *plan, struct annotator *a, struct str *warnings,
                     struct hlo_module **out, struct err *e)
{
    struct hlo_annotations of;
    struct str text = {0};
    int rc;

    if ((rc = hlo_annotations_new(plan, true, &of, e)) ||
        (rc = hlo_annotations_write(plan, &of, SHARDING_V2, &text, warnings, e)) ||
        (rc = export_hlo_check(plan, text.text, text.size, e)) ||
        (rc = hlo_load_memory("plan", text.text, text.size, NULL, out, e)))
        goto out;
    rc = list_unreduced(a, plan->problem->m, &of.sums, e);
out:
    hlo_annotations_release(&of);
    str_release(&text);
    return rc;
}

int export_stablehlo(const struct plan *plan, struct str *out, struct str *warnings, struct err *e)
{
    struct annotator a = {.mesh = plan->problem->mesh};
    struct hlo_module *m = NULL;
    struct str axes = {0};
    int rc = annotated(plan, &a, warnings, &m, e);

    if (rc)
        goto out;
    write_mesh(&a.mesh, &axes);
    struct stablehlo_write_options o = {.mesh = axes.text,
                                        .dims = write_dims,
                                        .unreduced = write_unreduced,
                                        .is_combined = is_combined_behind,
                                        .context = &a};
    rc = axes.failed ? err_no_memory(e, "to export the plan") : hlo_write_stablehlo(m, &o, out, e);
    if (rc)
        goto out;
    if (plan->problem->file->format != HLO_FORMAT_STABLEHLO)
        str_add(warnings,
                "the model was read from HLO: the StableHLO is its translation, not the text "
                "that JAX prints\n");
out:
    hlo_free(m);
    free(a.list);
    str_release(&axes);
    return rc;
}

static bool same_array(const struct hlo_shape *a, const struct hlo_shape *b)
{
    return a->type == b->type && a->rank == b->rank &&
           !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims);
}

/* Parameter `was_id` is `arguments` now, one for each leaf: as large and split as it was
 * written. */
static bool same_arguments(const struct cluster_mesh *mesh, const struct hlo_module *m,
                           const hlo_id *arguments, const struct hlo_module *was, hlo_id was_id)
{
    const struct hlo_attr *b = hlo_attr(was, was_id, HLO_ATTR_SHARDING);
    bool is_tuple = hlo_shape(was, was_id)->type == HLO_TUPLE;
    const char *text = b ? b->text + is_tuple : NULL, *end = b ? b->text + b->size : NULL;

    for (hlo_value v = was->leaf_base[was_id]; v < was->leaf_base[was_id + 1]; v++, arguments++) {
        const struct hlo_attr *a = hlo_attr(m, *arguments, HLO_ATTR_SHARDING);
        const struct hlo_shape *s = hlo_value_shape(was, v);
        label is[HLO_RANK_MAX] = {0}, wanted[HLO_RANK_MAX] = {0};
        if (!same_array(s, hlo_shape(m, *arguments)) || !a != !b)
            return false;
        if (!b)
            continue;
        text += strspn(text, ", ");
        size_t size = sharding_read(mesh, text, (size_t)(end - text), s->rank, wanted);
        if (!size || sharding_read(mesh, a->text, a->size, s->rank, is) != a->size ||
            memcmp(is, wanted, s->rank * sizeof *is))
            return false;
        text += size;
    }
    return true;
}

static bool same_entry(const struct plan *plan, const struct hlo_module *m,
                       const struct hlo_module *was)
{
    const struct hlo_computation *a = &was->computations[was->entry];
    const struct hlo_computation *b = &m->computations[m->entry];
    uint32_t results = was->leaf_base[a->root + 1] - was->leaf_base[a->root], at = 0;

    if (results != m->leaf_base[b->root + 1] - m->leaf_base[b->root])
        return false;
    for (uint32_t n = 0; n < a->param_count; n++) {
        uint32_t leaves = was->leaf_base[a->params[n] + 1] - was->leaf_base[a->params[n]];
        if (at + leaves > b->param_count ||
            !same_arguments(&plan->problem->mesh, m, b->params + at, was, a->params[n]))
            return false;
        at += leaves;
    }
    if (at != b->param_count)
        return false;
    for (uint32_t n = 0; n < results; n++) {
        if (!same_array(hlo_value_shape(was, was->leaf_base[a->root] + n),
                        hlo_value_shape(m, m->leaf_base[b->root] + n)))
            return false;
    }
    return true;
}

int export_stablehlo_check(const struct plan *plan, const char *text, size_t size, struct err *e)
{
    struct annotator a = {.mesh = plan->problem->mesh};
    struct hlo_module *m = NULL, *was = NULL;
    struct str warnings = {0};
    int rc = hlo_load_memory("export", text, size, NULL, &m, e);

    if (rc || (rc = annotated(plan, &a, &warnings, &was, e)))
        goto out;
    if (!same_entry(plan, m, was))
        rc = err_set(e, ERR_INPUT, "the export does not read back as the plan");
out:
    hlo_free(m);
    hlo_free(was);
    free(a.list);
    str_release(&warnings);
    return rc;
}
