/* Two kinds of layers of a loop. The bound mixes neighbours of a front in any share; a whole number
 * of layers, and what one of them computes again is there in full, leave room that other pairs of
 * choices use better: those near the bound, and each with one value kept or computed again. */
#include "engine/recompute/several.h"

#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "engine/recompute/recompute_internal.h"
#include "engine/recompute/sight.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FOR[] = "for kinds of layers";

enum { NEAR_MOST = 12, KINDS_MOST = 192, TRIES_MOST = 12 };

/* What a choice of one kind of layer takes, without what it computes again: of the loop, and of all
 * else, which does as the layers that are not among the first. */
struct kind {
    double loop_ms, loop[SPOTS_MOST]; /* in parts of the limit */
    double else_ms, else_over[SPOTS_MOST];
    uint8_t *state;
};

struct kinds {
    struct several *s;
    struct kind list[KINDS_MOST];
    uint32_t count;
    uint8_t *keeps;  /* [nodes] */
    double *of_node; /* [nodes] scratch */
    struct pair {
        uint32_t rest, first, layers;
        double ms;
    } pairs[TRIES_MOST]; /* the fastest, in order */
    uint32_t pair_count;
};

static bool is_loops(const struct several *s, uint32_t node)
{
    const struct primal *n = &s->r->graph->nodes[node];

    return n->trips > 1 && n->rule != PRIMAL_NEVER;
}

static bool has_kind(const struct kinds *k, const struct recompute_point *p)
{
    bool has = false;

    for (uint32_t n = 0; n < k->count && !has; n++)
        has = !memcmp(k->list[n].state, p->state, k->s->r->graph->count);
    return has;
}

static void measure(const struct kinds *k, struct kind *t)
{
    const struct several *s = k->s;
    const struct primal_graph *g = s->r->graph;

    for (uint32_t n = 0; n < g->count; n++)
        *(g->nodes[n].trips > 1 ? &t->loop_ms : &t->else_ms) +=
            recompute_state_ms(s->r, n, t->state[n]);
    for (uint32_t spot = 0; spot < s->spot_count; spot++) {
        const struct keep_sight *at = &s->spots[spot];
        sight_bytes(s->r, at, t->state, s->late, k->of_node);
        t->else_over[spot] = at->base / s->limit - 1;
        for (uint32_t n = 0; n < g->count; n++) {
            bool loops = g->nodes[n].trips > 1;
            double again = loops && t->state[n] == VALUE_AGAIN ? at->again[n] : 0;
            (loops ? t->loop : t->else_over)[spot] += (k->of_node[n] - again) / s->limit;
        }
    }
}

/* Takes over what k->keeps says as one more kind. */
static int add_kind(struct kinds *k, struct err *e)
{
    const struct several *s = k->s;
    uint8_t *state = mem_try((size_t)s->r->graph->count + 1, 1);

    if (!state)
        return err_no_memory(e, FOR);
    struct recompute_point p = recompute_point_of(s->r, k->keeps, state);
    if (k->count == KINDS_MOST || has_kind(k, &p)) {
        free(state);
        return 0;
    }
    k->list[k->count] = (struct kind){.state = state};
    measure(k, &k->list[k->count++]);
    return 0;
}

static void keep_as(struct kinds *k, const uint8_t *state)
{
    for (uint32_t n = 0; n < k->s->r->graph->count; n++)
        k->keeps[n] = recompute_is_kept(state[n]) ? state[n] : 0;
}

/* A choice, and with each value of the loop that it stores the other way. */
static int add_kinds(struct kinds *k, const uint8_t *state, struct err *e)
{
    const struct recompute *r = k->s->r;

    keep_as(k, state);
    int rc = add_kind(k, e);
    for (uint32_t n = 0; n < r->graph->count; n++) {
        if (rc)
            return rc;
        if (!is_loops(k->s, n) || !r->graph->nodes[n].is_stored || state[n] == VALUE_UNUSED)
            continue;
        keep_as(k, state);
        k->keeps[n] = k->keeps[n] ? 0 : VALUE_KEPT;
        rc = add_kind(k, e);
    }
    return rc;
}

/* Of the choices near the bound at the prices that it was found at. */
static int list_kinds(struct kinds *k, struct err *e)
{
    const struct keep_region *low = &k->s->regions[several_lowest(k->s)];
    uint32_t near[NEAR_MOST], count = several_near(k->s, low, NEAR_MOST, near);

    for (uint32_t n = 0; n < count; n++) {
        int rc = add_kinds(k, k->s->tangents[near[n]].state, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* The fewest first layers of a kind with which no spot is above the limit; all: too few. */
static uint32_t fewest_layers(const struct kinds *k, const struct kind *rest,
                              const struct kind *first)
{
    const struct several *s = k->s;
    const struct primal_graph *g = s->r->graph;
    uint32_t all = s->r->layers, least = 1;

    for (uint32_t spot = 0; spot < s->spot_count; spot++) {
        double again = 0, less = rest->loop[spot] - first->loop[spot];
        for (uint32_t n = 0; n < g->count; n++)
            if (g->nodes[n].trips > 1 &&
                (rest->state[n] == VALUE_AGAIN || first->state[n] == VALUE_AGAIN))
                again += s->spots[spot].again[n];
        double more = rest->else_over[spot] + rest->loop[spot] + again / s->limit;
        if (!(more > 0))
            continue;
        double layers = less > 0 ? ceil(more / less * all * (1 - 1e-12)) : all;
        least = layers > least ? (uint32_t)fmin(layers, all) : least;
    }
    return least;
}

static void add_pair(struct kinds *k, struct pair p)
{
    uint32_t at = k->pair_count;

    if (at == TRIES_MOST && p.ms >= k->pairs[at - 1].ms)
        return;
    at -= at == TRIES_MOST;
    for (; at && k->pairs[at - 1].ms > p.ms; at--)
        k->pairs[at] = k->pairs[at - 1];
    k->pairs[at] = p;
    k->pair_count += k->pair_count < TRIES_MOST;
}

/* Pairs that are faster than the best choice, as far as the spots see. */
static void list_pairs(struct kinds *k)
{
    const struct several *s = k->s;
    double all = s->r->layers;

    for (uint32_t a = 0; a < k->count; a++) {
        for (uint32_t b = 0; b < k->count; b++) {
            const struct kind *rest = &k->list[a], *first = &k->list[b];
            double a_layer = (first->loop_ms - rest->loop_ms) / all;
            double ms = rest->else_ms + rest->loop_ms;
            if (!(a_layer > 0) || ms + a_layer >= s->best->ms)
                continue;
            uint32_t layers = fewest_layers(k, rest, first);
            ms += layers * a_layer;
            if (layers < s->r->layers && ms < s->best->ms)
                add_pair(k, (struct pair){a, b, layers, ms});
        }
    }
}

static int offer_pairs(struct kinds *k, struct err *e)
{
    struct several *s = k->s;

    for (uint32_t n = 0; n < k->pair_count; n++) {
        struct recompute_point rest = {.state = k->list[k->pairs[n].rest].state};
        struct recompute_point first = {.state = k->list[k->pairs[n].first].state};
        struct between_points p = {&rest, &first, k->pairs[n].layers};
        uint32_t at;
        double peak = recompute_peak_between(s->r, p, &at);
        if (peak < 0)
            return err_no_memory(e, FOR);
        int rc = recompute_offer(s->r, p, peak, s->limit, s->best, e);
        if (rc)
            return rc;
    }
    return 0;
}

int several_mix_loops(struct several *s, struct err *e)
{
    if (!(s->r->graph->loop_trips > 1) || !s->best->fits ||
        recompute_is_enough(s->r, s->best, s->enough_ms))
        return 0;
    struct kinds *k = mem_try(1, sizeof *k);
    uint8_t *keeps = mem_try((size_t)s->r->graph->count + 1, 1);
    double *of_node = mem_try((size_t)s->r->graph->count + 1, sizeof *of_node);
    int rc = k && keeps && of_node ? 0 : err_no_memory(e, FOR);
    if (rc)
        goto out;
    *k = (struct kinds){.s = s, .keeps = keeps, .of_node = of_node};
    rc = list_kinds(k, e);
    if (rc)
        goto out;
    list_pairs(k);
    rc = offer_pairs(k, e);
out:
    for (uint32_t n = 0; k && n < k->count; n++)
        free(k->list[n].state);
    free(keeps);
    free(of_node);
    free(k);
    return rc;
}
