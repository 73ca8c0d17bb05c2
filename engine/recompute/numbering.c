#include "engine/recompute/numbering.h"

#include "hlo/module/attr.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <string.h>

enum {
    DEPTH_MOST = 16,
    SALT_PARAMETER = 1,
    SALT_CARRY,
    SALT_COUNTER,
    SALT_STACK,
    SALT_SLICE,
    SALT_LOOP,
    SALT_OPERATION
};

struct build {
    struct numbering *n;
    const struct hlo_module *m;
    uint8_t *varies;     /* [values] the deepest loop whose state it depends on */
    uint64_t *signature; /* [computations] of what they compute, names left out */
    struct slots slots;  /* of numbers, by key */
    uint64_t *key;       /* [n->count] */
    size_t room, key_room;
};

/* ---- numbers ---- */

/* The number of a key; 0: out of memory. Number 0 is nobody's. */
static value_number number_of(struct build *b, uint64_t key)
{
    struct slot_walk at;

    for (value_number n = slots_first(&b->slots, key, &at); n != SLOTS_END;
         n = slots_next(&b->slots, &at)) {
        if (b->key[n] == key)
            return n;
    }
    value_number n = b->n->count ? b->n->count : 1;
    if (!mem_grow(&b->n->slice, &b->room, n, 1) || !mem_grow(&b->key, &b->key_room, n, 1) ||
        !slots_add(&b->slots, key, n))
        return 0;
    b->n->slice[0] = 0;
    b->n->slice[n] = 0;
    b->key[n] = key;
    b->n->count = n + 1;
    return n;
}

static uint64_t hash3(uint64_t salt, uint64_t x, uint64_t y, uint64_t z)
{
    uint64_t words[] = {salt, x, y, z};

    return mem_hash(words, sizeof words, 0x9e3779b97f4a7c15u);
}

static uint64_t hash_shape(const struct hlo_shape *s, uint64_t h)
{
    uint32_t head[] = {s->type, s->rank, s->leaf_count};

    h = mem_hash(head, sizeof head, h);
    return mem_hash(s->dims, s->rank * sizeof *s->dims, h);
}

/* What an instruction does, operands left out. */
static uint64_t hash_operation(const struct build *b, hlo_id id)
{
    const struct hlo_module *m = b->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    uint64_t h = hash3(SALT_OPERATION, i->opcode, i->number, i->operand_count);

    h = hash_shape(hlo_shape(m, id), h);
    if (i->literal)
        h = mem_hash(m->literals[i->literal].text, m->literals[i->literal].size, h);
    for (uint32_t k = 0; k < i->attr_count; k++) {
        const struct hlo_attr *a = &m->attr_pool[i->attrs + k];
        if (a->key < HLO_ATTR_SHARDING)
            h = mem_hash(a->text, a->size, h + a->key);
    }
    for (uint32_t k = 0; k < i->called_count; k++)
        h = hash3(h, b->signature[hlo_called(m, id, k)], k, 0);
    return h;
}

static void sign_computation(struct build *b, hlo_comp c)
{
    const struct hlo_computation *comp = &b->m->computations[c];
    uint64_t h = hash3(comp->count, comp->param_count, 0, 0);

    for (hlo_id id = comp->first; id < comp->first + comp->count; id++) {
        h = hash3(h, hash_operation(b, id), 0, 0);
        for (uint32_t k = 0; k < hlo_at(b->m, id)->operand_count; k++)
            h = hash3(h, hlo_operand(b->m, id, k) - comp->first, 0, 0);
    }
    b->signature[c] = h;
}

/* ---- other names ---- */

static bool keeps_precision(const struct hlo_module *m, hlo_id id)
{
    static const struct {
        uint16_t type;
        int64_t exponent, mantissa;
    } own[] = {{HLO_BF16, 8, 7}, {HLO_F16, 5, 10}, {HLO_F32, 8, 23}, {HLO_F64, 11, 52}};

    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
        if (own[k].type == hlo_shape(m, id)->type)
            return hlo_attr_int(m, id, HLO_ATTR_EXPONENT_BITS, 0) >= own[k].exponent &&
                   hlo_attr_int(m, id, HLO_ATTR_MANTISSA_BITS, 0) >= own[k].mantissa;
    }
    return false;
}

/* Calls that mark a value for the compiler and hand it on. */
static bool is_mark(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->operand_count == 1 &&
           (hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, "Sharding") ||
            hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, "annotate_device_placement"));
}

bool numbering_is_alias(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    switch (i->opcode) {
    case HLO_OP_TUPLE:
    case HLO_OP_GET_TUPLE_ELEMENT:
    case HLO_OP_RESHAPE:
    case HLO_OP_BITCAST:
    case HLO_OP_COPY:
    case HLO_OP_OPT_BARRIER:
        return true;
    case HLO_OP_REDUCE_PRECISION:
        return keeps_precision(m, id);
    case HLO_OP_CUSTOM_CALL:
        return is_mark(m, id);
    default:
        return false;
    }
}

/* The value that leaf `leaf` of the alias `id` is another name of; HLO_NONE: cannot be said. */
static hlo_value named_by(const struct hlo_module *m, hlo_id id, uint32_t leaf)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode == HLO_OP_GET_TUPLE_ELEMENT) {
        uint32_t count;
        hlo_value first = hlo_part_values(m, hlo_operand(m, id, 0), i->number, &count);
        return leaf < count ? first + leaf : HLO_NONE;
    }
    for (uint32_t k = 0; k < i->operand_count; k++) {
        hlo_id o = hlo_operand(m, id, k);
        uint32_t leaves = m->leaf_base[o + 1] - m->leaf_base[o];
        if (leaf < leaves)
            return m->leaf_base[o] + leaf;
        leaf -= leaves;
    }
    return HLO_NONE;
}

/* The value that `v` is another name of within its computation. */
static hlo_value source_of(const struct hlo_module *m, hlo_value v)
{
    while (numbering_is_alias(m, m->value_instruction[v])) {
        hlo_value from = named_by(m, m->value_instruction[v], hlo_value_leaf(m, v));
        if (from == HLO_NONE)
            break;
        v = from;
    }
    return v;
}

/* ---- slices and stacks ---- */

/* The one dim along which a slice of `part` lies in `whole`, one thick; -1: none. */
static int sliced_dim(const struct hlo_shape *whole, const struct hlo_shape *part)
{
    int at = -1;

    if (whole->rank != part->rank)
        return -1;
    for (uint32_t d = 0; d < whole->rank; d++) {
        if (whole->dims[d] == part->dims[d])
            continue;
        if (part->dims[d] != 1 || at >= 0)
            return -1;
        at = (int)d;
    }
    return at;
}

/* Whether the start of dim `d` is read from a loop's state; starts follow operand `first`. */
static bool start_varies(const struct build *b, hlo_id id, uint32_t first, int d, uint8_t depth)
{
    uint32_t k = first + (uint32_t)d;

    if (k >= hlo_at(b->m, id)->operand_count)
        return false;
    hlo_id o = hlo_operand(b->m, id, k);
    return b->m->leaf_base[o] < b->m->leaf_base[o + 1] && b->varies[b->m->leaf_base[o]] == depth;
}

static int64_t trips_around(const struct build *b, hlo_id id)
{
    hlo_id loop = b->n->loop[hlo_at(b->m, id)->computation];

    return loop == HLO_NONE ? -1 : hlo_trip_count(b->m, loop);
}

/* A slice of something that this loop leaves alone, one for each trip: its number, else 0. */
static uint64_t slice_key(const struct build *b, hlo_id id, uint8_t depth)
{
    hlo_value whole = b->m->leaf_base[hlo_operand(b->m, id, 0)];
    const struct hlo_shape *s = hlo_value_shape(b->m, whole);
    int d = sliced_dim(s, hlo_shape(b->m, id));

    if (!depth || d < 0 || b->varies[whole] >= depth || s->dims[d] != trips_around(b, id) ||
        !start_varies(b, id, 1, d, depth))
        return 0;
    return hash3(SALT_SLICE, b->n->of[whole], (uint64_t)d, 0);
}

/* What leaf `k` of a loop stacks, one slice for each trip: the slice's value; HLO_NONE: no stack.
 */
static hlo_value stacked(const struct build *b, hlo_value result, hlo_value parameter,
                         uint8_t depth)
{
    const struct hlo_module *m = b->m;
    hlo_value v = source_of(m, result);
    hlo_id id = m->value_instruction[v];

    if (hlo_at(m, id)->opcode != HLO_OP_DYNAMIC_UPDATE_SLICE ||
        source_of(m, m->leaf_base[hlo_operand(m, id, 0)]) != parameter)
        return HLO_NONE;
    hlo_value part = m->leaf_base[hlo_operand(m, id, 1)];
    int d = sliced_dim(hlo_value_shape(m, v), hlo_value_shape(m, part));
    if (d < 0 || hlo_value_shape(m, v)->dims[d] != trips_around(b, id) ||
        !start_varies(b, id, 2, d, depth))
        return HLO_NONE;
    return part;
}

/* ---- walks ---- */

static bool number_computation(struct build *b, hlo_comp c, uint8_t depth);

static bool is_counter(const struct build *b, hlo_value parameter, hlo_value result)
{
    const struct hlo_module *m = b->m;
    const struct hlo_shape *s = hlo_value_shape(m, parameter);
    hlo_id id = m->value_instruction[source_of(m, result)];

    if (s->rank || hlo_type_info[s->type].class == 'F' || hlo_at(m, id)->opcode != HLO_OP_ADD)
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        hlo_value x = source_of(m, m->leaf_base[hlo_operand(m, id, k)]),
                  y = source_of(m, m->leaf_base[hlo_operand(m, id, 1 - k)]);
        if (x == parameter && hlo_at(m, m->value_instruction[y])->opcode == HLO_OP_CONSTANT)
            return true;
    }
    return false;
}

static bool number_loop(struct build *b, hlo_id id, uint8_t depth)
{
    const struct hlo_module *m = b->m;
    hlo_comp body = hlo_called(m, id, 0);
    hlo_value in = m->leaf_base[hlo_operand(m, id, 0)], out = m->leaf_base[id],
              parameter = m->leaf_base[m->computations[body].params[0]],
              result = m->leaf_base[m->computations[body].root];
    uint32_t leaves = m->leaf_base[id + 1] - out;
    uint64_t base = hash3(SALT_LOOP, b->signature[body], leaves, 0);

    for (uint32_t k = 0; k < leaves; k++)
        base = hash3(base, b->n->of[in + k], k, 0);
    b->n->loop[body] = id;
    for (uint32_t k = 0; k < leaves; k++) {
        hlo_value p = parameter + k;
        bool unchanged = source_of(m, result + k) == p, counts = is_counter(b, p, result + k);
        b->n->is_changed[p] = !unchanged;
        b->n->of[p] = unchanged ? b->n->of[in + k]
                      : counts  ? number_of(b, hash3(SALT_COUNTER, (uint64_t)hlo_trip_count(m, id),
                                                     b->n->of[in + k], 0))
                                : number_of(b, hash3(SALT_CARRY, base, k, 0));
        b->varies[p] = unchanged ? b->varies[in + k] : depth;
        if (!b->n->of[p])
            return false;
    }
    if (!number_computation(b, body, depth))
        return false;
    for (uint32_t k = 0; k < leaves; k++) {
        hlo_value part = stacked(b, result + k, parameter + k, depth);
        bool unchanged = !b->n->is_changed[parameter + k];
        b->n->of[out + k] =
            unchanged ? b->n->of[in + k]
            : part != HLO_NONE
                ? number_of(b, hash3(SALT_STACK, b->n->of[part],
                                     (uint64_t)hlo_value_shape(m, out + k)->elements, 0))
                : number_of(b, hash3(SALT_LOOP, base, k, 1));
        b->varies[out + k] = unchanged ? b->varies[in + k] : (uint8_t)(depth - 1);
        if (!b->n->of[out + k])
            return false;
        if (part != HLO_NONE && !unchanged)
            b->n->slice[b->n->of[out + k]] = b->n->of[part];
    }
    return true;
}

static bool can_walk(const struct build *b, hlo_id id, uint8_t depth)
{
    const struct hlo_module *m = b->m;

    if (hlo_at(m, id)->opcode != HLO_OP_WHILE || depth >= DEPTH_MOST)
        return false;
    hlo_comp body = hlo_called(m, id, 0);
    uint32_t leaves = m->leaf_base[id + 1] - m->leaf_base[id];
    hlo_id from[] = {hlo_operand(m, id, 0), m->computations[body].root,
                     m->computations[body].param_count ? m->computations[body].params[0] : id};

    for (size_t k = 0; k < 3; k++) {
        if (m->leaf_base[from[k] + 1] - m->leaf_base[from[k]] != leaves)
            return false;
    }
    return m->computations[body].param_count == 1 && b->n->loop[body] == HLO_NONE;
}

static void name_again(struct build *b, hlo_id id)
{
    for (hlo_value v = b->m->leaf_base[id]; v < b->m->leaf_base[id + 1]; v++) {
        hlo_value from = named_by(b->m, id, v - b->m->leaf_base[id]);
        if (from != HLO_NONE) {
            b->n->of[v] = b->n->of[from];
            b->varies[v] = b->varies[from];
        }
    }
}

static bool number_operation(struct build *b, hlo_id id, uint8_t depth)
{
    const struct hlo_module *m = b->m;
    uint64_t h = hash_operation(b, id), slice = 0;
    uint8_t varies = 0;

    if (hlo_at(m, id)->opcode == HLO_OP_PARAMETER)
        h = hash3(SALT_PARAMETER, id, 0, 0);
    for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++) {
        hlo_id o = hlo_operand(m, id, k);
        h = hash_shape(hlo_shape(m, o), h + k);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
            h = hash3(h, b->n->of[v], 0, 0);
            varies = b->varies[v] > varies ? b->varies[v] : varies;
        }
    }
    if (hlo_at(m, id)->opcode == HLO_OP_DYNAMIC_SLICE)
        slice = slice_key(b, id, depth);
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        value_number whole = slice ? b->n->of[m->leaf_base[hlo_operand(m, id, 0)]] : 0;
        b->n->of[v] = whole && b->n->slice[whole] ? b->n->slice[whole]
                      : slice                     ? number_of(b, slice)
                              : number_of(b, hash3(h, v - m->leaf_base[id], 0, 0));
        b->varies[v] = varies;
        if (!b->n->of[v])
            return false;
    }
    return true;
}

static bool number_computation(struct build *b, hlo_comp c, uint8_t depth)
{
    const struct hlo_computation *comp = &b->m->computations[c];
    bool ok = true;

    for (hlo_id id = comp->first; id < comp->first + comp->count && ok; id++) {
        if (hlo_at(b->m, id)->opcode == HLO_OP_PARAMETER && depth)
            ok = true; /* bound by the loop */
        else if (can_walk(b, id, depth))
            ok = number_loop(b, id, (uint8_t)(depth + 1));
        else if (numbering_is_alias(b->m, id))
            name_again(b, id);
        else
            ok = number_operation(b, id, depth);
        b->n->order[b->n->order_count++] = id;
    }
    return ok;
}

static bool mark_counters(struct build *b)
{
    const struct hlo_module *m = b->m;

    b->n->is_counter = mem_try((size_t)b->n->count + 1, 1);
    if (!b->n->is_counter)
        return false;
    for (hlo_comp c = 0; c < m->computation_count; c++) {
        const struct hlo_computation *comp = &m->computations[c];
        if (b->n->loop[c] == HLO_NONE)
            continue;
        hlo_value p = m->leaf_base[comp->params[0]], r = m->leaf_base[comp->root];
        for (uint32_t k = 0; k < m->leaf_base[comp->params[0] + 1] - p; k++)
            b->n->is_counter[b->n->of[p + k]] |=
                b->n->is_changed[p + k] && is_counter(b, p + k, r + k);
    }
    return true;
}

int numbering_new(const struct hlo_module *m, struct numbering *out, struct err *e)
{
    struct numbering n = {.m = m,
                          .of = mem_try((size_t)m->value_count + 1, sizeof *n.of),
                          .order = mem_try((size_t)m->count + 1, sizeof *n.order),
                          .loop = mem_try((size_t)m->computation_count + 1, sizeof *n.loop),
                          .is_changed = mem_try((size_t)m->value_count + 1, 1)};
    struct build b = {.n = &n,
                      .m = m,
                      .varies = mem_try((size_t)m->value_count + 1, 1),
                      .signature = mem_try((size_t)m->computation_count + 1, sizeof *b.signature)};
    bool ok = n.of && n.order && n.loop && n.is_changed && b.varies && b.signature;

    for (hlo_comp c = 0; ok && c < m->computation_count; c++) {
        n.loop[c] = HLO_NONE;
        sign_computation(&b, c);
    }
    ok = ok && number_computation(&b, m->entry, 0) && mark_counters(&b);
    free(b.varies);
    free(b.signature);
    slots_release(&b.slots);
    free(b.key);
    if (!ok) {
        numbering_release(&n);
        return err_no_memory(e, "for the values that are computed again");
    }
    *out = n;
    return 0;
}

void numbering_release(struct numbering *n)
{
    free(n->of);
    free(n->slice);
    free(n->order);
    free(n->loop);
    free(n->is_changed);
    free(n->is_counter);
    memset(n, 0, sizeof *n);
}

hlo_id numbering_in_entry(const struct numbering *n, hlo_id id)
{
    for (hlo_comp c = hlo_at(n->m, id)->computation; n->loop[c] != HLO_NONE;
         c = hlo_at(n->m, id)->computation)
        id = n->loop[c];
    return id;
}
