#include "tui/commands/bench_hybrid_bars.h"

#include "engine/hybrid/hybrid.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/bench.h"
#include "tui/files/user_files.h"
#include "tui/options/problem_args.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

void bench_hybrid_bar(const char *what, bool holds, const char *bar, const char *format, ...)
{
    char figure[64];
    va_list args;

    va_start(args, format);
    vsnprintf(figure, sizeof figure, format, args);
    va_end(args);
    printf("%-60s %12s   bar %-12s %s\n", what, figure, bar, holds ? "holds" : "MISSED");
}

/* ---- speed ---- */

struct first {
    double began, seconds; /* to the first plan; INFINITY: none yet */
};

static void see_first(const struct hybrid *h, void *context)
{
    struct first *f = context;

    if (h->found && f->seconds == INFINITY)
        f->seconds = bench_own() - f->began;
}

int bench_hybrid_speed(struct err *e)
{
    struct problem_args a = {.model = "t5-11b", .cluster = "c-4x8-v100"};
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    struct rusage used;
    int rc = problem_args_read(&a, p, e);

    if (!rc) {
        struct first first = {bench_own(), INFINITY};
        struct hybrid_options o = {
            .zero = HYBRID_ZERO_NEEDED, .watch = see_first, .context = &first};
        rc = hybrid_new(p, &o, h, e);
        double all = bench_own() - first.began;
        getrusage(RUSAGE_SELF, &used);
        double mib = (double)used.ru_maxrss / 1024;
        if (!rc) {
            bench_hybrid_bar("T5-11B on C, plan + bound, of a processor", all <= 5, "5 s", "%.2f s",
                             all);
            bench_hybrid_bar("T5-11B on C, the first plan, of a processor", first.seconds <= 0.5,
                             "0.5 s", "%.2f s", first.seconds);
            bench_hybrid_bar("T5-11B on C, the most memory, the module's reading with it",
                             mib <= 1024, "1024 MiB", "%.0f MiB", mib);
            hybrid_release(h);
        }
        problem_release(p);
    }
    free(h);
    free(p);
    return rc;
}

/* ---- published ---- */

static const struct published {
    const char *name, *module;
    double measured_ms, most_percent; /* off by no more */
    bool relaxes;
} published[] = {
    {"GPT-3 175B, full recomputation", "gpt3-175b-full", 18130, 5, false},
    {"GPT-3 175B, selective, relaxed stages", "gpt3-175b-selective", 13750, 10, true},
};

static double step_of(const struct published *r, const struct hybrid *h)
{
    return r->relaxes ? h->relaxed_ms : hybrid_step_ms(h);
}

/* Tensor 8 inside a server, pipeline 8 across, 3 chunks each, micro-batches of one sample. */
static int price_published(const struct published *r, const struct problem *p, struct hybrid *h,
                           struct err *e)
{
    struct hybrid_options o = {.zero = HYBRID_ZERO_NEEDED,
                               .tp = 8,
                               .dp = 1,
                               .chunks = 3,
                               .micro_batches = 64,
                               .overlap = problem_overlap(p),
                               .whole_layers = true,
                               .relaxes = r->relaxes};
    char what[96], bar[24];
    int rc = hybrid_new(p, &o, h, e);

    if (rc)
        return rc;
    double off = 100 * (step_of(r, h) / r->measured_ms - 1);
    printf("%s, the published layout: %.2f s, measured %.2f s\n", r->name, step_of(r, h) / 1e3,
           r->measured_ms / 1e3);
    snprintf(what, sizeof what, "%s, off by", r->name);
    snprintf(bar, sizeof bar, "%.0f %%", r->most_percent);
    bench_hybrid_bar(what, fabs(off) <= r->most_percent, bar, "%+.1f %%", off);
    hybrid_release(h);
    return 0;
}

/* Eight groups of eight devices, each group tensor parallel. */
static bool is_as_published(const struct hybrid *h)
{
    bool is_so = h->stages == 8 * h->chunks;

    for (uint32_t n = 0; n < h->stages; n++)
        is_so &= h->stage[n].end_device - h->stage[n].device == 8 && h->stage[n].dp == 1;
    return is_so;
}

/* What the search takes within the memory of the devices, and whether that is the published one. */
static int search_freely(const struct published *r, const struct problem *p, struct hybrid *h,
                         struct err *e)
{
    struct hybrid_options o = {.zero = HYBRID_ZERO_NEEDED,
                               .overlap = problem_overlap(p),
                               .whole_layers = true,
                               .relaxes = r->relaxes};
    char what[96];
    double began = bench_own();
    int rc = hybrid_new(p, &o, h, e);
    double seconds = bench_own() - began;

    if (rc)
        return rc;
    printf("%s, its own choice: %.2f s, %u groups of devices, %u chunks each, %u micro-batches\n",
           r->name, step_of(r, h) / 1e3, h->stages / h->chunks, h->chunks, h->micro_batches);
    snprintf(what, sizeof what, "%s, chosen as published", r->name);
    bench_hybrid_bar(what, is_as_published(h), "yes", is_as_published(h) ? "yes" : "no");
    snprintf(what, sizeof what, "%s, that search, of a processor", r->name);
    bench_hybrid_bar(what, seconds <= 20, "20 s", "%.2f s", seconds);
    hybrid_release(h);
    return 0;
}

static int run_published(const struct published *r, const char *modules, const char *cluster,
                         struct err *e)
{
    char model[1024];
    struct problem_args a = {.model = model, .cluster = cluster};
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    int rc = 0;

    snprintf(model, sizeof model, "%s/%s.hlo.txt.gz", modules, r->module);
    if (!file_is_there(model)) {
        printf("%s: not run, %s is not there; --modules DIR says where\n", r->name, model);
    } else if (!(rc = problem_args_read(&a, p, e))) {
        rc = price_published(r, p, h, e);
        rc = rc ? rc : search_freely(r, p, h, e);
        problem_release(p);
    }
    free(h);
    free(p);
    return rc;
}

int bench_hybrid_published(const char *modules, struct err *e)
{
    char data[512] = ".", cluster[640];
    int rc = 0;

    (void)file_data_dir(data, sizeof data);
    snprintf(cluster, sizeof cluster, "%s/tests/ref/reality/a100-8x8.yaml", data);
    for (size_t n = 0; n < sizeof published / sizeof *published && !rc; n++) {
        rc = run_published(&published[n], modules, cluster, e);
        fflush(stdout);
    }
    return rc;
}
