#include "rl/run.h"

#include "rl/action_set.h"
#include "rl/agent_state.h"
#include "rl/aligned.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/net.h"
#include "rl/replay.h"
#include "rl/rng.h"

static void legal_now(const struct rl_env *env, uint64_t *out)
{
    rl_put_all(out, env->action_count);
    if (env->legal)
        env->legal(env->self, out);
    rl_keep_actions(out, env->action_count);
}

int rl_run_init(struct rl_run *r, const struct rl_env *env, struct rl_agent *agent, uint64_t seed)
{
    const struct rl_shape *shape = rl_agent_shape(agent);
    uint32_t contexts = env->context_count ? env->context_count : 1;

    *r = (struct rl_run){.env = *env, .agent = agent};
    if (env->observation_size != shape->observation_size ||
        env->action_count != shape->action_count || contexts > shape->context_count)
        return RL_E_SHAPE;
    r->now = rl_alloc(env->observation_size, sizeof *r->now);
    r->next = rl_alloc(env->observation_size, sizeof *r->next);
    if (!r->now || !r->next) {
        rl_run_release(r);
        return RL_E_MEMORY;
    }
    rl_rng_seed(&r->rng, seed, RL_STREAM_ENV);
    return RL_OK;
}

void rl_run_release(struct rl_run *r)
{
    free(r->now);
    free(r->next);
    *r = (struct rl_run){0};
}

int rl_run_new(struct rl_run *r, const struct rl_env *env, const struct rl_settings *settings,
               uint64_t seed)
{
    struct rl_shape shape = {env->observation_size, env->action_count, env->context_count};
    struct rl_agent *agent = NULL;

    *r = (struct rl_run){0};
    int rc = rl_agent_new(&agent, &shape, settings, seed);
    if (rc)
        return rc;
    rc = rl_run_init(r, env, agent, seed);
    if (rc) {
        rl_agent_free(agent);
        *r = (struct rl_run){0};
    }
    return rc;
}

void rl_run_free(struct rl_run *r)
{
    struct rl_agent *agent = r->agent;

    rl_run_release(r);
    rl_agent_free(agent);
}

static void look_at_run(struct rl_run *r)
{
    legal_now(&r->env, r->legal);
    r->context = r->env.context ? r->env.context(r->env.self) : 0;
}

void rl_run_go_on(struct rl_run *r, uint32_t length, double reward_sum)
{
    r->env.observe(r->env.self, r->now);
    look_at_run(r);
    r->playing = true;
    r->length = length;
    r->reward_sum = reward_sum;
}

void rl_run_ready(struct rl_run *r)
{
    if (r->playing)
        return;
    r->env.reset(r->env.self, &r->rng);
    rl_run_go_on(r, 0, 0);
}

/* Takes the decision over: learns from it, and moves on to the next position. */
static int absorb(struct rl_run *r, struct rl_step *out)
{
    uint64_t next_legal[RL_WORDS_MAX] = {0};

    if (out->end != RL_TERMINATED)
        legal_now(&r->env, next_legal);
    struct rl_decision d = {
        .observation = r->now,
        .next = r->next,
        .legal = r->legal,
        .next_legal = next_legal,
        .action = out->action,
        .reward = out->reward,
        .end = out->end,
    };

    out->length = ++r->length;
    out->reward_sum = r->reward_sum += (double)out->reward;
    out->updates = rl_agent_learn(r->agent, &d, r->context, &out->update);
    float *swap = r->now;
    r->now = r->next;
    r->next = swap;
    r->playing = out->end == RL_GOES_ON;
    if (r->playing)
        look_at_run(r);
    return out->updates < 0 ? out->updates : RL_OK;
}

int rl_run_step(struct rl_run *r, int forced, struct rl_step *out)
{
    *out = (struct rl_step){.forced = forced >= 0};
    rl_run_ready(r);
    if (forced >= (int)r->env.action_count || (forced >= 0 && !rl_has(r->legal, (uint32_t)forced)))
        return RL_E_SHAPE;
    out->action = forced >= 0 ? (uint32_t)forced
                              : rl_agent_choose(r->agent, r->now, r->legal, &out->explored);
    struct rl_outcome outcome = r->env.step(r->env.self, out->action, &r->rng);
    r->env.observe(r->env.self, r->next);
    out->reward = outcome.reward;
    out->end = outcome.end;
    return absorb(r, out);
}

int rl_run_episode(struct rl_run *r, uint32_t most, struct rl_step *out)
{
    int code = RL_OK;

    *out = (struct rl_step){0};
    for (uint32_t i = 0; i < most && !code && out->end == RL_GOES_ON; i++)
        code = rl_run_step(r, -1, out);
    return code;
}

void rl_run_cut(struct rl_run *r)
{
    if (r->playing && r->length)
        rl_agent_cut(r->agent);
    r->playing = false;
}

static uint32_t trial_action(struct rl_agent *a, const float *now, const uint64_t *legal,
                             double epsilon, struct rl_rng *rng)
{
    float q[RL_ACTIONS_MAX];

    if (epsilon > 0 && rl_rng_unit(rng) < epsilon)
        return rl_nth(legal, rl_rng_below(rng, rl_count(legal, rl_agent_shape(a)->action_count)));
    rl_agent_q(a, now, legal, q);
    return rl_net_argmax(q, rl_agent_shape(a)->action_count, legal);
}

int rl_run_trial(struct rl_agent *a, const struct rl_env *env, double epsilon, struct rl_rng *rng,
                 double *reward_sum)
{
    struct rl_outcome o = {.end = RL_GOES_ON};
    uint64_t legal[RL_WORDS_MAX];
    float *now = rl_alloc(env->observation_size, sizeof *now);

    if (!now)
        return RL_E_MEMORY;
    *reward_sum = 0;
    env->reset(env->self, rng);
    while (o.end == RL_GOES_ON) {
        env->observe(env->self, now);
        legal_now(env, legal);
        o = env->step(env->self, trial_action(a, now, legal, epsilon, rng), rng);
        *reward_sum += (double)o.reward;
    }
    free(now);
    return RL_OK;
}
