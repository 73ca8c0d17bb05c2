#include "engine/pipeline/pipe_game.h"

#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

void pipe_game_new(const struct pipe_space *s, struct pipe_game *out)
{
    struct pipe_plan anchors = {0};

    *out = (struct pipe_game){.space = s};
    pipe_space_complete(s, &anchors, 1);
    out->reference_ms = pipe_length(s->in, &anchors);
    pipe_game_reset(out);
}

void pipe_game_reset(struct pipe_game *g)
{
    pipe_space_complete(g->space, &g->plan, 1);
    g->cut = 1;
    g->length_ms = INFINITY;
    if (pipe_game_is_over(g))
        g->length_ms = pipe_score(g->space->in, &g->plan);
}

uint64_t pipe_game_legal(const struct pipe_game *g)
{
    return pipe_space_legal(g->space, g->cut, g->plan.device[g->cut - 1]);
}

/* The plan if the cut to decide took this offset. */
static struct pipe_plan plan_with(const struct pipe_game *g, uint32_t offset)
{
    struct pipe_plan p = g->plan;

    p.device[g->cut] = pipe_space_device(g->space, g->cut, offset);
    p.pivot[g->cut] = g->space->pivot[p.device[g->cut]];
    pipe_space_complete(g->space, &p, g->cut + 1);
    return p;
}

double pipe_game_play(struct pipe_game *g, uint32_t offset)
{
    g->plan = plan_with(g, offset);
    g->cut++;
    if (!pipe_game_is_over(g))
        return 0;
    g->length_ms = pipe_score(g->space->in, &g->plan);
    return isfinite(g->length_ms) ? g->reference_ms / g->length_ms : -1;
}

/* The three features of an offset, as they are observed. */
static void pipe_game_features(const struct pipe_game *g, uint32_t offset,
                               double out[PIPE_FEATURES])
{
    struct pipe_node node[PIPE_NODES_MOST];
    struct pipe_plan p = plan_with(g, offset);
    const struct pipe_instance *in = g->space->in;
    uint32_t count = pipe_plan_nodes(in, &p, node);
    double reduce = 0, transfer = 0, shortest = INFINITY, longest = 0;

    for (uint32_t n = 0; n < count; n++) {
        double both = node[n].forward_ms + node[n].backward_ms;
        if (n & 1) {
            transfer = pipe_more(transfer, pipe_more(node[n].forward_ms, node[n].backward_ms));
        } else {
            reduce += node[n].reduce_ms;
            shortest = both < shortest ? both : shortest;
            longest = pipe_more(longest, both);
        }
    }
    out[0] = reduce / g->reference_ms;
    out[1] = transfer * in->options.micro_batches / g->reference_ms;
    out[2] = longest > 0 ? shortest / longest : 1;
}

uint32_t pipe_game_observation_size(const struct pipe_game *g)
{
    return PIPE_FEATURES * g->space->width + 2 * (g->space->stages > 1 ? g->space->stages - 1 : 1);
}

void pipe_game_observe(const struct pipe_game *g, float *out)
{
    uint32_t w = g->space->width, cuts = g->space->stages - 1, radius = g->space->options.radius;
    float *at = out + PIPE_FEATURES * w;

    memset(out, 0, pipe_game_observation_size(g) * sizeof *out);
    for (uint32_t c = 1; c < g->cut && c <= cuts; c++)
        at[cuts + c - 1] =
            radius ? ((float)g->plan.device[c] - (float)g->space->anchor[c]) / (float)radius : 0;
    if (pipe_game_is_over(g))
        return;
    at[g->cut - 1] = 1;
    uint64_t legal = pipe_game_legal(g);
    for (uint32_t o = 0; o < w; o++) {
        double feature[PIPE_FEATURES];
        if (!(legal >> o & 1))
            continue;
        pipe_game_features(g, o, feature);
        for (uint32_t f = 0; f < PIPE_FEATURES; f++)
            out[f * w + o] = (float)feature[f];
    }
}

/* ---- for the learner ---- */
static void env_reset(void *self, struct rl_rng *rng)
{
    (void)rng;
    pipe_game_reset(self);
}

static struct rl_outcome env_step(void *self, uint32_t action, struct rl_rng *rng)
{
    struct pipe_game *g = self;
    double reward = pipe_game_play(g, action);

    (void)rng;
    return (struct rl_outcome){(float)reward, pipe_game_is_over(g) ? RL_TERMINATED : RL_GOES_ON};
}

static void env_observe(void *self, float *out)
{
    pipe_game_observe(self, out);
}

static void env_legal(void *self, uint64_t *out)
{
    const struct pipe_game *g = self;

    *out = pipe_game_is_over(g) ? 1 : pipe_game_legal(g);
}

static uint32_t env_context(void *self)
{
    const struct pipe_game *g = self;

    return pipe_game_is_over(g) ? 0 : g->cut - 1;
}

struct rl_env pipe_game_env(struct pipe_game *g)
{
    return (struct rl_env){
        .self = g,
        .observation_size = pipe_game_observation_size(g),
        .action_count = g->space->width,
        .context_count = g->space->stages > 1 ? g->space->stages - 1 : 1,
        .reset = env_reset,
        .step = env_step,
        .observe = env_observe,
        .legal = env_legal,
        .context = env_context,
    };
}
