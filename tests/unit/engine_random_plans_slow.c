/* Random search against the proof: no strict plan that is drawn at random, and none that differs
 * from the optimum in one or two decisions, is faster than "proven". 10^5 random plans of small
 * models, local changes of all; on one axis, two, unequal devices and slow ones, where it pays to
 * split what neither a variable nor an input has.
 *
 *     ctest --preset release -L slow -R engine_random_plans
 *
 * In the environment PLANS draws another number, PLACE (slow) takes one cluster alone, and
 * AUTOMAP_SHARED adds a folder of models. */
#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "engine/plan/random.h"
#include "engine/problem/problem.h"
#include "hlo/load.h"
#include "hlo/support/mem.h"
#include "rl/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_INSTRUCTIONS = 3000, PLANS = 100000, LOCAL = 20000 };

struct tally {
    uint64_t random, local;
    double nearest; /* how far the best of them is above the optimum */
};

static uint64_t plans_wanted(const struct problem *p)
{
    const char *given = getenv("PLANS");
    uint64_t most = given ? strtoull(given, NULL, 10) : PLANS;

    return p->m->count > SMALL_INSTRUCTIONS ? most / 100 : most;
}

static void check(const struct problem *p, const struct strict *s, double optimum, const char *how,
                  struct tally *t)
{
    double ms = step_tables_cost(&p->step_tables, s->on).step_ms;

    if (ms < optimum * (1 - 1e-9))
        fail_msg("%s finds %.9g ms, below the proven %.9g", how, ms, optimum);
    t->nearest = fmin(t->nearest, ms / optimum - 1);
}

static void draw(const struct problem *p, double optimum, struct tally *t)
{
    struct strict s;
    struct err e = {0};

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    for (uint64_t n = plans_wanted(p); n-- > 0; t->random++) {
        size_t mark = strict_mark(&s);
        assert_int_equal(plan_random(p, &s, n, &e), 0);
        check(p, &s, optimum, "random search", t);
        strict_undo(&s, mark);
    }
    strict_release(&s);
}

/* Decides classes `skip` otherwise, then all others as the optimum does, as far as still possible.
 */
static void decide_others(const struct problem *p, struct strict *s, const label *best,
                          const class_id *skip, uint32_t skipped)
{
    for (class_id k = 0; k < p->classes.count; k++) {
        bool left = false;
        for (uint32_t n = 0; n < skipped; n++)
            left |= skip[n] == k;
        for (uint32_t x = 0; x < p->mesh.axes && !left; x++) {
            if (best[k] >> x & 1)
                (void)strict_decide(s, k, x, true, NULL);
        }
    }
}

static void change(const struct problem *p, const label *best, double optimum, struct tally *t)
{
    struct rl_rng rng;
    struct strict s;
    struct err e = {0};

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    rl_rng_seed(&rng, 1, 0);
    uint64_t most = plans_wanted(p) / 5;
    for (uint64_t n = 0; n < (most < LOCAL ? most : LOCAL) && p->classes.count; n++, t->local++) {
        uint32_t count = 1 + rl_rng_below(&rng, 2);
        class_id changed[2];
        size_t mark = strict_mark(&s);
        for (uint32_t k = 0; k < count; k++) {
            changed[k] = rl_rng_below(&rng, p->classes.count);
            label over = (label)rl_rng_below(&rng, p->labels.count);
            for (uint32_t x = 0; x < p->mesh.axes; x++)
                (void)strict_decide(&s, changed[k], x, over >> x & 1, NULL);
        }
        decide_others(p, &s, best, changed, count);
        check(p, &s, optimum, "a change of one or two decisions", t);
        strict_undo(&s, mark);
    }
    strict_release(&s);
}

static void try_on(const char *path, const char *cluster_name, const char *mesh)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {0};
    struct exact_options optimum = {.variables = true, .inputs = true};
    struct exact_result r;
    struct hlo_module *m = NULL;
    struct problem p;
    struct err e = {0};
    char file[512];

    snprintf(file, sizeof file, AUTOMAP_SOURCE_DIR "/examples/clusters/%s.yaml", cluster_name);
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    bool is_slow = !strcmp(cluster_name, "slow"); /* computing is dear: more kinds of classes pay */
    if (is_slow ? cluster_of_devices(cluster, 8, &e) ||
                      cluster_set_text(cluster, "devices.*.peak.f32=100 GFLOP/s", &e) ||
                      cluster_set_text(cluster, "devices.*.bandwidth=10 GB/s", &e)
                : cluster_load(cluster, file, &e))
        fail_msg("%s", e.what);
    if (hlo_load(path, NULL, &m, &e))
        fail_msg("%s", e.what);
    if (problem_new(m, NULL, cluster, &o, &p, &e)) { /* a piece of a program has no plan */
        free(cluster);
        return;
    }
    assert_int_equal(exact_strict(&p.step_tables, NULL, &optimum, &r, &e), 0);
    struct tally t = {.nearest = INFINITY};
    if (r.proven) {
        draw(&p, r.value, &t);
        change(&p, r.on, r.value, &t);
    }
    printf("%-40.40s %-10s %-4s %9.4g ms %8llu random, %6llu changed; nearest %+.2g %%%s\n",
           strrchr(path, '/') + 1, cluster_name, mesh, r.value, (unsigned long long)t.random,
           (unsigned long long)t.local, 100 * t.nearest, r.proven ? "" : " (not proven)");
    fflush(stdout);
    exact_release(&r);
    problem_release(&p);
    free(cluster);
}

static void nothing_is_faster(void **state)
{
    static const struct {
        const char *cluster, *mesh;
    } places[] = {{"v100-1x4", "4"}, {"v100-1x4", "2x2"}, {"unequal", "2x8"}, {"slow", "2x4"}};
    const char *shared = getenv("AUTOMAP_SHARED"), *place = getenv("PLACE");
    char pattern[512];
    glob_t g;

    (void)state;
    int more = 0;
    for (int from = 0; from < 2; from++) {
        if (from && !shared)
            break;
        snprintf(pattern, sizeof pattern, "%s/*.gz",
                 from ? shared : AUTOMAP_SOURCE_DIR "/examples/models");
        if (from)
            snprintf(pattern, sizeof pattern, "%s/zoo/*/*hlo.gz", shared);
        more |= !glob(pattern, more ? GLOB_APPEND : 0, NULL, &g);
    }
    assert_true(more);
    for (size_t k = 0; k < g.gl_pathc; k++) {
        bool is_other_form = !strstr(g.gl_pathv[k], "hlo") || strstr(g.gl_pathv[k], ".meta.");
        for (size_t n = 0; n < sizeof places / sizeof *places && !is_other_form; n++) {
            if (!place || !strcmp(place, places[n].cluster))
                try_on(g.gl_pathv[k], places[n].cluster, places[n].mesh);
        }
    }
    globfree(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_faster)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
