#include "tui/watch/other_plans.h"

#include "engine/hybrid/hybrid_picture.h"
#include "engine/live/snapshot.h"
#include "engine/pipeline/pipeline.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/units.h"
#include "tui/watch/hybrid_job.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/relaxed_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool see_relaxed(const struct watch *w, struct other_plan *out)
{
    struct relaxed_look look = {0};

    if (w->relaxed)
        relaxed_job_look(w->relaxed, &look);
    if (!look.plan)
        return false;
    *out = (struct other_plan){OTHER_RELAXED, look.plan->cost.step_ms, look.memory.peak,
                               look.plan->bound_ms, look.plan->reshard_count};
    return true;
}

/* One of a single stage is the batch split, which the search has, too. */
static bool see_pipeline(const struct watch *w, struct other_plan *out)
{
    struct pipeline_look look = {0};

    if (w->pipeline)
        pipeline_job_look(w->pipeline, &look);
    if (!look.version || !look.pipeline || look.plan.plan.stages < 2)
        return false;
    *out = (struct other_plan){OTHER_PIPELINE, pipeline_step_ms(look.pipeline, &look.plan),
                               pipeline_memory(look.pipeline, &look.plan, NULL), 0,
                               look.plan.plan.stages};
    return true;
}

static bool see_hybrid(const struct watch *w, struct other_plan *out)
{
    struct hybrid_shot *shot = w->hybrid ? hybrid_job_shot(w->hybrid) : NULL;
    bool found = shot && shot->picture.found;

    if (found) {
        const struct hybrid_picture *h = &shot->picture;
        *out = (struct other_plan){OTHER_HYBRID, h->step_ms, 0, 0, h->stages};
        for (uint32_t n = 0; n < h->stages; n++)
            out->memory_bytes = fmax(out->memory_bytes, h->stage[n].memory_bytes);
    }
    hybrid_shot_release(shot);
    return found;
}

int other_plans(const struct watch *w, struct other_plan out[static OTHER_PLANS_MOST])
{
    int count = 0;

    count += see_relaxed(w, &out[count]);
    count += see_pipeline(w, &out[count]);
    count += see_hybrid(w, &out[count]);
    return count;
}

char *other_plan_name(const struct other_plan *o, char *out, size_t room)
{
    static const struct {
        const char *kind, *part;
    } words[] = {[OTHER_RELAXED] = {"relaxed", "reshard"},
                 [OTHER_PIPELINE] = {"pipeline", "stage"},
                 [OTHER_HYBRID] = {"hybrid", "stage"}};
    char count[UNITS_ROOM];

    snprintf(out, room, "%s, %s %s%s", words[o->kind].kind, units_count(count, o->parts),
             words[o->kind].part, o->parts == 1 ? "" : "s");
    return out;
}

static int insert(struct elsewhere *list, int count, const struct elsewhere *one)
{
    int at = count;

    for (; at > 0 && list[at - 1].step_ms > one->step_ms; at--)
        list[at] = list[at - 1];
    list[at] = *one;
    return count + 1;
}

int elsewhere(const struct watch *w, struct elsewhere out[static ELSEWHERE_MOST])
{
    double headline = w->best && w->best->fits ? w->best->cost.step_ms : INFINITY;
    struct other_plan others[OTHER_PLANS_MOST];
    int count = 0, other_count = other_plans(w, others);
    char bound[UNITS_ROOM];

    for (uint32_t n = 0; n < w->shot->plan_count; n++) {
        const struct live_plan *plan = w->shot->plans[n];
        struct elsewhere one = {.step_ms = plan->cost.step_ms};
        if (plan == w->best || plan == w->exact || !plan->fits || one.step_ms >= headline)
            continue;
        snprintf(one.name, sizeof one.name, "%s", plan->found_by);
        count = insert(out, count, &one);
    }
    for (int n = 0; n < other_count; n++) {
        const struct other_plan *o = &others[n];
        struct elsewhere one = {.step_ms = o->step_ms};
        bool fits = !watch_is_limited(w) || o->memory_bytes <= watch_memory_limit(w);
        if (!fits || one.step_ms >= headline)
            continue;
        other_plan_name(o, one.name, sizeof one.name);
        size_t size = strlen(one.name);
        if (o->bound_ms > 0)
            snprintf(one.name + size, sizeof one.name - size, " (bound %s)",
                     units_plain_ms(bound, o->bound_ms));
        count = insert(out, count, &one);
    }
    return count;
}
