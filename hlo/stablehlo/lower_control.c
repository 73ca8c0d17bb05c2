/* Loops, branches, calls, reducers: what HLO says with other computations. */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/simplify.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- what is needed, what comes from outside ---- */

/* Operand n of this op is part of what HLO says: not what nobody reads of a loop or branch. */
bool hlo_lower_needs(const struct lower *l, mlir_op_id id, uint32_t n)
{
    const struct mlir_module *m = l->m;
    const struct mlir_op *op = &m->ops[id];
    const struct mlir_region *region = &m->regions[op->region];

    if (op->row == MLIR_OP_WHILE)
        return n < op->result_count && l->s.is_live[op->results + n] &&
               lower_same(l, op->results + n) == op->results + n;
    if (region->last != id || region->parent == MLIR_NONE)
        return true;
    const struct mlir_op *parent = &m->ops[region->parent];
    if (parent->row == MLIR_OP_WHILE)
        return parent->regions == op->region || hlo_lower_needs(l, region->parent, n);
    return true;
}

static bool runs_operation(const struct lower *l, mlir_op_id id)
{
    const struct mlir_region *region = &l->m->regions[l->m->ops[id].region];

    return l->s.is_op_live[id] || (region->last == id && region->parent != MLIR_NONE &&
                                   !region->is_never && l->s.is_op_live[region->parent]);
}

int hlo_lower_captures(struct lower *l, mlir_region_id region, mlir_op_id first, mlir_op_id end)
{
    const struct mlir_module *m = l->m;

    l->stamp++;
    for (mlir_op_id id = first; id < end; id++) {
        const struct mlir_op *op = &m->ops[id];
        if (!runs_operation(l, id))
            continue;
        for (uint32_t n = 0; n < op->operand_count; n++) {
            mlir_value v = lower_same(l, mlir_operand(m, op, n));
            if (m->values[v].region >= region || l->seen[v] == l->stamp ||
                l->s.constant[v] != MLIR_NONE || !hlo_lower_needs(l, id, n))
                continue;
            l->seen[v] = l->stamp;
            if (!mem_grow(&l->captures, &l->capture_room, l->capture_count, 1))
                return hlo_lower_memory(l);
            l->captures[l->capture_count++] = v;
        }
    }
    return 0;
}

/* Pushes the values l->captures[base..] on l->ids and drops them. */
static int push_captures(struct lower *l, size_t base)
{
    for (size_t n = base; n < l->capture_count; n++) {
        hlo_id id;
        if (hlo_lower_value(l, l->captures[n], &id) || hlo_lower_push(l, id))
            return l->e->code;
    }
    l->capture_count = base;
    return 0;
}

static int need_regions(struct lower *l, uint32_t count)
{
    return l->op->region_count == count
               ? 0
               : hlo_lower_fail(l, "%u regions, expected %u", l->op->region_count, count);
}

/* ---- while ---- */

static int check_loop(struct lower *l)
{
    const struct mlir_module *m = l->m;
    const struct mlir_op *op = l->op;

    if (need_regions(l, 2))
        return l->e->code;
    const struct mlir_region *cond = &m->regions[op->regions], *body = &m->regions[cond->next];
    if (cond->arg_count != op->operand_count || body->arg_count != op->operand_count ||
        op->result_count != op->operand_count ||
        m->ops[body->last].operand_count != op->operand_count ||
        m->ops[cond->last].operand_count != 1)
        return hlo_lower_fail(l,
                              "%u values are carried, expected as many arguments, returned values "
                              "and results",
                              op->operand_count);
    return 0;
}

int hlo_lower_WHILE(struct lower *l)
{
    const struct mlir_op *op = l->op;
    size_t captures = l->capture_count;
    hlo_id tuple, loop, element;

    if (check_loop(l))
        return l->e->code;
    for (uint32_t n = 0; n < op->operand_count; n++) {
        hlo_id id;
        if (!hlo_lower_needs(l, (mlir_op_id)(op - l->m->ops), n))
            continue;
        if (hlo_lower_operand(l, n, &id) || hlo_lower_push(l, id))
            return l->e->code;
    }
    if (hlo_lower_captures(l, op->regions, (mlir_op_id)(op - l->m->ops) + 1, op->end) ||
        push_captures(l, captures) || hlo_lower_tuple(l, l->ids, l->id_count, true, &tuple))
        return l->e->code;
    bool is_bare = l->id_count == 1;
    hlo_comp called[2] = {l->region_comp[l->m->regions[op->regions].next],
                          l->region_comp[op->regions]};
    struct lower_new n = {.opcode = HLO_OP_WHILE,
                          .shape = hlo_builder_at(l->b, tuple)->shape,
                          .operands = &tuple,
                          .operand_count = 1,
                          .called = called,
                          .called_count = 2};
    if (hlo_lower_make(l, &n, &loop))
        return l->e->code;
    uint32_t at = 0;
    for (uint32_t k = 0; k < op->result_count; k++) {
        if (!hlo_lower_needs(l, (mlir_op_id)(op - l->m->ops), k))
            continue;
        if (is_bare)
            element = loop;
        else if (hlo_lower_element(l, loop, at, &element))
            return l->e->code;
        lower_set(l, op->results + k, element);
        at++;
    }
    return 0;
}

/* ---- case, if ---- */

static int lower_branches(struct lower *l)
{
    enum { BRANCHES_MAX = 1024 };
    const struct mlir_op *op = l->op;
    hlo_comp called[BRANCHES_MAX];
    uint32_t count = 0;
    hlo_id id;

    if (op->operand_count != 1 || !op->region_count || op->region_count > BRANCHES_MAX)
        return hlo_lower_fail(l,
                              "%u operands and %u branches, expected one operand, one branch or "
                              "more",
                              op->operand_count, op->region_count);
    if (hlo_lower_operand(l, 0, &id) || hlo_lower_push(l, id))
        return l->e->code;
    for (mlir_region_id r = op->regions; r != MLIR_NONE; r = l->m->regions[r].next) {
        size_t captures = l->capture_count, base = l->id_count;
        hlo_id argument;
        if (l->m->ops[l->m->regions[r].last].operand_count != op->result_count)
            return hlo_lower_fail(l, "a branch returns %u values, expected %u",
                                  l->m->ops[l->m->regions[r].last].operand_count, op->result_count);
        if (hlo_lower_captures(l, r, l->m->regions[r].first, l->m->regions[r].end) ||
            push_captures(l, captures) ||
            hlo_lower_tuple(l, l->ids + base, l->id_count - base, true, &argument))
            return l->e->code;
        l->id_count = base;
        if (hlo_lower_push(l, argument))
            return l->e->code;
        called[count++] = l->region_comp[r];
    }
    return hlo_lower_results(l, HLO_OP_CONDITIONAL, 0, called, count);
}

/* HLO's conditional takes both kinds of selector, and counts the branches of each its own way. */
static int need_selector(struct lower *l, enum hlo_type type)
{
    if (l->op->operand_count == 1 && hlo_lower_operand_shape(l, 0)->type != type)
        return hlo_lower_fail(l, "a selector of type %s, expected %s",
                              hlo_type_info[hlo_lower_operand_shape(l, 0)->type].name,
                              hlo_type_info[type].name);
    return 0;
}

int hlo_lower_CASE(struct lower *l)
{
    return need_selector(l, HLO_S32) ? l->e->code : lower_branches(l);
}

int hlo_lower_IF(struct lower *l)
{
    return need_regions(l, 2) || need_selector(l, HLO_PRED) ? l->e->code : lower_branches(l);
}

/* ---- calls ---- */

int hlo_lower_CALL(struct lower *l)
{
    uint32_t f;

    if (!hlo_mlir_called(l->m, l->op, 0, &f) || f == MLIR_NONE || l->func_comp[f] == HLO_NONE)
        return hlo_lower_fail(l,
                              "the function it calls is not defined, expected it in this module");
    if (l->op->operand_count != l->m->funcs[f].arg_count ||
        l->op->result_count != l->m->funcs[f].result_count)
        return hlo_lower_fail(l,
                              "%u operands and %u results, expected %u and %u as of the function",
                              l->op->operand_count, l->op->result_count, l->m->funcs[f].arg_count,
                              l->m->funcs[f].result_count);
    if (l->op->row == MLIR_OP_COMPOSITE && hlo_lower_attr(l, HLO_ATTR_IS_COMPOSITE, "true", 4))
        return l->e->code;
    if (hlo_lower_operands(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_CALL, 0, &l->func_comp[f], 1);
}

/* A region run once, as a call. */
static int call_region(struct lower *l)
{
    const struct mlir_region *region = &l->m->regions[l->op->regions];
    size_t captures = l->capture_count;

    if (hlo_lower_captures(l, l->op->regions, region->first, region->end) ||
        push_captures(l, captures))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_CALL, 0, &l->region_comp[l->op->regions], 1);
}

int hlo_lower_NAMED(struct lower *l)
{
    if (need_regions(l, 1) || hlo_lower_operands(l))
        return l->e->code;
    if (l->m->regions[l->op->regions].arg_count != l->op->operand_count)
        return hlo_lower_fail(l, "%u operands, expected %u as the region has arguments",
                              l->op->operand_count, l->m->regions[l->op->regions].arg_count);
    return call_region(l);
}

/* The arrays on l->ids from `base` on, handed in or out of a part of the program that is written
 * for one device: as a custom-call, whose results are of the shapes l->parts[parts..]; they take
 * the arrays' places. */
static int cross_edge(struct lower *l, const char *target, size_t base, size_t parts)
{
    struct lower_new n = {.opcode = HLO_OP_CUSTOM_CALL,
                          .operands = l->ids + base,
                          .operand_count = (uint32_t)(l->id_count - base)};
    uint32_t count = n.operand_count;
    hlo_id call;

    if (!count)
        return 0;
    if (hlo_lower_attr(l, HLO_ATTR_CUSTOM_CALL_TARGET, target, strlen(target)) ||
        hlo_lower_tuple_shape(l, l->parts + parts, count, true, &n.shape) ||
        hlo_lower_make(l, &n, &call))
        return l->e->code;
    for (uint32_t k = 0; k < count; k++) {
        l->ids[base + k] = call;
        if (count > 1 && hlo_lower_element(l, call, k, &l->ids[base + k]))
            return l->e->code;
    }
    return 0;
}

/* What the region hands out, of its own shapes, and what it becomes outside. */
static int leave_manual(struct lower *l, hlo_id call)
{
    const struct mlir_op *op = l->op;
    size_t base = l->id_count, parts = l->part_count;
    uint32_t live = 0;
    hlo_id element;

    for (uint32_t k = 0; k < op->result_count; k++) {
        if (!l->s.is_live[op->results + k])
            continue;
        element = call;
        if ((op->result_count > 1 && hlo_lower_element(l, call, k, &element)) ||
            hlo_lower_push(l, element))
            return l->e->code;
        l->parts[parts + live++] = l->m->values[op->results + k].shape;
    }
    if (cross_edge(l, "\"xla.sdy.LocalToGlobalShape\"", base, parts))
        return l->e->code;
    for (uint32_t k = 0, n = 0; k < op->result_count; k++) {
        if (l->s.is_live[op->results + k])
            lower_set(l, op->results + k, l->ids[base + n++]);
    }
    l->id_count = base;
    return 0;
}

static int check_manual(struct lower *l)
{
    const struct mlir_op *op = l->op;

    if (need_regions(l, 1))
        return l->e->code;
    const struct mlir_region *region = &l->m->regions[op->regions];
    if (region->arg_count != op->operand_count ||
        l->m->ops[region->last].operand_count != op->result_count)
        return hlo_lower_fail(l, "%u operands and %u results, expected %u and %u as of its region",
                              op->operand_count, op->result_count, region->arg_count,
                              l->m->ops[region->last].operand_count);
    return 0;
}

/* Shapes inside are one device's: custom-calls at the edges, as XLA has them. */
int hlo_lower_MANUAL(struct lower *l)
{
    const struct mlir_op *op = l->op;
    const struct mlir_module *m = l->m;
    size_t parts = l->part_count, captures = l->capture_count;
    struct lower_new n = {
        .opcode = HLO_OP_CALL, .called = &l->region_comp[op->regions], .called_count = 1};
    hlo_id call;

    if (check_manual(l))
        return l->e->code;
    const struct mlir_region *region = &m->regions[op->regions];
    if (!mem_grow(&l->parts, &l->part_room, parts, op->operand_count + op->result_count + 1))
        return hlo_lower_memory(l);
    if (hlo_lower_operands(l))
        return l->e->code;
    for (uint32_t k = 0; k < op->operand_count; k++)
        l->parts[parts + k] = m->values[region->first_arg + k].shape;
    if (cross_edge(l, "\"xla.sdy.GlobalToLocalShape\"", 0, parts) ||
        hlo_lower_captures(l, op->regions, region->first, region->end) ||
        push_captures(l, captures))
        return l->e->code;
    n.operands = l->ids;
    n.operand_count = (uint32_t)l->id_count;
    for (uint32_t k = 0; k < op->result_count; k++)
        l->parts[parts + k] = m->values[lower_same(l, mlir_returned(m, op->regions, k))].shape;
    if (hlo_lower_tuple_shape(l, l->parts + parts, op->result_count, true, &n.shape) ||
        hlo_lower_make(l, &n, &call))
        return l->e->code;
    return leave_manual(l, call);
}

/* ---- computations that are applied ---- */

/* A computation of `applies stablehlo.add`: one for each, as XLA has it. */
static int make_reducer(struct lower *l, uint16_t opcode, hlo_shape_id scalar, hlo_comp *out)
{
    hlo_comp back = l->computation;
    hlo_id a, b, root;
    struct lower_new p = {.opcode = HLO_OP_PARAMETER, .shape = scalar};

    if (hlo_lower_begin_region(l, out) || hlo_lower_make(l, &p, &a))
        return l->e->code;
    p.number = 1;
    if (hlo_lower_make(l, &p, &b) || hlo_lower_simple(l, opcode, scalar, a, b, &root))
        return l->e->code;
    hlo_builder_at(l->b, root)->is_root = true;
    l->computation = back;
    return 0;
}

static int reducer_of(struct lower *l, const struct mlir_op *op, hlo_comp *out)
{
    struct mlir_span s;

    if (!hlo_mlir_attr_in(l->m->attr_pool + op->attrs, op->attr_count, "applies", &s) ||
        !op->operand_count)
        return hlo_lower_fail(l, "no region, expected one that combines two elements");
    enum mlir_row row = hlo_mlir_op_by_name(s.text, s.size);
    uint16_t opcode = hlo_mlir_op_info[row].opcode;
    if (row == MLIR_OP_UNKNOWN || opcode >= HLO_OP_UNKNOWN || hlo_op_info[opcode].arity != 2 ||
        !(hlo_op_info[opcode].flags & HLO_OP_IS_ELEMENTWISE))
        return hlo_lower_fail(l, "applies \"%.*s\", expected an operation such as stablehlo.add",
                              s.size < 60 ? (int)s.size : 60, s.text);
    int rc;
    hlo_shape_id scalar = hlo_lower_array(l, hlo_lower_operand_shape(l, 0)->type, NULL, 0, &rc);
    return rc ? rc : make_reducer(l, opcode, scalar, out);
}

int hlo_lower_APPLY(struct lower *l)
{
    const struct mlir_op *op = l->op;
    hlo_comp called;

    if (hlo_lower_operands(l))
        return l->e->code;
    if (op->region_count) {
        if (need_regions(l, 1))
            return l->e->code;
        called = l->region_comp[op->regions];
    } else if (reducer_of(l, op, &called)) {
        return l->e->code;
    }
    if (hlo_lower_table_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, hlo_mlir_op_info[op->row].opcode, 0, &called, 1);
}

int hlo_lower_SELECT_AND_SCATTER(struct lower *l)
{
    int64_t no_dilation[HLO_RANK_MAX];

    if (need_regions(l, 2) || hlo_lower_operands(l))
        return l->e->code;
    if (l->op->operand_count != 3)
        return hlo_lower_fail(l, "%u operands, expected 3", l->op->operand_count);
    uint32_t rank = hlo_lower_operand_shape(l, 0)->rank;
    for (uint32_t n = 0; n < rank; n++)
        no_dilation[n] = 1;
    if (hlo_lower_window(l, rank, no_dilation))
        return l->e->code;
    mlir_region_id select = l->op->regions;
    hlo_comp called[2] = {l->region_comp[select], l->region_comp[l->m->regions[select].next]};
    return hlo_lower_results(l, HLO_OP_SELECT_AND_SCATTER, 0, called, 2);
}

int hlo_lower_REDUCE_WINDOW(struct lower *l)
{
    if (need_regions(l, 1) || hlo_lower_operands(l))
        return l->e->code;
    if (!l->op->operand_count)
        return hlo_lower_fail(l, "no operands, expected arrays and initial values");
    if (hlo_lower_window(l, hlo_lower_operand_shape(l, 0)->rank, NULL))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_REDUCE_WINDOW, 0, &l->region_comp[l->op->regions], 1);
}
