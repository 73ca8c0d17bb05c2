/* Results of instructions that move, cut, join and fold dims. */
#include "hlo/module/attr.h"
#include "hlo/module/infer.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <string.h>

static void claim_type(struct hlo_infer *f, enum hlo_type type)
{
    f->claim = HLO_INFER_ARRAY;
    f->type = (uint8_t)type;
}

static bool is_dynamic(const struct hlo_shape *s, uint8_t d)
{
    return s->dynamic && s->dynamic[d];
}

/* dimensions[i] is the result dim of operand dim i. */
int hlo_infer_broadcast(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0], *result = f->declared;
    struct hlo_dim_list to;

    if (!result)
        return 0;
    if (hlo_infer_list(f, HLO_ATTR_DIMENSIONS, result->rank, &to))
        return f->e->code;
    if (to.count != s->rank)
        return hlo_infer_bad(f, "%zu dimensions for an operand of %d dims, expected one each",
                             to.count, s->rank);
    claim_type(f, s->type);
    f->rank = result->rank;
    if (result->rank)
        memcpy(f->dims, result->dims, result->rank * sizeof *f->dims);
    for (uint8_t d = 0; d < s->rank; d++) {
        /* XLA lets a dynamic dim meet its bound. */
        if (!is_dynamic(result, (uint8_t)to.dims[d]))
            f->dims[to.dims[d]] = s->dims[d];
    }
    return 0;
}

int hlo_infer_transpose(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0];
    struct hlo_dim_list order;

    if (hlo_infer_list(f, HLO_ATTR_DIMENSIONS, s->rank, &order))
        return f->e->code;
    if (order.count != s->rank)
        return hlo_infer_bad(f, "dimensions names %zu dims, expected all %d", order.count, s->rank);
    claim_type(f, s->type);
    f->rank = s->rank;
    for (uint8_t d = 0; d < s->rank; d++)
        f->dims[d] = s->dims[order.dims[d]];
    return 0;
}

int hlo_infer_reverse(struct hlo_infer *f)
{
    struct hlo_dim_list dims;

    hlo_infer_like(f, 0);
    return hlo_infer_list(f, HLO_ATTR_DIMENSIONS, f->rank, &dims);
}

int hlo_infer_reshape(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0], *result = f->declared;
    char a[128], b[128];

    if (!result || s->dynamic || result->dynamic)
        return 0;
    if (s->elements != result->elements) {
        hlo_infer_name(a, sizeof a, s);
        hlo_infer_name(b, sizeof b, result);
        return hlo_infer_bad(f, "%s of %lld elements from %s of %lld, expected the same number", b,
                             (long long)result->elements, a, (long long)s->elements);
    }
    claim_type(f, s->type);
    f->rank = result->rank;
    if (result->rank)
        memcpy(f->dims, result->dims, result->rank * sizeof *f->dims);
    return 0;
}

static int64_t one_dim(struct hlo_infer *f, int64_t rank)
{
    struct hlo_dim_list dims;

    if (hlo_infer_list(f, HLO_ATTR_DIMENSIONS, rank, &dims))
        return -1;
    if (dims.count != 1) {
        hlo_infer_bad(f, "dimensions names %zu dims, expected one", dims.count);
        return -1;
    }
    return dims.dims[0];
}

int hlo_infer_concatenate(struct hlo_infer *f)
{
    if (!f->operand_count)
        return hlo_infer_bad(f, "no operands, expected at least one");
    const struct hlo_shape *first = f->operands[0];
    int64_t along = one_dim(f, first->rank);

    if (along < 0)
        return f->e->code;
    hlo_infer_like(f, 0);
    for (uint32_t n = 1; n < f->operand_count; n++) {
        const struct hlo_shape *s = f->operands[n];
        bool fits = s->rank == first->rank && hlo_infer_types_mix(s->type, first->type);
        for (uint8_t d = 0; fits && d < s->rank; d++)
            fits = d == along || s->dims[d] == first->dims[d] || is_dynamic(s, d) ||
                   is_dynamic(first, d);
        if (!fits)
            return hlo_infer_bad(f, "operand %u differs from operand 0 in more than dim %lld", n,
                                 (long long)along);
        if (__builtin_add_overflow(f->dims[along], s->dims[along], &f->dims[along]))
            f->claim = HLO_INFER_NOTHING; /* unbounded */
    }
    return 0;
}

int hlo_infer_slice(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0];
    const struct hlo_attr *a = hlo_infer_attr(f, HLO_ATTR_SLICE);
    int64_t ranges[HLO_RANK_MAX][3];
    size_t count;

    if (!hlo_parse_slices(a->text, a->size, ranges, HLO_RANK_MAX, &count) || count != s->rank)
        return hlo_infer_bad(
            f, "slice has another number of ranges than the operand dims, expected %d", s->rank);
    claim_type(f, s->type);
    f->rank = s->rank;
    for (uint8_t d = 0; d < s->rank; d++) {
        int64_t start = ranges[d][0], limit = ranges[d][1], stride = ranges[d][2];
        bool fits = start >= 0 && start <= limit && stride >= 1 &&
                    (limit <= s->dims[d] || s->dims[d] == HLO_DIM_UNBOUNDED);
        if (!fits)
            return hlo_infer_bad(
                f, "slice [%lld:%lld:%lld] of dim %d, expected a range within 0 to %lld",
                (long long)start, (long long)limit, (long long)stride, d, (long long)s->dims[d]);
        f->dims[d] = (limit - start) / stride + ((limit - start) % stride != 0);
    }
    return 0;
}

/* Start indices: one scalar per dim, or one vector of them. */
static int check_indices(struct hlo_infer *f, uint32_t from, uint8_t rank)
{
    uint32_t given = f->operand_count - from;

    if (given == 1 && f->operands[from]->rank == 1)
        return 0;
    if (given != rank)
        return hlo_infer_bad(f, "%u start indices for %d dims, expected one each", given, rank);
    for (uint32_t n = from; n < f->operand_count; n++) {
        char class = hlo_type_info[f->operands[n]->type].class;
        if (f->operands[n]->rank || (class != 'I' && class != 'U'))
            return hlo_infer_bad(f, "start index %u is not a scalar integer, expected one",
                                 n - from);
    }
    return 0;
}

int hlo_infer_dynamic_slice(struct hlo_infer *f)
{
    struct hlo_dim_list sizes;

    if (!f->operand_count)
        return hlo_infer_bad(f, "no operands, expected an array and start indices");
    const struct hlo_shape *s = f->operands[0];
    if (hlo_infer_list(f, HLO_ATTR_DYNAMIC_SLICE_SIZES, -1, &sizes) || check_indices(f, 1, s->rank))
        return f->e->code;
    if (sizes.count != s->rank)
        return hlo_infer_bad(f, "%zu slice sizes for %d dims, expected one each", sizes.count,
                             s->rank);
    claim_type(f, s->type);
    f->rank = s->rank;
    for (uint8_t d = 0; d < s->rank; d++) {
        if (sizes.dims[d] < 0 || (sizes.dims[d] > s->dims[d] && !is_dynamic(s, d)))
            return hlo_infer_bad(f, "slice size %lld in dim %d, expected 0 to %lld",
                                 (long long)sizes.dims[d], d, (long long)s->dims[d]);
        f->dims[d] = sizes.dims[d];
    }
    return 0;
}

int hlo_infer_dynamic_update_slice(struct hlo_infer *f)
{
    if (f->operand_count < 2)
        return hlo_infer_bad(f, "%u operands, expected an array, an update and start indices",
                             f->operand_count);
    const struct hlo_shape *s = f->operands[0], *update = f->operands[1];
    if (update->rank != s->rank || !hlo_infer_types_mix(update->type, s->type))
        return hlo_infer_bad(f,
                             "update of another rank or type than the operand, expected the same");
    for (uint8_t d = 0; d < s->rank; d++) {
        if (update->dims[d] > s->dims[d] && !is_dynamic(s, d) && !is_dynamic(update, d))
            return hlo_infer_bad(f, "update of size %lld in dim %d, expected at most %lld",
                                 (long long)update->dims[d], d, (long long)s->dims[d]);
    }
    hlo_infer_like(f, 0);
    return check_indices(f, 2, s->rank);
}

int hlo_infer_pad(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0];
    const struct hlo_attr *a = hlo_infer_attr(f, HLO_ATTR_PADDING);
    int64_t pads[HLO_RANK_MAX][3];
    size_t count = 0;

    if (!hlo_parse_padding(a->text, a->size, pads, HLO_RANK_MAX, &count) || count != s->rank)
        return hlo_infer_bad(f, "padding of %zu dims for an operand of %d, expected one each",
                             count, s->rank);
    if (f->operands[1]->rank)
        return hlo_infer_bad(f, "a padding value that is not a scalar, expected one");
    claim_type(f, s->type);
    f->rank = s->rank;
    for (uint8_t d = 0; d < s->rank; d++) {
        int64_t inside = 0, size = s->dims[d];
        if (size == HLO_DIM_UNBOUNDED) {
            f->claim = HLO_INFER_NOTHING;
            return 0;
        }
        bool fits = pads[d][2] >= 0 &&
                    !__builtin_mul_overflow(size > 0 ? size - 1 : 0, pads[d][2], &inside) &&
                    !__builtin_add_overflow(size, inside, &size) &&
                    !__builtin_add_overflow(size, pads[d][0], &size) &&
                    !__builtin_add_overflow(size, pads[d][1], &size) && size >= 0;
        if (!fits)
            return hlo_infer_bad(
                f, "padding makes dim %d negative or too large, expected 0 to 2^63-1", d);
        f->dims[d] = size;
    }
    return 0;
}

int hlo_infer_iota(struct hlo_infer *f)
{
    int64_t d = hlo_infer_int(f, HLO_ATTR_IOTA_DIMENSION, -1);

    if (f->declared && (d < 0 || d >= f->declared->rank))
        return hlo_infer_bad(f, "iota_dimension is %lld, expected a dim of the result below %d",
                             (long long)d, f->declared->rank);
    return 0;
}

int hlo_infer_reduce(struct hlo_infer *f)
{
    struct hlo_dim_list gone;

    if (!f->operand_count || f->operand_count % 2)
        return hlo_infer_bad(f, "%u operands, expected as many inputs as initial values",
                             f->operand_count);
    const struct hlo_shape *s = f->operands[0];
    f->inputs = f->operand_count / 2;
    for (uint32_t n = 0; n < f->operand_count; n++) {
        bool is_init = n >= f->inputs;
        if (is_init ? f->operands[n]->rank != 0 : !hlo_same_dims(s, f->operands[n]))
            return hlo_infer_bad(f,
                                 is_init
                                     ? "initial value %u is not a scalar, expected one"
                                     : "input %u has other dims than input 0, expected the same",
                                 is_init ? n - f->inputs : n);
    }
    if (hlo_infer_list(f, HLO_ATTR_DIMENSIONS, s->rank, &gone))
        return f->e->code;
    f->claim = HLO_INFER_INPUTS;
    f->rank = 0;
    for (uint8_t d = 0; d < s->rank; d++) {
        if (!hlo_infer_has(&gone, d))
            f->dims[f->rank++] = s->dims[d];
    }
    return 0;
}

int hlo_infer_sort(struct hlo_infer *f)
{
    if (!f->operand_count)
        return hlo_infer_bad(f, "no operands, expected at least one");
    if (one_dim(f, f->operands[0]->rank) < 0)
        return f->e->code;
    for (uint32_t n = 1; n < f->operand_count; n++) {
        if (!hlo_same_dims(f->operands[0], f->operands[n]))
            return hlo_infer_bad(f, "operand %u has other dims than operand 0, expected the same",
                                 n);
    }
    hlo_infer_like(f, 0);
    f->claim = HLO_INFER_INPUTS;
    f->inputs = f->operand_count;
    return 0;
}

/* get-dimension-size gives s32[], set-dimension-size an array with that dim dynamic. */
int hlo_infer_dimension_size(struct hlo_infer *f)
{
    if (one_dim(f, f->operands[0]->rank) < 0)
        return f->e->code;
    hlo_infer_like(f, 0);
    if (f->opcode == HLO_OP_GET_DIMENSION_SIZE) {
        f->type = HLO_S32;
        f->rank = 0;
    }
    return 0;
}

/* The shard count is not known here: dim `along` must grow or shrink by a whole factor. */
static int whole_factor(struct hlo_infer *f, bool grows)
{
    if (f->operand_count != 1 || !f->declared)
        return 0; /* the forms with several operands give tuples */
    const struct hlo_shape *s = f->operands[0], *result = f->declared;
    if (!hlo_type_info[s->type].bits)
        return 0;
    int64_t along = one_dim(f, s->rank);
    if (along < 0)
        return f->e->code;
    hlo_infer_like(f, 0);
    if (s->dynamic || result->dynamic || result->rank != s->rank)
        return 0;
    int64_t big = grows ? result->dims[along] : s->dims[along];
    int64_t small = grows ? s->dims[along] : result->dims[along];
    if (small ? big % small : big)
        return hlo_infer_bad(f, "dim %lld goes from %lld to %lld, expected a whole factor",
                             (long long)along, (long long)s->dims[along],
                             (long long)result->dims[along]);
    f->dims[along] = result->dims[along];
    return 0;
}

int hlo_infer_all_gather(struct hlo_infer *f)
{
    return whole_factor(f, true);
}

int hlo_infer_reduce_scatter(struct hlo_infer *f)
{
    return whole_factor(f, false);
}

int hlo_infer_topk(struct hlo_infer *f)
{
    const struct hlo_shape *s = f->operands[0];
    int64_t k = hlo_infer_int(f, HLO_ATTR_K, 0);

    if (!s->rank || k < 0 || k > s->dims[s->rank - 1])
        return hlo_infer_bad(f, "k is %lld, expected 0 to the size of the last dim", (long long)k);
    return 0;
}
