/* A module as XLA prints it in its short form: no '%', no operand shapes, one instruction a line.
 */
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/meta.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "hlo/support/lex.h"
#include "hlo/text/write_text.h"

#include <string.h>

struct writer {
    const struct hlo_module *m;
    const struct hlo_write_options *o;
    struct str *out;
};

static void write_words(struct writer *w, const char *text)
{
    str_add(w->out, text);
}

static void add_text(struct writer *w, const char *text, size_t size)
{
    str_add_bytes(w->out, text, size);
}

/* XLA marks every fifth shape of a tuple. */
static void separate(struct str *out, uint32_t n)
{
    if (n)
        str_add_bytes(out, ", ", 2);
    if (n && n % 5 == 0) {
        str_add(out, "/*index=");
        str_add_int(out, n);
        str_add(out, "*/");
    }
}

/* ---- shapes ---- */

static void write_array(const struct hlo_shape *s, bool with_layout, struct str *out)
{
    str_add(out, hlo_type_info[s->type].name);
    str_add_char(out, '[');
    for (uint8_t d = 0; d < s->rank; d++) {
        if (d)
            str_add_char(out, ',');
        if (s->dims[d] == HLO_DIM_UNBOUNDED) {
            str_add_char(out, '?');
            continue;
        }
        if (s->dynamic && s->dynamic[d])
            str_add(out, "<=");
        str_add_int(out, s->dims[d]);
    }
    str_add_char(out, ']');
    if (!with_layout || !s->has_layout || (!s->minor_to_major && !*s->layout_rest))
        return;
    str_add_char(out, '{');
    for (uint8_t d = 0; s->minor_to_major && d < s->rank; d++) {
        if (d)
            str_add_char(out, ',');
        str_add_int(out, s->minor_to_major[d]);
    }
    str_add(out, s->layout_rest);
    str_add_char(out, '}');
}

void hlo_write_shape(const struct hlo_module *m, hlo_shape_id id, bool with_layout, struct str *out)
{
    const struct hlo_shape *s = &m->shapes[id];

    if (s->type != HLO_TUPLE && s->type != HLO_BUFFER) {
        write_array(s, with_layout, out);
        return;
    }
    str_add(out, s->type == HLO_BUFFER ? "b(" : "(");
    for (uint32_t n = 0; n < s->part_count; n++) {
        separate(out, n);
        hlo_write_shape(m, s->parts[n], with_layout, out);
    }
    str_add_char(out, ')');
}

/* ---- names ---- */

/* Words XLA's lexer takes for something else when no '%' stands before them. */
static bool is_reserved(const char *name)
{
    static const char *const words[] = {
        "true",
        "false",
        "inf",
        "nan",
        "HloModule",
        "ENTRY",
        "ROOT",
        "FileLocations",
        "FileNames",
        "FunctionNames",
        "StackFrames",
        "maximal",
        "replicated",
        "manual",
        "unknown",
        "unreduced",
        "last_tile_dim_replicate",
        "shard_as",
        "shard_like",
    };

    if (!strchr("tfinHERFSmrulspbco", name[0]))
        return false;
    for (size_t n = 0; n < sizeof words / sizeof *words; n++) {
        if (!strcmp(words[n], name))
            return true;
    }
    enum hlo_type type = hlo_type_by_name(name, strlen(name));
    return type != HLO_TYPE_COUNT && type != HLO_TUPLE && type != HLO_BUFFER;
}

static void add_name(struct writer *w, const char *name)
{
    if (is_reserved(name))
        str_add_char(w->out, '%');
    write_words(w, name);
}

static void add_computation(struct writer *w, hlo_comp c)
{
    add_name(w, w->m->computations[c].name);
}

/* ---- what an instruction calls ---- */

static void add_called_list(struct writer *w, const struct hlo_instruction *i)
{
    for (uint32_t n = 0; n < i->called_count; n++) {
        if (n)
            write_words(w, ", ");
        add_computation(w, w->m->called_pool[i->called + n]);
    }
}

static void add_called_pair(struct writer *w, const struct hlo_instruction *i,
                            const char *const names[2], const int order[2])
{
    for (int n = 0; n < 2; n++) {
        write_words(w, ", ");
        write_words(w, names[n]);
        str_add_char(w->out, '=');
        add_computation(w, w->m->called_pool[i->called + (uint32_t)order[n]]);
    }
}

/* Computations of these are printed in pairs; `first` and `second` as kept in called_pool. */
static const struct called_pair {
    uint16_t opcode;
    const char *names[2];
    int order[2];
} pairs[] = {
    {HLO_OP_WHILE, {"condition", "body"}, {1, 0}},
    {HLO_OP_SELECT_AND_SCATTER, {"select", "scatter"}, {0, 1}},
    {HLO_OP_CONDITIONAL, {"true_computation", "false_computation"}, {0, 1}},
};

static bool has_pair(const struct writer *w, const struct hlo_instruction *i,
                     const struct called_pair *p)
{
    if (p->opcode != i->opcode || i->called_count != 2)
        return false;
    return i->opcode != HLO_OP_CONDITIONAL ||
           (i->operand_count && hlo_shape(w->m, w->m->operand_pool[i->operands])->type == HLO_PRED);
}

static bool is_fused(uint16_t opcode)
{
    return opcode == HLO_OP_FUSION || opcode == HLO_OP_ASYNC_START ||
           opcode == HLO_OP_ASYNC_UPDATE || opcode == HLO_OP_ASYNC_DONE;
}

static void add_called(struct writer *w, const struct hlo_instruction *i)
{
    if (!i->called_count)
        return;
    for (size_t n = 0; n < sizeof pairs / sizeof *pairs; n++) {
        if (has_pair(w, i, &pairs[n])) {
            add_called_pair(w, i, pairs[n].names, pairs[n].order);
            return;
        }
    }
    bool is_list =
        i->opcode == HLO_OP_CONDITIONAL || i->opcode == HLO_OP_CUSTOM_CALL || i->called_count > 1;
    write_words(w, i->opcode == HLO_OP_CONDITIONAL ? ", branch_computations="
                   : is_list                       ? ", called_computations="
                   : is_fused(i->opcode)           ? ", calls="
                                                   : ", to_apply=");
    if (is_list)
        str_add_char(w->out, '{');
    add_called_list(w, i);
    if (is_list)
        str_add_char(w->out, '}');
}

/* ---- attributes ---- */

/* A value as it stood. A line in it that begins like a module would end this one when read again:
 * it is joined to the line before. */
static void add_value(struct writer *w, const char *text, size_t size)
{
    static const char module[] = "HloModule";
    const char *end = text + size;

    for (const char *line; (line = memchr(text, '\n', (size_t)(end - text)));) {
        const char *word = line + 1;
        while (word < end && (*word == ' ' || *word == '\t' || *word == '\r' || *word == '\n'))
            word++;
        bool joins =
            (size_t)(end - word) >= sizeof module - 1 && !memcmp(word, module, sizeof module - 1);
        add_text(w, text, (size_t)(line - text));
        write_words(w, joins ? " " : "\n");
        text = joins ? word : line + 1;
    }
    add_text(w, text, (size_t)(end - text));
}

static void add_attr(struct writer *w, const struct hlo_attr *a)
{
    write_words(w, ", ");
    if (a->key < HLO_ATTR_UNKNOWN) {
        write_words(w, hlo_attr_info[a->key].name);
        str_add_char(w->out, '=');
    }
    add_value(w, a->text, a->size);
}

/* As it was read, or what is known where it was not read as HLO. */
static void add_metadata(struct writer *w, hlo_id id, const struct hlo_attr *a)
{
    if (a) {
        add_attr(w, a);
        return;
    }
    const struct hlo_meta *meta = hlo_meta(w->m, id);
    if (hlo_meta_is_known(meta)) {
        write_words(w, ", metadata=");
        hlo_meta_write(meta, w->out);
    }
}

static void add_controls(struct writer *w, hlo_id id)
{
    uint32_t count = hlo_at(w->m, id)->control_count;

    if (!count)
        return;
    write_words(w, ", control-predecessors={");
    for (uint32_t n = 0; n < count; n++) {
        if (n)
            write_words(w, ", ");
        add_name(w, hlo_name(w->m, hlo_control(w->m, id, n)));
    }
    str_add_char(w->out, '}');
}

static void add_sharding(struct writer *w, hlo_id id)
{
    const char *text = w->o->sharding(w->o->context, id);

    if (text) {
        write_words(w, ", sharding=");
        write_words(w, text);
    }
}

/* XLA prints the dims of collectives late: before the attribute of this key. 0: in key order. */
static uint16_t dims_before(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_ALL_GATHER:
    case HLO_OP_ALL_GATHER_START:
        return HLO_ATTR_USE_GLOBAL_DEVICE_IDS;
    case HLO_OP_ALL_TO_ALL:
    case HLO_OP_REDUCE_SCATTER:
        return HLO_ATTR_SHARDING;
    default:
        return 0;
    }
}

/* The attributes before the computations; returns how many. `*after` is the one behind them. */
static uint32_t add_own_attrs(struct writer *w, const struct hlo_instruction *i,
                              const struct hlo_attr **after)
{
    const struct hlo_attr *attrs = w->m->attr_pool + i->attrs, *late = NULL;
    uint16_t late_key = dims_before(i->opcode);
    uint32_t n = 0;

    for (; n < i->attr_count && attrs[n].key < HLO_ATTR_SHARDING; n++) {
        if (late && attrs[n].key >= late_key) {
            add_attr(w, late);
            late = NULL;
        }
        if (attrs[n].key == HLO_ATTR_IS_COMPOSITE)
            *after = &attrs[n];
        else if (attrs[n].key == HLO_ATTR_DIMENSIONS && late_key)
            late = &attrs[n];
        else
            add_attr(w, &attrs[n]);
    }
    if (late)
        add_attr(w, late);
    return n;
}

/* Op-specific attributes, computations, sharding, frontend attributes, control predecessors, then
 * what every instruction may have: XLA's order. */
static void add_attrs(struct writer *w, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(w->m, id);
    const struct hlo_attr *attrs = w->m->attr_pool + i->attrs, *composite = NULL;

    if (i->opcode == HLO_OP_GET_TUPLE_ELEMENT) {
        write_words(w, ", index=");
        str_add_int(w->out, i->number);
    }
    uint32_t n = add_own_attrs(w, i, &composite);
    add_called(w, i);
    if (composite)
        add_attr(w, composite);
    if (w->o->sharding)
        add_sharding(w, id);
    for (; n < i->attr_count && attrs[n].key <= HLO_ATTR_FRONTEND_ATTRIBUTES; n++) {
        if (attrs[n].key != HLO_ATTR_SHARDING || !w->o->sharding)
            add_attr(w, &attrs[n]);
    }
    add_controls(w, id);
    for (; n < i->attr_count && attrs[n].key < HLO_ATTR_METADATA; n++)
        add_attr(w, &attrs[n]);
    bool has = n < i->attr_count && attrs[n].key == HLO_ATTR_METADATA;
    if (!w->o->no_metadata)
        add_metadata(w, id, has ? &attrs[n] : NULL);
    for (n += has; n < i->attr_count; n++)
        add_attr(w, &attrs[n]);
}

/* ---- instructions ---- */

enum { SPLAT_ELEMENTS_MAX = 1 << 16 };

static void add_splat(struct writer *w, const struct hlo_shape *s, const struct hlo_text *value,
                      uint8_t dim)
{
    if (dim == s->rank) {
        add_text(w, value->text, value->size);
        return;
    }
    write_words(w, "{ ");
    for (int64_t n = 0; n < s->dims[dim]; n++) {
        if (n)
            write_words(w, ", ");
        add_splat(w, s, value, (uint8_t)(dim + 1));
    }
    write_words(w, " }");
}

/* One value for all elements is spelt out while it is short: XLA before 2026 does not read it. */
static void add_literal(struct writer *w, hlo_id id)
{
    const struct hlo_shape *s = hlo_shape(w->m, id);
    const struct hlo_text *t = &w->m->literals[hlo_at(w->m, id)->literal];

    if (s->type != HLO_TUPLE && s->rank && t->text[0] != '{' && s->elements > 0 &&
        s->elements <= SPLAT_ELEMENTS_MAX)
        add_splat(w, s, t, 0);
    else
        add_text(w, t->text, t->size);
}

static void add_operands(struct writer *w, hlo_id id)
{
    const struct hlo_module *m = w->m;
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode == HLO_OP_PARAMETER) {
        str_add_int(w->out, i->number);
    } else if (i->opcode == HLO_OP_CONSTANT) {
        add_literal(w, id);
    } else {
        for (uint32_t n = 0; n < i->operand_count; n++) {
            if (n)
                write_words(w, ", ");
            const char *other = w->o->operand ? w->o->operand(w->o->context, id, n) : NULL;
            add_name(w, other ? other : hlo_name(m, m->operand_pool[i->operands + n]));
        }
    }
}

static void add_instruction(struct writer *w, hlo_id id)
{
    const struct hlo_module *m = w->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    const char *before = w->o->before ? w->o->before(w->o->context, id) : NULL;

    if (before)
        write_words(w, before);
    write_words(w, i->is_root ? "  ROOT " : "  ");
    add_name(w, hlo_name(m, id));
    write_words(w, " = ");
    hlo_write_shape(m, i->shape, true, w->out);
    str_add_char(w->out, ' ');
    if (i->opcode == HLO_OP_UNKNOWN)
        add_text(w, m->literals[i->literal].text, m->literals[i->literal].size);
    else
        write_words(w, hlo_op_info[i->opcode].name);
    str_add_char(w->out, '(');
    add_operands(w, id);
    str_add_char(w->out, ')');
    add_attrs(w, id);
    str_add_char(w->out, '\n');
}

static void add_body(struct writer *w, hlo_comp c)
{
    const struct hlo_computation *comp = &w->m->computations[c];

    write_words(w, c == w->m->entry ? "\nENTRY " : "\n");
    add_name(w, comp->name);
    write_words(w, " {\n");
    for (uint32_t n = 0; n < comp->count; n++)
        add_instruction(w, comp->first + n);
    str_add_char(w->out, '}');
    if (comp->thread) {
        write_words(w, ", execution_thread=\"");
        write_words(w, comp->thread);
        str_add_char(w->out, '"');
    }
    str_add_char(w->out, '\n');
}

/* ---- header ---- */

/* `{1,0}`: where leaf `leaf` stands in the tuple `id`; `{}` for an array. */
static void add_index(struct writer *w, hlo_shape_id id, uint32_t leaf)
{
    const struct hlo_module *m = w->m;
    bool first = true;

    str_add_char(w->out, '{');
    while (m->shapes[id].type == HLO_TUPLE) {
        const struct hlo_shape *s = &m->shapes[id];
        uint32_t n = 0;
        while (n + 1 < s->part_count && leaf >= m->shapes[s->parts[n]].leaf_count)
            leaf -= m->shapes[s->parts[n++]].leaf_count;
        if (!s->part_count)
            break;
        write_words(w, first ? "" : ", ");
        str_add_int(w->out, n);
        id = s->parts[n];
        first = false;
    }
    str_add_char(w->out, '}');
}

static void add_aliases(struct writer *w, const struct hlo_alias *list, uint32_t count,
                        bool is_donor)
{
    const struct hlo_module *m = w->m;
    const struct hlo_computation *entry = &m->computations[m->entry];

    if (!count)
        return;
    write_words(w, is_donor ? ", buffer_donor={ " : ", input_output_alias={ ");
    for (uint32_t n = 0; n < count; n++) {
        const struct hlo_alias *a = &list[n];
        write_words(w, n ? ", " : "");
        if (!is_donor) {
            add_index(w, hlo_at(m, entry->root)->shape, a->out);
            write_words(w, ": ");
        }
        str_add_char(w->out, '(');
        str_add_int(w->out, a->param);
        write_words(w, ", ");
        add_index(w, hlo_at(m, entry->params[a->param])->shape, a->param_leaf);
        write_words(w, is_donor ? ")" : a->must ? ", must-alias)" : ", may-alias)");
    }
    write_words(w, " }");
}

/* Header attributes kept as text, in XLA's order; what is not here comes last. */
static const char *const header_order[] = {
    "alias_passthrough_params",
    "entry_computation_layout",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    NULL, /* replica_count, num_partitions */
    "frontend_attributes",
    "origin_recovery_table",
    "debug_attributes",
};
enum { HEADER_ORDER = sizeof header_order / sizeof *header_order };

static size_t header_rank(const struct hlo_text *t)
{
    size_t n = 0;

    while (n < HEADER_ORDER && !(header_order[n] && hlo_lex_is_word(t->text, header_order[n])))
        n++;
    return n;
}

static void add_count(struct writer *w, const char *name, int64_t count)
{
    if (count != 1) {
        write_words(w, name);
        str_add_int(w->out, count);
    }
}

/* Protos may call a module anything; XLA's lexer ends a name at a blank or a comma. */
static void add_module_name(struct writer *w)
{
    for (const char *c = w->m->name; *c; c++)
        str_add_char(w->out, lex_is(*c, LEX_NAME) ? *c : '_');
}

static void add_header(struct writer *w)
{
    const struct hlo_module *m = w->m;

    write_words(w, "HloModule ");
    add_module_name(w);
    write_words(w, m->is_scheduled ? ", is_scheduled=true" : "");
    add_aliases(w, m->aliases, m->alias_count, false);
    add_aliases(w, m->donors, m->donor_count, true);
    for (size_t rank = 0; rank <= HEADER_ORDER; rank++) {
        if (rank < HEADER_ORDER && !header_order[rank]) {
            add_count(w, ", replica_count=", m->replica_count);
            add_count(w, ", num_partitions=", m->num_partitions);
        }
        for (uint32_t n = 0; n < m->header_count; n++) {
            if (header_rank(&m->header[n]) == rank) {
                write_words(w, ", ");
                add_text(w, m->header[n].text, m->header[n].size);
            }
        }
    }
    write_words(w, "\n");
    if (m->tables.size && !w->o->no_metadata) {
        write_words(w, "\n");
        add_text(w, m->tables.text, m->tables.size);
        write_words(w, "\n\n");
    }
}

int hlo_write_text(const struct hlo_module *m, const struct hlo_write_options *o, struct str *out,
                   struct err *e)
{
    static const struct hlo_write_options plain;
    struct writer w = {m, o ? o : &plain, out};

    add_header(&w);
    for (hlo_comp c = 0; c < m->computation_count; c++)
        add_body(&w, c);
    write_words(&w, "\n");
    return out->failed ? err_no_memory(e, "to write the module") : 0;
}
