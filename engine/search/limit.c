#include "engine/search/limit.h"

#include "engine/search/limit_model.h"

#include <math.h>
#include <string.h>

/* A relative difference that counts as none. */
static const double NEAR = 1e-9;

enum { ROUNDS_MOST = 12, LINE_MOST = 40, DEAR = 8, ASCENT_MOST = 30, REPAIR_MOST = 4096, MOMENTS_MOST = 64 };

struct search {
    struct limit_model l;
    double limit;
    uint32_t work, work_most;
    uint32_t *choice, *trial;      /* [nodes] scratch */
    double *weight;                /* [units] price x how often live, while branching */
    bool seeks_least;
    uint32_t *best;                /* [nodes] best within the limit */
    double best_ms;
    uint32_t *least;               /* [nodes] least memory */
    double least_bytes;
    double price[MOMENTS_MOST];    /* best multipliers on time + memory: ms a byte */
    double bound;                  /* what they prove, ms */
    double share[MOMENTS_MOST];    /* best multipliers on memory alone; they sum to 1 */
    double least_bound;            /* what they prove, bytes */
    struct err *e;
};

static int no_memory(struct err *e)
{
    return err_set(e, ERR_MEMORY, "not enough memory for the memory limit");
}

static uint32_t node_count(const struct search *s)
{
    return s->l.s.node_count;
}

/* ---- plans ---- */

/* Looks at a whole choice: its peak over all positions; keeps it when it is the best of its kind.
 * *moment: where the peak is. */
static int consider(struct search *s, const uint32_t *choice, double *peak, uint32_t *moment)
{
    size_t size = node_count(s) * sizeof *choice;
    double ms = limit_time(&s->l, choice);
    bool room = s->l.moment_count < MOMENTS_MOST;

    *moment = 0;
    limit_look(&s->l, choice);
    *peak = limit_peak(&s->l, room ? moment : NULL);
    if (*peak < 0)
        return no_memory(s->e);
    if (*peak <= s->limit && ms < s->best_ms) {
        s->best_ms = ms;
        memcpy(s->best, choice, size);
    }
    if (*peak < s->least_bytes && isfinite(ms)) {
        s->least_bytes = *peak;
        memcpy(s->least, choice, size);
    }
    return 0;
}

/* A change of one node's label and what it entails, with what it does to time and weighted bytes. */
struct change {
    double ms, bytes;
};

static void set_label(struct search *s, uint32_t *choice, uint32_t n, uint32_t a, const double *weight, struct change *c)
{
    double ms = limit_time_of(&s->l, choice, n), bytes = weight ? limit_bytes_of(&s->l, choice, n, weight) : 0;

    choice[n] = a;
    c->ms += limit_time_of(&s->l, choice, n) - ms;
    c->bytes += weight ? limit_bytes_of(&s->l, choice, n, weight) - bytes : 0;
}

/* Sets node `n` of `choice` to `a`; nodes whose labels clash with it give up the axes they share
 * first. False when that is not possible; the caller restores the choice. `weight` [units] or NULL. */
static bool change(struct search *s, uint32_t *choice, uint32_t n, uint32_t a, const double *weight, struct change *out)
{
    const struct solver *v = &s->l.s;
    const struct classes *c = v->t->labels->classes;
    const struct class_info *info = &c->info[v->nodes[n].class];
    label mine = v->nodes[n].labels[a];

    *out = (struct change){0};
    for (uint32_t k = 0; k < info->meet_count; k++) {
        uint32_t other = v->node_of[c->meets[info->meets + k].other];
        if (other == CLASS_NONE)
            continue;
        label theirs = v->nodes[other].labels[choice[other]];
        if (!(theirs & mine))
            continue;
        uint32_t b = 0;
        while (b < v->nodes[other].domain && v->nodes[other].labels[b] != (theirs & (label)~mine))
            b++;
        if (b == v->nodes[other].domain)
            return false;
        set_label(s, choice, other, b, weight, out);
    }
    set_label(s, choice, n, a, weight, out);
    return isfinite(out->ms);
}

struct freeing {
    uint32_t node, label;
    double worth;
};

/* The single change that frees most bytes at `moment` per ms it costs; free ones first. `with_time`
 * false: that frees most bytes. `choice` was looked at last. */
static bool find_freeing(struct search *s, const uint32_t *choice, uint32_t moment, bool with_time, struct freeing *out)
{
    double bytes = limit_bytes_at(&s->l, moment);
    const double *weight = s->l.moments[moment].counts;
    struct change c;

    *out = (struct freeing){.worth = 0};
    memcpy(s->trial, choice, node_count(s) * sizeof *choice);
    for (uint32_t n = 0; n < node_count(s); n++) {
        for (uint32_t a = 0; a < s->l.s.nodes[n].domain; a++) {
            if (a == choice[n])
                continue;
            bool possible = change(s, s->trial, n, a, weight, &c);
            memcpy(s->trial, choice, node_count(s) * sizeof *choice);
            if (!possible || -c.bytes <= NEAR * bytes)
                continue;
            double worth = !with_time ? -c.bytes : c.ms <= 0 ? 1e300 * (-c.bytes / bytes) : -c.bytes / c.ms;
            if (worth > out->worth)
                *out = (struct freeing){n, a, worth};
        }
    }
    return out->worth > 0;
}

/* Frees memory change by change until the choice fits, or nothing frees any more. */
static int repair(struct search *s, uint32_t *choice, bool with_time)
{
    double peak, before = INFINITY;
    uint32_t moment;
    struct freeing step;

    for (uint32_t k = 0; k < REPAIR_MOST; k++) {
        int rc = consider(s, choice, &peak, &moment);
        if (rc)
            return rc;
        if (peak <= s->limit || (!with_time && peak >= before * (1 - NEAR)) || s->l.moment_count >= MOMENTS_MOST ||
            !find_freeing(s, choice, moment, with_time, &step))
            return 0;
        before = peak;
        struct change made;
        (void)change(s, choice, step.node, step.label, NULL, &made);
    }
    return 0;
}

/* Takes the trial for the best plan when it is faster and within the limit. */
static bool take_trial(struct search *s)
{
    double ms = limit_time(&s->l, s->trial);

    if (!(ms < s->best_ms * (1 - NEAR)))
        return false;
    limit_look(&s->l, s->trial);
    if (limit_peak(&s->l, NULL) > s->limit)
        return false;
    memcpy(s->best, s->trial, node_count(s) * sizeof *s->best);
    s->best_ms = ms;
    return true;
}

struct move {
    uint32_t node, label;
    struct change does;
};

/* All single changes of the best plan, with what they do to time and to the bytes at `moment`. */
static uint32_t list_moves(struct search *s, uint32_t moment, struct move *out)
{
    size_t size = node_count(s) * sizeof *s->best;
    uint32_t count = 0;

    memcpy(s->trial, s->best, size);
    for (uint32_t n = 0; n < node_count(s); n++) {
        for (uint32_t a = 0; a < s->l.s.nodes[n].domain; a++) {
            struct move m = {.node = n, .label = a};
            if (a == s->best[n])
                continue;
            if (change(s, s->trial, n, a, s->l.moments[moment].counts, &m.does))
                out[count++] = m;
            memcpy(s->trial, s->best, size);
        }
    }
    return count;
}

/* Tries one change, and where that takes too much memory, another with it that gives back enough and
 * costs less than the first gains. */
static bool improve_once(struct search *s, const struct move *moves, uint32_t count, double room)
{
    size_t size = node_count(s) * sizeof *s->best;
    struct change c;

    for (uint32_t k = 0; k < count; k++) {
        if (!(moves[k].does.ms < -NEAR * s->best_ms))
            continue;
        memcpy(s->trial, s->best, size);
        if (moves[k].does.bytes <= room && change(s, s->trial, moves[k].node, moves[k].label, NULL, &c) && take_trial(s))
            return true;
        for (uint32_t n = 0; n < count; n++) {
            if (moves[k].does.ms + moves[n].does.ms >= -NEAR * s->best_ms ||
                moves[k].does.bytes + moves[n].does.bytes > room || moves[n].node == moves[k].node)
                continue;
            memcpy(s->trial, s->best, size);
            if (change(s, s->trial, moves[k].node, moves[k].label, NULL, &c) &&
                change(s, s->trial, moves[n].node, moves[n].label, NULL, &c) && take_trial(s))
                return true;
        }
    }
    return false;
}

/* Changes and pairs of changes that make the best plan faster, until there is none. */
static int improve(struct search *s)
{
    size_t most = 0;
    uint32_t moment = 0;

    if (!isfinite(s->best_ms))
        return 0;
    for (uint32_t n = 0; n < node_count(s); n++)
        most += s->l.s.nodes[n].domain;
    struct move *moves = mem_try(most, sizeof *moves);
    if (!moves)
        return no_memory(s->e);
    for (uint32_t k = 0; k < REPAIR_MOST; k++) {
        limit_look(&s->l, s->best);
        double peak = limit_peak(&s->l, s->l.moment_count < MOMENTS_MOST ? &moment : NULL);
        uint32_t count = peak < 0 ? 0 : list_moves(s, moment, moves);
        if (!improve_once(s, moves, count, s->limit - limit_bytes_at(&s->l, moment)))
            break;
    }
    free(moves);
    return 0;
}

/* ---- multipliers on time and memory ---- */

/* One point of the dual: the least of time + price x (memory - limit), over what `fixed` leaves. */
struct point {
    double value, bound;         /* of that sum; bound: proven */
    double slope[MOMENTS_MOST];  /* memory - limit at each moment known before */
    double peak;
    uint32_t moment;             /* of the peak */
};

static int evaluate(struct search *s, double scale, const double *price, const uint32_t *fixed, struct point *out)
{
    struct solver_answer answer;
    uint32_t moments = s->l.moment_count;

    limit_set_prices(&s->l, scale, price, scale > 0 ? s->limit : 0);
    int rc = solver_minimise(&s->l.s, fixed, s->choice, &answer);
    s->work++;
    *out = (struct point){.value = answer.value, .bound = answer.bound};
    if (rc || !isfinite(answer.value))
        return rc;
    limit_look(&s->l, s->choice);
    for (uint32_t p = 0; p < moments; p++)
        out->slope[p] = limit_bytes_at(&s->l, p) - (scale > 0 ? s->limit : 0);
    return consider(s, s->choice, &out->peak, &out->moment);
}

static void keep_bound(struct search *s, const struct point *at, const double *price)
{
    if (at->bound > s->bound) {
        s->bound = at->bound;
        memcpy(s->price, price, sizeof s->price);
    }
}

static bool is_out_of_work(const struct search *s)
{
    return s->work >= s->work_most;
}

/* Best price of moment `p`, the others staying: where two tangents of the concave function meet, until
 * no plan lies below them. `at` is the point at `price`; both move. */
static int line_search(struct search *s, uint32_t p, double *price, struct point *at)
{
    struct point low = *at, high, next;
    double low_price = price[p], high_price, guess = 0;
    int rc = 0;

    if (at->slope[p] <= 0) { /* too dear: the price at nothing is below the best */
        high = *at;
        high_price = price[p];
        low_price = 0;
        price[p] = 0;
        rc = evaluate(s, 1, price, NULL, &low);
        if (rc)
            return rc;
        keep_bound(s, &low, price);
        if (low.slope[p] <= 0) {
            *at = low;
            return 0;
        }
    } else {
        double step = fmax(price[p], s->bound / s->limit / 8);
        for (uint32_t k = 0;; k++, step *= 4) {
            price[p] = low_price + step;
            rc = evaluate(s, 1, price, NULL, &high);
            if (rc)
                return rc;
            keep_bound(s, &high, price);
            high_price = price[p];
            if (high.slope[p] <= 0)
                break;
            low = high;
            low_price = high_price;
            if (k == DEAR || is_out_of_work(s)) { /* nothing seems to be below the limit at this moment */
                *at = high;
                return 0;
            }
        }
    }
    for (uint32_t k = 0; k < LINE_MOST && !is_out_of_work(s); k++) {
        double meet = (high.value - low.value + low.slope[p] * low_price - high.slope[p] * high_price) /
                      (low.slope[p] - high.slope[p]);
        double top = low.value + low.slope[p] * (meet - low_price);
        if (!(meet > low_price && meet < high_price) || meet == guess)
            break;
        guess = price[p] = meet;
        rc = evaluate(s, 1, price, NULL, &next);
        if (rc)
            return rc;
        keep_bound(s, &next, price);
        if (next.value >= top - NEAR * fabs(top))
            break;
        if (next.slope[p] > 0) {
            low = next;
            low_price = meet;
        } else {
            high = next;
            high_price = meet;
        }
    }
    memcpy(price, s->price, sizeof s->price);
    return evaluate(s, 1, price, NULL, at);
}

/* The moment whose price should change most: the peak when it is over the limit, else the known one
 * that misses it most, or that pays for bytes it does not need. */
static bool pick_moment(const struct search *s, const double *price, const struct point *at, uint32_t *out)
{
    double most = NEAR * s->bound;

    if (at->peak > s->limit && s->l.moment_count < MOMENTS_MOST && price[at->moment] == 0) {
        *out = at->moment;
        return true;
    }
    *out = UINT32_MAX;
    for (uint32_t p = 0; p < s->l.moment_count; p++) {
        double off = at->slope[p] > 0 ? at->slope[p] * fmax(price[p], s->bound / s->limit) : -at->slope[p] * price[p];
        if (off > most) {
            most = off;
            *out = p;
        }
    }
    return *out != UINT32_MAX;
}

/* Steps along all slopes at once, as far as a plan at `best_ms` would allow (Polyak). */
static int ascend(struct search *s)
{
    double price[MOMENTS_MOST], reach = 1;
    struct point at;

    memcpy(price, s->price, sizeof price);
    for (uint32_t k = 0; k < ASCENT_MOST && !is_out_of_work(s) && isfinite(s->best_ms); k++) {
        double before = s->bound, square = 0;
        int rc = evaluate(s, 1, price, NULL, &at);
        if (rc)
            return rc;
        keep_bound(s, &at, price);
        for (uint32_t p = 0; p < s->l.moment_count; p++)
            square += at.slope[p] > 0 || price[p] > 0 ? at.slope[p] * at.slope[p] : 0;
        if (square <= 0 || s->bound >= s->best_ms * (1 - NEAR))
            return 0;
        reach = s->bound > before ? reach : reach / 2;
        for (uint32_t p = 0; p < s->l.moment_count; p++)
            price[p] = fmax(0, price[p] + reach * (s->best_ms - at.value) / square * at.slope[p]);
    }
    return 0;
}

static int price_memory(struct search *s)
{
    double price[MOMENTS_MOST] = {0};
    struct point at;
    uint32_t p, last = UINT32_MAX;
    int rc = evaluate(s, 1, price, NULL, &at);

    if (rc)
        return rc;
    if (!isfinite(at.value))
        return err_set(s->e, ERR_INFEASIBLE, "no plan satisfies the fixed decisions");
    keep_bound(s, &at, price);
    if (at.peak <= s->limit)
        return 0;
    at.slope[at.moment] = at.peak - s->limit;
    for (uint32_t k = 0; k < ROUNDS_MOST && pick_moment(s, price, &at, &p) && !is_out_of_work(s) && !rc; k++) {
        double before = s->bound;
        if (at.moment == p && at.peak > s->limit)
            at.slope[p] = at.peak - s->limit;
        rc = line_search(s, p, price, &at);
        if (!rc)
            rc = repair(s, s->choice, true);
        if (!rc && !isfinite(s->best_ms) && at.slope[p] > 0)
            return 0; /* whatever it is worth: memory alone says whether it can be had */
        if (p == last && s->bound <= before * (1 + NEAR))
            break;
        last = p;
    }
    if (!rc)
        rc = improve(s);
    return rc ? rc : ascend(s);
}

/* ---- multipliers on memory alone ---- */

/* No plan needs less than the least of sum share x memory; raised as above, the shares kept at a sum
 * of 1. */
static int weigh_memory(struct search *s)
{
    double share[MOMENTS_MOST] = {0}, reach = 1;
    struct point at;
    uint32_t moment;
    double peak;
    int rc = consider(s, s->least, &peak, &moment);

    share[moment] = 1;
    for (uint32_t k = 0; k < 2 * ASCENT_MOST && !is_out_of_work(s) && !rc; k++) {
        double before = s->least_bound, mean = 0, square = 0, sum = 0;
        uint32_t known = s->l.moment_count, counted = 0;
        rc = evaluate(s, 0, share, NULL, &at);
        if (!rc && at.bound > s->least_bound) {
            s->least_bound = at.bound;
            memcpy(s->share, share, sizeof share);
        }
        if (!rc)
            rc = repair(s, s->choice, false);
        if (rc || s->least_bound >= s->least_bytes * (1 - NEAR) ||
            (s->least_bound > s->limit && !s->seeks_least))
            break;
        if (known < s->l.moment_count && at.moment >= known)
            at.slope[at.moment] = at.peak;
        for (uint32_t p = 0; p < s->l.moment_count; p++, counted++)
            mean += at.slope[p];
        mean /= counted;
        for (uint32_t p = 0; p < s->l.moment_count; p++)
            square += (at.slope[p] - mean) * (at.slope[p] - mean);
        if (square <= 0)
            break;
        reach = s->least_bound > before ? reach : reach * 0.7;
        for (uint32_t p = 0; p < s->l.moment_count; p++) {
            share[p] = fmax(0, share[p] + reach * (s->least_bytes - at.value) / square * (at.slope[p] - mean));
            sum += share[p];
        }
        for (uint32_t p = 0; p < s->l.moment_count; p++)
            share[p] /= sum;
    }
    return rc;
}

/* ---- branch and bound ---- */

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

/* The free node that moves weighted bytes most from a choice; UINT32_MAX when none moves any. */
static uint32_t most_moving(struct search *s, const uint32_t *fixed, const uint32_t *choice, const double *weight)
{
    uint32_t best = UINT32_MAX;
    double most = 0;

    memcpy(s->trial, choice, node_count(s) * sizeof *choice);
    for (uint32_t n = 0; n < node_count(s); n++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t a = 0; a < s->l.s.nodes[n].domain && fixed[n] == NOT_FIXED; a++) {
            s->trial[n] = a;
            double bytes = limit_bytes_of(&s->l, s->trial, n, weight);
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
static void weigh_units(struct search *s)
{
    for (uint32_t u = 0; u < s->l.unit_count; u++) {
        s->weight[u] = 0;
        for (uint32_t p = 0; p < s->l.moment_count; p++)
            s->weight[u] += s->price[p] * s->l.moments[p].counts[u];
    }
}

static uint32_t first_free(const struct search *s, const uint32_t *fixed)
{
    for (uint32_t n = 0; n < node_count(s); n++) {
        if (fixed[n] == NOT_FIXED)
            return n;
    }
    return UINT32_MAX;
}

/* Bounds the plans under b->fixed. *open: something better than the best may be among them; then
 * b->next is the node to branch on. */
static int bound_branch(struct search *s, struct branch *b, bool *open)
{
    struct point at;
    int rc = evaluate(s, 1, s->price, b->fixed, &at);

    *open = false;
    if (rc || !isfinite(at.value))
        return rc;
    b->bound = fmax(b->bound, at.bound);
    if (b->bound >= s->best_ms * (1 - NEAR))
        return 0;
    bool fits = at.peak <= s->limit, exact = at.bound >= at.value;
    if (fits && exact && limit_time(&s->l, s->choice) <= b->bound * (1 + NEAR))
        return 0;
    b->next = most_moving(s, b->fixed, s->choice, fits ? s->weight : s->l.moments[at.moment].counts);
    if (b->next == UINT32_MAX)
        b->next = first_free(s, b->fixed);
    *open = b->next != UINT32_MAX;
    if (*open && !isfinite(s->best_ms)) {
        rc = evaluate(s, 0, s->share, b->fixed, &at);
        *open = at.bound <= s->limit && s->best_ms > b->bound;
    }
    return rc;
}

static int add_branch(struct search *s, struct heap *h, const struct branch *from, uint32_t choice, uint32_t number)
{
    size_t size = node_count(s) * sizeof *from->fixed;
    struct branch b = {.bound = from->bound, .depth = from->depth + 1, .number = number,
                       .fixed = mem_try(node_count(s), sizeof *b.fixed)};
    bool open;

    if (!b.fixed)
        return no_memory(s->e);
    memcpy(b.fixed, from->fixed, size);
    b.fixed[from->next] = choice;
    int rc = bound_branch(s, &b, &open);
    if (!rc && open) {
        if (heap_add(h, b))
            return 0;
        rc = no_memory(s->e);
    }
    free(b.fixed);
    return rc;
}

/* Best bound first. s->bound becomes that of the whole tree; INFINITY: no plan is within the limit. */
static int branch_and_bound(struct search *s)
{
    struct branch root = {.bound = s->bound, .fixed = mem_try(node_count(s), sizeof *root.fixed)};
    struct heap h = {0};
    uint32_t number = 0;
    bool open = false;

    weigh_units(s);
    int rc = root.fixed ? 0 : no_memory(s->e);

    for (uint32_t n = 0; n < node_count(s) && !rc; n++)
        root.fixed[n] = NOT_FIXED;
    if (!rc)
        rc = bound_branch(s, &root, &open);
    if (!rc && open)
        rc = heap_add(&h, root) ? 0 : no_memory(s->e);
    if (rc || !open)
        free(root.fixed);
    while (!rc && h.count && h.items[0].bound < s->best_ms * (1 - NEAR) && !is_out_of_work(s)) {
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

/* ---- the answer ---- */

static bool is_settled(const struct search *s)
{
    return s->bound >= s->best_ms * (1 - NEAR) || s->least_bound > s->limit;
}

static int run(struct search *s, const struct limit_options *o)
{
    struct point at;
    int rc = o->least ? evaluate(s, 1, s->price, NULL, &at) : price_memory(s);

    if (!rc && !isfinite(s->best_ms))
        rc = weigh_memory(s);
    if (rc || is_settled(s) || o->least)
        return rc;
    rc = improve(s);
    return rc ? rc : branch_and_bound(s);
}

static void answer(struct search *s, struct limit_result *out)
{
    struct solver *v = &s->l.s;
    bool fits = isfinite(s->best_ms);
    const uint32_t *choice = fits ? s->best : s->least;

    limit_look(&s->l, choice);
    *out = (struct limit_result){.fits = fits,
                                 .value = limit_time(&s->l, choice),
                                 .bound = !fits ? 0 : s->bound < s->best_ms ? s->bound : s->best_ms,
                                 .peak = limit_peak(&s->l, NULL),
                                 .least_bound = s->least_bound,
                                 .work = s->work,
                                 .positions = s->l.moment_count};
    out->proven = fits ? s->bound >= s->best_ms * (1 - NEAR) : s->least_bound > s->limit || !isfinite(s->bound);
    if (fits && out->proven)
        out->bound = out->value;
    for (uint32_t n = 0; n < v->node_count; n++)
        v->fixed[v->nodes[n].class] = v->nodes[n].labels[choice[n]];
    out->on = v->fixed;
    v->fixed = NULL;
}

int exact_limited(const struct terms *t, const struct memory_model *m, const struct strict *fixed,
                  const struct limit_options *o, struct limit_result *out, struct err *e)
{
    struct exact_options all = {.goal = EXACT_STEP_TIME, .variables = o->variables, .inputs = o->inputs};
    struct search *s = mem_try(1, sizeof *s);
    int rc = s ? limit_model_new(t, m, fixed, &all, &s->l, e) : no_memory(e);

    memset(out, 0, sizeof *out);
    if (rc) {
        free(s);
        return rc;
    }
    s->seeks_least = o->least;
    s->limit = o->least ? -1 : o->limit; /* nothing fits -1 bytes */
    s->work_most = o->work_most ? o->work_most : LIMIT_WORK_MOST;
    s->best_ms = s->least_bytes = INFINITY;
    s->bound = -INFINITY;
    s->e = e;
    uint32_t **lists[] = {&s->choice, &s->trial, &s->best, &s->least};
    for (size_t k = 0; k < sizeof lists / sizeof *lists && !rc; k++) {
        *lists[k] = mem_try(node_count(s), sizeof **lists[k]);
        rc = *lists[k] ? 0 : no_memory(e);
    }
    s->weight = mem_try(s->l.unit_count, sizeof *s->weight);
    if (!rc)
        rc = s->weight ? run(s, o) : no_memory(e);
    if (!rc)
        answer(s, out);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        free(*lists[k]);
    free(s->weight);
    limit_model_release(&s->l);
    free(s);
    return rc;
}

void limit_release(struct limit_result *r)
{
    free(r->on);
    memset(r, 0, sizeof *r);
}
