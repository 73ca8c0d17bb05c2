#include "engine/doctor/evidence.h"

#include "engine/cluster/collectives.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- the index ---- */

static uint64_t frame_of(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_attr *a = hlo_attr(m, id, HLO_ATTR_METADATA);
    static const char key[] = "stack_frame_id=";
    uint64_t value = 0;

    for (uint32_t at = 0; a && at + sizeof key - 1 < a->size; at++) {
        if (memcmp(a->text + at, key, sizeof key - 1) != 0)
            continue;
        for (at += sizeof key - 1; at < a->size && a->text[at] >= '0' && a->text[at] <= '9'; at++)
            value = value * 10 + (uint64_t)(a->text[at] - '0');
        return value;
    }
    return hlo_meta(m, id)->source_line;
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

static int compare_rows(const void *a, const void *b)
{
    const struct evidence_row *p = a, *q = b;
    int by_name = strcmp(p->name, q->name);

    if (by_name)
        return by_name;
    if (p->place != q->place)
        return p->place < q->place ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

/* The frames of an instruction, or of the call it stands in: a program before optimisation has them
 * there alone. `at` gets whose they are. O(depth of calls). */
static uint32_t frames_around(const struct hlo_module *m, const struct hlo_frames *frames,
                              hlo_id id, hlo_id *at, struct hlo_frame out[static HLO_FRAMES_MOST])
{
    enum { CALLS_MOST = 16 };
    uint32_t count = 0;

    for (int depth = 0; depth < CALLS_MOST; depth++) {
        const struct hlo_computation *c = &m->computations[hlo_at(m, id)->computation];
        *at = id;
        count = hlo_frames_of(frames, id, out);
        if (count || !c->caller_count)
            break;
        id = c->callers[0];
    }
    return count;
}

/* Rows of an instruction in an index by lines: one for every call of what it stands in. */
static bool add_by_lines(struct evidence_index *x, size_t *room, const struct hlo_frames *frames,
                         hlo_id id)
{
    enum { CALLERS_MOST = 16 };
    const struct hlo_module *m = x->m;
    const struct hlo_computation *c = &m->computations[hlo_at(m, id)->computation];
    struct hlo_frame chain[HLO_FRAMES_MOST];
    struct evidence_row row = {last_part(hlo_meta(m, id)->op_name), 0, id, id};
    bool own = hlo_frames_of(frames, id, chain) > 0;
    uint32_t callers = own || !c->caller_count          ? 1
                       : c->caller_count < CALLERS_MOST ? c->caller_count
                                                        : CALLERS_MOST;

    if (!mem_grow(&x->rows, room, x->count, callers))
        return false;
    for (uint32_t k = 0; k < callers; k++) {
        hlo_id from = own || !c->caller_count ? id : c->callers[k];
        row.place = frames_around(m, frames, from, &row.at, chain) ? chain[0].line : 0;
        x->rows[x->count++] = row;
    }
    return true;
}

int evidence_index_new(const struct hlo_module *m, const struct hlo_frames *frames,
                       struct evidence_index *out, struct err *e)
{
    size_t room = 0;
    bool fits = true;

    *out = (struct evidence_index){.m = m};
    for (hlo_id id = 0; id < m->count; id++) {
        const char *name = hlo_meta(m, id)->op_name;
        if (!*name)
            continue;
        if (frames) {
            fits = fits && add_by_lines(out, &room, frames, id);
            continue;
        }
        fits = fits && mem_grow(&out->rows, &room, out->count, 1);
        if (fits)
            out->rows[out->count++] = (struct evidence_row){name, frame_of(m, id), id, id};
    }
    if (!fits) {
        evidence_index_release(out);
        return err_no_memory(e, "for the causes of collectives");
    }
    if (out->count)
        qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
    return 0;
}

void evidence_index_release(struct evidence_index *x)
{
    free(x->rows);
    *x = (struct evidence_index){0};
}

static bool is_at(const struct evidence_row *r, const char *name, uint64_t place)
{
    return r->place == place && !strcmp(r->name, name);
}

/* The first row that is not before (name, place). */
static uint32_t lower(const struct evidence_index *x, const char *name, uint64_t place)
{
    const struct evidence_row key = {name, place, 0, 0};
    uint32_t low = 0, high = x->count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (compare_rows(&x->rows[mid], &key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* ---- what an op_name says ---- */

/* JAX's primitives that are not spelled as HLO's opcodes. */
static const struct {
    const char *primitive;
    enum hlo_opcode opcode;
} primitives[] = {
    {"dot_general", HLO_OP_DOT},
    {"conv_general_dilated", HLO_OP_CONVOLUTION},
    {"cumsum", HLO_OP_REDUCE_WINDOW},
    {"cumprod", HLO_OP_REDUCE_WINDOW},
    {"cummax", HLO_OP_REDUCE_WINDOW},
    {"cummin", HLO_OP_REDUCE_WINDOW},
    {"cumlogsumexp", HLO_OP_REDUCE_WINDOW},
    {"reduce_window_sum", HLO_OP_REDUCE_WINDOW},
    {"reduce_window_max", HLO_OP_REDUCE_WINDOW},
    {"reduce_sum", HLO_OP_REDUCE},
    {"reduce_max", HLO_OP_REDUCE},
    {"reduce_min", HLO_OP_REDUCE},
    {"reduce_prod", HLO_OP_REDUCE},
    {"argmax", HLO_OP_REDUCE},
    {"argmin", HLO_OP_REDUCE},
    {"top_k", HLO_OP_TOPK},
    {"approx_top_k", HLO_OP_TOPK},
    {"squeeze", HLO_OP_RESHAPE},
    {"expand_dims", HLO_OP_RESHAPE},
    {"scatter", HLO_OP_SCATTER},
    {"rev", HLO_OP_REVERSE},
    {"sub", HLO_OP_SUBTRACT},
    {"mul", HLO_OP_MULTIPLY},
    {"div", HLO_OP_DIVIDE},
    {"max", HLO_OP_MAXIMUM},
    {"min", HLO_OP_MINIMUM},
    {"neg", HLO_OP_NEGATE},
    {"select_n", HLO_OP_SELECT},
    {"pure_callback", HLO_OP_CUSTOM_CALL},
    {"io_callback", HLO_OP_CUSTOM_CALL},
    {"MatMul", HLO_OP_DOT},
    {"Conv2D", HLO_OP_CONVOLUTION},
};

static uint16_t opcode_of_primitive(const char *primitive)
{
    for (size_t k = 0; k < sizeof primitives / sizeof *primitives; k++) {
        if (!strcmp(primitives[k].primitive, primitive))
            return (uint16_t)primitives[k].opcode;
    }
    if (!strncmp(primitive, "scatter-", 8) || !strncmp(primitive, "scatter_", 8))
        return HLO_OP_SCATTER;
    return (uint16_t)hlo_op_by_name(primitive, strlen(primitive));
}

bool evidence_says(const struct hlo_module *m, hlo_id id, const char *word)
{
    return strstr(hlo_meta(m, id)->op_name, word) != NULL;
}

static bool is_constraint(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    return (opcode == HLO_OP_COPY || opcode == HLO_OP_CUSTOM_CALL) &&
           !strcmp(last_part(hlo_meta(m, id)->op_name), "sharding_constraint");
}

/* ---- the instruction served ---- */

/* How sure it is that an instruction is the program's own and none that the partitioner put there
 * for it. */
static int weight(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_DOT:
    case HLO_OP_CONVOLUTION:
        return 9;
    case HLO_OP_CUSTOM_CALL:
    case HLO_OP_FFT:
    case HLO_OP_SORT:
    case HLO_OP_CHOLESKY:
    case HLO_OP_TRIANGULAR_SOLVE:
        return 8;
    case HLO_OP_SCATTER:
    case HLO_OP_GATHER:
    case HLO_OP_REDUCE_WINDOW:
    case HLO_OP_SELECT_AND_SCATTER:
        return 7;
    case HLO_OP_REDUCE:
        return 6;
    case HLO_OP_CONCATENATE:
        return 5;
    case HLO_OP_RESHAPE:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_PAD:
    case HLO_OP_SLICE:
        return 2;
    case HLO_OP_COPY:
        return 1;
    default:
        return hlo_op_info[opcode].flags & HLO_OP_IS_ELEMENTWISE ? 3 : 0;
    }
}

static void find_op(const struct evidence_index *x, struct evidence *v)
{
    const struct hlo_module *m = x->m;
    const char *name = hlo_meta(m, v->speaker)->op_name;
    uint64_t frame = frame_of(m, v->speaker);
    uint16_t wanted = opcode_of_primitive(v->primitive);
    int best = 0;

    v->op = HLO_NONE;
    for (uint32_t k = lower(x, name, frame); k < x->count && is_at(&x->rows[k], name, frame); k++) {
        uint16_t opcode = hlo_at(m, x->rows[k].id)->opcode;
        int w = opcode == wanted ? 10 : weight(opcode);
        if (w > best) {
            best = w;
            v->op = x->rows[k].id;
        }
    }
    v->opcode = wanted < HLO_OP_UNKNOWN ? wanted
                : v->op != HLO_NONE     ? hlo_at(m, v->op)->opcode
                                        : (uint16_t)HLO_OP_UNKNOWN;
}

/* ---- neighbours ---- */

static bool only_moves(const struct hlo_module *m, hlo_id id)
{
    switch (hlo_at(m, id)->opcode) {
    case HLO_OP_COPY:
    case HLO_OP_RESHAPE:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_BITCAST:
    case HLO_OP_BITCAST_CONVERT:
    case HLO_OP_CONVERT:
    case HLO_OP_GET_TUPLE_ELEMENT:
    case HLO_OP_OPT_BARRIER:
        return hlo_at(m, id)->operand_count > 0;
    default:
        return false;
    }
}

enum { STEPS_MOST = 24 };

/* A fusion stands for what its computation holds. */
static bool holds(const struct hlo_module *m, hlo_id id, enum hlo_opcode opcode)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode != HLO_OP_FUSION || !i->called_count)
        return i->opcode == opcode;
    const struct hlo_computation *c = &m->computations[hlo_called(m, id, 0)];
    for (uint32_t k = 0; k < c->count; k++) {
        if (hlo_at(m, c->first + k)->opcode == opcode)
            return true;
    }
    return false;
}

static bool is_move_fusion(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode != HLO_OP_FUSION || i->operand_count != 1 || !i->called_count)
        return false;
    const struct hlo_computation *c = &m->computations[hlo_called(m, id, 0)];
    for (uint32_t k = 0; k < c->count; k++) {
        hlo_id inner = c->first + k;
        if (hlo_at(m, inner)->opcode != HLO_OP_PARAMETER && !only_moves(m, inner))
            return false;
    }
    return true;
}

static hlo_id look_up(const struct hlo_module *m, hlo_id id)
{
    for (int n = 0; n < STEPS_MOST && (only_moves(m, id) || is_move_fusion(m, id)); n++)
        id = hlo_operand(m, id, 0);
    return id;
}

/* As look_up, and from what a loop's body is given to what the loop began with. */
static hlo_id look_out(const struct hlo_module *m, hlo_id id)
{
    for (int n = 0; n < STEPS_MOST; n++) {
        const struct hlo_instruction *i = hlo_at(m, id);
        if (i->opcode != HLO_OP_GET_TUPLE_ELEMENT) {
            if (!only_moves(m, id) && !is_move_fusion(m, id))
                break;
            id = hlo_operand(m, id, 0);
            continue;
        }
        hlo_id whole = hlo_operand(m, id, 0);
        const struct hlo_computation *c = &m->computations[hlo_at(m, whole)->computation];
        if (hlo_at(m, whole)->opcode == HLO_OP_PARAMETER && c->caller_count == 1 &&
            hlo_at(m, c->callers[0])->opcode == HLO_OP_WHILE)
            whole = hlo_operand(m, c->callers[0], 0);
        if (hlo_at(m, whole)->opcode != HLO_OP_TUPLE ||
            i->number >= hlo_at(m, whole)->operand_count)
            return whole;
        id = hlo_operand(m, whole, i->number);
    }
    return id;
}

/* A parameter of the entry, or what a loop's body takes a piece of in every trip. */
static void find_source(struct evidence *v)
{
    const struct hlo_module *m = v->m;

    if (!hlo_at(m, v->id)->operand_count)
        return;
    v->source = look_up(m, hlo_operand(m, v->id, 0));
    hlo_id id = look_out(m, hlo_operand(m, v->id, 0));
    if (holds(m, id, HLO_OP_DYNAMIC_SLICE) && hlo_at(m, id)->operand_count)
        id = look_out(m, hlo_operand(m, id, 0));
    v->is_stored = hlo_at(m, id)->opcode == HLO_OP_PARAMETER;
    if (v->is_stored)
        v->stored = hlo_meta(m, id)->op_name[0] ? hlo_meta(m, id)->op_name : hlo_name(m, id);
}

static bool by_partition(const struct hlo_module *m, hlo_id id, int depth)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    if (opcode == HLO_OP_PARTITION_ID || holds(m, id, HLO_OP_PARTITION_ID))
        return true;
    if (!depth || opcode == HLO_OP_PARAMETER || opcode == HLO_OP_CONSTANT)
        return false;
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count && n < 8; n++) {
        if (by_partition(m, hlo_operand(m, id, n), depth - 1))
            return true;
    }
    return false;
}

static bool cuts(const struct hlo_module *m, hlo_id user)
{
    const struct hlo_instruction *i = hlo_at(m, user);

    if (!holds(m, user, HLO_OP_DYNAMIC_SLICE))
        return false;
    for (uint32_t n = i->opcode == HLO_OP_FUSION ? 0 : 1; n < i->operand_count; n++) {
        if (by_partition(m, hlo_operand(m, user, n), 6))
            return true;
    }
    return i->opcode == HLO_OP_FUSION && holds(m, user, HLO_OP_PARTITION_ID);
}

/* All that is done with it is to cut out this device's part, maybe after another gather. */
static bool is_cut(const struct hlo_module *m, hlo_id id, int depth)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (!depth || !i->user_count)
        return false;
    for (uint32_t n = 0; n < i->user_count; n++) {
        hlo_id user = hlo_user(m, id, n);
        bool goes_on = only_moves(m, user) || is_move_fusion(m, user) ||
                       hlo_at(m, user)->opcode == HLO_OP_ALL_GATHER;
        if (!cuts(m, user) && !(goes_on && is_cut(m, user, depth - 1)))
            return false;
    }
    return true;
}

/* What lies behind an instruction, nearest first, as far as `passes` lets it: at most NEAR_MOST, so
 * that no graph makes this slow. */
enum { NEAR_MOST = 64 };
struct nearby {
    hlo_id id[NEAR_MOST];
    uint32_t count;
};

static void near_add(struct nearby *b, hlo_id id)
{
    for (uint32_t k = 0; k < b->count; k++) {
        if (b->id[k] == id)
            return;
    }
    if (b->count < NEAR_MOST)
        b->id[b->count++] = id;
}

static bool passes_moves(const struct hlo_module *m, hlo_id id)
{
    return only_moves(m, id) || is_move_fusion(m, id) || hlo_at(m, id)->opcode == HLO_OP_ALL_GATHER;
}

static bool passes_steps(const struct hlo_module *m, hlo_id id)
{
    uint32_t flags = hlo_op_info[hlo_at(m, id)->opcode].flags;

    return only_moves(m, id) || cuts(m, id) ||
           flags & (HLO_OP_IS_ELEMENTWISE | HLO_OP_IS_COLLECTIVE);
}

static void find_near(const struct hlo_module *m, hlo_id from,
                      bool (*passes)(const struct hlo_module *, hlo_id), struct nearby *out)
{
    out->count = 0;
    near_add(out, from);
    for (uint32_t k = 0; k < out->count; k++) {
        const struct hlo_instruction *i = hlo_at(m, out->id[k]);
        for (uint32_t n = 0; n < i->user_count && n < NEAR_MOST; n++) {
            hlo_id user = hlo_user(m, out->id[k], n);
            if (passes(m, user) || is_constraint(m, user))
                near_add(out, user);
        }
    }
}

/* The fusion that an instruction stands in; HLO_NONE. */
static hlo_id fusion_of(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_computation *c = &m->computations[hlo_at(m, id)->computation];

    return c->caller_count == 1 && hlo_at(m, c->callers[0])->opcode == HLO_OP_FUSION ? c->callers[0]
                                                                                     : HLO_NONE;
}

hlo_id evidence_operand(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    hlo_id at = look_up(m, hlo_operand(m, id, n));

    for (int k = 0; k < STEPS_MOST && hlo_at(m, at)->opcode == HLO_OP_PARAMETER; k++) {
        hlo_id fusion = fusion_of(m, at);
        if (fusion == HLO_NONE || hlo_at(m, at)->number >= hlo_at(m, fusion)->operand_count)
            break;
        at = look_up(m, hlo_operand(m, fusion, hlo_at(m, at)->number));
    }
    return at;
}

/* The operand of `op` that `id` becomes through moves. */
static int slot_of(const struct hlo_module *m, hlo_id id, hlo_id op)
{
    struct nearby near;

    find_near(m, id, passes_moves, &near);
    for (uint32_t n = 0; n < hlo_at(m, op)->operand_count; n++) {
        for (uint32_t k = 0; k < near.count; k++) {
            if (near.id[k] == hlo_operand(m, op, n) || near.id[k] == evidence_operand(m, op, n))
                return (int)n;
        }
    }
    return -1;
}

hlo_id evidence_constraint_behind(const struct hlo_module *m, hlo_id id)
{
    struct nearby near;

    find_near(m, id, passes_steps, &near);
    for (uint32_t k = 0; k < near.count; k++) {
        if (is_constraint(m, near.id[k]))
            return near.id[k];
    }
    return HLO_NONE;
}

static bool takes_from_one_device(const struct evidence *v)
{
    hlo_id id = v->source;

    return id != HLO_NONE && holds(v->m, id, HLO_OP_SELECT) && hlo_at(v->m, id)->operand_count &&
           by_partition(v->m, hlo_operand(v->m, id, 0), 4);
}

/* Collectives that were joined into one keep one frame; the elements taken out of it keep theirs.
 */
static hlo_id speaker_of(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    for (uint32_t n = 0; hlo_shape(m, id)->type == HLO_TUPLE && n < i->user_count; n++) {
        hlo_id user = hlo_user(m, id, n);
        if (hlo_at(m, user)->opcode == HLO_OP_GET_TUPLE_ELEMENT && hlo_meta(m, user)->op_name[0])
            return user;
    }
    return id;
}

void evidence_of(const struct evidence_index *x, hlo_id id, enum collective_kind kind,
                 const struct device_groups *groups, struct evidence *out)
{
    const struct hlo_module *m = x->m;
    hlo_id speaker = speaker_of(m, id);
    const struct hlo_meta *meta = hlo_meta(m, speaker);
    int64_t dims[HLO_RANK_MAX];

    *out = (struct evidence){.m = m,
                             .id = id,
                             .speaker = speaker,
                             .kind = kind,
                             .groups = groups,
                             .primitive = last_part(meta->op_name),
                             .op = HLO_NONE,
                             .opcode = (uint16_t)HLO_OP_UNKNOWN,
                             .dim = -1,
                             .source = HLO_NONE,
                             .stored = "",
                             .slot = -1,
                             .asks = HLO_NONE};
    if (hlo_attr_ints(m, id, HLO_ATTR_DIMENSIONS, dims) > 0)
        out->dim = dims[0];
    find_source(out);
    out->is_sliced = is_cut(m, id, 6);
    out->is_masked = takes_from_one_device(out);
    if (!meta->op_name[0])
        return;
    find_op(x, out);
    if (out->op == HLO_NONE)
        return;
    out->slot = slot_of(m, id, out->op);
    out->asks = evidence_constraint_behind(m, out->op);
}

/* Frames that two chains have alike from the innermost on. */
static uint32_t alike(const struct hlo_frame *a, uint32_t count, const struct hlo_frame *b,
                      uint32_t other)
{
    uint32_t k = 0;

    while (k < count && k < other && a[k].line == b[k].line && !strcmp(a[k].file, b[k].file))
        k++;
    return k;
}

hlo_id evidence_find(const struct evidence_index *x, const struct hlo_frames *frames,
                     const char *op_name, const struct hlo_frame *chain, uint32_t count)
{
    struct hlo_frame own[HLO_FRAMES_MOST];
    const char *primitive = last_part(op_name);
    uint16_t wanted = opcode_of_primitive(primitive);
    hlo_id best = HLO_NONE;
    uint32_t most = 0;

    for (uint32_t k = lower(x, primitive, chain[0].line);
         k < x->count && is_at(&x->rows[k], primitive, chain[0].line); k++) {
        uint32_t frames_alike = alike(chain, count, own, hlo_frames_of(frames, x->rows[k].at, own));
        uint16_t opcode = hlo_at(x->m, x->rows[k].id)->opcode;
        uint32_t score = frames_alike * 16 + (opcode == wanted ? 10 : (uint32_t)weight(opcode));
        if (frames_alike && score > most) {
            most = score;
            best = x->rows[k].id;
        }
    }
    return best;
}
