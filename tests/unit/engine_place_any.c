/* Plans of any sets, of random graphs, against an enumeration of all assignments by definition; the
 * state that moves change against loads worked out anew. */
#include "engine/place/cut_bound.h"
#include "engine/place/cut_tree.h"
#include "engine/place/fill_devices.h"
#include "engine/place/look.h"
#include "engine/place/place_cut.h"
#include "engine/place/reduce.h"
#include "engine/place/solve.h"
#include "engine/place/state.h"
#include "tests/unit/place_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct place_rules all_rules[] = {
    {PLACE_SUM, false, false}, {PLACE_MAX, false, false}, {PLACE_DUPLEX, false, false},
    {PLACE_SUM, true, false},  {PLACE_MAX, true, false},  {PLACE_DUPLEX, true, false},
};
enum { RULES = sizeof all_rules / sizeof *all_rules };

static uint32_t graphs_asked(uint32_t usual)
{
    const char *asked = getenv("AUTOMAP_GRAPHS");

    return asked ? (uint32_t)strtoul(asked, NULL, 10) : usual;
}

static void enumerate(const struct place_graph *g, double best[RULES])
{
    uint32_t of_color[SMALL_NODES] = {0}, device[SMALL_NODES];

    for (int i = 0; i < RULES; i++)
        best[i] = INFINITY;
    if (!place_devices(g))
        return;
    do {
        struct slow_load load[SMALL_DEVICES];
        if (!g->per_server && !is_canonical(g, of_color))
            continue;
        for (uint32_t v = 0; v < g->nodes; v++)
            device[v] = of_color[g->color[v]];
        slow_loads(g, device, load);
        for (int i = 0; i < RULES && slow_fits(g, device, load); i++)
            best[i] = fmin(best[i], slow_value(g, &all_rules[i], load, NULL));
    } while (next_assignment(of_color, g->colors, place_devices(g)));
}

static void check_rule(const struct place_graph *g, const struct place_rules *r, double best)
{
    struct place_job job = {.rules = *r, .any_sets = true, .moves = 2000};
    struct slow_load load[SMALL_DEVICES];
    struct placement *p;
    struct err e = {0};
    int rc = place_solve(g, &job, "exact", &p, &e);

    if (isinf(best)) {
        assert_int_equal(rc, ERR_INFEASIBLE);
        return;
    }
    assert_int_equal(rc, 0);
    assert_true(p->proven);
    assert_true(fabs(p->value_ms - best) <= 1e-9 * (1 + best));
    slow_loads(g, p->device, load);
    assert_true(slow_fits(g, p->device, load));
    assert_true(fabs(slow_value(g, r, load, NULL) - best) <= 1e-9 * (1 + best));
    placement_free(p);
}

static void any_sets(void **state)
{
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 43, 0);
    for (uint32_t i = 0, graphs = graphs_asked(400); i < graphs; i++) {
        struct small_shape s = {.nodes = 1 + rl_rng_below(&r, i % 40 ? 7 : SMALL_NODES),
                                .kinds = 1 + !rl_rng_below(&r, 3),
                                .servers = i % 7 == 0 ? 2 : 0,
                                .training = rl_rng_below(&r, 2)};
        if (s.servers && s.nodes > 6)
            s.nodes = 6;
        struct place_graph *g;
        if (s.servers)
            s.kinds = 1;
        g = small_graph(&r, &s);
        double best[RULES];
        enumerate(g, best);
        for (int k = 0; k < RULES; k++)
            check_rule(g, &all_rules[k], best[k]);
        place_graph_free(g);
    }
}

/* Whether a plan has on one device what was joined, and nothing on a kind it may not be on. */
static void check_reduced(const struct place_graph *g, const struct place_nets *n,
                          const uint32_t *device)
{
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t t = place_type_of(g, device[v]);
        assert_true(n->allowed[n->position_of[v]] >> t & 1);
        for (uint32_t u = 0; u < v; u++)
            assert_true(n->position_of[u] != n->position_of[v] || device[u] == device[v]);
    }
}

/* All plans of at most a value are plans of what is left for it, under every rule. */
static void reductions_keep_plans(void **state)
{
    struct rl_rng r;
    uint32_t joined[RULES] = {0}, plans = 0;

    (void)state;
    rl_rng_seed(&r, 53, 0);
    for (uint32_t i = 0, graphs = graphs_asked(400); i < graphs; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 5),
                                .kinds = 1 + !rl_rng_below(&r, 4),
                                .training = rl_rng_below(&r, 3)};
        struct place_graph *g = small_graph(&r, &s);
        uint32_t of_color[SMALL_NODES] = {0}, device[SMALL_NODES];
        double best[RULES], limit[RULES];
        struct place_nets *n[RULES] = {0};
        struct err e = {0};
        enumerate(g, best);
        for (int k = 0; k < RULES; k++) {
            limit[k] = best[k] * (1 + rl_rng_below(&r, 3) * 0.2);
            if (isfinite(best[k]))
                assert_int_equal(place_reduce(g, &all_rules[k], limit[k], &n[k], &e), 0);
            joined[k] += n[k] && n[k]->positions < g->colors;
        }
        do {
            struct slow_load load[SMALL_DEVICES];
            for (uint32_t v = 0; v < g->nodes; v++)
                device[v] = of_color[g->color[v]];
            if (!place_devices(g))
                break;
            slow_loads(g, device, load);
            if (!slow_fits(g, device, load))
                continue;
            for (int k = 0; k < RULES; k++) {
                if (!n[k] || slow_value(g, &all_rules[k], load, NULL) > limit[k])
                    continue;
                check_reduced(g, n[k], device);
                plans++;
            }
        } while (next_assignment(of_color, g->colors, place_devices(g)));
        for (int k = 0; k < RULES; k++)
            place_nets_free(n[k]);
        place_graph_free(g);
    }
    print_message("%u plans; graphs with something joined:", plans);
    for (int k = 0; k < RULES; k++) {
        print_message(" %u", joined[k]);
        assert_true(joined[k] > 20);
    }
    print_message("\n");
}

/* Proofs alone, without a good plan to begin with: the same optimum; the bound by flows below it.
 */
static void proofs(void **state)
{
    struct place_rules rules = {0};
    struct rl_rng r;
    uint32_t asked = 0, tight = 0;

    (void)state;
    rl_rng_seed(&r, 47, 0);
    for (uint32_t i = 0, graphs = graphs_asked(600); i < graphs; i++) {
        struct small_shape s = {.nodes = 1 + rl_rng_below(&r, i % 40 ? 8 : SMALL_NODES),
                                .kinds = 1,
                                .training = rl_rng_below(&r, 2)};
        struct place_graph *g = small_graph(&r, &s);
        struct place_completing c = {.rules = &rules};
        struct place_nets *n;
        struct err e = {0};
        double best[RULES], bound, value = 1000;
        uint32_t device[SMALL_NODES] = {0};
        bool found, proven;
        enumerate(g, best);
        if (isinf(best[0]) || place_prepare_classes(g, &n, &e)) {
            place_graph_free(g);
            continue;
        }
        assert_int_equal(place_cut_bound(n, &rules, &bound, &e), 0);
        assert_true(bound <= best[0] * (1 + 1e-9));
        tight += bound >= best[0] * (1 - 1e-9);
        if (place_completes(n, &rules)) {
            asked++;
            assert_int_equal(place_complete(n, &c, &value, device, &found, &proven, &e), 0);
            assert_true(found && proven && fabs(value - best[0]) <= 1e-9 * (1 + best[0]));
            struct place_load load[SMALL_DEVICES];
            place_loads(n, device, load);
            assert_true(fabs(place_value(n, &rules, load, NULL) - value) <= 1e-9 * (1 + value));
            assert_int_equal(place_complete(n, &c, &value, device, &found, &proven, &e), 0);
            assert_true(!found && proven);
        }
        place_nets_free(n);
        place_graph_free(g);
    }
    assert_true(asked > graphs_asked(600) / 10 && tight > graphs_asked(600) / 10);
}

/* ---- moves ---- */

/* The tree of cuts from nothing, with kinds, servers and pins: the enumeration's optimum, proven.
 */
static void cuts(void **state)
{
    struct place_rules rules = {0};
    struct place_cutting asking = {.rules = &rules};
    uint32_t asked = 0, none = 0, tight = 0;
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 53, 0);
    for (uint32_t i = 0, graphs = graphs_asked(1500); i < graphs; i++) {
        struct small_shape s = {.nodes = 1 + rl_rng_below(&r, i % 40 ? 8 : SMALL_NODES),
                                .kinds = 1 + !rl_rng_below(&r, 3),
                                .servers = i % 9 == 0 ? 2 : 0,
                                .training = rl_rng_below(&r, 2)};
        if (s.servers) {
            s.kinds = 1;
            s.nodes = s.nodes > 6 ? 6 : s.nodes;
        }
        struct place_graph *g = small_graph(&r, &s);
        struct small_pin pin[SMALL_PINS];
        if (i % 4 == 0)
            small_pins(g, &r, 2, pin);
        double best[RULES];
        enumerate(g, best);
        struct place_nets *n;
        struct err e = {0};
        if (place_devices(g) && !place_prepare_classes(g, &n, &e)) {
            double value = isfinite(best[0]) ? 1.7 * best[0] + 1 : 1000;
            uint32_t device[SMALL_NODES];
            bool found = false, proven = false;
            double low = isfinite(best[0]) ? best[0] / 3 : 0, bound = 0;
            assert_true(place_cut_tree_takes(n, &rules));
            assert_int_equal(place_cut_tree_bound(n, &asking, low, value, &bound, &e), 0);
            assert_true(bound >= low && bound <= best[0] * (1 + 1e-9));
            tight += bound >= best[0] * 0.9;
            assert_int_equal(place_cut_tree(n, &asking, &value, device, &found, &proven, &e), 0);
            assert_true(proven);
            assert_int_equal(found, isfinite(best[0]));
            if (found)
                assert_true(fabs(value - best[0]) <= 1e-9 * (1 + best[0]));
            asked += found;
            none += !found;
            place_nets_free(n);
        }
        place_graph_free(g);
    }
    print_message("%u optima, %u without a plan\n", asked, none);
    assert_true(asked > 2 * none && none > 0 && tight > asked / 2);
}

/* The least cut by Dinic equals the least of all sets, and its set is one of them. */
static void least_cuts(void **state)
{
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 54, 0);
    for (uint32_t i = 0; i < 400; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 8), .kinds = 1};
        struct place_graph *g = small_graph(&r, &s);
        struct place_nets *n;
        struct place_cut *c;
        struct err e = {0};
        uint8_t where[SMALL_NODES];
        uint64_t side = 0;
        g->type[0].count = 2;
        for (uint32_t v = 0; v < g->nodes; v++) {
            g->supported[v] = true;
            g->allowed[v] |= 1;
        }
        assert_int_equal(place_prepare_classes(g, &n, &e), 0);
        assert_int_equal(place_cut_new(n, &c, &e), 0);
        for (uint32_t p = 0; p < n->positions; p++)
            where[p] = (uint8_t)rl_rng_below(&r, 3);
        for (int works = 0; works < 2; works++) {
            double least = INFINITY, at_side = INFINITY;
            double found = place_cut_least(c, where, works, INFINITY, &side);
            for (uint32_t set = 0; set < 1U << n->positions; set++) {
                double load = 0;
                bool fits = true;
                for (uint32_t p = 0; p < n->positions; p++) {
                    fits &=
                        where[p] == PLACE_CUT_FREE || (where[p] == PLACE_CUT_IN) == (set >> p & 1);
                    load += works && (set >> p & 1)
                                ? place_nets_time(n, 0, 0, p) + place_nets_time(n, 1, 0, p)
                                : 0;
                }
                for (uint32_t h = 0; h < n->nets; h++) {
                    uint32_t in = 0, all = n->pin_at[h + 1] - n->pin_at[h];
                    for (uint32_t k = n->pin_at[h]; k < n->pin_at[h + 1]; k++)
                        in += set >> n->pin[k] & 1;
                    load += in && in < all ? n->near_ms[h] : 0;
                }
                least = fits ? fmin(least, load) : least;
                at_side = fits && set == side ? load : at_side;
            }
            assert_true(fabs(found - least) <= 1e-9 * (1 + least));
            assert_true(fabs(at_side - least) <= 1e-9 * (1 + least));
        }
        place_cut_free(c);
        place_nets_free(n);
        place_graph_free(g);
    }
}

/* One kind of accelerators, every other graph with two servers of them. */
static struct small_shape every_other_servers(struct rl_rng *r, uint32_t i)
{
    uint32_t nodes = 2 + rl_rng_below(r, 8);

    return (struct small_shape){
        .nodes = nodes, .kinds = 1, .servers = i % 2 ? 2 : 0, .training = rl_rng_below(r, 2)};
}

static void moves_keep_loads(void **state)
{
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 44, 0);
    for (uint32_t i = 0; i < 300; i++) {
        struct small_shape s = every_other_servers(&r, i);
        struct place_graph *g = small_graph(&r, &s);
        struct place_rules rules = {0};
        struct place_nets *n;
        struct place_state *t;
        struct err e = {0};
        uint32_t device[SMALL_NODES] = {0}, devices = place_devices(g);
        if (!devices || place_prepare_classes(g, &n, &e)) {
            place_graph_free(g);
            continue;
        }
        assert_int_equal(place_state_new(n, &rules, &t, &e), 0);
        uint32_t start[SMALL_NODES] = {0};
        place_state_set(t, start);
        for (int k = 0; k < 40; k++) {
            struct slow_load load[SMALL_DEVICES];
            place_state_move(t, rl_rng_below(&r, n->positions), rl_rng_below(&r, devices));
            for (uint32_t v = 0; v < g->nodes; v++)
                device[v] = t->device[n->position_of[v]];
            slow_loads(g, device, load);
            assert_true(fabs(place_state_value(t) - slow_value(g, &rules, load, NULL)) < 1e-9);
        }
        place_state_free(t);
        place_nets_free(n);
        place_graph_free(g);
    }
}

/* Stages on accelerators with their copies, and the accelerators there are. */
static bool slow_crowded(const struct place_graph *g, const uint32_t *device,
                         const uint32_t *copies)
{
    uint32_t stages = 0, accelerators = g->type[0].count;

    for (uint32_t d = 0; d < accelerators; d++) {
        bool used = false;
        for (uint32_t v = 0; v < g->nodes; v++)
            used |= device[v] == d;
        stages += copies[d] > 1 ? copies[d] : used;
    }
    return stages > accelerators;
}

/* Prices of moves and what crosses, against the definition. */
static void check_prices(const struct place_graph *g, const struct place_rules *rules,
                         const struct placement *p, struct place_look *l, const uint32_t *copies,
                         uint32_t node, uint32_t *crowded)
{
    struct place_price price[SMALL_DEVICES];
    struct slow_load load[SMALL_DEVICES];
    uint32_t device[SMALL_NODES];

    place_look_prices(l, node, price);
    for (uint32_t d = 0; d < p->devices; d++) {
        for (uint32_t v = 0; v < g->nodes; v++)
            device[v] = g->color[v] == g->color[node] ? d : p->device[v];
        slow_loads(g, device, load);
        assert_true(fabs(price[d].value_ms - slow_value(g, rules, load, copies)) < 1e-9);
        bool full = copies[0] > 1 && slow_crowded(g, device, copies);
        assert_int_equal(!price[d].faults, slow_fits(g, device, load) && !full);
        *crowded += full;
    }
}

static void check_crossings(const struct place_graph *g, const struct placement *p,
                            const struct place_look *l)
{
    struct place_crossing c[SMALL_NODES];
    uint32_t crossings = place_look_crossings(l, c, SMALL_NODES), slow = 0;

    for (uint32_t u = 0; u < g->nodes; u++) {
        bool crosses = false, paid = !slow_is_host(g, p->device[u]);
        for (uint32_t k = g->user_at[u]; k < g->user_at[u + 1]; k++) {
            uint32_t to = p->device[g->user[k]];
            crosses |= to != p->device[u];
            paid |= to != p->device[u] && !slow_is_host(g, to);
        }
        slow += crosses && paid && g->send_ms[u] > 0;
    }
    assert_int_equal(crossings, slow);
    for (uint32_t k = 1; k < crossings; k++)
        assert_true(c[k - 1].ends * c[k - 1].ms >= c[k].ends * c[k].ms);
}

static bool check_stages(const struct place_graph *g, const struct placement *p,
                         const struct place_look *l)
{
    uint32_t stage[SMALL_DEVICES];
    bool chain = place_look_is_chain(l, stage);

    for (uint32_t u = 0; u < g->nodes; u++) {
        uint32_t from = stage[p->device[u]];
        assert_int_equal(from != PLACE_NONE, chain);
        for (uint32_t k = g->user_at[u]; k < g->user_at[u + 1] && chain; k++) {
            if (!g->backward[u] && !g->backward[g->user[k]])
                assert_true(from <= stage[p->device[g->user[k]]]);
        }
    }
    assert_int_equal(place_look_is_chain(l, NULL) || g->training,
                     slow_contiguous(g, p->device) || g->training);
    return chain;
}

static void looks(void **state)
{
    struct rl_rng r;
    uint32_t copied = 0, crowded = 0, chains = 0;

    (void)state;
    rl_rng_seed(&r, 51, 0);
    for (uint32_t i = 0; i < 300; i++) {
        struct small_shape s = every_other_servers(&r, i);
        struct place_graph *g = small_graph(&r, &s);
        struct place_rules rules = {.apart = rl_rng_below(&r, 2)};
        uint32_t devices = place_devices(g), node = rl_rng_below(&r, g->nodes);
        uint32_t of_color[SMALL_NODES], copies[SMALL_DEVICES] = {1, 1, 1, 1, 1, 1, 1, 1};
        struct place_look *l = NULL;
        struct placement *p = NULL;
        struct err e = {0};
        if (!devices)
            goto next;
        assert_int_equal(placement_new(g, &p, &e), 0);
        for (uint32_t c = 0; c < g->colors; c++)
            of_color[c] = rl_rng_below(&r, devices);
        for (uint32_t v = 0; v < g->nodes; v++)
            p->device[v] = of_color[g->color[v]];
        if (i % 4 == 0 && g->type[0].count > 1) {
            g->sync_ms_per_byte = 0.3;
            copies[0] = p->copies[0] = 2;
            copied++;
        }
        if (!place_look_new(g, &rules, p, &l, &e)) {
            check_prices(g, &rules, p, l, copies, node, &crowded);
            check_crossings(g, p, l);
            chains += check_stages(g, p, l);
            place_look_free(l);
        }
        placement_free(p);
    next:
        place_graph_free(g);
    }
    assert_true(copied > 20 && crowded > 20 && chains > 50);
}

/* ---- what the lanes leave out ---- */

/* Two accelerators, nodes that take no time, no edges. */
static struct place_graph *plain_graph(uint32_t nodes)
{
    struct place_graph *g;
    struct err e = {0};

    assert_int_equal(place_graph_new(nodes, 2, &g, &e), 0);
    g->type[0] = (struct place_type){"accelerator", 2, 1e9, false};
    g->type[1] = (struct place_type){"host", 0, INFINITY, true};
    for (uint32_t v = 0; v < nodes; v++) {
        g->id[v] = v;
        g->supported[v] = true;
    }
    return g;
}

/* A plan with all on the first device, looked at; look_away releases all three. */
static struct place_look *look_at(struct place_graph *g, struct placement **p)
{
    const struct place_rules rules = {0};
    struct place_look *l;
    struct err e = {0};

    assert_int_equal(placement_new(g, p, &e), 0);
    assert_int_equal(place_look_new(g, &rules, *p, &l, &e), 0);
    return l;
}

static void look_away(struct place_graph *g, struct placement *p, struct place_look *l)
{
    place_look_free(l);
    placement_free(p);
    place_graph_free(g);
}

/* Weights that are left out of the lanes: eight of node 8, which is wide enough, and one more. */
static void weights_are_left_out(void **state)
{
    enum { WEIGHTS = 9, NODES = WEIGHTS + 2 };
    uint32_t from[WEIGHTS + 2], to[WEIGHTS + 2];

    (void)state;
    for (uint32_t weights = WEIGHTS - 1; weights <= WEIGHTS; weights++) {
        struct placement *p;
        struct err e = {0};
        uint32_t nodes = weights + 2, edges = 0;
        struct place_graph *g = plain_graph(nodes);
        for (uint32_t v = 0; v < weights; v++, edges++) {
            from[edges] = v;
            to[edges] = weights;
        }
        from[edges] = 0; /* one has two users, of other colors: it stays */
        to[edges++] = weights + 1;
        from[edges] = weights;
        to[edges++] = weights + 1;
        assert_int_equal(place_graph_connect(g, from, to, edges, NULL, &e), 0);
        struct place_look *l = look_at(g, &p);
        bool wide = weights > PLACE_LOOK_WIDE;
        assert_int_equal(l->weights, wide ? weights - 1 : 0);
        assert_int_equal(l->all[0].at[l->levels], nodes);
        assert_int_equal(l->all[1].at[l->levels], wide ? 3 : nodes);
        for (uint32_t v = 0; v < nodes; v++)
            assert_int_equal(l->stands_for[v], wide && v && v < weights ? weights : v);
        for (uint32_t k = 0; k < l->all[1].at[l->levels]; k++)
            assert_int_equal(l->stands_for[l->all[1].row[k]], l->all[1].row[k]);
        look_away(g, p, l);
    }
}

/* A fork, chains of two nodes whose second reads a weight, a join; the last chain costs more. */
static void equal_chains_are_left_out(void **state)
{
    enum { CHAINS = 10, NODES = 3 * CHAINS + 2 };
    uint32_t from[NODES * 2], to[NODES * 2];

    (void)state;
    for (uint32_t chains = CHAINS - 2; chains <= CHAINS; chains++) {
        struct placement *p;
        struct err e = {0};
        uint32_t nodes = 3 * chains + 2, join = nodes - 1, edges = 0;
        struct place_graph *g = plain_graph(nodes);
        for (uint32_t v = 0; v < nodes; v++)
            g->time_ms[v] = v && v < join ? 1 + v % 3 : 1;
        g->time_ms[3 * chains - 1] = 9;
        for (uint32_t c = 0; c < chains; c++) {
            const uint32_t edge[][2] = {{0, 3 * c + 1},
                                        {3 * c + 1, 3 * c + 2},
                                        {3 * c + 3, 3 * c + 2}, /* the weight */
                                        {3 * c + 2, join}};
            for (uint32_t k = 0; k < 4; k++, edges++) {
                from[edges] = edge[k][0];
                to[edges] = edge[k][1];
            }
        }
        assert_int_equal(place_graph_connect(g, from, to, edges, NULL, &e), 0);
        struct place_look *l = look_at(g, &p);
        bool wide = chains > PLACE_LOOK_WIDE;
        assert_int_equal(l->weights, chains);
        assert_int_equal(l->equals, wide ? 2 * (chains - 2) : 0);
        for (uint32_t c = 0; c < chains; c++) {
            uint32_t shown = wide && c < chains - 1 ? 0 : c;
            assert_int_equal(l->stands_for[3 * c + 1], 3 * shown + 1);
            assert_int_equal(l->stands_for[3 * c + 2], 3 * shown + 2);
            assert_int_equal(l->stands_for[3 * c + 3], 3 * shown + 2);
        }
        assert_int_equal(l->all[0].at[l->levels], nodes);
        assert_int_equal(l->all[1].at[l->levels], wide ? 6 : 2 * chains + 2);
        look_away(g, p, l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sets),
        cmocka_unit_test(reductions_keep_plans),
        cmocka_unit_test(proofs),
        cmocka_unit_test(moves_keep_loads),
        cmocka_unit_test(cuts),
        cmocka_unit_test(least_cuts),
        cmocka_unit_test(looks),
        cmocka_unit_test(weights_are_left_out),
        cmocka_unit_test(equal_chains_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
