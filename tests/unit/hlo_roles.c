/* Roles as a specification: one small training step per rule. */
#include "roles_case.h"

#include "hlo/load.h"
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/meaning/scope.h"
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static const char *value_name(const struct hlo_module *m, hlo_value v)
{
    return v == HLO_NONE ? "none" : hlo_name(m, m->value_instruction[v]);
}

static enum hlo_phase phase_of(const struct hlo_module *m, const struct hlo_roles *r,
                               const char *name)
{
    hlo_id id = hlo_find(m, name);

    assert_int_not_equal(id, HLO_NONE);
    return (enum hlo_phase)r->phase[id];
}

/* y = x w, loss = sum(y * y), gradient = 2 x^T y. */
#define MODEL                                                                        \
    "  y = f32[8,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n" \
    "  yy = f32[8,2] multiply(y, y)\n"                                               \
    "  zero = f32[] constant(0)\n"                                                   \
    "  loss = f32[] reduce(yy, zero), dimensions={0,1}, to_apply=sum\n"              \
    "  two = f32[] constant(2)\n"                                                    \
    "  twos = f32[8,2] broadcast(two), dimensions={}\n"                              \
    "  dy = f32[8,2] multiply(y, twos)\n"                                            \
    "  g = f32[4,2] dot(x, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"

static const char sgd[] =
    "HloModule sgd\n" SUM "ENTRY main { x = f32[8,4] parameter(1)\n w = f32[4,2] parameter(0)\n lr "
    "= f32[] parameter(2)\n" MODEL "  lrs = f32[4,2] broadcast(lr), dimensions={}\n"
    "  step = f32[4,2] multiply(g, lrs)\n"
    "  w2 = f32[4,2] subtract(w, step)\n"
    "  ROOT out = (f32[4,2], f32[]) tuple(w2, loss) }\n";

static void test_sgd(void **state)
{
    struct hlo_module *m = read_text(sgd);
    struct hlo_roles r = roles_of(m);

    (void)state;
    check_letters(&r, "VIH");
    assert_string_equal(value_name(m, r.loss), "loss");
    assert_string_equal(value_name(m, r.params[0].gradient), "g");
    assert_string_equal(value_name(m, r.params[0].updated), "w2");
    assert_int_equal(phase_of(m, &r, "y"), HLO_PHASE_FORWARD);
    assert_int_equal(phase_of(m, &r, "loss"), HLO_PHASE_FORWARD);
    assert_int_equal(phase_of(m, &r, "dy"), HLO_PHASE_BACKWARD);
    assert_int_equal(phase_of(m, &r, "twos"), HLO_PHASE_BACKWARD);
    assert_int_equal(phase_of(m, &r, "g"), HLO_PHASE_BACKWARD);
    assert_int_equal(phase_of(m, &r, "step"), HLO_PHASE_UPDATE);
    assert_int_equal(phase_of(m, &r, "lr"), HLO_PHASE_UPDATE);
    assert_int_equal(phase_of(m, &r, "a"), HLO_PHASE_FORWARD); /* the reducer, of its caller */
    hlo_roles_release(&r);
    hlo_free(m);
}

/* A derivative by which the forward pass is made again: what makes it again is none, wherever it
 * stands in the text. */
static void check_made_twice(const char *before, const char *behind)
{
    char text[2048];

    snprintf(text, sizeof text,
             "HloModule twice\n" SUM "ENTRY main { x = f32[8,4] parameter(1)\n"
             "  w = f32[4,2] parameter(0)\n%s" MODEL "%s"
             "  again = f32[8,2] tanh(y2)\n  dy2 = f32[8,2] multiply(again, dy)\n"
             "  g2 = f32[4,2] dot(x, dy2), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
             "  both = f32[4,2] add(g, g2)\n  w2 = f32[4,2] subtract(w, both)\n"
             "  ROOT out = (f32[4,2], f32[]) tuple(w2, loss) }\n",
             before, behind);
    struct hlo_module *m = read_text(text);
    struct hlo_roles r = roles_of(m);
    check_letters(&r, "VI");
    assert_string_equal(value_name(m, r.loss), "loss");
    assert_int_equal(phase_of(m, &r, "y"), HLO_PHASE_FORWARD);
    assert_int_equal(phase_of(m, &r, "y2"), HLO_PHASE_BACKWARD);
    assert_int_equal(phase_of(m, &r, "again"), HLO_PHASE_BACKWARD);
    hlo_roles_release(&r);
    hlo_free(m);
}

static void test_forward_pass_made_twice(void **state)
{
    static const char again[] =
        "  y2 = f32[8,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";

    (void)state;
    check_made_twice("", again);
    check_made_twice(again, "");
}

/* Aliases pair by shape and order, not by role: {0} (the loss!) with a moment's scalar, w with m.
 */
static const char adam[] =
    "HloModule adam, input_output_alias={ {0}: (4, {}), {1}: (2, {}), {2}: (3, {}), {3}: (0, {}), "
    "{4}: (5, {}) }\n" SUM "ENTRY main { p0 = f32[4,2] parameter(0)\n x = f32[8,4] parameter(1)\n "
    "w = f32[4,2] parameter(2)\n"
    "  p3 = f32[4,2] parameter(3)\n p4 = f32[] parameter(4)\n p5 = s32[] parameter(5)\n" MODEL
    "  c1 = f32[] constant(0.9)\n b1 = f32[4,2] broadcast(c1), dimensions={}\n"
    "  decay = f32[] constant(0.01)\n decays = f32[4,2] broadcast(decay), dimensions={}\n"
    "  wd = f32[4,2] multiply(w, decays)\n"
    "  gd = f32[4,2] add(g, wd)\n"
    "  mm = f32[4,2] multiply(p0, b1)\n m2 = f32[4,2] add(mm, gd)\n"
    "  gg = f32[4,2] multiply(gd, gd)\n vv = f32[4,2] multiply(p3, b1)\n v2 = f32[4,2] add(vv, "
    "gg)\n"
    "  one = s32[] constant(1)\n n2 = s32[] add(p5, one)\n nf = f32[] convert(n2)\n"
    "  rate = f32[] multiply(p4, nf)\n"
    "  rates = f32[4,2] broadcast(rate), dimensions={}\n"
    "  root = f32[4,2] sqrt(v2)\n q = f32[4,2] divide(m2, root)\n s = f32[4,2] multiply(q, rates)\n"
    "  w2 = f32[4,2] subtract(w, s)\n"
    "  ROOT out = (f32[], f32[4,2], f32[4,2], f32[4,2], s32[]) tuple(loss, v2, w2, m2, n2) }\n";

static void test_adam_with_decay(void **state)
{
    struct hlo_module *m = read_text(adam);
    struct hlo_roles r = roles_of(m);

    (void)state;
    check_letters(&r, "OIVOHH");
    assert_int_equal(r.params[0].of, 2);
    assert_int_equal(r.params[3].of, 2);
    assert_string_equal(value_name(m, r.params[0].updated), "m2");
    assert_string_equal(value_name(m, r.params[3].updated), "v2");
    assert_string_equal(value_name(m, r.params[2].updated), "w2");
    assert_string_equal(value_name(m, r.params[2].gradient), "g");
    assert_string_equal(value_name(m, r.params[5].updated), "n2");
    assert_int_equal(r.params[2].source, HLO_BY_ALIAS);
    assert_int_equal(phase_of(m, &r, "wd"), HLO_PHASE_UPDATE);
    assert_int_equal(phase_of(m, &r, "gd"), HLO_PHASE_UPDATE);
    assert_int_equal(phase_of(m, &r, "n2"), HLO_PHASE_UPDATE);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* Norms of the old weights, of the gradient and of the new weights among the results, before and
 * after the loss: none of them is the loss. Counters and keys under the word params are no
 * variables. */
#define SQUARES(of, name)                                                              \
    "  sq" name " = f32[4,2] multiply(" of ", " of ")\n"                               \
    "  sum" name " = f32[] reduce(sq" name ", zero), dimensions={0,1}, to_apply=sum\n" \
    "  norm" name " = f32[] sqrt(sum" name ")\n"
static const char logged[] =
    "HloModule logged\n" SUM "ENTRY main { w = f32[4,2] parameter(0), metadata={op_name=\"w\"}\n"
    "  mom = f32[4,2] parameter(1)\n x = f32[8,4] parameter(2)\n"
    "  key = u32[2] parameter(3), metadata={op_name=\"state.params['rngs']['key']\"}\n"
    "  n = u32[] parameter(4), metadata={op_name=\"state.params['rngs']['count']\"}\n" MODEL
    "  c1 = f32[] constant(0.9)\n b1 = f32[4,2] broadcast(c1), dimensions={}\n"
    "  mm = f32[4,2] multiply(mom, b1)\n m2 = f32[4,2] add(mm, g)\n"
    "  step = f32[4,2] multiply(m2, b1)\n w2 = f32[4,2] subtract(w, step)\n"
    "  one = u32[] constant(1)\n n2 = u32[] add(n, one)\n"
    "  ones = u32[2] broadcast(one), dimensions={}\n key2 = u32[2] xor(key, ones)\n" SQUARES("w",
                                                                                             "_old")
        SQUARES("g", "_grad") SQUARES(
            "w2",
            "_new") "  ROOT out = (f32[], f32[], f32[], f32[], f32[4,2], f32[4,2], u32[2], u32[]) "
                    "tuple(norm_new, norm_old, loss, norm_grad, w2, m2, key2, n2) }\n";

static void test_norms_are_no_loss(void **state)
{
    struct hlo_module *m = read_text(logged);
    struct hlo_roles r = roles_of(m), named;
    struct err e = {0};

    (void)state;
    assert_string_equal(value_name(m, r.loss), "loss");
    assert_int_equal(r.loss_confidence, HLO_CERTAIN);
    check_letters(&r, "VOIHH");
    assert_int_equal(r.params[0].confidence, HLO_CERTAIN);
    assert_int_equal(r.params[1].of, 0);
    assert_int_equal(phase_of(m, &r, "sum_grad"), HLO_PHASE_UPDATE);
    hlo_roles_release(&r);

    struct hlo_vars said = {.loss = "#1"};
    assert_int_equal(hlo_roles_new(m, &said, &named, &e), 0);
    assert_string_equal(value_name(m, named.loss), "norm_old");
    assert_string_equal(named.loss_by_person, "#1");
    hlo_roles_release(&named);
    said.loss = "%sum_old";
    assert_int_equal(hlo_roles_new(m, &said, &named, &e), 0);
    assert_string_equal(value_name(m, named.loss), "sum_old");
    assert_int_equal(hlo_roles_set(m, &named, 2, HLO_ROLE_OTHER_STATE, &e), 0);
    assert_string_equal(value_name(m, named.loss), "sum_old"); /* outlives a correction */
    hlo_roles_release(&named);
    static const char *const wrong[] = {"#8", "#4", "nothing", "w2", ""};
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        said.loss = wrong[n];
        assert_int_equal(hlo_roles_new(m, &said, &named, &e), ERR_INPUT);
    }
    hlo_free(m);
}

/* Where only norms come out there is no loss, and that is said. */
static void test_no_loss(void **state)
{
    char text[sizeof logged + 16];
    char *at;

    (void)state;
    memcpy(text, logged, sizeof logged);
    at = strstr(text, "tuple(norm_new, norm_old, loss");
    assert_non_null(at);
    memcpy(at, "tuple(norm_new, norm_new, sum_new", strlen("tuple(norm_new, norm_new, sum_new"));
    memmove(at + strlen("tuple(norm_new, norm_new, sum_new"), ", norm_grad, w2, m2, key2, n2) }\n",
            sizeof ", norm_grad, w2, m2, key2, n2) }\n");
    struct hlo_module *m = read_text(text);
    struct hlo_roles r = roles_of(m);
    assert_int_equal(r.loss, HLO_NONE);
    assert_non_null(strstr(r.loss_source, "norms"));
    check_letters(&r, "VOIHH");
    hlo_roles_release(&r);
    hlo_free(m);
}

/* ---- weights that another's gradient changes ---- */

/* A regression to what a second network says, whose weights are copied or averaged from the first:
 * it is read and changed, and not trained. */
#define PAIR                                                                                 \
    "ENTRY main { w = f32[4,2] parameter(0)\n v = f32[2] parameter(1)\n"                     \
    "  tw = f32[4,2] parameter(2)\n tv = f32[2] parameter(3)\n x = f32[8,4] parameter(4)\n"  \
    "  n = s32[] parameter(5)\n zero = f32[] constant(0)\n two = f32[] constant(2)\n"        \
    "  q = f32[8,2] dot(x, tw), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"        \
    "  tvs = f32[8,2] broadcast(tv), dimensions={1}\n true = f32[8,2] add(q, tvs)\n"         \
    "  y = f32[8,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"         \
    "  vs = f32[8,2] broadcast(v), dimensions={1}\n said = f32[8,2] add(y, vs)\n"            \
    "  miss = f32[8,2] subtract(said, true)\n mm = f32[8,2] multiply(miss, miss)\n"          \
    "  loss = f32[] reduce(mm, zero), dimensions={0,1}, to_apply=sum\n"                      \
    "  twos = f32[8,2] broadcast(two), dimensions={}\n dy = f32[8,2] multiply(miss, twos)\n" \
    "  g = f32[4,2] dot(x, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"        \
    "  gv = f32[2] reduce(dy, zero), dimensions={0}, to_apply=sum\n"                         \
    "  lr = f32[] constant(0.01)\n lrs = f32[4,2] broadcast(lr), dimensions={}\n"            \
    "  step = f32[4,2] multiply(g, lrs)\n w2 = f32[4,2] subtract(w, step)\n"                 \
    "  lrv = f32[2] broadcast(lr), dimensions={}\n stepv = f32[2] multiply(gv, lrv)\n"       \
    "  v2 = f32[2] subtract(v, stepv)\n one = s32[] constant(1)\n n2 = s32[] add(n, one)\n"
#define PAIR_OUT                                                                                   \
    "  ROOT out = (f32[4,2], f32[2], f32[4,2], f32[2], s32[], f32[]) tuple(w2, v2, tw2, tv2, n2, " \
    "loss) }\n"
static const char copied[] =
    "HloModule copied\n" SUM
    "take { p = (f32[4,2], f32[2]) parameter(0)\n a = f32[4,2] get-tuple-element(p), index=0\n"
    "  b = f32[2] get-tuple-element(p), index=1\n ROOT t = (f32[4,2], f32[2]) tuple(a, b) }\n"
    "keep { p2 = (f32[4,2], f32[2]) parameter(0)\n a2 = f32[4,2] get-tuple-element(p2), index=0\n"
    "  b2 = f32[2] get-tuple-element(p2), index=1\n ROOT t2 = (f32[4,2], f32[2]) tuple(a2, b2) "
    "}\n" PAIR "  nothing = s32[] constant(0)\n now = pred[] compare(n, nothing), direction=EQ\n"
    "  new = (f32[4,2], f32[2]) tuple(w2, v2)\n old = (f32[4,2], f32[2]) tuple(tw, tv)\n"
    "  both = (f32[4,2], f32[2]) conditional(now, new, old), true_computation=take, "
    "false_computation=keep\n"
    "  tw2 = f32[4,2] get-tuple-element(both), index=0\n"
    "  tv2 = f32[2] get-tuple-element(both), index=1\n" PAIR_OUT;
static const char averaged[] =
    "HloModule averaged\n" SUM PAIR
    "  slow = f32[] constant(0.99)\n slows = f32[4,2] broadcast(slow), dimensions={}\n"
    "  a = f32[4,2] multiply(tw, slows)\n b = f32[4,2] multiply(w2, lrs)\n tw2 = f32[4,2] add(a, "
    "b)\n"
    "  slowv = f32[2] broadcast(slow), dimensions={}\n c = f32[2] multiply(tv, slowv)\n"
    "  d = f32[2] multiply(v2, lrv)\n tv2 = f32[2] add(c, d)\n" PAIR_OUT;

static void test_targets_are_not_trained(void **state)
{
    static const char *const texts[] = {copied, averaged};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct hlo_module *m = read_text(texts[k]);
        struct hlo_roles r = roles_of(m);
        check_letters(&r, "VVSSIH");
        assert_string_equal(value_name(m, r.params[0].gradient), "g");
        assert_string_equal(value_name(m, r.params[1].gradient), "gv");
        assert_non_null(strstr(r.params[3].evidence, "a target"));
        assert_int_not_equal(r.params[3].confidence, HLO_CERTAIN);
        hlo_roles_release(&r);
        hlo_free(m);
    }
}

/* Outputs are centred by a running mean of what was said, which nothing but its name tells from a
 * bias under plain descent: its new value is made from what was said before it was read. */
static const char centred[] =
    "HloModule centred\n" SUM
    "ENTRY main { w = f32[4,2] parameter(0)\n b = f32[2] parameter(1)\n centre = f32[2] "
    "parameter(2)\n"
    "  x = f32[8,4] parameter(3)\n zero = f32[] constant(0)\n two = f32[] constant(2)\n"
    "  q = f32[8,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  bs = f32[8,2] broadcast(b), dimensions={1}\n said = f32[8,2] add(q, bs)\n"
    "  cs = f32[8,2] broadcast(centre), dimensions={1}\n y = f32[8,2] subtract(said, cs)\n"
    "  yy = f32[8,2] multiply(y, y)\n"
    "  loss = f32[] reduce(yy, zero), dimensions={0,1}, to_apply=sum\n"
    "  twos = f32[8,2] broadcast(two), dimensions={}\n dy = f32[8,2] multiply(y, twos)\n"
    "  g = f32[4,2] dot(x, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  gb = f32[2] reduce(dy, zero), dimensions={0}, to_apply=sum\n"
    "  lr = f32[] constant(0.01)\n lrw = f32[4,2] broadcast(lr), dimensions={}\n"
    "  sw = f32[4,2] multiply(g, lrw)\n w2 = f32[4,2] subtract(w, sw)\n"
    "  lrb = f32[2] broadcast(lr), dimensions={}\n sb = f32[2] multiply(gb, lrb)\n"
    "  b2 = f32[2] subtract(b, sb)\n"
    "  all = f32[2] reduce(said, zero), dimensions={0}, to_apply=sum\n"
    "  mean = f32[2] multiply(all, lrb)\n old = f32[2] multiply(centre, lrb)\n"
    "  centre2 = f32[2] add(old, mean)\n"
    "  ROOT out = (f32[4,2], f32[2], f32[2], f32[]) tuple(w2, b2, centre2, loss) }\n";

static void test_statistics_are_not_trained(void **state)
{
    struct hlo_module *m = read_text(centred);
    struct hlo_roles r = roles_of(m);

    (void)state;
    check_letters(&r, "VVSI");
    assert_string_equal(value_name(m, r.params[1].gradient), "gb");
    assert_int_equal(r.params[2].confidence, HLO_DOUBTFUL);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* Experts are balanced without a loss: a bias that decides who is chosen is stepped by the sign of
 * how many were, which no derivative leads to. */
#define BALANCED(mark)                                                                             \
    "HloModule balanced\n" SUM                                                                     \
    "ENTRY main { w = f32[4,2] parameter(0)\n bias = f32[2] parameter(1)" mark "\n"                \
    "  x = f32[8,4] parameter(2)\n zero = f32[] constant(0)\n two = f32[] constant(2)\n"           \
    "  q = f32[8,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"               \
    "  bs = f32[8,2] broadcast(bias), dimensions={1}\n y = f32[8,2] add(q, bs)\n"                  \
    "  zeros = f32[8,2] broadcast(zero), dimensions={}\n"                                          \
    "  chosen = pred[8,2] compare(y, zeros), direction=GT\n"                                       \
    "  z = f32[8,2] select(chosen, q, zeros)\n zz = f32[8,2] multiply(z, z)\n"                     \
    "  loss = f32[] reduce(zz, zero), dimensions={0,1}, to_apply=sum\n"                            \
    "  twos = f32[8,2] broadcast(two), dimensions={}\n dz = f32[8,2] multiply(z, twos)\n"          \
    "  dq = f32[8,2] select(chosen, dz, zeros)\n"                                                  \
    "  g = f32[4,2] dot(x, dq), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"              \
    "  lr = f32[] constant(0.01)\n lrw = f32[4,2] broadcast(lr), dimensions={}\n"                  \
    "  sw = f32[4,2] multiply(g, lrw)\n w2 = f32[4,2] subtract(w, sw)\n"                           \
    "  ones = f32[8,2] convert(chosen)\n"                                                          \
    "  load = f32[2] reduce(ones, zero), dimensions={0}, to_apply=sum\n"                           \
    "  all = f32[] reduce(load, zero), dimensions={0}, to_apply=sum\n"                             \
    "  alls = f32[2] broadcast(all), dimensions={}\n lrb = f32[2] broadcast(lr), dimensions={}\n"  \
    "  mean = f32[2] multiply(alls, lrb)\n off = f32[2] subtract(mean, load)\n"                    \
    "  sign = f32[2] sign(off)\n sb = f32[2] multiply(sign, lrb)\n bias2 = f32[2] add(bias, sb)\n" \
    "  ROOT out = (f32[4,2], f32[2], f32[]) tuple(w2, bias2, loss) }\n"

/* A name that hyper-parameters have changes nothing: an array that the step changes is none. */
static void test_counts_train_nothing(void **state)
{
    static const char *const texts[] = {BALANCED(""),
                                        BALANCED(", metadata={op_name=\"state['count_0']\"}")};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct hlo_module *m = read_text(texts[k]);
        struct hlo_roles r = roles_of(m);
        check_letters(&r, "VSI");
        assert_non_null(strstr(r.params[1].evidence, "from counts"));
        hlo_roles_release(&r);
        hlo_free(m);
    }
}

/* ---- rows of tables ---- */

/* Rows of a table are looked up and trained: their squares are added to the rows' state in place,
 * and the step, divided by what the state says, to the table, which nothing else changes. `x` + w
 * is trained by plain descent. A cache takes a row whole: it is no weight. */
#define ROWS                                                                               \
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, " \
    "index_vector_dim=1, "
static const char rows[] =
    "HloModule rows\n" SUM "less { lp = f32[] parameter(0)\n lq = f32[] parameter(1)\n"
    "  ROOT ls = f32[] subtract(lp, lq) }\n"
    "put { pp = f32[] parameter(0)\n ROOT pq = f32[] parameter(1) }\n"
    "ENTRY main { t = f32[16,4] parameter(0)\n w = f32[4,4] parameter(1)\n"
    "  s = f32[16,4] parameter(2)\n cache = f32[16,4] parameter(3)\n i = s32[8,1] parameter(4)\n"
    "  zero = f32[] constant(0)\n two = f32[] constant(2)\n"
    "  r = f32[8,4] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
    "index_vector_dim=1, slice_sizes={1,4}\n"
    "  old = f32[8,4] gather(cache, i), offset_dims={1}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}\n"
    "  h = f32[8,4] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  y = f32[8,4] subtract(h, old)\n yy = f32[8,4] multiply(y, y)\n"
    "  loss = f32[] reduce(yy, zero), dimensions={0,1}, to_apply=sum\n"
    "  twos = f32[8,4] broadcast(two), dimensions={}\n dy = f32[8,4] multiply(y, twos)\n"
    "  gw = f32[4,4] dot(r, dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  dr = f32[8,4] dot(dy, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
    "  w2 = f32[4,4] subtract(w, gw)\n dd = f32[8,4] multiply(dr, dr)\n"
    "  s2 = f32[16,4] scatter(s, i, dd), " ROWS "to_apply=sum\n"
    "  root = f32[16,4] sqrt(s2)\n"
    "  by = f32[8,4] gather(root, i), offset_dims={1}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}\n"
    "  step = f32[8,4] divide(dr, by)\n"
    "  t2 = f32[16,4] scatter(t, i, step), " ROWS "to_apply=less\n"
    "  cache2 = f32[16,4] scatter(cache, i, h), " ROWS "to_apply=put\n"
    "  ROOT out = (f32[16,4], f32[4,4], f32[16,4], f32[16,4], f32[]) tuple(t2, w2, s2, cache2, "
    "loss) "
    "}\n";

static void test_rows_are_trained(void **state)
{
    struct hlo_module *m = read_text(rows);
    struct hlo_roles r = roles_of(m);

    (void)state;
    assert_string_equal(value_name(m, r.loss), "loss");
    assert_int_equal(r.params[0].role, HLO_ROLE_VARIABLE);
    assert_int_equal(r.params[1].role, HLO_ROLE_VARIABLE);
    assert_int_equal(r.params[2].role, HLO_ROLE_OPTIMIZER_STATE);
    assert_int_equal(r.params[2].of, 0);
    assert_int_not_equal(r.params[3].role, HLO_ROLE_VARIABLE);
    assert_string_equal(value_name(m, r.params[0].updated), "t2");
    assert_int_equal(r.params[3].updated, HLO_NONE);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* ---- several losses, several scalars ---- */

/* Two members of an ensemble: one loss each, no scalar. The new bias is no loss, though a vector.
 */
static const char members[] =
    "HloModule members\n" SUM
    "ENTRY main { w = f32[2,4,3] parameter(0)\n b = f32[2] parameter(1)\n x = f32[2,8,4] "
    "parameter(2)\n"
    "  zero = f32[] constant(0)\n two = f32[] constant(2)\n"
    "  q = f32[2,8,3] dot(x, w), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
    "  bs = f32[2,8,3] broadcast(b), dimensions={0}\n y = f32[2,8,3] add(q, bs)\n"
    "  yy = f32[2,8,3] multiply(y, y)\n"
    "  e = f32[2,8,3] exponential(yy)\n l = f32[2,8,3] log(e)\n k = f32[2,8,3] tanh(l)\n"
    "  c = f32[2,8,3] cosine(k)\n d = f32[2,8,3] sine(c)\n more = f32[2,8,3] add(d, e)\n"
    "  losses = f32[2] reduce(more, zero), dimensions={1,2}, to_apply=sum\n"
    "  twos = f32[2,8,3] broadcast(two), dimensions={}\n dy = f32[2,8,3] multiply(y, twos)\n"
    "  g = f32[2,4,3] dot(x, dy), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
    "  gb = f32[2] reduce(dy, zero), dimensions={1,2}, to_apply=sum\n"
    "  w2 = f32[2,4,3] subtract(w, g)\n b2 = f32[2] subtract(b, gb)\n"
    "  ROOT out = (f32[2,4,3], f32[2], f32[2]) tuple(w2, b2, losses) }\n";

static void test_losses_of_members(void **state)
{
    struct hlo_module *m = read_text(members);
    struct hlo_roles r = roles_of(m);

    (void)state;
    check_letters(&r, "VVI");
    assert_string_equal(value_name(m, r.loss), "losses");
    assert_int_equal(r.loss_confidence, HLO_DOUBTFUL);
    assert_non_null(strstr(r.loss_source, "vectors"));
    hlo_roles_release(&r);
    hlo_free(m);
}

/* A learned temperature, and the step's last loss, which scales the next one. Both new values are
 * functions of both: the memory that a result takes tells them apart. */
static const char scalars[] =
    "HloModule scalars, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias), "
    "{2}: (2, {}, may-alias) }\n" SUM
    "ENTRY main { heat = f32[] parameter(0)\n w = f32[4,3] parameter(1)\n last = f32[] "
    "parameter(2)\n"
    "  x = f32[8,4] parameter(3)\n zero = f32[] constant(0)\n two = f32[] constant(2)\n"
    "  q = f32[8,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  hs = f32[8,3] broadcast(heat), dimensions={}\n y = f32[8,3] multiply(q, hs)\n"
    "  yy = f32[8,3] multiply(y, y)\n"
    "  sum1 = f32[] reduce(yy, zero), dimensions={0,1}, to_apply=sum\n"
    "  even = f32[] multiply(heat, last)\n loss = f32[] add(sum1, even)\n"
    "  twos = f32[8,3] broadcast(two), dimensions={}\n dy = f32[8,3] multiply(y, twos)\n"
    "  dq = f32[8,3] multiply(dy, hs)\n"
    "  g = f32[4,3] dot(x, dq), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  dh = f32[8,3] multiply(dy, q)\n gh0 = f32[] reduce(dh, zero), dimensions={0,1}, "
    "to_apply=sum\n"
    "  gh = f32[] add(gh0, last)\n w2 = f32[4,3] subtract(w, g)\n heat2 = f32[] subtract(heat, "
    "gh)\n"
    "  ROOT out = (f32[], f32[4,3], f32[]) tuple(heat2, w2, loss) }\n";

static void test_scalars_are_told_apart(void **state)
{
    struct hlo_module *m = read_text(scalars);
    struct hlo_roles r = roles_of(m);

    (void)state;
    assert_string_equal(value_name(m, r.loss), "loss");
    assert_string_equal(value_name(m, r.params[0].updated), "heat2");
    assert_string_equal(value_name(m, r.params[2].updated), "loss");
    assert_int_equal(r.params[0].role, HLO_ROLE_VARIABLE);
    assert_int_not_equal(r.params[2].role, HLO_ROLE_VARIABLE);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* The scale of a loss is halved each step and added up in a number that nobody else reads: that is
 * no moment, and the scale not trained. */
static const char scaled[] =
    "HloModule scaled\n" SUM
    "ENTRY main { w = f32[4,3] parameter(0)\n scale = f32[] parameter(1)\n n = f32[] parameter(2)\n"
    "  x = f32[8,4] parameter(3)\n zero = f32[] constant(0)\n half = f32[] constant(0.5)\n"
    "  q = f32[8,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ss = f32[8,3] broadcast(scale), dimensions={}\n qs = f32[8,3] multiply(q, ss)\n"
    "  qq = f32[8,3] multiply(qs, q)\n loss = f32[] reduce(qq, zero), dimensions={0,1}, "
    "to_apply=sum\n"
    "  g = f32[4,3] dot(x, qs), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  w2 = f32[4,3] subtract(w, g)\n scale2 = f32[] multiply(scale, half)\n n2 = f32[] add(n, "
    "scale)\n"
    "  ROOT out = (f32[4,3], f32[], f32[], f32[]) tuple(w2, scale2, n2, loss) }\n";

static void test_numbers_have_no_moments(void **state)
{
    struct hlo_module *m = read_text(scaled);
    struct hlo_roles r = roles_of(m);

    (void)state;
    assert_string_equal(value_name(m, r.loss), "loss");
    assert_int_equal(r.params[0].role, HLO_ROLE_VARIABLE);
    assert_int_not_equal(r.params[1].role, HLO_ROLE_VARIABLE);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* Digits in a list are a number, not the end of a path: data/1 is the second input. */
static const char paired[] =
    "HloModule paired\n" SUM "ENTRY main { w = f32[4,3] parameter(0), "
    "metadata={op_name=\"params['w']\"}\n"
    "  v = f32[3,3] parameter(1), metadata={op_name=\"params['v']\"}\n"
    "  x = f32[8,4] parameter(2), metadata={op_name=\"data[0]\"}\n"
    "  y = f32[8,3] parameter(3), metadata={op_name=\"data[1]\"}\n  zero = f32[] constant(0)\n"
    "  q = f32[8,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  r = f32[8,3] dot(q, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  d = f32[8,3] subtract(r, y)\n"
    "  loss = f32[] reduce(d, zero), dimensions={0,1}, to_apply=sum\n"
    "  w2 = f32[4,3] negate(w)\n  v2 = f32[3,3] negate(v)\n"
    "  ROOT out = (f32[4,3], f32[3,3], f32[]) tuple(w2, v2, loss) }\n";

static void test_digits_in_a_list_are_numbers(void **state)
{
    const char *names[] = {"0", "1"};
    struct hlo_vars list = {.names = names, .count = 2};
    struct hlo_module *m = read_text(paired);
    struct hlo_roles r;
    struct err e;

    (void)state;
    assert_int_equal(hlo_roles_new(m, &list, &r, &e), 0);
    for (uint32_t p = 0; p < 4; p++)
        assert_int_equal(r.params[p].role == HLO_ROLE_VARIABLE, p < 2);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* ---- layers ---- */

/* Two matrices in a list and a table: what multiplies is a layer each, and a lone matrix is none.
 */
#define LISTED(SECOND)                                                                    \
    "HloModule listed\n" SUM "ENTRY main { a = f32[4,6] parameter(0), "                   \
    "metadata={op_name=\"params['w'][0]\"}\n"                                             \
    "  b = f32[6,2] parameter(1), metadata={op_name=\"params" SECOND "\"}\n"              \
    "  t = f32[16,4] parameter(2), metadata={op_name=\"params['rows'][0]\"}\n"            \
    "  i = s32[8,1] parameter(3), metadata={op_name=\"x\"}\n  zero = f32[] constant(0)\n" \
    "  x = f32[8,4] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, "            \
    "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}\n"                        \
    "  y = f32[8,6] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"      \
    "  z = f32[8,2] dot(y, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"      \
    "  loss = f32[] reduce(z, zero), dimensions={0,1}, to_apply=sum\n"                    \
    "  a2 = f32[4,6] negate(a)\n  b2 = f32[6,2] negate(b)\n  t2 = f32[16,4] negate(t)\n"  \
    "  ROOT out = (f32[4,6], f32[6,2], f32[16,4], f32[]) tuple(a2, b2, t2, loss) }\n"

static void test_lists_of_matrices_are_layers(void **state)
{
    struct hlo_module *m = read_text(LISTED("['w'][1]"));
    struct hlo_roles r = roles_of(m);

    (void)state;
    assert_int_equal(r.layer_count, 3); /* and outside */
    assert_string_equal(r.layer_names[1], "w/0");
    assert_string_equal(r.layer_names[2], "w/1");
    assert_int_equal(r.layer[hlo_find(m, "y")], 1);
    assert_int_equal(r.layer[hlo_find(m, "z")], 2);
    hlo_roles_release(&r);
    hlo_free(m);

    m = read_text(LISTED("['head']"));
    r = roles_of(m);
    assert_int_equal(r.layer_count, 1);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* Weights that a loop carries keep their layers inside of it. What it works on is state that the
 * step hands to the next, which is data as inputs are. */
static const char rollout[] =
    "HloModule rollout\n" SUM "body { s = (s32[], f32[8,4], f32[4,6], f32[6,4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(s), index=0\n  h = f32[8,4] get-tuple-element(s), index=1\n"
    "  a = f32[4,6] get-tuple-element(s), index=2\n  b = f32[6,4] get-tuple-element(s), index=3\n"
    "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
    "  y = f32[8,6] dot(h, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  z = f32[8,4] dot(y, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT t = (s32[], f32[8,4], f32[4,6], f32[6,4]) tuple(j, z, a, b) }\n"
    "cond { cs = (s32[], f32[8,4], f32[4,6], f32[6,4]) parameter(0)\n"
    "  ci = s32[] get-tuple-element(cs), index=0\n  n = s32[] constant(5)\n"
    "  ROOT go = pred[] compare(ci, n), direction=LT }\n"
    "ENTRY main { w = f32[4,6] parameter(0), metadata={op_name=\"params['layer_0']['w']\"}\n"
    "  v = f32[6,4] parameter(1), metadata={op_name=\"params['layer_1']['w']\"}\n"
    "  h0 = f32[8,4] parameter(2), metadata={op_name=\"place\"}\n"
    "  nil = s32[] constant(0)\n  zero = f32[] constant(0)\n"
    "  init = (s32[], f32[8,4], f32[4,6], f32[6,4]) tuple(nil, h0, w, v)\n"
    "  loop = (s32[], f32[8,4], f32[4,6], f32[6,4]) while(init), condition=cond, body=body\n"
    "  last = f32[8,4] get-tuple-element(loop), index=1\n"
    "  loss = f32[] reduce(last, zero), dimensions={0,1}, to_apply=sum\n"
    "  w2 = f32[4,6] negate(w)\n  v2 = f32[6,4] negate(v)\n  h2 = f32[8,4] tanh(h0)\n"
    "  ROOT out = (f32[4,6], f32[6,4], f32[8,4], f32[]) tuple(w2, v2, h2, loss) }\n";

static void test_loops_carry_layers(void **state)
{
    struct hlo_module *m = read_text(rollout);
    struct hlo_roles r = roles_of(m);

    (void)state;
    check_letters(&r, "VVS");
    assert_int_equal(r.layer_count, 3);
    assert_string_equal(r.layer_names[r.layer[hlo_find(m, "y")]], "layer_0");
    assert_string_equal(r.layer_names[r.layer[hlo_find(m, "z")]], "layer_1");
    hlo_roles_release(&r);
    hlo_free(m);
}

/* Weights drawn around a mean: the penalty on them is a function of weights and noise alone, in the
 * loss and in the updates; mean and width stand in each other's new value, and all of it is called
 * the optimizer's. */
static const char drawn[] =
    "HloModule drawn\n" SUM "ENTRY main { mean = f32[4,2] parameter(0), "
    "metadata={op_name=\"state.optim_state[1]['loc']\"}\n"
    "  width = f32[4,2] parameter(1), metadata={op_name=\"state.optim_state[1]['scale']\"}\n"
    "  m = f32[4,2] parameter(2)\n s = f32[4,2] parameter(3)\n x = f32[8,4] parameter(4)\n"
    "  noise = f32[4,2] parameter(5)\n spread = f32[4,2] multiply(width, noise)\n"
    "  w = f32[4,2] add(mean, spread)\n" MODEL "  ww = f32[4,2] multiply(w, w)\n"
    "  prior = f32[] reduce(ww, zero), dimensions={0,1}, to_apply=sum\n"
    "  all = f32[] add(loss, prior)\n flat = f32[4,2] broadcast(two), dimensions={}\n"
    "  wd = f32[4,2] multiply(w, flat)\n gm = f32[4,2] add(g, wd)\n gs = f32[4,2] multiply(gm, "
    "noise)\n"
    "  c = f32[] constant(0.9)\n cs = f32[4,2] broadcast(c), dimensions={}\n"
    "  mc = f32[4,2] multiply(m, cs)\n m2 = f32[4,2] add(mc, gm)\n"
    "  sc = f32[4,2] multiply(s, cs)\n s2 = f32[4,2] add(sc, gs)\n"
    "  stepm = f32[4,2] multiply(m2, cs)\n steps = f32[4,2] multiply(s2, cs)\n"
    "  mean2 = f32[4,2] subtract(mean, stepm)\n width2 = f32[4,2] subtract(width, steps)\n"
    "  ROOT out = (f32[4,2], f32[4,2], f32[4,2], f32[4,2], f32[]) tuple(mean2, width2, m2, s2, "
    "all) "
    "}\n";

static void test_penalties_are_in_the_loss(void **state)
{
    struct hlo_module *m = read_text(drawn);
    struct hlo_roles r = roles_of(m);

    (void)state;
    assert_string_equal(value_name(m, r.loss), "all");
    check_letters(&r, "VVOOII");
    assert_string_equal(value_name(m, r.params[0].updated), "mean2");
    assert_string_equal(value_name(m, r.params[1].updated), "width2");
    hlo_roles_release(&r);
    hlo_free(m);
}

/* A critic is trained, then a generator by the new critic: the second loss is computed from the
 * first one's gradient, which is no part of the forward pass. */
static const char rivals[] =
    "HloModule rivals\n" SUM
    "ENTRY main { w = f32[4,2] parameter(0)\n h = f32[4,4] parameter(1)\n mom = f32[4,2] "
    "parameter(2)\n"
    "  z = f32[8,4] parameter(3)\n"
    "  x = f32[8,4] dot(z, h), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n" MODEL
    "  c = f32[] constant(0.9)\n cs = f32[4,2] broadcast(c), dimensions={}\n"
    "  old = f32[4,2] multiply(mom, cs)\n mom2 = f32[4,2] add(old, g)\n"
    "  step = f32[4,2] multiply(mom2, cs)\n w2 = f32[4,2] subtract(w, step)\n"
    "  y2 = f32[8,2] dot(x, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  yy2 = f32[8,2] multiply(y2, y2)\n"
    "  loss2 = f32[] reduce(yy2, zero), dimensions={0,1}, to_apply=sum\n"
    "  dy2 = f32[8,2] multiply(y2, twos)\n"
    "  dx = f32[8,4] dot(dy2, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
    "  gh = f32[4,4] dot(z, dx), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  ch = f32[4,4] broadcast(c), dimensions={}\n steph = f32[4,4] multiply(gh, ch)\n"
    "  h2 = f32[4,4] subtract(h, steph)\n"
    "  ROOT out = (f32[4,2], f32[4,4], f32[4,2], f32[], f32[]) tuple(w2, h2, mom2, loss2, loss) "
    "}\n";

static void test_a_later_loss_is_another_steps(void **state)
{
    struct hlo_module *m = read_text(rivals);
    struct hlo_roles r = roles_of(m);

    (void)state;
    assert_string_equal(value_name(m, r.loss), "loss");
    check_letters(&r, "VVOI");
    assert_string_equal(value_name(m, r.params[0].gradient), "g");
    assert_string_equal(value_name(m, r.params[1].gradient), "gh");
    hlo_roles_release(&r);
    hlo_free(m);
}

/* The same where the step hands out one number, the sum of both losses. */
static void test_later_losses_are_summed(void **state)
{
    struct str text = {0};
    const char *root = strstr(rivals, "  ROOT out");

    (void)state;
    str_format(&text,
               "%.*s  all = f32[] add(loss, loss2)\n  ROOT out = (f32[4,2], f32[4,4], f32[4,2], "
               "f32[]) tuple(w2, h2, mom2, all) }\n",
               (int)(root - rivals), rivals);
    struct hlo_module *m = read_text(text.text);
    struct hlo_roles r = roles_of(m);
    assert_string_equal(value_name(m, r.loss), "all");
    check_letters(&r, "VVOI");
    assert_string_equal(value_name(m, r.params[0].gradient), "g");
    assert_string_equal(value_name(m, r.params[1].gradient), "gh");
    assert_int_equal(phase_of(m, &r, "y2"), HLO_PHASE_FORWARD);
    assert_int_not_equal(phase_of(m, &r, "g"), HLO_PHASE_FORWARD);
    hlo_roles_release(&r);
    hlo_free(m);
    str_release(&text);
}

/* Moving averages of the data, of the weights; a frozen table; clipping by the norm of the
 * gradient. */
static const char others[] =
    "HloModule others, input_output_alias={ {1}: (0, {}), {2}: (2, {}), {3}: (3, {}) }\n" SUM
    "ENTRY main { w = f32[4,2] parameter(0)\n x0 = f32[8,4] parameter(1)\n stat = f32[4] "
    "parameter(2)\n"
    "  ema = f32[4,2] parameter(3)\n frozen = f32[4] parameter(4)\n"
    "  fb = f32[8,4] broadcast(frozen), dimensions={1}\n x = f32[8,4] add(x0, fb)\n" MODEL
    "  xs = f32[4] reduce(x, zero), dimensions={0}, to_apply=sum\n"
    "  c1 = f32[] constant(0.9)\n c4 = f32[4] broadcast(c1), dimensions={}\n"
    "  os = f32[4] multiply(stat, c4)\n stat2 = f32[4] add(os, xs)\n"
    "  gg = f32[4,2] multiply(g, g)\n norm2 = f32[] reduce(gg, zero), dimensions={0,1}, "
    "to_apply=sum\n"
    "  norm = f32[] sqrt(norm2)\n norms = f32[4,2] broadcast(norm), dimensions={}\n"
    "  clipped = f32[4,2] divide(g, norms)\n w2 = f32[4,2] subtract(w, clipped)\n"
    "  c42 = f32[4,2] broadcast(c1), dimensions={}\n oe = f32[4,2] multiply(ema, c42)\n"
    "  ema2 = f32[4,2] add(oe, w2)\n"
    "  ROOT out = (f32[], f32[4,2], f32[4], f32[4,2], f32[]) tuple(loss, w2, stat2, ema2, norm) "
    "}\n";

static void test_other_state(void **state)
{
    struct hlo_module *m = read_text(others);
    struct hlo_roles r = roles_of(m);

    (void)state;
    check_letters(&r, "VISOI");
    assert_string_equal(value_name(m, r.loss),
                        "loss"); /* not the norm, whose ancestors hold it all */
    assert_int_equal(r.params[3].of, 0);
    assert_string_equal(value_name(m, r.params[0].gradient), "g");
    assert_string_equal(value_name(m, r.params[3].updated), "ema2");
    assert_int_equal(phase_of(m, &r, "norm"), HLO_PHASE_UPDATE);
    assert_int_equal(phase_of(m, &r, "clipped"), HLO_PHASE_UPDATE);
    assert_int_equal(phase_of(m, &r, "xs"), HLO_PHASE_FORWARD);
    assert_int_equal(phase_of(m, &r, "stat2"), HLO_PHASE_FORWARD);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* Factored second moments have other dims than the variable. */
static const char factored[] =
    "HloModule factored\n" SUM
    "ENTRY main { w = f32[4,2] parameter(0)\n x = f32[8,4] parameter(1)\n row = f32[4] "
    "parameter(2)\n col = f32[2] parameter(3)\n" MODEL
    "  gg = f32[4,2] multiply(g, g)\n gr = f32[4] reduce(gg, zero), dimensions={1}, to_apply=sum\n"
    "  gc = f32[2] reduce(gg, zero), dimensions={0}, to_apply=sum\n"
    "  row2 = f32[4] add(row, gr)\n col2 = f32[2] add(col, gc)\n"
    "  rb = f32[4,2] broadcast(row2), dimensions={0}\n cb = f32[4,2] broadcast(col2), "
    "dimensions={1}\n"
    "  v = f32[4,2] multiply(rb, cb)\n rs = f32[4,2] rsqrt(v)\n s = f32[4,2] multiply(g, rs)\n"
    "  w2 = f32[4,2] subtract(w, s)\n"
    "  ROOT out = (f32[4,2], f32[4], f32[2], f32[]) tuple(w2, row2, col2, loss) }\n";

static void test_factored(void **state)
{
    struct hlo_module *m = read_text(factored);
    struct hlo_roles r = roles_of(m);

    (void)state;
    check_letters(&r, "VIOO");
    assert_int_equal(r.params[2].of, 0);
    assert_int_equal(r.params[3].of, 0);
    assert_string_equal(value_name(m, r.params[0].gradient), "g");
    hlo_roles_release(&r);
    hlo_free(m);
}

/* Marks of differentiation win over data flow; calls hand theirs down; a name without any says
 * nothing. */
static const char marked[] =
    "HloModule marked\n" SUM
    "half { p = f32[8,2] parameter(0)\n ROOT h = f32[8,2] negate(p), metadata={op_name=\"neg\"} }\n"
    "ENTRY main { x = f32[8,4] parameter(1)\n w = f32[4,2] parameter(0)\n" MODEL
    "  kept = f32[8,2] call(y), to_apply=half, metadata={op_name=\"jit(f)/jvp(layer_0)\"}\n"
    "  back = f32[8,2] multiply(kept, dy), "
    "metadata={op_name=\"jit(f)/transpose(jvp(layer_0))/mul\"}\n"
    "  g2 = f32[4,2] dot(x, back), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
    "metadata={op_name=\"jit(f)/transpose(jvp(layer_0))/dot_general\"}\n"
    "  again = f32[4,2] add(g, g2), "
    "metadata={op_name=\"jit(f)/checkpoint/rematted_computation/add\"}\n"
    "  w2 = f32[4,2] subtract(w, again), metadata={op_name=\"jit(f)/sub\"}\n"
    "  ROOT out = (f32[4,2], f32[]) tuple(w2, loss) }\n";

static void test_marks(void **state)
{
    struct hlo_module *m = read_text(marked);
    struct hlo_roles r = roles_of(m);

    (void)state;
    assert_int_equal(phase_of(m, &r, "kept"), HLO_PHASE_FORWARD);
    assert_int_equal(phase_of(m, &r, "h"), HLO_PHASE_FORWARD);
    assert_int_equal(phase_of(m, &r, "back"), HLO_PHASE_BACKWARD);
    assert_int_equal(phase_of(m, &r, "again"), HLO_PHASE_BACKWARD);
    assert_int_equal(phase_of(m, &r, "w2"), HLO_PHASE_UPDATE);
    assert_non_null(strstr(r.phase_source, "op_name"));
    hlo_roles_release(&r);
    hlo_free(m);
}

/* A person says x is trained too: phases and gradients follow, and the correction stays. */
static void test_correction(void **state)
{
    struct hlo_module *m = read_text(sgd);
    struct hlo_roles r = roles_of(m);
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_roles_set(m, &r, 0, HLO_ROLE_OTHER_STATE, &e), 0);
    check_letters(&r, "SIH");
    assert_int_equal(r.params[0].source, HLO_BY_PERSON);
    assert_int_equal(r.params[0].gradient, HLO_NONE);
    assert_int_equal(phase_of(m, &r, "g"), HLO_PHASE_FORWARD); /* no backward pass is left */
    assert_int_equal(hlo_roles_set(m, &r, 2, HLO_ROLE_INPUT, &e), 0);
    check_letters(&r, "SII");
    assert_int_equal(hlo_roles_set(m, &r, 0, HLO_ROLE_VARIABLE, &e), 0);
    check_letters(&r, "VII");
    assert_string_equal(value_name(m, r.params[0].gradient), "g");
    assert_int_equal(hlo_roles_set(m, &r, 3, HLO_ROLE_INPUT, &e), ERR_INPUT);
    check_letters(&r, "VII");
    hlo_roles_release(&r);
    hlo_free(m);
}

/* A recurrent step returns its state, as large as its input, beside the norm of a gradient and a
 * penalty: none of these is the loss, and the state is no weight that a loss was behind. */
static void test_state_hides_no_loss(void **unused)
{
    static const char text[] =
        "HloModule m\n"
        "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
        "ENTRY e {\n"
        "  w = f32[8,8] parameter(0)\n"
        "  u = f32[8,4] parameter(1)\n"
        "  h = f32[2,8] parameter(2)\n"
        "  x = f32[2,8] parameter(3)\n"
        "  y = f32[2,4] parameter(4)\n"
        "  zero = f32[] constant(0)\n"
        "  hw = f32[2,8] dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  z = f32[2,8] add(hw, x)\n"
        "  hn = f32[2,8] tanh(z)\n"
        "  o = f32[2,4] dot(hn, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  d = f32[2,4] subtract(o, y)\n"
        "  dd = f32[2,4] multiply(d, d)\n"
        "  loss = f32[] reduce(dd, zero), dimensions={0,1}, to_apply=sum\n"
        "  gu = f32[8,4] dot(hn, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
        "  gh = f32[2,8] dot(d, u), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
        "  hh = f32[2,8] multiply(hn, hn)\n"
        "  gz = f32[2,8] multiply(gh, hh)\n"
        "  gw = f32[8,8] dot(h, gz), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
        "  wn = f32[8,8] subtract(w, gw)\n"
        "  un = f32[8,4] subtract(u, gu)\n"
        "  g2 = f32[8,8] multiply(gw, gw)\n"
        "  norm = f32[] reduce(g2, zero), dimensions={0,1}, to_apply=sum\n"
        "  zz = f32[2,8] multiply(z, z)\n"
        "  aux = f32[] reduce(zz, zero), dimensions={0,1}, to_apply=sum\n"
        "  ww = f32[8,8] multiply(w, w)\n"
        "  l2 = f32[] reduce(ww, zero), dimensions={0,1}, to_apply=sum\n"
        "  ROOT r = (f32[8,8], f32[8,4], f32[2,8], f32[], f32[], f32[], f32[])\n"
        "    tuple(wn, un, hn, norm, aux, l2, loss) }\n";
    struct hlo_module *m = read_text(text);
    struct hlo_roles r = roles_of(m);

    (void)unused;
    assert_string_equal(value_name(m, r.loss), "loss");
    assert_int_equal(r.params[0].role, HLO_ROLE_VARIABLE);
    assert_int_equal(r.params[1].role, HLO_ROLE_VARIABLE);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* Two layers with a state each; the loss is a sum, one term of which needs both states, the other
 * the first alone. */
static const char layers_with_state[] =
    "HloModule m\n" SUM "ENTRY main {\n"
    "  x = f32[8,16] parameter(0)\n"
    "  h1 = f32[8,32] parameter(1)\n"
    "  h2 = f32[8,32] parameter(2)\n"
    "  W1 = f32[16,32] parameter(3)\n"
    "  W2 = f32[32,32] parameter(4)\n"
    "  Wo = f32[32,4] parameter(5)\n"
    "  z = f32[] constant(0)\n"
    "  lr = f32[] constant(0.1)\n"
    "  one = f32[] constant(1)\n"
    "  ones = f32[8,32] broadcast(one), dimensions={}\n"
    "  a1 = f32[8,32] dot(x, W1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  s1 = f32[8,32] add(a1, h1)\n"
    "  h1n = f32[8,32] tanh(s1)\n"
    "  a2 = f32[8,32] dot(h1n, W2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  s2 = f32[8,32] add(a2, h2)\n"
    "  h2n = f32[8,32] tanh(s2)\n"
    "  o = f32[8,4] dot(h2n, Wo), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  oo = f32[8,4] multiply(o, o)\n"
    "  l1 = f32[] reduce(oo, z), dimensions={0,1}, to_apply=sum\n"
    "  hh = f32[8,32] multiply(h1n, h1n)\n"
    "  l2 = f32[] reduce(hh, z), dimensions={0,1}, to_apply=sum\n"
    "  loss = f32[] add(l1, l2)\n"
    "  do = f32[8,4] add(o, o)\n"
    "  dWo = f32[32,4] dot(h2n, do), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  dh2 = f32[8,32] dot(do, Wo), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
    "  h2q = f32[8,32] multiply(h2n, h2n)\n"
    "  t2 = f32[8,32] subtract(ones, h2q)\n"
    "  da2 = f32[8,32] multiply(dh2, t2)\n"
    "  dW2 = f32[32,32] dot(h1n, da2), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  dh1a = f32[8,32] dot(da2, W2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
    "  dh1b = f32[8,32] add(h1n, h1n)\n"
    "  dh1 = f32[8,32] add(dh1a, dh1b)\n"
    "  t1 = f32[8,32] subtract(ones, hh)\n"
    "  da1 = f32[8,32] multiply(dh1, t1)\n"
    "  dW1 = f32[16,32] dot(x, da1), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
    "  r1 = f32[16,32] broadcast(lr), dimensions={}\n"
    "  u1 = f32[16,32] multiply(r1, dW1)\n"
    "  W1n = f32[16,32] subtract(W1, u1)\n"
    "  r2 = f32[32,32] broadcast(lr), dimensions={}\n"
    "  u2 = f32[32,32] multiply(r2, dW2)\n"
    "  W2n = f32[32,32] subtract(W2, u2)\n"
    "  ro = f32[32,4] broadcast(lr), dimensions={}\n"
    "  uo = f32[32,4] multiply(ro, dWo)\n"
    "  Won = f32[32,4] subtract(Wo, uo)\n"
    "  ROOT out = (f32[8,32], f32[8,32], f32[16,32], f32[32,32], f32[32,4], f32[]) tuple(h1n, h2n, "
    "W1n, W2n, Won, loss) }\n";

static void test_state_of_one_term(void **state)
{
    struct hlo_module *m = read_text(layers_with_state);
    struct hlo_roles r = roles_of(m);

    (void)state;
    assert_string_equal(value_name(m, r.loss), "loss");
    check_letters(&r, "ISSVVV");
    assert_string_equal(value_name(m, r.params[3].gradient), "dW1");
    assert_int_equal(phase_of(m, &r, "a2"), HLO_PHASE_FORWARD);
    assert_int_equal(phase_of(m, &r, "dh1a"), HLO_PHASE_BACKWARD);
    hlo_roles_release(&r);
    hlo_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sgd),
        cmocka_unit_test(test_forward_pass_made_twice),
        cmocka_unit_test(test_adam_with_decay),
        cmocka_unit_test(test_norms_are_no_loss),
        cmocka_unit_test(test_no_loss),
        cmocka_unit_test(test_targets_are_not_trained),
        cmocka_unit_test(test_statistics_are_not_trained),
        cmocka_unit_test(test_counts_train_nothing),
        cmocka_unit_test(test_lists_of_matrices_are_layers),
        cmocka_unit_test(test_loops_carry_layers),
        cmocka_unit_test(test_rows_are_trained),
        cmocka_unit_test(test_losses_of_members),
        cmocka_unit_test(test_scalars_are_told_apart),
        cmocka_unit_test(test_numbers_have_no_moments),
        cmocka_unit_test(test_digits_in_a_list_are_numbers),
        cmocka_unit_test(test_penalties_are_in_the_loss),
        cmocka_unit_test(test_a_later_loss_is_another_steps),
        cmocka_unit_test(test_later_losses_are_summed),
        cmocka_unit_test(test_state_hides_no_loss),
        cmocka_unit_test(test_state_of_one_term),
        cmocka_unit_test(test_other_state),
        cmocka_unit_test(test_factored),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_correction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
