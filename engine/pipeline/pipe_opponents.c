/* What the DQN is held against: random, greedy and enumeration over the same candidates; descent
 * and the exact solution over all pivots and device cuts. */
#include "engine/pipeline/descent.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipe_search_ops.h"
#include "engine/pipeline/space.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

static int no_start(struct pipe_search *s, struct err *e)
{
    (void)s;
    (void)e;
    return 0;
}

static void free_self(struct pipe_search *s)
{
    free(s->self);
    s->self = NULL;
}

static int plain_self(struct pipe_search *s, size_t size, struct err *e)
{
    s->self = mem_try(1, size);
    return s->self ? 0 : err_no_memory(e, "for the search");
}

/* ---- random ---- */
static uint32_t pick_bit(struct rl_rng *r, uint64_t bits)
{
    uint32_t n = rl_rng_below(r, (uint32_t)__builtin_popcountll(bits));

    while (n--)
        bits &= bits - 1;
    return (uint32_t)__builtin_ctzll(bits);
}

static struct pipe_plan random_candidate(struct pipe_search *s)
{
    struct pipe_plan p = {0};

    pipe_space_complete(&s->space, &p, 1);
    for (uint32_t c = 1; c < s->space.stages; c++) {
        uint64_t legal = pipe_space_legal(&s->space, c, p.device[c - 1]);
        p.device[c] = pipe_space_device(&s->space, c, pick_bit(&s->rng, legal));
        p.pivot[c] = s->space.pivot[p.device[c]];
    }
    return p;
}

static bool random_step(struct pipe_search *s, struct pipe_event *out)
{
    struct pipe_plan p = random_candidate(s);

    pipe_search_price(s, &p, out);
    return true;
}

/* ---- enumerate ---- */
static int enumerate_start(struct pipe_search *s, struct err *e)
{
    return plain_self(s, sizeof(struct pipe_plan), e);
}

static bool enumerate_step(struct pipe_search *s, struct pipe_event *out)
{
    struct pipe_plan *p = s->self;

    if (!pipe_space_next(&s->space, p)) {
        s->done = s->proven = true;
        return false;
    }
    pipe_search_price(s, p, out);
    return true;
}

/* ---- greedy ---- */
/* One cut after the other takes its best offset, the cuts behind it standing nearest to their
 * anchors, or, after a restart, where the random beginning had them if they can. */
struct greedy {
    struct pipe_plan plan, best;
    double best_ms;
    uint32_t cut, offset; /* to try next */
    uint64_t legal;
};

static void greedy_cut(struct pipe_search *s, struct greedy *g)
{
    g->best_ms = INFINITY;
    g->best = g->plan;
    g->offset = 0;
    g->legal = g->cut < s->space.stages
                   ? pipe_space_legal(&s->space, g->cut, g->plan.device[g->cut - 1])
                   : 0;
}

static int greedy_start(struct pipe_search *s, struct err *e)
{
    int rc = plain_self(s, sizeof(struct greedy), e);
    struct greedy *g = s->self;

    if (rc)
        return rc;
    pipe_space_complete(&s->space, &g->plan, 1);
    g->cut = 1;
    greedy_cut(s, g);
    return 0;
}

/* Keeps the cuts behind `cut` where they are legal. */
static void settle_cut(struct pipe_search *s, struct pipe_plan *p, uint32_t cut)
{
    for (uint32_t c = cut; c < s->space.stages; c++) {
        uint32_t shifted = p->device[c] + s->space.options.radius;
        uint64_t legal = pipe_space_legal(&s->space, c, p->device[c - 1]);
        if (shifted < s->space.anchor[c] || shifted - s->space.anchor[c] >= s->space.width ||
            !(legal >> (shifted - s->space.anchor[c]) & 1)) {
            pipe_space_complete(&s->space, p, c);
            return;
        }
    }
}

static bool greedy_step(struct pipe_search *s, struct pipe_event *out)
{
    struct greedy *g = s->self;

    if (g->cut >= s->space.stages) { /* all cuts stand: begin again somewhere */
        g->plan = random_candidate(s);
        g->cut = 1;
        greedy_cut(s, g);
        if (s->space.stages == 1) {
            pipe_search_price(s, &g->plan, out);
            s->done = s->proven = true;
            return true;
        }
    }
    while (!(g->legal >> g->offset & 1))
        g->offset++;
    struct pipe_plan p = g->plan;
    p.device[g->cut] = pipe_space_device(&s->space, g->cut, g->offset);
    p.pivot[g->cut] = s->space.pivot[p.device[g->cut]];
    settle_cut(s, &p, g->cut + 1);
    double ms = pipe_search_price(s, &p, out);
    if (ms < g->best_ms || isinf(g->best_ms)) {
        g->best_ms = ms;
        g->best = p;
    }
    g->legal &= ~((uint64_t)1 << g->offset);
    if (!g->legal) {
        g->plan = g->best;
        g->cut++;
        greedy_cut(s, g);
    }
    return true;
}

/* ---- descent ---- */
enum { BEGINNINGS = 4 * PIPE_DEVICES_MOST, TRIES = 3 };

struct descent {
    struct pipe_plan begin[BEGINNINGS];
    double value[BEGINNINGS];
    uint32_t count, priced, tries;
    bool going;
    struct pipe_descent now;
};

static int descent_start(struct pipe_search *s, struct err *e)
{
    int rc = plain_self(s, sizeof(struct descent), e);
    struct descent *d = s->self;

    if (rc)
        return rc;
    d->count = pipe_beginnings(&s->goal, d->begin, BEGINNINGS);
    return rc;
}

/* Random device cuts that are allowed, pivots by speed and a random slope. */
static struct pipe_plan random_beginning(struct pipe_search *s)
{
    const struct pipe_instance *in = s->in;
    uint32_t most = in->devices < 8 ? in->devices : 8;
    struct pipe_plan p = pipe_plan_whole(in);

    p.stages = s->goal.stages ? s->goal.stages : 1 + rl_rng_below(&s->rng, most);
    uint32_t wanted = p.stages - 1, left = 0, at = 1;
    for (uint32_t d = 1; d < in->devices; d++)
        left += !s->device_cut || s->device_cut[d];
    for (uint32_t d = 1; d < in->devices && wanted; d++) { /* each subset is as likely */
        if (s->device_cut && !s->device_cut[d])
            continue;
        if (rl_rng_below(&s->rng, left--) < wanted) {
            p.device[at++] = d;
            wanted--;
        }
    }
    p.stages = at;
    p.device[at] = in->devices;
    if (!pipe_pivots_by_share(in, &p, 0.7 + 0.6 * rl_rng_unit(&s->rng), 0.02))
        p = pipe_plan_whole(in);
    return p;
}

/* The best beginning not yet gone down from; after TRIES of them, a random one. */
static bool descent_begin(struct pipe_search *s, struct descent *d, struct pipe_event *out)
{
    uint32_t best = 0;

    for (uint32_t n = 1; n < d->count; n++)
        best = d->value[n] < d->value[best] ? n : best;
    d->going = true;
    if (d->count && d->tries < TRIES && d->value[best] < INFINITY) {
        pipe_descent_start(&d->now, &d->begin[best], d->value[best]);
        d->value[best] = INFINITY;
        d->tries++;
        return false;
    }
    struct pipe_plan p = random_beginning(s);
    double value = pipe_goal_price(&s->goal, &p);
    pipe_descent_start(&d->now, &p, value);
    pipe_search_priced(s, &p, value, out);
    return true;
}

static bool descent_step(struct pipe_search *s, struct pipe_event *out)
{
    struct descent *d = s->self;
    struct pipe_plan tried;
    double value;

    if (d->priced < d->count) {
        d->value[d->priced] = pipe_goal_price(&s->goal, &d->begin[d->priced]);
        pipe_search_priced(s, &d->begin[d->priced], d->value[d->priced], out);
        d->priced++;
        return true;
    }
    for (;;) {
        if (!d->going && descent_begin(s, d, out))
            return true;
        d->going = pipe_descent_step(&d->now, &s->goal, &tried, &value);
        if (d->going) {
            pipe_search_priced(s, &tried, value, out);
            return true;
        }
    }
}

/* ---- exact ---- */
struct exact {
    struct pipe_exact *x;
    struct pipe_descent instant; /* known beforehand: bounds the search, and is shown first */
    bool has_instant, told;
};

static int exact_start(struct pipe_search *s, struct err *e)
{
    struct pipe_exact_options o = {.device_cut = s->device_cut,
                                   .pins = s->goal.pins,
                                   .stages = s->goal.stages,
                                   .variables = s->goal.variables,
                                   .stop = s->options.stop};
    int rc = plain_self(s, sizeof(struct exact), e);
    struct exact *x = s->self;

    if (rc)
        return rc;
    x->has_instant = pipe_instant(&s->goal, TRIES, &x->instant);
    o.known_ms = x->has_instant ? x->instant.value : 0;
    return pipe_exact_new(s->in, &o, &x->x, e);
}

static void exact_stop(struct pipe_search *s)
{
    struct exact *x = s->self;

    pipe_exact_free(x->x);
    free_self(s);
}

static bool exact_step(struct pipe_search *s, struct pipe_event *out)
{
    struct exact *x = s->self;
    struct pipe_exact_result r;

    if (x->has_instant && !x->told) {
        x->told = true;
        pipe_search_priced(s, &x->instant.plan, x->instant.value, out);
        return true;
    }
    if (pipe_exact_step(x->x))
        return true;
    pipe_exact_result(x->x, &r);
    s->goal.evaluations += r.transitions;
    if (r.found)
        pipe_search_priced(s, &r.plan, r.length_ms, out);
    s->done = true;
    s->proven = r.certified;
    return r.found;
}

const struct pipe_search_ops pipe_ops_random = {
    .start = no_start, .stop = free_self, .step = random_step};
const struct pipe_search_ops pipe_ops_greedy = {
    .start = greedy_start, .stop = free_self, .step = greedy_step};
const struct pipe_search_ops pipe_ops_enumerate = {
    .start = enumerate_start, .stop = free_self, .step = enumerate_step};
const struct pipe_search_ops pipe_ops_descent = {
    .start = descent_start, .stop = free_self, .step = descent_step};
const struct pipe_search_ops pipe_ops_exact = {
    .start = exact_start, .stop = exact_stop, .step = exact_step};
