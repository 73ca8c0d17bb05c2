#include "engine/place/family.h"

#include "engine/place/nets.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/sort.h"
#include "rl/rng.h"

#include <string.h>

void place_family_free(struct place_family *f)
{
    if (!f)
        return;
    free(f->set);
    free(f);
}

static bool band_holds(const struct place_band *b, double done, double cut_ms)
{
    double left = b->total - done;

    for (uint32_t d = 0; d < b->rows; d++) {
        if (done + b->done_a_cut[d] * cut_ms <= b->done[d] + b->slack &&
            left + b->left_a_cut[d] * cut_ms <= b->left[d] + b->slack)
            return true;
    }
    return false;
}

void place_band_release(struct place_band *b)
{
    free(b->done);
    free(b->left);
    free(b->done_a_cut);
    free(b->left_a_cut);
    free(b->work);
    *b = (struct place_band){0};
}

static struct place_family *new_family(const struct place_prepared *p)
{
    struct place_family *f = mem_try(1, sizeof *f);

    if (!f)
        return NULL;
    f->positions = p->nets->positions;
    f->words = f->positions / 64 + 1;
    return f;
}

static void add_position(uint64_t *set, uint32_t p)
{
    set[p / 64] |= (uint64_t)1 << (p % 64);
}

int place_family_prefixes(const struct place_prepared *p, const uint32_t *order,
                          struct place_family **out, struct err *e)
{
    struct place_family *f = new_family(p);

    if (!f)
        return err_no_memory(e, "for the ideals of this graph");
    f->count = f->positions + 1;
    f->is_chain = true;
    f->set = mem_try((size_t)f->count * f->words, sizeof *f->set);
    if (!f->set) {
        place_family_free(f);
        return err_no_memory(e, "for the ideals of this graph");
    }
    for (uint32_t i = 0; i < f->positions; i++) {
        uint64_t *next = f->set + (size_t)(i + 1) * f->words;
        memcpy(next, next - f->words, f->words * sizeof *next);
        add_position(next, order[i]);
    }
    *out = f;
    return 0;
}

/* ---- level by level ---- */

/* The ideals of one size. Beside each its minimal missing positions, which may come next. */
struct level {
    uint64_t *set, *next;
    uint64_t *hash; /* of a set: its positions' keys, each added without a carry */
    double *cut;    /* of a beam or band: weight of the nets a set cuts */
    double *done;   /* of a band: work of the set */
    uint32_t count;
    size_t set_room, next_room, hash_room, cut_room, done_room;
};

struct growing {
    const struct place_prepared *p;
    const struct place_limits *limits;
    const struct place_band *band; /* NULL: all are kept */
    struct place_family *f;
    size_t room;
    struct level now, then;
    uint64_t *slot; /* of `then`: index + 1, and above it half of the hash */
    size_t slots;
    uint64_t *key; /* by position */
    /* of a beam */
    uint64_t *chain; /* words of the prefix of the present size, NULL: no beam */
    uint32_t *rank;
    bool dropped;
    uint64_t steps; /* extensions tried */
};

static void free_growing(struct growing *w)
{
    free(w->now.set);
    free(w->now.next);
    free(w->now.hash);
    free(w->now.cut);
    free(w->now.done);
    free(w->then.set);
    free(w->then.next);
    free(w->then.hash);
    free(w->then.cut);
    free(w->then.done);
    free(w->slot);
    free(w->key);
    free(w->rank);
    free(w->chain);
}

static bool grow_level(struct level *l, uint32_t words)
{
    size_t used = (size_t)l->count * words;

    return mem_grow(&l->set, &l->set_room, used, words) &&
           mem_grow(&l->next, &l->next_room, used, words) &&
           mem_grow(&l->hash, &l->hash_room, l->count, 1) &&
           mem_grow(&l->cut, &l->cut_room, l->count, 1) &&
           mem_grow(&l->done, &l->done_room, l->count, 1);
}

static const uint64_t UPPER_HALF = UINT64_C(0xffffffff00000000);

static bool grow_slots(struct growing *w)
{
    if (2 * ((size_t)w->then.count + 1) <= w->slots)
        return true;
    size_t slots = w->slots ? 2 * w->slots : 64;
    uint64_t *slot = mem_try(slots, sizeof *slot);
    if (!slot)
        return false;
    for (uint32_t i = 0; i < w->then.count; i++) {
        size_t at = w->then.hash[i] & (slots - 1);
        while (slot[at])
            at = (at + 1) & (slots - 1);
        slot[at] = (w->then.hash[i] & UPPER_HALF) | (i + 1);
    }
    free(w->slot);
    w->slot = slot;
    w->slots = slots;
    return true;
}

/* Is `whole` the set `part` with position p, which it lacks? */
static bool is_set_with(const uint64_t *whole, const uint64_t *part, uint32_t p, uint32_t words)
{
    uint64_t differs = whole[p / 64] ^ part[p / 64] ^ ((uint64_t)1 << (p % 64));

    for (uint32_t k = 0; k < words && !differs; k++)
        differs = k == p / 64 ? 0 : whole[k] ^ part[k];
    return !differs;
}

/* `next` of set + p: p leaves, users of p whose predecessors are all in come. */
static void fill_next(const struct growing *w, const uint64_t *set, uint64_t *next, uint32_t p)
{
    const struct place_prepared *g = w->p;

    next[p / 64] &= ~((uint64_t)1 << (p % 64));
    for (uint32_t i = g->after_at[p]; i < g->after_at[p + 1]; i++) {
        uint32_t v = g->after[i], open = 0;
        for (uint32_t j = g->before_at[v]; j < g->before_at[v + 1] && !open; j++)
            open = !place_has(set, g->before[j]);
        if (!open)
            add_position(next, v);
    }
}

/* What p adds to the weight a set cuts: nets it is the first in, less those it is the last of. */
static double added_cut(const struct place_nets *n, const uint64_t *set, uint32_t p)
{
    double more = 0;

    for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++) {
        uint32_t h = n->net[i];
        bool any = false, all = true;
        for (uint32_t k = n->pin_at[h]; k < n->pin_at[h + 1] && (all || !any); k++) {
            bool in = place_has(set, n->pin[k]);
            any |= in && n->pin[k] != p;
            all &= in || n->pin[k] == p;
        }
        more += (any ? 0 : n->near_ms[h]) - (all ? n->near_ms[h] : 0);
    }
    return more;
}

/* Set i of `now` with position p: new in `then`, or there already. */
static bool extend_ideal(struct growing *w, uint32_t i, uint32_t p)
{
    uint32_t words = w->f->words;
    struct level *then = &w->then;

    if (!grow_level(then, words) || !grow_slots(w))
        return false;
    const uint64_t *from = w->now.set + (size_t)i * words;
    uint64_t hash = w->now.hash[i] ^ w->key[p];
    size_t at = hash & (w->slots - 1);
    for (; w->slot[at]; at = (at + 1) & (w->slots - 1)) {
        uint32_t k = (uint32_t)w->slot[at] - 1;
        if (!((w->slot[at] ^ hash) & UPPER_HALF) &&
            is_set_with(then->set + (size_t)k * words, from, p, words))
            return true;
    }
    uint64_t *set = then->set + (size_t)then->count * words;
    memcpy(set, from, words * sizeof *set);
    add_position(set, p);
    then->hash[then->count] = hash;
    uint64_t *next = then->next + (size_t)then->count * words;
    memcpy(next, w->now.next + (size_t)i * words, words * sizeof *next);
    fill_next(w, set, next, p);
    if (w->band)
        then->done[then->count] = w->now.done[i] + w->band->work[p];
    if (w->chain || w->band)
        then->cut[then->count] = w->now.cut[i] + added_cut(w->p->nets, set, p);
    w->slot[at] = (hash & UPPER_HALF) | ++then->count;
    return true;
}

static bool is_over(const struct growing *w)
{
    const struct place_limits *l = w->limits;

    return (l->steps && w->steps > l->steps) ||
           (l->stop && atomic_load_explicit(l->stop, memory_order_relaxed));
}

/* Two sizes are held at a time, and must keep the limits with what is kept already. */
static bool is_too_much(const struct growing *w)
{
    uint32_t most = w->limits->ideals ? w->limits->ideals : 2000000;
    uint64_t bytes = w->limits->bytes ? w->limits->bytes : (uint64_t)256 << 20;

    return w->then.count > most - w->f->count ||
           ((uint64_t)w->f->count + w->then.count) * w->f->words * 8 > bytes;
}

static int extend_all(struct growing *w, struct err *e)
{
    uint32_t words = w->f->words;

    w->then.count = 0;
    if (w->slots)
        memset(w->slot, 0, w->slots * sizeof *w->slot);
    for (uint32_t i = 0; i < w->now.count; i++) {
        for (uint32_t k = 0; k < words; k++) {
            uint64_t bits = w->now.next[(size_t)i * words + k];
            for (; bits; bits &= bits - 1, w->steps++) {
                if (!extend_ideal(w, i, k * 64 + (uint32_t)__builtin_ctzll(bits)))
                    return err_no_memory(e, "for the ideals of this graph");
            }
        }
        if (is_too_much(w))
            return err_set(e, ERR_LIMIT, "the graph has more than %u ideals of %u positions",
                           w->f->count, w->f->positions);
        if (is_over(w))
            return err_set(e, ERR_LIMIT, "stopped while the ideals were counted");
    }
    return 0;
}

/* Set i of `now` may be a border; the empty and the full one always are. */
static bool is_kept(const struct growing *w, uint32_t i, bool is_end)
{
    return !w->band || is_end || band_holds(w->band, w->now.done[i], w->now.cut[i]);
}

/* What the band holds of the level becomes part of the family. */
static int keep_level(struct growing *w, bool is_end, struct err *e)
{
    struct place_family *f = w->f;
    size_t used = (size_t)f->count * f->words, more = (size_t)w->now.count * f->words;

    if (!mem_grow(&f->set, &w->room, used, more))
        return err_no_memory(e, "for the ideals of this graph");
    for (uint32_t i = 0; i < w->now.count; i++) {
        if (!is_kept(w, i, is_end))
            continue;
        memcpy(f->set + (size_t)f->count * f->words, w->now.set + (size_t)i * f->words,
               f->words * sizeof *f->set);
        f->count++;
    }
    return 0;
}

/* ---- a beam ---- */

static bool comes_first(const struct growing *w, uint32_t a, uint32_t b)
{
    const double *cut = w->now.cut;

    return cut[a] != cut[b] ? cut[a] < cut[b] : a < b;
}

static void sift_down(struct growing *w, uint32_t at, uint32_t count)
{
    uint32_t *rank = w->rank;

    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count && comes_first(w, rank[child], rank[child + 1]))
            child++;
        if (!comes_first(w, rank[at], rank[child]))
            return;
        uint32_t swap = rank[at];
        rank[at] = rank[child];
        rank[child] = swap;
        at = child;
    }
}

/* The first `width` ranks become those that come first, the last of them at the top. */
static void select_ranks(struct growing *w, uint32_t count, uint32_t width)
{
    for (uint32_t i = width / 2; i-- > 0;)
        sift_down(w, i, width);
    for (uint32_t i = width; i < count; i++) {
        if (!comes_first(w, w->rank[i], w->rank[0]))
            continue;
        uint32_t swap = w->rank[0];
        w->rank[0] = w->rank[i];
        w->rank[i] = swap;
        sift_down(w, 0, width);
    }
}

/* The prefix of the order is among the first `width` ranks, in place of the last of them. */
static void keep_prefix(struct growing *w, uint32_t count, uint32_t width)
{
    uint32_t words = w->f->words;

    for (uint32_t k = width; k < count; k++) {
        if (!memcmp(w->now.set + (size_t)w->rank[k] * words, w->chain, words * sizeof(uint64_t)))
            w->rank[0] = w->rank[k];
    }
}

/* How many of `now` the steps left allow, where as many positions may follow each from here on: at
 * most the limits' width; 0: not even one. */
static uint32_t allowed_width(const struct growing *w, uint32_t sizes)
{
    const struct place_limits *l = w->limits;
    size_t words = (size_t)w->now.count * w->f->words;
    double next = 0;

    if (!l->steps)
        return l->width;
    for (size_t k = 0; k < words; k++)
        next += __builtin_popcountll(w->now.next[k]);
    double each = sizes * next / w->now.count, left = (double)l->steps - (double)w->steps;
    if (left >= each * l->width)
        return l->width;
    return 2 * left < each ? 0 : left < each ? 1 : (uint32_t)(left / each);
}

/* Keeps `width` of `now`, the prefix among them, in their order. */
static bool thin_level(struct growing *w, uint32_t width)
{
    uint32_t words = w->f->words, count = w->now.count;

    if (count <= width)
        return true;
    w->dropped = true;
    free(w->rank);
    w->rank = mem_try(count, sizeof *w->rank);
    if (!w->rank)
        return false;
    for (uint32_t i = 0; i < count; i++)
        w->rank[i] = i;
    select_ranks(w, count, width);
    keep_prefix(w, count, width);
    sort_u32(w->rank, width);
    for (uint32_t i = 0; i < width; i++) {
        size_t to = (size_t)i * words, from = (size_t)w->rank[i] * words;
        memmove(w->now.set + to, w->now.set + from, words * sizeof(uint64_t));
        memmove(w->now.next + to, w->now.next + from, words * sizeof(uint64_t));
        w->now.hash[i] = w->now.hash[w->rank[i]];
        w->now.cut[i] = w->now.cut[w->rank[i]];
    }
    w->now.count = width;
    return true;
}

/* ---- both ---- */

static int begin_growing(struct growing *w, struct err *e)
{
    w->key = w->f ? mem_try((size_t)w->f->positions + 1, sizeof *w->key) : NULL;
    if (!w->key || !grow_level(&w->now, w->f->words))
        return err_no_memory(e, "for the ideals of this graph");
    memset(w->now.set, 0, w->f->words * sizeof(uint64_t));
    memset(w->now.next, 0, w->f->words * sizeof(uint64_t));
    for (uint32_t v = 0; v < w->f->positions; v++) {
        w->key[v] = mem_hash(&v, sizeof v, 0);
        if (w->p->before_at[v] == w->p->before_at[v + 1])
            add_position(w->now.next, v);
    }
    w->now.hash[0] = 0;
    w->now.cut[0] = w->now.done[0] = 0;
    w->now.count = 1;
    return keep_level(w, true, e);
}

/* `now`, of size + 1 positions, becomes as narrow as the limits ask. */
static int thin_to_order(struct growing *w, const uint32_t *order, uint32_t size, struct err *e)
{
    uint32_t width = allowed_width(w, w->f->positions - size - 1);

    add_position(w->chain, order[size]);
    if (!width)
        return err_set(e, ERR_LIMIT, "too many positions may come next");
    return thin_level(w, width) ? 0 : err_no_memory(e, "for the ideals of this graph");
}

static int grow_family(struct growing *w, const uint32_t *order, struct place_family **out,
                       struct err *e)
{
    int rc = begin_growing(w, e);

    if (rc)
        goto out;
    for (uint32_t size = 0; size < (w->f ? w->f->positions : 0); size++) {
        rc = extend_all(w, e);
        if (rc)
            goto out;
        struct level swap = w->now;
        w->now = w->then;
        w->then = swap;
        rc = order ? thin_to_order(w, order, size, e) : 0;
        if (rc)
            goto out;
        rc = keep_level(w, size + 1 == w->f->positions, e);
        if (rc)
            goto out;
    }
out:
    if (rc) {
        place_family_free(w->f);
    } else {
        w->f->complete = !w->dropped;
        *out = w->f;
    }
    free_growing(w);
    return rc;
}

int place_family_all(const struct place_prepared *p, const struct place_limits *l,
                     const struct place_band *band, struct place_family **out, struct err *e)
{
    struct growing w = {.p = p, .limits = l, .band = band, .f = new_family(p)};

    return grow_family(&w, NULL, out, e);
}

int place_family_beam(const struct place_prepared *p, const uint32_t *order,
                      const struct place_limits *l, struct place_family **out, struct err *e)
{
    struct growing w = {.p = p, .limits = l, .f = new_family(p)};

    w.chain = mem_try((size_t)p->nets->positions / 64 + 1, sizeof *w.chain);
    if (!w.chain) {
        place_family_free(w.f);
        return err_no_memory(e, "for the ideals of this graph");
    }
    return grow_family(&w, order, out, e);
}

/* ---- orders ---- */

struct walking {
    const struct place_prepared *p;
    struct rl_rng rng;
    bool shuffled;
    uint32_t *neighbour; /* a copy of the rows, shuffled */
    uint32_t *cursor, *stack;
    bool *seen;
};

static void shuffle(struct rl_rng *r, uint32_t *items, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = rl_rng_below(r, i), swap = items[i - 1];
        items[i - 1] = items[j];
        items[j] = swap;
    }
}

/* Positions are finished after all their users, so they are put down from the end. */
static void walk_from(struct walking *w, uint32_t root, uint32_t *order, uint32_t *left)
{
    uint32_t depth = 0;

    if (w->seen[root])
        return;
    w->seen[root] = true;
    w->stack[depth++] = root;
    while (depth) {
        uint32_t v = w->stack[depth - 1];
        if (w->cursor[v] < w->p->after_at[v + 1]) {
            uint32_t next = w->neighbour[w->cursor[v]++];
            if (!w->seen[next]) {
                w->seen[next] = true;
                w->stack[depth++] = next;
            }
            continue;
        }
        order[--*left] = v;
        depth--;
    }
}

int place_depth_first(const struct place_prepared *p, uint64_t seed, uint32_t *order, struct err *e)
{
    uint32_t m = p->nets->positions, edges = p->after_at[m], left = m;
    uint32_t *all = mem_try(3 * (size_t)m + edges + 1, sizeof *all), *roots = all;
    bool *seen = mem_try((size_t)m + 1, 1);
    struct walking w = {.p = p, .shuffled = seed != 0, .seen = seen};

    if (!all || !seen) {
        free(all);
        free(seen);
        return err_no_memory(e, "for the ideals of this graph");
    }
    w.cursor = all + m;
    w.stack = all + 2 * (size_t)m;
    w.neighbour = all + 3 * (size_t)m;
    rl_rng_seed(&w.rng, seed, 0);
    for (uint32_t i = 0; i < edges; i++) /* the last one walked comes first in the order */
        w.neighbour[i] = p->after[i];
    for (uint32_t v = 0; v < m; v++) {
        roots[v] = m - 1 - v;
        w.cursor[v] = p->after_at[v];
        if (w.shuffled)
            shuffle(&w.rng, w.neighbour + p->after_at[v], p->after_at[v + 1] - p->after_at[v]);
    }
    if (w.shuffled)
        shuffle(&w.rng, roots, m);
    for (uint32_t i = 0; i < m; i++) {
        if (p->before_at[roots[i]] == p->before_at[roots[i] + 1])
            walk_from(&w, roots[i], order, &left);
    }
    free(all);
    free(seen);
    return 0;
}

struct ready {
    int64_t rank;
    uint32_t p;
};

static int compare_ready(const void *a, const void *b)
{
    const struct ready *x = a, *y = b;

    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->p > y->p) - (x->p < y->p);
}

int place_last_ready(const struct place_prepared *p, const int64_t *rank, uint32_t *order,
                     struct err *e)
{
    uint32_t m = p->nets->positions, done = 0, count = 0;
    uint32_t *waits = mem_try((size_t)m + 1, sizeof *waits);
    struct ready *stack = mem_try((size_t)m + 1, sizeof *stack);
    int rc = waits && stack ? 0 : err_no_memory(e, "for an order");

    if (rc)
        goto out;
    for (uint32_t v = 0; v < m; v++) {
        waits[v] = p->before_at[v + 1] - p->before_at[v];
        if (!waits[v])
            stack[count++] = (struct ready){rank[v], v};
    }
    qsort(stack, count, sizeof *stack, compare_ready);
    while (count) {
        uint32_t v = stack[--count].p, first = count;
        order[done++] = v;
        for (uint32_t i = p->after_at[v]; i < p->after_at[v + 1]; i++) {
            if (!--waits[p->after[i]])
                stack[count++] = (struct ready){rank[p->after[i]], p->after[i]};
        }
        qsort(stack + first, count - first, sizeof *stack, compare_ready);
    }
out:
    free(waits);
    free(stack);
    return rc;
}

int place_order_by_stages(const uint32_t *stage_of, uint32_t stages, uint32_t positions,
                          uint32_t *order, struct err *e)
{
    uint32_t *at = mem_try((size_t)stages + positions + 2, sizeof *at), *was = at + stages + 1;

    if (!at)
        return err_no_memory(e, "for an order");
    memcpy(was, order, positions * sizeof *was);
    for (uint32_t p = 0; p < positions; p++)
        at[stage_of[p] + 1]++;
    for (uint32_t s = 0; s < stages; s++)
        at[s + 1] += at[s];
    for (uint32_t i = 0; i < positions; i++)
        order[at[stage_of[was[i]]]++] = was[i];
    free(at);
    return 0;
}
