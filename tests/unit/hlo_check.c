/* Semantic checks: one wrong instruction each, and the sentence it gets. The right forms of the
 * same instructions are in the table below: they load. Rules are those of XLA's ShapeInference. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

/* Computations and parameters that the bodies below may use. */
static const char before[] =
    "add_f32 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
    "less { a = f32[] parameter(0) b = f32[] parameter(1)\n"
    "  ROOT r = pred[] compare(a, b), direction=LT }\n"
    "negate_23 { a = f32[2,3] parameter(0) ROOT r = f32[2,3] negate(a) }\n"
    "true_23 { a = f32[2,3] parameter(0) ROOT r = pred[] constant(true) }\n"
    "ENTRY e {\n"
    "  x = f32[2,3] parameter(0)\n"
    "  y = f32[3,4] parameter(1)\n"
    "  s = f32[] parameter(2)\n"
    "  i = s32[] parameter(3)\n"
    "  p = pred[] parameter(4)\n"
    "  v = s32[5] parameter(5)\n"
    "  im = f32[2,9,9,4] parameter(6)\n"
    "  k = f32[3,3,4,8] parameter(7)\n"
    "  t = (f32[2,3], s32[]) tuple(x, i)\n"
    "  z = c64[8,9] parameter(8)\n"
    "  m = f32[4,4] parameter(9)\n"
    "  g = f32[3] parameter(10)\n"
    "  ROOT r = ";

static int load(const char *instruction, struct err *e)
{
    char text[2048];
    struct hlo_module *m = NULL;

    snprintf(text, sizeof text, "%s%s\n}\n", before, instruction);
    int rc = hlo_load_memory("test", text, strlen(text), NULL, &m, e);
    hlo_free(m);
    return rc;
}

static const char *const right[] = {
    "f32[2,3] add(x, x)",
    "pred[2,3] compare(x, x), direction=GE",
    "bf16[2,3] convert(x)",
    "f32[2,3] select(p, x, x)",
    "f32[2,3] clamp(s, x, s)",
    "f32[2,5,3] broadcast(x), dimensions={0,2}",
    "f32[3,2] transpose(x), dimensions={1,0}",
    "f32[6] reshape(x)",
    "f32[2,6] concatenate(x, x), dimensions={1}",
    "f32[1,2] slice(x), slice={[1:2], [0:3:2]}",
    "f32[1,3] dynamic-slice(x, i, i), dynamic_slice_sizes={1,3}",
    "f32[2,3] dynamic-update-slice(x, x, i, i)",
    "f32[6,2] pad(x, s), padding=1_2_1x-1_0",
    "s32[4] iota(), iota_dimension=0",
    "f32[2,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "f32[2] reduce(x, s), dimensions={1}, to_apply=add_f32",
    "f32[2,3] reverse(x), dimensions={0}",
    "f32[2,3] sort(x), dimensions={1}, to_apply=less",
    "f32[5,3] gather(x, v), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
    "index_vector_dim=1, slice_sizes={1,3}",
    "f32[2,5,5,8] convolution(im, k), window={size=3x3 stride=2x2 pad=1_1x1_1}, "
    "dim_labels=b01f_01io->b01f",
    "f32[2,4,4,4] reduce-window(im, s), window={size=1x3x3x1 stride=1x2x2x1}, to_apply=add_f32",
    "f32[2,3] get-tuple-element(t), index=0",
    "(f32[2,3], f32[]) tuple(x, s)",
    "f32[2,3] call(x), to_apply=negate_23",
    "f32[2,3] while(x), condition=true_23, body=negate_23",
    "f32[2,3] conditional(p, x, x), true_computation=negate_23, false_computation=negate_23",
    "f32[2,3] conditional(i, x, x, x), branch_computations={negate_23, negate_23, negate_23}",
    "f32[8,16] fft(z), fft_type=IRFFT, fft_length={16}",
    "f32[4,4] cholesky(m), lower=true",
    "s32[] get-dimension-size(x), dimensions={1}",
    "f32[2,12] all-gather(x), dimensions={1}, replica_groups={}",
    "f32[2,1] reduce-scatter(x), dimensions={1}, replica_groups={}, to_apply=add_f32",
    "f32[2,3] all-reduce(x), replica_groups={}, to_apply=add_f32",
    "f32[2,3] batch-norm-inference(x, g, g, g, g), epsilon=0.001, feature_index=1",
};

static const struct {
    const char *instruction, *what;
} wrong[] = {
    {"f32[2,4] add(x, x)", "result is f32[2,4], expected f32[2,3]"},
    {"s32[2,3] add(x, x)", "result is s32[2,3], expected f32[2,3]"},
    {"f32[2,3] add(x, y)", "operands of shapes f32[2,3] and f32[3,4], expected the same"},
    {"f32[2,3] add(x, t)", "operand 1 is of type tuple, expected an array"},
    {"f32[2,3] add(x)", "add has 1 operands, expected 2"},
    {"f32[2,3] compare(x, x), direction=GE", "result is f32[2,3], expected pred[2,3]"},
    {"pred[2,3] compare(x, x)", "attribute direction is missing"},
    {"f32[2,3] select(i, x, x)", "a choice of type s32, expected pred"},
    {"f32[2,3] clamp(y, x, s)", "operand 0 of shape f32[3,4], expected a scalar"},
    {"f32[2,5,3] broadcast(x), dimensions={0}", "1 dimensions for an operand of 2 dims"},
    {"f32[2,5,3] broadcast(x), dimensions={0,3}", "names dim 3, expected one of 0 to 2"},
    {"f32[2,5,3] broadcast(x), dimensions={1,2}", "result is f32[2,5,3], expected f32[2,2,3]"},
    {"f32[3,2] transpose(x), dimensions={1,1}", "names dim 1 twice"},
    {"f32[2,3] transpose(x), dimensions={1,0}", "result is f32[2,3], expected f32[3,2]"},
    {"f32[7] reshape(x)", "f32[7] of 7 elements from f32[2,3] of 6, expected the same number"},
    {"f32[5,3] concatenate(x, y), dimensions={0}", "differs from operand 0 in more than dim 0"},
    {"f32[1,3] slice(x), slice={[2:1], [0:3]}", "slice [2:1:1] of dim 0"},
    {"f32[1,3] slice(x), slice={[0:1], [0:4]}", "expected a range within 0 to 3"},
    {"f32[1,3] slice(x), slice={[0:1]}", "slice has another number of ranges"},
    {"f32[1,4] dynamic-slice(x, i, i), dynamic_slice_sizes={1,4}", "slice size 4 in dim 1"},
    {"f32[1,3] dynamic-slice(x, i), dynamic_slice_sizes={1,3}", "1 start indices for 2 dims"},
    {"f32[2,3] dynamic-update-slice(x, y, i, i)", "update of size 3 in dim 0, expected at most 2"},
    {"f32[2,3] pad(x, s), padding=-3_0x0_0", "padding makes dim 0 negative"},
    {"f32[2,3] pad(x, s), padding=0_0", "padding of 1 dims for an operand of 2"},
    {"s32[4] iota(), iota_dimension=1",
     "iota_dimension is 1, expected a dim of the result below 1"},
    {"f32[2,4] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
     "contracting dims 0 and 0 have sizes 2 and 3"},
    {"f32[2,4] dot(x, y), lhs_contracting_dims={1}", "1 contracting dims on the left and 0"},
    {"f32[4,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
     "result is f32[4,2], expected f32[2,4]"},
    {"f32[2] reduce(x, s), dimensions={2}, to_apply=add_f32", "names dim 2"},
    {"f32[3] reduce(x, s), dimensions={1}, to_apply=add_f32", "result is f32[3], expected f32[2]"},
    {"f32[2] reduce(x, s), dimensions={1}, to_apply=negate_23", "has 1 parameters, expected 2"},
    {"f32[2] reduce(x, s), dimensions={1}", "0 computations, expected 1"},
    {"f32[2,3] sort(x), dimensions={1}, to_apply=add_f32", "does not return pred[]"},
    {"f32[5,3] gather(x, v), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={2,3}",
     "slice size 2 in dim 0, expected 0 to 1"},
    {"f32[5,3] gather(x, v), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, "
     "index_vector_dim=1, slice_sizes={1,3}",
     "index vectors of 1 numbers for 2 dims"},
    {"f32[2,9,9,8] convolution(im, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01oi->b01f",
     "4 input features per group and 8 in the kernel"},
    {"f32[2,9,9,8] convolution(im, k), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, "
     "feature_group_count=2",
     "not a multiple of the groups"},
    {"f32[2,9,9,8] convolution(im, k), window={size=3x3}, dim_labels=b01f_01io->b01f",
     "result is f32[2,9,9,8], expected f32[2,7,7,8]"},
    {"f32[2,9,9,4] reduce-window(im, s), window={size=3x3}, to_apply=add_f32",
     "window of 2 dims, expected 4"},
    {"f32[2,3] get-tuple-element(t), index=2", "index is 2, expected one of a tuple's 2 elements"},
    {"s32[] get-tuple-element(t), index=0", "another shape than element 0"},
    {"(f32[2,3]) tuple(x, s)", "2 operands for a result of 1 elements"},
    {"f32[3,4] call(y), to_apply=negate_23", "parameter 0 of \"negate_23\" has another shape"},
    {"f32[2,3] while(x), condition=negate_23, body=negate_23", "does not return pred[]"},
    {"f32[2,3] conditional(i, x), branch_computations={negate_23, negate_23}",
     "2 branches for 2 operands"},
    {"f32[2,3] conditional(s, x, x), true_computation=negate_23, false_computation=negate_23",
     "selector is neither"},
    {"f32[8,16] fft(z), fft_type=IRFFT, fft_length={20}", "dim 1 of size 9, expected 11"},
    {"f32[2,3] cholesky(x), lower=true", "not a square matrix"},
    {"f32[2,13] all-gather(x), dimensions={1}, replica_groups={}", "expected a whole factor"},
    {"f32[2,3] batch-norm-inference(x, g, g, g, g), epsilon=0.1, feature_index=0",
     "operand 1 is not a vector of 2 features"},
};

static void test_right_instructions_load(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof right / sizeof *right; n++) {
        struct err e = {0};
        if (load(right[n], &e)) {
            print_message("%s\n  gives: %s\n", right[n], e.what);
            fail();
        }
    }
}

static void test_wrong_instructions_are_named(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        struct err e = {0};
        int rc = load(wrong[n].instruction, &e);
        if (rc != ERR_INPUT || !strstr(e.what, wrong[n].what)) {
            print_message("%s\n  gives:    %s\n  expected: %s\n", wrong[n].instruction, e.what,
                          wrong[n].what);
            fail();
        }
        assert_int_equal(e.line, 19); /* the place of the instruction */
        assert_int_equal(e.col, 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_instructions_load),
        cmocka_unit_test(test_wrong_instructions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
