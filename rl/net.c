#include "rl/net.h"

#include "rl/action_set.h"
#include "rl/aligned.h"
#include "rl/blas.h"
#include "rl/env.h"
#include "rl/settings.h"

#include <math.h>

int rl_net_init(struct rl_net *n, uint32_t observation, const uint32_t *hidden, uint32_t actions)
{
    if (observation < 1 || observation > RL_OBSERVATION_MAX || actions < 2 ||
        actions > RL_ACTIONS_MAX)
        return RL_E_SHAPE;
    *n = (struct rl_net){.actions = actions};
    n->width[0] = observation;
    for (uint32_t i = 0; i < RL_HIDDEN_MAX && hidden[i]; i++)
        n->width[++n->layers] = hidden[i];
    n->width[++n->layers] = actions + 1;
    for (uint32_t l = 0; l < n->layers; l++) {
        size_t in = n->width[l], out = n->width[l + 1];
        n->weight[l] = n->parameters;
        n->bias[l] = n->weight[l] + in * out;
        n->parameters = (n->bias[l] + out + 15) / 16 * 16;
        n->outputs += out;
        if (out > n->widest)
            n->widest = n->width[l + 1];
    }
    return RL_OK;
}

void rl_net_start(const struct rl_net *n, float *parameters, struct rl_rng *rng)
{
    for (uint32_t l = 0; l < n->layers; l++) {
        double bound = 1 / sqrt(n->width[l]);
        size_t count = ((size_t)n->width[l] + 1) * n->width[l + 1];
        for (size_t i = 0; i < count; i++)
            parameters[n->weight[l] + i] = (float)((2 * rl_rng_unit(rng) - 1) * bound);
    }
}

/* Every row of y[rows x stride] = bias[used]. */
static void fill_bias(float *y, const float *bias, uint32_t rows, uint32_t used, uint32_t stride)
{
    for (uint32_t r = 0; r < rows; r++)
        memcpy(y + (size_t)r * stride, bias, used * sizeof *y);
}

/* The ReLU; a NaN stays one. */
RL_WIDE static void bend(float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = y[i] < 0 ? 0 : y[i];
}

void rl_net_forward(const struct rl_net *n, const float *parameters, const float *x, uint32_t rows,
                    bool dueling, float *out)
{
    for (uint32_t l = 0; l < n->layers; l++) {
        bool last = l + 1 == n->layers;
        uint32_t in = n->width[l], width = n->width[l + 1];
        uint32_t used = last && !dueling ? width - 1 : width;
        const float *weight = parameters + n->weight[l];

        fill_bias(out, parameters + n->bias[l], rows, used, width);
        if (rows == 1)
            rl_gemv((int)used, (int)in, weight, x, out);
        else
            rl_gemm_nt((int)rows, (int)used, (int)in, x, weight, out, (int)width);
        if (!last)
            bend(out, (size_t)rows * width);
        x = out;
        out += (size_t)rows * width;
    }
}

float *rl_net_head(const struct rl_net *n, float *out, uint32_t rows)
{
    return out + (n->outputs - n->width[n->layers]) * rows;
}

/* dx[i] = y[i] > 0 ? dx[i] : 0: through the ReLU whose output was y. */
RL_WIDE static void bend_back(float *dx, const float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dx[i] = y[i] > 0 ? dx[i] : 0;
}

/* sum[width] = sum over the rows of d[rows x width]. */
RL_WIDE static void sum_rows(const float *d, uint32_t rows, uint32_t width, float *sum)
{
    memset(sum, 0, width * sizeof *sum);
    for (uint32_t r = 0; r < rows; r++, d += width) {
        for (uint32_t i = 0; i < width; i++)
            sum[i] += d[i];
    }
}

RL_WIDE static void add_scaled(float *y, const float *x, float scale, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] += scale * x[i];
}

RL_WIDE static void set_scaled(float *y, const float *x, float scale, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = scale * x[i];
}

/* Without dueling the slope of a row reaches one row of the last weights only, so no product of
 * matrices is needed: dweight[a] += slope x, dx = slope weight[a]. */
static void head_back_plain(const struct rl_net *n, const struct rl_backward *b, const float *x,
                            float *gradient, float *dx)
{
    uint32_t l = n->layers - 1, in = n->width[l];
    const float *weight = b->parameters + n->weight[l];
    float *dweight = gradient + n->weight[l], *dbias = gradient + n->bias[l];

    memset(dweight, 0, ((size_t)in + 1) * n->width[l + 1] * sizeof *dweight);
    for (uint32_t r = 0; r < b->rows; r++) {
        size_t row = (size_t)b->action[r] * in;
        add_scaled(dweight + row, x + (size_t)r * in, b->slope[r], in);
        dbias[b->action[r]] += b->slope[r];
        if (l)
            set_scaled(dx + (size_t)r * in, weight + row, b->slope[r], in);
    }
}

/* d[rows x (actions + 1)]: dQ_a/dA_j = [j = a] - [j legal]/legal count, dQ_a/dV = 1. */
static void dueling_slopes(const struct rl_net *n, const struct rl_backward *b, float *d)
{
    const uint64_t *legal = b->legal;

    for (uint32_t r = 0; r < b->rows; r++, d += n->actions + 1, legal += rl_words(n->actions)) {
        float slope = b->slope[r];
        float share = slope / (float)rl_count(legal, n->actions);
        for (uint32_t j = 0; j < n->actions; j++)
            d[j] = rl_has(legal, j) ? -share : 0;
        d[b->action[r]] += slope;
        d[n->actions] = slope;
    }
}

/* Layer l with d[rows x width[l+1]] known: its gradient and, unless it is the first, dx. */
static void layer_back(const struct rl_net *n, const struct rl_backward *b, uint32_t l,
                       const float *x, const float *d, float *gradient, float *dx)
{
    int rows = (int)b->rows, in = (int)n->width[l], width = (int)n->width[l + 1];

    memset(gradient + n->weight[l], 0, (size_t)width * (size_t)in * sizeof *gradient);
    rl_gemm_tn(width, in, rows, d, x, gradient + n->weight[l]);
    sum_rows(d, b->rows, n->width[l + 1], gradient + n->bias[l]);
    if (!l)
        return;
    memset(dx, 0, (size_t)rows * (size_t)in * sizeof *dx);
    rl_gemm_nn(rows, in, width, d, b->parameters + n->weight[l], dx);
}

void rl_net_backward(const struct rl_net *n, const struct rl_backward *b, float *gradient)
{
    size_t half = (size_t)b->rows * n->widest;
    float *d = b->scratch, *dx = b->scratch + half;
    const float *y = b->out + (n->outputs - n->width[n->layers]) * b->forward_rows;

    if (b->dueling)
        dueling_slopes(n, b, d);
    for (uint32_t l = n->layers; l-- > 0;) {
        const float *x = l ? y - (size_t)b->forward_rows * n->width[l] : b->x;
        if (l + 1 == n->layers && !b->dueling)
            head_back_plain(n, b, x, gradient, dx);
        else
            layer_back(n, b, l, x, d, gradient, dx);
        if (l)
            bend_back(dx, x, (size_t)b->rows * n->width[l]);
        float *swap = d;
        d = dx;
        dx = swap;
        y = x;
    }
}

void rl_net_q(const float *head, uint32_t actions, const uint64_t *legal, bool dueling, float *q)
{
    float shift = 0;

    if (dueling) {
        double sum = 0;
        for (uint32_t a = 0; a < actions; a++)
            sum += rl_has(legal, a) ? (double)head[a] : 0;
        shift = (float)((double)head[actions] - sum / (double)rl_count(legal, actions));
    }
    for (uint32_t a = 0; a < actions; a++)
        q[a] = head[a] + shift;
}

uint32_t rl_net_argmax(const float *q, uint32_t actions, const uint64_t *legal)
{
    uint32_t best = actions;

    for (uint32_t a = 0; a < actions; a++) {
        if (rl_has(legal, a) && (best == actions || q[a] > q[best]))
            best = a;
    }
    return best;
}

/* rows[(actions + 1) x stride] of the last layer, column by column. */
static void turn_rows(float *rows, uint32_t actions, size_t stride, bool on)
{
    for (size_t i = 0; i < stride; i++) {
        double sum = 0;
        for (uint32_t a = 0; a < actions; a++)
            sum += (double)rows[a * stride + i];
        float mean = (float)(sum / actions);
        float *value = &rows[actions * stride + i];
        for (uint32_t a = 0; a < actions && !on; a++)
            rows[a * stride + i] += *value - mean;
        if (on)
            *value = mean;
    }
}

void rl_net_switch_dueling(const struct rl_net *n, float *parameters, bool on)
{
    uint32_t l = n->layers - 1;

    turn_rows(parameters + n->weight[l], n->actions, n->width[l], on);
    turn_rows(parameters + n->bias[l], n->actions, 1, on);
}
