#include "engine/place/lp.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct writing {
    const struct place_nets *n;
    const struct place_graph *g;
    struct str *out;
    uint32_t devices;
};

static void write_sums(struct writing *w)
{
    for (uint32_t p = 0; p < w->n->positions; p++) {
        str_format(w->out, " one_%u:", p);
        for (uint32_t d = 0; d < w->devices; d++)
            str_format(w->out, " + x_%u_%u", p, d);
        str_add(w->out, " = 1\n");
    }
}

static void write_nets(struct writing *w)
{
    const struct place_nets *n = w->n;
    uint32_t accelerators = w->devices - w->g->type[w->g->types - 1].count;

    for (uint32_t h = 0; h < n->nets; h++) {
        uint32_t begin = n->pin_at[h], pins = n->pin_at[h + 1] - begin;
        for (uint32_t i = 0; i < pins; i++) {
            uint32_t a = n->pin[begin + i], b = n->pin[begin + (i + 1) % pins];
            for (uint32_t d = 0; d < accelerators; d++)
                str_format(w->out, " cut_%u_%u_%u: y_%u_%u - x_%u_%u + x_%u_%u >= 0\n", h, i, d, h,
                           d, a, d, b, d);
        }
    }
}

static void write_load(struct writing *w, uint32_t d)
{
    const struct place_nets *n = w->n;
    uint32_t t = place_type_of(w->g, d);

    str_format(w->out, " load_%u: - T", d);
    for (uint32_t p = 0; p < n->positions; p++) {
        double time = place_nets_time(n, 0, t, p) + place_nets_time(n, 1, t, p);
        if (time > 0)
            str_format(w->out, "\n  + %.17g x_%u_%u", time, p, d);
    }
    for (uint32_t h = 0; h < n->nets && !w->g->type[t].is_host; h++) {
        if (n->near_ms[h] > 0)
            str_format(w->out, "\n  + %.17g y_%u_%u", n->near_ms[h], h, d);
    }
    str_add(w->out, " <= 0\n");
}

static void write_memory(struct writing *w, uint32_t d)
{
    const struct place_type *t = &w->g->type[place_type_of(w->g, d)];
    bool any = false;

    if (!isfinite(t->memory_bytes))
        return;
    for (uint32_t p = 0; p < w->n->positions; p++) {
        if (!(w->n->bytes[p] > 0))
            continue;
        if (!any)
            str_format(w->out, " memory_%u:", d);
        str_format(w->out, "\n  + %.17g x_%u_%u", w->n->bytes[p], p, d);
        any = true;
    }
    if (any)
        str_format(w->out, " <= %.17g\n", t->memory_bytes);
}

static void write_apart(struct writing *w)
{
    for (uint32_t i = 0; i < w->n->aparts; i++) {
        for (uint32_t d = 0; d < w->devices; d++)
            str_format(w->out, " apart_%u_%u: x_%u_%u + x_%u_%u <= 1\n", i, d, w->n->apart[2 * i],
                       d, w->n->apart[2 * i + 1], d);
    }
}

static bool allows_device(const struct writing *w, uint32_t p, uint32_t d)
{
    return (w->n->allowed[p] >> place_type_of(w->g, d) & 1) &&
           (w->n->fixed[p] == PLACE_NONE || w->n->fixed[p] == d);
}

static void write_bounds(struct writing *w)
{
    uint32_t accelerators = w->devices - w->g->type[w->g->types - 1].count;

    str_add(w->out, "Bounds\n T >= 0\n");
    for (uint32_t p = 0; p < w->n->positions; p++) {
        for (uint32_t d = 0; d < w->devices; d++) {
            if (!allows_device(w, p, d))
                str_format(w->out, " x_%u_%u = 0\n", p, d);
        }
    }
    for (uint32_t h = 0; h < w->n->nets; h++) {
        for (uint32_t d = 0; d < accelerators; d++)
            str_format(w->out, " 0 <= y_%u_%u <= 1\n", h, d);
    }
    str_add(w->out, "Binaries\n");
    for (uint32_t p = 0; p < w->n->positions; p++) {
        for (uint32_t d = 0; d < w->devices; d++)
            str_format(w->out, " x_%u_%u\n", p, d);
    }
    str_add(w->out, "End\n");
}

/* The first node of every position: names of nodes may hold anything, so ids. */
static void write_names(struct writing *w)
{
    uint32_t next = 0;

    for (uint32_t v = 0; v < w->g->nodes; v++) {
        if (w->n->position_of[v] != next)
            continue;
        str_format(w->out, "\\ position %u: node %" PRId64 "\n", next++, w->g->id[v]);
    }
}

int place_lp_write(const struct place_graph *g, const struct place_rules *r, struct str *out,
                   struct err *e)
{
    struct writing w = {.g = g, .out = out, .devices = place_devices(g)};
    struct place_nets *n;

    if (r->communication != PLACE_SUM || r->apart || r->replicate || g->per_server)
        return err_set(e, ERR_USAGE,
                       "an integer program is written of sums, passes together, one "
                       "server, no copies");
    if (place_prepare_classes(g, &n, e))
        return e->code;
    w.n = n;
    write_names(&w);
    str_add(out, "Minimize\n obj: T\nSubject To\n");
    write_sums(&w);
    write_nets(&w);
    for (uint32_t d = 0; d < w.devices; d++)
        write_load(&w, d);
    for (uint32_t d = 0; d < w.devices; d++)
        write_memory(&w, d);
    write_apart(&w);
    write_bounds(&w);
    place_nets_free(n);
    return 0;
}
