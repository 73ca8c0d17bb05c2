#include "engine/cost/traffic.h"

#include "engine/cost/fusion.h"
#include "engine/cost/fusion_internal.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/module/special.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <string.h>

enum { REACH_MOST = 512, READS_MOST = 3, WEIGHT_MOST = 255, LARGE = 2 };

struct build {
    const struct classes *c;
    const struct hlo_module *m;
    const hlo_value *buffer;
    const struct attention *attention;
    struct traffic *t;
    uint8_t *is_stored; /* [values] of buffers: written by a kernel */
    uint8_t *reads;     /* [instructions] large values read to compute it */
    uint8_t *is_layout; /* [instructions] a view that a product reads in place */
    uint32_t *round;    /* [instructions] kernels that must run before it */
    uint32_t *seen;     /* [instructions] stamps of reach() */
    uint32_t stamp;
    struct pair {
        uint64_t key[2];
        uint32_t value;
    } * pairs;
    size_t pair_count, pair_room;
    struct slots slots; /* of pairs, by key */
};

static int no_memory(struct err *e)
{
    return err_set(e, ERR_MEMORY, "not enough memory for the traffic of kernels");
}

/* ---- a map of pairs ---- */

/* The value kept for a key; `value` when it is new. NULL: out of memory. Valid until the next call.
 */
static struct pair *find_pair(struct build *b, uint64_t x, uint64_t y, uint32_t value)
{
    uint64_t key[2] = {x, y}, hash = mem_hash(key, sizeof key, 0);
    struct slot_walk at;

    for (uint32_t n = slots_first(&b->slots, hash, &at); n != SLOTS_END;
         n = slots_next(&b->slots, &at)) {
        if (!memcmp(b->pairs[n].key, key, sizeof key))
            return &b->pairs[n];
    }
    if (!mem_grow(&b->pairs, &b->pair_room, b->pair_count, 1) ||
        !slots_add(&b->slots, hash, (uint32_t)b->pair_count))
        return NULL;
    b->pairs[b->pair_count] = (struct pair){{x, y}, value};
    return &b->pairs[b->pair_count++];
}

static void clear_pairs(struct build *b)
{
    slots_release(&b->slots);
    b->pair_count = 0;
}

/* ---- instructions ---- */

static uint16_t opcode_of(const struct build *b, hlo_id id)
{
    return hlo_acts_as(b->m, id);
}

static hlo_value first_result(const struct build *b, hlo_id id)
{
    return b->m->leaf_base[id];
}

static bool has_result(const struct build *b, hlo_id id)
{
    return b->m->leaf_base[id + 1] > b->m->leaf_base[id];
}

static bool computes(const struct build *b, hlo_id id)
{
    return class_leaf_count(b->c, id) > 0 && has_result(b, id) &&
           !b->c->is_free[first_result(b, id)] && !fusion_is_alias(opcode_of(b, id));
}

static uint32_t operand_leaves(const struct build *b, hlo_id id)
{
    return class_leaf_count(b->c, id) - (b->m->leaf_base[id + 1] - b->m->leaf_base[id]);
}

/* A slice whose elements lie together: whole minor dims, one dim cut, sizes of 1 before it. */
static bool is_contiguous(const struct build *b, hlo_id id)
{
    const struct hlo_shape *to = hlo_shape(b->m, id),
                           *from = hlo_shape(b->m, hlo_operand(b->m, id, 0));
    uint32_t d = to->rank;

    while (d && to->dims[d - 1] == from->dims[d - 1])
        d--;
    for (d = d ? d - 1 : 0; d--;) {
        if (to->dims[d] != 1)
            return false;
    }
    return true;
}

static bool is_view(const struct build *b, hlo_id id)
{
    switch (opcode_of(b, id)) {
    case HLO_OP_TRANSPOSE:
    case HLO_OP_RESHAPE:
    case HLO_OP_BITCAST:
        return true;
    case HLO_OP_SLICE:
    case HLO_OP_DYNAMIC_SLICE:
        return is_contiguous(b, id);
    default:
        return false;
    }
}

/* These read a part of their first operand, as large as their result. */
static bool reads_part(uint16_t opcode)
{
    return opcode == HLO_OP_SLICE || opcode == HLO_OP_DYNAMIC_SLICE || opcode == HLO_OP_GATHER;
}

static bool updates_part(uint16_t opcode)
{
    return opcode == HLO_OP_DYNAMIC_UPDATE_SLICE || opcode == HLO_OP_SCATTER;
}

/* Element-wise work and reductions: loops that others can join. */
static bool is_loop(uint16_t opcode)
{
    return fusion_is_fusible(opcode) || opcode == HLO_OP_REDUCE || updates_part(opcode);
}

static int64_t elements_of(const struct build *b, hlo_value v)
{
    return hlo_value_shape(b->m, v)->elements;
}

/* Trips of the loop that computes `id`: of a reduction its operand's elements. */
static int64_t trips_of(const struct build *b, hlo_id id)
{
    hlo_id of = id;

    if (opcode_of(b, id) == HLO_OP_REDUCE)
        of = hlo_operand(b->m, id, 0);
    else if (opcode_of(b, id) == HLO_OP_DYNAMIC_UPDATE_SLICE)
        of = hlo_operand(b->m, id, 1);
    return has_result(b, of) ? elements_of(b, first_result(b, of)) : 0;
}

/* Its result is at hand to a kernel that goes on with it element by element. */
static bool can_be_joined(const struct build *b, hlo_id id)
{
    uint16_t opcode = opcode_of(b, id);

    return opcode == HLO_OP_REDUCE ? fusion_reduces_rows(b->m, id) : fusion_is_fusible(opcode);
}

/* ---- which values are stored ---- */

static bool takes(const void *self, hlo_id reader, hlo_id made)
{
    const struct build *b = self;
    uint16_t opcode = opcode_of(b, reader);

    if (b->is_layout[reader])
        return is_view(b, made);
    if (is_loop(opcode) || opcode == HLO_OP_REDUCE_WINDOW)
        return true;
    return (opcode == HLO_OP_DOT || opcode == HLO_OP_CONVOLUTION) && is_view(b, made);
}

static void find_layouts(struct build *b)
{
    for (hlo_id id = b->m->count; id--;) {
        for (uint32_t k = 0; k < hlo_at(b->m, id)->user_count && is_view(b, id); k++) {
            hlo_id user = hlo_user(b->m, id, k);
            b->is_layout[id] |= opcode_of(b, user) == HLO_OP_DOT ||
                                opcode_of(b, user) == HLO_OP_CONVOLUTION || b->is_layout[user];
        }
    }
}

static bool is_fused(const struct build *b, hlo_id id)
{
    uint32_t readers = 0;

    if (!fusion_is_fusible(opcode_of(b, id)) || !hlo_at(b->m, id)->user_count ||
        !has_result(b, id) || !fusion_all_take(b->m, first_result(b, id), takes, b, &readers))
        return false;
    return readers == 1 || b->reads[id] <= READS_MOST;
}

static void find_stored(struct build *b)
{
    const struct hlo_module *m = b->m;

    for (hlo_id id = 0; id < m->count; id++) {
        b->reads[id] = fusion_count_reads(m, b->buffer, b->is_stored, id, b->reads, READS_MOST + 1);
        bool fused = is_fused(b, id);
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
            b->is_stored[v] =
                b->buffer[v] == v && !b->c->is_free[v] && !fused && !b->attention->is_inside[v];
    }
    for (hlo_id id = 0; id < m->count; id++) { /* what is stored under another name */
        if (fusion_is_alias(opcode_of(b, id)) && has_result(b, id) &&
            !b->c->is_free[first_result(b, id)] && !is_fused(b, id) &&
            !b->attention->is_inside[b->buffer[first_result(b, id)]])
            b->is_stored[b->buffer[first_result(b, id)]] = 1;
    }
}

/* ---- kernels ---- */

/* The instruction that made what `id` is another name of. */
static hlo_id behind_alias(const struct build *b, hlo_id id)
{
    while (fusion_is_alias(opcode_of(b, id)) && hlo_at(b->m, id)->operand_count)
        id = hlo_operand(b->m, id, 0);
    return id;
}

/* One way of a stored value into a kernel: operand leaf of `by`; leaf UINT32_MAX: `by` reads a part
 * of something, as large as its result. */
struct way {
    hlo_id by;
    uint32_t leaf;
    hlo_value buffer;
    hlo_id maker; /* instruction the operand comes from */
};

/* All ways of stored values into the kernel that computes `root`; at most REACH_MOST. */
static uint32_t reach(struct build *b, hlo_id root, struct way *out)
{
    hlo_id queue[REACH_MOST];
    uint32_t head = 0, tail = 0, count = 0;

    queue[tail++] = root;
    b->seen[root] = ++b->stamp;
    while (head < tail) {
        hlo_id id = queue[head++];
        bool part = reads_part(opcode_of(b, id));
        if (part && count < REACH_MOST && !b->attention->is_inside[b->buffer[first_result(b, id)]])
            out[count++] = (struct way){id, UINT32_MAX, first_result(b, id), id};
        for (uint32_t leaf = 0; leaf < operand_leaves(b, id) && !part; leaf++) {
            hlo_value v = hlo_factors_value(b->m, id, leaf), from = b->buffer[v];
            hlo_id made = b->m->value_instruction[v];
            if (b->c->is_free[v] || (leaf == 0 && updates_part(opcode_of(b, id))))
                continue;
            made = behind_alias(b, made);
            if (!b->is_stored[from] && computes(b, made)) {
                if (b->seen[made] != b->stamp && tail < REACH_MOST)
                    queue[tail++] = made;
                b->seen[made] = b->stamp;
            } else if (count < REACH_MOST) {
                out[count++] = (struct way){id, leaf, from, made};
            }
        }
    }
    return count;
}

static bool is_kernel(const struct build *b, hlo_id id)
{
    bool stores = false;

    for (hlo_value v = b->m->leaf_base[id]; v < b->m->leaf_base[id + 1]; v++)
        stores |= b->is_stored[b->buffer[v]];
    return stores && computes(b, id);
}

static hlo_id kernel_of(struct build *b, hlo_id id)
{
    while (b->t->kernel[id] != id) {
        b->t->kernel[id] = b->t->kernel[b->t->kernel[id]];
        id = b->t->kernel[id];
    }
    return id;
}

static void join_kernels(struct build *b, hlo_id x, hlo_id y)
{
    x = kernel_of(b, x);
    y = kernel_of(b, y);
    b->t->kernel[x > y ? x : y] = x > y ? y : x;
}

/* The round in which what `way` brings is there for the kernel `root`. */
static uint32_t round_of(const struct build *b, hlo_id root, const struct way *way)
{
    hlo_id made = way->maker;

    if (way->leaf == UINT32_MAX)
        made = behind_alias(b, hlo_operand(b->m, way->by, 0));
    if (hlo_at(b->m, made)->computation != hlo_at(b->m, root)->computation)
        return 0;
    return b->round[made] + !(is_kernel(b, made) && can_be_joined(b, made));
}

/* Joins kernel `root` with those whose results it goes on with in the same round. */
static void join_makers(struct build *b, hlo_id root, const struct way *ways, uint32_t count)
{
    int64_t trips = trips_of(b, root);

    for (uint32_t k = 0; k < count; k++) {
        hlo_id made = ways[k].maker;
        if (ways[k].leaf != UINT32_MAX && round_of(b, root, &ways[k]) == b->round[root] &&
            is_kernel(b, made) && can_be_joined(b, made) && trips_of(b, made) == trips &&
            hlo_at(b->m, made)->computation == hlo_at(b->m, root)->computation)
            join_kernels(b, root, made);
    }
}

/* And with its siblings: those of that round that read one of its large values. */
static bool join_siblings(struct build *b, hlo_id root, const struct way *ways, uint32_t count)
{
    uint64_t where = (uint64_t)hlo_at(b->m, root)->computation << 32 | b->round[root];
    uint64_t trips = (uint64_t)trips_of(b, root);
    int64_t most = 0;

    for (uint32_t k = 0; k < count; k++) {
        int64_t size = hlo_value_shape(b->m, ways[k].buffer)->bytes;
        most = size > most ? size : most;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (hlo_value_shape(b->m, ways[k].buffer)->bytes < most / LARGE)
            continue;
        struct pair *p = find_pair(b, where, trips << 32 ^ ways[k].buffer, root);
        if (!p)
            return false;
        if (p->value != root)
            join_kernels(b, root, p->value);
    }
    return true;
}

/* Rounds in the order of the module: operands come first. */
static bool find_kernels(struct build *b, struct way *ways)
{
    bool ok = true;

    for (hlo_id id = 0; id < b->m->count && ok; id++) {
        uint32_t count = 0;
        b->t->kernel[id] = id;
        if (is_kernel(b, id))
            count = reach(b, id, ways);
        for (uint32_t k = 0; k < hlo_at(b->m, id)->operand_count; k++) {
            hlo_id o = behind_alias(b, hlo_operand(b->m, id, k));
            bool joins = computes(b, o) && (!is_kernel(b, o) || can_be_joined(b, o));
            uint32_t round = b->round[o] + !joins;
            if (!is_loop(opcode_of(b, id)) && computes(b, id))
                round = b->round[o] + 1;
            b->round[id] = round > b->round[id] ? round : b->round[id];
        }
        if (!count || !is_loop(opcode_of(b, id)))
            continue;
        join_makers(b, id, ways, count);
        ok = join_siblings(b, id, ways, count);
    }
    return ok;
}

/* All that computes in one attention, one way, is one kernel. */
static bool join_attention(struct build *b)
{
    hlo_id *first = mem_try(2 * (size_t)b->attention->count + 1, sizeof *first);

    if (!first)
        return false;
    for (hlo_id id = 0; id < b->m->count; id++) {
        uint32_t number = b->attention->kernel[id];
        if (!number || !is_kernel(b, id))
            continue;
        if (first[number - 1])
            join_kernels(b, id, first[number - 1] - 1);
        else
            first[number - 1] = id + 1;
    }
    free(first);
    return true;
}

/* ---- reductions that can wait ---- */

enum { NOBODY = UINT32_MAX, MANY = UINT32_MAX - 1 };

static bool is_used_by_flows(const struct build *b, hlo_id id)
{
    bool used = hlo_at(b->m, id)->is_root;

    for (uint32_t k = 0; k < hlo_at(b->m, id)->user_count && !used; k++) {
        hlo_id user = hlo_user(b->m, id, k);
        used = !computes(b, user) && !fusion_is_alias(opcode_of(b, user));
    }
    return used;
}

/* Reductions of rows that one later kernel alone goes on with are computed there: softmax and its
 * gradient, where the one is made again for the other. reader[kernel]: who reads its results. */
static bool join_waiting(struct build *b, struct way *ways)
{
    hlo_id *reader = mem_try(b->m->count, sizeof *reader);

    for (hlo_id id = 0; reader && id < b->m->count; id++)
        reader[id] = NOBODY;
    for (hlo_id id = 0; reader && id < b->m->count; id++) {
        if (!is_kernel(b, id))
            continue;
        hlo_id kernel = kernel_of(b, id);
        uint32_t count = reach(b, id, ways);
        bool waits = opcode_of(b, id) == HLO_OP_REDUCE && fusion_reduces_rows(b->m, id);
        if (!waits || is_used_by_flows(b, id))
            reader[kernel] = MANY;
        for (uint32_t k = 0; k < count; k++) {
            hlo_id made = ways[k].maker;
            if (ways[k].leaf == UINT32_MAX || !is_kernel(b, made) || kernel_of(b, made) == kernel)
                continue;
            hlo_id *one = &reader[kernel_of(b, made)];
            bool fits = is_loop(opcode_of(b, id)) && trips_of(b, id) == trips_of(b, made);
            *one = !fits || (*one != NOBODY && *one != kernel) ? MANY : kernel;
        }
    }
    for (hlo_id id = b->m->count; reader && id--;) {
        if (reader[id] < MANY)
            join_kernels(b, id, reader[id]);
    }
    bool is_there = reader != NULL;
    free(reader);
    return is_there;
}

/* ---- weights ---- */

static void add_weight(struct build *b, hlo_id id, uint32_t leaf)
{
    uint8_t *w = &b->t->weight[b->c->leaf_base[id] + leaf];

    *w = (uint8_t)(*w < WEIGHT_MOST ? *w + 1 : WEIGHT_MOST);
}

/* What kernel `id` writes: its results, or the part it updates. */
static void weigh_writes(struct build *b, hlo_id id)
{
    uint32_t first = operand_leaves(b, id);

    if (updates_part(opcode_of(b, id))) {
        uint32_t parts = opcode_of(b, id) == HLO_OP_SCATTER ? first / 2 + 1 : 1;
        uint32_t end = opcode_of(b, id) == HLO_OP_SCATTER ? first : 2;
        for (uint32_t leaf = parts; leaf < end; leaf++) {
            add_weight(b, id, leaf);
            if (opcode_of(b, id) == HLO_OP_SCATTER) /* read, changed, written */
                add_weight(b, id, leaf);
        }
        return;
    }
    for (uint32_t leaf = first; leaf < class_leaf_count(b->c, id); leaf++) {
        if (b->is_stored[b->buffer[hlo_factors_value(b->m, id, leaf)]])
            add_weight(b, id, leaf);
    }
}

static bool weigh_ways(struct build *b, struct way *ways)
{
    clear_pairs(b);
    for (hlo_id id = 0; id < b->m->count; id++) {
        if (!is_kernel(b, id))
            continue;
        hlo_id kernel = kernel_of(b, id);
        bool loops = is_loop(opcode_of(b, id)),
             updates = opcode_of(b, id) == HLO_OP_DYNAMIC_UPDATE_SLICE;
        uint32_t count = reach(b, id, ways);
        weigh_writes(b, id);
        for (uint32_t k = 0; k < count; k++) {
            const struct way *w = &ways[k];
            bool at_hand = w->leaf != UINT32_MAX && loops && kernel_of(b, w->maker) == kernel &&
                           w->maker != id;
            if (at_hand || (updates && w->by == id)) /* written where it was made */
                continue;
            struct pair *p = find_pair(b, kernel, w->buffer, 0);
            if (!p)
                return false;
            if (p->value++)
                continue;
            add_weight(b, w->by, w->leaf == UINT32_MAX ? operand_leaves(b, w->by) : w->leaf);
        }
    }
    return true;
}

int traffic_new(const struct classes *c, const struct fusion *f, const struct attention *a,
                struct traffic *out, struct err *e)
{
    const struct hlo_module *m = c->m;
    struct build b = {.c = c, .m = m, .buffer = f->buffer, .attention = a, .t = out};
    struct way *ways = mem_try(REACH_MOST, sizeof *ways);

    out->weight = mem_try((size_t)c->leaf_base[m->count] + 1, 1);
    out->kernel = mem_try(m->count, sizeof *out->kernel);
    b.is_stored = mem_try(m->value_count, 1);
    b.reads = mem_try(m->count, 1);
    b.is_layout = mem_try(m->count, 1);
    b.round = mem_try(m->count, sizeof *b.round);
    b.seen = mem_try(m->count, sizeof *b.seen);
    bool ok = ways && out->weight && out->kernel && b.is_stored && b.reads && b.is_layout &&
              b.round && b.seen;
    if (ok) {
        find_layouts(&b);
        find_stored(&b);
        ok = find_kernels(&b, ways) && join_attention(&b) && join_waiting(&b, ways) &&
             weigh_ways(&b, ways);
    }
    free(ways);
    free(b.is_stored);
    free(b.reads);
    free(b.is_layout);
    free(b.round);
    free(b.seen);
    free(b.pairs);
    slots_release(&b.slots);
    if (!ok)
        traffic_release(out);
    return ok ? 0 : no_memory(e);
}

void traffic_release(struct traffic *t)
{
    free(t->weight);
    free(t->kernel);
    memset(t, 0, sizeof *t);
}
