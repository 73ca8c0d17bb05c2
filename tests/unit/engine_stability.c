/* Breakpoints of a plan against the exact solver on a grid of figures inside and just outside of
 * them, and single changes of the peak against plans evaluated anew. */
#include "hlo/load.h"
#include "random_module.h"

#include "engine/cost/memory_tree.h"
#include "engine/exact/exact.h"
#include "engine/exact/stability.h"
#include "engine/plan/memory_peak.h"
#include "engine/plan/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char servers[] = "name: two\ndevices:\n  slow:\n    memory: 1 MB\n    peak: {f32: 1 "
                              "MFLOP/s}\n    bandwidth: 1 MB/s\n"
                              "    launch: 5 us\nservers:\n  - count: 2\n    devices: 2\n"
                              "    link: {kind: ring, bandwidth: 10 MB/s, latency: 20 us}\n"
                              "network: {bandwidth: 1 MB/s, latency: 50 us}\n";

static void read_cluster(struct cluster *c)
{
    struct err e;

    assert_int_equal(cluster_read(c, servers, sizeof servers - 1, &e), 0);
}

static struct exact_result optimum(const struct problem *p)
{
    struct exact_options o = {.goal = EXACT_STEP_TIME, .variables = true, .inputs = true};
    struct exact_result r;
    struct err e;

    assert_int_equal(exact_strict(&p->step_tables, NULL, &o, &r, &e), 0);
    return r;
}

/* Is the plan the best with this figure `factor` times what it is? */
static bool is_best_at(struct problem *p, const struct cluster *base, int figure, double factor,
                       const label *on)
{
    struct cluster c = *base;
    char mesh[64];
    struct err e;

    snprintf(mesh, sizeof mesh, "%s", p->options.mesh);
    if (figure == STABILITY_LINK)
        c.group[0].link.bandwidth *= factor;
    else
        c.network *= factor;
    assert_int_equal(problem_set_cluster(p, &c, mesh, &e), 0);
    struct exact_result r = optimum(p);
    bool best = step_tables_cost(&p->step_tables, on).step_ms <= r.value * (1 + 1e-7);
    exact_release(&r);
    assert_int_equal(problem_set_cluster(p, base, mesh, &e), 0);
    return best;
}

struct tally {
    uint32_t breaks, holds, grid;
};

static void check_side(struct problem *p, const struct cluster *base, int figure, double now,
                       const struct stability_side *side, bool up, const label *on, struct tally *t)
{
    double factor =
        side->end == STABILITY_HOLDS ? (up ? STABILITY_FAR : 1 / STABILITY_FAR) : side->value / now;

    for (int k = 1; k <= 6; k++) { /* within: 1 to just before the break, evenly in the logarithm */
        assert_true(is_best_at(p, base, figure, pow(factor, 0.999 * k / 6), on));
        t->grid++;
    }
    t->holds += side->end == STABILITY_HOLDS;
    if (side->end == STABILITY_HOLDS)
        return;
    t->breaks++;
    assert_non_null(side->on);
    assert_false(is_best_at(p, base, figure, up ? factor * 1.01 : factor / 1.01, on));
}

static void test_breakpoints(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster *base = mem_alloc(sizeof *base);
    struct problem_options o = {0};
    struct tally t = {0};
    struct err e;

    (void)state;
    for (uint64_t seed = 1; seed <= 250; seed++) {
        snprintf(o.mesh, sizeof o.mesh, "%s", seed % 2 ? "" : "2x2");
        read_cluster(base);
        assert_int_equal(random_problem(seed, (uint32_t)(10 + seed % 30), base, &o, p, &e), 0);
        struct exact_result best = optimum(p);
        struct stability_options so = {
            .on = best.on, .limit = INFINITY, .variables = true, .inputs = true};
        struct stability s;
        assert_int_equal(stability_of(p, &so, &s, &e), 0);
        assert_true(s.is_best);
        for (int figure = STABILITY_LINK; figure <= STABILITY_NETWORK; figure++) {
            check_side(p, base, figure, s.now[figure], &s.down[figure], false, best.on, &t);
            check_side(p, base, figure, s.now[figure], &s.up[figure], true, best.on, &t);
        }
        assert_true(fabs(step_tables_cost(&p->step_tables, best.on).step_ms - best.value) <=
                    1e-9 * best.value);
        stability_release(&s);
        exact_release(&best);
        problem_release(p);
    }
    print_message(
        "%u breakpoints, %u sides without, %u points within them where the plan is the best\n",
        t.breaks, t.holds, t.grid);
    assert_true(t.breaks > 50 && t.holds > 50);
    free(base);
    free(p);
}

/* A batch as large as another file's is priced as that file: the same module written with half the
 * batch has the same costs and memory as this one with its batch halved. */
static void write_mlp(char *out, size_t room, int batch)
{
    snprintf(out, room,
             "HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }\n"
             "ENTRY main {\n  w = f32[16,32] parameter(0)\n  x = f32[%d,16] parameter(1)\n"
             "  h = f32[%d,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
             "  g = f32[16,32] dot(x, h), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
             "  n = f32[16,32] subtract(w, g)\n  ROOT t = (f32[16,32]) tuple(n)\n}\n",
             batch, batch);
}

static void test_batch_size(void **state)
{
    struct problem *p[2] = {mem_alloc(sizeof **p), mem_alloc(sizeof **p)};
    struct problem_options o = {0};
    struct cluster c;
    struct err e;

    (void)state;
    assert_int_equal(cluster_of_devices(&c, 4, &e), 0);
    for (int k = 0; k < 2; k++) {
        struct hlo_module *m;
        char text[1024];
        write_mlp(text, sizeof text, k ? 10 : 24);
        assert_int_equal(hlo_load_memory("m", text, strlen(text), NULL, &m, &e), 0);
        assert_int_equal(problem_new(m, NULL, &c, &o, p[k], &e), 0);
    }
    assert_int_equal(problem_set_batch_size(p[0], 10, &e), 0);
    double *scratch = memory_scratch(&p[0]->memory);
    label *on = mem_alloc(p[0]->classes.count);
    for (int split = 0; split < 2; split++) {
        on[p[0]->training.batch] = (label)split;
        assert_true(label_is_admissible(&p[0]->labels, p[0]->training.batch, (label)split));
        struct step_cost a = step_tables_cost(&p[0]->step_tables, on),
                         b = step_tables_cost(&p[1]->step_tables, on);
        assert_true(fabs(a.step_ms - b.step_ms) <= 1e-12 * b.step_ms);
        double one = memory_of(&p[0]->memory, &p[0]->labels, on, scratch).peak;
        double other = memory_of(&p[1]->memory, &p[1]->labels, on, scratch).peak;
        assert_true(fabs(one - other) <= 1e-9 * other);
    }
    assert_int_equal(problem_set_batch_size(p[0], 3, &e), 0);
    assert_false(
        label_is_admissible(&p[0]->labels, p[0]->training.batch, 1)); /* 3 samples on 4 devices */
    assert_int_equal(problem_set_batch_size(p[0], -1, &e), ERR_INPUT);
    free(scratch);
    free(on);
    for (int k = 0; k < 2; k++) {
        problem_release(p[k]);
        free(p[k]);
    }
}

/* ---- the peak ---- */

/* Classes change at random: the tree says what memory_of says of the whole plan. */
static void follow_peak(const struct problem *p, uint64_t seed)
{
    struct memory_tree *tree;
    double *scratch = memory_scratch(&p->memory);
    label *on = mem_alloc(p->classes.count + 1u);
    uint64_t lot = seed * 0x9e3779b97f4a7c15u + 1;
    struct err e;

    assert_int_equal(memory_tree_new(&p->memory, &p->labels, on, &tree, &e), 0);
    double start = memory_tree_peak(tree);
    for (uint32_t n = 0; n < 3 * p->classes.count; n++) {
        lot = lot * 6364136223846793005u + 1442695040888963407u;
        class_id k = (class_id)((lot >> 33) % p->classes.count);
        label a = (label)((lot >> 20) % p->labels.count);
        if (!label_is_admissible(&p->labels, k, a))
            continue;
        on[k] = a;
        memory_tree_update(tree, k);
        double peak = memory_of(&p->memory, &p->labels, on, scratch).peak;
        assert_true(fabs(memory_tree_peak(tree) - peak) <= 0.5 * p->memory.count);
    }
    for (class_id k = 0; k < p->classes.count; k++) {
        on[k] = 0;
        memory_tree_update(tree, k);
    }
    assert_true(memory_tree_peak(tree) == start);
    memory_tree_free(tree);
    free(scratch);
    free(on);
}

/* Those of a single class, with what it takes from others: peak and step as of the whole plan. */
static void check_changes(const struct plan *plan, const struct peak_change *list, uint32_t count)
{
    const struct problem *p = plan->problem;
    double *scratch = memory_scratch(&p->memory);
    label *on = mem_alloc(p->classes.count + 1u);

    for (uint32_t n = 0; n < count; n++) {
        const struct class_info *info = &p->classes.info[list[n].class];
        if (list[n].classes > 1)
            continue;
        memcpy(on, plan->on, p->classes.count * sizeof *on);
        for (uint32_t k = 0; k < info->meet_count; k++)
            on[p->classes.meets[info->meets + k].other] &= (label)~list[n].to;
        on[list[n].class] = list[n].to;
        double peak = memory_of(&p->memory, &p->labels, on, scratch).peak;
        double ms = step_tables_cost(&p->step_tables, on).step_ms;
        assert_true(fabs(list[n].peak - peak) <= 0.5 * p->memory.count);
        assert_true(fabs(list[n].step_ms - ms) <= 1e-9 * ms);
    }
    free(scratch);
    free(on);
}

/* From plans at random, in which classes give up axes. */
static void check_random_plan(struct problem *p, uint64_t seed)
{
    struct peak_change *list;
    uint32_t count;
    struct strict s;
    struct plan plan;
    struct err e;

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    assert_int_equal(plan_random(p, &s, seed, &e), 0);
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_NOBODY, &plan, &e), 0);
    assert_int_equal(plan_peak_changes(&plan, &list, &count, &e), 0);
    check_changes(&plan, list, count);
    free(list);
    atomic_bool stop = true;
    p->stop = &stop;
    if (count)
        assert_int_equal(plan_peak_changes(&plan, &list, &count, &e), ERR_STOPPED);
    p->stop = NULL;
    plan_release(&plan);
    strict_release(&s);
}

static void test_peak_changes(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster *base = mem_alloc(sizeof *base);
    struct problem_options o = {.mesh = "2x2"};
    uint32_t lowered = 0;
    struct err e;

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct peak_change *list;
        struct strict s;
        struct plan plan;
        uint32_t count;
        read_cluster(base);
        assert_int_equal(random_problem(seed, (uint32_t)(10 + seed % 30), base, &o, p, &e), 0);
        assert_int_equal(strict_new(&p->labels, &s, &e), 0);
        assert_int_equal(plan_from_strict(p, &s, PLAN_BY_NOBODY, &plan, &e), 0);
        assert_int_equal(plan_peak_changes(&plan, &list, &count, &e), 0);
        check_changes(&plan, list, count);
        follow_peak(p, seed);
        check_random_plan(p, seed);
        double *scratch = memory_scratch(&p->memory),
               peak = memory_of(&p->memory, &p->labels, plan.on, scratch).peak;
        for (class_id k = 0; k < p->classes.count; k++) { /* from nothing split, any class alone */
            if (!p->classes.info[k].var_dims && !p->classes.info[k].input_dims)
                continue;
            for (uint32_t a = 1; a < p->labels.count; a++) {
                if (!label_is_admissible(&p->labels, k, (label)a))
                    continue;
                plan.on[k] = (label)a;
                double with = memory_of(&p->memory, &p->labels, plan.on, scratch).peak;
                plan.on[k] = 0;
                bool alone = true; /* a class that folds with others moves them too */
                for (uint32_t n = 0; n < count; n++)
                    alone &= list[n].class != k || list[n].to != a || list[n].classes == 1;
                if (with < peak * (1 - 1e-9) && alone)
                    assert_true(count > 0 && list[0].peak <= with * (1 + 1e-9));
            }
        }
        for (uint32_t n = 0; n < count; n++) {
            assert_true(list[n].peak < peak && (!n || list[n - 1].peak <= list[n].peak));
            lowered++;
        }
        free(list);
        free(scratch);
        plan_release(&plan);
        strict_release(&s);
        problem_release(p);
    }
    print_message("%u changes that lower a peak\n", lowered);
    assert_true(lowered > 200);
    free(base);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breakpoints),
        cmocka_unit_test(test_batch_size),
        cmocka_unit_test(test_peak_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
