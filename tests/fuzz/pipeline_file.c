/* Any bytes as a pipeline plan: an error with a sentence, or a plan that writes itself back to a form
 * that reads as the same plan. */
#include "engine/pipeline/pipeline_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] =
    "HloModule step, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"
    "add.1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
    "ENTRY main {\n"
    "  w1 = f32[16,32] parameter(0)\n  w2 = f32[32,8] parameter(1)\n  x = f32[4,16] parameter(2)\n"
    "  h = f32[4,32] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  y = f32[4,8] dot(h, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  g = f32[32,8] dot(h, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  w4 = f32[32,8] subtract(w2, g)\n"
    "  d = f32[4,32] dot(y, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
    "  f = f32[16,32] dot(x, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  w3 = f32[16,32] subtract(w1, f)\n  z = f32[] constant(0)\n"
    "  l = f32[] reduce(y, z), dimensions={0,1}, to_apply=add.1\n"
    "  ROOT t = (f32[16,32], f32[32,8], f32[]) tuple(w3, w4, l)\n}\n";

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Made once: nothing read changes it. */
static const struct problem *the_problem(void)
{
    static struct problem *p;
    struct problem_options o = {0};
    struct hlo_module *m;
    struct cluster c;
    struct err e;

    if (p)
        return p;
    p = mem_alloc(sizeof *p);
    cluster_default(&c);
    require(!hlo_load_memory("model", model, sizeof model - 1, NULL, &m, &e));
    require(!problem_new(m, NULL, &c, &o, p, &e));
    return p;
}

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
    const struct problem *p = the_problem();
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
