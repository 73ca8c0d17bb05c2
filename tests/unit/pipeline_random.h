/* tests/unit/pipeline_random.h - random pipeline problems on random clusters, and L and memory of a
 * plan by plain sums over the values as they were drawn, for tests. */
#ifndef AUTOMAP_TESTS_PIPELINE_RANDOM_H
#define AUTOMAP_TESTS_PIPELINE_RANDOM_H

#include "engine/cost/training.h"
#include "engine/pipeline/formula.h"
#include "rl/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RANDOM_POINTS = 16, RANDOM_DEVICES = 8, RANDOM_TIES = 2, RANDOM_AGAIN = 3 };

struct random_pipe {
    struct pipe_instance in;
    struct cluster cluster;
    /* As drawn; not summed. */
    double forward[2][RANDOM_DEVICES + 1][RANDOM_POINTS];
    double backward[2][RANDOM_DEVICES + 1][RANDOM_POINTS];
    double update[2][RANDOM_POINTS];
    double gradient[RANDOM_POINTS], state[RANDOM_POINTS], stash[RANDOM_POINTS];
    double temporary[RANDOM_POINTS];
    uint32_t variables[RANDOM_POINTS];
    uint32_t ties, uses[RANDOM_TIES][3];
    struct pipe_tie tie[RANDOM_TIES];
    uint32_t agains;
    struct random_again {
        uint32_t at[3];
        double ms[2][2], stash; /* [type][pass] */
    } again[RANDOM_AGAIN];
};

static inline double random_between(struct rl_rng *r, double low, double high)
{
    return low + (high - low) * rl_rng_unit(r);
}

/* One to three servers of one to four devices, often unequal, `most` devices at most. */
static inline void random_cluster(struct rl_rng *r, uint32_t most, struct cluster *out)
{
    char yaml[2048];
    uint32_t left = 1 + rl_rng_below(r, most);
    int at = snprintf(yaml, sizeof yaml,
                      "devices:\n"
                      "  p: {memory: 16 GB, peak: 10 TFLOP/s, bandwidth: 400 GB/s, launch: 5 us}\n"
                      "  q: {memory: %u GB, peak: 20 TFLOP/s, bandwidth: 400 GB/s, launch: 5 us}\n"
                      "network: {bandwidth: %u GB/s, latency: %u us}\n"
                      "servers:\n",
                      8 + rl_rng_below(r, 16), 1 + rl_rng_below(r, 9), rl_rng_below(r, 50));
    while (left) {
        uint32_t devices = 1 + rl_rng_below(r, left < 4 ? left : 4);
        at += snprintf(
            yaml + at, sizeof yaml - (size_t)at, "  - {type: %s, count: 1, devices: %u%s%s}\n",
            rl_rng_below(r, 3) ? "p" : "q", devices, rl_rng_below(r, 4) ? "" : ", network: 3 GB/s",
            devices == 1         ? ""
            : rl_rng_below(r, 2) ? ", link: {kind: ring, bandwidth: 90 GB/s, latency: 9 us}"
                                 : ", link: {kind: switch, bandwidth: 40 GB/s, latency: 4 us}");
        left -= devices;
    }
    struct err e = {0};
    if (cluster_read(out, yaml, strlen(yaml), &e)) {
        fprintf(stderr, "%s%u:%u: %s\n", yaml, e.line, e.col, e.what);
        abort();
    }
}

static inline void random_tables(struct random_pipe *p, struct rl_rng *r)
{
    struct pipe_instance *in = &p->in;
    double bytes = random_between(r, 0, 1) < 0.2 ? 0 : pow(10, random_between(r, 6, 9));

    for (uint32_t i = 0; i < in->points; i++) {
        double work = rl_rng_below(r, 6) ? random_between(r, 0, 10) : 0;
        for (uint32_t t = 0; t < in->types; t++) {
            double speed = t ? random_between(r, 0.5, 2) : 1;
            in->update_ms[t][i + 1] = p->update[t][i] = random_between(r, 0, 1);
            for (uint32_t k = 1; k <= in->devices; k++) {
                double f = (0.1 + work) * in->share[k] * speed;
                p->forward[t][k][i] = in->forward_ms[pipe_row(in, t, k)][i + 1] = f;
                p->backward[t][k][i] = in->backward_ms[pipe_row(in, t, k)][i + 1] =
                    f * random_between(r, 1, 3);
            }
        }
        in->gradient_bytes[i + 1] = p->gradient[i] =
            rl_rng_below(r, 3) ? random_between(r, 0, 2e8) : 0;
        in->state_bytes[i + 1] = p->state[i] = 4 * p->gradient[i];
        in->stash_bytes[i + 1] = p->stash[i] = random_between(r, 0, 1e9);
        in->temporary_bytes[i] = p->temporary[i] = random_between(r, 0, 2e9);
        in->variables[i + 1] = p->variables[i] = p->gradient[i] > 0;
        if (i) {
            in->forward_bytes[i] = rl_rng_below(r, 8) ? bytes * rl_rng_unit(r) : 0;
            in->backward_bytes[i] = rl_rng_below(r, 8) ? bytes * rl_rng_unit(r) : 0;
            in->once_bytes[i] = rl_rng_below(r, 4) ? 0 : bytes * rl_rng_unit(r);
        }
    }
}

static inline void random_ties(struct random_pipe *p, struct rl_rng *r)
{
    struct err e = {0};

    p->ties = p->in.points > 2 ? rl_rng_below(r, RANDOM_TIES + 1) : 0;
    for (uint32_t n = 0; n < p->ties; n++) {
        uint32_t *u = p->uses[n], last = p->in.points - 1;
        u[0] = rl_rng_below(r, last);
        u[1] = u[0] + 1 + rl_rng_below(r, last - u[0]);
        u[2] = last;
        p->tie[n] = (struct pipe_tie){.uses = u,
                                      .use_count = u[1] < last ? 2 + rl_rng_below(r, 2) : 2,
                                      .gradient_bytes = random_between(r, 0, 1e9),
                                      .state_bytes = random_between(r, 0, 4e9),
                                      .update_ms = random_between(r, 0, 3)};
        if (pipe_instance_tie(&p->in, &p->tie[n], &e))
            abort();
    }
}

/* What is made for up to three points, in every stage that has one of them. */
static inline void random_again(struct random_pipe *p, struct rl_rng *r)
{
    struct pipe_instance *in = &p->in;
    struct again_pair pair[2 * RANDOM_AGAIN];
    double amount[RANDOM_AGAIN * (PIPE_AGAIN_COLUMNS + 2 * 2)];
    uint32_t columns = pipe_again_column(in->types, false), pairs = 0;
    struct err e = {0};

    p->agains = in->points > 2 ? rl_rng_below(r, RANDOM_AGAIN + 1) : 0;
    for (uint32_t n = 0; n < p->agains; n++) {
        struct random_again *a = &p->again[n];
        a->at[0] = rl_rng_below(r, in->points - 2);
        a->at[1] = a->at[0] + 1 + rl_rng_below(r, in->points - 2 - a->at[0]);
        a->at[2] = in->points - 1;
        amount[n * columns + PIPE_AGAIN_STASH] = a->stash = random_between(r, 0, 1e9);
        in->stash_bytes[a->at[0] + 1] += a->stash;
        p->stash[a->at[0]] += a->stash;
        for (uint32_t t = 0; t < in->types; t++) {
            for (int back = 0; back < 2; back++) {
                a->ms[t][back] = random_between(r, 0, 3);
                amount[n * columns + pipe_again_column(t, back)] = a->ms[t][back];
            }
            for (uint32_t k = 1; k <= in->devices; k++) {
                in->forward_ms[pipe_row(in, t, k)][a->at[0] + 1] += a->ms[t][0];
                in->backward_ms[pipe_row(in, t, k)][a->at[0] + 1] += a->ms[t][1];
                p->forward[t][k][a->at[0]] += a->ms[t][0];
                p->backward[t][k][a->at[0]] += a->ms[t][1];
            }
        }
        for (int u = 1; u < 3; u++)
            pair[pairs++] = (struct again_pair){a->at[u - 1], a->at[u], n};
    }
    if (pipe_instance_again(in, pair, pairs, amount, &e))
        abort();
}

/* Options of all kinds; memory limits from generous to what nothing fits. */
static inline void random_pipe_new(struct random_pipe *p, uint64_t seed, uint32_t points,
                                   uint32_t devices)
{
    struct rl_rng r;
    struct err e = {0};

    rl_rng_seed(&r, seed, 0);
    memset(p, 0, sizeof *p);
    random_cluster(&r, devices, &p->cluster);
    for (uint32_t g = 0; g < p->cluster.groups; g++)
        p->cluster.group[g].link.nccl = seed % 3 == 1;
    struct pipe_options o = {.micro_batches = rl_rng_below(&r, 4) ? 1 + rl_rng_below(&r, 20) : 1,
                             .micro_batch = 1 + rl_rng_below(&r, 16),
                             .overlap = rl_rng_below(&r, 2) ? rl_rng_unit(&r) : 0,
                             .memory_share = rl_rng_below(&r, 3) ? random_between(&r, 0.05, 1) : 0,
                             .schedule =
                                 (enum pipe_schedule_kind)rl_rng_below(&r, PIPE_SCHEDULE_COUNT),
                             .half_duplex = rl_rng_below(&r, 2),
                             .recompute = rl_rng_below(&r, 3) == 0};
    if (seed % 4 == 1)
        o.overlap = OVERLAP_AUTO;
    if (pipe_instance_new(&p->in, 1 + rl_rng_below(&r, points), &p->cluster, &o, &e))
        abort();
    random_tables(p, &r);
    random_ties(p, &r);
    random_again(p, &r);
    if (pipe_instance_finish(&p->in, &e))
        abort();
}

/* ---- plain sums ---- */
static inline bool slow_uses(const struct random_pipe *p, uint32_t tie, uint32_t i, uint32_t j)
{
    for (uint32_t u = 0; u < p->tie[tie].use_count; u++)
        if (p->uses[tie][u] >= i && p->uses[tie][u] < j)
            return true;
    return false;
}

/* NCCL's protocols, us of a call, of a step inside and between servers, part of the bandwidth. */
static const double slow_nccl[3][4] = {
    {3.6, 0.47, 2.7, 0.25}, {10, 1.9, 4.0, 0.92}, {8.4, 3.4, 9.6, 1}};

/* A message that takes `moving` ms at the full rate. Steps: of a ring both ways, or of one hop. */
static inline double slow_message_ms(bool nccl, double moving, double latency_ms, double inside,
                                     double across, bool is_hop)
{
    double least = INFINITY;

    if (!(moving > 0))
        return 0;
    for (int k = 0; k < 3; k++) {
        double in = inside * slow_nccl[k][1], out = across * slow_nccl[k][2];
        double us = slow_nccl[k][0] + (is_hop ? fmax(in, out) : in + out);
        least = fmin(least, moving / slow_nccl[k][3] + us * 1e-3);
    }
    return nccl ? least : moving + latency_ms;
}

static inline double slow_reduce_ms(const struct random_pipe *p, uint32_t a, uint32_t b,
                                    double bytes)
{
    const struct pipe_instance *in = &p->in;
    const struct cluster *c = &p->cluster;
    uint32_t most = 0, servers = 0, here = 0;
    double latency = 0;

    if (b - a < 2)
        return 0;
    for (uint32_t d = a; d < b; d++) {
        bool is_new = d == a || in->server_of[d] != in->server_of[d - 1];
        servers += is_new;
        here = is_new ? 1 : here + 1;
        most = here > most ? here : most;
        if (here > 1)
            latency = fmax(latency, c->group[cluster_group_of(c, d)].link.latency_ms);
    }
    latency += servers > 1 ? c->network_latency_ms : 0;
    return slow_message_ms(c->group[0].link.nccl,
                           pipe_group_of(in, a, b)->reduce_ms_per_byte * bytes, 2 * latency,
                           2 * (most - 1.0), 2 * (servers - 1.0), false);
}

/* Points [i, j) read it, and an earlier point made it. */
static inline bool slow_again(const struct random_pipe *p, uint32_t n, uint32_t i, uint32_t j)
{
    bool reads = false;

    for (int u = 0; u < 3; u++)
        reads |= p->again[n].at[u] >= i && p->again[n].at[u] < j;
    return reads && p->again[n].at[0] < i;
}

/* Sender i has part i of `m - a`, receiver k part k of `b - m`: who sends to whom decides. */
static inline double slow_send_ms(const struct random_pipe *p, uint32_t a, uint32_t m, uint32_t b,
                                  double bytes)
{
    const struct pipe_instance *in = &p->in;
    const struct cluster *c = &p->cluster;
    bool inside = false, across = false;
    double latency = 0;

    for (uint32_t i = a; i < m; i++)
        for (uint32_t k = m; k < b; k++) {
            if ((i - a) * (b - m) >= (k - m + 1) * (m - a) ||
                (k - m) * (m - a) >= (i - a + 1) * (b - m))
                continue;
            bool same = in->server_of[i] == in->server_of[k];
            inside |= same;
            across |= !same;
            latency = fmax(latency, same ? c->group[cluster_group_of(c, i)].link.latency_ms
                                         : c->network_latency_ms);
        }
    return slow_message_ms(c->group[0].link.nccl, pipe_link_of(in, a, m, b)->ms_per_byte * bytes,
                           latency, inside, across, true);
}

/* What a pass of `compute` ms leaves of c ms of communication beside it (cost/overlap.h): a tenth
 * at the ends, slowed by NCCL's share of the units, or what is longer than the pass and as much of
 * that. */
static inline double slow_shown_ms(double compute, double c)
{
    return fmax(0.25 * c, c - 0.75 * compute);
}

static inline struct pipe_node slow_stage(const struct random_pipe *p, uint32_t i, uint32_t j,
                                          uint32_t a, uint32_t b)
{
    const struct pipe_instance *in = &p->in;
    struct pipe_node node = {0};
    double bytes = 0, sync = 0, update = 0;

    for (uint32_t d = a; d < b; d++) { /* every replica on its own device */
        double f = 0, back = 0, u = 0;
        for (uint32_t x = i; x < j; x++) {
            f += p->forward[in->type_of[d]][b - a][x];
            back += p->backward[in->type_of[d]][b - a][x];
            u += p->update[in->type_of[d]][x];
        }
        for (uint32_t n = 0; n < p->agains; n++) {
            f += slow_again(p, n, i, j) ? p->again[n].ms[in->type_of[d]][0] : 0;
            back += slow_again(p, n, i, j) ? p->again[n].ms[in->type_of[d]][1] : 0;
        }
        node.forward_ms = fmax(node.forward_ms, f);
        node.backward_ms = fmax(node.backward_ms, back);
        update = fmax(update, u);
    }
    if (in->options.recompute)
        node.backward_ms += node.forward_ms;
    for (uint32_t x = i; x < j; x++)
        bytes += p->gradient[x];
    for (uint32_t n = 0; n < p->ties; n++) {
        if (!slow_uses(p, n, i, j))
            continue;
        if (slow_uses(p, n, 0, i) || slow_uses(p, n, j, in->points))
            sync += in->tie[n].sync_ms;
        if (slow_uses(p, n, 0, i)) {
            bytes += p->tie[n].gradient_bytes;
            update += p->tie[n].update_ms;
        }
    }
    double reduce = slow_reduce_ms(p, a, b, bytes);
    node.reduce_ms =
        update + (in->options.overlap < 0 ? slow_shown_ms(node.backward_ms, reduce) + sync
                                          : (1 - in->options.overlap) * (reduce + sync));
    return node;
}

static inline double slow_memory(const struct random_pipe *p, const struct pipe_plan *plan,
                                 uint32_t s)
{
    const struct pipe_instance *in = &p->in;
    uint32_t i = plan->pivot[s], j = plan->pivot[s + 1], k = plan->stages - s,
             m = in->options.micro_batches;
    uint32_t flight = in->options.schedule == PIPE_EAGER  ? 2 * k - 1
                      : in->options.schedule == PIPE_1F1B ? k
                                                          : m;
    double stash = 0, temporary = 0, state = 0,
           share = in->share[plan->device[s + 1] - plan->device[s]];

    flight = flight < m ? flight : m;
    for (uint32_t x = i; x < j; x++) {
        state += p->state[x];
        stash += p->stash[x];
        temporary =
            fmax(temporary - p->stash[x], p->temporary[x]); /* what x stashed is freed first */
    }
    for (uint32_t n = 0; n < p->ties; n++)
        if (slow_uses(p, n, i, j) && slow_uses(p, n, 0, i))
            state += p->tie[n].state_bytes;
    for (uint32_t n = 0; n < p->agains; n++)
        stash += slow_again(p, n, i, j) ? p->again[n].stash : 0;
    return state + share * (flight * in->forward_bytes[i] +
                            (in->options.recompute ? 1 : flight) * stash + temporary);
}

static inline bool slow_fits(const struct random_pipe *p, const struct pipe_plan *plan)
{
    for (uint32_t s = 0; s < plan->stages && p->in.options.memory_share > 0; s++)
        for (uint32_t d = plan->device[s]; d < plan->device[s + 1]; d++)
            if (slow_memory(p, plan, s) >
                p->in.options.memory_share * cluster_type_of(&p->cluster, d)->memory_bytes)
                return false;
    return true;
}

static inline uint32_t slow_nodes(const struct random_pipe *p, const struct pipe_plan *plan,
                                  struct pipe_node *node)
{
    const struct pipe_instance *in = &p->in;
    uint32_t n = 0;

    for (uint32_t s = 0; s < plan->stages; s++) {
        const uint32_t *d = &plan->device[s];
        uint32_t cut = plan->pivot[s];
        if (s) {
            node[n++] =
                (struct pipe_node){slow_send_ms(p, d[-1], d[0], d[1], in->forward_bytes[cut]),
                                   slow_send_ms(p, d[-1], d[0], d[1], in->backward_bytes[cut]),
                                   slow_send_ms(p, d[-1], d[0], d[1], in->once_bytes[cut])};
        }
        node[n++] = slow_stage(p, cut, plan->pivot[s + 1], d[0], d[1]);
    }
    return n;
}

/* The formula as it is written: for each Q, every sum anew. */
static inline double slow_length(const struct pipe_node *node, uint32_t count,
                                 const struct pipe_options *o)
{
    double length = 0, m = o->micro_batches;

    for (uint32_t q = 0; q < count; q++) {
        bool both_ways = q % 2 == 1 && !o->half_duplex;
        double sum = (m - 1) * (both_ways ? fmax(node[q].forward_ms, node[q].backward_ms)
                                          : node[q].forward_ms + node[q].backward_ms);
        double last = 0;
        for (uint32_t a = 0; a <= q; a++)
            sum += node[a].forward_ms;
        for (uint32_t s = 0; s < count; s++) {
            double e = 0;
            for (uint32_t a = s; a <= q; a++)
                e += node[a].backward_ms;
            for (uint32_t a = q + 1; a < s; a++)
                e -= node[a].backward_ms;
            last = fmax(last, node[s].reduce_ms + e);
        }
        length = fmax(length, sum + last);
    }
    return length;
}

static inline bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

#endif
