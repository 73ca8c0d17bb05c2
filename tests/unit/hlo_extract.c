/* A part of a module as a module of its own: what its instructions are called. */
#include "hlo/load.h"
#include "hlo/meaning/extract.h"
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both weights come as one tuple; names that a part might give are taken. */
static const char text[] =
    "HloModule m\nENTRY e {\n  p = (f32[4,4], f32[4,4]) parameter(0)\n"
    "  p.leaf1 = f32[4,4] parameter(1)\n"
    "  w = f32[4,4] get-tuple-element(p), index=0\n  v = f32[4,4] get-tuple-element(p), index=1\n"
    "  p.leaf0.whole = f32[4,4] negate(w)\n"
    "  a = f32[4,4] add(p.leaf0.whole, v)\n  ROOT b = f32[4,4] multiply(a, p.leaf1)\n}\n";

static void every_input_and_copy_has_its_name(void **state)
{
    struct hlo_module *m = NULL, *made = NULL;
    hlo_value *of = NULL, input[3];
    struct err e = {0};

    (void)state;
    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e))
        fail_msg("%s", e.what);
    bool *is_kept = mem_alloc(m->count), *is_free = mem_alloc(m->value_count),
         *is_copied = mem_alloc(m->value_count);
    memset(is_kept, 0, m->count);
    memset(is_free, 0, m->value_count);
    memset(is_copied, 0, m->value_count);
    hlo_id p = hlo_find(m, "p");
    input[0] = m->leaf_base[p];
    input[1] = m->leaf_base[p] + 1;
    input[2] = m->leaf_base[hlo_find(m, "p.leaf1")];
    for (int n = 0; n < 3; n++)
        is_copied[input[n]] = true;
    is_kept[hlo_find(m, "p.leaf0.whole")] = is_kept[hlo_find(m, "a")] = true;
    is_kept[hlo_find(m, "b")] = true;
    hlo_value output = m->leaf_base[hlo_find(m, "b")];
    struct hlo_part part = {.name = "part",
                            .is_kept = is_kept,
                            .input = input,
                            .inputs = 3,
                            .is_copied = is_copied,
                            .output = &output,
                            .outputs = 1,
                            .is_free = is_free,
                            .cut = 1};
    if (hlo_extract(m, &part, &made, &of, &e))
        fail_msg("%s", e.what);
    static const char *const names[] = {
        "p.leaf0",       "p.leaf0.whole.2", "p.leaf1.2", "p.leaf1", "p.leaf1.2.whole",
        "p.leaf1.whole", "p.leaf0.whole",   "a",         "b"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        assert_int_not_equal(hlo_find(made, names[n]), HLO_NONE);
    hlo_id negate = hlo_find(made, "p.leaf0.whole");
    assert_int_equal(hlo_operand(made, negate, 0), hlo_find(made, "p.leaf0.whole.2"));
    free(of);
    free(is_kept);
    free(is_free);
    free(is_copied);
    hlo_free(made);
    hlo_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_input_and_copy_has_its_name)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
