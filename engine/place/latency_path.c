#include "engine/place/latency_path.h"

#include "engine/place/latency_blocks.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* The producer, in another block, at whose end each block begins; PLACE_NONE: none. */
static void find_awaited(const struct place_blocks *b, uint32_t *awaited)
{
    const struct place_graph *g = b->g;

    memset(awaited, 0xff, b->slots * sizeof *awaited);
    for (uint32_t u = 0; u < g->nodes; u++) {
        uint32_t from = b->block_of[u];
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            uint32_t to = b->block_of[g->user[i]];
            if (to != from && awaited[to] == PLACE_NONE &&
                b->ready[from] + b->cost[from] == b->ready[to])
                awaited[to] = u;
        }
    }
}

/* The piece before of the same accelerator, where that is what the block waits for. */
static uint32_t piece_before(const struct place_blocks *b, uint32_t block)
{
    for (uint32_t k = block; block < b->accelerators * b->pieces && k % b->pieces;) {
        k--;
        if (b->node_at[k] < b->node_at[k + 1])
            return b->ready[k] + b->cost[k] == b->ready[block] ? k : PLACE_NONE;
    }
    return PLACE_NONE;
}

static struct place_latency_step step_of(const struct place_blocks *b, uint32_t block)
{
    const struct place_graph *g = b->g;
    struct place_latency_step s = {.waits_for = PLACE_NONE,
                                   .begin_ms = b->ready[block],
                                   .end_ms = b->ready[block] + b->cost[block]};

    for (uint32_t j = b->node_at[block]; j < b->node_at[block + 1]; j++) {
        uint32_t v = b->node[j];
        bool sent = false;
        for (uint32_t i = g->user_at[v]; i < g->user_at[v + 1]; i++)
            sent |= b->block_of[g->user[i]] != block;
        s.node = s.nodes++ ? s.node : v;
        s.device = b->p->device[v];
        s.piece = b->p->piece[v];
        s.compute_ms += place_time(g, place_type_of(g, s.device), v);
        s.send_ms += sent && s.device < b->accelerators ? g->send_ms[v] : 0;
    }
    s.fetch_ms = fmax(0, b->cost[block] - s.compute_ms - s.send_ms);
    return s;
}

static uint32_t last_block(const struct place_blocks *b)
{
    uint32_t last = PLACE_NONE;

    for (uint32_t k = 0; k < b->slots; k++) {
        if (b->node_at[k] < b->node_at[k + 1] &&
            (last == PLACE_NONE || b->ready[k] + b->cost[k] > b->ready[last] + b->cost[last]))
            last = k;
    }
    return last;
}

/* From the last block back to one that waits for nobody. A block of no cost may wait for another
 * of none: each is taken once. */
static uint32_t walk_back(const struct place_blocks *b, const uint32_t *awaited, bool ordered,
                          struct place_latency_step *out)
{
    uint32_t count = 0;

    for (uint32_t k = last_block(b); k != PLACE_NONE && count < b->slots;) {
        uint32_t u = awaited[k], before = ordered ? piece_before(b, k) : PLACE_NONE;
        out[count] = step_of(b, k);
        if (u != PLACE_NONE && b->ready[k] > 0) {
            out[count].waits_for = u;
            before = b->block_of[u];
        }
        k = b->ready[k] > 0 ? before : PLACE_NONE;
        count++;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        struct place_latency_step s = out[i];
        out[i] = out[count - 1 - i];
        out[count - 1 - i] = s;
    }
    return count;
}

int place_latency_path(const struct place_graph *g, const struct placement *p,
                       struct place_latency_step **steps, uint32_t *count, struct err *e)
{
    struct place_blocks b = {.g = g,
                             .p = p,
                             .accelerators = place_devices(g) - g->type[g->types - 1].count,
                             .pieces = placement_pieces(p)};
    uint32_t *awaited = NULL;
    bool ordered;
    int rc = 0;

    *steps = NULL;
    *count = 0;
    if (!place_blocks_allocate(&b)) {
        rc = err_no_memory(e, "for a plan");
        goto out;
    }
    awaited = mem_try((size_t)b.slots + 1, sizeof *awaited);
    *steps = mem_try((size_t)b.slots + 1, sizeof **steps);
    if (!awaited || !*steps) {
        rc = err_no_memory(e, "for a plan");
        goto out;
    }
    ordered = place_blocks_ordered(&b, p->value_ms);
    if (!isfinite(place_blocks_run(&b, ordered)))
        goto out;
    find_awaited(&b, awaited);
    *count = walk_back(&b, awaited, ordered, *steps);
out:
    free(awaited);
    place_blocks_release(&b);
    return rc;
}
