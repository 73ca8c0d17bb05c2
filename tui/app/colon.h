/* tui/app/colon.h - the commands typed after ':'. Every action of the key tables is one as well, by
 * its name: ":panel-2", ":start.cluster". */
#ifndef AUTOMAP_TUI_APP_COLON_H
#define AUTOMAP_TUI_APP_COLON_H

#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/views/host.h"

/* Every line that begins as `text`: their count, and the longest beginning they share. */
int colon_complete(struct app *a, const char *text, char *most, size_t most_room);

/* The i-th line that may be typed, what is used most first: for the search, the decision under the
 * cursor before others, then for the program (those with values once per value), then actions;
 * false: no i-th. keys: of an action, or "". */
bool colon_line(struct app *a, int i, struct colon_line *line);

#endif
