/* automap export: a plan in one of the forms of export_form.h. What is written was read back
 * and found to be the same plan. */
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_export.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/export_report.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/commands.h"
#include "tui/commands/hybrid_print.h"

#include "engine/pipeline/export.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/place/place_file.h"
#include "engine/place/place_pipeline.h"
#include "engine/place/split.h"
#include "engine/plan/plan_file.h"
#include "hlo/support/file.h"
#include "tui/commands/pipeline_print.h"
#include "tui/commands/place_input.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"
#include "tui/options/problem_args.h"
#include "tui/watch/export_form.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct export_args {
    struct problem_args problem;
    const char *plan, *format, *out;
    bool force;
    uint32_t version; /* of --sharding, 2 or 1; 0: not given */
};

struct export_text {
    struct str text, warnings;
};

static const char *format_at(size_t i)
{
    static const char *const others[] = {"trace", "stages", "megatron", "torchtitan", "deepspeed"};
    size_t n = 0;

    while (export_forms[n].name && n < i)
        n++;
    if (export_forms[n].name)
        return export_forms[n].name;
    return i - n < sizeof others / sizeof *others ? others[i - n] : NULL;
}

static int take_sharding(void *args, const struct option *o, const char *value, struct err *e)
{
    struct export_args *a = args;

    a->version = !strcmp(value, "v1") ? 1 : !strcmp(value, "v2") ? 2 : 0;
    return a->version ? 0 : option_expected(o, value, e);
}

static const char *const shardings[] = {"v2", "v1"};

#define ARG(field) INTO(struct export_args, field)
static const struct option rows[] = {
    {"plan", "FILE", "the plan, as automap plan -o writes it", .kind = OPTION_FILE, ARG(plan)},
    {"format", "NAME",
     "hlo: the module with a sharding at every instruction (default); stablehlo: the same with "
     "Shardy's annotations; jax: Python that applies the plan to unchanged training code, and, of "
     "a "
     "strict plan, PartitionSpecs for it; json: the plan; report: Markdown with plots; html: the "
     "same as one page for a browser; dot: the "
     "graph for Graphviz; command: the command line that makes the plan again, which a relaxed one "
     "has not; flags: settings of Megatron-LM, torchtitan, DeepSpeed, MaxText and Levanter, with "
     "what "
     "they cannot say; dtensor: placements of each parameter as JSON; plan --pins-from reads both; "
     "cluster: the cluster in YAML. Of a pipeline plan: "
     "trace: its schedule for chrome://tracing or Perfetto (default); jax: stages with devices and "
     "parameters; json. Of a hybrid plan: json (default), trace; stages: "
     "a module of HLO per stage and pass with shardings over the stage's devices, as JSON; jax: "
     "the "
     "same as a program with a mesh per stage and a loop over the schedule; of a uniform plan the "
     "settings of megatron, torchtitan, deepspeed, or flags: of all three. Of a placement: json "
     "(default), split, and of a "
     "contiguous one of a training step pipeline, trace, jax",
     ARG(format), .value_at = format_at},
    {"sharding", "v2|v1", "how hlo spells device lists: <=[8] (default) or 0,1,2,3,4,5,6,7",
     .take = take_sharding, NAMES(shardings), .expected = "v2 or v1"},
    {"o", "FILE", "write to FILE; default standard output", .kind = OPTION_FILE, ARG(out)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {0},
};
#undef ARG
static const struct option_set options[] = {
    {.rows = rows}, {.rows = problem_options, .at = offsetof(struct export_args, problem)}, {0}};

static int parse(int argc, char **argv, struct export_args *a)
{
    const struct option_parser parser = {"export", options, NULL};
    int code = options_parse(&parser, a, argc, argv);

    if (code)
        return code;
    const char *wrong = !a->problem.model ? "no model given"
                        : a->version && a->format && strcmp(a->format, "hlo") != 0
                            ? "--sharding is of --format hlo"
                        : !a->plan ? "no --plan given"
                                   : NULL;
    return wrong ? options_complain("export", "%s", wrong) : EXIT_OK;
}

/* "hlo" and --sharding v1 together name a form of their own. */
static const struct export_form *find_form(const struct export_args *a)
{
    const char *name = a->format ? a->format : "hlo";

    return export_form_by_name(a->version == 1 && !strcmp(name, "hlo") ? "hlo-v1" : name);
}

static void print_warnings(const char *lines)
{
    while (lines && *lines) {
        size_t n = strcspn(lines, "\n");
        fprintf(stderr, "automap export: warning: %.*s\n", (int)n, lines);
        lines += n + (lines[n] == '\n');
    }
}

static int deliver(const struct export_args *a, const struct export_text *text, struct err *e)
{
    print_warnings(text->warnings.text);
    if (a->out && strcmp(a->out, "-"))
        return hlo_file_write(a->out, text->text.text, text->text.size, FILE_REPLACE, e)
                   ? err_in_file(e, a->out)
                   : 0;
    if (fwrite(text->text.text, 1, text->text.size, stdout) == text->text.size && !fflush(stdout))
        return 0;
    return err_set(e, ERR_IO, "standard output cannot be written");
}

static int write_pipeline(const struct pipeline *l, const struct pipeline_plan *p, void *context,
                          struct err *e)
{
    const struct export_args *a = context;
    struct export_text text = {0};
    int rc = pipeline_form_by_name(a->format)->write(l, p, &text.text, e);

    if (rc)
        goto out;
    rc = deliver(a, &text, e);
out:
    str_release(&text.text);
    return rc;
}

static int export_pipeline(struct export_args *a)
{
    if (a->version)
        return options_complain("export",
                                "--sharding is of --format hlo, which a pipeline plan has not");
    if (!pipeline_form_by_name(a->format))
        return options_complain("export", "--format of a pipeline plan is trace, jax or json");
    return pipeline_with_file(&a->problem, a->plan, write_pipeline, a);
}

static int write_hybrid(struct hybrid *h, void *context, struct err *e)
{
    const struct export_args *a = context;
    struct export_text text = {0};
    int rc = hybrid_write(hybrid_form_by_name(a->format), h, &text.text, e);

    rc = rc ? rc : deliver(a, &text, e);
    str_release(&text.text);
    str_release(&text.warnings);
    return rc;
}

static int export_hybrid(struct export_args *a)
{
    if (a->version)
        return options_complain("export",
                                "--sharding is of --format hlo, which a hybrid plan has not");
    if (!hybrid_form_by_name(a->format))
        return options_complain("export", "--format of a hybrid plan is json, trace, stages, jax, "
                                          "megatron, torchtitan, deepspeed or flags");
    return hybrid_with_file(&a->problem, a->plan, write_hybrid, a);
}

/* ---- placements ---- */

static int write_place_json(const struct place_input *in, const struct place_saved *s,
                            struct str *out, struct err *e)
{
    struct place_document d = place_document_of(in, s);
    cJSON *o = place_json(&d, false);
    char *text = cJSON_Print(o);

    if (text)
        str_add(out, text);
    str_add_char(out, '\n');
    cJSON_free(text);
    cJSON_Delete(o);
    return text ? 0 : err_no_memory(e, "for the text of a plan");
}

static int write_place_split(const struct place_input *in, const struct place_saved *s,
                             struct str *out, struct err *e)
{
    place_split_write(s->plan, in->graph, &s->job.rules, s->load, s->job.latency, out);
    return out->failed ? err_no_memory(e, "for the text of a plan") : 0;
}

/* As the pipeline it is, in a form of those. */
static int write_place_pipeline(const struct place_input *in, const struct place_saved *s,
                                const char *format, struct str *out, struct err *e)
{
    struct pipeline_options o = {0};
    struct place_pipeline l;

    if (!in->problem)
        return err_set(e, ERR_INPUT, "only a plan of a model is a pipeline");
    o.overlap = problem_overlap(in->problem);
    int rc = place_pipeline_new(in->problem, in->graph, s->plan, &o, &l, e);
    if (rc)
        return rc;
    rc = pipeline_form_by_name(format)->write(&l.pipeline, &l.plan, out, e);
    pipeline_release(&l.pipeline);
    return rc;
}

static int write_place(const struct place_input *in, const struct place_saved *s, void *context,
                       struct err *e)
{
    const struct export_args *a = context;
    struct export_text text = {0};
    const char *format = a->format ? a->format : "json";
    int rc = !strcmp(format, "json")       ? write_place_json(in, s, &text.text, e)
             : !strcmp(format, "split")    ? write_place_split(in, s, &text.text, e)
             : !strcmp(format, "pipeline") ? write_place_pipeline(in, s, "json", &text.text, e)
                                           : write_place_pipeline(in, s, format, &text.text, e);

    if (rc)
        goto out;
    rc = deliver(a, &text, e);
out:
    str_release(&text.text);
    return rc;
}

static int export_place(struct export_args *a)
{
    static const char *const forms[] = {"json", "split", "pipeline", "trace", "jax"};
    size_t k = 0;

    while (a->format && k < sizeof forms / sizeof *forms && strcmp(forms[k], a->format))
        k++;
    if (a->version || k == sizeof forms / sizeof *forms)
        return options_complain("export", "--format of a placement is json, split, pipeline, "
                                          "trace or jax");
    return place_with_file(&a->problem, a->plan, write_place, a);
}

static int write_text(const struct export_args *a, const struct export_form *form,
                      const struct plan *plan, struct export_text *text, struct err *e)
{
    struct str command = {0};

    problem_args_write(&a->problem, &command);
    struct report_about about = {.model = a->problem.model, .command = command.text};
    int rc = export_form_write(form, plan, &about, &text->text, &text->warnings, e);
    str_release(&command);
    return rc;
}

static int export_plan(struct export_args *a, const struct export_form *form, struct problem *p)
{
    struct export_text text = {0};
    struct plan plan = {0};
    struct err e;
    int rc = problem_args_follow_plan(&a->problem, a->plan, &e);

    if (!rc) {
        int code = problem_args_load(&a->problem, p);
        if (code != EXIT_OK)
            return code;
        rc = plan_file_load(p, a->plan, &plan, &e);
        rc = rc ? rc : write_text(a, form, &plan, &text, &e);
        rc = rc ? rc : deliver(a, &text, &e);
        plan_release(&plan);
        problem_release(p);
    }
    str_release(&text.text);
    str_release(&text.warnings);
    if (rc)
        err_print(&e, stderr);
    return rc ? exit_code_of(&e) : EXIT_OK;
}

static int run_export(int argc, char **argv)
{
    struct export_args *a = mem_alloc(sizeof *a);
    struct problem *p = mem_alloc(sizeof *p);
    int code = parse(argc, argv, a);

    if (code == EXIT_OK)
        code = overwrite_check(a->out, a->force);
    if (code == EXIT_OK && place_file_is(a->plan)) {
        code = export_place(a);
    } else if (code == EXIT_OK && hybrid_file_is(a->plan)) {
        code = export_hybrid(a);
    } else if (code == EXIT_OK && pipeline_file_is(a->plan)) {
        code = export_pipeline(a);
    } else if (code == EXIT_OK) {
        const struct export_form *form = find_form(a);
        code = form ? export_plan(a, form, p)
                    : options_complain("export",
                                       "--format is hlo, stablehlo, jax, json, report, html, "
                                       "dot, command, flags, dtensor or cluster");
    }
    free(p);
    free(a);
    return code;
}

const struct command command_export = {
    .name = "export",
    .usage = "MODEL [CLUSTER] --plan FILE",
    .summary = "write a plan as annotated HLO, for JAX, or as JSON",
    .about = "Writes a plan in a form that training code or a compiler accepts. Everything written "
             "is first read back and compared with the plan.",
    .options = options,
    .notes = "Mesh, options and, for N default devices, the cluster are taken from the plan when "
             "not given.",
    .run = run_export,
};
