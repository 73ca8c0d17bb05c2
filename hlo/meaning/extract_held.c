#include "hlo/meaning/extract_internal.h"

#include "hlo/meaning/extract.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

bool hlo_extract_holds(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    switch (i->opcode) {
    case HLO_OP_WHILE:
        return i->operand_count == 1;
    case HLO_OP_CONDITIONAL:
        return i->operand_count == i->called_count + 1;
    case HLO_OP_FUSION:
    case HLO_OP_CALL:
        return i->called_count == 1 &&
               m->computations[hlo_called(m, id, 0)].param_count == i->operand_count;
    default:
        return false;
    }
}

hlo_value extract_goal(const struct hlo_module *m, hlo_id id, uint32_t n, uint32_t leaf)
{
    switch (hlo_at(m, id)->opcode) {
    case HLO_OP_WHILE:
        return m->leaf_base[id] + leaf;
    case HLO_OP_CONDITIONAL:
        return n ? m->leaf_base[m->computations[hlo_called(m, id, n - 1)].params[0]] + leaf
                 : HLO_NONE;
    default:
        return m->leaf_base[m->computations[hlo_called(m, id, 0)].params[n]] + leaf;
    }
}

/* ---- tuples ---- */

/* What gives values `first` .. of `user`, which have the shape `s`: a tuple is made of what gives
 * its arrays. They become the values `goal` ..; HLO_NONE: nothing that is cut. */
static int join(struct extractor *x, hlo_id user, const struct hlo_shape *s, hlo_value first,
                hlo_value goal, hlo_id *out)
{
    const struct hlo_module *m = x->m;

    if (extract_is_array(s))
        return extract_find_made(x, user, hlo_extract_source(m, first),
                                 goal == HLO_NONE ? 0 : extract_cut_of(x, goal), out);
    hlo_id *parts = mem_try((size_t)s->part_count + 1, sizeof *parts);
    struct hlo_draft d = {.computation = x->at,
                          .opcode = HLO_OP_TUPLE,
                          .operands = parts,
                          .operand_count = s->part_count,
                          .at = SIZE_MAX};
    int rc = parts ? 0 : err_no_memory(x->e, EXTRACT_MEMORY);

    for (uint32_t n = 0; n < s->part_count && !rc; n++)
        rc = join(x, user, &m->shapes[s->parts[n]], first + s->part_leaf[n],
                  goal == HLO_NONE ? goal : goal + s->part_leaf[n], &parts[n]);
    rc = rc ? rc : extract_build_shape(x, user, s, goal == HLO_NONE ? first : goal, 0, &d.shape);
    rc = rc ? rc : extract_add_draft(x, &d, first, out);
    free(parts);
    return rc;
}

int extract_held_operand(struct extractor *x, hlo_id id, uint32_t n, hlo_id *out)
{
    hlo_id o = hlo_operand(x->m, id, n);

    return join(x, id, hlo_shape(x->m, o), x->m->leaf_base[o], extract_goal(x->m, id, n, 0), out);
}

static int add_parts(struct extractor *x, hlo_id id, const struct hlo_shape *s, hlo_value first,
                     hlo_id made)
{
    int rc = 0;

    if (extract_is_array(s)) {
        x->made[first] = made;
        return 0;
    }
    for (uint32_t n = 0; n < s->part_count && !rc; n++) {
        const struct hlo_shape *part = &x->m->shapes[s->parts[n]];
        struct hlo_draft d = {.computation = x->at,
                              .opcode = HLO_OP_GET_TUPLE_ELEMENT,
                              .operands = &made,
                              .operand_count = 1,
                              .number = n,
                              .at = SIZE_MAX};
        hlo_value v = first + s->part_leaf[n];
        hlo_id element;
        rc = extract_build_shape(x, id, part, v, 0, &d.shape);
        rc = rc ? rc : extract_add_draft(x, &d, v, &element);
        rc = rc ? rc : add_parts(x, id, part, v, element);
    }
    return rc;
}

int extract_add_elements(struct extractor *x, hlo_id id, hlo_id made)
{
    return add_parts(x, id, hlo_shape(x->m, id), x->m->leaf_base[id], made);
}

/* ---- a region's ends ---- */

int extract_add_parameter(struct extractor *x, hlo_id id)
{
    struct hlo_draft d = extract_draft_of(x, id);
    hlo_id made;

    d.computation = x->at;
    int rc = extract_build_shape(x, id, hlo_shape(x->m, id), x->m->leaf_base[id], 0, &d.shape);
    rc = rc ? rc : extract_add_draft(x, &d, x->m->leaf_base[id], &made);
    return rc ? rc : extract_add_elements(x, id, made);
}

/* Of a condition: a choice. Of all else what the holder gives, or carries on. */
static hlo_value goal_of_root(const struct extractor *x, hlo_comp c)
{
    hlo_id holder = x->holder[c];
    bool is_condition =
        hlo_at(x->m, holder)->opcode == HLO_OP_WHILE && hlo_called(x->m, holder, 0) != c;

    return is_condition ? HLO_NONE : x->m->leaf_base[holder];
}

int extract_held_root(struct extractor *x, hlo_comp c)
{
    hlo_id root = x->m->computations[c].root, made;
    int rc = join(x, root, hlo_shape(x->m, root), x->m->leaf_base[root], goal_of_root(x, c), &made);

    if (!rc)
        hlo_builder_at(x->b, made)->is_root = true;
    return rc;
}
