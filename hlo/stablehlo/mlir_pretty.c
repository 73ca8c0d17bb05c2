/* The pretty forms of operations with regions: reduce, while, manual_computation. */
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

/* `%a: T` pairs in brackets; pushed on p->results (names) and p->types. */
static int parse_typed_names(struct mlir_parser *p)
{
    if (hlo_mlir_parse_expect(p, "(", "before arguments"))
        return p->m->e->code;
    for (bool first = true; !hlo_mlir_eat(p, ")"); first = false) {
        struct mlir_span name;
        hlo_shape_id shape;
        const char *loc;
        if (!first && hlo_mlir_parse_expect(p, ",", "between arguments"))
            return p->m->e->code;
        if (hlo_mlir_parse_argument(p, &name, &shape, &loc))
            return p->m->e->code;
        if (!mem_grow(&p->results, &p->result_room, p->result_count, 1) ||
            !mem_grow(&p->counts, &p->counts_room, p->result_count, 1) ||
            !mem_grow(&p->types, &p->type_room, p->type_count, 1))
            return hlo_mlir_memory(p->m);
        p->results[p->result_count] = name;
        p->counts[p->result_count++] = 1;
        p->types[p->type_count++] = shape;
    }
    return 0;
}

/* A region whose arguments are names[i * step + k * within] ..: see callers. */
static int begin_region(struct mlir_parser *p, mlir_op_id parent, mlir_region_id *outer,
                        size_t *shadowed)
{
    mlir_region_id inner;

    *outer = p->region;
    *shadowed = p->shadowed_count;
    return hlo_mlir_region_begin(p, parent, &inner);
}

static int finish_region(struct mlir_parser *p, mlir_region_id outer, size_t shadowed)
{
    if (hlo_mlir_parse_expect(p, "{", "before a region") || hlo_mlir_region_body(p))
        return p->m->e->code;
    hlo_mlir_region_end(p, shadowed);
    p->region = outer;
    return 0;
}

/* ---- reduce(%a init: %z), (%b init: %y) ... ---- */

static int parse_reduce_inputs(struct mlir_parser *p)
{
    size_t base = p->init_count;

    do {
        if (hlo_mlir_parse_expect(p, "(", "before an operand of reduce"))
            return p->m->e->code;
        mlir_skip(p);
        if (hlo_mlir_parse_operand(p) ||
            hlo_mlir_parse_expect(p, "init:", "after an operand of reduce"))
            return p->m->e->code;
        mlir_skip(p);
        if (hlo_mlir_parse_operand(p) || hlo_mlir_parse_expect(p, ")", "after an initial value"))
            return p->m->e->code;
        if (!mem_grow(&p->inits, &p->init_room, p->init_count, 1))
            return hlo_mlir_memory(p->m);
        p->inits[p->init_count++] = p->operands[--p->operand_count];
    } while (hlo_mlir_eat(p, ","));
    for (size_t n = base; n < p->init_count; n++) {
        if (hlo_mlir_push_operand(p, p->inits[n]))
            return p->m->e->code;
    }
    p->init_count = base;
    return 0;
}

/* ` reducer(%x: S, %y: S) (%u: S2, %v: S2) { .. }`: pairs of (left, right); the region's arguments
 * are all the left ones, then the right ones. */
static int parse_reducer(struct mlir_parser *p, mlir_op_id id)
{
    size_t names = p->result_count, types = p->type_count, shadowed;
    mlir_region_id outer;

    mlir_skip(p);
    while (*p->at == '(') {
        if (parse_typed_names(p))
            return p->m->e->code;
        mlir_skip(p);
    }
    size_t count = p->result_count - names;
    if (count % 2)
        return hlo_mlir_parse_fail(p, p->at, "%zu arguments of a reducer, expected pairs", count);
    if (begin_region(p, id, &outer, &shadowed))
        return p->m->e->code;
    for (size_t n = 0; n < count; n++) {
        size_t from = n < count / 2 ? 2 * n : 2 * (n - count / 2) + 1;
        if (hlo_mlir_region_arg(p, p->results[names + from], p->types[types + from]))
            return p->m->e->code;
    }
    p->result_count = names;
    p->type_count = types;
    return finish_region(p, outer, shadowed);
}

int hlo_mlir_parse_reduce(struct mlir_parser *p, struct mlir_reading *r)
{
    if (parse_reduce_inputs(p))
        return p->m->e->code;
    if (hlo_mlir_eat(p, "applies")) {
        mlir_skip(p);
        const char *begin = p->at;
        p->at = hlo_mlir_name_end(begin);
        if (hlo_mlir_push_attr(p, "applies", begin, p->at))
            return p->m->e->code;
    }
    if (hlo_mlir_parse_expect(p, "across", "before the dims of a reduce") ||
        hlo_mlir_parse_expect(p, "dimensions", "after across") ||
        hlo_mlir_parse_expect(p, "=", "after dimensions"))
        return p->m->e->code;
    mlir_skip(p);
    const char *end = *p->at == '[' ? hlo_mlir_group_end(p->at) : NULL;
    if (!end)
        return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" found, expected dims such as [0, 1]",
                                   MLIR_WORD(p->at));
    if (hlo_mlir_push_attr(p, "dimensions", p->at, end))
        return p->m->e->code;
    p->at = end;
    mlir_skip(p);
    if (*p->at == '{' && hlo_mlir_parse_attrs(p))
        return p->m->e->code;
    if (hlo_mlir_parse_colon_types(p, r))
        return p->m->e->code;
    return hlo_mlir_eat(p, "reducer") ? parse_reducer(p, r->id) : 0;
}

/* ---- while(%iterArg = %a, ..) : T, .. cond { .. } do { .. } ---- */

static int parse_while_region(struct mlir_parser *p, mlir_op_id id, size_t names, size_t types)
{
    mlir_region_id outer;
    size_t shadowed;

    if (begin_region(p, id, &outer, &shadowed))
        return p->m->e->code;
    for (size_t n = names; n < p->result_count; n++) {
        if (hlo_mlir_region_arg(p, p->results[n], p->types[types + n - names]))
            return p->m->e->code;
    }
    return finish_region(p, outer, shadowed);
}

static int parse_carried(struct mlir_parser *p)
{
    if (hlo_mlir_parse_expect(p, "(", "before what a loop carries"))
        return p->m->e->code;
    for (bool first = true; !hlo_mlir_eat(p, ")"); first = false) {
        if (!first && hlo_mlir_parse_expect(p, ",", "between what a loop carries"))
            return p->m->e->code;
        mlir_skip(p);
        const char *name = p->at + 1;
        if (*p->at != '%')
            return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" found, expected %%name = %%value",
                                       MLIR_WORD(p->at));
        p->at = hlo_mlir_name_end(name);
        if (!mem_grow(&p->results, &p->result_room, p->result_count, 1) ||
            !mem_grow(&p->counts, &p->counts_room, p->result_count, 1))
            return hlo_mlir_memory(p->m);
        p->results[p->result_count] = (struct mlir_span){name, (uint32_t)(p->at - name)};
        p->counts[p->result_count++] = 1;
        if (hlo_mlir_parse_expect(p, "=", "after the name of what a loop carries"))
            return p->m->e->code;
        mlir_skip(p);
        if (hlo_mlir_parse_operand(p))
            return p->m->e->code;
    }
    return 0;
}

int hlo_mlir_parse_while(struct mlir_parser *p, struct mlir_reading *r)
{
    size_t names = p->result_count;

    if (parse_carried(p))
        return p->m->e->code;
    size_t count = p->result_count - names;
    mlir_skip(p);
    if (*p->at == ':' && hlo_mlir_parse_colon_types(p, r))
        return p->m->e->code;
    if (p->type_count - r->types != count)
        return hlo_mlir_parse_fail(p, p->at, "%zu types for %zu values that a loop carries",
                                   p->type_count - r->types, count);
    if (hlo_mlir_eat(p, "attributes")) {
        mlir_skip(p);
        if (hlo_mlir_parse_attrs(p))
            return p->m->e->code;
    }
    if (hlo_mlir_parse_expect(p, "cond", "before the condition of a loop") ||
        parse_while_region(p, r->id, names, r->types) ||
        hlo_mlir_parse_expect(p, "do", "before the body of a loop") ||
        parse_while_region(p, r->id, names, r->types))
        return p->m->e->code;
    p->result_count = names;
    return 0;
}

/* ---- sdy.manual_computation(%a) in_shardings=[..] .. (%p: T) { .. } : (T) -> T ---- */

int hlo_mlir_parse_manual(struct mlir_parser *p, struct mlir_reading *r)
{
    size_t names, types, shadowed;
    mlir_region_id outer;

    mlir_skip(p);
    if (*p->at == '<') { /* sdy.named_computation<"name"> */
        const char *end = hlo_mlir_group_end(p->at);
        if (!end)
            return hlo_mlir_parse_fail(p, p->at, "name is not closed, expected >");
        if (hlo_mlir_push_attr(p, "name", p->at + 1, end - 1))
            return p->m->e->code;
        p->at = end;
    }
    if (hlo_mlir_parse_expect(p, "(", "before operands"))
        return p->m->e->code;
    for (bool first = true; !hlo_mlir_eat(p, ")"); first = false) {
        if (!first && hlo_mlir_parse_expect(p, ",", "between operands"))
            return p->m->e->code;
        mlir_skip(p);
        if (hlo_mlir_parse_operand(p))
            return p->m->e->code;
    }
    for (mlir_skip(p); lex_is(*p->at, LEX_START); mlir_skip(p)) {
        const char *key = p->at;
        p->at = hlo_mlir_name_end(key);
        size_t size = (size_t)(p->at - key);
        if (hlo_mlir_parse_expect(p, "=", "after the name of an attribute"))
            return p->m->e->code;
        mlir_skip(p);
        const char *value = p->at, *end = hlo_mlir_group_end(value);
        if ((*value != '[' && *value != '{') || !end)
            return hlo_mlir_parse_fail(p, value, "\"%.*s\" found, expected [ or {",
                                       MLIR_WORD(value));
        if (hlo_mlir_push_attr(p, "", value, end))
            return p->m->e->code;
        p->attrs[p->attr_count - 1].name = (struct mlir_span){key, (uint32_t)size};
        p->at = end;
    }
    names = p->result_count;
    types = p->type_count;
    if (parse_typed_names(p) || begin_region(p, r->id, &outer, &shadowed))
        return p->m->e->code;
    for (size_t n = names; n < p->result_count; n++) {
        if (hlo_mlir_region_arg(p, p->results[n], p->types[types + n - names]))
            return p->m->e->code;
    }
    p->result_count = names;
    p->type_count = types;
    if (finish_region(p, outer, shadowed))
        return p->m->e->code;
    mlir_skip(p);
    if (*p->at == '{' && hlo_mlir_parse_attrs(p))
        return p->m->e->code;
    return hlo_mlir_parse_colon_types(p, r);
}
