/* Layers where there are no names at all: the weights in the order in which the forward pass needs
 * them, and what repeats in that order. */
#include "hlo/meaning/layers_internal.h"
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <string.h>

enum {
    PERIOD_MAX = 512,   /* variables of one layer */
    USES_MAX = 1 << 16, /* variables looked at */
    RUNS_MAX = 64,      /* kinds of layers */
    NEAR = 32,          /* instructions between two readers in one layer */
};

struct use {
    uint32_t param, join, position;
    uint64_t like; /* equal: same shape, read by the same kind of operation */
};

static int by_order(const void *a, const void *b)
{
    const struct use *x = a, *y = b;

    if (x->join != y->join)
        return x->join < y->join ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* ---- order of need ---- */

static bool is_forward(const struct layering *l, hlo_id id)
{
    return l->w->phase[id] == HLO_PHASE_FORWARD;
}

/* An operand to be visited: the deepest first, then as they stand. */
struct operand {
    hlo_id id;
    uint32_t depth, at;
};

static int by_depth(const void *a, const void *b)
{
    const struct operand *x = a, *y = b;

    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* A walk: of each instruction on the way its operands not yet visited, in `operands`. */
struct walk {
    const struct layering *l;
    bool *seen;
    struct operand *operands;
    size_t count, room;
    struct step {
        hlo_id id;
        size_t next, end;
    } * steps;
    size_t step_count, step_room;
};

/* Sorts the forward operands of `id` behind those of its users. */
static bool push_step(struct walk *w, hlo_id id)
{
    const struct hlo_graph *g = &w->l->w->g;
    size_t first = w->count;

    w->seen[id] = true;
    for (hlo_value v = g->m->leaf_base[id]; v < g->m->leaf_base[id + 1]; v++) {
        for (uint32_t k = g->pred_first[v]; k < g->pred_first[v + 1]; k++) {
            hlo_id from = g->m->value_instruction[g->preds[k]];
            if (w->seen[from] || !is_forward(w->l, from) || !w->l->data.has[g->preds[k]])
                continue;
            if (!mem_grow(&w->operands, &w->room, w->count, 1))
                return false;
            w->operands[w->count] = (struct operand){from, w->l->depth[from], (uint32_t)w->count};
            w->count++;
        }
    }
    if (w->count - first > 1)
        qsort(w->operands + first, w->count - first, sizeof *w->operands, by_depth);
    if (!mem_grow(&w->steps, &w->step_room, w->step_count, 1))
        return false;
    w->steps[w->step_count++] = (struct step){id, first, w->count};
    return true;
}

/* Post-order from the loss, deepest operand first: one branch is finished before the next is begun,
 * so that the layers of an encoder and a decoder do not mix. O(edges log edges). */
static bool order_of_need(const struct layering *l, uint32_t *order)
{
    struct walk w = {.l = l, .seen = mem_try(l->w->m->count, 1)};
    bool ok = w.seen != NULL;
    uint32_t count = 0;

    for (uint32_t n = ok ? l->w->g.order_count : 0; n-- > 0 && ok;) {
        hlo_id start = l->w->g.order[n];
        if (w.seen[start] || !is_forward(l, start))
            continue;
        ok = push_step(&w, start);
        while (ok && w.step_count) {
            struct step *top = &w.steps[w.step_count - 1];
            while (top->next < top->end && w.seen[w.operands[top->next].id])
                top->next++;
            if (top->next < top->end) {
                ok = push_step(&w, w.operands[top->next].id);
                continue;
            }
            order[top->id] = count++;
            w.step_count--;
            w.count = w.step_count ? w.steps[w.step_count - 1].end : 0;
        }
    }
    free(w.seen);
    free(w.operands);
    free(w.steps);
    return ok;
}

/* Where the result of `id` first meets something else: through views and the like with one reader.
 */
static hlo_id join_of(const struct layering *l, hlo_id id)
{
    const struct hlo_module *m = l->w->m;

    for (int hops = 0; hops < 8; hops++) {
        hlo_id only = HLO_NONE;
        for (uint32_t n = 0; n < hlo_at(m, id)->user_count; n++) {
            hlo_id u = hlo_user(m, id, n);
            if (!is_forward(l, u))
                continue;
            if (only != HLO_NONE)
                return id;
            only = u;
        }
        if (only == HLO_NONE)
            return id;
        if (hlo_at(m, only)->operand_count > 1)
            return only;
        id = only;
    }
    return id;
}

/* The operation that first reads a variable for data, looking through views of it. False when
 * others do far from it: a table that all layers share has no place in the order. */
static bool first_use(const struct layering *l, uint32_t p, const uint32_t *order, struct use *out)
{
    const struct hlo_roles_work *w = l->w;
    const struct hlo_shape *s = hlo_value_shape(w->m, w->params[p].value);
    struct hlo_reach *r = &l->w->scratch;
    hlo_id best = HLO_NONE;

    hlo_reach_clear(r);
    hlo_reach_add(r, w->params[p].value);
    for (uint32_t n = 0; n < r->count && n < 64; n++) {
        hlo_value v = r->queue[n];
        for (uint32_t k = w->g.succ_first[v]; k < w->g.succ_first[v + 1]; k++) {
            hlo_value u = w->g.succs[k];
            hlo_id id = w->m->value_instruction[u];
            if (!is_forward(l, id))
                continue;
            if (!l->data.has[u])
                hlo_reach_add(r, u);
            else if (best != HLO_NONE && order[best] + NEAR < order[id])
                return false;
            else if (best != HLO_NONE && order[id] + NEAR < order[best])
                return false;
            else if (best == HLO_NONE || order[id] < order[best])
                best = id;
        }
    }
    if (best == HLO_NONE)
        return false;
    uint64_t h = mem_hash(s->dims, s->rank * sizeof *s->dims, hlo_at(w->m, best)->opcode);
    *out = (struct use){p, order[join_of(l, best)], order[best], h};
    return true;
}

/* ---- repetition ---- */

struct run {
    uint32_t first, period, times;
};

/* The repetition that covers most of [from, to), of the smallest period. */
static struct run find_run(const struct use *u, uint32_t from, uint32_t to)
{
    struct run best = {0};

    for (uint32_t period = 1; period <= PERIOD_MAX && period * 2 <= to - from; period++) {
        uint32_t same = 0;
        for (uint32_t i = from; i + period <= to; i++) {
            bool is_same = i + period < to && u[i].like == u[i + period].like;
            if (is_same) {
                same++;
                continue;
            }
            uint32_t times = (same + period) / period;
            if (same && times > 1 && times * period > best.times * best.period)
                best = (struct run){i - same, period, times};
            same = 0;
        }
    }
    return best;
}

static bool name_run(struct layering *l, const struct use *u, struct run r, uint32_t *count)
{
    char name[24];

    for (uint32_t t = 0; t < r.times; t++) {
        int size = snprintf(name, sizeof name, "block_%03u", (unsigned)(*count)++);
        uint32_t place = hlo_place(l, name, (size_t)size, true);
        if (!place)
            return false;
        for (uint32_t k = 0; k < r.period; k++)
            l->of_param[u[r.first + t * r.period + k].param] = place;
    }
    return true;
}

/* The longest repetition first, then what is left and right of it; named in order. */
static bool name_runs(struct layering *l, const struct use *u, uint32_t count)
{
    struct run runs[RUNS_MAX];
    uint32_t found = 0, named = 0;
    bool is_open[RUNS_MAX + 1] = {true}; /* the gap before run n may hold more */

    for (uint32_t n = 0; n <= found;) {
        uint32_t from = n ? runs[n - 1].first + runs[n - 1].period * runs[n - 1].times : 0;
        uint32_t to = n < found ? runs[n].first : count;
        struct run r = {0};
        if (is_open[n] && found < RUNS_MAX && to > from)
            r = find_run(u, from, to);
        if (!r.times) {
            is_open[n++] = false;
            continue;
        }
        memmove(runs + n + 1, runs + n, (found - n) * sizeof *runs);
        memmove(is_open + n + 1, is_open + n, (found - n + 1) * sizeof *is_open);
        runs[n] = r;
        is_open[n] = true;
        found++;
    }
    for (uint32_t n = 0; n < found; n++) {
        if (!name_run(l, u, runs[n], &named))
            return false;
    }
    return true;
}

/* What first reads data with variable `p`, which may be reshaped or converted before: "linear",
 * "conv", "table"; NULL: something else. */
static const char *kind_of_use(struct layering *l, uint32_t p)
{
    const struct hlo_roles_work *w = l->w;
    const char *kind = NULL;
    struct hlo_reach *r = &l->w->scratch;

    hlo_reach_clear(r);
    hlo_reach_add(r, w->params[p].value);
    for (uint32_t n = 0; n < r->count && n < 64; n++) {
        for (uint32_t k = w->g.succ_first[r->queue[n]]; k < w->g.succ_first[r->queue[n] + 1]; k++) {
            hlo_value u = w->g.succs[k];
            uint16_t op = w->g.opcode[u];
            if (!is_forward(l, w->m->value_instruction[u]))
                continue;
            if (!l->data.has[u])
                hlo_reach_add(r, u);
            else if (op == HLO_OP_DOT || op == HLO_OP_CONVOLUTION)
                kind = op == HLO_OP_DOT ? "linear" : "conv";
            else if (op == HLO_OP_GATHER && !kind)
                kind = "table";
        }
    }
    return hlo_value_shape(w->m, w->params[p].value)->rank < 2 ? NULL : kind;
}

/* What a variable outside of blocks is read by: linear_30522, conv_64, table_30522. */
static uint32_t place_by_use(struct layering *l, uint32_t p)
{
    const struct hlo_shape *s = hlo_value_shape(l->w->m, l->w->params[p].value);
    const char *kind = kind_of_use(l, p);
    int64_t widest = 0;
    char name[48];

    for (uint8_t d = 0; d < s->rank; d++)
        widest = s->dims[d] > widest ? s->dims[d] : widest;
    if (!kind)
        return PLACE_OUTSIDE;
    int size = snprintf(name, sizeof name, "%s_%lld", kind, (long long)widest);
    return hlo_place(l, name, (size_t)size, false);
}

/* Ends in a number that is a part of its own: conv/2 and 2, not conv2. */
static bool is_of_list(const char *path)
{
    size_t size = strlen(path), end = size;

    while (end && path[end - 1] >= '0' && path[end - 1] <= '9')
        end--;
    return end < size && (!end || path[end - 1] == '/');
}

static bool is_bare_layer(struct layering *l, uint32_t p)
{
    const char *kind = kind_of_use(l, p);

    return l->w->params[p].role == HLO_ROLE_VARIABLE && kind && strcmp(kind, "table") != 0;
}

bool hlo_layers_by_list(struct layering *l)
{
    const struct hlo_roles_work *w = l->w;
    uint32_t listed = 0;
    bool ok = true;

    for (uint32_t p = 0; p < w->param_count; p++)
        listed += is_of_list(w->paths[p]) && is_bare_layer(l, p);
    for (uint32_t p = 0; p < w->param_count && listed > 1 && ok; p++) {
        const char *path = hlo_path_without_root(w->paths[p]);
        if (*path && is_bare_layer(l, p))
            ok = (l->of_param[p] = hlo_place(l, path, strlen(path), true)) != PLACE_UNKNOWN;
    }
    return ok;
}

bool hlo_layers_by_repetition(struct layering *l)
{
    struct use *uses = mem_try(l->w->param_count, sizeof *uses);
    uint32_t *order = mem_try(l->w->m->count, sizeof *order);
    uint32_t count = 0;

    if (!uses || !order || !order_of_need(l, order)) {
        free(uses);
        free(order);
        return false;
    }
    for (uint32_t p = 0; p < l->w->param_count && count < USES_MAX; p++) {
        if (l->w->params[p].role == HLO_ROLE_VARIABLE && !l->of_param[p])
            count += first_use(l, p, order, &uses[count]);
    }
    if (count)
        qsort(uses, count, sizeof *uses, by_order);
    bool ok = name_runs(l, uses, count);
    for (uint32_t p = 0; p < l->w->param_count && ok; p++) {
        if (l->w->params[p].role == HLO_ROLE_VARIABLE && !l->of_param[p])
            ok = (l->of_param[p] = place_by_use(l, p)) != PLACE_UNKNOWN;
    }
    free(uses);
    free(order);
    return ok;
}
