/* tui/watch/pipeline_learn.h - the DQN at the pipeline game (engine/pipeline/pipe_game.h), in a
 * thread of its own, to be watched: decision by decision, with its Q. What is seen is a copy;
 * looking and pausing change nothing of what it does, so one seed gives one course. */
#ifndef AUTOMAP_TUI_WATCH_PIPELINE_LEARN_H
#define AUTOMAP_TUI_WATCH_PIPELINE_LEARN_H

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/space.h"
#include "hlo/support/err.h"

enum { LEARN_POINTS = 256, LEARN_EPISODES = 1500, LEARN_WIDTH = 2 * PIPE_RADIUS_MOST + 1 };

struct learn_look {
    bool running, done;
    bool busy; /* runs, or a step that was asked for is not done yet */
    uint64_t seed, episodes;
    double reward[LEARN_POINTS]; /* means of `every` episodes each: L_ref / L, -1 where it does not
                                    fit */
    double best_reward[LEARN_POINTS]; /* best so far at its end */
    uint32_t count, every;
    struct pipe_best best;  /* over points of `few`; evaluation: the episode */
    struct pipe_plan tried; /* the last plan, with its L; 0 stages: none yet */
    double tried_ms;        /* INFINITY: does not fit */
    double least_ms; /* L of the best of all candidates, by trying them; 0: none fits, or not known
                        yet */
    uint64_t candidates;  /* that there are */
    uint32_t seen;        /* different ones tried */
    struct pipe_plan now; /* of the running episode: device cuts 1 .. cut - 1 are decided */
    uint32_t cut, stages, width, radius;
    uint32_t anchor;      /* device that offset 0 of the cut stands for */
    uint64_t legal;       /* offsets of the cut; 0: the episode is over */
    float q[LEARN_WIDTH]; /* of the legal ones */
    bool explored;        /* the last decision was drawn, not by Q */
};

struct pipeline_learn;

/* At the pipeline's points; `l` must outlive it. `in_thread` false: PICTURE episodes before this
 * returns, for pictures. ERR_INFEASIBLE: there are no candidates. */
enum { LEARN_PICTURE = 120 };
int pipeline_learn_new(const struct pipeline *l, uint64_t seed, bool in_thread,
                       struct pipeline_learn **out, struct err *e) MUST_CHECK;
void pipeline_learn_free(struct pipeline_learn *n); /* stops and joins; NULL ok */
void pipeline_learn_look(struct pipeline_learn *n, struct learn_look *out);
void pipeline_learn_run(struct pipeline_learn *n, bool run); /* goes on, pauses */
void pipeline_learn_step(struct pipeline_learn *n,
                         bool episode); /* pauses after one decision, one episode */

#endif
