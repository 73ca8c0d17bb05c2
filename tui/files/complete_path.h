/* tui/files/complete_path.h - names of files while they are typed, as a shell completes them. */
#ifndef AUTOMAP_TUI_FILES_COMPLETE_PATH_H
#define AUTOMAP_TUI_FILES_COMPLETE_PATH_H

#include "hlo/support/mem.h"

/* How many names in the directory begin as the last part of `typed` (hidden ones only when that
 * begins with a dot). `most`: `typed` with all they share, and '/' behind a directory that is the
 * only one. `names` (may be NULL) gets up to a screen's width of them, cleaned, two blanks between.
 */
int complete_path(const char *typed, char *most, size_t room, struct str *names);

#endif
