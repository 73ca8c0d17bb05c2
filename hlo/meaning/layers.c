/* Which layer each instruction belongs to.
 *
 * Where op_name has scopes, these say it. Otherwise the weights do: a forward instruction belongs
 * to the layer whose weight it reads, else to that of its deepest operand; a backward instruction
 * to that of the forward instruction it mirrors; an update to its variable's. */
#include "hlo/meaning/layers_internal.h"
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <string.h>

enum {
    USERS_MAX = 256, /* users of one value looked at: masks are used everywhere and tell nothing */
    READERS_MAX = 256, /* values looked at from one */
    LOOPS_MAX = 16,    /* one inside of the other, that a weight is followed through */
    LARGE_PIECE = 8,   /* a large piece of a layer's work is this part of its largest, or more */
};

/* ---- forward ---- */

/* Weights and what is computed from them alone. */
static bool is_weight(const struct layering *l, hlo_value v)
{
    return !l->w->is_free[v] && !l->data.has[v];
}

static bool is_layer(const struct layering *l, uint32_t place)
{
    return l->places.items[place].is_layer;
}

/* What a loop's body gets as leaf `v` of its parameter, when each trip hands it on unchanged;
 * HLO_NONE otherwise. */
static hlo_value carried_from(const struct hlo_roles_work *w, hlo_value v)
{
    const struct hlo_module *m = w->m;
    hlo_id id = m->value_instruction[v];

    if (w->g.opcode[v] != HLO_OP_PARAMETER) /* nearly all */
        return HLO_NONE;
    const struct hlo_computation *body = &m->computations[hlo_at(m, id)->computation];
    hlo_id loop = body->caller_count == 1 ? body->callers[0] : HLO_NONE;
    if (loop == HLO_NONE || hlo_at(m, loop)->opcode != HLO_OP_WHILE)
        return HLO_NONE;
    uint32_t leaf = v - m->leaf_base[id];
    hlo_id root = m->computations[hlo_called(m, loop, 0)].root;
    hlo_value next = hlo_graph_source(&w->g, hlo_value_of(m, root, leaf));
    hlo_id param = m->computations[hlo_called(m, loop, 0)].params[0];
    return next == hlo_value_of(m, param, leaf) ? hlo_value_of(m, hlo_operand(m, loop, 0), leaf)
                                                : HLO_NONE;
}

/* The place of the variable that `v` is, outside of loops that carry it unchanged. */
static uint32_t place_of_carried(const struct layering *l, hlo_value v)
{
    const struct hlo_roles_work *w = l->w;

    for (int hops = 0; hops < LOOPS_MAX && v != HLO_NONE; hops++) {
        v = hlo_graph_source(&w->g, v);
        if (w->param_of[v] != HLO_NONE)
            return l->of_param[w->param_of[v]];
        v = carried_from(w, v);
    }
    return PLACE_UNKNOWN;
}

/* What the operands say: the place of a layer's weight, else the deepest operand's; a weight
 * outside of layers counts where it is the variable's only use (not a table that every layer adds).
 */
static uint32_t place_from_operands(const struct layering *l, hlo_id id)
{
    const struct hlo_roles_work *w = l->w;
    uint32_t by_weight = PLACE_UNKNOWN, by_depth = PLACE_UNKNOWN, weak = PLACE_UNKNOWN, deepest = 0;

    for (hlo_value v = w->m->leaf_base[id]; v < w->m->leaf_base[id + 1]; v++) {
        for (uint32_t k = w->g.pred_first[v]; k < w->g.pred_first[v + 1]; k++) {
            hlo_value p = w->g.preds[k];
            hlo_id from = w->m->value_instruction[p];
            uint32_t carried = is_weight(l, p) ? place_of_carried(l, p) : PLACE_UNKNOWN;
            uint32_t place = carried ? carried : l->of[from];
            if (!place || w->is_free[p] || from == id || w->g.position[from] > w->g.position[id])
                continue;
            if (is_weight(l, p) &&
                (is_layer(l, place) || !l->places.items[place].is_shared || is_weight(l, v))) {
                if (!by_weight || (is_layer(l, place) && !is_layer(l, by_weight)))
                    by_weight = place;
            } else if (is_weight(l, p)) {
                weak = place;
            } else if (!by_depth || l->depth[from] > deepest) {
                by_depth = place;
                deepest = l->depth[from];
            }
        }
    }
    return by_weight ? by_weight : by_depth ? by_depth : weak;
}

/* Marks places outside of layers with a variable that is read for data at several places. */
static void find_shared(struct layering *l)
{
    const struct hlo_roles_work *w = l->w;
    struct hlo_reach *r = &l->w->scratch;

    for (uint32_t p = 0; p < w->param_count; p++) {
        uint32_t place = l->of_param[p], readers = 0;
        if (w->params[p].role != HLO_ROLE_VARIABLE || place <= PLACE_OUTSIDE || is_layer(l, place))
            continue;
        hlo_reach_clear(r);
        hlo_reach_add(r, w->params[p].value);
        for (uint32_t n = 0; n < r->count && n < READERS_MAX && readers < 2; n++) {
            for (uint32_t k = w->g.succ_first[r->queue[n]]; k < w->g.succ_first[r->queue[n] + 1];
                 k++) {
                hlo_value u = w->g.succs[k];
                if (w->phase[w->m->value_instruction[u]] != HLO_PHASE_FORWARD)
                    continue;
                readers += l->data.has[u];
                if (!l->data.has[u])
                    hlo_reach_add(r, u);
            }
        }
        l->places.items[place].is_shared |= readers > 1;
    }
}

/* The one place of all users that have one, of `phase` unless COUNT; outside when they differ. */
static uint32_t place_of_users(const struct layering *l, hlo_id id, enum hlo_phase phase)
{
    uint32_t place = PLACE_UNKNOWN;

    for (uint32_t n = 0; n < hlo_at(l->w->m, id)->user_count; n++) {
        hlo_id u = hlo_user(l->w->m, id, n);
        uint32_t one = l->of[u];
        if (!one || (phase != HLO_PHASE_COUNT && l->w->phase[u] != phase) ||
            u == l->w->m->computations[l->w->m->entry].root)
            continue;
        if (place && place != one)
            return PLACE_OUTSIDE;
        place = one;
    }
    return place;
}

static void place_params(struct layering *l)
{
    for (uint32_t p = 0; p < l->w->param_count; p++) {
        const struct hlo_param_role *r = &l->w->params[p];
        uint32_t place =
            l->of_param[r->role == HLO_ROLE_OPTIMIZER_STATE && r->of != HLO_NONE ? r->of : p];
        if (place)
            l->of[l->w->m->value_instruction[r->value]] = place;
    }
}

/* Inside of a loop that has a place, everything has it: outer computations have larger numbers. */
static void place_loops(struct layering *l)
{
    const struct hlo_module *m = l->w->m;

    for (hlo_comp c = m->computation_count; c-- > 0;) {
        const struct hlo_computation *comp = &m->computations[c];
        bool is_body =
            comp->caller_count == 1 && hlo_at(m, comp->callers[0])->opcode == HLO_OP_WHILE;
        uint32_t place = is_body ? l->of[comp->callers[0]] : PLACE_UNKNOWN;
        for (hlo_id id = comp->first; place && id < comp->first + comp->count; id++) {
            if (!l->of[id] || l->of[id] == PLACE_OUTSIDE)
                l->of[id] = place;
        }
    }
}

/* Is `u` computed from the values in `r`, of the same place, and from nothing else that has one? */
static bool is_inside(const struct layering *l, const struct hlo_reach *r, hlo_id u, uint32_t place)
{
    const struct hlo_module *m = l->w->m;

    if (l->w->phase[u] != HLO_PHASE_FORWARD || l->of[u] != place ||
        m->leaf_base[u] == m->leaf_base[u + 1])
        return false;
    for (uint32_t n = 0; n < hlo_at(m, u)->operand_count; n++) {
        hlo_id operand = hlo_operand(m, u, n);
        hlo_value v = m->leaf_base[operand];
        if (v == m->leaf_base[operand + 1] || l->w->is_free[v] || l->of[operand] == PLACE_UNKNOWN)
            continue;
        if (!r->has[v])
            return false;
    }
    return true;
}

/* A layer that normalises first reads its input x before any weight: x * x, the mean and so on only
 * seem to belong to the layer that made x. Where all that is computed from x alone, a reduction
 * among it, is used by other places only, it moves to the first of these; outside when nothing
 * follows (the softmax of the loss). */
static void move_to_reader(struct layering *l, hlo_id x)
{
    const struct hlo_module *m = l->w->m;
    uint32_t mine = l->of[x], next = PLACE_OUTSIDE, next_depth = UINT32_MAX;
    struct hlo_reach *r = &l->w->scratch;
    bool has_reduction = false;

    hlo_reach_clear(r);
    hlo_reach_add(r, m->leaf_base[x]);
    for (uint32_t n = 0; n < r->count; n++) {
        hlo_id from = m->value_instruction[r->queue[n]];
        has_reduction |= hlo_at(m, from)->opcode == HLO_OP_REDUCE;
        if (n >= READERS_MAX)
            return;
        for (uint32_t k = 0; k < hlo_at(m, from)->user_count; k++) {
            hlo_id u = hlo_user(m, from, k);
            if (is_inside(l, r, u, mine))
                hlo_reach_add(r, m->leaf_base[u]);
        }
    }
    for (uint32_t n = 0; n < r->count; n++) {
        hlo_id from = m->value_instruction[r->queue[n]];
        for (uint32_t k = 0; k < hlo_at(m, from)->user_count; k++) {
            hlo_id u = hlo_user(m, from, k);
            if (l->w->phase[u] != HLO_PHASE_FORWARD || m->leaf_base[u] == m->leaf_base[u + 1] ||
                r->has[m->leaf_base[u]])
                continue;
            if (l->of[u] == mine)
                return;
            if (l->of[u] && l->depth[u] < next_depth) {
                next = l->of[u];
                next_depth = l->depth[u];
            }
        }
    }
    for (uint32_t n = 1; n < r->count && has_reduction; n++)
        l->of[m->value_instruction[r->queue[n]]] = next;
}

static bool may_end_a_layer(const struct layering *l, hlo_id id, const bool *is_given)
{
    const struct hlo_module *m = l->w->m;
    uint32_t readers = 0;

    if (l->w->phase[id] != HLO_PHASE_FORWARD || is_given[id] || !l->of[id] ||
        hlo_at(m, id)->user_count > USERS_MAX || hlo_shape(m, id)->leaf_count != 1 ||
        !l->data.has[m->leaf_base[id]])
        return false;
    for (uint32_t n = 0; n < hlo_at(m, id)->user_count; n++)
        readers += l->w->phase[hlo_user(m, id, n)] == HLO_PHASE_FORWARD;
    return readers > 1;
}

static void place_forward(struct layering *l, const bool *is_given)
{
    const struct hlo_roles_work *w = l->w;

    find_shared(l);
    for (uint32_t n = 0; n < w->g.order_count; n++) {
        hlo_id id = w->g.order[n];
        if (w->phase[id] == HLO_PHASE_FORWARD && !l->of[id])
            l->of[id] = place_from_operands(l, id);
    }
    for (uint32_t n = 0; n < w->g.order_count; n++) {
        if (may_end_a_layer(l, w->g.order[n], is_given))
            move_to_reader(l, w->g.order[n]);
    }
    for (uint32_t n = w->g.order_count; n-- > 0;) { /* a shared table's copies for one layer */
        hlo_id id = w->g.order[n];
        hlo_value v = w->m->leaf_base[id];
        if (w->phase[id] != HLO_PHASE_FORWARD || is_given[id] || v == w->m->leaf_base[id + 1] ||
            !is_weight(l, v) || hlo_at(w->m, id)->opcode == HLO_OP_PARAMETER ||
            !l->places.items[l->of[id]].is_shared)
            continue;
        uint32_t place = place_of_users(l, id, HLO_PHASE_FORWARD);
        l->of[id] = is_layer(l, place) ? place : l->of[id];
    }
}

/* ---- backward ---- */

/* Of the instruction that made `v` and its forward readers the last one no deeper than `most`. */
static hlo_id mirror(const struct layering *l, hlo_value v, uint32_t most)
{
    const struct hlo_roles_work *w = l->w;
    hlo_id from = w->m->value_instruction[v], best = HLO_NONE;

    if (w->g.succ_first[v + 1] - w->g.succ_first[v] > USERS_MAX)
        return HLO_NONE;
    if (!is_weight(l, v) && l->depth[from] <= most)
        best = from;
    for (uint32_t k = w->g.succ_first[v]; k < w->g.succ_first[v + 1]; k++) {
        hlo_id id = w->m->value_instruction[w->g.succs[k]];
        if (w->phase[id] != HLO_PHASE_FORWARD || l->depth[id] > most || !l->of[id])
            continue;
        if (best == HLO_NONE || l->depth[id] > l->depth[best])
            best = id;
    }
    return best;
}

/* pipeline position: forward depth each backward instruction mirrors; UINT32_MAX: none known. */
static void place_backward(struct layering *l, uint32_t *at)
{
    const struct hlo_roles_work *w = l->w;

    for (uint32_t n = 0; n < w->g.order_count; n++) {
        hlo_id id = w->g.order[n];
        uint32_t most = UINT32_MAX, place = PLACE_UNKNOWN;
        bool has_backward = false;
        at[id] = UINT32_MAX;
        if (w->phase[id] != HLO_PHASE_BACKWARD)
            continue;
        for (hlo_value v = w->m->leaf_base[id]; v < w->m->leaf_base[id + 1]; v++) {
            for (uint32_t k = w->g.pred_first[v]; k < w->g.pred_first[v + 1]; k++) {
                hlo_id from = w->m->value_instruction[w->g.preds[k]];
                if (w->phase[from] != HLO_PHASE_BACKWARD || !l->data.has[w->g.preds[k]] ||
                    w->g.position[from] >= n)
                    continue; /* turned weights have no place in time */
                has_backward = true;
                if (at[from] <= most) {
                    most = at[from];
                    place = l->of[from];
                }
            }
        }
        at[id] = most;
        for (hlo_value v = w->m->leaf_base[id]; v < w->m->leaf_base[id + 1]; v++) {
            for (uint32_t k = w->g.pred_first[v]; k < w->g.pred_first[v + 1]; k++) {
                hlo_value p = w->g.preds[k];
                hlo_id from = w->m->value_instruction[p];
                if (w->phase[from] != HLO_PHASE_FORWARD || w->is_free[p])
                    continue;
                hlo_id c = has_backward ? mirror(l, p, most) : from;
                if (c != HLO_NONE && l->of[c] && l->depth[c] < at[id]) {
                    at[id] = l->depth[c];
                    place = l->of[c];
                }
            }
        }
        if (!l->of[id])
            l->of[id] = place;
    }
}

/* What only makes a variable's gradient belongs to the variable: a weight's product may read the
 * layer before, a sum for a bias reads nothing of its own. */
static void place_gradients(struct layering *l, const bool *is_given)
{
    const struct hlo_module *m = l->w->m;

    for (uint32_t p = 0; p < l->w->param_count; p++) {
        hlo_value g = l->w->params[p].gradient;
        for (int hops = 0; g != HLO_NONE && l->of_param[p] && hops < 16; hops++) {
            hlo_id id = m->value_instruction[g];
            if (l->w->phase[id] != HLO_PHASE_BACKWARD)
                break;
            if (!is_given[id])
                l->of[id] = l->of_param[p];
            g = HLO_NONE;
            for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
                hlo_id o = hlo_operand(m, id, n);
                if (hlo_at(m, o)->user_count == 1 && l->w->phase[o] == HLO_PHASE_BACKWARD &&
                    m->leaf_base[o] < m->leaf_base[o + 1] && l->data.has[m->leaf_base[o]])
                    g = m->leaf_base[o];
            }
        }
    }
}

/* ---- update and the rest ---- */

static void place_update(struct layering *l)
{
    const struct hlo_roles_work *w = l->w;

    for (uint32_t p = 0; p < w->param_count; p++) {
        const struct hlo_param_role *r = &w->params[p];
        uint32_t place =
            l->of_param[r->role == HLO_ROLE_OPTIMIZER_STATE && r->of != HLO_NONE ? r->of : p];
        if (place && r->updated != HLO_NONE &&
            w->phase[w->m->value_instruction[r->updated]] == HLO_PHASE_UPDATE)
            l->of[w->m->value_instruction[r->updated]] = place;
    }
    for (uint32_t n = w->g.order_count; n-- > 0;) {
        hlo_id id = w->g.order[n];
        if (w->phase[id] == HLO_PHASE_UPDATE && (!l->of[id] || l->of[id] == PLACE_OUTSIDE)) {
            uint32_t place = place_of_users(l, id, HLO_PHASE_UPDATE);
            l->of[id] = place ? place : l->of[id];
        }
    }
}

/* Constants go with their users; reducers and conditions with their callers. */
static void place_rest(struct layering *l)
{
    const struct hlo_module *m = l->w->m;

    for (hlo_comp c = m->computation_count; c-- > 0;) {
        const struct hlo_computation *comp = &m->computations[c];
        uint32_t outer = comp->caller_count ? l->of[comp->callers[0]] : PLACE_UNKNOWN;
        for (uint32_t n = 1; n < comp->caller_count; n++)
            outer = l->of[comp->callers[n]] == outer ? outer : PLACE_UNKNOWN;
        for (hlo_id id = comp->first + comp->count; id-- > comp->first;) {
            if (!l->of[id])
                l->of[id] = place_of_users(l, id, HLO_PHASE_COUNT);
            if (!l->of[id])
                l->of[id] = outer;
        }
    }
}

/* ---- result ---- */

struct ranked {
    uint32_t place;
    uint32_t depth;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Where the forward work of each place ends: the depth of its last large piece; of places without
 * FLOP the depth of their last instruction. A layer's last norm may be read late, by a head. */
static bool rank_places(const struct layering *l, struct ranked *rank)
{
    const struct hlo_roles_work *w = l->w;
    double *largest = mem_try(l->places.count, sizeof *largest);

    for (size_t n = 0; largest && n < l->places.count; n++)
        rank[n] = (struct ranked){(uint32_t)n, 0};
    for (int pass = 0; largest && pass < 2; pass++) {
        for (hlo_id id = 0; id < w->m->count; id++) {
            uint32_t place = l->of[id];
            if (w->phase[id] != HLO_PHASE_FORWARD || w->g.position[id] == HLO_NONE)
                continue;
            if (!pass && l->flops[id] > largest[place])
                largest[place] = l->flops[id];
            if (pass && l->flops[id] * LARGE_PIECE >= largest[place] &&
                l->depth[id] > rank[place].depth)
                rank[place].depth = l->depth[id];
        }
    }
    for (size_t n = 0; largest && n < l->places.count; n++) {
        if (l->places.items[n].times) /* the loop over the forward pass comes first */
            rank[n].depth = l->depth[l->places.items[n].loop];
    }
    free(largest);
    return largest != NULL;
}

/* Layers in the order of the forward pass. */
static bool number_layers(struct layering *l, bool by_repetition)
{
    struct hlo_roles_work *w = l->w;
    size_t count = l->places.count;
    struct ranked *rank = mem_try(count, sizeof *rank);
    uint16_t *number = mem_try(count, sizeof *number);
    bool *is_used = mem_try(count, 1);
    uint32_t blocks = 0;
    bool ok = rank && number && is_used && rank_places(l, rank);

    for (hlo_id id = 0; id < w->m->count && ok; id++) {
        uint32_t place = l->of[id];
        is_used[place] |= is_layer(l, place) &&
                          (w->phase[id] == HLO_PHASE_FORWARD || w->phase[id] == HLO_PHASE_BACKWARD);
    }
    if (ok)
        qsort(rank, count, sizeof *rank, by_rank);
    w->layer_names = ok ? arena_get(w->arena, count + 1, sizeof *w->layer_names) : NULL;
    w->layer_times = ok ? arena_get(w->arena, count + 1, sizeof *w->layer_times) : NULL;
    ok = w->layer_names && w->layer_times;
    if (ok) {
        w->layer_names[0] = "";
        w->layer_times[0] = 1;
    }
    w->layer_count = 1;
    for (uint32_t n = 0; n < count && ok; n++) {
        if (!is_used[rank[n].place] || w->layer_count > UINT16_MAX)
            continue;
        const struct place *place = &l->places.items[rank[n].place];
        number[rank[n].place] = (uint16_t)w->layer_count;
        w->layer_times[w->layer_count] = place->times ? place->times : 1;
        w->layer_names[w->layer_count++] = place->name;
        if (by_repetition && !strncmp(place->name, "block_", 6)) {
            char name[24];
            int size = snprintf(name, sizeof name, "block_%03u", (unsigned)blocks++);
            w->layer_names[w->layer_count - 1] = arena_text(w->arena, name, (size_t)size);
            ok = w->layer_names[w->layer_count - 1] != NULL;
        }
    }
    for (hlo_id id = 0; id < w->m->count && ok; id++)
        w->layer[id] = number[l->of[id]];
    free(rank);
    free(number);
    free(is_used);
    return ok;
}

static bool has_layers(const struct layering *l)
{
    for (size_t n = 0; n < l->places.count; n++) {
        if (l->places.items[n].is_layer)
            return true;
    }
    return false;
}

static bool find_layers(struct layering *l, bool *is_given, uint32_t *at)
{
    struct hlo_roles_work *w = l->w;
    bool found = false, by_repetition = false;

    l->places.count = 2;
    l->places.items[PLACE_UNKNOWN] = l->places.items[PLACE_OUTSIDE] = (struct place){.name = ""};
    for (uint32_t p = 0; p < w->param_count; p++) {
        const struct hlo_param_role *r = &w->params[p];
        bool is_changed = r->updated != HLO_NONE && r->updated != r->value;
        if (r->role == HLO_ROLE_INPUT || (r->role == HLO_ROLE_OTHER_STATE && is_changed))
            hlo_reach_add(&l->data, r->value); /* state: of an environment, a memory */
    }
    hlo_reach_ahead(&l->data, &w->g, NULL, NULL);
    l->depth = hlo_roles_depth_end(w);
    if (!l->depth || !hlo_layers_by_loop(l) || !hlo_layers_by_path(l))
        return false;
    if (!hlo_layers_by_scope(l, &found))
        return false;
    if (!l->has_paths && !found) {
        by_repetition = true;
        if (!hlo_layers_by_repetition(l))
            return false;
    }
    if (!has_layers(l) && !hlo_layers_by_list(l))
        return false;
    place_params(l);
    place_loops(l);
    for (hlo_id id = 0; id < w->m->count; id++)
        is_given[id] = l->of[id] != PLACE_UNKNOWN;
    place_forward(l, is_given);
    place_backward(l, at);
    place_gradients(l, is_given);
    place_update(l);
    place_rest(l);
    if (!hlo_layers_cover(l))
        return false;
    w->layer_source = found           ? "scopes in op_name"
                      : l->has_paths  ? "names of the weights and data flow"
                      : by_repetition ? "repetition and data flow"
                                      : "data flow";
    return number_layers(l, by_repetition);
}

int hlo_roles_layers(struct hlo_roles_work *w, struct err *e)
{
    struct layering l = {.w = w};
    bool *is_given = mem_try(w->m->count, 1);
    uint32_t *at = mem_try(w->m->count, sizeof *at);

    l.of_param = mem_try(w->param_count, sizeof *l.of_param);
    l.of = mem_try(w->m->count, sizeof *l.of);
    l.paths = mem_try(w->param_count, sizeof *l.paths);
    bool ok = is_given && at && l.of_param && l.of && l.paths && hlo_reach_init(&l.data, &w->g) &&
              mem_grow(&l.places.items, &l.places.room, 0, 2) && find_layers(&l, is_given, at);
    free(is_given);
    free(at);
    free(l.of_param);
    free(l.of);
    free(l.paths);
    free(l.places.items);
    slots_release(&l.places.slots);
    hlo_reach_release(&l.data);
    return ok ? 0 : err_no_memory(e, "for the layers of the module");
}
