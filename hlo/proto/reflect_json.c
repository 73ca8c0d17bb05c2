/* The JSON form of protobuf: https://protobuf.dev/programming-guides/json/
 * Read: both key styles, 64-bit integers as strings or numbers, enums by name or number, base64 of
 * either alphabet, null for absent. Written as protobuf's own JSON printer writes. */
#include "hlo/module/read.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A cJSON node takes some 100 bytes: at most 3 GB for a hostile file, 60 MB for 46 MB of HLO text.
 */
enum { NODES_MAX = 1 << 25 };

struct json {
    struct arena *arena;
    struct err *e;
};

static int fail_in_json(struct json *j, const struct reflect_step *s, const char *what)
{
    char path[200];

    hlo_reflect_path(s, path, sizeof path);
    return err_set(j->e, ERR_INPUT, "%s%s%s", path, path[0] ? ": " : "", what);
}

/* ---- scalars ---- */

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static const char *from_base64(struct json *j, const char *text, struct reflect_value *v)
{
    size_t length = strlen(text), size = 0;
    uint32_t bits = 0;
    unsigned held = 0;

    while (length && text[length - 1] == '=')
        length--;
    char *out = arena_get(j->arena, length + 1, 1);
    if (!out)
        return "needs more memory than the limit for this file";
    for (size_t i = 0; i < length; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0)
            return "is not base64";
        bits = bits << 6 | (uint32_t)digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[size++] = (char)(bits >> held);
        }
    }
    *v = (struct reflect_value){.kind = REFLECT_TEXT, .text = out, .size = size};
    return NULL;
}

static const char *number_of_string(const char *text, bool is_real, struct reflect_value *v)
{
    char *end;

    errno = 0;
    *v = (struct reflect_value){.kind = REFLECT_DOUBLE};
    if (is_real && !strcmp(text, "NaN"))
        v->d = (double)NAN;
    else if (is_real && (!strcmp(text, "Infinity") || !strcmp(text, "-Infinity")))
        v->d = text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    else if (is_real)
        v->d = strtod(text, &end);
    else if (text[0] == '-')
        *v = (struct reflect_value){.kind = REFLECT_INT, .i = strtoll(text, &end, 10)};
    else
        *v = (struct reflect_value){.kind = REFLECT_UINT, .u = strtoull(text, &end, 10)};
    if (v->kind == REFLECT_DOUBLE && (isnan(v->d) || isinf(v->d)) && errno != ERANGE)
        return NULL;
    bool starts = (text[0] >= '0' && text[0] <= '9') || (text[0] == '-' && text[1]);
    return !starts || *end || (errno == ERANGE && !is_real) ? "is not a number in range" : NULL;
}

static const char *store_string(struct json *j, ProtobufCMessage *m,
                                const ProtobufCFieldDescriptor *f, const char *text)
{
    struct reflect_value v = {.kind = REFLECT_TEXT, .text = text, .size = strlen(text)};
    const char *wrong = NULL;

    if (f->type == PROTOBUF_C_TYPE_BYTES)
        wrong = from_base64(j, text, &v);
    else if (f->type == PROTOBUF_C_TYPE_STRING)
        v.text = arena_text(j->arena, text, v.size);
    else if (f->type == PROTOBUF_C_TYPE_BOOL)
        v = (struct reflect_value){.kind = REFLECT_INT, .i = !strcmp(text, "true")};
    else if (f->type != PROTOBUF_C_TYPE_ENUM)
        wrong = number_of_string(
            text, f->type == PROTOBUF_C_TYPE_FLOAT || f->type == PROTOBUF_C_TYPE_DOUBLE, &v);
    if (!wrong && v.kind == REFLECT_TEXT && !v.text)
        wrong = "needs more memory than the limit for this file";
    return wrong ? wrong : hlo_reflect_store(j->arena, m, f, &v);
}

static const char *store_scalar(struct json *j, ProtobufCMessage *m,
                                const ProtobufCFieldDescriptor *f, const cJSON *item)
{
    struct reflect_value v = {.kind = REFLECT_DOUBLE, .d = item->valuedouble};

    if (cJSON_IsString(item))
        return store_string(j, m, f, item->valuestring);
    if (cJSON_IsBool(item) && f->type == PROTOBUF_C_TYPE_BOOL)
        v = (struct reflect_value){.kind = REFLECT_INT, .i = cJSON_IsTrue(item)};
    else if (!cJSON_IsNumber(item))
        return cJSON_IsBool(item) ? "is true or false, expected another type"
                                  : "is an array or object, expected one value";
    return hlo_reflect_store(j->arena, m, f, &v);
}

/* ---- structure ---- */

static int read_object(struct json *j, const struct reflect_step *s, const cJSON *object,
                       ProtobufCMessage *m);

static int read_item(struct json *j, const struct reflect_step *s, const cJSON *item,
                     ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        ProtobufCMessage *child = hlo_reflect_child(j->arena, m, f);
        return child ? read_object(j, s, item, child)
                     : fail_in_json(j, s, "needs more memory than the limit for this file");
    }
    const char *wrong = store_scalar(j, m, f, item);
    return wrong ? fail_in_json(j, s, wrong) : 0;
}

static int read_map(struct json *j, const struct reflect_step *s, const cJSON *object,
                    ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    const ProtobufCMessageDescriptor *d = f->descriptor;
    const cJSON *item;

    if (!cJSON_IsObject(object))
        return fail_in_json(j, s, "is not an object, expected one for a map");
    cJSON_ArrayForEach(item, object)
    {
        ProtobufCMessage *entry = hlo_reflect_child(j->arena, m, f);
        if (!entry)
            return fail_in_json(j, s, "needs more memory than the limit for this file");
        const char *wrong = store_string(j, entry, &d->fields[0], item->string);
        if (wrong)
            return fail_in_json(j, s, wrong);
        int rc = read_item(j, s, item, entry, &d->fields[1]);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_member(struct json *j, const struct reflect_step *s, const cJSON *item,
                       ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    struct reflect_step step = {s, f->name, SIZE_MAX, s ? s->depth + 1 : 1};

    if (cJSON_IsNull(item))
        return 0;
    if (hlo_reflect_is_map(f))
        return read_map(j, &step, item, m, f);
    if (!hlo_reflect_is_repeated(f))
        return read_item(j, &step, item, m, f);
    if (!cJSON_IsArray(item))
        return fail_in_json(j, &step, "is not an array");
    const cJSON *element;
    step.index = 0;
    cJSON_ArrayForEach(element, item)
    {
        int rc = read_item(j, &step, element, m, f);
        if (rc)
            return rc;
        step.index++;
    }
    return 0;
}

static int read_object(struct json *j, const struct reflect_step *s, const cJSON *object,
                       ProtobufCMessage *m)
{
    const cJSON *item;

    if (!cJSON_IsObject(object))
        return fail_in_json(j, s, "is not an object");
    if (s && s->depth > HLO_NESTING_MAX)
        return fail_in_json(j, s, "objects are nested too deeply");
    cJSON_ArrayForEach(item, object)
    {
        const ProtobufCFieldDescriptor *f =
            hlo_reflect_field(m->descriptor, item->string, strlen(item->string));
        int rc = f ? read_member(j, s, item, m, f) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

static size_t count_nodes(const char *text, size_t size)
{
    size_t count = 1;

    for (size_t i = 0; i < size; i++)
        count += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return count;
}

static const ProtobufCMessageDescriptor *
choose_message(const ProtobufCMessageDescriptor *const *choices, const cJSON *root)
{
    const ProtobufCMessageDescriptor *best = choices[0];
    size_t most = 0;
    const cJSON *item;

    for (; *choices; choices++) {
        size_t known = 0;
        cJSON_ArrayForEach(item, root)
        {
            known +=
                item->string && hlo_reflect_field(*choices, item->string, strlen(item->string));
        }
        if (known > most) {
            most = known;
            best = *choices;
        }
    }
    return best;
}

int hlo_reflect_from_json(const ProtobufCMessageDescriptor *const *choices, const char *text,
                          size_t size, struct arena *a, ProtobufCMessage **out, struct err *e)
{
    struct json j = {a, e};
    const char *end = NULL;

    if (count_nodes(text, size) > NODES_MAX)
        return err_set(e, ERR_LIMIT, "JSON of more than %d values", NODES_MAX);
    cJSON *root = cJSON_ParseWithLengthOpts(text, size, &end, false);
    if (!root) {
        err_set(e, ERR_INPUT,
                "no valid JSON from here on, expected a JSON value, ',' or a bracket");
        return err_at(e, text, size, end ? (size_t)(end - text) : 0);
    }
    ProtobufCMessage *m = hlo_reflect_new(a, choose_message(choices, root));
    int rc = m ? read_object(&j, NULL, root, m) : err_no_memory(e, "to read the module");
    cJSON_Delete(root);
    if (rc)
        return rc;
    *out = m;
    return rc;
}

/* ---- writing ---- */

static void write_string(struct str *out, const char *text)
{
    static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    const char *from = text;

    str_add_char(out, '"');
    for (; *text; text++) {
        const char *escape = escapes;
        while (*escape && *escape != *text)
            escape += 2;
        if (!*escape && (unsigned char)*text >= 32)
            continue;
        str_add_bytes(out, from, (size_t)(text - from));
        if (*escape)
            str_format(out, "\\%c", escape[1]);
        else
            str_format(out, "\\u%04x", (unsigned char)*text);
        from = text + 1;
    }
    str_add_bytes(out, from, (size_t)(text - from));
    str_add_char(out, '"');
}

static void write_base64(struct str *out, const ProtobufCBinaryData *data)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    str_add_char(out, '"');
    for (size_t i = 0; i < data->len; i += 3) {
        size_t left = data->len - i;
        uint32_t bits = (uint32_t)data->data[i] << 16 |
                        (left > 1 ? (uint32_t)data->data[i + 1] << 8 : 0) |
                        (left > 2 ? data->data[i + 2] : 0);
        char group[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                         left > 1 ? digits[bits >> 6 & 63] : '=',
                         left > 2 ? digits[bits & 63] : '='};
        str_add_bytes(out, group, 4);
    }
    str_add_char(out, '"');
}

/* The shortest of the usual precisions that reads back to the same number. */
static void write_real(struct str *out, double d, bool is_float)
{
    char text[300]; /* more than %.17g ever takes; gcc cannot tell */

    if (isnan(d) || isinf(d)) {
        str_add(out, isnan(d) ? "\"NaN\"" : d < 0 ? "\"-Infinity\"" : "\"Infinity\"");
        return;
    }
    for (int digits = is_float ? 6 : 15; digits <= (is_float ? 9 : 17); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (is_float ? strtof(text, NULL) == (float)d : strtod(text, NULL) == d)
            break;
    }
    str_add(out, text);
}

static int64_t integer_at(const void *at, ProtobufCType type)
{
    int64_t wide;
    int32_t narrow;

    if (hlo_reflect_item_size(type) == 8) {
        memcpy(&wide, at, 8);
        return wide;
    }
    memcpy(&narrow, at, 4);
    return hlo_reflect_is_signed(type) ? narrow : (int64_t)(uint32_t)narrow;
}

static void write_integer(struct str *out, const void *at, ProtobufCType type)
{
    int64_t value = integer_at(at, type);
    bool is_wide = hlo_reflect_item_size(type) == 8;

    if (hlo_reflect_is_signed(type))
        str_format(out, is_wide ? "\"%" PRId64 "\"" : "%" PRId64, value);
    else
        str_format(out, is_wide ? "\"%" PRIu64 "\"" : "%" PRIu64, (uint64_t)value);
}

static void write_message(struct str *out, const ProtobufCMessage *m);

static void write_item(struct str *out, const ProtobufCFieldDescriptor *f, const void *at)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        write_message(out, *(ProtobufCMessage *const *)at);
        break;
    case PROTOBUF_C_TYPE_STRING:
        write_string(out, *(char *const *)at);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        write_base64(out, at);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        str_add(out, *(const protobuf_c_boolean *)at ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        write_real(out, (double)*(const float *)at, true);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        write_real(out, *(const double *)at, false);
        break;
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumValue *v =
            protobuf_c_enum_descriptor_get_value(f->descriptor, *(const int32_t *)at);
        if (v)
            str_format(out, "\"%s\"", v->name);
        else
            str_add_int(out, *(const int32_t *)at);
        break;
    }
    default:
        write_integer(out, at, f->type);
    }
}

static void write_map_entry(struct str *out, const ProtobufCMessage *entry)
{
    const ProtobufCFieldDescriptor *f = entry->descriptor->fields;
    const void *key = hlo_reflect_at(entry, &f[0], 0);

    if (f[0].type == PROTOBUF_C_TYPE_STRING)
        write_string(out, *(char *const *)key);
    else
        write_integer(out, key, PROTOBUF_C_TYPE_INT64);
    str_add_char(out, ':');
    write_item(out, &f[1], hlo_reflect_at(entry, &f[1], 0));
}

static void write_name(struct str *out, const char *snake)
{
    str_add_char(out, '"');
    for (; *snake; snake++) {
        if (*snake == '_' && snake[1]) {
            snake++;
            str_add_char(out, *snake >= 'a' && *snake <= 'z' ? (char)(*snake - 'a' + 'A') : *snake);
        } else {
            str_add_char(out, *snake);
        }
    }
    str_add(out, "\":");
}

static void write_message(struct str *out, const ProtobufCMessage *m)
{
    const ProtobufCMessageDescriptor *d = m->descriptor;
    bool first = true;

    str_add_char(out, '{');
    for (unsigned i = 0; i < d->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &d->fields[i];
        bool is_map = hlo_reflect_is_map(f), is_list = hlo_reflect_is_repeated(f);
        if (!hlo_reflect_has(m, f))
            continue;
        if (!first)
            str_add_char(out, ',');
        first = false;
        write_name(out, f->name);
        if (is_list)
            str_add_char(out, is_map ? '{' : '[');
        for (size_t n = 0; n < hlo_reflect_count(m, f); n++) {
            const void *at = hlo_reflect_at(m, f, n);
            if (n)
                str_add_char(out, ',');
            if (is_map)
                write_map_entry(out, *(ProtobufCMessage *const *)at);
            else
                write_item(out, f, at);
        }
        if (is_list)
            str_add_char(out, is_map ? '}' : ']');
    }
    str_add_char(out, '}');
}

void hlo_reflect_to_json(const ProtobufCMessage *m, struct str *out)
{
    write_message(out, m);
    str_add_char(out, '\n');
}
