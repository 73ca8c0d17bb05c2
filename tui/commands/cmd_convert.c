/* automap convert: reads any form, writes the one the name of the output asks for. */
#include "hlo/load.h"
#include "hlo/text/write_text.h"
#include "tui/commands/commands.h"

#include "hlo/module/hlo.h"
#include "tui/options/args.h"
#include "tui/options/exit_code.h"

#include <stdio.h>
#include <string.h>

struct request {
    const char *in, *out;
    struct hlo_load_options load;
    struct hlo_write_options write;
};

static const char help[] =
    "usage: automap convert IN OUT [--no-metadata] [--module N] [--max-bytes N]\n"
    "\n"
    "Reads HLO as text, JSON or proto, plain or gzipped (IN may be - for standard input),\n"
    "and writes it as the ending of OUT says: .txt or .hlo (text), .json, .pb (HloProto),\n"
    "each also with .gz. OUT may be - for text on standard output.\n"
    "\n"
    "  --no-metadata   text without op names, source lines and stack frames\n"
    "  --module N      of a file with several modules, counted from 0 (default: the largest)\n"
    "  --max-bytes N   most bytes of input after unpacking (default: 1073741824)\n";

static int usage_error(const char *what, const char *word)
{
    args_complain("convert", "%s%s", what, word);
    return EXIT_USAGE;
}

static int parse_number(int argc, char **argv, int *at, int64_t most, int64_t *out)
{
    const char *name = argv[*at];

    if (*at + 1 >= argc)
        return usage_error(name, " needs a number");
    const char *value = argv[++*at];
    if (!hlo_parse_int(value, strlen(value), out) || *out < 0 || *out > most)
        return usage_error(name, " needs a number in range");
    return 0;
}

static int parse_option(int argc, char **argv, int *at, struct request *r)
{
    int64_t number = 0;
    int rc = 0;

    if (!strcmp(argv[*at], "--no-metadata")) {
        r->write.no_metadata = true;
    } else if (!strcmp(argv[*at], "--module")) {
        rc = parse_number(argc, argv, at, INT32_MAX, &number);
        r->load.module = (int32_t)number;
    } else if (!strcmp(argv[*at], "--max-bytes")) {
        rc = parse_number(argc, argv, at, HLO_BYTES_MAX, &r->load.max_bytes);
    } else {
        rc = usage_error("no option ", argv[*at]);
    }
    return rc;
}

static int parse_arguments(int argc, char **argv, struct request *r)
{
    for (int n = 1; n < argc; n++) {
        int rc = 0;
        if (argv[n][0] == '-' && argv[n][1])
            rc = parse_option(argc, argv, &n, r);
        else if (!r->in)
            r->in = argv[n];
        else if (!r->out)
            r->out = argv[n];
        else
            rc = usage_error("one name too many: ", argv[n]);
        if (rc)
            return rc;
    }
    return r->out ? 0 : usage_error("two names are needed, IN and OUT", "");
}

static int print_text(const struct hlo_module *m, const struct hlo_write_options *o, struct err *e)
{
    struct str text = {0};
    int rc = hlo_write_text(m, o, &text, e);

    if (!rc && fwrite(text.text, 1, text.size, stdout) != text.size)
        rc = err_set(e, ERR_IO, "cannot write to standard output");
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

int cmd_convert(int argc, char **argv)
{
    struct request r = {.load = {0, -1}};
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(help, stdout);
        return EXIT_OK;
    }
    int rc = parse_arguments(argc, argv, &r);
    if (rc)
        return rc;
    rc = hlo_load(r.in, &r.load, &m, &e);
    if (!rc) {
        print_warnings(m);
        rc = strcmp(r.out, "-") ? hlo_save(m, r.out, &r.write, &e) : print_text(m, &r.write, &e);
    }
    hlo_free(m);
    if (rc)
        err_print(&e, stderr);
    return rc ? EXIT_INPUT : EXIT_OK;
}
