/* What the doctor concludes from the neighbours of a collective, and what it does not: small dumps
 * that differ in one thing each. */
#include "engine/doctor/doctor.h"
#include "engine/doctor/groups.h"
#include "example.h"

#include <time.h>

#define HEAD(more) "HloModule jit_f, num_partitions=8" more "\n\n"
#define AT(name, line) \
    "metadata={op_name=\"jit(f)/" name "\" source_file=\"a.py\" source_line=" line "}\n"
#define NAME(name) "metadata={op_name=\"" name "\"}\n"
#define EIGHT "replica_groups=[1,8]<=[8], use_global_device_ids=true"

/* x, whole, times y, in pieces; all of it gathered for the result. */
#define UPDATE(more, x)                                                                            \
    HEAD(more)                                                                                     \
    "ENTRY main {\n  x = f32[64,32] parameter(0), sharding={replicated}, " NAME(                   \
        x) "  y = "                                                                                \
           "f32[8,32] "                                                                            \
           "parameter(1),"                                                                         \
           " sharding={"                                                                           \
           "devices=[8,1]"                                                                         \
           "<=[8]},"                                                                               \
           " " NAME("mask") " "                                                                    \
                            " "                                                                    \
                            "p"                                                                    \
                            "i"                                                                    \
                            "d"                                                                    \
                            " "                                                                    \
                            "="                                                                    \
                            " "                                                                    \
                            "u"                                                                    \
                            "3"                                                                    \
                            "2"                                                                    \
                            "["                                                                    \
                            "]"                                                                    \
                            " "                                                                    \
                            "p"                                                                    \
                            "a"                                                                    \
                            "r"                                                                    \
                            "t"                                                                    \
                            "i"                                                                    \
                            "t"                                                                    \
                            "i"                                                                    \
                            "o"                                                                    \
                            "n"                                                                    \
                            "-"                                                                    \
                            "i"                                                                    \
                            "d"                                                                    \
                            "("                                                                    \
                            ")"                                                                    \
                            "\n  z = s32[] constant(0)\n"                                          \
                            " "                                                                    \
                            " "                                                                    \
                            "c"                                                                    \
                            " "                                                                    \
                            "="                                                                    \
                            " "                                                                    \
                            "s"                                                                    \
                            "3"                                                                    \
                            "2"                                                                    \
                            "["                                                                    \
                            "8"                                                                    \
                            "]"                                                                    \
                            " "                                                                    \
                            "c"                                                                    \
                            "o"                                                                    \
                            "n"                                                                    \
                            "s"                                                                    \
                            "t"                                                                    \
                            "a"                                                                    \
                            "n"                                                                    \
                            "t"                                                                    \
                            "("                                                                    \
                            "{"                                                                    \
                            "0"                                                                    \
                            ","                                                                    \
                            "8"                                                                    \
                            ","                                                                    \
                            "1"                                                                    \
                            "6"                                                                    \
                            ","                                                                    \
                            "2"                                                                    \
                            "4"                                                                    \
                            ","                                                                    \
                            "3"                                                                    \
                            "2"                                                                    \
                            ","                                                                    \
                            "4"                                                                    \
                            "0"                                                                    \
                            ","                                                                    \
                            "4"                                                                    \
                            "8"                                                                    \
                            ","                                                                    \
                            "5"                                                                    \
                            "6"                                                                    \
                            "}"                                                                    \
                            ")"                                                                    \
                            "\n"                                                                   \
                            " "                                                                    \
                            " "                                                                    \
                            "d"                                                                    \
                            "s"                                                                    \
                            " "                                                                    \
                            "="                                                                    \
                            " "                                                                    \
                            "s"                                                                    \
                            "3"                                                                    \
                            "2"                                                                    \
                            "["                                                                    \
                            "1"                                                                    \
                            "]"                                                                    \
                            " "                                                                    \
                            "d"                                                                    \
                            "y"                                                                    \
                            "n"                                                                    \
                            "a"                                                                    \
                            "m"                                                                    \
                            "i"                                                                    \
                            "c"                                                                    \
                            "-"                                                                    \
                            "s"                                                                    \
                            "l"                                                                    \
                            "i"                                                                    \
                            "c"                                                                    \
                            "e"                                                                    \
                            "("                                                                    \
                            "c"                                                                    \
                            ","                                                                    \
                            " "                                                                    \
                            "p"                                                                    \
                            "i"                                                                    \
                            "d"                                                                    \
                            ")"                                                                    \
                            ","                                                                    \
                            " "                                                                    \
                            "d"                                                                    \
                            "y"                                                                    \
                            "n"                                                                    \
                            "a"                                                                    \
                            "m"                                                                    \
                            "i"                                                                    \
                            "c"                                                                    \
                            "_"                                                                    \
                            "s"                                                                    \
                            "l"                                                                    \
                            "i"                                                                    \
                            "c"                                                                    \
                            "e"                                                                    \
                            "_"                                                                    \
                            "s"                                                                    \
                            "i"                                                                    \
                            "z"                                                                    \
                            "e"                                                                    \
                            "s"                                                                    \
                            "="                                                                    \
                            "{"                                                                    \
                            "1"                                                                    \
                            "}"                                                                    \
                            "\n  at = s32[] reshape(ds)\n"                                         \
                            " "                                                                    \
                            " "                                                                    \
                            "x"                                                                    \
                            "s"                                                                    \
                            " "                                                                    \
                            "="                                                                    \
                            " "                                                                    \
                            "f"                                                                    \
                            "3"                                                                    \
                            "2"                                                                    \
                            "["                                                                    \
                            "8"                                                                    \
                            ","                                                                    \
                            "3"                                                                    \
                            "2"                                                                    \
                            "]"                                                                    \
                            " "                                                                    \
                            "d"                                                                    \
                            "y"                                                                    \
                            "n"                                                                    \
                            "a"                                                                    \
                            "m"                                                                    \
                            "i"                                                                    \
                            "c"                                                                    \
                            "-"                                                                    \
                            "s"                                                                    \
                            "l"                                                                    \
                            "i"                                                                    \
                            "c"                                                                    \
                            "e"                                                                    \
                            "("                                                                    \
                            "x"                                                                    \
                            ","                                                                    \
                            " "                                                                    \
                            "a"                                                                    \
                            "t"                                                                    \
                            ","                                                                    \
                            " "                                                                    \
                            "z"                                                                    \
                            ")"                                                                    \
                            ","                                                                    \
                            " "                                                                    \
                            "d"                                                                    \
                            "y"                                                                    \
                            "n"                                                                    \
                            "a"                                                                    \
                            "m"                                                                    \
                            "i"                                                                    \
                            "c"                                                                    \
                            "_"                                                                    \
                            "s"                                                                    \
                            "l"                                                                    \
                            "i"                                                                    \
                            "c"                                                                    \
                            "e"                                                                    \
                            "_"                                                                    \
                            "s"                                                                    \
                            "i"                                                                    \
                            "z"                                                                    \
                            "e"                                                                    \
                            "s"                                                                    \
                            "="                                                                    \
                            "{"                                                                    \
                            "8"                                                                    \
                            ","                                                                    \
                            "3"                                                                    \
                            "2"                                                                    \
                            "}"                                                                    \
                            ","                                                                    \
                            " " AT("mul", "3") "  m = f32[8,32] multiply(xs, y), " AT(             \
                                "mul", "3") "  ROOT ag = f32[64,32] all-gather(m), channel_id=1, " \
                                            "dimensions={0}, " EIGHT "\n}\n"

/* A vector in pieces is gathered for a fusion. */
#define VECTOR(inner, out)                                                                         \
    HEAD("")                                                                                       \
    "%f (p0: f32[64], p1: f32[" out "]) -> f32[" out "] {\n  %p0 = f32[64] parameter(0)\n"         \
    "  %p1 = f32[" out "] parameter(1)\n" inner "  ROOT %m = f32[" out "] multiply(%n, %p1), " AT( \
        "mul",                                                                                     \
        "3") "}\n\nENTRY main {\n"                                                                 \
             "  %sw = f32[8] parameter(0), sharding={devices=[8]<=[8]}, " NAME(                    \
                 "sample") "  %l = f32[" out                                                       \
                           "] parameter(1), sharding={replicated}, " NAME(                         \
                               "losses") "  %ag = f32[64] all-gather(%sw), channel_id=1, "         \
                                         "dimensions={0}, " EIGHT ", " AT(                         \
                                             "mul",                                                \
                                             "3") "  ROOT %o = f32[" out                           \
                                                  "] fusion(%ag, %l), kind=kLoop, calls=%f, " AT(  \
                                                      "mul", "3") "}\n"

/* A value that `asks` wants whole meets a weight: gathered by `gather`, or not. */
#define WHOLE(asks, split, gather, with, columns)                                                 \
    HEAD("")                                                                                      \
    "ENTRY main {\n  x = f32[8,16,64] parameter(0), sharding={devices=[1,8,1]<=[8]}, " NAME(      \
        "x") "  w = f32[64,8] parameter(1)" split                                                 \
             ", " NAME("w") "  v = f32[64,8] parameter(2), sharding={devices=[1,8]<=[8]}, " NAME( \
                 "v") "  s = f32[8,16,64] tanh(x), " AT("tanh", "2") "  c = f32[8,16,64] "        \
                                                                     "copy(s), " AT(              \
                                                                         asks, "3") "  ag = "     \
                                                                                    "f32[8,"      \
                                                                                    "128,64]"     \
                                                                                    " all-"       \
                                                                                    "gather("     \
                                                                                    "c), "        \
                                                                                    "channel"     \
                                                                                    "_id=1, "     \
                                                                                    "dimensi"     \
                                                                                    "ons={1}"     \
                                                                                    ","           \
                                                                                    " " EIGHT     \
                                                                                    ", " AT(asks, \
                                                                                            "3")  \
                                                                                        gather    \
        "  ROOT d = f32[8,128," columns "] dot(ag, " with "), lhs_contracting_dims={2}, "         \
        "rhs_contracting_dims={0}, " AT("dot_general", "4") "}\n"
#define SPLIT ", sharding={devices=[1,8]<=[8]}"

static const struct {
    const char *text;
    enum doctor_verdict verdict;
    const char *because, *cure; /* parts of them */
} dumps[] = {
    /* Whose next value the result is: by the buffer, by the name, not by the size alone. */
    {UPDATE("", "images"), DOCTOR_UNWANTED, "out_shardings", "out_shardings"},
    {UPDATE("", "kernel"), DOCTOR_WANTED, "ZeRO 1", ""},
    {UPDATE(", input_output_alias={ {}: (0, {}, may-alias) }", "images"), DOCTOR_WANTED, "ZeRO 1",
     ""},
    {UPDATE(", input_output_alias={ {}: (1, {}, may-alias) }", "images"), DOCTOR_UNWANTED,
     "out_shardings", ""},
    /* A bias lies along the last dim; another value that is repeated there says nothing of it. */
    {VECTOR("  %n = f32[16,64] broadcast(%p0), dimensions={1}\n", "16,64"), DOCTOR_WANTED,
     "stored in pieces", ""},
    {VECTOR("  %n = f32[64,16] broadcast(%p0), dimensions={0}\n", "64,16"), DOCTOR_UNWANTED,
     "two values meet", "give both values the same split"},
    {VECTOR("  %k = f32[] constant(0.5)\n  %b = f32[64] broadcast(%k), dimensions={}\n"
            "  %n = f32[64] multiply(%p0, %b)\n",
            "64"),
     DOCTOR_UNWANTED, "two values meet", "give both values the same split"},
    /* Wanted whole for a weight in pieces; one that is gathered is whole, also with others. */
    {WHOLE("sharding_constraint", SPLIT, "", "w", "8"), DOCTOR_UNSURE, "a constraint asks for it",
     "drop the constraint"},
    {WHOLE("sharding_constraint", SPLIT,
           "  wf = f32[64,64] all-gather(w), channel_id=2, dimensions={1}, " EIGHT "\n", "wf",
           "64"),
     DOCTOR_UNWANTED, "made anew", "drop the constraint"},
    {WHOLE("sharding_constraint", SPLIT,
           "  t = (f32[64,64], f32[64,64]) all-gather(w, v), channel_id=2, dimensions={1}, " EIGHT
           "\n  wf = f32[64,64] get-tuple-element(t), index=0\n",
           "wf", "64"),
     DOCTOR_UNWANTED, "made anew", "drop the constraint"},
    /* What shard_map asks for, also where older JAX writes what it is given. */
    {WHOLE("shard_map", SPLIT, "", "w", "8"), DOCTOR_UNSURE, "in_specs take it whole",
     "give in_specs the split"},
    {WHOLE("shard_map[mesh=M in_specs=(a)]", "", "", "w", "8"), DOCTOR_UNWANTED,
     "shard_map's in_specs", "give shard_map the split"},
};

static const struct doctor_finding *first_finding(const char *text, struct hlo_module **m,
                                                  struct doctor *d)
{
    struct err e = {0};

    if (hlo_load_memory("test", text, strlen(text), NULL, m, &e) ||
        doctor_new(*m, NULL, NULL, d, &e))
        fail_msg("%s\n%s", e.what, text);
    assert_true(d->count > 0);
    for (uint32_t k = 0; k < d->count; k++) {
        if (!strcmp(hlo_name(*m, d->findings[k].id), "ag"))
            return &d->findings[k];
    }
    return &d->findings[0];
}

static void neighbours_say(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t k = 0; k < sizeof dumps / sizeof *dumps; k++) {
        struct hlo_module *m;
        struct doctor d;
        const struct doctor_finding *f = first_finding(dumps[k].text, &m, &d);
        if (f->verdict != dumps[k].verdict || !strstr(f->because, dumps[k].because) ||
            !strstr(f->cure, dumps[k].cure)) {
            print_error("%zu: %s, because %s; %s\n", k, doctor_verdict_names[f->verdict],
                        f->because, f->cure);
            wrong++;
        }
        doctor_release(&d);
        hlo_free(m);
    }
    assert_int_equal(wrong, 0);
}

static void tiles_beyond_all_devices_are_none(void **state)
{
    static const char wide[] = "{devices=[4294967295,4294967295]<=[8]}";
    static const char wrapped[] = "{devices=[65536,65536,1]<=[8]}",
                      whole[] = "{devices=[4,2]<=[8]}";

    (void)state;
    assert_int_equal(device_groups_tiles(wide, sizeof wide - 1, 2), 1);
    assert_int_equal(device_groups_tiles(wrapped, sizeof wrapped - 1, 2), 1);
    assert_int_equal(device_groups_tiles(whole, sizeof whole - 1, 2), 8);
    assert_int_equal(device_groups_tiles(whole, sizeof whole - 1, 1), 4);
}

/* Eight ways from each of seven calls to the next, and a fusion of as many operands: not every path
 * is gone for every operand again. */
static void many_paths_are_not_all_gone(void **state)
{
    enum { OPERANDS = 64, CALLS = 7, WAYS = 8 };
    struct str text = {0};
    struct hlo_module *m;
    struct doctor d;

    (void)state;
    str_add(&text, HEAD("") "%f (q: s32[8]");
    for (int k = 0; k < OPERANDS; k++)
        str_format(&text, ", p%d: s32[8]", k);
    str_add(&text, ", at: u32[]) -> s32[8] {\n  %q = s32[8] parameter(0)\n");
    for (int k = 0; k < OPERANDS; k++)
        str_format(&text, "  %%p%d = s32[8] parameter(%d)\n", k, k + 1);
    str_format(&text, "  %%at = u32[] parameter(%d)\n", OPERANDS + 1);
    str_add(&text, "  ROOT %d = s32[8] dynamic-slice(%q, %at), dynamic_slice_sizes={8}\n}\n\n"
                   "ENTRY main {\n  %l0 = s32[8] iota(), iota_dimension=0\n");
    for (int k = 1; k <= CALLS; k++) {
        str_format(&text, "  %%l%d = s32[8] custom-call(", k);
        for (int n = 0; n < WAYS; n++)
            str_format(&text, "%s%%l%d", n ? ", " : "", k - 1);
        str_add(&text, "), custom_call_target=\"t\"\n");
    }
    str_add(&text, "  %pid = u32[] partition-id()\n  %x = s32[8] fusion(%l0");
    for (int k = 0; k < OPERANDS; k++)
        str_format(&text, ", %%l%d", CALLS);
    str_add(&text,
            ", %pid), kind=kLoop, calls=%f\n  ROOT %ag = s32[64] all-gather(%x), channel_id=1, "
            "dimensions={0}, " EIGHT "\n}\n");
    clock_t begin = clock();
    first_finding(text.text, &m, &d);
    assert_true(clock() - begin < CLOCKS_PER_SEC / 2); /* all of them take seconds */
    doctor_release(&d);
    hlo_free(m);
    str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_say),
        cmocka_unit_test(tiles_beyond_all_devices_are_none),
        cmocka_unit_test(many_paths_are_not_all_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
