/* What XLA's own partitioner inserted for plans of the shipped models (tests/ref/xla/agrees.jsonl,
 * made by tests/script/xla_agrees.py) is what the plans say, kind, count and bytes. */
#include "engine/plan/plan.h"
#include "engine/plan/random.h"
#include "engine/problem/setting.h"
#include "hlo/load.h"
#include "hlo/support/file.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The problem of one model and mesh, kept while rows ask for the same. */
struct opened {
    char model[64], mesh[64];
    struct problem *problem;
};

static const char *text_of(const cJSON *row, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(row, key);

    assert_true(cJSON_IsString(v));
    return v->valuestring;
}

static void shut(struct opened *o)
{
    if (o->problem) {
        problem_release(o->problem);
        free(o->problem);
    }
    o->problem = NULL;
}

static uint32_t device_count(const char *mesh)
{
    uint32_t n = 1;

    for (char *end; *mesh; mesh = *end ? end + 1 : end)
        n *= (uint32_t)strtoul(mesh, &end, 10);
    return n;
}

static const struct problem *open_problem(struct opened *o, const cJSON *row)
{
    struct problem_options options = {.exact_divisibility = true};
    struct hlo_module *m = NULL;
    struct cluster c;
    char path[300];
    struct err e = {0};

    if (o->problem && !strcmp(o->model, text_of(row, "model")) &&
        !strcmp(o->mesh, text_of(row, "mesh")))
        return o->problem;
    shut(o);
    snprintf(o->model, sizeof o->model, "%s", text_of(row, "model"));
    snprintf(o->mesh, sizeof o->mesh, "%s", text_of(row, "mesh"));
    options.reduce_at_once = true; /* as the partitioner leaves it; later passes join sums */
    snprintf(options.mesh, sizeof options.mesh, "%s", o->mesh);
    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", o->model);
    assert_int_equal(cluster_of_devices(&c, device_count(o->mesh), &e), 0);
    assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
    o->problem = mem_alloc(sizeof *o->problem);
    assert_int_equal(problem_new(m, NULL, &c, &options, o->problem, &e), 0);
    return o->problem;
}

/* The plan that the row's options make: --set NAME:DIM=AXES ... or --random SEED. */
static void make_plan(const struct problem *p, const cJSON *row, struct plan *out)
{
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(row, "options");
    struct strict s;
    struct err e = {0};

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    for (int k = 0; k + 1 < cJSON_GetArraySize(options); k += 2) {
        const char *option = cJSON_GetArrayItem(options, k)->valuestring;
        const char *value = cJSON_GetArrayItem(options, k + 1)->valuestring;
        int rc = strcmp(option, "--random") ? setting_apply(p, &s, value, &e)
                                            : plan_random(p, &s, strtoull(value, NULL, 10), &e);
        assert_int_equal(rc, 0);
    }
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, out, &e), 0);
    strict_release(&s);
}

/* Rows list all-reduces only: strict plans have no others. */
static void check_row(struct opened *o, const cJSON *row)
{
    const struct problem *p = open_problem(o, row);
    const cJSON *inserted = cJSON_GetObjectItemCaseSensitive(row, "inserted");
    const cJSON *want = cJSON_GetObjectItemCaseSensitive(inserted, "all-reduce");
    struct plan_collective *list;
    struct plan plan;
    size_t count;
    double found = 0, bytes = 0;
    struct err e = {0};

    assert_int_equal(cJSON_GetArraySize(inserted), 1);
    make_plan(p, row, &plan);
    assert_int_equal(plan_collectives(&plan, &list, &count, &e), 0);
    for (size_t k = 0; k < count; k++) {
        assert_int_equal(list[k].kind, COLLECTIVE_ALL_REDUCE);
        found += list[k].count;
        bytes += list[k].bytes;
    }
    if (found != cJSON_GetArrayItem(want, 0)->valuedouble ||
        bytes != cJSON_GetArrayItem(want, 1)->valuedouble)
        fail_msg("%s %s %s: %.0f of %.0f bytes planned, XLA inserts %.0f of %.0f", o->model,
                 o->mesh, text_of(row, "plan"), found, bytes,
                 cJSON_GetArrayItem(want, 0)->valuedouble,
                 cJSON_GetArrayItem(want, 1)->valuedouble);
    free(list);
    plan_release(&plan);
}

static void test_rows(void **state)
{
    struct opened o = {.problem = NULL};
    struct str text = {0};
    struct err e = {0};
    int rows = 0;

    (void)state;
    assert_int_equal(
        hlo_file_read(AUTOMAP_SOURCE_DIR "/tests/ref/xla/agrees.jsonl", 1 << 22, &text, &e), 0);
    for (const char *line = text.text; *line;) {
        size_t size = strcspn(line, "\n");
        cJSON *row = cJSON_ParseWithLength(line, size);
        assert_non_null(row);
        check_row(&o, row);
        cJSON_Delete(row);
        rows++;
        line += size + (line[size] == '\n');
    }
    assert_true(rows > 100);
    shut(&o);
    str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
