/* Attributes as spans: where they end when read, what they say when asked. */
#include "hlo/module/build.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- ends ---- */

const char *hlo_mlir_name_end(const char *p)
{
    while (lex_is(*p, LEX_NAME) || *p == '$') {
        if (*p == '-' && p[1] == '>')
            break;
        p++;
    }
    return p;
}

const char *hlo_mlir_group_end(const char *p)
{
    size_t depth = 0;

    for (;; p++) {
        switch (*p) {
        case '\0':
            return NULL;
        case '(':
        case '[':
        case '{':
        case '<':
            depth++;
            break;
        case '>':
            if (p[-1] == '-')
                break;
            /* fall through */
        case ')':
        case ']':
        case '}':
            if (!--depth)
                return p + 1;
            break;
        case '"':
            p = hlo_lex_string_end(p);
            if (!p)
                return NULL;
            p--;
            break;
        default:
            break;
        }
    }
}

const char *hlo_mlir_value_end(const char *p)
{
    for (;; p++) {
        switch (*p) {
        case '\0':
            return NULL;
        case ',':
        case ')':
        case ']':
        case '}':
            return p;
        case '>':
            if (p[-1] == '-')
                break;
            return p;
        case '(':
        case '[':
        case '{':
        case '<':
            p = hlo_mlir_group_end(p);
            if (!p)
                return NULL;
            p--;
            break;
        case '"':
            p = hlo_lex_string_end(p);
            if (!p)
                return NULL;
            p--;
            break;
        default:
            break;
        }
    }
}

static struct mlir_span trimmed(const char *text, const char *end)
{
    text = lex_skip(text);
    while (end > text && lex_is(end[-1], LEX_BLANK))
        end--;
    if (end < text)
        end = text;
    return (struct mlir_span){text, (uint32_t)(end - text)};
}

/* ---- reading ---- */

int hlo_mlir_push_attr(struct mlir_parser *p, const char *name, const char *text, const char *end)
{
    if (!mem_grow(&p->attrs, &p->attr_room, p->attr_count, 1))
        return hlo_mlir_memory(p->m);
    p->attrs[p->attr_count++] =
        (struct mlir_attr){{name, (uint32_t)strlen(name)}, trimmed(text, end)};
    return 0;
}

/* A dictionary or a list is a value by itself: nothing stands behind it. */
static bool ends_itself(const char *value, const char *end)
{
    return (*value != '{' && *value != '[') || lex_skip(hlo_mlir_group_end(value)) >= end;
}

/* `key = value` or `key`. */
static int parse_attr(struct mlir_parser *p)
{
    struct mlir_attr a = {{p->at, 0}, {p->at, 0}};
    const char *end;

    if (*p->at == '"') {
        end = hlo_lex_string_end(p->at);
        if (!end)
            return hlo_mlir_parse_fail(p, p->at, "string is not closed, expected \"");
        a.name = (struct mlir_span){p->at + 1, (uint32_t)(end - p->at - 2)};
    } else {
        end = hlo_mlir_name_end(p->at);
        a.name.size = (uint32_t)(end - p->at);
    }
    if (!a.name.size)
        return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" found, expected the name of an attribute",
                                   MLIR_WORD(p->at));
    p->at = end;
    mlir_skip(p);
    if (*p->at == '=') {
        const char *value = lex_skip(p->at + 1);
        end = hlo_mlir_value_end(value);
        if (!end || end - value > INT32_MAX)
            return hlo_mlir_parse_fail(p, value, "the value of an attribute has no end");
        a.value = trimmed(value, end);
        if (!a.value.size)
            return hlo_mlir_parse_fail(p, value, "\"%.*s\" found, expected a value",
                                       MLIR_WORD(value));
        if (!ends_itself(value, end)) {
            const char *rest = lex_skip(hlo_mlir_group_end(value));
            return hlo_mlir_parse_fail(p, rest, "\"%.*s\" found, expected , or } after a value",
                                       MLIR_WORD(rest));
        }
        p->at = end;
    }
    if (!mem_grow(&p->attrs, &p->attr_room, p->attr_count, 1))
        return hlo_mlir_memory(p->m);
    p->attrs[p->attr_count++] = a;
    return 0;
}

int hlo_mlir_parse_attrs(struct mlir_parser *p)
{
    bool is_properties = *p->at == '<';

    p->at += is_properties;
    if (hlo_mlir_parse_expect(p, "{", "before attributes"))
        return p->m->e->code;
    mlir_skip(p);
    while (*p->at != '}') {
        if (parse_attr(p))
            return p->m->e->code;
        mlir_skip(p);
        if (*p->at != ',' && *p->at != '}')
            return hlo_mlir_parse_fail(
                p, p->at, "\"%.*s\" found, expected , or } after an attribute", MLIR_WORD(p->at));
        if (*p->at == ',')
            p->at = lex_skip(p->at + 1);
    }
    p->at++;
    return is_properties ? hlo_mlir_parse_expect(p, ">", "after properties") : 0;
}

int hlo_mlir_keep_attrs(struct mlir_parser *p, size_t base, uint32_t *first, uint32_t *count)
{
    struct mlir_module *m = p->m;
    size_t n = p->attr_count - base;

    *first = (uint32_t)m->attr_count;
    *count = (uint32_t)n;
    if (!n)
        return 0;
    if (m->attr_count + n > INT32_MAX || !mem_grow(&m->attr_pool, &m->attr_room, m->attr_count, n))
        return hlo_mlir_memory(m);
    memcpy(m->attr_pool + m->attr_count, p->attrs + base, n * sizeof *p->attrs);
    m->attr_count += n;
    p->attr_count = base;
    return 0;
}

int hlo_mlir_parse_loc(struct mlir_parser *p, const char **out)
{
    *out = NULL;
    mlir_skip(p);
    if (p->at[0] != 'l' || strncmp(p->at, "loc(", 4))
        return 0;
    const char *end = hlo_mlir_group_end(p->at + 3);
    if (!end)
        return hlo_mlir_parse_fail(p, p->at, "location is not closed, expected )");
    *out = p->at + 4;
    p->at = end;
    return 0;
}

/* ---- asking ---- */

bool hlo_mlir_is(struct mlir_span s, const char *word)
{
    return strlen(word) == s.size && !memcmp(s.text, word, s.size);
}

bool hlo_mlir_attr_in(const struct mlir_attr *list, uint32_t count, const char *name,
                      struct mlir_span *out)
{
    for (uint32_t n = 0; n < count; n++) {
        if (hlo_mlir_is(list[n].name, name)) {
            *out = list[n].value;
            return true;
        }
    }
    return false;
}

bool hlo_mlir_field(struct mlir_span in, const char *name, struct mlir_span *out)
{
    const char *end = in.text + in.size, *p = in.text;

    while (p < end && *p != '<' && *p != '{')
        p++;
    for (p++; p < end;) {
        p = lex_skip(p);
        const char *key = p, *key_end = hlo_mlir_name_end(p);
        const char *value = lex_skip(key_end);
        if (key_end == key || value >= end)
            return false;
        const char *value_end = hlo_mlir_value_end(value);
        if (!value_end || value_end > end)
            return false;
        if (hlo_mlir_is((struct mlir_span){key, (uint32_t)(key_end - key)}, name)) {
            *out = trimmed(*value == '=' ? value + 1 : value, value_end);
            return true;
        }
        p = value_end + 1;
    }
    return false;
}

bool hlo_mlir_attr(const struct mlir_module *m, const struct mlir_op *op, const char *path,
                   const char *pretty, struct mlir_span *out)
{
    const struct mlir_attr *list = m->attr_pool + op->attrs;
    const char *slash = strchr(path, '/');

    if (pretty && hlo_mlir_attr_in(list, op->attr_count, pretty, out))
        return true;
    if (!slash)
        return hlo_mlir_attr_in(list, op->attr_count, path, out);
    size_t size = (size_t)(slash - path);
    for (uint32_t n = 0; n < op->attr_count; n++) {
        if (list[n].name.size == size && !memcmp(list[n].name.text, path, size))
            return hlo_mlir_field(list[n].value, slash + 1, out);
    }
    return false;
}

/* Numbers of nested brackets, row by row. */
static bool nested_ints(const char *p, const char *end, int64_t *out, size_t room, size_t *count)
{
    *count = 0;
    for (; p < end; p++) {
        int64_t value;
        const char *behind = NULL;
        if (lex_is(*p, LEX_BLANK) || *p == '[' || *p == ']' || *p == ',')
            continue;
        if (hlo_lex_is_word(p, "true") || hlo_lex_is_word(p, "false")) {
            value = *p == 't';
            behind = lex_name_end(p);
        } else {
            behind = hlo_lex_int(p, &value);
        }
        if (!behind || behind > end || *count == room)
            return false;
        out[(*count)++] = value;
        p = behind - 1;
    }
    return true;
}

/* Elements of `tensor<4x2xi64>` at p; 0 when it is none. */
static size_t tensor_elements(const char *p, const char *end)
{
    size_t all = 1;

    if (end - p < 7 || memcmp(p, "tensor<", 7))
        return 0;
    for (p += 7; lex_is(*p, LEX_DIGIT);) {
        size_t dim = 0;
        for (; lex_is(*p, LEX_DIGIT) && dim < 1 << 24; p++)
            dim = dim * 10 + (size_t)(*p - '0');
        if (*p++ != 'x' || __builtin_mul_overflow(all, dim, &all))
            return 0;
    }
    return all;
}

bool hlo_mlir_ints(struct mlir_span s, int64_t *out, size_t room, size_t *count)
{
    const char *p = s.text, *end = s.text + s.size;

    *count = 0;
    if (s.size && *p == '[')
        return nested_ints(p, end, out, room, count);
    if (s.size > 6 && !memcmp(p, "array<", 6)) {
        const char *from = memchr(p, ':', s.size);
        return !from || nested_ints(from + 1, end - 1, out, room, count);
    }
    if (s.size < 7 || memcmp(p, "dense<", 6))
        return false;
    const char *close = hlo_mlir_group_end(p + 5);
    if (!close || close > end || !nested_ints(p + 6, close - 1, out, room, count))
        return false;
    const char *type = lex_skip(close);
    size_t all = *type == ':' ? tensor_elements(lex_skip(type + 1), end) : 0;
    if (p[6] == '[' || *count != 1)
        return true;
    if (all > room)
        return false;
    for (size_t n = 1; n < all; n++)
        out[n] = out[0];
    *count = all;
    return true;
}

bool hlo_mlir_int(struct mlir_span s, int64_t *out)
{
    const char *end = hlo_lex_int(s.text, out);

    return s.size && end && end <= s.text + s.size;
}

bool hlo_mlir_true(struct mlir_span s)
{
    return !s.size || (s.size >= 4 && !memcmp(s.text, "true", 4)) || hlo_mlir_is(s, "unit");
}

struct mlir_span hlo_mlir_word(struct mlir_span s)
{
    const char *end = s.text + s.size;

    if (!s.size || *s.text != '#')
        return s;
    if (end[-1] == '>')
        end--;
    const char *word = end;
    while (word > s.text && lex_is(word[-1], LEX_NAME))
        word--;
    return (struct mlir_span){word, (uint32_t)(end - word)};
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

const char *hlo_mlir_string(struct mlir_module *m, struct mlir_span s, size_t *size)
{
    if (s.size < 2 || *s.text != '"')
        return NULL;
    char *out = arena_get(&hlo_builder_module(m->b)->arena, s.size, 1);
    const char *end = s.text + s.size - 1;
    size_t n = 0;
    for (const char *p = s.text + 1; out && p < end && *p != '"'; p++) {
        char c = *p;
        if (c == '\\' && p + 1 < end) {
            c = *++p;
            if (c == 'n' || c == 't') {
                c = c == 'n' ? '\n' : '\t';
            } else if (hex_digit(c) >= 0 && p + 1 < end && hex_digit(p[1]) >= 0) {
                c = (char)(hex_digit(c) * 16 + hex_digit(p[1]));
                p++;
            }
        }
        out[n++] = c;
    }
    if (out)
        out[n] = '\0';
    *size = n;
    return out;
}
