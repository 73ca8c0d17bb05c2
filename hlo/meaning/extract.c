#include "hlo/meaning/extract.h"

#include "hlo/meaning/extract_internal.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/flows.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <string.h>

hlo_value hlo_extract_source(const struct hlo_module *m, hlo_value v)
{
    for (;;) {
        v = hlo_value_source(m, v);
        hlo_id id = m->value_instruction[v];
        const struct hlo_instruction *i = hlo_at(m, id);
        if (i->opcode != HLO_OP_OPT_BARRIER || i->operand_count != 1)
            return v;
        v = m->leaf_base[hlo_operand(m, id, 0)] + hlo_value_leaf(m, v);
    }
}

int extract_refuse(const struct extractor *x, hlo_id id, const char *why)
{
    return err_set(x->e, ERR_INPUT, "%.120s cannot be part of another module: %s",
                   hlo_name(x->m, id), why);
}

bool extract_is_array(const struct hlo_shape *s)
{
    return s->type != HLO_TUPLE && s->type != HLO_BUFFER;
}

/* All that the instruction makes is free. */
static bool makes_free(const struct extractor *x, hlo_id id)
{
    bool free = x->m->leaf_base[id] < x->m->leaf_base[id + 1];

    for (hlo_value v = x->m->leaf_base[id]; v < x->m->leaf_base[id + 1] && free; v++)
        free = x->part->is_free[v];
    return free;
}

/* ---- free values, as their uses need them ---- */

static bool is_input(const struct extractor *x, hlo_value v)
{
    return x->made[v] != HLO_NONE;
}

static int want(struct extractor *x, hlo_id id, uint64_t cut)
{
    for (uint32_t n = x->first[id]; n; n = x->wanted[n - 1].next)
        if (x->wanted[n - 1].cut == cut)
            return 0;
    if (cut && (hlo_extract_holds(x->m, id) || !extract_is_array(hlo_shape(x->m, id))))
        return extract_refuse(x, id, "it is made whole, and some use takes a micro-batch's part");
    if (!mem_grow(&x->wanted, &x->wanted_room, x->wanted_count, 1))
        return err_no_memory(x->e, EXTRACT_MEMORY);
    x->wanted[x->wanted_count] = (struct extract_wanted){id, cut, x->first[id], HLO_NONE};
    x->first[id] = (uint32_t)++x->wanted_count;
    return 0;
}

/* `v` is read with these dims cut, if it is free. */
static int want_value(struct extractor *x, hlo_value v, uint64_t cut)
{
    hlo_value source = hlo_extract_source(x->m, v);
    hlo_id id = x->m->value_instruction[source];

    if (hlo_at(x->m, id)->opcode == HLO_OP_PARAMETER || is_input(x, source) || !makes_free(x, id))
        return 0;
    return cut & x->varies[source] ? extract_want_part(x, source, cut) : want(x, id, cut);
}

static int want_held_operands(struct extractor *x, hlo_id id)
{
    const struct hlo_module *m = x->m;
    int rc = 0;

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id o = hlo_operand(m, id, n);
        for (uint32_t leaf = 0; leaf < hlo_shape(m, o)->leaf_count; leaf++) {
            hlo_value goal = extract_goal(m, id, n, leaf);
            rc = want_value(x, m->leaf_base[o] + leaf,
                            goal == HLO_NONE ? 0 : extract_cut_of(x, goal));
            if (rc)
                return rc;
        }
    }
    return rc;
}

static int want_operands(struct extractor *x, hlo_id id, bool is_free, uint64_t cut)
{
    const struct hlo_module *m = x->m;

    if (hlo_extract_holds(m, id))
        return want_held_operands(x, id);
    if (x->part->cut > 1 && hlo_factors_of(m, id, &x->factors, x->e))
        return x->e->code;
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id o = hlo_operand(m, id, n);
        if (!extract_is_array(hlo_shape(m, o)))
            return extract_refuse(x, id, "it takes a tuple");
        if (want_value(x, m->leaf_base[o], extract_operand_cut(x, id, n, is_free, cut)))
            return x->e->code;
    }
    return 0;
}

static int want_root(struct extractor *x, hlo_comp c, bool is_condition)
{
    const struct hlo_module *m = x->m;
    hlo_id root = m->computations[c].root;

    for (hlo_value v = m->leaf_base[root]; v < m->leaf_base[root + 1]; v++) {
        hlo_value goal = m->leaf_base[x->holder[c]] + hlo_value_leaf(m, v);
        if (want_value(x, v, is_condition ? 0 : extract_cut_of(x, goal)))
            return x->e->code;
    }
    return 0;
}

/* The computations that `id`, which is copied, names. */
static int mark_called(struct extractor *x, hlo_id id, bool holds)
{
    int rc = 0;

    for (uint32_t n = 0; n < hlo_at(x->m, id)->called_count && !rc; n++) {
        hlo_comp c = hlo_called(x->m, id, n);
        if (!holds) {
            x->is_called[c] = CALLED_APPLIED;
            continue;
        }
        if (x->m->computations[c].caller_count != 1)
            return extract_refuse(x, id, "others run its computations too");
        x->is_called[c] = CALLED_HELD;
        x->holder[c] = id;
        rc = want_root(x, c, hlo_at(x->m, id)->opcode == HLO_OP_WHILE && n == 1);
    }
    return rc;
}

/* Tuples, their elements and barriers are looked through, parameters come from outside. */
static bool is_passed_on(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    return i->opcode == HLO_OP_PARAMETER || i->opcode == HLO_OP_TUPLE ||
           i->opcode == HLO_OP_GET_TUPLE_ELEMENT ||
           (i->opcode == HLO_OP_OPT_BARRIER && i->operand_count == 1);
}

/* It is copied as it is, not as uses want it. */
static bool is_copied_once(const struct extractor *x, hlo_id id)
{
    bool is_kept = hlo_at(x->m, id)->computation == x->m->entry ? x->part->is_kept[id]
                                                                : !is_passed_on(x->m, id);

    return is_kept && !makes_free(x, id);
}

static int want_of(struct extractor *x, hlo_id id)
{
    bool once = is_copied_once(x, id);
    int rc = once ? want_operands(x, id, false, 0) : 0;

    if (rc)
        return rc;
    for (uint32_t n = x->first[id]; n; n = x->wanted[n - 1].next)
        if (want_operands(x, id, true, x->wanted[n - 1].cut))
            return x->e->code;
    return once || x->first[id] ? mark_called(x, id, hlo_extract_holds(x->m, id)) : 0;
}

/* Users come after what they use, callers after what they call. */
int extract_want_all(struct extractor *x)
{
    int rc = 0;

    for (uint32_t n = 0; n < x->part->outputs; n++)
        if (want_value(x, x->part->output[n], 0))
            return x->e->code;
    for (hlo_id id = x->m->count; id-- > 0;) {
        hlo_comp c = hlo_at(x->m, id)->computation;
        if (c == x->m->entry || x->is_called[c] == CALLED_HELD)
            rc = want_of(x, id);
        else if (x->is_called[c] == CALLED_APPLIED)
            rc = mark_called(x, id, false);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- instructions ---- */

enum { NAME_ROOM = 600 };

/* `base`, cut when it is long, and `suffix`: numbered where the module has an instruction of that
 * name. `out` [NAME_ROOM]. */
static const char *fresh_name(const struct extractor *x, const char *base, const char *suffix,
                              char *out)
{
    snprintf(out, NAME_ROOM, "%.500s%s", base, suffix);
    for (uint32_t n = 2; hlo_find(x->m, out) != HLO_NONE; n++)
        snprintf(out, NAME_ROOM, "%.500s%s.%u", base, suffix, n);
    return out;
}

/* What reads an input reads its copy: parameter and copy may be split in two ways. `input`: name of
 * the parameter. */
static int add_copy_of_input(struct extractor *x, hlo_value v, const char *input)
{
    char name[NAME_ROOM];
    hlo_id parameter = x->made[v];
    struct hlo_draft d = {.computation = x->at,
                          .opcode = HLO_OP_COPY,
                          .operands = &parameter,
                          .operand_count = 1,
                          .shape = hlo_builder_at(x->b, parameter)->shape,
                          .name = fresh_name(x, input, ".whole", name),
                          .name_size = (uint32_t)strlen(name),
                          .at = SIZE_MAX};

    return extract_add_draft(x, &d, v, &x->made[v]);
}

static int add_inputs(struct extractor *x)
{
    const struct hlo_module *m = x->m;
    char name[NAME_ROOM], leaf[24];
    int rc = 0;

    for (uint32_t n = 0; n < x->part->inputs; n++) {
        if (rc)
            return rc;
        hlo_value v = x->part->input[n];
        hlo_id id = m->value_instruction[v];
        struct hlo_draft d = {.computation = x->at,
                              .opcode = HLO_OP_PARAMETER,
                              .name = hlo_name(m, id),
                              .number = n,
                              .at = SIZE_MAX};
        if (m->leaf_base[id + 1] - m->leaf_base[id] > 1) {
            snprintf(leaf, sizeof leaf, ".leaf%u", hlo_value_leaf(m, v));
            d.name = fresh_name(x, d.name, leaf, name);
        }
        d.name_size = (uint32_t)strlen(d.name);
        if (x->part->is_free[v] && x->part->input_cut)
            x->made_cut[v] = x->part->input_cut[n];
        rc = extract_build_array(x, id, hlo_value_shape(m, v),
                                 x->made_cut[v] | extract_cut_of(x, v), &d.shape);
        rc = rc ? rc : extract_add_draft(x, &d, v, &x->made[v]);
        if (x->part->is_copied && x->part->is_copied[v])
            rc = rc ? rc : add_copy_of_input(x, v, d.name);
    }
    return rc;
}

int extract_find_made(struct extractor *x, hlo_id user, hlo_value v, uint64_t cut, hlo_id *out)
{
    hlo_id id = x->m->value_instruction[v];

    *out = x->made[v];
    if (*out != HLO_NONE && x->part->is_free[v] && x->made_cut[v] != cut)
        return extract_refuse(x, user,
                              "a loop or another module gives what it reads in another size");
    for (uint32_t n = x->first[id]; n && *out == HLO_NONE; n = x->wanted[n - 1].next)
        if (x->wanted[n - 1].cut == cut)
            *out = x->wanted[n - 1].made;
    if (*out == HLO_NONE)
        return extract_refuse(x, user, "something it reads is not there");
    return 0;
}

/* The operands of a copy of `id`, which is free and cut so, or not free. */
static int find_operands(struct extractor *x, hlo_id id, bool is_free, uint64_t cut,
                         struct hlo_draft *d)
{
    const struct hlo_module *m = x->m;
    bool holds = hlo_extract_holds(m, id);
    int rc = x->part->cut > 1 && !holds ? hlo_factors_of(m, id, &x->factors, x->e) : 0;

    d->operand_count = hlo_at(m, id)->operand_count;
    if (!rc && !mem_grow(&x->operands, &x->operand_room, 0, (size_t)d->operand_count + 1))
        rc = err_no_memory(x->e, EXTRACT_MEMORY);
    for (uint32_t n = 0; n < d->operand_count && !rc; n++) {
        if (holds) {
            rc = extract_held_operand(x, id, n, &x->operands[n]);
            continue;
        }
        hlo_value v = hlo_extract_source(m, m->leaf_base[hlo_operand(m, id, n)]);
        uint64_t of = x->part->is_free[v] ? extract_operand_cut(x, id, n, is_free, cut) : 0;
        rc = extract_find_made(x, id, v, of, &x->operands[n]);
    }
    d->operands = x->operands;
    return rc;
}

static int add_copy(struct extractor *x, hlo_id id, bool is_free, uint64_t cut, bool renames,
                    hlo_id *out)
{
    const struct hlo_module *m = x->m;
    struct hlo_attr attrs[64];
    struct hlo_draft d = extract_draft_of(x, id);
    char name[NAME_ROOM], suffix[24];
    hlo_value first = m->leaf_base[id];

    d.computation = x->at;
    if (renames) {
        snprintf(suffix, sizeof suffix, ".cut%llu", (unsigned long long)cut);
        d.name = fresh_name(x, d.name, suffix, name);
        d.name_size = (uint32_t)strlen(name);
    }
    int rc = find_operands(x, id, is_free, cut, &d);
    rc = rc ? rc : extract_build_shape(x, id, hlo_shape(m, id), first, cut, &d.shape);
    rc = rc ? rc : extract_set_called(x, id, &d);
    rc = rc ? rc : extract_set_attrs(x, id, &d, attrs, sizeof attrs / sizeof *attrs);
    rc =
        rc ? rc
           : extract_cut_attrs(x, id, is_free, is_free ? cut : extract_cut_of(x, first), &d, attrs);
    return rc ? rc : extract_add_draft(x, &d, first, out);
}

static int add_kept(struct extractor *x, hlo_id id)
{
    hlo_id made;
    int rc = add_copy(x, id, false, 0, false, &made);

    return rc ? rc : extract_add_elements(x, id, made);
}

static int add_free(struct extractor *x, hlo_id id)
{
    int rc = 0;

    for (uint32_t n = x->first[id]; n; n = x->wanted[n - 1].next) {
        rc = add_copy(x, id, true, x->wanted[n - 1].cut, x->wanted[n - 1].next != 0,
                      &x->wanted[n - 1].made);
        if (rc)
            return rc;
        if (!extract_is_array(hlo_shape(x->m, id)) &&
            extract_add_elements(x, id, x->wanted[n - 1].made))
            return x->e->code;
    }
    return 0;
}

static int add_computation(struct extractor *x, hlo_comp from)
{
    const struct hlo_computation *c = &x->m->computations[from];
    int rc = 0;

    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        if (hlo_at(x->m, id)->opcode == HLO_OP_PARAMETER && from != x->m->entry)
            rc = extract_add_parameter(x, id);
        else if (x->first[id])
            rc = add_free(x, id);
        else if (is_copied_once(x, id))
            rc = add_kept(x, id);
        if (rc)
            return rc;
    }
    return 0;
}

static int add_held(struct extractor *x, hlo_comp from)
{
    const struct hlo_computation *c = &x->m->computations[from];
    int rc = hlo_build_computation(x->b, c->name, strlen(c->name), &x->computation[from], x->e);

    x->at = x->computation[from];
    x->is_annotated = hlo_at(x->m, x->holder[from])->opcode != HLO_OP_FUSION;
    rc = rc ? rc : add_computation(x, from);
    return rc ? rc : extract_held_root(x, from);
}

/* Callees come before callers. */
static int add_called(struct extractor *x)
{
    int rc = 0;

    for (hlo_comp c = 0; c < x->m->computation_count; c++) {
        if (x->is_called[c] == CALLED_HELD)
            rc = add_held(x, c);
        else if (x->is_called[c] == CALLED_APPLIED)
            rc = extract_copy_applied(x, c);
        if (rc)
            return rc;
    }
    return 0;
}

static int add_root(struct extractor *x)
{
    hlo_shape_id *parts = mem_try((size_t)x->part->outputs + 1, sizeof *parts);
    struct hlo_draft d = {.computation = x->at,
                          .opcode = HLO_OP_TUPLE,
                          .is_root = true,
                          .operand_count = x->part->outputs,
                          .at = SIZE_MAX};
    hlo_id made;
    int rc = 0;

    if (!parts || !mem_grow(&x->operands, &x->operand_room, 0, (size_t)x->part->outputs + 1))
        rc = err_no_memory(x->e, EXTRACT_MEMORY);
    for (uint32_t n = 0; n < x->part->outputs && !rc; n++) {
        hlo_value v = x->part->output[n];
        rc = extract_find_made(x, x->m->value_instruction[v], v, 0, &x->operands[n]);
        if (rc)
            break;
        parts[n] = hlo_builder_at(x->b, x->operands[n])->shape;
    }
    struct hlo_shape_draft draft = {
        .type = HLO_TUPLE, .parts = parts, .part_count = x->part->outputs};
    d.operands = x->operands;
    rc = rc ? rc : hlo_build_shape(x->b, &draft, &d.shape, x->e);
    rc = rc ? rc : extract_add_draft(x, &d, HLO_NONE, &made);
    free(parts);
    return rc;
}

static int add_entry(struct extractor *x)
{
    int rc = hlo_build_computation(x->b, "main", 4, &x->at, x->e);

    x->is_annotated = true;
    rc = rc ? rc : add_inputs(x);
    rc = rc ? rc : add_computation(x, x->m->entry);
    return rc ? rc : add_root(x);
}

/* ---- the whole ---- */

int extract_prepare(struct extractor *x)
{
    const struct hlo_module *m = x->m;

    x->b = hlo_builder_new(NULL, 0, 0);
    x->computation = mem_try(m->computation_count, sizeof *x->computation);
    x->is_called = mem_try(m->computation_count, sizeof *x->is_called);
    x->holder = mem_try(m->computation_count, sizeof *x->holder);
    x->made_cut = mem_try(m->value_count, sizeof *x->made_cut);
    x->first = mem_try(m->count, sizeof *x->first);
    x->made = mem_try(m->value_count, sizeof *x->made);
    if (!x->b || !x->computation || !x->is_called || !x->holder || !x->first || !x->made ||
        !x->made_cut)
        return err_no_memory(x->e, EXTRACT_MEMORY);
    memset(x->computation, 0xff, m->computation_count * sizeof *x->computation);
    memset(x->made, 0xff, m->value_count * sizeof *x->made);
    for (uint32_t n = 0; n < x->part->inputs; n++)
        x->made[x->part->input[n]] = 0; /* not none: known not to be made here */
    struct hlo_module *to = hlo_builder_module(x->b);
    to->name = arena_text(&to->arena, x->part->name, strlen(x->part->name));
    to->file = arena_text(&to->arena, "", 0);
    to->replica_count = to->num_partitions = 1;
    return to->name && to->file ? extract_find_varying(x) : err_no_memory(x->e, EXTRACT_MEMORY);
}

void extract_release(struct extractor *x)
{
    hlo_builder_free(x->b);
    hlo_factors_release(&x->factors);
    free(x->computation);
    free(x->is_called);
    free(x->holder);
    free(x->made_cut);
    free(x->varies);
    free(x->first);
    free(x->wanted);
    free(x->made);
    free(x->of);
    free(x->operands);
    free(x->called);
}

/* From the order of adding, which `line` still tells, to final ids. */
static int finish_extractor(struct extractor *x, struct hlo_module **out, hlo_value **of)
{
    struct hlo_builder *b = x->b;
    struct hlo_module *to;

    x->b = NULL; /* finish releases it */
    int rc = hlo_builder_finish(b, x->at, &to, x->e);
    if (rc)
        return rc;
    *of = mem_try((size_t)to->count + 1, sizeof **of);
    if (!*of) {
        hlo_free(to);
        return err_no_memory(x->e, EXTRACT_MEMORY);
    }
    for (hlo_id id = 0; id < to->count; id++) {
        (*of)[id] = x->of[to->instructions[id].line];
        to->instructions[id].line = 0;
    }
    *out = to;
    return 0;
}

int hlo_extract(const struct hlo_module *m, const struct hlo_part *part, struct hlo_module **out,
                hlo_value **of, struct err *e)
{
    struct extractor x = {.m = m, .part = part, .e = e};
    int (*const steps[])(struct extractor *) = {extract_prepare, extract_want_all, add_called,
                                                add_entry};
    int rc = 0;

    *out = NULL;
    *of = NULL;
    for (size_t n = 0; n < sizeof steps / sizeof *steps && !rc; n++)
        rc = steps[n](&x);
    rc = rc ? rc : finish_extractor(&x, out, of);
    extract_release(&x);
    return rc;
}
