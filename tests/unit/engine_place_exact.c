/* Contiguous plans of random graphs against an enumeration of all assignments, by definition. */
#include "engine/place/contiguous.h"
#include "tests/unit/place_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

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

/* Limits that all ideals exceed: what is proven all the same is proven by a band. */
static void check_band(const struct place_graph *g, const struct place_rules *r, double best,
                       uint32_t *banded)
{
    struct place_asking a = {.rules = *r, .orders = 1};
    struct placement *p;
    struct err e = {0};

    for (a.limits.ideals = 4; a.limits.ideals < 40; a.limits.ideals += 5) {
        if (place_contiguous(g, &a, &p, &e))
            continue;
        assert_true(p->value_ms >= best - 1e-9 * (1 + best));
        if (p->proven && fabs(p->value_ms - best) > 1e-9 * (1 + best))
            fail_msg("%u ideals: %.17g proven by %s, best %.17g", a.limits.ideals, p->value_ms,
                     p->bound_by, best);
        *banded += !strcmp(p->bound_by, "all ideals that a better plan could use");
        placement_free(p);
    }
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
    uint32_t banded = 0;

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
                check_band(g, &all_rules[k], best[k], &banded);
        }
        place_graph_free(g);
    }
    print_message("%u plans proven by a band\n", banded);
    assert_true(banded > graphs / 50);
}

/* ---- two levels ---- */

static const struct place_rules server_rules[] = {
    {PLACE_SUM, false, false}, {PLACE_MAX, false, false}, {PLACE_DUPLEX, false, false}};
enum { SERVER_RULES = sizeof server_rules / sizeof *server_rules };

static void enumerate_servers(const struct place_graph *g, double best[SERVER_RULES])
{
    uint32_t of_color[SMALL_NODES] = {0}, device[SMALL_NODES];

    for (int i = 0; i < SERVER_RULES; i++)
        best[i] = INFINITY;
    do {
        struct slow_load load[SMALL_DEVICES];
        for (uint32_t v = 0; v < g->nodes; v++)
            device[v] = of_color[g->color[v]];
        slow_loads(g, device, load);
        if (!slow_fits(g, device, load) || !slow_contiguous_servers(g, device))
            continue;
        for (int i = 0; i < SERVER_RULES; i++)
            best[i] = fmin(best[i], slow_value(g, &server_rules[i], load, NULL));
    } while (next_assignment(of_color, g->colors, place_devices(g)));
}

static void check_servers(const struct place_graph *g, const struct place_rules *r, double best,
                          uint32_t *crossed)
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
    assert_true(slow_contiguous_servers(g, p->device));
    assert_true(fabs(slow_value(g, r, load, NULL) - best) <= 1e-9 * (1 + best));
    for (uint32_t v = 1; v < g->nodes; v++)
        *crossed += p->device[v] / 2 != p->device[0] / 2;
    placement_free(p);
}

static void random_servers(void **state)
{
    const char *asked = getenv("AUTOMAP_GRAPHS");
    uint32_t graphs = asked ? (uint32_t)strtoul(asked, NULL, 10) : 800, crossed = 0;
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 46, 0);
    for (uint32_t i = 0; i < graphs; i++) {
        struct small_shape s = {.nodes = 1 + rl_rng_below(&r, i % 50 ? 6 : 7),
                                .kinds = 1,
                                .servers = 2 + !rl_rng_below(&r, 8),
                                .training = rl_rng_below(&r, 2)};
        if (s.servers == 3 && s.nodes > 5)
            s.nodes = 5;
        struct place_graph *g = small_graph(&r, &s);
        double best[SERVER_RULES];
        g->type[1].count = 0;
        enumerate_servers(g, best);
        for (int k = 0; k < SERVER_RULES; k++)
            check_servers(g, &server_rules[k], best[k], &crossed);
        place_graph_free(g);
    }
    assert_true(crossed > graphs / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(random_servers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
