#include "engine/cost/variable_uses.h"

#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/flows.h"
#include "hlo/module/graph.h"
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

enum {
    USES_MOST = 512,      /* values looked at per variable; past it it counts as read whole */
    LAYERS_MOST = 1 << 14 /* likewise; with all micro-batches the gathers are less than 2^32 */
};

struct use {
    hlo_value value;
    bool is_layer; /* a loop has sliced it */
};

struct reading {
    const struct training *t;
    struct hlo_graph g;
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

/* True: a loop around `id`, and no other that is nearer, runs it so many times. */
static bool is_looped(const struct hlo_module *m, hlo_id id, int64_t times)
{
    const struct hlo_computation *own;

    do {
        own = &m->computations[hlo_at(m, id)->computation];
        if (own->caller_count != 1)
            return false;
        id = own->callers[0];
    } while (hlo_at(m, id)->opcode == HLO_OP_FUSION || hlo_at(m, id)->opcode == HLO_OP_CALL);
    return hlo_at(m, id)->opcode == HLO_OP_WHILE && hlo_trip_count(m, id) == times;
}

/* `result` is made of the value. */
static void read_by(struct reading *r, hlo_value result, struct use use)
{
    const struct hlo_module *m = r->t->classes->m;
    const struct hlo_shape *of = hlo_value_shape(m, use.value), *to = hlo_value_shape(m, result);
    hlo_id user = m->value_instruction[result];

    switch (hlo_at(m, user)->opcode) {
    case HLO_OP_CONVERT:
        read_here(r, use, to->bytes < of->bytes ? (double)to->bytes / (double)of->bytes : 1);
        return;
    case HLO_OP_DYNAMIC_SLICE:
        if (!use.is_layer && is_one_layer(of, to)) {
            if (!is_looped(m, user, of->dims[0])) {
                read_here(r, use, 1);
                return;
            }
            r->layers = r->layers == 0 || r->layers == of->dims[0] ? of->dims[0] : 1;
            use.is_layer = true;
        }
        push(r, result, use.is_layer);
        return;
    case HLO_OP_RESHAPE:
    case HLO_OP_BITCAST:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_COPY:
        push(r, result, use.is_layer);
        return;
    default:
        read_here(r, use, 1);
    }
}

static void read_variable(struct reading *r, uint32_t param)
{
    const struct hlo_module *m = r->t->classes->m;

    r->count = 0;
    r->layers = 0;
    r->part = 0;
    r->is_full = false;
    push(r, r->t->roles->params[param].value, false);
    for (uint32_t k = 0; k < r->count; k++) {
        struct use use = r->uses[k];
        for (uint32_t n = r->g.succ_first[use.value]; n < r->g.succ_first[use.value + 1]; n++) {
            hlo_value next = r->g.succs[n];
            if (r->g.is_flow[next])
                push(r, next, use.is_layer);
            else if (!r->t->is_once[m->value_instruction[next]])
                read_by(r, next, use);
        }
    }
}

static int find_reads(struct training *t, struct err *e)
{
    struct reading *r = mem_try(1, sizeof *r);
    int rc = r ? hlo_graph_new(t->classes->m, &r->g, e)
               : err_no_memory(e, "for the parts of a training step");

    if (rc)
        goto out;
    r->t = t;
    for (uint32_t k = 0; k < t->roles->param_count; k++) {
        struct training_variable *v = &t->variables[k];
        v->gathered_part = v->layers = 1;
        if (!v->reduced_count)
            continue;
        read_variable(r, k);
        if (!r->is_full && r->part > 0) {
            v->gathered_part = r->part;
            v->layers = r->layers > 1 && r->layers <= LAYERS_MOST ? (uint32_t)r->layers : 1;
        }
    }
    hlo_graph_release(&r->g);
out:
    free(r);
    return rc;
}

int variable_uses_find(struct training *t, struct err *e)
{
    int rc = find_updates(t, e);

    return rc ? rc : find_reads(t, e);
}
