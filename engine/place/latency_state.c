/* A plan for latency as positions move. */
#include "engine/place/latency_state.h"

#include "engine/place/latency.h"
#include "engine/place/latency_blocks.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include "rl/rng.h"

#include <math.h>
#include <string.h>

/* ---- set-up ---- */

static bool list_nodes(struct place_latency_state *s)
{
    const struct place_nets *n = s->p->nets;

    s->node_at = mem_try((size_t)n->positions + 2, sizeof(uint32_t));
    s->node = mem_try((size_t)s->g->nodes + 1, sizeof(uint32_t));
    if (!s->node_at || !s->node)
        return false;
    for (uint32_t v = 0; v < s->g->nodes; v++)
        s->node_at[n->position_of[v] + 2]++;
    for (uint32_t p = 0; p < n->positions; p++)
        s->node_at[p + 2] += s->node_at[p + 1];
    for (uint32_t v = 0; v < s->g->nodes; v++)
        s->node[s->node_at[n->position_of[v] + 1]++] = v;
    return true;
}

static bool list_units(struct place_latency_state *s)
{
    const struct place_nets *n = s->p->nets;
    uint32_t m = n->positions, units = s->by_node ? s->g->colors : m;

    s->unit = mem_try((size_t)units + 1, sizeof *s->unit);
    s->unit_of = mem_try((size_t)m + 1, sizeof(uint32_t));
    s->member_at = mem_try((size_t)units + 2, sizeof(uint32_t));
    s->member = mem_try((size_t)m + 1, sizeof(uint32_t));
    if (!s->unit || !s->unit_of || !s->member_at || !s->member)
        return false;
    for (uint32_t u = 0; u < units; u++)
        s->unit[u] = (struct place_unit){.allowed = 0xff, .fixed = PLACE_NONE};
    for (uint32_t p = 0; p < m; p++) {
        uint32_t u = s->unit_of[p] = s->by_node ? s->g->color[s->node[s->node_at[p]]] : p;
        s->unit[u].allowed &= n->allowed[p];
        s->unit[u].fixed = n->fixed[p] != PLACE_NONE ? n->fixed[p] : s->unit[u].fixed;
        s->unit[u].bytes += n->bytes[p];
        s->member_at[u + 2]++;
    }
    for (uint32_t u = 0; u < units; u++)
        s->member_at[u + 2] += s->member_at[u + 1];
    for (uint32_t p = 0; p < m; p++)
        s->member[s->member_at[s->unit_of[p] + 1]++] = p;
    return true;
}

static bool has_pins(const struct place_latency_state *s)
{
    for (uint32_t v = 0; v < s->g->nodes; v++) {
        if (s->g->fixed[v] != PLACE_NONE)
            return true;
    }
    return s->g->aparts > 0;
}

int place_latency_begin_with(struct place_latency_state *s, bool by_node, struct err *e)
{
    const struct place_graph *g = s->g;

    s->pieces = s->l->pieces ? s->l->pieces : 1;
    s->host = s->accelerators = place_devices(g) - g->type[g->types - 1].count;
    s->by_node = by_node;
    if (!g->type[g->types - 1].count)
        return err_set(e, ERR_INFEASIBLE, "latency is counted with a host, expected one core");
    if (g->training)
        return err_set(e, ERR_INPUT, "latency is of inference, expected no backward nodes");
    if ((by_node ? place_prepare_nodes(g, &s->p, e) : place_prepare(g, &s->p, e)) ||
        placement_new(g, &s->now, e) || placement_new(g, &s->best, e))
        return e->code;
    s->now->piece = mem_try((size_t)g->nodes + 1, sizeof(uint32_t));
    s->best->piece = mem_try((size_t)g->nodes + 1, sizeof(uint32_t));
    s->used = mem_try((size_t)s->accelerators + 1, sizeof(double));
    size_t m = (size_t)s->p->nets->positions + 1;
    s->place = mem_try(m, sizeof(uint32_t));
    s->b = (struct place_blocks){
        .g = g, .p = s->now, .accelerators = s->accelerators, .pieces = s->pieces};
    s->order = mem_try(m, sizeof(uint32_t));
    s->moved = mem_try(m, sizeof(uint32_t));
    s->from = mem_try(m, sizeof(uint32_t));
    s->begun = mem_try((size_t)s->accelerators + 1, sizeof(uint32_t));
    if (!s->order || !s->moved || !s->from || !s->begun || !s->now->piece || !s->best->piece ||
        !s->used || !s->place || !list_nodes(s) || !list_units(s) || !place_blocks_allocate(&s->b))
        return err_no_memory(e, "for a search");
    s->best->value_ms = INFINITY;
    s->alike = g->types <= 2 && !has_pins(s);
    rl_rng_seed(&s->rng, s->l->seed, 13);
    return 0;
}

void place_latency_end(struct place_latency_state *s)
{
    place_blocks_release(&s->b);
    place_prepared_free(s->p);
    placement_free(s->now);
    placement_free(s->best);
    free(s->unit);
    free(s->unit_of);
    free(s->member_at);
    free(s->member);
    free(s->moved);
    free(s->from);
    free(s->used);
    free(s->order);
    free(s->begun);
    free(s->place);
    free(s->node_at);
    free(s->node);
    *s = (struct place_latency_state){.g = s->g, .l = s->l};
}

int place_latency_begin(struct place_latency_state *s, struct err *e)
{
    struct err why = {0};
    int rc = place_latency_begin_with(s, false, &why);

    if (rc == ERR_INFEASIBLE && s->g->colors < s->g->nodes && s->g->type[s->g->types - 1].count) {
        place_latency_end(s);
        return place_latency_begin_with(s, true, e);
    }
    if (rc)
        *e = why;
    return rc;
}

/* ---- one plan ---- */

void place_latency_put(struct place_latency_state *s, uint32_t p, uint32_t place)
{
    uint32_t host = place_host_place(s), was = s->place[p];

    if (was < host)
        s->used[was / s->pieces] -= s->p->nets->bytes[p];
    if (place < host)
        s->used[place / s->pieces] += s->p->nets->bytes[p];
    s->place[p] = place;
    for (uint32_t i = s->node_at[p]; i < s->node_at[p + 1]; i++) {
        s->now->device[s->node[i]] = place < host ? place / s->pieces : s->host;
        s->now->piece[s->node[i]] = place < host ? place % s->pieces : 0;
    }
}

void place_latency_all_on_host(struct place_latency_state *s)
{
    memset(s->used, 0, s->accelerators * sizeof *s->used);
    for (uint32_t p = 0; p < s->p->nets->positions; p++) {
        s->place[p] = place_host_place(s);
        place_latency_put(s, p, place_host_place(s));
    }
}

double place_latency_room(const struct place_latency_state *s, uint32_t device)
{
    return s->g->type[place_type_of(s->g, device)].memory_bytes * (1 + 1e-12);
}

bool place_latency_may_stand(const struct place_latency_state *s, uint32_t p, uint32_t place,
                             uint32_t among)
{
    uint32_t device = place_device_of(s, place), unit = s->unit_of[p];
    const struct place_nets *n = s->p->nets;
    const struct place_unit *u = &s->unit[unit];

    if (!(u->allowed >> place_type_of(s->g, device) & 1))
        return false;
    if (u->fixed != PLACE_NONE &&
        (u->fixed < s->accelerators ? u->fixed != device : device != s->host))
        return false;
    for (uint32_t i = 0; i < n->aparts; i++) {
        uint32_t a = n->apart[2 * i], b = n->apart[2 * i + 1];
        uint32_t other = s->unit_of[a] == unit ? b : a;
        if ((s->unit_of[a] == unit || s->unit_of[b] == unit) && other < among &&
            place_device_of(s, s->place[other]) == device)
            return false;
    }
    return true;
}

bool place_latency_allows(const struct place_latency_state *s, uint32_t p, uint32_t place)
{
    uint32_t device = place_device_of(s, place);

    if (!place_latency_may_stand(s, p, place, s->p->nets->positions))
        return false;
    if (device == s->host || place_device_of(s, s->place[p]) == device)
        return true;
    return s->used[device] + s->unit[s->unit_of[p]].bytes <= place_latency_room(s, device);
}

static void note_move(struct place_latency_state *s, uint32_t p, uint32_t place, uint32_t *count)
{
    s->moved[*count] = p;
    s->from[(*count)++] = s->place[p];
    place_latency_put(s, p, place);
}

void place_latency_move(struct place_latency_state *s, uint32_t p, uint32_t place, uint32_t *count)
{
    uint32_t device = place_device_of(s, place), u = s->unit_of[p];

    note_move(s, p, place, count);
    for (uint32_t i = s->member_at[u]; i < s->member_at[u + 1]; i++) {
        uint32_t q = s->member[i], to = place;
        if (place_device_of(s, s->place[q]) == device)
            continue;
        if (device != s->host && s->pieces > 1 && !rl_rng_below(&s->rng, 3))
            to = device * s->pieces + rl_rng_below(&s->rng, s->pieces);
        note_move(s, q, to, count);
    }
}

void place_latency_take_back(struct place_latency_state *s, uint32_t count)
{
    while (count-- > 0)
        place_latency_put(s, s->moved[count], s->from[count]);
}

double place_latency_price(struct place_latency_state *s)
{
    double v = place_blocks_run(&s->b, true);

    s->runs++;
    place_tally_plan(s->l->tally, fmin(v, s->best->value_ms));
    return v;
}

void place_latency_note(struct place_latency_state *s, double v, const char *algo)
{
    struct placement *b = s->best;

    if (v >= b->value_ms)
        return;
    for (uint32_t d = 0; d < s->accelerators; d++) { /* pins come first, and may be too much */
        if (s->used[d] > place_latency_room(s, d))
            return;
    }
    for (uint32_t p = 0; p < s->p->nets->positions; p++) {
        if (!place_latency_allows(s, p,
                                  s->place[p])) /* all on the host is a start, not always a plan */
            return;
    }
    memcpy(b->device, s->now->device, s->g->nodes * sizeof *b->device);
    memcpy(b->piece, s->now->piece, s->g->nodes * sizeof *b->piece);
    b->value_ms = v;
    b->algo = algo;
    if (s->l->better)
        s->l->better(s->l->context, b);
}

/* ---- annealing ---- */

void place_latency_restore(struct place_latency_state *s)
{
    place_latency_all_on_host(s);
    for (uint32_t p = 0; p < s->p->nets->positions; p++) {
        uint32_t v = s->node[s->node_at[p]], d = s->best->device[v];
        place_latency_put(
            s, p, d < s->accelerators ? d * s->pieces + s->best->piece[v] : place_host_place(s));
    }
}

static uint32_t some_place(struct place_latency_state *s, uint32_t p)
{
    const struct place_prepared *q = s->p;
    uint32_t after = q->after_at[p + 1] - q->after_at[p];
    uint32_t all = after + q->before_at[p + 1] - q->before_at[p], kind = rl_rng_below(&s->rng, 10);

    if (kind < 7 && all) {
        uint32_t i = rl_rng_below(&s->rng, all);
        return s->place[i < after ? q->after[q->after_at[p] + i]
                                  : q->before[q->before_at[p] + i - after]];
    }
    return kind == 7 ? place_host_place(s) : rl_rng_below(&s->rng, place_host_place(s) + 1);
}

enum { MOVED_MAX = 48 };

/* Moves p, and often its neighbours of the same place, as far as memory goes. Returns how many. */
static uint32_t move_some(struct place_latency_state *s, uint32_t p, uint32_t to)
{
    const struct place_prepared *q = s->p;
    uint32_t count = 0, most = rl_rng_below(&s->rng, 3) ? 1 : 1 + rl_rng_below(&s->rng, MOVED_MAX);
    uint32_t was = s->place[p];

    if (!place_latency_allows(s, p, to))
        return 0;
    place_latency_move(s, p, to, &count);
    for (uint32_t at = 0; at < count && count < most; at++) {
        uint32_t v = s->moved[at], after = q->after_at[v + 1] - q->after_at[v];
        uint32_t all = after + q->before_at[v + 1] - q->before_at[v];
        for (uint32_t i = 0; i < all && count < most; i++) {
            uint32_t w =
                i < after ? q->after[q->after_at[v] + i] : q->before[q->before_at[v] + i - after];
            if (s->place[w] == was && place_latency_allows(s, w, to))
                place_latency_move(s, w, to, &count);
        }
    }
    return count;
}

void place_latency_cool(struct place_latency_state *s, double hot, double cold, uint64_t plans)
{
    uint64_t begun = s->runs, next = 64;
    double now = place_latency_price(s), heat = hot * s->best->value_ms;
    double factor = pow(cold / hot, 64.0 / (double)(plans > 64 ? plans : 64));

    /* Moves to the same place are not priced, so tries end as well. */
    for (uint64_t i = 0; s->runs - begun < plans && i / 16 <= plans; i++) {
        if ((i & 63) == 63 && stop_asked(s->l->stop))
            return;
        if (place_tally_is_spent(s->l->tally))
            return;
        for (; s->runs - begun >= next; next += 64)
            heat *= factor;
        uint32_t p = rl_rng_below(&s->rng, s->p->nets->positions), to = some_place(s, p);
        uint32_t count = to == s->place[p] ? 0 : move_some(s, p, to);
        if (!count)
            continue;
        double then = place_latency_price(s);
        if (then <= now || rl_rng_unit(&s->rng) < exp((now - then) / heat)) {
            now = then;
            place_latency_note(s, now, "anneal");
        } else {
            place_latency_take_back(s, count);
        }
    }
}

/* ---- answers ---- */

int place_latency_answer(struct place_latency_state *s, struct placement **out, struct err *e)
{
    if (isinf(s->best->value_ms))
        return s->whole ? err_set(e, ERR_INFEASIBLE,
                                  "no plan with %u pieces an accelerator keeps memory, kinds of "
                                  "devices and pins",
                                  s->pieces)
                        : err_set(e, ERR_INFEASIBLE,
                                  "no plan was found that keeps memory, kinds of devices and pins");
    s->best->bound_ms = s->whole ? s->best->value_ms : place_latency_bound(s->g);
    s->best->proven = s->best->bound_ms >= s->best->value_ms * (1 - 1e-12);
    s->best->bound_by = s->whole ? "all plans" : PLACE_LATENCY_BOUND_BY;
    s->best->positions = s->p->nets->positions;
    s->best->moves = s->runs;
    *out = s->best;
    s->best = NULL;
    return 0;
}
