/* automap export: a plan in one of the forms of export_form.h. What is written was read back
 * and found to be the same plan. */
#include "tui/commands/commands.h"

#include "engine/pipeline/export.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/plan/plan_file.h"
#include "hlo/support/file.h"
#include "tui/commands/pipeline_print.h"
#include "tui/options/args.h"
#include "tui/options/exit_code.h"
#include "tui/options/problem_args.h"
#include "tui/watch/export_form.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct export_args {
    struct problem_args problem;
    const char *plan, *format, *out;
    bool v1, sharding, force; /* sharding: --sharding was given */
};

struct export_text {
    struct str text, warnings;
};

static const char help[] =
    "usage: automap export MODEL [CLUSTER] --plan FILE [OPTION ...]\n\n"
    "Writes a plan in a form that training code or a compiler takes. What is written was read "
    "back\n"
    "and found to be the same plan.\n\n"
    "  --plan FILE                the plan, as automap plan -o writes it\n"
    "  --format hlo|jax|json|report|dot|command|cluster\n"
    "                             hlo: the module with a sharding at every instruction (default);\n"
    "                             jax: mesh and PartitionSpecs for training code; json: the plan;\n"
    "                             report: Markdown with plots; dot: the graph for Graphviz;\n"
    "                             command: the command line that makes the plan again;\n"
    "                             cluster: the cluster in YAML; a relaxed plan has neither jax\n"
    "                             nor command, which cannot say where it reshards\n"
    "  --format trace|jax|json    of a pipeline plan: trace: its schedule for chrome://tracing or\n"
    "                             Perfetto (default); jax: stages with devices and parameters\n"
    "  --sharding v2|v1           how hlo spells device lists: <=[8] (default) or 0,1,2,3,4,5,6,7\n"
    "  -o FILE                    write to FILE; default standard output\n"
    "  --force                    overwrite FILE without asking\n" PROBLEM_ARGS_HELP
    "\nMesh, options and, for N default devices, the cluster are taken from the plan when not "
    "given.\n";

static int usage(const char *what)
{
    args_complain("export", "%s", what);
    return -1;
}

/* The value of option `name` at argv[*at], or NULL. */
static const char *value_of(const char *name, int argc, char **argv, int *at)
{
    if (strcmp(argv[*at], name) || *at + 1 >= argc)
        return NULL;
    return argv[++*at];
}

/* 0 go on, 1 help was printed, -1 wrong. */
static int parse(int argc, char **argv, struct export_args *a)
{
    const char *value;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            return 1;
        }
        if ((value = value_of("--plan", argc, argv, &i))) {
            a->plan = value;
        } else if ((value = value_of("--format", argc, argv, &i))) {
            a->format = value;
        } else if ((value = value_of("-o", argc, argv, &i))) {
            a->out = value;
        } else if ((value = value_of("--sharding", argc, argv, &i))) {
            a->sharding = true;
            a->v1 = !strcmp(value, "v1");
            if (!a->v1 && strcmp(value, "v2"))
                return usage("--sharding is v2 or v1");
        } else if (!strcmp(argv[i], "--force")) {
            a->force = true;
        } else {
            int taken = problem_args_take(&a->problem, argc, argv, &i);
            if (taken < 0)
                return -1;
            if (!taken) {
                args_complain("export", "unknown option %s", argv[i]);
                return -1;
            }
        }
    }
    if (!a->problem.model)
        return usage("no model given");
    if (a->sharding && a->format && strcmp(a->format, "hlo"))
        return usage("--sharding is of --format hlo");
    return a->plan ? 0 : usage("no --plan given");
}

/* "hlo" and --sharding v1 together name a form of their own. */
static const struct export_form *find_form(const struct export_args *a)
{
    const char *name = a->format ? a->format : "hlo";

    return export_form_by_name(a->v1 && !strcmp(name, "hlo") ? "hlo-v1" : name);
}

/* A person at a terminal is asked before a file is replaced. */
static bool may_write(const struct export_args *a)
{
    struct stat st;
    char answer[8] = "";

    if (!a->out || a->force || stat(a->out, &st) || !S_ISREG(st.st_mode) || !isatty(0) ||
        !isatty(2))
        return true;
    fprintf(stderr, "%s is there already. Overwrite it? [y/N] ", a->out);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
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

static int export_pipeline(const struct pipeline *l, const struct pipeline_plan *p, void *context,
                           struct err *e)
{
    const struct export_args *a = context;
    struct export_text text = {0};
    int rc = pipeline_form_by_name(a->format)->write(l, p, &text.text, e);

    if (!rc && !may_write(a)) {
        rc = err_set(e, ERR_IO, "not overwritten");
        err_in_file(e, a->out);
    }
    if (!rc)
        rc = deliver(a, &text, e);
    str_release(&text.text);
    return rc;
}

static int run_pipeline(struct export_args *a)
{
    if (a->sharding)
        return usage("--sharding is of --format hlo, which a pipeline plan has not") ? EXIT_USAGE
                                                                                     : EXIT_OK;
    if (!pipeline_form_by_name(a->format))
        return usage("--format of a pipeline plan is trace, jax or json") ? EXIT_USAGE : EXIT_OK;
    return pipeline_with_file(&a->problem, a->plan, export_pipeline, a);
}

/* What the command line leaves open the plan says; where they differ, the plan is refused when it
 * is read. */
static int complete_args(struct export_args *a, struct err *e)
{
    struct plan_setup setup;
    struct problem_args *q = &a->problem;
    int rc = plan_file_setup(a->plan, &setup, e);

    if (rc)
        return rc;
    if (!q->options.mesh[0])
        snprintf(q->options.mesh, sizeof q->options.mesh, "%s", setup.options.mesh);
    q->options.classes.paper_rules |= setup.options.classes.paper_rules;
    for (int k = 0; k < HLO_COMBINE_COUNT; k++)
        q->options.classes.reduce_off[k] |= setup.options.classes.reduce_off[k];
    q->options.exact_divisibility |= setup.options.exact_divisibility;
    if (!q->options.micro_batches)
        q->options.micro_batches = setup.options.micro_batches;
    if (!q->options.zero)
        q->options.zero = setup.options.zero;
    if (q->options.overlap <= 0)
        q->options.overlap = setup.options.overlap;
    if (!q->cluster && !q->devices)
        q->devices = setup.devices;
    return 0;
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

static int run(struct export_args *a, const struct export_form *form, struct problem *p)
{
    struct export_text text = {0};
    struct plan plan = {0};
    struct err e;
    int rc = complete_args(a, &e);

    if (!rc) {
        int code = problem_args_load(&a->problem, p);
        if (code != EXIT_OK)
            return code;
        rc = plan_file_load(p, a->plan, &plan, &e);
        if (!rc)
            rc = write_text(a, form, &plan, &text, &e);
        if (!rc && !may_write(a)) {
            rc = err_set(&e, ERR_IO, "not overwritten");
            err_in_file(&e, a->out);
        }
        if (!rc)
            rc = deliver(a, &text, &e);
        plan_release(&plan);
        problem_release(p);
    }
    str_release(&text.text);
    str_release(&text.warnings);
    if (rc)
        err_print(&e, stderr);
    return rc ? exit_code_of(&e) : EXIT_OK;
}

int cmd_export(int argc, char **argv)
{
    struct export_args *a = mem_alloc(sizeof *a);
    struct problem *p = mem_alloc(sizeof *p);
    int parsed = parse(argc, argv, a);
    int code = parsed < 0 ? EXIT_USAGE : EXIT_OK;

    if (!parsed && pipeline_file_is(a->plan)) {
        code = run_pipeline(a);
    } else if (!parsed) {
        const struct export_form *form = find_form(a);
        if (form)
            code = run(a, form, p);
        else
            code = usage("--format is hlo, jax, json, report, dot, command or cluster") ? EXIT_USAGE
                                                                                        : EXIT_OK;
    }
    free(p);
    free(a);
    return code;
}
