/* Plans for latency: greedy along orders, a search over (device, piece), all of them where few. */
#include "engine/place/family.h"
#include "engine/place/latency.h"
#include "engine/place/latency_blocks.h"
#include "engine/place/latency_state.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>

/* Positions of which all plans are tried; orders of the greedy plan; rounds of annealing. */
enum { TRIED_WHOLE = 12, ORDERS = 16, ROUNDS = 6, ROUNDS_BY_NODE = 2, VISITS = 400000000 };

/* ---- greedy ---- */

/* p and its whole unit on one place. */
static void put_unit(struct place_latency_state *s, uint32_t p, uint32_t place)
{
    uint32_t u = s->unit_of[p];

    for (uint32_t i = s->member_at[u]; i < s->member_at[u + 1]; i++)
        place_latency_put(s, s->member[i], place);
}

/* On the host, but for what is pinned elsewhere. */
static void leave_on_host(struct place_latency_state *s)
{
    place_latency_all_on_host(s);
    for (uint32_t p = 0; p < s->p->nets->positions; p++) {
        if (s->unit[s->unit_of[p]].fixed < s->accelerators)
            place_latency_put(s, p, s->unit[s->unit_of[p]].fixed * s->pieces);
    }
}

/* A device takes a stretch of the order; what fits none stays on the host and ends the stretch. */
static void fill_along(struct place_latency_state *s, const uint32_t *order)
{
    uint32_t d = 0;
    bool begun = false;

    leave_on_host(s);
    for (uint32_t i = 0; i < s->p->nets->positions && d < s->accelerators; i++) {
        uint32_t p = order[i];
        double bytes = s->unit[s->unit_of[p]].bytes;
        if (s->place[p] != place_host_place(s))
            continue;
        double room = s->g->type[place_type_of(s->g, d)].memory_bytes;
        if (bytes > room || s->used[d] + bytes > room) {
            d += begun || bytes <= room;
            begun = false;
        }
        if (bytes <= room && d < s->accelerators && place_latency_allows(s, p, d * s->pieces)) {
            put_unit(s, p, d * s->pieces);
            begun = true;
        }
    }
}

/* What is on an accelerator, cut where a path leaves it and comes back, as far as pieces go. */
static int cut_pieces(struct place_latency_state *s, struct err *e)
{
    int rc = place_cut_into_pieces(s->g, s->now, e);

    for (uint32_t p = 0; p < s->p->nets->positions && !rc; p++) {
        uint32_t piece = s->now->piece[s->node[s->node_at[p]]];
        uint32_t d = place_device_of(s, s->place[p]), last = s->pieces - 1;
        if (d != s->host)
            place_latency_put(s, p, d * s->pieces + (piece < last ? piece : last));
    }
    return rc;
}

static int greedy(struct place_latency_state *s, struct err *e)
{
    uint32_t *order = mem_try((size_t)s->p->nets->positions + 1, sizeof *order);
    int rc = order ? 0 : err_no_memory(e, "for an order");

    if (rc)
        goto out;
    for (uint32_t i = 0; i < ORDERS; i++) {
        rc = place_depth_first(s->p, i, order, e);
        if (rc)
            goto out;
        fill_along(s, order);
        rc = s->by_node && s->pieces > 1 ? cut_pieces(s, e) : 0;
        if (rc)
            goto out;
        place_latency_note(s, place_latency_price(s), "greedy");
    }
    if (isinf(s->best->value_ms)) {
        leave_on_host(s);
        place_latency_note(s, place_latency_price(s), "greedy");
    }
out:
    free(order);
    return rc;
}

/* ---- search ---- */

static void anneal(struct place_latency_state *s, int rounds)
{
    uint64_t each = s->b.slots + s->g->nodes + s->g->edges + 1;
    uint64_t plans = (s->l->moves ? s->l->moves : VISITS / each) / ROUNDS;

    for (int round = 0; round < rounds && !stop_asked(s->l->stop); round++) {
        if (round != 1)
            place_latency_restore(s);
        else
            place_latency_all_on_host(s);
        place_latency_cool(s, round == 1 ? 0.1 : 0.03 / (1 + round), 1e-5, plans);
    }
}

/* ---- all plans of a small graph ---- */

/* With what was placed before p: on the device of its unit, within memory. */
static bool joins(const struct place_latency_state *s, uint32_t p, uint32_t place)
{
    uint32_t device = place_device_of(s, place), u = s->unit_of[p];

    if (!place_latency_may_stand(s, p, place, p))
        return false;
    for (uint32_t i = s->member_at[u]; i < s->member_at[u + 1]; i++) {
        uint32_t q = s->member[i];
        if (q < p && place_device_of(s, s->place[q]) != device)
            return false;
    }
    return device == s->host ||
           s->used[device] + s->p->nets->bytes[p] <= place_latency_room(s, device);
}

/* Positions from p on: on the host, on every piece of every accelerator in use, and of the first
 * one not in use; of all where accelerators differ, or pins tell them apart. */
static void try_places(struct place_latency_state *s, uint32_t p)
{
    uint32_t host = place_host_place(s), fresh = 0;

    if (p == s->p->nets->positions) {
        place_latency_note(s, place_latency_price(s), "enumerated");
        return;
    }
    for (uint32_t place = 0; place <= host && !stop_asked(s->l->stop); place++) {
        uint32_t d = place / s->pieces;
        if (s->alike && place < host && d > fresh)
            continue;
        bool in_use = false;
        for (uint32_t q = 0; q < p && place < host; q++)
            in_use |= s->place[q] / s->pieces == d && s->place[q] < host;
        if (place < host && in_use && d == fresh)
            fresh++;
        if (!joins(s, p, place))
            continue;
        place_latency_put(s, p, place);
        try_places(s, p + 1);
        place_latency_put(s, p, host);
    }
}

static bool are_few(const struct place_latency_state *s, uint32_t positions)
{
    return positions <= TRIED_WHOLE && pow(place_host_place(s) + 1.0, positions) <= 2e7;
}

static void enumerate(struct place_latency_state *s)
{
    place_latency_all_on_host(s);
    try_places(s, 0);
    s->whole = !stop_asked(s->l->stop);
}

/* May a plan be better whose joined nodes stand apart? Not while every color is one node. */
static bool can_part(const struct place_graph *g)
{
    return g->colors < g->nodes;
}

/* ---- answers ---- */

/* Greedy plans, and the search from them: all plans where they are few and nothing is joined. */
static int search_rounds(struct place_latency_state *s, int rounds, struct err *e)
{
    bool parts_later = !s->by_node && can_part(s->g);
    int rc = greedy(s, e);

    if (rc)
        return rc;
    if (s->best->value_ms <= place_latency_bound(s->g) || (parts_later && are_few(s, s->g->nodes)))
        return 0;
    if (!parts_later && are_few(s, s->p->nets->positions))
        enumerate(s);
    if (!s->whole && isfinite(s->best->value_ms) && s->p->nets->positions)
        anneal(s, rounds);
    return 0;
}

int place_latency_greedy(const struct place_graph *g, const struct place_latency *l,
                         struct placement **out, struct err *e)
{
    struct place_latency_state s = {.g = g, .l = l};
    int rc = place_latency_begin(&s, e);

    if (rc)
        goto out;
    rc = greedy(&s, e);
    if (rc)
        goto out;
    rc = place_latency_answer(&s, out, e);
out:
    place_latency_end(&s);
    return rc;
}

/* With what was found before, node by node. */
static int search_by_node(struct place_latency_state *s, struct err *e)
{
    struct placement *before = s->best;
    uint64_t runs = s->runs;
    int rc;

    s->best = NULL;
    place_latency_end(s);
    rc = place_latency_begin_with(s, true, e);
    if (rc) {
        placement_free(before);
        return rc;
    }
    placement_free(s->best);
    s->best = before;
    rc = search_rounds(s, ROUNDS_BY_NODE, e);
    s->runs += runs;
    return rc;
}

int place_latency_best(const struct place_graph *g, const struct place_latency *l,
                       struct placement **out, struct err *e)
{
    struct place_latency_state s = {.g = g, .l = l};
    int rc = place_latency_begin(&s, e);

    if (rc)
        goto out;
    rc = search_rounds(&s, ROUNDS, e);
    if (rc)
        goto out;
    if (!s.by_node && can_part(g) && !stop_asked(l->stop) &&
        s.best->value_ms > place_latency_bound(g))
        rc = search_by_node(&s, e);
    if (rc)
        goto out;
    rc = place_latency_answer(&s, out, e);
out:
    place_latency_end(&s);
    return rc;
}
