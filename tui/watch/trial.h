/* tui/watch/trial.h - what a change would come to, before it is made: the command is carried out on
 * a search of its own, with the problem, options and pins there are, and its proven optimum taken.
 * In a thread of its own; zeroed to begin with. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_TRIAL_H
#define AUTOMAP_TUI_WATCH_TRIAL_H

#include "engine/live/command.h"
#include "tui/watch/ledger_text.h"
#include "tui/watch/watch.h"

#include <stdbool.h>
#include <stdint.h>

struct trial_look {
    bool done;
    char trouble[160];             /* done: why it can not be; "": it can */
    bool has_plan;                 /* one that fits */
    double step_ms, memory;        /* of the optimum; bytes of a device */
    char proof[LEDGER_PROOF_ROOM]; /* as ledger_proof has it */
};

struct trial_job;

struct trial {
    char line[COMMAND_TEXT_ROOM]; /* tried; "": nothing is */
    struct trial_look look;       /* of it */
    uint32_t row;                 /* of the ledger it starts from */
    double since_ms;              /* it is this line since then */
    struct trial_job *job;
    bool is_of_line; /* the job; else it is of a line before, and was asked to end */
};

/* Goes on with `line` (as a person types it: "zero 1"; "": nothing), which begins once it has stood
 * for a quarter of a second; at once, and to its end, where there is no clock (now_ms 0). */
void trial_follow(struct trial *t, const struct watch *w, const char *line, double now_ms);
bool trial_is_busy(const struct trial *t); /* more will be known */
/* Waits for the job to end; the problem may be edited before, the model must still be open. */
void trial_release(struct trial *t);

#endif
