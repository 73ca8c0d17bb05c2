#include "engine/live/outcome.h"

#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/live/pins_and_undo.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void mark_new(const struct strict *s, size_t mark, class_id asked, enum plan_by by,
                     struct plan *out)
{
    for (size_t n = mark; n < s->trail_count; n++) {
        class_id k = s->trail[n].class;
        if (out->by[k] == PLAN_BY_NOBODY || k == asked)
            out->by[k] = k == asked ? (uint8_t)by : PLAN_BY_PROPAGATION;
    }
}

static void play_pin(struct strict *s, class_id k, uint32_t axis, bool split, struct plan *out)
{
    size_t mark = strict_mark(s);

    (void)strict_decide(s, k, axis, split, NULL);
    mark_new(s, mark, k, PLAN_BY_PIN, out);
    out->by[k] = PLAN_BY_PIN;
}

/* Decides what is open as `on` says, in the order of the game. */
static void play_moves(const struct game_move *moves, uint32_t count, const class_id *pool,
                       const label *on, struct strict *s, struct plan *out)
{
    for (uint32_t n = 0; n < count; n++) {
        const struct game_move *m = &moves[n];
        for (uint32_t j = 0; j < m->class_count; j++) {
            class_id k = pool[m->classes + j];
            size_t mark = strict_mark(s);
            if (strict_status(s, k, m->axis) >= 0)
                continue;
            (void)strict_decide(s, k, m->axis, on[k] >> m->axis & 1, NULL);
            mark_new(s, mark, k, PLAN_BY_DECISION, out);
        }
    }
}

/* Plans of another space split what no move of this search decides. */
static void play_rest(const struct problem *p, const label *on, struct strict *s, struct plan *out)
{
    for (class_id k = 0; k < p->classes.count; k++) {
        for (uint32_t x = 0; x < p->mesh.axes; x++) {
            size_t mark = strict_mark(s);
            if (!(on[k] >> x & 1) || strict_status(s, k, x) >= 0)
                continue;
            (void)strict_decide(s, k, x, true, NULL);
            mark_new(s, mark, k, PLAN_BY_DECISION, out);
        }
    }
}

/* As plans and reports have it: 0 for none. */
static double limit_of(const struct problem *p, const struct game_options *o)
{
    return o->memory_limit != 0 ? game_limit_bytes(p, o) : 0;
}

int outcome_plan_shown(const struct snapshot *shot, const struct live_plan *shown, struct plan *out,
                       struct err *e)
{
    const struct problem *p = shot->problem;
    struct strict s;
    int rc = strict_new(&p->labels, &s, e);

    if (rc)
        return rc;
    rc = plan_from_strict(p, &s, PLAN_BY_NOBODY, out, e);
    if (rc)
        goto out;
    for (uint32_t n = 0; n < shot->pin_count; n++)
        play_pin(&s, shot->pins[n].class, shot->pins[n].axis, shot->pins[n].split, out);
    play_moves(shot->moves->items, shot->moves->count, shot->moves->pool, shown->on, &s, out);
    play_rest(p, shown->on, &s, out);
    memcpy(out->on, shown->on, shown->count * sizeof *out->on);
    for (class_id k = 0; k < shown->count; k++)
        out->decided[k] = (label)(s.on[k] | s.off[k]);
    out->cost = step_tables_cost(&p->step_tables, out->on);
    out->seed = shot->options.seed;
    out->memory_limit = limit_of(p, &shot->options.game);
    snprintf(out->found_by, sizeof out->found_by, "%s", shown->found_by);
    if (shot->exact && shot->exact->proven && shot->exact->fits &&
        shot->options.game.reward == GAME_REWARD_COST)
        out->bound_ms = shot->exact->cost.step_ms;
out:
    strict_release(&s);
    return rc;
}

int outcome_plan(const struct search_state *c, struct plan *out, struct err *e)
{
    const struct problem *p = c->problem;
    const struct live_plan *best = c->best;
    struct strict s;
    int rc;

    if (!best)
        return err_set(e, ERR_INFEASIBLE, "the search has found no plan yet");
    rc = strict_new(&p->labels, &s, e);
    if (rc)
        return rc;
    rc = plan_from_strict(p, &s, PLAN_BY_NOBODY, out, e);
    if (rc)
        goto out;
    const struct act *a = &c->acts[c->act];
    const struct game *g = search_game(c->search);
    for (uint32_t n = 0; n < a->pin_count; n++)
        play_pin(&s, a->pins[n].pin.class, a->pins[n].pin.axis, a->pins[n].pin.split, out);
    play_moves(g->moves, g->move_count, g->pool, best->on, &s, out);
    memcpy(out->on, best->on, best->count * sizeof *out->on);
    for (class_id k = 0; k < best->count; k++) {
        out->decided[k] = (label)(s.on[k] | s.off[k]);
        if (c->stage_1 && c->stage_1->on[k] != best->on[k])
            out->by[k] = PLAN_BY_FINE_TUNING;
    }
    out->cost = step_tables_cost(&p->step_tables, out->on);
    out->seed = c->options.seed;
    out->memory_limit = limit_of(p, &c->options.game);
    snprintf(out->found_by, sizeof out->found_by, "%s", best->found_by);
    if (c->exact && c->exact->proven && c->exact->fits &&
        c->options.game.reward == GAME_REWARD_COST)
        out->bound_ms = c->exact->cost.step_ms;
out:
    strict_release(&s);
    return rc;
}

/* Local bytes of the variables. */
static double variable_bytes(const struct plan *plan)
{
    const struct problem *p = plan->problem;
    double bytes = 0;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        const struct hlo_shape *shape = hlo_value_shape(p->m, r->value);
        if (r->role != HLO_ROLE_VARIABLE)
            continue;
        double part = (double)shape->bytes;
        for (uint32_t d = 0; d < (uint32_t)shape->rank; d++) {
            class_id class = problem_param_class(p, k, d);
            if (class != CLASS_NONE && plan->on[class])
                part *= label_share(&p->labels, class, plan->on[class]);
        }
        bytes += part;
    }
    return bytes;
}

static void add_stage(const struct live_stage *s, cJSON *to)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddNumberToObject(o, "episodes", (double)s->episodes);
    cJSON_AddNumberToObject(o, "decisions", (double)s->decisions);
    cJSON_AddNumberToObject(o, "conflicts", (double)s->conflicts);
    cJSON_AddNumberToObject(o, "seconds", s->seconds);
    if (s->improved) {
        cJSON_AddNumberToObject(o, "seconds_to_best", s->seconds_to_best);
        cJSON_AddNumberToObject(o, "score", s->score);
        cJSON_AddNumberToObject(o, "step_time_ms", s->step_ms);
    }
    cJSON_AddItemToArray(to, o);
}

static void add_decisions(const struct plan *plan, cJSON *to)
{
    const struct problem *p = plan->problem;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        uint32_t rank = (uint32_t)hlo_value_shape(p->m, r->value)->rank;
        for (uint32_t d = 0; d < rank; d++) {
            class_id class = problem_param_class(p, k, d);
            if ((r->role != HLO_ROLE_VARIABLE && r->role != HLO_ROLE_INPUT) ||
                class == CLASS_NONE || !label_is_splittable(&p->labels, class))
                continue;
            cJSON *o = cJSON_CreateObject();
            cJSON_AddStringToObject(o, "variable", r->name);
            cJSON_AddNumberToObject(o, "dim", d);
            cJSON_AddNumberToObject(o, "status",
                                    plan->on[class]        ? 1
                                    : plan->decided[class] ? 0
                                                           : -1);
            cJSON_AddStringToObject(o, "by", plan_by_names[plan->by[class]]);
            cJSON_AddItemToArray(to, o);
        }
    }
}

static void add_optimum(const struct search_state *c, cJSON *o)
{
    if (!c->exact) {
        cJSON_AddNullToObject(o, "optimum");
        return;
    }
    cJSON *x = cJSON_AddObjectToObject(o, "optimum");
    bool paper = c->options.game.reward == GAME_REWARD_PAPER;
    cJSON_AddNumberToObject(x, "score", c->exact->score);
    cJSON_AddNumberToObject(x, "step_time_ms", c->exact->cost.step_ms);
    char scope[160];
    game_scope(&c->options.game, c->acts[c->act].pin_count, scope, sizeof scope);
    cJSON_AddBoolToObject(x, "proven", c->exact->proven);
    cJSON_AddStringToObject(x, "proven_scope", scope);
    cJSON_AddBoolToObject(x, "fits", c->exact->fits);
    if (c->exact->fits && c->best->fits)
        cJSON_AddNumberToObject(x, "gap",
                                paper ? 1 - c->best->score / c->exact->score
                                      : c->best->cost.step_ms / c->exact->cost.step_ms - 1);
    else
        cJSON_AddNullToObject(x, "gap");
}

static void add_memory(const struct search_state *c, const struct plan *plan, cJSON *o)
{
    double limit = limit_of(c->problem, &c->options.game);
    struct memory_cost memory;
    struct err e;

    cJSON_AddNumberToObject(o, "memory_bytes", variable_bytes(plan));
    if (!plan_memory(plan, &memory, &e))
        cJSON_AddNumberToObject(o, "peak_bytes", memory.peak);
    if (limit > 0)
        cJSON_AddNumberToObject(o, "memory_limit_bytes", limit);
    else
        cJSON_AddNullToObject(o, "memory_limit_bytes");
    cJSON_AddBoolToObject(o, "fits", c->best->fits);
}

/* Of a dqn: whose settings, what it sees, and how many episodes the network of all models played.
 */
static void add_player(const struct search_state *c, cJSON *o)
{
    const struct search_options *s = &c->options;
    bool led = search_is_continuous(s);

    if (s->algorithm != SEARCH_DQN)
        return;
    cJSON_AddStringToObject(o, "preset", s->paper ? "paper" : "default");
    cJSON_AddStringToObject(o, "state",
                            led                   ? "continuous"
                            : s->game.paper_state ? "paper"
                                                  : "one-hot");
    cJSON_AddStringToObject(o, "begun_by", led ? "the shipped policy" : "nobody, from scratch");
    cJSON_AddNumberToObject(o, "led_episodes", (double)(c->stage[0].led + c->stage[1].led));
}

cJSON *outcome_json(const struct search_state *c, const struct plan *plan)
{
    static const char *const kinds[] = {"opp", "adp", "all"};
    const struct game_options *g = &c->options.game;
    struct plan_counts n = plan_count(plan);
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "schema", "automap.search/1");
    cJSON_AddStringToObject(o, "kind", kinds[g->kind]);
    cJSON_AddStringToObject(o, "algo", search_names[c->options.algorithm]);
    cJSON_AddStringToObject(o, "mode", "strict");
    cJSON_AddStringToObject(o, "reward", g->reward == GAME_REWARD_PAPER ? "paper" : "cost");
    cJSON_AddStringToObject(o, "propagation", g->weak ? "weak" : "full");
    cJSON_AddBoolToObject(o, "folding", !g->no_folding);
    cJSON_AddNumberToObject(o, "seed", (double)c->options.seed);
    add_player(c, o);
    cJSON_AddNumberToObject(o, "variables", n.variables);
    cJSON_AddNumberToObject(o, "dims", n.dims);
    cJSON_AddNumberToObject(o, "partitioned", n.partitioned);
    cJSON_AddNumberToObject(o, "replicated", n.replicated);
    cJSON_AddNumberToObject(o, "undecided", n.undecided);
    cJSON_AddNumberToObject(o, "moves", search_game(c->search)->move_count);
    cJSON_AddNumberToObject(o, "episodes", (double)search_episodes(c->search));
    cJSON_AddNumberToObject(o, "decisions", (double)c->decisions);
    cJSON_AddNumberToObject(o, "evaluations", (double)search_evaluations(c->search));
    cJSON_AddNumberToObject(o, "conflicts", (double)search_conflicts(c->search));
    cJSON_AddNumberToObject(o, "seconds", c->seconds);
    cJSON_AddNumberToObject(o, "seconds_to_best", c->best->seconds);
    cJSON_AddNumberToObject(o, "best_episode", (double)c->best->episode);
    cJSON_AddNumberToObject(o, "score", c->best->score);
    cJSON_AddNumberToObject(o, "paper_reward", n.paper_reward);
    cJSON_AddNumberToObject(o, "step_time_ms", plan->cost.step_ms);
    cJSON_AddNumberToObject(o, "baseline_ms", c->baseline_ms);
    add_memory(c, plan, o);
    add_optimum(c, o);
    cJSON *stages = cJSON_AddArrayToObject(o, "stages");
    add_stage(&c->stage[0], stages);
    add_stage(&c->stage[1], stages);
    add_decisions(plan, cJSON_AddArrayToObject(o, "decisions_list"));
    return o;
}
