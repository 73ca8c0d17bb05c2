/* automap bench read: how fast HLO text becomes a module, held against XLA's own parser, if there
 * is a Python that has jaxlib; how large a module is in memory; the whole of `automap inspect`,
 * started as a command, beside it. gzip and the disk are left out: ours reads a file that the
 * system holds in memory, XLA's a string.
 * Each time twice: by the clock, for ours is of two threads where the text is long, and of all
 * threads on processors, for others may be at work. */
#include "hlo/load.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"
#include "tui/commands/bench.h"
#include "tui/commands/commands.h"
#include "tui/options/option.h"

#include "hlo/module/hlo.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES_PER_INSTRUCTION = 400, SYNTHETIC_BYTES = 30 * 1000 * 1000 };
static const double target_mb_s = 300;

struct options {
    const char *file, *python; /* python NULL: no XLA */
    double seconds;
    bool no_xla;
};

struct times {
    double wall, processor; /* seconds of the quickest; negative: none */
};

static const struct times no_times = {-1, -1};

static void keep_best(struct times *best, double wall, double processor)
{
    if (best->wall < 0 || wall < best->wall)
        best->wall = wall;
    if (best->processor < 0 || processor < best->processor)
        best->processor = processor;
}

/* Text on standard input; prints the seconds of the best of some parses. */
static const char xla_script[] =
    "import sys, time\n"
    "try:\n"
    "    import jaxlib\n"
    "    from jaxlib import _jax\n"
    "except ImportError:\n"
    "    sys.exit(7)\n"
    "hlo = getattr(jaxlib, '_hlo', None)\n"
    "parse = getattr(_jax, 'hlo_module_from_text', None) or hlo.hlo_module_from_text\n"
    "text, wall, own, end = sys.stdin.read(), 1e9, 1e9, time.time() + float(sys.argv[1])\n"
    "while own == 1e9 or time.time() < end:\n"
    "    clock, start = time.perf_counter(), time.process_time()\n"
    "    parse(text)\n"
    "    own = min(own, time.process_time() - start)\n"
    "    wall = min(wall, time.perf_counter() - clock)\n"
    "print(wall, own)\n";

/* ---- the text as a file ---- */

struct copy {
    char path[32]; /* "": none */
};

static bool copy_make(struct copy *c, const struct str *text)
{
    snprintf(c->path, sizeof c->path, "/tmp/automap_bench_XXXXXX");
    int file = mkstemp(c->path);
    bool is_written = file >= 0 && write(file, text->text, text->size) == (ssize_t)text->size;

    if (file >= 0)
        close(file);
    return is_written;
}

/* ---- ours ---- */

/* The best of the loads that fit into `seconds`, of a file that the system holds in memory; *m is
 * the last one's. Negative: it does not load. */
static struct times time_load(const char *file, double seconds, struct hlo_module **m,
                              struct err *e)
{
    struct times best = no_times;
    double end = bench_now() + seconds;

    *m = NULL;
    do {
        hlo_free(*m);
        double wall = bench_now(), own = clock_process_seconds();
        if (hlo_load(file, NULL, m, e))
            return no_times;
        keep_best(&best, bench_now() - wall, clock_process_seconds() - own);
    } while (bench_now() < end);
    return best;
}

/* One long computation in the manner of a real step: dots, adds, reshapes. */
static bool make_synthetic(struct str *out)
{
    str_add(out, "HloModule synthetic\n\nENTRY main {\n"
                 "  parameter.0 = f32[512,512]{1,0} parameter(0)\n"
                 "  value.0 = f32[512,512]{1,0} negate(parameter.0)\n");
    for (int n = 1; out->size < SYNTHETIC_BYTES && !out->failed; n++)
        str_format(out,
                   "  dot_general.%d = f32[512,512]{1,0} dot(value.%d, parameter.0), "
                   "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                   "  reshape.%d = f32[2,256,512]{2,1,0} reshape(dot_general.%d)\n"
                   "  back.%d = f32[512,512]{1,0} reshape(reshape.%d)\n"
                   "  value.%d = f32[512,512]{1,0} add(back.%d, value.%d)\n",
                   n, n - 1, n, n, n, n, n, n, n - 1);
    str_add(out, "}\n");
    return !out->failed;
}

/* ---- XLA's ---- */

static FILE *start_python(const struct options *o, const char *input, pid_t *child)
{
    char seconds[32];

    snprintf(seconds, sizeof seconds, "%g", o->seconds);
    const char *const argv[] = {o->python, "-c", xla_script, seconds, NULL};
    return bench_start(argv, input, child);
}

/* Those of XLA's parser, or negative when there is none. */
static struct times time_xla(const struct options *o, const char *file)
{
    char line[64] = "";
    int status = 0;
    struct times t = no_times;
    pid_t child;

    FILE *in = start_python(o, file, &child);
    if (in) {
        if (!fgets(line, sizeof line, in) || sscanf(line, "%lf %lf", &t.wall, &t.processor) != 2)
            t = no_times;
        fclose(in);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    }
    return in && WIFEXITED(status) && !WEXITSTATUS(status) ? t : no_times;
}

/* ---- the whole command ---- */

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* `inspect --json FILE` in a process of its own, from its start to its end. */
static bool run_inspect(const char *file, struct times *t)
{
    const char *const argv[] = {"/proc/self/exe", "inspect", "--json", file, NULL};
    struct rusage usage;
    char part[4096];
    int status = 0;
    pid_t child;

    double start = bench_now();
    FILE *in = bench_start(argv, NULL, &child);
    if (!in)
        return false;
    while (fread(part, 1, sizeof part, in) > 0) {
        /* what it says is of no interest */
    }
    fclose(in);
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    double wall = bench_now() - start;
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return false;
    keep_best(t, wall, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
    return true;
}

static struct times time_inspect(const char *file, double seconds)
{
    struct times t = no_times;
    double end = bench_now() + seconds;

    while (run_inspect(file, &t) && bench_now() < end)
        ;
    return t;
}

/* ---- the page ---- */

static void print_module(const struct str *text, const struct hlo_module *m, struct times t)
{
    double mb_s = (double)text->size / t.wall / 1e6;

    printf("  automap   %7.1f MB/s   %.2f ms by the clock, %.2f of processor, for %.1f MB, %u "
           "instructions   (target %.0f MB/s: %s)\n",
           mb_s, t.wall * 1e3, t.processor * 1e3, (double)text->size / 1e6, m->count, target_mb_s,
           mb_s >= target_mb_s ? "met" : "missed");
}

static void print_memory(const struct hlo_module *m)
{
    double bytes = (double)m->arena.held / m->count;

    printf("  memory    %7.0f bytes an instruction, the text not counted   (target %d: %s)\n",
           bytes, BYTES_PER_INSTRUCTION, bytes <= BYTES_PER_INSTRUCTION ? "met" : "missed");
}

static void print_beside(const struct options *o, const struct str *text, const char *file,
                         struct times ours)
{
    struct times xla = o->python ? time_xla(o, file) : no_times;

    if (xla.wall > 0)
        printf("  XLA       %7.1f MB/s   %.1f times slower by the clock, %.1f of processor\n",
               (double)text->size / xla.wall / 1e6, xla.wall / ours.wall,
               xla.processor / ours.processor);
    struct times all = time_inspect(file, o->seconds);
    if (all.wall > 0)
        printf("  inspect   %7.1f ms by the clock, %.1f of processor", all.wall * 1e3,
               all.processor * 1e3);
    if (all.wall > 0 && xla.wall > 0)
        printf("; XLA's parser alone takes %.1f and %.1f times as long", xla.wall / all.wall,
               xla.processor / all.processor);
    puts(all.wall > 0 ? "" : "  inspect   does not run");
    if (o->python && xla.wall <= 0)
        printf("  XLA       no jaxlib with %s: pip install jax, or --python PATH\n", o->python);
}

/* All about `text`, called `title`; `beside`: XLA and the whole command, too. */
static int bench_text(const struct options *o, const char *title, const struct str *text,
                      bool beside, struct err *e)
{
    struct hlo_module *m = NULL;
    struct copy c;
    bool is_written = copy_make(&c, text);
    struct times ours = is_written ? time_load(c.path, o->seconds, &m, e) : no_times;

    if (!is_written)
        err_set(e, ERR_IO, "%s cannot be written", c.path);
    if (ours.wall > 0) {
        puts(title);
        print_module(text, m, ours);
        if (beside) {
            print_beside(o, text, c.path, ours);
            print_memory(m);
        }
    }
    unlink(c.path);
    hlo_free(m);
    return ours.wall > 0 ? 0 : e->code;
}

static int bench_file(const struct options *o, const char *path, struct err *e)
{
    struct hlo_module *m = NULL;
    struct str text = {0};
    int rc = hlo_load(path, NULL, &m, e);

    rc = rc ? rc : hlo_write_text(m, NULL, &text, e);
    hlo_free(m);
    rc = rc ? rc : bench_text(o, path, &text, true, e);
    str_release(&text);
    return rc;
}

static int bench_synthetic(const struct options *o, struct err *e)
{
    struct str text = {0};
    int rc = make_synthetic(&text)
                 ? bench_text(o, "synthetic module", &text, false, e)
                 : err_set(e, ERR_MEMORY, "not enough memory for the synthetic module");

    str_release(&text);
    return rc;
}

#define ARG(field) INTO(struct options, field)
static const struct option rows[] = {
    {"FILE", .values = VALUES_FILE, ARG(file)},
    {"seconds", "S", "of every measurement (default: 1)", .kind = OPTION_REAL, ARG(seconds),
     .least = 0.001, .most = 600},
    {"python", "PATH", "a Python that has jaxlib (default: python3)", .kind = OPTION_FILE,
     ARG(python)},
    {"no-xla", NULL, "without XLA's parser", ARG(no_xla)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static int run_read(int argc, char **argv)
{
    const struct option_parser parser = {"bench read", options, NULL};
    struct options o = {.seconds = 1, .python = "python3"};
    struct err e = {0};
    char data[PATH_MAX - 64], path[PATH_MAX];

    int code = options_parse(&parser, &o, argc, argv);

    if (code)
        return code;
    if (o.no_xla)
        o.python = NULL;
    if (!o.file && file_data_dir(data, sizeof data)) {
        snprintf(path, sizeof path, "%s/examples/models/t5-11b.hlo.txt.gz", data);
        o.file = path;
    }
    int rc =
        o.file ? bench_file(&o, o.file, &e) : err_set(&e, ERR_IO, "no examples found: name a file");
    rc = rc ? rc : bench_synthetic(&o, &e);
    if (rc)
        err_print(&e, stderr);
    return rc ? EXIT_INPUT : EXIT_OK;
}

const struct command bench_read = {
    .name = "bench read",
    .usage = "[FILE]",
    .summary = "reading HLO text against XLA's own parser, and the memory of a module",
    .about = "Measures reading HLO text against XLA's own parser, and the memory of a module.",
    .options = options,
    .run = run_read,
};
