/* The forward order, backward positions and cut bytes against the definitions, applied slowly, on
 * random modules; and against figures worked out by hand on the shipped models. */
#include "memory_rows.h"
#include "random_module.h"
#include "shipped.h"
#include "slow_reads.h"

#include "engine/cost/free_cost.h"
#include "engine/pipeline/tabulate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

enum { MODULES = 1500 };

/* ---- the definitions, slowly ---- */

static const struct unroll_value *operand(const struct order *o, uint32_t op, uint32_t k)
{
    return &o->steps.values[o->steps.operands[o->steps.ops[op].operands + k]];
}

static bool made_forward(const struct order *o, const struct unroll_value *v)
{
    return v->op != UNROLL_NONE && !o->steps.ops[v->op].is_backward;
}

static uint32_t depth_of(const struct order *o, uint32_t op)
{
    uint32_t depth = 0;

    for (uint32_t k = 0; k < o->steps.ops[op].operand_count; k++) {
        const struct unroll_value *v = operand(o, op, k);
        uint32_t more = !o->steps.ops[op].is_free;
        if (made_forward(o, v) && depth_of(o, v->op) + more > depth)
            depth = depth_of(o, v->op) + more;
    }
    return depth;
}

struct walk {
    const struct order *o;
    uint32_t depth[RANDOM_VALUES_MOST * 16], list[RANDOM_VALUES_MOST * 16], count;
    bool seen[RANDOM_VALUES_MOST * 16];
};

/* Post-order, deepest operand first, first of equals. */
static void visit(struct walk *w, uint32_t op)
{
    w->seen[op] = true;
    for (;;) {
        uint32_t best = UNROLL_NONE;
        for (uint32_t k = 0; k < w->o->steps.ops[op].operand_count; k++) {
            const struct unroll_value *v = operand(w->o, op, k);
            if (made_forward(w->o, v) && !w->seen[v->op] &&
                (best == UNROLL_NONE || w->depth[v->op] > w->depth[best]))
                best = v->op;
        }
        if (best == UNROLL_NONE)
            break;
        visit(w, best);
    }
    w->list[w->count++] = op;
}

static void check_forward(const struct order *o)
{
    struct walk *w = mem_alloc(sizeof *w);
    uint32_t root = o->steps.loss, last = 0, forward = 0;

    w->o = o;
    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        if (o->steps.ops[n].is_backward)
            continue;
        w->depth[n] = depth_of(o, n);
        if (o->steps.loss == UNROLL_NONE && (root == UNROLL_NONE || w->depth[n] > w->depth[root]))
            root = n;
        forward++;
    }
    assert_int_equal(o->count, forward);
    for (uint32_t p = 0; p < o->count; p++) {
        assert_int_equal(o->position[o->forward[p]], p);
        for (uint32_t k = 0; k < o->steps.ops[o->forward[p]].operand_count; k++) {
            const struct unroll_value *v = operand(o, o->forward[p], k);
            assert_true(!made_forward(o, v) || o->position[v->op] < p);
        }
    }
    if (!o->steps.ops[root].is_backward) { /* what the root needs stands in post-order */
        visit(w, root);
        for (uint32_t k = 0; k < w->count; k++) {
            assert_true(k == 0 || o->position[w->list[k]] > last);
            last = o->position[w->list[k]];
        }
    }
    free(w);
}

/* By operation: a variable is among all it is made of. Worked out until nothing changes. */
static bool *learned_operations(const struct order *o)
{
    bool *learned = mem_alloc(o->steps.op_count + 1), changed = true;

    memset(learned, 0, o->steps.op_count + 1);
    while (changed) {
        changed = false;
        for (uint32_t n = 0; n < o->steps.op_count; n++) {
            for (uint32_t k = 0; k < o->steps.ops[n].operand_count && !learned[n]; k++) {
                const struct unroll_value *v = operand(o, n, k);
                bool is_variable =
                    v->op == UNROLL_NONE && v->param != UNROLL_NONE &&
                    o->steps.problem->roles.params[v->param].role == HLO_ROLE_VARIABLE;
                learned[n] = is_variable || (v->op != UNROLL_NONE && learned[v->op]);
                changed |= learned[n];
            }
        }
    }
    return learned;
}

/* All positions at which forward operand `value` may be used backward: its readers, and where it is
 * learned its producer. */
static bool is_candidate(const struct order *o, const bool *learned, uint32_t value,
                         uint32_t position)
{
    uint32_t op = o->forward[position];

    if (o->steps.values[value].op == op && learned[op])
        return true;
    for (uint32_t k = 0; k < o->steps.ops[op].operand_count; k++) {
        if (o->steps.operands[o->steps.ops[op].operands + k] == value)
            return true;
    }
    return false;
}

static uint32_t last_use(const struct order *o, uint32_t n)
{
    const struct unroll_op *op = &o->steps.ops[n];
    uint32_t last = 0, uses = 0;

    for (uint32_t user = 0; user < o->steps.op_count; user++) {
        for (uint32_t k = 0; k < o->steps.ops[user].operand_count; k++) {
            if (operand(o, user, k)->op != n)
                continue;
            uses++;
            last = o->position[user] > last ? o->position[user] : last;
        }
    }
    assert_true(op->is_backward);
    return uses ? last : o->count - 1;
}

static void check_backward(const struct order *o)
{
    bool *learned = learned_operations(o);

    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        const struct unroll_op *op = &o->steps.ops[n];
        uint32_t latest = o->count - 1;
        if (!op->is_backward)
            continue;
        for (uint32_t k = 0; k < op->operand_count; k++) {
            const struct unroll_value *v = operand(o, n, k);
            if (v->op == UNROLL_NONE || made_forward(o, v) || !v->is_float)
                continue;
            assert_true(o->position[v->op] >= o->position[n]); /* no edge runs the wrong way */
            if (learned[v->op] && o->position[v->op] < latest)
                latest = o->position[v->op];
        }
        uint32_t place = latest;
        for (uint32_t k = 0; k < op->operand_count; k++) {
            if (operand(o, n, k)->op != UNROLL_NONE && !made_forward(o, operand(o, n, k)))
                continue;
            for (uint32_t p = latest + 1; p-- > 0;) {
                if (is_candidate(o, learned, o->steps.operands[op->operands + k], p)) {
                    place = p < place ? p : place;
                    break;
                }
            }
        }
        assert_int_equal(o->position[n], learned[n] ? place : last_use(o, n));
    }
    free(learned);
}

/* A value without a batch dim, from which no backward path leads to one with a batch dim. */
static bool is_sum(const struct order *o, uint32_t value)
{
    if (o->steps.values[value].has_batch)
        return false;
    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        for (uint32_t k = 0; k < o->steps.ops[n].operand_count; k++) {
            if (o->steps.operands[o->steps.ops[n].operands + k] != value)
                continue;
            for (uint32_t r = 0; r < o->steps.ops[n].value_count; r++) {
                if (!o->steps.ops[n].is_backward || !is_sum(o, o->steps.ops[n].values + r))
                    return false;
            }
        }
    }
    return true;
}

/* Bytes of one cut: values made on one side and used on the other, but for those that every stage
 * makes. */
static void check_cut(const struct order *o, const struct order_cuts *c, const uint8_t *kind,
                      const bool *runs, uint32_t cut)
{
    double sample[2] = {0}, fixed[2] = {0}, once = 0;

    for (uint32_t v = 0; v < o->steps.value_count; v++) {
        const struct unroll_value *value = &o->steps.values[v];
        bool forward = false, backward = false;
        if (value->op == UNROLL_NONE || slow_is_remade(o, value->op))
            continue;
        bool is_early = o->position[value->op] < cut,
             from_backward = o->steps.ops[value->op].is_backward;
        for (uint32_t n = 0; n < o->steps.op_count; n++) {
            for (uint32_t k = 0; k < o->steps.ops[n].operand_count; k++) {
                if (o->steps.operands[o->steps.ops[n].operands + k] != v)
                    continue;
                bool use_early = slow_place(o, runs, n, 0, cut) < cut,
                     use_late = slow_place(o, runs, n, cut, o->count) < o->count;
                forward |= is_early && use_late;
                backward |=
                    !is_early && use_early && (o->steps.ops[n].is_backward || slow_is_remade(o, n));
            }
        }
        if (kind[v] == ORDER_VARIABLE)
            continue;
        if (from_backward ? is_sum(o, v) : !value->is_varying)
            once += value->bytes * (forward + backward);
        else if (value->has_batch)
            sample[0] += value->bytes * forward / (double)o->steps.batch_size,
                sample[1] += value->bytes * backward / (double)o->steps.batch_size;
        else
            fixed[0] += value->bytes * forward, fixed[1] += value->bytes * backward;
    }
    assert_true(fabs(c->forward_sample[cut] - sample[0]) < 0.6);
    assert_true(fabs(c->backward_sample[cut] - sample[1]) < 0.6);
    assert_true(fabs(c->forward_fixed[cut] - fixed[0]) < 0.6);
    assert_true(fabs(c->backward_fixed[cut] - fixed[1]) < 0.6);
    assert_true(fabs(c->once[cut] - once) < 0.6);
}

/* ---- what stages make again ---- */

static double operation_ms(const struct order *o, const struct pipe_instance *in, uint32_t n)
{
    const struct problem *p = o->steps.problem;
    struct instruction_scaling s =
        step_tables_scaling(&p->step_tables, o->steps.ops[n].id, o->steps.batch);

    double part = in->options.micro_batch / (double)o->steps.batch_size;
    /* of what is made whole that of the micro-batch, as a strict plan has it once a step */
    double whole = free_cost(&p->step_tables, o->steps.ops[n].id).compute_ms;
    double times = o->steps.ops[n].times * (whole > 0 ? part : 1);

    /* of fresh gradients every time but the first: they and their sums are read, sums written */
    const struct cluster_device *d = &p->cluster.type[in->cluster_type[0]];
    double adding = 0, k = in->options.micro_batches;
    for (uint32_t v = 0; v < o->steps.ops[n].value_count; v++) {
        hlo_value made = o->steps.values[o->steps.ops[n].values + v].value;
        adding +=
            (p->training.adding[made] & ADDING_TIMES) * (double)hlo_value_shape(p->m, made)->bytes;
    }

    return times * instruction_scaling_ms(&s, d, part) +
           o->steps.ops[n].times * (k - 1) / k * adding / cluster_stream_bandwidth(d) * 1e3;
}

/* The passes of points [i, j): the time of every operation that runs at one of them. Returns how
 * many of these ran at an earlier point already. */
static uint32_t check_stage(const struct order *o, const struct pipe_instance *in, const bool *runs,
                            uint32_t i, uint32_t j)
{
    double ms[2] = {0};
    uint32_t again = 0;

    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        if (slow_place(o, runs, n, i, j) == UINT32_MAX)
            continue;
        ms[o->steps.ops[n].is_backward] += operation_ms(o, in, n);
        again += slow_place(o, runs, n, 0, i) != UINT32_MAX;
    }
    assert_true(fabs(pipe_forward_ms(in, i, j, 0, 1) - ms[0]) <= 1e-9 * (1 + ms[0]));
    assert_true(fabs(pipe_backward_ms(in, i, j, 0, 1) - ms[1]) <= 1e-9 * (1 + ms[1]));
    return again;
}

/* Some intervals of the points, and the same of an instance with fewer. */
static uint32_t check_stages(const struct order *o, const bool *runs, uint32_t seed)
{
    struct pipe_options options = {.micro_batches = 2, .micro_batch = 1};
    uint32_t *cut = mem_alloc((o->count + 1) * sizeof *cut), count = 0, again = 0;
    struct pipe_instance in, few;
    struct err e;

    assert_int_equal(pipe_tabulate(o, &options, &in, &e), 0);
    for (uint32_t i = seed % 3 % o->count; i < o->count; i += 1 + o->count / 40)
        for (uint32_t j = i + 1; j <= o->count; j += 1 + o->count / 40)
            again += check_stage(o, &in, runs, i, j);
    for (uint32_t i = 0; i < o->count; i += 1 + (seed + i) % 4)
        cut[count++] = i;
    cut[count] = o->count;
    assert_int_equal(pipe_instance_coarsen(&in, cut, count, &few, &e), 0);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j <= count; j++) {
            double one = pipe_forward_ms(&in, cut[i], cut[j], 0, 1),
                   two = pipe_forward_ms(&few, i, j, 0, 1);
            assert_true(fabs(one - two) <= 1e-9 * (1 + one));
            assert_true(fabs(pipe_stash_bytes(&in, cut[i], cut[j]) - pipe_stash_bytes(&few, i, j)) <
                        0.5);
        }
    }
    pipe_instance_free(&few);
    pipe_instance_free(&in);
    free(cut);
    return again;
}

/* A random chain of ideals, listed set after set: an order like the usual one, with other cuts. */
static void check_arranged(struct order *o, uint32_t seed, uint32_t *arranged)
{
    uint32_t *stage = mem_alloc((o->count + 1) * sizeof *stage),
             *run = mem_alloc((2 * o->count + 2) * sizeof *run),
             *op = mem_alloc((o->count + 1) * sizeof *op), run_count, raised, at = 0;
    uint32_t stages = 2 + seed % 3;
    struct order_cuts c;
    struct err e;
    uint64_t h = seed;

    for (uint32_t p = 0; p < o->count; p++) {
        h = mem_hash(&p, sizeof p, h);
        stage[p] = (uint32_t)(h >> 20) % stages % o->count;
        op[p] = o->forward[p];
    }
    assert_int_equal(order_chain_runs(o, stage, &raised, run, &run_count, &e), 0);
    assert_int_equal(order_arrange(o, run, run_count, &e), 0);
    for (uint32_t s = 0; s < stages; s++) { /* set after set, each as it stood */
        for (uint32_t p = 0; p < o->count; p++) {
            if (stage[p] == s)
                assert_int_equal(o->forward[at++], op[p]);
        }
    }
    assert_int_equal(at, o->count);
    for (uint32_t p = 0; p < o->count; p++) {
        assert_int_equal(o->position[o->forward[p]], p);
        for (uint32_t k = 0; k < o->steps.ops[o->forward[p]].operand_count; k++) {
            const struct unroll_value *v = operand(o, o->forward[p], k);
            assert_true(!made_forward(o, v) || o->position[v->op] < p);
        }
    }
    check_backward(o);
    assert_int_equal(order_cuts_new(o, &c, &e), 0);
    uint8_t *kind = order_gradients(o);
    bool *runs = slow_runs(o);
    for (uint32_t cut = 1; cut < o->count; cut++)
        check_cut(o, &c, kind, runs, cut);
    free(runs);
    *arranged += run_count > 1;
    run[1]++; /* one operation twice, or beyond the end */
    assert_int_equal(order_arrange(o, run, run_count, &e), ERR_INPUT);
    free(kind);
    order_cuts_release(&c);
    free(stage);
    free(run);
    free(op);
}

static void test_random_modules(void **state)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options options = {0};
    uint32_t ordered = 0, cuts = 0, backward = 0, arranged = 0, remade = 0;
    struct err e;

    (void)state;
    cluster_default(cluster);
    for (uint32_t seed = 0; seed < MODULES; seed++) {
        struct order o;
        struct order_cuts c;
        assert_int_equal(random_problem(seed, 8 + seed % 30, cluster, &options, p, &e), 0);
        cut_in_phases(p, seed);
        int rc = order_new(p, &o, &e);
        assert_true(rc == 0 || rc == ERR_INFEASIBLE);
        if (!rc && o.steps.op_count < RANDOM_VALUES_MOST * 16) {
            check_forward(&o);
            check_backward(&o);
            assert_int_equal(order_cuts_new(&o, &c, &e), 0);
            uint8_t *kind = order_gradients(&o);
            bool *runs = slow_runs(&o);
            for (uint32_t cut = 1; cut < o.count; cut++, cuts++)
                check_cut(&o, &c, kind, runs, cut);
            remade += check_stages(&o, runs, seed);
            free(kind);
            free(runs);
            order_cuts_release(&c);
            check_arranged(&o, seed, &arranged);
            ordered++;
            backward += o.steps.op_count - o.count;
        }
        if (!rc)
            order_release(&o);
        problem_release(p);
    }
    print_message("%u modules, %u cuts, %u backward operations, %u made again\n", ordered, cuts,
                  backward, remade);
    assert_true(ordered > MODULES / 3 && cuts > 5000 && backward > 5000 && arranged > 300);
    assert_true(remade > 50);
    free(p);
    free(cluster);
}

/* ---- by hand ---- */

/* Bytes of the residual stream per sample, at the cheapest cut of most layers. */
static const struct {
    const char *model, *layer;
    double bytes;
} residual[] = {
    {"bert48", "encoder/layer_020", 512 * 1024 * 4},
    {"t5-base6", "encoder/layer_003", 512 * 768 * 4},
    {"t5-base6", "decoder/layer_003", (512 + 128) * 768 * 4}, /* and what the encoder made */
    {"t5-11b", "encoder/layer_011", 512 * 1024 * 4},
    {"decoder-scan", "layers", 1024 * 1024 * 4},
};

static void test_residual_stream(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof residual / sizeof *residual; k++) {
        struct problem *p = mem_alloc(sizeof *p);
        struct order o;
        struct order_cuts c;
        struct err e;
        double forward = INFINITY, backward = INFINITY;
        load_shipped(residual[k].model, NULL, p);
        assert_int_equal(order_new(p, &o, &e), 0);
        assert_int_equal(order_cuts_new(&o, &c, &e), 0);
        for (uint32_t cut = 1; cut < o.count; cut++) {
            hlo_id id = o.steps.ops[o.forward[cut]].id;
            if (strcmp(p->roles.layer_names[p->roles.layer[id]], residual[k].layer))
                continue;
            forward = fmin(forward, c.forward_sample[cut]);
            backward = fmin(backward, c.backward_sample[cut]);
        }
        assert_true(forward == residual[k].bytes && backward == residual[k].bytes);
        order_cuts_release(&c);
        order_release(&o);
        problem_release(p);
        free(p);
    }
}

/* Of 24 layers in a loop every slice of the stacked variables is a variable, and they add up. */
static void test_unrolled_loop(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct pipe_options options = {.micro_batches = 1, .micro_batch = 16, .memory_share = 1};
    struct pipe_instance in;
    struct order o;
    struct err e;
    double bytes = 0;

    (void)state;
    load_shipped("decoder-scan", NULL, p);
    assert_int_equal(order_new(p, &o, &e), 0);
    assert_int_equal(o.steps.rolled, 0);
    assert_int_equal(pipe_tabulate(&o, &options, &in, &e), 0);
    assert_int_equal(in.variables[in.points], 9 * 24 + 3);
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (p->roles.params[k].role == HLO_ROLE_VARIABLE)
            bytes += (double)hlo_value_shape(p->m, p->roles.params[k].value)->bytes;
    }
    assert_true(fabs(in.gradient_bytes[in.points] - bytes) < 1);
    assert_true(fabs(in.state_bytes[in.points] - 4 * bytes) < 4);
    uint32_t trips = 0;
    for (uint32_t n = 0; n < o.count; n++) {
        uint32_t trip = o.steps.ops[o.forward[n]].trip;
        trips = trip != UNROLL_NONE && trip + 1 > trips ? trip + 1 : trips;
    }
    assert_int_equal(trips, 24);
    pipe_instance_free(&in);
    order_release(&o);
    problem_release(p);
    free(p);
}

/* What passes take in one of so many micro-batches of a sample, all points on one device. */
static double passes_ms(const struct order *o, uint32_t micro_batches)
{
    struct pipe_options options = {
        .micro_batches = micro_batches, .micro_batch = 1, .memory_share = 1};
    struct pipe_instance in;
    struct err e;

    assert_int_equal(pipe_tabulate(o, &options, &in, &e), 0);
    double ms =
        pipe_forward_ms(&in, 0, in.points, 0, 1) + pipe_backward_ms(&in, 0, in.points, 0, 1);
    pipe_instance_free(&in);
    return ms;
}

/* Of every variable, all in f32: 15 times in 16 micro-batches the gradient and its sum are read and
 * the sum is written. */
static void test_gradients_are_added_up(void **state)
{
    static const char *const models[] = {"mlp", "t5-tiny", "decoder-scan", "bert48"};

    (void)state;
    for (size_t n = 0; n < sizeof models / sizeof *models; n++) {
        struct problem *p = mem_alloc(sizeof *p);
        struct order o;
        struct err e;
        double bytes = 0;
        load_shipped(models[n], "v100-1x4", p);
        assert_int_equal(order_new(p, &o, &e), 0);
        for (uint32_t k = 0; k < p->roles.param_count; k++) {
            if (p->roles.params[k].role == HLO_ROLE_VARIABLE)
                bytes += (double)hlo_value_shape(p->m, p->roles.params[k].value)->bytes;
        }
        const struct cluster_device *d = &p->cluster.type[0];
        double reached = d->bandwidth * (d->share > 0 ? 0.9 : 1);
        double ms = 15 / 16. * 3 * bytes / reached * 1e3;
        double is = passes_ms(&o, 16) - passes_ms(&o, 1);
        if (!(fabs(is - ms) <= 1e-9 * ms))
            fail_msg("%s: %.9g, not %.9g", models[n], is, ms);
        order_release(&o);
        problem_release(p);
        free(p);
    }
}

/* T5's embedding is read first and last, and held twice; its gradient crosses no cut. */
static void test_tied_embedding(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct pipe_options options = {.micro_batches = 16, .micro_batch = 16, .memory_share = 1};
    struct pipe_instance in;
    struct order o;
    struct err e;

    (void)state;
    load_shipped("t5-base6", "c-4x8-v100", p);
    assert_int_equal(order_new(p, &o, &e), 0);
    assert_int_equal(pipe_tabulate(&o, &options, &in, &e), 0);
    assert_int_equal(in.ties, 1);
    assert_true(in.tie[0].gradient_bytes == 32128 * 768 * 4.0);
    assert_true(in.tie[0].state_bytes == 4 * 32128 * 768 * 4.0);
    assert_true(in.tie[0].uses[0] < 10 && in.tie[0].uses[in.tie[0].use_count - 1] > 800);
    /* the encoder's position bias, 12 heads of 512 x 512, and its gradient: once a step */
    double most = 0;
    for (uint32_t cut = 1; cut < in.points; cut++) {
        if (in.layer[cut] != UINT32_MAX &&
            !strcmp(p->roles.layer_names[in.layer[cut]], "encoder/layer_003") &&
            (most == 0 || in.once_bytes[cut] < most))
            most = in.once_bytes[cut];
    }
    assert_true(most == 2 * 12 * 512 * 512 * 4.0);
    pipe_instance_free(&in);
    order_release(&o);
    problem_release(p);
    free(p);
}

/* ---- the tables ---- */

static void check_whole_model(const cJSON *row)
{
    const char *model = cJSON_GetObjectItem(row, "model")->valuestring;
    double peak = memory_row_peak(row);
    struct problem *p = mem_alloc(sizeof *p);
    struct pipe_instance in;
    struct order o;
    struct err e;

    load_shipped(model, NULL, p);
    label *on = mem_alloc(p->classes.count + 1);
    assert_int_equal(order_new(p, &o, &e), 0);
    struct pipe_options options = {
        .micro_batches = 1, .micro_batch = (uint32_t)o.steps.batch_size, .memory_share = 1};
    assert_int_equal(pipe_tabulate(&o, &options, &in, &e), 0);
    uint32_t n = in.points;
    double ms = in.forward_ms[0][n] + in.backward_ms[0][n] + in.update_ms[0][n];
    double bytes = in.state_bytes[n] + in.stash_bytes[n] + pipe_temporary_bytes(&in, 0, n);
    double step = step_tables_cost(&p->step_tables, on).step_ms;
    print_message("%-13s memory %9.1f MB, XLA %9.1f MB: %+5.1f %%; time %+5.2f %%\n", model,
                  bytes / 1e6, peak / 1e6, 100 * (bytes / peak - 1), 100 * (ms / step - 1));
    assert_true(fabs(bytes / peak - 1) < 0.2);
    bool is_stacked = false; /* slices of a loop are priced one by one */
    for (uint32_t k = 0; k < o.steps.op_count; k++)
        is_stacked |= o.steps.ops[k].trip != UNROLL_NONE;
    assert_true(fabs(ms / step - 1) < (is_stacked ? 0.005 : 1e-6));
    free(on);
    pipe_instance_free(&in);
    order_release(&o);
    problem_release(p);
    free(p);
}

/* One stage on one device with one micro-batch is the model as it is: its time is that of the
 * roofline over all instructions, its memory what XLA needs (tests/ref/memory). */
static void test_whole_model(void **state)
{
    (void)state;
    each_memory_row(true, 8, check_whole_model);
}

/* Half the samples take more than half the time, never more than the whole: launches and weights
 * stay. With measured times the share is exact. */
static void test_micro_batches(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct pipe_options options = {.micro_batches = 16, .micro_batch = 32, .memory_share = 1};
    struct pipe_instance in;
    struct order o;
    struct err e;

    (void)state;
    load_shipped("bert48", NULL, p);
    assert_int_equal(order_new(p, &o, &e), 0);
    assert_int_equal(pipe_tabulate(&o, &options, &in, &e), 0);
    double one = in.forward_ms[pipe_row(&in, 0, 1)][in.points],
           two = in.forward_ms[pipe_row(&in, 0, 2)][in.points];
    double launches = 0; /* 48 layers of 8 products, and the head's */
    for (uint32_t n = 0; n < o.count; n++)
        launches += hlo_at(p->m, o.steps.ops[o.forward[n]].id)->opcode == HLO_OP_DOT;
    assert_true(two > one / 2 && two < one);
    assert_true(two - one / 2 >= launches * 0.005 / 2 - 1e-9);
    pipe_instance_free(&in);
    double *ms = mem_alloc(p->m->count * sizeof *ms);
    for (hlo_id id = 0; id < p->m->count; id++)
        ms[id] = 1;
    assert_int_equal(problem_set_profile(p, ms, &e), 0);
    assert_int_equal(pipe_tabulate(&o, &options, &in, &e), 0);
    one = in.forward_ms[pipe_row(&in, 0, 1)][in.points];
    assert_true(one > 0.9 * o.count && one <= o.count);
    pipe_instance_free(&in);
    order_release(&o);
    problem_release(p);
    free(p);
}

/* Dropout with one mask for two layers, in both passes. */
static const char dropout[] =
    "HloModule m\n"
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
    "ENTRY main {\n"
    "  w1 = f32[16,16] parameter(0)\n"
    "  w2 = f32[16,16] parameter(1)\n"
    "  x = f32[8,16] parameter(2)\n"
    "  key = u32[2] parameter(3)\n"
    "  part = u32[1] slice(key), slice={[0:1]}\n"
    "  seed = u32[] reshape(part)\n"
    "  seeds = u32[64] broadcast(seed), dimensions={}\n"
    "  place = u32[64] iota(), iota_dimension=0\n"
    "  half = u32[64] xor(seeds, place)\n"
    "  glued = u32[128] concatenate(half, half), dimensions={0}\n"
    "  bits = u32[8,16] reshape(glued)\n"
    "  most = u32[] constant(99)\n"
    "  mosts = u32[8,16] broadcast(most), dimensions={}\n"
    "  mask = pred[8,16] compare(bits, mosts), direction=LT\n"
    "  zero = f32[] constant(0)\n"
    "  zeros = f32[8,16] broadcast(zero), dimensions={}\n"
    "  h1 = f32[8,16] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  a1 = f32[8,16] select(mask, h1, zeros)\n"
    "  h2 = f32[8,16] dot(a1, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  a2 = f32[8,16] select(mask, h2, zeros)\n"
    "  loss = f32[] reduce(a2, zero), dimensions={0,1}, to_apply=add\n"
    "  one = f32[] constant(1)\n"
    "  ones = f32[8,16] broadcast(one), dimensions={}\n"
    "  g2 = f32[8,16] select(mask, ones, zeros)\n"
    "  d2 = f32[16,16] dot(a1, g2), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  e1 = f32[8,16] dot(g2, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
    "  g1 = f32[8,16] select(mask, e1, zeros)\n"
    "  d1 = f32[16,16] dot(x, g1), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  n1 = f32[16,16] subtract(w1, d1)\n"
    "  n2 = f32[16,16] subtract(w2, d2)\n"
    "  ROOT out = (f32[16,16], f32[16,16], f32[]) tuple(n1, n2, loss)\n"
    "}\n";

/* A cut between them sends the activation and its gradient; the mask is made again from the key. */
static void check_mask(const struct order *o, const struct order_cuts *c,
                       const struct pipe_instance *in)
{
    bool *runs = slow_runs(o);
    uint32_t cut = UINT32_MAX, again = 0;

    for (uint32_t n = 0; n < o->count; n++) {
        if (!strcmp(hlo_name(o->steps.problem->m, o->steps.ops[o->forward[n]].id), "h2"))
            cut = n;
    }
    assert_true(cut > 0 && cut < in->points);
    assert_true(c->forward_sample[cut] == 16 * 4 && c->backward_sample[cut] == 16 * 4);
    assert_true(c->forward_fixed[cut] == 0 && c->backward_fixed[cut] == 0 && c->once[cut] == 0);
    for (uint32_t i = 0; i < in->points; i++)
        for (uint32_t j = i + 1; j <= in->points; j++)
            again += check_stage(o, in, runs, i, j);
    assert_true(again > 0);
    /* both stages make the mask: together they take longer than the whole */
    assert_true(pipe_forward_ms(in, 0, cut, 0, 1) + pipe_forward_ms(in, cut, in->points, 0, 1) >
                pipe_forward_ms(in, 0, in->points, 0, 1) * (1 + 1e-9));
    free(runs);
}

static void test_dropout(void **state)
{
    static const char *names[] = {"w1", "w2"};
    struct hlo_vars vars = {.names = names, .count = 2};
    struct problem_options options = {0};
    struct pipe_options pipe = {.micro_batches = 2, .micro_batch = 8};
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct hlo_module *m;
    struct pipe_instance in;
    struct order_cuts c;
    struct order o;
    struct err e;

    (void)state;
    assert_int_equal(cluster_of_devices(cluster, 2, &e), 0);
    assert_int_equal(hlo_load_memory("dropout", dropout, strlen(dropout), NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, &vars, cluster, &options, p, &e), 0);
    assert_int_equal(order_new(p, &o, &e), 0);
    assert_int_equal(order_cuts_new(&o, &c, &e), 0);
    assert_int_equal(pipe_tabulate(&o, &pipe, &in, &e), 0);
    check_mask(&o, &c, &in);
    pipe_instance_free(&in);
    order_cuts_release(&c);
    order_release(&o);
    problem_release(p);
    free(p);
    free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_random_modules),
        cmocka_unit_test(test_residual_stream),
        cmocka_unit_test(test_unrolled_loop),
        cmocka_unit_test(test_gradients_are_added_up),
        cmocka_unit_test(test_tied_embedding),
        cmocka_unit_test(test_whole_model),
        cmocka_unit_test(test_micro_batches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
