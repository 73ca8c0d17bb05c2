#include "engine/place/place_game.h"

#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/partial_placement.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/env.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

enum { BY_DEVICE = 6, OVERALL = 4 }; /* figures of an observation */

/* Classes in the order of their first nodes. */
static bool order_classes(struct place_game *g)
{
    const struct place_graph *graph = g->n->graph;
    bool *seen = mem_try((size_t)g->n->positions + 1, sizeof *seen);

    for (uint32_t i = 0, next = 0; i < graph->nodes && seen; i++) {
        uint32_t p = g->n->position_of[graph->order[i]];
        if (!seen[p])
            g->order[next++] = p;
        seen[p] = true;
    }
    free(seen);
    return seen != NULL;
}

static int prepare_game(struct place_game *g, const struct place_graph *graph, bool any_sets,
                        struct err *e)
{
    struct place_nets *n = NULL;
    int rc = any_sets ? place_prepare_classes(graph, &n, e) : place_prepare(graph, &g->prepared, e);

    if (rc)
        return rc;
    g->n = any_sets ? n : g->prepared->nets;
    g->order = mem_try((size_t)g->n->positions + 1, sizeof *g->order);
    if (!g->order)
        return err_no_memory(e, "for a game");
    if (!any_sets)
        return place_depth_first(g->prepared, 0, g->order, e);
    return order_classes(g) ? 0 : err_no_memory(e, "for a game");
}

int place_game_new(const struct place_graph *graph, const struct place_rules *rules, bool any_sets,
                   double bound_ms, struct place_game **out, struct err *e)
{
    struct place_game *g;
    uint32_t devices = place_devices(graph);

    if (!devices)
        return err_set(e, ERR_INFEASIBLE, "there is no device, expected one at least");
    if (devices > PLACE_GAME_DEVICES_MOST)
        return err_set(e, ERR_LIMIT, "%u devices, and this game tells %d apart", devices,
                       PLACE_GAME_DEVICES_MOST);
    g = mem_try(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "for a game");
    g->bound_ms = fmax(bound_ms, 1e-12);
    g->whole = mem_try((size_t)devices + 1, sizeof *g->whole);
    if (!g->whole) {
        place_game_free(g);
        return err_no_memory(e, "for a game");
    }
    if (prepare_game(g, graph, any_sets, e) || place_partial_new(g->n, rules, &g->part, e)) {
        place_game_free(g);
        return e->code;
    }
    place_game_reset(g);
    *out = g;
    return 0;
}

void place_game_free(struct place_game *g)
{
    if (!g)
        return;
    place_partial_free(g->part);
    if (g->prepared)
        place_prepared_free(g->prepared);
    else
        place_nets_free((struct place_nets *)(uintptr_t)g->n);
    free(g->order);
    free(g->whole);
    free(g);
}

/* ---- moves ---- */

/* Would p on d close a circle of devices? It does when d leads to the device of a predecessor. */
static bool keeps_chain(const struct place_game *g, uint32_t p, uint32_t d)
{
    const struct place_prepared *q = g->prepared;

    for (uint32_t i = q ? q->before_at[p] : 0; q && i < q->before_at[p + 1]; i++) {
        if (g->behind[d] >> g->part->device[q->before[i]] & 1)
            return false;
    }
    return true;
}

static uint64_t legal_moves(const struct place_game *g)
{
    bool opened[PLACE_TYPES_MAX] = {false};
    const struct place_partial *t = g->part;
    uint64_t legal = 0;

    if (g->at == g->n->positions)
        return 0;
    for (uint32_t d = 0; d < t->devices; d++) {
        bool fresh = !t->load[d].positions;
        if (fresh && t->equal_devices && opened[t->type_of[d]])
            continue;
        opened[t->type_of[d]] |= fresh;
        if (place_partial_allows(t, g->order[g->at], d) && keeps_chain(g, g->order[g->at], d))
            legal |= (uint64_t)1 << d;
    }
    return legal;
}

/* Edges from the devices of p's predecessors to p's own. */
static void link_devices(struct place_game *g, uint32_t p, uint32_t d)
{
    const struct place_prepared *q = g->prepared;

    for (uint32_t i = q ? q->before_at[p] : 0; q && i < q->before_at[p + 1]; i++) {
        uint32_t from = g->part->device[q->before[i]];
        uint64_t more = g->behind[d] | (uint64_t)1 << d;
        if (from == d || (g->behind[from] & more) == more)
            continue;
        for (uint32_t x = 0; x < g->part->devices; x++)
            g->behind[x] |= x == from || (g->behind[x] >> from & 1) ? more : 0;
    }
}

void place_game_reset(struct place_game *g)
{
    for (uint32_t i = 0; i < g->n->positions; i++) {
        if (g->part->device[i] != PLACE_NONE)
            place_partial_take(g->part, i);
    }
    /* sums of differences are not 0 */
    memset(g->part->load, 0, g->part->devices * sizeof *g->part->load);
    memset(g->behind, 0, sizeof g->behind);
    g->at = 0;
    g->legal = legal_moves(g);
    g->value_ms = g->n->positions ? INFINITY : 0;
}

bool place_game_is_over(const struct place_game *g)
{
    return !g->legal;
}

/* What is lost by now, as a logarithm. */
static double lost(const struct place_game *g, double value)
{
    return log(fmax(value, g->bound_ms) / g->bound_ms);
}

double place_game_play(struct place_game *g, uint32_t device)
{
    uint32_t p = g->order[g->at];
    double before = place_partial_value(g->part), after;

    link_devices(g, p, device);
    place_partial_put(g->part, p, device);
    g->at++;
    g->legal = legal_moves(g);
    if (g->legal)
        return lost(g, before) - lost(g, place_partial_value(g->part));
    if (g->at < g->n->positions)
        return PLACE_DEAD_END;
    place_loads(g->n, g->part->device, g->whole);
    after = place_value(g->n, g->part->rules, g->whole, NULL);
    if (!place_faults(g->n, g->part->device, g->whole))
        g->value_ms = after;
    return lost(g, before) - lost(g, after);
}

/* ---- for a learner ---- */

/* Weight of p's nets by device of what is placed of them. */
static void add_neighbours(const struct place_game *g, uint32_t p, float *out)
{
    const struct place_partial *t = g->part;

    for (uint32_t i = g->n->net_at[p]; i < g->n->net_at[p + 1]; i++) {
        uint32_t h = g->n->net[i];
        for (uint32_t d = 0; d < t->devices; d++) {
            if (t->pins[(size_t)h * t->devices + d])
                out[BY_DEVICE * d] += (float)(g->n->near_ms[h] / g->bound_ms);
        }
    }
}

static void observe_device(struct place_game *g, uint32_t p, uint32_t d, float *out)
{
    struct place_partial *t = g->part;
    double memory = g->n->graph->type[t->type_of[d]].memory_bytes;

    out[0] = (float)(place_partial_load(t, d) / g->bound_ms);
    out[1] = isfinite(memory) && memory > 0 ? (float)(t->load[d].bytes / memory) : 0;
    out[2] = t->load[d].positions ? 1 : 0;
    if (!(g->legal >> d & 1))
        return;
    place_partial_put(t, p, d);
    out[3] = (float)(place_partial_load(t, d) / g->bound_ms);
    out[4] = (float)lost(g, place_partial_value(t));
    place_partial_take(t, p);
}

static void env_observe(void *self, float *out)
{
    struct place_game *g = self;
    const struct place_nets *n = g->n;
    uint32_t devices = g->part->devices;
    float *own = out + BY_DEVICE * devices;

    memset(out, 0, (BY_DEVICE * devices + OVERALL) * sizeof *out);
    own[0] = (float)g->at / (float)(n->positions + 1);
    own[1] = (float)lost(g, place_partial_value(g->part));
    if (g->at == n->positions)
        return;
    uint32_t p = g->order[g->at];
    for (uint32_t d = 0; d < devices; d++)
        observe_device(g, p, d, out + BY_DEVICE * d);
    add_neighbours(g, p, out + BY_DEVICE - 1);
    own[2] = (float)((place_nets_time(n, 0, 0, p) + place_nets_time(n, 1, 0, p)) / g->bound_ms);
    for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++)
        own[3] += (float)(n->near_ms[n->net[i]] / g->bound_ms);
}

static void env_reset(void *self, struct rl_rng *rng)
{
    (void)rng;
    place_game_reset(self);
}

static struct rl_outcome env_step(void *self, uint32_t action, struct rl_rng *rng)
{
    double reward = place_game_play(self, action);

    (void)rng;
    return (struct rl_outcome){(float)reward,
                               place_game_is_over(self) ? RL_TERMINATED : RL_GOES_ON};
}

static void env_legal(void *self, uint64_t *out)
{
    const struct place_game *g = self;

    *out = g->legal ? g->legal : 1;
}

struct rl_env place_game_env(struct place_game *g)
{
    return (struct rl_env){.self = g,
                           .observation_size = BY_DEVICE * g->part->devices + OVERALL,
                           .action_count = g->part->devices > 2 ? g->part->devices : 2,
                           .reset = env_reset,
                           .step = env_step,
                           .observe = env_observe,
                           .legal = env_legal};
}
