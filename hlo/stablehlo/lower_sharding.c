/* Shardy's shardings as HLO's: `#sdy.sharding<@mesh, [{"x"}, {"y":(1)2, ?}]>` over the mesh
 * `<["x"=2, "y"=4]>` is `{devices=[2,2,2]<=[8] last_tile_dim_replicate}`. Grammar: sdy's
 * attrs.td; HLO's form: hlo_sharding.cc (the tile assignment is a transposed iota). */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

enum { AXES_MAX = 32, PARTS_MAX = 64, DEVICES_MAX = 1 << 24 };

struct axis {
    struct mlir_span name;
    int64_t size;
};

/* A range of an axis: of its devices, major ones first, `pre` groups times `size`. */
struct part {
    uint32_t axis, dim;
    int64_t pre, size;
};

struct sharding {
    struct axis axes[AXES_MAX];
    uint32_t axis_count;
    struct part parts[PARTS_MAX]; /* in the order of the dims, major first */
    uint32_t part_count, dims;
};

/* ---- reading; p is inside a text that ends with NUL ---- */

static bool eat_text(const char **p, const char *what)
{
    const char *at = lex_skip(*p);
    size_t size = strlen(what);

    if (strncmp(at, what, size) != 0)
        return false;
    *p = at + size;
    return true;
}

static bool eat_int(const char **p, int64_t *out)
{
    const char *end = hlo_lex_int(lex_skip(*p), out);

    if (!end || *out < 1 || *out > DEVICES_MAX)
        return false;
    *p = end;
    return true;
}

static bool eat_name(const char **p, struct mlir_span *out)
{
    const char *at = lex_skip(*p), *end = *at == '"' ? hlo_lex_string_end(at) : NULL;

    if (!end)
        return false;
    *out = (struct mlir_span){at, (uint32_t)(end - at)};
    *p = end;
    return true;
}

/* `<["x"=2, "y"=4]>` */
static bool read_mesh(const char *p, struct sharding *s)
{
    int64_t devices = 1;

    if (!eat_text(&p, "<") || !eat_text(&p, "["))
        return false;
    while (!eat_text(&p, "]")) {
        struct axis *a = &s->axes[s->axis_count];
        if (s->axis_count == AXES_MAX || !eat_name(&p, &a->name) || !eat_text(&p, "=") ||
            !eat_int(&p, &a->size) || (devices *= a->size) > DEVICES_MAX)
            return false;
        s->axis_count++;
        eat_text(&p, ",");
    }
    return eat_text(&p, ">"); /* else an order of devices of its own */
}

static bool same_text(struct mlir_span a, struct mlir_span b)
{
    return a.size == b.size && !memcmp(a.text, b.text, a.size);
}

static bool read_part(const char **p, struct sharding *s)
{
    struct part *part = &s->parts[s->part_count];
    struct mlir_span name;

    if (s->part_count == PARTS_MAX || !eat_name(p, &name))
        return false;
    *part = (struct part){.dim = s->dims, .pre = 1};
    while (part->axis < s->axis_count && !same_text(s->axes[part->axis].name, name))
        part->axis++;
    if (part->axis == s->axis_count)
        return false;
    part->size = s->axes[part->axis].size;
    s->part_count++;
    if (!eat_text(p, ":"))
        return true;
    return eat_text(p, "(") && eat_int(p, &part->pre) && eat_text(p, ")") &&
           eat_int(p, &part->size) && !(s->axes[part->axis].size % (part->pre * part->size));
}

/* `[{"x"}, {}, {"y", ?}p1]` */
static bool read_dims(const char **p, struct sharding *s)
{
    if (!eat_text(p, "["))
        return false;
    while (!eat_text(p, "]")) {
        if (!eat_text(p, "{"))
            return false;
        while (!eat_text(p, "}")) {
            if (!eat_text(p, "?") && !read_part(p, s))
                return false;
            eat_text(p, ",");
        }
        if (**p == 'p')
            *p = hlo_mlir_name_end(*p);
        s->dims++;
        eat_text(p, ",");
    }
    return true;
}

static const char *mesh_named(const struct mlir_module *m, const char *name, size_t size)
{
    for (size_t n = 0; n < m->mesh_count; n++) {
        if (m->meshes[n].name.size == size && !memcmp(m->meshes[n].name.text, name, size))
            return m->meshes[n].value.text;
    }
    return NULL;
}

/* `<@mesh, [..], replicated={..}>`, also with `#sdy.sharding` before it or `mesh<..>` within. */
static bool read_sharding(const struct mlir_module *m, struct mlir_span text, struct sharding *s)
{
    const char *p = text.size ? memchr(text.text, '<', text.size) : NULL, *mesh = NULL;

    if (!p)
        return false;
    p = lex_skip(p + 1);
    if (*p == '@') {
        const char *end = hlo_mlir_name_end(p + 1);
        mesh = mesh_named(m, p + 1, (size_t)(end - p - 1));
        p = end;
    } else if (eat_text(&p, "mesh")) {
        mesh = p;
        p = hlo_mlir_group_end(p);
    }
    return mesh && p && read_mesh(mesh, s) && eat_text(&p, ",") && read_dims(&p, s);
}

/* ---- writing ---- */

/* The devices of an axis from `pre` groups on; no sharding cuts it further. */
struct atom {
    uint32_t axis;
    int64_t pre, size;
};

struct tiles {
    struct atom atoms[PARTS_MAX * 2 + AXES_MAX]; /* in the order of the mesh */
    uint32_t atom_count;
    uint32_t order[PARTS_MAX * 2 + AXES_MAX]; /* of the dims, then what makes replicas */
    uint32_t order_count;
};

/* The smallest place behind `pre` at which a part of this axis begins or ends. */
static int64_t next_cut(const struct sharding *s, uint32_t axis, int64_t pre)
{
    int64_t cut = s->axes[axis].size;

    for (uint32_t n = 0; n < s->part_count; n++) {
        const struct part *part = &s->parts[n];
        if (part->axis == axis && part->pre > pre && part->pre < cut)
            cut = part->pre;
        if (part->axis == axis && part->pre * part->size > pre && part->pre * part->size < cut)
            cut = part->pre * part->size;
    }
    return cut;
}

static bool make_atoms(const struct sharding *s, struct tiles *t)
{
    for (uint32_t axis = 0; axis < s->axis_count; axis++) {
        for (int64_t pre = 1; pre < s->axes[axis].size;) {
            int64_t cut = next_cut(s, axis, pre);
            if (cut % pre)
                return false;
            t->atoms[t->atom_count++] = (struct atom){axis, pre, cut / pre};
            pre = cut;
        }
    }
    return true;
}

static bool is_in(const struct atom *a, const struct part *part)
{
    return a->axis == part->axis && a->pre >= part->pre && a->pre < part->pre * part->size;
}

/* Each atom once: where the first part that has it stands, else behind all. */
static bool make_order(const struct sharding *s, struct tiles *t)
{
    bool used[PARTS_MAX * 2 + AXES_MAX] = {false};

    for (uint32_t n = 0; n <= s->part_count; n++) {
        for (uint32_t a = 0; a < t->atom_count; a++) {
            if (n < s->part_count && !is_in(&t->atoms[a], &s->parts[n]))
                continue;
            if (used[a] && n < s->part_count)
                return false; /* an axis twice */
            if (!used[a])
                t->order[t->order_count++] = a;
            used[a] = true;
        }
    }
    return true;
}

/* Atoms that follow each other in the mesh and in the order are one. */
static void write_iota(const struct tiles *t, struct str *out)
{
    uint32_t first[PARTS_MAX * 2 + AXES_MAX], groups = 0;

    for (uint32_t k = 0; k < t->order_count; k++) {
        if (!k || t->order[k] != t->order[k - 1] + 1)
            first[groups++] = k;
    }
    str_add(out, "<=[");
    for (uint32_t a = 0, n = 0; a < t->atom_count; n++) { /* in the order of the mesh */
        int64_t size = 1;
        uint32_t k = 0;
        while (t->order[k] != a)
            k++;
        do
            size *= t->atoms[t->order[k++]].size;
        while (k < t->order_count && t->order[k] == t->order[k - 1] + 1);
        a = t->order[k - 1] + 1;
        str_format(out, "%s%lld", n ? "," : "", (long long)size);
    }
    str_add_char(out, ']');
    for (uint32_t g = 0; groups > 1 && g < groups; g++) {
        uint32_t rank = 0;
        for (uint32_t h = 0; h < groups; h++)
            rank += t->order[first[h]] < t->order[first[g]];
        str_format(out, g ? ",%u" : "T(%u", rank);
    }
    if (groups > 1)
        str_add_char(out, ')');
}

/* HLO's form of `text` for an array of `rank` dims in l->text, or nothing when it has none. */
static void translate(struct lower *l, struct mlir_span text, uint32_t rank)
{
    struct sharding s = {.axis_count = 0};
    struct tiles t = {.atom_count = 0};
    int64_t devices = 1, tiles = 1;

    str_clear(&l->text);
    if (!read_sharding(l->m, text, &s) || s.dims != rank || !make_atoms(&s, &t) ||
        !make_order(&s, &t))
        return;
    for (uint32_t a = 0; a < s.axis_count; a++)
        devices *= s.axes[a].size;
    for (uint32_t n = 0; n < s.part_count; n++)
        tiles *= s.parts[n].size;
    if (tiles == 1) {
        str_add(&l->text, "{replicated}");
        return;
    }
    str_add(&l->text, "{devices=[");
    for (uint32_t d = 0; d < rank; d++) {
        int64_t size = 1;
        for (uint32_t n = 0; n < s.part_count; n++)
            size *= s.parts[n].dim == d ? s.parts[n].size : 1;
        str_format(&l->text, "%s%lld", d ? "," : "", (long long)size);
    }
    if (tiles < devices)
        str_format(&l->text, ",%lld", (long long)(devices / tiles));
    str_add_char(&l->text, ']');
    write_iota(&t, &l->text);
    str_add(&l->text, tiles < devices ? " last_tile_dim_replicate}" : "}");
}

/* ---- where shardings stand ---- */

static int sharding_attr(struct lower *l, struct mlir_span text, const struct hlo_shape *s)
{
    translate(l, text, s->rank);
    if (!l->text.size)
        return l->text.failed ? hlo_lower_memory(l) : 0;
    return hlo_lower_attr_text(l, HLO_ATTR_SHARDING);
}

int hlo_lower_slot_sharding(struct lower *l, const struct mlir_slot *slot)
{
    const struct mlir_attr *list = l->m->attr_pool + slot->attrs;
    struct mlir_span text;

    if (hlo_mlir_attr_in(list, slot->attr_count, "sdy.sharding", &text))
        return sharding_attr(l, text, hlo_builder_shape(l->b, slot->shape));
    return hlo_lower_sharding(l, list, slot->attr_count);
}

/* `id` as the custom-call that XLA makes of a constraint; itself when HLO cannot say it. */
static int constrain(struct lower *l, struct mlir_span text, hlo_id id, hlo_id *out)
{
    hlo_shape_id shape = hlo_builder_at(l->b, id)->shape;
    size_t before = l->attr_count;

    *out = id;
    if (sharding_attr(l, text, hlo_builder_shape(l->b, shape)))
        return l->e->code;
    if (l->attr_count == before)
        return 0;
    if (hlo_lower_attr(l, HLO_ATTR_CUSTOM_CALL_TARGET, "\"Sharding\"", 10))
        return l->e->code;
    return hlo_lower_simple(l, HLO_OP_CUSTOM_CALL, shape, id, HLO_NONE, out);
}

int hlo_lower_SHARDING(struct lower *l)
{
    const struct mlir_op *op = l->op;
    struct mlir_span text = {"", 0};
    hlo_id id;

    if (op->operand_count != 1 || op->result_count != 1)
        return hlo_lower_fail(l, "%u operands and %u results, expected one of each",
                              op->operand_count, op->result_count);
    hlo_mlir_attr(l->m, op, "sharding", NULL, &text);
    if (hlo_lower_operand(l, 0, &id) || constrain(l, text, id, &id))
        return l->e->code;
    lower_set(l, op->results, id);
    return 0;
}

static struct mlir_span result_sharding(const struct lower *l, const struct mlir_slot *slot)
{
    struct mlir_span text = {"", 0};

    hlo_mlir_attr_in(l->m->attr_pool + slot->attrs, slot->attr_count, "sdy.sharding", &text);
    return text;
}

int hlo_lower_result_shardings(struct lower *l, const struct mlir_func *f)
{
    const struct mlir_slot *slots;
    struct str all = {0};
    uint32_t known = 0;
    int rc = 0;

    if (!f->result_count)
        return 0;
    slots = l->m->slots + f->results;
    if (f->result_count == 1)
        return constrain(l, result_sharding(l, slots), l->ids[0], &l->ids[0]);
    for (uint32_t n = 0; n < f->result_count; n++) {
        translate(l, result_sharding(l, &slots[n]), hlo_builder_shape(l->b, slots[n].shape)->rank);
        known += l->text.size > 0;
        str_add(&all, n ? ", " : "{");
        str_add(&all, l->text.size ? l->text.text : "{replicated}");
    }
    str_add_char(&all, '}');
    if (all.failed)
        rc = hlo_lower_memory(l);
    else if (known)
        rc = hlo_lower_attr(l, HLO_ATTR_SHARDING, all.text, all.size);
    str_release(&all);
    return rc;
}
