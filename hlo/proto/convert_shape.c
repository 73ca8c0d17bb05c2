/* Shapes: text, message and builder. */
#include "hlo/module/build.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- message to text ---- */

static bool is_array(const Xla__ShapeProto *p)
{
    enum hlo_type type = hlo_type_by_proto((int)p->element_type);

    return type < HLO_TYPE_COUNT && hlo_type_info[type].class != 'O';
}

static void print_level_types(const Xla__LayoutProto *l, struct str *out)
{
    static const char letters[] = "DCSH";

    str_add(out, "D(");
    for (size_t i = 0; i < l->n_dim_level_types; i++) {
        unsigned type = (unsigned)l->dim_level_types[i];
        if (i)
            str_add_char(out, ',');
        str_add_char(out, type < 4 ? letters[type] : '?');
        if (i < l->n_dim_unique && !l->dim_unique[i])
            str_add_char(out, '+');
        if (i < l->n_dim_ordered && !l->dim_ordered[i])
            str_add_char(out, '~');
    }
    str_add_char(out, ')');
}

static void print_tiles(const Xla__LayoutProto *l, struct str *out)
{
    str_add_char(out, 'T');
    for (size_t i = 0; i < l->n_tiles; i++) {
        const Xla__TileProto *tile = l->tiles[i];
        str_add_char(out, '(');
        for (size_t d = 0; d < tile->n_dimensions; d++) {
            if (d)
                str_add_char(out, ',');
            if (tile->dimensions[d] == INT64_MIN)
                str_add_char(out, '*');
            else
                str_add_int(out, tile->dimensions[d]);
        }
        str_add_char(out, ')');
    }
}

static const char *type_name(int number)
{
    enum hlo_type type = hlo_type_by_proto(number);

    return type < HLO_TYPE_COUNT ? hlo_type_info[type].name : "invalid";
}

/* What stands behind ':' in a layout, the colon included; nothing when there is nothing. */
static void print_layout_rest(const Xla__LayoutProto *l, struct str *out)
{
    size_t begin = out->size;

    str_add_char(out, ':');
    if (l->n_dim_level_types)
        print_level_types(l, out);
    if (l->n_tiles)
        print_tiles(l, out);
    if (l->tail_padding_alignment_in_elements > 1)
        str_format(out, "L(%lld)", (long long)l->tail_padding_alignment_in_elements);
    if (l->index_primitive_type)
        str_format(out, "#(%s)", type_name((int)l->index_primitive_type));
    if (l->pointer_primitive_type)
        str_format(out, "*(%s)", type_name((int)l->pointer_primitive_type));
    if (l->element_size_in_bits)
        str_format(out, "E(%lld)", (long long)l->element_size_in_bits);
    if (l->memory_space)
        str_format(out, "S(%lld)", (long long)l->memory_space);
    if (l->n_split_configs)
        str_add(out, "SC");
    for (size_t i = 0; i < l->n_split_configs; i++) {
        const Xla__SplitConfigProto *split = l->split_configs[i];
        str_format(out, "(%lld:", (long long)split->dimension);
        hlo_print_ints(split->split_indices, split->n_split_indices, ",", out);
        str_add_char(out, ')');
    }
    if (l->physical_shape) {
        str_add(out, "P(");
        hlo_print_shape(l->physical_shape, out);
        str_add_char(out, ')');
    }
    if (l->dynamic_shape_metadata_prefix_bytes)
        str_format(out, "M(%lld)", (long long)l->dynamic_shape_metadata_prefix_bytes);
    if (!out->failed && out->size == begin + 1)
        out->text[--out->size] = 0;
}

static void print_dims(const Xla__ShapeProto *p, struct str *out)
{
    for (size_t i = 0; i < p->n_dimensions; i++) {
        bool dynamic = i < p->n_is_dynamic_dimension && p->is_dynamic_dimension[i];
        if (i)
            str_add_char(out, ',');
        if (p->dimensions[i] == HLO_DIM_UNBOUNDED) {
            str_add_char(out, '?');
            continue;
        }
        if (dynamic)
            str_add(out, "<=");
        str_add_int(out, p->dimensions[i]);
    }
}

void hlo_print_shape(const Xla__ShapeProto *p, struct str *out)
{
    bool is_tuple = p->element_type == XLA__PRIMITIVE_TYPE__TUPLE;

    if (is_tuple || p->element_type == XLA__PRIMITIVE_TYPE__BUFFER) {
        str_add(out, is_tuple ? "(" : "b(");
        for (size_t i = 0; i < p->n_tuple_shapes; i++) {
            if (i)
                str_add(out, ", ");
            if (i && i % 5 == 0)
                str_format(out, "/*index=%zu*/", i);
            hlo_print_shape(p->tuple_shapes[i], out);
        }
        str_add_char(out, ')');
        return;
    }
    str_add(out, type_name((int)p->element_type));
    str_add_char(out, '[');
    print_dims(p, out);
    str_add_char(out, ']');
    if (!p->layout || !is_array(p))
        return;
    size_t begin = out->size;
    str_add_char(out, '{');
    hlo_print_ints(p->layout->minor_to_major, p->layout->n_minor_to_major, ",", out);
    print_layout_rest(p->layout, out);
    if (!p->n_dimensions && out->size == begin + 1 && !out->failed)
        out->text[--out->size] = 0; /* a scalar without more to say has no braces */
    else
        str_add_char(out, '}');
}

/* ---- text to message ---- */

static bool take_tile(struct arena *a, struct scan *s, Xla__LayoutProto *l)
{
    Xla__TileProto *tile = arena_get(a, 1, sizeof *tile);
    int64_t dims[HLO_RANK_MAX];

    if (!tile || !hlo_scan_char(s, '('))
        return false;
    xla__tile_proto__init(tile);
    while (!hlo_scan_char(s, ')')) {
        if (tile->n_dimensions == HLO_RANK_MAX || (tile->n_dimensions && !hlo_scan_char(s, ',')))
            return false;
        int64_t *dim = &dims[tile->n_dimensions++];
        *dim = INT64_MIN;
        if (!hlo_scan_char(s, '*') && !hlo_scan_int(s, dim))
            return false;
    }
    tile->dimensions = arena_get(a, tile->n_dimensions + 1, sizeof *dims);
    if (!tile->dimensions)
        return false;
    memcpy(tile->dimensions, dims, tile->n_dimensions * sizeof *dims);
    return hlo_convert_append(a, (void ***)&l->tiles, &l->n_tiles, tile);
}

static bool take_level_types(struct arena *a, struct scan *s, Xla__LayoutProto *l)
{
    static const char letters[] = "DCSH";
    size_t room = HLO_RANK_MAX;

    l->dim_level_types = arena_get(a, room, sizeof *l->dim_level_types);
    l->dim_unique = arena_get(a, room, sizeof *l->dim_unique);
    l->dim_ordered = arena_get(a, room, sizeof *l->dim_ordered);
    if (!l->dim_level_types || !l->dim_unique || !l->dim_ordered || !hlo_scan_char(s, '('))
        return false;
    while (!hlo_scan_char(s, ')')) {
        size_t n = l->n_dim_level_types;
        if (n == room || (n && !hlo_scan_char(s, ',')) || s->at == s->end)
            return false;
        const char *letter = memchr(letters, *s->at++, 4);
        if (!letter)
            return false;
        l->dim_level_types[n] = (Xla__DimLevelType)(letter - letters);
        l->dim_unique[n] = !hlo_scan_char(s, '+');
        l->dim_ordered[n] = !hlo_scan_char(s, '~');
        l->n_dim_level_types = l->n_dim_unique = l->n_dim_ordered = n + 1;
    }
    return true;
}

static bool take_splits(struct arena *a, struct scan *s, Xla__LayoutProto *l)
{
    while (hlo_scan_char(s, '(')) {
        Xla__SplitConfigProto *split = arena_get(a, 1, sizeof *split);
        if (!split)
            return false;
        xla__split_config_proto__init(split);
        if (!hlo_scan_int(s, &split->dimension) || !hlo_scan_peek(s, ':') ||
            !hlo_scan_ints(s, a, ":,)", &split->split_indices, &split->n_split_indices) ||
            !hlo_convert_append(a, (void ***)&l->split_configs, &l->n_split_configs, split))
            return false;
    }
    return l->n_split_configs > 0;
}

static bool take_type(struct scan *s, Xla__PrimitiveType *out)
{
    struct scan word;

    if (!hlo_scan_char(s, '(') || !hlo_scan_word(s, &word))
        return false;
    enum hlo_type type = hlo_type_by_name(word.at, (size_t)(word.end - word.at));
    if (type == HLO_TYPE_COUNT)
        return false;
    *out = (Xla__PrimitiveType)hlo_type_info[type].proto;
    return hlo_scan_char(s, ')');
}

static bool take_layout_part(struct arena *a, struct scan *s, Xla__LayoutProto *l)
{
    static const struct {
        const char *name;
        size_t offset;
    } numbers[] = {
        {"L(", offsetof(Xla__LayoutProto, tail_padding_alignment_in_elements)},
        {"E(", offsetof(Xla__LayoutProto, element_size_in_bits)},
        {"S(", offsetof(Xla__LayoutProto, memory_space)},
        {"M(", offsetof(Xla__LayoutProto, dynamic_shape_metadata_prefix_bytes)},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (hlo_scan_text(s, numbers[i].name))
            return hlo_scan_int(s, (int64_t *)(void *)((char *)l + numbers[i].offset)) &&
                   hlo_scan_char(s, ')');
    }
    if (hlo_scan_text(s, "D"))
        return take_level_types(a, s, l);
    if (hlo_scan_text(s, "SC"))
        return take_splits(a, s, l);
    if (hlo_scan_text(s, "T")) {
        do {
            if (!take_tile(a, s, l))
                return false;
        } while (hlo_scan_peek(s, '('));
        return true;
    }
    if (hlo_scan_text(s, "#"))
        return take_type(s, &l->index_primitive_type);
    if (hlo_scan_text(s, "*"))
        return take_type(s, &l->pointer_primitive_type);
    if (!hlo_scan_text(s, "P("))
        return false;
    l->physical_shape = hlo_take_shape(a, s);
    return l->physical_shape && hlo_scan_char(s, ')');
}

static bool take_layout(struct arena *a, struct scan *s, Xla__ShapeProto *p)
{
    Xla__LayoutProto *l = arena_get(a, 1, sizeof *l);
    int64_t order[HLO_RANK_MAX];

    if (!l)
        return false;
    xla__layout_proto__init(l);
    p->layout = l;
    l->tail_padding_alignment_in_elements = 1;
    if (!p->n_dimensions && !hlo_scan_peek(s, '{'))
        return true;
    if (!hlo_scan_char(s, '{')) {
        p->layout = NULL;
        return true;
    }
    while (!hlo_scan_peek(s, '}') && !hlo_scan_peek(s, ':')) {
        if (l->n_minor_to_major == p->n_dimensions ||
            (l->n_minor_to_major && !hlo_scan_char(s, ',')) ||
            !hlo_scan_int(s, &order[l->n_minor_to_major++]))
            return false;
    }
    l->minor_to_major = arena_get(a, l->n_minor_to_major + 1, sizeof *order);
    if (!l->minor_to_major)
        return false;
    memcpy(l->minor_to_major, order, l->n_minor_to_major * sizeof *order);
    if (hlo_scan_char(s, ':')) {
        while (!hlo_scan_peek(s, '}')) {
            if (!take_layout_part(a, s, l))
                return false;
        }
    }
    return hlo_scan_char(s, '}');
}

static bool take_dims(struct arena *a, struct scan *s, Xla__ShapeProto *p)
{
    int64_t dims[HLO_RANK_MAX];
    protobuf_c_boolean dynamic[HLO_RANK_MAX];
    size_t rank = 0;

    while (!hlo_scan_char(s, ']')) {
        if (rank == HLO_RANK_MAX || (rank && !hlo_scan_char(s, ',')))
            return false;
        bool unbounded = hlo_scan_char(s, '?');
        dynamic[rank] = unbounded || hlo_scan_text(s, "<=");
        dims[rank] = HLO_DIM_UNBOUNDED;
        if (!unbounded && !hlo_scan_int(s, &dims[rank]))
            return false;
        rank++;
    }
    p->dimensions = arena_get(a, rank + 1, sizeof *dims);
    p->is_dynamic_dimension = arena_get(a, rank + 1, sizeof *dynamic);
    if (!p->dimensions || !p->is_dynamic_dimension)
        return false;
    memcpy(p->dimensions, dims, rank * sizeof *dims);
    memcpy(p->is_dynamic_dimension, dynamic, rank * sizeof *dynamic);
    p->n_dimensions = p->n_is_dynamic_dimension = rank;
    return true;
}

bool hlo_take_shapes(struct arena *a, struct scan *s, char close, Xla__ShapeProto ***out,
                     size_t *count)
{
    while (!hlo_scan_char(s, close)) {
        if ((*count && !hlo_scan_char(s, ',')) ||
            !hlo_convert_append(a, (void ***)out, count, hlo_take_shape(a, s)))
            return false;
    }
    return true;
}

/* Nested deeper than any shape the readers let in: refused by depth of brackets, not of calls. */
static bool is_shallow(const struct scan *s)
{
    int depth = 0;

    for (const char *at = s->at; at < s->end; at++) {
        depth += *at == '(';
        if (depth > HLO_NESTING_MAX)
            return false;
        depth -= *at == ')';
        if (depth <= 0)
            return true;
    }
    return true;
}

Xla__ShapeProto *hlo_take_shape(struct arena *a, struct scan *s)
{
    Xla__ShapeProto *p = arena_get(a, 1, sizeof *p);
    struct scan word;

    if (!p)
        return NULL;
    xla__shape_proto__init(p);
    bool is_buffer = hlo_scan_text(s, "b(");
    if (is_buffer || hlo_scan_char(s, '(')) {
        p->element_type = is_buffer ? XLA__PRIMITIVE_TYPE__BUFFER : XLA__PRIMITIVE_TYPE__TUPLE;
        s->at--;
        if (!is_shallow(s))
            return NULL;
        s->at++;
        return hlo_take_shapes(a, s, ')', &p->tuple_shapes, &p->n_tuple_shapes) ? p : NULL;
    }
    if (!hlo_scan_word(s, &word) || !hlo_scan_char(s, '['))
        return NULL;
    enum hlo_type type = hlo_type_by_name(word.at, (size_t)(word.end - word.at));
    if (type == HLO_TYPE_COUNT || type == HLO_TUPLE || type == HLO_BUFFER || !take_dims(a, s, p))
        return NULL;
    p->element_type = (Xla__PrimitiveType)hlo_type_info[type].proto;
    if (hlo_type_info[type].class == 'O')
        return p;
    return take_layout(a, s, p) ? p : NULL;
}

/* ---- message to builder ---- */

static int add_parts(struct hlo_builder *b, const Xla__ShapeProto *p, struct hlo_shape_draft *d,
                     hlo_shape_id *out, struct err *e)
{
    if (p->n_tuple_shapes > HLO_LEAVES_MAX)
        return err_set(e, ERR_LIMIT, "a tuple of more than %d elements", HLO_LEAVES_MAX);
    hlo_shape_id few[16], *parts = few;
    if (p->n_tuple_shapes > 16 && !(parts = mem_try(p->n_tuple_shapes, sizeof *parts)))
        return err_no_memory(e, "to read the module");
    int rc = 0;
    for (size_t i = 0; i < p->n_tuple_shapes && !rc; i++)
        rc = hlo_convert_shape(b, p->tuple_shapes[i], &parts[i], e);
    d->parts = parts;
    d->part_count = (uint32_t)p->n_tuple_shapes;
    rc = rc ? rc : hlo_build_shape(b, d, out, e);
    if (parts != few)
        free(parts);
    return rc;
}

static int add_layout(const Xla__ShapeProto *p, struct hlo_shape_draft *d, uint8_t *order,
                      struct str *rest, struct err *e)
{
    const Xla__LayoutProto *l = p->layout;

    if (l->n_minor_to_major && l->n_minor_to_major != p->n_dimensions)
        return err_set(e, ERR_INPUT, "a layout of %zu dims on a shape of %zu", l->n_minor_to_major,
                       p->n_dimensions);
    for (size_t i = 0; i < l->n_minor_to_major; i++) {
        if (l->minor_to_major[i] < 0 || l->minor_to_major[i] >= (int64_t)p->n_dimensions)
            return err_set(e, ERR_INPUT, "layout names dim %lld of %zu",
                           (long long)l->minor_to_major[i], p->n_dimensions);
        order[i] = (uint8_t)l->minor_to_major[i];
    }
    print_layout_rest(l, rest);
    if (rest->failed)
        return err_no_memory(e, "to read the module");
    d->has_layout = p->n_dimensions > 0 || rest->size > 0;
    d->minor_to_major = l->n_minor_to_major ? order : NULL;
    d->layout_rest = rest->text ? rest->text : "";
    d->layout_rest_size = rest->size;
    return 0;
}

bool hlo_convert_add_layout(struct arena *a, Xla__ShapeProto *p)
{
    enum hlo_type type = hlo_type_by_proto((int)p->element_type);

    for (size_t n = 0; n < p->n_tuple_shapes; n++) {
        if (!hlo_convert_add_layout(a, p->tuple_shapes[n]))
            return false;
    }
    if (p->layout || type == HLO_TYPE_COUNT || hlo_type_info[type].class == 'O')
        return true;
    Xla__LayoutProto *l = arena_get(a, 1, sizeof *l);
    int64_t *order = arena_get(a, p->n_dimensions + 1, sizeof *order);
    if (!l || !order)
        return false;
    xla__layout_proto__init(l);
    for (size_t n = 0; n < p->n_dimensions; n++)
        order[n] = (int64_t)(p->n_dimensions - 1 - n);
    l->minor_to_major = order;
    l->n_minor_to_major = p->n_dimensions;
    p->layout = l;
    return true;
}

int hlo_convert_shape(struct hlo_builder *b, const Xla__ShapeProto *p, hlo_shape_id *out,
                      struct err *e)
{
    struct hlo_shape_draft d = {.type = hlo_type_by_proto((int)p->element_type)};
    bool dynamic[HLO_RANK_MAX];
    uint8_t order[HLO_RANK_MAX];
    struct str rest = {0};
    int rc = 0;

    if (d.type == HLO_TYPE_COUNT)
        return err_set(e, ERR_INPUT, "element type %d of a shape is unknown", (int)p->element_type);
    if (d.type == HLO_TUPLE || d.type == HLO_BUFFER)
        return add_parts(b, p, &d, out, e);
    if (p->n_dimensions > HLO_RANK_MAX)
        return err_set(e, ERR_LIMIT, "more than %d dims", HLO_RANK_MAX);
    d.rank = (uint8_t)p->n_dimensions;
    d.dims = p->dimensions;
    for (size_t i = 0; i < d.rank; i++) {
        dynamic[i] = (i < p->n_is_dynamic_dimension && p->is_dynamic_dimension[i]) ||
                     p->dimensions[i] == HLO_DIM_UNBOUNDED;
        if (p->dimensions[i] < 0 && p->dimensions[i] != HLO_DIM_UNBOUNDED)
            return err_set(e, ERR_INPUT, "dim %zu of a shape is %lld, expected 0 or more", i,
                           (long long)p->dimensions[i]);
        if (dynamic[i])
            d.dynamic = dynamic;
    }
    if (p->layout && is_array(p))
        rc = add_layout(p, &d, order, &rest, e);
    if (rc)
        goto out;
    rc = hlo_build_shape(b, &d, out, e);
out:
    str_release(&rest);
    return rc;
}

bool hlo_convert_same_dims(const Xla__ShapeProto *a, const Xla__ShapeProto *b)
{
    if (a->element_type != b->element_type || a->n_dimensions != b->n_dimensions ||
        a->n_tuple_shapes != b->n_tuple_shapes)
        return false;
    for (size_t i = 0; i < a->n_dimensions; i++) {
        if (a->dimensions[i] != b->dimensions[i])
            return false;
    }
    for (size_t i = 0; i < a->n_tuple_shapes; i++) {
        if (!hlo_convert_same_dims(a->tuple_shapes[i], b->tuple_shapes[i]))
            return false;
    }
    return true;
}
