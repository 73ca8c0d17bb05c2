#include "engine/place/chain_moves.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "engine/place/state.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include "rl/rng.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 4, BORDER_TRIES = 12, MOST_PART = 16, MOST_LEAST = 64 };
/* Heat of each round as a part of the best value: near it, far from it, and back. */
static const double heats[ROUNDS] = {0.01, 0.1, 0.03, 0.003};

struct moving {
    const struct place_prepared *p;
    const struct place_chain_moving *m;
    struct place_state *s;
    uint32_t *stage_of, *best; /* by position */
    uint32_t *device_of;       /* by stage */
    struct place_stage *stage;
    uint32_t stages;
    uint32_t *moved, *from, count; /* positions of a move, where they were */
    uint32_t most;                 /* of a move, or so */
    uint32_t *from_best;           /* scratch: devices by position */
    double best_ms;
    struct rl_rng rng;
    struct place_energy energy;
};

/* ---- moves that keep the chain ---- */

static void put_position(struct moving *w, uint32_t p, uint32_t stage)
{
    w->moved[w->count] = p;
    w->from[w->count++] = w->stage_of[p];
    w->stage_of[p] = stage;
    place_state_move(w->s, p, w->device_of[stage]);
}

/* p to a stage; what follows it and stands before that stage, or precedes it and stands behind,
 * comes along, as far as it goes. False: more than may move at once; what moved is to be taken
 * back. */
static bool pull_position(struct moving *w, uint32_t p, uint32_t stage)
{
    const struct place_prepared *q = w->p;
    bool later = stage > w->stage_of[p];
    const uint32_t *at = later ? q->after_at : q->before_at;
    const uint32_t *row = later ? q->after : q->before;

    w->count = 0;
    put_position(w, p, stage);
    for (uint32_t k = 0; k < w->count; k++) {
        for (uint32_t i = at[w->moved[k]]; i < at[w->moved[k] + 1]; i++) {
            uint32_t of = w->stage_of[row[i]];
            if (later ? of < stage : of > stage)
                put_position(w, row[i], stage);
        }
        if (w->count > w->most)
            return false;
    }
    return true;
}

static void take_back(struct moving *w)
{
    while (w->count-- > 0) {
        w->stage_of[w->moved[w->count]] = w->from[w->count];
        place_state_move(w->s, w->moved[w->count], w->device_of[w->from[w->count]]);
    }
}

/* Does a net of p part stages? */
static bool is_on_border(const struct moving *w, uint32_t p)
{
    const struct place_nets *n = w->p->nets;

    for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++) {
        uint32_t h = n->net[i];
        for (uint32_t k = n->pin_at[h]; k < n->pin_at[h + 1]; k++) {
            if (w->stage_of[n->pin[k]] != w->stage_of[p])
                return true;
        }
    }
    return false;
}

/* Mostly one that has something to win or to lose. */
static uint32_t some_position(struct moving *w)
{
    uint32_t p = rl_rng_below(&w->rng, w->p->nets->positions);

    for (int i = 0; i < BORDER_TRIES && !is_on_border(w, p); i++)
        p = rl_rng_below(&w->rng, w->p->nets->positions);
    return p;
}

/* The stage of a pin that shares a net with p, or one beside its own. */
static uint32_t some_stage(struct moving *w, uint32_t p)
{
    const struct place_nets *n = w->p->nets;
    uint32_t nets = n->net_at[p + 1] - n->net_at[p], kind = rl_rng_below(&w->rng, 10);

    if (kind < 7 && nets) {
        uint32_t h = n->net[n->net_at[p] + rl_rng_below(&w->rng, nets)];
        uint32_t pins = n->pin_at[h + 1] - n->pin_at[h];
        return w->stage_of[n->pin[n->pin_at[h] + rl_rng_below(&w->rng, pins)]];
    }
    if (kind == 9)
        return rl_rng_below(&w->rng, w->stages);
    uint32_t own = w->stage_of[p];
    return rl_rng_below(&w->rng, 2) ? own + (own + 1 < w->stages) : own - (own > 0);
}

/* ---- annealing ---- */

static void note_chain(struct moving *w)
{
    double value;

    if (w->s->broken || place_state_over(w->s) > 0)
        return;
    value = place_state_value(w->s);
    if (value >= w->best_ms * (1 - 1e-12))
        return;
    w->best_ms = value;
    memcpy(w->best, w->stage_of, w->p->nets->positions * sizeof *w->best);
}

static void restore(struct moving *w)
{
    uint32_t m = w->p->nets->positions;

    memcpy(w->stage_of, w->best, m * sizeof *w->best);
    for (uint32_t p = 0; p < m; p++)
        w->from_best[p] = w->device_of[w->best[p]];
    place_state_set(w->s, w->from_best);
}

static void cool(struct moving *w, double hot, uint64_t moves)
{
    double now = place_state_energy(w->s, &w->energy), heat = hot * w->best_ms;
    double factor = pow(1e-3, 256.0 / (double)(moves > 256 ? moves : 256));
    uint64_t moved = 0;

    for (uint64_t i = 0; moved < moves && i < moves; i++) {
        if ((i & 255) == 255) {
            heat *= factor;
            w->energy.power = 3 + (int)(4 * i / moves);
            now = place_state_energy(w->s, &w->energy);
            if (stop_asked(w->m->stop))
                return;
        }
        uint32_t p = some_position(w), to = some_stage(w, p);
        if (to == w->stage_of[p])
            continue;
        bool whole = pull_position(w, p, to);
        moved += w->count;
        double then = whole ? place_state_energy(w->s, &w->energy) : INFINITY;
        if (then <= now || rl_rng_unit(&w->rng) < exp((now - then) / heat)) {
            now = then;
            note_chain(w);
        } else {
            take_back(w);
        }
    }
}

/* ---- chains in and out ---- */

static int allocate_moving(struct moving *w, const struct place_chain *c, struct err *e)
{
    size_t m = (size_t)w->p->nets->positions + 1;
    size_t stages = (size_t)c->stages + place_devices(w->p->nets->graph) + 1;

    w->stage_of = mem_try(m, sizeof *w->stage_of);
    w->best = mem_try(m, sizeof *w->best);
    w->moved = mem_try(m, sizeof *w->moved);
    w->from = mem_try(m, sizeof *w->from);
    w->from_best = mem_try(m, sizeof *w->from_best);
    w->device_of = mem_try(stages, sizeof *w->device_of);
    w->stage = mem_try(stages, sizeof *w->stage);
    if (!w->stage_of || !w->best || !w->moved || !w->from || !w->from_best || !w->device_of ||
        !w->stage)
        return err_no_memory(e, "for a search");
    return place_state_new(w->p->nets, w->m->rules, &w->s, e);
}

static void release_moving(struct moving *w)
{
    place_state_free(w->s);
    free(w->stage_of);
    free(w->best);
    free(w->moved);
    free(w->from);
    free(w->from_best);
    free(w->device_of);
    free(w->stage);
}

/* Stages on the devices of the plan that c is; idle accelerators behind the last. */
static int list_stages(struct moving *w, const struct place_chain *c, struct err *e)
{
    const struct place_graph *g = w->p->nets->graph;
    struct placement *plan;

    if (placement_of_chain(w->p, c, &plan, e))
        return e->code;
    memcpy(w->stage, c->stage, c->stages * sizeof *c->stage);
    w->stages = c->stages;
    for (uint32_t d = 0; d < plan->devices; d++) {
        uint32_t t = place_type_of(g, d);
        if (plan->stage[d] != PLACE_NONE) {
            w->device_of[plan->stage[d]] = d;
        } else if (!g->type[t].is_host) {
            w->stage[w->stages] = (struct place_stage){t, 1};
            w->device_of[w->stages++] = d;
        }
    }
    placement_free(plan);
    return 0;
}

/* The best chain without its empty stages. */
static int give(struct moving *w, struct place_chain **out, struct err *e)
{
    struct place_chain *c = mem_try(1, sizeof *c);
    uint32_t m = w->p->nets->positions, *number = w->device_of; /* by stage, from here on */

    *out = c;
    if (c) {
        c->stage = mem_try((size_t)w->stages + 1, sizeof *c->stage);
        c->stage_of = mem_try((size_t)m + 1, sizeof *c->stage_of);
    }
    if (!c || !c->stage || !c->stage_of)
        return err_no_memory(e, "for a plan");
    c->positions = m;
    c->value_ms = w->best_ms;
    for (uint32_t s = 0; s < w->stages; s++)
        number[s] = PLACE_NONE;
    for (uint32_t p = 0; p < m; p++)
        number[w->best[p]] = 0;
    for (uint32_t s = 0; s < w->stages; s++) {
        if (number[s] == PLACE_NONE)
            continue;
        number[s] = c->stages;
        c->stage[c->stages++] = w->stage[s];
    }
    for (uint32_t p = 0; p < m; p++)
        c->stage_of[p] = number[w->best[p]];
    return 0;
}

int place_chain_move(const struct place_prepared *p, const struct place_chain_moving *m,
                     const struct place_chain *c, struct place_chain **out, struct err *e)
{
    struct moving w = {.p = p, .m = m};
    int rc;

    *out = NULL;
    if (!p->nets->positions)
        return 0;
    rc = allocate_moving(&w, c, e);
    if (rc)
        goto out;
    rc = list_stages(&w, c, e);
    if (rc)
        goto out;
    memcpy(w.best, c->stage_of, p->nets->positions * sizeof *w.best);
    restore(&w);
    double before = w.best_ms = place_state_value(w.s);
    w.energy = (struct place_energy){.power = 3, .unit_ms = before};
    w.most = p->nets->positions / MOST_PART + MOST_LEAST;
    rl_rng_seed(&w.rng, m->seed, 17);
    for (int round = 0; round < ROUNDS && !stop_asked(m->stop); round++) {
        restore(&w);
        cool(&w, heats[round], m->moves / ROUNDS);
    }
    if (w.best_ms < before * (1 - 1e-12))
        rc = give(&w, out, e);
    if (rc)
        place_chain_free(*out);
out:
    release_moving(&w);
    return rc;
}
