/* automap bench hybrid: hybrid plans of shipped models against those that an independent prototype
 * found, and against the best plan of every pure kind. */
#include "engine/compare/compare.h"
#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/bench.h"
#include "tui/commands/bench_hybrid_bars.h"
#include "tui/commands/commands.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/problem_args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the prototype found: cuts between layers, ZeRO 1, the micro-batches that it tried, on costs
 * of its own. Of t5-tiny it printed two digits of the best pure kind alone, over which its plan,
 * one stage with one device at work, gained nothing. */
static const struct row {
    const char *model, *cluster;
    double step_ms;
} rows[] = {
    {"t5-11b", "a-2x8-v100", 5465},    {"t5-11b", "c-4x8-v100", 2532},
    {"t5-11b", "h100-4x8", 193.3},     {"t5-11b", "a100-4x8", 402.6},
    {"bert48", "a-2x8-v100", 574.7},   {"bert48", "c-4x8-v100", 386.7},
    {"bert48", "h100-4x8", 37.8},      {"bert48", "a100-4x8", 73.7},
    {"t5-base6", "a-2x8-v100", 103.4}, {"t5-base6", "c-4x8-v100", 90.3},
    {"t5-base6", "h100-4x8", 7.6},     {"t5-base6", "a100-4x8", 13.1},
    {"t5-tiny", "c-4x8-v100", 0.69},   {"t5-tiny", "h100-4x8", 0.54},
};

struct tally {
    uint32_t rows, near, never_slower;
};

/* The shortest step of the other kinds that fits. */
static int pure_ms(const struct problem *p, double *out, struct err *e)
{
    struct pipeline_options o = {0};
    struct comparison *c = mem_alloc(sizeof *c);
    int rc = comparison_new(p, NULL, &o, c, e);

    *out = INFINITY;
    for (int k = 0; k < COMPARE_KIND_COUNT && !rc; k++)
        if (c->of[k].kind != COMPARE_HYBRID && c->of[k].exists && c->of[k].fits)
            *out = fmin(*out, c->of[k].step_ms);
    if (!rc)
        comparison_free(c);
    free(c);
    return rc;
}

static int run_row(const struct row *r, struct tally *t, struct err *e)
{
    struct problem_args a = {.model = r->model, .cluster = r->cluster};
    struct hybrid_options o = {.zero = HYBRID_ZERO_NEEDED};
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    double pure = 0, seconds = 0;
    int rc = problem_args_read(&a, p, e);

    if (!rc) {
        double start = bench_own();
        rc = hybrid_new(p, &o, h, e);
        seconds = bench_own() - start;
        rc = rc ? rc : pure_ms(p, &pure, e);
        if (!rc) {
            double step = hybrid_step_ms(h);
            printf("%-10s %-12s %10.4g %10.4g %+6.1f %% %10.4g %10.4g %5.2f x %4u %4u %3u %6.2f\n",
                   r->model, r->cluster, step, r->step_ms, 100 * (step / r->step_ms - 1),
                   h->is_certified ? h->bound_ms : NAN, pure, pure / step, h->stages,
                   h->micro_batches, h->chunks, seconds);
            t->rows++;
            t->near += step <= 1.01 * r->step_ms;
            t->never_slower += step <= pure * (1 + 1e-9);
            hybrid_release(h);
        }
        problem_release(p);
    }
    free(h);
    free(p);
    return rc;
}

struct setup {
    const char *modules;
    struct text_list names; /* of models; none: all, and the bars */
};

static int run_rows(const struct setup *s, struct tally *t, struct err *e)
{
    int rc = 0;

    printf("%-10s %-12s %10s %10s %8s %10s %10s %7s %4s %4s %3s %6s\n", "model", "cluster",
           "step ms", "prototype", "", "bound", "pure kind", "gain", "S", "M", "v", "s");
    for (size_t n = 0; n < sizeof rows / sizeof *rows && !rc; n++) {
        bool wanted = !s->names.count;
        for (uint32_t k = 0; k < s->names.count; k++)
            wanted |= !strcmp(s->names.items[k], rows[n].model);
        if (wanted)
            rc = run_row(&rows[n], t, e);
        fflush(stdout);
    }
    return rc;
}

static void print_tally(const struct tally *t)
{
    printf("bound: of plans with v = 1; where the plan has more, of interleaved ones too\n"
           "s: of a processor\n");
    bench_hybrid_bar("rows within 1 % of the prototype's or shorter", t->near == t->rows, "all",
                     "%u of %u", t->near, t->rows);
    bench_hybrid_bar("rows never slower than the best pure kind", t->never_slower == t->rows, "all",
                     "%u of %u", t->never_slower, t->rows);
}

/* The modules lie beside the sources unless told. */
static int run_published(const struct setup *s, struct err *e)
{
    const char *shared = getenv("AUTOMAP_SHARED");
    char modules[1024], data[512] = ".";

    (void)file_data_dir(data, sizeof data);
    if (shared)
        snprintf(modules, sizeof modules, "%s/data/hybrid", shared);
    else
        snprintf(modules, sizeof modules, "%s/../shared/data/hybrid", data);
    int rc = bench_hybrid_published(s->modules ? s->modules : modules, e);
    if (!rc)
        printf("not run here: brute force, by ctest -R engine_hybrid_exact; XLA, module by module, "
               "by\ntests/script/hybrid_stages.py . automap --models "
               "mlp,t5-tiny,moe,t5-base6,bert48\n");
    return rc;
}

static int run_hybrid(int argc, char **argv)
{
    const struct option_parser parser = {"bench hybrid", bench_hybrid.options, NULL};
    struct setup s = {0};
    struct tally t = {0};
    struct err e;
    int code = options_parse(&parser, &s, argc, argv);

    if (code == EXIT_OK) {
        bool is_whole = !s.names.count;
        int rc = is_whole ? bench_hybrid_speed(&e) : 0;
        rc = rc ? rc : run_rows(&s, &t, &e);
        if (!rc)
            print_tally(&t);
        if (!rc && is_whole)
            rc = run_published(&s, &e);
        if (rc) {
            err_print(&e, stderr);
            code = exit_code_of(&e);
        }
    }
    text_list_release(&s.names);
    return code;
}

#define ARG(field) INTO(struct setup, field)
static const struct option_set options[] = {
    {.rows =
         (const struct option[]){{"MODEL", .values = VALUES_MODEL, .kind = OPTION_LIST, ARG(names)},
                                 {"modules", "DIR", "where the modules of GPT-3 are",
                                  .kind = OPTION_FILE, ARG(modules)},
                                 {0}}},
    {0}};
#undef ARG

const struct command bench_hybrid = {
    .name = "bench hybrid",
    .usage = "[MODEL ...]",
    .summary = "hybrid plans: against a prototype's, and against every pure kind",
    .about = "Searches hybrid plans of shipped models on shipped clusters: the step beside the one "
             "that an independent prototype found, the bound, the best plan of every pure kind, "
             "stages S, micro-batches M, chunks v, and seconds on a processor. Of all models: the "
             "bars on time and memory, and GPT-3 175B beside its published runs, too.",
    .options = options,
    .run = run_hybrid,
};
