/* Regions to computations, values to instructions. */
#include "hlo/stablehlo/lower.h"
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <stdarg.h>
#include <string.h>

int hlo_lower_memory(struct lower *l)
{
    return hlo_mlir_memory(l->m);
}

int hlo_lower_fail(struct lower *l, const char *format, ...)
{
    char what[400];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return hlo_mlir_fail(l->m, l->op ? l->op->at : 0, "%.*s: %s",
                         l->op ? (int)(l->op->name.size < 60 ? l->op->name.size : 60) : 0,
                         l->op ? l->op->name.text : "", what);
}

int hlo_lower_placed(struct lower *l, int rc)
{
    if (rc && !l->e->line && l->op)
        err_at(l->e, l->m->input, l->m->size, l->op->at);
    return rc;
}

/* ---- shapes ---- */

const struct hlo_shape *hlo_lower_shape_of(const struct lower *l, hlo_id id)
{
    return hlo_builder_shape(l->b, hlo_builder_at(l->b, id)->shape);
}

const struct hlo_shape *hlo_lower_operand_shape(const struct lower *l, uint32_t n)
{
    return mlir_shape(l->m, lower_same(l, mlir_operand(l->m, l->op, n)));
}

hlo_shape_id hlo_lower_array(struct lower *l, enum hlo_type type, const int64_t *dims,
                             uint32_t rank, int *rc)
{
    struct hlo_shape_draft d = {
        .type = type, .layout_rest = "", .dims = dims, .rank = (uint8_t)rank};
    hlo_shape_id id = 0;

    *rc = hlo_lower_placed(l, hlo_build_shape(l->b, &d, &id, l->e));
    return id;
}

int hlo_lower_tuple_shape(struct lower *l, const hlo_shape_id *parts, size_t count, bool bare_one,
                          hlo_shape_id *out)
{
    struct hlo_shape_draft d = {
        .type = HLO_TUPLE, .layout_rest = "", .parts = parts, .part_count = (uint32_t)count};

    if (count == 1 && bare_one) {
        *out = parts[0];
        return 0;
    }
    return hlo_lower_placed(l, hlo_build_shape(l->b, &d, out, l->e));
}

/* ---- instructions ---- */

int hlo_lower_push(struct lower *l, hlo_id id)
{
    if (!mem_grow(&l->ids, &l->id_room, l->id_count, 1))
        return hlo_lower_memory(l);
    l->ids[l->id_count++] = id;
    return 0;
}

int hlo_lower_make(struct lower *l, const struct lower_new *n, hlo_id *out)
{
    struct mlir_span base = l->base.size ? l->base : hlo_lower_base(l, l->meta, n->opcode);
    struct hlo_draft d = {.computation = l->computation,
                          .opcode = n->opcode,
                          .is_unique = true,
                          .shape = n->shape,
                          .operands = n->operands,
                          .operand_count = n->operand_count,
                          .called = n->called,
                          .called_count = n->called_count,
                          .attrs = l->attrs + l->attr_base,
                          .attr_count = (uint32_t)(l->attr_count - l->attr_base),
                          .number = n->number,
                          .meta = l->meta,
                          .at = SIZE_MAX};

    if (hlo_lower_name(l, base))
        return l->e->code;
    d.name = l->text.text;
    d.name_size = (uint32_t)l->text.size;
    if (n->opcode == HLO_OP_CONSTANT) {
        d.literal = n->literal.text;
        d.literal_size = n->literal.size;
    }
    l->attr_count = l->attr_base;
    if (hlo_lower_placed(l, hlo_build_instruction(l->b, &d, out, l->e)))
        return l->e->code;
    if (l->op) {
        struct hlo_instruction *i = hlo_builder_at(l->b, *out);
        i->line = l->op->line;
        i->col = l->op->col;
    }
    return 0;
}

int hlo_lower_simple(struct lower *l, uint16_t opcode, hlo_shape_id shape, hlo_id a, hlo_id b,
                     hlo_id *out)
{
    hlo_id operands[2] = {a, b};
    struct lower_new n = {.opcode = opcode,
                          .shape = shape,
                          .operands = operands,
                          .operand_count = b == HLO_NONE ? 1 : 2};

    return hlo_lower_make(l, &n, out);
}

int hlo_lower_tuple(struct lower *l, const hlo_id *ids, size_t count, bool bare_one, hlo_id *out)
{
    hlo_shape_id shape;
    size_t base = l->part_count;

    if (count == 1 && bare_one) {
        *out = ids[0];
        return 0;
    }
    if (!mem_grow(&l->parts, &l->part_room, base, count + 1))
        return hlo_lower_memory(l);
    for (size_t n = 0; n < count; n++)
        l->parts[base + n] = hlo_builder_at(l->b, ids[n])->shape;
    if (hlo_lower_tuple_shape(l, l->parts + base, count, false, &shape))
        return l->e->code;
    struct lower_new n = {
        .opcode = HLO_OP_TUPLE, .shape = shape, .operands = ids, .operand_count = (uint32_t)count};
    return hlo_lower_make(l, &n, out);
}

int hlo_lower_element(struct lower *l, hlo_id tuple, uint32_t n, hlo_id *out)
{
    struct lower_new new = {.opcode = HLO_OP_GET_TUPLE_ELEMENT,
                            .shape = hlo_lower_shape_of(l, tuple)->parts[n],
                            .operands = &tuple,
                            .operand_count = 1,
                            .number = n};

    return hlo_lower_make(l, &new, out);
}

int hlo_lower_results(struct lower *l, uint16_t opcode, size_t base, const hlo_comp *called,
                      uint32_t called_count)
{
    const struct mlir_op *op = l->op;
    size_t parts = l->part_count;
    struct lower_new n = {.opcode = opcode,
                          .operand_count = (uint32_t)(l->id_count - base),
                          .called = called,
                          .called_count = called_count};
    hlo_id id, element;

    if (!mem_grow(&l->parts, &l->part_room, parts, op->result_count + 1))
        return hlo_lower_memory(l);
    for (uint32_t k = 0; k < op->result_count; k++)
        l->parts[parts + k] = l->m->values[op->results + k].shape;
    if (hlo_lower_tuple_shape(l, l->parts + parts, op->result_count, true, &n.shape))
        return l->e->code;
    n.operands = l->ids + base;
    if (hlo_lower_make(l, &n, &id))
        return l->e->code;
    l->id_count = base;
    if (op->result_count == 1) {
        lower_set(l, op->results, id);
        return 0;
    }
    for (uint32_t k = 0; k < op->result_count; k++) {
        if (!l->s.is_live[op->results + k])
            continue;
        if (hlo_lower_element(l, id, k, &element))
            return l->e->code;
        lower_set(l, op->results + k, element);
    }
    return 0;
}

int hlo_lower_broadcast(struct lower *l, hlo_id from, hlo_shape_id to, hlo_id *out)
{
    if (hlo_lower_attr_ints(l, HLO_ATTR_DIMENSIONS, NULL, 0))
        return l->e->code;
    return hlo_lower_simple(l, HLO_OP_BROADCAST, to, from, HLO_NONE, out);
}

/* ---- values ---- */

int hlo_lower_value(struct lower *l, mlir_value v, hlo_id *out)
{
    v = lower_same(l, v);
    if (l->made_in[v] == l->computation) {
        *out = l->made[v];
        return 0;
    }
    if (l->s.constant[v] != MLIR_NONE)
        return hlo_lower_constant(l, v, out);
    return hlo_lower_fail(l, "takes a value from outside of its region, expected arguments and "
                             "constants alone");
}

int hlo_lower_operand(struct lower *l, uint32_t n, hlo_id *out)
{
    return hlo_lower_value(l, mlir_operand(l->m, l->op, n), out);
}

int hlo_lower_operands(struct lower *l)
{
    for (uint32_t n = 0; n < l->op->operand_count; n++) {
        hlo_id id;
        if (hlo_lower_operand(l, n, &id) || hlo_lower_push(l, id))
            return l->e->code;
    }
    return 0;
}

/* ---- computations ---- */

static int lower_op(struct lower *l, mlir_op_id id)
{
    static int (*const rules[MLIR_RULE_COUNT])(struct lower *) = {
#define X(name) [MLIR_RULE_##name] = hlo_lower_##name,
        MLIR_RULES(X)
#undef X
    };
    const struct mlir_op *op = &l->m->ops[id];
    bool is_other = op->result_count == 1 && (l->s.same[op->results] != op->results ||
                                              l->s.constant[op->results] != MLIR_NONE);

    if (!l->s.is_op_live[id] || is_other)
        return 0;
    l->op = op;
    l->id_count = 0;
    l->attr_count = 0;
    l->part_count = 0;
    if (hlo_lower_meta(l, op->loc, false, &l->meta))
        return l->e->code;
    return rules[hlo_mlir_op_info[op->row].rule](l);
}

/* The ops of region `r`, whose arguments are set; what it returns is left on l->ids. */
int hlo_lower_body(struct lower *l, mlir_region_id r)
{
    const struct mlir_region *region = &l->m->regions[r];

    for (mlir_op_id id = region->first; id < region->end; id = l->m->ops[id].end) {
        if (lower_op(l, id))
            return l->e->code;
    }
    l->op = &l->m->ops[region->last];
    l->meta = 0;
    l->id_count = 0;
    for (uint32_t n = 0; n < l->op->operand_count; n++) {
        hlo_id id;
        if (!hlo_lower_needs(l, region->last, n))
            continue;
        if (hlo_lower_operand(l, n, &id) || hlo_lower_push(l, id))
            return l->e->code;
    }
    return 0;
}

int hlo_lower_begin(struct lower *l, struct mlir_span base, hlo_comp *out)
{
    if (hlo_lower_name(l, base) ||
        hlo_lower_placed(l, hlo_build_computation(l->b, l->text.text, l->text.size, out, l->e)))
        return l->e->code;
    l->computation = *out;
    return 0;
}

int hlo_lower_parameter(struct lower *l, uint32_t number, hlo_shape_id shape, hlo_id *out)
{
    struct lower_new n = {.opcode = HLO_OP_PARAMETER, .shape = shape, .number = number};

    return hlo_lower_make(l, &n, out);
}

/* The root: l->ids as one value or a tuple. */
int hlo_lower_root(struct lower *l, bool bare_one)
{
    hlo_id root;

    if (hlo_lower_tuple(l, l->ids, l->id_count, bare_one, &root))
        return l->e->code;
    hlo_builder_at(l->b, root)->is_root = true;
    return 0;
}

/* Arguments as parameters 0.., the values l->captures[captures..] behind them. */
int hlo_lower_parameters(struct lower *l, mlir_value first, uint32_t count, size_t captures)
{
    for (uint32_t n = 0; n < count + (l->capture_count - captures); n++) {
        hlo_id id;
        mlir_value v = n < count ? first + n : l->captures[captures + n - count];
        if (hlo_lower_parameter(l, n, l->m->values[v].shape, &id))
            return l->e->code;
        lower_set(l, v, id);
    }
    return 0;
}

/* One parameter with all of these values: a tuple, or the value itself when it is one and
 * `bare_one`. */
static int set_tuple_parameter(struct lower *l, const mlir_value *values, size_t count,
                               bool bare_one)
{
    size_t base = l->part_count;
    hlo_shape_id shape;
    hlo_id id, element;

    if (!mem_grow(&l->parts, &l->part_room, base, count + 1))
        return hlo_lower_memory(l);
    for (size_t n = 0; n < count; n++)
        l->parts[base + n] = l->m->values[values[n]].shape;
    if (hlo_lower_tuple_shape(l, l->parts + base, count, bare_one, &shape) ||
        hlo_lower_parameter(l, 0, shape, &id))
        return l->e->code;
    if (count == 1 && bare_one) {
        lower_set(l, values[0], id);
        return 0;
    }
    for (size_t n = 0; n < count; n++) {
        if (hlo_lower_element(l, id, (uint32_t)n, &element))
            return l->e->code;
        lower_set(l, values[n], element);
    }
    return 0;
}

/* What a loop carries (arguments of this region that are needed), then captures of the whole. */
static int set_loop_parameter(struct lower *l, mlir_region_id r, size_t *captures)
{
    const struct mlir_region *region = &l->m->regions[r];
    const struct mlir_op *loop = &l->m->ops[region->parent];
    size_t base = l->capture_count;

    for (uint32_t n = 0; n < region->arg_count; n++) {
        if (!hlo_lower_needs(l, region->parent, n))
            continue;
        if (!mem_grow(&l->captures, &l->capture_room, l->capture_count, 1))
            return hlo_lower_memory(l);
        l->captures[l->capture_count++] = region->first_arg + n;
    }
    *captures = l->capture_count;
    if (hlo_lower_captures(l, loop->regions, region->parent + 1, loop->end))
        return l->e->code;
    size_t count = l->capture_count - base;
    return set_tuple_parameter(l, l->captures + base, count, true);
}

static bool is_loop_region(const struct lower *l, mlir_region_id r)
{
    mlir_op_id parent = l->m->regions[r].parent;

    return parent != MLIR_NONE && l->m->ops[parent].row == MLIR_OP_WHILE;
}

static int lower_loop_region(struct lower *l, mlir_region_id r)
{
    size_t base = l->capture_count, captures = base;
    const struct mlir_region *region = &l->m->regions[r];
    bool is_cond = l->m->ops[region->parent].regions == r;

    if (set_loop_parameter(l, r, &captures) || hlo_lower_body(l, r))
        return l->e->code;
    for (size_t n = captures; !is_cond && n < l->capture_count; n++) {
        hlo_id id;
        if (hlo_lower_value(l, l->captures[n], &id) || hlo_lower_push(l, id))
            return l->e->code;
    }
    l->capture_count = base;
    return hlo_lower_root(l, true);
}

/* Captures of this kind of region come in; `applied` ones have none. */
static int lower_other_region(struct lower *l, mlir_region_id r)
{
    const struct mlir_region *region = &l->m->regions[r];
    uint16_t row = l->m->ops[region->parent].row;
    size_t base = l->capture_count;
    int rc = 0;

    if (row == MLIR_OP_CASE || row == MLIR_OP_IF) {
        rc = hlo_lower_captures(l, r, region->first, region->end);
        if (rc)
            goto out;
        if (region->arg_count)
            rc = hlo_lower_fail(l, "a branch with arguments, expected none");
        if (rc)
            goto out;
        rc = set_tuple_parameter(l, l->captures + base, l->capture_count - base, true);
    } else {
        if (row == MLIR_OP_MANUAL || row == MLIR_OP_NAMED)
            rc = hlo_lower_captures(l, r, region->first, region->end);
        if (rc)
            goto out;
        rc = hlo_lower_parameters(l, region->first_arg, region->arg_count, base);
    }
    if (rc)
        goto out;
    rc = hlo_lower_body(l, r);
out:
    l->capture_count = base;
    return rc ? rc : hlo_lower_root(l, true);
}

int hlo_lower_begin_region(struct lower *l, hlo_comp *out)
{
    char name[32];
    int size = snprintf(name, sizeof name, "region_%u", l->regions_named++);

    return hlo_lower_begin(l, (struct mlir_span){name, (uint32_t)size}, out);
}

int hlo_lower_region(struct lower *l, mlir_region_id r)
{
    const struct mlir_region *region = &l->m->regions[r];

    l->op = &l->m->ops[region->parent];
    l->meta = 0;
    l->attr_count = 0;
    l->part_count = 0;
    if (region->last == MLIR_NONE)
        return hlo_lower_fail(l, "a region without operations, expected one that returns");
    if (hlo_lower_begin_region(l, &l->region_comp[r]))
        return l->e->code;
    return is_loop_region(l, r) ? lower_loop_region(l, r) : lower_other_region(l, r);
}
