/* rl/taught.h - what one decision, and the update after it, were made of: for a person who looks.
 *
 * An agent that was given a lesson (rl_agent_teach) fills it at every decision. It reads only what
 * is there anyway: a run that is watched equals one that is not, bit for bit. Figures are those the
 * learner computed with, not worked out a second time. */
#ifndef AUTOMAP_RL_TAUGHT_H
#define AUTOMAP_RL_TAUGHT_H

#include "rl/action_set.h"
#include "rl/env.h"
#include "rl/learner.h"

#include <stdbool.h>
#include <stdint.h>

enum { RL_LESSON_ROWS = 64 }; /* of larger batches the first ones */

/* One row of the last batch. target = reward + discount x next_value, or the bound. */
struct rl_lesson_row {
    uint32_t slot, age; /* in replay; decisions made since */
    uint32_t action;
    double reward;        /* of its window */
    double discount;      /* of the bootstrap; 0: its window ends the episode */
    uint32_t next_action; /* the one whose value follows, with discount */
    double next_choice;   /* Q of it by the network that chose it */
    double next_value;    /* by the network that values it */
    double next_largest;  /* the largest of the latter's: what a target without double takes */
    double bound;         /* the best return of equal decisions; -INFINITY: not known */
    bool is_bounded;      /* the target was raised to it */
    double target, q, error, weight;
    double priority_before, priority; /* |error| + floor; to the power of alpha when it is drawn */
};

struct rl_lesson {
    /* look and choose */
    uint64_t decision; /* its number, from 1 */
    uint64_t legal[RL_WORDS_MAX];
    float q[RL_ACTIONS_MAX];
    uint32_t action;
    bool chosen, explored; /* chosen: by the agent; else it was forced on it */
    double draw, epsilon;  /* explored where draw < epsilon */
    /* act */
    double reward;
    enum rl_end end;
    /* store */
    uint32_t slot, kept;
    double priority; /* it starts with */
    /* sample, target, step, copy; of the last update that followed */
    int updates;     /* 0: none was due */
    uint64_t update; /* its number, from 1 */
    double beta;
    uint32_t batch, rows; /* rows of row[] */
    struct rl_update figures;
    uint64_t since_copy; /* updates since the target network was copied; 0: this one copied it */
    struct rl_lesson_row row[RL_LESSON_ROWS];
};

#endif
