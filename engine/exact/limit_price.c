/* Lagrange multipliers of a memory limit: lower bounds on time, and on memory alone. */
#include "engine/exact/eliminate.h"
#include "engine/exact/limit_model.h"
#include "engine/exact/limit_search.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_MOST = 12, LINE_MOST = 40, DEAR = 8, ASCENT_MOST = 30, HALVINGS = 12 };

int limit_evaluate(struct limit_search *s, double scale, const double *price, const uint32_t *fixed,
                   struct limit_point *out)
{
    struct solver_answer answer;
    uint32_t moments = s->l.moment_count;

    limit_set_prices(&s->l, scale, price, scale > 0 ? s->limit : 0);
    int rc = solver_minimise(&s->l.s, fixed, s->choice, &answer);
    s->work++;
    *out = (struct limit_point){.value = answer.value, .bound = answer.bound};
    if (rc || !isfinite(answer.value))
        return rc;
    limit_look(&s->l, s->choice);
    for (uint32_t p = 0; p < moments; p++)
        out->slope[p] = limit_bytes_at(&s->l, p) - (scale > 0 ? s->limit : 0);
    return limit_consider(s, s->choice, &out->peak, &out->moment);
}

static void keep_bound(struct limit_search *s, const struct limit_point *at, const double *price)
{
    if (at->bound > s->bound) {
        s->bound = at->bound;
        s->excess = s->l.weight;
        memcpy(s->price, price, sizeof s->price);
    }
}

/* Two points of the concave function along one price: what is over the limit at `low` is within it
 * at `high`. */
struct bracket {
    struct limit_point low, high;
    double low_price, high_price;
    bool is_open; /* no such price was found: nothing lies between */
};

/* Finds them from `at`, the point at `price`. *at moves when the bracket stays open. */
static int bracket_price(struct limit_search *s, uint32_t p, double *price, struct limit_point *at,
                         struct bracket *b)
{
    *b = (struct bracket){.low = *at, .high = *at, .low_price = price[p], .high_price = price[p]};
    if (at->slope[p] <= 0) { /* too dear: the price at nothing is below the best */
        b->low_price = price[p] = 0;
        int rc = limit_evaluate(s, 1, price, NULL, &b->low);
        if (rc)
            return rc;
        keep_bound(s, &b->low, price);
        b->is_open = b->low.slope[p] <= 0;
        *at = b->is_open ? b->low : *at;
        return 0;
    }
    double step = fmax(price[p], s->bound / s->limit / 8);
    for (uint32_t k = 0;; k++, step *= 4) {
        price[p] = b->low_price + step;
        int rc = limit_evaluate(s, 1, price, NULL, &b->high);
        if (rc)
            return rc;
        keep_bound(s, &b->high, price);
        b->high_price = price[p];
        if (b->high.slope[p] <= 0)
            return 0;
        b->low = b->high;
        b->low_price = b->high_price;
        if (k == DEAR ||
            limit_is_out_of_work(s)) { /* nothing seems to be below the limit at this moment */
            b->is_open = true;
            *at = b->high;
            return 0;
        }
    }
}

/* Best price of moment `p`, the others staying: where two tangents of the concave function meet,
 * until no plan lies below them. `at` is the point at `price`; both move. */
static int line_search(struct limit_search *s, uint32_t p, double *price, struct limit_point *at)
{
    struct limit_point next;
    struct bracket b;
    double guess = 0;
    int rc = bracket_price(s, p, price, at, &b);

    if (rc || b.is_open)
        return rc;
    for (uint32_t k = 0; k < LINE_MOST && !limit_is_out_of_work(s); k++) {
        double meet = (b.high.value - b.low.value + b.low.slope[p] * b.low_price -
                       b.high.slope[p] * b.high_price) /
                      (b.low.slope[p] - b.high.slope[p]);
        double top = b.low.value + b.low.slope[p] * (meet - b.low_price);
        if (!(meet > b.low_price && meet < b.high_price) || meet == guess)
            break;
        guess = price[p] = meet;
        rc = limit_evaluate(s, 1, price, NULL, &next);
        if (rc)
            return rc;
        keep_bound(s, &next, price);
        if (next.value >= top - LIMIT_NEAR * fabs(top))
            break;
        bool over = next.slope[p] > 0;
        *(over ? &b.low : &b.high) = next;
        *(over ? &b.low_price : &b.high_price) = meet;
    }
    if (stop_asked(s->stop))
        return 0;
    memcpy(price, s->price, sizeof s->price);
    return limit_evaluate(s, 1, price, NULL, at);
}

/* The moment whose price should change most: the peak when it is over the limit, else the known one
 * that misses it most, or that pays for bytes it does not need. */
static bool pick_moment(const struct limit_search *s, const double *price,
                        const struct limit_point *at, uint32_t *out)
{
    double most = LIMIT_NEAR * s->bound;

    if (at->peak > s->limit && s->l.moment_count < LIMIT_MOMENTS_MOST && price[at->moment] == 0) {
        *out = at->moment;
        return true;
    }
    *out = UINT32_MAX;
    for (uint32_t p = 0; p < s->l.moment_count; p++) {
        double off = at->slope[p] > 0 ? at->slope[p] * fmax(price[p], s->bound / s->limit)
                                      : -at->slope[p] * price[p];
        if (off > most) {
            most = off;
            *out = p;
        }
    }
    return *out != UINT32_MAX;
}

/* Steps along all slopes at once, as far as a plan at `best_ms` would allow (Polyak). */
static int ascend(struct limit_search *s)
{
    double price[LIMIT_MOMENTS_MOST], reach = 1;
    struct limit_point at;

    memcpy(price, s->price, sizeof price);
    for (uint32_t k = 0; k < ASCENT_MOST && !limit_is_out_of_work(s) && isfinite(s->best_ms); k++) {
        double before = s->bound, square = 0;
        int rc = limit_evaluate(s, 1, price, NULL, &at);
        if (rc)
            return rc;
        keep_bound(s, &at, price);
        for (uint32_t p = 0; p < s->l.moment_count; p++)
            square += at.slope[p] > 0 || price[p] > 0 ? at.slope[p] * at.slope[p] : 0;
        if (square <= 0 || s->bound >= s->best_ms * (1 - LIMIT_NEAR))
            return 0;
        reach = s->bound > before ? reach : reach / 2;
        for (uint32_t p = 0; p < s->l.moment_count; p++)
            price[p] = fmax(0, price[p] + reach * (s->best_ms - at.value) / square * at.slope[p]);
    }
    return 0;
}

int limit_price_memory(struct limit_search *s)
{
    double price[LIMIT_MOMENTS_MOST] = {0};
    struct limit_point at;
    uint32_t p, last = UINT32_MAX;
    int rc = limit_evaluate(s, 1, price, NULL, &at);

    if (rc)
        return rc;
    if (!isfinite(at.value))
        return err_set(s->e, ERR_INFEASIBLE, "no plan satisfies the fixed decisions");
    keep_bound(s, &at, price);
    if (at.peak <= s->limit)
        return 0;
    at.slope[at.moment] = at.peak - s->limit;
    for (uint32_t k = 0;
         k < ROUNDS_MOST && pick_moment(s, price, &at, &p) && !limit_is_out_of_work(s) && !rc;
         k++) {
        double before = s->bound;
        if (at.moment == p && at.peak > s->limit)
            at.slope[p] = at.peak - s->limit;
        rc = line_search(s, p, price, &at);
        if (rc || limit_is_beaten(s))
            return rc;
        rc = limit_repair(s, s->choice, true);
        if (!rc && !isfinite(s->best_ms) && at.slope[p] > 0)
            return 0; /* whatever it is worth: memory alone says whether it can be had */
        if (p == last && s->bound <= before * (1 + LIMIT_NEAR))
            break;
        last = p;
    }
    rc = rc ? rc : limit_improve(s);
    return rc ? rc : ascend(s);
}

/* ---- the excess of overlap ---- */

/* The weight that proves most at the best multipliers: where E of the plan there changes sign. */
static int weigh_excess(struct limit_search *s)
{
    double price[LIMIT_MOMENTS_MOST], low = 0, high = 1;
    struct limit_point at;
    int rc = 0;

    memcpy(price, s->price, sizeof price);
    for (int k = 0; k < HALVINGS && !limit_is_out_of_work(s); k++) {
        double weight = k ? (low + high) / 2 : 1;
        limit_weigh_excess(&s->l, weight);
        rc = limit_evaluate(s, 1, price, NULL, &at);
        if (rc)
            return rc;
        keep_bound(s, &at, price);
        double balance = limit_balance(&s->l, s->choice);
        if (s->bound >= s->best_ms * (1 - LIMIT_NEAR) || (!k && balance >= 0))
            break;
        if (k)
            *(balance > 0 ? &low : &high) = weight;
    }
    limit_weigh_excess(&s->l, s->excess);
    return rc;
}

int limit_price_excess(struct limit_search *s)
{
    if (!s->l.ends[0].own || stop_asked(s->stop) || limit_balance(&s->l, s->best) <= 0)
        return 0;
    int rc = weigh_excess(s);
    if (rc || s->bound >= s->best_ms * (1 - LIMIT_NEAR) || stop_asked(s->stop))
        return rc;
    rc = limit_price_memory(s);
    return rc ? rc : weigh_excess(s);
}

/* ---- multipliers on memory alone ---- */

/* No plan needs less than the least of sum share x memory; raised as above, the shares kept at a
 * sum of 1. */
int limit_weigh_memory(struct limit_search *s)
{
    double share[LIMIT_MOMENTS_MOST] = {0}, reach = 1;
    struct limit_point at;
    uint32_t moment;
    double peak;
    int rc = limit_consider(s, s->least, &peak, &moment);

    share[moment] = 1;
    for (uint32_t k = 0; k < 2 * ASCENT_MOST && !limit_is_out_of_work(s) && !rc; k++) {
        double before = s->least_bound, mean = 0, square = 0, sum = 0;
        uint32_t known = s->l.moment_count, counted = 0;
        rc = limit_evaluate(s, 0, share, NULL, &at);
        if (!rc && at.bound > s->least_bound) {
            s->least_bound = at.bound;
            memcpy(s->share, share, sizeof share);
        }
        rc = rc ? rc : limit_repair(s, s->choice, false);
        if (rc || s->least_bound >= s->least_bytes * (1 - LIMIT_NEAR) ||
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
            share[p] = fmax(0, share[p] + reach * (s->least_bytes - at.value) / square *
                                              (at.slope[p] - mean));
            sum += share[p];
        }
        for (uint32_t p = 0; p < s->l.moment_count; p++)
            share[p] /= sum;
    }
    return rc;
}
