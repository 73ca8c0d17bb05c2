/* rl/scorer.h - a small network that scores any number of candidates, each by the same weights; the
 * best is played.
 *
 *     score = w3 . relu(W2 relu(W1 (x - shift) scale + b1) + b2) + b3
 * Shift and scale are not learned. They are taken once from the features, so that all features
 * count alike when learning begins. It learns listwise, from groups of candidates whose gaps to the
 * best are known (0 for the best):
 *     loss = cross-entropy of softmax(score) against softmax(-gap / temperature)
 * so temperature x (best score - score) is the gap the network predicts for a candidate.
 * All sums run in tiled loops of a fixed order: the same weights give the same bits on every
 * machine whose compiler does not contract (we switch that off). Not thread-safe while it
 * learns. */
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
    float *shift, *scale; /* [features], stored after the weights; initially 0 and 1 */
};

/* Random weights, +-1/sqrt(inputs). RL_E_SHAPE, RL_E_MEMORY. */
int rl_scorer_new(struct rl_scorer *s, uint32_t features, uint32_t width,
                  struct rl_rng *rng) RL_MUST_CHECK;
void rl_scorer_free(struct rl_scorer *s);
/* Copies into a scorer of the same shape; RL_E_SHAPE: it is not. */
int rl_scorer_copy(struct rl_scorer *to, const struct rl_scorer *from) RL_MUST_CHECK;

/* Shift and scale from rows[count x features]: mean 0, deviation 1; a feature that hardly varies is
 * not scaled up. Call it before learning. */
void rl_scorer_standardise(struct rl_scorer *s, const float *rows, uint32_t count);

/* rows[count x features] -> out[count]. O(count x parameters). */
void rl_scorer_score(const struct rl_scorer *s, const float *rows, uint32_t count, float *out);

/* Groups of candidates: group g has the rows first[g] .. first[g + 1] - 1, at most
 * RL_SCORER_GROUP_MOST. */
struct rl_groups {
    const float *rows, *gap;
    const uint32_t *first; /* [count + 1] */
    uint32_t count;
};
/* Mean loss over the groups and its gradient [parameters]. */
double rl_scorer_loss(const struct rl_scorer *s, const struct rl_groups *g, double temperature,
                      float *gradient);

/* The optimizer's state for a scorer; owned, initially zero. */
struct rl_scorer_adam {
    struct rl_adam adam;
    float *gradient;
};
int rl_scorer_adam_new(struct rl_scorer_adam *a, const struct rl_scorer *s) RL_MUST_CHECK;
void rl_scorer_adam_free(struct rl_scorer_adam *a);
/* In a walk (rl/serialize.h); read into one that was made for a network of the same size. */
void rl_scorer_adam_serialize(struct rl_serializer *w, struct rl_scorer_adam *a,
                              uint32_t parameters);
/* One step of Adam with the gradient clipped to norm 10. *loss is the loss before it.
 * RL_E_DIVERGED. */
int rl_scorer_learn(struct rl_scorer *s, struct rl_scorer_adam *a, const struct rl_groups *g,
                    double temperature, double rate, double *loss) RL_MUST_CHECK;

/* Serializes weights and shape. Read into a zeroed scorer; weights that are not finite are
 * refused. */
void rl_scorer_serialize(struct rl_serializer *w, struct rl_scorer *s);

#endif
