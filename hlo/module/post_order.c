/* From the order in which a reader found them to a post-order: operands before users, called
 * computations before their callers. */
#include "hlo/module/build_internal.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <string.h>

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

    if (n >= i->operand_count + i->control_count)
        return false;
    *other = b->operands[i->operands + n];
    return true;
}

static int check_links(struct hlo_builder *b, struct err *e)
{
    for (size_t n = 0; n < b->instruction_count; n++) {
        struct hlo_instruction *i = &b->instructions[n];
        for (uint32_t k = 0; k < i->operand_count + i->control_count; k++) {
            hlo_id o = b->operands[i->operands + k];
            bool is_operand = k < i->operand_count;
            if (o >= b->instruction_count || b->instructions[o].computation != i->computation) {
                err_set(e, ERR_INPUT, "%.100s: %s %u is not an instruction of its computation",
                        b->names + i->name, is_operand ? "operand" : "control predecessor",
                        is_operand ? k : k - i->operand_count);
                return hlo_build_error_at(b, (hlo_id)n, e);
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
    const hlo_id *before = b->operands + i->operands;
    bool is_after = true;

    for (uint32_t k = 0; k < i->operand_count + i->control_count; k++)
        is_after &= before[k] < n && before[k] >= begin;
    return is_after;
}

/* Instructions from the first of a computation on. */
struct stretch {
    const struct hlo_builder *b;
    hlo_id begin, end;
    bool is_ordered; /* also behind what stands before */
};

static void *look_at_order(void *context)
{
    struct stretch *s = context;
    const struct hlo_builder *b = s->b;
    hlo_comp last = s->begin ? b->instructions[s->begin - 1].computation : 0;
    hlo_id begin = s->begin;

    s->is_ordered = true;
    for (hlo_id n = s->begin; n < s->end && s->is_ordered; n++) {
        const struct hlo_instruction *i = &b->instructions[n];
        if (i->computation != last) {
            s->is_ordered = i->computation == last + 1;
            last = i->computation;
            begin = n;
        }
        s->is_ordered &= is_after_operands(b, n, begin);
        for (uint32_t k = 0; k < i->called_count; k++)
            s->is_ordered &= b->called[i->called + k] < i->computation;
    }
    return NULL;
}

enum { HALVES_LEAST = 1 << 15 }; /* instructions; below, a thread costs more than it saves */

/* Of many the later half is looked at by a second thread. */
static bool is_ordered(const struct hlo_builder *b)
{
    hlo_id count = (hlo_id)b->instruction_count, middle = count / 2;
    bool are_many = count >= HALVES_LEAST;
    struct beside beside;

    while (are_many && middle < count &&
           b->instructions[middle].computation == b->instructions[middle - 1].computation)
        middle++;
    struct stretch first = {.b = b, .end = are_many ? middle : count},
                   second = {.b = b, .begin = first.end, .end = count};
    beside_begin(&beside, second.begin < second.end, look_at_order, &second);
    look_at_order(&first);
    beside_end(&beside);
    hlo_comp last = count ? b->instructions[count - 1].computation : 0;
    return first.is_ordered && second.is_ordered &&
           (!b->computation_count || last == b->computation_count - 1);
}

/* What one look at all instructions finds. */
struct found {
    struct hlo_some callers; /* instructions that call */
    /* Each computation's instructions stand together and in order: what is left to do is to order
     * the computations. */
    bool are_blocks;
    uint32_t *first, *count; /* by computation; first HLO_NONE: it has none */
    uint64_t links;          /* operands and control predecessors */
};

static void found_release(struct found *f)
{
    free(f->callers.list);
    free(f->first);
    free(f->count);
}

static int find_blocks(const struct hlo_builder *b, struct found *f, struct err *e)
{
    hlo_comp last = HLO_NONE;

    f->first = mem_try(b->computation_count, sizeof *f->first);
    f->count = mem_try(b->computation_count, sizeof *f->count);
    if (!f->first || !f->count)
        return hlo_build_memory(e);
    memset(f->first, 0xff, b->computation_count * sizeof *f->first);
    f->are_blocks = true;
    for (uint32_t n = 0; n < b->instruction_count; n++) {
        const struct hlo_instruction *i = &b->instructions[n];
        hlo_comp c = i->computation;
        if (c != last)
            f->are_blocks &= f->first[c] == HLO_NONE;
        if (f->first[c] == HLO_NONE)
            f->first[c] = n;
        f->count[c]++;
        last = c;
        f->links += (uint64_t)i->operand_count + i->control_count;
        f->are_blocks = f->are_blocks && is_after_operands(b, n, f->first[c]);
        if (i->called_count && !hlo_some_add(&f->callers, n))
            return hlo_build_memory(e);
    }
    return 0;
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
static int order_computations(struct hlo_builder *b, const struct hlo_some *callers,
                              struct order *o, struct err *e)
{
    struct groups calls = {0};
    int rc = 0;

    if (!groups_init(&calls, b->computation_count, b->called_count) ||
        !order_init(o, b->computation_count)) {
        groups_release(&calls);
        return hlo_build_memory(e);
    }
    for (size_t n = 0; n < callers->count; n++) {
        const struct hlo_instruction *i = &b->instructions[callers->list[n]];
        calls.first[i->computation + 2] += i->called_count;
    }
    groups_sum(&calls, b->computation_count + 1);
    for (size_t n = 0; n < callers->count; n++) {
        const struct hlo_instruction *i = &b->instructions[callers->list[n]];
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

/* The blocks one after another as their computations are. */
static void order_blocks(const struct hlo_builder *b, const struct order *comps,
                         const struct found *f, struct order *o)
{
    for (size_t c = 0; c < b->computation_count; c++) {
        hlo_comp comp = comps->out[c];
        for (uint32_t n = 0; n < f->count[comp]; n++)
            o->out[o->count++] = f->first[comp] + n;
    }
}

/* Computations in their new order, the instructions of each sorted within. */
static int order_instructions(struct hlo_builder *b, const struct order *comps,
                              const struct found *f, struct order *o, struct err *e)
{
    struct groups members = {0};
    int rc = 0;

    if (!order_init(o, b->instruction_count))
        return hlo_build_memory(e);
    if (f->are_blocks) {
        order_blocks(b, comps, f, o);
        return 0;
    }
    if (!groups_init(&members, b->computation_count, b->instruction_count)) {
        groups_release(&members);
        return hlo_build_memory(e);
    }
    for (size_t c = 0; c < b->computation_count; c++)
        members.first[c + 2] = f->count[c];
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

/* Computations by comps->out; comps->stack becomes the new number of each. */
static int permute_computations(struct hlo_builder *b, const struct order *comps, struct err *e)
{
    uint32_t *new_comp = comps->stack; /* no longer needed: reused as the inverse */
    struct hlo_computation *computations = mem_try(b->computation_count, sizeof *computations);

    if (!computations)
        return hlo_build_memory(e);
    for (uint32_t n = 0; n < b->computation_count; n++) {
        new_comp[comps->out[n]] = n;
        computations[n] = b->computations[comps->out[n]];
    }
    for (size_t n = 0; n < b->called_count; n++)
        b->called[n] = new_comp[b->called[n]];
    free(b->computations);
    b->computations = computations;
    b->computation_room = b->computation_count;
    return 0;
}

/* Renumbers instructions by ids->out. They move where they are, along the cycles of the order: a
 * second array of them would be the largest of all. */
static void permute(struct hlo_builder *b, const uint32_t *new_comp, const struct order *ids)
{
    uint32_t *new_id = ids->stack; /* as above */

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
}

/* ---- one large computation and others, as an entry and its reducers ---- */

enum { ASIDE_PART = 2 }; /* at most this part of all instructions is set aside */

static uint32_t largest_block(const struct hlo_builder *b, const struct found *f)
{
    uint32_t largest = 0;

    for (uint32_t c = 1; c < b->computation_count; c++) {
        if (f->count[c] > f->count[largest])
            largest = c;
    }
    return largest;
}

/* Those of [at, at + count), which were of computation `c` and stood `shift` before. */
static void renumber(struct hlo_builder *b, uint32_t at, uint32_t count, uint32_t shift, hlo_comp c)
{
    for (struct hlo_instruction *i = b->instructions + at, *end = i + count; i < end; i++) {
        i->computation = c;
        for (uint32_t k = 0; shift && k < i->operand_count + i->control_count; k++)
            b->operands[i->operands + k] += shift;
    }
}

/* All blocks but `largest` from the instructions to `kept` in the new order, or from there to their
 * new places. */
static void copy_small(struct hlo_builder *b, const struct order *comps, const struct found *f,
                       uint32_t largest, struct hlo_instruction *kept, bool out)
{
    struct hlo_instruction *to = b->instructions;

    for (size_t c = 0; c < b->computation_count; c++) {
        uint32_t comp = comps->out[c], count = f->count[comp];
        if (comp != largest && count) {
            memcpy(out ? kept : to, out ? b->instructions + f->first[comp] : kept,
                   count * sizeof *kept);
            kept += count;
        }
        to += count;
    }
}

/* All blocks but the largest are set aside, that one is moved as a whole. False: there is no such
 * one, or no memory. */
static bool move_blocks(struct hlo_builder *b, const struct order *comps, const struct found *f)
{
    uint32_t largest = largest_block(b, f), at = 0;
    size_t aside = b->instruction_count - f->count[largest];

    if (!f->are_blocks || f->links != b->operand_count || aside > b->instruction_count / ASIDE_PART)
        return false;
    struct hlo_instruction *kept = mem_resize(NULL, (aside + 1) * sizeof *kept);
    if (!kept)
        return false;
    copy_small(b, comps, f, largest, kept, true);
    for (size_t c = 0; comps->out[c] != largest; c++)
        at += f->count[comps->out[c]];
    memmove(b->instructions + at, b->instructions + f->first[largest],
            f->count[largest] * sizeof *kept);
    copy_small(b, comps, f, largest, kept, false);
    free(kept);
    at = 0;
    for (uint32_t c = 0; c < b->computation_count; c++) {
        uint32_t comp = comps->out[c];
        renumber(b, at, f->count[comp], at - f->first[comp], c);
        at += f->count[comp];
    }
    return true;
}

static int sort_all(struct hlo_builder *b, hlo_comp *entry, struct err *e)
{
    struct order comps = {0}, ids = {0};
    struct found found = {0};
    int rc = find_blocks(b, &found, e);

    if (rc)
        goto out;
    rc = order_computations(b, &found.callers, &comps, e);
    if (rc)
        goto out;
    bool is_moved = move_blocks(b, &comps, &found);
    rc = is_moved ? 0 : order_instructions(b, &comps, &found, &ids, e);
    if (rc)
        goto out;
    rc = permute_computations(b, &comps, e);
    if (rc)
        goto out;
    if (!is_moved)
        permute(b, comps.stack, &ids);
    *entry = comps.stack[*entry];
out:
    order_release(&comps);
    order_release(&ids);
    found_release(&found);
    return rc;
}

int hlo_build_order(struct hlo_builder *b, hlo_comp *entry, struct err *e)
{
    int rc = 0;

    if (b->is_in_order || is_ordered(b)) /* what is in order has no link out of its computation */
        return 0;
    rc = b->source ? 0 : check_links(b, e); /* a copy's links are those of what was checked */
    return rc ? rc : sort_all(b, entry, e);
}
