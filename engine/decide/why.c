#include "engine/decide/why.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <string.h>

/* Breadth-first search over the members of one class; places are indices into its members. */
struct walk {
    const struct classes *c;
    const dim_id *members;
    uint32_t count;
    uint32_t *queue, *before; /* before[place]: place + 1 it was reached from; 0 not reached */
    hlo_id *through;
    uint32_t *factor;
    uint32_t head, tail;
};

static uint32_t place_of(const struct walk *w, dim_id d)
{
    uint32_t low = 0, high = w->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (w->members[middle] < d)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->count && w->members[low] == d ? low : UINT32_MAX;
}

static void reach_dim(struct walk *w, uint32_t from, dim_id d, hlo_id through, uint32_t factor)
{
    uint32_t place = place_of(w, d);

    if (place == UINT32_MAX || w->before[place])
        return;
    w->before[place] = from + 1;
    w->through[place] = through;
    w->factor[place] = factor;
    w->queue[w->tail++] = place;
}

/* All dims that factors of `id` bind together with dim `dim` of leaf `leaf`. */
static void reach_by_factors(struct walk *w, uint32_t from, hlo_id id, uint32_t leaf, uint32_t dim)
{
    const struct classes *c = w->c;
    uint32_t leaves = class_leaf_count(c, id);

    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1] && leaf < leaves; k++) {
        const int8_t *dims = c->leaf_dims + c->factors[k].dims;
        if (dims[leaf] != (int)dim)
            continue;
        for (uint32_t other = 0; other < leaves; other++) {
            hlo_value v = hlo_factors_value(c->m, id, other);
            if (dims[other] >= 0 && !c->is_free[v])
                reach_dim(w, from, class_dim(c, v, (uint32_t)dims[other]), id, k);
        }
    }
}

static void reach_by_ties(struct walk *w, uint32_t from, dim_id d)
{
    const struct classes *c = w->c;
    uint32_t low = 0, high = c->tie_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->ties[middle][0] < d)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < c->tie_count && c->ties[low][0] == d; low++)
        reach_dim(w, from, c->ties[low][1], c->tie_place[low], UINT32_MAX);
}

static void expand_dim(struct walk *w, uint32_t from)
{
    const struct hlo_module *m = w->c->m;
    dim_id d = w->members[from];
    hlo_value v = w->c->dim_value[d];
    hlo_id id = m->value_instruction[v];
    uint32_t dim = d - w->c->dim_base[v], leaf = hlo_value_leaf(m, v);
    uint32_t results = m->leaf_base[id + 1] - m->leaf_base[id];

    if (class_leaf_count(w->c, id))
        reach_by_factors(w, from, id, class_leaf_count(w->c, id) - results + leaf, dim);
    for (uint32_t k = 0; k < hlo_at(m, id)->user_count; k++) {
        hlo_id user = hlo_user(m, id, k);
        uint32_t at = 0;
        if (w->c->factor_base[user] == w->c->factor_base[user + 1])
            continue; /* binds nothing: the root's tuple has as many operands as the step has
                         results */
        for (uint32_t n = 0; n < hlo_at(m, user)->operand_count; n++) {
            hlo_id o = hlo_operand(m, user, n);
            if (o == id)
                reach_by_factors(w, from, user, at + leaf, dim);
            at += m->leaf_base[o + 1] - m->leaf_base[o];
        }
    }
    reach_by_ties(w, from, d);
}

static int read_chain(const struct walk *w, uint32_t place, struct why_step **steps, size_t *count,
                      struct err *e)
{
    size_t length = 1;

    for (uint32_t p = place; w->before[p] != p + 1; p = w->before[p] - 1)
        length++;
    *steps = mem_try(length, sizeof **steps);
    if (!*steps)
        return err_no_memory(e, "for the chain");
    *count = length;
    for (uint32_t p = place;; p = w->before[p] - 1) {
        (*steps)[--length] = (struct why_step){w->members[p], w->through[p], w->factor[p]};
        if (!length)
            return 0;
    }
}

static int walk_new(struct walk *w, const struct classes *c, class_id k, struct err *e)
{
    *w = (struct walk){
        .c = c, .members = c->members + c->info[k].dims, .count = c->info[k].dim_count};
    w->queue = mem_try(w->count, sizeof *w->queue);
    w->before = mem_try(w->count, sizeof *w->before);
    w->through = mem_try(w->count, sizeof *w->through);
    w->factor = mem_try(w->count, sizeof *w->factor);
    if (!w->queue || !w->before || !w->through || !w->factor)
        return err_no_memory(e, "for the chain");
    return 0;
}

static void walk_release(struct walk *w)
{
    free(w->queue);
    free(w->before);
    free(w->through);
    free(w->factor);
}

int why_chain(const struct classes *c, dim_id from,
              bool (*is_target)(const void *context, dim_id d), const void *context,
              struct why_step **steps, size_t *count, struct err *e)
{
    struct walk w;

    *steps = NULL;
    *count = 0;
    if (c->class_of[from] == CLASS_NONE)
        return 0;
    int rc = walk_new(&w, c, c->class_of[from], e);
    if (rc)
        goto out;
    uint32_t start = place_of(&w, from);
    reach_dim(&w, start, from, HLO_NONE, UINT32_MAX);
    while (w.head < w.tail) {
        uint32_t place = w.queue[w.head++];
        if (is_target(context, w.members[place])) {
            rc = read_chain(&w, place, steps, count, e);
            break;
        }
        expand_dim(&w, place);
        if (rc)
            goto out;
    }
out:
    walk_release(&w);
    return rc;
}

int why_spread(const struct classes *c, class_id k, bool (*is_start)(const void *context, dim_id d),
               const void *context, uint16_t *step, uint32_t *steps, struct err *e)
{
    struct walk w;
    int rc = walk_new(&w, c, k, e);

    *steps = 0;
    if (rc)
        goto out;
    for (uint32_t place = 0; place < w.count; place++) {
        if (is_start(context, w.members[place]))
            reach_dim(&w, place, w.members[place], HLO_NONE, UINT32_MAX);
    }
    while (w.head < w.tail) {
        uint32_t place = w.queue[w.head++], before = w.before[place] - 1;
        uint32_t at = before == place ? 1 : step[w.members[before]] + 1u;
        step[w.members[place]] = (uint16_t)(at < UINT16_MAX ? at : UINT16_MAX);
        *steps = at > *steps ? at : *steps;
        expand_dim(&w, place);
    }
out:
    walk_release(&w);
    return rc;
}

static bool is_dim(const void *context, dim_id d)
{
    return *(const dim_id *)context == d;
}

int why_chain_to(const struct classes *c, dim_id from, dim_id to, struct why_step **steps,
                 size_t *count, struct err *e)
{
    return why_chain(c, from, is_dim, &to, steps, count, e);
}

void why_factor_name(const struct classes *c, hlo_id id, uint32_t factor, char *out, size_t room)
{
    const struct class_factor *f = &c->factors[factor];
    const int8_t *dims = c->leaf_dims + f->dims;
    uint32_t leaves = class_leaf_count(c, id);
    uint32_t results = c->m->leaf_base[id + 1] - c->m->leaf_base[id];
    int result = results ? dims[leaves - results] : -1;
    bool bilinear = leaves == 3 && (hlo_at(c->m, id)->opcode == HLO_OP_DOT ||
                                    hlo_at(c->m, id)->opcode == HLO_OP_CONVOLUTION);
    bool any_operand = false;

    for (uint32_t leaf = 0; leaf + results < leaves; leaf++)
        any_operand |= dims[leaf] >= 0;
    if (bilinear && dims[0] >= 0 && dims[1] >= 0)
        snprintf(out, room, "%s", result >= 0 ? "batch" : "contracting");
    else if (bilinear)
        snprintf(out, room, "%s", dims[0] >= 0 ? "lhs" : "rhs");
    else if (f->kind == HLO_FACTOR_REDUCE)
        snprintf(out, room, "%s", f->is_masked ? "looked up" : "reduced");
    else if (result >= 0)
        snprintf(out, room, "%s%d", any_operand ? "dim " : "new dim ", result);
    else
        snprintf(out, room, "operands only");
}
