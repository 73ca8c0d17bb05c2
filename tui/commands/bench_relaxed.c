/* automap bench relaxed: relaxed plans and their bounds beside the strict optimum and data
 * parallelism, for the shipped models on three clusters, and how long T5-11B takes. */
#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/bench.h"
#include "tui/commands/bench_models.h"
#include "tui/commands/commands.h"
#include "tui/files/examples.h"

#include "engine/plan/plan.h"
#include "engine/relaxed/relaxed.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5 };

static const struct {
    const char *cluster, *mesh, *shown;
} cases[] = {
    {"a-2x8-v100", "", "A 16"},     {"a-2x8-v100", "2x8", "A 2x8"}, {"c-4x8-v100", "", "C 32"},
    {"c-4x8-v100", "4x8", "C 4x8"}, {"h100-1x8", "", "H100 8"},
};

static int open_problem(const char *model, const char *cluster, const char *mesh,
                        struct problem *out, struct err *e)
{
    char data[512] = "", path[1024];
    struct problem_options o = {0};
    struct cluster *c = mem_alloc(sizeof *c);
    struct hlo_module *m;
    int rc = 0;

    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    if (!file_data_dir(data, sizeof data) ||
        !examples_cluster_path(path, sizeof path, data, cluster)) {
        rc = err_set(e, ERR_INPUT, "no cluster \"%.100s\"", cluster);
        goto out;
    }
    rc = cluster_load(c, path, e);
    if (rc)
        goto out;
    if (!examples_model_path(path, sizeof path, data, model)) {
        rc = err_set(e, ERR_INPUT, "no model \"%.100s\"", model);
        goto out;
    }
    rc = hlo_load(path, NULL, &m, e);
    if (rc)
        goto out;
    rc = problem_new(m, NULL, c, &o, out, e);
out:
    free(c);
    return rc;
}

/* Step time when the batch is split over the devices, "-" when it cannot be. */
static char *data_parallel_ms(char out[static 32], const struct problem *p)
{
    label over, *on = mem_alloc(p->classes.count + 1u);
    class_id batch = plan_batch_class(p, &over);

    snprintf(out, 32, "-");
    if (batch != CLASS_NONE) {
        on[batch] = over;
        snprintf(out, 32, "%.2f", step_tables_cost(&p->step_tables, on).step_ms);
    }
    free(on);
    return out;
}

static int solve_timed(const struct problem *p, enum relaxed_folding folding,
                       struct relaxed_plan *plan, double *ms, struct err *e)
{
    struct relaxed_options o = {.folding = folding};
    struct relaxed *r;
    double start = bench_own();
    int rc = relaxed_new(p, &o, &r, e);

    if (rc)
        return rc;
    rc = relaxed_solve(r, 0, plan, e);
    *ms = 1e3 * (bench_own() - start);
    relaxed_free(r);
    return rc;
}

static int one_case(const char *model, const char *path, size_t at, struct err *e)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct relaxed_plan whole = {0}, tied = {0};
    double whole_ms, tied_ms;
    char parallel[32];
    int rc = open_problem(path, cases[at].cluster, cases[at].mesh, p, e);

    if (!rc) {
        rc = solve_timed(p, RELAXED_FOLD_OFF, &whole, &whole_ms, e);
        rc = rc ? rc : solve_timed(p, RELAXED_FOLD_ON, &tied, &tied_ms, e);
        if (!rc)
            printf("%-13.13s %-7s |%10s %10.2f |%10.2f %10.2f %6.2f %% %7.0f |%10.2f %10.2f "
                   "%6.2f %% %7.0f\n",
                   model, cases[at].shown, data_parallel_ms(parallel, p), whole.strict_ms,
                   whole.cost.step_ms, whole.bound_ms, 100 * whole.gap, whole_ms, tied.cost.step_ms,
                   tied.bound_ms, 100 * tied.gap, tied_ms);
        fflush(stdout);
        problem_release(p);
    }
    relaxed_plan_release(&whole);
    relaxed_plan_release(&tied);
    free(p);
    return rc;
}

/* ---- speed ---- */

struct speed {
    double build, sweeps, folded, two_axes, two_gap, what_if;
};

static void keep_least(double *best, double start)
{
    double ms = 1e3 * (bench_own() - start);

    *best = *best > 0 && *best < ms ? *best : ms;
}

/* A fresh solve of `sweeps` sweeps; then, where asked, a pin and one warm sweep. */
static int time_solve(const struct problem *p, const struct relaxed_options *o, uint32_t sweeps,
                      double *build, double *ms, double *gap, double *what_if, struct err *e)
{
    struct relaxed_pin pin = {0, 0, 0, RELAXED_WHOLE};
    struct relaxed_plan plan = {0};
    struct relaxed *r;
    double start = bench_own();
    int rc = relaxed_new(p, o, &r, e);

    if (rc)
        return rc;
    keep_least(build, start);
    start = bench_own();
    rc = relaxed_solve(r, sweeps, &plan, e);
    keep_least(ms, start);
    *gap = plan.gap;
    relaxed_plan_release(&plan);
    start = bench_own();
    if (rc)
        goto out;
    if (what_if)
        rc = relaxed_set_pins(r, &pin, 1, e);
    if (rc)
        goto out;
    if (what_if)
        rc = relaxed_solve(r, 1, &plan, e);
out:
    if (what_if)
        keep_least(what_if, start);
    relaxed_plan_release(&plan);
    relaxed_free(r);
    return rc;
}

static int time_meshes(const char *model, struct speed *s, struct err *e)
{
    struct relaxed_options whole = {.folding = RELAXED_FOLD_OFF},
                           tied = {.folding = RELAXED_FOLD_ON, .gap = 0.01};
    struct problem *p = mem_alloc(sizeof *p);
    double gap, unused = 0;
    int rc = open_problem(model, "a-2x8-v100", "", p, e);

    if (!rc) {
        for (int k = 0; k < ROUNDS && !rc; k++)
            rc = time_solve(p, &whole, 30, &s->build, &s->sweeps, &gap, &s->what_if, e);
        for (int k = 0; k < ROUNDS && !rc; k++)
            rc = time_solve(p, &tied, 30, &unused, &s->folded, &gap, NULL, e);
        problem_release(p);
    }
    rc = rc ? rc : open_problem(model, "a-2x8-v100", "2x8", p, e);
    if (!rc) {
        for (int k = 0; k < ROUNDS && !rc; k++)
            rc = time_solve(p, &tied, 0, &unused, &s->two_axes, &s->two_gap, NULL, e);
        problem_release(p);
    }
    free(p);
    return rc;
}

int bench_relaxed_speed(const char *model)
{
    struct speed s = {0};
    struct err e;

    if (time_meshes(model, &s, &e)) {
        err_print(&e, stderr);
        return EXIT_INPUT;
    }
    printf("\n%-37s  measured   target, ms of a processor\n", model);
    printf("relaxed: statuses, labels, costs       %6.1f\n", s.build);
    printf("one axis, 30 sweeps, unfolded          %6.1f   <= 100 ms\n", s.sweeps);
    printf("one axis, 30 sweeps, folded            %6.1f   <= 15 ms\n", s.folded);
    printf("2x8, folded, to a gap of %.2f %%        %6.1f   <= 1000 ms\n", 100 * s.two_gap,
           s.two_axes);
    printf("what-if: a pin and one warm sweep      %6.1f   <= 10 ms\n", s.what_if);
    return EXIT_OK;
}

static int run_relaxed(int argc, char **argv)
{
    struct bench_models *models = mem_alloc(sizeof *models);
    int code = bench_models_read(models, "bench relaxed", argc, argv), rc = 0;
    struct err e;

    if (code == EXIT_OK)
        printf(
            "ms of a step; the last column of each half: ms of a processor to solve\n\n%-13s %-7s "
            "|%10s %10s |%38s "
            "|%38s\n",
            "model", "mesh", "data par.", "strict", "relaxed     global   gap",
            "folded       tied   gap");
    if (rc)
        goto out;
    for (int k = 0; k < models->count && code == EXIT_OK; k++) {
        for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
            rc = one_case(models->name[k], models->path[k], n, &e);
            if (rc)
                goto out;
        }
    }
out:
    free(models);
    if (rc) {
        err_print(&e, stderr);
        return EXIT_INPUT;
    }
    return code;
}

const struct command bench_relaxed = {
    .name = "bench relaxed",
    .usage = "[MODEL ...]",
    .summary = "relaxed plans with their bounds, beside the strict optimum and data parallelism",
    .about =
        "Measures relaxed plans with their bounds, beside the strict optimum and data parallelism.",
    .options = bench_model_options,
    .run = run_relaxed,
};
