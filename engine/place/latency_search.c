/* Plans for latency: greedy along orders, a search over (device, piece), all of them where few. */
#include "engine/place/family.h"
#include "engine/place/latency.h"
#include "engine/place/latency_blocks.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "rl/rng.h"

#include <math.h>
#include <string.h>

enum { TRIED_WHOLE = 12, ORDERS = 16 };

struct searching {
    const struct place_graph *g;
    const struct place_latency *l;
    struct place_prepared *p;
    struct place_blocks b;
    struct placement *now, *best;
    uint32_t pieces, accelerators, host; /* host: the first core, where the host's nodes are */
    double *used;                        /* bytes, by accelerator */
    uint32_t *place;                     /* by position: device * pieces + piece, host: its own */
    uint32_t *node_at, *node;            /* nodes of a position */
    struct rl_rng rng;
    uint64_t runs;
    uint32_t *order, *begun; /* of random plans: positions, pieces begun by accelerator */
    bool whole;              /* every plan was tried */
};

static uint32_t host_place(const struct searching *s)
{
    return s->accelerators * s->pieces;
}

/* ---- set-up ---- */

static bool list_nodes(struct searching *s)
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

static int begin(struct searching *s, struct err *e)
{
    const struct place_graph *g = s->g;

    s->pieces = s->l->pieces ? s->l->pieces : 1;
    s->host = s->accelerators = place_devices(g) - g->type[g->types - 1].count;
    if (!g->type[g->types - 1].count)
        return err_set(e, ERR_INFEASIBLE, "latency is counted with a host, expected one core");
    if (g->training)
        return err_set(e, ERR_INPUT, "latency is of inference, expected no backward nodes");
    if (place_prepare(g, &s->p, e) || placement_new(g, &s->now, e) || placement_new(g, &s->best, e))
        return e->code;
    s->now->piece = mem_try((size_t)g->nodes + 1, sizeof(uint32_t));
    s->best->piece = mem_try((size_t)g->nodes + 1, sizeof(uint32_t));
    s->used = mem_try((size_t)s->accelerators + 1, sizeof(double));
    s->place = mem_try((size_t)s->p->nets->positions + 1, sizeof(uint32_t));
    s->b = (struct place_blocks){
        .g = g, .p = s->now, .accelerators = s->accelerators, .pieces = s->pieces};
    s->order = mem_try((size_t)s->p->nets->positions + 1, sizeof(uint32_t));
    s->begun = mem_try((size_t)s->accelerators + 1, sizeof(uint32_t));
    if (!s->order || !s->begun || !s->now->piece || !s->best->piece || !s->used || !s->place ||
        !list_nodes(s) || !place_blocks_allocate(&s->b))
        return err_no_memory(e, "for a search");
    s->best->value_ms = INFINITY;
    rl_rng_seed(&s->rng, s->l->seed, 13);
    return 0;
}

static void end(struct searching *s)
{
    place_blocks_release(&s->b);
    place_prepared_free(s->p);
    placement_free(s->now);
    placement_free(s->best);
    free(s->used);
    free(s->order);
    free(s->begun);
    free(s->place);
    free(s->node_at);
    free(s->node);
}

/* ---- one plan ---- */

static void put(struct searching *s, uint32_t p, uint32_t place)
{
    uint32_t host = host_place(s), was = s->place[p];

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

static void all_on_host(struct searching *s)
{
    memset(s->used, 0, s->accelerators * sizeof *s->used);
    for (uint32_t p = 0; p < s->p->nets->positions; p++) {
        s->place[p] = host_place(s);
        put(s, p, host_place(s));
    }
}

static bool allows(const struct searching *s, uint32_t p, uint32_t place)
{
    uint32_t device = place < host_place(s) ? place / s->pieces : s->host;
    const struct place_nets *n = s->p->nets;

    if (!(n->allowed[p] >> place_type_of(s->g, device) & 1))
        return false;
    if (n->fixed[p] != PLACE_NONE &&
        (n->fixed[p] < s->accelerators ? n->fixed[p] != device : device != s->host))
        return false;
    for (uint32_t i = 0; i < n->aparts; i++) {
        uint32_t a = n->apart[2 * i], b = n->apart[2 * i + 1], other = a == p ? b : a;
        if ((a == p || b == p) && place < host_place(s) &&
            s->place[other] / s->pieces == place / s->pieces && s->place[other] < host_place(s))
            return false;
    }
    if (place >= host_place(s) || s->place[p] / s->pieces == device)
        return true;
    return s->used[device] + n->bytes[p] <=
           s->g->type[place_type_of(s->g, device)].memory_bytes * (1 + 1e-12);
}

static double value(struct searching *s)
{
    double v = place_blocks_run(&s->b, true);

    s->runs++;
    place_tally_plan(s->l->tally, fmin(v, s->best->value_ms));
    return v;
}

static void note(struct searching *s, double v, const char *algo)
{
    struct placement *b = s->best;

    if (v >= b->value_ms)
        return;
    for (uint32_t p = 0; p < s->p->nets->positions; p++) {
        if (!allows(s, p, s->place[p])) /* all on the host is a start, not always a plan */
            return;
    }
    memcpy(b->device, s->now->device, s->g->nodes * sizeof *b->device);
    memcpy(b->piece, s->now->piece, s->g->nodes * sizeof *b->piece);
    b->value_ms = v;
    b->algo = algo;
    if (s->l->better)
        s->l->better(s->l->context, b);
}

static bool is_stopped(const struct searching *s)
{
    return s->l->stop && atomic_load_explicit(s->l->stop, memory_order_relaxed);
}

/* ---- greedy ---- */

static void fill_along(struct searching *s, const uint32_t *order)
{
    uint32_t d = 0;

    all_on_host(s);
    for (uint32_t p = 0; p < s->p->nets->positions; p++) {
        if (s->p->nets->fixed[p] < s->accelerators)
            put(s, p, s->p->nets->fixed[p] * s->pieces);
    }
    for (uint32_t i = 0; i < s->p->nets->positions && d < s->accelerators; i++) {
        uint32_t p = order[i];
        if (s->place[p] != host_place(s))
            continue;
        bool fits =
            s->used[d] + s->p->nets->bytes[p] <= s->g->type[place_type_of(s->g, d)].memory_bytes;
        if (!fits && s->p->nets->bytes[p] <= s->g->type[place_type_of(s->g, d)].memory_bytes)
            d++;
        if (d < s->accelerators && allows(s, p, d * s->pieces))
            put(s, p, d * s->pieces);
    }
}

static int greedy(struct searching *s, struct err *e)
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
        note(s, value(s), "greedy");
    }
out:
    free(order);
    return rc;
}

/* ---- search ---- */

static void restore(struct searching *s)
{
    all_on_host(s);
    for (uint32_t p = 0; p < s->p->nets->positions; p++) {
        uint32_t v = s->node[s->node_at[p]], d = s->best->device[v];
        put(s, p, d < s->accelerators ? d * s->pieces + s->best->piece[v] : host_place(s));
    }
}

static uint32_t some_place(struct searching *s, uint32_t p)
{
    const struct place_prepared *q = s->p;
    uint32_t after = q->after_at[p + 1] - q->after_at[p];
    uint32_t all = after + q->before_at[p + 1] - q->before_at[p], kind = rl_rng_below(&s->rng, 10);

    if (kind < 7 && all) {
        uint32_t i = rl_rng_below(&s->rng, all);
        return s->place[i < after ? q->after[q->after_at[p] + i]
                                  : q->before[q->before_at[p] + i - after]];
    }
    return kind == 7 ? host_place(s) : rl_rng_below(&s->rng, host_place(s) + 1);
}

enum { MOVED_MAX = 48 };

/* Moves p, and often its neighbours of the same place, as far as memory goes. */
static uint32_t move_some(struct searching *s, uint32_t p, uint32_t to, uint32_t *moved,
                          uint32_t *from)
{
    const struct place_prepared *q = s->p;
    uint32_t count = 0, most = rl_rng_below(&s->rng, 3) ? 1 : 1 + rl_rng_below(&s->rng, MOVED_MAX);

    from[0] = s->place[p];
    if (!allows(s, p, to))
        return 0;
    put(s, p, to);
    moved[count++] = p;
    for (uint32_t at = 0; at < count && count < most; at++) {
        uint32_t v = moved[at], after = q->after_at[v + 1] - q->after_at[v];
        uint32_t all = after + q->before_at[v + 1] - q->before_at[v];
        for (uint32_t i = 0; i < all && count < most; i++) {
            uint32_t w =
                i < after ? q->after[q->after_at[v] + i] : q->before[q->before_at[v] + i - after];
            if (s->place[w] != from[0] || !allows(s, w, to))
                continue;
            from[count] = from[0];
            put(s, w, to);
            moved[count++] = w;
        }
    }
    return count;
}

static void cool(struct searching *s, double hot, double cold, uint64_t runs)
{
    double now = value(s), heat = hot * s->best->value_ms;
    double factor = pow(cold / hot, 64.0 / (double)(runs > 64 ? runs : 64));
    uint32_t moved[MOVED_MAX], from[MOVED_MAX];

    for (uint64_t i = 0; i < runs && !place_tally_is_spent(s->l->tally); i++) {
        if ((i & 63) == 63) {
            heat *= factor;
            if (is_stopped(s))
                return;
        }
        uint32_t p = rl_rng_below(&s->rng, s->p->nets->positions), to = some_place(s, p);
        uint32_t count = to == s->place[p] ? 0 : move_some(s, p, to, moved, from);
        if (!count)
            continue;
        double then = value(s);
        if (then <= now || rl_rng_unit(&s->rng) < exp((now - then) / heat)) {
            now = then;
            note(s, now, "anneal");
            continue;
        }
        while (count-- > 0)
            put(s, moved[count], from[count]);
    }
}

static void anneal(struct searching *s)
{
    uint64_t each = s->b.slots + s->g->nodes + s->g->edges + 1;
    uint64_t runs = (s->l->moves ? s->l->moves : 400000000) / each / 6;

    for (int round = 0; round < 6 && !is_stopped(s); round++) {
        if (round != 1)
            restore(s);
        else
            all_on_host(s);
        cool(s, round == 1 ? 0.1 : 0.03 / (1 + round), 1e-5, runs);
    }
}

/* ---- opponents ---- */

enum { RANDOM_PLANS = 10000, LOCAL_STARTS = 10, LOCAL_TRIES = 8, OPPONENT_MOVES = 20000 };

static bool is_over(const struct searching *s, uint64_t plans)
{
    return is_stopped(s) || place_tally_is_spent(s->l->tally) ||
           s->runs >= (s->l->moves ? s->l->moves : plans);
}

/* The next stretch of `order` from `at` on, of random length, on a random device: its next piece,
 * and the host where it has none left or no memory. Returns its end. */
static uint32_t put_stretch(struct searching *s, uint32_t at)
{
    uint32_t m = s->p->nets->positions, end = at + 1 + rl_rng_below(&s->rng, m - at);
    uint32_t d = rl_rng_below(&s->rng, s->accelerators + 1);
    uint32_t piece = d < s->accelerators ? s->begun[d]++ : s->pieces;

    for (uint32_t i = at; i < end && piece < s->pieces; i++) {
        if (allows(s, s->order[i], d * s->pieces + piece))
            put(s, s->order[i], d * s->pieces + piece);
    }
    return end;
}

/* A random plan: a random depth-first order in stretches, which no path leaves and comes back to
 * but where memory ends. False: it is none. */
static bool begin_anywhere(struct searching *s)
{
    struct err e = {0};
    bool all = !place_depth_first(s->p, 1 + rl_rng_below(&s->rng, UINT32_MAX), s->order, &e);

    all_on_host(s);
    memset(s->begun, 0, s->accelerators * sizeof *s->begun);
    for (uint32_t at = 0; all && at < s->p->nets->positions;)
        at = put_stretch(s, at);
    for (uint32_t p = 0; p < s->p->nets->positions; p++)
        all &= allows(s, p, s->place[p]);
    return all;
}

static void try_random(struct searching *s)
{
    for (uint64_t i = 0; i < RANDOM_PLANS && !is_over(s, RANDOM_PLANS); i++) {
        if (begin_anywhere(s))
            note(s, value(s), "random");
    }
}

/* Single moves until so many in a row do not help. */
static void descend(struct searching *s, double now)
{
    uint32_t m = s->p->nets->positions, failed = 0;

    note(s, now, "local");
    while (failed < LOCAL_TRIES * m && !is_over(s, OPPONENT_MOVES)) {
        uint32_t p = rl_rng_below(&s->rng, m), was = s->place[p];
        uint32_t to = rl_rng_below(&s->rng, host_place(s) + 1);
        failed++;
        if (to == was || !allows(s, p, to))
            continue;
        put(s, p, to);
        double then = value(s);
        if (then < now) {
            now = then;
            failed = 0;
            note(s, now, "local");
        } else {
            put(s, p, was);
        }
    }
}

static void try_local(struct searching *s)
{
    for (int starts = 0; starts < LOCAL_STARTS && !is_over(s, OPPONENT_MOVES);) {
        double now = begin_anywhere(s) ? value(s) : INFINITY;
        s->runs += isfinite(now) ? 0 : 1; /* none is a start: it ends all the same */
        if (!isfinite(now))
            continue;
        descend(s, now);
        starts++;
    }
}

static void try_annealing(struct searching *s)
{
    while (isinf(s->best->value_ms) && !is_over(s, OPPONENT_MOVES)) {
        s->runs++;
        if (begin_anywhere(s))
            note(s, value(s), "anneal");
    }
    if (isfinite(s->best->value_ms))
        cool(s, 0.3, 1e-4, 4 * (s->l->moves ? s->l->moves : OPPONENT_MOVES));
}

/* ---- all plans of a small graph ---- */

/* Positions from p on: on the host, on every piece in use, on the first piece not in use of every
 * accelerator in use, on the first accelerator not in use. Pruned where the nodes placed so far,
 * on their devices, already make a path as long as the best. */
static void try_places(struct searching *s, uint32_t p)
{
    uint32_t host = host_place(s), fresh = 0;

    if (p == s->p->nets->positions) {
        note(s, value(s), "enumerated");
        return;
    }
    for (uint32_t place = 0; place <= host && !is_stopped(s); place++) {
        uint32_t d = place / s->pieces;
        if (place < host && d > fresh)
            continue;
        bool in_use = false;
        for (uint32_t q = 0; q < p && place < host; q++)
            in_use |= s->place[q] / s->pieces == d && s->place[q] < host;
        if (place < host && in_use && d == fresh)
            fresh++;
        if (!allows(s, p, place))
            continue;
        put(s, p, place);
        try_places(s, p + 1);
        put(s, p, host);
    }
}

static bool has_pins(const struct searching *s)
{
    for (uint32_t p = 0; p < s->p->nets->positions; p++) {
        if (s->p->nets->fixed[p] != PLACE_NONE)
            return true;
    }
    return s->p->nets->aparts > 0;
}

static void enumerate(struct searching *s)
{
    double plans = pow(host_place(s) + 1.0, s->p->nets->positions);

    if (s->p->nets->positions > TRIED_WHOLE || plans > 2e7 || s->g->types > 2 || has_pins(s))
        return;
    all_on_host(s);
    try_places(s, 0);
    s->whole = !is_stopped(s);
}

/* ---- answers ---- */

static int answer(struct searching *s, struct placement **out, struct err *e)
{
    if (isinf(s->best->value_ms))
        return err_set(e, ERR_INFEASIBLE,
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

int place_latency_greedy(const struct place_graph *g, const struct place_latency *l,
                         struct placement **out, struct err *e)
{
    struct searching s = {.g = g, .l = l};
    int rc = begin(&s, e);

    if (rc)
        goto out;
    rc = greedy(&s, e);
    if (rc)
        goto out;
    rc = answer(&s, out, e);
out:
    end(&s);
    return rc;
}

int place_latency_opponent(const struct place_graph *g, const struct place_latency *l,
                           const char *algorithm, struct placement **out, struct err *e)
{
    static const struct {
        const char *name;
        void (*search)(struct searching *s);
    } ways[] = {{"random", try_random}, {"local", try_local}, {"anneal", try_annealing}};
    struct searching s = {.g = g, .l = l};
    int rc = begin(&s, e);

    if (rc)
        goto out;
    for (size_t k = 0; k < sizeof ways / sizeof *ways && s.p->nets->positions; k++) {
        if (!strcmp(ways[k].name, algorithm))
            ways[k].search(&s);
    }
    rc = answer(&s, out, e);
out:
    end(&s);
    return rc;
}

int place_latency_best(const struct place_graph *g, const struct place_latency *l,
                       struct placement **out, struct err *e)
{
    struct searching s = {.g = g, .l = l};
    int rc = begin(&s, e);

    if (rc)
        goto out;
    rc = greedy(&s, e);
    if (rc)
        goto out;
    enumerate(&s);
    if (!s.whole && isfinite(s.best->value_ms) && s.p->nets->positions)
        anneal(&s);
    rc = answer(&s, out, e);
out:
    end(&s);
    return rc;
}
