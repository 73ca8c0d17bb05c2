/* Module, functions, aliases, resources; names. */
#include "hlo/module/build.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include "hlo/support/slots.h"

#include <string.h>

/* ---- names ---- */

uint32_t hlo_mlir_name(struct mlir_names *names, const char *text, size_t size)
{
    uint32_t hash = lex_hash(text, size);

    struct slot_walk at;

    for (uint32_t k = slots_first(&names->slots, hash, &at); k != SLOTS_END;
         k = slots_next(&names->slots, &at)) {
        const struct mlir_name *n = &names->list[k];
        if (n->size == size && !memcmp(n->text, text, size))
            return k;
    }
    if (names->count >= INT32_MAX || !mem_grow(&names->list, &names->list_room, names->count, 1) ||
        !slots_add(&names->slots, hash, (uint32_t)names->count))
        return MLIR_NONE;
    names->list[names->count] = (struct mlir_name){text, (uint32_t)size, MLIR_NONE};
    return (uint32_t)names->count++;
}

void hlo_mlir_names_release(struct mlir_names *names)
{
    free(names->list);
    slots_release(&names->slots);
}

void hlo_mlir_release(struct mlir_module *m)
{
    free(m->ops);
    free(m->values);
    free(m->operand_pool);
    free(m->attr_pool);
    free(m->regions);
    free(m->funcs);
    free(m->slots);
    free(m->aliases);
    free(m->resources);
    free(m->meshes);
    hlo_mlir_names_release(&m->alias_names);
    hlo_mlir_names_release(&m->func_names);
}

/* ---- functions ---- */

static int push_slot(struct mlir_parser *p, hlo_shape_id shape, size_t attrs, const char *loc)
{
    struct mlir_module *m = p->m;
    struct mlir_slot s = {.shape = shape, .loc = loc};

    if (hlo_mlir_keep_attrs(p, attrs, &s.attrs, &s.attr_count))
        return m->e->code;
    if (m->slot_count >= INT32_MAX || !mem_grow(&m->slots, &m->slot_room, m->slot_count, 1))
        return hlo_mlir_memory(m);
    m->slots[m->slot_count++] = s;
    return 0;
}

/* `T {attrs} loc(..)` */
static int parse_slot(struct mlir_parser *p)
{
    hlo_shape_id shape;
    const char *loc;
    size_t attrs = p->attr_count;

    if (hlo_mlir_parse_type(p, &shape))
        return p->m->e->code;
    mlir_skip(p);
    if (*p->at == '{' && hlo_mlir_parse_attrs(p))
        return p->m->e->code;
    if (hlo_mlir_parse_loc(p, &loc))
        return p->m->e->code;
    return push_slot(p, shape, attrs, loc);
}

/* `(%arg0: T, ...)`, of a declaration `(T, ...)`; names are pushed on p->results. */
static int parse_arguments(struct mlir_parser *p)
{
    if (hlo_mlir_parse_expect(p, "(", "before the arguments of a function"))
        return p->m->e->code;
    for (bool first = true; !hlo_mlir_eat(p, ")"); first = false) {
        if (!first && hlo_mlir_parse_expect(p, ",", "between arguments"))
            return p->m->e->code;
        mlir_skip(p);
        if (*p->at == '%') {
            const char *name = p->at + 1;
            p->at = hlo_mlir_name_end(name);
            if (!mem_grow(&p->results, &p->result_room, p->result_count, 1) ||
                !mem_grow(&p->counts, &p->counts_room, p->result_count, 1))
                return hlo_mlir_memory(p->m);
            p->results[p->result_count++] = (struct mlir_span){name, (uint32_t)(p->at - name)};
            if (hlo_mlir_parse_expect(p, ":", "after the name of an argument"))
                return p->m->e->code;
        }
        if (parse_slot(p))
            return p->m->e->code;
    }
    return 0;
}

static int parse_function_results(struct mlir_parser *p)
{
    mlir_skip(p);
    if (p->at[0] != '-' || p->at[1] != '>')
        return 0;
    p->at += 2;
    if (!hlo_mlir_eat(p, "(")) { /* one without attributes: what follows is the body */
        hlo_shape_id shape;
        return hlo_mlir_parse_type(p, &shape) ? p->m->e->code
                                              : push_slot(p, shape, p->attr_count, NULL);
    }
    for (bool first = true; !hlo_mlir_eat(p, ")"); first = false) {
        if (!first && hlo_mlir_parse_expect(p, ",", "between results"))
            return p->m->e->code;
        if (parse_slot(p))
            return p->m->e->code;
    }
    return 0;
}

/* `@name` or `@"name"` */
static int parse_symbol(struct mlir_parser *p, struct mlir_span *out)
{
    mlir_skip(p);
    const char *begin = p->at + 1, *end;
    if (*p->at != '@')
        return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" found, expected a name such as @main",
                                   MLIR_WORD(p->at));
    if (*begin == '"') {
        end = hlo_lex_string_end(begin);
        if (!end)
            return hlo_mlir_parse_fail(p, begin, "string is not closed, expected \"");
        *out = (struct mlir_span){begin + 1, (uint32_t)(end - begin - 2)};
    } else {
        end = hlo_mlir_name_end(begin);
        *out = (struct mlir_span){begin, (uint32_t)(end - begin)};
    }
    if (!out->size || out->size > HLO_NAME_MAX)
        return hlo_mlir_parse_fail(p, begin, "a name of %u bytes, expected 1 to %d", out->size,
                                   HLO_NAME_MAX);
    p->at = end;
    return 0;
}

static int add_function(struct mlir_parser *p, const struct mlir_func *f)
{
    struct mlir_module *m = p->m;
    uint32_t n = hlo_mlir_name(&m->func_names, f->name.text, f->name.size);

    if (n == MLIR_NONE || !mem_grow(&m->funcs, &m->func_room, m->func_count, 1))
        return hlo_mlir_memory(m);
    if (m->func_names.list[n].value != MLIR_NONE)
        return hlo_mlir_fail(m, f->at, "a second function @%.*s, expected a new name",
                             (int)(f->name.size < 60 ? f->name.size : 60), f->name.text);
    m->func_names.list[n].value = (uint32_t)m->func_count;
    m->funcs[m->func_count++] = *f;
    return 0;
}

static int parse_body(struct mlir_parser *p, struct mlir_func *f, size_t names)
{
    if (p->result_count - names != f->arg_count)
        return hlo_mlir_parse_fail(p, p->at, "a function with a body and arguments without names");
    if (hlo_mlir_parse_expect(p, "{", "before the body of a function") ||
        hlo_mlir_region_begin(p, MLIR_NONE, &f->body))
        return p->m->e->code;
    for (uint32_t n = 0; n < f->arg_count; n++) {
        if (hlo_mlir_region_arg(p, p->results[names + n], p->m->slots[f->args + n].shape))
            return p->m->e->code;
    }
    if (hlo_mlir_region_body(p))
        return p->m->e->code;
    hlo_mlir_region_end(p, 0);
    return 0;
}

/* Behind `func.func`. */
static int parse_function(struct mlir_parser *p)
{
    struct mlir_module *m = p->m;
    struct mlir_func f = {.body = MLIR_NONE, .at = (size_t)(p->at - m->input)};
    size_t names = p->result_count, attrs = p->attr_count;
    mlir_region_id outer = p->region;

    f.is_private = hlo_mlir_eat(p, "private") || hlo_mlir_eat(p, "nested");
    if (!f.is_private)
        hlo_mlir_eat(p, "public");
    if (parse_symbol(p, &f.name))
        return m->e->code;
    f.args = (uint32_t)m->slot_count;
    if (parse_arguments(p))
        return m->e->code;
    f.arg_count = (uint32_t)m->slot_count - f.args;
    f.results = (uint32_t)m->slot_count;
    if (parse_function_results(p))
        return m->e->code;
    f.result_count = (uint32_t)m->slot_count - f.results;
    if (hlo_mlir_eat(p, "attributes")) {
        mlir_skip(p);
        if (hlo_mlir_parse_attrs(p))
            return m->e->code;
    }
    p->attr_count = attrs;
    mlir_skip(p);
    if (*p->at == '{' && parse_body(p, &f, names))
        return m->e->code;
    p->result_count = names;
    p->region = outer;
    if (hlo_mlir_parse_loc(p, &f.loc))
        return m->e->code;
    return add_function(p, &f);
}

/* ---- functions in generic form ---- */

/* Slots of the types in `(T, T)`, with the attributes of `[{..}, {..}]`. */
static int make_slots(struct mlir_parser *p, size_t types, struct mlir_span dicts)
{
    const char *back = p->at;
    size_t count = p->type_count;

    p->at = dicts.size && *dicts.text == '[' ? dicts.text + 1 : NULL;
    for (size_t n = types; n < count; n++) {
        size_t attrs = p->attr_count;
        if (p->at) {
            mlir_skip(p);
            if (*p->at == '{' && hlo_mlir_parse_attrs(p))
                return p->m->e->code;
            if (*lex_skip(p->at) == ',')
                p->at = lex_skip(p->at) + 1;
        }
        if (push_slot(p, p->types[n], attrs, NULL))
            return p->m->e->code;
    }
    p->at = back;
    return 0;
}

static int read_signature(struct mlir_parser *p, const struct mlir_attr *attrs, uint32_t count,
                          struct mlir_func *f)
{
    struct mlir_module *m = p->m;
    struct mlir_span type, name, word, arg_dicts = {"", 0}, result_dicts = {"", 0};
    const char *back = p->at;
    size_t types = p->type_count;

    if (!hlo_mlir_attr_in(attrs, count, "sym_name", &name) || name.size < 3 ||
        !hlo_mlir_attr_in(attrs, count, "function_type", &type))
        return hlo_mlir_fail(m, f->at, "a function without sym_name and function_type");
    f->name = (struct mlir_span){name.text + 1, name.size - 2};
    f->is_private =
        hlo_mlir_attr_in(attrs, count, "sym_visibility", &word) && !hlo_mlir_is(word, "\"public\"");
    hlo_mlir_attr_in(attrs, count, "arg_attrs", &arg_dicts);
    hlo_mlir_attr_in(attrs, count, "res_attrs", &result_dicts);
    p->at = type.text; /* from here on slots bring attributes of their own, and `attrs` may move */
    if (hlo_mlir_parse_types(p))
        return m->e->code;
    f->args = (uint32_t)m->slot_count;
    if (make_slots(p, types, arg_dicts))
        return m->e->code;
    f->arg_count = (uint32_t)m->slot_count - f->args;
    p->type_count = types;
    if (hlo_mlir_parse_expect(p, "->", "in the type of a function"))
        return m->e->code;
    mlir_skip(p);
    if (*p->at == '(' ? hlo_mlir_parse_types(p) : hlo_mlir_push_type(p))
        return m->e->code;
    f->results = (uint32_t)m->slot_count;
    if (make_slots(p, types, result_dicts))
        return m->e->code;
    f->result_count = (uint32_t)m->slot_count - f->results;
    p->type_count = types;
    p->at = back;
    return 0;
}

/* The locations of the arguments stand at the label of the body, `^bb0(%a: T loc(..)):`. */
static int note_argument_locs(struct mlir_parser *p, const char *body, const struct mlir_func *f)
{
    const char *back = p->at, *label = lex_skip(body + 1);

    if (*label != '^' || !f->arg_count)
        return 0;
    p->at = hlo_mlir_name_end(label + 1); /* it was read before */
    mlir_skip(p);
    for (uint32_t k = 0; k < f->arg_count; k++) {
        struct mlir_span name;
        hlo_shape_id shape;
        p->at++;
        if (hlo_mlir_parse_argument(p, &name, &shape, &p->m->slots[f->args + k].loc))
            return p->m->e->code;
        mlir_skip(p);
    }
    p->at = back;
    return 0;
}

/* A generic op's `<{..}>` or nothing, its region's `({`, and `^bb0(` .. `):`, with the values of
 * the arguments. */
static int parse_generic_function(struct mlir_parser *p)
{
    struct mlir_module *m = p->m;
    struct mlir_func f = {.body = MLIR_NONE, .at = (size_t)(p->at - m->input)};
    size_t attrs = p->attr_count;
    mlir_region_id outer = p->region;
    uint32_t first, count;

    if (hlo_mlir_parse_expect(p, "(", "after \"func.func\"") ||
        hlo_mlir_parse_expect(p, ")", "after \"func.func\"("))
        return m->e->code;
    mlir_skip(p);
    if (*p->at == '<' && hlo_mlir_parse_attrs(p))
        return m->e->code;
    if (hlo_mlir_parse_expect(p, "(", "before the body of a function"))
        return m->e->code;
    mlir_skip(p);
    const char *body = p->at;
    bool has_body = *lex_skip(body + 1) != '}';
    f.body = (mlir_region_id)m->region_count;
    if (hlo_mlir_parse_region(p, MLIR_NONE) ||
        hlo_mlir_parse_expect(p, ")", "after the body of a function"))
        return m->e->code;
    mlir_skip(p);
    if (*p->at == '{' && hlo_mlir_parse_attrs(p))
        return m->e->code;
    if (hlo_mlir_keep_attrs(p, attrs, &first, &count) ||
        read_signature(p, m->attr_pool + first, count, &f))
        return m->e->code;
    if (!has_body)
        f.body = MLIR_NONE;
    else if (m->regions[f.body].arg_count != f.arg_count)
        return hlo_mlir_fail(m, f.at, "%u arguments of the body, expected %u as in function_type",
                             m->regions[f.body].arg_count, f.arg_count);
    else if (note_argument_locs(p, body, &f))
        return m->e->code;
    struct mlir_reading r = {.types = p->type_count};
    if (hlo_mlir_parse_colon_types(p, &r) || hlo_mlir_parse_loc(p, &f.loc))
        return m->e->code;
    p->type_count = r.types;
    p->region = outer;
    return add_function(p, &f);
}

/* ---- module ---- */

static int parse_items(struct mlir_parser *p, char end);

/* Behind `module`. */
static int parse_module(struct mlir_parser *p)
{
    struct mlir_module *m = p->m;
    size_t attrs = p->attr_count;
    uint32_t first, count;
    const char *loc;

    mlir_skip(p);
    if (*p->at == '@' && parse_symbol(p, &m->name))
        return m->e->code;
    if (hlo_mlir_eat(p, "attributes")) {
        mlir_skip(p);
        if (hlo_mlir_parse_attrs(p))
            return m->e->code;
    }
    if (hlo_mlir_keep_attrs(p, attrs, &first, &count))
        return m->e->code;
    if (!m->module_attr_count) {
        m->attrs = first;
        m->module_attr_count = count;
    }
    if (hlo_mlir_parse_expect(p, "{", "before the body of a module") || parse_items(p, '}'))
        return m->e->code;
    p->at++;
    return hlo_mlir_parse_loc(p, &loc);
}

static int parse_generic_module(struct mlir_parser *p)
{
    struct mlir_module *m = p->m;
    size_t attrs = p->attr_count;
    struct mlir_span name;
    const char *loc;

    if (hlo_mlir_parse_expect(p, "(", "after \"builtin.module\"") ||
        hlo_mlir_parse_expect(p, ")", "after \"builtin.module\"("))
        return m->e->code;
    mlir_skip(p);
    if (*p->at == '<' && hlo_mlir_parse_attrs(p))
        return m->e->code;
    if (hlo_mlir_parse_expect(p, "(", "before the body of a module") ||
        hlo_mlir_parse_expect(p, "{", "before the body of a module"))
        return m->e->code;
    mlir_skip(p);
    if (*p->at == '^') {
        p->at = hlo_mlir_name_end(p->at + 1);
        if (hlo_mlir_parse_expect(p, ":", "after the label of a block"))
            return m->e->code;
    }
    size_t inner = p->attr_count;
    if (parse_items(p, '}'))
        return m->e->code;
    p->at++;
    p->attr_count = inner;
    if (hlo_mlir_parse_expect(p, ")", "after the body of a module"))
        return m->e->code;
    mlir_skip(p);
    if (*p->at == '{' && hlo_mlir_parse_attrs(p))
        return m->e->code;
    if (hlo_mlir_keep_attrs(p, attrs, &m->attrs, &m->module_attr_count))
        return m->e->code;
    if (hlo_mlir_attr_in(m->attr_pool + m->attrs, m->module_attr_count, "sym_name", &name) &&
        name.size > 2)
        m->name = (struct mlir_span){name.text + 1, name.size - 2};
    struct mlir_reading r = {.types = p->type_count};
    if (hlo_mlir_parse_colon_types(p, &r) || hlo_mlir_parse_loc(p, &loc))
        return m->e->code;
    p->type_count = r.types;
    return 0;
}

static int keep_mesh(struct mlir_module *m, struct mlir_span name, struct mlir_span axes)
{
    if (!mem_grow(&m->meshes, &m->mesh_room, m->mesh_count, 1))
        return hlo_mlir_memory(m);
    m->meshes[m->mesh_count++] = (struct mlir_attr){name, axes};
    return 0;
}

/* `"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}>`, the op read last. */
static int keep_generic_mesh(struct mlir_module *m)
{
    const struct mlir_op *op = &m->ops[m->op_count - 1];
    struct mlir_span name, axes;

    if (!hlo_mlir_attr(m, op, "sym_name", NULL, &name) || name.size < 2 ||
        !hlo_mlir_attr(m, op, "mesh", NULL, &axes))
        return 0;
    const char *begin = memchr(axes.text, '<', axes.size);
    if (!begin)
        return 0;
    return keep_mesh(m, (struct mlir_span){name.text + 1, name.size - 2},
                     (struct mlir_span){begin, axes.size - (uint32_t)(begin - axes.text)});
}

/* `@mesh = <["x"=2]> {..}` */
static int parse_mesh(struct mlir_parser *p)
{
    struct mlir_span name;
    const char *loc;
    size_t attrs = p->attr_count;

    if (parse_symbol(p, &name) || hlo_mlir_parse_expect(p, "=", "after the name of a mesh"))
        return p->m->e->code;
    mlir_skip(p);
    const char *end = *p->at == '<' ? hlo_mlir_group_end(p->at) : NULL;
    if (!end)
        return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" found, expected a mesh such as <[\"x\"=4]>",
                                   MLIR_WORD(p->at));
    if (keep_mesh(p->m, name, (struct mlir_span){p->at, (uint32_t)(end - p->at)}))
        return p->m->e->code;
    p->at = end;
    mlir_skip(p);
    if (*p->at == '{' && hlo_mlir_parse_attrs(p))
        return p->m->e->code;
    p->attr_count = attrs;
    return hlo_mlir_parse_loc(p, &loc);
}

static int keep_alias(struct mlir_module *m, struct mlir_span name, struct mlir_alias alias)
{
    uint32_t n = hlo_mlir_name(&m->alias_names, name.text, name.size);

    if (n == MLIR_NONE || !mem_grow(&m->aliases, &m->alias_room, m->alias_count, 1))
        return hlo_mlir_memory(m);
    m->alias_names.list[n].value = (uint32_t)m->alias_count;
    m->aliases[m->alias_count++] = alias;
    return 0;
}

/* `#name = value` */
static int parse_alias(struct mlir_parser *p)
{
    struct mlir_module *m = p->m;
    const char *name = p->at, *name_end = hlo_mlir_name_end(name + 1);

    p->at = name_end;
    if (hlo_mlir_parse_expect(p, "=", "after the name of an alias"))
        return m->e->code;
    mlir_skip(p);
    const char *value = p->at, *end = value;
    for (; end && *end && *end != '\n' && *end != '\r';)
        end = strchr("([{<", *end) ? hlo_mlir_group_end(end)
              : *end == '"'        ? hlo_lex_string_end(end)
                                   : end + 1;
    if (!end || end == value)
        return hlo_mlir_parse_fail(p, value, "alias without an end");
    p->at = end;
    return keep_alias(m, (struct mlir_span){name, (uint32_t)(name_end - name)},
                      (struct mlir_alias){.text = {value, (uint32_t)(end - value)}});
}

/* `!name = type`. Types of functions are no values, so nothing asks for them. */
static int parse_type_alias(struct mlir_parser *p)
{
    struct mlir_alias alias = {.meta = 0};
    const char *name = p->at, *name_end = hlo_mlir_name_end(name + 1);

    p->at = name_end;
    if (hlo_mlir_parse_expect(p, "=", "after the name of a type"))
        return p->m->e->code;
    mlir_skip(p);
    alias.text.text = p->at;
    if (*p->at == '(') {
        p->at += strcspn(p->at, "\r\n");
        return 0;
    }
    if (hlo_mlir_parse_type(p, &alias.shape))
        return p->m->e->code;
    alias.text.size = (uint32_t)(p->at - alias.text.text);
    return keep_alias(p->m, (struct mlir_span){name, (uint32_t)(name_end - name)}, alias);
}

/* `{-# dialect_resources: { builtin: { name: "0x..", .. } } #-}`: every `name: "text"`. */
static int parse_resources(struct mlir_parser *p)
{
    struct mlir_module *m = p->m;

    for (p->at += 3; strncmp(p->at, "#-}", 3); mlir_skip(p)) {
        mlir_skip(p);
        if (!*p->at)
            return hlo_mlir_parse_fail(p, p->at, "end of the file, expected #-} after resources");
        const char *name = p->at, *end = hlo_mlir_name_end(name);
        const char *value = lex_skip(end);
        if (end == name || *value != ':' || *lex_skip(value + 1) != '"') {
            p->at = end > name ? end : *name == '"' ? hlo_lex_string_end(name) : name + 1;
            if (!p->at)
                return hlo_mlir_parse_fail(p, p->at = name, "string is not closed, expected \"");
            continue;
        }
        value = lex_skip(value + 1);
        const char *value_end = hlo_lex_string_end(value);
        if (!value_end || value_end - value > INT32_MAX)
            return hlo_mlir_parse_fail(p, value, "string is not closed, expected \"");
        if (!mem_grow(&m->resources, &m->resource_room, m->resource_count, 1))
            return hlo_mlir_memory(m);
        m->resources[m->resource_count++] = (struct mlir_attr){
            {name, (uint32_t)(end - name)}, {value, (uint32_t)(value_end - value)}};
        p->at = value_end;
    }
    p->at += 3;
    return 0;
}

/* Whatever stands in a module that is neither a function nor a mesh. */
static int parse_other(struct mlir_parser *p)
{
    const char *at = p->at;

    if (p->region == MLIR_NONE) {
        p->depth--; /* it is no nesting */
        if (hlo_mlir_region_begin(p, MLIR_NONE, &p->region))
            return p->m->e->code;
    }
    if (hlo_mlir_parse_op(p))
        return p->m->e->code;
    if (p->m->op_count && p->m->ops[p->m->op_count - 1].row == MLIR_OP_MESH)
        return keep_generic_mesh(p->m);
    hlo_build_warning(p->m->b, (size_t)(at - p->m->input),
                      "%.*s outside of a function: passed over", MLIR_WORD(at));
    return 0;
}

static int parse_item(struct mlir_parser *p)
{
    if (*p->at == '#')
        return parse_alias(p);
    if (*p->at == '!')
        return parse_type_alias(p);
    if (!strncmp(p->at, "{-#", 3))
        return parse_resources(p);
    if (hlo_mlir_eat(p, "module") || hlo_mlir_eat(p, "builtin.module"))
        return parse_module(p);
    if (hlo_mlir_eat(p, "\"builtin.module\""))
        return parse_generic_module(p);
    if (hlo_mlir_eat(p, "func.func") || hlo_mlir_eat(p, "func"))
        return parse_function(p);
    if (hlo_mlir_eat(p, "\"func.func\""))
        return parse_generic_function(p);
    if (hlo_mlir_eat(p, "sdy.mesh"))
        return parse_mesh(p);
    return parse_other(p);
}

static int parse_items(struct mlir_parser *p, char end)
{
    if (++p->depth > HLO_NESTING_MAX)
        return hlo_mlir_parse_fail(p, p->at, "modules nested deeper than %d", HLO_NESTING_MAX);
    for (mlir_skip(p); *p->at != end; mlir_skip(p)) {
        if (!*p->at)
            return hlo_mlir_parse_fail(p, p->at, "end of the file inside a module, expected }");
        if (parse_item(p))
            return p->m->e->code;
    }
    p->depth--;
    return 0;
}

int hlo_mlir_parse(struct mlir_module *m)
{
    struct mlir_parser *p = mem_try(1, sizeof *p);
    int rc;

    /* Pools are never NULL: an empty list is a place in them, too. */
    if (!p || !mem_grow(&m->attr_pool, &m->attr_room, 0, 16) ||
        !mem_grow(&m->operand_pool, &m->operand_room, 0, 16) ||
        !mem_grow(&m->ops, &m->op_room, 0, 16) || !mem_grow(&m->values, &m->value_room, 0, 16) ||
        !mem_grow(&p->attrs, &p->attr_room, 0, 16) || !mem_grow(&p->types, &p->type_room, 0, 16) ||
        !mem_grow(&p->operands, &p->operand_room, 0, 16)) {
        if (p) {
            free(p->attrs);
            free(p->types);
            free(p->operands);
        }
        free(p);
        return hlo_mlir_memory(m);
    }
    p->m = m;
    p->at = p->line_at = p->line_begin = m->input;
    p->line = 1;
    p->region = MLIR_NONE;
    rc = parse_items(p, '\0');
    hlo_mlir_names_release(&p->names);
    hlo_mlir_names_release(&p->op_names);
    free(p->shadowed);
    free(p->operands);
    free(p->inits);
    free(p->attrs);
    free(p->types);
    free(p->results);
    free(p->counts);
    free(p);
    return rc;
}
