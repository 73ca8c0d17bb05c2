/* automap search: a search without a screen. */
#include "engine/cluster/mesh.h"
#include "engine/compare/compare.h"
#include "engine/compare/fewer.h"
#include "engine/cost/memory.h"
#include "engine/live/journal.h"
#include "engine/live/pins_and_undo.h"
#include "engine/live/search_state.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/ranks/ranks.h"
#include "engine/relaxed/relaxed.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/commands.h"
#include "tui/options/problem_args.h"
#include "tui/options/search_args.h"

#include "engine/plan/plan_file.h"
#include "engine/text/units.h"
#include "hlo/support/stop.h"
#include "tui/commands/fewer_print.h"
#include "tui/commands/plan_relaxed.h"
#include "tui/commands/search_compare.h"
#include "tui/commands/search_curves.h"
#include "tui/commands/search_hybrid.h"
#include "tui/commands/search_pipeline.h"
#include "tui/commands/search_race.h"
#include "tui/commands/search_run.h"
#include "tui/commands/search_seeds.h"
#include "tui/files/sessions.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"
#include "tui/options/stopping.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- progress ---- */

struct watch {
    bool terminal, shown;
    uint32_t ticks;
    double last_best;
};

/* The run to show: the first that is not finished is as good as any. */
static struct search_run *run_to_show(struct search_pool *pool)
{
    uint32_t next = atomic_load(&pool->next), finished = atomic_load(&pool->finished);

    if (next > pool->args->seeds)
        next = pool->args->seeds;
    return &pool->runs[finished < next ? finished : next ? next - 1 : 0];
}

static void show_progress(struct search_pool *pool, void *self)
{
    struct watch *w = self;
    const struct search_args *a = pool->args;
    struct search_progress *p = &run_to_show(pool)->progress;
    double seconds = atomic_load(&p->seconds), best = atomic_load(&p->best_ms);
    unsigned long long episodes = atomic_load(&p->episodes);
    char ms[UNITS_ROOM], count[UNITS_ROOM], speed[UNITS_ROOM], left[48] = "";

    w->ticks++;
    /* elsewhere than on a terminal: a line a second, and only when something is new */
    if (a->quiet || (!w->terminal && (w->ticks % 10 || best == w->last_best)))
        return;
    w->last_best = best;
    if (a->seconds > 0)
        snprintf(left, sizeof left, "  %.0f s left", fmax(0, a->seconds - seconds));
    else if (a->episodes && episodes)
        snprintf(left, sizeof left, "  %.0f s left",
                 seconds * ((double)a->episodes / (double)episodes - 1));
    fprintf(stderr, "%sbest %s  %s episodes, %s/s  epsilon %.2f", w->terminal ? "\r\033[K" : "",
            best > 0 ? units_ms(ms, best) : "-", units_count(count, (int64_t)episodes),
            units_number(speed, seconds > 0 ? (double)episodes / seconds : 0, 0),
            atomic_load(&p->epsilon));
    if (a->seeds > 1)
        fprintf(stderr, "  %u of %u seeds", atomic_load(&pool->finished), a->seeds);
    fprintf(stderr, "%s%s", left, w->terminal ? "" : "\n");
    fflush(stderr);
    w->shown = true;
}

/* ---- results ---- */

/* Of a search within a memory limit. */
static void print_memory(const struct search_state *c, const struct plan *plan)
{
    struct memory_cost memory = {0};
    struct err e;
    char a[UNITS_ROOM], b[UNITS_ROOM];

    if (plan_memory(plan, &memory, &e))
        return;
    printf("  memory          %12s  of %s: %s", units_bytes(a, memory.peak),
           units_bytes(b, plan->memory_limit), c->best->fits ? "fits" : "does not fit");
    if (c->exact && !c->exact->fits && c->exact->proven)
        printf("; no strict plan that splits %s does, proven; automap plan --memory-limit says "
               "what it takes",
               game_decides[c->options.game.kind]);
    printf("\n");
}

/* How far below the best plan it is, where that is one the optimum can be compared with; and of
 * what it is the optimum, for automap plan --optimum decides variables and inputs. */
static void print_optimum(const struct search_state *c, const struct plan *plan)
{
    enum game_kind kind = c->options.game.kind;
    double ms = c->exact->cost.step_ms;
    const char *between = "";
    char a[UNITS_ROOM];

    printf("  %-15s %12s  ", c->exact->proven ? "proven optimum" : "best known", units_ms(a, ms));
    if (c->best->fits) {
        printf("%.2f %% below", 100 * (1 - ms / plan->cost.step_ms));
        between = ", ";
    }
    if (plan->memory_limit > 0) {
        printf("%swithin the memory limit", between);
        between = ", ";
    }
    printf("%sof strict plans deciding %s%s\n", between, game_decides[kind],
           kind == GAME_ALL ? "" : " alone");
}

static void print_head(const struct search_state *c)
{
    const struct problem *p = c->problem;
    char mesh[64], model[128];

    mesh_format(&p->mesh, mesh, sizeof mesh);
    printf("%s  on %s, mesh %s; %s decides %s, seed %llu\n\n",
           file_stem(model, sizeof model, p->m->file), p->cluster.name, mesh,
           search_names[c->options.algorithm], game_decides[c->options.game.kind],
           (unsigned long long)c->options.seed);
}

/* Pins have no meaning on other devices, and the paper's reward is of another goal. */
static bool asks_fewer(const struct search_state *c)
{
    return !c->acts[c->act].pin_count && c->options.game.reward == GAME_REWARD_COST;
}

/* The best plan of the search, or its optimum where that is faster, against fewer devices. */
static struct fewer_question fewer_than(const struct search_state *c)
{
    const struct game_options *game = &c->options.game;
    const struct live_plan *best = c->best;

    if (c->exact && c->exact->fits && c->exact->cost.step_ms < best->cost.step_ms)
        best = c->exact;
    return (struct fewer_question){.step_ms = best->cost.step_ms,
                                   .does_not_fit = !best->fits,
                                   .limit_bytes = game->memory_limit > 0 ? game->memory_limit : 0,
                                   .variables = game->kind != GAME_ADP,
                                   .inputs = game->kind != GAME_OPP};
}

/* Weak propagation may conflict in every episode; the plan is then no decision of the search. */
static void print_fruitless(const struct search_state *c)
{
    uint64_t episodes = search_episodes(c->search);

    if (episodes && search_conflicts(c->search) == episodes)
        printf("  no plan of its own            each episode ended in a conflict; to decide "
               "nothing is "
               "the best plan known\n");
}

static void print_run(const struct search_state *c, const struct plan *plan, bool compares)
{
    struct plan_counts n = plan_count(plan);
    const struct live_stage *s = c->stage;
    char a[UNITS_ROOM], b[UNITS_ROOM], d[UNITS_ROOM];

    print_head(c);
    printf("  step            %12s  compute %s, communication %s\n",
           units_ms(a, plan->cost.step_ms), units_ms(b, plan->cost.compute_ms),
           units_ms(d, plan->cost.communication_ms));
    printf("  baseline        %12s  everything whole but the pins\n", units_ms(a, c->baseline_ms));
    if (c->exact && c->exact->fits && c->options.game.reward == GAME_REWARD_COST)
        print_optimum(c, plan);
    if (plan->memory_limit > 0)
        print_memory(c, plan);
    if (!compares && asks_fewer(c)) {
        struct fewer_question q = fewer_than(c);
        fewer_print(c->problem, &q);
    }
    printf("  variable dims   %12s  %s partitioned, %s replicated, %u undecided\n",
           units_count(a, n.dims), units_count(b, n.partitioned), units_count(d, n.replicated),
           n.undecided);
    bool rewards = c->options.game.reward == GAME_REWARD_PAPER; /* over the dims that it decides */
    printf("  paper reward    %12s", units_number(a, rewards ? c->best->score : n.paper_reward, 1));
    if (c->exact && rewards)
        printf("  over dims of %s; %s %s", game_decides[c->options.game.kind],
               c->exact->proven ? "proven optimum" : "best known",
               units_number(a, c->exact->score, 1));
    printf("\n  search          %12.2f s  %s episodes, %s decisions, %s conflicts; best after %.2f "
           "s\n",
           c->seconds, units_count(a, (int64_t)search_episodes(c->search)),
           units_count(b, (int64_t)c->decisions),
           units_count(d, (int64_t)search_conflicts(c->search)), c->best->seconds);
    print_fruitless(c);
    if (search_is_continuous(&c->options)) {
        printf("  led             %12s episodes played by the shipped policy, %s of fine-tuning, "
               "the rest by the dqn\n",
               units_count(a, (int64_t)(s[0].led + s[1].led)), units_count(b, (int64_t)s[1].led));
    } else if (c->options.algorithm == SEARCH_DQN) {
        printf("  from scratch    %12s with %s settings%s\n", "dqn",
               c->options.paper ? "the paper's" : "our",
               c->options.game.paper_state ? ", sees -1, 0, 1 and the position" : "");
    }
    if (s[1].episodes)
        printf("  fine-tuning     %12.2f s  %s episodes, %s better plans\n", s[1].seconds,
               units_count(a, (int64_t)s[1].episodes), units_count(b, (int64_t)s[1].improved));
    printf("\n");
}

static void add_fewer(const struct search_state *c, cJSON *out)
{
    struct fewer_question q = fewer_than(c);

    if (asks_fewer(c))
        fewer_add_json(c->problem, &q, out);
    else
        cJSON_AddNullToObject(out, "fewer_devices");
}

/* `relaxed`: of the best plan completed, `kinds`: the best plan of each kind; or NULL. Both are
 * taken over. */
static void print_json(const struct search_pool *pool, const struct seed_end *ends, cJSON *runs,
                       cJSON *relaxed, const struct comparison *kinds)
{
    cJSON *all = runs;

    if (pool->args->seeds == 1) {
        all = cJSON_DetachItemFromArray(runs, 0);
        cJSON_Delete(runs);
    } else {
        all = cJSON_CreateObject();
        cJSON_AddStringToObject(all, "schema", "automap.seeds/1");
        seeds_add_json(pool->args, ends, all);
        cJSON_AddItemToObject(all, "runs", runs);
    }
    if (relaxed)
        cJSON_AddItemToObject(all, "relaxed", relaxed);
    if (kinds)
        comparison_json(kinds, pool->problem, &pool->args->pipeline.options, all);
    else if (pool->args->seeds == 1 && pool->args->search.game.reward == GAME_REWARD_COST)
        add_fewer(&pool->runs[0].state, all);
    char *text = cJSON_Print(all);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(all);
}

/* --mode relaxed: the best relaxed plan that keeps what the search decided, in place of its own. */
static int complete_plan(struct plan *best, struct err *e)
{
    struct plan_relaxed_args a = {.on = true, .limit = best->memory_limit};
    struct plan done;
    int rc = plan_relaxed_solve(&a, best->problem, NULL, 0, best, &done, e);

    if (rc)
        return rc;
    done.seed = best->seed;
    plan_release(best);
    *best = done;
    return 0;
}

static void print_completed(const struct plan *plan)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

    printf("its decisions, completed by a relaxed plan\n\n");
    printf("  step            %12s  compute %s, communication %s\n",
           units_ms(a, plan->cost.step_ms), units_ms(b, plan->cost.compute_ms),
           units_ms(c, plan->cost.communication_ms));
    plan_relaxed_print_costs(plan->relaxed, plan->memory_limit > 0, true);
    printf("\n");
}

static cJSON *completed_json(const struct plan *plan)
{
    const struct relaxed_plan *r = plan->relaxed;
    cJSON *o = cJSON_CreateObject();

    cJSON_AddNumberToObject(o, "step_time_ms", r->cost.step_ms);
    cJSON_AddNumberToObject(o, "bound_ms", r->bound_ms);
    cJSON_AddStringToObject(o, "bound_kind", relaxed_bound_names[r->bound_kind]);
    cJSON_AddStringToObject(o, "bound_scope",
                            "relaxed plans on this mesh that keep the decisions of the search");
    cJSON_AddNumberToObject(o, "gap", r->gap);
    cJSON_AddNumberToObject(o, "reshards", r->reshard_count);
    return o;
}

/* `kinds` NULL: not compared. */
static int check_limit(const struct plan *plan, const struct comparison *kinds, bool *fits,
                       struct err *e)
{
    struct memory_cost memory;

    *fits = plan->memory_limit <= 0 || (kinds && kinds->of[0].fits);
    if (*fits || kinds)
        return 0;
    if (plan_memory(plan, &memory, e))
        return e->code;
    *fits = memory.peak <= plan->memory_limit * (1 + 1e-9);
    return 0;
}

/* Says what came of it, with the best plan completed or beside the best of each kind where that was
 * asked for and can be, and writes the best. Takes `runs` over. */
static int conclude(struct search_pool *pool, const struct seed_end *ends, struct plan *best,
                    cJSON *runs)
{
    const struct search_args *a = pool->args;
    struct comparison *kinds = NULL;
    struct err e;
    bool fits = true;
    int rc = a->relaxed ? complete_plan(best, &e) : 0;

    if (!rc && search_args_compare(a) && !stop_asked(pool->problem->stop)) {
        kinds = mem_alloc(sizeof *kinds);
        rc = comparison_new(pool->problem, best->problem == pool->problem ? best : NULL,
                            &a->pipeline.options, kinds, &e);
    }
    rc = rc ? rc : check_limit(best, kinds, &fits, &e);
    if (!rc && a->json)
        print_json(pool, ends, runs, a->relaxed ? completed_json(best) : NULL, kinds);
    else
        cJSON_Delete(runs);
    if (!rc && !a->json && a->seeds > 1)
        seeds_print(a, ends);
    if (!rc && !a->json && a->relaxed)
        print_completed(best);
    if (!rc && !a->json && kinds)
        comparison_print(kinds, pool->problem, &a->pipeline.options);
    if (!rc && a->plan)
        rc = kinds ? comparison_save(kinds, a->plan, &e) : plan_file_save(best, a->plan, &e);
    if (kinds)
        comparison_free(kinds);
    free(kinds);
    if (rc)
        err_print(&e, stderr);
    else if (!fits)
        fprintf(stderr, "automap search: no plan found is within the memory limit\n");
    return rc ? exit_code_of(&e) : fits ? EXIT_OK : EXIT_INFEASIBLE;
}

/* No run has a plan: `e` is of the last that was asked for it. */
static int report_none(const struct search_pool *pool, const struct err *e)
{
    if (e->code != ERR_INFEASIBLE) {
        err_print(e, stderr);
        return exit_code_of(e);
    }
    if (stop_asked(pool->problem->stop)) {
        fprintf(stderr, "automap search: stopped before the first plan\n");
        return EXIT_STOPPED;
    }
    fprintf(stderr, "automap search: no plan was found: no episode came to its end without a "
                    "conflict; more episodes or seconds may\n");
    return EXIT_INFEASIBLE;
}

/* Prints every run that found a plan; the best of them is the plan to write. */
static int report(struct search_pool *pool, struct seed_end *ends)
{
    const struct search_args *a = pool->args;
    cJSON *runs = cJSON_CreateArray();
    struct plan *best = NULL;
    double best_score = -INFINITY;
    struct err e = {.code = ERR_INFEASIBLE}; /* a run that did not begin has no plan */
    int code = EXIT_OK;

    for (uint32_t n = 0; n < a->seeds; n++) {
        if (!ends[n].has_plan) {
            e = ends[n].error;
            continue;
        }
        if (a->json)
            cJSON_AddItemToArray(runs, cJSON_Parse(ends[n].json));
        else if (a->seeds == 1)
            print_run(&pool->runs[n].state, &ends[n].plan, search_args_compare(a));
        if (ends[n].score > best_score) {
            best = &ends[n].plan;
            best_score = ends[n].score;
        }
    }
    if (a->curves && search_curves_save(ends, a->seeds, a->curves, &e)) {
        err_print(&e, stderr);
        cJSON_Delete(runs);
        return exit_code_of(&e);
    }
    if (best) {
        code = conclude(pool, ends, best, runs);
    } else {
        cJSON_Delete(runs);
        code = report_none(pool, &e);
    }
    for (uint32_t n = 0; n < a->seeds && code == EXIT_OK; n++)
        code = pool->runs[n].journal_lost ? EXIT_INPUT : EXIT_OK;
    return code;
}

/* Carries out all runs. An exit code; `ends` is to be reported where it is EXIT_OK. */
static int carry_out_all(struct search_pool *pool, struct ranks *ranks, struct seed_end *ends)
{
    const struct search_args *a = pool->args;
    struct watch watch = {.terminal = isatty(STDERR_FILENO) == 1};
    struct err e;

    if (ranks->count > 1) {
        if (seeds_over_ranks(pool, ranks, ends, &e) || stop_asked(pool->problem->stop))
            return EXIT_OK;
        if (!ranks->self)
            err_print(&e, stderr);
        return EXIT_INPUT;
    }
    search_pool_run(pool, show_progress, &watch);
    if (watch.shown && watch.terminal)
        fputs("\r\033[K", stderr);
    for (uint32_t n = 0; n < a->seeds; n++) {
        if (seed_end_of(&pool->runs[n], a, &ends[n], &e)) {
            err_print(&e, stderr);
            return exit_code_of(&e);
        }
    }
    return EXIT_OK;
}

static int run_on(struct search_pool *pool, struct ranks *ranks)
{
    const struct search_args *a = pool->args;
    struct seed_end *ends = mem_alloc(a->seeds * sizeof *ends);
    int code = carry_out_all(pool, ranks, ends);

    for (uint32_t n = 0; n < a->seeds && code == EXIT_OK && !ranks->self; n++) {
        if (ends[n].failed) {
            err_print(&ends[n].error, stderr);
            code = exit_code_of(&ends[n].error);
        }
    }
    if (code == EXIT_OK && !ranks->self)
        code = report(pool, ends);
    for (uint32_t n = 0; n < a->seeds; n++) {
        if (pool->runs[n].began)
            search_state_release(&pool->runs[n].state);
    }
    seed_ends_release(ends, a->seeds);
    free(ends);
    return code;
}

static int run_all(const struct search_args *a, const struct problem *p, struct ranks *ranks)
{
    struct search_pool pool = {
        .args = a, .problem = p, .runs = mem_alloc(a->seeds * sizeof *pool.runs)};
    int code = run_on(&pool, ranks);

    if (stop_asked(p->stop) && code == EXIT_OK && !a->quiet && pool.runs[0].journal[0])
        fprintf(stderr, "automap search --resume %s goes on\n", pool.runs[0].journal);
    free(pool.runs);
    return code;
}

/* The pins of the command line, as a session takes them, for the race. */
static int race(const struct search_args *a, const struct problem *p)
{
    struct search_state *c = mem_alloc(sizeof *c);
    struct err e;
    int code = EXIT_OK, rc = search_state_new(p, &a->search, c, &e);

    if (rc)
        goto out;
    for (size_t n = 0; n < a->pin_count; n++) {
        rc = search_obey(c, &a->pins[n], &e);
        if (rc)
            goto out;
    }
out:
    if (rc) {
        err_print(&e, stderr);
        code = exit_code_of(&e);
    } else {
        const struct act *in_force = &c->acts[c->act];
        struct game_pin *pins = act_game_pins(in_force);
        BUG_ON(!pins);
        code = search_race(a, p, pins, in_force->pin_count);
        free(pins);
    }
    search_state_release(c);
    free(c);
    return code;
}

static int run_kind(const struct search_args *a, const struct problem *p, struct ranks *ranks)
{
    return a->pipeline.wanted ? search_pipeline(a, p)
           : a->hybrid        ? search_hybrid(a, p)
           : a->race          ? race(a, p)
                              : run_all(a, p, ranks);
}

/* Seeds are spread over ranks; all else is of one process. */
static int run_over_ranks(const struct search_args *a, const struct problem *p)
{
    struct ranks ranks;
    struct err e;
    bool spreads = a->seeds > 1 && !a->pipeline.wanted && !a->by_step.count && !a->by_episode.count;
    int rc = ranks_join(&ranks, p->stop, &e);

    if (!rc && ranks.count > 1 && !spreads)
        rc = err_set(&e, ERR_USAGE,
                     "mpirun started %u processes, over which a search spreads --seeds N, without "
                     "--script or --kind pp",
                     ranks.count);
    int code = rc ? exit_code_of(&e) : run_kind(a, p, &ranks);
    if (rc && !ranks.self)
        err_print(&e, stderr);
    bool stopped = stop_asked(p->stop);
    ranks_leave(&ranks, !rc && !stopped && code != EXIT_INPUT, stopped ? EXIT_STOPPED : code);
    return code;
}

/* Limits and outputs of this command line, all else of the journal's. */
static int from_journal(const struct search_args *now, const struct journal_log *log,
                        struct search_args *a)
{
    int parsed = log->arg_count ? search_args_parse(log->arg_count, log->args, a) : EXIT_USAGE;

    if (parsed || a->resume || a->seeds > 1 || a->race)
        return ERR_INPUT;
    a->problem.is_mesh_given = false; /* the file's mistake, if it is one */
    a->episodes = now->episodes ? now->episodes : a->episodes;
    a->seconds = now->seconds > 0 ? now->seconds : a->seconds;
    a->json = now->json;
    a->quiet = now->quiet;
    a->plan = now->plan;
    a->curves = now->curves;
    a->force = now->force;
    a->resume = now->resume;
    a->replay = now->replay;
    a->explored = !strcmp(log->args[0], "explore");
    a->journal = NULL;
    a->log = log;
    return 0;
}

static int search_problem(struct search_args *a)
{
    if (overwrite_check(a->plan, a->force) || overwrite_check(a->curves, a->force))
        return EXIT_INPUT;
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_args of = a->problem;
    struct err e;

    if (a->pipeline.wanted || a->hybrid)
        of.options.batch_size = 0; /* they cut the batch of the file themselves */
    int code = problem_args_load(&of, p);

    if (code == EXIT_OK) {
        if (a->log && journal_fits(a->log, p, &e)) {
            err_print(&e, stderr);
            code = EXIT_INPUT;
        } else {
            if (a->search.game.memory_limit != 0) /* the same for every kind */
                a->pipeline.options.limit_bytes = game_limit_bytes(p, &a->search.game);
            a->pipeline.options.overlap = problem_overlap(p);
            p->stop = stopping_begin();
            code = run_over_ranks(a, p);
            if (stopping_end() && (code == EXIT_OK || code == EXIT_INFEASIBLE))
                code = EXIT_STOPPED;
        }
        problem_release(p);
    }
    free(p);
    return code;
}

static int go_on(const struct search_args *now, const char *path)
{
    struct search_args *a = mem_alloc(sizeof *a);
    struct journal_log log;
    struct err e;
    int code;

    if (journal_read(path, &log, &e)) {
        err_print(&e, stderr);
        free(a);
        return EXIT_INPUT;
    }
    if (log.good < log.size)
        fprintf(stderr, "automap: %s: the last %zu bytes are damaged and left out\n", path,
                log.size - log.good);
    if (from_journal(now, &log, a)) {
        err_set(&e, ERR_INPUT, "the command line in it is not that of one search");
        err_in_file(&e, path);
        err_print(&e, stderr);
        code = EXIT_INPUT;
    } else {
        code = search_problem(a);
    }
    search_args_release(a);
    journal_log_release(&log);
    free(a);
    return code;
}

static int resume(struct search_args *a)
{
    char dir[PATH_MAX], path[PATH_MAX];
    bool home = file_state_dir(dir, sizeof dir, false);

    if (!session_find(path, home ? dir : NULL, a->resume)) {
        options_complain("search", "no journal %s", a->resume);
        return EXIT_INPUT;
    }
    a->resume = path;
    return go_on(a, path);
}

static int run_search(int argc, char **argv)
{
    struct search_args *a = mem_alloc(sizeof *a);
    int code = search_args_parse(argc, argv, a);

    if (code == EXIT_OK)
        code = a->resume ? resume(a) : search_problem(a);
    search_args_release(a);
    free(a);
    return code;
}

const struct command command_search = {
    .name = "search",
    .usage = "MODEL [CLUSTER]",
    .summary = "search for the best distribution with a learner or its opponents",
    .about = "Searches for the best distribution, decision by decision, with a learner or one of "
             "its opponents.",
    .options = search_option_sets,
    .notes = "Seconds in results are CPU time of the search thread.\nExit codes: 0, 1 usage, 2 "
             "input, 3 stopped (the best so far is printed), 4 the pins clash, no plan "
             "was found, or none is within the memory limit.",
    .run = run_search,
};

struct replay {
    const char *journal;
    struct search_args now;
};

#define ARG(field) INTO(struct replay, field)
static const struct option replay_rows[] = {
    {"JOURNAL", .help = "a file, the name of one in sessions/ of the state directory, or \"last\"",
     .values = VALUES_JOURNAL, ARG(journal)},
    {"plan", "FILE", "write the best plan to FILE", .kind = OPTION_FILE, ARG(now.plan)},
    {"curves", "FILE", "write the curves to FILE, as automap search --curves", .kind = OPTION_FILE,
     ARG(now.curves)},
    {"force", NULL, OVERWRITE_HELP, ARG(now.force)},
    {"json", NULL, "the result as JSON on standard output", ARG(now.json)},
    {0},
};
#undef ARG
static const struct option_set replay_options[] = {{.rows = replay_rows}, {0}};

static int run_replay(int argc, char **argv)
{
    const struct option_parser parser = {"replay", replay_options, NULL};
    struct replay r = {.now.replay = true};
    int code = options_parse(&parser, &r, argc, argv);

    if (code)
        return code;
    if (!r.journal)
        return options_complain("replay", "no journal given");
    char dir[PATH_MAX], found[PATH_MAX];
    bool home = file_state_dir(dir, sizeof dir, false);
    return go_on(&r.now, session_find(found, home ? dir : NULL, r.journal) ? found : r.journal);
}

const struct command command_replay = {
    .name = "replay",
    .usage = "JOURNAL",
    .summary = "replay the journal of a search",
    .about = "Replays a journal, bit for bit, and prints the result.",
    .options = replay_options,
    .run = run_replay,
};
