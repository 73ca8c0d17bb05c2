#include "engine/pipeline/order.h"

#include "engine/pipeline/reads.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the forward order";

/* ---- the forward order ---- */

struct sorter {
    struct order *o;
    uint32_t *depth;  /* [ops] operations in the longest chain of forward ones up to it, free ones
                         apart */
    uint8_t *state;   /* [ops] 0 new, 1 on the stack, 2 in the main order */
    uint32_t *anchor; /* [ops] of main ones their place, of others the place they follow */
    uint32_t main_count;
    struct makers *makers; /* [ops] of those on the stack with more than OPERANDS_FEW */
};

/* The operands of an operation, the longest chain first, and of equals in order. */
struct makers {
    struct maker {
        uint32_t depth, k, op;
    } * list;
    uint32_t count, next;
};

enum { OPERANDS_FEW = 16 }; /* looking again for each is cheaper than sorting them */

static const struct unroll_op *op_at(const struct order *o, uint32_t op)
{
    return &o->steps.ops[op];
}

/* The forward operation that makes operand `k` of `op`; UNROLL_NONE: a parameter, or backward. */
static uint32_t forward_maker(const struct order *o, const struct unroll_op *op, uint32_t k)
{
    uint32_t maker = o->steps.values[o->steps.operands[op->operands + k]].op;

    return maker == UNROLL_NONE || op_at(o, maker)->is_backward ? UNROLL_NONE : maker;
}

static void find_depths(struct sorter *s)
{
    for (uint32_t n = 0; n < s->o->steps.op_count; n++) {
        const struct unroll_op *op = op_at(s->o, n);
        for (uint32_t k = 0; k < op->operand_count && !op->is_backward; k++) {
            uint32_t maker = forward_maker(s->o, op, k);
            uint32_t more = !op->is_free;
            if (maker != UNROLL_NONE && s->depth[maker] + more > s->depth[n])
                s->depth[n] = s->depth[maker] + more;
        }
    }
}

static int compare_makers(const void *x, const void *y)
{
    const struct maker *a = x, *b = y;

    if (a->depth != b->depth)
        return a->depth < b->depth ? 1 : -1;
    return (a->k > b->k) - (a->k < b->k);
}

static bool sort_makers(const struct sorter *s, uint32_t n)
{
    const struct unroll_op *op = op_at(s->o, n);
    struct makers *m = &s->makers[n];

    m->list = mem_try(op->operand_count, sizeof *m->list);
    if (!m->list)
        return false;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        uint32_t maker = forward_maker(s->o, op, k);
        if (maker != UNROLL_NONE)
            m->list[m->count++] = (struct maker){s->depth[maker], k, maker};
    }
    qsort(m->list, m->count, sizeof *m->list, compare_makers);
    return true;
}

/* The operand still to visit with the longest chain, first of equals; UNROLL_NONE: none left. */
static uint32_t next_operand(const struct sorter *s, uint32_t n)
{
    const struct unroll_op *op = op_at(s->o, n);
    struct makers *m = &s->makers[n];
    uint32_t best = UNROLL_NONE;

    while (m->list && m->next < m->count) {
        uint32_t maker = m->list[m->next++].op;
        if (!s->state[maker])
            return maker;
    }
    for (uint32_t k = 0; k < op->operand_count && !m->list; k++) {
        uint32_t maker = forward_maker(s->o, op, k);
        if (maker != UNROLL_NONE && !s->state[maker] &&
            (best == UNROLL_NONE || s->depth[maker] > s->depth[best]))
            best = maker;
    }
    return best;
}

/* False: no memory. */
static bool visit_from(struct sorter *s, uint32_t root, uint32_t *stack)
{
    uint32_t height = 0, next = root;
    bool ok = true;

    while (ok && (next != UNROLL_NONE || height)) {
        if (next != UNROLL_NONE) {
            s->state[next] = 1;
            stack[height++] = next;
            ok = op_at(s->o, next)->operand_count <= OPERANDS_FEW || sort_makers(s, next);
        } else {
            uint32_t op = stack[--height];
            s->state[op] = 2;
            s->anchor[op] = s->main_count++;
            free(s->makers[op].list);
            s->makers[op] = (struct makers){0};
        }
        next = ok && height ? next_operand(s, stack[height - 1]) : UNROLL_NONE;
    }
    while (height)
        free(s->makers[stack[--height]].list);
    return ok;
}

/* The loss, or where none was found the forward operation at the end of the longest chain. */
static uint32_t find_root(const struct sorter *s)
{
    const struct unrolled *u = &s->o->steps;
    uint32_t best = UNROLL_NONE;

    if (u->loss != UNROLL_NONE && !u->ops[u->loss].is_backward)
        return u->loss;
    for (uint32_t n = 0; n < u->op_count; n++) {
        if (!u->ops[n].is_backward && (best == UNROLL_NONE || s->depth[n] > s->depth[best]))
            best = n;
    }
    return best;
}

/* Of each value the first place in the main order where something reads it; UNROLL_NONE: nothing
 * there does. NULL: no memory. Freed by the caller. */
static uint32_t *find_first_reads(const struct sorter *s)
{
    const struct unrolled *u = &s->o->steps;
    uint32_t *first = mem_try((size_t)u->value_count + 1, sizeof *first);

    for (uint32_t v = 0; first && v < u->value_count; v++)
        first[v] = UNROLL_NONE;
    for (uint32_t n = 0; first && n < u->op_count; n++) {
        const struct unroll_op *op = op_at(s->o, n);
        for (uint32_t k = 0; k < op->operand_count && s->state[n] == 2; k++) {
            uint32_t *least = &first[u->operands[op->operands + k]];
            if (s->anchor[n] < *least)
                *least = s->anchor[n];
        }
    }
    return first;
}

/* First place in the main order where something reads a value that `op` reads. */
static uint32_t beside_readers(const struct sorter *s, const uint32_t *first_read,
                               const struct unroll_op *op)
{
    uint32_t least = UNROLL_NONE;

    for (uint32_t k = 0; k < op->operand_count; k++) {
        uint32_t place = first_read[s->o->steps.operands[op->operands + k]];
        least = place < least ? place : least;
    }
    return least == UNROLL_NONE ? 0 : least;
}

/* False: no memory. */
static bool anchor_rest(struct sorter *s)
{
    uint32_t *first_read = find_first_reads(s);

    for (uint32_t n = 0; first_read && n < s->o->steps.op_count; n++) {
        const struct unroll_op *op = op_at(s->o, n);
        bool found = false;
        if (op->is_backward || s->state[n] == 2)
            continue;
        for (uint32_t k = 0; k < op->operand_count; k++) {
            uint32_t maker = forward_maker(s->o, op, k);
            if (maker == UNROLL_NONE)
                continue;
            if (!found || s->anchor[maker] > s->anchor[n])
                s->anchor[n] = s->anchor[maker];
            found = true;
        }
        if (!found)
            s->anchor[n] = beside_readers(s, first_read, op);
    }
    free(first_read);
    return first_read != NULL;
}

/* Counting sort by anchor; the main operation of an anchor first, the others as they were made. */
static bool lay_out(struct sorter *s)
{
    struct order *o = s->o;
    uint32_t *at = mem_try((size_t)s->main_count + 1, sizeof *at);

    if (!at)
        return false;
    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        if (!op_at(o, n)->is_backward)
            at[s->anchor[n] + 1]++;
    }
    for (uint32_t k = 0; k < s->main_count; k++)
        at[k + 1] += at[k];
    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        if (s->state[n] == 2)
            o->forward[o->position[n] = at[s->anchor[n]]++] = n;
    }
    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        if (!op_at(o, n)->is_backward && s->state[n] != 2)
            o->forward[o->position[n] = at[s->anchor[n]]++] = n;
    }
    free(at);
    return true;
}

static int order_forward(struct order *o, struct err *e)
{
    size_t ops = o->steps.op_count;
    struct sorter s = {.o = o,
                       .depth = mem_try(ops, sizeof *s.depth),
                       .state = mem_try(ops, 1),
                       .anchor = mem_try(ops, sizeof *s.anchor),
                       .makers = mem_try(ops, sizeof *s.makers)};
    uint32_t *stack = mem_try(ops, sizeof *stack);
    bool ok = s.depth && s.state && s.anchor && s.makers && stack;
    int rc = ok ? 0 : err_no_memory(e, MEMORY_FOR);

    if (rc)
        goto out;
    find_depths(&s);
    uint32_t root = find_root(&s);
    if (root != UNROLL_NONE && !visit_from(&s, root, stack)) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    if (o->count < 2)
        rc = err_set(e, ERR_INFEASIBLE, "a forward pass of %u operations cannot be cut", o->count);
    else if (!anchor_rest(&s) || !lay_out(&s))
        rc = err_no_memory(e, MEMORY_FOR);
out:
    free(s.depth);
    free(s.state);
    free(s.anchor);
    free(s.makers);
    free(stack);
    return rc;
}

/* ---- backward positions ---- */

/* Readers of every value; those of the forward pass by position, for the search below. */
struct readers {
    uint32_t *base, *position;
    bool *is_learned; /* by operation: it depends on a variable, so gradients may reach it */
};

static void find_learned(const struct order *o, bool *is_learned)
{
    const struct unrolled *u = &o->steps;
    const struct hlo_roles *roles = &u->problem->roles;

    for (uint32_t n = 0; n < u->op_count; n++) {
        const struct unroll_op *op = op_at(o, n);
        for (uint32_t k = 0; k < op->operand_count; k++) {
            const struct unroll_value *v = &u->values[u->operands[op->operands + k]];
            is_learned[n] |=
                v->op != UNROLL_NONE
                    ? is_learned[v->op]
                    : v->param != UNROLL_NONE && roles->params[v->param].role == HLO_ROLE_VARIABLE;
        }
    }
}

static bool find_readers(const struct order *o, struct readers *r)
{
    const struct unrolled *u = &o->steps;

    r->base = mem_try((size_t)u->value_count + 2, sizeof *r->base);
    r->position = mem_try(o->user_base[u->value_count], sizeof *r->position);
    r->is_learned = mem_try((size_t)u->op_count + 1, 1);
    if (!r->base || !r->position || !r->is_learned)
        return false;
    find_learned(o, r->is_learned);
    for (uint32_t p = 0; p < o->count; p++) {
        const struct unroll_op *op = op_at(o, o->forward[p]);
        for (uint32_t k = 0; k < op->operand_count; k++)
            r->base[u->operands[op->operands + k] + 2]++;
    }
    for (uint32_t v = 0; v < u->value_count; v++)
        r->base[v + 1] += r->base[v];
    for (uint32_t p = 0; p < o->count; p++) {
        const struct unroll_op *op = op_at(o, o->forward[p]);
        for (uint32_t k = 0; k < op->operand_count; k++)
            r->position[r->base[u->operands[op->operands + k] + 1]++] = p;
    }
    return true;
}

/* The largest position allowed by forward operand `value` that is not behind `latest`. */
static bool allowed(const struct order *o, const struct readers *r, uint32_t value, uint32_t latest,
                    uint32_t *out)
{
    uint32_t low = r->base[value], high = r->base[value + 1];
    uint32_t maker = o->steps.values[value].op;
    bool found = false;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->position[middle] <= latest)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > r->base[value]) {
        *out = r->position[low - 1];
        found = true;
    }
    if (maker != UNROLL_NONE && r->is_learned[maker] && o->position[maker] <= latest &&
        (!found || o->position[maker] > *out)) {
        *out = o->position[maker];
        found = true;
    }
    return found;
}

static void place_backward(struct order *o, const struct readers *r, uint32_t n)
{
    const struct unrolled *u = &o->steps;
    const struct unroll_op *op = &u->ops[n];
    uint32_t latest = o->count - 1, place;

    for (uint32_t k = 0; k < op->operand_count; k++) {
        const struct unroll_value *v = &u->values[u->operands[op->operands + k]];
        if (v->op != UNROLL_NONE && u->ops[v->op].is_backward && v->is_float &&
            r->is_learned[v->op] && o->position[v->op] < latest)
            latest = o->position[v->op];
    }
    place = latest;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        uint32_t value = u->operands[op->operands + k], here = 0;
        const struct unroll_value *v = &u->values[value];
        bool is_forward = v->op == UNROLL_NONE || !u->ops[v->op].is_backward;
        if (is_forward && allowed(o, r, value, latest, &here) && here < place)
            place = here;
    }
    o->position[n] = place;
}

/* Made of data alone: where it is needed first, at the last position of its users. */
static void place_where_used(struct order *o, uint32_t n)
{
    const struct unroll_op *op = op_at(o, n);
    uint32_t place = 0, uses = 0;

    for (uint32_t v = op->values; v < op->values + op->value_count; v++) {
        for (uint32_t k = o->user_base[v]; k < o->user_base[v + 1]; k++, uses++)
            place = o->position[o->users[k]] > place ? o->position[o->users[k]] : place;
    }
    o->position[n] = uses ? place : o->count - 1;
}

/* The backward positions, and what follows from all of them. */
static int order_backward(struct order *o, struct err *e)
{
    struct readers r = {0};
    int rc = find_readers(o, &r) ? 0 : err_no_memory(e, MEMORY_FOR);

    if (rc)
        goto out;
    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        if (op_at(o, n)->is_backward && r.is_learned[n])
            place_backward(o, &r, n);
    }
    for (uint32_t n = o->steps.op_count; n-- > 0;) {
        if (op_at(o, n)->is_backward && !r.is_learned[n])
            place_where_used(o, n);
    }
    rc = reads_new(&o->steps, o->position, o->count, o->users, o->user_base, &o->reads, e);
out:
    free(r.base);
    free(r.position);
    free(r.is_learned);
    return rc;
}

/* ---- the whole ---- */

static bool find_users(struct order *o)
{
    const struct unrolled *u = &o->steps;
    uint32_t uses = 0;

    for (uint32_t n = 0; n < u->op_count; n++)
        uses += u->ops[n].operand_count;
    o->user_base = mem_try((size_t)u->value_count + 2, sizeof *o->user_base);
    o->users = mem_try(uses, sizeof *o->users);
    if (!o->user_base || !o->users)
        return false;
    for (uint32_t n = 0; n < u->op_count; n++) {
        for (uint32_t k = 0; k < u->ops[n].operand_count; k++)
            o->user_base[u->operands[u->ops[n].operands + k] + 2]++;
    }
    for (uint32_t v = 0; v < u->value_count; v++)
        o->user_base[v + 1] += o->user_base[v];
    for (uint32_t n = 0; n < u->op_count; n++) {
        for (uint32_t k = 0; k < u->ops[n].operand_count; k++)
            o->users[o->user_base[u->operands[u->ops[n].operands + k] + 1]++] = n;
    }
    return true;
}

int order_new(const struct problem *p, struct order *out, struct err *e)
{
    *out = (struct order){0};
    int rc = unroll_new(p, &out->steps, e);

    if (rc)
        return rc;
    for (uint32_t n = 0; n < out->steps.op_count; n++)
        out->count += !out->steps.ops[n].is_backward;
    out->position = mem_try(out->steps.op_count, sizeof *out->position);
    out->forward = mem_try(out->count, sizeof *out->forward);
    if (!out->position || !out->forward || !find_users(out)) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    rc = order_forward(out, e);
    if (rc)
        goto out;
    rc = order_backward(out, e);
out:
    if (rc)
        order_release(out);
    return rc;
}

void order_release(struct order *o)
{
    unroll_release(&o->steps);
    reads_release(&o->reads);
    free(o->position);
    free(o->forward);
    free(o->users);
    free(o->user_base);
    *o = (struct order){0};
}

bool order_layer(const struct order *o, const struct hlo_roles *roles, uint32_t p, char *out,
                 size_t room)
{
    const struct unroll_op *op = &o->steps.ops[o->forward[p]];
    const char *name = roles->layer_names[roles->layer[op->id]];

    if (!roles->layer[op->id])
        return false;
    if (op->trip == UNROLL_NONE)
        snprintf(out, room, "%s", name);
    else
        snprintf(out, room, "%s[%u]", name, op->trip);
    return true;
}

/* ---- another order ---- */

static uint32_t raise_stages(const struct order *o, uint32_t *stage)
{
    uint32_t raised = 0;

    for (uint32_t p = 0; p < o->count; p++) {
        const struct unroll_op *op = op_at(o, o->forward[p]);
        uint32_t least = stage[p];
        for (uint32_t k = 0; k < op->operand_count; k++) {
            uint32_t maker = forward_maker(o, op, k);
            if (maker != UNROLL_NONE && stage[o->position[maker]] > least)
                least = stage[o->position[maker]];
        }
        raised += least != stage[p];
        stage[p] = least;
    }
    return raised;
}

int order_chain_runs(const struct order *o, uint32_t *stage, uint32_t *raised, uint32_t *run,
                     uint32_t *runs, struct err *e)
{
    uint32_t *at = mem_try((size_t)o->count + 2, sizeof *at), *sorted = NULL, count = 0;
    int rc = 0;

    sorted = mem_try((size_t)o->count + 1, sizeof *sorted);
    if (!at || !sorted) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    *raised = raise_stages(o, stage);
    for (uint32_t p = 0; p < o->count; p++)
        at[stage[p] + 1]++;
    for (uint32_t s = 0; s < o->count; s++)
        at[s + 1] += at[s];
    for (uint32_t p = 0; p < o->count; p++)
        sorted[at[stage[p]]++] = p;
    for (uint32_t k = 0; k < o->count; k++) {
        if (count && sorted[k] == run[2 * count - 2] + run[2 * count - 1]) {
            run[2 * count - 1]++;
        } else {
            run[2 * count] = sorted[k];
            run[2 * count++ + 1] = 1;
        }
    }
    *runs = count;
out:
    free(at);
    free(sorted);
    return rc;
}

/* The operations in the order of the runs; every position once. */
static int lay_runs(const struct order *o, const uint32_t *run, uint32_t runs, uint32_t *forward,
                    struct err *e)
{
    uint32_t at = 0;

    for (uint32_t r = 0; r < runs; r++) {
        uint32_t first = run[2 * r], length = run[2 * r + 1];
        if (first > o->count || length > o->count - first || length > o->count - at)
            return err_set(e, ERR_INPUT, "order: run %u leaves the %u forward operations", r,
                           o->count);
        for (uint32_t p = first; p < first + length; p++)
            forward[at++] = o->forward[p];
    }
    return at == o->count
               ? 0
               : err_set(e, ERR_INPUT, "order: %u forward operations, expected %u", at, o->count);
}

/* Positions of the forward operations laid out; each behind what it reads. */
static int find_positions(const struct order *o, const uint32_t *forward, uint32_t *position,
                          struct err *e)
{
    for (uint32_t n = 0; n < o->steps.op_count; n++)
        position[n] = UNROLL_NONE;
    for (uint32_t p = 0; p < o->count; p++) {
        if (position[forward[p]] != UNROLL_NONE)
            return err_set(e, ERR_INPUT, "order: an operation stands in it twice");
        position[forward[p]] = p;
    }
    for (uint32_t p = 0; p < o->count; p++) {
        const struct unroll_op *op = op_at(o, forward[p]);
        for (uint32_t k = 0; k < op->operand_count; k++) {
            uint32_t maker = forward_maker(o, op, k);
            if (maker != UNROLL_NONE && position[maker] > p)
                return err_set(e, ERR_INPUT, "order: position %u is before one it reads", p);
        }
    }
    return 0;
}

int order_arrange(struct order *o, const uint32_t *run, uint32_t runs, struct err *e)
{
    struct order n = *o;
    int rc;

    n.reads = (struct reads){0};
    n.forward = mem_try((size_t)o->count + 1, sizeof *n.forward);
    n.position = mem_try((size_t)o->steps.op_count + 1, sizeof *n.position);
    rc = n.forward && n.position ? 0 : err_no_memory(e, MEMORY_FOR);
    if (rc)
        goto out;
    rc = lay_runs(o, run, runs, n.forward, e);
    if (rc)
        goto out;
    rc = find_positions(o, n.forward, n.position, e);
    if (rc)
        goto out;
    rc = order_backward(&n, e);
out:
    free(rc ? n.forward : o->forward);
    free(rc ? n.position : o->position);
    reads_release(rc ? &n.reads : &o->reads);
    if (!rc)
        *o = n;
    return rc;
}
