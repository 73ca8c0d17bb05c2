/* tui/files/theme_file.h - themes: colours by role, read from YAML.
 *
 *     name: default
 *     summary: dark background, colours of even weight
 *     background: "#0d1117"        # what contrast is measured against; pictures are painted on it
 *     paint: false                 # true: the terminal's own background is painted over as well
 *     colours: {blue: "#79b8ff"}   # names for use below
 *     roles:
 *       title: {fg: "#e6edf3", bg: default, attr: bold}
 *
 * A colour is "#rrggbb", one of the 16 names of a terminal (red, bright-red ...), a name from
 * `colours`, or default. attr: bold, reverse, both, or none. Every role must be given, `masked`
 * as every other. Wrong keys, colours and missing roles are errors with line and column.
 * The files of themes/ are compiled in; a path reads another. */
#ifndef AUTOMAP_TUI_FILES_THEME_FILE_H
#define AUTOMAP_TUI_FILES_THEME_FILE_H

#include "hlo/support/err.h"
#include "tui/screen/theme.h"

/* `text` is YAML of `size` bytes. On an error `t` is untouched. */
int theme_parse(struct theme *t, const char *text, size_t size, struct err *e) MUST_CHECK;

/* A theme that is compiled in, by name, else a file, by path (with a '/' or ending in .yaml). */
int theme_load(struct theme *t, const char *name, struct err *e) MUST_CHECK;

/* Names of the compiled-in themes in alphabetical order; NULL behind the last. */
const char *theme_builtin(size_t index);

#endif
