#include "engine/pipeline/unroll.h"

#include "engine/cost/fusion.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/module/whole_number.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* What is known of a value while unrolling, beside what is kept. */
enum known {
    KNOWN_PLAIN,  /* a parameter or the result of an operation */
    KNOWN_FREE,   /* any device makes it from nothing */
    KNOWN_NUMBER, /* free, and this whole number: loop counters and indices made of them */
    KNOWN_STACK,  /* `before` with one slice replaced: dynamic-update-slice at a known place */
};

struct memo {
    uint8_t kind;
    uint8_t dim;     /* KNOWN_STACK: the dim that is indexed */
    int64_t number;  /* KNOWN_NUMBER; KNOWN_STACK: the index */
    uint32_t before; /* KNOWN_STACK: values */
    uint32_t update;
};

/* Slices of one parameter that were read, by index along one dim. */
struct parts {
    uint32_t *value; /* [count], UNROLL_NONE: not read yet */
    uint32_t count, dim;
};

struct unroller {
    struct unrolled *u;
    const struct hlo_module *m;
    struct err *e;
    struct memo *memo;   /* [values] */
    uint32_t *source;    /* [module values] what stands there now */
    uint32_t *param_of;  /* [module values] index into roles.params */
    struct parts *parts; /* [roles.param_count] */
    double *weight;      /* [computations] operations when unrolled */
    double times;        /* of the loops left rolled up around the place */
    struct hlo_flows flows;
    uint32_t free_value;
    size_t op_room, value_room, memo_room, operand_room, operand_count;
    uint32_t depth, trip;
};

static const char MEMORY_FOR[] = "to unroll this module";

/* ---- values ---- */

static bool has_class(const struct problem *p, hlo_value v, class_id k)
{
    for (uint32_t d = 0; d < hlo_value_shape(p->m, v)->rank; d++) {
        if (p->classes.class_of[class_dim(&p->classes, v, d)] == k)
            return true;
    }
    return false;
}

static int add_value(struct unroller *w, hlo_value v, const struct memo *memo, uint32_t *out)
{
    struct unrolled *u = w->u;
    const struct hlo_shape *s = hlo_value_shape(w->m, v);

    if (!mem_grow(&u->values, &w->value_room, u->value_count, 1) ||
        !mem_grow(&w->memo, &w->memo_room, u->value_count, 1))
        return err_no_memory(w->e, MEMORY_FOR);
    char type = hlo_type_info[s->type].class;
    const struct fusion *f = &u->problem->fusion;
    *out = u->value_count++;
    w->memo[*out] = *memo;
    u->values[*out] = (struct unroll_value){
        .value = v,
        .op = UNROLL_NONE,
        .param = UNROLL_NONE,
        .bytes = (double)s->bytes,
        .has_batch = has_class(u->problem, v, u->batch),
        .is_float = type == 'F' || type == 'C',
        .is_stored = f->is_stored[f->buffer[v]],
    };
    return 0;
}

static int add_plain(struct unroller *w, hlo_value v, uint32_t *out)
{
    return add_value(w, v, &(struct memo){.kind = KNOWN_PLAIN}, out);
}

static bool is_free(const struct unroller *w, uint32_t value)
{
    return w->memo[value].kind == KNOWN_FREE || w->memo[value].kind == KNOWN_NUMBER;
}

/* ---- operations ---- */

/* Adds `value` to the operands; of an array filled slice by slice all that it is made of. */
static int add_operand(struct unroller *w, uint32_t value)
{
    struct unrolled *u = w->u;

    for (; w->memo[value].kind == KNOWN_STACK; value = w->memo[value].before) {
        int rc = is_free(w, w->memo[value].update) ? 0 : add_operand(w, w->memo[value].update);
        if (rc)
            return rc;
    }
    if (is_free(w, value))
        return 0;
    if (!mem_grow(&u->operands, &w->operand_room, w->operand_count, 1))
        return err_no_memory(w->e, MEMORY_FOR);
    u->operands[w->operand_count++] = value;
    return 0;
}

/* All that the instruction makes is free: keys, constants and iota decide it, and scalars. */
static bool makes_free(const struct unroller *w, hlo_id id)
{
    bool free = w->m->leaf_base[id] < w->m->leaf_base[id + 1];

    for (hlo_value v = w->m->leaf_base[id]; v < w->m->leaf_base[id + 1]; v++)
        free &= w->u->problem->classes.is_free[v];
    return free;
}

static bool is_varying(const struct unroller *w, const struct unroll_op *op)
{
    for (uint32_t k = 0; k < op->operand_count; k++) {
        if (w->u->values[w->u->operands[op->operands + k]].is_varying)
            return true;
    }
    return false;
}

/* An operation with the results of `id`; what stands for them is set. */
static int add_op(struct unroller *w, hlo_id id)
{
    struct unrolled *u = w->u;
    struct unroll_op op = {.id = id,
                           .operands = (uint32_t)w->operand_count,
                           .times = w->times,
                           .trip = w->trip,
                           .is_backward = u->problem->roles.phase[id] == HLO_PHASE_BACKWARD,
                           .is_free = makes_free(w, id)};
    int rc = 0;

    if (u->op_count == UNROLL_OPS_MOST)
        return err_set(w->e, ERR_LIMIT, "more than %d operations in a step with its loops unrolled",
                       UNROLL_OPS_MOST);
    for (uint32_t n = 0; n < hlo_at(w->m, id)->operand_count && !rc; n++) {
        hlo_id o = hlo_operand(w->m, id, n);
        for (hlo_value v = w->m->leaf_base[o]; v < w->m->leaf_base[o + 1] && !rc; v++)
            rc = add_operand(w, w->source[v]);
    }
    if (rc)
        return rc;
    op.operand_count = (uint32_t)(w->operand_count - op.operands);
    op.values = u->value_count;
    bool varying = is_varying(w, &op);
    for (hlo_value v = w->m->leaf_base[id]; v < w->m->leaf_base[id + 1] && !rc; v++) {
        rc = add_plain(w, v, &w->source[v]);
        if (rc)
            break;
        struct unroll_value *made = &u->values[w->source[v]];
        made->op = u->op_count;
        /* random numbers are drawn anew for every sample, though not from the data */
        made->is_varying = varying || (made->has_batch && !op.operand_count);
        op.value_count++;
    }
    if (!rc && !mem_grow(&u->ops, &w->op_room, u->op_count, 1))
        rc = err_no_memory(w->e, MEMORY_FOR);
    if (!rc)
        u->ops[u->op_count++] = op;
    return rc;
}

/* ---- whole numbers ---- */

static bool number_of(const struct unroller *w, hlo_id id, int64_t *out)
{
    uint32_t value = w->source[w->m->leaf_base[id]];

    *out = w->memo[value].number;
    return w->memo[value].kind == KNOWN_NUMBER;
}

/* The value of an instruction on known whole numbers: the arithmetic of loop counters. */
static bool fold_integer(const struct unroller *w, hlo_id id, int64_t *out)
{
    int64_t a[HLO_FOLD_OPERANDS_MOST];

    if (!hlo_can_fold(w->m, id))
        return false;
    for (uint32_t n = 0; n < hlo_at(w->m, id)->operand_count; n++) {
        if (w->m->leaf_base[hlo_operand(w->m, id, n)] ==
                w->m->leaf_base[hlo_operand(w->m, id, n) + 1] ||
            !number_of(w, hlo_operand(w->m, id, n), &a[n]))
            return false;
    }
    return hlo_fold(w->m, id, a, out);
}

/* ---- slices ---- */

/* The index of a dynamic slice of `id` along `dim`; its indices begin at operand `first`. */
static bool slice_index(const struct unroller *w, hlo_id id, uint32_t first, uint32_t dim,
                        int64_t size, int64_t *out)
{
    const struct hlo_instruction *i = hlo_at(w->m, id);

    if (first + dim >= i->operand_count ||
        hlo_shape(w->m, hlo_operand(w->m, id, first + dim))->rank ||
        !number_of(w, hlo_operand(w->m, id, first + dim), out))
        return false;
    *out = *out < 0 ? 0 : *out >= size ? size - 1 : *out;
    return true;
}

/* Slice `index` of parameter `whole`: a value of its own, the same for every reader. */
static int part_of_param(struct unroller *w, uint32_t whole, hlo_value v, uint32_t dim,
                         int64_t index, int64_t count, bool *found)
{
    uint32_t param = w->u->values[whole].param;
    struct parts *p = &w->parts[param];
    int rc = 0;

    if (count > UNROLL_PARTS_MOST || (p->value && p->dim != dim))
        return 0;
    if (!p->value) {
        *p = (struct parts){.value = mem_try((size_t)count, sizeof *p->value),
                            .count = (uint32_t)count,
                            .dim = dim};
        if (!p->value)
            return err_no_memory(w->e, MEMORY_FOR);
        memset(p->value, 0xff, (size_t)count * sizeof *p->value);
    }
    if (p->value[index] == UNROLL_NONE) {
        rc = add_plain(w, v, &p->value[index]);
        if (rc)
            return rc;
        w->u->values[p->value[index]].param = param;
        w->u->values[p->value[index]].is_varying = w->u->values[whole].is_varying;
    }
    w->source[v] = p->value[index];
    *found = true;
    return rc;
}

/* A dynamic-slice at a known place of something known slice by slice. */
static int read_slice(struct unroller *w, hlo_id id, bool *found)
{
    hlo_id o = hlo_operand(w->m, id, 0);
    const struct hlo_shape *whole = hlo_shape(w->m, o);
    hlo_value v = w->m->leaf_base[id];
    uint32_t from = w->source[w->m->leaf_base[o]], dim = 0;
    int64_t index;

    if (!hlo_slice_dim(whole, hlo_shape(w->m, id), &dim) ||
        !slice_index(w, id, 1, dim, whole->dims[dim], &index))
        return 0;
    for (; w->memo[from].kind == KNOWN_STACK && w->memo[from].dim == dim;
         from = w->memo[from].before) {
        if (w->memo[from].number != index)
            continue;
        w->source[v] = w->memo[from].update;
        *found = true;
        return 0;
    }
    if (is_free(w, from)) {
        w->source[v] = w->free_value;
        *found = true;
        return 0;
    }
    return w->u->values[from].param == UNROLL_NONE
               ? 0
               : part_of_param(w, from, v, dim, index, whole->dims[dim], found);
}

/* A dynamic-update-slice at a known place: the operation moves the update, what comes out is known
 * slice by slice. */
static int write_slice(struct unroller *w, hlo_id id, bool *found)
{
    hlo_id into = hlo_operand(w->m, id, 0), what = hlo_operand(w->m, id, 1);
    const struct hlo_shape *whole = hlo_shape(w->m, into);
    uint32_t dim = 0;
    int64_t index;

    if (!hlo_slice_dim(whole, hlo_shape(w->m, what), &dim) ||
        !slice_index(w, id, 2, dim, whole->dims[dim], &index))
        return 0;
    struct memo memo = {.kind = KNOWN_STACK,
                        .dim = (uint8_t)dim,
                        .number = index,
                        .before = w->source[w->m->leaf_base[into]],
                        .update = w->source[w->m->leaf_base[what]]};
    *found = true;
    return add_value(w, w->m->leaf_base[id], &memo, &w->source[w->m->leaf_base[id]]);
}

/* ---- instructions ---- */

static int run_computation(struct unroller *w, hlo_comp c);

static int run_called(struct unroller *w, hlo_id id, uint32_t n)
{
    if (++w->depth > UNROLL_DEPTH_MOST)
        return err_set(w->e, ERR_LIMIT, "loops and branches more than %d deep", UNROLL_DEPTH_MOST);
    int rc = run_computation(w, hlo_called(w->m, id, n));
    w->depth--;
    return rc;
}

static void set_leaves(struct unroller *w, hlo_id to, const uint32_t *from)
{
    memcpy(w->source + w->m->leaf_base[to], from,
           (w->m->leaf_base[to + 1] - w->m->leaf_base[to]) * sizeof *from);
}

static int run_while(struct unroller *w, hlo_id id)
{
    const struct hlo_computation *body = &w->m->computations[hlo_called(w->m, id, 0)];
    hlo_id init = hlo_operand(w->m, id, 0);
    uint32_t leaves = w->m->leaf_base[id + 1] - w->m->leaf_base[id];
    int64_t trips = hlo_trip_count(w->m, id);
    double before = w->times;
    bool is_outermost = w->trip == UNROLL_NONE;
    int rc = 0;

    uint32_t *carried = mem_try((size_t)leaves + 1, sizeof *carried);
    if (!carried)
        return err_no_memory(w->e, MEMORY_FOR);
    if (trips < 0 || (double)trips * w->weight[hlo_called(w->m, id, 0)] > UNROLL_LOOP_MOST) {
        w->u->rolled++;
        w->times *= trips < 0 ? 1 : (double)trips;
        trips = 1;
    }
    memcpy(carried, w->source + w->m->leaf_base[init], leaves * sizeof *carried);
    for (int64_t trip = 0; trip < trips; trip++) {
        set_leaves(w, body->params[0], carried);
        if (is_outermost && trips > 1)
            w->trip = (uint32_t)trip;
        rc = run_called(w, id, 0);
        memcpy(carried, w->source + w->m->leaf_base[body->root], leaves * sizeof *carried);
        if (rc)
            goto out;
    }
out:
    set_leaves(w, id, carried);
    w->times = before;
    if (is_outermost)
        w->trip = UNROLL_NONE;
    free(carried);
    return rc;
}

/* Flows of `id` whose end lies in `id` itself (results) or elsewhere (arguments of what it calls).
 */
static int pass_on(struct unroller *w, hlo_id id, bool results)
{
    int rc = hlo_flows_of(w->m, id, &w->flows, w->e);

    if (rc)
        return rc;
    for (size_t k = 0; k < w->flows.count; k++) {
        struct hlo_flow f = w->flows.items[k];
        if ((w->m->value_instruction[f.to] == id) == results)
            w->source[f.to] = w->source[f.from];
    }
    return rc;
}

/* Branches: all are run, one of them counts; what comes out is made from every branch's result. */
static int run_conditional(struct unroller *w, hlo_id id)
{
    struct unrolled *u = w->u;
    int rc = pass_on(w, id, false);

    for (uint32_t n = 0; n < hlo_at(w->m, id)->called_count && !rc; n++)
        rc = run_called(w, id, n);
    rc = rc ? rc : add_op(w, id);
    if (rc)
        return rc;
    struct unroll_op *op = &u->ops[u->op_count - 1];
    for (uint32_t n = 0; n < hlo_at(w->m, id)->called_count && !rc; n++) {
        hlo_id root = w->m->computations[hlo_called(w->m, id, n)].root;
        for (hlo_value v = w->m->leaf_base[root]; v < w->m->leaf_base[root + 1] && !rc; v++)
            rc = add_operand(w, w->source[v]);
    }
    op->operand_count = (uint32_t)(w->operand_count - op->operands);
    for (uint32_t k = 0; k < op->value_count; k++)
        u->values[op->values + k].is_varying = is_varying(w, op);
    return rc;
}

static int run_flow(struct unroller *w, hlo_id id)
{
    int rc = pass_on(w, id, false);

    if (rc)
        return rc;
    for (uint32_t n = 0; n < hlo_at(w->m, id)->called_count; n++) {
        rc = run_called(w, id, n);
        if (rc)
            return rc;
    }
    return rc ? rc : pass_on(w, id, true);
}

static bool operands_are_free(const struct unroller *w, hlo_id id)
{
    for (uint32_t n = 0; n < hlo_at(w->m, id)->operand_count; n++) {
        hlo_id o = hlo_operand(w->m, id, n);
        for (hlo_value v = w->m->leaf_base[o]; v < w->m->leaf_base[o + 1]; v++) {
            if (!is_free(w, w->source[v]))
                return false;
        }
    }
    return true;
}

static void set_free(struct unroller *w, hlo_id id)
{
    for (hlo_value v = w->m->leaf_base[id]; v < w->m->leaf_base[id + 1]; v++)
        w->source[v] = w->free_value;
}

static bool draws(uint16_t opcode)
{
    return opcode == HLO_OP_RNG || opcode == HLO_OP_RNG_BIT_GENERATOR ||
           opcode == HLO_OP_RNG_GET_AND_UPDATE_STATE || opcode == HLO_OP_CUSTOM_CALL;
}

static int run_plain(struct unroller *w, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(w->m, id);
    bool found = false;
    int64_t number = 0;
    int rc = 0;

    if (fold_integer(w, id, &number))
        return add_value(w, w->m->leaf_base[id],
                         &(struct memo){.kind = KNOWN_NUMBER, .number = number},
                         &w->source[w->m->leaf_base[id]]);
    if (!draws(i->opcode) && operands_are_free(w, id)) {
        set_free(w, id);
        return 0;
    }
    if (i->opcode == HLO_OP_DYNAMIC_SLICE)
        rc = read_slice(w, id, &found);
    else if (i->opcode == HLO_OP_DYNAMIC_UPDATE_SLICE)
        rc = write_slice(w, id, &found);
    return rc || found ? rc : add_op(w, id);
}

static int run_param(struct unroller *w, hlo_id id)
{
    const struct hlo_roles *roles = &w->u->problem->roles;
    int rc = 0;

    if (hlo_at(w->m, id)->computation != w->m->entry)
        return 0; /* the caller has set it */
    for (hlo_value v = w->m->leaf_base[id]; v < w->m->leaf_base[id + 1] && !rc; v++) {
        rc = add_plain(w, v, &w->source[v]);
        if (rc || w->param_of[v] == UNROLL_NONE)
            continue;
        struct unroll_value *value = &w->u->values[w->source[v]];
        uint8_t role = roles->params[w->param_of[v]].role;
        value->param = w->param_of[v];
        value->is_varying = role == HLO_ROLE_INPUT || (role == HLO_ROLE_HYPER && value->has_batch);
    }
    return rc;
}

static bool is_same_array(uint16_t opcode)
{
    return opcode == HLO_OP_RESHAPE || opcode == HLO_OP_BITCAST || opcode == HLO_OP_COPY;
}

static int run_computation(struct unroller *w, hlo_comp c)
{
    const struct hlo_computation *comp = &w->m->computations[c];
    int rc = 0;

    for (hlo_id id = comp->first; id < comp->first + comp->count; id++) {
        const struct hlo_instruction *i = hlo_at(w->m, id);
        uint8_t phase = w->u->problem->roles.phase[id];
        if (i->opcode == HLO_OP_PARAMETER)
            rc = run_param(w, id);
        else if (i->opcode == HLO_OP_WHILE)
            rc = run_while(w, id);
        else if (i->opcode == HLO_OP_CONDITIONAL)
            rc = run_conditional(w, id);
        else if (hlo_is_flow(w->m, id))
            rc = run_flow(w, id);
        else if (phase == HLO_PHASE_UPDATE)
            set_free(w, id);
        else if (is_same_array(i->opcode) && i->operand_count == 1 &&
                 hlo_shape(w->m, id)->leaf_count == 1)
            w->source[w->m->leaf_base[id]] = w->source[w->m->leaf_base[hlo_operand(w->m, id, 0)]];
        else
            rc = run_plain(w, id);
        if (rc)
            return rc;
    }
    return rc;
}

/* ---- the whole ---- */

/* The dims that the inputs share as their batch (cost/training.h); CLASS_NONE: none. Their size in
 * the inputs goes to `size`. */
static class_id unroll_batch_class(const struct problem *p, int64_t *size)
{
    class_id best = p->training.batch;

    for (uint32_t k = 0; best != CLASS_NONE && k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        for (uint32_t d = 0; r->role == HLO_ROLE_INPUT && d < hlo_value_shape(p->m, r->value)->rank;
             d++) {
            if (problem_param_class(p, k, d) == best) {
                *size = hlo_value_shape(p->m, r->value)->dims[d];
                return best;
            }
        }
    }
    return CLASS_NONE;
}

/* Operations of each computation with its loops unrolled; callees come before callers. */
static bool weigh_unrolled(struct unroller *w)
{
    w->weight = mem_try(w->m->computation_count, sizeof *w->weight);
    for (hlo_comp c = 0; w->weight && c < w->m->computation_count; c++) {
        const struct hlo_computation *comp = &w->m->computations[c];
        w->weight[c] = comp->count;
        for (hlo_id id = comp->first; id < comp->first + comp->count; id++) {
            const struct hlo_instruction *i = hlo_at(w->m, id);
            bool loops = i->opcode == HLO_OP_WHILE;
            if (!loops && i->opcode != HLO_OP_CONDITIONAL && i->opcode != HLO_OP_FUSION)
                continue;
            for (uint32_t n = 0; n < (loops ? 1 : i->called_count); n++)
                w->weight[c] += w->weight[hlo_called(w->m, id, n)] *
                                (loops ? fmax(1, (double)hlo_trip_count(w->m, id)) : 1);
        }
    }
    return w->weight;
}

static int prepare_unroller(struct unroller *w)
{
    const struct hlo_roles *roles = &w->u->problem->roles;

    w->source = mem_try(w->m->value_count, sizeof *w->source);
    w->param_of = mem_try(w->m->value_count, sizeof *w->param_of);
    w->parts = mem_try((size_t)roles->param_count + 1, sizeof *w->parts);
    if (!w->source || !w->param_of || !w->parts || !weigh_unrolled(w) ||
        !mem_grow(&w->u->values, &w->value_room, 0, 1) || !mem_grow(&w->memo, &w->memo_room, 0, 1))
        return err_no_memory(w->e, MEMORY_FOR);
    memset(w->param_of, 0xff, w->m->value_count * sizeof *w->param_of);
    for (uint32_t k = 0; k < roles->param_count; k++)
        w->param_of[roles->params[k].value] = k;
    /* value 0 is what is made from nothing; all stands for it at first */
    w->u->values[0] = (struct unroll_value){.op = UNROLL_NONE, .param = UNROLL_NONE};
    w->memo[0] = (struct memo){.kind = KNOWN_FREE};
    w->u->value_count = 1;
    return 0;
}

static int keep_gradients(struct unroller *w)
{
    const struct hlo_roles *roles = &w->u->problem->roles;

    w->u->gradient = mem_try((size_t)roles->param_count + 1, sizeof *w->u->gradient);
    if (!w->u->gradient)
        return err_no_memory(w->e, MEMORY_FOR);
    for (uint32_t k = 0; k < roles->param_count; k++) {
        hlo_value v = roles->params[k].gradient;
        w->u->gradient[k] = UNROLL_NONE;
        if (v != HLO_NONE && w->memo[w->source[v]].kind == KNOWN_PLAIN)
            w->u->gradient[k] = w->source[v];
    }
    return 0;
}

static void release_unroller(struct unroller *w)
{
    for (uint32_t k = 0; w->parts && k < w->u->problem->roles.param_count; k++)
        free(w->parts[k].value);
    free(w->parts);
    free(w->memo);
    free(w->source);
    free(w->param_of);
    free(w->weight);
    hlo_flows_release(&w->flows);
}

int unroll_any(const struct problem *p, struct unrolled *out, struct err *e)
{
    struct unroller w = {.u = out, .m = p->m, .e = e, .times = 1, .trip = UNROLL_NONE};

    *out = (struct unrolled){.problem = p, .loss = UNROLL_NONE};
    out->batch = unroll_batch_class(p, &out->batch_size);
    int rc = prepare_unroller(&w);
    if (rc)
        goto out;
    rc = run_computation(&w, p->m->entry);
    if (rc)
        goto out;
    rc = keep_gradients(&w);
    if (rc)
        goto out;
    if (p->roles.loss != HLO_NONE)
        out->loss = out->values[w.source[p->roles.loss]].op;
out:
    release_unroller(&w);
    if (rc)
        unroll_release(out);
    return rc;
}

int unroll_new(const struct problem *p, struct unrolled *out, struct err *e)
{
    int64_t size;

    if (unroll_batch_class(p, &size) == CLASS_NONE)
        return err_set(
            e, ERR_INFEASIBLE,
            "the inputs share no dim that is a batch: there is nothing to cut into micro-batches");
    return unroll_any(p, out, e);
}

void unroll_release(struct unrolled *u)
{
    free(u->ops);
    free(u->values);
    free(u->operands);
    free(u->gradient);
    *u = (struct unrolled){0};
}
