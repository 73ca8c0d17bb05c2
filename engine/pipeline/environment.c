#include "engine/pipeline/environment.h"

#include "engine/cluster/cluster.h"
#include "hlo/support/err.h"

#include <math.h>
#include <string.h>

enum { POINTS_MOST = 96, CUTS_MOST = 8 };
#define TOTAL_MS 100.0 /* forward and backward of a micro-batch on one device */

struct arrays {
    uint32_t points;
    double compute[POINTS_MOST], weight[POINTS_MOST], bytes[POINTS_MOST + 1]; /* of cuts */
};

static double between(struct rl_rng *r, double least, double most)
{
    return least + (most - least) * rl_rng_unit(r);
}

static double log_between(struct rl_rng *r, double least, double most)
{
    return least * pow(most / least, rl_rng_unit(r));
}

static uint32_t whole(struct rl_rng *r, uint32_t least, uint32_t most)
{
    return least + rl_rng_below(r, most - least + 1);
}

static double normal(struct rl_rng *r)
{
    return sqrt(-2 * log(1 - rl_rng_unit(r))) * cos(6.283185307179586 * rl_rng_unit(r));
}

/* Uniform, normal, binomial, exponential, around 1, never below 0.01. */
static double draw(struct rl_rng *r, uint32_t kind, double spread)
{
    double x = 0;

    switch (kind) {
    case 0:
        x = 1 + spread * (2 * rl_rng_unit(r) - 1);
        break;
    case 1:
        x = 1 + spread * normal(r);
        break;
    case 2:
        for (int n = 0; n < 10; n++)
            x += rl_rng_unit(r) < 0.5;
        x = 1 + spread * (x / 5 - 1);
        break;
    default:
        x = 1 + spread * (-log(1 - rl_rng_unit(r)) - 1);
    }
    return x > 0.01 ? x : 0.01;
}

static void independent(struct arrays *a, struct rl_rng *r)
{
    uint32_t kind = rl_rng_below(r, 4);
    double spread = log_between(r, 0.05, 3), bare = between(r, 0, 0.7);

    for (uint32_t i = 0; i < a->points; i++) {
        a->compute[i] = draw(r, kind, spread);
        a->weight[i] = rl_rng_unit(r) < bare ? 0 : draw(r, kind, spread);
        a->bytes[i] = draw(r, kind, spread);
    }
}

/* Layers of one template: bytes are low at a layer's ends; an embedding first, a head last. */
static void transformer(struct arrays *a, struct rl_rng *r)
{
    uint32_t period = whole(r, 2, 12), half = rl_rng_below(r, 2) ? a->points / 2 : a->points;
    double compute[12], weight[12], bytes[12], noise = between(r, 0, 0.3);
    double carried = between(r, 0, 1);

    for (uint32_t k = 0; k < period; k++) {
        compute[k] = rl_rng_below(r, 3) ? between(r, 0.02, 0.2) : between(r, 0.5, 2);
        weight[k] = rl_rng_unit(r) < 0.7 ? between(r, 0.2, 2) : 0;
        bytes[k] = k ? log_between(r, 1, 8) : 1;
    }
    for (uint32_t i = 0; i < a->points; i++) {
        uint32_t k = i % period;
        a->compute[i] = compute[k] * (1 + noise * (2 * rl_rng_unit(r) - 1));
        a->weight[i] = weight[k];
        a->bytes[i] = bytes[k] + (i > half ? carried : 0);
    }
    double sum = 0;
    for (uint32_t i = 0; i < a->points; i++)
        sum += a->weight[i];
    a->weight[0] += sum * log_between(r, 0.005, 1);
    a->compute[a->points - 1] *= 1 + between(r, 0, 10);
}

/* Levels: bytes fall and weights rise from one to the next; half of them end in dense layers. */
static void convolutions(struct arrays *a, struct rl_rng *r)
{
    uint32_t levels = whole(r, 3, 6);
    double bytes = 1, weight = 1, compute = 1, sum = 0;

    for (uint32_t level = 0, i = 0; level < levels; level++) {
        uint32_t end = a->points * (level + 1) / levels;
        for (; i < end; i++) {
            a->compute[i] = compute * between(r, 0.7, 1.3);
            a->weight[i] = rl_rng_below(r, 4) ? weight * between(r, 0.7, 1.3) : 0;
            a->bytes[i] = bytes * (rl_rng_below(r, 3) ? 1 : between(r, 1, 2));
            sum += a->weight[i];
        }
        bytes /= between(r, 1.3, 3.5);
        weight *= between(r, 1.2, 6);
        compute *= between(r, 0.5, 1.6);
    }
    if (rl_rng_below(r, 2))
        a->weight[a->points - 1 - rl_rng_below(r, a->points / 10 + 1)] +=
            sum * log_between(r, 0.3, 8);
}

static int new_instance(struct environment *v, struct arrays *a, struct rl_rng *r, struct err *e)
{
    struct pipe_options o = {.micro_batches = (uint32_t)log_between(r, 4, 64.99), .micro_batch = 1};
    struct cluster c;
    uint32_t per = 1u << rl_rng_below(r, 4),
             servers = whole(r, per < 2 ? 2 : 1, 24 / per < 6 ? 24 / per : 6);

    int rc = cluster_of_devices(&c, per, e);
    if (rc)
        return rc;
    c.group[0].count = servers;
    c.servers = servers;
    c.devices = servers * per;
    c.network = 3.125e9;
    c.network_latency_ms = rl_rng_below(r, 2) ? 0.025 : 0;
    return pipe_instance_new(&v->in, a->points, &c, &o, e);
}

static void scale(struct arrays *a)
{
    double compute = 0;

    for (uint32_t i = 0; i < a->points; i++)
        compute += a->compute[i];
    for (uint32_t i = 0; i < a->points; i++)
        a->compute[i] *= TOTAL_MS / 3 / compute;
}

/* Sizes in ideal steps: what crosses a cut in the middle, and what all devices reduce. */
static void fill(struct environment *v, const struct arrays *a, struct rl_rng *r)
{
    struct pipe_instance *in = &v->in;
    double ideal = in->options.micro_batches * TOTAL_MS / in->devices;
    double crosses = log_between(r, 0.003, 15) * ideal, reduced = log_between(r, 0.003, 6) * ideal;
    double fixed = rl_rng_below(r, 2) ? between(r, 0, 0.5) : 0, bytes = 0, weight = 0;
    double per_byte = pipe_link_of(in, 0, in->devices / 2, in->devices)->ms_per_byte;
    double once = rl_rng_below(r, 4) ? 0 : log_between(r, 0.01, 1);

    for (uint32_t i = 0; i < a->points; i++) {
        bytes += a->bytes[i] / a->points;
        weight += a->weight[i];
    }
    double unit = crosses / (in->options.micro_batches - 1) / per_byte / bytes;
    double reduce =
        weight > 0 ? reduced / pipe_group_of(in, 0, in->devices)->reduce_ms_per_byte / weight : 0;
    for (uint32_t i = 0; i < a->points; i++) {
        for (uint32_t n = 1; n <= in->devices; n++) {
            double part = fixed + (1 - fixed) / n;
            in->forward_ms[pipe_row(in, 0, n)][i + 1] = a->compute[i] * part;
            in->backward_ms[pipe_row(in, 0, n)][i + 1] = 2 * a->compute[i] * part;
        }
        in->gradient_bytes[i + 1] = a->weight[i] * reduce;
        in->variables[i + 1] = a->weight[i] > 0;
        if (!i)
            continue;
        in->forward_bytes[i] = in->backward_bytes[i] = a->bytes[i] * unit;
        in->once_bytes[i] = once * a->bytes[i] * unit * (rl_rng_below(r, 3) == 0);
    }
}

/* At most CUTS_MOST places for a stage to begin: server boundaries first, then any. */
static void choose_cuts(struct environment *v, struct rl_rng *r)
{
    const struct pipe_instance *in = &v->in;
    uint32_t count = 0;

    for (uint32_t s = 1; s < in->servers && count < CUTS_MOST; s++, count++)
        v->device_cut[in->boundary[s]] = 1;
    for (uint32_t n = 0; n < 4 * CUTS_MOST && count < CUTS_MOST && in->devices > 1; n++) {
        uint32_t d = whole(r, 1, in->devices - 1);
        count += !v->device_cut[d];
        v->device_cut[d] = 1;
    }
    v->device_cut[0] = v->device_cut[in->devices] = 1;
    uint32_t most = count + 1 < 6 ? count + 1 : 6;
    v->stages = whole(r, 2, most);
}

int environment_new(struct environment *v, struct rl_rng *rng, struct err *e)
{
    struct arrays a = {.points = whole(rng, 16, POINTS_MOST)};

    memset(v, 0, sizeof *v);
    int rc = new_instance(v, &a, rng, e);
    if (rc)
        return rc;
    uint32_t family = rl_rng_below(rng, 3);
    if (family == 0)
        independent(&a, rng);
    else if (family == 1)
        transformer(&a, rng);
    else
        convolutions(&a, rng);
    scale(&a);
    fill(v, &a, rng);
    choose_cuts(v, rng);
    rc = pipe_instance_finish(&v->in, e);
    if (rc)
        pipe_instance_free(&v->in);
    return rc;
}

void environment_free(struct environment *v)
{
    pipe_instance_free(&v->in);
}
