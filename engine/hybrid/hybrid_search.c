#include "engine/hybrid/hybrid_search.h"

#include "engine/hybrid/hybrid_game.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_search_ops.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

const char *const hybrid_algorithm_names[HYBRID_ALGORITHM_COUNT] = {
#define X(id, name, summary) name,
    HYBRID_ALGORITHMS(X)
#undef X
};

bool hybrid_algorithm_named(const char *name, enum hybrid_algorithm *out)
{
    for (int n = 0; n < HYBRID_ALGORITHM_COUNT; n++) {
        if (strcmp(name, hybrid_algorithm_names[n]) != 0)
            continue;
        *out = (enum hybrid_algorithm)n;
        return true;
    }
    return false;
}

static const char MEMORY_FOR[] = "for the search";
enum { GAME_STREAM = 16 }; /* apart from those of the learner */

static const struct hybrid_search_ops *const ops_of[HYBRID_ALGORITHM_COUNT] = {
    [HYBRID_DQN] = &hybrid_ops_dqn,
    [HYBRID_RANDOM] = &hybrid_ops_random,
    [HYBRID_GREEDY] = &hybrid_ops_greedy,
    [HYBRID_ALPA] = &hybrid_ops_alpa,
};

int hybrid_search_new(const struct hybrid_space *space, enum hybrid_algorithm a,
                      const struct hybrid_search_options *o, const atomic_bool *stop,
                      struct hybrid_search **out, struct err *e)
{
    struct hybrid_search *s = mem_try(1, sizeof *s);

    if (!s)
        return err_no_memory(e, MEMORY_FOR);
    s->ops = ops_of[a];
    s->space = space;
    s->options = *o;
    s->stop = stop;
    s->best.step_ms = INFINITY;
    rl_rng_seed(&s->rng, o->seed, GAME_STREAM);
    hybrid_game_new(space, &s->game);
    int rc = s->ops->start ? s->ops->start(s, e) : 0;
    if (rc)
        hybrid_search_free(s);
    else
        *out = s;
    return rc;
}

void hybrid_search_free(struct hybrid_search *s)
{
    if (s && s->self)
        s->ops->stop(s);
    free(s);
}

bool hybrid_search_diverged(const struct hybrid_search *s)
{
    return s->diverged;
}

bool hybrid_search_step(struct hybrid_search *s)
{
    if (!s->done)
        s->ops->step(s);
    return !s->done;
}

const struct hybrid_search_best *hybrid_search_best(const struct hybrid_search *s)
{
    return &s->best;
}

uint64_t hybrid_search_evaluations(const struct hybrid_search *s)
{
    return s->evaluations;
}

void hybrid_search_priced(struct hybrid_search *s, uint32_t level, const struct hybrid_plan *p,
                          enum pipe_schedule_kind schedule, double step_ms)
{
    s->evaluations++;
    if (step_ms < s->best.step_ms)
        s->best = (struct hybrid_search_best){*p, level, schedule, step_ms, s->evaluations};
}

void hybrid_search_played(struct hybrid_search *s, const struct hybrid_game *g)
{
    hybrid_search_priced(s, g->level, &g->plan, g->schedule, g->step_ms);
}

uint32_t hybrid_search_pick(struct hybrid_search *s, uint64_t bits)
{
    uint32_t n = rl_rng_below(&s->rng, (uint32_t)__builtin_popcountll(bits));

    while (n--)
        bits &= bits - 1;
    return (uint32_t)__builtin_ctzll(bits);
}

bool hybrid_search_is_decided(struct hybrid_search *s)
{
    struct hybrid_game g;

    hybrid_game_new(s->space, &g);
    if (!hybrid_game_is_over(&g))
        return false;
    hybrid_search_played(s, &g);
    s->done = true;
    return true;
}
