#include "engine/live/watched.h"

#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/mem.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/replay.h"

#include <stdlib.h>
#include <string.h>

void live_prices(struct search *s, double price[static 2])
{
    struct game *g = (struct game *)(uintptr_t)search_game(s); /* put back as it was */
    uint64_t decisions = g->decisions;
    size_t wave = g->wave;
    struct game_place here = game_here(g);
    uint32_t legal = game_legal(g);

    for (int split = 0; split < 2; split++) {
        price[split] = -1;
        if (!(legal >> split & 1))
            continue;
        game_play(g, split);
        price[split] = g->conflict ? -1 : game_step_ms(g);
        game_return(g, &here);
    }
    g->decisions = decisions;
    g->wave = wave;
}

struct live_lesson *live_lesson_begin(struct search *s)
{
    struct rl_agent *agent = search_agent(s);
    const struct game *g = search_game(s);

    search_ready(s);
    if (!agent || game_is_over(g))
        return NULL;
    struct live_lesson *l = mem_try(1, sizeof *l);
    if (!l)
        return NULL;
    atomic_init(&l->references, 1);
    l->move = g->position;
    l->step_ms = game_step_ms(g);
    l->inputs = game_observation_size(g);
    l->settings = *rl_agent_settings(agent);
    memcpy(l->visits, rl_agent_visits(agent, g->position), sizeof l->visits);
    live_prices(s, l->price);
    rl_agent_teach(agent, &l->rl);
    return l;
}

struct live_lesson *live_lesson_end(struct live_lesson *l, struct search *s,
                                    const struct search_event *event, uint64_t episode)
{
    if (!l)
        return NULL;
    struct rl_agent *agent = search_agent(s);
    const struct rl_replay *r = rl_agent_replay(agent);
    rl_agent_teach(agent, NULL);
    if (event->move != l->move || !l->rl.decision) {
        live_lesson_release(l);
        return NULL;
    }
    l->episode = episode;
    l->led = event->led;
    int8_t *status = mem_try(search_game(s)->move_count, 1);
    for (uint32_t i = 0; status && i < l->rl.rows; i++)
        game_observed(search_game(s),
                      r->observation + (size_t)l->rl.row[i].slot * r->observation_size, status,
                      &l->row_move[i]);
    free(status);
    return l;
}

struct live_lesson *live_lesson_share(struct live_lesson *l)
{
    if (l)
        atomic_fetch_add(&l->references, 1);
    return l;
}

void live_lesson_release(struct live_lesson *l)
{
    if (l && atomic_fetch_sub(&l->references, 1) == 1)
        free(l);
}
