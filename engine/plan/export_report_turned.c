/* engine/plan/export_report_turned.c - why each group of a relaxed plan is as it is: what the step
 * takes at best when one of its variables is stored and used otherwise. */
#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/export_report_internal.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum {
    SWEEPS = 20,
    TURNS_LEAST = 8,
    TURNS_MOST = 32,
    TURNS_WORK =
        200000, /* instructions x groups tried, where that allows for more than the least */
};

int report_price(struct plan *other, struct report_turn *out, struct err *e)
{
    const struct problem *p = other->problem;
    const struct relaxed_plan *x = other->relaxed;
    struct memory_cost memory;
    int rc = plan_memory(other, &memory, e);

    out->ms = other->cost.step_ms;
    out->peak = memory.peak;
    out->plan = mem_hash(other->on, p->classes.count * sizeof *other->on, x != NULL);
    if (x) {
        out->plan = mem_hash(x->choice, p->m->count * sizeof *x->choice, out->plan);
        out->plan = mem_hash(x->made, p->m->value_count * sizeof *x->made, out->plan);
        out->plan = mem_hash(x->held, p->m->value_count * sizeof *x->held, out->plan);
    }
    plan_release(other);
    return rc;
}

/* ---- groups: variables and inputs with one name but for numbers, one shape, one status ---- */

struct turned {
    uint32_t param; /* the first of them, into roles.params */
    uint32_t count; /* how many */
    double bytes;   /* of all */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A run of digits counts as one '0'. */
static int compare_names(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (is_digit(a[0]) && is_digit(a[1]))
            a++;
        while (is_digit(b[0]) && is_digit(b[1]))
            b++;
        char x = is_digit(*a) ? '0' : *a, y = is_digit(*b) ? '0' : *b;
        if (x != y)
            return (unsigned char)x < (unsigned char)y ? -1 : 1;
        if (!x)
            return 0;
    }
}

struct sorting {
    const struct report *r;
    uint32_t param;
};

static int compare_kinds(const struct report *r, uint32_t a, uint32_t b)
{
    const struct hlo_param_role *x = &r->plan->problem->roles.params[a],
                                *y = &r->plan->problem->roles.params[b];
    const struct relaxed_plan *plan = r->plan->relaxed;
    hlo_shape_id shapes[2] = {hlo_value_shape(r->plan->problem->m, x->value)->bare,
                              hlo_value_shape(r->plan->problem->m, y->value)->bare};
    int order = compare_names(x->name, y->name);

    if (order)
        return order;
    if (x->role != y->role)
        return x->role < y->role ? -1 : 1;
    if (shapes[0] != shapes[1])
        return shapes[0] < shapes[1] ? -1 : 1;
    if (plan->made[x->value] != plan->made[y->value])
        return plan->made[x->value] < plan->made[y->value] ? -1 : 1;
    if (plan->held[x->value] != plan->held[y->value])
        return plan->held[x->value] < plan->held[y->value] ? -1 : 1;
    return 0;
}

static int by_kind(const void *x, const void *y)
{
    const struct sorting *a = x, *b = y;
    int order = compare_kinds(a->r, a->param, b->param);

    return order ? order : (a->param > b->param) - (a->param < b->param);
}

static int largest_first(const void *x, const void *y)
{
    const struct turned *a = x, *b = y;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->param > b->param) - (a->param < b->param);
}

/* Returns how many groups there are. */
static uint32_t find_groups(const struct report *r, struct sorting *list, struct turned *groups)
{
    const struct problem *p = r->plan->problem;
    uint32_t count = 0, found = 0;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *a = &p->roles.params[k];
        if ((a->role == HLO_ROLE_VARIABLE || a->role == HLO_ROLE_INPUT) &&
            hlo_value_shape(p->m, a->value)->rank)
            list[count++] = (struct sorting){r, k};
    }
    if (count)
        qsort(list, count, sizeof *list, by_kind);
    for (uint32_t k = 0; k < count; k++) {
        if (!k || compare_kinds(r, list[k - 1].param, list[k].param))
            groups[found++] = (struct turned){.param = list[k].param};
        groups[found - 1].count++;
        groups[found - 1].bytes +=
            relaxed_local_bytes(p, p->roles.params[list[k].param].value, STATUS_WHOLE);
    }
    if (found)
        qsort(groups, found, sizeof *groups, largest_first);
    return found;
}

/* ---- one variable otherwise ---- */

/* A decision against the plan's about a parameter: whole where it is split, else split along the
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

static int solve_turned(struct relaxed *solver, struct report_turn *out, struct err *e)
{
    struct relaxed_plan found;
    struct plan other;
    int rc = relaxed_set_pins(solver, &out->pin, 1, e);

    if (rc)
        return rc;
    rc = relaxed_solve(solver, SWEEPS, &found, e);
    if (rc)
        return rc == ERR_INFEASIBLE ? 0 : rc;
    rc = plan_from_relaxed(&found, &other, e);
    if (rc)
        return rc;
    out->is_possible = true;
    return report_price(&other, out, e);
}

/* Solves with the first of each group turned round, the largest groups first. */
static int find_turns(struct report *r, const struct turned *groups, uint32_t count, struct err *e)
{
    const struct relaxed_plan *x = r->plan->relaxed;
    struct relaxed_options o = {.folding = RELAXED_FOLD_OFF, .reduce_at_once = x->reduce_at_once};
    struct relaxed_decisions d = {x->choice, x->made, x->held, x->ended};
    uint32_t most = TURNS_WORK / (r->plan->problem->m->count + 1);
    struct relaxed_plan same;
    struct relaxed *solver = NULL;
    int rc = relaxed_new(r->plan->problem, &o, &solver, e);

    if (rc)
        return rc;
    rc = relaxed_price_decisions(solver, &d, &same, e);
    if (rc)
        goto out;
    relaxed_plan_release(&same);
    most = most < TURNS_LEAST ? TURNS_LEAST : most > TURNS_MOST ? TURNS_MOST : most;
    for (uint32_t k = 0; !rc && k < count && r->turn_count < most; k++) {
        struct report_turn *turn = &r->turns[r->turn_count];
        if (!turn_round(r->plan, groups[k].param, &turn->pin))
            continue;
        rc = solve_turned(solver, turn, e);
        r->turn_count++;
    }
out:
    relaxed_free(solver);
    return rc;
}

/* ---- the reasons ---- */

static void write_turn(const struct report *r, const struct report_turn *t)
{
    const struct plan *plan = r->plan;
    char ms[UNITS_ROOM];
    double more = t->ms - plan->cost.step_ms;

    if (!t->is_possible)
        str_add(r->out, "no plan has it otherwise");
    else if (fabs(more) <= 1e-4 * plan->cost.step_ms)
        str_add(r->out, "nothing depends on it: otherwise the step takes as long");
    else if (more > 0)
        str_format(r->out, "saves %s a step", units_ms(ms, more));
    else
        str_format(r->out,
                   "costs %s a step: %sa limit or decisions given rule the other out, or the "
                   "search missed it",
                   units_ms(ms, -more),
                   plan->relaxed->bound_kind == RELAXED_TIED ? "equal layers were planned alike, "
                                                             : "");
    str_format(r->out, " | dim %u %s %s", t->pin.dim,
               t->pin.kind == RELAXED_WHOLE ? "whole along" : "split over",
               plan->problem->mesh.axis[t->pin.axis].name);
    if (t->is_possible)
        str_format(r->out, ": %s", units_ms(ms, t->ms));
}

/* Why no other status was tried. */
static void write_untried(const struct report *r, const struct turned *g)
{
    const struct problem *p = r->plan->problem;
    hlo_value v = p->roles.params[g->param].value;
    struct relaxed_pin pin;

    if (turn_round(r->plan, g->param, &pin)) {
        str_add(r->out, "nothing is known: not tried otherwise | ");
        return;
    }
    class_id k = p->classes.class_of[class_dim(&p->classes, v, 0)];
    if (k != CLASS_NONE && p->classes.info[k].reason != CLASS_ALLOWED) {
        hlo_id place = p->classes.info[k].place;
        str_format(r->out, "can never be split: %s ", class_reason_text[p->classes.info[k].reason]);
        report_add_plain(r->out, hlo_name(p->m, place));
        str_add(r->out, " (");
        report_add_plain(r->out, hlo_op_info[hlo_at(p->m, place)->opcode].name);
        str_add(r->out, ") | none");
    } else {
        str_add(r->out, "no split of this mesh fits its sizes | none");
    }
}

static void write_status(const struct report *r, hlo_value v, status s)
{
    const struct problem *p = r->plan->problem;

    str_add_char(r->out, '`');
    status_write(hlo_value_shape(p->m, v), &p->mesh, s, r->out);
    str_add_char(r->out, '`');
}

static void write_group(const struct report *r, const struct turned *g)
{
    const struct problem *p = r->plan->problem;
    const struct relaxed_plan *x = r->plan->relaxed;
    const struct hlo_param_role *a = &p->roles.params[g->param];
    const struct report_turn *turn = NULL;

    for (uint32_t n = 0; n < r->turn_count; n++)
        turn = r->turns[n].pin.param == g->param ? &r->turns[n] : turn;
    str_add(r->out, "| ");
    report_add_plain(r->out, a->name);
    if (g->count > 1)
        str_format(r->out, " and %u more of its kind", g->count - 1);
    str_add(r->out, " | ");
    write_status(r, a->value, x->made[a->value]);
    str_add(r->out, x->held[a->value] == x->made[a->value] ? "" : ", used as ");
    if (x->held[a->value] != x->made[a->value])
        write_status(r, a->value, x->held[a->value]);
    str_add(r->out, " | ");
    if (turn)
        write_turn(r, turn);
    else
        write_untried(r, g);
    str_add(r->out, " |\n");
}

int report_write_turns(struct report *r, struct err *e)
{
    const struct problem *p = r->plan->problem;
    struct sorting *list = mem_try((size_t)p->roles.param_count + 1, sizeof *list);
    struct turned *groups = mem_try((size_t)p->roles.param_count + 1, sizeof *groups);
    uint32_t count;
    int rc = 0;

    r->turns = mem_try(TURNS_MOST, sizeof *r->turns);
    if (!list || !groups || !r->turns) {
        rc = err_no_memory(e, "for the report");
        goto out;
    }
    count = find_groups(r, list, groups);
    rc = find_turns(r, groups, count, e);
    if (rc)
        goto out;
    str_add(r->out,
            "\n## Why each group is as it is\n\nVariables and inputs of one kind, the largest "
            "first. What the first of them saves is the step of the best plan found with it "
            "otherwise, as the last column says, less the step of this plan.\n\n"
            "| group | is | because | otherwise |\n|---|---|---|---|\n");
    for (uint32_t k = 0; k < count; k++)
        write_group(r, &groups[k]);
out:
    free(list);
    free(groups);
    return rc;
}
