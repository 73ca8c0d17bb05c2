#include "engine/recompute/priced.h"

#include "engine/recompute/primal.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FOR[] = "for what is kept at prices of memory";

enum { SOURCE = 0, SINK = 1 };

static uint32_t out_of(uint32_t node)
{
    return 2 + 2 * node;
}

/* Read late; the next one: computed again for a late reader. */
static uint32_t late_of(const struct priced *p, uint32_t late)
{
    return out_of(p->r->graph->count + late);
}

static uint32_t moved_of(const struct priced *p, uint32_t moved)
{
    return out_of(p->r->graph->count + p->late_count) + moved;
}

static bool add_fixed(struct priced *p, uint32_t from, uint32_t to)
{
    uint32_t arc = cut_add(&p->cut, from, to);

    if (arc == UINT32_MAX || !mem_grow(&p->fixed, &p->fixed_room, p->fixed_count, 1))
        return false;
    p->fixed[p->fixed_count++] = arc;
    return true;
}

static bool add_arcs(struct priced *p)
{
    const struct primal_graph *g = p->r->graph;
    bool ok = true;

    for (uint32_t k = 0; k < g->count && ok; k++) {
        const struct primal *n = &g->nodes[k];
        if (n->is_needed)
            ok = add_fixed(p, SOURCE, out_of(k));
        p->keep_arc[k] = cut_add(&p->cut, out_of(k), out_of(k) + 1);
        p->again_arc[k] = cut_add(&p->cut, out_of(k) + 1, SINK);
        ok &= p->again_arc[k] != UINT32_MAX && p->keep_arc[k] != UINT32_MAX;
        for (uint32_t i = 0; i < n->read_count && ok; i++)
            ok = add_fixed(p, out_of(k) + 1, out_of(g->edges[n->reads + i]));
    }
    return ok;
}

/* The late nodes of a sight, and each one's number + 1 in `of` [nodes]. */
static bool list_lates(struct priced *p, const struct keep_sight *s, uint32_t number, uint32_t *of)
{
    for (uint32_t k = 0; k < p->r->graph->count; k++) {
        of[k] = 0;
        if (!sight_is_late(p->r, s, k))
            continue;
        if (!mem_grow(&p->lates, &p->late_room, p->late_count, 1))
            return false;
        p->lates[p->late_count] =
            (struct priced_late){.node = k, .sight = number, .is_made = sight_is_made(p->r, s, k)};
        of[k] = ++p->late_count;
    }
    return true;
}

/* Who is read late is used; computed again then, it is for a late reader; and what it is computed
 * from is read late if it still reads then. */
static bool add_late_arcs(struct priced *p, const struct keep_sight *s, const uint32_t *of)
{
    const struct primal_graph *g = p->r->graph;
    bool ok = true;

    for (uint32_t k = 0; k < g->count && ok; k++) {
        const struct primal *n = &g->nodes[k];
        uint32_t by = out_of(k) + 1;
        bool reads = sight_reads(p->r, s, k) && (of[k] || s->until[k] != UINT32_MAX);
        if (of[k]) {
            uint32_t late = late_of(p, of[k] - 1);
            by = late + 1;
            ok = add_fixed(p, late, out_of(k)) && add_fixed(p, late + 1, out_of(k) + 1);
            p->lates[of[k] - 1].arc = cut_add(&p->cut, late, late + 1);
            ok &= p->lates[of[k] - 1].arc != UINT32_MAX;
        } else if (s->position + p->r->start > s->until[k]) {
            reads = false;
        }
        for (uint32_t i = 0; i < n->read_count && reads && ok; i++) {
            uint32_t o = of[g->edges[n->reads + i]];
            ok = !o || add_fixed(p, by, late_of(p, o - 1));
        }
    }
    return ok;
}

static bool list_moved(struct priced *p, const struct keep_sight *s, uint32_t number)
{
    for (uint32_t k = 0; k < p->r->graph->reader_count; k++) {
        if (!(s->moved[k] > 0))
            continue;
        if (!mem_grow(&p->moved, &p->moved_room, p->moved_count, 1))
            return false;
        p->moved[p->moved_count++] =
            (struct priced_moved){.reader = k, .sight = number, .bytes = s->moved[k]};
    }
    return true;
}

static bool add_moved_arcs(struct priced *p, const struct keep_sight *const *sights)
{
    const struct primal_graph *g = p->r->graph;
    bool ok = true;

    for (uint32_t k = 0; k < p->moved_count && ok; k++) {
        struct priced_moved *m = &p->moved[k];
        const struct primal_reader *reader = &g->readers[m->reader];
        for (uint32_t i = 0; i < reader->node_count && ok; i++) {
            uint32_t n = g->edges[reader->nodes + i];
            ok = !sight_moves(p->r, sights[m->sight], n) ||
                 add_fixed(p, out_of(n) + 1, moved_of(p, k));
        }
        m->arc = ok ? cut_add(&p->cut, moved_of(p, k), SINK) : UINT32_MAX;
        ok = m->arc != UINT32_MAX;
    }
    return ok;
}

static int make_cut(struct priced *p, const struct keep_sight *const *sights, uint32_t count,
                    uint32_t *of, struct err *e)
{
    size_t nodes = p->r->graph->count;
    bool ok = true;

    for (uint32_t k = 0; k < count && ok; k++)
        ok = list_lates(p, sights[k], k, &of[k * nodes]) && list_moved(p, sights[k], k);
    int rc = ok ? cut_new(moved_of(p, p->moved_count), &p->cut, e) : err_no_memory(e, FOR);
    if (rc)
        return rc;
    ok = add_arcs(p);
    for (uint32_t k = 0; k < count && ok; k++)
        ok = add_late_arcs(p, sights[k], &of[k * nodes]);
    ok = ok && add_moved_arcs(p, sights);
    return ok ? 0 : err_no_memory(e, FOR);
}

int priced_new(const struct recompute *r, const struct keep_sight *const *sights, uint32_t count,
               struct priced *out, struct err *e)
{
    size_t nodes = (size_t)r->graph->count + 1;
    struct priced *p = out;
    uint32_t *of = mem_try(nodes * count + 1, sizeof *of);

    *p = (struct priced){.r = r,
                         .kept_price = mem_try(nodes, sizeof(double)),
                         .again_ms = mem_try(nodes, sizeof(double)),
                         .late_price = mem_try((size_t)count + 1, sizeof(double)),
                         .is_kept = mem_try(nodes, 1),
                         .keep_arc = mem_try(nodes, sizeof *p->keep_arc),
                         .again_arc = mem_try(nodes, sizeof *p->again_arc),
                         .keeps = mem_try(nodes, 1),
                         .way = mem_try(nodes, 1)};
    bool ok = of && p->kept_price && p->again_ms && p->late_price && p->is_kept && p->keep_arc &&
              p->again_arc && p->keeps && p->way;
    int rc = ok ? make_cut(p, sights, count, of, e) : err_no_memory(e, FOR);
    free(of);
    return rc;
}

void priced_release(struct priced *p)
{
    cut_release(&p->cut);
    free(p->kept_price);
    free(p->again_ms);
    free(p->late_price);
    free(p->is_kept);
    free(p->lates);
    free(p->moved);
    free(p->keep_arc);
    free(p->again_arc);
    free(p->fixed);
    free(p->keeps);
    free(p->way);
    memset(p, 0, sizeof *p);
}

/* What the better way to keep node `k` costs. */
static double keeping(const struct priced *p, uint32_t k, uint8_t *way)
{
    const struct recompute *r = p->r;
    double whole = p->kept_price[k] * r->bytes[k],
           pieces = p->kept_price[k] * r->piece_bytes[k] + r->gather_ms[k];

    *way = pieces < whole ? VALUE_IN_PIECES : VALUE_KEPT;
    return r->keep_ms[k] + fmin(pieces, whole);
}

/* Read late it is kept in pieces at least. */
static double keeping_late(const struct priced *p, const struct priced_late *late)
{
    return late->is_made ? p->late_price[late->sight] * p->r->piece_bytes[late->node] : 0;
}

static int64_t scaled(double ms, double scale)
{
    return (int64_t)llround(ms * scale);
}

/* Capacities are whole: the finite ones together 2^58. */
static double set_capacities(struct priced *p)
{
    const struct recompute *r = p->r;
    double sum = 1e-300;

    for (uint32_t k = 0; k < r->graph->count; k++)
        sum += r->again_ms[k] + p->again_ms[k] + keeping(p, k, &p->way[k]);
    for (uint32_t k = 0; k < p->late_count; k++)
        sum += keeping_late(p, &p->lates[k]);
    for (uint32_t k = 0; k < p->moved_count; k++)
        sum += p->late_price[p->moved[k].sight] * p->moved[k].bytes;
    double scale = ldexp(1, 58) / sum;
    for (uint32_t k = 0; k < p->fixed_count; k++)
        cut_set(&p->cut, p->fixed[k], CUT_INFINITE);
    for (uint32_t k = 0; k < r->graph->count; k++) {
        bool never = r->graph->nodes[k].rule == PRIMAL_NEVER || p->is_kept[k];
        double again = r->again_ms[k] + p->again_ms[k];
        cut_set(&p->cut, p->keep_arc[k], scaled(keeping(p, k, &p->way[k]), scale));
        cut_set(&p->cut, p->again_arc[k], never ? CUT_INFINITE : scaled(again, scale));
    }
    for (uint32_t k = 0; k < p->late_count; k++)
        cut_set(&p->cut, p->lates[k].arc, scaled(keeping_late(p, &p->lates[k]), scale));
    for (uint32_t k = 0; k < p->moved_count; k++)
        cut_set(&p->cut, p->moved[k].arc,
                scaled(p->late_price[p->moved[k].sight] * p->moved[k].bytes, scale));
    return scale;
}

struct recompute_point priced_solve(struct priced *p, uint8_t *state, double *least)
{
    double scale = set_capacities(p);

    *least = (double)cut_solve(&p->cut) / scale;
    for (uint32_t k = 0; k < p->r->graph->count; k++)
        p->keeps[k] = cut_is_source(&p->cut, out_of(k)) && !cut_is_source(&p->cut, out_of(k) + 1)
                          ? p->way[k]
                          : 0;
    return recompute_point_of(p->r, p->keeps, state);
}
