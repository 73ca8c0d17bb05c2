#include "engine/pipeline/reads.h"

#include "engine/pipeline/unroll.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

struct finder {
    const struct unrolled *u;
    const uint32_t *at, *users, *user_base;
    struct reads *r;
    uint32_t *seen; /* [positions] the operation that met it last + 1 */
    uint32_t *found, found_count;
    size_t list_room, pool_room, pool_count;
};

/* The readers of an operation, as far as they all have one list: that one. UNROLL_NONE: they have
 * none, or several. */
static uint32_t common_list(const struct finder *f, const struct unroll_op *op)
{
    uint32_t first = f->user_base[op->values], end = f->user_base[op->values + op->value_count];
    uint32_t list = first < end ? f->r->list_of[f->users[first]] : UNROLL_NONE;

    for (uint32_t n = first; n < end; n++) {
        if (f->r->list_of[f->users[n]] != list)
            return UNROLL_NONE;
    }
    return list;
}

static bool add_position(struct finder *f, uint32_t n, uint32_t position)
{
    if (f->seen[position] == n + 1)
        return true;
    f->seen[position] = n + 1;
    if (f->found_count == READS_OF_ONE_MOST)
        return false;
    f->found[f->found_count++] = position;
    return true;
}

/* False: too many. */
static bool find_positions(struct finder *f, uint32_t n)
{
    const struct unroll_op *op = &f->u->ops[n];
    uint32_t first = f->user_base[op->values], end = f->user_base[op->values + op->value_count];

    f->found_count = 0;
    for (uint32_t m = first; m < end; m++) {
        const struct reads_list *l = reads_of(f->r, f->users[m]);
        if (!l && !add_position(f, n, f->at[f->users[m]]))
            return false;
        for (uint32_t k = 0; l && k < l->count; k++) {
            if (!add_position(f, n, f->r->position[l->first + k]))
                return false;
        }
    }
    return f->pool_count + f->found_count <= READS_MOST;
}

static int compare_positions(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;

    return (*a > *b) - (*a < *b);
}

/* The list just found, of `list` when it is the same. */
static bool is_same(const struct finder *f, const struct reads_list *list)
{
    return list->count == f->found_count &&
           !memcmp(f->r->position + list->first, f->found, f->found_count * sizeof *f->found);
}

static bool add_list(struct finder *f, uint32_t n)
{
    struct reads *r = f->r;

    if (!find_positions(f, n) || !f->found_count)
        return true;
    qsort(f->found, f->found_count, sizeof *f->found, compare_positions);
    if (!r->count || !is_same(f, &r->list[r->count - 1])) {
        if (!mem_grow(&r->list, &f->list_room, r->count, 1) ||
            !mem_grow(&r->position, &f->pool_room, f->pool_count, f->found_count))
            return false;
        r->list[r->count++] = (struct reads_list){(uint32_t)f->pool_count, f->found_count};
        memcpy(r->position + f->pool_count, f->found, f->found_count * sizeof *f->found);
        f->pool_count += f->found_count;
    }
    r->list_of[n] = r->count - 1;
    return true;
}

int reads_new(const struct unrolled *u, const uint32_t *position, uint32_t positions,
              const uint32_t *users, const uint32_t *user_base, struct reads *out, struct err *e)
{
    struct finder f = {.u = u, .at = position, .users = users, .user_base = user_base, .r = out};
    bool ok;

    *out = (struct reads){.list_of = mem_try((size_t)u->op_count + 1, sizeof *out->list_of)};
    f.seen = mem_try((size_t)positions + 1, sizeof *f.seen);
    f.found = mem_try(READS_OF_ONE_MOST, sizeof *f.found);
    ok = out->list_of && f.seen && f.found;
    if (out->list_of)
        memset(out->list_of, 0xff, ((size_t)u->op_count + 1) * sizeof *out->list_of);
    for (uint32_t n = u->op_count; ok && n-- > 0;) { /* readers come behind */
        if (!u->ops[n].is_free)
            continue;
        out->list_of[n] = common_list(&f, &u->ops[n]);
        if (out->list_of[n] == UNROLL_NONE)
            ok = add_list(&f, n);
    }
    free(f.seen);
    free(f.found);
    if (ok)
        return 0;
    reads_release(out);
    return err_no_memory(e, "for what stages make again");
}

void reads_release(struct reads *r)
{
    free(r->list_of);
    free(r->list);
    free(r->position);
    *r = (struct reads){0};
}

uint32_t reads_first(const struct reads *r, uint32_t op, uint32_t i, uint32_t j)
{
    const struct reads_list *l = reads_of(r, op);
    uint32_t low = 0, high = l ? l->count : 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->position[l->first + middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    if (!l || low == l->count || r->position[l->first + low] >= j)
        return UNROLL_NONE;
    return r->position[l->first + low];
}
