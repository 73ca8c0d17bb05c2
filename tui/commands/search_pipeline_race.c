/* automap search --kind pp --algo race: every algorithm on equally many plans priced by L. */
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipe_search_ops.h"
#include "engine/pipeline/pipeline.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "tui/commands/search_pipeline.h"
#include "tui/options/exit_code.h"
#include "tui/options/search_args.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>

enum { LEVELS = 9, RACE_PLANS = 2000 };
static const uint64_t levels[LEVELS] = {1, 10, 20, 50, 100, 200, 500, 1000, 2000};

struct runner {
    double curve[LEVELS]; /* best L after so many plans; NAN: it had ended before the first */
    struct pipe_best best;
    uint64_t evaluations;
    double seconds;
    bool is_proven, failed;
};

/* The exact search prices no plans: it is run to its end and counts as one. */
static int run_one(const struct search_args *a, const struct pipeline *l,
                   enum pipe_algorithm algorithm, uint64_t most, struct runner *r, struct err *e)
{
    struct pipe_search_options o = a->pipeline.search;
    bool is_exact = algorithm == PIPE_SEARCH_EXACT;
    struct pipe_search *s;
    struct pipe_event event;
    double start = clock_thread_seconds();
    int level = 0;

    o.algorithm = algorithm;
    o.space.stages = l->options.stages;
    o.space.pins = pipeline_pins(l, &l->few);
    o.seed = a->search.seed;
    o.stop = l->options.stop;
    int rc = pipe_search_new(&l->few, &o, &s, e);
    if (rc)
        return rc;
    while (pipe_search_step(s, &event)) {
        for (; !is_exact && level < LEVELS && pipe_search_evaluations(s) >= levels[level]; level++)
            r->curve[level] = pipe_search_best(s)->length_ms;
        if ((!is_exact && pipe_search_evaluations(s) >= most) ||
            (a->seconds > 0 && clock_thread_seconds() - start > a->seconds) || atomic_load(o.stop))
            break;
    }
    r->best = *pipe_search_best(s);
    for (; level < LEVELS; level++)
        r->curve[level] = r->best.length_ms;
    r->evaluations = is_exact ? 1 : pipe_search_evaluations(s);
    r->seconds = clock_thread_seconds() - start;
    r->is_proven = pipe_search_is_proven(s);
    pipe_search_free(s);
    return 0;
}

static void print_lines(const struct pipeline *l, const struct runner *r)
{
    char scope[PIPELINE_SCOPE_ROOM];

    pipeline_scope(l, scope, sizeof scope);
    printf("best L in ms after so many priced plans\n\n  %-8s", "");
    for (int k = 0; k < PIPE_ALGORITHM_COUNT; k++)
        printf(" %11s", pipe_search_names[k]);
    for (int n = 0; n < LEVELS; n++) {
        printf("\n  %-8llu", (unsigned long long)levels[n]);
        for (int k = 0; k < PIPE_ALGORITHM_COUNT; k++)
            r[k].failed || !isfinite(r[k].curve[n]) ? printf(" %11s", "-")
                                                    : printf(" %11.6g", r[k].curve[n]);
    }
    printf("\n\n  %-10s %11s %8s %8s %9s  %s\n", "", "best", "at plan", "plans", "seconds",
           "device cuts | points");
    for (int k = 0; k < PIPE_ALGORITHM_COUNT; k++) {
        char cuts[160] = "-";
        if (isfinite(r[k].best.length_ms) && !r[k].failed)
            pipe_plan_format(&r[k].best.plan, cuts, sizeof cuts);
        printf("  %-10s %11.6g %8llu %8llu %9.4f  %s%s%s\n", pipe_search_names[k],
               r[k].best.length_ms, (unsigned long long)r[k].best.evaluation,
               (unsigned long long)r[k].evaluations, r[k].seconds, cuts,
               r[k].is_proven ? "  proven " : "", r[k].is_proven ? scope : "");
    }
    printf("\n");
}

static void print_json(const struct search_args *a, const struct pipeline *l,
                       const struct runner *r)
{
    char scope[PIPELINE_SCOPE_ROOM];

    pipeline_scope(l, scope, sizeof scope);
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "schema", "automap.pipeline-race/1");
    cJSON_AddNumberToObject(o, "seed", (double)a->search.seed);
    cJSON *counts = cJSON_AddArrayToObject(o, "evaluations"),
          *runners = cJSON_AddArrayToObject(o, "runners");
    for (int n = 0; n < LEVELS; n++)
        cJSON_AddItemToArray(counts, cJSON_CreateNumber((double)levels[n]));
    for (int k = 0; k < PIPE_ALGORITHM_COUNT; k++) {
        cJSON *j = cJSON_CreateObject();
        cJSON_AddStringToObject(j, "algo", pipe_search_names[k]);
        cJSON_AddNumberToObject(j, "L_ms", r[k].best.length_ms); /* null when there is none */
        cJSON_AddNumberToObject(j, "best_evaluation", (double)r[k].best.evaluation);
        cJSON_AddNumberToObject(j, "evaluations", (double)r[k].evaluations);
        cJSON_AddNumberToObject(j, "seconds", r[k].seconds);
        cJSON_AddBoolToObject(j, "proven", r[k].is_proven);
        cJSON_AddStringToObject(j, "proven_scope", scope);
        cJSON *curve = cJSON_AddArrayToObject(j, "curve");
        for (int n = 0; n < LEVELS; n++)
            cJSON_AddItemToArray(curve, cJSON_CreateNumber(r[k].curve[n]));
        cJSON_AddItemToArray(runners, j);
    }
    char *text = cJSON_Print(o);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
}

int search_pipeline_race(const struct search_args *a, const struct pipeline *l)
{
    struct runner r[PIPE_ALGORITHM_COUNT] = {0};
    uint64_t most = a->episodes ? a->episodes : RACE_PLANS;
    struct err e;

    for (int k = 0; k < PIPE_ALGORITHM_COUNT; k++) {
        int rc = run_one(a, l, (enum pipe_algorithm)k, most, &r[k], &e);
        r[k].failed = rc == ERR_INFEASIBLE; /* the paper has no candidates here */
        if (r[k].failed)
            r[k].best.length_ms = INFINITY;
        if (rc && !r[k].failed) {
            err_print(&e, stderr);
            return exit_code_of(&e);
        }
    }
    if (a->json)
        print_json(a, l, r);
    else
        print_lines(l, r);
    return EXIT_OK;
}
