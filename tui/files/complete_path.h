/* tui/files/complete_path.h - completes file names as a shell does. */
#ifndef AUTOMAP_TUI_FILES_COMPLETE_PATH_H
#define AUTOMAP_TUI_FILES_COMPLETE_PATH_H

#include "hlo/support/mem.h"

/* Returns how many names in the directory begin with the last part of `typed` (hidden ones only if
 * it begins with a dot). `most` receives `typed` extended by all they share, plus '/' for a single
 * directory; `names` (may be NULL) up to a screen's width of the names, cleaned, with two blanks
 * between them. */
int complete_path(const char *typed, char *most, size_t room, struct str *names);

#endif
