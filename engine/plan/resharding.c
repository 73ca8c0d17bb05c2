#include "engine/plan/resharding.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/partitioner.h"
#include "engine/plan/resharding_free.h"
#include "engine/plan/value_splits.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"

#include <string.h>

#define HELD_ENDING ".held"
#define OPERAND_ENDING ".operand"
#define STEP_ENDING ".step"
#define SCALAR_ENDING ".scalar"

static bool is_array(const struct hlo_shape *s)
{
    return s->type != HLO_TUPLE && hlo_type_info[s->type].bits > 0;
}

/* A status without what is partial: combined it is whole along those axes. */
static void set_labels(const struct problem *p, status s, label over[static HLO_RANK_MAX])
{
    for (uint32_t d = 0; d < HLO_RANK_MAX; d++)
        over[d] = status_dim(s, p->mesh.axes, d);
}

/* The value of operand `n` when it is one array that takes part; HLO_NONE otherwise. */
static hlo_value array_operand(const struct resharding *r, hlo_id id, uint32_t n)
{
    const struct hlo_module *m = r->plan->problem->m;
    hlo_id from = hlo_operand(m, id, n);

    return is_array(hlo_shape(m, from)) ? m->leaf_base[from] : HLO_NONE;
}

/* ---- what uses want ---- */

static bool differs_in_labels(const label *a, const label *b)
{
    return memcmp(a, b, HLO_RANK_MAX * sizeof *a) != 0;
}

/* The split dim of array operand `n` that a convolution sums over more axes than those that split
 * it: over `spare` ones too. -1: there is none. */
static int summed_dim(const struct resharding *r, hlo_id id, uint32_t n, label *spare)
{
    const struct problem *p = r->plan->problem;
    const struct classes *c = &p->classes;
    label used = 0;
    int dim = -1;

    *spare = 0;
    if (!partitioner_sums_everywhere(p->partitioner, p->m, id))
        return -1;
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++) {
        label over = plan_factor_label(r->plan, id, k - c->factor_base[id]);
        used |= over;
        if (over && c->factors[k].kind == HLO_FACTOR_REDUCE)
            dim = c->leaf_dims[c->factors[k].dims + resharding_leaf(p->m, id, n)];
    }
    *spare = dim < 0 ? 0 : step_tables_spare_axes(&p->step_tables, id, used);
    return *spare ? dim : -1;
}

/* Cut along the spare axes too: XLA would sum equal copies (partitioner_sums_everywhere). Whole
 * where that leaves no equal pieces. */
static bool cut_further(const struct resharding *r, hlo_id id, uint32_t n,
                        label want[static HLO_RANK_MAX])
{
    label spare;

    int dim = summed_dim(r, id, n, &spare);
    if (dim < 0)
        return false;
    const struct problem *p = r->plan->problem;
    int64_t size = hlo_shape(p->m, hlo_operand(p->m, id, n))->dims[dim];
    label all = want[dim] | spare;
    want[dim] = size % p->labels.parts[all] ? 0 : all;
    return true;
}

/* XLA computes it wrong where it is split: whole operands, a whole result. */
static bool stays_whole(const struct resharding *r, hlo_id id)
{
    const struct problem *p = r->plan->problem;

    return !r->plan->relaxed && partitioner_loses_parts(p->partitioner, p->m, id);
}

/* Operand `v` as a strict plan splits it. */
static void strict_labels(const struct resharding *r, hlo_value v, label over[static HLO_RANK_MAX])
{
    memset(over, 0, HLO_RANK_MAX * sizeof *over);
    for (uint32_t d = 0; d < hlo_value_shape(r->plan->problem->m, v)->rank; d++)
        over[d] = plan_dim_label(r->plan, v, d);
}

bool resharding_goal(const struct resharding *r, hlo_value v, label over[static HLO_RANK_MAX])
{
    const struct relaxed_plan *x = r->plan->relaxed;
    hlo_value to = r->goal ? r->goal[v] : HLO_NONE;

    if (to == HLO_NONE || x->origin[v] == HLO_NONE)
        return false;
    set_labels(r->plan->problem, to == v ? x->ended[x->origin[v]] : x->made[to], over);
    return true;
}

/* Operand `n` of a conditional that is one array, no tuple: as the branch's parameter is made. */
static bool branch_want(const struct resharding *r, hlo_id id, uint32_t n, hlo_value v,
                        label want[static HLO_RANK_MAX])
{
    const struct hlo_module *m = r->plan->problem->m;
    const struct relaxed_plan *x = r->plan->relaxed;

    if (!n || n > hlo_at(m, id)->called_count)
        return false;
    const struct hlo_computation *branch = &m->computations[hlo_called(m, id, n - 1)];
    hlo_value to = branch->param_count == 1 ? m->leaf_base[branch->params[0]] : HLO_NONE;
    if (to == HLO_NONE || x->origin[to] != to || x->origin[v] == to)
        return false;
    set_labels(r->plan->problem, x->made[to], want);
    return true;
}

bool resharding_want(struct resharding *r, hlo_id id, uint32_t n, label want[static HLO_RANK_MAX])
{
    const struct problem *p = r->plan->problem;
    const struct relaxed_plan *x = r->plan->relaxed;
    hlo_value v = array_operand(r, id, n);

    if (v == HLO_NONE || !r->is_meant[hlo_at(p->m, id)->computation])
        return false;
    if (stays_whole(r, id)) {
        memset(want, 0, HLO_RANK_MAX * sizeof *want);
        return true;
    }
    if (p->classes.is_free[v] && partitioner_sums_everywhere(p->partitioner, p->m, id)) {
        free_values_wanted(r->plan, id, resharding_leaf(p->m, id, n), want);
        return cut_further(r, id, n, want);
    }
    if (p->classes.is_free[v])
        return resharding_free_want(r, id, n, v, want);
    if (!x) {
        strict_labels(r, v, want);
        return cut_further(r, id, n, want);
    }
    if (x->origin[v] == HLO_NONE)
        return false;
    if (hlo_at(p->m, id)->opcode == HLO_OP_TUPLE)
        return resharding_goal(r, p->m->leaf_base[id] + resharding_leaf(p->m, id, n), want);
    if (hlo_at(p->m, id)->opcode == HLO_OP_CONDITIONAL)
        return branch_want(r, id, n, v, want);
    if (hlo_is_flow(p->m, id) || !class_leaf_count(&p->classes, id))
        return false;
    set_labels(p, x->leaf[p->classes.leaf_base[id] + resharding_leaf(p->m, id, n)], want);
    cut_further(r, id, n, want);
    return true;
}

/* ---- where copies stand ---- */

/* What operand `n` of `id` reads: the first name of the same array. */
static hlo_id resharding_source(const struct resharding *r, hlo_id id, uint32_t n)
{
    hlo_id from = hlo_operand(r->plan->problem->m, id, n);

    return r->same_array ? r->same_array[from] : from;
}

/* Other names of an array (a loop's leaf got twice, a sharding call) share its copies. */
static int find_same_arrays(struct resharding *r, struct err *e)
{
    const struct hlo_module *m = r->plan->problem->m;
    const struct relaxed_plan *x = r->plan->relaxed;
    hlo_id *first = mem_try((size_t)m->value_count + 1, sizeof *first); /* [origins] */

    r->same_array = mem_try((size_t)m->count + 1, sizeof *r->same_array);
    if (!first || !r->same_array) {
        free(first);
        return err_no_memory(e, "to export the plan");
    }
    for (hlo_value v = 0; v < m->value_count; v++)
        first[v] = HLO_NONE;
    for (hlo_id id = 0; id < m->count; id++) {
        hlo_value o = is_array(hlo_shape(m, id)) ? x->origin[m->leaf_base[id]] : HLO_NONE;
        r->same_array[id] = id;
        if (o == HLO_NONE)
            continue;
        if (first[o] == HLO_NONE || hlo_at(m, first[o])->computation != hlo_at(m, id)->computation)
            first[o] = id;
        r->same_array[id] = first[o];
    }
    free(first);
    return 0;
}

static bool has_held_copy(const struct resharding *r, hlo_id from)
{
    return r->first_user && r->first_user[from] != HLO_NONE;
}

static void held_labels(const struct resharding *r, hlo_id from, label over[static HLO_RANK_MAX])
{
    set_labels(r->plan->problem, r->plan->relaxed->held[r->plan->problem->m->leaf_base[from]],
               over);
}

/* What operand `n` is without a copy for this use alone. */
static void found_labels(const struct resharding *r, hlo_id from, label over[static HLO_RANK_MAX])
{
    if (stays_whole(r, from))
        memset(over, 0, HLO_RANK_MAX * sizeof *over);
    else if (!r->plan->relaxed)
        strict_labels(r, r->plan->problem->m->leaf_base[from], over);
    else if (has_held_copy(r, from))
        held_labels(r, from, over);
    else
        set_labels(r->plan->problem, r->plan->relaxed->made[r->plan->problem->m->leaf_base[from]],
                   over);
}

/* Axes along which status `s` is a sum that `id` keeps apart. */
static label unreduced_axes(const struct resharding *r, hlo_id id, status s)
{
    label on = 0;

    for (uint32_t x = 0; r->unreduced && x < r->plan->problem->mesh.axes; x++) {
        if (status_on(s, x) == STATUS_PARTIAL)
            on |= (label)(r->unreduced[id] & 1u << x);
    }
    return on;
}

/* Operand `n` of `id` is found as a sum, or asked for as one, along these axes. */
static label found_unreduced(const struct resharding *r, hlo_id from)
{
    const struct relaxed_plan *x = r->plan->relaxed;
    hlo_value v = r->plan->problem->m->leaf_base[from];

    return x ? unreduced_axes(r, from, has_held_copy(r, from) ? x->held[v] : x->made[v]) : 0;
}

static label wanted_unreduced(const struct resharding *r, hlo_id id, uint32_t n)
{
    const struct problem *p = r->plan->problem;

    if (!r->plan->relaxed || !r->unreduced || !r->unreduced[id])
        return 0;
    return unreduced_axes(
        r, id, r->plan->relaxed->leaf[p->classes.leaf_base[id] + resharding_leaf(p->m, id, n)]);
}

static bool wants_copy(struct resharding *r, hlo_id id, uint32_t n, label want[static HLO_RANK_MAX])
{
    const struct problem *p = r->plan->problem;
    hlo_id from = resharding_source(r, id, n);
    label found[HLO_RANK_MAX];

    memset(want, 0, HLO_RANK_MAX * sizeof *want);
    if (!resharding_want(r, id, n, want))
        return false;
    if (p->classes.is_free[p->m->leaf_base[from]])
        return true;
    found_labels(r, from, found);
    return differs_in_labels(found, want) || found_unreduced(r, from) != wanted_unreduced(r, id, n);
}

/* The held copy of a value stands before the first instruction that asks for it. */
static void find_held(struct resharding *r)
{
    const struct hlo_module *m = r->plan->problem->m;
    label held[HLO_RANK_MAX], made[HLO_RANK_MAX], want[HLO_RANK_MAX];

    for (hlo_id id = 0; id < m->count; id++)
        r->first_user[id] = HLO_NONE;
    for (hlo_id id = 0; id < m->count; id++) {
        for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
            hlo_id from = resharding_source(r, id, n);
            if (r->first_user[from] != HLO_NONE || !resharding_want(r, id, n, want) ||
                r->plan->problem->classes.is_free[m->leaf_base[from]])
                continue;
            set_labels(r->plan->problem, r->plan->relaxed->made[m->leaf_base[from]], made);
            held_labels(r, from, held);
            hlo_value v = m->leaf_base[from];
            if (differs_in_labels(held, made) ||
                unreduced_axes(r, from, r->plan->relaxed->held[v]) !=
                    unreduced_axes(r, from, r->plan->relaxed->made[v]))
                r->first_user[from] = id;
        }
    }
}

/* ---- goals ---- */

/* What a step hands out becomes its parameters' next values, or is an end of its own. */
static void set_end_goals(struct resharding *r)
{
    const struct problem *p = r->plan->problem;
    const struct relaxed_plan *x = r->plan->relaxed;
    hlo_id root = p->m->computations[p->m->entry].root;

    for (hlo_value v = p->m->leaf_base[root]; v < p->m->leaf_base[root + 1]; v++) {
        hlo_value next = relaxed_next_of(x, v);
        r->goal[v] = x->origin[v] != HLO_NONE && next == HLO_NONE ? v : next;
    }
}

/* Where arrays that are not the same join: what a loop carries, what branches give. */
static int set_goals(struct resharding *r, struct err *e)
{
    const struct problem *p = r->plan->problem;
    const struct relaxed_plan *x = r->plan->relaxed;
    struct hlo_flows flows = {0};
    int rc = 0;

    for (hlo_value v = 0; v < p->m->value_count; v++)
        r->goal[v] = HLO_NONE;
    for (hlo_id id = 0; id < p->m->count; id++) {
        if (!hlo_is_flow(p->m, id))
            continue;
        rc = hlo_flows_of(p->m, id, &flows, e);
        if (rc)
            goto out;
        for (size_t k = 0; k < flows.count; k++) {
            const struct hlo_flow *f = &flows.items[k];
            if (x->origin[f->from] != HLO_NONE && x->origin[f->to] == f->to &&
                x->origin[f->from] != f->to)
                r->goal[f->from] = f->to;
        }
    }
out:
    hlo_flows_release(&flows);
    set_end_goals(r);
    return rc;
}

int resharding_new(const struct plan *p, const bool *is_meant, const label *over,
                   const bool *is_shared, const label *unreduced, struct resharding *out,
                   struct err *e)
{
    const struct hlo_module *m = p->problem->m;

    *out = (struct resharding){.plan = p,
                               .is_meant = is_meant,
                               .over = over,
                               .is_shared = is_shared,
                               .unreduced = unreduced};
    if (!resharding_find_constants(out))
        return err_no_memory(e, "to export the plan");
    if (!p->relaxed)
        return 0;
    if (status_spaces_new(&p->problem->labels, &p->problem->mesh, &out->spaces, e))
        return e->code;
    out->first_user = mem_try((size_t)m->count + 1, sizeof *out->first_user);
    out->goal = mem_try((size_t)m->value_count + 1, sizeof *out->goal);
    int rc =
        out->first_user && out->goal ? set_goals(out, e) : err_no_memory(e, "to export the plan");
    if (rc)
        return rc;
    rc = find_same_arrays(out, e);
    if (rc)
        return rc;
    find_held(out);
    return rc;
}

void resharding_release(struct resharding *r)
{
    status_spaces_release(&r->spaces);
    hlo_factors_release(&r->factors);
    free(r->is_constant);
    free(r->first_user);
    free(r->same_array);
    free(r->goal);
    str_release(&r->text);
    str_release(&r->name);
    memset(r, 0, sizeof *r);
}

/* ---- ways ---- */

/* A status when partial results are combined. */
static status combined(const struct resharding *r, status s)
{
    for (uint32_t x = 0; x < r->plan->problem->mesh.axes; x++)
        s = status_on(s, x) == STATUS_PARTIAL ? status_with(s, x, STATUS_WHOLE) : s;
    return s;
}

/* What a step scatters is whole again behind: some axis that it splits is whole before and at last.
 */
static bool is_detour(const struct resharding *r, status made, const struct reshard_step *step,
                      status last)
{
    for (uint32_t x = 0; x < r->plan->problem->mesh.axes; x++) {
        if (step->kind == RESHARD_REDUCE_SCATTER && step->over >> x & 1 && !status_on(made, x) &&
            !status_on(last, x))
            return true;
    }
    return false;
}

/* The cheapest way of array `like`, one the plan has. 0 when there is none. */
static uint32_t cheapest_steps(struct resharding *r, hlo_id like, status from, status to,
                               struct reshard_step steps[static RESHARD_STEPS_MOST])
{
    uint32_t space;
    struct err e;

    if (status_space_of(&r->spaces, r->plan->problem->m->leaf_base[like], from != combined(r, from),
                        &space, &e))
        return 0;
    uint32_t a = status_find(&r->spaces, space, from), z = status_find(&r->spaces, space, to);
    return a == UINT32_MAX || z == UINT32_MAX
               ? 0
               : status_walk(&r->spaces, space, a, z, steps, RESHARD_STEPS_MOST);
}

/* The same as XLA goes it, that combines partial results where they arise: what the plan scatters
 * is sliced off then, all-reduces fall away, the other steps stay. Straight to the end where the
 * plan scatters to gather again. */
static uint32_t find_walk(struct resharding *r, hlo_id like, status from, status to,
                          struct reshard_step steps[static RESHARD_STEPS_MOST])
{
    status made = combined(r, from);
    uint32_t count = r->plan->relaxed ? cheapest_steps(r, like, from, to, steps) : 0, kept = 0;
    bool straight = false;

    for (uint32_t k = 0; k < count; k++)
        straight |= is_detour(r, made, &steps[k], to);
    if (straight)
        count = cheapest_steps(r, like, made, to, steps);
    for (uint32_t k = 0; k < count; k++) {
        struct reshard_step step = steps[k];
        step.from = combined(r, step.from);
        step.to = combined(r, step.to);
        if (step.from != step.to || step.kind == RESHARD_PERMUTE)
            steps[kept++] = step;
    }
    if (!kept) /* a free value, which is not resharded but made so */
        steps[kept++] = (struct reshard_step){.from = made, .to = to};
    return kept;
}

/* ---- text ---- */

/* The scalar behind a barrier, spread again: nothing folds it, and whoever reads it makes it. */
static void write_spread(struct resharding *r, hlo_id like, const char *to)
{
    const struct hlo_module *m = r->plan->problem->m;
    hlo_id scalar = hlo_operand(m, like, 0);

    str_format(&r->text, "  %s" SCALAR_ENDING " = ", to);
    hlo_write_shape(m, hlo_at(m, scalar)->shape, true, &r->text);
    str_format(&r->text, " opt-barrier(%s), sharding={replicated}\n  %s = ", hlo_name(m, scalar),
               to);
    hlo_write_shape(m, hlo_at(m, like)->shape, true, &r->text);
    str_format(&r->text, " broadcast(%s" SCALAR_ENDING "), dimensions={}, sharding=", to);
}

/* One line: "  TO = shape copy(FROM), sharding=..", of the shape of `like`. What constants alone
 * make is folded, copies of it too, and its sharding is lost: it goes through a barrier. */
static void write_copy(struct resharding *r, hlo_id like, const char *from, const char *to,
                       const struct reshard_step *step, enum sharding_form form)
{
    const struct problem *p = r->plan->problem;
    label over[HLO_RANK_MAX];

    set_labels(p, step->to, over);
    if (resharding_is_spread(r, like)) {
        write_spread(r, like, to);
    } else {
        str_format(&r->text, "  %s = ", to);
        hlo_write_shape(p->m, hlo_at(p->m, like)->shape, true, &r->text);
        str_format(&r->text, " %s(%s), sharding=", r->is_constant[like] ? "opt-barrier" : "copy",
                   from);
    }
    sharding_write_inner(&p->mesh, over, step->inner, hlo_shape(p->m, like)->rank, form, &r->text);
    str_add_char(&r->text, '\n');
}

static status status_of(const struct resharding *r, const label over[static HLO_RANK_MAX])
{
    status s = 0;

    for (uint32_t d = 0; d < HLO_RANK_MAX; d++) {
        for (uint32_t x = 0; x < r->plan->problem->mesh.axes; x++)
            s = over[d] >> x & 1 ? status_with(s, x, d + 1) : s;
    }
    return s;
}

/* What the last copy is: the step's goal, cut on the spot along `spare` axes too, innermost. */
static void cut_last(struct resharding *r, struct reshard_step *step, const label *to, label spare)
{
    step->to = status_of(r, to);
    step->inner |= spare;
}

/* The copies from `source`, in status `from`, to `target`, split as `to`. */
static void write_walk(struct resharding *r, hlo_id like, const char *source, const char *target,
                       status from, const label *to, label spare, enum sharding_form form)
{
    struct reshard_step steps[RESHARD_STEPS_MOST];
    label goal[HLO_RANK_MAX];

    for (uint32_t d = 0; d < HLO_RANK_MAX; d++)
        goal[d] = to[d] & (label)~spare;
    uint32_t count = find_walk(r, like, from, status_of(r, goal), steps);
    struct str last = {0}, next = {0};

    if (spare)
        cut_last(r, &steps[count - 1], to, spare);
    str_add(&last, source);
    for (uint32_t k = 0; k < count; k++) {
        str_clear(&next);
        str_add(&next, target);
        if (k + 1 < count)
            str_format(&next, STEP_ENDING "%u", k);
        r->text.failed |= last.failed || next.failed;
        if (!r->text.failed)
            write_copy(r, like, last.text, next.text, &steps[k], form);
        struct str swap = last;
        last = next;
        next = swap;
    }
    str_release(&last);
    str_release(&next);
}

/* The copies of operand `n` for all its uses, when `id` is the first. */
static void write_held(struct resharding *r, hlo_id id, uint32_t n, enum sharding_form form)
{
    const struct hlo_module *m = r->plan->problem->m;
    hlo_id from = resharding_source(r, id, n);
    label held[HLO_RANK_MAX];

    if (!has_held_copy(r, from) || r->first_user[from] != id)
        return;
    for (uint32_t k = 0; k < n; k++) {
        if (resharding_source(r, id, k) == from)
            return;
    }
    held_labels(r, from, held);
    str_clear(&r->name);
    str_format(&r->name, "%s" HELD_ENDING, hlo_name(m, from));
    if (!r->name.failed)
        write_walk(r, from, hlo_name(m, from), r->name.text,
                   r->plan->relaxed->made[m->leaf_base[from]], held, 0, form);
}

/* The status a use alone reshards from. */
static status found_status(const struct resharding *r, hlo_id from)
{
    const struct relaxed_plan *x = r->plan->relaxed;
    hlo_value v = r->plan->problem->m->leaf_base[from];

    if (!x || r->plan->problem->classes.is_free[v])
        return 0;
    return has_held_copy(r, from) ? combined(r, x->held[v]) : x->made[v];
}

static void write_own(struct resharding *r, hlo_id id, uint32_t n, const label *want,
                      enum sharding_form form)
{
    const struct hlo_module *m = r->plan->problem->m;
    hlo_id from = resharding_source(r, id, n);
    struct str source = {0};
    label spare;

    summed_dim(r, id, n, &spare);
    str_format(&source, "%s%s", hlo_name(m, from), has_held_copy(r, from) ? HELD_ENDING : "");
    str_clear(&r->name);
    str_format(&r->name, "%s" OPERAND_ENDING "%u", hlo_name(m, id), n);
    r->text.failed |= source.failed || r->name.failed;
    if (!r->text.failed)
        write_walk(r, from, source.text, r->name.text, found_status(r, from), want, spare, form);
    str_release(&source);
}

const char *resharding_lines(struct resharding *r, hlo_id id, enum sharding_form form)
{
    uint32_t count = hlo_at(r->plan->problem->m, id)->operand_count;
    label want[HLO_RANK_MAX];

    str_clear(&r->text);
    for (uint32_t n = 0; n < count && r->first_user; n++)
        write_held(r, id, n, form);
    for (uint32_t n = 0; n < count; n++) {
        if (wants_copy(r, id, n, want))
            write_own(r, id, n, want, form);
    }
    return r->text.failed || !r->text.size ? NULL : r->text.text;
}

const char *resharding_operand(struct resharding *r, hlo_id id, uint32_t n)
{
    const struct hlo_module *m = r->plan->problem->m;
    hlo_id from = resharding_source(r, id, n);
    label want[HLO_RANK_MAX];

    str_clear(&r->name);
    if (wants_copy(r, id, n, want))
        str_format(&r->name, "%s" OPERAND_ENDING "%u", hlo_name(m, id), n);
    else if (has_held_copy(r, from) && resharding_want(r, id, n, want))
        str_format(&r->name, "%s" HELD_ENDING, hlo_name(m, from));
    else
        return NULL;
    return r->name.failed ? NULL : r->name.text;
}

/* ".WORD" with a number behind it, or none when `bare`, at the end of name[0 .. size). */
static bool ends_in(const char *name, size_t size, const char *word, bool bare, size_t *start)
{
    size_t n = strlen(word), end = size;

    while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    if ((end == size) != bare || end < n || memcmp(name + end - n, word, n) != 0)
        return false;
    *start = end - n;
    return true;
}

bool resharding_is_source(const struct resharding *r, hlo_id id, uint32_t n, const char *name)
{
    const struct hlo_module *m = r->plan->problem->m;
    hlo_id from = hlo_operand(m, id, n);

    return !strcmp(hlo_name(m, from), name) ||
           !strcmp(hlo_name(m, resharding_source(r, id, n)), name) ||
           (resharding_is_spread(r, from) && !strcmp(hlo_name(m, hlo_operand(m, from, 0)), name));
}

/* "NAME.held" or "NAME.operand3", a step to one, the scalar that one spreads. */
bool resharding_is_copy(const struct hlo_module *m, hlo_id id)
{
    const char *name = hlo_name(m, id);
    size_t size = strlen(name), start;

    switch (hlo_at(m, id)->opcode) {
    case HLO_OP_COPY:
    case HLO_OP_OPT_BARRIER:
    case HLO_OP_BROADCAST:
        break;
    default:
        return false;
    }
    if (ends_in(name, size, SCALAR_ENDING, true, &start))
        size = start;
    if (ends_in(name, size, STEP_ENDING, false, &start))
        size = start;
    return ends_in(name, size, HELD_ENDING, true, &start) ||
           ends_in(name, size, OPERAND_ENDING, false, &start);
}
