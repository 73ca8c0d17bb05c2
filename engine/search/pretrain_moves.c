#include "engine/search/pretrain_moves.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/move_features.h"
#include "engine/search/optimum.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/scorer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EPISODES = 3,     /* of a game and round */
    STATES_MOST = 24, /* of an episode that are learned from, drawn where it is longer */
    MOVES_MOST = 400, /* larger games teach nothing that smaller do not, and take long */
    REPLAY = 16384,   /* states */
    BATCH = 64,
    UPDATES = 1, /* for 8 new states */
    PER_UPDATES = 8,
    STREAM_INIT = 1,
    STREAM_DRAW = 2,
    STREAM_ROUND = 16, /* and those behind it: one each */
};
#define TEMPERATURE 0.01
#define GAP_MOST 0.5
#define RATE_FIRST 2e-3
#define RATE_LAST 6e-5

struct state {
    float row[2 * MOVE_FEATURES], gap[2];
};

struct school {
    struct policy policy;
    struct rl_scorer_adam adam;
    struct rl_rng draw;
    struct state *replay;
    uint64_t taken;
    double gap; /* of its own decisions in this round, summed */
    uint64_t decided;
    struct pretrain_moves_progress progress;
};

/* ---- what is drawn ---- */

static double log_between(struct rl_rng *r, double least, double most)
{
    return least * pow(most / least, rl_rng_unit(r));
}

static void draw_cluster(struct cluster *c, struct rl_rng *r, struct err *e)
{
    uint32_t per = 1u << (1 + rl_rng_below(r, 3)), servers = 1 + rl_rng_below(r, 4);

    if (cluster_of_devices(c, per, e))
        return;
    c->group[0].count = servers;
    c->servers = servers;
    c->devices = servers * per;
    c->network = log_between(r, 1.25e9, 50e9);
    c->network_latency_ms = log_between(r, 0.002, 0.1);
    c->group[0].link.bandwidth = log_between(r, 20e9, 900e9);
    c->group[0].link.latency_ms = log_between(r, 0.001, 0.03);
    struct cluster_device *d = &c->type[0];
    double faster = log_between(r, 0.5, 16);
    for (int k = 0; k < PEAK_COUNT; k++)
        d->peak[k] *= faster;
    d->bandwidth *= log_between(r, 0.7, 5);
    d->launch_ms = log_between(r, 0.001, 0.02);
}

int pretrain_moves_draw(struct problem *p, struct rl_rng *rng, struct err *e)
{
    struct cluster c;
    char mesh[32] = "";

    draw_cluster(&c, rng, e);
    uint32_t per = c.devices / c.servers;
    if (rl_rng_below(rng, 2) && c.devices > 2) {
        uint32_t rows = c.servers > 1 && rl_rng_below(rng, 3) ? c.servers : c.devices / per * 2;
        snprintf(mesh, sizeof mesh, "%ux%u", rows, c.devices / rows);
    }
    return problem_set_cluster(p, &c, mesh, e);
}

/* ---- one episode ---- */

/* What the best plan behind an action is worth; NAN: it is not known. */
static double value_of(struct game *g, bool split)
{
    struct game_place here = game_here(g);
    struct step_cost cost;
    struct optimum best;
    struct err e;
    double value = NAN;

    (void)game_play(g, split);
    if (!optimum_find(g->problem, &g->options, &g->state, NULL, &best, &e)) {
        if (best.proven)
            value = game_score_of(g, best.on, &cost);
        optimum_release(&best);
    }
    game_return(g, &here);
    return value;
}

/* Values both actions at the position; false: nothing is learned of it. */
static bool value_state(struct game *g, struct state *out)
{
    double whole, split;

    if (move_describe(g, out->row) != 3)
        return false;
    whole = value_of(g, false);
    split = value_of(g, true);
    if (!isfinite(whole) || !isfinite(split))
        return false;
    out->gap[0] = (float)fmin(GAP_MOST, fmax(0, split - whole));
    out->gap[1] = (float)fmin(GAP_MOST, fmax(0, whole - split));
    return true;
}

static bool choose(struct school *c, struct game *g, const struct state *s, bool known,
                   struct rl_rng *rng)
{
    float score[2];
    double u = rl_rng_unit(rng);

    rl_scorer_score(&c->policy.scorer, s->row, 2, score);
    bool own = score[1] > score[0];
    if (known) {
        c->gap += (double)s->gap[own];
        c->decided++;
    }
    if (u < 0.5)
        return own;
    if (u < 0.75 && known)
        return s->gap[1] < s->gap[0];
    return rl_rng_below(rng, 2) && game_legal(g) & 2;
}

static void play_episode(struct school *c, struct game *g, struct rl_rng *rng)
{
    double part = fmin(1, STATES_MOST / (double)(g->move_count ? g->move_count : 1));

    game_reset(g);
    while (!game_is_over(g)) {
        struct state s;
        uint32_t legal = game_legal(g);
        bool split = legal == 2;
        if (legal == 3 && rl_rng_unit(rng) < part) {
            bool known = value_state(g, &s);
            split = choose(c, g, &s, known, rng);
            if (known)
                c->replay[c->taken++ % REPLAY] = s;
        } else if (legal == 3) {
            split = policy_choose(&c->policy.scorer, g, 1, rng);
        }
        (void)game_play(g, split);
    }
    c->progress.episodes++;
}

static int play_round(struct school *c, struct problem *p, uint64_t round, uint64_t seed,
                      struct err *e)
{
    struct rl_rng rng;

    rl_rng_seed(&rng, seed, STREAM_ROUND + round);
    int rc = pretrain_moves_draw(p, &rng, e);
    for (uint32_t folding = 0; folding < 2 && !rc; folding++) {
        struct game_options o = {.kind = (enum game_kind)rl_rng_below(&rng, 3),
                                 .no_folding = folding};
        struct game g;
        rc = game_new(p, &o, &g, e);
        for (int n = 0; n < EPISODES && !rc && g.move_count <= MOVES_MOST; n++)
            play_episode(c, &g, &rng);
        if (!rc)
            game_release(&g);
    }
    return rc;
}

/* ---- learning ---- */

static int update(struct school *c, double rate, double *loss)
{
    float rows[2 * BATCH * MOVE_FEATURES], gap[2 * BATCH];
    uint32_t first[BATCH + 1] = {0}, held = (uint32_t)(c->taken < REPLAY ? c->taken : REPLAY);

    for (uint32_t k = 0; k < BATCH; k++) {
        const struct state *s = &c->replay[rl_rng_below(&c->draw, held)];
        memcpy(rows + (size_t)2 * k * MOVE_FEATURES, s->row, sizeof s->row);
        memcpy(gap + (size_t)2 * k, s->gap, sizeof s->gap);
        first[k + 1] = first[k] + 2;
    }
    struct rl_groups g = {rows, gap, first, BATCH};
    return rl_scorer_learn(&c->policy.scorer, &c->adam, &g, TEMPERATURE, rate, loss);
}

static int standardise(struct school *c)
{
    uint32_t held = (uint32_t)(c->taken < REPLAY ? c->taken : REPLAY);
    float *rows = mem_try(held, 2 * MOVE_FEATURES * sizeof *rows);

    if (!rows)
        return RL_E_MEMORY;
    for (uint32_t n = 0; n < held; n++)
        memcpy(rows + (size_t)n * 2 * MOVE_FEATURES, c->replay[n].row, sizeof c->replay[n].row);
    rl_scorer_standardise(&c->policy.scorer, rows, 2 * held);
    free(rows);
    return RL_OK;
}

static int learn(struct school *c, const struct pretrain_moves_options *o, uint64_t before,
                 uint32_t first_rounds)
{
    double done = (double)c->progress.round / (double)o->rounds, sum = 0, loss;
    double rate = RATE_FIRST + (RATE_LAST - RATE_FIRST) * done;
    uint64_t updates = UPDATES * (c->taken - before) / PER_UPDATES;
    int code = RL_OK;

    if (c->progress.round < first_rounds || !c->taken)
        return RL_OK; /* of all models first, to see how features spread */
    if (c->progress.round == first_rounds) {
        updates = UPDATES * c->taken / PER_UPDATES;
        code = standardise(c);
    }
    for (uint64_t n = 0; n < updates && !code; n++) {
        code = update(c, rate, &loss);
        sum += code ? 0 : loss;
    }
    c->progress.updates += updates;
    c->progress.loss = updates ? sum / (double)updates : c->progress.loss;
    return code;
}

static void note_curve(struct school *c, const struct pretrain_moves_options *o)
{
    uint64_t every = (o->rounds + POLICY_CURVE_MOST - 1) / POLICY_CURVE_MOST;
    struct pretrain_moves_progress *p = &c->progress;

    p->states = c->taken;
    if (p->round % every && p->round != o->rounds)
        return;
    p->gap = c->decided ? c->gap / (double)c->decided : 0;
    c->policy.curve[c->policy.points++] = (struct policy_point){p->episodes, p->loss, p->gap};
    c->gap = 0;
    c->decided = 0;
}

static int open_school(struct school *c, const struct pretrain_moves_options *o, uint32_t models)
{
    struct rl_rng init;

    memset(c, 0, sizeof *c);
    rl_rng_seed(&init, o->seed, STREAM_INIT);
    rl_rng_seed(&c->draw, o->seed, STREAM_DRAW);
    c->policy.seed = o->seed;
    c->policy.rounds = o->rounds;
    c->policy.models = models;
    c->policy.temperature = TEMPERATURE;
    c->replay = calloc(REPLAY, sizeof *c->replay);
    if (!c->replay)
        return RL_E_MEMORY;
    int code = rl_scorer_new(&c->policy.scorer, MOVE_FEATURES, POLICY_WIDTH, &init);
    return code ? code : rl_scorer_adam_new(&c->adam, &c->policy.scorer);
}

int pretrain_moves(struct problem *const *problem, uint32_t count,
                   const struct pretrain_moves_options *o,
                   void (*tell)(void *self, const struct pretrain_moves_progress *p), void *self,
                   struct policy *out, struct err *e)
{
    struct school c;
    int code = open_school(&c, o, count), rc = 0;

    while (!code && !rc && c.progress.round < o->rounds) {
        uint64_t before = c.taken;
        if (o->stop && atomic_load(o->stop)) {
            rc = err_set(e, ERR_INFEASIBLE, "stopped after %llu rounds",
                         (unsigned long long)c.progress.round);
            break;
        }
        rc = play_round(&c, problem[c.progress.round % count], c.progress.round, o->seed, e);
        c.progress.round++;
        if (!rc)
            code = learn(&c, o, before, count);
        note_curve(&c, o);
        if (!rc && !code && tell)
            tell(self, &c.progress);
    }
    if (code)
        rc = err_set(e, code == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT, "%s", rl_error_text(code));
    rl_scorer_adam_free(&c.adam);
    free(c.replay);
    if (rc)
        policy_free(&c.policy);
    *out = c.policy;
    return rc;
}
