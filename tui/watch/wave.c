#include "tui/watch/wave.h"

#include "engine/decide/classes.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/watch.h"

#include <string.h>

#include "engine/decide/why.h"

enum { LONGEST_MS = 1000, SLOWEST_STEP_MS = 120 };

struct starts { /* dims the decision is about: of variables, else of inputs, else all */
    const struct problem *problem;
    class_id class;
    bool variables, inputs;
};

static bool is_start(const void *context, dim_id d)
{
    const struct starts *s = context;
    const struct classes *c = &s->problem->classes;
    hlo_id id = c->m->value_instruction[c->dim_value[d]];

    if (!s->variables && !s->inputs)
        return true;
    if (hlo_at(c->m, id)->opcode != HLO_OP_PARAMETER ||
        hlo_at(c->m, id)->computation != c->m->entry)
        return false;
    for (uint32_t n = 0; n < s->problem->roles.param_count; n++) {
        const struct hlo_param_role *r = &s->problem->roles.params[n];
        if (r->value == c->dim_value[d])
            return s->variables ? r->role == HLO_ROLE_VARIABLE : r->role == HLO_ROLE_INPUT;
    }
    return false;
}

/* One class: from where it was decided outwards; a class that was only excluded, all at once. */
static void spread_wave(struct wave *v, const struct problem *p, const struct live_change *change,
                        bool decided)
{
    const struct class_info *info = &p->classes.info[change->class];
    struct starts s = {p, change->class, info->var_dims > 0, info->input_dims > 0};
    uint32_t steps = 0;
    struct err e;

    v->values += info->dim_count;
    if (decided && !why_spread(&p->classes, change->class, is_start, &s, v->step, &steps, &e)) {
        v->steps = steps > v->steps ? steps : v->steps;
        return;
    }
    v->steps++;
    for (uint32_t n = 0; n < info->dim_count && v->steps < UINT16_MAX; n++)
        v->step[p->classes.members[info->dims + n]] = (uint16_t)v->steps;
}

void wave_read(struct wave *v, const struct watch *w)
{
    const struct snapshot *s = w->shot;
    const struct problem *p = w->problem;

    if (!w->is_slow || !s->wave_count || s->wave_move >= (uint32_t)w->move_count) {
        v->steps = 0;
        v->begun_ms = -1;
        return;
    }
    if (v->steps && v->decision == s->decisions && v->move == s->wave_move)
        return;
    if (v->step)
        memset(v->step, 0, p->classes.dim_count * sizeof *v->step);
    else
        v->step = mem_try((size_t)p->classes.dim_count + 1, sizeof *v->step);
    v->steps = v->values = 0;
    v->begun_ms = -1;
    if (!v->step)
        return;
    const struct game_move *m = &w->moves->items[s->wave_move];
    v->axes = (label)(1u << m->axis);
    v->decision = s->decisions;
    v->move = s->wave_move;
    for (int excluded = 0; excluded < 2;
         excluded++) { /* the decided classes together, then the others */
        for (uint32_t n = 0; n < s->wave_count; n++) {
            bool own = false;
            for (uint32_t k = 0; k < m->class_count; k++)
                own |= w->moves->pool[m->classes + k] == s->wave[n].class;
            if (own != (bool)excluded)
                spread_wave(v, p, &s->wave[n], own);
        }
    }
    v->shown = v->steps;
}

void wave_release(struct wave *v)
{
    free(v->step);
}

void wave_play(struct wave *v, double now_ms, double step_ms)
{
    if (!v->steps)
        return;
    double most = (double)LONGEST_MS / v->steps;
    v->step_ms = step_ms > 0 ? step_ms : most < SLOWEST_STEP_MS ? most : SLOWEST_STEP_MS;
    v->begun_ms = now_ms;
    v->shown = 1;
}

bool wave_tick(struct wave *v, double now_ms)
{
    if (v->begun_ms < 0)
        return false;
    uint32_t steps = 1 + (uint32_t)((now_ms - v->begun_ms) / v->step_ms);
    bool more = steps != v->shown;

    v->shown = steps < v->steps ? steps : v->steps;
    if (v->shown == v->steps)
        v->begun_ms = -1;
    return more;
}

double wave_next_ms(const struct wave *v)
{
    return v->begun_ms < 0 ? -1 : v->begun_ms + v->shown * v->step_ms;
}

void wave_step_by(struct wave *v, int steps)
{
    int64_t to = (int64_t)v->shown + steps;

    v->begun_ms = -1;
    v->shown = (uint32_t)(to < 1 ? 1 : to > v->steps ? v->steps : to);
}

enum wave_light wave_light_of(const struct wave *v, const struct classes *c, hlo_id id)
{
    enum wave_light light = WAVE_DARK;

    if (!v->steps)
        return light;
    for (dim_id d = c->dim_base[c->m->leaf_base[id]]; d < c->dim_base[c->m->leaf_base[id + 1]];
         d++) {
        enum wave_light own = wave_light(v, d);
        light = own > light ? own : light;
    }
    return light;
}
