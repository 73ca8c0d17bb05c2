/* `[ROOT] [%]name = [shape] opcode(operands), attributes` */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/text/parse.h"

#include <string.h>

static int parse_operand(struct parser *p, hlo_id *out);

/* ---- operands ---- */

static int push_id(struct parser *p, hlo_id id)
{
    if (!mem_grow(&p->ids, &p->id_room, p->id_count, 1))
        return hlo_parse_memory(p);
    p->ids[p->id_count++] = id;
    return 0;
}

static uint32_t element_slot(const struct parse_elements *e, hlo_id from, uint32_t index)
{
    uint64_t key = ((uint64_t)from << 32 | index) * 0x9e3779b97f4a7c15u;
    uint32_t mask = (uint32_t)e->room - 1, slot = (uint32_t)(key >> 32) & mask;

    while (e->slots[slot].used && (e->slots[slot].from != from || e->slots[slot].index != index))
        slot = (slot + 1) & mask;
    return slot;
}

static bool elements_grow(struct parse_elements *e)
{
    struct parse_elements grown = {.room = e->room ? e->room * 2 : 64, .count = e->count};

    grown.slots = mem_try(grown.room, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < e->room; i++) {
        struct parse_element *old = &e->slots[i];
        if (old->used)
            grown.slots[element_slot(&grown, old->from, old->index)] = *old;
    }
    free(e->slots);
    *e = grown;
    return true;
}

/* `#n` behind a name: the get-tuple-element it stands for, made at first use. */
static int parse_element(struct parser *p, hlo_id *id)
{
    int64_t index;
    const char *at = p->at, *end = hlo_lex_int(p->at + 1, &index);
    const struct hlo_shape *s = hlo_builder_shape(p->b, hlo_builder_at(p->b, *id)->shape);

    if (s->type != HLO_TUPLE)
        return hlo_parse_fail(p, at,
                              "element of an operand that is not a tuple, expected a name alone");
    if (!end || index < 0 || index >= s->part_count)
        return hlo_parse_fail(p, at, "\"%.*s\" names no element, expected # and a number below %u",
                              PARSE_WORD(at), s->part_count);
    p->at = end;
    if (p->elements.count * 2 >= p->elements.room && !elements_grow(&p->elements))
        return hlo_parse_memory(p);
    struct parse_element *e = &p->elements.slots[element_slot(&p->elements, *id, (uint32_t)index)];
    if (!e->used) {
        struct hlo_draft d = {
            .computation = p->computation,
            .opcode = HLO_OP_GET_TUPLE_ELEMENT,
            .name = "get-tuple-element",
            .name_size = 17,
            .is_synthetic = true,
            .shape = s->parts[index],
            .operands = id,
            .operand_count = 1,
            .number = (uint32_t)index,
            .at = (size_t)(at - p->input),
        };
        *e = (struct parse_element){.from = *id, .index = (uint32_t)index, .used = true};
        if (hlo_parse_build(p, &d, true, &e->id))
            return p->e->code;
        p->elements.count++;
    }
    *id = e->id;
    return 0;
}

/* An operand of a single instruction that nothing defines, or that has no name at all: a parameter.
 */
static int make_parameter(struct parser *p, const char *name, size_t size, hlo_shape_id shape,
                          hlo_id *out)
{
    struct hlo_draft d = {
        .computation = p->computation,
        .opcode = HLO_OP_PARAMETER,
        .name = size ? name : NULL,
        .name_size = (uint32_t)size,
        .shape = shape,
        .number = p->parameters++,
        .at = (size_t)(name - p->input),
    };

    return hlo_parse_build(p, &d, !size, out);
}

static int wait_for(struct parser *p, const char *name, size_t size, hlo_id *out)
{
    if (size > HLO_NAME_MAX)
        return hlo_parse_fail(p, name, "a name of %zu bytes, expected at most %d", size,
                              HLO_NAME_MAX);
    if (!mem_grow(&p->waiting, &p->waiting_room, p->waiting_count, 1))
        return hlo_parse_memory(p);
    p->waiting[p->waiting_count++] =
        (struct parse_waiting){name, (uint32_t)size, (uint32_t)p->id_count, HLO_NONE, 0, NULL};
    *out = HLO_NONE;
    return 0;
}

static int parse_name(struct parser *p, bool has_shape, hlo_shape_id shape, hlo_id *out)
{
    const char *name = p->at + (*p->at == '%'), *end = lex_name_end(name);
    size_t size = (size_t)(end - name);

    if (!size && has_shape && p->is_single && p->computation == p->entry)
        return make_parameter(p, name, 0, shape, out);
    if (!size || !lex_is(*name, LEX_START))
        return hlo_parse_fail(p, p->at,
                              "\"%.*s\" is not an operand, expected the name of an instruction",
                              PARSE_WORD(p->at));
    p->at = end;
    *out = hlo_parse_find(p, name, size);
    if (*out == HLO_NONE && has_shape && p->is_single)
        return make_parameter(p, name, size, shape, out);
    if (*out == HLO_NONE)
        return *end == '#' ? hlo_parse_fail(p, name,
                                            "\"%.*s\" is not defined, expected the name of an "
                                            "earlier instruction",
                                            PARSE_NAME(name))
                           : wait_for(p, name, size, out);
    while (*p->at == '#') {
        if (parse_element(p, out))
            return p->e->code;
    }
    return 0;
}

int hlo_parse_same_shape(struct parser *p, const char *at, hlo_shape_id declared, hlo_id id)
{
    hlo_shape_id defined = hlo_builder_at(p->b, id)->shape;

    if (declared == defined ||
        hlo_builder_shape(p->b, declared)->bare == hlo_builder_shape(p->b, defined)->bare)
        return 0;
    return hlo_parse_fail(p, at,
                          "operand declared with another shape than its definition, expected "
                          "the same");
}

/* `opcode(operands)` inside an operand list: an instruction without name and attributes. */
static int parse_nested(struct parser *p, bool has_shape, hlo_shape_id shape, hlo_id *out)
{
    const char *begin = p->at;
    struct hlo_draft d = {
        .computation = p->computation, .shape = shape, .at = (size_t)(begin - p->input)};
    size_t base = p->id_count, waiting = p->waiting_count;

    if (p->depth >= HLO_NESTING_MAX)
        return hlo_parse_place(
            p, begin, err_set(p->e, ERR_LIMIT, "operands nested deeper than %d", HLO_NESTING_MAX));
    p->depth++;
    int rc = hlo_parse_right_side(p, begin, has_shape, &d);
    p->depth--;
    if (rc)
        return rc;
    d.operands = p->id_count > base ? p->ids + base : NULL;
    d.operand_count = (uint32_t)(p->id_count - base);
    if (!has_shape && hlo_parse_infer(p, &d))
        return p->e->code;
    rc = hlo_parse_build(p, &d, true, out);
    if (rc)
        goto out;
    for (size_t w = waiting; w < p->waiting_count; w++) {
        if (p->waiting[w].user == HLO_NONE) {
            p->waiting[w].user = *out;
            p->waiting[w].operand -= (uint32_t)base;
        }
    }
out:
    p->id_count = base;
    return rc;
}

static int parse_operand(struct parser *p, hlo_id *out)
{
    const char *begin = p->at;
    hlo_shape_id shape = 0;

    /* Nearly always a name and no more. */
    const char *name = begin + (*begin == '%'), *name_end = lex_name_end(name);
    if ((*name_end == ',' || *name_end == ')') && name_end > name) {
        *out = hlo_parse_find(p, name, (size_t)(name_end - name));
        if (*out != HLO_NONE) {
            p->at = name_end;
            return 0;
        }
    }
    bool has_shape = hlo_parse_at_shape(begin);

    if (has_shape) {
        if (hlo_parse_shape(p, &shape))
            return p->e->code;
        parse_skip(p);
    }
    const char *end = lex_name_end(p->at);
    if (end > p->at && *lex_skip(end) == '(')
        return parse_nested(p, has_shape, shape, out);
    if (parse_name(p, has_shape, shape, out))
        return p->e->code;
    if (!has_shape)
        return 0;
    if (*out != HLO_NONE)
        return hlo_parse_same_shape(p, begin, shape, *out);
    p->waiting[p->waiting_count - 1].declared = shape;
    p->waiting[p->waiting_count - 1].declared_at = begin;
    return 0;
}

/* Past `(`: operands onto p->ids, then `)`. */
static int parse_operands(struct parser *p)
{
    size_t base = p->id_count;

    for (parse_skip(p); *p->at != ')'; parse_skip(p)) {
        hlo_id id;
        if (p->id_count > base && parse_expect(p, ',', "between operands"))
            return p->e->code;
        parse_skip(p);
        if (parse_operand(p, &id) || push_id(p, id))
            return p->e->code;
    }
    p->at++;
    return 0;
}

/* ---- opcode and what stands in its parentheses ---- */

static int parse_parameter(struct parser *p, struct hlo_draft *d)
{
    int64_t number;

    parse_skip(p);
    const char *end = hlo_lex_int(p->at, &number);
    if (!end || number < 0 || number >= HLO_INSTRUCTIONS_MAX)
        return hlo_parse_fail(p, p->at, "\"%.*s\" is not a parameter number, expected 0 or more",
                              PARSE_WORD(p->at));
    d->number = (uint32_t)number;
    p->at = end;
    return parse_expect(p, ')', "after the parameter number");
}

/* Names XLA no longer has, with today's that means the same. */
static const char *const old_names[][2] = {{"tuple-select", "select"}};

static uint16_t find_opcode(struct parser *p, const char *name, size_t size)
{
    enum hlo_opcode op = hlo_op_by_name(name, size);

    for (size_t n = 0; op == HLO_OP_UNKNOWN && n < sizeof old_names / sizeof *old_names; n++) {
        if (strlen(old_names[n][0]) == size && !memcmp(old_names[n][0], name, size))
            op = hlo_op_by_name(old_names[n][1], strlen(old_names[n][1]));
    }
    if (op == HLO_OP_UNKNOWN)
        op = (enum hlo_opcode)hlo_parse_async_opcode(name, size, &p->wrapped);
    if (op == HLO_OP_UNKNOWN)
        hlo_build_warning(p->b, (size_t)(name - p->input),
                          "opcode %.*s is not known: kept, and never split", PARSE_NAME(name));
    return (uint16_t)op;
}

int hlo_parse_right_side(struct parser *p, const char *begin, bool has_shape, struct hlo_draft *d)
{
    const char *end = lex_name_end(begin);

    if (end == begin)
        return hlo_parse_fail(p, begin, "\"%.*s\" is not an opcode, expected one such as add(a, b)",
                              PARSE_WORD(begin));
    p->wrapped = HLO_OP_UNKNOWN;
    d->opcode = find_opcode(p, begin, (size_t)(end - begin));
    if (d->opcode == HLO_OP_UNKNOWN) {
        d->literal = begin;
        d->literal_size = (uint32_t)(end - begin);
    }
    p->at = end;
    if (parse_expect(p, '(', "after the opcode"))
        return p->e->code;
    if (!has_shape && (d->opcode == HLO_OP_PARAMETER || d->opcode == HLO_OP_CONSTANT))
        return hlo_parse_fail(p, begin,
                              "\"%.*s\" without a shape, expected one such as f32[2,3]{1,0}",
                              PARSE_WORD(begin));
    if (d->opcode == HLO_OP_PARAMETER)
        return parse_parameter(p, d);
    if (d->opcode == HLO_OP_CONSTANT)
        return hlo_parse_literal(p, d->shape, d);
    return parse_operands(p);
}

/* ---- instructions ---- */

/* Reads an optional `[ROOT] [%]name =` into `d`. */
static int parse_left_side(struct parser *p, struct hlo_draft *d)
{
    if (*p->at == 'R' && hlo_lex_is_word(p->at, "ROOT")) {
        d->is_root = true;
        p->at = lex_skip(p->at + 4);
    }
    const char *name = p->at + (*p->at == '%'), *end = lex_name_end(name);
    if (p->is_single && *lex_skip(end) != '=')
        return 0;
    if (end == name || !lex_is(*name, LEX_START))
        return hlo_parse_fail(p, p->at,
                              "\"%.*s\" is not an instruction, expected name = shape opcode(...)",
                              PARSE_WORD(p->at));
    d->name = name;
    d->name_size = (uint32_t)(end - name);
    d->at = (size_t)(name - p->input);
    hlo_parse_names_expect(p, name, d->name_size);
    p->at = end;
    if (parse_expect(p, '=', "after the name of an instruction"))
        return p->e->code;
    parse_skip(p);
    return 0;
}

static int add_instruction(struct parser *p, struct hlo_draft *d, size_t waiting)
{
    hlo_id id;

    if (hlo_parse_build(p, d, !d->name, &id))
        return p->e->code;
    for (size_t w = waiting; w < p->waiting_count; w++) {
        if (p->waiting[w].user == HLO_NONE)
            p->waiting[w].user = id;
    }
    return 0;
}

int hlo_parse_instruction(struct parser *p)
{
    struct hlo_draft d = {.computation = p->computation, .at = (size_t)(p->at - p->input)};
    size_t waiting = p->waiting_count;

    p->id_count = 0;
    if (parse_left_side(p, &d))
        return p->e->code;
    bool has_shape = hlo_parse_at_shape(p->at);
    if (has_shape && hlo_parse_shape(p, &d.shape))
        return p->e->code;
    parse_skip(p);
    if (hlo_parse_right_side(p, p->at, has_shape, &d))
        return p->e->code;
    uint16_t wrapped = p->wrapped;
    if (hlo_parse_attrs(p, &d))
        return p->e->code;
    d.operands = p->ids;
    d.operand_count = (uint32_t)p->id_count;
    if (!has_shape && hlo_parse_infer(p, &d))
        return p->e->code;
    if (wrapped != HLO_OP_UNKNOWN && d.opcode == HLO_OP_ASYNC_START &&
        hlo_parse_async_start(p, &d, wrapped))
        return p->e->code;
    return add_instruction(p, &d, waiting);
}

int hlo_parse_waiting_done(struct parser *p)
{
    for (size_t n = 0; n < p->waiting_count; n++) {
        const struct parse_waiting *w = &p->waiting[n];
        hlo_id id = hlo_parse_find(p, w->name, w->size);
        if (id == HLO_NONE)
            return hlo_parse_fail(p, w->name,
                                  "\"%.*s\" is not defined, expected the name of an "
                                  "instruction of this computation",
                                  PARSE_NAME(w->name));
        hlo_build_set_operand(p->b, w->user, w->operand, id);
    }
    p->waiting_count = 0;
    return 0;
}
