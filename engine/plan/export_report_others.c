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

/* Takes `other`'s costs into the row and releases it. */
static int write_row(const struct report *r, const char *what, struct plan *other, struct err *e)
{
    double device = cluster_weakest(&r->plan->problem->cluster).memory_bytes,
           limit = r->plan->memory_limit > 0 ? fmin(r->plan->memory_limit, device) : device;
    double ms = other->cost.step_ms, more = ms - r->plan->cost.step_ms;
    char step[UNITS_ROOM], change[UNITS_ROOM], bytes[UNITS_ROOM], percent[UNITS_ROOM];
    struct memory_cost memory;
    int rc = plan_memory(other, &memory, e);

    plan_release(other);
    if (rc)
        return rc;
    str_add(r->out, "| ");
    report_add_plain(r->out, what);
    str_format(r->out, " | %s | %s (%s) | %s%s |\n", units_ms(step, ms),
               units_change(change, more, units_ms_decimals(r->plan->cost.step_ms)),
               units_percent(percent, more / r->plan->cost.step_ms),
               units_bytes(bytes, memory.peak),
               memory.peak <= limit    ? ""
               : memory.peak <= device ? ", over the limit"
                                       : ", does not fit");
    return 0;
}

static int write_labels(const struct report *r, const char *what, const label *on, struct err *e)
{
    const struct problem *p = r->plan->problem;
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
    return write_row(r, what, &other, e);
}

static int write_data_parallel(const struct report *r, struct err *e)
{
    const struct problem *p = r->plan->problem;
    label over = 0, *on = mem_try((size_t)p->classes.count + 1, sizeof *on);
    class_id batch = plan_batch_class(p, &over);
    int rc = on ? 0 : err_no_memory(e, "for the report");

    if (rc || batch == CLASS_NONE)
        goto out;
    on[batch] = over;
    rc = write_labels(r, "data parallelism alone", on, e);
out:
    free(on);
    return rc;
}

/* The best plan that keeps `fixed`, written if it is proven and another than the report's. */
static int write_best(const struct report *r, const char *what, const struct strict *fixed,
                      struct err *e)
{
    const struct problem *p = r->plan->problem;
    struct exact_options o = {
        .goal = EXACT_STEP_TIME, .variables = true, .inputs = true, .stop = p->stop};
    struct exact_result best;
    int rc = exact_strict(&p->step_tables, fixed, &o, &best, e);

    if (rc)
        return rc;
    bool is_new =
        r->plan->relaxed || memcmp(best.on, r->plan->on, p->classes.count * sizeof *best.on) != 0;
    if (best.proven && is_new)
        rc = write_labels(r, what, best.on, e);
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
static bool is_told(const struct report *r, const struct heavy *list, uint32_t count, class_id k)
{
    for (uint32_t n = 0; n < count; n++) {
        if (!strcmp(r->names.items[list[n].class].base, r->names.items[k].base))
            return true;
    }
    return false;
}

static uint32_t find_heavy(const struct report *r, struct heavy list[GROUPS_TRIED])
{
    const struct plan *plan = r->plan;
    const struct classes *c = &plan->problem->classes;
    uint32_t held = 0;

    for (class_id k = 0; k < c->count; k++) {
        struct heavy one = {.class = k};
        if (!c->info[k].var_dims && !c->info[k].input_dims)
            continue;
        one.weight = weight_of(plan, k, &one.to);
        if (one.weight < LIGHT && is_told(r, list, held, k))
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

static int write_otherwise(const struct report *r, const struct heavy *h, struct err *e)
{
    const struct problem *p = r->plan->problem;
    char name[NAME_ROOM], axes[AXES_ROOM], what[NAME_ROOM + AXES_ROOM + 32];
    struct strict fixed = {0};
    bool can_be = true;
    int rc = strict_new(&p->labels, &fixed, e);

    if (rc)
        return rc;
    for (uint32_t axis = 0; axis < p->mesh.axes; axis++)
        can_be &= strict_decide(&fixed, h->class, axis, h->to >> axis & 1, NULL);
    mesh_set_format(&p->mesh, h->to, axes, sizeof axes);
    snprintf(what, sizeof what, "%s %s%s, the rest at its best",
             class_name(&r->names, h->class, name), h->to ? "split over " : "whole",
             h->to ? axes : "");
    if (can_be)
        rc = write_best(r, what, &fixed, e);
    strict_release(&fixed);
    return rc;
}

static int write_groups(const struct report *r, struct err *e)
{
    struct heavy list[GROUPS_TRIED];
    uint32_t count = find_heavy(r, list);
    int rc = 0;

    for (uint32_t k = 0; !rc && k < count; k++)
        rc = write_otherwise(r, &list[k], e);
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

static int write_without(const struct report *r, uint32_t number, struct err *e)
{
    const struct hlo_module *m = r->plan->problem->m;
    const struct relaxed_reshard *x = &r->plan->relaxed->reshards[number];
    char what[NAME_ROOM + 64];
    struct reshard_removal without;
    int rc = reshard_remove_until(r->plan, number, r->plan->problem->stop, &without, e);

    if (rc)
        return rc;
    snprintf(what, sizeof what, "without the %s of %.*s", reshard_kind_names[x->kind], NAME_ROOM,
             hlo_name(m, m->value_instruction[x->value]));
    if (without.is_possible) {
        struct plan other = without.plan;
        without.plan = (struct plan){0};
        rc = write_row(r, what, &other, e);
    } else {
        str_add(r->out, "| ");
        report_add_plain(r->out, what);
        str_add(r->out, " | impossible | ");
        report_add_plain(r->out, without.why_not);
        str_add(r->out, " | |\n");
    }
    reshard_removal_release(&without);
    return rc;
}

/* ---- one variable otherwise ---- */

/* A decision against the plan's about a variable: whole where it is split, else split along the
 * first axis and dim that fits. False: nothing can be turned round. */
static bool turn_round(const struct plan *plan, uint32_t param, struct relaxed_pin *out)
{
    const struct problem *p = plan->problem;
    hlo_value v = p->roles.params[param].value;
    uint32_t rank = hlo_value_shape(p->m, v)->rank;

    *out = (struct relaxed_pin){.param = param};
    for (uint32_t k = 0; k < 2 * rank * p->mesh.axes; k++) {
        uint32_t dim = k / p->mesh.axes % rank, axis = k % p->mesh.axes;
        class_id c = p->classes.class_of[class_dim(&p->classes, v, dim)];
        bool is_split = relaxed_dim_label(plan->relaxed, plan->relaxed->made[v], dim) >> axis & 1;
        bool looks_for_split = k < rank * p->mesh.axes;
        if (is_split != looks_for_split || c == CLASS_NONE ||
            !label_is_admissible(&p->labels, c, (label)(1u << axis)))
            continue;
        out->dim = dim;
        out->axis = axis;
        out->kind = is_split ? RELAXED_WHOLE : RELAXED_SPLIT;
        return true;
    }
    return false;
}

/* The largest variables, no two tied to each other by their first dim. */
static uint32_t find_largest(const struct plan *plan, uint32_t list[GROUPS_TRIED])
{
    const struct problem *p = plan->problem;
    double bytes[GROUPS_TRIED];
    uint32_t held = 0;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *a = &p->roles.params[k];
        double size = hlo_value_shape(p->m, a->value)->rank
                          ? relaxed_local_bytes(p, a->value, STATUS_WHOLE)
                          : 0;
        bool is_known = a->role != HLO_ROLE_VARIABLE || !(size > 0);
        for (uint32_t n = 0; n < held && !is_known; n++)
            is_known = p->classes.class_of[p->classes.dim_base[a->value]] ==
                       p->classes.class_of[p->classes.dim_base[p->roles.params[list[n]].value]];
        if (is_known)
            continue;
        uint32_t n = held < GROUPS_TRIED ? held++ : GROUPS_TRIED;
        for (; n && bytes[n - 1] < size; n--) {
            if (n < GROUPS_TRIED) {
                list[n] = list[n - 1];
                bytes[n] = bytes[n - 1];
            }
        }
        if (n < GROUPS_TRIED) {
            list[n] = k;
            bytes[n] = size;
        }
    }
    return held;
}

static int write_pinned(const struct report *r, struct relaxed *solver,
                        const struct relaxed_pin *pin, struct err *e)
{
    const struct problem *p = r->plan->problem;
    char what[NAME_ROOM + MESH_NAME_ROOM + 64];
    struct relaxed_plan found;
    struct plan other;
    int rc = relaxed_set_pins(solver, pin, 1, e);

    if (rc)
        return rc;
    rc = relaxed_solve(solver, SWEEPS, &found, e);
    if (rc)
        return rc == ERR_INFEASIBLE ? 0 : rc;
    rc = plan_from_relaxed(&found, &other, e);
    if (rc)
        return rc;
    snprintf(what, sizeof what, "%.*s: dim %u %s %s, the rest at its best", NAME_ROOM,
             p->roles.params[pin->param].name, pin->dim,
             pin->kind == RELAXED_WHOLE ? "whole along" : "split over",
             p->mesh.axis[pin->axis].name);
    return write_row(r, what, &other, e);
}

static int write_variables(const struct report *r, struct err *e)
{
    const struct relaxed_plan *x = r->plan->relaxed;
    struct relaxed_options o = {.folding = RELAXED_FOLD_OFF, .reduce_at_once = x->reduce_at_once};
    struct relaxed_decisions d = {x->choice, x->made, x->held, x->ended};
    uint32_t list[GROUPS_TRIED], count = find_largest(r->plan, list);
    struct relaxed_plan same;
    struct relaxed *solver = NULL;
    struct relaxed_pin pin;
    int rc = relaxed_new(r->plan->problem, &o, &solver, e);

    if (rc)
        return rc;
    rc = relaxed_price_decisions(solver, &d, &same, e);
    if (rc)
        goto out;
    relaxed_plan_release(&same);
    for (uint32_t k = 0; !rc && k < count; k++) {
        if (turn_round(r->plan, list[k], &pin))
            rc = write_pinned(r, solver, &pin, e);
    }
out:
    relaxed_free(solver);
    return rc;
}

static int write_reshards(const struct report *r, struct err *e)
{
    uint32_t list[RESHARDS_TRIED], count = find_dearest(r->plan->relaxed, list);
    int rc = 0;

    for (uint32_t k = 0; !rc && k < count; k++)
        rc = write_without(r, list[k], e);
    return rc;
}

int report_write_others(const struct report *r, struct err *e)
{
    str_add(r->out, "\n## What else could be done\n\nOther plans for the same model on the same "
                    "devices, and what each loses against this one.\n\n| plan | step | against "
                    "this one | memory of a device |\n|---|---:|---:|---:|\n");
    int rc = write_labels(r, "everything on each device", NULL, e);
    if (rc)
        return rc;
    rc = write_data_parallel(r, e);
    if (rc)
        return rc;
    rc = write_best(r,
                    r->plan->relaxed ? "the best that reshards nothing (proven)"
                                     : "the best of all strict plans (proven)",
                    NULL, e);
    if (rc)
        return rc;
    if (!r->plan->relaxed)
        return write_groups(r, e);
    rc = write_variables(r, e);
    return rc ? rc : write_reshards(r, e);
}
