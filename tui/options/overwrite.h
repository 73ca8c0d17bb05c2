/* tui/options/overwrite.h - the one rule for existing files.
 *
 * A command that writes to a name given by a person replaces only what automap may have written: an
 * empty file, or one whose first 4 KB name automap. For any other file it asks at a terminal;
 * elsewhere it ends before computing anything. --force replaces it. */
#ifndef AUTOMAP_TUI_OPTIONS_OVERWRITE_H
#define AUTOMAP_TUI_OPTIONS_OVERWRITE_H

#include <stdbool.h>

/* The help of --force, the same everywhere. */
#define OVERWRITE_HELP "replace FILE even if automap did not write it"

/* EXIT_OK: the rule allows writing `path`. EXIT_INPUT: it does not; a message was printed. `path`
 * NULL or "-": no file. */
int overwrite_check(const char *path, bool force);

#endif
