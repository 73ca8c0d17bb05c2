/* tui/options/overwrite.h - the one rule for files that are there already.
 *
 * A command that writes to a name its person gave replaces what it may have written itself: an
 * empty file, or one whose first 4 KB name automap. Any other file is kept: at a terminal the
 * person is asked, elsewhere the command ends before it has computed anything. --force replaces it.
 */
#ifndef AUTOMAP_TUI_OPTIONS_OVERWRITE_H
#define AUTOMAP_TUI_OPTIONS_OVERWRITE_H

#include <stdbool.h>

/* The help of --force, the same everywhere. */
#define OVERWRITE_HELP "replace FILE even where it is not one that automap wrote"

/* EXIT_OK: `path` may be written as far as this rule goes. EXIT_INPUT: it may not; that was said.
 * `path` NULL or "-": no file. */
int overwrite_check(const char *path, bool force);

#endif
