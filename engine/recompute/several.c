/* Prices for several positions of the schedule at once.
 *
 * What a choice adds, and how far above the limit each position then is, is a line in the prices;
 * the least of all choices is concave in them, its highest point a bound, and one minimum cut gives
 * a line that touches it (Kelley 1960: cutting_plane.h). Where a loop computes a value again in
 * some layers it is there once while the loop runs, however few they are, so the bound is the
 * lower one of two: nothing computes it again, or it is there. */
#include "engine/recompute/several.h"

#include "engine/linear/cutting_plane.h"
#include "engine/recompute/front.h"
#include "engine/recompute/priced.h"
#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "engine/recompute/recompute_internal.h"
#include "engine/recompute/sight.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FOR[] = "for prices of what the backward pass keeps";
static const double HIGH = 1e3, NEAR = 1e-8;

enum { CUTS_MOST = 24, SPLIT_CUTS = 6, RAISES = 16 };

/* ---- spots and tangents ---- */

static void measure(struct several *s, struct tangent *t, uint32_t spot)
{
    double bytes = sight_bytes(s->r, &s->spots[spot], t->state, s->late, NULL);

    t->over[spot] = (s->spots[spot].base + bytes) / s->limit - 1;
}

/* spot_count: none of them. */
static uint32_t spot_at(const struct several *s, uint32_t position)
{
    uint32_t k = 0;

    while (k < s->spot_count && s->spots[k].position != position)
        k++;
    return k;
}

int several_add_spot(struct several *s, uint32_t position, struct err *e)
{
    if (spot_at(s, position) < s->spot_count || s->spot_count == SPOTS_MOST)
        return 0;
    uint32_t spot = s->spot_count++;
    s->is_priced = false;
    if (!sight_new(s->r, position, &s->spots[spot]))
        return err_no_memory(e, FOR);
    for (uint32_t k = 0; k < s->tangent_count; k++)
        measure(s, &s->tangents[k], spot);
    for (uint32_t k = 0; k < s->region_count; k++)
        s->regions[k].price[spot] = 0;
    return 0;
}

int several_add_tangent(struct several *s, const struct recompute_point *p, struct err *e)
{
    size_t nodes = s->r->graph->count;
    uint8_t *state = mem_try(nodes + 1, 1);

    if (!state)
        return err_no_memory(e, FOR);
    if (s->tangent_count == TANGENTS_MOST) { /* the oldest goes */
        free(s->tangents[0].state);
        memmove(s->tangents, s->tangents + 1, --s->tangent_count * sizeof *s->tangents);
    }
    memcpy(state, p->state, nodes);
    struct tangent *t = &s->tangents[s->tangent_count++];
    *t = (struct tangent){.ms = p->ms, .state = state};
    for (uint32_t k = 0; k < s->spot_count; k++)
        measure(s, t, k);
    return 0;
}

/* The points of a front on both sides of the limit. */
static int add_bracket(struct several *s, const struct front *f, struct err *e)
{
    uint32_t k = 1;

    while (k + 1 < f->count && !(f->points[k].peak > 0 && f->points[k].peak <= s->limit))
        k++;
    int rc = several_add_tangent(s, &f->points[k - 1].p, e);
    return rc || f->count < 2 ? rc : several_add_tangent(s, &f->points[k].p, e);
}

static int start(struct several *s, const struct recompute_looks *l, struct err *e)
{
    uint32_t at;
    int rc = recompute_peak_at(s->r, s->best, &at) < 0 ? err_no_memory(e, FOR) : 0;

    rc = rc ? rc : several_add_spot(s, at, e);
    rc = rc ? rc : add_bracket(s, s->r->front, e);
    if (rc)
        return rc;
    for (uint32_t k = 0; k < l->count; k++) {
        rc = several_add_spot(s, l->seen[k].sight.position, e);
        rc = rc ? rc : add_bracket(s, &l->seen[k].front, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- the least of all choices at prices ---- */

static int price_spots(struct several *s, struct err *e)
{
    const struct keep_sight *spots[SPOTS_MOST];

    if (s->is_priced)
        return 0;
    for (uint32_t k = 0; k < s->spot_count; k++)
        spots[k] = &s->spots[k];
    priced_release(&s->priced);
    int rc = priced_new(s->r, spots, s->spot_count, &s->priced, e);
    s->is_priced = rc == 0;
    return rc;
}

/* What a position has of a node that the region's choices compute again in some layer. */
static double surely_again(const struct several *s, const struct keep_region *g, uint32_t spot,
                           uint32_t k)
{
    return g->ways[k] == LOOP_HAS ? s->spots[spot].again[k] : 0;
}

static double over_alone(const struct several *s, const struct keep_region *g, uint32_t spot)
{
    double bytes = s->spots[spot].base;

    for (uint32_t k = 0; k < s->r->graph->count; k++)
        bytes += surely_again(s, g, spot, k);
    return bytes / s->limit - 1 + s->margin[spot];
}

/* Sets the cut's prices. Returns the part that is the same for all choices. */
static double set_prices(struct several *s, const struct keep_region *g, const double *price)
{
    struct priced *p = &s->priced;
    size_t bytes = s->r->graph->count * sizeof(double);
    double alike = 0;

    memset(p->kept_price, 0, bytes);
    memset(p->again_ms, 0, bytes);
    for (uint32_t spot = 0; spot < s->spot_count; spot++) {
        const struct keep_sight *at = &s->spots[spot];
        double per_byte = price[spot] / s->limit;
        p->late_price[spot] = per_byte;
        alike += price[spot] * over_alone(s, g, spot);
        for (uint32_t k = 0; k < s->r->graph->count && per_byte > 0; k++) {
            p->kept_price[k] += per_byte * at->kept[k];
            p->again_ms[k] += per_byte * (at->again[k] - surely_again(s, g, spot, k));
        }
    }
    for (uint32_t k = 0; k < s->r->graph->count; k++)
        p->is_kept[k] = g->ways[k] == LOOP_KEEPS;
    return alike;
}

/* A tangent as one of the region's choices; false: it is none. */
static bool tangent_in(const struct several *s, const struct keep_region *g,
                       const struct tangent *t, double *over)
{
    for (uint32_t spot = 0; spot < s->spot_count; spot++)
        over[spot] = t->over[spot] + s->margin[spot];
    for (uint32_t k = 0; k < s->r->graph->count; k++) {
        bool again = t->state[k] == VALUE_AGAIN;
        if (again && g->ways[k] == LOOP_KEEPS)
            return false;
        for (uint32_t spot = 0; spot < s->spot_count && !again && g->ways[k] == LOOP_HAS; spot++)
            over[spot] += surely_again(s, g, spot, k) / s->limit;
    }
    return true;
}

/* The highest point of the region's tangents. */
static int find_top(const struct several *s, const struct keep_region *g, double *price,
                    double *top, struct err *e)
{
    double value[TANGENTS_MOST], slope[TANGENTS_MOST * SPOTS_MOST], low[SPOTS_MOST] = {0},
                                                                    high[SPOTS_MOST];
    struct cutting_planes c = {
        .places = s->spot_count, .value = value, .slope = slope, .low = low, .high = high};

    c.sum = INFINITY;
    for (uint32_t k = 0; k < s->spot_count; k++)
        high[k] = HIGH * s->sum_ms;
    for (uint32_t k = 0; k < s->tangent_count; k++) {
        if (tangent_in(s, g, &s->tangents[k], &slope[(size_t)c.count * c.places]))
            value[c.count++] = s->tangents[k].ms;
    }
    *top = INFINITY;
    if (!c.count) /* as at the region that it is a part of */
        memcpy(price, g->price, sizeof g->price);
    return c.count ? cutting_plane_top(&c, price, top, e) : 0;
}

/* Offers the choice that the prices find, and looks from where its peak is too: *peak bytes, *at.
 */
static int offer(struct several *s, const struct recompute_point *p, double *peak, uint32_t *at,
                 struct err *e)
{
    struct between_points b = {p, p, 0};
    *peak = recompute_peak_between(s->r, b, at);
    int rc =
        *peak < 0 ? err_no_memory(e, FOR) : recompute_offer(s->r, b, *peak, s->limit, s->best, e);

    rc = rc ? rc : several_add_tangent(s, p, e);
    return rc ? rc : several_add_spot(s, *at, e);
}

int several_climb(struct several *s, struct keep_region *g, uint32_t cuts, double close_ms,
                  struct err *e)
{
    uint8_t *state = mem_try((size_t)s->r->graph->count + 1, 1);
    int rc = state ? 0 : err_no_memory(e, FOR);

    for (uint32_t k = 0; k < cuts; k++) {
        double price[SPOTS_MOST], top, least, peak;
        uint32_t at;
        rc = price_spots(s, e);
        rc = rc ? rc : find_top(s, g, price, &top, e);
        double close = fmax(close_ms, NEAR * s->sum_ms);
        if (rc || top - g->bound <= close || (s->best->fits && g->bound >= s->best->ms))
            break;
        double alike = set_prices(s, g, price);
        struct recompute_point p = priced_solve(&s->priced, state, &least);
        if (least + alike > g->bound) {
            g->bound = least + alike;
            memcpy(g->price, price, sizeof price);
        }
        rc = offer(s, &p, &peak, &at, e);
        if (rc)
            break;
    }
    free(state);
    return rc;
}

/* A choice above the limit raises the price of the spot where it is, one that fits lowers all
 * towards those of the bound. */
static void step_prices(struct several *s, const struct keep_region *g, double *price, bool fits,
                        uint32_t at)
{
    double most = 0;

    for (uint32_t k = 0; k < s->spot_count; k++) {
        most = fmax(most, price[k]);
        price[k] = fits ? (price[k] + g->price[k]) / 2 : price[k];
    }
    uint32_t spot = spot_at(s, at);
    if (!fits && spot < s->spot_count)
        price[spot] = fmax(2 * price[spot], most / 2);
}

/* At the bound's prices choices above the limit are as good as choices below it, and a cut may find
 * the former alone. Others near them find more that fit. */
static int raise_prices(struct several *s, struct err *e)
{
    const struct keep_region g = s->regions[several_lowest(s)];
    uint8_t *state = mem_try((size_t)s->r->graph->count + 1, 1);
    int rc = state ? 0 : err_no_memory(e, FOR);
    double price[SPOTS_MOST] = {0};

    memcpy(price, g.price, s->spot_count * sizeof *price);
    for (uint32_t k = 0; k < RAISES && !recompute_is_enough(s->r, s->best, s->enough_ms); k++) {
        double least, peak;
        uint32_t at = 0;
        rc = rc ? rc : price_spots(s, e);
        if (rc)
            break;
        (void)set_prices(s, &g, price);
        struct recompute_point p = priced_solve(&s->priced, state, &least);
        rc = offer(s, &p, &peak, &at, e);
        step_prices(s, &g, price, peak <= s->limit, at);
    }
    free(state);
    return rc;
}

/* ---- what loops compute again ---- */

/* Time and priced memory at the region's prices; INFINITY: not one of its choices. */
static double value_at(const struct several *s, const struct keep_region *g,
                       const struct tangent *t)
{
    double over[SPOTS_MOST], value = t->ms;

    if (!tangent_in(s, g, t, over))
        return INFINITY;
    for (uint32_t k = 0; k < s->spot_count; k++)
        value += g->price[k] * over[k];
    return value;
}

uint32_t several_near(const struct several *s, const struct keep_region *g, uint32_t most,
                      uint32_t *out)
{
    double value[TANGENTS_MOST];
    uint32_t count = 0;

    for (uint32_t k = 0; k < s->tangent_count; k++)
        value[k] = value_at(s, g, &s->tangents[k]);
    while (count < most) {
        uint32_t best = s->tangent_count;
        for (uint32_t k = 0; k < s->tangent_count; k++)
            if (value[k] < (best < s->tangent_count ? value[best] : INFINITY))
                best = k;
        if (best == s->tangent_count)
            break;
        value[best] = INFINITY;
        bool is_new = true;
        for (uint32_t k = 0; k < count && is_new; k++)
            is_new = memcmp(s->tangents[out[k]].state, s->tangents[best].state, s->r->graph->count);
        if (is_new)
            out[count++] = best;
    }
    return count;
}

/* What it costs at the region's prices that node `k` is there once while its loop runs. */
static double again_price(const struct several *s, const struct keep_region *g, uint32_t k)
{
    double ms = 0;

    if (s->r->graph->nodes[k].trips > 1 && g->ways[k] == LOOP_ANY)
        for (uint32_t spot = 0; spot < s->spot_count; spot++)
            ms += g->price[spot] * s->spots[spot].again[k] / s->limit;
    return ms;
}

/* The node of a loop that choices near the bound differ in and whose array costs most; count of
 * nodes: there is none. */
static uint32_t find_split(const struct several *s, const struct keep_region *g)
{
    uint32_t nodes = s->r->graph->count, best = nodes;
    bool is_near[TANGENTS_MOST];
    double most = 0;

    for (uint32_t n = 0; n < s->tangent_count; n++)
        is_near[n] = value_at(s, g, &s->tangents[n]) <= s->best->ms;
    for (uint32_t k = 0; k < nodes; k++) {
        double ms = again_price(s, g, k);
        bool does = false, does_not = false;
        for (uint32_t n = 0; n < s->tangent_count && ms > most; n++)
            if (is_near[n])
                *(s->tangents[n].state[k] == VALUE_AGAIN ? &does : &does_not) = true;
        if (does && does_not) {
            most = ms;
            best = k;
        }
    }
    return best;
}

uint32_t several_lowest(const struct several *s)
{
    uint32_t best = 0;

    for (uint32_t k = 1; k < s->region_count; k++)
        if (s->regions[k].bound < s->regions[best].bound)
            best = k;
    return best;
}

/* A region as another one is. */
static int add_region(struct several *s, const struct keep_region *as, struct err *e)
{
    size_t nodes = s->r->graph->count;
    uint8_t *ways = mem_try(nodes + 1, 1);

    if (!ways)
        return err_no_memory(e, FOR);
    struct keep_region *g = &s->regions[s->region_count++];
    *g = (struct keep_region){.bound = -INFINITY};
    if (as) {
        *g = *as;
        memcpy(ways, as->ways, nodes);
    }
    g->ways = ways;
    return 0;
}

static void raise_bound(struct several *s)
{
    double least = s->regions[several_lowest(s)].bound;

    if (least > s->sum_ms * (1 + NEAR)) /* more than all of it adds */
        least = INFINITY;
    s->best->bound_ms = fmax(s->best->bound_ms, least);
    if (s->best->fits && s->best->bound_ms > s->best->ms)
        s->best->bound_ms = s->best->ms;
}

static int split_regions(struct several *s, struct err *e)
{
    int rc = 0;

    while (s->region_count < REGIONS_MOST && !rc && s->best->fits &&
           !recompute_is_enough(s->r, s->best, s->enough_ms)) {
        uint32_t low = several_lowest(s), node = find_split(s, &s->regions[low]);
        if (node == s->r->graph->count)
            break;
        rc = add_region(s, &s->regions[low], e);
        if (rc)
            break;
        struct keep_region *keeps = &s->regions[low], *has = &s->regions[s->region_count - 1];
        keeps->ways[node] = LOOP_KEEPS;
        has->ways[node] = LOOP_HAS;
        rc = several_climb(s, keeps, SPLIT_CUTS, s->enough_ms / 4, e);
        rc = rc ? rc : several_climb(s, has, SPLIT_CUTS, s->enough_ms / 4, e);
        raise_bound(s);
    }
    return rc;
}

/* ---- all of it ---- */

static void several_free(struct several *s)
{
    for (uint32_t k = 0; k < s->spot_count; k++)
        sight_release(&s->spots[k]);
    for (uint32_t k = 0; k < s->tangent_count; k++)
        free(s->tangents[k].state);
    for (uint32_t k = 0; k < s->region_count; k++)
        free(s->regions[k].ways);
    priced_release(&s->priced);
    free(s->late);
    free(s);
}

int recompute_look_at_several(const struct recompute_looks *l, double limit, double enough_ms,
                              struct recompute_choice *best, struct err *e)
{
    if (recompute_is_enough(l->r, best, enough_ms) || !isfinite(limit) || !(limit > 0))
        return 0;
    struct several *s = mem_try(1, sizeof *s);
    if (!s)
        return err_no_memory(e, FOR);
    s->r = l->r;
    s->limit = limit;
    s->enough_ms = enough_ms;
    s->sum_ms = l->r->front->sum_ms;
    s->best = best;
    s->late = mem_try((size_t)l->r->graph->count + 1, 1);
    int rc = s->late ? start(s, l, e) : err_no_memory(e, FOR);
    rc = rc ? rc : add_region(s, NULL, e);
    rc = rc ? rc : several_climb(s, &s->regions[0], CUTS_MOST, s->enough_ms / 4, e);
    if (rc)
        goto out;
    raise_bound(s);
    rc = split_regions(s, e);
    rc = rc ? rc : raise_prices(s, e);
    rc = rc ? rc : several_mix_loops(s, e);
    rc = rc ? rc : several_mix_layers(s, e);
    if (rc)
        goto out;
    raise_bound(s);
out:
    several_free(s);
    return rc;
}
