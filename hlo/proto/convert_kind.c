/* Kinds of plain fields: numbers, words, strings and lists of them. */
#include "hlo/proto/convert_kind.h"

#include "hlo/module/shape.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/mem.h"

#include <string.h>

int64_t hlo_convert_integer(const struct convert_value *v)
{
    int64_t wide = 0;
    int32_t narrow;

    if (hlo_reflect_item_size(v->f->type) == 8) {
        memcpy(&wide, hlo_reflect_at(v->m, v->f, 0), 8);
        return wide;
    }
    if (v->f->type == PROTOBUF_C_TYPE_BOOL)
        return *(protobuf_c_boolean *)hlo_reflect_at(v->m, v->f, 0);
    memcpy(&narrow, hlo_reflect_at(v->m, v->f, 0), 4);
    return narrow;
}

static bool store(const struct convert_value *v, struct reflect_value r)
{
    return !hlo_reflect_store(v->c->arena, v->m, v->f, &r);
}

static bool store_int(const struct convert_value *v, int64_t i)
{
    return store(v, (struct reflect_value){.kind = REFLECT_INT, .i = i});
}

static void print_int(const struct convert_value *v, struct str *out)
{
    str_add_int(out, hlo_convert_integer(v));
}
static bool take_int(const struct convert_value *v, struct scan *s)
{
    int64_t i;

    return hlo_scan_int(s, &i) && store_int(v, i);
}

static void print_bool(const struct convert_value *v, struct str *out)
{
    str_add(out, hlo_convert_integer(v) ? "true" : "false");
}
static bool take_bool(const struct convert_value *v, struct scan *s)
{
    bool yes;

    return hlo_scan_bool(s, &yes) && store_int(v, yes);
}

/* XLA streams epsilon: six significant digits. */
static void print_epsilon(const struct convert_value *v, struct str *out)
{
    str_format(out, "%g", (double)*(float *)hlo_reflect_at(v->m, v->f, 0));
}
static bool take_epsilon(const struct convert_value *v, struct scan *s)
{
    double d;

    return hlo_scan_real(s, &d) && store(v, (struct reflect_value){.kind = REFLECT_DOUBLE, .d = d});
}

/* A string field printed without quotes. */
static void print_plain(const struct convert_value *v, struct str *out)
{
    str_add(out, *(char **)hlo_reflect_at(v->m, v->f, 0));
}
static bool take_plain(const struct convert_value *v, struct scan *s)
{
    struct scan word;

    if (!hlo_scan_word(s, &word))
        return false;
    size_t size = (size_t)(word.end - word.at);
    char *text = arena_text(v->c->arena, word.at, size);
    return text &&
           store(v, (struct reflect_value){.kind = REFLECT_TEXT, .text = text, .size = size});
}

static struct scan text_of(const struct convert_value *v)
{
    if (v->f->type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *data = hlo_reflect_at(v->m, v->f, 0);
        return scan_of((const char *)data->data, data->len);
    }
    const char *text = *(char **)hlo_reflect_at(v->m, v->f, 0);
    return scan_of(text, strlen(text));
}

static void print_string(const struct convert_value *v, struct str *out)
{
    struct scan text = text_of(v);

    hlo_print_quoted(text.at, (size_t)(text.end - text.at), out);
}
static bool take_string(const struct convert_value *v, struct scan *s)
{
    struct reflect_value r = {.kind = REFLECT_TEXT};

    if (hlo_scan_peek(s, '{'))
        return false;
    r.text = hlo_scan_string(s, v->c->arena, &r.size);
    return r.text && store(v, r);
}

/* ---- lists ---- */

static void print_int_list(const struct convert_value *v, struct str *out)
{
    str_add_char(out, '{');
    hlo_print_ints(hlo_reflect_at(v->m, v->f, 0), hlo_reflect_count(v->m, v->f), ",", out);
    str_add_char(out, '}');
}
static bool take_int_list(const struct convert_value *v, struct scan *s)
{
    int64_t *items;
    size_t count;

    if (!hlo_scan_ints(s, v->c->arena, "{,}", &items, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!store_int(v, items[i]))
            return false;
    }
    return true;
}

/* slice_sizes of an in-place permute: the message has the numbers of all lists in a row. Several
 * lists are printed as one: how many dims each has, the field does not say. */
static void print_size_lists(const struct convert_value *v, struct str *out)
{
    str_add_char(out, '{');
    print_int_list(v, out);
    str_add_char(out, '}');
}
static bool take_size_lists(const struct convert_value *v, struct scan *s)
{
    if (!hlo_scan_char(s, '{'))
        return false;
    for (size_t n = 0; !hlo_scan_char(s, '}'); n++) {
        if ((n && !hlo_scan_char(s, ',')) || !take_int_list(v, s))
            return false;
    }
    return true;
}

/* iota_dimension, inferred_dimension: the only dim of a list. */
static void print_first(const struct convert_value *v, struct str *out)
{
    str_add_int(out, hlo_reflect_count(v->m, v->f) ? *(int64_t *)hlo_reflect_at(v->m, v->f, 0) : 0);
}

static void print_bool_list(const struct convert_value *v, struct str *out)
{
    str_add_char(out, '{');
    for (size_t i = 0; i < hlo_reflect_count(v->m, v->f); i++)
        str_format(out, "%s%s", i ? "," : "",
                   *(protobuf_c_boolean *)hlo_reflect_at(v->m, v->f, i) ? "true" : "false");
    str_add_char(out, '}');
}
static bool take_bool_list(const struct convert_value *v, struct scan *s)
{
    bool yes, braces = hlo_scan_char(s, '{');

    if (braces && hlo_scan_char(s, '}'))
        return true;
    do {
        if (!hlo_scan_bool(s, &yes) || !store_int(v, yes))
            return false;
    } while (braces && hlo_scan_char(s, ','));
    return !braces || hlo_scan_char(s, '}');
}

/* ---- enums: their name, or in lower case without a prefix ---- */

static void print_enum_item(const struct convert_value *v, size_t n, struct str *out)
{
    int32_t number = *(int32_t *)hlo_reflect_at(v->m, v->f, n);
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

    if (!hlo_scan_word(s, &word) || size + (size_t)(word.end - word.at) >= sizeof name)
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
    for (size_t i = 0; i < hlo_reflect_count(v->m, v->f); i++) {
        if (i)
            str_add_char(out, ',');
        print_enum_item(v, i, out);
    }
    str_add_char(out, '}');
}
static bool take_enum_list(const struct convert_value *v, struct scan *s)
{
    if (!hlo_scan_char(s, '{'))
        return false;
    if (hlo_scan_char(s, '}'))
        return true;
    do {
        if (!take_enum(v, s))
            return false;
    } while (hlo_scan_char(s, ','));
    return hlo_scan_char(s, '}');
}

/* What a comparison of this element type means when the text does not say. */
const char *hlo_convert_default_comparison(const struct convert_context *c)
{
    char class = c->operand_type < HLO_TYPE_COUNT ? hlo_type_info[c->operand_type].class : 'F';

    return class == 'I' ? "SIGNED" : class == 'U' || class == 'P' ? "UNSIGNED" : "FLOAT";
}
static void print_comparison(const struct convert_value *v, struct str *out)
{
    const char *type = convert_instruction(v)->comparison_type;

    if (*type && strcmp(type, hlo_convert_default_comparison(v->c)))
        str_add(out, type);
}

/* is_associative=true|false of a TriState. */
static void print_tristate(const struct convert_value *v, struct str *out)
{
    str_add(out, hlo_convert_integer(v) == XLA__TRI_STATE__TRI_STATE_TRUE ? "true" : "false");
}
static bool take_tristate(const struct convert_value *v, struct scan *s)
{
    bool yes;

    return hlo_scan_bool(s, &yes) &&
           store_int(v, yes ? XLA__TRI_STATE__TRI_STATE_TRUE : XLA__TRI_STATE__TRI_STATE_FALSE);
}

const struct convert_kind hlo_kind_integer = {print_int, take_int};
const struct convert_kind hlo_kind_boolean = {print_bool, take_bool};
const struct convert_kind hlo_kind_epsilon = {print_epsilon, take_epsilon};
const struct convert_kind hlo_kind_plain = {print_plain, take_plain};
const struct convert_kind hlo_kind_string = {print_string, take_string};
const struct convert_kind hlo_kind_ints = {print_int_list, take_int_list};
const struct convert_kind hlo_kind_sizes = {print_size_lists, take_size_lists};
const struct convert_kind hlo_kind_first = {print_first, take_int};
const struct convert_kind hlo_kind_bools = {print_bool_list, take_bool_list};
const struct convert_kind hlo_kind_word = {print_enum, take_enum};
const struct convert_kind hlo_kind_words = {print_enum_list, take_enum_list};
const struct convert_kind hlo_kind_comparison = {print_comparison, take_plain};
const struct convert_kind hlo_kind_tristate = {print_tristate, take_tristate};
