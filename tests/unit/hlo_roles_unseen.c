/* What training steps of strangers hand out beside the loss, and weights that are hard to tell: one
 * number, frozen behind a select, trained several times in a loop. */
#include "hlo/load.h"
#include "hlo/meaning/roles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

struct step {
    struct hlo_module *m;
    struct hlo_roles r;
};

static struct step read_step(const char *text)
{
    struct step s = {0};
    struct err e = {0};

    if (hlo_load_memory("test", text, strlen(text), NULL, &s.m, &e) ||
        hlo_roles_new(s.m, NULL, &s.r, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return s;
}

static void release(struct step *s)
{
    hlo_roles_release(&s->r);
    hlo_free(s->m);
}

/* One letter a parameter: Variable, Optimizer state, Input, Hyper-parameter, other State. */
static void check(const struct step *s, const char *letters, const char *loss)
{
    char got[64] = "";

    assert_true(s->r.param_count < sizeof got);
    for (uint32_t p = 0; p < s->r.param_count; p++)
        got[p] = "VOIHS"[s->r.params[p].role];
    assert_string_equal(got, letters);
    assert_int_not_equal(s->r.loss, HLO_NONE);
    assert_string_equal(hlo_name(s->m, s->m->value_instruction[s->r.loss]), loss);
}

#define SUM "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
#define OVER_ALL "dimensions={0,1}, to_apply=sum\n"
#define DOT "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
#define DOT_OF_GRADIENT "lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"

/* p = exp(x w), loss = sum(p) / 16 - sum(x w t): the backward pass reads p. */
#define MODEL                                                                       \
    "  zero = f32[] constant(0)\n n = f32[] constant(16)\n"                         \
    "  q = f32[8,2] dot(x, w), " DOT                                                \
    "  p = f32[8,2] exponential(q)\n qt = f32[8,2] multiply(q, t)\n"                \
    "  each = f32[8,2] subtract(p, qt)\n"                                           \
    "  all = f32[] reduce(each, zero), " OVER_ALL "  loss = f32[] divide(all, n)\n" \
    "  dq = f32[8,2] subtract(p, t)\n"                                              \
    "  g = f32[4,2] dot(x, dq), " DOT_OF_GRADIENT "  w2 = f32[4,2] subtract(w, g)\n"

#define WITH_RESULTS(MADE, SHAPES, NAMES)                                                       \
    "HloModule m\n" SUM "ENTRY e {\n  w = f32[4,2] parameter(0)\n  x = f32[8,4] parameter(1)\n" \
    "  t = f32[8,2] parameter(2)\n" MODEL MADE "  ROOT out = (f32[4,2], " SHAPES                \
    ") tuple(w2, " NAMES ") }\n"

/* Functions of the loss (perplexity, decibels, a root) are not the loss, nor is a smaller number
 * that derivatives would reach the same weights from, a mean of the logits. */
static void test_what_is_shown_is_no_loss(void **state)
{
    static const char *const texts[] = {
        WITH_RESULTS("  shown = f32[] exponential(loss)\n", "f32[], f32[]", "loss, shown"),
        WITH_RESULTS("  log = f32[] log(loss)\n ten = f32[] constant(-4.3)\n"
                     "  shown = f32[] multiply(log, ten)\n",
                     "f32[], f32[]", "shown, loss"),
        WITH_RESULTS("  shown = f32[] sqrt(loss)\n", "f32[], f32[]", "shown, loss"),
        WITH_RESULTS("  sum0 = f32[] reduce(q, zero), " OVER_ALL, "f32[], f32[]", "sum0, loss"),
    };

    (void)state;
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        struct step s = read_step(texts[n]);
        check(&s, "VII", "loss");
        release(&s);
    }
}

/* A penalty added is part of the loss all the same. */
static void test_sums_are_losses(void **state)
{
    struct step s = read_step(
        WITH_RESULTS("  ww = f32[4,2] multiply(w, w)\n l2 = f32[] reduce(ww, zero), " OVER_ALL
                     "  total = f32[] add(loss, l2)\n",
                     "f32[], f32[]", "loss, total"));

    (void)state;
    check(&s, "VII", "total");
    release(&s);
}

/* A learned temperature: its moment is a function of it as well, and the step shows its
 * exponential. None of its new values is the loss. */
static const char temperature[] =
    "HloModule m\n" SUM "ENTRY e {\n"
    "  w = f32[4,2] parameter(0)\n  heat = f32[] parameter(1)\n  moment = f32[] parameter(2)\n"
    "  x = f32[8,4] parameter(3)\n  t = f32[8,2] parameter(4)\n"
    "  zero = f32[] constant(0)\n  most = f32[] constant(0.9)\n  rest = f32[] constant(0.1)\n"
    "  q = f32[8,2] dot(x, w), " DOT "  scale = f32[] exponential(heat)\n"
    "  scales = f32[8,2] broadcast(scale), dimensions={}\n  y = f32[8,2] multiply(q, scales)\n"
    "  d = f32[8,2] subtract(y, t)\n  dd = f32[8,2] multiply(d, d)\n"
    "  loss = f32[] reduce(dd, zero), " OVER_ALL "  dq = f32[8,2] multiply(d, scales)\n"
    "  g = f32[4,2] dot(x, dq), " DOT_OF_GRADIENT "  w2 = f32[4,2] subtract(w, g)\n"
    "  dy = f32[8,2] multiply(d, q)\n  ds = f32[] reduce(dy, zero), " OVER_ALL
    "  dh = f32[] multiply(ds, scale)\n  kept = f32[] multiply(moment, most)\n"
    "  new = f32[] multiply(dh, rest)\n  moment2 = f32[] add(kept, new)\n"
    "  heat2 = f32[] subtract(heat, moment2)\n"
    "  ROOT out = (f32[4,2], f32[], f32[], f32[], f32[]) tuple(w2, heat2, moment2, loss, scale) "
    "}\n";

static void test_weights_of_one_number(void **state)
{
    struct step s = read_step(temperature);

    (void)state;
    assert_int_equal(s.r.params[1].role, HLO_ROLE_VARIABLE);
    assert_string_equal(hlo_name(s.m, s.m->value_instruction[s.r.params[1].updated]), "heat2");
    assert_string_equal(hlo_name(s.m, s.m->value_instruction[s.r.params[2].updated]), "moment2");
    assert_int_not_equal(s.r.params[2].role, HLO_ROLE_VARIABLE);
    assert_string_equal(hlo_name(s.m, s.m->value_instruction[s.r.loss]), "loss");
    release(&s);
}

/* Every fourth step updates; a frozen weight gets the step zero, chosen by the same condition. */
static const char frozen[] =
    "HloModule m\n" SUM "ENTRY e {\n"
    "  w = f32[4,2] parameter(0)\n  u = f32[8,4] parameter(1)\n  x = f32[16,8] parameter(2)\n"
    "  count = s32[] parameter(3)\n  zero = f32[] constant(0)\n  last = s32[] constant(3)\n"
    "  h = f32[16,4] dot(x, u), " DOT "  y = f32[16,2] dot(h, w), " DOT
    "  yy = f32[16,2] multiply(y, y)\n  loss = f32[] reduce(yy, zero), " OVER_ALL
    "  g = f32[4,2] dot(h, y), " DOT_OF_GRADIENT
    "  is_last = pred[] compare(count, last), direction=EQ\n"
    "  lasts = pred[4,2] broadcast(is_last), dimensions={}\n"
    "  none = f32[4,2] broadcast(zero), dimensions={}\n"
    "  step = f32[4,2] select(lasts, g, none)\n  w2 = f32[4,2] subtract(w, step)\n"
    "  lasts1 = pred[8,4] broadcast(is_last), dimensions={}\n"
    "  none1 = f32[8,4] broadcast(zero), dimensions={}\n"
    "  step1 = f32[8,4] select(lasts1, none1, none1)\n  u2 = f32[8,4] add(u, step1)\n"
    "  ROOT out = (f32[4,2], f32[8,4], f32[]) tuple(w2, u2, loss) }\n";

static void test_a_step_of_zero_trains_nothing(void **state)
{
    struct step s = read_step(frozen);

    (void)state;
    check(&s, "VSIH", "loss");
    assert_non_null(strstr(s.r.params[1].evidence, "frozen"));
    release(&s);
}

/* Ten turns of a loop, each a training step, inside of three turns of another. */
static const char turns[] =
    "HloModule m\n" SUM "before { c = (s32[], f32[4,2], f32[8,4], f32[]) parameter(0)\n"
    "  i = s32[] get-tuple-element(c), index=0\n  n = s32[] constant(10)\n"
    "  ROOT less = pred[] compare(i, n), direction=LT }\n"
    "turn { c = (s32[], f32[4,2], f32[8,4], f32[]) parameter(0)\n"
    "  i = s32[] get-tuple-element(c), index=0\n  one = s32[] constant(1)\n"
    "  w = f32[4,2] get-tuple-element(c), index=1\n  x = f32[8,4] get-tuple-element(c), index=2\n"
    "  zero = f32[] constant(0)\n  y = f32[8,2] dot(x, w), " DOT
    "  yy = f32[8,2] multiply(y, y)\n  loss = f32[] reduce(yy, zero), " OVER_ALL
    "  g = f32[4,2] dot(x, y), " DOT_OF_GRADIENT "  w2 = f32[4,2] subtract(w, g)\n"
    "  next = s32[] add(i, one)\n"
    "  ROOT out = (s32[], f32[4,2], f32[8,4], f32[]) tuple(next, w2, x, loss) }\n"
    "before3 { c = (s32[], f32[4,2], f32[8,4], f32[]) parameter(0)\n"
    "  i = s32[] get-tuple-element(c), index=0\n  n = s32[] constant(3)\n"
    "  ROOT less = pred[] compare(i, n), direction=LT }\n"
    "turn3 { c = (s32[], f32[4,2], f32[8,4], f32[]) parameter(0)\n"
    "  i = s32[] get-tuple-element(c), index=0\n  one = s32[] constant(1)\n"
    "  none = s32[] constant(0)\n  w = f32[4,2] get-tuple-element(c), index=1\n"
    "  x = f32[8,4] get-tuple-element(c), index=2\n"
    "  l = f32[] get-tuple-element(c), index=3\n"
    "  begin = (s32[], f32[4,2], f32[8,4], f32[]) tuple(none, w, x, l)\n"
    "  loop = (s32[], f32[4,2], f32[8,4], f32[]) while(begin), condition=before, body=turn\n"
    "  w2 = f32[4,2] get-tuple-element(loop), index=1\n"
    "  l2 = f32[] get-tuple-element(loop), index=3\n  next = s32[] add(i, one)\n"
    "  ROOT out = (s32[], f32[4,2], f32[8,4], f32[]) tuple(next, w2, x, l2) }\n"
    "ENTRY e {\n  w = f32[4,2] parameter(0)\n  x = f32[8,4] parameter(1)\n"
    "  none = s32[] constant(0)\n  zero = f32[] constant(0)\n"
    "  begin = (s32[], f32[4,2], f32[8,4], f32[]) tuple(none, w, x, zero)\n"
    "  loop = (s32[], f32[4,2], f32[8,4], f32[]) while(begin), condition=before3, body=turn3\n"
    "  w2 = f32[4,2] get-tuple-element(loop), index=1\n"
    "  l2 = f32[] get-tuple-element(loop), index=3\n"
    "  ROOT out = (f32[4,2], f32[]) tuple(w2, l2) }\n";

static void test_a_loop_of_steps(void **state)
{
    struct step s = read_step(turns);

    (void)state;
    assert_int_equal(s.r.params[0].role, HLO_ROLE_VARIABLE);
    assert_int_equal(s.r.params[1].role, HLO_ROLE_INPUT);
    assert_int_not_equal(s.r.params[0].gradient, HLO_NONE);
    assert_string_equal(hlo_name(s.m, s.m->value_instruction[s.r.params[0].gradient]), "g");
    assert_int_not_equal(s.r.loss, HLO_NONE);
    release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_shown_is_no_loss),
        cmocka_unit_test(test_sums_are_losses),
        cmocka_unit_test(test_weights_of_one_number),
        cmocka_unit_test(test_a_step_of_zero_trains_nothing),
        cmocka_unit_test(test_a_loop_of_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
