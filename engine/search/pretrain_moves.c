#include "engine/search/pretrain_moves.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "engine/problem/problem.h"
#include "engine/ranks/ranks.h"
#include "engine/search/game.h"
#include "engine/search/move_features.h"
#include "engine/search/optimum.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/scorer.h"
#include "rl/serialize.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KIND_MOVES_SCHOOL = 19,
    GROUP = 8,        /* rounds played with the same weights */
    SAVE_EVERY = 64,  /* rounds */
    GAMES = 2,        /* of a round: layers folded, and separate */
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

/* What a round brought; in a block `count` states follow. */
struct lessons {
    uint32_t count, episodes;
    uint64_t decided;
    double gap; /* of its own decisions, summed */
};

/* A round while it is played. */
struct round {
    const struct rl_scorer *net;
    struct rl_rng rng;
    struct lessons sum;
    struct state *state;
    size_t room;
    bool failed; /* no memory */
};

struct school {
    struct problem *const *problem;
    uint32_t problems;
    const struct pretrain_moves_options *options;
    struct policy policy;
    struct rl_scorer_adam adam;
    struct rl_rng draw;
    struct state *replay;
    uint64_t taken;
    double gap; /* of its own decisions since the last point of the curve, summed */
    uint64_t decided;
    struct pretrain_moves_progress progress;
    struct err failed; /* why this rank could not play a round; no code: it could */
};

/* ---- what is drawn ---- */

static double log_between(struct rl_rng *r, double least, double most)
{
    return least * pow(most / least, rl_rng_unit(r));
}

static int draw_cluster(struct cluster *c, struct rl_rng *r, struct err *e)
{
    uint32_t per = 1u << (1 + rl_rng_below(r, 3)), servers = 1 + rl_rng_below(r, 4);
    int rc = cluster_of_devices(c, per, e);

    if (rc)
        return rc;
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
    return 0;
}

int pretrain_moves_draw(struct problem *p, struct rl_rng *rng, struct err *e)
{
    struct cluster c;
    char mesh[32] = "";

    int rc = draw_cluster(&c, rng, e);
    if (rc)
        return rc;
    uint32_t per = c.devices / c.servers;
    if (rl_rng_below(rng, 2) && c.devices > 2) {
        uint32_t rows = c.servers > 1 && rl_rng_below(rng, 3) ? c.servers : c.devices / per * 2;
        snprintf(mesh, sizeof mesh, "%ux%u", rows, c.devices / rows);
    }
    return problem_set_cluster(p, &c, mesh, e);
}

/* ---- one episode ---- */

/* What the best plan behind an action is worth; NAN: there is none, or it is not known. */
static double value_of(struct round *r, struct game *g, bool split)
{
    struct game_place here = game_here(g);
    struct step_cost cost;
    struct optimum best;
    struct err e;
    double value = NAN;

    (void)game_play(g, split);
    int rc = optimum_find(g->problem, &g->options, &g->state, NULL, &best, &e);
    if (!rc) {
        if (best.proven)
            value = game_score_of(g, best.on, &cost);
        optimum_release(&best);
    }
    r->failed |= rc == ERR_MEMORY;
    game_return(g, &here);
    return value;
}

/* Values both actions at the position; false: nothing is learned of it. */
static bool value_state(struct round *r, struct game *g, struct state *out)
{
    double whole, split;

    if (move_describe(g, out->row) != 3)
        return false;
    whole = value_of(r, g, false);
    split = value_of(r, g, true);
    if (!isfinite(whole) || !isfinite(split))
        return false;
    out->gap[0] = (float)fmin(GAP_MOST, fmax(0, split - whole));
    out->gap[1] = (float)fmin(GAP_MOST, fmax(0, whole - split));
    return true;
}

static bool choose_move(struct round *r, struct game *g, const struct state *s, bool known)
{
    float score[2];
    double u = rl_rng_unit(&r->rng);

    rl_scorer_score(r->net, s->row, 2, score);
    bool own = score[1] > score[0];
    if (known) {
        r->sum.gap += (double)s->gap[own];
        r->sum.decided++;
    }
    if (u < 0.5)
        return own;
    if (u < 0.75 && known)
        return s->gap[1] < s->gap[0];
    return rl_rng_below(&r->rng, 2) && game_legal(g) & 2;
}

static void keep_state(struct round *r, const struct state *s)
{
    r->failed |= !mem_grow(&r->state, &r->room, r->sum.count, 1);
    if (!r->failed)
        r->state[r->sum.count++] = *s;
}

static void play_episode(struct round *r, struct game *g)
{
    double part = fmin(1, STATES_MOST / (double)(g->move_count ? g->move_count : 1));

    game_reset(g);
    while (!game_is_over(g)) {
        struct state s;
        uint32_t legal = game_legal(g);
        bool split = legal == 2;
        if (legal == 3 && rl_rng_unit(&r->rng) < part) {
            bool known = value_state(r, g, &s);
            split = choose_move(r, g, &s, known);
            if (known)
                keep_state(r, &s);
        } else if (legal == 3) {
            split = policy_choose(r->net, g, 1, &r->rng);
        }
        (void)game_play(g, split);
    }
    r->sum.episodes++;
}

static int play_games(struct round *r, struct problem *p, struct err *e)
{
    int rc = pretrain_moves_draw(p, &r->rng, e);

    for (uint32_t folding = 0; folding < GAMES && !rc; folding++) {
        struct game_options o = {.kind = (enum game_kind)rl_rng_below(&r->rng, 3),
                                 .no_folding = folding};
        struct game g;
        rc = game_new(p, &o, &g, e);
        for (int n = 0; n < EPISODES && !rc && g.move_count <= MOVES_MOST; n++)
            play_episode(r, &g);
        if (!rc)
            game_release(&g);
    }
    return rc;
}

/* ---- a group of rounds, over ranks ---- */

static bool play_round(void *self, uint32_t item, struct ranks_result *out)
{
    struct school *c = self;
    uint64_t round = c->progress.round + item;
    struct round r = {.net = &c->policy.scorer};

    rl_rng_seed(&r.rng, c->options->seed, STREAM_ROUND + round);
    int rc = play_games(&r, c->problem[round % c->problems], &c->failed);
    size_t states = r.sum.count * sizeof *r.state;
    struct lessons *l = rc || r.failed ? NULL : malloc(sizeof *l + states);
    if (!l && !rc)
        (void)err_no_memory(&c->failed, "for a round");
    if (l) {
        *l = r.sum;
        if (states)
            memcpy(l + 1, r.state, states);
        *out = (struct ranks_result){l, sizeof *l + states};
    }
    free(r.state);
    return l != NULL;
}

static bool is_round(const struct ranks_result *r)
{
    const struct lessons *l = r->data;

    return r->size >= sizeof *l && r->size == sizeof *l + l->count * sizeof(struct state);
}

static void take_round(struct school *c, const struct ranks_result *r)
{
    const struct lessons *l = r->data;
    const struct state *state = (const struct state *)(l + 1);

    for (uint32_t n = 0; n < l->count; n++)
        c->replay[c->taken++ % REPLAY] = state[n];
    c->gap += l->gap;
    c->decided += l->decided;
    c->progress.episodes += l->episodes;
}

static uint32_t group_size(const struct school *c)
{
    uint64_t left = c->options->rounds - c->progress.round;

    return left < GROUP ? (uint32_t)left : GROUP;
}

/* The rounds from progress.round on, as rank 0 says, with its weights. Nothing is taken of a group
 * that was stopped, so that it can be played again. */
static bool play_group(struct school *c)
{
    struct ranks_result result[GROUP] = {0};
    struct ranks *ranks = c->options->ranks;
    const struct rl_scorer *s = &c->policy.scorer;
    bool ok = ranks_share(ranks, &c->progress.round, sizeof c->progress.round) &&
              ranks_share(ranks, s->weight, (s->parameters + 2 * s->features) * sizeof *s->weight);
    uint32_t count = group_size(c);

    ok = ok && ranks_do(ranks, count, play_round, c, result);
    for (uint32_t n = 0; n < count && ok && !ranks->self; n++)
        ok = is_round(&result[n]);
    for (uint32_t n = 0; n < count && ok && !ranks->self; n++)
        take_round(c, &result[n]);
    ranks_release(result, GROUP);
    return ok;
}

/* ---- learning ---- */

static int update_school(struct school *c, double rate, double *loss)
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

static int standardise_inputs(struct school *c)
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

/* From the states taken since there were `before`, after the round number progress.round. */
static int learn_rounds(struct school *c, uint64_t before, uint64_t round_before)
{
    double done = (double)c->progress.round / (double)c->options->rounds, sum = 0, loss;
    double rate = RATE_FIRST + (RATE_LAST - RATE_FIRST) * done;
    uint64_t updates = UPDATES * (c->taken - before) / PER_UPDATES;
    int code = RL_OK;

    if (c->progress.round < c->problems || !c->taken)
        return RL_OK; /* of all models first, to see how features spread */
    if (round_before < c->problems) {
        updates = UPDATES * c->taken / PER_UPDATES;
        code = standardise_inputs(c);
    }
    for (uint64_t n = 0; n < updates && !code; n++) {
        code = update_school(c, rate, &loss);
        sum += code ? 0 : loss;
    }
    c->progress.updates += updates;
    c->progress.loss = updates ? sum / (double)updates : c->progress.loss;
    return code;
}

/* A point of the curve: of every so many groups, so that all fit. */
static void note_curve(struct school *c)
{
    uint64_t groups = (c->options->rounds + GROUP - 1) / GROUP;
    uint64_t every = (groups + POLICY_CURVE_MOST - 1) / POLICY_CURVE_MOST;
    struct pretrain_moves_progress *p = &c->progress;
    uint64_t group = (p->round + GROUP - 1) / GROUP;

    p->states = c->taken;
    if (group % every && p->round != c->options->rounds)
        return;
    p->gap = c->decided ? c->gap / (double)c->decided : 0;
    if (c->policy.points < POLICY_CURVE_MOST) /* a foreign state may be full */
        c->policy.curve[c->policy.points++] = (struct policy_point){p->episodes, p->loss, p->gap};
    c->gap = 0;
    c->decided = 0;
}

/* ---- the state of a stopped training ---- */

/* Recipe and models are in it: a state of others is none of this training's. */
static void serialize_school(struct rl_serializer *w, struct school *c)
{
    uint64_t wanted[] = {c->options->seed, c->options->rounds, c->problems, 0}, is[4];
    uint32_t parameters = c->policy.scorer.parameters;

    for (uint32_t n = 0; n < c->problems; n++)
        wanted[3] = mem_hash(&c->problem[n]->model_fingerprint, sizeof(uint64_t), wanted[3]);
    memcpy(is, wanted, sizeof is);
    RL_ONE(w, is);
    w->failed |= memcmp(is, wanted, sizeof is) != 0;
    policy_serialize(w, &c->policy);
    w->failed |= c->policy.scorer.parameters != parameters;
    if (w->failed)
        return;
    rl_scorer_adam_serialize(w, &c->adam, parameters);
    RL_ONE(w, c->draw);
    RL_ONE(w, c->taken);
    RL_ONE(w, c->gap);
    RL_ONE(w, c->decided);
    RL_ONE(w, c->progress.round);
    RL_ONE(w, c->progress.episodes);
    RL_ONE(w, c->progress.updates);
    RL_ONE(w, c->progress.loss);
    RL_MANY(w, c->replay, c->taken < REPLAY ? c->taken : REPLAY);
    w->failed |= c->progress.round > c->options->rounds;
}

static int save_school(struct school *c, struct err *e)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    struct rl_bytes bytes;

    if (!c->options->state || !c->progress.round)
        return 0;
    serialize_school(&measure, c);
    if (rl_bytes_open(&bytes, measure.at, &w))
        return err_no_memory(e, "for the training's state");
    serialize_school(&w, c);
    rl_bytes_seal(&bytes, KIND_MOVES_SCHOOL);
    int rc = hlo_file_write(c->options->state, bytes.data, bytes.size, FILE_REPLACE, e);
    rl_bytes_release(&bytes);
    return rc;
}

/* True: the school stands where the state was left. */
static bool resume_school(struct school *c)
{
    struct rl_serializer w;
    struct rl_bytes bytes = {0};
    const char *state = c->options->state;
    bool ok = state && !rl_bytes_read(&bytes, state) &&
              !rl_bytes_check(bytes.data, bytes.size, KIND_MOVES_SCHOOL, &w);

    if (ok) {
        serialize_school(&w, c);
        ok = !w.failed && w.at == w.size;
    }
    rl_bytes_release(&bytes);
    return ok;
}

/* ---- all of it ---- */

static void close_school(struct school *c)
{
    rl_scorer_adam_free(&c->adam);
    free(c->replay);
    policy_free(&c->policy);
}

static int open_school(struct school *c, const struct pretrain_moves_options *o,
                       struct problem *const *problem, uint32_t problems)
{
    struct rl_rng init;

    *c = (struct school){.problem = problem, .problems = problems, .options = o};
    rl_rng_seed(&init, o->seed, STREAM_INIT);
    rl_rng_seed(&c->draw, o->seed, STREAM_DRAW);
    c->policy.seed = o->seed;
    c->policy.rounds = o->rounds;
    c->policy.models = problems;
    c->policy.temperature = TEMPERATURE;
    c->replay = calloc(REPLAY, sizeof *c->replay);
    if (!c->replay)
        return RL_E_MEMORY;
    int code = rl_scorer_new(&c->policy.scorer, MOVE_FEATURES, POLICY_WIDTH, &init);
    return code ? code : rl_scorer_adam_new(&c->adam, &c->policy.scorer);
}

/* A new school, or the one that was left. What a damaged state has touched is made anew. */
static int enter_school(struct school *c, const struct pretrain_moves_options *o,
                        struct problem *const *problem, uint32_t problems)
{
    int code = open_school(c, o, problem, problems);

    if (code || !o->state || o->ranks->self)
        return code;
    if (resume_school(c)) {
        c->progress.resumed = true;
        return RL_OK;
    }
    close_school(c);
    return open_school(c, o, problem, problems);
}

static int stopped(struct school *c, struct err *e)
{
    int rc = save_school(c, e);
    bool kept = !rc && c->options->state && c->progress.round;

    return rc ? rc
              : err_set(e, ERR_INFEASIBLE, "stopped after %llu rounds%s%.200s",
                        (unsigned long long)c->progress.round,
                        kept ? "; the same command goes on from " : "",
                        kept ? c->options->state : "");
}

static int next_group(struct school *c, struct err *e)
{
    uint64_t before = c->taken, round = c->progress.round;

    if (!play_group(c)) {
        if (stop_asked(c->options->stop) || !c->failed.code)
            return stopped(c, e);
        *e = c->failed;
        return e->code;
    }
    c->progress.round += group_size(c);
    int code = learn_rounds(c, before, round);
    if (code)
        return err_set(e, code == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT, "%s", rl_error_text(code));
    note_curve(c);
    /* the first group, and every so many: mpirun may leave no time when another rank is killed */
    return round && c->progress.round % SAVE_EVERY ? 0 : save_school(c, e);
}

/* What a rank other than 0 does: groups, until there are no more. */
static bool assist_rounds(struct school *c)
{
    bool ok = true;

    while (ok && group_size(c))
        ok = play_group(c);
    return ok;
}

int pretrain_moves(struct problem *const *problem, uint32_t count,
                   const struct pretrain_moves_options *o,
                   void (*tell)(void *self, const struct pretrain_moves_progress *p), void *self,
                   struct policy *out, struct err *e)
{
    struct school c;
    int code = enter_school(&c, o, problem, count), rc = 0;

    *out = (struct policy){0};
    if (code) {
        rc = err_set(e, ERR_MEMORY, "%s", rl_error_text(code));
        goto out;
    }
    if (o->ranks->self) {
        rc = assist_rounds(&c) ? 0 : err_set(e, ERR_INFEASIBLE, "stopped");
        goto out;
    }
    while (c.progress.round < o->rounds) {
        rc = next_group(&c, e);
        if (rc)
            goto out;
        if (tell)
            tell(self, &c.progress);
    }
    if (!play_group(&c)) { /* of no round: the others see that all are played */
        rc = stopped(&c, e);
        goto out;
    }
    *out = c.policy;
    c.policy = (struct policy){0};
out:
    close_school(&c);
    return rc;
}
