/* Written-out layers, each as in one of the choices near the bound: these differ in what they leave
 * below the limit at which position, and mixed layer by layer they use all of it at all of them. */
#include "engine/recompute/several.h"

#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "engine/recompute/recompute_internal.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FOR[] = "for choices layer by layer";
/* What being above the limit costs, in prices of the bound; a gain that counts, of all ms. */
static const double DEAR[] = {4, 1e3}, LEAST = 1e-9;

enum {
    DEARS = 2,
    NEAR_MOST = 48,
    WAYS_MOST = 10,
    SWEEPS_MOST = 12,
    ROUNDS_MOST = 6,
    CUTS_MOST = 6,
    CHANGES_MOST = 24,
    TURNED_MOST = 32,
    LAYERS_MOST = 1024, /* of a mixture: it takes time in squares of both */
    NODES_MOST = 1 << 14
};

/* What a layer takes in one of the ways. */
struct part {
    double ms, over[SPOTS_MOST];
};

struct mix {
    struct several *s;
    uint32_t layers;        /* and what is of none */
    struct keep_region aim; /* whose prices say which choices are near */
    uint32_t ways, near[WAYS_MOST];
    struct part *parts;       /* [layers][ways] */
    uint32_t *way;            /* [layers] */
    uint32_t *repeats;        /* [layers] bits of ways that take what an earlier one does */
    struct part all;          /* of the mixture */
    double above[SPOTS_MOST]; /* found above what the layers add up to */
    double price, dear;     /* the bound's highest, and of what is above; ms for all of the limit */
    double *of_node;        /* [spots][nodes] scratch */
    uint8_t *keeps, *state; /* [nodes] */
};

/* Behind the written-out layers what is of none. */
static uint32_t layer_of(const struct recompute *r, uint32_t k)
{
    uint32_t layer = r->graph->nodes[k].layer;

    return layer < r->graph->layers ? layer : r->graph->layers;
}

static struct part *part_of(const struct mix *m, uint32_t layer, uint32_t way)
{
    return &m->parts[(size_t)layer * m->ways + way];
}

/* The choices nearest to the bound, as many slower than it as faster. */
static void choose_ways(struct mix *m)
{
    const struct several *s = m->s;
    uint32_t near[NEAR_MOST], count = several_near(s, &m->aim, NEAR_MOST, near);
    uint32_t slow = 0, fast = 0;

    m->ways = 0;
    for (uint32_t k = 0; k < count && m->ways < WAYS_MOST; k++) {
        bool is_slow = s->tangents[near[k]].ms > m->aim.bound;
        uint32_t *of = is_slow ? &slow : &fast;
        if (*of == WAYS_MOST / 2)
            continue;
        ++*of;
        m->near[m->ways++] = near[k];
    }
}

/* By the full count: also what the spots do not see. */
static int fill_way(struct mix *m, uint32_t way, struct err *e)
{
    const struct several *s = m->s;
    uint8_t *state = s->tangents[m->near[way]].state;
    uint32_t at[SPOTS_MOST], nodes = s->r->graph->count;

    for (uint32_t k = 0; k < m->layers; k++)
        *part_of(m, k, way) = (struct part){0};
    for (uint32_t k = 0; k < nodes; k++)
        part_of(m, layer_of(s->r, k), way)->ms += recompute_state_ms(s->r, k, state[k]);
    for (uint32_t spot = 0; spot < s->spot_count; spot++)
        at[spot] = s->spots[spot].position;
    int rc = recompute_bytes_at(s->r, &(struct recompute_choice){.rest = state, .first = state}, at,
                                s->spot_count, m->of_node, e);
    if (rc)
        return rc;
    for (uint32_t spot = 0; spot < s->spot_count; spot++)
        for (uint32_t k = 0; k < nodes; k++)
            part_of(m, layer_of(s->r, k), way)->over[spot] +=
                m->of_node[(size_t)spot * nodes + k] / s->limit;
    return 0;
}

/* Whether a way takes what an earlier one does. */
static bool is_repeated(const struct mix *m, uint32_t layer, uint32_t way)
{
    bool is = false;

    for (uint32_t k = 0; k < way && !is; k++)
        is = !memcmp(part_of(m, layer, k), part_of(m, layer, way), sizeof(struct part));
    return is;
}

/* All layers as in the choice nearest to the bound. */
static void begin(struct mix *m)
{
    const struct several *s = m->s;

    m->price = 0;
    m->all = (struct part){0};
    for (uint32_t spot = 0; spot < s->spot_count; spot++) {
        m->price = fmax(m->price, m->aim.price[spot]);
        m->all.over[spot] = s->spots[spot].base / s->limit - 1 + m->above[spot];
    }
    for (uint32_t k = 0; k < m->layers; k++) {
        const struct part *p = part_of(m, k, 0);
        m->repeats[k] = 0;
        for (uint32_t way = 1; way < m->ways; way++)
            m->repeats[k] |= is_repeated(m, k, way) ? 1u << way : 0;
        m->way[k] = 0;
        m->all.ms += p->ms;
        for (uint32_t spot = 0; spot < s->spot_count; spot++)
            m->all.over[spot] += p->over[spot];
    }
}

/* Of a mixture with one layer's way changed. */
static double cost_with(const struct mix *m, const struct part *p, uint32_t layer, uint32_t way)
{
    const struct part *from = part_of(m, layer, m->way[layer]), *to = part_of(m, layer, way);
    double ms = p->ms + (to->ms - from->ms);

    for (uint32_t spot = 0; spot < m->s->spot_count; spot++) {
        double over = p->over[spot] + (to->over[spot] - from->over[spot]);
        ms += over > 0 ? m->dear * over : 0;
    }
    return ms;
}

static struct part changed(const struct mix *m, const struct part *p, uint32_t layer, uint32_t way)
{
    const struct part *from = part_of(m, layer, m->way[layer]), *to = part_of(m, layer, way);
    struct part out = {.ms = p->ms + (to->ms - from->ms)};

    for (uint32_t spot = 0; spot < m->s->spot_count; spot++)
        out.over[spot] = p->over[spot] + (to->over[spot] - from->over[spot]);
    return out;
}

/* The best change of a layer, alone or with one of those behind it. */
static bool change_layer(struct mix *m, uint32_t layer)
{
    double best = cost_with(m, &m->all, layer, m->way[layer]) - LEAST * m->s->sum_ms;
    uint32_t other = layer, way = m->way[layer], other_way = way;

    for (uint32_t a = 0; a < m->ways; a++) {
        struct part one = changed(m, &m->all, layer, a);
        if (m->repeats[layer] >> a & 1)
            continue;
        for (uint32_t k = layer; k < m->layers; k++) {
            for (uint32_t b = 0; b < m->ways; b++) {
                bool is_way = k == layer ? b == a : !(m->repeats[k] >> b & 1);
                double ms = is_way ? cost_with(m, k == layer ? &m->all : &one, k, b) : INFINITY;
                if (ms < best) {
                    best = ms;
                    other = k;
                    way = a;
                    other_way = b;
                }
            }
        }
    }
    if (way == m->way[layer] && other == layer)
        return false;
    m->all = changed(m, &m->all, layer, way);
    m->way[layer] = way;
    if (other != layer) {
        m->all = changed(m, &m->all, other, other_way);
        m->way[other] = other_way;
    }
    return true;
}

/* As near to the bound as is asked for. */
static bool is_near(const struct mix *m)
{
    const struct several *s = m->s;
    bool fits = true;

    for (uint32_t spot = 0; spot < s->spot_count; spot++)
        fits &= m->all.over[spot] <= 0;
    return fits && m->all.ms - s->best->bound_ms <= s->enough_ms;
}

static void improve(struct mix *m)
{
    for (uint32_t k = 0; k < DEARS; k++) {
        bool more = true;
        m->dear = DEAR[k] * m->price;
        for (uint32_t sweep = 0; sweep < SWEEPS_MOST && more && !is_near(m); sweep++) {
            more = false;
            for (uint32_t layer = 0; layer < m->layers; layer++)
                more |= change_layer(m, layer);
        }
    }
}

/* Of layers that are alike the first compute more again: the backward pass ends there. */
static void sort_alike(struct mix *m)
{
    size_t bytes = m->ways * sizeof *m->parts;

    for (uint32_t k = 0; k < m->layers; k++) {
        for (uint32_t o = k + 1; o < m->layers; o++) {
            uint32_t way = m->way[k], other = m->way[o];
            bool alike = !memcmp(part_of(m, k, 0), part_of(m, o, 0), bytes);
            if (alike && part_of(m, k, way)->ms < part_of(m, o, other)->ms) {
                m->way[k] = other;
                m->way[o] = way;
            }
        }
    }
}

/* Offers the mixture. *peak, *at: of it. */
static int offer_mix(struct mix *m, double *peak, uint32_t *at, struct err *e)
{
    struct several *s = m->s;

    for (uint32_t k = 0; k < s->r->graph->count; k++) {
        uint8_t state = s->tangents[m->near[m->way[layer_of(s->r, k)]]].state[k];
        m->keeps[k] = recompute_is_kept(state) ? state : 0;
    }
    struct recompute_point p = recompute_point_of(s->r, m->keeps, m->state);
    struct between_points b = {&p, &p, 0};
    *peak = recompute_peak_between(s->r, b, at);
    return *peak < 0 ? err_no_memory(e, FOR)
                     : recompute_offer(s->r, b, *peak, s->limit, s->best, e);
}

struct change {
    double ms;
    uint32_t layer, way;
};

/* Whether no spot sees a mixture with this change above the limit, one of them so much more. */
static bool may_fit(const struct mix *m, struct change c, uint32_t spot, double more)
{
    struct part p = changed(m, &m->all, c.layer, c.way);
    bool fits = m->all.ms + c.ms < m->s->best->ms;

    p.over[spot] += more;
    for (uint32_t k = 0; k < m->s->spot_count; k++)
        fits &= p.over[k] <= 0;
    return fits;
}

/* Changes of one layer that bring the mixture within the limit where a spot has so much more than
 * it sees, those that add least first. Returns how many. */
static uint32_t list_changes(const struct mix *m, uint32_t spot, double more, struct change *out)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < m->layers; k++) {
        for (uint32_t way = 0; way < m->ways; way++) {
            struct change c = {part_of(m, k, way)->ms - part_of(m, k, m->way[k])->ms, k, way};
            uint32_t at = count < CHANGES_MOST ? count : CHANGES_MOST - 1;
            if ((m->repeats[k] >> way & 1) || !may_fit(m, c, spot, more) ||
                (count == CHANGES_MOST && c.ms >= out[at].ms))
                continue;
            for (; at && out[at - 1].ms > c.ms; at--)
                out[at] = out[at - 1];
            out[at] = c;
            count += count < CHANGES_MOST;
        }
    }
    return count;
}

/* Of a mixture that is a little above the limit at a spot, by the full count. */
static int offer_changes(struct mix *m, uint32_t spot, double more, struct err *e)
{
    struct change list[CHANGES_MOST];
    uint32_t count = list_changes(m, spot, more, list), at;
    double peak = INFINITY;

    for (uint32_t k = 0; k < count && peak > m->s->limit; k++) {
        uint32_t way = m->way[list[k].layer];
        m->way[list[k].layer] = list[k].way;
        int rc = offer_mix(m, &peak, &at, e);
        m->way[list[k].layer] = way;
        if (rc)
            return rc;
    }
    return 0;
}

/* Offers the mixture, or changes of it. Where it is above the limit the spots see less than there
 * is, or there is none: *again, with what is known then. */
static int offer_near(struct mix *m, bool *again, struct err *e)
{
    struct several *s = m->s;
    double peak;
    uint32_t at, spots = s->spot_count;
    int rc = offer_mix(m, &peak, &at, e);

    *again = peak > s->limit && m->all.ms < s->best->ms;
    if (rc || !*again)
        return rc;
    rc = several_add_spot(s, at, e);
    for (uint32_t k = 0; k < spots; k++) {
        if (rc)
            return rc;
        if (s->spots[k].position != at)
            continue;
        double more = peak / s->limit - 1 - m->all.over[k];
        m->above[k] += more;
        rc = offer_changes(m, k, more, e);
    }
    return rc;
}

/* Keeps free what the choice nearest to the bound has where the spots do not see it. */
static void set_margin(struct mix *m)
{
    struct several *s = m->s;

    for (uint32_t spot = 0; spot < s->spot_count; spot++) {
        double over = s->spots[spot].base / s->limit - 1;
        for (uint32_t k = 0; k < m->layers; k++)
            over += part_of(m, k, 0)->over[spot];
        s->margin[spot] = fmax(0, over - s->tangents[m->near[0]].over[spot]);
    }
}

/* Mixes the choices there are, from the one nearest to the bound on. */
static int mix(struct mix *m, bool *again, struct err *e)
{
    choose_ways(m);
    for (uint32_t k = 0; k < m->ways; k++) {
        int rc = fill_way(m, k, e);
        if (rc)
            return rc;
    }
    if (!m->ways)
        return 0;
    begin(m);
    improve(m);
    sort_alike(m);
    return offer_near(m, again, e);
}

/* ---- smaller steps ---- */

/* The same for values of all layers that are alike: what they cost, and which of those that cost as
 * much in their layer. 0: nothing to turn. */
static void find_alike(const struct recompute *r, uint64_t *alike)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        double head[] = {r->bytes[k], r->again_ms[k], n->rule, n->is_needed};
        alike[k] = 0;
        if (n->rule == PRIMAL_NEVER || !n->is_stored || n->layer >= g->layers)
            continue;
        alike[k] = mem_hash(head, sizeof head, 1) | 1;
        for (uint32_t o = 0; o < k; o++)
            if (g->nodes[o].layer == n->layer && alike[o] == alike[k])
                alike[k] = mem_hash(&alike[o], sizeof alike[o], 2) | 1;
    }
}

/* A choice with the values like node `node` the other way in all layers. */
static int turn(struct mix *m, const uint8_t *of, const uint64_t *alike, uint32_t node,
                struct err *e)
{
    const struct recompute *r = m->s->r;
    uint8_t way = recompute_is_kept(of[node]) ? 0 : VALUE_KEPT;

    for (uint32_t k = 0; k < r->graph->count; k++)
        m->keeps[k] = alike[k] == alike[node] ? way : recompute_is_kept(of[k]) ? of[k] : 0;
    struct recompute_point p = recompute_point_of(r, m->keeps, m->state);
    return several_add_tangent(m->s, &p, e);
}

/* And so for each kind of value of a choice. */
static int turn_each(struct mix *m, const uint8_t *of, const uint64_t *alike, struct err *e)
{
    uint32_t nodes = m->s->r->graph->count, turned = 0;

    for (uint32_t k = 0; k < nodes && turned < TURNED_MOST; k++) {
        bool done = !alike[k] || of[k] == VALUE_UNUSED;
        for (uint32_t o = 0; o < k && !done; o++)
            done = alike[o] == alike[k] && of[o] != VALUE_UNUSED;
        if (done)
            continue;
        turned++;
        int rc = turn(m, of, alike, k, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Of the two choices nearest to the bound: layers differ by many values, of which some are as good
 * to keep as others. */
static int turn_values(struct mix *m, struct err *e)
{
    size_t nodes = (size_t)m->s->r->graph->count + 1;
    uint64_t *alike = mem_try(nodes, sizeof *alike);
    uint8_t *of = mem_try(nodes * 2, 1);
    uint32_t count = m->ways < 2 ? m->ways : 2;
    int rc = alike && of ? 0 : err_no_memory(e, FOR);

    if (rc)
        goto out;
    find_alike(m->s->r, alike);
    for (uint32_t n = 0; n < count; n++)
        memcpy(of + n * nodes, m->s->tangents[m->near[n]].state, nodes - 1);
    for (uint32_t n = 0; n < count; n++) {
        rc = turn_each(m, of + n * nodes, alike, e);
        if (rc)
            goto out;
    }
out:
    free(alike);
    free(of);
    return rc;
}

/* Where a mixture is not near enough, more choices are looked for: at prices that leave free what
 * the spots do not see, then near those. */
static int search(struct mix *m, struct err *e)
{
    struct several *s = m->s;
    bool more = true, turned = false;
    int rc = 0;

    for (uint32_t n = 0; n < ROUNDS_MOST && more && !rc; n++) {
        uint32_t before = s->tangent_count;
        bool again = false;
        if (n) {
            set_margin(m);
            m->aim.bound = -INFINITY;
            rc = several_climb(s, &m->aim, CUTS_MOST, 0, e);
        }
        more = !n || s->tangent_count > before;
        if (!rc && !turned && (!more || n + 1 == ROUNDS_MOST)) {
            rc = turn_values(m, e);
            more = turned = true;
        }
        rc = rc ? rc : mix(m, &again, e);
        more = (again || more) && m->ways && !recompute_is_enough(s->r, s->best, s->enough_ms);
    }
    memset(s->margin, 0, sizeof s->margin);
    return rc;
}

int several_mix_layers(struct several *s, struct err *e)
{
    const struct primal_graph *g = s->r->graph;
    size_t nodes = (size_t)g->count + 1, layers = (size_t)g->layers + 1;

    if (g->loop_trips > 1 || g->layers < 2 || layers > LAYERS_MOST || nodes > NODES_MOST ||
        !s->best->fits || recompute_is_enough(s->r, s->best, s->enough_ms))
        return 0;
    struct mix m = {.s = s,
                    .layers = (uint32_t)layers,
                    .aim = s->regions[several_lowest(s)],
                    .parts = mem_try(layers * WAYS_MOST, sizeof *m.parts),
                    .way = mem_try(layers, sizeof *m.way),
                    .repeats = mem_try(layers, sizeof *m.repeats),
                    .of_node = mem_try(nodes * SPOTS_MOST, sizeof *m.of_node),
                    .keeps = mem_try(nodes, 1),
                    .state = mem_try(nodes, 1)};
    bool ok = m.parts && m.way && m.repeats && m.of_node && m.keeps && m.state;
    int rc = ok ? search(&m, e) : err_no_memory(e, FOR);
    free(m.parts);
    free(m.way);
    free(m.repeats);
    free(m.of_node);
    free(m.keeps);
    free(m.state);
    return rc;
}
