#include "engine/exact/eliminate.h"
#include "hlo/support/sort.h"
#include "hlo/support/stop.h"

#include "engine/decide/classes.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { NEAR_MOST = 62 }; /* neighbours of a node that can be eliminated */

static const char MEMORY_FOR[] = "for the exact solver";

void solver_table_release(struct solver_table *f)
{
    free(f->nodes);
    free(f->value);
    memset(f, 0, sizeof *f);
}

/* Product of the domains, or SIZE_MAX past table_most. */
static size_t joint_size(const struct solver *s, const uint32_t *nodes, uint32_t count)
{
    size_t size = 1;

    for (uint32_t k = 0; k < count; k++) {
        size *= s->nodes[nodes[k]].domain;
        if (size > s->table_most)
            return SIZE_MAX;
    }
    return size;
}

int solver_table_new(const struct solver *s, const uint32_t *nodes, uint32_t count,
                     struct solver_table *out)
{
    struct solver_table f = {.count = count, .size = joint_size(s, nodes, count)};

    if (f.size == SIZE_MAX)
        return ERR_LIMIT;
    f.nodes = mem_try(count, sizeof *f.nodes);
    f.value = mem_try(f.size, sizeof *f.value);
    if (!f.nodes || !f.value) {
        solver_table_release(&f);
        return ERR_MEMORY;
    }
    if (count)
        memcpy(f.nodes, nodes, count * sizeof *nodes);
    *out = f;
    return 0;
}

int solver_push_table(struct solver *s, struct solver_table *f)
{
    if (!mem_grow(&s->tables, &s->table_room, s->table_count, 1)) {
        solver_table_release(f);
        return err_no_memory(s->e, MEMORY_FOR);
    }
    s->tables[s->table_count++] = *f;
    return 0;
}

bool solver_next_choice(const struct solver *s, const uint32_t *nodes, uint32_t count,
                        uint32_t *choice)
{
    for (uint32_t k = 0; k < count; k++) {
        if (++choice[k] < s->nodes[nodes[k]].domain)
            return true;
        choice[k] = 0;
    }
    return false;
}

/* ---- elimination ---- */

struct list {
    uint32_t *items;
    size_t count, room;
};

/* One run of elimination with some nodes fixed. */
struct run {
    struct solver *s;
    const uint32_t *fixed; /* [nodes] choice, or NOT_FIXED */
    struct list *near;     /* [nodes] neighbours, ascending */
    uint32_t *lost;        /* [nodes] how many of these went: eliminated, and still in the list */
    uint8_t *gone;         /* [nodes] eliminated or fixed */
    bool is_ready;         /* the lists are in order */
    struct list *buckets;  /* [nodes] tables that hold the node and are still there */
    uint8_t *used;         /* [tables] already minimised out */
    size_t used_room;
    uint32_t *order; /* nodes as eliminated */
    struct solver_table
        *best; /* per entry of order: the best choice, over the node's neighbours then */
    uint32_t order_count;
    struct candidate {
        size_t cost;
        uint32_t node;
    } * heap; /* of what eliminating a node costs; offers that no longer count stay until they come
                 up */
    size_t heap_count, heap_room;
    size_t *cost; /* [nodes] of the last offer */
    double value;
};

static bool list_push(struct list *l, uint32_t x)
{
    if (!mem_grow(&l->items, &l->room, l->count, 1))
        return false;
    l->items[l->count++] = x;
    return true;
}

/* Where it belongs in an ascending list. */
static bool list_add(struct list *l, uint32_t x)
{
    size_t at = l->count;

    if (!mem_grow(&l->items, &l->room, l->count, 1))
        return false;
    for (; at && l->items[at - 1] > x; at--)
        l->items[at] = l->items[at - 1];
    l->items[at] = x;
    l->count++;
    return true;
}

static bool list_has(const struct list *l, uint32_t x)
{
    size_t low = 0, high = l->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->items[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->count && l->items[low] == x;
}

/* Ascending, each once. */
static void list_settle(struct list *l)
{
    size_t kept = 0;

    if (l->count)
        sort_u32(l->items, l->count);
    for (size_t k = 0; k < l->count; k++) {
        if (!kept || l->items[kept - 1] != l->items[k])
            l->items[kept++] = l->items[k];
    }
    l->count = kept;
}

static size_t near_count(const struct run *r, uint32_t n)
{
    return r->near[n].count - r->lost[n];
}

/* Takes those that went out of the neighbours of `n`. */
static void near_settle(struct run *r, uint32_t n)
{
    struct list *l = &r->near[n];
    size_t kept = 0;

    for (size_t k = 0; k < l->count && r->lost[n]; k++) {
        if (!r->gone[l->items[k]])
            l->items[kept++] = l->items[k];
    }
    if (r->lost[n])
        l->count = kept;
    r->lost[n] = 0;
}

/* A neighbour of `n` went: taken out with others, so that one of very many costs little. */
static void near_lose(struct run *r, uint32_t n)
{
    if (++r->lost[n] * 2 > r->near[n].count)
        near_settle(r, n);
}

static bool make_near(struct run *r, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    if (!r->is_ready) /* sorted later, all at once */
        return list_push(&r->near[a], b) && list_push(&r->near[b], a);
    return list_has(&r->near[a], b) || (list_add(&r->near[a], b) && list_add(&r->near[b], a));
}

/* Registers table `k` with the free nodes it holds; one without free nodes adds to the value. */
static bool place_table(struct run *r, size_t k)
{
    const struct solver_table *f = &r->s->tables[k];
    uint32_t free_nodes = 0;

    for (uint32_t a = 0; a < f->count; a++) {
        if (r->fixed[f->nodes[a]] != NOT_FIXED)
            continue;
        free_nodes++;
        if (!list_add(&r->buckets[f->nodes[a]], (uint32_t)k))
            return false;
        for (uint32_t b = 0; b < a; b++) {
            if (r->fixed[f->nodes[b]] == NOT_FIXED && !make_near(r, f->nodes[a], f->nodes[b]))
                return false;
        }
    }
    if (!free_nodes) {
        size_t at = 0, stride = 1;
        for (uint32_t a = 0; a < f->count; a++) {
            at += stride * r->fixed[f->nodes[a]];
            stride *= r->s->nodes[f->nodes[a]].domain;
        }
        r->value += f->value[at];
    }
    return true;
}

static void run_release(struct run *r)
{
    for (uint32_t n = 0; n < r->s->node_count; n++) {
        if (r->near)
            free(r->near[n].items);
        if (r->buckets)
            free(r->buckets[n].items);
        if (r->best)
            solver_table_release(&r->best[n]);
    }
    free(r->near);
    free(r->lost);
    free(r->gone);
    free(r->buckets);
    free(r->used);
    free(r->order);
    free(r->best);
    free(r->heap);
    free(r->cost);
}

static bool run_init(struct run *r)
{
    size_t nodes = r->s->node_count, tables = r->s->table_count;

    r->near = mem_try(nodes, sizeof *r->near);
    r->buckets = mem_try(nodes, sizeof *r->buckets);
    r->order = mem_try(nodes, sizeof *r->order);
    r->best = mem_try(nodes, sizeof *r->best);
    r->cost = mem_try(nodes, sizeof *r->cost);
    r->lost = mem_try(nodes, sizeof *r->lost);
    r->gone = mem_try(nodes, 1);
    if (!r->near || !r->lost || !r->gone || !r->buckets || !r->order || !r->best || !r->cost ||
        !mem_grow(&r->used, &r->used_room, 0, tables + nodes))
        return false;
    if (r->used)
        memset(r->used, 0, r->used_room);
    r->value = r->s->constant;
    for (size_t n = 0; n < nodes; n++)
        r->gone[n] = r->fixed[n] != NOT_FIXED;
    for (size_t k = 0; k < tables; k++) {
        if (!place_table(r, k))
            return false;
    }
    for (size_t n = 0; n < nodes; n++)
        list_settle(&r->near[n]);
    r->is_ready = true;
    return true;
}

/* Entries of the joint table that eliminating `n` makes, with n's own choices; SIZE_MAX: too many.
 */
static size_t cost_of(struct run *r, uint32_t n)
{
    if (near_count(r, n) > NEAR_MOST)
        return SIZE_MAX;
    near_settle(r, n);
    size_t size = joint_size(r->s, r->near[n].items, (uint32_t)r->near[n].count);
    if (size != SIZE_MAX)
        size *= r->s->nodes[n].domain;
    return size <= r->s->table_most ? size : SIZE_MAX;
}

static bool is_cheaper(const struct candidate *a, const struct candidate *b)
{
    return a->cost != b->cost ? a->cost < b->cost : a->node < b->node;
}

/* Offers `n` at what it costs now; what was offered before no longer counts. Nodes that cost too
 * much are offered again when a neighbour goes. */
static bool offer_node(struct run *r, uint32_t n)
{
    struct candidate c = {cost_of(r, n), n};
    size_t at = r->heap_count;

    r->cost[n] = c.cost;
    if (c.cost == SIZE_MAX)
        return true;
    if (!mem_grow(&r->heap, &r->heap_room, r->heap_count, 1))
        return false;
    for (r->heap_count++; at && is_cheaper(&c, &r->heap[(at - 1) / 2]); at = (at - 1) / 2)
        r->heap[at] = r->heap[(at - 1) / 2];
    r->heap[at] = c;
    return true;
}

static struct candidate take_cheapest(struct run *r)
{
    struct candidate first = r->heap[0], last = r->heap[--r->heap_count];
    size_t at = 0;

    for (size_t below; (below = 2 * at + 1) < r->heap_count; at = below) {
        below += below + 1 < r->heap_count && is_cheaper(&r->heap[below + 1], &r->heap[below]);
        if (!is_cheaper(&r->heap[below], &last))
            break;
        r->heap[at] = r->heap[below];
    }
    if (r->heap_count)
        r->heap[at] = last;
    return first;
}

/* The node whose joint table is smallest, the first of several. CLASS_NONE: none fits. O(log
 * nodes), with the offers that no longer count. */
static uint32_t choose_node(struct run *r)
{
    while (r->heap_count) {
        struct candidate c = take_cheapest(r);
        if (!r->gone[c.node] && r->cost[c.node] == c.cost)
            return c.node;
    }
    return CLASS_NONE;
}

/* The node with most neighbours, the last of several. */
static uint32_t busiest_node(const struct run *r)
{
    uint32_t best = 0;
    size_t most = 0;

    for (uint32_t n = 0; n < r->s->node_count; n++) {
        if (!r->gone[n] && near_count(r, n) >= most) {
            most = near_count(r, n);
            best = n;
        }
    }
    return best;
}

/* How table `f` is read while its node `n` and n's neighbours vary. */
struct reader {
    const double *value;
    size_t base, node_stride;
    size_t stride[64]; /* per neighbour */
};

static void make_reader(const struct run *r, const struct solver_table *f, uint32_t n,
                        const struct list *scope, struct reader *out)
{
    size_t stride = 1;

    memset(out, 0, sizeof *out);
    out->value = f->value;
    for (uint32_t a = 0; a < f->count; a++) {
        uint32_t node = f->nodes[a];
        if (node == n) {
            out->node_stride = stride;
        } else if (r->fixed[node] != NOT_FIXED) {
            out->base += stride * r->fixed[node];
        } else {
            for (size_t k = 0; k < scope->count; k++) {
                if (scope->items[k] == node)
                    out->stride[k] = stride;
            }
        }
        stride *= r->s->nodes[node].domain;
    }
}

/* joint(scope) = min over n of the sum of n's tables; best(scope) = the minimising choice. */
static void minimise(const struct run *r, uint32_t n, const struct reader *readers,
                     size_t reader_count, struct solver_table *joint, struct solver_table *best)
{
    uint32_t choice[64] = {0};
    size_t at = 0;

    do {
        double least = INFINITY;
        uint32_t arg = 0;
        for (uint32_t a = 0; a < r->s->nodes[n].domain; a++) {
            double sum = 0;
            for (size_t k = 0; k < reader_count; k++) {
                size_t index = readers[k].base + a * readers[k].node_stride;
                for (uint32_t c = 0; c < joint->count; c++)
                    index += choice[c] * readers[k].stride[c];
                sum += readers[k].value[index];
            }
            if (sum < least) {
                least = sum;
                arg = a;
            }
        }
        joint->value[at] = least;
        best->value[at++] = arg;
    } while (solver_next_choice(r->s, joint->nodes, joint->count, choice));
}

static int eliminate_node(struct run *r, uint32_t n)
{
    struct solver *s = r->s;
    const struct list *scope = &r->near[n]; /* settled when its cost was found */
    struct solver_table joint = {0}, *best = &r->best[r->order_count];
    struct reader *readers = mem_try(r->buckets[n].count, sizeof *readers);
    size_t count = 0;

    if (!readers || solver_table_new(s, scope->items, (uint32_t)scope->count, &joint) ||
        solver_table_new(s, scope->items, (uint32_t)scope->count, best)) {
        free(readers);
        solver_table_release(&joint);
        return err_no_memory(s->e, MEMORY_FOR);
    }
    for (size_t k = 0; k < r->buckets[n].count; k++) {
        uint32_t t = r->buckets[n].items[k];
        if (r->used[t])
            continue;
        make_reader(r, &s->tables[t], n, scope, &readers[count++]);
        r->used[t] = 1;
    }
    minimise(r, n, readers, count, &joint, best);
    free(readers);
    if (scope->count + 1 > s->width)
        s->width = (uint32_t)scope->count + 1;
    r->order[r->order_count++] = n;
    r->gone[n] = 1;
    for (size_t k = 0; k < scope->count; k++)
        near_lose(r, scope->items[k]);
    if (!joint.count) {
        r->value += joint.value[0];
        solver_table_release(&joint);
        return 0;
    }
    int rc = solver_push_table(s, &joint);
    if (rc)
        return rc;
    if (!mem_grow(&r->used, &r->used_room, s->table_count, 1))
        return err_no_memory(s->e, MEMORY_FOR);
    r->used[s->table_count - 1] = 0;
    return place_table(r, s->table_count - 1) ? 0 : err_no_memory(s->e, MEMORY_FOR);
}

/* Choices of the eliminated nodes, last first: each best given those found before it. */
static void read_back(const struct run *r, uint32_t *choice)
{
    for (uint32_t k = r->order_count; k--;) {
        const struct solver_table *f = &r->best[k];
        size_t at = 0, stride = 1;
        for (uint32_t a = 0; a < f->count; a++) {
            at += stride * choice[f->nodes[a]];
            stride *= r->s->nodes[f->nodes[a]].domain;
        }
        choice[r->order[k]] = (uint32_t)f->value[at];
    }
}

/* Eliminates all free nodes. 0: value and choice are the optimum for `fixed`. ERR_LIMIT: a joint
 * table would be too large; *stuck is a node worth fixing. */
static int run_elimination(struct solver *s, const uint32_t *fixed, uint32_t *choice, double *value,
                           uint32_t *stuck)
{
    struct run r = {.s = s, .fixed = fixed};
    size_t given = s->table_count;
    int rc = run_init(&r) ? 0 : err_no_memory(s->e, MEMORY_FOR);
    uint32_t left = 0;

    if (rc)
        goto out;
    for (uint32_t n = 0; n < s->node_count; n++) {
        choice[n] = r.gone[n] ? fixed[n] : 0;
        left += !r.gone[n];
        if (!r.gone[n] && !offer_node(&r, n)) {
            rc = err_no_memory(s->e, MEMORY_FOR);
            goto out;
        }
    }
    for (; left; left--) {
        uint32_t n = choose_node(&r);
        if (n == CLASS_NONE) {
            *stuck = busiest_node(&r);
            rc = ERR_LIMIT;
            goto out;
        }
        rc = eliminate_node(&r, n);
        for (size_t k = 0; !rc && k < r.near[n].count; k++) {
            if (!offer_node(&r, r.near[n].items[k]))
                rc = err_no_memory(s->e, MEMORY_FOR);
        }
        if (rc)
            goto out;
    }
    *value = r.value;
    read_back(&r, choice);
out:
    run_release(&r);
    while (s->table_count > given)
        solver_table_release(&s->tables[--s->table_count]);
    return rc;
}

/* ---- conditioning ---- */

struct cases {
    struct solver *s;
    uint32_t *fixed, *choice, *best_choice; /* [nodes] */
    double best, open_bound; /* open_bound: least bound of a case that was not worked through */
    uint64_t nodes;
};

/* No completion of the fixed nodes is below the sum of each table's least entry. */
static double case_bound(const struct cases *c)
{
    const struct solver *s = c->s;
    double bound = s->constant;

    for (size_t k = 0; k < s->table_count; k++) {
        const struct solver_table *f = &s->tables[k];
        uint32_t choice[64] = {0};
        double least = INFINITY;
        size_t at = 0;
        do {
            bool agrees = true;
            for (uint32_t a = 0; a < f->count; a++)
                agrees &= c->fixed[f->nodes[a]] == NOT_FIXED || c->fixed[f->nodes[a]] == choice[a];
            if (agrees && f->value[at] < least)
                least = f->value[at];
            at++;
        } while (solver_next_choice(s, f->nodes, f->count, choice));
        bound += least;
    }
    return bound;
}

/* The plan with nothing split beyond what is fixed: so that there is one to give, however early the
 * cases run out. Choice 0 of every other node. */
static void start_whole(struct cases *c)
{
    const struct solver *s = c->s;
    double value = s->constant;

    for (size_t k = 0; k < s->table_count; k++) {
        const struct solver_table *f = &s->tables[k];
        size_t at = 0, stride = 1;
        for (uint32_t a = 0; a < f->count; a++) {
            uint32_t fixed = c->fixed[f->nodes[a]];
            at += fixed == NOT_FIXED ? 0 : stride * fixed;
            stride *= s->nodes[f->nodes[a]].domain;
        }
        value += f->value[at];
    }
    if (value < c->best) {
        c->best = value;
        for (uint32_t n = 0; n < s->node_count; n++)
            c->best_choice[n] = c->fixed[n] == NOT_FIXED ? 0 : c->fixed[n];
    }
}

static int work_case(struct cases *c)
{
    uint32_t stuck = 0;
    double value = INFINITY, bound = case_bound(c);

    if (bound >= c->best)
        return 0;
    if (c->nodes++ >= c->s->nodes_most || (c->nodes > 1 && stop_asked(c->s->o->stop))) {
        if (bound < c->open_bound)
            c->open_bound = bound;
        return 0;
    }
    int rc = run_elimination(c->s, c->fixed, c->choice, &value, &stuck);
    if (rc)
        goto out;
    if (value < c->best) {
        c->best = value;
        memcpy(c->best_choice, c->choice, c->s->node_count * sizeof *c->choice);
    }
    return 0;
out:
    if (rc != ERR_LIMIT)
        return rc;
    start_whole(c);
    for (uint32_t a = 0; a < c->s->nodes[stuck].domain; a++) {
        c->fixed[stuck] = a;
        rc = work_case(c);
        if (rc)
            break;
    }
    c->fixed[stuck] = NOT_FIXED;
    return rc;
}

int solver_minimise(struct solver *s, const uint32_t *fixed, uint32_t *choice,
                    struct solver_answer *out)
{
    struct cases c = {.s = s, .best = INFINITY, .open_bound = INFINITY};
    int rc = 0;

    c.fixed = mem_try(s->node_count, sizeof *c.fixed);
    c.choice = mem_try(s->node_count, sizeof *c.choice);
    c.best_choice = choice;
    if (!c.fixed || !c.choice) {
        rc = err_no_memory(s->e, MEMORY_FOR);
        goto out;
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        c.fixed[n] = fixed ? fixed[n] : NOT_FIXED;
        choice[n] = fixed && fixed[n] != NOT_FIXED ? fixed[n] : 0;
    }
    rc = work_case(&c);
out:
    *out = (struct solver_answer){c.best, c.open_bound < c.best ? c.open_bound : c.best, c.nodes};
    free(c.fixed);
    free(c.choice);
    return rc;
}
