#include "engine/hybrid/hybrid_exact.h"

#include "engine/hybrid/hybrid_pins.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the exact hybrid plan";
#define NO_ENTRY UINT32_MAX
#define SLACK (1 + 1e-9) /* bounds and lengths are sums taken in different orders */

enum { SET_MOST = 400, TRANSITIONS_MOST = 400000000 };

/* Stages from `section` on; the first of them begins at `device`. */
struct entry {
    double x, y, z;
    uint32_t next, point; /* the entry behind; of instance->points */
    uint32_t device;
    uint16_t section, slot;
};

struct set {
    uint32_t first, count;
};

struct list {
    struct entry *items;
    size_t count, room;
};

/* The states of stages on one slot that begin at one device. */
struct block {
    struct set *set; /* [depth][sections + 1]; NULL: none */
};

struct solver {
    const struct hybrid_instance *in;
    const struct hybrid_exact_options *o;
    double known, waits; /* M - 1 */
    uint32_t depth;      /* counts of stages told apart; the last may stand for more */
    bool last_is_more;
    double *forward, *both, *work; /* [sections + 1] least before a section */
    struct block *block;           /* [devices][slots] */
    struct list entries, tail, fresh;
    struct set *tail_of; /* [depth + 1][sections + 1] */
    uint32_t *stair;
    size_t stair_room;
    uint32_t best; /* entry of the shortest complete plan */
    bool ended, cut_short, no_memory;
    uint64_t transitions;
    uint32_t set_most;
};

/* What has begun ends with what there is, and the solver with ERR_MEMORY. */
static bool has_memory(struct solver *x, bool got_it)
{
    x->no_memory |= !got_it;
    x->ended |= !got_it;
    return got_it;
}

/* ---- bounds ---- */

static bool may_cut(const struct solver *x, uint32_t cut)
{
    return !x->o->no_cut || !cut || cut == x->in->sections || !x->o->no_cut[cut];
}

static bool may_use(const struct solver *x, uint32_t slot)
{
    return !x->o->slots || (x->o->slots >> slot & 1);
}

/* The points of a front that may be taken. */
static struct hybrid_front front_of(const struct solver *x, uint32_t slot, uint32_t i, uint32_t j)
{
    struct hybrid_front f = *hybrid_front_of(x->in, slot, i, j);

    if (!x->o->only || !f.count)
        return f;
    f.first += *x->o->only;
    f.count = x->in->points[f.first].both_ms < INFINITY; /* else its row is not for this interval */
    return f;
}

/* Least of forward time, of both, of both x devices over the partitions of sections 0 .. i-1. */
static void fill_bounds(struct solver *x)
{
    const struct hybrid_instance *in = x->in;

    for (uint32_t j = 1; j <= in->sections; j++) {
        x->forward[j] = x->both[j] = x->work[j] = INFINITY;
        for (uint32_t i = 0; i < j; i++) {
            if (!may_cut(x, i) || !may_cut(x, j))
                continue;
            for (uint32_t s = 0; s < in->slots; s++) {
                struct hybrid_front f = front_of(x, s, i, j);
                for (uint32_t n = f.first; n < f.first + f.count && may_use(x, s); n++) {
                    const struct hybrid_point *p = &in->points[n];
                    x->forward[j] = fmin(x->forward[j], x->forward[i] + p->forward_ms);
                    x->both[j] = fmin(x->both[j], x->both[i] + p->both_ms);
                    x->work[j] = fmin(x->work[j], x->work[i] + p->both_ms * in->slot[s].devices);
                }
            }
        }
    }
}

/* No plan that ends in this entry is shorter, when sections 0 .. i-1 run on `devices`. */
static double bound_of_entry(const struct solver *x, const struct entry *e, uint32_t devices,
                             uint32_t i)
{
    double mean = i ? x->work[i] / devices : 0;
    double least = pipe_more(e->x + x->forward[i], e->y + x->both[i]);

    return pipe_more(least, x->in->options.micro_batches * mean);
}

/* ---- sets ---- */

static int compare_entries(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    if (p->z != q->z)
        return p->z < q->z ? -1 : 1;
    if (p->next != q->next)
        return p->next < q->next ? -1 : 1;
    return (p->point > q->point) - (p->point < q->point);
}

/* Adds to the stair, which ascends in y and descends in z, unless a step is as good; drops the
 * steps it beats. */
static bool stair_add(struct solver *x, uint32_t *steps, uint32_t index)
{
    const struct entry *all = x->fresh.items, *e = &all[index];
    uint32_t low = 0, high = *steps;

    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (all[x->stair[mid]].y <= e->y)
            low = mid + 1;
        else
            high = mid;
    }
    if (low && all[x->stair[low - 1]].z <= e->z)
        return false;
    uint32_t end = low;
    while (end < *steps && all[x->stair[end]].z >= e->z)
        end++;
    memmove(&x->stair[low + 1], &x->stair[end], (*steps - end) * sizeof *x->stair);
    x->stair[low] = index;
    *steps = *steps - (end - low) + 1;
    return true;
}

/* The fresh entries that none other beats in x, y and z, appended to `to`. */
static struct set filter_front(struct solver *x, struct list *to)
{
    struct list *f = &x->fresh;
    struct set s = {(uint32_t)to->count, 0};
    uint32_t steps = 0, most = x->o->set_most ? x->o->set_most : SET_MOST;

    if (!f->count)
        return s;
    bool fits = to->count + f->count < NO_ENTRY;
    x->ended |= !fits;
    if (!fits || !has_memory(x, mem_grow(&to->items, &to->room, to->count, f->count) &&
                                    mem_grow(&x->stair, &x->stair_room, 0, f->count + 1))) {
        f->count = 0;
        return s;
    }
    qsort(f->items, f->count, sizeof *f->items, compare_entries);
    for (uint32_t n = 0; n < f->count; n++) {
        if (!stair_add(x, &steps, n))
            continue;
        if (s.count == most) {
            x->cut_short = true;
            break;
        }
        to->items[to->count + s.count++] = f->items[n];
    }
    to->count += s.count;
    x->set_most = s.count > x->set_most ? s.count : x->set_most;
    f->count = 0;
    return s;
}

/* A node in the program. */
struct step {
    double forward, both, reduce, steady;
};

static struct entry put_before(const struct solver *x, const struct entry *e, const struct step *n)
{
    struct entry out = *e;

    out.y = n->both + pipe_more(e->y, n->steady);
    out.x =
        pipe_more(n->forward + e->x, pipe_more(n->reduce + out.y, n->forward + n->steady + e->z));
    out.z = x->o->is_bound ? 0 : pipe_more(n->reduce, e->z - (n->both - n->forward));
    return out;
}

static bool goes_on(struct solver *x)
{
    uint64_t most = x->o->transitions_most ? x->o->transitions_most : TRANSITIONS_MOST;

    if (x->o->stop && atomic_load_explicit(x->o->stop, memory_order_relaxed))
        x->ended = true;
    if (x->transitions > most)
        x->ended = true;
    return !x->ended;
}

static void add_fresh(struct solver *x, const struct entry *e, uint32_t devices, uint32_t i)
{
    x->transitions++;
    if (bound_of_entry(x, e, devices, i) > x->known)
        return;
    if (has_memory(x, mem_grow(&x->fresh.items, &x->fresh.room, x->fresh.count, 1)))
        x->fresh.items[x->fresh.count++] = *e;
}

/* ---- transitions ---- */

/* What may follow a stage on slot s that ends at device b: every state there, behind its transfer.
 */
static void fill_tail(struct solver *x, uint32_t b, uint32_t s)
{
    const struct hybrid_instance *in = x->in;
    size_t n = in->sections + 1;

    x->tail.count = 0;
    memset(x->tail_of, 0, (x->depth + 1) * n * sizeof *x->tail_of);
    for (uint32_t k = 1; k <= x->depth; k++) {
        for (uint32_t j = 1; j < in->sections && goes_on(x); j++) {
            for (uint32_t t = 0; t < in->slots; t++) {
                const struct block *block = &x->block[(size_t)b * in->slots + t];
                struct set set = block->set ? block->set[(k - 1) * n + j] : (struct set){0};
                if (!set.count)
                    continue;
                struct pipe_node l = hybrid_link_node(in, j, b, s, t);
                double both = l.forward_ms + l.backward_ms;
                struct step step = {.forward = l.forward_ms,
                                    .both = both,
                                    .reduce = l.reduce_ms,
                                    .steady =
                                        x->waits * (in->options.half_duplex
                                                        ? both
                                                        : pipe_more(l.forward_ms, l.backward_ms))};
                for (uint32_t m = set.first; m < set.first + set.count; m++) {
                    struct entry e = put_before(x, &x->entries.items[m], &step);
                    e.next = m;
                    add_fresh(x, &e, b, j);
                }
            }
            x->tail_of[k * n + j] = filter_front(x, &x->tail);
        }
    }
}

/* Stage [i, j) at device a as k-th from the end before the entries of `tail`. */
static void add_stage(struct solver *x, uint32_t a, uint32_t s, uint32_t k, uint32_t i, uint32_t j,
                      struct set tail)
{
    const struct hybrid_instance *in = x->in;
    struct hybrid_front f = front_of(x, s, i, j);
    uint32_t in_flight = pipe_in_flight(&in->options, k);
    if (!hybrid_may_be(in, s, i, j, a))
        return;
    static const struct entry nothing = {.next = NO_ENTRY};

    for (uint32_t n = f.first; n < f.first + f.count; n++) {
        const struct hybrid_point *p = &in->points[n];
        struct step step = {p->forward_ms, p->both_ms, p->reduce_ms, x->waits * p->both_ms};
        if (in->options.micro_batches * p->both_ms > x->known ||
            hybrid_point_bytes(p, in_flight) > in->slot[s].limit_bytes)
            continue;
        for (uint32_t t = 0; t < (j == in->sections ? 1 : tail.count); t++) {
            const struct entry *behind =
                j == in->sections ? &nothing : &x->tail.items[tail.first + t];
            struct entry e = put_before(x, behind, &step);
            e.point = n;
            e.device = a;
            e.section = (uint16_t)i;
            e.slot = (uint16_t)s;
            add_fresh(x, &e, a, i);
        }
    }
}

static void add_stages(struct solver *x, uint32_t a, uint32_t b, uint32_t s, uint32_t k, uint32_t i)
{
    const struct hybrid_instance *in = x->in;
    size_t row = in->sections + 1;
    bool is_more = x->last_is_more && k == x->depth;

    if (b == in->devices) {
        if (k == 1)
            add_stage(x, a, s, k, i, in->sections, (struct set){0});
        return;
    }
    for (uint32_t j = i + 1; j < in->sections && goes_on(x); j++) {
        struct set fewer = x->tail_of[(k - 1) * row + j], more = x->tail_of[k * row + j];
        if (fewer.count)
            add_stage(x, a, s, k, i, j, fewer);
        if (is_more && more.count)
            add_stage(x, a, s, k, i, j, more);
    }
}

/* A set begins with its least x. */
static void keep_best(struct solver *x, struct set set, uint32_t k)
{
    const struct entry *all = x->entries.items;

    if (!set.count || (x->o->stages && k != x->o->stages))
        return;
    if (x->best == NO_ENTRY || all[set.first].x < all[x->best].x) {
        x->best = set.first;
        double most = all[set.first].x * (1 + x->o->near) * SLACK;
        if (most < x->known)
            x->known = most;
    }
}

/* All states of stages on slot s that begin at device a. */
static void fill_block(struct solver *x, uint32_t a, uint32_t s)
{
    const struct hybrid_instance *in = x->in;
    size_t n = in->sections + 1;
    struct block *block = &x->block[(size_t)a * in->slots + s];
    uint32_t b = a + in->slot[s].devices;

    block->set = mem_try(x->depth * n, sizeof *block->set);
    if (!has_memory(x, block->set != NULL))
        return;
    if (b < in->devices)
        fill_tail(x, b, s);
    for (uint32_t k = 1; k <= x->depth; k++) {
        for (uint32_t i = 0; i < (a ? in->sections : 1) && goes_on(x); i++) {
            if (!may_cut(x, i))
                continue;
            add_stages(x, a, b, s, k, i);
            struct set set = filter_front(x, &x->entries);
            block->set[(k - 1) * n + i] = set;
            if (!i)
                keep_best(x, set, k);
        }
    }
}

/* ---- from start to end ---- */

/* Counts in flight stop growing at M; without a limit of memory counts do not matter. */
static void choose_depth(struct solver *x)
{
    const struct pipe_options *o = &x->in->options;
    uint32_t most = x->in->sections < x->in->devices ? x->in->sections : x->in->devices;

    if (most > HYBRID_STAGES_MOST)
        most = HYBRID_STAGES_MOST;
    x->depth = 1;
    x->last_is_more = !x->o->stages;
    if (x->o->stages)
        x->depth = x->o->stages;
    else if (o->memory_share > 0)
        while (x->depth < most && pipe_in_flight(o, x->depth) < o->micro_batches)
            x->depth++;
}

/* False: more stages than a plan has room for. */
static bool read_plan(const struct solver *x, const struct entry *e, struct hybrid_plan *p)
{
    *p = (struct hybrid_plan){0};
    for (; e; e = e->next == NO_ENTRY ? NULL : &x->entries.items[e->next]) {
        if (p->stages == HYBRID_STAGES_MOST)
            return false;
        p->cut[p->stages] = e->section;
        p->device[p->stages] = e->device;
        p->slot[p->stages] = e->slot;
        p->point[p->stages++] = e->point;
    }
    p->cut[p->stages] = x->in->sections;
    p->device[p->stages] = x->in->devices;
    return true;
}

static int compare_complete(const void *a, const void *b)
{
    int by = compare_entries(a, b);

    return by ? by
              : (((const struct entry *)a)->device > ((const struct entry *)b)->device) -
                    (((const struct entry *)a)->device < ((const struct entry *)b)->device);
}

/* Complete plans as entries that lead a list of their own, in order of L. False: no memory. */
static bool read_nearby(struct solver *x, struct hybrid_exact_result *out)
{
    const struct hybrid_instance *in = x->in;
    size_t row = in->sections + 1;

    x->fresh.count = 0;
    for (size_t n = 0; n < (size_t)in->devices * in->slots; n++)
        for (uint32_t k = 1; k <= x->depth && x->block[n].set; k++) {
            struct set s = x->block[n].set[(k - 1) * row];
            for (uint32_t m = s.first; m < s.first + s.count; m++) {
                struct entry e = x->entries.items[m];
                if (e.x > x->known || (x->o->stages && k != x->o->stages))
                    continue;
                if (!mem_grow(&x->fresh.items, &x->fresh.room, x->fresh.count, 1))
                    return false;
                x->fresh.items[x->fresh.count++] = e;
            }
        }
    qsort(x->fresh.items, x->fresh.count, sizeof *x->fresh.items, compare_complete);
    out->nearby = mem_try(HYBRID_NEARBY_MOST, sizeof *out->nearby);
    if (!out->nearby)
        return false;
    for (size_t n = 0; n < x->fresh.count && out->nearby_count < HYBRID_NEARBY_MOST; n++)
        out->nearby_count += read_plan(x, &x->fresh.items[n], &out->nearby[out->nearby_count]);
    return true;
}

static void free_solver(struct solver *x)
{
    for (size_t n = 0; x->block && n < (size_t)x->in->devices * x->in->slots; n++)
        free(x->block[n].set);
    free(x->block);
    free(x->forward);
    free(x->both);
    free(x->work);
    free(x->entries.items);
    free(x->tail.items);
    free(x->fresh.items);
    free(x->tail_of);
    free(x->stair);
}

int hybrid_exact_solve(const struct hybrid_instance *in, const struct hybrid_exact_options *o,
                       struct hybrid_exact_result *out, struct err *e)
{
    struct solver x = {.in = in,
                       .o = o,
                       .known = o->known_ms > 0 ? o->known_ms : INFINITY,
                       .waits = in->options.micro_batches - 1,
                       .best = NO_ENTRY};
    size_t n = in->sections + 1;

    *out = (struct hybrid_exact_result){0};
    choose_depth(&x);
    x.forward = mem_try(n, sizeof *x.forward);
    x.both = mem_try(n, sizeof *x.both);
    x.work = mem_try(n, sizeof *x.work);
    x.block = mem_try((size_t)in->devices * in->slots, sizeof *x.block);
    x.tail_of = mem_try((x.depth + 1) * n, sizeof *x.tail_of);
    if (!x.forward || !x.both || !x.work || !x.block || !x.tail_of) {
        free_solver(&x);
        return err_no_memory(e, MEMORY_FOR);
    }
    fill_bounds(&x);
    for (uint32_t a = in->devices; a-- > 0 && !x.ended;)
        for (uint32_t s = 0; s < in->slots && !x.ended; s++)
            if (hybrid_can_begin(in, a, s) && may_use(&x, s))
                fill_block(&x, a, s);
    out->transitions = x.transitions;
    out->entries = x.entries.count;
    out->set_most = x.set_most;
    out->ended = x.ended;
    out->certified = !x.ended && !x.cut_short;
    if (x.best != NO_ENTRY && (out->found = read_plan(&x, &x.entries.items[x.best], &out->plan)))
        out->length_ms = x.entries.items[x.best].x;
    bool ok = !x.no_memory && (!out->found || o->near <= 0 || read_nearby(&x, out));
    free_solver(&x);
    return ok ? 0 : err_no_memory(e, MEMORY_FOR);
}

void hybrid_exact_release(struct hybrid_exact_result *r)
{
    free(r->nearby);
    r->nearby = NULL;
    r->nearby_count = 0;
}
