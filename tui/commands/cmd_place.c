/* automap place: a device for every operator. */
#include "engine/place/graph_file.h"
#include "engine/place/latency.h"
#include "engine/place/place_json.h"
#include "engine/place/solve.h"
#include "engine/place/split.h"
#include "engine/text/quantity.h"
#include "engine/text/units.h"
#include "hlo/support/file.h"
#include "tui/commands/commands.h"
#include "tui/commands/place_print.h"
#include "tui/options/args.h"
#include "tui/options/exit_code.h"
#include "tui/options/stopping.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *input, *algo, *split, *output;
    struct place_job job;
    uint64_t accelerators, cores;
    double memory_bytes;
    bool has_accelerators, has_cores, is_json, is_race;
};

static const char help[] =
    "usage: automap place INPUT [--objective throughput|latency] [--contiguous on|off]\n"
    "                     [--algo NAME|race] [--json] [-o SPLIT]\n"
    "\n"
    "Puts every operator of a graph on a device, with the best there can be or the gap to it.\n"
    "INPUT is an operator graph as JSON (maxFPGAs, nodes, edges), plain or gzipped; - is standard\n"
    "input.\n"
    "\n"
    "  --objective NAME           throughput (default): time per sample of a stream; latency: of\n"
    "                             one sample\n"
    "  --contiguous on|off        on (default): no path leaves a device and comes back\n"
    "  --communication NAME       sum (default): work and transfers after another; max: beside\n"
    "                             each other; duplex: in and out as well\n"
    "  --passes together|apart    apart: largest forward load + largest backward load\n"
    "  --pieces Q                 latency: pieces of one accelerator; default 1\n"
    "  --replicate                a stage may have copies on several accelerators\n"
    "  --devices K, --cpus L      accelerators and cores, in place of the file's\n"
    "  --memory-limit SIZE        of one accelerator, 16 GB, in place of the file's\n"
    "  --target MS                the fewest accelerators that reach a time per sample\n"
    "  --split FILE               score a split instead of looking for one\n"
    "  --algo NAME                exact (default), dpl, anneal, local, greedy, pipedream, random,\n"
    "                             one; race: all of them, ranked\n"
    "  --moves N, --seed N        of searches\n"
    "  -o FILE                    write the plan as a split\n"
    "  --json                     for programs\n"
    "\n"
    "Exit code 4: nothing fits; what would do is said.\n";

/* ---- the command line ---- */

static int wrong(const char *option, const char *value, const char *expected)
{
    args_complain("place", "%s %s, expected %s", option, value, expected);
    return EXIT_USAGE;
}

/* One of two or three words, by its number; -1: none of them. */
static int word_of(const char *value, const char *const *words)
{
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], value))
            return i;
    }
    return -1;
}

static int take_word(struct request *r, const char *name, const char *value)
{
    static const char *const objectives[] = {"throughput", "latency", NULL};
    static const char *const switches[] = {"on", "off", NULL};
    static const char *const communications[] = {"sum", "max", "duplex", NULL};
    static const char *const passes[] = {"together", "apart", NULL};
    static const struct {
        const char *name, *const *words, *expected;
    } rows[] = {{"--objective", objectives, "throughput or latency"},
                {"--contiguous", switches, "on or off"},
                {"--communication", communications, "sum, max or duplex"},
                {"--passes", passes, "together or apart"}};
    int row = 0, word;

    while (strcmp(rows[row].name, name) != 0)
        row++;
    word = word_of(value, rows[row].words);
    if (word < 0)
        return wrong(name, value, rows[row].expected);
    switch (row) {
    case 0:
        r->job.latency = word;
        break;
    case 1:
        r->job.any_sets = word;
        break;
    case 2:
        r->job.rules.communication = (enum place_communication)word;
        break;
    default:
        r->job.rules.apart = word;
        break;
    }
    return 0;
}

static int take_number(struct request *r, const char *name, const char *value)
{
    uint64_t n = 0, most = !strcmp(name, "--pieces") ? 64 : PLACE_DEVICES_MAX;

    if (!strcmp(name, "--seed") || !strcmp(name, "--moves"))
        most = (uint64_t)1 << 48;
    if (!quantity_whole(value, most, &n))
        return wrong(name, value, "a whole number in range");
    if (!strcmp(name, "--devices")) {
        r->accelerators = n;
        r->has_accelerators = true;
    } else if (!strcmp(name, "--cpus")) {
        r->cores = n;
        r->has_cores = true;
    } else if (!strcmp(name, "--pieces")) {
        r->job.pieces = (uint32_t)n;
    } else if (!strcmp(name, "--seed")) {
        r->job.seed = n;
    } else {
        r->job.moves = n;
    }
    return 0;
}

static int take_amount(struct request *r, const char *name, const char *value)
{
    struct err e;

    if (!strcmp(name, "--target"))
        return quantity_real(value, 1e-9, 1e12, &r->job.target_ms)
                   ? 0
                   : wrong(name, value, "milliseconds, such as 12.5");
    if (quantity_read(value, QUANTITY_BYTES, &r->memory_bytes, &e)) {
        args_complain("place", "%s: %s", name, e.what);
        return EXIT_USAGE;
    }
    return 0;
}

static int take_text(struct request *r, const char *name, const char *value)
{
    if (!strcmp(name, "--algo")) {
        const struct place_algorithm *a = place_algorithms;
        r->is_race = !strcmp(value, "race");
        while (a->name && strcmp(a->name, value) != 0)
            a++;
        if (!a->name && !r->is_race)
            return wrong(name, value,
                         "exact, dpl, anneal, local, greedy, pipedream, random, one "
                         "or race");
        r->algo = value;
        return 0;
    }
    *(!strcmp(name, "--split") ? &r->split : &r->output) = value;
    return 0;
}

static const struct {
    const char *name;
    int (*take)(struct request *, const char *, const char *);
} options[] = {
    {"--objective", take_word},      {"--contiguous", take_word},
    {"--communication", take_word},  {"--passes", take_word},
    {"--pieces", take_number},       {"--devices", take_number},
    {"--cpus", take_number},         {"--seed", take_number},
    {"--moves", take_number},        {"--target", take_amount},
    {"--memory-limit", take_amount}, {"--algo", take_text},
    {"--split", take_text},          {"-o", take_text},
};

/* 1 taken, 0 no option, else an exit code below 0. */
static int take_option(struct request *r, int argc, char **argv, int *at)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *value = args_value(options[i].name, argc, argv, at);
        if (!value)
            continue;
        if (!*value)
            return -wrong(options[i].name, value, "a value");
        int rc = options[i].take(r, options[i].name, value);
        return rc ? -rc : 1;
    }
    return 0;
}

static int parse(struct request *r, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int taken = take_option(r, argc, argv, &i);
        if (taken < 0)
            return -taken;
        if (taken)
            continue;
        if (!strcmp(argv[i], "--json")) {
            r->is_json = true;
        } else if (!strcmp(argv[i], "--replicate")) {
            r->job.rules.replicate = true;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            args_complain("place", "unknown option \"%s\"", argv[i]);
            return EXIT_USAGE;
        } else if (r->input) {
            args_complain("place", "one input at a time, not also \"%s\"", argv[i]);
            return EXIT_USAGE;
        } else {
            r->input = argv[i];
        }
    }
    if (!r->input) {
        args_complain("place", "which graph?");
        return EXIT_USAGE;
    }
    if (r->job.rules.replicate && (r->job.any_sets || r->job.latency)) {
        args_complain("place", "--replicate is of contiguous plans for throughput");
        return EXIT_USAGE;
    }
    if (r->job.target_ms > 0 &&
        (r->job.any_sets || r->job.latency || r->job.rules.apart || r->is_race)) {
        args_complain("place", "--target is of contiguous plans, passes together");
        return EXIT_USAGE;
    }
    return 0;
}

/* ---- the graph ---- */

static void set_devices(const struct request *r, struct place_graph *g)
{
    struct place_type *host = &g->type[g->types - 1];

    if (r->has_accelerators)
        g->type[0].count = (uint32_t)r->accelerators;
    if (r->has_cores)
        host->count = (uint32_t)r->cores;
    if (r->job.latency && !host->count) /* as many as needed are there */
        host->count = 1;
    for (uint32_t t = 0; t + 1 < g->types && r->memory_bytes > 0; t++)
        g->type[t].memory_bytes = r->memory_bytes;
}

/* ---- answers ---- */

static int exit_of(const struct err *e)
{
    return e->code == ERR_INFEASIBLE ? EXIT_INFEASIBLE
           : e->code == ERR_USAGE    ? EXIT_USAGE
                                     : EXIT_INPUT;
}

static int complain(const struct err *e)
{
    err_print(e, stderr);
    return exit_of(e);
}

static void say_needs(const struct request *r, const struct place_graph *g)
{
    struct place_needs needs;
    struct err e = {0};
    char bytes[UNITS_ROOM];

    if (r->job.target_ms > 0 || r->job.latency || place_find_needs(g, &r->job, &needs, &e))
        return;
    if (isfinite(needs.memory_bytes))
        fprintf(stderr, "%u accelerators of %s would do\n", g->type[0].count,
                units_bytes(bytes, needs.memory_bytes));
    if (needs.accelerators > g->type[0].count)
        fprintf(stderr, "%u accelerators of %s would do\n", needs.accelerators,
                units_bytes(bytes, g->type[0].memory_bytes));
}

static int write_split(const struct request *r, const struct place_graph *g,
                       const struct placement *p, const struct place_load *load, struct err *e)
{
    struct str text = {0};
    int rc;

    if (!r->output)
        return 0;
    place_split_write(p, g, &r->job.rules, load, r->job.latency, &text);
    rc = text.failed ? err_no_memory(e, "for the split")
                     : hlo_file_write(r->output, text.text, text.size, FILE_REPLACE, e);
    if (rc)
        err_in_file(e, r->output);
    str_release(&text);
    return rc;
}

static int show(const struct request *r, const struct place_graph *g, struct placement *p,
                struct err *e)
{
    struct place_load *load = mem_try((size_t)p->devices + 1, sizeof *load);
    double value = p->value_ms;
    int rc = load ? placement_value(p, g, &r->job.rules, load, e) : err_no_memory(e, "for a plan");

    if (r->job.latency)
        p->value_ms = value;
    if (!rc && r->is_json) {
        cJSON *o = place_json(g, &r->job, p, load);
        char *text = cJSON_Print(o);
        if (text)
            puts(text);
        else
            rc = err_no_memory(e, "for the report");
        cJSON_free(text);
        cJSON_Delete(o);
    } else if (!rc) {
        rc = place_print(r->input, g, &r->job, p, load, e);
    }
    if (!rc)
        rc = write_split(r, g, p, load, e);
    free(load);
    return rc;
}

static int score(const struct request *r, const struct place_graph *g, struct err *e)
{
    struct placement *p;
    int rc = place_split_read(r->split, g, &r->job.rules, &p, e);

    if (rc)
        return rc;
    if (r->job.latency)
        rc = place_latency_value(g, p, false, &p->value_ms, e);
    p->bound_ms = r->job.latency ? place_latency_bound(g) : place_work_bound(g, &r->job.rules);
    p->bound_by = r->job.latency ? "longest path" : "work shared out";
    if (!rc)
        rc = show(r, g, p, e);
    placement_free(p);
    return rc;
}

/* ---- race ---- */

struct lane {
    const struct place_algorithm *a;
    struct placement *p; /* NULL: it found nothing */
    char why[160];
};

static int compare_lanes(const void *a, const void *b)
{
    const struct lane *x = a, *y = b;
    double vx = x->p ? x->p->value_ms : INFINITY, vy = y->p ? y->p->value_ms : INFINITY;
    bool fx = x->p && x->p->faults, fy = y->p && y->p->faults;

    if (fx != fy)
        return fx - fy;
    return vx != vy ? (vx > vy) - (vx < vy) : (x->a > y->a) - (x->a < y->a);
}

static void print_lanes(const struct lane *lanes, int count)
{
    char value[UNITS_ROOM], gap[UNITS_ROOM];
    double bound = 0;

    for (int i = 0; i < count; i++)
        bound = lanes[i].p ? fmax(bound, lanes[i].p->bound_ms) : bound;
    printf("algo            value   over bound   seconds\n");
    for (int i = 0; i < count; i++) {
        const struct placement *p = lanes[i].p;
        if (!p) {
            printf("%-10s          -   %s\n", lanes[i].a->name, lanes[i].why);
            continue;
        }
        printf("%-10s %10s %12s %9.2f%s%s\n", lanes[i].a->name, units_plain_ms(value, p->value_ms),
               bound > 0 ? units_percent(gap, p->value_ms / bound - 1) : "-", p->seconds,
               p->proven ? "  proven" : "", p->faults ? "  breaks memory or a pin" : "");
    }
}

static int race(struct request *r, const struct place_graph *g)
{
    struct lane lanes[16] = {{0}};
    int count = 0;

    for (const struct place_algorithm *a = place_algorithms; a->name; a++) {
        struct err e = {0};
        if (!a->in_race || !(r->job.latency ? a->latency : a->throughput))
            continue;
        struct lane *l = &lanes[count++];
        l->a = a;
        if (place_solve(g, &r->job, a->name, &l->p, &e)) {
            l->p = NULL;
            snprintf(l->why, sizeof l->why, "%.150s", e.what);
        }
    }
    qsort(lanes, (size_t)count, sizeof *lanes, compare_lanes);
    print_lanes(lanes, count);
    for (int i = 0; i < count; i++)
        placement_free(lanes[i].p);
    return EXIT_OK;
}

/* ---- the command ---- */

static int answer(struct request *r, const struct place_graph *g)
{
    struct placement *p;
    struct err e = {0};
    int rc;

    if (r->split)
        return score(r, g, &e) ? complain(&e) : EXIT_OK;
    r->job.stop = stopping_begin();
    if (r->is_race) {
        rc = race(r, g);
        return stopping_end() ? EXIT_STOPPED : rc;
    }
    rc = place_solve(g, &r->job, r->algo, &p, &e);
    bool stopped = stopping_end();
    if (rc) {
        rc = complain(&e);
        if (rc == EXIT_INFEASIBLE && !stopped) {
            r->job.stop = NULL;
            say_needs(r, g);
        }
        return stopped ? EXIT_STOPPED : rc;
    }
    rc = show(r, g, p, &e) ? complain(&e) : EXIT_OK;
    placement_free(p);
    return stopped ? EXIT_STOPPED : rc;
}

int cmd_place(int argc, char **argv)
{
    struct request r = {.algo = "exact"};
    struct place_graph *g;
    struct err e = {0};
    int rc;

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(help, stdout);
        return EXIT_OK;
    }
    rc = parse(&r, argc, argv);
    if (rc)
        return rc;
    if (place_graph_read(r.input, &g, &e))
        return complain(&e);
    set_devices(&r, g);
    rc = answer(&r, g);
    place_graph_free(g);
    return rc;
}
