#include "engine/place/look.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "engine/place/state.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- levels ---- */

static void fill_levels(struct place_look *l)
{
    const struct place_graph *g = l->g;

    for (uint32_t i = 0; i < g->nodes; i++) {
        uint32_t v = g->order[i];
        for (uint32_t k = g->user_at[v]; k < g->user_at[v + 1]; k++) {
            uint32_t *level = &l->level[g->user[k]];
            *level = *level > l->level[v] + 1 ? *level : l->level[v] + 1;
        }
    }
    for (uint32_t i = g->nodes; i-- > 0;) { /* weights, say, stand where they are used */
        uint32_t v = g->order[i], least = PLACE_NONE;
        for (uint32_t k = g->user_at[v]; k < g->user_at[v + 1]; k++)
            least = l->level[g->user[k]] < least ? l->level[g->user[k]] : least;
        if (least != PLACE_NONE)
            l->level[v] = least - 1;
        l->levels = l->level[v] + 1 > l->levels ? l->level[v] + 1 : l->levels;
    }
}

/* Rows of levels, by topological order. */
static bool fill_rows(struct place_look *l, bool folded)
{
    const struct place_graph *g = l->g;
    struct place_rows *r = &l->all[folded];

    free(r->at);
    free(r->row);
    r->at = mem_try((size_t)l->levels + 2, sizeof *r->at);
    r->row = mem_try((size_t)g->nodes + 1, sizeof *r->row);
    if (!r->at || !r->row)
        return false;
    for (uint32_t v = 0; v < g->nodes; v++)
        r->at[l->level[v] + 2] += !folded || l->stands_for[v] == v;
    for (uint32_t k = 0; k < l->levels; k++) {
        l->widest = r->at[k + 2] > l->widest ? r->at[k + 2] : l->widest;
        r->at[k + 2] += r->at[k + 1];
    }
    for (uint32_t i = 0; i < g->nodes; i++) {
        uint32_t v = g->order[i];
        if (!folded || l->stands_for[v] == v)
            r->row[r->at[l->level[v] + 1]++] = v;
    }
    return true;
}

/* What reads nothing, a weight mostly, and has one user, or users of its own color alone, is left
 * out of wide levels. */
static bool fold_weights(struct place_look *l)
{
    const struct place_graph *g = l->g;
    bool *reads = mem_try((size_t)g->nodes + 1, sizeof *reads);

    l->stands_for = mem_try((size_t)g->nodes + 1, sizeof *l->stands_for);
    for (uint32_t k = 0; k < g->edges && reads; k++)
        reads[g->user[k]] = true;
    for (uint32_t v = 0; v < g->nodes && reads && l->stands_for; v++) {
        uint32_t users = g->user_at[v + 1] - g->user_at[v];
        bool fold = l->widest > PLACE_LOOK_WIDE && !reads[v] && users;
        for (uint32_t k = g->user_at[v]; k < g->user_at[v + 1] && fold; k++)
            fold = users == 1 || g->color[g->user[k]] == g->color[v];
        l->stands_for[v] = fold ? g->user[g->user_at[v]] : v;
        l->weights += fold;
    }
    free(reads);
    return reads && l->stands_for;
}

/* Nodes between one producer, or none, and one user, each reading the one before alone: chains are
 * equal when these and all costs are. Weights are no producers here. */
struct chain {
    const struct place_look *look;
    uint32_t from, head, length, user; /* from: PLACE_NONE when nothing is read */
};

static int order_costs(const struct place_graph *g, uint32_t a, uint32_t b)
{
    int by = (g->bytes[a] > g->bytes[b]) - (g->bytes[a] < g->bytes[b]);

    by = by ? by : (g->send_ms[a] > g->send_ms[b]) - (g->send_ms[a] < g->send_ms[b]);
    by = by ? by : g->backward[a] - g->backward[b];
    for (uint32_t t = 0; t < g->types && !by; t++)
        by = (place_time(g, t, a) > place_time(g, t, b)) -
             (place_time(g, t, a) < place_time(g, t, b));
    return by;
}

static int order_equal(const struct chain *a, const struct chain *b)
{
    const struct place_graph *g = a->look->g;
    int by = (a->from > b->from) - (a->from < b->from);

    by = by ? by : (a->user > b->user) - (a->user < b->user);
    by = by ? by : (a->length > b->length) - (a->length < b->length);
    for (uint32_t k = 0, u = a->head, v = b->head; k < a->length && !by; k++) {
        by = order_costs(g, u, v);
        u = g->user[g->user_at[u]];
        v = g->user[g->user_at[v]];
    }
    return by;
}

static int order_chains(const void *one, const void *other)
{
    const struct chain *a = one, *b = other;
    int by = order_equal(a, b);

    return by ? by : (a->head > b->head) - (a->head < b->head);
}

static bool has_one_user(const struct place_graph *g, uint32_t v)
{
    return g->user_at[v + 1] - g->user_at[v] == 1;
}

/* Chains by their heads. `reads` and `from` by node: how many producers, and the last. */
static uint32_t find_chains(const struct place_look *l, const uint32_t *reads, const uint32_t *from,
                            struct chain *chain)
{
    const struct place_graph *g = l->g;
    uint32_t chains = 0;

    for (uint32_t v = 0; v < g->nodes; v++) {
        if (l->stands_for[v] != v || reads[v] > 1 || !has_one_user(g, v) ||
            (reads[v] && has_one_user(g, from[v])))
            continue;
        struct chain c = {l, reads[v] ? from[v] : PLACE_NONE, v, 1, g->user[g->user_at[v]]};
        for (; reads[c.user] == 1 && has_one_user(g, c.user); c.length++)
            c.user = g->user[g->user_at[c.user]];
        chain[chains++] = c;
    }
    return chains;
}

/* Where levels are wide without weights too. O((nodes + edges) log). */
static bool fold_chains(struct place_look *l)
{
    const struct place_graph *g = l->g;
    uint32_t *reads = mem_try((size_t)g->nodes + 1, sizeof *reads);
    uint32_t *from = mem_try((size_t)g->nodes + 1, sizeof *from);
    struct chain *chain = mem_try((size_t)g->nodes + 1, sizeof *chain);
    bool there = reads && from && chain;

    for (uint32_t v = 0; v < g->nodes && there; v++) {
        for (uint32_t k = g->user_at[v]; k < g->user_at[v + 1] && l->stands_for[v] == v; k++) {
            reads[g->user[k]]++;
            from[g->user[k]] = v;
        }
    }
    uint32_t chains = there ? find_chains(l, reads, from, chain) : 0;
    if (chains)
        qsort(chain, chains, sizeof *chain, order_chains);
    for (uint32_t i = 1, first = 0; i < chains; i++) {
        if (order_equal(&chain[first], &chain[i])) {
            first = i;
            continue;
        }
        for (uint32_t k = 0, u = chain[first].head, v = chain[i].head; k < chain[i].length; k++) {
            l->stands_for[v] = u;
            u = g->user[g->user_at[u]];
            v = g->user[g->user_at[v]];
        }
        l->equals += chain[i].length;
    }
    for (uint32_t v = 0; v < g->nodes && l->equals; v++) /* weights of what is left out */
        l->stands_for[v] = l->stands_for[l->stands_for[v]];
    free(reads);
    free(from);
    free(chain);
    return there;
}

static bool is_wide(const struct place_look *l)
{
    const struct place_rows *r = &l->all[1];
    uint32_t widest = 0;

    for (uint32_t k = 0; k < l->levels; k++)
        widest = r->at[k + 1] - r->at[k] > widest ? r->at[k + 1] - r->at[k] : widest;
    return widest > PLACE_LOOK_WIDE;
}

/* Rows that only plans with copies, or for latency, have. */
static int take_kind(struct place_look *l, const struct placement *p, struct err *e)
{
    bool copied = false;

    for (uint32_t d = 0; d < p->devices; d++)
        copied |= p->copies[d] > 1;
    if (copied && !(l->copies = mem_try((size_t)p->devices + 1, sizeof *l->copies)))
        return err_no_memory(e, "for a placement");
    if (!p->piece)
        return 0;
    if (placement_copy(p, &l->sample, e))
        return e->code;
    l->blocks = (struct place_blocks){.g = l->g,
                                      .p = l->sample,
                                      .accelerators = l->state->accelerators,
                                      .pieces = placement_pieces(p)};
    return place_blocks_allocate(&l->blocks) ? 0 : err_no_memory(e, "for a placement");
}

int place_look_new(const struct place_graph *g, const struct place_rules *rules,
                   const struct placement *p, struct place_look **out, struct err *e)
{
    struct place_look *l = mem_try(1, sizeof *l);

    if (!l)
        return err_no_memory(e, "for a placement");
    l->g = g;
    l->rules = *rules;
    l->level = mem_try((size_t)g->nodes + 1, sizeof *l->level);
    if (!l->level) {
        place_look_free(l);
        return err_no_memory(e, "for a placement");
    }
    fill_levels(l);
    if (!fill_rows(l, false) || !fold_weights(l) || !fill_rows(l, true) ||
        (is_wide(l) && (!fold_chains(l) || !fill_rows(l, true)))) {
        place_look_free(l);
        return err_no_memory(e, "for a placement");
    }
    if (place_prepare_classes(g, &l->nets, e) ||
        place_state_new(l->nets, &l->rules, &l->state, e) || take_kind(l, p, e)) {
        place_look_free(l);
        return e->code;
    }
    place_look_set(l, p);
    *out = l;
    return 0;
}

void place_look_free(struct place_look *l)
{
    if (!l)
        return;
    place_state_free(l->state);
    place_nets_free(l->nets);
    place_blocks_release(&l->blocks);
    placement_free(l->sample);
    free(l->copies);
    free(l->level);
    for (int k = 0; k < 2; k++) {
        free(l->all[k].at);
        free(l->all[k].row);
    }
    free(l->stands_for);
    free(l);
}

/* A plan may come that uses more pieces than those before. */
static void set_sample(struct place_look *l, const struct placement *p)
{
    for (uint32_t v = 0; v < p->nodes; v++) {
        l->sample->device[v] = p->device[v];
        l->sample->piece[v] = p->piece && p->piece[v] < l->blocks.pieces ? p->piece[v] : 0;
    }
    l->ordered = place_blocks_ordered(&l->blocks, p->value_ms);
    l->sample->value_ms = place_blocks_run(&l->blocks, l->ordered);
}

void place_look_set(struct place_look *l, const struct placement *p)
{
    for (uint32_t v = 0; v < l->g->nodes; v++)
        l->state->device[l->nets->position_of[v]] = p->device[v];
    place_state_set(l->state, l->state->device);
    if (l->copies)
        memcpy(l->copies, p->copies, p->devices * sizeof *l->copies);
    if (l->sample)
        set_sample(l, p);
}

double place_look_value(const struct place_look *l)
{
    return l->sample   ? l->sample->value_ms
           : l->copies ? place_value(l->nets, &l->rules, l->state->load, l->copies)
                       : place_state_value(l->state);
}

double place_look_load(const struct place_look *l, uint32_t device)
{
    uint32_t copies = l->copies && l->copies[device] ? l->copies[device] : 1;

    return place_device_ms(l->g, &l->rules, &l->state->load[device], copies);
}

/* All of the node's class. */
static void put_sample(struct place_look *l, uint32_t node, uint32_t device, uint32_t piece)
{
    for (uint32_t v = 0; v < l->g->nodes; v++) {
        if (l->g->color[v] != l->g->color[node])
            continue;
        l->sample->device[v] = device;
        l->sample->piece[v] = piece;
    }
}

/* The piece of a device that a node had best be in. The sample is as before. */
static struct place_price price_of_sample(struct place_look *l, uint32_t node, uint32_t device)
{
    uint32_t home = l->sample->device[node], piece = l->sample->piece[node];
    uint32_t pieces = device < l->state->accelerators ? l->blocks.pieces : 1;
    struct place_price best = {INFINITY, 0, 0};

    for (uint32_t k = 0; k < pieces; k++) {
        if (device == home && k != piece)
            continue;
        put_sample(l, node, device, k);
        double value = place_blocks_run(&l->blocks, l->ordered);
        if (value < best.value_ms)
            best = (struct place_price){value, 0, k};
    }
    put_sample(l, node, home, piece);
    return best;
}

void place_look_move(struct place_look *l, uint32_t node, uint32_t device)
{
    if (l->sample) {
        struct place_price price = price_of_sample(l, node, device);
        put_sample(l, node, device, price.piece);
        l->sample->value_ms = price.value_ms;
    }
    place_state_move(l->state, l->nets->position_of[node], device);
    place_state_set(l->state, l->state->device); /* sums of sums drift */
}

/* ---- prices ---- */

/* More stages and copies on a kind than it has devices. */
static bool is_crowded(const struct place_look *l)
{
    uint32_t taken[PLACE_TYPES_MAX] = {0};
    bool is = false;

    for (uint32_t d = 0; l->copies && d < l->state->devices; d++) {
        uint32_t *of = &taken[l->state->type_of[d]];
        *of += l->copies[d] > 1 ? l->copies[d] : l->state->load[d].positions > 0;
        is |= *of > l->g->type[l->state->type_of[d]].count;
    }
    return is;
}

uint32_t place_look_faults(const struct place_look *l)
{
    return place_faults(l->nets, l->state->device, l->state->load) |
           (is_crowded(l) ? PLACE_CROWDED : 0);
}

void place_look_prices(struct place_look *l, uint32_t node, struct place_price *price)
{
    uint32_t p = l->nets->position_of[node], from = l->state->device[p];

    for (uint32_t d = 0; d < l->state->devices; d++) {
        price[d] = l->sample ? price_of_sample(l, node, d) : (struct place_price){0};
        place_state_move(l->state, p, d);
        if (!l->sample)
            price[d].value_ms = place_look_value(l);
        if (l->state->broken || l->copies || place_state_over(l->state) > 0)
            price[d].faults = place_look_faults(l);
        place_state_move(l->state, p, from);
    }
}

uint32_t place_look_holder(const struct place_look *l, uint32_t node, double *send_ms)
{
    const struct place_graph *g = l->g;
    uint32_t p = l->nets->position_of[node], home = l->state->device[p], best = PLACE_NONE;

    *send_ms = 0;
    for (uint32_t u = 0; u < g->nodes; u++) {
        bool made_here = l->nets->position_of[u] == p, held = false;
        if (place_look_device(l, u) != home || g->send_ms[u] <= *send_ms)
            continue;
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1] && !held; i++) {
            bool read_here = l->nets->position_of[g->user[i]] == p;
            held = made_here != read_here && place_look_device(l, g->user[i]) == home;
        }
        if (!held)
            continue;
        *send_ms = g->send_ms[u];
        best = u;
    }
    return best;
}

uint32_t place_look_limit(const struct place_look *l)
{
    uint32_t most = 0;

    for (uint32_t d = 1; d < l->state->devices; d++) {
        if (place_look_load(l, d) > place_look_load(l, most))
            most = d;
    }
    return most;
}

/* ---- what crosses ---- */

static int compare_crossings(const void *a, const void *b)
{
    const struct place_crossing *x = a, *y = b;
    double all = x->ends * x->ms, other = y->ends * y->ms;

    return all != other ? (all < other) - (all > other) : (x->node > y->node) - (x->node < y->node);
}

/* Accelerators that pay for u's output, `seen` by device: node + 1 that used it last. */
static uint32_t ends_of(const struct place_look *l, uint32_t u, uint32_t *seen)
{
    const struct place_graph *g = l->g;
    uint32_t home = place_look_device(l, u), ends = 0;
    bool leaves = false;

    for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
        uint32_t d = place_look_device(l, g->user[i]);
        if (d == home || seen[d] == u + 1)
            continue;
        seen[d] = u + 1;
        leaves = true;
        ends += d < l->state->accelerators;
    }
    return leaves ? ends + (home < l->state->accelerators) : 0;
}

/* Keeps the heaviest: the lightest of those kept is last. */
static void keep_crossing(struct place_crossing *out, uint32_t *kept, uint32_t room,
                          const struct place_crossing *c)
{
    uint32_t at = *kept < room ? (*kept)++ : room - 1;

    if (at == room - 1 && *kept == room && at && compare_crossings(c, &out[at]) > 0 && out[at].ends)
        return;
    for (; at && compare_crossings(c, &out[at - 1]) < 0; at--)
        out[at] = out[at - 1];
    out[at] = *c;
}

uint32_t place_look_crossings(const struct place_look *l, struct place_crossing *out, uint32_t room)
{
    uint32_t seen[PLACE_DEVICES_MAX] = {0}, kept = 0, all = 0;

    if (room)
        memset(out, 0, room * sizeof *out);
    for (uint32_t u = 0; u < l->g->nodes; u++) {
        struct place_crossing c = {u, ends_of(l, u, seen), l->g->send_ms[u]};
        if (!c.ends || !(c.ms > 0))
            continue;
        all++;
        if (room)
            keep_crossing(out, &kept, room, &c);
    }
    return all;
}

/* Bits [from * devices + to] of devices that must come in this order. Between backward nodes of
 * which one has no forward node of its color, the order is turned round (prepare.h, 2). */
static void draw_arrows(const struct place_look *l, const bool *has_forward, uint64_t *arrow)
{
    const struct place_graph *g = l->g;
    size_t devices = l->state->devices;

    for (uint32_t u = 0; u < g->nodes; u++) {
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            uint32_t v = g->user[i], a = place_look_device(l, u), b = place_look_device(l, v);
            bool forward = !g->backward[u] && !g->backward[v];
            bool mirrored = g->backward[u] && g->backward[v] &&
                            !(has_forward[g->color[u]] && has_forward[g->color[v]]);
            size_t at = mirrored ? b * devices + a : a * devices + b;
            if (forward || mirrored)
                arrow[at / 64] |= (uint64_t)1 << (at % 64);
        }
    }
}

bool place_look_is_chain(const struct place_look *l, uint32_t *stage)
{
    const struct place_graph *g = l->g;
    uint32_t devices = l->state->devices, left = devices, stages = 0;
    uint64_t *arrow = mem_alloc(((size_t)devices * devices / 64 + 1) * sizeof *arrow);
    bool *gone = mem_alloc(devices + 1), *has_forward = mem_alloc(g->colors + 1), any = true;

    memset(arrow, 0, ((size_t)devices * devices / 64 + 1) * sizeof *arrow);
    memset(gone, 0, devices + 1);
    memset(has_forward, 0, g->colors + 1);
    for (uint32_t v = 0; v < g->nodes; v++)
        has_forward[g->color[v]] |= !g->backward[v];
    draw_arrows(l, has_forward, arrow);
    if (stage)
        memset(stage, 0xff, devices * sizeof *stage);
    while (any) {
        any = false;
        for (uint32_t d = 0; d < devices; d++) {
            bool first = !gone[d];
            for (uint32_t c = 0; c < devices && first; c++) {
                size_t at = (size_t)c * devices + d;
                first = c == d || gone[c] || !(arrow[at / 64] >> (at % 64) & 1);
            }
            if (first && stage && l->state->load[d].positions)
                stage[d] = stages++;
            gone[d] |= first;
            any |= first;
            left -= first;
        }
    }
    if (left && stage)
        memset(stage, 0xff, devices * sizeof *stage);
    free(arrow);
    free(gone);
    free(has_forward);
    return !left;
}
