#include "engine/recompute/cut.h"

#include <string.h>

static const uint32_t NONE = UINT32_MAX;

int cut_new(uint32_t nodes, struct cut *out, struct err *e)
{
    struct cut c = {.nodes = nodes,
                    .first = mem_try(nodes, sizeof *c.first),
                    .level = mem_try(nodes, sizeof *c.level),
                    .current = mem_try(nodes, sizeof *c.current),
                    .queue = mem_try(nodes, sizeof *c.queue)};

    if (!c.first || !c.level || !c.current || !c.queue) {
        cut_release(&c);
        return err_no_memory(e, "for a minimum cut");
    }
    memset(c.first, 0xff, nodes * sizeof *c.first);
    *out = c;
    return 0;
}

void cut_release(struct cut *c)
{
    free(c->arcs);
    free(c->first);
    free(c->level);
    free(c->current);
    free(c->queue);
    memset(c, 0, sizeof *c);
}

uint32_t cut_add(struct cut *c, uint32_t from, uint32_t to)
{
    uint32_t arc = c->arc_count;

    if (!mem_grow(&c->arcs, &c->arc_room, c->arc_count, 2))
        return NONE;
    c->arcs[arc] = (struct cut_arc){to, c->first[from], 0};
    c->arcs[arc + 1] = (struct cut_arc){from, c->first[to], 0};
    c->first[from] = arc;
    c->first[to] = arc + 1;
    c->arc_count += 2;
    return arc;
}

/* Distances from the source along arcs with room; whether the sink is among them. */
static bool find_levels(struct cut *c)
{
    uint32_t head = 0, tail = 0;

    memset(c->level, 0xff, c->nodes * sizeof *c->level);
    c->level[0] = 0;
    c->queue[tail++] = 0;
    while (head < tail) {
        uint32_t at = c->queue[head++];
        for (uint32_t k = c->first[at]; k != NONE; k = c->arcs[k].next) {
            uint32_t to = c->arcs[k].to;
            if (c->arcs[k].room > 0 && c->level[to] == NONE) {
                c->level[to] = c->level[at] + 1;
                c->queue[tail++] = to;
            }
        }
    }
    return c->level[1] != NONE;
}

/* One path to the sink along rising levels, depth first; `queue` holds its arcs. What it carries;
 * 0: there is none left. */
static int64_t push_path(struct cut *c)
{
    uint32_t depth = 0, at = 0;

    while (at != 1) {
        uint32_t *k = &c->current[at];
        while (*k != NONE &&
               (c->arcs[*k].room <= 0 || c->level[c->arcs[*k].to] != c->level[at] + 1))
            *k = c->arcs[*k].next;
        if (*k != NONE) {
            c->queue[depth++] = *k;
            at = c->arcs[*k].to;
        } else if (!depth) {
            return 0;
        } else { /* a dead end: back, and past the arc that led here */
            uint32_t arc = c->queue[--depth];
            at = c->arcs[arc ^ 1].to;
            c->current[at] = c->arcs[c->current[at]].next;
        }
    }
    int64_t least = CUT_INFINITE;
    for (uint32_t k = 0; k < depth; k++)
        least = c->arcs[c->queue[k]].room < least ? c->arcs[c->queue[k]].room : least;
    for (uint32_t k = 0; k < depth; k++) {
        c->arcs[c->queue[k]].room -= least;
        c->arcs[c->queue[k] ^ 1].room += least;
    }
    return least;
}

int64_t cut_solve(struct cut *c)
{
    int64_t total = 0, more;

    while (total < CUT_INFINITE && find_levels(c)) {
        memcpy(c->current, c->first, c->nodes * sizeof *c->current);
        while ((more = push_path(c)) > 0)
            total += more;
    }
    return total;
}
