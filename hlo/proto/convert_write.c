/* Module to HloModuleProto. Ids count from 1, over the whole module: every version of XLA reads
 * them. */
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/meta.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"

#include <string.h>

enum { DEVICES_MAX = 1 << 20 };

static const char MEMORY_FOR[] = "to write the module";

struct writing {
    const struct hlo_module *m;
    struct arena *a;
    struct err *e;
    Xla__HloModuleProto *p;
    Xla__ShapeProto **shapes; /* made when first needed, shared */
    const char **names;       /* [m->count] each once in the module */
    struct str text;
};

#define NEW(w, name) ((void *)hlo_reflect_new((w)->a, &name##__descriptor))

static Xla__ShapeProto *shape_of(struct writing *w, hlo_shape_id id)
{
    if (!w->shapes[id]) {
        str_clear(&w->text);
        hlo_write_shape(w->m, id, true, &w->text);
        char *copy = hlo_convert_text(w->a, &w->text);
        struct scan s = scan_of(copy, copy ? w->text.size : 0);
        w->shapes[id] = copy ? hlo_take_shape(w->a, &s) : NULL;
        if (w->shapes[id] && !hlo_convert_add_layout(w->a, w->shapes[id]))
            w->shapes[id] = NULL;
    }
    return w->shapes[id];
}

/* Ids of `count` items of a pool from `first` on. */
static bool fill_ids(struct arena *a, const uint32_t *pool, const uint32_t first_count[2],
                     int64_t **out, size_t *n)
{
    uint32_t first = first_count[0], count = first_count[1];

    *out = arena_get(a, count + 1u, sizeof **out);
    for (uint32_t i = 0; i < count && *out; i++)
        (*out)[i] = pool[first + i] + 1LL;
    *n = count;
    return *out != NULL;
}

/* ---- names ---- */

/* Text has names that are unique in their computation, messages need them so in the module. */
struct named {
    const char *name;
    hlo_id id;
    bool is_entry; /* keeps its name */
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (order || x->is_entry != y->is_entry)
        return order ? order : y->is_entry - x->is_entry;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_name_alone(const void *a, const void *b)
{
    return strcmp(a, ((const struct named *)b)->name);
}

/* name.ID, of which there is one; with an `x` more while the file has that name too. */
static const char *fresh_name(struct writing *w, const struct named *list, const struct named *n)
{
    str_clear(&w->text);
    str_format(&w->text, "%s.%u", n->name, (unsigned)n->id + 1);
    for (;; str_add_char(&w->text, 'x')) {
        char *copy = hlo_convert_text(w->a, &w->text);
        if (!copy || !bsearch(copy, list, w->m->count, sizeof *list, by_name_alone))
            return copy;
    }
}

static bool name_all(struct writing *w)
{
    const struct hlo_module *m = w->m;
    struct named *list = mem_try(m->count, sizeof *list);
    bool ok = list && (w->names = arena_get(w->a, m->count + 1u, sizeof *w->names));

    for (hlo_id id = 0; ok && id < m->count; id++)
        list[id] = (struct named){hlo_name(m, id), id, hlo_at(m, id)->computation == m->entry};
    if (ok && m->count)
        qsort(list, m->count, sizeof *list, by_name);
    for (uint32_t n = 0; ok && n < m->count; n++) {
        bool is_again = n && !strcmp(list[n].name, list[n - 1].name);
        w->names[list[n].id] = is_again ? fresh_name(w, list, &list[n]) : list[n].name;
        ok = w->names[list[n].id] != NULL;
    }
    free(list);
    return ok;
}

/* ---- instructions ---- */

/* "name=value" for what no field takes. */
static bool keep_attr(struct writing *w, Xla__HloInstructionProto *p, const struct hlo_attr *a)
{
    str_clear(&w->text);
    if (a->key != HLO_ATTR_UNKNOWN)
        str_format(&w->text, "%s=", hlo_attr_info[a->key].name);
    str_add_bytes(&w->text, a->text, a->size);
    return hlo_convert_append(w->a, (void ***)&p->kept_attributes, &p->n_kept_attributes,
                              hlo_convert_text(w->a, &w->text));
}

static bool write_attrs(struct writing *w, hlo_id id, Xla__HloInstructionProto *p)
{
    const struct hlo_instruction *i = hlo_at(w->m, id);
    struct convert_context c = {.arena = w->a,
                                .opcode = (enum hlo_opcode)i->opcode,
                                .operand_type = HLO_TYPE_COUNT,
                                .operand_count = i->operand_count};

    if (i->operand_count)
        c.operand_type = (enum hlo_type)hlo_shape(w->m, hlo_operand(w->m, id, 0))->type;
    for (uint32_t n = 0; n < i->attr_count; n++) {
        const struct hlo_attr *a = &w->m->attr_pool[i->attrs + n];
        if (!hlo_convert_attr_take(&c, p, (enum hlo_attr_key)a->key, a->text, a->size) &&
            !keep_attr(w, p, a))
            return false;
    }
    hlo_convert_attrs_default(&c, p);
    if (hlo_attr(w->m, id, HLO_ATTR_METADATA) || !hlo_meta_is_known(hlo_meta(w->m, id)))
        return true;
    str_clear(&w->text); /* it was not read as HLO */
    hlo_meta_write(hlo_meta(w->m, id), &w->text);
    return !w->text.failed &&
           hlo_convert_attr_take(&c, p, HLO_ATTR_METADATA, w->text.text, w->text.size);
}

/* constant({...}): XLA leaves out what is large unless it is asked not to. */
static bool is_elided(const struct hlo_text *t)
{
    for (uint32_t n = 0; n + 5 <= t->size; n++) {
        if (t->text[n] == '{' && !memcmp(t->text + n, "{...}", 5))
            return true;
    }
    return false;
}

static int write_literal(struct writing *w, hlo_id id, Xla__HloInstructionProto *p)
{
    const struct hlo_text *t = &w->m->literals[hlo_at(w->m, id)->literal];
    struct scan s = scan_of(t->text, t->size);

    if (is_elided(t))
        return err_set(
            w->e, ERR_INPUT,
            "constant %.100s: its values were left out of the text ({...}), and XLA reads "
            "no proto without them. Print the module with large constants "
            "(--xla_dump_large_constants, print_large_constants), or write text",
            hlo_name(w->m, id));
    p->literal = hlo_take_literal(w->a, &s, p->shape);
    if (!p->literal || !hlo_scan_end(&s))
        return err_set(w->e, ERR_INPUT, "constant %.100s: its values do not fit its shape",
                       hlo_name(w->m, id));
    return 0;
}

static int write_instruction(struct writing *w, hlo_id id, Xla__HloInstructionProto *p)
{
    const struct hlo_module *m = w->m;
    const struct hlo_instruction *i = hlo_at(m, id);

    p->id = id + 1LL;
    p->name = (char *)(uintptr_t)w->names[id];
    p->opcode = (char *)(uintptr_t)hlo_op_info[i->opcode].name;
    if (i->opcode == HLO_OP_UNKNOWN)
        p->opcode = arena_text(w->a, m->literals[i->literal].text, m->literals[i->literal].size);
    p->shape = shape_of(w, i->shape);
    p->metadata = NEW(w, xla__op_metadata);
    if (!p->shape || !p->opcode || !p->metadata ||
        !fill_ids(w->a, m->operand_pool, (uint32_t[]){i->operands, i->operand_count},
                  &p->operand_ids, &p->n_operand_ids) ||
        !fill_ids(w->a, m->operand_pool,
                  (uint32_t[]){i->operands + i->operand_count, i->control_count},
                  &p->control_predecessor_ids, &p->n_control_predecessor_ids) ||
        !fill_ids(w->a, m->called_pool, (uint32_t[]){i->called, i->called_count},
                  &p->called_computation_ids, &p->n_called_computation_ids) ||
        !write_attrs(w, id, p))
        return err_no_memory(w->e, MEMORY_FOR);
    if (i->opcode == HLO_OP_PARAMETER)
        p->parameter_number = i->number;
    if (i->opcode == HLO_OP_GET_TUPLE_ELEMENT)
        p->tuple_index = i->number;
    return i->opcode == HLO_OP_CONSTANT ? write_literal(w, id, p) : 0;
}

/* ---- computations ---- */

static Xla__ProgramShapeProto *signature(struct writing *w, const struct hlo_computation *c)
{
    Xla__ProgramShapeProto *p = NEW(w, xla__program_shape_proto);

    if (!p)
        return NULL;
    p->result = shape_of(w, hlo_at(w->m, c->root)->shape);
    for (uint32_t n = 0; n < c->param_count; n++) {
        if (!hlo_convert_append(w->a, (void ***)&p->parameters, &p->n_parameters,
                                shape_of(w, hlo_at(w->m, c->params[n])->shape)) ||
            !hlo_convert_append(w->a, (void ***)&p->parameter_names, &p->n_parameter_names,
                                (char *)(uintptr_t)w->names[c->params[n]]))
            return NULL;
    }
    return p->result ? p : NULL;
}

static bool is_fused(const struct hlo_module *m, const struct hlo_computation *c)
{
    for (uint32_t n = 0; n < c->caller_count; n++) {
        if (hlo_at(m, c->callers[n])->opcode == HLO_OP_FUSION)
            return true;
    }
    return false;
}

static int write_computation(struct writing *w, hlo_comp index)
{
    const struct hlo_computation *c = &w->m->computations[index];
    Xla__HloComputationProto *p = NEW(w, xla__hlo_computation_proto);

    if (!p || !hlo_convert_append(w->a, (void ***)&w->p->computations, &w->p->n_computations, p))
        return err_no_memory(w->e, MEMORY_FOR);
    p->name = (char *)(uintptr_t)c->name;
    p->id = index + 1LL;
    p->root_id = c->root + 1LL;
    p->is_fusion_computation = is_fused(w->m, c);
    if (c->thread)
        p->execution_thread = (char *)(uintptr_t)c->thread;
    p->program_shape = signature(w, c);
    if (!p->program_shape)
        return err_no_memory(w->e, MEMORY_FOR);
    for (uint32_t n = 0; n < c->count; n++) {
        Xla__HloInstructionProto *i = NEW(w, xla__hlo_instruction_proto);
        if (!i || !hlo_convert_append(w->a, (void ***)&p->instructions, &p->n_instructions, i))
            return err_no_memory(w->e, MEMORY_FOR);
        int rc = write_instruction(w, c->first + n, i);
        if (rc)
            return rc;
    }
    return 0;
}

static bool write_schedule(struct writing *w)
{
    Xla__HloScheduleProto *p = w->p->schedule = NEW(w, xla__hlo_schedule_proto);

    for (hlo_comp c = 0; p && c < w->m->computation_count; c++) {
        const struct hlo_computation *comp = &w->m->computations[c];
        if (is_fused(w->m, comp))
            continue;
        Xla__HloScheduleProto__SequencesEntry *one =
            NEW(w, xla__hlo_schedule_proto__sequences_entry);
        Xla__HloScheduleProto__InstructionSequence *list =
            NEW(w, xla__hlo_schedule_proto__instruction_sequence);
        if (!one || !list ||
            !hlo_convert_append(w->a, (void ***)&p->sequences, &p->n_sequences, one))
            return false;
        one->key = c + 1LL;
        one->value = list;
        list->instruction_ids = arena_get(w->a, comp->count + 1, sizeof *list->instruction_ids);
        if (!list->instruction_ids)
            return false;
        for (uint32_t n = 0; n < comp->count; n++)
            list->instruction_ids[n] = comp->first + n + 1LL;
        list->n_instruction_ids = comp->count;
    }
    return p != NULL;
}

/* ---- header ---- */

/* {(f32[2]{0}, ...)->f32[]} */
static bool take_layout(struct writing *w, struct scan *s)
{
    Xla__ProgramShapeProto *p = NEW(w, xla__program_shape_proto);

    if (!p || !hlo_scan_char(s, '{') || !hlo_scan_char(s, '(') ||
        !hlo_take_shapes(w->a, s, ')', &p->parameters, &p->n_parameters) ||
        !hlo_scan_text(s, "->") || !(p->result = hlo_take_shape(w->a, s)) || !hlo_scan_char(s, '}'))
        return false;
    const Xla__ProgramShapeProto *own = w->p->host_program_shape;
    p->parameter_names = own->parameter_names;
    p->n_parameter_names = own->n_parameter_names;
    if (p->n_parameters != own->n_parameters)
        return false;
    w->p->host_program_shape = p;
    return true;
}

static bool write_header(struct writing *w)
{
    Xla__HloModuleProto *p = w->p;

    for (uint32_t n = 0; n < w->m->header_count; n++) {
        const struct hlo_text *t = &w->m->header[n];
        struct scan s = scan_of(t->text, t->size);
        if (hlo_scan_key(&s, "entry_computation_layout") && take_layout(w, &s) && hlo_scan_end(&s))
            continue;
        s = scan_of(t->text, t->size);
        Xla__FrontendAttributes *dict =
            hlo_scan_key(&s, "frontend_attributes") ? hlo_take_dict(w->a, &s) : NULL;
        if (dict && hlo_scan_end(&s) && dict->n_map) {
            p->frontend_attributes = dict;
            continue;
        }
        if (!hlo_convert_append(w->a, (void ***)&p->kept_header, &p->n_kept_header,
                                arena_text(w->a, t->text, t->size)))
            return false;
    }
    if (w->m->tables.size) {
        struct scan s = scan_of(w->m->tables.text, w->m->tables.size);
        p->stack_frame_index = hlo_take_tables(w->a, &s);
        return p->stack_frame_index != NULL;
    }
    return true;
}

/* XLA takes the counts of replicas and partitions from here. */
static int write_devices(struct writing *w)
{
    int64_t replicas = w->m->replica_count, partitions = w->m->num_partitions;

    if (replicas == 1 && partitions == 1)
        return 0;
    if (replicas > DEVICES_MAX || partitions > DEVICES_MAX / replicas)
        return err_set(w->e, ERR_LIMIT, "more than %d devices cannot be written to this form",
                       DEVICES_MAX);
    Xla__DeviceAssignmentProto *p = w->p->device_assignment = NEW(w, xla__device_assignment_proto);
    if (!p)
        return err_no_memory(w->e, MEMORY_FOR);
    p->replica_count = (int32_t)replicas;
    p->computation_count = (int32_t)partitions;
    for (int64_t partition = 0; partition < partitions; partition++) {
        Xla__DeviceAssignmentProto__ComputationDevice *d =
            NEW(w, xla__device_assignment_proto__computation_device);
        if (!d || !hlo_convert_append(w->a, (void ***)&p->computation_devices,
                                      &p->n_computation_devices, d))
            return err_no_memory(w->e, MEMORY_FOR);
        d->replica_device_ids = arena_get(w->a, (size_t)replicas, sizeof *d->replica_device_ids);
        if (!d->replica_device_ids)
            return err_no_memory(w->e, MEMORY_FOR);
        d->n_replica_device_ids = (size_t)replicas;
        for (int64_t replica = 0; replica < replicas; replica++)
            d->replica_device_ids[replica] = replica * partitions + partition;
    }
    return 0;
}

/* ---- aliases ---- */

/* Where leaf `leaf` stands in a shape: part by part. */
static bool index_of(struct writing *w, hlo_shape_id id, uint32_t leaf, int64_t **out,
                     size_t *count)
{
    int64_t index[256];
    size_t depth = 0;

    while (w->m->shapes[id].type == HLO_TUPLE && depth < 256) {
        const struct hlo_shape *s = &w->m->shapes[id];
        uint32_t n = 0;
        while (n + 1 < s->part_count && leaf >= w->m->shapes[s->parts[n]].leaf_count)
            leaf -= w->m->shapes[s->parts[n++]].leaf_count;
        if (!s->part_count)
            break;
        index[depth++] = n;
        id = s->parts[n];
    }
    *out = arena_get(w->a, depth + 1, sizeof **out);
    if (*out)
        memcpy(*out, index, depth * sizeof **out);
    *count = depth;
    return *out != NULL;
}

static bool write_aliases(struct writing *w)
{
    const struct hlo_computation *entry = &w->m->computations[w->m->entry];
    Xla__HloInputOutputAliasProto *in = NEW(w, xla__hlo_input_output_alias_proto);
    Xla__HloBufferDonorProto *don = NEW(w, xla__hlo_buffer_donor_proto);

    if (!in || !don)
        return false;
    w->p->input_output_alias = in;
    w->p->buffer_donor = don;
    for (uint32_t n = 0; n < w->m->alias_count; n++) {
        const struct hlo_alias *a = &w->m->aliases[n];
        Xla__HloInputOutputAliasProto__AliasEntryProto *p =
            NEW(w, xla__hlo_input_output_alias_proto__alias_entry_proto);
        if (!p || !hlo_convert_append(w->a, (void ***)&in->entries, &in->n_entries, p) ||
            !index_of(w, hlo_at(w->m, entry->root)->shape, a->out, &p->output_shape_index,
                      &p->n_output_shape_index) ||
            !index_of(w, hlo_at(w->m, entry->params[a->param])->shape, a->param_leaf,
                      &p->parameter_shape_index, &p->n_parameter_shape_index))
            return false;
        p->parameter_number = a->param;
        p->kind = a->must ? XLA__KIND__MUST_ALIAS : XLA__KIND__MAY_ALIAS;
    }
    for (uint32_t n = 0; n < w->m->donor_count; n++) {
        const struct hlo_alias *a = &w->m->donors[n];
        Xla__HloBufferDonorProto__BufferDonorEntryProto *p =
            NEW(w, xla__hlo_buffer_donor_proto__buffer_donor_entry_proto);
        if (!p || !hlo_convert_append(w->a, (void ***)&don->entries, &don->n_entries, p) ||
            !index_of(w, hlo_at(w->m, entry->params[a->param])->shape, a->param_leaf,
                      &p->parameter_shape_index, &p->n_parameter_shape_index))
            return false;
        p->parameter_number = a->param;
    }
    return true;
}

static int write_module(struct writing *w)
{
    const struct hlo_module *m = w->m;
    const struct hlo_computation *entry = &m->computations[m->entry];

    w->p->name = (char *)(uintptr_t)m->name;
    w->p->entry_computation_name = (char *)(uintptr_t)entry->name;
    w->p->entry_computation_id = m->entry + 1LL;
    for (hlo_comp c = 0; c < m->computation_count; c++) {
        int rc = write_computation(w, c);
        if (rc)
            return rc;
    }
    w->p->host_program_shape = signature(w, entry);
    if (!w->p->host_program_shape || (m->is_scheduled && !write_schedule(w)) || !write_aliases(w) ||
        !write_header(w))
        return err_no_memory(w->e, MEMORY_FOR);
    return write_devices(w);
}

int hlo_convert_write(const struct hlo_module *m, struct arena *a, Xla__HloModuleProto **out,
                      struct err *e)
{
    struct writing w = {.m = m, .a = a, .e = e};

    w.p = NEW(&w, xla__hlo_module_proto);
    w.shapes = arena_get(a, m->shape_count + 1u, sizeof *w.shapes);
    int rc = w.p && w.shapes && name_all(&w) ? write_module(&w) : err_no_memory(w.e, MEMORY_FOR);
    str_release(&w.text);
    if (rc)
        return rc;
    *out = w.p;
    return rc;
}
