#include "engine/exact/exact_overlap.h"
#include "hlo/support/stop.h"

#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* A relative difference that counts as none. */
#define NEAR 1e-9

enum { HALVINGS = 24 };

struct search {
    const struct step_tables *t;
    struct exact_result *best;
    struct solver s;
    uint32_t *fixed, *choice; /* [nodes] */
    uint32_t *order;          /* [nodes] those that move most computation first */
    double *moves;            /* [nodes] */
    label *on;                /* [classes] */
    uint64_t cases;
    double open; /* least bound of what was not looked into */
    struct err *e;
};

static double balance_of(const struct step_tables *t, const label *on)
{
    struct step_cost cost = step_tables_cost(t, on);

    return overlap_balance(&t->overlap, cost.compute_ms, cost.beside_ms);
}

/* Keeps the better of two results; the bound is the higher. `from` is released. */
static void keep_better(const struct step_tables *t, struct exact_result *best,
                        struct exact_result *from)
{
    double ms = step_tables_cost(t, from->on).step_ms;

    best->bound = fmax(best->bound, from->bound);
    best->nodes += from->nodes;
    if (ms < best->value) {
        label *swap = best->on;
        best->on = from->on;
        from->on = swap;
        best->value = ms;
    }
    exact_release(from);
}

static bool is_proven(const struct exact_result *r)
{
    return r->value <= r->bound * (1 + NEAR);
}

/* Weights of the excess between 0 and 1, towards where it turns. Returns the best. */
static int find_weight(const struct step_tables *t, const struct strict *fixed,
                       const struct exact_options *o, struct exact_result *best, exact_solve *solve,
                       double *weight, struct err *e)
{
    struct exact_options with = *o;
    double low = 0, high = 1, highest = best->bound;
    int rc = 0;

    *weight = 0;
    for (int k = 0; k < HALVINGS && !is_proven(best) && !stop_asked(o->stop); k++) {
        struct exact_result one;
        with.excess_weight = k ? (low + high) / 2 : 1;
        rc = solve(t, fixed, &with, &one, e);
        if (rc)
            return rc;
        double balance = balance_of(t, one.on);
        if (one.bound > highest) {
            highest = one.bound;
            *weight = with.excess_weight;
        }
        keep_better(t, best, &one);
        if (!k && balance >= 0) /* still more beside than is hidden: nothing beyond it */
            return 0;
        if (k)
            *(balance > 0 ? &low : &high) = with.excess_weight;
    }
    return rc;
}

/* Looks at the plans under q->fixed. */
static int look_at_hidden(struct search *q)
{
    struct solver_answer answer;
    int rc = solver_minimise(&q->s, q->fixed, q->choice, &answer);

    if (rc || !isfinite(answer.value) || answer.bound >= q->best->value * (1 - NEAR))
        return rc;
    if (++q->cases > EXACT_CASES_MOST || stop_asked(q->s.o->stop)) {
        q->open = fmin(q->open, answer.bound);
        return 0;
    }
    for (uint32_t n = 0; n < q->s.node_count; n++)
        q->on[q->s.nodes[n].class] = q->s.nodes[n].labels[q->choice[n]];
    double ms = step_tables_cost(q->t, q->on).step_ms;
    if (ms < q->best->value) {
        q->best->value = ms;
        memcpy(q->best->on, q->on, q->t->labels->classes->count * sizeof *q->on);
    }
    uint32_t place = 0;
    while (place < q->s.node_count && q->fixed[q->order[place]] != NOT_FIXED)
        place++;
    if (place == q->s.node_count)
        return 0;
    uint32_t next = q->order[place];
    if (rc)
        goto out;
    for (uint32_t a = 0; a < q->s.nodes[next].domain; a++) {
        q->fixed[next] = a;
        rc = look_at_hidden(q);
        if (rc)
            goto out;
    }
out:
    q->fixed[next] = NOT_FIXED;
    return rc;
}

/* Nodes in the order of what their choices may change in the tables of computing. */
static void order_nodes(struct search *q)
{
    const struct step_tables *t = q->t;

    for (uint32_t k = 0; k < t->count; k++) {
        const struct term *term = &t->items[k];
        double least = INFINITY, most = 0;
        for (uint32_t n = 0; n < term->entries; n++) {
            double ms = t->compute_ms[term->table + n];
            least = fmin(least, ms);
            most = isfinite(ms) ? fmax(most, ms) : most;
        }
        for (uint32_t n = 0; n < term->class_count && isfinite(least); n++) {
            uint32_t node = q->s.node_of[t->class_pool[term->classes + n]];
            if (node != CLASS_NONE)
                q->moves[node] += most - least;
        }
    }
    for (uint32_t n = 0; n < q->s.node_count; n++) {
        uint32_t at = n;
        for (; at && q->moves[q->order[at - 1]] < q->moves[n]; at--)
            q->order[at] = q->order[at - 1];
        q->order[at] = n;
    }
}

/* What the bound leaves open, case by case. */
static int look_into_all(const struct step_tables *t, const struct strict *fixed,
                         const struct exact_options *o, struct exact_result *best, struct err *e)
{
    struct search q = {.t = t, .best = best, .open = INFINITY, .e = e};
    int rc = solver_new(t, fixed, o, &q.s, e);

    if (rc)
        return rc;
    q.fixed = mem_try((size_t)q.s.node_count + 1, sizeof *q.fixed);
    q.choice = mem_try((size_t)q.s.node_count + 1, sizeof *q.choice);
    q.on = mem_try((size_t)t->labels->classes->count + 1, sizeof *q.on);
    q.order = mem_try((size_t)q.s.node_count + 1, sizeof *q.order);
    q.moves = mem_try((size_t)q.s.node_count + 1, sizeof *q.moves);
    if (!q.fixed || !q.choice || !q.on || !q.order || !q.moves) {
        rc = err_no_memory(e, "for the exact solver");
        goto out;
    }
    memcpy(q.on, q.s.fixed, t->labels->classes->count * sizeof *q.on);
    for (uint32_t n = 0; n < q.s.node_count; n++)
        q.fixed[n] = NOT_FIXED;
    order_nodes(&q);
    rc = look_at_hidden(&q);
    if (!rc)
        best->bound = fmax(best->bound, fmin(q.open, best->value));
    best->nodes += q.cases;
out:
    free(q.fixed);
    free(q.choice);
    free(q.on);
    free(q.order);
    free(q.moves);
    solver_release(&q.s);
    return rc;
}

int exact_overlap(const struct step_tables *t, const struct strict *fixed,
                  const struct exact_options *o, struct exact_result *out, exact_solve *solve,
                  struct err *e)
{
    struct exact_options with = *o;
    double sum = out->value;

    out->value = step_tables_cost(t, out->on).step_ms;
    if (out->value <= sum * (1 + NEAR)) /* no excess */
        return 0;
    int rc = find_weight(t, fixed, o, out, solve, &with.excess_weight, e);
    if (rc)
        goto out;
    if (!is_proven(out))
        rc = look_into_all(t, fixed, &with, out, e);
out:
    out->proven = is_proven(out);
    if (out->proven)
        out->bound = out->value;
    return rc;
}
