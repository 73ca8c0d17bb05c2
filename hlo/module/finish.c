/* From what a reader found to an immutable module: users, callers, leaves, parameters. */
#include "hlo/module/build.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <string.h>

/* ---- what follows from the order ---- */

/* What one look at all instructions finds: they are many bytes, and looked at as seldom as can be.
 */
struct fill {
    struct hlo_builder *b;
    const struct hlo_shape *shapes;
    struct hlo_some params, callers;
    hlo_shape_id *shape_of; /* of each instruction */
    uint32_t *base;         /* its first leaf */
};

static int note_in_computation(struct fill *f, hlo_id id, struct err *e)
{
    struct hlo_builder *b = f->b;
    const struct hlo_instruction *i = &b->instructions[id];
    struct hlo_computation *c = &b->computations[i->computation];

    if (!c->count)
        c->first = id;
    c->count++;
    if (i->is_root) {
        if (c->root != HLO_NONE) {
            err_set(e, ERR_INPUT, "a second ROOT in computation \"%.100s\", expected one", c->name);
            return hlo_build_error_at(b, id, e);
        }
        c->root = id;
    }
    b->m->opcode_count[i->opcode]++;
    if (i->opcode == HLO_OP_PARAMETER)
        c->param_count++;
    if ((i->opcode == HLO_OP_PARAMETER && !hlo_some_add(&f->params, id)) ||
        (i->called_count && !hlo_some_add(&f->callers, id)))
        return hlo_build_memory(e);
    return 0;
}

/* How many leaves it has, after those of the instructions before it. */
static int count_leaves(struct fill *f, hlo_id id, struct err *e)
{
    struct hlo_instruction *i = &f->b->instructions[id];
    const hlo_id *o = f->b->operands + i->operands; /* earlier ones: their bases stand */
    uint64_t total = (uint64_t)f->base[id] + f->shapes[i->shape].leaf_count;
    bool takes = false;

    for (uint32_t k = 0; k < i->operand_count; k++)
        takes |= f->base[o[k] + 1] != f->base[o[k]] + 1;
    if (i->takes_tuples != takes)
        i->takes_tuples = takes; /* rare: the other thread has most lines to itself */
    if (total > INT32_MAX)
        return err_set(e, ERR_LIMIT, "more than %d tuple leaves in all", INT32_MAX);
    f->base[id + 1] = (uint32_t)total;
    f->shape_of[id] = i->shape;
    return 0;
}

static int fill_computations(struct fill *f, struct err *e)
{
    struct hlo_builder *b = f->b;

    for (hlo_id n = 0; n < b->instruction_count; n++) {
        int rc = note_in_computation(f, n, e);
        rc = rc ? rc : count_leaves(f, n, e);
        if (rc)
            return rc;
    }
    for (size_t c = 0; c < b->computation_count; c++) {
        struct hlo_computation *comp = &b->computations[c];
        if (!comp->count)
            return err_set(e, ERR_INPUT,
                           "computation \"%.100s\" has no instruction, expected at least one",
                           comp->name);
        if (comp->root == HLO_NONE)
            comp->root = comp->first + comp->count - 1;
        b->instructions[comp->root].is_root = true;
    }
    return 0;
}

static int fill_params(struct hlo_builder *b, const struct hlo_some *found, struct err *e)
{
    for (size_t n = 0; n < b->computation_count; n++) {
        struct hlo_computation *c = &b->computations[n];
        hlo_id *params = arena_get(&b->m->arena, c->param_count + 1, sizeof *params);
        if (!params)
            return hlo_build_memory(e);
        memset(params, 0xff, c->param_count * sizeof *params);
        c->params = params;
    }
    for (size_t n = 0; n < found->count; n++) {
        const struct hlo_instruction *p = &b->instructions[found->list[n]];
        const struct hlo_computation *c = &b->computations[p->computation];
        if (p->number >= c->param_count || c->params[p->number] != HLO_NONE) {
            err_set(e, ERR_INPUT,
                    "parameter number %u in computation \"%.100s\" of %u parameters, expected "
                    "each of 0 to %u once",
                    p->number, c->name, c->param_count, c->param_count - 1);
            return hlo_build_error_at(b, found->list[n], e);
        }
        ((hlo_id *)(uintptr_t)c->params)[p->number] = found->list[n];
    }
    return 0;
}

static int fill_callers(struct hlo_builder *b, const struct hlo_some *found, struct err *e)
{
    hlo_id *pool = arena_get(&b->m->arena, b->called_count + 1, sizeof *pool);
    uint32_t *last =
        mem_try(b->computation_count, sizeof *last); /* last caller + 1, to skip repeats */

    if (!pool || !last) {
        free(last);
        return hlo_build_memory(e);
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        memset(last, 0, b->computation_count * sizeof *last);
        for (size_t f = 0; f < found->count; f++) {
            hlo_id n = found->list[f];
            const struct hlo_instruction *i = &b->instructions[n];
            for (uint32_t k = 0; k < i->called_count; k++) {
                hlo_comp callee = b->called[i->called + k];
                struct hlo_computation *c = &b->computations[callee];
                if (last[callee] == n + 1)
                    continue;
                last[callee] = n + 1;
                if (pass)
                    ((hlo_id *)(uintptr_t)c->callers)[c->caller_count] = n;
                c->caller_count++;
            }
        }
        for (size_t c = 0; !pass && c < b->computation_count; c++) {
            b->computations[c].callers = pool;
            pool += b->computations[c].caller_count;
            b->computations[c].caller_count = 0;
        }
    }
    free(last);
    return 0;
}

/* Of each instruction those that read it, each once, in order. Each gets as much room as it is
 * named as an operand: what repeats leave of it stays empty. */
struct users {
    struct hlo_builder *b;
    struct reader {
        uint32_t last, first, at; /* the last one + 1; where they begin, where the next goes */
    } * readers;
    hlo_id *pool;
    struct beside beside;
};

static void *fill_users(void *context)
{
    struct users *u = context;
    struct hlo_instruction *instructions = u->b->instructions;
    uint32_t count = (uint32_t)u->b->instruction_count, at = 0;

    for (size_t k = 0; k < u->b->operand_count; k++) {
        if (u->b->operands[k] < count) /* of an instruction that was dropped it may be anything */
            u->readers[u->b->operands[k]].at++;
    }
    for (uint32_t n = 0; n < count; n++) {
        uint32_t room = u->readers[n].at;
        u->readers[n].first = u->readers[n].at = at;
        at += room;
    }
    for (uint32_t n = 0; n < count; n++) {
        const hlo_id *o = u->b->operands + instructions[n].operands;
        for (const hlo_id *end = o + instructions[n].operand_count; o < end; o++) {
            struct reader *r = &u->readers[*o];
            if (r->last == n + 1)
                continue;
            r->last = n + 1;
            u->pool[r->at++] = n;
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        instructions[n].users = u->readers[n].first;
        instructions[n].user_count = u->readers[n].at - u->readers[n].first;
    }
    return NULL;
}

enum { BESIDE_LEAST = 1 << 15 }; /* instructions; below, a thread costs more than it saves */

/* Users are found beside what else follows from the order: nothing else writes or reads them. */
static int begin_users(struct users *u, struct hlo_builder *b, struct err *e)
{
    u->b = b;
    u->readers = mem_try(b->instruction_count, sizeof *u->readers);
    u->pool = arena_get(&b->m->arena, b->operand_count + 1, sizeof *u->pool);
    if (!u->readers || !u->pool)
        return hlo_build_memory(e);
    beside_begin(&u->beside, b->instruction_count >= BESIDE_LEAST, fill_users, u);
    return 0;
}

static int fill_leaves(struct fill *f, struct err *e)
{
    struct hlo_module *m = f->b->m;
    uint32_t total = f->base[f->b->instruction_count];
    hlo_id *owner = arena_get(&m->arena, (size_t)total + 1, sizeof *owner);
    hlo_shape_id *shape = arena_get(&m->arena, (size_t)total + 1, sizeof *shape);

    if (!owner || !shape)
        return hlo_build_memory(e);
    for (hlo_id n = 0; n < f->b->instruction_count; n++) {
        const struct hlo_shape *s = &f->shapes[f->shape_of[n]];
        for (uint32_t k = 0; k < s->leaf_count; k++) {
            owner[f->base[n] + k] = n;
            shape[f->base[n] + k] = s->leaves[k];
        }
    }
    m->leaf_base = f->base;
    m->value_instruction = owner;
    m->value_shape = shape;
    m->value_count = total;
    return 0;
}

/* Gives a growing array to the module's arena, without the room it did not need. */
static bool adopt(struct hlo_builder *b, void **array, size_t size)
{
    if (!*array)
        return true;
    void *fitting = realloc(*array, size ? size : 1);
    if (fitting)
        *array = fitting;
    return arena_adopt(&b->m->arena, *array, size);
}

#define MOVE(field, array, items)                                       \
    do {                                                                \
        void *moved = b->array;                                         \
        bool is_adopted = adopt(b, &moved, (items) * sizeof *b->array); \
        b->array = moved;                                               \
        if (!is_adopted)                                                \
            return hlo_build_memory(e);                                 \
        b->m->field = b->array;                                         \
        b->array = NULL;                                                \
    } while (0)

static int move_arrays(struct hlo_builder *b, struct err *e)
{
    MOVE(instructions, instructions, b->instruction_count);
    MOVE(computations, computations, b->computation_count);
    MOVE(operand_pool, operands, b->operand_count);
    MOVE(called_pool, called, b->called_count);
    if (hlo_build_has_lent_names(b)) {
        b->m->names = b->names;
        b->names = NULL;
    } else {
        MOVE(names, names, b->name_count);
    }
    MOVE(metas, metas, b->meta_count);
    if (b->source) {
        b->m->attr_pool = b->source->attr_pool;
        b->m->literals = b->source->literals;
        b->m->shapes = b->source->shapes;
    } else {
        MOVE(attr_pool, attrs, b->attr_count);
        MOVE(literals, literals, b->literal_count);
        MOVE(shapes, shapes, b->shape_count);
    }
    MOVE(warnings, warnings, b->warning_count);
    b->m->name_bytes = b->name_count;
    b->m->count = (uint32_t)b->instruction_count;
    b->m->computation_count = (uint32_t)b->computation_count;
    b->m->meta_count = (uint32_t)b->meta_count;
    b->m->shape_count = b->source ? b->source->shape_count : (uint32_t)b->shape_count;
    b->m->warning_count = (uint32_t)b->warning_count;
    return 0;
}

static int fill_begin(struct fill *f, struct hlo_builder *b, struct err *e)
{
    f->b = b;
    f->shapes = b->source ? b->source->shapes : b->shapes;
    f->shape_of = mem_try(b->instruction_count, sizeof *f->shape_of);
    f->base = arena_get(&b->m->arena, b->instruction_count + 1, sizeof *f->base);
    if (!f->shape_of || !f->base)
        return hlo_build_memory(e);
    f->base[0] = 0;
    return 0;
}

/* Who is in, who calls and who reads whom, and the leaves. */
static int fill_all(struct hlo_builder *b, struct err *e)
{
    struct fill f = {0};
    struct users users = {0};
    int rc = begin_users(&users, b, e);

    if (rc)
        goto out;
    rc = fill_begin(&f, b, e);
    if (rc)
        goto out;
    rc = fill_computations(&f, e);
    if (rc)
        goto out;
    rc = fill_params(b, &f.params, e);
    if (rc)
        goto out;
    rc = fill_callers(b, &f.callers, e);
    if (rc)
        goto out;
    rc = fill_leaves(&f, e);
    b->m->user_pool = users.pool;
out:
    beside_end(&users.beside);
    free(users.readers);
    free(f.shape_of);
    free(f.params.list);
    free(f.callers.list);
    return rc;
}

static int finish_module(struct hlo_builder *b, hlo_comp entry, struct err *e)
{
    int rc = 0;

    if (!b->computation_count)
        return err_set(e, ERR_INPUT, "no computation, expected at least one");
    rc = hlo_build_order(b, &entry, e);
    if (rc)
        return rc;
    rc = fill_all(b, e);
    if (rc)
        return rc;
    b->m->entry = entry;
    b->m->finder = hlo_finder_new(&b->m->arena);
    return b->m->finder ? move_arrays(b, e) : hlo_build_memory(e);
}

int hlo_builder_finish(struct hlo_builder *b, hlo_comp entry, struct hlo_module **out,
                       struct err *e)
{
    hlo_id bad = HLO_NONE;
    int rc = finish_module(b, entry, e);

    if (rc)
        goto out;
    if (!b->source) /* a copy is of what was checked */
        rc = hlo_check(b->m, &bad, e);
    if (rc && bad != HLO_NONE) {
        b->instructions = b->m->instructions;
        hlo_build_error_at(b, bad, e);
        b->instructions = NULL;
    }
    if (rc)
        goto out;
    *out = b->m;
    if (!b->is_text) {
        b->m->input = b->input;
        b->input = NULL;
    }
    b->m = NULL;
out:
    hlo_builder_free(b);
    return rc;
}
