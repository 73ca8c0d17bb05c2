/* automap pretrain: a network trained on generated problems. automap infer: its answer. */
#include "engine/pipeline/environment.h"
#include "engine/pipeline/flat_net.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pretrain.h"
#include "engine/pipeline/pretrain_flat.h"
#include "engine/problem/problem.h"
#include "engine/ranks/ranks.h"
#include "engine/search/policy.h"
#include "engine/search/pretrain_moves.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/error.h"
#include "tui/commands/bench_models.h"
#include "tui/commands/commands.h"
#include "tui/files/examples.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"
#include "tui/options/problem_args.h"
#include "tui/options/stopping.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 24, HELD_OUT = 200, ARGUMENTS_MOST = 256 };

struct request {
    struct pretrain_options options;
    struct ranks ranks;
    const char *out, *from;
    uint8_t range, family, recipe;
    bool force;
    uint32_t measure;
    bool terminal, scratch;
};

enum { LISTWISE, PAPER };
static const char *const recipes[] = {"listwise", "paper"};
static const char *const families[] = {"all", "independent", "transformer", "cnn"};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"o", "FILE", "the network; needed", .kind = OPTION_FILE, .values = VALUES_FILE, ARG(out)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {"recipe", "NAME",
     "listwise (default): a scorer of candidates that learns from the exact values of them all; "
     "paper: one flat network with an output for each point and device, which learns from 1/L "
     "alone, 50 episodes a problem. To compare: it stays far above the optimum",
     .kind = OPTION_CHOICE, ARG(recipe), NAMES(recipes)},
    {"environments", "N", "generated problems; default 20000, of --recipe paper 1000",
     .kind = OPTION_WHOLE, ARG(options.environments), .least = 1, .most = 1e8},
    {"seed", "S", "of all that is random; default 1", .kind = OPTION_WHOLE, ARG(options.seed),
     .most = 1e15},
    {"set", "NAME",
     "what problems range over: wide (default; transfers to 15 ideal steps, all-reduces to 6), "
     "mixed (to 2 and 1.5), c (as mixed, on 4 servers of 8)",
     .kind = OPTION_CHOICE, ARG(range), .names = environment_range_names,
     .name_count = ENVIRONMENT_RANGES},
    {"family", "NAME", "of the generated arrays; default all", .kind = OPTION_CHOICE, ARG(family),
     NAMES(families)},
    {"finetune", "FILE", "start from that network instead of random weights", .kind = OPTION_FILE,
     .values = VALUES_FILE, ARG(from)},
    {"processes", "N",
     "that play problems; default 1, under mpirun its ranks. The file does not depend on it",
     .kind = OPTION_WHOLE, ARG(options.processes), .least = 1, .most = PRETRAIN_PROCESSES_MOST},
    {"measure", "N", "problems of each set held out, to measure on at the end; default 200",
     .kind = OPTION_WHOLE, ARG(measure), .most = 100000},
    {"from-scratch", NULL,
     "start over even if a stopped training of the same recipe could continue", ARG(scratch)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

enum { GAP_ROOM = 32 };

static const char *gap_text(double gap, char out[static GAP_ROOM])
{
    if (isnan(gap))
        return "-";
    snprintf(out, GAP_ROOM, "%.2f %%", 100 * gap);
    return out;
}

static void tell_progress(void *self, const struct pretrain_progress *p)
{
    const struct request *r = self;
    char bar[BAR + 1];
    char gap[GAP_ROOM];
    int full = (int)(p->environments * BAR / r->options.environments);

    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)full);
    bar[BAR] = 0;
    fprintf(stderr,
            "%s[%s] %llu of %llu problems%s, %llu decisions, %llu updates, loss %.3f, its own "
            "decisions %s off%s",
            r->terminal ? "\r\033[K" : "", bar, (unsigned long long)p->environments,
            (unsigned long long)r->options.environments, p->resumed ? " (resumed)" : "",
            (unsigned long long)p->states, (unsigned long long)p->updates, p->loss,
            gap_text(p->gap, gap), r->terminal ? "" : "\n");
}

static int measure_net(const struct pipe_net *net, uint32_t count, struct err *e)
{
    struct pretrain_gaps g[ENVIRONMENT_RANGES];

    for (uint32_t k = 0; k < ENVIRONMENT_RANGES; k++) {
        int rc = pretrain_measure(net, k, net->seed, count, &g[k], e);
        if (rc)
            return rc;
    }
    printf("gap to the proven optimum of L, in %%: mean and 95 %% over problems held out\n\n");
    printf("  %-62s", "");
    for (uint32_t k = 0; k < ENVIRONMENT_RANGES; k++)
        printf(" %6s (%4u)", environment_range_names[k], g[k].count);
    for (int way = 0; way < PRETRAIN_WAY_COUNT; way++) {
        printf("\n  %-62s", pretrain_way_names[way]);
        for (uint32_t k = 0; k < ENVIRONMENT_RANGES; k++)
            printf(" %6.2f %6.2f", 100 * g[k].mean[way], 100 * g[k].high[way]);
    }
    printf("\n");
    return 0;
}

/* Trains and saves. `net` is the caller's to free, also after an error. */
static int train_net(struct request *r, struct pipe_net *net, struct err *e)
{
    struct pipe_net from = {0};
    char state[PATH_MAX];

    if (r->from) {
        int code = pipe_net_load(&from, r->from);
        if (code)
            return err_set(e, ERR_INPUT, "%.200s: %s", r->from, rl_error_text(code));
        if (from.flat.parameters) {
            pipe_net_free(&from);
            return err_set(e, ERR_INPUT,
                           "%.200s: a network of --recipe paper, expected a scorer of candidates",
                           r->from);
        }
        r->options.from = &from;
    }
    if (snprintf(state, sizeof state, "%s.part", r->out) < (int)sizeof state)
        r->options.state = state;
    if (r->scratch && r->options.state)
        remove(state);
    r->options.range = r->range;
    r->options.families = r->family ? 1u << (r->family - 1) : 0;
    int rc = r->recipe == PAPER ? pretrain_flat(&r->options, tell_progress, r, net, e)
                                : pretrain_pipelines(&r->options, tell_progress, r, net, e);
    if (r->terminal)
        fputc('\n', stderr);
    if (!rc && !r->ranks.self)
        rc = pipe_net_save(net, r->out, e);
    if (!rc && !r->ranks.self && r->options.state)
        remove(state);
    pipe_net_free(&from);
    return rc;
}

static int run_pretrain(int argc, char **argv)
{
    const struct option_parser parser = {"pretrain pp", options, NULL};
    struct request r = {.options = {.seed = 1, .processes = 1},
                        .measure = HELD_OUT,
                        .terminal = isatty(STDERR_FILENO)};
    struct pipe_net net = {0};
    struct err e;
    int rc = options_parse(&parser, &r, argc, argv);

    if (rc)
        return rc;
    if (!r.out)
        return options_complain("pretrain pp", "-o FILE is needed");
    if (overwrite_check(r.out, r.force))
        return EXIT_INPUT;
    if (r.recipe == PAPER && (r.from || r.options.processes > 1))
        return options_complain("pretrain pp",
                                "--recipe paper learns one problem after another, "
                                "from random weights: no --processes, no --finetune");
    if (!r.options.environments)
        r.options.environments = r.recipe == PAPER ? 1000 : 20000;
    r.options.ranks = &r.ranks;
    r.options.stop = stopping_begin();
    rc = ranks_join(&r.ranks, r.options.stop, &e);
    if (!rc && r.ranks.count > 1 && r.recipe == PAPER)
        rc = err_set(&e, ERR_USAGE, "--recipe paper is for one rank; mpirun started %u",
                     r.ranks.count);
    if (!rc && r.ranks.count > 1 && r.options.processes > 1)
        rc =
            err_set(&e, ERR_USAGE, "--processes is for one rank; mpirun started %u", r.ranks.count);
    rc = rc ? rc : train_net(&r, &net, &e);
    if (!rc && !r.ranks.self && r.measure)
        rc = measure_net(&net, r.measure, &e);
    pipe_net_free(&net);
    bool stopped = stopping_end();
    if (rc && !r.ranks.self)
        err_print(&e, stderr);
    int code = stopped ? EXIT_STOPPED : rc ? exit_code_of(&e) : EXIT_OK;
    ranks_leave(&r.ranks, !rc, code);
    return code;
}

static const struct command pretrain_pp = {
    .name = "pretrain pp",
    .usage = "-o FILE",
    .summary = "the network that cuts pipelines",
    .about = "Trains the network of automap infer on generated problems, whose optima the exact "
             "programme knows, and measures it on problems held out. The same seed and number of "
             "problems give the same file bit for bit, for any number of processes, or of ranks "
             "where mpirun starts it. When it is stopped it leaves FILE.part, from which the same "
             "command goes on to the same file.",
    .options = options,
    .run = run_pretrain,
};

/* ---- operators ---- */

struct moves_request {
    struct pretrain_moves_options options;
    struct ranks ranks;
    struct text_list models;
    const char *out, *leave_out;
    bool terminal, force, scratch;
};

#define ARG(field) INTO(struct moves_request, field)
static const struct option moves_rows[] = {
    {"MODEL", .values = VALUES_MODEL, .kind = OPTION_LIST, ARG(models)},
    {"o", "FILE", "the network; needed", .kind = OPTION_FILE, .values = VALUES_FILE, ARG(out)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {"rounds", "N", "of one model each, on a cluster that is drawn; default 1500",
     .kind = OPTION_WHOLE, ARG(options.rounds), .least = 1, .most = 1e8},
    {"seed", "S", "of all that is random; default 1", .kind = OPTION_WHOLE, ARG(options.seed),
     .most = 1e15},
    {"leave-out", "PREFIX", "models whose name begins so are not learned from", .kind = OPTION_TEXT,
     ARG(leave_out)},
    {"from-scratch", NULL,
     "start over even if a stopped training of the same recipe could continue", ARG(scratch)},
    {0},
};
#undef ARG
static const struct option_set moves_options[] = {{.rows = moves_rows}, {0}};

static void tell_moves(void *self, const struct pretrain_moves_progress *p)
{
    const struct moves_request *r = self;

    if (!r->terminal && p->round % 40 && p->round != r->options.rounds)
        return;
    fprintf(stderr,
            "%s%llu of %llu rounds%s, %llu episodes, %llu decisions, %llu updates, loss %.4f, its "
            "own decisions %.3f %% off%s",
            r->terminal ? "\r\033[K" : "", (unsigned long long)p->round,
            (unsigned long long)r->options.rounds, p->resumed ? " (resumed)" : "",
            (unsigned long long)p->episodes, (unsigned long long)p->states,
            (unsigned long long)p->updates, p->loss, 100 * p->gap, r->terminal ? "" : "\n");
}

/* The models that are learned from. problem[]: owned, count of them. */
static int load_school(const struct moves_request *r, const struct bench_models *models,
                       struct problem **problem, uint32_t *count, struct err *e)
{
    int rc = 0;

    *count = 0;
    for (int k = 0; k < models->count && !rc; k++) {
        struct problem_args args = {.model = models->path[k]};
        if (r->leave_out && !strncmp(models->name[k], r->leave_out, strlen(r->leave_out)))
            continue;
        problem[*count] = mem_try(1, sizeof **problem);
        if (!problem[*count])
            return err_no_memory(e, "for the models");
        rc = problem_args_read(&args, problem[*count], e);
        if (rc)
            free(problem[*count]);
        else
            ++*count;
    }
    if (!rc && !*count)
        rc = err_set(e, ERR_USAGE, "no model is left to learn from");
    return rc;
}

static int train_moves(struct moves_request *r, const struct bench_models *models, struct err *e)
{
    struct problem *problem[EXAMPLES_MOST];
    struct policy policy = {0};
    char state[PATH_MAX];
    uint32_t count;
    int rc = load_school(r, models, problem, &count, e);

    if (snprintf(state, sizeof state, "%s.part", r->out) < (int)sizeof state)
        r->options.state = state;
    if (!rc && r->scratch && r->options.state && !r->ranks.self) /* rank 0 alone reads it */
        remove(state);
    rc = rc ? rc : pretrain_moves(problem, count, &r->options, tell_moves, r, &policy, e);
    if (r->terminal && !r->ranks.self)
        fputc('\n', stderr);
    if (!rc && !r->ranks.self)
        rc = policy_save(&policy, r->out, e);
    if (!rc && !r->ranks.self && r->options.state)
        remove(state);
    policy_free(&policy);
    for (uint32_t k = 0; k < count; k++) {
        problem_release(problem[k]);
        free(problem[k]);
    }
    return rc;
}

static int run_moves(int argc, char **argv)
{
    const struct option_parser parser = {"pretrain opp", moves_options, NULL};
    struct moves_request r = {.options = {.seed = 1, .rounds = 1500},
                              .terminal = isatty(STDERR_FILENO)};
    struct bench_models models;
    struct err e;
    int code = options_parse(&parser, &r, argc, argv);

    if (code == EXIT_OK && !r.out)
        code = options_complain("pretrain opp", "-o FILE is needed");
    if (code == EXIT_OK && overwrite_check(r.out, r.force))
        code = EXIT_INPUT;
    if (code == EXIT_OK)
        code = bench_models_find(&models, "pretrain opp", &r.models);
    if (code == EXIT_OK) {
        r.options.ranks = &r.ranks;
        r.options.stop = stopping_begin();
        int rc = ranks_join(&r.ranks, r.options.stop, &e);
        rc = rc ? rc : train_moves(&r, &models, &e);
        code = stopping_end() ? EXIT_STOPPED : rc ? exit_code_of(&e) : EXIT_OK;
        if (rc && !r.ranks.self)
            err_print(&e, stderr);
        ranks_leave(&r.ranks, !rc, code);
    }
    text_list_release(&r.models);
    return code;
}

static const struct command pretrain_opp = {
    .name = "pretrain opp",
    .usage = "[MODEL ...] -o FILE",
    .summary = "the network that leads the search of operator partitioning",
    .about = "Trains the network behind --state continuous over models (default: all that are "
             "shipped) and clusters that are drawn, with the proven optimum behind each action as "
             "teacher. The same models, seed and rounds give the same file bit for bit, for any "
             "number of ranks where mpirun starts it. When it is stopped it leaves FILE.part, from "
             "which the same command goes on to the same file.",
    .options = moves_options,
    .run = run_moves,
};

/* ---- what a file says of itself ---- */

struct shown {
    const char *file;
    uint32_t measure;
};
static const struct option shown_rows[] = {
    {"FILE", "FILE", "a network, as pretrain wrote it", .kind = OPTION_FILE, .values = VALUES_FILE,
     INTO(struct shown, file)},
    {"measure", "N", "problems of each set held out, to measure on; default 0",
     .kind = OPTION_WHOLE, INTO(struct shown, measure), .most = 100000},
    {0},
};
static const struct option_set shown_options[] = {{.rows = shown_rows}, {0}};

static void print_recipe(const struct pipe_net *n)
{
    char gap[GAP_ROOM];
    uint32_t family = 0;

    while (family < ENVIRONMENT_FAMILY_COUNT && n->families != 1u << family)
        family++;
    if (n->flat.parameters)
        printf("observes %d figures, %d actions by %d-%d, %zu weights\n", FLAT_OBSERVATION,
               FLAT_ACTIONS, FLAT_WIDTH, FLAT_WIDTH, n->flat.net.parameters);
    else
        printf("scores %u features by %u-%u-1, %u weights\n", n->scorer.features, n->scorer.width,
               n->scorer.width, n->scorer.parameters);
    printf("recipe pretrain pp%s --environments %llu --seed %llu --set %s --family %s%s\n",
           n->flat.parameters ? " --recipe paper" : "", (unsigned long long)n->environments,
           (unsigned long long)n->seed,
           n->range < ENVIRONMENT_RANGES ? environment_range_names[n->range] : "?",
           families[family < ENVIRONMENT_FAMILY_COUNT ? family + 1 : 0],
           n->tuned ? " --finetune ANOTHER" : "");
    if (n->flat.parameters)
        printf("learns double Q-learning of 1/L, %d episodes a problem; last loss %.3f\n\n",
               FLAT_EPISODES, n->loss);
    else
        printf("learns cross-entropy against softmax(-gap / %g); last loss %.3f\n\n",
               n->temperature, n->loss);
    printf("%12s %8s  %s\n", "problems", "loss",
           n->flat.parameters ? "gap of its own plan" : "gap of its own decisions");
    for (uint32_t k = 0; k < n->points; k++)
        printf("%12llu %8.3f  %s\n", (unsigned long long)n->curve[k].environments, n->curve[k].loss,
               gap_text(n->curve[k].gap, gap));
}

static int run_show(int argc, char **argv)
{
    const struct option_parser parser = {"pretrain show", shown_options, NULL};
    struct shown r = {0};
    struct pipe_net net;
    struct err e;
    int rc = options_parse(&parser, &r, argc, argv);

    if (rc)
        return rc;
    if (!r.file)
        return options_complain("pretrain show", "FILE is needed");
    int code = pipe_net_load(&net, r.file);
    if (code) {
        rc = err_set(&e, ERR_INPUT, "%.200s: %s", r.file, rl_error_text(code));
    } else {
        print_recipe(&net);
        if (r.measure)
            printf("\n");
        rc = r.measure ? measure_net(&net, r.measure, &e) : 0;
        pipe_net_free(&net);
    }
    if (rc)
        err_print(&e, stderr);
    return rc ? exit_code_of(&e) : EXIT_OK;
}

static const struct command pretrain_show = {
    .name = "pretrain show",
    .usage = "FILE",
    .summary = "the recipe and the curve in a network's file, and what it reaches",
    .about =
        "The recipe that trained a network and how that went, as its file says; with --measure "
        "its gaps to the optimum on problems held out.",
    .options = shown_options,
    .run = run_show,
};

static const struct command *const parts[] = {&pretrain_pp, &pretrain_opp, &pretrain_show, NULL};

const struct command command_pretrain = {
    .name = "pretrain",
    .usage = "pp | opp | show",
    .summary = "train a network once, for models it has never seen",
    .about = "Trains a network on generated pipelines, or on models with random clusters.",
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
    .summary = "let the pretrained network cut a pipeline, and compare with the optimum",
    .about = "Prints the pipeline that the pretrained network proposes. This is automap search "
             "--kind pp --algo infer and takes its options. The exact optimum, which also takes "
             "milliseconds only, is shown beside it.",
    .run = run_infer,
};
