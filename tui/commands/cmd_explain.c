/* automap explain: why a dim is split or not, where a collective comes from, under a plan. */
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/commands.h"

#include "engine/exact/exact.h"
#include "engine/hybrid/hybrid_explain.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_why.h"
#include "engine/pipeline/export.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/place/place_file.h"
#include "engine/place/place_pins.h"
#include "engine/plan/explain.h"
#include "engine/plan/explain_reshard.h"
#include "engine/plan/plan_file.h"
#include "tui/commands/hybrid_print.h"
#include "tui/commands/pipeline_print.h"
#include "tui/commands/place_input.h"
#include "tui/commands/place_print.h"
#include "tui/files/examples.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/problem_args.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct explain_args {
    struct problem_args problem;
    const char *plan, *what[2];
    uint32_t what_count;
    uint32_t reshard; /* from 1; 0: none asked */
    bool optimum, json, as_hybrid;
};

/* An argument behind the model that is no cluster. */
static int take_what(void *args, const struct option *o, const char *value, struct err *e)
{
    struct explain_args *a = args;
    char path[PATH_MAX], data[PATH_MAX - 512];

    (void)o;
    if (!a->problem.model ||
        examples_cluster_path(path, sizeof path, file_data_dir(data, sizeof data) ? data : NULL,
                              value))
        return OPTION_PASS;
    if (a->what_count == 2)
        return err_set(e, ERR_USAGE, "more than two things to explain");
    a->what[a->what_count++] = value;
    return 0;
}

#define ARG(field) INTO(struct explain_args, field)
static const struct option rows[] = {
    {"WHAT", .take = take_what},
    {"plan", "FILE", "the plan to explain", .kind = OPTION_FILE, ARG(plan)},
    {"reshard", "N", "why a relaxed plan has reshard N, and what the plan would cost without it",
     .kind = OPTION_WHOLE, ARG(reshard), .least = 1, .most = UINT32_MAX,
     .expected = "a number from 1 on"},
    {"json", NULL, "that answer as JSON", ARG(json)},
    {"hybrid", NULL, "read the plan, strict or a pipeline, as a hybrid plan", ARG(as_hybrid)},
    {"optimum", NULL, "the proven best plan", ARG(optimum)},
    {0},
};
#undef ARG
static const struct option_set options[] = {
    {.rows = rows}, {.rows = problem_options, .at = offsetof(struct explain_args, problem)}, {0}};

static int parse(int argc, char **argv, struct explain_args *a)
{
    const struct option_parser parser = {"explain", options, NULL};
    int code = options_parse(&parser, a, argc, argv);

    if (code)
        return code;
    const char *wrong = !a->problem.model            ? "no model given"
                        : a->plan && a->optimum      ? "--plan and --optimum are two plans"
                        : a->as_hybrid && !a->plan   ? "--hybrid says how --plan is read"
                        : a->json && !a->reshard     ? "--json goes with --reshard"
                        : !a->what_count && !a->plan ? "nothing to explain"
                                                     : NULL;
    return wrong ? options_complain("explain", "%s", wrong) : EXIT_OK;
}

static int empty_plan(const struct problem *p, struct plan *out, struct err *e)
{
    struct strict s;
    int rc = strict_new(&p->labels, &s, e);

    if (rc)
        return rc;
    rc = plan_from_strict(p, &s, PLAN_BY_NOBODY, out, e);
    strict_release(&s);
    return rc;
}

static int make_plan(const struct explain_args *a, const struct problem *p, struct plan *out,
                     struct err *e)
{
    struct exact_options o = {.goal = EXACT_STEP_TIME, .variables = true, .inputs = true};
    struct exact_result r;

    if (a->plan)
        return plan_file_load(p, a->plan, out, e);
    int rc = empty_plan(p, out, e);
    if (rc || !a->optimum)
        return rc;
    rc = exact_strict(&p->step_tables, NULL, &o, &r, e);
    if (rc) {
        plan_release(out);
        return rc;
    }
    for (class_id k = 0; k < p->classes.count; k++) {
        out->on[k] = r.on[k];
        out->by[k] = r.on[k] ? PLAN_BY_OPTIMUM : PLAN_BY_PROPAGATION;
    }
    out->cost = step_tables_cost(&p->step_tables, out->on);
    exact_release(&r);
    return 0;
}

enum { RESHARDS_LISTED = 40 };

static int explain_relaxed(const struct explain_args *a, const struct plan *plan, struct str *out,
                           struct err *e)
{
    struct reshard_removal removal;
    uint32_t number = (uint32_t)(a->reshard - 1);

    if (a->what_count)
        return err_set(e, ERR_INPUT,
                       "of a relaxed plan reshards are explained: --reshard N, not %.100s",
                       a->what[0]);
    if (!a->reshard)
        return reshard_list(plan, RESHARDS_LISTED, out, e);
    int rc = reshard_remove(plan, number, &removal, e);
    if (!rc && a->json)
        rc = reshard_explain_json(plan, number, &removal, out, e);
    else if (!rc)
        reshard_explain(plan, number, &removal, out);
    reshard_removal_release(&removal);
    return rc;
}

static int explain_plan(const struct explain_args *a, const struct plan *plan, struct str *out,
                        struct err *e)
{
    dim_id d[2] = {0};
    int rc = 0;

    if (plan->relaxed)
        return explain_relaxed(a, plan, out, e);
    if (a->reshard)
        return err_set(e, ERR_INPUT, "a strict plan has no reshards");
    if (!a->what_count)
        return err_set(e, ERR_INPUT, "nothing to explain: expected NAME:DIM or NAME");

    if (a->what_count == 1 && !strchr(a->what[0], ':')) {
        hlo_id id = hlo_find(plan->problem->m, a->what[0]);
        if (id == HLO_NONE)
            return err_set(e, ERR_INPUT, "no instruction named \"%.100s\"", a->what[0]);
        return explain_instruction(plan, id, out, e);
    }
    for (uint32_t k = 0; k < a->what_count; k++) {
        rc = explain_find(plan->problem, a->what[k], &d[k], e);
        if (rc)
            return rc;
    }
    if (rc)
        return rc;
    return a->what_count == 2 ? explain_pair(plan, d[0], d[1], out, e)
                              : explain_dim(plan, d[0], out, e);
}

/* Of a pipeline plan: where an instruction runs. */
static int explain_pipeline(const struct pipeline *l, const struct pipeline_plan *p, void *context,
                            struct err *e)
{
    const struct explain_args *a = context;
    struct str out = {0};
    int rc = 0;

    if (a->reshard)
        return err_set(e, ERR_INPUT, "a pipeline plan has no reshards");
    if (!a->what_count)
        return err_set(e, ERR_INPUT, "nothing to explain: expected NAME of an instruction");
    for (uint32_t k = 0; k < a->what_count; k++) {
        hlo_id id = hlo_find(l->problem->m, a->what[k]);
        rc = id == HLO_NONE ? err_set(e, ERR_INPUT, "no instruction named \"%.100s\"", a->what[k])
                            : pipeline_explain(l, p, id, &out, e);
        if (rc)
            goto out;
    }
    if (out.text)
        fputs(out.text, stdout);
out:
    str_release(&out);
    return rc;
}

/* Of a hybrid plan: all of it, or a class in every stage. */
static int explain_hybrid(struct hybrid *h, void *context, struct err *e)
{
    const struct explain_args *a = context;
    const struct classes *c = &h->problem->classes;
    struct str out = {0};
    dim_id d;
    int rc = a->what_count ? 0 : hybrid_explain(h, &out, e);

    for (uint32_t k = 0; k < a->what_count && !rc; k++) {
        rc = explain_find(h->problem, a->what[k], &d, e);
        if (rc)
            goto out;
        if (c->class_of[d] == CLASS_NONE)
            str_format(&out, "%.200s: a dim of a value that is free, as it is everywhere.\n",
                       a->what[k]);
        else
            rc = hybrid_explain_class(h, c->class_of[d], a->what[k], &out, e);
    }
    if (!rc && out.text)
        fputs(out.text, stdout);
out:
    str_release(&out);
    return rc;
}

/* Of a placement: why a node is where it is, or without one what limits. */
static int explain_place(const struct place_input *in, const struct place_saved *s, void *context,
                         struct err *e)
{
    const struct explain_args *a = context;
    int rc = 0;

    if (a->reshard)
        return err_set(e, ERR_INPUT, "a placement has no reshards");
    if (!a->what_count)
        return place_print_limits(in->graph, &s->job, s->plan, s->load, e);
    for (uint32_t k = 0; k < a->what_count; k++) {
        uint32_t node;
        rc = place_find_node(in->graph, a->what[k], strlen(a->what[k]), &node, e);
        if (rc)
            return rc;
        if (k)
            printf("\n");
        rc = place_print_why(in->graph, &s->job.rules, s->plan, node, e);
        if (rc)
            return rc;
    }
    return rc;
}

/* What is not given is as the plan has it. An exit code. */
static int load_problem(struct explain_args *a, struct problem *p)
{
    struct err e;

    if (a->plan && problem_args_follow_plan(&a->problem, a->plan, &e)) {
        err_print(&e, stderr);
        return exit_code_of(&e);
    }
    return problem_args_load(&a->problem, p);
}

static int run_explain(int argc, char **argv)
{
    struct explain_args a = {0};
    struct problem *p = mem_alloc(sizeof *p);
    struct plan plan = {0};
    struct str out = {0};
    struct err e;
    int code = parse(argc, argv, &a);
    bool parsed = code == EXIT_OK;

    bool is_hybrid = parsed && a.plan && (a.as_hybrid || hybrid_file_is(a.plan));
    bool is_place = parsed && a.plan && !is_hybrid && place_file_is(a.plan);
    bool is_pipeline = is_hybrid || is_place || (parsed && a.plan && pipeline_file_is(a.plan));
    if (is_place)
        code = place_with_file(&a.problem, a.plan, explain_place, &a);
    else if (is_hybrid)
        code = hybrid_with_file(&a.problem, a.plan, explain_hybrid, &a);
    else if (is_pipeline)
        code = pipeline_with_file(&a.problem, a.plan, explain_pipeline, &a);
    else if (parsed)
        code = load_problem(&a, p);
    if (parsed && !is_pipeline && code == EXIT_OK) {
        int rc = make_plan(&a, p, &plan, &e);
        rc = rc ? rc : explain_plan(&a, &plan, &out, &e);
        if (rc) {
            err_print(&e, stderr);
            code = exit_code_of(&e);
        } else if (out.text) {
            fputs(out.text, stdout);
        }
        plan_release(&plan);
        problem_release(p);
    }
    str_release(&out);
    free(p);
    return code;
}

const struct command command_explain = {
    .name = "explain",
    .usage = "MODEL [CLUSTER] [WHAT [WHAT]]",
    .summary = "why a dim is split or not, where a collective comes from",
    .about =
        "WHAT is NAME:DIM (a variable, an input or an instruction with one of its dims), two "
        "of them to ask whether both can be split, or the NAME of an instruction for its cost "
        "and collective. Without a plan nothing is decided; --optimum asks about the proven "
        "best plan. Of a pipeline plan WHAT is an instruction: the stage it runs on. Of a hybrid "
        "plan it is NAME:DIM: how each stage splits its class, and what the step would be "
        "otherwise; without WHAT all of the plan. Of a "
        "placement it is a node, by id or name: the price of every other device and what holds "
        "it there; without WHAT what limits, and the heaviest transfers.\n\n"
        "Of a relaxed plan its reshards: without --reshard the longest, with their numbers.",
    .options = options,
    .notes = "Mesh, options and, for N default devices, the cluster are taken from the plan when "
             "not given.",
    .run = run_explain,
};
