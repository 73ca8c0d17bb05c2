/* The exact solver against enumeration of every plan, costs as tables against costs instruction by
 * instruction, and the figures that were published or found by independent means. */
#include "hlo/load.h"
#include "random_module.h"

#include "engine/exact/exact.h"
#include "engine/plan/plan.h"
#include "engine/problem/setting.h"
#include "engine/search/search.h"
#include "example.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

enum { PLANS_MOST = 1 << 11, CLASSES_MOST = 16 };

/* ---- the definition ---- */

static struct step_cost cost_by_instruction(const struct problem *p, const label *on)
{
    struct step_cost sum = {0};

    for (hlo_id id = 0; id < p->m->count; id++) {
        struct instruction_cost i = step_tables_instruction(&p->step_tables, id, on);
        sum.compute_ms += i.compute_ms;
        sum.communication_ms += i.communication_ms;
        sum.beside_ms += i.beside_ms;
    }
    sum.communication_ms += overlap_excess(&p->step_tables.overlap, sum.compute_ms, sum.beside_ms);
    sum.step_ms = sum.compute_ms + sum.communication_ms;
    return sum;
}

static double reward_of(const struct problem *p, const label *on)
{
    double sum = 0;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        uint32_t rank = hlo_value_shape(p->m, p->roles.params[k].value)->rank;
        for (uint32_t d = 0; d < rank && p->roles.params[k].role == HLO_ROLE_VARIABLE; d++)
            sum += on[problem_param_class(p, k, d)] ? 0.4 : 0.1;
    }
    return sum;
}

static bool clashes(const struct classes *c, class_id k, const label *on)
{
    for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
        if (on[c->meets[c->info[k].meets + n].other] & on[k])
            return true;
    }
    return false;
}

/* Every plan in reach, by recursion over the classes that have a choice. */
struct brute {
    const struct problem *p;
    const struct strict *s;
    bool is_reward;
    class_id classes[CLASSES_MOST];
    uint32_t count;
    double plans;
    label *on;
    double best;
};

static bool may_take(const struct brute *b, class_id k, label a)
{
    return label_is_admissible(&b->p->labels, k, a) && (a & b->s->on[k]) == b->s->on[k] &&
           !(a & b->s->off[k]);
}

static void try_all(struct brute *b, uint32_t at)
{
    if (at == b->count) {
        double value =
            b->is_reward ? -reward_of(b->p, b->on) : cost_by_instruction(b->p, b->on).step_ms;
        b->best = value < b->best ? value : b->best;
        return;
    }
    class_id k = b->classes[at];
    for (uint32_t a = 0; a < b->p->labels.count; a++) {
        if (!may_take(b, k, (label)a))
            continue;
        b->on[k] = (label)a;
        if (!clashes(&b->p->classes, k, b->on))
            try_all(b, at + 1);
    }
    b->on[k] = b->s->on[k];
}

/* False when there are too many plans. */
static bool brute_force(const struct problem *p, const struct strict *s, bool is_reward,
                        double *best)
{
    struct brute b = {.p = p, .s = s, .is_reward = is_reward, .plans = 1, .best = INFINITY};

    b.on = mem_alloc(p->classes.count + 1);
    for (class_id k = 0; k < p->classes.count; k++) {
        const struct class_info *i = &p->classes.info[k];
        uint32_t choices = 0;
        b.on[k] = s->on[k];
        for (uint32_t a = 0; a < p->labels.count; a++)
            choices += may_take(&b, k, (label)a);
        if (choices < 2 || (is_reward && !i->var_dims))
            continue;
        b.plans *= choices;
        if (b.count < CLASSES_MOST)
            b.classes[b.count++] = k;
    }
    bool ok = b.plans <= PLANS_MOST;
    if (ok)
        try_all(&b, 0);
    free(b.on);
    *best = is_reward ? -b.best : b.best;
    return ok;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static struct exact_options options_for(bool is_reward)
{
    return (struct exact_options){.goal = is_reward ? EXACT_PAPER_REWARD : EXACT_STEP_TIME,
                                  .variables = true,
                                  .inputs = !is_reward,
                                  .partitioned = 0.4,
                                  .replicated = 0.1};
}

/* The plan a result stands for keeps the pins, has no clash, and is worth what it says. */
static void check_result(const struct problem *p, const struct strict *s, bool is_reward,
                         const struct exact_result *r)
{
    double worth = is_reward ? reward_of(p, r->on) : cost_by_instruction(p, r->on).step_ms;

    for (class_id k = 0; k < p->classes.count; k++) {
        assert_true(label_is_admissible(&p->labels, k, r->on[k]));
        assert_true((r->on[k] & s->on[k]) == s->on[k] && !(r->on[k] & s->off[k]));
        assert_false(clashes(&p->classes, k, r->on));
    }
    assert_true(is_near(r->value, worth));
}

static void random_pins(const struct problem *p, struct strict *s, uint64_t seed)
{
    struct rl_rng rng;

    rl_rng_seed(&rng, seed, 3);
    for (uint32_t n = rl_rng_below(&rng, 4); n > 0 && p->classes.count; n--)
        (void)strict_decide(s, rl_rng_below(&rng, p->classes.count),
                            rl_rng_below(&rng, p->labels.axes), rl_rng_below(&rng, 2), NULL);
}

/* ---- random modules ---- */

struct tally {
    uint32_t compared, split, conditioned, open;
};

/* The same question with tables of a few entries, so that classes are fixed in turn; then with one
 * case alone, so that a gap is left. */
static void check_conditioning(const struct problem *p, const struct strict *s, bool is_reward,
                               double best, struct tally *t)
{
    struct exact_options o = options_for(is_reward);
    struct exact_result r;
    struct err e;
    double sign = is_reward ? -1 : 1;

    o.table_most = p->labels.count;
    assert_int_equal(exact_strict(&p->step_tables, s, &o, &r, &e), 0);
    check_result(p, s, is_reward, &r);
    assert_true(r.proven && is_near(r.value, best) && is_near(r.bound, best));
    t->conditioned += r.nodes > 1;
    exact_release(&r);
    o.nodes_most = 2;
    assert_int_equal(exact_strict(&p->step_tables, s, &o, &r, &e), 0);
    check_result(p, s, is_reward, &r);
    assert_true(sign * r.bound <= sign * best + 1e-9 * fabs(best));
    assert_true(sign * best <= sign * r.value + 1e-9 * fabs(best));
    assert_true(r.proven == (r.bound == r.value));
    t->open += !r.proven;
    exact_release(&r);
}

static void check_seed(uint64_t seed, const char *mesh, uint32_t devices, struct tally *t)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {.exact_divisibility = seed % 7 == 0};
    struct strict s;
    struct err e;

    assert_int_equal(slow_cluster(cluster, devices, seed, &e), 0);
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    assert_int_equal(random_problem(seed, (uint32_t)(10 + seed % 30), cluster, &o, p, &e), 0);
    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    if (seed % 2)
        random_pins(p, &s, seed);
    for (int is_reward = 0; is_reward < 2; is_reward++) {
        struct exact_options wanted = options_for(is_reward);
        struct exact_result r;
        double best;
        if (!brute_force(p, &s, is_reward, &best))
            continue;
        assert_int_equal(exact_strict(&p->step_tables, &s, &wanted, &r, &e), 0);
        check_result(p, &s, is_reward, &r);
        if (!is_near(r.value, best) || !r.proven || r.bound != r.value)
            fail_msg("seed %lu mesh %s: exact %.17g, bound %.17g, brute force %.17g",
                     (unsigned long)seed, mesh, r.value, r.bound, best);
        for (class_id k = 0; k < p->classes.count; k++)
            t->split += r.on[k] && !is_reward;
        check_conditioning(p, &s, is_reward, best, t);
        t->compared++;
        exact_release(&r);
    }
    strict_release(&s);
    problem_release(p);
    free(p);
    free(cluster);
}

static void test_brute_force(void **state)
{
    struct tally t = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++)
        check_seed(seed, "", (uint32_t)(2 + seed % 3), &t);
    for (uint64_t seed = 2001; seed <= 2800; seed++)
        check_seed(seed, seed % 2 ? "2x2" : "2x3", seed % 2 ? 4 : 6, &t);
    print_message("%u optima equal enumeration, %u classes split in them, %u by conditioning, %u "
                  "left open when cut short\n",
                  t.compared, t.split, t.conditioned, t.open);
    assert_true(t.compared > 3000 && t.split > 1000 && t.conditioned > 100 && t.open > 10);
}

/* ---- overlap ---- */

struct overlapped {
    uint32_t compared, over; /* over: the best plan has more beside than computation hides */
};

/* Random modules are no training steps: which results may wait is drawn too. */
static void check_overlap(uint64_t seed, const char *mesh, uint32_t devices, struct overlapped *t)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {.overlap = OVERLAP_AUTO, .is_overlap_given = true};
    struct exact_options wanted = options_for(false);
    struct exact_result r;
    struct strict s;
    struct rl_rng rng;
    struct err e;
    double best;

    assert_int_equal(slow_cluster(cluster, devices, seed, &e), 0);
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    assert_int_equal(random_problem(seed, (uint32_t)(10 + seed % 30), cluster, &o, p, &e), 0);
    rl_rng_seed(&rng, seed, 5);
    for (hlo_value v = 0; v < p->m->value_count; v++)
        p->training.waits[v] = rl_rng_below(&rng, 3) > 0;
    assert_int_equal(problem_set_cluster(p, cluster, mesh, &e), 0);
    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    if (seed % 2)
        random_pins(p, &s, seed);
    if (brute_force(p, &s, false, &best)) {
        assert_int_equal(exact_strict(&p->step_tables, &s, &wanted, &r, &e), 0);
        check_result(p, &s, false, &r);
        if (!is_near(r.value, best) || !r.proven)
            fail_msg("seed %lu mesh %s: exact %.17g, bound %.17g, brute force %.17g",
                     (unsigned long)seed, mesh, r.value, r.bound, best);
        struct step_cost cost = step_tables_cost(&p->step_tables, r.on);
        t->over += overlap_excess(&p->step_tables.overlap, cost.compute_ms, cost.beside_ms) > 0;
        t->compared++;
        exact_release(&r);
    }
    strict_release(&s);
    problem_release(p);
    free(p);
    free(cluster);
}

static void test_overlap(void **state)
{
    struct overlapped t = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++)
        check_overlap(seed, seed % 2 ? "" : "2x2", 4, &t);
    print_message("%u optima with overlap equal enumeration, %u of them bound by communication\n",
                  t.compared, t.over);
    assert_true(t.compared > 1000 && t.over > 5);
}

/* ---- tables ---- */

static void random_assignment(const struct problem *p, struct rl_rng *rng, label *on)
{
    memset(on, 0, p->classes.count);
    for (uint32_t n = 0; n < p->classes.count; n++) {
        class_id k = rl_rng_below(rng, p->classes.count);
        label a = (label)rl_rng_below(rng, p->labels.count), before = on[k];
        if (!label_is_admissible(&p->labels, k, a))
            continue;
        on[k] = a;
        if (clashes(&p->classes, k, on))
            on[k] = before;
    }
}

/* The sum of the tables is the sum over the instructions; a change of one class shows in its terms.
 */
static void check_tables(const struct problem *p, uint64_t seed, uint32_t rounds)
{
    label *on = mem_alloc(p->classes.count + 1);
    struct rl_rng rng;

    rl_rng_seed(&rng, seed, 8);
    for (uint32_t round = 0; round < rounds && p->classes.count; round++) {
        random_assignment(p, &rng, on);
        struct step_cost tables = step_tables_cost(&p->step_tables, on),
                         slow = cost_by_instruction(p, on);
        assert_true(is_near(tables.compute_ms, slow.compute_ms));
        assert_true(is_near(tables.communication_ms, slow.communication_ms));
        for (uint32_t n = 0; n < 8; n++) {
            class_id k = rl_rng_below(&rng, p->classes.count);
            if (!label_is_splittable(&p->labels, k))
                continue;
            label before = on[k];
            double was = step_tables_cost(&p->step_tables, on).step_ms -
                         step_tables_cost_of_class(&p->step_tables, k, on).step_ms;
            on[k] = 0;
            double is = cost_by_instruction(p, on).step_ms -
                        step_tables_cost_of_class(&p->step_tables, k, on).step_ms;
            assert_true(is_near(is, was));
            on[k] = before;
        }
    }
    free(on);
}

static void test_tables(void **state)
{
    static const char *const models[] = {"t5-tiny", "vgg19", "decoder-scan", "moe"};
    static const char *const meshes[] = {"", "2x4", "2x2x2"};
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct err e;

    (void)state;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct problem_options o = {0};
        snprintf(o.mesh, sizeof o.mesh, "%s", meshes[seed % 3]);
        assert_int_equal(slow_cluster(cluster, 8, seed, &e), 0);
        assert_int_equal(random_problem(seed + 9000, 30, cluster, &o, p, &e), 0);
        check_tables(p, seed, 4);
        problem_release(p);
    }
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        struct problem_options o = {0};
        snprintf(o.mesh, sizeof o.mesh, "%s", meshes[k % 3]);
        load_example(models[k], 8, &o, p);
        check_tables(p, k, 4);
        problem_release(p);
    }
    free(p);
    free(cluster);
}

/* Two layers by hand, f32, on 4 devices of 12 TFLOP/s, 800 GB/s, 5 us a launch, a ring of 130 GB/s
 * with 15 us a phase. The hidden dim split: each device multiplies a quarter, the second product is
 * partial and its 32 x 64 x 4 bytes are all-reduced: 2 (15 us + 3/4 x 8192 / 130 GB/s). */
static const char *const two_layers =
    "HloModule two\nENTRY main {\n  x = f32[32,64] parameter(0)\n  w1 = f32[64,128] parameter(1)\n"
    "  w2 = f32[128,64] parameter(2)\n"
    "  h = f32[32,128] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  t = f32[32,128] tanh(h)\n"
    "  ROOT y = f32[32,64] dot(t, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";

static void test_by_hand(void **state)
{
    static const char *names[] = {"w1", "w2"};
    struct hlo_vars vars = {.names = names, .count = 2};
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {0};
    struct plan_collective *list;
    struct hlo_module *m;
    struct strict s;
    struct plan plan;
    struct err e;
    size_t count;

    (void)state;
    cluster_default(cluster);
    assert_int_equal(hlo_load_memory("two", two_layers, strlen(two_layers), NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, &vars, cluster, &o, p, &e), 0);
    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    assert_int_equal(setting_apply(p, &s, "w1:1=1", &e), 0);
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, &plan, &e), 0);
    assert_int_equal(plan_collectives(&plan, &list, &count, &e), 0);
    assert_int_equal(count, 1);
    assert_string_equal(hlo_name(p->m, list[0].instruction), "y");
    assert_true(list[0].bytes == 32 * 64 * 4);
    assert_true(is_near(list[0].ms, 2 * (0.015 + 0.75 * 8192 / 130e9 * 1e3)));
    struct instruction_cost h =
        step_tables_instruction(&p->step_tables, hlo_find(p->m, "h"), plan.on);
    assert_true(h.flops == 2.0 * 32 * 64 * 128 / 4);
    /* x whole, a quarter of w1; h is fused into tanh's only reader or stored: its bytes are counted
     * when the fusion rule stores it. 131,072 flops are 11 ns, the bytes more. */
    double traffic = 32 * 64 * 4 + 64 * 128 * 4 / 4;
    hlo_value stored = p->m->leaf_base[hlo_find(p->m, "h")];
    traffic += p->fusion.is_stored[p->fusion.buffer[stored]] ? 32 * 128 * 4 / 4 : 0;
    assert_true(is_near(h.compute_ms, traffic / 800e9 * 1e3 + 0.005));
    assert_int_equal(plan_count(&plan).partitioned, 2);
    free(list);
    plan_release(&plan);
    strict_release(&s);
    problem_release(p);
    free(p);
    free(cluster);
}

/* ---- published figures ---- */

static uint32_t classes_with_variables(const struct problem *p)
{
    uint32_t count = 0;

    for (class_id k = 0; k < p->classes.count; k++)
        count += p->classes.info[k].var_dims && p->classes.info[k].reason == CLASS_ALLOWED;
    return count;
}

struct outcome {
    struct plan_counts counts;
    size_t collectives;
    double megabytes;
};

/* What is left undecided becomes whole. */
static struct outcome outcome_of(const struct problem *p, struct strict *s)
{
    struct outcome out = {0};
    struct plan_collective *list;
    struct plan plan;
    struct err e;
    size_t count;

    for (class_id k = 0; k < p->classes.count; k++) {
        if (!s->on[k])
            assert_true(strict_decide(s, k, 0, false, NULL));
    }
    assert_int_equal(plan_from_strict(p, s, PLAN_BY_DECISION, &plan, &e), 0);
    assert_int_equal(plan_collectives(&plan, &list, &count, &e), 0);
    out.counts = plan_count(&plan);
    for (size_t k = 0; k < count; k++) {
        out.collectives += list[k].count;
        out.megabytes += list[k].bytes / 1e6;
    }
    free(list);
    plan_release(&plan);
    return out;
}

/* The optimum of the paper's reward, `pin` (may be NULL) decided before. */
static struct outcome best_reward(const struct problem *p, const char *pin)
{
    struct exact_options o = options_for(true);
    struct exact_result r;
    struct strict s;
    struct err e;

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    if (pin)
        assert_int_equal(setting_apply(p, &s, pin, &e), 0);
    assert_int_equal(exact_strict(&p->step_tables, &s, &o, &r, &e), 0);
    assert_true(r.proven);
    for (class_id k = 0; k < p->classes.count; k++) {
        if (r.on[k])
            assert_true(strict_decide(&s, k, 0, true, NULL));
    }
    struct outcome out = outcome_of(p, &s);
    assert_true(is_near(r.value, reward_of(p, r.on)));
    exact_release(&r);
    strict_release(&s);
    return out;
}

static struct outcome data_parallel(const struct problem *p)
{
    struct strict s;
    struct err e;
    label over;
    class_id k = plan_batch_class(p, &over);

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    assert_int_not_equal(k, CLASS_NONE);
    assert_int_equal(over, 1);
    assert_true(strict_decide(&s, k, 0, true, NULL));
    struct outcome out = outcome_of(p, &s);
    strict_release(&s);
    return out;
}

static void expect(struct outcome got, uint32_t partitioned, double reward, size_t collectives,
                   double megabytes)
{
    print_message("  %u partitioned, reward %.1f, %zu all-reduces of %.2f MB\n",
                  got.counts.partitioned, got.counts.paper_reward, got.collectives, got.megabytes);
    assert_int_equal(got.counts.partitioned, partitioned);
    assert_true(fabs(got.counts.paper_reward - reward) < 1e-6);
    if (collectives) {
        assert_int_equal(got.collectives, collectives);
        assert_true(fabs(got.megabytes - megabytes) < 0.005);
    }
}

/* Table 3 of the paper: 111 dims. Collectives as XLA's partitioner inserts them. */
static void test_t5_base(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {.reduce_at_once = true};

    (void)state;
    load_example("t5-base6", 4, &o, p);
    assert_int_equal(classes_with_variables(p), 24);
    expect(best_reward(p, NULL), 143, 68.3, 0, 0);
    expect(best_reward(p, "decoder/layer_000/cross/q/kernel:0=0"), 111, 58.7, 103, 3095.46);
    expect(data_parallel(p), 0, 25.4, 168, 772.95);
    problem_release(p);
    free(p);
}

static void test_t5_11b(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {.reduce_at_once = true};

    (void)state;
    load_example("t5-11b", 16, &o, p);
    assert_int_equal(classes_with_variables(p), 78);
    expect(best_reward(p, "decoder/layer_000/cross/q/kernel:0=0"), 435, 229.7, 391, 16206.86);
    problem_release(p);
    free(p);
}

static double greedy_reward(const struct problem *p)
{
    struct search_options o = {.algorithm = SEARCH_GREEDY, .seed = 1};
    struct search_event event;
    struct search *s;
    struct err e;

    o.game.reward = GAME_REWARD_PAPER;
    assert_int_equal(search_new(p, &o, &s, &e), 0);
    assert_true(search_step(s, &event));
    double score = search_best(s)->score;
    search_free(s);
    return score;
}

/* Table 4: 5 dims. Greedy alone stops before it. */
static void test_vgg(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options full = {0}, paper = {.classes.paper_rules = true};

    (void)state;
    load_example("vgg19", 8, &paper, p);
    expect(best_reward(p, NULL), 5, 10.4, 7, 17.04);
    print_message("  greedy stops at %.1f\n", greedy_reward(p));
    assert_true(fabs(greedy_reward(p) - 9.8) < 1e-6);
    problem_release(p);
    load_example("vgg19", 8, &full, p);
    expect(best_reward(p, NULL), 29, 17.6, 0, 0);
    expect(data_parallel(p), 0, 8.9, 39, 574.67);
    problem_release(p);
    free(p);
}

static void test_bert(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {.reduce_at_once = true};

    (void)state;
    load_example("bert48", 4, &o, p);
    assert_int_equal(classes_with_variables(p), 98);
    expect(data_parallel(p), 0, 107.0, 781, 2674.95);
    problem_release(p);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force), cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_tables),      cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_t5_base),     cmocka_unit_test(test_t5_11b),
        cmocka_unit_test(test_vgg),         cmocka_unit_test(test_bert),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
