/* What a stretch of the forward pass keeps: fronts and choices within a limit against all choices
 * there are, tried one by one. */
#include "engine/recompute/keeping.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 9, GROUPS_MOST = 3 };

static uint64_t roll(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

struct small {
    struct keep_value values[MOST];
    uint32_t edges[MOST * MOST];
    struct keep_problem p;
};

static void make_random(struct small *s, uint64_t *seed)
{
    *s = (struct small){0};
    s->p = (struct keep_problem){.values = s->values, .edges = s->edges};
    s->p.count = 2 + (uint32_t)(roll(seed) % (MOST - 1));
    s->p.groups = 1 + (uint32_t)(roll(seed) % GROUPS_MOST);
    for (uint32_t k = 0; k < s->p.count; k++) {
        struct keep_value *v = &s->values[k];
        *v = (struct keep_value){.bytes = 1 + (double)(roll(seed) % 50),
                                 .ms = (double)(roll(seed) % 40),
                                 .group = k * s->p.groups / s->p.count,
                                 .is_needed = roll(seed) % 2,
                                 .is_held = !k || roll(seed) % 6 == 0,
                                 .is_passed = roll(seed) % 7 == 0};
        v->reads = s->p.edge_count;
        for (uint32_t o = 0; o < k; o++)
            if (roll(seed) % 3 == 0)
                s->edges[s->p.edge_count++] = o;
        v->read_count = s->p.edge_count - v->reads;
    }
}

/* What a set of kept values comes to, by following who needs what. */
struct slow {
    const struct small *s;
    uint32_t keeps, seen;
    double ms, bytes, beside[GROUPS_MOST];
};

static void use(struct slow *x, uint32_t k)
{
    const struct keep_value *v = &x->s->values[k];

    if (x->seen >> k & 1)
        return;
    x->seen |= 1u << k;
    if (v->is_held || ((x->keeps >> k & 1) && !v->is_passed)) {
        x->bytes += v->bytes;
        return;
    }
    x->ms += v->ms;
    x->beside[v->group] += v->is_needed ? v->bytes : 0;
    for (uint32_t i = 0; i < v->read_count; i++)
        use(x, x->s->edges[v->reads + i]);
}

static struct slow follow(const struct small *s, uint32_t keeps)
{
    struct slow x = {.s = s, .keeps = keeps};

    for (uint32_t k = 0; k < s->p.count; k++)
        if (s->values[k].is_needed)
            use(&x, k);
    return x;
}

static double slow_memory(const struct slow *x, double times)
{
    double beside = 0;

    for (int g = 0; g < GROUPS_MOST; g++)
        beside = fmax(beside, x->beside[g]);
    return times * x->bytes + beside;
}

static void test_front(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct small s;
        struct keep_front f;
        struct err e;
        make_random(&s, &seed);
        assert_int_equal(keep_front_new(&s.p, &f, &e), 0);
        for (int k = 0; k < 9; k++) {
            double price = exp(-5 + 1.1 * k), best = INFINITY, least = INFINITY;
            for (uint32_t n = 0; n < f.count; n++)
                best = fmin(best, f.points[n].ms + price * f.points[n].bytes);
            for (uint32_t set = 0; set < 1u << s.p.count; set++) {
                struct slow x = follow(&s, set);
                least = fmin(least, x.ms + price * x.bytes);
            }
            assert_true(fabs(best - least) <= 1e-6 * (1 + least));
        }
        for (uint32_t n = 1; n < f.count; n++)
            assert_true(f.points[n].bytes < f.points[n - 1].bytes &&
                        f.points[n].ms > f.points[n - 1].ms);
        keep_front_release(&f);
    }
}

/* The most that all values of one group, and what they hang on, take: what mixing two corners group
 * by group can be off. */
static double most_of_a_group(const struct small *s)
{
    double sum[GROUPS_MOST] = {0}, most = 0;

    for (uint32_t k = 0; k < s->p.count; k++)
        sum[s->values[k].group] += s->values[k].ms;
    for (int g = 0; g < GROUPS_MOST; g++)
        most = fmax(most, sum[g]);
    return most;
}

static void check_within(const struct small *s, const struct keep_front *f, double times,
                         double room)
{
    struct keep_choice c;
    struct err e;
    bool fits;
    double bound, best = INFINITY;

    assert_int_equal(keep_within(f, times, room, &c, &fits, &bound, &e), 0);
    uint32_t keeps = 0;
    for (uint32_t k = 0; k < s->p.count; k++)
        keeps |= (uint32_t)(c.state[k] == KEEP_KEPT) << k;
    struct slow own = follow(s, keeps);
    assert_true(fabs(own.ms - c.ms) < 1e-9 && fabs(own.bytes - c.bytes) < 1e-9);
    assert_int_equal(fits, slow_memory(&own, times) <= room);
    for (uint32_t set = 0; set < 1u << s->p.count; set++) {
        struct slow x = follow(s, set);
        if (slow_memory(&x, times) <= room)
            best = fmin(best, x.ms);
    }
    assert_true(bound <= best + 1e-6 * (1 + fabs(best)));
    if (fits)
        assert_true(c.ms >= best - 1e-9);
    /* Without what lies beside, which the front knows nothing of, it is a group's work off. */
    double beside = 0;
    for (uint32_t k = 0; k < s->p.count; k++)
        beside += s->values[k].bytes;
    double line = INFINITY;
    for (uint32_t n = 0; n < f->count; n++)
        if (times * f->points[n].bytes + beside <= room)
            line = fmin(line, f->points[n].ms);
    if (line < INFINITY)
        assert_true(fits && c.ms <= line + 1e-9 &&
                    c.ms <= bound + s->p.groups * most_of_a_group(s));
    keep_choice_release(&c);
}

static void test_within(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        struct small s;
        struct keep_front f;
        struct err e;
        make_random(&s, &seed);
        assert_int_equal(keep_front_new(&s.p, &f, &e), 0);
        double times = 1 + (double)(roll(&seed) % 8);
        for (int k = 0; k <= 10; k++)
            check_within(&s, &f, times, times * f.points[0].bytes * k / 8);
        check_within(&s, &f, 0, INFINITY);
        keep_front_release(&f);
    }
}

/* Memory and ms with some of what is kept on the host; -1: what is not kept cannot go there, nor
 * what the last group keeps. */
static double with_host(const struct slow *x, const struct keep_host *host, uint32_t away,
                        double times, double *ms)
{
    const struct small *s = x->s;
    double group[GROUPS_MOST] = {0}, bytes = 0, most = 0;

    for (uint32_t k = 0; k < s->p.count; k++) {
        const struct keep_value *v = &s->values[k];
        bool is_kept = (x->seen >> k & 1) && (v->is_held || ((x->keeps >> k & 1) && !v->is_passed));
        if (!(away >> k & 1))
            continue;
        if (!is_kept || v->group + 1 == s->p.groups)
            return -1;
        group[v->group] += v->bytes;
        bytes += v->bytes;
    }
    for (int g = 0; g < GROUPS_MOST; g++)
        most = fmax(most, group[g]);
    double copy = bytes / host->bytes_per_ms;
    *ms = x->ms + fmax(0, copy - host->forward_ms) + fmax(0, copy - host->backward_ms);
    return slow_memory(x, times) - times * bytes + 3 * most;
}

struct host_tally {
    uint32_t limits, fit, used, missed, best;
};

static void check_host(const struct small *s, const struct keep_front *f, double times, double room,
                       const struct keep_host *host, struct host_tally *t)
{
    struct keep_choice c, without;
    struct err e;
    bool fits, fitted;
    double bound, other, best = INFINITY, ms = 0;
    uint32_t keeps = 0, away = 0;

    assert_int_equal(keep_within_host(f, times, room, host, &c, &fits, &bound, &e), 0);
    assert_int_equal(keep_within(f, times, room, &without, &fitted, &other, &e), 0);
    for (uint32_t k = 0; k < s->p.count; k++) {
        keeps |= (uint32_t)(c.state[k] == KEEP_KEPT || c.state[k] == KEEP_HOST) << k;
        away |= (uint32_t)(c.state[k] == KEEP_HOST) << k;
    }
    struct slow own = follow(s, keeps);
    double memory = with_host(&own, host, away, times, &ms);
    assert_true(memory >= 0 && fabs(ms - c.ms) < 1e-9);
    assert_true(fits ? memory <= room + 1e-9 : memory > room - 1e-9);
    if (fits)
        assert_true(times * c.bytes + c.beside <= room + 1e-9);
    for (uint32_t set = 0; set < 1u << s->p.count; set++) {
        struct slow x = follow(s, set);
        for (uint32_t sent = 0; sent < 1u << s->p.count; sent++) {
            double now = with_host(&x, host, sent, times, &ms);
            if (now >= 0 && now <= room)
                best = fmin(best, ms);
        }
    }
    assert_true(bound <= best + 1e-6 * (1 + fabs(best)));
    assert_true(!fitted || (fits && c.ms <= without.ms));
    if (fits)
        assert_true(c.ms >= best - 1e-9);
    t->limits++;
    t->fit += fits;
    t->used += fits && away;
    t->missed += !fits && best < INFINITY;
    t->best += fits && c.ms <= best + 1e-9;
    keep_choice_release(&c);
    keep_choice_release(&without);
}

/* Against every choice of what is kept and of what of it is on the host. */
static void test_host(void **state)
{
    struct host_tally t = {0};
    uint64_t seed = 19;

    (void)state;
    for (int round = 0; round < 400; round++) {
        struct small s;
        struct keep_front f;
        struct err e;
        make_random(&s, &seed);
        if (s.p.count > 7)
            continue;
        assert_int_equal(keep_front_new(&s.p, &f, &e), 0);
        struct keep_host host = {.bytes_per_ms = 1 + (double)(roll(&seed) % 4),
                                 .forward_ms = (double)(roll(&seed) % 6),
                                 .backward_ms = (double)(roll(&seed) % 9)};
        double times = 1 + (double)(roll(&seed) % 8);
        for (int k = 1; k <= 8; k++)
            check_host(&s, &f, times, times * f.points[0].bytes * k / 8, &host, &t);
        keep_front_release(&f);
    }
    print_message("%u limits: %u fit, %u with values on the host, %u the best of all; %u missed\n",
                  t.limits, t.fit, t.used, t.best, t.missed);
    assert_true(t.used > 100 && t.missed * 10 < t.fit && t.best * 10 > t.fit * 7);
}

/* Equal groups: the best choice takes its corners, all but one group of them, so within a limit it
 * is at most a group's step from the bound. */
static void test_layers(void **state)
{
    enum { LAYERS = 24, EACH = 4 };
    struct keep_value values[LAYERS * EACH];
    uint32_t edges[LAYERS * EACH], edge_count = 0;
    struct keep_problem p = {
        .values = values, .count = LAYERS * EACH, .edges = edges, .groups = LAYERS};
    struct keep_front f;
    struct err e;

    (void)state;
    for (uint32_t k = 0; k < p.count; k++) {
        values[k] = (struct keep_value){.bytes = 1 + k % EACH * 3,
                                        .ms = 1 + (k % EACH) * (k % EACH),
                                        .reads = edge_count,
                                        .group = k / EACH,
                                        .is_needed = true,
                                        .is_held = k % EACH == 0};
        if (k % EACH)
            edges[edge_count++] = k - 1;
        values[k].read_count = edge_count - values[k].reads;
    }
    assert_int_equal(keep_front_new(&p, &f, &e), 0);
    for (int k = 0; k <= 40; k++) {
        struct keep_choice c;
        bool fits;
        double bound, room = 8 * f.points[0].bytes * k / 40 + 21;
        assert_int_equal(keep_within(&f, 8, room, &c, &fits, &bound, &e), 0);
        assert_int_equal(fits, room >= 8 * f.points[f.count - 1].bytes + 21);
        if (fits)
            assert_true(c.ms >= bound && c.ms <= bound + 2 * (2 + 5 + 10));
        keep_choice_release(&c);
    }
    keep_front_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_front), cmocka_unit_test(test_within),
                                       cmocka_unit_test(test_host), cmocka_unit_test(test_layers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
