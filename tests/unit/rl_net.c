/* The network and one update, three ways: against a plain double-precision reference written here,
 * against finite differences of that reference, and against ten updates made by PyTorch
 * (tests/ref/rl/torch_update.json). And RLax's Q-learning vectors through the real update. */
#include "rl/action_set.h"
#include "rl/learner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cJSON.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 64, WIDTH_MAX = 80 };

/* Everything of a batch, owned. */
struct rows {
    struct rl_batch batch;
    float *rows, reward[ROWS_MAX], discount[ROWS_MAX], weight[ROWS_MAX], bound[ROWS_MAX];
    uint32_t slot[ROWS_MAX], action[ROWS_MAX];
    uint64_t legal[ROWS_MAX], next_legal[ROWS_MAX];
};

static struct rl_batch *batch_of(struct rows *r, uint32_t count, uint32_t observation)
{
    *r = (struct rows){.rows = NULL};
    r->rows = calloc((size_t)2 * count * observation, sizeof *r->rows);
    assert_non_null(r->rows);
    r->batch = (struct rl_batch){count,         r->rows,   r->slot,     r->action, r->legal,
                                 r->next_legal, r->reward, r->discount, r->weight, r->bound};
    return &r->batch;
}

static float normal(struct rl_rng *rng)
{
    double u = 1 - rl_rng_unit(rng), v = rl_rng_unit(rng);

    return (float)(sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
}

/* The textbook: y = max(W x + b, 0), last layer without the max; then the head. In double. */
static void plain_q(const struct rl_net *n, const double *p, const float *x, uint64_t legal,
                    bool dueling, double *q)
{
    double in[WIDTH_MAX], out[WIDTH_MAX];

    for (uint32_t i = 0; i < n->width[0]; i++)
        in[i] = (double)x[i];
    for (uint32_t l = 0; l < n->layers; l++) {
        for (uint32_t o = 0; o < n->width[l + 1]; o++) {
            out[o] = p[n->bias[l] + o];
            for (uint32_t i = 0; i < n->width[l]; i++)
                out[o] += p[n->weight[l] + (size_t)o * n->width[l] + i] * in[i];
            if (l + 1 < n->layers && out[o] < 0)
                out[o] = 0;
        }
        memcpy(in, out, sizeof in);
    }
    double mean = 0;
    int count = 0;
    for (uint32_t a = 0; a < n->actions; a++) {
        if (legal >> a & 1) {
            mean += out[a];
            count++;
        }
    }
    for (uint32_t a = 0; a < n->actions; a++)
        q[a] = dueling ? out[n->actions] + out[a] - mean / count : out[a];
}

struct shape {
    uint32_t observation, hidden[RL_HIDDEN_MAX], actions;
};

static const struct shape shapes[] = {
    {4, {8}, 2}, {5, {7, 9}, 3}, {16, {32, 24}, 16}, {3, {6, 5, 4, 7}, 11}, {9, {64}, 64},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Rows one at a time and all together give the reference's Q. */
static void test_forward(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES * 2; i++) {
        const struct shape *s = &shapes[i / 2];
        bool dueling = i & 1;
        struct rl_net n;
        struct rl_rng rng;
        enum { ROWS = 13 };
        assert_int_equal(rl_net_init(&n, s->observation, s->hidden, s->actions), 0);
        float *p = calloc(n.parameters, sizeof *p), *x = calloc(ROWS * s->observation, sizeof *x);
        float *out = calloc(ROWS * n.outputs, sizeof *out), one[512], q[RL_ACTIONS_MAX];
        double *wide = calloc(n.parameters, sizeof *wide), expected[WIDTH_MAX];
        rl_rng_seed(&rng, 1, 0);
        rl_net_start(&n, p, &rng);
        for (size_t k = 0; k < n.parameters; k++)
            wide[k] = (double)p[k];
        for (uint32_t k = 0; k < ROWS * s->observation; k++)
            x[k] = normal(&rng);
        rl_net_forward(&n, p, x, ROWS, dueling, out);
        for (uint32_t r = 0; r < ROWS; r++) {
            uint64_t legal = (rl_rng_next(&rng) & rl_word_of_all(s->actions, 0)) | 1;
            plain_q(&n, wide, x + r * s->observation, legal, dueling, expected);
            rl_net_q(rl_net_head(&n, out, ROWS) + r * (s->actions + 1), s->actions, &legal, dueling,
                     q);
            for (uint32_t a = 0; a < s->actions; a++)
                assert_true(fabs((double)q[a] - expected[a]) < 1e-5);
            rl_net_forward(&n, p, x + r * s->observation, 1, dueling, one);
            rl_net_q(rl_net_head(&n, one, 1), s->actions, &legal, dueling, q);
            for (uint32_t a = 0; a < s->actions; a++)
                assert_true(fabs((double)q[a] - expected[a]) < 1e-5);
        }
        free(p), free(x), free(out), free(wide);
    }
}

/* sum over rows of slope x Q(action), by the reference. */
static double plain_sum(const struct rl_net *n, const double *p, const struct rl_backward *b)
{
    double sum = 0, q[WIDTH_MAX];

    for (uint32_t r = 0; r < b->rows; r++) {
        plain_q(n, p, b->x + (size_t)r * n->width[0], b->legal[r], b->dueling, q);
        sum += (double)b->slope[r] * q[b->action[r]];
    }
    return sum;
}

/* Central differences of the reference in every parameter, the value row of the head included. The
 * forward pass has more rows than are learned from, as in an update. */
static void check_gradient(const struct shape *s, bool dueling)
{
    enum { FORWARD = 12, ROWS = 6 };
    struct rl_net n;
    struct rl_rng rng;
    assert_int_equal(rl_net_init(&n, s->observation, s->hidden, s->actions), 0);
    float *p = calloc(n.parameters, sizeof *p), *x = calloc(FORWARD * s->observation, sizeof *x);
    float *out = calloc(FORWARD * n.outputs, sizeof *out);
    float *scratch = calloc(2 * ROWS * n.widest, sizeof *scratch);
    float *gradient = calloc(n.parameters, sizeof *gradient), slope[ROWS];
    double *wide = calloc(n.parameters, sizeof *wide), largest = 0, worst = 0;
    uint32_t action[ROWS];
    uint64_t legal[ROWS];

    rl_rng_seed(&rng, 2, 0);
    rl_net_start(&n, p, &rng);
    for (uint32_t k = 0; k < FORWARD * s->observation; k++)
        x[k] = normal(&rng);
    for (uint32_t r = 0; r < ROWS; r++) {
        action[r] = rl_rng_below(&rng, s->actions);
        legal[r] = (rl_rng_next(&rng) & rl_word_of_all(s->actions, 0)) | (uint64_t)1 << action[r];
        slope[r] = normal(&rng);
    }
    struct rl_backward b = {p, x, out, FORWARD, ROWS, dueling, action, legal, slope, scratch};
    rl_net_forward(&n, p, x, FORWARD, dueling, out);
    memset(gradient, 0x55, n.parameters * sizeof *gradient); /* it must be overwritten */
    for (size_t k = 0; k < n.parameters; k++)
        wide[k] = (double)p[k];
    rl_net_backward(&n, &b, gradient);
    for (uint32_t l = 0; l < n.layers; l++) {
        size_t count = ((size_t)n.width[l] + 1) * n.width[l + 1];
        for (size_t k = n.weight[l]; k < n.weight[l] + count; k++) {
            const double h = 1e-6;
            double was = wide[k];
            wide[k] = was + h;
            double up = plain_sum(&n, wide, &b);
            wide[k] = was - h;
            double slope_here = (up - plain_sum(&n, wide, &b)) / (2 * h);
            wide[k] = was;
            largest = fmax(largest, fabs(slope_here));
            worst = fmax(worst, fabs(slope_here - (double)gradient[k]));
        }
    }
    assert_true(largest > 0.01);
    assert_true(worst < 1e-4 * fmax(1, largest));
    free(p), free(x), free(out), free(scratch), free(gradient), free(wide);
}

static void test_gradient(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        check_gradient(&shapes[i], false);
        check_gradient(&shapes[i], true);
    }
}

/* Switching dueling on and off keeps every Q where all actions are legal. */
static void test_switch_dueling(void **state)
{
    (void)state;
    struct rl_net n;
    struct rl_rng rng;
    const uint32_t hidden[RL_HIDDEN_MAX] = {12};
    float x[5], out[64], before[6], after[6];
    assert_int_equal(rl_net_init(&n, 5, hidden, 6), 0);
    float *p = calloc(n.parameters, sizeof *p);
    rl_rng_seed(&rng, 4, 0);
    rl_net_start(&n, p, &rng);
    for (int i = 0; i < 4; i++) {
        bool on = i & 1;
        for (int k = 0; k < 5; k++)
            x[k] = normal(&rng);
        rl_net_forward(&n, p, x, 1, !on, out);
        rl_net_q(rl_net_head(&n, out, 1), 6, &(uint64_t){63}, !on, before);
        rl_net_switch_dueling(&n, p, on);
        rl_net_forward(&n, p, x, 1, on, out);
        rl_net_q(rl_net_head(&n, out, 1), 6, &(uint64_t){63}, on, after);
        for (int a = 0; a < 6; a++)
            assert_true(fabs((double)before[a] - (double)after[a]) < 1e-6);
    }
    free(p);
}

static void test_argmax(void **state)
{
    (void)state;
    const float q[] = {1, 5, 5, 9};
    assert_int_equal(rl_net_argmax(q, 4, &(uint64_t){15}), 3);
    assert_int_equal(rl_net_argmax(q, 4, &(uint64_t){7}), 1); /* the lowest on ties */
    assert_int_equal(rl_net_argmax(q, 4, &(uint64_t){1}), 0);
    assert_int_equal(rl_net_argmax(q, 4, &(uint64_t){4}), 2);
}

/* A network that is a table: one-hot observation k -> hidden unit k -> Q = column k. */
static void set_table(const struct rl_net *n, float *p, float q[][3], uint32_t states)
{
    memset(p, 0, n->parameters * sizeof *p);
    for (uint32_t k = 0; k < states; k++) {
        p[n->weight[0] + (size_t)k * states + k] = 1;
        for (uint32_t a = 0; a < 3; a++)
            p[n->weight[1] + (size_t)a * states + k] = q[k][a];
    }
}

/* rlax/_src/value_learning_test.py QLearningTest and DoubleQLearningTest: two rows; states 0, 1 are
 * those before, 2, 3 those after. */
static void test_rlax_q_learning(void **state)
{
    (void)state;
    float value[4][3] = {{7, 7, 7}, {7, 7, 7}, {0, 1, 0}, {1, 2, 0}};
    float online[4][3] = {{1, 1, 0}, {1, 2, 0}, {0, 1, 0}, {1, 2, 0}};
    float double_value[4][3] = {{7, 7, 7}, {7, 7, 7}, {99, 1, 98}, {91, 2, 66}};
    float double_online[4][3] = {{1, 1, 0}, {1, 2, 0}, {2, 10, 1}, {11, 20, 1}};
    for (int twice = 0; twice < 2; twice++) {
        struct rl_settings s = *rl_preset("planner");
        struct rl_learner l;
        struct rl_rng rng;
        struct rl_update u;
        struct rows rows;
        s.hidden[0] = 4;
        s.hidden[1] = 0;
        s.batch = 2;
        s.double_q = twice;
        rl_rng_seed(&rng, 1, 0);
        assert_int_equal(rl_learner_init(&l, 4, 3, &s, &rng), 0);
        set_table(&l.net, l.online, twice ? double_online : online, 4);
        set_table(&l.net, l.target, twice ? double_value : value, 4);
        struct rl_batch *b = batch_of(&rows, 2, 4);
        for (uint32_t i = 0; i < 2; i++) {
            b->rows[i * 4 + i] = 1;
            b->rows[(2 + i) * 4 + 2 + i] = 1;
            b->action[i] = i;
            b->legal[i] = b->next_legal[i] = 7;
            b->reward[i] = 1;
            b->discount[i] = (float)i;
            b->weight[i] = 1;
        }
        assert_int_equal(rl_learner_update(&l, &s, b, &u), 0);
        assert_true(fabsf(l.error[0] - 0) < 1e-5f);
        assert_true(fabsf(l.error[1] - 1) < 1e-5f);
        rl_learner_release(&l);
        free(rows.rows);
    }
}

/* Illegal next actions do not reach the bootstrap, chosen online or not. */
static void test_masked_bootstrap(void **state)
{
    (void)state;
    float online[2][3] = {{0, 0, 0}, {3, 9, 1}}, value[2][3] = {{0, 0, 0}, {10, 50, 30}};
    static const struct {
        uint64_t legal;
        bool twice;
        float goal;
    } cases[] = {{7, true, 50}, {5, true, 10}, {4, true, 30}, {7, false, 50}, {5, false, 30}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rl_settings s = *rl_preset("planner");
        struct rl_learner l;
        struct rl_rng rng;
        struct rl_update u;
        struct rows rows;
        s.hidden[0] = 2;
        s.hidden[1] = 0;
        s.batch = 1;
        s.double_q = cases[i].twice;
        rl_rng_seed(&rng, 1, 0);
        assert_int_equal(rl_learner_init(&l, 2, 3, &s, &rng), 0);
        set_table(&l.net, l.online, online, 2);
        set_table(&l.net, l.target, value, 2);
        struct rl_batch *b = batch_of(&rows, 1, 2);
        b->rows[0] = b->rows[3] = 1;
        b->action[0] = 0;
        b->legal[0] = 7;
        b->next_legal[0] = cases[i].legal;
        b->reward[0] = 0;
        b->discount[0] = b->weight[0] = 1;
        assert_int_equal(rl_learner_update(&l, &s, b, &u), 0);
        assert_true(fabsf(l.error[0] - cases[i].goal) < 1e-4f);
        rl_learner_release(&l);
        free(rows.rows);
    }
}

static void test_divergence_is_an_error(void **state)
{
    (void)state;
    struct rl_settings s = *rl_preset("planner");
    struct rl_learner l;
    struct rl_rng rng;
    struct rl_update u;
    struct rows rows;
    s.batch = 1;
    rl_rng_seed(&rng, 1, 0);
    assert_int_equal(rl_learner_init(&l, 2, 3, &s, &rng), 0);
    size_t bytes = l.net.parameters * sizeof(float);
    float *before = malloc(bytes);
    memcpy(before, l.online, bytes);
    struct rl_batch *b = batch_of(&rows, 1, 2);
    b->legal[0] = 7;
    b->weight[0] = 1;
    b->action[0] = 0;
    b->discount[0] = 0;
    b->reward[0] = INFINITY;
    assert_int_equal(rl_learner_update(&l, &s, b, &u), RL_E_DIVERGED);
    b->reward[0] = 0;
    b->rows[0] = NAN;
    assert_int_equal(rl_learner_update(&l, &s, b, &u), RL_E_DIVERGED);
    assert_memory_equal(before, l.online, bytes);
    assert_int_equal(l.adam.step, 0);
    rl_learner_release(&l);
    free(before);
    free(rows.rows);
}

static cJSON *load_json(const char *path)
{
    FILE *f = fopen(path, "rb");
    static const size_t room = 1 << 20;
    char *text = calloc(room, 1);

    assert_non_null(f);
    assert_true(fread(text, 1, room - 1, f) > 0);
    fclose(f);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    free(text);
    return root;
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);

    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static bool flag(const cJSON *object, const char *name, bool otherwise)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);

    return item ? cJSON_IsTrue(item) : otherwise;
}

/* PyTorch lists weight and bias of each layer in turn, as the block does, without its padding. */
static double at_parameter(const struct rl_net *n, float *p, const cJSON *list, bool set)
{
    const cJSON *item = list->child;
    double worst = 0;

    for (uint32_t l = 0; l < n->layers; l++) {
        size_t count = ((size_t)n->width[l] + 1) * n->width[l + 1];
        for (size_t k = n->weight[l]; k < n->weight[l] + count; k++, item = item->next) {
            assert_non_null(item);
            if (set)
                p[k] = (float)item->valuedouble;
            double off = fabs((double)p[k] - item->valuedouble);
            worst = fmax(worst, off / fmax(0.1, fabs(item->valuedouble)));
        }
    }
    assert_null(item);
    return worst;
}

static void read_floats(const cJSON *object, const char *name, float *out)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItem(object, name)) *out++ = (float)item->valuedouble;
}

static void read_batch(const cJSON *json, struct rl_batch *b, uint32_t observation,
                       const cJSON *switches)
{
    uint32_t i = 0;
    const cJSON *item;
    uint64_t every = flag(switches, "masks", false) ? 0 : 31;

    read_floats(json, "now", b->rows);
    read_floats(json, "next", b->rows + (size_t)b->count * observation);
    read_floats(json, "reward", b->reward);
    read_floats(json, "discount", b->discount);
    read_floats(json, "weight", b->weight);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "action")) b->action[i++] =
        (uint32_t)item->valueint;
    i = 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "legal")) b->legal[i++] =
        (uint64_t)item->valueint | every;
    i = 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "next_legal")) b->next_legal[i++] =
        (uint64_t)item->valueint | every;
    for (i = 0; i < b->count && !flag(switches, "weights", false); i++)
        b->weight[i] = 1;
}

static struct rl_settings settings_of(const cJSON *root, const cJSON *switches)
{
    struct rl_settings s = *rl_preset("paper-opp");
    const cJSON *hidden = cJSON_GetObjectItem(root, "hidden");
    const cJSON *clip = cJSON_GetObjectItem(switches, "clip");

    s.hidden[0] = (uint32_t)cJSON_GetArrayItem(hidden, 0)->valueint;
    s.hidden[1] = (uint32_t)cJSON_GetArrayItem(hidden, 1)->valueint;
    s.batch = (uint32_t)number(root, "batch");
    s.target_every = (uint32_t)number(root, "copy_every");
    s.learning_rate = number(root, "rate");
    s.double_q = flag(switches, "double", false);
    s.dueling = flag(switches, "dueling", false);
    s.huber = flag(switches, "huber", true);
    if (clip)
        s.clip_norm = clip->valuedouble;
    return s;
}

static bool is_near(double value, double expected)
{
    return fabs(value - expected) <= 1e-4 * fmax(0.1, fabs(expected));
}

static void check_case(const cJSON *root, const cJSON *c)
{
    const cJSON *switches = cJSON_GetObjectItem(c, "switches"), *json;
    struct rl_settings s = settings_of(root, switches);
    struct rl_learner l;
    struct rl_rng rng;
    struct rl_update u;
    struct rows rows;
    uint32_t observation = (uint32_t)number(root, "observation");
    struct rl_batch *b = batch_of(&rows, s.batch, observation);
    int k = 0;

    rl_rng_seed(&rng, 1, 0);
    assert_int_equal(rl_learner_init(&l, observation, (uint32_t)number(root, "actions"), &s, &rng),
                     0);
    at_parameter(&l.net, l.online, cJSON_GetObjectItem(root, "start"), true);
    at_parameter(&l.net, l.target, cJSON_GetObjectItem(root, "start"), true);
    cJSON_ArrayForEach(json, cJSON_GetObjectItem(root, "batches"))
    {
        read_batch(json, b, observation, switches);
        assert_int_equal(rl_learner_update(&l, &s, b, &u), 0);
        const cJSON *loss = cJSON_GetArrayItem(cJSON_GetObjectItem(c, "loss"), k);
        const cJSON *norm = cJSON_GetArrayItem(cJSON_GetObjectItem(c, "norm"), k);
        const cJSON *error = cJSON_GetArrayItem(cJSON_GetObjectItem(c, "error"), k);
        assert_true(is_near(u.loss, loss->valuedouble));
        assert_true(is_near(u.gradient_norm, norm->valuedouble));
        for (uint32_t i = 0; i < b->count; i++)
            assert_true(
                is_near((double)l.error[i], cJSON_GetArrayItem(error, (int)i)->valuedouble));
        k++;
    }
    double worst = at_parameter(&l.net, l.online, cJSON_GetObjectItem(c, "final"), false);
    print_message("%-8s %d updates, parameters off by %.1e at most\n", c->string, k, worst);
    assert_true(worst < 1e-4);
    rl_learner_release(&l);
    free(rows.rows);
}

static void test_against_pytorch(void **state)
{
    (void)state;
    cJSON *root = load_json(AUTOMAP_SOURCE_DIR "/tests/ref/rl/torch_update.json");
    const cJSON *c;
    int cases = 0;
    cJSON_ArrayForEach(c, cJSON_GetObjectItem(root, "cases"))
    {
        check_case(root, c);
        cases++;
    }
    assert_int_equal(cases, 7);
    cJSON_Delete(root);
}

/* Polyak: target += tau (online - target) after every update, and no hard copy. */
static void test_soft_target(void **state)
{
    (void)state;
    struct rl_settings s = *rl_preset("planner");
    struct rl_learner l;
    struct rl_rng rng;
    struct rl_update u;
    struct rows rows;
    s.batch = 1;
    s.target_tau = 0.25;
    s.target_every = 1;
    rl_rng_seed(&rng, 1, 0);
    assert_int_equal(rl_learner_init(&l, 2, 3, &s, &rng), 0);
    float before = l.target[0];
    struct rl_batch *b = batch_of(&rows, 1, 2);
    b->rows[0] = b->rows[1] = 1;
    b->legal[0] = 7;
    b->weight[0] = b->reward[0] = 1;
    for (size_t k = 0; k < l.net.width[1] * 2; k++)
        l.online[l.net.weight[0] + k] += 0.5f;
    assert_int_equal(rl_learner_update(&l, &s, b, &u), 0);
    assert_true(fabsf(l.target[0] - (before + 0.25f * (l.online[0] - before))) < 1e-6f);
    assert_true(l.target[0] != l.online[0]);
    rl_learner_release(&l);
    free(rows.rows);
}

/* What an episode earned is the least a decision is worth, where that is asked for. */
static void test_return_bound(void **state)
{
    (void)state;
    struct rl_settings s = *rl_preset("probe");
    struct rl_learner l;
    struct rl_rng rng;
    struct rl_update u;
    struct rows rows;
    s.batch = 3;
    s.learning_rate = 0;
    rl_rng_seed(&rng, 1, 0);
    assert_int_equal(rl_learner_init(&l, 2, 3, &s, &rng), 0);
    struct rl_batch *b = batch_of(&rows, 3, 2);
    const float bound[] = {3, -3, -INFINITY};
    for (int i = 0; i < 3; i++) {
        b->legal[i] = 7;
        b->weight[i] = b->reward[i] = 1;
        b->bound[i] = bound[i];
    }
    assert_int_equal(rl_learner_update(&l, &s, b, &u), 0);
    float q = 1 - l.error[0];
    assert_true(l.error[1] == l.error[0] && l.error[2] == l.error[0]);
    s.return_bound = true;
    assert_int_equal(rl_learner_update(&l, &s, b, &u), 0);
    assert_true(fabsf(l.error[0] - (3 - q)) < 1e-6f);
    assert_true(l.error[1] == 1 - q && l.error[2] == 1 - q);
    rl_learner_release(&l);
    free(rows.rows);
}

/* A gradient that overflows is an error though the loss is finite, and changes nothing. */
static void test_gradient_overflow(void **state)
{
    (void)state;
    struct rl_settings s = *rl_preset("probe");
    struct rl_learner l;
    struct rl_rng rng;
    struct rl_update u;
    struct rows rows;
    s.batch = 1;
    rl_rng_seed(&rng, 1, 0);
    assert_int_equal(rl_learner_init(&l, 2, 3, &s, &rng), 0);
    struct rl_batch *b = batch_of(&rows, 1, 2);
    b->rows[0] = b->rows[1] = 1e18f;
    b->legal[0] = 7;
    b->weight[0] = 1e30f;
    float before = l.online[0];
    assert_int_equal(rl_learner_update(&l, &s, b, &u), RL_E_DIVERGED);
    assert_true(isfinite(u.loss) && !isfinite(u.gradient_norm));
    assert_true(l.online[0] == before && l.adam.step == 0);
    rl_learner_release(&l);
    free(rows.rows);
}

/* First weights fill +-1/sqrt(inputs), biases too. */
static void test_first_weights(void **state)
{
    (void)state;
    const uint32_t hidden[RL_HIDDEN_MAX] = {64};
    struct rl_net n;
    struct rl_rng rng;
    float weights[4096];
    assert_int_equal(rl_net_init(&n, 25, hidden, 4), 0);
    assert_true(n.parameters <= 4096);
    rl_rng_seed(&rng, 1, 0);
    rl_net_start(&n, weights, &rng);
    for (uint32_t l = 0; l < n.layers; l++) {
        float most = 0, bound = 1 / sqrtf((float)n.width[l]);
        for (size_t i = 0; i < ((size_t)n.width[l] + 1) * n.width[l + 1]; i++)
            most = fmaxf(most, fabsf(weights[n.weight[l] + i]));
        assert_true(most <= bound && most > 0.95f * bound);
    }
}

/* Dueling that is switched on keeps Q: the value row, never used before, becomes the mean. */
static void test_dueling_on(void **state)
{
    (void)state;
    const uint32_t hidden[RL_HIDDEN_MAX] = {8};
    const float x[3] = {0.4f, -1, 2};
    struct rl_net n;
    struct rl_rng rng;
    float weights[128], out[32], before[4], after[4];
    assert_int_equal(rl_net_init(&n, 3, hidden, 4), 0);
    rl_rng_seed(&rng, 2, 0);
    rl_net_start(&n, weights, &rng);
    rl_net_forward(&n, weights, x, 1, false, out);
    rl_net_q(rl_net_head(&n, out, 1), 4, &(uint64_t){15}, false, before);
    rl_net_switch_dueling(&n, weights, true);
    rl_net_forward(&n, weights, x, 1, true, out);
    rl_net_q(rl_net_head(&n, out, 1), 4, &(uint64_t){15}, true, after);
    for (int a = 0; a < 4; a++)
        assert_true(fabsf(after[a] - before[a]) < 1e-6f);
}

static void test_shapes(void **state)
{
    (void)state;
    struct rl_net n;
    const uint32_t hidden[RL_HIDDEN_MAX] = {8};
    assert_int_equal(rl_net_init(&n, 0, hidden, 2), RL_E_SHAPE);
    assert_int_equal(rl_net_init(&n, 1, hidden, 1), RL_E_SHAPE);
    assert_int_equal(rl_net_init(&n, 1, hidden, RL_ACTIONS_MAX + 1), RL_E_SHAPE);
    assert_int_equal(rl_net_init(&n, 1, hidden, 64), 0);
    assert_int_equal(n.layers, 2);
    assert_int_equal(n.parameters % 16, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_switch_dueling),
        cmocka_unit_test(test_argmax),
        cmocka_unit_test(test_rlax_q_learning),
        cmocka_unit_test(test_masked_bootstrap),
        cmocka_unit_test(test_divergence_is_an_error),
        cmocka_unit_test(test_against_pytorch),
        cmocka_unit_test(test_soft_target),
        cmocka_unit_test(test_return_bound),
        cmocka_unit_test(test_gradient_overflow),
        cmocka_unit_test(test_first_weights),
        cmocka_unit_test(test_dueling_on),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
