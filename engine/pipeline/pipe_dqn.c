/* The DQN at the pipeline game: one decision a step. */
#include "engine/pipeline/pipe_game.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipe_search_ops.h"
#include "engine/pipeline/space.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/run.h"
#include "rl/settings.h"

#include <string.h>

struct dqn {
    struct rl_run run; /* no agent: there is nothing to decide */
};

/* One candidate: nothing to decide. */
static bool is_decided(const struct pipe_search *s)
{
    return s->space.size == 1;
}

static int dqn_start(struct pipe_search *s, struct err *e)
{
    struct dqn *d = mem_try(1, sizeof *d);
    struct rl_env env = pipe_game_env(&s->game);
    int rc;

    s->self = d;
    if (!d)
        return err_no_memory(e, "for the learner");
    if (!s->options.rl_set)
        s->options.rl = *rl_preset(s->options.paper ? "paper-pp" : "rainbow-pp");
    if (is_decided(s))
        return 0;
    rc = rl_run_new(&d->run, &env, &s->options.rl, s->options.seed);
    return rc ? err_set(e, rc == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT,
                        "the learner cannot be made: %s", rl_error_text(rc))
              : 0;
}

static void dqn_stop(struct pipe_search *s)
{
    struct dqn *d = s->self;

    if (d)
        rl_run_free(&d->run);
    free(d);
}

static bool dqn_step(struct pipe_search *s, struct pipe_event *out)
{
    struct dqn *d = s->self;
    struct rl_step step;

    if (is_decided(s)) {
        struct pipe_plan only = {0};
        pipe_space_next(&s->space, &only);
        pipe_search_price(s, &only, out);
        s->done = s->proven = true;
        return true;
    }
    rl_run_ready(&d->run);
    out->cut = s->game.cut;
    out->updates = rl_run_step(&d->run, -1, &step);
    if (out->updates < 0) {
        s->done = true;
        return true;
    }
    out->updates = step.updates;
    out->update = step.update;
    out->offset = step.action;
    out->explored = step.explored;
    out->reward = step.reward;
    if (pipe_game_is_over(&s->game)) {
        s->goal.evaluations++;
        pipe_search_priced(s, &s->game.plan, s->game.length_ms, out);
    }
    return true;
}

struct rl_agent *pipe_search_agent(struct pipe_search *s)
{
    return s->options.algorithm == PIPE_SEARCH_DQN ? ((struct dqn *)s->self)->run.agent : NULL;
}

const struct pipe_search_ops pipe_ops_dqn = {
    .start = dqn_start, .stop = dqn_stop, .step = dqn_step};
