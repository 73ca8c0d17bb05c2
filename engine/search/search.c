#include "engine/search/search.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/search/dqn_replay.h"
#include "engine/search/game.h"
#include "engine/search/search_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/agent_state.h"
#include "rl/serialize.h"
#include "rl/settings.h"

#include <math.h>
#include <string.h>

const char *const search_names[SEARCH_ALGORITHM_COUNT] = {
#define X(id, name, summary) name,
    SEARCH_ALGORITHMS(X)
#undef X
};

static const struct search_ops *const ops_of[SEARCH_ALGORITHM_COUNT] = {
    [SEARCH_DQN] = &search_dqn,       [SEARCH_RANDOM] = &search_random,
    [SEARCH_GREEDY] = &search_greedy, [SEARCH_ENUMERATE] = &search_enumerate,
    [SEARCH_ANNEAL] = &search_anneal, [SEARCH_EXACT] = &search_exact,
    [SEARCH_TRWS] = &search_trws,
};

static void consider_baseline(struct search *s);

int search_new(const struct problem *p, const struct search_options *o, struct search **out,
               struct err *e)
{
    struct search *s = mem_try(1, sizeof *s);
    int rc;

    if (!s)
        return err_no_memory(e, "for the search");
    s->options = *o;
    s->ops = ops_of[o->algorithm];
    s->stop = p->stop;
    s->best.score = s->shelved.score = -INFINITY;
    if (!s->options.stable_episodes)
        s->options.stable_episodes = 60;
    if (!s->options.anneal_steps)
        s->options.anneal_steps = 20000;
    rc = game_new(p, &o->game, &s->game, e);
    if (rc)
        goto out;
    s->best.on = mem_try(p->classes.count, sizeof *s->best.on);
    s->shelved.on = mem_try(p->classes.count, sizeof *s->shelved.on);
    if (s->best.on && s->shelved.on)
        consider_baseline(s);
    else
        rc = err_no_memory(e, "for the search");
    if (rc)
        goto out;
    rc = s->ops->start(s, e);
out:
    if (rc)
        search_free(s);
    else
        *out = s;
    return rc;
}

void search_set_stop(struct search *s, const atomic_bool *stop)
{
    s->stop = stop;
}

void search_free(struct search *s)
{
    if (!s)
        return;
    if (s->self)
        s->ops->stop(s);
    game_release(&s->game);
    free(s->best.on);
    free(s->shelved.on);
    free(s);
}

void search_ready(struct search *s)
{
    if (!s->done && s->options.algorithm == SEARCH_DQN)
        search_dqn_ready(s);
}

bool search_step(struct search *s, struct search_event *out)
{
    memset(out, 0, sizeof *out);
    out->move = UINT32_MAX;
    return !s->done && s->ops->step(s, out);
}

/* Two plans are told apart only when they differ by more than rounding of sums. */
static bool is_better(double score, double best)
{
    return score > best + 1e-12 * (1 + fabs(best)) || (isfinite(score) && !isfinite(best));
}

static void take_best(struct search *s, const label *on, double score, const struct step_cost *cost)
{
    memcpy(s->best.on, on, s->game.problem->classes.count * sizeof *on);
    s->best.score = score;
    s->best.cost = *cost;
    s->best.episode = s->episodes;
    s->best.evaluation = s->evaluations;
    s->best.fine_tuning = s->best.baseline = false;
}

void search_ended(struct search *s, const label *on, bool conflict, struct search_event *out)
{
    struct step_cost cost;
    double score = game_score_of(&s->game, on, &cost);

    out->ended = true;
    out->conflict = conflict;
    out->score = score;
    out->step_ms = cost.step_ms;
    s->episodes++;
    s->evaluations++;
    s->conflicts += conflict;
    s->since_better++;
    if (conflict || !is_better(score, s->best.score))
        return;
    out->improved = true;
    s->since_better = 0;
    take_best(s, on, score, &cost);
    s->best.fine_tuning = out->fine_tuning;
}

/* Doing nothing is a candidate: everything whole but the pins. The game is at its first position.
 */
static void consider_baseline(struct search *s)
{
    struct step_cost cost;
    double score = game_score_of(&s->game, s->game.state.on, &cost);

    if (is_better(score, s->best.score))
        take_best(s, s->game.state.on, score, &cost);
    s->best.baseline =
        !memcmp(s->best.on, s->game.state.on, s->game.problem->classes.count * sizeof *s->best.on);
}

bool search_offer(struct search *s, const label *on)
{
    struct step_cost cost;
    double score = game_score_of(&s->game, on, &cost);
    bool better = is_better(score, s->best.score);

    if (better)
        take_best(s, on, score, &cost);
    return better;
}

const struct game *search_game(const struct search *s)
{
    return &s->game;
}

const struct search_best *search_best(const struct search *s)
{
    return &s->best;
}

const struct search_options *search_options(const struct search *s)
{
    return &s->options;
}

uint64_t search_episodes(const struct search *s)
{
    return s->episodes;
}

uint64_t search_evaluations(const struct search *s)
{
    return s->evaluations;
}

uint64_t search_conflicts(const struct search *s)
{
    return s->conflicts;
}

uint32_t search_rounds(const struct search *s)
{
    return s->rounds;
}

bool search_is_done(const struct search *s)
{
    return s->done;
}

bool search_is_cut(const struct search *s)
{
    return s->is_cut;
}

bool search_lacks_memory(const struct search *s)
{
    return s->no_memory;
}

bool search_is_proven(const struct search *s)
{
    return s->proven;
}

static void copy_best(const struct search *s, struct search_best *to,
                      const struct search_best *from)
{
    label *on = to->on;

    memcpy(on, from->on, s->game.problem->classes.count * sizeof *on);
    *to = *from;
    to->on = on;
}

/* New pins: a best plan that breaks them is shelved, and the shelved one taken back where it keeps
 * them. */
static void repin_best(struct search *s)
{
    struct search_best *best = &s->best, *shelved = &s->shelved;

    if (isfinite(best->score) && game_keeps_pins(&s->game, best->on)) {
        best->score = game_score_of(&s->game, best->on, &best->cost);
    } else if (isfinite(best->score)) {
        if (is_better(best->score, shelved->score))
            copy_best(s, shelved, best);
        best->score = -INFINITY;
    }
    if (!isfinite(shelved->score) || !game_keeps_pins(&s->game, shelved->on))
        return;
    shelved->score = game_score_of(&s->game, shelved->on, &shelved->cost);
    if (is_better(shelved->score, best->score))
        copy_best(s, best, shelved);
    shelved->score = -INFINITY;
}

/* Whether these are the pins in force: then nothing changes, and nothing starts over. */
static bool has_pins(const struct search *s, const struct game_pin *pins, size_t count)
{
    const struct game *g = &s->game;

    if (count != g->pin_count)
        return false;
    for (size_t n = 0; n < count; n++) {
        if (pins[n].class != g->pins[n].class || pins[n].axis != g->pins[n].axis ||
            pins[n].split != g->pins[n].split)
            return false;
    }
    return true;
}

int search_set_pins(struct search *s, const struct game_pin *pins, size_t count,
                    struct strict_clash *clash, struct err *e)
{
    if (has_pins(s, pins, count))
        return 0;
    int rc = game_set_pins(&s->game, pins, count, clash, e);
    if (rc)
        return rc;
    repin_best(s);
    consider_baseline(s);
    s->since_better = 0;
    s->done = s->proven = false;
    s->ops->pins_changed(s);
    return 0;
}

void search_backtrack(struct search *s, uint32_t move)
{
    if (s->options.algorithm == SEARCH_DQN)
        search_dqn_backtrack(s, move);
    else
        s->ops->pins_changed(s);
}

bool search_force(struct search *s, bool split, struct search_event *out)
{
    memset(out, 0, sizeof *out);
    out->move = UINT32_MAX;
    return s->options.algorithm == SEARCH_DQN && search_dqn_force(s, split, out);
}

bool search_configure(struct search *s, const struct rl_settings *rl)
{
    if (s->options.algorithm == SEARCH_DQN && !search_dqn_configure(s, rl))
        return false;
    s->options.rl = *rl;
    return true;
}

struct rl_agent *search_agent(struct search *s)
{
    return s->options.algorithm == SEARCH_DQN ? search_dqn_agent(s) : NULL;
}

bool search_q(struct search *s, float q[2])
{
    return s->options.algorithm == SEARCH_DQN && !game_is_over(&s->game) && search_dqn_q(s, q);
}

double search_greedy_plan(struct search *s, label *on)
{
    return s->options.algorithm == SEARCH_DQN ? search_dqn_greedy(s, on) : -INFINITY;
}

struct dqn_replay_note search_kept(const struct search *s)
{
    return s->options.algorithm == SEARCH_DQN ? search_dqn_kept(s) : (struct dqn_replay_note){0};
}

/* Labels that a walk read: none beyond the mesh's axes. */
bool search_serialize_labels(const struct search *s, struct rl_serializer *w, label *on)
{
    const struct problem *p = s->game.problem;

    RL_MANY(w, on, p->classes.count);
    for (class_id k = 0; w->pass == RL_READ && k < p->classes.count; k++)
        w->failed |= on[k] >= p->labels.count;
    return !w->failed;
}

void search_options_preset(struct search_options *o, bool paper)
{
    o->paper = paper;
    o->rl_set = false;
    o->continuous = false;
    o->game.reward = paper ? GAME_REWARD_PAPER : GAME_REWARD_COST;
    o->game.weak = o->game.paper_state = o->game.paper_candidates = paper;
    o->game.no_folding = false;
}

static bool is_limit(double bytes)
{
    return bytes == 0 || bytes == MEMORY_LIMIT_DEVICE || (bytes >= 1 && isfinite(bytes));
}

static bool is_flag(const bool *at)
{
    unsigned char byte;

    memcpy(&byte, at, 1);
    return byte <= 1;
}

bool search_options_are_sound(const struct search_options *o)
{
    bool sound = o->algorithm < SEARCH_ALGORITHM_COUNT && o->game.kind <= GAME_ALL &&
                 o->game.reward <= GAME_REWARD_PAPER && is_flag(&o->game.no_folding) &&
                 is_flag(&o->game.weak) && is_flag(&o->game.paper_state) &&
                 is_flag(&o->game.paper_candidates) && is_limit(o->game.memory_limit) &&
                 is_flag(&o->rl_set) && is_flag(&o->paper) && o->anneal_steps;

    for (const struct rl_setting *row = rl_setting_table; row->name && sound; row++) {
        const void *at = (const unsigned char *)&o->rl + row->offset;
        sound = row->kind != RL_KIND_SWITCH || is_flag(at);
    }
    return sound;
}

static void serialize_game_options(struct rl_serializer *w, struct game_options *o)
{
    uint32_t kind = o->kind, reward = o->reward;

    RL_ONE(w, o->memory_limit);
    RL_ONE(w, kind);
    RL_ONE(w, reward);
    rl_serialize_flag(w, &o->no_folding);
    rl_serialize_flag(w, &o->weak);
    rl_serialize_flag(w, &o->paper_state);
    rl_serialize_flag(w, &o->paper_candidates);
    w->failed |= kind > GAME_ALL || reward > GAME_REWARD_PAPER;
    o->kind = w->failed ? o->kind : (enum game_kind)kind;
    o->reward = w->failed ? o->reward : (enum game_reward)reward;
}

void search_options_serialize(struct rl_serializer *w, struct search_options *o)
{
    uint32_t algorithm = o->algorithm;

    RL_ONE(w, algorithm);
    w->failed |= algorithm >= SEARCH_ALGORITHM_COUNT;
    o->algorithm = w->failed ? o->algorithm : (enum search_algorithm)algorithm;
    serialize_game_options(w, &o->game);
    rl_settings_serialize(w, &o->rl);
    rl_serialize_flag(w, &o->rl_set);
    rl_serialize_flag(w, &o->paper);
    RL_ONE(w, o->seed);
    RL_ONE(w, o->stable_episodes);
    RL_ONE(w, o->anneal_steps);
    rl_serialize_flag(w, &o->continuous);
}

void step_cost_serialize(struct rl_serializer *w, struct step_cost *c)
{
    RL_ONE(w, c->step_ms);
    RL_ONE(w, c->compute_ms);
    RL_ONE(w, c->communication_ms);
    RL_ONE(w, c->beside_ms);
}

/* Those of the learner may have changed since the search was made; the rest is as it was. */
static void serialize_options(struct search *s, struct rl_serializer *w)
{
    struct search_options o = s->options;

    search_options_serialize(w, &o);
    w->failed |= !search_options_are_sound(&o) || o.algorithm != s->options.algorithm ||
                 !game_options_equal(&o.game, &s->options.game);
    if (!w->failed)
        s->options = o;
}

static void serialize_best(struct search *s, struct rl_serializer *w, struct search_best *b)
{
    search_serialize_labels(s, w, b->on);
    RL_ONE(w, b->score);
    step_cost_serialize(w, &b->cost);
    RL_ONE(w, b->episode);
    RL_ONE(w, b->evaluation);
    rl_serialize_flag(w, &b->fine_tuning);
    rl_serialize_flag(w, &b->baseline);
}

bool search_serialize(struct search *s, struct rl_serializer *w)
{
    if (!s->ops->serialize)
        return false;
    serialize_options(s, w);
    serialize_best(s, w, &s->best);
    serialize_best(s, w, &s->shelved);
    RL_ONE(w, s->episodes);
    RL_ONE(w, s->evaluations);
    RL_ONE(w, s->conflicts);
    RL_ONE(w, s->since_better);
    RL_ONE(w, s->rounds);
    rl_serialize_flag(w, &s->done);
    rl_serialize_flag(w, &s->proven);
    if (!w->failed)
        s->ops->serialize(s, w);
    RL_ONE(w, s->game.decisions);
    return true;
}
