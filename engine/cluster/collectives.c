#include "engine/cluster/collectives.h"

#include "engine/text/units.h"

#include <math.h>

/* How often each phase's bytes and latency are paid, and which figures of a span they are. */
static const struct rule {
    const char *name;
    int phases; /* gathers that make it up */
    enum { RULE_GATHER, RULE_EXCHANGE, RULE_SHIFT } motion;
} rules[COLLECTIVE_COUNT] = {
    [COLLECTIVE_ALL_REDUCE] = {"all-reduce", 2, RULE_GATHER},
    [COLLECTIVE_ALL_GATHER] = {"all-gather", 1, RULE_GATHER},
    [COLLECTIVE_REDUCE_SCATTER] = {"reduce-scatter", 1, RULE_GATHER},
    [COLLECTIVE_ALL_TO_ALL] = {"all-to-all", 1, RULE_EXCHANGE},
    [COLLECTIVE_PERMUTE] = {"collective-permute", 1, RULE_SHIFT},
};

const char *collective_name(enum collective_kind kind)
{
    return rules[kind].name;
}

/* NCCL's protocols: us of a call, of a step inside and between servers; part of the bandwidth that
 * the protocol leaves. Source: baseLat, hwLat and the bandwidth corrections of NCCL's
 * src/graph/tuning.cc, ring. */
static const struct protocol {
    double call_us, inside_us, across_us, part;
} nccl[] = {
    {3.6, 0.47, 2.7, 0.25}, /* LL */
    {10, 1.9, 4.0, 0.92},   /* LL128 */
    {8.4, 3.4, 9.6, 1},     /* Simple */
};

/* The parts under one protocol: a ring takes a step for every neighbour in each phase. */
static struct collective_cost under(struct collective_cost plain, const struct protocol *p,
                                    const struct mesh_span *s, uint32_t phases, bool shifts)
{
    double inside = s->inside > 1 ? (shifts ? 1 : phases * (s->inside - 1.0)) : 0;
    double across = s->servers > 1 ? (shifts ? 1 : phases * (s->servers - 1.0)) : 0;
    double call = p->call_us * 1e-3;

    plain.inside_ms /= p->part;
    plain.across_ms /= p->part;
    plain.latency_inside_ms = inside * p->inside_us * 1e-3 + (s->inside > 1 ? call : 0);
    plain.latency_across_ms = across * p->across_us * 1e-3 + (s->inside > 1 && !shifts ? 0 : call);
    return plain;
}

static double total_of(const struct collective_cost *c, bool side_by_side)
{
    double in = c->inside_ms + c->latency_inside_ms, out = c->across_ms + c->latency_across_ms;

    return side_by_side ? fmax(in, out) : in + out;
}

struct collective_cost collective_cost(const struct cluster_mesh *m, enum collective_kind kind,
                                       uint32_t set, double bytes)
{
    const struct mesh_span *s = &m->span[set];
    const struct rule *r = &rules[kind];
    double inside[] = {s->gather_inside, s->exchange_inside, s->shift_inside};
    double across[] = {s->gather_across, s->exchange_across, s->shift_across};
    struct collective_cost cost = {
        .inside_ms = r->phases * inside[r->motion] * bytes,
        .across_ms = r->phases * across[r->motion] * bytes,
        .latency_inside_ms = r->phases * s->latency_inside_ms,
        .latency_across_ms = r->phases * s->latency_across_ms,
    };
    bool shifts = r->motion == RULE_SHIFT;

    cost.total_ms = total_of(&cost, shifts);
    if (!s->nccl || s->devices < 2)
        return cost;
    struct collective_cost best = {.total_ms = INFINITY};
    for (size_t k = 0; k < sizeof nccl / sizeof *nccl; k++) {
        struct collective_cost one = under(cost, &nccl[k], s, (uint32_t)r->phases, shifts);
        one.total_ms = total_of(&one, shifts);
        best = one.total_ms < best.total_ms ? one : best;
    }
    return best;
}

struct collective_lines collective_lines_of(const struct mesh_span *s, enum collective_kind kind)
{
    const struct rule *r = &rules[kind];
    bool shifts = r->motion == RULE_SHIFT;
    struct collective_cost plain = {.latency_inside_ms = r->phases * s->latency_inside_ms,
                                    .latency_across_ms = r->phases * s->latency_across_ms};
    struct collective_lines out = {.count = 1};

    out.line[0].ms = total_of(&plain, shifts);
    out.line[0].factor = 1;
    if (!s->nccl || s->devices < 2)
        return out;
    for (out.count = 0; out.count < sizeof nccl / sizeof *nccl; out.count++) {
        const struct protocol *p = &nccl[out.count];
        struct collective_cost one =
            under((struct collective_cost){0}, p, s, (uint32_t)r->phases, shifts);
        out.line[out.count].ms = total_of(&one, shifts);
        out.line[out.count].factor = 1 / p->part;
    }
    return out;
}

double collective_lines_ms(const struct collective_lines *l, double moving_ms)
{
    double least = INFINITY;

    if (!(moving_ms > 0))
        return 0;
    for (uint32_t k = 0; k < l->count; k++) {
        double ms = l->line[k].ms + l->line[k].factor * moving_ms;
        least = ms < least ? ms : least;
    }
    return least;
}

double collective_ms(const struct cluster_mesh *m, enum collective_kind kind, uint32_t set,
                     double bytes)
{
    return collective_cost(m, kind, set, bytes).total_ms;
}

static void explain_phase(struct str *out, const char *where, double moved, double latency)
{
    str_format(out, "  %-8s  %12.4f ms moving bytes  %10.4f ms latency\n", where, moved, latency);
}

void collective_explain(const struct cluster_mesh *m, enum collective_kind kind, uint32_t set,
                        double bytes, struct str *out)
{
    const struct mesh_span *s = &m->span[set];
    struct collective_cost cost = collective_cost(m, kind, set, bytes);
    char axes[64], size[UNITS_ROOM];

    mesh_set_format(m, set, axes, sizeof axes);
    str_format(out, "%s of %s over %s: %.4f ms\n", rules[kind].name, units_bytes(size, bytes), axes,
               cost.total_ms);
    if (s->inside > 1)
        explain_phase(out, "inside", cost.inside_ms, cost.latency_inside_ms);
    if (s->servers > 1)
        explain_phase(out, "across", cost.across_ms, cost.latency_across_ms);
    str_format(out, "  %u device%s a group: %u inside a server, %u server%s", s->devices,
               s->devices == 1 ? "" : "s", s->inside, s->servers, s->servers == 1 ? "" : "s");
    if (s->servers > 1)
        str_format(out, "; %u group%s share%s one network card", s->cards_shared,
                   s->cards_shared == 1 ? "" : "s", s->cards_shared == 1 ? "s" : "");
    str_add(out, rules[kind].motion == RULE_SHIFT ? "; the parts run side by side\n"
                                                  : "; the parts follow each other\n");
}
