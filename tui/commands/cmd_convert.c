/* automap convert: reads any form, writes the one the name of the output asks for. */
#include "hlo/load.h"
#include "hlo/module/read.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"
#include "tui/commands/commands.h"

#include "hlo/module/hlo.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"
#include "tui/options/problem_args.h"

#include <stdio.h>
#include <string.h>

struct request {
    const char *in, *out;
    struct hlo_load_options load;
    struct hlo_write_options write;
    bool force;
};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"IN", .values = VALUES_FILE, ARG(in)},
    {"OUT", .values = VALUES_FILE, ARG(out)},
    {"no-metadata", NULL, "text without op names, source lines and stack frames",
     ARG(write.no_metadata)},
    {"module", "N", "of a file with several modules, counted from 0 (default: the largest)",
     .kind = OPTION_WHOLE, ARG(load.module), .most = INT32_MAX},
    {"max-bytes", "N", "most bytes of input after unpacking (default: 1073741824)",
     .kind = OPTION_WHOLE, ARG(load.max_bytes), .most = HLO_BYTES_MAX},
    {"force", NULL, "replace OUT even if automap did not write it", ARG(force)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static int print_text(const struct hlo_module *m, const struct hlo_write_options *o, struct err *e)
{
    struct str text = {0};
    int rc = hlo_write_text(m, o, &text, e);

    if (rc)
        goto out;
    if (fwrite(text.text, 1, text.size, stdout) != text.size)
        rc = err_set(e, ERR_IO, "cannot write to standard output");
out:
    str_release(&text);
    return rc;
}

static void print_warnings(const struct hlo_module *m)
{
    for (uint32_t n = 0; n < m->warning_count; n++) {
        const struct hlo_warning *w = &m->warnings[n];
        fprintf(stderr, "%s:%u:%u: %s", strcmp(m->file, "-") ? m->file : "standard input", w->line,
                w->col, w->what);
        if (w->count > 1)
            fprintf(stderr, " (%u times)", w->count);
        fputc('\n', stderr);
    }
}

/* What the written HLO holds that only StableHLO has. */
static void print_functions(const struct hlo_module *m, const char *out)
{
    hlo_id first;
    uint32_t count = strstr(out, ".mlir") ? 0 : hlo_whole_functions(m, &first);

    if (count)
        fprintf(stderr,
                "warning: functions of StableHLO that XLA does not know in HLO: %u, the first is "
                "%s\n",
                count, hlo_name(m, first));
}

static int run_convert(int argc, char **argv)
{
    const struct option_parser parser = {"convert", options, NULL};
    struct request r = {.load = {.module = -1}};
    char path[PATH_MAX];
    struct hlo_module *m = NULL;
    struct err e = {0};
    int rc = options_parse(&parser, &r, argc, argv);

    if (rc)
        return rc;
    if (!r.out)
        return options_complain("convert", "two names are needed, IN and OUT");
    if (overwrite_check(r.out, r.force))
        return EXIT_INPUT;
    rc = hlo_load(problem_args_model_path(r.in, path), &r.load, &m, &e);
    if (rc)
        goto out;
    print_warnings(m);
    print_functions(m, r.out);
    rc = strcmp(r.out, "-") ? hlo_save(m, r.out, &r.write, &e) : print_text(m, &r.write, &e);
out:
    hlo_free(m);
    if (rc)
        err_print(&e, stderr);
    return rc ? EXIT_INPUT : EXIT_OK;
}

const struct command command_convert = {
    .name = "convert",
    .usage = "IN OUT",
    .summary = "read HLO in any form, write it in another",
    .about =
        "Reads HLO as text, JSON or proto, or StableHLO as text, plain or gzipped (IN may be - "
        "for standard input), and writes it as the ending of OUT says: .txt or .hlo (text), "
        ".json, .pb (HloProto), .mlir (StableHLO), "
        "each also with .gz. OUT may be - for text on standard output.",
    .options = options,
    .run = run_convert,
};
