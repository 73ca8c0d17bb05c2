/* tui/files/shell_line.h - a line for the shell with places for values: {group} {instruction}
 * {plan} {line} {file}. Other braces are the shell's.
 *
 * A value comes from a file that somebody else made. It stands in single quotes, with control
 * characters taken out, so it stays one word whatever it holds; and a place where quotes would not
 * do that - within quotes, backquotes, arithmetic, a line with a here-document - is refused when
 * the line is read. A file that begins with '-' or '+' becomes ./-, for an editor takes +COMMAND; a
 * group or instruction is passed as it is: write -- before it. Any thread. */
#ifndef AUTOMAP_TUI_FILES_SHELL_LINE_H
#define AUTOMAP_TUI_FILES_SHELL_LINE_H

#include "hlo/support/mem.h"

#include <stdbool.h>

enum shell_place {
    SHELL_GROUP,
    SHELL_INSTRUCTION,
    SHELL_PLAN,
    SHELL_LINE,
    SHELL_FILE,
    SHELL_PLACES
};

/* NULL: the line is sound; else what is wrong with it. */
const char *shell_line_trouble(const char *line);
/* Whether it has that place. */
bool shell_line_has(const char *line, enum shell_place place);
/* The line with values in place; NULL where it has none of that place. Appended. */
void shell_line_fill(const char *line, const char *const values[static SHELL_PLACES],
                     struct str *out);

#endif
