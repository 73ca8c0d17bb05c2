#include "engine/pipeline/lifetimes.h"

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/reads.h"
#include "engine/pipeline/unroll.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

#define NOT_USED UINT32_MAX

struct maker {
    const struct order *o;
    const struct unrolled *u;
    uint32_t i, j;       /* points of the stage */
    uint32_t n, steps;   /* points, steps of its clock */
    double sample_share; /* of the file's batch that one replica has of a micro-batch */
    bool recompute;
    uint8_t *gradient; /* order_gradients */
    uint32_t
        *forward_last; /* [values] the last step of the forward pass that uses one in the stage */
    uint32_t *backward_last;
    struct lifetimes *out;
};

static uint32_t forward_step(const struct maker *k, uint32_t position)
{
    return position - k->i;
}

static uint32_t backward_step(const struct maker *k, uint32_t position)
{
    return k->steps - k->n + (k->j - 1 - position);
}

static bool is_inside(const struct maker *k, uint32_t position)
{
    return position >= k->i && position < k->j;
}

/* Where the stage runs operation `op`: of what is made again, at its first reader here. */
static uint32_t place_of(const struct maker *k, uint32_t op)
{
    return reads_of(&k->o->reads, op) ? reads_first(&k->o->reads, op, k->i, k->j)
                                      : k->o->position[op];
}

/* ---- last uses ---- */

static void later(uint32_t *step, uint32_t other)
{
    if (other != NOT_USED && (*step == NOT_USED || other > *step))
        *step = other;
}

/* Users come behind what they use, so one sweep from the end meets all uses of a result before its
 * operands. */
static void find_last_uses(struct maker *k)
{
    for (uint32_t n = k->u->op_count; n-- > 0;) {
        const struct unroll_op *op = &k->u->ops[n];
        uint32_t at = place_of(k, n);
        if (!is_inside(k, at))
            continue;
        uint32_t forward = op->is_backward ? NOT_USED : forward_step(k, at);
        uint32_t backward = op->is_backward ? backward_step(k, at) : NOT_USED;
        for (uint32_t r = op->values; r < op->values + op->value_count; r++) {
            if (k->u->values[r].is_stored)
                continue;
            later(&forward, k->forward_last[r]);
            later(&backward, k->backward_last[r]);
        }
        for (uint32_t m = 0; m < op->operand_count; m++) {
            uint32_t v = k->u->operands[op->operands + m];
            later(&k->forward_last[v], forward);
            later(&k->backward_last[v], backward);
        }
    }
}

/* ---- lifetimes ---- */

/* What a value does in the stage. */
struct part {
    uint32_t value;
    bool is_made; /* here; else it arrives, or is an input */
    bool arrives, arrives_back, sent, sent_back;
    uint32_t at; /* position it is made at */
};

static void add_life(struct maker *k, const struct part *p, uint32_t from, uint32_t until,
                     uint32_t buffers)
{
    struct lifetime *life = &k->out->life[k->out->count++];
    const struct unroll_value *v = &k->u->values[p->value];

    *life = (struct lifetime){
        .value = p->value, .from = from, .until = until, .buffers = (uint8_t)buffers};
    life->bytes = v->has_batch ? v->bytes * k->sample_share : v->bytes;
    life->kept = from < k->n && until >= k->n;
    if (life->kept)
        life->buffers &= (uint8_t) ~(1u << BUFFER_OUT); /* it rests in the stage meanwhile */
}

static void add_of_backward(struct maker *k, const struct part *p)
{
    uint32_t from = p->is_made ? backward_step(k, p->at) : k->n, until = from;

    later(&until, k->backward_last[p->value]);
    if (p->sent_back)
        until = k->steps - 1;
    add_life(k, p, from, until,
             (p->arrives_back ? 1u << BUFFER_GRADIENT_IN : 0) |
                 (p->sent_back ? 1u << BUFFER_GRADIENT_OUT : 0));
}

static void add_of_forward(struct maker *k, const struct part *p)
{
    uint32_t from = p->is_made ? forward_step(k, p->at) : 0, until = from,
             again = k->recompute ? k->n : 0;
    uint32_t forward = k->forward_last[p->value], backward = k->backward_last[p->value];
    uint32_t arriving = p->arrives ? 1u << BUFFER_IN : 0, leaving = p->sent ? 1u << BUFFER_OUT : 0;
    uint32_t returning = p->sent_back ? 1u << BUFFER_GRADIENT_OUT : 0;

    later(&until, forward);
    if (p->sent)
        later(&until, k->n - 1);
    if (k->recompute && p->is_made) { /* the first pass drops it, the second makes it again */
        add_life(k, p, from, until, leaving);
        if (!k->u->values[p->value].is_stored) /* only to be sent */
            return;
        from = until = from + again;
        arriving = leaving = 0;
    }
    if (forward != NOT_USED)
        later(&until, forward + again);
    later(&until, backward);
    if (p->sent_back)
        until = k->steps - 1;
    add_life(k, p, from, until, arriving | leaving | returning);
}

static bool is_input(const struct maker *k, const struct unroll_value *v)
{
    return v->param != UNROLL_NONE && k->u->problem->roles.params[v->param].role == HLO_ROLE_INPUT;
}

static void add_made(struct maker *k, uint32_t value)
{
    const struct unroll_value *v = &k->u->values[value];
    bool is_backward = k->u->ops[v->op].is_backward,
         once = order_crosses_once(k->o, k->gradient, value);
    struct order_extent x = order_extent_of(k->o, value);
    uint32_t at = place_of(k, v->op);
    struct part p = {.value = value, .is_made = is_inside(k, at), .at = at};

    if (k->gradient[value] == ORDER_VARIABLE)
        return;
    if (!once && !reads_of(&k->o->reads, v->op)) {
        p.arrives = !is_backward && x.made < k->i && x.last >= k->i;
        p.arrives_back = x.made >= k->j && x.first_backward < k->j;
        p.sent = !is_backward && x.made < k->j && x.last >= k->j;
        p.sent_back = x.made >= k->i && x.first_backward < k->i;
    }
    if (p.is_made ? !v->is_stored && !p.sent && !p.sent_back : !p.arrives && !p.arrives_back)
        return;
    if (is_backward || p.arrives_back)
        add_of_backward(k, &p);
    else
        add_of_forward(k, &p);
}

static void add_lives(struct maker *k)
{
    for (uint32_t v = 0; v < k->u->value_count; v++) {
        const struct unroll_value *value = &k->u->values[v];
        bool used = k->forward_last[v] != NOT_USED || k->backward_last[v] != NOT_USED;
        if (value->op != UNROLL_NONE)
            add_made(k, v);
        else if (used && is_input(k, value))
            add_of_forward(k, &(struct part){.value = v});
    }
}

/* ---- sums ---- */

static void add_up(struct lifetimes *l)
{
    for (uint32_t n = 0; n < l->count; n++) {
        const struct lifetime *life = &l->life[n];
        double *curve = life->kept ? l->kept : l->working;
        curve[life->from] += life->bytes;
        curve[life->until + 1] -= life->bytes;
        l->resting += life->kept ? life->bytes : 0;
        for (int b = 0; b < LIFETIMES_BUFFERS; b++)
            l->buffer[b] += life->buffers >> b & 1 ? life->bytes : 0;
    }
    for (uint32_t s = 1; s <= l->steps; s++) {
        l->kept[s] += l->kept[s - 1];
        l->working[s] += l->working[s - 1];
    }
    for (uint32_t s = 0; s < l->steps; s++) { /* what rounding left of differences */
        l->kept[s] = l->kept[s] < 0.5 ? 0 : l->kept[s];
        l->working[s] = l->working[s] < 0.5 ? 0 : l->working[s];
    }
}

int lifetimes_new(const struct order *o, const struct pipe_instance *in, uint32_t i, uint32_t j,
                  uint32_t replicas, struct lifetimes *out, struct err *e)
{
    uint32_t n = j - i, steps = in->options.recompute ? 3 * n : 2 * n,
             values = o->steps.value_count;
    struct maker k = {.o = o,
                      .u = &o->steps,
                      .i = i,
                      .j = j,
                      .n = n,
                      .steps = steps,
                      .sample_share = in->options.micro_batch / (double)o->steps.batch_size *
                                      in->share[replicas],
                      .recompute = in->options.recompute,
                      .out = out};

    *out = (struct lifetimes){.points = n, .steps = steps};
    k.gradient = order_gradients(o);
    k.forward_last = mem_try(values, sizeof *k.forward_last);
    k.backward_last = mem_try(values, sizeof *k.backward_last);
    out->life = mem_try((size_t)2 * values, sizeof *out->life);
    out->kept = mem_try((size_t)steps + 1, sizeof *out->kept);
    out->working = mem_try((size_t)steps + 1, sizeof *out->working);
    bool ok =
        k.gradient && k.forward_last && k.backward_last && out->life && out->kept && out->working;
    if (ok) {
        memset(k.forward_last, 0xff, values * sizeof *k.forward_last);
        memset(k.backward_last, 0xff, values * sizeof *k.backward_last);
        find_last_uses(&k);
        add_lives(&k);
        add_up(out);
    }
    free(k.gradient);
    free(k.forward_last);
    free(k.backward_last);
    if (ok)
        return 0;
    lifetimes_release(out);
    return err_no_memory(e, "for the lifetimes of a stage");
}

void lifetimes_release(struct lifetimes *l)
{
    free(l->life);
    free(l->kept);
    free(l->working);
    *l = (struct lifetimes){0};
}

uint32_t lifetimes_point(const struct lifetimes *l, uint32_t first, uint32_t step)
{
    if (lifetimes_is_backward(l, step))
        return first + (l->steps - 1 - step);
    return first + step % l->points;
}
