/* What a sample takes at least: a path through the graph, cut where memory forces it to be. */
#include "engine/place/latency.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* Paths of more nodes are not cut: that takes the square of their length. */
enum { CUT_MOST = 4000, PATHS = 3 };

struct roads {
    const struct place_graph *g;
    double *accelerator, *host; /* by node: its least times; INFINITY where it may not be */
    double memory;              /* of the largest accelerator */
    double *weight, *end;
    uint32_t *from, *path; /* path: of the latest search, its first node first */
    uint32_t length;
    double *least; /* [length + 1] */
};

static bool allocate_roads(struct roads *r)
{
    size_t m = (size_t)r->g->nodes + 1;

    r->accelerator = mem_try(m, sizeof *r->accelerator);
    r->host = mem_try(m, sizeof *r->host);
    r->weight = mem_try(m, sizeof *r->weight);
    r->end = mem_try(m, sizeof *r->end);
    r->from = mem_try(m, sizeof *r->from);
    r->path = mem_try(m, sizeof *r->path);
    r->least = mem_try(m + 1, sizeof *r->least);
    return r->accelerator && r->host && r->weight && r->end && r->from && r->path && r->least;
}

static void release_roads(struct roads *r)
{
    free(r->accelerator);
    free(r->host);
    free(r->weight);
    free(r->end);
    free(r->from);
    free(r->path);
    free(r->least);
}

static void fill_times(struct roads *r)
{
    const struct place_graph *g = r->g;

    for (uint32_t v = 0; v < g->nodes; v++)
        r->accelerator[v] = r->host[v] = INFINITY;
    for (uint32_t t = 0; t < g->types; t++) {
        const struct place_type *type = &g->type[t];
        if (!type->count && !type->is_host)
            continue;
        r->memory = type->is_host ? r->memory : fmax(r->memory, type->memory_bytes);
        for (uint32_t v = 0; v < g->nodes; v++) {
            double *time = type->is_host ? &r->host[v] : &r->accelerator[v];
            bool fits = type->is_host || g->bytes[v] <= type->memory_bytes * (1 + 1e-12);
            if ((g->allowed[v] >> t & 1) && fits)
                *time = fmin(*time, place_time(g, t, v));
        }
    }
}

static double least_time(const struct roads *r, uint32_t v)
{
    double least = fmin(r->accelerator[v], r->host[v]);

    return isfinite(least) ? least : 0;
}

/* The path with the largest sum of weights. */
static void find_path(struct roads *r)
{
    const struct place_graph *g = r->g;
    uint32_t last = PLACE_NONE;

    for (uint32_t v = 0; v < g->nodes; v++) {
        r->end[v] = 0;
        r->from[v] = PLACE_NONE;
    }
    for (uint32_t k = 0; k < g->nodes; k++) {
        uint32_t u = g->order[k];
        r->end[u] += r->weight[u];
        last = last == PLACE_NONE || r->end[u] > r->end[last] ? u : last;
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            uint32_t v = g->user[i];
            if (r->end[u] > r->end[v] || r->from[v] == PLACE_NONE) {
                r->end[v] = fmax(r->end[v], r->end[u]);
                r->from[v] = u;
            }
        }
    }
    r->length = 0;
    for (uint32_t v = last; v != PLACE_NONE; v = r->from[v])
        r->path[r->length++] = v;
    for (uint32_t i = 0; i < r->length / 2; i++) {
        uint32_t other = r->path[i];
        r->path[i] = r->path[r->length - 1 - i];
        r->path[r->length - 1 - i] = other;
    }
}

/* A sample goes along the path: through stretches of it on an accelerator, each within its memory,
 * that fetch what comes before and send what goes on; and nodes on the host. The least of all ways
 * to cut it. */
static double cut_path(struct roads *r)
{
    const struct place_graph *g = r->g;
    uint32_t m = r->length;

    r->least[0] = 0;
    for (uint32_t j = 1; j <= m; j++) {
        double work = 0, bytes = 0;
        r->least[j] = r->least[j - 1] + r->host[r->path[j - 1]];
        double sent = j < m ? g->send_ms[r->path[j - 1]] : 0;
        for (uint32_t i = j; i > 0; i--) { /* the stretch i .. j */
            uint32_t v = r->path[i - 1];
            work += r->accelerator[v];
            bytes += g->bytes[v];
            if (isinf(work) || bytes > r->memory * (1 + 1e-12))
                break;
            double fetched = i > 1 ? g->send_ms[r->path[i - 2]] : 0;
            r->least[j] = fmin(r->least[j], r->least[i - 1] + fetched + work + sent);
        }
    }
    return r->least[m];
}

static double along_path(struct roads *r)
{
    double sum = 0;

    for (uint32_t i = 0; i < r->length; i++)
        sum += least_time(r, r->path[i]);
    double cut = r->length <= CUT_MOST ? cut_path(r) : sum;
    return isfinite(cut) ? fmax(cut, sum) : sum;
}

double place_latency_bound(const struct place_graph *g)
{
    struct roads r = {.g = g};
    double bound = 0;

    if (allocate_roads(&r)) {
        fill_times(&r);
        for (int kind = 0; kind < PATHS; kind++) {
            for (uint32_t v = 0; v < g->nodes; v++)
                r.weight[v] = kind == 2 ? g->bytes[v]
                                        : least_time(&r, v) + (kind == 1 ? 2 * g->send_ms[v] : 0);
            find_path(&r);
            bound = fmax(bound, along_path(&r));
        }
    }
    release_roads(&r);
    return bound;
}
