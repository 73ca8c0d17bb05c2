/* engine/live/journal.h - what a session was told and what it found, written as it happens.
 *
 * A text file of lines "CHECKSUM PAYLOAD": 16 hex digits and the rest. Each checksum covers its
 * payload and the checksum before it, so a damaged, missing or moved line ends the readable part.
 * Every line goes to the system at once: a killed process loses at most a second of searching,
 * which a replay repeats. Payloads:
 *     automap.journal/1
 *     arg TEXT                      the command line that made the problem, one argument a line
 *     problem MODEL CLUSTER CLASSES fingerprints, 16 hex digits, and a count
 *     c STEP COMMAND                a command, written before it was applied (s, e: from a script,
 *                                   by step, by episode)
 *     r STEP WORDS                  what became of the learner's replay by the command before
 *                                   it, for people: passed over when played again
 *     b STEP SCORE MS PLAN          a new best: the bits of both doubles and a hash of its labels,
 *                                   hex
 *     m STEP                        a mark: at least this step was reached; at most one a second
 * One thread at a time. */
#ifndef AUTOMAP_ENGINE_LIVE_JOURNAL_H
#define AUTOMAP_ENGINE_LIVE_JOURNAL_H

#include "engine/live/command.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

enum { JOURNAL_MOST = 1 << 30 }; /* bytes of one */

struct journal;

/* Path of a journal's checkpoint (engine/live/checkpoint.h). False: it does not fit. */
bool checkpoint_path(char *out, size_t room, const char *journal);

/* Creates a new file; ERR_IO if that fails or it exists. Removes a checkpoint left by another
 * journal of that name. */
int journal_create(const char *path, const struct problem *p, char *const *args, int arg_count,
                   struct journal **out, struct err *e) MUST_CHECK;
void journal_close(struct journal *j); /* NULL ok */

void journal_command(struct journal *j, char origin, uint64_t step, const struct live_command *c);
void journal_words(struct journal *j, uint64_t step, const char *words); /* r */
void journal_best(struct journal *j, uint64_t step, const struct live_plan *plan);
void journal_mark(struct journal *j, uint64_t step, bool now); /* now: even within the same
                                                                  second */
uint64_t journal_sum(const struct journal *j); /* checksum of the last line written */
const char *journal_path(const struct journal *j);
/* Why writing has stopped, or NULL. The search continues without a journal. */
const char *journal_trouble(const struct journal *j);

struct journal_record {
    char kind;                /* c s e r b m */
    uint64_t step, sum;       /* sum: checksum of its line */
    uint64_t score, ms, plan; /* b */
    size_t command;           /* c s e r: offset of its text in log->text */
};

static inline bool journal_is_command(const struct journal_record *r)
{
    return r->kind == 'c' || r->kind == 's' || r->kind == 'e';
}

struct journal_log {
    char *text;        /* the file, with lines ended by NUL */
    size_t size, good; /* bytes, readable bytes */
    uint64_t sum;      /* checksum of the last good line */
    char **args;
    int arg_count;
    uint64_t model, cluster;
    uint32_t classes;
    struct journal_record *records;
    size_t record_count;
    size_t arg_room, record_room;
};
/* ERR_INPUT: not a journal. A damaged tail is not an error: then good < size. */
int journal_read(const char *path, struct journal_log *out, struct err *e) MUST_CHECK;
void journal_log_release(struct journal_log *l);
/* ERR_INPUT unless the journal was made for this problem. */
int journal_fits(const struct journal_log *l, const struct problem *p, struct err *e) MUST_CHECK;
/* Opens the file again, cut to its readable part, to append. ERR_IO also while another process
 * writes it. */
int journal_reopen(const char *path, const struct journal_log *l, struct journal **out,
                   struct err *e) MUST_CHECK;

/* Writes the journal's part up to and with `step` as a new journal at `path`, which ends paused: a
 * session resumed from it is the search as it was there. ERR_IO: it cannot be made, or exists. */
int journal_branch(const struct journal_log *from, uint64_t step, const char *path,
                   struct err *e) MUST_CHECK;

/* Whether the journal at `path` is of the same problem, opened alike. Reads its beginning alone;
 * false also where that cannot be read. */
bool journal_starts_as(const struct journal_log *l, const char *path);

/* Whether both are journals of one problem, opened alike, and one went on differently: the step
 * *parts up to which they say the same of what was done and found. False where nothing of `b` is
 * its own. */
bool journal_parts(const struct journal_log *a, const struct journal_log *b, uint64_t *parts);

uint64_t journal_plan_hash(const struct live_plan *plan);

#endif
