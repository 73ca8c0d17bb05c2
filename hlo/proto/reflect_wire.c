/* The binary form of protobuf: https://protobuf.dev/programming-guides/encoding/ */
#include "hlo/module/read.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

struct wire {
    const uint8_t *begin, *at;
    struct arena *arena;
    struct err *e;
};

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static int fail_in_wire(struct wire *w, const struct reflect_step *s, const uint8_t *at,
                        const char *what)
{
    char path[200];

    hlo_reflect_path(s, path, sizeof path);
    err_set(w->e, ERR_INPUT, "%s%s%s", path, path[0] ? ": " : "", what);
    w->e->has_byte = 1;
    w->e->byte = (uint64_t)(at - w->begin);
    return ERR_INPUT;
}

static int read_varint(struct wire *w, const struct reflect_step *s, const uint8_t *end,
                       uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (w->at == end)
            return fail_in_wire(w, s, w->at, "the message ends inside a number");
        uint8_t byte = *w->at++;
        value |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
        if (byte < 128) {
            *out = value;
            return 0;
        }
    }
    return fail_in_wire(w, s, w->at, "a number of more than 10 bytes");
}

static int read_size(struct wire *w, const struct reflect_step *s, const uint8_t *end, size_t *out)
{
    uint64_t size;

    if (read_varint(w, s, end, &size))
        return ERR_INPUT;
    if (size > (uint64_t)(end - w->at))
        return fail_in_wire(w, s, w->at, "a length that reaches past the end of its message");
    *out = (size_t)size;
    return 0;
}

static int skip(struct wire *w, const struct reflect_step *s, const uint8_t *end, unsigned type)
{
    uint64_t ignored;
    size_t size = type == WIRE_64 ? 8 : 4;

    if (type == WIRE_VARINT)
        return read_varint(w, s, end, &ignored);
    if (type == WIRE_BYTES && read_size(w, s, end, &size))
        return ERR_INPUT;
    if (type != WIRE_BYTES && type != WIRE_64 && type != WIRE_32)
        return fail_in_wire(w, s, w->at,
                            "a wire type that proto3 does not have, expected 0, 1, 2 or 5");
    if (size > (size_t)(end - w->at))
        return fail_in_wire(w, s, w->at, "the message ends inside a value");
    w->at += size;
    return 0;
}

static unsigned type_on_wire(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return WIRE_64;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return WIRE_32;
    default:
        return WIRE_VARINT;
    }
}

/* One number at w->at into `slot`. 32-bit fields keep the low half, as protobuf does. */
static int read_number(struct wire *w, const struct reflect_step *s, const uint8_t *end,
                       ProtobufCType type, void *slot)
{
    unsigned on_wire = type_on_wire(type);
    size_t size = hlo_reflect_item_size(type);
    uint64_t value;

    if (on_wire != WIRE_VARINT) {
        if ((size_t)(end - w->at) < size)
            return fail_in_wire(w, s, w->at, "the message ends inside a value");
        memcpy(slot, w->at, size);
        w->at += size;
        return 0;
    }
    if (read_varint(w, s, end, &value))
        return ERR_INPUT;
    if (type == PROTOBUF_C_TYPE_BOOL) {
        *(protobuf_c_boolean *)slot = value != 0;
    } else if (size == 8) {
        memcpy(slot, &value, 8);
    } else {
        uint32_t low = (uint32_t)value;
        memcpy(slot, &low, 4);
    }
    return 0;
}

static int past_limit(struct wire *w, const struct reflect_step *s)
{
    fail_in_wire(w, s, w->at, "the file needs more memory than the limit for its size");
    return w->e->code = ERR_LIMIT;
}

static int read_packed(struct wire *w, const struct reflect_step *s, ProtobufCMessage *m,
                       const ProtobufCFieldDescriptor *f, const uint8_t *end)
{
    while (w->at < end) {
        void *slot = hlo_reflect_slot(w->arena, m, f);
        if (!slot)
            return past_limit(w, s);
        if (read_number(w, s, end, f->type, slot))
            return ERR_INPUT;
    }
    return 0;
}

static int read_bytes(struct wire *w, const struct reflect_step *s, ProtobufCMessage *m,
                      const ProtobufCFieldDescriptor *f, size_t size)
{
    struct reflect_value v = {.kind = REFLECT_TEXT, .text = (const char *)w->at, .size = size};

    if (f->type == PROTOBUF_C_TYPE_STRING && !(v.text = arena_text(w->arena, v.text, size)))
        return past_limit(w, s);
    const char *wrong = hlo_reflect_store(w->arena, m, f, &v);
    if (wrong)
        return fail_in_wire(w, s, w->at, wrong);
    w->at += size;
    return 0;
}

static int hlo_read_message(struct wire *w, const struct reflect_step *s, const uint8_t *end,
                            ProtobufCMessage *m);

static int read_field(struct wire *w, const struct reflect_step *s, const uint8_t *end,
                      ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, unsigned type)
{
    size_t size;

    if (type != WIRE_BYTES) {
        void *slot = hlo_reflect_slot(w->arena, m, f);
        return slot ? read_number(w, s, end, f->type, slot) : past_limit(w, s);
    }
    if (read_size(w, s, end, &size))
        return ERR_INPUT;
    if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        ProtobufCMessage *child = hlo_reflect_child(w->arena, m, f);
        return child ? hlo_read_message(w, s, w->at + size, child) : past_limit(w, s);
    }
    if (type_on_wire(f->type) == WIRE_BYTES)
        return read_bytes(w, s, m, f, size);
    return read_packed(w, s, m, f, w->at + size);
}

static int hlo_read_message(struct wire *w, const struct reflect_step *s, const uint8_t *end,
                            ProtobufCMessage *m)
{
    const ProtobufCMessageDescriptor *d = m->descriptor;

    if (s && s->depth > HLO_NESTING_MAX)
        return fail_in_wire(w, s, w->at, "messages are nested too deeply");
    while (w->at < end) {
        const uint8_t *at = w->at;
        uint64_t tag;
        if (read_varint(w, s, end, &tag))
            return ERR_INPUT;
        if (!(tag >> 3) || tag >> 3 > 536870911)
            return fail_in_wire(w, s, at, "a field number outside 1..536870911");
        unsigned type = (unsigned)(tag & 7);
        const ProtobufCFieldDescriptor *f =
            protobuf_c_message_descriptor_get_field(d, (unsigned)(tag >> 3));
        bool fits = f && (type == type_on_wire(f->type) ||
                          (type == WIRE_BYTES && hlo_reflect_is_repeated(f)));
        struct reflect_step step = {
            .up = s,
            .field = f ? f->name : "",
            .index = f && hlo_reflect_is_repeated(f) ? hlo_reflect_count(m, f) : SIZE_MAX,
            .depth = s ? s->depth + 1 : 1,
        };
        int rc = fits ? read_field(w, &step, end, m, f, type) : skip(w, f ? &step : s, end, type);
        if (rc)
            return rc;
    }
    return 0;
}

int hlo_reflect_from_wire(const ProtobufCMessageDescriptor *d, const void *data, size_t size,
                          struct arena *a, ProtobufCMessage **out, struct err *e)
{
    struct wire w = {.begin = data, .at = data, .arena = a, .e = e};
    ProtobufCMessage *m = hlo_reflect_new(a, d);

    if (!m)
        return err_no_memory(e, "to read the module");
    int rc = hlo_read_message(&w, NULL, w.begin + size, m);
    if (rc)
        return rc;
    *out = m;
    return rc;
}

/* Measured as a whole, then written: into a buffer that grows, protobuf-c measures a message again
 * for each level it lies below. */
void hlo_reflect_to_wire(const ProtobufCMessage *m, struct str *out)
{
    size_t size = protobuf_c_message_get_packed_size(m);
    bool fits = !out->limit || (out->size <= out->limit && size <= out->limit - out->size);

    if (out->failed || !fits || !mem_grow(&out->text, &out->room, out->size, size + 1)) {
        out->failed = true;
        return;
    }
    out->size += protobuf_c_message_pack(m, (uint8_t *)out->text + out->size);
    out->text[out->size] = '\0';
}
