/* tui/app/colon_live.h - commands of a running search on the command line: `:episode 100`, `:set
 * epsilon 0.1`, `:pin decoder cross 1-5 = 0`. Decisions are named as on the screen, or as in the
 * session's commands. */
#ifndef AUTOMAP_TUI_APP_COLON_LIVE_H
#define AUTOMAP_TUI_APP_COLON_LIVE_H

#include "tui/app/app_internal.h"
#include "tui/app/colon.h"
#include "tui/views/host.h"

/* False: not a command for searches. Otherwise it was sent, or the message row says why not. */
bool colon_live(struct app *a, const char *line);
/* What the verb of a line expects; false: not a command for searches. */
bool colon_live_hint(const char *line, char *out, size_t room);
/* The i-th line that completion and finder offer; false: no i-th, and *i is reduced by their
 * number. */
bool colon_live_line(struct app *a, int *i, struct colon_line *line);
/* The figures of the cluster, as PATH=: behind the names of clusters. */
bool colon_live_figure(struct app *a, int *i, struct colon_line *line);

#endif
