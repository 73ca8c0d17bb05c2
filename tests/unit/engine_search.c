/* The DQN at the game: what it observes and stores, when stage 2 begins, how its episodes begin and
 * when it ends, what a person's hand does to the replay. Every stored decision is held against the
 * game, played by hand. */
#include "engine/live/search_state.h"
#include "engine/search/budget.h"
#include "engine/search/optimum.h"
#include "engine/search/policy.h"
#include "engine/search/search.h"
#include "example.h"
#include "shipped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

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

static struct search *begin(const struct search_options *o)
{
    struct search *s;
    struct err e;

    if (search_new(&problem, o, &s, &e))
        fail_msg("%s", e.what);
    return s;
}

static struct search_options paper(void)
{
    return (struct search_options){
        .algorithm = SEARCH_DQN, .seed = 5, .game.reward = GAME_REWARD_PAPER};
}

static void step(struct search *s, struct search_event *event)
{
    assert_true(search_step(s, event));
    assert_true(event->updates >= 0);
}

/* One class of a folded move of several is pinned whole: the move may only stay. */
static struct game_pin half_of_a_move(const struct game *g)
{
    for (uint32_t n = 0; n < g->move_count; n++) {
        if (g->moves[n].class_count > 1)
            return (struct game_pin){g->pool[g->moves[n].classes], (uint8_t)g->moves[n].axis,
                                     false};
    }
    fail_msg("no folded move");
    return (struct game_pin){0};
}

/* The position is seen, and every status; the last figure is ln(baseline / step). */
static void test_observation(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_RANDOM, .seed = 1};
    struct search *s = begin(&o);
    struct game *g = (struct game *)(uintptr_t)search_game(s);
    uint32_t size = game_observation_size(g), moves = g->move_count, looks = 0;
    float *seen = calloc(size, sizeof *seen);

    game_reset(g);
    double baseline = game_step_ms(g);
    for (; !game_is_over(g); looks++) {
        game_observe(g, seen);
        for (uint32_t n = 0; n < moves; n++) {
            assert_true(seen[n] == (game_status(g, n) == 1));
            assert_true(seen[moves + n] == (game_status(g, n) == 0));
            assert_true(seen[2 * moves + n] == (n == g->position));
        }
        assert_true(fabs((double)seen[3 * moves] - log(baseline / game_step_ms(g))) < 1e-6);
        game_play(g, looks % 2 == 1 && (game_legal(g) & 2));
    }
    assert_true(looks > 3);
    free(seen);
    search_free(s);
}

/* The share of settled dims: pinned ones from the start, never less after a decision, all at the
 * end; by the weight that the paper's reward gives them, which counts the same dims. */
static void test_progress(void **state)
{
    (void)state;
    for (int weak = 0; weak < 2; weak++) {
        struct search_options o = {.algorithm = SEARCH_RANDOM, .seed = 1, .game.weak = weak == 1};
        struct search *s = begin(&o);
        struct game *g = (struct game *)(uintptr_t)search_game(s);
        double settled = 0, all = 0, last = 0;
        game_reset(g);
        assert_true(game_progress(g) == 0);
        for (uint32_t n = 0; n < g->move_count; n++)
            all += g->moves[n].var_dims;
        while (!game_is_over(g)) {
            assert_true(game_progress(g) >= last && game_progress(g) < 1);
            last = game_progress(g);
            settled = 0;
            for (uint32_t n = 0; n < g->move_count; n++)
                settled += game_status(g, n) >= 0 ? g->moves[n].var_dims : 0;
            assert_true(fabs(last - settled / all) < 1e-12);
            game_play(g, false);
        }
        assert_true(game_progress(g) == 1);
        search_free(s);
    }
}

/* Every decision is stored as it was: where, what was legal there and behind it, what it earned,
 * whether it was the last. */
static void test_stored_decisions(void **state)
{
    (void)state;
    struct search_options o = paper();
    struct search *s = begin(&o);
    const struct game *g = search_game(s);
    struct game_pin pin = half_of_a_move(g);
    struct strict_clash clash;
    struct search_event event;
    struct err e;
    uint32_t size = game_observation_size(g), ends = 0, bound = 0;
    float *seen = calloc(size, sizeof *seen);

    assert_int_equal(search_set_pins(s, &pin, 1, &clash, &e), 0);
    const struct rl_replay *r = rl_agent_replay(search_agent(s));
    for (uint32_t n = 0; n < 300; n++) {
        if (game_is_over(g)) {
            step(s, &event);
            continue;
        }
        game_observe(g, seen);
        uint64_t legal = game_legal(g);
        double before = g->total_reward;
        step(s, &event);
        uint32_t slot = rl_replay_slot(r, r->count - 1);
        assert_memory_equal(r->observation + (size_t)slot * size, seen, size * sizeof *seen);
        assert_int_equal(r->legal[slot], legal);
        assert_int_equal(r->action[slot], event.split);
        assert_true(r->reward[slot] == (float)(g->total_reward - before));
        assert_int_equal(r->end[slot], game_is_over(g) ? RL_TERMINATED : RL_GOES_ON);
        assert_int_equal(event.ended, game_is_over(g));
        ends += event.ended;
        if (!event.ended) {
            assert_int_equal(r->next_legal[slot], game_legal(g));
            bound += game_legal(g) != 3;
        }
        game_observe(g, seen);
        assert_memory_equal(r->next + (size_t)slot * size, seen, size * sizeof *seen);
    }
    assert_true(ends > 10 && bound > 0);
    free(seen);
    search_free(s);
}

/* The preset "paper" is section 5.1 of Auto-MAP: -1, 0 or 1 for each dim and the position as an
 * integer; double and prioritized replay, no dueling, one step; dims one by one, and conflicts. */
static void test_paper_preset(void **state)
{
    (void)state;
    for (enum game_kind kind = GAME_OPP; kind <= GAME_ADP; kind++) {
        struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3, .continuous = true};
        search_options_preset(&o, true);
        o.game.kind = kind;
        assert_false(search_is_continuous(&o));
        struct search *s = begin(&o);
        const struct game *g = search_game(s);
        const struct rl_settings *rl = rl_agent_settings(search_agent(s));
        const struct rl_settings *paper = rl_preset(kind == GAME_ADP ? "paper-adp" : "paper-opp");
        assert_memory_equal(rl, paper, sizeof *rl);
        assert_true(g->options.weak && g->options.reward == GAME_REWARD_PAPER);
        assert_true(g->options.paper_candidates);
        uint32_t moves = g->move_count, size = game_observation_size(g), position, clashes = 0;
        assert_int_equal(size, moves + 1);
        float *seen = calloc(size, sizeof *seen);
        int8_t *status = calloc(moves, 1);
        struct search_event event;
        for (uint32_t n = 0; n < 400; n++) {
            game_observe(g, seen);
            game_observed(g, seen, status, &position);
            assert_true(seen[moves] == (float)g->position && position == g->position);
            for (uint32_t m = 0; m < moves; m++)
                assert_true(seen[m] == (float)game_status(g, m) && status[m] == game_status(g, m));
            step(s, &event);
            clashes += event.conflict;
            assert_true(!event.conflict || event.reward == -1);
        }
        assert_true(clashes > 0);
        free(seen);
        free(status);
        search_free(s);
        search_options_preset(&o, false);
        assert_memory_equal(search_preset(&o), rl_preset("planner"), sizeof *rl);
        o.game.reward = GAME_REWARD_PAPER;
        assert_memory_equal(search_preset(&o),
                            rl_preset(kind == GAME_ADP ? "rainbow-adp" : "rainbow-opp"),
                            sizeof *rl);
    }
}

/* ADP of the paper decides each dim of each input that is large enough, batch or not; with full
 * propagation classes are decided, and there are no such candidates. */
static void test_paper_candidates(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3};
    uint32_t dims = 0;
    struct search *s;
    struct err e;

    for (uint32_t k = 0; k < problem.roles.param_count; k++) {
        const struct hlo_param_role *r = &problem.roles.params[k];
        const struct hlo_shape *shape = hlo_value_shape(problem.m, r->value);
        for (uint32_t d = 0; r->role == HLO_ROLE_INPUT && d < (uint32_t)shape->rank; d++)
            dims += shape->dims[d] >= problem.mesh.devices;
    }
    search_options_preset(&o, true);
    o.game.kind = GAME_ADP;
    s = begin(&o);
    assert_int_equal(search_game(s)->move_count, dims);
    search_free(s);
    o.game.weak = false;
    assert_int_equal(search_new(&problem, &o, &s, &e), ERR_INPUT);
    o.game.paper_candidates = false;
    s = begin(&o);
    assert_int_equal(search_game(s)->move_count, 1); /* the batch, alone */
    search_free(s);
}

static bool all_open(const struct game *g)
{
    for (uint32_t n = 0; n < g->move_count; n++) {
        if (game_status(g, n) >= 0)
            return false;
    }
    return true;
}

/* Stage 1 while there is exploration to come and for `stable_episodes` without gain; then stage 2,
 * whose episodes begin with a part set back, explore, and go on until each move was set back 8
 * times from the best plan and its rival. */
static void test_stages(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3, .stable_episodes = 20};
    o.game.kind = GAME_ALL;
    o.rl = *rl_preset("planner");
    o.rl.epsilon_episodes = 40;
    o.rl_set = true;
    struct search *s = begin(&o);
    const struct game *g = search_game(s);
    struct search_event event;
    uint64_t first = 0, tuned = 0, partly = 0, explored = 0, turned = 0;
    bool fresh = true;

    while (!search_rounds(s) && search_episodes(s) < 4000) {
        bool tuning = first && fresh;
        step(s, &event);
        explored += first && event.explored;
        fresh = event.ended;
        if (event.ended && event.fine_tuning) {
            first = first ? first : search_episodes(s);
            tuned++;
        }
        if (tuning && event.fine_tuning) /* decided, or settled at once */
            turned++;
        partly += tuning && !all_open(g) && event.move != UINT32_MAX;
    }
    assert_true(first > 40 && first <= 40 + 20 + 60);
    assert_true(tuned > 16 * g->move_count && turned > 0);
    assert_true(explored > tuned / 10 && partly > 0);
    assert_int_equal(search_rounds(s), 1);
    search_free(s);
}

/* Moves that are split now and whole in the best plan. Near that plan it is one at most: the move
 * that is turned. */
static uint32_t other_splits(const struct search *s)
{
    const struct game *g = search_game(s);
    uint32_t count = 0;

    for (uint32_t n = 0; n < g->move_count; n++)
        count += game_status(g, n) == 1 && !game_splits(g, search_best(s)->on, n);
    return count;
}

/* Episodes of stage 2 begin near the best plan and near its rival, in turn. */
static void test_two_plans(void **state)
{
    (void)state;
    struct search_options o = paper();
    o.stable_episodes = 20;
    o.rl = *rl_preset("planner");
    o.rl.epsilon_episodes = 40;
    o.rl_set = true;
    struct search *s = begin(&o);
    struct search_event event;
    uint32_t tuned = 0, rivals = 0;
    bool fresh = true, rival = false;

    while (!search_rounds(s) && search_episodes(s) < 4000) {
        search_ready(s);
        if (fresh)
            rival = other_splits(s) > 1;
        step(s, &event);
        fresh = event.ended;
        tuned += event.ended && event.fine_tuning;
        rivals += event.ended && event.fine_tuning && rival;
    }
    assert_true(search_rounds(s) == 1 && tuned > 16 * search_game(s)->move_count);
    assert_true(rivals > tuned / 8);
    search_free(s);
}

/* In stage 2, after 16 episodes without gain, the network plays its own way: from all open, and
 * nothing is explored; at the end it does so until it agrees four times in a row. */
static void test_own_ways(void **state)
{
    (void)state;
    enum { BETWEEN = 16, AGREED = 4 };
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3, .stable_episodes = 20};
    o.game.kind = GAME_ALL;
    o.rl = *rl_preset("planner");
    o.rl.epsilon_episodes = 40;
    o.rl_set = true;
    struct search *s = begin(&o);
    struct search_event event;
    uint32_t own = 0, since = 0, longest = 0, row = 0;
    bool fresh = true, is_own = false;

    while (!search_rounds(s) && search_episodes(s) < 4000) {
        search_ready(s);
        if (fresh) {
            is_own = rl_agent_epsilon(search_agent(s)) == 0;
            assert_true(!is_own || all_open(search_game(s)));
            longest = own && since > longest ? since : longest;
            since = is_own ? 0 : since + 1;
            own += is_own;
            row = is_own ? row + 1 : search_rounds(s) ? row : 0;
        }
        step(s, &event);
        assert_true(!is_own || !event.explored);
        fresh = event.ended;
    }
    assert_true(search_rounds(s) == 1 && own > search_game(s)->move_count / 2);
    assert_int_equal(longest, BETWEEN);
    assert_true(row >= AGREED);
    search_free(s);
}

/* An opening: what was not set back is as the plan has it; the group, and what was whole because of
 * it, is open; the first move is turned. */
static bool meets_a_split(const struct game *g, class_id k)
{
    const struct classes *c = &problem.classes;

    for (uint32_t j = 0; j < c->info[k].meet_count; j++) {
        if (g->state.on[c->meets[c->info[k].meets + j].other])
            return true;
    }
    return false;
}

/* What was whole only because of a split that an opening takes back is open too, unless another
 * split holds it; how many such classes there are. */
static uint32_t check_freed(const struct game *g, const struct game_opening *o)
{
    const struct classes *c = &problem.classes;
    class_id k = g->pool[g->moves[o->move[0]].classes];
    uint32_t freed = 0;

    for (uint32_t j = 0; j < c->info[k].meet_count; j++) {
        class_id met = c->meets[c->info[k].meets + j].other;
        for (uint32_t i = 0; o->on[met] && i < c->info[met].meet_count; i++) {
            class_id held = c->meets[c->info[met].meets + i].other;
            if (g->move_of[held] == UINT32_MAX || meets_a_split(g, held))
                continue;
            assert_int_equal(strict_status(&g->state, held, 0), -1);
            freed++;
        }
    }
    return freed;
}

static bool do_meet(class_id a, class_id b)
{
    const struct classes *c = &problem.classes;

    for (uint32_t j = 0; j < c->info[a].meet_count; j++) {
        if (c->meets[c->info[a].meets + j].other == b)
            return true;
    }
    return false;
}

/* Equal, or they meet, or a split one meets both. */
static bool are_linked(const label *on, class_id a, class_id b)
{
    bool linked = a == b || do_meet(a, b);

    for (class_id k = 0; k < problem.classes.count && !linked; k++)
        linked = on[k] && do_meet(a, k) && do_meet(k, b);
    return linked;
}

/* Whether an opening sets the move back, or may have: one of its classes is linked to one of the
 * move that the opening is of. */
static bool is_set_back(const struct game *g, const struct game_opening *o, uint32_t move)
{
    const struct game_move *from = &g->moves[o->move[0]], *to = &g->moves[move];

    for (uint32_t n = 0; n < from->class_count; n++) {
        for (uint32_t k = 0; k < to->class_count; k++) {
            if (are_linked(o->on, g->pool[from->classes + n], g->pool[to->classes + k]))
                return true;
        }
    }
    return false;
}

static void test_openings(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_RANDOM, .seed = 1};
    o.game.kind = GAME_ALL;
    struct search *s = begin(&o);
    struct game *g = (struct game *)(uintptr_t)search_game(s);
    const struct classes *c = &problem.classes;
    label *on = mem_alloc(c->count * sizeof *on);
    uint32_t opened = 0, freed = 0, kept = 0;

    for (uint32_t seed = 0; seed < 20; seed++) {
        game_reset(g);
        for (uint32_t n = seed; !game_is_over(g); n++)
            game_play(g, n * 2654435761u >> 31);
        memcpy(on, g->state.on, c->count * sizeof *on);
        for (uint32_t m = 0; m < g->move_count; m++) {
            struct game_opening back = {.on = on, .move = {m}, .count = 1};
            game_reset_from(g, &back);
            assert_int_equal(game_status(g, m), -1);
            freed += check_freed(g, &back);
            opened += game_open_count(g);
            for (uint32_t n = 0; n < g->move_count; n++) {
                int status = game_status(g, n);
                assert_true(status < 0 || status == game_splits(g, on, n));
                assert_true(status >= 0 || is_set_back(g, &back, n));
                kept += status == 1;
            }
            back.turn = true;
            game_reset_from(g, &back);
            assert_int_equal(game_status(g, m), !game_splits(g, on, m));
        }
    }
    assert_true(opened > 20 * g->move_count); /* more than the moves themselves */
    assert_true(freed > 0 && kept > 0);
    free(on);
    search_free(s);
}

/* A person's backtrack keeps the replay and the network, raises exploration, and begins from the
 * best plan with the move's group open. */
static void test_backtrack(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 4, .stable_episodes = 1000};
    o.game.kind = GAME_ALL;
    struct search *s = begin(&o);
    const struct game *g = search_game(s);
    struct rl_agent *a = search_agent(s);
    struct search_event event;

    while (search_episodes(s) < 170)
        step(s, &event);
    uint32_t count = rl_agent_replay(a)->count, settled = 0;
    assert_true(rl_agent_epsilon(a) < 0.1);
    for (uint32_t m = 0; m < g->move_count; m++) {
        search_backtrack(s, m);
        assert_int_equal(rl_agent_replay(a)->count, count);
        assert_true(fabs(rl_agent_epsilon(a) - 0.2) < 1e-12);
        assert_int_equal(game_status(g, m), -1);
        for (uint32_t n = 0; n < g->move_count; n++) {
            int status = game_status(g, n);
            assert_true(status < 0 || status == game_splits(g, search_best(s)->on, n));
            settled += status >= 0;
        }
    }
    assert_true(settled > 0); /* not all is open again */
    search_free(s);
}

/* Every stored decision, played by hand from the statuses that it saw, earns what it says: so it is
 * one of the game as it is now. */
static void check_replay(struct search *s)
{
    struct game *g = (struct game *)(uintptr_t)search_game(s);
    const struct rl_replay *r = rl_agent_replay(search_agent(s));
    uint32_t moves = g->move_count, size = game_observation_size(g);
    float *seen = calloc(size, sizeof *seen);
    int8_t *status = calloc(moves, 1);
    uint32_t position;

    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t slot = rl_replay_slot(r, k);
        const float *was = r->observation + (size_t)slot * size;
        game_observed(g, was, status, &position);
        game_reset(g);
        for (int split = 1; split >= 0; split--) {
            for (uint32_t n = 0; n < moves; n++) {
                if (status[n] == split)
                    game_settle(g, n, split);
            }
        }
        game_begin(g);
        game_observe(g, seen);
        for (uint32_t n = 0; n < size; n++)
            assert_true(fabs((double)(seen[n] - was[n])) < 1e-5);
        double earned = game_play(g, r->action[slot] == 1);
        assert_true(fabs(earned - (double)r->reward[slot]) < 1e-5);
        assert_int_equal(r->end[slot] == RL_TERMINATED, game_is_over(g));
    }
    game_reset(g);
    free(seen);
    free(status);
}

/* Position of a decision that replay holds. */
static uint32_t position_of(struct search *s, uint32_t slot)
{
    const struct rl_replay *r = rl_agent_replay(search_agent(s));
    int8_t *status = calloc(search_game(s)->move_count, 1);
    uint32_t position;

    game_observed(search_game(s), r->observation + (size_t)slot * r->observation_size, status,
                  &position);
    free(status);
    return position;
}

/* 1 + the action of the newest episode at each position; 0 where it decided nothing. */
static uint8_t *last_actions(struct search *s)
{
    const struct rl_replay *r = rl_agent_replay(search_agent(s));
    uint8_t *action = calloc(search_game(s)->move_count, 1);

    for (uint32_t k = r->count; k-- > 0;) {
        uint32_t slot = rl_replay_slot(r, k);
        if (k + 1 < r->count && r->end[slot] != RL_GOES_ON)
            break;
        action[position_of(s, slot)] = (uint8_t)(1 + r->action[slot]);
    }
    return action;
}

/* The newest episode, played again, has the actions it had, where they are legal still; how many of
 * these split. */
static uint32_t check_wanted(struct search *s, uint8_t *wanted)
{
    const struct rl_replay *r = rl_agent_replay(search_agent(s));
    uint32_t splits = 0;

    for (uint32_t k = r->count; k-- > 0;) {
        uint32_t slot = rl_replay_slot(r, k), action = r->action[slot];
        if (k + 1 < r->count && r->end[slot] != RL_GOES_ON)
            break;
        uint8_t was = wanted[position_of(s, slot)];
        assert_true(!was || r->legal[slot] != 3 || action + 1 == was);
        splits += was == 2 && r->legal[slot] == 3;
    }
    free(wanted);
    return splits;
}

static void test_pins_play_the_replay_again(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 4};
    uint32_t splits = 0;
    o.game.kind = GAME_ALL;
    for (int split = 0; split < 4; split++) { /* the last two with the paper's state */
        o.game.paper_state = split > 1;
        struct search *s = begin(&o);
        const struct game *g = search_game(s);
        struct strict_clash clash;
        struct search_event event;
        struct err e;
        while (search_episodes(s) < 60)
            step(s, &event);
        uint32_t before = rl_agent_replay(search_agent(s))->count;
        uint8_t *wanted = last_actions(s);
        struct game_pin pin = {g->pool[g->moves[1].classes], (uint8_t)g->moves[1].axis, split % 2};
        assert_int_equal(search_set_pins(s, &pin, 1, &clash, &e), 0);
        assert_int_equal(search_kept(s).before, before);
        assert_int_equal(search_kept(s).after, rl_agent_replay(search_agent(s))->count);
        assert_true(search_kept(s).after > before / 8);
        check_replay(s);
        splits += check_wanted(s, wanted);
        search_free(s);
    }
    assert_true(splits > 0);
}

/* An episode under way is not played on to its end. */
static void test_open_episode_stays_open(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 4, .game.kind = GAME_ALL};
    struct search *s = begin(&o);
    const struct game *g = search_game(s);
    const struct rl_replay *r = rl_agent_replay(search_agent(s));
    struct strict_clash clash;
    struct search_event event;
    struct err e;

    while (search_episodes(s) < 20)
        step(s, &event);
    do {
        step(s, &event);
    } while (event.ended);
    const struct game_move *last = &g->moves[g->move_count - 1];
    struct game_pin pin = {g->pool[last->classes], (uint8_t)last->axis, false};
    assert_int_equal(search_set_pins(s, &pin, 1, &clash, &e), 0);
    assert_int_equal(r->end[rl_replay_slot(r, r->count - 1)], RL_TRUNCATED);
    search_free(s);
}

/* Over the limit a plan is worth less than any that fits, and less the more memory it takes. */
static void test_over_the_limit(void **state)
{
    struct budget *b;
    struct err e;

    (void)state;
    assert_int_equal(budget_new(&problem, 1e6, &b, &e), 0);
    double fits = budget_worth(b, 1, b->slowest_ms, 1e6), little = budget_worth(b, 1, 1e-9, 1.01e6),
           much = budget_worth(b, 1, 1e-9, 2e6);
    assert_true(fits >= budget_floor(b, 1) && little < budget_floor(b, 1) && much < little);
    assert_true(fabs(little - much - log(2 / 1.01)) < 1e-12);
    budget_free(b);
}

/* Greedy play is one way; walks after the first begin at random, and end elsewhere. */
static void test_greedy_walks_differ(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_GREEDY, .seed = 4, .game.kind = GAME_ALL};
    struct search *s = begin(&o);
    struct search_event event;
    uint32_t other = 0;
    double first = 0;

    for (int n = 0; n < 20; n++) {
        step(s, &event);
        double score = game_score(search_game(s));
        first = n ? first : score;
        other += score != first;
    }
    assert_true(other > 0);
    search_free(s);
}

static void tell(struct search_state *c, const char *line, int expected)
{
    struct live_command command;
    struct err e;

    assert_int_equal(live_command_parse(line, &command, &e), 0);
    assert_int_equal(search_state_apply(c, &command, &e), expected);
}

/* The newest line of the log that speaks of the replay is this one; a refused act says nothing. */
static void said(const struct search_state *c, const char *expected)
{
    const char *last = "";

    for (uint32_t n = 0; n < c->log.count; n++) {
        if (!strncmp(c->log.block->lines[n].text, "replay ", 7))
            last = c->log.block->lines[n].text;
    }
    assert_string_equal(last, expected);
}

/* A setting, its undo and redo, and a pin that is refused leave the replay as it is; what became of
 * it is said. */
static void test_settings_keep_the_replay(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 4};
    o.game.kind = GAME_ALL;
    struct search_state *c = mem_alloc(sizeof *c);
    struct err e;

    assert_int_equal(search_state_new(&problem, &o, c, &e), 0);
    tell(c, "episode 30", 0);
    while (search_state_wants_step(c))
        search_state_step(c);
    const struct rl_replay *r = rl_agent_replay(search_agent(c->search));
    uint32_t count = r->count;
    assert_true(count > 30);
    char words[LOG_TEXT_ROOM];
    said(c, "");
    tell(c, "set learning-rate 0.0007", 0);
    snprintf(words, sizeof words, "replay kept: %u decisions, read by the new settings", count);
    said(c, words);
    tell(c, "undo", 0);
    tell(c, "redo", 0);
    tell(c, "set epsilon-episodes 7", 0); /* beside the first, not in its place */
    tell(c, "set gamma 0.9", 0);
    const struct rl_settings *now = rl_agent_settings(search_agent(c->search));
    assert_true(now->epsilon_episodes == 7 && now->learning_rate == 0.0007);
    tell(c, "undo", 0);
    tell(c, "undo", 0);
    tell(c, "undo", 0);
    const struct rl_settings *preset = search_preset(&o);
    assert_true(now->epsilon_episodes == preset->epsilon_episodes);
    assert_true(now->learning_rate == preset->learning_rate);
    tell(c, "redo", 0);
    uint32_t lines = c->log.count;
    tell(c, "pin nothing:0=1", ERR_INPUT);
    assert_int_equal(c->log.count, lines);
    assert_true(rl_agent_settings(search_agent(c->search))->learning_rate == 0.0007);
    assert_int_equal(rl_agent_replay(search_agent(c->search))->count, count);
    tell(c, "pin @0=0", 0);
    assert_true(search_kept(c->search).before == count);
    snprintf(words, sizeof words, "replay rewritten: %u of %u decisions, under the new pins",
             search_kept(c->search).after, count);
    said(c, words);
    count = search_kept(c->search).after;
    tell(c, "backtrack @1", 0);
    snprintf(words, sizeof words, "replay kept: %u decisions, pins and settings are the same",
             count);
    said(c, words);
    tell(c, "set seed 9", 0);
    snprintf(words, sizeof words, "replay dropped: %u decisions of another search", count);
    said(c, words);
    search_state_release(c);
    free(c);
}

/* Doing nothing is a plan, under pins too: no search ends above it. */
static void test_baseline_is_a_candidate(void **state)
{
    (void)state;
    for (int a = 0; a < SEARCH_ALGORITHM_COUNT; a++) {
        struct search_options o = {.algorithm = (enum search_algorithm)a, .seed = 1};
        o.game.kind = GAME_ALL;
        struct search *s = begin(&o);
        struct strict_clash clash;
        struct err e;
        assert_true(search_best(s)->score >= 0);
        const struct game *g = search_game(s);
        struct game_pin pin = {g->pool[g->moves[0].classes], (uint8_t)g->moves[0].axis, true};
        assert_int_equal(search_set_pins(s, &pin, 1, &clash, &e), 0);
        assert_true(search_best(s)->score >= 0);
        assert_true(search_best(s)->on[pin.class] >> pin.axis & 1);
        search_free(s);
    }
}

/* A step that draws its batch itself: the batch is a dim of neither variables nor inputs. */
static const char DRAWS_ITS_BATCH[] =
    "HloModule step, input_output_alias={ {}: (0, {}, may-alias) }\n"
    "ENTRY step {\n"
    "  w = f32[512,3] parameter(0)\n"
    "  key = u32[] parameter(1)\n"
    "  places = u32[1048576,512] iota(), iota_dimension=0\n"
    "  keys = u32[1048576,512] broadcast(key), dimensions={}\n"
    "  bits = u32[1048576,512] xor(keys, places)\n"
    "  noise = f32[1048576,512] convert(bits)\n"
    "  out = f32[1048576,3] dot(noise, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  grad = f32[512,3] dot(noise, out), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  ROOT next = f32[512,3] subtract(w, grad)\n"
    "}\n";

/* With both kinds every class that can be split is a move, so the game reaches the optimum of both,
 * and who has tried all of it has proven it. */
static void test_batch_of_no_input(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_ENUMERATE, .seed = 1, .game.kind = GAME_ALL};
    struct problem p;
    struct search *s;
    struct search_event event;
    struct optimum best;
    struct err e;

    load_text(DRAWS_ITS_BATCH, NULL, &p);
    assert_int_equal(search_new(&p, &o, &s, &e), 0);
    const struct game *g = search_game(s);
    assert_true(game_decides_all(g));
    while (!search_is_done(s))
        (void)search_step(s, &event);
    assert_true(search_is_proven(s));
    assert_int_equal(optimum_find(&p, &o.game, &g->state, NULL, &best, &e), 0);
    struct step_cost cost;
    double score = game_score_of(g, best.on, &cost);
    assert_true(best.proven && score > 0.5 && fabs(search_best(s)->score - score) < 1e-9);
    uint32_t of_neither = 0;
    for (class_id k = 0; k < p.classes.count; k++)
        of_neither += best.on[k] && !game_weight(g, k);
    assert_int_equal(of_neither, 1);
    optimum_release(&best);
    search_free(s);
    problem_release(&p);
}

/* Weak propagation: a stage 2 episode that is settled at once is an episode, and the search goes
 * on; a search ends with a plan. */
static void test_weak_goes_on(void **state)
{
    (void)state;
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 2, .stable_episodes = 10};
    o.game.weak = true;
    o.rl = *rl_preset("planner");
    o.rl.epsilon_episodes = 10;
    o.rl_set = true;
    struct search *s = begin(&o);
    struct search_event event;
    uint32_t at_once = 0;

    while (search_episodes(s) < 700) {
        step(s, &event);
        at_once += event.ended && event.move == UINT32_MAX;
        assert_false(search_is_done(s));
    }
    assert_true(at_once > 0 && isfinite(search_best(s)->score));
    search_free(s);
}

/* Looking at the network's own plan changes nothing; with exploration over it is near the best. */
static void test_greedy_plan(void **state)
{
    (void)state;
    struct search_options o = paper();
    struct search *s = begin(&o), *twin = begin(&o);
    struct search_event event, other;

    for (uint32_t n = 0; n < 3000; n++) {
        step(s, &event);
        step(twin, &other);
        if (n % 7 == 0)
            (void)search_greedy_plan(twin, NULL);
        assert_memory_equal(&event, &other, sizeof event);
    }
    double score = search_greedy_plan(s, NULL);
    assert_true(score <= search_best(s)->score + 1e-9 && score > 0.8 * search_best(s)->score);
    search_free(s);
    search_free(twin);
}

/* At the end of stage 2 the network's own best actions lead to the best plan: it was shown the way
 * there from all open, which no episode of stage 2 takes. From nothing and led. AUTOMAP_OWN_PLAN=
 * MODEL takes that model and ten seeds. */
static void test_own_plan(void **state)
{
    (void)state;
    struct problem *p = mem_alloc(sizeof *p);
    const char *model = getenv("AUTOMAP_OWN_PLAN");
    struct policy net;
    struct err e;

    load_shipped(model ? model : "t5-tiny", "h100-1x8", p);
    assert_int_equal(policy_load(&net, AUTOMAP_SOURCE_DIR "/examples/networks/operators.net"), 0);
    uint32_t seeds = model ? 10 : 3, near = 0;
    for (uint64_t run = 0; run < 2 * (uint64_t)seeds; run++) {
        bool led = run % 2;
        struct search_options o = {
            .seed = 1 + run / 2, .algorithm = SEARCH_DQN, .policy = &net.scorer, .continuous = led};
        struct search_event event;
        struct search *s;
        o.game.kind = GAME_ALL;
        o.game.no_folding = true;
        assert_int_equal(search_new(p, &o, &s, &e), 0);
        while (!search_rounds(s))
            assert_true(search_step(s, &event) && search_episodes(s) < 4000);
        double own = search_greedy_plan(s, NULL), best = search_best(s)->score;
        print_message("seed %d%s: %.3f %% above the best plan\n", (int)o.seed, led ? ", led" : "",
                      100 * (exp(best - own) - 1));
        near += exp(best - own) < 1.01;
        search_free(s);
    }
    assert_int_equal(near, 2 * seeds);
    policy_free(&net);
    problem_release(p);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observation),
        cmocka_unit_test(test_stored_decisions),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_own_plan),
        cmocka_unit_test(test_paper_preset),
        cmocka_unit_test(test_paper_candidates),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_two_plans),
        cmocka_unit_test(test_own_ways),
        cmocka_unit_test(test_openings),
        cmocka_unit_test(test_backtrack),
        cmocka_unit_test(test_pins_play_the_replay_again),
        cmocka_unit_test(test_open_episode_stays_open),
        cmocka_unit_test(test_over_the_limit),
        cmocka_unit_test(test_greedy_walks_differ),
        cmocka_unit_test(test_settings_keep_the_replay),
        cmocka_unit_test(test_baseline_is_a_candidate),
        cmocka_unit_test(test_batch_of_no_input),
        cmocka_unit_test(test_weak_goes_on),
        cmocka_unit_test(test_greedy_plan),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
