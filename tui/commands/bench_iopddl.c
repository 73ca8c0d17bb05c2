/* automap bench iopddl: instances of the ASPLOS / EuroSys 2025 contest on intra-operator
 * parallelism, beside the cheapest solutions published. */
#include "engine/relaxed/iopddl.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "tui/commands/bench.h"
#include "tui/commands/commands.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/stopping.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Cells of tables in a second: the slowest of the instances measured, on a busy server of 2020. */
#define CELLS_BY_SECOND 5e8
#define MIB 1048576.0
enum { FOLDER_MOST = 4096 };

/* Costs of the contest's cheapest team and of the cheapest solution published anywhere by 2026
 * (github.com/ti2-group/iopddl_experiments: iopddl_final_results.csv, later runs, upper bounds in
 * lower_bounds/results.db); 0: not known here. By the end of an instance's name. */
static const struct known {
    char letter;
    int64_t team, any;
} best_known[] = {
    {'A', 6548641531, 6548641531},
    {'B', 532843, 532843},
    {'C', 84102445260, 84102445244},
    {'D', 0, 309396217429},
    {'E', 338965335230, 338965335230},
    {'F', 364364563561, 364364563561},
    {'G', 217039, 217039},
    {'H', 527715404257, 527715404257},
    {'I', 583706456444, 583706456444},
    {'K', 2274276676, 2242635784},
    {'M', 0, 49928157537},
    {'N', 0, 199470115118},
    {'P', 662197407330, 662197407330},
    {'Q', 526776842042, 526776842042},
    {'R', 0, 351826900528},
    {'S', 0, 1521949307},
    {'T', 0, 656798881333},
    {'U', 2569342178, 2443995952},
    {'V', 1632051, 1617084},
};

static const struct known *known_of(const struct iopddl *p)
{
    static const char published[] = "asplos-2025-iopddl-";
    size_t size = sizeof published - 1;

    if (strncmp(p->name, published, size) != 0 || strlen(p->name) != size + 1)
        return NULL;
    for (size_t k = 0; k < sizeof best_known / sizeof *best_known; k++)
        if (best_known[k].letter == p->name[size])
            return &best_known[k];
    return NULL;
}

struct request {
    struct text_list files;
    double seconds;
    uint32_t seeds;
    uint64_t seed;
    const char *folder;
    bool force;
};

struct tally {
    uint32_t rows, near, none, bounds;
};

/* strategies of all nodes, as the contest wants its last line. */
static int write_solution(const struct request *q, const char *stem, uint64_t seed,
                          const struct iopddl *p, const struct iopddl_answer *a, struct err *e)
{
    struct str text = {0};
    char path[FOLDER_MOST + 128];

    if (snprintf(path, sizeof path, "%s/%s.%" PRIu64 ".solution", q->folder, stem, seed) >=
        (int)sizeof path)
        return err_set(e, ERR_LIMIT, "the folder's name is too long, expected at most %d bytes",
                       FOLDER_MOST);
    for (uint32_t n = 0; n < p->energy.nodes; n++)
        str_format(&text, "%s%u", n ? ", " : "[", a->x[n]);
    str_add(&text, p->energy.nodes ? "]\n" : "[]\n");
    int rc = text.failed
                 ? err_no_memory(e, "for a solution")
                 : hlo_file_write(path, text.text, text.size, q->force ? FILE_REPLACE : 0, e);
    if (rc)
        err_in_file(e, path);
    str_release(&text);
    return rc;
}

static void print_ratio(double cost, int64_t known)
{
    if (known)
        printf(" %9.6f", cost / (double)known);
    else
        printf(" %9s", "-");
}

static void print_row(const char *stem, uint64_t seed, const struct known *known,
                      const struct iopddl_answer *a, double read, double solve)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("%-12.12s %4" PRIu64, stem, seed);
    if (a->x) {
        printf(" %15.0f", a->cost);
        print_ratio(a->cost, known ? known->team : 0);
        print_ratio(a->cost, known ? known->any : 0);
    } else {
        printf(" %15s %9s %9s", "none", "-", "-");
    }
    if (isfinite(a->bound))
        printf(" %15.0f", floor(a->bound));
    else
        printf(" %15s", "none");
    if (a->x && a->cost > 0 && a->bound > 0)
        printf(" %8.4f %%", 100 * (a->cost / a->bound - 1));
    else
        printf(" %10s", "-");
    printf(" %6.1f %6.1f %6.0f %7u %7u %6u\n", read, solve, (double)usage.ru_maxrss * 1024 / MIB,
           a->nodes_left, a->edges_left, a->points);
    fflush(stdout);
}

static int run_seeds(const struct request *q, struct iopddl *p, const char *stem, double read,
                     struct tally *t, struct err *e)
{
    const struct known *known = known_of(p);
    const atomic_bool *stop = stopping_begin();
    int rc = 0;

    for (uint32_t k = 0; k < q->seeds && !rc && !stop_asked(stop); k++) {
        struct iopddl_options o = {
            .work = (uint64_t)(q->seconds * CELLS_BY_SECOND), .seed = q->seed + k, .stop = stop};
        struct iopddl_answer a;
        double start = bench_own();
        rc = iopddl_solve(p, &o, &a, e);
        if (rc)
            break;
        print_row(stem, o.seed, known, &a, read, bench_own() - start);
        t->rows++;
        t->none += !a.x;
        t->near +=
            a.x && known && a.cost <= 1.005 * (double)(known->team ? known->team : known->any);
        t->bounds += known && isfinite(a.bound) && a.bound <= (double)known->any;
        if (a.x && q->folder)
            rc = write_solution(q, stem, o.seed, p, &a, e);
        iopddl_answer_release(&a);
    }
    bool stopped = stopping_end();
    return rc ? rc : stopped ? err_set(e, ERR_STOPPED, "stopped") : 0;
}

static int run_file(const struct request *q, const char *path, struct tally *t, struct err *e)
{
    struct iopddl *p;
    char stem[64];
    double start = bench_own();
    int rc = iopddl_read(path, &p, e);

    if (rc)
        return rc;
    double read = bench_own() - start;
    rc = run_seeds(q, p, file_stem(stem, sizeof stem, path), read, t, e);
    if (rc == ERR_INFEASIBLE)
        err_in_file(e, path);
    iopddl_free(p);
    return rc;
}

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"FILE", .values = VALUES_FILE, .kind = OPTION_LIST, ARG(files)},
    {"time", "S",
     "seconds of work for each solution, counted in cells of tables at 5e8 a second: "
     "the same answer on every machine (default: 60)",
     .kind = OPTION_REAL, ARG(seconds), .least = 0.001, .most = 1e6},
    {"seeds", "K", "solve with K seeds, one after the other (default: 1)", .kind = OPTION_WHOLE,
     ARG(seeds), .least = 1, .most = 1000},
    {"seed", "N", "the first seed (default: 1)", .kind = OPTION_WHOLE, ARG(seed), .least = 0,
     .most = 1e15},
    {"solutions", "DIR", "write DIR/NAME.SEED.solution, in the form the contest wants",
     .kind = OPTION_FILE, .values = VALUES_FILE, ARG(folder)},
    {"force", NULL, "overwrite solutions that are there", .kind = OPTION_CHOICE, ARG(force)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static int run_iopddl(int argc, char **argv)
{
    const struct option_parser parser = {"bench iopddl", options, NULL};
    struct request q = {.seconds = 60, .seeds = 1, .seed = 1};
    struct tally t = {0};
    struct err e;
    int code = options_parse(&parser, &q, argc, argv), rc = 0;

    if (code == EXIT_OK && !q.files.count)
        code = options_complain("bench iopddl", "no file, expected instances of the contest");
    if (code == EXIT_OK)
        printf("%-12s %4s %15s %9s %9s %15s %10s %6s %6s %6s %7s %7s %6s\n", "instance", "seed",
               "cost", "of team", "of any", "bound", "gap", "read s", "s", "MiB", "nodes", "edges",
               "points");
    for (uint32_t k = 0; k < q.files.count && code == EXIT_OK && !rc; k++)
        rc = run_file(&q, q.files.items[k], &t, &e);
    if (rc) {
        err_print(&e, stderr);
        code = exit_code_of(&e);
    } else if (code == EXIT_OK) {
        printf("%u of %u within 1.005 of the contest's cheapest team, %u bounds at or below the "
               "cheapest known; targets: all\n",
               t.near, t.rows, t.bounds);
        code = t.none ? EXIT_INFEASIBLE : EXIT_OK;
    }
    text_list_release(&q.files);
    return code;
}

const struct command bench_iopddl = {
    .name = "bench iopddl",
    .usage = "FILE ...",
    .summary = "instances of the ASPLOS 2025 contest on intra-operator parallelism, beside the "
               "cheapest solutions published",
    .about = "Solves instances of the ASPLOS / EuroSys 2025 contest on intra-operator parallelism "
             "(JSON, also gzipped): the cost, its ratio to the contest's cheapest team and to the "
             "cheapest solution published anywhere, a bound that no solution passes, the gap "
             "between, seconds on a processor to read and to solve, the process's memory, and the "
             "nodes, edges and points of time that were left to decide.",
    .options = options,
    .run = run_iopddl,
};
