/* automap bench policy: the network of all models beside a DQN from scratch, greedy and random, by
 * their gaps to the proven optimum after 1, 10 and 50 episodes. */
#include "engine/cost/step_tables.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/optimum.h"
#include "engine/search/policy.h"
#include "engine/search/pretrain_moves.h"
#include "engine/search/search.h"
#include "engine/search/search_ops.h"
#include "hlo/support/err.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/scorer.h"
#include "tui/commands/bench_models.h"
#include "tui/commands/commands.h"
#include "tui/files/policy_file.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/problem_args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNTS = 3, PLAYERS = 4, MOVES_LEAST = 2 };
static const uint64_t episodes[COUNTS] = {1, 10, 50};
static const struct {
    const char *name;
    enum search_algorithm algorithm;
    bool continuous;
} player[PLAYERS] = {
    {"network of all models", SEARCH_DQN, true},
    {"DQN from scratch", SEARCH_DQN, false},
    {"greedy", SEARCH_GREEDY, false},
    {"random", SEARCH_RANDOM, false},
};

struct sum {
    double gap[PLAYERS][COUNTS];
    uint32_t optimal[PLAYERS]; /* after the last count */
    uint32_t problems;
};

struct request {
    struct text_list models;
    const char *net;
    uint64_t seed;
    uint32_t clusters;
    bool no_folding;
};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"MODEL", .values = VALUES_MODEL, .kind = OPTION_LIST, ARG(models)},
    {"net", "FILE", "the network; default the shipped one", .kind = OPTION_FILE,
     .values = VALUES_FILE, ARG(net)},
    {"clusters", "N", "drawn for every model; default 4", .kind = OPTION_WHOLE, ARG(clusters),
     .least = 1, .most = 1000},
    {"seed", "S", "of clusters and players; default 1", .kind = OPTION_WHOLE, ARG(seed),
     .most = 1e15},
    {"no-folding", NULL, "every copy of a repeated layer is decided apart", ARG(no_folding)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

/* Gaps of one player at the counts; the baseline is a plan of everybody. */
static int play_policy(const struct problem *p, const struct search_options *o, double optimum_ms,
                       double gap[COUNTS], struct err *e)
{
    struct search_event event;
    struct search *s;
    int rc = search_new(p, o, &s, e);

    for (int k = 0; k < COUNTS && !rc; k++) {
        while (search_episodes(s) < episodes[k] && search_step(s, &event)) {
        }
        gap[k] = search_best(s)->cost.step_ms / optimum_ms - 1;
    }
    if (!rc)
        search_free(s);
    return rc;
}

static int measure_one(const struct problem *p, const struct request *r,
                       const struct rl_scorer *net, enum game_kind kind, struct sum *sum,
                       struct err *e)
{
    struct search_options o = {
        .game = {.kind = kind, .no_folding = r->no_folding}, .seed = r->seed, .policy = net};
    struct optimum best;
    struct game g;
    double gap[PLAYERS][COUNTS] = {{0}};
    int rc = game_new(p, &o.game, &g, e);

    if (rc)
        return rc;
    bool wanted =
        g.move_count >= MOVES_LEAST && !optimum_find(p, &o.game, &g.state, NULL, &best, e);
    double ms = wanted ? step_tables_cost(&p->step_tables, best.on).step_ms : 0;
    bool proven = wanted && best.proven;
    if (wanted)
        optimum_release(&best);
    double baseline = game_step_ms(&g);
    game_release(&g);
    if (!proven || ms > baseline * (1 - 1e-9)) /* doing nothing is best: nothing to find */
        return 0;
    for (int k = 0; k < PLAYERS && !rc; k++) {
        o.algorithm = player[k].algorithm;
        o.continuous = player[k].continuous;
        rc = play_policy(p, &o, ms, gap[k], e);
    }
    sum->problems++;
    for (int k = 0; k < PLAYERS; k++) {
        sum->optimal[k] += gap[k][COUNTS - 1] < 1e-6;
        for (int n = 0; n < COUNTS; n++)
            sum->gap[k][n] += gap[k][n];
    }
    return rc;
}

static void print_sum(const char *name, const struct sum *s)
{
    if (!s->problems)
        return;
    for (int k = 0; k < PLAYERS; k++) {
        printf("%-24.24s %3u  %-22s", k ? "" : name, s->problems, player[k].name);
        for (int n = 0; n < COUNTS; n++)
            printf(" %8.2f", 100 * s->gap[k][n] / s->problems);
        printf("   %u\n", s->optimal[k]);
    }
    fflush(stdout);
}

static int measure_model(const char *name, const char *path, const struct request *r,
                         const struct rl_scorer *net, struct sum *all, struct err *e)
{
    struct problem_args args = {.model = path};
    struct problem p;
    struct sum sum = {0};
    int rc = problem_args_read(&args, &p, e);

    if (rc)
        return rc;
    for (uint32_t c = 0; c < r->clusters && !rc; c++) {
        struct rl_rng rng;
        rl_rng_seed(&rng, r->seed, ((uint64_t)1 << 60) + c);
        rc = pretrain_moves_draw(&p, &rng, e);
        for (enum game_kind kind = GAME_OPP; kind <= GAME_ALL && !rc; kind++)
            rc = kind == GAME_ADP ? 0 : measure_one(&p, r, net, kind, &sum, e);
    }
    problem_release(&p);
    print_sum(name, &sum);
    all->problems += sum.problems;
    for (int k = 0; k < PLAYERS; k++) {
        all->optimal[k] += sum.optimal[k];
        for (int n = 0; n < COUNTS; n++)
            all->gap[k][n] += sum.gap[k][n];
    }
    return rc;
}

static int run_policy(int argc, char **argv)
{
    const struct option_parser parser = {"bench policy", options, NULL};
    struct request r = {.seed = 1, .clusters = 4};
    struct bench_models models;
    struct policy given = {0};
    struct sum all = {0};
    struct err e;
    int code = options_parse(&parser, &r, argc, argv), loaded;

    if (code == EXIT_OK)
        code = bench_models_find(&models, "bench policy", &r.models);
    if (code == EXIT_OK && r.net && (loaded = policy_load(&given, r.net))) {
        (void)err_set(&e, ERR_INPUT, "%.200s: %s", r.net, rl_error_text(loaded));
        err_print(&e, stderr);
        code = EXIT_INPUT;
    }
    const struct rl_scorer *net = r.net ? &given.scorer : policy_shipped();
    if (code == EXIT_OK)
        printf("mean gap to the proven optimum in %% after 1, 10, 50 episodes; at the optimum "
               "after 50\n\n");
    for (int k = 0; k < models.count && code == EXIT_OK; k++) {
        if (measure_model(models.name[k], models.path[k], &r, net, &all, &e)) {
            err_print(&e, stderr);
            code = exit_code_of(&e);
        }
    }
    if (code == EXIT_OK)
        print_sum("all", &all);
    policy_free(&given);
    text_list_release(&r.models);
    return code;
}

const struct command bench_policy = {
    .name = "bench policy",
    .usage = "[MODEL ...]",
    .summary = "the network for all models against learners that start from scratch",
    .about = "Plays the models on clusters that are drawn, and prints the mean gaps to the proven "
             "optimum after 1, 10 and 50 episodes. Games in which doing nothing is best are left "
             "out.",
    .options = options,
    .run = run_policy,
};
