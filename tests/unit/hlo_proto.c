/* The binary form: what a hand-made file says is read, and what is wrong with one is said with the
 * byte and the path of the field. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

/* ---- writing protobuf by hand: tag, length, content ---- */

struct bytes {
    uint8_t data[4096];
    size_t size;
};

static void put(struct bytes *b, const void *data, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void varint(struct bytes *b, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        put(b, &byte, 1);
        value >>= 7;
    } while (value);
}

static void number(struct bytes *b, unsigned field, uint64_t value)
{
    varint(b, field << 3);
    varint(b, value);
}

static void content(struct bytes *b, unsigned field, const void *data, size_t size)
{
    varint(b, field << 3 | 2);
    varint(b, size);
    put(b, data, size);
}

static void text(struct bytes *b, unsigned field, const char *value)
{
    content(b, field, value, strlen(value));
}

static void message(struct bytes *b, unsigned field, const struct bytes *inner)
{
    content(b, field, inner->data, inner->size);
}

/* f32[2], the dim packed or not. */
static struct bytes shape(bool packed)
{
    struct bytes s = {.size = 0};

    number(&s, 2, 11);
    if (packed)
        content(&s, 3, "\2", 1);
    else
        number(&s, 3, 2);
    return s;
}

static struct bytes instruction(const char *name, const char *opcode, uint64_t id,
                                const struct bytes *s)
{
    struct bytes i = {.size = 0};

    text(&i, 1, name);
    text(&i, 2, opcode);
    message(&i, 3, s);
    number(&i, 35, id);
    return i;
}

/* p = parameter(0); n = negate(p), the operand by `operand`. */
static struct bytes module(uint64_t ids, uint64_t operand, bool packed)
{
    struct bytes s = shape(packed), comp = {.size = 0}, m = {.size = 0};
    struct bytes p = instruction("p", "parameter", ids + 7, &s);
    struct bytes n = instruction("n", "negate", ids + 8, &s);

    number(&n, 36, operand);
    text(&comp, 1, "main");
    message(&comp, 2, &p);
    message(&comp, 2, &n);
    number(&comp, 5, 3);
    number(&comp, 6, ids + 8);
    text(&m, 1, "hand");
    text(&m, 2, "main");
    message(&m, 3, &comp);
    number(&m, 6, 3);
    return m;
}

static struct hlo_module *load(const struct bytes *b)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load_memory("x.pb", b->data, b->size, NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return m;
}

static void check_hand(const struct bytes *b)
{
    struct hlo_module *m = load(b);

    assert_int_equal(m->format, HLO_FORMAT_PROTO);
    assert_string_equal(m->name, "hand");
    assert_int_equal(m->count, 2);
    assert_int_equal(hlo_operand(m, 1, 0), 0);
    assert_int_equal(hlo_shape(m, 1)->dims[0], 2);
    hlo_free(m);
}

static void test_packed_or_not(void **state)
{
    (void)state;
    struct bytes packed = module(0, 7, true), single = module(0, 7, false);
    check_hand(&packed);
    check_hand(&single);
}

/* Old ids count over the module; new ones hold the computation above bit 32, and some writers leave
 * that half out of operands. */
static void test_ids(void **state)
{
    (void)state;
    uint64_t high = (uint64_t)3 << 32;
    struct bytes whole = module(high, high + 7, true), low = module(high, 7, true);
    check_hand(&whole);
    check_hand(&low);
}

static void test_roots(void **state)
{
    (void)state;
    struct bytes m = module(0, 7, true), proto = {.size = 0}, snapshot = {.size = 0};
    message(&proto, 1, &m);
    content(&proto, 3, "\n\0", 2); /* an empty buffer assignment of sorts */
    message(&snapshot, 1, &proto);
    text(&snapshot, 4, "Host");
    check_hand(&proto);
    check_hand(&snapshot);
}

static void test_unknown_fields(void **state)
{
    (void)state;
    struct bytes m = module(0, 7, true);
    number(&m, 9, 300);        /* varint */
    varint(&m, 2000 << 3 | 1); /* 64 bits */
    put(&m, "12345678", 8);
    text(&m, 2001, "from the future"); /* bytes */
    varint(&m, 2002 << 3 | 5);         /* 32 bits */
    put(&m, "1234", 4);
    check_hand(&m);
}

/* ---- errors ---- */

static void check_error(const struct bytes *b, const char *what)
{
    struct hlo_module *m = NULL;
    struct err e = {0};
    char line[800];

    assert_true(hlo_load_memory("x.pb", b->data, b->size, NULL, &m, &e) < 0);
    err_format(&e, line, sizeof line);
    if (!strstr(line, what))
        fail_msg("error: %s\nwanted: %s", line, what);
}

static void test_cut(void **state)
{
    struct bytes whole = module(0, 7, true);

    (void)state;
    struct bytes cut = whole;
    cut.size -= 4; /* inside the computation */
    check_error(&cut, "x.pb: byte 14: computations[0]: a length that reaches past the end");
    /* Cut anywhere: an error or, between fields, a module that lacks something; never a crash. */
    for (size_t size = 0; size < whole.size; size++) {
        struct hlo_module *m = NULL;
        struct err e = {0};
        if (!hlo_load_memory("x.pb", whole.data, size, NULL, &m, &e))
            hlo_free(m);
        else
            assert_true(e.what[0]);
    }
}

static void test_wire(void **state)
{
    struct bytes m = {.size = 0};

    (void)state;
    text(&m, 1, "x");
    put(&m, "\x1b", 1); /* field 3 as a group */
    check_error(&m, "byte 4: computations[0]: a wire type that proto3 does not have");
    m.size = 3;
    put(&m, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
    check_error(&m, "byte 13: a number of more than 10 bytes");
    m.size = 3;
    put(&m, "\2\1x", 3);
    check_error(&m, "byte 3: a field number outside 1..536870911");
}

static void test_names_with_nul(void **state)
{
    struct bytes m = {.size = 0};

    (void)state;
    text(&m, 1, "x");
    content(&m, 2, "a\0b", 3);
    check_error(&m, "byte 5: entry_computation_name: holds a NUL byte");
}

static void test_nesting(void **state)
{
    static struct bytes s[2];

    (void)state;
    /* A tuple in a tuple ... in a shape: 300 deep. */
    for (int n = 0; n < 300; n++) {
        s[1] = (struct bytes){.size = 0};
        number(&s[1], 2, 13);
        message(&s[1], 4, &s[0]);
        s[0] = s[1];
    }
    struct bytes m = {.size = 0}, program = {.size = 0};
    text(&m, 1, "deep");
    message(&program, 2, &s[0]);
    message(&m, 4, &program);
    check_error(&m, "tuple_shapes[0].tuple_shapes[0]: messages are nested too deeply");
}

static void test_meaning(void **state)
{
    struct bytes m = module(0, 99, true);

    (void)state;
    check_error(&m,
                "computations[0].instructions[1] \"n\": operand 0 is id 99, expected one of this "
                "computation");
    m = (struct bytes){.size = 0};
    text(&m, 1, "empty");
    check_error(&m, "computations: none, expected at least one");

    struct bytes bad = {.size = 0}, comp = {.size = 0}, i;
    number(&bad, 2, 99);
    i = instruction("p", "parameter", 1, &bad);
    text(&comp, 1, "main");
    message(&comp, 2, &i);
    m.size = 0;
    text(&m, 1, "type");
    message(&m, 3, &comp);
    check_error(&m, "computations[0].instructions[0] \"p\": element type 99 of a shape is unknown");

    bad = shape(true);
    number(&bad, 3, UINT64_MAX); /* a second dim: -1 */
    i = instruction("p", "parameter", 1, &bad);
    comp.size = 0;
    text(&comp, 1, "main");
    message(&comp, 2, &i);
    m.size = 0;
    text(&m, 1, "dim");
    message(&m, 3, &comp);
    check_error(&m, "dim 1 of a shape is -1, expected 0 or more");
}

/* Two bytes make a message of some hundred: bounded by the size of the file. */
static void test_memory(void **state)
{
    size_t count = 12 << 20;
    uint8_t *data = mem_alloc(3 + 2 * count + 6);
    struct hlo_module *m = NULL;
    struct err e = {0};

    (void)state;
    memcpy(data, "\n\1x", 3);
    for (size_t i = 0; i < count; i++)
        memcpy(data + 3 + 2 * i, "\x1a", 2); /* an empty computation */
    assert_int_equal(hlo_load_memory("x.pb", data, 3 + 2 * count, NULL, &m, &e), ERR_LIMIT);
    assert_non_null(strstr(e.what, "more memory than the limit"));
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_or_not),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_wire),
        cmocka_unit_test(test_names_with_nul),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_meaning),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
