/* engine/live/snapshot.h - what a screen sees of a running search: numbered, immutable,
 * reference-counted.
 *
 * The search thread makes one on request; a reader keeps it as long as it likes, then releases it.
 * Parts unchanged since the previous snapshot are shared. Ids refer to its own problem, which
 * changes when a person edits cluster, mesh or roles. */
#ifndef AUTOMAP_ENGINE_LIVE_SNAPSHOT_H
#define AUTOMAP_ENGINE_LIVE_SNAPSHOT_H

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/live/series.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "rl/settings.h"

enum live_state { LIVE_READY, LIVE_RUNNING, LIVE_PAUSED, LIVE_DONE, LIVE_FAILED, LIVE_STATE_COUNT };

#define LIVE_BASELINE "baseline" /* found_by: everything whole but the pins, by nobody */

/* A whole plan, shared. */
struct live_plan {
    atomic_int references;
    char found_by[24];
    struct step_cost cost;
    double score;
    uint64_t episode;
    bool proven;
    bool fits;      /* within the memory limit of its search, if any */
    double seconds; /* it took to find, or since the search began */
    uint64_t nodes; /* exact: cases, each an elimination */
    class_id count;
    label on[]; /* [classes] */
};

/* The moves of a game, shared: they change only when an option changes the game. */
struct live_moves {
    atomic_int references;
    uint32_t count, axes;
    struct game_move *items; /* [count] in order of decision */
    class_id *pool;          /* classes of the moves; see items[n].classes, class_count */
    uint32_t *of;            /* [classes x axes] move that decides it; UINT32_MAX none */
};

struct live_change { /* a class changed by the last wave, in order */
    class_id class;
    label on, off; /* after it */
};

struct live_pin {  /* of one class; pinning a folded move pins all of its classes */
    uint32_t move; /* that decides it; UINT32_MAX: none of this search's */
    bool split;
    uint32_t act;
    class_id class;
    uint8_t axis;
};

/* What one stage of a search did: 1 from all open, 2 fine-tuning. */
struct live_stage {
    uint64_t episodes, decisions, conflicts, improved;
    uint64_t led;                    /* of the episodes, by the network of all models */
    double seconds, seconds_to_best; /* the latter from the start of the search */
    double score, step_ms;           /* of its best plan; improved 0: none */
};

/* A search that was ended to begin it again with an option changed: its points of the curves are
 * those of episodes began < x <= ended. */
struct live_run {
    uint64_t began, ended; /* ended 0: there is none */
    double best_ms;        /* 0: none */
    uint64_t best_episode; /* counted from its own first */
    char what[48];         /* was changed to make it this one: "n-step 10" */
    struct rl_settings rl; /* it had */
};

/* A problem edited by a person; shared. */
struct live_problem {
    atomic_int references;
    struct problem problem;
    char *edits; /* the commands that made it from the session's original, a line each */
};

enum { PLANS_MOST = 8 };
struct ledger;
struct live_lesson;

struct snapshot {
    atomic_int references;
    uint64_t number;
    const struct problem *problem;
    struct live_problem *edited;   /* owns `problem`; NULL: it is the session's original */
    struct live_moves *moves;      /* the decisions of this search, in order */
    struct search_options options; /* current values */
    enum live_state state;
    char trouble[160]; /* LIVE_FAILED: why; else why there is no optimum to compare with, or "" */
    double pace;       /* decisions a second; 0 full speed */
    double seconds;    /* of searching so far */

    uint64_t steps, decisions, episodes, evaluations, conflicts, updates;
    double decisions_per_s, episodes_per_s;
    double epsilon, loss;
    bool fine_tuning;
    struct live_stage stage[2];

    uint64_t began;             /* episodes of searches before this one */
    struct live_run run_before; /* to hold this one against */
    struct live_lesson *lesson; /* the last decision watched (watched.h); NULL: none */

    uint32_t position; /* move decided next; move_count: between episodes */
    int8_t *status;    /* [moves] now: -1 open, 0 whole, 1 split */
    int8_t *last;      /* [moves] [moves] at the end of the last episode; all -1 before the first */
    bool has_q;
    float q[2]; /* of whole and of split, at the position */
    uint32_t visits[2];
    double price[2]; /* step_ms after whole, after split, at the position */
    double step_ms;  /* of the current state */
    struct live_change *wave;
    uint32_t wave_count;
    uint32_t wave_move; /* the move that caused it; UINT32_MAX: none */

    double baseline_ms;      /* with everything whole except the pins */
    struct live_plan *best;  /* of this search; NULL none yet */
    struct live_plan *exact; /* proven optimum within reach of this search; NULL: not known */
    struct live_plan *plans[PLANS_MOST]; /* plans to compare: those that fit first, then by step
                                            time */
    uint32_t plan_count;

    struct live_pin *pins;
    uint32_t pin_count;
    uint32_t acts, undoable, redoable;
    bool journal_ended;    /* a disk is full: what comes now is not kept */
    struct ledger *ledger; /* of all acts (ledger.h); NULL out of memory */
    struct series reward, best_ms, loss_curve, epsilon_curve; /* x: episode; loss: update */
    struct series progress; /* share of dims settled after each decision; x: decision */
    struct live_log log;
};

const struct snapshot *snapshot_keep(const struct snapshot *s);
void snapshot_release(const struct snapshot *s);   /* any thread; NULL ok */
void live_problem_release(struct live_problem *p); /* NULL ok */
struct live_problem *live_problem_share(struct live_problem *p);
void live_plan_release(struct live_plan *p);
void live_plan_replace(struct live_plan **at, struct live_plan *with); /* takes over `with` */
struct live_plan *live_plan_share(struct live_plan *p);
bool live_plan_equal(const struct live_plan *a, const struct live_plan *b); /* the same splits */
struct live_moves *live_moves_new(const struct game *g);                    /* NULL out of memory */
struct live_moves *live_moves_share(struct live_moves *m);
void live_moves_release(struct live_moves *m);

#endif
