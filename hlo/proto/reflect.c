#include "hlo/proto/reflect.h"

#include <math.h>
#include <string.h>

ProtobufCMessage *hlo_reflect_new(struct arena *a, const ProtobufCMessageDescriptor *d)
{
    ProtobufCMessage *m = arena_get(a, 1, d->sizeof_message);

    if (m)
        d->message_init(m);
    return m;
}

/* "entryComputationId" is "entry_computation_id". */
static bool is_camel(const char *snake, const char *name, size_t size)
{
    size_t n = 0;

    for (; *snake; snake++) {
        char c = *snake;
        if (c == '_' && snake[1]) {
            c = *++snake;
            if (c >= 'a' && c <= 'z')
                c = (char)(c - 'a' + 'A');
        }
        if (n == size || name[n++] != c)
            return false;
    }
    return n == size;
}

const ProtobufCFieldDescriptor *hlo_reflect_field(const ProtobufCMessageDescriptor *d,
                                                  const char *name, size_t size)
{
    for (unsigned i = 0; i < d->n_fields; i++) {
        const char *snake = d->fields[i].name;
        if (size && snake[0] == name[0] &&
            ((strlen(snake) == size && !memcmp(snake, name, size)) || is_camel(snake, name, size)))
            return &d->fields[i];
    }
    return NULL;
}

bool hlo_reflect_is_repeated(const ProtobufCFieldDescriptor *f)
{
    return f->label == PROTOBUF_C_LABEL_REPEATED;
}

/* protobuf-c does not mark maps: a repeated message NameEntry { key = 1; value = 2; }. */
bool hlo_reflect_is_map(const ProtobufCFieldDescriptor *f)
{
    if (!hlo_reflect_is_repeated(f) || f->type != PROTOBUF_C_TYPE_MESSAGE)
        return false;
    const ProtobufCMessageDescriptor *d = f->descriptor;
    size_t length = strlen(d->short_name);
    return d->n_fields == 2 && length > 5 && !strcmp(d->short_name + length - 5, "Entry") &&
           !strcmp(d->fields[0].name, "key") && !strcmp(d->fields[1].name, "value");
}

bool hlo_reflect_is_signed(ProtobufCType type)
{
    return type != PROTOBUF_C_TYPE_UINT32 && type != PROTOBUF_C_TYPE_UINT64 &&
           type != PROTOBUF_C_TYPE_FIXED32 && type != PROTOBUF_C_TYPE_FIXED64;
}

size_t hlo_reflect_item_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(char *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(ProtobufCMessage *);
    default:
        return 4;
    }
}

static size_t *count_of(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    return (size_t *)((char *)(uintptr_t)m + f->quantifier_offset);
}

size_t hlo_reflect_count(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    return hlo_reflect_is_repeated(f) ? *count_of(m, f) : hlo_reflect_has(m, f);
}

void *hlo_reflect_at(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, size_t n)
{
    char *member = (char *)(uintptr_t)m + f->offset;

    if (!hlo_reflect_is_repeated(f))
        return member;
    char *items = *(char **)(void *)member;
    return items ? items + n * hlo_reflect_item_size(f->type) : NULL;
}

bool hlo_reflect_has(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    if (hlo_reflect_is_repeated(f))
        return *count_of(m, f) > 0;
    if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        return *(uint32_t *)((char *)(uintptr_t)m + f->quantifier_offset) == f->id;
    const void *at = hlo_reflect_at(m, f, 0);
    if (f->type == PROTOBUF_C_TYPE_MESSAGE)
        return *(ProtobufCMessage *const *)at != NULL;
    if (f->type == PROTOBUF_C_TYPE_STRING)
        return *(char *const *)at && **(char *const *)at;
    if (f->type == PROTOBUF_C_TYPE_BYTES)
        return ((const ProtobufCBinaryData *)at)->len > 0;
    static const char zero[8];
    return memcmp(at, zero, hlo_reflect_item_size(f->type)) != 0;
}

/* Arrays grow by doubling in the arena: room is the power of two at or above the count. */
void *hlo_reflect_slot(struct arena *a, ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    char *member = (char *)m + f->offset;

    if (!hlo_reflect_is_repeated(f)) {
        if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
            *(uint32_t *)(void *)((char *)m + f->quantifier_offset) = f->id;
        return member;
    }
    size_t *count = count_of(m, f), size = hlo_reflect_item_size(f->type);
    char **items = (char **)(void *)member;
    if (!(*count & (*count - 1))) {
        char *more = arena_get(a, *count ? *count * 2 : 1, size);
        if (!more)
            return NULL;
        if (*count)
            memcpy(more, *items, *count * size);
        *items = more;
    }
    return *items + size * (*count)++;
}

ProtobufCMessage *hlo_reflect_child(struct arena *a, ProtobufCMessage *m,
                                    const ProtobufCFieldDescriptor *f)
{
    if (!hlo_reflect_is_repeated(f) && hlo_reflect_has(m, f))
        return *(ProtobufCMessage **)hlo_reflect_at(m, f, 0);
    ProtobufCMessage *child = hlo_reflect_new(a, f->descriptor);
    ProtobufCMessage **slot = child ? hlo_reflect_slot(a, m, f) : NULL;
    if (!slot)
        return NULL;
    *slot = child;
    return child;
}

static const char *as_integer(const struct reflect_value *v, int64_t *i, uint64_t *u, bool *minus)
{
    *minus = false;
    if (v->kind == REFLECT_UINT) {
        *u = v->u;
        *i = (int64_t)v->u;
    } else if (v->kind == REFLECT_INT) {
        *i = v->i;
        *u = (uint64_t)v->i;
        *minus = v->i < 0;
    } else if (v->kind == REFLECT_DOUBLE && v->d == floor(v->d) &&
               fabs(v->d) <= 9007199254740992.0) {
        *i = (int64_t)v->d;
        *u = (uint64_t)*i;
        *minus = *i < 0;
    } else if (v->kind == REFLECT_DOUBLE && v->d == floor(v->d)) {
        return "is too large for a JSON number: write it as a string";
    } else {
        return "is not an integer";
    }
    return NULL;
}

static const char *store_integer(void *slot, ProtobufCType type, const struct reflect_value *v)
{
    int64_t i;
    uint64_t u;
    bool minus;
    const char *wrong = as_integer(v, &i, &u, &minus);

    if (wrong)
        return wrong;
    bool is_big = !minus && u > INT64_MAX;
    if (hlo_reflect_item_size(type) == 8) {
        if (hlo_reflect_is_signed(type) ? is_big : minus)
            return "is outside the range of a 64-bit integer";
        memcpy(slot, &u, 8);
        return NULL;
    }
    if (hlo_reflect_is_signed(type) ? is_big || i < INT32_MIN || i > INT32_MAX
                                    : minus || u > UINT32_MAX)
        return "is outside the range of a 32-bit integer";
    uint32_t low = (uint32_t)u;
    memcpy(slot, &low, 4);
    return NULL;
}

static const char *store_enum(void *slot, const ProtobufCEnumDescriptor *d,
                              const struct reflect_value *v)
{
    if (v->kind != REFLECT_TEXT)
        return store_integer(slot, PROTOBUF_C_TYPE_INT32, v);
    const ProtobufCEnumValue *found = protobuf_c_enum_descriptor_get_value_by_name(d, v->text);
    if (!found)
        return "is not a name of this enum";
    memcpy(slot, &found->value, sizeof found->value);
    return NULL;
}

static const char *store_real(void *slot, ProtobufCType type, const struct reflect_value *v)
{
    double d = v->kind == REFLECT_DOUBLE ? v->d
               : v->kind == REFLECT_INT  ? (double)v->i
                                         : (double)v->u;

    if (v->kind == REFLECT_TEXT)
        return "is not a number";
    if (type == PROTOBUF_C_TYPE_DOUBLE) {
        memcpy(slot, &d, sizeof d);
        return NULL;
    }
    if (isfinite(d) && fabs(d) > 3.4028235677973366e38)
        return "is outside the range of a float";
    float f = (float)d;
    memcpy(slot, &f, sizeof f);
    return NULL;
}

const char *hlo_reflect_store(struct arena *a, ProtobufCMessage *m,
                              const ProtobufCFieldDescriptor *f, const struct reflect_value *v)
{
    void *slot = hlo_reflect_slot(a, m, f);

    if (!slot)
        return "needs more memory than the limit for this file";
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
        if (v->kind != REFLECT_TEXT)
            return "is not a string";
        if (memchr(v->text, 0, v->size))
            return "holds a NUL byte";
        *(const char **)slot = v->text;
        return NULL;
    case PROTOBUF_C_TYPE_BYTES:
        if (v->kind != REFLECT_TEXT)
            return "is not a string";
        *(ProtobufCBinaryData *)slot =
            (ProtobufCBinaryData){.len = v->size, .data = (uint8_t *)(uintptr_t)v->text};
        return NULL;
    case PROTOBUF_C_TYPE_BOOL:
        if (v->kind == REFLECT_TEXT || v->kind == REFLECT_DOUBLE)
            return "is neither true nor false";
        *(protobuf_c_boolean *)slot = v->kind == REFLECT_INT ? v->i != 0 : v->u != 0;
        return NULL;
    case PROTOBUF_C_TYPE_MESSAGE:
        return "is not a message";
    case PROTOBUF_C_TYPE_ENUM:
        return store_enum(slot, f->descriptor, v);
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_DOUBLE:
        return store_real(slot, f->type, v);
    default:
        return store_integer(slot, f->type, v);
    }
}

void hlo_reflect_path(const struct reflect_step *s, char *out, size_t room)
{
    const struct reflect_step *steps[6];
    size_t count = 0, used = 0;

    /* The innermost steps say most: of a deep path the beginning is left out. */
    for (; s && count < 6; s = s->up)
        steps[count++] = s;
    out[0] = 0;
    if (s)
        used = (size_t)snprintf(out, room, "...");
    while (count-- && used < room) {
        const struct reflect_step *step = steps[count];
        int n = snprintf(out + used, room - used, "%s%s", used ? "." : "", step->field);
        used += n > 0 ? (size_t)n : 0;
        if (step->index != SIZE_MAX && used < room) {
            n = snprintf(out + used, room - used, "[%zu]", step->index);
            used += n > 0 ? (size_t)n : 0;
        }
    }
}
