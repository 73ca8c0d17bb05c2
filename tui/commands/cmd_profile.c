/* automap profile: measured times of a module from a profiler's trace, for --profile. */
#include "engine/cost/measured.h"
#include "engine/cost/trace.h"
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/commands/commands.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct request {
    const char *trace, *model, *compiled, *out;
    uint32_t steps;
    bool force;
};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"TRACE", .values = VALUES_FILE, ARG(trace)},
    {"MODEL", .values = VALUES_MODEL, ARG(model)},
    {"compiled", "FILE",
     "the compiled module that ran, compile().as_text(): operations of the trace are its "
     "instructions, found in MODEL by op_name; without it MODEL is what ran",
     .kind = OPTION_FILE, ARG(compiled)},
    {"steps", "N", "steps that a table of times covers (default 1)", .kind = OPTION_WHOLE,
     ARG(steps), .least = 1, .most = 1000000},
    {"o", "FILE",
     "write the profile to FILE instead of standard output; an earlier one of MODEL is replaced",
     .kind = OPTION_FILE, ARG(out)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static void write_profile(const struct hlo_module *m, const double *ms, struct str *out)
{
    bool any = false;

    str_add(out, "{");
    for (hlo_id id = 0; id < m->count; id++) {
        if (ms[id] < 0)
            continue;
        str_format(out, "%s\n  \"%s\": %.9g", any ? "," : "", hlo_name(m, id), ms[id]);
        any = true;
    }
    str_add(out, "\n}\n");
}

static int load_all(const struct request *r, struct trace *t, struct hlo_module **m,
                    struct hlo_module **compiled, struct err *e)
{
    struct hlo_load_options largest = {.module = -1};
    int rc = trace_read(r->trace, r->steps ? r->steps : 1, t, e);

    rc = rc ? rc : hlo_load(r->model, &largest, m, e);
    if (!rc && r->compiled)
        rc = hlo_load(r->compiled, &largest, compiled, e);
    return rc;
}

/* An earlier profile of the model is replaced like a file that names automap: it has no place for
 * the name. It is one when what it holds, written again, is the same file byte for byte; any other
 * form of times is a person's. */
static bool is_profile_of(const struct hlo_module *m, const char *path)
{
    struct str text = {0}, again = {0};
    struct stat st;
    double *ms = NULL;
    struct err e;
    bool is = false;

    if (!path || stat(path, &st) || !S_ISREG(st.st_mode) ||
        hlo_file_read(path, MEASURED_FILE_MOST, &text, &e) || !text.size ||
        measured_read(m, text.text, text.size, &ms, &e))
        goto out;
    write_profile(m, ms, &again);
    is = !again.failed && again.size == text.size && !memcmp(again.text, text.text, text.size);
out:
    free(ms);
    str_release(&text);
    str_release(&again);
    return is;
}

static int make_profile(const struct request *r, const struct trace *t, const struct hlo_module *m,
                        const struct hlo_module *compiled, struct str *out, struct err *e)
{
    struct trace_match match = {0};
    int rc = trace_match(t, m, compiled, &match, e);

    if (rc)
        goto out;
    double part = match.total_ms > 0 ? 100 * match.matched_ms / match.total_ms : 0;
    fprintf(stderr,
            "%u events of %u runs; %.3f ms of %.3f ms a run (%.1f %%) found in %u of %u "
            "instructions\n",
            t->events, t->runs, match.matched_ms, match.total_ms, part, match.matched, m->count);
    write_profile(m, match.ms, out);
    if (!match.matched)
        rc = err_set(e, ERR_INPUT, "no operation of the trace is in %.200s%s", r->model,
                     r->compiled ? "" : "; --compiled FILE says what ran");
    else if (out->failed)
        rc = err_no_memory(e, "for the profile");
out:
    trace_match_release(&match);
    return rc;
}

static int run_profile(int argc, char **argv)
{
    const struct option_parser parser = {"profile", options, NULL};
    struct request r = {0};
    struct trace t = {0};
    struct hlo_module *m = NULL, *compiled = NULL;
    struct str out = {0};
    struct err e = {0};
    int code = options_parse(&parser, &r, argc, argv);

    if (code)
        return code;
    if (!r.trace || !r.model)
        return options_complain("profile", "a trace and a model are needed");
    int rc = load_all(&r, &t, &m, &compiled, &e);
    if (rc)
        goto out;
    code = overwrite_check(r.out, r.force || is_profile_of(m, r.out));
    if (code)
        goto out;
    rc = make_profile(&r, &t, m, compiled, &out, &e);
    if (rc)
        goto out;
    if (r.out)
        rc = hlo_file_write(r.out, out.text, out.size, FILE_REPLACE, &e);
    else if (fwrite(out.text, 1, out.size, stdout) != out.size)
        rc = err_set(&e, ERR_IO, "cannot write to standard output");
out:
    trace_release(&t);
    hlo_free(m);
    hlo_free(compiled);
    str_release(&out);
    if (rc)
        err_print(&e, stderr);
    return rc ? exit_code_of(&e) : code;
}

const struct command command_profile = {
    .name = "profile",
    .usage = "TRACE MODEL",
    .summary = "extract measured times of a module from a profiler's trace",
    .about =
        "Turns a trace of the JAX profiler (NAME.trace.json.gz), or a table of times (CSV: an "
        "xplane's HLO operations, nsys' kernels), into measured times of a model's "
        "instructions, one execution each, as --profile of other commands reads them; says how "
        "much of the trace was found. Of several runs of a trace the median counts; a table's "
        "totals are divided by --steps.",
    .options = options,
    .run = run_profile,
};
