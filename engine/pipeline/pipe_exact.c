#include "engine/pipeline/pipe_exact.h"

#include "engine/pipeline/pipe_before.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

#define NO_ENTRY UINT32_MAX
/* Bounds and lengths are sums taken in different orders. */
#define SLACK (1 + 1e-9)

/* One plan for the points from `point` on; its first stage begins at device cut `device`. */
struct entry {
    double x, y, z;
    uint32_t next; /* the entry of the stages behind the first; NO_ENTRY: there are none */
    uint32_t point;
    uint32_t device;
};

struct set {
    uint32_t first, count;
};

/* first .. end-1 */
struct span {
    uint32_t first, end;
};

struct stage {
    struct pipe_node node;
    uint64_t asked; /* for which it was worked out */
};

struct list {
    struct entry *items;
    size_t count, room;
};

struct pipe_exact {
    const struct pipe_instance *in;
    struct pipe_exact_options options;
    uint32_t
        *position;  /* [cuts + 1] devices at which a stage may begin, 0 and `devices` included */
    uint32_t cuts;  /* stages lie between cuts x < y of 0 .. cuts */
    uint32_t depth; /* counts of stages told apart: 1 .. depth, the last may stand for more */
    bool last_is_more;
    double known;

    double *least_forward, *least_both, *least_work; /* [cuts + 1][points + 1] see fill_bounds */
    struct pipe_before before; /* of 1 .. depth / 2 stages; nothing where their count is free, or
                                  no plan is known */
    bool begun;                /* `before` is there, where it is wanted */
    struct set **state;        /* [cuts] of stages that begin at each cut a, from its step on:
                                  [cuts - a][depth][points + 1] */
    struct list entries;       /* of all states */
    struct list tail;          /* of one device interval: what follows it */
    struct set *tail_of;       /* [depth + 1][points + 1] */
    struct span *tail_span;    /* [depth + 1] points between which tail_of has any */
    bool *begins;              /* [cuts][depth][points + 1] a state begins there */
    struct stage *stage;       /* [points + 1] of the stages that begin at one point */
    uint64_t asked;            /* the number of that point among all that were asked for */
    struct list fresh;         /* candidates of one set, before the filter */
    uint32_t *stair;           /* the filter's scratch */
    size_t stair_room;

    uint32_t done; /* steps */
    bool ended;    /* before its end: no memory, stopped, too many transitions */
    bool cut_short;
    uint64_t transitions, looks, before_looks;
    uint32_t set_most;
};

static struct set *state_of(const struct pipe_exact *x, uint32_t a, uint32_t b, uint32_t k,
                            uint32_t i)
{
    size_t n = x->in->points + 1;

    return &x->state[a][((size_t)(b - a - 1) * x->depth + (k - 1)) * n + i];
}

static bool *begins_at(const struct pipe_exact *x, uint32_t a, uint32_t k, uint32_t i)
{
    return &x->begins[((size_t)a * x->depth + (k - 1)) * (x->in->points + 1) + i];
}

/* ---- bounds ---- */
/* For what precedes point i on the devices before cut c, over all replica counts that fit there:
 * per point the least forward time, forward and backward time, and work (time x replicas). */
static void fill_bounds(struct pipe_exact *x)
{
    const struct pipe_instance *in = x->in;
    size_t n = in->points + 1;
    bool again = in->options.recompute;

    for (uint32_t c = 1; c <= x->cuts; c++) {
        double *forward = x->least_forward + c * n, *both = x->least_both + c * n;
        double *work = x->least_work + c * n;
        for (uint32_t i = 0; i < in->points; i++) {
            double f = INFINITY, fb = INFINITY, w = INFINITY;
            for (uint32_t t = 0; t < in->types; t++) {
                for (uint32_t r = 1; r <= x->position[c]; r++) {
                    uint32_t row = pipe_row(in, t, r);
                    double one = in->forward_ms[row][i + 1] - in->forward_ms[row][i];
                    double two = one + in->backward_ms[row][i + 1] - in->backward_ms[row][i] +
                                 (again ? one : 0);
                    f = fmin(f, one);
                    fb = fmin(fb, two);
                    w = fmin(w, two * r);
                }
            }
            forward[i + 1] = forward[i] + f;
            both[i + 1] = both[i] + fb;
            work[i + 1] = work[i] + w;
        }
    }
}

/* Puts a node before an entry. */
static struct entry put_before(const struct entry *e, const struct pipe_node *node, double steady)
{
    struct entry out = *e;
    double f = node->forward_ms, b = node->backward_ms, r = node->reduce_ms;

    out.y = pipe_more(f + b + e->y, f + steady + b);
    out.x = pipe_more(f + e->x, pipe_more(r + out.y, f + steady + e->z));
    out.z = pipe_more(r, e->z - b);
    return out;
}

static double stage_steady(const struct pipe_exact *x, const struct pipe_node *node)
{
    return (x->in->options.micro_batches - 1) * (node->forward_ms + node->backward_ms);
}

/* Whether so many stages can be the last ones when the first of them begins at cut c: where their
 * count is given, the ones before need devices, and all of them begin at the start. */
static bool is_count(const struct pipe_exact *x, uint32_t k, uint32_t c)
{
    return !x->options.stages || (c ? k < x->depth && x->depth - k <= c : k == x->depth);
}

/* Of the stages that stand before k others which begin with point i at cut c; NULL: not known. */
static const struct pipe_prefix *before_state(const struct pipe_exact *x, uint32_t k, uint32_t c,
                                              uint32_t i)
{
    uint32_t m = x->depth - k;

    return x->before.least && m && m <= x->before.stages ? pipe_before_of(&x->before, m, c, i)
                                                         : NULL;
}

/* No plan that ends in this entry of k stages, behind points 0 .. i-1 on the devices before cut c,
 * is shorter: one of the stages there has at least the mean work per device. Of the entry's Z a
 * transfer that is still to come leaves at least `z`. */
static double bound_of_entry(const struct pipe_exact *x, const struct entry *e, double z,
                             uint32_t k, uint32_t c, uint32_t i)
{
    const struct pipe_prefix *p = before_state(x, k, c, i);

    if (p)
        return pipe_more(pipe_more(p->f0 + e->x, p->f1 + e->y), pipe_more(p->f2 + z, p->f3));

    size_t at = (size_t)c * (x->in->points + 1) + i;
    double mean = c ? x->least_work[at] / x->position[c] : 0;
    double least = pipe_more(e->x + x->least_forward[at], e->y + x->least_both[at]);

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
    return (p->next > q->next) - (p->next < q->next);
}

static bool grow_list(struct list *l, size_t more)
{
    return l->count + more < NO_ENTRY && mem_grow(&l->items, &l->room, l->count, more);
}

/* Where y would stand in the stair, which ascends in y and descends in z. */
static uint32_t stair_place(const struct pipe_exact *x, uint32_t steps, double y)
{
    uint32_t low = 0, high = steps;

    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (x->fresh.items[x->stair[mid]].y <= y)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Adds an entry to the stair unless a step is as good in y and z; drops the steps it beats. */
static bool stair_add(struct pipe_exact *x, uint32_t *steps, uint32_t index)
{
    const struct entry *e = &x->fresh.items[index];
    double slack = x->options.tolerance_ms;
    uint32_t at = stair_place(x, *steps, e->y + slack), end;

    if (at && x->fresh.items[x->stair[at - 1]].z <= e->z + slack)
        return false;
    at = end = slack > 0 ? stair_place(x, *steps, e->y) : at;
    while (end < *steps && x->fresh.items[x->stair[end]].z >= e->z)
        end++;
    memmove(&x->stair[at + 1], &x->stair[end], (*steps - end) * sizeof *x->stair);
    x->stair[at] = index;
    *steps = *steps - (end - at) + 1;
    return true;
}

static double sum_of(const struct entry *e)
{
    return e->x + e->y + e->z;
}

/* Drops what the entry of the least sum beats, at less than a place in order costs. The stair would
 * drop it too, wherever both stand. */
static void drop_beaten(struct list *fresh)
{
    struct entry least = fresh->items[0];
    size_t kept = 0;

    for (size_t n = 1; n < fresh->count; n++) {
        if (sum_of(&fresh->items[n]) < sum_of(&least))
            least = fresh->items[n];
    }
    for (size_t n = 0; n < fresh->count; n++) {
        struct entry e = fresh->items[n];
        bool is_beaten =
            e.x >= least.x && e.y >= least.y && e.z >= least.z && compare_entries(&least, &e) < 0;
        fresh->items[kept] = e;
        kept += !is_beaten;
    }
    fresh->count = kept;
}

/* The fresh entries that none other beats, appended to `to`. In order of x each is held against the
 * stair of those before it. */
static struct set filter_front(struct pipe_exact *x, struct list *to)
{
    struct list *f = &x->fresh;
    struct set s = {(uint32_t)to->count, 0};
    uint64_t most = x->options.entries_most;
    uint32_t steps = 0;

    if (!f->count)
        return s;
    if (!grow_list(to, f->count) || !mem_grow(&x->stair, &x->stair_room, 0, f->count + 1)) {
        x->ended = true;
        f->count = 0;
        return s;
    }
    drop_beaten(f);
    qsort(f->items, f->count, sizeof *f->items, compare_entries);
    for (uint32_t n = 0; n < f->count; n++) {
        if (x->entries.count + s.count >= most && s.count) {
            x->cut_short = true;
            break;
        }
        if (stair_add(x, &steps, n))
            to->items[to->count + s.count++] = f->items[n];
    }
    to->count += s.count;
    x->set_most = s.count > x->set_most ? s.count : x->set_most;
    f->count = 0;
    return s;
}

/* Asked in the inner loops, so that a step ends at once. */
static bool goes_on(struct pipe_exact *x)
{
    if (++x->looks % 1024 == 0 && x->options.stop &&
        atomic_load_explicit(x->options.stop, memory_order_relaxed))
        x->ended = true;
    if (x->transitions > x->options.transitions_most)
        x->ended = true;
    return !x->ended;
}

static void add_fresh(struct pipe_exact *x, const struct entry *e, double z, uint32_t k, uint32_t c,
                      uint32_t i)
{
    x->transitions++;
    if (bound_of_entry(x, e, z, k, c, i) > x->known)
        return;
    if (grow_list(&x->fresh, 1))
        x->fresh.items[x->fresh.count++] = *e;
    else
        x->ended = true;
}

/* Whether anything that keeps to the known plan's L can stand before a state. */
static bool may_begin(const struct pipe_exact *x, uint32_t k, uint32_t c, uint32_t i)
{
    const struct pipe_prefix *p = before_state(x, k, c, i);

    return !p || isfinite(p->f0);
}

/* ---- transitions ---- */
/* Behind the transfer from a stage on cuts [a, b) to one on [b, c): the k stages that begin at
 * point j. */
static void add_tail(struct pipe_exact *x, uint32_t a, uint32_t b, uint32_t c, uint32_t k,
                     uint32_t j)
{
    const struct pipe_instance *in = x->in;
    struct set s = *state_of(x, b, c, k, j);

    if (!s.count)
        return;
    struct pipe_node node = pipe_link_node(in, j, x->position[a], x->position[b], x->position[c]);
    double one = in->options.half_duplex ? node.forward_ms + node.backward_ms
                                         : pipe_more(node.forward_ms, node.backward_ms);
    for (uint32_t m = s.first; m < s.first + s.count; m++) {
        struct entry e =
            put_before(&x->entries.items[m], &node, (in->options.micro_batches - 1) * one);
        e.next = m;
        add_fresh(x, &e, x->options.tolerance_ms > 0 ? 0 : e.z, k, b, j);
    }
}

/* What follows a stage on cuts [a, b): every state that begins at b, behind its transfer. */
static void fill_tail(struct pipe_exact *x, uint32_t a, uint32_t b)
{
    size_t n = x->in->points + 1;

    x->tail.count = 0;
    memset(x->tail_of, 0, (x->depth + 1) * n * sizeof *x->tail_of);
    memset(x->tail_span, 0, (x->depth + 1) * sizeof *x->tail_span);
    for (uint32_t k = 1; k <= x->depth; k++) {
        struct span *span = &x->tail_span[k];
        if (!is_count(x, k, b) || !is_count(x, k + !x->last_is_more, a))
            continue;
        for (uint32_t j = 1; j < x->in->points; j++) {
            if (!*begins_at(x, b, k, j) || !may_begin(x, k, b, j))
                continue;
            for (uint32_t c = b + 1; c <= x->cuts && goes_on(x); c++)
                add_tail(x, a, b, c, k, j);
            struct set s = filter_front(x, &x->tail);
            x->tail_of[k * n + j] = s;
            if (s.count)
                *span = (struct span){span->end ? span->first : j, j + 1};
        }
    }
}

static const struct pipe_node *stage_node(struct pipe_exact *x, uint32_t a, uint32_t b, uint32_t i,
                                          uint32_t j)
{
    struct stage *s = &x->stage[j];

    if (s->asked != x->asked)
        *s = (struct stage){pipe_stage_node(x->in, i, j, x->position[a], x->position[b]), x->asked};
    return &s->node;
}

static bool is_wanted(const struct pipe_exact *x, uint32_t a, uint32_t b, uint32_t i, uint32_t j)
{
    return pipe_pins_allow(&x->options.pins, i, j, x->position[a], x->position[b]) &&
           !(x->options.variables && x->in->variables[i] == x->in->variables[j]);
}

/* Whether stage [i, j) can be the k-th from the end. If it takes too long or does not fit, no
 * longer one will do. */
static bool is_possible(struct pipe_exact *x, uint32_t a, uint32_t b, uint32_t k, uint32_t i,
                        uint32_t j)
{
    const struct pipe_instance *in = x->in;
    const struct pipe_node *node = stage_node(x, a, b, i, j);
    uint32_t first = x->position[a], end = x->position[b];

    if (in->options.micro_batches * (node->forward_ms + node->backward_ms) > x->known)
        return false;
    return !(in->options.memory_share > 0) ||
           pipe_stage_memory(in, i, j, first, end, pipe_in_flight(&in->options, k)) <=
               pipe_memory_limit(in, first, end);
}

/* Stage [i, j) on cuts [a, b) before everything that may follow it. */
static void add_stage(struct pipe_exact *x, uint32_t a, uint32_t b, uint32_t k, struct set tail,
                      uint32_t i, uint32_t j)
{
    const struct pipe_node *node = stage_node(x, a, b, i, j);
    double steady = stage_steady(x, node);

    if (!is_wanted(x, a, b, i, j))
        return;
    for (uint32_t t = tail.first; t < tail.first + tail.count; t++) {
        struct entry e = put_before(&x->tail.items[t], node, steady);
        add_fresh(x, &e, 0, k, a, i);
    }
}

static struct span wider(struct span a, struct span b)
{
    if (!a.end || !b.end)
        return a.end ? a : b;
    return (struct span){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

/* The stages [i, j) on cuts [a, b), b not the last, before k - 1 others, and before k where that
 * stands for more. */
static void add_stages(struct pipe_exact *x, uint32_t a, uint32_t b, uint32_t k, uint32_t i)
{
    size_t row = x->in->points + 1;
    const struct set *fewer = &x->tail_of[(k - 1) * row], *more = &x->tail_of[k * row];
    bool is_more = x->last_is_more && k == x->depth;
    struct span span = x->tail_span[k - 1];

    if (is_more)
        span = wider(span, x->tail_span[k]);
    for (uint32_t j = span.first > i ? span.first : i + 1; j < span.end && goes_on(x); j++) {
        if (!fewer[j].count && !(is_more && more[j].count))
            continue;
        if (!is_possible(x, a, b, k, i, j))
            break;
        add_stage(x, a, b, k, fewer[j], i, j);
        if (is_more)
            add_stage(x, a, b, k, more[j], i, j);
    }
}

/* Stage [i, points) on the last devices. */
static void add_last(struct pipe_exact *x, uint32_t a, uint32_t i)
{
    uint32_t n = x->in->points;
    struct entry nothing = {.next = NO_ENTRY};

    if (!is_possible(x, a, x->cuts, 1, i, n) || !is_wanted(x, a, x->cuts, i, n))
        return;
    const struct pipe_node *node = stage_node(x, a, x->cuts, i, n);
    struct entry e = put_before(&nothing, node, stage_steady(x, node));
    add_fresh(x, &e, 0, 1, a, i);
}

/* The states that begin with a stage from point i on cuts [a, b). */
static void fill_states(struct pipe_exact *x, uint32_t a, uint32_t b, uint32_t i)
{
    x->asked++;
    for (uint32_t k = 1; k <= x->depth; k++) {
        if (!is_count(x, k, a) || !may_begin(x, k, a, i))
            continue;
        if (b < x->cuts)
            add_stages(x, a, b, k, i);
        else if (k == 1)
            add_last(x, a, i);
        for (size_t f = 0; f < x->fresh.count; f++) {
            x->fresh.items[f].point = i;
            x->fresh.items[f].device = a;
        }
        if (!x->fresh.count)
            continue;
        struct set s = filter_front(x, &x->entries);
        *state_of(x, a, b, k, i) = s;
        *begins_at(x, a, k, i) |= s.count > 0;
    }
}

/* What may stand before a state, where a plan and the count of stages are known: half of the stages
 * from the front is where this meets the programme. Where entries are thinned, one stage: what more
 * bounds drop changes which entries stand for others, and so what networks learn from. */
static void begin(struct pipe_exact *x)
{
    const struct pipe_exact_options *o = &x->options;
    struct pipe_before_ask ask = {.in = x->in,
                                  .position = x->position,
                                  .cuts = x->cuts,
                                  .stages = o->tolerance_ms > 0 ? 1 : x->depth / 2,
                                  .known_ms = x->known,
                                  .work = x->least_work + (size_t)x->cuts * (x->in->points + 1),
                                  .looks_most = o->transitions_most / 4,
                                  .stop = o->stop};

    x->begun = true;
    if (!o->stages || x->depth < 2 || isinf(x->known))
        return;
    if (!pipe_before_new(&ask, &x->before))
        x->ended = o->stop && atomic_load_explicit(o->stop, memory_order_relaxed);
    x->before_looks = ask.looks;
}

bool pipe_exact_step(struct pipe_exact *x)
{
    uint32_t a = x->cuts - 1 - x->done, n = x->in->points;

    if (!x->begun)
        begin(x);
    if (x->done == x->cuts || x->ended)
        return false;
    x->state[a] = mem_try((size_t)(x->cuts - a) * x->depth * (n + 1), sizeof *x->state[a]);
    x->ended = !x->state[a];
    for (uint32_t b = a + 1; b <= x->cuts && !x->ended; b++) {
        if (b < x->cuts)
            fill_tail(x, a, b);
        for (uint32_t i = a ? 1 : 0; i < (a ? n : 1); i++)
            fill_states(x, a, b, i);
    }
    if (x->ended)
        return false;
    x->done++;
    return true;
}

/* ---- from start to end ---- */
static void read_plan(const struct pipe_exact *x, uint32_t from, struct pipe_plan *p)
{
    memset(p, 0, sizeof *p);
    for (uint32_t m = from; m != NO_ENTRY; m = x->entries.items[m].next) {
        p->pivot[p->stages] = x->entries.items[m].point;
        p->device[p->stages++] = x->position[x->entries.items[m].device];
    }
    p->pivot[p->stages] = x->in->points;
    p->device[p->stages] = x->in->devices;
}

void pipe_exact_result(const struct pipe_exact *x, struct pipe_exact_result *out)
{
    uint32_t best = NO_ENTRY;

    *out = (struct pipe_exact_result){.transitions = x->transitions,
                                      .before = x->before_looks,
                                      .entries = x->entries.count,
                                      .set_most = x->set_most,
                                      .ended = x->ended,
                                      .certified = x->done == x->cuts && !x->cut_short &&
                                                   !(x->options.tolerance_ms > 0)};
    if (x->done < x->cuts)
        return;
    for (uint32_t b = 1; b <= x->cuts; b++) {
        for (uint32_t k = x->options.stages ? x->depth : 1; k <= x->depth; k++) {
            struct set s = *state_of(x, 0, b, k, 0);
            if (s.count &&
                (best == NO_ENTRY || x->entries.items[s.first].x < x->entries.items[best].x))
                best = s.first; /* a set begins with its smallest x */
        }
    }
    if (best == NO_ENTRY)
        return;
    out->found = true;
    read_plan(x, best, &out->plan);
    out->length_ms = pipe_length(x->in, &out->plan);
}

/* The counts of stages to tell apart. In-flight counts stop growing at M. */
static void choose_depth(struct pipe_exact *x)
{
    const struct pipe_options *o = &x->in->options;
    uint32_t k = 1;

    x->depth = 1;
    x->last_is_more = !x->options.stages;
    if (x->options.stages) {
        x->depth = x->options.stages;
    } else if (o->memory_share > 0) {
        while (k < x->cuts && pipe_in_flight(o, k) < o->micro_batches)
            k++;
        x->depth = k;
    }
}

static bool allocate_exact(struct pipe_exact *x)
{
    size_t n = x->in->points + 1, c = x->cuts + 1;

    x->least_forward = mem_try(c * n, sizeof(double));
    x->least_both = mem_try(c * n, sizeof(double));
    x->least_work = mem_try(c * n, sizeof(double));
    x->state = mem_try(x->cuts, sizeof *x->state);
    x->tail_of = mem_try((x->depth + 1) * n, sizeof *x->tail_of);
    x->tail_span = mem_try(x->depth + 1, sizeof *x->tail_span);
    x->begins = mem_try(x->cuts * x->depth * n, sizeof *x->begins);
    x->stage = mem_try(n, sizeof *x->stage);
    return x->least_forward && x->least_both && x->least_work && x->state && x->tail_of &&
           x->tail_span && x->begins && x->stage;
}

int pipe_exact_new(const struct pipe_instance *in, const struct pipe_exact_options *o,
                   struct pipe_exact **out, struct err *e)
{
    struct pipe_exact *x;

    if (o->stages > in->devices || o->stages > in->points)
        return err_set(e, ERR_INFEASIBLE, "%u stages of %u devices and %u points", o->stages,
                       in->devices, in->points);
    if (!pipe_pins_are_valid(in, &o->pins))
        return err_set(e, ERR_INFEASIBLE, "the pinned cuts cannot all stand in one plan");
    x = mem_try(1, sizeof *x);
    if (x)
        x->position = mem_try(in->devices + 1, sizeof *x->position);
    if (!x || !x->position) {
        pipe_exact_free(x);
        return err_no_memory(e, "for the exact pipeline");
    }
    x->in = in;
    x->options = *o;
    x->options.device_cut = NULL;
    x->known = o->known_ms > 0 ? o->known_ms * SLACK : INFINITY;
    if (!o->entries_most)
        x->options.entries_most = 1 << 24;
    if (!o->transitions_most)
        x->options.transitions_most = PIPE_EXACT_TRANSITIONS_MOST;
    for (uint32_t d = 1; d <= in->devices; d++)
        if (d == in->devices || !o->device_cut || o->device_cut[d])
            x->position[++x->cuts] = d;
    choose_depth(x);
    if (!allocate_exact(x)) {
        pipe_exact_free(x);
        return err_no_memory(e, "for the exact pipeline over %u points", in->points);
    }
    fill_bounds(x);
    *out = x;
    return 0;
}

uint32_t pipe_exact_steps(const struct pipe_exact *x)
{
    return x->cuts;
}

uint32_t pipe_exact_steps_done(const struct pipe_exact *x)
{
    return x->done;
}

void pipe_exact_free(struct pipe_exact *x)
{
    if (!x)
        return;
    free(x->position);
    free(x->least_forward);
    free(x->least_both);
    free(x->least_work);
    pipe_before_free(&x->before);
    for (uint32_t a = 0; x->state && a < x->cuts; a++)
        free(x->state[a]);
    free(x->state);
    free(x->entries.items);
    free(x->tail.items);
    free(x->tail_of);
    free(x->tail_span);
    free(x->begins);
    free(x->stage);
    free(x->fresh.items);
    free(x->stair);
    free(x);
}

double pipe_exact_behind(const struct pipe_exact *x, const struct pipe_prefix *before, uint32_t a,
                         uint32_t b, uint32_t left, uint32_t point)
{
    const struct pipe_options *o = &x->in->options;
    double best = INFINITY;
    uint32_t at = 0;

    while (at < x->cuts && x->position[at] < b)
        at++;
    if (x->done < x->cuts || left < 1 || left > x->depth || x->position[at] != b)
        return INFINITY;
    for (uint32_t c = at + 1; c <= x->cuts; c++) {
        struct set s = *state_of(x, at, c, left, point);
        struct pipe_prefix p = *before;
        if (!s.count)
            continue;
        struct pipe_node link = pipe_link_node(x->in, point, a, b, x->position[c]);
        double one = o->half_duplex ? link.forward_ms + link.backward_ms
                                    : pipe_more(link.forward_ms, link.backward_ms);
        pipe_prefix_add(&p, &link, (o->micro_batches - 1) * one);
        for (uint32_t m = s.first; m < s.first + s.count; m++) {
            const struct entry *e = &x->entries.items[m];
            double ms =
                pipe_more(pipe_more(p.f0 + e->x, p.f1 + e->y), pipe_more(p.f2 + e->z, p.f3));
            best = ms < best ? ms : best;
        }
    }
    return best;
}

int pipe_exact_solve(const struct pipe_instance *in, const struct pipe_exact_options *o,
                     struct pipe_exact_result *out, struct err *e)
{
    struct pipe_exact *x;
    int rc = pipe_exact_new(in, o, &x, e);

    if (rc)
        return rc;
    while (pipe_exact_step(x))
        ;
    pipe_exact_result(x, out);
    pipe_exact_free(x);
    return 0;
}
