/* What somebody needs: results, what they are made of, and what has an effect. */
#include "hlo/stablehlo/simplify_internal.h"

#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/simplify.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

static bool push_value(struct simplifier *z, mlir_value v)
{
    if (z->s->is_live[v])
        return true;
    z->s->is_live[v] = true;
    if (!mem_grow(&z->work, &z->work_room, z->work_count, 1))
        return false;
    z->work[z->work_count++] = v;
    return true;
}

static bool push_all(struct simplifier *z, const struct mlir_op *op)
{
    for (uint32_t n = 0; n < op->operand_count; n++) {
        if (!push_value(z, operand_of(z, op, n)))
            return false;
    }
    return true;
}

static bool push_returned(struct simplifier *z, mlir_region_id r)
{
    mlir_op_id last = z->m->regions[r].last;

    return last == MLIR_NONE || push_all(z, &z->m->ops[last]);
}

/* `@f`, `@"any text"` */
static uint32_t function_of(struct mlir_module *m, struct mlir_span s)
{
    if (s.size < 2 || *s.text != '@')
        return MLIR_NONE;
    s.text++;
    s.size--;
    if (s.size > 2 && *s.text == '"') {
        s.text++;
        s.size -= 2;
    }
    uint32_t n = hlo_mlir_name(&m->func_names, s.text, s.size);
    uint32_t f = n == MLIR_NONE ? MLIR_NONE : m->func_names.list[n].value;
    return f == MLIR_NONE || m->funcs[f].body == MLIR_NONE ? MLIR_NONE : f;
}

/* Item `n` of `[@f, @"g h"]`. */
static bool symbol_at(struct mlir_span list, uint32_t n, struct mlir_span *out)
{
    const char *p = list.text + 1, *end = list.text + list.size;

    for (; list.size > 1 && p < end; p++) {
        p = lex_skip(p);
        if (p >= end || *p != '@')
            return false;
        const char *from = p++;
        bool is_quoted = *p == '"';
        for (p += is_quoted; p < end && (is_quoted ? *p != '"' : lex_is(*p, LEX_NAME)); p++)
            ;
        p += is_quoted && p < end;
        if (!n--) {
            *out = (struct mlir_span){from, (uint32_t)(p - from)};
            return true;
        }
        p = lex_skip(p);
        if (p >= end || *p != ',')
            return false;
    }
    return false;
}

bool hlo_mlir_called(struct mlir_module *m, const struct mlir_op *op, uint32_t n, uint32_t *out)
{
    bool is_call = op->row == MLIR_OP_CALL || op->row == MLIR_OP_COMPOSITE, has = false;
    struct mlir_span s;

    if (n >= (is_call ? 1 : MLIR_CALLED_MOST))
        return false;
    if (is_call)
        has = hlo_mlir_attr(m, op, "callee", "callee", &s) ||
              hlo_mlir_attr(m, op, "decomposition", NULL, &s);
    else if (op->row == MLIR_OP_CUSTOM_CALL)
        has = hlo_mlir_attr(m, op, "called_computations", NULL, &s) && symbol_at(s, n, &s);
    *out = has ? function_of(m, s) : MLIR_NONE;
    return has;
}

static bool has_effect(const struct simplifier *z, const struct mlir_op *op)
{
    struct mlir_span s;

    switch (op->row) {
    case MLIR_OP_WHILE:
    case MLIR_OP_INFEED:
    case MLIR_OP_OUTFEED:
        return true;
    case MLIR_OP_CUSTOM_CALL:
        return hlo_mlir_attr(z->m, op, "has_side_effect", NULL, &s) && hlo_mlir_true(s);
    case MLIR_OP_UNKNOWN:
        return op->result_count == 0;
    default:
        return false;
    }
}

static bool make_live(struct simplifier *z, mlir_op_id id);
static bool carry(struct simplifier *z, mlir_op_id id, uint32_t n);

/* A region that runs: what has an effect in it is needed. */
static bool run_region(struct simplifier *z, mlir_region_id r)
{
    const struct mlir_region *region = &z->m->regions[r];

    for (mlir_op_id id = region->first; id < region->end; id = z->m->ops[id].end) {
        const struct mlir_op *op = &z->m->ops[id];
        bool is_control = op->row == MLIR_OP_CASE || op->row == MLIR_OP_IF ||
                          op->row == MLIR_OP_CALL || op->row == MLIR_OP_MANUAL ||
                          op->row == MLIR_OP_NAMED;
        bool wanted = has_effect(z, op);
        if (is_control) { /* an effect within */
            for (mlir_op_id in = id + 1; in < op->end && !wanted; in++)
                wanted = has_effect(z, &z->m->ops[in]) && z->m->ops[in].row != MLIR_OP_WHILE;
        }
        if (wanted && !make_live(z, id))
            return false;
    }
    return true;
}

/* Looked at later, once: calls may go deep, and come from many places. */
static bool run_function(struct simplifier *z, uint32_t f)
{
    if (z->is_func_live[f])
        return true;
    z->is_func_live[f] = true;
    if (!mem_grow(&z->funcs, &z->func_room, z->func_count, 1))
        return false;
    z->funcs[z->func_count++] = f;
    return true;
}

static bool make_live(struct simplifier *z, mlir_op_id id)
{
    struct mlir_module *m = z->m;
    const struct mlir_op *op = &m->ops[id];
    bool ok = true;

    if (z->s->is_op_live[id])
        return true;
    z->s->is_op_live[id] = true;
    for (mlir_region_id r = op->regions; ok && r != MLIR_NONE; r = m->regions[r].next)
        ok = run_region(z, r);
    if (op->row == MLIR_OP_WHILE && op->region_count == 2) { /* XLA keeps all that it carries */
        for (uint32_t n = 0; ok && n < op->operand_count; n++)
            ok = carry(z, id, n);
        return ok && push_returned(z, op->regions);
    }
    if ((op->row == MLIR_OP_CASE || op->row == MLIR_OP_IF) && op->operand_count)
        return ok && push_value(z, operand_of(z, op, 0));
    for (mlir_region_id r = op->regions; ok && r != MLIR_NONE; r = m->regions[r].next)
        ok = push_returned(z, r);
    for (uint32_t n = 0, f; ok && hlo_mlir_called(z->m, op, n, &f); n++)
        ok = f == MLIR_NONE || run_function(z, f);
    return ok && push_all(z, op);
}

/* Element `n` of what a loop carries is needed: its start, its next value, its arguments. */
static bool carry(struct simplifier *z, mlir_op_id id, uint32_t n)
{
    const struct mlir_module *m = z->m;
    const struct mlir_op *op = &m->ops[id];
    const struct mlir_region *cond = &m->regions[op->regions];
    const struct mlir_region *body = &m->regions[cond->next];

    if (n >= op->operand_count || n >= op->result_count || n >= cond->arg_count ||
        n >= body->arg_count || body->last == MLIR_NONE || n >= m->ops[body->last].operand_count)
        return true; /* refused when it is lowered */
    z->s->is_live[op->results + n] = true;
    return push_value(z, operand_of(z, op, n)) && push_value(z, mlir_returned(m, cond->next, n)) &&
           push_value(z, cond->first_arg + n) && push_value(z, body->first_arg + n);
}

static bool follow_value(struct simplifier *z, mlir_value v)
{
    const struct mlir_module *m = z->m;
    const struct mlir_value_info *info = &m->values[v];
    mlir_op_id parent = m->regions[info->region].parent;

    if (info->op == MLIR_NONE) { /* an argument */
        if (parent == MLIR_NONE || m->ops[parent].row != MLIR_OP_WHILE ||
            m->ops[parent].region_count != 2)
            return true;
        return carry(z, parent, info->number);
    }
    const struct mlir_op *op = &m->ops[info->op];
    if (!make_live(z, info->op))
        return false;
    if (op->row == MLIR_OP_WHILE && op->region_count == 2)
        return carry(z, info->op, info->number);
    if (op->row != MLIR_OP_CASE && op->row != MLIR_OP_IF)
        return true;
    for (mlir_region_id r = op->regions; r != MLIR_NONE; r = m->regions[r].next) {
        mlir_op_id last = m->regions[r].last;
        if (last != MLIR_NONE && info->number < m->ops[last].operand_count &&
            !push_value(z, mlir_returned(m, r, info->number)))
            return false;
    }
    return true;
}

bool hlo_mlir_find_live(struct simplifier *z, mlir_region_id entry)
{
    z->is_func_live = mem_try(z->m->func_count + 1, sizeof *z->is_func_live);
    bool ok = z->is_func_live && push_returned(z, entry) && run_region(z, entry);

    while (ok && (z->work_count || z->func_count)) {
        if (z->work_count) {
            ok = follow_value(z, z->work[--z->work_count]);
        } else {
            mlir_region_id body = z->m->funcs[z->funcs[--z->func_count]].body;
            ok = push_returned(z, body) && run_region(z, body);
        }
    }
    return ok;
}
