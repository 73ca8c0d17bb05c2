/* automap bench pipeline: order and profile, L and a simulated schedule, all candidates, the proven
 * optimum on 64 points, the learner; and the algorithms at the same count of priced plans. */
#include "engine/pipeline/descent.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_game.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipe_search_ops.h"
#include "engine/pipeline/simulation.h"
#include "engine/pipeline/space.h"
#include "engine/pipeline/tabulate.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/sort.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/rng.h"
#include "rl/run.h"
#include "tui/commands/bench.h"
#include "tui/commands/bench_models.h"
#include "tui/commands/commands.h"
#include "tui/files/examples.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/problem_args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 64, ROUNDS = 5, SEEDS = 5, LEVELS = 4, BATCH = 256, MICRO_BATCHES = 16 };
static const uint64_t levels[LEVELS] = {50, 200, 500, 1500};
static const double learner_seconds = 5;

struct figures {
    double profile_ms, length_us, makespan_us, candidates_ms, instant_ms, exact_ms;
    uint32_t points, few;
    uint64_t candidates, instant_evaluations;
    double best_candidate, instant, exact;
    bool certified;
};

static double ms_since(double start)
{
    return 1e3 * (bench_now() - start);
}

static struct pipe_plan start_plan(const struct pipe_instance *in)
{
    struct pipe_goal g = {.in = in};
    struct pipe_descent d = {.plan = pipe_plan_whole(in)};

    pipe_instant(&g, 1, &d);
    return d.plan;
}

static void keep_least(double *best, double ms)
{
    if (*best <= 0 || ms < *best)
        *best = ms;
}

/* One plan after the other, as a search asks for them: a pivot moves. */
static double time_lengths(const struct pipe_instance *in, struct pipe_plan *p, uint32_t count)
{
    uint32_t at = p->stages > 1 ? p->pivot[1] : 0;
    double sum = 0, start = bench_now();

    for (uint32_t n = 0; n < count; n++) {
        if (at > 1)
            p->pivot[1] = at - (n & 1);
        sum += pipe_length(in, p);
    }
    return sum < INFINITY ? ms_since(start) : 0; /* the sum is looked at, so it is computed */
}

static double time_makespans(const struct pipe_instance *in, const struct pipe_plan *p,
                             uint32_t count)
{
    double sum = 0, start = bench_now();

    for (uint32_t n = 0; n < count; n++)
        sum += pipe_makespan(in, p, PIPE_EAGER);
    return sum < INFINITY ? ms_since(start) : 0;
}

/* The least of many short rounds: other work on the machine does not count. */
static void time_formula(const struct pipe_instance *in, struct figures *f)
{
    enum { TIMES = 50, LENGTHS = 10000, MAKESPANS = 500 };
    struct pipe_plan p = start_plan(in), moved = p;

    for (uint32_t n = 0; n < TIMES; n++) {
        keep_least(&f->length_us, 1e3 * time_lengths(in, &moved, LENGTHS) / LENGTHS);
        keep_least(&f->makespan_us, 1e3 * time_makespans(in, &p, MAKESPANS) / MAKESPANS);
        moved = p;
    }
}

static int time_candidates(const struct pipe_instance *in, struct figures *f, struct err *e)
{
    struct pipe_space_options o = pipe_space_paper();
    struct pipe_space space;
    struct pipe_plan p = {0};
    double start = bench_now();
    int rc = pipe_space_new(in, &o, &space, e);

    f->best_candidate = INFINITY;
    if (rc)
        return rc;
    for (f->candidates = 0; pipe_space_next(&space, &p); f->candidates++) {
        double length = pipe_score(in, &p);
        f->best_candidate = length < f->best_candidate ? length : f->best_candidate;
    }
    keep_least(&f->candidates_ms, ms_since(start));
    pipe_space_free(&space);
    return 0;
}

static int time_exact(const struct pipe_instance *in, struct figures *f, struct err *e)
{
    struct pipe_goal g = {.in = in, .variables = true};
    struct pipe_exact_options o = {.variables = true};
    struct pipe_exact_result r;
    struct pipe_descent d;
    double start = bench_now();
    bool found = pipe_instant(&g, 3, &d);

    keep_least(&f->instant_ms, ms_since(start));
    f->instant_evaluations = g.evaluations;
    f->instant = o.known_ms = found ? d.value : 0;
    int rc = pipe_exact_solve(in, &o, &r, e);
    keep_least(&f->exact_ms, ms_since(start));
    f->exact = r.length_ms;
    f->certified = r.certified;
    return rc;
}

static void print_figures(const char *model, const struct figures *f)
{
    printf("%-24s %6u points, %u of them cheapest in their part\n", model, f->points, f->few);
    printf("  order and profile        %10.1f ms   target 50\n", f->profile_ms);
    printf("  L of a plan              %10.3f us   target 0.3\n", f->length_us);
    printf("  simulated eager 1F1B     %10.2f us\n", f->makespan_us);
    printf("  all %6llu candidates    %10.3f ms   target 1      best L %.1f ms\n",
           (unsigned long long)f->candidates, f->candidates_ms, f->best_candidate);
    printf("  closed form, descent     %10.3f ms                L %.1f ms, %llu plans priced\n",
           f->instant_ms, f->instant, (unsigned long long)f->instant_evaluations);
    printf("  and the proven optimum   %10.1f ms   target 1000   L %.1f ms, %s\n", f->exact_ms,
           f->exact, f->certified ? "certified" : "not certified");
}

/* ---- algorithms at equal evaluations ---- */
struct race_row {
    double at[LEVELS]; /* best L after so many plans */
    uint64_t found;    /* plans until the best candidate */
    double seconds;
    double policy; /* dqn: L of its plan without exploration, at the end; else 0 */
};

/* The learner's plan by its best actions alone. */
static double policy_length(struct pipe_search *s)
{
    struct rl_agent *agent = pipe_search_agent(s);
    struct pipe_game game;
    struct rl_rng rng;
    double reward;

    if (!agent)
        return 0;
    pipe_game_new(pipe_search_space(s), &game);
    struct rl_env env = pipe_game_env(&game);
    rl_rng_seed(&rng, 1, 0);
    return rl_run_trial(agent, &env, 0, &rng, &reward) ? 0 : game.length_ms;
}

static int run_row(const struct pipe_instance *in, enum pipe_algorithm a, uint64_t seed,
                   double wanted, struct race_row *row, struct err *e)
{
    struct pipe_search_options o = {.algorithm = a, .space = pipe_space_paper(), .seed = seed};
    struct pipe_search *s;
    struct pipe_event event;
    double start = bench_now();
    int rc = pipe_search_new(in, &o, &s, e);

    *row = (struct race_row){.found = UINT64_MAX};
    if (rc)
        return rc;
    for (uint32_t n = 0; n < LEVELS;) {
        bool went_on = pipe_search_step(s, &event);
        uint64_t priced = pipe_search_evaluations(s);
        if (event.improved && event.length_ms <= wanted && row->found == UINT64_MAX)
            row->found = priced;
        while (n < LEVELS && (!went_on || priced >= levels[n]))
            row->at[n++] = pipe_search_best(s)->length_ms;
        if (row->found != UINT64_MAX && row->seconds == 0)
            row->seconds = bench_now() - start;
    }
    row->policy = policy_length(s);
    pipe_search_free(s);
    return 0;
}

static int race(const struct pipe_instance *in, const struct figures *f, struct err *e)
{
    printf("  gap to the optimum after so many plans priced (median of %d seeds), and the best\n"
           "  candidate reached or beaten: seeds, plans (median)\n  %-10s",
           SEEDS, "");
    for (uint32_t n = 0; n < LEVELS; n++)
        printf(" %8llu", (unsigned long long)levels[n]);
    printf("    reached    plans  seconds\n");
    for (int a = 0; a < PIPE_ALGORITHM_COUNT; a++) {
        double gap[LEVELS][SEEDS], plans[SEEDS], seconds[SEEDS], policy[SEEDS];
        uint32_t reached = 0;
        if (a == PIPE_SEARCH_EXACT)
            continue;
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            struct race_row row;
            int rc = run_row(in, (enum pipe_algorithm)a, seed + 1, f->best_candidate, &row, e);
            if (rc)
                return rc;
            for (uint32_t n = 0; n < LEVELS; n++)
                gap[n][seed] = 100 * (row.at[n] / f->exact - 1);
            policy[seed] = 100 * (row.policy / f->exact - 1);
            bool in_time = row.found != UINT64_MAX && row.seconds <= learner_seconds;
            reached += in_time;
            plans[seed] = row.found == UINT64_MAX ? INFINITY : (double)row.found;
            seconds[seed] = row.found == UINT64_MAX ? INFINITY : row.seconds;
        }
        printf("  %-10s", pipe_search_names[a]);
        for (uint32_t n = 0; n < LEVELS; n++) {
            sort_doubles(gap[n], SEEDS);
            printf(" %7.2f%%", gap[n][SEEDS / 2]);
        }
        sort_doubles(plans, SEEDS);
        sort_doubles(seconds, SEEDS);
        sort_doubles(policy, SEEDS);
        printf("     %u of %d %8.0f %8.3f", reached, SEEDS, plans[SEEDS / 2], seconds[SEEDS / 2]);
        if (a == PIPE_SEARCH_DQN)
            printf("   without exploration %.2f%%", policy[SEEDS / 2]);
        putchar('\n');
    }
    return 0;
}

/* ---- a model ---- */
static int measure_pipeline(struct problem *p, const char *model, struct err *e)
{
    struct pipe_options o = {.micro_batches = MICRO_BATCHES, .micro_batch = BATCH / MICRO_BATCHES};
    struct pipe_instance all, few;
    struct order order;
    struct figures f = {0};
    int rc = 0;

    for (int round = 0; round < ROUNDS && !rc; round++) {
        double start = bench_now();
        if (round)
            pipe_instance_free(&all);
        rc = order_new(p, &order, e);
        if (rc)
            return rc;
        rc = pipe_tabulate(&order, &o, &all, e);
        keep_least(&f.profile_ms, ms_since(start));
        order_release(&order);
    }
    if (rc)
        return rc;
    uint32_t *cut = mem_alloc((all.points + 2) * sizeof *cut);
    f.points = all.points;
    f.few = pipe_instance_cheapest(&all, POINTS, cut);
    rc = pipe_instance_coarsen(&all, cut, f.few, &few, e);
    free(cut);
    if (!rc) {
        time_formula(&few, &f);
        for (int round = 0; round < ROUNDS && !rc; round++) {
            rc = time_candidates(&few, &f, e);
            rc = rc ? rc : time_exact(&few, &f, e);
        }
        if (!rc) {
            print_figures(model, &f);
            rc = race(&few, &f, e);
        }
        pipe_instance_free(&few);
    }
    pipe_instance_free(&all);
    return rc;
}

struct request {
    const char *cluster;
    struct text_list models;
};

static const struct option rows[] = {
    {"CLUSTER", .values = VALUES_CLUSTER, INTO(struct request, cluster)},
    {"MODEL", .values = VALUES_MODEL, .kind = OPTION_LIST, INTO(struct request, models)},
    {0},
};
static const struct option_set options[] = {{.rows = rows}, {0}};

static int run_pipeline(int argc, char **argv)
{
    const struct option_parser parser = {"bench pipeline", options, NULL};
    struct request r = {0};
    struct problem_args args = {0};
    struct problem *p = mem_alloc(sizeof *p);
    struct bench_models *models = mem_alloc(sizeof *models);
    char data[512] = "", cluster[1024];
    struct err e;
    int code = options_parse(&parser, &r, argc, argv);

    if (!r.cluster)
        r.cluster = "c-4x8-v100";
    if (code == EXIT_OK)
        code = bench_models_find(models, "bench pipeline", &r.models);

    if (code == EXIT_OK &&
        !examples_cluster_path(cluster, sizeof cluster,
                               file_data_dir(data, sizeof data) ? data : NULL, r.cluster)) {
        err_set(&e, ERR_INPUT, "automap bench pipeline: no cluster \"%.200s\"", r.cluster);
        err_print(&e, stderr);
        code = EXIT_INPUT;
    }
    args.cluster = cluster;
    for (int n = 0; n < models->count && code == EXIT_OK; n++) {
        args.model = models->path[n];
        code = problem_args_load(&args, p);
        if (code != EXIT_OK)
            break;
        if (measure_pipeline(p, models->name[n], &e)) {
            err_print(&e, stderr);
            code = exit_code_of(&e);
        }
        problem_release(p);
    }
    text_list_release(&r.models);
    free(models);
    free(p);
    return code;
}

const struct command bench_pipeline = {
    .name = "bench pipeline",
    .usage = "[CLUSTER [MODEL ...]]",
    .summary = "profile, L, schedule, candidates and the proven optimum of pipelines; the "
               "algorithms at equal plans priced",
    .about = "Measures profile, L, schedule, candidates and the proven optimum of pipelines; the "
             "algorithms at equal plans priced.",
    .options = options,
    .run = run_pipeline,
};
