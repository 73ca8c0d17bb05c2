/* What is kept for the backward pass, as people who train models see it: rows and their names. */
#include "engine/decide/strict.h"
#include "engine/plan/plan.h"
#include "engine/plan/recompute_at.h"
#include "engine/plan/recompute_rows.h"
#include "engine/recompute/recompute.h"
#include "example.h"

#include <stdlib.h>

enum { PRODUCTS = 1100 };

/* One product after the other with the same weight, and their gradients, without metadata. */
static void add_step(struct str *s)
{
    str_add(s, "HloModule step\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
               "  ROOT s = f32[] add(a, b)\n}\nENTRY main {\n  w = f32[8,8] parameter(0)\n"
               "  y0 = f32[16,8] parameter(1)\n  zero = f32[] constant(0)\n");
    for (int k = 0; k < PRODUCTS; k++)
        str_format(s,
                   "  y%d = f32[16,8] dot(y%d, w), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={0}\n",
                   k + 1, k);
    str_format(s,
               "  sq = f32[16,8] multiply(y%d, y%d)\n"
               "  loss = f32[] reduce(sq, zero), dimensions={0,1}, to_apply=add\n"
               "  g%d = f32[16,8] add(y%d, y%d)\n  s%d = f32[8,8] broadcast(zero), dimensions={}\n",
               PRODUCTS, PRODUCTS, PRODUCTS, PRODUCTS, PRODUCTS, PRODUCTS);
    for (int k = PRODUCTS; k--;)
        str_format(s,
                   "  d%d = f32[8,8] dot(y%d, g%d), lhs_contracting_dims={0}, "
                   "rhs_contracting_dims={0}\n"
                   "  g%d = f32[16,8] dot(g%d, w), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={1}\n  s%d = f32[8,8] add(d%d, s%d)\n",
                   k, k, k + 1, k, k + 1, k, k, k + 1);
    str_add(s, "  new = f32[8,8] subtract(w, s0)\n"
               "  ROOT r = (f32[8,8], f32[]) tuple(new, loss)\n}\n");
}

static int by_name(const void *x, const void *y)
{
    const struct recompute_row *a = x, *b = y;

    return strcmp(a->name, b->name);
}

/* What has one name is saved together: a name for each, however many there are. */
static void every_row_has_its_own_name(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct recompute_choice choice;
    struct recompute_row *rows;
    struct plan_recompute r;
    struct strict s;
    struct plan plan;
    struct str text = {0};
    struct err e = {0};
    uint32_t count;

    (void)state;
    add_step(&text);
    load_text(text.text, NULL, p);
    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, &plan, &e), 0);
    assert_int_equal(plan_recompute_new(&plan, &r, &e), 0);
    assert_int_equal(recompute_within(&r.front, 2 * r.engine_peak, 0, &choice, &e), 0);
    assert_int_equal(recompute_rows(&r, &choice, &rows, &count, &e), 0);
    assert_true(count > 1000);
    assert_string_equal(rows[0].name, "dot");
    assert_string_equal(rows[1].name, "dot2");
    qsort(rows, count, sizeof *rows, by_name);
    for (uint32_t k = 1; k < count; k++)
        assert_string_not_equal(rows[k - 1].name, rows[k].name);
    free(rows);
    recompute_choice_release(&choice);
    plan_recompute_release(&r);
    plan_release(&plan);
    strict_release(&s);
    problem_release(p);
    free(p);
    str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_has_its_own_name)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
