/* The paper's candidates against their definition, descent against trying every move, the
 * algorithms against each other, the learner against the best candidate. */
#include "engine/pipeline/pipe_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/pipeline_layers.h"
#include "tests/unit/pipeline_random.h"

static struct pipe_instance layers(const char *cluster, uint32_t count, uint32_t points,
                                   double memory)
{
    struct pipe_instance in;

    assert_int_equal(layers_new(&in, cluster, count, points, memory), 0);
    return in;
}

/* ---- candidates ---- */
/* Share of the computation, then every cut within 2 % looked at. */
static uint32_t slow_pivot(const struct pipe_instance *in, uint32_t device)
{
    const double *f = in->forward_ms[0], *b = in->backward_ms[0];
    uint32_t n = in->points, best = 0;
    double all = f[n] + b[n], share = (double)device / in->devices;

    for (uint32_t i = 1; i < n; i++) {
        double at = (f[i] + b[i]) / all, best_at = (f[best] + b[best]) / all;
        if (fabs(at - share) > 0.02)
            continue;
        double bytes = in->forward_bytes[i] + in->backward_bytes[i];
        double best_bytes = in->forward_bytes[best] + in->backward_bytes[best];
        if (!best || bytes < best_bytes ||
            (bytes == best_bytes && fabs(at - share) < fabs(best_at - share)))
            best = i;
    }
    return best;
}

static void check_candidates(const char *cluster, uint32_t expected)
{
    struct pipe_instance in = layers(cluster, 24, 12, 0);
    struct pipe_space_options o = pipe_space_paper();
    struct pipe_plan p = {0}, before;
    struct pipe_space s;
    struct err e;
    uint32_t count = 0;

    assert_int_equal(pipe_space_new(&in, &o, &s, &e), 0);
    assert_true(s.size == expected);
    while (before = p, pipe_space_next(&s, &p)) {
        assert_true(pipe_plan_is_valid(&in, &p));
        assert_int_equal(p.stages, in.servers);
        for (uint32_t c = 1; c < p.stages; c++) {
            uint32_t a = in.boundary[c], d = p.device[c];
            assert_true((d > a ? d - a : a - d) <= 3);
            assert_int_equal(p.pivot[c], slow_pivot(&in, d));
        }
        assert_true(!count++ || !pipe_plan_equal(&p, &before));
    }
    assert_int_equal(count, expected);
    pipe_space_free(&s);
    pipe_instance_free(&in);
}

static void test_candidates(void **state)
{
    (void)state;
    check_candidates("b-3x8-v100", 49);
    check_candidates("c-4x8-v100", 343);
}

/* Counted offset by offset, on random problems where cuts collide and stages lack variables. */
static void test_candidates_random(void **state)
{
    (void)state;
    struct random_pipe r;
    uint32_t spaces = 0, pruned = 0;

    for (uint64_t seed = 0; seed < 600; seed++) {
        struct pipe_space_options o = {
            .stages = 1 + (uint32_t)(seed % 4), .radius = (uint32_t)(seed % 3), .snap = 0.05};
        struct pipe_space s;
        struct pipe_plan p = {0};
        struct err e;
        random_pipe_new(&r, seed, RANDOM_POINTS, RANDOM_DEVICES);
        if (o.stages > r.in.devices || o.stages > r.in.points) {
            assert_int_equal(pipe_space_new(&r.in, &o, &s, &e), ERR_INFEASIBLE);
            pipe_instance_free(&r.in);
            continue;
        }
        int rc = pipe_space_new(&r.in, &o, &s, &e);
        uint32_t width = 2 * o.radius + 1, all = 1, plans = 0, listed = 0;
        for (uint32_t c = 1; c < o.stages; c++)
            all *= width;
        for (uint32_t n = 0; n < all && !rc; n++) {
            struct pipe_plan q = {.stages = o.stages};
            bool good = true;
            for (uint32_t c = 1, rest = n; c < o.stages; c++, rest /= width) {
                int64_t d = (int64_t)s.anchor[c] + rest % width - o.radius;
                good &= d > 0 && d < r.in.devices;
                q.device[c] = good ? (uint32_t)d : 1;
                q.pivot[c] = s.pivot[q.device[c]];
            }
            q.device[o.stages] = r.in.devices;
            q.pivot[o.stages] = r.in.points;
            good = good && pipe_plan_is_valid(&r.in, &q);
            for (uint32_t c = 0; c < o.stages && good; c++)
                good = r.in.variables[q.pivot[c]] < r.in.variables[q.pivot[c + 1]];
            plans += good;
        }
        if (rc) {
            assert_int_equal(rc, ERR_INFEASIBLE);
        } else {
            assert_true(s.size == plans);
            while (pipe_space_next(&s, &p))
                listed++;
            assert_int_equal(listed, plans);
            spaces++;
            pruned += plans < all;
            pipe_space_free(&s);
        }
        pipe_instance_free(&r.in);
    }
    assert_true(spaces > 200 && pruned > 50);
}

/* ---- descent ---- */
/* Where it ends no single change of a pivot by 1 or a device cut by 1 gains. */
static void test_descent(void **state)
{
    (void)state;
    struct random_pipe r;
    uint32_t compared = 0;

    for (uint64_t seed = 0; seed < 400; seed++) {
        random_pipe_new(&r, seed, RANDOM_POINTS, RANDOM_DEVICES);
        struct pipe_goal g = {.in = &r.in, .simulate = seed % 2};
        struct pipe_descent d;
        if (pipe_instant(&g, 2, &d)) {
            assert_true(pipe_fits(&r.in, &d.plan));
            for (uint32_t s = 1; s < d.plan.stages; s++) {
                for (int m = 0; m < 4; m++) {
                    struct pipe_plan p = d.plan;
                    uint32_t *at = m / 2 ? &p.pivot[s] : &p.device[s];
                    *at += m % 2 ? 1 : UINT32_MAX;
                    assert_true(!pipe_plan_is_valid(&r.in, &p) ||
                                pipe_goal_price(&g, &p) >= d.value * (1 - 1e-12));
                    compared++;
                }
            }
        }
        pipe_instance_free(&r.in);
    }
    assert_true(compared > 500);
}

/* ---- algorithms ---- */
static struct pipe_best run(const struct pipe_instance *in, enum pipe_algorithm a, uint64_t seed,
                            uint64_t most, bool *proven)
{
    struct pipe_search_options o = {.algorithm = a, .space = pipe_space_paper(), .seed = seed};
    struct pipe_search *s;
    struct pipe_event event;
    struct pipe_best best;
    struct err e;
    double least = INFINITY;

    if (pipe_search_new(in, &o, &s, &e))
        fail_msg("%s", e.what);
    while (pipe_search_evaluations(s) < most && pipe_search_step(s, &event)) {
        if (event.ended) {
            assert_true(isinf(event.length_ms) || event.length_ms == pipe_score(in, &event.plan));
            assert_int_equal(event.improved, event.length_ms < least);
            least = fmin(least, event.length_ms);
        }
    }
    best = *pipe_search_best(s);
    if (proven)
        *proven = pipe_search_is_proven(s);
    assert_true(best.length_ms <= least);
    pipe_search_free(s);
    return best;
}

static void compare_all(const struct pipe_instance *in)
{
    bool proven;
    struct pipe_best all = run(in, PIPE_SEARCH_ENUMERATE, 1, UINT64_MAX, &proven);
    assert_true(proven);
    struct pipe_best exact = run(in, PIPE_SEARCH_EXACT, 1, UINT64_MAX, &proven);
    assert_true(proven);

    for (uint64_t seed = 1; seed <= 3; seed++) {
        for (int a = 0; a < PIPE_ALGORITHM_COUNT; a++) {
            struct pipe_best b = run(in, (enum pipe_algorithm)a, seed, 200, NULL);
            struct pipe_best again = run(in, (enum pipe_algorithm)a, seed, 200, NULL);
            assert_true(b.length_ms == again.length_ms && pipe_plan_equal(&b.plan, &again.plan));
            assert_true(b.length_ms >= exact.length_ms * (1 - 1e-9));
            if (a == PIPE_SEARCH_DQN || a == PIPE_SEARCH_RANDOM || a == PIPE_SEARCH_GREEDY)
                assert_true(b.length_ms >= all.length_ms);
        }
        struct pipe_best descent = run(in, PIPE_SEARCH_DESCENT, seed, 5000, NULL);
        assert_true(descent.length_ms <= all.length_ms);
    }
}

static void test_algorithms(void **state)
{
    (void)state;
    struct pipe_instance in = layers("b-3x8-v100", 12, 4, 0);

    compare_all(&in);
    in.options.memory_share = 0.26; /* some candidates fit, some do not */
    compare_all(&in);
    in.options.memory_share = 0.01;
    bool proven;
    struct pipe_best none = run(&in, PIPE_SEARCH_EXACT, 1, UINT64_MAX, &proven);
    assert_true(proven && isinf(none.length_ms));
    none = run(&in, PIPE_SEARCH_DQN, 1, 50, NULL);
    assert_true(isinf(none.length_ms));
    pipe_instance_free(&in);
}

static void test_some_do_not_fit(void **state)
{
    (void)state;
    struct pipe_instance in = layers("b-3x8-v100", 12, 4, 0.26);
    struct pipe_space_options o = pipe_space_paper();
    struct pipe_plan p = {0};
    struct pipe_space s;
    struct pipe_game g;
    struct err e;
    uint32_t fit = 0, unfit = 0;

    assert_int_equal(pipe_space_new(&in, &o, &s, &e), 0);
    pipe_game_new(&s, &g);
    while (pipe_space_next(&s, &p)) { /* the game pays each of them as it should */
        double reward = 0;
        pipe_game_reset(&g);
        for (uint32_t c = 1; c < p.stages; c++) {
            assert_true(reward == 0 && !pipe_game_is_over(&g));
            uint32_t offset = p.device[c] + 3 - s.anchor[c];
            assert_true(pipe_game_legal(&g) >> offset & 1);
            reward = pipe_game_play(&g, offset);
        }
        assert_true(pipe_game_is_over(&g) && pipe_plan_equal(&g.plan, &p));
        bool fits = pipe_fits(&in, &p);
        assert_true(reward == (fits ? g.reference_ms / pipe_length(&in, &p) : -1));
        fit += fits;
        unfit += !fits;
    }
    assert_true(fit > 5 && unfit > 5);
    pipe_space_free(&s);
    pipe_instance_free(&in);
}

/* Beginnings under two pins, given in either order: plans in order that hold both. */
static void test_beginnings_hold_pins(void **state)
{
    (void)state;
    enum { ROOM = 4 * PIPE_DEVICES_MOST };
    struct pipe_plan *begin = mem_alloc(ROOM * sizeof *begin);
    struct pipe_instance in = layers("c-4x8-v100", 24, 12, 0);
    uint32_t checked = 0;

    for (uint32_t device = 1; device + 1 < in.devices; device += 3) {
        for (uint32_t pivot = 1; pivot + 1 < in.points; pivot++) {
            struct pipe_pin pin[] = {{device + 1, pivot + 1}, {device, pivot}};
            struct pipe_goal g = {.in = &in, .pins = {pin, 2}};
            uint32_t count = pipe_beginnings(&g, begin, ROOM);
            for (uint32_t n = 0; n < count; n++) {
                uint32_t held = 0;
                for (uint32_t s = 1; s < begin[n].stages; s++) {
                    held += begin[n].device[s] == device && begin[n].pivot[s] == pivot;
                    held += begin[n].device[s] == device + 1 && begin[n].pivot[s] == pivot + 1;
                }
                assert_int_equal(held, 2);
                assert_true(pipe_plan_is_valid(&in, &begin[n]));
                checked++;
            }
        }
    }
    assert_true(checked > 100);
    free(begin);
    pipe_instance_free(&in);
}

/* Every algorithm keeps a pinned cut; the exact one still proves what it finds. */
static void test_pinned(void **state)
{
    (void)state;
    struct pipe_instance in = layers("c-4x8-v100", 12, 4, 0);
    struct pipe_pin pin[] = {{18, 21}};

    for (int a = 0; a < PIPE_ALGORITHM_COUNT; a++) {
        struct pipe_search_options o = {
            .algorithm = (enum pipe_algorithm)a, .space = pipe_space_paper(), .seed = 1};
        struct pipe_search *s;
        struct pipe_event event;
        struct err e;
        uint32_t at = 1;
        o.space.pins = (struct pipe_pins){pin, 1};
        assert_int_equal(pipe_search_new(&in, &o, &s, &e), 0);
        for (int n = 0; n < 400 && pipe_search_step(s, &event); n++)
            ;
        const struct pipe_best *best = pipe_search_best(s);
        assert_true(best->length_ms < INFINITY);
        while (at < best->plan.stages && best->plan.device[at] != 18)
            at++;
        if (at == best->plan.stages || best->plan.pivot[at] != 21)
            fail_msg("%s lost the pin", pipe_search_names[a]);
        pipe_search_free(s);
    }
    pipe_instance_free(&in);
}

/* The learner is paid what the game pays, at the last cut, and that ends the episode. */
static void test_pay(void **state)
{
    (void)state;
    struct pipe_instance in = layers("c-4x8-v100", 24, 8, 0);
    struct pipe_space_options o = pipe_space_paper();
    struct pipe_space s;
    struct pipe_game one, two;
    struct rl_rng rng;
    struct err e;

    assert_int_equal(pipe_space_new(&in, &o, &s, &e), 0);
    pipe_game_new(&s, &one);
    pipe_game_new(&s, &two);
    struct rl_env env = pipe_game_env(&one);
    rl_rng_seed(&rng, 1, 0);
    for (int episode = 0; episode < 50; episode++) {
        env.reset(env.self, &rng);
        pipe_game_reset(&two);
        while (!pipe_game_is_over(&two)) {
            uint64_t legal;
            env.legal(env.self, &legal);
            assert_true(legal == pipe_game_legal(&two));
            uint32_t offset = rl_rng_below(&rng, 7);
            while (!(legal >> offset & 1))
                offset = (offset + 1) % 7;
            struct rl_outcome out = env.step(env.self, offset, &rng);
            assert_true(out.reward == (float)pipe_game_play(&two, offset));
            assert_int_equal(out.end, pipe_game_is_over(&two) ? RL_TERMINATED : RL_GOES_ON);
        }
    }
    pipe_space_free(&s);
    pipe_instance_free(&in);
}

/* The learner sees the best of the 343 candidates in at least 4 of 5 seeds. */
static void test_learner(void **state)
{
    (void)state;
    struct pipe_instance in = layers("c-4x8-v100", 24, 8, 0);
    double best = run(&in, PIPE_SEARCH_ENUMERATE, 1, UINT64_MAX, NULL).length_ms;
    uint32_t reached = 0;

    for (uint64_t seed = 1; seed <= 5; seed++)
        reached += run(&in, PIPE_SEARCH_DQN, seed, 1200, NULL).length_ms == best;
    assert_true(reached >= 4);
    pipe_instance_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidates),      cmocka_unit_test(test_candidates_random),
        cmocka_unit_test(test_descent),         cmocka_unit_test(test_algorithms),
        cmocka_unit_test(test_some_do_not_fit), cmocka_unit_test(test_beginnings_hold_pins),
        cmocka_unit_test(test_pinned),          cmocka_unit_test(test_pay),
        cmocka_unit_test(test_learner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
