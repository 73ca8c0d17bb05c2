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
    struct search_best shelved; /* the best that pins broke: best again when they go */
    uint64_t episodes, evaluations, conflicts;
    uint64_t since_better; /* episodes since the best changed */
    uint32_t rounds;       /* stage 2 went round without gain */
    bool done, proven;
    bool is_cut;             /* a step was ended by `stop`: done again it may find more */
    const atomic_bool *stop; /* looked at by steps that solve; NULL: never */
};

struct search_ops {
    int (*start)(struct search *s,
                 struct err *e);    /* allocates self; game is at its first position */
    void (*stop)(struct search *s); /* frees self */
    bool (*step)(struct search *s, struct search_event *out);
    void (*pins_changed)(struct search *s); /* the game was reset under new pins */
    /* Writes or reads what decides the algorithm's next steps, game->state among it; what is read
     * is checked (w->failed). NULL: such a search cannot be saved. */
    void (*serialize)(struct search *s, struct rl_serializer *w);
};

extern const struct search_ops search_dqn, search_random, search_greedy, search_enumerate,
    search_anneal, search_exact, search_trws;

/* A whole plan was priced: counts it, compares it with the best, fills the event's end part. */
void search_ended(struct search *s, const label *on, bool conflict, struct search_event *out);

/* An assignment, for walks: false when what was read is none. */
bool search_serialize_labels(const struct search *s, struct rl_serializer *w, label *on);

void search_dqn_backtrack(struct search *s, uint32_t move);
bool search_dqn_force(struct search *s, bool split, struct search_event *out);
bool search_dqn_configure(struct search *s, const struct rl_settings *rl);
struct rl_agent *search_dqn_agent(struct search *s);
bool search_dqn_q(struct search *s, float q[2]);
double search_dqn_greedy(struct search *s, label *on);
struct dqn_replay_note search_dqn_kept(const struct search *s);

#endif
