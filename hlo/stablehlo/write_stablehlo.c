/* Module, functions, regions; values and their shardings. */
#include "hlo/stablehlo/write_stablehlo.h"

#include "hlo/module/attr.h"
#include "hlo/module/meta.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/stablehlo/write_internal.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

int hlo_mlir_write_fail(struct mlir_writer *w, hlo_id id, const char *what)
{
    return err_set(w->e, ERR_INPUT, "%.100s (%s): %s, expected what StableHLO can say",
                   hlo_name(w->m, id), hlo_op_info[hlo_at(w->m, id)->opcode].name, what);
}

/* ---- types ---- */

static const char *element_name(uint8_t type)
{
    static const char *const names[HLO_TYPE_COUNT] = {
        [HLO_PRED] = "i1",
        [HLO_S2] = "i2",
        [HLO_S4] = "i4",
        [HLO_S8] = "i8",
        [HLO_S16] = "i16",
        [HLO_S32] = "i32",
        [HLO_S64] = "i64",
        [HLO_U2] = "ui2",
        [HLO_U4] = "ui4",
        [HLO_U8] = "ui8",
        [HLO_U16] = "ui16",
        [HLO_U32] = "ui32",
        [HLO_U64] = "ui64",
        [HLO_F16] = "f16",
        [HLO_BF16] = "bf16",
        [HLO_F32] = "f32",
        [HLO_F64] = "f64",
        [HLO_C64] = "complex<f32>",
        [HLO_C128] = "complex<f64>",
        [HLO_F8E5M2] = "f8E5M2",
        [HLO_F8E4M3] = "f8E4M3",
        [HLO_F8E4M3FN] = "f8E4M3FN",
        [HLO_F8E3M4] = "f8E3M4",
        [HLO_F8E4M3B11FNUZ] = "f8E4M3B11FNUZ",
        [HLO_F8E5M2FNUZ] = "f8E5M2FNUZ",
        [HLO_F8E4M3FNUZ] = "f8E4M3FNUZ",
        [HLO_F8E8M0FNU] = "f8E8M0FNU",
        [HLO_F4E2M1FN] = "f4E2M1FN",
    };

    return names[type] ? names[type] : "f32";
}

void hlo_mlir_write_type(struct mlir_writer *w, const struct hlo_shape *s)
{
    if (s->type == HLO_TOKEN) {
        str_add(w->out, "!stablehlo.token");
        return;
    }
    str_add(w->out, "tensor<");
    for (uint8_t n = 0; n < s->rank; n++) {
        str_add_int(w->out, s->dims[n]);
        str_add_char(w->out, 'x');
    }
    str_add(w->out, element_name(s->type));
    str_add_char(w->out, '>');
}

void hlo_mlir_write_indent(struct mlir_writer *w)
{
    for (int n = 0; n < w->depth && n < 40; n++)
        str_add(w->out, "  ");
}

static uint32_t leaf_count(const struct mlir_writer *w, hlo_id id)
{
    return w->m->leaf_base[id + 1] - w->m->leaf_base[id];
}

/* Types of the leaves, with commas. */
static void write_leaf_types(struct mlir_writer *w, hlo_id id)
{
    for (uint32_t n = 0; n < leaf_count(w, id); n++) {
        str_add(w->out, n ? ", " : "");
        hlo_mlir_write_type(w, hlo_value_shape(w->m, w->m->leaf_base[id] + n));
    }
}

/* ` loc(#loc5)`: what that is stands at the end of the text. */
static void write_location(struct mlir_writer *w, hlo_id id)
{
    uint32_t meta = hlo_at(w->m, id)->meta;

    if (w->o->no_locations || !hlo_meta_is_known(&w->m->metas[meta]))
        return;
    if (!w->place_of[meta]) {
        w->places[w->place_count] = meta;
        w->place_of[meta] = ++w->place_count;
    }
    str_format(w->out, " loc(#loc%u)", w->place_of[meta]);
}

/* `#loc5 = loc("jit(f)/mul"("f.py":3:0))`; without a name `loc("f.py":3:0)`. */
static void write_places(struct mlir_writer *w)
{
    for (uint32_t k = 0; k < w->place_count; k++) {
        const struct hlo_meta *meta = &w->m->metas[w->places[k]];
        const char *name = *meta->op_name ? meta->op_name : meta->op_type;
        str_format(w->out, "#loc%u = loc(", k + 1);
        if (*name)
            str_add_quoted(w->out, name);
        if (*meta->source_file) {
            str_add(w->out, *name ? "(" : "");
            str_add_quoted(w->out, meta->source_file);
            str_format(w->out, ":%u:0%s", meta->source_line, *name ? ")" : "");
        }
        str_add(w->out, ")\n");
    }
}

void hlo_mlir_write_signature(struct mlir_writer *w, hlo_id id, uint32_t operands)
{
    bool is_first = true;

    str_add(w->out, " : (");
    for (uint32_t n = 0; n < operands; n++) {
        hlo_id from = hlo_operand(w->m, id, n);
        if (!leaf_count(w, from))
            continue;
        str_add(w->out, is_first ? "" : ", ");
        is_first = false;
        write_leaf_types(w, from);
    }
    str_add(w->out, ") -> (");
    write_leaf_types(w, id);
    str_add_char(w->out, ')');
    write_location(w, id);
    str_add_char(w->out, '\n');
}

/* ---- values ---- */

/* Several results have numbers of their own: `%5, %6 = `. */
void hlo_mlir_write_results(struct mlir_writer *w, hlo_id id)
{
    uint32_t count = leaf_count(w, id);

    for (uint32_t n = 0; n < count; n++) {
        w->ids[w->m->leaf_base[id] + n] = w->next;
        str_format(w->out, "%s%%%u", n ? ", " : "", w->next++);
    }
    str_add(w->out, count ? " = " : "");
}

/* Leaf `n` of a sharding: itself, or an item of `{{..}, {..}}`, whose metadata may hold braces. */
static struct hlo_text leaf_sharding(const struct hlo_attr *a, uint32_t n)
{
    const char *p = a->text + 1, *end = a->text + a->size;

    if (a->size < 2 || *p != '{')
        return (struct hlo_text){a->text, a->size};
    while (p < end && *p == '{') {
        const char *close = hlo_lex_group_end(p);
        if (!close || close > end)
            break;
        if (!n--)
            return (struct hlo_text){p, (uint32_t)(close - p)};
        p = lex_skip(close + (*close == ','));
    }
    return (struct hlo_text){"", 0};
}

/* `<@mesh, [{"x"}, {}]>` of leaf `n` of `id`, or nothing and false. */
static bool write_sharding(struct mlir_writer *w, hlo_id id, uint32_t n, bool is_second)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_SHARDING);
    const struct hlo_shape *s = hlo_value_shape(w->m, w->m->leaf_base[id] + n);

    if (!w->o->mesh || !a || !hlo_type_info[s->type].bits)
        return false;
    struct hlo_text t = leaf_sharding(a, n);
    size_t size = w->out->size;
    str_add(w->out, "#sdy.sharding<@mesh, ");
    if (t.size && w->o->dims(w->o->context, t.text, t.size, s->rank, w->out)) {
        if (w->o->unreduced)
            w->o->unreduced(w->o->context, hlo_name(w->m, id), is_second, w->out);
        str_add_char(w->out, '>');
        return true;
    }
    w->out->size = size;
    if (w->out->text)
        w->out->text[size] = '\0';
    return false;
}

void hlo_mlir_write_users_sharding(struct mlir_writer *w, hlo_id id, uint32_t leaf,
                                   const char *before)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_SHARDING);

    if (w->o->mesh || !a)
        return;
    struct hlo_text t =
        leaf == HLO_NONE ? (struct hlo_text){a->text, a->size} : leaf_sharding(a, leaf);
    if (!t.size)
        return;
    str_format(w->out, "%smhlo.sharding = ", before);
    hlo_mlir_write_string(w, t.text, t.size);
}

/* A constraint behind leaf `n` of `id`, which its uses read from then on. */
static void constrain_leaf(struct mlir_writer *w, hlo_id id, uint32_t n, bool is_second)
{
    hlo_value v = w->m->leaf_base[id] + n;
    size_t size = w->out->size;

    hlo_mlir_write_indent(w);
    str_format(w->out, "%%%u = \"sdy.sharding_constraint\"(%%%u) <{sharding = ", w->next,
               w->ids[v]);
    if (!write_sharding(w, id, n, is_second)) {
        w->out->size = size;
        return;
    }
    str_add(w->out, "}> : (");
    hlo_mlir_write_type(w, hlo_value_shape(w->m, v));
    str_add(w->out, ") -> ");
    hlo_mlir_write_type(w, hlo_value_shape(w->m, v));
    str_add_char(w->out, '\n');
    w->ids[v] = w->next++;
}

static void constrain(struct mlir_writer *w, hlo_id id)
{
    if (!w->o->mesh || !hlo_attr(w->m, id, HLO_ATTR_SHARDING))
        return;
    bool twice = w->o->is_combined && w->o->is_combined(w->o->context, hlo_name(w->m, id));
    for (uint32_t n = 0; n < leaf_count(w, id); n++) {
        constrain_leaf(w, id, n, false);
        if (twice)
            constrain_leaf(w, id, n, true);
    }
}

static void pass_leaves(struct mlir_writer *w, hlo_id from, uint32_t skip, hlo_id to)
{
    for (uint32_t n = 0; n < leaf_count(w, to); n++)
        w->ids[w->m->leaf_base[to] + n] = w->ids[w->m->leaf_base[from] + skip + n];
}

/* Barriers that only hold a sharding fast are constraints. */
static bool is_held_barrier(const struct mlir_writer *w, hlo_id id)
{
    const char *name = hlo_name(w->m, id);

    return hlo_at(w->m, id)->opcode == HLO_OP_OPT_BARRIER && w->o->mesh &&
           hlo_attr(w->m, id, HLO_ATTR_SHARDING) &&
           (strstr(name, ".carried") || strstr(name, ".operand"));
}

/* A constraint in the input; a plan has its own. */
static bool is_users_constraint(const struct mlir_writer *w, hlo_id id)
{
    return w->o->mesh && leaf_count(w, id) == 1 &&
           (hlo_attr_is(w->m, id, HLO_ATTR_CUSTOM_CALL_TARGET, "Sharding") ||
            hlo_attr_is(w->m, id, HLO_ATTR_CUSTOM_CALL_TARGET, "xla.sdy.FuncResultSharding"));
}

/* Tuples, their elements and copies are other values. */
static bool write_flow(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(w->m, id);
    uint32_t skip = 0;

    switch (i->opcode) {
    case HLO_OP_TUPLE:
        for (uint32_t n = 0; n < i->operand_count; n++) {
            hlo_id from = hlo_operand(w->m, id, n);
            for (uint32_t k = 0; k < leaf_count(w, from); k++)
                w->ids[w->m->leaf_base[id] + skip++] = w->ids[w->m->leaf_base[from] + k];
        }
        return true;
    case HLO_OP_GET_TUPLE_ELEMENT: {
        uint32_t count;
        hlo_id from = hlo_operand(w->m, id, 0);
        skip = hlo_part_values(w->m, from, i->number, &count) - w->m->leaf_base[from];
        pass_leaves(w, from, skip, id);
        constrain(w, id);
        return true;
    }
    case HLO_OP_OPT_BARRIER:
        if (!is_held_barrier(w, id))
            return false;
        /* fall through */
    case HLO_OP_CUSTOM_CALL:
        if (i->opcode == HLO_OP_CUSTOM_CALL && !is_users_constraint(w, id))
            return false;
        /* fall through */
    case HLO_OP_COPY:
        pass_leaves(w, hlo_operand(w->m, id, 0), 0, id);
        constrain(w, id);
        return true;
    default:
        return false;
    }
}

/* ---- bodies ---- */

static void write_return(struct mlir_writer *w, hlo_id root, const char *end)
{
    hlo_mlir_write_indent(w);
    str_format(w->out, "\"%s\"(", end);
    for (uint32_t n = 0; n < leaf_count(w, root); n++)
        str_format(w->out, "%s%%%u", n ? ", " : "", w->ids[w->m->leaf_base[root] + n]);
    str_add(w->out, ") : (");
    write_leaf_types(w, root);
    str_add(w->out, ") -> ()\n");
}

static bool is_free(uint16_t opcode)
{
    return opcode == HLO_OP_CONSTANT || opcode == HLO_OP_IOTA;
}

int hlo_mlir_write_body(struct mlir_writer *w, hlo_comp c, const char *end)
{
    const struct hlo_computation *comp = &w->m->computations[c];

    if (w->depth > 200)
        return err_set(w->e, ERR_LIMIT, "computations nested deeper than 200");
    for (hlo_id id = comp->first; id < comp->first + comp->count; id++) {
        uint16_t opcode = hlo_at(w->m, id)->opcode;
        if (opcode == HLO_OP_PARAMETER || write_flow(w, id))
            continue;
        if (hlo_mlir_write_op(w, id))
            return w->e->code;
        if (!is_free(opcode))
            constrain(w, id);
    }
    write_return(w, comp->root, end);
    return 0;
}

/* SSA values for all leaves of the parameters, as `%3: tensor<f32>, ..`. */
static void write_arguments(struct mlir_writer *w, hlo_comp c)
{
    const struct hlo_computation *comp = &w->m->computations[c];
    bool is_first = true;

    for (uint32_t p = 0; p < comp->param_count; p++) {
        hlo_id id = comp->params[p];
        for (uint32_t n = 0; n < leaf_count(w, id); n++) {
            w->ids[w->m->leaf_base[id] + n] = w->next;
            str_format(w->out, "%s%%%u: ", is_first ? "" : ", ", w->next++);
            hlo_mlir_write_type(w, hlo_value_shape(w->m, w->m->leaf_base[id] + n));
            write_location(w, id);
            is_first = false;
        }
    }
}

int hlo_mlir_write_region(struct mlir_writer *w, hlo_comp c)
{
    str_add(w->out, "{\n");
    hlo_mlir_write_indent(w);
    str_add(w->out, "^bb0(");
    write_arguments(w, c);
    str_add(w->out, "):\n");
    w->depth++;
    if (hlo_mlir_write_body(w, c, "stablehlo.return"))
        return w->e->code;
    w->depth--;
    hlo_mlir_write_indent(w);
    str_add_char(w->out, '}');
    return 0;
}

/* ---- functions ---- */

static void write_types(struct mlir_writer *w, hlo_comp c)
{
    const struct hlo_computation *comp = &w->m->computations[c];
    bool is_first = true;

    str_add_char(w->out, '(');
    for (uint32_t p = 0; p < comp->param_count; p++) {
        if (!leaf_count(w, comp->params[p]))
            continue;
        str_add(w->out, is_first ? "" : ", ");
        write_leaf_types(w, comp->params[p]);
        is_first = false;
    }
    str_add(w->out, ") -> (");
    write_leaf_types(w, comp->root);
    str_add_char(w->out, ')');
}

/* What is donated, and how it is split. */
static void write_entry_attrs(struct mlir_writer *w)
{
    const struct hlo_module *m = w->m;
    const struct hlo_computation *comp = &m->computations[m->entry];
    bool is_first = true;

    str_add(w->out, "arg_attrs = [");
    for (uint32_t p = 0; p < comp->param_count; p++) {
        for (uint32_t n = 0; n < leaf_count(w, comp->params[p]); n++) {
            str_add(w->out, is_first ? "{" : ", {");
            is_first = false;
            bool has = false;
            for (uint32_t k = 0; k < m->alias_count; k++) {
                if (m->aliases[k].param == p && m->aliases[k].param_leaf == n) {
                    str_format(w->out, "tf.aliasing_output = %u : i32", m->aliases[k].out);
                    has = true;
                    break;
                }
            }
            hlo_mlir_write_users_sharding(w, comp->params[p], n, has ? ", " : "");
            size_t size = w->out->size;
            str_add(w->out, has ? ", sdy.sharding = " : "sdy.sharding = ");
            if (!write_sharding(w, comp->params[p], n, false)) {
                w->out->size = size;
                w->out->text[size] = '\0';
            }
            str_add_char(w->out, '}');
        }
    }
    str_add(w->out, "], res_attrs = [");
    for (uint32_t n = 0; n < leaf_count(w, comp->root); n++) {
        str_add(w->out, n ? ", {" : "{");
        size_t size = w->out->size;
        str_add(w->out, "sdy.sharding = ");
        if (!write_sharding(w, comp->root, n, false)) {
            w->out->size = size;
            w->out->text[size] = '\0';
        }
        str_add_char(w->out, '}');
    }
    str_add(w->out, "], ");
}

static int write_function(struct mlir_writer *w, hlo_comp c)
{
    bool is_entry = c == w->m->entry;

    w->next = 0;
    w->depth = 1;
    str_add(w->out, "  \"func.func\"() <{");
    if (is_entry)
        write_entry_attrs(w);
    str_add(w->out, "function_type = ");
    write_types(w, c);
    str_format(w->out, ", sym_name = \"%s\", sym_visibility = \"%s\"}> ({\n  ^bb0(",
               is_entry ? "main" : w->m->computations[c].name, is_entry ? "public" : "private");
    write_arguments(w, c);
    str_add(w->out, "):\n");
    w->depth = 2;
    if (hlo_mlir_write_body(w, c, "func.return"))
        return w->e->code;
    str_add(w->out, "  }) : () -> ()\n");
    return 0;
}

static int write_module(struct mlir_writer *w)
{
    const struct hlo_module *m = w->m;

    str_add(w->out, "\"builtin.module\"() <{sym_name = \"");
    for (const char *p = m->name; *p; p++)
        str_add_char(w->out, lex_is(*p, LEX_NAME) ? *p : '_');
    str_add(w->out, "\"}> ({\n");
    if (w->o->mesh)
        str_format(w->out,
                   "  \"sdy.mesh\"() <{mesh = #sdy.mesh%s, sym_name = \"mesh\"}> : () -> ()\n",
                   w->o->mesh);
    for (hlo_comp c = 0; c < m->computation_count; c++) {
        if (w->is_func[c] && write_function(w, c))
            return w->e->code;
    }
    str_format(w->out,
               "}) {mhlo.num_partitions = %lld : i32, mhlo.num_replicas = 1 : i32} : () -> ()\n",
               (long long)m->num_partitions);
    write_places(w);
    return 0;
}

/* The first row of each opcode that is written as it stands. */
static void fill_rows(struct mlir_writer *w)
{
    for (int op = 0; op < HLO_OP_COUNT; op++)
        w->row_of[op] = MLIR_OP_UNKNOWN;
    for (int row = MLIR_OP_UNKNOWN; row-- > 0;) {
        const struct mlir_op_info *info = &hlo_mlir_op_info[row];
        bool is_plain = info->rule == MLIR_RULE_PLAIN || info->rule == MLIR_RULE_APPLY ||
                        info->rule == MLIR_RULE_SPREAD || info->rule == MLIR_RULE_FUNCTION;
        if (is_plain && row != MLIR_OP_BITCAST)
            w->row_of[info->opcode] = (uint16_t)row;
    }
}

int hlo_write_stablehlo(const struct hlo_module *m, const struct stablehlo_write_options *o,
                        struct str *out, struct err *e)
{
    static const struct stablehlo_write_options without_plan = {.mesh = NULL};
    struct mlir_writer w = {.m = m, .o = o ? o : &without_plan, .out = out, .e = e};
    int rc = 0;

    w.ids = mem_try((size_t)m->value_count + 1, sizeof *w.ids);
    w.is_func = mem_try((size_t)m->computation_count + 1, sizeof *w.is_func);
    w.place_of = mem_try((size_t)m->meta_count + 1, sizeof *w.place_of);
    w.places = mem_try((size_t)m->meta_count + 1, sizeof *w.places);
    if (!w.ids || !w.is_func || !w.place_of || !w.places) {
        rc = err_set(e, ERR_MEMORY, "not enough memory to write the module");
        goto out;
    }
    fill_rows(&w);
    w.is_func[m->entry] = true;
    for (hlo_id id = 0; id < m->count; id++) {
        uint16_t opcode = hlo_at(m, id)->opcode;
        for (uint32_t n = 0; (opcode == HLO_OP_CALL || opcode == HLO_OP_CUSTOM_CALL) &&
                             n < hlo_at(m, id)->called_count;
             n++)
            w.is_func[hlo_called(m, id, n)] = true;
    }
    rc = write_module(&w);
    if (rc)
        goto out;
    if (out->failed)
        rc = err_set(e, ERR_MEMORY, "not enough memory to write the module");
out:
    free(w.ids);
    free(w.is_func);
    free(w.place_of);
    free(w.places);
    return rc;
}
