#include "engine/plan/memory_peak.h"

#include "engine/cluster/mesh.h"
#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

void plan_peak_write_class(const struct plan *p, class_id k, struct str *out)
{
    const struct problem *q = p->problem;

    for (int variables = 1; variables >= 0; variables--) {
        for (uint32_t n = 0; n < q->roles.param_count; n++) {
            const struct hlo_param_role *r = &q->roles.params[n];
            if ((r->role == HLO_ROLE_VARIABLE) != (variables == 1))
                continue;
            for (uint32_t d = 0; d < hlo_value_shape(q->m, r->value)->rank; d++) {
                if (problem_param_class(q, n, d) == k) {
                    str_format(out, "%s:%u", r->name, d);
                    return;
                }
            }
        }
    }
    str_format(out, "class %u", k);
}

static void write_axes(const struct plan *p, label over, struct str *out)
{
    char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1];

    if (!over) {
        str_add(out, "whole");
    } else if (p->problem->mesh.axes == 1) {
        str_format(out, "split over %u", p->problem->labels.parts[over]);
    } else {
        mesh_set_format(&p->problem->mesh, over, axes, sizeof axes);
        str_format(out, "split over %s", axes);
    }
}

static void write_source(const struct hlo_module *m, hlo_id id, struct str *out)
{
    const struct hlo_meta *meta = hlo_meta(m, id);

    if (meta->source_file && meta->source_file[0])
        str_format(out, "  %s:%u", meta->source_file, meta->source_line);
}

static void write_tops(const struct plan *p, const struct memory_cost *cost, uint32_t tops,
                       struct str *out)
{
    const struct problem *q = p->problem;
    struct memory_top list[64];
    uint32_t count =
        memory_tops(&q->memory, &q->labels, p->on, cost->at, list, tops < 64 ? tops : 64);
    char bytes[UNITS_ROOM];

    str_add(out, "\n  largest values live there\n");
    for (uint32_t k = 0; k < count; k++) {
        hlo_id id = q->m->value_instruction[list[k].value];
        str_format(out, "  %12s  %-11s %-28s ", units_bytes(bytes, list[k].bytes),
                   memory_kind_names[list[k].kind], hlo_name(q->m, id));
        plan_write_shape(p, list[k].value, out);
        if (*memory_storing_words[list[k].storing])
            str_format(out, "  %s", memory_storing_words[list[k].storing]);
        write_source(q->m, id, out);
        str_add_char(out, '\n');
    }
}

static void write_change(const struct plan *p, const struct peak_change *c, double peak,
                         struct str *out)
{
    char bytes[UNITS_ROOM], ms[UNITS_ROOM], before[UNITS_ROOM], less[UNITS_ROOM];

    str_add(out, "\n  the change that lowers it most: ");
    plan_peak_write_class(p, c->class, out);
    if (c->classes > 1)
        str_format(out, " and the same in %u layers", c->classes - 1);
    str_add(out, " ");
    write_axes(p, c->to, out);
    str_format(out, " (now ");
    write_axes(p, c->from, out);
    str_format(out, ")\n  %12s  in place of %s, %s less; step %s\n", units_bytes(bytes, c->peak),
               units_bytes(before, peak), units_bytes(less, peak - c->peak),
               units_ms(ms, c->step_ms));
}

int plan_peak_write(const struct plan *p, uint32_t tops, struct str *out, struct err *e)
{
    const struct problem *q = p->problem;
    struct peak_change *list = NULL;
    struct memory_cost cost;
    char bytes[UNITS_ROOM];
    uint32_t count;
    int rc = plan_memory(p, &cost, e);

    if (rc)
        return rc;
    rc = plan_peak_changes(p, &list, &count, e);
    if (rc)
        return rc;
    str_format(out, "  peak            %12s  while %s runs", units_bytes(bytes, cost.peak),
               hlo_name(q->m, cost.at));
    write_source(q->m, cost.at, out);
    str_add_char(out, '\n');
    for (int k = 0; k < MEMORY_KIND_COUNT; k++)
        str_format(out, "  %-14s %13s\n", memory_kind_names[k], units_bytes(bytes, cost.bytes[k]));
    write_tops(p, &cost, tops, out);
    if (count)
        write_change(p, &list[0], cost.peak, out);
    else
        str_add(out, "\n  no change of a single decision lowers it\n");
    str_add_char(out, '\n');
    free(list);
    return out->failed ? err_no_memory(e, "to look at the peak") : 0;
}
