/* Any module to its end: what loads as a program becomes a problem, its strict and its relaxed
 * optimum, and every export of both, each of which reads itself back; the plan file gives the same
 * costs. Refusals say why, and only some have a right to be there. */
#include "engine/exact/exact.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_json.h"
#include "engine/relaxed/relaxed.h"
#include "tests/fuzz/problem.h"
#include "tui/watch/export_form.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INSTRUCTIONS_MOST = 300, SWEEPS = 20, NODES = 64, TABLE = 4096 };

static void check_plan_file(const struct plan *plan)
{
    struct str text = {0};
    struct plan again;
    struct err e = {0};

    require(!plan_write_json(plan, &text, &e));
    require(!plan_file_parse(plan->problem, text.text, text.size, &again, &e));
    require(fabs(again.cost.step_ms - plan->cost.step_ms) <= 1e-9 * plan->cost.step_ms);
    plan_release(&again);
    str_release(&text);
}

/* What HLO may say and StableHLO may not: the reasons its writer may give. */
static bool is_only_hlo(const char *what)
{
    static const char *const reasons[] = {"no form in StableHLO", "no form for these types",
                                          "the smallest values have no form", "is no dictionary",
                                          "the file has not its values"};

    for (size_t n = 0; n < sizeof reasons / sizeof *reasons; n++) {
        if (strstr(what, reasons[n]))
            return true;
    }
    return false;
}

static void check_exports(const struct plan *plan)
{
    const struct report_about about = {.model = "fuzz", .command = "automap plan fuzz"};

    for (const struct export_form *form = export_forms; form->name; form++) {
        struct str text = {0}, warnings = {0};
        struct err e = {0};
        int rc = export_form_write(form, plan, &about, &text, &warnings, &e);
        if (rc) {
            require(e.code < 0 && e.what[0]);
            bool may = (plan->relaxed && form->not_relaxed) || is_only_hlo(e.what);
            if (e.code == ERR_INPUT && !may) {
                fprintf(stderr, "%s, %s: %s\n", form->name, plan->relaxed ? "relaxed" : "strict",
                        e.what);
                abort();
            }
        }
        str_release(&text);
        str_release(&warnings);
    }
    check_plan_file(plan);
}

/* The labels of the optimum, decided one by one: none may clash. */
static int make_strict(const struct problem *p, struct plan *out, struct err *e)
{
    struct exact_options o = {
        .variables = true, .inputs = true, .table_most = TABLE, .nodes_most = NODES};
    struct exact_result r = {0};
    struct strict s;
    int rc = strict_new(&p->labels, &s, e);

    if (rc)
        return rc;
    rc = exact_strict(&p->step_tables, &s, &o, &r, e);
    if (rc)
        goto out;
    require(r.value >= r.bound * (1 - 1e-9));
    for (class_id k = 0; k < p->classes.count; k++) {
        struct strict_clash clash;
        for (uint32_t x = 0; x < p->mesh.axes; x++)
            if (r.on[k] >> x & 1)
                require(strict_decide(&s, k, x, true, &clash));
    }
    rc = plan_from_strict(p, &s, PLAN_BY_OPTIMUM, out, e);
    if (!rc)
        require(fabs(out->cost.step_ms - r.value) <= 1e-9 * r.value);
out:
    exact_release(&r);
    strict_release(&s);
    return rc;
}

static int make_relaxed(const struct problem *p, struct plan *out, struct err *e)
{
    struct relaxed_options o = {.sweeps = SWEEPS};
    struct relaxed *r = NULL;
    struct relaxed_plan plan;
    int rc = relaxed_new(p, &o, &r, e);

    if (rc)
        return rc;
    rc = relaxed_solve(r, 0, &plan, e);
    if (rc)
        goto out;
    require(plan.cost.step_ms >= plan.bound_ms * (1 - 1e-6));
    rc = plan_from_relaxed(&plan, out, e);
out:
    relaxed_free(r);
    return rc;
}

static void check_problem(const struct problem *p)
{
    struct plan strict, relaxed;
    struct err e = {0};

    if (make_strict(p, &strict, &e)) {
        require(e.code < 0 && e.what[0]);
        return;
    }
    check_exports(&strict);
    if (make_relaxed(p, &relaxed, &e)) {
        require(e.code < 0 && e.what[0]);
    } else {
        require(relaxed.cost.step_ms <= strict.cost.step_ms * (1 + 1e-6));
        check_exports(&relaxed);
        plan_release(&relaxed);
    }
    plan_release(&strict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hlo_load_options load = {.max_bytes = 1 << 20, .module = 0};
    struct problem_options o = {0};
    struct problem *p = mem_alloc(sizeof *p);
    struct hlo_module *m;
    struct cluster c;
    struct err e = {0};

    cluster_default(&c);
    snprintf(o.mesh, sizeof o.mesh, "%s", size & 1 ? "2x2" : "");
    if (hlo_load_memory("fuzz", data, size, &load, &m, &e)) {
        require(e.code < 0 && e.what[0]);
    } else if (m->count > INSTRUCTIONS_MOST) {
        hlo_free(m);
    } else if (problem_new(m, NULL, &c, &o, p, &e)) {
        require(e.code < 0 && e.what[0]);
    } else {
        if (p->m->count <= 4 * INSTRUCTIONS_MOST)
            check_problem(p);
        problem_release(p);
    }
    free(p);
    return 0;
}
