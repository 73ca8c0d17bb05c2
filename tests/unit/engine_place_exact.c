/* Contiguous plans of random graphs against an enumeration of all assignments, by definition. */
#include "engine/place/chain_hull.h"
#include "engine/place/chain_moves.h"
#include "engine/place/contiguous.h"
#include "engine/place/cut_tree.h"
#include "engine/place/family.h"
#include "engine/place/partial_placement.h"
#include "engine/place/place_cut.h"
#include "engine/place/prepare.h"
#include "tests/unit/place_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static const struct place_rules all_rules[] = {
    {PLACE_SUM, false, false}, {PLACE_MAX, false, false}, {PLACE_DUPLEX, false, false},
    {PLACE_SUM, true, false},  {PLACE_MAX, true, false},  {PLACE_DUPLEX, true, false},
    {PLACE_SUM, false, true},  {PLACE_MAX, true, true},
};
enum { RULES = sizeof all_rules / sizeof *all_rules };

/* Copies of the used accelerators, all ways the counts allow: the least value. */
static double best_copies(const struct place_graph *g, const struct place_rules *r,
                          const struct slow_load *load, uint32_t *copies, uint32_t d,
                          uint32_t *left)
{
    double best = INFINITY;

    if (d == place_devices(g))
        return slow_value(g, r, load, copies);
    uint32_t t = place_type_of(g, d);
    copies[d] = 1;
    if (!load[d].nodes || g->type[t].is_host)
        return best_copies(g, r, load, copies, d + 1, left);
    for (uint32_t more = 0; more <= left[t]; more++) {
        copies[d] = 1 + more;
        left[t] -= more;
        best = fmin(best, best_copies(g, r, load, copies, d + 1, left));
        left[t] += more;
    }
    return best;
}

static double slow_best(const struct place_graph *g, const struct place_rules *r,
                        const uint32_t *device)
{
    struct slow_load load[SMALL_DEVICES];
    uint32_t copies[SMALL_DEVICES], left[PLACE_TYPES_MAX] = {0};

    slow_loads(g, device, load);
    if (!r->replicate)
        return slow_value(g, r, load, NULL);
    for (uint32_t t = 0, d = 0; t < g->types; t++) {
        for (uint32_t i = 0; i < g->type[t].count; i++, d++)
            left[t] += !load[d].nodes;
    }
    return best_copies(g, r, load, copies, 0, left);
}

static void enumerate(const struct place_graph *g, double best[RULES])
{
    uint32_t of_color[SMALL_NODES] = {0}, device[SMALL_NODES], devices = place_devices(g);

    for (int i = 0; i < RULES; i++)
        best[i] = INFINITY;
    if (!devices)
        return;
    do {
        struct slow_load load[SMALL_DEVICES];
        if (!is_canonical(g, of_color))
            continue;
        for (uint32_t v = 0; v < g->nodes; v++)
            device[v] = of_color[g->color[v]];
        slow_loads(g, device, load);
        if (!slow_fits(g, device, load) || !slow_contiguous(g, device))
            continue;
        for (int i = 0; i < RULES; i++)
            best[i] = fmin(best[i], slow_best(g, &all_rules[i], device));
    } while (next_assignment(of_color, g->colors, devices));
}

struct proofs {
    uint32_t banded, in_tree, open;
};

/* Limits that all ideals exceed: what is proven all the same is proven by a band or a tree. */
static void check_limits(const struct place_graph *g, const struct place_rules *r, double best,
                         struct proofs *proofs)
{
    struct place_asking a = {.rules = *r, .orders = 1, .looks = 20000};
    struct slow_load load[SMALL_DEVICES];
    struct placement *p;
    struct err e = {0};

    for (a.limits.ideals = 4; a.limits.ideals < 40; a.limits.ideals += 5) {
        if (place_contiguous(g, &a, &p, &e))
            continue;
        assert_true(p->value_ms >= best - 1e-9 * (1 + best));
        assert_true(p->bound_ms <= best + 1e-9 * (1 + best));
        if (p->proven && fabs(p->value_ms - best) > 1e-9 * (1 + best))
            fail_msg("%u ideals: %.17g proven by %s, best %.17g", a.limits.ideals, p->value_ms,
                     p->bound_by, best);
        slow_loads(g, p->device, load);
        assert_true(slow_fits(g, p->device, load) && slow_contiguous(g, p->device));
        for (uint32_t d = 0; d < p->devices; d++)
            p->copies[d] = p->copies[d] ? p->copies[d] : 1;
        assert_true(fabs(slow_value(g, r, load, p->copies) - p->value_ms) <= 1e-9 * (1 + best));
        proofs->banded += !strcmp(p->bound_by, "all ideals that a better plan could use");
        proofs->in_tree += p->proven && !strcmp(p->bound_by, PLACE_CUT_TREE_BY);
        proofs->open += !p->proven;
        placement_free(p);
    }
}

/* The tree alone: from a value too large to the optimum and its proof; a bound that is none of
 * optima above it. Any sets may do better: *tighter counts where the bound is above their best. */
static void check_tree(const struct place_graph *g, double best, double any, uint32_t *tighter)
{
    struct place_rules rules = {0};
    struct place_cutting c = {.rules = &rules, .steps = 20000000};
    struct place_prepared *p;
    struct slow_load load[SMALL_DEVICES];
    uint32_t of_position[SMALL_NODES], device[SMALL_NODES];
    double value = isinf(best) ? 1e6 : 1.5 * best + 1, bound;
    bool found, proven;
    struct err e = {0};

    if (!place_devices(g) || place_prepare(g, &p, &e))
        return;
    c.chain = p;
    if (place_cut_tree_takes(p->nets, &rules)) {
        assert_int_equal(place_cut_tree(p->nets, &c, &value, of_position, &found, &proven, &e), 0);
        assert_true(proven && found == isfinite(best));
        for (uint32_t v = 0; v < g->nodes && found; v++)
            device[v] = of_position[p->nets->position_of[v]];
        if (found) {
            assert_true(fabs(value - best) <= 1e-9 * (1 + best));
            slow_loads(g, device, load);
            assert_true(slow_fits(g, device, load) && slow_contiguous(g, device));
            assert_int_equal(place_cut_tree_bound(p->nets, &c, 0, 2 * best + 1, &bound, &e), 0);
            assert_true(bound <= best * (1 + 1e-9));
            *tighter += bound > any * (1 + 1e-9);
        }
    }
    place_prepared_free(p);
}

/* Moves alone, from the chain of one order: a better chain is one, worth what it says. */
static void check_moves(const struct place_graph *g, double best, uint32_t *bettered, uint32_t *met)
{
    struct place_rules rules = {0};
    struct place_chain_moving moving = {.rules = &rules, .moves = 400};
    struct place_question q = {.rules = &rules, .below_ms = INFINITY, .other_ms = INFINITY};
    struct place_effort effort;
    struct place_prepared *p;
    struct place_family *f;
    struct place_chain *c = NULL, *after = NULL;
    struct placement *plan;
    struct slow_load load[SMALL_DEVICES];
    uint32_t order[SMALL_NODES];
    struct err e = {0};

    if (place_prepare(g, &p, &e))
        return;
    assert_int_equal(place_depth_first(p, 3, order, &e), 0);
    assert_int_equal(place_family_prefixes(p, order, &f, &e), 0);
    assert_int_equal(place_program(p, f, &q, &c, &effort, &e), 0);
    if (c) {
        assert_int_equal(place_chain_move(p, &moving, c, &after, &e), 0);
        assert_true(!after || after->value_ms < c->value_ms);
        *bettered += after != NULL;
        *met += fmin(c->value_ms, after ? after->value_ms : INFINITY) <= best + 1e-9 * (1 + best);
    }
    if (after) {
        assert_int_equal(placement_of_chain(p, after, &plan, &e), 0);
        slow_loads(g, plan->device, load);
        assert_true(slow_fits(g, plan->device, load) && slow_contiguous(g, plan->device));
        assert_true(fabs(slow_value(g, &rules, load, NULL) - after->value_ms) <= 1e-9 * (1 + best));
        placement_free(plan);
    }
    place_chain_free(c);
    place_chain_free(after);
    place_family_free(f);
    place_prepared_free(p);
}

static void check_rule(const struct place_graph *g, const struct place_rules *r, double best)
{
    struct place_asking a = {.rules = *r};
    struct placement *p;
    struct slow_load load[SMALL_DEVICES];
    struct err e = {0};
    int rc = place_contiguous(g, &a, &p, &e);

    if (isinf(best)) {
        assert_int_equal(rc, ERR_INFEASIBLE);
        return;
    }
    assert_int_equal(rc, 0);
    assert_true(p->proven);
    assert_true(fabs(p->value_ms - best) <= 1e-9 * (1 + best));
    slow_loads(g, p->device, load);
    assert_true(slow_fits(g, p->device, load));
    assert_true(slow_contiguous(g, p->device));
    for (uint32_t d = 0; d < p->devices; d++)
        p->copies[d] = p->copies[d] ? p->copies[d] : 1;
    assert_true(fabs(slow_value(g, r, load, p->copies) - best) <= 1e-9 * (1 + best));
    assert_true(place_work_bound(g, r) <= best * (1 + 1e-9));
    placement_free(p);
}

static void random_graphs(void **state)
{
    const char *asked = getenv("AUTOMAP_GRAPHS");
    uint32_t graphs = asked ? (uint32_t)strtoul(asked, NULL, 10) : 2500;
    struct rl_rng r;
    struct proofs proofs = {0};

    (void)state;
    rl_rng_seed(&r, 42, 0);
    for (uint32_t i = 0; i < graphs; i++) {
        struct small_shape s = {.nodes = 1 + rl_rng_below(&r, i % 50 ? 7 : SMALL_NODES),
                                .kinds = 1 + !rl_rng_below(&r, 3),
                                .training = rl_rng_below(&r, 2)};
        struct place_graph *g = small_graph(&r, &s);
        double best[RULES];
        g->sync_ms_per_byte = rl_rng_below(&r, 2) ? rl_rng_unit(&r) : 0;
        enumerate(g, best);
        for (int k = 0; k < RULES; k++) {
            check_rule(g, &all_rules[k], best[k]);
            if (i % 3 == 0 && isfinite(best[k]))
                check_limits(g, &all_rules[k], best[k], &proofs);
        }
        place_graph_free(g);
    }
    print_message("%u plans proven by a band, %u by a tree, %u open\n", proofs.banded,
                  proofs.in_tree, proofs.open);
    assert_true(proofs.banded > graphs / 50 && proofs.in_tree > graphs / 50);
}

/* The least of any sets. */
static double best_of_any(const struct place_graph *g)
{
    uint32_t of_color[SMALL_NODES] = {0}, device[SMALL_NODES];
    struct place_rules rules = {0};
    double best = INFINITY;

    do {
        struct slow_load load[SMALL_DEVICES];
        for (uint32_t v = 0; v < g->nodes; v++)
            device[v] = of_color[g->color[v]];
        slow_loads(g, device, load);
        if (is_canonical(g, of_color) && slow_fits(g, device, load))
            best = fmin(best, slow_value(g, &rules, load, NULL));
    } while (place_devices(g) && next_assignment(of_color, g->colors, place_devices(g)));
    return best;
}

/* What proves and betters chains where ideals are too many, on small graphs, pins among them. */
static void trees_and_moves(void **state)
{
    const char *asked = getenv("AUTOMAP_GRAPHS");
    uint32_t graphs = asked ? (uint32_t)strtoul(asked, NULL, 10) : 1500;
    uint32_t tighter = 0, bettered = 0, met = 0;
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 59, 0);
    for (uint32_t i = 0; i < graphs; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 7),
                                .kinds = 1 + !rl_rng_below(&r, 3),
                                .training = rl_rng_below(&r, 2)};
        struct place_graph *g = small_graph(&r, &s);
        struct small_pin pin[SMALL_PINS];
        double best[RULES];
        small_pins(g, &r, i % 4 ? 0 : 2, pin);
        enumerate(g, best);
        check_tree(g, best[0], best_of_any(g), &tighter);
        check_moves(g, best[0], &bettered, &met);
        place_graph_free(g);
    }
    print_message("bounds above the best of any sets %u; chains bettered %u, optima %u of %u\n",
                  tighter, bettered, met, graphs);
    assert_true(tighter > graphs / 100 && bettered > graphs / 25 && met > graphs / 2);
}

enum { LONG = 1200 };

/* A chain of 1,200 operators, three of which work 10 ms, on two devices. */
static struct place_graph *long_graph(void)
{
    uint32_t from[LONG], to[LONG];
    struct place_graph *g;
    struct err e = {0};

    assert_int_equal(place_graph_new(LONG, 2, &g, &e), 0);
    g->type[0] = (struct place_type){"accelerator", 2, 1e9, false};
    g->type[1] = (struct place_type){"host", 0, INFINITY, true};
    for (uint32_t v = 0; v < LONG; v++) {
        g->id[v] = v;
        g->time_ms[v] = v == 0 || v == LONG / 2 || v == LONG - 1 ? 10 : 0;
        g->send_ms[v] = 0.5;
        g->supported[v] = true;
        from[v] = v;
        to[v] = v + 1;
    }
    assert_int_equal(place_graph_connect(g, from, to, LONG - 1, NULL, &e), 0);
    return g;
}

/* Two of the three share a device, and one output of 0.5 ms crosses. Too many positions for a list
 * of ideals; the tree proves it. */
static void tree_takes_large_graphs(void **state)
{
    struct place_asking a = {.looks = 20000000};
    struct place_graph *g = long_graph();
    struct placement *p;
    struct err e = {0};

    (void)state;
    assert_int_equal(place_contiguous(g, &a, &p, &e), 0);
    assert_true(p->positions > PLACE_POSITIONS_MAX && p->proven);
    assert_true(fabs(p->value_ms - 20.5) < 1e-9);
    assert_string_equal(p->bound_by, PLACE_CUT_TREE_BY);
    placement_free(p);
    place_graph_free(g);
}

static struct place_graph *wide_graph(uint32_t nodes)
{
    struct place_graph *g;
    struct err e = {0};

    assert_int_equal(place_graph_new(nodes, 2, &g, &e), 0);
    g->type[0] = (struct place_type){"accelerator", 4, 1e9, false};
    g->type[1] = (struct place_type){"host", 0, INFINITY, true};
    for (uint32_t v = 0; v < nodes; v++) {
        g->id[v] = v;
        g->time_ms[v] = 1 + v % 7;
        g->supported[v] = true;
    }
    assert_int_equal(place_graph_connect(g, NULL, NULL, 0, NULL, &e), 0);
    return g;
}

/* Of 400 operators without an edge there are 80,000 ideals of two, 10 million of three: the limits
 * are kept before a size is whole. A beam is as narrow as its steps ask, or none. */
static void wide_graphs_keep_limits(void **state)
{
    enum { WIDE = 400 };
    struct place_limits list = {.ideals = 100000}, beam = {.ideals = UINT32_MAX, .width = 50};
    struct place_graph *g = wide_graph(WIDE);
    struct place_prepared *p;
    struct place_family *f;
    struct rusage before, used;
    uint32_t order[WIDE], kept[2];
    struct err e = {0};

    (void)state;
    assert_int_equal(place_prepare(g, &p, &e), 0);
    assert_int_equal(p->nets->positions, WIDE);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(place_family_all(p, &list, NULL, &f, &e), ERR_LIMIT);
    getrusage(RUSAGE_SELF, &used);
    assert_true(used.ru_maxrss - before.ru_maxrss < 1 << 18); /* KiB */
    assert_int_equal(place_depth_first(p, 1, order, &e), 0);
    for (int k = 0; k < 2; k++) {
        beam.steps = k ? 500000 : 0;
        assert_int_equal(place_family_beam(p, order, &beam, &f, &e), 0);
        uint64_t prefix[WIDE / 64 + 1] = {0};
        uint32_t next = 0;
        for (uint32_t i = 0; i < f->count && next <= WIDE; i++) {
            if (memcmp(f->set + (size_t)i * f->words, prefix, sizeof prefix) != 0)
                continue;
            if (next < WIDE)
                prefix[order[next] / 64] |= (uint64_t)1 << (order[next] % 64);
            next++;
        }
        assert_int_equal(next, WIDE + 1); /* all prefixes of the order are in it */
        kept[k] = f->count;
        place_family_free(f);
    }
    assert_true(kept[1] > WIDE + 1 && kept[1] < kept[0] / 4);
    beam.steps = 10000;
    assert_int_equal(place_family_beam(p, order, &beam, &f, &e), ERR_LIMIT);
    place_prepared_free(p);
    place_graph_free(g);
}

/* What a device is sure to take that computes 3 and moves 8, and who may not be beside whom. */
static void partial_by_hand(void **state)
{
    (void)state;
    static const struct {
        enum place_communication communication;
        double least, least_much; /* with 3 and with 9 to compute */
    } rows[] = {{PLACE_SUM, 11, 17}, {PLACE_MAX, 8, 9}, {PLACE_DUPLEX, 4, 9}};
    struct place_graph *g = mem_alloc(sizeof *g);
    uint8_t allowed[3] = {3, 3, 3};
    uint32_t fixed[3] = {PLACE_NONE, PLACE_NONE, PLACE_NONE}, apart[2] = {0, 2};
    uint32_t type_of[3] = {0, 0, 1}, device[3] = {0, PLACE_NONE, 1};
    double bytes[3] = {4, 4, 4};
    struct place_load load[3] = {{.bytes = 4}, {.bytes = 4}};
    struct place_nets nets = {.graph = g,
                              .positions = 3,
                              .allowed = allowed,
                              .fixed = fixed,
                              .apart = apart,
                              .aparts = 1,
                              .bytes = bytes};
    struct place_rules rules = {0};
    struct place_partial t = {
        .n = &nets, .rules = &rules, .type_of = type_of, .device = device, .load = load};

    g->types = 2;
    g->type[0].count = 2;
    g->type[0].memory_bytes = 10;
    g->type[1].is_host = true;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        rules.communication = rows[n].communication;
        assert_true(place_partial_least(&t, 3, 8) == rows[n].least);
        assert_true(place_partial_least(&t, 9, 8) == rows[n].least_much);
    }
    assert_true(place_partial_allows(&t, 1, 0) && place_partial_allows(&t, 1, 1));
    assert_false(place_partial_allows(&t, 0, 1)); /* where its other is */
    assert_false(place_partial_allows(&t, 2, 0));
    bytes[1] = 7;
    assert_false(place_partial_allows(&t, 1, 0));
    assert_true(place_partial_allows(&t, 1, 2)); /* the host's memory is no limit */
    free(g);
}

/* Three devices in a circle, of which no two are: a before b by an edge, b before c, c before a. */
static void hull_sees_circles(void **state)
{
    (void)state;
    enum { POSITIONS = 6, DEVICES = 3 };
    uint32_t after_at[] = {0, 1, 1, 2, 2, 3, 3}, after[] = {1, 3, 5};
    uint32_t before_at[] = {0, 0, 1, 1, 2, 2, 3}, before[] = {0, 2, 4};
    struct place_nets nets = {.positions = POSITIONS};
    struct place_prepared p = {.nets = &nets,
                               .after_at = after_at,
                               .after = after,
                               .before_at = before_at,
                               .before = before};
    uint32_t device[POSITIONS] = {0, 1, 1, 2, 2, 0};
    struct place_hull *h;
    struct err e;

    assert_int_equal(place_hull_new(&p, &h, &e), 0);
    assert_false(place_hull_set(h, device, DEVICES));
    device[5] = PLACE_NONE; /* open: no circle yet, and it may not be before the first */
    assert_true(place_hull_set(h, device, DEVICES));
    uint8_t where[POSITIONS];
    memset(where, 99, sizeof where);
    place_hull_add(h, 0, where);
    assert_int_equal(where[0], PLACE_CUT_IN);
    for (uint32_t n = 1; n < POSITIONS; n++) /* behind a, by way of b, all are out */
        assert_int_equal(where[n], PLACE_CUT_OUT);
    place_hull_free(h);
}

/* However little work is allowed, there is a plan: of one server and of two, of a graph that is
 * coarsened and of one that is not. What comes behind it in an exact search has limits of its own.
 */
static void any_budget_has_a_plan(void **state)
{
    static const uint64_t budgets[] = {1, 5, 7, 1000, 100000};
    static const struct place_rules rules[] = {{0}, {.replicate = true}, {.apart = true}};
    struct place_graph *graphs[] = {long_graph(), wide_graph(60)};
    double far_ms[LONG];
    struct placement *p;
    struct err e = {0};

    (void)state;
    for (uint32_t v = 0; v < LONG; v++)
        far_ms[v] = 2;
    for (size_t i = 0; i < 2 * 3 * 5; i++) {
        struct place_graph g = *graphs[i % 2];
        struct place_asking a = {
            .rules = rules[i / 2 % 3], .looks = budgets[i / 6], .dpl_only = true};
        for (uint32_t servers = 1; servers <= 2; servers++) {
            g.per_server = servers == 2 ? g.type[0].count / 2 : 0;
            g.far_ms = servers == 2 ? far_ms : NULL;
            assert_int_equal(place_contiguous(&g, &a, &p, &e), 0);
            assert_true(!p->faults && p->bound_ms <= p->value_ms * (1 + 1e-9));
            placement_free(p);
        }
    }
    place_graph_free(graphs[0]);
    place_graph_free(graphs[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),           cmocka_unit_test(trees_and_moves),
        cmocka_unit_test(tree_takes_large_graphs), cmocka_unit_test(wide_graphs_keep_limits),
        cmocka_unit_test(any_budget_has_a_plan),   cmocka_unit_test(hull_sees_circles),
        cmocka_unit_test(partial_by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
