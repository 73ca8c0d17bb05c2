#include "engine/plan/value_splits.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/splats.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <string.h>

struct wishes {
    const struct plan *plan;
    const struct hlo_module *m;
    const struct classes *c;
    label *over;
    bool *is_asked;  /* [values] some use was seen */
    bool *is_shared; /* [values] uses want different splits */
    hlo_id *same;    /* [instructions] the first one that computes the same free values; itself */
    struct splats splats;
    bool *is_whole; /* [dims] of free values: equal ones want different splits */
    struct hlo_factors factors;
    struct hlo_flows flows;
    struct err *e;
};

/* A use of free value `v` wants `want` per dim: kept where all uses agree. */
static void ask_value(struct wishes *w, hlo_value v, const label *want)
{
    uint32_t rank = hlo_value_shape(w->m, v)->rank;
    label *over = w->over + w->c->dim_base[v];

    if (!w->is_asked[v])
        memcpy(over, want, rank * sizeof *over);
    for (uint32_t d = 0; d < rank; d++) {
        w->is_shared[v] |= over[d] != want[d];
        over[d] = over[d] == want[d] ? over[d] : 0;
    }
    w->is_asked[v] = true;
}

static int ask_flows(struct wishes *w, hlo_id user)
{
    int rc = hlo_flows_of(w->m, user, &w->flows, w->e);

    if (rc)
        return rc;
    for (size_t k = 0; k < w->flows.count; k++) {
        const struct hlo_flow *f = &w->flows.items[k];
        if (w->c->is_free[f->from] &&
            hlo_value_shape(w->m, f->from)->rank == hlo_value_shape(w->m, f->to)->rank)
            ask_value(w, f->from, w->over + w->c->dim_base[f->to]);
    }
    return rc;
}

/* What a free instruction's result is split over, a loop index of it is: its label, seen from the
 * result leaves. */
static label label_of_free(const struct classes *c, const label *over, hlo_id user,
                           const struct hlo_factors *list, const struct hlo_factor *f)
{
    for (uint32_t leaf = list->operand_leaves; leaf < list->leaf_count; leaf++) {
        if (f->dims[leaf] >= 0 && f->kind != HLO_FACTOR_PERMUTE)
            return over[class_dim(c, hlo_factors_value(c->m, user, leaf), (uint8_t)f->dims[leaf])];
    }
    return 0;
}

void free_values_wanted_by_free(const struct classes *c, const label *over, hlo_id user,
                                const struct hlo_factors *list, uint32_t leaf,
                                label want[static HLO_RANK_MAX])
{
    memset(want, 0, HLO_RANK_MAX * sizeof *want);
    for (uint32_t k = 0; k < list->count; k++) {
        const struct hlo_factor *f = &list->items[k];
        if (f->dims[leaf] >= 0)
            want[f->dims[leaf]] = label_of_free(c, over, user, list, f);
    }
}

static int ask_of_free(struct wishes *w, hlo_id user)
{
    label want[HLO_RANK_MAX];
    int rc = hlo_factors_of(w->m, user, &w->factors, w->e);

    if (rc)
        return rc;
    for (uint32_t leaf = 0; leaf < w->factors.operand_leaves; leaf++) {
        free_values_wanted_by_free(w->c, w->over, user, &w->factors, leaf, want);
        ask_value(w, hlo_factors_value(w->m, user, leaf), want);
    }
    return rc;
}

void free_values_wanted(const struct plan *p, hlo_id user, uint32_t leaf,
                        label want[static HLO_RANK_MAX])
{
    const struct classes *c = &p->problem->classes;

    memset(want, 0, HLO_RANK_MAX * sizeof *want);
    for (uint32_t d = 0; p->relaxed && d < HLO_RANK_MAX; d++)
        want[d] = status_dim(p->relaxed->leaf[c->leaf_base[user] + leaf], p->problem->mesh.axes, d);
    for (uint32_t k = c->factor_base[user]; !p->relaxed && k < c->factor_base[user + 1]; k++) {
        int8_t d = c->leaf_dims[c->factors[k].dims + leaf];
        if (d >= 0 && c->factors[k].class != CLASS_NONE)
            want[d] = p->on[c->factors[k].class];
    }
}

static void ask_of_classes(struct wishes *w, hlo_id user)
{
    label want[HLO_RANK_MAX];
    uint32_t results = w->m->leaf_base[user + 1] - w->m->leaf_base[user];

    for (uint32_t leaf = 0; leaf + results < class_leaf_count(w->c, user); leaf++) {
        hlo_value v = hlo_factors_value(w->m, user, leaf);
        if (!w->c->is_free[v])
            continue;
        free_values_wanted(w->plan, user, leaf, want);
        ask_value(w, v, want);
    }
}

/* ---- equal free values: compilers make one of them, so they must be split alike ---- */

static bool is_free_instruction(const struct wishes *w, hlo_id id)
{
    hlo_value first = w->m->leaf_base[id];

    return first < w->m->leaf_base[id + 1] && w->c->is_free[first];
}

/* The next attribute from `k` on that says what is computed; NULL. Metadata and shardings do not.
 */
static const struct hlo_attr *next_meant(const struct hlo_module *m, hlo_id id, uint32_t *k)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    while (*k < i->attr_count) {
        const struct hlo_attr *a = &m->attr_pool[i->attrs + (*k)++];
        if (a->key < HLO_ATTR_SHARDING)
            return a;
    }
    return NULL;
}

static bool attrs_equal(const struct hlo_module *m, hlo_id a, hlo_id b)
{
    const struct hlo_attr *p, *q;
    uint32_t k = 0, n = 0;

    do {
        p = next_meant(m, a, &k);
        q = next_meant(m, b, &n);
        if (!p || !q)
            return p == q;
    } while (p->key == q->key && p->size == q->size && !memcmp(p->text, q->text, p->size));
    return false;
}

static bool computes_same(const struct wishes *w, hlo_id a, hlo_id b)
{
    const struct hlo_module *m = w->m;
    const struct hlo_instruction *x = hlo_at(m, a), *y = hlo_at(m, b);

    if (w->splats.is_splat[a] && w->splats.is_splat[b])
        return w->splats.number[a] == w->splats.number[b] && x->computation == y->computation &&
               hlo_shape(m, a)->bare == hlo_shape(m, b)->bare;
    const struct hlo_text *p = &m->literals[x->literal], *q = &m->literals[y->literal];

    if (x->opcode != y->opcode || hlo_shape(m, a)->bare != hlo_shape(m, b)->bare ||
        x->number != y->number || x->operand_count != y->operand_count || p->size != q->size ||
        (p->size && memcmp(p->text, q->text, p->size)))
        return false;
    for (uint32_t k = 0; k < x->operand_count; k++) {
        if (w->same[hlo_operand(m, a, k)] != w->same[hlo_operand(m, b, k)])
            return false;
    }
    return x->computation == y->computation && x->called_count == y->called_count &&
           !memcmp(m->called_pool + x->called, m->called_pool + y->called,
                   x->called_count * sizeof(hlo_comp)) &&
           attrs_equal(m, a, b);
}

static uint64_t hash_instruction(const struct wishes *w, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(w->m, id);
    uint32_t key[] = {i->opcode, hlo_shape(w->m, id)->bare, i->number, i->operand_count,
                      i->computation};

    if (w->splats.is_splat[id]) {
        double number = w->splats.number[id] + 0.0; /* of two zeros the same hash */
        key[0] = HLO_OP_BROADCAST;
        key[2] = key[3] = 0;
        return mem_hash(&number, sizeof number, mem_hash(key, sizeof key, 0));
    }
    uint64_t h = mem_hash(key, sizeof key, 0);
    for (uint32_t k = 0; k < i->operand_count; k++)
        h = mem_hash(&w->same[hlo_operand(w->m, id, k)], sizeof(hlo_id), h);
    return mem_hash(w->m->literals[i->literal].text, w->m->literals[i->literal].size, h);
}

static bool find_same(struct wishes *w)
{
    struct slots slots = {0};
    bool ok = true;

    for (hlo_id id = 0; ok && id < w->m->count; id++) {
        w->same[id] = id;
        if (!is_free_instruction(w, id))
            continue;
        uint64_t hash = hash_instruction(w, id);
        struct slot_walk at;
        hlo_id like = slots_first(&slots, hash, &at);
        while (like != SLOTS_END && !computes_same(w, like, id))
            like = slots_next(&slots, &at);
        if (like == SLOTS_END)
            ok = slots_add(&slots, hash, id);
        else
            w->same[id] = like;
    }
    slots_release(&slots);
    return ok;
}

static uint32_t dims_of(const struct wishes *w, hlo_id id, dim_id *first)
{
    *first = w->c->dim_base[w->m->leaf_base[id]];
    return w->c->dim_base[w->m->leaf_base[id + 1]] - *first;
}

/* Dims that equal values want split in different ways are whole from now on. True: some are new. */
static bool settle_same(struct wishes *w)
{
    bool is_new = false;
    dim_id mine, first;

    for (hlo_id id = 0; id < w->m->count; id++) {
        if (w->same[id] == id)
            continue;
        uint32_t count = dims_of(w, id, &mine);
        dims_of(w, w->same[id], &first);
        for (uint32_t d = 0; d < count; d++) {
            bool differ = w->over[mine + d] != w->over[first + d];
            is_new |= differ;
            w->is_shared[w->m->leaf_base[id]] |= differ;
            w->is_shared[w->m->leaf_base[w->same[id]]] |= differ;
            w->is_whole[first + d] |= differ;
        }
    }
    return is_new;
}

/* Loops carry free values whole. */
static void keep_carried_whole(struct wishes *w, hlo_id loop)
{
    for (hlo_value v = w->m->leaf_base[loop]; v < w->m->leaf_base[loop + 1]; v++) {
        label *over = w->over + w->c->dim_base[v];
        for (uint32_t d = 0; w->c->is_free[v] && d < hlo_value_shape(w->m, v)->rank; d++) {
            w->is_shared[v] |= over[d] != 0;
            over[d] = 0;
        }
    }
}

/* A dim along which the instruction does not split is whole, and so is all that free values are
 * scattered into; wishes for parts of it are cut off behind. */
static int keep_blocked_whole(struct wishes *w, hlo_id id)
{
    int rc = hlo_op_info[hlo_at(w->m, id)->opcode].flags & HLO_OP_IS_FREE
                 ? 1
                 : hlo_factors_of(w->m, id, &w->factors, w->e);

    bool scatters = hlo_at(w->m, id)->opcode == HLO_OP_SCATTER;

    if (rc)
        goto out;
    for (uint32_t leaf = w->factors.operand_leaves; leaf < w->factors.leaf_count; leaf++) {
        hlo_value v = hlo_factors_value(w->m, id, leaf);
        label *over = w->over + w->c->dim_base[v];
        for (uint32_t d = 0; d < hlo_value_shape(w->m, v)->rank; d++) {
            bool bound = false;
            for (uint32_t k = 0; k < w->factors.count && !bound && !scatters; k++)
                bound = w->factors.items[k].kind != HLO_FACTOR_PERMUTE &&
                        w->factors.items[k].dims[leaf] == (int8_t)d;
            w->is_shared[v] |= !bound && over[d];
            over[d] = bound ? over[d] : 0;
        }
    }
out:
    return rc < 0 ? rc : 0;
}

static void keep_whole(struct wishes *w, hlo_id id)
{
    dim_id mine, first;
    uint32_t count = dims_of(w, id, &mine);

    dims_of(w, w->same[id], &first);
    for (uint32_t d = 0; d < count; d++)
        w->over[mine + d] = w->is_whole[first + d] ? 0 : w->over[mine + d];
}

/* Users come after what they use, so their results are settled when they are reached. */
static int ask_all(struct wishes *w)
{
    int rc = 0;

    for (hlo_id id = w->m->count; id-- > 0;) {
        bool is_free = is_free_instruction(w, id), is_flow = hlo_is_flow(w->m, id);
        if (is_free)
            keep_whole(w, id);
        if (hlo_at(w->m, id)->opcode == HLO_OP_WHILE)
            keep_carried_whole(w, id);
        if (is_free && !is_flow)
            rc = keep_blocked_whole(w, id);
        if (rc)
            return rc;
        if (is_flow)
            rc = ask_flows(w, id);
        else if (is_free)
            rc = ask_of_free(w, id);
        else
            ask_of_classes(w, id);
        if (rc)
            return rc;
    }
    return rc;
}

/* What is shared is so in all rounds and for all equal values. */
static void spread_shared(struct wishes *w)
{
    for (int pass = 0; pass < 2; pass++) {
        for (hlo_id id = 0; id < w->m->count; id++) {
            hlo_value mine = w->m->leaf_base[id], first = w->m->leaf_base[w->same[id]];
            if (w->same[id] == id)
                continue;
            w->is_shared[first] |= w->is_shared[mine];
            w->is_shared[mine] |= w->is_shared[first];
        }
    }
}

/* Each round makes dims whole for good, so this ends; two or three rounds are usual. */
static int ask_until_settled(struct wishes *w)
{
    int rc;

    do {
        memset(w->is_asked, 0, w->m->value_count);
        for (dim_id d = 0; d < w->c->dim_count; d++) {
            hlo_value v = w->c->dim_value[d];
            w->over[d] = plan_dim_label(w->plan, v, d - w->c->dim_base[v]);
        }
        rc = ask_all(w);
    } while (!rc && settle_same(w));
    return rc;
}

int free_values_new(const struct plan *p, label **over, bool **is_shared, struct err *e)
{
    const struct classes *c = &p->problem->classes;
    struct wishes w = {.plan = p, .m = p->problem->m, .c = c, .e = e};
    int rc = 0;

    w.over = mem_try((size_t)c->dim_count + 1, sizeof *w.over);
    w.is_whole = mem_try((size_t)c->dim_count + 1, sizeof *w.is_whole);
    w.is_shared = mem_try((size_t)w.m->value_count + 1, sizeof *w.is_shared);
    w.is_asked = mem_try((size_t)w.m->value_count + 1, sizeof *w.is_asked);
    w.same = mem_try(w.m->count, sizeof *w.same);
    if (!w.over || !w.is_whole || !w.is_asked || !w.is_shared || !w.same ||
        !splats_new(w.m, &w.splats) || !find_same(&w))
        rc = err_no_memory(e, "to export the plan");
    else
        rc = ask_until_settled(&w);
    if (rc)
        goto out;
    spread_shared(&w);
out:
    free(w.is_asked);
    free(w.is_whole);
    free(w.same);
    splats_release(&w.splats);
    hlo_factors_release(&w.factors);
    hlo_flows_release(&w.flows);
    if (rc) {
        free(w.over);
        w.over = NULL;
    }
    if (rc || !is_shared) {
        free(w.is_shared);
        w.is_shared = NULL;
    }
    *over = w.over;
    if (is_shared)
        *is_shared = w.is_shared;
    return rc;
}
