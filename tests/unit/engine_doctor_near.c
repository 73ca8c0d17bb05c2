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

/* A line of the dump is a line here. */
/* clang-format off */
/* x, whole, times y, in pieces; all of it gathered for the result. */
#define UPDATE(more, x)                                                                            \
    HEAD(more)                                                                                     \
    "ENTRY main {\n"                                                                               \
    "  x = f32[64,32] parameter(0), sharding={replicated}, " NAME(x)                               \
    "  y = f32[8,32] parameter(1), sharding={devices=[8,1]<=[8]}, " NAME("mask")                   \
    "  pid = u32[] partition-id()\n"                                                               \
    "  z = s32[] constant(0)\n"                                                                    \
    "  c = s32[8] constant({0,8,16,24,32,40,48,56})\n"                                             \
    "  ds = s32[1] dynamic-slice(c, pid), dynamic_slice_sizes={1}\n"                               \
    "  at = s32[] reshape(ds)\n"                                                                   \
    "  xs = f32[8,32] dynamic-slice(x, at, z), dynamic_slice_sizes={8,32}, " AT("mul", "3")        \
    "  m = f32[8,32] multiply(xs, y), " AT("mul", "3")                                             \
    "  ROOT ag = f32[64,32] all-gather(m), channel_id=1, dimensions={0}, " EIGHT "\n"              \
    "}\n"

/* A vector in pieces is gathered for a fusion. */
#define VECTOR(inner, out)                                                                         \
    HEAD("")                                                                                       \
    "%f (p0: f32[64], p1: f32[" out "]) -> f32[" out "] {\n"                                       \
    "  %p0 = f32[64] parameter(0)\n"                                                               \
    "  %p1 = f32[" out "] parameter(1)\n"                                                          \
    inner                                                                                          \
    "  ROOT %m = f32[" out "] multiply(%n, %p1), " AT("mul", "3")                                  \
    "}\n\n"                                                                                        \
    "ENTRY main {\n"                                                                               \
    "  %sw = f32[8] parameter(0), sharding={devices=[8]<=[8]}, " NAME("sample")                    \
    "  %l = f32[" out "] parameter(1), sharding={replicated}, " NAME("losses")                     \
    "  %ag = f32[64] all-gather(%sw), channel_id=1, dimensions={0}, " EIGHT ", " AT("mul", "3")    \
    "  ROOT %o = f32[" out "] fusion(%ag, %l), kind=kLoop, calls=%f, " AT("mul", "3")              \
    "}\n"

/* A value that `asks` wants whole meets a weight: gathered by `gather`, or not. */
#define WHOLE(asks, split, gather, with, columns)                                                  \
    HEAD("")                                                                                       \
    "ENTRY main {\n"                                                                               \
    "  x = f32[8,16,64] parameter(0), sharding={devices=[1,8,1]<=[8]}, " NAME("x")                 \
    "  w = f32[64,8] parameter(1)" split ", " NAME("w")                                            \
    "  v = f32[64,8] parameter(2), sharding={devices=[1,8]<=[8]}, " NAME("v")                      \
    "  s = f32[8,16,64] tanh(x), " AT("tanh", "2")                                                 \
    "  c = f32[8,16,64] copy(s), " AT(asks, "3")                                                   \
    "  ag = f32[8,128,64] all-gather(c), channel_id=1, dimensions={1}, " EIGHT ", " AT(asks, "3")  \
    gather                                                                                         \
    "  ROOT d = f32[8,128," columns "] dot(ag, " with "), lhs_contracting_dims={2}, "              \
    "rhs_contracting_dims={0}, " AT("dot_general", "4")                                            \
    "}\n"

/* Every trip sums over the devices, with `to`, and adds that, `acc`, to what the loop carries. */
#define LOOP(to, primitive, acc, kept, asks)                                                       \
    HEAD("")                                                                                       \
    "%to (a: f32[], b: f32[]) -> f32[] {\n"                                                        \
    "  %a = f32[] parameter(0)\n"                                                                  \
    "  %b = f32[] parameter(1)\n"                                                                  \
    "  ROOT %s = f32[] " to "(%a, %b)\n"                                                           \
    "}\n\n"                                                                                        \
    "%rooted (p0: f32[256], p1: f32[256]) -> f32[256] {\n"                                         \
    "  %p0 = f32[256] parameter(0)\n"                                                              \
    "  %p1 = f32[256] parameter(1)\n"                                                              \
    "  %sq = f32[256] sqrt(%p1)\n"                                                                 \
    "  ROOT %ad = f32[256] add(%p0, %sq)\n"                                                        \
    "}\n\n"                                                                                        \
    "%added (p2: f32[256], p3: f32[256]) -> f32[256] {\n"                                          \
    "  %p2 = f32[256] parameter(0)\n"                                                              \
    "  %p3 = f32[256] parameter(1)\n"                                                              \
    "  ROOT %ae = f32[256] add(%p3, %p2)\n"                                                        \
    "}\n\n"                                                                                        \
    "%body (p: (s32[], f32[256], f32[6,256])) -> (s32[], f32[256], f32[6,256]) {\n"                \
    "  %p = (s32[], f32[256], f32[6,256]) parameter(0)\n"                                          \
    "  %i = s32[] get-tuple-element(%p), index=0\n"                                                \
    "  %one = s32[] constant(1)\n"                                                                 \
    "  %zero = s32[] constant(0)\n"                                                                \
    "  %pz = f32[] constant(0)\n"                                                                  \
    "  %next = s32[] add(%i, %one)\n"                                                              \
    "  %c = f32[256] get-tuple-element(%p), index=1\n"                                             \
    "  %ys = f32[6,256] get-tuple-element(%p), index=2\n"                                          \
    "  %mm = f32[6,256] broadcast(%pz), dimensions={}\n"                                           \
    "  %v = f32[6] broadcast(%pz), dimensions={}\n"                                                \
    "  %r = f32[256] dot(%v, %mm), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "           \
    AT("while/body/dot_general", "7")                                                              \
    "  %ar = f32[256] all-reduce(%r), channel_id=1, " EIGHT ", to_apply=%to, "                     \
    AT("while/body/" primitive, "7")                                                               \
    acc                                                                                            \
    "  ROOT %t = (s32[], f32[256], f32[6,256]) tuple(%next, %acc, " kept ")\n"                     \
    "}\n\n"                                                                                        \
    "%cond (q: (s32[], f32[256], f32[6,256])) -> pred[] {\n"                                       \
    "  %q = (s32[], f32[256], f32[6,256]) parameter(0)\n"                                          \
    "  %j = s32[] get-tuple-element(%q), index=0\n"                                                \
    "  %six = s32[] constant(6)\n"                                                                 \
    asks                                                                                           \
    "}\n\n"                                                                                        \
    "ENTRY %main {\n"                                                                              \
    "  %z = s32[] constant(0)\n"                                                                   \
    "  %zf = f32[] constant(0)\n"                                                                  \
    "  %c0 = f32[256] broadcast(%zf), dimensions={}\n"                                             \
    "  %y0 = f32[6,256] broadcast(%zf), dimensions={}\n"                                           \
    "  %init = (s32[], f32[256], f32[6,256]) tuple(%z, %c0, %y0)\n"                                \
    "  ROOT %w = (s32[], f32[256], f32[6,256]) while(%init), condition=%cond, body=%body, "        \
    "backend_config={\"known_trip_count\":{\"n\":\"6\"}}\n"                                        \
    "}\n"
#define COUNTED "  ROOT %lt = pred[] compare(%j, %six), direction=LT\n"
#define ADDED "  %acc = f32[256] add(%c, %ar)\n"
/* Each device keeps its part of the sum. */
#define OWN                                                                                        \
    "  %pid = u32[] partition-id()\n"                                                              \
    "  %tb = s32[8] constant({0,32,64,96,128,160,192,224})\n"                                      \
    "  %e = s32[1] dynamic-slice(%tb, %pid), dynamic_slice_sizes={1}\n"                            \
    "  %at = s32[] reshape(%e)\n"                                                                  \
    "  %own = f32[32] dynamic-slice(%ar, %at), dynamic_slice_sizes={32}\n"                         \
    "  %th = f32[32] tanh(%own)\n"                                                                 \
    "  %pd = f32[256] pad(%th, %pz), padding=0_224\n"                                              \
    "  %acc = f32[256] add(%c, %pd)\n"

/* Rows are gathered, and reduced along a dim. */
#define GATHERED(more, of, dim)                                                                    \
    HEAD("")                                                                                       \
    "%add (a: f32[], b: f32[]) -> f32[] {\n"                                                       \
    "  %a = f32[] parameter(0)\n"                                                                  \
    "  %b = f32[] parameter(1)\n"                                                                  \
    "  ROOT %s = f32[] add(%a, %b)\n"                                                              \
    "}\n\n"                                                                                        \
    "ENTRY %main {\n"                                                                              \
    "  %x = f32[32,256] parameter(0), sharding={devices=[8,1]<=[8]}\n"                             \
    "  %z = f32[] constant(0)\n"                                                                   \
    "  %ag = f32[256,256] all-gather(%x), channel_id=1, dimensions={0}, " EIGHT ", "               \
    AT("all_gather", "7")                                                                          \
    more                                                                                           \
    "  ROOT %r = f32[256] reduce(" of ", %z), dimensions={" dim "}, to_apply=%add, "               \
    AT("reduce_sum", "8")                                                                          \
    "}\n"

/* The same in a fusion, which reduces the second of what it takes, or `of` that. */
#define FUSED(takes, more, of)                                                                               \
    HEAD("")                                                                                       \
    "%add (a: f32[], b: f32[]) -> f32[] {\n"                                                       \
    "  %a = f32[] parameter(0)\n"                                                                  \
    "  %b = f32[] parameter(1)\n"                                                                  \
    "  ROOT %s = f32[] add(%a, %b)\n"                                                              \
    "}\n\n"                                                                                        \
    "%f (p: f32[256,256], q: f32[256,256]) -> f32[256] {\n"                                        \
    "  %p = f32[256,256] parameter(0)\n"                                                           \
    "  %q = f32[256,256] parameter(1)\n"                                                           \
    "  %z = f32[] constant(0)\n"                                                                   \
    more                                                                                           \
    "  %one = f32[256] reduce(" of ", %z), dimensions={0}, to_apply=%add\n"                        \
    "  %other = f32[256] reduce(%p, %z), dimensions={1}, to_apply=%add\n"                          \
    "  ROOT %m = f32[256] multiply(%one, %other)\n"                                                \
    "}\n\n"                                                                                        \
    "ENTRY %main {\n"                                                                              \
    "  %x = f32[32,256] parameter(0), sharding={devices=[8,1]<=[8]}\n"                             \
    "  %y = f32[256,256] parameter(1), sharding={replicated}\n"                                    \
    "  %ag = f32[256,256] all-gather(%x), channel_id=1, dimensions={0}, " EIGHT ", "               \
    AT("all_gather", "7")                                                                          \
    "  ROOT %r = f32[256] fusion(" takes "), kind=kLoop, calls=%f, " AT("reduce_sum", "8")          \
    "}\n"
/* clang-format on */
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
    {UPDATE(", input_output_alias={ {}: (1, {}, may-alias) }", "kernel"), DOCTOR_UNWANTED,
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
    /* Once behind the loop, where it adds and does not read what it has added up. */
    {LOOP("add", "psum", ADDED, "%ys", COUNTED), DOCTOR_UNWANTED, "every trip", "behind the loop"},
    {LOOP("add", "psum", "  %acc = f32[256] fusion(%c, %ar), kind=kLoop, calls=%added\n", "%ys",
          COUNTED),
     DOCTOR_UNWANTED, "every trip", "behind the loop"},
    {LOOP("maximum", "pmax", ADDED, "%ys", COUNTED), DOCTOR_WANTED, "written so", ""},
    {LOOP("add", "psum", "  %acc = f32[256] fusion(%c, %ar), kind=kLoop, calls=%rooted\n", "%ys",
          COUNTED),
     DOCTOR_WANTED, "written so", ""},
    {LOOP("add", "psum",
          ADDED "  %u = f32[1,256] reshape(%acc)\n"
                "  %ys2 = f32[6,256] dynamic-update-slice(%ys, %u, %i, %zero)\n",
          "%ys2", COUNTED),
     DOCTOR_WANTED, "written so", ""},
    {LOOP("add", "psum", ADDED, "%ys",
          "  %tot = f32[256] get-tuple-element(%q), index=1\n"
          "  %t0 = f32[1] slice(%tot), slice={[0:1]}\n"
          "  %t1 = f32[] reshape(%t0)\n"
          "  %big = f32[] constant(100)\n"
          "  ROOT %lt = pred[] compare(%t1, %big), direction=LT\n"),
     DOCTOR_WANTED, "written so", ""},
    /* Gathered for a sum along the gathered dim, not along one as large or of one turned. */
    {GATHERED("", "%ag", "0"), DOCTOR_UNWANTED, "adds them up", "the sum of its own part"},
    {GATHERED("  %b = bf16[256,256] convert(%ag)\n  %f = f32[256,256] convert(%b)\n", "%f", "0"),
     DOCTOR_UNWANTED, "adds them up", "the sum of its own part"},
    {GATHERED("", "%ag", "1"), DOCTOR_WANTED, "written so", ""},
    {GATHERED("  %tr = f32[256,256] transpose(%ag), dimensions={1,0}\n", "%tr", "0"), DOCTOR_WANTED,
     "written so", ""},
    {FUSED("%y, %ag", "", "%q"), DOCTOR_UNWANTED, "adds them up", "the sum of its own part"},
    {FUSED("%y, %ag", "  %b = bf16[256,256] convert(%q)\n", "%b"), DOCTOR_UNWANTED, "adds them up",
     "the sum of its own part"},
    {FUSED("%y, %ag", "  %tr = f32[256,256] transpose(%q), dimensions={1,0}\n", "%tr"),
     DOCTOR_WANTED, "written so", ""},
    {FUSED("%ag, %y", "", "%q"), DOCTOR_WANTED, "written so", ""},
};

/* What is there in its place, and how often. */
static const struct {
    const char *text;
    enum collective_kind kind;
    double bytes, trips;
} left[] = {
    {LOOP("add", "psum", ADDED, "%ys", COUNTED), COLLECTIVE_ALL_REDUCE, 1024, 1},
    {LOOP("add", "psum", OWN, "%ys", COUNTED), COLLECTIVE_REDUCE_SCATTER, 128, 6},
    {LOOP("add", "dot_general", OWN, "%ys", COUNTED), COLLECTIVE_REDUCE_SCATTER, 128, 6},
    {GATHERED("", "%ag", "0"), COLLECTIVE_ALL_REDUCE, 1024, 1},
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

static void what_is_left_is_priced(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof left / sizeof *left; k++) {
        struct hlo_module *m;
        struct doctor d;
        const struct doctor_finding *f = first_finding(left[k].text, &m, &d);
        assert_int_equal(f->cured.kind, left[k].kind);
        assert_true(f->cured.bytes == left[k].bytes);
        assert_true(f->cured_trips == left[k].trips);
        doctor_release(&d);
        hlo_free(m);
    }
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

/* Processor time of the doctor over that of reading the dump: a ratio, whatever the machine does.
 */
static double times_of_reading(const char *text)
{
    struct hlo_module *m;
    struct doctor d;
    struct err e = {0};
    clock_t begin = clock();

    assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
    clock_t read = clock();
    assert_int_equal(doctor_new(m, NULL, NULL, &d, &e), 0);
    clock_t end = clock();
    doctor_release(&d);
    hlo_free(m);
    print_message("%.1f times\n", (double)(end - read) / (double)(read - begin + 1));
    return (double)(end - read) / (double)(read - begin + 1);
}

/* Eight ways from each of seven calls to the next, and a fusion of as many operands: not every path
 * is gone for every operand again. */
static void many_paths_are_not_all_gone(void **state)
{
    enum { OPERANDS = 64, CALLS = 7, WAYS = 8 };
    struct str text = {0};

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
    assert_true(times_of_reading(text.text) < 100); /* all of them: 1,300 */
    str_release(&text);
}

/* Gathers of one line, each taken by many, and as many concatenates of many operands: not each of
 * one with each of the other. */
static void many_of_a_line_are_not_all_compared(void **state)
{
    enum { GATHERS = 1000, COPIES = 63, OPERANDS = 64 };
    struct str text = {0};

    (void)state;
    str_add(&text,
            HEAD("") "ENTRY %main {\n  %x = f32[8] parameter(0), sharding={devices=[8]<=[8]}\n");
    for (int k = 0; k < GATHERS; k++) {
        str_format(&text, "  %%c%d = f32[512] concatenate(%%x", k);
        for (int n = 1; n < OPERANDS; n++)
            str_add(&text, ", %x");
        str_format(
            &text,
            "), dimensions={0}, " AT("concatenate", "7") "  %%g%d = f32[64] all-gather(%%x), "
                                                         "channel_id=%d, dimensions={0}, " EIGHT
                                                         ", " AT("concatenate", "7"),
            k, k + 1);
        for (int n = 0; n < COPIES; n++)
            str_format(&text, "  %%u%d_%d = f32[64] copy(%%g%d)\n", k, n, k);
    }
    str_add(&text, "  ROOT %t = f32[64] tanh(%g0)\n}\n");
    assert_true(times_of_reading(text.text) < 30); /* all of them: 100 */
    str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_say),
        cmocka_unit_test(what_is_left_is_priced),
        cmocka_unit_test(tiles_beyond_all_devices_are_none),
        cmocka_unit_test(many_paths_are_not_all_gone),
        cmocka_unit_test(many_of_a_line_are_not_all_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
