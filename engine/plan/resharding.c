#include "engine/plan/resharding.h"

#include "engine/plan/wishes.h"
#include "engine/relaxed/relaxed.h"

#include <string.h>

#define HELD_ENDING ".held"
#define OPERAND_ENDING ".operand"

static bool is_array(const struct hlo_shape *s)
{
    return s->type != HLO_TUPLE && hlo_type_info[s->type].bits > 0;
}

static bool is_flow(const struct hlo_module *m, hlo_id id)
{
    return hlo_op_info[hlo_at(m, id)->opcode].flags & HLO_OP_IS_FLOW;
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

/* Leaf number of array operand `n` among the leaves of all operands. */
static uint32_t leaf_of_operand(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    uint32_t leaf = 0;

    for (uint32_t k = 0; k < n; k++)
        leaf += hlo_shape(m, hlo_operand(m, id, k))->leaf_count;
    return leaf;
}

/* ---- what uses want ---- */

static bool free_want(const struct resharding *r, hlo_id id, uint32_t n, hlo_value v,
                      label want[static HLO_RANK_MAX])
{
    const struct problem *p = r->plan->problem;
    const struct hlo_instruction *i = hlo_at(p->m, id);

    if (n || (i->opcode != HLO_OP_SCATTER && i->opcode != HLO_OP_DYNAMIC_UPDATE_SLICE) ||
        i->operand_count < 2 || !class_leaf_count(&p->classes, id) || !r->is_shared[v])
        return false;
    wishes_of_use(r->plan, id, 0, want);
    return true;
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

bool resharding_want(const struct resharding *r, hlo_id id, uint32_t n,
                     label want[static HLO_RANK_MAX])
{
    const struct problem *p = r->plan->problem;
    const struct relaxed_plan *x = r->plan->relaxed;
    hlo_value v = array_operand(r, id, n);

    if (v == HLO_NONE || !r->is_meant[hlo_at(p->m, id)->computation])
        return false;
    if (p->classes.is_free[v])
        return free_want(r, id, n, v, want);
    if (!x || x->origin[v] == HLO_NONE)
        return false;
    if (hlo_at(p->m, id)->opcode == HLO_OP_TUPLE)
        return resharding_goal(r, p->m->leaf_base[id] + leaf_of_operand(p->m, id, n), want);
    if (is_flow(p->m, id) || !class_leaf_count(&p->classes, id))
        return false;
    set_labels(p, x->leaf[p->classes.leaf_base[id] + leaf_of_operand(p->m, id, n)], want);
    return true;
}

/* ---- where copies stand ---- */

static bool has_held_copy(const struct resharding *r, hlo_id from)
{
    return r->first_user && r->first_user[from] != HLO_NONE;
}

static void held_labels(const struct resharding *r, hlo_id from, label over[static HLO_RANK_MAX])
{
    set_labels(r->plan->problem, r->plan->relaxed->held[r->plan->problem->m->leaf_base[from]], over);
}

/* What operand `n` is without a copy for this use alone. */
static void found_labels(const struct resharding *r, hlo_id from, label over[static HLO_RANK_MAX])
{
    if (has_held_copy(r, from))
        held_labels(r, from, over);
    else
        set_labels(r->plan->problem, r->plan->relaxed->made[r->plan->problem->m->leaf_base[from]],
                   over);
}

static bool same(const label *a, const label *b)
{
    return !memcmp(a, b, HLO_RANK_MAX * sizeof *a);
}

static bool wants_copy(const struct resharding *r, hlo_id id, uint32_t n,
                       label want[static HLO_RANK_MAX])
{
    const struct problem *p = r->plan->problem;
    hlo_id from = hlo_operand(p->m, id, n);
    label found[HLO_RANK_MAX];

    memset(want, 0, HLO_RANK_MAX * sizeof *want);
    if (!resharding_want(r, id, n, want))
        return false;
    if (p->classes.is_free[p->m->leaf_base[from]])
        return true;
    found_labels(r, from, found);
    return !same(found, want);
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
            hlo_id from = hlo_operand(m, id, n);
            if (r->first_user[from] != HLO_NONE || !resharding_want(r, id, n, want) ||
                r->plan->problem->classes.is_free[m->leaf_base[from]])
                continue;
            set_labels(r->plan->problem, r->plan->relaxed->made[m->leaf_base[from]], made);
            held_labels(r, from, held);
            if (!same(held, made))
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
        r->goal[v] = x->origin[v] == HLO_NONE ? HLO_NONE : v;
        for (uint32_t k = 0; k < p->roles.param_count && r->goal[v] == v; k++) {
            const struct hlo_param_role *a = &p->roles.params[k];
            if (a->updated != HLO_NONE && x->origin[a->updated] == x->origin[v] &&
                hlo_value_shape(p->m, a->value)->bare == hlo_value_shape(p->m, v)->bare)
                r->goal[v] = a->value;
        }
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
    for (hlo_id id = 0; id < p->m->count && !rc; id++) {
        if (!is_flow(p->m, id))
            continue;
        rc = hlo_flows_of(p->m, id, &flows, e);
        for (size_t k = 0; k < flows.count && !rc; k++) {
            const struct hlo_flow *f = &flows.items[k];
            if (x->origin[f->from] != HLO_NONE && x->origin[f->to] == f->to &&
                x->origin[f->from] != f->to)
                r->goal[f->from] = f->to;
        }
    }
    hlo_flows_release(&flows);
    set_end_goals(r);
    return rc;
}

int resharding_new(const struct plan *p, const bool *is_meant, const bool *is_shared,
                   struct resharding *out, struct err *e)
{
    const struct hlo_module *m = p->problem->m;

    *out = (struct resharding){.plan = p, .is_meant = is_meant, .is_shared = is_shared};
    if (!p->relaxed)
        return 0;
    out->first_user = mem_try((size_t)m->count + 1, sizeof *out->first_user);
    out->goal = mem_try((size_t)m->value_count + 1, sizeof *out->goal);
    int rc = out->first_user && out->goal
                 ? set_goals(out, e)
                 : err_set(e, ERR_MEMORY, "not enough memory to export the plan");
    if (!rc)
        find_held(out);
    return rc;
}

void resharding_release(struct resharding *r)
{
    free(r->first_user);
    free(r->goal);
    str_release(&r->text);
    str_release(&r->name);
    memset(r, 0, sizeof *r);
}

/* ---- text ---- */

static void write_copy(struct resharding *r, hlo_id from, bool of_held, const label *over,
                       enum sharding_form form)
{
    const struct problem *p = r->plan->problem;

    str_add(&r->text, " = ");
    hlo_write_shape(p->m, hlo_at(p->m, from)->shape, true, &r->text);
    str_format(&r->text, " copy(%s%s), sharding=", hlo_name(p->m, from),
               of_held ? HELD_ENDING : "");
    sharding_write(&p->mesh, over, hlo_shape(p->m, from)->rank, form, &r->text);
    str_add_char(&r->text, '\n');
}

/* The copies of `from` for all its uses, when `id` is the first. */
static void write_held(struct resharding *r, hlo_id id, uint32_t n, enum sharding_form form)
{
    hlo_id from = hlo_operand(r->plan->problem->m, id, n);
    label held[HLO_RANK_MAX];

    if (!has_held_copy(r, from) || r->first_user[from] != id)
        return;
    for (uint32_t k = 0; k < n; k++) {
        if (hlo_operand(r->plan->problem->m, id, k) == from)
            return;
    }
    held_labels(r, from, held);
    str_format(&r->text, "  %s" HELD_ENDING, hlo_name(r->plan->problem->m, from));
    write_copy(r, from, false, held, form);
}

const char *resharding_lines(struct resharding *r, hlo_id id, enum sharding_form form)
{
    const struct hlo_module *m = r->plan->problem->m;
    uint32_t count = hlo_at(m, id)->operand_count;
    label want[HLO_RANK_MAX];

    str_clear(&r->text);
    for (uint32_t n = 0; n < count && r->first_user; n++)
        write_held(r, id, n, form);
    for (uint32_t n = 0; n < count; n++) {
        hlo_id from = hlo_operand(m, id, n);
        if (!wants_copy(r, id, n, want))
            continue;
        str_format(&r->text, "  %s" OPERAND_ENDING "%u", hlo_name(m, id), n);
        write_copy(r, from, has_held_copy(r, from), want, form);
    }
    return r->text.failed || !r->text.size ? NULL : r->text.text;
}

const char *resharding_operand(struct resharding *r, hlo_id id, uint32_t n)
{
    const struct hlo_module *m = r->plan->problem->m;
    hlo_id from = hlo_operand(m, id, n);
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

/* "NAME.held" or "NAME.operand3". */
bool resharding_is_copy(const struct hlo_module *m, hlo_id id)
{
    const char *name = hlo_name(m, id), *ending = strrchr(name, '.');

    if (hlo_at(m, id)->opcode != HLO_OP_COPY || !ending)
        return false;
    size_t n = strlen(OPERAND_ENDING);
    return !strcmp(ending, HELD_ENDING) ||
           (!strncmp(ending, OPERAND_ENDING, n) && ending[n] &&
            strspn(ending + n, "0123456789") == strlen(ending + n));
}
