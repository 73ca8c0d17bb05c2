#include "engine/place/servers_run.h"

#include "engine/place/chain_program.h"
#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/program_run.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* ---- stages ---- */

/* A chain read from its end, and the block of each stage. */
struct reading {
    struct servers_run *t;
    struct place_chain *c;
    struct outer *block; /* by stage: what its server takes */
    uint32_t *block_of;  /* by stage */
    uint32_t blocks;
};

static void add_stage(struct reading *r, uint32_t from, uint32_t to, uint32_t type, uint32_t copies,
                      const struct outer *block)
{
    struct place_chain *c = r->c;
    const uint64_t *below = servers_set(r->t, from), *set = servers_set(r->t, to);

    for (uint32_t p = 0; p < c->positions; p++) {
        if (place_has(set, p) && !place_has(below, p))
            c->stage_of[p] = c->stages;
    }
    r->block[c->stages] = *block;
    r->block_of[c->stages] = r->blocks;
    c->stage[c->stages++] = (struct place_stage){type, copies};
}

/* Stages of one server, the last first. */
static void add_server(struct reading *r, const struct outer *o, uint32_t row)
{
    struct servers_run *t = r->t;
    struct servers_inside in = {o->type, o->from, row, row, INFINITY};
    uint32_t state = o->cores * (t->per + 1) + o->devices;

    t->reading = true;
    servers_fill(t, &in, t->real, t->real_of);
    t->reading = false;
    while (row != o->from) {
        struct inner s = t->real[(size_t)state * t->rows + row];
        add_stage(r, s.from, row, s.type, s.copies, o);
        state -= s.type == t->kinds ? t->per + 1 : s.copies;
        row = s.from;
    }
}

static void add_blocks(struct reading *r, uint32_t state)
{
    struct servers_run *t = r->t;

    for (uint32_t row = t->rows - 1; row;) {
        struct outer o = t->choice[(size_t)state * t->rows + row];
        if (o.empty) {
            state -= o.from;
            continue;
        }
        if (o.type == t->kinds)
            add_stage(r, o.from, row, o.type, 1, &o);
        else if (o.servers > 1)
            add_stage(r, o.from, row, o.type, o.devices, &o);
        else
            add_server(r, &o, row);
        r->blocks++;
        state -= o.cores * t->core_step + o.devices * t->device_step;
        state -= o.type < t->kinds ? o.servers * t->kind_step[o.type] : 0;
        row = o.from;
    }
}

static void turn_round(struct reading *r)
{
    struct place_chain *c = r->c;

    for (uint32_t p = 0; p < c->positions; p++)
        c->stage_of[p] = c->stages - 1 - c->stage_of[p];
    for (uint32_t i = 0; i < c->stages / 2; i++) {
        uint32_t j = c->stages - 1 - i, at = r->block_of[i];
        struct place_stage stage = c->stage[i];
        struct outer block = r->block[i];
        c->stage[i] = c->stage[j];
        c->stage[j] = stage;
        r->block[i] = r->block[j];
        r->block[j] = block;
        r->block_of[i] = r->block_of[j];
        r->block_of[j] = at;
    }
}

/* ---- devices ---- */

struct giving {
    const struct reading *r;
    uint32_t *fixed;                    /* by stage: the device of a pinned position, or NONE */
    bool taken[PLACE_DEVICES_MAX];      /* devices: of pins to begin with */
    bool closed[PLACE_DEVICES_MAX + 1]; /* servers */
    uint32_t server[PLACE_DEVICES_MAX]; /* of the block at hand */
};

static uint32_t first_device(const struct place_graph *g, uint32_t type)
{
    uint32_t d = 0;

    for (uint32_t k = 0; k < type; k++)
        d += g->type[k].count;
    return d;
}

static void find_fixed(struct giving *v)
{
    const struct servers_run *t = v->r->t;
    const struct place_chain *c = v->r->c;
    uint32_t host = first_device(t->n->graph, t->kinds);

    for (uint32_t s = 0; s < c->stages; s++)
        v->fixed[s] = PLACE_NONE;
    for (uint32_t p = 0; p < c->positions; p++) {
        uint32_t d = t->n->fixed[p];
        if (d == PLACE_NONE)
            continue;
        v->fixed[c->stage_of[p]] = d;
        v->taken[d] = true;
        if (d < host)
            v->closed[d / t->per] = true;
    }
}

/* Servers of the block that stage s begins: that of its pins first, then the first ones free. */
static void open_servers(struct giving *v, uint32_t s)
{
    const struct reading *r = v->r;
    const struct outer *o = &r->block[s];
    uint32_t per = r->t->per, count = 0, host = first_device(r->t->n->graph, r->t->kinds);

    if (o->type == r->t->kinds)
        return;
    for (uint32_t i = s; i < r->c->stages && r->block_of[i] == r->block_of[s] && !count; i++) {
        if (v->fixed[i] < host)
            v->server[count++] = v->fixed[i] / per;
    }
    for (uint32_t i = first_device(r->t->n->graph, o->type) / per; count < o->servers; i++) {
        if (v->closed[i])
            continue;
        v->closed[i] = true;
        v->server[count++] = i;
    }
}

/* The next free device for a stage. */
static uint32_t next_device(struct giving *v, uint32_t s)
{
    const struct servers_run *t = v->r->t;
    uint32_t i = 0, d = first_device(t->n->graph, t->kinds);

    if (v->r->c->stage[s].type == t->kinds) {
        while (v->taken[d])
            d++;
    } else {
        for (d = v->server[0] * t->per; v->taken[d];) {
            if (++d % t->per == 0)
                d = v->server[++i] * t->per;
        }
    }
    v->taken[d] = true;
    return d;
}

static int give_devices(const struct reading *r, struct err *e)
{
    struct place_chain *c = r->c;
    struct giving *v = mem_try(1, sizeof *v);
    uint32_t at = 0;

    if (v)
        v->fixed = mem_try((size_t)c->stages + 1, sizeof *v->fixed);
    c->device = mem_try((size_t)place_devices(r->t->n->graph) + 1, sizeof *c->device);
    if (!v || !v->fixed || !c->device) {
        free(v ? v->fixed : NULL);
        free(v);
        return err_no_memory(e, "for the program over servers");
    }
    v->r = r;
    find_fixed(v);
    for (uint32_t s = 0; s < c->stages; s++) {
        if (!s || r->block_of[s] != r->block_of[s - 1])
            open_servers(v, s);
        for (uint32_t i = 0; i < c->stage[s].copies; i++)
            c->device[at++] = !i && v->fixed[s] != PLACE_NONE ? v->fixed[s] : next_device(v, s);
    }
    free(v->fixed);
    free(v);
    return 0;
}

int servers_answer(struct servers_run *t, uint32_t state, struct place_chain **out, struct err *e)
{
    size_t most = (size_t)place_devices(t->n->graph) + 1;
    struct place_chain *c = mem_try(1, sizeof *c);
    struct reading r = {.t = t, .c = c};

    r.block = mem_try(most, sizeof *r.block);
    r.block_of = mem_try(most, sizeof *r.block_of);
    if (c) {
        c->stage = mem_try(most, sizeof *c->stage);
        c->stage_of = mem_try((size_t)t->n->positions + 1, sizeof *c->stage_of);
    }
    bool ok = c && r.block && r.block_of && c->stage && c->stage_of;
    int rc = ok ? 0 : err_no_memory(e, "for the program over servers");
    if (rc)
        goto out;
    c->positions = t->n->positions;
    c->value_ms = t->best[(size_t)state * t->rows + t->rows - 1];
    add_blocks(&r, state);
    turn_round(&r);
    rc = give_devices(&r, e);
out:
    free(r.block);
    free(r.block_of);
    if (rc)
        place_chain_free(c);
    else
        *out = c;
    return rc;
}

/* ---- its price ---- */

static uint32_t server_of(const struct servers_run *t, uint32_t device)
{
    uint32_t host = first_device(t->n->graph, t->kinds);

    return device < host ? device / t->per : PLACE_NONE;
}

/* The end of net h that may be on a core and made the program take for near what is far. */
static uint32_t undecided_of(const struct servers_run *t, uint32_t h, const uint32_t *device)
{
    const struct place_nets *n = t->n;
    uint32_t maker = n->pin[n->pin_at[h]], here = server_of(t, device[maker]), found = PLACE_NONE;

    if (here == PLACE_NONE || n->far_ms[h] <= n->near_ms[h])
        return PLACE_NONE;
    for (uint32_t i = n->pin_at[h] + 1; i < n->pin_at[h + 1]; i++) {
        uint32_t user = n->pin[i], there = server_of(t, device[user]);
        if (there == PLACE_NONE || there == here)
            continue;
        if (servers_may_core(t, maker))
            return maker; /* every user far from it fetched it near */
        if (!servers_may_core(t, user))
            return PLACE_NONE; /* so it was sent far */
        found = user;
    }
    return found;
}

static void price_devices(const struct servers_run *t, const struct place_chain *c,
                          const struct place_load *load, double ms[2])
{
    const struct place_rules *rules = t->run.q->rules;
    bool apart = t->run.measures == 2;
    uint32_t pass = t->run.q->pass;

    ms[0] = ms[1] = 0;
    for (uint32_t s = 0, at = 0; s < c->stages; at += c->stage[s++].copies) {
        const struct place_load *l = &load[c->device[at]];
        uint32_t copies = c->stage[s].copies;
        double sync = place_sync_ms(t->n->graph, l->bytes, copies);
        double first = apart ? place_pass_ms(rules, l, pass) : place_load_ms(rules, l);
        double other = apart ? place_pass_ms(rules, l, 1 - pass) : 0;
        ms[0] = fmax(ms[0], first / copies + (!apart || pass == 1 ? sync : 0));
        ms[1] = fmax(ms[1], other / copies + (apart && pass == 0 ? sync : 0));
    }
}

int servers_price(const struct servers_run *t, const struct place_chain *c, double ms[2],
                  uint32_t *undecided, struct err *e)
{
    const struct place_nets *n = t->n;
    uint32_t devices = place_devices(n->graph), first[PLACE_DEVICES_MAX];
    struct place_load *load = mem_try((size_t)devices + 1, sizeof *load);
    uint32_t *device = mem_try((size_t)n->positions + 1, sizeof *device);
    int rc = load && device ? 0 : err_no_memory(e, "for the program over servers");
    double most = 0;

    if (rc)
        goto out;
    for (uint32_t s = 0, at = 0; s < c->stages; at += c->stage[s++].copies)
        first[s] = c->device[at];
    for (uint32_t p = 0; p < n->positions; p++)
        device[p] = first[c->stage_of[p]];
    place_loads(n, device, load);
    price_devices(t, c, load, ms);
    *undecided = PLACE_NONE;
    for (uint32_t h = 0; h < n->nets; h++) {
        uint32_t p = undecided_of(t, h, device);
        if (p == PLACE_NONE || n->far_ms[h] - n->near_ms[h] <= most)
            continue;
        most = n->far_ms[h] - n->near_ms[h];
        *undecided = p;
    }
out:
    free(load);
    free(device);
    return rc;
}
