/* Which modules are whole programs, and what is said of those that are not. */
#include "hlo/load.h"
#include "hlo/meaning/program.h"
#include "read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define SUM "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
#define REDUCED                                                                         \
    SUM "ENTRY e { x = f32[8] parameter(0)\n  y = f32[8] all-reduce(x), to_apply=sum\n" \
        "  ROOT r = f32[8] negate(y) }\n"
/* shard_map under jit, before anything is partitioned. */
#define LOCAL                                                                          \
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n" \
    "ENTRY e { x = f32[64] parameter(0)\n"                                             \
    "l = f32[8] custom-call(x), custom_call_target=\"xla.sdy.GlobalToLocalShape\"\n"   \
    "y = f32[8] all-reduce(l), replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=add\n"     \
    "ROOT g = f32[8] custom-call(y), custom_call_target=\"xla.sdy.LocalToGlobalShape\" }\n"
#define STARTED                                                                               \
    SUM "ENTRY e { x = f32[8] parameter(0)\n  y = f32[8] all-reduce-start(x), to_apply=sum\n" \
        "  ROOT r = f32[8] all-reduce-done(y) }\n"

static void test_kinds(void **state)
{
    static const struct {
        const char *text;
        enum hlo_program_kind kind;
        uint32_t collectives;
        const char *said; /* NULL: may be planned */
    } cases[] = {
        {"HloModule a\nENTRY e { ROOT x = f32[8] parameter(0), sharding={devices=[2]<=[2]} }\n",
         HLO_PROGRAM_WHOLE, 0, NULL},
        {"HloModule a, num_partitions=2\nENTRY e { ROOT x = f32[8] parameter(0) }\n",
         HLO_PROGRAM_WHOLE, 0, NULL},
        {"HloModule a, num_partitions=4, replica_count=2\n" REDUCED, HLO_PROGRAM_PARTITIONED, 1,
         "each of 8 devices runs, already partitioned: 1 collective, y first"},
        {"HloModule a, num_partitions=2\nENTRY e_spmd { ROOT x = f32[8] parameter(0) }\n",
         HLO_PROGRAM_PARTITIONED, 0, "each of 2 devices runs, already partitioned, without"},
        {"HloModule a, is_scheduled=true, num_partitions=2\nENTRY e { ROOT x = f32[8] "
         "parameter(0) }\n",
         HLO_PROGRAM_PARTITIONED, 0, "without a collective"},
        {"HloModule a, is_scheduled=true\nENTRY e_spmd { ROOT x = f32[8] parameter(0) }\n",
         HLO_PROGRAM_WHOLE, 0, NULL},
        {"HloModule a, replica_count=2\n" STARTED, HLO_PROGRAM_PARTITIONED, 1,
         "before_optimizations"},
        {"HloModule a\n" REDUCED, HLO_PROGRAM_PER_DEVICE, 1, "shard_map or pmap"},
        {"HloModule a, num_partitions=8\n" LOCAL, HLO_PROGRAM_PER_DEVICE, 1,
         "automap doctor prices what this one sends"},
    };

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct hlo_module *m = read_text(cases[n].text);
        struct hlo_program p = hlo_program_of(m);
        struct err e = {0};
        assert_int_equal(p.kind, cases[n].kind);
        assert_int_equal(p.collectives, cases[n].collectives);
        assert_int_equal(hlo_program_require_whole(m, &e), cases[n].said ? ERR_INPUT : 0);
        if (cases[n].said)
            assert_non_null(strstr(e.what, cases[n].said));
        hlo_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
