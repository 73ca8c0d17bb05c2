#include "hlo/meaning/extract.h"

#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/flows.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <string.h>

enum { TUPLE_MOST = 64 };

static const char MEMORY_FOR[] = "to take a part out of a module";

/* A free instruction as some use needs it. */
struct wanted {
    hlo_id id;
    uint64_t cut;  /* dims that are shorter */
    uint32_t next; /* of the same instruction, + 1 */
    hlo_id made;
};

struct hlo_builder;

struct extractor {
    const struct hlo_module *m;
    const struct hlo_part *part;
    struct hlo_builder *b;
    struct err *e;
    struct hlo_factors factors;
    hlo_comp *computation; /* copies; HLO_NONE: none */
    bool *is_called;
    uint32_t *first; /* [count] into wanted, + 1 */
    struct wanted *wanted;
    size_t wanted_count, wanted_room;
    hlo_id *made; /* [values] the instruction that gives it; HLO_NONE: not yet */
    hlo_value *of;
    size_t of_room, of_count;
    hlo_id *operands;
    size_t operand_room;
    hlo_comp *called;
    size_t called_room;
    hlo_comp entry;
};

hlo_value hlo_extract_source(const struct hlo_module *m, hlo_value v)
{
    for (;;) {
        v = hlo_value_source(m, v);
        hlo_id id = m->value_instruction[v];
        const struct hlo_instruction *i = hlo_at(m, id);
        if (i->opcode != HLO_OP_OPT_BARRIER || i->operand_count != 1)
            return v;
        v = m->leaf_base[hlo_operand(m, id, 0)] + hlo_value_leaf(m, v);
    }
}

static int refuse_instruction(const struct extractor *x, hlo_id id, const char *why)
{
    return err_set(x->e, ERR_INPUT, "%.120s cannot be part of another module: %s",
                   hlo_name(x->m, id), why);
}

static bool is_array(const struct hlo_shape *s)
{
    return s->type != HLO_TUPLE && s->type != HLO_BUFFER;
}

static bool makes_free(const struct extractor *x, hlo_id id)
{
    hlo_value first = x->m->leaf_base[id];

    return first < x->m->leaf_base[id + 1] && x->part->is_free[first];
}

/* ---- sizes ---- */

/* Dims of value `v`, which is not free, that are cut. */
static uint64_t cut_of(const struct extractor *x, hlo_value v)
{
    uint64_t cut = 0;

    for (uint32_t d = 0; x->part->cut > 1 && d < hlo_value_shape(x->m, v)->rank; d++)
        if (x->part->is_cut(x->part->context, v, d))
            cut |= (uint64_t)1 << d;
    return cut;
}

static struct hlo_shape_draft draft_of_shape(const struct hlo_shape *s, const int64_t *dims,
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

static int build_array(struct extractor *x, hlo_id id, const struct hlo_shape *s, uint64_t cut,
                       hlo_shape_id *out)
{
    int64_t dims[HLO_RANK_MAX];

    for (uint32_t d = 0; d < s->rank; d++) {
        dims[d] = s->dims[d];
        if (!(cut >> d & 1))
            continue;
        if (dims[d] % x->part->cut)
            return refuse_instruction(x, id,
                                      "a dim of it does not divide by the number of micro-batches");
        dims[d] /= x->part->cut;
    }
    struct hlo_shape_draft draft = draft_of_shape(s, dims, NULL);
    return hlo_build_shape(x->b, &draft, out, x->e);
}

/* The shape of a result, of a tuple leaf by leaf; `cut` is that of a free value. */
static int build_shape(struct extractor *x, hlo_id id, bool is_free, uint64_t cut,
                       hlo_shape_id *out)
{
    const struct hlo_module *m = x->m;
    const struct hlo_shape *s = hlo_shape(m, id);
    hlo_shape_id parts[TUPLE_MOST];

    if (is_array(s))
        return build_array(x, id, s, is_free ? cut : cut_of(x, m->leaf_base[id]), out);
    if (s->leaf_count != s->part_count || s->part_count > TUPLE_MOST)
        return refuse_instruction(x, id, "its result is a tuple of tuples, or of more than 64");
    for (uint32_t n = 0; n < s->part_count; n++) {
        hlo_value v = m->leaf_base[id] + n;
        int rc = build_array(x, id, hlo_value_shape(m, v), is_free ? 0 : cut_of(x, v), &parts[n]);
        if (rc)
            return rc;
    }
    struct hlo_shape_draft draft = {.type = HLO_TUPLE, .parts = parts, .part_count = s->part_count};
    return hlo_build_shape(x->b, &draft, out, x->e);
}

/* ---- free values, as their uses need them ---- */

static bool is_input(const struct extractor *x, hlo_value v)
{
    return x->made[v] != HLO_NONE;
}

static int want(struct extractor *x, hlo_id id, uint64_t cut)
{
    for (uint32_t n = x->first[id]; n; n = x->wanted[n - 1].next)
        if (x->wanted[n - 1].cut == cut)
            return 0;
    if (!mem_grow(&x->wanted, &x->wanted_room, x->wanted_count, 1))
        return err_no_memory(x->e, MEMORY_FOR);
    x->wanted[x->wanted_count] = (struct wanted){id, cut, x->first[id], HLO_NONE};
    x->first[id] = (uint32_t)++x->wanted_count;
    return 0;
}

/* Dims of operand leaf `leaf` of `id` that are cut, when the loop indices that `cut` tells of its
 * result (free), or its other leaves, are. The factors are those of `id`. */
static uint64_t cut_of_operand(const struct extractor *x, hlo_id id, uint32_t leaf, bool is_free,
                               uint64_t cut)
{
    const struct hlo_factors *f = &x->factors;
    uint64_t out = 0;

    for (uint32_t k = 0; k < f->count; k++) {
        const int8_t *dims = f->items[k].dims;
        bool is_cut = false;
        for (uint32_t l = 0; l < f->leaf_count && dims[leaf] >= 0 && !is_cut; l++) {
            hlo_value v = hlo_factors_value(x->m, id, l);
            if (dims[l] < 0 || (is_free ? l < f->operand_leaves : x->part->is_free[v]))
                continue;
            is_cut = (is_free ? cut : cut_of(x, v)) >> dims[l] & 1;
        }
        if (is_cut)
            out |= (uint64_t)1 << dims[leaf];
    }
    return out;
}

/* Leaf of operand n, as hlo_factors numbers them. */
static uint32_t leaf_of_operand(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    uint32_t leaf = 0;

    for (uint32_t k = 0; k < n; k++)
        leaf += hlo_shape(m, hlo_operand(m, id, k))->leaf_count;
    return leaf;
}

/* How operand n of `id` is needed. */
static uint64_t operand_cut(const struct extractor *x, hlo_id id, uint32_t n, bool is_free,
                            uint64_t cut)
{
    if (x->part->cut <= 1)
        return 0;
    return cut_of_operand(x, id, leaf_of_operand(x->m, id, n), is_free, cut);
}

static int want_operands(struct extractor *x, hlo_id id, bool is_free, uint64_t cut)
{
    const struct hlo_module *m = x->m;
    int rc = x->part->cut > 1 ? hlo_factors_of(m, id, &x->factors, x->e) : 0;

    if (rc)
        return rc;
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id o = hlo_operand(m, id, n);
        if (!is_array(hlo_shape(m, o)))
            return refuse_instruction(x, id, "it takes a tuple");
        hlo_value v = hlo_extract_source(m, m->leaf_base[o]);
        if (x->part->is_free[v] && !is_input(x, v))
            rc = want(x, m->value_instruction[v], operand_cut(x, id, n, is_free, cut));
        if (rc)
            return rc;
    }
    return 0;
}

/* Users come after what they use. */
static int want_all(struct extractor *x)
{
    const struct hlo_computation *c = &x->m->computations[x->m->entry];
    int rc = 0;

    for (uint32_t n = 0; n < x->part->outputs; n++) {
        hlo_value v = x->part->output[n];
        if (x->part->is_free[v] && !is_input(x, v))
            rc = want(x, x->m->value_instruction[v], 0);
        if (rc)
            return rc;
    }
    for (hlo_id id = c->first + c->count; id-- > c->first;) {
        if (x->part->is_kept[id] && !makes_free(x, id))
            rc = want_operands(x, id, false, 0);
        if (rc)
            return rc;
        for (uint32_t n = x->first[id]; n; n = x->wanted[n - 1].next) {
            rc = want_operands(x, id, true, x->wanted[n - 1].cut);
            if (rc)
                return rc;
        }
    }
    return 0;
}

/* ---- computations that are applied ---- */

static void mark_called(struct extractor *x, hlo_id id)
{
    for (uint32_t n = 0; n < hlo_at(x->m, id)->called_count; n++)
        x->is_called[hlo_called(x->m, id, n)] = true;
}

static int add_draft(struct extractor *x, const struct hlo_draft *d, hlo_value of, hlo_id *out)
{
    if (!mem_grow(&x->of, &x->of_room, x->of_count, 1))
        return err_no_memory(x->e, MEMORY_FOR);
    int rc = hlo_build_instruction(x->b, d, out, x->e);
    if (rc)
        return rc;
    hlo_builder_at(x->b, *out)->line = *out; /* survives the sorting of finish */
    x->of[x->of_count++] = of;
    return 0;
}

static int set_called(struct extractor *x, hlo_id id, struct hlo_draft *d)
{
    d->called_count = hlo_at(x->m, id)->called_count;
    if (!mem_grow(&x->called, &x->called_room, 0, (size_t)d->called_count + 1))
        return err_no_memory(x->e, MEMORY_FOR);
    for (uint32_t n = 0; n < d->called_count; n++)
        x->called[n] = x->computation[hlo_called(x->m, id, n)];
    d->called = x->called;
    return 0;
}

static struct hlo_draft draft_of(const struct extractor *x, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(x->m, id);
    const struct hlo_text *literal = &x->m->literals[i->literal];
    struct hlo_draft d = {.opcode = i->opcode,
                          .name = hlo_name(x->m, id),
                          .name_size = (uint32_t)strlen(hlo_name(x->m, id)),
                          .number = i->number,
                          .at = SIZE_MAX};

    if (i->literal) {
        d.literal = literal->text;
        d.literal_size = literal->size;
    }
    return d;
}

/* Attributes but those that speak of splits and of the source. */
static int set_attrs(struct extractor *x, hlo_id id, struct hlo_draft *d, struct hlo_attr *list,
                     uint32_t room)
{
    const struct hlo_instruction *i = hlo_at(x->m, id);
    const struct hlo_attr *attrs = x->m->attr_pool + i->attrs;

    d->attrs = list;
    for (uint32_t n = 0; n < i->attr_count; n++) {
        if (attrs[n].key == HLO_ATTR_SHARDING || attrs[n].key == HLO_ATTR_METADATA ||
            attrs[n].key == HLO_ATTR_ORIGIN)
            continue;
        if (d->attr_count == room)
            return refuse_instruction(x, id, "it has too many attributes");
        list[d->attr_count++] = attrs[n];
    }
    return 0;
}

static int copy_shape(struct extractor *x, hlo_shape_id id, hlo_shape_id *out)
{
    const struct hlo_shape *s = &x->m->shapes[id];
    hlo_shape_id parts[TUPLE_MOST];

    if (s->part_count > TUPLE_MOST)
        return err_set(x->e, ERR_INPUT, "a tuple of %u in a called computation", s->part_count);
    for (uint32_t n = 0; n < s->part_count; n++) {
        int rc = !is_array(&x->m->shapes[s->parts[n]])
                     ? err_set(x->e, ERR_INPUT, "a tuple of tuples in a called computation")
                     : copy_shape(x, s->parts[n], &parts[n]);
        if (rc)
            return rc;
    }
    struct hlo_shape_draft draft = draft_of_shape(s, s->dims, parts);
    return hlo_build_shape(x->b, &draft, out, x->e);
}

static int copy_computation(struct extractor *x, hlo_comp from)
{
    const struct hlo_computation *c = &x->m->computations[from];
    int rc = hlo_build_computation(x->b, c->name, strlen(c->name), &x->computation[from], x->e);
    hlo_id base = HLO_NONE;

    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        if (rc)
            return rc;
        struct hlo_attr attrs[32];
        struct hlo_draft d = draft_of(x, id);
        hlo_id made = HLO_NONE;
        d.computation = x->computation[from];
        d.is_root = id == c->root;
        d.operand_count = hlo_at(x->m, id)->operand_count;
        if (!mem_grow(&x->operands, &x->operand_room, 0, (size_t)d.operand_count + 1))
            return err_no_memory(x->e, MEMORY_FOR);
        for (uint32_t n = 0; n < d.operand_count; n++)
            x->operands[n] = base + (hlo_operand(x->m, id, n) - c->first);
        d.operands = x->operands;
        rc = copy_shape(x, hlo_at(x->m, id)->shape, &d.shape);
        rc = rc ? rc : set_called(x, id, &d);
        rc = rc ? rc : set_attrs(x, id, &d, attrs, sizeof attrs / sizeof *attrs);
        rc = rc ? rc : add_draft(x, &d, HLO_NONE, &made);
        base = id == c->first ? made : base;
    }
    return rc;
}

/* Callees come before callers. */
static int copy_computations(struct extractor *x)
{
    const struct hlo_module *m = x->m;
    const struct hlo_computation *entry = &m->computations[m->entry];
    int rc = 0;

    for (hlo_id id = entry->first; id < entry->first + entry->count; id++)
        if (x->part->is_kept[id] || x->first[id])
            mark_called(x, id);
    for (hlo_comp c = m->computation_count; c-- > 0;)
        for (hlo_id id = m->computations[c].first;
             x->is_called[c] && id < m->computations[c].first + m->computations[c].count; id++)
            mark_called(x, id);
    for (hlo_comp c = 0; c < m->computation_count; c++) {
        rc = x->is_called[c] ? copy_computation(x, c) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- attributes that name sizes ---- */

static int keep_text(struct extractor *x, struct str *text, struct hlo_attr *out)
{
    struct arena *arena = &hlo_builder_module(x->b)->arena;
    char *copy = text->failed ? NULL : arena_text(arena, text->text, text->size);

    if (copy) {
        out->text = copy;
        out->size = (uint32_t)text->size;
    }
    str_release(text);
    return copy ? 0 : err_no_memory(x->e, MEMORY_FOR);
}

/* Sizes along `whole`, where a size that was the whole dim is the new whole one. A gather that
 * takes less goes by rows of the batch, each by itself. */
static int cut_sizes(struct extractor *x, hlo_id id, const struct hlo_shape *whole, uint64_t cut,
                     struct hlo_attr *a)
{
    int64_t sizes[HLO_RANK_MAX];
    size_t count;
    struct str text = {0};

    if (!hlo_parse_ints(a->text, a->size, sizes, HLO_RANK_MAX, &count) || count != whole->rank)
        return refuse_instruction(x, id, "its sizes cannot be read");
    for (uint32_t d = 0; d < count; d++) {
        if (cut >> d & 1 && sizes[d] == whole->dims[d])
            sizes[d] /= x->part->cut;
        else if (cut >> d & 1 && a->key == HLO_ATTR_DYNAMIC_SLICE_SIZES)
            return refuse_instruction(x, id,
                                      "it takes a part of a dim that is cut into micro-batches");
        str_add(&text, d ? "," : "{");
        str_add_int(&text, sizes[d]);
    }
    str_add(&text, count ? "}" : "{}");
    return keep_text(x, &text, a);
}

static int cut_slices(struct extractor *x, hlo_id id, const struct hlo_shape *whole, uint64_t cut,
                      struct hlo_attr *a)
{
    int64_t part[HLO_RANK_MAX][3];
    size_t count;
    struct str text = {0};

    if (!hlo_parse_slices(a->text, a->size, part, HLO_RANK_MAX, &count) || count != whole->rank)
        return refuse_instruction(x, id, "its slices cannot be read");
    for (uint32_t d = 0; d < count; d++) {
        bool is_whole = part[d][0] == 0 && part[d][1] == whole->dims[d] && part[d][2] == 1;
        if (cut >> d & 1 && !is_whole)
            return refuse_instruction(x, id,
                                      "it takes a part of a dim that is cut into micro-batches");
        if (cut >> d & 1)
            part[d][1] /= x->part->cut;
        str_format(&text, "%s[%lld:%lld:%lld]", d ? ", " : "{", (long long)part[d][0],
                   (long long)part[d][1], (long long)part[d][2]);
    }
    str_add(&text, count ? "}" : "{}");
    return keep_text(x, &text, a);
}

static int cut_attrs(struct extractor *x, hlo_id id, bool is_free, uint64_t cut,
                     struct hlo_draft *d, struct hlo_attr *list)
{
    const struct hlo_module *m = x->m;
    hlo_id o = d->operand_count ? hlo_operand(m, id, 0) : HLO_NONE;
    hlo_value v = o == HLO_NONE ? HLO_NONE : hlo_extract_source(m, m->leaf_base[o]);
    int rc = 0;

    if (x->part->cut <= 1)
        return 0;
    if (d->opcode == HLO_OP_CONSTANT && cut && d->literal_size && d->literal[0] == '{')
        return refuse_instruction(x, id,
                                  "a constant with values of its own is cut into micro-batches");
    for (uint32_t n = 0; n < d->attr_count; n++) {
        uint64_t of = v == HLO_NONE         ? 0
                      : x->part->is_free[v] ? operand_cut(x, id, 0, is_free, cut)
                                            : cut_of(x, v);
        if (list[n].key == HLO_ATTR_SLICE && of)
            rc = cut_slices(x, id, hlo_value_shape(m, v), of, &list[n]);
        else if ((list[n].key == HLO_ATTR_DYNAMIC_SLICE_SIZES ||
                  list[n].key == HLO_ATTR_SLICE_SIZES) &&
                 of)
            rc = cut_sizes(x, id, hlo_value_shape(m, v), of, &list[n]);
        if (rc)
            return rc;
    }
    return rc;
}

/* ---- the entry ---- */

enum { NAME_ROOM = 600 };

/* `base`, cut when it is long, and `suffix`: numbered where the module has an instruction of that
 * name. `out` [NAME_ROOM]. */
static const char *fresh_name(const struct extractor *x, const char *base, const char *suffix,
                              char *out)
{
    snprintf(out, NAME_ROOM, "%.500s%s", base, suffix);
    for (uint32_t n = 2; hlo_find(x->m, out) != HLO_NONE; n++)
        snprintf(out, NAME_ROOM, "%.500s%s.%u", base, suffix, n);
    return out;
}

/* What reads an input reads its copy: parameter and copy may be split in two ways. `input`: name of
 * the parameter. */
static int add_copy_of_input(struct extractor *x, hlo_value v, const char *input)
{
    char name[NAME_ROOM];
    hlo_id parameter = x->made[v];
    struct hlo_draft d = {.computation = x->entry,
                          .opcode = HLO_OP_COPY,
                          .operands = &parameter,
                          .operand_count = 1,
                          .shape = hlo_builder_at(x->b, parameter)->shape,
                          .name = fresh_name(x, input, ".whole", name),
                          .name_size = (uint32_t)strlen(name),
                          .at = SIZE_MAX};

    return add_draft(x, &d, v, &x->made[v]);
}

static int add_inputs(struct extractor *x)
{
    const struct hlo_module *m = x->m;
    char name[NAME_ROOM], leaf[24];
    int rc = 0;

    for (uint32_t n = 0; n < x->part->inputs; n++) {
        if (rc)
            return rc;
        hlo_value v = x->part->input[n];
        hlo_id id = m->value_instruction[v];
        struct hlo_draft d = {.computation = x->entry,
                              .opcode = HLO_OP_PARAMETER,
                              .name = hlo_name(m, id),
                              .number = n,
                              .at = SIZE_MAX};
        if (m->leaf_base[id + 1] - m->leaf_base[id] > 1) {
            snprintf(leaf, sizeof leaf, ".leaf%u", hlo_value_leaf(m, v));
            d.name = fresh_name(x, d.name, leaf, name);
        }
        d.name_size = (uint32_t)strlen(d.name);
        rc = build_array(x, id, hlo_value_shape(m, v), x->part->is_free[v] ? 0 : cut_of(x, v),
                         &d.shape);
        rc = rc ? rc : add_draft(x, &d, v, &x->made[v]);
        if (x->part->is_copied && x->part->is_copied[v])
            rc = rc ? rc : add_copy_of_input(x, v, d.name);
    }
    return rc;
}

/* An element of a tuple that is made here. */
static int add_element(struct extractor *x, hlo_value v, hlo_id of, hlo_id *out)
{
    const struct hlo_module *m = x->m;
    struct hlo_draft d = {.computation = x->entry,
                          .opcode = HLO_OP_GET_TUPLE_ELEMENT,
                          .operands = &of,
                          .operand_count = 1,
                          .number = hlo_value_leaf(m, v),
                          .at = SIZE_MAX};
    int rc = build_array(x, m->value_instruction[v], hlo_value_shape(m, v),
                         x->part->is_free[v] ? 0 : cut_of(x, v), &d.shape);

    return rc ? rc : add_draft(x, &d, v, out);
}

/* The instruction that gives `v`, a free one with these dims cut. */
static int find_made(struct extractor *x, hlo_id user, hlo_value v, uint64_t cut, hlo_id *out)
{
    hlo_id id = x->m->value_instruction[v];

    *out = x->made[v];
    for (uint32_t n = x->first[id]; n && *out == HLO_NONE; n = x->wanted[n - 1].next)
        if (x->wanted[n - 1].cut == cut)
            *out = x->wanted[n - 1].made;
    if (*out == HLO_NONE)
        return refuse_instruction(x, user, "something it reads is not there");
    return 0;
}

static int add_copy(struct extractor *x, hlo_id id, bool is_free, uint64_t cut, bool renames,
                    hlo_id *out)
{
    const struct hlo_module *m = x->m;
    struct hlo_attr attrs[64];
    struct hlo_draft d = draft_of(x, id);
    char name[NAME_ROOM], suffix[24];
    int rc = x->part->cut > 1 ? hlo_factors_of(m, id, &x->factors, x->e) : 0;

    d.computation = x->entry;
    if (renames) {
        snprintf(suffix, sizeof suffix, ".cut%llu", (unsigned long long)cut);
        d.name = fresh_name(x, d.name, suffix, name);
        d.name_size = (uint32_t)strlen(name);
    }
    d.operand_count = hlo_at(m, id)->operand_count;
    if (rc)
        return rc;
    if (!mem_grow(&x->operands, &x->operand_room, 0, (size_t)d.operand_count + 1))
        return err_no_memory(x->e, MEMORY_FOR);
    for (uint32_t n = 0; n < d.operand_count; n++) {
        hlo_value v = hlo_extract_source(m, m->leaf_base[hlo_operand(m, id, n)]);
        uint64_t of =
            x->part->is_free[v] && x->part->cut > 1 ? operand_cut(x, id, n, is_free, cut) : 0;
        rc = find_made(x, id, v, of, &x->operands[n]);
        if (rc)
            return rc;
    }
    d.operands = x->operands;
    rc = rc ? rc : build_shape(x, id, is_free, cut, &d.shape);
    rc = rc ? rc : set_called(x, id, &d);
    rc = rc ? rc : set_attrs(x, id, &d, attrs, sizeof attrs / sizeof *attrs);
    rc =
        rc ? rc : cut_attrs(x, id, is_free, is_free ? cut : cut_of(x, m->leaf_base[id]), &d, attrs);
    return rc ? rc : add_draft(x, &d, m->leaf_base[id], out);
}

static int add_kept(struct extractor *x, hlo_id id)
{
    const struct hlo_module *m = x->m;
    hlo_id made;
    int rc = 0;

    if (hlo_at(m, id)->opcode == HLO_OP_WHILE || hlo_at(m, id)->opcode == HLO_OP_CONDITIONAL)
        return refuse_instruction(x, id, "it is a loop or a branch");
    rc = add_copy(x, id, false, 0, false, &made);
    if (rc)
        return rc;
    if (is_array(hlo_shape(m, id))) {
        x->made[m->leaf_base[id]] = made;
        return 0;
    }
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        rc = add_element(x, v, made, &x->made[v]);
        if (rc)
            return rc;
    }
    return 0;
}

static int add_free(struct extractor *x, hlo_id id)
{

    if (!is_array(hlo_shape(x->m, id)))
        return refuse_instruction(x, id, "it makes a tuple from nothing");
    for (uint32_t n = x->first[id]; n; n = x->wanted[n - 1].next) {
        hlo_id made;
        int rc = add_copy(x, id, true, x->wanted[n - 1].cut, x->wanted[n - 1].next != 0, &made);
        if (rc)
            return rc;
        x->wanted[n - 1].made = made;
    }
    return 0;
}

static int add_root(struct extractor *x)
{
    hlo_shape_id *parts = mem_try((size_t)x->part->outputs + 1, sizeof *parts);
    struct hlo_draft d = {.computation = x->entry,
                          .opcode = HLO_OP_TUPLE,
                          .is_root = true,
                          .operand_count = x->part->outputs,
                          .at = SIZE_MAX};
    hlo_id made;
    int rc = 0;

    if (!parts || !mem_grow(&x->operands, &x->operand_room, 0, (size_t)x->part->outputs + 1))
        rc = err_no_memory(x->e, MEMORY_FOR);
    for (uint32_t n = 0; n < x->part->outputs && !rc; n++) {
        hlo_value v = x->part->output[n];
        rc = find_made(x, x->m->value_instruction[v], v, 0, &x->operands[n]);
        if (rc)
            break;
        parts[n] = hlo_builder_at(x->b, x->operands[n])->shape;
    }
    struct hlo_shape_draft draft = {
        .type = HLO_TUPLE, .parts = parts, .part_count = x->part->outputs};
    d.operands = x->operands;
    rc = rc ? rc : hlo_build_shape(x->b, &draft, &d.shape, x->e);
    rc = rc ? rc : add_draft(x, &d, HLO_NONE, &made);
    free(parts);
    return rc;
}

static int add_entry(struct extractor *x)
{
    const struct hlo_computation *c = &x->m->computations[x->m->entry];
    int rc = hlo_build_computation(x->b, "main", 4, &x->entry, x->e);

    rc = rc ? rc : add_inputs(x);
    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        if (rc)
            return rc;
        if (x->first[id])
            rc = add_free(x, id);
        else if (x->part->is_kept[id] && !makes_free(x, id))
            rc = add_kept(x, id);
    }
    return rc ? rc : add_root(x);
}

/* ---- the whole ---- */

static int prepare_extractor(struct extractor *x)
{
    const struct hlo_module *m = x->m;

    x->b = hlo_builder_new(NULL, 0, 0);
    x->computation = mem_try(m->computation_count, sizeof *x->computation);
    x->is_called = mem_try(m->computation_count, sizeof *x->is_called);
    x->first = mem_try(m->count, sizeof *x->first);
    x->made = mem_try(m->value_count, sizeof *x->made);
    if (!x->b || !x->computation || !x->is_called || !x->first || !x->made)
        return err_no_memory(x->e, MEMORY_FOR);
    memset(x->computation, 0xff, m->computation_count * sizeof *x->computation);
    memset(x->made, 0xff, m->value_count * sizeof *x->made);
    for (uint32_t n = 0; n < x->part->inputs; n++)
        x->made[x->part->input[n]] = 0; /* not none: known not to be made here */
    struct hlo_module *to = hlo_builder_module(x->b);
    to->name = arena_text(&to->arena, x->part->name, strlen(x->part->name));
    to->file = arena_text(&to->arena, "", 0);
    to->replica_count = to->num_partitions = 1;
    return to->name && to->file ? 0 : err_no_memory(x->e, MEMORY_FOR);
}

static void release_extractor(struct extractor *x)
{
    hlo_builder_free(x->b);
    hlo_factors_release(&x->factors);
    free(x->computation);
    free(x->is_called);
    free(x->first);
    free(x->wanted);
    free(x->made);
    free(x->of);
    free(x->operands);
    free(x->called);
}

/* From the order of adding, which `line` still tells, to final ids. */
static int finish_extractor(struct extractor *x, struct hlo_module **out, hlo_value **of)
{
    struct hlo_builder *b = x->b;
    struct hlo_module *to;

    x->b = NULL; /* finish releases it */
    int rc = hlo_builder_finish(b, x->entry, &to, x->e);
    if (rc)
        return rc;
    *of = mem_try((size_t)to->count + 1, sizeof **of);
    if (!*of) {
        hlo_free(to);
        return err_no_memory(x->e, MEMORY_FOR);
    }
    for (hlo_id id = 0; id < to->count; id++) {
        (*of)[id] = x->of[to->instructions[id].line];
        to->instructions[id].line = 0;
    }
    *out = to;
    return 0;
}

int hlo_extract(const struct hlo_module *m, const struct hlo_part *part, struct hlo_module **out,
                hlo_value **of, struct err *e)
{
    struct extractor x = {.m = m, .part = part, .e = e};
    int (*const steps[])(struct extractor *) = {prepare_extractor, want_all, copy_computations,
                                                add_entry};
    int rc = 0;

    *out = NULL;
    *of = NULL;
    for (size_t n = 0; n < sizeof steps / sizeof *steps && !rc; n++)
        rc = steps[n](&x);
    rc = rc ? rc : finish_extractor(&x, out, of);
    release_extractor(&x);
    return rc;
}
