#include "engine/relaxed/relaxed_internal.h"

#include "engine/search/exact.h"

#include <math.h>
#include <string.h>

const char *const relaxed_bound_names[1] = {"global"};

enum { SWEEPS = 100 };

static int no_memory(struct err *e)
{
    return err_set(e, ERR_MEMORY, "not enough memory for relaxed mode");
}

int relaxed_new(const struct problem *p, const struct relaxed_options *o, struct relaxed **out,
                struct err *e)
{
    struct relaxed *r = mem_alloc(sizeof *r);
    struct model_options mo = {.pass_partial = !o->reduce_at_once};

    *out = NULL;
    r->p = p;
    r->options = *o;
    int rc = model_new(p, &mo, &r->model, e);
    if (rc) {
        free(r);
        return rc;
    }
    const struct energy *g = &r->model.energy;
    r->best = mem_try((size_t)g->nodes + 1, sizeof *r->best);
    r->trial = mem_try((size_t)g->nodes + 1, sizeof *r->trial);
    r->left = mem_try((size_t)g->nodes + 1, sizeof *r->left);
    r->pinned = *g; /* its edges are the model's */
    r->pinned.unary = mem_try((size_t)g->nodes + 1, sizeof *g->unary);
    r->best_ms = INFINITY;
    if (!r->best || !r->trial || !r->left || !r->pinned.unary) {
        relaxed_free(r);
        return no_memory(e);
    }
    memcpy(r->pinned.unary, g->unary, g->nodes * sizeof *g->unary);
    rc = relaxed_index_edges(r, e);
    if (!rc)
        rc = strict_new(&p->labels, &r->fixed, e);
    if (rc) {
        relaxed_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void relaxed_free(struct relaxed *r)
{
    if (!r)
        return;
    trws_release(&r->trws);
    energy_reduced_release(&r->reduced);
    free(r->pinned.unary);
    model_release(&r->model);
    free(r->best);
    free(r->trial);
    free(r->left);
    free(r->out_first);
    free(r->out_edges);
    strict_release(&r->fixed);
    free(r);
}

/* ---- candidates ---- */

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

/* Improves labels of what is left by local search, completes them, keeps them when they are best.
 */
static void offer(struct relaxed *r, uint16_t *left)
{
    icm(&r->trws, left, 50);
    double ms = energy_of(&r->reduced.left, left);
    if (ms < r->best_ms) {
        r->best_ms = ms;
        energy_expand(&r->reduced, left, r->best);
    }
}

static void offer_strict(struct relaxed *r, const label *on)
{
    if (!embed(r, on, r->trial))
        return;
    energy_restrict(&r->reduced, r->trial, r->left);
    offer(r, r->left);
}

/* What was best before, and the strict optimum under the pins, whose time is handed back. */
static int offer_known_plans(struct relaxed *r, double *strict_ms, struct err *e)
{
    struct exact_options o = {.goal = EXACT_STEP_TIME, .variables = true, .inputs = true};
    struct exact_result best;
    int rc = exact_strict(&r->p->terms, &r->fixed, &o, &best, e);

    if (rc)
        return rc;
    if (r->has_best) {
        energy_restrict(&r->reduced, r->best, r->left);
        offer(r, r->left);
    }
    *strict_ms = r->is_beyond_strict ? 0 : best.value;
    offer_strict(r, best.on);
    exact_release(&best);
    return 0;
}

/* ---- solving ---- */

/* Messages of a former solve fit when the same nodes are left. */
static bool is_alike(const struct reduction_of_energy *a, const struct reduction_of_energy *b)
{
    if (a->left.nodes != b->left.nodes || a->left.edge_count != b->left.edge_count)
        return false;
    for (uint32_t k = 0; k < a->left.nodes; k++) {
        if (a->node[k] != b->node[k])
            return false;
    }
    for (uint32_t k = 0; k < a->left.edge_count; k++) {
        if (a->left.edges[k].a != b->left.edges[k].a || a->left.edges[k].b != b->left.edges[k].b)
            return false;
    }
    return true;
}

/* Eliminates and sets up message passing for the present pins, starting from the last messages. */
static int get_ready(struct relaxed *r, struct err *e)
{
    struct reduction_of_energy next;
    struct trws s;

    if (r->is_ready)
        return 0;
    int rc = energy_reduce(&r->pinned, &next, e);
    if (rc)
        return rc;
    struct reduction_of_energy last = r->reduced;
    r->reduced = next;
    rc = trws_new(&r->reduced.left, &s, e);
    if (!rc && r->has_best && is_alike(&last, &next))
        memcpy(s.message, r->trws.message, s.message_size * sizeof *s.message);
    energy_reduced_release(&last);
    trws_release(&r->trws);
    if (!rc)
        r->trws = s;
    r->is_ready = !rc;
    return rc;
}

int relaxed_solve(struct relaxed *r, uint32_t sweeps, struct relaxed_plan *out, struct err *e)
{
    double strict_ms = 0, enough = r->options.gap > 0 ? r->options.gap : 1e-6;
    uint32_t most = sweeps ? sweeps : r->options.sweeps ? r->options.sweeps : SWEEPS, done = 0;
    int rc = get_ready(r, e);

    r->best_ms = INFINITY;
    if (!rc)
        rc = offer_known_plans(r, &strict_ms, e);
    if (rc)
        return rc;
    while (done < most && r->best_ms - r->trws.bound > enough * r->trws.bound) {
        trws_sweep(&r->trws);
        done++;
        if (done % 5 && done < most)
            continue;
        memcpy(r->left, r->trws.x, r->reduced.left.nodes * sizeof *r->left);
        offer(r, r->left);
    }
    if (r->best_ms > TABLE_FORBIDDEN / 2)
        return err_set(e, ERR_INFEASIBLE, "no plan keeps these decisions");
    r->has_best = true;
    memset(out, 0, sizeof *out);
    out->strict_ms = strict_ms;
    out->sweeps = done;
    return relaxed_extract(r, out, e);
}
