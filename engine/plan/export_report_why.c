/* engine/plan/export_report_why.c - why each group of a strict plan is split or whole, and what
 * each of its collectives is for. */
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/plan/explain.h"
#include "engine/plan/export_report_internal.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { AXES_ROOM = MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1, COLLECTIVES_SHOWN = 200 };

/* ---- groups ---- */

struct group {
    class_id class;
    double weight; /* ms that its decision moves */
    label best;    /* the best other label, when one is possible */
    double best_ms;
    class_id by;      /* the split class that keeps it whole; CLASS_NONE */
    const char *base; /* its name but for the layer */
};

/* The split class that keeps `k` whole; NULL: none does. */
static const struct class_meet *excluded_by(const struct plan *plan, class_id k)
{
    const struct classes *c = &plan->problem->classes;

    for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
        const struct class_meet *meet = &c->meets[c->info[k].meets + n];
        if (plan->on[meet->other])
            return meet;
    }
    return NULL;
}

static void find_best(const struct plan *plan, struct group *g)
{
    const struct labels *l = &plan->problem->labels;

    g->best_ms = INFINITY;
    for (uint32_t a = 0; a < l->count; a++) {
        double ms = (label)a == plan->on[g->class] ? -1 : explain_flip_ms(plan, g->class, (label)a);
        if (ms < 0 || ms >= g->best_ms)
            continue;
        g->best = (label)a;
        g->best_ms = ms;
    }
    g->weight = isfinite(g->best_ms) ? fabs(g->best_ms - plan->cost.step_ms) : 0;
}

/* What moves most first; then groups of one name that share a reason stand together. */
static int first_to_tell(const void *x, const void *y)
{
    const struct group *a = x, *b = y;

    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    int order = strcmp(a->base, b->base);
    if (order)
        return order;
    if (a->by != b->by)
        return a->by < b->by ? -1 : 1;
    return (a->class > b->class) - (a->class < b->class);
}

static bool same_choice(const struct group *a, const struct group *b)
{
    if (!isfinite(a->best_ms) || !isfinite(b->best_ms))
        return !isfinite(a->best_ms) && !isfinite(b->best_ms) && a->by == b->by;
    return a->best == b->best && fabs(a->best_ms - b->best_ms) <= 1e-4 * a->best_ms;
}

/* One name, one status, one reason and one choice: told together. */
static bool alike_groups(const struct report *r, const struct group *a, const struct group *b)
{
    const struct class_info *info = r->plan->problem->classes.info;

    return !strcmp(a->base, b->base) && same_choice(a, b) &&
           info[a->class].reason == info[b->class].reason &&
           r->plan->on[a->class] == r->plan->on[b->class] &&
           r->plan->by[a->class] == r->plan->by[b->class];
}

static void add_place(const struct report *r, hlo_id id)
{
    const struct problem *p = r->plan->problem;
    const struct hlo_meta *meta = hlo_meta(p->m, id);

    report_add_plain(r->out, hlo_name(p->m, id));
    str_add(r->out, " (");
    report_add_plain(r->out, hlo_op_info[hlo_at(p->m, id)->opcode].name);
    if (meta->source_file[0]) {
        str_add(r->out, ", ");
        report_add_plain(r->out, hlo_file_name(meta->source_file));
        str_format(r->out, ":%u", meta->source_line);
    }
    str_add_char(r->out, ')');
}

static void write_other(const struct report *r, const struct group *g)
{
    const struct plan *plan = r->plan;
    char axes[AXES_ROOM], ms[UNITS_ROOM], change[UNITS_ROOM];

    if (!isfinite(g->best_ms)) {
        str_add(r->out, "none");
        return;
    }
    mesh_set_format(&plan->problem->mesh, g->best, axes, sizeof axes);
    str_format(r->out, "%s%s: %s, %s", g->best ? "over " : "", g->best ? axes : "whole",
               units_ms(ms, g->best_ms),
               units_change(change, g->best_ms - plan->cost.step_ms,
                            units_ms_decimals(plan->cost.step_ms)));
}

static void write_reason(const struct report *r, const struct group *g)
{
    const struct problem *p = r->plan->problem;
    const struct class_info *info = &p->classes.info[g->class];
    const struct class_meet *meet = excluded_by(r->plan, g->class);
    char name[NAME_ROOM], ms[UNITS_ROOM];

    if (info->reason != CLASS_ALLOWED) {
        str_format(r->out, "can never be split: %s ", class_reason_text[info->reason]);
        add_place(r, info->place);
    } else if (r->plan->by[g->class] == PLAN_BY_PIN) {
        str_add(r->out, "a person decided so");
    } else if (r->plan->on[g->class] && isfinite(g->best_ms)) {
        double gain = g->best_ms - r->plan->cost.step_ms;
        str_format(r->out,
                   gain >= 0 ? "saves %s a step against the next best"
                             : "costs %s a step more than its best",
                   units_ms(ms, fabs(gain)));
    } else if (!label_is_splittable(&p->labels, g->class)) {
        str_format(r->out, "no split of this mesh fits its size, %lld", (long long)info->least);
    } else if (!r->plan->on[g->class] && isfinite(g->best_ms)) {
        double loss = g->best_ms - r->plan->cost.step_ms;
        str_format(r->out,
                   loss >= 0 ? "a split would cost %s a step"
                             : "was left so: a split would save %s a step",
                   units_ms(ms, fabs(loss)));
    } else if (meet) {
        str_add(r->out, "meets ");
        report_add_plain(r->out, class_name(&r->names, meet->other, name));
        str_add(r->out, ", which is split, at ");
        add_place(r, meet->place);
    } else {
        str_add(r->out, "was left so");
    }
}

/* So many groups, which are alike. `classes` has room for them. */
static void write_group(const struct report *r, const struct group *g, uint32_t count,
                        class_id *classes)
{
    const struct problem *p = r->plan->problem;
    label on = r->plan->on[g->class];
    char name[NAME_ROOM], axes[AXES_ROOM];
    uint32_t dims = 0;

    for (uint32_t k = 0; k < count; k++) {
        const struct class_info *info = &p->classes.info[g[k].class];
        classes[k] = g[k].class;
        dims += info->var_dims + info->input_dims;
    }
    mesh_set_format(&p->mesh, on, axes, sizeof axes);
    str_add(r->out, "| ");
    report_add_plain(r->out, class_names_joined(&r->names, classes, count, name));
    str_format(r->out, " | %u | %s%s | ", dims, on ? "split over " : "", on ? axes : "whole");
    write_reason(r, g);
    str_add(r->out, " | ");
    write_other(r, g);
    str_add(r->out, " |\n");
}

int report_write_reasons(const struct report *r, struct err *e)
{
    const struct classes *c = &r->plan->problem->classes;
    struct group *groups = mem_try((size_t)c->count + 1, sizeof *groups);
    class_id *classes = mem_try((size_t)c->count + 1, sizeof *classes);
    uint32_t count = 0;
    int rc = groups && classes ? 0 : err_no_memory(e, "for the report");

    if (rc)
        goto out;
    for (class_id k = 0; k < c->count; k++) {
        if (!c->info[k].var_dims && !c->info[k].input_dims && !r->plan->on[k])
            continue;
        const struct class_meet *meet = r->plan->on[k] ? NULL : excluded_by(r->plan, k);
        groups[count] = (struct group){
            .class = k, .by = meet ? meet->other : CLASS_NONE, .base = r->names.items[k].base};
        find_best(r->plan, &groups[count++]);
    }
    qsort(groups, count, sizeof *groups, first_to_tell);
    str_add(r->out,
            "\n## Why each group is as it is\n\nDims of variables and inputs that can only be "
            "split together, the decision that moves most first. The last column is the best "
            "other choice if all the rest stays, and what it changes.\n\n"
            "| group | dims | is | because | otherwise |\n|---|---:|---|---|---|\n");
    for (uint32_t k = 0, next; k < count; k = next) {
        for (next = k + 1; next < count && alike_groups(r, &groups[k], &groups[next]);)
            next++;
        write_group(r, &groups[k], next - k, classes);
    }
out:
    free(classes);
    free(groups);
    return rc;
}

/* ---- collectives ---- */

static int dearest_first(const void *x, const void *y)
{
    const struct plan_collective *a = *(const struct plan_collective *const *)x,
                                 *b = *(const struct plan_collective *const *)y;

    if (a->ms != b->ms)
        return a->ms < b->ms ? 1 : -1;
    return (a > b) - (a < b);
}

static void write_collective(const struct report *r, const struct plan_collective *c)
{
    const struct problem *p = r->plan->problem;
    char axes[AXES_ROOM], name[NAME_ROOM], count[UNITS_ROOM], bytes[UNITS_ROOM];

    mesh_set_format(&p->mesh, c->over, axes, sizeof axes);
    str_format(r->out, "| %s | ", collective_name((enum collective_kind)c->kind));
    add_place(r, c->instruction);
    str_format(r->out, " | %s | ", axes);
    report_add_plain(r->out, c->cause == CLASS_NONE ? "moving between layouts"
                                                    : class_name(&r->names, c->cause, name));
    str_format(r->out, " | %s | %s | %.3g |\n", units_count(count, c->count),
               units_bytes(bytes, c->bytes), c->ms);
}

int report_write_each_collective(const struct report *r, struct err *e)
{
    const struct plan_collective **list = mem_try(r->count + 1, sizeof *list);
    double rest = 0;

    if (!list)
        return err_no_memory(e, "for the report");
    for (size_t n = 0; n < r->count; n++)
        list[n] = &r->list[n];
    if (r->count)
        qsort(list, r->count, sizeof *list, dearest_first);
    if (r->count)
        str_add(r->out, "\nOne by one, the dearest first: where it stands, over which axes, and "
                        "the split that causes it.\n\n| kind | result of | over | split of | times "
                        "| bytes | ms |\n|---|---|---|---|---:|---:|---:|\n");
    for (size_t n = 0; n < r->count; n++) {
        if (n < COLLECTIVES_SHOWN)
            write_collective(r, list[n]);
        else
            rest += list[n]->ms;
    }
    if (r->count > COLLECTIVES_SHOWN)
        str_format(r->out, "\nAnd %zu more, %.3g ms together.\n", r->count - COLLECTIVES_SHOWN,
                   rest);
    free(list);
    return 0;
}
