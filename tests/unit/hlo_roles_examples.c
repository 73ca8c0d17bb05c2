/* Roles, phases and layers of every shipped model, with metadata and without, against what the
 * scripts that made the models wrote down (NAME.expect.json). */
#include "hlo/load.h"
#include "hlo/meaning/roles.h"
#include "hlo/text/write_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cJSON.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

static const char *const models[] = {"mlp",          "vgg19", "t5-tiny", "t5-base6",
                                     "t5-base12",    "t5-3b", "t5-11b",  "bert48",
                                     "decoder-scan", "moe",   "resnet20"};

static cJSON *read_json(const char *name)
{
    char path[512];
    struct str text = {0};
    char block[4096];
    size_t got;

    snprintf(path, sizeof path, "%s/examples/models/%s.expect.json", AUTOMAP_SOURCE_DIR, name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    while ((got = fread(block, 1, sizeof block, in)) > 0)
        str_add_bytes(&text, block, got);
    fclose(in);
    cJSON *json = cJSON_Parse(text.text);
    assert_non_null(json);
    str_release(&text);
    return json;
}

static struct hlo_module *load(const char *name, const char *form)
{
    char path[512];
    struct err e = {0};
    struct hlo_module *m = NULL;

    snprintf(path, sizeof path, "%s/examples/models/%s%s", AUTOMAP_SOURCE_DIR, name, form);
    if (hlo_load(path, NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return m;
}

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static const char *text_of(const cJSON *record, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(record, key);

    return cJSON_IsString(item) ? item->valuestring : "";
}

static enum hlo_role role_of(const cJSON *record)
{
    static const char *const names[] = {"variable", "optimizer", "input", "hyper", "state"};

    for (int r = 0; r < 5; r++) {
        if (!strcmp(text_of(record, "role"), names[r]))
            return (enum hlo_role)r;
    }
    fail_msg("unknown role %s", text_of(record, "role"));
    return HLO_ROLE_COUNT;
}

static const char *without_params(const char *name)
{
    return strncmp(name, "params/", 7) ? name : name + 7;
}

static int check_params(const cJSON *expect, const struct hlo_roles *r, bool has_names)
{
    const cJSON *record;
    int bad = 0;

    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(expect, "parameters")), r->param_count);
    cJSON_ArrayForEach(record, cJSON_GetObjectItem(expect, "parameters"))
    {
        uint32_t p = (uint32_t)cJSON_GetObjectItem(record, "number")->valueint;
        const struct hlo_param_role *got = &r->params[p];
        const cJSON *of = cJSON_GetObjectItem(record, "of");
        bool is_ok = got->parameter == p && got->role == role_of(record);
        is_ok &= got->of == (of ? (uint32_t)of->valueint : HLO_NONE);
        is_ok &= !has_names || !strcmp(got->name, without_params(text_of(record, "name")));
        if (got->role == HLO_ROLE_VARIABLE)
            is_ok &= got->gradient != HLO_NONE && got->updated != HLO_NONE;
        if (!is_ok && ++bad < 20)
            print_error(
                "parameter %u: %s %s of %d, expected %s %s of %d (gradient %d updated %d)\n", p,
                got->name, hlo_role_names[got->role], (int)got->of, text_of(record, "name"),
                text_of(record, "role"), of ? of->valueint : -1, (int)got->gradient,
                (int)got->updated);
    }
    return bad;
}

static struct hlo_roles find_roles(const struct hlo_module *m, const char *name)
{
    struct hlo_roles r;
    struct err e = {0};
    double start = now_ms();

    if (hlo_roles_new(m, NULL, &r, &e)) {
        err_print(&e, stderr);
        fail();
    }
    print_message("%-13s %6u instructions, roles in %6.2f ms\n", name, m->count, now_ms() - start);
    return r;
}

/* A head that holds more of the work than the layers leave becomes one too. */
static bool is_added(const cJSON *expect, const struct hlo_roles *r, uint32_t n)
{
    return n + 1 == r->layer_count && !strcmp(r->layer_names[n], "head") &&
           !cJSON_GetObjectItem(cJSON_GetObjectItem(expect, "layers"), "head");
}

/* The layers the model was written with, in forward order. */
static int check_layers(const cJSON *expect, const struct hlo_roles *r)
{
    const cJSON *layer;
    uint32_t n = 1;
    int bad = 0;

    cJSON_ArrayForEach(layer, cJSON_GetObjectItem(expect, "layers"))
    {
        const char *got = n < r->layer_count ? r->layer_names[n] : "(none)";
        if (strcmp(got, layer->string) && ++bad < 10)
            print_error("layer %u: %s, expected %s\n", n, got, layer->string);
        n++;
    }
    if (is_added(expect, r, n))
        n++;
    if (n != r->layer_count)
        print_error("%u layers, expected %u; the next is %s\n", r->layer_count - 1, n - 1,
                    n < r->layer_count ? r->layer_names[n] : "(none)");
    return bad + (n != r->layer_count);
}

/* Of the entry: phases by the marks the op_name starts with, as the make script counts them. */
static enum hlo_phase marked_phase(const char *op_name)
{
    const char *path = strncmp(op_name, "jit(", 4) ? NULL : strstr(op_name, ")/");

    if (!path)
        return HLO_PHASE_OTHER;
    path += 2;
    return !strncmp(path, "adam/", 5)             ? HLO_PHASE_UPDATE
           : !strncmp(path, "transpose(jvp(", 14) ? HLO_PHASE_BACKWARD
           : !strncmp(path, "jvp(", 4)            ? HLO_PHASE_FORWARD
                                                  : HLO_PHASE_OTHER;
}

static bool is_heavy(const struct hlo_instruction *i)
{
    return i->opcode == HLO_OP_DOT || i->opcode == HLO_OP_CONVOLUTION;
}

static int number(const cJSON *expect, const char *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(expect, object), key);

    return item ? item->valueint : 0;
}

static void check_marked(const cJSON *expect, const struct hlo_module *m, const struct hlo_roles *r)
{
    const struct hlo_computation *entry = &m->computations[m->entry];
    int phases[HLO_PHASE_COUNT] = {0}, heavy[HLO_PHASE_COUNT] = {0};

    for (hlo_id id = entry->first; id < entry->first + entry->count; id++) {
        if (marked_phase(hlo_meta(m, id)->op_name) == HLO_PHASE_OTHER)
            continue;
        phases[r->phase[id]]++;
        heavy[r->phase[id]] += is_heavy(hlo_at(m, id));
    }
    for (int p = 0; p < HLO_PHASE_OTHER; p++) {
        assert_int_equal(phases[p], number(expect, "phases", hlo_phase_names[p]));
        assert_int_equal(heavy[p], number(expect, "heavy", hlo_phase_names[p]));
    }
}

/* Of the entry, per layer and phase: instructions whose op_name tells. */
static int check_layer_counts(const cJSON *expect, const struct hlo_module *m,
                              const struct hlo_roles *r)
{
    const struct hlo_computation *entry = &m->computations[m->entry];
    int(*counts)[HLO_PHASE_COUNT] = mem_alloc(r->layer_count * sizeof *counts);
    int bad = 0;

    for (hlo_id id = entry->first; id < entry->first + entry->count; id++) {
        const char *op_name = hlo_meta(m, id)->op_name;
        enum hlo_phase p = marked_phase(op_name);
        size_t size = strlen(op_name);
        bool is_whole = size && op_name[size - 1] == ')' && !strchr(strstr(op_name, ")/") + 2, '/');
        if ((p == HLO_PHASE_FORWARD || p == HLO_PHASE_BACKWARD) &&
            !is_whole) /* jit(f)/jvp(layer) */
            counts[r->layer[id]][p]++;
    }
    for (uint32_t n = 1; n < r->layer_count; n++) {
        const cJSON *layer =
            cJSON_GetObjectItem(cJSON_GetObjectItem(expect, "layers"), r->layer_names[n]);
        for (int p = 0; p < 2; p++) {
            const cJSON *item = cJSON_GetObjectItem(layer, hlo_phase_names[p]);
            if (item && item->valueint != counts[n][p] && ++bad < 10)
                print_error("%s %s: %d, expected %d\n", r->layer_names[n], hlo_phase_names[p],
                            counts[n][p], item->valueint);
        }
    }
    free(counts);
    return bad;
}

/* How far the answers for a file without metadata agree with what the metadata says. */
static void compare(const char *name, const struct hlo_module *with, const struct hlo_roles *a,
                    const struct hlo_module *without, const struct hlo_roles *b)
{
    const struct hlo_computation *entry = &with->computations[with->entry];
    int count = 0, same_phase = 0, heavy = 0, in_layer = 0, same_layer = 0, same_layer_heavy = 0,
        heavy_layer = 0;

    assert_int_equal(with->count, without->count);
    for (hlo_id id = entry->first; id < entry->first + entry->count; id++) {
        enum hlo_phase p = marked_phase(hlo_meta(with, id)->op_name);
        if (p == HLO_PHASE_OTHER)
            continue;
        count++;
        same_phase += b->phase[id] == p;
        if (is_heavy(hlo_at(with, id))) {
            heavy++;
            assert_int_equal(b->phase[id], p);
        }
        if (p == HLO_PHASE_UPDATE)
            continue;
        bool is_same = !strcmp(a->layer_names[a->layer[id]], b->layer_names[b->layer[id]]);
        in_layer++;
        same_layer += is_same;
        heavy_layer += is_heavy(hlo_at(with, id));
        same_layer_heavy += is_same && is_heavy(hlo_at(with, id));
    }
    print_message("%-13s without metadata as with: phase %5.1f %%, layer %5.1f %%, layer of "
                  "products %d of %d\n",
                  name, 100.0 * same_phase / count, 100.0 * same_layer / in_layer, same_layer_heavy,
                  heavy_layer);
    assert_true(same_phase * 100 >= count * 93);
    assert_int_equal(same_layer_heavy, heavy_layer);
    assert_true(same_layer * 100 >= in_layer * 80);
}

static void test_examples(void **state)
{
    int bad = 0;

    (void)state;
    for (size_t n = 0; n < sizeof models / sizeof *models; n++) {
        cJSON *expect = read_json(models[n]);
        struct hlo_module *without = load(models[n], ".hlo.txt.gz"),
                          *with = load(models[n], ".meta.hlo.txt.gz");
        struct hlo_roles b = find_roles(without, models[n]), a = find_roles(with, models[n]);
        bad += check_params(expect, &b, true) + check_layers(expect, &b);
        bad += check_params(expect, &a, true) + check_layers(expect, &a);
        check_marked(expect, with, &a);
        bad += check_layer_counts(expect, with, &a);
        compare(models[n], with, &a, without, &b);
        hlo_roles_release(&a);
        hlo_roles_release(&b);
        hlo_free(with);
        hlo_free(without);
        cJSON_Delete(expect);
    }
    assert_int_equal(bad, 0);
}

/* ---- without any name ---- */

struct param_name {
    const char *name;
    uint32_t number;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct param_name *)a)->name, ((const struct param_name *)b)->name);
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("_.-", c);
}

/* The module with its entry parameters called p0, p1, ... */
static struct hlo_module *without_names(const struct hlo_module *m)
{
    const struct hlo_computation *entry = &m->computations[m->entry];
    struct param_name *names = mem_alloc(entry->param_count * sizeof *names);
    struct hlo_write_options options = {.no_metadata = true};
    struct str text = {0}, out = {0};
    struct hlo_module *copy = NULL;
    struct err e = {0};

    for (uint32_t p = 0; p < entry->param_count; p++)
        names[p] = (struct param_name){hlo_name(m, entry->params[p]), p};
    qsort(names, entry->param_count, sizeof *names, by_name);
    assert_int_equal(hlo_write_text(m, &options, &text, &e), 0);
    for (const char *at = text.text; *at;) {
        char word[256];
        size_t size = 0;
        while (at[size] && is_name_char(at[size]) && size < sizeof word - 1) {
            word[size] = at[size];
            size++;
        }
        word[size] = '\0';
        struct param_name key = {word, 0},
                          *found = bsearch(&key, names, entry->param_count, sizeof *names, by_name);
        if (size && found)
            str_format(&out, "p%u", found->number);
        else
            str_add_bytes(&out, at, size ? size : 1);
        at += size ? size : 1;
    }
    if (hlo_load_memory("nameless", out.text, out.size, NULL, &copy, &e)) {
        err_print(&e, stderr);
        fail();
    }
    str_release(&text);
    str_release(&out);
    free(names);
    return copy;
}

/* As many repeated blocks as layers. */
static int check_blocks(const char *name, const struct hlo_roles *bare)
{
    static const struct {
        const char *name;
        uint32_t blocks;
    } expected[] = {{"t5-tiny", 4}, {"t5-base6", 12}, {"t5-base12", 24}, {"t5-3b", 48},
                    {"t5-11b", 48}, {"bert48", 48},   {"moe", 4}};

    uint32_t blocks = 0;

    for (uint32_t n = 1; n < bare->layer_count; n++)
        blocks += !strncmp(bare->layer_names[n], "block_", 6);
    for (size_t n = 0; n < sizeof expected / sizeof *expected; n++) {
        if (!strcmp(name, expected[n].name) && blocks != expected[n].blocks) {
            print_error("%s: %u blocks, expected %u\n", name, blocks, expected[n].blocks);
            return 1;
        }
    }
    return 0;
}

/* Variables are in one block where they are in one layer. */
static int check_block_members(const struct hlo_module *m, const struct hlo_roles *named,
                               const struct hlo_roles *bare)
{
    int bad = 0;

    for (uint32_t p = 0; p < named->param_count; p++) {
        hlo_id id = m->value_instruction[named->params[p].value];
        for (uint32_t q = p + 1; q < named->param_count && named->layer[id]; q++) {
            hlo_id other = m->value_instruction[named->params[q].value];
            if (named->params[p].role == HLO_ROLE_VARIABLE &&
                named->params[q].role == HLO_ROLE_VARIABLE && named->layer[other] &&
                (named->layer[id] == named->layer[other]) !=
                    (bare->layer[id] == bare->layer[other]))
                bad++;
        }
    }
    return bad;
}

static void test_nameless(void **state)
{
    int bad = 0;

    (void)state;
    for (size_t n = 0; n < sizeof models / sizeof *models; n++) {
        cJSON *expect = read_json(models[n]);
        struct hlo_module *m = load(models[n], ".hlo.txt.gz"), *bare = without_names(m);
        struct hlo_roles a = find_roles(m, models[n]), b = find_roles(bare, models[n]);
        bad += check_params(expect, &b, false);
        bad += check_blocks(models[n], &b);
        if (!strncmp(models[n], "t5-base", 7))
            bad += check_block_members(m, &a, &b);
        uint32_t same = 0;
        assert_int_equal(m->count, bare->count);
        for (hlo_id id = 0; id < m->count; id++)
            same += a.phase[id] == b.phase[id];
        assert_int_equal(same, m->count);
        print_message("%-13s without names: %u layers by %s\n", models[n], b.layer_count - 1,
                      b.layer_source);
        hlo_roles_release(&a);
        hlo_roles_release(&b);
        hlo_free(bare);
        hlo_free(m);
        cJSON_Delete(expect);
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_nameless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
