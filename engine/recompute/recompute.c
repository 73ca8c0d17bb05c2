#include "engine/recompute/recompute.h"

#include "engine/cost/memory.h"
#include "engine/recompute/cut.h"
#include "engine/recompute/recompute_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static const char FOR[] = "for what the backward pass keeps";
static const double NEAR = 1e-9, SAME = 1e-5;

enum { POINTS_MOST = 512, SOURCE = 0, SINK = 1 };

/* ---- prices of nodes ---- */

static void price_nodes(struct recompute *r, const struct recompute_prices *p)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        double moved = p->piece_bytes[k] + n->given_bytes;
        r->bytes[k] = p->bytes[k] * n->trips;
        r->piece_bytes[k] = p->piece_bytes[k] * n->trips;
        r->gather_ms[k] = p->gather_ms[k];
        for (uint32_t i = 0; i < n->whole_count; i++)
            moved += p->piece_bytes[g->edges[n->whole + i]];
        double kernel_ms = moved * n->trips * p->passes / p->bytes_per_ms;
        r->again_ms[k] = n->rule == PRIMAL_KERNEL ? kernel_ms + p->gather_ms[k]
                         : n->rule == PRIMAL_WORK ? p->work_ms[k] + p->gather_ms[k]
                                                  : 0;
        r->keep_ms[k] = n->rule == PRIMAL_FUSED ? 2 * r->bytes[k] * p->passes / p->bytes_per_ms : 0;
    }
}

/* ---- memory beside what is kept ---- */

static void add_range(struct recompute *r, double from, uint32_t start, uint32_t end)
{
    start = start < r->start ? 0 : start - r->start;
    end = end < r->start ? 0 : end - r->start;
    if (start > end || start >= r->positions)
        return;
    r->base[start] += from;
    if (end + 1 < r->positions)
        r->base[end + 1] -= from;
}

/* Largest peak of what the instruction at a position calls. */
static double inner_peak(const struct recompute_prices *p, hlo_id id)
{
    const struct memory_model *m = p->memory;
    double most = 0;

    for (uint32_t k = 0; k < hlo_at(m->m, id)->called_count; k++)
        most = fmax(most, p->range_bytes[m->count + hlo_called(m->m, id, k)]);
    return most;
}

static void make_base(struct recompute *r, const struct recompute_prices *p)
{
    const struct memory_model *m = p->memory;
    const double *copies = memory_copies(m, p->range_bytes);
    hlo_comp entry = m->m->entry;
    double held = 0, live = 0;

    for (uint32_t k = m->first[entry]; k < m->first[entry + 1]; k++) {
        const struct memory_range *range = &m->ranges[k];
        uint32_t node = r->graph->of_buffer[range->value];
        uint32_t end = range->end;
        if (range->is_argument) {
            held += p->range_bytes[k];
            continue;
        }
        if (node && range->storing == STORED_AS_USED) {
            const struct primal *n = &r->graph->nodes[node - 1];
            if (hlo_at(m->m, n->maker)->computation != entry)
                continue;
            end = n->made < end ? n->made : end;
        }
        if (range->start <= end)
            add_range(r, p->range_bytes[k], range->start, end);
    }
    for (uint32_t at = 0; at < r->positions; at++) {
        live += r->base[at];
        r->base[at] =
            held + live + copies[r->start + at] + inner_peak(p, m->schedule.order[r->start + at]);
    }
}

static void find_made(struct recompute *r)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        if (n->layer < g->layers && n->is_forward && n->made > r->made_by[n->layer])
            r->made_by[n->layer] = n->made;
    }
}

/* ---- choices ---- */

static bool is_kept(uint8_t state)
{
    return state == VALUE_KEPT || state == VALUE_IN_PIECES || state == VALUE_OFFLOADED;
}

static double kept_bytes(const struct recompute *r, uint32_t k, uint8_t state)
{
    return state == VALUE_KEPT || state == VALUE_OFFLOADED ? r->bytes[k]
           : state == VALUE_IN_PIECES                      ? r->piece_bytes[k]
                                                           : 0;
}

static double state_ms(const struct recompute *r, uint32_t k, uint8_t state)
{
    return state == VALUE_KEPT || state == VALUE_OFFLOADED ? r->keep_ms[k]
           : state == VALUE_IN_PIECES                      ? r->keep_ms[k] + r->gather_ms[k]
           : state == VALUE_AGAIN                          ? r->again_ms[k]
                                                           : 0;
}

struct recompute_point recompute_point_of(const struct recompute *r, const uint8_t *keeps,
                                          uint8_t *state)
{
    const struct primal_graph *g = r->graph;
    struct recompute_point out = {.state = state};

    for (uint32_t k = 0; k < g->count; k++)
        state[k] = g->nodes[k].is_needed ? VALUE_AGAIN : VALUE_UNUSED;
    for (uint32_t k = g->count; k--;) { /* who reads comes before who is read */
        const struct primal *n = &g->nodes[k];
        if (state[k] == VALUE_UNUSED)
            continue;
        if (keeps[k] || n->rule == PRIMAL_NEVER)
            state[k] = keeps[k] ? keeps[k] : VALUE_KEPT;
        out.kept += kept_bytes(r, k, state[k]);
        out.ms += state_ms(r, k, state[k]);
        if (is_kept(state[k]))
            continue;
        for (uint32_t i = 0; i < n->read_count; i++)
            state[g->edges[n->reads + i]] = VALUE_AGAIN;
    }
    return out;
}

double recompute_part(const struct recompute *r, uint32_t k, uint32_t layers)
{
    const struct primal *n = &r->graph->nodes[k];
    double part = (double)layers / r->layers;

    if (n->trips > 1)
        return floor(part * n->trips + NEAR) / n->trips;
    return (double)n->layer < part * r->graph->layers - NEAR ? 1 : 0;
}

/* Those that have it on the host come first, those that recompute more among them or behind. */
double recompute_host_part(const struct recompute *r, const struct recompute_choice *c, uint32_t k)
{
    double part = recompute_part(r, k, c->layers), host = recompute_part(r, k, c->host_layers);

    return (c->first[k] == VALUE_OFFLOADED ? fmin(part, host) : 0) +
           (c->rest[k] == VALUE_OFFLOADED ? fmax(0, host - part) : 0);
}

/* Where and until when choices read nodes. */
struct uses {
    uint32_t *from, *to; /* [nodes] first and last position; from HLO_NONE: nowhere */
    uint8_t *is_again;   /* [nodes] made anew, or from what is */
};

static bool uses_new(const struct recompute *r, struct uses *u)
{
    size_t count = (size_t)r->graph->count + 1;

    u->from = mem_try(count, sizeof *u->from);
    u->to = mem_try(count, sizeof *u->to);
    u->is_again = mem_try(count, 1);
    return u->from && u->to && u->is_again;
}

static void uses_release(struct uses *u)
{
    free(u->from);
    free(u->to);
    free(u->is_again);
}

/* Until when what is computed again may stay, its layer's turn of the backward pass. */
static uint32_t window_end(const struct primal_graph *g, const struct primal *n)
{
    return n->trips > 1                  ? UINT32_MAX
           : n->layer == PRIMAL_NO_LAYER ? n->first_read
                                         : g->windows[n->layer].to;
}

/* First and last position at which each node is read, through what is computed again from it. */
static void find_uses(const struct recompute *r, const uint8_t *rest, const uint8_t *first,
                      struct uses *u)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        bool again = rest[k] == VALUE_AGAIN || first[k] == VALUE_AGAIN;
        u->from[k] = n->first_read;
        u->to[k] = n->last_read == HLO_NONE ? 0 : n->last_read;
        u->is_again[k] = again && n->is_stored;
        for (uint32_t i = 0; i < n->read_count && again; i++)
            u->is_again[k] |= u->is_again[g->edges[n->reads + i]];
    }
    for (uint32_t k = g->count; k--;) {
        const struct primal *n = &g->nodes[k];
        if (rest[k] != VALUE_AGAIN && first[k] != VALUE_AGAIN)
            continue;
        uint32_t end = window_end(g, n);
        if (u->is_again[k] && u->to[k] > end)
            u->to[k] = end > u->from[k] ? end : u->from[k];
        for (uint32_t i = 0; i < n->read_count; i++) {
            uint32_t o = g->edges[n->reads + i];
            u->from[o] = u->from[k] < u->from[o] ? u->from[k] : u->from[o];
            u->to[o] = u->to[k] > u->to[o] ? u->to[k] : u->to[o];
        }
    }
}

/* Bytes of one layer's array of a node that is computed again, beside the base. That has it where
 * the module computes it again itself, and, in a loop, where it slices it out of its stack. */
static double again_bytes(const struct recompute *r, uint32_t k)
{
    const struct primal *n = &r->graph->nodes[k];
    bool in_base =
        n->trips > 1 ? r->module.state[k] != VALUE_UNUSED : r->module.state[k] == VALUE_AGAIN;

    return n->is_stored && !in_base ? r->bytes[k] / n->trips : 0;
}

static void lay(const struct recompute *r, double *change, double bytes, uint32_t from, uint32_t to)
{
    if (from < r->start || to < from || to - r->start >= r->positions)
        return;
    change[from - r->start] += bytes;
    change[to - r->start + 1] -= bytes;
}

/* Of a node in host memory what the device has: in loops an array on its way, both ways; of a
 * written-out layer until the next one's forward pass is through, and from the turn of the one
 * before it in the backward pass. */
static void lay_offloaded(const struct recompute *r, uint32_t k, uint32_t from, uint32_t to,
                          double *change)
{
    const struct primal *n = &r->graph->nodes[k];
    double one = r->bytes[k] / n->trips;

    if (n->trips > 1) {
        lay(r, change, one, n->made, n->made);
        lay(r, change, one + again_bytes(r, k), from, to);
        return;
    }
    uint32_t sent = r->made_by[n->layer + 1], turn = r->graph->windows[n->layer + 1].from;
    turn = turn < from ? turn : from;
    if (sent >= turn) { /* never gone */
        lay(r, change, one, n->made + 1, to);
        return;
    }
    lay(r, change, one, n->made + 1, sent);
    lay(r, change, one, turn, to);
}

/* Products moved to where their operand is computed again: their results live from there on. */
static void lay_moved(const struct recompute *r, const struct uses *u, double *change)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->reader_count; k++) {
        const struct primal_reader *reader = &g->readers[k];
        uint32_t until = reader->position;
        for (uint32_t i = 0; i < reader->node_count; i++) {
            uint32_t n = g->edges[reader->nodes + i];
            if (u->is_again[n] && r->module.state[n] != VALUE_AGAIN && u->to[n] < until)
                until = u->to[n];
        }
        if (until < reader->position)
            lay(r, change, r->reader_bytes[k], until, reader->position - 1);
    }
}

/* The course of memory under a choice, beside r->base, as changes from position to position. */
static void lay_choice(const struct recompute *r, const struct recompute_choice *c, struct uses *u,
                       double *change)
{
    const struct primal_graph *g = r->graph;
    const uint8_t *rest = c->rest, *first = c->first;

    find_uses(r, rest, first, u);
    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        double part = recompute_part(r, k, c->layers), host = recompute_host_part(r, c, k);
        double kept = part * kept_bytes(r, k, first[k]) + (1 - part) * kept_bytes(r, k, rest[k]) -
                      host * r->bytes[k];
        bool again = (first[k] == VALUE_AGAIN && part > 0) || (rest[k] == VALUE_AGAIN && part < 1);
        if (u->from[k] == HLO_NONE)
            continue;
        if (kept > 0)
            lay(r, change, kept, n->trips > 1 ? n->made : n->made + 1, u->to[k]);
        if (again)
            lay(r, change, again_bytes(r, k), u->from[k], u->to[k]);
        if (host > 0)
            lay_offloaded(r, k, u->from[k], u->to[k], change);
    }
    lay_moved(r, u, change);
}

static double peak_at(const struct recompute *r, const struct recompute_choice *c, uint32_t *at)
{
    double *change = mem_try((size_t)r->positions + 1, sizeof *change), peak = 0, now = 0;
    struct uses u = {0};
    bool ok = uses_new(r, &u) && change;

    *at = 0;
    if (ok)
        lay_choice(r, c, &u, change);
    for (uint32_t k = 0; k < r->positions && ok; k++) {
        now += change[k];
        if (r->base[k] + now > peak) {
            peak = r->base[k] + now;
            *at = k;
        }
    }
    uses_release(&u);
    free(change);
    return ok ? peak : -1;
}

double recompute_peak(const struct recompute *r, const struct recompute_choice *c)
{
    uint32_t at;

    return peak_at(r, c, &at);
}

/* ---- the front ---- */

struct sweep {
    const struct recompute *r;
    struct cut cut;
    uint32_t *keep_arc, *again_arc; /* [nodes] */
    uint32_t fixed_count, *fixed;   /* arcs of infinite capacity */
    uint8_t *keeps, *way;           /* [nodes] */
    const double *counts;           /* [nodes] part of a kept one's bytes that counts */
    const double *again_bytes;      /* [nodes] and one that is computed again; NULL: nothing */
    double sum_ms, sum_bytes;
    struct recompute_point *points;
    uint32_t count;
    size_t room;
};

static uint32_t out_of(uint32_t node)
{
    return 2 + 2 * node;
}

static bool add_arcs(struct sweep *s)
{
    const struct primal_graph *g = s->r->graph;
    uint32_t arc = 0;

    for (uint32_t k = 0; k < g->count && arc != UINT32_MAX; k++) {
        const struct primal *n = &g->nodes[k];
        if (n->is_needed)
            s->fixed[s->fixed_count++] = arc = cut_add(&s->cut, SOURCE, out_of(k));
        s->keep_arc[k] = cut_add(&s->cut, out_of(k), out_of(k) + 1);
        s->again_arc[k] = cut_add(&s->cut, out_of(k) + 1, SINK);
        if (s->again_arc[k] == UINT32_MAX || s->keep_arc[k] == UINT32_MAX)
            return false;
        for (uint32_t i = 0; i < n->read_count && arc != UINT32_MAX; i++)
            s->fixed[s->fixed_count++] = arc =
                cut_add(&s->cut, out_of(k) + 1, out_of(g->edges[n->reads + i]));
    }
    return arc != UINT32_MAX;
}

static int64_t scaled(double ms, double scale)
{
    return (int64_t)llround(ms * scale);
}

/* What the better way to keep node `k` costs. */
static double keeping(const struct sweep *s, uint32_t k, double price, uint8_t *way)
{
    const struct recompute *r = s->r;
    double counts = price * (s->counts ? s->counts[k] : 1), whole = counts * r->bytes[k],
           pieces = counts * r->piece_bytes[k] + r->gather_ms[k];

    *way = pieces < whole ? VALUE_IN_PIECES : VALUE_KEPT;
    return r->keep_ms[k] + fmin(pieces, whole);
}

/* The best choice at a price per byte. Capacities are whole: the finite ones together 2^58. What it
 * counts as kept is by the bytes of the sweep. */
static struct recompute_point solve_at(struct sweep *s, double price, uint8_t *state)
{
    const struct recompute *r = s->r;
    double scale = ldexp(1, 58) / (s->sum_ms + price * s->sum_bytes + 1e-300);

    for (uint32_t k = 0; k < s->fixed_count; k++)
        cut_set(&s->cut, s->fixed[k], CUT_INFINITE);
    for (uint32_t k = 0; k < r->graph->count; k++) {
        bool never = r->graph->nodes[k].rule == PRIMAL_NEVER;
        double again = r->again_ms[k] + (s->again_bytes ? price * s->again_bytes[k] : 0);
        double keep = keeping(s, k, price, &s->way[k]);
        cut_set(&s->cut, s->keep_arc[k], scaled(keep, scale));
        cut_set(&s->cut, s->again_arc[k], never ? CUT_INFINITE : scaled(again, scale));
    }
    (void)cut_solve(&s->cut);
    for (uint32_t k = 0; k < r->graph->count; k++)
        s->keeps[k] = cut_is_source(&s->cut, out_of(k)) && !cut_is_source(&s->cut, out_of(k) + 1)
                          ? s->way[k]
                          : 0;
    struct recompute_point out = recompute_point_of(r, s->keeps, state);
    out.kept = 0;
    for (uint32_t k = 0; k < r->graph->count; k++)
        out.kept += is_kept(state[k]) ? (s->counts ? s->counts[k] : 1) * kept_bytes(r, k, state[k])
                    : state[k] == VALUE_AGAIN && s->again_bytes ? s->again_bytes[k]
                                                                : 0;
    return out;
}

static int add_point(struct sweep *s, double price, struct err *e)
{
    uint8_t *state = mem_try((size_t)s->r->graph->count + 1, 1);

    if (!state || !mem_grow(&s->points, &s->room, s->count, 1)) {
        free(state);
        return err_no_memory(e, FOR);
    }
    s->points[s->count++] = solve_at(s, price, state);
    return 0;
}

/* Points between two of the front, by the slope between them, until there is none below. */
static int sweep_between(struct sweep *s, double ms_a, double kept_a, double ms_b, double kept_b,
                         struct err *e)
{
    double price = (ms_b - ms_a) / (kept_a - kept_b);

    if (!(kept_a - kept_b > NEAR * s->sum_bytes) || !(price > 0) || s->count >= POINTS_MOST)
        return 0;
    int rc = add_point(s, price, e);
    if (rc)
        return rc;
    struct recompute_point mid = s->points[s->count - 1];
    double value = mid.ms + price * mid.kept, ends = ms_a + price * kept_a;
    if (!(value < ends - 1e-7 * (fabs(ms_b - ms_a) + price * (kept_a - kept_b))) ||
        mid.kept >= kept_a || mid.kept <= kept_b) {
        free(mid.state);
        s->count--;
        return 0;
    }
    rc = sweep_between(s, ms_a, kept_a, mid.ms, mid.kept, e);
    return rc ? rc : sweep_between(s, mid.ms, mid.kept, ms_b, kept_b, e);
}

static int by_kept(const void *x, const void *y)
{
    const struct recompute_point *a = x, *b = y;

    if (a->kept != b->kept)
        return a->kept > b->kept ? -1 : 1;
    return a->ms < b->ms ? -1 : a->ms > b->ms;
}

/* From most kept to least, without what another beats. */
static void tidy_front(struct sweep *s)
{
    uint32_t count = 0;

    qsort(s->points, s->count, sizeof *s->points, by_kept);
    for (uint32_t k = 0; k < s->count; k++) {
        while (count && s->points[count - 1].ms >= s->points[k].ms * (1 - NEAR) &&
               s->points[count - 1].kept >= s->points[k].kept)
            free(s->points[--count].state);
        bool same = count && s->points[count - 1].kept <= s->points[k].kept * (1 + SAME);
        if (same && k + 1 < s->count)
            free(s->points[k].state);
        else
            s->points[count++] = s->points[k];
    }
    s->count = count;
}

static int make_front(struct sweep *s, struct err *e)
{
    double high = 1e4 * (s->sum_ms + 1e-12) / (s->sum_bytes + 1e-12);
    int rc = add_point(s, 1e-7 * s->sum_ms / (s->sum_bytes + 1e-12), e);

    if (!rc)
        rc = add_point(s, high, e);
    if (!rc)
        rc = sweep_between(s, s->points[0].ms, s->points[0].kept, s->points[1].ms,
                           s->points[1].kept, e);
    if (!rc)
        tidy_front(s);
    return rc;
}

static void release_points(struct recompute_point *points, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        free(points[k].state);
    free(points);
}

static int sweep_new(const struct recompute *r, const double *counts, const double *again_bytes,
                     struct sweep *out, struct err *e)
{
    const struct primal_graph *g = r->graph;
    struct sweep s = {.r = r, .counts = counts, .again_bytes = again_bytes};
    int rc = cut_new(2 + 2 * g->count, &s.cut, e);

    s.keep_arc = mem_try((size_t)g->count + 1, sizeof *s.keep_arc);
    s.again_arc = mem_try((size_t)g->count + 1, sizeof *s.again_arc);
    s.fixed = mem_try((size_t)g->count + g->edge_count + 1, sizeof *s.fixed);
    s.keeps = mem_try((size_t)g->count + 1, 1);
    s.way = mem_try((size_t)g->count + 1, 1);
    if (!rc && (!s.keep_arc || !s.again_arc || !s.fixed || !s.keeps || !s.way || !add_arcs(&s)))
        rc = err_no_memory(e, FOR);
    for (uint32_t k = 0; k < g->count; k++) {
        s.sum_ms += r->again_ms[k] + r->keep_ms[k] + r->gather_ms[k];
        s.sum_bytes += (counts ? counts[k] : 1) * r->bytes[k] + (again_bytes ? again_bytes[k] : 0);
    }
    *out = s;
    return rc;
}

static void sweep_release(struct sweep *s)
{
    cut_release(&s->cut);
    free(s->keep_arc);
    free(s->again_arc);
    free(s->fixed);
    free(s->keeps);
    free(s->way);
    release_points(s->points, s->count);
}

/* What the module itself does. What it keeps its step has paid for. */
static int find_module(struct recompute *r, struct err *e)
{
    const struct primal_graph *g = r->graph;
    uint8_t *keeps = mem_try((size_t)g->count + 1, 1);

    r->module.state = mem_try((size_t)g->count + 1, 1);
    if (!keeps || !r->module.state) {
        free(keeps);
        return err_no_memory(e, FOR);
    }
    for (uint32_t k = 0; k < g->count; k++)
        keeps[k] = g->nodes[k].is_kept ? VALUE_KEPT : 0;
    r->module = recompute_point_of(r, keeps, r->module.state);
    for (uint32_t k = 0; k < g->count; k++)
        r->module.ms -= is_kept(r->module.state[k]) ? r->keep_ms[k] : 0;
    free(keeps);
    return 0;
}

static int find_front(struct recompute *r, struct err *e)
{
    struct sweep s;
    int rc = sweep_new(r, NULL, NULL, &s, e);

    if (!rc)
        rc = make_front(&s, e);
    r->points = s.points;
    r->count = s.count;
    s.points = NULL;
    s.count = 0;
    sweep_release(&s);
    return rc ? rc : find_module(r, e);
}

int recompute_new(const struct primal_graph *g, const struct recompute_prices *p,
                  struct recompute *out, struct err *e)
{
    const struct hlo_computation *entry = &p->memory->m->computations[p->memory->m->entry];
    size_t room = (size_t)g->count + 1;
    struct recompute r = {.graph = g,
                          .bytes = mem_try(room, sizeof *r.bytes),
                          .piece_bytes = mem_try(room, sizeof *r.piece_bytes),
                          .gather_ms = mem_try(room, sizeof *r.gather_ms),
                          .again_ms = mem_try(room, sizeof *r.again_ms),
                          .keep_ms = mem_try(room, sizeof *r.keep_ms),
                          .reader_bytes = mem_try((size_t)g->reader_count + 1, sizeof(double)),
                          .base = mem_try((size_t)entry->count + 1, sizeof *r.base),
                          .made_by = mem_try((size_t)g->layers + 1, sizeof *r.made_by),
                          .host = p->host,
                          .positions = entry->count,
                          .start = entry->first};
    bool ok = r.bytes && r.piece_bytes && r.gather_ms && r.again_ms && r.keep_ms &&
              r.reader_bytes && r.base && r.made_by;
    int rc = ok ? 0 : err_no_memory(e, FOR);

    r.layers = (uint32_t)fmax(g->layers, fmin(g->loop_trips, 1 << 20));
    if (!rc) {
        price_nodes(&r, p);
        memcpy(r.reader_bytes, p->reader_bytes, g->reader_count * sizeof *r.reader_bytes);
        find_made(&r);
        make_base(&r, p);
        rc = find_front(&r, e);
    }

    if (rc)
        recompute_release(&r);
    else
        *out = r;
    return rc;
}

void recompute_release(struct recompute *r)
{
    release_points(r->points, r->count);
    free(r->module.state);
    free(r->bytes);
    free(r->piece_bytes);
    free(r->gather_ms);
    free(r->again_ms);
    free(r->keep_ms);
    free(r->reader_bytes);
    free(r->base);
    free(r->made_by);
    memset(r, 0, sizeof *r);
}

/* ---- within a limit ---- */

/* What a position of the schedule sees of each node. */
struct sight {
    double *kept, *again; /* [nodes] 1: surely there when it is kept; bytes computed again */
    uint32_t *until;      /* [nodes] */
    uint8_t *covers;      /* [nodes] whoever it is computed again for reads it there */
};

static bool sight_new(const struct recompute *r, struct sight *s)
{
    size_t count = (size_t)r->graph->count + 1;

    s->kept = mem_try(count, sizeof *s->kept);
    s->again = mem_try(count, sizeof *s->again);
    s->until = mem_try(count, sizeof *s->until);
    s->covers = mem_try(count, 1);
    return s->kept && s->again && s->until && s->covers;
}

static void sight_release(struct sight *s)
{
    free(s->kept);
    free(s->again);
    free(s->until);
    free(s->covers);
}

/* A kept value lives from where it is made to its last reader, or to the first of those that would
 * be made from it. What a loop computes again is there once while the loop of the backward pass
 * runs. */
static void look_from(const struct recompute *r, uint32_t position, struct sight *s)
{
    const struct primal_graph *g = r->graph;
    uint32_t at = position + r->start;

    memset(s->until, 0xff, g->count * sizeof *s->until);
    memset(s->covers, 1, g->count);
    for (uint32_t k = g->count; k--;) {
        const struct primal *n = &g->nodes[k];
        uint32_t own = n->is_needed ? n->last_read : s->until[k], end = window_end(g, n);
        uint32_t read = end < own ? end : own, made = n->trips > 1 ? n->made : n->made + 1;
        if (n->is_needed)
            s->covers[k] = n->first_read <= at && at <= n->last_read;
        for (uint32_t i = 0; i < n->read_count; i++) {
            uint32_t o = g->edges[n->reads + i];
            s->until[o] = read < s->until[o] ? read : s->until[o];
            s->covers[o] &= s->covers[k];
        }
        bool there = made <= at && own != UINT32_MAX && at <= own;
        bool works = n->trips > 1 && s->covers[k] && n->rule != PRIMAL_NEVER;
        s->kept[k] = there;
        s->again[k] = works ? again_bytes(r, k) : 0;
    }
}

/* A point of a sweep, or between two of them. */
struct between_points {
    const struct recompute_point *rest, *first;
    uint32_t layers;
};

static struct between_points pick_pair(const struct recompute *r,
                                       const struct recompute_point *points, uint32_t n)
{
    uint32_t rest = n / r->layers, layers = n % r->layers;

    return (struct between_points){&points[rest], &points[layers ? rest + 1 : rest], layers};
}

static double peak_of(const struct recompute *r, struct between_points p, uint32_t *at)
{
    struct recompute_choice c = {
        .rest = p.rest->state, .first = p.first->state, .layers = p.layers};

    return peak_at(r, &c, at);
}

/* Takes what was picked when it is better: within the limit and faster, or nearer to it. */
static int offer_choice(const struct recompute *r, struct between_points p, double peak,
                        double limit, struct recompute_choice *best, struct err *e)
{
    const struct primal_graph *g = r->graph;
    const uint8_t *a = p.rest->state, *b = p.first->state;
    struct recompute_choice c = {.fits = peak <= limit, .layers = p.layers, .peak = peak};

    for (uint32_t k = 0; k < g->count; k++) {
        double part = recompute_part(r, k, p.layers);
        c.ms += part * state_ms(r, k, b[k]) + (1 - part) * state_ms(r, k, a[k]);
        c.kept += part * kept_bytes(r, k, b[k]) + (1 - part) * kept_bytes(r, k, a[k]);
    }
    bool better = !best->rest || (c.fits != best->fits ? c.fits
                                  : c.fits             ? c.ms < best->ms
                                                       : c.peak < best->peak);
    if (!better)
        return 0;
    c.rest = mem_try((size_t)g->count + 1, 1);
    c.first = mem_try((size_t)g->count + 1, 1);
    c.bound_ms = best->bound_ms;
    recompute_choice_release(best);
    *best = c;
    if (!c.rest || !c.first)
        return err_no_memory(e, FOR);
    memcpy(c.rest, a, g->count);
    memcpy(c.first, b, g->count);
    return 0;
}

/* The fastest of a front that stays within the limit, else its end; where its peak is. */
static int search_pairs(const struct recompute *r, const struct recompute_point *points,
                        uint32_t count, double limit, struct recompute_choice *best, uint32_t *at,
                        struct err *e)
{
    uint32_t low = 0, high = (count - 1) * r->layers;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        double peak = peak_of(r, pick_pair(r, points, mid), at);
        if (peak < 0)
            return err_no_memory(e, FOR);
        if (peak <= limit)
            high = mid;
        else
            low = mid + 1;
    }
    double peak = peak_of(r, pick_pair(r, points, high), at);
    return peak < 0 ? err_no_memory(e, FOR)
                    : offer_choice(r, pick_pair(r, points, high), peak, limit, best, e);
}

/* Least ms of what is left of a convex front within `room` bytes; INFINITY: nothing. */
static double least_within(const struct sweep *s, double room)
{
    for (uint32_t k = 0; k < s->count; k++) {
        const struct recompute_point *p = &s->points[k], *before = k ? p - 1 : NULL;
        if (p->kept > room)
            continue;
        if (!before)
            return p->ms;
        return p->ms - (p->ms - before->ms) * (room - p->kept) / (before->kept - p->kept);
    }
    return INFINITY;
}

/* The front as position `at` sees it: a bound, and other choices. */
static int look_again(const struct recompute *r, double limit, uint32_t *at,
                      struct recompute_choice *best, struct err *e)
{
    struct sight sight = {0};
    struct sweep s = {0};
    int rc = sight_new(r, &sight) ? 0 : err_no_memory(e, FOR);

    if (!rc) {
        look_from(r, *at, &sight);
        rc = sweep_new(r, sight.kept, sight.again, &s, e);
    }
    if (!rc)
        rc = make_front(&s, e);
    if (!rc) {
        best->bound_ms = fmax(best->bound_ms, least_within(&s, limit - r->base[*at]));
        rc = search_pairs(r, s.points, s.count, limit, best, at, e);
    }
    sweep_release(&s);
    sight_release(&sight);
    return rc;
}

enum { LOOKS_MOST = 3 };

int recompute_within(const struct recompute *r, double limit, double enough_ms,
                     struct recompute_choice *out, struct err *e)
{
    int rc = recompute_on_device(r, limit, enough_ms, out, e);
    bool is_fastest = !rc && out->fits && out->ms <= r->points[0].ms * (1 + NEAR);

    if (rc || is_fastest || !(r->host.bytes_per_ms > 0))
        return rc;
    rc = recompute_offload(r, limit, enough_ms, out, e);
    if (out->fits && out->bound_ms > out->ms)
        out->bound_ms = out->ms;
    if (rc)
        recompute_choice_release(out);
    return rc;
}

int recompute_on_device(const struct recompute *r, double limit, double enough_ms,
                        struct recompute_choice *out, struct err *e)
{
    struct recompute_choice best = {.bound_ms = r->points[0].ms};
    uint32_t at = 0, seen[LOOKS_MOST + 1];
    int rc = search_pairs(r, r->points, r->count, limit, &best, &at, e);

    for (uint32_t k = 0; k < LOOKS_MOST && !rc; k++) {
        bool again = false;
        for (uint32_t i = 0; i < k; i++)
            again |= seen[i] == at;
        if (again || (best.fits && best.ms - best.bound_ms <= enough_ms))
            break;
        seen[k] = at;
        rc = look_again(r, limit, &at, &best, e);
    }
    if (best.fits && best.bound_ms > best.ms)
        best.bound_ms = best.ms;
    if (rc)
        recompute_choice_release(&best);
    else
        *out = best;
    return rc;
}

void recompute_choice_release(struct recompute_choice *c)
{
    free(c->rest);
    free(c->first);
    memset(c, 0, sizeof *c);
}
