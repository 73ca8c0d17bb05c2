/* The simulated schedules against a clock that moves from event to event, on random pipelines; what
 * a schedule must satisfy; L against cases worked by hand and against the formula as written. */
#include "engine/pipeline/simulation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "tests/unit/pipeline_random.h"

enum { MOST_NODES = 15, MOST_BATCHES = 24 };

static struct pipe_plan random_plan(const struct pipe_instance *in, struct rl_rng *r)
{
    struct pipe_plan p = pipe_plan_whole(in);
    uint32_t most = in->points < in->devices ? in->points : in->devices;
    uint32_t stages = 1 + rl_rng_below(r, most);

    while (p.stages < stages) { /* split a stage that can be split, until there are enough */
        uint32_t s = rl_rng_below(r, p.stages);
        uint32_t points = p.pivot[s + 1] - p.pivot[s], devices = p.device[s + 1] - p.device[s];
        if (points < 2 || devices < 2) {
            if (rl_rng_below(r, 50) == 0)
                break;
            continue;
        }
        memmove(&p.pivot[s + 2], &p.pivot[s + 1], (p.stages - s) * sizeof *p.pivot);
        memmove(&p.device[s + 2], &p.device[s + 1], (p.stages - s) * sizeof *p.device);
        p.pivot[s + 1] = p.pivot[s] + 1 + rl_rng_below(r, points - 1);
        p.device[s + 1] = p.device[s] + 1 + rl_rng_below(r, devices - 1);
        p.stages++;
    }
    return p;
}

/* ---- the clock ---- */
struct job {
    uint32_t node, batch;
    int backward;
    double start, end, arrived;
    int state; /* 0 waits, 1 runs, 2 done */
};

struct clock {
    struct job job[2 * MOST_NODES * MOST_BATCHES];
    uint32_t jobs, nodes, batches;
    const struct pipe_node *node;
    bool half_duplex;
    double now;
};

static struct job *job_of(struct clock *c, uint32_t node, int backward, uint32_t batch)
{
    return &c->job[(node * 2 + (uint32_t)backward) * c->batches + batch];
}

static const struct job *needed(struct clock *c, const struct job *j)
{
    if (!j->backward)
        return j->node ? job_of(c, j->node - 1, 0, j->batch) : NULL;
    return j->node + 1 < c->nodes ? job_of(c, j->node + 1, 1, j->batch)
                                  : job_of(c, j->node, 0, j->batch);
}

/* A stage's order, written out: forward w times, then one backward, one forward, .. */
static void write_order(struct clock *c, uint32_t node, uint32_t w, struct job **order)
{
    uint32_t n = 0, f = 0, b = 0;

    while (f < w)
        order[n++] = job_of(c, node, 0, f++);
    while (b < c->batches) {
        order[n++] = job_of(c, node, 1, b++);
        if (f < c->batches)
            order[n++] = job_of(c, node, 0, f++);
    }
}

static bool node_runs(struct clock *c, uint32_t node, int backward)
{
    bool one_thing = node % 2 == 0 || c->half_duplex;

    for (uint32_t b = 0; b < c->batches; b++)
        for (int way = 0; way < 2; way++)
            if (job_of(c, node, way, b)->state == 1 && (one_thing || way == backward))
                return true;
    return false;
}

static bool begin(struct clock *c, struct job *j)
{
    const struct job *before = needed(c, j);

    if (j->state || (before && before->state != 2) || node_runs(c, j->node, j->backward))
        return false;
    j->state = 1;
    j->start = c->now;
    j->end = c->now + (j->backward ? c->node[j->node].backward_ms : c->node[j->node].forward_ms);
    return true;
}

/* Of a link's two queues, the heads; on a half-duplex link the one that came first. */
static bool begin_link(struct clock *c, uint32_t node)
{
    struct job *head[2] = {NULL, NULL};
    bool began = false;

    for (int way = 0; way < 2; way++)
        for (uint32_t b = c->batches; b-- > 0;)
            if (!job_of(c, node, way, b)->state)
                head[way] = job_of(c, node, way, b);
    for (int way = 0; way < 2; way++) {
        const struct job *before = head[way] ? needed(c, head[way]) : NULL;
        if (head[way] && before && before->state != 2)
            head[way] = NULL;
        else if (head[way] && before)
            head[way]->arrived = before->end;
    }
    if (c->half_duplex && head[0] && head[1])
        head[head[0]->arrived < head[1]->arrived ? 1 : 0] = NULL;
    for (int way = 0; way < 2; way++)
        began |= head[way] && begin(c, head[way]);
    return began;
}

static double run_clock(struct clock *c, const struct pipe_node *node, uint32_t nodes,
                        const struct pipe_options *o, enum pipe_schedule_kind kind)
{
    struct job *order[MOST_NODES][2 * MOST_BATCHES];
    uint32_t at[MOST_NODES] = {0}, left = 2 * nodes * o->micro_batches;
    double makespan = 0;

    memset(c, 0, sizeof *c);
    c->nodes = nodes;
    c->batches = o->micro_batches;
    c->node = node;
    c->half_duplex = o->half_duplex;
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t k = (nodes - n + 1) / 2;
        uint32_t w = kind == PIPE_EAGER ? 2 * k - 1 : kind == PIPE_1F1B ? k : c->batches;
        for (uint32_t b = 0; b < c->batches; b++)
            for (int way = 0; way < 2; way++)
                *job_of(c, n, way, b) = (struct job){n, b, way, 0, 0, 0, 0};
        write_order(c, n, w < c->batches ? w : c->batches, order[n]);
    }
    while (left) {
        bool began = true;
        double next = INFINITY;
        while (began) { /* whatever can begin now, begins */
            began = false;
            for (uint32_t n = 0; n < nodes; n++) {
                if (n % 2)
                    began |= begin_link(c, n);
                else if (at[n] < 2 * c->batches && begin(c, order[n][at[n]]))
                    began = ++at[n] > 0;
            }
        }
        for (uint32_t i = 0; i < 2 * nodes * c->batches; i++)
            if (c->job[i].state == 1)
                next = fmin(next, c->job[i].end);
        c->now = next;
        for (uint32_t i = 0; i < 2 * nodes * c->batches; i++) {
            if (c->job[i].state == 1 && c->job[i].end <= next) {
                c->job[i].state = 2;
                left--;
            }
        }
    }
    for (uint32_t n = 0; n < nodes; n++)
        makespan = fmax(makespan, job_of(c, n, 1, c->batches - 1)->end + node[n].reduce_ms);
    return makespan;
}

/* ---- comparisons ---- */
/* One thing at a time, after what it needs, no more in flight than the schedule allows. */
static void check_schedule(const struct pipe_schedule *s, const struct pipe_options *o)
{
    for (uint32_t n = 0; n < s->nodes; n++) {
        double free_at[2] = {0, 0};
        uint32_t flight = 0, most = 0;
        struct pipe_options counted = *o;
        counted.schedule = s->kind;
        for (uint32_t i = 0; i < s->count; i++) {
            const struct pipe_task *t = &s->task[i];
            int lane = n % 2 && !o->half_duplex && t->kind == PIPE_FORWARD;
            if (t->node != n)
                continue;
            assert_true(t->start_ms >= free_at[lane]);
            free_at[lane] = t->end_ms;
            flight += t->kind == PIPE_FORWARD;
            most = flight > most ? flight : most;
            flight -= t->kind == PIPE_BACKWARD;
        }
        assert_int_equal(flight, 0);
        if (n % 2 == 0)
            assert_int_equal(most, pipe_in_flight(&counted, (s->nodes - n + 1) / 2));
    }
    for (uint32_t i = 1; i < s->count; i++)
        assert_true(s->task[i].start_ms >= s->task[i - 1].start_ms);
}

static void test_random(void **state)
{
    (void)state;
    struct clock *c = calloc(1, sizeof *c);
    struct random_pipe p;
    struct rl_rng r;
    struct err e;
    uint32_t several = 0;

    assert_non_null(c);
    rl_rng_seed(&r, 7, 0);
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct pipe_node node[2 * RANDOM_DEVICES], quick[2 * RANDOM_DEVICES];
        struct pipe_schedule s;
        random_pipe_new(&p, seed, RANDOM_POINTS, RANDOM_DEVICES);
        struct pipe_plan plan = random_plan(&p.in, &r);
        uint32_t count = slow_nodes(&p, &plan, node);
        several += plan.stages > 2;
        assert_true(pipe_plan_is_valid(&p.in, &plan));
        assert_int_equal(pipe_plan_nodes(&p.in, &plan, quick), count);
        for (int kind = 0; kind < PIPE_SCHEDULE_COUNT; kind++) {
            double expected =
                run_clock(c, quick, count, &p.in.options, (enum pipe_schedule_kind)kind);
            assert_int_equal(
                pipe_schedule_make(&p.in, &plan, (enum pipe_schedule_kind)kind, &s, &e), 0);
            if (!near(s.makespan_ms, expected))
                fail_msg("seed %u kind %d: %.17g, expected %.17g", (unsigned)seed, kind,
                         s.makespan_ms, expected);
            assert_true(s.makespan_ms ==
                        pipe_makespan(&p.in, &plan, (enum pipe_schedule_kind)kind));
            check_schedule(&s, &p.in.options);
            pipe_schedule_free(&s);
        }
        assert_true(near(pipe_length(&p.in, &plan), slow_length(node, count, &p.in.options)));
        for (uint32_t n = 0; n < plan.stages; n++) {
            struct pipe_stage stage = pipe_stage_of(&p.in, &plan, n);
            assert_true(near(stage.memory_bytes, slow_memory(&p, &plan, n)));
            assert_true(near(stage.forward_ms, node[2 * n].forward_ms));
            double shown =
                p.in.options.overlap < 0
                    ? slow_shown_ms(stage.backward_ms, stage.all_reduce_ms) + stage.sync_ms
                    : (1 - p.in.options.overlap) * (stage.all_reduce_ms + stage.sync_ms);
            assert_true(near(stage.reduce_ms, shown + stage.update_ms) || p.in.types > 1 || p.ties);
        }
        pipe_instance_free(&p.in);
    }
    assert_true(several > 500);
    free(c);
}

/* Worked by hand (engine/pipeline/README.md). */
static void test_by_hand(void **state)
{
    (void)state;
    struct pipe_options o = {.micro_batches = 4, .micro_batch = 1};
    uint32_t q = 99;

    /* One stage: four times 1 + 2, then 5. */
    struct pipe_node one[] = {{1, 2, 5}};
    assert_true(pipe_nodes_length(one, 1, &o, &q) == 17 && q == 0);
    assert_true(pipe_nodes_makespan(one, 1, &o, PIPE_GPIPE) == 17);

    /* Two equal stages, nothing to move: (M + 1) (1 + 2), whatever the schedule. */
    struct pipe_node two[] = {{1, 2, 0}, {0, 0, 0}, {1, 2, 0}};
    assert_true(pipe_nodes_length(two, 3, &o, NULL) == 15);
    for (int kind = 0; kind < PIPE_SCHEDULE_COUNT; kind++)
        assert_true(pipe_nodes_makespan(two, 3, &o, (enum pipe_schedule_kind)kind) == 15);

    /* A transfer of 1 each way. Q = 2: 1 + 1 + 1 + 3 x 3 + 2 + 1 + 2 = 17. With two forward passes
     * first in place of three stage 0 waits for the way there and back: 19. */
    struct pipe_node far[] = {{1, 2, 0}, {1, 1, 0}, {1, 2, 0}};
    assert_true(pipe_nodes_length(far, 3, &o, NULL) == 17);
    assert_true(pipe_nodes_makespan(far, 3, &o, PIPE_EAGER) == 17);
    assert_true(pipe_nodes_makespan(far, 3, &o, PIPE_1F1B) == 19);

    /* Transfers of 5 each way bound the pipeline: Q = 1, 1 + 5 + 3 x 5 + 5 + 2 = 28 when both ways
     * go at once, 1 + 5 + 3 x 10 + 5 + 2 = 43 when they do not. */
    struct pipe_node slow[] = {{1, 2, 0}, {5, 5, 0}, {1, 2, 0}};
    assert_true(pipe_nodes_length(slow, 3, &o, &q) == 28 && q == 1);
    o.half_duplex = true;
    assert_true(pipe_nodes_length(slow, 3, &o, &q) == 43 && q == 1);
    o.half_duplex = false;

    /* The last stage is done 2 before the first: of its all-reduce of 6 it hides 2. Q = 2:
     * 1 + 1 + 9 + max(0 + 2 + 2, 6 + 2) = 19. In the first stage it follows everything: 15 + 6. */
    struct pipe_node last[] = {{1, 2, 0}, {0, 0, 0}, {1, 2, 6}},
                     first[] = {{1, 2, 6}, {0, 0, 0}, {1, 2, 0}};
    assert_true(pipe_nodes_length(last, 3, &o, NULL) == 19);
    assert_true(pipe_nodes_makespan(last, 3, &o, PIPE_EAGER) == 19);
    assert_true(pipe_nodes_length(first, 3, &o, NULL) == 21);
    assert_true(pipe_nodes_makespan(first, 3, &o, PIPE_EAGER) == 21);

    /* A stage that takes for ever. */
    struct pipe_node never[] = {{1, 2, 0}, {0, 0, 0}, {1, INFINITY, 0}};
    for (int kind = 0; kind < PIPE_SCHEDULE_COUNT; kind++) {
        for (int half = 0; half < 2; half++) {
            o.half_duplex = half;
            assert_true(isinf(pipe_nodes_makespan(never, 3, &o, (enum pipe_schedule_kind)kind)));
        }
    }
}

static void test_limits(void **state)
{
    (void)state;
    struct random_pipe p;
    struct pipe_schedule s;
    struct err e = {0};

    random_pipe_new(&p, 1, 4, 4);
    struct pipe_plan plan = pipe_plan_whole(&p.in);
    p.in.options.micro_batches = PIPE_TASKS_MOST / 2;
    assert_int_equal(pipe_schedule_make(&p.in, &plan, PIPE_EAGER, &s, &e), ERR_LIMIT);
    assert_true(isinf(pipe_makespan(&p.in, &plan, PIPE_EAGER)));
    pipe_instance_free(&p.in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
