/* Costs of every shipped model, opcode by opcode, as XLA's HloCostAnalysis counts them: the figures
 * of tests/ref/hlo/cost.json were written by XLA. */
#include "hlo/load.h"
#include "hlo/meaning/cost.h"

#include "opcodes_file.h"

#include <cJSON.h>
#include <math.h>

static struct hlo_module *load(const char *path)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load(path, NULL, &m, &e))
        err_print(&e, stderr);
    assert_non_null(m);
    return m;
}

static void same(const char *model, const char *what, double ours, double xla, double tolerance)
{
    if (fabs(ours - xla) > tolerance * fabs(xla))
        fail_msg("%s %s: %.17g, XLA has %.17g", model, what, ours, xla);
}

static void same_cost(const char *model, const char *what, struct hlo_cost c, const cJSON *xla,
                      double tolerance)
{
    static const char *const keys[] = {"flops", "transcendentals", "bytes"};
    const double ours[] = {c.flops, c.transcendentals, c.bytes};

    for (int i = 0; i < 3; i++) {
        char label[80];
        snprintf(label, sizeof label, "%s %s", what, keys[i]);
        const cJSON *value = cJSON_GetObjectItem(xla, keys[i]);
        assert_non_null(value);
        same(model, label, ours[i], value->valuedouble, tolerance);
    }
}

/* Sums over the entry computation, per opcode, in double precision. XLA's parts are single. */
static void check_model(const cJSON *model)
{
    char path[512];
    struct hlo_cost sums[HLO_OP_COUNT] = {{0, 0, 0}};
    struct hlo_costs costs;
    struct err e;

    snprintf(path, sizeof path, "%s/examples/models/%s.hlo.txt.gz", AUTOMAP_SOURCE_DIR,
             model->string);
    struct hlo_module *m = load(path);
    assert_int_equal(hlo_costs_new(m, &costs, &e), 0);
    const struct hlo_computation *entry = &m->computations[m->entry];
    for (hlo_id id = entry->first; id < entry->first + entry->count; id++) {
        struct hlo_cost *sum = &sums[hlo_at(m, id)->opcode];
        sum->flops += costs.instruction[id].flops;
        sum->transcendentals += costs.instruction[id].transcendentals;
        sum->bytes += costs.instruction[id].bytes;
        assert_true(costs.times[id] == 1 || costs.times[id] == 0); /* the root needs it, or not */
    }
    const cJSON *opcodes = cJSON_GetObjectItem(model, "opcodes"), *opcode;
    cJSON_ArrayForEach(opcode, opcodes)
        same_cost(model->string, opcode->string,
                  sums[hlo_op_by_name(opcode->string, strlen(opcode->string))], opcode, 1e-6);
    for (int op = 0; op < HLO_OP_COUNT; op++)
        if (!cJSON_GetObjectItemCaseSensitive(opcodes, hlo_op_info[op].name))
            assert_true(sums[op].flops + sums[op].transcendentals + sums[op].bytes == 0);
    same_cost(model->string, "total", costs.total, cJSON_GetObjectItem(model, "total"), 2e-3);
    hlo_costs_release(&costs);
    hlo_free(m);
}

static void test_models(void **state)
{
    (void)state;
    char *text = read_all(AUTOMAP_SOURCE_DIR "/tests/ref/hlo/cost.json");
    cJSON *root = cJSON_Parse(text);
    const cJSON *model, *models = cJSON_GetObjectItem(root, "models");
    int count = 0;

    cJSON_ArrayForEach(model, models)
    {
        check_model(model);
        count++;
    }
    assert_true(count >= 10);
    cJSON_Delete(root);
    free(text);
}

/* ---- one instruction ---- */

static void check_line(const struct hlo_module *m, const char *name, const char *rest,
                       void *context)
{
    hlo_id id = opcodes_find(m, name);
    const char *opcode = hlo_op_info[hlo_at(m, id)->opcode].name;
    double flops, transcendentals, bytes;
    struct hlo_costs costs;
    struct err e;

    assert_int_equal(sscanf(rest, "%lf %lf %lf", &flops, &transcendentals, &bytes), 3);
    assert_int_equal(hlo_costs_new(m, &costs, &e), 0);
    ++*(int *)context;
    switch (hlo_at(m, id)->opcode) { /* where we differ on purpose: hlo/meaning/README.md */
    case HLO_OP_CUSTOM_CALL:
        flops = transcendentals = bytes = -1; /* unknown, XLA adds nothing */
        break;
    case HLO_OP_RAGGED_DOT: /* each of 6 rows meets one matrix [4,5]; 2 batches */
        flops = 2 * 6 * 4 * 5 * (strstr(name, "batched") ? 2 : 1);
        break;
    default:
        break;
    }
    same(name, opcode, costs.instruction[id].flops, flops, 1e-6);
    same(name, opcode, costs.instruction[id].transcendentals, transcendentals, 1e-6);
    same(name, opcode, costs.instruction[id].bytes, bytes, 1e-6);
    hlo_costs_release(&costs);
}

static void test_every_opcode(void **state)
{
    (void)state;
    int count = 0;

    opcodes_each("// cost ", check_line, &count);
    assert_true(count > 170);
}

/* ---- trips ---- */

static const char loops[] =
    "inner {\n  s = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
    "  x = f32[4] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n"
    "  next = s32[] add(i, one)\n  y = f32[4] multiply(x, x)\n"
    "  ROOT t = (s32[], f32[4]) tuple(next, y)\n}\n"
    "less {\n  s = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
    "  n = s32[] constant(10)\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n"
    "twice {\n  p = f32[4] parameter(0)\n  zero = s32[] constant(0)\n"
    "  t = (s32[], f32[4]) tuple(zero, p)\n"
    "  w = (s32[], f32[4]) while(t), condition=less, body=inner\n"
    "  x = f32[4] get-tuple-element(w), index=1\n  ROOT e = f32[4] exponential(x)\n}\n"
    "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
    "dead {\n  a = f32[4] parameter(0)\n  ROOT b = f32[4] negate(a)\n}\n"
    "ENTRY e {\n  p = f32[4] parameter(0)\n  a = f32[4] call(p), to_apply=twice\n"
    "  b = f32[4] call(a), to_apply=twice\n  z = f32[] constant(0)\n"
    "  r = f32[] reduce(b, z), dimensions={0}, to_apply=sum\n"
    "  ROOT u = f32[4] custom-call(b), custom_call_target=\"kernel\"\n}\n";

static double times_of(const struct hlo_module *m, const struct hlo_costs *c, const char *comp,
                       const char *name)
{
    for (hlo_id id = 0; id < m->count; id++)
        if (!strcmp(hlo_name(m, id), name) &&
            !strcmp(m->computations[hlo_at(m, id)->computation].name, comp))
            return c->times[id];
    fail_msg("no %s in %s", name, comp);
    return -1;
}

/* By hand: a trip is 4 multiplications and 1 addition, a condition 1 comparison; each of the two
 * calls makes 10 trips, 11 conditions and 4 exponentials; the reduction adds 3 times. */
static void test_trips(void **state)
{
    (void)state;
    struct hlo_module *m = NULL;
    struct hlo_costs c;
    struct err e;

    assert_int_equal(hlo_load_memory("loops", loops, sizeof loops - 1, NULL, &m, &e), 0);
    assert_int_equal(hlo_costs_new(m, &c, &e), 0);
    assert_true(c.total.flops == 2 * (5 + 1) + 3);
    assert_true(c.total_trips.flops == 2 * (10 * 5 + 11 * 1) + 3);
    assert_true(c.total.transcendentals == 2 * 4 && c.total_trips.transcendentals == 2 * 4);
    assert_true(times_of(m, &c, "e", "r") == 0); /* nobody needs it */
    assert_true(times_of(m, &c, "twice", "w") == 2);
    assert_true(times_of(m, &c, "inner", "y") == 20);
    assert_true(times_of(m, &c, "less", "c") == 22);
    assert_true(times_of(m, &c, "sum", "c") == 0); /* counted in the reduction */
    assert_true(times_of(m, &c, "dead", "b") == 0);
    assert_true(c.instruction[hlo_find(m, "u")].flops == -1); /* unknown, and not added */
    hlo_costs_release(&c);
    hlo_free(m);
}

/* Of a tuple that a call left behind only the leaf that is read on runs. */
static void test_unread_leaves(void **state)
{
    (void)state;
    static const char text[] = "ENTRY e {\n  p = f32[4] parameter(0)\n  lost = f32[4] negate(p)\n"
                               "  alone = f32[4] cosine(lost)\n  kept = f32[4] sine(p)\n"
                               "  inner = (f32[4], f32[4]) tuple(kept, alone)\n"
                               "  both = (f32[4], (f32[4], f32[4])) tuple(alone, inner)\n"
                               "  again = (f32[4], f32[4]) get-tuple-element(both), index=1\n"
                               "  ROOT out = f32[4] get-tuple-element(again), index=0\n}\n";
    struct hlo_module *m = NULL;
    struct hlo_costs c;
    struct err e;

    assert_int_equal(hlo_load_memory("leaves", text, sizeof text - 1, NULL, &m, &e), 0);
    assert_int_equal(hlo_costs_new(m, &c, &e), 0);
    assert_true(times_of(m, &c, "e", "kept") == 1 && times_of(m, &c, "e", "both") == 1);
    assert_true(times_of(m, &c, "e", "alone") == 0 && times_of(m, &c, "e", "lost") == 0);
    hlo_costs_release(&c);
    hlo_free(m);
}

/* Loops in loops run more often than a double can say: the figures end, and stay numbers. */
static void test_loops_without_end(void **state)
{
    (void)state;
    struct hlo_module *m = NULL;
    struct str text = {0};
    struct hlo_costs c;
    struct err e;

    for (int n = 0; n < 64; n++) {
        str_format(&text,
                   "c%d {\n  a = (s32[], f32[4]) parameter(0)\n"
                   "  i = s32[] get-tuple-element(a), index=0\n  n = s32[] constant(2147483647)\n"
                   "  ROOT l = pred[] compare(i, n), direction=LT\n}\n"
                   "b%d {\n  a = (s32[], f32[4]) parameter(0)\n"
                   "  i = s32[] get-tuple-element(a), index=0\n  o = s32[] constant(1)\n"
                   "  j = s32[] add(i, o)\n  x = f32[4] get-tuple-element(a), index=1\n"
                   "  z = s32[] constant(0)\n  t = (s32[], f32[4]) tuple(z, x)\n",
                   n, n);
        if (n)
            str_format(&text, "  w = (s32[], f32[4]) while(t), condition=c%d, body=b%d\n", n - 1,
                       n - 1);
        str_format(&text,
                   "  y = f32[4] get-tuple-element(%s), index=1\n  s = f32[4] add(y, y)\n"
                   "  ROOT r = (s32[], f32[4]) tuple(j, s)\n}\n",
                   n ? "w" : "t");
    }
    str_add(&text, "ENTRY e {\n  p = f32[4] parameter(0)\n  z = s32[] constant(0)\n"
                   "  t = (s32[], f32[4]) tuple(z, p)\n"
                   "  ROOT w = (s32[], f32[4]) while(t), condition=c63, body=b63\n}\n");
    assert_int_equal(hlo_load_memory("loops", text.text, text.size, NULL, &m, &e), 0);
    assert_int_equal(hlo_costs_new(m, &c, &e), 0);
    assert_true(isfinite(c.total_trips.flops) && c.total_trips.flops > 1e50);
    for (hlo_id id = 0; id < m->count; id++)
        assert_true(isfinite(c.times[id]) && c.times[id] <= 1e30);
    hlo_costs_release(&c);
    hlo_free(m);
    str_release(&text);
}

/* FLOP of one run are those of one execution, as often as it is executed. */
static void test_flops_of_a_run(void **state)
{
    (void)state;
    static const char text[] =
        "body {\n  a = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(a), index=0\n"
        "  one = s32[] constant(1)\n  next = s32[] add(i, one)\n"
        "  x = f32[4] get-tuple-element(a), index=1\n  y = f32[4] add(x, x)\n"
        "  ROOT out = (s32[], f32[4]) tuple(next, y)\n}\n"
        "less {\n  a = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(a), index=0\n"
        "  five = s32[] constant(5)\n  ROOT is = pred[] compare(i, five), direction=LT\n}\n"
        "ENTRY e {\n  p = f32[4] parameter(0)\n  zero = s32[] constant(0)\n"
        "  first = (s32[], f32[4]) tuple(zero, p)\n"
        "  loop = (s32[], f32[4]) while(first), condition=less, body=body\n"
        "  odd = f32[4] custom-call(p), custom_call_target=\"nobody_knows\"\n"
        "  sum = f32[4] get-tuple-element(loop), index=1\n"
        "  ROOT out = f32[4] multiply(sum, odd)\n}\n";
    struct hlo_module *m = NULL;
    struct hlo_costs c;
    double *flops;
    struct err e;

    assert_int_equal(hlo_load_memory("run", text, sizeof text - 1, NULL, &m, &e), 0);
    assert_int_equal(hlo_costs_new(m, &c, &e), 0);
    assert_int_equal(hlo_flops_new(m, &flops, &e), 0);
    for (hlo_id id = 0; id < m->count; id++) {
        assert_true(flops[id] == c.instruction[id].flops * c.times[id]);
        if (!strcmp(hlo_name(m, id), "y"))
            assert_true(flops[id] == 4 * 5);
        if (!strcmp(hlo_name(m, id), "odd"))
            assert_true(flops[id] < 0);
    }
    free(flops);
    hlo_costs_release(&c);
    hlo_free(m);
}

/* TensorFlow's: several limits, behind tuples; backwards as often as the loop before ran. */
static void test_trips_of_several_limits(void **state)
{
    (void)state;
    static const char text[] =
        "up {\n  a = (s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(a), index=0\n"
        "  j = s32[] get-tuple-element(a), index=1\n  one = s32[] constant(1)\n"
        "  ni = s32[] add(i, one)\n  nj = s32[] add(j, one)\n"
        "  ROOT r = (s32[], s32[]) tuple(ni, nj)\n}\n"
        "both {\n  b = (s32[], s32[]) parameter(0)\n  i2 = s32[] get-tuple-element(b), index=0\n"
        "  j2 = s32[] get-tuple-element(b), index=1\n  n = s32[] constant(30)\n"
        "  k = s32[] constant(20)\n  x = pred[] compare(i2, n), direction=LT\n"
        "  y = pred[] compare(j2, k), direction=LT\n  z = pred[] and(x, y)\n"
        "  t = (pred[]) tuple(z)\n  ROOT g = pred[] get-tuple-element(t), index=0\n}\n"
        "back {\n  c = (s32[], s32[]) parameter(0)\n  i3 = s32[] get-tuple-element(c), index=0\n"
        "  j3 = s32[] get-tuple-element(c), index=1\n  one3 = s32[] constant(1)\n"
        "  ni3 = s32[] add(i3, one3)\n  same = s32[] reshape(j3)\n"
        "  ROOT r3 = (s32[], s32[]) tuple(ni3, same)\n}\n"
        "less {\n  d = (s32[], s32[]) parameter(0)\n  i4 = s32[] get-tuple-element(d), index=0\n"
        "  j4 = s32[] get-tuple-element(d), index=1\n"
        "  ROOT l = pred[] compare(i4, j4), direction=LT\n}\n"
        "ENTRY e {\n  zero = s32[] constant(0)\n  five = s32[] constant(5)\n"
        "  init = (s32[], s32[]) tuple(zero, five)\n"
        "  first = (s32[], s32[]) while(init), condition=both, body=up\n"
        "  end = s32[] get-tuple-element(first), index=0\n"
        "  again = (s32[], s32[]) tuple(zero, end)\n"
        "  ROOT second = (s32[], s32[]) while(again), condition=less, body=back\n}\n";
    struct hlo_module *m;
    struct err e;

    assert_int_equal(hlo_load_memory("limits", text, sizeof text - 1, NULL, &m, &e), 0);
    assert_int_equal(hlo_trip_count(m, hlo_find(m, "first")), 15); /* 20 - 5 before 30 - 0 */
    assert_int_equal(hlo_trip_count(m, hlo_find(m, "second")), 15);
    hlo_free(m);
}

/* 24 layers as a loop, forward and backward: what XLA counts once runs 24 times. */
static void test_trips_of_scanned_layers(void **state)
{
    (void)state;
    struct hlo_module *m = load(AUTOMAP_SOURCE_DIR "/examples/models/decoder-scan.hlo.txt.gz");
    struct hlo_costs c;
    struct err e;
    int found = 0;

    assert_int_equal(hlo_costs_new(m, &c, &e), 0);
    double expected = c.total.flops;
    for (hlo_id id = 0; id < m->count; id++) {
        if (hlo_at(m, id)->opcode != HLO_OP_WHILE)
            continue;
        assert_int_equal(hlo_trip_count(m, id), 24);
        expected += 23 * c.instruction[id].flops + 1; /* and one comparison more */
        found++;
    }
    assert_int_equal(found, 2);
    same("decoder-scan", "flops with trips", c.total_trips.flops, expected, 1e-12);
    hlo_costs_release(&c);
    hlo_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_opcode),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_trips),
        cmocka_unit_test(test_unread_leaves),
        cmocka_unit_test(test_loops_without_end),
        cmocka_unit_test(test_flops_of_a_run),
        cmocka_unit_test(test_trips_of_several_limits),
        cmocka_unit_test(test_trips_of_scanned_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
