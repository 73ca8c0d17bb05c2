#include "engine/pipeline/flat_net.h"

#include "engine/pipeline/pipe_instance.h"
#include "rl/error.h"
#include "rl/net.h"
#include "rl/serialize.h"
#include "rl/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const uint32_t flat_hidden[RL_HIDDEN_MAX] = {FLAT_WIDTH, FLAT_WIDTH};

int flat_net_new(struct flat_net *f)
{
    int code = rl_net_init(&f->net, FLAT_OBSERVATION, flat_hidden, FLAT_ACTIONS);

    if (code)
        return code;
    f->parameters = calloc(f->net.parameters, sizeof *f->parameters);
    return f->parameters ? RL_OK : RL_E_MEMORY;
}

void flat_net_free(struct flat_net *f)
{
    free(f->parameters);
    *f = (struct flat_net){0};
}

void flat_net_serialize(struct rl_serializer *w, struct flat_net *f)
{
    uint32_t shape[] = {FLAT_OBSERVATION, FLAT_WIDTH, FLAT_WIDTH, FLAT_ACTIONS}, is[4];

    memcpy(is, shape, sizeof is);
    RL_ONE(w, is);
    w->failed |= memcmp(is, shape, sizeof is) != 0;
    if (!w->failed && w->pass == RL_READ)
        w->failed = flat_net_new(f) != RL_OK;
    if (w->failed)
        return;
    RL_MANY(w, f->parameters, f->net.parameters);
    for (size_t k = 0; k < f->net.parameters && w->pass == RL_READ; k++)
        w->failed |= !isfinite(f->parameters[k]);
}

bool flat_takes(const struct pipe_instance *in)
{
    return in->points <= FLAT_POINTS && in->devices <= FLAT_DEVICES;
}

/* What a byte between neighbours d - 1 and d takes; between servers it crosses the network. */
static double byte_ms(const struct pipe_instance *in, uint32_t d)
{
    return pipe_link_of(in, d - 1, d, d + 1)->ms_per_byte;
}

/* Speeds over the largest. Devices of different servers talk as fast as the slowest border between
 * them. */
static void observe_topology(const struct pipe_instance *in, float *out)
{
    double least = INFINITY;

    for (uint32_t d = 1; d < in->devices; d++)
        least = fmin(least, byte_ms(in, d));
    for (uint32_t a = 0; a < in->devices; a++) {
        double slowest = 0;
        out[a * FLAT_DEVICES + a] = 1;
        for (uint32_t b = a + 1; b < in->devices; b++) {
            slowest = pipe_more(slowest, byte_ms(in, b));
            float speed = slowest > 0 ? (float)(least / slowest) : 1;
            out[a * FLAT_DEVICES + b] = out[b * FLAT_DEVICES + a] = speed;
        }
    }
}

void flat_observe_problem(const struct pipe_instance *in, float *out)
{
    float *c = out, *a = out + FLAT_POINTS, *w = out + 2 * FLAT_POINTS, *all = out;
    double m = in->options.micro_batches, slowest = 0;
    float most = 0;

    memset(out, 0, FLAT_PARTITION * sizeof *out);
    for (uint32_t d = 1; d < in->devices; d++)
        slowest = pipe_more(slowest, byte_ms(in, d));
    for (uint32_t i = 0; i < in->points; i++) {
        c[i] = (float)(m * (in->forward_ms[0][i + 1] + in->backward_ms[0][i + 1]) / in->devices);
        a[i] = (float)((m - 1) * slowest * pipe_more(in->forward_bytes[i], in->backward_bytes[i]));
        w[i] = (float)(in->gradient_bytes[i + 1] *
                       pipe_group_of(in, 0, in->devices)->reduce_ms_per_byte);
    }
    for (uint32_t k = 0; k < 3 * FLAT_POINTS; k++)
        most = all[k] > most ? all[k] : most;
    for (uint32_t k = 0; k < 3 * FLAT_POINTS && most > 0; k++)
        all[k] /= most;
    observe_topology(in, out + 3 * FLAT_POINTS);
}

void flat_observe_plan(const struct pipe_instance *in, const struct pipe_plan *p, uint32_t cut,
                       uint32_t device, float *out)
{
    float *at = out + FLAT_PARTITION, *state = out + FLAT_STATE;

    memset(at, 0, (FLAT_OBSERVATION - FLAT_PARTITION) * sizeof *at);
    for (uint32_t k = 1; k < cut; k++)
        at[p->pivot[k]] = at[FLAT_POINTS + p->device[k]] = 1;
    if (device)
        at[FLAT_POINTS + device] = 1;
    state[0] = device ? 1 : 0;
    state[1] = (float)(p->stages - cut) / 4;
    state[2] = (float)(log(in->options.micro_batches) / 4);
}

void flat_q(const struct flat_net *f, const float *observation, float *q)
{
    float out[2 * FLAT_WIDTH + FLAT_ACTIONS + 1];

    rl_net_forward(&f->net, f->parameters, observation, 1, false, out);
    memcpy(q, rl_net_head(&f->net, out, 1), FLAT_ACTIONS * sizeof *q);
}
