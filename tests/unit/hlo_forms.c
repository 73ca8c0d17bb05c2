/* Files that others made: every shipped model and the dumps of other frameworks load with the
 * counts their scripts wrote down (expect.json), and so does each other spelling of a model. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cJSON.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define ROOT AUTOMAP_SOURCE_DIR "/"

static cJSON *read_json(const char *path)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    long size = ftell(in);
    rewind(in);
    char *text = mem_alloc((size_t)size + 1);
    assert_int_equal(fread(text, 1, (size_t)size, in), size);
    fclose(in);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static int number(const cJSON *object, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_non_null(value);
    return value->valueint;
}

static struct hlo_module *load(const char *path)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load(path, NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    if (m->warning_count)
        fail_msg("%s: warning: %s", path, m->warnings[0].what);
    return m;
}

/* The histogram of m is `opcodes`, {name: count}. */
static void check_opcodes(const struct hlo_module *m, const cJSON *opcodes)
{
    uint32_t count[HLO_OP_COUNT] = {0}, kinds = 0;
    const cJSON *opcode;

    for (hlo_id i = 0; i < m->count; i++)
        kinds += count[hlo_at(m, i)->opcode]++ == 0;
    assert_int_equal(kinds, cJSON_GetArraySize(opcodes));
    cJSON_ArrayForEach(
        opcode, opcodes) if ((int)count[hlo_op_by_name(opcode->string, strlen(opcode->string))] !=
                             opcode->valueint)
        fail_msg("%s: %s: wanted %d", m->file, opcode->string, opcode->valueint);
}

static void check_counts(const struct hlo_module *m, const cJSON *expect)
{
    assert_int_equal(m->count, number(expect, "instructions"));
    check_opcodes(m, cJSON_GetObjectItem(expect, "opcodes"));
}

/* Entry parameters are those of the script, in number and shape. */
static void check_parameters(const struct hlo_module *m, const cJSON *parameters)
{
    const struct hlo_computation *entry = &m->computations[m->entry];

    assert_int_equal(entry->param_count, cJSON_GetArraySize(parameters));
    for (uint32_t n = 0; n < entry->param_count; n++) {
        const cJSON *dims = cJSON_GetObjectItem(cJSON_GetArrayItem(parameters, (int)n), "shape");
        const struct hlo_shape *shape = hlo_shape(m, entry->params[n]);
        assert_int_equal(shape->rank, cJSON_GetArraySize(dims));
        for (int d = 0; d < shape->rank; d++)
            assert_int_equal(shape->dims[d], cJSON_GetArrayItem(dims, d)->valueint);
    }
}

/* Spellings of one model: beside it, and where protobuf's and XLA's own printers put theirs. */
static const struct {
    const char *folder, *ending;
    bool is_always_there;
} spellings[] = {
    {"examples/models", ".hlo.txt.gz", true},
    {"examples/models", ".meta.hlo.txt.gz", true},
    {"tests/data/forms", ".long.hlo.txt.gz", false},
    {"tests/data/forms", ".short.hlo.txt.gz", false},
    {"tests/data/forms", ".nameless.hlo.txt.gz", false},
};

static int check_model(const char *name)
{
    char path[512];
    int found = 0;

    snprintf(path, sizeof path, ROOT "examples/models/%s.expect.json", name);
    cJSON *expect = read_json(path);
    for (size_t n = 0; n < sizeof spellings / sizeof *spellings; n++) {
        snprintf(path, sizeof path, ROOT "%s/%s%s", spellings[n].folder, name, spellings[n].ending);
        FILE *in = fopen(path, "rb");
        if (!in && !spellings[n].is_always_there)
            continue;
        assert_non_null(in);
        fclose(in);
        struct hlo_module *m = load(path);
        check_counts(m, expect);
        assert_int_equal(m->computation_count, number(expect, "computations"));
        check_parameters(m, cJSON_GetObjectItem(expect, "parameters"));
        hlo_free(m);
        found++;
    }
    cJSON_Delete(expect);
    return found;
}

static void test_models(void **state)
{
    (void)state;
    DIR *d = opendir(ROOT "examples/models");
    int files = 0, models = 0;

    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) {
        const char *end = strstr(e->d_name, ".expect.json");
        if (!end)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(end - e->d_name), e->d_name);
        files += check_model(name);
        models++;
    }
    closedir(d);
    assert_true(models >= 11);
    assert_true(files >= 2 * models + 9);
}

static void test_frameworks(void **state)
{
    (void)state;
    cJSON *all = read_json(ROOT "tests/data/frameworks/expect.json");
    const cJSON *expect;

    cJSON_ArrayForEach(expect, all)
    {
        char path[512];
        if (!strstr(expect->string, ".txt"))
            continue;
        snprintf(path, sizeof path, ROOT "tests/data/frameworks/%s.gz", expect->string);
        struct hlo_module *m = load(path);
        check_counts(m, expect);
        hlo_free(m);
    }
    cJSON_Delete(all);
}

/* XLA_SAVE_TENSORS_FILE of PyTorch/XLA appends a graph a step; the words around it are not HLO. */
static const char saved[] = "[ScheduleSyncTensorsGraph]\n"
                            "TensorsGraphInfo:\n"
                            "  step (train.py:25)\n"
                            "\n"
                            "Root Hashes: (92caa8151bcc437f, cd84f8d1ad6a6fb5)\n"
                            "\n"
                            "## BEGIN_GRAPH\n"
                            "HloModule IrToHlo.1\n"
                            "ENTRY %IrToHlo.1 (p0.1: f32[2]) -> f32[2] {\n"
                            "  ROOT %p0.1 = f32[2]{0} parameter(0)\n"
                            "}\n"
                            "\n"
                            "\n"
                            "Graph Hash: 54003161deefa20f\n"
                            "\n"
                            "## END_GRAPH\n"
                            "\n"
                            "[ScheduleSyncTensorsGraph]\n"
                            "## BEGIN_GRAPH\n"
                            "HloModule IrToHlo.2\n"
                            "ENTRY %IrToHlo.2 (p0.1: f32[2]) -> f32[2] {\n"
                            "  %p0.1 = f32[2]{0} parameter(0)\n"
                            "  ROOT %negate.2 = f32[2]{0} negate(f32[2]{0} %p0.1)\n"
                            "}\n"
                            "\n"
                            "Graph Hash: 6e94764f1a5b9cc4\n"
                            "\n"
                            "## END_GRAPH\n";

static void test_saved_tensors(void **state)
{
    (void)state;
    static const struct {
        int32_t module;
        const char *name;
    } cases[] = {{-1, "IrToHlo.2"}, {0, "IrToHlo.1"}, {1, "IrToHlo.2"}};

    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct hlo_load_options o = {.module = cases[n].module};
        struct hlo_module *m = NULL;
        struct err e = {0};
        if (hlo_load_memory("saved", saved, sizeof saved - 1, &o, &m, &e)) {
            err_print(&e, stderr);
            fail();
        }
        assert_string_equal(m->name, cases[n].name);
        hlo_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_frameworks),
        cmocka_unit_test(test_saved_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
