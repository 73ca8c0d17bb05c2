/* Branch and bound under a memory limit, with the multipliers of the root. */
#include "engine/exact/eliminate.h"
#include "engine/exact/limit_model.h"
#include "engine/exact/limit_search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

struct branch {
    double bound;
    uint32_t depth, number; /* nodes fixed; order of making */
    uint32_t *fixed;        /* [nodes] */
    uint32_t next;          /* node to branch on */
};

struct heap {
    struct branch *items;
    size_t count, room;
};

static bool comes_first(const struct branch *a, const struct branch *b)
{
    if (a->bound != b->bound)
        return a->bound < b->bound;
    return a->depth != b->depth ? a->depth > b->depth : a->number < b->number;
}

static bool heap_add(struct heap *h, struct branch b)
{
    size_t at = h->count;

    if (!mem_grow(&h->items, &h->room, h->count, 1))
        return false;
    for (h->count++; at && comes_first(&b, &h->items[(at - 1) / 2]); at = (at - 1) / 2)
        h->items[at] = h->items[(at - 1) / 2];
    h->items[at] = b;
    return true;
}

static struct branch heap_take(struct heap *h)
{
    struct branch first = h->items[0], last = h->items[--h->count];
    size_t at = 0;

    for (size_t next; (next = 2 * at + 1) < h->count; at = next) {
        if (next + 1 < h->count && comes_first(&h->items[next + 1], &h->items[next]))
            next++;
        if (!comes_first(&h->items[next], &last))
            break;
        h->items[at] = h->items[next];
    }
    if (h->count)
        h->items[at] = last;
    return first;
}

/* The free node that moves weighted bytes, and where they overlap what is hidden and what hides it,
 * most from a choice; UINT32_MAX when none moves any. */
static uint32_t most_moving(struct limit_search *s, const uint32_t *fixed, const uint32_t *choice,
                            const double *weight, double excess)
{
    uint32_t best = UINT32_MAX;
    double most = 0;

    memcpy(s->trial, choice, s->l.s.node_count * sizeof *choice);
    for (uint32_t n = 0; n < s->l.s.node_count; n++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t a = 0; a < s->l.s.nodes[n].domain && fixed[n] == NOT_FIXED; a++) {
            s->trial[n] = a;
            double bytes = limit_bytes_of(&s->l, s->trial, n, weight) +
                           excess * limit_balance_of(&s->l, s->trial, n);
            low = fmin(low, bytes);
            high = fmax(high, bytes);
        }
        s->trial[n] = choice[n];
        if (high - low > most) {
            most = high - low;
            best = n;
        }
    }
    return best;
}

/* price x bytes as weights of units. */
static void weigh_units(struct limit_search *s)
{
    for (uint32_t u = 0; u < s->l.unit_count; u++) {
        s->weight[u] = 0;
        for (uint32_t p = 0; p < s->l.moment_count; p++)
            s->weight[u] += s->price[p] * s->l.moments[p].counts[u];
    }
}

static uint32_t first_free(const struct limit_search *s, const uint32_t *fixed)
{
    for (uint32_t n = 0; n < s->l.s.node_count; n++) {
        if (fixed[n] == NOT_FIXED)
            return n;
    }
    return UINT32_MAX;
}

/* Bounds the plans under b->fixed. *open: something better than the best may be among them; then
 * b->next is the node to branch on. */
static int bound_branch(struct limit_search *s, struct branch *b, bool *open)
{
    struct limit_point at;
    int rc = limit_evaluate(s, 1, s->price, b->fixed, &at);

    *open = false;
    if (rc || !isfinite(at.value))
        return rc;
    b->bound = fmax(b->bound, at.bound);
    if (b->bound >= s->best_ms * (1 - LIMIT_NEAR))
        return 0;
    bool fits = at.peak <= s->limit, exact = at.bound >= at.value;
    if (fits && exact && limit_time(&s->l, s->choice) <= b->bound * (1 + LIMIT_NEAR))
        return 0;
    double open_part = limit_balance(&s->l, s->choice) > 0 ? 1 - s->l.weight : s->l.weight;
    b->next = fits ? most_moving(s, b->fixed, s->choice, s->weight, open_part)
                   : most_moving(s, b->fixed, s->choice, s->l.moments[at.moment].counts, 0);
    if (b->next == UINT32_MAX)
        b->next = first_free(s, b->fixed);
    *open = b->next != UINT32_MAX;
    if (*open && !isfinite(s->best_ms)) {
        rc = limit_evaluate(s, 0, s->share, b->fixed, &at);
        *open = at.bound <= s->limit && s->best_ms > b->bound;
    }
    return rc;
}

static int add_branch(struct limit_search *s, struct heap *h, const struct branch *from,
                      uint32_t choice, uint32_t number)
{
    size_t size = s->l.s.node_count * sizeof *from->fixed;
    struct branch b = {.bound = from->bound,
                       .depth = from->depth + 1,
                       .number = number,
                       .fixed = mem_try(s->l.s.node_count, sizeof *b.fixed)};
    bool open;

    if (!b.fixed)
        return err_no_memory(s->e, "for the memory limit");
    memcpy(b.fixed, from->fixed, size);
    b.fixed[from->next] = choice;
    int rc = bound_branch(s, &b, &open);
    if (rc)
        goto out;
    if (open) {
        if (heap_add(h, b))
            return 0;
        rc = err_no_memory(s->e, "for the memory limit");
    }
out:
    free(b.fixed);
    return rc;
}

/* Best bound first. s->bound becomes that of the whole tree; INFINITY: no plan is within the limit.
 */
int limit_branch_and_bound(struct limit_search *s)
{
    struct branch root = {.bound = s->bound,
                          .fixed = mem_try(s->l.s.node_count, sizeof *root.fixed)};
    struct heap h = {0};
    uint32_t number = 0;
    bool open = false;

    weigh_units(s);
    int rc = root.fixed ? 0 : err_no_memory(s->e, "for the memory limit");

    for (uint32_t n = 0; n < s->l.s.node_count && !rc; n++)
        root.fixed[n] = NOT_FIXED;
    rc = rc ? rc : bound_branch(s, &root, &open);
    if (!rc && open)
        rc = heap_add(&h, root) ? 0 : err_no_memory(s->e, "for the memory limit");
    if (rc || !open)
        free(root.fixed);
    while (!rc && h.count && h.items[0].bound < s->best_ms * (1 - LIMIT_NEAR) &&
           !limit_is_out_of_work(s)) {
        struct branch b = heap_take(&h);
        for (uint32_t a = 0; a < s->l.s.nodes[b.next].domain && !rc; a++)
            rc = add_branch(s, &h, &b, a, ++number);
        free(b.fixed);
    }
    s->bound = h.count && h.items[0].bound < s->best_ms ? h.items[0].bound : s->best_ms;
    for (size_t k = 0; k < h.count; k++)
        free(h.items[k].fixed);
    free(h.items);
    return rc;
}
