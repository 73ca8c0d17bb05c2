#include "engine/live/best_known.h"

#include "engine/live/pins_and_undo.h"
#include "engine/live/search_state_internal.h"
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "engine/search/search.h"

#include <string.h>

void best_keep(struct search_state *c)
{
    live_plan_replace(&c->acts[c->act].best, live_plan_share(c->best));
}

static bool is_same_problem(const struct act *a, const struct act *b)
{
    return a->edited == b->edited ||
           (a->edited && b->edited && !strcmp(a->edited->edits, b->edited->edits));
}

void best_recall(struct search_state *c, uint32_t to)
{
    const struct game *g = search_game(c->search);
    const struct live_plan *best = NULL, *before = NULL;

    for (uint32_t n = 0; n < c->act_count; n++) {
        const struct act *a = &c->acts[n];
        bool plays = a->best && a->best != before && is_same_problem(a, &c->acts[to]) &&
                     (n == to || game_holds(g, a->best->on));
        if (plays && search_offer(c->search, a->best->on))
            best = a->best;
        before = a->best;
    }
    if (!best)
        return;
    live_plan_replace(&c->best, state_make_plan(c, best->on, best->found_by));
    c->best->seconds = best->seconds;
    c->best->episode = best->episode;
}
