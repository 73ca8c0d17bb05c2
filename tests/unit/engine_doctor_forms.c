/* The doctor on text as XLA for GPU and TPU writes it: pairs of start and done, products that are
 * calls of a library, names with their parameters in brackets, a sum and its cut in one fusion, and
 * weights behind fusions and loops. Forms as in XLA's documents and in dumps that people have
 * published. */
#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "example.h"

#define ADD \
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
#define ALL "replica_groups={{0,1,2,3}}, use_global_device_ids=true"
#define AT(line) " source_file=\"train.py\" source_line=" #line "}"
#define DOT "dot_general[dimension_numbers=(((1,), (0,)), ((), ())) precision=None]\""

static const char gpu[] =
    "HloModule jit_step, is_scheduled=true, num_partitions=4\n\n" ADD
    "parts {\n  p.1 = f32[64,32]{1,0} parameter(0)\n"
    "  ROOT rs = f32[16,32]{1,0} reduce-scatter(p.1), channel_id=3, " ALL
    ", dimensions={0}, to_apply=add\n}\n"
    "ENTRY main_spmd {\n"
    "  x = f32[16,64]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name=\"x\"}\n"
    "  w = f32[16,32]{1,0} parameter(1), sharding={devices=[4,1]<=[4]}, "
    "metadata={op_name=\"params['w1']\"}\n"
    "  ags = (f32[16,32]{1,0}, f32[64,32]{1,0}) all-gather-start(w), channel_id=1, " ALL
    ", dimensions={0}, metadata={op_name=\"jit(step)/jit(main)/" DOT AT(
        31) ", "
            "backend_config={\"operation_queue_id\":\"0\",\"wait_on_operation_queues\":[],"
            "\"collective_backend_config\":{\"is_sync\":true,\"no_parallel_custom_call\":false}}\n"
            "  agd = f32[64,32]{1,0} all-gather-done(ags), "
            "metadata={op_name=\"jit(step)/jit(main)/" DOT AT(
                31) "\n"
                    "  gemm = (f32[16,32]{1,0}, s8[64]{0}) custom-call(x, agd), "
                    "custom_call_target=\"__cublas$gemm\", "
                    "metadata={op_name=\"jit(step)/jit(main)/" DOT AT(
                        31) "\n"
                            "  g = f32[16,32]{1,0} get-tuple-element(gemm), index=0\n"
                            "  back = f32[64,32]{1,0} dot(x, g), lhs_contracting_dims={0}, "
                            "rhs_contracting_dims={0}, "
                            "metadata={op_name=\"jit(step)/transpose(jvp())/" DOT AT(
                                33) "\n"
                                    "  rss = ((f32[64,32]{1,0}), f32[16,32]{1,0}) "
                                    "async-start(back), calls=parts, "
                                    "metadata={op_name=\"jit(step)/transpose(jvp())/" DOT AT(
                                        33) "\n"
                                            "  rsd = f32[16,32]{1,0} async-done(rss)\n"
                                            "  ata = ((f32[16,32]{1,0}), f32[16,32]{1,0}) "
                                            "all-to-all-start(g), channel_id=4, "
                                            "replica_groups={{0,1,2,3}}, dimensions={1}, "
                                            "metadata={op_name=\"jit(step)/jit(shmap_body)/"
                                            "all_to_all[axis_name=('x',) split_axis=1 "
                                            "concat_axis=0 axis_index_groups=None tiled=True]\"" AT(
                                                35) "\n"
                                                    "  atd = f32[16,32]{1,0} all-to-all-done(ata)\n"
                                                    "  l = f32[] constant(1)\n"
                                                    "  ars = f32[] all-reduce-start(l), "
                                                    "channel_id=5, replica_groups=[1,4]<=[4], "
                                                    "use_global_device_ids=true, to_apply=add, "
                                                    "metadata={op_name=\"jit(step)/jit(main)/"
                                                    "reduce_sum[axes=(0, 1) of=a/b]\"" AT(
                                                        37) "\n"
                                                            "  ard = f32[] all-reduce-done(ars)\n"
                                                            "  ROOT t = (f32[16,32]{1,0}, "
                                                            "f32[16,32]{1,0}, f32[]) tuple(rsd, "
                                                            "atd, ard)\n}\n";

static const char tpu[] =
    "HloModule jit_step, is_scheduled=true, num_partitions=4\n\n" ADD
    "all-reduce-scatter.3 {\n  p.1 = f32[64,32]{1,0} parameter(0)\n"
    "  ar = f32[64,32]{1,0} all-reduce(p.1), channel_id=3, " ALL ", to_apply=add, "
    "metadata={op_name=\"jit(step)/transpose(jvp())/dot_general\"" AT(
        33) "\n"
            "  id = u32[] partition-id()\n  t = s32[4]{0} constant({0,16,32,48})\n"
            "  at = s32[1]{0} dynamic-slice(t, id), dynamic_slice_sizes={1}\n"
            "  n = s32[] reshape(at)\n  z = s32[] constant(0)\n"
            "  ROOT ds = f32[16,32]{1,0} dynamic-slice(ar, n, z), dynamic_slice_sizes={16,32}\n}\n"
            "ENTRY main_spmd {\n  x = f32[16,64]{1,0} parameter(0)\n  g = f32[16,32]{1,0} "
            "parameter(1)\n"
            "  conv = f32[64,32]{1,0} dot(x, g), lhs_contracting_dims={0}, "
            "rhs_contracting_dims={0}, "
            "metadata={op_name=\"jit(step)/transpose(jvp())/dot_general\"" AT(
                33) "\n"
                    "  ROOT fusion.3 = f32[16,32]{1,0:T(8,128)S(1)} fusion(conv), kind=kCustom, "
                    "calls=all-reduce-scatter.3, "
                    "metadata={op_name=\"jit(step)/transpose(jvp())/dot_general\"" AT(33) "\n}\n";

static void open_dump(const char *text, struct hlo_module **m, struct doctor *d)
{
    struct err e = {0};

    if (hlo_load_memory("test", text, strlen(text), NULL, m, &e) ||
        doctor_new(*m, NULL, NULL, d, &e))
        fail_msg("%s", e.what);
}

static const struct doctor_finding *at_line(const struct doctor *d, uint32_t line)
{
    for (uint32_t k = 0; k < d->count; k++) {
        if (d->findings[k].has_line && d->findings[k].line.line == line)
            return &d->findings[k];
    }
    fail_msg("nothing at line %u", line);
    return NULL;
}

static void pairs_and_calls_for_gpu(void **state)
{
    static const struct {
        uint32_t line;
        enum collective_kind kind;
        enum doctor_cause cause;
        enum doctor_verdict verdict;
        double bytes;
    } want[] = {
        {31, COLLECTIVE_ALL_GATHER, DOCTOR_WEIGHT, DOCTOR_WANTED, 64 * 32 * 4},
        {33, COLLECTIVE_REDUCE_SCATTER, DOCTOR_PARTIAL, DOCTOR_WANTED, 16 * 32 * 4},
        {35, COLLECTIVE_ALL_TO_ALL, DOCTOR_BY_HAND, DOCTOR_WANTED, 16 * 32 * 4},
        {37, COLLECTIVE_ALL_REDUCE, DOCTOR_PARTIAL, DOCTOR_WANTED, 4},
    };
    struct hlo_module *m;
    struct doctor d;

    (void)state;
    open_dump(gpu, &m, &d);
    assert_int_equal(d.count, 4);
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        const struct doctor_finding *f = at_line(&d, want[k].line);
        assert_int_equal(f->once.kind, want[k].kind);
        assert_int_equal(f->cause, want[k].cause);
        assert_int_equal(f->verdict, want[k].verdict);
        assert_float_equal(f->once.bytes, want[k].bytes, 0.5);
        assert_int_equal(f->once.group, 4);
    }
    assert_non_null(strstr(at_line(&d, 37)->because, "one number"));
    doctor_release(&d);
    hlo_free(m);
}

/* Its sum is as large as the whole, what it sends is a reduce-scatter's. */
static void a_sum_and_its_cut_for_tpu(void **state)
{
    struct hlo_module *m;
    struct doctor d;

    (void)state;
    open_dump(tpu, &m, &d);
    assert_int_equal(d.count, 1);
    const struct doctor_finding *f = &d.findings[0];
    assert_int_equal(f->once.kind, COLLECTIVE_REDUCE_SCATTER);
    assert_float_equal(f->once.bytes, 16 * 32 * 4, 0.5);
    assert_float_equal(f->once.sent, 3 * 16 * 32 * 4, 0.5);
    assert_int_equal(f->verdict, DOCTOR_WANTED);
    assert_int_equal(f->line.line, 33);
    doctor_release(&d);
    hlo_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_and_calls_for_gpu),
        cmocka_unit_test(a_sum_and_its_cut_for_tpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
