#include "engine/decide/weak.h"

#include "engine/decide/classes.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

enum {
    LEAVES_MOST = 64,            /* an instruction with more settles nothing */
    ONLY_WHOLE = 1 << WEAK_WHOLE /* of the statuses that are left, as bits */
};

/* The bit of a status; none for a split of the 64th dim, which is not offered. */
static uint64_t bit_of(uint32_t status)
{
    return status < 64 ? (uint64_t)1 << status : 0;
}

static void mark_never(struct weak *w)
{
    const struct classes *c = w->labels->classes;

    for (dim_id d = 0; d < c->dim_count; d++) {
        hlo_value v = c->dim_value[d];
        const struct hlo_shape *s = hlo_value_shape(c->m, v);
        class_id k = c->class_of[d];
        bool kernel = k != CLASS_NONE && c->info[k].reason == CLASS_PAPER_KERNEL &&
                      hlo_at(c->m, c->m->value_instruction[v])->opcode == HLO_OP_PARAMETER;
        w->never[d] = k == CLASS_NONE || !bit_of(1 + d - c->dim_base[v]) ||
                      s->dims[d - c->dim_base[v]] < (int64_t)w->parts || kernel;
    }
}

/* Statuses that a value may take, as bits; an open one may always stay whole. */
static uint64_t statuses_left(const struct weak *w, hlo_value v)
{
    const struct classes *c = w->labels->classes;
    uint64_t may = ONLY_WHOLE;

    if (w->status[v] != WEAK_OPEN)
        return bit_of((uint32_t)w->status[v]);
    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
        if (!w->off[d] && !w->never[d])
            may |= bit_of(1 + d - c->dim_base[v]);
    }
    return may;
}

/* The value of every leaf: a wave asks for them again and again. */
static void list_leaves(struct weak *w)
{
    const struct classes *c = w->labels->classes;

    for (hlo_id id = 0; id < c->m->count; id++) {
        for (uint32_t n = 0; n < class_leaf_count(c, id); n++)
            w->leaf[c->leaf_base[id] + n] = hlo_factors_value(c->m, id, n);
    }
}

int weak_new(const struct labels *l, struct weak *out, struct err *e)
{
    const struct classes *c = l->classes;
    struct weak w = {.labels = l, .parts = l->parts[l->count - 1], .clash = HLO_NONE};

    if (l->axes != 1)
        return err_set(e, ERR_INPUT, "weak propagation knows one mesh axis, not %u", l->axes);
    w.status = mem_try(c->m->value_count, 1);
    w.may = mem_try(c->m->value_count, sizeof *w.may);
    w.leaf = mem_try(c->leaf_base[c->m->count], sizeof *w.leaf);
    w.off = mem_try(c->dim_count, 1);
    w.never = mem_try(c->dim_count, 1);
    w.tie_first = mem_try((size_t)c->dim_count + 1, sizeof *w.tie_first);
    w.decisions = mem_try((size_t)c->dim_count + 1, sizeof *w.decisions);
    /* A value is settled once and each of its dims excluded once. */
    bool ok = mem_grow(&w.trail, &w.trail_room, 0, (size_t)c->m->value_count + c->dim_count + 1);
    if (!w.status || !w.may || !w.leaf || !w.off || !w.never || !w.tie_first || !w.decisions ||
        !ok) {
        weak_release(&w);
        return err_no_memory(e, "for the propagation");
    }
    memset(w.status, WEAK_OPEN, c->m->value_count);
    for (uint32_t n = 0; n < c->tie_count; n++)
        w.tie_first[c->ties[n][0] + 1]++;
    for (dim_id d = 0; d < c->dim_count; d++)
        w.tie_first[d + 1] += w.tie_first[d];
    mark_never(&w);
    for (hlo_value v = 0; v < c->m->value_count; v++)
        w.may[v] = statuses_left(&w, v);
    list_leaves(&w);
    *out = w;
    return 0;
}

void weak_release(struct weak *w)
{
    free(w->status);
    free(w->may);
    free(w->leaf);
    free(w->off);
    free(w->never);
    free(w->tie_first);
    free(w->trail);
    free(w->decisions);
    memset(w, 0, sizeof *w);
}

static bool settle_value(struct weak *w, hlo_value v, uint32_t status)
{
    if (w->labels->classes->is_free[v] || w->status[v] == (int)status)
        return true;
    if (!(w->may[v] & bit_of(status))) {
        w->clash = w->labels->classes->m->value_instruction[v];
        return false;
    }
    w->status[v] = (int8_t)status;
    w->may[v] = bit_of(status);
    w->trail[w->trail_count++] = (struct weak_change){v, false};
    return true;
}

/* What leaf n of an instruction would be under alternative `f` (NULL: nothing is split). */
static uint32_t wanted_status(const struct classes *c, const struct class_factor *f, uint32_t leaf)
{
    return f ? (uint32_t)(c->leaf_dims[f->dims + leaf] + 1) : WEAK_WHOLE; /* unbound: -1: whole */
}

static void exclude_dim(struct weak *w, dim_id d)
{
    const struct classes *c = w->labels->classes;
    hlo_value v = c->dim_value[d];

    w->off[d] = 1;
    w->may[v] &= ~bit_of(1 + d - c->dim_base[v]);
    w->trail[w->trail_count++] = (struct weak_change){d, true};
}

/* Whether the leaves, which may take the statuses `may`, allow the alternative. */
static bool is_possible(const struct weak *w, const struct class_factor *f, const uint64_t *may,
                        uint32_t leaves)
{
    const struct classes *c = w->labels->classes;

    if (f && (f->class == CLASS_NONE || f->size < (int64_t)w->parts))
        return false;
    for (uint32_t n = 0; n < leaves; n++) {
        if (!(may[n] & bit_of(wanted_status(c, f, n))))
            return false;
    }
    return true;
}

/* Dims of an open value that no alternative left would split are 0; with all of them the value is
 * whole. */
static bool exclude_dims(struct weak *w, hlo_value v, uint64_t possible)
{
    const struct classes *c = w->labels->classes;

    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
        if (w->may[v] & ~possible & bit_of(1 + d - c->dim_base[v]))
            exclude_dim(w, d);
    }
    return w->may[v] != ONLY_WHOLE || settle_value(w, v, WEAK_WHOLE);
}

/* Settles the leaves, and the dims of leaves, on which all alternatives left agree. */
static bool filter_factors(struct weak *w, hlo_id id)
{
    const struct classes *c = w->labels->classes;
    uint32_t leaves = class_leaf_count(c, id), first = c->factor_base[id],
             count = c->factor_base[id + 1] - first;
    const hlo_value *value = w->leaf + c->leaf_base[id];
    uint64_t may[LEAVES_MOST], left[LEAVES_MOST] = {0}; /* per leaf; left by all alternatives */
    bool any = false;

    if (!leaves || leaves > LEAVES_MOST)
        return true;
    for (uint32_t leaf = 0; leaf < leaves; leaf++)
        may[leaf] = c->is_free[value[leaf]] ? UINT64_MAX : w->may[value[leaf]];
    for (uint32_t n = 0; n <= count; n++) {
        const struct class_factor *f = n == count ? NULL : &c->factors[first + n];
        if (!is_possible(w, f, may, leaves))
            continue;
        any = true;
        for (uint32_t leaf = 0; leaf < leaves; leaf++)
            left[leaf] |= bit_of(wanted_status(c, f, leaf));
    }
    if (!any) {
        w->clash = id;
        return false;
    }
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        hlo_value v = value[leaf];
        if (c->is_free[v] || w->status[v] != WEAK_OPEN)
            continue;
        bool alone = !(left[leaf] & (left[leaf] - 1));
        if (alone ? !settle_value(w, v, (uint32_t)__builtin_ctzll(left[leaf]))
                  : !exclude_dims(w, v, left[leaf]))
            return false;
    }
    return true;
}

static bool wake_ties(struct weak *w, hlo_value v)
{
    const struct classes *c = w->labels->classes;

    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
        bool split = w->status[v] == 1 + (int)(d - c->dim_base[v]);
        if (!split && w->status[v] != WEAK_WHOLE)
            continue;
        for (uint32_t n = w->tie_first[d]; n < w->tie_first[d + 1]; n++) {
            dim_id other = c->ties[n][1];
            hlo_value u = c->dim_value[other];
            if (!settle_value(w, u, split ? 1 + other - c->dim_base[u] : WEAK_WHOLE))
                return false;
        }
    }
    return true;
}

static bool wake(struct weak *w, hlo_value v)
{
    const struct hlo_module *m = w->labels->classes->m;
    hlo_id id = m->value_instruction[v];
    const struct hlo_instruction *i = hlo_at(m, id);

    if (!wake_ties(w, v) || !filter_factors(w, id))
        return false;
    for (uint32_t n = 0; n < i->user_count; n++) {
        if (!filter_factors(w, hlo_user(m, id, n)))
            return false;
    }
    return true;
}

static bool decide_and_propagate(struct weak *w, dim_id d, bool split)
{
    const struct classes *c = w->labels->classes;
    hlo_value v = c->dim_value[d];
    size_t next = w->trail_count; /* the trail is the queue: what is settled is woken in turn */

    if (split) {
        if (!settle_value(w, v, 1 + d - c->dim_base[v]))
            return false;
    } else {
        if (weak_status(w, d) == 1)
            return false;
        if (weak_status(w, d) < 0)
            exclude_dim(w, d);
        if (w->may[v] == ONLY_WHOLE && !settle_value(w, v, WEAK_WHOLE))
            return false;
    }
    for (; next < w->trail_count; next++) {
        if (!w->trail[next].is_dim && !wake(w, w->trail[next].id))
            return false;
    }
    return true;
}

bool weak_decide(struct weak *w, dim_id d, bool split)
{
    size_t mark = w->trail_count;
    bool holds = decide_and_propagate(w, d, split);

    if (w->trail_count > mark) /* its own dim is settled now and was not before */
        w->decisions[w->decision_count++] = (struct weak_decision){d, split, mark, ++w->serial};
    return holds;
}

void weak_undo(struct weak *w, size_t mark)
{
    while (w->decision_count && w->decisions[w->decision_count - 1].mark >= mark)
        w->decision_count--;
    while (w->trail_count > mark) {
        const struct weak_change *c = &w->trail[--w->trail_count];
        hlo_value v = c->is_dim ? w->labels->classes->dim_value[c->id] : c->id;
        if (c->is_dim)
            w->off[c->id] = 0;
        else
            w->status[v] = WEAK_OPEN;
        w->may[v] = statuses_left(w, v);
    }
}
