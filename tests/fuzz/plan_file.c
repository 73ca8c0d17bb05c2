/* Any bytes as a plan file: an error with a sentence, or a plan that writes itself back to a form
 * that reads as the same plan. */
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_json.h"

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

static void make_problem(struct problem *p)
{
    struct problem_options o = {.mesh = "2x2"};
    struct hlo_module *m;
    struct cluster c;
    struct err e;

    cluster_default(&c);
    require(!hlo_load_memory("model", model, sizeof model - 1, NULL, &m, &e));
    require(!problem_new(m, NULL, &c, &o, p, &e));
}

static void check_plan(const struct problem *p, const struct plan *plan)
{
    struct str once = {0}, twice = {0};
    struct plan again;
    struct err e;

    require(!plan_write_json(plan, &once, &e));
    require(!plan_file_parse(p, once.text, once.size, &again, &e));
    require(!memcmp(plan->on, again.on, p->classes.count * sizeof *plan->on));
    require(!plan_write_json(&again, &twice, &e));
    require(once.size == twice.size && !memcmp(once.text, twice.text, once.size));
    plan_release(&again);
    str_release(&once);
    str_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct plan_setup setup;
    struct plan plan;
    struct err e = {0};

    make_problem(p);
    if (plan_file_setup_parse((const char *)data, size, &setup, &e))
        require(e.code < 0 && e.what[0] && e.caret < sizeof e.source);
    if (plan_file_parse(p, (const char *)data, size, &plan, &e)) {
        require(e.code < 0 && e.what[0] && e.caret < sizeof e.source);
    } else {
        check_plan(p, &plan);
        plan_release(&plan);
    }
    problem_release(p);
    free(p);
    return 0;
}
