/* Functions to computations, callees first; the module around them. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/stablehlo/simplify.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- functions ---- */

static bool is_live_region(const struct lower *l, mlir_region_id r)
{
    mlir_op_id parent = l->m->regions[r].parent;

    return parent == MLIR_NONE || (l->s.is_op_live[parent] && !l->m->regions[r].is_never);
}

/* Plain text names no arguments, but JAX names results (`result[0]['layer']['kernel']`), and says
 * which of them takes the memory of an argument: nearly always its new value. The path behind the
 * place in the result; empty when there is none. */
static int name_by_result(struct lower *l, const struct mlir_func *f, const struct mlir_slot *slot)
{
    struct mlir_span s;
    int64_t result;
    size_t size;

    str_clear(&l->text);
    if (!hlo_mlir_attr_in(l->m->attr_pool + slot->attrs, slot->attr_count, "tf.aliasing_output",
                          &s) ||
        !hlo_mlir_int(s, &result) || result < 0 || result >= f->result_count)
        return 0;
    const struct mlir_slot *to = &l->m->slots[f->results + result];
    if (!hlo_mlir_attr_in(l->m->attr_pool + to->attrs, to->attr_count, "jax.result_info", &s))
        return 0;
    const char *path = hlo_mlir_string(l->m, s, &size), *end = path ? path + size : NULL;
    if (!path)
        return hlo_lower_memory(l);
    if (size > 6 && !memcmp(path, "result", 6))
        path += 6;
    if (end - path > 2 && path[0] == '[' && path[1] >= '0' && path[1] <= '9')
        path = memchr(path, ']', (size_t)(end - path))
                   ? (const char *)memchr(path, ']', (size_t)(end - path)) + 1
                   : path;
    if (path == end)
        return 0;
    str_add_bytes(&l->text, path, (size_t)(end - path));
    return 0;
}

static int entry_parameter(struct lower *l, const struct mlir_func *f, uint32_t n)
{
    const struct mlir_slot *slot = &l->m->slots[f->args + n];
    char plain[24];
    hlo_id id;
    int size = snprintf(plain, sizeof plain, "Arg_%u", n);

    if (hlo_lower_meta(l, slot->loc, true, &l->meta) || hlo_lower_slot_sharding(l, slot))
        return l->e->code;
    const char *name = hlo_builder_meta(l->b, l->meta)->op_name;
    if (!*name) {
        if (name_by_result(l, f, slot))
            return l->e->code;
        name = l->text.size
                   ? arena_text(&hlo_builder_module(l->b)->arena, l->text.text, l->text.size)
                   : "";
        if (!name)
            return hlo_lower_memory(l);
    }
    l->base = *name ? (struct mlir_span){name, (uint32_t)strlen(name)}
                    : (struct mlir_span){plain, (uint32_t)size};
    if (hlo_lower_parameter(l, n, slot->shape, &id))
        return l->e->code;
    l->base.size = 0;
    lower_set(l, l->m->regions[f->body].first_arg + n, id);
    return 0;
}

static int lower_function(struct lower *l, uint32_t number, bool is_entry)
{
    const struct mlir_func *f = &l->m->funcs[number];
    const struct mlir_region *body = &l->m->regions[f->body];

    for (mlir_region_id r = body->after; r-- > f->body + 1;) {
        if (is_live_region(l, r) && hlo_lower_region(l, r))
            return l->e->code;
    }
    l->op = NULL;
    l->attr_count = 0;
    l->part_count = 0;
    if (body->last == MLIR_NONE)
        return hlo_mlir_fail(l->m, f->at,
                             "a function without operations, expected one that returns");
    l->op = &l->m->ops[body->last];
    if (l->op->operand_count != f->result_count)
        return hlo_lower_fail(l, "%u values returned, expected %u", l->op->operand_count,
                              f->result_count);
    if (hlo_lower_begin(l, f->name, &l->func_comp[number]))
        return l->e->code;
    for (uint32_t n = 0; is_entry && n < f->arg_count; n++) {
        if (entry_parameter(l, f, n))
            return l->e->code;
    }
    l->meta = 0;
    if (!is_entry && hlo_lower_parameters(l, body->first_arg, body->arg_count, l->capture_count))
        return l->e->code;
    if (hlo_lower_body(l, f->body) || (is_entry && hlo_lower_result_shardings(l, f)))
        return l->e->code;
    return hlo_lower_root(l, true);
}

/* ---- order of functions ---- */

struct visit {
    uint32_t func;
    mlir_op_id at;     /* the op to look at next, */
    uint32_t function; /* and which of the functions it calls */
};

/* The next function that live ops of [top->at, end) call, and the op that does; MLIR_NONE: none. */
static uint32_t next_called(struct lower *l, struct visit *top, mlir_op_id end, mlir_op_id *caller)
{
    uint32_t callee;

    for (; top->at < end; top->at++, top->function = 0) {
        while (l->s.is_op_live[top->at] &&
               hlo_mlir_called(l->m, &l->m->ops[top->at], top->function++, &callee)) {
            *caller = top->at;
            if (callee != MLIR_NONE)
                return callee;
        }
    }
    return MLIR_NONE;
}

/* Callees first, without recursion. */
static int lower_functions(struct lower *l, uint32_t entry)
{
    struct mlir_module *m = l->m;
    struct visit *stack = mem_try(m->func_count + 1, sizeof *stack);
    uint8_t *state = mem_try(m->func_count + 1, 1);
    size_t depth = 0;
    int rc = 0;

    if (!stack || !state)
        rc = hlo_lower_memory(l);
    if (!rc) {
        stack[depth++] = (struct visit){entry, m->regions[m->funcs[entry].body].first, 0};
        state[entry] = 1;
    }
    while (!rc && depth) {
        struct visit *top = &stack[depth - 1];
        mlir_op_id end = m->regions[m->funcs[top->func].body].end;
        mlir_op_id caller = 0;
        uint32_t callee = next_called(l, top, end, &caller);
        while (callee != MLIR_NONE && state[callee] == 2)
            callee = next_called(l, top, end, &caller);
        if (callee != MLIR_NONE && state[callee] == 1) {
            rc = hlo_mlir_fail(
                m, m->ops[caller].at, "@%.*s calls itself, expected no recursion",
                (int)(m->funcs[callee].name.size < 60 ? m->funcs[callee].name.size : 60),
                m->funcs[callee].name.text);
        } else if (callee != MLIR_NONE) {
            state[callee] = 1;
            stack[depth++] = (struct visit){callee, m->regions[m->funcs[callee].body].first, 0};
        } else {
            state[top->func] = 2;
            rc = lower_function(l, top->func, top->func == entry);
            depth--;
        }
    }
    free(stack);
    free(state);
    return rc;
}

/* ---- module ---- */

/* @main, or the only function that is not private. */
static int find_entry(struct mlir_module *m, uint32_t *out)
{
    uint32_t open = 0;

    *out = MLIR_NONE;
    for (uint32_t n = 0; n < m->func_count; n++) {
        const struct mlir_func *f = &m->funcs[n];
        if (f->body == MLIR_NONE)
            continue;
        if (hlo_mlir_is(f->name, "main")) {
            *out = n;
            return 0;
        }
        if (!f->is_private && !open++)
            *out = n;
    }
    if (!open)
        return hlo_mlir_fail(m, 0, "no function with a body, expected func.func public @main");
    return open == 1
               ? 0
               : hlo_mlir_fail(m, m->funcs[*out].at,
                               "%u public functions and none of them @main, expected one", open);
}

static bool same_array(const struct lower *l, const struct mlir_func *f, int64_t param,
                       int64_t result)
{
    const struct hlo_shape *a = hlo_builder_shape(l->b, l->m->slots[f->args + param].shape);
    const struct hlo_shape *b = hlo_builder_shape(l->b, l->m->slots[f->results + result].shape);

    return a->type != HLO_TUPLE && a->bare == b->bare;
}

/* `mhlo.input_output_alias = [{alias = {kind = .., parameter_index = array<i64>, parameter_number =
 * 2 : i64}, output_index = array<i64: 1>}, ..]` of the module, as TensorFlow has it. */
static void add_module_aliases(struct lower *l, const struct mlir_func *f,
                               struct hlo_alias *aliases, uint32_t *count, uint8_t *taken)
{
    struct mlir_span all, alias, s;
    int64_t result, param;
    size_t n;

    if (!hlo_mlir_attr_in(l->m->attr_pool + l->m->attrs, l->m->module_attr_count,
                          "mhlo.input_output_alias", &all))
        return;
    const char *p = memchr(all.text, '{', all.size), *end = all.text + all.size;
    for (; p && *p == '{' && *count < f->arg_count; p = lex_skip(p + (*p == ','))) {
        const char *close = hlo_mlir_group_end(p);
        if (!close || close > end)
            return;
        struct mlir_span entry = {p, (uint32_t)(close - p)};
        p = lex_skip(close);
        if (!hlo_mlir_field(entry, "alias", &alias) || !hlo_mlir_field(entry, "output_index", &s) ||
            !hlo_mlir_ints(s, &result, 1, &n) || n != 1 || result < 0 ||
            result >= f->result_count || taken[result] ||
            !hlo_mlir_field(alias, "parameter_number", &s) || !hlo_mlir_int(s, &param) ||
            param < 0 || param >= f->arg_count || !same_array(l, f, param, result))
            continue;
        taken[result] = 1;
        aliases[(*count)++] = (struct hlo_alias){(uint32_t)result, (uint32_t)param, 0, false};
    }
}

static int set_aliases(struct lower *l, const struct mlir_func *f)
{
    struct hlo_module *out = hlo_builder_module(l->b);
    struct hlo_alias *aliases = arena_get(&out->arena, f->arg_count + 1, sizeof *aliases);
    struct hlo_alias *donors = arena_get(&out->arena, f->arg_count + 1, sizeof *donors);
    uint8_t *taken = mem_try(f->result_count + 1, 1);

    if (!aliases || !donors || !taken) {
        free(taken);
        return hlo_lower_memory(l);
    }
    for (uint32_t n = 0; n < f->arg_count; n++) {
        const struct mlir_slot *slot = &l->m->slots[f->args + n];
        const struct mlir_attr *list = l->m->attr_pool + slot->attrs;
        struct mlir_span s;
        int64_t result;
        if (hlo_mlir_attr_in(list, slot->attr_count, "tf.aliasing_output", &s) &&
            hlo_mlir_int(s, &result) && result >= 0 && result < f->result_count && !taken[result] &&
            same_array(l, f, n, result)) {
            taken[result] = 1;
            aliases[out->alias_count++] = (struct hlo_alias){(uint32_t)result, n, 0, false};
        } else if (hlo_mlir_attr_in(list, slot->attr_count, "jax.buffer_donor", &s) &&
                   hlo_mlir_true(s)) {
            donors[out->donor_count++] = (struct hlo_alias){0, n, 0, false};
        }
    }
    add_module_aliases(l, f, aliases, &out->alias_count, taken);
    free(taken);
    out->aliases = aliases;
    out->donors = donors;
    return 0;
}

static void set_counts(struct lower *l)
{
    struct hlo_module *out = hlo_builder_module(l->b);
    const struct mlir_attr *list = l->m->attr_pool + l->m->attrs;
    struct mlir_span s;
    int64_t n;

    if (hlo_mlir_attr_in(list, l->m->module_attr_count, "mhlo.num_partitions", &s) &&
        hlo_mlir_int(s, &n) && n > 0)
        out->num_partitions = n;
    if (hlo_mlir_attr_in(list, l->m->module_attr_count, "mhlo.num_replicas", &s) &&
        hlo_mlir_int(s, &n) && n > 0)
        out->replica_count = n;
}

static void release_lower(struct lower *l)
{
    hlo_mlir_simplified_release(&l->s);
    hlo_mlir_names_release(&l->bases);
    free(l->made);
    free(l->made_in);
    free(l->region_comp);
    free(l->func_comp);
    free(l->seen);
    free(l->ids);
    free(l->attrs);
    free(l->captures);
    free(l->parts);
    free(l->constants);
    str_release(&l->text);
}

static int prepare_lower(struct lower *l)
{
    const struct mlir_module *m = l->m;

    l->made = mem_try(m->value_count + 1, sizeof *l->made);
    l->made_in = mem_try(m->value_count + 1, sizeof *l->made_in);
    l->seen = mem_try(m->value_count + 1, sizeof *l->seen);
    l->region_comp = mem_try(m->region_count + 1, sizeof *l->region_comp);
    l->func_comp = mem_try(m->func_count + 1, sizeof *l->func_comp);
    if (!l->made || !l->made_in || !l->seen || !l->region_comp || !l->func_comp ||
        !mem_grow(&l->ids, &l->id_room, 0, 16) || !mem_grow(&l->attrs, &l->attr_room, 0, 16) ||
        !mem_grow(&l->parts, &l->part_room, 0, 16) ||
        !mem_grow(&l->captures, &l->capture_room, 0, 16))
        return hlo_lower_memory(l);
    memset(l->made_in, 0xff, (m->value_count + 1) * sizeof *l->made_in);
    memset(l->region_comp, 0xff, (m->region_count + 1) * sizeof *l->region_comp);
    memset(l->func_comp, 0xff, (m->func_count + 1) * sizeof *l->func_comp);
    return 0;
}

/* XLA's own translation of an HLO module: an op for each instruction. */
static bool is_translated(const struct mlir_module *m)
{
    struct mlir_span s;

    return hlo_mlir_attr_in(m->attr_pool + m->attrs, m->module_attr_count,
                            "mhlo.cross_program_prefetches", &s);
}

int hlo_lower_module(struct lower *l, hlo_comp *entry)
{
    uint32_t main;
    int rc = find_entry(l->m, &main);

    l->as_is = is_translated(l->m);
    if (rc)
        goto out;
    rc = hlo_mlir_simplify(l->m, l->m->funcs[main].body, l->as_is, &l->s);
    if (rc)
        goto out;
    rc = prepare_lower(l);
    if (rc)
        goto out;
    rc = lower_functions(l, main);
    if (rc)
        goto out;
    rc = set_aliases(l, &l->m->funcs[main]);
    if (rc)
        goto out;
    *entry = l->func_comp[main];
    set_counts(l);
out:
    release_lower(l);
    return rc;
}
