/* automap bench place: the published instances of device placement (Tarnawski et al., arXiv
 * 2006.16423), beside what its solver and its heuristics were measured at. */
#include "engine/place/graph_file.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/published.h"
#include "engine/place/solve.h"
#include "hlo/support/err.h"
#include "tui/commands/bench.h"
#include "tui/commands/commands.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"

#include <math.h>
#include <stdio.h>

struct request {
    const char *folder;
    bool contiguous_only;
    char found[4096];
};

static int read_graph(const char *folder, const struct place_published *n, struct place_graph **g,
                      struct err *e)
{
    char path[4600];

    snprintf(path, sizeof path, "%s/%s/%s.json.gz", folder,
             n->latency ? "latency-inputs" : "throughput-inputs", n->file);
    return place_graph_read(path, g, e);
}

/* A figure of others, or `none` where it is 0: they have none. */
static const char *known(double figure, int digits, const char *none, char out[static 16])
{
    if (!(figure > 0))
        return none;
    snprintf(out, 16, "%.*g", digits, figure);
    return out;
}

/* Own seconds of one answer. */
static int answer_place(const struct place_graph *g, const struct place_job *job,
                        struct placement **p, double *seconds, struct err *e)
{
    double began = bench_own();
    int rc = place_solve(g, job, "exact", p, e);

    *seconds = bench_own() - began;
    return rc;
}

static int run_contiguous(const char *folder, struct err *e)
{
    double all = 0;
    uint32_t equal = 0, count = 0;
    char text[16];

    printf("contiguous, proven      optimum  published    pairs  ideals      s  published s\n");
    for (const struct place_published *n = place_published; n->name; n++) {
        if (n->latency)
            continue;
        const struct place_job job = {.seed = 0};
        struct place_graph *g;
        struct placement *p;
        double seconds;
        if (read_graph(folder, n, &g, e))
            return e->code;
        int rc = answer_place(g, &job, &p, &seconds, e);
        place_graph_free(g);
        if (rc)
            return rc;
        bool is_equal = p->proven && fabs(p->value_ms / n->contiguous_ms - 1) < 1e-5;
        equal += is_equal;
        count++;
        all += seconds;
        printf("%-34s %9.6g %9.6g %9llu %7u %6.2f  %s%s\n", n->file, p->value_ms, n->contiguous_ms,
               (unsigned long long)p->pairs, p->ideals, seconds,
               known(n->seconds, 3, "out of memory", text), is_equal ? "" : "  DIFFERS");
        placement_free(p);
    }
    printf("%u of %u equal, %.2f s together; targets: all, 2 s, 0.5 s each\n\n", equal, count, all);
    return 0;
}

static int run_any(const char *folder, struct err *e)
{
    uint32_t reached = 0, proven = 0, count = 0;

    printf("any sets                            value best known     bound     gap      s\n");
    for (const struct place_published *n = place_published; n->name; n++) {
        if (n->latency)
            continue;
        const struct place_job job = {.any_sets = true};
        struct place_graph *g;
        struct placement *p;
        double seconds;
        if (read_graph(folder, n, &g, e))
            return e->code;
        int rc = answer_place(g, &job, &p, &seconds, e);
        place_graph_free(g);
        if (rc)
            return rc;
        bool is_reached = p->value_ms <= n->any_ms * (1 + 1e-5);
        reached += is_reached;
        proven += p->proven;
        count++;
        printf("%-34s %9.6g  %9.6g %9.6g %5.1f %% %6.2f%s%s\n", n->file, p->value_ms, n->any_ms,
               p->bound_ms, p->bound_ms > 0 ? 100 * (p->value_ms / p->bound_ms - 1) : 0, seconds,
               p->proven ? "  proven" : "", is_reached ? "" : "  above");
        placement_free(p);
    }
    printf("%u of %u at or below the best known, %u proven; targets: all, 6, 10 s each\n\n",
           reached, count, proven);
    return 0;
}

static int run_latency(const char *folder, struct err *e)
{
    uint32_t won = 0, met = 0, count = 0;
    char text[16];

    printf(
        "latency, one piece                  value    greedy  max-load     bound    gap      s\n");
    for (const struct place_published *n = place_published; n->name; n++) {
        if (!n->latency)
            continue;
        const struct place_job job = {.latency = true};
        struct place_graph *g;
        struct placement *p;
        double seconds;
        if (read_graph(folder, n, &g, e))
            return e->code;
        uint32_t cores = g->type[g->types - 1].count;
        g->type[g->types - 1].count = cores ? cores : 1;
        int rc = answer_place(g, &job, &p, &seconds, e);
        place_graph_free(g);
        if (rc)
            return rc;
        double best = n->max_load_ms > 0 ? fmin(n->greedy_ms, n->max_load_ms) : n->greedy_ms;
        bool is_best = p->value_ms < best * (1 - 1e-5); /* six digits are known of the others */
        won += is_best;
        met += !is_best && p->proven && p->value_ms < best * (1 + 1e-5);
        count++;
        printf("%-34s %9.6g %9.6g %9s %9.6g %5.1f %% %5.2f%s%s\n", n->file, p->value_ms,
               n->greedy_ms, known(n->max_load_ms, 6, "-", text), p->bound_ms,
               p->bound_ms > 0 ? 100 * (p->value_ms / p->bound_ms - 1) : 0, seconds,
               p->proven ? "  proven" : "",
               is_best     ? ""
               : p->proven ? ": the better heuristic's plan is the optimum"
                           : "  not below both");
        placement_free(p);
    }
    printf("%u of %u below both heuristics, %u proven to have no plan below them; target: all\n",
           won, count, met);
    return 0;
}

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"FOLDER", .kind = OPTION_FILE, ARG(folder)},
    {"contiguous", NULL, "contiguous plans only", ARG(contiguous_only)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static int run_place(int argc, char **argv)
{
    const struct option_parser parser = {"bench place", options, NULL};
    struct request r = {0};
    struct err e = {0};
    int rc = options_parse(&parser, &r, argc, argv);

    if (rc)
        return rc;
    if (!r.folder && file_data_dir(r.found, sizeof r.found - 32)) {
        size_t at = 0;
        while (r.found[at])
            at++;
        snprintf(r.found + at, 32, "/tests/ref/placement");
        r.folder = r.found;
    }
    if (!r.folder)
        return options_complain("bench place", "where are the published instances?");
    rc = run_contiguous(r.folder, &e);
    if (!rc && !r.contiguous_only)
        rc = run_any(r.folder, &e);
    if (!rc && !r.contiguous_only)
        rc = run_latency(r.folder, &e);
    if (!rc)
        return EXIT_OK;
    err_print(&e, stderr);
    return exit_code_of(&e);
}

const struct command bench_place = {
    .name = "bench place",
    .usage = "[FOLDER]",
    .summary = "device placement: published instances, values and seconds",
    .about = "Solves the published instances of device placement and prints value, bound and "
             "seconds beside what the published solver and heuristics were measured at. FOLDER "
             "holds throughput-inputs/ and latency-inputs/; default: tests/ref/placement of the "
             "source.",
    .options = options,
    .run = run_place,
};
