/* One op: `%a, %b:2 = name ... : types loc(..)`, generic or pretty. The pretty forms of most ops
 * are read alike: operands, words, `key = value` and brackets in any order up to the colon. */
#include "hlo/module/build.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- values ---- */

static int new_value(struct mlir_parser *p, const struct mlir_value_info *info, mlir_value *out)
{
    struct mlir_module *m = p->m;

    if (m->value_count >= INT32_MAX || !mem_grow(&m->values, &m->value_room, m->value_count, 1))
        return hlo_mlir_memory(m);
    *out = (mlir_value)m->value_count;
    m->values[m->value_count++] = *info;
    return 0;
}

static int define_value(struct mlir_parser *p, struct mlir_span name, mlir_value v)
{
    uint32_t n = hlo_mlir_name(&p->names, name.text, name.size);

    if (n == MLIR_NONE || !mem_grow(&p->shadowed, &p->shadowed_room, p->shadowed_count, 1))
        return hlo_mlir_memory(p->m);
    uint32_t old = p->names.list[n].value;
    if (old != MLIR_NONE && p->m->values[old].region == p->region)
        return hlo_mlir_parse_fail(p, name.text, "a second \"%%%.*s\", expected a new name",
                                   (int)(name.size < 60 ? name.size : 60), name.text);
    p->shadowed[p->shadowed_count++] = (struct mlir_shadowed){n, old};
    p->names.list[n].value = v;
    return 0;
}

int hlo_mlir_push_operand(struct mlir_parser *p, mlir_value v)
{
    if (!mem_grow(&p->operands, &p->operand_room, p->operand_count, 1))
        return hlo_mlir_memory(p->m);
    p->operands[p->operand_count++] = v;
    return 0;
}

int hlo_mlir_parse_operand(struct mlir_parser *p)
{
    const char *name = p->at + 1, *end = hlo_mlir_name_end(name);

    if (*p->at != '%' || end == name)
        return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" found, expected a value such as %%0",
                                   MLIR_WORD(p->at));
    uint32_t n = hlo_mlir_name(&p->names, name, (size_t)(end - name));
    if (n == MLIR_NONE)
        return hlo_mlir_memory(p->m);
    mlir_value v = p->names.list[n].value;
    if (v == MLIR_NONE)
        return hlo_mlir_parse_fail(
            p, p->at, "\"%.*s\" is not defined, expected a value defined before", MLIR_WORD(p->at));
    if (*end == '#') {
        int64_t index;
        const struct mlir_value_info *first = &p->m->values[v];
        const char *behind = hlo_lex_int(end + 1, &index);
        if (!behind || first->op == MLIR_NONE || index < 0 ||
            (uint64_t)index >= p->m->ops[first->op].result_count - first->number)
            return hlo_mlir_parse_fail(
                p, end, "no such result, expected # and a number below %u",
                first->op == MLIR_NONE ? 1 : p->m->ops[first->op].result_count - first->number);
        v += (mlir_value)index;
        end = behind;
    }
    p->at = end;
    return hlo_mlir_push_operand(p, v);
}

/* `(%a, %b)` */
static int parse_operand_list(struct mlir_parser *p)
{
    if (hlo_mlir_parse_expect(p, "(", "before operands"))
        return p->m->e->code;
    for (bool first = true; !hlo_mlir_eat(p, ")"); first = false) {
        if (!first && hlo_mlir_parse_expect(p, ",", "between operands"))
            return p->m->e->code;
        mlir_skip(p);
        if (hlo_mlir_parse_operand(p))
            return p->m->e->code;
    }
    return 0;
}

/* ---- regions ---- */

int hlo_mlir_region_begin(struct mlir_parser *p, mlir_op_id parent, mlir_region_id *out)
{
    struct mlir_module *m = p->m;

    if (p->depth >= HLO_NESTING_MAX)
        return hlo_mlir_parse_fail(p, p->at, "regions nested deeper than %d", HLO_NESTING_MAX);
    if (m->region_count >= INT32_MAX || !mem_grow(&m->regions, &m->region_room, m->region_count, 1))
        return hlo_mlir_memory(m);
    p->depth++;
    *out = (mlir_region_id)m->region_count++;
    m->regions[*out] = (struct mlir_region){.first_arg = (mlir_value)m->value_count,
                                            .first = (mlir_op_id)m->op_count,
                                            .last = MLIR_NONE,
                                            .parent = parent,
                                            .next = MLIR_NONE};
    if (parent != MLIR_NONE) {
        struct mlir_op *op = &m->ops[parent];
        mlir_region_id *link = &op->regions;
        while (*link != MLIR_NONE)
            link = &m->regions[*link].next;
        *link = *out;
        if (++op->region_count > 1024)
            return hlo_mlir_parse_fail(p, p->at, "more than 1024 regions of one operation");
    }
    p->region = *out;
    return 0;
}

int hlo_mlir_region_arg(struct mlir_parser *p, struct mlir_span name, hlo_shape_id shape)
{
    mlir_value v = 0;
    struct mlir_region *r = &p->m->regions[p->region];
    struct mlir_value_info info = {shape, p->region, MLIR_NONE, r->arg_count++};

    if (new_value(p, &info, &v))
        return p->m->e->code;
    return define_value(p, name, v);
}

int hlo_mlir_region_body(struct mlir_parser *p)
{
    for (mlir_skip(p); *p->at != '}'; mlir_skip(p)) {
        if (!*p->at)
            return hlo_mlir_parse_fail(p, p->at, "end of the file inside a region, expected }");
        if (*p->at == '^')
            return hlo_mlir_parse_fail(p, p->at,
                                       "a second block, expected regions of one block: "
                                       "jumps between blocks have no form in HLO");
        p->m->regions[p->region].last = (mlir_op_id)p->m->op_count;
        if (hlo_mlir_parse_op(p))
            return p->m->e->code;
    }
    p->at++;
    return 0;
}

void hlo_mlir_region_end(struct mlir_parser *p, size_t shadowed)
{
    struct mlir_region *r = &p->m->regions[p->region];

    r->end = (mlir_op_id)p->m->op_count;
    r->after = (mlir_region_id)p->m->region_count;
    while (p->shadowed_count > shadowed) {
        const struct mlir_shadowed *s = &p->shadowed[--p->shadowed_count];
        p->names.list[s->name].value = s->value;
    }
    p->depth--;
}

int hlo_mlir_parse_argument(struct mlir_parser *p, struct mlir_span *name, hlo_shape_id *shape,
                            const char **loc)
{
    mlir_skip(p);
    name->text = p->at + 1;
    if (*p->at != '%')
        return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" found, expected an argument",
                                   MLIR_WORD(p->at));
    p->at = hlo_mlir_name_end(name->text);
    name->size = (uint32_t)(p->at - name->text);
    if (hlo_mlir_parse_expect(p, ":", "after the name of an argument") ||
        hlo_mlir_parse_type(p, shape) || hlo_mlir_parse_loc(p, loc))
        return p->m->e->code;
    return 0;
}

/* `^bb0(%a: T loc(..), %b: T):` */
static int parse_label(struct mlir_parser *p)
{
    p->at = hlo_mlir_name_end(p->at + 1);
    if (hlo_mlir_eat(p, "(")) {
        for (bool first = true; !hlo_mlir_eat(p, ")"); first = false) {
            struct mlir_span name;
            hlo_shape_id shape;
            const char *loc;
            if (!first && hlo_mlir_parse_expect(p, ",", "between arguments"))
                return p->m->e->code;
            if (hlo_mlir_parse_argument(p, &name, &shape, &loc) ||
                hlo_mlir_region_arg(p, name, shape))
                return p->m->e->code;
        }
    }
    return hlo_mlir_parse_expect(p, ":", "after the label of a block");
}

int hlo_mlir_parse_region(struct mlir_parser *p, mlir_op_id parent)
{
    mlir_region_id outer = p->region, inner;
    size_t shadowed = p->shadowed_count;

    if (hlo_mlir_parse_expect(p, "{", "before a region") ||
        hlo_mlir_region_begin(p, parent, &inner))
        return p->m->e->code;
    mlir_skip(p);
    if (*p->at == '^' && parse_label(p))
        return p->m->e->code;
    if (hlo_mlir_region_body(p))
        return p->m->e->code;
    hlo_mlir_region_end(p, shadowed);
    p->region = outer;
    return 0;
}

/* ---- generic form ---- */

static int parse_regions(struct mlir_parser *p, mlir_op_id id)
{
    mlir_skip(p);
    if (*p->at != '(')
        return 0;
    p->at++;
    do {
        if (hlo_mlir_parse_region(p, id))
            return p->m->e->code;
    } while (hlo_mlir_eat(p, ","));
    return hlo_mlir_parse_expect(p, ")", "after regions");
}

static int parse_generic(struct mlir_parser *p, struct mlir_reading *r)
{
    if (parse_operand_list(p))
        return p->m->e->code;
    mlir_skip(p);
    if (*p->at == '[')
        return hlo_mlir_parse_fail(p, p->at,
                                   "successors of a block, expected none: jumps have no "
                                   "form in HLO");
    if (*p->at == '<' && hlo_mlir_parse_attrs(p))
        return p->m->e->code;
    if (parse_regions(p, r->id))
        return p->m->e->code;
    mlir_skip(p);
    if (*p->at == '{' && hlo_mlir_parse_attrs(p))
        return p->m->e->code;
    mlir_skip(p);
    if (*p->at != ':')
        return hlo_mlir_parse_expect(p, ":", "before the type of an operation");
    return hlo_mlir_parse_colon_types(p, r);
}

/* ---- pretty forms ---- */

/* `%5 = ` or `%5:2 = `: the next op has begun. */
static bool at_definition(const char *p)
{
    const char *end = hlo_mlir_name_end(p + 1);
    int64_t n;

    if (*end == ':' && lex_is(end[1], LEX_DIGIT))
        end = hlo_lex_int(end + 1, &n);
    return end && *lex_skip(end) == '=';
}

/* The end of `[0] x [0]`, `[b, 0]x[0, i]->[b, 0]`, `<..>`, `e5m10`, `-1`. */
static const char *loose_value_end(const char *p)
{
    for (;;) {
        if (*p == '[' || *p == '{' || *p == '<' || *p == '(')
            p = hlo_mlir_group_end(p);
        else if (*p == '"')
            p = hlo_lex_string_end(p);
        else if (*p == '#' || *p == '-' || *p == '@')
            p = hlo_mlir_name_end(p + 1);
        else
            p = hlo_mlir_name_end(p);
        if (!p)
            return NULL;
        const char *next = lex_skip(p);
        if (*p == '<') {
            continue; /* #dialect.attr<..>, dense<..> */
        } else if (*next == 'x' && *lex_skip(next + 1) == '[') {
            p = lex_skip(next + 1);
        } else if (next[0] == '-' && next[1] == '>' && *lex_skip(next + 2) == '[') {
            p = lex_skip(next + 2);
        } else {
            return p;
        }
    }
}

static int push_span(struct mlir_parser *p, struct mlir_span name, const char *value,
                     const char *end)
{
    if (hlo_mlir_push_attr(p, "", value, end))
        return p->m->e->code;
    p->attrs[p->attr_count - 1].name = name;
    return 0;
}

static int unfinished(struct mlir_parser *p)
{
    return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" has no end", MLIR_WORD(p->at));
}

/* A word: `key = value`, `dense<..>`, or alone: attribute "word0", then "word1". */
static int parse_word(struct mlir_parser *p, int *words)
{
    static const char *const names[] = {"word0", "word1", "word2"};
    const char *end = hlo_mlir_name_end(p->at), *next = lex_skip(end);
    struct mlir_span word = {p->at, (uint32_t)(end - p->at)};

    if (*next == '=') {
        const char *value = lex_skip(next + 1), *value_end = loose_value_end(value);
        if (!value_end || value_end == value)
            return unfinished(p);
        p->at = value_end;
        return push_span(p, word, value, value_end);
    }
    if (*end == '<') {
        end = hlo_mlir_group_end(end);
        if (!end)
            return unfinished(p);
    }
    const char *begin = p->at;
    p->at = end;
    if (begin[0] == 'd' && *hlo_mlir_name_end(begin) == '<')
        return hlo_mlir_push_attr(p, "value", begin, end);
    return *words < 3 ? hlo_mlir_push_attr(p, names[(*words)++], begin, end) : 0;
}

static int parse_bracketed(struct mlir_parser *p, const char *name)
{
    const char *begin = p->at, *end = *begin == '"'   ? hlo_lex_string_end(begin)
                                      : *begin == '@' ? hlo_mlir_name_end(begin + 1)
                                                      : hlo_mlir_group_end(begin);

    if (*begin == '@' && begin[1] == '"')
        end = hlo_lex_string_end(begin + 1);
    if (!end)
        return unfinished(p);
    p->at = end;
    return hlo_mlir_push_attr(p, name, begin, end);
}

/* `{ ^bb0(` or `{ %5 =`: not attributes. */
static bool at_region(const char *p)
{
    p = lex_skip(p + 1);
    return *p == '^' || *p == '%';
}

static int parse_loose(struct mlir_parser *p, struct mlir_reading *r)
{
    const char *line = p->at;
    int words = 0, open = 0;

    for (mlir_skip(p);; mlir_skip(p)) {
        int rc = 0;
        bool is_new_line = memchr(line, '\n', (size_t)(p->at - line)) != NULL;
        line = p->at;
        switch (*p->at) {
        case ':':
            return hlo_mlir_parse_colon_types(p, r);
        case ',':
            p->at++;
            break;
        case '%':
            if (is_new_line && at_definition(p->at))
                return 0;
            rc = hlo_mlir_parse_operand(p);
            break;
        case '(':
            p->at++;
            open++;
            break;
        case ')':
            if (!open--)
                return 0;
            p->at++;
            break;
        case '@':
            rc = parse_bracketed(p, "callee");
            break;
        case '"':
            if (is_new_line)
                return 0;
            rc = parse_bracketed(p, "name");
            break;
        case '[':
            rc = parse_bracketed(p, "indices");
            break;
        case '<':
            rc = p->at[1] == '{' ? hlo_mlir_parse_attrs(p) : parse_bracketed(p, "sharding");
            break;
        case '{':
            rc = at_region(p->at) ? hlo_mlir_parse_region(p, r->id) : hlo_mlir_parse_attrs(p);
            break;
        default: {
            const char *end = hlo_mlir_name_end(p->at);
            if (end == p->at || !strncmp(p->at, "loc(", 4) ||
                (is_new_line && memchr(p->at, '.', (size_t)(end - p->at))))
                return 0;
            rc = parse_word(p, &words);
        }
        }
        if (rc)
            return rc;
    }
}

int hlo_mlir_parse_colon_types(struct mlir_parser *p, struct mlir_reading *r)
{
    if (hlo_mlir_parse_expect(p, ":", "before types") || hlo_mlir_parse_types(p))
        return p->m->e->code;
    mlir_skip(p);
    r->arrow = p->type_count;
    r->has_arrow = p->at[0] == '-' && p->at[1] == '>';
    if (!r->has_arrow)
        return 0;
    p->at += 2;
    return hlo_mlir_parse_types(p);
}

/* ---- results ---- */

static int parse_result_names(struct mlir_parser *p)
{
    do {
        int64_t count = 1;
        mlir_skip(p);
        const char *name = p->at + 1, *end = hlo_mlir_name_end(name);
        if (*p->at != '%' || end == name)
            return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" found, expected the name of a result",
                                       MLIR_WORD(p->at));
        p->at = end;
        if (*end == ':') {
            p->at = hlo_lex_int(end + 1, &count);
            if (!p->at || count < 1 || count > HLO_LEAVES_MAX) {
                p->at = end;
                return hlo_mlir_parse_fail(p, end, "expected the number of results");
            }
        }
        if (!mem_grow(&p->results, &p->result_room, p->result_count, 1) ||
            !mem_grow(&p->counts, &p->counts_room, p->result_count, 1))
            return hlo_mlir_memory(p->m);
        p->results[p->result_count] = (struct mlir_span){name, (uint32_t)(end - name)};
        p->counts[p->result_count++] = (uint32_t)count;
    } while (hlo_mlir_eat(p, ","));
    return hlo_mlir_parse_expect(p, "=", "after the names of results");
}

static bool has_no_results(uint16_t row)
{
    return row == MLIR_OP_RETURN || row == MLIR_OP_STABLEHLO_RETURN || row == MLIR_OP_SDY_RETURN ||
           row == MLIR_OP_SHARDING_GROUP;
}

/* Types of the results: behind the arrow; else all (several results), or the last. */
static int make_results(struct mlir_parser *p, struct mlir_reading *r)
{
    struct mlir_module *m = p->m;
    struct mlir_op *op = &m->ops[r->id];
    size_t first = r->has_arrow ? r->arrow : r->types, named = 0;
    const char *at = m->input + op->at;

    for (size_t n = r->results; n < p->result_count; n++)
        named += p->counts[n];
    if (!r->has_arrow && has_no_results(op->row))
        first = p->type_count;
    else if (!r->has_arrow && named <= 1 && op->row != MLIR_OP_WHILE && p->type_count > r->types)
        first = p->type_count - 1;
    size_t count = p->type_count - first;
    if (!r->has_arrow && !named && op->row != MLIR_OP_WHILE)
        count = 0;
    if (named && named != count)
        return hlo_mlir_parse_fail(p, at, "%zu results named, expected %zu", named, count);
    op->results = (mlir_value)m->value_count;
    op->result_count = (uint32_t)count;
    for (size_t n = 0; n < count; n++) {
        mlir_value v;
        struct mlir_value_info info = {p->types[first + n], p->region, r->id, (uint32_t)n};
        if (new_value(p, &info, &v))
            return m->e->code;
    }
    mlir_value v = m->ops[r->id].results;
    for (size_t n = r->results; n < p->result_count; v += p->counts[n++]) {
        if (define_value(p, p->results[n], v))
            return m->e->code;
    }
    return 0;
}

static int keep_operands(struct mlir_parser *p, const struct mlir_reading *r)
{
    struct mlir_module *m = p->m;
    size_t n = p->operand_count - r->operands;

    m->ops[r->id].operands = (uint32_t)m->operand_count;
    m->ops[r->id].operand_count = (uint32_t)n;
    if (!n)
        return 0;
    if (m->operand_count + n > INT32_MAX ||
        !mem_grow(&m->operand_pool, &m->operand_room, m->operand_count, n))
        return hlo_mlir_memory(m);
    memcpy(m->operand_pool + m->operand_count, p->operands + r->operands, n * sizeof *p->operands);
    m->operand_count += n;
    return 0;
}

/* ---- an op ---- */

/* Line and column of `at`, which only moves forward. */
static void place_op(struct mlir_parser *p, const char *at, struct mlir_op *op)
{
    const char *newline;

    while ((newline = memchr(p->line_at, '\n', (size_t)(at - p->line_at)))) {
        p->line++;
        p->line_begin = p->line_at = newline + 1;
    }
    p->line_at = at;
    op->line = p->line;
    op->col = (uint32_t)(at - p->line_begin) + 1;
}

static int find_row(struct mlir_parser *p, struct mlir_op *op)
{
    uint32_t n = hlo_mlir_name(&p->op_names, op->name.text, op->name.size);

    if (n == MLIR_NONE)
        return hlo_mlir_memory(p->m);
    struct mlir_name *known = &p->op_names.list[n];
    if (known->value == MLIR_NONE)
        known->value = hlo_mlir_op_by_name(op->name.text, op->name.size);
    op->row = (uint16_t)known->value;
    return 0;
}

static int parse_name(struct mlir_parser *p, struct mlir_op *op, bool *is_generic)
{
    const char *begin = p->at, *end;

    *is_generic = *begin == '"';
    if (*is_generic) {
        end = hlo_lex_string_end(begin);
        if (!end || end - begin < 3)
            return hlo_mlir_parse_fail(p, begin, "expected the name of an operation in quotes");
        op->name = (struct mlir_span){begin + 1, (uint32_t)(end - begin - 2)};
    } else {
        end = hlo_mlir_name_end(begin);
        if (end == begin || !lex_is(*begin, LEX_START))
            return hlo_mlir_parse_fail(p, begin,
                                       "\"%.*s\" found, expected an operation such as "
                                       "stablehlo.add",
                                       MLIR_WORD(begin));
        op->name = (struct mlir_span){begin, (uint32_t)(end - begin)};
    }
    if (op->name.size > 256)
        return hlo_mlir_parse_fail(p, begin, "name of an operation longer than 256 bytes");
    if (op->name.size > 5 && !memcmp(op->name.text, "vhlo.", 5))
        return hlo_mlir_parse_fail(p, begin,
                                   "this is a portable artifact (VHLO), expected StableHLO: "
                                   "stablehlo-translate --deserialize makes it of the artifact");
    p->at = end;
    return find_row(p, op);
}

static int parse_rest(struct mlir_parser *p, struct mlir_reading *r, bool is_generic)
{
    if (is_generic)
        return parse_generic(p, r);
    switch (p->m->ops[r->id].row) {
    case MLIR_OP_REDUCE:
        return hlo_mlir_parse_reduce(p, r);
    case MLIR_OP_WHILE:
        return hlo_mlir_parse_while(p, r);
    case MLIR_OP_MANUAL:
    case MLIR_OP_NAMED:
        return hlo_mlir_parse_manual(p, r);
    default:
        return parse_loose(p, r);
    }
}

/* jax.export writes what only MHLO has as a custom-call: `@mhlo.topk {mhlo.attributes = {k = 2}}`.
 * Taken for the operation it stands for. */
static int unwrap_mhlo(struct mlir_parser *p, mlir_op_id id)
{
    struct mlir_op *op = &p->m->ops[id];
    struct mlir_span target, attrs;
    const char *at = p->at;
    size_t base = p->attr_count;

    if (!hlo_mlir_attr(p->m, op, "call_target_name", "callee", &target) || target.size < 7 ||
        memcmp(target.text + 1, "mhlo.", 5) != 0 ||
        !hlo_mlir_attr(p->m, op, "mhlo.attributes", NULL, &attrs) || *attrs.text != '{')
        return 0;
    size_t size = target.size - 1 - (*target.text == '"');
    uint16_t row = (uint16_t)hlo_mlir_op_by_name(target.text + 1, size);
    if (row == MLIR_OP_UNKNOWN)
        return 0;
    op->row = row;
    p->at = attrs.text;
    if (hlo_mlir_parse_attrs(p) || hlo_mlir_keep_attrs(p, base, &op->attrs, &op->attr_count))
        return p->m->e->code;
    p->at = at;
    return 0;
}

int hlo_mlir_parse_op(struct mlir_parser *p)
{
    struct mlir_module *m = p->m;
    struct mlir_reading r = {.id = (mlir_op_id)m->op_count,
                             .operands = p->operand_count,
                             .attrs = p->attr_count,
                             .types = p->type_count,
                             .results = p->result_count};
    bool is_generic;
    struct mlir_op op = {
        .region = p->region, .regions = MLIR_NONE, .at = (size_t)(p->at - m->input)};

    place_op(p, p->at, &op);
    if ((*p->at == '%' && parse_result_names(p)))
        return m->e->code;
    mlir_skip(p);
    op.at = (size_t)(p->at - m->input);
    if (parse_name(p, &op, &is_generic))
        return m->e->code;
    if (m->op_count >= HLO_INSTRUCTIONS_MAX || !mem_grow(&m->ops, &m->op_room, m->op_count, 1))
        return hlo_mlir_memory(m);
    m->ops[m->op_count++] = op;
    r.arrow = r.types;
    if (parse_rest(p, &r, is_generic) || keep_operands(p, &r) ||
        hlo_mlir_keep_attrs(p, r.attrs, &m->ops[r.id].attrs, &m->ops[r.id].attr_count) ||
        (m->ops[r.id].row == MLIR_OP_CUSTOM_CALL && unwrap_mhlo(p, r.id)) ||
        hlo_mlir_parse_loc(p, &m->ops[r.id].loc) || make_results(p, &r))
        return m->e->code;
    m->ops[r.id].end = (mlir_op_id)m->op_count;
    p->operand_count = r.operands;
    p->type_count = r.types;
    p->result_count = r.results;
    return 0;
}
