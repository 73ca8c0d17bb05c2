#include "engine/exact/eliminate.h"
#include "hlo/support/stop.h"

#include "engine/decide/classes.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

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
    struct list *near;     /* [nodes] neighbours that are still there, ascending */
    struct list *buckets;  /* [nodes] tables that hold the node and are still there */
    uint8_t *used;         /* [tables] already minimised out */
    size_t used_room;
    uint32_t *order; /* nodes as eliminated */
    struct solver_table
        *best; /* per entry of order: the best choice, over the node's neighbours then */
    uint32_t order_count;
    uint32_t stuck; /* node with most neighbours when no joint table is small enough */
    double value;
};

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

static void list_remove(struct list *l, uint32_t x)
{
    size_t kept = 0;

    for (size_t k = 0; k < l->count; k++) {
        if (l->items[k] != x)
            l->items[kept++] = l->items[k];
    }
    l->count = kept;
}

static bool make_near(struct run *r, uint32_t a, uint32_t b)
{
    if (a == b || list_has(&r->near[a], b))
        return true;
    return list_add(&r->near[a], b) && list_add(&r->near[b], a);
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
    free(r->buckets);
    free(r->used);
    free(r->order);
    free(r->best);
}

static bool run_init(struct run *r)
{
    size_t nodes = r->s->node_count, tables = r->s->table_count;

    r->near = mem_try(nodes, sizeof *r->near);
    r->buckets = mem_try(nodes, sizeof *r->buckets);
    r->order = mem_try(nodes, sizeof *r->order);
    r->best = mem_try(nodes, sizeof *r->best);
    if (!r->near || !r->buckets || !r->order || !r->best ||
        !mem_grow(&r->used, &r->used_room, 0, tables + nodes))
        return false;
    if (r->used)
        memset(r->used, 0, r->used_room);
    r->value = r->s->constant;
    for (size_t k = 0; k < tables; k++) {
        if (!place_table(r, k))
            return false;
    }
    return true;
}

/* The node whose joint table is smallest; CLASS_NONE when none fits, with the busiest in stuck. */
static uint32_t choose_node(struct run *r, const uint8_t *gone)
{
    uint32_t best = CLASS_NONE;
    size_t least = SIZE_MAX, most = 0;

    for (uint32_t n = 0; n < r->s->node_count; n++) {
        if (gone[n])
            continue;
        size_t size = joint_size(r->s, r->near[n].items, (uint32_t)r->near[n].count);
        if (size != SIZE_MAX)
            size *= r->s->nodes[n].domain;
        if (size < least && size <= r->s->table_most) {
            least = size;
            best = n;
        }
        if (r->near[n].count >= most) {
            most = r->near[n].count;
            r->stuck = n;
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

static int eliminate(struct run *r, uint32_t n)
{
    struct solver *s = r->s;
    const struct list *scope = &r->near[n];
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
    for (size_t k = 0; k < scope->count; k++)
        list_remove(&r->near[scope->items[k]], n);
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
    uint8_t *gone = mem_try(s->node_count, 1);
    int rc = gone && run_init(&r) ? 0 : err_no_memory(s->e, MEMORY_FOR);
    uint32_t left = 0;

    if (rc)
        goto out;
    for (uint32_t n = 0; n < s->node_count; n++) {
        gone[n] = fixed[n] != NOT_FIXED;
        choice[n] = gone[n] ? fixed[n] : 0;
        left += !gone[n];
    }
    while (left) {
        uint32_t n = choose_node(&r, gone);
        if (n == CLASS_NONE || r.near[n].count > 62) {
            *stuck = r.stuck;
            rc = ERR_LIMIT;
            break;
        }
        rc = eliminate(&r, n);
        gone[n] = 1;
        left--;
        if (rc)
            goto out;
    }
    if (rc)
        goto out;
    *value = r.value;
    read_back(&r, choice);
out:
    run_release(&r);
    free(gone);
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
