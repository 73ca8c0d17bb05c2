/* A step priced for another batch costs what the same step written for that batch does: strict and
 * relaxed, in time, communication and memory; plan files keep the batch. */
#include "engine/plan/plan.h"
#include "engine/plan/plan_file.h"
#include "engine/relaxed/relaxed.h"
#include "example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Two layers, a loss, plain descent; B is the batch. */
static const char step[] =
    "HloModule step\nsum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] "
    "add(a, b) }\n"
    "ENTRY main { v = f32[64,128] parameter(0)\n w = f32[128,32] parameter(1)\n"
    "  x = f32[B,64] parameter(2)\n t = f32[B,32] parameter(3)\n zero = f32[] constant(0)\n"
    "  h = f32[B,128] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  r = f32[B,128] tanh(h)\n"
    "  y = f32[B,32] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  d = f32[B,32] subtract(y, t)\n dd = f32[B,32] multiply(d, d)\n"
    "  loss = f32[] reduce(dd, zero), dimensions={0,1}, to_apply=sum\n"
    "  gw = f32[128,32] dot(r, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  gr = f32[B,128] dot(d, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
    "  rr = f32[B,128] multiply(r, r)\n gh = f32[B,128] multiply(gr, rr)\n"
    "  gv = f32[64,128] dot(x, gh), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  lr = f32[] constant(0.1)\n lv = f32[64,128] broadcast(lr), dimensions={}\n"
    "  sv = f32[64,128] multiply(gv, lv)\n v2 = f32[64,128] subtract(v, sv)\n"
    "  lw = f32[128,32] broadcast(lr), dimensions={}\n sw = f32[128,32] multiply(gw, lw)\n"
    "  w2 = f32[128,32] subtract(w, sw)\n"
    "  ROOT out = (f32[64,128], f32[128,32], f32[]) tuple(v2, w2, loss) }\n";

/* The step written for `written` samples, priced for `batch` (0: as written). */
static void load(uint32_t written, int64_t batch, uint32_t micro_batches, struct problem *out)
{
    struct problem_options o = {.batch_size = batch, .micro_batches = micro_batches, .mesh = "2x2"};
    struct hlo_module *m = NULL;
    struct str text = {0};
    struct err e = {0};

    for (const char *at = step; *at; at++) {
        if (*at == 'B')
            str_format(&text, "%u", written);
        else
            str_add_char(&text, *at);
    }
    if (hlo_load_memory("test", text.text, text.size, NULL, &m, &e))
        fail_msg("%s", e.what);
    make_problem(m, NULL, 4, &o, out);
    str_release(&text);
}

/* A sum of n numbers has n - 1 additions, which do not grow as n does. */
static void expect_same(double a, double b)
{
    if (fabs(a - b) > 1e-7 * fmax(fabs(a), fabs(b)))
        fail_msg("%.17g, expected %.17g", a, b);
}

/* Every class split in every way, alone. */
static void compare_strict(const struct problem *a, const struct problem *b)
{
    label *on = mem_try((size_t)a->classes.count + 1, sizeof *on);
    double *here = memory_scratch(&a->memory), *there = memory_scratch(&b->memory);
    uint32_t compared = 0;

    assert_true(on && here && there);
    assert_int_equal(a->classes.count, b->classes.count);
    for (class_id k = 0; k < a->classes.count; k++) {
        for (uint32_t l = 0; l < 4; l++) {
            if (!(a->labels.admissible[k] >> l & 1) || !(b->labels.admissible[k] >> l & 1))
                continue;
            on[k] = (label)l;
            struct step_cost s = step_tables_cost(&a->step_tables, on),
                             t = step_tables_cost(&b->step_tables, on);
            expect_same(s.step_ms, t.step_ms);
            expect_same(s.communication_ms, t.communication_ms);
            struct memory_cost x = memory_of(&a->memory, &a->labels, on, here),
                               y = memory_of(&b->memory, &b->labels, on, there);
            expect_same(x.peak, y.peak);
            compared++;
        }
        on[k] = 0;
    }
    assert_true(compared > 8);
    free(here);
    free(there);
    free(on);
}

static struct relaxed_plan relaxed_plan_of(const struct problem *p)
{
    struct relaxed_options how = {.reduce_at_once = true};
    struct relaxed_plan plan;
    struct err e = {0};

    if (relaxed_solve_overlapped(p, &how, NULL, 0, &plan, &e))
        fail_msg("%s", e.what);
    return plan;
}

static void compare_relaxed(const struct problem *a, const struct problem *b)
{
    struct relaxed_plan x = relaxed_plan_of(a), y = relaxed_plan_of(b);

    expect_same(x.cost.step_ms, y.cost.step_ms);
    expect_same(x.cost.communication_ms, y.cost.communication_ms);
    expect_same(x.bound_ms, y.bound_ms);
    relaxed_plan_release(&x);
    relaxed_plan_release(&y);
}

static void it_costs_what_a_step_of_that_batch_does(void **state)
{
    static const struct {
        uint32_t written, batch, micro_batches;
    } cases[] = {{8, 16, 1}, {8, 256, 1}, {64, 8, 1}, {8, 64, 4}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct problem *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
        load(cases[k].written, cases[k].batch, cases[k].micro_batches, a);
        load(cases[k].batch, 0, cases[k].micro_batches, b);
        assert_int_equal(problem_batch_size(a), cases[k].batch);
        assert_int_equal(problem_batch_size(b), cases[k].batch);
        compare_strict(a, b);
        compare_relaxed(a, b);
        problem_release(a);
        problem_release(b);
        free(a);
        free(b);
    }
}

/* A plan of one batch is none of another. */
static void plan_files_keep_it(void **state)
{
    struct problem *grown = mem_alloc(sizeof *grown), *plain = mem_alloc(sizeof *plain);
    struct plan plan, again;
    struct plan_setup setup;
    char path[64];
    struct err e = {0};

    (void)state;
    load(8, 32, 1, grown);
    load(8, 0, 1, plain);
    snprintf(path, sizeof path, "/tmp/automap-batch-%ld.json", (long)getpid());
    struct relaxed_plan relaxed = relaxed_plan_of(grown);
    assert_int_equal(plan_from_relaxed(&relaxed, &plan, &e), 0);
    assert_int_equal(plan_file_save(&plan, path, &e), 0);
    assert_int_equal(plan_file_setup(path, &setup, &e), 0);
    assert_int_equal(setup.options.batch_size, 32);
    assert_int_equal(plan_file_load(grown, path, &again, &e), 0);
    expect_same(again.cost.step_ms, plan.cost.step_ms);
    plan_release(&again);
    assert_int_equal(plan_file_load(plain, path, &again, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "the plan is for 32 samples, this problem has 8"));
    plan_release(&plan);
    unlink(path);
    problem_release(grown);
    problem_release(plain);
    free(grown);
    free(plain);
}

/* Micro-batches have to divide it, and there has to be one. */
static void what_cannot_be_is_refused(void **state)
{
    static const char none[] =
        "ENTRY e {\n  a = f32[] parameter(0)\n  ROOT b = f32[] negate(a)\n}\n";
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {.batch_size = 8};
    struct hlo_module *m = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(cluster_of_devices(cluster, 4, &e), 0);
    assert_int_equal(hlo_load_memory("test", none, strlen(none), NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, cluster, &o, p, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "no dim of the inputs"));
    load(8, 0, 4, p);
    assert_int_equal(problem_set_batch_size(p, 18, &e), ERR_INPUT);
    assert_int_equal(problem_set_batch_size(p, 20, &e), 0);
    assert_int_equal(problem_batch_size(p), 20);
    problem_release(p);
    free(cluster);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_costs_what_a_step_of_that_batch_does),
        cmocka_unit_test(plan_files_keep_it),
        cmocka_unit_test(what_cannot_be_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
