#include "engine/place/latency.h"

#include "engine/place/latency_blocks.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

bool place_blocks_allocate(struct place_blocks *b)
{
    size_t n = b->g->nodes, slots = b->slots = b->accelerators * b->pieces + b->g->nodes;

    b->block_of = mem_try(n + 1, sizeof(uint32_t));
    b->open = mem_try(slots + 1, sizeof(uint32_t));
    b->ready = mem_try(slots + 1, sizeof(double));
    b->cost = mem_try(slots + 1, sizeof(double));
    b->fetched = mem_try(slots + 1, sizeof(uint32_t));
    b->node_at = mem_try(slots + 2, sizeof(uint32_t));
    b->node = mem_try(n + 1, sizeof(uint32_t));
    b->queue = mem_try(slots + 1, sizeof(uint32_t));
    return b->block_of && b->open && b->ready && b->cost && b->fetched && b->node_at && b->node &&
           b->queue;
}

void place_blocks_release(struct place_blocks *b)
{
    free(b->block_of);
    free(b->open);
    free(b->ready);
    free(b->cost);
    free(b->fetched);
    free(b->node_at);
    free(b->node);
    free(b->queue);
}

static bool is_piece(const struct place_blocks *b, uint32_t block)
{
    return block < b->accelerators * b->pieces;
}

static void number_blocks(struct place_blocks *b)
{
    const struct place_graph *g = b->g;
    uint32_t pieces = b->accelerators * b->pieces;

    memset(b->open, 0, b->slots * sizeof *b->open);
    memset(b->ready, 0, b->slots * sizeof *b->ready);
    memset(b->cost, 0, b->slots * sizeof *b->cost);
    memset(b->fetched, 0, b->slots * sizeof *b->fetched);
    memset(b->node_at, 0, (b->slots + 2) * sizeof *b->node_at);
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t d = b->p->device[v], type = place_type_of(g, d);
        b->block_of[v] = d < b->accelerators ? d * b->pieces + b->p->piece[v] : pieces + v;
        b->cost[b->block_of[v]] += place_time(g, type, v);
        b->node_at[b->block_of[v] + 2]++;
    }
    for (uint32_t k = 0; k < b->slots; k++)
        b->node_at[k + 2] += b->node_at[k + 1];
    for (uint32_t v = 0; v < g->nodes; v++)
        b->node[b->node_at[b->block_of[v] + 1]++] = v;
}

static void count_edges(struct place_blocks *b)
{
    const struct place_graph *g = b->g;

    for (uint32_t u = 0; u < g->nodes; u++) {
        uint32_t from = b->block_of[u];
        bool sent = false;
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            uint32_t to = b->block_of[g->user[i]];
            if (to == from)
                continue;
            b->open[to]++;
            sent = true;
            if (is_piece(b, to) && b->fetched[to] != u + 1) {
                b->fetched[to] = u + 1;
                b->cost[to] += g->send_ms[u];
            }
        }
        if (sent && is_piece(b, from))
            b->cost[from] += g->send_ms[u];
    }
}

/* The next piece of the same accelerator that holds nodes, or PLACE_NONE. */
static uint32_t next_piece(const struct place_blocks *b, uint32_t block)
{
    uint32_t k = block + 1;

    if (!is_piece(b, block))
        return PLACE_NONE;
    for (; k % b->pieces; k++) {
        if (b->node_at[k] < b->node_at[k + 1])
            return k;
    }
    return PLACE_NONE;
}

static void relax_end(struct place_blocks *b, uint32_t to, double end, uint32_t *tail)
{
    b->ready[to] = end > b->ready[to] ? end : b->ready[to];
    if (!--b->open[to])
        b->queue[(*tail)++] = to;
}

double place_blocks_run(struct place_blocks *b, bool ordered)
{
    const struct place_graph *g = b->g;
    uint32_t head = 0, tail = 0, used = 0;
    double last = 0;

    number_blocks(b);
    count_edges(b);
    for (uint32_t k = 0; k < b->slots; k++) {
        uint32_t next =
            ordered && b->node_at[k] < b->node_at[k + 1] ? next_piece(b, k) : PLACE_NONE;
        used += b->node_at[k] < b->node_at[k + 1];
        if (next != PLACE_NONE)
            b->open[next]++;
    }
    for (uint32_t k = 0; k < b->slots; k++) {
        if (b->node_at[k] < b->node_at[k + 1] && !b->open[k])
            b->queue[tail++] = k;
    }
    for (; head < tail; head++) {
        uint32_t k = b->queue[head], next = ordered ? next_piece(b, k) : PLACE_NONE;
        double end = b->ready[k] + b->cost[k];
        last = end > last ? end : last;
        if (next != PLACE_NONE)
            relax_end(b, next, end, &tail);
        for (uint32_t j = b->node_at[k]; j < b->node_at[k + 1]; j++) {
            uint32_t u = b->node[j];
            for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
                if (b->block_of[g->user[i]] != k)
                    relax_end(b, b->block_of[g->user[i]], end, &tail);
            }
        }
    }
    return head == used ? last : INFINITY;
}

static uint32_t accelerators_of(const struct place_graph *g)
{
    return place_devices(g) - g->type[g->types - 1].count;
}

bool place_blocks_ordered(struct place_blocks *b, double value_ms)
{
    return fabs(place_blocks_run(b, true) - value_ms) <= 1e-9 * fabs(value_ms);
}

int place_cut_into_pieces(const struct place_graph *g, struct placement *p, struct err *e)
{
    uint32_t accelerators = accelerators_of(g);
    /* By node and device of its predecessors: how often a path left that device. Only its own
     * device's count matters at a node, so all are carried along. */
    uint32_t *left = mem_try((size_t)g->nodes * (accelerators + 1) + 1, sizeof *left);

    if (!p->piece)
        p->piece = mem_try((size_t)g->nodes + 1, sizeof *p->piece);
    if (!left || !p->piece) {
        free(left);
        return err_no_memory(e, "for a plan");
    }
    for (uint32_t k = 0; k < g->nodes; k++) {
        uint32_t u = g->order[k], d = p->device[u];
        uint32_t *own = left + (size_t)u * accelerators;
        p->piece[u] = d < accelerators ? own[d] : 0;
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            uint32_t v = g->user[i], *to = left + (size_t)v * accelerators;
            for (uint32_t c = 0; c < accelerators; c++) {
                uint32_t n = own[c] + (c == d && p->device[v] != d);
                to[c] = n > to[c] ? n : to[c];
            }
        }
    }
    free(left);
    return 0;
}

int place_latency_value(const struct place_graph *g, struct placement *p, bool ordered,
                        double *value, struct err *e)
{
    struct place_blocks b = {.g = g, .p = p, .accelerators = accelerators_of(g)};

    if (!p->piece && place_cut_into_pieces(g, p, e))
        return e->code;
    b.pieces = placement_pieces(p);
    if (!place_blocks_allocate(&b)) {
        place_blocks_release(&b);
        return err_no_memory(e, "for a plan");
    }
    *value = place_blocks_run(&b, ordered);
    place_blocks_release(&b);
    return 0;
}
