#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/descent.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_game.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_search_ops.h"
#include "engine/pipeline/space.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

const char *const pipe_search_names[PIPE_ALGORITHM_COUNT] = {
#define X(id, name, summary) name,
    PIPE_ALGORITHMS(X)
#undef X
};

static const struct pipe_search_ops *const ops_of[PIPE_ALGORITHM_COUNT] = {
    [PIPE_SEARCH_DQN] = &pipe_ops_dqn,         [PIPE_SEARCH_RANDOM] = &pipe_ops_random,
    [PIPE_SEARCH_GREEDY] = &pipe_ops_greedy,   [PIPE_SEARCH_ENUMERATE] = &pipe_ops_enumerate,
    [PIPE_SEARCH_DESCENT] = &pipe_ops_descent, [PIPE_SEARCH_EXACT] = &pipe_ops_exact,
    [PIPE_SEARCH_INFER] = &pipe_ops_infer,
};

static bool looks_anywhere(enum pipe_algorithm a)
{
    return a == PIPE_SEARCH_DESCENT || a == PIPE_SEARCH_EXACT || a == PIPE_SEARCH_INFER;
}

static int start_search(struct pipe_search *s, struct err *e)
{
    enum { GAME_STREAM = 16 }; /* apart from those of the learner */
    const struct pipe_instance *in = s->in;

    s->goal = (struct pipe_goal){.in = in,
                                 .pins = s->options.space.pins,
                                 .stages = s->options.space.stages,
                                 .variables = !s->options.space.empty_stages};
    rl_rng_seed(&s->rng, s->options.seed, GAME_STREAM);
    if (s->options.cuts != PIPE_CUTS_ANYWHERE) {
        s->device_cut = mem_try(in->devices + 1, 1);
        if (!s->device_cut)
            return err_no_memory(e, "for the search");
        pipe_device_cuts(in, s->options.cuts == PIPE_CUTS_NEAR ? s->options.space.radius : 0,
                         s->device_cut);
        s->goal.device_cut = s->device_cut;
    }
    if (!looks_anywhere(s->options.algorithm)) {
        int rc = pipe_space_new(in, &s->options.space, &s->space, e);
        if (rc)
            return rc;
        pipe_game_new(&s->space, &s->game);
    }
    return s->ops->start(s, e);
}

int pipe_search_new(const struct pipe_instance *in, const struct pipe_search_options *o,
                    struct pipe_search **out, struct err *e)
{
    struct pipe_search *s = mem_try(1, sizeof *s);
    int rc;

    if (!s)
        return err_no_memory(e, "for the search");
    s->in = in;
    s->options = *o;
    s->ops = ops_of[o->algorithm];
    s->best.length_ms = INFINITY;
    rc = start_search(s, e);
    if (rc)
        pipe_search_free(s);
    else
        *out = s;
    return rc;
}

void pipe_search_free(struct pipe_search *s)
{
    if (!s)
        return;
    if (s->self)
        s->ops->stop(s);
    if (s->space.in)
        pipe_space_free(&s->space);
    free(s->device_cut);
    free(s);
}

bool pipe_search_step(struct pipe_search *s, struct pipe_event *out)
{
    memset(out, 0, sizeof *out);
    out->cut = out->offset = UINT32_MAX;
    out->length_ms = INFINITY;
    return !s->done && s->ops->step(s, out);
}

void pipe_search_priced(struct pipe_search *s, const struct pipe_plan *p, double length_ms,
                        struct pipe_event *out)
{
    out->ended = true;
    out->plan = *p;
    out->length_ms = length_ms < PIPE_UNFIT_MS ? length_ms : INFINITY;
    if (!(out->length_ms < s->best.length_ms))
        return;
    out->improved = true;
    s->best = (struct pipe_best){*p, out->length_ms, s->goal.evaluations};
}

double pipe_search_price(struct pipe_search *s, const struct pipe_plan *p, struct pipe_event *out)
{
    s->goal.evaluations++;
    pipe_search_priced(s, p, pipe_score(s->in, p), out);
    return out->length_ms;
}

const struct pipe_best *pipe_search_best(const struct pipe_search *s)
{
    return &s->best;
}

uint64_t pipe_search_evaluations(const struct pipe_search *s)
{
    return s->goal.evaluations;
}

bool pipe_search_is_proven(const struct pipe_search *s)
{
    return s->proven;
}

const struct pipe_space *pipe_search_space(const struct pipe_search *s)
{
    return looks_anywhere(s->options.algorithm) ? NULL : &s->space;
}

const struct pipe_game *pipe_search_game(const struct pipe_search *s)
{
    return s->options.algorithm == PIPE_SEARCH_DQN ? &s->game : NULL;
}
