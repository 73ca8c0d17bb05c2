/* The factors of every opcode and the way of partial results through it, against the lines "factors
 * NAME: .." and "partial NAME: .." of tests/ref/hlo/opcodes.hlo, which were proved by running the
 * parts on XLA (tests/ref/hlo/split.py).
 * `hlo_factors FILE [PART]` prints the factors of all instructions of a file: what split.py reads.
 */
#include "hlo/load.h"
#include "hlo/meaning/factors.h"

#include "opcodes_file.h"

static const char *const combiners[HLO_COMBINE_COUNT] = {
    [HLO_COMBINE_NONE] = "none", [HLO_COMBINE_ADD] = "add", [HLO_COMBINE_MUL] = "mul",
    [HLO_COMBINE_MAX] = "max",   [HLO_COMBINE_MIN] = "min", [HLO_COMBINE_AND] = "and",
    [HLO_COMBINE_OR] = "or",
};

/* SIZE [COMBINER] [masked|divide|inside]: LEAF.DIM .. */
static void describe_factor(const struct hlo_factors *f, const struct hlo_factor *x,
                            struct str *out)
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
        str_format(out, " %s%u.%d", is_result ? "r" : "",
                   is_result ? leaf - f->operand_leaves : leaf, x->dims[leaf]);
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

/* COMBINER LETTERS, ..: per operand leaf T together, A alone, - stops; combiners that stop at all
 * operands are left out. */
static void describe_partials(const struct hlo_module *m, hlo_id id, struct str *out)
{
    static const char letters[] = {
        [HLO_PARTIAL_STOPS] = '-', [HLO_PARTIAL_TOGETHER] = 'T', [HLO_PARTIAL_ALONE] = 'A'};

    str_clear(out);
    for (int c = HLO_COMBINE_ADD; c < HLO_COMBINE_COUNT; c++) {
        char word[64] = "";
        bool any = false;
        for (uint32_t leaf = 0; leaf < hlo_at(m, id)->operand_count && leaf < sizeof word - 1;
             leaf++) {
            word[leaf] = letters[hlo_passes_partial(m, id, leaf, (enum hlo_combiner)c)];
            any |= word[leaf] != '-';
        }
        if (any)
            str_format(out, "%s%s %s", out->size ? ", " : "", combiners[c], word);
    }
    if (!out->size)
        str_add(out, "-");
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
    for (char *save, *factor = strtok_r(text, ";", &save); factor;
         factor = strtok_r(NULL, ";", &save)) {
        str_clear(&words);
        char *colon = strchr(factor, ':');
        if (colon)
            *colon++ = '\0';
        sort_list(colon ? colon : factor, " ", " ", &words);
        size_t used = strlen(copy);
        snprintf(copy + used, sizeof copy - used, "%s%s%s%s", used ? ";" : "",
                 colon ? factor + (*factor == ' ') : "", colon ? ": " : "", words.text);
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

struct seen {
    bool opcodes[HLO_OP_COUNT];
    int count;
};

static void check_one(const struct hlo_module *m, hlo_id id, const char *expected,
                      struct seen *seen)
{
    struct hlo_factors f = {0};
    struct str have = {0}, a = {0}, b = {0};

    describe(m, id, &f, &have);
    normalise(have.text, &a);
    normalise(expected, &b);
    if (strcmp(a.text, b.text) != 0)
        fail_msg("%s: factors %s\n  expected %s", hlo_name(m, id), have.text, expected);
    seen->opcodes[hlo_at(m, id)->opcode] = true;
    seen->count++;
    str_release(&have);
    str_release(&a);
    str_release(&b);
    hlo_factors_release(&f);
}

static void check_line(const struct hlo_module *m, const char *name, const char *rest,
                       void *context)
{
    const struct hlo_computation *entry = &m->computations[m->entry];

    if (strcmp(name, "*") != 0)
        check_one(m, opcodes_find(m, name), rest, context);
    for (hlo_id id = entry->first; id < entry->first + entry->count && !strcmp(name, "*"); id++)
        if (is_listed(m, id))
            check_one(m, id, rest, context);
}

static void test_every_opcode(void **state)
{
    (void)state;
    struct seen seen = {.opcodes = {[HLO_OP_PARAMETER] = true, [HLO_OP_CONSTANT] = true}};

    opcodes_each("// factors ", check_line, &seen);
    for (int op = 0; op < HLO_OP_UNKNOWN; op++)
        if (!seen.opcodes[op])
            fail_msg("%s stands nowhere in opcodes.hlo", hlo_op_info[op].name);
    assert_true(seen.count > 170);
}

static void check_partial(const struct hlo_module *m, const char *name, const char *rest,
                          void *context)
{
    struct str have = {0};

    describe_partials(m, opcodes_find(m, name), &have);
    if (strcmp(have.text, rest) != 0)
        fail_msg("%s: partial %s\n  expected %s", name, have.text, rest);
    str_release(&have);
    ++*(int *)context;
}

static void test_partial_results(void **state)
{
    (void)state;
    int count = 0;

    opcodes_each("// partial ", check_partial, &count);
    assert_true(count > 150);
}

/* ---- printing, for split.py ---- */

static int print_factors(const char *path, int32_t part)
{
    struct hlo_load_options options = {.module = part};
    struct hlo_module *m;
    struct hlo_factors f = {0};
    struct str text = {0}, partials = {0};
    struct err e;

    if (hlo_load(path, &options, &m, &e)) {
        err_print(&e, stderr);
        return 2;
    }
    for (hlo_id id = 0; id < m->count; id++) {
        describe(m, id, &f, &text);
        describe_partials(m, id, &partials);
        printf("%s\t%s\t%s\t%s\n", m->computations[hlo_at(m, id)->computation].name,
               hlo_name(m, id), text.text, partials.text);
    }
    str_release(&text);
    str_release(&partials);
    hlo_factors_release(&f);
    hlo_free(m);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_opcode),
        cmocka_unit_test(test_partial_results),
    };

    if (argc > 1)
        return print_factors(argv[1], argc > 2 ? (int32_t)strtol(argv[2], NULL, 10) : -1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
