#include "rl/learner.h"

#include "rl/action_set.h"
#include "rl/aligned.h"
#include "rl/blas.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/taught.h"

#include <math.h>

static int take_networks(struct rl_learner *l)
{
    size_t n = l->net.parameters;
    float *block = rl_alloc(5 * n + (l->net.outputs + 15) / 16 * 16, sizeof *block);

    if (!block)
        return RL_E_MEMORY;
    l->held[0] = block;
    l->online = block;
    l->target = block + n;
    l->gradient = block + 2 * n;
    l->adam.mean = block + 3 * n;
    l->adam.square = block + 4 * n;
    l->one_out = block + 5 * n;
    return RL_OK;
}

/* Buffers of an update, each on its own cache line. */
static int take_buffers(struct rl_learner *l, uint32_t batch)
{
    size_t b = batch, line = 16;
    size_t sizes[] = {2 * b * l->net.outputs, 2 * b * l->net.widest, b * (l->net.actions + 1), b,
                      b};
    float **to[] = {&l->out, &l->scratch, &l->next_q, &l->slope, &l->error};
    size_t total = 0;

    for (size_t i = 0; i < 5; i++)
        total += sizes[i] = (sizes[i] + line - 1) / line * line;
    float *block = rl_alloc_raw(total, sizeof *block);
    if (!block)
        return RL_E_MEMORY;
    free(l->held[1]);
    l->held[1] = block;
    for (size_t i = 0; i < 5; i++) {
        *to[i] = block;
        block += sizes[i];
    }
    l->batch_room = batch;
    return RL_OK;
}

int rl_learner_init(struct rl_learner *l, uint32_t observation_size, uint32_t actions,
                    const struct rl_settings *s, struct rl_rng *init)
{
    *l = (struct rl_learner){.dueling = s->dueling};
    int code = rl_blas_start();
    if (!code)
        code = rl_net_init(&l->net, observation_size, s->hidden, actions);
    if (!code)
        code = take_networks(l);
    if (!code)
        code = take_buffers(l, s->batch);
    if (code) {
        rl_learner_release(l);
        return code;
    }
    rl_net_start(&l->net, l->online, init);
    memcpy(l->target, l->online, l->net.parameters * sizeof *l->target);
    return RL_OK;
}

void rl_learner_release(struct rl_learner *l)
{
    free(l->held[0]);
    free(l->held[1]);
    *l = (struct rl_learner){0};
}

int rl_learner_follow(struct rl_learner *l, const struct rl_settings *s)
{
    if (s->batch != l->batch_room) {
        int code = take_buffers(l, s->batch);
        if (code)
            return code;
    }
    if (s->dueling != l->dueling) {
        rl_net_switch_dueling(&l->net, l->online, s->dueling);
        rl_net_switch_dueling(&l->net, l->target, s->dueling);
        l->dueling = s->dueling;
    }
    return RL_OK;
}

/* Loss of one error and its derivative by Q (error = target - Q). */
static double loss_of(const struct rl_settings *s, double error, double *slope)
{
    double size = fabs(error), delta = s->huber_delta;

    if (!s->huber) {
        *slope = -2 * error;
        return error * error;
    }
    *slope = size <= delta ? -error : (error > 0 ? -delta : delta);
    return size <= delta ? error * error / 2 : delta * (size - delta / 2);
}

/* Value of what follows row i: `choose` and `value` are heads of the next observation. */
static double next_value(const struct rl_learner *l, const struct rl_settings *s,
                         const struct rl_batch *b, uint32_t i, const float *choose,
                         const float *value, struct rl_lesson_row *taught)
{
    float q[RL_ACTIONS_MAX];
    uint32_t n = l->net.actions;
    uint64_t all[RL_WORDS_MAX];
    const uint64_t *legal = rl_set(b->next_legal, i, n);

    rl_put_all(all, n);
    legal = rl_count(legal, n) ? legal : all;
    const uint64_t *seen = s->mask_bootstrap ? legal : all;

    rl_net_q(choose, n, legal, l->dueling, q);
    uint32_t best = rl_net_argmax(q, n, seen);
    double choice = (double)q[best];
    rl_net_q(value, n, legal, l->dueling, q);
    if (taught) {
        taught->next_action = best;
        taught->next_choice = choice;
        taught->next_value = (double)q[best];
        taught->next_largest = (double)q[rl_net_argmax(q, n, seen)];
    }
    return (double)q[best];
}

static void teach_row(const struct rl_batch *b, uint32_t i, bool is_bounded, double target,
                      double q, struct rl_lesson_row *out)
{
    out->slot = b->slot[i];
    out->action = b->action[i];
    out->reward = (double)b->reward[i];
    out->discount = (double)b->discount[i];
    out->bound = (double)b->bound[i];
    out->is_bounded = is_bounded;
    out->target = target;
    out->q = q;
    out->error = target - q;
    out->weight = (double)b->weight[i];
}

/* Fills error and slope of every row from the three heads; returns false if one is not finite. */
static bool find_errors(struct rl_learner *l, const struct rl_settings *s, const struct rl_batch *b,
                        const float *now, const float *choose, struct rl_update *u)
{
    uint32_t n = l->net.actions, width = n + 1;
    float q[RL_ACTIONS_MAX];

    *u = (struct rl_update){0};
    for (uint32_t i = 0; i < b->count; i++) {
        const float *value = l->next_q + (size_t)i * width;
        struct rl_lesson_row *taught = l->taught && i < RL_LESSON_ROWS ? l->taught + i : NULL;
        double target = (double)b->reward[i], slope;
        if (b->discount[i] != 0)
            target += (double)b->discount[i] *
                      next_value(l, s, b, i, choose + (size_t)i * width, value, taught);
        bool is_bounded = s->return_bound && target < (double)b->bound[i];
        if (is_bounded)
            target = (double)b->bound[i];
        rl_net_q(now + (size_t)i * width, n, rl_set(b->legal, i, n), l->dueling, q);
        if (taught)
            teach_row(b, i, is_bounded, target, (double)q[b->action[i]], taught);
        double error = target - (double)q[b->action[i]], weight = (double)b->weight[i];
        u->loss += weight * loss_of(s, error, &slope) / b->count;
        u->error_mean += fabs(error) / b->count;
        u->error_max = fabs(error) > u->error_max ? fabs(error) : u->error_max;
        u->q_mean += (double)q[b->action[i]] / b->count;
        l->error[i] = (float)error;
        l->slope[i] = (float)(weight * slope / b->count);
    }
    return isfinite(u->loss);
}

static void move_target(struct rl_learner *l, const struct rl_settings *s)
{
    size_t n = l->net.parameters;
    float tau = (float)s->target_tau;

    l->since_copy++;
    if (tau > 0) {
        for (size_t i = 0; i < n; i++)
            l->target[i] += tau * (l->online[i] - l->target[i]);
    } else if (l->since_copy >= s->target_every) {
        memcpy(l->target, l->online, n * sizeof *l->target);
        l->since_copy = 0;
    }
}

/* Heads of the three passes: now[batch], choose[batch] and l->next_q. The online network sees
 * observations and next ones in one product, twice as tall. */
static void forward_all(struct rl_learner *l, const struct rl_settings *s, const struct rl_batch *b,
                        const float **now, const float **choose, uint32_t *rows)
{
    const struct rl_net *n = &l->net;
    size_t head = (size_t)b->count * (n->actions + 1);
    const float *next = b->rows + (size_t)b->count * n->width[0];

    rl_net_forward(n, s->target_network ? l->target : l->online, next, b->count, l->dueling,
                   l->out);
    memcpy(l->next_q, rl_net_head(n, l->out, b->count), head * sizeof *l->next_q);
    *rows = s->double_q ? 2 * b->count : b->count;
    rl_net_forward(n, l->online, b->rows, *rows, l->dueling, l->out);
    *now = rl_net_head(n, l->out, *rows);
    *choose = s->double_q ? *now + head : l->next_q;
}

int rl_learner_update(struct rl_learner *l, const struct rl_settings *s, const struct rl_batch *b,
                      struct rl_update *u)
{
    const float *now, *choose;
    struct rl_backward back = {
        .parameters = l->online,
        .x = b->rows,
        .out = l->out,
        .rows = b->count,
        .dueling = l->dueling,
        .action = b->action,
        .legal = b->legal,
        .slope = l->slope,
        .scratch = l->scratch,
    };

    forward_all(l, s, b, &now, &choose, &back.forward_rows);
    if (!find_errors(l, s, b, now, choose, u))
        return RL_E_DIVERGED;
    rl_net_backward(&l->net, &back, l->gradient);
    u->gradient_norm = rl_adam_norm(l->gradient, l->net.parameters);
    if (!isfinite(u->gradient_norm))
        return RL_E_DIVERGED;

    struct rl_adam_rule rule = {s->learning_rate, s->adam_beta1, s->adam_beta2, s->adam_eps};
    bool cut = s->clip && u->gradient_norm > s->clip_norm;
    float scale = cut ? (float)(s->clip_norm / (u->gradient_norm + 1e-6)) : 1;
    rl_adam_step(&l->adam, &rule, scale, l->gradient, l->online, l->net.parameters);
    move_target(l, s);
    return RL_OK;
}

void rl_learner_q(struct rl_learner *l, const float *observation, const uint64_t *legal, float *q)
{
    rl_net_forward(&l->net, l->online, observation, 1, l->dueling, l->one_out);
    rl_net_q(rl_net_head(&l->net, l->one_out, 1), l->net.actions, legal, l->dueling, q);
}
