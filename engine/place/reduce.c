#include "engine/place/reduce.h"

#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/union_find.h"

#include <math.h>
#include <string.h>

enum { PAIR_PINS_MAX = 32, ROUNDS_MAX = 64 };

struct reducing {
    const struct place_graph *g;
    const struct place_rules *r;
    double limit; /* plans at or above it do not count */
    struct place_nets *n;
    uint32_t *of;     /* by node: its position */
    uint32_t *parent; /* by position */
    double *shared;   /* by position: what it shares with the one at hand */
    uint32_t *seen, seens;
};

/* Least time of a position on an accelerator, or on the host. */
static double least_time(const struct reducing *w, uint32_t p, bool host)
{
    double least = INFINITY;

    for (uint32_t t = 0; t < w->g->types; t++) {
        if (w->g->type[t].is_host != host || !w->g->type[t].count || !(w->n->allowed[p] >> t & 1))
            continue;
        least = fmin(least, place_nets_time(w->n, 0, t, p) + place_nets_time(w->n, 1, t, p));
    }
    return least;
}

/* Kinds a position alone fills. */
static bool restrict_kinds(struct reducing *w)
{
    for (uint32_t p = 0; p < w->n->positions; p++) {
        for (uint32_t t = 0; t < w->g->types; t++) {
            double time = w->r->apart
                              ? fmax(place_nets_time(w->n, 0, t, p), place_nets_time(w->n, 1, t, p))
                              : place_nets_time(w->n, 0, t, p) + place_nets_time(w->n, 1, t, p);
            if (!w->g->type[t].count || time >= w->limit ||
                (!w->g->type[t].is_host && w->n->bytes[p] > w->g->type[t].memory_bytes))
                w->n->allowed[p] &= (uint8_t) ~(1u << t);
        }
        if (!w->n->allowed[p])
            return false;
    }
    return true;
}

/* Apart, the two would move `moved` each. Is there a way to have them apart? */
static bool may_part(const struct reducing *w, uint32_t p, uint32_t q, double moved)
{
    double work_p = least_time(w, p, false), work_q = least_time(w, q, false);

    if (w->r->communication != PLACE_SUM || w->r->apart)
        work_p = isfinite(work_p) ? 0 : work_p, work_q = isfinite(work_q) ? 0 : work_q;
    bool p_works = work_p + moved < w->limit, q_works = work_q + moved < w->limit;
    return (p_works && q_works) || (p_works && isfinite(least_time(w, q, true))) ||
           (q_works && isfinite(least_time(w, p, true)));
}

static void join_colors(struct reducing *w, uint32_t p, uint32_t q, bool *any)
{
    uint32_t a = union_root(w->parent, p), b = union_root(w->parent, q);

    if (a == b)
        return;
    w->parent[a > b ? a : b] = a > b ? b : a;
    *any = true;
}

/* p with every position it shares nets with. */
static void join_around(struct reducing *w, uint32_t p, bool *any)
{
    const struct place_nets *n = w->n;
    bool sums = w->r->communication != PLACE_DUPLEX && !w->r->apart;

    w->seens = 0;
    for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++) {
        uint32_t h = n->net[i], pins = n->pin_at[h + 1] - n->pin_at[h];
        if (pins > PAIR_PINS_MAX && n->near_ms[h] < w->limit)
            continue;
        for (uint32_t k = n->pin_at[h]; k < n->pin_at[h + 1]; k++) {
            uint32_t q = n->pin[k];
            if (w->shared[q] < 0) {
                w->shared[q] = 0;
                w->seen[w->seens++] = q;
            }
            w->shared[q] = sums ? w->shared[q] + n->near_ms[h] : fmax(w->shared[q], n->near_ms[h]);
        }
    }
    for (uint32_t i = 0; i < w->seens; i++) {
        uint32_t q = w->seen[i];
        if (q > p && !may_part(w, p, q, w->shared[q]))
            join_colors(w, p, q, any);
        w->shared[q] = -1;
    }
}

/* One round: true in *any when positions were joined; false: no plan is left. */
static bool join_positions(struct reducing *w, bool *any)
{
    uint32_t m = w->n->positions, dense = 0;

    *any = false;
    if (w->g->type[w->g->types - 1].count > 1)
        return true;
    for (uint32_t p = 0; p < m; p++) {
        w->parent[p] = p;
        w->shared[p] = -1;
    }
    for (uint32_t p = 0; p < m; p++)
        join_around(w, p, any);
    for (uint32_t p = 0; p < m; p++) /* the root of a set is its least member */
        w->seen[p] = union_root(w->parent, p) == p ? dense++ : w->seen[union_root(w->parent, p)];
    for (uint32_t v = 0; v < w->g->nodes; v++)
        w->of[v] = w->seen[w->of[v]];
    w->seens = dense;
    return true;
}

static int reduce(struct reducing *w, struct err *e)
{
    uint32_t positions = w->g->colors;

    for (int round = 0; round < ROUNDS_MAX; round++) {
        bool any;
        place_nets_free(w->n);
        w->n = NULL;
        if (place_nets_new(w->g, w->of, positions, &w->n, e))
            return e->code;
        if (!restrict_kinds(w) || !join_positions(w, &any))
            return err_set(e, ERR_INFEASIBLE, "no plan is below %g ms", w->limit);
        if (!any)
            return 0;
        positions = w->seens;
    }
    place_nets_free(w->n);
    w->n = NULL;
    if (place_nets_new(w->g, w->of, positions, &w->n, e))
        return e->code;
    return restrict_kinds(w) ? 0 : err_set(e, ERR_INFEASIBLE, "no plan is below %g ms", w->limit);
}

int place_reduce(const struct place_graph *g, const struct place_rules *r, double value_ms,
                 struct place_nets **out, struct err *e)
{
    struct reducing w = {.g = g, .r = r, .limit = value_ms * (1 + 1e-9) + 1e-12};
    size_t m = (size_t)g->colors + 1;
    int rc = 0;

    w.of = mem_try((size_t)g->nodes + 1, sizeof *w.of);
    w.parent = mem_try(m, sizeof *w.parent);
    w.seen = mem_try(m, sizeof *w.seen);
    w.shared = mem_try(m, sizeof *w.shared);
    if (!w.of || !w.parent || !w.seen || !w.shared) {
        rc = err_no_memory(e, "for a search");
    } else {
        memcpy(w.of, g->color, g->nodes * sizeof *w.of);
        rc = reduce(&w, e);
    }
    free(w.of);
    free(w.parent);
    free(w.seen);
    free(w.shared);
    if (rc)
        place_nets_free(w.n);
    else
        *out = w.n;
    return rc;
}
