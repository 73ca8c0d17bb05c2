/* The paper's own network for pipelines: what it sees against the definitions, its choice against
 * every pair tried, a training that is the same twice and goes on after a stop, its file. */
#include "engine/pipeline/environment.h"
#include "engine/pipeline/flat_net.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_infer.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pretrain_flat.h"
#include "tests/unit/run_program.h"

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

static void begin(struct environment *v, uint32_t range, uint64_t number)
{
    struct rl_rng rng;
    struct err e;

    rl_rng_seed(&rng, 7, number);
    if (environment_new(v, &environment_ranges[range], 0, &rng, &e))
        fail_msg("%s", e.what);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-5 * (1 + fabs(b));
}

/* C and W are sums from the first point on, A is not; the largest of all three is 1; speeds are
 * symmetric and fall at the border of servers; the partition shows what is decided. */
static void test_observation(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 20; number++) {
        struct environment v;
        float seen[FLAT_OBSERVATION];
        double most = 0, scale;
        begin(&v, number % 2 ? ENVIRONMENT_WIDE : ENVIRONMENT_C, number);
        const struct pipe_instance *in = &v.in;
        double m = in->options.micro_batches, slow = 0;
        for (uint32_t d = 1; d < in->devices; d++)
            slow = fmax(slow, pipe_link_of(in, d - 1, d, d + 1)->ms_per_byte);
        struct pipe_node whole = pipe_stage_node(in, 0, in->points, 0, 1);
        double work = m * (whole.forward_ms + whole.backward_ms) / in->devices;
        flat_observe_problem(in, seen);
        for (uint32_t k = 0; k < 3 * FLAT_POINTS; k++)
            most = fmax(most, (double)seen[k]);
        assert_true(near(most, 1));
        scale = (double)seen[in->points - 1] / work;
        for (uint32_t i = 0; i < in->points; i++) {
            struct pipe_node before = pipe_stage_node(in, 0, i + 1, 0, 1);
            assert_true(near((double)seen[i],
                             scale * m * (before.forward_ms + before.backward_ms) / in->devices));
            assert_true(
                near((double)seen[FLAT_POINTS + i],
                     scale * (m - 1) * slow * fmax(in->forward_bytes[i], in->backward_bytes[i])));
            assert_true(near((double)seen[2 * FLAT_POINTS + i],
                             scale * in->gradient_bytes[i + 1] *
                                 pipe_group_of(in, 0, in->devices)->reduce_ms_per_byte));
        }
        const float *speed = seen + 3 * FLAT_POINTS;
        for (uint32_t a = 0; a < in->devices; a++) {
            for (uint32_t b = 0; b < in->devices; b++) {
                float is = speed[a * FLAT_DEVICES + b];
                assert_true(is == speed[b * FLAT_DEVICES + a] && is > 0 && is <= 1);
                if (in->server_of[a] != in->server_of[b] && in->servers < in->devices)
                    assert_true(is < 0.5f);
            }
        }
        struct pipe_plan p = {.stages = 3, .pivot = {0, 9}, .device = {0, 1}};
        flat_observe_plan(in, &p, 2, in->devices - 1, seen);
        float sum = 0;
        for (uint32_t k = FLAT_PARTITION; k < FLAT_STATE; k++)
            sum += seen[k];
        assert_true(sum == (in->devices == 2 ? 2 : 3));
        assert_true(seen[FLAT_PARTITION + 9] == 1 && seen[FLAT_PARTITION + FLAT_POINTS + 1] == 1);
        assert_true(seen[FLAT_PARTITION + FLAT_POINTS + in->devices - 1] == 1);
        assert_true(seen[FLAT_STATE] == 1 && seen[FLAT_STATE + 1] == 0.25f);
        environment_free(&v);
    }
}

static void make_random(struct pipe_net *net)
{
    struct rl_rng rng;

    *net = (struct pipe_net){.temperature = 1};
    assert_int_equal(flat_net_new(&net->flat), RL_OK);
    rl_rng_seed(&rng, 3, 1);
    rl_net_start(&net->flat.net, net->flat.parameters, &rng);
}

/* What it decides is the legal pair of largest Q, and passes end in plans that keep the cuts. */
static void test_decides_the_largest(void **state)
{
    (void)state;
    struct pipe_net net;
    make_random(&net);
    for (uint64_t number = 0; number < 12; number++) {
        struct environment v;
        struct pipe_infer f;
        struct pipe_infer_state s;
        struct pipe_candidate taken;
        struct err e;
        begin(&v, number % 2 ? ENVIRONMENT_WIDE : ENVIRONMENT_MIXED, number);
        struct pipe_goal goal = {.in = &v.in, .device_cut = v.device_cut, .stages = v.stages};
        assert_int_equal(pipe_infer_new(&f, &goal, v.stages, &e), 0);
        pipe_infer_start(&f, &s);
        while (s.cut < v.stages) {
            float seen[FLAT_OBSERVATION], q[FLAT_ACTIONS], best = -INFINITY;
            struct pipe_candidate wanted = {0};
            uint32_t left = v.stages - s.cut, behind = 0;
            flat_observe_problem(&v.in, seen);
            for (uint32_t d = v.in.devices; --d > s.plan.device[s.cut - 1];) {
                behind += v.device_cut[d];
                if (!v.device_cut[d] || behind < left)
                    continue;
                flat_observe_plan(&v.in, &s.plan, s.cut, d, seen);
                flat_q(&net.flat, seen, q);
                for (uint32_t j = s.plan.pivot[s.cut - 1] + 1; j <= v.in.points - left; j++) {
                    if (q[j] > best) {
                        best = q[j];
                        wanted = (struct pipe_candidate){j, d};
                    }
                }
            }
            assert_true(pipe_infer_decide(&f, &net, &s, &taken));
            assert_int_equal(taken.pivot, wanted.pivot);
            assert_int_equal(taken.device, wanted.device);
            pipe_infer_play(&f, &s, taken);
        }
        assert_true(pipe_plan_is_valid(&v.in, &s.plan));
        pipe_infer_free(&f);
        environment_free(&v);
    }
    pipe_net_free(&net);
}

static char path[2][64];

static struct pretrain_options options_of(uint64_t problems)
{
    return (struct pretrain_options){
        .seed = 1, .environments = problems, .range = ENVIRONMENT_C, .state = path[1]};
}

struct stopping {
    atomic_bool stop;
    uint64_t at;
};

static void stop_at(void *self, const struct pretrain_progress *p)
{
    struct stopping *s = self;

    if (p->environments >= s->at)
        atomic_store(&s->stop, true);
}

/* What the last decision claims is about what its plan earns, 1/L in ideal steps. */
static void expect_values(const struct pipe_net *net)
{
    double claimed = 0, earned = 0;

    for (uint64_t number = 0; number < 40; number++) {
        struct environment v;
        struct pipe_infer f;
        struct pipe_infer_state s;
        struct pipe_candidate taken;
        struct err e;
        float best = -INFINITY;
        begin(&v, ENVIRONMENT_C, number);
        struct pipe_goal goal = {.in = &v.in, .device_cut = v.device_cut, .stages = v.stages};
        assert_int_equal(pipe_infer_new(&f, &goal, v.stages, &e), 0);
        pipe_infer_start(&f, &s);
        while (s.cut < v.stages) {
            assert_true(pipe_infer_decide(&f, net, &s, &taken));
            pipe_infer_play(&f, &s, taken);
        }
        for (uint32_t n = 0; n < f.count; n++)
            best = fmaxf(best, f.score[n]);
        claimed += (double)best;
        earned += f.ideal_ms / pipe_length(&v.in, &s.plan);
        pipe_infer_free(&f);
        environment_free(&v);
    }
    print_message("claimed %.3f, earned %.3f\n", claimed / 40, earned / 40);
    assert_true(claimed > 0.6 * earned && claimed < 1.8 * earned);
}

/* Rows of `pretrain show` for `problems` problems, whose gap is none. */
static uint32_t rows_without_gap(const char *shown, unsigned long problems)
{
    uint32_t rows = 0;

    while (*shown) {
        size_t end = strcspn(shown, "\n");
        char *behind;
        unsigned long number = strtoul(shown, &behind, 10);
        rows +=
            behind > shown && number == problems && end > 3 && !strncmp(shown + end - 3, "  -", 3);
        shown += end + (shown[end] == '\n');
    }
    return rows;
}

/* A gap to an optimum that is not known is none, in the file and as shown. */
static void expect_unknown_gap(struct pipe_net *net)
{
    const char *const argv[] = {AUTOMAP_BINARY, "pretrain", "show", path[1], NULL};
    char shown[8192];
    double gap;
    struct err e;

    assert_true(isnan(pretrain_mean_gap(0, 0)) && pretrain_mean_gap(3, 4) == 0.75);
    gap = net->curve[1].gap;
    net->curve[1].gap = pretrain_mean_gap(0, 0);
    assert_int_equal(pipe_net_save(net, path[1], &e), 0);
    net->curve[1].gap = gap;
    assert_int_equal(run_program(argv, shown, sizeof shown), 0);
    assert_int_equal(rows_without_gap(shown, 2), 1);
    unlink(path[1]);
}

/* The same twice; stopped after the first save and gone on with: the same; from its file: the
 * same. */
static void test_training(void **state)
{
    (void)state;
    enum { PROBLEMS = 10 };
    struct pretrain_options o = options_of(PROBLEMS);
    struct stopping s = {.at = 8};
    struct pipe_net whole, net, back;
    struct err e;
    o.state = NULL;
    assert_int_equal(pretrain_flat(&o, NULL, NULL, &whole, &e), 0);
    assert_true(whole.points == PROBLEMS && whole.curve[PROBLEMS - 1].environments == PROBLEMS);
    for (uint32_t k = 0; k < whole.points; k++)
        assert_true(whole.curve[k].gap >= 0 && isfinite(whole.curve[k].gap));
    expect_values(&whole);
    size_t bytes = whole.flat.net.parameters * sizeof *whole.flat.parameters;
    o.state = path[1];
    o.stop = &s.stop;
    assert_int_equal(pretrain_flat(&o, stop_at, &s, &net, &e), ERR_INFEASIBLE);
    assert_non_null(strstr(e.what, "goes on from the 8 problems"));
    assert_null(net.flat.parameters);
    o.stop = NULL;
    assert_int_equal(pretrain_flat(&o, NULL, NULL, &net, &e), 0);
    unlink(path[1]);
    assert_memory_equal(net.flat.parameters, whole.flat.parameters, bytes);
    assert_memory_equal(net.curve, whole.curve, sizeof net.curve);
    assert_int_equal(pipe_net_save(&net, path[0], &e), 0);
    assert_int_equal(pipe_net_load(&back, path[0]), 0);
    assert_memory_equal(back.flat.parameters, whole.flat.parameters, bytes);
    assert_true(back.points == PROBLEMS && !back.scorer.weight);
    expect_unknown_gap(&back);
    assert_int_equal(truncate(path[0], 5000), 0);
    struct pipe_net cut;
    assert_true(pipe_net_load(&cut, path[0]) < 0);
    unlink(path[0]);
    pipe_net_free(&whole);
    pipe_net_free(&net);
    pipe_net_free(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observation),
        cmocka_unit_test(test_decides_the_largest),
        cmocka_unit_test(test_training),
    };

    for (int k = 0; k < 2; k++)
        snprintf(path[k], sizeof path[k], "/tmp/flat_net.%d.%d", (int)getpid(), k);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
