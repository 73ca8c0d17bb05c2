/* Contiguous plans over several servers, with cores, copies, kinds of accelerators, pins, passes
 * apart and targets, against an enumeration of all assignments and copies, by definition. */
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

/* ---- by definition ---- */

/* The least value of an assignment by its number of accelerators, copies among them. */
struct least {
    double by[SMALL_DEVICES + 1];
};

struct copying {
    const struct place_graph *g;
    const struct place_rules *r;
    const struct slow_load *load;
    uint32_t copies[SMALL_DEVICES];
    uint32_t taken[SMALL_DEVICES]; /* by server: its devices in use */
    struct least *out;
};

static uint32_t kind_of_server(const struct place_graph *g, uint32_t server)
{
    return place_type_of(g, server * g->per_server);
}

/* Copies of device d and those behind it, in all ways: on its server, or on whole ones. */
static void all_copies(struct copying *c, uint32_t d, uint32_t accelerators)
{
    const struct place_graph *g = c->g;
    uint32_t per = g->per_server, server = d / per;

    if (d == place_devices(g)) {
        double *least = &c->out->by[accelerators];
        *least = fmin(*least, slow_value(g, c->r, c->load, c->copies));
        return;
    }
    c->copies[d] = 1;
    if (!c->load[d].nodes || slow_is_host(g, d)) {
        all_copies(c, d + 1, accelerators);
        return;
    }
    all_copies(c, d + 1, accelerators + 1);
    for (uint32_t more = 1; c->r->replicate && c->taken[server] + more <= per; more++) {
        c->copies[d] = 1 + more;
        c->taken[server] += more;
        all_copies(c, d + 1, accelerators + 1 + more);
        c->taken[server] -= more;
    }
    uint32_t whole = 1, others[SMALL_DEVICES] = {0};
    bool alone = c->r->replicate && c->taken[server] == 1;
    for (uint32_t s = 0; s * per < place_devices(g) && alone; s++) {
        bool host = slow_is_host(g, s * per);
        if (host || kind_of_server(g, s) != kind_of_server(g, server) || s == server || c->taken[s])
            continue;
        others[whole++] = s;
        for (uint32_t i = 1; i < whole; i++)
            c->taken[others[i]] = per;
        c->taken[server] = per;
        c->copies[d] = whole * per;
        all_copies(c, d + 1, accelerators + whole * per);
        for (uint32_t i = 1; i < whole; i++)
            c->taken[others[i]] = 0;
        c->taken[server] = 1;
    }
    c->copies[d] = 1;
}

static void enumerate(const struct place_graph *g, struct least best[RULES])
{
    uint32_t of_color[SMALL_NODES] = {0}, device[SMALL_NODES];

    for (int i = 0; i < RULES; i++) {
        for (int k = 0; k <= SMALL_DEVICES; k++)
            best[i].by[k] = INFINITY;
    }
    do {
        struct slow_load load[SMALL_DEVICES];
        for (uint32_t v = 0; v < g->nodes; v++)
            device[v] = of_color[g->color[v]];
        slow_loads(g, device, load);
        if (!slow_fits(g, device, load) || !slow_in_turn(g, device))
            continue;
        for (int i = 0; i < RULES; i++) {
            struct copying c = {.g = g, .r = &all_rules[i], .load = load, .out = &best[i]};
            for (uint32_t d = 0; d < place_devices(g); d++)
                c.taken[d / g->per_server] += load[d].nodes && !slow_is_host(g, d);
            all_copies(&c, 0, 0);
        }
    } while (next_assignment(of_color, g->colors, place_devices(g)));
}

static double least_of(const struct least *l)
{
    double least = INFINITY;

    for (int k = 0; k <= SMALL_DEVICES; k++)
        least = fmin(least, l->by[k]);
    return least;
}

/* ---- checks ---- */

struct counts {
    uint32_t crossed, cored, copied, spread, pinned, kinds, bettered, fewest, out_of_turn;
};

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

/* A plan is what it says: rules, pins, servers, copies, value. Its accelerators. */
static uint32_t check_plan(const struct place_graph *g, const struct place_rules *r,
                           const struct small_pin *pin, uint32_t pins, struct placement *p,
                           struct counts *n)
{
    uint32_t first_host = place_devices(g) - g->type[g->types - 1].count, used = 0;
    struct slow_load load[SMALL_DEVICES];
    struct err e = {0};

    slow_loads(g, p->device, load);
    assert_true(slow_fits(g, p->device, load) && slow_in_turn(g, p->device));
    assert_true(small_pins_kept(pin, pins, first_host, p->device));
    assert_int_equal(placement_check_copies(p, g, &e), 0);
    assert_true(placement_in_turn(p, g));
    for (uint32_t d = 0; d < p->devices; d++) {
        used += d < first_host && load[d].nodes ? p->copies[d] : 0;
        n->copied += p->copies[d] > 1;
        n->spread += p->copies[d] > g->per_server;
        n->cored += d >= first_host && load[d].nodes;
        p->copies[d] = p->copies[d] ? p->copies[d] : 1;
    }
    for (uint32_t v = 1; v < g->nodes; v++)
        n->crossed += p->device[v] / 2 != p->device[0] / 2;
    assert_true(is_near(slow_value(g, r, load, p->copies), p->value_ms));
    return used;
}

static void check_best(const struct place_graph *g, const struct place_rules *r,
                       const struct small_pin *pin, uint32_t pins, double best, struct counts *n)
{
    struct place_asking a = {.rules = *r};
    struct placement *p;
    struct err e = {0};
    int rc = place_contiguous(g, &a, &p, &e);

    if (isinf(best) && !rc) { /* devices can be ordered, servers cannot: said so by no proof */
        assert_false(p->proven || slow_in_turn(g, p->device));
        n->out_of_turn++;
        placement_free(p);
        return;
    }
    if (isinf(best)) {
        assert_int_equal(rc, ERR_INFEASIBLE);
        return;
    }
    assert_int_equal(rc, 0);
    if (!p->proven || !is_near(p->value_ms, best))
        fail_msg("%.17g%s by %s, best %.17g", p->value_ms, p->proven ? " proven" : "", p->bound_by,
                 best);
    n->bettered += !strcmp(p->bound_by, "all ideals, servers in turn");
    check_plan(g, r, pin, pins, p, n);
    n->kinds += g->types > 2;
    n->pinned += pins;
    placement_free(p);
}

/* The fewest accelerators that reach a target. */
static void check_target(const struct place_graph *g, const struct place_rules *r,
                         const struct small_pin *pin, uint32_t pins, const struct least *best,
                         double target, struct counts *n)
{
    struct place_asking a = {.rules = *r, .target_ms = target};
    struct placement *p;
    struct err e = {0};
    uint32_t fewest = 0;

    while (fewest <= SMALL_DEVICES && best->by[fewest] > target)
        fewest++;
    int rc = place_contiguous(g, &a, &p, &e);
    if (fewest > SMALL_DEVICES) {
        assert_int_equal(rc, ERR_INFEASIBLE);
        return;
    }
    if (rc)
        fail_msg("%s: %u accelerators reach %g", e.what, fewest, target);
    assert_true(p->proven && p->value_ms <= target * (1 + 1e-9));
    assert_int_equal(check_plan(g, r, pin, pins, p, n), fewest);
    n->fewest++;
    placement_free(p);
}

/* Three nodes in a row whose pins leave a server and come back to it: devices can be ordered,
 * servers cannot. */
static void out_of_turn(void **state)
{
    static const uint32_t from[] = {0, 1}, to[] = {1, 2}, on[] = {0, 2, 1};
    struct place_asking a = {0};
    struct place_graph *g;
    struct placement *p;
    struct err e = {0};

    (void)state;
    assert_int_equal(place_graph_new(3, 2, &g, &e), 0);
    g->far_ms = arena_get(&g->arena, 3, sizeof(double));
    for (uint32_t v = 0; v < 3; v++) {
        g->id[v] = v;
        g->time_ms[v] = 1;
        g->send_ms[v] = 1;
        g->far_ms[v] = 2;
        g->supported[v] = true;
    }
    g->type[0] = (struct place_type){"accelerator", 4, 10, false};
    g->type[1] = (struct place_type){"host", 0, INFINITY, true};
    g->per_server = 2;
    assert_int_equal(place_graph_connect(g, from, to, 2, NULL, &e), 0);
    for (uint32_t v = 0; v < 3; v++)
        assert_int_equal(place_pin_on(g, v, on[v], &e), 0);
    assert_int_equal(place_contiguous(g, &a, &p, &e), 0);
    assert_false(p->proven || placement_in_turn(p, g));
    assert_true(is_near(p->value_ms, 5) && is_near(p->bound_ms, 3));
    placement_free(p);
    a.target_ms = 100; /* reached, but not by servers in turn */
    assert_int_equal(place_contiguous(g, &a, &p, &e), ERR_INFEASIBLE);
    place_graph_free(g);
}

static struct place_graph *some_graph(struct rl_rng *r, struct small_pin *pin, uint32_t *pins)
{
    struct small_shape s = {.nodes = 1 + rl_rng_below(r, rl_rng_below(r, 20) ? 5 : 6),
                            .kinds = 1 + !rl_rng_below(r, 3),
                            .servers = 2,
                            .training = rl_rng_below(r, 2)};
    uint32_t cores = rl_rng_below(r, 3);

    if (!cores && s.kinds == 1 && !rl_rng_below(r, 6))
        s.servers = 3;
    struct place_graph *g = small_graph(r, &s);
    if (s.kinds == 2) {
        g->type[0].count = 2 * (1 + rl_rng_below(r, 2));
        g->type[1].count = 2;
    }
    g->type[s.kinds].count = place_devices(g) - g->type[s.kinds].count > 4 ? 0 : cores;
    g->sync_ms_per_byte = rl_rng_below(r, 2) ? rl_rng_unit(r) / 2 : 0;
    g->sync_far_ms_per_byte = g->sync_ms_per_byte * (1 + rl_rng_below(r, 3));
    *pins = small_pins(g, r, rl_rng_below(r, 3) ? 0 : 1 + rl_rng_below(r, 3), pin);
    return g;
}

static void random_servers(void **state)
{
    const char *asked = getenv("AUTOMAP_GRAPHS");
    uint32_t graphs = asked ? (uint32_t)strtoul(asked, NULL, 10) : 800;
    struct counts n = {0};
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 46, 0);
    for (uint32_t i = 0; i < graphs; i++) {
        struct small_pin pin[SMALL_PINS];
        struct least best[RULES];
        uint32_t pins;
        struct place_graph *g = some_graph(&r, pin, &pins);
        enumerate(g, best);
        for (int k = 0; k < RULES; k++) {
            double least = least_of(&best[k]);
            check_best(g, &all_rules[k], pin, pins, least, &n);
            if (isfinite(least) && !all_rules[k].apart)
                check_target(g, &all_rules[k], pin, pins, &best[k],
                             least * (0.9 + rl_rng_unit(&r)) + 1e-3, &n);
        }
        place_graph_free(g);
    }
    print_message("devices on other servers %u, cores %u, copies %u, over servers %u, pins %u, "
                  "kinds %u, by two levels %u, targets %u, out of turn %u\n",
                  n.crossed, n.cored, n.copied, n.spread, n.pinned, n.kinds, n.bettered, n.fewest,
                  n.out_of_turn);
    assert_true(n.crossed > graphs && n.cored > graphs && n.copied > graphs && n.pinned > graphs);
    assert_true(n.spread > graphs && n.kinds > graphs && n.bettered > graphs / 4);
    assert_true(n.fewest > graphs);
}

/* A search that is cut short: its plan costs what it says. */
static void limited_servers(void **state)
{
    enum { GRAPHS = 60, RULES_TRIED = 4, LEAST = 20, MOST = 4000 };
    uint32_t plans = 0;
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 47, 0);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct small_shape s = {.nodes = 5 + rl_rng_below(&r, 5), .kinds = 1, .servers = 2};
        struct place_graph *g = small_graph(&r, &s);
        g->type[1].count = rl_rng_below(&r, 2);
        for (uint64_t looks = LEAST; looks < MOST; looks += 1 + looks / 16) {
            for (uint32_t k = 0; k < RULES_TRIED; k++) {
                struct place_asking a = {.rules = all_rules[k], .looks = looks};
                struct place_load load[SMALL_DEVICES];
                struct placement *p;
                struct err e = {0};
                if (place_contiguous(g, &a, &p, &e))
                    continue;
                double said = p->value_ms;
                assert_int_equal(placement_value(p, g, &a.rules, load, &e), 0);
                assert_true(is_near(said, p->value_ms) && !p->faults);
                placement_free(p);
                plans++;
            }
        }
        place_graph_free(g);
    }
    assert_true(plans > GRAPHS * RULES_TRIED * 20);
}

/* A stage and its copies share a server of two with another where there is room, and no more. */
static void copies_share_a_server(void **state)
{
    (void)state;
    static const struct {
        uint32_t copies[4];
        int rc;
    } rows[] = {{{1, 1, 1, 0}, 0}, {{2, 0, 1, 0}, 0}, {{2, 1, 0, 0}, ERR_INPUT}};
    struct place_graph *g = mem_alloc(sizeof *g);
    uint32_t device[3], copies[4];
    struct placement p = {.devices = 4, .device = device, .copies = copies};
    struct err e;

    g->types = 2;
    g->type[0].count = 4;
    g->type[1].is_host = true;
    g->per_server = 2;
    g->far_ms = mem_alloc(sizeof *g->far_ms);
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        p.nodes = 0;
        for (uint32_t d = 0; d < 4; d++) {
            copies[d] = rows[n].copies[d];
            if (copies[d])
                device[p.nodes++] = d;
        }
        assert_int_equal(placement_check_copies(&p, g, &e), rows[n].rc);
    }
    free(g->far_ms);
    free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_servers),
        cmocka_unit_test(limited_servers),
        cmocka_unit_test(out_of_turn),
        cmocka_unit_test(copies_share_a_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
