/* Pins: kept by every algorithm, the optimum under them equal to an enumeration, clashes named. */
#include "engine/place/contiguous.h"
#include "engine/place/place_pins.h"
#include "engine/place/solve.h"
#include "tests/unit/place_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void enumerate(const struct place_graph *g, double *contiguous, double *any)
{
    uint32_t of_color[SMALL_NODES] = {0}, device[SMALL_NODES];
    const struct place_rules rules = {0};

    *contiguous = *any = INFINITY;
    do {
        struct slow_load load[SMALL_DEVICES];
        for (uint32_t v = 0; v < g->nodes; v++)
            device[v] = of_color[g->color[v]];
        slow_loads(g, device, load);
        if (!slow_fits(g, device, load))
            continue;
        double value = slow_value(g, &rules, load, NULL);
        *any = fmin(*any, value);
        if (slow_contiguous(g, device))
            *contiguous = fmin(*contiguous, value);
    } while (next_assignment(of_color, g->colors, place_devices(g)));
}

static bool keeps_pins(const struct place_graph *g, const struct placement *p)
{
    struct slow_load load[SMALL_DEVICES];
    struct place_graph free_memory = *g; /* baselines may exceed memory, and only that */

    for (uint32_t t = 0; t < g->types; t++)
        free_memory.type[t].memory_bytes = INFINITY;
    slow_loads(g, p->device, load);
    return slow_fits(&free_memory, p->device, load);
}

/* Every algorithm on one graph. */
static void check(const struct place_graph *g, const struct small_pin *pin, uint32_t pins,
                  bool any_sets, double best, uint32_t *answers)
{
    uint32_t first_host = place_devices(g) - g->type[g->types - 1].count;

    struct place_job job = {.any_sets = any_sets, .moves = 3000};

    for (const struct place_algorithm *a = place_algorithms; a->name; a++) {
        struct placement *p;
        struct err e = {0};
        if (!strcmp(a->name, "scotch")) /* it may not be installed */
            continue;
        job.moves = !strcmp(a->name, "dqn") ? 20 : 3000;
        int rc = place_solve(g, &job, a->name, &p, &e);
        bool is_exact = !strcmp(a->name, "exact");
        if (rc) {
            assert_int_equal(rc, ERR_INFEASIBLE);
            assert_true(!is_exact || isinf(best));
            continue;
        }
        if (is_exact) {
            assert_true(p->proven && fabs(p->value_ms - best) <= 1e-9 * (1 + best));
            assert_int_equal(p->faults, 0);
        }
        if (!(keeps_pins(g, p) || (p->faults & PLACE_NOT_APART && !is_exact)))
            printf("%s any %d best %g faults %u devices %u types %u\n", a->name, any_sets, best,
                   p->faults, place_devices(g), g->types);
        assert_true(keeps_pins(g, p) && small_pins_kept(pin, pins, first_host, p->device));
        ++*answers;
        placement_free(p);
    }
}

static void random_pins(void **state)
{
    const char *asked = getenv("AUTOMAP_GRAPHS");
    uint32_t graphs = asked ? (uint32_t)strtoul(asked, NULL, 10) : 500;
    uint32_t kept = 0, answers = 0, possible = 0;
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 49, 0);
    for (uint32_t i = 0; i < graphs; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 5),
                                .kinds = 1 + !rl_rng_below(&r, 4),
                                .training = rl_rng_below(&r, 2)};
        struct place_graph *g = small_graph(&r, &s);
        struct small_pin pin[SMALL_PINS];
        double contiguous, any;
        uint32_t pins = small_pins(g, &r, 1 + rl_rng_below(&r, 4), pin);
        kept += pins;
        if (place_devices(g)) {
            enumerate(g, &contiguous, &any);
            check(g, pin, pins, false, contiguous, &answers);
            check(g, pin, pins, true, any, &answers);
            possible += isfinite(contiguous) ? 1 : 0;
        }
        place_graph_free(g);
    }
    print_message("%u pins, %u of %u graphs with a plan, %u answers\n", kept, possible, graphs,
                  answers);
    assert_true(kept > graphs && possible > graphs / 3 && answers > 14 * possible);
}

/* ---- latency ---- */

/* All is kept but for pairs that are both on the host: there are as many cores as needed. */
static bool are_on_cores(const struct place_graph *g, const struct placement *p)
{
    struct place_graph h = *g; /* shares all arrays */
    uint32_t apart[2 * PLACE_PINS_MAX], host = place_devices(g) - 1;

    h.apart = apart;
    h.aparts = 0;
    for (uint32_t i = 0; i < g->aparts; i++) {
        if (p->device[g->apart[2 * i]] == host && p->device[g->apart[2 * i + 1]] == host)
            continue;
        apart[2 * h.aparts] = g->apart[2 * i];
        apart[2 * h.aparts++ + 1] = g->apart[2 * i + 1];
    }
    return keeps_pins(&h, p);
}

static void latency_keeps_pins(void **state)
{
    struct rl_rng r;
    uint32_t answers = 0;

    (void)state;
    rl_rng_seed(&r, 50, 0);
    for (uint32_t i = 0; i < 300; i++) {
        struct small_shape s = {.nodes = 2 + rl_rng_below(&r, 6), .kinds = 1};
        struct place_graph *g = small_graph(&r, &s);
        struct place_job job = {.latency = true, .moves = 100000};
        g->type[1].count = 1;
        struct small_pin pin[SMALL_PINS];
        small_pins(g, &r, 2, pin);
        for (int k = 0; k < 2; k++) {
            struct placement *p;
            struct err e = {0};
            if (place_solve(g, &job, k ? "greedy" : "exact", &p, &e))
                continue;
            assert_true(keeps_pins(g, p) || (g->aparts && are_on_cores(g, p)));
            answers++;
            placement_free(p);
        }
        place_graph_free(g);
    }
    assert_true(answers > 300);
}

/* ---- words ---- */

/* Two accelerators, a core; a -> b -> c. */
static struct place_graph *chain(void)
{
    static const uint32_t from[] = {0, 1}, to[] = {1, 2};
    struct place_graph *g;
    struct err e = {0};

    assert_int_equal(place_graph_new(3, 2, &g, &e), 0);
    g->type[0] = (struct place_type){"kind", 2, 100, false};
    g->type[1] = (struct place_type){"host", 1, INFINITY, true};
    for (uint32_t v = 0; v < 3; v++) {
        g->id[v] = 10 + v;
        g->name[v] = v == 0 ? "a" : v == 1 ? "layer/b with c" : "c";
        g->supported[v] = true;
        g->time_ms[v] = 1;
        g->time_ms[3 + v] = 1;
    }
    assert_int_equal(place_graph_connect(g, from, to, 2, NULL, &e), 0);
    return g;
}

static void words(void **state)
{
    static const struct {
        const char *pins[3];
        int code;
        const char *says;
    } rows[] = {
        {{"a on B"}, 0, NULL},
        {{"10 on B", "a on B"}, 0, NULL},
        {{"11 off host", "c apart from 10"}, 0, NULL},
        {{"a on B", "10 on A"}, ERR_INFEASIBLE, "a on A clashes with a on B"},
        {{"a with c", "a on A", "c on h"}, ERR_INFEASIBLE, "c on h clashes with a on A"},
        {{"a on A", "c on B", "12 with 10"}, ERR_INFEASIBLE, "clashes with c on B and a on A"},
        {{"c off host", "a on h", "a with c"}, ERR_INFEASIBLE, "a on h, where c may not be"},
        {{"a apart from c", "c with a"}, ERR_INFEASIBLE, "clashes with a apart from c"},
        {{"a apart from c", "a on B", "c on B"}, ERR_INFEASIBLE, "clashes with a apart from c"},
        {{"a with c", "a apart from c"}, ERR_INFEASIBLE, "clashes with what holds them together"},
        {{"a on h", "10 off host"}, ERR_INFEASIBLE, "a off host clashes with a on h"},
        {{"a on C"}, ERR_INPUT, "no device \"C\", expected A, B .. or h"},
        {{"z on A"}, ERR_INPUT, "0 nodes are called \"z\", expected one"},
        {{"a off A"}, ERR_INPUT, "expected off host"},
        {{"a=B"}, ERR_INPUT, "is not a pin, expected NODE on DEVICE"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct place_graph *g = chain();
        struct err e = {0};
        int rc = 0;
        for (size_t k = 0; k < 3 && rows[i].pins[k] && !rc; k++)
            rc = place_pin(g, rows[i].pins[k], &e);
        assert_int_equal(rc, rows[i].code);
        if (rows[i].says && !strstr(e.what, rows[i].says))
            fail_msg("\"%s\" does not say \"%s\"", e.what, rows[i].says);
        place_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_pins),
        cmocka_unit_test(latency_keeps_pins),
        cmocka_unit_test(words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
