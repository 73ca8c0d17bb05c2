/* tui/app/colon_live.h - commands of a running search on the command line: `:episode 100`, `:set
 * epsilon 0.1`, `:pin decoder cross 1-5 = 0`. Decisions go by the names on screen, or as the
 * session takes them. */
#ifndef AUTOMAP_TUI_APP_COLON_LIVE_H
#define AUTOMAP_TUI_APP_COLON_LIVE_H

#include "tui/app/app_internal.h"
#include "tui/app/colon.h"
#include "tui/views/host.h"

/* False: not a command of searches. Else it was sent, or why not was said. */
bool colon_live(struct app *a, const char *line);

/* The i-th line that completion and palette offer; false: *i was lowered by how many there are. */
bool colon_live_line(struct app *a, int *i, struct colon_line *line);

#endif
