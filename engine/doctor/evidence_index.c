/* Instructions found again: within a dump by what the partitioner made for one, in another dump by
 * primitive and line. */
#include "engine/doctor/evidence.h"

#include "hlo/meaning/frames.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

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
    {"tile", HLO_OP_RESHAPE},
    {"expand_dims", HLO_OP_RESHAPE},
    {"split", HLO_OP_SLICE},
    {"broadcast_in_dim", HLO_OP_BROADCAST},
    {"convert_element_type", HLO_OP_CONVERT},
    {"select_and_scatter_add", HLO_OP_SELECT_AND_SCATTER},
    {"integer_pow", HLO_OP_MULTIPLY},
    {"square", HLO_OP_MULTIPLY},
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

uint16_t evidence_opcode(const char *primitive)
{
    char name[40]; /* dynamic_slice is dynamic-slice */
    size_t size = 0;

    for (size_t k = 0; k < sizeof primitives / sizeof *primitives; k++) {
        if (!strcmp(primitives[k].primitive, primitive))
            return (uint16_t)primitives[k].opcode;
    }
    if (!strncmp(primitive, "scatter-", 8) || !strncmp(primitive, "scatter_", 8))
        return HLO_OP_SCATTER;
    for (; primitive[size] && size + 1 < sizeof name; size++)
        name[size] = (char)(primitive[size] == '_' ? '-' : primitive[size]);
    return (uint16_t)hlo_op_by_name(name, size);
}

/* How sure it is that an instruction is the program's own and none that the partitioner put there
 * for it. */
int evidence_weight(uint16_t opcode)
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

/* ---- the index ---- */

uint64_t evidence_frame(const struct hlo_module *m, hlo_id id)
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

bool evidence_is_weight(const char *name)
{
    static const char *const words[] = {"kernel", "weight", "bias",  "embed", "scale",
                                        "gamma",  "beta",   "param", "table", "wte"};

    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (strstr(name, words[k]))
            return true;
    }
    return name[0] == 'w' && (!name[1] || (name[1] >= '0' && name[1] <= '9'));
}

const char *evidence_primitive(const char *name)
{
    const char *last = name;
    int depth = 0;

    for (const char *at = name; *at; at++) {
        depth += (*at == '[') - (*at == ']' && depth > 0);
        last = *at == '/' && !depth ? at + 1 : last;
    }
    return last;
}

bool evidence_is_primitive(const char *op_name, const char *name)
{
    const char *found = evidence_primitive(op_name);
    size_t size = strcspn(found, "[");

    return size == strlen(name) && !memcmp(found, name, size);
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
    struct evidence_row row = {evidence_primitive(hlo_meta(m, id)->op_name), 0, id, id};
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
            out->rows[out->count++] = (struct evidence_row){name, evidence_frame(m, id), id, id};
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

bool evidence_is_at(const struct evidence_row *r, const char *name, uint64_t place)
{
    return r->place == place && !strcmp(r->name, name);
}

/* The first row that is not before (name, place). */
uint32_t evidence_lower(const struct evidence_index *x, const char *name, uint64_t place)
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

/* Frames that two chains have alike from the innermost on. */
static uint32_t alike(const struct hlo_frame *a, uint32_t count, const struct hlo_frame *b,
                      uint32_t other)
{
    uint32_t k = 0;

    while (k < count && k < other && a[k].line == b[k].line && !strcmp(a[k].file, b[k].file))
        k++;
    return k;
}

static bool is_part(const struct hlo_shape *part, const struct hlo_shape *whole)
{
    bool fits = part->type == whole->type && part->rank == whole->rank && part->type != HLO_TUPLE;

    for (uint32_t d = 0; fits && d < whole->rank; d++)
        fits = part->dims[d] > 0 && whole->dims[d] % part->dims[d] == 0;
    return fits;
}

hlo_id evidence_find(const struct evidence_index *x, const struct hlo_frames *frames,
                     const char *op_name, const struct hlo_frame *chain, uint32_t count,
                     const struct hlo_shape *part)
{
    struct hlo_frame own[HLO_FRAMES_MOST];
    const char *primitive = evidence_primitive(op_name);
    uint16_t wanted = evidence_opcode(primitive);
    hlo_id best = HLO_NONE;
    uint32_t most = 0;

    for (uint32_t k = evidence_lower(x, primitive, chain[0].line);
         k < x->count && evidence_is_at(&x->rows[k], primitive, chain[0].line); k++) {
        uint32_t frames_alike = alike(chain, count, own, hlo_frames_of(frames, x->rows[k].at, own));
        uint16_t opcode = hlo_at(x->m, x->rows[k].id)->opcode;
        bool is_there = frames_alike && own[0].column == chain[0].column;
        uint32_t score = frames_alike * 32 + 16 * is_there +
                         (opcode == wanted ? 10 : (uint32_t)evidence_weight(opcode));
        score = 2 * score + (part && is_part(part, hlo_shape(x->m, x->rows[k].id)));
        if (frames_alike && score > most) {
            most = score;
            best = x->rows[k].id;
        }
    }
    return best;
}
