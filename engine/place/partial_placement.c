#include "engine/place/partial_placement.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static bool are_devices_equal(const struct place_nets *n)
{
    for (uint32_t p = 0; p < n->positions; p++) {
        if (n->fixed[p] != PLACE_NONE)
            return false;
    }
    return !n->graph->per_server;
}

int place_partial_new(const struct place_nets *n, const struct place_rules *rules,
                      struct place_partial **out, struct err *e)
{
    struct place_partial *t = mem_try(1, sizeof *t);
    uint32_t devices = place_devices(n->graph);

    if (!t)
        return err_no_memory(e, "for a search");
    t->n = n;
    t->rules = rules;
    t->devices = devices;
    t->accelerators = devices - n->graph->type[n->graph->types - 1].count;
    t->type_of = mem_try((size_t)devices + 1, sizeof *t->type_of);
    t->device = mem_try((size_t)n->positions + 1, sizeof *t->device);
    t->load = mem_try((size_t)devices + 1, sizeof *t->load);
    t->pins = mem_try((size_t)n->nets * devices + 1, sizeof *t->pins);
    t->spread = mem_try((size_t)n->nets + 1, sizeof *t->spread);
    if (!t->type_of || !t->device || !t->load || !t->pins || !t->spread) {
        place_partial_free(t);
        return err_no_memory(e, "for a search");
    }
    t->equal_devices = are_devices_equal(n);
    for (uint32_t d = 0; d < devices; d++)
        t->type_of[d] = place_type_of(n->graph, d);
    memset(t->device, 0xff, n->positions * sizeof *t->device);
    *out = t;
    return 0;
}

void place_partial_free(struct place_partial *t)
{
    if (!t)
        return;
    free(t->type_of);
    free(t->device);
    free(t->load);
    free(t->pins);
    free(t->spread);
    free(t);
}

/* ---- positions in and out ---- */

/* A net that is cut now is paid on d: sure to come, in one direction or the other. */
static void charge_device(struct place_partial *t, uint32_t h, uint32_t d, double sign)
{
    if (d < t->accelerators)
        t->load[d].in_ms[t->n->pass[h]] += sign * t->n->near_ms[h];
}

static void add_pin(struct place_partial *t, uint32_t h, uint32_t d)
{
    uint32_t *pins = t->pins + (size_t)h * t->devices;

    if (pins[d]++)
        return;
    if (++t->spread[h] == 1)
        return;
    charge_device(t, h, d, 1);
    for (uint32_t c = 0; c < t->devices && t->spread[h] == 2; c++) {
        if (c != d && pins[c])
            charge_device(t, h, c, 1);
    }
}

static void take_pin(struct place_partial *t, uint32_t h, uint32_t d)
{
    uint32_t *pins = t->pins + (size_t)h * t->devices;

    if (--pins[d])
        return;
    if (!--t->spread[h])
        return;
    charge_device(t, h, d, -1);
    for (uint32_t c = 0; c < t->devices && t->spread[h] == 1; c++) {
        if (pins[c])
            charge_device(t, h, c, -1);
    }
}

static void add_work(struct place_partial *t, uint32_t p, uint32_t d, double sign)
{
    for (uint32_t pass = 0; pass < 2; pass++)
        t->load[d].compute_ms[pass] += sign * place_nets_time(t->n, pass, t->type_of[d], p);
    t->load[d].bytes += sign * t->n->bytes[p];
}

void place_partial_put(struct place_partial *t, uint32_t p, uint32_t d)
{
    add_work(t, p, d, 1);
    t->load[d].positions++;
    for (uint32_t i = t->n->net_at[p]; i < t->n->net_at[p + 1]; i++)
        add_pin(t, t->n->net[i], d);
    t->device[p] = d;
}

void place_partial_take(struct place_partial *t, uint32_t p)
{
    uint32_t d = t->device[p];

    add_work(t, p, d, -1);
    t->load[d].positions--;
    for (uint32_t i = t->n->net_at[p]; i < t->n->net_at[p + 1]; i++)
        take_pin(t, t->n->net[i], d);
    t->device[p] = PLACE_NONE;
}

bool place_partial_allows(const struct place_partial *t, uint32_t p, uint32_t d)
{
    const struct place_nets *n = t->n;
    const struct place_type *type = &n->graph->type[t->type_of[d]];

    if (!(n->allowed[p] >> t->type_of[d] & 1))
        return false;
    if (n->fixed[p] != PLACE_NONE && n->fixed[p] != d)
        return false;
    for (uint32_t i = 0; i < n->aparts; i++) {
        uint32_t a = n->apart[2 * i], b = n->apart[2 * i + 1];
        if ((a == p && t->device[b] == d) || (b == p && t->device[a] == d))
            return false;
    }
    return type->is_host || t->load[d].bytes + n->bytes[p] <= type->memory_bytes * (1 + 1e-12);
}

/* ---- bounds ---- */

double place_partial_least(const struct place_partial *t, double compute, double moved)
{
    switch (t->rules->communication) {
    case PLACE_SUM:
        return compute + moved;
    case PLACE_MAX:
        return fmax(compute, moved);
    default:
        return fmax(compute, moved / 2);
    }
}

double place_partial_value(const struct place_partial *t)
{
    double most[2] = {0, 0};

    for (uint32_t d = 0; d < t->devices; d++) {
        const struct place_load *l = &t->load[d];
        if (!t->rules->apart) {
            most[0] = fmax(most[0], place_partial_load(t, d));
            continue;
        }
        for (uint32_t pass = 0; pass < 2; pass++)
            most[pass] =
                fmax(most[pass], place_partial_least(t, l->compute_ms[pass], l->in_ms[pass]));
    }
    return most[0] + most[1];
}
