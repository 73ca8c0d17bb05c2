/* The network of all models: describing a decision leaves the game as it was, and says where three
 * players end; what it plays, when it leads and when it does not; training that gives the same bits
 * twice, and that learns; files that are damaged; options written field by field. */
#include "engine/ranks/ranks.h"
#include "engine/search/move_features.h"
#include "engine/search/optimum.h"
#include "engine/search/policy.h"
#include "engine/search/pretrain_moves.h"
#include "engine/search/search.h"
#include "example.h"
#include "shipped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct problem problem;

static int load(void **state)
{
    (void)state;
    load_example("t5-tiny", EXAMPLE_DEVICES, NULL, &problem);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    problem_release(&problem);
    return 0;
}

static void begin_of(const struct problem *p, struct game *g, const struct game_options *o)
{
    struct err e;

    if (game_new(p, o, g, &e))
        fail_msg("%s", e.what);
}

static void begin(struct game *g, const struct game_options *o)
{
    begin_of(&problem, g, o);
}

/* A game that is looked at before every decision, beside one that is not. */
static void play_looking(const struct game_options *o)
{
    struct game seen, blind;
    struct rl_rng rng;
    float rows[2 * MOVE_FEATURES];
    uint32_t described = 0;

    begin(&seen, o);
    begin(&blind, o);
    rl_rng_seed(&rng, 4, 0);
    for (int episode = 0; episode < 6; episode++) {
        game_reset(&seen);
        game_reset(&blind);
        while (!game_is_over(&blind)) {
            uint32_t legal = move_describe(&seen, rows);
            assert_int_equal(legal, game_legal(&blind));
            assert_int_equal(seen.position, blind.position);
            for (int k = 0; k < 2 * MOVE_FEATURES; k++)
                assert_true(fabsf(rows[k]) <= 8 && (legal == 3 || rows[k] == 0));
            described += legal == 3;
            bool split = legal == 3 ? rl_rng_below(&rng, 2) : legal == 2;
            assert_true(game_play(&seen, split) == game_play(&blind, split));
            assert_true(game_step_ms(&seen) == game_step_ms(&blind));
        }
        assert_true(seen.conflict == blind.conflict && seen.decisions == blind.decisions);
        assert_memory_equal(seen.state.on, blind.state.on,
                            problem.classes.count * sizeof *blind.state.on);
    }
    assert_true(described > 6);
    game_release(&seen);
    game_release(&blind);
}

static void test_looking_changes_nothing(void **state)
{
    (void)state;
    play_looking(&(struct game_options){.kind = GAME_ALL});
    play_looking(&(struct game_options){.kind = GAME_OPP, .no_folding = true});
    play_looking(&(struct game_options){.kind = GAME_ALL, .weak = true});
    play_looking(&(struct game_options){.kind = GAME_ALL, .memory_limit = 4e6});
}

/* The first rows of an action say what a person would: its gain, and the other's behind it. */
static void test_rows_mirror(void **state)
{
    (void)state;
    enum { OWN = 14, EFFECT = 8 };
    struct game g;
    float rows[2 * MOVE_FEATURES];
    begin(&g, &(struct game_options){.kind = GAME_ALL});
    while (!game_is_over(&g)) {
        uint32_t legal = move_describe(&g, rows);
        if (legal == 3) {
            const float *whole = rows, *split = rows + MOVE_FEATURES;
            assert_true(whole[0] == 0 && split[0] == 1);
            assert_memory_equal(whole + OWN, split + OWN + EFFECT, EFFECT * sizeof *whole);
            assert_memory_equal(split + OWN, whole + OWN + EFFECT, EFFECT * sizeof *whole);
            double before = game_score(&g);
            struct game_place here = game_here(&g);
            (void)game_play(&g, true);
            assert_true(fabs(game_score(&g) - before - (double)split[OWN]) < 1e-6);
            game_return(&g, &here);
        }
        (void)game_play(&g, legal != 1);
    }
    game_release(&g);
}

static double own_score(const struct game *g)
{
    return g->budget ? -log(game_step_ms(g)) : game_score(g);
}

/* What a plan is worth that a player ends with: all else whole (0), the better action at each
 * position (1), every allowed split (2). The best that it passed counts; within a memory limit
 * players choose by step time, and where they begin and end counts. */
static double end_of(struct game *g, int player)
{
    double best = game_score(g);

    while (player && !game_is_over(g)) {
        uint32_t legal = game_legal(g);
        double worth[2] = {-INFINITY, -INFINITY};
        for (int split = 0; split < 2; split++) {
            struct game_place here = game_here(g);
            if (!(legal >> split & 1))
                continue;
            (void)game_play(g, split);
            worth[split] = own_score(g);
            game_return(g, &here);
        }
        (void)game_play(g, player == 2 ? legal & 2 : worth[1] > worth[0]);
        if (!g->budget || game_is_over(g))
            best = fmax(best, game_score(g));
    }
    return best;
}

/* The rows say where each player ends behind either action, and how good the best of them is. */
static void check_ends(const struct problem *p, const struct game_options *o)
{
    enum { ENDS = 14 + 8 + 8 };
    struct game g;
    float rows[2 * MOVE_FEATURES];
    uint32_t told = 0;
    begin_of(p, &g, o);
    assert_true(g.move_count < MOVE_ROLLOUT_MOST);
    for (uint32_t looks = 0; !game_is_over(&g); looks++) {
        uint32_t legal = move_describe(&g, rows);
        double end[2][3], most = -INFINITY, own[2] = {-INFINITY, -INFINITY};
        struct game_place here = game_here(&g);
        for (int k = 0; k < 6 && legal == 3; k++) {
            (void)game_play(&g, k / 3);
            end[k / 3][k % 3] = end_of(&g, k % 3);
            own[k / 3] = fmax(own[k / 3], end[k / 3][k % 3]);
            most = fmax(most, end[k / 3][k % 3]);
            game_return(&g, &here);
        }
        for (int k = 0; k < 6 && legal == 3; k++) {
            const float *row = rows + (size_t)(k / 3) * MOVE_FEATURES + ENDS;
            double below = fmax(end[k / 3][k % 3] - most, -8);
            assert_true(fabs((double)row[2 * (k % 3)] - below) < 1e-5);
            assert_true(fabs((double)row[6] - fmax(own[k / 3] - most, -8)) < 1e-5);
            told += below < -0.01;
        }
        (void)game_play(&g, legal == 3 ? looks % 2 : legal == 2);
    }
    assert_true(told > 5);
    game_release(&g);
}

static void test_ends(void **state)
{
    (void)state;
    struct problem *p = mem_alloc(sizeof *p);
    check_ends(&problem, &(struct game_options){.kind = GAME_ALL});
    check_ends(&problem, &(struct game_options){.kind = GAME_ALL, .memory_limit = 4e6});
    load_shipped("t5-base6", "v100-1x4", p); /* where splitting pays, so greedy does it */
    check_ends(p, &(struct game_options){.kind = GAME_ALL});
    problem_release(p);
    free(p);
}

/* The optimum of a game splits what the game decides, within a memory limit too. */
static void test_optimum_decides(void **state)
{
    (void)state;
    struct problem *p = mem_alloc(sizeof *p);
    load_shipped("t5-base6", "v100-1x4", p);
    for (int limited = 0; limited < 2; limited++) {
        for (enum game_kind kind = GAME_OPP; kind <= GAME_ADP; kind++) {
            struct game_options o = {.kind = kind, .memory_limit = limited ? 1e9 : 0};
            struct optimum best;
            struct game g;
            struct err e;
            uint32_t split = 0;
            begin_of(p, &g, &o);
            assert_int_equal(optimum_find(p, &o, &g.state, NULL, &best, &e), 0);
            for (class_id k = 0; k < p->classes.count; k++) {
                assert_true(!best.on[k] || game_weight(&g, k) > 0);
                split += best.on[k] != 0;
            }
            assert_true(split > 0 && best.proven && best.fits == !limited);
            optimum_release(&best);
            game_release(&g);
        }
    }
    problem_release(p);
    free(p);
}

static void train(uint64_t rounds, struct policy *out)
{
    struct ranks alone = {.count = 1};
    struct pretrain_moves_options o = {.seed = 2, .rounds = rounds, .ranks = &alone};
    struct problem *school = &problem;
    struct err e;

    if (pretrain_moves(&school, 1, &o, NULL, NULL, out, &e))
        fail_msg("%s", e.what);
    unload(NULL);
    load(NULL); /* it was given other clusters */
}

static void test_training_and_file(void **state)
{
    (void)state;
    struct policy one, two, back;
    char path[] = "/tmp/automap-policy-XXXXXX";
    struct err e;
    train(96, &one);
    train(96, &two);
    assert_memory_equal(one.scorer.weight, two.scorer.weight,
                        one.scorer.parameters * sizeof(float));
    assert_true(one.points == 12 && one.curve[11].loss < one.curve[1].loss + 0.1);
    assert_true(one.curve[11].gap < one.curve[0].gap / 4); /* what it plays gets better */
    close(mkstemp(path));
    assert_int_equal(policy_save(&one, path, &e), 0);
    assert_int_equal(policy_load(&back, path), 0);
    assert_memory_equal(one.scorer.weight, back.scorer.weight,
                        one.scorer.parameters * sizeof(float));
    assert_true(back.rounds == 96 && back.points == one.points);
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    fseek(f, 300, SEEK_SET);
    fputs("xy", f);
    fclose(f);
    policy_free(&back);
    assert_int_equal(policy_load(&back, path), RL_E_FORMAT);
    remove(path);
    assert_int_equal(policy_load(&back, path), RL_E_IO);
    policy_free(&one);
    policy_free(&two);
}

struct stopper {
    uint64_t at;
    atomic_bool stop;
};

static void stop_at(void *self, const struct pretrain_moves_progress *p)
{
    struct stopper *s = self;

    if (p->round == s->at)
        atomic_store(&s->stop, true);
}

/* Stopped on its way, and after its last round, it goes on to the same network. */
static void test_stopped_and_resumed(void **state)
{
    (void)state;
    struct ranks alone = {.count = 1};
    struct problem *school = &problem;
    char path[] = "/tmp/automap-state-XXXXXX";
    struct pretrain_moves_options o = {.seed = 2, .rounds = 24, .ranks = &alone, .state = path};
    struct policy whole, net;
    struct err e;
    train(24, &whole);
    close(mkstemp(path));
    for (uint64_t at = 16; at <= 24; at += 8) {
        struct stopper s = {.at = at};
        o.stop = alone.stop = &s.stop;
        assert_int_equal(pretrain_moves(&school, 1, &o, stop_at, &s, &net, &e), ERR_INFEASIBLE);
        assert_non_null(strstr(e.what, path));
    }
    o.stop = alone.stop = NULL;
    assert_int_equal(pretrain_moves(&school, 1, &o, NULL, NULL, &net, &e), 0);
    assert_true(net.points == whole.points);
    assert_memory_equal(net.curve, whole.curve, whole.points * sizeof *whole.curve);
    assert_memory_equal(net.scorer.weight, whole.scorer.weight,
                        whole.scorer.parameters * sizeof(float));
    remove(path);
    policy_free(&net);
    policy_free(&whole);
    unload(NULL);
    load(NULL);
}

/* Episodes in which some decision was led, of the first `most`. */
static uint32_t led_episodes(const struct search_options *o, uint32_t most, double *best)
{
    struct search_event event;
    struct search *s;
    struct err e;
    uint32_t led = 0;
    bool any = false;

    assert_int_equal(search_new(&problem, o, &s, &e), 0);
    while (search_episodes(s) < most && search_step(s, &event)) {
        assert_true(!event.led || search_episodes(s) <= SEARCH_LED);
        any |= event.led;
        if (event.ended) {
            led += any;
            any = false;
        }
    }
    *best = search_best(s)->score;
    search_free(s);
    return led;
}

/* By its scores: the better action where it is cold, else drawn by the logistic of what it thinks
 * between them. The first episode is the way that was looked for, and looking leaves no trace. */
static void test_choice(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    struct search_options o = {
        .algorithm = SEARCH_DQN, .seed = 3, .game.kind = GAME_ALL, .continuous = true};
    struct search_event event;
    struct policy net;
    struct rl_rng rng;
    struct search *s;
    struct err e;
    float rows[2 * MOVE_FEATURES], score[2];
    train(8, &net); /* unsure yet: a draw is no choice */
    o.policy = &net.scorer;
    assert_int_equal(search_new(&problem, &o, &s, &e), 0);
    struct game *g = (struct game *)(uintptr_t)search_game(s);
    rl_rng_seed(&rng, 9, 9);
    search_ready(s);
    uint8_t *way = mem_alloc(g->move_count);
    uint32_t count = policy_way(&net.scorer, g, way), at = 0;
    assert_true(g->decisions == 0 && g->wave == g->pinned && g->position == 0);
    while (!search_episodes(s)) {
        bool wanted = policy_choose(&net.scorer, g, 0, &rng);
        uint32_t legal = move_describe(g, rows);
        if (legal == 3) {
            rl_scorer_score(&net.scorer, rows, 2, score);
            assert_int_equal(wanted, score[1] > score[0]);
            double heat = fabs((double)(score[1] - score[0])) + 0.1, split = 0;
            for (int n = 0; n < DRAWS; n++)
                split += policy_choose(&net.scorer, g, heat, &rng);
            double share = 1 / (1 + exp((double)(score[0] - score[1]) / heat));
            assert_true(fabs(split / DRAWS - share) < 4 * sqrt(0.25 / DRAWS));
        } else {
            assert_int_equal(wanted, legal == 2);
        }
        assert_true(search_step(s, &event));
        assert_true(event.led && at < count && event.split == way[at++]);
    }
    assert_true(at == count);
    free(way);
    search_free(s);
    policy_free(&net);
}

/* Where waves take too long to look ahead, it is the network's best way, decision by decision. */
static void test_cold_way(void **state)
{
    (void)state;
    struct search_options o = {
        .algorithm = SEARCH_DQN, .seed = 3, .game.weak = true, .continuous = true};
    struct search_event event;
    struct policy net;
    struct search *s;
    struct err e;
    uint32_t decisions = 0;
    assert_int_equal(policy_load(&net, AUTOMAP_SOURCE_DIR "/examples/networks/operators.net"), 0);
    o.policy = &net.scorer;
    assert_int_equal(search_new(&problem, &o, &s, &e), 0);
    struct game *g = (struct game *)(uintptr_t)search_game(s);
    search_ready(s);
    for (; !search_episodes(s); decisions++) {
        bool wanted = policy_choose(&net.scorer, g, 0, NULL);
        assert_true(search_step(s, &event));
        assert_true(event.led && event.split == wanted);
    }
    assert_true(decisions > 10);
    search_free(s);
    policy_free(&net);
}

/* What the first episode is worth. */
static double first_episode(const struct problem *p, const struct search_options *o,
                            const struct game_pin *pin)
{
    struct search_event event;
    struct search *s;
    struct err e;

    assert_int_equal(search_new(p, o, &s, &e), 0);
    if (pin) { /* in the middle of an episode, which begins again */
        assert_true(search_step(s, &event));
        assert_int_equal(search_set_pins(s, pin, 1, NULL, &e), 0);
    }
    do
        assert_true(search_step(s, &event));
    while (!event.ended);
    double score = event.score;
    search_free(s);
    return score;
}

/* A network that always leaves whole proposes greedy play's plan, which is better; one that knows
 * better keeps its own. */
static void test_never_below_greedy(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3, .continuous = true},
                          greedy = {.algorithm = SEARCH_GREEDY, .seed = 3};
    struct policy blind = {0}, net;
    struct problem *p = mem_alloc(sizeof *p);
    uint32_t better = 0;
    load_example("t5-base6", 8, NULL, p);
    train(8, &blind);
    memset(blind.scorer.weight, 0, blind.scorer.parameters * sizeof(float));
    assert_int_equal(policy_load(&net, AUTOMAP_SOURCE_DIR "/examples/networks/operators.net"), 0);
    for (int kind = GAME_OPP; kind <= GAME_ALL; kind += GAME_ALL - GAME_OPP) {
        struct game g;
        o.game.kind = greedy.game.kind = (enum game_kind)kind;
        o.policy = &blind.scorer;
        begin_of(p, &g, &o.game);
        struct game_pin pin = {g.pool[g.moves[0].classes], 0, true};
        double nothing = log(game_pinned_ms(&g) / game_step_ms(&g));
        double plain = first_episode(p, &greedy, NULL), pinned = first_episode(p, &greedy, &pin);
        assert_true(plain > nothing);
        assert_true(first_episode(p, &o, NULL) == plain);
        assert_true(first_episode(p, &o, &pin) == pinned);
        game_release(&g);
        o.policy = &net.scorer;
        better += first_episode(p, &o, NULL) > plain;
        assert_true(first_episode(p, &o, NULL) >= plain);
    }
    assert_int_equal(better, 2);
    policy_free(&blind);
    policy_free(&net);
    problem_release(p);
    free(p);
}

/* A person turns the first decision: from there on it is the network's best actions, one by one.
 * Later episodes are drawn, so that the same way is not gone again and again. */
static void test_other_ways(void **state)
{
    (void)state;
    struct search_options o = {
        .algorithm = SEARCH_DQN, .seed = 3, .game.kind = GAME_ALL, .continuous = true};
    struct problem *p = mem_alloc(sizeof *p);
    struct search_event event;
    struct policy net;
    struct search *s;
    struct err e;
    load_example("t5-base6", 8, NULL, p);
    assert_int_equal(policy_load(&net, AUTOMAP_SOURCE_DIR "/examples/networks/operators.net"), 0);
    o.policy = &net.scorer;
    assert_int_equal(search_new(p, &o, &s, &e), 0);
    struct game *g = (struct game *)(uintptr_t)search_game(s);
    search_ready(s);
    uint8_t *way = mem_alloc(g->move_count);
    uint32_t count = policy_way(&net.scorer, g, way), differs = 0;
    assert_true(search_force(s, !way[0], &event));
    while (!search_episodes(s)) {
        bool wanted = policy_choose(&net.scorer, g, 0, NULL);
        uint32_t position = g->position;
        assert_true(search_step(s, &event));
        assert_true(event.move == position && event.split == wanted);
    }
    search_free(s);
    assert_int_equal(search_new(p, &o, &s, &e), 0);
    for (uint32_t at = 0; search_episodes(s) < 6;) {
        assert_true(search_step(s, &event));
        differs += at >= count || event.split != way[at];
        assert_true(search_episodes(s) || !differs);
        at = event.ended ? 0 : at + 1;
    }
    assert_true(differs > 0);
    free(way);
    search_free(s);
    policy_free(&net);
    problem_release(p);
    free(p);
}

static void test_when_it_leads(void **state)
{
    (void)state;
    struct search_options o = {
        .algorithm = SEARCH_DQN, .seed = 3, .game.kind = GAME_ALL, .continuous = true};
    struct policy net;
    double best, again, alone;
    train(120, &net);
    assert_int_equal(led_episodes(&o, 60, &alone), 0); /* nobody to lead */
    o.policy = &net.scorer;
    assert_int_equal(led_episodes(&o, 80, &best), SEARCH_LED);
    led_episodes(&o, 80, &again);
    assert_true(best == again);
    led_episodes(&o, 1, &best);
    o.continuous = false;
    assert_int_equal(led_episodes(&o, 1, &alone), 0);
    assert_true(best >= alone); /* one episode of a trained one against one of a new one */
    o.continuous = true;
    o.game.reward = GAME_REWARD_PAPER;
    assert_int_equal(led_episodes(&o, 10, &best), 0);
    policy_free(&net);
}

/* Episodes of stage 2: led, all by the network's best actions; not led, with some explored. */
struct tuned {
    uint32_t led, explored, episodes;
};

static struct tuned tune(const struct search_options *o, uint32_t most)
{
    struct tuned t = {0};
    struct search_event event;
    struct search *s;
    struct err e;
    bool led = false, best = true, explored = false;

    assert_int_equal(search_new(&problem, o, &s, &e), 0);
    struct game *g = (struct game *)(uintptr_t)search_game(s);
    while (t.episodes < most && search_episodes(s) < 600) {
        search_ready(s);
        bool wanted = !game_is_over(g) && policy_choose(o->policy, g, 0, NULL);
        assert_true(search_step(s, &event));
        led |= event.led;
        best &= event.split == wanted;
        explored |= event.explored;
        if (!event.ended)
            continue;
        t.episodes += event.fine_tuning;
        t.led += event.fine_tuning && led;
        t.explored += event.fine_tuning && !led && explored;
        assert_true(!event.fine_tuning || !led || (best && !explored));
        led = explored = false;
        best = true;
    }
    search_free(s);
    return t;
}

/* Stage 2: it plays a group set back first, the DQN the same one after it; never by waves. */
static void test_leads_in_stage_2(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_DQN,
                               .seed = 3,
                               .game.kind = GAME_ALL,
                               .continuous = true,
                               .stable_episodes = 10,
                               .rl = *rl_preset("planner"),
                               .rl_set = true};
    struct policy net;

    train(40, &net);
    o.policy = &net.scorer;
    o.rl.epsilon_episodes = 10;
    struct tuned t = tune(&o, 120);
    assert_true(t.episodes == 120 && t.led > 20 && t.explored > 20);
    o.game.weak = true;
    t = tune(&o, 120);
    assert_true(t.episodes == 120 && !t.led && t.explored > 0);
    policy_free(&net);
}

static void test_options_by_field(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_GREEDY,
                               .game = {.memory_limit = 7, .kind = GAME_ADP, .weak = true},
                               .rl = *rl_preset("planner"),
                               .rl_set = true,
                               .seed = 12345678901u,
                               .stable_episodes = 9,
                               .anneal_steps = 11,
                               .continuous = true},
                          back = {0};
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    struct rl_bytes bytes;
    search_options_serialize(&measure, &o);
    assert_int_equal(rl_bytes_open(&bytes, measure.at, &w), 0);
    search_options_serialize(&w, &o);
    rl_bytes_seal(&bytes, 1);
    assert_int_equal(rl_bytes_check(bytes.data, bytes.size, 1, &w), 0);
    search_options_serialize(&w, &back);
    assert_true(!w.failed && w.at == w.size);
    assert_true(game_options_equal(&o.game, &back.game) && back.algorithm == o.algorithm);
    assert_true(back.rl_set && back.seed == o.seed && back.stable_episodes == 9);
    assert_true(back.anneal_steps == 11 && back.continuous && !back.policy);
    assert_true(back.rl.hidden[0] == o.rl.hidden[0] && back.rl.gamma == o.rl.gamma);
    rl_bytes_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looking_changes_nothing),
        cmocka_unit_test(test_rows_mirror),
        cmocka_unit_test(test_training_and_file),
        cmocka_unit_test(test_stopped_and_resumed),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_cold_way),
        cmocka_unit_test(test_never_below_greedy),
        cmocka_unit_test(test_other_ways),
        cmocka_unit_test(test_optimum_decides),
        cmocka_unit_test(test_when_it_leads),
        cmocka_unit_test(test_leads_in_stage_2),
        cmocka_unit_test(test_options_by_field),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
