/* rl/net.h - a dense network with ReLU between its layers, and the head that turns its last layer
 * into Q values. Kernels only: no allocation, no state; the caller owns every buffer.
 *
 * All parameters lie in one block of float32. Layer l, 0-based, of widths w[l] -> w[l+1]:
 *   weight[l]  offset of a row-major [w[l+1] x w[l]] matrix (as PyTorch's Linear keeps it)
 *   bias[l]    offset of [w[l+1]]
 *   y = x weight^T + bias, then max(y, 0) except in the last layer.
 * The last layer has actions + 1 rows: one advantage per action, then the value of the state. With
 * dueling off the last row is not used and the advantages are the Q values. */
#ifndef AUTOMAP_RL_NET_H
#define AUTOMAP_RL_NET_H

#include "rl/error.h"
#include "rl/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RL_LAYERS_MAX = 5 };

struct rl_net {
    uint32_t layers;                   /* of weight matrices */
    uint32_t width[RL_LAYERS_MAX + 1]; /* observation, hidden ..., actions + 1 */
    uint32_t actions;
    uint32_t widest; /* of the widths after the first */
    size_t weight[RL_LAYERS_MAX], bias[RL_LAYERS_MAX];
    size_t parameters; /* floats in the block, a multiple of 16 */
    size_t outputs;    /* floats of all layers' outputs for one row */
};

/* hidden: up to RL_HIDDEN_MAX widths; a 0 ends them early. */
int rl_net_init(struct rl_net *n, uint32_t observation, const uint32_t *hidden,
                uint32_t actions) RL_MUST_CHECK;

/* Uniform in +-1/sqrt(inputs) for weights and biases, PyTorch's default. */
void rl_net_start(const struct rl_net *n, float *parameters, struct rl_rng *rng);

/* x[rows x width[0]] -> out, which holds rows x outputs floats: layer after layer, each
 * [rows x width[l+1]]. rl_net_head gives the last. Without dueling the value column is not set. */
void rl_net_forward(const struct rl_net *n, const float *parameters, const float *x, uint32_t rows,
                    bool dueling, float *out);
float *rl_net_head(const struct rl_net *n, float *out, uint32_t rows);

/* What rl_net_backward needs. The forward pass may cover more rows than the update learns from. */
struct rl_backward {
    const float *parameters;
    const float *x;   /* [forward_rows x width[0]] */
    const float *out; /* of rl_net_forward */
    uint32_t forward_rows;
    uint32_t rows; /* the first `rows` of them count */
    bool dueling;
    const uint32_t *action; /* [rows] */
    const uint64_t *legal;  /* [rows x rl_words(actions)] */
    const float *slope;     /* [rows] derivative of the loss with respect to Q of the action
                               taken */
    float *scratch;         /* 2 x rows x widest floats */
};

/* Overwrites gradient (one block as the parameters). */
void rl_net_backward(const struct rl_net *n, const struct rl_backward *b, float *gradient);

/* head[actions + 1] -> q[actions]. Dueling: q = V + A - mean of A over `legal`; q of an illegal
 * action is finite but meaningless. */
void rl_net_q(const float *head, uint32_t actions, const uint64_t *legal, bool dueling, float *q);

/* The legal action of largest q, the lowest on ties; `legal` must not be empty. */
uint32_t rl_net_argmax(const float *q, uint32_t actions, const uint64_t *legal);

/* Converts the head so that Q stays the same (all actions legal) when dueling is switched on or
 * off: on, V = mean A; off, A = V + A - mean A. Q is linear in the last layer, so this is exact up
 * to rounding. */
void rl_net_switch_dueling(const struct rl_net *n, float *parameters, bool on);

#endif
