/* Measured times: both forms read alike, replace the roofline of what they name in every copy,
 * scale with the split; what is wrong is refused at its place. */
#include "engine/cost/measured.h"
#include "engine/plan/plan.h"
#include "hlo/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static const char model[] =
    "HloModule two\n"
    "layer {\n  a = f32[32,64] parameter(0)\n  b = f32[64,64] parameter(1)\n"
    "  ROOT d = f32[32,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
    "ENTRY main {\n  x = f32[32,64] parameter(0)\n  w = f32[64,64] parameter(1)\n"
    "  h = f32[32,64] call(x, w), to_apply=layer\n  t = f32[32,64] tanh(h)\n"
    "  ROOT y = f32[32,64] call(t, w), to_apply=layer\n}\n";

static int load(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {0};
    struct hlo_module *m;
    struct err e;

    cluster_default(cluster);
    assert_int_equal(hlo_load_memory("two", model, sizeof model - 1, NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, cluster, &o, p, &e), 0);
    free(cluster);
    *state = p;
    return 0;
}

static int drop(void **state)
{
    problem_release(*state);
    free(*state);
    return 0;
}

static double *read_good(const struct problem *p, const char *text)
{
    struct err e;
    double *ms;

    if (measured_read(p->m, text, strlen(text), &ms, &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.what);
    return ms;
}

static void test_forms(void **state)
{
    static const char *const texts[] = {
        "{\"d\": 2.5, \"%t\": 0.5e0}",
        "{\n  \"t\" : 0.5 ,\n  \"d\":25e-1\n}\n",
        "d,2.5\nt,0.5\n",
        "instruction,ms\r\n# on one device\r\n%d, 2.5\r\n\r\nt,.5",
    };
    const struct problem *p = *state;

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        double *ms = read_good(p, texts[k]);
        uint32_t dots = 0;
        for (hlo_id id = 0; id < p->m->count; id++) {
            uint16_t opcode = hlo_at(p->m, id)->opcode;
            double wanted = opcode == HLO_OP_DOT ? 2.5 : opcode == HLO_OP_TANH ? 0.5 : -1;
            dots += opcode == HLO_OP_DOT;
            assert_true(ms[id] == wanted);
        }
        assert_int_equal(dots, 2); /* each call has its copy */
        free(ms);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        int code;
        uint32_t line, col;
        const char *what;
    } cases[] = {
        {"", ERR_INPUT, 0, 0, "measures nothing"},
        {"{}", ERR_INPUT, 0, 0, "measures nothing"},
        {"{\"d\": 1", ERR_INPUT, 1, 8, "expected ',' or '}'"},
        {"{\"d\": 1,}", ERR_INPUT, 1, 9, "another instruction"},
        {"{\"d\": -1}", ERR_INPUT, 1, 7, "a time in ms"},
        {"{\"d\": \"1\"}", ERR_INPUT, 1, 7, "a time in ms"},
        {"{\"d\": nan}", ERR_INPUT, 1, 7, "a time in ms"},
        {"{\"d\": 1e12}", ERR_LIMIT, 1, 7, "10^9"},
        {"{\"d\" 1}", ERR_INPUT, 1, 6, "expected ':'"},
        {"{d: 1}", ERR_INPUT, 1, 2, "in quotes"},
        {"{\"d\\u0041\": 1}", ERR_INPUT, 1, 4, "escape"},
        {"{\"d\n\": 1}", ERR_INPUT, 1, 4, "does not end"},
        {"{\"d\": 1} x", ERR_INPUT, 1, 10, "nothing after"},
        {"{\"d\": 1,\n \"d\": 2}", ERR_INPUT, 2, 2, "already"},
        {"d,1\nq,2\n", ERR_INPUT, 2, 1, "\"q\""},
        {"d,1\n%d,2\n", ERR_INPUT, 2, 1, "already"},
        {"d;1\n", ERR_INPUT, 1, 1, "instruction,ms"},
        {"d,1 ms\n", ERR_INPUT, 1, 5, "end of the line"},
        {"d,\n", ERR_INPUT, 1, 3, "a time in ms"},
    };
    const struct problem *p = *state;

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct err e = {0};
        double *ms;
        assert_int_equal(measured_read(p->m, cases[k].text, strlen(cases[k].text), &ms, &e),
                         cases[k].code);
        if (e.line != cases[k].line || e.col != cases[k].col || !strstr(e.what, cases[k].what))
            fail_msg("case %zu: %u:%u: %s", k, e.line, e.col, e.what);
        assert_null(ms);
    }
    struct err e;
    double *ms;
    assert_int_equal(measured_read(p->m, "d,1\n\0t,2\n", 9, &ms, &e), ERR_INPUT);
    assert_int_equal(e.line, 2);
    assert_int_equal(measured_load(p->m, "/no/such/file", &ms, &e), ERR_IO);
}

/* Two dots of 2.5 ms and nothing else is heavy: with the batch over 4 devices a quarter of that. */
static void test_costs(void **state)
{
    struct problem *p = *state;
    label *on = mem_alloc(p->classes.count + 1);
    struct err e;
    double before = step_tables_cost(&p->step_tables, on).compute_ms;

    assert_int_equal(problem_set_profile(p, read_good(p, "d,2.5\nt,0.5\n"), &e), 0);
    assert_true(fabs(step_tables_cost(&p->step_tables, on).compute_ms - 5.5) < 1e-12);
    on[p->classes.class_of[class_dim(&p->classes, p->m->leaf_base[hlo_find(p->m, "x")], 0)]] = 1;
    assert_true(fabs(step_tables_cost(&p->step_tables, on).compute_ms - 5.5 / 4) < 1e-12);
    memset(on, 0, p->classes.count);
    assert_int_equal(problem_set_profile(p, NULL, &e), 0);
    assert_true(step_tables_cost(&p->step_tables, on).compute_ms == before);
    free(on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_costs),
    };

    return cmocka_run_group_tests(tests, load, drop);
}
