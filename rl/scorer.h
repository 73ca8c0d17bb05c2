/* rl/scorer.h - a small network that scores candidates, the same weights for each: any number of
 * them, one output each, the best is played.
 *
 *     score = w3 . relu(W2 relu(W1 (x - shift) scale + b1) + b2) + b3
 * Shift and scale are no weights: they are what features are like, taken once, so that all of them
 * count alike when learning begins.
 * It learns listwise: of a group of candidates whose gaps to the best are known (0 for the best),
 *     loss = cross-entropy of softmax(score) against softmax(-gap / temperature)
 * so that gap = temperature x (best score - score) is what the network thinks of a candidate.
 * All sums in tiled loops of a fixed order: the same bits for the same weights on every machine
 * whose compiler does not contract (ours does not). Not thread-safe while it learns. */
#ifndef AUTOMAP_RL_SCORER_H
#define AUTOMAP_RL_SCORER_H

#include "rl/adam.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/serialize.h"

#include <stdint.h>

enum { RL_SCORER_FEATURES_MOST = 64, RL_SCORER_WIDTH_MOST = 128, RL_SCORER_GROUP_MOST = 64 };

struct rl_scorer {
    uint32_t features, width; /* of both hidden layers */
    uint32_t parameters;
    float *weight; /* W1 [features][width], b1, W2 [width][width], b2, w3 [width], b3; owned */
    float *shift, *scale; /* [features] behind the weights; 0 and 1 to begin with */
};

/* Random weights, +-1/sqrt(inputs). RL_E_SHAPE, RL_E_MEMORY. */
int rl_scorer_new(struct rl_scorer *s, uint32_t features, uint32_t width,
                  struct rl_rng *rng) RL_MUST_CHECK;
void rl_scorer_free(struct rl_scorer *s);
/* Into a scorer of the same shape; RL_E_SHAPE: it is not. */
int rl_scorer_copy(struct rl_scorer *to, const struct rl_scorer *from) RL_MUST_CHECK;

/* Shift and scale from rows[count x features]: mean 0, deviation 1; a feature that hardly varies is
 * not blown up. To be done before it learns. */
void rl_scorer_standardise(struct rl_scorer *s, const float *rows, uint32_t count);

/* rows[count x features] -> out[count]. O(count x parameters). */
void rl_scorer_score(const struct rl_scorer *s, const float *rows, uint32_t count, float *out);

/* Groups of candidates: rows of group g are first[g] .. first[g + 1] - 1, at most
 * RL_SCORER_GROUP_MOST. */
struct rl_groups {
    const float *rows, *gap;
    const uint32_t *first; /* [count + 1] */
    uint32_t count;
};
/* Mean loss over the groups and its gradient [parameters]. */
double rl_scorer_loss(const struct rl_scorer *s, const struct rl_groups *g, double temperature,
                      float *gradient);

/* The optimizer's state of a scorer; zeros to begin with, owned. */
struct rl_scorer_adam {
    struct rl_adam adam;
    float *gradient;
};
int rl_scorer_adam_new(struct rl_scorer_adam *a, const struct rl_scorer *s) RL_MUST_CHECK;
void rl_scorer_adam_free(struct rl_scorer_adam *a);
/* One step of Adam, the gradient clipped to norm 10. *loss is that before it. RL_E_DIVERGED. */
int rl_scorer_learn(struct rl_scorer *s, struct rl_scorer_adam *a, const struct rl_groups *g,
                    double temperature, double rate, double *loss) RL_MUST_CHECK;

/* Weights and shape, in a walk; read into a scorer that is zero, refused when not finite. */
void rl_scorer_serialize(struct rl_serializer *w, struct rl_scorer *s);

#endif
