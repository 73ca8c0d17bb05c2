/* engine/search/policy.h - one network for the decisions of every model (Auto-MAP's future work: a
 * continuous state). It scores both actions of a decision by their effects (move_features.h). It is
 * trained once, over many models and clusters, with the proven optimum as teacher
 * (pretrain_moves.h). */
#ifndef AUTOMAP_ENGINE_SEARCH_POLICY_H
#define AUTOMAP_ENGINE_SEARCH_POLICY_H

#include "engine/search/game.h"
#include "hlo/support/err.h"
#include "rl/rng.h"
#include "rl/scorer.h"
#include "rl/serialize.h"

enum { POLICY_WIDTH = 48, POLICY_CURVE_MOST = 64 };

/* How the network was trained; stored in its file. */
struct policy_point {
    uint64_t episodes;
    double loss, gap; /* mean gap of its own decisions to the best, in ln(step), before learning
                         from them */
};
struct policy {
    struct rl_scorer scorer;
    uint64_t seed, rounds;
    uint32_t models; /* that it was trained on */
    double temperature;
    struct policy_point curve[POLICY_CURVE_MOST];
    uint32_t points;
};

/* The action at the current position: the better one or, with `heat` > 0, one drawn from
 * softmax(score / heat). Takes one draw from *rng if both actions are legal. */
bool policy_choose(const struct rl_scorer *net, struct game *g, double heat, struct rl_rng *rng);

/* The way of the network's best actions from the game's position, or that of greedy play (each time
 * the action that gains more, the greedy of opponents.c) where that ends better: the actions,
 * way[0 .. returned], a byte each. Leaves the game as it is. What the network thinks little of
 * costs it some tenths of a percent on models unlike those that it learned from; so its proposal is
 * never worse than a player's without learning. The cost reward and full propagation alone, where
 * no way ends in a conflict. */
uint32_t policy_way(const struct rl_scorer *net, struct game *g, uint8_t *way /* [moves] */);

/* RL_E_FORMAT, RL_E_VERSION: not such a file, made for other features, or damaged; RL_E_IO,
 * RL_E_MEMORY. */
int policy_load(struct policy *p, const char *path) MUST_CHECK;
int policy_save(const struct policy *p, const char *path, struct err *e) MUST_CHECK;
void policy_free(struct policy *p);
/* In a walk (rl/serialize.h); read into one that is zero or has weights of its own. */
void policy_serialize(struct rl_serializer *w, struct policy *p);

#endif
