/* hlo/meaning/factors_reshape.c - which dims of a reshape can stay split. */
#include "hlo/meaning/factors.h"
#include "hlo/meaning/factors_internal.h"
#include "hlo/module/shape.h"

/* Dims of more than one element, major first, in the order that memory has them. */
struct walk {
    uint8_t dim[HLO_RANK_MAX];
    int64_t size[HLO_RANK_MAX];
    uint8_t count;
};

static void walk_add(struct walk *w, const struct hlo_shape *s, uint8_t d)
{
    if (s->dims[d] == 1)
        return;
    w->dim[w->count] = d;
    w->size[w->count++] = s->dims[d];
}

/* One run of dims with equal products on both sides, a[i] .. and b[j] ..: the major-most dims are
 * split together, the minor ones stay whole. Where neither size divides the other, only numbers of
 * parts that divide both keep rows together. */
static void tie_major(struct hlo_maker *k, const struct walk *a, uint8_t i, const struct walk *b,
                      uint8_t j)
{
    int64_t x = a->size[i], y = b->size[j], common = hlo_gcd(x, y);
    struct hlo_factor *f = hlo_factor_begin(k, common, HLO_FACTOR_PASS);

    if (f)
        f->must_divide = common != x && common != y;
    hlo_factor_bind(k, 0, a->dim[i]);
    hlo_factor_bind(k, 1, b->dim[j]);
}

static void tie_walks(struct hlo_maker *k, const struct walk *a, const struct walk *b)
{
    uint8_t i = 0, j = 0;

    while (i < a->count && j < b->count) {
        uint8_t first_i = i, first_j = j;
        int64_t x = a->size[i++], y = b->size[j++];
        while (x != y) { /* products stay below the number of elements */
            if (x < y && i < a->count)
                x *= a->size[i++];
            else if (y < x && j < b->count)
                y *= b->size[j++];
            else
                return;
        }
        tie_major(k, a, first_i, b, first_j);
    }
}

static bool is_splittable(const struct hlo_shape *s, const struct hlo_shape *r)
{
    for (uint8_t d = 0; d < s->rank; d++)
        if (s->dims[d] < 0)
            return false; /* unbounded */
    for (uint8_t d = 0; d < r->rank; d++)
        if (r->dims[d] < 0)
            return false;
    return s->elements == r->elements && s->elements > 0;
}

void hlo_factors_RESHAPE(struct hlo_maker *k)
{
    const struct hlo_shape *s = hlo_leaf_shape(k, 0), *r = hlo_result_shape(k, 0);
    struct walk a = {.count = 0}, b = {.count = 0};

    if (!is_splittable(s, r))
        return;
    for (uint8_t d = 0; d < s->rank; d++)
        walk_add(&a, s, d);
    for (uint8_t d = 0; d < r->rank; d++)
        walk_add(&b, r, d);
    tie_walks(k, &a, &b);
}

static void walk_memory(struct walk *w, const struct hlo_shape *s)
{
    for (uint8_t d = 0; d < s->rank; d++)
        walk_add(w, s, s->minor_to_major ? s->minor_to_major[s->rank - 1 - d] : d);
}

/* The same bytes read under another shape: a reshape of the dims in the order of memory. */
void hlo_factors_BITCAST(struct hlo_maker *k)
{
    const struct hlo_shape *s = hlo_leaf_shape(k, 0), *r = hlo_result_shape(k, 0);
    struct walk a = {.count = 0}, b = {.count = 0};

    if (!is_splittable(s, r))
        return;
    walk_memory(&a, s);
    walk_memory(&b, r);
    tie_walks(k, &a, &b);
}
