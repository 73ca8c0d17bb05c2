#include "engine/place/cut_bound.h"

#include "engine/place/graph.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for a bound";

enum { ROUNDS_MAX = 400 };

/* Dinic's algorithm (1970) on arcs in pairs: arc i and its reverse i ^ 1. */
struct flow {
    uint32_t vertices, source, sink;
    uint32_t *head, *next, *to, arcs; /* arcs of a vertex as a list, PLACE_NONE its end */
    double *room;
    uint32_t *level, *cursor, *queue, *path;
};

static void add_arc(struct flow *f, uint32_t from, uint32_t to, double room)
{
    uint32_t ends[2] = {from, to};

    for (uint32_t k = 0; k < 2; k++) {
        f->to[f->arcs] = ends[1 - k];
        f->room[f->arcs] = k ? 0 : room;
        f->next[f->arcs] = f->head[ends[k]];
        f->head[ends[k]] = f->arcs++;
    }
}

static bool find_levels(struct flow *f, double least)
{
    uint32_t first = 0, last = 0;

    memset(f->level, 0xff, f->vertices * sizeof *f->level);
    f->level[f->source] = 0;
    f->queue[last++] = f->source;
    while (first < last) {
        uint32_t v = f->queue[first++];
        for (uint32_t i = f->head[v]; i != PLACE_NONE; i = f->next[i]) {
            if (f->room[i] <= least || f->level[f->to[i]] != PLACE_NONE)
                continue;
            f->level[f->to[i]] = f->level[v] + 1;
            f->queue[last++] = f->to[i];
        }
    }
    return f->level[f->sink] != PLACE_NONE;
}

/* One path of the level graph; what it carries, 0 when there is none left. */
static double push(struct flow *f, double least)
{
    uint32_t depth = 0, v = f->source;

    while (v != f->sink) {
        uint32_t i = f->cursor[v];
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
    for (uint32_t k = 0; k < depth; k++) {
        f->room[f->path[k]] -= most;
        f->room[f->path[k] ^ 1] += most;
    }
    return most;
}

/* A flow is a bound below the cut, finished or not. */
static double run(struct flow *f, double unit)
{
    double all = 0, least = 1e-12 * unit;

    for (uint32_t round = 0; round < ROUNDS_MAX && find_levels(f, least); round++) {
        memcpy(f->cursor, f->head, f->vertices * sizeof *f->cursor);
        for (double more; (more = push(f, least)) > 0;)
            all += more;
    }
    return all;
}

static double least_time(const struct place_nets *n, uint32_t p, bool on_host)
{
    const struct place_graph *g = n->graph;
    double least = INFINITY;

    for (uint32_t t = 0; t < g->types; t++) {
        if (g->type[t].count && g->type[t].is_host == on_host && (n->allowed[p] >> t & 1))
            least = fmin(least, place_nets_time(n, 0, t, p) + place_nets_time(n, 1, t, p));
    }
    return least;
}

/* Vertices: positions, two of every net, the sink. Positions that no accelerator may hold are not
 * on the device. */
static void fill(struct flow *f, const struct place_nets *n, uint32_t position)
{
    f->arcs = 0;
    f->source = position;
    f->sink = n->positions + 2 * n->nets;
    memset(f->head, 0xff, f->vertices * sizeof *f->head);
    for (uint32_t p = 0; p < n->positions; p++)
        add_arc(f, p, f->sink, least_time(n, p, false));
    for (uint32_t h = 0; h < n->nets; h++) {
        uint32_t in = n->positions + 2 * h;
        add_arc(f, in, in + 1, n->near_ms[h]);
        for (uint32_t i = n->pin_at[h]; i < n->pin_at[h + 1]; i++) {
            add_arc(f, n->pin[i], in, INFINITY);
            add_arc(f, in + 1, n->pin[i], INFINITY);
        }
    }
}

static bool allocate(struct flow *f, const struct place_nets *n)
{
    size_t arcs = 2 * ((size_t)n->positions + n->nets + 2 * (size_t)n->pin_at[n->nets]) + 2;

    f->vertices = n->positions + 2 * n->nets + 1;
    f->head = mem_try(f->vertices, sizeof *f->head);
    f->level = mem_try(f->vertices, sizeof *f->level);
    f->cursor = mem_try(f->vertices, sizeof *f->cursor);
    f->queue = mem_try(f->vertices, sizeof *f->queue);
    f->path = mem_try(f->vertices, sizeof *f->path);
    f->next = mem_try(arcs, sizeof *f->next);
    f->to = mem_try(arcs, sizeof *f->to);
    f->room = mem_try(arcs, sizeof *f->room);
    return f->head && f->level && f->cursor && f->queue && f->path && f->next && f->to && f->room;
}

static void release(struct flow *f)
{
    free(f->head);
    free(f->level);
    free(f->cursor);
    free(f->queue);
    free(f->path);
    free(f->next);
    free(f->to);
    free(f->room);
}

/* Work and nets of p alone: no more than this is ever the bound of p. */
static double alone(const struct place_nets *n, uint32_t p)
{
    double all = least_time(n, p, false);

    for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++)
        all += n->near_ms[n->net[i]];
    return fmin(all, least_time(n, p, true));
}

int place_cut_bound(const struct place_nets *n, const struct place_rules *r, double *out,
                    struct err *e)
{
    struct flow f = {0};
    bool *seen;

    *out = 0;
    if (r->communication != PLACE_SUM || r->apart || r->replicate)
        return 0;
    seen = mem_try((size_t)n->positions + 1, 1);
    if (!seen || !allocate(&f, n)) {
        free(seen);
        release(&f);
        return err_no_memory(e, MEMORY_FOR);
    }
    for (uint32_t k = 0; k < PLACE_CUT_FLOWS && k < n->positions; k++) {
        uint32_t p = PLACE_NONE;
        for (uint32_t v = 0; v < n->positions; v++) {
            if (!seen[v] && (p == PLACE_NONE || alone(n, v) > alone(n, p)))
                p = v;
        }
        seen[p] = true;
        if (alone(n, p) <= *out)
            break;
        fill(&f, n, p);
        double cut = isfinite(least_time(n, p, false)) ? run(&f, alone(n, p)) : INFINITY;
        cut = fmin(cut, least_time(n, p, true));
        *out = isfinite(cut) ? fmax(*out, cut) : *out;
    }
    free(seen);
    release(&f);
    return 0;
}
