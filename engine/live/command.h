/* engine/live/command.h - what a person can tell a running search; the one door into it.
 *
 * A command is plain data with a text form of one line, used by the journal, by scripts and by the
 * `:` line:
 *     run | pause | decide [N] | episode [N] | pace PER_SECOND
 *     pin NAME:DIM=0|1 | unpin NAME:DIM | forbid NAME:DIM | backtrack NAME:DIM | force 0|1
 *     undo | redo | row N | set OPTION VALUE | again OPTION VALUE
 *     cluster PATH=VALUE | servers LIST [AxB] | mesh AxB | micro-batches K | zero 0..3
 *     role NAME=ROLE | batch NAME:DIM | batch N | batch xN | batch /N | loss NAME | quit
 *
 * NAME:DIM is as in setting_apply and means the move that decides that dim. PATH is as in
 * cluster_set, LIST (of the cluster as it is) as in cluster_keep, ROLE one of hlo_role_names; loss
 * as in hlo_vars; "mesh one" is one axis over all devices; "batch x2" is twice as many samples;
 * "again" is set and a search that begins anew, beside the one before; row N goes back to a row of
 * the ledger. */
#ifndef AUTOMAP_ENGINE_LIVE_COMMAND_H
#define AUTOMAP_ENGINE_LIVE_COMMAND_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdbool.h>

#define COMMAND_VERBS(X)            \
    X(RUN, "run", NONE)             \
    X(PAUSE, "pause", NONE)         \
    X(DECIDE, "decide", COUNT)      \
    X(EPISODE, "episode", COUNT)    \
    X(PACE, "pace", NUMBER)         \
    X(PIN, "pin", TEXT)             \
    X(UNPIN, "unpin", TEXT)         \
    X(FORBID, "forbid", TEXT)       \
    X(BACKTRACK, "backtrack", TEXT) \
    X(FORCE, "force", NUMBER)       \
    X(UNDO, "undo", NONE)           \
    X(REDO, "redo", NONE)           \
    X(ROW, "row", NUMBER)           \
    X(SET, "set", TEXT)             \
    X(AGAIN, "again", TEXT)         \
    X(CLUSTER, "cluster", TEXT)     \
    X(SERVERS, "servers", TEXT)     \
    X(MESH, "mesh", TEXT)           \
    X(MICRO, "micro-batches", TEXT) \
    X(ZERO, "zero", TEXT)           \
    X(ROLE, "role", TEXT)           \
    X(LOSS, "loss", TEXT)           \
    X(BATCH, "batch", TEXT)         \
    X(QUIT, "quit", NONE)

enum command_verb {
#define X(id, name, argument) COMMAND_##id,
    COMMAND_VERBS(X)
#undef X
        COMMAND_VERB_COUNT
};

enum { COMMAND_TEXT_ROOM = 512 };

struct live_command {
    uint8_t verb;  /* enum command_verb */
    double number; /* decide, episode: how many; pace: decisions a second, 0: full speed; force: 0
                      or 1; row: its number */
    char text[COMMAND_TEXT_ROOM]; /* pin, unpin, forbid, backtrack, set */
};

/* ERR_INPUT: no such command, or its argument is missing or wrong. */
int live_command_parse(const char *line, struct live_command *out, struct err *e) MUST_CHECK;
void live_command_print(const struct live_command *c, struct str *out);
/* The verbs as text, by enum command_verb. */
extern const char *const live_command_names[COMMAND_VERB_COUNT];

#endif
