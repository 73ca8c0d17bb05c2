#include "tui/watch/why_of.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "hlo/support/mem.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/relaxed_job.h"

#include <stdio.h>
#include <string.h>

const struct relaxed_plan *why_of_relaxed(const struct watch *w)
{
    struct relaxed_look look = {0};

    if (w->relaxed)
        relaxed_job_look(w->relaxed, &look);
    return look.plan;
}

const struct pipeline *why_of_pipeline(const struct watch *w, struct pipeline_plan *plan)
{
    struct pipeline_look look = {0};

    if (w->pipeline)
        pipeline_job_look(w->pipeline, &look);
    *plan = look.plan;
    return look.version ? look.pipeline : NULL;
}

int why_of_list(const struct watch *w, struct why_of list[static WHY_OF_MOST])
{
    struct pipeline_plan pipeline;
    int count = 0;

    if (w->best)
        list[count++] = (struct why_of){WHY_OF_BEST, w->best};
    if (w->exact)
        list[count++] = (struct why_of){WHY_OF_EXACT, w->exact};
    struct live_plan *plans[WATCH_PLANS_MOST];
    uint32_t plan_count = plan_load_all(w, plans);
    for (uint32_t n = 0; n < plan_count; n++) {
        struct live_plan *plan = plans[n];
        if (plan != w->best && plan != w->exact)
            list[count++] = (struct why_of){WHY_OF_PLAN, plan};
    }
    if (why_of_relaxed(w))
        list[count++] = (struct why_of){WHY_OF_RELAXED, NULL};
    if (why_of_pipeline(w, &pipeline))
        list[count++] = (struct why_of){WHY_OF_PIPELINE, NULL};
    if (!plan_load_has_whole(w))
        list[count++] = (struct why_of){WHY_OF_WHOLE, NULL};
    list[count++] = (struct why_of){WHY_OF_EPISODE, NULL};
    return count;
}

struct why_of why_of_default(const struct watch *w)
{
    return w->best ? (struct why_of){WHY_OF_BEST, w->best} : (struct why_of){WHY_OF_EPISODE, NULL};
}

struct why_of why_of_plan(const struct watch *w, struct live_plan *plan)
{
    struct why_of list[WHY_OF_MOST];
    int count = why_of_list(w, list);

    for (int n = 0; plan && n < count; n++) {
        if (list[n].plan == plan)
            return list[n];
    }
    return plan ? (struct why_of){WHY_OF_PLAN, plan} : why_of_default(w);
}

struct why_of why_of_now(const struct watch *w, struct why_of of)
{
    if (of.kind == WHY_OF_BEST)
        of.plan = w->best;
    if (of.kind == WHY_OF_EXACT)
        of.plan = w->exact;
    struct pipeline_plan pipeline;
    bool there = of.kind == WHY_OF_RELAXED    ? why_of_relaxed(w) != NULL
                 : of.kind == WHY_OF_PIPELINE ? why_of_pipeline(w, &pipeline) != NULL
                                              : of.plan || of.kind >= WHY_OF_WHOLE;
    return there ? of : why_of_default(w);
}

bool why_of_is_same(struct why_of a, struct why_of b)
{
    return a.kind == b.kind && (a.kind != WHY_OF_PLAN || a.plan == b.plan);
}

struct why_of why_of_next(const struct watch *w, struct why_of of, int step)
{
    struct why_of list[WHY_OF_MOST];
    int count = why_of_list(w, list), at = 0;

    while (at < count && !why_of_is_same(list[at], of))
        at++;
    return list[at < count ? (at + count + step) % count : 0];
}

void why_of_read(const struct watch *w, struct why_of of, label *on, label *open)
{
    size_t classes = w->problem->classes.count;

    memset(on, 0, classes * sizeof *on);
    memset(open, 0, classes * sizeof *open);
    if (of.plan) {
        memcpy(on, of.plan->on, classes * sizeof *on);
    } else if (of.kind == WHY_OF_EPISODE) {
        memcpy(on, w->on, classes * sizeof *on);
        memcpy(open, w->open, classes * sizeof *open);
    }
}

double why_of_ms(const struct watch *w, struct why_of of)
{
    struct pipeline_plan pipeline;
    label *whole = NULL;

    if (of.plan)
        return of.plan->cost.step_ms;
    if (of.kind == WHY_OF_RELAXED)
        return why_of_relaxed(w)->cost.step_ms;
    if (of.kind == WHY_OF_PIPELINE)
        return pipeline_step_ms(why_of_pipeline(w, &pipeline), &pipeline);
    if (of.kind == WHY_OF_WHOLE)
        whole = mem_alloc(((size_t)w->problem->classes.count + 1) * sizeof *whole);
    double ms = step_tables_cost(&w->problem->step_tables, whole ? whole : w->on).step_ms;
    free(whole);
    return ms;
}

static int64_t episode_now(const struct watch *w)
{
    return (int64_t)(w->shot->episodes + (w->position != MOVE_NONE));
}

char *why_of_name(const struct watch *w, struct why_of of, char out[static WHY_OF_ROOM])
{
    const struct live_plan *plan = of.plan;
    char episode[40] = "", count[UNITS_ROOM];

    if (plan && plan->episode && strcmp(plan->found_by, "batch split") != 0)
        snprintf(episode, sizeof episode, ", episode %.24s",
                 units_count(count, (int64_t)plan->episode));
    switch (of.kind) {
    case WHY_OF_BEST:
        snprintf(out, WHY_OF_ROOM, "%s%s", watch_plan_word(w), episode);
        break;
    case WHY_OF_EXACT:
        snprintf(out, WHY_OF_ROOM, "%s of %s",
                 !plan->fits    ? "least memory"
                 : plan->proven ? "proven optimum"
                                : "best of exact",
                 game_decides[w->shot->options.game.kind]);
        break;
    case WHY_OF_PLAN:
        snprintf(out, WHY_OF_ROOM, "%s%s", plan->proven ? "proven optimum" : plan->found_by,
                 episode);
        break;
    case WHY_OF_RELAXED:
        snprintf(out, WHY_OF_ROOM, "relaxed plan");
        break;
    case WHY_OF_PIPELINE:
        snprintf(out, WHY_OF_ROOM, "pipeline, simulated");
        break;
    case WHY_OF_WHOLE:
        snprintf(out, WHY_OF_ROOM, "everything whole");
        break;
    case WHY_OF_EPISODE:
        snprintf(out, WHY_OF_ROOM, "episode %s, not a plan", units_count(count, episode_now(w)));
        break;
    }
    return out;
}

char *why_of_brief(const struct watch *w, struct why_of of, char out[static WHY_OF_ROOM])
{
    static const char *const words[] = {
        [WHY_OF_RELAXED] = "relaxed", [WHY_OF_PIPELINE] = "pipeline", [WHY_OF_WHOLE] = "all whole"};
    char count[UNITS_ROOM];

    if (of.kind == WHY_OF_BEST)
        snprintf(out, WHY_OF_ROOM, "%s", watch_is_baseline(w) ? "baseline" : "best");
    else if (of.kind == WHY_OF_EXACT)
        snprintf(out, WHY_OF_ROOM, "%s",
                 !of.plan->fits    ? "least memory"
                 : of.plan->proven ? "optimum"
                                   : "exact");
    else if (of.kind == WHY_OF_PLAN)
        snprintf(out, WHY_OF_ROOM, "%s", of.plan->found_by);
    else if (of.kind == WHY_OF_EPISODE)
        snprintf(out, WHY_OF_ROOM, "episode %s", units_count(count, episode_now(w)));
    else
        snprintf(out, WHY_OF_ROOM, "%s", words[of.kind]);
    return out;
}
