#include "engine/search/game.h"

#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "engine/search/game_moves.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WEAK_CONFLICT_REWARD (-1.0) /* Auto-MAP 4.1 */

bool game_options_equal(const struct game_options *a, const struct game_options *b)
{
    return a->memory_limit == b->memory_limit && a->kind == b->kind && a->reward == b->reward &&
           a->no_folding == b->no_folding && a->weak == b->weak &&
           a->paper_state == b->paper_state && a->paper_candidates == b->paper_candidates;
}

const char *const game_decides[3] = {"variables", "inputs", "variables and inputs"};

void game_scope(const struct game_options *o, uint32_t pins, char *out, size_t room)
{
    snprintf(out, room, "strict plans on this mesh that split %s%s%s%s", game_decides[o->kind],
             o->kind == GAME_ALL ? "" : " alone", pins ? ", with the pins given" : "",
             o->memory_limit != 0 ? ", within the memory limit" : "");
}

double game_limit_bytes(const struct problem *p, const struct game_options *o)
{
    if (o->memory_limit == MEMORY_LIMIT_DEVICE)
        return problem_device_limit(p);
    return o->memory_limit > 0 ? o->memory_limit : INFINITY;
}

static const char MEMORY_FOR[] = "for the search";

/* ---- moves ---- */

bool game_may_split(const struct game *g, class_id k)
{
    const struct game_options *o = &g->options;

    if (!label_is_splittable(&g->problem->labels, k))
        return false;
    return game_weight(g, k) > 0 ||
           (o->kind == GAME_ALL && o->reward == GAME_REWARD_COST && !o->weak);
}

bool game_decides_all(const struct game *g)
{
    const struct problem *p = g->problem;

    for (class_id k = 0; k < p->classes.count && g->options.kind == GAME_ALL; k++) {
        if (label_is_splittable(&p->labels, k) && !game_may_split(g, k))
            return false;
    }
    return true;
}

uint32_t game_weight(const struct game *g, class_id k)
{
    const struct class_info *i = &g->problem->classes.info[k];

    return g->options.kind == GAME_OPP   ? i->var_dims
           : g->options.kind == GAME_ADP ? i->input_dims
                                         : i->var_dims + i->input_dims;
}

/* ---- price ---- */

static void price_afresh(struct game *g)
{
    struct step_cost cost = step_tables_cost(&g->problem->step_tables, g->state.on);

    g->compute_ms = cost.compute_ms;
    g->beside_ms = cost.beside_ms;
    g->communication_ms = cost.communication_ms - overlap_excess(&g->problem->step_tables.overlap,
                                                                 cost.compute_ms, cost.beside_ms);
}

/* Difference that class `k` makes by going from label `before` to what it is now. Classes that only
 * became whole keep their label and cost nothing. */
static void reprice(struct game *g, class_id k, label before)
{
    label now = g->state.on[k];
    struct step_cost new_cost = step_tables_cost_of_class(&g->problem->step_tables, k, g->state.on);

    g->state.on[k] = before;
    struct step_cost old_cost = step_tables_cost_of_class(&g->problem->step_tables, k, g->state.on);
    g->state.on[k] = now;
    g->compute_ms += new_cost.compute_ms - old_cost.compute_ms;
    g->communication_ms += new_cost.communication_ms - old_cost.communication_ms;
    g->beside_ms += new_cost.beside_ms - old_cost.beside_ms;
}

/* ---- rewards ---- */

static double paper_reward_of(const struct game *g, size_t mark)
{
    double reward = 0;

    for (size_t n = mark; n < g->state.trail_count; n++) {
        const struct strict_change *ch = &g->state.trail[n];
        label on = g->state.on[ch->class], off = g->state.off[ch->class];
        bool was_settled = (ch->on | ch->off) == g->state.all || ch->on;
        bool is_split = on && !ch->on;
        bool is_whole = !on && off == g->state.all && !was_settled;
        if (is_split)
            reward += PAPER_REWARD_PARTITIONED * game_weight(g, ch->class);
        else if (is_whole)
            reward += PAPER_REWARD_REPLICATED * game_weight(g, ch->class);
    }
    return reward;
}

/* ---- memory ---- */

/* ln(baseline / step), less over the memory limit. */
static double worth_of(const struct game *g, const label *on, double step_ms)
{
    if (!g->budget)
        return log(game_pinned_ms(g) / step_ms);
    return budget_worth(g->budget, game_pinned_ms(g), step_ms, budget_peak(g->budget, on));
}

bool game_fits(const struct game *g, const label *on)
{
    return !g->budget || budget_peak(g->budget, on) <= g->budget->bytes;
}

bool game_score_fits(const struct game *g, double score)
{
    return !g->budget || score >= budget_floor(g->budget, game_pinned_ms(g));
}

/* What the end of an episode is paid besides its last decision. */
static double memory_reward(const struct game *g)
{
    double unlimited = log(game_pinned_ms(g) / game_step_ms(g));

    if (!g->budget || !game_is_over(g))
        return 0;
    if (g->conflict)
        return budget_floor(g->budget, game_pinned_ms(g)) - unlimited;
    return worth_of(g, g->state.on, game_step_ms(g)) - unlimited;
}

/* ---- play ---- */

static bool is_open(const struct game *g, uint32_t move)
{
    return game_status(g, move) < 0;
}

static void advance(struct game *g)
{
    while (g->position < g->move_count && !is_open(g, g->position))
        g->position++;
}

int game_status(const struct game *g, uint32_t move)
{
    const struct game_move *m = &g->moves[move];
    bool split = false;

    if (g->options.weak)
        return weak_status(&g->weak, m->dim);
    for (uint32_t n = 0; n < m->class_count; n++) {
        int s = strict_status(&g->state, g->pool[m->classes + n], m->axis);
        if (s < 0)
            return -1;
        split |= s == 1;
    }
    return split;
}

/* A folded move can be split when none of its classes has been made whole. */
static bool can_split(const struct game *g, uint32_t move)
{
    const struct game_move *m = &g->moves[move];

    for (uint32_t n = 0; n < m->class_count; n++) {
        if (strict_status(&g->state, g->pool[m->classes + n], m->axis) == 0)
            return false;
    }
    return true;
}

static bool can_stay(const struct game *g, uint32_t move)
{
    const struct game_move *m = &g->moves[move];

    for (uint32_t n = 0; n < m->class_count; n++) {
        if (strict_status(&g->state, g->pool[m->classes + n], m->axis) == 1)
            return false;
    }
    return true;
}

uint32_t game_legal(const struct game *g)
{
    if (g->options.weak) /* open dims may be tried either way */
        return 3;
    uint32_t legal = (can_stay(g, g->position) ? 1u : 0u) | (can_split(g, g->position) ? 2u : 0u);

    return legal ? legal : 3; /* a folded move pinned half and half: either keeps the pins */
}

/* Decides every class of the move that is still open; pinned ones keep their own answer. */
static void decide_move(struct game *g, const struct game_move *m, bool split)
{
    for (uint32_t n = 0; n < m->class_count; n++) {
        class_id k = g->pool[m->classes + n];
        label before = g->state.on[k];
        if (strict_status(&g->state, k, m->axis) >= 0)
            continue;
        strict_decide(&g->state, k, m->axis, split, NULL);
        if (g->state.on[k] != before)
            reprice(g, k, before);
    }
}

/* ---- weak ---- */

bool game_split_class(struct game *g, class_id k)
{
    if (!strict_decide(&g->state, k, 0, true, &g->clash))
        return false;
    reprice(g, k, 0);
    return true;
}

/* The classes that the wave from `mark` on splits, into g->state and the price. False when the
 * tables know that they clash where the wave did not see it. */
static bool follow_wave(struct game *g, size_t mark)
{
    const struct classes *c = &g->problem->classes;

    for (size_t n = mark; n < g->weak.trail_count; n++) {
        const struct weak_change *w = &g->weak.trail[n];
        if (w->is_dim || g->weak.status[w->id] <= WEAK_WHOLE)
            continue;
        class_id k = c->class_of[class_dim(c, w->id, (uint32_t)g->weak.status[w->id] - 1)];
        if (k != CLASS_NONE && !g->state.on[k] && !game_split_class(g, k))
            return false;
    }
    return true;
}

/* The paper's reward for dims that the wave settled. */
static double weak_paper_reward(const struct game *g, size_t mark)
{
    const struct classes *c = &g->problem->classes;
    double reward = 0;

    for (size_t n = mark; n < g->weak.trail_count; n++) {
        const struct weak_change *w = &g->weak.trail[n];
        hlo_value v = w->is_dim ? c->dim_value[w->id] : w->id;
        if (!g->counted[v])
            continue;
        if (w->is_dim) {
            reward += PAPER_REWARD_REPLICATED;
            continue;
        }
        for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
            if (!g->weak.off[d] && !g->weak.never[d])
                reward += weak_status(&g->weak, d) == 1 ? PAPER_REWARD_PARTITIONED
                                                        : PAPER_REWARD_REPLICATED;
        }
    }
    return reward;
}

/* Decides; on a conflict everything since stays for people to look at, and the episode is over. */
static bool weak_move(struct game *g, const struct game_move *m, bool split)
{
    size_t mark = weak_mark(&g->weak);

    if (weak_decide(&g->weak, m->dim, split) && follow_wave(g, mark))
        return true;
    g->clash.place = g->weak.clash;
    return false;
}

static double play_weak(struct game *g, bool split)
{
    double before = game_step_ms(g), reward = WEAK_CONFLICT_REWARD;
    size_t mark = weak_mark(&g->weak);

    g->wave = strict_mark(&g->state);
    g->conflict = !weak_move(g, &g->moves[g->position], split);
    g->decisions++;
    if (g->conflict)
        g->position = g->move_count;
    else
        reward = g->options.reward == GAME_REWARD_PAPER ? weak_paper_reward(g, mark)
                                                        : log(before / game_step_ms(g));
    advance(g);
    reward += memory_reward(g);
    g->total_reward += reward;
    return reward;
}

double game_play(struct game *g, bool split)
{
    double before = game_step_ms(g), reward;

    if (g->options.weak)
        return play_weak(g, split);

    g->wave = strict_mark(&g->state);
    decide_move(g, &g->moves[g->position], split);
    g->decisions++;
    reward = g->options.reward == GAME_REWARD_PAPER ? paper_reward_of(g, g->wave)
                                                    : log(before / game_step_ms(g));
    advance(g);
    reward += memory_reward(g);
    g->total_reward += reward;
    return reward;
}

struct game_place game_here(const struct game *g)
{
    return (struct game_place){strict_mark(&g->state), weak_mark(&g->weak), g->position,
                               g->compute_ms,          g->communication_ms, g->beside_ms,
                               g->total_reward};
}

void game_return(struct game *g, const struct game_place *place)
{
    strict_undo(&g->state, place->mark);
    weak_undo(&g->weak, place->weak_mark);
    g->position = place->position;
    g->compute_ms = place->compute_ms;
    g->communication_ms = place->communication_ms;
    g->beside_ms = place->beside_ms;
    g->total_reward = place->total_reward;
    g->conflict = false;
}

void game_reset(struct game *g)
{
    strict_undo(&g->state, g->pinned);
    weak_undo(&g->weak, g->weak_pinned);
    g->compute_ms = g->pinned_compute_ms;
    g->communication_ms = g->pinned_communication_ms;
    g->beside_ms = g->pinned_beside_ms;
    g->position = 0;
    g->conflict = false;
    g->total_reward = 0;
    g->wave = g->pinned;
    advance(g);
}

void game_settle(struct game *g, uint32_t move, bool split)
{
    struct game_place here = game_here(g);

    if (!is_open(g, move) || !(split ? can_split(g, move) : can_stay(g, move)))
        return;
    if (!g->options.weak)
        decide_move(g, &g->moves[move], split);
    else if (!weak_move(g, &g->moves[move], split))
        game_return(g, &here);
}

double game_progress(const struct game *g)
{
    uint64_t settled = 0, all = 0;

    for (uint32_t n = 0; n < g->move_count; n++) {
        const struct game_move *m = &g->moves[n];
        uint32_t dims = (g->options.kind == GAME_ADP ? 0 : m->var_dims) +
                        (g->options.kind == GAME_OPP ? 0 : m->input_dims);
        all += dims;
        settled += is_open(g, n) ? 0 : dims;
    }
    return all ? (double)settled / (double)all : 1;
}

bool game_splits(const struct game *g, const label *on, uint32_t move)
{
    const struct game_move *m = &g->moves[move];

    return on[g->pool[m->classes]] >> m->axis & 1;
}

bool game_keeps_pins(const struct game *g, const label *on)
{
    for (size_t n = 0; n < g->pin_count; n++) {
        if ((on[g->pins[n].class] >> g->pins[n].axis & 1) != g->pins[n].split)
            return false;
    }
    return true;
}

static bool pins_split(const struct game *g, class_id k)
{
    size_t n = 0;

    while (n < g->pin_count && (g->pins[n].class != k || !g->pins[n].split))
        n++;
    return n < g->pin_count;
}

bool game_holds(const struct game *g, const label *on)
{
    bool holds = game_keeps_pins(g, on);

    for (class_id k = 0; k < g->problem->classes.count && holds; k++)
        holds = !on[k] || game_may_split(g, k) || pins_split(g, k);
    return holds;
}

void game_begin(struct game *g)
{
    g->wave = strict_mark(&g->state);
    g->position = 0;
    advance(g);
}

uint32_t game_open_count(const struct game *g)
{
    uint32_t count = 0;

    for (uint32_t n = g->position; n < g->move_count; n++)
        count += is_open(g, n);
    return count;
}

static double paper_score(const struct game *g, const label *on)
{
    const struct classes *c = &g->problem->classes;
    double score = 0;

    for (class_id k = 0; k < c->count; k++)
        score += (on[k] ? PAPER_REWARD_PARTITIONED : PAPER_REWARD_REPLICATED) * game_weight(g, k);
    return score;
}

double game_score_of(const struct game *g, const label *on, struct step_cost *cost)
{
    *cost = step_tables_cost(&g->problem->step_tables, on);
    if (g->options.reward == GAME_REWARD_PAPER)
        return paper_score(g, on);
    return worth_of(g, on, cost->step_ms);
}

double game_score(const struct game *g)
{
    if (g->options.reward == GAME_REWARD_PAPER)
        return paper_score(g, g->state.on);
    return worth_of(g, g->state.on, game_step_ms(g));
}

/* Pins on the values: a split through one dim of each class, whole through all. */
static int pin_weakly(struct game *g, const struct game_pin *pins, size_t count, struct err *e)
{
    const struct classes *c = &g->problem->classes;

    weak_undo(&g->weak, 0);
    for (size_t n = 0; n < count; n++) {
        const struct class_info *k = &c->info[pins[n].class];
        for (uint32_t d = 0; d < k->dim_count; d++) {
            dim_id dim = c->members[k->dims + d];
            hlo_id id = c->m->value_instruction[c->dim_value[dim]];
            if (hlo_at(c->m, id)->opcode != HLO_OP_PARAMETER || g->weak.never[dim])
                continue;
            if (!weak_decide(&g->weak, dim, pins[n].split))
                return err_set(e, ERR_INFEASIBLE,
                               "pin %zu cannot hold with those before it: conflict at %.100s",
                               n + 1, hlo_name(c->m, g->weak.clash));
            if (pins[n].split)
                break;
        }
    }
    g->weak_pinned = weak_mark(&g->weak);
    return 0;
}

int game_set_pins(struct game *g, const struct game_pin *pins, size_t count,
                  struct strict_clash *clash, struct err *e)
{
    struct strict trial;
    struct game_pin *kept = mem_try(count, sizeof *kept);
    int rc = kept ? strict_new(&g->problem->labels, &trial, e) : err_no_memory(e, "for the search");

    if (rc) {
        free(kept);
        return rc;
    }
    if (count)
        memcpy(kept, pins, count * sizeof *kept);
    for (size_t n = 0; n < count; n++) {
        if (!strict_decide(&trial, pins[n].class, pins[n].axis, pins[n].split, clash)) {
            strict_release(&trial);
            free(kept);
            return err_set(e, ERR_INFEASIBLE, "pin %zu cannot hold with those before it", n + 1);
        }
    }
    rc = g->options.weak ? pin_weakly(g, pins, count, e) : 0;
    if (rc) {
        struct err ignored;
        strict_release(&trial);
        free(kept);
        (void)!pin_weakly(g, g->pins, g->pin_count, &ignored); /* as they were, and they could be */
        game_reset(g);
        return rc;
    }
    strict_release(&g->state);
    g->state = trial;
    free(g->pins);
    g->pins = kept;
    g->pin_count = count;
    g->pinned = strict_mark(&g->state);
    price_afresh(g);
    g->pinned_compute_ms = g->compute_ms;
    g->pinned_communication_ms = g->communication_ms;
    g->pinned_beside_ms = g->beside_ms;
    game_reset(g);
    return 0;
}

int game_new(const struct problem *p, const struct game_options *o, struct game *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    out->problem = p;
    out->options = *o;
    if (o->memory_limit != 0 && o->reward == GAME_REWARD_PAPER)
        return err_set(e, ERR_INPUT,
                       "a memory limit is of the cost reward: the paper's knows no step");
    if (o->paper_candidates && !o->weak)
        return err_set(e, ERR_INPUT,
                       "the paper's candidates are dims, offered by weak propagation alone");
    out->group = mem_try(p->classes.count, sizeof *out->group);
    if (!out->group)
        return err_no_memory(e, MEMORY_FOR);
    int rc = o->weak ? weak_new(&p->labels, &out->weak, e)
                     : fold_new(&p->step_tables, !o->no_folding, &out->fold, e);
    if (rc)
        goto out;
    rc = game_make_moves(out, e);
    if (rc)
        goto out;
    if (o->memory_limit != 0)
        rc = budget_new(p, game_limit_bytes(p, o), &out->budget, e);
    if (rc)
        goto out;
    rc = game_set_pins(out, NULL, 0, NULL, e);
out:
    if (rc)
        game_release(out);
    return rc;
}

void game_release(struct game *g)
{
    fold_release(&g->fold);
    budget_free(g->budget);
    weak_release(&g->weak);
    what_ifs_free(g->what_ifs);
    free(g->counted);
    strict_release(&g->state);
    free(g->moves);
    free(g->pool);
    free(g->move_of);
    free(g->group);
    free(g->pins);
    memset(g, 0, sizeof *g);
}
