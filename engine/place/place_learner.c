#include "engine/place/place_learner.h"

#include "engine/place/operator_graph.h"
#include "engine/place/place_game.h"
#include "engine/place/placement.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/run.h"
#include "rl/settings.h"

#include <math.h>
#include <string.h>

enum { EPISODES = 300 };

struct learning {
    const struct place_asking *a;
    struct place_game *game;
    struct rl_run run;
    uint32_t *best; /* by position */
    double best_ms;
};

static struct rl_settings settings_of(uint64_t episodes)
{
    struct rl_settings s = *rl_preset("planner");

    memset(s.hidden, 0, sizeof s.hidden);
    s.hidden[0] = s.hidden[1] = 64;
    s.train_every = 4;
    s.batch = 32;
    s.epsilon_episodes = episodes > 4 ? (uint32_t)(episodes / 2) : 2;
    return s;
}

static int begin_learning(struct learning *w, uint64_t episodes, struct err *e)
{
    struct rl_env env = place_game_env(w->game);
    struct rl_settings s = settings_of(episodes);
    int rc = rl_run_new(&w->run, &env, &s, w->a->seed);

    return rc ? err_set(e, rc == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT,
                        "the learner cannot be made: %s", rl_error_text(rc))
              : 0;
}

/* Every episode is a plan priced. False when the learner cannot go on. */
static bool play_placement(struct learning *w)
{
    struct place_game *g = w->game;
    struct rl_step step;

    do {
        rl_run_ready(&w->run);
        if (stop_asked(w->a->stop) || rl_run_step(&w->run, -1, &step) < 0)
            return false;
    } while (!place_game_is_over(g));
    if (g->value_ms < w->best_ms) {
        w->best_ms = g->value_ms;
        memcpy(w->best, g->part->device, g->n->positions * sizeof *w->best);
    }
    place_tally_plan(w->a->tally, w->best_ms);
    return true;
}

static int make_plan(const struct learning *w, const struct place_graph *g, struct placement **out,
                     struct err *e)
{
    if (isinf(w->best_ms))
        return err_set(e, ERR_INFEASIBLE,
                       "the learner found no plan that keeps memory, kinds of devices and pins");
    if (placement_new(g, out, e))
        return e->code;
    for (uint32_t v = 0; v < g->nodes; v++)
        (*out)->device[v] = w->best[w->game->n->position_of[v]];
    placement_price(*out, w->game->n, &w->a->rules, w->game->whole);
    (*out)->bound_ms = place_work_bound(g, &w->a->rules);
    (*out)->bound_by = "work shared out";
    (*out)->algo = "dqn";
    (*out)->positions = w->game->n->positions;
    (*out)->contiguous = w->game->prepared != NULL;
    return 0;
}

static int learn_placements(struct learning *w, uint64_t episodes, struct err *e)
{
    w->best = mem_try((size_t)w->game->n->positions + 1, sizeof *w->best);
    if (!w->best)
        return err_no_memory(e, "for a search");
    if (!w->game->n->positions)
        w->best_ms = 0;
    if (place_game_is_over(w->game))
        return 0;
    if (begin_learning(w, episodes, e))
        return e->code;
    for (uint64_t i = 0; i < episodes && !place_tally_is_spent(w->a->tally) && play_placement(w);)
        i++;
    return 0;
}

int place_learn(const struct place_graph *g, const struct place_asking *a, bool any_sets,
                uint64_t episodes, struct placement **out, struct err *e)
{
    struct learning w = {.a = a, .best_ms = INFINITY};
    int rc = place_game_new(g, &a->rules, any_sets, place_work_bound(g, &a->rules), &w.game, e);

    if (rc)
        return rc;
    rc = learn_placements(&w, episodes ? episodes : EPISODES, e);
    if (rc)
        goto out;
    rc = make_plan(&w, g, out, e);
out:
    rl_run_free(&w.run);
    free(w.best);
    place_game_free(w.game);
    return rc;
}
