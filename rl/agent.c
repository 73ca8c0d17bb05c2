#include "rl/agent.h"

#include "rl/action_set.h"
#include "rl/agent_state.h"
#include "rl/aligned.h"
#include "rl/error.h"
#include "rl/net.h"
#include "rl/rng.h"
#include "rl/taught.h"
#include "rl/twins.h"

#include <math.h>

/* Arrays of a batch of `count` rows in one block. */
static int take_batch(struct rl_batch *b, void **block, uint32_t count,
                      const struct rl_shape *shape)
{
    uint32_t observation_size = shape->observation_size;
    size_t sets = (size_t)count * rl_words(shape->action_count);
    size_t n = count, rows = 2 * n * observation_size;
    size_t words = (rows + 15) / 16 * 16 + 4 * sets + 6 * ((n + 15) / 16 * 16);
    uint32_t *at = rl_alloc_raw(words, sizeof *at);
    size_t line = (n + 15) / 16 * 16;

    if (!at)
        return RL_E_MEMORY;
    free(*block);
    *block = at;
    b->count = count;
    b->rows = (float *)at;
    at += (rows + 15) / 16 * 16;
    b->legal = (uint64_t *)(void *)at;
    b->next_legal = b->legal + sets;
    at += 4 * sets;
    b->slot = at;
    b->action = at + line;
    b->reward = (float *)(at + 2 * line);
    b->discount = (float *)(at + 3 * line);
    b->weight = (float *)(at + 4 * line);
    b->bound = (float *)(at + 5 * line);
    return RL_OK;
}

static int check_shape(const struct rl_shape *shape)
{
    if (shape->observation_size < 1 || shape->observation_size > RL_OBSERVATION_MAX ||
        shape->action_count < 2 || shape->action_count > RL_ACTIONS_MAX ||
        shape->context_count > RL_CONTEXTS_MAX)
        return RL_E_SHAPE;
    return RL_OK;
}

static int build_agent(struct rl_agent *a, uint64_t seed)
{
    struct rl_rng init;

    rl_rng_seed(&init, seed, RL_STREAM_INIT);
    rl_rng_seed(&a->act, seed, RL_STREAM_ACT);
    rl_rng_seed(&a->draw, seed, RL_STREAM_DRAW);
    a->held_epsilon = -1;
    a->visits = rl_alloc((size_t)a->shape.context_count * a->shape.action_count, sizeof *a->visits);
    if (!a->visits)
        return RL_E_MEMORY;
    int code = rl_learner_init(&a->learner, a->shape.observation_size, a->shape.action_count,
                               &a->settings, &init);
    if (!code)
        code = rl_replay_init(&a->replay, a->settings.replay_capacity, a->shape.observation_size,
                              a->shape.action_count);
    if (!code)
        code = take_batch(&a->batch, &a->batch_block, a->settings.batch, &a->shape);
    if (!code)
        rl_replay_follow(&a->replay, &a->settings);
    return code;
}

int rl_agent_new(struct rl_agent **out, const struct rl_shape *shape, const struct rl_settings *s,
                 uint64_t seed)
{
    *out = NULL;
    int code = check_shape(shape);
    if (!code)
        code = rl_settings_check(s, NULL);
    if (code)
        return code;
    struct rl_agent *a = rl_alloc(1, sizeof *a);
    if (!a)
        return RL_E_MEMORY;
    a->shape = *shape;
    a->shape.context_count += !shape->context_count;
    a->settings = *s;
    code = build_agent(a, seed);
    if (code) {
        rl_agent_free(a);
        return code;
    }
    *out = a;
    return RL_OK;
}

void rl_agent_free(struct rl_agent *a)
{
    if (!a)
        return;
    rl_learner_release(&a->learner);
    rl_replay_release(&a->replay);
    free(a->batch_block);
    free(a->visits);
    free(a);
}

const struct rl_shape *rl_agent_shape(const struct rl_agent *a)
{
    return &a->shape;
}

const struct rl_settings *rl_agent_settings(const struct rl_agent *a)
{
    return &a->settings;
}

int rl_agent_configure(struct rl_agent *a, const struct rl_settings *s)
{
    int code = rl_settings_check(s, NULL);

    if (code)
        return code;
    if (s->replay_capacity != a->settings.replay_capacity ||
        memcmp(s->hidden, a->settings.hidden, sizeof s->hidden) != 0)
        return RL_E_SETTING;
    if (s->batch != a->settings.batch) {
        struct rl_batch batch;
        void *block = NULL;
        code = take_batch(&batch, &block, s->batch, &a->shape);
        if (!code)
            code = rl_learner_follow(&a->learner, s);
        if (code) {
            free(block);
            return code;
        }
        free(a->batch_block);
        a->batch_block = block;
        a->batch = batch;
    }
    code = rl_learner_follow(&a->learner, s);
    if (code)
        return code;
    rl_replay_follow(&a->replay, s);
    a->settings = *s;
    return RL_OK;
}

/* From start to end over `steps`, then end. */
static double ramp(double start, double end, uint64_t at, uint64_t steps)
{
    return at >= steps ? end : start + (end - start) * (double)at / (double)steps;
}

double rl_agent_epsilon(const struct rl_agent *a)
{
    const struct rl_settings *s = &a->settings;

    if (a->held_epsilon >= 0)
        return a->held_epsilon;
    bool in_episodes = s->epsilon_episodes > 0;
    return ramp(s->epsilon_start, s->epsilon_end,
                in_episodes ? a->episodes - a->epsilon_origin_episode
                            : a->decisions - a->epsilon_origin,
                in_episodes ? s->epsilon_episodes : s->epsilon_steps);
}

double rl_agent_beta(const struct rl_agent *a)
{
    const struct rl_settings *s = &a->settings;

    if (!s->beta_steps)
        return s->beta_start;
    return ramp(s->beta_start, s->beta_end, a->learner.adam.step, s->beta_steps);
}

int rl_agent_explore(struct rl_agent *a, double start, double end, uint32_t steps)
{
    if (!(start >= 0 && start <= 1 && end >= 0 && end <= 1))
        return RL_E_SETTING;
    a->settings.epsilon_start = start;
    a->settings.epsilon_end = end;
    a->settings.epsilon_steps = steps;
    a->settings.epsilon_episodes = 0;
    a->epsilon_origin = a->decisions;
    a->epsilon_origin_episode = a->episodes;
    return RL_OK;
}

void rl_agent_hold_epsilon(struct rl_agent *a, double epsilon)
{
    a->held_epsilon = epsilon >= 0 ? fmin(epsilon, 1) : -1;
}

/* The actions of the set that the agent has. */
static void keep_known(const struct rl_agent *a, const uint64_t *set, uint64_t *out)
{
    memcpy(out, set, rl_words(a->shape.action_count) * sizeof *out);
    rl_keep_actions(out, a->shape.action_count);
}

uint32_t rl_agent_choose(struct rl_agent *a, const float *observation, const uint64_t *set,
                         bool *explored)
{
    uint64_t legal[RL_WORDS_MAX];
    float q[RL_ACTIONS_MAX];
    a->dice = rl_rng_unit(&a->act);
    a->dice_epsilon = rl_agent_epsilon(a);
    bool random = a->random = a->dice < a->dice_epsilon;

    a->chosen = true;
    keep_known(a, set, legal);
    if (explored)
        *explored = random;
    if (random) {
        uint32_t count = rl_count(legal, a->shape.action_count);
        a->explored++;
        return rl_nth(legal, rl_rng_below(&a->act, count));
    }
    rl_learner_q(&a->learner, observation, legal, q);
    return rl_net_argmax(q, a->shape.action_count, legal);
}

/* ---- for a person who looks ---- */

void rl_agent_teach(struct rl_agent *a, struct rl_lesson *lesson)
{
    a->lesson = lesson;
    a->learner.taught = lesson ? lesson->row : NULL;
}

/* A decision that is about to be stored. */
static void teach_decision(struct rl_agent *a, const struct rl_decision *d, struct rl_lesson *l)
{
    *l = (struct rl_lesson){
        .decision = a->decisions + 1,
        .action = d->action,
        .chosen = a->chosen,
        .explored = a->chosen && a->random,
        .draw = a->dice,
        .epsilon = a->dice_epsilon,
        .reward = (double)d->reward,
        .end = d->end,
        .slot = a->replay.head,
        .priority = a->replay.largest,
    };
    memcpy(l->legal, d->legal, rl_words(a->shape.action_count) * sizeof *l->legal);
    rl_learner_q(&a->learner, d->observation, d->legal, l->q);
}

/* The batch as it was drawn, with the priorities it was drawn by. */
static void teach_sample(const struct rl_agent *a, double beta, struct rl_lesson *l)
{
    const struct rl_replay *r = &a->replay;

    l->beta = beta;
    l->batch = a->batch.count;
    l->rows = a->batch.count < RL_LESSON_ROWS ? a->batch.count : RL_LESSON_ROWS;
    for (uint32_t i = 0; i < l->rows; i++) {
        uint32_t slot = a->batch.slot[i];
        l->row[i] = (struct rl_lesson_row){
            .age = (r->head + r->capacity - 1 - slot) % r->capacity,
            .priority_before = r->priority[slot],
        };
    }
}

/* The rest of its rows the learner has filled. */
static void teach_update(const struct rl_agent *a, struct rl_lesson *l)
{
    l->update = a->learner.adam.step;
    l->figures = a->last;
    l->since_copy = a->learner.since_copy;
    for (uint32_t i = 0; i < l->rows; i++)
        l->row[i].priority = fabs((double)a->learner.error[i]) + a->settings.priority_floor;
}

int rl_agent_train(struct rl_agent *a, uint32_t updates, struct rl_update *u)
{
    int done = 0;

    for (; a->replay.count && (uint32_t)done < updates; done++) {
        double beta = rl_agent_beta(a);
        rl_replay_draw(&a->replay, &a->settings, beta, &a->draw, &a->batch);
        if (a->lesson)
            teach_sample(a, beta, a->lesson);
        int code = rl_learner_update(&a->learner, &a->settings, &a->batch, &a->last);
        if (code)
            return code;
        if (a->lesson)
            teach_update(a, a->lesson);
        rl_replay_learned(&a->replay, &a->settings, &a->batch, a->learner.error);
    }
    if (u)
        *u = a->last;
    return done;
}

static bool is_sound(const struct rl_agent *a, const struct rl_decision *d, uint32_t context)
{
    uint32_t n = a->shape.action_count;

    return d->action < n && rl_has(d->legal, d->action) && rl_is_of(d->legal, n) &&
           (d->end == RL_TERMINATED || rl_is_of(d->next_legal, n)) && isfinite(d->reward) &&
           context < a->shape.context_count;
}

int rl_agent_learn(struct rl_agent *a, const struct rl_decision *d, uint32_t context,
                   struct rl_update *u)
{
    const struct rl_settings *s = &a->settings;

    if (!is_sound(a, d, context))
        return RL_E_SHAPE;
    if (a->lesson)
        teach_decision(a, d, a->lesson);
    a->chosen = false;
    rl_replay_push(&a->replay, d);
    if (a->lesson)
        a->lesson->kept = a->replay.count;
    a->visits[(size_t)context * a->shape.action_count + d->action]++;
    a->decisions++;
    a->episodes += d->end != RL_GOES_ON;
    if (a->decisions < s->learn_start || a->decisions % s->train_every)
        return 0;
    int done = rl_agent_train(a, s->updates_per_train, u);
    if (a->lesson)
        a->lesson->updates = done;
    return done;
}

int rl_agent_remember(struct rl_agent *a, const struct rl_decision *d)
{
    if (!is_sound(a, d, 0))
        return RL_E_SHAPE;
    rl_replay_push(&a->replay, d);
    return RL_OK;
}

void rl_agent_cut(struct rl_agent *a)
{
    rl_replay_cut(&a->replay);
}

void rl_agent_q(struct rl_agent *a, const float *observation, const uint64_t *set, float *q)
{
    uint64_t legal[RL_WORDS_MAX];

    keep_known(a, set, legal);
    rl_learner_q(&a->learner, observation, legal, q);
}

struct rl_counts rl_agent_counts(const struct rl_agent *a)
{
    return (struct rl_counts){
        .decisions = a->decisions,
        .explored = a->explored,
        .episodes = a->episodes,
        .updates = a->learner.adam.step,
        .since_copy = a->learner.since_copy,
    };
}

const struct rl_update *rl_agent_last_update(const struct rl_agent *a)
{
    return &a->last;
}

const float *rl_agent_parameters(const struct rl_agent *a)
{
    return a->learner.online;
}

const uint32_t *rl_agent_visits(const struct rl_agent *a, uint32_t context)
{
    return a->visits + (size_t)context * a->shape.action_count;
}

const struct rl_replay *rl_agent_replay(const struct rl_agent *a)
{
    return &a->replay;
}

void rl_agent_forget(struct rl_agent *a)
{
    struct rl_replay *r = &a->replay;

    r->count = r->head = 0;
    r->largest = 1;
    r->treed = false;
    rl_twins_clear(&r->twins);
    memset(r->tree.node, 0, 2 * (size_t)r->tree.size * sizeof *r->tree.node);
    rl_replay_follow(r, &a->settings);
}
