/* The factors of every opcode, against tests/ref/hlo/opcodes.hlo, whose lines "factors NAME: .."
 * were proved by running the parts on XLA (tests/ref/hlo/split.py).
 * `hlo_factors FILE [PART]` prints the factors of all instructions of a file: what split.py reads. */
#include "hlo/factors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static const char *const combiners[HLO_COMBINE_COUNT] = {
    [HLO_COMBINE_NONE] = "none", [HLO_COMBINE_ADD] = "add", [HLO_COMBINE_MUL] = "mul",
    [HLO_COMBINE_MAX] = "max",   [HLO_COMBINE_MIN] = "min", [HLO_COMBINE_AND] = "and",
    [HLO_COMBINE_OR] = "or",
};

/* SIZE [COMBINER] [masked|divide|inside]: LEAF.DIM .. */
static void describe_factor(const struct hlo_factors *f, const struct hlo_factor *x, struct str *out)
{
    str_format(out, "%ld", (long)x->size);
    if (x->combiner)
        str_format(out, " %s", combiners[x->combiner]);
    if (x->is_masked)
        str_add(out, " masked");
    if (x->must_divide)
        str_add(out, " divide");
    if (x->kind == HLO_FACTOR_INSIDE)
        str_add(out, " inside");
    if (x->kind == HLO_FACTOR_PERMUTE)
        str_add(out, " permute");
    str_add(out, ":");
    for (uint32_t leaf = 0; leaf < f->leaf_count; leaf++) {
        if (x->dims[leaf] < 0)
            continue;
        bool is_result = leaf >= f->operand_leaves;
        str_format(out, " %s%u.%d", is_result ? "r" : "", is_result ? leaf - f->operand_leaves : leaf,
                   x->dims[leaf]);
    }
}

static void describe(const struct hlo_module *m, hlo_id id, struct hlo_factors *f, struct str *out)
{
    struct err e;

    str_clear(out);
    assert_int_equal(hlo_factors_of(m, id, f, &e), 0);
    for (uint32_t i = 0; i < f->count; i++) {
        str_add(out, i ? "; " : "");
        describe_factor(f, &f->items[i], out);
    }
    if (!f->count)
        str_add(out, "-");
}

static struct hlo_module *load(const char *text, size_t size)
{
    struct hlo_module *m = NULL;
    struct err e;

    if (hlo_load_memory("opcodes.hlo", text, size, NULL, &m, &e)) {
        err_print(&e, stderr);
        fprintf(stderr, "in %.200s\n", text);
        fail();
    }
    return m;
}

static char *read_all(const char *path)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    long size = ftell(in);
    rewind(in);
    char *text = mem_alloc((size_t)size + 1);
    assert_int_equal(fread(text, 1, (size_t)size, in), size);
    fclose(in);
    return text;
}

/* ---- the file of all opcodes ---- */

/* One set of dims says the same in any order of its factors and leaves: sorted words compare. */
static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_list(char *list, const char *separators, const char *joint, struct str *out)
{
    char *items[64];
    size_t count = 0;

    for (char *save, *item = strtok_r(list, separators, &save); item;
         item = strtok_r(NULL, separators, &save)) {
        assert_true(count < 64);
        items[count++] = item + (*item == ' ');
    }
    qsort(items, count, sizeof *items, by_text);
    for (size_t i = 0; i < count; i++) {
        str_add(out, i ? joint : "");
        str_add(out, items[i]);
    }
}

static void normalise(const char *factors, struct str *out)
{
    char text[1024], copy[1024] = "";
    struct str words = {0};

    assert_true(strlen(factors) < sizeof text);
    strncpy(text, factors, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (char *save, *factor = strtok_r(text, ";", &save); factor; factor = strtok_r(NULL, ";", &save)) {
        str_clear(&words);
        char *colon = strchr(factor, ':');
        if (colon)
            *colon++ = '\0';
        sort_list(colon ? colon : factor, " ", " ", &words);
        size_t used = strlen(copy);
        snprintf(copy + used, sizeof copy - used, "%s%s%s%s", used ? ";" : "", colon ? factor + (*factor == ' ') : "",
                 colon ? ": " : "", words.text);
    }
    str_clear(out);
    sort_list(copy, ";", "; ", out);
    str_release(&words);
}

static bool is_listed(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    return i->opcode != HLO_OP_PARAMETER && i->opcode != HLO_OP_CONSTANT && !i->is_root &&
           i->computation == m->entry;
}

static int check_one(const struct hlo_module *m, hlo_id id, const char *expected)
{
    struct hlo_factors f = {0};
    struct str have = {0}, a = {0}, b = {0};

    describe(m, id, &f, &have);
    normalise(have.text, &a);
    normalise(expected, &b);
    if (strcmp(a.text, b.text) != 0) {
        print_error("%s: factors %s\n  expected %s\n", hlo_name(m, id), have.text, expected);
        fail();
    }
    str_release(&have);
    str_release(&a);
    str_release(&b);
    hlo_factors_release(&f);
    return 1;
}

/* "// factors NAME: LIST" lines of one module; marks the opcodes that were checked. */
static int check_module(const char *text, size_t size, bool *seen)
{
    static const char head[] = "// factors ";
    struct hlo_module *m = load(text, size);
    const struct hlo_computation *entry = &m->computations[m->entry];
    int checked = 0;

    for (const char *line = text; (line = strstr(line, head)) && line < text + size;) {
        char name[64], list[1024];
        line += sizeof head - 1;
        assert_int_equal(sscanf(line, "%63[^:]: %1023[^\n]", name, list), 2);
        if (strcmp(name, "*") != 0) {
            hlo_id id = hlo_find(m, name);
            if (id == HLO_NONE)
                print_error("no instruction %s\n", name);
            assert_true(id != HLO_NONE);
            checked += check_one(m, id, list);
            seen[hlo_at(m, id)->opcode] = true;
            continue;
        }
        for (hlo_id id = entry->first; id < entry->first + entry->count; id++) {
            if (!is_listed(m, id))
                continue;
            checked += check_one(m, id, list);
            seen[hlo_at(m, id)->opcode] = true;
        }
    }
    hlo_free(m);
    return checked;
}

static void test_every_opcode(void **state)
{
    (void)state;
    static const char separator[] = "// -----\n";
    char *text = read_all(AUTOMAP_SOURCE_DIR "/tests/ref/hlo/opcodes.hlo");
    bool seen[HLO_OP_COUNT] = {[HLO_OP_PARAMETER] = true, [HLO_OP_CONSTANT] = true};
    int checked = 0;

    for (char *part = text, *end; part; part = end) {
        end = strstr(part, separator);
        checked += check_module(part, end ? (size_t)(end - part) : strlen(part), seen);
        if (end)
            end += sizeof separator - 1;
    }
    for (int op = 0; op < HLO_OP_UNKNOWN; op++) {
        if (!seen[op])
            print_error("%s stands nowhere in opcodes.hlo\n", hlo_op_info[op].name);
        assert_true(seen[op]);
    }
    assert_true(checked > 170);
    free(text);
}

/* ---- printing, for split.py ---- */

static int print_factors(const char *path, int32_t part)
{
    struct hlo_load_options options = {.module = part};
    struct hlo_module *m;
    struct hlo_factors f = {0};
    struct str text = {0};
    struct err e;

    if (hlo_load(path, &options, &m, &e)) {
        err_print(&e, stderr);
        return 2;
    }
    for (hlo_id id = 0; id < m->count; id++) {
        describe(m, id, &f, &text);
        printf("%s\t%s\t%s\n", m->computations[hlo_at(m, id)->computation].name, hlo_name(m, id),
               text.text);
    }
    str_release(&text);
    hlo_factors_release(&f);
    hlo_free(m);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_opcode),
    };

    if (argc > 1)
        return print_factors(argv[1], argc > 2 ? (int32_t)strtol(argv[2], NULL, 10) : -1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
