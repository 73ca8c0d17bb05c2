#include "engine/live/snapshot.h"
#include "engine/decide/classes.h"
#include "engine/live/ledger.h"
#include "engine/live/pins_and_undo.h"
#include "engine/live/search_state.h"
#include "engine/live/series.h"
#include "engine/live/watched.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/mem.h"
#include "rl/agent.h"
#include "rl/agent_state.h"

#include <string.h>

struct live_problem *live_problem_share(struct live_problem *p)
{
    if (p)
        atomic_fetch_add(&p->references, 1);
    return p;
}

void live_problem_release(struct live_problem *p)
{
    if (!p || atomic_fetch_sub(&p->references, 1) != 1)
        return;
    problem_release(&p->problem);
    free(p->edits);
    free(p);
}

struct live_plan *live_plan_share(struct live_plan *p)
{
    if (p)
        atomic_fetch_add(&p->references, 1);
    return p;
}

bool live_plan_equal(const struct live_plan *a, const struct live_plan *b)
{
    return a->count == b->count && !memcmp(a->on, b->on, a->count * sizeof *a->on);
}

void live_plan_release(struct live_plan *p)
{
    if (p && atomic_fetch_sub(&p->references, 1) == 1)
        free(p);
}

void live_plan_replace(struct live_plan **at, struct live_plan *with)
{
    live_plan_release(*at);
    *at = with;
}

static void *copy_array(const void *from, size_t count, size_t size)
{
    void *copy = mem_try(count, size);

    if (copy && count)
        memcpy(copy, from, count * size);
    return copy;
}

struct live_moves *live_moves_new(const struct game *g)
{
    struct live_moves *m = mem_try(1, sizeof *m);
    size_t classes = g->problem->classes.count;

    if (!m)
        return NULL;
    atomic_init(&m->references, 1);
    m->count = g->move_count;
    m->axes = g->problem->mesh.axes;
    m->items = copy_array(g->moves, g->move_count, sizeof *m->items);
    m->pool = copy_array(g->pool, g->pool_count, sizeof *m->pool);
    m->of = copy_array(g->move_of, classes * m->axes, sizeof *m->of);
    if (m->items && m->pool && m->of)
        return m;
    live_moves_release(m);
    return NULL;
}

struct live_moves *live_moves_share(struct live_moves *m)
{
    atomic_fetch_add(&m->references, 1);
    return m;
}

void live_moves_release(struct live_moves *m)
{
    if (!m || atomic_fetch_sub(&m->references, 1) != 1)
        return;
    free(m->items);
    free(m->pool);
    free(m->of);
    free(m);
}

const struct snapshot *snapshot_keep(const struct snapshot *s)
{
    if (s)
        atomic_fetch_add(&((struct snapshot *)(uintptr_t)s)->references, 1);
    return s;
}

void snapshot_release(const struct snapshot *shared)
{
    struct snapshot *s = (struct snapshot *)(uintptr_t)shared;

    if (!s || atomic_fetch_sub(&s->references, 1) != 1)
        return;
    free(s->status);
    free(s->last);
    free(s->wave);
    free(s->pins);
    live_moves_release(s->moves);
    live_plan_release(s->best);
    live_plan_release(s->exact);
    for (uint32_t n = 0; n < s->plan_count; n++)
        live_plan_release(s->plans[n]);
    series_release(&s->reward);
    series_release(&s->best_ms);
    series_release(&s->loss_curve);
    series_release(&s->epsilon_curve);
    series_release(&s->progress);
    log_release(&s->log);
    ledger_release(s->ledger);
    live_problem_release(s->edited);
    live_lesson_release(s->lesson);
    free(s);
}

static void fill_counts(const struct search_state *c, struct snapshot *s)
{
    s->steps = c->steps;
    s->decisions = c->decisions;
    s->updates = c->updates;
    s->episodes = search_state_episodes(c);
    s->evaluations = search_evaluations(c->search);
    s->conflicts = search_conflicts(c->search);
    s->seconds = c->seconds;
    s->decisions_per_s = c->seconds > 0 ? (double)c->decisions / c->seconds : 0;
    s->episodes_per_s = c->seconds > 0 ? (double)s->episodes / c->seconds : 0;
    s->loss = c->loss;
    s->fine_tuning = c->event.fine_tuning;
    memcpy(s->stage, c->stage, sizeof s->stage);
    struct rl_agent *agent = search_agent(c->search);
    s->epsilon = agent ? rl_agent_epsilon(agent) : 0;
    s->baseline_ms = c->baseline_ms;
    s->acts = c->act_number;
    s->journal_ended = c->journal_ended;
    for (uint32_t n = c->act; n; n = c->acts[n].from)
        s->undoable++;
    for (uint32_t n = c->acts[c->act].next; n != ACT_NONE; n = c->acts[n].next)
        s->redoable++;
}

static bool fill_position(struct search_state *c, struct snapshot *s)
{
    const struct game *g = search_game(c->search);
    size_t wave = g->state.trail_count > g->wave ? g->state.trail_count - g->wave : 0;

    s->status = mem_try(g->move_count, 1);
    s->last = mem_try(g->move_count, 1);
    s->wave = mem_try(wave, sizeof *s->wave);
    if (!s->status || !s->last || !s->wave)
        return false;
    for (uint32_t n = 0; n < g->move_count; n++)
        s->status[n] = (int8_t)game_status(g, n);
    if (g->move_count)
        memcpy(s->last, c->last, g->move_count);
    s->position = g->position;
    s->step_ms = game_step_ms(g);
    s->wave_move = c->event.move;
    for (size_t n = 0; n < wave; n++) {
        class_id k = g->state.trail[g->wave + n].class;
        s->wave[s->wave_count++] = (struct live_change){k, g->state.on[k], g->state.off[k]};
    }
    if (game_is_over(g))
        return true;
    live_prices(c->search, s->price);
    s->has_q = search_q(c->search, s->q);
    struct rl_agent *agent = search_agent(c->search);
    if (agent)
        memcpy(s->visits, rl_agent_visits(agent, g->position), sizeof s->visits);
    return true;
}

static bool fill_pins(const struct search_state *c, struct snapshot *s)
{
    const struct act *a = &c->acts[c->act];

    s->pins = mem_try(a->pin_count, sizeof *s->pins);
    for (uint32_t n = 0; s->pins && n < a->pin_count; n++)
        s->pins[s->pin_count++] =
            (struct live_pin){a->pins[n].move, a->pins[n].pin.split, a->pins[n].act,
                              a->pins[n].pin.class, a->pins[n].pin.axis};
    return s->pins;
}

static bool is_worse(const struct live_plan *a, const struct live_plan *b)
{
    return a->fits != b->fits ? !a->fits : a->cost.step_ms > b->cost.step_ms;
}

static void fill_plans(const struct search_state *c, struct snapshot *s)
{
    struct live_plan *all[] = {c->best, c->exact, c->batch, c->before};

    s->best = live_plan_share(c->best);
    s->exact = live_plan_share(c->exact);
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        uint32_t at = s->plan_count;
        if (!all[n])
            continue;
        for (; at && is_worse(s->plans[at - 1], all[n]); at--)
            s->plans[at] = s->plans[at - 1];
        s->plans[at] = live_plan_share(all[n]);
        s->plan_count++;
    }
}

struct snapshot *search_state_snapshot(struct search_state *c)
{
    struct snapshot *s = mem_try(1, sizeof *s);

    if (!s)
        return NULL;
    atomic_init(&s->references, 1);
    s->problem = c->problem;
    s->edited = live_problem_share(c->acts[c->act].edited);
    s->moves = live_moves_share(c->moves);
    s->options = c->options;
    s->state = c->state;
    memcpy(s->trouble, c->trouble, sizeof s->trouble);
    s->pace = c->pace;
    s->reward = series_share(&c->reward);
    s->best_ms = series_share(&c->best_ms);
    s->loss_curve = series_share(&c->loss_curve);
    s->epsilon_curve = series_share(&c->epsilon_curve);
    s->progress = series_share(&c->progress);
    s->log = log_share(&c->log);
    s->ledger = ledger_share(c->ledger);
    s->lesson = live_lesson_share(c->lesson);
    s->began = c->past_episodes;
    s->run_before = c->run_before;
    fill_counts(c, s);
    fill_plans(c, s);
    if (fill_position(c, s) && fill_pins(c, s))
        return s;
    snapshot_release(s);
    return NULL;
}
