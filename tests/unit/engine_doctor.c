/* The doctor without a dump at hand: the mesh of a program's shardings, and a change found by
 * planning again whose figures are of one source. */
#include "engine/doctor/doctor.h"
#include "engine/doctor/groups.h"
#include "engine/doctor/together.h"
#include "engine/doctor/wishes.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "example.h"

#include <math.h>

static struct hlo_module *load(const char *text)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e))
        fail_msg("%s", e.what);
    return m;
}

static void the_mesh_is_what_all_shardings_are_of(void **state)
{
    static const struct {
        uint32_t devices;
        const char *shardings[3], *mesh;
    } cases[] = {
        {8, {"{replicated}"}, "8"},
        {8, {"{devices=[8,1]<=[8]}"}, "8"},
        {8, {"{devices=[2,4]<=[8]}"}, "2x4"},
        {8, {"{devices=[2,4]<=[4,2]T(1,0)}"}, "4x2"},
        {8, {"{devices=[8,1]<=[4,2]T(1,0)}"}, "4x2"},
        {8, {"{devices=[8,1]<=[8]}", "{devices=[4,2]<=[8]}", "{devices=[1,8]<=[8]}"}, "4x2"},
        {8, {"{devices=[4,2]<=[8]}", "{devices=[2,4]<=[8]}"}, "2x2x2"},
        {8, {"{devices=[4,1,2]<=[8] last_tile_dim_replicate}", "{devices=[2,4]<=[8]}"}, "2x2x2"},
        {4, {"{devices=[2,2]0,2,1,3}"}, "2x2"},
        {4, {"{devices=[4,1]0,1,2,3}"}, "4"},
        {16, {"{devices=[4,4]<=[16]}", "{devices=[2,8]<=[16]}", "{devices=[8,2]<=[16]}"}, "2x2x4"},
        {6, {"{devices=[2,3]<=[6]}", "{devices=[3,2]<=[6]}"}, "2x3"},
        {8, {"{devices=[2,2]<=[4]}", "{devices=[99999999,1]<=[8]}", "{devices=[2,4]<=[0]}"}, "8"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct str text = {0};
        char mesh[64];
        str_add(&text, "HloModule m\nENTRY e {\n");
        for (int n = 0; n < 3; n++)
            str_format(&text, "  p%d = f32[64,64] parameter(%d), sharding=%s\n", n, n,
                       cases[k].shardings[n] ? cases[k].shardings[n] : "{replicated}");
        str_add(&text, "  ROOT t = (f32[64,64], f32[64,64], f32[64,64]) tuple(p0, p1, p2)\n}\n");
        struct hlo_module *m = load(text.text);
        doctor_mesh_of(m, cases[k].devices, mesh, sizeof mesh);
        assert_string_equal(mesh, cases[k].mesh);
        hlo_free(m);
        str_release(&text);
    }
}

/* What XLA's partitioner (jaxlib 0.10.2) makes of a step whose constraint asks for a split that it
 * knows no way to: the value gathered whole, dim by dim, and cut again. */
#define LINES                                                                             \
    "FileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"                  \
    "1 {file_name_id=1 function_name_id=1 line=11 end_line=11 column=8 end_column=8}\n"   \
    "2 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=8 end_column=8}\n"   \
    "3 {file_name_id=1 function_name_id=1 line=13 end_line=13 column=8 end_column=8}\n\n" \
    "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"                             \
    "2 {file_location_id=2 parent_frame_id=1}\n3 {file_location_id=3 parent_frame_id=1}\n\n"
#define ADD "metadata={op_name=\"jit(f)/add\" stack_frame_id=1}\n"
#define ASK "metadata={op_name=\"jit(f)/sharding_constraint\" stack_frame_id=2}\n"
static const char before[] =
    "HloModule f, num_partitions=8\n\n" LINES "ENTRY main {\n"
    "  r = f32[64,64,64] parameter(2), sharding={devices=[1,8,1]<=[8]}\n"
    "  p = f32[64,64,64] parameter(0), sharding={devices=[2,1,4]<=[4,2]T(1,0)}\n"
    "  q = f32[64,64,64] parameter(1), sharding={devices=[2,1,4]<=[4,2]T(1,0)}\n"
    "  add.2 = f32[64,64,64] add(p, q), " ADD
    "  ask = f32[64,64,64] custom-call(add.2), custom_call_target=\"Sharding\", "
    "sharding={devices=[1,8,1]<=[8]}, " ASK
    "  ROOT add.3 = f32[64,64,64] add(r, ask), sharding={devices=[1,8,1]<=[8]}, "
    "metadata={op_name=\"jit(f)/add\" stack_frame_id=3}\n}\n";
static const char after[] =
    "HloModule f, num_partitions=8\n\n" LINES "ENTRY main_spmd {\n"
    "  r = f32[64,8,64] parameter(2), sharding={devices=[1,8,1]<=[8]}\n"
    "  p = f32[32,64,16] parameter(0), sharding={devices=[2,1,4]<=[4,2]T(1,0)}\n"
    "  q = f32[32,64,16] parameter(1), sharding={devices=[2,1,4]<=[4,2]T(1,0)}\n"
    "  add.1 = f32[32,64,16] add(p, q), " ADD
    "  all-gather = f32[32,64,64] all-gather(add.1), channel_id=1, "
    "replica_groups=mesh['axis_0'=2,'axis_1'=1,'axis_2'=4], device_ids=([4,2]T(1,0)) {'axis_2'}, "
    "dimensions={2}, use_global_device_ids=true, " ADD
    "  all-gather.1 = f32[64,64,64] all-gather(all-gather), channel_id=2, "
    "replica_groups=mesh['axis_0'=2,'axis_1'=1,'axis_2'=4], device_ids=([4,2]T(1,0)) {'axis_0'}, "
    "dimensions={0}, use_global_device_ids=true, " ADD "  zero = s32[] constant(0), " ADD
    "  starts = s32[8] constant({0, 8, 16, 24, 32, 40, 48, 56}), " ADD
    "  id = u32[] partition-id()\n"
    "  at = s32[1] dynamic-slice(starts, id), dynamic_slice_sizes={1}, " ADD
    "  n = s32[] reshape(at), " ADD
    "  cut = f32[64,8,64] dynamic-slice(all-gather.1, zero, n, zero), "
    "dynamic_slice_sizes={64,8,64}, " ADD "  ask = f32[64,8,64] copy(cut), " ASK
    "  ROOT add.6 = f32[64,8,64] add(r, ask), "
    "metadata={op_name=\"jit(f)/add\" stack_frame_id=3}\n}\n";

static void a_way_in_steps_is_priced_against_the_whole_value(void **state)
{
    struct hlo_module *m = load(after), *program = load(before);
    struct doctor_total now, cured;
    struct doctor d;
    struct err e = {0};

    (void)state;
    if (doctor_new(m, program, NULL, &d, &e))
        fail_msg("%s", e.what);
    assert_int_equal(d.count, 2);
    doctor_sum(&d, &(struct doctor_row){0, 2}, &now, &cured);
    assert_int_equal(doctor_replan(&d, load(before), NULL, &e), 0);
    for (uint32_t k = 0; k < d.count; k++) {
        const struct doctor_planned *p = &d.findings[k].planned;
        assert_non_null(p->change);
        assert_non_null(strstr(p->change, "in between"));
        assert_true(p->bytes == 2 * 131072);
        assert_int_equal(p->count, 2);
        assert_int_equal(p->now_count, 2);
        /* By the plan's prices, which are the dump's: the same collectives. */
        assert_true(fabs(p->now_ms - now.ms) < 1e-9 * now.ms);
        assert_true(fabs(p->saves_ms - (p->now_ms - p->ms)) < 1e-12 && p->saves_ms > 0);
    }
    doctor_release(&d);
    hlo_free(m);
    hlo_free(program);
}

/* A layer: two values that meet in the split of the second, to which no direct way leads. */
static void add_layer(struct str *out, int k, bool is_after)
{
    static const char op[] =
        "metadata={op_name=\"jit(f)/%s\" source_file=\"a.py\" source_line=%d}\n";
    const char *from = is_after ? "[32,64,16]" : "[64,64,64]", *to = is_after ? "[64,8,64]" : from;

    for (const char *name = "pq"; *name; name++)
        str_format(out, "%c%d = f32%s parameter(%d), sharding={devices=[2,1,4]<=[4,2]T(1,0)}\n",
                   *name, k, from, 4 * k + (*name == 'q'));
    str_format(out, "r%d = f32%s parameter(%d), sharding={devices=[1,8,1]<=[8]}\n", k, to,
               4 * k + 2);
    str_format(out, "w%d = f32[64,64] parameter(%d), sharding={replicated}\n", k, 4 * k + 3);
    str_format(out, "a%d = f32%s add(p%d, q%d), ", k, from, k, k);
    str_format(out, op, "add", 10 * k + 1);
    if (is_after) {
        str_format(out,
                   "g%d = f32[32,64,64] all-gather(a%d), channel_id=%d, dimensions={2}, "
                   "replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true, ",
                   k, k, 2 * k + 1);
        str_format(out, op, "add", 10 * k + 1);
        str_format(out,
                   "h%d = f32[64,64,64] all-gather(g%d), channel_id=%d, dimensions={0}, "
                   "replica_groups=[4,2]<=[8], use_global_device_ids=true, ",
                   k, k, 2 * k + 2);
        str_format(out, op, "add", 10 * k + 1);
        str_format(
            out,
            "e%d = s32[1] dynamic-slice(c, pid), dynamic_slice_sizes={1}\n"
            "f%d = s32[] reshape(e%d)\n"
            "d%d = f32[64,8,64] dynamic-slice(h%d, z, f%d, z), dynamic_slice_sizes={64,8,64}, ",
            k, k, k, k, k, k);
        str_format(out, op, "add", 10 * k + 1);
        str_format(out, "s%d = f32[64,8,64] copy(d%d), ", k, k);
    } else {
        str_format(out,
                   "s%d = f32%s custom-call(a%d), custom_call_target=\"Sharding\", "
                   "sharding={devices=[1,8,1]<=[8]}, ",
                   k, to, k);
    }
    str_format(out, op, "sharding_constraint", 10 * k + 2);
    str_format(out, "o%d = f32%s add(r%d, s%d), ", k, to, k, k);
    str_format(out, op, "add", 10 * k + 3);
    str_format(out,
               "y%d = f32%s dot(o%d, w%d), lhs_contracting_dims={2}, rhs_contracting_dims={0}, ", k,
               to, k, k);
    str_format(out, op, "dot_general", 10 * k + 4);
}

static struct hlo_module *load_layers(int count, bool is_after)
{
    struct str text = {0};

    str_format(&text, "HloModule jit_f, num_partitions=%d\n\nENTRY main {\n", is_after ? 8 : 1);
    if (is_after)
        str_add(&text, "pid = u32[] partition-id()\nz = s32[] constant(0)\n"
                       "c = s32[8] constant({0,8,16,24,32,40,48,56})\n");
    for (int k = 0; k < count; k++)
        add_layer(&text, k, is_after);
    str_add(&text, "ROOT t = (");
    for (int k = 0; k < count; k++)
        str_format(&text, "%sf32%s", k ? ", " : "", is_after ? "[64,8,64]" : "[64,64,64]");
    str_add(&text, ") tuple(");
    for (int k = 0; k < count; k++)
        str_format(&text, "%sy%d", k ? ", " : "", k);
    str_add(&text, ")\n}\n");
    struct hlo_module *m = load(text.text);
    str_release(&text);
    return m;
}

/* The words of all of them are the same; each saves. */
static void ways_of_several_layers_all_count(void **state)
{
    enum { LAYERS = 3 };
    struct hlo_module *m = load_layers(LAYERS, true), *program = load_layers(LAYERS, false);
    struct doctor_total now, cured;
    struct doctor d;
    struct err e = {0};

    (void)state;
    if (doctor_new(m, program, NULL, &d, &e))
        fail_msg("%s", e.what);
    assert_int_equal(d.count, 2 * LAYERS);
    doctor_sum(&d, &(struct doctor_row){0, d.count}, &now, &cured);
    assert_int_equal(doctor_replan(&d, load_layers(LAYERS, false), NULL, &e), 0);
    for (uint32_t k = 0; k < d.count; k++)
        assert_string_equal(d.findings[k].planned.change, "a constraint in between: P('y', 'x')");
    assert_int_equal(d.together.changes, LAYERS);
    assert_int_equal(d.together.offered, LAYERS);
    assert_true(fabs(d.together.now_ms - now.ms) < 1e-9 * now.ms);
    assert_true(d.together.ms < now.ms);
    doctor_release(&d);
    hlo_free(m);
    hlo_free(program);
}

static uint32_t wish_called(const struct problem *p, const struct doctor_wish *wishes,
                            uint32_t count, const char *name)
{
    for (uint32_t k = 0; k < count; k++) {
        if (!strcmp(hlo_name(p->m, wishes[k].id), name))
            return k;
    }
    fail_msg("no sharding of %s", name);
    return 0;
}

/* One that no plan keeps stands in the way of two that save; another saves nothing. */
static void changes_not_tried_undo_nothing(void **state)
{
    static const struct {
        uint32_t solves, changes, untried;
        const char *says;
    } cases[] = {
        {8, 2, 1, ", 1 undo them, 1 were not tried"},
        {4, 2, 2, ", 2 were not tried"},
        {3, 1, 3, ", 3 were not tried"},
    };
    enum { LAYERS = 3, WISHES_MOST = 32 };
    struct hlo_module *m = load_layers(LAYERS, true), *program = load_layers(LAYERS, false);
    struct problem_options o = {.reduce_at_once = true};
    struct relaxed_options how = {.folding = RELAXED_FOLD_OFF, .reduce_at_once = true};
    struct doctor_wish wishes[WISHES_MOST];
    uint32_t count = 0;
    struct doctor d;
    struct problem p;
    struct relaxed *r;
    struct err e = {0};

    (void)state;
    assert_int_equal(doctor_new(m, NULL, NULL, &d, &e), 0);
    doctor_wishes_as_copies(program);
    doctor_mesh_of(program, d.devices, o.mesh, sizeof o.mesh);
    if (problem_new(program, NULL, &d.cluster, &o, &p, &e) || relaxed_new(&p, &how, &r, &e))
        fail_msg("%s", e.what);
    for (hlo_id id = 0; id < p.m->count && count < WISHES_MOST; id++)
        count += doctor_wish_of(&p, id, &wishes[count]) &&
                 !relaxed_hold(r, id, &wishes[count].asked, 1, &e);
    uint32_t r0 = wish_called(&p, wishes, count, "r0"), s0 = wish_called(&p, wishes, count, "s0");
    uint32_t r1 = wish_called(&p, wishes, count, "r1"), s1 = wish_called(&p, wishes, count, "s1");
    uint32_t s2 = wish_called(&p, wishes, count, "s2");
    status none = status_with(0, 0, STATUS_PARTIAL);
    status same = wishes[wish_called(&p, wishes, count, "p0")].asked;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct offer offers[] = {
            {.saves_ms = 4, .count = 2, .wish = {r0, r1}, .to = {none, same}},
            {.saves_ms = 3, .count = 2, .wish = {r0, s0}, .to = {same, same}},
            {.saves_ms = 2, .count = 2, .wish = {r1, s1}, .to = {same, same}},
            {.saves_ms = 1, .count = 1, .wish = {s2}, .to = {wishes[s2].asked}},
        };
        struct together t = {.r = r,
                             .wishes = wishes,
                             .wish_count = count,
                             .step_ms = 1e9,
                             .solves = cases[k].solves};
        char others[64];
        assert_int_equal(together_solve(&t, offers, 4, &e), 0);
        assert_int_equal(t.offered, 4);
        assert_int_equal(t.changes, cases[k].changes);
        assert_int_equal(t.untried, cases[k].untried);
        struct doctor_together said = {
            .changes = t.changes, .offered = t.offered, .untried = t.untried};
        assert_string_equal(doctor_left_out(others, sizeof others, &said), cases[k].says);
        relaxed_plan_release(&t.plan);
    }
    relaxed_free(r);
    problem_release(&p);
    doctor_release(&d);
    hlo_free(m);
}

/* On a cluster where the dump's own prices are other than those of the program planned (its devices
 * lie elsewhere), "now" still is what the plan's collectives take. */
static void now_is_of_the_plan(void **state)
{
    struct hlo_module *m = load(after), *program = load(before);
    struct doctor d;
    struct err e = {0};

    (void)state;
    if (doctor_new(m, program, NULL, &d, &e))
        fail_msg("%s", e.what);
    for (uint32_t k = 0; k < d.count; k++)
        d.findings[k].once.ms *= 1000; /* as if something else had sent it */
    assert_int_equal(doctor_replan(&d, load(before), NULL, &e), 0);
    assert_true(d.findings[0].planned.now_ms < d.findings[0].once.ms / 100);
    doctor_release(&d);
    hlo_free(m);
    hlo_free(program);
}

/* The one finding of a module with one collective, or pair. */
static struct doctor_finding only_finding(const char *text)
{
    struct hlo_module *m = load(text);
    struct doctor d;
    struct err e = {0};

    if (doctor_new(m, NULL, NULL, &d, &e))
        fail_msg("%s\n%s", e.what, text);
    if (d.count != 1)
        fail_msg("%u collectives in\n%s", d.count, text);
    struct doctor_finding f = d.findings[0];
    f.because = f.cure = NULL; /* the doctor's */
    doctor_release(&d);
    hlo_free(m);
    return f;
}

/* What a device sends is b(g-1)/g of an all-gather or all-to-all, twice that of an all-reduce,
 * b(g-1) of a reduce-scatter, b of a permute: of the result's bytes, and once for a pair. */
static void every_form_is_priced(void **state)
{
    static const char groups[] = "replica_groups={{0,1,2,3}}, channel_id=1, "
                                 "use_global_device_ids=true";
    static const struct {
        const char *text; /* %s: the groups */
        double bytes, sent;
    } cases[] = {
        {"ROOT r = f32[64,8] all-gather(p), dimensions={0}, %s", 2048, 1536},
        {"s = (f32[16,8], f32[64,8]) all-gather-start(p), dimensions={0}, %s\n"
         "  ROOT r = f32[64,8] all-gather-done(s)",
         2048, 1536},
        {"ROOT r = f32[16,8] all-reduce(p), to_apply=add, %s", 512, 768},
        {"s = f32[16,8] all-reduce-start(p), to_apply=add, %s\n"
         "  ROOT r = f32[16,8] all-reduce-done(s)",
         512, 768},
        {"ROOT r = (f32[16,8], f32[16,8]) all-reduce(p, p), to_apply=add, %s", 1024, 1536},
        {"ROOT r = f32[4,8] reduce-scatter(p), dimensions={0}, to_apply=add, %s", 128, 384},
        {"s = ((f32[16,8]), f32[4,8]) async-start(p), calls=scatter\n"
         "  ROOT r = f32[4,8] async-done(s)",
         128, 384},
        {"ROOT r = f32[16,8] all-to-all(p), dimensions={0}, %s", 512, 384},
        {"ROOT r = f32[16,8] collective-permute(p), channel_id=1, "
         "source_target_pairs={{0,1},{1,2},{2,3}}",
         512, 512},
        {"s = (f32[16,8], f32[16,8], u32[], u32[]) collective-permute-start(p), channel_id=1, "
         "source_target_pairs={{0,1},{1,2},{2,3}}\n"
         "  ROOT r = f32[16,8] collective-permute-done(s)",
         512, 512},
        {"ROOT r = f32[16,8] collective-permute(p), channel_id=1, "
         "source_target_pairs={{0,0},{1,1},{2,2},{3,3}}",
         512, 0},
        {"ROOT r = f32[16,8] collective-broadcast(p), %s", 512, 512},
        {"o = s32[4] constant({0, 0, 0, 0})\n"
         "  ROOT r = f32[16,8] ragged-all-to-all(p, p, o, o, o, o), %s",
         512, 384},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct str text = {0};
        str_add(&text, "HloModule m, num_partitions=4\n\nadd {\n  x = f32[] parameter(0)\n"
                       "  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n\n");
        if (strstr(cases[k].text, "calls=scatter"))
            str_format(&text,
                       "scatter {\n  q = f32[16,8] parameter(0)\n  ROOT t = f32[4,8] "
                       "reduce-scatter(q), dimensions={0}, to_apply=add, %s\n}\n\n",
                       groups);
        str_add(&text, "ENTRY e_spmd {\n  p = f32[16,8] parameter(0)\n  ");
        const char *at = strstr(cases[k].text, "%s");
        str_format(&text, "%.*s%s%s\n}\n", (int)(at ? at - cases[k].text : 0), cases[k].text,
                   at ? groups : "", at ? at + 2 : cases[k].text);
        struct doctor_finding f = only_finding(text.text);
        if (f.once.bytes != cases[k].bytes || f.once.sent != cases[k].sent)
            fail_msg("%g B, sent %g:\n%s", f.once.bytes, f.once.sent, text.text);
        assert_true((f.once.ms > 0) == (f.once.sent > 0));
        assert_true(f.trips == 1);
        str_release(&text);
    }
}

/* XLA prints groups in three ways, and pmap's in replicas; all of them mean the same devices. */
static void groups_mean_the_same(void **state)
{
    static const char *const ways[] = {
        "HloModule m, num_partitions=8|channel_id=1, replica_groups={{0,4},{1,5},{2,6},{3,7}}",
        "HloModule m, num_partitions=8|channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0)",
        "HloModule m, num_partitions=8|channel_id=1, replica_groups=mesh['a'=2,'b'=4] {'a'}",
        ("HloModule m, num_partitions=8|channel_id=1, replica_groups=mesh['b'=4,'a'=2], "
         "device_ids=([2,4]T(1,0)) {'a'}"),
        "HloModule m, num_partitions=8|channel_id=1, replica_groups=mesh['a'=8] {'a':(1)2}",
        "HloModule m, replica_count=8|replica_groups={{0,4},{1,5},{2,6},{3,7}}",
    };
    double ms = 0;

    (void)state;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        const char *bar = strchr(ways[k], '|');
        struct str text = {0};
        str_format(&text,
                   "%.*s\n\nENTRY e_spmd {\n  p = f32[16,8] parameter(0)\n"
                   "  ROOT r = f32[32,8] all-gather(p), dimensions={0}, %s\n}\n",
                   (int)(bar - ways[k]), ways[k], bar + 1);
        static const uint32_t members[] = {0, 4, 1, 5, 2, 6, 3, 7};
        struct hlo_module *m = load(text.text);
        struct device_groups g;
        struct err e = {0};
        assert_int_equal(device_groups_of(m, m->computations[m->entry].root, 8, &g, &e), 0);
        assert_int_equal(g.size, 2);
        assert_memory_equal(g.member, members, sizeof members);
        device_groups_release(&g);
        hlo_free(m);
        struct doctor_finding f = only_finding(text.text);
        assert_int_equal(f.once.group, 2);
        assert_true(f.once.sent == 512);
        assert_true((f.cause == DOCTOR_BY_HAND) == (strstr(ways[k], "replica_count") != NULL));
        ms = k ? ms : f.once.ms;
        assert_true(ms > 0 && f.once.ms == ms);
        str_release(&text);
    }
}

/* Which devices hold the same part, by the text of a sharding. */
static void same_parts_are_known(void **state)
{
    static const struct {
        const char *groups, *sharding;
        bool same;
    } cases[] = {
        {"[2,4]<=[8]", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}", true},
        {"[4,2]<=[2,4]T(1,0)", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}", false},
        {"[4,2]<=[2,4]T(1,0)", "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}", true},
        {"[2,4]<=[8]", "{devices=[4,1,2]<=[8] last_tile_dim_replicate}", false},
        {"[1,8]<=[8]", "{replicated}", true},
        {"[1,8]<=[8]", "{devices=[8,1]<=[8]}", false},
        {"[1,8]<=[8]", "{devices=[2,1,4]<=[4] last_tile_dim_replicate}", false},
        {"[1,8]<=[8]", "{devices=[0,8]<=[8] last_tile_dim_replicate}", false},
        {"[1,8]<=[8]", "{devices=", false},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct str text = {0};
        struct device_groups g;
        struct err e = {0};
        str_format(&text,
                   "HloModule m, num_partitions=8\n\nENTRY e_spmd {\n"
                   "  p = f32[16,8] parameter(0)\n"
                   "  ROOT r = f32[16,8] all-to-all(p), dimensions={0}, replica_groups=%s\n}\n",
                   cases[k].groups);
        struct hlo_module *m = load(text.text);
        assert_int_equal(device_groups_of(m, m->computations[m->entry].root, 8, &g, &e), 0);
        const char *s = cases[k].sharding;
        if (device_groups_have_same(&g, s, strlen(s)) != cases[k].same)
            fail_msg("groups %s of %s", cases[k].groups, s);
        device_groups_release(&g);
        hlo_free(m);
        str_release(&text);
    }
}

/* What a device cuts out of a replicated value by its number is its own: the weight gathered for it
 * is wanted, though the parameter behind the cut is the same on all devices. */
static void a_cut_is_no_repeated_work(void **state)
{
    static const char text[] =
        "HloModule m, is_scheduled=true, num_partitions=4\n\n"
        "cut {\n  a = f32[64,32] parameter(0)\n  id = u32[] parameter(1)\n  z = s32[] constant(0)\n"
        "  c = s32[] convert(id)\n  k = s32[] constant(16)\n  o = s32[] multiply(c, k)\n"
        "  d = f32[16,32] dynamic-slice(a, o, z), dynamic_slice_sizes={16,32}\n"
        "  ROOT t = f32[16,32] tanh(d)\n}\n\n"
        "all {\n  a = f32[64,32] parameter(0)\n  ROOT t = f32[64,32] tanh(a)\n}\n\n"
        "ENTRY e {\n  x = f32[64,32] parameter(0), sharding={replicated}\n"
        "  w = f32[8,128] parameter(1), sharding={devices=[4,1]<=[4]}, "
        "metadata={op_name=\"kernel\"}\n"
        "  id = u32[] partition-id()\n  f = %s, metadata={op_name=\"jit(f)/tanh\"}\n"
        "  g = f32[32,128] all-gather(w), dimensions={0}, replica_groups={{0,1,2,3}}, "
        "channel_id=1, use_global_device_ids=true, metadata={op_name=\"jit(f)/dot_general\"}\n"
        "  ROOT r = f32[%d,128] dot(f, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
        "metadata={op_name=\"jit(f)/dot_general\"}\n}\n";
    static const struct {
        const char *work;
        int rows;
        enum doctor_verdict verdict;
    } cases[] = {
        {"f32[16,32] fusion(x, id), kind=kLoop, calls=cut", 16, DOCTOR_WANTED},
        {"f32[64,32] fusion(x), kind=kLoop, calls=all", 64, DOCTOR_UNSURE},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct str whole = {0};
        str_format(&whole, text, cases[k].work, cases[k].rows);
        struct doctor_finding f = only_finding(whole.text);
        assert_int_equal(f.cause, DOCTOR_WEIGHT);
        assert_int_equal(f.verdict, cases[k].verdict);
        str_release(&whole);
    }
}

/* A loop that takes a piece along the gathered dim, or puts one there, is why that is gathered;
 * along another it is not. */
static void a_slice_along_another_dim_gathers_nothing(void **state)
{
    static const char text[] =
        "HloModule m, num_partitions=4\n\n"
        "body {\n  s = (s32[], %s) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  w = %s get-tuple-element(s), index=1\n  one = s32[] constant(1)\n"
        "  z = s32[] constant(0)\n  n = s32[] add(i, one)\n  f = f32[] constant(0)\n"
        "  u = f32[1,32,128] broadcast(f), dimensions={}\n"
        "  g = f32[8,32,128] all-gather(w), dimensions={%d}, replica_groups={{0,1,2,3}}, "
        "channel_id=1, use_global_device_ids=true, metadata={op_name=\"jit(f)/%s\"}\n"
        "  d = %s, metadata={op_name=\"jit(f)/%s\"}\n"
        "  ROOT r = (s32[], %s) tuple(n, w)\n}\n\n"
        "cond {\n  s = (s32[], %s) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  n = s32[] constant(8)\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n\n"
        "ENTRY e_spmd {\n  w = %s parameter(0)\n  z = s32[] constant(0)\n"
        "  t = (s32[], %s) tuple(z, w)\n"
        "  ROOT l = (s32[], %s) while(t), condition=cond, body=body\n}\n";
    static const struct {
        const char *name, *work;
    } slices[] = {
        {"dynamic_slice",
         "f32[1,32,128] dynamic-slice(g, i, z, z), dynamic_slice_sizes={1,32,128}"},
        {"dynamic_update_slice", "f32[8,32,128] dynamic-update-slice(g, u, i, z, z)"},
    };
    static const struct {
        const char *tile;
        int dim;
        enum doctor_cause cause;
    } cases[] = {
        {"f32[2,32,128]", 0, DOCTOR_UNSPLIT},
        {"f32[8,32,32]", 2, DOCTOR_LOOP},
    };

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct str whole = {0};
        const char *t = cases[k % 2].tile, *name = slices[k / 2].name;
        str_format(&whole, text, t, t, cases[k % 2].dim, name, slices[k / 2].work, name, t, t, t, t,
                   t);
        assert_int_equal(only_finding(whole.text).cause, cases[k % 2].cause);
        str_release(&whole);
    }
}

/* A reshape that nothing reads stands for a result of its own shape alone. */
static void a_result_keeps_its_shape(void **state)
{
    static const struct {
        const char *shape;
        bool is_result;
    } cases[] = {{"f32[4,8]", true}, {"f32[32]", false}, {"f32[4,8,1]", false}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct str text = {0};
        str_format(&text,
                   "HloModule m, num_partitions=2\n\nENTRY e {\n  p = f32[4,8] parameter(0)\n"
                   "  t = f32[4,8] tanh(p)\n  x = %s reshape(t), sharding={replicated}\n"
                   "  ROOT r = (f32[4,8]) tuple(t), sharding={{replicated}}\n}\n",
                   cases[k].shape);
        struct hlo_module *m = load(text.text);
        doctor_wishes_as_copies(m);
        hlo_id taken = hlo_operand(m, m->computations[m->entry].root, 0);
        assert_string_equal(hlo_name(m, taken), cases[k].is_result ? "x" : "t");
        assert_int_equal(hlo_at(m, taken)->opcode, cases[k].is_result ? HLO_OP_COPY : HLO_OP_TANH);
        hlo_free(m);
        str_release(&text);
    }
}

#define HEAD "HloModule m, frontend_attributes={xla.sdy.meshes={"
#define BY_HAND                                                           \
    "}}\n\nENTRY e {\n  p = f32[16,8] parameter(0)\n"                     \
    "  ROOT r = f32[128,8] all-gather(p), dimensions={0}, channel_id=1, " \
    "replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, "    \
    "metadata={op_name=\"shard_map/all_gather\"}\n}\n"

/* shard_map lowered alone: its mesh says for how many devices, or a cluster does. */
static void written_for_each_device(void **state)
{
    struct hlo_module *m = load(HEAD "mesh = #sdy.mesh<[\"data\"=4, \"model\"=2]>" BY_HAND);
    struct hlo_module *without = load("HloModule m, frontend_attributes={a={b=1" BY_HAND);
    struct cluster c;
    struct doctor d;
    struct err e = {0};

    (void)state;
    if (doctor_new(m, NULL, NULL, &d, &e))
        fail_msg("%s", e.what);
    assert_int_equal(d.devices, 8);
    assert_int_equal(d.findings[0].cause, DOCTOR_BY_HAND);
    assert_true(d.findings[0].once.sent == 4096 * 7 / 8.0);
    doctor_release(&d);
    assert_int_equal(doctor_new(without, NULL, NULL, &d, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "for how many"));
    assert_int_equal(cluster_of_devices(&c, 8, &e), 0);
    assert_int_equal(doctor_new(without, NULL, &c, &d, &e), 0);
    assert_true(d.findings[0].once.sent == 4096 * 7 / 8.0);
    doctor_release(&d);
    hlo_free(m);
    hlo_free(without);
}

/* A product of axes that no number holds is no small one. */
static void a_mesh_too_large_has_no_devices(void **state)
{
    static const struct {
        const char *axes;
        uint32_t devices;
    } cases[] = {
        {"\"a\"=2, \"b\"=4", 8},
        {"\"a\"=2, \"b\"=9223372036854775810", 0},
        {"\"a\"=65536, \"b\"=65537", 0},
        {"\"a\"=99999999999999999999", 0},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct str text = {0};
        str_format(&text, HEAD "mesh = #sdy.mesh<[%s]>" BY_HAND, cases[k].axes);
        struct hlo_module *m = load(text.text);
        assert_int_equal(doctor_mesh_devices(m), cases[k].devices);
        hlo_free(m);
        str_release(&text);
    }
}

/* What has no collectives yet is no program without any. */
/* Compiling joins all-reduces and keeps one line; the elements taken out of it have the others. */
static void joined_collectives_keep_their_lines(void **state)
{
    static const char joined[] =
        "HloModule f, num_partitions=8\n\n" LINES "add {\n  a = f32[] parameter(0)\n"
        "  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
        "ENTRY main_spmd {\n  p = f32[64] parameter(0)\n  q = f32[32] parameter(1)\n"
        "  all-reduce.1 = (f32[64], f32[32], f32[32]) all-reduce(p, q, q), channel_id=1, "
        "replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=add, "
        "metadata={op_name=\"jit(f)/(a:b)\" stack_frame_id=1}\n"
        "  g = f32[64] get-tuple-element(all-reduce.1), index=0, "
        "metadata={op_name=\"jit(f)/dot_general\" stack_frame_id=1}\n"
        "  h = f32[32] get-tuple-element(all-reduce.1), index=1, "
        "metadata={op_name=\"jit(f)/dot_general\" stack_frame_id=3}\n"
        "  i = f32[32] get-tuple-element(all-reduce.1), index=2, "
        "metadata={op_name=\"jit(f)/dot_general\" stack_frame_id=3}\n"
        "  ROOT t = (f32[64], f32[32], f32[32]) tuple(g, h, i)\n}\n";
    struct hlo_module *m = load(joined);
    struct hlo_frame others[4];
    struct doctor d;
    struct err e = {0};

    (void)state;
    if (doctor_new(m, NULL, NULL, &d, &e))
        fail_msg("%s", e.what);
    assert_int_equal(d.count, 1);
    assert_int_equal(d.findings[0].line.line, 11);
    assert_int_equal(doctor_joined(&d, &d.findings[0], 4, others), 1);
    assert_int_equal(others[0].line, 13);
    assert_int_equal(doctor_joined(&d, &d.findings[0], 0, others), 0);
    doctor_release(&d);
    hlo_free(m);
}

static void unpartitioned_text_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"HloModule m, num_partitions=8\n\nENTRY e {\n  p = f32[8] parameter(0), "
         "sharding={devices=[8]<=[8]}\n  ROOT r = f32[8] add(p, p)\n}\n",
         "its 8 partitions"},
        {"HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT r = f32[8] add(p, p)\n}\n",
         "made for one device"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct hlo_module *m = load(cases[k].text);
        struct doctor d;
        struct err e = {0};
        assert_int_equal(doctor_new(m, NULL, NULL, &d, &e), ERR_INPUT);
        assert_non_null(strstr(e.what, cases[k].says));
        hlo_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mesh_is_what_all_shardings_are_of),
        cmocka_unit_test(a_way_in_steps_is_priced_against_the_whole_value),
        cmocka_unit_test(ways_of_several_layers_all_count),
        cmocka_unit_test(changes_not_tried_undo_nothing),
        cmocka_unit_test(now_is_of_the_plan),
        cmocka_unit_test(every_form_is_priced),
        cmocka_unit_test(groups_mean_the_same),
        cmocka_unit_test(same_parts_are_known),
        cmocka_unit_test(a_cut_is_no_repeated_work),
        cmocka_unit_test(a_slice_along_another_dim_gathers_nothing),
        cmocka_unit_test(a_result_keeps_its_shape),
        cmocka_unit_test(written_for_each_device),
        cmocka_unit_test(a_mesh_too_large_has_no_devices),
        cmocka_unit_test(joined_collectives_keep_their_lines),
        cmocka_unit_test(unpartitioned_text_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
