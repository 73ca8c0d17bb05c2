#include "tui/commands/place_race.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/race_placements.h"
#include "engine/place/solve.h"
#include "engine/place/tally.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>

/* Why a plan is ranked behind those that answer the question. */
static const char *remark(const struct place_lane *l)
{
    const struct placement *p = l->p;

    if (p->faults & PLACE_OVER_MEMORY)
        return "  over memory";
    if (p->faults)
        return "  breaks a kind or a pin";
    if (!l->answers)
        return "  not contiguous";
    return p->proven ? "  proven" : "";
}

static void print_lane(const struct place_race *r, const struct place_lane *l)
{
    char gap[UNITS_ROOM];

    if (!l->p) {
        printf("%-10s          -   %s\n", l->name, l->why);
        return;
    }
    printf("%-10s %10.6g %11s %9llu %9llu %9.2f%s\n", l->name, l->p->value_ms,
           r->bound_ms > 0 ? units_percent(gap, l->p->value_ms / r->bound_ms - 1) : "-",
           (unsigned long long)l->tally.best_at, (unsigned long long)l->tally.priced, l->seconds,
           remark(l));
}

static bool counts_lane(const struct place_lane *l)
{
    return l->p && l->tally.priced > 1;
}

static void print_curves(const struct place_race *r)
{
    bool any = false;

    for (uint32_t i = 0; i < r->lanes; i++)
        any |= counts_lane(&r->lane[i]);
    if (!any)
        return;
    printf("\nbest plan after so many priced\n%-10s", "");
    for (uint32_t i = 0; i < r->lanes; i++) {
        if (counts_lane(&r->lane[i]))
            printf(" %10s", r->lane[i].name);
    }
    for (uint32_t k = 0; k < PLACE_LEVELS && place_levels[k] <= r->plans; k++) {
        printf("\n%-10llu", (unsigned long long)place_levels[k]);
        for (uint32_t i = 0; i < r->lanes; i++) {
            double ms = r->lane[i].tally.curve[k];
            if (counts_lane(&r->lane[i]))
                isfinite(ms) ? printf(" %10.6g", ms) : printf(" %10s", "-");
        }
    }
    printf("\n");
}

void place_race_print(const char *name, const struct place_graph *g, const struct place_job *job,
                      const struct place_race *r)
{
    char a[UNITS_ROOM], b[UNITS_ROOM];

    printf("%s   %s operators, %u accelerators, %s, at most %s plans priced by each, seed %llu\n\n",
           name, units_count(a, g->nodes), place_devices(g) - g->type[g->types - 1].count,
           job->latency    ? "latency"
           : job->any_sets ? "any sets"
                           : "contiguous",
           units_count(b, (int64_t)r->plans), (unsigned long long)job->seed);
    printf("algo         value ms  over bound   at plan     plans   seconds\n");
    for (uint32_t i = 0; i < r->lanes; i++)
        print_lane(r, &r->lane[i]);
    print_curves(r);
}

/* ---- for programs ---- */

static cJSON *lane_json(const struct place_race *r, const struct place_lane *l)
{
    cJSON *o = cJSON_CreateObject(), *curve;

    cJSON_AddStringToObject(o, "algo", l->name);
    cJSON_AddNumberToObject(o, "value_ms", l->p ? l->p->value_ms : NAN);
    cJSON_AddBoolToObject(o, "answers", l->answers);
    cJSON_AddBoolToObject(o, "contiguous", l->p && l->p->contiguous);
    cJSON_AddBoolToObject(o, "proven", l->p && l->p->proven);
    cJSON_AddNumberToObject(o, "plans", (double)l->tally.priced);
    cJSON_AddNumberToObject(o, "best_at", (double)l->tally.best_at);
    cJSON_AddNumberToObject(o, "seconds", l->seconds);
    curve = cJSON_AddArrayToObject(o, "curve");
    for (uint32_t k = 0; k < PLACE_LEVELS && place_levels[k] <= r->plans; k++)
        cJSON_AddItemToArray(curve, cJSON_CreateNumber(l->tally.curve[k]));
    if (!l->p)
        cJSON_AddStringToObject(o, "why", l->why);
    return o;
}

int place_race_json(const struct place_graph *g, const struct place_job *job,
                    const struct place_race *r, struct err *e)
{
    cJSON *o = cJSON_CreateObject(), *levels, *runners;
    char hex[24];

    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)place_fingerprint(g));
    cJSON_AddStringToObject(o, "schema", "automap-place-race-1");
    cJSON_AddStringToObject(o, "fingerprint", hex);
    cJSON_AddNumberToObject(o, "seed", (double)job->seed);
    cJSON_AddNumberToObject(o, "plans", (double)r->plans);
    cJSON_AddNumberToObject(o, "bound_ms", r->bound_ms);
    cJSON_AddStringToObject(
        o, "proven_scope",
        job->latency ? "latency of placements of this graph, under the rules and pins here"
        : job->any_sets
            ? "throughput of all placements of this graph, under the rules and pins here"
            : "throughput of contiguous placements of this graph, under the rules and "
              "pins here");
    levels = cJSON_AddArrayToObject(o, "levels");
    for (uint32_t k = 0; k < PLACE_LEVELS && place_levels[k] <= r->plans; k++)
        cJSON_AddItemToArray(levels, cJSON_CreateNumber((double)place_levels[k]));
    runners = cJSON_AddArrayToObject(o, "runners");
    for (uint32_t i = 0; i < r->lanes; i++)
        cJSON_AddItemToArray(runners, lane_json(r, &r->lane[i]));
    char *text = cJSON_Print(o);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
    return text ? 0 : err_no_memory(e, "for the report");
}
