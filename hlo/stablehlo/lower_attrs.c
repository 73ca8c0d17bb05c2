/* Attributes of the table, as HLO prints them. */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

int hlo_lower_attr(struct lower *l, enum hlo_attr_key key, const char *text, size_t size)
{
    char *copy = arena_text(&hlo_builder_module(l->b)->arena, text, size);

    if (!copy || !mem_grow(&l->attrs, &l->attr_room, l->attr_count, 1))
        return hlo_lower_memory(l);
    l->attrs[l->attr_count++] =
        (struct hlo_attr){.key = (uint16_t)key, .size = (uint32_t)size, .text = copy};
    return 0;
}

int hlo_lower_attr_text(struct lower *l, enum hlo_attr_key key)
{
    int rc = l->text.failed
                 ? hlo_lower_memory(l)
                 : hlo_lower_attr(l, key, l->text.size ? l->text.text : "", l->text.size);
    str_clear(&l->text);
    return rc;
}

static void add_ints(struct str *out, const int64_t *ints, size_t count)
{
    str_add_char(out, '{');
    for (size_t n = 0; n < count; n++) {
        if (n)
            str_add_char(out, ',');
        str_add_int(out, ints[n]);
    }
    str_add_char(out, '}');
}

int hlo_lower_attr_ints(struct lower *l, enum hlo_attr_key key, const int64_t *ints, size_t count)
{
    str_clear(&l->text);
    add_ints(&l->text, ints, count);
    return hlo_lower_attr_text(l, key);
}

static int bad(struct lower *l, const char *name, struct mlir_span s, const char *want)
{
    return hlo_lower_fail(l, "%s is \"%.*s\", expected %s", name, s.size < 60 ? (int)s.size : 60,
                          s.text, want);
}

int hlo_lower_numbers(struct lower *l, const char *path, const char *pretty, size_t count,
                      int64_t absent, int64_t *out)
{
    struct mlir_span s;
    size_t found;

    for (size_t n = 0; n < count; n++)
        out[n] = absent;
    if (!hlo_mlir_attr(l->m, l->op, path, pretty, &s))
        return 0;
    if (!hlo_mlir_ints(s, out, count, &found) || found != count)
        return hlo_lower_fail(l, "%s is \"%.*s\", expected %zu numbers", path,
                              s.size < 60 ? (int)s.size : 60, s.text, count);
    return 0;
}

/* ---- kinds ---- */

static int ints_attr(struct lower *l, const struct mlir_attr_info *a, struct mlir_span s)
{
    int64_t ints[HLO_RANK_MAX];
    size_t count = 0;

    if (s.size && !hlo_mlir_ints(s, ints, HLO_RANK_MAX, &count))
        return bad(l, a->name, s, "dims such as [0, 1]");
    if (!count && a->kind == MLIR_KIND_INTS_OR_NOT)
        return 0;
    return hlo_lower_attr_ints(l, a->key, ints, count);
}

static int int_attr(struct lower *l, const struct mlir_attr_info *a, struct mlir_span s)
{
    int64_t value = 0;

    if (s.size && !hlo_mlir_int(s, &value))
        return bad(l, a->name, s, "a number");
    if (a->kind == MLIR_KIND_SORT_DIM && (!s.size || value < 0)) {
        uint32_t rank = l->op->operand_count ? hlo_lower_operand_shape(l, 0)->rank : 0;
        value += s.size ? (int64_t)rank : (int64_t)rank - 1;
    }
    if (a->kind == MLIR_KIND_COUNT && value == 1)
        return 0;
    if (a->kind == MLIR_KIND_INT_LIST || a->kind == MLIR_KIND_SORT_DIM)
        return hlo_lower_attr_ints(l, a->key, &value, 1);
    str_clear(&l->text);
    str_add_int(&l->text, value);
    return hlo_lower_attr_text(l, a->key);
}

static int flag_attr(struct lower *l, const struct mlir_attr_info *a, struct mlir_span s)
{
    return hlo_mlir_true(s) ? hlo_lower_attr(l, a->key, "true", 4) : 0;
}

static int float_attr(struct lower *l, const struct mlir_attr_info *a, struct mlir_span s)
{
    const char *end = memchr(s.text, ' ', s.size);
    size_t size = end ? (size_t)(end - s.text) : s.size;

    for (size_t n = 0; n < size; n++) {
        if (!memchr("0123456789+-.eE", s.text[n], 15))
            return bad(l, a->name, s, "a number");
    }
    return size ? hlo_lower_attr(l, a->key, s.text, size) : bad(l, a->name, s, "a number");
}

static bool is_word(struct mlir_span s)
{
    for (uint32_t n = 0; n < s.size; n++) {
        if (!lex_is(s.text[n], LEX_NAME))
            return false;
    }
    return s.size && s.size < 60;
}

static void add_lower(struct str *out, struct mlir_span s)
{
    for (uint32_t n = 0; n < s.size; n++)
        str_add_char(out,
                     s.text[n] >= 'A' && s.text[n] <= 'Z' ? (char)(s.text[n] + 32) : s.text[n]);
}

static int word_attr(struct lower *l, const struct mlir_attr_info *a, struct mlir_span s)
{
    struct mlir_span word = hlo_mlir_word(s);

    if (!is_word(word))
        return bad(l, a->name, s, "a word");
    if (a->kind == MLIR_KIND_WORD)
        return hlo_lower_attr(l, a->key, word.text, word.size);
    str_clear(&l->text);
    str_add(&l->text, "rng_");
    add_lower(&l->text, word);
    return hlo_lower_attr_text(l, a->key);
}

/* `[DEFAULT, HIGHEST]` or `[#stablehlo<precision DEFAULT>, ..]` */
static int precision_attr(struct lower *l, const struct mlir_attr_info *a, struct mlir_span s)
{
    const char *p = s.text + 1, *end = s.text + s.size;
    bool is_default = true;
    int words = 0;

    str_clear(&l->text);
    str_add_char(&l->text, '{');
    while (p < end) {
        p = lex_skip(p);
        const char *from = p;
        while (p < end && *p != ',' && *p != ']')
            p++;
        struct mlir_span word = hlo_mlir_word((struct mlir_span){from, (uint32_t)(p - from)});
        p++;
        if (!word.size)
            continue;
        if (!is_word(word))
            return bad(l, a->name, s, "words such as [DEFAULT, HIGHEST]");
        is_default &= hlo_mlir_is(word, "DEFAULT");
        if (words++)
            str_add_char(&l->text, ',');
        add_lower(&l->text, word);
    }
    str_add_char(&l->text, '}');
    if (is_default) {
        str_clear(&l->text);
        return 0;
    }
    return hlo_lower_attr_text(l, a->key);
}

/* `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`; -1 pads a row. */
static int groups_attr(struct lower *l, const struct mlir_attr_info *a, struct mlir_span s)
{
    enum { GROUPS_MAX = 1 << 16 };
    const char *type = NULL;
    int64_t *ints, rows = 0, columns = 0;
    size_t count, least = a->key == HLO_ATTR_SOURCE_TARGET_PAIRS ? 2 : 1; /* in a row, before -1 */

    for (uint32_t n = 0; n + 7 < s.size && !type; n++)
        type = memcmp(s.text + n, "tensor<", 7) ? NULL : s.text + n + 7;
    if (type) {
        type = hlo_lex_int(type, &rows);
        type = type && *type == 'x' ? hlo_lex_int(type + 1, &columns) : NULL;
    }
    if (!type || rows < 0 || columns < 0 || rows > GROUPS_MAX || columns > GROUPS_MAX)
        return bad(l, a->name, s, "groups such as dense<[[0, 1]]> : tensor<1x2xi64>");
    if (least == 2 && rows && columns != 2)
        return bad(l, a->name, s, "a source and a target in each row");
    ints = mem_try(GROUPS_MAX, sizeof *ints);
    if (!ints)
        return hlo_lower_memory(l);
    if (!hlo_mlir_ints(s, ints, GROUPS_MAX, &count) || count != (size_t)(rows * columns)) {
        free(ints);
        return bad(l, a->name, s, "as many numbers as its type says");
    }
    str_clear(&l->text);
    str_add_char(&l->text, '{');
    for (int64_t r = 0; r < rows; r++) {
        size_t used = 0;
        while (used < (size_t)columns && ints[r * columns + (int64_t)used] >= 0)
            used++;
        if (used < least) {
            free(ints);
            return bad(l, a->name, s, least == 2 ? "no device below 0" : "a device in each row");
        }
        if (r)
            str_add_char(&l->text, ',');
        add_ints(&l->text, ints + r * columns, used);
    }
    str_add_char(&l->text, '}');
    free(ints);
    return hlo_lower_attr_text(l, a->key);
}

/* As a string of HLO's text: C's escapes, in octal what is no printable ASCII. */
static void add_escaped(struct str *out, const char *text, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        unsigned char c = (unsigned char)text[n];
        if (c == '"' || c == '\\')
            str_format(out, "\\%c", c);
        else if (c < ' ' || c >= 0x7f)
            str_format(out, "\\%03o", c);
        else
            str_add_char(out, (char)c);
    }
}

int hlo_lower_string_attr(struct lower *l, const struct mlir_attr_info *a, struct mlir_span s)
{
    size_t size = 0;
    const char *text = hlo_mlir_string(l->m, s, &size);

    str_clear(&l->text);
    str_add_char(&l->text, '"');
    add_escaped(&l->text, text, text ? size : 0);
    str_add_char(&l->text, '"');
    return hlo_lower_attr_text(l, a->key);
}

static int (*const kinds[])(struct lower *, const struct mlir_attr_info *, struct mlir_span) = {
    [MLIR_KIND_INTS] = ints_attr,     [MLIR_KIND_INTS_OR_NOT] = ints_attr,
    [MLIR_KIND_INT] = int_attr,       [MLIR_KIND_INT_OR_ZERO] = int_attr,
    [MLIR_KIND_INT_LIST] = int_attr,  [MLIR_KIND_SORT_DIM] = int_attr,
    [MLIR_KIND_COUNT] = int_attr,     [MLIR_KIND_FLOAT] = float_attr,
    [MLIR_KIND_FLAG] = flag_attr,     [MLIR_KIND_WORD] = word_attr,
    [MLIR_KIND_RNG_WORD] = word_attr, [MLIR_KIND_PRECISION] = precision_attr,
    [MLIR_KIND_GROUPS] = groups_attr, [MLIR_KIND_STRING] = hlo_lower_string_attr,
};

static bool may_be_absent(uint8_t kind)
{
    return kind == MLIR_KIND_INTS || kind == MLIR_KIND_INT_OR_ZERO || kind == MLIR_KIND_SORT_DIM;
}

int hlo_lower_table_attrs(struct lower *l)
{
    const struct mlir_op_info *info = &hlo_mlir_op_info[l->op->row];

    for (int n = 0; n < MLIR_OP_ATTRS_MAX && info->attrs[n].name; n++) {
        const struct mlir_attr_info *a = &info->attrs[n];
        struct mlir_span s = {"", 0};
        bool is_there = hlo_mlir_attr(l->m, l->op, a->name, a->pretty, &s);
        if (!is_there && !may_be_absent(a->kind))
            continue;
        if (kinds[a->kind](l, a, s))
            return l->e->code;
    }
    return hlo_lower_common_attrs(l);
}

/* ---- those that any op may have ---- */

static bool has_control(const char *text, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        if ((unsigned char)text[n] < ' ' || text[n] == 0x7f)
            return true;
    }
    return false;
}

/* `mhlo.sharding = "{replicated}"`: HLO's own text, closed as HLO's is. */
int hlo_lower_sharding(struct lower *l, const struct mlir_attr *list, uint32_t count)
{
    struct mlir_span s;
    size_t size;

    if (!hlo_mlir_attr_in(list, count, "mhlo.sharding", &s))
        return 0;
    const char *text = hlo_mlir_string(l->m, s, &size);
    if (!text || *text != '{' || hlo_lex_group_end(text) != text + size || has_control(text, size))
        return 0;
    return hlo_lower_attr(l, HLO_ATTR_SHARDING, text, size);
}

/* The rule by which Shardy splits a custom-call, as HLO carries it. */
static int add_sharding_rule(struct lower *l)
{
    struct mlir_span s;

    if (!hlo_mlir_attr(l->m, l->op, "sdy.sharding_rule", NULL, &s) || memchr(s.text, '"', s.size) ||
        memchr(s.text, '\n', s.size))
        return 0;
    str_add(&l->text, "xla.sdy.sharding_rule=\"");
    str_add_bytes(&l->text, s.text, s.size);
    str_add_char(&l->text, '"');
    return 1;
}

/* `{a = "x", b.c = "y"}` to `{a="x",b.c="y"}`; entries that are no strings are left out. */
static int frontend_attrs(struct lower *l, struct mlir_span s)
{
    const char *p = s.text + 1, *end = s.text + s.size;
    int entries;

    str_clear(&l->text);
    str_add_char(&l->text, '{');
    entries = add_sharding_rule(l);
    while (p < end) {
        p = lex_skip(p);
        const char *key = p, *key_end = *p == '"' ? hlo_lex_string_end(p) : p;
        while (*p != '"' && key_end < end && (lex_is(*key_end, LEX_NAME) || *key_end == '$'))
            key_end++;
        const char *value = key_end ? lex_skip(key_end) : NULL;
        if (!value || value >= end || *value != '=')
            break;
        value = lex_skip(value + 1);
        const char *value_end = *value == '"' ? hlo_lex_string_end(value) : NULL;
        if (!value_end || value_end > end)
            break;
        size_t size;
        struct mlir_span quoted = {value, (uint32_t)(value_end - value)};
        const char *text = hlo_mlir_string(l->m, quoted, &size);
        if (!text)
            return hlo_lower_memory(l);
        if (*key == '"') {
            key++;
            key_end--;
        }
        if (is_word((struct mlir_span){key, (uint32_t)(key_end - key)})) {
            if (entries++)
                str_add_char(&l->text, ',');
            str_add_bytes(&l->text, key, (size_t)(key_end - key));
            str_add(&l->text, "=\"");
            add_escaped(&l->text, text, size);
            str_add_char(&l->text, '"');
        }
        p = lex_skip(value_end);
        p += *p == ',';
    }
    str_add_char(&l->text, '}');
    if (entries)
        return hlo_lower_attr_text(l, HLO_ATTR_FRONTEND_ATTRIBUTES);
    str_clear(&l->text);
    return 0;
}

int hlo_lower_common_attrs(struct lower *l)
{
    const struct mlir_attr *list = l->m->attr_pool + l->op->attrs;
    struct mlir_span s;

    if (!l->op->attr_count)
        return 0;
    if (hlo_lower_sharding(l, list, l->op->attr_count))
        return l->e->code;
    if (!hlo_mlir_attr_in(list, l->op->attr_count, "mhlo.frontend_attributes", &s) || s.size < 2)
        s = (struct mlir_span){"{}", 2};
    return frontend_attrs(l, s);
}
