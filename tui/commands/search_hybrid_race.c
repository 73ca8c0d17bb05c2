/* automap search --kind hybrid --algo race: everyone from the same tables on, on one clock. */
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "tui/commands/search_hybrid.h"
#include "tui/options/exit_code.h"
#include "tui/options/search_args.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>

/* In the order of the table: those that play first. */
static const enum hybrid_algorithm runners[] = {HYBRID_DQN,  HYBRID_RANDOM,  HYBRID_GREEDY,
                                                HYBRID_ALPA, HYBRID_UNIFORM, HYBRID_EXACT};
enum { RUNNERS = sizeof runners / sizeof *runners };

struct runner {
    struct hybrid_played played;
    double step_ms;    /* INFINITY: no plan */
    bool is_cut_short; /* stopped before it had one */
    uint32_t stages, micro_batches;
    double bound_ms; /* 0: none */
};

static int run_one(const struct problem *p, const struct hybrid_options *asked,
                   enum hybrid_algorithm algorithm, struct runner *r, struct err *e)
{
    struct hybrid_options o = *asked;
    struct hybrid *h = mem_alloc(sizeof *h);

    o.algorithm = algorithm;
    o.chunks = 1; /* the game has no interleaved plans */
    *r = (struct runner){.step_ms = INFINITY};
    for (int n = 0; n < HYBRID_MARKS; n++)
        r->played.curve[n] = NAN;
    r->is_cut_short = stop_asked(o.stop);
    if (r->is_cut_short) {
        free(h);
        return 0;
    }
    int rc = hybrid_new(p, &o, h, e);
    if (!rc) {
        r->played = h->played;
        r->step_ms = hybrid_step_ms(h);
        r->stages = h->stages;
        r->micro_batches = h->micro_batches;
        r->bound_ms = h->is_certified ? h->bound_ms : 0;
        if (!hybrid_algorithm_plays(algorithm)) { /* it prices one plan, its own */
            r->played.evaluations = r->played.best_evaluation = 1;
            r->played.best_seconds = r->played.seconds;
            for (int n = 0; n < HYBRID_MARKS; n++)
                r->played.curve[n] = r->step_ms;
        }
        hybrid_release(h);
    }
    free(h);
    r->is_cut_short = rc && stop_asked(o.stop);
    return rc == ERR_INFEASIBLE || rc == ERR_LIMIT ? 0 : rc;
}

static double bound_of(const struct runner *r)
{
    double bound = 0;

    for (int k = 0; k < RUNNERS; k++)
        bound = runners[k] == HYBRID_EXACT ? r[k].bound_ms : bound;
    return bound;
}

static void print_lines(const struct runner *r, uint64_t most)
{
    double bound = bound_of(r);

    printf("best step in ms, simulated, after so many priced plans\n\n  %-8s", "");
    for (int k = 0; k < RUNNERS; k++)
        printf(" %10s", hybrid_algorithm_names[runners[k]]);
    for (int n = 0; n < HYBRID_MARKS && hybrid_marks[n] <= most; n++) {
        printf("\n  %-8llu", (unsigned long long)hybrid_marks[n]);
        for (int k = 0; k < RUNNERS; k++)
            isfinite(r[k].step_ms) ? printf(" %10.6g", r[k].played.curve[n]) : printf(" %10s", "-");
    }
    printf("\n\n  %-8s %10s %9s %8s %8s %9s %9s %4s %4s\n", "", "step ms", "of bound", "plans",
           "at plan", "seconds", "to best", "S", "M");
    for (int k = 0; k < RUNNERS; k++) {
        const struct hybrid_played *p = &r[k].played;
        char over[16] = "-";
        if (bound > 0 && isfinite(r[k].step_ms))
            snprintf(over, sizeof over, "%.3f", bound / r[k].step_ms);
        if (isfinite(r[k].step_ms))
            printf("  %-8s %10.6g %9s %8llu %8llu %9.3f %9.3f %4u %4u\n",
                   hybrid_algorithm_names[runners[k]], r[k].step_ms, over,
                   (unsigned long long)p->evaluations, (unsigned long long)p->best_evaluation,
                   p->seconds, p->best_seconds, r[k].stages, r[k].micro_batches);
        else
            printf("  %-8s %10s\n", hybrid_algorithm_names[runners[k]],
                   r[k].is_cut_short ? "stopped" : "no plan");
    }
    printf(
        "\n  seconds on a processor, tables and bound among them; plans that are not interleaved, "
        "S stages, M micro-batches\n");
    if (bound > 0)
        printf("  bound %.6g ms\n", bound);
}

static void print_json(const struct runner *r, uint64_t seed)
{
    cJSON *o = cJSON_CreateObject();
    double bound = bound_of(r);

    cJSON_AddStringToObject(o, "schema", "automap.hybrid-race/1");
    cJSON_AddNumberToObject(o, "seed", (double)seed);
    if (bound > 0)
        cJSON_AddNumberToObject(o, "bound_ms", bound);
    else
        cJSON_AddNullToObject(o, "bound_ms");
    cJSON *counts = cJSON_AddArrayToObject(o, "evaluations"),
          *list = cJSON_AddArrayToObject(o, "runners");
    for (int n = 0; n < HYBRID_MARKS; n++)
        cJSON_AddItemToArray(counts, cJSON_CreateNumber((double)hybrid_marks[n]));
    for (int k = 0; k < RUNNERS; k++) {
        const struct hybrid_played *p = &r[k].played;
        cJSON *j = cJSON_CreateObject();
        cJSON_AddStringToObject(j, "algo", hybrid_algorithm_names[runners[k]]);
        cJSON_AddNumberToObject(j, "step_time_ms", r[k].step_ms); /* null when there is none */
        cJSON_AddBoolToObject(j, "stopped", r[k].is_cut_short);
        cJSON_AddNumberToObject(j, "stages", r[k].stages);
        cJSON_AddNumberToObject(j, "micro_batches", r[k].micro_batches);
        cJSON_AddNumberToObject(j, "evaluations", (double)p->evaluations);
        cJSON_AddNumberToObject(j, "best_evaluation", (double)p->best_evaluation);
        cJSON_AddNumberToObject(j, "table_seconds", p->table_seconds);
        cJSON_AddNumberToObject(j, "seconds", p->seconds);
        cJSON_AddNumberToObject(j, "best_seconds", p->best_seconds);
        cJSON *curve = cJSON_AddArrayToObject(j, "curve");
        for (int n = 0; n < HYBRID_MARKS; n++)
            cJSON_AddItemToArray(curve, cJSON_CreateNumber(p->curve[n]));
        cJSON_AddItemToArray(list, j);
    }
    char *text = cJSON_Print(o);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
}

int search_hybrid_race(const struct search_args *a, const struct problem *p,
                       const struct hybrid_options *o)
{
    struct runner r[RUNNERS];
    uint64_t most = o->play.plans_most ? o->play.plans_most : HYBRID_PLANS;
    bool any = false;
    struct err e;

    for (int k = 0; k < RUNNERS; k++) {
        int rc = run_one(p, o, runners[k], &r[k], &e);
        if (rc) {
            err_print(&e, stderr);
            return exit_code_of(&e);
        }
        any |= isfinite(r[k].step_ms);
    }
    if (a->json)
        print_json(r, o->play.seed);
    else
        print_lines(r, most);
    return any ? EXIT_OK : EXIT_INFEASIBLE;
}
