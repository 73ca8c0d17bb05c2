#include "engine/cost/variable_uses.h"

#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- the update ---- */

struct updating {
    struct training *t;
    hlo_id *waiting; /* [instructions] */
    uint32_t count;
};

/* Of the same sizes, split by the same classes. */
static bool is_like(const struct classes *c, hlo_value v, hlo_value w)
{
    const struct hlo_shape *a = hlo_value_shape(c->m, v), *b = hlo_value_shape(c->m, w);

    if (a->rank != b->rank || !a->rank)
        return false;
    for (uint32_t d = 0; d < a->rank; d++) {
        if (a->dims[d] != b->dims[d] ||
            c->class_of[class_dim(c, v, d)] != c->class_of[class_dim(c, w, d)])
            return false;
    }
    return true;
}

static bool is_element_wise(const struct classes *c, hlo_id id)
{
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++) {
        if (c->factors[k].kind != HLO_FACTOR_PASS)
            return false;
    }
    return hlo_at(c->m, id)->opcode != HLO_OP_CUSTOM_CALL;
}

/* Takes what makes `v` for the update of variable `k`, if it is. */
static void claim_value(struct updating *u, hlo_value v, uint32_t k)
{
    const struct classes *c = u->t->classes;
    hlo_value source = hlo_value_source(c->m, v), of = u->t->roles->params[k].value;
    hlo_id id = c->m->value_instruction[source];

    if (!u->t->is_once[id] || u->t->update_of[id] != HLO_NONE || c->is_free[source] ||
        hlo_at(c->m, id)->opcode == HLO_OP_PARAMETER || hlo_is_flow(c->m, id) ||
        !is_element_wise(c, id))
        return;
    for (hlo_value w = c->m->leaf_base[id]; w < c->m->leaf_base[id + 1]; w++) {
        if (!is_like(c, w, of))
            return;
    }
    u->t->update_of[id] = k;
    u->waiting[u->count++] = id;
}

static void follow_back(struct updating *u, uint32_t k)
{
    const struct hlo_module *m = u->t->classes->m;

    while (u->count) {
        hlo_id id = u->waiting[--u->count];
        for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
            hlo_id o = hlo_operand(m, id, n);
            for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++)
                claim_value(u, v, k);
        }
    }
}

static int find_updates(struct training *t, struct err *e)
{
    struct updating u = {.t = t, .waiting = mem_try(t->classes->m->count, sizeof *u.waiting)};

    if (!u.waiting)
        return err_no_memory(e, "for the parts of a training step");
    for (hlo_id id = 0; id < t->classes->m->count; id++)
        t->update_of[id] = HLO_NONE;
    for (uint32_t k = 0; k < t->roles->param_count; k++) {
        const struct hlo_param_role *p = &t->roles->params[k];
        uint32_t of = p->role == HLO_ROLE_VARIABLE ? k : p->of;
        if (p->updated == HLO_NONE || of == HLO_NONE || !t->variables[of].reduced_count)
            continue;
        claim_value(&u, p->updated, of);
        follow_back(&u, of);
    }
    free(u.waiting);
    return 0;
}

/* ---- how passes read a variable ---- */

enum { USES_MOST = 512 }; /* values looked at per variable; past it it counts as read whole */

struct use {
    hlo_value value;
    bool is_layer; /* a loop has sliced it */
};

struct reading {
    const struct training *t;
    struct hlo_flows flows;
    struct use uses[USES_MOST];
    uint32_t count;
    bool is_full;
    double part;    /* most bytes read of a byte */
    int64_t layers; /* in which all that read it slice it; 0: nothing reads it yet */
};

static void push(struct reading *r, hlo_value v, bool is_layer)
{
    for (uint32_t k = 0; k < r->count; k++) {
        if (r->uses[k].value == v)
            return;
    }
    if (r->count == USES_MOST)
        r->is_full = true;
    else
        r->uses[r->count++] = (struct use){v, is_layer};
}

static int push_flows(struct reading *r, hlo_id id, struct use use, struct err *e)
{
    int rc = hlo_flows_of(r->t->classes->m, id, &r->flows, e);

    if (rc)
        return rc;
    for (size_t k = 0; k < r->flows.count; k++) {
        if (r->flows.items[k].from == use.value)
            push(r, r->flows.items[k].to, use.is_layer);
    }
    return 0;
}

static void read_here(struct reading *r, struct use use, double part)
{
    r->part = part > r->part ? part : r->part;
    if (!use.is_layer)
        r->layers = 1;
}

/* One of the slices along the first dim that a stack consists of. */
static bool is_one_layer(const struct hlo_shape *stack, const struct hlo_shape *layer)
{
    if (stack->rank != layer->rank || stack->rank < 2 || layer->dims[0] != 1 || stack->dims[0] < 2)
        return false;
    return !memcmp(stack->dims + 1, layer->dims + 1, (stack->rank - 1u) * sizeof *stack->dims);
}

static int read_by(struct reading *r, hlo_id user, struct use use, struct err *e)
{
    const struct hlo_module *m = r->t->classes->m;
    const struct hlo_shape *of = hlo_value_shape(m, use.value), *to;
    hlo_value result = m->leaf_base[user];

    if (r->t->is_once[user])
        return 0;
    if (hlo_is_flow(m, user))
        return push_flows(r, user, use, e);
    switch (hlo_at(m, user)->opcode) {
    case HLO_OP_CONVERT:
        to = hlo_value_shape(m, result);
        read_here(r, use, to->bytes < of->bytes ? (double)to->bytes / (double)of->bytes : 1);
        return 0;
    case HLO_OP_DYNAMIC_SLICE:
        to = hlo_value_shape(m, result);
        if (!use.is_layer && is_one_layer(of, to)) {
            r->layers = r->layers == 0 || r->layers == of->dims[0] ? of->dims[0] : 1;
            use.is_layer = true;
        }
        push(r, result, use.is_layer);
        return 0;
    case HLO_OP_RESHAPE:
    case HLO_OP_BITCAST:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_COPY:
        push(r, result, use.is_layer);
        return 0;
    default:
        read_here(r, use, 1);
        return 0;
    }
}

/* What leaves a loop or branch goes on where that is called. */
static int leave_use(struct reading *r, struct use use, struct err *e)
{
    const struct hlo_module *m = r->t->classes->m;
    hlo_id id = m->value_instruction[use.value];
    const struct hlo_computation *own = &m->computations[hlo_at(m, id)->computation];

    for (uint32_t k = 0; own->root == id && k < own->caller_count; k++) {
        int rc = push_flows(r, own->callers[k], use, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_variable(struct reading *r, uint32_t param, struct err *e)
{
    const struct hlo_module *m = r->t->classes->m;
    int rc = 0;

    r->count = 0;
    r->layers = 0;
    r->part = 0;
    r->is_full = false;
    push(r, r->t->roles->params[param].value, false);
    for (uint32_t k = 0; k < r->count && !rc; k++) {
        struct use use = r->uses[k];
        hlo_id id = m->value_instruction[use.value];
        for (uint32_t n = 0; n < hlo_at(m, id)->user_count && !rc; n++)
            rc = read_by(r, hlo_user(m, id, n), use, e);
        if (!rc)
            rc = leave_use(r, use, e);
    }
    return rc;
}

static int find_reads(struct training *t, struct err *e)
{
    struct reading *r = mem_try(1, sizeof *r);
    int rc = r ? 0 : err_no_memory(e, "for the parts of a training step");

    if (rc)
        return rc;
    r->t = t;
    for (uint32_t k = 0; k < t->roles->param_count; k++) {
        struct training_variable *v = &t->variables[k];
        v->gathered_part = v->layers = 1;
        if (!v->reduced_count)
            continue;
        rc = read_variable(r, k, e);
        if (rc)
            goto out;
        if (!r->is_full && r->part > 0) {
            v->gathered_part = r->part;
            v->layers = (uint32_t)(r->layers > 1 ? r->layers : 1);
        }
    }
out:
    hlo_flows_release(&r->flows);
    free(r);
    return rc;
}

int variable_uses_find(struct training *t, struct err *e)
{
    int rc = find_updates(t, e);

    return rc ? rc : find_reads(t, e);
}
