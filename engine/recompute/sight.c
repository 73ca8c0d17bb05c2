#include "engine/recompute/sight.h"

#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "engine/recompute/recompute_internal.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

/* Until when what each node is computed from is read for it. What is fused and made of nothing but
 * kept values is made wherever it is read; the rest once, in its layer's turn. */
static void find_ends(const struct recompute *r, struct keep_sight *s)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        uint8_t *once = s->covers;
        once[k] = n->is_stored;
        for (uint32_t i = 0; i < n->read_count; i++)
            once[k] |= once[g->edges[n->reads + i]];
        once[k] &= n->rule != PRIMAL_NEVER;
        s->end[k] = once[k] ? recompute_window_end(g, n) : UINT32_MAX;
    }
}

/* A kept value lives from where it is made to its last reader, or to the first of those that would
 * be made from it. What a loop computes again is there once while the loop of the backward pass
 * runs. */
static void look_from(const struct recompute *r, struct keep_sight *s)
{
    const struct primal_graph *g = r->graph;
    uint32_t at = s->position + r->start;

    memset(s->until, 0xff, g->count * sizeof *s->until);
    memset(s->covers, 1, g->count);
    for (uint32_t k = g->count; k--;) {
        const struct primal *n = &g->nodes[k];
        uint32_t end = s->end[k];
        if (n->is_needed) {
            s->covers[k] = n->first_read <= at && at <= n->last_read;
            s->until[k] = n->last_read;
            if (n->last_read != UINT32_MAX && n->last_read > s->later[k])
                s->later[k] = n->last_read;
        }
        uint32_t own = s->until[k], read = end < own ? end : own;
        uint32_t later = end < s->later[k] ? end : s->later[k];
        s->covers[k] &= at <= end;
        for (uint32_t i = 0; i < n->read_count; i++) {
            uint32_t o = g->edges[n->reads + i];
            s->until[o] = read < s->until[o] ? read : s->until[o];
            s->later[o] = later > s->later[o] ? later : s->later[o];
            s->covers[o] &= s->covers[k];
        }
        bool works = s->covers[k] && n->rule != PRIMAL_NEVER;
        s->kept[k] = sight_is_made(r, s, k) && own != UINT32_MAX && at <= own;
        s->again[k] = works ? recompute_again_bytes(r, k) : 0;
    }
}

/* Products move to where their operand is computed again: their results are there from then on. */
static void find_moved(const struct recompute *r, struct keep_sight *s)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->reader_count; k++) {
        const struct primal_reader *reader = &g->readers[k];
        for (uint32_t i = 0; i < reader->node_count; i++)
            if (s->position + r->start < reader->position &&
                sight_moves(r, s, g->edges[reader->nodes + i]))
                s->moved[k] = r->reader_bytes[k];
    }
}

bool sight_new(const struct recompute *r, uint32_t position, struct keep_sight *out)
{
    size_t count = (size_t)r->graph->count + 1;
    struct keep_sight s = {.position = position,
                           .base = r->base[position],
                           .kept = mem_try(count, sizeof *s.kept),
                           .again = mem_try(count, sizeof *s.again),
                           .until = mem_try(count, sizeof *s.until),
                           .later = mem_try(count, sizeof *s.later),
                           .end = mem_try(count, sizeof *s.end),
                           .moved = mem_try((size_t)r->graph->reader_count + 1, sizeof *s.moved),
                           .covers = mem_try(count, 1)};
    bool ok = s.kept && s.again && s.until && s.later && s.end && s.moved && s.covers;

    if (ok) {
        find_ends(r, &s);
        look_from(r, &s);
        find_moved(r, &s);
    }
    *out = s;
    return ok;
}

void sight_release(struct keep_sight *s)
{
    free(s->kept);
    free(s->again);
    free(s->until);
    free(s->later);
    free(s->end);
    free(s->moved);
    free(s->covers);
    memset(s, 0, sizeof *s);
}

static bool is_sure(const struct recompute *r, const struct keep_sight *s, uint32_t k)
{
    return s->until[k] != UINT32_MAX && s->position + r->start <= s->until[k];
}

bool sight_is_late(const struct recompute *r, const struct keep_sight *s, uint32_t k)
{
    return !is_sure(r, s, k) && s->position + r->start <= s->later[k];
}

bool sight_is_made(const struct recompute *r, const struct keep_sight *s, uint32_t k)
{
    const struct primal *n = &r->graph->nodes[k];

    return (n->trips > 1 ? n->made : n->made + 1) <= s->position + r->start;
}

bool sight_reads(const struct recompute *r, const struct keep_sight *s, uint32_t k)
{
    return s->position + r->start <= s->end[k];
}

bool sight_moves(const struct recompute *r, const struct keep_sight *s, uint32_t k)
{
    const struct primal *n = &r->graph->nodes[k];
    uint32_t at = s->position + r->start;
    bool may = n->is_stored && n->rule != PRIMAL_NEVER && r->module.state[k] != VALUE_AGAIN;

    return may && n->is_needed && s->end[k] <= at && n->first_read <= at;
}

/* What is there of the products that a choice moves. */
static double moved_bytes(const struct recompute *r, const struct keep_sight *s,
                          const uint8_t *state, double *of_node)
{
    const struct primal_graph *g = r->graph;
    double bytes = 0;

    for (uint32_t k = 0; k < g->reader_count; k++) {
        const struct primal_reader *reader = &g->readers[k];
        for (uint32_t i = 0; i < reader->node_count && s->moved[k] > 0; i++) {
            uint32_t n = g->edges[reader->nodes + i];
            if (state[n] != VALUE_AGAIN || !sight_moves(r, s, n))
                continue;
            bytes += s->moved[k];
            if (of_node)
                of_node[n] += s->moved[k];
            break;
        }
    }
    return bytes;
}

double sight_bytes(const struct recompute *r, const struct keep_sight *s, const uint8_t *state,
                   uint8_t *late, double *of_node)
{
    const struct primal_graph *g = r->graph;
    double bytes;

    if (of_node)
        memset(of_node, 0, g->count * sizeof *of_node);
    bytes = moved_bytes(r, s, state, of_node);
    memset(late, 0, g->count);
    for (uint32_t k = g->count; k--;) {
        const struct primal *n = &g->nodes[k];
        bool is_late = late[k] && sight_is_late(r, s, k);
        double own = 0;
        if (recompute_is_kept(state[k])) {
            double part = is_late && sight_is_made(r, s, k) ? 1 : s->kept[k];
            own = part * recompute_kept_bytes(r, k, state[k]);
        } else if (state[k] == VALUE_AGAIN) {
            own = s->again[k];
            bool reads = (is_late || is_sure(r, s, k)) && sight_reads(r, s, k);
            for (uint32_t i = 0; i < n->read_count && reads; i++)
                late[g->edges[n->reads + i]] = 1;
        }
        bytes += own;
        if (of_node)
            of_node[k] += own;
    }
    return bytes;
}
