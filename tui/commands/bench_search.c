/* automap bench search: how fast the game is played, apart from learning and with it. */
#include "engine/cost/step_tables.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/move_features.h"
#include "engine/search/search.h"
#include "engine/search/search_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/sort.h"
#include "rl/rng.h"
#include "tui/commands/bench.h"
#include "tui/commands/bench_models.h"
#include "tui/commands/commands.h"
#include "tui/options/exit_code.h"
#include "tui/options/problem_args.h"

#include <stdio.h>
#include <string.h>

#define SECONDS_EACH 0.5

struct rates {
    double propagation_us;                /* median of decide + propagate + price + undo */
    double decisions_per_s;               /* of random play */
    double evaluations_per_s;             /* whole plans priced from nothing */
    double looking_ms;                    /* one episode, each decision described */
    double episodes_per_s, updates_per_s; /* of the DQN, learning */
};

/* Every move tried from the start, both ways, taken back. */
static double time_propagation(struct game *g)
{
    enum { SAMPLES = 512 };
    double sample[SAMPLES];
    uint32_t count = 0;

    if (!g->move_count)
        return 0;
    game_reset(g);
    while (count < SAMPLES) {
        struct game_place here = game_here(g);
        uint32_t repeat = 64;
        uint32_t legal = game_legal(g);
        double start = bench_now();
        for (uint32_t n = 0; n < repeat; n++) {
            game_play(g, legal & 2 ? n & 1 || !(legal & 1) : false);
            game_return(g, &here);
        }
        sample[count++] = (bench_now() - start) / repeat * 1e6;
        game_play(g, legal & 1 ? false : true);
        if (game_is_over(g))
            game_reset(g);
    }
    sort_doubles(sample, count);
    return sample[count / 2];
}

static double time_decisions(struct game *g)
{
    struct rl_rng rng;
    uint64_t count = 0;
    double start = bench_now(), seconds;

    rl_rng_seed(&rng, 1, 0);
    do {
        game_reset(g);
        for (; !game_is_over(g); count++) {
            uint32_t legal = game_legal(g);
            game_play(g, legal == 3 ? rl_rng_below(&rng, 2) : legal == 2);
        }
        seconds = bench_now() - start;
    } while (seconds < SECONDS_EACH && g->move_count);
    return (double)count / seconds;
}

static double time_evaluations(const struct game *g)
{
    struct step_cost cost;
    uint64_t count = 0;
    double start = bench_now(), seconds, sum = 0;

    do {
        for (int n = 0; n < 16; n++, count++)
            sum += game_score_of(g, g->state.on, &cost);
        seconds = bench_now() - start;
    } while (seconds < SECONDS_EACH);
    return sum == sum ? (double)count / seconds : 0; /* the sum is looked at, so it is computed */
}

/* An episode as the network of all models looks at it, everything left whole that may be. */
static double time_looking(struct game *g)
{
    float rows[2 * MOVE_FEATURES];
    uint32_t episodes = 0;
    double start = bench_now(), seconds;

    do {
        game_reset(g);
        while (!game_is_over(g))
            (void)game_play(g, !(move_describe(g, rows) & 1));
        episodes++;
        seconds = bench_now() - start;
    } while (seconds < SECONDS_EACH && g->move_count);
    return 1e3 * seconds / episodes;
}

static int time_learning(const struct problem *p, const struct game_options *o, struct rates *r,
                         struct err *e)
{
    struct search_options options = {.algorithm = SEARCH_DQN, .game = *o, .seed = 1};
    struct search_event event;
    struct search *s;
    uint64_t updates = 0;
    int rc = search_new(p, &options, &s, e);

    if (rc)
        return rc;
    double start = bench_now(), seconds;
    do {
        for (int n = 0; n < 16 && search_step(s, &event); n++)
            updates += event.updates > 0 ? (uint64_t)event.updates : 0;
        seconds = bench_now() - start;
    } while (seconds < 2 * SECONDS_EACH && !search_is_done(s));
    r->episodes_per_s = (double)search_episodes(s) / seconds;
    r->updates_per_s = (double)updates / seconds;
    search_free(s);
    return 0;
}

static int measure_search(const struct problem *p, const char *name, const struct game_options *o,
                          struct err *e)
{
    struct rates r = {0};
    struct game g;
    int rc = game_new(p, o, &g, e);

    if (rc)
        return rc;
    r.propagation_us = time_propagation(&g);
    r.decisions_per_s = time_decisions(&g);
    r.evaluations_per_s = time_evaluations(&g);
    r.looking_ms = time_looking(&g);
    uint32_t moves = g.move_count;
    game_release(&g);
    rc = time_learning(p, o, &r, e);
    if (rc)
        return rc;
    printf("  %-10s %6u %8u %12.2f %14.0f %14.0f %12.3g %12.0f %10.0f\n", name, moves,
           p->classes.count, r.propagation_us, r.decisions_per_s, r.evaluations_per_s, r.looking_ms,
           r.episodes_per_s, r.updates_per_s);
    return rc;
}

static int measure_games(const struct problem *p, struct err *e)
{
    static const struct {
        const char *name;
        struct game_options game;
    } games[] = {{"folded", {.kind = GAME_ALL}},
                 {"", {.kind = GAME_ALL, .no_folding = true}},
                 {"weak", {.kind = GAME_ALL, .weak = true}}};

    for (size_t n = 0; n < sizeof games / sizeof *games; n++) {
        int rc = measure_search(p, games[n].name, &games[n].game, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int run_search(int argc, char **argv)
{
    struct problem_args args = {.devices = 8};
    struct problem *p = mem_alloc(sizeof *p);
    struct bench_models *models = mem_alloc(sizeof *models);
    struct err e;
    int code = bench_models_read(models, "bench search", argc, argv);

    if (code == EXIT_OK)
        printf("%-12s %6s %8s %12s %14s %14s %12s %12s %10s\n", "", "moves", "classes", "try, us",
               "decisions/s", "plans/s", "looking, ms", "episodes/s", "updates/s");
    for (int n = 0; n < models->count && code == EXIT_OK; n++) {
        args.model = models->path[n];
        code = problem_args_load(&args, p);
        if (code != EXIT_OK)
            break;
        printf("%s\n", models->name[n]);
        if (measure_games(p, &e)) {
            err_print(&e, stderr);
            code = EXIT_INPUT;
        }
        problem_release(p);
    }
    if (code == EXIT_OK)
        puts("\ntargets: try <= 10 us; >= 50 episodes/s on t5-11b, >= 200 on t5-base6");
    free(models);
    free(p);
    return code;
}

const struct command bench_search = {
    .name = "bench search",
    .usage = "[MODEL ...]",
    .summary = "decisions, propagations, priced plans and learning episodes a second on 8 devices",
    .about = "Measures decisions, propagations, priced plans and learning episodes a second on 8 "
             "devices.",
    .options = bench_model_options,
    .run = run_search,
};
