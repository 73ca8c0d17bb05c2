/* engine/live/session.h - a search that runs in its own thread while people watch and steer it.
 *
 * The thread owns all search state. Commands go in through a queue and are applied between two
 * steps; snapshots come out. The thread makes a snapshot if one was requested since the last, when
 * it stops, and after a command, so a slow reader costs nothing. It holds no lock while it
 * searches. All functions may be called from any thread. */
#ifndef AUTOMAP_ENGINE_LIVE_SESSION_H
#define AUTOMAP_ENGINE_LIVE_SESSION_H

#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/live/search_state.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"

struct session;

struct session_options {
    struct search_options search;
    struct journal *journal; /* NULL: none; taken over, closed with the session and on error */
    const struct journal_log *resume; /* NULL, or the contents of `journal`: session_new replays
                                         them, from the checkpoint if possible */
};

/* `p` is borrowed and must outlive the session and all its snapshots. The search starts out ready,
 * not running. */
int session_new(const struct problem *p, const struct session_options *o, struct session **out,
                struct err *e) MUST_CHECK;
void session_free(struct session *s); /* stops and joins the thread; NULL ok */

/* Queues a command and returns its ticket, numbered from 1. Refuses commands after a quit. */
uint64_t session_send(struct session *s, const struct live_command *c);
/* Waits at most `timeout_s` seconds for that command: 0 if it was applied, ERR_* with the message
 * if it was refused, ERR_IO on time-out. */
int session_wait(struct session *s, uint64_t ticket, double timeout_s, struct err *e) MUST_CHECK;
/* Waits until the search needs another command to go on. False on time-out. */
bool session_wait_idle(struct session *s, double timeout_s);

/* Returns the newest snapshot with a reference for the caller (snapshot_release) and requests a
 * newer one. Never NULL. */
const struct snapshot *session_look(struct session *s);
/* A file descriptor that becomes readable when there is a snapshot newer than the last one returned
 * by session_look, which drains it. */
int session_fd(const struct session *s);
/* Returns the ticket of the last refused command, and its message in *e; 0: none. */
uint64_t session_refused(struct session *s, struct err *e);

#endif
