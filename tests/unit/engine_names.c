/* Names of classes on the shipped models, beside the names of their variables (examples/models/
 * NAME.vars): what a person who wrote the model would call them. */
#include "engine/decide/names.h"
#include "engine/problem/problem.h"
#include "example.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static void load(const char *model, struct problem *p, struct class_names *n)
{
    struct err e;

    load_example(model, EXAMPLE_DEVICES, NULL, p);
    assert_int_equal(class_names_new(&p->classes, &p->roles, n, &e), 0);
}

static class_id class_by_name(const struct class_names *n, const char *name)
{
    char text[NAME_ROOM];

    for (class_id k = 0; k < n->count; k++) {
        if (!strcmp(class_name(n, k, text), name))
            return k;
    }
    return CLASS_NONE;
}

/* The class that holds dim `dim` of the variable called `variable` is called `name`. */
static void expect(const struct problem *p, const struct class_names *n, const char *variable,
                   uint32_t dim, const char *name)
{
    char text[NAME_ROOM];

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (strcmp(p->roles.params[k].name, variable) != 0)
            continue;
        class_id class = problem_param_class(p, k, dim);
        assert_int_not_equal(class, CLASS_NONE);
        assert_string_equal(class_name(n, class, text), name);
        assert_int_equal(class_by_name(n, name), class);
        return;
    }
    fail_msg("no variable %s", variable);
}

static void test_t5(void **state)
{
    (void)state;
    static struct problem p;
    struct class_names n;

    load("t5-base6", &p, &n);
    expect(&p, &n, "decoder/layer_000/cross/q/kernel", 0, "width 768");
    expect(&p, &n, "encoder/layer_000/self/q/kernel", 1, "encoder self");
    expect(&p, &n, "encoder/relative_bias", 1, "encoder self"); /* an outlier of 25 */
    expect(&p, &n, "decoder/layer_005/self/o/kernel", 0, "decoder self");
    expect(&p, &n, "decoder/layer_003/cross/v/kernel", 1, "decoder cross 3");
    expect(&p, &n, "encoder/layer_004/ffn/conv1/kernel", 1, "encoder ffn 4");
    expect(&p, &n, "embedding", 0, "vocab 32128");
    expect(&p, &n, "decoder/relative_bias", 0, "decoder relative bias 32");
    class_names_release(&n);
    problem_release(&p);
}

static void test_others(void **state)
{
    (void)state;
    static struct problem p;
    struct class_names n;

    load("vgg19", &p, &n);
    expect(&p, &n, "conv1_2/kernel", 3, "conv1_2");
    expect(&p, &n, "conv2_1/kernel", 2, "conv1_2"); /* what it reads is conv1_2's */
    expect(&p, &n, "fc7/kernel", 1, "fc7");
    class_names_release(&n);
    problem_release(&p);

    load("moe", &p, &n);
    expect(&p, &n, "moe_0/down/bias", 1, "width 512");
    expect(&p, &n, "moe_2/up/bias", 1, "moe 2, 2048");
    expect(&p, &n, "moe_2/up/kernel", 0, "moe 2, 8"); /* the experts */
    expect(&p, &n, "head/kernel", 1, "head 32000");
    class_names_release(&n);
    problem_release(&p);

    load("decoder-scan", &p, &n);
    expect(&p, &n, "layers/self/q/kernel", 2, "self");
    expect(&p, &n, "layers/ffn/up/kernel", 2, "ffn");
    class_names_release(&n);
    problem_release(&p);
}

static void test_series(void **state)
{
    (void)state;
    static struct problem p;
    struct class_names n;
    class_id k[5], some[3];
    char text[NAME_ROOM], name[NAME_ROOM];

    load("t5-base6", &p, &n);
    for (uint32_t i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "decoder ffn %u", i);
        k[i] = class_by_name(&n, name);
        assert_int_not_equal(k[i], CLASS_NONE);
    }
    assert_string_equal(class_names_joined(&n, k, 5, text), "decoder ffn 0-4");
    some[0] = k[4];
    some[1] = k[0];
    some[2] = k[1];
    assert_string_equal(class_names_joined(&n, some, 3, text), "decoder ffn 0-1 4");
    some[1] = class_by_name(&n, "width 768");
    assert_string_equal(class_names_joined(&n, some, 3, text), "decoder ffn 4 and 2 more");
    class_names_release(&n);
    problem_release(&p);
}

/* Of 48 layers and 5,000 classes no two with variables or inputs are called alike. */
static void test_unique(void **state)
{
    (void)state;
    static struct problem p;
    struct class_names n;
    char text[NAME_ROOM];

    load("bert48", &p, &n);
    for (class_id k = 0; k < n.count; k++) {
        const struct class_info *info = &p.classes.info[k];
        if (info->var_dims || info->input_dims)
            assert_int_equal(class_by_name(&n, class_name(&n, k, text)), k);
    }
    class_names_release(&n);
    problem_release(&p);
}

/* What all variables are kept in is in no name. */
static void test_shared_roots(void **state)
{
    (void)state;
    static struct problem p;
    static char longer[512][NAME_ROOM];
    struct class_names n, kept;
    char text[NAME_ROOM], other[NAME_ROOM];
    struct err e;

    load("t5-tiny", &p, &n);
    assert_true(p.roles.param_count <= 512);
    for (uint32_t k = 0; k < p.roles.param_count; k++) {
        snprintf(longer[k], sizeof longer[k], "state/my_model/%.100s", p.roles.params[k].name);
        if (p.roles.params[k].role == HLO_ROLE_VARIABLE)
            p.roles.params[k].name = longer[k];
    }
    assert_int_equal(class_names_new(&p.classes, &p.roles, &kept, &e), 0);
    for (class_id k = 0; k < n.count; k++)
        assert_string_equal(class_name(&kept, k, text), class_name(&n, k, other));
    class_names_release(&kept);
    class_names_release(&n);
    problem_release(&p);
}

/* t5-tiny with the paths of its variables as another framework writes them. */
static void load_renamed(const char *const (*to)[2], struct problem *p, struct class_names *n)
{
    static char renamed[512][NAME_ROOM];
    struct class_names as_it_was;
    struct err e;

    load("t5-tiny", p, &as_it_was);
    class_names_release(&as_it_was);
    assert_true(p->roles.param_count <= 512);
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        char *name = renamed[k], before[NAME_ROOM];
        snprintf(name, NAME_ROOM, "%.120s", p->roles.params[k].name);
        for (int i = 0; to[i][0]; i++) {
            char *at = strstr(name, to[i][0]);
            if (!at)
                continue;
            snprintf(before, sizeof before, "%.*s", (int)(at - name), name);
            char rest[NAME_ROOM];
            snprintf(rest, sizeof rest, "%s", at + strlen(to[i][0]));
            snprintf(name, NAME_ROOM, "%.50s%.50s%.50s", before, to[i][1], rest);
        }
        p->roles.params[k].name = name;
    }
    assert_int_equal(class_names_new(&p->classes, &p->roles, n, &e), 0);
}

static void test_frameworks(void **state)
{
    (void)state;
    static struct problem p;
    struct class_names n;
    class_id k[2];
    char text[NAME_ROOM];

    /* A number that says only the place in a layer is no layer. */
    static const char *const places[][2] = {{"layer_00", "block/"},
                                            {"/self/", "/layer/0/SelfAttention/"},
                                            {"/cross/", "/layer/1/EncDecAttention/"},
                                            {"/ffn/conv1/", "/layer/2/Dense/wi/"},
                                            {"/ffn/conv2/", "/layer/2/Dense/wo/"},
                                            {"relative_bias", "relative_attention_bias/embedding"},
                                            {NULL, NULL}};
    load_renamed(places, &p, &n);
    expect(&p, &n, "decoder/block/1/layer/2/Dense/wi/kernel", 1, "decoder Dense 1");
    expect(&p, &n, "decoder/block/0/layer/1/EncDecAttention/q/kernel", 1,
           "decoder EncDecAttention 0");
    expect(&p, &n, "decoder/relative_attention_bias/embedding", 0,
           "decoder relative attention bias embedding 8"); /* looked up, but no words */
    class_names_release(&n);
    problem_release(&p);

    /* A layer has more parts than one. */
    static const char *const parts[][2] = {
        {"layer_00", "layer/"},      {"/ffn/conv1/", "/intermediate/dense/"},
        {"/ffn/conv2/", "/output/"}, {"/cross/", "/attention_2/"},
        {"/self/", "/attention/"},   {NULL, NULL}};
    load_renamed(parts, &p, &n);
    expect(&p, &n, "encoder/layer/1/output/kernel", 0, "encoder intermediate output 1");
    expect(&p, &n, "encoder/layer/1/attention/q/kernel", 1, "encoder attention");
    class_names_release(&n);
    problem_release(&p);

    /* Modules whose names hold the place of each, side by side; and a layer behind a number. */
    static const char *const beside[][2] = {{"encoder/layer_000/ffn/conv1", "enc1_block2_conv_a"},
                                            {"encoder/layer_000/ffn/conv2", "enc1_block2_conv_b"},
                                            {"encoder/layer_001/ffn/conv1", "enc1_block3_conv_a"},
                                            {"encoder/layer_001/ffn/conv2", "enc1_block3_conv_b"},
                                            {"/ffn/", "/ffn_2/"},
                                            {NULL, NULL}};
    load_renamed(beside, &p, &n);
    expect(&p, &n, "enc1_block2_conv_a/kernel", 1, "enc1 block2 conv a");
    expect(&p, &n, "decoder/layer_001/ffn_2/conv1/kernel", 1, "decoder ffn_2, layer 1");
    for (uint32_t i = 0; i < 2; i++)
        k[i] = class_by_name(&n, i ? "decoder ffn_2, layer 1" : "decoder ffn_2, layer 0");
    assert_string_equal(class_names_joined(&n, k, 2, text), "decoder ffn_2, layers 0-1");
    assert_string_equal(class_names_series(&n, k, 2, text), "decoder ffn_2");
    k[1] = class_by_name(&n, "encoder self");
    assert_string_equal(class_names_series(&n, k, 2, text), "decoder ffn_2, layer 0 and 1 more");
    class_names_release(&n);
    problem_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t5),           cmocka_unit_test(test_others),
        cmocka_unit_test(test_series),       cmocka_unit_test(test_unique),
        cmocka_unit_test(test_shared_roots), cmocka_unit_test(test_frameworks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
