/* The game of hybrid plans: what is legal ends in a plan that fits, keeps the pins and costs what
 * it is said to; everyone who plays it, against every plan there is; Alpa's rule against its
 * definition. */
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_explain.h"
#include "engine/hybrid/hybrid_game.h"
#include "engine/hybrid/hybrid_search.h"
#include "rl/rng.h"
#include "tests/unit/shipped.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 2 };

struct table {
    struct problem p;
    struct order order;
    struct sections s;
    struct hybrid_pins pins;
    struct hybrid_instance in[LEVELS];
    struct stage_tables t[LEVELS];
    struct hybrid_space space;
};

/* `share` of a device's memory: little, and stages far from the end do not fit. `adds_up`:
 * gradients over micro-batches; else the game is one in which that costs nothing. */
static void begin_game(struct table *c, const char *model, const char *cluster, double share,
                       uint32_t stages, bool adds_up)
{
    struct err e;
    bool possible;

    *c = (struct table){0};
    load_shipped(model, cluster, &c->p);
    if (!adds_up)
        memset(c->p.training.adding, 0, c->p.m->value_count);
    assert_int_equal(order_new(&c->p, &c->order, &e), 0);
    assert_int_equal(sections_new(&c->order, NULL, 0, &c->s, &e), 0);
    uint32_t batch = (uint32_t)c->order.steps.batch_size;
    for (uint32_t n = 0; n < LEVELS; n++) {
        uint32_t m = n ? 4 : 8;
        struct pipe_options po = {
            .micro_batches = m, .micro_batch = batch / m, .memory_share = share};
        struct stage_options o = {.batch = batch, .micro_batches = m};
        assert_int_equal(hybrid_instance_new(&c->in[n], c->s.count, &c->p.cluster, &po, &e), 0);
        assert_int_equal(stage_tables_new(&c->s, &o, &c->in[n], NULL, &c->t[n], &possible, &e), 0);
        assert_true(possible);
        c->in[n].pins = &c->pins;
        c->space.level[n] = (struct hybrid_level){&c->in[n], &c->t[n], 0, NULL};
    }
    c->space.sections = &c->s;
    c->space.levels = LEVELS;
    c->space.stages = stages;
    c->space.schedule = -1;
}

static void begin(struct table *c, const char *model, const char *cluster, double share,
                  uint32_t stages)
{
    begin_game(c, model, cluster, share, stages, true);
}

static void end(struct table *c)
{
    hybrid_space_release(&c->space);
    for (uint32_t n = 0; n < LEVELS; n++) {
        stage_tables_release(&c->t[n]);
        hybrid_instance_release(&c->in[n]);
    }
    sections_release(&c->s);
    order_release(&c->order);
    problem_release(&c->p);
}

static uint32_t pick(struct rl_rng *r, uint64_t bits)
{
    for (uint32_t n = rl_rng_below(r, (uint32_t)__builtin_popcountll(bits)); n; n--)
        bits &= bits - 1;
    return (uint32_t)__builtin_ctzll(bits);
}

static void check_plan(const struct table *c, const struct hybrid_game *g)
{
    const struct hybrid_plan *p = &g->plan;
    const struct hybrid_instance *in = &c->in[g->level];

    assert_true(!c->space.stages || p->stages == c->space.stages);
    assert_int_equal(p->cut[0], 0);
    assert_int_equal(p->cut[p->stages], c->s.count);
    assert_int_equal(p->device[p->stages], in->devices);
    for (uint32_t n = 0; n < p->stages; n++) {
        const struct hybrid_front *f = hybrid_front_of(in, p->slot[n], p->cut[n], p->cut[n + 1]);
        assert_true(p->cut[n] < p->cut[n + 1]);
        assert_int_equal(p->device[n] + in->slot[p->slot[n]].devices, p->device[n + 1]);
        assert_true(hybrid_can_begin(in, p->device[n], p->slot[n]));
        assert_true(p->point[n] >= f->first && p->point[n] < f->first + f->count);
    }
    assert_true(hybrid_plan_fits(in, p, g->schedule));
    assert_true(g->step_ms == hybrid_plan_makespan(in, p, g->schedule));
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++)
        if (hybrid_plan_fits(in, p, (enum pipe_schedule_kind)k))
            assert_true(g->step_ms <= hybrid_plan_makespan(in, p, (enum pipe_schedule_kind)k));
}

static void play_at_random(const char *model, const char *cluster, double share, uint32_t stages,
                           const struct hybrid_pin *pin, uint32_t times)
{
    struct table *c = mem_alloc(sizeof *c);
    struct hybrid_game *g = mem_alloc(sizeof *g);
    struct rl_rng rng;
    struct err e;
    uint32_t kinds = 0;

    begin(c, model, cluster, share, stages);
    if (pin)
        c->pins = (struct hybrid_pins){.pin = {*pin}, .count = 1};
    rl_rng_seed(&rng, 7, 0);
    assert_int_equal(hybrid_space_new(&c->space, &e), 0);
    for (uint32_t n = 0; n < times; n++) {
        double reward = 0;
        hybrid_game_new(&c->space, g);
        while (!hybrid_game_is_over(g)) {
            uint64_t legal = hybrid_game_legal(g);
            assert_true(legal & (legal - 1));
            kinds |= 1u << g->next;
            reward = hybrid_game_play(g, pick(&rng, legal));
            assert_true(hybrid_game_is_over(g) || reward == 0);
        }
        check_plan(c, g);
        assert_true(reward == c->space.bound_ms / g->step_ms);
        hybrid_game_new(&c->space, g);
        for (uint32_t k = 0; k < n % 5 && !hybrid_game_is_over(g); k++)
            hybrid_game_play(g, pick(&rng, hybrid_game_legal(g)));
        hybrid_game_complete(g);
        check_plan(c, g);
    }
    assert_true(kinds & 1u << HYBRID_DECIDES_MICRO && kinds & 1u << HYBRID_DECIDES_MESH &&
                kinds & 1u << HYBRID_DECIDES_CUT);
    end(c);
    free(g);
    free(c);
}

static void test_legal(void **state)
{
    struct hybrid_pin cut = {.kind = HYBRID_PIN_CUT, .first = 3, .last = 3};

    (void)state;
    play_at_random("t5-tiny", "v100-1x4", 1, 0, NULL, 200);
    play_at_random("t5-tiny", "v100-1x4", 1, 3, NULL, 100);
    play_at_random("t5-tiny", "v100-1x4", 2e-5, 0, NULL, 100); /* 320 kB */
    play_at_random("t5-tiny", "c-4x8-v100", 1, 0, &cut, 100);
    play_at_random("mlp", "unequal", 1, 0, NULL, 100);
}

/* ---- all plans there are ---- */

struct all {
    const struct hybrid_instance *in;
    double step_ms, alpa; /* the least of each */
    struct hybrid_plan p; /* from the last stage; its end stands at stages_most */
    uint32_t plans;
};

static void price_all(struct all *a, uint32_t k)
{
    struct hybrid_plan p = {.stages = k};
    enum pipe_schedule_kind kind;
    double sum = 0, most = 0;

    for (uint32_t n = 0; n < k; n++) {
        p.cut[n] = a->p.cut[k - 1 - n];
        p.device[n] = a->p.device[k - 1 - n];
        p.slot[n] = a->p.slot[k - 1 - n];
        p.point[n] = a->p.point[k - 1 - n];
        sum += a->in->points[p.point[n]].both_ms;
        most = fmax(most, a->in->points[p.point[n]].both_ms);
    }
    p.cut[k] = a->in->sections;
    p.device[k] = a->in->devices;
    double ms = hybrid_plan_play(a->in, &p, -1, &kind);
    a->plans++;
    if (ms == INFINITY)
        return;
    a->step_ms = fmin(a->step_ms, ms);
    a->alpa = fmin(a->alpa, sum + (a->in->options.micro_batches - 1) * most);
}

static void try_all(struct all *a, uint32_t k, uint32_t j, uint32_t b)
{
    const struct hybrid_instance *in = a->in;

    if (!j)
        price_all(a, k);
    for (uint32_t slot = 0; slot < in->slots && j; slot++) {
        uint32_t d = in->slot[slot].devices;
        if (d > b || !hybrid_can_begin(in, b - d, slot))
            continue;
        for (uint32_t i = 0; i < j; i++) {
            const struct hybrid_front *f = hybrid_front_of(in, slot, i, j);
            for (uint32_t n = f->first; n < f->first + f->count; n++) {
                a->p.cut[k] = i;
                a->p.device[k] = b - d;
                a->p.slot[k] = slot;
                a->p.point[k] = n;
                try_all(a, k + 1, i, b - d);
            }
        }
    }
}

/* Every plan there is at each number of micro-batches: the least of all, and Alpa's rule at that
 * number alone. */
static double least_of_all(struct table *c)
{
    struct all *a = mem_alloc(sizeof *a);
    struct err e;
    double least = INFINITY;

    assert_int_equal(hybrid_space_new(&c->space, &e), 0);
    for (uint32_t n = 0; n < LEVELS; n++) {
        *a = (struct all){.in = &c->in[n], .step_ms = INFINITY, .alpa = INFINITY};
        try_all(a, 0, c->s.count, c->in[n].devices);
        assert_true(a->plans > 100 && a->plans < 20000000);
        least = fmin(least, a->step_ms);
        /* Alpa's rule at this number of micro-batches alone. */
        struct hybrid_space one = {.sections = &c->s, .levels = 1, .schedule = -1};
        struct hybrid_search_options o = {.seed = 1};
        struct hybrid_search *s;
        double sum = 0, most = 0;
        one.level[0] = (struct hybrid_level){&c->in[n], &c->t[n], 0, NULL};
        assert_int_equal(hybrid_space_new(&one, &e), 0);
        assert_int_equal(hybrid_search_new(&one, HYBRID_ALPA, &o, NULL, &s, &e), 0);
        while (hybrid_search_step(s))
            ;
        const struct hybrid_plan *p = &hybrid_search_best(s)->plan;
        assert_true(hybrid_search_best(s)->step_ms < INFINITY);
        for (uint32_t k = 0; k < p->stages; k++) {
            sum += c->in[n].points[p->point[k]].both_ms;
            most = fmax(most, c->in[n].points[p->point[k]].both_ms);
        }
        sum += (c->in[n].options.micro_batches - 1) * most;
        assert_true(sum >= a->alpa * (1 - 1e-12) && sum <= a->alpa * 1.01);
        hybrid_search_free(s);
        hybrid_space_release(&one);
    }
    free(a);
    return least;
}

/* The best of 400 plans. */
static double played_ms(struct table *c, enum hybrid_algorithm player, uint64_t seed)
{
    struct hybrid_search_options o = {.seed = seed, .plans_most = 400};
    struct hybrid_search *s;
    struct err e;

    assert_int_equal(hybrid_search_new(&c->space, player, &o, NULL, &s, &e), 0);
    while (hybrid_search_evaluations(s) < o.plans_most && hybrid_search_step(s))
        ;
    double ms = hybrid_search_best(s)->step_ms;
    hybrid_search_free(s);
    return ms;
}

/* Where adding up gradients costs nothing. */
static void test_all_plans(void **state)
{
    static const double within[] = {1 + 1e-9, 1 + 1e-9, 1 + 1e-9, 1.5}; /* of the least */
    static const enum hybrid_algorithm players[] = {HYBRID_DQN, HYBRID_RANDOM, HYBRID_GREEDY,
                                                    HYBRID_ALPA};
    struct table *c = mem_alloc(sizeof *c);

    (void)state;
    begin_game(c, "mlp", "v100-1x4", 1, 0, false);
    double least = least_of_all(c);
    for (size_t n = 0; n < sizeof players / sizeof *players; n++) {
        double ms = played_ms(c, players[n], 1);
        assert_true(ms >= least * (1 - 1e-12));
        assert_true(ms <= least * within[n]);
    }
    end(c);
    free(c);
}

/* Where it costs what it does the two shortest plans differ by 0.07 %: which of them is found in
 * 400 plans hangs on the seed, so ten are played. One at least finds the least; Alpa's rule knows
 * none. */
static void test_all_plans_adding_up(void **state)
{
    static const struct {
        enum hybrid_algorithm player;
        double each, best; /* of the least */
    } cases[] = {{HYBRID_DQN, 1.001, 1 + 1e-9},
                 {HYBRID_RANDOM, 1.05, 1 + 1e-9},
                 {HYBRID_GREEDY, 1.001, 1 + 1e-9},
                 {HYBRID_ALPA, 1.5, 1.5}};
    enum { SEEDS = 10 };
    struct table *c = mem_alloc(sizeof *c);

    (void)state;
    begin(c, "mlp", "v100-1x4", 1, 0);
    double least = least_of_all(c);
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        double best = INFINITY;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            double ms = played_ms(c, cases[n].player, seed);
            assert_true(ms >= least * (1 - 1e-12) && ms <= least * cases[n].each);
            best = fmin(best, ms);
        }
        assert_true(best <= least * cases[n].best);
    }
    end(c);
    free(c);
}

/* The same seed is the same search, and no plan is below the bound. */
static void test_search(void **state)
{
    static const enum hybrid_algorithm players[] = {HYBRID_DQN, HYBRID_GREEDY, HYBRID_ALPA,
                                                    HYBRID_RANDOM, HYBRID_UNIFORM};
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    struct err e;

    (void)state;
    load_shipped("t5-tiny", "c-4x8-v100", p);
    for (size_t n = 0; n < sizeof players / sizeof *players; n++) {
        struct hybrid_options o = {.zero = -1,
                                   .algorithm = players[n],
                                   .chunks = 1,
                                   .play = {.seed = 3, .plans_most = 60}};
        double ms[2];
        for (int k = 0; k < 2; k++) {
            assert_int_equal(hybrid_new(p, &o, h, &e), 0);
            ms[k] = hybrid_step_ms(h);
            if (hybrid_algorithm_plays(players[n])) {
                assert_true(h->is_certified && h->bound_ms > 0 && h->bound_ms <= ms[k]);
                assert_true(h->played.evaluations > 0 && h->played.evaluations <= 60);
                assert_true(fabs(h->played.curve[HYBRID_MARKS - 1] - ms[k]) < 1e-9 * ms[k]);
            }
            hybrid_release(h);
        }
        assert_true(ms[0] == ms[1]);
    }
    problem_release(p);
    free(h);
    free(p);
}

/* Pins about splits leave the points that tables made for such splits alone have. */
static void check_pins_of_splits(const char *model)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct err e;

    load_shipped(model, "c-4x8-v100", p);
    for (uint32_t parts = 1; parts <= 4; parts *= 2) {
        struct hybrid_instance in[2];
        struct stage_tables t[2];
        struct order order;
        struct sections s;
        struct hybrid_pins pins = {
            .pin = {{.kind = HYBRID_PIN_TP, .least = parts, .most = parts, .is_everywhere = true}},
            .count = 1};
        uint32_t seen = 0;
        assert_int_equal(order_new(p, &order, &e), 0);
        assert_int_equal(sections_new(&order, NULL, 0, &s, &e), 0);
        uint32_t batch = (uint32_t)order.steps.batch_size;
        for (int k = 0; k < 2; k++) {
            struct pipe_options po = {
                .micro_batches = 2, .micro_batch = batch / 2, .memory_share = 1};
            struct stage_options o = {
                .batch = batch, .micro_batches = 2, .tp = k ? 0 : parts, .pins = k ? &pins : NULL};
            bool possible;
            assert_int_equal(hybrid_instance_new(&in[k], s.count, &p->cluster, &po, &e), 0);
            assert_int_equal(stage_tables_new(&s, &o, &in[k], NULL, &t[k], &possible, &e), 0);
            assert_true(possible);
        }
        for (uint32_t slot = 0; slot < in[0].slots; slot++)
            for (uint32_t i = 0; i < s.count; i++)
                for (uint32_t j = i + 1; j <= s.count; j++) {
                    const struct hybrid_front *a = hybrid_front_of(&in[0], slot, i, j),
                                              *b = hybrid_front_of(&in[1], slot, i, j);
                    assert_int_equal(a->count, b->count);
                    for (uint32_t n = 0; n < a->count; n++) {
                        const struct hybrid_point *x = &in[0].points[a->first + n],
                                                  *y = &in[1].points[b->first + n];
                        assert_true(x->both_ms == y->both_ms && x->forward_ms == y->forward_ms &&
                                    x->reduce_ms == y->reduce_ms &&
                                    x->fixed_bytes == y->fixed_bytes &&
                                    x->stash_bytes == y->stash_bytes);
                        seen++;
                    }
                }
        assert_true(seen > 10);
        for (int k = 0; k < 2; k++) {
            stage_tables_release(&t[k]);
            hybrid_instance_release(&in[k]);
        }
        sections_release(&s);
        order_release(&order);
    }
    problem_release(p);
    free(p);
}

static void test_pins_of_splits(void **state)
{
    (void)state;
    check_pins_of_splits("t5-tiny");
    check_pins_of_splits("mlp");
    check_pins_of_splits("moe");
}

/* A cut that is pinned does not move by hand; without the pin it does. */
static void test_cut_moved_by_hand(void **state)
{
    static const struct hybrid_wish wish = {HYBRID_WISH_CUT, "decoder/layer_000"};
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    struct err e;
    uint32_t n = 1;
    bool moved = true;
    double earlier, later;

    (void)state;
    load_shipped("t5-base6", "c-4x8-v100", p);
    struct hybrid_options o = {.zero = -1,
                               .stages = 4,
                               .micro_batches = 8,
                               .no_bound = true,
                               .chunks = 1,
                               .pins = &wish,
                               .pin_count = 1};
    assert_int_equal(hybrid_new(p, &o, h, &e), 0);
    while (n < h->stages && h->stage[n].section != h->pins.pin[0].first)
        n++;
    assert_true(n < h->stages);
    double step = hybrid_step_ms(h);
    for (int by = -1; by <= 1; by += 2) {
        assert_int_equal(hybrid_move_cut(h, n, by, &moved, &e), 0);
        assert_false(moved);
        assert_true(fabs(hybrid_step_ms(h) - step) < 1e-9 * step);
    }
    h->pins.count = 0;
    assert_int_equal(hybrid_moved_ms(h, n, -1, &earlier, &e), 0);
    assert_int_equal(hybrid_moved_ms(h, n, 1, &later, &e), 0);
    assert_true(earlier < INFINITY || later < INFINITY);
    hybrid_release(h);
    problem_release(p);
    free(h);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_legal),
                                       cmocka_unit_test(test_all_plans),
                                       cmocka_unit_test(test_all_plans_adding_up),
                                       cmocka_unit_test(test_search),
                                       cmocka_unit_test(test_pins_of_splits),
                                       cmocka_unit_test(test_cut_moved_by_hand)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
