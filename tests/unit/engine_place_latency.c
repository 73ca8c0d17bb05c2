/* Plans for latency, of random graphs, against an enumeration of all plans by definition; what a
 * plan waits for, and what a node would cost elsewhere. */
#include "engine/place/latency.h"
#include "engine/place/latency_path.h"
#include "engine/place/look.h"
#include "tests/unit/place_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t graphs_asked(uint32_t usual)
{
    const char *asked = getenv("AUTOMAP_GRAPHS");

    return asked ? (uint32_t)strtoul(asked, NULL, 10) : usual;
}

static void drop_colors(struct place_graph *g)
{
    for (uint32_t v = 0; v < g->nodes; v++)
        g->color[v] = v;
    g->colors = g->nodes;
}

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
        drop_colors(g);
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
        drop_colors(g);
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
 * one before it on its accelerator has ended. `place` by node: device * pieces + piece. A circle
 * has no longest chain of blocks that wait for each other, whatever they take. */
struct slow_end {
    double ms;
    uint32_t waits; /* blocks one after the other up to here */
};

static struct slow_end later(struct slow_end a, struct slow_end b)
{
    return (struct slow_end){fmax(a.ms, b.ms), a.waits > b.waits ? a.waits : b.waits};
}

/* The end of piece k, of which the one before ends at `before`. */
static struct slow_end end_of_piece(const struct place_graph *g, const uint32_t *place, uint32_t k,
                                    uint32_t pieces, struct slow_end before,
                                    const struct slow_end *node)
{
    double cost = 0;
    uint32_t nodes = 0;

    for (uint32_t u = 0; u < g->nodes; u++) {
        bool feeds = false, leaves = false;
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            feeds |= place[g->user[i]] == k;
            leaves |= place[g->user[i]] != k;
        }
        if (place[u] == k) {
            cost += place_time(g, place_type_of(g, k / pieces), u) + (leaves ? g->send_ms[u] : 0);
            nodes++;
        } else if (feeds) {
            cost += g->send_ms[u];
            before = later(before, node[u]);
        }
    }
    return (struct slow_end){before.ms + cost, before.waits + (nodes > 0)};
}

static struct slow_end end_on_host(const struct place_graph *g, uint32_t v,
                                   const struct slow_end *node)
{
    struct slow_end start = {0, 0};

    for (uint32_t u = 0; u < g->nodes; u++) {
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++)
            start = g->user[i] == v ? later(start, node[u]) : start;
    }
    return (struct slow_end){start.ms + place_time(g, g->types - 1, v), start.waits + 1};
}

/* True when it is later than what was known. */
static bool put_off(struct slow_end *known, struct slow_end now)
{
    bool changed = now.ms > known->ms + 1e-12 || now.waits > known->waits;

    *known = later(*known, now);
    return changed;
}

static double slow_pieces(const struct place_graph *g, const uint32_t *place, uint32_t pieces)
{
    uint32_t host = (place_devices(g) - 1) * pieces;
    struct slow_end end[64] = {{0, 0}}, node[SMALL_NODES] = {{0, 0}}, last = {0, 0};

    for (uint32_t round = 0; round <= 3 * g->nodes + 3; round++) {
        bool changed = false;
        for (uint32_t k = 0; k < host; k++) {
            struct slow_end before = k % pieces ? end[k - 1] : (struct slow_end){0, 0};
            changed |= put_off(&end[k], end_of_piece(g, place, k, pieces, before, node));
            for (uint32_t v = 0; v < g->nodes; v++)
                node[v] = place[v] == k ? end[k] : node[v];
        }
        for (uint32_t v = 0; v < g->nodes; v++)
            changed |= place[v] == host && put_off(&node[v], end_on_host(g, v, node));
        if (!changed) {
            for (uint32_t v = 0; v < g->nodes; v++)
                last = later(last, node[v]);
            return last.ms;
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

/* Nodes of one color share a device. Is some color in several pieces? */
static bool check_colors(const struct place_graph *g, const struct placement *p)
{
    bool parted = false;

    for (uint32_t v = 0; v < g->nodes; v++) {
        for (uint32_t u = 0; u < v; u++) {
            if (g->color[u] != g->color[v])
                continue;
            assert_int_equal(p->device[u], p->device[v]);
            parted |= p->piece[u] != p->piece[v];
        }
    }
    return parted;
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

/* Places for all nodes, mostly forward, so that few wait for each other; as a plan of at most *q
 * pieces. */
static struct placement *some_places(const struct place_graph *g, struct rl_rng *r, uint32_t *place,
                                     uint32_t *q)
{
    uint32_t devices = place_devices(g), most = 0;
    struct placement *p;
    struct err e = {0};

    assert_int_equal(placement_new(g, &p, &e), 0);
    p->piece = mem_alloc(g->nodes * sizeof *p->piece);
    for (uint32_t k = 0; k < g->nodes; k++) {
        uint32_t v = g->order[k], at = k * devices * *q / g->nodes;
        at = rl_rng_below(r, 3) ? at : rl_rng_below(r, devices * *q);
        p->device[v] = at / *q;
        p->piece[v] = p->device[v] + 1 < devices ? at % *q : 0;
        most = p->piece[v] > most ? p->piece[v] : most;
    }
    *q = most + 1;
    for (uint32_t v = 0; v < g->nodes; v++)
        place[v] = p->device[v] * *q + p->piece[v];
    return p;
}

/* Every device's best piece for a node, and the time of the sample then. Returns how many devices
 * would close a circle. */
static uint32_t check_look(const struct place_graph *g, const struct placement *p, uint32_t *place,
                           uint32_t q, struct rl_rng *r)
{
    uint32_t devices = place_devices(g), node = rl_rng_below(r, g->nodes), circles = 0;
    uint32_t to = rl_rng_below(r, devices);
    struct place_rules rules = {0};
    struct place_price price[SMALL_DEVICES];
    struct place_look *l;
    struct err e = {0};

    if (place_look_new(g, &rules, p, &l, &e))
        return 1;
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
        assert_true(isinf(best) ? isinf(price[d].value_ms) : fabs(price[d].value_ms - best) < 1e-9);
        circles += isinf(best) != 0;
    }
    if (isfinite(price[to].value_ms)) {
        place_look_move(l, node, to);
        assert_true(place_look_value(l) == price[to].value_ms);
        assert_int_equal(place_look_device(l, node), to);
    }
    place_look_set(l, p);
    assert_true(fabs(place_look_value(l) - p->value_ms) < 1e-9);
    place_look_free(l);
    return circles;
}

static void looks(void **state)
{
    struct rl_rng r;
    uint32_t circles = 0, paths = 0;

    (void)state;
    rl_rng_seed(&r, 52, 0);
    for (uint32_t i = 0; i < 400; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 7), .kinds = 1};
        struct place_graph *g = small_graph(&r, &s);
        uint32_t q = 1 + rl_rng_below(&r, 3), place[SMALL_NODES];
        struct err e = {0};
        drop_colors(g);
        g->type[1].count = 1;
        struct placement *p = some_places(g, &r, place, &q);
        double value = slow_pieces(g, place, q);
        assert_int_equal(place_latency_value(g, p, true, &p->value_ms, &e), 0);
        assert_true(isinf(value) ? isinf(p->value_ms) : fabs(p->value_ms - value) < 1e-9);
        if (isfinite(value)) {
            check_path(g, p, value);
            circles += check_look(g, p, place, q, &r);
            paths++;
        } else {
            circles++;
        }
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
        drop_colors(g);
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

/* Colors and pins: nodes share a device, not a piece, and what stands between them may be on
 * another. Optimum and feasibility are those of all plans. */
static void shared_devices(void **state)
{
    struct rl_rng r;
    uint32_t kept_pins = 0, colored = 0, none = 0, parted = 0, graphs = graphs_asked(2500);

    (void)state;
    rl_rng_seed(&r, 57, 0);
    for (uint32_t i = 0; i < graphs; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 5), .kinds = 1 + i % 2};
        struct place_graph *g = small_graph(&r, &s);
        struct place_latency l = {.seed = i, .pieces = 1 + rl_rng_below(&r, s.nodes > 4 ? 2 : 3)};
        struct small_pin pin[SMALL_PINS];
        struct placement *p;
        struct err e = {0};
        for (uint32_t t = 0; t < s.kinds; t++)
            g->type[t].count = g->type[t].count > 3 - s.kinds ? 3 - s.kinds : g->type[t].count;
        g->type[s.kinds].count = 1;
        uint32_t pins = small_pins(g, &r, i % 3, pin), host = place_devices(g) - 1;
        double best = best_pieces(g, l.pieces);
        int rc = place_latency_best(g, &l, &p, &e);
        assert_int_equal(rc, isinf(best) ? ERR_INFEASIBLE : 0);
        none += isinf(best) != 0;
        if (!rc) {
            assert_true(p->proven && fabs(p->value_ms - best) <= 1e-9 * (1 + best));
            assert_true(small_pins_kept(pin, pins, host, p->device));
            parted += check_colors(g, p);
            kept_pins += pins > 0;
            colored += g->colors < g->nodes;
            placement_free(p);
        }
        place_graph_free(g);
    }
    print_message("%u with pins, %u with colors, %u of them in pieces, %u without a plan\n",
                  kept_pins, colored, parted, none);
    assert_true(kept_pins > graphs / 3 && colored > graphs / 4 && parted > graphs / 100 &&
                none > graphs / 100);
}

/* A chain of which the ends are pinned to A and the middle to B: two pieces of A. */
static void check_chain(uint32_t nodes, uint32_t pieces)
{
    uint32_t from[32], to[32];
    struct place_latency l = {.pieces = pieces, .moves = 600};
    struct place_graph *g;
    struct placement *p;
    struct err e = {0};

    assert_int_equal(place_graph_new(nodes, 2, &g, &e), 0);
    g->type[0] = (struct place_type){"a", 2, 10, false};
    g->type[1] = (struct place_type){"host", 1, INFINITY, true};
    for (uint32_t v = 0; v < nodes; v++) {
        g->id[v] = v;
        g->time_ms[v] = 1;
        g->time_ms[nodes + v] = 9;
        g->send_ms[v] = 0.25;
        g->supported[v] = true;
        from[v] = v;
        to[v] = v + 1;
    }
    assert_int_equal(place_graph_connect(g, from, to, nodes - 1, NULL, &e), 0);
    assert_int_equal(place_pin_on(g, 0, 0, &e) || place_pin_on(g, nodes - 1, 0, &e), 0);
    assert_int_equal(place_pin_on(g, nodes / 2, 1, &e), 0);
    assert_int_equal(place_latency_best(g, &l, &p, &e), pieces == 1 ? ERR_INFEASIBLE : 0);
    if (pieces > 1) {
        assert_true(fabs(p->value_ms - nodes - 1) < 1e-9 && p->piece[0] < p->piece[nodes - 1]);
        placement_free(p);
    }
    place_graph_free(g);
}

static void there_and_back(void **state)
{
    (void)state;
    check_chain(3, 1);
    check_chain(3, 2);
    check_chain(20, 1);
    check_chain(20, 2);
}

/* A search prices as many plans as it is told to. */
static void moves_are_plans(void **state)
{
    static const char *const names[] = {"random", "local", "anneal"};
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 58, 0);
    for (uint32_t i = 0; i < 30; i++) {
        struct small_shape s = {.nodes = 8, .kinds = 1};
        struct place_graph *g = small_graph(&r, &s);
        g->type[0] = (struct place_type){"kind", 2, 1000, false};
        g->type[1].count = 1;
        for (uint32_t k = 0; k < 3; k++) {
            struct place_latency l = {.seed = i, .moves = k ? 700 : 15000};
            struct placement *p;
            struct err e = {0};
            assert_int_equal(place_latency_opponent(g, &l, names[k], &p, &e), 0);
            assert_true(k == 1 ? p->moves <= l.moves : p->moves == l.moves);
            placement_free(p);
        }
        place_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies),       cmocka_unit_test(pieces),
        cmocka_unit_test(looks),           cmocka_unit_test(latency_opponents),
        cmocka_unit_test(shared_devices),  cmocka_unit_test(there_and_back),
        cmocka_unit_test(moves_are_plans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
