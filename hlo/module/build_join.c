/* Two builders that read a text side by side become one: ids of the second are renumbered as if the
 * first had read on. Shapes, metas and computations keep the order of first use. */
#include "hlo/module/build.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <string.h>

struct hlo_builder *hlo_builder_new_rest(const struct hlo_builder *b, size_t at, uint32_t line,
                                         size_t line_begin)
{
    size_t lines = b->lines > line ? b->lines - line : 0;
    struct hlo_builder *rest =
        hlo_builder_new_text(NULL, b->input_size - at, lines, false, b->m->arena.limit);

    if (!rest)
        return NULL;
    rest->input = b->input;
    rest->input_size = b->input_size;
    rest->line = line;
    rest->line_at = rest->line_begin = line_begin;
    if (!mem_grow(&rest->computations, &rest->computation_room, 0, 1)) {
        hlo_builder_free_rest(rest);
        return NULL;
    }
    rest->computations[rest->computation_count++] =
        (struct hlo_computation){.name = "", .first = HLO_NONE, .root = HLO_NONE};
    return rest;
}

void hlo_builder_free_rest(struct hlo_builder *rest)
{
    if (rest)
        rest->input = NULL;
    hlo_builder_free(rest);
}

bool hlo_builder_can_join(const struct hlo_builder *b, const struct hlo_builder *rest)
{
    const struct arena *a = &b->m->arena;

    return b->instruction_count + rest->instruction_count <= HLO_INSTRUCTIONS_MAX &&
           b->computation_count + rest->computation_count <= HLO_COMPUTATIONS_MAX &&
           b->operand_count + rest->operand_count <= INT32_MAX &&
           b->name_count + rest->name_count <= UINT32_MAX - HLO_NAME_MAX &&
           b->warning_count + rest->warning_count < HLO_WARNINGS_MAX &&
           a->used + rest->m->arena.used <= a->limit / 2; /* and half for what is made of it */
}

/* ---- what is interned ---- */

struct ids {
    hlo_shape_id *shapes;
    uint32_t *metas;
};

static int join_shape(struct hlo_builder *b, const struct hlo_shape *s, struct ids *ids,
                      hlo_shape_id *parts, hlo_shape_id *out, struct err *e)
{
    struct hlo_shape_draft d = hlo_draft_of_shape(s, s->dims, parts);

    for (uint32_t n = 0; n < s->part_count; n++)
        parts[n] = ids->shapes[s->parts[n]];
    return hlo_build_shape(b, &d, out, e);
}

static int join_shapes(struct hlo_builder *b, const struct hlo_builder *rest, struct ids *ids,
                       struct err *e)
{
    hlo_shape_id *parts = NULL;
    size_t room = 0;
    int rc = 0;

    for (size_t n = 0; n < rest->shape_count; n++) {
        const struct hlo_shape *s = &rest->shapes[n];
        if (!mem_grow(&parts, &room, 0, (size_t)s->part_count + 1))
            rc = hlo_build_memory(e);
        else
            rc = join_shape(b, s, ids, parts, &ids->shapes[n], e);
        if (rc)
            goto out;
    }
out:
    free(parts);
    return rc;
}

/* The index of `rest` knows their hashes. */
static int join_metas(struct hlo_builder *b, struct hlo_builder *rest, struct ids *ids,
                      struct err *e)
{
    uint64_t *hashes = mem_try(rest->meta_count, sizeof *hashes);

    if (!hashes)
        return hlo_build_memory(e);
    for (size_t n = 0; n < rest->meta_index.room; n++) {
        if (rest->meta_index.slots[n])
            hashes[rest->meta_index.slots[n] - 1] = rest->meta_index.hashes[n];
    }
    hlo_index_release(&rest->meta_index);
    int rc = 0;
    for (size_t n = 1; n < rest->meta_count && !rc; n++)
        rc = hlo_build_meta_of(b, &rest->metas[n], hashes[n], &ids->metas[n], e);
    free(hashes);
    return rc;
}

static int join_warnings(struct hlo_builder *b, const struct hlo_builder *rest, struct err *e)
{
    for (size_t n = 0; n < rest->warning_count; n++) {
        const struct hlo_warning *w = &rest->warnings[n];
        struct hlo_warning *same = hlo_build_find_warning(b, w->what);
        if (same)
            same->count += w->count;
        else if (mem_grow(&b->warnings, &b->warning_room, b->warning_count, 1))
            b->warnings[b->warning_count++] = *w;
        else
            return hlo_build_memory(e);
    }
    return 0;
}

/* ---- what is appended ---- */

static void append(void *to, size_t *count, const void *from, size_t items, size_t size)
{
    if (items)
        memcpy((char *)to + *count * size, from, items * size);
    *count += items;
}

/* Instructions of `rest` on their way to those of `b`, which stays as it is. */
struct moved {
    const struct hlo_builder *b, *rest;
    const hlo_comp *comps;
    const struct ids *ids;
    size_t begin, end;
};

static void *move_instructions(void *context)
{
    const struct moved *m = context;
    const struct hlo_builder *b = m->b;
    struct hlo_instruction *to = b->instructions + b->instruction_count;

    for (size_t n = m->begin; n < m->end; n++) {
        struct hlo_instruction i = m->rest->instructions[n];
        i.computation = m->comps[i.computation];
        i.shape = m->ids->shapes[i.shape];
        i.meta = m->ids->metas[i.meta];
        i.name += (uint32_t)b->name_count - 1; /* the empty name and literal are there once */
        i.literal += i.literal ? (uint32_t)b->literal_count - 1 : 0;
        i.operands += (uint32_t)b->operand_count;
        i.called += (uint32_t)b->called_count;
        i.attrs += (uint32_t)b->attr_count;
        to[n] = i;
    }
    return NULL;
}

enum { HALVES_LEAST = 10000 }; /* instructions; below, a thread costs more than it saves */

/* Of many one half by a second thread. */
static void join_instructions(struct hlo_builder *b, const struct hlo_builder *rest,
                              const hlo_comp *comps, const struct ids *ids)
{
    bool are_many = rest->instruction_count >= HALVES_LEAST;
    size_t middle = are_many ? rest->instruction_count / 2 : rest->instruction_count;
    struct moved first = {b, rest, comps, ids, 0, middle},
                 second = {b, rest, comps, ids, middle, rest->instruction_count};
    struct beside beside;

    beside_begin(&beside, are_many, move_instructions, &second);
    move_instructions(&first);
    beside_end(&beside);
}

/* All room is there before anything is changed. */
static int join_arrays(struct hlo_builder *b, struct hlo_builder *rest, const hlo_comp *comps,
                       const struct ids *ids, struct err *e)
{
    hlo_id first = (hlo_id)b->instruction_count;

    if (!mem_grow(&b->instructions, &b->instruction_room, b->instruction_count,
                  rest->instruction_count) ||
        !mem_grow(&b->operands, &b->operand_room, b->operand_count, rest->operand_count) ||
        !mem_grow(&b->called, &b->called_room, b->called_count, rest->called_count) ||
        !mem_grow(&b->attrs, &b->attr_room, b->attr_count, rest->attr_count) ||
        !mem_grow(&b->names, &b->name_room, b->name_count, rest->name_count + HLO_NAME_SLACK) ||
        !mem_grow(&b->literals, &b->literal_room, b->literal_count, rest->literal_count))
        return hlo_build_memory(e);
    join_instructions(b, rest, comps, ids);
    free(rest->instructions); /* the largest, where memory is never scarcer */
    rest->instructions = NULL;
    for (size_t n = 0; n < rest->operand_count; n++)
        b->operands[b->operand_count + n] =
            rest->operands[n] == HLO_NONE ? HLO_NONE : rest->operands[n] + first;
    for (size_t n = 0; n < rest->called_count; n++)
        b->called[b->called_count + n] = comps[rest->called[n]];
    b->instruction_count += rest->instruction_count;
    b->operand_count += rest->operand_count;
    b->called_count += rest->called_count;
    append(b->attrs, &b->attr_count, rest->attrs, rest->attr_count, sizeof *b->attrs);
    append(b->names, &b->name_count, rest->names + 1, rest->name_count - 1, 1);
    append(b->literals, &b->literal_count, rest->literals + 1, rest->literal_count - 1,
           sizeof *b->literals);
    for (size_t c = 0; c < rest->computation_count; c++) {
        if (rest->computations[c].thread)
            b->computations[comps[c]].thread = rest->computations[c].thread;
    }
    return 0;
}

int hlo_builder_join(struct hlo_builder *b, struct hlo_builder *rest, const hlo_comp *comps,
                     hlo_shape_id *shapes, size_t count, struct err *e)
{
    struct ids ids = {.shapes = mem_try(rest->shape_count, sizeof *ids.shapes),
                      .metas = mem_try(rest->meta_count, sizeof *ids.metas)};
    int rc = 0;

    arena_join(&b->m->arena, &rest->m->arena);
    hlo_index_release(&rest->computation_index);
    hlo_index_release(&rest->instruction_index);
    hlo_index_release(&rest->shape_index);
    if (!ids.shapes || !ids.metas)
        rc = hlo_build_memory(e);
    if (rc)
        goto out;
    rc = join_shapes(b, rest, &ids, e);
    if (rc)
        goto out;
    rc = join_metas(b, rest, &ids, e);
    if (rc)
        goto out;
    rc = join_warnings(b, rest, e);
    if (rc)
        goto out;
    rc = join_arrays(b, rest, comps, &ids, e);
    for (size_t n = 0; n < count; n++)
        shapes[n] = ids.shapes[shapes[n]];
out:
    free(ids.shapes);
    free(ids.metas);
    hlo_builder_free_rest(rest);
    return rc;
}
