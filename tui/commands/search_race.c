#include "tui/commands/search_race.h"

#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/search/race.h"
#include "engine/search/search.h"
#include "engine/text/units.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"
#include "tui/options/exit_code.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>

enum { PLANS_WITHOUT_LIMIT = 10000 };

static double baseline_of(const struct race *r)
{
    const struct game *g = search_game(r->runner[0].search);

    return game_pinned_ms(g);
}

/* What a score is in the figure people read: a step time, or the paper's reward. NAN: of a plan
 * over the memory limit, or of none. */
static double shown_score(const struct search_args *a, const struct race *r, double score)
{
    if (!isfinite(score) || !game_score_fits(search_game(r->runner[0].search), score))
        return NAN;
    return a->search.game.reward == GAME_REWARD_PAPER ? score : baseline_of(r) * exp(-score);
}

/* A figure of 12 columns, "-" where there is none. */
static void print_shown(const struct search_args *a, const struct race *r, double score)
{
    double x = shown_score(a, r, score);
    char number[UNITS_ROOM];

    printf(" %12s", isnan(x) ? "-" : units_number(number, x, 3));
}

/* One sentence on who won, said plainly when it was not the learner. */
static void conclude(const struct search_args *a, const struct race *r, char *out, size_t room)
{
    const struct race_runner *dqn = &r->runner[SEARCH_DQN], *exact = &r->runner[SEARCH_EXACT];
    uint32_t first = race_winner(r);
    double mine = search_best(dqn->search)->score,
           best = search_best(r->runner[first].search)->score;
    const struct race_runner *quickest = NULL;

    if (!isfinite(best) || !game_score_fits(search_game(dqn->search), best)) {
        snprintf(out, room, "no algorithm found a plan%s",
                 isfinite(best) ? " within the memory limit" : "");
        return;
    }
    bool reached = mine >= best - 1e-9 * (1 + fabs(best));
    for (uint32_t n = 0; n < r->count;
         n++) { /* of the opponents but the solver, the first at the best */
        const struct race_runner *o = &r->runner[n];
        const struct search_best *b = search_best(o->search);
        if (n == SEARCH_DQN || n == SEARCH_EXACT || b->score < best - 1e-9 * (1 + fabs(best)))
            continue;
        if (!quickest || b->evaluation < search_best(quickest->search)->evaluation)
            quickest = o;
    }
    char mine_at[UNITS_ROOM], their_at[UNITS_ROOM];
    const char *proof =
        search_is_proven(exact->search) ? "the proven optimum" : "the best plan known";
    if (!game_score_fits(search_game(dqn->search), mine))
        snprintf(out, room,
                 "the dqn lost: %s ended at %s, the dqn has nothing within the memory limit",
                 search_names[first], units_number(their_at, shown_score(a, r, best), 3));
    else if (!reached)
        snprintf(out, room, "the dqn lost: %s ended at %s, the dqn at %s", search_names[first],
                 units_number(their_at, shown_score(a, r, best), 3),
                 units_number(mine_at, shown_score(a, r, mine), 3));
    else if (!quickest)
        snprintf(out, room,
                 "the dqn reached %s after %s plans; no opponent but the exact solver did", proof,
                 units_count(mine_at, (int64_t)search_best(dqn->search)->evaluation));
    else
        snprintf(out, room, "the dqn reached %s after %s plans, %s after %s: %s", proof,
                 units_count(mine_at, (int64_t)search_best(dqn->search)->evaluation),
                 search_names[quickest->algorithm],
                 units_count(their_at, (int64_t)search_best(quickest->search)->evaluation),
                 search_best(dqn->search)->evaluation <= search_best(quickest->search)->evaluation
                     ? "it needed no more than any opponent"
                     : "an opponent needed fewer");
}

/* What trws rounded to be in this race of strict plans. */
static void print_relaxed(const struct race *r)
{
    const struct relaxed_plan *plan =
        r->count > SEARCH_TRWS ? search_relaxed(r->runner[SEARCH_TRWS].search) : NULL;
    char step[UNITS_ROOM], bound[UNITS_ROOM];

    if (plan)
        printf("\ntrws is scored by its plan rounded to a strict one; relaxed it takes %s, the %s "
               "bound is %s\n",
               units_ms(step, plan->cost.step_ms), relaxed_bound_names[plan->bound_kind],
               units_ms(bound, plan->bound_ms));
}

/* Whether the shipped network plays a runner's first plans. */
static bool is_led(const struct race_runner *o)
{
    return search_is_continuous(search_options(o->search));
}

static const char *name_of(const struct race_runner *o)
{
    return is_led(o) ? "dqn, led" : search_names[o->algorithm];
}

static void print_lines(const struct search_args *a, const struct race *r, const char *conclusion)
{
    char number[UNITS_ROOM], at[UNITS_ROOM], plans[UNITS_ROOM];

    printf("best %s after so many priced plans\n\n  %-10s",
           a->search.game.reward ? "reward" : "step time, ms", "");
    for (uint32_t n = 0; n < r->count; n++)
        printf(" %12s", name_of(&r->runner[n]));
    printf("\n");
    for (uint32_t k = 0; k < r->point_count; k++) {
        printf("  %-10s", units_count(number, (int64_t)r->points[k]));
        for (uint32_t n = 0; n < r->count; n++)
            print_shown(a, r, r->runner[n].curve[k]);
        printf("\n");
    }
    printf("\n  %-10s %12s %10s %10s %10s %10s\n", "", "best", "at plan", "plans", "seconds",
           "to best");
    for (uint32_t n = 0; n < r->count; n++) {
        const struct race_runner *o = &r->runner[n];
        const struct search_best *b = search_best(o->search);
        printf("  %-10s", name_of(o));
        print_shown(a, r, b->score);
        printf(" %10s %10s %10.3f %10.3f%s%s\n", units_count(at, (int64_t)b->evaluation),
               units_count(plans, (int64_t)search_evaluations(o->search)), o->seconds,
               o->seconds_to_best, search_is_proven(o->search) ? "  proven over " : "",
               search_is_proven(o->search) ? game_decides[a->search.game.kind] : "");
    }
    if (is_led(&r->runner[SEARCH_DQN]))
        printf(
            "\nled: the shipped policy plays %s episodes of the dqn, the first %d and some of its "
            "fine-tuning; it learns from them\n",
            units_count(at, (int64_t)r->runner[SEARCH_DQN].led), SEARCH_LED);
    print_relaxed(r);
    printf("\nwho led\n\n");
    for (size_t n = 0; n < r->lead_count; n++)
        if (game_score_fits(search_game(r->runner[0].search), r->leads[n].score))
            printf("  from plan %-8s %-10s %s\n", units_count(at, (int64_t)r->leads[n].evaluation),
                   search_names[r->runner[r->leads[n].runner].algorithm],
                   units_number(number, shown_score(a, r, r->leads[n].score), 3));
    printf("\n%s\n", conclusion);
}

static cJSON *runner_json(const struct search_args *a, const struct race *r, uint32_t n)
{
    const struct race_runner *o = &r->runner[n];
    const struct search_best *b = search_best(o->search);
    cJSON *j = cJSON_CreateObject();

    cJSON_AddStringToObject(j, "algo", search_names[o->algorithm]);
    if (o->algorithm == SEARCH_DQN)
        cJSON_AddNumberToObject(j, "led_episodes", (double)o->led);
    cJSON_AddNumberToObject(j, "score", b->score); /* null when there is none */
    cJSON_AddNumberToObject(j, "value", shown_score(a, r, b->score));
    cJSON_AddNumberToObject(j, "best_evaluation", (double)b->evaluation);
    cJSON_AddNumberToObject(j, "evaluations", (double)search_evaluations(o->search));
    cJSON_AddNumberToObject(j, "seconds", o->seconds);
    cJSON_AddNumberToObject(j, "seconds_to_best", o->seconds_to_best);
    cJSON_AddBoolToObject(j, "proven", search_is_proven(o->search));
    cJSON_AddStringToObject(j, "proven_scope", "strict plans that this game's decisions can make");
    const struct relaxed_plan *relaxed = search_relaxed(o->search);
    if (relaxed) {
        cJSON_AddNumberToObject(j, "relaxed_ms", relaxed->cost.step_ms);
        cJSON_AddNumberToObject(j, "relaxed_bound_ms", relaxed->bound_ms);
        cJSON_AddStringToObject(j, "relaxed_bound_kind", relaxed_bound_names[relaxed->bound_kind]);
    }
    cJSON *curve = cJSON_AddArrayToObject(j, "curve");
    for (uint32_t k = 0; k < r->point_count; k++)
        cJSON_AddItemToArray(curve, cJSON_CreateNumber(shown_score(a, r, o->curve[k])));
    return j;
}

static void print_json(const struct search_args *a, const struct race *r, const char *conclusion)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "schema", "automap.race/1");
    cJSON_AddNumberToObject(o, "seed", (double)a->search.seed);
    cJSON_AddNumberToObject(o, "baseline_ms", baseline_of(r));
    cJSON *points = cJSON_AddArrayToObject(o, "evaluations");
    for (uint32_t k = 0; k < r->point_count; k++)
        cJSON_AddItemToArray(points, cJSON_CreateNumber((double)r->points[k]));
    cJSON *runners = cJSON_AddArrayToObject(o, "runners");
    for (uint32_t n = 0; n < r->count; n++)
        cJSON_AddItemToArray(runners, runner_json(a, r, n));
    cJSON *leads = cJSON_AddArrayToObject(o, "leads");
    for (size_t n = 0; n < r->lead_count; n++) {
        cJSON *l = cJSON_CreateObject();
        cJSON_AddNumberToObject(l, "from", (double)r->leads[n].evaluation);
        cJSON_AddStringToObject(l, "algo", search_names[r->runner[r->leads[n].runner].algorithm]);
        cJSON_AddNumberToObject(l, "value", shown_score(a, r, r->leads[n].score));
        cJSON_AddItemToArray(leads, l);
    }
    cJSON_AddStringToObject(o, "conclusion", conclusion);
    char *text = cJSON_Print(o);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
}

int search_race(const struct search_args *a, const struct problem *p, const struct game_pin *pins,
                size_t pin_count)
{
    uint64_t most = a->episodes ? a->episodes : a->seconds > 0 ? UINT64_MAX : PLANS_WITHOUT_LIMIT;
    double start = clock_seconds();
    char conclusion[200];
    struct race r;
    struct err e;

    if (race_new(p, &a->search, pins, pin_count, &r, &e)) {
        err_print(&e, stderr);
        return exit_code_of(&e);
    }
    while (r.level < most && race_step(&r)) {
        if (a->seconds > 0 && clock_seconds() - start >= a->seconds)
            break;
        if (stop_asked(p->stop))
            break;
    }
    conclude(a, &r, conclusion, sizeof conclusion);
    if (a->json)
        print_json(a, &r, conclusion);
    else
        print_lines(a, &r, conclusion);
    bool fits = game_score_fits(search_game(r.runner[0].search),
                                search_best(r.runner[race_winner(&r)].search)->score);
    race_release(&r);
    return fits ? EXIT_OK : EXIT_INFEASIBLE;
}
