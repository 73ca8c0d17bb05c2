/* Values that are other values. */
#include "hlo/stablehlo/simplify_internal.h"

#include "hlo/module/build.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/simplify.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

static hlo_shape_id bare_of(const struct simplifier *z, mlir_value v)
{
    return hlo_builder_shape(z->m->b, z->m->values[v].shape)->bare;
}

/* The op that makes `v`, when it is of this row; NULL otherwise. */
static const struct mlir_op *maker(const struct simplifier *z, mlir_value v, uint16_t row)
{
    mlir_op_id id = z->m->values[v].op;

    return id != MLIR_NONE && z->m->ops[id].row == row ? &z->m->ops[id] : NULL;
}

/* The text of a constant's one value (`dense<1.0>`), or empty. */
static struct mlir_span splat_of(const struct simplifier *z, mlir_value v)
{
    struct mlir_span s = {"", 0};
    mlir_op_id id = z->s->constant[v];

    if (id == MLIR_NONE || !hlo_mlir_attr(z->m, &z->m->ops[id], "value", NULL, &s))
        return (struct mlir_span){"", 0};
    const char *end = memchr(s.text, '>', s.size);
    if (s.size < 8 || memcmp(s.text, "dense<", 6) || !end || s.text[6] == '[' || s.text[6] == '"')
        return (struct mlir_span){"", 0};
    return (struct mlir_span){s.text + 6, (uint32_t)(end - s.text - 6)};
}

static bool is_number(const struct simplifier *z, mlir_value v, const char *integer,
                      const char *real)
{
    struct mlir_span s = splat_of(z, v);

    return s.size && (hlo_mlir_is(s, integer) || hlo_mlir_is(s, real));
}

/* ---- rules: the value that result 0 of `op` is, or MLIR_NONE ---- */

/* Operand 0 when it has the shape of the result. */
static mlir_value if_same_shape(const struct simplifier *z, const struct mlir_op *op)
{
    mlir_value v = operand_of(z, op, 0);

    return bare_of(z, v) == bare_of(z, op->results) ? v : MLIR_NONE;
}

/* The list under one of two names; false when there is none or it is too long. */
static bool list_of(const struct simplifier *z, const struct mlir_op *op, const char *path,
                    const char *pretty, int64_t *out, size_t *count)
{
    struct mlir_span s;

    return hlo_mlir_attr(z->m, op, path, pretty, &s) && hlo_mlir_ints(s, out, HLO_RANK_MAX, count);
}

static mlir_value if_in_order(const struct simplifier *z, const struct mlir_op *op,
                              const char *path, const char *pretty)
{
    int64_t dims[HLO_RANK_MAX];
    size_t count;

    if (!list_of(z, op, path, pretty, dims, &count))
        return MLIR_NONE;
    for (size_t n = 0; n < count; n++) {
        if (dims[n] != (int64_t)n)
            return MLIR_NONE;
    }
    return if_same_shape(z, op);
}

static mlir_value simple_same(struct simplifier *z, struct mlir_op *op)
{
    return if_same_shape(z, op);
}

static mlir_value simple_reshape(struct simplifier *z, struct mlir_op *op)
{
    mlir_value v = operand_of(z, op, 0);
    const struct mlir_op *inner;

    if (splat_of(z, v).size)
        z->s->constant[op->results] = z->s->constant[v];
    while ((inner = maker(z, v, MLIR_OP_RESHAPE)) && inner->operand_count == 1) {
        v = operand_of(z, inner, 0);
        z->m->operand_pool[op->operands] = v;
    }
    return if_same_shape(z, op);
}

/* Two of a kind in a row are one: the list of `op` becomes `first[second[n]]` of its own list and
 * that of the one before, in the order `own_first` says. */
static void compose(struct simplifier *z, struct mlir_op *op, const char *path, const char *pretty,
                    bool own_first)
{
    int64_t own[HLO_RANK_MAX], before[HLO_RANK_MAX];
    size_t n_own, n_before;
    const struct mlir_op *inner = maker(z, operand_of(z, op, 0), op->row);

    if (!inner || inner->operand_count != 1 || op->attr_count != 1 ||
        !list_of(z, op, path, pretty, own, &n_own) ||
        !list_of(z, inner, path, pretty, before, &n_before))
        return;
    const int64_t *first = own_first ? own : before, *second = own_first ? before : own;
    size_t room = own_first ? n_own : n_before, count = own_first ? n_before : n_own;
    struct str text = {0};
    for (size_t n = 0; n < count; n++) {
        if (second[n] < 0 || (size_t)second[n] >= room)
            goto out;
        str_add(&text, n ? ", " : "[");
        str_add_int(&text, first[second[n]]);
    }
    str_add(&text, count ? "]" : "[]");
    char *kept =
        text.failed ? NULL : arena_text(&hlo_builder_module(z->m->b)->arena, text.text, text.size);
    if (kept) {
        z->m->attr_pool[op->attrs].value = (struct mlir_span){kept, (uint32_t)text.size};
        z->m->operand_pool[op->operands] = operand_of(z, inner, 0);
    }
out:
    str_release(&text);
}

/* A transpose that leaves the dims larger than one in their order is a reshape. */
static mlir_value simple_transpose(struct simplifier *z, struct mlir_op *op)
{
    int64_t dims[HLO_RANK_MAX], last = -1;
    size_t count;

    compose(z, op, "permutation", "dims", false);
    const struct hlo_shape *from = mlir_shape(z->m, operand_of(z, op, 0));
    const struct hlo_shape *to = mlir_shape(z->m, op->results);
    mlir_value same = if_in_order(z, op, "permutation", "dims");
    if (same != MLIR_NONE || op->attr_count != 1 || /* a sharding, say, would be lost */
        !list_of(z, op, "permutation", "dims", dims, &count) || count != from->rank ||
        count != to->rank)
        return same;
    for (size_t n = 0; n < count; n++) {
        if (dims[n] < 0 || dims[n] >= (int64_t)count || to->dims[n] != from->dims[dims[n]])
            return MLIR_NONE;
        if (from->dims[dims[n]] == 1)
            continue;
        if (dims[n] <= last)
            return MLIR_NONE;
        last = dims[n];
    }
    op->row = MLIR_OP_RESHAPE;
    op->attr_count = 0;
    return simple_reshape(z, op);
}

/* A broadcast of a constant's one value is that constant in another shape. */
static mlir_value simple_broadcast(struct simplifier *z, struct mlir_op *op)
{
    mlir_value v = operand_of(z, op, 0);

    if (splat_of(z, v).size) {
        z->s->constant[op->results] = z->s->constant[v];
        return if_in_order(z, op, "broadcast_dimensions", "dims");
    }
    compose(z, op, "broadcast_dimensions", "dims", true);
    return if_in_order(z, op, "broadcast_dimensions", "dims");
}

/* Numbers that change nothing, as JAX writes them. */
static const struct neutral {
    uint16_t row;
    const char *integer, *real;
    uint32_t from; /* the operands from this one on */
} neutrals[] = {
    {MLIR_OP_SAME_ADD, "0", "0.000000e+00", 0},      {MLIR_OP_SAME_AND, "-1", "true", 0},
    {MLIR_OP_SAME_MULTIPLY, "1", "1.000000e+00", 0}, {MLIR_OP_SAME_OR, "0", "false", 0},
    {MLIR_OP_SAME_SUBTRACT, "0", "0.000000e+00", 1}, {MLIR_OP_SAME_XOR, "0", "false", 0},
};

static mlir_value simple_binary(struct simplifier *z, struct mlir_op *op)
{
    const struct neutral *k = neutrals;

    while (k->row != op->row)
        k++;
    for (uint32_t n = k->from; n < 2; n++) {
        mlir_value other = operand_of(z, op, 1 - n);
        if (is_number(z, operand_of(z, op, n), k->integer, k->real) &&
            bare_of(z, other) == bare_of(z, op->results))
            return other;
    }
    return MLIR_NONE;
}

/* Numbers that decide the result, whatever the other operand is. */
static const struct {
    uint16_t row;
    const char *number;
} deciders[] = {
    {MLIR_OP_SAME_AND, "false"}, {MLIR_OP_SAME_MULTIPLY, "0"}, {MLIR_OP_SAME_OR, "true"}};

static mlir_value simple_decided(struct simplifier *z, struct mlir_op *op)
{
    for (size_t k = 0; k < sizeof deciders / sizeof *deciders; k++) {
        for (uint32_t n = 0; n < 2 && deciders[k].row == op->row; n++) {
            mlir_value v = operand_of(z, op, n);
            if (hlo_mlir_is(splat_of(z, v), deciders[k].number))
                z->s->constant[op->results] = z->s->constant[v];
        }
    }
    return simple_binary(z, op);
}

/* A truth value beside what it would be. */
static mlir_value simple_compare(struct simplifier *z, struct mlir_op *op)
{
    struct mlir_span s;

    if (mlir_shape(z->m, operand_of(z, op, 0))->type != HLO_PRED ||
        !hlo_mlir_attr(z->m, op, "comparison_direction", "word0", &s))
        return MLIR_NONE;
    s = hlo_mlir_word(s);
    const char *same = hlo_mlir_is(s, "NE") ? "false" : hlo_mlir_is(s, "EQ") ? "true" : NULL;
    return same && hlo_mlir_is(splat_of(z, operand_of(z, op, 1)), same) ? if_same_shape(z, op)
                                                                        : MLIR_NONE;
}

static mlir_value simple_dynamic_slice(struct simplifier *z, struct mlir_op *op)
{
    hlo_mlir_fold_starts(z, op);
    return op->row == MLIR_OP_SLICE ? if_same_shape(z, op) : MLIR_NONE;
}

/* All of it is new, wherever it begins. */
static mlir_value simple_update(struct simplifier *z, struct mlir_op *op)
{
    mlir_value v = op->operand_count > 1 ? operand_of(z, op, 1) : MLIR_NONE;

    return v != MLIR_NONE && bare_of(z, v) == bare_of(z, op->results) ? v : MLIR_NONE;
}

/* Zero times zero, as of the imaginary part of a real number. */
static mlir_value simple_product(struct simplifier *z, struct mlir_op *op)
{
    bool is_zero = true;

    for (uint32_t n = 0; n < op->operand_count; n++)
        is_zero &= is_number(z, operand_of(z, op, n), "0", "0.000000e+00");
    if (is_zero)
        z->s->constant[op->results] = z->s->constant[operand_of(z, op, 0)];
    return op->row == MLIR_OP_SAME_MULTIPLY ? simple_decided(z, op) : MLIR_NONE;
}

static mlir_value simple_conj(struct simplifier *z, struct mlir_op *op)
{
    bool is_complex = hlo_type_info[mlir_shape(z->m, op->results)->type].class == 'C';

    return is_complex ? MLIR_NONE : if_same_shape(z, op);
}

static mlir_value simple_part(struct simplifier *z, struct mlir_op *op)
{
    const struct mlir_op *made = maker(z, operand_of(z, op, 0), MLIR_OP_SAME_COMPLEX);

    if (!made || made->operand_count != 2)
        return MLIR_NONE;
    mlir_value v = operand_of(z, made, op->row == MLIR_OP_SAME_IMAG);
    return bare_of(z, v) == bare_of(z, op->results) ? v : MLIR_NONE;
}

static mlir_value simple_select(struct simplifier *z, struct mlir_op *op)
{
    mlir_value if_true = operand_of(z, op, 1), if_false = operand_of(z, op, 2);
    struct mlir_span s = splat_of(z, operand_of(z, op, 0));
    mlir_value v = if_true == if_false || hlo_mlir_is(s, "true") ? if_true
                   : hlo_mlir_is(s, "false")                     ? if_false
                                                                 : MLIR_NONE;

    return v != MLIR_NONE && bare_of(z, v) == bare_of(z, op->results) ? v : MLIR_NONE;
}

static mlir_value simple_pad(struct simplifier *z, struct mlir_op *op)
{
    static const char *const lists[][2] = {{"edge_padding_low", "low"},
                                           {"edge_padding_high", "high"},
                                           {"interior_padding", "interior"}};
    int64_t widths[HLO_RANK_MAX];
    size_t count;

    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        if (!list_of(z, op, lists[k][0], lists[k][1], widths, &count))
            return MLIR_NONE;
        for (size_t n = 0; n < count; n++) {
            if (widths[n])
                return MLIR_NONE;
        }
    }
    return if_same_shape(z, op);
}

static mlir_value simple_dynamic(struct simplifier *z, struct mlir_op *op)
{
    hlo_mlir_fix_sizes(z, op);
    return op->row == MLIR_OP_RESHAPE ? simple_reshape(z, op)
           : op->row == MLIR_OP_PAD   ? simple_pad(z, op)
                                      : MLIR_NONE;
}

static mlir_value simple_reverse(struct simplifier *z, struct mlir_op *op)
{
    const struct hlo_shape *shape = mlir_shape(z->m, op->results);
    int64_t dims[HLO_RANK_MAX];
    size_t count;

    if (!list_of(z, op, "dimensions", "dims", dims, &count))
        return MLIR_NONE;
    for (size_t n = 0; n < count; n++) {
        if (dims[n] < 0 || dims[n] >= (int64_t)shape->rank || shape->dims[dims[n]] != 1)
            return MLIR_NONE;
    }
    return if_same_shape(z, op);
}

/* Over no dims. */
static mlir_value simple_reduce(struct simplifier *z, struct mlir_op *op)
{
    int64_t dims[HLO_RANK_MAX];
    size_t count;

    if (!list_of(z, op, "dimensions", "dimensions", dims, &count) || count)
        return MLIR_NONE;
    return if_same_shape(z, op);
}

/* Of operations with one result and this many operands; 0: with any number. */
static const struct rule {
    mlir_value (*same)(struct simplifier *, struct mlir_op *);
    uint32_t operands;
} rules[MLIR_OP_COUNT] = {
    [MLIR_OP_RESHAPE] = {simple_reshape, 1},
    [MLIR_OP_TRANSPOSE] = {simple_transpose, 1},
    [MLIR_OP_BROADCAST_IN_DIM] = {simple_broadcast, 1},
    [MLIR_OP_COMPARE] = {simple_compare, 2},
    [MLIR_OP_CONVERT] = {simple_same, 1},
    [MLIR_OP_DYNAMIC_PAD] = {simple_dynamic, 0},
    [MLIR_OP_DYNAMIC_RESHAPE] = {simple_dynamic, 0},
    [MLIR_OP_GET_DIMENSION_SIZE] = {simple_dynamic, 0},
    [MLIR_OP_DYNAMIC_SLICE] = {simple_dynamic_slice, 0},
    [MLIR_OP_DYNAMIC_UPDATE_SLICE] = {simple_update, 0},
    [MLIR_OP_SLICE] = {simple_same, 1},
    [MLIR_OP_CONCATENATE] = {simple_same, 1},
    [MLIR_OP_PROPAGATION_BARRIER] = {simple_same, 1},
    [MLIR_OP_REPLICATED_TO_UNREDUCED] = {simple_same, 1},
    [MLIR_OP_REVERSE] = {simple_reverse, 1},
    [MLIR_OP_PAD] = {simple_pad, 2},
    [MLIR_OP_REDUCE] = {simple_reduce, 2},
    [MLIR_OP_SELECT] = {simple_select, 3},
    [MLIR_OP_CHLO_CONJ] = {simple_conj, 1},
    [MLIR_OP_CHLO_SQUARE] = {simple_product, 1},
    [MLIR_OP_SAME_REAL] = {simple_part, 1},
    [MLIR_OP_SAME_IMAG] = {simple_part, 1},
    [MLIR_OP_SAME_MULTIPLY] = {simple_product, 2},
    [MLIR_OP_SAME_ADD] = {simple_binary, 2},
    [MLIR_OP_SAME_SUBTRACT] = {simple_binary, 2},
    [MLIR_OP_SAME_AND] = {simple_decided, 2},
    [MLIR_OP_SAME_OR] = {simple_decided, 2},
    [MLIR_OP_SAME_XOR] = {simple_binary, 2},
};

static mlir_value simplified(struct simplifier *z, struct mlir_op *op)
{
    const struct rule *r = &rules[op->row];

    if (op->result_count != 1)
        return MLIR_NONE;
    if (op->row == MLIR_OP_CONSTANT || op->row == MLIR_OP_SDY_CONSTANT)
        z->s->constant[op->results] = (mlir_op_id)(op - z->m->ops);
    mlir_value v =
        r->same && (!r->operands || r->operands == op->operand_count) ? r->same(z, op) : MLIR_NONE;
    if (v == MLIR_NONE && hlo_mlir_fold(z, op))
        z->s->constant[op->results] = (mlir_op_id)(op - z->m->ops);
    return v;
}

/* What a loop carries and its body returns as it came is the value it began with. */
static void simplify_loop(struct simplifier *z, const struct mlir_op *op)
{
    const struct mlir_module *m = z->m;

    if (op->region_count != 2)
        return;
    const struct mlir_region *cond = &m->regions[op->regions];
    const struct mlir_region *body = &m->regions[cond->next];
    if (body->last == MLIR_NONE || m->ops[body->last].operand_count != op->operand_count ||
        cond->arg_count != op->operand_count || body->arg_count != op->operand_count ||
        op->result_count != op->operand_count)
        return;
    for (uint32_t n = 0; n < op->operand_count; n++) {
        if (mlir_operand(m, &m->ops[body->last], n) != body->first_arg + n)
            continue;
        mlir_value init = operand_of(z, op, n);
        if (bare_of(z, init) != bare_of(z, op->results + n))
            continue;
        z->s->same[op->results + n] = init;
        z->s->same[cond->first_arg + n] = init;
        z->s->same[body->first_arg + n] = init;
    }
}

/* The branch that a constant takes: of `case` the last one when there is none of that number. */
static mlir_region_id taken_branch(const struct simplifier *z, const struct mlir_op *op)
{
    struct mlir_span s = splat_of(z, operand_of(z, op, 0));
    mlir_region_id r = op->regions;
    int64_t n;

    if (op->row == MLIR_OP_IF)
        n = hlo_mlir_is(s, "true") ? 0 : hlo_mlir_is(s, "false") ? 1 : -1;
    else if (!hlo_mlir_int(s, &n) || n < 0 || n >= op->region_count)
        n = op->region_count - 1;
    while (n-- > 0 && r != MLIR_NONE)
        r = z->m->regions[r].next;
    return n < -1 ? MLIR_NONE : r;
}

/* A branch taken whatever happens is a region run once. */
static void simplify_branches(struct simplifier *z, struct mlir_op *op)
{
    struct mlir_region *regions = z->m->regions;

    if (op->operand_count != 1 || !op->region_count || !splat_of(z, operand_of(z, op, 0)).size)
        return;
    mlir_region_id taken = taken_branch(z, op);
    if (taken == MLIR_NONE || regions[taken].arg_count || regions[taken].last == MLIR_NONE ||
        z->m->ops[regions[taken].last].operand_count != op->result_count)
        return;
    for (mlir_region_id r = op->regions; r != MLIR_NONE; r = regions[r].next)
        regions[r].is_never = r != taken;
    regions[taken].next = MLIR_NONE;
    op->row = MLIR_OP_NAMED;
    op->regions = taken;
    op->region_count = 1;
    op->operand_count = 0;
}

/* Constants that such a branch returns are those of the op. */
static void simplify_return(struct simplifier *z, const struct mlir_op *op)
{
    const struct mlir_region *region = &z->m->regions[op->region];

    if (region->parent == MLIR_NONE || region->is_never)
        return;
    const struct mlir_op *parent = &z->m->ops[region->parent];
    if (parent->row != MLIR_OP_NAMED || parent->result_count != op->operand_count)
        return;
    for (uint32_t n = 0; n < op->operand_count; n++)
        z->s->constant[parent->results + n] = z->s->constant[operand_of(z, op, n)];
}

static void find_same(struct simplifier *z)
{
    struct mlir_module *m = z->m;

    for (mlir_op_id id = 0; id < m->op_count; id++) {
        struct mlir_op *op = &m->ops[id];
        for (uint32_t n = 0; n < op->operand_count; n++)
            m->operand_pool[op->operands + n] = same_of(z, m->operand_pool[op->operands + n]);
        if (op->row == MLIR_OP_WHILE)
            simplify_loop(z, op);
        if (op->row == MLIR_OP_CASE || op->row == MLIR_OP_IF)
            simplify_branches(z, op);
        if (op->row == MLIR_OP_STABLEHLO_RETURN)
            simplify_return(z, op);
        mlir_value v = simplified(z, op);
        if (v != MLIR_NONE)
            z->s->same[op->results] = v;
    }
}

int hlo_mlir_simplify(struct mlir_module *m, mlir_region_id entry, bool as_is,
                      struct mlir_simplified *s)
{
    struct simplifier z = {.m = m, .s = s};
    bool ok;

    s->same = mem_try(m->value_count + 1, sizeof *s->same);
    s->constant = mem_try(m->value_count + 1, sizeof *s->constant);
    s->is_live = mem_try(m->value_count + 1, 1);
    s->is_op_live = mem_try(m->op_count + 1, 1);
    ok = s->same && s->constant && s->is_live && s->is_op_live;
    if (ok) {
        for (mlir_value v = 0; v < m->value_count; v++)
            s->same[v] = v;
        memset(s->constant, 0xff, m->value_count * sizeof *s->constant);
        if (as_is) {
            memset(s->is_live, 1, m->value_count);
            memset(s->is_op_live, 1, m->op_count);
        } else {
            find_same(&z);
            ok = hlo_mlir_find_live(&z, entry);
        }
    }
    free(z.work);
    free(z.funcs);
    free(z.is_func_live);
    return ok ? 0 : hlo_mlir_memory(m);
}

void hlo_mlir_simplified_release(struct mlir_simplified *s)
{
    free(s->same);
    free(s->constant);
    free(s->is_live);
    free(s->is_op_live);
}
