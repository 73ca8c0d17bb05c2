/* Kinds of plain fields: numbers, words, strings and lists of them. */
#include "hlo/convert_kind.h"

#include <string.h>

int64_t convert_integer(const struct convert_value *v)
{
    int64_t wide = 0;
    int32_t narrow;

    if (reflect_item_size(v->f->type) == 8) {
        memcpy(&wide, reflect_at(v->m, v->f, 0), 8);
        return wide;
    }
    if (v->f->type == PROTOBUF_C_TYPE_BOOL)
        return *(protobuf_c_boolean *)reflect_at(v->m, v->f, 0);
    memcpy(&narrow, reflect_at(v->m, v->f, 0), 4);
    return narrow;
}

static bool store(const struct convert_value *v, struct reflect_value r)
{
    return !reflect_store(v->c->arena, v->m, v->f, &r);
}

static bool store_int(const struct convert_value *v, int64_t i)
{
    return store(v, (struct reflect_value){.kind = REFLECT_INT, .i = i});
}

static void print_int(const struct convert_value *v, struct str *out)
{
    str_add_int(out, convert_integer(v));
}
static bool take_int(const struct convert_value *v, struct scan *s)
{
    int64_t i;

    return scan_int(s, &i) && store_int(v, i);
}

static void print_bool(const struct convert_value *v, struct str *out)
{
    str_add(out, convert_integer(v) ? "true" : "false");
}
static bool take_bool(const struct convert_value *v, struct scan *s)
{
    bool yes;

    return scan_bool(s, &yes) && store_int(v, yes);
}

/* XLA streams epsilon: six significant digits. */
static void print_epsilon(const struct convert_value *v, struct str *out)
{
    str_format(out, "%g", (double)*(float *)reflect_at(v->m, v->f, 0));
}
static bool take_epsilon(const struct convert_value *v, struct scan *s)
{
    double d;

    return scan_real(s, &d) && store(v, (struct reflect_value){.kind = REFLECT_DOUBLE, .d = d});
}

/* A string field printed without quotes. */
static void print_plain(const struct convert_value *v, struct str *out)
{
    str_add(out, *(char **)reflect_at(v->m, v->f, 0));
}
static bool take_plain(const struct convert_value *v, struct scan *s)
{
    struct scan word;

    if (!scan_word(s, &word))
        return false;
    size_t size = (size_t)(word.end - word.at);
    char *text = arena_text(v->c->arena, word.at, size);
    return text &&
           store(v, (struct reflect_value){.kind = REFLECT_TEXT, .text = text, .size = size});
}

static struct scan text_of(const struct convert_value *v)
{
    if (v->f->type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *data = reflect_at(v->m, v->f, 0);
        return scan_of((const char *)data->data, data->len);
    }
    const char *text = *(char **)reflect_at(v->m, v->f, 0);
    return scan_of(text, strlen(text));
}

static void print_string(const struct convert_value *v, struct str *out)
{
    struct scan text = text_of(v);

    print_quoted(text.at, (size_t)(text.end - text.at), out);
}
static bool take_string(const struct convert_value *v, struct scan *s)
{
    struct reflect_value r = {.kind = REFLECT_TEXT};

    if (scan_peek(s, '{'))
        return false;
    r.text = scan_string(s, v->c->arena, &r.size);
    return r.text && store(v, r);
}

/* ---- lists ---- */

static void print_int_list(const struct convert_value *v, struct str *out)
{
    str_add_char(out, '{');
    print_ints(reflect_at(v->m, v->f, 0), reflect_count(v->m, v->f), ",", out);
    str_add_char(out, '}');
}
static bool take_int_list(const struct convert_value *v, struct scan *s)
{
    int64_t *items;
    size_t count;

    if (!scan_ints(s, v->c->arena, "{,}", &items, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!store_int(v, items[i]))
            return false;
    }
    return true;
}

/* iota_dimension, inferred_dimension: the only dim of a list. */
static void print_first(const struct convert_value *v, struct str *out)
{
    str_add_int(out, reflect_count(v->m, v->f) ? *(int64_t *)reflect_at(v->m, v->f, 0) : 0);
}

static void print_bool_list(const struct convert_value *v, struct str *out)
{
    str_add_char(out, '{');
    for (size_t i = 0; i < reflect_count(v->m, v->f); i++)
        str_format(out, "%s%s", i ? "," : "",
                   *(protobuf_c_boolean *)reflect_at(v->m, v->f, i) ? "true" : "false");
    str_add_char(out, '}');
}
static bool take_bool_list(const struct convert_value *v, struct scan *s)
{
    bool yes, braces = scan_char(s, '{');

    if (braces && scan_char(s, '}'))
        return true;
    do {
        if (!scan_bool(s, &yes) || !store_int(v, yes))
            return false;
    } while (braces && scan_char(s, ','));
    return !braces || scan_char(s, '}');
}

/* ---- enums: their name, or in lower case without a prefix ---- */

static void print_enum_item(const struct convert_value *v, size_t n, struct str *out)
{
    int32_t number = *(int32_t *)reflect_at(v->m, v->f, n);
    const ProtobufCEnumValue *found =
        protobuf_c_enum_descriptor_get_value(v->f->descriptor, number);
    const char *prefix = v->row->prefix;

    if (!found) {
        str_add_int(out, number);
    } else if (!prefix) {
        str_add(out, found->name);
    } else {
        size_t skip = strncmp(found->name, prefix, strlen(prefix)) ? 0 : strlen(prefix);
        for (const char *c = found->name + skip; *c; c++)
            str_add_char(out, *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c);
    }
}
static void print_enum(const struct convert_value *v, struct str *out)
{
    print_enum_item(v, 0, out);
}
static bool take_enum(const struct convert_value *v, struct scan *s)
{
    char name[80];
    struct scan word;
    const char *prefix = v->row->prefix ? v->row->prefix : "";
    size_t size = strlen(prefix);

    if (!scan_word(s, &word) || size + (size_t)(word.end - word.at) >= sizeof name)
        return false;
    memcpy(name, prefix, size);
    for (const char *c = word.at; c < word.end; c++)
        name[size++] = v->row->prefix && *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    name[size] = 0;
    return store(v, (struct reflect_value){.kind = REFLECT_TEXT, .text = name, .size = size});
}

static void print_enum_list(const struct convert_value *v, struct str *out)
{
    str_add_char(out, '{');
    for (size_t i = 0; i < reflect_count(v->m, v->f); i++) {
        if (i)
            str_add_char(out, ',');
        print_enum_item(v, i, out);
    }
    str_add_char(out, '}');
}
static bool take_enum_list(const struct convert_value *v, struct scan *s)
{
    if (!scan_char(s, '{'))
        return false;
    if (scan_char(s, '}'))
        return true;
    do {
        if (!take_enum(v, s))
            return false;
    } while (scan_char(s, ','));
    return scan_char(s, '}');
}

/* What a comparison of this element type means when the text does not say. */
const char *convert_default_comparison(const struct convert_context *c)
{
    char class = c->operand_type < HLO_TYPE_COUNT ? hlo_type_info[c->operand_type].class : 'F';

    return class == 'I' ? "SIGNED" : class == 'U' || class == 'P' ? "UNSIGNED" : "FLOAT";
}
static void print_comparison(const struct convert_value *v, struct str *out)
{
    const char *type = convert_instruction(v)->comparison_type;

    if (*type && strcmp(type, convert_default_comparison(v->c)))
        str_add(out, type);
}

/* is_associative=true|false of a TriState. */
static void print_tristate(const struct convert_value *v, struct str *out)
{
    str_add(out, convert_integer(v) == XLA__TRI_STATE__TRI_STATE_TRUE ? "true" : "false");
}
static bool take_tristate(const struct convert_value *v, struct scan *s)
{
    bool yes;

    return scan_bool(s, &yes) &&
           store_int(v, yes ? XLA__TRI_STATE__TRI_STATE_TRUE : XLA__TRI_STATE__TRI_STATE_FALSE);
}

const struct convert_kind kind_integer = {print_int, take_int};
const struct convert_kind kind_boolean = {print_bool, take_bool};
const struct convert_kind kind_epsilon = {print_epsilon, take_epsilon};
const struct convert_kind kind_plain = {print_plain, take_plain};
const struct convert_kind kind_string = {print_string, take_string};
const struct convert_kind kind_ints = {print_int_list, take_int_list};
const struct convert_kind kind_first = {print_first, take_int};
const struct convert_kind kind_bools = {print_bool_list, take_bool_list};
const struct convert_kind kind_word = {print_enum, take_enum};
const struct convert_kind kind_words = {print_enum_list, take_enum_list};
const struct convert_kind kind_comparison = {print_comparison, take_plain};
const struct convert_kind kind_tristate = {print_tristate, take_tristate};
