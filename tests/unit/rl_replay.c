/* Replay: n-step windows after the cases of Stable-Baselines3's tests/test_n_step_replay.py (an end
 * or a time limit inside the window, none, the ring's seam), RLax's n-step returns, the law of
 * prioritized draws and their weights. */
#include "rl/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 10, SIZE = 4, BATCH_MAX = 64 };

struct rows {
    struct rl_batch batch;
    float rows[2 * BATCH_MAX * SIZE], reward[BATCH_MAX], discount[BATCH_MAX], weight[BATCH_MAX];
    float bound[BATCH_MAX];
    uint32_t slot[BATCH_MAX], action[BATCH_MAX];
    uint64_t legal[BATCH_MAX], next_legal[BATCH_MAX];
};

static struct rl_batch *batch_of(struct rows *r, uint32_t count)
{
    r->batch = (struct rl_batch){count,         r->rows,   r->slot,     r->action, r->legal,
                                 r->next_legal, r->reward, r->discount, r->weight, r->bound};
    return &r->batch;
}

/* Decision i: observation all i, next all i + 1, reward 1, unless it is given. */
static uint32_t push(struct rl_replay *r, int i, float reward, enum rl_end end)
{
    float now[SIZE], next[SIZE];

    for (int k = 0; k < SIZE; k++) {
        now[k] = (float)i;
        next[k] = (float)(i + 1);
    }
    struct rl_decision d = {now,    next, &(uint64_t){3}, &(uint64_t){1}, (uint32_t)i % 2,
                            reward, end};
    return rl_replay_push(r, &d);
}

static struct rl_replay filled(int length, int end_at, enum rl_end end)
{
    struct rl_replay r;

    assert_int_equal(rl_replay_init(&r, CAPACITY, SIZE, 2), 0);
    for (int i = 0; i < length; i++)
        push(&r, i, 1, i == end_at ? end : RL_GOES_ON);
    return r;
}

static struct rl_settings rule(uint32_t n)
{
    return (struct rl_settings){.gamma = 0.99, .n_step = n, .bootstrap_truncated = true};
}

/* Window of slot: sum of `length` rewards of 1, bootstrap from the observation after the last. */
static void expect(const struct rl_replay *r, uint32_t n, uint32_t slot, int length, bool terminal)
{
    struct rows rows;
    struct rl_settings s = rule(n);
    struct rl_batch *b = batch_of(&rows, 1);
    double sum = 0;

    for (int k = 0; k < length; k++)
        sum += pow(0.99, k);
    rl_replay_window(r, &s, slot, b, 0);
    assert_true(fabs((double)b->reward[0] - sum) < 1e-6);
    assert_true(fabs((double)b->discount[0] - (terminal ? 0 : pow(0.99, length))) < 1e-6);
    assert_true(b->rows[SIZE] == b->rows[0] + (float)length);
    assert_int_equal(b->slot[0], slot);
}

static void test_end_inside_window(void **state)
{
    (void)state;
    for (int end_at = 1; end_at <= 2; end_at++) {
        for (uint32_t n = 3; n <= 5; n += 2) {
            struct rl_replay r = filled(5, end_at, RL_TERMINATED);
            expect(&r, n, 0, end_at + 1, true);
            rl_replay_release(&r);
        }
    }
}

static void test_time_limit_inside_window(void **state)
{
    (void)state;
    for (int end_at = 1; end_at <= 2; end_at++) {
        struct rl_replay r = filled(5, end_at, RL_TRUNCATED);
        expect(&r, 3, 0, end_at + 1, false);
        rl_replay_release(&r);
    }
}

static void test_no_end(void **state)
{
    (void)state;
    struct rl_replay r = filled(10, -1, RL_GOES_ON);
    expect(&r, 3, 3, 3, false);
    expect(&r, 5, 3, 5, false);
    expect(&r, 1, 3, 1, false);
    rl_replay_release(&r);
}

/* The newest decision ends every window, wherever the write head stands. */
static void test_seam_of_the_ring(void **state)
{
    (void)state;
    struct rl_replay r = filled(14, -1, RL_GOES_ON); /* 4 .. 13; slot 3 is the newest */
    assert_int_equal(r.head, 4);
    expect(&r, 5, 8, 5, false); /* 8 .. 12: through the end of the arrays */
    expect(&r, 5, 1, 3, false); /* 11 .. 13 */
    expect(&r, 5, 3, 1, false); /* the newest alone */
    expect(&r, 20, 4, 10, false);
    expect(&r, 20, 9, 5, false);
    assert_int_equal(rl_replay_slot(&r, 0), 4);
    assert_int_equal(rl_replay_slot(&r, 9), 3);
    rl_replay_release(&r);
}

/* An end at the seam, and a capacity of one. */
static void test_end_at_the_seam(void **state)
{
    (void)state;
    struct rl_replay r = filled(9, -1, RL_GOES_ON);
    push(&r, 9, 1, RL_TERMINATED);
    push(&r, 20, 1, RL_GOES_ON);
    push(&r, 21, 1, RL_GOES_ON);
    expect(&r, 5, 8, 2, true);
    expect(&r, 5, 0, 2, false);
    rl_replay_release(&r);

    assert_int_equal(rl_replay_init(&r, 1, SIZE, 2), 0);
    push(&r, 0, 1, RL_GOES_ON);
    push(&r, 1, 1, RL_GOES_ON);
    expect(&r, 3, 0, 1, false);
    rl_replay_release(&r);
}

static void test_cut(void **state)
{
    (void)state;
    struct rl_replay r = filled(3, -1, RL_GOES_ON);
    rl_replay_cut(&r);
    push(&r, 50, 1, RL_GOES_ON);
    expect(&r, 5, 0, 3, false); /* does not run on into another episode */
    expect(&r, 5, 3, 1, false);
    rl_replay_release(&r);
}

static void test_time_limit_as_end_is_a_switch(void **state)
{
    (void)state;
    struct rows rows;
    struct rl_replay r = filled(5, 1, RL_TRUNCATED);
    struct rl_settings s = rule(3);
    struct rl_batch *b = batch_of(&rows, 1);
    s.bootstrap_truncated = false;
    rl_replay_window(&r, &s, 0, b, 0);
    assert_true(b->discount[0] == 0);
    rl_replay_release(&r);
}

/* rlax/_src/multistep_test.py NStepBootstrappedReturnsTest: discounts that vary, n below, at and
 * beyond the length. */
static void test_rlax_returns(void **state)
{
    (void)state;
    static const double r[2][5] = {{1, 0, -1, 0, 1}, {0.5, 0.8, -0.7, 0, 2.1}};
    static const double d[2][5] = {{0.5, 0.9, 1, 0.5, 0.8}, {0.9, 0.5, 0.3, 0.8, 0.7}};
    static const double v[2][5] = {{3, 1, 5, -5, 3}, {-1.7, 1.2, 2.3, 2.2, 2.7}};
    static const double three[2][5] = {{2.8, -3.15, 0.7, 1.7, 3.4},
                                       {1.2155, 0.714, 0.2576, 3.192, 3.99}};
    static const double whole[2][5] = {{1.315, 0.63, 0.7, 1.7, 3.4},
                                       {1.33592, 0.9288, 0.2576, 3.192, 3.99}};
    for (int n = 3; n <= 7; n += 2) {
        for (int row = 0; row < 2; row++) {
            for (int t = 0; t < 5; t++) {
                struct rl_window w = {.sum = 0, .discount = 1};
                int last = t + n <= 5 ? t + n - 1 : 4;
                for (int k = t; k <= last; k++)
                    rl_window_add(&w, r[row][k], d[row][k]);
                double expected = n == 3 ? three[row][t] : whole[row][t];
                assert_true(fabs(w.sum + w.discount * v[row][last] - expected) < 1e-5);
            }
        }
    }
}

static void test_masks_and_rows(void **state)
{
    (void)state;
    struct rows rows;
    struct rl_replay r = filled(5, 4, RL_TERMINATED);
    struct rl_settings s = rule(1);
    struct rl_batch *b = batch_of(&rows, 2);
    rl_replay_window(&r, &s, 3, b, 0);
    rl_replay_window(&r, &s, 4, b, 1);
    assert_int_equal(b->legal[0], 3);
    assert_int_equal(b->next_legal[0], 1);
    assert_int_equal(b->next_legal[1], 0); /* nothing follows an end */
    assert_int_equal(b->action[0], 1);
    assert_int_equal(b->action[1], 0);
    assert_true(b->rows[0] == 3 && b->rows[SIZE] == 4); /* observations first */
    assert_true(b->rows[2 * SIZE] == 4 && b->rows[3 * SIZE] == 5);
    rl_replay_release(&r);
}

/* Priorities |error| + floor to the power alpha; weights (count P)^-beta over their largest. */
static void test_priorities_and_weights(void **state)
{
    (void)state;
    struct rows rows;
    struct rl_replay r = filled(4, -1, RL_GOES_ON);
    struct rl_settings s = rule(1);
    struct rl_batch *b = batch_of(&rows, 4);
    struct rl_rng rng;
    s.prioritized = s.importance = true;
    s.alpha = 0.5;
    s.priority_floor = 1;
    rl_replay_follow(&r, &s);
    float error[4] = {0, -3, 8, 15}; /* priorities 1 4 9 16, leaves 1 2 3 4, of a total of 10 */
    for (uint32_t i = 0; i < 4; i++)
        rows.slot[i] = i;
    rl_replay_learned(&r, &s, b, error);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(fabs(rl_sumtree_get(&r.tree, i) - (i + 1)) < 1e-12);
    assert_true(r.largest == 16);

    rl_rng_seed(&rng, 3, 0);
    double beta = 0.7;
    b = batch_of(&rows, 64);
    rl_replay_draw(&r, &s, beta, &rng, b);
    for (uint32_t i = 0; i < 64; i++) {
        double share = (b->slot[i] + 1) / 10.0;
        double weight = pow(4 * share, -beta) / pow(4 * 0.1, -beta); /* slot 0 is the largest */
        assert_true(fabs((double)b->weight[i] - weight) < 1e-6);
    }
    /* Stratified: 64 slices of a tenth of 64 for slot 0, so 6 or 7 draws of it. */
    int zero = 0;
    for (uint32_t i = 0; i < 64; i++)
        zero += b->slot[i] == 0;
    assert_true(zero == 6 || zero == 7);

    uint32_t fresh = push(&r, 9, 1, RL_GOES_ON); /* enters at the largest priority so far */
    assert_true(fabs(rl_sumtree_get(&r.tree, fresh) - 4) < 1e-12);
    s.importance = false;
    rl_replay_draw(&r, &s, beta, &rng, b);
    for (uint32_t i = 0; i < 64; i++)
        assert_true(b->weight[i] == 1);
    rl_replay_release(&r);
}

/* Of a slot drawn twice the later error stays; an overwritten slot gets its new priority at once;
 * switching off and on, or alpha, rebuilds the same tree. */
static void test_tree_follows(void **state)
{
    (void)state;
    struct rows rows;
    struct rl_replay r = filled(10, -1, RL_GOES_ON);
    struct rl_settings s = rule(1);
    struct rl_batch *b = batch_of(&rows, 2);
    s.prioritized = true;
    s.alpha = 1;
    s.priority_floor = 1e-6;
    rl_replay_follow(&r, &s);
    float error[2] = {5, 0.25f};
    rows.slot[0] = rows.slot[1] = 0;
    rl_replay_learned(&r, &s, b, error);
    assert_true(fabs(rl_sumtree_get(&r.tree, 0) - 0.250001) < 1e-12);
    push(&r, 30, 1, RL_GOES_ON); /* overwrites slot 0 */
    assert_true(fabs(rl_sumtree_get(&r.tree, 0) - 5.000001) < 1e-12);

    double total = rl_sumtree_total(&r.tree);
    s.prioritized = false;
    rl_replay_follow(&r, &s);
    rows.slot[0] = 1;
    rows.slot[1] = 2;
    rl_replay_learned(&r, &s, b, error); /* errors are kept while it is off */
    s.prioritized = true;
    rl_replay_follow(&r, &s);
    assert_true(fabs(rl_sumtree_total(&r.tree) - (total - 2 + 5.000001 + 0.250001)) < 1e-9);
    s.alpha = 0;
    rl_replay_follow(&r, &s);
    assert_true(rl_sumtree_total(&r.tree) == 10);
    rl_replay_release(&r);
}

static void push_legal(struct rl_replay *r, uint64_t next_legal, enum rl_end end)
{
    const float row[SIZE] = {0};
    struct rl_decision d = {row, row, &(uint64_t){3}, &next_legal, 1, 1, end};

    (void)rl_replay_push(r, &d);
}

/* A window bootstraps over what is legal behind its last decision; a time limit leaves that legal,
 * an end leaves nothing; a cut changes neither of the two. */
static void test_legal_behind_a_window(void **state)
{
    (void)state;
    struct rows rows;
    struct rl_replay r;
    struct rl_settings s = rule(3);
    struct rl_batch *b = batch_of(&rows, 1);
    assert_int_equal(rl_replay_init(&r, CAPACITY, SIZE, 2), 0);
    push_legal(&r, 1, RL_GOES_ON);
    push_legal(&r, 3, RL_GOES_ON);
    push_legal(&r, 2, RL_TRUNCATED);
    rl_replay_window(&r, &s, 0, b, 0);
    assert_int_equal(rows.next_legal[0], 2);
    rl_replay_cut(&r);
    assert_int_equal(r.end[2], RL_TRUNCATED);
    push_legal(&r, 3, RL_TERMINATED);
    rl_replay_cut(&r);
    assert_int_equal(r.end[3], RL_TERMINATED);
    assert_int_equal(r.next_legal[3], 0);
    rl_replay_window(&r, &s, 3, b, 0);
    assert_true(rows.discount[0] == 0);
    rl_replay_release(&r);
}

/* Returns: from a terminal end back to where the episode began, discounted; nothing where the end
 * is not known; found again when gamma changes, and across the ring's seam. */
static void test_returns(void **state)
{
    (void)state;
    struct rows rows;
    struct rl_replay r = filled(7, 2, RL_TERMINATED);
    struct rl_settings s = rule(1);
    struct rl_batch *b = batch_of(&rows, 1);
    s.gamma = 0.5;
    rl_replay_follow(&r, &s);
    const float early[] = {1.75f, 1.5f, 1};
    for (uint32_t i = 0; i < 3; i++)
        assert_true(rl_twins_best(&r.twins, i) == early[i]);
    for (uint32_t i = 3; i < 7; i++)
        assert_true(isinf(rl_twins_best(&r.twins, i)));
    rl_replay_cut(&r);
    push(&r, 7, 2, RL_GOES_ON);
    push(&r, 8, 4, RL_GOES_ON);
    push(&r, 9, 8, RL_GOES_ON);
    push(&r, 10, 16, RL_TERMINATED); /* slot 0 */
    assert_true(rl_twins_best(&r.twins, 0) == 16 && rl_twins_best(&r.twins, 9) == 16 &&
                rl_twins_best(&r.twins, 8) == 12 && rl_twins_best(&r.twins, 7) == 8);
    assert_true(isinf(rl_twins_best(&r.twins, 6)) && rl_twins_best(&r.twins, 2) == 1);
    s.gamma = 1;
    rl_replay_follow(&r, &s);
    assert_true(rl_twins_best(&r.twins, 7) == 30 && rl_twins_best(&r.twins, 1) == 2 &&
                isinf(rl_twins_best(&r.twins, 6)));
    for (s.n_step = 1; s.n_step < 4; s.n_step++) { /* of the decision, however far a window goes */
        rl_replay_window(&r, &s, 8, b, 0);
        assert_true(rows.bound[0] == 28);
    }
    s.gamma = 0.5;
    rl_replay_follow(&r, &s);
    assert_true(rl_twins_best(&r.twins, 8) == 12 && rl_twins_best(&r.twins, 7) == 8);
    rl_replay_release(&r);
}

/* Twins against a list that is searched: few keys, many with the same first bucket, so that they
 * stand in each other's way when one leaves. */
static void test_twins(void **state)
{
    enum { MOST = 37, KEYS = 50, STEPS = 4000 };

    (void)state;
    for (uint32_t capacity = 1; capacity <= MOST; capacity += 4) {
        struct rl_twins t;
        uint64_t key[MOST] = {0};
        float best[MOST];
        bool held[MOST] = {false};
        struct rl_rng rng;
        rl_rng_seed(&rng, capacity, 1);
        assert_int_equal(rl_twins_init(&t, capacity), 0);
        for (uint32_t n = 0; n < STEPS; n++) {
            uint32_t slot = n % capacity;
            uint64_t k = rl_rng_below(&rng, KEYS);
            k = k << 32 | (k & 3); /* four first buckets for all of them */
            held[slot] = false;
            float known = -INFINITY;
            for (uint32_t i = 0; i < capacity; i++)
                known = held[i] && key[i] == k ? best[i] : known;
            rl_twins_put(&t, slot, k);
            key[slot] = k, best[slot] = known, held[slot] = true;
            uint32_t raised = rl_rng_below(&rng, n < capacity ? n + 1 : capacity);
            float earned = (float)rl_rng_unit(&rng), after = fmaxf(best[raised], earned);
            for (uint32_t i = 0; i < capacity; i++)
                best[i] = held[i] && key[i] == key[raised] ? after : best[i];
            assert_true(rl_twins_raise(&t, raised, earned) == after);
            for (uint32_t i = 0; i < capacity; i++)
                assert_true(!held[i] || rl_twins_best(&t, i) == best[i]);
        }
        rl_twins_release(&t);
    }
}

/* Two episodes begin alike; the poor one is worth as much there as the good one, not behind. The
 * third meets a state of the good one on another way and goes on from what is known of it. */
static void test_twins_share(void **state)
{
    (void)state;
    struct rl_replay r = filled(0, 0, RL_GOES_ON);
    struct rl_settings s = rule(1);
    s.gamma = 1;
    rl_replay_follow(&r, &s);
    push(&r, 0, 0, RL_GOES_ON);
    push(&r, 2, 5, RL_TERMINATED);
    push(&r, 0, 0, RL_GOES_ON);
    assert_true(rl_twins_best(&r.twins, 2) == 5); /* before its own end */
    push(&r, 4, 1, RL_TERMINATED);
    assert_true(rl_twins_best(&r.twins, 0) == 5 && rl_twins_best(&r.twins, 2) == 5);
    assert_true(rl_twins_best(&r.twins, 3) == 1);
    push(&r, 6, 2, RL_GOES_ON);
    push(&r, 2, 5, RL_GOES_ON);
    push(&r, 8, -4, RL_TERMINATED);
    assert_true(rl_twins_best(&r.twins, 4) == 7 && rl_twins_best(&r.twins, 1) == 5);
    rl_replay_release(&r);
}

/* Uniform draws: chi-square over ten slots, 27.9 is the 0.999 point for nine degrees. */
static void test_uniform(void **state)
{
    (void)state;
    struct rows rows;
    struct rl_replay r = filled(10, -1, RL_GOES_ON);
    struct rl_settings s = rule(1);
    struct rl_batch *b = batch_of(&rows, 50);
    struct rl_rng rng;
    rl_rng_seed(&rng, 8, 0);
    for (int i = 0; i < 2000; i++)
        rl_replay_draw(&r, &s, 1, &rng, b);
    double x = 0;
    for (uint32_t i = 0; i < 10; i++)
        x += pow((double)r.drawn[i] - 10000, 2) / 10000;
    assert_true(x < 27.9);
    rl_replay_release(&r);
}

static void test_too_large(void **state)
{
    (void)state;
    struct rl_replay r;
    assert_int_equal(rl_replay_init(&r, 1u << 24, RL_OBSERVATION_MAX, 2), RL_E_SETTING);
    assert_int_equal(rl_replay_init(&r, 0, 4, 2), RL_E_SETTING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_inside_window),
        cmocka_unit_test(test_time_limit_inside_window),
        cmocka_unit_test(test_no_end),
        cmocka_unit_test(test_seam_of_the_ring),
        cmocka_unit_test(test_end_at_the_seam),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_time_limit_as_end_is_a_switch),
        cmocka_unit_test(test_rlax_returns),
        cmocka_unit_test(test_masks_and_rows),
        cmocka_unit_test(test_priorities_and_weights),
        cmocka_unit_test(test_tree_follows),
        cmocka_unit_test(test_legal_behind_a_window),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_twins_share),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
