#include "tui/commands/search_compare.h"

#include "engine/compare/fewer.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/plan/plan_file.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/fewer_print.h"
#include "tui/options/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the first, the best: its step against strict plans and pipelines on fewer devices. */
static struct fewer_question question_of(const struct comparison *c,
                                         const struct pipeline_options *o)
{
    return (struct fewer_question){.step_ms = c->of[0].step_ms,
                                   .does_not_fit = !c->of[0].fits,
                                   .limit_bytes = o->no_limit ? INFINITY : o->limit_bytes,
                                   .variables = true,
                                   .inputs = true,
                                   .pipeline = o};
}

void comparison_print(const struct comparison *c, const struct problem *p,
                      const struct pipeline_options *options)
{
    char step[UNITS_ROOM], memory[UNITS_ROOM], limit[UNITS_ROOM], setting[120];

    printf("the best of each kind, batch %u, of memory %s a device\n\n", c->batch,
           isfinite(c->limit_bytes) ? units_bytes(limit, c->limit_bytes) : "any");
    for (int k = 0; k < COMPARE_KIND_COUNT; k++) {
        const struct contender *o = &c->of[k];
        contender_setting(o, setting, sizeof setting);
        if (o->exists)
            printf("  %d  %-8s %-28s %12s %9s%s  %s%s\n", k + 1, compare_names[o->kind],
                   compare_words[o->kind], units_ms(step, o->step_ms),
                   units_bytes(memory, o->memory_bytes), o->fits ? "" : " does not fit", setting,
                   !o->proven || o->kind >= COMPARE_PIPELINE ? ""
                   : o->fits                                 ? ", proven over strict plans"
                             : ", proven over strict plans of any memory");
        else
            printf("  -  %-8s %-28s %12s\n", compare_names[o->kind], compare_words[o->kind],
                   "none");
        printf("%7s", "");
        print_folded(o->why, 96 + 7, 7, stdout);
    }
    if (c->of[0].exists) {
        struct fewer_question q = question_of(c, options);
        fewer_print(p, &q);
    }
    for (int k = 0; k < COMPARE_KIND_COUNT; k++) {
        if (c->of[k].exists && c->of[k].proven && c->of[k].kind < COMPARE_PIPELINE) {
            printf("  proven: no strict plan that splits those, on that mesh%s, is faster\n",
                   isfinite(c->limit_bytes) ? " and within the memory" : "");
            break;
        }
    }
    printf("\n");
}

/* What the proof of a kind's best plan is about. */
static const char *proof_scope(const struct contender *o)
{
    if (o->kind == COMPARE_PIPELINE)
        return "L over the points that solvers choose from; the plan is taken by simulation";
    if (o->kind == COMPARE_PLACE)
        return "time per batch of a stream, over contiguous placements; the step is simulated";
    return o->fits ? "plans of this kind on this mesh, within the memory limit"
                   : "plans of this kind on this mesh, without a memory limit";
}

void comparison_json(const struct comparison *c, const struct problem *p,
                     const struct pipeline_options *options, cJSON *out)
{
    cJSON *all = cJSON_CreateArray();
    char setting[120];

    for (int k = 0; k < COMPARE_KIND_COUNT; k++) {
        const struct contender *o = &c->of[k];
        cJSON *j = cJSON_CreateObject();
        contender_setting(o, setting, sizeof setting);
        cJSON_AddStringToObject(j, "kind", compare_names[o->kind]);
        cJSON_AddBoolToObject(j, "exists", o->exists);
        if (o->exists) {
            cJSON_AddNumberToObject(j, "step_time_ms", o->step_ms);
            cJSON_AddNumberToObject(j, "compute_ms", o->compute_ms);
            cJSON_AddNumberToObject(j, "waiting_ms", o->waiting_ms);
            cJSON_AddNumberToObject(j, "memory_bytes", o->memory_bytes);
            cJSON_AddBoolToObject(j, "fits", o->fits);
            cJSON_AddBoolToObject(j, "proven", o->proven);
            cJSON_AddStringToObject(j, "proven_scope", proof_scope(o));
            cJSON_AddStringToObject(j, "setting", setting);
            if (o->kind == COMPARE_PLACE)
                cJSON_AddNumberToObject(j, "stream_ms", o->stream_ms);
        }
        cJSON_AddStringToObject(j, "why", o->why);
        cJSON_AddItemToArray(all, j);
    }
    cJSON *at = cJSON_AddObjectToObject(out, "compared_at");
    cJSON_AddNumberToObject(at, "batch", c->batch);
    cJSON_AddItemToObject(at, "memory_limit_bytes",
                          isfinite(c->limit_bytes) ? cJSON_CreateNumber(c->limit_bytes)
                                                   : cJSON_CreateNull());
    cJSON_AddItemToObject(out, "kinds", all);
    if (c->of[0].exists) {
        struct fewer_question q = question_of(c, options);
        fewer_add_json(p, &q, out);
    }
}

int comparison_save(const struct comparison *c, const char *path, struct err *e)
{
    const struct contender *o = &c->of[0];

    if (!o->exists)
        return err_set(e, ERR_INFEASIBLE, "there is no plan to write");
    if (o->kind == COMPARE_HYBRID)
        return hybrid_file_save(o->hybrid, path, e);
    return o->pipeline ? pipeline_file_save(o->pipeline, &o->pipeline_plan, path, e)
                       : plan_file_save(&o->plan, path, e);
}
