#include "engine/cost/instruction_order.h"

#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const char MEMORY_FOR[] = "for a schedule";

static int alloc(const struct hlo_module *m, struct instruction_order *out, struct err *e)
{
    out->order = mem_try(m->count, sizeof *out->order);
    out->position = mem_try(m->count, sizeof *out->position);
    if (out->order && out->position)
        return 0;
    instruction_order_release(out);
    return err_no_memory(e, MEMORY_FOR);
}

void instruction_order_release(struct instruction_order *s)
{
    free(s->order);
    free(s->position);
    memset(s, 0, sizeof *s);
}

/* Computations whose order is said keep it. */
static bool keep_order(const struct hlo_module *m, const struct hlo_computation *c,
                       struct instruction_order *out)
{
    bool is_said = m->is_scheduled;

    for (hlo_id id = c->first; id < c->first + c->count; id++)
        is_said |= hlo_at(m, id)->control_count > 0;
    for (hlo_id id = c->first; id < c->first + c->count && is_said; id++)
        out->order[id] = out->position[id] = id;
    return is_said;
}

/* A result that is computed where it is used: made by an instruction that stores nothing. */
static bool is_fused(const struct fusion *f, hlo_value buffer)
{
    return !f->is_stored[buffer];
}

enum { LOOK_MOST = 64 }; /* fused values looked through at a time */

/* ---- the list: who holds which buffer ---- */

/* Lists in one pool: of item k, pool[first[k]] .. pool[first[k + 1]]. */
struct lists {
    uint32_t *first, *pool;
};

struct scheduler {
    const struct hlo_module *m;
    const struct fusion *f;
    const uint8_t *is_placed;
    struct instruction_order *out;
    struct lists holds;   /* [instructions] buffers of its own computation that it reads */
    struct lists holders; /* [values] of buffers: the instructions that read it */
    uint32_t *held;       /* [values] reads still to come */
    uint32_t *waits;      /* [instructions] operands not made yet */
    uint8_t *is_done;     /* [instructions] */
    uint32_t *stamp;      /* [values] last instruction that saw it + 1 */
    hlo_value *stack;     /* [values] */
    int64_t *gain;        /* [instructions] bytes given back less bytes taken, as last worked out */
    hlo_id *heap;         /* ready, best first */
    uint32_t *heap_at;    /* [instructions] place in heap */
    uint32_t heap_count, placed;
};

static hlo_comp computation_of(const struct scheduler *s, hlo_value v)
{
    return s->m->instructions[s->m->value_instruction[v]].computation;
}

/* Tuples, their elements and reshapes hand buffers on; they read nothing. */
static bool hands_on(uint16_t opcode)
{
    return opcode == HLO_OP_TUPLE || opcode == HLO_OP_GET_TUPLE_ELEMENT ||
           opcode == HLO_OP_RESHAPE || opcode == HLO_OP_BITCAST || opcode == HLO_OP_OPT_BARRIER;
}

/* Distinct buffers that `id` reads, made in its own computation. Counts, or writes into `pool`. */
static uint32_t list_holds(struct scheduler *s, hlo_id id, uint32_t mark, uint32_t *pool)
{
    const struct hlo_instruction *i = hlo_at(s->m, id);
    uint32_t count = 0;

    if (hands_on(i->opcode) && !i->is_root)
        return 0;
    for (uint32_t k = 0; k < i->operand_count; k++) {
        hlo_id o = hlo_operand(s->m, id, k);
        for (hlo_value v = s->m->leaf_base[o]; v < s->m->leaf_base[o + 1]; v++) {
            hlo_value b = s->f->buffer[v];
            if (s->stamp[b] == mark || computation_of(s, b) != i->computation)
                continue;
            s->stamp[b] = mark;
            if (pool)
                pool[count] = b;
            count++;
        }
    }
    return count;
}

static bool list_all_holds(struct scheduler *s)
{
    const struct hlo_module *m = s->m;

    s->holds.first = mem_try((size_t)m->count + 1, sizeof(uint32_t));
    s->holders.first = mem_try((size_t)m->value_count + 2, sizeof(uint32_t));
    if (!s->holds.first || !s->holders.first)
        return false;
    for (hlo_id id = 0; id < m->count; id++)
        s->holds.first[id + 1] = s->holds.first[id] + list_holds(s, id, id + 1, NULL);
    uint32_t total = s->holds.first[m->count];
    s->holds.pool = mem_try(total, sizeof(uint32_t));
    s->holders.pool = mem_try(total, sizeof(uint32_t));
    if (!s->holds.pool || !s->holders.pool)
        return false;
    memset(s->stamp, 0, m->value_count * sizeof *s->stamp);
    for (hlo_id id = 0; id < m->count; id++)
        (void)list_holds(s, id, id + 1, s->holds.pool + s->holds.first[id]);
    for (uint32_t k = 0; k < total; k++) {
        s->held[s->holds.pool[k]]++;
        s->holders.first[s->holds.pool[k] + 2]++;
    }
    for (hlo_value v = 0; v < m->value_count; v++)
        s->holders.first[v + 1] += s->holders.first[v];
    for (hlo_id id = 0; id < m->count; id++) {
        for (uint32_t k = s->holds.first[id]; k < s->holds.first[id + 1]; k++)
            s->holders.pool[s->holders.first[s->holds.pool[k] + 1]++] = id;
    }
    return true;
}

/* ---- what an instruction gives back ---- */

/* Bytes that come free when buffer `b` is read no more: 0 for arguments and what takes their place.
 */
static int64_t bytes_of(const struct scheduler *s, hlo_value b)
{
    if (s->is_placed[b] || hlo_at(s->m, s->m->value_instruction[b])->opcode == HLO_OP_PARAMETER)
        return 0;
    return s->f->is_stored[b] ? hlo_value_shape(s->m, b)->bytes : 0;
}

static int64_t taken_by(const struct scheduler *s, hlo_id id)
{
    int64_t bytes = 0;

    for (hlo_value v = s->m->leaf_base[id]; v < s->m->leaf_base[id + 1]; v++)
        bytes += s->f->buffer[v] == v ? bytes_of(s, v) : 0;
    return bytes;
}

/* Buffers that `id` alone still reads, itself or through fused values that it alone reads. */
static int64_t given_by(struct scheduler *s, hlo_id id)
{
    int64_t bytes = 0;
    uint32_t depth = 0, looked = 0;
    hlo_id at = id;

    for (;;) {
        for (uint32_t k = s->holds.first[at]; k < s->holds.first[at + 1]; k++) {
            hlo_value b = s->holds.pool[k];
            if (s->held[b] != 1)
                continue;
            if (is_fused(s->f, b))
                s->stack[depth++] = b;
            else
                bytes += bytes_of(s, b);
        }
        if (!depth || looked++ == LOOK_MOST)
            return bytes;
        at = s->m->value_instruction[s->stack[--depth]];
    }
}

/* ---- the ready ones ---- */

static bool goes_first(const struct scheduler *s, hlo_id a, hlo_id b)
{
    return s->gain[a] != s->gain[b] ? s->gain[a] > s->gain[b] : a < b;
}

static void heap_put(struct scheduler *s, uint32_t at, hlo_id id)
{
    s->heap[at] = id;
    s->heap_at[id] = at;
}

/* Moves `id`, whose place is heap_at[id], to where its gain belongs. */
static void heap_sift(struct scheduler *s, hlo_id id)
{
    uint32_t at = s->heap_at[id];

    while (at && goes_first(s, id, s->heap[(at - 1) / 2])) {
        heap_put(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (uint32_t next; (next = 2 * at + 1) < s->heap_count; at = next) {
        if (next + 1 < s->heap_count && goes_first(s, s->heap[next + 1], s->heap[next]))
            next++;
        if (!goes_first(s, s->heap[next], id))
            break;
        heap_put(s, at, s->heap[next]);
    }
    heap_put(s, at, id);
}

static void work_out_gain(struct scheduler *s, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(s->m, id);
    hlo_value first = s->m->leaf_base[id];
    bool follows = hands_on(i->opcode) || i->opcode == HLO_OP_PARAMETER ||
                   first == s->m->leaf_base[id + 1] || is_fused(s->f, s->f->buffer[first]);

    s->gain[id] = follows ? INT64_MAX : given_by(s, id) - taken_by(s, id);
}

static void make_ready(struct scheduler *s, hlo_id id)
{
    work_out_gain(s, id);
    heap_put(s, s->heap_count++, id);
    heap_sift(s, id);
}

static hlo_id take_best(struct scheduler *s)
{
    hlo_id best = s->heap[0], last = s->heap[--s->heap_count];

    if (s->heap_count) {
        heap_put(s, 0, last);
        heap_sift(s, last);
    }
    return best;
}

/* Buffer `b` has one reader left: that reader, or who reads it through fused values alone, gives
 * back more than before. */
static void tell_last_reader(struct scheduler *s, hlo_value b)
{
    for (uint32_t step = 0; step < LOOK_MOST; step++) {
        hlo_id reader = HLO_NONE;
        for (uint32_t k = s->holders.first[b]; k < s->holders.first[b + 1]; k++) {
            hlo_id id = s->holders.pool[k];
            hlo_value v = s->m->leaf_base[id];
            bool reads_on = v < s->m->leaf_base[id + 1] && is_fused(s->f, s->f->buffer[v]) &&
                            s->held[s->f->buffer[v]];
            if (!s->is_done[id] || reads_on)
                reader = id;
        }
        if (reader == HLO_NONE)
            return;
        hlo_value v = s->m->leaf_base[reader];
        bool fused = v < s->m->leaf_base[reader + 1] && is_fused(s->f, s->f->buffer[v]);
        if (!fused) {
            if (!s->waits[reader] && !s->is_done[reader]) {
                work_out_gain(s, reader);
                heap_sift(s, reader);
            }
            return;
        }
        if (s->held[s->f->buffer[v]] != 1)
            return;
        b = s->f->buffer[v];
    }
}

/* `id` ran: it reads its buffers no more. Fused values hand their reads to their users. */
static void release_holds(struct scheduler *s, hlo_id id)
{
    uint32_t depth = 0;

    for (;;) {
        for (uint32_t k = s->holds.first[id]; k < s->holds.first[id + 1]; k++) {
            hlo_value b = s->holds.pool[k];
            s->held[b]--;
            if (s->held[b] == 1)
                tell_last_reader(s, b);
            else if (!s->held[b] && is_fused(s->f, b))
                s->stack[depth++] = b;
        }
        if (!depth)
            return;
        id = s->m->value_instruction[s->stack[--depth]];
    }
}

static void run_instruction(struct scheduler *s, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(s->m, id);
    hlo_value v = s->m->leaf_base[id];
    bool fused = v < s->m->leaf_base[id + 1] && is_fused(s->f, s->f->buffer[v]);

    s->out->order[s->placed] = id;
    s->out->position[id] = s->placed++;
    s->is_done[id] = 1;
    if (!i->is_root && (!fused || !s->held[s->f->buffer[v]]))
        release_holds(s, id);
    for (uint32_t k = 0; k < i->user_count; k++) {
        hlo_id user = hlo_user(s->m, id, k);
        if (!--s->waits[user])
            make_ready(s, user);
    }
}

static void schedule_computation(struct scheduler *s, const struct hlo_computation *c)
{
    if (keep_order(s->m, c, s->out)) {
        s->placed += c->count;
        return;
    }
    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        for (uint32_t k = 0; k < hlo_at(s->m, id)->user_count; k++)
            s->waits[hlo_user(s->m, id, k)]++;
    }
    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        if (!s->waits[id])
            make_ready(s, id);
    }
    while (s->heap_count)
        run_instruction(s, take_best(s));
}

static bool scheduler_alloc(struct scheduler *s)
{
    size_t values = s->m->value_count, count = s->m->count;

    s->held = mem_try(values, sizeof *s->held);
    s->stamp = mem_try(values, sizeof *s->stamp);
    s->stack = mem_try(values, sizeof *s->stack);
    s->waits = mem_try(count, sizeof *s->waits);
    s->is_done = mem_try(count, 1);
    s->gain = mem_try(count, sizeof *s->gain);
    s->heap = mem_try(count, sizeof *s->heap);
    s->heap_at = mem_try(count, sizeof *s->heap_at);
    return s->held && s->stamp && s->stack && s->waits && s->is_done && s->gain && s->heap &&
           s->heap_at && list_all_holds(s);
}

int instruction_order_list(const struct hlo_module *m, const struct fusion *f,
                           const uint8_t *is_placed, struct instruction_order *out, struct err *e)
{
    struct scheduler s = {.m = m, .f = f, .is_placed = is_placed, .out = out};
    int rc = alloc(m, out, e);

    if (rc)
        goto out;
    if (!scheduler_alloc(&s)) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    for (hlo_comp c = 0; c < m->computation_count; c++)
        schedule_computation(&s, &m->computations[c]);
out:
    free(s.holds.first);
    free(s.holds.pool);
    free(s.holders.first);
    free(s.holders.pool);
    free(s.held);
    free(s.stamp);
    free(s.stack);
    free(s.waits);
    free(s.is_done);
    free(s.gain);
    free(s.heap);
    free(s.heap_at);
    if (rc)
        instruction_order_release(out);
    return rc;
}

/* ---- depth first ---- */

/* An instruction with all it needs: what two paths need counts twice, up to a cap. */
struct weight {
    uint64_t users; /* beyond the first of each */
    uint64_t bytes;
    hlo_id id;
};

struct depth_first {
    const struct hlo_module *m;
    const struct fusion *f;
    struct instruction_order *out;
    uint32_t *readers;      /* [instructions] kernels that read it */
    struct weight *weight;  /* [instructions] */
    hlo_id *seen_by;        /* [instructions] whose reads were listed when it was seen last, + 1 */
    hlo_id *stack, *reads;  /* [instructions] */
    uint8_t *state;         /* [instructions] enum visit_state */
    struct weight *pending; /* to visit, next one last */
    size_t pending_room, pending_count;
    uint32_t placed;
};
enum visit_state { NOT_VISITED, OPERANDS_FIRST, IS_PLACED };

/* What an instruction is to XLA's scheduler, which sees kernels. */
enum part { PART_IGNORED, PART_FUSED, PART_KERNEL };

static enum part part_of(const struct depth_first *s, hlo_id id)
{
    hlo_value v = s->m->leaf_base[id], leaves = s->m->leaf_base[id + 1] - v;

    if (hlo_at(s->m, id)->opcode == HLO_OP_PARAMETER)
        return PART_IGNORED;
    return leaves == 1 && is_fused(s->f, s->f->buffer[v]) ? PART_FUSED : PART_KERNEL;
}

/* `id` computes its operand `o` on the fly, though others read it from memory. */
static bool is_made_again(const struct depth_first *s, hlo_id id, hlo_id o)
{
    hlo_value v = s->m->leaf_base[o];

    return v < s->m->leaf_base[o + 1] && s->f->is_remade[s->f->buffer[v]] &&
           fusion_absorbs(s->m, id, o);
}

/* Distinct kernels that `id` reads, itself or through fused results, into s->reads. */
static uint32_t list_reads(struct depth_first *s, hlo_id id)
{
    uint32_t count = 0, depth = 0, looked = 0;
    hlo_id at = id;

    for (;;) {
        for (uint32_t k = 0; k < hlo_at(s->m, at)->operand_count; k++) {
            hlo_id o = hlo_operand(s->m, at, k);
            if (s->seen_by[o] == id + 1)
                continue;
            s->seen_by[o] = id + 1;
            enum part part = part_of(s, o);
            if (part == PART_FUSED || is_made_again(s, at, o))
                s->stack[depth++] = o;
            else if (part == PART_KERNEL)
                s->reads[count++] = o;
        }
        if (!depth || looked++ == LOOK_MOST)
            return count;
        at = s->stack[--depth];
    }
}

static void count_readers(struct depth_first *s, const struct hlo_computation *c)
{
    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        uint32_t count = part_of(s, id) == PART_KERNEL ? list_reads(s, id) : 0;
        for (uint32_t k = 0; k < count; k++)
            s->readers[s->reads[k]]++;
    }
    memset(s->seen_by + c->first, 0, c->count * sizeof *s->seen_by);
}

/* Operands come first, so what they need is known. The caps are XLA's: the computation's
 * instructions, and the bytes of what was weighed before. */
static void weigh_computation(struct depth_first *s, const struct hlo_computation *c)
{
    uint64_t all = 0;

    count_readers(s, c);
    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        struct weight *w = &s->weight[id];
        enum part part = part_of(s, id);
        w->id = id;
        if (part == PART_IGNORED)
            continue;
        for (hlo_value v = s->m->leaf_base[id]; part == PART_KERNEL && v < s->m->leaf_base[id + 1];
             v++)
            w->bytes += s->f->buffer[v] == v && s->f->is_stored[v]
                            ? (uint64_t)hlo_value_shape(s->m, v)->bytes
                            : 0;
        w->users = part == PART_KERNEL && s->readers[id] ? s->readers[id] - 1 : 0;
        all += w->bytes;
        uint32_t count = list_reads(s, id);
        for (uint32_t k = 0; k < count; k++) {
            w->users += s->weight[s->reads[k]].users;
            w->bytes += s->weight[s->reads[k]].bytes;
        }
        w->users = w->users < c->count ? w->users : c->count;
        w->bytes = w->bytes < all ? w->bytes : all;
    }
}

/* For qsort: what is visited first comes last. */
static int visited_last(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;

    if (x->users != y->users)
        return x->users < y->users ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->id > y->id ? -1 : x->id < y->id;
}

static bool push_operands(struct depth_first *s, hlo_id id)
{
    size_t first = s->pending_count;

    if (!mem_grow(&s->pending, &s->pending_room, s->pending_count, hlo_at(s->m, id)->operand_count))
        return false;
    for (uint32_t k = 0; k < hlo_at(s->m, id)->operand_count; k++) {
        hlo_id o = hlo_operand(s->m, id, k);
        if (s->state[o] == NOT_VISITED)
            s->pending[s->pending_count++] = s->weight[o];
    }
    if (s->pending_count > first + 1)
        qsort(s->pending + first, s->pending_count - first, sizeof *s->pending, visited_last);
    return true;
}

/* Places `root` behind all it needs. */
static bool visit_root(struct depth_first *s, hlo_id root)
{
    if (!mem_grow(&s->pending, &s->pending_room, s->pending_count, 1))
        return false;
    s->pending[s->pending_count++] = s->weight[root];
    while (s->pending_count) {
        hlo_id id = s->pending[s->pending_count - 1].id;
        if (s->state[id] == NOT_VISITED) {
            s->state[id] = OPERANDS_FIRST;
            if (!push_operands(s, id))
                return false;
            continue;
        }
        s->pending_count--;
        if (s->state[id] == IS_PLACED)
            continue;
        s->state[id] = IS_PLACED;
        s->out->order[s->placed] = id;
        s->out->position[id] = s->placed++;
    }
    return true;
}

/* What leads to no result first, so that the root comes last. */
static bool visit_computation(struct depth_first *s, const struct hlo_computation *c)
{
    bool ok = true;

    s->placed = c->first;
    if (keep_order(s->m, c, s->out))
        return true;
    weigh_computation(s, c);
    for (hlo_id id = c->first; id < c->first + c->count && ok; id++)
        ok = id == c->root || hlo_at(s->m, id)->user_count || visit_root(s, id);
    return ok && visit_root(s, c->root);
}

int instruction_order_depth_first(const struct hlo_module *m, const struct fusion *f,
                                  struct instruction_order *out, struct err *e)
{
    struct depth_first s = {.m = m, .f = f, .out = out};
    int rc = alloc(m, out, e);

    s.readers = mem_try(m->count, sizeof *s.readers);
    s.weight = mem_try(m->count, sizeof *s.weight);
    s.seen_by = mem_try(m->count, sizeof *s.seen_by);
    s.stack = mem_try(m->count, sizeof *s.stack);
    s.reads = mem_try(m->count, sizeof *s.reads);
    s.state = mem_try(m->count, 1);
    if (rc)
        goto out;
    if (!(s.readers && s.weight && s.seen_by && s.stack && s.reads && s.state)) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    for (hlo_comp c = 0; c < m->computation_count; c++) {
        rc = visit_computation(&s, &m->computations[c]) ? 0 : err_no_memory(e, MEMORY_FOR);
        if (rc)
            goto out;
    }
out:
    free(s.readers);
    free(s.weight);
    free(s.seen_by);
    free(s.stack);
    free(s.reads);
    free(s.state);
    free(s.pending);
    if (rc)
        instruction_order_release(out);
    return rc;
}
