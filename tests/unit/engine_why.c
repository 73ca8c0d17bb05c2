/* Chains of ties: every step really binds both dims, and no chain is shorter, by relaxation over
 * all instructions; the smallest clash among wishes, by trying every subset; and what explain says,
 * word for word, on a model small enough to check by eye. */
#include "hlo/load.h"
#include "random_module.h"

#include "engine/decide/why.h"
#include "engine/live/clash.h"
#include "engine/plan/explain.h"
#include "engine/problem/setting.h"
#include "hlo/module/flows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

/* ---- chains ---- */

enum { FAR = 1 << 30 };

/* Dims that one rule ties, in turn: those each factor binds, both ends of each flow, and a value
 * with its next. Calls `see` with each group. */
struct groups {
    const struct problem *p;
    bool *is_free;
    void (*see)(struct groups *g, const dim_id *dims, uint32_t count, hlo_id place);
    uint32_t *distance;
    bool changed;
    dim_id a, b; /* sought pair, for is_tied */
    hlo_id place;
    bool found;
};

static void see_pairs(struct groups *g, hlo_value v, hlo_value w, hlo_id place)
{
    uint32_t rank = hlo_value_shape(g->p->m, v)->rank;

    for (uint32_t d = 0; d < rank && !g->is_free[v] && !g->is_free[w]; d++) {
        dim_id pair[2] = {class_dim(&g->p->classes, v, d), class_dim(&g->p->classes, w, d)};
        if (rank == hlo_value_shape(g->p->m, w)->rank)
            g->see(g, pair, 2, place);
    }
}

static void see_factors(struct groups *g, hlo_id id, struct hlo_factors *f)
{
    struct err e;

    assert_int_equal(hlo_factors_of(g->p->m, id, f, &e), 0);
    for (uint32_t k = 0; k < f->count; k++) {
        dim_id dims[64];
        uint32_t count = 0;
        for (uint32_t leaf = 0; leaf < f->leaf_count; leaf++) {
            hlo_value v = hlo_factors_value(g->p->m, id, leaf);
            if (f->items[k].dims[leaf] >= 0 && !g->is_free[v] &&
                f->items[k].kind != HLO_FACTOR_PERMUTE)
                dims[count++] = class_dim(&g->p->classes, v, (uint32_t)f->items[k].dims[leaf]);
        }
        g->see(g, dims, count, id);
    }
}

static void see_all(struct groups *g)
{
    const struct hlo_module *m = g->p->m;
    struct hlo_factors f = {0};
    struct hlo_flows flows = {0};
    struct err e;

    for (hlo_id id = 0; id < m->count; id++) {
        if (!hlo_is_flow(m, id)) {
            see_factors(g, id, &f);
            continue;
        }
        assert_int_equal(hlo_flows_of(m, id, &flows, &e), 0);
        for (size_t k = 0; k < flows.count; k++)
            see_pairs(g, flows.items[k].from, flows.items[k].to, id);
    }
    for (uint32_t k = 0; k < g->p->roles.param_count; k++) {
        if (g->p->roles.params[k].updated != HLO_NONE)
            see_pairs(g, g->p->roles.params[k].value, g->p->roles.params[k].updated, HLO_NONE);
    }
    hlo_factors_release(&f);
    hlo_flows_release(&flows);
}

static void relax(struct groups *g, const dim_id *dims, uint32_t count, hlo_id place)
{
    uint32_t least = FAR;

    (void)place;
    for (uint32_t k = 0; k < count; k++)
        least = g->distance[dims[k]] < least ? g->distance[dims[k]] : least;
    for (uint32_t k = 0; k < count; k++) {
        if (g->distance[dims[k]] > least + 1) {
            g->distance[dims[k]] = least + 1;
            g->changed = true;
        }
    }
}

static void look_for(struct groups *g, const dim_id *dims, uint32_t count, hlo_id place)
{
    bool a = false, b = false;

    for (uint32_t k = 0; k < count; k++) {
        a |= dims[k] == g->a;
        b |= dims[k] == g->b;
    }
    g->found |= a && b && place == g->place;
}

static void check_chain(struct groups *g, dim_id from, dim_id to)
{
    struct why_step *steps;
    struct err e;
    size_t count;

    assert_int_equal(why_chain_to(&g->p->classes, from, to, &steps, &count, &e), 0);
    if (g->distance[to] >= FAR) {
        assert_int_equal(count, 0);
        return;
    }
    assert_int_equal(count, g->distance[to] + 1);
    assert_int_equal(steps[0].dim, from);
    assert_int_equal(steps[count - 1].dim, to);
    for (size_t k = 1; k < count; k++) {
        g->a = steps[k - 1].dim;
        g->b = steps[k].dim;
        g->place = steps[k].through;
        g->found = false;
        g->see = look_for;
        see_all(g);
        assert_true(g->found);
    }
    free(steps);
}

static void test_chains(void **state)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {0};
    uint32_t chains = 0, longest = 0;
    struct rl_rng rng;
    struct err e;

    (void)state;
    cluster_default(cluster);
    rl_rng_seed(&rng, 4, 4);
    for (uint32_t seed = 1; seed <= 500; seed++) {
        assert_int_equal(random_problem(seed + 20000, 40, cluster, &o, p, &e), 0);
        struct groups g = {.p = p};
        g.is_free = mem_alloc(p->m->value_count + 1);
        g.distance = mem_alloc((p->classes.dim_count + 1) * sizeof *g.distance);
        assert_int_equal(hlo_free_values(p->m, g.is_free, &e), 0);
        for (uint32_t n = 0; n < 4 && p->classes.dim_count; n++) {
            dim_id from = rl_rng_below(&rng, p->classes.dim_count);
            if (p->classes.class_of[from] == CLASS_NONE)
                continue;
            for (dim_id d = 0; d < p->classes.dim_count; d++)
                g.distance[d] = d == from ? 0 : FAR;
            do {
                g.changed = false;
                g.see = relax;
                see_all(&g);
            } while (g.changed);
            for (dim_id d = 0; d < p->classes.dim_count; d++) {
                assert_int_equal(g.distance[d] < FAR,
                                 p->classes.class_of[d] == p->classes.class_of[from]);
                if (g.distance[d] < FAR && rl_rng_below(&rng, 3) == 0) {
                    check_chain(&g, from, d);
                    longest = g.distance[d] > longest ? g.distance[d] : longest;
                    chains++;
                }
            }
        }
        free(g.is_free);
        free(g.distance);
        problem_release(p);
    }
    print_message("%u chains valid and shortest, up to %u steps\n", chains, longest);
    assert_true(chains > 1000 && longest >= 6);
    free(p);
    free(cluster);
}

/* ---- clashes ---- */

static bool subset_holds(struct strict *s, const struct pinned *pins, uint32_t count,
                         uint32_t subset)
{
    size_t mark = strict_mark(s);
    bool ok = true;

    for (uint32_t k = 0; k < count && ok; k++) {
        if (subset >> k & 1)
            ok = strict_decide(s, pins[k].pin.class, pins[k].pin.axis, pins[k].pin.split, NULL);
    }
    strict_undo(s, mark);
    return ok;
}

static uint32_t bits(uint32_t x)
{
    uint32_t n = 0;

    for (; x; x &= x - 1)
        n++;
    return n;
}

static void check_clash(struct strict *s, const struct pinned *pins, uint32_t count,
                        uint32_t sizes[4])
{
    static const uint32_t wish[] = {0, 1, 2, 3, 4, 5};
    uint8_t keep[8];
    struct err e;
    uint32_t kept = 0, last = 0, least = count + 1;
    bool holds = pins_hold(s->labels, pins, count);

    assert_int_equal(holds, subset_holds(s, pins, count, (1u << count) - 1));
    if (holds)
        return;
    while (subset_holds(s, pins, count, (2u << last) - 1))
        last++; /* the first wish that is refused */
    assert_int_equal(pins_clash(s->labels, pins, wish, last + 1, last + 1, keep, &e), 0);
    for (uint32_t k = 0; k <= last; k++)
        kept |= keep[k] ? 1u << k : 0;
    assert_false(subset_holds(s, pins, count, kept));
    assert_true(kept >> last & 1);
    for (uint32_t k = 0; k <= last; k++) {
        if (kept >> k & 1)
            assert_true(subset_holds(s, pins, count, kept & ~(1u << k)));
    }
    for (uint32_t subset = 1; subset <= (2u << last) - 1; subset++) {
        if (subset >> last & 1 && !subset_holds(s, pins, count, subset) && bits(subset) < least)
            least = bits(subset);
    }
    assert_true(bits(kept) == least || least > 2);
    sizes[bits(kept) < 3 ? bits(kept) : 3]++;
}

static void test_clashes(void **state)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    uint32_t sizes[4] = {0};
    struct rl_rng rng;
    struct err e;

    (void)state;
    cluster_default(cluster);
    rl_rng_seed(&rng, 7, 7);
    for (uint32_t seed = 1; seed <= 500; seed++) {
        struct problem_options o = {0};
        struct strict s;
        snprintf(o.mesh, sizeof o.mesh, "%s", seed % 2 ? "" : "2x2");
        assert_int_equal(random_problem(seed + 30000, 30, cluster, &o, p, &e), 0);
        assert_int_equal(strict_new(&p->labels, &s, &e), 0);
        for (uint32_t n = 0; n < 20 && p->classes.count; n++) {
            struct pinned pins[6] = {0};
            for (uint32_t k = 0; k < 6; k++) {
                class_id class = rl_rng_below(&rng, p->classes.count);
                for (uint32_t t = 0; t < 30 && !label_is_splittable(&p->labels, class); t++)
                    class = rl_rng_below(&rng, p->classes.count);
                pins[k].pin = (struct game_pin){class, (uint8_t)rl_rng_below(&rng, p->labels.axes),
                                                rl_rng_below(&rng, 4) != 0};
            }
            check_clash(&s, pins, 1 + rl_rng_below(&rng, 6), sizes);
        }
        strict_release(&s);
        problem_release(p);
    }
    print_message("clashes of 1, 2 and more wishes: %u, %u, %u\n", sizes[1], sizes[2], sizes[3]);
    assert_true(sizes[1] > 100 && sizes[2] > 300);
    free(p);
    free(cluster);
}

/* ---- words ---- */

static const char *const model =
    "HloModule two\nENTRY main {\n"
    "  x = f32[32,64] parameter(0)\n"
    "  w1 = f32[64,128] parameter(1)\n"
    "  w2 = f32[128,64] parameter(2)\n"
    "  h = f32[32,128] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
    "metadata={op_name=\"mlp/up\" source_file=\"mlp.py\" source_line=12}\n"
    "  t = f32[32,128] tanh(h)\n"
    "  y = f32[32,64] dot(t, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
    "metadata={op_name=\"mlp/down\" source_file=\"mlp.py\" source_line=14}\n"
    "  ROOT s = f32[32,64] sort(y), dimensions={1}, to_apply=less, "
    "metadata={op_name=\"mlp/rank\" source_file=\"mlp.py\" source_line=15}\n}\n";
static const char *const less = "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  "
                                "ROOT c = pred[] compare(a, b), direction=LT\n}\n";

static int load_model(void **state)
{
    static const char *names[] = {"w1", "w2"};
    struct hlo_vars vars = {.names = names, .count = 2};
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {0};
    struct str text = {0};
    struct hlo_module *m;
    struct err e;

    str_add_bytes(&text, model, strcspn(model, "\n") + 1);
    str_add(&text, less);
    str_add(&text, strchr(model, '\n') + 1);
    cluster_default(cluster);
    assert_int_equal(hlo_load_memory("two", text.text, text.size, NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, &vars, cluster, &o, p, &e), 0);
    str_release(&text);
    free(cluster);
    *state = p;
    return 0;
}

static int drop_model(void **state)
{
    problem_release(*state);
    free(*state);
    return 0;
}

static void plan_of(const struct problem *p, const char *set, struct plan *out)
{
    struct strict s;
    struct err e;

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    assert_int_equal(setting_apply(p, &s, set, &e), 0);
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, out, &e), 0);
    strict_release(&s);
}

/* Columns are for the eye: runs of blanks count as one, those at a line's end as none. */
static void expect_text(struct str *got, const char *wanted)
{
    size_t kept = 0;

    for (size_t k = 0; k < got->size; k++) {
        char c = got->text[k];
        if (c == ' ' && (!kept || got->text[kept - 1] == ' ' || got->text[kept - 1] == '\n'))
            continue;
        if (c == '\n' && kept && got->text[kept - 1] == ' ')
            kept--;
        got->text[kept++] = c;
    }
    got->text[kept] = '\0';
    assert_string_equal(got->text, wanted);
    str_clear(got);
}

static dim_id dim_of(const struct problem *p, const char *text)
{
    struct err e;
    dim_id d;

    assert_int_equal(explain_find(p, text, &d, &e), 0);
    return d;
}

static void test_words(void **state)
{
    const struct problem *p = *state;
    struct str out = {0};
    struct plan plan;
    struct err e;

    plan_of(p, "w1:1=1", &plan);
    assert_int_equal(explain_dim(&plan, dim_of(p, "t:1"), &out, &e), 0);
    expect_text(&out, "t dim 1 is split over 4.\n"
                      "its class has 4 dims, 2 of variables, 0 of inputs; decided by decision\n"
                      "\n"
                      "? t dim 1 f32[32 128/4] asked\n"
                      "1 w2 dim 0 f32[128/4 64] dot contracting mlp.py:14 mlp/down\n"
                      "\n"
                      "it costs 1 all-reduce, 8 kB, 0.0301 ms a step\n"
                      "flip to whole 0.0152 ms -0.0300 ms if the rest stays\n");
    assert_int_equal(explain_dim(&plan, dim_of(p, "x:0"), &out, &e), 0);
    expect_text(&out, "x dim 0 is whole: another dim of h (dot) is split mlp.py:12 mlp/up\n"
                      "its class has 5 dims, 0 of variables, 1 of inputs; decided by propagation\n"
                      "\n"
                      "? x dim 0 f32[32 64] asked\n"
                      "x h dim 0 f32[32 128/4] dot lhs mlp.py:12 mlp/up\n");
    assert_int_equal(explain_dim(&plan, dim_of(p, "w2:1"), &out, &e), 0);
    expect_text(
        &out,
        "w2 dim 1 can never be split: its class is needed whole by s (sort) mlp.py:15 mlp/rank\n"
        "its class has 2 dims, 1 of variables, 0 of inputs; decided by propagation\n"
        "\n"
        "? w2 dim 1 f32[128/4 64] asked\n"
        "x y dim 1 f32[32 64] dot rhs mlp.py:14 mlp/down\n");
    assert_int_equal(explain_pair(&plan, dim_of(p, "w1:0"), dim_of(p, "w2:0"), &out, &e), 0);
    expect_text(&out,
                "They cannot both be split along one axis: their classes meet at w1 (parameter)\n"
                "\n"
                "? w1 dim 0 f32[64 128/4] asked\n"
                "\n"
                "? w2 dim 0 f32[128/4 64] asked\n"
                "t dim 1 f32[32 128/4] dot contracting mlp.py:14 mlp/down\n"
                "h dim 1 f32[32 128/4] tanh dim 1\n"
                "x w1 dim 1 f32[64 128/4] dot rhs mlp.py:12 mlp/up\n");
    assert_int_equal(explain_pair(&plan, dim_of(p, "w1:1"), dim_of(p, "w2:0"), &out, &e), 0);
    expect_text(&out, "Both are in one class: they can only be split together.\n"
                      "\n"
                      "? w1 dim 1 f32[64 128/4] asked\n"
                      "h dim 1 f32[32 128/4] dot rhs mlp.py:12 mlp/up\n"
                      "t dim 1 f32[32 128/4] tanh dim 1\n"
                      "1 w2 dim 0 f32[128/4 64] dot contracting mlp.py:14 mlp/down\n");
    assert_int_equal(explain_instruction(&plan, hlo_find(p->m, "y"), &out, &e), 0);
    expect_text(&out,
                "y (dot) mlp.py:14 mlp/down\n"
                "result f32[32 64]\n"
                "compute 0.0050 ms 1.311e+05 flops, 20 kB moved, 1 times a step\n"
                "all-reduce 0.0301 ms all-reduce of 8 kB over x: 0.0301 ms\n"
                "inside 0.0001 ms moving bytes 0.0300 ms latency\n"
                "4 devices a group: 4 inside a server, 1 server; the parts follow each other\n"
                "\n"
                "it combines what a split of this class leaves partial:\n"
                "? w2 dim 0 f32[128/4 64] asked\n");
    str_release(&out);
    plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_clashes),
        cmocka_unit_test_setup_teardown(test_words, load_model, drop_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
