/* automap search --kind pp: a pipeline, found by L and chosen by simulation. */
#include "tui/commands/search_pipeline.h"

#include "engine/compare/fewer.h"
#include "engine/compare/kept_pipeline.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipe_search_ops.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/pipeline/stage_peak.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "tui/commands/fewer_print.h"
#include "tui/commands/hybrid_print.h"
#include "tui/commands/pipeline_print.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/pipeline_args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLANS_WITHOUT_LIMIT = 2000 };

/* One search by L, and the plan chosen from it. */
struct run {
    struct pipe_best found; /* over the points solvers choose from */
    uint64_t evaluations;
    double seconds, seconds_to_best;
    bool is_proven;
    struct pipeline_plan plan;
};

struct reference {
    struct pipe_exact_result exact;
    struct pipe_plan candidate; /* the best of the paper's */
    double candidate_ms;
    double with_s, without_s; /* CPU: proving it with the network's plan known, and with the closed
                                 form's; 0: not asked for */
};

static bool is_enough(const struct search_args *a, const struct pipe_search *s, double seconds)
{
    if (a->seconds > 0 && seconds >= a->seconds)
        return true;
    if (a->episodes)
        return pipe_search_evaluations(s) >= a->episodes;
    bool ends = a->pipeline.search.algorithm == PIPE_SEARCH_EXACT ||
                a->pipeline.search.algorithm == PIPE_SEARCH_ENUMERATE;
    return !ends && a->seconds <= 0 && pipe_search_evaluations(s) >= PLANS_WITHOUT_LIMIT;
}

static int carry_out(const struct search_args *a, const struct pipeline *l, uint64_t seed,
                     struct run *out, struct err *e)
{
    struct pipe_search_options o = a->pipeline.search;
    struct pipe_search *s;
    struct pipe_event event;
    double start = clock_thread_seconds();

    o.space.stages = l->options.stages;
    o.space.pins = pipeline_pins(l, &l->few);
    o.seed = seed;
    o.stop = l->options.stop;
    int rc = pipe_search_new(&l->few, &o, &s, e);
    if (rc)
        return rc;
    while (pipe_search_step(s, &event)) {
        if (event.improved)
            out->seconds_to_best = clock_thread_seconds() - start;
        if (stop_asked(o.stop) || is_enough(a, s, clock_thread_seconds() - start))
            break;
    }
    out->found = *pipe_search_best(s);
    out->evaluations = pipe_search_evaluations(s);
    out->seconds = clock_thread_seconds() - start;
    out->is_proven = pipe_search_is_proven(s);
    pipe_search_free(s);
    return 0;
}

/* The proof, and for the network's plan how long it takes with that known and without. */
static int prove(const struct pipeline *l, const struct run *answer, struct reference *r,
                 struct err *e)
{
    double start = clock_thread_seconds();
    int rc = pipeline_exact(l, NULL, &r->exact, e);

    if (rc || !answer || !isfinite(answer->found.length_ms))
        return rc;
    r->without_s = clock_thread_seconds() - start;
    start = clock_thread_seconds();
    rc = pipeline_exact(l, &answer->found.plan, &r->exact, e);
    r->with_s = clock_thread_seconds() - start;
    return rc;
}

static int find_reference(const struct pipeline *l, const struct run *answer, struct reference *r,
                          struct err *e)
{
    int rc = prove(l, answer, r, e);

    if (rc)
        return rc;
    if (!pipeline_best_candidate(l, &r->candidate, &r->candidate_ms))
        r->candidate_ms = 0;
    return rc;
}

/* The found plan, the optimum of L, the best candidate and the closed form's, each made shorter by
 * simulation. */
static int choose_plan(const struct search_args *a, const struct pipeline *l,
                       const struct reference *r, struct run *run, struct err *e)
{
    struct pipeline_start start[4];
    struct pipe_plan instant;
    uint32_t count = 0;

    if (run->found.length_ms < INFINITY)
        start[count++] = (struct pipeline_start){pipeline_refine(l, &run->found.plan),
                                                 pipe_search_names[a->pipeline.search.algorithm]};
    if (r->exact.found)
        start[count++] = (struct pipeline_start){pipeline_refine(l, &r->exact.plan), "exact"};
    if (r->candidate_ms > 0)
        start[count++] = (struct pipeline_start){pipeline_refine(l, &r->candidate), "candidates"};
    if (pipeline_instant(l, &instant))
        start[count++] = (struct pipeline_start){pipeline_refine(l, &instant), "closed form"};
    if (!count && stop_asked(l->options.stop))
        return err_set(e, ERR_STOPPED, "stopped before a pipeline was found");
    if (!pipeline_choose(l, start, count, &run->plan))
        return err_set(e, ERR_INFEASIBLE,
                       "no pipeline fits: %u micro-batches of %u samples, schedule %s; more "
                       "micro-batches, --recompute or "
                       "--memory-limit none may help",
                       l->options.micro_batches, l->options.batch / l->options.micro_batches,
                       pipe_schedule_names[l->options.schedule]);
    run->plan.optimum_ms = r->exact.found ? r->exact.length_ms : 0;
    run->plan.certified = r->exact.found && r->exact.certified;
    return 0;
}

/* ---- results ---- */

static void print_search(const struct search_args *a, const struct pipeline *l,
                         const struct reference *r, const struct run *run)
{
    char x[UNITS_ROOM], without[UNITS_ROOM], cuts[160];
    struct pipe_plan all;

    if (run->found.length_ms < INFINITY && a->pipeline.search.algorithm != PIPE_SEARCH_EXACT) {
        all = pipeline_refine(l, &run->found.plan);
        pipeline_cuts_text(&all, cuts, sizeof cuts);
        printf("\n  %-15s %12s  L of its best, %s", pipe_search_names[a->pipeline.search.algorithm],
               units_ms(x, run->found.length_ms), cuts);
        if (r->exact.found)
            printf("; %.2f %% over the %s of L",
                   100 *
                       (run->found.length_ms / fmin(run->found.length_ms, r->exact.length_ms) - 1),
                   r->exact.certified ? "optimum" : "best known");
        printf("\n  %-15s %12llu  best after %llu, %.3f s; %.3f s in all\n", "plans priced",
               (unsigned long long)run->evaluations, (unsigned long long)run->found.evaluation,
               run->seconds_to_best, run->seconds);
    }
    if (r->candidate_ms > 0) {
        all = pipeline_refine(l, &r->candidate);
        pipeline_cuts_text(&all, cuts, sizeof cuts);
        printf("  candidates      %12s  L of the best, %s\n", units_ms(x, r->candidate_ms), cuts);
    }
    if (r->exact.found) {
        all = pipeline_refine(l, &r->exact.plan);
        pipeline_cuts_text(&all, cuts, sizeof cuts);
        char scope[PIPELINE_SCOPE_ROOM];
        pipeline_scope(l, scope, sizeof scope);
        printf("  exact           %12s  L, %s, %s %s; %llu transitions\n",
               units_ms(x, r->exact.length_ms), cuts, r->exact.certified ? "proven" : "not proven",
               scope, (unsigned long long)r->exact.transitions);
    }
    if (r->with_s > 0 && r->exact.certified)
        printf(
            "  proof           %12s  with the network's plan known, %s with the closed form's: L "
            "has an exact answer in that time;\n%31sa network alone answers where there is no "
            "programme\n",
            units_ms(x, 1e3 * r->with_s), units_ms(without, 1e3 * r->without_s), "");
    printf("  taken           %12s  by simulation, after descent from %s\n",
           units_ms(x, pipeline_step_ms(l, &run->plan)), run->plan.found_by);
}

static int run_json(const struct search_args *a, const struct pipeline *l,
                    const struct reference *r, const struct run *run, cJSON *runs, struct err *e)
{
    cJSON *o = pipeline_json(l, &run->plan), *s = cJSON_AddObjectToObject(o, "search");

    cJSON_AddStringToObject(s, "algo", pipe_search_names[a->pipeline.search.algorithm]);
    cJSON_AddItemToObject(s, "found_L_ms",
                          run->found.length_ms < INFINITY ? cJSON_CreateNumber(run->found.length_ms)
                                                          : cJSON_CreateNull());
    cJSON_AddItemToObject(s, "candidate_L_ms",
                          r->candidate_ms > 0 ? cJSON_CreateNumber(r->candidate_ms)
                                              : cJSON_CreateNull());
    cJSON *cuts = cJSON_AddArrayToObject(s, "candidate_device_cuts");
    for (uint32_t k = 1; r->candidate_ms > 0 && k < r->candidate.stages; k++)
        cJSON_AddItemToArray(cuts, cJSON_CreateNumber(r->candidate.device[k]));
    cJSON_AddNumberToObject(s, "evaluations", (double)run->evaluations);
    cJSON_AddNumberToObject(s, "best_evaluation", (double)run->found.evaluation);
    cJSON_AddBoolToObject(s, "proven", run->is_proven);
    char scope[PIPELINE_SCOPE_ROOM];
    pipeline_scope(l, scope, sizeof scope);
    cJSON_AddStringToObject(s, "proven_scope", scope);
    if (r->with_s > 0 && r->exact.certified) {
        cJSON_AddNumberToObject(s, "proof_seconds", r->with_s);
        cJSON_AddNumberToObject(s, "proof_seconds_without_network", r->without_s);
    }
    cJSON_AddNumberToObject(s, "seconds", run->seconds);
    cJSON_AddNumberToObject(s, "seconds_to_best", run->seconds_to_best);
    cJSON_AddItemToArray(runs, o);
    cJSON *memory;
    int rc = pipeline_peak_json(l, &run->plan.plan, &memory, e);
    if (rc)
        return rc;
    cJSON_AddItemToObject(s, "memory", memory);
    return rc;
}

/* On fewer devices: other pipelines, and strict plans. */
static struct fewer_question fewer_than(const struct search_args *a, const struct pipeline *l,
                                        const struct run *run)
{
    const struct pipeline_options *o = &a->pipeline.options;

    return (struct fewer_question){.step_ms = pipeline_step_ms(l, &run->plan),
                                   .limit_bytes = o->no_limit ? INFINITY : o->limit_bytes,
                                   .variables = true,
                                   .inputs = true,
                                   .pipeline = o};
}

static void print_json(cJSON *runs, uint32_t seeds)
{
    cJSON *all = runs;

    if (seeds == 1) {
        all = cJSON_DetachItemFromArray(runs, 0);
        cJSON_Delete(runs);
    } else {
        all = cJSON_CreateObject();
        cJSON_AddStringToObject(all, "schema", "automap.pipelines/1");
        cJSON_AddItemToObject(all, "runs", runs);
    }
    char *text = cJSON_Print(all);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(all);
}

static void print_seeds(const struct search_args *a, const struct reference *r,
                        const struct run *runs)
{
    uint32_t at_best = 0;

    printf("\n  seed       L of the best  at plan  seconds\n");
    for (uint32_t n = 0; n < a->seeds; n++) {
        printf("  %-10llu %13.6g %8llu %8.3f\n", (unsigned long long)(a->search.seed + n),
               runs[n].found.length_ms, (unsigned long long)runs[n].found.evaluation,
               runs[n].seconds_to_best);
        at_best += r->candidate_ms > 0 && runs[n].found.length_ms <= r->candidate_ms * (1 + 1e-9);
    }
    printf("  %u of %u seeds at or below the best candidate\n", at_best, a->seeds);
}

static int search_seeds(const struct search_args *a, const struct pipeline *l, struct run *runs,
                        struct err *e)
{
    struct reference r = {0};
    const struct run *best = &runs[0];
    bool by_network = a->pipeline.search.algorithm == PIPE_SEARCH_INFER;
    int rc = 0;

    for (uint32_t n = 0; n < a->seeds && !rc; n++)
        rc = carry_out(a, l, a->search.seed + n, &runs[n], e);
    rc = rc ? rc : find_reference(l, by_network ? &runs[0] : NULL, &r, e);
    for (uint32_t n = 0; n < a->seeds && !rc; n++) {
        rc = choose_plan(a, l, &r, &runs[n], e);
        runs[n].plan.seed = a->search.seed + n;
        if (!rc && pipeline_step_ms(l, &runs[n].plan) < pipeline_step_ms(l, &best->plan))
            best = &runs[n];
    }
    if (rc)
        return rc;
    if (a->json) {
        cJSON *all = cJSON_CreateArray();
        for (uint32_t n = 0; n < a->seeds && !rc; n++)
            rc = run_json(a, l, &r, &runs[n], all, e);
        if (!rc && a->seeds == 1) {
            struct fewer_question q = fewer_than(a, l, best);
            fewer_add_json(l->problem, &q, cJSON_GetArrayItem(all, 0));
        }
        if (rc) {
            cJSON_Delete(all);
            return rc;
        }
        print_json(all, a->seeds);
    } else {
        char model[128];

        printf("%s  on %s; pipeline, %s, seed %llu\n\n",
               file_stem(model, sizeof model, l->problem->m->file), l->problem->cluster.name,
               pipe_search_names[a->pipeline.search.algorithm],
               (unsigned long long)best->plan.seed);
        pipeline_print(l, &best->plan);
        print_search(a, l, &r, best);
        struct fewer_question q = fewer_than(a, l, best);
        fewer_print(l->problem, &q);
        if (a->seeds > 1)
            print_seeds(a, &r, runs);
        printf("\n");
    }
    return a->plan ? pipeline_file_save(l, &best->plan, a->plan, e) : 0;
}

/* Its stages keep what they keep value by value: a hybrid plan of replicas. */
static int search_by_value(const struct search_args *a, const struct problem *p)
{
    double start = clock_thread_seconds();
    struct hybrid *h = NULL;
    struct err e;
    int rc = kept_pipeline_new(p, &a->pipeline.options, &h, &e);

    if (!rc && a->json)
        hybrid_print_json(h);
    else if (!rc)
        hybrid_print(h, clock_thread_seconds() - start);
    rc = rc || !a->plan ? rc : hybrid_file_save(h, a->plan, &e);
    kept_pipeline_free(h);
    if (rc)
        err_print(&e, stderr);
    return rc ? exit_code_of(&e) : EXIT_OK;
}

int search_pipeline(const struct search_args *asked, const struct problem *p)
{
    if (asked->recompute_values)
        return search_by_value(asked, p);

    struct search_args with_net = *asked;
    const struct search_args *a = &with_net;
    struct run *runs = mem_alloc(a->seeds * sizeof *runs);
    struct pipeline *l = mem_alloc(sizeof *l);
    struct pipeline_options o = a->pipeline.options;
    int code = EXIT_OK;
    struct err e;

    o.stop = p->stop;
    int rc = pipeline_args_load_net(&with_net.pipeline, &e);
    if (rc)
        goto out;
    rc = pipeline_new(p, &o, l, &e);
    if (rc)
        goto out;
    if (a->race)
        code = search_pipeline_race(a, l);
    else
        rc = search_seeds(a, l, runs, &e);
    pipeline_release(l);
out:
    if (rc) {
        err_print(&e, stderr);
        code = exit_code_of(&e);
    }
    pipeline_args_release(&with_net.pipeline);
    free(runs);
    free(l);
    return code;
}
