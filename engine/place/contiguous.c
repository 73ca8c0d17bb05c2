#include "engine/place/contiguous.h"

#include "engine/place/chain_moves.h"
#include "engine/place/chain_program.h"
#include "engine/place/coarsen.h"
#include "engine/place/cut_bound.h"
#include "engine/place/cut_tree.h"
#include "engine/place/family.h"
#include "engine/place/improve.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"
#include "engine/place/servers.h"
#include "engine/place/two_levels.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* A search for one graph, fine or coarsened: the best chain so far. */
struct seeking {
    const struct place_asking *a;
    uint64_t moves; /* of one position each, around the best chain */
    const struct place_prepared *p;
    struct place_chain *best;
    double value_ms; /* of best, INFINITY without one */
    struct place_effort effort;
    uint64_t pairs;
    uint64_t *looks; /* left, of the whole search */
    uint32_t part;   /* of them one question may use: 1 / part */
    bool is_first;   /* the first order is asked: without a plan, whatever that takes */
    bool exact;      /* best is the optimum of p, or there is none */
    bool banded;     /* proven by the ideals of a band */
    bool in_tree;    /* proven by a tree of cuts */
    bool limited;    /* something was given up */
    double tree_ms;  /* bound by a tree of cuts; 0: none */
};

/* ---- one family, one rule ---- */

struct asked {
    struct seeking *s;
    const struct place_family *f;
};

static int ask_family(void *context, struct place_question *q, struct place_chain **out,
                      struct err *e)
{
    const struct asked *k = context;
    struct seeking *s = k->s;

    q->pairs = s->is_first && !isfinite(s->value_ms) ? 0 : 1 + *s->looks / s->part;
    q->stop = s->a->stop;
    int rc = place_program(s->p, k->f, q, out, &s->effort, e);
    s->pairs += s->effort.pairs;
    *s->looks -= s->effort.looks < *s->looks ? s->effort.looks : *s->looks;
    s->limited |= !rc && !s->effort.complete;
    return rc;
}

static int tell_chain(struct seeking *s, struct place_chain *c, double value, struct err *e)
{
    struct placement *plan;

    place_chain_free(s->best);
    s->best = c;
    s->value_ms = value;
    if (!s->a->better)
        return 0;
    if (placement_of_chain(s->p, c, &plan, e))
        return e->code;
    plan->value_ms = value;
    s->a->better(s->a->context, plan);
    placement_free(plan);
    return 0;
}

static int take_chain(void *context, struct place_chain *c, double value, struct err *e)
{
    return tell_chain(((const struct asked *)context)->s, c, value, e);
}

static int improve_bound(struct seeking *s, const struct place_family *f, struct err *e)
{
    struct asked k = {s, f};
    struct place_improving i = {.graph = s->p->nets->graph,
                                .rules = &s->a->rules,
                                .target_ms = s->a->target_ms,
                                .best = &s->best,
                                .value_ms = &s->value_ms,
                                .limited = &s->limited,
                                .ask = ask_family,
                                .take = take_chain,
                                .context = &k};

    return place_improve(&i, e);
}

/* ---- orders, all ideals, a beam ---- */

enum { NEAR_MOST = 400, NEAR_FAILED = 40, NEAR_SEED = 500 };
enum { MOVES_MOST = 4000000, LOOKS_A_MOVE = 100 };

static bool is_stopped(const struct place_asking *a)
{
    return a->stop && atomic_load_explicit(a->stop, memory_order_relaxed);
}

/* Positions rank by the least number of their nodes in the file. */
static int published_order(const struct place_prepared *p, uint32_t *order, struct err *e)
{
    const struct place_graph *g = p->nets->graph;
    int64_t *rank = mem_try((size_t)p->nets->positions + 1, sizeof *rank);

    if (!rank)
        return err_no_memory(e, "for an order");
    for (uint32_t v = 0; v < p->nets->positions; v++)
        rank[v] = INT64_MAX;
    for (uint32_t v = 0; v < g->nodes; v++) {
        int64_t *r = &rank[p->nets->position_of[v]];
        int64_t number = g->file_class ? g->file_class[v] : g->id[v];
        *r = number < *r ? number : *r;
    }
    int rc = place_last_ready(p, rank, order, e);
    free(rank);
    return rc;
}

static int try_orders(struct seeking *s, uint32_t *order, struct err *e)
{
    uint32_t orders = s->a->as_published ? 1 : s->a->orders ? s->a->orders : 5;
    uint32_t *one = mem_try((size_t)s->p->nets->positions + 1, sizeof *one);
    int rc = one ? 0 : err_no_memory(e, "for an order");

    for (uint32_t i = 0; i < orders && !rc; i++) {
        struct place_family *f;
        const struct place_chain *before = s->best;
        s->is_first = !i;
        rc = s->a->as_published ? published_order(s->p, one, e)
                                : place_depth_first(s->p, i ? s->a->seed * 1000 + i : 0, one, e);
        if (rc)
            break;
        rc = place_family_prefixes(s->p, one, &f, e);
        if (rc)
            break;
        rc = improve_bound(s, f, e);
        if (s->best != before || !i)
            memcpy(order, one, s->p->nets->positions * sizeof *one);
        place_family_free(f);
    }
    s->is_first = false;
    free(one);
    return rc;
}

/* Orders around the best chain: depth-first ones with its stages one after another, so that the
 * chain is among their prefixes, and so is what its borders could be. */
static int try_near(struct seeking *s, uint32_t *order, struct err *e)
{
    uint64_t keep = *s->looks - *s->looks / 4;
    int rc = 0;

    for (uint32_t i = 0, failed = 0; s->best && i < NEAR_MOST && failed < NEAR_FAILED; i++) {
        struct place_family *f;
        double before = s->value_ms;
        if (rc || *s->looks < keep || is_stopped(s->a))
            return rc;
        rc = place_depth_first(s->p, s->a->seed * 1000 + NEAR_SEED + i, order, e);
        if (rc)
            return rc;
        rc = place_order_by_stages(s->best->stage_of, s->best->stages, s->p->nets->positions, order,
                                   e);
        if (rc)
            return rc;
        rc = place_family_prefixes(s->p, order, &f, e);
        if (rc)
            return rc;
        rc = improve_bound(s, f, e);
        place_family_free(f);
        failed = s->value_ms < before ? 0 : failed + 1;
    }
    return rc;
}

/* Single moves that keep the best chain one, for what no order around it lists. */
static int try_moves(struct seeking *s, struct err *e)
{
    struct place_chain_moving m = {
        .rules = &s->a->rules, .moves = s->moves, .seed = s->a->seed, .stop = s->a->stop};
    struct place_chain *c;

    if (!s->best || s->a->rules.replicate || s->a->target_ms > 0 ||
        s->value_ms <= place_work_bound(s->p->nets->graph, &s->a->rules))
        return 0;
    if (place_chain_move(s->p, &m, s->best, &c, e))
        return e->code;
    return c ? tell_chain(s, c, c->value_ms, e) : 0;
}

/* True in `exact` when all ideals were seen, or with `band` all that a better plan could use. */
static int try_all(struct seeking *s, const struct place_band *band, struct err *e)
{
    struct place_limits limits = s->a->limits;
    struct place_family *f;
    struct err why = {0};

    uint64_t kept = *s->looks / 4;

    *s->looks -= kept;
    limits.stop = s->a->stop;
    int rc = place_family_all(s->p, &limits, band, &f, &why);
    if (rc)
        *s->looks += kept;
    if (rc == ERR_LIMIT) {
        s->limited = true;
        return 0;
    }
    if (rc) {
        *e = why;
        return rc;
    }
    s->limited = false;
    s->part = 1;
    rc = improve_bound(s, f, e);
    s->part = 2;
    *s->looks += kept;
    s->exact = !rc && !s->limited;
    place_family_free(f);
    return rc;
}

/* More ideals than the limits allow: those between which a better plan's devices could be. */
static int try_band(struct seeking *s, struct err *e)
{
    struct place_question q = {
        .rules = &s->a->rules, .below_ms = s->value_ms, .other_ms = INFINITY};
    struct place_band band;
    int rc;

    if (s->a->target_ms > 0) {
        q.below_ms = s->a->target_ms * (1 + 1e-12);
        q.fewest = true;
    }
    rc = place_program_band(s->p, &q, &band, e);
    if (rc)
        return rc;
    if (band.rows)
        rc = try_all(s, &band, e);
    s->banded = band.rows && s->exact;
    place_band_release(&band);
    return rc;
}

/* Words of the sets that beams meet, over all parts of a search: about half a second. */
#define BEAM_WORDS UINT64_C(400000000)

static int try_beam(struct seeking *s, const uint32_t *order, struct err *e)
{
    uint32_t m = s->p->nets->positions;
    struct place_limits limits = s->a->limits;
    struct place_family *f;

    limits.stop = s->a->stop;
    if (!limits.width)
        limits.width = 1 + 20000 / (m + 1);
    limits.ideals = UINT32_MAX;
    limits.steps = BEAM_WORDS / s->part / (m / 64 + 1);
    int rc = place_family_beam(s->p, order, &limits, &f, e);
    if (rc)
        return rc == ERR_LIMIT ? 0 : rc; /* stopped: what is known stands */
    rc = improve_bound(s, f, e);
    place_family_free(f);
    return rc;
}

static int seek(struct seeking *s, uint32_t *order, struct err *e)
{
    int rc = try_orders(s, order, e);

    if (rc || s->a->dpl_only || is_stopped(s->a))
        return rc;
    rc = try_all(s, NULL, e);
    if (rc)
        return rc;
    if (!s->exact && !is_stopped(s->a))
        rc = try_near(s, order, e);
    if (rc)
        return rc;
    if (!s->exact && !is_stopped(s->a))
        rc = try_moves(s, e);
    if (rc)
        return rc;
    if (!s->exact && !is_stopped(s->a))
        rc = try_band(s, e);
    if (rc)
        return rc;
    if (!s->exact && !is_stopped(s->a))
        rc = try_beam(s, order, e);
    return rc;
}

/* ---- large graphs ---- */

/* One round on stretches of `order`: s->best, of s->p's own positions, may get better. */
static int seek_coarse(struct seeking *s, const uint32_t *order, uint32_t rounds, struct err *e)
{
    struct place_prepared *coarse = NULL;
    uint32_t *group_of = NULL, *inner = NULL;
    struct seeking t = {.a = s->a, .looks = s->looks, .part = 8, .value_ms = s->value_ms};
    const uint32_t *stage_of = rounds && s->best ? s->best->stage_of : NULL;
    int rc = place_coarsen(s->p, order, PLACE_POSITIONS_MAX / 2, stage_of, rounds, &coarse,
                           &group_of, e);

    if (rc)
        return rc;
    t.p = coarse;
    inner = mem_try((size_t)coarse->nets->positions + 1, sizeof *inner);
    rc = inner ? try_orders(&t, inner, e) : err_no_memory(e, "for an order");
    if (rc)
        goto out;
    if (!s->a->dpl_only)
        rc = try_near(&t, inner, e);
    if (rc)
        goto out;
    if (!s->a->dpl_only)
        rc = try_beam(&t, inner, e);
    if (rc)
        goto out;
    if (t.best && !(rc = place_coarsen_undo(t.best, group_of, s->p->nets->positions, e))) {
        place_chain_free(s->best);
        s->best = t.best;
        t.best = NULL;
        s->value_ms = t.value_ms;
    }
out:
    s->effort = t.effort;
    s->pairs += t.pairs;
    s->limited = true;
    place_chain_free(t.best);
    place_prepared_free(coarse);
    free(group_of);
    free(inner);
    return rc;
}

/* Moves and cuts have the last word, so the programs take half of what there is. */
static int seek_large(struct seeking *s, uint32_t *order, struct err *e)
{
    int rc = 0;

    *s->looks /= 2;

    for (uint32_t round = 0; round < 3 && !is_stopped(s->a); round++) {
        rc = place_depth_first(s->p, round ? s->a->seed * 1000 + round : 0, order, e);
        if (rc)
            return rc;
        for (uint32_t finer = 0; finer < 4 && !is_stopped(s->a); finer++) {
            if (!finer || s->best)
                rc = seek_coarse(s, order, finer, e);
            if (rc)
                return rc;
        }
    }
    return is_stopped(s->a) || s->a->dpl_only ? 0 : try_moves(s, e); /* dpl builds, and moves not */
}

/* ---- a tree of cuts ---- */

/* To prove the value, and to raise the bound: about half a second each, and no more where the graph
 * does not fit the cache. */
enum { PROOF_STEPS = 500000000, BOUND_STEPS = 700000000, LARGE_PART = 2 };

/* The devices of a contiguous plan in a row: the first of those that wait for none is next. */
static bool order_devices(const struct place_prepared *p, const uint32_t *device, uint32_t devices,
                          uint32_t *stage_of)
{
    uint64_t waits[PLACE_CUT_TREE_DEVICES] = {0}, left = 0; /* bit c: device c comes first */

    for (uint32_t v = 0; v < p->nets->positions; v++) {
        left |= (uint64_t)1 << device[v];
        for (uint32_t i = p->after_at[v]; i < p->after_at[v + 1]; i++) {
            if (device[p->after[i]] != device[v])
                waits[device[p->after[i]]] |= (uint64_t)1 << device[v];
        }
    }
    for (uint32_t stage = 0; left; stage++) {
        uint32_t d = 0;
        while (d < devices && (!(left >> d & 1) || (waits[d] & left)))
            d++;
        if (d == devices)
            return false;
        stage_of[d] = stage;
        left &= ~((uint64_t)1 << d);
    }
    return true;
}

/* A plan that the tree found, by position. */
static int take_devices(struct seeking *s, const uint32_t *device, double value, struct err *e)
{
    const struct place_graph *g = s->p->nets->graph;
    uint32_t m = s->p->nets->positions, stage_of[PLACE_CUT_TREE_DEVICES] = {0};
    struct place_chain *c = mem_try(1, sizeof *c);

    if (c) {
        c->stage = mem_try(PLACE_CUT_TREE_DEVICES, sizeof *c->stage);
        c->stage_of = mem_try((size_t)m + 1, sizeof *c->stage_of);
    }
    if (!c || !c->stage || !c->stage_of) {
        place_chain_free(c);
        return err_no_memory(e, "for a plan");
    }
    if (!order_devices(s->p, device, place_devices(g), stage_of)) {
        place_chain_free(c);
        return 0;
    }
    c->positions = m;
    c->value_ms = value;
    for (uint32_t v = 0; v < m; v++) {
        uint32_t stage = stage_of[device[v]];
        c->stage_of[v] = stage;
        c->stage[stage] = (struct place_stage){place_type_of(g, device[v]), 1};
        c->stages = stage + 1 > c->stages ? stage + 1 : c->stages;
    }
    return tell_chain(s, c, value, e);
}

/* The best chain is proven, bettered, or what it is worth bounded from below. */
static int seek_in_tree(struct seeking *s, struct err *e)
{
    struct place_cutting c = {.rules = &s->a->rules, .chain = s->p, .stop = s->a->stop};
    uint32_t *device = mem_try((size_t)s->p->nets->positions + 1, sizeof *device);
    uint64_t part = s->p->nets->positions > PLACE_POSITIONS_MAX ? LARGE_PART : 1;
    double value = s->value_ms;
    bool found, proven;
    c.steps = PROOF_STEPS / part;
    int rc = device ? place_cut_tree(s->p->nets, &c, &value, device, &found, &proven, e)
                    : err_no_memory(e, "for a bound");

    if (rc)
        goto out;
    rc = found ? take_devices(s, device, value, e) : 0;
out:
    free(device);
    if (rc)
        return rc;
    s->exact = s->in_tree = proven && s->value_ms <= value;
    if (s->exact)
        return 0;
    c.steps = BOUND_STEPS / part;
    double low = place_work_bound(s->p->nets->graph, &s->a->rules);
    return place_cut_tree_bound(s->p->nets, &c, low, s->value_ms, &s->tree_ms, e);
}

/* ---- the answer ---- */

enum { FLOWS_MOST = 6000 }; /* positions; with more the bound by flows takes too long */

static int nothing_fits(const struct seeking *s, struct err *e)
{
    if (s->a->target_ms > 0)
        return err_set(e, ERR_INFEASIBLE, "no contiguous plan %s %g ms per sample",
                       s->exact ? "reaches" : "was found that reaches", s->a->target_ms);
    return err_set(e, ERR_INFEASIBLE, "no contiguous plan %s memory, kinds of devices and pins",
                   s->exact ? "keeps" : "was found that keeps");
}

static int fill_bound(const struct place_graph *g, const struct seeking *s, struct placement *p,
                      struct err *e)
{
    double flow = 0;

    p->proven = s->exact;
    p->bound_ms =
        s->exact && !(s->a->target_ms > 0) ? p->value_ms : place_work_bound(g, &s->a->rules);
    p->bound_by = s->in_tree  ? PLACE_CUT_TREE_BY
                  : s->banded ? "all ideals that a better plan could use"
                  : s->exact  ? "all ideals"
                              : "work shared out";
    if (!s->exact && s->p->nets->positions <= FLOWS_MOST &&
        place_cut_bound(s->p->nets, &s->a->rules, &flow, e))
        return e->code;
    if (flow > p->bound_ms) {
        p->bound_ms = flow;
        p->bound_by = "least load of one position's device";
    }
    if (s->tree_ms > p->bound_ms) {
        p->bound_ms = s->tree_ms;
        p->bound_by = PLACE_CUT_TREE_BY;
    }
    p->algo = s->a->dpl_only ? "dpl" : "exact";
    p->positions = s->p->nets->positions;
    p->ideals = s->exact && !s->in_tree ? s->effort.ideals : 0;
    p->pairs = s->pairs;
    p->bound_ms = fmin(p->bound_ms, p->value_ms); /* but for rounding it is */
    if (!p->proven && p->bound_ms >= p->value_ms * (1 - 1e-12))
        p->proven = true;
    return 0;
}

static int finish_seeking(const struct place_graph *g, struct seeking *s, struct placement **out,
                          struct err *e)
{
    struct place_load *load;
    int rc;

    if (!s->best)
        return nothing_fits(s, e);
    rc = placement_of_chain(s->p, s->best, out, e);
    if (rc)
        return rc;
    load = mem_try((size_t)place_devices(g) + 1, sizeof *load);
    if (!load) {
        rc = err_no_memory(e, "for a plan");
        goto out;
    }
    placement_price(*out, s->p->nets, &s->a->rules, load);
    free(load);
    rc = fill_bound(g, s, *out, e);
out:
    if (rc) {
        placement_free(*out);
        *out = NULL;
    }
    return rc;
}

/* One server, or all transfers alike. */
static int place_flat(const struct place_graph *g, const struct place_asking *a,
                      struct placement **out, struct err *e)
{
    struct place_prepared *p;
    uint64_t looks = a->looks ? a->looks : 4000000000;
    struct seeking s = {.a = a, .looks = &looks, .part = 2, .value_ms = INFINITY};

    s.moves = MOVES_MOST < looks / LOOKS_A_MOVE ? MOVES_MOST : looks / LOOKS_A_MOVE;
    int rc = place_prepare(g, &p, e);

    if (rc)
        return rc;
    uint32_t *order = mem_try((size_t)p->nets->positions + 1, sizeof *order);
    s.p = p;
    if (!order)
        rc = err_no_memory(e, "for an order");
    else
        rc = p->nets->positions > PLACE_POSITIONS_MAX ? seek_large(&s, order, e)
                                                      : seek(&s, order, e);
    if (rc)
        goto out;
    if (!s.exact && s.best && !a->dpl_only && !(a->target_ms > 0) && !is_stopped(a) &&
        place_cut_tree_takes(p->nets, &a->rules))
        rc = seek_in_tree(&s, e);
    if (rc)
        goto out;
    rc = finish_seeking(g, &s, out, e);
out:
    place_chain_free(s.best);
    place_prepared_free(p);
    free(order);
    return rc;
}

/* ---- servers ---- */

/* A plan of a graph whose transfers all cost `send_ms`, priced as they are. */
static int place_alike(const struct place_graph *g, const struct place_asking *a, double *send_ms,
                       struct placement **out, double *flat_ms, struct err *e)
{
    struct place_graph h = *g; /* shares all arrays */
    struct place_asking quiet = *a;
    struct place_load *load;
    int rc;

    h.send_ms = send_ms;
    h.far_ms = NULL;
    h.per_server = 0;
    quiet.better = NULL;
    quiet.looks = quiet.looks / 6 + (quiet.looks % 6 != 0); /* 0 would be the default */
    *out = NULL;
    rc = place_flat(&h, &quiet, out, e);
    if (rc)
        return rc;
    *flat_ms = (*out)->proven ? (*out)->value_ms : (*out)->bound_ms;
    load = mem_try((size_t)(*out)->devices + 1, sizeof *load);
    rc = load ? placement_value(*out, g, &a->rules, load, e) : err_no_memory(e, "for a plan");
    free(load);
    if (rc) {
        placement_free(*out);
        *out = NULL;
    }
    return rc;
}

static bool is_in_turn(const struct placement *p, const struct place_graph *g)
{
    if (place_servers_count(g))
        return placement_in_turn(p, g);
    for (uint32_t d = 0; d < p->devices && place_servers_uneven(g); d++) {
        if (p->copies[d] > 1)
            return false;
    }
    return true;
}

static bool reaches_target(const struct place_asking *a, const struct placement *p)
{
    return !(a->target_ms > 0) || p->value_ms <= a->target_ms * (1 + 1e-12);
}

/* For a target: it is reached, by fewer accelerators, sooner. */
static bool is_better(const struct place_graph *g, const struct place_asking *a,
                      const struct placement *p, const struct placement *q)
{
    uint32_t x = placement_accelerators(p, g), y = placement_accelerators(q, g);

    if (reaches_target(a, p) != reaches_target(a, q))
        return reaches_target(a, p);
    if (a->target_ms > 0 && x != y)
        return x < y;
    return p->value_ms < q->value_ms;
}

/* What the program over servers begins with: the better of two plans, one as if all transfers
 * stayed inside a server and one as if none did, of those whose servers come in turn. Where neither
 * is one, the first without copies: *in_turn tells. *bound: no plan is below. */
static int begin_servers(const struct place_graph *g, const struct place_asking *a,
                         struct placement **out, bool *in_turn, double *bound, struct err *e)
{
    struct place_asking single = *a;
    struct placement *far = NULL;
    struct err none = {0};
    double unused;
    int rc = place_alike(g, a, g->send_ms, out, bound, e);

    if (rc)
        return rc;
    rc = place_alike(g, a, g->far_ms, &far, &unused, &none);
    if (rc && rc != ERR_INFEASIBLE) {
        *e = none;
        goto out;
    }
    bool far_in_turn = !rc && is_in_turn(far, g);
    rc = 0;
    *in_turn = is_in_turn(*out, g);
    if (far_in_turn && (!*in_turn || is_better(g, a, far, *out))) {
        placement_free(*out);
        *out = far;
        *in_turn = true;
        return 0;
    }
    if (*in_turn || !a->rules.replicate)
        goto out;
    placement_free(*out);
    *out = NULL;
    single.rules.replicate = false;
    single.target_ms = 0;
    rc = place_alike(g, &single, g->send_ms, out, &unused, e);
    *in_turn = !rc && is_in_turn(*out, g);
out:
    placement_free(far);
    if (rc)
        placement_free(*out);
    return rc;
}

/* Two plans come first, then the program over two levels where it applies. */
static int place_servers(const struct place_graph *g, const struct place_asking *a,
                         struct placement **out, struct err *e)
{
    double bound;
    bool in_turn;
    int rc = begin_servers(g, a, out, &in_turn, &bound, e);

    if (rc)
        return rc;
    bool climbs = !a->dpl_only && place_servers_apply(g);
    if (!climbs && !reaches_target(a, *out)) {
        placement_free(*out);
        *out = NULL;
        return err_set(e, ERR_INFEASIBLE,
                       "no contiguous plan was found that reaches %g ms per sample", a->target_ms);
    }
    if (a->target_ms > 0) /* the fewest accelerators are no bound of the time */
        bound = fmin((*out)->value_ms, place_work_bound(g, &a->rules));
    (*out)->bound_ms = bound;
    (*out)->bound_by = a->target_ms > 0 ? "work shared out" : "transfers as inside a server";
    (*out)->proven = in_turn && !(a->target_ms > 0) && bound >= (*out)->value_ms * (1 - 1e-12);
    if (a->better)
        a->better(a->context, *out);
    if ((*out)->proven || !climbs)
        return 0;
    rc = place_two_levels(g, a, in_turn, *out, e);
    if (rc)
        placement_free(*out);
    return rc;
}

int place_contiguous(const struct place_graph *g, const struct place_asking *a,
                     struct placement **out, struct err *e)
{
    return g->per_server && g->far_ms ? place_servers(g, a, out, e) : place_flat(g, a, out, e);
}
