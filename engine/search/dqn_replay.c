#include "engine/search/dqn_replay.h"

#include "hlo/support/mem.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/replay.h"

#include <string.h>

/* Episodes as they were played: statuses at their beginning, then positions and actions. */
struct records {
    uint32_t count, episodes, moves;
    uint32_t *position, *episode; /* [count] */
    uint8_t *action, *end;
    int8_t *status; /* [episodes + 1 x moves] */
    float *now, *next;
};

static void release_records(struct records *r)
{
    free(r->position);
    free(r->episode);
    free(r->action);
    free(r->end);
    free(r->status);
    free(r->now);
    free(r->next);
}

static bool begins_episode(const struct rl_replay *r, uint32_t first, uint32_t k)
{
    return k == first || r->end[rl_replay_slot(r, k - 1)] != RL_GOES_ON;
}

static bool take_room(struct records *to, const struct rl_replay *r, uint32_t first)
{
    uint32_t episodes = 0;

    for (uint32_t k = first; k < r->count; k++)
        episodes += begins_episode(r, first, k);
    to->position = mem_try(to->count, sizeof *to->position);
    to->episode = mem_try(to->count, sizeof *to->episode);
    to->action = mem_try(to->count, 1);
    to->end = mem_try(to->count, 1);
    to->status = mem_try(((size_t)episodes + 1) * to->moves, 1);
    to->now = mem_try(r->observation_size, sizeof *to->now);
    to->next = mem_try(r->observation_size, sizeof *to->next);
    return to->position && to->episode && to->action && to->end && to->status && to->now &&
           to->next;
}

/* An observation has the status of every move and the position (game_observe). */
static bool record_transitions(struct records *to, const struct rl_replay *r, uint32_t most,
                               const struct game *g)
{
    uint32_t first = r->count > most ? r->count - most : 0;

    *to = (struct records){.count = r->count - first, .moves = g->move_count};
    if (!take_room(to, r, first))
        return false;
    for (uint32_t n = 0; n < to->count; n++) {
        uint32_t slot = rl_replay_slot(r, first + n);
        bool first_of_episode = begins_episode(r, first, first + n);
        /* of a later decision only the position is wanted: the last row is scratch */
        int8_t *status = to->status + (size_t)to->episodes * to->moves;
        game_observed(g, r->observation + (size_t)slot * r->observation_size, status,
                      &to->position[n]);
        to->episodes += first_of_episode;
        to->action[n] = (uint8_t)r->action[slot];
        to->end[n] = r->end[slot];
        to->episode[n] = to->episodes - 1;
    }
    return true;
}

static void begin_from(struct game *g, const int8_t *status)
{
    game_reset(g);
    for (int split = 1; split >= 0; split--) {
        for (uint32_t m = 0; m < g->move_count; m++) {
            if (status[m] == split)
                game_settle(g, m, split);
        }
    }
    game_begin(g);
}

/* The wanted action, or the other where it is not legal. */
static void play_records(struct game *g, struct rl_agent *a, struct records *r, uint32_t wanted)
{
    uint64_t legal = game_legal(g), next_legal = 3;
    struct rl_decision d = {.observation = r->now, .next = r->next, &legal, &next_legal};

    d.action = legal >> wanted & 1 ? wanted : 1 - wanted;
    game_observe(g, r->now);
    d.reward = (float)game_play(g, d.action == 1);
    d.end = game_is_over(g) ? RL_TERMINATED : RL_GOES_ON;
    if (!game_is_over(g))
        next_legal = game_legal(g);
    game_observe(g, r->next);
    if (rl_agent_remember(a, &d) != RL_OK)
        rl_agent_cut(a); /* a reward that is not finite: left out */
}

static void play_episodes(struct game *g, struct rl_agent *a, struct records *r)
{
    for (uint32_t n = 0; n < r->count; n++) {
        bool last = n + 1 == r->count || r->episode[n + 1] != r->episode[n];
        if (!n || r->episode[n - 1] != r->episode[n])
            begin_from(g, r->status + (size_t)r->episode[n] * r->moves);
        while (!game_is_over(g) && g->position < r->position[n])
            play_records(g, a, r, 0); /* open now, and settled then */
        if (!game_is_over(g) && g->position == r->position[n])
            play_records(g, a, r, r->action[n]);
        while (last && r->end[n] == RL_TERMINATED && !game_is_over(g))
            play_records(g, a, r, 0);
        if (last)
            rl_agent_cut(a);
    }
}

void dqn_replay_again(struct game *g, struct rl_agent *a, uint32_t most,
                      struct dqn_replay_note *out)
{
    const struct rl_replay *replay = rl_agent_replay(a);
    uint64_t decisions = g->decisions;
    struct records r;

    *out = (struct dqn_replay_note){.before = replay->count, .times = out->times + 1};
    bool ok = record_transitions(&r, replay, most, g);
    rl_agent_forget(a);
    if (ok)
        play_episodes(g, a, &r);
    release_records(&r);
    g->decisions = decisions;
    out->after = replay->count;
}
