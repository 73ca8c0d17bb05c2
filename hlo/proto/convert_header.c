/* HloModuleProto to module: what stands before the computations. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/convert_reading.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <string.h>

int hlo_reading_memory(struct reading *r)
{
    return err_no_memory(r->e, "for this module");
}

char *hlo_reading_clean(struct reading *r, const char *text)
{
    size_t size = strlen(text);
    char *copy = arena_get(&r->m->arena, size + 1, 1);

    if (copy)
        text_clean(copy, size + 1, text, size);
    return copy;
}

static bool keep_header(struct reading *r, struct hlo_text *list)
{
    char *copy = r->text.size > UINT32_MAX ? NULL : hlo_convert_text(&r->m->arena, &r->text);

    if (!copy)
        return false;
    list[r->m->header_count++] = (struct hlo_text){copy, (uint32_t)r->text.size};
    str_clear(&r->text);
    return true;
}

static void print_layout(const Xla__ProgramShapeProto *p, struct str *out)
{
    str_add(out, "entry_computation_layout={(");
    for (size_t i = 0; i < p->n_parameters; i++) {
        if (i)
            str_add(out, ", ");
        if (i && i % 5 == 0)
            str_format(out, "/*index=%zu*/", i);
        hlo_print_shape(p->parameters[i], out);
    }
    str_add(out, ")->");
    if (p->result)
        hlo_print_shape(p->result, out);
    str_add_char(out, '}');
}

int hlo_reading_header(struct reading *r)
{
    const Xla__HloModuleProto *p = r->p;
    struct hlo_text *list = arena_get(&r->m->arena, p->n_kept_header + 2, sizeof *list);
    bool done = list != NULL;

    str_clear(&r->text);
    r->m->header = list;
    if (done && p->host_program_shape && p->host_program_shape->result) {
        print_layout(p->host_program_shape, &r->text);
        done = keep_header(r, list);
    }
    if (done && p->frontend_attributes && p->frontend_attributes->n_map) {
        str_add(&r->text, "frontend_attributes=");
        hlo_print_dict(p->frontend_attributes, &r->text);
        done = keep_header(r, list);
    }
    for (size_t i = 0; i < p->n_kept_header && done; i++) {
        str_add(&r->text, p->kept_header[i]);
        done = keep_header(r, list);
    }
    if (done && p->stack_frame_index && p->stack_frame_index->n_file_names) {
        hlo_print_tables(p->stack_frame_index, &r->text);
        while (r->text.size && r->text.text[r->text.size - 1] == '\n')
            r->text.size--;
        char *copy = r->text.size > UINT32_MAX ? NULL : hlo_convert_text(&r->m->arena, &r->text);
        done = copy != NULL;
        r->m->tables = (struct hlo_text){copy, (uint32_t)r->text.size};
    }
    r->m->is_scheduled = p->schedule && p->schedule->n_sequences;
    if (p->device_assignment && p->device_assignment->replica_count > 0 &&
        p->device_assignment->computation_count > 0) {
        r->m->replica_count = p->device_assignment->replica_count;
        r->m->num_partitions = p->device_assignment->computation_count;
    }
    r->m->name = hlo_reading_clean(r, p->name);
    return done && r->m->name ? 0 : hlo_reading_memory(r);
}

/* ---- aliases ---- */

enum { STEPS_MAX = 200 * 1000 * 1000 }; /* over the parts of tuples */

/* The leaf at `index` of a shape; false when it names none, or after too many steps. */
static bool leaf_of(struct reading *r, hlo_shape_id id, const int64_t *index, size_t depth,
                    uint32_t *leaf)
{
    const struct hlo_builder *b = r->b;

    *leaf = 0;
    for (size_t d = 0; d < depth; d++) {
        const struct hlo_shape *s = hlo_builder_shape(b, id);
        if (s->type != HLO_TUPLE || index[d] < 0 || index[d] >= s->part_count)
            return false;
        r->steps += (uint64_t)index[d];
        if (r->steps > STEPS_MAX)
            return false;
        for (uint32_t n = 0; n < (uint32_t)index[d]; n++)
            *leaf += hlo_builder_shape(b, s->parts[n])->leaf_count;
        id = s->parts[index[d]];
    }
    return hlo_builder_shape(b, id)->type != HLO_TUPLE;
}

struct entry_shapes {
    hlo_shape_id root;
    hlo_shape_id *params;
    size_t count;
};

static bool find_shapes(struct reading *r, hlo_comp entry, struct entry_shapes *s)
{
    uint32_t total = hlo_builder_count(r->b);

    s->count = r->p->computations[entry]->n_instructions;
    s->params = arena_get(r->scratch, s->count + 1, sizeof *s->params);
    if (!s->params)
        return false;
    memset(s->params, 0xff, s->count * sizeof *s->params);
    for (uint32_t id = 0; id < total; id++) {
        const struct hlo_instruction *i = hlo_builder_at(r->b, id);
        if (i->computation != entry)
            continue;
        if (i->is_root)
            s->root = i->shape;
        if (i->opcode == HLO_OP_PARAMETER && i->number < s->count)
            s->params[i->number] = i->shape;
    }
    return true;
}

static bool read_source(struct reading *r, const struct entry_shapes *s, int64_t parameter,
                        const int64_t *index, size_t depth, struct hlo_alias *out)
{
    if (parameter < 0 || parameter >= (int64_t)s->count || s->params[parameter] == HLO_NONE)
        return false;
    out->param = (uint32_t)parameter;
    return leaf_of(r, s->params[parameter], index, depth, &out->param_leaf);
}

int hlo_reading_aliases(struct reading *r, hlo_comp entry)
{
    const Xla__HloInputOutputAliasProto *in = r->p->input_output_alias;
    const Xla__HloBufferDonorProto *don = r->p->buffer_donor;
    size_t aliases = in ? in->n_entries : 0, donors = don ? don->n_entries : 0;
    struct entry_shapes s = {0};

    if (!aliases && !donors)
        return 0;
    struct hlo_alias *list = arena_get(&r->m->arena, aliases + donors, sizeof *list);
    if (!list || !find_shapes(r, entry, &s))
        return hlo_reading_memory(r);
    r->m->aliases = list;
    r->m->donors = list + aliases;
    for (size_t n = 0; n < aliases + donors; n++) {
        struct hlo_alias a = {0};
        bool fits;
        if (n < aliases) {
            const Xla__HloInputOutputAliasProto__AliasEntryProto *one = in->entries[n];
            a.must = one->kind == XLA__KIND__MUST_ALIAS;
            fits = leaf_of(r, s.root, one->output_shape_index, one->n_output_shape_index, &a.out) &&
                   read_source(r, &s, one->parameter_number, one->parameter_shape_index,
                               one->n_parameter_shape_index, &a);
        } else {
            const Xla__HloBufferDonorProto__BufferDonorEntryProto *one = don->entries[n - aliases];
            fits = read_source(r, &s, one->parameter_number, one->parameter_shape_index,
                               one->n_parameter_shape_index, &a);
        }
        if (r->steps > STEPS_MAX)
            return err_set(r->e, ERR_LIMIT, "aliases over too many tuples");
        if (!fits)
            return err_set(
                r->e, ERR_INPUT, "%s.entries[%zu] names no array of the entry computation",
                n < aliases ? "input_output_alias" : "buffer_donor", n < aliases ? n : n - aliases);
        if (n < aliases)
            list[r->m->alias_count++] = a;
        else
            list[aliases + r->m->donor_count++] = a;
    }
    return 0;
}
