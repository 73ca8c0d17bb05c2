#include "hlo/module/build.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static uint64_t shape_hash(const struct hlo_shape_draft *d)
{
    uint64_t h = (uint64_t)d->type << 16 | (uint64_t)d->rank << 8 | d->has_layout;

    h = mem_hash(d->dims, d->rank * sizeof *d->dims, h);
    if (d->dynamic)
        h = mem_hash(d->dynamic, d->rank, h);
    if (d->minor_to_major)
        h = mem_hash(d->minor_to_major, d->rank, h + 1);
    h = mem_hash(d->layout_rest, d->layout_rest_size, h);
    return mem_hash(d->parts, d->part_count * sizeof *d->parts, h);
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return (!a && !b) || (a && b && !memcmp(a, b, size));
}

static bool same_shape(const struct hlo_builder *b, uint32_t item, const void *key)
{
    const struct hlo_shape_draft *d = key;
    const struct hlo_shape *s = &b->shapes[item];

    return s->type == d->type && s->rank == d->rank && s->has_layout == d->has_layout &&
           s->part_count == d->part_count && !memcmp(s->dims, d->dims, d->rank * sizeof *d->dims) &&
           same_bytes(s->dynamic, d->dynamic, d->rank) &&
           same_bytes(s->minor_to_major, d->minor_to_major, d->rank) &&
           strlen(s->layout_rest) == d->layout_rest_size &&
           !memcmp(s->layout_rest, d->layout_rest, d->layout_rest_size) &&
           !memcmp(s->parts, d->parts, d->part_count * sizeof *d->parts);
}

static int check_layout(const struct hlo_shape_draft *d, struct err *e)
{
    bool seen[HLO_RANK_MAX] = {false};

    for (uint8_t i = 0; d->minor_to_major && i < d->rank; i++) {
        uint8_t dim = d->minor_to_major[i];
        if (dim >= d->rank || seen[dim])
            return err_set(e, ERR_INPUT, "layout names dim %d, expected each of 0..%d once", dim,
                           d->rank - 1);
        seen[dim] = true;
    }
    return 0;
}

/* Bits of an element: E(n) of the layout, else whole bytes of the type. */
static int64_t element_bits(const struct hlo_shape_draft *d)
{
    const char *e = memchr(d->layout_rest, 'E', d->layout_rest_size);
    const char *end = d->layout_rest + d->layout_rest_size;
    int64_t bits = 0;

    if (e && end - e > 2 && e[1] == '(') {
        for (const char *p = e + 2; p < end && *p >= '0' && *p <= '9' && bits < 1024; p++)
            bits = bits * 10 + (*p - '0');
        if (bits > 0 && bits <= 128)
            return bits;
    }
    return (hlo_type_info[d->type].bits + 7) / 8 * 8;
}

static int measure_array(const struct hlo_shape_draft *d, struct hlo_shape *s, struct err *e)
{
    int64_t bits = element_bits(d);

    s->elements = hlo_type_info[d->type].bits ? 1 : 0;
    for (uint8_t i = 0; i < d->rank; i++) {
        int64_t dim = d->dims[i] == HLO_DIM_UNBOUNDED ? 1 : d->dims[i];
        if (dim < 0)
            return err_set(e, ERR_INPUT, "dim of size %lld, expected 0 or more", (long long)dim);
        if (__builtin_mul_overflow(s->elements, dim, &s->elements))
            return err_set(e, ERR_LIMIT, "a shape of more than 2^63 elements");
    }
    int64_t all;
    if (__builtin_mul_overflow(s->elements, bits, &all))
        return err_set(e, ERR_LIMIT, "a shape of more than 2^63 bits");
    s->bytes = all / 8 + (all % 8 != 0);
    return 0;
}

static int measure_tuple(const struct hlo_builder *b, const struct hlo_shape_draft *d,
                         struct hlo_shape *s, struct err *e)
{
    uint64_t leaves = 0;

    for (uint32_t i = 0; i < d->part_count; i++) {
        const struct hlo_shape *part = &b->shapes[d->parts[i]];
        leaves += part->leaf_count;
        if (__builtin_add_overflow(s->bytes, part->bytes, &s->bytes))
            return err_set(e, ERR_LIMIT, "a tuple of more than 2^63 bytes");
    }
    if (leaves > HLO_LEAVES_MAX)
        return err_set(e, ERR_LIMIT, "a tuple of %llu leaves, expected at most %d",
                       (unsigned long long)leaves, HLO_LEAVES_MAX);
    s->leaf_count = (uint32_t)leaves;
    return 0;
}

static void *copy_of(struct arena *a, const void *from, size_t size, bool *failed)
{
    if (!from)
        return NULL;
    void *copy = arena_get(a, size + 1, 1);
    if (!copy)
        *failed = true;
    else if (size)
        memcpy(copy, from, size);
    return copy;
}

/* Arrays own themselves as only leaf, tuples the leaves of their parts in order. */
static bool fill_leaves(struct hlo_builder *b, struct hlo_shape *s, hlo_shape_id id)
{
    bool is_tuple = s->type == HLO_TUPLE || s->type == HLO_BUFFER;
    if (!is_tuple)
        s->leaf_count = 1;
    hlo_shape_id *leaves = arena_get(&b->m->arena, s->leaf_count + 1, sizeof *leaves);
    uint32_t *part_leaf =
        s->part_count ? arena_get(&b->m->arena, s->part_count, sizeof *part_leaf) : NULL;
    if (!leaves || (s->part_count && !part_leaf))
        return false;
    leaves[0] = id;
    uint32_t at = 0;
    for (uint32_t i = 0; is_tuple && i < s->part_count; i++) {
        const struct hlo_shape *part = &b->shapes[s->parts[i]];
        if (part->leaf_count)
            memcpy(leaves + at, part->leaves, part->leaf_count * sizeof *leaves);
        part_leaf[i] = at;
        at += part->leaf_count;
    }
    s->leaves = leaves;
    s->part_leaf = part_leaf;
    return true;
}

/* The id of the same shape without layouts and dynamism; the shape's own when it has none. */
static int intern_bare(struct hlo_builder *b, const struct hlo_shape_draft *d, hlo_shape_id *out,
                       struct err *e)
{
    hlo_shape_id *parts = NULL;
    bool differs = d->has_layout || d->dynamic;
    int rc = 0;

    if (d->part_count) {
        parts = mem_try(d->part_count, sizeof *parts);
        if (!parts)
            return hlo_build_memory(e);
        for (uint32_t i = 0; i < d->part_count; i++) {
            parts[i] = b->shapes[d->parts[i]].bare;
            differs |= parts[i] != d->parts[i];
        }
    }
    *out = HLO_NONE;
    if (differs) {
        struct hlo_shape_draft bare = {.type = d->type,
                                       .rank = d->rank,
                                       .dims = d->dims,
                                       .parts = parts,
                                       .part_count = d->part_count};
        rc = hlo_build_shape(b, &bare, out, e);
    }
    free(parts);
    return rc;
}

static int add_shape(struct hlo_builder *b, const struct hlo_shape_draft *d, hlo_shape_id *out,
                     struct err *e)
{
    struct arena *a = &b->m->arena;
    struct hlo_shape s = {.type = (uint8_t)d->type,
                          .rank = d->rank,
                          .has_layout = d->has_layout,
                          .part_count = d->part_count};
    bool failed = false;
    int rc = check_layout(d, e);

    if (rc)
        return rc;
    rc = d->type == HLO_TUPLE || d->type == HLO_BUFFER ? measure_tuple(b, d, &s, e)
                                                       : measure_array(d, &s, e);
    if (rc)
        return rc;
    rc = intern_bare(b, d, &s.bare, e);
    if (rc)
        return rc;
    s.dims = copy_of(a, d->dims, d->rank * sizeof *d->dims, &failed);
    s.dynamic = copy_of(a, d->dynamic, d->rank, &failed);
    s.minor_to_major = copy_of(a, d->minor_to_major, d->rank, &failed);
    s.layout_rest = arena_text(a, d->layout_rest, d->layout_rest_size);
    s.parts = copy_of(a, d->parts, d->part_count * sizeof *d->parts, &failed);
    *out = (hlo_shape_id)b->shape_count;
    if (s.bare == HLO_NONE)
        s.bare = *out;
    if (failed || !s.layout_rest || !fill_leaves(b, &s, *out) ||
        !mem_grow(&b->shapes, &b->shape_room, b->shape_count, 1))
        return hlo_build_memory(e);
    b->shapes[b->shape_count++] = s;
    return 0;
}

struct hlo_shape_draft hlo_draft_of_shape(const struct hlo_shape *s, const int64_t *dims,
                                          const hlo_shape_id *parts)
{
    return (struct hlo_shape_draft){.type = (enum hlo_type)s->type,
                                    .rank = s->rank,
                                    .has_layout = s->has_layout,
                                    .dims = dims,
                                    .dynamic = s->dynamic,
                                    .minor_to_major = s->minor_to_major,
                                    .layout_rest = s->layout_rest,
                                    .layout_rest_size = strlen(s->layout_rest),
                                    .parts = parts,
                                    .part_count = s->part_count};
}

int hlo_build_shape(struct hlo_builder *b, const struct hlo_shape_draft *draft, hlo_shape_id *out,
                    struct err *e)
{
    struct hlo_shape_draft d = *draft;

    BUG_ON(d.type >= HLO_TYPE_COUNT);
    if (d.rank > HLO_RANK_MAX)
        return err_set(e, ERR_LIMIT, "a shape of %d dims, expected at most %d", d.rank,
                       HLO_RANK_MAX);
    if (!d.layout_rest) {
        d.layout_rest = "";
        d.layout_rest_size = 0;
    }
    static const int64_t no_dims[1];
    static const hlo_shape_id no_parts[1];
    if (!d.dims)
        d.dims = no_dims;
    if (!d.parts)
        d.parts = no_parts;
    uint64_t hash = shape_hash(&d);
    *out = hlo_index_find(b, &b->shape_index, hash, same_shape, &d);
    if (*out != HLO_NONE)
        return 0;
    int rc = add_shape(b, &d, out, e);
    if (rc)
        return rc;
    if (!hlo_index_add(&b->shape_index, hash, *out))
        return hlo_build_memory(e);
    return rc;
}

const struct hlo_shape *hlo_builder_shape(const struct hlo_builder *b, hlo_shape_id id)
{
    return &b->shapes[id];
}
