/* The doctor without a dump at hand: the mesh of a program's shardings, and a change found by
 * planning again whose figures are of one source. */
#include "engine/doctor/doctor.h"
#include "engine/doctor/wishes.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mesh_is_what_all_shardings_are_of),
        cmocka_unit_test(a_way_in_steps_is_priced_against_the_whole_value),
        cmocka_unit_test(now_is_of_the_plan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
