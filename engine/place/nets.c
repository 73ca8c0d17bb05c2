#include "engine/place/nets.h"

#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/sort.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void place_nets_free(struct place_nets *n)
{
    if (!n)
        return;
    arena_release(&n->arena);
    free(n);
}

/* ---- positions ---- */

static bool make_positions(struct place_nets *n, const uint32_t *position_of, uint32_t positions)
{
    const struct place_graph *g = n->graph;
    size_t m = positions ? positions : 1;

    n->positions = positions;
    n->position_of = arena_get(&n->arena, (size_t)g->nodes + 1, sizeof(uint32_t));
    n->time_ms = arena_get(&n->arena, m * 2 * g->types, sizeof(double));
    n->bytes = arena_get(&n->arena, m, sizeof(double));
    n->allowed = arena_get(&n->arena, m, 1);
    n->fixed = arena_get(&n->arena, m, sizeof(uint32_t));
    n->apart = arena_get(&n->arena, 2 * (size_t)g->aparts + 1, sizeof(uint32_t));
    if (!n->position_of || !n->time_ms || !n->bytes || !n->allowed || !n->fixed || !n->apart)
        return false;
    memset(n->allowed, 0xff, m);
    memset(n->fixed, 0xff, m * sizeof(uint32_t));
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t p = n->position_of[v] = position_of[v], pass = g->backward[v];
        for (uint32_t t = 0; t < g->types; t++)
            n->time_ms[((size_t)pass * g->types + t) * m + p] += place_time(g, t, v);
        n->bytes[p] += g->bytes[v];
        n->allowed[p] &= g->allowed[v];
    }
    return true;
}

/* Node v and an earlier one are pinned to two devices and joined here: by contiguity, for colors
 * and pins that clash are told apart before. */
static int clash_of_pins(const struct place_nets *n, uint32_t v, struct err *e)
{
    const struct place_graph *g = n->graph;
    uint32_t u = 0;
    char x[16], y[16];

    while (n->position_of[u] != n->position_of[v] || g->fixed[u] == PLACE_NONE ||
           g->fixed[u] == g->fixed[v])
        u++;
    return err_set(e, ERR_INFEASIBLE,
                   "%s on %s clashes with %s"
                   " on %s: a path would leave a device and come back to it",
                   place_who(g, v).text, place_device_name(g, g->fixed[v], x), place_who(g, u).text,
                   place_device_name(g, g->fixed[u], y));
}

static int check_positions(struct place_nets *n, struct err *e)
{
    const struct place_graph *g = n->graph;

    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t p = n->position_of[v];
        if (!n->allowed[p])
            return err_set(e, ERR_INFEASIBLE,
                           "node %s must share a device with nodes that may not be where "
                           "it may be",
                           place_who(g, v).text);
        if (g->fixed[v] == PLACE_NONE)
            continue;
        if (n->fixed[p] != PLACE_NONE && n->fixed[p] != g->fixed[v])
            return clash_of_pins(n, v, e);
        n->fixed[p] = g->fixed[v];
    }
    for (uint32_t i = 0; i < g->aparts; i++) {
        uint32_t a = n->position_of[g->apart[2 * i]], b = n->position_of[g->apart[2 * i + 1]];
        if (a == b)
            return err_set(e, ERR_INFEASIBLE,
                           "nodes %s and %s are pinned apart and must share a "
                           "device",
                           place_who(g, g->apart[2 * i]).text,
                           place_who(g, g->apart[2 * i + 1]).text);
        n->apart[2 * i] = a;
        n->apart[2 * i + 1] = b;
    }
    n->aparts = g->aparts;
    return 0;
}

/* ---- nets ---- */

/* Nets as they are made, with a table to find an equal one. */
struct making {
    struct place_nets *n;
    uint32_t *pin, pins;
    uint32_t *slot, slots; /* net + 1 */
    uint32_t *mark;        /* by position: node + 1 that saw it last */
};

static bool is_equal(const struct making *m, uint32_t h, uint32_t pass, uint32_t begin,
                     uint32_t size)
{
    const struct place_nets *n = m->n;
    uint32_t other = n->pin_at[h];

    return n->pass[h] == pass && n->pin_at[h + 1] - other == size &&
           !memcmp(m->pin + other, m->pin + begin, size * sizeof *m->pin);
}

/* Pins begin .. m->pins are a net of node u: added to an equal one, or kept. */
static void keep_net(struct making *m, uint32_t u, uint32_t begin)
{
    struct place_nets *n = m->n;
    const struct place_graph *g = n->graph;
    uint32_t size = m->pins - begin, pass = g->backward[u], h;
    double near = g->send_ms[u], far = g->far_ms ? g->far_ms[u] : near;
    uint64_t at = mem_hash(m->pin + begin, size * sizeof *m->pin, pass);

    for (at &= m->slots - 1; m->slot[at]; at = (at + 1) & (m->slots - 1)) {
        h = m->slot[at] - 1;
        if (is_equal(m, h, pass, begin, size)) {
            n->near_ms[h] += near;
            n->far_ms[h] += far;
            m->pins = begin;
            return;
        }
    }
    h = n->nets++;
    m->slot[at] = h + 1;
    n->near_ms[h] = near;
    n->far_ms[h] = far;
    n->pass[h] = (uint8_t)pass;
    n->pin_at[h + 1] = m->pins;
}

static void make_nets(struct making *m)
{
    struct place_nets *n = m->n;
    const struct place_graph *g = n->graph;

    for (uint32_t u = 0; u < g->nodes; u++) {
        uint32_t begin = m->pins;
        if (!(g->send_ms[u] > 0) && !(g->far_ms && g->far_ms[u] > 0))
            continue;
        m->pin[m->pins++] = n->position_of[u];
        m->mark[n->position_of[u]] = u + 1;
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            uint32_t p = n->position_of[g->user[i]];
            if (m->mark[p] == u + 1)
                continue;
            m->mark[p] = u + 1;
            m->pin[m->pins++] = p;
        }
        if (m->pins - begin < 2) {
            m->pins = begin;
            continue;
        }
        sort_u32(m->pin + begin + 1, m->pins - begin - 1);
        keep_net(m, u, begin);
    }
}

static bool index_nets(struct place_nets *n)
{
    uint32_t pins = n->pin_at[n->nets];

    n->net_at = arena_get(&n->arena, (size_t)n->positions + 2, sizeof(uint32_t));
    n->net = arena_get(&n->arena, (size_t)pins + 1, sizeof(uint32_t));
    if (!n->net_at || !n->net)
        return false;
    for (uint32_t i = 0; i < pins; i++)
        n->net_at[n->pin[i] + 2]++; /* two on: filling moves each begin to the next one's */
    for (uint32_t p = 0; p < n->positions; p++)
        n->net_at[p + 2] += n->net_at[p + 1];
    for (uint32_t h = 0; h < n->nets; h++) {
        for (uint32_t i = n->pin_at[h]; i < n->pin_at[h + 1]; i++)
            n->net[n->net_at[n->pin[i] + 1]++] = h;
    }
    return true;
}

static bool make_all_nets(struct place_nets *n)
{
    const struct place_graph *g = n->graph;
    size_t pins = (size_t)g->edges + g->nodes + 1;
    struct making m = {.n = n, .slots = 16};

    while (m.slots < 2 * (uint64_t)g->nodes)
        m.slots *= 2;
    n->near_ms = arena_get(&n->arena, (size_t)g->nodes + 1, sizeof(double));
    n->far_ms = arena_get(&n->arena, (size_t)g->nodes + 1, sizeof(double));
    n->pass = arena_get(&n->arena, (size_t)g->nodes + 1, 1);
    n->pin_at = arena_get(&n->arena, (size_t)g->nodes + 2, sizeof(uint32_t));
    n->pin = m.pin = arena_get(&n->arena, pins, sizeof(uint32_t));
    m.slot = mem_try(m.slots, sizeof *m.slot);
    m.mark = mem_try((size_t)n->positions + 1, sizeof *m.mark);
    bool ok = n->near_ms && n->far_ms && n->pass && n->pin_at && m.pin && m.slot && m.mark;
    if (ok)
        make_nets(&m);
    free(m.slot);
    free(m.mark);
    return ok && index_nets(n);
}

int place_nets_new(const struct place_graph *g, const uint32_t *position_of, uint32_t positions,
                   struct place_nets **out, struct err *e)
{
    struct place_nets *n = mem_try(1, sizeof *n);

    if (!n)
        return err_no_memory(e, "for this graph");
    n->graph = g;
    if (!make_positions(n, position_of, positions) || !make_all_nets(n))
        err_no_memory(e, "for this graph");
    else if (!check_positions(n, e)) {
        *out = n;
        return 0;
    }
    place_nets_free(n);
    return e->code;
}

/* ---- loads ---- */

double place_pass_ms(const struct place_rules *r, const struct place_load *l, uint32_t pass)
{
    return place_parts_ms(r->communication, l->compute_ms[pass], l->in_ms[pass], l->out_ms[pass]);
}

double place_load_ms(const struct place_rules *r, const struct place_load *l)
{
    return place_parts_ms(r->communication, l->compute_ms[0] + l->compute_ms[1],
                          l->in_ms[0] + l->in_ms[1], l->out_ms[0] + l->out_ms[1]);
}

double place_sync_ms(const struct place_graph *g, double bytes, uint32_t copies)
{
    if (copies < 2 || !g->training)
        return 0;
    bool apart = (g->per_server && copies > g->per_server) || place_servers_uneven(g);
    bool far = apart && g->sync_far_ms_per_byte > 0;
    double each = far ? g->sync_far_ms_per_byte : g->sync_ms_per_byte;
    return 2.0 * (copies - 1) / copies * bytes * each;
}

double place_device_ms(const struct place_graph *g, const struct place_rules *r,
                       const struct place_load *load, uint32_t copies)
{
    double ms =
        r->apart ? place_pass_ms(r, load, 0) + place_pass_ms(r, load, 1) : place_load_ms(r, load);

    return ms / copies + place_sync_ms(g, load->bytes, copies);
}

static uint32_t server_of(const struct place_graph *g, uint32_t device)
{
    return g->per_server ? device / g->per_server : 0;
}

/* One net: what its producer's device and every other one pays. */
static void add_net(const struct place_nets *n, uint32_t h, const uint32_t *device,
                    uint32_t accelerators, uint32_t *seen, struct place_load *load)
{
    const struct place_graph *g = n->graph;
    const uint32_t *pin = n->pin + n->pin_at[h], *end = n->pin + n->pin_at[h + 1];
    uint32_t from = device[*pin], pass = n->pass[h];
    double out = 0;

    for (const uint32_t *p = pin + 1; p < end; p++) {
        uint32_t to = device[*p];
        if (to == from)
            continue;
        bool far =
            to < accelerators && from < accelerators && server_of(g, to) != server_of(g, from);
        double cost = far ? n->far_ms[h] : n->near_ms[h];
        out = far ? n->far_ms[h] : out > 0 ? out : cost;
        if (to < accelerators && seen[to] != h + 1) {
            seen[to] = h + 1;
            load[to].in_ms[pass] += cost;
        }
    }
    if (from < accelerators)
        load[from].out_ms[pass] += out;
}

void place_loads(const struct place_nets *n, const uint32_t *device, struct place_load *load)
{
    const struct place_graph *g = n->graph;
    uint32_t devices = place_devices(g), accelerators = devices - g->type[g->types - 1].count;
    uint32_t seen[PLACE_DEVICES_MAX];

    memset(load, 0, devices * sizeof *load);
    memset(seen, 0, sizeof seen);
    for (uint32_t p = 0; p < n->positions; p++) {
        struct place_load *l = &load[device[p]];
        uint32_t type = place_type_of(g, device[p]);
        for (uint32_t pass = 0; pass < 2; pass++)
            l->compute_ms[pass] += place_nets_time(n, pass, type, p);
        l->bytes += n->bytes[p];
        l->positions++;
    }
    for (uint32_t h = 0; h < n->nets; h++)
        add_net(n, h, device, accelerators, seen, load);
}

double place_value(const struct place_nets *n, const struct place_rules *r,
                   const struct place_load *load, const uint32_t *copies)
{
    uint32_t devices = place_devices(n->graph);
    double most[2] = {0, 0};

    for (uint32_t d = 0; d < devices; d++) {
        uint32_t c = copies && copies[d] ? copies[d] : 1;
        double sync = place_sync_ms(n->graph, load[d].bytes, c);
        if (!r->apart) {
            most[0] = fmax(most[0], place_load_ms(r, &load[d]) / c + sync);
            continue;
        }
        most[0] = fmax(most[0], place_pass_ms(r, &load[d], 0) / c);
        most[1] = fmax(most[1], place_pass_ms(r, &load[d], 1) / c + sync);
    }
    return most[0] + most[1];
}

uint32_t place_faults(const struct place_nets *n, const uint32_t *device,
                      const struct place_load *load)
{
    const struct place_graph *g = n->graph;
    uint32_t faults = 0;

    for (uint32_t d = 0, devices = place_devices(g); d < devices; d++) {
        if (load[d].bytes > g->type[place_type_of(g, d)].memory_bytes)
            faults |= PLACE_OVER_MEMORY;
    }
    for (uint32_t p = 0; p < n->positions; p++) {
        if (!(n->allowed[p] >> place_type_of(g, device[p]) & 1))
            faults |= PLACE_WRONG_KIND;
        if (n->fixed[p] != PLACE_NONE && n->fixed[p] != device[p])
            faults |= PLACE_PIN_BROKEN;
    }
    for (uint32_t i = 0; i < n->aparts; i++) {
        if (device[n->apart[2 * i]] == device[n->apart[2 * i + 1]])
            faults |= PLACE_NOT_APART;
    }
    return faults;
}

static int compare_weighed(const void *a, const void *b)
{
    const struct place_weighed *x = a, *y = b;

    return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight)
                                  : (x->p > y->p) - (x->p < y->p);
}

void place_sort_weighed(struct place_weighed *all, uint32_t count)
{
    qsort(all, count, sizeof *all, compare_weighed);
}
