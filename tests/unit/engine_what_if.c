/* States kept for splits out of turn (what_if.h) against trying each split on the game itself and
 * taking it back: the same gains to the last bit, the same conflicts, and less work. */
#include "engine/search/what_if.h"

#include "engine/search/game.h"
#include "example.h"
#include "rl/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

struct tally {
    uint32_t gains, conflicts;
    uint64_t settled; /* by trying */
};

static double by_trying(struct game *g, uint32_t move, struct tally *t)
{
    struct game_place here = game_here(g);
    double pinned = game_pinned_ms(g), before = log(pinned / game_step_ms(g));

    g->position = move;
    (void)game_play(g, true);
    double gain = g->conflict ? -INFINITY : log(pinned / game_step_ms(g)) - before;
    t->settled += weak_mark(&g->weak) - here.weak_mark;
    t->conflicts += g->conflict;
    t->gains += !g->conflict;
    game_return(g, &here);
    return gain;
}

/* Asks about `count` open moves, `stride` apart. */
static void ask(struct game *g, uint32_t count, uint32_t stride, struct tally *t)
{
    for (uint32_t n = 0, move = g->position; n < count; n++, move += stride) {
        uint32_t asked = move % g->move_count;
        if (game_status(g, asked) >= 0)
            continue;
        size_t mark = weak_mark(&g->weak);
        double step = game_step_ms(g), gain = what_if_split(g, asked);
        assert_true(weak_mark(&g->weak) == mark && game_step_ms(g) == step);
        double tried = by_trying(g, asked, t);
        if (gain != tried)
            fail_msg("move %d at %d: %.17g, tried %.17g", (int)asked, (int)g->position, gain,
                     tried);
    }
}

/* Episodes of random decisions, as a player makes them that looks before it goes on. */
static void play(struct game *g, uint32_t episodes, uint32_t asked, uint32_t stride, uint64_t seed,
                 struct tally *t)
{
    struct rl_rng rng;

    rl_rng_seed(&rng, seed, 0);
    for (uint32_t n = 0; n < episodes; n++) {
        game_reset(g);
        while (!game_is_over(g)) {
            struct game_place here = game_here(g);
            ask(g, asked, stride, t);
            for (int split = 0; split < 2; split++) {
                (void)game_play(g, split);
                if (!g->conflict)
                    ask(g, asked, stride, t);
                game_return(g, &here);
            }
            (void)game_play(g, !rl_rng_below(&rng, 12));
        }
    }
}

static void open_game(const char *model, const struct game_options *o, struct problem *p,
                      struct game *g)
{
    struct err e;

    load_example(model, 8, NULL, p);
    if (game_new(p, o, g, &e))
        fail_msg("%s", e.what);
}

static void close_game(struct problem *p, struct game *g)
{
    game_release(g);
    problem_release(p);
    free(p);
}

/* Of both kinds, and of more moves than states are kept. */
static void test_as_by_trying(void **state)
{
    static const struct {
        const char *model;
        enum game_kind kind;
        uint32_t episodes, asked, stride;
    } rows[] = {
        {"t5-tiny", GAME_ALL, 2, WHAT_IF_MOST + 9, 5},
        {"moe", GAME_ALL, 6, 8, 3},
        {"decoder-scan", GAME_OPP, 6, 8, 1},
        {"resnet20", GAME_OPP, 1, 6, 7},
        {"t5-base6", GAME_ALL, 1, 3, 17},
    };
    struct tally t = {0};

    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct problem *p = mem_alloc(sizeof *p);
        struct game g;
        open_game(rows[n].model, &(struct game_options){.kind = rows[n].kind, .weak = true}, p, &g);
        play(&g, rows[n].episodes, rows[n].asked, rows[n].stride, n + 1, &t);
        close_game(p, &g);
    }
    print_message("%d gains, %d conflicts\n", (int)t.gains, (int)t.conflicts);
    assert_true(t.gains > 500 && t.conflicts > 1000);
}

/* A state too many takes the place of the one asked about longest ago; the others stay. */
static void test_oldest_goes(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct game g;
    uint32_t move[WHAT_IF_MOST + 1], count = 0;

    (void)state;
    open_game("t5-tiny", &(struct game_options){.kind = GAME_ALL, .weak = true}, p, &g);
    game_reset(&g);
    for (uint32_t n = 0; n < g.move_count && count <= WHAT_IF_MOST; n++) {
        if (game_status(&g, n) < 0)
            move[count++] = n;
    }
    assert_int_equal(count, WHAT_IF_MOST + 1);
    for (uint32_t n = 0; n < count; n++)
        (void)what_if_split(&g, move[n]);
    uint64_t settled = what_if_settled(&g);
    for (uint32_t n = 1; n < count; n++)
        (void)what_if_split(&g, move[n]);
    assert_true(what_if_settled(&g) == settled);
    (void)what_if_split(&g, move[0]);
    assert_true(what_if_settled(&g) > settled);
    close_game(p, &g);
}

static uint32_t any_open(const struct game *g, struct rl_rng *rng)
{
    uint32_t from = rl_rng_below(rng, g->move_count);

    for (uint32_t n = 0; n < g->move_count; n++) {
        if (game_status(g, (from + n) % g->move_count) < 0)
            return (from + n) % g->move_count;
    }
    return g->move_count;
}

/* Moves in any order, taken back to any place: what was decided after it is not in the answers. */
static void test_any_order(void **state)
{
    enum { DEEP = 24 };
    struct problem *p = mem_alloc(sizeof *p);
    struct game_place place[DEEP];
    struct game g;
    struct rl_rng rng;
    struct tally t = {0};
    uint32_t depth = 0;

    (void)state;
    open_game("t5-tiny", &(struct game_options){.kind = GAME_ALL, .weak = true}, p, &g);
    rl_rng_seed(&rng, 8, 0);
    for (int n = 0; n < 600; n++) {
        g.position = any_open(&g, &rng);
        if (g.position == g.move_count || depth == DEEP) {
            depth = rl_rng_below(&rng, depth);
            game_return(&g, &place[depth]);
            continue;
        }
        place[depth++] = game_here(&g);
        (void)game_play(&g, !rl_rng_below(&rng, 16));
        if (g.conflict)
            game_return(&g, &place[--depth]);
        else
            ask(&g, 5, 1 + rl_rng_below(&rng, g.move_count - 1), &t);
    }
    print_message("%d gains, %d conflicts\n", (int)t.gains, (int)t.conflicts);
    assert_true(t.gains > 200 && t.conflicts > 200);
    close_game(p, &g);
}

/* Pins and openings begin an episode elsewhere; what was kept follows them there and back. */
static void test_pins_and_openings(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct game g;
    struct err e;
    struct tally t = {0};

    (void)state;
    open_game("t5-tiny", &(struct game_options){.kind = GAME_ALL, .weak = true}, p, &g);
    play(&g, 1, 6, 3, 1, &t);
    label *on = mem_alloc(p->classes.count * sizeof *on);
    memcpy(on, g.state.on, p->classes.count * sizeof *on);
    for (uint32_t move = 0; move < g.move_count; move += 9) {
        struct game_pin pin = {.class = g.pool[g.moves[move].classes], .split = true};
        bool holds = !game_set_pins(&g, &pin, 1, NULL, &e);
        ask(&g, 4, 11, &t);
        game_reset_from(&g, &(struct game_opening){on, {move}, 1, .turn = true});
        if (!g.conflict)
            ask(&g, 4, 11, &t);
        if (holds)
            assert_int_equal(game_set_pins(&g, NULL, 0, NULL, &e), 0);
        ask(&g, 4, 11, &t);
    }
    print_message("%d gains, %d conflicts\n", (int)t.gains, (int)t.conflicts);
    assert_true(t.gains > 50);
    free(on);
    close_game(p, &g);
}

/* An episode that leaves all whole and asks about eight moves at each decision: trying settles half
 * of the model each time, the kept states what is new, a hundredth. */
static void test_work(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct game g;
    struct tally t = {0};

    (void)state;
    open_game("t5-base6", &(struct game_options){.weak = true}, p, &g);
    while (!game_is_over(&g)) {
        for (uint32_t n = 0, left = 8; n < g.move_count && left; n += 30) {
            if (game_status(&g, n) >= 0)
                continue;
            assert_true(what_if_split(&g, n) == by_trying(&g, n, &t));
            left--;
        }
        (void)game_play(&g, false);
    }
    print_message("%llu settled, by trying %llu\n", (unsigned long long)what_if_settled(&g),
                  (unsigned long long)t.settled);
    assert_true(what_if_settled(&g) > 0);
    assert_true(what_if_settled(&g) * 20 < t.settled);
    close_game(p, &g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_by_trying), cmocka_unit_test(test_oldest_goes),
        cmocka_unit_test(test_any_order),    cmocka_unit_test(test_pins_and_openings),
        cmocka_unit_test(test_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
