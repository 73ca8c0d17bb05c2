#include "engine/relaxed/relaxed.h"
#include "engine/cost/overlap.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/fold_energy.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/tables.h"
#include "engine/relaxed/trws.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "engine/exact/exact.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

/* Sweeps: as many as a number of table cells allows, so that small models get many. */
enum { SWEEPS_LEAST = 100, SWEEPS_MOST = 1000, FOLD_ROUNDS = 4, DECODE_EVERY = 5, ICM_ROUNDS = 50 };
#define CELLS_MOST 1.5e9
#define FAR_OFF 1.2

const char *const relaxed_bound_names[2] = {"global", "tied"};

static const char MEMORY_FOR[] = "for relaxed mode";

static int allocate_relaxed(struct relaxed *r, struct err *e)
{
    const struct energy *g = &r->model.energy;
    size_t nodes = (size_t)g->nodes + 1;

    r->best = mem_try(nodes, sizeof *r->best);
    r->trial = mem_try(nodes, sizeof *r->trial);
    r->strict_x = mem_try(nodes, sizeof *r->strict_x);
    r->pinned = *g; /* its edges are the model's */
    r->pinned.unary = mem_try(nodes, sizeof *g->unary);
    if (!r->best || !r->trial || !r->strict_x || !r->pinned.unary)
        return err_no_memory(e, MEMORY_FOR);
    if (g->nodes)
        memcpy(r->pinned.unary, g->unary, g->nodes * sizeof *g->unary);
    int rc = relaxed_index_edges(r, e);
    return rc ? rc : strict_new(&r->p->labels, &r->fixed, e);
}

int relaxed_new(const struct problem *p, const struct relaxed_options *o, struct relaxed **out,
                struct err *e)
{
    struct model_options mo = {.pass_partial = !o->reduce_at_once && p->step_tables.joined,
                               .excess_weight = o->excess_weight};

    *out = NULL;
    if (p->step_tables.batching.zero)
        return err_set(
            e, ERR_INPUT,
            "relaxed mode decides itself what is stored in pieces: expected ZeRO level 0");
    struct relaxed *r = mem_alloc(sizeof *r);
    r->p = p;
    r->stop = p->stop;
    r->options = *o;
    r->is_folded =
        o->folding == RELAXED_FOLD_ON || (o->folding == RELAXED_FOLD_AUTO && p->mesh.axes > 1);
    int rc = model_new(p, &mo, &r->model, e);
    if (rc)
        goto fail;
    rc = allocate_relaxed(r, e);
    if (rc)
        goto fail;
    *out = r;
    return 0;
fail:
    relaxed_free(r);
    return rc;
}

void relaxed_set_stop(struct relaxed *r, const atomic_bool *stop)
{
    r->stop = stop;
}

static void stage_release(struct stage *s)
{
    trws_release(&s->trws);
    energy_reduced_release(&s->reduced);
    fold_energy_release(&s->folded);
    free(s->left);
    free(s->coloured);
    memset(s, 0, sizeof *s);
}

void relaxed_free(struct relaxed *r)
{
    if (!r)
        return;
    stage_release(&r->tied);
    stage_release(&r->whole);
    free(r->pinned.unary);
    free(r->own_edges);
    model_release(&r->model);
    free(r->best);
    free(r->trial);
    free(r->strict_x);
    free(r->out_first);
    free(r->out_edges);
    free(r->reached);
    free(r->reached_by);
    strict_release(&r->fixed);
    free(r);
}

/* ---- strict plans ---- */

/* Labels of a strict plan; false when the model has no label for something in it. */
static bool embed(const struct relaxed *r, const label *on, uint16_t *x)
{
    for (uint32_t n = 0; n < r->model.energy.nodes; n++) {
        uint32_t found = model_strict_label(&r->model, n, on);
        if (found == UINT32_MAX)
            return false;
        x[n] = (uint16_t)found;
    }
    return true;
}

double relaxed_embed_ms(const struct relaxed *r, const label *on)
{
    uint16_t *x = mem_alloc(((size_t)r->model.energy.nodes + 1) * sizeof *x);
    double ms = embed(r, on, x) ? energy_of(&r->model.energy, x) : -1;

    free(x);
    return ms;
}

static int find_strict_best(struct relaxed *r, struct err *e)
{
    struct exact_options o = {
        .goal = EXACT_STEP_TIME, .variables = true, .inputs = true, .stop = r->stop};
    struct exact_result best;
    int rc = exact_strict(&r->p->step_tables, &r->fixed, &o, &best, e);

    if (rc)
        return rc;
    r->has_strict = embed(r, best.on, r->strict_x);
    r->strict_ms = r->is_beyond_strict ? 0 : best.value;
    r->strict_proven = best.proven;
    exact_release(&best);
    return 0;
}

/* ---- getting ready ---- */

/* Messages of a former solve fit when the same nodes are left. */
static bool is_alike(const struct reduction_of_energy *a, const struct reduction_of_energy *b)
{
    if (a->left.nodes != b->left.nodes || a->left.edge_count != b->left.edge_count ||
        !a->left.nodes)
        return false;
    for (uint32_t k = 0; k < a->left.nodes; k++) {
        if (a->node[k] != b->node[k] || energy_labels(&a->left, k) != energy_labels(&b->left, k))
            return false;
    }
    for (uint32_t k = 0; k < a->left.edge_count; k++) {
        if (a->left.edges[k].a != b->left.edges[k].a || a->left.edges[k].b != b->left.edges[k].b)
            return false;
    }
    return true;
}

/* Eliminates and sets up message passing, starting from the last messages where they fit. */
static int stage_make(struct stage *last, const struct energy *g, struct err *e)
{
    struct reduction_of_energy reduced;
    struct trws trws;
    int rc = energy_reduce(g, &reduced, e);

    if (rc)
        return rc;
    bool warm = is_alike(&last->reduced, &reduced);
    energy_reduced_release(&last->reduced);
    last->reduced = reduced; /* trws points at the stage's own energy */
    rc = trws_new(&last->reduced.left, &trws, e);
    if (rc)
        goto out;
    if (warm)
        memcpy(trws.message, last->trws.message, trws.message_size * sizeof(double));
out:
    trws_release(&last->trws);
    last->trws = trws;
    free(last->left);
    last->left = mem_try((size_t)last->reduced.left.nodes + 1, sizeof *last->left);
    if (rc)
        return rc;
    return last->left ? 0 : err_no_memory(e, MEMORY_FOR);
}

/* Folds so that the strict optimum treats every colour alike. */
static int fold_stage(struct relaxed *r, struct stage *s, struct err *e)
{
    uint32_t *kind = mem_try((size_t)r->pinned.nodes + 1, sizeof *kind);

    if (!kind)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t n = 0; n < r->pinned.nodes; n++)
        kind[n] = r->model.nodes[n].kind | (r->has_strict ? (uint32_t)r->strict_x[n] << 8 : 0);
    fold_energy_release(&s->folded);
    int rc = fold_energy_new(&r->pinned, kind,
                             r->options.fold_rounds ? r->options.fold_rounds : FOLD_ROUNDS,
                             &s->folded, e);
    free(kind);
    if (rc)
        return rc;
    free(s->coloured);
    s->coloured = mem_try((size_t)s->folded.energy.nodes + 1, sizeof *s->coloured);
    return s->coloured ? 0 : err_no_memory(e, MEMORY_FOR);
}

static int get_ready(struct relaxed *r, struct err *e)
{
    bool with_tied =
        r->is_folded || !r->has_best; /* unfolded, the folded plan is where it starts */

    if (r->is_ready)
        return 0;
    int rc = find_strict_best(r, e);
    if (rc)
        return rc;
    r->tied.is_folded = true;
    if (with_tied) {
        rc = fold_stage(r, &r->tied, e);
        if (rc)
            return rc;
        rc = stage_make(&r->tied, &r->tied.folded.energy, e);
        if (rc)
            return rc;
    }
    if (!r->is_folded)
        rc = stage_make(&r->whole, &r->pinned, e);
    r->is_ready = !rc;
    return rc;
}

/* ---- solving ---- */

/* Improves the labels in s->left by local search, completes them, keeps them when they are best. */
static void offer_left(struct relaxed *r, struct stage *s)
{
    if (energy_of(&s->reduced.left, s->left) > FAR_OFF * r->best_ms)
        return; /* local search does not come so far */
    trws_icm(&s->trws, s->left, ICM_ROUNDS);
    double ms = energy_of(&s->reduced.left, s->left);
    if (ms >= r->best_ms)
        return;
    r->best_ms = ms;
    energy_expand(&s->reduced, s->left, s->is_folded ? s->coloured : r->best);
    for (uint32_t n = 0; s->is_folded && n < r->pinned.nodes; n++)
        r->best[n] = s->coloured[s->folded.colour[n]];
}

/* Labels of the whole as those of the stage; folded, each colour takes those of its first member.
 */
static void set_left(struct stage *s, const uint16_t *x)
{
    for (uint32_t c = 0; s->is_folded && c < s->folded.energy.nodes; c++)
        s->coloured[c] = x[s->folded.member[c]];
    energy_restrict(&s->reduced, s->is_folded ? s->coloured : x, s->left);
}

static void offer_labels(struct relaxed *r, struct stage *s, const uint16_t *x)
{
    set_left(s, x);
    offer_left(r, s);
}

static uint32_t sweeps_for(const struct stage *s)
{
    const struct energy *g = &s->reduced.left;
    double cells = 1;

    for (uint32_t k = 0; k < g->edge_count; k++)
        cells += 2.0 * energy_labels(g, g->edges[k].a) * energy_labels(g, g->edges[k].b);
    double sweeps = CELLS_MOST / cells;
    return sweeps < SWEEPS_LEAST  ? SWEEPS_LEAST
           : sweeps > SWEEPS_MOST ? SWEEPS_MOST
                                  : (uint32_t)sweeps;
}

/* At most `most` sweeps; returns how many it took until the gap was small enough. */
static uint32_t run_stage(struct relaxed *r, struct stage *s, uint32_t most)
{
    double enough = r->options.gap > 0 ? r->options.gap : 1e-6;
    uint32_t done = 0;

    while (done < most && r->best_ms - s->trws.bound > enough * s->trws.bound &&
           !(isfinite(r->best_ms) && stop_asked(r->stop))) {
        bool with_labels = ++done % DECODE_EVERY == 0 || done == most;
        trws_sweep(&s->trws, with_labels);
        if (!with_labels)
            continue;
        memcpy(s->left, s->trws.x, s->reduced.left.nodes * sizeof *s->left);
        offer_left(r, s);
    }
    return done;
}

/* The best plan, improved axis by axis, unless it is good enough. */
static int improve_by_axis(struct relaxed *r, struct stage *s, struct err *e)
{
    double enough = r->options.gap > 0 ? r->options.gap : 1e-6;

    if (r->best_ms - s->trws.bound <= enough * s->trws.bound)
        return 0;
    set_left(s, r->best);
    int rc = relaxed_improve_by_axis(r, s, e);
    if (rc)
        return rc;
    offer_left(r, s);
    return 0;
}

static void offer_known_plans(struct relaxed *r, struct stage *s)
{
    if (r->has_best) {
        memcpy(r->trial, r->best, r->pinned.nodes * sizeof *r->trial);
        offer_labels(r, s, r->trial);
    }
    if (r->has_strict)
        offer_labels(r, s, r->strict_x);
}

int relaxed_minimise(struct relaxed *r, uint32_t sweeps, struct err *e)
{
    int rc = stage_make(&r->whole, &r->pinned, e);

    if (rc)
        return rc;
    r->best_ms = INFINITY;
    offer_known_plans(r, &r->whole);
    (void)run_stage(r, &r->whole, sweeps);
    return improve_by_axis(r, &r->whole, e);
}

int relaxed_solve(struct relaxed *r, uint32_t sweeps, struct relaxed_plan *out, struct err *e)
{
    bool starts_tied = !r->is_folded && !r->has_best;
    struct stage *s = relaxed_stage(r);
    int rc = get_ready(r, e);

    if (rc)
        return rc;
    uint32_t given = sweeps ? sweeps : r->options.sweeps, most = given ? given : sweeps_for(s);
    r->best_ms = INFINITY;
    offer_known_plans(r, s);
    if (starts_tied) {
        offer_known_plans(r, &r->tied);
        (void)run_stage(r, &r->tied, given ? given : sweeps_for(&r->tied));
        rc = improve_by_axis(r, &r->tied, e);
        if (rc)
            return rc;
        memcpy(r->trial, r->best, r->pinned.nodes * sizeof *r->trial);
        offer_labels(r, s, r->trial);
        stage_release(&r->tied);
    }
    uint32_t done = run_stage(r, s, most);
    rc = improve_by_axis(r, s, e);
    if (rc)
        return rc;
    if (r->best_ms > TABLE_FORBIDDEN / 2)
        return err_set(e, ERR_INFEASIBLE, "no plan keeps these decisions");
    r->has_best = true;
    memset(out, 0, sizeof *out);
    out->strict_ms = r->strict_ms;
    out->strict_proven = r->strict_proven;
    out->sweeps = done;
    return relaxed_extract(r, out, e);
}

/* ---- overlap ---- */

static int solve_once(const struct problem *p, const struct relaxed_options *o,
                      const struct relaxed_pin *pins, uint32_t count, struct relaxed_plan *out,
                      struct err *e)
{
    struct relaxed *r;
    int rc = relaxed_new(p, o, &r, e);

    if (rc)
        return rc;
    rc = relaxed_set_pins(r, pins, count, e);
    if (rc)
        goto out;
    rc = relaxed_solve(r, 0, out, e);
out:
    relaxed_free(r);
    return rc;
}

/* Keeps the faster plan, with the higher bound. `from` is released. */
static void keep_faster(struct relaxed_plan *best, struct relaxed_plan *from)
{
    double bound = fmax(best->bound_ms, from->bound_ms);

    if (from->cost.step_ms < best->cost.step_ms) {
        struct relaxed_plan swap = *best;
        *best = *from;
        *from = swap;
    }
    best->bound_ms = bound;
    best->gap = best->cost.step_ms / bound - 1;
    relaxed_plan_release(from);
}

int relaxed_solve_overlapped(const struct problem *p, const struct relaxed_options *o,
                             const struct relaxed_pin *pins, uint32_t count,
                             struct relaxed_plan *out, struct err *e)
{
    const struct overlap *overlap = &p->step_tables.overlap;
    struct relaxed_options with = *o;
    double low = 0, high = 1;
    int rc = solve_once(p, o, pins, count, out, e);

    if (rc || overlap_excess(overlap, out->cost.compute_ms, out->cost.beside_ms) <= 0)
        return rc;
    if (rc)
        goto out;
    for (int k = 0; k < RELAXED_WEIGHTS_MOST && !stop_asked(p->stop); k++) {
        struct relaxed_plan one;
        with.excess_weight = k ? (low + high) / 2 : 1;
        rc = solve_once(p, &with, pins, count, &one, e);
        if (rc)
            goto out;
        bool above = overlap_balance(overlap, one.cost.compute_ms, one.cost.beside_ms) >= 0;
        keep_faster(out, &one);
        if (!k && above) /* more beside than is hidden, whatever its weight */
            return 0;
        if (k)
            *(above ? &low : &high) = with.excess_weight;
    }
out:
    if (rc)
        relaxed_plan_release(out);
    return rc;
}
