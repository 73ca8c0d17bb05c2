/* The DQN at the game of hybrid plans: one decision a step. */
#include "engine/hybrid/hybrid_game.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/hybrid/hybrid_search_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/run.h"
#include "rl/settings.h"

static const char MEMORY_FOR[] = "for the search";

struct dqn {
    struct rl_run run; /* no agent: there is nothing to decide */
};

static int dqn_start(struct hybrid_search *s, struct err *e)
{
    struct dqn *d = mem_try(1, sizeof *d);
    struct rl_env env = hybrid_game_env(&s->game);

    s->self = d;
    if (!d)
        return err_no_memory(e, MEMORY_FOR);
    if (!s->options.rl_set)
        s->options.rl = *rl_preset("planner");
    if (hybrid_game_is_over(&s->game))
        return 0;
    int rc = rl_run_new(&d->run, &env, &s->options.rl, s->options.seed);
    return rc ? err_set(e, rc == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT,
                        "the learner cannot be made: %s", rl_error_text(rc))
              : 0;
}

static void dqn_stop(struct hybrid_search *s)
{
    struct dqn *d = s->self;

    if (d)
        rl_run_free(&d->run);
    free(d);
}

/* In the first episodes most decisions are the usual ones: at random hardly any cut fits another,
 * and one stage over all devices looks best. < 0: the learner decides. */
static int lead_decision(struct hybrid_search *s)
{
    static const double AT_RANDOM = 0.2;
    uint64_t legal = hybrid_game_legal(&s->game);

    if (s->evaluations >= HYBRID_LED)
        return -1;
    return (int)(rl_rng_unit(&s->rng) < AT_RANDOM ? hybrid_search_pick(s, legal)
                                                  : hybrid_game_usual(&s->game, legal));
}

static void dqn_step(struct hybrid_search *s)
{
    struct dqn *d = s->self;
    struct rl_step step;

    if (!d->run.agent) {
        hybrid_search_is_decided(s);
        return;
    }
    rl_run_ready(&d->run);
    int rc = rl_run_step(&d->run, lead_decision(s), &step);
    BUG_ON(rc == RL_E_SHAPE); /* lead() and the environment name legal actions alone */
    if (rc) {
        s->done = s->diverged = true;
        return;
    }
    if (hybrid_game_is_over(&s->game))
        hybrid_search_played(s, &s->game);
}

const struct hybrid_search_ops hybrid_ops_dqn = {
    .start = dqn_start, .stop = dqn_stop, .step = dqn_step};
