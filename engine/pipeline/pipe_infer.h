/* engine/pipeline/pipe_infer.h - cuts a pipeline with a network that was trained once, on generated
 * problems (Auto-MAP 3.5, online inference).
 *
 * A decision ends the present stage: after point j, at device cut b, both at once. Every pair that
 * can be completed is described by PIPE_INFER_FEATURES ratios (nothing depends on the number of
 * points, devices or stages) and scored by one small network with shared weights (rl/scorer.h); the
 * best is played. So stages - 1 decisions make a plan. What a prefix means for all that may follow
 * it is four numbers: with the suffix figures X, Y, Z of pipe_exact.h,
 *     L = max(f0 + X, f1 + Y, f2 + Z, f3)
 * The answer: the `beams` best first decisions, each played out; the best of these and of the plan
 * of equal shares; then descent. A single pass may be far off and is not shown alone.
 * A network of the paper's own recipe (flat_net.h) plays what is legal by its Q alone: it drops no
 * candidate and looks at no plan of equal shares.
 * L has an exact answer in milliseconds too, and the network's plan bounds that search (known_ms of
 * pipe_exact.h); what only a network gives is an answer where there is no programme. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPE_INFER_H
#define AUTOMAP_ENGINE_PIPELINE_PIPE_INFER_H

#include "engine/pipeline/descent.h"
#include "engine/pipeline/pipe_before.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"

enum { PIPE_INFER_FEATURES = 42, PIPE_INFER_WIDTH = 64, PIPE_INFER_BEAMS = 32 /* of an answer */ };

/* ---- where the decisions stand ---- */
struct pipe_infer_state {
    struct pipe_plan plan; /* stages as wanted; pivot and device of cuts 0 .. cut - 1 are decided */
    uint32_t cut;          /* to decide; plan.stages: complete */
    struct pipe_prefix before; /* of all nodes before the present stage */
};
struct pipe_net;
struct pipe_candidate {
    uint32_t pivot, device;
};

/* Scratch of one goal, for any number of plans. */
struct pipe_infer {
    struct pipe_goal *goal;
    uint32_t stages;
    double ideal_ms;        /* M x all computation / devices */
    double whole_reduce_ms; /* of all devices, of everything */
    double *speed;          /* [devices + 1] of so many devices over that of one, on all points */
    double *work;           /* [points + 1] computation before a point on one device, of 1 in all */
    uint32_t *cuts;         /* devices a stage may begin at, ascending, `devices` last */
    uint32_t cut_count;
    struct pipe_candidate *candidate;
    float *row, *score;
    double *bound;          /* ms, of each candidate */
    double *rollout, *near; /* ms: the shorter plan of equal shares behind it; that of near cuts */
    uint32_t count;
    double *sorted;
    size_t candidate_room, bound_room, sorted_room, room;
    struct pipe_plan found; /* the shortest of all plans of equal shares since the start */
    double found_ms;        /* its L; INFINITY: none */
    double known_ms;        /* set from outside: decisions whose bound is above are dropped, for a
                               plan as short is known; INFINITY: none */
};

/* `stages` >= 1. The goal is borrowed. ERR_INFEASIBLE: more stages than cuts or points. */
int pipe_infer_new(struct pipe_infer *f, struct pipe_goal *goal, uint32_t stages,
                   struct err *e) MUST_CHECK;
void pipe_infer_free(struct pipe_infer *f);

void pipe_infer_start(struct pipe_infer *f, struct pipe_infer_state *out);
/* Fills candidate, row and count with what may be decided now; false: nothing may, or nothing that
 * could be shorter than known_ms, or no memory. */
bool pipe_infer_look(struct pipe_infer *f, const struct pipe_infer_state *s);
void pipe_infer_play(const struct pipe_infer *f, struct pipe_infer_state *s,
                     struct pipe_candidate c);
/* As many stages as the goal asks for, else as the paper's candidates have: one a server, 2 in
 * one. */
uint32_t pipe_infer_stages(const struct pipe_goal *g);
/* Looks, scores and says what the network decides, without playing it; `score` is then that of each
 * candidate. Without a network: minus the L of the plan of equal shares behind it, ms. */
bool pipe_infer_decide(struct pipe_infer *f, const struct pipe_net *net,
                       const struct pipe_infer_state *s, struct pipe_candidate *out);
/* Decides all that is left by the network; the plan is then the shortest of its own and of those of
 * equal shares that it looked at on the way. False: it came to where nothing may be decided, or
 * nothing that could be shorter than known_ms. */
bool pipe_infer_finish(struct pipe_infer *f, const struct pipe_net *net,
                       struct pipe_infer_state *s);

/* The `most` best first decisions by score into out; returns how many. */
uint32_t pipe_infer_first(struct pipe_infer *f, const struct pipe_net *net, uint32_t most,
                          struct pipe_candidate *out);
/* The plan of equal shares, cut where little crosses. */
bool pipe_infer_by_share(struct pipe_infer *f, struct pipe_plan *out);

#endif
