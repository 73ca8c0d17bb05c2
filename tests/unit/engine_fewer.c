/* Leaving servers out: lists of servers, and what a step takes without the slow ones. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/keep.h"
#include "engine/compare/best_pipeline.h"
#include "engine/compare/fewer.h"
#include "engine/exact/exact.h"
#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "example.h"
#include "hlo/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void load_cluster(const char *name, struct cluster *out)
{
    char path[512];
    struct err e = {0};

    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/clusters/%s.yaml", name);
    if (cluster_load(out, path, &e))
        fail_msg("%s", e.what);
}

struct list_case {
    const char *list, *again; /* NULL: refused */
    uint32_t servers, devices;
};

/* What `c` kept of the groups of `all`. */
static void find_kept(const struct cluster *all, const struct cluster *c, struct cluster_kept *kept)
{
    uint32_t g = 0;

    for (uint32_t n = 0; n < all->groups; n++) {
        const struct cluster_group *now = &c->group[g], *whole = &all->group[n];
        kept[n] = (struct cluster_kept){0, 0};
        if (g == c->groups || now->type != whole->type)
            continue;
        kept[n].servers = now->count;
        kept[n].devices = now->devices < whole->devices ? now->devices : 0;
        g++;
    }
}

static void writes(const struct cluster *c, const struct cluster_kept *kept, const char *list)
{
    struct str text = {0};

    cluster_keep_write(c, kept, &text);
    assert_string_equal(text.text, list);
    str_release(&text);
}

static void check_list(const struct list_case *k, const struct cluster *all, struct cluster *c)
{
    struct cluster_kept kept[CLUSTER_GROUPS_MOST];

    *c = *all;
    assert_int_equal(cluster_keep(c, k->list, &(struct err){0}), k->again ? 0 : ERR_USAGE);
    assert_int_equal(c->servers, k->again ? k->servers : all->servers);
    assert_int_equal(c->devices, k->again ? k->devices : all->devices);
    if (!k->again)
        return;
    find_kept(all, c, kept);
    writes(all, kept, k->again);
    /* what is left of it has the file's numbers still, and so has a part of that */
    for (uint32_t n = 0; n < c->groups; n++)
        kept[n] = (struct cluster_kept){c->group[n].count, 0};
    writes(c, kept, k->again);
}

static void lists_name_servers(void **state)
{
    (void)state;
    static const struct list_case cases[] = {
        {"0", "0", 1, 8},
        {"1", "1", 1, 4},
        {"2", "1", 1, 4}, /* equal to server 1 */
        {"0-1", "0-1", 2, 12},
        {"0,2", "0-1", 2, 12},
        {"0-2", "0-2", 3, 16},
        {"1,2", "1-2", 2, 8},
        {"2,2", "1", 1, 4},
        {"", NULL, 0, 0},
        {"3", NULL, 0, 0},
        {"0-", NULL, 0, 0},
        {"1-0", NULL, 0, 0},
        {"0,", NULL, 0, 0},
        {"a", NULL, 0, 0},
        {"0-99999999999", NULL, 0, 0},
        {"0:4", "0:4", 1, 4},
        {"1-2:1", "1-2:1", 2, 2},
        {"0:8", "0", 1, 8}, /* all it has */
        {"0:2,1-2", "0:2,1-2", 3, 10},
        {"0:9", NULL, 0, 0},
        {"0:0", NULL, 0, 0},
        {"0:", NULL, 0, 0},
        {"1:2,2", NULL, 0, 0}, /* alike in all of a kind */
    };
    struct cluster *c = mem_alloc(sizeof *c), *all = mem_alloc(sizeof *all);

    load_cluster("unequal", all);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check_list(&cases[k], all, c);
    *c = *all;
    assert_int_equal(cluster_keep(c, "1-2:2", &(struct err){0}), 0);
    writes(c, &(struct cluster_kept){1, 1}, "1:1");
    free(c);
    free(all);
}

static void open_model_on(const char *model, struct cluster *c, const char *servers,
                          const char *mesh, struct problem *out)
{
    char path[512];
    struct problem_options o = {0};
    struct hlo_module *m = NULL;
    struct err e = {0};

    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", model);
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    if ((servers && cluster_keep(c, servers, &e)) || hlo_load(path, NULL, &m, &e) ||
        problem_new(m, NULL, c, &o, out, &e))
        fail_msg("%s", e.what);
}

static void open_model(const char *model, const char *cluster, const char *servers,
                       const char *mesh, struct problem *out)
{
    struct cluster *c = mem_alloc(sizeof *c);

    load_cluster(cluster, c);
    open_model_on(model, c, servers, mesh, out);
    free(c);
}

static void open_on(const char *cluster, const char *servers, const char *mesh, struct problem *out)
{
    open_model("mlp", cluster, servers, mesh, out);
}

static double optimum(const struct problem *p)
{
    struct exact_options o = {.variables = true, .inputs = true};
    struct exact_result r;
    struct err e = {0};

    assert_int_equal(exact_strict(&p->step_tables, NULL, &o, &r, &e), 0);
    double ms = r.value;
    exact_release(&r);
    return ms;
}

static struct fewer_question question(double step_ms)
{
    return (struct fewer_question){
        .step_ms = step_ms, .limit_bytes = INFINITY, .variables = true, .inputs = true};
}

static struct fewer ask(const struct problem *p, const struct fewer_question *q)
{
    struct fewer f;
    struct err e = {0};

    if (fewer_devices(p, q, &f, &e))
        fail_msg("%s", e.what);
    return f;
}

/* Every set of servers that the header names, each opened as a problem of its own. */
static void the_best_of_all_subsets(void **state)
{
    static const struct {
        const char *model, *cluster, *all, *servers[24]; /* LIST MESH */
    } cases[] = {
        {"mlp",
         "unequal",
         "16",
         {"0 8", "0-1 12", "0:1 1", "0:2 2", "0:4 4", "1:1 1", "1:2 2", "1-2 8", "1-2 2x4"}},
        {"vgg19",
         "unequal",
         "2x8",
         {"0 8", "0 2x4", "0-1 12", "0:1 1", "0:2 2", "0:4 4", "0:4 2x2", "1:1 1", "1:2 2", "1-2 8",
          "1-2 2x4"}},
        {"resnet20", "c-4x8-v100", "32", {"0 8", "0-1 16", "0-1 2x8", "0:1 1", "0:2 2", "0:4 4"}},
        {"mlp", "v100-1x4", "4", {"0:1 1", "0:2 2"}},
        {"vgg19",
         "c-4x8-v100",
         "4x8",
         {"0 8", "0 2x4", "0-1 16", "0-1 2x8", "0:1 1", "0:2 2", "0:4 4", "0:4 2x2"}},
    };

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct problem all;
        double least = INFINITY;
        const char *best = "";
        open_model(cases[n].model, cases[n].cluster, NULL, cases[n].all, &all);
        for (int k = 0; k < 24 && cases[n].servers[k]; k++) {
            char servers[32], mesh[32];
            struct problem one;
            assert_int_equal(sscanf(cases[n].servers[k], "%31s %31s", servers, mesh), 2);
            open_model(cases[n].model, cases[n].cluster, servers, mesh, &one);
            double ms = optimum(&one);
            problem_release(&one);
            if (ms < least) {
                least = ms;
                best = cases[n].servers[k];
            }
        }
        struct fewer_question q = question(least * 2);
        struct fewer f = ask(&all, &q);
        char found[sizeof f.servers + sizeof f.mesh + 1];
        snprintf(found, sizeof found, "%s %s", f.servers, f.mesh);
        assert_true(f.found && f.proven && f.kind == FEWER_STRICT);
        print_message("%s %s: %s\n", cases[n].model, cases[n].cluster, best);
        assert_string_equal(found, best);
        assert_true(fabs(f.step_ms - least) <= 1e-9 * least);
        assert_int_equal(f.of, all.cluster.devices);
        q.step_ms = least * 1.005; /* not by 1 % */
        assert_false(ask(&all, &q).found);
        problem_release(&all);
    }
}

/* Four groups, of which every second has a slow card: neither a group alone nor the fastest first.
 */
static void sets_that_are_not_the_fastest(void **state)
{
#define LINK "link: {kind: ring, bandwidth: 130 GB/s, latency: 1 us}}\n"
    static const char yaml[] =
        "name: four\n"
        "devices:\n"
        "  a: {memory: 80 GB, peak: {f32: 14 TFLOP/s}, bandwidth: 1 TB/s, launch: 5 us}\n"
        "  b: {memory: 80 GB, peak: {f32: 13 TFLOP/s}, bandwidth: 1 TB/s, launch: 5 us}\n"
        "  c: {memory: 80 GB, peak: {f32: 12 TFLOP/s}, bandwidth: 1 TB/s, launch: 5 us}\n"
        "  d: {memory: 80 GB, peak: {f32: 11 TFLOP/s}, bandwidth: 1 TB/s, launch: 5 us}\n"
        "servers:\n"
        "  - {devices: 2, type: a, network: 1 Gbit/s, " LINK
        "  - {devices: 2, type: b, network: 400 Gbit/s, " LINK
        "  - {devices: 2, type: c, network: 1 Gbit/s, " LINK
        "  - {devices: 2, type: d, network: 400 Gbit/s, " LINK
        "network: {bandwidth: 400 Gbit/s, latency: 5 us}\n";
#undef LINK
    struct cluster *all = mem_alloc(sizeof *all), *c = mem_alloc(sizeof *c);
    struct problem on, whole;
    struct err e = {0};
    double least = INFINITY;
    char best[16] = "";

    (void)state;
    if (cluster_read(all, yaml, sizeof yaml - 1, &e))
        fail_msg("%s", e.what);
    for (unsigned set = 1; set < 15; set++) {
        char servers[16] = "", mesh[8];
        for (unsigned g = 0, n = 0; g < 4; g++) {
            if (set >> g & 1)
                n += (unsigned)snprintf(servers + n, sizeof servers - n, "%s%u", n ? "," : "", g);
        }
        snprintf(mesh, sizeof mesh, "%d", 2 * __builtin_popcount(set));
        *c = *all;
        open_model_on("vgg19", c, servers, mesh, &on);
        double ms = optimum(&on);
        if (ms < least) {
            least = ms;
            snprintf(best, sizeof best, "%s", servers);
        }
        problem_release(&on);
    }
    assert_string_equal(best, "1,3");
    *c = *all;
    open_model_on("vgg19", c, NULL, "8", &whole);
    struct fewer_question q = question(least * 2);
    struct fewer f = ask(&whole, &q);
    assert_true(f.found && f.proven && f.step_ms <= least * (1 + 1e-9));
    assert_string_equal(f.servers, best);
    problem_release(&whole);
    free(all);
    free(c);
}

/* A plan that fits its devices may be slower, and a stopped look has none. */
static void within_memory(void **state)
{
    struct problem all;
    atomic_bool stop = true;

    (void)state;
    open_on("unequal", NULL, "2x8", &all);
    struct fewer_question q = question(1e9);
    struct fewer any = ask(&all, &q);
    q.limit_bytes = 1e6; /* the model's variables and batch need more on one device */
    struct fewer tight = ask(&all, &q);
    assert_true(!tight.found || (tight.step_ms >= any.step_ms && tight.devices > 1));
    q.limit_bytes = 100;
    assert_false(ask(&all, &q).found);
    q.limit_bytes = INFINITY;
    q.does_not_fit = true; /* then only the 8 devices of more memory */
    struct fewer larger = ask(&all, &q);
    assert_true(larger.found && larger.servers[0] == '0' && !strchr(larger.servers, '-'));
    q.stop = &stop;
    assert_false(ask(&all, &q).found);
    problem_release(&all);
    open_on("c-4x8-v100", NULL, "32", &all); /* all have the same memory: none helps */
    q.stop = NULL;
    assert_false(ask(&all, &q).found);
    problem_release(&all);
}

/* The best within a limit is the same whatever the plan on all devices takes, as long as that is
 * longer: what is not looked for could not win. */
static void no_more_is_looked_for_than_can_win(void **state)
{
    struct problem all;
    uint32_t found = 0;
    double least = 0; /* the step without a limit */

    (void)state;
    open_on("unequal", NULL, "2x8", &all);
    for (double bytes = 64e6; bytes > 1e6; bytes /= 1.5) {
        struct fewer_question q = question(1e9);
        q.limit_bytes = bytes;
        struct fewer any = ask(&all, &q);
        if (!any.found)
            continue;
        print_message("%.2f MB: %s %s, %g ms\n", bytes / 1e6, any.servers, any.mesh, any.step_ms);
        least = least > 0 ? least : any.step_ms;
        found += any.step_ms > least;
        q.step_ms = any.step_ms * 1.02;
        struct fewer same = ask(&all, &q);
        assert_true(same.found && same.step_ms == any.step_ms && same.devices == any.devices);
        assert_string_equal(same.servers, any.servers);
        assert_string_equal(same.mesh, any.mesh);
        q.step_ms = any.step_ms * 1.005;
        assert_false(ask(&all, &q).found);
    }
    assert_true(found > 1); /* the limit binds */
    problem_release(&all);
}

/* Relaxed plans and pipelines on fewer devices take what they take when those are all there are. */
static void other_kinds(void **state)
{
    struct pipeline_options o = {.no_limit = true};
    struct relaxed_options relaxed = {0};
    struct problem all, one;
    struct err e = {0};

    (void)state;
    open_on("unequal", NULL, "2x8", &all);
    struct fewer_question q = question(1e9);
    struct fewer strict = ask(&all, &q);
    q.relaxed = true;
    struct fewer f = ask(&all, &q);
    assert_true(f.found && f.step_ms <= strict.step_ms * (1 + 1e-9));
    if (f.kind == FEWER_RELAXED) {
        struct relaxed_plan x;
        assert_false(f.proven);
        open_on("unequal", f.servers, f.mesh, &one);
        assert_int_equal(relaxed_solve_overlapped(&one, &relaxed, NULL, 0, &x, &e), 0);
        assert_true(fabs(x.cost.step_ms - f.step_ms) <= 1e-9 * f.step_ms);
        relaxed_plan_release(&x);
        problem_release(&one);
    }
    q = question(1e9);
    q.limit_bytes = 100; /* no strict plan; a pipeline that need not fit */
    q.pipeline = &o;
    f = ask(&all, &q);
    assert_true(f.found && f.kind == FEWER_PIPELINE && !f.proven && !f.mesh[0]);
    struct pipeline *l;
    struct pipeline_plan plan;
    open_on("unequal", f.servers, "", &one);
    assert_int_equal(best_pipeline_new(&one, &o, &l, &plan, &e), 0);
    assert_true(fabs(pipeline_step_ms(l, &plan) - f.step_ms) <= 1e-9 * f.step_ms);
    best_pipeline_free(l);
    problem_release(&one);
    problem_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_name_servers),
                                       cmocka_unit_test(the_best_of_all_subsets),
                                       cmocka_unit_test(sets_that_are_not_the_fastest),
                                       cmocka_unit_test(within_memory),
                                       cmocka_unit_test(no_more_is_looked_for_than_can_win),
                                       cmocka_unit_test(other_kinds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
