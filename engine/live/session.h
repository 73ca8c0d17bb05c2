/* engine/live/session.h - a search that runs in its own thread while people steer and watch it.
 *
 * One thread owns all search state. Commands go in through a queue and are applied between two
 * steps; snapshots come out. The search thread makes a snapshot when one was asked for since the
 * last, or when it stops or a command was applied; so a slow reader costs it nothing. No lock is
 * held while it searches. All functions may be called from any thread. */
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
    const struct journal_log *resume; /* NULL; else what `journal` holds: done again, from its
                                         checkpoint where that serves, in session_new */
};

/* `p` is borrowed and must outlive the session and all its snapshots. The search is ready, not
 * running. */
int session_new(const struct problem *p, const struct session_options *o, struct session **out,
                struct err *e) MUST_CHECK;
void session_free(struct session *s); /* stops and joins the thread; NULL ok */

/* Queues a command; returns its ticket, numbers from 1. What comes behind a quit is refused. */
uint64_t session_send(struct session *s, const struct live_command *c);
/* Waits until that command was applied, at most `timeout_s` seconds: 0 applied, ERR_* with its
 * sentence when it was refused, ERR_IO on time-out. */
int session_wait(struct session *s, uint64_t ticket, double timeout_s, struct err *e) MUST_CHECK;
/* Waits until nothing is left to do without another command. False on time-out. */
bool session_wait_idle(struct session *s, double timeout_s);

/* The newest snapshot, kept for the caller (snapshot_release), and a wish for a newer one. Never
 * NULL. */
const struct snapshot *session_look(struct session *s);
/* A file descriptor that becomes readable when a snapshot newer than the last one looked at is
 * there; session_look empties it. */
int session_fd(const struct session *s);
/* Sentence of the last command that was refused, with its ticket; 0 when none was. */
uint64_t session_refused(struct session *s, struct err *e);

#endif
