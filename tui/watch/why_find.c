#include "tui/watch/why_find.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/explain.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

#include <string.h>

static bool is_variable_dim(const void *context, dim_id d)
{
    const struct problem *p = context;
    hlo_value v = p->classes.dim_value[d];

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        uint8_t role = p->roles.params[k].role;
        if (p->roles.params[k].value == v)
            return role == HLO_ROLE_VARIABLE || role == HLO_ROLE_INPUT;
    }
    return false;
}

dim_id why_dim_of_class(const struct problem *p, class_id k)
{
    const struct class_info *i = &p->classes.info[k];
    const dim_id *members = p->classes.members + i->dims;

    for (uint32_t n = 0; n < p->roles.param_count; n++) {
        const struct hlo_param_role *r = &p->roles.params[n];
        if (r->role != HLO_ROLE_VARIABLE && r->role != HLO_ROLE_INPUT)
            continue;
        for (dim_id d = p->classes.dim_base[r->value]; d < p->classes.dim_base[r->value + 1]; d++) {
            if (p->classes.class_of[d] == k)
                return d;
        }
    }
    return members[0];
}

dim_id why_dim_of_instruction(const struct watch *w, hlo_id id)
{
    const struct classes *c = &w->problem->classes;
    hlo_value first = c->m->leaf_base[id], end = c->m->leaf_base[id + 1];
    dim_id best = DIM_NONE;
    int best_rank = -1;

    for (dim_id d = c->dim_base[first]; d < c->dim_base[end]; d++) {
        class_id k = c->class_of[d];
        int rank = k == CLASS_NONE                    ? 0
                   : w->on[k]                         ? 4
                   : w->open[k]                       ? 3
                   : watch_move_of(w, k) != MOVE_NONE ? 2
                                                      : 1;
        if (rank > best_rank) {
            best_rank = rank;
            best = d;
        }
    }
    return best;
}

/* ---- places ---- */

struct dims {
    dim_id a, b;
    hlo_value shared;
};

/* Two dims at instruction `id`, one of each class (of one class: two), of one value if there is one
 * that holds both. False: not both. */
static bool dims_at(const struct classes *c, hlo_id id, class_id ka, class_id kb, struct dims *out)
{
    uint32_t leaves = class_leaf_count(c, id); /* none: a parameter, its own values */
    uint32_t values = leaves ? leaves : c->m->leaf_base[id + 1] - c->m->leaf_base[id];

    *out = (struct dims){DIM_NONE, DIM_NONE, HLO_NONE};
    for (uint32_t leaf = 0; leaf < values; leaf++) {
        hlo_value v = leaves ? hlo_factors_value(c->m, id, leaf) : c->m->leaf_base[id] + leaf;
        dim_id a = DIM_NONE, b = DIM_NONE;
        for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
            if (c->class_of[d] == ka && a == DIM_NONE)
                a = d;
            else if (c->class_of[d] == kb && b == DIM_NONE)
                b = d;
        }
        if (a != DIM_NONE && b != DIM_NONE) {
            *out = (struct dims){a, b, v};
            return true;
        }
        out->a = out->a == DIM_NONE ? a : out->a;
        if (ka != kb)
            out->b = out->b == DIM_NONE ? b : out->b;
    }
    return out->a != DIM_NONE && out->b != DIM_NONE;
}

/* Dims of values that instruction `place` reads or makes. */
struct near {
    const struct classes *c;
    hlo_id place;
};

static bool is_near(const void *context, dim_id d)
{
    const struct near *n = context;
    uint32_t leaves = class_leaf_count(n->c, n->place);

    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        if (hlo_factors_value(n->c->m, n->place, leaf) == n->c->dim_value[d])
            return true;
    }
    return n->c->m->value_instruction[n->c->dim_value[d]] == n->place;
}

static int chain(const struct classes *c, dim_id from, bool (*is_target)(const void *, dim_id),
                 const void *context, struct why_side *out, struct err *e)
{
    out->from = from;
    return why_chain(c, from, is_target, context, &out->steps, &out->count, e);
}

static int chain_to(const struct classes *c, dim_id from, dim_id to, struct why_side *out,
                    struct err *e)
{
    out->from = from;
    return why_chain_to(c, from, to, &out->steps, &out->count, e);
}

/* ---- kinds ---- */

static int find_never(const struct problem *p, struct why_answer *a, struct err *e)
{
    const struct classes *c = &p->classes;
    struct near near = {c, c->info[a->class].place};
    struct dims at;

    a->place = near.place;
    if (c->info[a->class].reason != CLASS_TWICE || !dims_at(c, a->place, a->class, a->class, &at))
        return chain(c, a->dim, is_near, &near, &a->side[0], e);
    a->shared = at.shared;
    int rc = chain_to(c, a->dim, at.a, &a->side[0], e);
    return rc ? rc : chain_to(c, a->dim, at.b, &a->side[1], e);
}

const struct class_meet *why_excluded_by(const struct watch *w, const label *on, class_id k)
{
    const struct classes *c = &w->problem->classes;
    const struct class_meet *by = NULL;
    label taken = 0;

    for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
        const struct class_meet *meet = &c->meets[c->info[k].meets + n];
        taken |= on[meet->other];
        if (on[meet->other] && (!by || (watch_move_of(w, by->other) == MOVE_NONE &&
                                        watch_move_of(w, meet->other) != MOVE_NONE)))
            by = meet;
    }
    for (uint32_t a = 1; a < w->problem->labels.count; a++) {
        if (!(a & taken) && label_is_admissible(&w->problem->labels, k, (label)a))
            return NULL;
    }
    return by;
}

/* A dim of class `other` that stands beside one in its value. */
struct beside {
    const struct classes *c;
    class_id other;
};

static dim_id dim_beside(const struct beside *b, dim_id d)
{
    hlo_value v = b->c->dim_value[d];

    for (dim_id at = b->c->dim_base[v]; at < b->c->dim_base[v + 1]; at++) {
        if (b->c->class_of[at] == b->other)
            return at;
    }
    return DIM_NONE;
}

static bool is_beside(const void *context, dim_id d)
{
    return dim_beside(context, d) != DIM_NONE;
}

/* The nearest value that holds a dim of this class and one of `other`. at->a DIM_NONE: there is
 * none. */
static int find_beside(const struct classes *c, dim_id d, class_id other, struct dims *at,
                       struct err *e)
{
    struct beside beside = {c, other};
    struct why_step *steps;
    size_t count;
    int rc = why_chain(c, d, is_beside, &beside, &steps, &count, e);

    *at = (struct dims){DIM_NONE, DIM_NONE, HLO_NONE};
    if (rc)
        goto out;
    if (steps) {
        at->a = steps[count - 1].dim;
        at->b = dim_beside(&beside, at->a);
        at->shared = c->dim_value[at->a];
    }
out:
    free(steps);
    return rc;
}

static int find_excluded(const struct watch *w, const struct class_meet *meet, struct why_answer *a,
                         struct err *e)
{
    const struct classes *c = &w->problem->classes;
    struct near near = {c, meet->place};
    struct dims at;
    int rc = find_beside(c, a->dim, meet->other, &at, e);

    if (rc)
        return rc;
    a->kind = WHY_EXCLUDED;
    a->other = meet->other;
    for (uint32_t n = 0; n < a->meets; n++)
        a->excluders += w->on[c->meets[c->info[a->class].meets + n].other] != 0;
    a->place = at.a != DIM_NONE ? c->m->value_instruction[at.shared] : meet->place;
    if (at.a == DIM_NONE && !dims_at(c, meet->place, a->class, meet->other, &at))
        return chain(c, a->dim, is_near, &near, &a->side[0], e);
    a->shared = at.shared;
    rc = chain_to(c, at.a, a->dim, &a->side[0], e);
    return rc ? rc : chain(c, at.b, is_variable_dim, w->problem, &a->side[1], e);
}

static int find_kind(const struct watch *w, struct why_answer *a, struct err *e)
{
    const struct problem *p = w->problem;
    const struct class_meet *meet = NULL;

    a->meets = p->classes.info[a->class].meet_count;
    if (p->classes.info[a->class].reason != CLASS_ALLOWED) {
        a->kind = WHY_NEVER;
        return find_never(p, a, e);
    }
    if (!w->on[a->class])
        meet = why_excluded_by(w, w->on, a->class);
    if (meet)
        return find_excluded(w, meet, a, e);
    a->kind = w->on[a->class]                             ? WHY_SPLIT
              : w->open[a->class]                         ? WHY_OPEN
              : label_is_splittable(&p->labels, a->class) ? WHY_WHOLE
                                                          : WHY_NO_FIT;
    return chain(&p->classes, a->dim, is_variable_dim, p, &a->side[0], e);
}

/* ---- figures ---- */

static int find_figures(const struct watch *w, struct why_answer *a, struct err *e)
{
    struct plan plan = {.problem = w->problem, .on = w->on};
    struct plan_collective *items;
    size_t count;
    label was = w->on[a->class];
    int move = watch_move_of(w, a->class);
    label to = (label)(was ? 0 : 1u << (move == MOVE_NONE ? 0 : w->moves->items[move].axis));

    plan.cost = step_tables_cost(&w->problem->step_tables, w->on);
    a->step_ms = plan.cost.step_ms;
    a->flip_ms = explain_flip_ms(&plan, a->class, to);
    if (!was)
        return 0;
    double split = step_tables_cost_of_class(&w->problem->step_tables, a->class, w->on).compute_ms;
    w->on[a->class] = 0;
    a->compute_saved_ms =
        step_tables_cost_of_class(&w->problem->step_tables, a->class, w->on).compute_ms - split;
    w->on[a->class] = was;
    int rc = plan_collectives(&plan, &items, &count, e);
    if (rc)
        return rc;
    for (size_t n = 0; n < count; n++) {
        if (items[n].cause != a->class)
            continue;
        a->makes[items[n].kind] += items[n].count;
        a->makes_ms += items[n].ms;
    }
    free(items);
    return 0;
}

int why_find(const struct watch *w, dim_id d, struct why_answer *out, struct err *e)
{
    struct why_answer a = {.kind = WHY_FREE,
                           .dim = d,
                           .class = w->problem->classes.class_of[d],
                           .other = CLASS_NONE,
                           .place = HLO_NONE,
                           .shared = HLO_NONE,
                           .flip_ms = -1};
    int rc = 0;

    if (a.class != CLASS_NONE)
        rc = find_kind(w, &a, e);
    if (rc)
        goto out;
    if (a.class != CLASS_NONE && a.kind != WHY_NEVER)
        rc = find_figures(w, &a, e);
out:
    if (rc) {
        why_answer_release(&a);
        return rc;
    }
    *out = a;
    return 0;
}

void why_answer_release(struct why_answer *a)
{
    free(a->side[0].steps);
    free(a->side[1].steps);
    *a = (struct why_answer){0};
}
