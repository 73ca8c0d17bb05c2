/* Any bytes as a pipeline plan: an error with a sentence, or a plan that writes itself back to a
 * form that reads as the same plan. */
#include "engine/pipeline/pipeline_file.h"
#include "tests/fuzz/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(const struct pipeline *l, const struct pipeline_plan *plan)
{
    cJSON *o = pipeline_json(l, plan);
    char *text = cJSON_Print(o);

    require(o && text);
    cJSON_Delete(o);
    return text;
}

static void check_plan(const struct pipeline *l, const struct pipeline_plan *plan)
{
    struct pipeline_plan again;
    struct pipeline other;
    struct err e;
    char *once = written(l, plan), *twice;

    require(!pipeline_file_parse(l->problem, once, strlen(once), &other, &again, &e));
    require(pipe_plan_equal(&plan->plan, &again.plan));
    twice = written(&other, &again);
    require(!strcmp(once, twice));
    pipeline_release(&other);
    cJSON_free(once);
    cJSON_free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct problem *p = the_problem(STEP_MODEL);
    struct pipeline_plan plan;
    struct pipeline l;
    struct err e = {0};

    if (pipeline_file_parse(p, (const char *)data, size, &l, &plan, &e)) {
        require(e.code < 0 && e.what[0] && e.caret < sizeof e.source);
        return 0;
    }
    check_plan(&l, &plan);
    pipeline_release(&l);
    return 0;
}
