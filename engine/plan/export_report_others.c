/* engine/plan/export_report_others.c - what else one could do, and what that loses: no split at
 * all, data parallelism, the proven best strict plan, and the best plans that decide one group
 * otherwise. For a relaxed plan: the best found that treat one large variable otherwise, and
 * without one of its dearest reshards. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "engine/plan/explain.h"
#include "engine/plan/explain_reshard.h"
#include "engine/plan/export_report_internal.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum {
    GROUPS_TRIED = 8,
    RESHARDS_TRIED = 3,
    SWEEPS = 20,
    AXES_ROOM = MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1
};

/* A row that was written, so that another name of the same plan can join it. */
struct row {
    uint64_t plan;   /* hash of all it decides */
    size_t name_end; /* in the report */
};
struct others {
    const struct report *r;
    struct row *rows;
    size_t count, room;
};

/* Another name for a plan that has its row already. */
static int join_row(struct others *o, size_t number, const char *what, struct err *e)
{
    struct str name = {0}, *out = o->r->out;
    size_t at = o->rows[number].name_end;
    int rc = 0;

    str_add(&name, "; or ");
    report_add_plain(&name, what);
    size_t size = name.size, old = out->size;
    str_add(out, name.text ? name.text : "");
    if (name.failed || out->failed) {
        rc = err_no_memory(e, "for the report");
        goto out;
    }
    memmove(out->text + at + size, out->text + at, old - at);
    memcpy(out->text + at, name.text, size);
    for (size_t n = 0; n < o->count; n++)
        o->rows[n].name_end += o->rows[n].name_end >= at ? size : 0;
out:
    str_release(&name);
    return rc;
}

static int write_row(struct others *o, const char *what, const struct report_turn *other,
                     struct err *e)
{
    const struct report *r = o->r;
    double device = cluster_weakest(&r->plan->problem->cluster).memory_bytes,
           limit = r->plan->memory_limit > 0 ? fmin(r->plan->memory_limit, device) : device;
    double more = other->ms - r->plan->cost.step_ms;
    char step[UNITS_ROOM], change[UNITS_ROOM], bytes[UNITS_ROOM], percent[UNITS_ROOM];

    for (size_t n = 0; n < o->count; n++) {
        if (o->rows[n].plan == other->plan)
            return join_row(o, n, what, e);
    }
    if (!mem_grow(&o->rows, &o->room, o->count, 1))
        return err_no_memory(e, "for the report");
    str_add(r->out, "| ");
    report_add_plain(r->out, what);
    o->rows[o->count++] = (struct row){other->plan, r->out->size};
    str_format(r->out, " | %s | %s (%s) | %s%s |\n", units_ms(step, other->ms),
               units_change(change, more, units_ms_decimals(r->plan->cost.step_ms)),
               units_percent(percent, more / r->plan->cost.step_ms),
               units_bytes(bytes, other->peak),
               other->peak <= limit    ? ""
               : other->peak <= device ? ", over the limit"
                                       : ", does not fit");
    return 0;
}

/* Takes `other`'s costs into the row and releases it. */
static int write_plan(struct others *o, const char *what, struct plan *other, struct err *e)
{
    struct report_turn turn = {0};
    int rc = report_price(other, &turn, e);

    return rc ? rc : write_row(o, what, &turn, e);
}

static int write_labels(struct others *o, const char *what, const label *on, struct err *e)
{
    const struct problem *p = o->r->plan->problem;
    struct strict none = {0};
    struct plan other;
    int rc = strict_new(&p->labels, &none, e);

    if (rc)
        return rc;
    rc = plan_from_strict(p, &none, PLAN_BY_NOBODY, &other, e);
    strict_release(&none);
    if (rc)
        return rc;
    for (class_id k = 0; on && k < p->classes.count; k++)
        other.on[k] = on[k];
    other.cost = step_tables_cost(&p->step_tables, other.on);
    return write_plan(o, what, &other, e);
}

static int write_data_parallel(struct others *o, struct err *e)
{
    const struct problem *p = o->r->plan->problem;
    label over = 0, *on = mem_try((size_t)p->classes.count + 1, sizeof *on);
    class_id batch = plan_batch_class(p, &over);
    int rc = on ? 0 : err_no_memory(e, "for the report");

    if (rc || batch == CLASS_NONE)
        goto out;
    on[batch] = over;
    rc = write_labels(o, "data parallelism alone", on, e);
out:
    free(on);
    return rc;
}

/* The best plan that keeps `fixed`, written if it is proven and another than the report's. */
static int write_best(struct others *o, const char *what, const struct strict *fixed, struct err *e)
{
    const struct problem *p = o->r->plan->problem;
    struct exact_options how = {
        .goal = EXACT_STEP_TIME, .variables = true, .inputs = true, .stop = p->stop};
    struct exact_result best;
    int rc = exact_strict(&p->step_tables, fixed, &how, &best, e);

    if (rc)
        return rc;
    bool is_new = o->r->plan->relaxed ||
                  memcmp(best.on, o->r->plan->on, p->classes.count * sizeof *best.on) != 0;
    if (best.proven && is_new)
        rc = write_labels(o, what, best.on, e);
    exact_release(&best);
    return rc;
}

/* ---- one group otherwise ---- */

#define LIGHT 1e-3 /* ms; a group that the others keep whole weighs less */

/* What the best flip of a class moves, ms. Of one that the other splits keep whole: a split into
 * most parts, lighter than any flip, by its dims. -1: it can only be as it is. */
static double weight_of(const struct plan *plan, class_id k, label *to)
{
    const struct labels *l = &plan->problem->labels;
    double best = INFINITY;

    for (uint32_t a = 0; a < l->count; a++) {
        double ms = (label)a == plan->on[k] ? -1 : explain_flip_ms(plan, k, (label)a);
        if (ms >= 0 && ms < best) {
            best = ms;
            *to = (label)a;
        }
    }
    if (isfinite(best))
        return fabs(best - plan->cost.step_ms);
    if (plan->problem->classes.info[k].reason != CLASS_ALLOWED || !label_is_splittable(l, k))
        return -1;
    for (uint32_t a = 1; a < l->count; a++) {
        if (label_is_admissible(l, k, (label)a) && (!*to || l->parts[a] > l->parts[*to]))
            *to = (label)a;
    }
    return LIGHT * 1e-6 * plan->problem->classes.info[k].var_dims;
}

struct heavy {
    class_id class;
    label to;
    double weight;
};

/* A group of that name, of another layer, is in the list. */
static bool is_told(struct others *o, const struct heavy *list, uint32_t count, class_id k)
{
    for (uint32_t n = 0; n < count; n++) {
        if (!strcmp(o->r->names.items[list[n].class].base, o->r->names.items[k].base))
            return true;
    }
    return false;
}

static uint32_t find_heavy(struct others *o, struct heavy list[GROUPS_TRIED])
{
    const struct plan *plan = o->r->plan;
    const struct classes *c = &plan->problem->classes;
    uint32_t held = 0;

    for (class_id k = 0; k < c->count; k++) {
        struct heavy one = {.class = k};
        if (!c->info[k].var_dims && !c->info[k].input_dims)
            continue;
        one.weight = weight_of(plan, k, &one.to);
        if (one.weight < LIGHT && is_told(o, list, held, k))
            continue;
        uint32_t n = held < GROUPS_TRIED ? held++ : GROUPS_TRIED;
        for (; n && list[n - 1].weight < one.weight; n--) {
            if (n < GROUPS_TRIED)
                list[n] = list[n - 1];
        }
        if (n < GROUPS_TRIED)
            list[n] = one;
    }
    while (held && list[held - 1].weight < 0)
        held--;
    return held;
}

static int write_otherwise(struct others *o, const struct heavy *h, struct err *e)
{
    const struct problem *p = o->r->plan->problem;
    char name[NAME_ROOM], axes[AXES_ROOM], what[NAME_ROOM + AXES_ROOM + 48];
    struct strict fixed = {0};
    bool can_be = true;
    int rc = strict_new(&p->labels, &fixed, e);

    if (rc)
        return rc;
    for (uint32_t axis = 0; axis < p->mesh.axes; axis++)
        can_be &= strict_decide(&fixed, h->class, axis, h->to >> axis & 1, NULL);
    mesh_set_format(&p->mesh, h->to, axes, sizeof axes);
    snprintf(what, sizeof what, "%s %s%s, the rest at its best (proven)",
             class_name(&o->r->names, h->class, name), h->to ? "split over " : "whole",
             h->to ? axes : "");
    if (can_be)
        rc = write_best(o, what, &fixed, e);
    strict_release(&fixed);
    return rc;
}

static int write_groups(struct others *o, struct err *e)
{
    struct heavy list[GROUPS_TRIED];
    uint32_t count = find_heavy(o, list);
    int rc = 0;

    for (uint32_t k = 0; !rc && k < count; k++)
        rc = write_otherwise(o, &list[k], e);
    return rc;
}

/* ---- without a reshard ---- */

static uint32_t find_dearest(const struct relaxed_plan *x, uint32_t list[RESHARDS_TRIED])
{
    uint32_t held = 0;

    for (uint32_t k = 0; k < x->reshard_count; k++) {
        uint32_t n = held < RESHARDS_TRIED ? held++ : RESHARDS_TRIED;
        for (; n && x->reshards[list[n - 1]].ms < x->reshards[k].ms; n--) {
            if (n < RESHARDS_TRIED)
                list[n] = list[n - 1];
        }
        if (n < RESHARDS_TRIED)
            list[n] = k;
    }
    return held;
}

static int write_without(struct others *o, uint32_t number, struct err *e)
{
    const struct hlo_module *m = o->r->plan->problem->m;
    const struct relaxed_reshard *x = &o->r->plan->relaxed->reshards[number];
    char what[NAME_ROOM + 96];
    struct reshard_removal without;
    int rc = reshard_remove_until(o->r->plan, number, o->r->plan->problem->stop, &without, e);

    if (rc)
        return rc;
    snprintf(what, sizeof what, "without the %s of %.*s, the rest the best found",
             reshard_kind_names[x->kind], NAME_ROOM, hlo_name(m, m->value_instruction[x->value]));
    if (without.is_possible) {
        struct plan other = without.plan;
        without.plan = (struct plan){0};
        rc = write_plan(o, what, &other, e);
    } else {
        str_add(o->r->out, "| ");
        report_add_plain(o->r->out, what);
        str_add(o->r->out, " | impossible | ");
        report_add_plain(o->r->out, without.why_not);
        str_add(o->r->out, " | |\n");
    }
    reshard_removal_release(&without);
    return rc;
}

static int write_reshards(struct others *o, struct err *e)
{
    uint32_t list[RESHARDS_TRIED], count = find_dearest(o->r->plan->relaxed, list);
    int rc = 0;

    for (uint32_t k = 0; !rc && k < count; k++)
        rc = write_without(o, list[k], e);
    return rc;
}

/* The largest variables turned round, no two tied to each other by their first dim. */
static int write_turns(struct others *o, struct err *e)
{
    const struct problem *p = o->r->plan->problem;
    class_id told[GROUPS_TRIED];
    uint32_t count = 0;
    char what[NAME_ROOM + MESH_NAME_ROOM + 64];

    for (uint32_t k = 0; k < o->r->turn_count && count < GROUPS_TRIED; k++) {
        const struct report_turn *t = &o->r->turns[k];
        const struct hlo_param_role *a = &p->roles.params[t->pin.param];
        bool is_new = t->is_possible && a->role == HLO_ROLE_VARIABLE;
        class_id first = is_new ? p->classes.class_of[p->classes.dim_base[a->value]] : CLASS_NONE;
        for (uint32_t n = 0; n < count; n++)
            is_new &= told[n] != first;
        if (!is_new)
            continue;
        told[count++] = first;
        snprintf(what, sizeof what, "%.*s: dim %u %s %s, the rest the best found", NAME_ROOM,
                 a->name, t->pin.dim, t->pin.kind == RELAXED_WHOLE ? "whole along" : "split over",
                 p->mesh.axis[t->pin.axis].name);
        int rc = write_row(o, what, t, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int write_all(struct others *o, struct err *e)
{
    int rc = write_labels(o, "everything on each device", NULL, e);

    if (rc)
        return rc;
    rc = write_data_parallel(o, e);
    if (rc)
        return rc;
    rc = write_best(o,
                    o->r->plan->relaxed ? "the best that reshards nothing (proven)"
                                        : "the best of all strict plans (proven)",
                    NULL, e);
    if (rc)
        return rc;
    if (!o->r->plan->relaxed)
        return write_groups(o, e);
    rc = write_turns(o, e);
    return rc ? rc : write_reshards(o, e);
}

int report_write_others(const struct report *r, struct err *e)
{
    struct others o = {.r = r};

    str_add(r->out, "\n## What else could be done\n\nOther plans for the same model on the same "
                    "devices, and what each loses against this one.\n\n| plan | step | against "
                    "this one | memory of a device |\n|---|---:|---:|---:|\n");
    int rc = write_all(&o, e);
    free(o.rows);
    return rc;
}
