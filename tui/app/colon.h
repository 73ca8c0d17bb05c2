/* tui/app/colon.h - the commands typed after ':'. Every action of the key tables is also a command,
 * by its name: ":panel-2", ":start.cluster". */
#ifndef AUTOMAP_TUI_APP_COLON_H
#define AUTOMAP_TUI_APP_COLON_H

#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/views/host.h"

/* A command of the program: what it takes, "" or "FILE", what it is for, whether it takes paths. */
struct colon_about {
    const char *name, *args, *words;
    bool files;
};
/* That of a line's first word; false: there is none. */
bool colon_about(const char *line, struct colon_about *out);

/* Completes `text`: returns how many lines begin with it, and in `most` their longest common
 * prefix. */
int colon_complete(struct app *a, const char *text, char *most, size_t most_room);

/* What the command of a line takes, where nothing that is known goes on with it: the files that its
 * last word begins, else what the line or its command is for. False: there is no such command. */
bool colon_hint(struct app *a, const char *text, char *out, size_t room);

/* The i-th line that may be typed, most used first: commands for the search, with the decision
 * under the cursor before others, then for the program (one line per value), then actions. False:
 * no i-th. keys: those of an action, or "". */
bool colon_line(struct app *a, int i, struct colon_line *line);

#endif
