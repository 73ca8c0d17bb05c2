/* Which result is whose new value, which results one update makes; which result is the loss. Uses
 * no names. */
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <string.h>

enum {
    LOSS_CANDIDATES_MAX = 256,
    WALK_MAX = 4096, /* values of one update looked at */
    WALK_ALL = 64,   /* times the values of the module, over all updates */
};

static const char MEMORY_FOR[] = "for the roles of the parameters";

/* ---- new values ---- */

/* Fills w->scratch with what `from` is an elementwise function of: values of its dims, down to
 * parameters and to what is made in another way, a gradient. Rows may be added to in place. */
void hlo_work_update_region(struct hlo_roles_work *w, hlo_value from)
{
    struct hlo_reach *r = &w->scratch;

    hlo_reach_clear(r);
    hlo_reach_add(r, from);
    for (uint32_t n = 0; n < r->count && r->count < WALK_MAX; n++) {
        hlo_value v = r->queue[n];
        uint32_t carried = hlo_work_carried(w, v);
        for (uint32_t k = 0; k < carried; k++) {
            hlo_value p = w->g.preds[w->g.pred_first[v] + k];
            if (!w->is_free[p] && hlo_work_same_dims(w, p, from))
                hlo_reach_add(r, p);
        }
    }
}

/* The update that a claim is part of: claims that share values, a weight's and its moments', are
 * one. */
static uint32_t update_of(struct hlo_claim *claims, uint32_t c)
{
    while (claims[c].update != c) {
        claims[c].update = claims[claims[c].update].update;
        c = claims[c].update;
    }
    return c;
}

/* Notes that the claim `c` is made in w->scratch, and joins it to the updates met there. */
static void mark_region(struct hlo_roles_work *w, uint32_t c)
{
    for (uint32_t n = 0; n < w->scratch.count; n++) {
        hlo_value v = w->scratch.queue[n];
        if (w->param_of[v] != HLO_NONE || w->param_of[w->single[v]] != HLO_NONE)
            continue; /* a weight or a copy of it is read by all the step */
        if (w->claim_of[v])
            w->claims[update_of(w->claims, w->claim_of[v] - 1)].update = update_of(w->claims, c);
        w->claim_of[v] = c + 1;
    }
}

static bool add_claim(struct hlo_roles_work *w, uint32_t output, size_t *pooled, size_t *room)
{
    struct hlo_claim *c = &w->claims[w->claim_count];

    *c = (struct hlo_claim){.output = output,
                            .first = (uint32_t)*pooled,
                            .value = w->outputs[output],
                            .update = w->claim_count};
    for (uint32_t n = 0; n < w->scratch.count; n++) {
        uint32_t p = w->param_of[w->scratch.queue[n]];
        if (p == HLO_NONE)
            continue;
        if (!mem_grow(&w->claim_pool, room, *pooled, 1))
            return false;
        w->claim_pool[(*pooled)++] = p;
        c->count++;
    }
    if (!c->count)
        return true;
    w->claim_count++;
    if (hlo_value_shape(w->m, c->value)->rank && hlo_work_is_float(w, c->value))
        mark_region(w, w->claim_count - 1);
    return true;
}

int hlo_roles_updates(struct hlo_roles_work *w, struct err *e)
{
    uint64_t budget = (uint64_t)WALK_ALL * w->m->value_count + WALK_MAX;
    size_t pooled = 0, room = 0;
    bool ok = true;

    free(w->claim_pool);
    w->claim_pool = NULL;
    w->claim_count = 0;
    memset(w->claim_of, 0, w->m->value_count * sizeof *w->claim_of);
    for (uint32_t o = 0; ok && o < w->output_count; o++) {
        w->output_param[o] = HLO_NONE;
        if (w->is_free[w->outputs[o]] || budget < WALK_MAX)
            continue;
        hlo_work_update_region(w, w->outputs[o]);
        budget -= w->scratch.count;
        ok = add_claim(w, o, &pooled, &room);
    }
    return ok ? 0 : err_no_memory(e, MEMORY_FOR);
}

static int by_size(const void *a, const void *b)
{
    const struct hlo_claim *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* The parameter of the claim whose memory the result takes; HLO_NONE. */
static uint32_t partner(const struct hlo_roles_work *w, const struct hlo_claim *c,
                        const bool *is_taken)
{
    for (uint32_t n = 0; n < c->count; n++) {
        uint32_t p = w->claim_pool[c->first + n];
        if (!is_taken[p] && w->given_to[p] == c->output)
            return p;
    }
    return HLO_NONE;
}

/* The parameter that a scalar result adds something to: a weight of one number, a running total.
 * Other scalars that meet there, moments and rates, are further away. HLO_NONE: none or several. */
static uint32_t added_to(const struct hlo_roles_work *w, const struct hlo_claim *c,
                         const bool *is_taken, bool has_aliases)
{
    uint16_t op = w->g.opcode[c->value];
    uint32_t one = HLO_NONE;

    if (hlo_value_shape(w->m, c->value)->rank || !hlo_work_is_float(w, c->value) ||
        w->g.is_flow[c->value] ||
        (op != HLO_OP_ADD && op != HLO_OP_SUBTRACT && op != HLO_OP_SELECT))
        return HLO_NONE;
    for (uint32_t k = w->g.pred_first[c->value]; k < w->g.pred_first[c->value + 1]; k++) {
        uint32_t p = w->param_of[hlo_graph_source(&w->g, w->g.preds[k])];
        if (p == HLO_NONE)
            continue;
        if (one != HLO_NONE)
            return HLO_NONE;
        one = p;
    }
    bool is_open = one != HLO_NONE && !is_taken[one] && (!has_aliases || w->is_aliased[one]);
    return is_open ? one : HLO_NONE;
}

/* The one parameter of the claim not yet taken; of several one that is not read by the forward
 * pass (a moment with weight decay in it), for scalars one that is (the learning rate is there
 * too). by_distance: of several that it reads the one whose memory it takes, else the nearest, as p
 * is in p + step(p, q); claims have theirs in that order. */
static uint32_t choose_param(const struct hlo_roles_work *w, const struct hlo_claim *c,
                             const bool *is_taken, bool has_aliases, bool by_distance)
{
    uint32_t one = HLO_NONE, nearest = HLO_NONE, left = 0, preferred = HLO_NONE,
             preferred_count = 0;
    bool is_scalar = hlo_value_shape(w->m, c->value)->rank == 0;

    for (uint32_t n = 0; n < c->count; n++) {
        uint32_t p = w->claim_pool[c->first + n];
        if (is_taken[p] || (has_aliases && !w->is_aliased[p]))
            continue;
        one = p;
        nearest = nearest == HLO_NONE ? p : nearest;
        left++;
        if (w->is_read[p] == is_scalar) {
            preferred = p;
            preferred_count++;
        }
    }
    if (left <= 1)
        return one;
    if (preferred_count == 1)
        return preferred;
    uint32_t given = by_distance ? partner(w, c, is_taken) : HLO_NONE;
    if (given != HLO_NONE)
        return given;
    return by_distance && !preferred_count ? nearest : HLO_NONE;
}

int hlo_roles_pair(struct hlo_roles_work *w, struct err *e)
{
    bool *is_taken = mem_try(w->param_count, 1);
    bool has_aliases = false;

    if (!is_taken)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t p = 0; p < w->param_count; p++)
        has_aliases |= w->is_aliased[p];
    if (w->claim_count)
        qsort(w->claims, w->claim_count, sizeof *w->claims, by_size);
    for (int pass = -1; pass < 3; pass++) { /* what was ambiguous may be the last one left */
        for (uint32_t n = 0; n < w->claim_count; n++) {
            const struct hlo_claim *c = &w->claims[n];
            if (w->output_param[c->output] != HLO_NONE)
                continue;
            uint32_t p = pass < 0 ? added_to(w, c, is_taken, has_aliases)
                                  : choose_param(w, c, is_taken, has_aliases, pass == 2);
            if (p == HLO_NONE)
                continue;
            is_taken[p] = true;
            w->output_param[c->output] = p;
            w->params[p].updated = c->value;
        }
    }
    free(is_taken);
    return 0;
}

/* ---- loss ---- */

struct candidate {
    hlo_value value;
    uint32_t ancestors; /* values it is computed from */
    uint32_t met;       /* updates it is computed from */
    uint32_t params;    /* array parameters a derivative of it reaches */
    uint32_t used;      /* of its ancestors: read by what makes new weights */
    uint32_t worth;     /* sum of enum worth */
};

/* What a loss is and a norm is not, most telling first. */
enum worth {
    WORTH_RESULT = 1, /* not the new value of one number that the step carries */
    WORTH_HEAVY = 2,  /* products, convolutions or tables are among its ancestors */
    WORTH_DATA = 4,   /* it depends on an array that no result is the new value of */
    WORTH_BEFORE = 8, /* not computed from what updates are made of: gradients, new weights */
    WORTH_ALL = 15
};

enum {
    NEAR_MOST = 256, /* values looked at around an update */
    TERMS_MOST = 16  /* of a sum that may be the loss */
};

struct loss_search {
    struct hlo_roles_work *w;
    bool *is_carried;         /* [param_count] some result may be its new value */
    uint32_t *seen;           /* [claim_count] candidate + 1 that met this update */
    struct hlo_reach derived; /* what a derivative of the candidate at hand reaches */
    uint16_t *needed_by;      /* [value_count] how many rivals, which need products, need it */
    uint32_t updates;         /* that change an array of floats */
    struct candidate *list;
    uint32_t count;
    bool are_vectors; /* no result is a scalar: a loss each of several members, or examples */
};

/* A derivative goes on through floats. Through the new value of an array it is one of another step:
 * a generator's loss by the critic that this step has trained. */
static bool carries_derivative(const void *context, hlo_value v)
{
    const struct loss_search *s = context;

    return hlo_work_is_float(s->w, v) && !s->w->is_new[v];
}

bool hlo_work_is_heavy(uint16_t opcode)
{
    return opcode == HLO_OP_DOT || opcode == HLO_OP_CONVOLUTION || opcode == HLO_OP_GATHER ||
           opcode == HLO_OP_RAGGED_DOT || opcode == HLO_OP_SCALED_DOT ||
           opcode == HLO_OP_DYNAMIC_SLICE;
}

/* Is `v` the new value of one number: a weight with its step, a moment, a total? Then a parameter
 * is a term of it, perhaps times a constant. */
static bool is_new_number(struct hlo_roles_work *w, hlo_value v)
{
    struct hlo_reach *r = &w->scratch;

    hlo_reach_clear(r);
    hlo_reach_add(r, v);
    for (uint32_t n = 0; n < r->count && n < NEAR_MOST; n++) {
        hlo_value u = r->queue[n];
        if (w->param_of[u] != HLO_NONE)
            return hlo_work_is_float(w, u);
        uint16_t op = w->g.opcode[u];
        uint32_t first = w->g.pred_first[u], end = w->g.pred_first[u + 1], open = 0;
        bool is_scaled = op == HLO_OP_MULTIPLY || op == HLO_OP_DIVIDE;
        if (!is_scaled && !w->g.is_flow[u] && op != HLO_OP_ADD && op != HLO_OP_SUBTRACT &&
            op != HLO_OP_SELECT && op != HLO_OP_CONVERT && op != HLO_OP_RESHAPE)
            continue;
        for (uint32_t k = first; k < end; k++)
            open += !w->is_free[w->g.preds[k]];
        for (uint32_t k = first; k < end && (!is_scaled || open == 1); k++) {
            if (hlo_work_is_scalar(w, w->g.preds[k]))
                hlo_reach_add(r, w->g.preds[k]);
        }
    }
    return false;
}

static void *derive(void *context)
{
    struct loss_search *s = context;

    hlo_reach_back(&s->derived, &s->w->g, carries_derivative, s);
    return NULL;
}

/* What a derivative reaches is found beside what the candidate is computed from. */
static void measure_loss(struct loss_search *s, uint32_t n)
{
    struct hlo_roles_work *w = s->w;
    struct candidate *c = &s->list[n];
    struct beside beside;

    hlo_reach_clear(&s->derived);
    hlo_reach_add(&s->derived, c->value);
    beside_begin(&beside, w->m->count >= HLO_ROLES_BESIDE_LEAST, derive, s);
    c->met = 0;
    c->worth = is_new_number(w, c->value) ? 0 : WORTH_RESULT;
    hlo_reach_clear(&w->scratch);
    hlo_reach_add(&w->scratch, c->value);
    hlo_reach_back(&w->scratch, &w->g, NULL, NULL);
    c->ancestors = w->scratch.count;
    for (uint32_t k = 0; k < w->scratch.count; k++) {
        hlo_value v = w->scratch.queue[k];
        uint32_t p = w->param_of[v];
        if (p != HLO_NONE && !s->is_carried[p] && !hlo_work_is_scalar(w, v))
            c->worth |= WORTH_DATA;
        if (hlo_work_is_heavy(w->g.opcode[v]))
            c->worth |= WORTH_HEAVY;
        uint32_t u = w->claim_of[v] && s->w->made.has[v] ? update_of(w->claims, w->claim_of[v] - 1)
                                                         : HLO_NONE;
        if (u != HLO_NONE && s->seen[u] != n + 1) {
            s->seen[u] = n + 1;
            c->met++;
        }
    }
    /* Moving statistics are made from what the forward pass has: some updates are met by a loss.
     * Functions of weights and noise alone (a prior, a penalty) are in a loss and in the update. */
    if (!s->updates || c->met * 10 < s->updates * 9)
        c->worth |= WORTH_BEFORE;
    beside_end(&beside);
    c->params = 0;
    for (uint32_t k = 0; k < s->derived.count; k++)
        c->params += w->param_of[s->derived.queue[k]] != HLO_NONE &&
                     !hlo_work_is_scalar(w, s->derived.queue[k]);
}

static bool is_candidate(const struct hlo_roles_work *w, hlo_value v)
{
    return hlo_work_is_float(w, v) && !w->is_free[v] && w->param_of[v] == HLO_NONE;
}

/* Vectors that may be new values are none: biases. */
static void collect_vectors(struct loss_search *s)
{
    struct hlo_roles_work *w = s->w;
    uint32_t claim = 0; /* claims have the order of the results */

    s->are_vectors = true;
    for (uint32_t o = 0; o < w->output_count && s->count < LOSS_CANDIDATES_MAX; o++) {
        bool is_claimed = claim < w->claim_count && w->claims[claim].output == o;
        claim += is_claimed;
        if (!is_claimed && is_candidate(w, w->outputs[o]) &&
            hlo_value_shape(w->m, w->outputs[o])->rank == 1)
            s->list[s->count++].value = w->outputs[o];
    }
}

/* The claim's value is a weight after a loss of this step: some result that may be the loss needs
 * the weight before, and none of the products that make the new one. State that the forward pass
 * carries, tanh(h W), is none: what needs the state before needs its products. */
static bool is_trained_value(struct loss_search *s, const struct hlo_claim *c)
{
    struct hlo_roles_work *w = s->w;
    struct hlo_reach *r = &w->scratch;
    uint32_t read_by = 0;

    for (uint32_t k = 0; k < c->count; k++) {
        uint32_t before = s->needed_by[w->params[w->claim_pool[c->first + k]].value];
        read_by = before > read_by ? before : read_by;
    }
    hlo_reach_clear(r);
    hlo_reach_add(r, c->value);
    for (uint32_t n = 0; n < r->count && n < NEAR_MOST; n++) {
        hlo_value v = r->queue[n];
        if (hlo_work_is_heavy(w->g.opcode[v])) {
            if (s->needed_by[v] < read_by)
                return true;
            continue;
        }
        for (uint32_t k = w->g.pred_first[v]; k < w->g.pred_first[v + 1]; k++)
            hlo_reach_add(r, w->g.preds[k]);
    }
    return false;
}

/* How many rivals each value is needed by: candidates, and of a sum its terms, as those of two
 * losses one after the other that a step hands out as one number. Penalties, which need no product,
 * do not count. */
static bool count_needs(struct loss_search *s)
{
    struct hlo_roles_work *w = s->w;
    hlo_value *rivals = mem_try((size_t)s->count * TERMS_MOST, sizeof *rivals);
    uint32_t total = 0;

    for (uint32_t n = 0; rivals && n < s->count; n++) {
        hlo_value *terms = rivals + total;
        uint32_t count = 1, at = 0;
        terms[0] = s->list[n].value;
        while (at < count) {
            hlo_value v = terms[at] = hlo_graph_source(&w->g, terms[at]);
            uint32_t from = w->g.pred_first[v];
            if (w->g.is_flow[v] || count == TERMS_MOST || !hlo_work_is_scalar(w, v) ||
                w->g.opcode[v] != HLO_OP_ADD) {
                at++;
                continue;
            }
            terms[at] = w->g.preds[from];
            terms[count++] = w->g.preds[from + 1];
        }
        total += count;
    }
    bool ok = rivals && hlo_roles_needs(&w->g, rivals, total, s->w->made.has, s->needed_by);
    free(rivals);
    return ok;
}

static bool collect_candidates(struct loss_search *s)
{
    struct hlo_roles_work *w = s->w;

    hlo_roles_made_end(w);
    for (uint32_t o = 0; o < w->output_count && s->count < LOSS_CANDIDATES_MAX; o++) {
        if (is_candidate(w, w->outputs[o]) && hlo_work_is_scalar(w, w->outputs[o]))
            s->list[s->count++].value = w->outputs[o];
    }
    if (!s->count)
        collect_vectors(s);
    if (!count_needs(s))
        return false;
    for (uint32_t c = 0; c < w->claim_count; c++) {
        bool is_array = hlo_value_shape(w->m, w->claims[c].value)->rank > 0;
        s->updates += is_array && w->claim_of[w->claims[c].value] && update_of(w->claims, c) == c;
        w->is_new[w->claims[c].value] = is_array && is_trained_value(s, &w->claims[c]);
        for (uint32_t k = 0; k < w->claims[c].count && is_array; k++)
            s->is_carried[w->claim_pool[w->claims[c].first + k]] = true;
    }
    for (uint32_t n = 0; n < s->count; n++)
        measure_loss(s, n);
    return true;
}

/* May what `v` is computed from enter it as terms or factors of a sum? A logarithm of the loss, an
 * exponential (perplexity), a root are no sums with it. */
static bool is_linear(const struct hlo_roles_work *w, hlo_value v)
{
    switch (w->g.opcode[v]) {
    case HLO_OP_ADD:
    case HLO_OP_SUBTRACT:
    case HLO_OP_MULTIPLY:
    case HLO_OP_DIVIDE:
    case HLO_OP_NEGATE:
    case HLO_OP_CONVERT:
    case HLO_OP_RESHAPE:
    case HLO_OP_BROADCAST:
    case HLO_OP_CONCATENATE:
    case HLO_OP_REDUCE:
        return true;
    default:
        return w->g.is_flow[v];
    }
}

/* Is `sum` the value `term` with something added? */
static bool is_sum_with(struct hlo_roles_work *w, hlo_value sum, hlo_value term)
{
    struct hlo_reach *r = &w->scratch;
    bool is_added = false;

    hlo_reach_clear(r);
    hlo_reach_add(r, sum);
    for (uint32_t n = 0; n < r->count; n++) {
        hlo_value v = r->queue[n];
        uint16_t op = w->g.opcode[v];
        if (v == term || !is_linear(w, v))
            continue;
        is_added |= op == HLO_OP_ADD || op == HLO_OP_SUBTRACT || op == HLO_OP_REDUCE;
        for (uint32_t k = w->g.pred_first[v]; k < w->g.pred_first[v + 1]; k++) {
            if (op != HLO_OP_DIVIDE || k == w->g.pred_first[v])
                hlo_reach_add(r, w->g.preds[k]);
        }
    }
    return is_added && r->has[term];
}

static bool is_of_this_step(const void *context, hlo_value v)
{
    const struct hlo_roles_work *w = context;

    return !w->is_new[v];
}

static bool count_used_of_each(struct loss_search *s)
{
    struct hlo_roles_work *w = s->w;
    const struct hlo_graph *g = &w->g;
    struct hlo_reach to_update = {0}, ahead = {0}; /* `ahead`: what any candidate is made of */
    bool ok = hlo_reach_init(&to_update, g) && hlo_reach_init(&ahead, g);

    for (uint32_t c = 0; ok && c < w->claim_count; c++) {
        if (hlo_value_shape(w->m, w->claims[c].value)->rank)
            hlo_reach_add(&to_update, w->claims[c].value);
    }
    for (uint32_t n = 0; ok && n < s->count; n++) {
        if (s->list[n].worth & WORTH_BEFORE)
            hlo_reach_add(&ahead, s->list[n].value);
    }
    if (ok) {
        hlo_reach_back(&to_update, g, NULL, NULL);
        hlo_reach_back(&ahead, g, is_of_this_step, w);
    }
    for (uint32_t n = 0; ok && n < s->count; n++) {
        if (!(s->list[n].worth & WORTH_BEFORE))
            continue;
        hlo_reach_clear(&w->scratch);
        hlo_reach_add(&w->scratch, s->list[n].value);
        hlo_reach_back(&w->scratch, g, is_of_this_step, w);
        for (uint32_t k = 0; k < w->scratch.count; k++) {
            hlo_value v = w->scratch.queue[k];
            bool is_used = false;
            for (uint32_t u = g->succ_first[v]; u < g->succ_first[v + 1] && !is_used; u++)
                is_used = to_update.has[g->succs[u]] && !ahead.has[g->succs[u]];
            s->list[n].used += is_used;
        }
    }
    hlo_reach_release(&to_update);
    hlo_reach_release(&ahead);
    return ok;
}

/* How many ancestors of each candidate the backward pass reads: those of the loss, and of its main
 * part alone fewer, and of a mean that is only shown fewer still. It tells one from another: of a
 * single one it is not asked. */
static bool count_used(struct loss_search *s)
{
    uint32_t before = 0;

    for (uint32_t n = 0; n < s->count; n++)
        before += (s->list[n].worth & WORTH_BEFORE) != 0;
    return before < 2 || count_used_of_each(s);
}

/* Of the candidates of this worth, from which derivatives reach about `most` parameters, the
 * smallest. With `least`, that one: of those that need no more gradients than it the one of which
 * the backward pass reads most, and of these the smallest. */
static const struct candidate *best_of(const struct loss_search *s, uint32_t worth, uint32_t most,
                                       const struct candidate *least, uint32_t *rivals)
{
    const struct candidate *best = NULL;

    *rivals = 0;
    for (uint32_t n = 0; n < s->count; n++) {
        const struct candidate *c = &s->list[n];
        if (c->worth != worth || !c->params || c->params * 10 < most * 9)
            continue;
        ++*rivals;
        if (least && c->met > least->met)
            continue;
        uint32_t used = least ? c->used : 0, before = least && best ? best->used : 0;
        if (!best || used > before || (used == before && c->ancestors < best->ancestors))
            best = c;
    }
    return best;
}

/* Of the scalar float results of most worth those from which derivatives reach the most parameters;
 * of these the one of which the backward pass reads most, and the smallest of those: the loss or
 * its main part. A sum with a few terms more (regularisation) is the loss. */
static void choose_loss(struct loss_search *s)
{
    struct hlo_roles_work *w = s->w;
    uint32_t most = 0, worth = 0, rivals = 0;

    for (uint32_t n = 0; n < s->count; n++) {
        if (s->list[n].params && s->list[n].worth > worth)
            worth = s->list[n].worth;
    }
    if (!(worth & WORTH_BEFORE) || (s->are_vectors && !s->updates)) {
        w->loss_source = s->count && !s->are_vectors
                             ? "every scalar result is computed from gradients: norms, no loss"
                             : "no result is a scalar";
        return;
    }
    for (uint32_t n = 0; n < s->count; n++) {
        if (s->list[n].worth == worth && s->list[n].params > most)
            most = s->list[n].params;
    }
    const struct candidate *best = best_of(s, worth, most, NULL, &rivals);
    best = best_of(s, worth, most, best, &rivals);
    w->loss = best->value;
    for (uint32_t n = 0; n < s->count; n++) {
        const struct candidate *c = &s->list[n];
        if (c->worth != worth || c->ancestors <= best->ancestors ||
            c->ancestors > best->ancestors + best->ancestors / 2)
            continue;
        if (is_sum_with(w, c->value, w->loss))
            w->loss = c->value;
    }
    w->loss_confidence = worth != WORTH_ALL ? HLO_DOUBTFUL : rivals > 1 ? HLO_LIKELY : HLO_CERTAIN;
    if (s->are_vectors)
        w->loss_confidence = HLO_DOUBTFUL;
    w->loss_source =
        s->are_vectors
            ? "no result is a scalar: of the vectors one whose derivatives reach the weights"
        : rivals > 1 ? "of the scalar results whose derivatives reach the weights the one of which "
                       "the backward pass reads most"
                     : "the one scalar result whose derivatives reach the weights";
}

int hlo_roles_loss(struct hlo_roles_work *w, struct err *e)
{
    struct loss_search s = {.w = w,
                            .is_carried = mem_try(w->param_count, 1),
                            .needed_by = mem_try(w->m->value_count, sizeof *s.needed_by),
                            .seen = mem_try(w->claim_count, sizeof *s.seen),
                            .list = mem_try(LOSS_CANDIDATES_MAX, sizeof *s.list)};
    bool ok = s.is_carried && s.needed_by && s.seen && s.list && hlo_reach_init(&s.derived, &w->g);

    ok = ok && collect_candidates(&s) && count_used(&s);
    if (ok && w->loss == HLO_NONE)
        choose_loss(&s);
    free(s.is_carried);
    free(s.needed_by);
    free(s.seen);
    free(s.list);
    hlo_reach_release(&s.derived);
    hlo_reach_release(&w->made);
    return ok ? 0 : err_no_memory(e, MEMORY_FOR);
}
