/* What parameters, scopes and layers are called. */
#include "roles_case.h"

#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/meaning/scope.h"
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void check_path(uint32_t (*read)(const char *, struct str *), const char *name,
                       const char *path)
{
    struct str s = {0};

    str_add(&s, "");
    read(name, &s);
    assert_string_equal(s.text, path);
    str_release(&s);
}

static void test_paths(void **state)
{
    (void)state;
    check_path(hlo_path_of_op_name, "params['encoder']['q']", "params/encoder/q");
    check_path(hlo_path_of_op_name, "params[\\'encoder\\'][\\'q\\']", "params/encoder/q");
    check_path(hlo_path_of_op_name, "state.opt_state[0].mu['a.b']['c']",
               "state/opt_state/0/mu/a.b/c");
    check_path(hlo_path_of_op_name, "params['x/y\\\\z']['w']", "params/x/y\\z/w");
    check_path(hlo_path_of_op_name, "state[0][25]", "state/0/25");
    check_path(hlo_path_of_instruction, "params__encoder____layer_000____self____q____kernel__.1",
               "params/encoder/layer_000/self/q/kernel");
    check_path(hlo_path_of_instruction, "batch__labels__.1", "batch/labels");
    check_path(hlo_path_of_instruction, "rate.1", "rate");
    assert_false(hlo_is_argument_path("XLA_Args"));
    assert_false(hlo_is_argument_path("xla__device_data"));
    assert_false(hlo_is_argument_path("jit(f)/jvp(a)/mul"));
    assert_true(hlo_is_argument_path("state.params['x/y']"));
}

static void test_words(void **state)
{
    static const struct {
        const char *path;
        bool is_scalar;
        enum hlo_role role;
    } cases[] = {
        {"params/encoder/q", false, HLO_ROLE_VARIABLE},
        {"state/params/params/mu/kernel", false, HLO_ROLE_VARIABLE}, /* a layer named mu */
        {"state/opt_state/0/mu/params/q", false, HLO_ROLE_OPTIMIZER_STATE},
        {"state_opt_state_0/mu/q", false, HLO_ROLE_OPTIMIZER_STATE},
        {"opt/count", true, HLO_ROLE_HYPER},
        {"state/batch_stats/bn/mean", false, HLO_ROLE_OTHER_STATE},
        {"state/0/25", false, HLO_ROLE_VARIABLE}, /* Keras */
        {"state/2/3", false, HLO_ROLE_OPTIMIZER_STATE},
        {"batch/weights", false, HLO_ROLE_INPUT},
        {"data/0", false, HLO_ROLE_INPUT},
        {"rate", true, HLO_ROLE_HYPER},
        {"dropout_rng", false, HLO_ROLE_HYPER},
        {"encoder/q", false, HLO_ROLE_COUNT},
    };

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        assert_int_equal(hlo_role_of_path(cases[n].path, cases[n].is_scalar), cases[n].role);
    assert_string_equal(hlo_path_without_root("state/params/params/encoder/q"), "encoder/q");
    assert_string_equal(hlo_path_without_root("opt/m/q"), "opt/m/q");
}

static void check_scope(const char *op_name, const char *scope, bool derived, bool transposed)
{
    struct hlo_scope_marks marks;
    struct str s = {0};

    str_add(&s, "");
    hlo_scope_of_op_name(op_name, &s, &marks);
    assert_string_equal(s.text, scope);
    assert_int_equal(marks.is_derived, derived);
    assert_int_equal(marks.is_transposed, transposed);
    str_release(&s);
}

static void test_scopes(void **state)
{
    (void)state;
    check_scope("jit(step)/transpose(jvp(encoder))/layer_000/self/dot_general",
                "encoder/layer_000/self", true, true);
    check_scope("jit(step)/jit(main)/jvp(Model)/h_1/jit(relu)/max", "Model/h_1", true, false);
    check_scope("jit(step)/jvp()/while/body/closed_call/layers/mul", "layers", true, false);
    check_scope("jit(step)/jvp()/mul", "", true, false);
    check_scope("checkpoint/rematted_computation/layers/mul", "layers", false, false);
    check_scope("gradient_tape/model_1/dense_1/MatMul", "model_1/dense_1", false, false);
    check_scope("reduce_sum", "", false, false);
    check_scope("jit(a(b/mul", "", false, false); /* cut short */
    check_scope("vmap(jvp(a)/b)/c/mul", "a/b/c", true, false);
    check_scope("jit(f)/jvp(a)/b/mul;jit(f)/jvp(a)/b/c/add", "a/b", true, false); /* joined */
    check_scope("jit(f)/mul;jit(f)/transpose(jvp(a))/b/add", "", false, false);
}

static void check_layer(const char *path, const char *layer)
{
    size_t size = hlo_layer_of_path(path, strlen(path));

    assert_int_equal(size, strlen(layer));
    assert_memory_equal(path, layer, size);
}

/* Scopes of all metas, those that repeat the one before too, and the layers in them. */
static void test_scopes_of_module(void **state)
{
    (void)state;
    static const char *const names[] = {"add",
                                        "mul",
                                        "jit(f)/jvp(layer_1)/add",
                                        "jit(f)/jvp(layer_1)/mul",
                                        "jit(f)/transpose(jvp(layer_1))/mul",
                                        "jit(f)/add",
                                        "jit(f)/layer_12/add",
                                        "jit(f)/layer_12/add;jit(f)/layer_1/add",
                                        "jit(f)/layer_1/add",
                                        "jit(f)/layer_1/reshape[sizes=(1, 2) dims=(0,)]",
                                        "jit(f)/layer_1/reshape[sizes=(2,)]",
                                        "jit(f)/layer_1/cast[a=(1)jvp(b)]",
                                        "jit(f)/layer_1/cast[a=(1)jvp(b)]transpose(c)",
                                        "jit(f)/layer_1/transpose(jvp(d))[e=1]",
                                        "jit(f)/layer_1/gradients"};
    enum { COUNT = sizeof names / sizeof *names };
    struct hlo_scopes scopes;
    struct str text = {0};

    str_add(&text, "HloModule m\nENTRY main { v0 = f32[] parameter(0)\n");
    for (int n = 0; n < COUNT; n++)
        str_format(&text, "  v%d = f32[] negate(v%d), metadata={op_name=\"%s\"}\n", n + 1, n,
                   names[n]);
    str_format(&text, "  ROOT r = f32[] negate(v%d) }\n", COUNT);
    struct hlo_module *m = read_text(text.text);
    assert_int_equal(m->meta_count, COUNT + 1);
    assert_true(hlo_scopes_init(&scopes, m));
    for (uint32_t n = 1; n <= COUNT; n++) {
        struct hlo_scope_marks marks;
        struct str one = {0};
        str_add(&one, "");
        hlo_scope_of_op_name(names[n - 1], &one, &marks);
        assert_string_equal(hlo_scope_of(&scopes, n), one.text);
        assert_int_equal(scopes.marks[n].is_transposed, marks.is_transposed);
        assert_int_equal(scopes.marks[n].is_derived, marks.is_derived);
        assert_int_equal(scopes.marks[n].is_gradient, marks.is_gradient);
        assert_int_equal(scopes.layer[n], hlo_layer_of_path(one.text, one.size));
        str_release(&one);
    }
    assert_int_equal(scopes.at[4], scopes.at[3]);
    hlo_scopes_release(&scopes);
    hlo_free(m);
    str_release(&text);
}

static void test_layer_names(void **state)
{
    (void)state;
    check_layer("encoder/layer_000/self", "encoder/layer_000");
    check_layer("layer_000/ffn/conv1", "layer_000");
    check_layer("layers/3/attention", "layers/3");
    check_layer("stage1/block_2/conv1", "stage1/block_2");
    check_layer("h_0/MultiHeadDotProductAttention_0/query", "h_0");
    check_layer("conv1_1", "conv1_1");
    check_layer("expanded_conv_3_project_bn", "expanded_conv_3");
    check_layer("conv5_block8_1_conv", "conv5_block8");
    check_layer("conv1_bn", "conv1");
    check_layer("expanded_conv_3_project/kernel", "expanded_conv_3");
    check_layer("conv1_conv_1/kernel", "conv1");
    check_layer("stage1_block3/kernel", "stage1_block3");
    check_layer("gpt2_model/layers_0/kernel", "gpt2_model/layers_0");
    check_layer("gpt2_model_1/layers_0/kernel", "gpt2_model_1/layers_0");
    check_layer("gpt2_model/decoder/norm", "");
    check_layer("a1_b,c->d", "");
    check_layer("decoder/norm", "");
    check_layer("blhd,bmhd->bh2", "");
    check_layer("", "");
}

/* Two matrices that one cell reads are told apart, and a batch norm's scale from its bias. */
static void test_namesakes(void **state)
{
    static const char text[] =
        "HloModule m\n" SUM
        "ENTRY e {\n  p0.1 = f32[8,4] parameter(0)\n  p1.2 = f32[4,4] parameter(1)\n"
        "  p2.3 = f32[4,4] parameter(2)\n  p3.4 = f32[4] parameter(3)\n"
        "  p4.5 = f32[4] parameter(4)\n  zero = f32[] constant(0)\n"
        "  a = f32[8,4] dot(p0.1, p1.2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
        "metadata={op_name=\"jit(f)/cell/dot\"}\n"
        "  n = (f32[8,4], f32[4], f32[4]) batch-norm-training(a, p3.4, p4.5), epsilon=0.1, "
        "feature_index=1, metadata={op_name=\"jit(f)/norm/batch\"}\n"
        "  b = f32[8,4] get-tuple-element(n), index=0\n  mean = f32[4] get-tuple-element(n), "
        "index=1\n  var = f32[4] get-tuple-element(n), index=2\n"
        "  q = f32[8,4] dot(b, p2.3), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
        "metadata={op_name=\"jit(f)/cell/dot\"}\n"
        "  qq = f32[8,4] multiply(q, q)\n  loss = f32[] reduce(qq, zero), dimensions={0,1}, "
        "to_apply=sum\n"
        "  gv = f32[4,4] dot(b, q), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
        "  gb = f32[8,4] dot(q, p2.3), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
        "  gn = (f32[8,4], f32[4], f32[4]) batch-norm-grad(a, p3.4, mean, var, gb), epsilon=0.1, "
        "feature_index=1\n  ga = f32[8,4] get-tuple-element(gn), index=0\n"
        "  gg = f32[4] get-tuple-element(gn), index=1\n"
        "  gbeta = f32[4] get-tuple-element(gn), index=2\n"
        "  gw = f32[4,4] dot(p0.1, ga), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
        "  w2 = f32[4,4] subtract(p1.2, gw)\n  v2 = f32[4,4] subtract(p2.3, gv)\n"
        "  gamma2 = f32[4] subtract(p3.4, gg)\n  beta2 = f32[4] subtract(p4.5, gbeta)\n"
        "  ROOT out = (f32[4,4], f32[4,4], f32[4], f32[4], f32[]) tuple(w2, v2, gamma2, beta2, "
        "loss) }\n";
    static const char *const names[] = {"cell/input", "cell/kernel", "cell/kernel_2", "norm/scale",
                                        "norm/bias"};

    (void)state;
    struct hlo_module *m = read_text(text);
    struct hlo_roles r = roles_of(m);
    check_letters(&r, "IVVVV");
    for (uint32_t p = 0; p < r.param_count; p++)
        assert_string_equal(r.params[p].module, names[p]);
    hlo_roles_release(&r);
    hlo_free(m);
}

/* Two networks in one argument: where their variables are called alike, all of the path says which.
 */
static void test_two_networks(void **state)
{
    static const char text[] =
        "HloModule m\n" SUM "ENTRY e {\n"
        "  w = f32[4,4] parameter(0), metadata={op_name=\"state['g']['params']['fc']['kernel']\"}\n"
        "  v = f32[4,4] parameter(1), metadata={op_name=\"state['d']['params']['fc']['kernel']\"}\n"
        "  u = f32[4,4] parameter(2), "
        "metadata={op_name=\"state['d']['params']['out']['kernel']\"}\n"
        "  x = f32[8,4] parameter(3)\n zero = f32[] constant(0)\n"
        "  a = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  b = f32[8,4] dot(a, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  c = f32[8,4] dot(b, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  cc = f32[8,4] multiply(c, c)\n"
        "  loss = f32[] reduce(cc, zero), dimensions={0,1}, to_apply=sum\n"
        "  gu = f32[4,4] dot(b, c), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
        "  cb = f32[8,4] dot(c, u), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
        "  gv = f32[4,4] dot(a, cb), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
        "  ca = f32[8,4] dot(cb, v), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
        "  gw = f32[4,4] dot(x, ca), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
        "  w2 = f32[4,4] subtract(w, gw)\n v2 = f32[4,4] subtract(v, gv)\n"
        "  u2 = f32[4,4] subtract(u, gu)\n"
        "  ROOT out = (f32[4,4], f32[4,4], f32[4,4], f32[]) tuple(w2, v2, u2, loss) }\n";
    static const char *const names[] = {"state/g/params/fc/kernel", "state/d/params/fc/kernel",
                                        "out/kernel"};

    (void)state;
    struct hlo_module *m = read_text(text);
    struct hlo_roles r = roles_of(m);
    check_letters(&r, "VVVI");
    for (uint32_t p = 0; p < 3; p++)
        assert_string_equal(r.params[p].name, names[p]);
    hlo_roles_release(&r);
    hlo_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),        cmocka_unit_test(test_words),
        cmocka_unit_test(test_scopes),       cmocka_unit_test(test_scopes_of_module),
        cmocka_unit_test(test_layer_names),  cmocka_unit_test(test_namesakes),
        cmocka_unit_test(test_two_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
