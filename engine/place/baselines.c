#include "engine/place/baselines.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "engine/place/published.h"
#include "engine/place/state.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

/* A state of classes, and what is needed to make a plan of it. */
struct trying {
    const struct place_graph *g;
    const struct place_asking *a;
    struct place_nets *n;
    struct place_state *s;
    struct rl_rng rng;
    uint32_t *best; /* by position */
    double best_ms;
    double kept_ms; /* local: of plans that keep all rules */
};

static void finish_trying(struct trying *t)
{
    place_state_free(t->s);
    place_nets_free(t->n);
    free(t->best);
}

static int begin_trying(struct trying *t, const struct place_graph *g, const struct place_asking *a,
                        struct err *e)
{
    *t = (struct trying){.g = g, .a = a, .best_ms = INFINITY, .kept_ms = INFINITY};
    if (!place_devices(g))
        return err_set(e, ERR_INFEASIBLE, "there is no device, expected one at least");
    rl_rng_seed(&t->rng, a->seed, 5);
    if (place_prepare_classes(g, &t->n, e) || place_state_new(t->n, &a->rules, &t->s, e))
        return e->code;
    t->best = mem_try((size_t)t->n->positions + 1, sizeof *t->best);
    return t->best ? 0 : err_no_memory(e, "for a plan");
}

static void keep_best(struct trying *t)
{
    double value = place_state_value(t->s);

    if (value >= t->best_ms)
        return;
    t->best_ms = value;
    memcpy(t->best, t->s->device, t->n->positions * sizeof *t->best);
}

/* Pairs pinned apart that share a device: one of them goes where that costs least. */
static void part_pairs(struct trying *t)
{
    place_state_set(t->s, t->best);
    for (uint32_t i = 0; i < t->n->aparts; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t p = t->n->apart[2 * i + k], from = t->s->device[p], best = from;
            uint32_t broken = t->s->broken;
            double least = INFINITY;
            if (t->s->device[t->n->apart[2 * i + 1 - k]] != from)
                continue;
            for (uint32_t d = 0; d < t->s->devices; d++) {
                place_state_move(t->s, p, d);
                if (t->s->broken < broken && place_state_value(t->s) < least) {
                    least = place_state_value(t->s);
                    best = d;
                }
                place_state_move(t->s, p, from);
            }
            place_state_move(t->s, p, best);
        }
    }
    memcpy(t->best, t->s->device, t->n->positions * sizeof *t->best);
}

/* The plan of t->best, which is there. */
static int make_plan(struct trying *t, const char *algo, struct placement **out, struct err *e)
{
    struct place_load *load = mem_try((size_t)t->s->devices + 1, sizeof *load);

    if (!load)
        return err_no_memory(e, "for a plan");
    part_pairs(t);
    if (placement_new(t->g, out, e)) {
        free(load);
        return e->code;
    }
    for (uint32_t v = 0; v < t->g->nodes; v++)
        (*out)->device[v] = t->best[t->n->position_of[v]];
    placement_price(*out, t->n, &t->a->rules, load);
    free(load);
    if ((*out)->faults & ~(uint32_t)PLACE_OVER_MEMORY) {
        placement_free(*out);
        return err_set(e, ERR_INFEASIBLE, "%s found no plan that keeps kinds of devices and pins",
                       algo);
    }
    (*out)->bound_ms = place_work_bound(t->g, &t->a->rules);
    (*out)->bound_by = "work shared out";
    (*out)->algo = algo;
    (*out)->positions = t->n->positions;
    return 0;
}

/* The first device that may hold p. */
static uint32_t first_device(const struct trying *t, uint32_t p)
{
    uint32_t d = 0;

    while (d + 1 < t->s->devices && !place_state_allows(t->s, p, d))
        d++;
    return d;
}

/* ---- one, random, local ---- */

int place_one(const struct place_graph *g, const struct place_asking *a, struct placement **out,
              struct err *e)
{
    struct trying t;
    int rc = begin_trying(&t, g, a, e);

    if (rc)
        goto out;
    for (uint32_t p = 0; p < t.n->positions; p++)
        t.best[p] = first_device(&t, p);
    rc = make_plan(&t, "one", out, e);
out:
    finish_trying(&t);
    return rc;
}

/* A random device that may hold p: an accelerator where `works` asks for one and there is one. */
static uint32_t random_device(struct trying *t, uint32_t p, bool works)
{
    uint32_t most = works && t->s->accelerators ? t->s->accelerators : t->s->devices;

    for (int k = 0; k < 32; k++) {
        uint32_t d = rl_rng_below(&t->rng, most);
        if (place_state_allows(t->s, p, d))
            return d;
    }
    return first_device(t, p);
}

static void random_start(struct trying *t, bool works)
{
    for (uint32_t p = 0; p < t->n->positions; p++)
        t->s->device[p] = random_device(t, p, works);
    place_state_set(t->s, t->s->device);
}

/* Told to stop, or as many plans priced as it may. */
static bool is_over(const struct place_asking *a)
{
    return stop_asked(a->stop) || place_tally_is_spent(a->tally);
}

/* The best so far, the state's own value among it, where the rules are kept. */
static double best_with(const struct trying *t, double value)
{
    return t->s->broken || place_state_over(t->s) > 0 ? t->kept_ms : fmin(t->kept_ms, value);
}

int place_random(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e)
{
    struct trying t;
    int rc = begin_trying(&t, g, a, e);

    if (rc)
        goto out;
    for (int k = 0; (a->tally || k < 10000) && !is_over(a); k++) {
        random_start(&t, rl_rng_below(&t.rng, 2));
        if (!t.s->broken && !(place_state_over(t.s) > 0))
            keep_best(&t);
        place_tally_plan(a->tally, t.best_ms);
    }
    if (isinf(t.best_ms)) {
        rc = err_set(e, ERR_INFEASIBLE, "no random plan keeps memory, kinds of devices and pins");
        goto out;
    }
    rc = make_plan(&t, "random", out, e);
out:
    finish_trying(&t);
    return rc;
}

/* The best single move to an accelerator; false when none helps. */
static bool descend_moves(struct trying *t)
{
    double now = place_state_value(t->s), least = now * (1 - 1e-12);
    uint32_t best_p = PLACE_NONE, best_d = 0;

    for (uint32_t p = 0; p < t->n->positions; p++) {
        uint32_t from = t->s->device[p];
        for (uint32_t d = 0; d < t->s->accelerators; d++) {
            if (d == from || !place_state_allows(t->s, p, d))
                continue;
            if (is_over(t->a))
                break;
            place_state_move(t->s, p, d);
            double then = place_state_value(t->s);
            t->kept_ms = best_with(t, then);
            place_tally_plan(t->a->tally, t->kept_ms);
            if (then < least) {
                least = then;
                best_p = p;
                best_d = d;
            }
        }
        place_state_move(t->s, p, from);
    }
    if (best_p == PLACE_NONE)
        return false;
    place_state_move(t->s, best_p, best_d);
    return true;
}

int place_local(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                struct err *e)
{
    struct trying t;
    int rc = begin_trying(&t, g, a, e);

    if (rc)
        goto out;
    for (int k = 0; a->tally || k < 10; k++) {
        random_start(&t, true);
        t.kept_ms = best_with(&t, place_state_value(t.s));
        place_tally_plan(a->tally, t.kept_ms);
        while (!is_over(a) && descend_moves(&t))
            ;
        keep_best(&t);
        if (is_over(a))
            break;
    }
    rc = make_plan(&t, "local", out, e);
out:
    finish_trying(&t);
    return rc;
}

/* ---- greedy ---- */

static double time_on(const struct trying *t, uint32_t p, uint32_t d)
{
    uint32_t type = t->s->type_of[d];

    return place_nets_time(t->n, 0, type, p) + place_nets_time(t->n, 1, type, p);
}

/* Fills devices in turn along the order of the nodes. */
static void fill_greedily(struct trying *t, double share)
{
    uint32_t d = 0;
    double work = 0, bytes = 0;

    for (uint32_t p = 0; p < t->n->positions; p++)
        t->best[p] = PLACE_NONE;
    for (uint32_t i = 0; i < t->g->nodes; i++) {
        uint32_t p = t->n->position_of[t->g->order[i]];
        if (t->best[p] != PLACE_NONE)
            continue;
        double memory = t->g->type[t->s->type_of[d]].memory_bytes;
        bool full = work + time_on(t, p, d) > share || bytes + t->n->bytes[p] > memory;
        if (full && d + 1 < t->s->devices) {
            d++;
            work = bytes = 0;
        }
        t->best[p] = place_state_allows(t->s, p, d) ? d : first_device(t, p);
        work += time_on(t, p, d);
        bytes += t->n->bytes[p];
    }
}

int place_greedy(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e)
{
    struct trying t;
    int rc = begin_trying(&t, g, a, e);
    double total = 0;

    if (rc)
        goto out;
    for (uint32_t p = 0; p < t.n->positions; p++)
        total += time_on(&t, p, 0);
    fill_greedily(&t, total / (t.s->accelerators ? t.s->accelerators : 1) * (1 + 1e-9));
    rc = make_plan(&t, "greedy", out, e);
out:
    finish_trying(&t);
    return rc;
}

/* ---- PipeDream-like ---- */

/* Biconnected components of an undirected graph by edges (Hopcroft and Tarjan 1973), without
 * recursion: component[edge]. Rows hold both directions; `edge` numbers them alike. */
struct blocks {
    uint32_t *at, *to, *edge; /* rows */
    uint32_t *depth, *low, *cursor, *frame, *entered, *stack;
    uint32_t *component, components, top, frames;
};

static void close_block(struct blocks *b, uint32_t edge)
{
    uint32_t k;

    do {
        k = b->stack[--b->top];
        b->component[k] = b->components;
    } while (k != edge);
    b->components++;
}

static void visit_blocks(struct blocks *b, uint32_t root)
{
    b->frames = 0;
    b->depth[root] = b->low[root] = 1;
    b->cursor[root] = b->at[root];
    b->entered[root] = PLACE_NONE;
    b->frame[b->frames++] = root;
    while (b->frames) {
        uint32_t v = b->frame[b->frames - 1];
        if (b->cursor[v] < b->at[v + 1]) {
            uint32_t i = b->cursor[v]++, w = b->to[i];
            if (b->edge[i] == b->entered[v])
                continue;
            if (!b->depth[w]) {
                b->stack[b->top++] = b->edge[i];
                b->depth[w] = b->low[w] = b->depth[v] + 1;
                b->cursor[w] = b->at[w];
                b->entered[w] = b->edge[i];
                b->frame[b->frames++] = w;
            } else if (b->depth[w] < b->depth[v]) {
                b->stack[b->top++] = b->edge[i];
                b->low[v] = b->depth[w] < b->low[v] ? b->depth[w] : b->low[v];
            }
            continue;
        }
        b->frames--;
        if (!b->frames)
            return;
        uint32_t u = b->frame[b->frames - 1];
        b->low[u] = b->low[v] < b->low[u] ? b->low[v] : b->low[u];
        if (b->low[v] >= b->depth[u])
            close_block(b, b->entered[v]);
    }
}

/* Rows of both directions of the precedence of p. Edge k goes from before to after, in the order of
 * the rows of p->after. */
static uint32_t *make_blocks(const struct place_prepared *p, const bool *left_out, struct blocks *b)
{
    uint32_t m = p->nets->positions, edges = p->after_at[m];
    uint32_t *all = mem_try(7 * (size_t)m + 6 * (size_t)edges + 8, sizeof *all), *next = all;

    if (!all)
        return NULL;
    b->at = next, next += m + 2;
    b->depth = next, next += m;
    b->low = next, next += m;
    b->cursor = next, next += m;
    b->frame = next, next += m;
    b->entered = next, next += m;
    b->to = next, next += 2 * (size_t)edges;
    b->edge = next, next += 2 * (size_t)edges;
    b->stack = next, next += edges;
    b->component = next;
    for (uint32_t v = 0, i = 0; v < m; v++) {
        for (; i < p->after_at[v + 1]; i++) {
            if (left_out[v])
                continue;
            b->at[v + 2]++;
            b->at[p->after[i] + 2]++;
        }
    }
    for (uint32_t v = 0; v < m; v++)
        b->at[v + 2] += b->at[v + 1];
    for (uint32_t v = 0, k = 0; v < m; v++) {
        for (; k < p->after_at[v + 1]; k++) {
            if (left_out[v])
                continue;
            uint32_t w = p->after[k], i = b->at[v + 1]++, j = b->at[w + 1]++;
            b->to[i] = w, b->edge[i] = k;
            b->to[j] = v, b->edge[j] = k;
        }
    }
    for (uint32_t v = 0; v < m; v++) {
        if (!b->depth[v])
            visit_blocks(b, v);
    }
    return all;
}

/* Positions of the nodes that the published code leaves out, where the graph is one of its own. */
static void mark_inputs(const struct place_prepared *p, bool *left_out)
{
    const struct place_graph *g = p->nets->graph;
    const int64_t *id = place_published_inputs(place_fingerprint(g));

    for (; id && *id; id++) {
        for (uint32_t v = 0; v < g->nodes; v++)
            left_out[p->nets->position_of[v]] |= g->id[v] == *id;
    }
}

/* Groups: positions whose edges lie in one component, as tails, together. Joined positions are
 * closed under paths between them, so that an order of the groups is left. */
static int join_tails(const struct place_prepared *p, uint32_t *color, struct err *e)
{
    struct blocks b = {0};
    uint32_t m = p->nets->positions, edges = p->after_at[m];
    uint32_t *all = NULL, *first = mem_try((size_t)edges + 1, sizeof *first);
    bool *left_out = mem_try((size_t)m + 1, 1);

    if (left_out) {
        mark_inputs(p, left_out);
        all = make_blocks(p, left_out, &b);
    }
    if (!all || !first) {
        free(all);
        free(first);
        free(left_out);
        return err_no_memory(e, "for a plan");
    }
    for (uint32_t v = 0; v < m; v++)
        color[v] = v;
    for (uint32_t v = 0, k = 0; v < m; v++) {
        for (; k < p->after_at[v + 1]; k++) {
            uint32_t *f = &first[b.component[k]], c;
            if (left_out[v])
                continue;
            if (!*f)
                *f = v + 1;
            c = *f - 1;
            uint32_t from = color[v], to = color[c];
            for (uint32_t w = 0; from != to && w < m; w++)
                color[w] = color[w] == from ? to : color[w];
        }
    }
    free(all);
    free(first);
    free(left_out);
    return 0;
}

/* The graph with the groups as colors: preparing it joins what lies on cycles among them. */
static int colored(const struct place_graph *g, const struct place_prepared *p,
                   const uint32_t *color, struct place_graph **out, struct err *e)
{
    uint32_t *from = mem_try((size_t)g->edges + 1, sizeof *from);
    uint32_t *first = mem_try((size_t)p->nets->positions + 1, sizeof *first);
    struct place_graph *h = NULL;
    int rc =
        from && first ? place_graph_new(g->nodes, g->types, &h, e) : err_no_memory(e, "for a plan");

    if (rc)
        goto out;
    memcpy(h->id, g->id, g->nodes * sizeof *h->id);
    memcpy(h->time_ms, g->time_ms, (size_t)g->nodes * g->types * sizeof *h->time_ms);
    memcpy(h->bytes, g->bytes, g->nodes * sizeof *h->bytes);
    memcpy(h->send_ms, g->send_ms, g->nodes * sizeof *h->send_ms);
    memcpy(h->supported, g->supported, g->nodes);
    memcpy(h->backward, g->backward, g->nodes);
    memcpy(h->type, g->type, sizeof h->type);
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t *f = &first[color[p->nets->position_of[v]]];
        if (!*f)
            *f = v + 1;
        h->color[v] = *f - 1;
        for (uint32_t i = g->user_at[v]; i < g->user_at[v + 1]; i++)
            from[i] = v;
    }
    for (uint32_t v = 0; v < g->nodes; v++) /* a color is named by its least node */
        h->color[h->color[v]] = h->color[v];
    h->sync_ms_per_byte = g->sync_ms_per_byte;
    rc = place_graph_connect(h, from, g->user, g->edges, NULL, e);
    for (uint32_t v = 0; v < g->nodes && !rc; v++) {
        h->allowed[v] = g->allowed[v];
        h->fixed[v] = g->fixed[v];
    }
    memcpy(h->apart, g->apart, 2 * (size_t)g->aparts * sizeof *h->apart);
    h->aparts = g->aparts;
out:
    free(from);
    free(first);
    if (rc)
        place_graph_free(h);
    else
        *out = h;
    return rc;
}

int place_pipedream(const struct place_graph *g, const struct place_asking *a,
                    struct placement **out, struct err *e)
{
    struct place_asking one = *a;
    struct place_prepared *p;
    struct place_graph *h = NULL;
    int rc = place_prepare(g, &p, e);

    if (rc)
        return rc;
    uint32_t *color = mem_try((size_t)p->nets->positions + 1, sizeof *color);
    rc = color ? join_tails(p, color, e) : err_no_memory(e, "for a plan");
    if (rc)
        goto out;
    rc = colored(g, p, color, &h, e);
    if (rc)
        goto out;
    one.dpl_only = true;
    one.orders = 1;
    one.better = NULL;
    rc = place_contiguous(h, &one, out, e);
    if (rc)
        goto out;
    (*out)->algo = "pipedream";
    (*out)->proven = false;
    (*out)->bound_ms = place_work_bound(g, &a->rules);
    (*out)->bound_by = "work shared out";
out:
    free(color);
    place_graph_free(h);
    place_prepared_free(p);
    return rc;
}
