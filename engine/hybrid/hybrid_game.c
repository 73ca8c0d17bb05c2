#include "engine/hybrid/hybrid_game.h"

#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/env.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

enum { ENDS_MOST = 1 << 26, SCALARS = 5, CUT_ACTIONS = 2 * HYBRID_CUT_RADIUS + 1 };
enum { NOT_ASKED, CAN_END, CANNOT_END };

static const float FEATURE_MOST = 8;

/* ---- the space ---- */

/* Where `share` of the work of the sections before `end` is done. */
static uint32_t at_work(const struct hybrid_space *s, uint32_t end, double share)
{
    uint32_t at = 0;

    while (at < end && s->work[at + 1] - share * s->work[end] < share * s->work[end] - s->work[at])
        at++;
    return at;
}

/* The section of an offset; false: there is none. */
static bool cut_at(uint32_t end, uint32_t anchor, uint32_t action, uint32_t *out)
{
    if (anchor + action < HYBRID_CUT_RADIUS || anchor + action - HYBRID_CUT_RADIUS >= end ||
        action >= CUT_ACTIONS)
        return false;
    *out = anchor + action - HYBRID_CUT_RADIUS;
    return true;
}

static uint32_t anchor_of(const struct hybrid_space *s, uint32_t end_section, uint32_t end_device,
                          uint32_t devices)
{
    return at_work(s, end_section, 1 - (double)devices / end_device);
}

/* Within the memory as the k-th stage from the end, in the schedule that holds least. */
static bool fits(const struct hybrid_space *s, const struct hybrid_level *l, uint32_t slot,
                 const struct hybrid_point *p, uint32_t k)
{
    struct pipe_options o = l->in->options;

    o.schedule = s->schedule < 0 ? PIPE_1F1B : (enum pipe_schedule_kind)s->schedule;
    return hybrid_point_bytes(p, pipe_in_flight(&o, k)) <= l->in->slot[slot].limit_bytes;
}

/* A stage [i, j) before device `end`, the k-th from the end. shape UINT32_MAX: any. */
static bool is_possible(const struct hybrid_space *s, const struct hybrid_level *l, uint32_t slot,
                        uint32_t shape, uint32_t i, uint32_t j, uint32_t end, uint32_t k)
{
    const struct hybrid_front *f = hybrid_front_of(l->in, slot, i, j);

    if (!hybrid_may_be(l->in, slot, i, j, end - l->in->slot[slot].devices))
        return false;
    for (uint32_t n = f->first; n < f->first + f->count; n++)
        if ((shape == UINT32_MAX || l->rows->row_shape[l->in->points[n].row] == shape) &&
            fits(s, l, slot, &l->in->points[n], k))
            return true;
    return false;
}

static bool can_have(const struct hybrid_level *l, uint32_t slot, uint32_t end)
{
    uint32_t d = l->in->slot[slot].devices;

    return d <= end && hybrid_can_begin(l->in, end - d, slot);
}

/* Sections before j and devices before b can be the stages before k others. Each state is worked
 * out once; the depth is that of the stages. */
static bool can_end(const struct hybrid_space *s, const struct hybrid_level *l, uint32_t k,
                    uint32_t j, uint32_t b)
{
    const struct hybrid_instance *in = l->in;
    uint32_t i;

    if (!j)
        return !s->stages || k == s->stages;
    if (!b || k >= s->stages_most)
        return false;
    uint8_t *known = &l->ends[((size_t)k * (in->sections + 1) + j) * ((size_t)in->devices + 1) + b];
    if (*known != NOT_ASKED)
        return *known == CAN_END;
    *known = CANNOT_END;
    for (uint32_t slot = 0; slot < in->slots && *known == CANNOT_END; slot++) {
        uint32_t d = in->slot[slot].devices;
        if (!can_have(l, slot, b))
            continue;
        uint32_t anchor = anchor_of(s, j, b, d);
        for (uint32_t a = 0; a < CUT_ACTIONS && *known == CANNOT_END; a++)
            if (cut_at(j, anchor, a, &i) && is_possible(s, l, slot, UINT32_MAX, i, j, b, k + 1) &&
                can_end(s, l, k + 1, i, b - d))
                *known = CAN_END;
    }
    return *known == CAN_END;
}

/* Of each section the least time times devices of any stage that is this section alone. */
static void add_work(struct hybrid_space *s)
{
    const struct hybrid_instance *in = s->level[0].in;
    double mean = 0;

    for (uint32_t n = 0; n < in->sections; n++) {
        double least = INFINITY;
        for (uint32_t slot = 0; slot < in->slots; slot++) {
            const struct hybrid_front *f = hybrid_front_of(in, slot, n, n + 1);
            if (f->count)
                least = fmin(least, in->points[f->first].both_ms * in->slot[slot].devices);
        }
        least = least < INFINITY ? least : mean / (n ? n : 1);
        mean += least;
        s->work[n + 1] = s->work[n] + least;
    }
}

/* What rewards are measured in. */
static void find_bound(struct hybrid_space *s)
{
    s->bound_ms = INFINITY;
    for (uint32_t n = 0; n < s->levels; n++)
        if (s->level[n].bound_ms > 0)
            s->bound_ms = fmin(s->bound_ms, s->level[n].bound_ms);
    if (s->bound_ms == INFINITY) {
        const struct hybrid_instance *in = s->level[0].in;
        s->bound_ms = in->options.micro_batches * s->work[in->sections] / in->devices;
    }
    if (!(s->bound_ms > 0))
        s->bound_ms = 1;
}

int hybrid_space_new(struct hybrid_space *s, struct err *e)
{
    const struct hybrid_instance *in = s->level[0].in;
    bool can = false;

    s->stages_most = in->sections < in->devices ? in->sections : in->devices;
    if (s->stages_most > HYBRID_STAGES_MOST)
        s->stages_most = HYBRID_STAGES_MOST;
    size_t states = (size_t)(s->stages_most + 1) * (in->sections + 1) * ((size_t)in->devices + 1);
    if (states > ENDS_MOST)
        return err_set(e, ERR_LIMIT,
                       "%u sections on %u devices are too many to decide one by one; "
                       "--algo exact and uniform take them",
                       in->sections, in->devices);
    s->work = mem_try((size_t)in->sections + 1, sizeof *s->work);
    if (!s->work)
        goto no_memory;
    add_work(s);
    find_bound(s);
    for (uint32_t n = 0; n < s->levels; n++) {
        s->level[n].ends = mem_try(states, 1);
        if (!s->level[n].ends)
            goto no_memory;
        can |= can_end(s, &s->level[n], 0, in->sections, in->devices);
    }
    return can ? 0
               : err_set(e, ERR_INFEASIBLE,
                         "no hybrid plan with cuts near equal shares fits the memory and the pins");
no_memory:
    return err_no_memory(e, "for the game of hybrid plans");
}

void hybrid_space_release(struct hybrid_space *s)
{
    for (uint32_t n = 0; n < s->levels; n++)
        free(s->level[n].ends);
    free(s->work);
    *s = (struct hybrid_space){0};
}

/* ---- the points left ---- */

static const struct hybrid_level *level_of(const struct hybrid_game *g)
{
    return &g->space->level[g->level];
}

static uint32_t slot_of(const struct hybrid_game *g, uint32_t shape)
{
    return level_of(g)->rows->shape[shape].slot;
}

static label label_of(const struct hybrid_game *g, uint32_t point, uint32_t class)
{
    const struct stage_tables *t = level_of(g)->rows;

    return t->labels[(size_t)level_of(g)->in->points[point].row * t->row_size + class];
}

/* A point of the stage decided so far: its shape, within memory, labels as decided. */
static bool is_left(const struct hybrid_game *g, uint32_t point)
{
    const struct hybrid_level *l = level_of(g);

    if (l->rows->row_shape[l->in->points[point].row] != g->shape ||
        !fits(g->space, l, slot_of(g, g->shape), &l->in->points[point], g->stages + 1))
        return false;
    for (uint32_t n = 0; n < g->class; n++)
        if (label_of(g, point, n) != label_of(g, g->like, n))
            return false;
    return true;
}

static const struct hybrid_front *front_of(const struct hybrid_game *g)
{
    return hybrid_front_of(level_of(g)->in, slot_of(g, g->shape), g->section, g->end_section);
}

static double stage_ms(const struct hybrid_game *g, uint32_t point)
{
    const struct hybrid_instance *in = level_of(g)->in;

    return in->options.micro_batches * in->points[point].both_ms + in->points[point].reduce_ms;
}

/* What is chosen among the points left by an action: a label, or the n-th of them. */
static bool is_meant(const struct hybrid_game *g, uint32_t point, uint32_t number, uint32_t action)
{
    return g->next == HYBRID_DECIDES_LABEL ? label_of(g, point, g->class) == action
                                           : number == action;
}

/* Of the points that an action leaves the one of least M (F + B) + R; UINT32_MAX: none. */
static uint32_t best_left(const struct hybrid_game *g, uint32_t action)
{
    const struct hybrid_front *f = front_of(g);
    uint32_t best = UINT32_MAX, number = 0;

    for (uint32_t n = f->first; n < f->first + f->count; n++) {
        if (!is_left(g, n))
            continue;
        if ((g->next < HYBRID_DECIDES_LABEL || is_meant(g, n, number, action)) &&
            (best == UINT32_MAX || stage_ms(g, n) < stage_ms(g, best)))
            best = n;
        number++;
    }
    return best;
}

/* ---- legal ---- */

static uint32_t action_count(const struct hybrid_space *s)
{
    uint32_t most = CUT_ACTIONS, shapes = s->level[0].rows->shapes;

    most = shapes > most ? shapes : most;
    return s->levels > most ? s->levels : most;
}

static bool is_cut_legal(const struct hybrid_game *g, uint32_t shape, uint32_t action,
                         uint32_t *section)
{
    const struct hybrid_level *l = level_of(g);
    uint32_t slot = slot_of(g, shape), d = l->in->slot[slot].devices;
    uint32_t anchor = anchor_of(g->space, g->end_section, g->end_device, d);

    return cut_at(g->end_section, anchor, action, section) &&
           is_possible(g->space, l, slot, shape, *section, g->end_section, g->end_device,
                       g->stages + 1) &&
           can_end(g->space, l, g->stages + 1, *section, g->end_device - d);
}

static uint64_t legal_cuts(const struct hybrid_game *g, uint32_t shape)
{
    uint64_t out = 0;
    uint32_t section;

    for (uint32_t a = 0; a < CUT_ACTIONS; a++)
        if (is_cut_legal(g, shape, a, &section))
            out |= (uint64_t)1 << a;
    return out;
}

static uint64_t legal_points(const struct hybrid_game *g)
{
    const struct hybrid_front *f = front_of(g);
    uint64_t out = 0;
    uint32_t number = 0;

    for (uint32_t n = f->first; n < f->first + f->count && number < action_count(g->space); n++)
        if (is_left(g, n))
            out |= (uint64_t)1 << (g->next == HYBRID_DECIDES_LABEL ? label_of(g, n, g->class)
                                                                   : number++);
    return out;
}

uint64_t hybrid_game_legal(const struct hybrid_game *g)
{
    const struct hybrid_space *s = g->space;
    uint64_t out = 0;

    switch (g->next) {
    case HYBRID_DECIDES_MICRO:
        for (uint32_t n = 0; n < s->levels; n++)
            if (can_end(s, &s->level[n], 0, g->end_section, g->end_device))
                out |= (uint64_t)1 << n;
        return out;
    case HYBRID_DECIDES_MESH:
        for (uint32_t n = 0; n < level_of(g)->rows->shapes; n++)
            if (can_have(level_of(g), slot_of(g, n), g->end_device) && legal_cuts(g, n))
                out |= (uint64_t)1 << n;
        return out;
    case HYBRID_DECIDES_CUT:
        return legal_cuts(g, g->shape);
    default:
        return legal_points(g);
    }
}

/* ---- play ---- */

/* Stages were decided from the last; a plan has them in order. */
static void finish_plan(struct hybrid_game *g)
{
    struct hybrid_plan *p = &g->plan;

    *p = (struct hybrid_plan){.stages = g->stages};
    for (uint32_t n = 0; n < g->stages; n++) {
        uint32_t at = g->stages - 1 - n;
        p->cut[at] = g->stage[n].section;
        p->device[at] = g->stage[n].device;
        p->slot[at] = g->stage[n].slot;
        p->point[at] = g->stage[n].point;
    }
    p->cut[g->stages] = level_of(g)->in->sections;
    p->device[g->stages] = level_of(g)->in->devices;
    g->next = HYBRID_DECIDES_NOTHING;
}

static void price_plan(struct hybrid_game *g)
{
    if (hybrid_game_is_over(g))
        g->step_ms = hybrid_plan_play(level_of(g)->in, &g->plan, g->space->schedule, &g->schedule);
}

static void add_stage(struct hybrid_game *g, uint32_t point)
{
    const struct hybrid_instance *in = level_of(g)->in;
    uint32_t slot = slot_of(g, g->shape);

    g->end_section = g->section;
    g->end_device -= in->slot[slot].devices;
    g->stage[g->stages].section = g->section;
    g->stage[g->stages].device = g->end_device;
    g->stage[g->stages].slot = slot;
    g->stage[g->stages++].point = point;
    g->longest_ms = pipe_more(g->longest_ms, in->options.micro_batches * in->points[point].both_ms);
    g->reduce_ms = pipe_more(g->reduce_ms, in->points[point].reduce_ms);
    g->next = HYBRID_DECIDES_MESH;
    if (!g->end_section)
        finish_plan(g);
}

static void take_action(struct hybrid_game *g, uint32_t action)
{
    switch (g->next) {
    case HYBRID_DECIDES_MICRO:
        g->level = action;
        g->next = HYBRID_DECIDES_MESH;
        return;
    case HYBRID_DECIDES_MESH:
        g->shape = action;
        g->next = HYBRID_DECIDES_CUT;
        return;
    case HYBRID_DECIDES_CUT:
        is_cut_legal(g, g->shape, action, &g->section);
        g->class = 0;
        g->next = g->space->sections->shared_count ? HYBRID_DECIDES_LABEL : HYBRID_DECIDES_POINT;
        return;
    case HYBRID_DECIDES_LABEL:
        g->like = best_left(g, action);
        if (++g->class == g->space->sections->shared_count)
            g->next = HYBRID_DECIDES_POINT;
        return;
    default:
        add_stage(g, best_left(g, action));
    }
}

/* What has one way only is no decision. */
static void go_on(struct hybrid_game *g)
{
    while (!hybrid_game_is_over(g)) {
        uint64_t legal = hybrid_game_legal(g);
        if (legal & (legal - 1))
            return;
        take_action(g, (uint32_t)__builtin_ctzll(legal));
    }
}

void hybrid_game_new(const struct hybrid_space *s, struct hybrid_game *out)
{
    *out = (struct hybrid_game){.space = s,
                                .end_section = s->level[0].in->sections,
                                .end_device = s->level[0].in->devices,
                                .step_ms = INFINITY};
    go_on(out);
    price_plan(out);
}

double hybrid_game_play(struct hybrid_game *g, uint32_t action)
{
    take_action(g, action);
    go_on(g);
    price_plan(g);
    return hybrid_game_is_over(g) && g->step_ms < INFINITY ? g->space->bound_ms / g->step_ms : 0;
}

uint32_t hybrid_game_usual(const struct hybrid_game *g, uint64_t legal)
{
    uint32_t first = (uint32_t)__builtin_ctzll(legal), best = first;

    if (g->next == HYBRID_DECIDES_MESH)
        return g->stages && legal >> g->shape & 1 ? g->shape : first;
    for (uint32_t a = first; a < 64; a++) {
        if (!(legal >> a & 1) || g->next == HYBRID_DECIDES_MICRO)
            continue;
        bool better = g->next == HYBRID_DECIDES_CUT
                          ? abs((int)a - HYBRID_CUT_RADIUS) < abs((int)best - HYBRID_CUT_RADIUS)
                          : stage_ms(g, best_left(g, a)) < stage_ms(g, best_left(g, best));
        best = better ? a : best;
    }
    return best;
}

/* Not priced. */
static void complete_plan(struct hybrid_game *g)
{
    while (!hybrid_game_is_over(g))
        take_action(g, hybrid_game_usual(g, hybrid_game_legal(g)));
}

void hybrid_game_complete(struct hybrid_game *g)
{
    if (hybrid_game_is_over(g))
        return;
    complete_plan(g);
    price_plan(g);
}

/* ---- what is seen ---- */

/* The stage that an action leads to, at its best: a game in which the cut is decided; false: the
 * action is of no stage. */
static bool look_ahead(const struct hybrid_game *g, uint32_t action, struct hybrid_game *out,
                       uint32_t *point)
{
    *out = *g;
    if (g->next == HYBRID_DECIDES_MICRO)
        return false;
    if (g->next >= HYBRID_DECIDES_LABEL) {
        *point = best_left(g, action);
        return *point != UINT32_MAX;
    }
    take_action(out, action);
    if (out->next == HYBRID_DECIDES_CUT)
        take_action(out, hybrid_game_usual(out, legal_cuts(out, out->shape)));
    out->next = HYBRID_DECIDES_CUT; /* all points */
    out->class = 0;
    *point = best_left(out, 0);
    return *point != UINT32_MAX;
}

/* The plan that an action usually leads to: its longest stage and transfer in all micro-batches,
 * one micro-batch through all stages, and the longest once-a-step part; in bounds, from `out` on.
 */
static void see_plan(const struct hybrid_game *g, uint32_t action, float *out)
{
    struct hybrid_game after = *g;
    double longest = 0, sum = 0, once = 0, transfer = 0, unit = 1 / g->space->bound_ms;

    take_action(&after, action);
    complete_plan(&after);
    const struct hybrid_instance *in = level_of(&after)->in;
    const struct hybrid_plan *p = &after.plan;
    double m = in->options.micro_batches;
    for (uint32_t n = 0; n < p->stages; n++) {
        const struct hybrid_point *x = &in->points[p->point[n]];
        longest = pipe_more(longest, x->both_ms);
        once = pipe_more(once, x->reduce_ms);
        sum += x->both_ms;
        if (!n)
            continue;
        struct pipe_node t =
            hybrid_link_node(in, p->cut[n], p->device[n], p->slot[n - 1], p->slot[n]);
        transfer = pipe_more(transfer, pipe_more(t.forward_ms, t.backward_ms));
        sum += t.forward_ms + t.backward_ms;
    }
    out[0] = (float)(m * longest * unit);
    out[1] = (float)(m * transfer * unit);
    out[2] = (float)(sum * unit);
    out[3] = (float)(once * unit);
}

static void see_action(const struct hybrid_game *g, uint32_t action,
                       float out[static HYBRID_FEATURES])
{
    const struct hybrid_space *s = g->space;
    struct hybrid_game after;
    uint32_t point;

    out[0] = 1;
    see_plan(g, action, out + 6);
    if (g->next == HYBRID_DECIDES_MICRO && s->level[action].bound_ms < INFINITY)
        out[1] = (float)(s->level[action].bound_ms / s->bound_ms);
    if (!look_ahead(g, action, &after, &point))
        return;
    const struct hybrid_instance *in = level_of(g)->in;
    const struct hybrid_point *p = &in->points[point];
    uint32_t slot = slot_of(&after, after.shape), d = in->slot[slot].devices;
    uint32_t begin = g->end_device - d;
    struct pipe_options o = in->options;
    double m = o.micro_batches, limit = in->slot[slot].limit_bytes;
    o.schedule = PIPE_1F1B;
    out[1] = (float)(m * p->both_ms / s->bound_ms);
    out[2] = (float)(p->reduce_ms / s->bound_ms);
    out[3] =
        (float)(limit < INFINITY ? hybrid_point_bytes(p, pipe_in_flight(&o, g->stages + 1)) / limit
                                 : 0);
    if (begin >= d && hybrid_can_begin(in, begin - d, slot)) {
        struct pipe_node t = hybrid_link_node(in, after.section, begin, slot, slot);
        out[4] = (float)(m * pipe_more(t.forward_ms, t.backward_ms) / s->bound_ms);
    }
    double mean = s->work[in->sections] / in->devices;
    out[5] = begin ? (float)(s->work[after.section] / begin / mean) : 0;
}

/* The kind of a decision; of labels one for each class. */
static uint32_t context_of(const struct hybrid_game *g)
{
    if (g->next == HYBRID_DECIDES_LABEL)
        return HYBRID_DECISIONS + g->class;
    return g->next;
}

static uint32_t contexts(const struct hybrid_space *s)
{
    return HYBRID_DECISIONS + s->sections->shared_count;
}

static void env_observe(void *self, float *out)
{
    const struct hybrid_game *g = self;
    const struct hybrid_space *s = g->space;
    const struct hybrid_instance *in = s->level[0].in;
    uint32_t actions = action_count(s);
    float *at = out + (size_t)HYBRID_FEATURES * actions;

    memset(out, 0, ((size_t)HYBRID_FEATURES * actions + SCALARS + contexts(s)) * sizeof *out);
    at[0] = (float)g->end_section / (float)in->sections;
    at[1] = (float)g->end_device / (float)in->devices;
    at[2] = (float)g->stages / (float)s->stages_most;
    at[3] = (float)(g->longest_ms / s->bound_ms);
    at[4] = (float)(g->reduce_ms / s->bound_ms);
    at[SCALARS + context_of(g)] = 1;
    if (hybrid_game_is_over(g))
        return;
    uint64_t legal = hybrid_game_legal(g);
    for (uint32_t a = 0; a < actions; a++) {
        float seen[HYBRID_FEATURES] = {0};
        if (!(legal >> a & 1))
            continue;
        see_action(g, a, seen);
        for (uint32_t f = 0; f < HYBRID_FEATURES; f++)
            out[f * actions + a] = fminf(seen[f], FEATURE_MOST);
    }
}

/* ---- for the learner ---- */

static void env_reset(void *self, struct rl_rng *rng)
{
    struct hybrid_game *g = self;

    (void)rng;
    hybrid_game_new(g->space, g);
}

static struct rl_outcome env_step(void *self, uint32_t action, struct rl_rng *rng)
{
    double reward = hybrid_game_play(self, action);

    (void)rng;
    return (struct rl_outcome){(float)reward,
                               hybrid_game_is_over(self) ? RL_TERMINATED : RL_GOES_ON};
}

static void env_legal(void *self, uint64_t *out)
{
    const struct hybrid_game *g = self;

    *out = hybrid_game_is_over(g) ? 1 : hybrid_game_legal(g);
}

static uint32_t env_context(void *self)
{
    return context_of(self);
}

struct rl_env hybrid_game_env(struct hybrid_game *g)
{
    uint32_t actions = action_count(g->space);

    return (struct rl_env){
        .self = g,
        .observation_size = HYBRID_FEATURES * actions + SCALARS + contexts(g->space),
        .action_count = actions,
        .context_count = contexts(g->space),
        .reset = env_reset,
        .step = env_step,
        .observe = env_observe,
        .legal = env_legal,
        .context = env_context,
    };
}
