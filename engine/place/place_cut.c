#include "engine/place/place_cut.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_MAX = 400 };

/* Dinic's algorithm (1970) on arcs in pairs: arc i and its reverse i ^ 1. The first 4 arcs of
 * position p are from the source and to the sink: 4 p and 4 p + 2. */
struct place_cut {
    const struct place_nets *n;
    uint32_t vertices, source, sink;
    uint32_t *head, *next, *to, arcs; /* arcs of a vertex as a list, PLACE_NONE its end */
    double *room, *full;              /* full: of an empty network */
    uint32_t *level, *cursor, *queue, *path;
    double unit; /* the largest finite room */
    uint64_t steps;
};

double place_least_time(const struct place_nets *n, uint32_t p, bool on_host)
{
    const struct place_graph *g = n->graph;
    double least = INFINITY;

    for (uint32_t t = 0; t < g->types; t++) {
        if (g->type[t].count && g->type[t].is_host == on_host && (n->allowed[p] >> t & 1))
            least = fmin(least, place_nets_time(n, 0, t, p) + place_nets_time(n, 1, t, p));
    }
    return least;
}

/* ---- the network ---- */

static void add_arc(struct place_cut *f, uint32_t from, uint32_t to, double room, double back)
{
    uint32_t ends[2] = {from, to};

    for (uint32_t k = 0; k < 2; k++) {
        f->to[f->arcs] = ends[1 - k];
        f->full[f->arcs] = k ? back : room;
        f->next[f->arcs] = f->head[ends[k]];
        f->head[ends[k]] = f->arcs++;
    }
    f->unit = isfinite(room) ? fmax(f->unit, room) : f->unit;
}

/* Vertices: positions, source, sink, two of every net of more than two pins. */
static void fill_levels(struct place_cut *f)
{
    const struct place_nets *n = f->n;
    uint32_t next = n->positions + 2;

    f->source = n->positions;
    f->sink = n->positions + 1;
    memset(f->head, 0xff, f->vertices * sizeof *f->head);
    for (uint32_t p = 0; p < n->positions; p++) {
        add_arc(f, f->source, p, 0, 0);
        add_arc(f, p, f->sink, place_least_time(n, p, false), 0);
    }
    for (uint32_t h = 0; h < n->nets; h++) {
        const uint32_t *pin = n->pin + n->pin_at[h];
        uint32_t pins = n->pin_at[h + 1] - n->pin_at[h];
        if (pins == 2) {
            add_arc(f, pin[0], pin[1], n->near_ms[h], n->near_ms[h]);
            continue;
        }
        add_arc(f, next, next + 1, n->near_ms[h], 0);
        for (uint32_t i = 0; i < pins; i++) {
            add_arc(f, pin[i], next, INFINITY, 0);
            add_arc(f, next + 1, pin[i], INFINITY, 0);
        }
        next += 2;
    }
}

int place_cut_new(const struct place_nets *n, struct place_cut **out, struct err *e)
{
    struct place_cut *f = mem_try(1, sizeof *f);
    size_t arcs = 4 * (size_t)n->positions + 2 * (size_t)n->nets + 4 * (size_t)n->pin_at[n->nets];

    if (!f)
        return err_no_memory(e, "for a bound");
    f->n = n;
    f->vertices = n->positions + 2 + 2 * n->nets;
    f->head = mem_try(f->vertices, sizeof *f->head);
    f->level = mem_try(f->vertices, sizeof *f->level);
    f->cursor = mem_try(f->vertices, sizeof *f->cursor);
    f->queue = mem_try(f->vertices, sizeof *f->queue);
    f->path = mem_try(f->vertices, sizeof *f->path);
    f->next = mem_try(arcs + 1, sizeof *f->next);
    f->to = mem_try(arcs + 1, sizeof *f->to);
    f->room = mem_try(arcs + 1, sizeof *f->room);
    f->full = mem_try(arcs + 1, sizeof *f->full);
    if (!f->head || !f->level || !f->cursor || !f->queue || !f->path || !f->next || !f->to ||
        !f->room || !f->full) {
        place_cut_free(f);
        return err_no_memory(e, "for a bound");
    }
    fill_levels(f);
    *out = f;
    return 0;
}

void place_cut_free(struct place_cut *f)
{
    if (!f)
        return;
    free(f->head);
    free(f->level);
    free(f->cursor);
    free(f->queue);
    free(f->path);
    free(f->next);
    free(f->to);
    free(f->room);
    free(f->full);
    free(f);
}

uint64_t place_cut_steps(const struct place_cut *f)
{
    return f->steps;
}

/* ---- flows ---- */

static bool find_levels(struct place_cut *f, double least)
{
    uint32_t first = 0, last = 0;

    memset(f->level, 0xff, f->vertices * sizeof *f->level);
    f->level[f->source] = 0;
    f->queue[last++] = f->source;
    while (first < last) {
        uint32_t v = f->queue[first++];
        for (uint32_t i = f->head[v]; i != PLACE_NONE; i = f->next[i]) {
            f->steps++;
            if (f->room[i] <= least || f->level[f->to[i]] != PLACE_NONE)
                continue;
            f->level[f->to[i]] = f->level[v] + 1;
            f->queue[last++] = f->to[i];
        }
    }
    return f->level[f->sink] != PLACE_NONE;
}

/* One path of the level graph; what it carries, 0 when there is none left. */
static double push_flow(struct place_cut *f, double least)
{
    uint32_t depth = 0, v = f->source;

    while (v != f->sink) {
        uint32_t i = f->cursor[v];
        f->steps++;
        if (i == PLACE_NONE) { /* a dead end: back */
            f->level[v] = PLACE_NONE;
            if (!depth)
                return 0;
            v = f->to[f->path[--depth] ^ 1];
            continue;
        }
        if (f->room[i] > least && f->level[f->to[i]] == f->level[v] + 1) {
            f->path[depth++] = i;
            v = f->to[i];
        } else {
            f->cursor[v] = f->next[i];
        }
    }
    double most = INFINITY;
    for (uint32_t k = 0; k < depth; k++)
        most = fmin(most, f->room[f->path[k]]);
    if (isinf(most)) /* what is in cannot be parted from what is out */
        return most;
    for (uint32_t k = 0; k < depth; k++) {
        f->room[f->path[k]] -= most;
        f->room[f->path[k] ^ 1] += most;
    }
    return most;
}

static void set_rooms(struct place_cut *f, const uint8_t *where, bool works)
{
    memcpy(f->room, f->full, f->arcs * sizeof *f->room);
    for (uint32_t p = 0; p < f->n->positions; p++) {
        f->room[4 * p] = where[p] == PLACE_CUT_IN ? INFINITY : 0;
        if (where[p] == PLACE_CUT_OUT)
            f->room[4 * p + 2] = INFINITY;
        else if (!works)
            f->room[4 * p + 2] = 0;
    }
}

double place_cut_least(struct place_cut *f, const uint8_t *where, bool works, double until,
                       uint64_t *side)
{
    double all = 0, least = 1e-12 * f->unit;

    set_rooms(f, where, works);
    for (uint32_t round = 0; round < ROUNDS_MAX && all < until && find_levels(f, least); round++) {
        memcpy(f->cursor, f->head, f->vertices * sizeof *f->cursor);
        for (double more; all < until && (more = push_flow(f, least)) > 0;)
            all += more;
    }
    for (uint32_t p = 0; side && p < f->n->positions; p++) {
        uint64_t bit = (uint64_t)1 << (p % 64);
        side[p / 64] = f->level[p] != PLACE_NONE ? side[p / 64] | bit : side[p / 64] & ~bit;
    }
    return all;
}

double place_cut_with(struct place_cut *f, uint8_t *where, uint32_t p)
{
    double host = place_least_time(f->n, p, true), cut = INFINITY;
    uint8_t before = where[p];

    where[p] = PLACE_CUT_IN;
    if (isfinite(place_least_time(f->n, p, false)))
        cut = place_cut_least(f, where, true, INFINITY, NULL);
    where[p] = before;
    return fmin(cut, host);
}

double place_cut_alone(const struct place_nets *n, uint32_t p)
{
    double all = place_least_time(n, p, false);

    for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++)
        all += n->near_ms[n->net[i]];
    return fmin(all, place_least_time(n, p, true));
}
