/* rl/replay.h - the last `capacity` decisions, in a ring, and batches drawn from it.
 *
 * Single decisions are stored; n-step windows are assembled when a batch is drawn, so n, gamma and
 * the handling of time limits may change at any time. A window ends at the first end of an episode,
 * after n rewards, or at the newest decision; it is discounted by its real length and bootstraps
 * from its last `next` observation unless that is terminal. When an episode terminates, each of its
 * decisions has the discounted return that followed, and shares the best one with all equal
 * decisions held (rl/twins.h); on the way back an episode goes on from the better of its own return
 * and the shared one. With `return_bound` the target is at least that. The bound is valid where the
 * environment is deterministic, and it keeps what the best episode earned from being unlearned, or
 * drowned by poor episodes of the same beginning. Consecutive decisions are assumed to follow each
 * other unless the earlier one ended its episode: feed one environment at a time, and call
 * rl_replay_cut when leaving an episode in the middle. Not thread-safe. Memory: 8 x
 * observation_size + 100 bytes a decision. */
#ifndef AUTOMAP_RL_REPLAY_H
#define AUTOMAP_RL_REPLAY_H

#include "rl/env.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/settings.h"
#include "rl/sumtree.h"
#include "rl/twins.h"

#include <stdbool.h>

struct rl_replay {
    uint32_t capacity, observation_size, action_count;
    uint32_t count;               /* decisions held; slots 0 .. count - 1 */
    uint32_t head;                /* slot written next */
    float *observation;           /* [capacity x observation_size] */
    float *next;                  /* the same, after the decision */
    uint64_t *legal, *next_legal; /* [capacity x words] sets (rl/action_set.h) */
    uint32_t words;               /* of a set */
    uint32_t *action;
    uint32_t *drawn; /* how often each was in a batch */
    float *reward;
    uint8_t *end;     /* enum rl_end */
    double *priority; /* |TD error| + floor when last drawn; the largest so far if never drawn */
    double largest;
    struct rl_sumtree tree; /* priority^alpha; kept only while `treed` */
    bool treed;
    double alpha;          /* of the tree */
    struct rl_twins twins; /* returns known */
    double gamma;          /* of the returns */
};

int rl_replay_init(struct rl_replay *r, uint32_t capacity, uint32_t observation_size,
                   uint32_t action_count) RL_MUST_CHECK;
void rl_replay_release(struct rl_replay *r);

/* One decision. `observation` and `next` are copied. */
struct rl_decision {
    const float *observation, *next;
    const uint64_t *legal, *next_legal; /* copied; next_legal is not read after RL_TERMINATED */
    uint32_t action;
    float reward;
    enum rl_end end;
};
uint32_t rl_replay_push(struct rl_replay *r, const struct rl_decision *d); /* its slot */

/* Declares that the next decision pushed does not follow the newest one. */
void rl_replay_cut(struct rl_replay *r);

/* Builds or drops the tree for `prioritized` and `alpha`, and recomputes returns for `gamma` from
 * the decisions held.
 * O(count) on a change. */
void rl_replay_follow(struct rl_replay *r, const struct rl_settings *s);

/* A window of rewards summed as it grows: sum += discount reward, discount *= step. */
struct rl_window {
    double sum, discount;
};
void rl_window_add(struct rl_window *w, double reward, double step);

/* A batch of `count` rows; the caller owns all arrays. */
struct rl_batch {
    uint32_t count;
    float *rows; /* [2 count x observation_size]: observations, then those bootstrapped from */
    uint32_t *slot, *action;
    uint64_t *legal, *next_legal; /* [count x words] */
    float *reward;                /* of the whole window */
    float *discount;              /* of the bootstrap: gamma^length, 0 after a terminal state */
    float *weight;                /* importance weights; 1 with `importance` off */
    float *bound;                 /* lower bound of the target; read with return_bound only */
};

/* Fills the batch. beta: exponent of the weights. The replay must not be empty.
 * Prioritized draws are stratified: one from each of `count` equal slices of the total. */
void rl_replay_draw(struct rl_replay *r, const struct rl_settings *s, double beta,
                    struct rl_rng *rng, struct rl_batch *b);

/* Writes the window that starts at `slot` to row i of the batch. */
void rl_replay_window(const struct rl_replay *r, const struct rl_settings *s, uint32_t slot,
                      struct rl_batch *b, uint32_t i);

/* Sets new priorities after an update, row by row: a slot drawn twice keeps its last error. */
void rl_replay_learned(struct rl_replay *r, const struct rl_settings *s, const struct rl_batch *b,
                       const float *error);

/* The k-th oldest decision's slot, k < count. */
uint32_t rl_replay_slot(const struct rl_replay *r, uint32_t k);

#endif
