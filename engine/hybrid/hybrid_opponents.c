/* What the DQN is held against in the same game: random and greedy. */
#include "engine/hybrid/hybrid_game.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/hybrid/hybrid_search_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/rng.h"

#include <math.h>

static const char MEMORY_FOR[] = "for the search";

/* ---- random ---- */

static void random_step(struct hybrid_search *s)
{
    struct hybrid_game *g = &s->game;

    if (hybrid_search_is_decided(s))
        return;
    hybrid_game_new(s->space, g);
    while (!hybrid_game_is_over(g))
        hybrid_game_play(g, hybrid_search_pick(s, hybrid_game_legal(g)));
    hybrid_search_played(s, g);
}

const struct hybrid_search_ops hybrid_ops_random = {.step = random_step};

/* ---- greedy ---- */

struct greedy {
    uint64_t open; /* actions to try at this decision */
    uint32_t best;
    double best_ms;
};

static void greedy_decide(struct hybrid_search *s, struct greedy *g)
{
    g->open = hybrid_game_is_over(&s->game) ? 0 : hybrid_game_legal(&s->game);
    g->best_ms = INFINITY;
    g->best = g->open ? (uint32_t)__builtin_ctzll(g->open) : 0;
}

static int greedy_start(struct hybrid_search *s, struct err *e)
{
    s->self = mem_try(1, sizeof(struct greedy));
    if (!s->self)
        return err_no_memory(e, MEMORY_FOR);
    greedy_decide(s, s->self);
    return 0;
}

static void greedy_stop(struct hybrid_search *s)
{
    free(s->self);
}

/* One to eight random decisions, then the best ones. */
static void greedy_restart(struct hybrid_search *s)
{
    enum { BEGINNING_MOST = 8 };
    uint32_t count = 1 + rl_rng_below(&s->rng, BEGINNING_MOST);

    hybrid_game_new(s->space, &s->game);
    for (uint32_t n = 0; n < count && !hybrid_game_is_over(&s->game); n++)
        hybrid_game_play(&s->game, hybrid_search_pick(s, hybrid_game_legal(&s->game)));
}

static void greedy_step(struct hybrid_search *s)
{
    struct greedy *g = s->self;

    if (hybrid_search_is_decided(s))
        return;
    while (!g->open) {
        greedy_restart(s);
        greedy_decide(s, g);
        if (hybrid_game_is_over(&s->game)) {
            hybrid_search_played(s, &s->game);
            return;
        }
    }
    struct hybrid_game tried = s->game;
    uint32_t action = (uint32_t)__builtin_ctzll(g->open);
    g->open &= g->open - 1;
    hybrid_game_play(&tried, action);
    hybrid_game_complete(&tried);
    hybrid_search_played(s, &tried);
    if (tried.step_ms < g->best_ms) {
        g->best_ms = tried.step_ms;
        g->best = action;
    }
    if (!g->open) {
        hybrid_game_play(&s->game, g->best);
        greedy_decide(s, g);
    }
}

const struct hybrid_search_ops hybrid_ops_greedy = {
    .start = greedy_start, .stop = greedy_stop, .step = greedy_step};
