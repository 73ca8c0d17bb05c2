/* engine/live/checkpoint.h - the whole search state in a file beside its journal, so that a long
 * search resumes at once instead of being replayed.
 *
 * Its name is the journal's plus ".checkpoint". It holds sealed bytes (rl/serialize.h) with the
 * checksum of the last journal line they include; later journal lines are replayed on top. It is
 * only a shortcut: a checkpoint that is damaged, or belongs to another build, problem or journal,
 * is ignored and the journal replayed from its start. */
#ifndef AUTOMAP_ENGINE_LIVE_CHECKPOINT_H
#define AUTOMAP_ENGINE_LIVE_CHECKPOINT_H

#include "engine/live/journal.h"
#include "engine/live/search_state.h"
#include "hlo/support/err.h"
#include "rl/serialize.h"

/* Saves the state to bytes; `place` marks the point it was made at. ERR_INPUT: this algorithm
 * cannot be saved; ERR_MEMORY. */
int checkpoint_save(struct search_state *c, uint64_t place, struct rl_bytes *out,
                    struct err *e) MUST_CHECK;

/* `c` must be new, for the same problem. ERR_INPUT: not such bytes; `c` is then incomplete and must
 * be released. */
int checkpoint_load(struct search_state *c, const struct rl_bytes *bytes, uint64_t *place,
                    struct err *e) MUST_CHECK;

/* Writes the checkpoint of c->journal if one is due: every second, or less often for large ones, at
 * most 2 MB a second; `now`: at once, unless nothing happened since the last. On failure logs it
 * once and stops writing checkpoints. */
void checkpoint_when_due(struct search_state *c, bool now);

/* Replays the journal at `path`, read into `log`: from its checkpoint if that matches, else from
 * the start, with the reason in `note` (otherwise empty). `c` must be new; its journal is not
 * touched. Errors as search_state_replay. */
enum { RESUME_NOTE_ROOM = 200 };
int checkpoint_resume(struct search_state *c, const char *path, const struct journal_log *log,
                      char note[RESUME_NOTE_ROOM], struct err *e) MUST_CHECK;

/* Writes the last mark and checkpoint and closes c->journal, if there is one. ERR_IO: the journal,
 * or a checkpoint of it, could not be written. */
int checkpoint_end_journal(struct search_state *c, struct err *e);

#endif
