/* engine/live/watched.h - one decision of the learner, whole: what it saw, chose, earned and
 * learned from it. Shared between a search and its snapshots; never changes once it is made. */
#ifndef AUTOMAP_ENGINE_LIVE_WATCHED_H
#define AUTOMAP_ENGINE_LIVE_WATCHED_H

#include "engine/search/search.h"
#include "engine/search/search_ops.h"
#include "rl/settings.h"
#include "rl/taught.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct live_lesson {
    atomic_int references;
    uint64_t episode; /* of the decision, from 1 */
    uint32_t move;    /* decided */
    bool led;         /* by the network of all models */
    uint32_t visits[2];
    double price[2]; /* step ms with it whole, split; -1: not possible */
    double step_ms;  /* before it */
    uint32_t inputs; /* of the network */
    struct rl_settings settings;
    struct rl_lesson rl;
    uint32_t row_move[RL_LESSON_ROWS]; /* the move each row of the batch decided */
};

/* Begins the next decision of a search, whose agent fills the lesson from now on; NULL: there is
 * none to be had, or no memory. */
struct live_lesson *live_lesson_begin(struct search *s);
/* Behind the step. Returns `l`, or NULL where that step was no decision. Takes `l`; NULL ok. */
struct live_lesson *live_lesson_end(struct live_lesson *l, struct search *s,
                                    const struct search_event *event, uint64_t episode);
struct live_lesson *live_lesson_share(struct live_lesson *l); /* NULL ok */
void live_lesson_release(struct live_lesson *l);              /* NULL ok */

/* What either answer to the next decision costs in step ms: [0] whole, [1] split; -1: not possible.
 * Played and taken back. */
void live_prices(struct search *s, double price[static 2]);

#endif
