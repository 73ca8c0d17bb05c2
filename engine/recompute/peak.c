/* The course of a device's memory under a choice. */
#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "engine/recompute/recompute_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>

static const double NEAR = 1e-9;

/* ---- which layers ---- */

double recompute_part(const struct recompute *r, uint32_t k, uint32_t layers)
{
    const struct primal *n = &r->graph->nodes[k];
    double part = (double)layers / r->layers;

    if (n->trips > 1)
        return floor(part * n->trips + NEAR) / n->trips;
    return (double)n->layer < part * r->graph->layers - NEAR ? 1 : 0;
}

/* Those that have it on the host come first, those that recompute more among them or behind. */
double recompute_host_part(const struct recompute *r, const struct recompute_choice *c, uint32_t k)
{
    double part = recompute_part(r, k, c->layers), host = recompute_part(r, k, c->host_layers);

    return (c->first[k] == VALUE_OFFLOADED ? fmin(part, host) : 0) +
           (c->rest[k] == VALUE_OFFLOADED ? fmax(0, host - part) : 0);
}

/* Where and until when choices read nodes. */
struct uses {
    uint32_t *from, *to; /* [nodes] first and last position; from HLO_NONE: nowhere */
    uint8_t *is_again;   /* [nodes] made anew, or from what is */
};

static bool uses_new(const struct recompute *r, struct uses *u)
{
    size_t count = (size_t)r->graph->count + 1;

    u->from = mem_try(count, sizeof *u->from);
    u->to = mem_try(count, sizeof *u->to);
    u->is_again = mem_try(count, 1);
    return u->from && u->to && u->is_again;
}

static void uses_release(struct uses *u)
{
    free(u->from);
    free(u->to);
    free(u->is_again);
}

/* Until when what is computed again may stay, its layer's turn of the backward pass. */
uint32_t recompute_window_end(const struct primal_graph *g, const struct primal *n)
{
    return n->trips > 1                  ? UINT32_MAX
           : n->layer == PRIMAL_NO_LAYER ? n->first_read
                                         : g->windows[n->layer].to;
}

/* In any of its layers. */
static bool is_again(const struct recompute *r, const struct recompute_choice *c, uint32_t k)
{
    double part = recompute_part(r, k, c->layers);

    return (c->first[k] == VALUE_AGAIN && part > 0) || (c->rest[k] == VALUE_AGAIN && part < 1);
}

/* First and last position at which each node is read, through what is computed again from it. */
static void find_uses(const struct recompute *r, const struct recompute_choice *c, struct uses *u)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        bool again = is_again(r, c, k);
        u->from[k] = n->first_read;
        u->to[k] = n->last_read == HLO_NONE ? 0 : n->last_read;
        u->is_again[k] = again && n->is_stored;
        for (uint32_t i = 0; i < n->read_count && again; i++)
            u->is_again[k] |= u->is_again[g->edges[n->reads + i]];
    }
    for (uint32_t k = g->count; k--;) {
        const struct primal *n = &g->nodes[k];
        if (!is_again(r, c, k))
            continue;
        uint32_t end = recompute_window_end(g, n);
        if (u->is_again[k] && u->to[k] > end)
            u->to[k] = end > u->from[k] ? end : u->from[k];
        for (uint32_t i = 0; i < n->read_count; i++) {
            uint32_t o = g->edges[n->reads + i];
            u->from[o] = u->from[k] < u->from[o] ? u->from[k] : u->from[o];
            u->to[o] = u->to[k] > u->to[o] ? u->to[k] : u->to[o];
        }
    }
}

/* Bytes of one layer's array of a node that is computed again, beside the base. That has it where
 * the module computes it again itself, and, in a loop, where it slices it out of its stack. */
double recompute_again_bytes(const struct recompute *r, uint32_t k)
{
    const struct primal *n = &r->graph->nodes[k];
    bool in_base =
        n->trips > 1 ? r->module.state[k] != VALUE_UNUSED : r->module.state[k] == VALUE_AGAIN;

    return n->is_stored && !in_base ? r->bytes[k] / n->trips : 0;
}

static void lay(const struct recompute *r, double *change, double bytes, uint32_t from, uint32_t to)
{
    if (from < r->start || to < from || to - r->start >= r->positions)
        return;
    change[from - r->start] += bytes;
    change[to - r->start + 1] -= bytes;
}

/* Of a node in host memory what the device has: in loops an array on its way, both ways; of a
 * written-out layer until the next one's forward pass is through, and from the turn of the one
 * before it in the backward pass. */
static void lay_offloaded(const struct recompute *r, uint32_t k, uint32_t from, uint32_t to,
                          double *change)
{
    const struct primal *n = &r->graph->nodes[k];
    double one = r->bytes[k] / n->trips;

    if (n->trips > 1) {
        lay(r, change, one, n->made, n->made);
        lay(r, change, one + recompute_again_bytes(r, k), from, to);
        return;
    }
    uint32_t sent = r->made_by[n->layer + 1], turn = r->graph->windows[n->layer + 1].from;
    turn = turn < from ? turn : from;
    if (sent >= turn) { /* never gone */
        lay(r, change, one, n->made + 1, to);
        return;
    }
    lay(r, change, one, n->made + 1, sent);
    lay(r, change, one, turn, to);
}

/* Where a product moves to, that of its operand computed again that it then reads; its own
 * position: it stays. */
static uint32_t moved_to(const struct recompute *r, const struct uses *u, uint32_t reader,
                         uint32_t *operand)
{
    const struct primal_graph *g = r->graph;
    const struct primal_reader *p = &g->readers[reader];
    uint32_t until = p->position;

    for (uint32_t i = 0; i < p->node_count; i++) {
        uint32_t n = g->edges[p->nodes + i];
        if (u->is_again[n] && r->module.state[n] != VALUE_AGAIN && u->to[n] < until) {
            until = u->to[n];
            *operand = n;
        }
    }
    return until;
}

/* Products moved to where their operand is computed again: their results live from there on. */
static void lay_moved(const struct recompute *r, const struct uses *u, double *change)
{
    for (uint32_t k = 0; k < r->graph->reader_count; k++) {
        uint32_t position = r->graph->readers[k].position, operand;
        uint32_t until = moved_to(r, u, k, &operand);
        if (until < position)
            lay(r, change, r->reader_bytes[k], until, position - 1);
    }
}

static double kept_bytes(const struct recompute *r, const struct recompute_choice *c, uint32_t k)
{
    double part = recompute_part(r, k, c->layers), host = recompute_host_part(r, c, k);

    return part * recompute_kept_bytes(r, k, c->first[k]) +
           (1 - part) * recompute_kept_bytes(r, k, c->rest[k]) - host * r->bytes[k];
}

/* The course of memory under a choice, beside r->base, as changes from position to position. */
static void lay_choice(const struct recompute *r, const struct recompute_choice *c, struct uses *u,
                       double *change)
{
    const struct primal_graph *g = r->graph;

    find_uses(r, c, u);
    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        double kept = kept_bytes(r, c, k), host = recompute_host_part(r, c, k);
        if (u->from[k] == HLO_NONE)
            continue;
        if (kept > 0)
            lay(r, change, kept, n->trips > 1 ? n->made : n->made + 1, u->to[k]);
        if (is_again(r, c, k))
            lay(r, change, recompute_again_bytes(r, k), u->from[k], u->to[k]);
        if (host > 0)
            lay_offloaded(r, k, u->from[k], u->to[k], change);
    }
    lay_moved(r, u, change);
}

double recompute_peak_at(const struct recompute *r, const struct recompute_choice *c, uint32_t *at)
{
    double *change = mem_try((size_t)r->positions + 1, sizeof *change), peak = 0, now = 0;
    struct uses u = {0};
    bool ok = uses_new(r, &u) && change;

    *at = 0;
    if (ok)
        lay_choice(r, c, &u, change);
    for (uint32_t k = 0; k < r->positions && ok; k++) {
        now += change[k];
        if (r->base[k] + now > peak) {
            peak = r->base[k] + now;
            *at = k;
        }
    }
    uses_release(&u);
    free(change);
    return ok ? peak : -1;
}

static void add_at(const struct recompute *r, const struct recompute_choice *c,
                   const struct uses *u, uint32_t at, double *of_node)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        bool made = (n->trips > 1 ? n->made : n->made + 1) <= at;
        of_node[k] = 0;
        if (u->from[k] == HLO_NONE || at > u->to[k])
            continue;
        of_node[k] += made ? kept_bytes(r, c, k) : 0;
        of_node[k] += is_again(r, c, k) && u->from[k] <= at ? recompute_again_bytes(r, k) : 0;
    }
    for (uint32_t k = 0; k < g->reader_count; k++) {
        uint32_t operand = 0, until = moved_to(r, u, k, &operand);
        if (until <= at && at < g->readers[k].position)
            of_node[operand] += r->reader_bytes[k];
    }
}

int recompute_bytes_at(const struct recompute *r, const struct recompute_choice *c,
                       const uint32_t *positions, uint32_t count, double *of_node, struct err *e)
{
    struct uses u = {0};
    bool ok = uses_new(r, &u);

    if (ok)
        find_uses(r, c, &u);
    for (uint32_t k = 0; k < count && ok; k++)
        add_at(r, c, &u, positions[k] + r->start, of_node + (size_t)k * r->graph->count);
    uses_release(&u);
    return ok ? 0 : err_no_memory(e, "for what the backward pass keeps at a position");
}

double recompute_peak(const struct recompute *r, const struct recompute_choice *c)
{
    uint32_t at;

    return recompute_peak_at(r, c, &at);
}
