/* Plans of any sets and plans for latency, of random graphs, against an enumeration of all
 * assignments by definition; the state that moves change against loads worked out anew. */
#include "engine/place/cut_bound.h"
#include "engine/place/cut_tree.h"
#include "engine/place/fill_devices.h"
#include "engine/place/latency.h"
#include "engine/place/latency_path.h"
#include "engine/place/look.h"
#include "engine/place/place_cut.h"
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

static void moves_keep_loads(void **state)
{
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 44, 0);
    for (uint32_t i = 0; i < 300; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 8),
                                .kinds = 1,
                                .servers = i % 2 ? 2 : 0,
                                .training = rl_rng_below(&r, 2)};
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
static void looks(void **state)
{
    struct rl_rng r;
    uint32_t copied = 0, crowded = 0, chains = 0;

    (void)state;
    rl_rng_seed(&r, 51, 0);
    for (uint32_t i = 0; i < 300; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 8),
                                .kinds = 1,
                                .servers = i % 2 ? 2 : 0,
                                .training = rl_rng_below(&r, 2)};
        struct place_graph *g = small_graph(&r, &s);
        struct place_rules rules = {.apart = rl_rng_below(&r, 2)};
        struct place_price price[SMALL_DEVICES];
        struct place_look *l;
        struct placement *p;
        struct slow_load load[SMALL_DEVICES];
        struct err e = {0};
        uint32_t devices = place_devices(g), node = rl_rng_below(&r, g->nodes), device[SMALL_NODES];
        if (!devices || placement_new(g, &p, &e)) {
            place_graph_free(g);
            continue;
        }
        uint32_t of_color[SMALL_NODES];
        for (uint32_t c = 0; c < g->colors; c++)
            of_color[c] = rl_rng_below(&r, devices);
        for (uint32_t v = 0; v < g->nodes; v++)
            p->device[v] = of_color[g->color[v]];
        uint32_t copies[SMALL_DEVICES] = {1, 1, 1, 1, 1, 1, 1, 1};
        if (i % 4 == 0 && g->type[0].count > 1) {
            g->sync_ms_per_byte = 0.3;
            copies[0] = p->copies[0] = 2;
            copied++;
        }
        if (place_look_new(g, &rules, p, &l, &e)) {
            placement_free(p);
            place_graph_free(g);
            continue;
        }
        place_look_prices(l, node, price);
        for (uint32_t d = 0; d < devices; d++) {
            for (uint32_t v = 0; v < g->nodes; v++)
                device[v] = g->color[v] == g->color[node] ? d : p->device[v];
            slow_loads(g, device, load);
            assert_true(fabs(price[d].value_ms - slow_value(g, &rules, load, copies)) < 1e-9);
            bool full = copies[0] > 1 && slow_crowded(g, device, copies);
            assert_int_equal(!price[d].faults, slow_fits(g, device, load) && !full);
            crowded += full;
        }
        struct place_crossing c[SMALL_NODES];
        uint32_t crossings = place_look_crossings(l, c, SMALL_NODES), slow = 0;
        for (uint32_t u = 0; u < g->nodes; u++) {
            bool crosses = false, paid = !slow_is_host(g, p->device[u]);
            for (uint32_t k = g->user_at[u]; k < g->user_at[u + 1]; k++) {
                crosses |= p->device[g->user[k]] != p->device[u];
                paid |= p->device[g->user[k]] != p->device[u] &&
                        !slow_is_host(g, p->device[g->user[k]]);
            }
            slow += crosses && paid && g->send_ms[u] > 0;
        }
        assert_int_equal(crossings, slow);
        for (uint32_t k = 1; k < crossings; k++)
            assert_true(c[k - 1].ends * c[k - 1].ms >= c[k].ends * c[k].ms);
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
        chains += chain;
        assert_int_equal(place_look_is_chain(l, NULL) || g->training,
                         slow_contiguous(g, p->device) || g->training);
        place_look_free(l);
        placement_free(p);
        place_graph_free(g);
    }
    assert_true(copied > 20 && crowded > 20 && chains > 50);
}

/* ---- latency ---- */

/* Latency by definition: ends of nodes, repeated until nothing changes; a circle never ends. */
static double slow_latency(const struct place_graph *g, const uint32_t *device)
{
    uint32_t host = place_devices(g) - 1;
    double end[SMALL_NODES] = {0}, last = 0;

    for (uint32_t round = 0; round <= 2 * g->nodes; round++) {
        bool changed = false;
        for (uint32_t d = 0; d <= host; d++) {
            for (uint32_t v = 0; v < g->nodes; v++) {
                double start = 0, cost = 0;
                if (device[v] != d)
                    continue;
                for (uint32_t u = 0; u < g->nodes; u++) {
                    bool feeds = false, leaves = false, same = device[u] == d;
                    for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
                        uint32_t w = g->user[i];
                        feeds |= d == host ? w == v : device[w] == d;
                        leaves |= device[w] != d;
                    }
                    if (d == host ? feeds : feeds && !same) {
                        start = fmax(start, end[u]);
                        cost += d == host ? 0 : g->send_ms[u];
                    }
                    if (d != host && same)
                        cost += place_time(g, 0, u) + (leaves ? g->send_ms[u] : 0);
                }
                cost += d == host ? place_time(g, 1, v) : 0;
                changed |= start + cost > end[v] + 1e-12;
                end[v] = fmax(end[v], start + cost);
            }
        }
        if (!changed) {
            for (uint32_t v = 0; v < g->nodes; v++)
                last = fmax(last, end[v]);
            return last;
        }
    }
    return INFINITY;
}

static double best_latency(const struct place_graph *g)
{
    uint32_t of_color[SMALL_NODES] = {0}, device[SMALL_NODES];
    double best = INFINITY;

    do {
        struct slow_load load[SMALL_DEVICES];
        if (!is_canonical(g, of_color))
            continue;
        for (uint32_t v = 0; v < g->nodes; v++)
            device[v] = of_color[g->color[v]];
        slow_loads(g, device, load);
        if (slow_fits(g, device, load))
            best = fmin(best, slow_latency(g, device));
    } while (next_assignment(of_color, g->colors, place_devices(g)));
    return best;
}

/* One node a color, one piece an accelerator, one core: there are as many as needed. */
static void latencies(void **state)
{
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 45, 0);
    for (uint32_t i = 0, graphs = graphs_asked(400); i < graphs; i++) {
        struct small_shape s = {.nodes = 1 + rl_rng_below(&r, 7), .kinds = 1};
        struct place_graph *g = small_graph(&r, &s);
        struct place_latency l = {.seed = i};
        struct placement *p;
        struct err e = {0};
        for (uint32_t v = 0; v < g->nodes; v++)
            g->color[v] = v;
        g->colors = g->nodes;
        g->type[1].count = 1;
        double best = best_latency(g);
        assert_int_equal(place_latency_best(g, &l, &p, &e), 0);
        assert_true(p->proven);
        assert_true(fabs(p->value_ms - best) <= 1e-9 * (1 + best));
        assert_true(fabs(slow_latency(g, p->device) - best) <= 1e-9 * (1 + best));
        assert_true(place_latency_bound(g) <= best * (1 + 1e-9));
        placement_free(p);
        place_graph_free(g);
    }
}

/* Opponents: plans that keep all rules, worth what they say, never below the optimum; equal again;
 * no more plans priced than allowed. */
static void latency_opponents(void **state)
{
    static const char *const names[] = {"random", "local", "anneal"};
    struct rl_rng r;
    uint32_t met[3] = {0};

    (void)state;
    rl_rng_seed(&r, 53, 0);
    for (uint32_t i = 0; i < 100; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 6), .kinds = 1};
        struct place_graph *g = small_graph(&r, &s);
        for (uint32_t v = 0; v < g->nodes; v++)
            g->color[v] = v;
        g->colors = g->nodes;
        g->type[1].count = 1;
        double best = best_latency(g);
        for (uint32_t k = 0; k < 3; k++) {
            struct place_tally tally[2];
            struct placement *p[2];
            struct slow_load load[SMALL_DEVICES];
            struct err e = {0};
            int rc[2];
            for (uint32_t n = 0; n < 2; n++) {
                struct place_latency l = {.seed = i, .moves = 300, .tally = &tally[n]};
                place_tally_begin(&tally[n], 100);
                rc[n] = place_latency_opponent(g, &l, names[k], &p[n], &e);
            }
            assert_int_equal(rc[0], rc[1]);
            if (rc[0])
                continue;
            assert_true(tally[0].priced <= 100 && p[0]->value_ms == p[1]->value_ms);
            assert_true(tally[0].best_ms == p[0]->value_ms);
            slow_loads(g, p[0]->device, load);
            assert_true(slow_fits(g, p[0]->device, load));
            assert_true(fabs(slow_latency(g, p[0]->device) - p[0]->value_ms) < 1e-9);
            assert_true(p[0]->value_ms >= best * (1 - 1e-9));
            met[k] += p[0]->value_ms <= best * (1 + 1e-9);
            placement_free(p[0]);
            placement_free(p[1]);
        }
        place_graph_free(g);
    }
    print_message("optimum met by random %u, local %u, anneal %u of 100\n", met[0], met[1], met[2]);
    assert_true(met[0] > 30 && met[1] > 30 && met[2] > 30);
}

/* Several pieces of an accelerator, by definition: a piece starts when its inputs are made and the
 * one before it on its accelerator has ended. `place` by node: device * pieces + piece. */
static double slow_pieces(const struct place_graph *g, const uint32_t *place, uint32_t pieces)
{
    uint32_t host = (place_devices(g) - 1) * pieces;
    double end[64] = {0}, node_end[SMALL_NODES] = {0}, last = 0;

    for (uint32_t round = 0; round <= 3 * g->nodes + 3; round++) {
        bool changed = false;
        for (uint32_t k = 0; k < host; k++) {
            double start = k % pieces ? end[k - 1] : 0, cost = 0;
            for (uint32_t u = 0; u < g->nodes; u++) {
                bool feeds = false, leaves = false;
                for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
                    feeds |= place[g->user[i]] == k;
                    leaves |= place[g->user[i]] != k;
                }
                if (place[u] == k)
                    cost += place_time(g, 0, u) + (leaves ? g->send_ms[u] : 0);
                else if (feeds)
                    cost += g->send_ms[u], start = fmax(start, node_end[u]);
            }
            changed |= start + cost > end[k] + 1e-12;
            end[k] = fmax(end[k], start + cost);
            for (uint32_t v = 0; v < g->nodes; v++)
                node_end[v] = place[v] == k ? end[k] : node_end[v];
        }
        for (uint32_t v = 0; v < g->nodes; v++) {
            double start = 0;
            for (uint32_t u = 0; u < g->nodes; u++) {
                for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++)
                    start = g->user[i] == v ? fmax(start, node_end[u]) : start;
            }
            if (place[v] != host)
                continue;
            changed |= start + place_time(g, 1, v) > node_end[v] + 1e-12;
            node_end[v] = fmax(node_end[v], start + place_time(g, 1, v));
        }
        if (!changed) {
            for (uint32_t v = 0; v < g->nodes; v++)
                last = fmax(last, node_end[v]);
            return last;
        }
    }
    return INFINITY;
}

static double best_pieces(const struct place_graph *g, uint32_t pieces)
{
    uint32_t place[SMALL_NODES] = {0}, device[SMALL_NODES];
    uint32_t host = (place_devices(g) - 1) * pieces;
    double best = INFINITY;

    do {
        struct slow_load load[SMALL_DEVICES];
        for (uint32_t v = 0; v < g->nodes; v++)
            device[v] = place[v] / pieces;
        slow_loads(g, device, load);
        if (slow_fits(g, device, load))
            best = fmin(best, slow_pieces(g, place, pieces));
    } while (next_assignment(place, g->nodes, host + 1));
    return best;
}

/* The chain of blocks without a gap, each with what its nodes are by definition. */
static void check_path(const struct place_graph *g, const struct placement *p, double value)
{
    struct place_latency_step *s;
    uint32_t count;
    double now = 0;
    struct err e = {0};

    assert_int_equal(place_latency_path(g, p, &s, &count, &e), 0);
    assert_true(count > 0);
    for (uint32_t k = 0; k < count; k++) {
        bool host = slow_is_host(g, s[k].device);
        double compute = 0;
        uint32_t nodes = 0;
        for (uint32_t v = 0; v < g->nodes; v++) {
            if (host ? v != s[k].node : p->device[v] != s[k].device || p->piece[v] != s[k].piece)
                continue;
            compute += place_time(g, host, v);
            nodes++;
        }
        assert_int_equal(nodes, s[k].nodes);
        assert_true(fabs(compute - s[k].compute_ms) < 1e-9);
        assert_true(fabs(s[k].begin_ms - now) < 1e-9);
        now += s[k].fetch_ms + s[k].compute_ms + s[k].send_ms;
        assert_true(fabs(s[k].end_ms - now) < 1e-9 && (!host || s[k].fetch_ms + s[k].send_ms == 0));
    }
    assert_true(fabs(now - value) < 1e-9);
    free(s);
}

/* Every device's best piece for a node, and the time of the sample then. */
static void latency_looks(void **state)
{
    struct rl_rng r;
    uint32_t circles = 0, paths = 0;

    (void)state;
    rl_rng_seed(&r, 52, 0);
    for (uint32_t i = 0; i < 400; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 7), .kinds = 1};
        struct place_graph *g = small_graph(&r, &s);
        uint32_t q = 1 + rl_rng_below(&r, 3), most = 0, place[SMALL_NODES];
        struct place_rules rules = {0};
        struct place_price price[SMALL_DEVICES];
        struct place_look *l;
        struct placement *p;
        struct err e = {0};
        for (uint32_t v = 0; v < g->nodes; v++)
            g->color[v] = v;
        g->colors = g->nodes;
        g->type[1].count = 1;
        uint32_t devices = place_devices(g), node = rl_rng_below(&r, g->nodes);
        assert_int_equal(placement_new(g, &p, &e), 0);
        p->piece = mem_alloc(g->nodes * sizeof *p->piece);
        for (uint32_t k = 0; k < g->nodes; k++) { /* mostly forward, so that few are circles */
            uint32_t v = g->order[k], at = k * devices * q / g->nodes;
            at = rl_rng_below(&r, 3) ? at : rl_rng_below(&r, devices * q);
            p->device[v] = at / q;
            p->piece[v] = p->device[v] + 1 < devices ? at % q : 0;
            most = p->piece[v] > most ? p->piece[v] : most;
        }
        q = most + 1;
        for (uint32_t v = 0; v < g->nodes; v++)
            place[v] = p->device[v] * q + p->piece[v];
        double value = slow_pieces(g, place, q);
        assert_int_equal(place_latency_value(g, p, true, &p->value_ms, &e), 0);
        assert_true(isinf(value) ? isinf(p->value_ms) : fabs(p->value_ms - value) < 1e-9);
        if (isfinite(value)) {
            check_path(g, p, value);
            paths++;
        }
        if (isinf(value) || place_look_new(g, &rules, p, &l, &e)) {
            placement_free(p);
            place_graph_free(g);
            circles++;
            continue;
        }
        place_look_prices(l, node, price);
        for (uint32_t d = 0; d < devices; d++) {
            double best = INFINITY;
            uint32_t was = place[node];
            for (uint32_t k = 0; k < (d + 1 < devices ? q : 1); k++) {
                place[node] = d * q + k;
                if (d == p->device[node] && k != p->piece[node])
                    continue;
                best = fmin(best, slow_pieces(g, place, q));
            }
            place[node] = was;
            assert_true(isinf(best) ? isinf(price[d].value_ms)
                                    : fabs(price[d].value_ms - best) < 1e-9);
            circles += isinf(best) != 0;
        }
        uint32_t to = rl_rng_below(&r, devices);
        if (isfinite(price[to].value_ms)) {
            place_look_move(l, node, to);
            assert_true(place_look_value(l) == price[to].value_ms);
            assert_int_equal(place_look_device(l, node), to);
        }
        place_look_set(l, p);
        assert_true(fabs(place_look_value(l) - value) < 1e-9);
        place_look_free(l);
        placement_free(p);
        place_graph_free(g);
    }
    print_message("%u paths, %u circles\n", paths, circles);
    assert_true(circles > 50 && paths > 200);
}

static void pieces(void **state)
{
    struct rl_rng r;
    uint32_t won = 0;

    (void)state;
    rl_rng_seed(&r, 48, 0);
    for (uint32_t i = 0, graphs = graphs_asked(400); i < graphs; i++) {
        struct small_shape s = {.nodes = 1 + rl_rng_below(&r, 5), .kinds = 1};
        struct place_graph *g = small_graph(&r, &s);
        struct place_latency l = {.seed = i, .pieces = 2 + !rl_rng_below(&r, 4)};
        struct placement *p;
        struct err e = {0};
        for (uint32_t v = 0; v < g->nodes; v++)
            g->color[v] = v;
        g->colors = g->nodes;
        g->type[0].count = g->type[0].count > 2 ? 2 : g->type[0].count;
        g->type[1].count = 1;
        double best = best_pieces(g, l.pieces);
        assert_int_equal(place_latency_best(g, &l, &p, &e), 0);
        assert_true(p->proven);
        assert_true(fabs(p->value_ms - best) <= 1e-9 * (1 + best));
        won += best < best_latency(g) * (1 - 1e-9);
        placement_free(p);
        place_graph_free(g);
    }
    assert_true(won > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sets),         cmocka_unit_test(proofs),
        cmocka_unit_test(moves_keep_loads), cmocka_unit_test(cuts),
        cmocka_unit_test(least_cuts),       cmocka_unit_test(looks),
        cmocka_unit_test(latencies),        cmocka_unit_test(pieces),
        cmocka_unit_test(latency_looks),    cmocka_unit_test(latency_opponents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
