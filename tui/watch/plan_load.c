#include "tui/watch/plan_load.h"

#include "engine/decide/classes.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/place/place_file.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_file.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/units.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/watch/hybrid_job.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/placing.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool plan_load_is(const char *path)
{
    struct plan_setup setup;
    struct err e;
    struct stat s;

    if (!stat(path, &s) && !S_ISREG(s.st_mode))
        return false; /* a pipe is a model: it can not be looked into and read then */
    return pipeline_file_is(path) || hybrid_file_is(path) || place_file_is(path) ||
           !plan_file_setup(path, &setup, &e);
}

uint32_t plan_load_all(const struct watch *w, struct live_plan *out[static WATCH_PLANS_MOST])
{
    uint32_t count = w->shot->plan_count;

    memcpy(out, w->shot->plans, count * sizeof *out);
    for (int n = 0; n < w->loaded.count; n++) {
        if (w->loaded.items[n].plan)
            out[count++] = w->loaded.items[n].plan;
    }
    for (int n = 0; n < PLANS_OF_MOMENTS; n++) {
        struct live_plan *plan = w->loaded.moment[n];
        bool is_new = plan != NULL;
        for (uint32_t k = 0; k < count; k++)
            is_new &= out[k] != plan;
        if (is_new)
            out[count++] = plan;
    }
    return count;
}

static bool is_same_find(const struct live_plan *a, const struct live_plan *b)
{
    return a->episode == b->episode && live_plan_equal(a, b);
}

bool plan_load_has_whole(const struct watch *w)
{
    struct live_plan *plans[WATCH_PLANS_MOST];
    uint32_t count = plan_load_all(w, plans);

    for (uint32_t n = 0; n < count; n++) {
        class_id k = 0;
        while (k < w->problem->classes.count && !plans[n]->on[k])
            k++;
        if (k == w->problem->classes.count)
            return true;
    }
    return false;
}

void plan_load_moment(struct watch *w, int which, struct live_plan *plan)
{
    struct live_plan *plans[WATCH_PLANS_MOST];

    live_plan_release(w->loaded.moment[which]);
    w->loaded.moment[which] = NULL;
    uint32_t count = plan ? plan_load_all(w, plans) : 0;
    for (uint32_t n = 0; n < count; n++) {
        if (is_same_find(plans[n], plan)) {
            plan = plans[n];
            break;
        }
    }
    w->loaded.moment[which] = plan ? live_plan_share(plan) : NULL;
}

struct live_plan *plan_load_of_moment(const struct watch *w, int which)
{
    return w->loaded.moment[which];
}

struct live_plan *plan_load_best(const struct watch *w)
{
    struct live_plan *plans[WATCH_PLANS_MOST];
    uint32_t count = plan_load_all(w, plans);
    struct live_plan *best = NULL;

    for (uint32_t n = 0; n < count; n++) {
        if (plans[n]->fits && (!best || plans[n]->cost.step_ms < best->cost.step_ms))
            best = plans[n];
    }
    return best;
}

char *plan_found_by(const struct live_plan *plan, char *out, size_t room)
{
    char count[UNITS_ROOM];

    if (plan->nodes)
        snprintf(out, room, "%s, %s %s", plan->found_by, units_count(count, (int64_t)plan->nodes),
                 plan->nodes == 1 ? "case" : "cases");
    else if (plan->episode && strcmp(plan->found_by, "batch split") != 0)
        snprintf(out, room, "%s, episode %s", plan->found_by,
                 units_count(count, (int64_t)plan->episode));
    else
        snprintf(out, room, "%s", plan->found_by);
    return out;
}

const struct live_plan *plan_load_of(const struct watch *w, const char *path)
{
    for (int n = 0; n < w->loaded.count; n++) {
        if (!strcmp(w->loaded.items[n].path, path))
            return w->loaded.items[n].plan;
    }
    return NULL;
}

/* "t5" of ".../t5.plan.json". */
static void name_of(const char *path, char *out, size_t room)
{
    const char *name = hlo_file_name(path);
    size_t size = strlen(name);

    for (const char *const *end = (const char *const[]){".json", ".plan", NULL}; *end; end++) {
        size_t last = strlen(*end);
        if (size > last && !strncmp(name + size - last, *end, last))
            size -= last;
    }
    snprintf(out, room, "%.*s", (int)size, name);
}

static struct live_plan *share_of(const struct watch *w, const struct plan *p, const char *path)
{
    class_id count = w->problem->classes.count;
    struct live_plan *out = mem_try(1, sizeof *out + (size_t)count * sizeof *out->on);

    if (!out)
        return NULL;
    out->references = 1;
    name_of(path, out->found_by, sizeof out->found_by);
    out->cost = p->cost;
    out->fits = true;
    out->count = count;
    memcpy(out->on, p->on, (size_t)count * sizeof *out->on);
    return out;
}

static int take_relaxed(struct watch *w, struct plan *p, struct err *e)
{
    struct relaxed_job *job;
    int rc = relaxed_job_of(p->relaxed, &job, e);

    if (rc)
        return rc;
    relaxed_job_free(w->relaxed);
    w->relaxed = job;
    return 0;
}

static int take_pipeline(struct watch *w, const char *path, struct err *e)
{
    struct pipeline_job *job;
    int rc = pipeline_job_of_file(w->problem, path, &job, e);

    if (rc)
        return rc;
    pipeline_job_free(w->pipeline);
    w->pipeline = job;
    return 0;
}

static int take_place(struct watch *w, const char *path, struct err *e)
{
    struct placing *job;
    int rc = placing_of_file(&(struct placing_source){w->problem, NULL}, path, &job, e);

    if (rc)
        return rc;
    placing_free(w->placing);
    w->placing = job;
    return 0;
}

static int take_hybrid(struct watch *w, const char *path, struct err *e)
{
    struct hybrid_job *job;
    int rc = hybrid_job_of_file(w->problem, path, &job, e);

    if (rc)
        return rc;
    hybrid_job_free(w->hybrid);
    w->hybrid = job;
    return 0;
}

/* Where the plan of that file is, or will be; NULL: no room. */
static struct loaded_plan *slot_of(struct watch *w, const char *path)
{
    struct loaded_plans *all = &w->loaded;

    for (int n = 0; n < all->count; n++) {
        if (!strcmp(all->items[n].path, path))
            return &all->items[n];
    }
    if (all->count == PLANS_LOADED_MOST)
        return NULL;
    char *copy = mem_alloc(strlen(path) + 1);
    memcpy(copy, path, strlen(path) + 1);
    all->items[all->count] = (struct loaded_plan){copy, NULL};
    return &all->items[all->count++];
}

int plan_load(struct watch *w, const char *path, enum plan_loaded *kind, struct err *e)
{
    struct live_plan *strict = NULL;
    struct plan plan = {0};
    int rc = 0;

    if (pipeline_file_is(path)) {
        *kind = PLAN_LOADED_PIPELINE;
        rc = take_pipeline(w, path, e);
    } else if (hybrid_file_is(path)) {
        *kind = PLAN_LOADED_HYBRID;
        rc = take_hybrid(w, path, e);
    } else if (place_file_is(path)) {
        *kind = PLAN_LOADED_PLACE;
        rc = take_place(w, path, e);
    } else {
        rc = plan_file_load(w->problem, path, &plan, e);
        if (rc)
            return rc;
        *kind = plan.relaxed ? PLAN_LOADED_RELAXED : PLAN_LOADED_STRICT;
        if (plan.relaxed)
            rc = take_relaxed(w, &plan, e);
        else if (!(strict = share_of(w, &plan, path)))
            rc = err_set(e, ERR_MEMORY, "not enough memory for the plan");
        plan_release(&plan);
    }
    if (rc)
        return rc;
    struct loaded_plan *slot = slot_of(w, path);
    if (!slot) {
        live_plan_release(strict);
        return err_set(e, ERR_LIMIT, "%d plans are loaded already", PLANS_LOADED_MOST);
    }
    live_plan_release(slot->plan);
    slot->plan = strict;
    return 0;
}

int plan_load_again(struct watch *w, const struct watch *from, struct err *e)
{
    enum plan_loaded kind;
    int lost = 0;

    for (int n = 0; n < from->loaded.count; n++)
        lost += plan_load(w, from->loaded.items[n].path, &kind, e) != 0;
    return lost;
}

void plan_load_release(struct watch *w)
{
    for (int n = 0; n < w->loaded.count; n++) {
        free(w->loaded.items[n].path);
        live_plan_release(w->loaded.items[n].plan);
    }
    w->loaded.count = 0;
    for (int n = 0; n < PLANS_OF_MOMENTS; n++) {
        live_plan_release(w->loaded.moment[n]);
        w->loaded.moment[n] = NULL;
    }
    placing_free(w->placing);
    w->placing = NULL;
    hybrid_job_free(w->hybrid);
    w->hybrid = NULL;
}
