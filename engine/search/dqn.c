/* The DQN at the game: one decision a step, fine-tuning when stage 1 is stable (Auto-MAP 4.1). */
#include "engine/search/search_ops.h"

#include <math.h>
#include <string.h>

enum {
    BACKTRACK_DECISIONS = 400, /* over which the raised exploration of a backtrack fades */
    TUNING_TRIES = 8           /* of every group, in stage 2, before it ends without gain */
};
#define BACKTRACK_EPSILON 0.2
/* In stage 2 an episode is the few decisions of one group: half of them are tried at random, so
 * that in 8 tries each of the last single dims is split once with probability 0.9. With the end of
 * the schedule (0.1) and one try, T5-3B unfolded stopped at 228.8 of 229.7 in both seeds tried;
 * with these it ends at 229.7 in both, after 2.4 s. */
#define TUNING_EPSILON 0.5

struct dqn {
    struct rl_agent *agent;
    float *now, *next;     /* observations */
    bool tuning;           /* stage 2: episodes start from the best plan, one group set back */
    uint32_t tuned_move;   /* whose group this episode set back */
    uint32_t without_gain; /* fine-tuning episodes in a row that found nothing */
    /* The episode so far, for search_serialize: how it began and what was played. */
    uint32_t from_move; /* set back from from_on; UINT32_MAX: it began with all open */
    label *from_on;     /* [classes] */
    uint8_t *played;    /* [moves]; played_count */
    uint32_t played_count;
};

const struct rl_settings *search_preset(const struct game_options *o)
{
    if (o->reward == GAME_REWARD_PAPER)
        return rl_preset(o->kind == GAME_ADP ? "paper-adp" : "paper-opp");
    return rl_preset("planner");
}

static int dqn_start(struct search *s, struct err *e)
{
    struct dqn *d = mem_try(1, sizeof *d);
    struct rl_shape shape = {
        .observation_size = game_observation_size(&s->game),
        .action_count = 2,
        .context_count = s->game.move_count ? s->game.move_count : 1,
    };

    s->self = d;
    if (!d)
        return err_no_memory(e, "for the learner");
    if (!s->options.rl_set)
        s->options.rl = *search_preset(&s->options.game);
    d->now = mem_try(shape.observation_size, sizeof *d->now);
    d->next = mem_try(shape.observation_size, sizeof *d->next);
    d->from_on = mem_try(s->game.problem->classes.count, sizeof *d->from_on);
    d->played = mem_try(s->game.move_count, sizeof *d->played);
    d->from_move = UINT32_MAX;
    if (!d->now || !d->next || !d->from_on || !d->played)
        return err_no_memory(e, "for the learner");
    int rc = rl_agent_new(&d->agent, &shape, &s->options.rl, s->options.seed);
    if (rc)
        return err_set(e, rc == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT,
                       "the learner cannot be made: %s", rl_error_text(rc));
    game_observe(&s->game, d->now);
    return 0;
}

static void dqn_stop(struct search *s)
{
    struct dqn *d = s->self;

    rl_agent_free(d->agent);
    free(d->now);
    free(d->next);
    free(d->from_on);
    free(d->played);
    free(d);
    s->self = NULL;
}

/* The next move that the best plan leaves whole and that is open without pins: round robin. */
static bool next_tuned_move(const struct search *s, struct dqn *d)
{
    const struct game *g = &s->game;

    for (uint32_t n = 1; n <= g->move_count; n++) {
        uint32_t move = (d->tuned_move + n) % g->move_count;
        const struct game_move *m = &g->moves[move];
        if (!(s->best.on[g->pool[m->classes]] >> m->axis & 1)) {
            d->tuned_move = move;
            return true;
        }
    }
    return false;
}

static void set_tuning(struct dqn *d, bool on)
{
    d->tuning = on;
    d->without_gain = 0;
    rl_agent_hold_epsilon(d->agent, on ? TUNING_EPSILON : -1);
}

/* An episode begins with all open, or with a move's group set back from `on`. */
static void reset_game(struct search *s, struct dqn *d, const label *on, uint32_t move)
{
    d->played_count = 0;
    d->from_move = on ? move : UINT32_MAX;
    if (on) {
        memmove(d->from_on, on, s->game.problem->classes.count * sizeof *on);
        game_reset_from(&s->game, on, move);
    } else {
        game_reset(&s->game);
    }
    game_observe(&s->game, d->now);
}

/* Stage 1 is stable when so many episodes brought nothing better and exploration has come down to
 * its end; stage 2 goes on until every group was set back 8 times without gain. */
static void begin_episode(struct search *s, struct dqn *d)
{
    bool stable = s->since_better >= s->options.stable_episodes && isfinite(s->best.score) &&
                  rl_agent_epsilon(d->agent) <= s->options.rl.epsilon_end + 1e-9;

    if (!d->tuning && stable) {
        set_tuning(d, true);
    } else if (d->tuning && d->without_gain > TUNING_TRIES * s->game.move_count) {
        set_tuning(d, false);
        s->since_better = 0;
        s->rounds++;
    }
    bool tunes = d->tuning && next_tuned_move(s, d);
    reset_game(s, d, tunes ? s->best.on : NULL, d->tuned_move);
}

static bool play(struct search *s, struct dqn *d, int forced, struct search_event *out)
{
    struct game *g = &s->game;
    struct rl_decision decision = {.observation = d->now, .next = d->next, .legal = game_legal(g)};
    uint32_t position = g->position;

    decision.action = forced >= 0
                          ? (uint32_t)forced
                          : rl_agent_choose(d->agent, d->now, decision.legal, &out->explored);
    if (!(decision.legal >> decision.action & 1))
        return false;
    out->move = position;
    out->split = decision.action == 1;
    d->played[d->played_count++] = out->split;
    out->reward = game_play(g, out->split);
    decision.reward = (float)out->reward;
    decision.end = game_is_over(g) ? RL_TERMINATED : RL_GOES_ON;
    decision.next_legal = game_is_over(g) ? 3 : game_legal(g);
    game_observe(g, d->next);
    out->updates = rl_agent_learn(d->agent, &decision, position, &out->update);
    memcpy(d->now, d->next, game_observation_size(g) * sizeof *d->now);
    return true;
}

static void end_episode(struct search *s, struct dqn *d, struct search_event *out)
{
    out->fine_tuning = d->tuning;
    search_ended(s, s->game.state.on, s->game.conflict, out);
    if (d->tuning)
        d->without_gain = out->improved ? 0 : d->without_gain + 1;
}

static bool step(struct search *s, int forced, struct search_event *out)
{
    struct dqn *d = s->self;

    if (game_is_over(&s->game))
        begin_episode(s, d);
    if (game_is_over(&s->game)) { /* everything is pinned or settled: one plan, no decision */
        end_episode(s, d, out);
        s->done = true;
        return true;
    }
    if (!play(s, d, forced, out))
        return false;
    if (out->updates < 0) {
        s->done = true;
        return true;
    }
    if (game_is_over(&s->game))
        end_episode(s, d, out);
    return true;
}

static bool dqn_step(struct search *s, struct search_event *out)
{
    return step(s, -1, out);
}

static void dqn_pins_changed(struct search *s)
{
    struct dqn *d = s->self;

    rl_agent_cut(d->agent);
    rl_agent_forget(d->agent); /* its rewards were earned under other pins */
    set_tuning(d, false);
    reset_game(s, d, NULL, 0);
}

void search_dqn_backtrack(struct search *s, uint32_t move)
{
    struct dqn *d = s->self;

    rl_agent_cut(d->agent);
    set_tuning(d, false);
    reset_game(s, d, isfinite(s->best.score) ? s->best.on : NULL, move);
    if (rl_agent_epsilon(d->agent) < BACKTRACK_EPSILON &&
        rl_agent_explore(d->agent, BACKTRACK_EPSILON, s->options.rl.epsilon_end,
                         BACKTRACK_DECISIONS) == 0)
        s->options.rl = *rl_agent_settings(d->agent);
    s->since_better = 0;
}

bool search_dqn_force(struct search *s, bool split, struct search_event *out)
{
    return step(s, split, out);
}

bool search_dqn_configure(struct search *s, const struct rl_settings *rl)
{
    return rl_agent_configure(((struct dqn *)s->self)->agent, rl) == 0;
}

struct rl_agent *search_dqn_agent(struct search *s)
{
    return ((struct dqn *)s->self)->agent;
}

bool search_dqn_q(struct search *s, float q[2])
{
    struct dqn *d = s->self;

    rl_agent_q(d->agent, d->now, game_legal(&s->game), q);
    return true;
}

/* The game again as it stands, by playing the episode again. */
static void play_again(struct search *s, struct dqn *d, struct rl_serializer *w)
{
    const struct game *g = &s->game;
    uint32_t count = d->played_count;

    reset_game(s, d, d->from_move == UINT32_MAX ? NULL : d->from_on, d->from_move);
    for (uint32_t n = 0; n < count && !w->failed; n++) {
        if (game_is_over(g) || d->played[n] > 1 || !(game_legal(g) >> d->played[n] & 1))
            w->failed = true;
        else
            game_play(&s->game, d->played[n]);
    }
    d->played_count = count;
    game_observe(g, d->now);
}

static bool is_agent_for(const struct rl_agent *a, const struct game *g)
{
    const struct rl_shape *shape = rl_agent_shape(a);

    return shape->observation_size == game_observation_size(g) && shape->action_count == 2 &&
           shape->context_count == (g->move_count ? g->move_count : 1);
}

static void serialize_agent(struct dqn *d, const struct search *s, struct rl_serializer *w)
{
    struct rl_agent *a = d->agent;

    rl_agent_serialize(w, &a);
    if (w->failed || w->pass != RL_READ)
        return;
    rl_agent_free(d->agent);
    d->agent = a;
    w->failed = !is_agent_for(a, &s->game);
}

static void dqn_serialize(struct search *s, struct rl_serializer *w)
{
    struct dqn *d = s->self;

    rl_serialize_flag(w, &d->tuning);
    RL_ONE(w, d->tuned_move);
    RL_ONE(w, d->without_gain);
    RL_ONE(w, d->from_move);
    RL_ONE(w, d->played_count);
    bool sound = d->played_count <= s->game.move_count &&
                 (d->tuned_move < s->game.move_count || !d->tuned_move) &&
                 (d->from_move < s->game.move_count || d->from_move == UINT32_MAX);
    w->failed |= !sound;
    if (w->failed || !search_serialize_labels(s, w, d->from_on))
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
