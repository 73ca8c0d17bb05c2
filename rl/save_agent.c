#include "rl/save_agent.h"

#include "rl/action_set.h"
#include "rl/agent_state.h"
#include "rl/aligned.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/learner.h"
#include "rl/net.h"
#include "rl/replay.h"
#include "rl/settings.h"
#include "rl/twins.h"

#include <math.h>

enum { KIND_AGENT = 4, KIND_RUN = 5 }; /* others with every change of their walk */

void rl_settings_serialize(struct rl_serializer *w, struct rl_settings *s)
{
    static const size_t sizes[] = {
        [RL_KIND_WIDTHS] = sizeof s->hidden,
        [RL_KIND_COUNT] = sizeof(uint32_t),
        [RL_KIND_REAL] = sizeof(double),
    };

    for (const struct rl_setting *row = rl_setting_table; row->name; row++) {
        unsigned char *at = (unsigned char *)s + row->offset;
        if (row->kind == RL_KIND_SWITCH)
            rl_serialize_flag(w, (bool *)at);
        else
            rl_serialize_block(w, at, sizes[row->kind]);
    }
}

static void serialize_plan(struct rl_serializer *w, struct rl_agent *a)
{
    RL_ONE(w, a->shape.observation_size);
    RL_ONE(w, a->shape.action_count);
    RL_ONE(w, a->shape.context_count);
    rl_settings_serialize(w, &a->settings);
}

static void serialize_learner(struct rl_serializer *w, struct rl_learner *l)
{
    RL_MANY(w, l->online, l->net.parameters);
    RL_MANY(w, l->target, l->net.parameters);
    RL_MANY(w, l->adam.mean, l->net.parameters);
    RL_MANY(w, l->adam.square, l->net.parameters);
    RL_ONE(w, l->adam.step);
    RL_ONE(w, l->since_copy);
}

/* The best return known of a decision. Twins have the same, so their order does not matter. */
static void serialize_return(struct rl_serializer *w, struct rl_replay *r, uint32_t slot)
{
    const float *observation = r->observation + (size_t)slot * r->observation_size;
    float best = w->pass == RL_READ ? 0 : rl_twins_best(&r->twins, slot);

    RL_ONE(w, best);
    if (w->pass != RL_READ)
        return;
    w->failed |= isnan(best) || best == INFINITY;
    rl_twins_put(&r->twins, slot, rl_twins_key(observation, r->observation_size, r->action[slot]));
    rl_twins_raise(&r->twins, slot, best);
}

/* count and head come first, so that the reader knows how much follows. */
static void serialize_replay(struct rl_serializer *w, struct rl_replay *r)
{
    size_t floats = (size_t)r->count * r->observation_size;

    rl_serialize_sparse(w, r->observation, floats, r->observation_size);
    rl_serialize_sparse(w, r->next, floats, r->observation_size);
    RL_MANY(w, r->legal, (size_t)r->count * r->words);
    RL_MANY(w, r->next_legal, (size_t)r->count * r->words);
    RL_MANY(w, r->action, r->count);
    RL_MANY(w, r->drawn, r->count);
    RL_MANY(w, r->reward, r->count);
    RL_MANY(w, r->end, r->count);
    RL_MANY(w, r->priority, r->count);
    RL_ONE(w, r->largest);
    for (uint32_t slot = 0; slot < r->count; slot++)
        serialize_return(w, r, slot);
}

static void serialize_update(struct rl_serializer *w, struct rl_update *u)
{
    RL_ONE(w, u->loss);
    RL_ONE(w, u->error_mean);
    RL_ONE(w, u->error_max);
    RL_ONE(w, u->q_mean);
    RL_ONE(w, u->gradient_norm);
}

static void serialize_rest(struct rl_serializer *w, struct rl_agent *a)
{
    RL_ONE(w, a->act.s);
    RL_ONE(w, a->draw.s);
    RL_ONE(w, a->decisions);
    RL_ONE(w, a->explored);
    RL_ONE(w, a->episodes);
    RL_ONE(w, a->epsilon_origin);
    RL_ONE(w, a->epsilon_origin_episode);
    RL_ONE(w, a->held_epsilon);
    serialize_update(w, &a->last);
    RL_MANY(w, a->visits, (size_t)a->shape.context_count * a->shape.action_count);
}

static void serialize_agent(struct rl_serializer *w, struct rl_agent *a)
{
    serialize_plan(w, a);
    RL_ONE(w, a->replay.count);
    RL_ONE(w, a->replay.head);
    serialize_learner(w, &a->learner);
    serialize_replay(w, &a->replay);
    serialize_rest(w, a);
}

/* The walk takes pointers it may write through; measuring and writing it does not. */
static struct rl_agent *unlocked(const struct rl_agent *a)
{
    return (struct rl_agent *)(uintptr_t)a;
}

int rl_agent_save(const struct rl_agent *a, struct rl_bytes *out)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;

    serialize_agent(&measure, unlocked(a));
    int code = rl_bytes_open(out, measure.at, &w);
    if (code)
        return code;
    serialize_agent(&w, unlocked(a));
    rl_bytes_seal(out, KIND_AGENT);
    return RL_OK;
}

static bool row_is_sound(const struct rl_replay *r, uint32_t i)
{
    const uint64_t *legal = rl_set(r->legal, i, r->action_count);

    return r->action[i] < r->action_count && rl_has(legal, r->action[i]) &&
           rl_is_of(legal, r->action_count) &&
           rl_is_of(rl_set(r->next_legal, i, r->action_count), r->action_count) &&
           r->end[i] <= RL_TRUNCATED && isfinite(r->reward[i]) && isfinite(r->priority[i]) &&
           r->priority[i] > 0;
}

static bool is_sound(const struct rl_agent *a)
{
    const struct rl_learner *l = &a->learner;

    for (size_t i = 0; i < l->net.parameters; i++) {
        if (!isfinite(l->online[i]) || !isfinite(l->target[i]) || !isfinite(l->adam.mean[i]) ||
            !(l->adam.square[i] >= 0))
            return false;
    }
    for (uint32_t i = 0; i < a->replay.count; i++) {
        if (!row_is_sound(&a->replay, i))
            return false;
    }
    return isfinite(a->replay.largest) && a->replay.largest > 0 && a->held_epsilon <= 1 &&
           a->epsilon_origin <= a->decisions && a->epsilon_origin_episode <= a->episodes;
}

/* Whether the rest of the walk can hold what the plan promises, before memory is taken for it. */
static bool may_hold(const struct rl_serializer *w, const struct rl_agent *plan)
{
    struct rl_net net;

    if (rl_settings_check(&plan->settings, NULL) ||
        rl_net_init(&net, plan->shape.observation_size, plan->settings.hidden,
                    plan->shape.action_count))
        return false;
    uint64_t words = 4 * net.parameters + plan->replay.count +
                     2 * (uint64_t)plan->replay.count * net.width[0] / (2 * RL_SPARSE_MOST) +
                     (uint64_t)plan->shape.context_count * plan->shape.action_count;
    return words * 4 <= w->size - w->at;
}

/* What the file says of shapes and sizes, checked; then an agent to match. */
static int build_from(struct rl_serializer *w, struct rl_agent **out, struct rl_agent *plan)
{
    serialize_plan(w, plan);
    RL_ONE(w, plan->replay.count);
    RL_ONE(w, plan->replay.head);
    uint32_t capacity = plan->settings.replay_capacity, count = plan->replay.count;
    if (w->failed || !plan->shape.context_count || count > capacity || !may_hold(w, plan) ||
        plan->replay.head != (count < capacity ? count : plan->replay.head % capacity))
        return RL_E_FORMAT;
    int code = rl_agent_new(out, &plan->shape, &plan->settings, 0);
    return code == RL_E_SHAPE || code == RL_E_SETTING ? RL_E_FORMAT : code;
}

/* RL_E_FORMAT, RL_E_MEMORY. */
static int read_agent(struct rl_serializer *w, struct rl_agent **out)
{
    struct rl_agent plan = {0}, *a;
    int code = build_from(w, &a, &plan);

    *out = NULL;
    if (code)
        return code;
    a->replay.count = plan.replay.count;
    a->replay.head = plan.replay.head % a->replay.capacity;
    serialize_learner(w, &a->learner);
    serialize_replay(w, &a->replay);
    serialize_rest(w, a);
    if (w->failed || !is_sound(a)) {
        rl_agent_free(a);
        return RL_E_FORMAT;
    }
    a->replay.treed = false; /* the tree is a function of the priorities */
    a->replay.gamma = a->settings.gamma;
    rl_replay_follow(&a->replay, &a->settings);
    *out = a;
    return RL_OK;
}

void rl_agent_serialize(struct rl_serializer *w, struct rl_agent **a)
{
    if (w->pass != RL_READ)
        serialize_agent(w, *a);
    else if (w->failed || read_agent(w, a))
        w->failed = true;
}

int rl_agent_load(struct rl_agent **out, const void *data, size_t size)
{
    struct rl_serializer w;
    int code = rl_bytes_check(data, size, KIND_AGENT, &w);

    *out = NULL;
    if (!code)
        code = read_agent(&w, out);
    if (!code && w.at != w.size) {
        rl_agent_free(*out);
        *out = NULL;
        code = RL_E_FORMAT;
    }
    return code;
}

/* All of a run but its agent and the state of its environment. */
static void serialize_position(struct rl_serializer *w, struct rl_run *r)
{
    uint64_t state = r->env.state_size;

    RL_ONE(w, state);
    if (w->pass == RL_READ && state != r->env.state_size)
        w->failed = true;
    unsigned char playing = r->playing;
    RL_ONE(w, playing);
    r->playing = playing != 0;
    RL_ONE(w, r->rng.s);
    RL_MANY(w, r->now, r->env.observation_size);
    RL_MANY(w, r->legal, rl_words(r->env.action_count));
    RL_ONE(w, r->context);
    RL_ONE(w, r->length);
    RL_ONE(w, r->reward_sum);
}

static void serialize_run(struct rl_serializer *w, struct rl_run *r)
{
    serialize_position(w, r);
    rl_serialize_block(w, r->env.state, r->env.state_size);
}

/* Whether a decision can be taken there; between episodes the environment says where. */
static bool position_is_sound(const struct rl_run *r, uint32_t contexts)
{
    uint32_t n = r->env.action_count;

    return !r->playing || (rl_count(r->legal, n) && rl_is_of(r->legal, n) && r->context < contexts);
}

int rl_run_save(const struct rl_run *r, struct rl_bytes *out)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    struct rl_bytes agent;
    struct rl_run copy = *r;

    if (r->playing && !r->env.state)
        return RL_E_SHAPE;
    int code = rl_agent_save(r->agent, &agent);
    if (code)
        return code;
    serialize_run(&measure, &copy);
    code = rl_bytes_open(out, measure.at + agent.size, &w);
    if (!code) {
        serialize_run(&w, &copy);
        memcpy(w.data + w.at, agent.data, agent.size);
        rl_bytes_seal(out, KIND_RUN);
    }
    rl_bytes_release(&agent);
    return code;
}

int rl_run_load(struct rl_run *r, const void *data, size_t size)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    struct rl_agent *a;
    struct rl_run trial = *r;
    int code = rl_bytes_check(data, size, KIND_RUN, &w);

    if (code)
        return code;
    serialize_run(&measure, &trial);
    if (measure.at > w.size)
        return RL_E_FORMAT;
    code = rl_agent_load(&a, w.data + measure.at, w.size - measure.at);
    if (code)
        return code;
    const struct rl_shape *shape = rl_agent_shape(a);
    uint32_t contexts = r->env.context_count ? r->env.context_count : 1;
    uint64_t state = 0;
    memcpy(&state, w.data, sizeof state);
    if (state != r->env.state_size || shape->observation_size != r->env.observation_size ||
        shape->action_count != r->env.action_count || shape->context_count < contexts) {
        rl_agent_free(a);
        return RL_E_SHAPE;
    }
    trial.now = r->next; /* nothing is in it between decisions: `r` is as it was on an error */
    trial.next = r->now;
    serialize_position(&w, &trial);
    if (w.failed || !position_is_sound(&trial, contexts)) {
        rl_agent_free(a);
        return RL_E_FORMAT;
    }
    *r = trial;
    rl_serialize_block(&w, r->env.state, r->env.state_size);
    r->agent = a;
    return RL_OK;
}
