/* Stages that keep values by choice: the values of a stage, what they take and what they hang on,
 * against a slow reading of the step's operations and all choices there are; plans never longer
 * than those whose stages keep all or are recomputed, and within their memory. */
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_export.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/stage_costs.h"
#include "engine/hybrid/stage_rows.h"
#include "engine/pipeline/simulation.h"
#include "engine/recompute/keeping.h"
#include "tests/unit/shipped.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a slow reading ---- */

enum { CHOSEN_MOST = 14 };

struct reading {
    const struct hybrid *h;
    const struct stage_costs *k;
    uint8_t *is_needed, *is_crossing, *is_kept, *is_seen; /* [values] */
    double ms, bytes, *beside;                            /* [sections] */
};

static const struct unroll_value *value_of(const struct reading *x, uint32_t v)
{
    return &x->h->order.steps.values[v];
}

static uint32_t section_of(const struct reading *x, uint32_t op)
{
    uint32_t at = 0;

    while (x->h->order.position[op] >= x->h->sections.position[at + 1])
        at++;
    return at;
}

static bool is_input(const struct reading *x, uint32_t v)
{
    const struct unroll_value *value = value_of(x, v);

    return value->op == UNROLL_NONE && value->param != UNROLL_NONE &&
           x->h->problem->roles.params[value->param].role == HLO_ROLE_INPUT;
}

static bool is_forward(const struct reading *x, uint32_t v)
{
    const struct unroll_value *value = value_of(x, v);

    return value->op != UNROLL_NONE && value->is_varying &&
           !x->h->order.steps.ops[value->op].is_backward;
}

/* What a backward operation reads is needed; of what is not stored, what it is made of. */
static void need(struct reading *x, uint32_t v)
{
    const struct unrolled *u = &x->h->order.steps;

    if (is_input(x, v))
        x->is_needed[v] = 1;
    if (!is_forward(x, v))
        return;
    if (value_of(x, v)->is_stored) {
        x->is_needed[v] = 1;
        return;
    }
    const struct unroll_op *o = &u->ops[value_of(x, v)->op];
    for (uint32_t n = 0; n < o->operand_count; n++)
        need(x, u->operands[o->operands + n]);
}

static void read_step(struct reading *x)
{
    const struct unrolled *u = &x->h->order.steps;

    for (uint32_t op = 0; op < u->op_count; op++)
        for (uint32_t n = 0; n < u->ops[op].operand_count; n++) {
            uint32_t v = u->operands[u->ops[op].operands + n];
            if (u->ops[op].is_backward)
                need(x, v);
            else if (is_forward(x, v) && section_of(x, value_of(x, v)->op) != section_of(x, op))
                x->is_crossing[v] = 1;
        }
}

static double bytes_of(const struct reading *x, uint32_t v)
{
    const struct classes *c = &x->h->problem->classes;
    double bytes = value_of(x, v)->bytes;

    for (dim_id d = c->dim_base[value_of(x, v)->value]; d < c->dim_base[value_of(x, v)->value + 1];
         d++)
        if (c->class_of[d] != CLASS_NONE)
            bytes *= label_share(&x->k->labels, c->class_of[d], x->k->on[c->class_of[d]]);
    return bytes;
}

static void use(struct reading *x, uint32_t v)
{
    const struct unrolled *u = &x->h->order.steps;

    if (x->is_seen[v] || !(is_input(x, v) || is_forward(x, v)))
        return;
    x->is_seen[v] = 1;
    if (is_input(x, v) || x->is_crossing[v] || (x->is_kept[v] && value_of(x, v)->is_stored)) {
        x->bytes += bytes_of(x, v);
        return;
    }
    const struct unroll_op *o = &u->ops[value_of(x, v)->op];
    double cost[COSTS];
    stage_costs_operation(x->k, value_of(x, v)->op, cost);
    x->ms += cost[COST_IN_PASS];
    if (x->is_needed[v])
        x->beside[section_of(x, value_of(x, v)->op)] += bytes_of(x, v);
    for (uint32_t n = 0; n < o->operand_count; n++)
        use(x, u->operands[o->operands + n]);
}

static double follow(struct reading *x)
{
    double beside = 0;

    x->ms = x->bytes = 0;
    memset(x->is_seen, 0, x->h->order.steps.value_count);
    memset(x->beside, 0, x->h->sections.count * sizeof *x->beside);
    for (uint32_t v = 0; v < x->h->order.steps.value_count; v++)
        if (x->is_needed[v])
            use(x, v);
    for (uint32_t n = 0; n < x->h->sections.count; n++)
        beside = fmax(beside, x->beside[n]);
    return beside;
}

/* ---- one stage ---- */

static void with_costs(const struct hybrid *h, uint32_t stage, uint8_t zero,
                       struct stage_shape *shape, struct stage_tables *t, struct stage_costs *k)
{
    struct hybrid_instance in;
    struct err e;

    *t = (struct stage_tables){.sections = &h->sections,
                               .options = {.batch = h->options.batch,
                                           .micro_batches = h->micro_batches,
                                           .zero = zero,
                                           .overlap = h->options.overlap}};
    assert_int_equal(hybrid_plan_instance(h, &in, &e), 0);
    const struct hybrid_stage *s = &h->stage[stage];
    assert_int_equal(stage_shape_new(&h->problem->cluster, &in,
                                     hybrid_slot_of(&in, s->device, s->end_device), s->size[0],
                                     s->axes > 1 ? s->size[1] : 0, shape, &e),
                     0);
    assert_int_equal(stage_costs_new(t, shape, k, &e), 0);
    memcpy(k->on, s->on, h->problem->classes.count * sizeof *s->on);
    hybrid_instance_release(&in);
}

/* The values that can be kept or not, at most CHOSEN_MOST of them; the rest is kept. */
static uint32_t chosen(struct reading *x, uint32_t out[static CHOSEN_MOST])
{
    uint32_t count = 0;

    for (uint32_t v = 0; v < x->h->order.steps.value_count; v++) {
        x->is_kept[v] = 1;
        if (x->is_needed[v] && is_forward(x, v) && !x->is_crossing[v] && count < CHOSEN_MOST)
            out[count++] = v;
    }
    return count;
}

/* No choice of which of some values to keep, read slowly, is below the front at any price; and at
 * every corner both come to the same. */
static void compare(struct reading *x, const struct keep_problem *p, const uint32_t *of)
{
    struct keep_front f;
    struct err e;
    uint32_t some[CHOSEN_MOST], count = chosen(x, some);
    double all = 0, needed = 0;

    for (uint32_t v = 0; v < x->h->order.steps.value_count; v++)
        if (x->is_needed[v] && of[v]) {
            assert_true(p->values[of[v] - 1].is_needed);
            needed += p->values[of[v] - 1].bytes;
        }
    for (uint32_t k = 0; k < p->count; k++)
        all += p->values[k].is_needed ? p->values[k].bytes : 0;
    assert_true(fabs(all - needed) <= 1e-9 * all);
    assert_int_equal(keep_front_new(p, &f, &e), 0);
    print_message("%u values, %u of them tried, %u corners: %.4g MB at no time to %.4g MB in %.4g "
                  "ms\n",
                  p->count, count, f.count, f.points[0].bytes / 1e6,
                  f.points[f.count - 1].bytes / 1e6, f.points[f.count - 1].ms);
    for (uint32_t set = 0; set < 1u << count; set++) {
        for (uint32_t n = 0; n < count; n++)
            x->is_kept[some[n]] = set >> n & 1;
        (void)follow(x);
        for (uint32_t n = 1; n < f.count; n++) {
            const struct keep_choice *a = &f.points[n - 1], *b = &f.points[n];
            double price = (b->ms - a->ms) / (a->bytes - b->bytes);
            assert_true(x->ms + price * x->bytes >= (a->ms + price * a->bytes) * (1 - 1e-6));
        }
    }
    for (uint32_t n = 0; n < f.count; n++) {
        for (uint32_t v = 0; v < x->h->order.steps.value_count; v++)
            x->is_kept[v] = of[v] && f.points[n].state[of[v] - 1] == KEEP_KEPT;
        double beside = follow(x);
        assert_true(fabs(x->ms - f.points[n].ms) <= 1e-9 * (1 + x->ms));
        assert_true(fabs(x->bytes - f.points[n].bytes) <= 1e-9 * (1 + x->bytes));
        assert_true(fabs(beside - f.points[n].beside) <= 1e-9 * (1 + beside));
    }
    keep_front_release(&f);
}

static void check_stage(const char *model, const char *cluster, uint32_t micro_batches)
{
    struct hybrid_options o = {
        .stages = 1, .micro_batches = micro_batches, .no_limit = true, .no_bound = true, .zero = 0};
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    struct stage_shape *shape = mem_alloc(sizeof *shape);
    struct stage_tables t;
    struct stage_costs k;
    struct keep_problem problem;
    struct err e;

    load_shipped(model, cluster, p);
    assert_int_equal(hybrid_new(p, &o, h, &e), 0);
    with_costs(h, 0, 0, shape, &t, &k);
    size_t values = (size_t)h->order.steps.value_count + 1;
    uint32_t *of = mem_alloc(values * sizeof *of);
    struct reading x = {.h = h,
                        .k = &k,
                        .is_needed = mem_alloc(values),
                        .is_crossing = mem_alloc(values),
                        .is_kept = mem_alloc(values),
                        .is_seen = mem_alloc(values),
                        .beside = mem_alloc((h->sections.count + 1) * sizeof(double))};
    assert_int_equal(by_value_problem(&k, 0, h->sections.count, &problem, of, &e), 0);
    read_step(&x);
    compare(&x, &problem, of);
    keep_problem_release(&problem);
    stage_costs_release(&k);
    free(of);
    free(x.is_needed);
    free(x.is_crossing);
    free(x.is_kept);
    free(x.is_seen);
    free(x.beside);
    hybrid_release(h);
    problem_release(p);
    free(shape);
    free(h);
    free(p);
}

static void test_stage(void **unused)
{
    (void)unused;
    check_stage("mlp", NULL, 1);
    check_stage("t5-tiny", NULL, 2);
    check_stage("moe", "a100-1x8", 2);
    check_stage("decoder-scan", "a100-1x8", 4);
    check_stage("resnet20", "a100-1x8", 1);
}

/* ---- plans ---- */

/* Memory of the fullest stage of the plan there is without a limit, and of it so many parts. */
static void check_plans(const char *model, const char *cluster, bool gains)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    struct hybrid_options o = {
        .stages = 2, .micro_batches = 4, .chunks = 1, .no_limit = true, .zero = 1};
    struct err e;
    double most = 0;
    uint32_t shorter = 0;

    load_shipped(model, cluster, p);
    assert_int_equal(hybrid_new(p, &o, h, &e), 0);
    for (uint32_t n = 0; n < h->stages; n++)
        most = fmax(most, h->stage[n].memory_bytes);
    hybrid_release(h);
    for (int part = 9; part >= 3; part -= 2) {
        o.no_limit = o.keeps_values = false;
        o.limit_bytes = most * part / 10;
        int rc = hybrid_new(p, &o, h, &e);
        double strict = rc ? INFINITY : hybrid_step_ms(h);
        assert_true(!rc || rc == ERR_INFEASIBLE);
        if (!rc)
            hybrid_release(h);
        o.keeps_values = true;
        if (hybrid_new(p, &o, h, &e)) {
            assert_true(!isfinite(strict));
            continue;
        }
        print_message("%s, %.0f %% of the memory: %.5g ms, by value %.5g, bound %.5g\n", model,
                      10.0 * part, strict, h->by_value_ms, h->bound_ms);
        assert_true(h->by_value_ms <= strict);
        assert_true(!h->is_certified || h->bound_ms <= h->by_value_ms);
        for (uint32_t n = 0; n < h->stages && h->chunks == 1; n++) {
            const struct by_value *v = &h->stage[n].by_value;
            assert_true(v->memory_bytes <= h->stage[n].limit_bytes);
            assert_true(v->added_ms >= v->bound_ms * (1 - 1e-6) || !v->row_count);
            assert_true(hybrid_point_bytes(&v->point, v->in_flight) == v->memory_bytes);
        }
        shorter += h->by_value_ms < strict;
        hybrid_release(h);
    }
    assert_int_equal(shorter > 0, gains);
    problem_release(p);
    free(h);
    free(p);
}

static void test_plans(void **unused)
{
    (void)unused;
    check_plans("t5-tiny", "a100-1x8", true);
    check_plans("t5-base6", "a100-1x8", true);
    check_plans("decoder-scan", "a100-1x8", false); /* the module recomputes its layers itself */
}

/* A plan file says that values are chosen; read back they are the same. */
static void test_file(void **unused)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h), *back = mem_alloc(sizeof *back);
    struct hybrid_options o = {.stages = 2, .micro_batches = 4, .zero = 1, .no_limit = true};
    struct err e;

    (void)unused;
    load_shipped("t5-tiny", "a100-1x8", p);
    assert_int_equal(hybrid_new(p, &o, h, &e), 0);
    o.limit_bytes = 0.7 * h->stage[0].memory_bytes;
    hybrid_release(h);
    o.no_limit = false;
    o.keeps_values = true;
    assert_int_equal(hybrid_new(p, &o, h, &e), 0);
    cJSON *json = hybrid_json(h);
    char *text = cJSON_Print(json);
    assert_int_equal(hybrid_file_parse(p, text, strlen(text), back, &e), 0);
    assert_true(back->by_value_ms == h->by_value_ms);
    assert_int_equal(back->by_value_schedule, h->by_value_schedule);
    assert_int_equal(back->is_certified, h->is_certified);
    for (uint32_t n = 0; n < h->stages; n++) {
        assert_true(back->stage[n].by_value.memory_bytes == h->stage[n].by_value.memory_bytes);
        assert_int_equal(back->stage[n].by_value.row_count, h->stage[n].by_value.row_count);
    }
    cJSON_free(text);
    cJSON_Delete(json);
    hybrid_release(back);
    hybrid_release(h);
    problem_release(p);
    free(back);
    free(h);
    free(p);
}

/* ---- interleaved ---- */

/* What a choice of which values to keep comes to, by its definition. */
struct followed {
    const struct keep_problem *p;
    const uint8_t *keeps; /* [count] */
    uint8_t *is_seen;
    double ms, bytes, *beside;
};

static void use_value(struct followed *f, uint32_t k)
{
    const struct keep_value *v = &f->p->values[k];

    if (f->is_seen[k]++)
        return;
    if (v->is_held || (f->keeps[k] && !v->is_passed)) {
        f->bytes += v->bytes;
        return;
    }
    f->ms += v->ms;
    f->beside[v->group] += v->is_needed ? v->bytes : 0;
    for (uint32_t n = 0; n < v->read_count; n++)
        use_value(f, f->p->edges[v->reads + n]);
}

/* Of one stage of a group: no choice of up to 10 of its largest values, the rest kept, that is
 * within what the group's limit leaves, adds less than the bound. Returns how many are within. */
static uint32_t check_bound(const struct hybrid *h, uint32_t c, double room)
{
    enum { TRIED = 10 };
    struct stage_shape *shape = mem_alloc(sizeof *shape);
    struct stage_tables t;
    struct stage_costs k;
    struct keep_problem p;
    struct err e;
    uint32_t *of = mem_alloc(((size_t)h->order.steps.value_count + 1) * sizeof *of), some[TRIED],
             count = 0, within = 0;
    const struct hybrid_stage *s = &h->stage[c];
    double all = 0;

    with_costs(h, c, h->zero, shape, &t, &k);
    assert_int_equal(by_value_problem(&k, s->section, s->end_section, &p, of, &e), 0);
    uint8_t *keeps = mem_alloc((size_t)p.count + 1), *is_seen = mem_alloc((size_t)p.count + 1);
    double *beside = mem_alloc(((size_t)p.groups + 1) * sizeof *beside);
    for (uint32_t n = 0; n < p.count; n++) {
        const struct keep_value *v = &p.values[n];
        all += v->is_needed ? v->bytes : 0;
        keeps[n] = 1;
        if (!v->is_needed || v->is_held || v->is_passed)
            continue;
        uint32_t at = count < TRIED ? count++ : TRIED;
        for (; at && p.values[some[at - 1]].bytes < v->bytes; at--)
            if (at < TRIED)
                some[at] = some[at - 1];
        if (at < TRIED)
            some[at] = n;
    }
    for (uint32_t set = 0; set < 1u << count; set++) {
        struct followed f = {&p, keeps, is_seen, 0, 0, beside};
        memset(is_seen, 0, p.count);
        memset(beside, 0, p.groups * sizeof *beside);
        for (uint32_t n = 0; n < count; n++)
            keeps[some[n]] = set >> n & 1;
        for (uint32_t n = 0; n < p.count; n++)
            if (p.values[n].is_needed)
                use_value(&f, n);
        if (s->in_flight * (s->point.stash_bytes - all + f.bytes) > room)
            continue;
        within++;
        assert_true(f.ms >= s->by_value.bound_ms * (1 - 1e-9));
    }
    keep_problem_release(&p);
    stage_costs_release(&k);
    free(keeps);
    free(is_seen);
    free(beside);
    free(of);
    free(shape);
    return within;
}

/* The stages of a group within its limit: memory by its definition, rows that add up, bounds. */
static uint32_t check_group(const struct hybrid *h, uint32_t g)
{
    uint32_t groups = h->stages / h->chunks, within = 0;
    double fixed = 0, all_fixed = 0, beside = 0, stash = 0;

    for (uint32_t c = g; c < h->stages; c += groups) {
        const struct by_value *v = &h->stage[c].by_value;
        fixed += v->point.fixed_bytes - v->beside_bytes;
        all_fixed += h->stage[c].point.fixed_bytes;
        beside = fmax(beside, v->beside_bytes);
        stash = fmax(stash, v->point.stash_bytes);
        double kept = 0, freed = 0;
        for (uint32_t r = 0; r < v->row_count + v->kept_count; r++) {
            kept += v->rows[r].kept_bytes;
            freed += v->rows[r].bytes;
            assert_int_equal(v->rows[r].again > 0, r < v->row_count);
        }
        /* what is computed again is not kept; values that come to be kept for it are no more */
        if (!v->point.recompute && v->row_count) {
            assert_true(v->point.stash_bytes >=
                        (h->stage[c].point.stash_bytes - freed) * (1 - 1e-9));
            assert_true(kept <= v->point.stash_bytes * (1 + 1e-9));
        }
    }
    double bytes = fixed + beside + h->stage[g].in_flight * stash;
    assert_true(fabs(bytes - h->stage[g].by_value.memory_bytes) <= 1e-9 * bytes);
    assert_true(!isfinite(h->by_value_ms) || bytes <= h->stage[g].limit_bytes);
    for (uint32_t c = g; c < h->stages; c += groups)
        within += check_bound(h, c, h->stage[g].limit_bytes - all_fixed);
    return within;
}

static void test_interleaved(void **unused)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h), *back = mem_alloc(sizeof *back);
    struct hybrid_options o = {.stages = 2,
                               .micro_batches = 4,
                               .chunks = 2,
                               .is_uniform = true,
                               .zero = 1,
                               .no_limit = true};
    struct pipe_schedule played;
    uint32_t within = 0, chosen_by_value = 0;
    double before = 0, most = 0;
    struct err e;

    (void)unused;
    load_shipped("t5-base6", "a100-1x8", p);
    assert_int_equal(hybrid_new(p, &o, h, &e), 0);
    assert_int_equal(h->chunks, 2);
    for (uint32_t n = 0; n < h->stages; n++)
        most = fmax(most, h->stage[n].memory_bytes);
    h->options.no_limit = false;
    h->options.keeps_values = true;
    for (int part = 110; part >= 30; part -= 10) {
        h->options.limit_bytes = most * part / 100;
        assert_int_equal(hybrid_price(h, &e), 0);
        assert_int_equal(hybrid_by_value(h, &e), 0);
        print_message("%d %% of the memory: %.6g ms, keeping all %.6g\n", part, h->by_value_ms,
                      hybrid_step_ms(h));
        assert_true(part < 100 || h->by_value_ms == hybrid_step_ms(h));
        assert_true(h->by_value_ms >= before); /* less room, no less time */
        before = h->by_value_ms;
        for (uint32_t g = 0; g < 2; g++)
            within += check_group(h, g);
        if (!isfinite(h->by_value_ms))
            continue;
        for (uint32_t n = 0; n < h->stages; n++)
            chosen_by_value += h->stage[n].by_value.row_count > 0;
        assert_int_equal(hybrid_schedule(h, true, &played, &e), 0);
        assert_true(fabs(played.makespan_ms - h->by_value_ms) <= 1e-9 * h->by_value_ms);
        pipe_schedule_free(&played);
        cJSON *json = hybrid_json(h);
        char *text = cJSON_Print(json);
        assert_int_equal(hybrid_file_parse(p, text, strlen(text), back, &e), 0);
        assert_true(back->by_value_ms == h->by_value_ms);
        hybrid_release(back);
        cJSON_free(text);
        cJSON_Delete(json);
    }
    print_message("%u stages chosen by value; %u other choices within their limits, none below a "
                  "bound\n",
                  chosen_by_value, within);
    assert_true(chosen_by_value > 4 && within > 100);
    hybrid_release(h);
    problem_release(p);
    free(back);
    free(h);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stage), cmocka_unit_test(test_plans),
                                       cmocka_unit_test(test_file),
                                       cmocka_unit_test(test_interleaved)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
