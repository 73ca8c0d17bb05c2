#include "engine/plan/memory_peak.h"

#include "engine/cluster/mesh.h"
#include "engine/cost/fold.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

struct look {
    const struct plan *plan;
    struct fold fold;
    label *on; /* [classes] scratch */
    double *scratch;
    struct peak_change *list;
    uint32_t count;
    size_t room;
};

/* Gives class `k` label `to`; those it meets give up the axes they share. False when one cannot. */
static bool set_class(struct look *l, class_id k, label to)
{
    const struct problem *p = l->plan->problem;
    const struct class_info *info = &p->classes.info[k];

    for (uint32_t n = 0; n < info->meet_count; n++) {
        class_id other = p->classes.meets[info->meets + n].other;
        label left = l->on[other] & (label)~to;
        if (!label_is_admissible(&p->labels, other, left))
            return false;
        l->on[other] = left;
    }
    l->on[k] = to;
    return true;
}

/* The whole colour of class `first` takes label `to`. */
static bool try_change(struct look *l, class_id first, label to, double peak)
{
    const struct problem *p = l->plan->problem;
    struct peak_change c = {.class = first, .from = l->plan->on[first], .to = to};
    bool ok = true;

    memcpy(l->on, l->plan->on, p->classes.count * sizeof *l->on);
    for (class_id k = first; k < p->classes.count && ok; k++) {
        if (l->fold.colour[k] != l->fold.colour[first])
            continue;
        ok = label_is_admissible(&p->labels, k, to) && set_class(l, k, to);
        c.classes++;
    }
    if (!ok)
        return true;
    c.peak = memory_of(&p->memory, &p->labels, l->on, l->scratch).peak;
    c.step_ms = step_tables_cost(&p->step_tables, l->on).step_ms;
    if (c.peak >= peak * (1 - 1e-9))
        return true;
    if (!mem_grow(&l->list, &l->room, l->count, 1))
        return false;
    l->list[l->count++] = c;
    return true;
}

static int lowest_first(const void *a, const void *b)
{
    const struct peak_change *x = a, *y = b;

    if (x->peak != y->peak)
        return x->peak < y->peak ? -1 : 1;
    if (x->step_ms != y->step_ms)
        return x->step_ms < y->step_ms ? -1 : 1;
    return x->class != y->class ? (x->class < y->class ? -1 : 1) : (int)x->to - (int)y->to;
}

static bool is_first_of_colour(const struct look *l, class_id k)
{
    for (class_id n = 0; n < k; n++) {
        if (l->fold.colour[n] == l->fold.colour[k])
            return false;
    }
    return true;
}

int plan_peak_changes(const struct plan *p, struct peak_change **out, uint32_t *count,
                      struct err *e)
{
    const struct problem *q = p->problem;
    struct look l = {.plan = p};

    *out = NULL;
    *count = 0;
    if (p->relaxed)
        return err_set(e, ERR_INPUT, "single changes of the peak are worked out for strict plans");
    int rc = fold_new(&q->step_tables, true, &l.fold, e);
    if (rc)
        return rc;
    l.on = mem_try(q->classes.count, sizeof *l.on);
    l.scratch = memory_scratch(&q->memory);
    bool ok = l.on && l.scratch;
    double peak = ok ? memory_of(&q->memory, &q->labels, p->on, l.scratch).peak : 0;
    for (class_id k = 0; k < q->classes.count && ok; k++) {
        bool asked = q->classes.info[k].var_dims || q->classes.info[k].input_dims;
        if (!asked || !label_is_splittable(&q->labels, k) || !is_first_of_colour(&l, k))
            continue;
        for (uint32_t a = 0; a < q->labels.count && ok; a++)
            ok = (label)a == p->on[k] || try_change(&l, k, (label)a, peak);
    }
    fold_release(&l.fold);
    free(l.on);
    free(l.scratch);
    if (!ok) {
        free(l.list);
        return err_no_memory(e, "to look at the peak");
    }
    if (l.count)
        qsort(l.list, l.count, sizeof *l.list, lowest_first);
    *out = l.list;
    *count = l.count;
    return 0;
}

/* ---- words ---- */

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
