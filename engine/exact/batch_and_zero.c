#include "engine/exact/batch_and_zero.h"
#include "hlo/support/stop.h"

#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "hlo/support/err.h"

#include <math.h>
#include <string.h>

static const double NEAR = 1e-9;

enum { SCREEN_WORK = 120, ROUGH_WORK = 24 }; /* eliminations of a first look at a pair */

struct choose {
    struct problem *p;
    const struct batch_and_zero_options *o;
    struct batch_and_zero_result *out;
    struct err *e;
};

/* Sets the pair and makes a strict position with what is fixed; released by the caller. */
static int begin_pair(struct choose *c, struct batch_and_zero r, struct strict *s)
{
    int rc = problem_set_batch_and_zero(c->p, &r, c->e);

    if (rc)
        return rc;
    rc = strict_new(&c->p->labels, s, c->e);
    if (rc || !c->o->fix)
        return rc;
    rc = c->o->fix(c->o->context, c->p, s, c->e);
    if (rc)
        strict_release(s);
    return rc;
}

/* The plan within the limit under one pair. */
static int solve_pair(struct choose *c, struct batch_and_zero r, uint32_t work, bool least,
                      struct limit_result *out)
{
    struct limit_options o = {.limit = c->o->limit,
                              .variables = c->o->variables,
                              .inputs = c->o->inputs,
                              .work_most = work,
                              .least = least,
                              .beat_ms = least || !c->o->known ? 0 : c->o->known->best_ms,
                              .stop = c->p->stop};
    struct strict s;
    int rc = begin_pair(c, r, &s);

    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    rc = exact_limited(&c->p->step_tables, &c->p->memory, &s, &o, out, c->e);
    strict_release(&s);
    c->out->work += out->work;
    return rc;
}

/* A step's time without a limit, which no limit lowers. */
static int find_free(struct choose *c, struct batch_and_zero r, double *ms)
{
    struct exact_options o = {.goal = EXACT_STEP_TIME,
                              .variables = c->o->variables,
                              .inputs = c->o->inputs,
                              .stop = c->p->stop};
    struct exact_result found;
    struct strict s;
    int rc = begin_pair(c, r, &s);

    if (rc)
        return rc;
    rc = exact_strict(&c->p->step_tables, &s, &o, &found, c->e);
    strict_release(&s);
    if (!rc) {
        *ms = found.bound;
        exact_release(&found);
    }
    return rc;
}

/* Where what is known of a pair stands; NULL: nothing is. */
static struct batch_and_zero_pair *find_known(const struct choose *c, struct batch_and_zero r)
{
    struct batch_and_zero_known *known = c->o->known;

    for (uint32_t k = 0; known && k < known->count; k++) {
        if (known->pairs[k].of.micro_batches == r.micro_batches &&
            known->pairs[k].of.zero == r.zero)
            return &known->pairs[k];
    }
    return NULL;
}

/* The same, as it is known or so that it is. */
static int price_free(struct choose *c, struct batch_and_zero r, double *ms)
{
    struct batch_and_zero_known *known = c->o->known;
    const struct batch_and_zero_pair *pair = find_known(c, r);

    if (pair) {
        *ms = pair->free_ms;
        return isfinite(*ms) ? 0 : ERR_INFEASIBLE;
    }
    int rc = find_free(c, r, ms);
    if ((rc && rc != ERR_INFEASIBLE) || !known || known->count == BATCH_AND_ZERO_MOST)
        return rc;
    known->pairs[known->count++] =
        (struct batch_and_zero_pair){.of = r, .free_ms = rc ? INFINITY : *ms};
    return rc;
}

/* No better than a plan that is known. */
static bool is_beaten(const struct choose *c, double ms)
{
    const struct batch_and_zero_known *known = c->o->known;

    return (c->out->fits && ms >= c->out->plan.value * (1 - NEAR)) ||
           (known && known->best_ms > 0 && ms > known->best_ms * (1 + NEAR));
}

static bool is_better(const struct limit_result *a, const struct batch_and_zero_result *best)
{
    if (a->fits != best->fits)
        return a->fits;
    return a->fits ? a->value < best->plan.value * (1 - NEAR)
                   : a->peak < best->plan.peak * (1 - NEAR);
}

/* The least memory of a pair, which no limit changes. */
static void remember_least(struct choose *c, struct batch_and_zero r,
                           const struct limit_result *found)
{
    struct batch_and_zero_pair *pair = find_known(c, r);

    if (!pair || found->fits || !(found->least_bound > pair->least_bound))
        return;
    pair->least_bound = found->least_bound;
    pair->least_peak = found->peak;
}

/* Fills the try where it is known already that every plan of the pair needs more than the limit. */
static bool is_known_not_to_fit(const struct choose *c, struct batch_and_zero_try *t)
{
    const struct batch_and_zero_pair *pair = find_known(c, t->batching);

    if (!pair || !(pair->least_bound > c->o->limit))
        return false;
    t->proven = true;
    t->bound = INFINITY;
    t->peak = pair->least_peak;
    t->least_bound = pair->least_bound;
    return true;
}

/* Looks at one pair; ERR_INFEASIBLE of the fixed decisions is one that does not fit. */
static int look_at_pair(struct choose *c, struct batch_and_zero r)
{
    struct batch_and_zero_result *out = c->out;
    struct batch_and_zero_try *t = &out->tries[out->count];
    struct limit_result found;
    *t = (struct batch_and_zero_try){.batching = r};
    int rc = price_free(c, r, &t->bound);

    if (rc == ERR_INFEASIBLE) {
        t->proven = true;
        t->bound = INFINITY;
        out->count++;
        return 0;
    }
    if (rc)
        return rc;
    out->count++;
    if (is_beaten(c, t->bound)) {
        t->is_skipped = true;
        return 0;
    }
    if (is_known_not_to_fit(c, t))
        return 0;
    rc = solve_pair(c, r, c->o->is_rough ? ROUGH_WORK : SCREEN_WORK, false, &found);
    if (rc)
        return rc;
    remember_least(c, r, &found);
    t->fits = found.fits;
    t->proven = found.proven;
    t->peak = found.peak;
    t->least_bound = found.least_bound;
    t->value = found.value;
    t->bound = found.proven && !found.fits ? INFINITY : fmax(t->bound, found.bound);
    t->is_skipped = is_beaten(c, t->bound) && isfinite(t->bound);
    if (!t->is_skipped && (!out->plan.on || is_better(&found, out))) {
        limit_release(&out->plan);
        out->plan = found;
        out->fits = found.fits;
        out->batching = r;
    } else {
        limit_release(&found);
    }
    return 0;
}

/* Asked to end, with a plan to give. */
static bool is_ended(const struct choose *c)
{
    return c->out->plan.on && stop_asked(c->p->stop);
}

/* Whether the fixed decisions hold under some pair that was looked at. */
static bool can_hold(const struct batch_and_zero_result *out)
{
    for (uint32_t k = 0; k < out->count; k++) {
        if (out->tries[k].is_skipped || out->tries[k].least_bound > 0)
            return true;
    }
    return false;
}

/* Levels of one number of micro-batches. Level 1 is never slower than 0, 2 and 3 never faster than
 * 1; each is skipped where its optimum without a limit cannot win. */
static int look_at_levels(struct choose *c, uint32_t k)
{
    int first = c->o->zero < 0 ? 0 : c->o->zero,
        last = c->o->zero < 0 ? ZERO_LEVEL_MOST : c->o->zero, rc = 0;

    if (rc)
        return rc;
    for (int zero = first; zero <= last && c->out->count < BATCH_AND_ZERO_MOST && !is_ended(c);
         zero++) {
        rc = look_at_pair(c, (struct batch_and_zero){k, (uint8_t)zero, c->p->options.overlap});
        if (rc)
            return rc;
    }
    return rc;
}

uint32_t batch_and_zero_numbers(const struct problem *p, uint32_t *out, uint32_t room)
{
    int64_t most = p->training.batch == CLASS_NONE ? 1 : p->training.batch_divisor,
            asked = problem_batch_size(p); /* another batch than the file's, maybe */
    uint32_t count = 0;

    for (int64_t k = 1; k <= most && k <= MICRO_BATCHES_MOST && count < room; k++) {
        if (most % k == 0 && asked % k == 0)
            out[count++] = (uint32_t)k;
    }
    return count;
}

/* The best pair again, with all the work there is; bounds over all `pairs` that may be taken. */
static int finish_choice(struct choose *c, uint32_t pairs)
{
    struct batch_and_zero_result *out = c->out;
    struct limit_result found;
    int rc = 0;

    if (!out->plan.proven && !c->o->is_rough && !is_ended(c)) {
        rc = solve_pair(c, out->batching, 0, !out->fits, &found);
        if (rc)
            return rc;
        if (out->fits ? found.fits && found.value <= out->plan.value
                      : found.peak <= out->plan.peak) {
            limit_release(&out->plan);
            out->plan = found;
        } else {
            limit_release(&found);
        }
    }
    out->bound = INFINITY;
    out->proven = true;
    out->least_bound = INFINITY;
    for (uint32_t k = 0; k < out->count; k++) {
        struct batch_and_zero_try *t = &out->tries[k];
        if (t->batching.micro_batches == out->batching.micro_batches &&
            t->batching.zero == out->batching.zero && out->fits) {
            t->value = out->plan.value;
            t->bound = fmax(t->bound, out->plan.bound);
            t->proven = out->plan.proven;
            t->peak = out->plan.peak;
        }
        out->bound = fmin(out->bound, t->bound);
        out->least_bound =
            t->least_bound > 0 ? fmin(out->least_bound, t->least_bound) : out->least_bound;
        out->proven &= out->fits || t->proven;
    }
    if (out->fits)
        out->proven = out->bound >= out->plan.value * (1 - NEAR);
    if (out->count < pairs) { /* asked to end: nothing is known of the others */
        out->proven = false;
        out->bound = out->least_bound = 0;
    }
    out->bound = fmin(out->bound, out->fits ? out->plan.value : INFINITY);
    return problem_set_batch_and_zero(c->p, &out->batching, c->e);
}

/* The least number of micro-batches with which some plan fits at the levels allowed. */
static int find_needed(struct choose *c, const uint32_t *numbers, uint32_t count, uint32_t *out)
{
    int first = c->o->zero < 0 ? 0 : c->o->zero,
        last = c->o->zero < 0 ? ZERO_LEVEL_MOST : c->o->zero, rc = 0;

    *out = 0;
    for (uint32_t n = 0; n < count && !rc && !*out && !is_ended(c); n++) {
        for (int zero = last; zero >= first && !rc && !*out;
             zero--) { /* the highest level needs least */
            struct limit_result found;
            rc = solve_pair(
                c, (struct batch_and_zero){numbers[n], (uint8_t)zero, c->p->options.overlap},
                SCREEN_WORK, false, &found);
            if (rc == ERR_INFEASIBLE) {
                rc = 0;
                continue;
            }
            *out = !rc && found.fits ? numbers[n] : 0;
            limit_release(&found);
        }
    }
    return rc;
}

int exact_batch_and_zero(struct problem *p, const struct batch_and_zero_options *o,
                         struct batch_and_zero_result *out, struct err *e)
{
    struct choose c = {.p = p, .o = o, .out = out, .e = e};
    struct batch_and_zero before = problem_batch_and_zero(p);
    uint32_t numbers[BATCH_AND_ZERO_MOST / 4],
        count = batch_and_zero_numbers(p, numbers, BATCH_AND_ZERO_MOST / 4);
    struct err lost;
    int rc = 0;

    memset(out, 0, sizeof *out);
    if (o->micro_batches) {
        rc = look_at_levels(&c, o->micro_batches);
    } else {
        for (uint32_t n = 0; n < count && !is_ended(&c); n++) {
            rc = look_at_levels(&c, numbers[n]);
            if (rc)
                goto out;
        }
    }
    if (rc)
        goto out;
    if (!out->plan.on && can_hold(out)) /* none that is better than what is known */
        goto out;
    if (!out->plan.on)
        rc = err_set(e, ERR_INFEASIBLE, "the fixed decisions cannot hold with %s micro-batches",
                     o->micro_batches ? "so many" : "any number of");
    if (rc)
        goto out;
    if (!out->fits && o->micro_batches)
        rc = find_needed(&c, numbers, count, &out->needs_micro_batches);
    if (rc)
        goto out;
    rc =
        finish_choice(&c, (o->micro_batches ? 1 : count) * (o->zero < 0 ? ZERO_LEVEL_MOST + 1 : 1));
    if (o->known && out->fits && !(o->known->best_ms > 0 && o->known->best_ms <= out->plan.value))
        o->known->best_ms = out->plan.value;
out:
    if (rc) {
        batch_and_zero_release(out);
        (void)!problem_set_batch_and_zero(p, &before, &lost);
    }
    return rc;
}

void batch_and_zero_release(struct batch_and_zero_result *r)
{
    limit_release(&r->plan);
    memset(r, 0, sizeof *r);
}
