/* Any bytes as a plan file: an error with a sentence, or a plan that writes itself back to a form
 * that reads as the same plan. */
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_json.h"
#include "tests/fuzz/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

    make_problem(p, STEP_MODEL, "2x2");
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
