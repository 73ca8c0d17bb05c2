/* engine/live/search_state.h - a search with a person's acts applied to it: everything in a session
 * except its thread.
 *
 * Deterministic: the same problem, options and commands at the same steps give the same state, bit
 * for bit, whoever drives it: the session's thread, a script, a replayed journal. */
#ifndef AUTOMAP_ENGINE_LIVE_SEARCH_STATE_H
#define AUTOMAP_ENGINE_LIVE_SEARCH_STATE_H

#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/live/ledger.h"
#include "engine/live/pins_and_undo.h"
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/live/watched.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "engine/search/search_ops.h"
#include "hlo/support/err.h"

/* A field added here that affects what comes next, or is shown, must be added to checkpoint.c too;
 * the same holds for struct act and struct pinned. */
struct search_state {
    const struct problem *base, *problem; /* as given to search_state_new; as edited */
    struct search *search;
    struct live_moves *moves; /* of its game */
    struct search_options options;
    struct act *acts; /* acts[0] is the start; acts[act] is in force */
    uint32_t act, act_count;
    size_t act_room;
    struct pin_wish *wishes;
    uint32_t wish_count;
    size_t wish_room;
    uint32_t act_number;   /* acts made so far: the markers on the curves */
    uint32_t last_row;     /* of the ledger */
    struct ledger *ledger; /* of the acts as they are */

    enum live_state state;
    char trouble[160];
    double pace;
    uint64_t left_decisions, left_episodes; /* left of decide N, episode N; UINT64_MAX: run */
    uint64_t steps, decisions, updates;
    double loss;
    struct search_event event;  /* of the last step */
    struct live_lesson *lesson; /* of the last decision that was watched; NULL: none. Not saved */
    bool watched;               /* the next step is: it makes a lesson */
    int8_t *last;               /* [moves] */
    struct live_plan *best, *exact, *batch;
    struct live_plan
        *before; /* the best before the last edit of the problem, priced on the current one */
    uint64_t past_episodes;     /* of searches ended by options or edits */
    struct live_run run_before; /* the search before this one, where `again` began this one */
    bool anew;                  /* the options being put in force begin the search anew */
    struct live_plan *stage_1;  /* the best before fine-tuning */
    struct live_stage stage[2]; /* of this search */
    double baseline_ms;
    struct series reward, best_ms, loss_curve, epsilon_curve, progress;
    struct live_log log;
    struct journal *journal; /* borrowed; NULL: none */
    bool journal_ended;      /* its failure was reported */
    bool lost_proof;         /* there was not enough memory for the optimum under the pins */
    bool is_cut; /* the problem's stop ended the exact solve: another run may find more */
    char origin; /* of the next command, for the journal: 'c' */
    double checkpoint_due_s; /* when the next checkpoint is due (checkpoint.h) */
    uint64_t checkpoint_step;
    bool checkpoints_ended;
    char checkpoint_trouble[160]; /* why, where one could not be written; else "" */
    double (*clock_s)(void *);    /* for reports only; never for decisions */
    void *clock_context;
    double seconds; /* of stepping */
};

int search_state_new(const struct problem *p, const struct search_options *o,
                     struct search_state *out, struct err *e) MUST_CHECK;
void search_state_release(struct search_state *c);

/* Applies a command. One that cannot be met changes nothing and says why in *e and in the log. */
int search_state_apply(struct search_state *c, const struct live_command *command,
                       struct err *e) MUST_CHECK;
/* Replays a journal from record `from` to its last, and compares best plans on the way: ERR_INPUT
 * if they differ or the journal has none. The state must be at that record (0: new) and have no
 * journal. */
int search_state_replay(struct search_state *c, const struct journal_log *log, size_t from,
                        struct err *e) MUST_CHECK;
/* True while there is something to do without another command. */
bool search_state_wants_step(const struct search_state *c);
/* Does one step of the search and updates counts, curves, log and best plan. */
void search_state_step(struct search_state *c);
/* Episodes of this and of earlier searches. */
uint64_t search_state_episodes(const struct search_state *c);
/* A fresh snapshot with one reference, or NULL out of memory. O(moves + wave). */
struct snapshot *search_state_snapshot(struct search_state *c);

#endif
