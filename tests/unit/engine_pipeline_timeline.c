/* The memory of a stage over time against a slow reference, which follows every value of every
 * micro-batch from the moment it is there to the moment it is gone, on random modules and plans;
 * one stage against XLA; changes of single decisions against the changed plans. */
#include "memory_rows.h"
#include "random_module.h"
#include "shipped.h"
#include "slow_reads.h"

#include "engine/pipeline/stage_peak.h"
#include "rl/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

enum { MODULES = 3000 };

/* ---- the slow reference ---- */

/* A value of one micro-batch is held from `start` until before `end`. */
struct held {
    double start, end, bytes;
};

struct slow {
    const struct order *o;
    const struct pipe_instance *in;
    const struct pipe_plan *plan;
    const struct pipe_schedule *schedule;
    const bool *runs; /* slow_runs */
    uint32_t stage, i, j, replicas;
    struct held *list;
    size_t count, room;
};

static const struct pipe_task *task_of(const struct slow *s, uint32_t node, uint32_t micro_batch,
                                       enum pipe_task_kind kind)
{
    for (uint32_t n = 0; n < s->schedule->count; n++) {
        const struct pipe_task *t = &s->schedule->task[n];
        if (t->node == node && t->micro_batch == micro_batch && t->kind == kind)
            return t;
    }
    return NULL;
}

/* Times of one operation's points: forward, and the backward pass, where recompute runs all forward
 * again. */
static double ms_of(const struct slow *s, uint32_t point, bool backward)
{
    double **row = backward ? s->in->backward_ms : s->in->forward_ms;

    return row[s->replicas - 1][point + 1] - row[s->replicas - 1][point];
}

enum pass { FIRST, AGAIN, BACK };

/* When the work at `point` begins (end: false) or ends in a pass of a micro-batch. */
static double when(const struct slow *s, uint32_t micro_batch, enum pass pass, uint32_t point,
                   bool end)
{
    const struct pipe_task *t =
        task_of(s, 2 * s->stage, micro_batch, pass == FIRST ? PIPE_FORWARD : PIPE_BACKWARD);
    double before = 0, all = 0;
    uint32_t n = s->j - s->i, runs = s->in->options.recompute && pass != FIRST ? 2 * n : n;
    uint32_t at = (pass == BACK ? runs - 1 - (point - s->i) : point - s->i) + end;

    if (pass == FIRST || pass == AGAIN)
        at = point - s->i + end;
    for (uint32_t k = 0; k < runs; k++) {
        bool again = pass != FIRST && s->in->options.recompute && k < n;
        uint32_t p = pass == FIRST || again ? s->i + k : s->j - 1 - (k - (runs - n));
        double ms = ms_of(s, p, pass != FIRST && !again);
        before += k < at ? ms : 0;
        all += ms;
    }
    return at == runs ? t->end_ms
           : at == 0  ? t->start_ms
                      : t->start_ms + before / all * (t->end_ms - t->start_ms);
}

static bool inside(const struct slow *s, uint32_t position)
{
    return position >= s->i && position < s->j;
}

/* Where the stage runs an operation: what it makes again, at the first of its readers here. */
static uint32_t place_of(const struct slow *s, uint32_t op)
{
    return slow_is_remade(s->o, op) ? slow_place(s->o, s->runs, op, s->i, s->j)
                                    : s->o->position[op];
}

static void later(double *end, double other)
{
    *end = other > *end ? other : *end;
}

/* The end of the last use in this stage: what reads it, and what reads results that are not stored.
 */
static void last_use(const struct slow *s, uint32_t value, uint32_t m, bool forward_again,
                     bool of_forward, bool of_backward, double *end)
{
    const struct unrolled *u = &s->o->steps;

    for (uint32_t n = 0; n < u->op_count; n++) {
        bool reads = false;
        for (uint32_t k = 0; k < u->ops[n].operand_count; k++)
            reads |= u->operands[u->ops[n].operands + k] == value;
        uint32_t at = place_of(s, n);
        if (!reads || !inside(s, at))
            continue;
        if (u->ops[n].is_backward && of_backward)
            later(end, when(s, m, BACK, at, true));
        if (!u->ops[n].is_backward && of_forward)
            later(end, when(s, m, forward_again ? AGAIN : FIRST, at, true));
        for (uint32_t r = 0; r < u->ops[n].value_count; r++) {
            if (!u->values[u->ops[n].values + r].is_stored)
                last_use(s, u->ops[n].values + r, m, forward_again, of_forward, of_backward, end);
        }
    }
}

static void hold(struct slow *s, uint32_t value, double start, double end)
{
    const struct unroll_value *v = &s->o->steps.values[value];
    double part =
        s->in->options.micro_batch / (double)s->o->steps.batch_size * s->in->share[s->replicas];

    assert_true(mem_grow(&s->list, &s->room, s->count, 1));
    s->list[s->count++] = (struct held){start, end, v->has_batch ? v->bytes * part : v->bytes};
}

/* Where a value is wanted, by the operations that read it. */
struct reach {
    bool behind, backward_before; /* some use lies behind the stage; a backward one before it */
    bool here_or_behind, backward_inside_or_before;
};

static struct reach reach_of(const struct slow *s, uint32_t value)
{
    const struct unrolled *u = &s->o->steps;
    struct reach r = {0};

    for (uint32_t n = 0; n < u->op_count; n++) {
        uint32_t at;
        for (uint32_t k = 0; k < u->ops[n].operand_count; k++) {
            if (u->operands[u->ops[n].operands + k] != value)
                continue;
            bool back = u->ops[n].is_backward || slow_is_remade(s->o, n);
            for (at = 0; at < s->o->count; at++) {
                if (!s->runs[(size_t)n * s->o->count + at])
                    continue;
                r.behind |= at >= s->j;
                r.here_or_behind |= at >= s->i;
                r.backward_before |= back && at < s->i;
                r.backward_inside_or_before |= back && at < s->j;
            }
        }
    }
    return r;
}

static void follow_forward(struct slow *s, uint32_t value, uint32_t m, const struct reach *r,
                           bool once)
{
    const struct unroll_value *v = &s->o->steps.values[value];
    bool recompute = s->in->options.recompute, is_input = v->op == UNROLL_NONE;
    uint32_t made = is_input ? 0 : place_of(s, v->op);
    bool local = !is_input && inside(s, made),
         arrives = !is_input && !local && !once && made < s->i && r->here_or_behind;
    bool sent = !is_input && !once && made < s->j && r->behind,
         back = !is_input && !once && made >= s->i && r->backward_before;
    double start, end = -1;

    if (is_input) {
        last_use(s, value, m, recompute, true, true, &end);
        if (end >= 0)
            hold(s, value, when(s, m, FIRST, s->i, false), end);
        return;
    }
    if (!local && !arrives)
        return;
    if (local && !v->is_stored && !sent && !back)
        return;
    start = local ? when(s, m, FIRST, made, false)
                  : task_of(s, 2 * s->stage - 1, m, PIPE_FORWARD)->start_ms;
    end = local ? when(s, m, FIRST, made, true) : when(s, m, FIRST, s->i, true);
    if (sent)
        later(&end, task_of(s, 2 * s->stage + 1, m, PIPE_FORWARD)->end_ms);
    if (recompute && local) {
        last_use(s, value, m, false, true, false, &end);
        hold(s, value, start, end);
        if (!v->is_stored)
            return;
        start = when(s, m, AGAIN, made, false);
        end = when(s, m, AGAIN, made, true);
    }
    last_use(s, value, m, recompute, true, true, &end);
    if (back)
        later(&end, task_of(s, 2 * s->stage - 1, m, PIPE_BACKWARD)->end_ms);
    hold(s, value, start, end);
}

/* Gradients, and forward values that go back with them. */
static void follow_backward(struct slow *s, uint32_t value, uint32_t m, const struct reach *r,
                            bool once)
{
    const struct unroll_value *v = &s->o->steps.values[value];
    uint32_t made = place_of(s, v->op), last = s->j - 1;
    bool local = inside(s, made), arrives = !once && made >= s->j && r->backward_inside_or_before;
    bool sent = !once && made >= s->i && r->backward_before;
    double start, end;

    if (local ? !v->is_stored && !sent : !arrives)
        return;
    if (local && !s->o->steps.ops[v->op].is_backward)
        return;
    start = local ? when(s, m, BACK, made, false)
                  : task_of(s, 2 * s->stage + 1, m, PIPE_BACKWARD)->start_ms;
    end = local ? when(s, m, BACK, made, true)
                : when(s, m, s->in->options.recompute ? AGAIN : BACK,
                       s->in->options.recompute ? s->i : last, true);
    last_use(s, value, m, false, false, true, &end);
    if (sent)
        later(&end, task_of(s, 2 * s->stage - 1, m, PIPE_BACKWARD)->end_ms);
    hold(s, value, start, end);
}

static void follow_all(struct slow *s)
{
    const struct unrolled *u = &s->o->steps;
    uint8_t *kind = order_gradients(s->o);

    s->count = 0;
    for (uint32_t v = 0; v < u->value_count; v++) {
        const struct unroll_value *value = &u->values[v];
        bool made = value->op != UNROLL_NONE;
        if (!made && (value->param == UNROLL_NONE ||
                      u->problem->roles.params[value->param].role != HLO_ROLE_INPUT))
            continue;
        if (made && kind[v] == ORDER_VARIABLE)
            continue;
        struct reach r = reach_of(s, v);
        bool backward = made && u->ops[value->op].is_backward,
             once = made && (backward ? kind[v] == ORDER_SUM : !value->is_varying);
        if (made && slow_is_remade(s->o, value->op)) /* never sent */
            once = true;
        bool returns =
            made && !once && s->o->position[value->op] >= s->j && r.backward_inside_or_before;
        for (uint32_t m = 0; m < s->schedule->micro_batches; m++) {
            if (backward || returns)
                follow_backward(s, v, m, &r, once);
            else
                follow_forward(s, v, m, &r, once);
        }
    }
    free(kind);
}

static double held_at(const struct slow *s, double ms)
{
    double sum = 0;

    for (size_t n = 0; n < s->count; n++)
        sum += s->list[n].start <= ms && ms < s->list[n].end ? s->list[n].bytes : 0;
    return sum;
}

/* ---- random plans ---- */

/* Steps without length have no place in time: every point takes some. */
static void random_times(struct pipe_instance *in, struct rl_rng *r)
{
    double forward = 0, backward = 0;

    in->again.count = 0;
    for (uint32_t i = 0; i < in->points; i++) {
        forward += 0.1 + rl_rng_unit(r);
        backward += 0.1 + 2 * rl_rng_unit(r);
        for (uint32_t k = 1; k <= in->devices; k++) {
            in->forward_ms[pipe_row(in, 0, k)][i + 1] = forward * in->share[k];
            in->backward_ms[pipe_row(in, 0, k)][i + 1] = backward * in->share[k];
        }
    }
}

static void random_plan(const struct pipe_instance *in, struct rl_rng *r, struct pipe_plan *p)
{
    uint32_t most = in->points < 4 ? in->points : 4;

    *p = (struct pipe_plan){.stages = 1 + rl_rng_below(r, most)};
    for (uint32_t s = 1; s < p->stages; s++) {
        uint32_t left = p->stages - s;
        p->pivot[s] = p->pivot[s - 1] + 1 + rl_rng_below(r, in->points - p->pivot[s - 1] - left);
        p->device[s] =
            p->device[s - 1] + 1 + rl_rng_below(r, in->devices - p->device[s - 1] - left);
    }
    p->pivot[p->stages] = in->points;
    p->device[p->stages] = in->devices;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1 + 1e-9 * fabs(b);
}

static void check_columns(const struct slow *s, const struct timeline *t, double constant)
{
    enum { COLUMNS = 7 };
    double rows[COLUMNS][TIMELINE_KINDS] = {{0}}, width = s->schedule->makespan_ms / COLUMNS;
    struct err e;

    assert_int_equal(timeline_columns(t, s->schedule, COLUMNS, rows, &e), 0);
    for (int c = 0; c < COLUMNS; c++) {
        double most = held_at(s, c * width), total = 0;
        for (size_t n = 0; n < s->count; n++) {
            double at = s->list[n].start;
            if (at >= c * width && at < (c + 1) * width)
                most = fmax(most, held_at(s, at));
        }
        for (int k = 0; k < TIMELINE_KINDS; k++)
            total += rows[c][k];
        assert_true(is_near(total, most + constant));
    }
}

static void check_stage(struct slow *s, bool columns)
{
    enum { TOPS = 512 };
    struct timeline_top *top = mem_alloc(TOPS * sizeof *top);
    struct timeline_peak peak;
    struct timeline t;
    struct err e;
    double most = 0, constant = 0, tops = 0;

    follow_all(s);
    for (size_t n = 0; n < s->count; n++)
        most = fmax(most, held_at(s, s->list[n].start));
    assert_int_equal(timeline_new(s->o, s->in, s->plan, s->stage, &t, &e), 0);
    for (int k = 0; k < TIMELINE_KINDS; k++)
        constant += t.constant[k];
    assert_true(is_near(constant, pipe_stage_of(s->in, s->plan, s->stage).state_bytes +
                                      s->in->once_bytes[s->i]));
    assert_int_equal(timeline_find_peak(&t, s->schedule, &peak, &e), 0);
    assert_true(is_near(peak.total, most + constant));
    uint32_t count = timeline_tops(&t, &peak.at, top, TOPS);
    for (uint32_t n = 0; n < count; n++)
        tops += top[n].bytes;
    assert_true(count == TOPS || is_near(tops, most));
    if (columns)
        check_columns(s, &t, constant);
    timeline_release(&t);
    free(top);
}

static uint32_t check_plan(const struct order *o, struct pipe_instance *in, struct rl_rng *r)
{
    bool *runs = slow_runs(o);
    struct slow s = {.o = o, .in = in, .runs = runs};
    struct pipe_schedule schedule;
    struct pipe_plan plan;
    struct err e;

    in->options.recompute = rl_rng_below(r, 2);
    in->options.half_duplex = rl_rng_below(r, 2);
    random_plan(in, r, &plan);
    assert_int_equal(
        pipe_schedule_make(in, &plan, (enum pipe_schedule_kind)rl_rng_below(r, PIPE_SCHEDULE_COUNT),
                           &schedule, &e),
        0);
    s.plan = &plan;
    s.schedule = &schedule;
    for (s.stage = 0; s.stage < plan.stages; s.stage++) {
        s.i = plan.pivot[s.stage];
        s.j = plan.pivot[s.stage + 1];
        s.replicas = plan.device[s.stage + 1] - plan.device[s.stage];
        check_stage(&s, rl_rng_below(r, 4) == 0);
    }
    free(runs);
    free(s.list);
    pipe_schedule_free(&schedule);
    return plan.stages;
}

static void test_random_plans(void **state)
{
    static const char yaml[] =
        "devices:\n  p: {memory: 16 GB, peak: 10 TFLOP/s, bandwidth: 400 GB/s, launch: 5 us}\n"
        "network: {bandwidth: 1 kB/s, latency: 25 us}\n"
        "servers:\n  - {count: 3, devices: 2, link: {kind: ring, bandwidth: 20 kB/s, latency: 9 "
        "us}}\n";
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options options = {0};
    uint32_t stages = 0, plans = 0;
    struct rl_rng r;
    struct err e;

    (void)state;
    rl_rng_seed(&r, 17, 0);
    assert_int_equal(cluster_read(cluster, yaml, sizeof yaml - 1, &e), 0);
    for (uint32_t seed = 0; seed < MODULES; seed++) {
        struct pipe_options pipe = {
            .micro_batches = 1 + seed % 5, .micro_batch = 1 + seed % 9, .memory_share = 1};
        struct pipe_instance in;
        struct order o;
        assert_int_equal(random_problem(seed, 8 + seed % 20, cluster, &options, p, &e), 0);
        cut_in_phases(p, seed);
        int rc = order_new(p, &o, &e);
        if (!rc && o.steps.op_count < 80 && !pipe_tabulate(&o, &pipe, &in, &e)) {
            random_times(&in, &r);
            stages += check_plan(&o, &in, &r);
            plans++;
            pipe_instance_free(&in);
        }
        if (!rc)
            order_release(&o);
        problem_release(p);
    }
    print_message("%u plans, %u stages\n", plans, stages);
    assert_true(plans > MODULES / 5 && stages > MODULES / 3);
    free(p);
    free(cluster);
}

/* ---- shipped models ---- */

/* One stage on one device with one micro-batch is the model as it is: what XLA needs
 * (tests/ref/memory). */
static void check_whole_model(const cJSON *row)
{
    const char *model = cJSON_GetObjectItem(row, "model")->valuestring;
    double xla = memory_row_peak(row);
    struct problem *p = mem_alloc(sizeof *p);
    struct pipe_instance in;
    struct pipe_schedule schedule;
    struct timeline_peak peak;
    struct timeline t;
    struct order o;
    struct err e;

    load_shipped(model, "v100-1x4", p);
    assert_int_equal(order_new(p, &o, &e), 0);
    struct pipe_options options = {
        .micro_batches = 1, .micro_batch = (uint32_t)o.steps.batch_size, .memory_share = 1};
    assert_int_equal(pipe_tabulate(&o, &options, &in, &e), 0);
    struct pipe_plan plan = {.stages = 1, .pivot = {0, in.points}, .device = {0, 1}};
    assert_int_equal(pipe_schedule_make(&in, &plan, PIPE_EAGER, &schedule, &e), 0);
    assert_int_equal(timeline_new(&o, &in, &plan, 0, &t, &e), 0);
    assert_int_equal(timeline_find_peak(&t, &schedule, &peak, &e), 0);
    print_message("%-13s %9.1f MB, XLA %9.1f MB: %+5.1f %%; counted by searches %9.1f MB\n", model,
                  peak.total / 1e6, xla / 1e6, 100 * (peak.total / xla - 1),
                  pipe_stage_memory(&in, 0, in.points, 0, 1, 1) / 1e6);
    assert_true(fabs(peak.total / xla - 1) < 0.2);
    timeline_release(&t);
    pipe_schedule_free(&schedule);
    pipe_instance_free(&in);
    order_release(&o);
    problem_release(p);
    free(p);
}

static void test_whole_model(void **state)
{
    (void)state;
    each_memory_row(true, 8, check_whole_model);
}

/* Peak of the worst stage of a plan under other options, from the beginning. */
static double peak_of(const struct pipeline *l, const struct pipeline_change *c)
{
    struct pipeline_options o = l->options;
    struct pipeline *other = mem_alloc(sizeof *other);
    struct pipeline_peak peak;
    struct err e;

    o.micro_batches = c->micro_batches;
    o.schedule = c->schedule;
    o.recompute |= c->kind == CHANGE_RECOMPUTE;
    assert_int_equal(pipeline_new(l->problem, &o, other, &e), 0);
    assert_int_equal(pipeline_peak_new(other, &c->plan, &peak, &e), 0);
    double most = 0;
    for (uint32_t s = 0; s < peak.stages; s++)
        most = fmax(most, peak.stage[s].total);
    assert_true(is_near(c->makespan_ms, pipe_makespan(&other->all, &c->plan, c->schedule)));
    pipeline_peak_release(&peak);
    pipeline_release(other);
    free(other);
    return most;
}

static uint32_t differences(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < count; k++)
        n += a[k] != b[k];
    return n;
}

static void test_changes(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct pipeline *l = mem_alloc(sizeof *l);
    struct pipeline_options o = {.batch = 256, .micro_batches = 16};
    struct pipeline_change *list;
    struct pipeline_peak peak;
    struct pipe_plan few, plan;
    uint32_t count, kinds = 0;
    struct err e;

    (void)state;
    load_shipped("t5-base6", "c-4x8-v100", p);
    assert_int_equal(pipeline_new(p, &o, l, &e), 0);
    assert_true(pipeline_instant(l, &few));
    plan = pipeline_refine(l, &few);
    assert_int_equal(pipeline_peak_new(l, &plan, &peak, &e), 0);
    assert_int_equal(pipeline_changes(l, &plan, &peak, &list, &count, &e), 0);
    assert_true(count > 2);
    for (uint32_t n = 0; n < count; n++) {
        const struct pipeline_change *c = &list[n];
        uint32_t pivots = differences(c->plan.pivot, plan.pivot, plan.stages + 1);
        uint32_t devices = differences(c->plan.device, plan.device, plan.stages + 1);
        assert_int_equal(pivots + devices + (c->schedule != l->options.schedule) +
                             (c->micro_batches != 16) + (c->kind == CHANGE_RECOMPUTE),
                         1);
        assert_true(c->peak < peak.stage[peak.worst].total);
        assert_true(n == 0 || c->peak >= list[n - 1].peak);
        assert_true(is_near(peak_of(l, c), c->peak));
        kinds |= 1u << c->kind;
    }
    assert_true(kinds & 1u << CHANGE_RECOMPUTE && kinds & 1u << CHANGE_MICRO_BATCHES);
    free(list);
    pipeline_peak_release(&peak);
    pipeline_release(l);
    problem_release(p);
    free(l);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_plans),
        cmocka_unit_test(test_whole_model),
        cmocka_unit_test(test_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
