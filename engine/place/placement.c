#include "engine/place/placement.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

int placement_new(const struct place_graph *g, struct placement **out, struct err *e)
{
    struct placement *p = mem_try(1, sizeof *p);

    if (!p)
        return err_no_memory(e, "for a placement");
    p->nodes = g->nodes;
    p->devices = place_devices(g);
    p->device = mem_try((size_t)p->nodes + 1, sizeof(uint32_t));
    p->copies = mem_try((size_t)p->devices + 1, sizeof(uint32_t));
    p->stage = mem_try((size_t)p->devices + 1, sizeof(uint32_t));
    if (!p->device || !p->copies || !p->stage) {
        placement_free(p);
        return err_no_memory(e, "for a placement");
    }
    memset(p->stage, 0xff, p->devices * sizeof *p->stage);
    *out = p;
    return 0;
}

void placement_free(struct placement *p)
{
    if (!p)
        return;
    free(p->device);
    free(p->copies);
    free(p->stage);
    free(p->piece);
    free(p);
}

static uint32_t *copy_row(const uint32_t *row, size_t count)
{
    uint32_t *out = mem_try(count + 1, sizeof *out);

    if (out)
        memcpy(out, row, count * sizeof *out);
    return out;
}

int placement_copy(const struct placement *p, struct placement **out, struct err *e)
{
    struct placement *q = mem_try(1, sizeof *q);

    if (!q)
        return err_no_memory(e, "for a placement");
    *q = *p;
    q->device = copy_row(p->device, p->nodes);
    q->copies = copy_row(p->copies, p->devices);
    q->stage = copy_row(p->stage, p->devices);
    q->piece = p->piece ? copy_row(p->piece, p->nodes) : NULL;
    if (!q->device || !q->copies || !q->stage || (p->piece && !q->piece)) {
        placement_free(q);
        return err_no_memory(e, "for a placement");
    }
    *out = q;
    return 0;
}

uint32_t placement_pieces(const struct placement *p)
{
    uint32_t most = 1;

    for (uint32_t v = 0; v < p->nodes && p->piece; v++)
        most = p->piece[v] + 1 > most ? p->piece[v] + 1 : most;
    return most;
}

/* Where servers count, copies of a stage share one, or take all devices of several. */
static int check_servers(const struct placement *p, const struct place_graph *g, const bool *used,
                         struct err *e)
{
    uint32_t taken[PLACE_DEVICES_MAX] = {0}, per = g->per_server;
    uint64_t whole[PLACE_TYPES_MAX] = {0}, servers = 0;

    for (uint32_t d = 0; d < p->devices; d++) {
        uint32_t t = place_type_of(g, d), copies = used[d] && p->copies[d] ? p->copies[d] : used[d];
        if (g->type[t].is_host)
            continue;
        whole[t] += copies > per ? copies / per : !taken[d / per] && copies;
        taken[d / per] += copies > per && copies % per == 0 ? per : copies;
        if (taken[d / per] > per)
            return err_set(e, ERR_INPUT,
                           "copies: a stage and its copies share a server of %u, or take whole "
                           "ones",
                           per);
    }
    for (uint32_t t = 0; t + 1 < g->types; t++) {
        servers = g->type[t].count / per;
        if (whole[t] > servers)
            return err_set(e, ERR_INPUT, "copies: the stages on %s need more than the %u servers",
                           g->type[t].name, (uint32_t)servers);
    }
    return 0;
}

int placement_check_copies(const struct placement *p, const struct place_graph *g, struct err *e)
{
    uint64_t taken[PLACE_TYPES_MAX] = {0};
    bool used[PLACE_DEVICES_MAX] = {false};

    for (uint32_t v = 0; v < p->nodes; v++)
        used[p->device[v]] = true;
    for (uint32_t d = 0; d < p->devices; d++) {
        uint32_t t = place_type_of(g, d);
        taken[t] += p->copies[d] > 1 ? p->copies[d] : used[d];
        if (taken[t] > g->type[t].count)
            return err_set(e, ERR_INPUT, "copies: the stages on %s need more than the %u there are",
                           g->type[t].name, g->type[t].count);
    }
    return place_servers_count(g) ? check_servers(p, g, used, e) : 0;
}

/* Whether all devices of its servers, and no others, are of that stage. */
static bool is_whole(const struct placement *p, const struct place_graph *g, uint32_t device)
{
    uint32_t first = device - device % g->per_server;

    for (uint32_t d = first; d < first + g->per_server; d++) {
        if (p->stage[d] != p->stage[device])
            return false;
    }
    return true;
}

bool placement_in_turn(const struct placement *p, const struct place_graph *g)
{
    uint32_t per = g->per_server, open = PLACE_NONE;
    bool closed[PLACE_DEVICES_MAX] = {false};

    for (uint32_t s = 0; s < p->devices; s++) {
        uint32_t servers = 0, last = PLACE_NONE;
        bool whole = true, again = false;
        for (uint32_t d = 0; d < p->devices; d++) {
            if (p->stage[d] != s || g->type[place_type_of(g, d)].is_host)
                continue;
            whole &= is_whole(p, g, d);
            again |= closed[d / per] && d / per != open && d / per != last;
            servers += d / per != last;
            last = d / per;
            closed[last] = true;
        }
        if (again || (servers > 1 && !whole))
            return false;
        if (servers)
            open = servers > 1 ? PLACE_NONE : last;
    }
    return true;
}

uint32_t placement_accelerators(const struct placement *p, const struct place_graph *g)
{
    uint32_t all = 0;

    for (uint32_t d = 0; d < p->devices; d++)
        all += p->stage[d] != PLACE_NONE && !g->type[place_type_of(g, d)].is_host;
    return all;
}

void placement_price(struct placement *p, const struct place_nets *n, const struct place_rules *r,
                     struct place_load *load)
{
    uint32_t *device = mem_alloc(((size_t)n->positions + 1) * sizeof *device);

    for (uint32_t v = 0; v < p->nodes; v++)
        device[n->position_of[v]] = p->device[v];
    place_loads(n, device, load);
    p->value_ms = place_value(n, r, load, p->copies);
    p->faults = place_faults(n, device, load);
    free(device);
}

int placement_value(struct placement *p, const struct place_graph *g, const struct place_rules *r,
                    struct place_load *load, struct err *e)
{
    struct place_nets *n;

    if (place_prepare_classes(g, &n, e))
        return e->code;
    placement_price(p, n, r, load);
    place_nets_free(n);
    return 0;
}

/* ---- what limits ---- */

/* Does device d pay for node u's output? It sends it, or fetches it. */
static bool moves_node(const struct place_graph *g, const struct placement *p, uint32_t u,
                       uint32_t d)
{
    bool here = p->device[u] == d;

    for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
        if ((p->device[g->user[i]] == d) != here)
            return true;
    }
    return false;
}

static bool is_far(const struct place_graph *g, uint32_t a, uint32_t b)
{
    uint32_t accelerators = place_devices(g) - g->type[g->types - 1].count;

    return g->per_server && g->far_ms && a < accelerators && b < accelerators &&
           a / g->per_server != b / g->per_server;
}

double placement_transfer_ms(const struct placement *p, const struct place_graph *g, uint32_t u,
                             uint32_t d)
{
    bool far = is_far(g, p->device[u], d);

    for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1] && p->device[u] == d; i++)
        far |= is_far(g, d, p->device[g->user[i]]);
    return far ? g->far_ms[u] : g->send_ms[u];
}

struct place_limit place_find_limit(const struct place_graph *g, const struct place_rules *r,
                                    const struct placement *p, const struct place_load *load)
{
    struct place_limit l = {PLACE_NONE, PLACE_NONE, -1, 0};

    for (uint32_t d = 0; d < p->devices; d++) {
        double ms = place_device_ms(g, r, &load[d], p->copies[d] ? p->copies[d] : 1);
        if (ms > l.load_ms) {
            l.device = d;
            l.load_ms = ms;
        }
    }
    if (l.device == PLACE_NONE || g->type[place_type_of(g, l.device)].is_host)
        return l;
    for (uint32_t u = 0; u < g->nodes; u++) {
        if (!moves_node(g, p, u, l.device))
            continue;
        double ms = placement_transfer_ms(p, g, u, l.device);
        if (ms > l.transfer_ms) {
            l.node = u;
            l.transfer_ms = ms;
        }
    }
    return l;
}

/* ---- chains ---- */

/* The device a stage must begin at for a pinned position, or PLACE_NONE. */
static uint32_t pinned_device(const struct place_nets *n, const struct place_chain *c, uint32_t s)
{
    for (uint32_t v = 0; v < n->positions; v++) {
        if (c->stage_of[v] == s && n->fixed[v] != PLACE_NONE)
            return n->fixed[v];
    }
    return PLACE_NONE;
}

static uint32_t first_free(const struct place_graph *g, const bool *taken, uint32_t type)
{
    uint32_t d = 0;

    for (uint32_t t = 0; t < type; t++)
        d += g->type[t].count;
    while (taken[d])
        d++;
    return d;
}

/* The chain says which. */
static void take_devices(const struct place_chain *c, struct placement *p, uint32_t *first)
{
    for (uint32_t s = 0, at = 0; s < c->stages; s++) {
        first[s] = c->device[at];
        p->copies[first[s]] = c->stage[s].copies;
        for (uint32_t k = 0; k < c->stage[s].copies; k++)
            p->stage[c->device[at++]] = s;
    }
}

/* Devices of a stage: its first is written down, the others are only taken. */
static void give_devices(const struct place_graph *g, const struct place_chain *c,
                         const uint32_t *pinned, struct placement *p, uint32_t *first)
{
    bool taken[PLACE_DEVICES_MAX + 1] = {false};

    for (uint32_t s = 0; s < c->stages; s++) {
        if (pinned[s] != PLACE_NONE)
            taken[pinned[s]] = true;
    }
    for (uint32_t s = 0; s < c->stages; s++) {
        first[s] = pinned[s];
        for (uint32_t k = pinned[s] != PLACE_NONE; k < c->stage[s].copies; k++) {
            uint32_t d = first_free(g, taken, c->stage[s].type);
            taken[d] = true;
            p->stage[d] = s;
            if (first[s] == PLACE_NONE)
                first[s] = d;
        }
        p->stage[first[s]] = s;
        p->copies[first[s]] = c->stage[s].copies;
    }
}

int placement_of_chain(const struct place_prepared *prepared, const struct place_chain *c,
                       struct placement **out, struct err *e)
{
    const struct place_nets *n = prepared->nets;
    struct placement *p;
    uint32_t *pinned = mem_try(2 * (size_t)c->stages + 1, sizeof *pinned);

    if (!pinned || placement_new(n->graph, &p, e)) {
        free(pinned);
        return err_no_memory(e, "for a placement");
    }
    for (uint32_t s = 0; s < c->stages; s++)
        pinned[s] = pinned_device(n, c, s);
    if (c->device)
        take_devices(c, p, pinned + c->stages);
    else
        give_devices(n->graph, c, pinned, p, pinned + c->stages);
    for (uint32_t v = 0; v < n->graph->nodes; v++)
        p->device[v] = pinned[c->stages + c->stage_of[n->position_of[v]]];
    p->contiguous = true;
    p->value_ms = c->value_ms;
    free(pinned);
    *out = p;
    return 0;
}

/* ---- bounds ---- */

/* Least total of one pass mask when all devices share the work: type `base` is the yardstick. */
static double share_bound(const struct place_graph *g, uint32_t base, int pass)
{
    double work = 0, rate[PLACE_TYPES_MAX] = {0}, nothing[PLACE_TYPES_MAX] = {0}, devices = 0;

    for (uint32_t v = 0; v < g->nodes; v++) {
        if (pass >= 0 && g->backward[v] != pass)
            continue;
        double w = place_time(g, base, v);
        work += w;
        for (uint32_t t = 0; t < g->types; t++) {
            double time = place_time(g, t, v);
            if (!g->type[t].count || !(g->allowed[v] >> t & 1))
                continue;
            if (time > 0)
                rate[t] = fmax(rate[t], w / time);
            else
                nothing[t] += w;
        }
    }
    work -= 1e-13 * work; /* rounding must not lift the bound over a plan without any work */
    for (uint32_t t = 0; t < g->types; t++) {
        if (g->type[t].count)
            work -= nothing[t];
        devices += g->type[t].count * rate[t];
    }
    return work > 1e-12 && devices > 0 ? work / devices : 0;
}

static double node_bound(const struct place_graph *g)
{
    double most = 0;

    for (uint32_t v = 0; v < g->nodes; v++) {
        double least = INFINITY;
        for (uint32_t t = 0; t < g->types; t++) {
            if (g->type[t].count && (g->allowed[v] >> t & 1))
                least = fmin(least, place_time(g, t, v));
        }
        most = isfinite(least) ? fmax(most, least) : most;
    }
    return most;
}

double place_work_bound(const struct place_graph *g, const struct place_rules *r)
{
    double bound = 0;

    for (uint32_t t = 0; t < g->types; t++) { /* every yardstick gives a bound */
        double b = r->apart ? share_bound(g, t, 0) + share_bound(g, t, 1) : share_bound(g, t, -1);
        bound = fmax(bound, b);
    }
    return r->replicate ? bound : fmax(bound, node_bound(g));
}
