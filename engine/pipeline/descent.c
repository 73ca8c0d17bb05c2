#include "engine/pipeline/descent.h"

#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/space.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static bool is_allowed(const struct pipe_goal *g, const struct pipe_plan *p)
{
    const uint32_t *variables = g->in->variables;

    if (g->stages && p->stages != g->stages)
        return false;
    for (uint32_t s = 0; s < p->stages; s++)
        if ((g->device_cut && !g->device_cut[p->device[s]]) ||
            !pipe_pins_allow(&g->pins, p->pivot[s], p->pivot[s + 1], p->device[s],
                             p->device[s + 1]) ||
            (g->variables && variables[p->pivot[s]] == variables[p->pivot[s + 1]]))
            return false;
    return true;
}

/* By how much the stages are over their limits, each in units of its own. */
static double overflow(const struct pipe_instance *in, const struct pipe_plan *p)
{
    double sum = 0;

    for (uint32_t s = 0; s < p->stages; s++) {
        double limit = pipe_memory_limit(in, p->device[s], p->device[s + 1]);
        double needs =
            pipe_stage_memory(in, p->pivot[s], p->pivot[s + 1], p->device[s], p->device[s + 1],
                              pipe_in_flight(&in->options, p->stages - s));
        sum += pipe_more(needs / limit - 1, 0);
    }
    return sum;
}

double pipe_goal_price(struct pipe_goal *g, const struct pipe_plan *p)
{
    g->evaluations++;
    if (!is_allowed(g, p))
        return INFINITY;
    if (!pipe_fits(g->in, p))
        return PIPE_UNFIT_MS * (1 + overflow(g->in, p));
    return g->simulate ? pipe_makespan(g->in, p, g->in->options.schedule) : pipe_length(g->in, p);
}

/* ---- moves ---- */
/* Of the cut before stage s: what is added to its pivot, its device, the pivot behind it. */
static const struct move {
    int8_t pivot, device, next_pivot;
    bool join;
} moves[] = {
    {.pivot = 1},
    {.pivot = -1},
    {.pivot = 2},
    {.pivot = -2},
    {.pivot = 4},
    {.pivot = -4},
    {.pivot = 8},
    {.pivot = -8},
    {.device = 1},
    {.device = -1},
    {.device = 2},
    {.device = -2},
    {.pivot = 1, .next_pivot = 1},
    {.pivot = -1, .next_pivot = -1},
    {.pivot = 1, .next_pivot = -1},
    {.pivot = -1, .next_pivot = 1},
    {.join = true},
};
enum { MOVES = sizeof moves / sizeof *moves };

static void join_stages(struct pipe_plan *p, uint32_t s)
{
    uint32_t behind = p->stages - s;

    memmove(&p->pivot[s], &p->pivot[s + 1], behind * sizeof *p->pivot);
    memmove(&p->device[s], &p->device[s + 1], behind * sizeof *p->device);
    p->stages--;
}

static void shift_index(uint32_t *at, int by)
{
    *at = (uint32_t)((int64_t)*at + by); /* below 0 it is past every end, so no valid plan */
}

/* Move number n of a round over all cuts. False: it is impossible. */
static bool make_move(const struct pipe_instance *in, struct pipe_plan *p, uint32_t n)
{
    const struct move *m = &moves[n % MOVES];
    uint32_t s = 1 + n / MOVES;

    if (m->next_pivot && s + 1 == p->stages)
        return false;
    if (m->join)
        join_stages(p, s);
    shift_index(&p->pivot[s], m->pivot);
    shift_index(&p->device[s], m->device);
    if (m->next_pivot)
        shift_index(&p->pivot[s + 1], m->next_pivot);
    return pipe_plan_is_valid(in, p);
}

void pipe_descent_start(struct pipe_descent *d, const struct pipe_plan *p, double value)
{
    *d = (struct pipe_descent){.plan = *p, .value = value};
}

bool pipe_descent_step(struct pipe_descent *d, struct pipe_goal *g, struct pipe_plan *tried,
                       double *value)
{
    uint32_t round = (d->plan.stages - 1) * MOVES;

    while (d->failed < round) {
        struct pipe_plan p = d->plan;
        uint32_t n = d->next++ % round;
        d->failed++;
        if (!make_move(g->in, &p, n))
            continue;
        *value = pipe_goal_price(g, &p);
        if (tried)
            *tried = p;
        if (*value < d->value * (1 - 1e-12)) {
            d->plan = p;
            d->value = *value;
            d->failed = 0;
        }
        return true;
    }
    return false;
}

static bool is_stopped(const struct pipe_goal *g)
{
    return g->stop && atomic_load_explicit(g->stop, memory_order_relaxed);
}

void pipe_descend(struct pipe_descent *d, struct pipe_goal *g, uint64_t most)
{
    double value;

    while ((!most || g->evaluations < most) && !is_stopped(g) &&
           pipe_descent_step(d, g, NULL, &value))
        ;
}

/* ---- the instant answer ---- */
static void equal_parts(const struct pipe_instance *in, struct pipe_plan *p)
{
    for (uint32_t s = 0; s <= p->stages; s++)
        p->device[s] = p->stages <= in->servers ? in->boundary[in->servers * s / p->stages]
                                                : (uint32_t)((uint64_t)in->devices * s / p->stages);
}

struct cut {
    uint32_t device, pivot;
};

static bool in_order(const struct cut *a, const struct pipe_pin *b)
{
    return a->device != b->device && a->pivot != b->pivot &&
           (a->device < b->device) == (a->pivot < b->pivot);
}

/* In order of devices; a pin given twice is one. */
static void add_cut(struct cut *cuts, uint32_t *count, struct cut c)
{
    uint32_t at = *count;

    for (uint32_t n = 0; n < *count; n++)
        if (cuts[n].device == c.device)
            return;
    ++*count;
    for (; at && cuts[at - 1].device > c.device; at--)
        cuts[at] = cuts[at - 1];
    cuts[at] = c;
}

/* The pins, and of the plan's own cuts those that stand in order with all of them; of these, where
 * the number of stages is given, no more than it allows, from the first on. */
static void keep_pins(const struct pipe_goal *g, struct pipe_plan *p)
{
    struct cut cuts[2 * PIPE_STAGES_MOST];
    uint32_t count = 0, room = g->stages ? g->stages - 1 : PIPE_STAGES_MOST - 1;
    const struct pipe_pins *pins = &g->pins;

    if (!pins->count || pins->count > room)
        return;
    for (uint32_t n = 0; n < pins->count; n++)
        add_cut(cuts, &count, (struct cut){pins->pin[n].device, pins->pin[n].pivot});
    for (uint32_t s = 1; s < p->stages && count < room; s++) {
        struct cut own = {p->device[s], p->pivot[s]};
        bool fits = true;
        for (uint32_t n = 0; n < pins->count && fits; n++)
            fits = in_order(&own, &pins->pin[n]);
        if (fits)
            add_cut(cuts, &count, own);
    }
    p->stages = count + 1;
    for (uint32_t s = 0; s < count; s++) {
        p->device[s + 1] = cuts[s].device;
        p->pivot[s + 1] = cuts[s].pivot;
    }
    p->device[p->stages] = g->in->devices;
    p->pivot[p->stages] = g->in->points;
}

uint32_t pipe_beginnings(const struct pipe_goal *g, struct pipe_plan *out, uint32_t room)
{
    const struct pipe_instance *in = g->in;
    double m = in->options.micro_batches, ratio = pipe_more((m - 1) / m, 0.5);
    uint32_t most = in->servers > 4 ? 2 * in->servers : 8, count = 0;

    most = most < in->devices ? most : in->devices;
    for (uint32_t s = g->stages ? g->stages : 1; s <= (g->stages ? g->stages : most); s++) {
        for (int by_speed = 0; by_speed < (s > 1 ? 2 : 1) && count < room; by_speed++) {
            out[count].stages = s;
            equal_parts(in, &out[count]);
            if (!pipe_pivots_by_share(in, &out[count], by_speed ? 1 : ratio, 0.02))
                continue;
            keep_pins(g, &out[count++]);
        }
    }
    return count;
}

bool pipe_instant(struct pipe_goal *g, uint32_t tries, struct pipe_descent *out)
{
    enum { ROOM = 4 * PIPE_DEVICES_MOST };
    struct pipe_plan *begin = mem_alloc(ROOM * sizeof *begin);
    double *value = mem_alloc(ROOM * sizeof *value);
    uint32_t count = pipe_beginnings(g, begin, ROOM);
    bool found = false;

    for (uint32_t n = 0; n < count; n++)
        value[n] = pipe_goal_price(g, &begin[n]);
    for (uint32_t t = 0; t < tries && count; t++) {
        struct pipe_descent d;
        uint32_t best = 0;
        for (uint32_t n = 1; n < count; n++)
            best = value[n] < value[best] ? n : best;
        if (isinf(value[best]))
            break;
        pipe_descent_start(&d, &begin[best], value[best]);
        pipe_descend(&d, g, 0);
        if (d.value < PIPE_UNFIT_MS && (!found || d.value < out->value))
            *out = d;
        found |= d.value < PIPE_UNFIT_MS;
        value[best] = INFINITY;
    }
    free(begin);
    free(value);
    return found;
}
