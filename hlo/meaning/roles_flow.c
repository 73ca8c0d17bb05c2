/* What the data flow says: what the forward pass is, which value is the gradient that arrives at an
 * update. Uses no names. */
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

enum { WALK_MAX = 4096 }; /* values looked at from one piece of state */

static const char MEMORY_FOR[] = "for the roles of the parameters";

bool hlo_work_same_dims(const struct hlo_roles_work *w, hlo_value a, hlo_value b)
{
    const struct hlo_shape *x = hlo_value_shape(w->m, a), *y = hlo_value_shape(w->m, b);

    return x->rank == y->rank && hlo_type_info[x->type].class != 'O' &&
           hlo_type_info[y->type].class != 'O' &&
           (!x->rank || !memcmp(x->dims, y->dims, x->rank * sizeof *x->dims));
}

static bool is_elementwise(uint16_t opcode)
{
    static const bool table[HLO_OP_COUNT] = {
        [HLO_OP_ABS] = true,
        [HLO_OP_ADD] = true,
        [HLO_OP_AND] = true,
        [HLO_OP_ATAN2] = true,
        [HLO_OP_CBRT] = true,
        [HLO_OP_CEIL] = true,
        [HLO_OP_CLAMP] = true,
        [HLO_OP_COMPARE] = true,
        [HLO_OP_CONVERT] = true,
        [HLO_OP_COPY] = true,
        [HLO_OP_COSINE] = true,
        [HLO_OP_DIVIDE] = true,
        [HLO_OP_ERF] = true,
        [HLO_OP_EXPONENTIAL] = true,
        [HLO_OP_EXPONENTIAL_MINUS_ONE] = true,
        [HLO_OP_FLOOR] = true,
        [HLO_OP_IS_FINITE] = true,
        [HLO_OP_LOG] = true,
        [HLO_OP_LOG_PLUS_ONE] = true,
        [HLO_OP_LOGISTIC] = true,
        [HLO_OP_MAXIMUM] = true,
        [HLO_OP_MINIMUM] = true,
        [HLO_OP_MULTIPLY] = true,
        [HLO_OP_NEGATE] = true,
        [HLO_OP_NOT] = true,
        [HLO_OP_OR] = true,
        [HLO_OP_POWER] = true,
        [HLO_OP_REDUCE_PRECISION] = true,
        [HLO_OP_REMAINDER] = true,
        [HLO_OP_ROUND_NEAREST_AFZ] = true,
        [HLO_OP_ROUND_NEAREST_EVEN] = true,
        [HLO_OP_RSQRT] = true,
        [HLO_OP_SELECT] = true,
        [HLO_OP_SIGN] = true,
        [HLO_OP_SINE] = true,
        [HLO_OP_SQRT] = true,
        [HLO_OP_STOCHASTIC_CONVERT] = true,
        [HLO_OP_SUBTRACT] = true,
        [HLO_OP_TAN] = true,
        [HLO_OP_TANH] = true,
        [HLO_OP_XOR] = true,
    };

    return table[opcode];
}

/* ---- elementwise functions of one value ---- */

/* Scalars spread over an array: learning rates, bias corrections, clipping factors. */
static bool is_spread_scalar(const struct hlo_roles_work *w, hlo_value v)
{
    if (w->is_free[v] || hlo_value_shape(w->m, v)->rank == 0)
        return true;
    v = hlo_graph_source(&w->g, v);
    for (int hops = 0; hops < 4; hops++) {
        if (w->is_spread[v])
            return true;
        uint16_t op = w->g.opcode[v];
        if (op != HLO_OP_BROADCAST && op != HLO_OP_RESHAPE && op != HLO_OP_CONVERT)
            return false;
        v = hlo_graph_source(&w->g, w->g.preds[w->g.pred_first[v]]);
        if (w->is_free[v] || hlo_value_shape(w->m, v)->elements == 1)
            return true;
    }
    return false;
}

/* A scalar stays one of several things, an array's scalar operands do not count. */
static bool counts_operand(const struct hlo_roles_work *w, hlo_value of, hlo_value operand)
{
    return hlo_value_shape(w->m, of)->rank ? !is_spread_scalar(w, operand) : !w->is_free[operand];
}

/* One result element from the operand elements of the same index. Frameworks wrap arguments and
 * results in reshapes that change nothing. */
static bool is_pointwise(const struct hlo_roles_work *w, hlo_value v)
{
    uint16_t op = w->g.opcode[v];

    if (op == HLO_OP_RESHAPE || op == HLO_OP_BITCAST)
        return hlo_work_same_dims(w, v, w->g.preds[w->g.pred_first[v]]);
    return is_elementwise(op);
}

/* A scatter: rows are added to, not replaced, as a gradient's are and those of a cache are not. */
static bool is_accumulating(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->operand_count != 3 || !i->called_count)
        return false;
    hlo_id root = m->computations[hlo_called(m, id, 0)].root;
    return hlo_at(m, root)->opcode != HLO_OP_PARAMETER;
}

uint32_t hlo_work_carried(const struct hlo_roles_work *w, hlo_value v)
{
    if (w->g.is_flow[v] || is_pointwise(w, v))
        return w->g.pred_first[v + 1] - w->g.pred_first[v];
    return w->g.opcode[v] == HLO_OP_SCATTER && is_accumulating(w->m, w->m->value_instruction[v]);
}

static bool is_looked_through(const struct hlo_roles_work *w, hlo_value v)
{
    uint32_t preds = w->g.pred_first[v + 1] - w->g.pred_first[v];

    if (w->g.is_flow[v])
        return preds == 1;
    return preds && is_pointwise(w, v);
}

/* Depth-first; a value on a cycle (a loop's) stands for itself. */
static int find_single(struct hlo_roles_work *w, struct err *e)
{
    struct frame {
        hlo_value v;
        uint32_t next;
    } *stack = NULL;
    const struct hlo_graph *g = &w->g;
    size_t room = 0, depth = 0;
    uint32_t values = w->m->value_count;

    memset(w->single, 0xff, values * sizeof *w->single);
    memset(w->is_spread, 0, values * sizeof *w->is_spread);
    for (hlo_value start = 0; start < values; start++) {
        if (w->single[start] != HLO_NONE)
            continue;
        if (!mem_grow(&stack, &room, 0, 1))
            return err_no_memory(e, MEMORY_FOR);
        stack[depth++] = (struct frame){start, g->pred_first[start]};
        w->single[start] = start; /* while open */
        while (depth) {
            struct frame *f = &stack[depth - 1];
            bool is_through = is_looked_through(w, f->v);
            if (is_through && f->next < g->pred_first[f->v + 1]) {
                hlo_value p = g->preds[f->next++];
                if (w->single[p] != HLO_NONE)
                    continue;
                if (!mem_grow(&stack, &room, depth, 1)) {
                    free(stack);
                    return err_no_memory(e, MEMORY_FOR);
                }
                stack[depth++] = (struct frame){p, g->pred_first[p]};
                w->single[p] = p;
                continue;
            }
            hlo_value one = HLO_NONE;
            for (uint32_t k = g->pred_first[f->v]; is_through && k < g->pred_first[f->v + 1]; k++) {
                if (!g->is_flow[f->v] && !counts_operand(w, f->v, g->preds[k]))
                    continue;
                hlo_value from = w->single[g->preds[k]];
                one = one == HLO_NONE || one == from ? from : f->v;
                if (one == f->v)
                    break;
            }
            w->single[f->v] = one == HLO_NONE ? f->v : one;
            /* An array of one element may be a gradient as well. */
            w->is_spread[f->v] =
                is_through && one == HLO_NONE && hlo_value_shape(w->m, f->v)->elements > 1;
            depth--;
        }
    }
    free(stack);
    return 0;
}

/* ---- the forward pass ---- */

/* The parameter that `v` is a view of, HLO_NONE. */
static uint32_t viewed_param(const struct hlo_roles_work *w, hlo_value v)
{
    for (int hops = 0; hops < 16; hops++) {
        v = hlo_graph_source(&w->g, v);
        if (w->param_of[v] != HLO_NONE || w->g.is_flow[v])
            break;
        switch (w->g.opcode[v]) {
        case HLO_OP_RESHAPE:
        case HLO_OP_TRANSPOSE:
        case HLO_OP_CONVERT:
        case HLO_OP_COPY:
        case HLO_OP_BITCAST:
        case HLO_OP_SLICE:
        case HLO_OP_BROADCAST:
            v = w->g.preds[w->g.pred_first[v]];
            continue;
        default:
            return HLO_NONE;
        }
    }
    return w->param_of[v];
}

/* A loss by weights that this step has trained is computed from these: what trains them is not part
 * of the forward pass. */
static bool is_no_new_weight(const void *context, hlo_value v)
{
    const struct hlo_roles_work *w = context;

    return !w->is_new[v];
}

/* Whoever reads a weight first, reads it for the forward pass: backward uses need its result. So
 * the forward pass is what the loss is computed from, and the first uses of weights that the loss
 * is not: others may stand in any order where the forward pass is made twice. */
static int find_forward(struct hlo_roles_work *w, struct err *e)
{
    bool *is_used = mem_try(w->param_count, 1);

    if (!is_used)
        return err_no_memory(e, MEMORY_FOR);
    hlo_reach_clear(&w->forward);
    if (w->loss != HLO_NONE)
        hlo_reach_add(&w->forward, w->loss);
    hlo_reach_back(&w->forward, &w->g, is_no_new_weight, w);
    for (uint32_t p = 0; p < w->param_count; p++)
        is_used[p] = w->forward.has[w->params[p].value];
    for (uint32_t n = 0; n < w->g.order_count; n++) {
        hlo_id id = w->g.order[n];
        hlo_value v = w->m->leaf_base[id];
        if (!hlo_work_is_heavy(hlo_graph_opcode(&w->g, id)) || v == w->m->leaf_base[id + 1])
            continue;
        for (uint32_t k = 0; k < hlo_at(w->m, id)->operand_count; k++) {
            hlo_id o = hlo_operand(w->m, id, k);
            uint32_t p = w->m->leaf_base[o] == w->m->leaf_base[o + 1]
                             ? HLO_NONE
                             : viewed_param(w, w->m->leaf_base[o]);
            if (p == HLO_NONE || is_used[p] || !hlo_work_is_float(w, w->params[p].value))
                continue;
            is_used[p] = true;
            hlo_reach_add(&w->forward, v);
        }
    }
    free(is_used);
    hlo_reach_back(&w->forward, &w->g, is_no_new_weight, w);
    for (uint32_t p = 0; p < w->param_count; p++)
        w->is_read[p] = w->forward.has[w->params[p].value];
    return 0;
}

/* Results, what may be the new value of what, and the loss. */
static int find_updates(struct hlo_roles_work *w, struct err *e)
{
    hlo_id root = w->m->computations[w->m->entry].root;

    for (uint32_t o = 0; o < w->output_count; o++)
        w->outputs[o] = hlo_graph_source(&w->g, hlo_value_of(w->m, root, o));
    int code = hlo_roles_made_begin(w, e);
    if (!code)
        code = find_single(w, e);
    if (!code)
        code = hlo_roles_updates(w, e);
    return code ? code : hlo_roles_loss(w, e);
}

int hlo_roles_flow(struct hlo_roles_work *w, struct err *e)
{
    bool is_cut = false;

    hlo_reach_clear(&w->scratch);
    for (uint32_t p = 0; p < w->param_count; p++)
        hlo_reach_add(&w->scratch, w->params[p].value);
    hlo_reach_ahead(&w->scratch, &w->g, NULL, NULL);
    for (hlo_value v = 0; v < w->m->value_count; v++)
        w->is_free[v] = !w->scratch.has[v];
    int code = find_updates(w, e);
    if (!code && w->loss == HLO_NONE)
        code = hlo_roles_one_turn(w, &is_cut, e);
    if (!code && is_cut)
        code = find_updates(w, e);
    if (!code)
        code = find_forward(w, e);
    return code ? code : hlo_roles_pair(w, e);
}

/* ---- gradients ---- */

struct in_set {
    const struct hlo_roles_work *w;
    const struct hlo_reach *set;
};

static bool in_set_elementwise(const void *context, hlo_value v)
{
    const struct in_set *c = context;

    return c->set->has[v] && hlo_work_carried(c->w, v);
}

/* What comes before: gradients never depend on moments, other factors of the update do. */
static bool is_better(const struct hlo_roles_work *w, const struct hlo_reach *stateful, hlo_value a,
                      hlo_value b)
{
    if (b == HLO_NONE || stateful->has[a] != stateful->has[b])
        return b == HLO_NONE || stateful->has[b];
    if (w->forward.has[a] != w->forward.has[b])
        return w->forward.has[b];
    return hlo_value_shape(w->m, a)->elements > hlo_value_shape(w->m, b)->elements;
}

/* The parameter whose new value that of `p` follows: an elementwise function of it, of `p` and of
 * scalars, as a target network's copy or average of weights is. HLO_NONE: something else is in it,
 * a gradient. owner[value]: parameter + 1 that it is the new value of. */
static uint32_t leader_of(struct hlo_roles_work *w, uint32_t p, const uint32_t *owner)
{
    struct hlo_reach *r = &w->scratch;
    hlo_value updated = w->params[p].updated;
    uint32_t leader = HLO_NONE;

    hlo_reach_clear(r);
    hlo_reach_add(r, updated);
    for (uint32_t n = 0; n < r->count; n++) {
        hlo_value v = r->queue[n];
        if (w->param_of[v] == p)
            continue;
        if (v != updated && owner[v] && owner[v] - 1 != p) {
            leader = owner[v] - 1;
            continue;
        }
        if (n >= WALK_MAX || w->param_of[v] != HLO_NONE ||
            (!w->g.is_flow[v] && !is_pointwise(w, v)))
            return HLO_NONE;
        for (uint32_t k = w->g.pred_first[v]; k < w->g.pred_first[v + 1]; k++) {
            if (!w->is_free[w->g.preds[k]] && counts_operand(w, updated, w->g.preds[k]))
                hlo_reach_add(r, w->g.preds[k]);
        }
    }
    return leader;
}

/* The update region of one new value: elementwise functions of state of its dims. What enters it
 * from outside is the gradient. Ties the other state in it to parameter `p`. */
static void find_gradient(struct hlo_roles_work *w, uint32_t p, struct hlo_reach *inner,
                          const struct hlo_reach *stateful)
{
    struct hlo_param_role *role = &w->params[p];
    hlo_value best = HLO_NONE;

    hlo_work_update_region(w, role->updated);
    hlo_reach_clear(inner);
    for (uint32_t n = 0; n < w->scratch.count; n++) {
        uint32_t q = w->param_of[w->scratch.queue[n]];
        if (q == HLO_NONE)
            continue;
        hlo_reach_add(inner, w->scratch.queue[n]);
        if (q != p && w->is_read[p] && !w->is_read[q] && w->params[q].of == HLO_NONE)
            w->params[q].of = p;
        if (q != p && !w->is_read[p] && w->is_read[q] && w->params[p].of == HLO_NONE)
            w->params[p].of = q; /* an average of the weights */
    }
    struct in_set filter = {w, &w->scratch};
    hlo_reach_ahead(inner, &w->g, in_set_elementwise, &filter);
    for (uint32_t n = 0; n < inner->count; n++) {
        hlo_value v = inner->queue[n];
        if (w->param_of[v] != HLO_NONE)
            continue;
        for (uint32_t k = w->g.pred_first[v]; k < w->g.pred_first[v + 1]; k++) {
            hlo_value u = w->g.preds[k], from = w->single[u];
            if (inner->has[u] || w->is_free[u] || !counts_operand(w, role->updated, u))
                continue;
            if (stateful->has[u] && hlo_work_same_dims(w, u, role->updated) &&
                hlo_work_carried(w, u)) {
                hlo_reach_add(inner, u); /* a scaled gradient: go on to the gradient */
                continue;
            }
            if (!hlo_work_is_float(w, from) || w->param_of[from] != HLO_NONE)
                continue;
            if (is_better(w, stateful, from, best))
                best = from;
        }
    }
    if (best != HLO_NONE && !stateful->has[best])
        role->gradient = best;
}

/* What `v` is a sum or a multiple of. */
static hlo_value summed(const struct hlo_roles_work *w, hlo_value v)
{
    for (int hops = 0; hops < 16; hops++) {
        hlo_value next = HLO_NONE;
        uint32_t arrays = 0;
        uint16_t op = w->g.opcode[v];
        if (w->forward.has[v] ||
            (!w->g.is_flow[v] && op != HLO_OP_REDUCE && op != HLO_OP_CONVERT &&
             op != HLO_OP_RESHAPE && op != HLO_OP_MULTIPLY && op != HLO_OP_DIVIDE))
            return v;
        for (uint32_t k = w->g.pred_first[v]; k < w->g.pred_first[v + 1]; k++) {
            if (is_spread_scalar(w, w->g.preds[k]))
                continue;
            next = w->g.preds[k];
            arrays++;
        }
        if (arrays != 1)
            return v;
        v = next;
    }
    return v;
}

/* A running statistic: what arrives is a sum or a mean of what the forward pass makes without
 * reading `p`. A gradient is made from what comes after p was read. */
static bool is_statistic(struct hlo_roles_work *w, uint32_t p)
{
    struct hlo_reach *r = &w->scratch;
    hlo_value from = summed(w, w->params[p].gradient);

    if (!w->forward.has[from] || !hlo_value_shape(w->m, w->params[p].value)->rank)
        return false;
    hlo_reach_clear(r);
    hlo_reach_add(r, from);
    for (uint32_t n = 0; n < r->count; n++) {
        if (n >= WALK_MAX || r->queue[n] == w->params[p].value)
            return false;
        for (uint32_t k = w->g.pred_first[r->queue[n]]; k < w->g.pred_first[r->queue[n] + 1]; k++)
            hlo_reach_add(r, w->g.preds[k]);
    }
    return true;
}

/* Takes the gradient of statistics away; moments of its own tell a weight. */
static void find_statistics(struct hlo_roles_work *w)
{
    for (uint32_t p = 0; p < w->param_count; p++) {
        if (w->params[p].of != HLO_NONE)
            w->has_moments[w->params[p].of] = true;
    }
    for (uint32_t p = 0; p < w->param_count; p++) {
        if (w->params[p].gradient != HLO_NONE && w->is_read[p] && !w->has_moments[p] &&
            is_statistic(w, p))
            w->params[p].gradient = HLO_NONE;
    }
}

/* What follows a trained variable is not trained itself. */
static void find_followers(struct hlo_roles_work *w, const uint32_t *owner)
{
    for (uint32_t p = 0; p < w->param_count; p++) {
        struct hlo_param_role *r = &w->params[p];
        if (!w->is_read[p] || r->updated == HLO_NONE || r->of != HLO_NONE ||
            !hlo_work_is_float(w, r->value) || !hlo_value_shape(w->m, r->value)->rank)
            continue;
        uint32_t leader = leader_of(w, p, owner);
        hlo_value gradient = leader == HLO_NONE ? HLO_NONE : w->params[leader].gradient;
        if (gradient == HLO_NONE || w->forward.has[gradient])
            continue;
        r->of = leader;
        r->gradient = HLO_NONE;
    }
}

/* State of other dims than its variable's (factored second moments): the variable whose new value
 * it goes into. */
static void tie_by_flow(struct hlo_roles_work *w, const uint32_t *owner)
{
    for (uint32_t p = 0; p < w->param_count; p++) {
        struct hlo_param_role *r = &w->params[p];
        if (r->of != HLO_NONE || w->is_read[p] || hlo_work_is_scalar(w, r->value) ||
            !hlo_work_is_float(w, r->value) || r->updated == HLO_NONE)
            continue;
        hlo_reach_clear(&w->scratch);
        hlo_reach_add(&w->scratch, r->value);
        for (uint32_t n = 0; n < w->scratch.count && r->of == HLO_NONE && n < WALK_MAX; n++) {
            hlo_value v = w->scratch.queue[n];
            if (owner[v])
                r->of = owner[v] - 1;
            for (uint32_t k = w->g.succ_first[v]; k < w->g.succ_first[v + 1]; k++) {
                if (!hlo_work_is_scalar(w, w->g.succs[k]))
                    hlo_reach_add(&w->scratch, w->g.succs[k]);
            }
        }
    }
}

/* What moments are in ends at new weights: a second loss of the step may be computed with these. */
static bool is_within_update(const void *context, hlo_value v)
{
    const uint32_t *owner = context;

    return !owner[v];
}

int hlo_roles_gradients(struct hlo_roles_work *w, struct err *e)
{
    struct hlo_reach inner = {0}, stateful = {0};
    uint32_t *owner = mem_try(w->m->value_count, sizeof *owner);
    bool ok = owner && hlo_reach_init(&inner, &w->g) && hlo_reach_init(&stateful, &w->g);

    for (uint32_t p = 0; ok && p < w->param_count; p++) {
        hlo_value v = w->params[p].value;
        if (w->params[p].updated != HLO_NONE && w->is_read[p])
            owner[w->params[p].updated] = p + 1;
        if (!w->is_read[p] && w->params[p].updated != HLO_NONE && hlo_work_is_float(w, v))
            hlo_reach_add(&stateful, v);
    }
    if (ok)
        hlo_reach_ahead(&stateful, &w->g, is_within_update, owner);
    for (uint32_t p = 0; ok && p < w->param_count; p++) {
        if (w->params[p].updated != HLO_NONE && hlo_work_is_float(w, w->params[p].value))
            find_gradient(w, p, &inner, &stateful);
    }
    if (ok) {
        find_followers(w, owner);
        tie_by_flow(w, owner);
        find_statistics(w);
        /* Where the step is no elementwise function of the gradient (orthogonalised momentum), the
         * moment's update still is. */
        for (uint32_t p = 0; p < w->param_count; p++) {
            uint32_t of = w->params[p].of;
            if (of != HLO_NONE && w->params[of].gradient == HLO_NONE)
                w->params[of].gradient = w->params[p].gradient;
        }
    }
    free(owner);
    hlo_reach_release(&inner);
    hlo_reach_release(&stateful);
    return ok ? 0 : err_no_memory(e, MEMORY_FOR);
}
