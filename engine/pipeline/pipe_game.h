/* engine/pipeline/pipe_game.h - the pipeline search as a game (Auto-MAP 4.3, online training).
 *
 * An episode decides the device cuts of a candidate (engine/pipeline/space.h) from the first to the
 * last; an action is an offset from the cut's anchor, 2 radius + 1 of them. Offsets that cannot be
 * completed to a plan are not legal: their Q counts as -inf. Reward: 0, at the end L_ref / L of the
 * plan, -1 when it does not fit; L_ref is L of the cuts at the anchors.
 * Observed, for every legal offset, of the plan with that cut and the open ones nearest to their
 * anchors: the gradient all-reduce and update time of the whole pipeline, the longest transfer of
 * all micro-batches one way (both in L_ref), and the shortest stage's computation in the longest's;
 * then the cut to decide (one of stages - 1) and the offsets decided, in radii.
 * Plain data over a borrowed space; one per search. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPE_GAME_H
#define AUTOMAP_ENGINE_PIPELINE_PIPE_GAME_H

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/space.h"
#include "rl/env.h"

enum { PIPE_FEATURES = 3 };

struct pipe_game {
    const struct pipe_space *space;
    struct pipe_plan plan; /* device and pivot of cuts 0 .. cut-1 are decided */
    uint32_t cut;          /* to decide; stages: the episode is over */
    double reference_ms;   /* L_ref */
    double length_ms;      /* of the plan at the end; INFINITY: does not fit */
};

void pipe_game_new(const struct pipe_space *s, struct pipe_game *out);
void pipe_game_reset(struct pipe_game *g);
static inline bool pipe_game_is_over(const struct pipe_game *g)
{
    return g->cut == g->space->stages;
}
uint64_t pipe_game_legal(const struct pipe_game *g);         /* never 0 before the end */
double pipe_game_play(struct pipe_game *g, uint32_t offset); /* legal; returns the reward */

uint32_t pipe_game_observation_size(const struct pipe_game *g);
void pipe_game_observe(const struct pipe_game *g, float *out);

/* The game as the learner asks for it; observation_size and action_count are set. A space of one
 * candidate offset has one action, which the learner does not take: use radius >= 1. */
struct rl_env pipe_game_env(struct pipe_game *g);

#endif
