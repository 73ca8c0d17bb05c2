/* tui/watch/branches.h - kept sessions that began as another did and went on differently: branches
 * of it, or it is one of theirs. Nothing is written for that: two journals of one problem that say
 * the same up to a step are the same search up to there, bit for bit. */
#ifndef AUTOMAP_TUI_WATCH_BRANCHES_H
#define AUTOMAP_TUI_WATCH_BRANCHES_H

#include "engine/live/journal.h"
#include "tui/files/sessions.h"

#include <stdatomic.h>

enum { BRANCHES_MOST = 3, BRANCH_POINTS = 48 };

struct branch_point {
    uint64_t step;
    double ms; /* of a new best plan; 0: an act */
};

struct past_branch {
    char name[SESSION_NAME_ROOM];             /* as session_find takes it */
    uint64_t parts, last;                     /* steps: where it leaves, where it ends */
    double best_ms;                           /* 0: no plan */
    struct branch_point point[BRANCH_POINTS]; /* from `parts` on, the first ones */
    int points;
};

/* Of the sessions in `state_dir` (NULL: none) but `journal` itself, whose records are `log`, the
 * newest; unreadable ones are skipped. Returns how many; *more: of those left out. Reads every kept
 * journal of that problem; between two of them it ends early if *stop. */
int branches_find(struct past_branch out[static BRANCHES_MOST], int *more, const char *state_dir,
                  const char *journal, const struct journal_log *log, const atomic_bool *stop);

#endif
