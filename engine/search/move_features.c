#include "engine/search/move_features.h"

#include "engine/cluster/mesh.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/search/what_if.h"

#include <math.h>
#include <string.h>

enum { LINKED_MOST = 8, ROLLOUTS = 3 };
#define CLIP 8.0

/* ---- what an action does ---- */

struct effect {
    double gain;                   /* ln(step before / after) */
    double compute, communication; /* change, in steps of all whole */
    double settled, skipped;       /* classes; moves passed over */
    double linked;                 /* the best single gain left among the linked moves */
    double rolled[ROLLOUTS];       /* the same where players end: all else whole, greedy, split */
    double best;                   /* of these */
};

/* Open moves that meet the one at the position; up to LINKED_MOST. */
static uint32_t linked_moves(const struct game *g, uint32_t *out)
{
    const struct classes *c = &g->problem->classes;
    const struct game_move *m = &g->moves[g->position];
    uint32_t count = 0, axes = g->problem->mesh.axes;

    for (uint32_t n = 0; n < m->class_count; n++) {
        class_id k = g->pool[m->classes + n];
        const struct class_info *info = &c->info[k];
        for (uint32_t j = 0; j < info->meet_count * axes && count < LINKED_MOST; j++) {
            uint32_t move =
                g->move_of[(size_t)c->meets[info->meets + j / axes].other * axes + j % axes];
            bool known = move == UINT32_MAX || move == g->position;
            for (uint32_t i = 0; i < count && !known; i++)
                known = out[i] == move;
            if (!known && game_status(g, move) < 0)
                out[count++] = move;
        }
    }
    return count;
}

/* What players judge by. A memory limit is weighed where they end: a peak takes as long as hundreds
 * of decisions. */
static double time_score(const struct game *g)
{
    return log(game_pinned_ms(g) / game_step_ms(g));
}

static double gain_of(struct game *g, bool split)
{
    struct game_place here = game_here(g);
    double before = time_score(g);

    (void)game_play(g, split);
    double gain = g->conflict ? -CLIP : time_score(g) - before;
    game_return(g, &here);
    return gain;
}

/* The gain of splitting an open move out of turn. */
static double gain_out_of_turn(struct game *g, uint32_t move)
{
    uint32_t position = g->position;
    double gain = g->options.weak ? what_if_split(g, move) : NAN;

    if (!isnan(gain))
        return gain;
    g->position = move;
    gain = game_legal(g) & 2 ? gain_of(g, true) : 0;
    g->position = position;
    return gain;
}

/* The best gain of splitting one of the moves. */
static double best_of(struct game *g, const uint32_t *move, uint32_t count)
{
    double best = 0;

    for (uint32_t n = 0; n < count; n++) {
        if (game_status(g, move[n]) < 0)
            best = fmax(best, gain_out_of_turn(g, move[n]));
    }
    return best;
}

/* From here, worth `before`, on to the end, or MOVE_ROLLOUT_MOST decisions on; then all that is
 * open is whole. What it passes counts too, without a limit. */
static double roll_out(struct game *g, int player, double before)
{
    struct game_place here = game_here(g);
    double best = before;

    for (int n = 0; player && n < MOVE_ROLLOUT_MOST && !game_is_over(g); n++) {
        uint32_t legal = game_legal(g);
        bool split = legal == 2;
        if (legal == 3)
            split = player == 2 || gain_of(g, true) > gain_of(g, false);
        (void)game_play(g, split);
        if (!g->conflict && !g->budget)
            best = fmax(best, time_score(g));
    }
    if (player && g->budget && !g->conflict)
        best = fmax(best, game_score(g));
    game_return(g, &here);
    return best - before;
}

/* Of a position worth `before`. */
static struct effect effect_of(struct game *g, bool split, double before, const uint32_t *linked,
                               uint32_t count)
{
    struct game_place here = game_here(g);
    double base = game_pinned_ms(g);
    struct effect x = {0};

    (void)game_play(g, split);
    if (g->conflict) {
        x.gain = x.best = -CLIP;
        for (int k = 0; k < ROLLOUTS; k++)
            x.rolled[k] = -CLIP;
        game_return(g, &here);
        return x;
    }
    double now = game_score(g);
    x.gain = now - before;
    x.compute = (g->compute_ms - here.compute_ms) / base;
    x.communication = (g->communication_ms - here.communication_ms) / base;
    x.settled = (double)(strict_mark(&g->state) - here.mark);
    x.skipped = (double)(g->position - here.position - 1);
    x.linked = best_of(g, linked, count);
    x.best = -INFINITY;
    for (int k = 0; k < ROLLOUTS; k++) {
        x.rolled[k] = x.gain + roll_out(g, k, now);
        x.best = fmax(x.best, x.rolled[k]);
    }
    game_return(g, &here);
    return x;
}

/* ---- rows ---- */

static float clipped(double x)
{
    return (float)fmax(-CLIP, fmin(CLIP, x));
}

/* What the cost tables of the move's classes are of the step. */
static struct step_cost terms_of(const struct game *g, const struct game_move *m)
{
    struct step_cost sum = {0};

    for (uint32_t n = 0; n < m->class_count; n++) {
        struct step_cost one = step_tables_cost_of_class(&g->problem->step_tables,
                                                         g->pool[m->classes + n], g->state.on);
        sum.compute_ms += one.compute_ms;
        sum.communication_ms += one.communication_ms;
    }
    return sum;
}

static float *describe_position(const struct game *g, float *x)
{
    const struct game_move *m = &g->moves[g->position];
    const struct cluster_mesh *mesh = &g->problem->mesh;
    double base = game_pinned_ms(g), step = game_step_ms(g);
    struct step_cost terms = terms_of(g, m);
    double left = g->move_count - g->position;

    *x++ = clipped(log(base / step));
    *x++ = clipped(g->communication_ms / step);
    *x++ = clipped(terms.compute_ms / step);
    *x++ = clipped(terms.communication_ms / step);
    *x++ = clipped(log1p(m->var_dims));
    *x++ = clipped(log1p(m->input_dims));
    *x++ = clipped(log1p(m->group));
    *x++ = clipped(g->position / (double)g->move_count);
    *x++ = clipped(log(left));
    *x++ = clipped(log(mesh->devices));
    *x++ = clipped(log(mesh->axis[m->axis].size));
    *x++ = mesh->axis[m->axis].place != MESH_INSIDE;
    *x++ = (float)mesh->axes;
    return x;
}

static float *describe_effect(const struct effect *x, float *out)
{
    *out++ = clipped(x->gain);
    *out++ = clipped(20 * x->gain);
    *out++ = clipped(x->compute);
    *out++ = clipped(x->communication);
    *out++ = clipped(x->communication / (fabs(x->compute) + 1e-4));
    *out++ = clipped(log1p(x->settled));
    *out++ = clipped(log1p(x->skipped));
    *out++ = clipped(x->linked);
    return out;
}

/* Where the players end, over the best end of either action. */
static float *describe_ends(const struct effect *x, double best, float *out)
{
    for (int k = 0; k < ROLLOUTS; k++) {
        *out++ = clipped(x->rolled[k] - best);
        *out++ = clipped(50 * (x->rolled[k] - best));
    }
    *out++ = clipped(x->best - best);
    *out++ = clipped(50 * (x->best - best));
    return out;
}

uint32_t move_describe(struct game *g, float rows[2 * MOVE_FEATURES])
{
    uint32_t legal = game_legal(g), linked[LINKED_MOST];
    uint64_t decisions = g->decisions;
    size_t wave = g->wave;

    memset(rows, 0, 2 * MOVE_FEATURES * sizeof *rows);
    if (legal != 3)
        return legal;
    uint32_t count = linked_moves(g, linked);
    double open = best_of(g, linked, count), before = game_score(g);
    struct effect x[2] = {effect_of(g, false, before, linked, count),
                          effect_of(g, true, before, linked, count)};
    double best = fmax(x[0].best, x[1].best);

    for (int a = 0; a < 2; a++) {
        float *out = rows + (size_t)a * MOVE_FEATURES;
        *out++ = (float)a;
        out = describe_position(g, out);
        out = describe_effect(&x[a], out);
        out = describe_effect(&x[!a], out);
        out = describe_ends(&x[a], best, out);
        *out++ = clipped(x[a].gain - x[!a].gain);
        *out++ = clipped(20 * (x[a].gain - x[!a].gain));
        *out++ = clipped(open);
        *out = clipped(20 * (open - x[a].linked));
    }
    g->decisions = decisions;
    g->wave = wave;
    return legal;
}
