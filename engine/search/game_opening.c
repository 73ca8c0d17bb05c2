/* How an episode begins from a plan: a part is set back, the rest is settled as the plan has it. */
#include "engine/decide/classes.h"
#include "engine/search/game.h"

#include <string.h>

static void mark_met(const struct classes *c, class_id k, uint8_t *group)
{
    for (uint32_t j = 0; j < c->info[k].meet_count; j++)
        group[c->meets[c->info[k].meets + j].other] = 1;
}

/* What an opening sets back, marked 1 in `group` (zeroed). */
static void mark_group(const struct game *g, const struct game_opening *o, uint8_t *group)
{
    const struct classes *c = &g->problem->classes;

    for (uint32_t k = 0; k < o->count; k++) {
        const struct game_move *m = &g->moves[o->move[k]];
        for (uint32_t n = 0; n < m->class_count; n++) {
            const struct class_info *info = &c->info[g->pool[m->classes + n]];
            group[g->pool[m->classes + n]] = 1;
            mark_met(c, g->pool[m->classes + n], group);
            for (uint32_t j = 0; j < info->meet_count; j++) {
                class_id met = c->meets[info->meets + j].other;
                if (o->on[met])
                    mark_met(c, met, group);
            }
        }
    }
}

static bool touches_group(const struct game *g, const struct game_move *m, const uint8_t *group)
{
    for (uint32_t n = 0; n < m->class_count; n++) {
        if (group[g->pool[m->classes + n]])
            return true;
    }
    return false;
}

void game_reset_from(struct game *g, const struct game_opening *o)
{
    game_reset(g);
    if (!o->count)
        return;
    memset(g->group, 0, g->problem->classes.count);
    mark_group(g, o, g->group);
    /* Splits first, so that what they force whole is not decided twice. */
    for (int split = 1; split >= 0; split--) {
        for (uint32_t n = 0; n < g->move_count; n++) {
            if (game_splits(g, o->on, n) == split && !touches_group(g, &g->moves[n], g->group))
                game_settle(g, n, split);
        }
    }
    if (o->turn)
        game_settle(g, o->move[0], !game_splits(g, o->on, o->move[0]));
    game_begin(g);
}
