#include "engine/place/place_cut.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_MAX = 400 };

/* Dinic's algorithm (1970). The arcs out of a vertex lie side by side, each beside its reverse
 * one's place. Of position p the first two are those from the source, seen from p, and to the sink.
 */
struct arc {
    double room;
    uint32_t to, back;
};

struct place_cut {
    const struct place_nets *n;
    uint32_t vertices, arcs, source, sink;
    uint32_t *at; /* arcs out of v: at[v] to at[v + 1] */
    struct arc *arc;
    double *full; /* rooms of an empty network */
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

/* An arc and its reverse, behind those that their ends have so far (cursor). Before there is room
 * for them they are counted. */
static void add_arc(struct place_cut *f, uint32_t from, uint32_t to, double room, double back)
{
    uint32_t i = f->cursor[from]++, k = f->cursor[to]++;

    if (!f->arc)
        return;
    f->arc[i] = (struct arc){0, to, k};
    f->arc[k] = (struct arc){0, from, i};
    f->full[i] = room;
    f->full[k] = back;
    f->unit = isfinite(room) ? fmax(f->unit, room) : f->unit;
}

/* Vertices: positions, source, sink, two of every net of more than two pins. */
static void add_arcs(struct place_cut *f)
{
    const struct place_nets *n = f->n;
    uint32_t next = n->positions + 2;

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

static bool allocate_arcs(struct place_cut *f)
{
    for (uint32_t v = 0; v < f->vertices; v++)
        f->at[v + 1] = f->at[v] + f->cursor[v];
    memcpy(f->cursor, f->at, f->vertices * sizeof *f->cursor);
    f->arcs = f->at[f->vertices];
    f->full = mem_try((size_t)f->arcs + 1, sizeof *f->full);
    f->arc = mem_try((size_t)f->arcs + 1, sizeof *f->arc);
    return f->full && f->arc;
}

int place_cut_new(const struct place_nets *n, struct place_cut **out, struct err *e)
{
    struct place_cut *f = mem_try(1, sizeof *f);

    if (!f)
        return err_no_memory(e, "for a bound");
    f->n = n;
    f->vertices = n->positions + 2 + 2 * n->nets;
    f->source = n->positions;
    f->sink = n->positions + 1;
    f->at = mem_try((size_t)f->vertices + 1, sizeof *f->at);
    f->level = mem_try(f->vertices, sizeof *f->level);
    f->cursor = mem_try(f->vertices, sizeof *f->cursor);
    f->queue = mem_try(f->vertices, sizeof *f->queue);
    f->path = mem_try(f->vertices, sizeof *f->path);
    if (!f->at || !f->level || !f->cursor || !f->queue || !f->path)
        goto out;
    add_arcs(f); /* counts */
    if (!allocate_arcs(f))
        goto out;
    add_arcs(f);
    *out = f;
    return 0;
out:
    place_cut_free(f);
    return err_no_memory(e, "for a bound");
}

void place_cut_free(struct place_cut *f)
{
    if (!f)
        return;
    free(f->at);
    free(f->arc);
    free(f->full);
    free(f->level);
    free(f->cursor);
    free(f->queue);
    free(f->path);
    free(f);
}

uint64_t place_cut_steps(const struct place_cut *f)
{
    return f->steps;
}

/* ---- flows ---- */

/* As far as the sink; all that the source reaches, where the sink is not among it. */
static bool find_levels(struct place_cut *f, double least)
{
    uint32_t first = 0, last = 0;

    memset(f->level, 0xff, f->vertices * sizeof *f->level);
    f->level[f->source] = 0;
    f->queue[last++] = f->source;
    while (first < last) {
        uint32_t v = f->queue[first++];
        f->steps += f->at[v + 1] - f->at[v];
        for (uint32_t i = f->at[v]; i < f->at[v + 1]; i++) {
            const struct arc *a = &f->arc[i];
            if (a->room <= least || f->level[a->to] != PLACE_NONE)
                continue;
            f->level[a->to] = f->level[v] + 1;
            f->queue[last++] = a->to;
        }
        if (f->level[f->sink] != PLACE_NONE)
            return true;
    }
    return false;
}

/* On with the path of `depth` arcs through the levels, to the sink; 0 when there is none left. */
static uint32_t find_path(struct place_cut *f, uint32_t depth, double least)
{
    uint32_t v = depth ? f->arc[f->path[depth - 1]].to : f->source;

    while (v != f->sink) {
        uint32_t i = f->cursor[v];
        f->steps++;
        if (i == f->at[v + 1]) { /* a dead end: back */
            f->level[v] = PLACE_NONE;
            if (!depth)
                return 0;
            v = f->arc[f->arc[f->path[--depth]].back].to;
            continue;
        }
        if (f->arc[i].room > least && f->level[f->arc[i].to] == f->level[v] + 1) {
            f->path[depth++] = i;
            v = f->arc[i].to;
        } else {
            f->cursor[v]++;
        }
    }
    return depth;
}

/* What the levels carry, added to `all` as far as `until`. */
static double push_flow(struct place_cut *f, double all, double until, double least)
{
    for (uint32_t depth = 0; all < until && (depth = find_path(f, depth, least));) {
        double most = INFINITY;
        uint32_t full = 0;
        for (uint32_t k = depth; k-- > 0;) {
            double room = f->arc[f->path[k]].room;
            full = room <= most ? k : full;
            most = fmin(most, room);
        }
        if (isinf(most)) /* what is in cannot be parted from what is out */
            return most;
        for (uint32_t k = 0; k < depth; k++) {
            struct arc *a = &f->arc[f->path[k]];
            a->room -= most;
            f->arc[a->back].room += most;
        }
        all += most;
        depth = full; /* the next path begins with what is not full */
    }
    return all;
}

static void set_rooms(struct place_cut *f, const uint8_t *where, bool works)
{
    for (uint32_t i = 0; i < f->arcs; i++)
        f->arc[i].room = f->full[i];
    for (uint32_t p = 0; p < f->n->positions; p++) {
        struct arc *from = &f->arc[f->at[f->source] + p], *to = &f->arc[f->at[p] + 1];
        from->room = where[p] == PLACE_CUT_IN ? INFINITY : 0;
        if (where[p] == PLACE_CUT_OUT)
            to->room = INFINITY;
        else if (!works)
            to->room = 0;
    }
}

double place_cut_least(struct place_cut *f, const uint8_t *where, bool works, double until,
                       uint64_t *side)
{
    double all = 0, least = 1e-12 * f->unit;

    set_rooms(f, where, works);
    for (uint32_t round = 0; round < ROUNDS_MAX && all < until && find_levels(f, least); round++) {
        memcpy(f->cursor, f->at, f->vertices * sizeof *f->cursor);
        all = push_flow(f, all, until, least);
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
