/* The DQN at the game: one decision a step, fine-tuning when stage 1 is stable (Auto-MAP 4.1). */
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/search/dqn_replay.h"
#include "engine/search/game.h"
#include "engine/search/policy.h"
#include "engine/search/search.h"
#include "engine/search/search_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/learner.h"
#include "rl/net.h"
#include "rl/replay.h"
#include "rl/rng.h"
#include "rl/run.h"
#include "rl/save_agent.h"
#include "rl/serialize.h"
#include "rl/settings.h"

#include <math.h>
#include <string.h>

enum {
    BACKTRACK_DECISIONS = 400, /* over which the raised exploration of a backtrack fades */
    LEAD_STREAM = 24,          /* apart from those of the learner and of random walks */
    LEAD_EPISODES_PER_HEAT = 10,
    TUNING_TRIES = 8,  /* of every group, in stage 2, before it ends without gain */
    TUNING_SHOWN = 16, /* episodes of stage 2 from one showing of the best plan to the next */
    SHOWN_MOST = 4,    /* times in a row, until the network's own way is as good */
    OWN_MOST = 32,     /* episodes of its own way at the end of stage 2, until it is as good */
    OWN_AGREED = 4,    /* so many times in a row: updates between may turn close decisions over */
    KEPT_MOST = 8192   /* decisions played again under new pins: some 50 ms */
};
#define BACKTRACK_EPSILON 0.2
/* In stage 2 of the decisions that are open again about so many are tried at random, at most that
 * share of them: a group of few is tried every way, and where a turned decision opens a whole model
 * the network's own way with it is seen. */
#define TUNING_RANDOM 2.0
#define TUNING_EPSILON 0.5

/* The best plan seen and its rival: the best of those that leave whole the largest group which the
 * best plan splits. Such a group settles most of a model and divides the plans in two landscapes;
 * from the top of one no small change leads to the other, so both are held, and tuned. */
struct held {
    label *on; /* [classes]; valid when score > -inf */
    double score;
};

struct dqn {
    struct rl_run run;
    bool tuning;           /* stage 2: episodes start from the best plan, groups set back */
    uint32_t tuned_move;   /* the first of those this episode set back */
    uint32_t without_gain; /* fine-tuning episodes in a row that found nothing */
    uint32_t own_ways;     /* episodes in a row that are the network's own way */
    uint32_t agreed;       /* of these, at the end of stage 2, those in a row as good as the best */
    struct held held[2];   /* the best, its rival */
    label *spare;          /* [classes] scratch of hold */
    uint32_t tuned_plan;   /* of these the one that this episode began from */
    struct rl_rng lead;    /* draws of the network of all models */
    uint8_t *way;          /* [moves] its first episode; way_count: 0: not looked for yet */
    uint32_t way_count;
    bool asked; /* a person chose how the next episode begins */
    struct dqn_replay_note kept;
    /* The episode so far, for search_serialize: how it began and what was played. */
    struct game_opening opening; /* its `on` is from_on */
    label *from_on;              /* [classes] */
    uint8_t *played;             /* [moves]; played_count */
    uint32_t played_count;
};

const struct rl_settings *search_preset(const struct search_options *o)
{
    bool adp = o->game.kind == GAME_ADP;

    if (o->paper)
        return rl_preset(adp ? "paper-adp" : "paper-opp");
    if (o->game.reward == GAME_REWARD_PAPER)
        return rl_preset(adp ? "rainbow-adp" : "rainbow-opp");
    return rl_preset("planner");
}

/* ---- how episodes begin ---- */

/* A move whose class meets one that a class of `move` meets: a walk of two steps, drawn; `move`
 * itself where none was come by. */
static uint32_t draw_linked(const struct game *g, uint32_t move, struct rl_rng *rng)
{
    enum { WALKS = 8 };
    const struct classes *c = &g->problem->classes;
    const struct game_move *m = &g->moves[move];

    for (int walk = 0; walk < WALKS; walk++) {
        class_id at = g->pool[m->classes + rl_rng_below(rng, m->class_count)];
        for (int n = 0; n < 2 && c->info[at].meet_count; n++)
            at = c->meets[c->info[at].meets + rl_rng_below(rng, c->info[at].meet_count)].other;
        uint32_t linked = g->move_of[(size_t)at * g->problem->mesh.axes + m->axis];
        if (linked != UINT32_MAX && linked != move)
            return linked;
    }
    return move;
}

/* Stage 2: the moves in turn; first alone, then with one, two and three that are linked to it. Half
 * of the time the move is turned to begin with. */
static void open_groups(struct search *s, struct dqn *d, struct rl_rng *rng)
{
    const struct game *g = &s->game;
    uint32_t round = d->without_gain / (2 * g->move_count), more = round / 2;
    struct game_opening *o = &d->opening;

    d->tuned_plan = !d->tuned_plan;
    if (!isfinite(d->held[d->tuned_plan].score))
        d->tuned_plan = !d->tuned_plan;
    if (d->without_gain % 2 == 0)
        d->tuned_move = (d->tuned_move + 1) % g->move_count;
    memcpy(d->from_on, d->held[d->tuned_plan].on, g->problem->classes.count * sizeof *d->from_on);
    *o = (struct game_opening){.on = d->from_on, .move = {d->tuned_move}, .count = 1};
    o->turn = round % 2 == 0 || rl_rng_below(rng, 2);
    for (more = more < GAME_OPENING_MOST ? more : GAME_OPENING_MOST - 1; more; more--)
        o->move[o->count++] = draw_linked(g, d->tuned_move, rng);
}

static bool is_higher(double score, double than)
{
    return isinf(than) ? isfinite(score) : score > than + 1e-12 * (1 + fabs(than));
}

static void hold_as(const struct search *s, struct held *h, const label *on, double score)
{
    memmove(h->on, on, s->game.problem->classes.count * sizeof *on);
    h->score = score;
}

/* Whether a plan leaves whole the largest group that the best plan splits. */
static bool is_rival(const struct search *s, const struct dqn *d, const label *on)
{
    const struct game *g = &s->game;

    for (uint32_t n = 0; n < g->move_count; n++) { /* the order is that of the groups */
        if (game_splits(g, d->held[0].on, n))
            return !game_splits(g, on, n);
    }
    return false;
}

/* Whether the plan is better than the best, or than its rival where it is one. */
static bool hold(const struct search *s, struct dqn *d, const label *on, double score)
{
    struct held *best = &d->held[0], *rival = &d->held[1];

    if (!is_higher(score, best->score)) {
        if (!is_rival(s, d, on) || !is_higher(score, rival->score))
            return false;
        hold_as(s, rival, on, score);
        return true;
    }
    struct held before = *best;
    best->on = d->spare;
    hold_as(s, best, on, score);
    d->spare = before.on;
    if (isfinite(rival->score) && !is_rival(s, d, rival->on))
        rival->score = -INFINITY;
    if (isfinite(before.score) && is_rival(s, d, before.on) &&
        is_higher(before.score, rival->score))
        hold_as(s, rival, before.on, before.score);
    return true;
}

static void set_tuning(struct dqn *d, bool on)
{
    d->tuning = on;
    d->without_gain = d->own_ways = d->agreed = 0;
    rl_agent_hold_epsilon(d->run.agent, -1);
}

static void open_game(struct search *s, struct dqn *d)
{
    d->played_count = 0;
    game_reset_from(&s->game, &d->opening);
    if (d->own_ways)
        rl_agent_hold_epsilon(d->run.agent, 0);
    else if (d->tuning)
        rl_agent_hold_epsilon(
            d->run.agent, fmin(TUNING_EPSILON, TUNING_RANDOM / fmax(1, game_open_count(&s->game))));
}

static float *two_observations(const struct game *g)
{
    return mem_try(2 * (size_t)game_observation_size(g), sizeof(float));
}

/* The network's own way from all open, by its best actions alone; what it comes to. */
static double play_greedy(struct search *s, struct dqn *d)
{
    struct game *g = &s->game;
    float *seen = mem_try(game_observation_size(g), sizeof *seen), q[2];

    if (!seen)
        return -INFINITY;
    game_reset(g);
    while (!game_is_over(g)) {
        uint64_t legal = game_legal(g);
        game_observe(g, seen);
        rl_agent_q(d->run.agent, seen, &legal, q);
        game_play(g, rl_net_argmax(q, 2, &legal) == 1);
    }
    free(seen);
    return g->conflict ? -INFINITY : game_score(g);
}

/* The best plan as an episode from all open, which goes into replay, and as many updates as its
 * decisions are due. False: no memory, a reward that is not finite, or it diverges, as the next
 * update says. */
static bool show_once(struct search *s, struct dqn *d)
{
    const struct rl_settings *rl = &s->options.rl;
    struct rl_agent *agent = d->run.agent;
    struct game *g = &s->game;
    struct rl_update last;
    float *now = two_observations(g), *next = now ? now + game_observation_size(g) : NULL;
    bool kept = now != NULL;

    game_reset(g);
    while (kept && !game_is_over(g)) {
        bool split = game_splits(g, d->held[0].on, g->position);
        uint64_t legal = game_legal(g), next_legal = 3;
        struct rl_decision x = {.observation = now, .next = next, &legal, &next_legal};
        x.action = legal >> split & 1 ? split : !split;
        game_observe(g, now);
        x.reward = (float)game_play(g, x.action == 1);
        x.end = game_is_over(g) ? RL_TERMINATED : RL_GOES_ON;
        if (!game_is_over(g))
            next_legal = game_legal(g);
        game_observe(g, next);
        kept = rl_agent_remember(agent, &x) == RL_OK;
    }
    kept = kept && rl_agent_train(agent, g->move_count / rl->train_every * rl->updates_per_train,
                                  &last) >= 0;
    if (!kept)
        rl_agent_cut(agent);
    free(now);
    return kept;
}

/* The network's own way from all open is worse than the best plan. */
static bool is_behind(struct search *s, struct dqn *d)
{
    uint64_t decisions = s->game.decisions;
    bool behind = is_higher(d->held[0].score, play_greedy(s, d));

    s->game.decisions = decisions;
    return behind;
}

/* Self-imitation: the best plan is shown until the network's own way from all open is as good.
 * Stage 2 begins near the best plan, so without this the network never sees the way there, and its
 * own best actions lead elsewhere. It is no try: the plan is known. */
static void show_best(struct search *s, struct dqn *d)
{
    uint64_t decisions = s->game.decisions;
    bool goes_on = true;

    for (int n = 0; n < SHOWN_MOST && goes_on; n++)
        goes_on = show_once(s, d) && is_behind(s, d);
    s->game.decisions = decisions;
}

/* Every group was set back 8 times without gain. */
static bool is_tuned(const struct search *s, const struct dqn *d)
{
    return d->without_gain > 2 * TUNING_TRIES * s->game.move_count;
}

/* Once in a while in stage 2, and again and again at its end, the best plan is shown and the
 * network plays its own way: what is shown raises the worth of that way, and only playing lowers
 * that of another it likes better. Only with return_bound, which makes one episode shown count. */
static bool plays_own_way(const struct search *s, const struct dqn *d)
{
    return d->tuning && s->options.rl.return_bound &&
           (is_tuned(s, d) || (!d->own_ways && d->without_gain % TUNING_SHOWN == 0));
}

/* Nothing of stage 2 is left: the own way agrees with the best plan, or does not come to it. */
static bool is_settled(struct search *s, struct dqn *d)
{
    if (!is_tuned(s, d)) {
        d->agreed = 0;
        return false;
    }
    if (!plays_own_way(s, d) || d->own_ways >= OWN_MOST)
        return true;
    d->agreed = is_behind(s, d) ? 0 : d->agreed + 1;
    return d->agreed > OWN_AGREED;
}

/* Stage 1 is stable when so many episodes brought nothing better and exploration has come down to
 * its end; stage 2 goes on until it is tuned and the network's own way is as good. */
static void choose_stage(struct search *s, struct dqn *d)
{
    bool stable = s->since_better >= s->options.stable_episodes && s->game.move_count &&
                  rl_agent_epsilon(d->run.agent) <= s->options.rl.epsilon_end + 1e-9;

    if (!d->tuning && stable) {
        hold(s, d, s->best.on, s->best.score);
        set_tuning(d, true);
    } else if (d->tuning && is_settled(s, d)) {
        set_tuning(d, false);
        s->since_better = 0;
        s->rounds++;
    }
}

/* ---- the game as the learner asks for it ---- */

static void env_reset(void *self, struct rl_rng *rng)
{
    struct search *s = self;
    struct dqn *d = s->self;

    if (!d->asked) {
        choose_stage(s, d);
        d->opening.count = 0;
        d->own_ways = plays_own_way(s, d) ? d->own_ways + 1 : 0;
        if (d->own_ways)
            show_best(s, d);
        else if (d->tuning)
            open_groups(s, d, rng);
    }
    d->asked = false;
    open_game(s, d);
}

static struct rl_outcome env_step(void *self, uint32_t action, struct rl_rng *rng)
{
    struct search *s = self;
    struct dqn *d = s->self;

    (void)rng;
    d->played[d->played_count++] = action == 1;
    double reward = game_play(&s->game, action == 1);
    return (struct rl_outcome){(float)reward, game_is_over(&s->game) ? RL_TERMINATED : RL_GOES_ON};
}

static void env_observe(void *self, float *out)
{
    game_observe(&((struct search *)self)->game, out);
}

static void env_legal(void *self, uint64_t *out)
{
    const struct game *g = &((struct search *)self)->game;

    *out = game_is_over(g) ? 3 : game_legal(g);
}

static uint32_t env_context(void *self)
{
    const struct game *g = &((struct search *)self)->game;

    return game_is_over(g) ? 0 : g->position;
}

static struct rl_env game_env(struct search *s)
{
    return (struct rl_env){
        .self = s,
        .observation_size = game_observation_size(&s->game),
        .action_count = 2,
        .context_count = s->game.move_count ? s->game.move_count : 1,
        .reset = env_reset,
        .step = env_step,
        .observe = env_observe,
        .legal = env_legal,
        .context = env_context,
    };
}

/* ---- from start to end ---- */

static int dqn_start(struct search *s, struct err *e)
{
    struct dqn *d = mem_try(1, sizeof *d);
    struct rl_env env = game_env(s);

    s->self = d;
    if (!d)
        return err_no_memory(e, "for the learner");
    if (!s->options.rl_set)
        s->options.rl = *search_preset(&s->options);
    d->from_on = mem_try(s->game.problem->classes.count, sizeof *d->from_on);
    d->played = mem_try(s->game.move_count, sizeof *d->played);
    d->way = mem_try(s->game.move_count, sizeof *d->way);
    d->spare = mem_try(s->game.problem->classes.count, sizeof *d->spare);
    for (int n = 0; n < 2; n++) {
        d->held[n].on = mem_try(s->game.problem->classes.count, sizeof *d->held[n].on);
        d->held[n].score = -INFINITY;
    }
    if (!d->from_on || !d->played || !d->way || !d->spare || !d->held[0].on || !d->held[1].on)
        return err_no_memory(e, "for the learner");
    d->opening.on = d->from_on;
    rl_rng_seed(&d->lead, s->options.seed, LEAD_STREAM);
    int rc = rl_run_new(&d->run, &env, &s->options.rl, s->options.seed);
    if (rc)
        return err_set(e, rc == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT,
                       "the learner cannot be made: %s", rl_error_text(rc));
    rl_run_ready(&d->run);
    return 0;
}

static void dqn_stop(struct search *s)
{
    struct dqn *d = s->self;

    rl_run_free(&d->run);
    free(d->from_on);
    free(d->played);
    free(d->way);
    free(d->spare);
    free(d->held[0].on);
    free(d->held[1].on);
    free(d);
    s->self = NULL;
}

static void end_episode(struct search *s, struct dqn *d, struct search_event *out)
{
    out->fine_tuning = d->tuning;
    search_ended(s, s->game.state.on, s->game.conflict, out);
    bool gain = !s->game.conflict && hold(s, d, s->game.state.on, out->score);
    if (d->tuning)
        d->without_gain = gain ? 0 : d->without_gain + !d->own_ways;
}

/* Nothing was open: a plan without a decision. Where that is so from the very beginning, all is
 * pinned or settled, and the search is done. */
static bool end_at_once(struct search *s, struct dqn *d, struct search_event *out)
{
    end_episode(s, d, out);
    s->done = !d->opening.count;
    rl_run_cut(&d->run);
    return true;
}

static bool step_dqn(struct search *s, int forced, struct search_event *out)
{
    struct dqn *d = s->self;
    struct rl_step done;

    rl_run_ready(&d->run);
    if (game_is_over(&s->game))
        return end_at_once(s, d, out);
    if (forced >= 0 && !(game_legal(&s->game) >> forced & 1))
        return false;
    out->move = s->game.position;
    int rc = rl_run_step(&d->run, forced, &done);
    out->split = done.action == 1;
    out->explored = done.explored;
    out->reward = (double)done.reward;
    out->updates = rc < 0 ? rc : done.updates;
    out->update = done.update;
    s->done = rc < 0;
    if (!s->done && game_is_over(&s->game))
        end_episode(s, d, out);
    return true;
}

/* The game as it stood in this episode, after looking elsewhere. */
static void stand_again(struct game *g, const struct dqn *d, uint64_t decisions)
{
    game_reset_from(g, &d->opening);
    for (uint32_t n = 0; n < d->played_count; n++)
        game_play(g, d->played[n]);
    g->decisions = decisions;
}

/* ---- the network of all models ---- */

/* The next decision is one of the network of all models: in the first episodes, and in every other
 * one of stage 2, where it shows what each group set back comes to by its best actions. Weak
 * propagation looks at a decision by waves, too slow for every other episode. */
static bool is_led(const struct search *s)
{
    const struct dqn *d = s->self;

    if (!search_is_continuous(&s->options))
        return false;
    if (d->tuning)
        return !s->game.options.weak && !d->own_ways && d->without_gain % 2 == 0;
    return s->episodes < SEARCH_LED;
}

/* The first episode goes the way of policy_way, looked for once, unless a person went another.
 * Waves and peaks take too long to look at an episode in one step: there it is the network's own
 * way. */
static bool goes_its_way(struct search *s, struct dqn *d)
{
    struct game *g = &s->game;
    uint64_t decisions = g->decisions;

    if (s->episodes || d->opening.count || g->options.weak || g->budget)
        return false;
    if (!d->way_count) {
        game_reset(g);
        d->way_count = policy_way(s->options.policy, g, d->way);
        stand_again(g, d, decisions);
    }
    return d->played_count < d->way_count && !memcmp(d->played, d->way, d->played_count);
}

/* Its best way first; then it draws, ever more freely, until stage 2. */
static int lead_episode(struct search *s, struct dqn *d)
{
    if (goes_its_way(s, d))
        return d->way[d->played_count];
    bool draws = s->episodes && !d->tuning;
    double heat = draws ? 1 + (double)s->episodes / LEAD_EPISODES_PER_HEAT : 0;
    return policy_choose(s->options.policy, &s->game, heat, &d->lead);
}

static bool dqn_step(struct search *s, struct search_event *out)
{
    struct dqn *d = s->self;
    int forced = -1;

    rl_run_ready(&d->run);
    out->led = is_led(s) && !game_is_over(&s->game);
    if (out->led)
        forced = lead_episode(s, d);
    return step_dqn(s, forced, out);
}

void search_dqn_ready(struct search *s)
{
    rl_run_ready(&((struct dqn *)s->self)->run);
}

/* ---- the person's hand ---- */

/* What was learned from before is played again under the new pins (dqn_replay.h). */
static void dqn_pins_changed(struct search *s)
{
    struct dqn *d = s->self;

    rl_run_cut(&d->run);
    dqn_replay_again(&s->game, d->run.agent, KEPT_MOST, &d->kept);
    set_tuning(d, false);
    d->held[0].score = d->held[1].score = -INFINITY;
    d->opening.count = d->way_count = 0;
    d->asked = true;
    rl_run_ready(&d->run);
}

void search_dqn_backtrack(struct search *s, uint32_t move)
{
    struct dqn *d = s->self;

    rl_run_cut(&d->run);
    set_tuning(d, false);
    memcpy(d->from_on, s->best.on, s->game.problem->classes.count * sizeof *d->from_on);
    d->opening = (struct game_opening){.on = d->from_on, .move = {move}, .count = 1};
    d->asked = true;
    if (rl_agent_epsilon(d->run.agent) < BACKTRACK_EPSILON &&
        rl_agent_explore(d->run.agent, BACKTRACK_EPSILON, s->options.rl.epsilon_end,
                         BACKTRACK_DECISIONS) == 0)
        s->options.rl = *rl_agent_settings(d->run.agent);
    s->since_better = 0;
    rl_run_ready(&d->run);
}

bool search_dqn_force(struct search *s, bool split, struct search_event *out)
{
    return step_dqn(s, split, out);
}

bool search_dqn_configure(struct search *s, const struct rl_settings *rl)
{
    return rl_agent_configure(((struct dqn *)s->self)->run.agent, rl) == 0;
}

struct rl_agent *search_dqn_agent(struct search *s)
{
    return ((struct dqn *)s->self)->run.agent;
}

struct dqn_replay_note search_dqn_kept(const struct search *s)
{
    return ((const struct dqn *)s->self)->kept;
}

bool search_dqn_q(struct search *s, float q[2])
{
    struct dqn *d = s->self;

    uint64_t legal = game_legal(&s->game);

    rl_agent_q(d->run.agent, d->run.now, &legal, q);
    return true;
}

/* The episode of the best actions alone, from all open; the game stands where it stood after it. */
double search_dqn_greedy(struct search *s, label *on)
{
    struct dqn *d = s->self;
    struct game *g = &s->game;
    uint64_t decisions = g->decisions;
    double score = play_greedy(s, d);

    if (on)
        memcpy(on, g->state.on, g->problem->classes.count * sizeof *on);
    stand_again(g, d, decisions);
    return score;
}

/* ---- to bytes and back ---- */

/* The game again as it stands, by playing the episode again. */
static void play_again(struct search *s, struct dqn *d, struct rl_serializer *w)
{
    const struct game *g = &s->game;
    double sum = 0;

    game_reset_from(&s->game, &d->opening);
    for (uint32_t n = 0; n < d->played_count && !w->failed; n++) {
        if (game_is_over(g) || d->played[n] > 1 || !(game_legal(g) >> d->played[n] & 1))
            w->failed = true;
        else
            sum += (double)(float)game_play(&s->game, d->played[n]);
    }
    if (d->run.playing)
        rl_run_go_on(&d->run, d->played_count, sum);
}

static bool is_agent_for(const struct rl_agent *a, const struct game *g)
{
    const struct rl_shape *shape = rl_agent_shape(a);

    return shape->observation_size == game_observation_size(g) && shape->action_count == 2 &&
           shape->context_count == (g->move_count ? g->move_count : 1);
}

static void serialize_agent(struct dqn *d, const struct search *s, struct rl_serializer *w)
{
    struct rl_agent *a = d->run.agent;

    rl_agent_serialize(w, &a);
    if (w->failed || w->pass != RL_READ)
        return;
    rl_agent_free(d->run.agent);
    d->run.agent = a;
    w->failed = !is_agent_for(a, &s->game);
}

static void serialize_opening(struct search *s, struct rl_serializer *w, struct game_opening *o)
{
    RL_MANY(w, o->move, GAME_OPENING_MOST);
    RL_ONE(w, o->count);
    rl_serialize_flag(w, &o->turn);
    w->failed |= o->count > GAME_OPENING_MOST;
    for (uint32_t n = 0; !w->failed && n < o->count; n++)
        w->failed |= o->move[n] >= s->game.move_count;
}

static void dqn_serialize(struct search *s, struct rl_serializer *w)
{
    struct dqn *d = s->self;

    rl_serialize_flag(w, &d->tuning);
    RL_ONE(w, d->tuned_move);
    RL_ONE(w, d->without_gain);
    RL_ONE(w, d->own_ways);
    RL_ONE(w, d->agreed);
    RL_ONE(w, d->kept.before);
    RL_ONE(w, d->kept.after);
    RL_ONE(w, d->played_count);
    RL_MANY(w, d->run.rng.s, 4);
    RL_MANY(w, d->lead.s, 4);
    rl_serialize_flag(w, &d->run.playing);
    serialize_opening(s, w, &d->opening);
    w->failed |= d->played_count > s->game.move_count ||
                 (d->tuned_move >= s->game.move_count && d->tuned_move);
    if (w->failed || !search_serialize_labels(s, w, d->from_on))
        return;
    for (int n = 0; n < 2 && search_serialize_labels(s, w, d->held[n].on); n++)
        RL_ONE(w, d->held[n].score);
    RL_ONE(w, d->tuned_plan);
    w->failed |= d->tuned_plan > 1;
    if (w->failed)
        return;
    RL_MANY(w, d->played, d->played_count);
    serialize_agent(d, s, w);
    if (w->pass == RL_READ && !w->failed)
        play_again(s, d, w);
}

const struct search_ops search_dqn = {
    .start = dqn_start,
    .stop = dqn_stop,
    .step = dqn_step,
    .pins_changed = dqn_pins_changed,
    .serialize = dqn_serialize,
};
