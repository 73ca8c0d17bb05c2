/* Relaxed mode: strict plans cost there what they cost in strict mode; bound <= optimum <= plan
 * against enumeration on random modules; the plan adds up to its parts. */
#include "hlo/load.h"
#include "random_module.h"

#include "engine/plan/plan.h"
#include "engine/plan/random.h"
#include "engine/relaxed/relaxed_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS = 1000, VISITS_MOST = 30000 };

static struct problem *open_random(uint64_t seed, uint32_t length, uint32_t devices,
                                   const char *mesh)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster *c = mem_alloc(sizeof *c);
    struct problem_options o = {.exact_divisibility = seed % 3 == 0};
    struct err e;

    assert_int_equal(slow_cluster(c, devices, seed, &e), 0);
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    assert_int_equal(random_problem(seed, length, c, &o, p, &e), 0);
    free(c);
    return p;
}

static void close_problem(struct problem *p)
{
    problem_release(p);
    free(p);
}

/* ---- strict plans ---- */

static void check_embedded(const struct problem *p, const struct relaxed *r, uint32_t plans)
{
    struct err e;

    for (uint32_t seed = 0; seed < plans; seed++) {
        struct strict s;
        struct plan plan;
        assert_int_equal(strict_new(&p->labels, &s, &e), 0);
        assert_int_equal(plan_random(p, &s, seed, &e), 0);
        assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, &plan, &e), 0);
        double ms = relaxed_embed_ms(r, plan.on);
        if (fabs(ms - plan.cost.step_ms) > 1e-9 * plan.cost.step_ms)
            fail_msg("%s: relaxed %.12g, strict %.12g ms", p->m->name, ms, plan.cost.step_ms);
        plan_release(&plan);
        strict_release(&s);
    }
}

static void strict_plans_cost_the_same(void **state)
{
    static const char *const models[] = {"mlp",          "t5-tiny",  "vgg19",   "moe",
                                         "decoder-scan", "resnet20", "t5-base6"};
    static const struct {
        uint32_t devices;
        const char *mesh;
        uint32_t micro_batches;
    } meshes[] = {{16, "", 1}, {16, "2x8", 1}, {8, "2x4", 1}, {4, "", 2}};
    (void)state;

    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        for (size_t n = 0; n < sizeof meshes / sizeof *meshes; n++) {
            struct problem *p = mem_alloc(sizeof *p);
            struct cluster *c = mem_alloc(sizeof *c);
            struct problem_options o = {.micro_batches = meshes[n].micro_batches};
            struct relaxed_options ro = {0};
            struct hlo_module *file;
            struct relaxed *r;
            struct err e;
            char path[256];
            snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz",
                     models[k]);
            snprintf(o.mesh, sizeof o.mesh, "%s", meshes[n].mesh);
            assert_int_equal(cluster_of_devices(c, meshes[n].devices, &e), 0);
            assert_int_equal(hlo_load(path, NULL, &file, &e), 0);
            assert_int_equal(problem_new(file, NULL, c, &o, p, &e), 0);
            assert_int_equal(relaxed_new(p, &ro, &r, &e), 0);
            check_embedded(p, r, 10);
            relaxed_free(r);
            close_problem(p);
            free(c);
        }
    }
}

/* ---- brute force ---- */

/* Depth first over the labels of the whole energy, cutting where what is paid passes the best. */
struct brute {
    const struct energy *g;
    uint16_t *x;
    double best;
    uint64_t visits;
};

static double paid_for(const struct brute *b, uint32_t node)
{
    const struct energy *g = b->g;
    double sum = tables_at(g->tables, g->unary[node], false)[b->x[node]];

    for (uint32_t k = 0; k < g->edge_count; k++) {
        const struct energy_edge *i = &g->edges[k];
        uint32_t later = i->a > i->b ? i->a : i->b;
        if (later == node)
            sum += tables_at(
                g->tables, i->table.table,
                i->table.turned)[(size_t)b->x[i->a] * energy_labels(g, i->b) + b->x[i->b]];
    }
    return sum;
}

static void try_all(struct brute *b, uint32_t node, double paid)
{
    if (paid >= b->best || ++b->visits > VISITS_MOST)
        return;
    if (node == b->g->nodes) {
        b->best = paid;
        return;
    }
    for (uint32_t l = 0; l < energy_labels(b->g, node); l++) {
        b->x[node] = (uint16_t)l;
        try_all(b, node + 1, paid + paid_for(b, node));
    }
}

/* False when there is too much to try. */
static bool brute_force(const struct energy *g, double *best)
{
    struct brute b = {.g = g, .x = mem_alloc((g->nodes + 1u) * sizeof *b.x), .best = INFINITY};

    try_all(&b, 0, 0);
    free(b.x);
    *best = b.best + g->constant;
    return b.visits <= VISITS_MOST;
}

static double sum_of_parts(const struct relaxed_plan *plan)
{
    double sum = plan->cost.compute_ms;

    for (uint32_t k = 0; k < plan->reshard_count; k++)
        sum += plan->reshards[k].ms;
    return sum;
}

static void check_random(uint64_t seed, uint32_t length, uint32_t devices, const char *mesh,
                         uint32_t *enumerated, uint32_t *optimal)
{
    struct problem *p = open_random(seed, length, devices, mesh);
    struct relaxed_options ro = {.reduce_at_once = seed % 5 == 0,
                                 .folding = seed % 4 ? RELAXED_FOLD_OFF : RELAXED_FOLD_ON,
                                 .fold_rounds = 1 + (uint32_t)(seed / 4 % 3)};
    struct relaxed_plan plan;
    struct relaxed *r;
    struct err e;
    double best, near = 1e-9;

    assert_int_equal(relaxed_new(p, &ro, &r, &e), 0);
    check_embedded(p, r, 3);
    assert_int_equal(relaxed_solve(r, 0, &plan, &e), 0);
    assert_true(plan.bound_ms <= plan.cost.step_ms);
    assert_true(relaxed_stage(r)->trws.bound <= plan.cost.step_ms * (1 + near));
    assert_true(plan.cost.step_ms <= plan.strict_ms * (1 + near));
    assert_true(fabs(sum_of_parts(&plan) - plan.cost.step_ms) <= near * plan.cost.step_ms);
    assert_true(fabs(energy_of(&r->model.energy, r->best) - plan.cost.step_ms) <=
                near * plan.cost.step_ms);
    if (brute_force(r->is_folded ? &r->tied.folded.energy : &r->model.energy, &best)) {
        ++*enumerated;
        *optimal += plan.cost.step_ms <= best * (1 + near);
        if (plan.bound_ms > best * (1 + near) || best > plan.cost.step_ms * (1 + near))
            fail_msg("seed %llu: bound %.12g optimum %.12g plan %.12g", (unsigned long long)seed,
                     plan.bound_ms, best, plan.cost.step_ms);
    }
    relaxed_plan_release(&plan);
    relaxed_free(r);
    close_problem(p);
}

static void bound_optimum_plan(void **state)
{
    uint32_t one = 0, two = 0, one_best = 0, two_best = 0;
    (void)state;

    for (uint64_t seed = 0; seed < SEEDS; seed++)
        check_random(seed, 4 + (uint32_t)(seed % 12), 4, "", &one, &one_best);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        check_random(seed, 3 + (uint32_t)(seed % 8), 4, "2x2", &two, &two_best);
    print_message("one axis: %u enumerated, %u plans optimal; two: %u, %u\n", one, one_best, two,
                  two_best);
    assert_true(one > SEEDS / 2 && two > SEEDS / 3);
}

/* ---- pins ---- */

/* Every reader of parameter leaf `param` asks for dim `dim` along `axis` as the pin says. */
static void check_pin(const struct relaxed_plan *plan, const struct relaxed *r,
                      const struct relaxed_pin *pin)
{
    const struct problem *p = plan->problem;
    const struct classes *c = &p->classes;
    hlo_value v = p->roles.params[pin->param].value;
    unsigned split = pin->dim + 1;

    if (r->model.origin[v] == HLO_NONE)
        return;
    assert_true((status_on(plan->made[v], pin->axis) == split) == (pin->kind != RELAXED_WHOLE));
    for (hlo_id id = 0; id < p->m->count && pin->kind != RELAXED_STORED; id++) {
        uint32_t leaves = class_leaf_count(c, id),
                 results = p->m->leaf_base[id + 1] - p->m->leaf_base[id];
        for (uint32_t leaf = 0; r->model.node_of[id] != UINT32_MAX && leaf < leaves - results;
             leaf++) {
            if (r->model.origin[hlo_factors_value(p->m, id, leaf)] != v)
                continue;
            unsigned asked = status_on(plan->leaf[c->leaf_base[id] + leaf], pin->axis);
            assert_true((asked == split) == (pin->kind == RELAXED_SPLIT));
        }
    }
}

/* Decisions of a random strict plan on some dims of parameters: those can be kept together. */
static uint32_t random_pins(const struct problem *p, uint64_t seed, struct relaxed_pin *pins,
                            uint32_t room)
{
    struct strict s;
    struct plan plan;
    struct err e;
    uint32_t count = 0;

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    assert_int_equal(plan_random(p, &s, seed, &e), 0);
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, &plan, &e), 0);
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        hlo_value v = p->roles.params[k].value;
        for (uint32_t d = 0; d < hlo_value_shape(p->m, v)->rank && count < room; d++) {
            uint32_t x = (uint32_t)((seed + k + d) % p->mesh.axes);
            bool split = plan_dim_label(&plan, v, d) >> x & 1;
            if ((seed >> (k + d)) % 2)
                pins[count++] = (struct relaxed_pin){k, d, x,
                                                     !split           ? RELAXED_WHOLE
                                                     : (seed + k) % 3 ? RELAXED_SPLIT
                                                                      : RELAXED_STORED};
        }
    }
    plan_release(&plan);
    strict_release(&s);
    return count;
}

static void pins_hold(void **state)
{
    uint32_t kept = 0, enumerated = 0;
    (void)state;

    for (uint64_t seed = 0; seed < SEEDS / 2; seed++) {
        struct problem *p = open_random(seed, 4 + (uint32_t)(seed % 10), 4, seed % 2 ? "2x2" : "");
        struct relaxed_options ro = {.folding = RELAXED_FOLD_OFF};
        struct relaxed_pin pins[16];
        struct relaxed_plan free_plan, plan, again;
        struct relaxed *r;
        struct err e;
        double best;
        uint32_t count = random_pins(p, seed, pins, 16);
        assert_int_equal(relaxed_new(p, &ro, &r, &e), 0);
        assert_int_equal(relaxed_solve(r, 0, &free_plan, &e), 0);
        assert_int_equal(relaxed_set_pins(r, pins, count, &e), 0);
        assert_int_equal(relaxed_solve(r, 0, &plan, &e), 0);
        for (uint32_t k = 0; k < count; k++)
            check_pin(&plan, r, &pins[k]);
        kept += count;
        assert_true(plan.bound_ms <= plan.cost.step_ms &&
                    plan.cost.step_ms <= plan.strict_ms * (1 + 1e-9));
        assert_true(plan.cost.step_ms >= free_plan.bound_ms * (1 - 1e-9));
        if (brute_force(&r->pinned, &best)) {
            enumerated++;
            assert_true(plan.bound_ms <= best * (1 + 1e-9) &&
                        best <= plan.cost.step_ms * (1 + 1e-9));
        }
        assert_int_equal(relaxed_set_pins(r, NULL, 0, &e), 0);
        assert_int_equal(relaxed_solve(r, 0, &again, &e), 0);
        assert_true(fabs(again.cost.step_ms - free_plan.cost.step_ms) <=
                    1e-6 * free_plan.cost.step_ms);
        relaxed_plan_release(&free_plan);
        relaxed_plan_release(&plan);
        relaxed_plan_release(&again);
        relaxed_free(r);
        close_problem(p);
    }
    print_message("%u pins kept, %u modules enumerated under them\n", kept, enumerated);
    assert_true(kept > SEEDS && enumerated > SEEDS / 8);
}

static void pins_that_cannot_be(void **state)
{
    struct problem *p = open_random(1, 8, 4, "");
    struct relaxed_options ro = {0};
    struct relaxed_pin both[2] = {{0, 0, 0, RELAXED_SPLIT}, {0, 0, 0, RELAXED_WHOLE}},
                       none = {0, 63, 0, RELAXED_WHOLE};
    struct relaxed_plan plan;
    struct relaxed *r;
    struct err e;
    (void)state;

    assert_int_equal(relaxed_new(p, &ro, &r, &e), 0);
    assert_int_equal(relaxed_set_pins(r, both, 2, &e), 0);
    assert_int_equal(relaxed_solve(r, 0, &plan, &e), ERR_INFEASIBLE);
    assert_int_equal(relaxed_set_pins(r, &none, 1, &e), ERR_INPUT);
    relaxed_free(r);
    close_problem(p);
}

/* A decision on what the partitioner runs whole: it is gathered there, and can be kept. */
static void pins_of_what_runs_whole(void **state)
{
    static const char text[] =
        "HloModule m\nENTRY e {\n  x = f32[8,6,6,8] parameter(0)\n"
        "  w = f32[3,3,4,8] parameter(1)\n"
        "  wide = f32[8,6,6,8] convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
        "dim_labels=b01f_01io->b01f, feature_group_count=2\n"
        "  ROOT r = f32[8,6,6,8] negate(wide)\n}\n";
    const struct relaxed_pin pins[] = {{0, 0, 0, RELAXED_SPLIT}, {1, 3, 0, RELAXED_SPLIT}};
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster *c = mem_alloc(sizeof *c);
    struct problem_options o = {0};
    struct relaxed_options ro = {0};
    struct hlo_module *m;
    struct err e;
    (void)state;

    assert_int_equal(cluster_of_devices(c, 4, &e), 0);
    assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, c, &o, p, &e), 0);
    for (size_t k = 0; k < sizeof pins / sizeof *pins; k++) {
        struct relaxed_plan plan;
        struct relaxed *r;
        hlo_value v = p->roles.params[pins[k].param].value;
        assert_int_equal(relaxed_new(p, &ro, &r, &e), 0);
        assert_int_equal(relaxed_set_pins(r, &pins[k], 1, &e), 0);
        assert_int_equal(relaxed_solve(r, 0, &plan, &e), 0);
        assert_int_equal(status_on(plan.made[v], 0), pins[k].dim + 1);
        relaxed_plan_release(&plan);
        relaxed_free(r);
    }
    close_problem(p);
    free(c);
}

/* Layers of a network are found equal, and the tied plan lies between the bound and the strict
 * optimum. */
static void layers_fold(void **state)
{
    static const char *const meshes[] = {"", "2x8"};
    (void)state;

    for (int n = 0; n < 2; n++) {
        struct problem *p = mem_alloc(sizeof *p);
        struct cluster *c = mem_alloc(sizeof *c);
        struct problem_options o = {0};
        struct relaxed_options whole = {.folding = RELAXED_FOLD_OFF},
                               tied = {.folding = RELAXED_FOLD_ON};
        struct relaxed_plan a, b;
        struct relaxed *r, *f;
        struct hlo_module *file;
        struct err e;
        snprintf(o.mesh, sizeof o.mesh, "%s", meshes[n]);
        assert_int_equal(
            cluster_load(c, AUTOMAP_SOURCE_DIR "/examples/clusters/a-2x8-v100.yaml", &e), 0);
        assert_int_equal(
            hlo_load(AUTOMAP_SOURCE_DIR "/examples/models/t5-base12.hlo.txt.gz", NULL, &file, &e),
            0);
        assert_int_equal(problem_new(file, NULL, c, &o, p, &e), 0);
        assert_int_equal(relaxed_new(p, &whole, &r, &e), 0);
        assert_int_equal(relaxed_new(p, &tied, &f, &e), 0);
        assert_int_equal(relaxed_solve(r, 0, &a, &e), 0);
        assert_int_equal(relaxed_solve(f, 0, &b, &e), 0);
        assert_int_equal(a.bound_kind, RELAXED_GLOBAL);
        assert_int_equal(b.bound_kind, RELAXED_TIED);
        assert_true(b.colours * 8 < b.nodes);
        assert_true(b.cost.step_ms >= a.bound_ms && b.cost.step_ms >= b.bound_ms &&
                    b.cost.step_ms <= b.strict_ms);
        assert_true(a.gap < 0.02 && b.gap < 0.02);
        assert_true(a.cost.step_ms <=
                    b.cost.step_ms * (1 + 1e-9)); /* it starts from the tied plan */
        assert_true(fabs(energy_of(&f->model.energy, f->best) - b.cost.step_ms) <
                    1e-9 * b.cost.step_ms);
        relaxed_plan_release(&a);
        relaxed_plan_release(&b);
        relaxed_free(r);
        relaxed_free(f);
        close_problem(p);
        free(c);
    }
}

static void same_calls_same_plan(void **state)
{
    (void)state;

    for (uint64_t seed = 0; seed < 50; seed++) {
        struct relaxed_plan plans[2];
        struct relaxed *r[2];
        struct problem *p[2];
        struct relaxed_options ro = {0};
        struct err e;
        for (int k = 0; k < 2; k++) {
            p[k] = open_random(seed, 20, 4, "2x2");
            assert_int_equal(relaxed_new(p[k], &ro, &r[k], &e), 0);
            assert_int_equal(relaxed_solve(r[k], 0, &plans[k], &e), 0);
        }
        assert_true(plans[0].cost.step_ms == plans[1].cost.step_ms &&
                    plans[0].bound_ms == plans[1].bound_ms);
        assert_memory_equal(plans[0].choice, plans[1].choice, p[0]->m->count * sizeof(uint32_t));
        for (int k = 0; k < 2; k++) {
            relaxed_plan_release(&plans[k]);
            relaxed_free(r[k]);
            close_problem(p[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict_plans_cost_the_same),
        cmocka_unit_test(bound_optimum_plan),
        cmocka_unit_test(pins_hold),
        cmocka_unit_test(pins_that_cannot_be),
        cmocka_unit_test(pins_of_what_runs_whole),
        cmocka_unit_test(layers_fold),
        cmocka_unit_test(same_calls_same_plan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
