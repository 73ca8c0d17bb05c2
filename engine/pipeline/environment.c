#include "engine/pipeline/environment.h"

#include "engine/cluster/cluster.h"
#include "hlo/support/err.h"

#include <math.h>
#include <string.h>

enum {
    POINTS_MOST = 128,
    CUTS_MOST = 8,
    DEVICES_MOST = 32,
    SERVERS_MOST = 8,
    STAGES_MOST = 6,
    PERIOD_MOST = 31
};
#define SIZE_LEAST 0.003 /* ideal steps */
#define TOTAL_MS 100.0   /* forward and backward of a micro-batch on one device */

const struct environment_range environment_ranges[ENVIRONMENT_RANGES] = {
    [ENVIRONMENT_WIDE] = {"transfers to 15, all-reduces to 6 ideal steps", 24, 128,
                          .transfer_most = 15, .reduce_most = 6, .rough = true},
    [ENVIRONMENT_MIXED] = {"transfers to 2, all-reduces to 1.5 ideal steps", 128, 128,
                           .transfer_most = 2, .reduce_most = 1.5},
    [ENVIRONMENT_C] = {"as mixed, on 4 servers of 8, one stage each", 128, 128, 4, 32, 4,
                       .transfer_most = 2, .reduce_most = 1.5},
};

const char *const environment_range_names[ENVIRONMENT_RANGES] = {"wide", "mixed", "c"};

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
static double draw_number(struct rl_rng *r, uint32_t kind, double spread)
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
        a->compute[i] = draw_number(r, kind, spread);
        a->weight[i] = rl_rng_unit(r) < bare ? 0 : draw_number(r, kind, spread);
        a->bytes[i] = draw_number(r, kind, spread);
    }
}

/* Layers of one template: bytes are low at a layer's ends; an embedding first, a head last. */
static void transformer(struct arrays *a, struct rl_rng *r)
{
    uint32_t period = whole(r, 2, PERIOD_MOST),
             half = rl_rng_below(r, 2) ? a->points / 2 : a->points;
    double compute[PERIOD_MOST], weight[PERIOD_MOST], bytes[PERIOD_MOST],
        noise = between(r, 0, 0.3);
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

/* Servers of equal size, 2 to DEVICES_MOST devices in all. */
static void choose_servers(const struct environment_range *range, struct rl_rng *r,
                           uint32_t *servers, uint32_t *per)
{
    *servers = range->servers;
    *per = range->servers ? range->devices / range->servers : 1u << rl_rng_below(r, 4);
    if (!range->servers) {
        uint32_t most = DEVICES_MOST / *per;
        *servers = whole(r, *per < 2 ? 2 : 1, most < SERVERS_MOST ? most : SERVERS_MOST);
    }
}

static int new_instance(struct environment *v, const struct arrays *a,
                        const struct environment_range *range, struct rl_rng *r, struct err *e)
{
    struct pipe_options o = {.micro_batches = (uint32_t)log_between(r, 4, 64.99), .micro_batch = 1};
    struct cluster c;
    uint32_t per, servers;

    choose_servers(range, r, &servers, &per);
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
static void fill_environment(struct environment *v, const struct arrays *a,
                             const struct environment_range *range, struct rl_rng *r)
{
    struct pipe_instance *in = &v->in;
    double ideal = in->options.micro_batches * TOTAL_MS / in->devices;
    double crosses = log_between(r, SIZE_LEAST, range->transfer_most) * ideal;
    double reduced = log_between(r, SIZE_LEAST, range->reduce_most) * ideal, bytes = 0, weight = 0;
    double fixed = range->rough && rl_rng_below(r, 2) ? between(r, 0, 0.5) : 0;
    double per_byte = pipe_link_of(in, 0, in->devices / 2, in->devices)->ms_per_byte;
    double once = !range->rough || rl_rng_below(r, 4) ? 0 : log_between(r, 0.01, 1);

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

/* A variable of the first point that a late one uses again, as an embedding does. */
static int tie_ends(struct environment *v, struct rl_rng *r, struct err *e)
{
    struct pipe_instance *in = &v->in;
    uint32_t late = in->points - 1 - rl_rng_below(r, in->points / 10 + 1);
    const uint32_t uses[] = {0, late};
    struct pipe_tie tie = {.uses = uses,
                           .use_count = 2,
                           .gradient_bytes = in->gradient_bytes[1],
                           .parameter_bytes = in->gradient_bytes[1]};

    return late && tie.gradient_bytes > 0 ? pipe_instance_tie(in, &tie, e) : 0;
}

/* At most CUTS_MOST places for a stage to begin: server boundaries, then any but for a range that
 * has a count of stages. */
static void choose_cuts(struct environment *v, const struct environment_range *range,
                        struct rl_rng *r)
{
    const struct pipe_instance *in = &v->in;
    uint32_t count = 0, tries = range->stages ? 0 : 4 * CUTS_MOST;

    for (uint32_t s = 1; s < in->servers && count < CUTS_MOST; s++, count++)
        v->device_cut[in->boundary[s]] = 1;
    for (uint32_t n = 0; n < tries && count < CUTS_MOST && in->devices > 1; n++) {
        uint32_t d = whole(r, 1, in->devices - 1);
        count += !v->device_cut[d];
        v->device_cut[d] = 1;
    }
    v->device_cut[0] = v->device_cut[in->devices] = 1;
    uint32_t most = count + 1 < STAGES_MOST ? count + 1 : STAGES_MOST;
    v->stages = range->stages ? range->stages : whole(r, 2, most);
}

static void (*const fill_family[ENVIRONMENT_FAMILY_COUNT])(struct arrays *a, struct rl_rng *r) = {
    [ENVIRONMENT_INDEPENDENT] = independent,
    [ENVIRONMENT_TRANSFORMER] = transformer,
    [ENVIRONMENT_CNN] = convolutions,
};

static uint32_t choose_family(uint32_t families, struct rl_rng *r)
{
    uint32_t allowed[ENVIRONMENT_FAMILY_COUNT], count = 0;

    for (uint32_t k = 0; k < ENVIRONMENT_FAMILY_COUNT; k++) {
        if (!families || families >> k & 1)
            allowed[count++] = k;
    }
    return allowed[rl_rng_below(r, count)];
}

int environment_new(struct environment *v, const struct environment_range *range, uint32_t families,
                    struct rl_rng *rng, struct err *e)
{
    struct arrays a = {
        .points = (uint32_t)log_between(rng, range->points_least, range->points_most + 0.99)};

    memset(v, 0, sizeof *v);
    int rc = new_instance(v, &a, range, rng, e);
    if (rc)
        return rc;
    fill_family[choose_family(families, rng)](&a, rng);
    scale(&a);
    fill_environment(v, &a, range, rng);
    choose_cuts(v, range, rng);
    if (range->rough && rl_rng_below(rng, 4) == 0)
        rc = tie_ends(v, rng, e);
    rc = rc ? rc : pipe_instance_finish(&v->in, e);
    if (rc)
        pipe_instance_free(&v->in);
    return rc;
}

void environment_free(struct environment *v)
{
    pipe_instance_free(&v->in);
}
