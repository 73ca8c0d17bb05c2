/* Classes and strict decisions against an oracle that knows neither: plain arc consistency. Every
 * value has a domain of statuses (whole, or split on one dim), every instruction a list of
 * alternatives (not split, or one factor of hlo_factors_of); what has no support is struck out
 * until nothing changes. Slow, and written from the definition. On the shipped models and on
 * thousands of random modules: every dim alone, random decisions with undo, random independent
 * sets. */
#include "hlo/load.h"
#include "random_module.h"

#include "engine/cost/fold.h"
#include "engine/decide/strict.h"
#include "hlo/module/flows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

enum { WHOLE = 1, SPLIT = 2 }; /* domain bits: WHOLE, SPLIT << dim */

/* One constraint: tuples of statuses, one status (bit) per value; free values are left out. */
struct rule {
    hlo_value *values;
    uint32_t value_count, tuple_count;
    uint32_t *tuples; /* [tuple_count][value_count] one bit each */
};

struct oracle {
    const struct hlo_module *m;
    bool *is_free;
    uint32_t *domain; /* [values] */
    struct rule *rules;
    size_t rule_count, rule_room;
    uint32_t *of_value; /* [values + 1] into value_rules */
    uint32_t *value_rules;
    uint32_t *queue; /* rules to look at; ring of rule_count */
    bool *queued;
    size_t head, waiting;
    struct {
        hlo_value value;
        uint32_t domain;
    } * trail;
    size_t trail_count, trail_room;
};

static uint32_t *tuple_of(const struct rule *r, uint32_t n)
{
    return r->tuples + (size_t)n * r->value_count;
}

/* ---- building ---- */

static struct rule *new_rule(struct oracle *o, const hlo_value *values, uint32_t count,
                             uint32_t tuples)
{
    assert_true(mem_grow(&o->rules, &o->rule_room, o->rule_count, 1));
    struct rule *r = &o->rules[o->rule_count++];
    r->values = mem_alloc((count + 1) * sizeof *r->values);
    r->tuples = mem_alloc(((size_t)count * tuples + 1) * sizeof *r->tuples);
    r->value_count = count;
    r->tuple_count = 0;
    memcpy(r->values, values, count * sizeof *values);
    return r;
}

static void add_equal(struct oracle *o, hlo_value a, hlo_value b)
{
    uint32_t rank = hlo_value_shape(o->m, a)->rank;
    hlo_value pair[2] = {a, b};

    if (a == b || o->is_free[a] || o->is_free[b] || rank != hlo_value_shape(o->m, b)->rank)
        return;
    struct rule *r = new_rule(o, pair, 2, rank + 1);
    for (uint32_t bit = 0; bit <= rank; bit++) {
        uint32_t *t = tuple_of(r, r->tuple_count++);
        t[0] = t[1] = (uint32_t)WHOLE << bit;
    }
}

/* The tuple of an alternative; a value that stands in two places must get one status there. */
static void add_alternative(struct oracle *o, struct rule *r, hlo_id id, uint32_t leaves,
                            const int8_t *dims)
{
    uint32_t *t = tuple_of(r, r->tuple_count), n = 0;

    memset(t, 0, r->value_count * sizeof *t);
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        hlo_value v = hlo_factors_value(o->m, id, leaf);
        if (o->is_free[v])
            continue;
        uint32_t bit = dims && dims[leaf] >= 0 ? (uint32_t)SPLIT << dims[leaf] : WHOLE;
        for (n = 0; r->values[n] != v;)
            n++;
        if (t[n] && t[n] != bit)
            return;
        t[n] = bit;
    }
    r->tuple_count++;
}

static bool can_split(const struct problem *p, const struct hlo_factor *f, int64_t parts)
{
    bool is_off = f->kind == HLO_FACTOR_REDUCE && p->options.classes.reduce_off[f->combiner];

    if (f->kind == HLO_FACTOR_PERMUTE || is_off || f->size < parts)
        return false;
    return !(p->options.exact_divisibility || f->must_divide) || f->size % parts == 0;
}

static void add_instruction(struct oracle *o, const struct problem *p, hlo_id id,
                            struct hlo_factors *f, int64_t parts)
{
    hlo_value values[256];
    uint32_t count = 0;
    struct err e;

    assert_int_equal(hlo_factors_of(o->m, id, f, &e), 0);
    for (uint32_t leaf = 0; leaf < f->leaf_count; leaf++) {
        hlo_value v = hlo_factors_value(o->m, id, leaf);
        uint32_t n = 0;
        while (n < count && values[n] != v)
            n++;
        if (n < count || o->is_free[v])
            continue;
        assert_true(count < 256);
        values[count++] = v;
    }
    if (!count)
        return;
    struct rule *r = new_rule(o, values, count, f->count + 1);
    add_alternative(o, r, id, f->leaf_count, NULL);
    for (uint32_t k = 0; k < f->count; k++) {
        if (can_split(p, &f->items[k], parts))
            add_alternative(o, r, id, f->leaf_count, f->items[k].dims);
    }
}

static void first_domains(struct oracle *o, const struct problem *p, int64_t parts)
{
    for (hlo_value v = 0; v < o->m->value_count; v++) {
        const struct hlo_shape *s = hlo_value_shape(o->m, v);
        o->domain[v] = WHOLE;
        for (uint32_t d = 0; d < s->rank && !o->is_free[v]; d++) {
            if (s->dims[d] >= parts && !(p->options.exact_divisibility && s->dims[d] % parts))
                o->domain[v] |= (uint32_t)SPLIT << d;
        }
    }
    for (uint32_t k = 0; p->options.classes.paper_rules && k < p->roles.param_count; k++) {
        hlo_id id = o->m->value_instruction[p->roles.params[k].value];
        for (uint32_t n = 0; n < hlo_at(o->m, id)->user_count; n++) {
            hlo_id user = hlo_user(o->m, id, n);
            if (p->roles.params[k].role == HLO_ROLE_VARIABLE && hlo_is_convolution(o->m, user) &&
                hlo_operand(o->m, user, 1) == id)
                o->domain[p->roles.params[k].value] = WHOLE;
        }
    }
}

static void index_rules(struct oracle *o)
{
    size_t total = 0;

    o->of_value = mem_alloc((o->m->value_count + 2) * sizeof *o->of_value);
    for (size_t k = 0; k < o->rule_count; k++) {
        total += o->rules[k].value_count;
        for (uint32_t n = 0; n < o->rules[k].value_count; n++)
            o->of_value[o->rules[k].values[n] + 2]++;
    }
    o->value_rules = mem_alloc((total + 1) * sizeof *o->value_rules);
    for (hlo_value v = 0; v < o->m->value_count; v++)
        o->of_value[v + 1] += o->of_value[v];
    for (size_t k = 0; k < o->rule_count; k++) {
        for (uint32_t n = 0; n < o->rules[k].value_count; n++)
            o->value_rules[o->of_value[o->rules[k].values[n] + 1]++] = (uint32_t)k;
    }
    o->queue = mem_alloc((o->rule_count + 1) * sizeof *o->queue);
    o->queued = mem_alloc(o->rule_count + 1);
}

static void oracle_new(struct oracle *o, const struct problem *p, int64_t parts)
{
    struct hlo_factors f = {0};
    struct hlo_flows flows = {0};
    struct err e;

    memset(o, 0, sizeof *o);
    o->m = p->m;
    o->is_free = mem_alloc(p->m->value_count + 1);
    o->domain = mem_alloc((p->m->value_count + 1) * sizeof *o->domain);
    assert_int_equal(hlo_free_values(p->m, o->is_free, &e), 0);
    for (hlo_id id = 0; id < p->m->count; id++) {
        if (hlo_is_flow(p->m, id)) {
            assert_int_equal(hlo_flows_of(p->m, id, &flows, &e), 0);
            for (size_t k = 0; k < flows.count; k++)
                add_equal(o, flows.items[k].from, flows.items[k].to);
        } else {
            add_instruction(o, p, id, &f, parts);
        }
    }
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (p->roles.params[k].updated != HLO_NONE)
            add_equal(o, p->roles.params[k].value, p->roles.params[k].updated);
    }
    hlo_factors_release(&f);
    hlo_flows_release(&flows);
    first_domains(o, p, parts);
    index_rules(o);
}

static void oracle_release(struct oracle *o)
{
    for (size_t k = 0; k < o->rule_count; k++) {
        free(o->rules[k].values);
        free(o->rules[k].tuples);
    }
    free(o->is_free);
    free(o->domain);
    free(o->rules);
    free(o->of_value);
    free(o->value_rules);
    free(o->queue);
    free(o->queued);
    free(o->trail);
}

/* ---- propagation ---- */

static void wake(struct oracle *o, uint32_t rule)
{
    if (!o->queued[rule]) {
        o->queued[rule] = true;
        o->queue[(o->head + o->waiting++) % o->rule_count] = rule;
    }
}

static void set_domain(struct oracle *o, hlo_value v, uint32_t domain)
{
    if (o->domain[v] == domain)
        return;
    assert_true(mem_grow(&o->trail, &o->trail_room, o->trail_count, 1));
    o->trail[o->trail_count].value = v;
    o->trail[o->trail_count++].domain = o->domain[v];
    o->domain[v] = domain;
    for (uint32_t k = o->of_value[v]; k < o->of_value[v + 1]; k++)
        wake(o, o->value_rules[k]);
}

static void revise(struct oracle *o, const struct rule *r)
{
    uint32_t support[256] = {0};

    for (uint32_t k = 0; k < r->tuple_count; k++) {
        const uint32_t *t = tuple_of(r, k);
        bool alive = true;
        for (uint32_t n = 0; n < r->value_count; n++)
            alive &= (o->domain[r->values[n]] & t[n]) != 0;
        for (uint32_t n = 0; n < r->value_count && alive; n++)
            support[n] |= t[n];
    }
    for (uint32_t n = 0; n < r->value_count; n++)
        set_domain(o, r->values[n], o->domain[r->values[n]] & support[n]);
}

/* To the fixed point; false when a domain ran empty. */
static bool propagate(struct oracle *o)
{
    bool ok = true;

    while (o->waiting) {
        uint32_t rule = o->queue[o->head];
        o->head = (o->head + 1) % o->rule_count;
        o->waiting--;
        o->queued[rule] = false;
        if (!ok)
            continue;
        revise(o, &o->rules[rule]);
        for (uint32_t n = 0; n < o->rules[rule].value_count; n++)
            ok &= o->domain[o->rules[rule].values[n]] != 0;
    }
    return ok;
}

static void undo(struct oracle *o, size_t mark)
{
    while (o->trail_count > mark) {
        o->trail_count--;
        o->domain[o->trail[o->trail_count].value] = o->trail[o->trail_count].domain;
    }
}

/* Decides dim `dim` of `v`; false, and nothing changes, when that cannot be. */
static bool impose(struct oracle *o, hlo_value v, uint32_t dim, bool split)
{
    size_t mark = o->trail_count;
    uint32_t bit = (uint32_t)SPLIT << dim;

    if (o->domain[v] == (split ? bit : o->domain[v] & ~bit))
        return true;
    set_domain(o, v, split ? o->domain[v] & bit : o->domain[v] & ~bit);
    if (o->domain[v] && propagate(o))
        return true;
    (void)propagate(o); /* empties the queue */
    undo(o, mark);
    return false;
}

/* Strikes out what can never be: each member of each class alone when `all`, else the first. */
static void strike_out(struct oracle *o, const struct problem *p, bool all)
{
    const struct classes *c = &p->classes;

    for (uint32_t k = 0; k < o->rule_count; k++)
        wake(o, k);
    assert_true(propagate(o));
    for (class_id k = 0; k < c->count; k++) {
        for (uint32_t n = 0; n < (all ? c->info[k].dim_count : 1); n++) {
            dim_id d = c->members[c->info[k].dims + n];
            hlo_value v = c->dim_value[d];
            uint32_t dim = d - c->dim_base[v];
            size_t mark = o->trail_count;
            bool ok = o->domain[v] >> 1 >> dim & 1 && impose(o, v, dim, true);
            if (ok != label_is_splittable(&p->labels, k))
                fail_msg("%s dim %u: the oracle %s split it, the class %s",
                         hlo_name(o->m, o->m->value_instruction[v]), dim, ok ? "can" : "cannot",
                         class_reason_text[c->info[k].reason]);
            undo(o, mark);
            if (!ok && o->domain[v] >> 1 >> dim & 1)
                assert_true(impose(o, v, dim, false));
        }
    }
}

/* ---- comparison ---- */

static void compare(const struct oracle *o, const struct problem *p, const struct strict *s)
{
    const struct classes *c = &p->classes;

    for (dim_id d = 0; d < c->dim_count; d++) {
        hlo_value v = c->dim_value[d];
        uint32_t bit = (uint32_t)SPLIT << (d - c->dim_base[v]);
        if (o->is_free[v] != (c->is_free[v] != 0))
            fail_msg("%s: %s by hlo_free_values", hlo_name(o->m, o->m->value_instruction[v]),
                     o->is_free[v] ? "free" : "not free");
        if (o->is_free[v])
            continue;
        int expected = o->domain[v] == bit ? 1 : o->domain[v] & bit ? -1 : 0;
        int status = c->class_of[d] == CLASS_NONE ? 0 : strict_status(s, c->class_of[d], 0);
        if (status != expected)
            fail_msg("%s dim %u: oracle %d, classes %d", hlo_name(o->m, o->m->value_instruction[v]),
                     d - c->dim_base[v], expected, status);
    }
}

struct pair {
    struct problem *p;
    struct oracle o;
    struct strict s;
    struct rl_rng rng;
};

static void pair_new(struct pair *x, struct problem *p, bool all, uint64_t seed)
{
    struct err e;

    x->p = p;
    rl_rng_seed(&x->rng, seed, 5);
    oracle_new(&x->o, p, p->mesh.devices);
    strike_out(&x->o, p, all);
    assert_int_equal(strict_new(&p->labels, &x->s, &e), 0);
    compare(&x->o, p, &x->s);
}

static void pair_release(struct pair *x)
{
    oracle_release(&x->o);
    strict_release(&x->s);
}

/* One decision on both sides. */
static void decide_both(struct pair *x, dim_id d, bool split)
{
    const struct classes *c = &x->p->classes;
    hlo_value v = c->dim_value[d];
    bool ours = strict_decide(&x->s, c->class_of[d], 0, split, NULL);

    assert_int_equal(impose(&x->o, v, d - c->dim_base[v], split), ours);
}

/* Decisions at random, each compared on all dims, then all undone. */
static void random_decisions(struct pair *x, uint32_t count, uint32_t splits_of_ten)
{
    const struct classes *c = &x->p->classes;
    size_t mark = strict_mark(&x->s), oracle_mark = x->o.trail_count;

    for (uint32_t k = 0; k < count && c->dim_count; k++) {
        dim_id d = rl_rng_below(&x->rng, c->dim_count);
        if (c->class_of[d] == CLASS_NONE)
            continue;
        decide_both(x, d, rl_rng_below(&x->rng, 10) < splits_of_ten);
        compare(&x->o, x->p, &x->s);
    }
    strict_undo(&x->s, mark);
    undo(&x->o, oracle_mark);
    compare(&x->o, x->p, &x->s);
}

/* Classes in random order, each split when none it meets is: all of them hold in the oracle, and
 * with the others whole no value is left undecided. */
static void independent_set(struct pair *x)
{
    const struct classes *c = &x->p->classes;
    size_t mark = strict_mark(&x->s), oracle_mark = x->o.trail_count;
    bool *chosen = mem_alloc(c->count + 1);

    for (uint32_t k = 0; k < 4 * c->count; k++) {
        class_id class = rl_rng_below(&x->rng, c->count);
        bool ok = label_is_splittable(&x->p->labels, class) && !chosen[class];
        for (uint32_t n = 0; n < c->info[class].meet_count; n++)
            ok &= !chosen[c->meets[c->info[class].meets + n].other];
        if (!ok)
            continue;
        chosen[class] = true;
        dim_id d =
            c->members[c->info[class].dims + rl_rng_below(&x->rng, c->info[class].dim_count)];
        assert_true(impose(&x->o, c->dim_value[d], d - c->dim_base[c->dim_value[d]], true));
        assert_true(strict_decide(&x->s, class, 0, true, NULL));
    }
    for (class_id k = 0; k < c->count; k++) {
        dim_id d = c->members[c->info[k].dims];
        if (!chosen[k])
            decide_both(x, d, false);
    }
    compare(&x->o, x->p, &x->s);
    for (hlo_value v = 0; v < x->o.m->value_count; v++)
        assert_true((x->o.domain[v] & (x->o.domain[v] - 1)) == 0);
    free(chosen);
    strict_undo(&x->s, mark);
    undo(&x->o, oracle_mark);
}

/* Deciding a folded colour alike never clashes with itself. */
static void folded(struct pair *x)
{
    const struct classes *c = &x->p->classes;
    struct fold f;
    struct err e;

    assert_int_equal(fold_new(&x->p->step_tables, true, &f, &e), 0);
    for (uint32_t colour = 0; colour < f.count; colour++) {
        size_t mark = strict_mark(&x->s);
        for (class_id k = 0; k < c->count; k++) {
            if (f.colour[k] == colour && label_is_splittable(&x->p->labels, k))
                assert_true(strict_decide(&x->s, k, 0, true, NULL));
        }
        strict_undo(&x->s, mark);
    }
    fold_release(&f);
}

/* ---- tests ---- */

static uint32_t random_module_count(void)
{
    return getenv("AUTOMAP_RANDOM_MODULES")
               ? (uint32_t)strtoul(getenv("AUTOMAP_RANDOM_MODULES"), NULL, 10)
               : 3000;
}

static void test_random(void **state)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    uint64_t splittable = 0, meets = 0, classes = 0;
    struct err e;

    (void)state;
    for (uint32_t seed = 1; seed <= random_module_count(); seed++) {
        struct problem_options o = {.exact_divisibility = seed % 3 == 0};
        struct pair x;
        o.classes.reduce_off[HLO_COMBINE_MAX] = seed % 5 == 0;
        assert_int_equal(cluster_of_devices(cluster, 2 + seed % 3, &e), 0);
        if (random_problem(seed, 8 + seed % 40, cluster, &o, p, &e)) {
            err_print(&e, stderr);
            fail_msg("random module %u", seed);
        }
        pair_new(&x, p, true, seed);
        random_decisions(&x, 12, 4);
        random_decisions(&x, 8, 8);
        independent_set(&x);
        folded(&x);
        for (class_id k = 0; k < p->classes.count; k++) {
            splittable += label_is_splittable(&p->labels, k);
            meets += p->classes.info[k].meet_count;
        }
        classes += p->classes.count;
        pair_release(&x);
        problem_release(p);
    }
    print_message("%u modules, %lu classes, %lu can be split, %lu conflicts\n",
                  random_module_count(), (unsigned long)classes, (unsigned long)splittable,
                  (unsigned long)meets / 2);
    assert_true(splittable > 2 * (uint64_t)random_module_count() &&
                meets / 2 > random_module_count());
    free(p);
    free(cluster);
}

static void check_model(const char *model, uint32_t devices, const struct problem_options *o,
                        bool all)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct hlo_module *m;
    struct pair x;
    struct err e;
    char path[512];

    assert_int_equal(cluster_of_devices(cluster, devices, &e), 0);
    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", model);
    assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, cluster, o, p, &e), 0);
    pair_new(&x, p, all, devices);
    random_decisions(&x, 20, 5);
    random_decisions(&x, 20, 9);
    independent_set(&x);
    folded(&x);
    print_message("%-13s %u devices: %u classes agree\n", model, devices, p->classes.count);
    pair_release(&x);
    problem_release(p);
    free(p);
    free(cluster);
}

static void test_models(void **state)
{
    static const char *const models[] = {"mlp",      "t5-tiny", "decoder-scan", "moe",
                                         "resnet20", "vgg19",   "t5-base6"};
    struct problem_options pad = {0}, exact = {.exact_divisibility = true},
                           paper = {.classes.paper_rules = true};

    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        check_model(models[k], k < 4 ? 2 : 16, &pad, false);
        check_model(models[k], 8, &exact, false);
    }
    check_model("mlp", 2, &pad, true);
    check_model("t5-tiny", 2, &pad, true);
    check_model("vgg19", 4, &paper, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_models)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
