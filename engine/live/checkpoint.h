/* engine/live/checkpoint.h - all of a core in a file beside its journal, so that a long search goes
 * on at once instead of being done again.
 *
 * The file is the journal's with ".checkpoint" behind it: sealed bytes (rl/serialize.h) that hold
 * the checksum of the last journal line they include. What the journal holds behind that line is
 * done again on top of it. It is a shortcut only: one that is damaged, of another build, another
 * problem or another journal is left aside, and the journal is replayed from its start. */
#ifndef AUTOMAP_ENGINE_LIVE_CHECKPOINT_H
#define AUTOMAP_ENGINE_LIVE_CHECKPOINT_H

#include "engine/live/journal.h"
#include "engine/live/search_state.h"
#include "hlo/support/err.h"
#include "rl/serialize.h"

/* To bytes; `place` is a number to find again the point it was made at. ERR_INPUT: this algorithm
 * cannot be saved; ERR_MEMORY. */
int checkpoint_save(struct search_state *c, uint64_t place, struct rl_bytes *out,
                    struct err *e) MUST_CHECK;

/* `c` must be new, of the same problem. ERR_INPUT: these are no such bytes; then `c` is half made
 * and must be released. */
int checkpoint_load(struct search_state *c, const struct rl_bytes *bytes, uint64_t *place,
                    struct err *e) MUST_CHECK;

/* Writes the checkpoint of c->journal when one is due: every second for small ones, larger ones
 * less often, so that no more than 2 MB a second are written; `now`: also before that, unless
 * nothing happened since. Trouble goes to the log, once; then no more are written. */
void checkpoint_when_due(struct search_state *c, bool now);

/* Does again what the journal at `path`, read into `log`, holds: from its checkpoint if there is
 * one that fits, else from the start, and then says why in `note` (empty otherwise). `c` must be
 * new; its journal is not touched. Errors as search_state_replay. */
enum { RESUME_NOTE_ROOM = 200 };
int checkpoint_resume(struct search_state *c, const char *path, const struct journal_log *log,
                      char note[RESUME_NOTE_ROOM], struct err *e) MUST_CHECK;

/* The last mark, the last checkpoint; closes c->journal, if there is one. */
void checkpoint_end_journal(struct search_state *c);

#endif
