/* Literals: the message keeps elements in the order of its layout, the text in row-major order. */
#include "hlo/module/shape.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/mem.h"

#include <inttypes.h>
#include <string.h>

/* One array literal: where its elements are. */
struct elements {
    enum hlo_type type;
    const ProtobufCMessage *m;
    const ProtobufCFieldDescriptor *f; /* s32s, f32s, f16s ... : named after the type */
    size_t count;                      /* held by the message */
    size_t rank;
    const int64_t *dims;
    int64_t stride[HLO_RANK_MAX]; /* elements to the next index of each dim, by layout */
    int64_t at[HLO_RANK_MAX];     /* index being printed */
    struct str *out;
};

static const ProtobufCFieldDescriptor *field_of(enum hlo_type type)
{
    char name[24];
    int size = snprintf(name, sizeof name, "%ss", hlo_type_info[type].name);

    return hlo_reflect_field(&xla__literal_proto__descriptor, name, (size_t)size);
}

/* Whole bytes of an element in fields of type bytes. */
static size_t bytes_of(enum hlo_type type)
{
    return (hlo_type_info[type].bits + 7u) / 8;
}

static bool is_complex(enum hlo_type type)
{
    return hlo_type_info[type].class == 'C';
}

/* Product of dims, or -1 past CONVERT_LITERAL_MAX. */
static int64_t product_of_dims(const int64_t *dims, size_t rank)
{
    int64_t count = 1;
    bool large = false;

    for (size_t i = 0; i < rank; i++) {
        if (dims[i] <= 0)
            return 0;
        large |= dims[i] > CONVERT_LITERAL_MAX || count > CONVERT_LITERAL_MAX / dims[i];
        count = large ? 1 : count * dims[i];
    }
    return large ? -1 : count;
}

static void set_strides(const Xla__ShapeProto *p, int64_t *stride)
{
    const Xla__LayoutProto *l = p->layout;
    size_t rank = p->n_dimensions;
    int64_t step = 1;

    for (size_t i = 0; i < rank; i++) {
        size_t dim = rank - 1 - i;
        if (l && l->n_minor_to_major == rank)
            dim = (size_t)l->minor_to_major[i];
        stride[dim] = step;
        step *= p->dimensions[dim];
    }
}

static bool is_layout_sane(const Xla__ShapeProto *p)
{
    uint64_t seen = 0;

    if (!p->layout || p->layout->n_minor_to_major != p->n_dimensions)
        return true;
    for (size_t i = 0; i < p->n_dimensions; i++) {
        int64_t dim = p->layout->minor_to_major[i];
        if (dim < 0 || dim >= (int64_t)p->n_dimensions || seen >> dim & 1)
            return false;
        seen |= (uint64_t)1 << dim;
    }
    return true;
}

/* ---- message to text ---- */

static uint64_t bits_at(const struct elements *l, size_t n)
{
    uint64_t bits = 0;

    if (l->f->type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *data = hlo_reflect_at(l->m, l->f, 0);
        memcpy(&bits, data->data + n * bytes_of(l->type), bytes_of(l->type));
    } else {
        memcpy(&bits, hlo_reflect_at(l->m, l->f, n), hlo_reflect_item_size(l->f->type));
    }
    return bits;
}

static void print_integer(enum hlo_type type, uint64_t bits, struct str *out)
{
    unsigned spare = 64u - hlo_type_info[type].bits;

    if (hlo_type_info[type].class == 'I')
        str_add_int(out, (int64_t)(bits << spare) >> spare);
    else
        str_format(out, "%" PRIu64, bits << spare >> spare);
}

static void print_element(const struct elements *l, size_t n)
{
    enum hlo_type part = l->type == HLO_C64 ? HLO_F32 : HLO_F64;

    if (is_complex(l->type)) {
        str_add_char(l->out, '(');
        hlo_print_float(part, bits_at(l, 2 * n), l->out);
        str_add(l->out, ", ");
        hlo_print_float(part, bits_at(l, 2 * n + 1), l->out);
        str_add_char(l->out, ')');
    } else if (l->type == HLO_PRED && !l->rank) {
        str_add(l->out, bits_at(l, n) & 1 ? "true" : "false");
    } else if (l->type == HLO_PRED) {
        str_add_char(l->out, bits_at(l, n) & 1 ? '1' : '0');
    } else if (hlo_type_info[l->type].class == 'F') {
        hlo_print_float(l->type, bits_at(l, n), l->out);
    } else {
        print_integer(l->type, bits_at(l, n), l->out);
    }
}

/* Braces and blanks as XLA sets them: "{1, 2}" of rank 1, "{ {1}, {2} }", "{ { 1, 2 } }", and from
 * rank 4 on the index of all but the last dims in a comment. */
static void print_dim(struct elements *l, size_t d, size_t offset)
{
    int64_t size = l->dims[d];
    bool innermost = d + 1 == l->rank;
    const char *blank = l->rank == 1 ? "" : innermost && size <= 1 ? "" : " ";

    str_add_char(l->out, '{');
    if (l->rank > 3 && d && !innermost && size > 0)
        str_format(l->out, " /*i%zu=%" PRId64 "*/", d - 1, l->at[d - 1]);
    str_add(l->out, blank);
    for (int64_t i = 0; i < size && !l->out->failed; i++) {
        if (i)
            str_add(l->out, ", ");
        l->at[d] = i;
        size_t next = offset + (size_t)(i * l->stride[d]);
        if (innermost)
            print_element(l, next);
        else
            print_dim(l, d + 1, next);
    }
    str_add(l->out, blank);
    str_add_char(l->out, '}');
}

static bool print_array(const Xla__LiteralProto *p, enum hlo_type type, struct str *out)
{
    struct elements l = {.type = type, .m = &p->base, .f = field_of(type), .out = out};

    if (!l.f || p->shape->n_dimensions > HLO_RANK_MAX || !is_layout_sane(p->shape))
        return false;
    l.rank = p->shape->n_dimensions;
    l.dims = p->shape->dimensions;
    int64_t needed = product_of_dims(l.dims, l.rank);
    l.count = hlo_reflect_count(l.m, l.f);
    if (l.f->type == PROTOBUF_C_TYPE_BYTES)
        l.count = ((const ProtobufCBinaryData *)hlo_reflect_at(l.m, l.f, 0))->len / bytes_of(type);
    l.count /= is_complex(type) ? 2 : 1;
    if (needed && (!l.count || needed < 0)) { /* left out by whoever wrote it, or too long for us */
        str_add(out, "{...}");
        return true;
    }
    if (l.count != (size_t)needed)
        return false;
    set_strides(p->shape, l.stride);
    /* A dim of size 0 behind huge ones would print without end. */
    int64_t outer = 1;
    for (size_t d = 0; d + 1 < l.rank && !needed; d++) {
        if (l.dims[d] <= 0)
            break;
        if (l.dims[d] > 4096 / outer) {
            str_add(out, "{...}");
            return true;
        }
        outer *= l.dims[d];
    }
    if (l.rank)
        print_dim(&l, 0, 0);
    else
        print_element(&l, 0);
    return true;
}

bool hlo_print_literal(const Xla__LiteralProto *p, struct arena *scratch, struct str *out)
{
    if (!p->shape)
        return false;
    enum hlo_type type = hlo_type_by_proto((int)p->shape->element_type);
    if (type == HLO_TYPE_COUNT)
        return false;
    if (type != HLO_TUPLE)
        return hlo_type_info[type].class != 'O' && print_array(p, type, out);
    if (!p->n_tuple_literals && p->shape->n_tuple_shapes) {
        str_add(out, "{...}");
        return true;
    }
    str_add(out, "( ");
    for (size_t i = 0; i < p->n_tuple_literals; i++) {
        if (i)
            str_add(out, ", ");
        if (!hlo_print_literal(p->tuple_literals[i], scratch, out))
            return false;
    }
    str_add(out, " )");
    return p->n_tuple_literals == p->shape->n_tuple_shapes;
}

/* ---- text to message ---- */

static bool take_integer(struct scan *s, enum hlo_type type, uint64_t *bits)
{
    char class = hlo_type_info[type].class;
    unsigned width = hlo_type_info[type].bits;
    int64_t value;
    bool yes;

    if (class == 'P' && hlo_scan_bool(s, &yes)) {
        *bits = yes;
        return true;
    }
    if (!hlo_scan_int(s, &value)) { /* u64 beyond the signed range */
        uint64_t u = 0;
        if (width != 64 || s->at == s->end)
            return false;
        for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
            unsigned digit = (unsigned)(*s->at - '0');
            if (u > (UINT64_MAX - digit) / 10)
                return false;
            u = u * 10 + digit;
        }
        *bits = u;
        return true;
    }
    *bits = (uint64_t)value & (width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1);
    if (class == 'P')
        *bits = value != 0;
    return true;
}

static bool put_element(struct arena *a, struct elements *l, ProtobufCMessage *m, size_t n,
                        uint64_t bits)
{
    if (l->f->type == PROTOBUF_C_TYPE_BYTES) {
        ProtobufCBinaryData *data = hlo_reflect_at(m, l->f, 0);
        memcpy(data->data + n * bytes_of(l->type), &bits, bytes_of(l->type));
        return true;
    }
    (void)a;
    size_t size = hlo_reflect_item_size(l->f->type);
    if (l->type == HLO_S32)
        bits = (uint64_t)(int64_t)(int32_t)bits;
    memcpy(hlo_reflect_at(m, l->f, n), &bits, size);
    return true;
}

static bool take_element(struct arena *a, struct scan *s, struct elements *l, ProtobufCMessage *m,
                         size_t n)
{
    enum hlo_type part = l->type == HLO_C64 ? HLO_F32 : HLO_F64;
    uint64_t bits, imaginary = 0;

    if (is_complex(l->type)) {
        if (!hlo_scan_char(s, '('))
            return hlo_take_float(s, part, &bits) && put_element(a, l, m, 2 * n, bits) &&
                   put_element(a, l, m, 2 * n + 1, 0);
        return hlo_take_float(s, part, &bits) && hlo_scan_char(s, ',') &&
               hlo_take_float(s, part, &imaginary) && hlo_scan_char(s, ')') &&
               put_element(a, l, m, 2 * n, bits) && put_element(a, l, m, 2 * n + 1, imaginary);
    }
    bool done = hlo_type_info[l->type].class == 'F' ? hlo_take_float(s, l->type, &bits)
                                                    : take_integer(s, l->type, &bits);
    return done && put_element(a, l, m, n, bits);
}

static bool make_room(struct arena *a, struct elements *l, ProtobufCMessage *m, size_t count)
{
    size_t parts = count * (is_complex(l->type) ? 2 : 1);

    if (l->f->type == PROTOBUF_C_TYPE_BYTES) {
        ProtobufCBinaryData *data = hlo_reflect_at(m, l->f, 0);
        data->len = count * bytes_of(l->type);
        data->data = arena_get(a, data->len + 1, 1);
        return data->data != NULL;
    }
    void *items = arena_get(a, parts + 1, hlo_reflect_item_size(l->f->type));
    *(void **)(void *)((char *)m + l->f->offset) = items;
    *(size_t *)(void *)((char *)m + l->f->quantifier_offset) = parts;
    return items != NULL;
}

static bool take_dim(struct arena *a, struct scan *s, struct elements *l, ProtobufCMessage *m,
                     const size_t place[2]) /* dim, offset */
{
    size_t d = place[0];

    if (d == l->rank)
        return take_element(a, s, l, m, place[1]);
    if (!hlo_scan_char(s, '{'))
        return false;
    for (int64_t i = 0; i < l->dims[d]; i++) {
        size_t next[2] = {d + 1, place[1] + (size_t)(i * l->stride[d])};
        if ((i && !hlo_scan_char(s, ',')) || !take_dim(a, s, l, m, next))
            return false;
    }
    return hlo_scan_char(s, '}');
}

/* One value for all elements: constant(1) of shape bf16[17,22]. */
static bool take_splat(struct arena *a, struct scan *s, struct elements *l, ProtobufCMessage *m,
                       size_t count)
{
    struct scan begin = *s;

    if (!count) {
        uint64_t bits;
        return is_complex(l->type) || hlo_take_float(s, HLO_F64, &bits) ||
               take_integer(s, l->type, &bits);
    }
    for (size_t n = 0; n < count; n++) {
        *s = begin;
        if (!take_element(a, s, l, m, n))
            return false;
    }
    return true;
}

static bool take_array(struct arena *a, struct scan *s, Xla__LiteralProto *p, enum hlo_type type)
{
    struct elements l = {.type = type, .m = &p->base, .f = field_of(type)};

    if (!l.f || !is_layout_sane(p->shape))
        return false;
    if (hlo_scan_text(s, "{...}"))
        return true;
    l.rank = p->shape->n_dimensions;
    l.dims = p->shape->dimensions;
    int64_t count = product_of_dims(l.dims, l.rank);
    bool is_splat = l.rank && !hlo_scan_peek(s, '{');
    if (count < 0 || (!is_splat && count && (size_t)count > (size_t)(s->end - s->at)) ||
        !make_room(a, &l, &p->base, (size_t)count))
        return false;
    if (is_splat)
        return take_splat(a, s, &l, &p->base, (size_t)count);
    set_strides(p->shape, l.stride);
    return take_dim(a, s, &l, &p->base, (const size_t[2]){0, 0});
}

Xla__LiteralProto *hlo_take_literal(struct arena *a, struct scan *s, Xla__ShapeProto *shape)
{
    Xla__LiteralProto *p = arena_get(a, 1, sizeof *p);
    enum hlo_type type = hlo_type_by_proto((int)shape->element_type);

    if (!p || type == HLO_TYPE_COUNT || !hlo_convert_add_layout(a, shape))
        return NULL;
    xla__literal_proto__init(p);
    p->shape = shape;
    if (type != HLO_TUPLE)
        return hlo_type_info[type].class != 'O' && take_array(a, s, p, type) ? p : NULL;
    if (hlo_scan_text(s, "{...}")) /* an elided tuple: no elements at all */
        return p;
    if (!hlo_scan_char(s, '('))
        return NULL;
    for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
        Xla__LiteralProto *part = NULL;
        if ((i && !hlo_scan_char(s, ',')) ||
            !(part = hlo_take_literal(a, s, shape->tuple_shapes[i])) ||
            !hlo_convert_append(a, (void ***)&p->tuple_literals, &p->n_tuple_literals, part))
            return NULL;
    }
    return hlo_scan_char(s, ')') ? p : NULL;
}
