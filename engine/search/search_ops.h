/* engine/search/search_ops.h - what an algorithm provides to search.c. Private to engine/search. */
#ifndef AUTOMAP_ENGINE_SEARCH_SEARCH_OPS_H
#define AUTOMAP_ENGINE_SEARCH_SEARCH_OPS_H

#include "engine/decide/labels.h"
#include "engine/search/dqn_replay.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "rl/agent_state.h"
#include "rl/serialize.h"
#include "rl/settings.h"

struct search {
    const struct search_ops *ops;
    struct search_options options;
    struct game game;
    void *self; /* of the algorithm */
    struct search_best best;
    struct search_best shelved; /* the best plan that pins broke; best again when they go */
    uint64_t episodes, evaluations, conflicts;
    uint64_t since_better; /* episodes since the best changed */
    uint32_t rounds;       /* rounds of stage 2 without gain */
    bool done, proven;
    bool no_memory;          /* a step failed for want of it, and the search is done */
    bool is_cut;             /* `stop` ended a step: done again it may find more */
    const atomic_bool *stop; /* polled by solving steps; NULL: never */
};

struct search_ops {
    int (*start)(struct search *s,
                 struct err *e);    /* allocates self; game is at its first position */
    void (*stop)(struct search *s); /* frees self */
    bool (*step)(struct search *s, struct search_event *out);
    void (*pins_changed)(struct search *s); /* called after the game was reset under new pins */
    /* Writes or reads whatever decides the next steps, game->state included, and checks what it
     * reads (w->failed). NULL: such a search cannot be saved. */
    void (*serialize)(struct search *s, struct rl_serializer *w);
};

extern const struct search_ops search_dqn, search_random, search_greedy, search_enumerate,
    search_anneal, search_exact, search_trws;

/* Call after pricing a complete plan: counts it, compares it with the best, fills the end part of
 * the event. */
void search_ended(struct search *s, const label *on, bool conflict, struct search_event *out);

/* Serializes an assignment; false: what was read is not one. */
bool search_serialize_labels(const struct search *s, struct rl_serializer *w, label *on);

void search_dqn_ready(struct search *s);
void search_dqn_backtrack(struct search *s, uint32_t move);
bool search_dqn_force(struct search *s, bool split, struct search_event *out);
bool search_dqn_configure(struct search *s, const struct rl_settings *rl);
struct rl_agent *search_dqn_agent(struct search *s);
bool search_dqn_q(struct search *s, float q[2]);
double search_dqn_greedy(struct search *s, label *on);
struct dqn_replay_note search_dqn_kept(const struct search *s);

#endif
