#include "engine/place/state.h"

#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

int place_state_new(const struct place_nets *n, const struct place_rules *rules,
                    struct place_state **out, struct err *e)
{
    struct place_state *s = mem_try(1, sizeof *s);
    const struct place_graph *g = n->graph;
    uint32_t devices = place_devices(g);

    if (!s)
        return err_no_memory(e, "for a search");
    s->n = n;
    s->rules = rules;
    s->devices = devices;
    s->accelerators = devices - g->type[g->types - 1].count;
    s->device = mem_try((size_t)n->positions + 1, sizeof *s->device);
    s->load = mem_try((size_t)devices + 1, sizeof *s->load);
    s->pins = mem_try((size_t)n->nets * devices + 1, sizeof *s->pins);
    s->type_of = mem_try((size_t)devices + 1, sizeof *s->type_of);
    if (!s->device || !s->load || !s->pins || !s->type_of) {
        place_state_free(s);
        return err_no_memory(e, "for a search");
    }
    for (uint32_t d = 0; d < devices; d++)
        s->type_of[d] = place_type_of(g, d);
    for (uint32_t t = 0; t < g->types; t++)
        s->memory += g->type[t].is_host ? 0 : g->type[t].memory_bytes * g->type[t].count;
    s->memory = fmax(s->memory, 1);
    *out = s;
    return 0;
}

void place_state_free(struct place_state *s)
{
    if (!s)
        return;
    free(s->device);
    free(s->load);
    free(s->pins);
    free(s->type_of);
    free(s);
}

bool place_state_allows(const struct place_state *s, uint32_t p, uint32_t d)
{
    return (s->n->allowed[p] >> s->type_of[d] & 1) &&
           (s->n->fixed[p] == PLACE_NONE || s->n->fixed[p] == d);
}

static uint32_t broken_pairs(const struct place_state *s)
{
    uint32_t broken = 0;

    for (uint32_t i = 0; i < s->n->aparts; i++)
        broken += s->device[s->n->apart[2 * i]] == s->device[s->n->apart[2 * i + 1]];
    return broken;
}

void place_state_set(struct place_state *s, const uint32_t *device)
{
    const struct place_nets *n = s->n;

    memmove(s->device, device, n->positions * sizeof *device);
    place_loads(n, s->device, s->load);
    memset(s->pins, 0, (size_t)n->nets * s->devices * sizeof *s->pins);
    for (uint32_t h = 0; h < n->nets; h++) {
        for (uint32_t i = n->pin_at[h]; i < n->pin_at[h + 1]; i++)
            s->pins[(size_t)h * s->devices + s->device[n->pin[i]]]++;
    }
    s->broken = broken_pairs(s);
    for (uint32_t p = 0; p < n->positions; p++)
        s->broken += !place_state_allows(s, p, s->device[p]);
}

/* ---- moves ---- */

static bool is_far(const struct place_state *s, uint32_t a, uint32_t b)
{
    uint32_t per = s->n->graph->per_server;

    return per && a < s->accelerators && b < s->accelerators && a / per != b / per;
}

/* All a net costs, added or taken away. */
static void charge_edge(struct place_state *s, uint32_t h, double sign)
{
    const struct place_nets *n = s->n;
    const uint32_t *pins = s->pins + (size_t)h * s->devices;
    uint32_t home = s->device[n->pin[n->pin_at[h]]], pass = n->pass[h];
    double out = 0;

    for (uint32_t d = 0; d < s->devices; d++) {
        if (!pins[d] || d == home)
            continue;
        double cost = is_far(s, home, d) ? n->far_ms[h] : n->near_ms[h];
        out = fmax(out, cost);
        s->load[d].in_ms[pass] += d < s->accelerators ? sign * cost : 0;
    }
    s->load[home].out_ms[pass] += home < s->accelerators ? sign * out : 0;
}

/* A user's pin goes from a to b: in is paid where a device first or last uses it, out by the
 * producer's device where the first pin leaves or the last comes home. */
static void move_user(struct place_state *s, uint32_t h, uint32_t a, uint32_t b)
{
    const struct place_nets *n = s->n;
    uint32_t *pins = s->pins + (size_t)h * s->devices, pass = n->pass[h];
    uint32_t home = s->device[n->pin[n->pin_at[h]]], all = n->pin_at[h + 1] - n->pin_at[h];
    double w = n->near_ms[h];

    pins[a]--;
    if (a == home)
        s->load[a].out_ms[pass] += pins[a] + 1 == all ? w : 0;
    else
        s->load[a].in_ms[pass] -= pins[a] ? 0 : w;
    pins[b]++;
    if (b == home)
        s->load[b].out_ms[pass] -= pins[b] == all ? w : 0;
    else
        s->load[b].in_ms[pass] += pins[b] == 1 ? w : 0;
}

static void move_producer(struct place_state *s, uint32_t h, uint32_t a, uint32_t b)
{
    const struct place_nets *n = s->n;
    uint32_t *pins = s->pins + (size_t)h * s->devices, pass = n->pass[h];
    uint32_t all = n->pin_at[h + 1] - n->pin_at[h];
    double w = n->near_ms[h];

    s->load[a].out_ms[pass] -= pins[a] < all ? w : 0;
    s->load[b].in_ms[pass] -= pins[b] ? w : 0;
    pins[a]--;
    pins[b]++;
    s->load[a].in_ms[pass] += pins[a] ? w : 0;
    s->load[b].out_ms[pass] += pins[b] < all ? w : 0;
}

static void move_nets(struct place_state *s, uint32_t p, uint32_t a, uint32_t b)
{
    const struct place_nets *n = s->n;

    for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++) {
        uint32_t h = n->net[i];
        if (n->graph->per_server) {
            charge_edge(s, h, -1);
            s->pins[(size_t)h * s->devices + a]--;
            s->pins[(size_t)h * s->devices + b]++;
            s->device[p] = b;
            charge_edge(s, h, 1);
            s->device[p] = a;
        } else if (n->pin[n->pin_at[h]] == p) {
            move_producer(s, h, a, b);
        } else {
            move_user(s, h, a, b);
        }
    }
}

/* The host has no transfers, whatever the nets counted. */
static void pays_nothing(struct place_state *s, uint32_t d)
{
    if (d < s->accelerators)
        return;
    for (uint32_t pass = 0; pass < 2; pass++)
        s->load[d].in_ms[pass] = s->load[d].out_ms[pass] = 0;
}

void place_state_move(struct place_state *s, uint32_t p, uint32_t to)
{
    const struct place_nets *n = s->n;
    uint32_t from = s->device[p];

    if (from == to)
        return;
    s->broken -= n->aparts ? broken_pairs(s) : 0;
    s->broken -= !place_state_allows(s, p, from);
    move_nets(s, p, from, to);
    pays_nothing(s, from);
    pays_nothing(s, to);
    s->device[p] = to;
    for (uint32_t pass = 0; pass < 2; pass++) {
        s->load[from].compute_ms[pass] -= place_nets_time(n, pass, s->type_of[from], p);
        s->load[to].compute_ms[pass] += place_nets_time(n, pass, s->type_of[to], p);
    }
    s->load[from].bytes -= n->bytes[p];
    s->load[to].bytes += n->bytes[p];
    s->load[from].positions--;
    s->load[to].positions++;
    s->broken += !place_state_allows(s, p, to);
    s->broken += n->aparts ? broken_pairs(s) : 0;
}

/* ---- figures ---- */

double place_state_value(const struct place_state *s)
{
    double most[2] = {0, 0};

    for (uint32_t d = 0; d < s->devices; d++) {
        if (!s->rules->apart) {
            most[0] = fmax(most[0], place_load_ms(s->rules, &s->load[d]));
            continue;
        }
        most[0] = fmax(most[0], place_pass_ms(s->rules, &s->load[d], 0));
        most[1] = fmax(most[1], place_pass_ms(s->rules, &s->load[d], 1));
    }
    return most[0] + most[1];
}

double place_state_over(const struct place_state *s)
{
    double over = 0;

    for (uint32_t d = 0; d < s->devices; d++)
        over += fmax(0, s->load[d].bytes - s->n->graph->type[s->type_of[d]].memory_bytes);
    return over;
}

/* ---- what annealing cools ---- */

static double raised(double x, int power)
{
    for (int i = 0; i < power; i++)
        x *= x;
    return x;
}

static double norm(const double *loads, uint32_t count, int power)
{
    double most = 0, sum = 0;

    for (uint32_t d = 0; d < count; d++)
        most = loads[d] > most ? loads[d] : most;
    if (most <= 0)
        return 0;
    for (uint32_t d = 0; d < count; d++)
        sum += raised(loads[d] / most, power);
    return most * pow(sum, 1.0 / (1 << power));
}

double place_state_energy(const struct place_state *s, const struct place_energy *w)
{
    double loads[2][PLACE_DEVICES_MAX], total, over = place_state_over(s);

    for (uint32_t d = 0; d < s->devices; d++) {
        if (!s->rules->apart) {
            loads[0][d] = place_load_ms(s->rules, &s->load[d]);
            continue;
        }
        loads[0][d] = place_pass_ms(s->rules, &s->load[d], 0);
        loads[1][d] = place_pass_ms(s->rules, &s->load[d], 1);
    }
    total = norm(loads[0], s->devices, w->power);
    if (s->rules->apart)
        total += norm(loads[1], s->devices, w->power);
    return total + w->unit_ms * (s->broken + (over > 0 ? 0.1 + 10 * over / s->memory : 0));
}
