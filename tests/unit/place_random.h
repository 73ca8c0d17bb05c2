/* Random operator graphs, and what the definitions of device placement say about an assignment of
 * devices, worked out slowly from nodes and edges: no classes, no positions, no nets. */
#ifndef AUTOMAP_TESTS_PLACE_RANDOM_H
#define AUTOMAP_TESTS_PLACE_RANDOM_H

#include "engine/place/place_pins.h"
#include "engine/place/placement.h"
#include "rl/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_NODES = 10, SMALL_DEVICES = 8 };

static inline double some_time(struct rl_rng *r)
{
    switch (rl_rng_below(r, 4)) {
    case 0:
        return 0;
    case 1:
        return (double)rl_rng_below(r, 5);
    default:
        return rl_rng_unit(r) * 10;
    }
}

struct small_shape {
    uint32_t nodes, kinds, servers;
    bool training;
    uint32_t pins; /* 0: none */
};

static inline void small_types(struct place_graph *g, struct rl_rng *r, const struct small_shape *s)
{
    uint32_t most = s->nodes > 7 ? 2 : 3;

    for (uint32_t t = 0; t < s->kinds; t++) {
        g->type[t] = (struct place_type){"kind", rl_rng_below(r, most + 1), 0, false};
        g->type[t].memory_bytes = rl_rng_below(r, 3) ? 1000 : 3 + 9 * rl_rng_unit(r);
    }
    g->type[s->kinds] = (struct place_type){"host", rl_rng_below(r, 3), INFINITY, true};
    if (s->servers) {
        g->type[0].count = 2 * s->servers;
        g->per_server = 2;
    }
}

static inline void small_nodes(struct place_graph *g, struct rl_rng *r, const struct small_shape *s)
{
    bool near_only = !s->servers;

    if (!near_only)
        g->far_ms = arena_get(&g->arena, s->nodes, sizeof(double));
    for (uint32_t v = 0; v < s->nodes; v++) {
        g->id[v] = 5000000000 - 7 * (int64_t)v;
        for (uint32_t t = 0; t <= s->kinds; t++)
            g->time_ms[t * s->nodes + v] = some_time(r) * (t == s->kinds ? 3 : 1);
        g->bytes[v] = rl_rng_below(r, 3) ? rl_rng_below(r, 4) : 0;
        g->send_ms[v] = rl_rng_below(r, 4) ? rl_rng_unit(r) * 3 : 0;
        if (!near_only)
            g->far_ms[v] = g->send_ms[v] * (1 + rl_rng_below(r, 4));
        g->supported[v] = rl_rng_below(r, 12) != 0;
        g->backward[v] = s->training && v >= s->nodes / 2;
        if (g->backward[v] && rl_rng_below(r, 5)) /* its forward node; the others are orphans */
            g->color[v] = g->color[s->nodes - 1 - v] != PLACE_NONE
                              ? g->color[s->nodes - 1 - v]
                              : (g->color[s->nodes - 1 - v] = s->nodes - 1 - v);
        else if (v && !rl_rng_below(r, 8)) /* two nodes of any kind together */
            g->color[v] =
                g->color[v - 1] != PLACE_NONE ? g->color[v - 1] : (g->color[v - 1] = v - 1);
    }
}

static inline struct place_graph *small_graph(struct rl_rng *r, const struct small_shape *s)
{
    struct place_graph *g;
    struct err e = {0};
    uint32_t from[SMALL_NODES * SMALL_NODES], to[SMALL_NODES * SMALL_NODES], edges = 0;
    uint32_t density = 1 + rl_rng_below(r, 4);

    if (place_graph_new(s->nodes, s->kinds + 1, &g, &e))
        abort();
    small_types(g, r, s);
    small_nodes(g, r, s);
    for (uint32_t u = 0; u < s->nodes; u++) {
        for (uint32_t v = u + 1; v < s->nodes; v++) {
            if (rl_rng_below(r, 6) >= density)
                continue;
            from[edges] = u;
            to[edges++] = v;
        }
    }
    if (place_graph_connect(g, from, to, edges, NULL, &e))
        abort();
    return g;
}

enum { SMALL_ON, SMALL_WITH, SMALL_APART, SMALL_OFF, SMALL_PINS = 8 };
struct small_pin {
    uint32_t kind, a, b; /* nodes; of SMALL_ON b is a device */
};

/* Some pins of every form; those that clash are left out. Returns how many are kept. */
static inline uint32_t small_pins(struct place_graph *g, struct rl_rng *r, uint32_t most,
                                  struct small_pin *pin)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < most && g->nodes > 1 && place_devices(g); i++) {
        uint32_t a = rl_rng_below(r, g->nodes), b = rl_rng_below(r, g->nodes);
        struct err e = {0};
        uint32_t kind = rl_rng_below(r, 4), device = rl_rng_below(r, place_devices(g));
        bool ok = false;
        switch (kind) {
        case SMALL_ON:
            ok = !place_pin_on(g, a, device, &e);
            break;
        case SMALL_WITH:
            ok = a != b && !place_pin_together(g, a, b, &e);
            break;
        case SMALL_APART:
            ok = a != b && !place_pin_apart(g, a, b, &e);
            break;
        default:
            ok = !place_pin_off_host(g, a, &e);
        }
        if (ok)
            pin[kept++] = (struct small_pin){kind, a, kind == SMALL_ON ? device : b};
    }
    return kept;
}

/* By the words of the pins alone, whatever became of them in the graph. */
static inline bool small_pins_kept(const struct small_pin *pin, uint32_t pins, uint32_t first_host,
                                   const uint32_t *device)
{
    for (uint32_t i = 0; i < pins; i++) {
        uint32_t a = device[pin[i].a];
        bool kept = pin[i].kind == SMALL_ON      ? a == pin[i].b
                    : pin[i].kind == SMALL_WITH  ? a == device[pin[i].b]
                    : pin[i].kind == SMALL_APART ? a != device[pin[i].b]
                                                 : a < first_host;
        if (!kept)
            return false;
    }
    return true;
}

/* ---- the definitions ---- */

struct slow_load {
    double compute[2], in[2], out[2], bytes;
    uint32_t nodes;
};

static inline bool slow_is_host(const struct place_graph *g, uint32_t d)
{
    return g->type[place_type_of(g, d)].is_host;
}

/* What u's output costs at one end of a transfer between two devices. */
static inline double slow_cost(const struct place_graph *g, uint32_t u, uint32_t a, uint32_t b)
{
    bool far = g->per_server && !slow_is_host(g, a) && !slow_is_host(g, b) &&
               a / g->per_server != b / g->per_server;
    return far && g->far_ms ? g->far_ms[u] : g->send_ms[u];
}

static inline void slow_loads(const struct place_graph *g, const uint32_t *device,
                              struct slow_load *load)
{
    uint32_t devices = place_devices(g);

    memset(load, 0, devices * sizeof *load);
    for (uint32_t v = 0; v < g->nodes; v++) {
        struct slow_load *l = &load[device[v]];
        l->compute[g->backward[v]] += place_time(g, place_type_of(g, device[v]), v);
        l->bytes += g->bytes[v];
        l->nodes++;
    }
    for (uint32_t u = 0; u < g->nodes; u++) {
        uint32_t pass = g->backward[u], home = device[u];
        double out = 0;
        for (uint32_t d = 0; d < devices; d++) {
            bool uses = false;
            for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++)
                uses |= device[g->user[i]] == d;
            if (!uses || d == home)
                continue;
            out = fmax(out, slow_cost(g, u, home, d));
            if (!slow_is_host(g, d))
                load[d].in[pass] += slow_cost(g, u, home, d);
        }
        if (!slow_is_host(g, home))
            load[home].out[pass] += out;
    }
}

static inline double slow_parts(enum place_communication c, double compute, double in, double out)
{
    if (c == PLACE_SUM)
        return compute + in + out;
    return fmax(compute, c == PLACE_MAX ? in + out : fmax(in, out));
}

static inline double slow_value(const struct place_graph *g, const struct place_rules *r,
                                const struct slow_load *load, const uint32_t *copies)
{
    double most[3] = {0, 0, 0};

    for (uint32_t d = 0; d < place_devices(g); d++) {
        const struct slow_load *l = &load[d];
        uint32_t c = copies ? copies[d] : 1;
        bool far = g->per_server && c > g->per_server && g->sync_far_ms_per_byte > 0;
        double each = far ? g->sync_far_ms_per_byte : g->sync_ms_per_byte;
        double sync = c > 1 && g->training ? 2.0 * (c - 1) / c * l->bytes * each : 0;
        for (int pass = 0; pass < 2; pass++)
            most[pass] =
                fmax(most[pass],
                     slow_parts(r->communication, l->compute[pass], l->in[pass], l->out[pass]) / c +
                         (pass ? sync : 0));
        most[2] = fmax(most[2], slow_parts(r->communication, l->compute[0] + l->compute[1],
                                           l->in[0] + l->in[1], l->out[0] + l->out[1]) /
                                        c +
                                    sync);
    }
    return r->apart ? most[0] + most[1] : most[2];
}

static inline bool slow_fits(const struct place_graph *g, const uint32_t *device,
                             const struct slow_load *load)
{
    for (uint32_t d = 0; d < place_devices(g); d++) {
        if (!slow_is_host(g, d) && load[d].bytes > g->type[place_type_of(g, d)].memory_bytes)
            return false;
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (!g->supported[v] && !slow_is_host(g, device[v]))
            return false;
        if (!(g->allowed[v] >> place_type_of(g, device[v]) & 1))
            return false;
        if (g->fixed[v] != PLACE_NONE && g->fixed[v] != device[v])
            return false;
        for (uint32_t u = 0; u < v; u++) {
            if (g->color[u] == g->color[v] && device[u] != device[v])
                return false;
        }
    }
    for (uint32_t i = 0; i < g->aparts; i++) {
        if (device[g->apart[2 * i]] == device[g->apart[2 * i + 1]])
            return false;
    }
    return true;
}

/* Which device must come before which. An edge between backward nodes counts, turned round, where
 * one of them has no forward node of its color. */
static inline void slow_arrows(const struct place_graph *g, const uint32_t *device,
                               bool arrow[SMALL_DEVICES][SMALL_DEVICES])
{
    bool has_forward[SMALL_NODES] = {false};

    memset(arrow, 0, sizeof(bool) * SMALL_DEVICES * SMALL_DEVICES);
    for (uint32_t v = 0; v < g->nodes; v++) {
        for (uint32_t u = 0; u < g->nodes; u++)
            has_forward[v] |= g->color[u] == g->color[v] && !g->backward[u];
    }
    for (uint32_t u = 0; u < g->nodes; u++) {
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            uint32_t v = g->user[i];
            if (!g->backward[u] && !g->backward[v])
                arrow[device[u]][device[v]] = true;
            else if (g->backward[u] && g->backward[v] && !(has_forward[u] && has_forward[v]))
                arrow[device[v]][device[u]] = true;
        }
    }
}

/* Can the devices be ordered so that all forward edges go forward? */
static inline bool slow_contiguous(const struct place_graph *g, const uint32_t *device)
{
    uint32_t devices = place_devices(g), left = devices;
    bool arrow[SMALL_DEVICES][SMALL_DEVICES], gone[SMALL_DEVICES] = {false};

    slow_arrows(g, device, arrow);
    for (bool any = true; any;) {
        any = false;
        for (uint32_t d = 0; d < devices; d++) {
            bool first = !gone[d];
            for (uint32_t c = 0; c < devices; c++)
                first &= c == d || gone[c] || !arrow[c][d];
            if (!first)
                continue;
            gone[d] = any = true;
            left--;
        }
    }
    return !left;
}

/* Every order of the devices in `left`, one after another: is there one in which all arrows go
 * forward and, of the accelerators alone, those of a server follow each other? */
static inline bool slow_order(const struct place_graph *g, bool arrow[SMALL_DEVICES][SMALL_DEVICES],
                              uint32_t left, uint32_t open, uint32_t closed)
{
    bool found = !left;

    for (uint32_t d = 0; d < place_devices(g) && !found; d++) {
        bool next = left >> d & 1;
        for (uint32_t c = 0; c < place_devices(g); c++)
            next &= c == d || !(left >> c & 1) || !arrow[c][d];
        if (!next)
            continue;
        uint32_t server = d / g->per_server, rest = left & ~(1u << d);
        if (slow_is_host(g, d))
            found = slow_order(g, arrow, rest, open, closed);
        else if (server == open || !(closed >> server & 1))
            found = slow_order(g, arrow, rest, server, closed | 1u << server);
    }
    return found;
}

static inline bool slow_in_turn(const struct place_graph *g, const uint32_t *device)
{
    bool arrow[SMALL_DEVICES][SMALL_DEVICES];
    uint32_t used = 0;

    for (uint32_t v = 0; v < g->nodes; v++)
        used |= 1u << device[v];
    slow_arrows(g, device, arrow);
    return slow_order(g, arrow, used, PLACE_NONE, 0);
}

/* ---- all assignments ---- */

/* The next assignment of devices to colors; false after the last. */
static inline bool next_assignment(uint32_t *of_color, uint32_t colors, uint32_t devices)
{
    for (uint32_t c = 0; c < colors; c++) {
        if (++of_color[c] < devices)
            return true;
        of_color[c] = 0;
    }
    return false;
}

/* Among equal devices without pins, the first use of each comes in their order. */
static inline bool is_canonical(const struct place_graph *g, const uint32_t *of_color)
{
    uint32_t next[PLACE_TYPES_MAX], d = 0;

    for (uint32_t t = 0; t < g->types; t++) {
        next[t] = d;
        d += g->type[t].count;
    }
    for (uint32_t v = 0; v < g->nodes; v++) { /* a pinned device is not like the others */
        if (g->fixed[v] != PLACE_NONE)
            return true;
    }
    for (uint32_t c = 0; c < g->colors; c++) {
        uint32_t t = place_type_of(g, of_color[c]);
        if (of_color[c] > next[t])
            return false;
        next[t] += of_color[c] == next[t];
    }
    return true;
}

#endif
