/* Plans within a memory limit: whole choices looked at, repaired, improved. */
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/exact/eliminate.h"
#include "engine/exact/limit_model.h"
#include "engine/exact/limit_search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPAIR_MOST = 4096 };

/* Looks at a whole choice: its peak over all positions; keeps it when it is the best of its kind.
 * *moment: where the peak is. */
int limit_consider(struct limit_search *s, const uint32_t *choice, double *peak, uint32_t *moment)
{
    size_t size = s->l.s.node_count * sizeof *choice;
    double ms = limit_time(&s->l, choice);
    bool room = s->l.moment_count < LIMIT_MOMENTS_MOST;

    *moment = 0;
    limit_look(&s->l, choice);
    *peak = limit_peak(&s->l, room ? moment : NULL);
    if (*peak < 0)
        return err_no_memory(s->e, "for the memory limit");
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

/* A change of one node's label and what it entails, with what it does to time and weighted bytes.
 */
struct change {
    double ms, bytes;
};

static void set_label(struct limit_search *s, uint32_t *choice, uint32_t n, uint32_t a,
                      const double *weight, struct change *c)
{
    double ms = limit_time_of(&s->l, choice, n),
           bytes = weight ? limit_bytes_of(&s->l, choice, n, weight) : 0;

    choice[n] = a;
    c->ms += limit_time_of(&s->l, choice, n) - ms;
    c->bytes += weight ? limit_bytes_of(&s->l, choice, n, weight) - bytes : 0;
}

/* Sets node `n` of `choice` to `a`; nodes whose labels clash with it give up the axes they share
 * first. False when that is not possible; the caller restores the choice. `weight` [units] or NULL.
 */
static bool change_choice(struct limit_search *s, uint32_t *choice, uint32_t n, uint32_t a,
                          const double *weight, struct change *out)
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

/* What change_choice did for node `n` is taken back: `from` is the choice as it was. */
static void restore_choice(const struct limit_search *s, uint32_t *choice, uint32_t n,
                           const uint32_t *from)
{
    const struct solver *v = &s->l.s;
    const struct classes *c = v->t->labels->classes;
    const struct class_info *info = &c->info[v->nodes[n].class];

    for (uint32_t k = 0; k < info->meet_count; k++) {
        uint32_t other = v->node_of[c->meets[info->meets + k].other];
        if (other != CLASS_NONE)
            choice[other] = from[other];
    }
    choice[n] = from[n];
}

struct freeing {
    uint32_t node, label;
    double worth;
};

/* The single change that frees most bytes at `moment` per ms it costs; free ones first. `with_time`
 * false: that frees most bytes. `choice` was looked at last. */
static bool find_freeing(struct limit_search *s, const uint32_t *choice, uint32_t moment,
                         bool with_time, struct freeing *out)
{
    double bytes = limit_bytes_at(&s->l, moment);
    const double *weight = s->l.moments[moment].counts;
    struct change c;

    *out = (struct freeing){.worth = 0};
    memcpy(s->trial, choice, s->l.s.node_count * sizeof *choice);
    for (uint32_t n = 0; n < s->l.s.node_count && !stop_asked(s->stop); n++) {
        for (uint32_t a = 0; a < s->l.s.nodes[n].domain; a++) {
            if (a == choice[n])
                continue;
            bool possible = change_choice(s, s->trial, n, a, weight, &c);
            restore_choice(s, s->trial, n, choice);
            if (!possible || -c.bytes <= LIMIT_NEAR * bytes)
                continue;
            double worth = !with_time  ? -c.bytes
                           : c.ms <= 0 ? 1e300 * (-c.bytes / bytes)
                                       : -c.bytes / c.ms;
            if (worth > out->worth)
                *out = (struct freeing){n, a, worth};
        }
    }
    return out->worth > 0;
}

/* Frees memory change by change until the choice fits, or nothing frees any more. */
int limit_repair(struct limit_search *s, uint32_t *choice, bool with_time)
{
    double peak, before = INFINITY;
    uint32_t moment;
    struct freeing step;

    for (uint32_t k = 0; k < REPAIR_MOST && !stop_asked(s->stop); k++) {
        int rc = limit_consider(s, choice, &peak, &moment);
        if (rc)
            return rc;
        if (peak <= s->limit || (!with_time && peak >= before * (1 - LIMIT_NEAR)) ||
            s->l.moment_count >= LIMIT_MOMENTS_MOST ||
            !find_freeing(s, choice, moment, with_time, &step))
            return 0;
        before = peak;
        struct change made;
        (void)change_choice(s, choice, step.node, step.label, NULL, &made);
    }
    return 0;
}

/* Takes the trial for the best plan when it is faster and within the limit. */
static bool take_trial(struct limit_search *s)
{
    double ms = limit_time(&s->l, s->trial);

    if (!(ms < s->best_ms * (1 - LIMIT_NEAR)))
        return false;
    s->looks++;
    limit_look(&s->l, s->trial);
    if (limit_peak(&s->l, NULL) > s->limit)
        return false;
    memcpy(s->best, s->trial, s->l.s.node_count * sizeof *s->best);
    s->best_ms = ms;
    return true;
}

struct move {
    uint32_t node, label;
    struct change does;
};

/* All single changes of the best plan, with what they do to time and to the bytes at `moment`. */
static uint32_t list_moves(struct limit_search *s, uint32_t moment, struct move *out)
{
    uint32_t count = 0;

    memcpy(s->trial, s->best, s->l.s.node_count * sizeof *s->best);
    for (uint32_t n = 0; n < s->l.s.node_count && !stop_asked(s->stop); n++) {
        for (uint32_t a = 0; a < s->l.s.nodes[n].domain; a++) {
            struct move m = {.node = n, .label = a};
            if (a == s->best[n])
                continue;
            if (change_choice(s, s->trial, n, a, s->l.moments[moment].counts, &m.does))
                out[count++] = m;
            restore_choice(s, s->trial, n, s->best);
        }
    }
    return count;
}

/* Moves by what they do to time, each with the least bytes of those up to it: whether any move goes
 * together with another is found without a look at all of them. */
struct partner {
    double ms, least_bytes;
};

static int by_ms(const void *a, const void *b)
{
    const struct partner *x = a, *y = b;

    return x->ms < y->ms ? -1 : x->ms > y->ms;
}

static void sort_partners(const struct move *moves, uint32_t count, struct partner *out)
{
    for (uint32_t n = 0; n < count; n++)
        out[n] = (struct partner){moves[n].does.ms, moves[n].does.bytes};
    qsort(out, count, sizeof *out, by_ms);
    for (uint32_t n = 1; n < count; n++)
        out[n].least_bytes = fmin(out[n].least_bytes, out[n - 1].least_bytes);
}

/* Both together gain time and are within the room. */
static bool pays(const struct limit_search *s, const struct change *c, double ms, double bytes,
                 double room)
{
    return c->ms + ms < -LIMIT_NEAR * s->best_ms && c->bytes + bytes <= room;
}

static bool has_partner(const struct limit_search *s, const struct change *c,
                        const struct partner *partners, uint32_t count, double room)
{
    uint32_t low = 0, high = count; /* the first `low` gain time together with it */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->ms + partners[middle].ms < -LIMIT_NEAR * s->best_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low && c->bytes + partners[low - 1].least_bytes <= room;
}

/* Tries one change, and where that takes too much memory, another with it that gives back enough
 * and costs less than the first gains. */
static bool improve_once(struct limit_search *s, const struct move *moves, uint32_t count,
                         struct partner *partners, double room)
{
    size_t size = s->l.s.node_count * sizeof *s->best;
    struct change c;

    sort_partners(moves, count, partners);
    for (uint32_t k = 0; k < count && !limit_is_out_of_looks(s); k++) {
        if (!(moves[k].does.ms < -LIMIT_NEAR * s->best_ms))
            continue;
        memcpy(s->trial, s->best, size);
        if (moves[k].does.bytes <= room &&
            change_choice(s, s->trial, moves[k].node, moves[k].label, NULL, &c) && take_trial(s))
            return true;
        if (!has_partner(s, &moves[k].does, partners, count, room))
            continue;
        for (uint32_t n = 0; n < count && !limit_is_out_of_looks(s); n++) {
            if (!pays(s, &moves[k].does, moves[n].does.ms, moves[n].does.bytes, room) ||
                moves[n].node == moves[k].node)
                continue;
            memcpy(s->trial, s->best, size);
            if (change_choice(s, s->trial, moves[k].node, moves[k].label, NULL, &c) &&
                change_choice(s, s->trial, moves[n].node, moves[n].label, NULL, &c) &&
                take_trial(s))
                return true;
        }
    }
    return false;
}

/* Changes and pairs of changes that make the best plan faster, until there is none or enough were
 * looked at. */
int limit_improve(struct limit_search *s)
{
    size_t most = 0;
    uint32_t moment = 0;

    if (!isfinite(s->best_ms) || stop_asked(s->stop))
        return 0;
    for (uint32_t n = 0; n < s->l.s.node_count; n++)
        most += s->l.s.nodes[n].domain;
    struct move *moves = mem_try(most, sizeof *moves);
    struct partner *partners = mem_try(most, sizeof *partners);
    int rc = moves && partners ? 0 : err_no_memory(s->e, "for the memory limit");
    for (uint32_t k = 0; k < REPAIR_MOST && !rc && !limit_is_out_of_looks(s); k++) {
        limit_look(&s->l, s->best);
        if (limit_peak(&s->l, s->l.moment_count < LIMIT_MOMENTS_MOST ? &moment : NULL) < 0) {
            rc = err_no_memory(s->e, "for the memory limit");
            break;
        }
        uint32_t count = list_moves(s, moment, moves);
        if (!improve_once(s, moves, count, partners, s->limit - limit_bytes_at(&s->l, moment)))
            break;
    }
    free(moves);
    free(partners);
    return rc;
}
