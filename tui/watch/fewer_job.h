/* tui/watch/fewer_job.h - whether fewer devices would be faster than the best plan on screen
 * (engine/compare/fewer.h), worked out in a thread of its own. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_FEWER_JOB_H
#define AUTOMAP_TUI_WATCH_FEWER_JOB_H

#include "engine/compare/fewer.h"

#include <stdbool.h>
#include <stddef.h>

struct watch;
struct fewer_job;

/* Asks anew when the optimum, the memory limit or what is decided has changed. `in_thread` false:
 * all of it before this returns, for pictures. Without memory for it, nothing is found. */
void fewer_follow(struct watch *w, bool in_thread);
bool fewer_is_asked(const struct watch *w); /* the answer is not there yet */

/* The fewer devices on which a strict plan is faster than the optimum on all; NULL: none are known.
 * Lives until the next fewer_follow. */
const struct fewer *fewer_found(const struct watch *w);

/* "   on 8 devices 28.3 ms": where those beat a plan of `step_ms` by more than 1 %; else "". */
void fewer_words(const struct watch *w, double step_ms, char *out, size_t room);

/* The command that takes them: "servers 0 8". */
void fewer_command(const struct fewer *f, char *out, size_t room);

void fewer_job_free(struct fewer_job *j); /* stops and joins; NULL ok */

#endif
