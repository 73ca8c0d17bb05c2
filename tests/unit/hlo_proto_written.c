/* The binary form as it is written: byte for byte what protobuf-c writes into a buffer that grows,
 * but in a time that does not grow with the depth of what is written. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/proto/reflect.h"
#include "hlo/proto/write.h"
#include "hlo/support/clock.h"
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

enum { TIMES = 5 };
extern const ProtobufCMessageDescriptor xla__hlo_proto__descriptor; /* made from hlo.proto */

struct sink {
    ProtobufCBuffer base;
    struct str *out;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
    str_add_bytes(((struct sink *)buffer)->out, (const char *)data, size);
}

/* The seconds of the quickest, of ours and of protobuf-c's into a buffer; both make the same. */
static void compare(const struct hlo_module *m, double *ours, double *theirs)
{
    struct arena scratch = {0};
    ProtobufCMessage *root;
    struct str file = {0};
    struct err e = {0};

    assert_int_equal(hlo_write_proto(m, &file, &e), 0);
    assert_int_equal(hlo_reflect_from_wire(&xla__hlo_proto__descriptor, file.text, file.size,
                                           &scratch, &root, &e),
                     0);
    *ours = *theirs = 1e9;
    for (int n = 0; n < TIMES; n++) {
        struct str out = {0}, again = {0};
        struct sink sink = {{append}, &again};
        double start = clock_process_seconds();
        hlo_reflect_to_wire(root, &out);
        double middle = clock_process_seconds();
        protobuf_c_message_pack_to_buffer(root, &sink.base);
        double end = clock_process_seconds();
        assert_false(out.failed);
        assert_int_equal(out.size, again.size);
        assert_memory_equal(out.text, again.text, out.size);
        assert_memory_equal(out.text, file.text, out.size);
        *ours = middle - start < *ours ? middle - start : *ours;
        *theirs = end - middle < *theirs ? end - middle : *theirs;
        str_release(&out);
        str_release(&again);
    }
    arena_release(&scratch);
    str_release(&file);
}

static void test_limit(void **state)
{
    static const char text[] = "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }\n";
    struct str whole = {0}, cut;
    struct hlo_module *m = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_load_memory("m", text, sizeof text - 1, NULL, &m, &e), 0);
    assert_int_equal(hlo_write_proto(m, &whole, &e), 0);
    cut = (struct str){.limit = whole.size};
    assert_int_equal(hlo_write_proto(m, &cut, &e), 0);
    str_release(&cut);
    cut = (struct str){.limit = whole.size - 1};
    assert_int_equal(hlo_write_proto(m, &cut, &e), ERR_MEMORY);
    str_release(&cut);
    str_release(&whole);
    hlo_free(m);
}

static void test_same_bytes(void **state)
{
    static const char *const names[] = {"t5-base6.hlo.txt.gz", "decoder-scan.hlo.txt.gz",
                                        "resnet20.hlo.txt.gz", "moe.hlo.txt.gz"};
    char path[512];
    double ours, theirs;

    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct hlo_module *m = NULL;
        struct err e = {0};
        snprintf(path, sizeof path, "%s/examples/models/%s", AUTOMAP_SOURCE_DIR, names[n]);
        assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
        compare(m, &ours, &theirs);
        hlo_free(m);
    }
}

/* Tuples of tuples, 64 deep. */
static void test_deep(void **state)
{
    struct str text = {0}, shape = {0}, next = {0};
    struct hlo_module *m = NULL;
    struct err e = {0};
    double ours, theirs;

    (void)state;
    str_add(&text, "HloModule deep\nENTRY main { t0 = f32[8] parameter(0)\n");
    str_add(&shape, "f32[8]");
    for (int n = 1; n <= 64; n++) {
        str_clear(&next);
        str_format(&next, "(%s, f32[8])", shape.text);
        str_clear(&shape);
        str_add(&shape, next.text);
        str_format(&text, "%s t%d = %s tuple(t%d, t0)\n", n == 64 ? "ROOT" : "", n, shape.text,
                   n - 1);
    }
    str_add(&text, "}\n");
    assert_int_equal(hlo_load_memory("deep", text.text, text.size, NULL, &m, &e), 0);
    compare(m, &ours, &theirs);
    if (ours * 3 > theirs)
        fail_msg("%.2f ms, and %.2f when each level is measured again", ours * 1e3, theirs * 1e3);
    hlo_free(m);
    str_release(&text);
    str_release(&shape);
    str_release(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
