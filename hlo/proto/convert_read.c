/* HloModuleProto to module. */
#include "hlo/module/attr.h"
#include "hlo/module/attr_kind.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/convert_reading.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- ids ---- */

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct id *)a)->id, y = ((const struct id *)b)->id;

    return (x > y) - (x < y);
}

static bool ids_room(struct ids *ids, struct arena *a, size_t count)
{
    ids->list = arena_get(a, count + 1, sizeof *ids->list);
    ids->count = 0;
    return ids->list != NULL;
}

static void ids_sort(struct ids *ids)
{
    bool sorted = true;

    for (size_t i = 1; i < ids->count && sorted; i++)
        sorted = ids->list[i - 1].id < ids->list[i].id;
    if (!sorted)
        qsort(ids->list, ids->count, sizeof *ids->list, by_id);
}

/* Newer ids hold the computation in their high half: where the whole id is not found, the low half
 * is looked for. */
static uint32_t ids_find(const struct ids *ids, int64_t id)
{
    for (int half = 0; half < 2; half++) {
        int64_t want = half ? (int64_t)(uint32_t)id : id;
        size_t low = 0, high = ids->count;
        while (low < high) {
            size_t mid = low + (high - low) / 2;
            int64_t at = half ? (int64_t)(uint32_t)ids->list[mid].id : ids->list[mid].id;
            if (at == want)
                return ids->list[mid].item;
            if (at < want)
                low = mid + 1;
            else
                high = mid;
        }
    }
    return HLO_NONE;
}

/* ---- attributes ---- */

static int add_attr(struct reading *r, enum hlo_attr_key key, const char *text, size_t size)
{
    if (size > UINT32_MAX || !hlo_attr_fits(key, text, size))
        return err_set(r->e, ERR_INPUT, "\"%.60s\" is not a value for attribute %s, expected %s",
                       text, key < HLO_ATTR_UNKNOWN ? hlo_attr_info[key].name : "",
                       hlo_attr_example(key));
    if (!mem_grow(&r->attrs, &r->attr_room, r->attr_count, 1))
        return hlo_reading_memory(r);
    char *copy = arena_text(&r->m->arena, text, size);
    if (!copy)
        return hlo_reading_memory(r);
    r->seen[key] = 1;
    r->attrs[r->attr_count++] = (struct hlo_attr){(uint16_t)key, (uint32_t)size, copy};
    return 0;
}

static int emit_attr(void *to, enum hlo_attr_key key, const struct str *text)
{
    struct reading *r = to;

    if (text->failed)
        return hlo_reading_memory(r);
    if (r->seen[key]) /* the kept text says it better than what could be made of it */
        return 0;
    return add_attr(r, key, text->text ? text->text : "", text->size);
}

/* "name=value" as HLO text had it, where no field holds it. */
static int add_kept(struct reading *r, const char *text)
{
    size_t name = strcspn(text, "=");
    enum hlo_attr_key key = hlo_attr_by_name(text, name);

    if (!name || !text[name])
        return err_set(r->e, ERR_INPUT, "kept attribute \"%.60s\", expected name=value", text);
    if (key == HLO_ATTR_UNKNOWN)
        return add_attr(r, key, text, strlen(text));
    return r->seen[key] ? 0 : add_attr(r, key, text + name + 1, strlen(text + name + 1));
}

/* Newer files keep long values once, in the module, and name them by number. */
static void resolve_payload(const struct reading *r, Xla__Payload *p)
{
    if (p && !p->value.len && p->id >= 0 && (uint64_t)p->id < r->p->n_payloads)
        p->value = r->p->payloads[p->id];
}

static int read_attrs(struct reading *r, Xla__HloInstructionProto *i, enum hlo_opcode op,
                      enum hlo_type operand_type)
{
    struct convert_context c = {.arena = r->scratch,
                                .opcode = op,
                                .operand_type = operand_type,
                                .operand_count = i->n_operand_ids};

    if (i->metadata)
        resolve_payload(r, i->metadata->metadata_payload);
    resolve_payload(r, i->backend_config_payload);
    r->attr_count = 0;
    memset(r->seen, 0, sizeof r->seen);
    for (size_t n = 0; n < i->n_kept_attributes; n++) {
        int rc = add_kept(r, i->kept_attributes[n]);
        if (rc)
            return rc;
    }
    return hlo_convert_attrs_print(&c, i, &r->text, emit_attr, r);
}

/* ---- metadata ---- */

static const Xla__StackFrameIndexProto__FileLocation *
location_of(const Xla__StackFrameIndexProto *t, int32_t frame)
{
    if (!t || frame < 1 || (size_t)frame > t->n_stack_frames)
        return NULL;
    int32_t location = t->stack_frames[frame - 1]->file_location_id;
    return location < 1 || (size_t)location > t->n_file_locations ? NULL
                                                                  : t->file_locations[location - 1];
}

static int read_meta(struct reading *r, const Xla__OpMetadata *m, uint32_t *out)
{
    if (!m)
        return 0;
    struct hlo_meta meta = {m->op_type, m->op_name, m->source_file,
                            m->source_line > 0 ? (uint32_t)m->source_line : 0};
    const Xla__StackFrameIndexProto *t = r->p->stack_frame_index;
    const Xla__StackFrameIndexProto__FileLocation *l = location_of(t, m->stack_frame_id);
    if (l && !*m->source_file && l->file_name_id > 0 &&
        (size_t)l->file_name_id <= t->n_file_names) {
        meta.source_file = t->file_names[l->file_name_id - 1];
        meta.source_line = l->line > 0 ? (uint32_t)l->line : 0;
    }
    if (!*meta.op_type && !*meta.op_name && !*meta.source_file && !meta.source_line)
        return 0;
    size_t sizes[3] = {strlen(meta.op_type), strlen(meta.op_name), strlen(meta.source_file)};
    return hlo_build_meta(r->b, &meta, sizes, out, r->e);
}

/* ---- instructions ---- */

static int find_operands(struct reading *r, const int64_t *ids, size_t count, const char *what,
                         hlo_id *out)
{
    for (size_t n = 0; n < count; n++) {
        uint32_t item = ids_find(&r->instructions, ids[n]);
        if (item == HLO_NONE)
            return err_set(r->e, ERR_INPUT, "%s %zu is id %lld, expected one of this computation",
                           what, n, (long long)ids[n]);
        out[n] = r->base + item;
    }
    return 0;
}

static int find_called(struct reading *r, const Xla__HloInstructionProto *i, hlo_comp *out)
{
    for (size_t n = 0; n < i->n_called_computation_ids; n++) {
        out[n] = ids_find(&r->computations, i->called_computation_ids[n]);
        if (out[n] == HLO_NONE)
            return err_set(r->e, ERR_INPUT,
                           "called computation %zu is id %lld, expected one of this module", n,
                           (long long)i->called_computation_ids[n]);
    }
    return 0;
}

/* The name of an opcode we do not know, as text can spell it: no opcode of XLA's has a '_'. */
static void add_opcode_name(const char *name, struct str *out)
{
    for (; *name; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     *name == '-' || (*name >= '0' && *name <= '9');
        str_add_char(out, plain && (out->size || *name > '9') ? *name : '_');
    }
    if (!out->size)
        str_add(out, "unnamed_opcode");
}

/* A constant's value, or the name of an opcode we do not know. */
static int read_literal(struct reading *r, const Xla__HloInstructionProto *i, struct hlo_draft *d)
{
    str_clear(&r->text);
    if (d->opcode == HLO_OP_UNKNOWN) {
        add_opcode_name(i->opcode, &r->text);
        hlo_build_warning(r->b, SIZE_MAX, "opcode %.60s is not known: kept, never split",
                          i->opcode);
    } else if (d->opcode != HLO_OP_CONSTANT) {
        return 0;
    } else if (!i->literal) {
        str_add(&r->text, "{...}");
    } else if (i->literal->shape && !hlo_convert_same_dims(i->literal->shape, i->shape)) {
        return err_set(r->e, ERR_INPUT, "literal: its shape is not that of the constant");
    } else if (!hlo_print_literal(i->literal, r->scratch, &r->text)) {
        return err_set(r->e, ERR_INPUT, "literal: its values are not what its shape says");
    }
    char *copy = r->text.size > UINT32_MAX ? NULL : hlo_convert_text(&r->m->arena, &r->text);
    if (!copy)
        return hlo_reading_memory(r);
    if (d->opcode == HLO_OP_CONSTANT && strstr(copy, "{...}"))
        hlo_build_warning(r->b, SIZE_MAX, "values of a constant are left out");
    d->literal = copy;
    d->literal_size = (uint32_t)r->text.size;
    return 0;
}

static enum hlo_opcode opcode_of(const char *name)
{
    return hlo_op_by_name(name, strlen(name));
}

static enum hlo_type operand_type_of(const struct reading *r, const Xla__HloComputationProto *c,
                                     const Xla__HloInstructionProto *i, const uint32_t *order)
{
    uint32_t item = i->n_operand_ids ? ids_find(&r->instructions, i->operand_ids[0]) : HLO_NONE;

    if (item == HLO_NONE || !c->instructions[order[item]]->shape)
        return HLO_TYPE_COUNT;
    return hlo_type_by_proto((int)c->instructions[order[item]]->shape->element_type);
}

static int read_links(struct reading *r, const Xla__HloInstructionProto *i, struct hlo_draft *d)
{
    size_t operands = i->n_operand_ids, controls = i->n_control_predecessor_ids,
           called = i->n_called_computation_ids;

    if (operands > INT32_MAX || controls > INT32_MAX || called > INT32_MAX)
        return err_set(r->e, ERR_LIMIT, "more than %d operands", INT32_MAX);
    if (!mem_grow(&r->operands, &r->operand_room, 0, operands + controls + called + 1))
        return hlo_reading_memory(r);
    hlo_id *control_list = r->operands + operands;
    hlo_comp *called_list = control_list + controls;
    int rc = find_operands(r, i->operand_ids, operands, "operand", r->operands);
    if (rc)
        goto out;
    rc =
        find_operands(r, i->control_predecessor_ids, controls, "control predecessor", control_list);
    if (rc)
        goto out;
    rc = find_called(r, i, called_list);
out:
    d->operands = r->operands;
    d->operand_count = (uint32_t)operands;
    d->controls = control_list;
    d->control_count = (uint32_t)controls;
    d->called = called_list;
    d->called_count = (uint32_t)called;
    return rc;
}

static int read_instruction(struct reading *r, Xla__HloInstructionProto *i, struct hlo_draft *d,
                            enum hlo_type operand_type)
{
    int64_t number = 0;
    hlo_id id;

    if (!i->shape)
        return err_set(r->e, ERR_INPUT, "shape is missing");
    d->opcode = (uint16_t)opcode_of(i->opcode);
    if (d->opcode == HLO_OP_PARAMETER)
        number = i->parameter_number;
    else if (d->opcode == HLO_OP_GET_TUPLE_ELEMENT)
        number = i->tuple_index;
    if (number < 0 || number > INT32_MAX)
        return err_set(r->e, ERR_INPUT, "number %lld, expected 0 or more", (long long)number);
    d->number = (uint32_t)number;
    d->name = *i->name ? i->name : NULL;
    d->name_size = (uint32_t)strnlen(i->name, HLO_NAME_MAX + 1);
    int rc = hlo_convert_shape(r->b, i->shape, &d->shape, r->e);
    if (rc)
        return rc;
    rc = read_links(r, i, d);
    if (rc)
        return rc;
    rc = read_attrs(r, i, (enum hlo_opcode)d->opcode, operand_type);
    if (rc)
        return rc;
    rc = read_meta(r, i->metadata, &d->meta);
    if (rc)
        return rc;
    rc = read_literal(r, i, d);
    if (rc)
        return rc;
    d->attrs = r->attrs;
    d->attr_count = (uint32_t)r->attr_count;
    return hlo_build_instruction(r->b, d, &id, r->e);
}

/* ---- computations ---- */

static bool sort_sequences(struct reading *r)
{
    const Xla__HloScheduleProto *s = r->p->schedule;
    size_t count = s ? s->n_sequences : 0;

    if (!ids_room(&r->sequences, r->scratch, count))
        return false;
    for (size_t n = 0; n < count; n++)
        r->sequences.list[r->sequences.count++] = (struct id){s->sequences[n]->key, (uint32_t)n};
    ids_sort(&r->sequences);
    return true;
}

static const Xla__HloScheduleProto__InstructionSequence *sequence_of(const struct reading *r,
                                                                     int64_t id)
{
    uint32_t n = ids_find(&r->sequences, id);

    return n == HLO_NONE ? NULL : r->p->schedule->sequences[n]->value;
}

/* order[n]: the instruction that comes n-th: as scheduled, else as listed. */
static bool order_instructions(struct reading *r, const Xla__HloComputationProto *c,
                               uint32_t *order)
{
    const Xla__HloScheduleProto__InstructionSequence *s = sequence_of(r, c->id);
    size_t count = c->n_instructions;
    bool whole = s && s->n_instruction_ids == count;

    if (!ids_room(&r->instructions, r->scratch, count))
        return false;
    for (size_t n = 0; n < count; n++)
        r->instructions.list[r->instructions.count++] =
            (struct id){c->instructions[n]->id, (uint32_t)n};
    ids_sort(&r->instructions);
    uint8_t *taken = arena_get(r->scratch, count + 1, 1);
    if (!taken)
        return false;
    for (size_t n = 0; n < count && whole; n++) {
        order[n] = ids_find(&r->instructions, s->instruction_ids[n]);
        whole = order[n] != HLO_NONE && !taken[order[n]];
        if (whole)
            taken[order[n]] = 1;
    }
    if (!whole) {
        for (size_t n = 0; n < count; n++)
            order[n] = (uint32_t)n;
        return true;
    }
    uint32_t *place = arena_get(r->scratch, count + 1, sizeof *place);
    if (!place)
        return false;
    for (size_t n = 0; n < count; n++)
        place[order[n]] = (uint32_t)n;
    for (size_t n = 0; n < count; n++)
        r->instructions.list[n].item = place[r->instructions.list[n].item];
    return true;
}

static int check_ids(struct reading *r)
{
    for (size_t n = 1; n < r->instructions.count; n++) {
        if (r->instructions.list[n - 1].id == r->instructions.list[n].id)
            return err_set(r->e, ERR_INPUT,
                           "two instructions of id %lld, expected an id of its own for each",
                           (long long)r->instructions.list[n].id);
    }
    return 0;
}

/* Puts "computations[c].instructions[n] \"name\": " before what is wrong. */
static int fail_in(struct reading *r, size_t c, size_t n, const char *name)
{
    enum err_code code = r->e->code;
    char what[sizeof r->e->what];

    memcpy(what, r->e->what, sizeof what);
    if (n == SIZE_MAX)
        return err_set(r->e, code, "computations[%zu] \"%.80s\": %s", c, name, what);
    return err_set(r->e, code, "computations[%zu].instructions[%zu] \"%.80s\": %s", c, n, name,
                   what);
}

static int read_computation(struct reading *r, size_t index)
{
    Xla__HloComputationProto *c = r->p->computations[index];
    size_t count = c->n_instructions;

    if (!count || count > HLO_INSTRUCTIONS_MAX) {
        err_set(r->e, ERR_INPUT, "%zu instructions, expected 1 to %d", count, HLO_INSTRUCTIONS_MAX);
        return fail_in(r, index, SIZE_MAX, c->name);
    }
    uint32_t *order = arena_get(r->scratch, count, sizeof *order);
    if (!order || !order_instructions(r, c, order))
        return hlo_reading_memory(r);
    if (check_ids(r))
        return fail_in(r, index, SIZE_MAX, c->name);
    r->base = hlo_builder_count(r->b);
    uint32_t root = ids_find(&r->instructions, c->root_id);
    if (root == HLO_NONE && c->root_id) {
        err_set(r->e, ERR_INPUT, "root_id %lld is not one of its instructions",
                (long long)c->root_id);
        return fail_in(r, index, SIZE_MAX, c->name);
    }
    for (size_t n = 0; n < count; n++) {
        Xla__HloInstructionProto *i = c->instructions[order[n]];
        struct hlo_draft d = {.computation = (hlo_comp)index, .at = SIZE_MAX};
        d.is_root = n == (root == HLO_NONE ? count - 1 : root);
        if (read_instruction(r, i, &d, operand_type_of(r, c, i, order)))
            return fail_in(r, index, order[n], i->name);
    }
    return 0;
}

static int read_computations(struct reading *r)
{
    const Xla__HloModuleProto *p = r->p;

    if (!ids_room(&r->computations, r->scratch, p->n_computations) || !sort_sequences(r))
        return hlo_reading_memory(r);
    for (size_t n = 0; n < p->n_computations; n++) {
        const Xla__HloComputationProto *c = p->computations[n];
        hlo_comp comp;
        if (hlo_build_computation(r->b, c->name, strlen(c->name), &comp, r->e))
            return fail_in(r, n, SIZE_MAX, c->name);
        r->computations.list[r->computations.count++] = (struct id){c->id, comp};
        if (!*c->execution_thread || !strcmp(c->execution_thread, "main"))
            continue;
        char *thread = hlo_reading_clean(r, c->execution_thread);
        if (!thread)
            return hlo_reading_memory(r);
        hlo_builder_computation(r->b, comp)->thread = thread;
    }
    ids_sort(&r->computations);
    for (size_t n = 0; n < p->n_computations; n++) {
        int rc = read_computation(r, n);
        if (rc)
            return rc;
    }
    return 0;
}

static int find_entry(struct reading *r, hlo_comp *out)
{
    const Xla__HloModuleProto *p = r->p;

    *out = HLO_NONE;
    for (size_t n = 0; n < p->n_computations && *p->entry_computation_name; n++) {
        if (!strcmp(p->computations[n]->name, p->entry_computation_name))
            *out = (hlo_comp)n;
    }
    if (*out == HLO_NONE)
        *out = ids_find(&r->computations, p->entry_computation_id);
    if (*out == HLO_NONE && !*p->entry_computation_name && p->n_computations)
        *out = (hlo_comp)(p->n_computations - 1);
    return *out == HLO_NONE
               ? err_set(
                     r->e, ERR_INPUT,
                     "entry_computation_name \"%.80s\" names no computation, expected one of %zu",
                     p->entry_computation_name, p->n_computations)
               : 0;
}

int hlo_convert_read(Xla__HloModuleProto *p, enum hlo_format format, struct arena *scratch,
                     size_t memory_limit, struct hlo_module **out, struct err *e)
{
    struct reading r = {.p = p, .scratch = scratch, .e = e, .text = {.limit = memory_limit}};
    hlo_comp entry = HLO_NONE;

    r.b = hlo_builder_new(NULL, 0, memory_limit);
    if (!r.b)
        return hlo_reading_memory(&r);
    r.m = hlo_builder_module(r.b);
    r.m->format = format;
    int rc =
        p->n_computations ? 0 : err_set(e, ERR_INPUT, "computations: none, expected at least one");
    if (rc)
        goto out;
    rc = read_computations(&r);
    if (rc)
        goto out;
    rc = find_entry(&r, &entry);
    if (rc)
        goto out;
    rc = hlo_reading_header(&r);
    if (rc)
        goto out;
    rc = hlo_reading_aliases(&r, entry);
out:
    free(r.attrs);
    free(r.operands);
    str_release(&r.text);
    if (rc) {
        hlo_builder_free(r.b);
        return rc;
    }
    return hlo_builder_finish(r.b, entry, out, e);
}
