/* From what a reader found to an immutable module: order, users, callers, leaves, parameters. */
#include "hlo/module/build.h"
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- order: operands before users, called computations before callers ---- */

struct order {
    uint8_t *state; /* 0 new, 1 on the stack, 2 done */
    uint32_t *stack, *next;
    uint32_t *out; /* items in the order found */
    uint32_t count;
};

static bool order_init(struct order *o, size_t items)
{
    o->state = mem_try(items, 1);
    o->stack = mem_try(items, sizeof *o->stack);
    o->next = mem_try(items, sizeof *o->next);
    o->out = mem_try(items, sizeof *o->out);
    return o->state && o->stack && o->next && o->out;
}

static void order_release(struct order *o)
{
    free(o->state);
    free(o->stack);
    free(o->next);
    free(o->out);
}

/* Gives the n-th item that must come before `item`; false when there are no more. */
typedef bool (*order_before)(const void *graph, uint32_t item, uint32_t n, uint32_t *other);

/* Depth-first post-order from `start`; stable: what is in order stays. Returns HLO_NONE, or an item
 * on a cycle. */
static uint32_t order_from(struct order *o, uint32_t start, const void *graph, order_before before)
{
    uint32_t depth = 0;

    if (o->state[start])
        return HLO_NONE;
    o->stack[depth] = start;
    o->next[start] = 0;
    o->state[start] = 1;
    for (;;) {
        uint32_t item = o->stack[depth], other;
        if (!before(graph, item, o->next[item]++, &other)) {
            o->state[item] = 2;
            o->out[o->count++] = item;
            if (!depth--)
                return HLO_NONE;
        } else if (o->state[other] == 1) {
            return item;
        } else if (!o->state[other]) {
            o->state[other] = 1;
            o->next[other] = 0;
            o->stack[++depth] = other;
        }
    }
}

static bool instruction_before(const void *graph, uint32_t item, uint32_t n, uint32_t *other)
{
    const struct hlo_builder *b = graph;
    const struct hlo_instruction *i = &b->instructions[item];

    if (n < i->operand_count)
        *other = b->operands[i->operands + n];
    else if (n - i->operand_count < i->control_count)
        *other = b->operands[i->controls + n - i->operand_count];
    else
        return false;
    return true;
}

static int check_links(struct hlo_builder *b, struct err *e)
{
    for (size_t n = 0; n < b->instruction_count; n++) {
        struct hlo_instruction *i = &b->instructions[n];
        uint32_t pools[2][2] = {{i->operands, i->operand_count}, {i->controls, i->control_count}};
        for (int p = 0; p < 2; p++) {
            for (uint32_t k = 0; k < pools[p][1]; k++) {
                hlo_id o = b->operands[pools[p][0] + k];
                if (o >= b->instruction_count || b->instructions[o].computation != i->computation) {
                    err_set(e, ERR_INPUT, "%.100s: %s %u is not an instruction of its computation",
                            b->names + i->name, p ? "control predecessor" : "operand", k);
                    return hlo_build_error_at(b, (hlo_id)n, e);
                }
            }
        }
        for (uint32_t k = 0; k < i->called_count; k++) {
            if (b->called[i->called + k] >= b->computation_count) {
                err_set(e, ERR_INPUT, "%.100s: called computation %u is missing",
                        b->names + i->name, k);
                return hlo_build_error_at(b, (hlo_id)n, e);
            }
        }
    }
    return 0;
}

/* Operands and control predecessors of `n` are of begin .. n - 1. */
static bool is_after_operands(const struct hlo_builder *b, uint32_t n, hlo_id begin)
{
    const struct hlo_instruction *i = &b->instructions[n];
    const hlo_id *operands = b->operands + i->operands, *controls = b->operands + i->controls;
    bool is_after = true;

    for (uint32_t k = 0; k < i->operand_count; k++)
        is_after &= operands[k] < n && operands[k] >= begin;
    for (uint32_t k = 0; k < i->control_count; k++)
        is_after &= controls[k] < n && controls[k] >= begin;
    return is_after;
}

static bool is_ordered(const struct hlo_builder *b)
{
    hlo_comp last = 0;
    hlo_id begin = 0;

    for (uint32_t n = 0; n < b->instruction_count; n++) {
        const struct hlo_instruction *i = &b->instructions[n];
        if (i->computation != last) {
            if (i->computation != last + 1)
                return false;
            last = i->computation;
            begin = n;
        }
        if (!is_after_operands(b, n, begin))
            return false;
        for (uint32_t k = 0; k < i->called_count; k++) {
            if (b->called[i->called + k] >= i->computation)
                return false;
        }
    }
    return b->computation_count == 0 || last == b->computation_count - 1;
}

/* Each computation's instructions stand together and in order: true, and `first` (HLO_NONE before)
 * has where each begins. What is left to do is to order the computations. */
static bool are_in_blocks(const struct hlo_builder *b, uint32_t *first)
{
    hlo_comp last = HLO_NONE;

    for (uint32_t n = 0; n < b->instruction_count; n++) {
        hlo_comp c = b->instructions[n].computation;
        if (c != last && first[c] != HLO_NONE)
            return false;
        if (c != last)
            first[c] = n;
        last = c;
        if (!is_after_operands(b, n, first[c]))
            return false;
    }
    return true;
}

/* Items in groups, by counting sort: those of group g are list[first[g] .. first[g + 1]]. */
struct groups {
    uint32_t *first, *list;
};

static bool groups_init(struct groups *g, size_t groups, size_t items)
{
    g->first = mem_try(groups + 2, sizeof *g->first);
    g->list = mem_try(items, sizeof *g->list);
    return g->first && g->list;
}

/* Between counting (first[g + 2]++) and filling (list[first[g + 1]++] = item). */
static void groups_sum(struct groups *g, size_t groups)
{
    for (size_t k = 0; k < groups; k++)
        g->first[k + 1] += g->first[k];
}

static void groups_release(struct groups *g)
{
    free(g->first);
    free(g->list);
}

static bool call_before(const void *graph, uint32_t item, uint32_t n, uint32_t *other)
{
    const struct groups *calls = graph;

    if (n >= calls->first[item + 1] - calls->first[item])
        return false;
    *other = calls->list[calls->first[item] + n];
    return true;
}

/* Computations in post-order of the call graph. */
static int order_computations(struct hlo_builder *b, struct order *o, struct err *e)
{
    struct groups calls = {0};
    int rc = 0;

    if (!groups_init(&calls, b->computation_count, b->called_count) ||
        !order_init(o, b->computation_count)) {
        groups_release(&calls);
        return hlo_build_memory(e);
    }
    for (size_t n = 0; n < b->instruction_count; n++)
        calls.first[b->instructions[n].computation + 2] += b->instructions[n].called_count;
    groups_sum(&calls, b->computation_count + 1);
    for (size_t n = 0; n < b->instruction_count; n++) {
        const struct hlo_instruction *i = &b->instructions[n];
        for (uint32_t k = 0; k < i->called_count; k++)
            calls.list[calls.first[i->computation + 1]++] = b->called[i->called + k];
    }
    for (uint32_t c = 0; c < b->computation_count; c++) {
        uint32_t bad = order_from(o, c, &calls, call_before);
        if (bad != HLO_NONE) {
            rc = err_set(e, ERR_INPUT, "computation \"%.100s\" calls itself, expected no recursion",
                         b->computations[bad].name);
            goto out;
        }
    }
out:
    groups_release(&calls);
    return rc;
}

/* The blocks one after another as their computations are. False: they are none. */
static bool order_blocks(const struct hlo_builder *b, const struct order *comps, struct order *o)
{
    uint32_t *first = o->next; /* as large as it needs, and not yet in use */

    memset(first, 0xff, b->computation_count * sizeof *first);
    if (!are_in_blocks(b, first))
        return false;
    for (size_t c = 0; c < b->computation_count; c++) {
        hlo_comp comp = comps->out[c];
        for (uint32_t n = first[comp];
             n < b->instruction_count && b->instructions[n].computation == comp; n++)
            o->out[o->count++] = n;
    }
    return true;
}

/* Computations in their new order, the instructions of each sorted within. */
static int order_instructions(struct hlo_builder *b, const struct order *comps, struct order *o,
                              struct err *e)
{
    struct groups members = {0};
    int rc = 0;

    if (!order_init(o, b->instruction_count > b->computation_count ? b->instruction_count
                                                                   : b->computation_count))
        return hlo_build_memory(e);
    if (order_blocks(b, comps, o))
        return 0;
    memset(o->next, 0, b->instruction_count * sizeof *o->next);
    if (!groups_init(&members, b->computation_count, b->instruction_count)) {
        groups_release(&members);
        return hlo_build_memory(e);
    }
    for (size_t n = 0; n < b->instruction_count; n++)
        members.first[b->instructions[n].computation + 2]++;
    groups_sum(&members, b->computation_count + 1);
    for (uint32_t n = 0; n < b->instruction_count; n++)
        members.list[members.first[b->instructions[n].computation + 1]++] = n;
    for (size_t c = 0; c < b->computation_count; c++) {
        hlo_comp comp = comps->out[c];
        for (uint32_t k = members.first[comp]; k < members.first[comp + 1]; k++) {
            hlo_id bad = order_from(o, members.list[k], b, instruction_before);
            if (bad == HLO_NONE)
                continue;
            err_set(e, ERR_INPUT, "%.100s is an operand of itself, expected no cycle",
                    b->names + b->instructions[bad].name);
            rc = hlo_build_error_at(b, bad, e);
            if (rc)
                goto out;
        }
    }
out:
    groups_release(&members);
    return rc;
}

/* Renumbers everything by comps->out and ids->out. Instructions move where they are, along the
 * cycles of the order: a second array of them would be the largest of all. */
static int permute(struct hlo_builder *b, const struct order *comps, const struct order *ids,
                   struct err *e)
{
    uint32_t *new_comp = comps->stack,
             *new_id = ids->stack; /* no longer needed: reused as inverses */
    struct hlo_computation *computations = mem_try(b->computation_count, sizeof *computations);

    if (!computations)
        return hlo_build_memory(e);
    for (uint32_t n = 0; n < b->computation_count; n++) {
        new_comp[comps->out[n]] = n;
        computations[n] = b->computations[comps->out[n]];
    }
    for (uint32_t n = 0; n < b->instruction_count; n++)
        new_id[ids->out[n]] = n;
    memset(ids->state, 0, b->instruction_count);
    for (uint32_t begin = 0; begin < b->instruction_count; begin++) {
        if (ids->state[begin])
            continue;
        struct hlo_instruction kept = b->instructions[begin];
        uint32_t to = begin;
        for (uint32_t from; ids->state[to] = 1, (from = ids->out[to]) != begin; to = from)
            b->instructions[to] = b->instructions[from];
        b->instructions[to] = kept;
    }
    for (uint32_t n = 0; n < b->instruction_count; n++)
        b->instructions[n].computation = new_comp[b->instructions[n].computation];
    for (size_t n = 0; n < b->operand_count; n++)
        b->operands[n] = new_id[b->operands[n]];
    for (size_t n = 0; n < b->called_count; n++)
        b->called[n] = new_comp[b->called[n]];
    free(b->computations);
    b->computations = computations;
    b->computation_room = b->computation_count;
    return 0;
}

static int sort_all(struct hlo_builder *b, hlo_comp *entry, struct err *e)
{
    struct order comps = {0}, ids = {0};
    int rc = order_computations(b, &comps, e);

    if (rc)
        goto out;
    rc = order_instructions(b, &comps, &ids, e);
    if (rc)
        goto out;
    rc = permute(b, &comps, &ids, e);
    if (rc)
        goto out;
    *entry = comps.stack[*entry];
out:
    order_release(&comps);
    order_release(&ids);
    return rc;
}

/* ---- what follows from the order ---- */

/* Instructions of a kind that is rare, in order. */
struct some {
    hlo_id *list;
    size_t count, room;
};

static bool some_add(struct some *s, hlo_id id)
{
    if (!mem_grow(&s->list, &s->room, s->count, 1))
        return false;
    s->list[s->count++] = id;
    return true;
}

static int fill_computations(struct hlo_builder *b, struct some *params, struct some *callers,
                             struct err *e)
{
    for (uint32_t n = 0; n < b->instruction_count; n++) {
        const struct hlo_instruction *i = &b->instructions[n];
        struct hlo_computation *c = &b->computations[i->computation];
        if (!c->count)
            c->first = n;
        c->count++;
        if (i->is_root) {
            if (c->root != HLO_NONE) {
                err_set(e, ERR_INPUT, "a second ROOT in computation \"%.100s\", expected one",
                        c->name);
                return hlo_build_error_at(b, n, e);
            }
            c->root = n;
        }
        if (i->opcode == HLO_OP_PARAMETER)
            c->param_count++;
        if ((i->opcode == HLO_OP_PARAMETER && !some_add(params, n)) ||
            (i->called_count && !some_add(callers, n)))
            return hlo_build_memory(e);
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

static int fill_params(struct hlo_builder *b, const struct some *found, struct err *e)
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

static int fill_callers(struct hlo_builder *b, const struct some *found, struct err *e)
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

/* Of each instruction those that read it, each once, in order. */
static int fill_users(struct hlo_builder *b, hlo_id **out, struct err *e)
{
    struct reader {
        uint32_t last, at; /* the last one + 1; how many, then where the next goes */
    } *readers = mem_try(b->instruction_count, sizeof *readers);
    hlo_id *pool = arena_get(&b->m->arena, b->operand_count + 1, sizeof *pool);
    uint32_t count = (uint32_t)b->instruction_count, at = 0;

    if (!pool || !readers) {
        free(readers);
        return hlo_build_memory(e);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < count; n++) {
            const hlo_id *o = b->operands + b->instructions[n].operands;
            for (const hlo_id *end = o + b->instructions[n].operand_count; o < end; o++) {
                struct reader *r = &readers[*o];
                uint32_t mark = pass ? count + n + 1 : n + 1; /* each pass has its own */
                if (r->last == mark)
                    continue;
                r->last = mark;
                if (pass)
                    pool[r->at] = n;
                r->at++;
            }
        }
        for (uint32_t n = 0; !pass && n < count; n++) {
            b->instructions[n].users = at;
            b->instructions[n].user_count = readers[n].at;
            readers[n].at = at;
            at += b->instructions[n].user_count;
        }
    }
    free(readers);
    *out = pool;
    return 0;
}

static int fill_leaves(struct hlo_builder *b, struct err *e)
{
    struct hlo_module *m = b->m;
    const struct hlo_shape *shapes = b->source ? b->source->shapes : b->shapes;
    uint32_t *base = arena_get(&m->arena, b->instruction_count + 1, sizeof *base);
    uint64_t total = 0;

    if (!base)
        return hlo_build_memory(e);
    for (uint32_t n = 0; n < b->instruction_count; n++) {
        struct hlo_instruction *i = &b->instructions[n];
        base[n] = (uint32_t)total;
        i->takes_tuples = false;
        for (uint32_t k = 0; k < i->operand_count;
             k++) /* of earlier instructions: their bases stand */
            i->takes_tuples |=
                base[b->operands[i->operands + k] + 1] != base[b->operands[i->operands + k]] + 1;
        total += shapes[b->instructions[n].shape].leaf_count;
        if (total > INT32_MAX)
            return err_set(e, ERR_LIMIT, "more than %d tuple leaves in all", INT32_MAX);
        base[n + 1] = (uint32_t)total;
    }
    hlo_id *owner = arena_get(&m->arena, total + 1, sizeof *owner);
    hlo_shape_id *shape = arena_get(&m->arena, total + 1, sizeof *shape);
    if (!owner || !shape)
        return hlo_build_memory(e);
    for (uint32_t n = 0; n < b->instruction_count; n++) {
        const struct hlo_shape *s = &shapes[b->instructions[n].shape];
        for (uint32_t k = 0; k < s->leaf_count; k++) {
            owner[base[n] + k] = n;
            shape[base[n] + k] = s->leaves[k];
        }
    }
    m->leaf_base = base;
    m->value_instruction = owner;
    m->value_shape = shape;
    m->value_count = (uint32_t)total;
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
    MOVE(names, names, b->name_count);
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

/* Who is in, who calls and who reads whom, and the leaves. */
static int fill_all(struct hlo_builder *b, struct err *e)
{
    struct some params = {0}, callers = {0};
    hlo_id *users = NULL;
    int rc = fill_computations(b, &params, &callers, e);

    if (rc)
        goto out;
    rc = fill_params(b, &params, e);
    if (rc)
        goto out;
    rc = fill_callers(b, &callers, e);
    if (rc)
        goto out;
    rc = fill_users(b, &users, e);
    if (rc)
        goto out;
    rc = fill_leaves(b, e);
    b->m->user_pool = users;
out:
    free(params.list);
    free(callers.list);
    return rc;
}

static int finish_module(struct hlo_builder *b, hlo_comp entry, struct err *e)
{
    int rc = 0;

    if (!b->computation_count)
        return err_set(e, ERR_INPUT, "no computation, expected at least one");
    if (!is_ordered(b)) { /* what is in order has no link out of its computation */
        rc = b->source ? 0 : check_links(b, e); /* a copy's links are those of what was checked */
        if (rc)
            return rc;
        rc = sort_all(b, &entry, e);
    }
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
    if (!hlo_build_drop_input(b)) {
        rc = hlo_build_memory(e);
        goto out;
    }
    *out = b->m;
    b->m->input = b->input;
    b->m = NULL;
    b->input = NULL;
out:
    hlo_builder_free(b);
    return rc;
}
