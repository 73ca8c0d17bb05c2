/* What instructions carry beside their meaning: metadata, stack frames, frontend attributes,
 * origin. */
#include "hlo/module/shape.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- metadata ---- */

enum meta_kind { META_TEXT, META_INT, META_TYPES, META_PAYLOAD };

static const struct {
    const char *name;
    enum meta_kind kind;
    size_t offset;
} meta_fields[] = {
    /* in order of printing */
    {"op_type", META_TEXT, offsetof(Xla__OpMetadata, op_type)},
    {"op_name", META_TEXT, offsetof(Xla__OpMetadata, op_name)},
    {"source_file", META_TEXT, offsetof(Xla__OpMetadata, source_file)},
    {"source_line", META_INT, offsetof(Xla__OpMetadata, source_line)},
    {"source_end_line", META_INT, offsetof(Xla__OpMetadata, source_end_line)},
    {"source_column", META_INT, offsetof(Xla__OpMetadata, source_column)},
    {"source_end_column", META_INT, offsetof(Xla__OpMetadata, source_end_column)},
    {"profile_type", META_TYPES, 0},
    {"deduplicated_name", META_TEXT, offsetof(Xla__OpMetadata, deduplicated_name)},
    {"scheduling_name", META_TEXT, offsetof(Xla__OpMetadata, scheduling_name)},
    {"stack_frame_id", META_INT, offsetof(Xla__OpMetadata, stack_frame_id)},
    {"metadata_payload", META_PAYLOAD, 0},
};
enum { META_COUNT = sizeof meta_fields / sizeof *meta_fields };

static void print_meta_field(const Xla__OpMetadata *p, size_t i, struct str *out)
{
    const char *at = (const char *)p + meta_fields[i].offset;
    const char *text = "";
    int32_t number = 0;

    if (meta_fields[i].kind == META_TEXT)
        memcpy(&text, at, sizeof text);
    else if (meta_fields[i].kind == META_INT)
        memcpy(&number, at, sizeof number);
    size_t begin = out->size;
    if (begin && out->text && out->text[begin - 1] != '{')
        str_add_char(out, ' ');
    if (*text) {
        str_format(out, "%s=", meta_fields[i].name);
        hlo_print_quoted(text, strlen(text), out);
    } else if (number) {
        str_format(out, "%s=%d", meta_fields[i].name, number);
    } else if (meta_fields[i].kind == META_TYPES && p->n_profile_type) {
        str_add(out, "profile_type={");
        for (size_t n = 0; n < p->n_profile_type; n++)
            str_format(out, "%s%d", n ? "," : "", (int)p->profile_type[n]);
        str_add_char(out, '}');
    } else if (meta_fields[i].kind == META_PAYLOAD && p->metadata_payload &&
               p->metadata_payload->value.len) {
        str_add(out, "metadata_payload=");
        hlo_print_quoted((const char *)p->metadata_payload->value.data,
                         p->metadata_payload->value.len, out);
    } else if (!out->failed && out->size > begin) {
        out->text[out->size = begin] = 0;
    }
}

void hlo_print_metadata(const Xla__OpMetadata *p, struct str *out)
{
    struct str inner = {.limit = out->limit};

    for (size_t i = 0; i < META_COUNT; i++)
        print_meta_field(p, i, &inner);
    out->failed |= inner.failed;
    str_add_bytes(out, inner.text ? inner.text : "", inner.size);
    str_release(&inner);
}

static bool take_profile_types(struct arena *a, struct scan *s, Xla__OpMetadata *p)
{
    int32_t *types;

    if (!hlo_scan_ints32(s, a, "{,}", &types, &p->n_profile_type))
        return false;
    p->profile_type = arena_get(a, p->n_profile_type + 1, sizeof *p->profile_type);
    for (size_t i = 0; i < p->n_profile_type && p->profile_type; i++)
        p->profile_type[i] = (Xla__ProfileType)types[i];
    return p->profile_type != NULL;
}

static bool take_meta_field(struct arena *a, struct scan *s, Xla__OpMetadata *p, size_t i)
{
    char *at = (char *)p + meta_fields[i].offset;
    size_t size;
    int64_t number;

    if (meta_fields[i].kind == META_INT) {
        if (!hlo_scan_int(s, &number) || number < INT32_MIN || number > INT32_MAX)
            return false;
        int32_t narrow = (int32_t)number;
        memcpy(at, &narrow, sizeof narrow);
        return true;
    }
    if (meta_fields[i].kind == META_TYPES)
        return take_profile_types(a, s, p);
    char *text = hlo_scan_peek(s, '{') ? NULL : hlo_scan_string(s, a, &size);
    if (!text)
        return false;
    if (meta_fields[i].kind == META_TEXT) {
        memcpy(at, &text, sizeof text);
        return strlen(text) == size;
    }
    p->metadata_payload = arena_get(a, 1, sizeof *p->metadata_payload);
    if (!p->metadata_payload)
        return false;
    xla__payload__init(p->metadata_payload);
    p->metadata_payload->value = (ProtobufCBinaryData){size, (uint8_t *)text};
    return true;
}

Xla__OpMetadata *hlo_take_metadata(struct arena *a, struct scan *s)
{
    Xla__OpMetadata *p = arena_get(a, 1, sizeof *p);

    if (!p || !hlo_scan_char(s, '{'))
        return NULL;
    xla__op_metadata__init(p);
    while (!hlo_scan_char(s, '}')) {
        size_t i = 0;
        hlo_scan_char(s, ',');
        while (i < META_COUNT && !hlo_scan_key(s, meta_fields[i].name))
            i++;
        if (i == META_COUNT || !take_meta_field(a, s, p, i))
            return NULL;
    }
    return p;
}

/* ---- stack frames ---- */

static void print_names(const char *title, char **names, size_t count, struct str *out)
{
    str_format(out, "%s\n", title);
    for (size_t i = 0; i < count; i++) {
        str_format(out, "%zu ", i + 1);
        hlo_print_quoted(names[i], strlen(names[i]), out);
        str_add_char(out, '\n');
    }
    str_add_char(out, '\n');
}

void hlo_print_tables(const Xla__StackFrameIndexProto *p, struct str *out)
{
    print_names("FileNames", p->file_names, p->n_file_names, out);
    print_names("FunctionNames", p->function_names, p->n_function_names, out);
    str_add(out, "FileLocations\n");
    for (size_t i = 0; i < p->n_file_locations; i++) {
        const Xla__StackFrameIndexProto__FileLocation *l = p->file_locations[i];
        str_format(out,
                   "%zu {file_name_id=%d function_name_id=%d line=%d end_line=%d column=%d "
                   "end_column=%d}\n",
                   i + 1, l->file_name_id, l->function_name_id, l->line, l->end_line, l->column,
                   l->end_column);
    }
    str_add(out, "\nStackFrames\n");
    for (size_t i = 0; i < p->n_stack_frames; i++) /* in text one more than in the message */
        str_format(out, "%zu {file_location_id=%d parent_frame_id=%lld}\n", i + 1,
                   p->stack_frames[i]->file_location_id, p->stack_frames[i]->parent_frame_id + 1LL);
}

static bool take_names(struct arena *a, struct scan *s, const char *title, char ***names,
                       size_t *count)
{
    int64_t number;
    size_t size;

    if (!hlo_scan_text(s, title))
        return true; /* a missing table is an empty one */
    while (hlo_scan_int(s, &number)) {
        char *name = hlo_scan_string(s, a, &size);
        if (number != (int64_t)*count + 1 || !hlo_convert_append(a, (void ***)names, count, name))
            return false;
    }
    return true;
}

/* { name=int ... } into int32 fields, by name. */
static bool take_numbers(struct scan *s, ProtobufCMessage *m)
{
    struct scan word;
    int64_t value;

    if (!hlo_scan_char(s, '{'))
        return false;
    while (!hlo_scan_char(s, '}')) {
        hlo_scan_char(s, ',');
        if (!hlo_scan_word(s, &word) || !hlo_scan_char(s, '=') || !hlo_scan_int(s, &value) ||
            value < INT32_MIN || value > INT32_MAX)
            return false;
        const ProtobufCFieldDescriptor *f =
            hlo_reflect_field(m->descriptor, word.at, (size_t)(word.end - word.at));
        if (!f)
            return false;
        *(int32_t *)hlo_reflect_at(m, f, 0) = (int32_t)value;
    }
    return true;
}

Xla__StackFrameIndexProto *hlo_take_tables(struct arena *a, struct scan *s)
{
    Xla__StackFrameIndexProto *p = arena_get(a, 1, sizeof *p);
    int64_t number;

    if (!p)
        return NULL;
    xla__stack_frame_index_proto__init(p);
    if (!take_names(a, s, "FileNames", &p->file_names, &p->n_file_names) ||
        !take_names(a, s, "FunctionNames", &p->function_names, &p->n_function_names))
        return NULL;
    hlo_scan_text(s, "FileLocations");
    while (hlo_scan_int(s, &number)) {
        ProtobufCMessage *m =
            hlo_reflect_new(a, &xla__stack_frame_index_proto__file_location__descriptor);
        if (number != (int64_t)p->n_file_locations + 1 || !m || !take_numbers(s, m) ||
            !hlo_convert_append(a, (void ***)&p->file_locations, &p->n_file_locations, m))
            return NULL;
    }
    hlo_scan_text(s, "StackFrames");
    while (hlo_scan_int(s, &number)) {
        ProtobufCMessage *m =
            hlo_reflect_new(a, &xla__stack_frame_index_proto__stack_frame__descriptor);
        if (number != (int64_t)p->n_stack_frames + 1 || !m || !take_numbers(s, m) ||
            !hlo_convert_append(a, (void ***)&p->stack_frames, &p->n_stack_frames, m))
            return NULL;
        Xla__StackFrameIndexProto__StackFrame *frame = p->stack_frames[p->n_stack_frames - 1];
        frame->parent_frame_id -= frame->parent_frame_id > 0;
    }
    return hlo_scan_end(s) ? p : NULL;
}

/* ---- frontend attributes ---- */

static int by_key(const void *a, const void *b)
{
    return strcmp((*(Xla__FrontendAttributes__MapEntry *const *)a)->key,
                  (*(Xla__FrontendAttributes__MapEntry *const *)b)->key);
}

void hlo_print_dict(const Xla__FrontendAttributes *p, struct str *out)
{
    if (p->n_map)
        qsort(p->map, p->n_map, sizeof *p->map, by_key);
    str_add_char(out, '{');
    for (size_t i = 0; i < p->n_map; i++) {
        str_format(out, "%s%s=", i ? "," : "", p->map[i]->key);
        hlo_print_config(p->map[i]->value, strlen(p->map[i]->value), out);
    }
    str_add_char(out, '}');
}

Xla__FrontendAttributes *hlo_take_dict(struct arena *a, struct scan *s)
{
    Xla__FrontendAttributes *p = arena_get(a, 1, sizeof *p);
    struct scan word;
    size_t size;

    if (!p || !hlo_scan_char(s, '{'))
        return NULL;
    xla__frontend_attributes__init(p);
    while (!hlo_scan_char(s, '}')) {
        Xla__FrontendAttributes__MapEntry *entry = arena_get(a, 1, sizeof *entry);
        if (!entry || (p->n_map && !hlo_scan_char(s, ',')) || !hlo_scan_word(s, &word) ||
            !hlo_scan_char(s, '='))
            return NULL;
        xla__frontend_attributes__map_entry__init(entry);
        entry->key = arena_text(a, word.at, (size_t)(word.end - word.at));
        entry->value = hlo_scan_string(s, a, &size);
        if (!entry->key || !entry->value || strlen(entry->value) != size ||
            !hlo_convert_append(a, (void ***)&p->map, &p->n_map, entry))
            return NULL;
    }
    return p;
}

/* ---- origin: a tree as the shape's, of {"instruction" {index}} ---- */

struct original {
    const Xla__OriginalValueProto *p;
    int64_t index[HLO_RANK_MAX];
    size_t depth, next; /* elements are in order of the leaves */
    struct str *out;
};

static void print_index(const int64_t *index, size_t count, struct str *out)
{
    str_add_char(out, '{');
    hlo_print_ints(index, count, ",", out);
    str_add_char(out, '}');
}

/* Elements come in the order of the leaves: the next one is tried first. */
static const Xla__OriginalArrayProto *original_at(struct original *o)
{
    size_t count = o->p->n_elements, tries = count < 64 ? count : 1;

    for (size_t n = 0; n < tries; n++) {
        const Xla__OriginalValueElementProto *e = o->p->elements[(o->next + n) % count];
        if (e->n_shape_index == o->depth &&
            (!o->depth || !memcmp(e->shape_index, o->index, o->depth * sizeof *o->index))) {
            o->next = (o->next + n) % count + 1;
            return e->original_array;
        }
    }
    return NULL;
}

static void print_tree(struct original *o, const Xla__ShapeProto *shape)
{
    if (shape->element_type == XLA__PRIMITIVE_TYPE__TUPLE) {
        str_add_char(o->out, '(');
        for (size_t i = 0; i < shape->n_tuple_shapes && o->depth < HLO_RANK_MAX; i++) {
            if (i)
                str_add(o->out, ", ");
            o->index[o->depth++] = (int64_t)i;
            print_tree(o, shape->tuple_shapes[i]);
            o->depth--;
        }
        str_add_char(o->out, ')');
        return;
    }
    const Xla__OriginalArrayProto *array = original_at(o);
    str_add_char(o->out, '{');
    if (array) {
        hlo_print_quoted(array->instruction_name, strlen(array->instruction_name), o->out);
        if (array->n_shape_index) {
            str_add_char(o->out, ' ');
            print_index(array->shape_index, array->n_shape_index, o->out);
        }
    }
    str_add_char(o->out, '}');
}

void hlo_print_original(const Xla__OriginalValueProto *p, const Xla__ShapeProto *shape,
                        struct str *out)
{
    struct original o = {.p = p, .out = out};

    str_add_char(out, '{');
    if (p->is_synthetic_call)
        str_add(out, "[synthetic_call]");
    else
        print_tree(&o, shape);
    str_add_char(out, '}');
}

/* {"instruction" {index}}, or {} for a leaf whose origin is lost: an element without an array. */
static bool take_leaf(struct arena *a, struct scan *s, Xla__OriginalValueProto *p,
                      const int64_t *index, size_t depth)
{
    Xla__OriginalValueElementProto *e = arena_get(a, 1, sizeof *e);
    Xla__OriginalArrayProto *array = arena_get(a, 1, sizeof *array);
    size_t size;

    if (!e || !array || !hlo_scan_char(s, '{'))
        return false;
    xla__original_value_element_proto__init(e);
    xla__original_array_proto__init(array);
    e->shape_index = arena_get(a, depth + 1, sizeof *index);
    if (!e->shape_index || !hlo_convert_append(a, (void ***)&p->elements, &p->n_elements, e))
        return false;
    memcpy(e->shape_index, index, depth * sizeof *index);
    e->n_shape_index = depth;
    if (hlo_scan_char(s, '}'))
        return true;
    e->original_array = array;
    array->instruction_name = hlo_scan_string(s, a, &size);
    if (!array->instruction_name || strlen(array->instruction_name) != size)
        return false;
    if (hlo_scan_peek(s, '{') &&
        !hlo_scan_ints(s, a, "{,}", &array->shape_index, &array->n_shape_index))
        return false;
    return hlo_scan_char(s, '}');
}

Xla__OriginalValueProto *hlo_take_original(struct arena *a, struct scan *s)
{
    Xla__OriginalValueProto *p = arena_get(a, 1, sizeof *p);
    int64_t index[HLO_RANK_MAX];
    size_t depth = 0;

    if (!p || !hlo_scan_char(s, '{'))
        return NULL;
    xla__original_value_proto__init(p);
    if (hlo_scan_text(s, "[synthetic_call]")) {
        p->is_synthetic_call = true;
        return hlo_scan_char(s, '}') ? p : NULL;
    }
    do { /* the tree, leaf by leaf, without recursion */
        if (hlo_scan_char(s, '(')) {
            if (depth == HLO_RANK_MAX)
                return NULL;
            index[depth++] = 0;
            if (!hlo_scan_peek(s, ')'))
                continue;
        } else if (!take_leaf(a, s, p, index, depth)) {
            return NULL;
        }
        while (depth && hlo_scan_char(s, ')'))
            depth--;
        if (depth && !hlo_scan_char(s, ','))
            return NULL;
        if (depth)
            index[depth - 1]++;
    } while (depth);
    return hlo_scan_char(s, '}') ? p : NULL;
}
