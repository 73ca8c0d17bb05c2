/* automap pretrain: a network trained on generated problems. automap infer: its answer. */
#include "engine/pipeline/pipe_infer.h"
#include "hlo/support/err.h"
#include "tui/commands/commands.h"
#include "tui/options/option.h"

#include "engine/pipeline/pretrain.h"
#include "tui/options/exit_code.h"
#include "tui/options/overwrite.h"
#include "tui/options/stopping.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 30, HELD_OUT = 200, ARGUMENTS_MOST = 256 };

struct request {
    struct pretrain_options options;
    const char *out;
    bool force;
    uint32_t measure;
    bool terminal;
};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"o", "FILE", "the network; needed", .kind = OPTION_FILE, .values = VALUES_FILE, ARG(out)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {"environments", "N", "generated problems; default 8000", .kind = OPTION_WHOLE,
     ARG(options.environments), .least = 1, .most = 1e8},
    {"seed", "S", "of all that is random; default 1", .kind = OPTION_WHOLE, ARG(options.seed),
     .most = 1e15},
    {"processes", "N", "that play problems; default 1. The file does not depend on it",
     .kind = OPTION_WHOLE, ARG(options.processes), .least = 1, .most = PRETRAIN_PROCESSES_MOST},
    {"measure", "N", "problems held out, to measure on at the end; default 200",
     .kind = OPTION_WHOLE, ARG(measure), .most = 100000},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static void tell(void *self, const struct pretrain_progress *p)
{
    const struct request *r = self;
    char bar[BAR + 1];
    int full = (int)(p->environments * BAR / r->options.environments);

    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)full);
    bar[BAR] = 0;
    fprintf(stderr, "%s[%s] %llu of %llu problems, %llu decisions, %llu updates, loss %.3f%s",
            r->terminal ? "\r\033[K" : "", bar, (unsigned long long)p->environments,
            (unsigned long long)r->options.environments, (unsigned long long)p->states,
            (unsigned long long)p->updates, p->loss, r->terminal ? "" : "\n");
}

static int measure(const struct request *r, const struct pipe_net *net, struct err *e)
{
    struct pretrain_gaps with, without;
    int rc = pretrain_measure(&net->scorer, r->options.seed, r->measure, &with, e);

    if (!rc)
        rc = pretrain_measure(NULL, r->options.seed, r->measure, &without, e);
    if (rc)
        return rc;
    printf("gap to the proven optimum of L on %u problems held out, mean and 95 %%\n\n",
           with.count);
    printf("  %-30s %8s %8s    %s\n", "", "one pass", "", "best of 8 first decisions");
    printf("  %-30s %6.2f %% %6.2f %%    %6.2f %% %6.2f %%\n", "the network", 100 * with.pass_mean,
           100 * with.pass_95, 100 * with.beams_mean, 100 * with.beams_95);
    printf("  %-30s %6.2f %% %6.2f %%    %6.2f %% %6.2f %%\n", "equal shares, looked ahead",
           100 * without.pass_mean, 100 * without.pass_95, 100 * without.beams_mean,
           100 * without.beams_95);
    return 0;
}

static int run_pretrain(int argc, char **argv)
{
    const struct option_parser parser = {"pretrain pp", options, NULL};
    struct request r = {.options = {.seed = 1, .environments = 8000, .processes = 1},
                        .measure = HELD_OUT,
                        .terminal = isatty(STDERR_FILENO)};
    struct pipe_net net;
    struct err e;
    int rc = options_parse(&parser, &r, argc, argv);

    if (rc)
        return rc;
    if (!r.out)
        return options_complain("pretrain pp", "-o FILE is needed");
    if (overwrite_check(r.out, r.force))
        return EXIT_INPUT;
    r.options.stop = stopping_begin();
    rc = pretrain_pipelines(&r.options, tell, &r, &net, &e);
    if (r.terminal)
        fputc('\n', stderr);
    if (!rc) {
        rc = pipe_net_save(&net, r.out, &e);
        if (!rc && r.measure)
            rc = measure(&r, &net, &e);
        pipe_net_free(&net);
    }
    bool stopped = stopping_end();
    if (rc)
        err_print(&e, stderr);
    return stopped ? EXIT_STOPPED : rc ? exit_code_of(&e) : EXIT_OK;
}

static const struct command pretrain_pp = {
    .name = "pretrain pp",
    .usage = "-o FILE",
    .summary = "the network that answers pipelines",
    .about = "Trains the network of automap infer on generated problems, whose optima the exact "
             "programme knows, and measures it on problems held out. The same seed and number of "
             "problems give the same file bit for bit, for any number of processes.",
    .options = options,
    .run = run_pretrain,
};

static const struct command *const parts[] = {&pretrain_pp, NULL};

const struct command command_pretrain = {
    .name = "pretrain",
    .usage = "pp",
    .summary = "train a network once, for models it never saw",
    .about = "Trains a network on generated problems.",
    .parts = parts,
};

/* automap search --kind pp --algo infer, by a shorter name. */
static int run_infer(int argc, char **argv)
{
    static char front[][8] = {"search", "--kind", "pp", "--algo", "infer"};
    enum { FRONT = sizeof front / sizeof *front };
    char *all[ARGUMENTS_MOST];

    if (argc + FRONT >= ARGUMENTS_MOST)
        return options_complain("infer", "too many arguments");
    for (int n = 0; n < FRONT; n++)
        all[n] = front[n];
    memcpy(all + FRONT, argv + 1, (size_t)(argc - 1) * sizeof *all);
    all[FRONT + argc - 1] = NULL;
    return command_search.run(FRONT + argc - 1, all);
}

const struct command command_infer = {
    .name = "infer",
    .usage = "MODEL [CLUSTER] [OPTION ...]",
    .summary = "a pipeline by the pretrained network, with the proven optimum beside it",
    .about = "The pipeline that the pretrained network answers with: automap search --kind pp "
             "--algo infer, and it takes the options of that. The length of a pipeline has an "
             "exact answer in milliseconds too, which is shown beside it.",
    .run = run_infer,
};
