/* What crosses each cut of the forward order. */
#include "engine/pipeline/order.h"
#include "engine/pipeline/reads.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>

/* True when all that is made from value `v` are sums too. */
static bool leads_to_sums(const struct order *o, const uint8_t *kind, uint32_t v)
{
    for (uint32_t n = o->user_base[v]; n < o->user_base[v + 1]; n++) {
        const struct unroll_op *user = &o->steps.ops[o->users[n]];
        for (uint32_t k = 0; k < user->value_count; k++) {
            if (kind[user->values + k] == ORDER_NO_SUM)
                return false;
        }
    }
    return true;
}

/* Operations through which a gradient passes as it is: sums of it, other forms of it. */
static bool keeps_gradient(uint16_t opcode)
{
    return opcode == HLO_OP_ADD || opcode == HLO_OP_TRANSPOSE || opcode == HLO_OP_CONVERT ||
           opcode == HLO_OP_NEGATE;
}

/* From each variable's gradient back over its sums. Users come behind, so one sweep is enough. */
static void find_variable_gradients(const struct order *o, uint8_t *kind)
{
    const struct unrolled *u = &o->steps;

    for (uint32_t k = 0; k < u->problem->roles.param_count; k++) {
        uint32_t v = u->gradient[k];
        if (v != UNROLL_NONE && kind[v] == ORDER_SUM)
            kind[v] = ORDER_VARIABLE;
    }
    for (uint32_t n = u->op_count; n-- > 0;) {
        const struct unroll_op *op = &u->ops[n];
        if (op->value_count != 1 || kind[op->values] != ORDER_VARIABLE ||
            !keeps_gradient(hlo_at(u->problem->m, op->id)->opcode))
            continue;
        for (uint32_t k = 0; k < op->operand_count; k++) {
            uint32_t v = u->operands[op->operands + k];
            if (kind[v] == ORDER_SUM)
                kind[v] = ORDER_VARIABLE;
        }
    }
}

uint8_t *order_gradients(const struct order *o)
{
    const struct unrolled *u = &o->steps;
    uint8_t *kind = mem_try(u->value_count, 1);

    for (uint32_t n = u->op_count; kind && n-- > 0;) {
        const struct unroll_op *op = &u->ops[n];
        for (uint32_t v = op->values; v < op->values + op->value_count && op->is_backward; v++) {
            if (!u->values[v].has_batch && leads_to_sums(o, kind, v))
                kind[v] = ORDER_SUM;
        }
    }
    if (kind)
        find_variable_gradients(o, kind);
    return kind;
}

struct order_extent order_extent_of(const struct order *o, uint32_t value)
{
    uint32_t made = o->position[o->steps.values[value].op];
    struct order_extent x = {made, made, made};

    for (uint32_t n = o->user_base[value]; n < o->user_base[value + 1]; n++) {
        uint32_t user = o->users[n], first = o->position[user], last = first;
        const struct reads_list *again = reads_of(&o->reads, user);
        if (again) {
            first = o->reads.position[again->first];
            last = o->reads.position[again->first + again->count - 1];
        }
        if (last > x.last)
            x.last = last;
        if (first < x.first_backward && (again || o->steps.ops[user].is_backward))
            x.first_backward = first;
    }
    return x;
}

bool order_crosses_once(const struct order *o, const uint8_t *gradient, uint32_t value)
{
    const struct unroll_value *v = &o->steps.values[value];

    return o->steps.ops[v->op].is_backward ? gradient[value] == ORDER_SUM : !v->is_varying;
}

/* Adds `bytes` to cuts from + 1 .. to of a table of differences: what the sums up to each cut then
 * hold. */
static void add_cuts(double *cuts, uint32_t from, uint32_t to, double bytes)
{
    if (from < to) {
        cuts[from + 1] += bytes;
        cuts[to + 1] -= bytes;
    }
}

static void add_value(const struct order *o, const uint8_t *gradient, uint32_t value,
                      struct order_cuts *c)
{
    const struct unroll_value *v = &o->steps.values[value];
    struct order_extent x = order_extent_of(o, value);

    if (gradient[value] == ORDER_VARIABLE || reads_of(&o->reads, v->op))
        return;
    if (order_crosses_once(o, gradient, value)) {
        add_cuts(c->once, x.made, x.last, v->bytes);
        add_cuts(c->once, x.first_backward, x.made, v->bytes);
        return;
    }
    double bytes = v->has_batch ? v->bytes / (double)o->steps.batch_size : v->bytes;
    add_cuts(v->has_batch ? c->forward_sample : c->forward_fixed, x.made, x.last, bytes);
    add_cuts(v->has_batch ? c->backward_sample : c->backward_fixed, x.first_backward, x.made,
             bytes);
}

/* From differences to the bytes at each cut; less than half a byte is what rounding left. */
static void sum_up(double *cuts, uint32_t count)
{
    double sum = 0;

    for (uint32_t c = 0; c <= count; c++) {
        sum += cuts[c];
        cuts[c] = c == 0 || c == count || sum < 0.5 ? 0 : sum;
    }
}

int order_cuts_new(const struct order *o, struct order_cuts *out, struct err *e)
{
    double **tables[] = {&out->forward_sample, &out->backward_sample, &out->forward_fixed,
                         &out->backward_fixed, &out->once};
    uint8_t *gradient = order_gradients(o);
    bool ok = gradient;

    *out = (struct order_cuts){0};
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        *tables[k] = mem_try((size_t)o->count + 2, sizeof **tables[k]);
        ok &= *tables[k] != NULL;
    }
    for (uint32_t v = 0; ok && v < o->steps.value_count; v++) {
        if (o->steps.values[v].op != UNROLL_NONE)
            add_value(o, gradient, v, out);
    }
    for (size_t k = 0; ok && k < sizeof tables / sizeof *tables; k++)
        sum_up(*tables[k], o->count);
    free(gradient);
    if (ok)
        return 0;
    order_cuts_release(out);
    return err_no_memory(e, "for the bytes at each cut");
}

void order_cuts_release(struct order_cuts *c)
{
    free(c->forward_sample);
    free(c->backward_sample);
    free(c->forward_fixed);
    free(c->backward_fixed);
    free(c->once);
    *c = (struct order_cuts){0};
}
