/* tui/app/colon_values.h - the values of commands that take one of a few: "zero 2", "mesh 2x8",
 * "row 3", "again dueling on"; and names of variables and instructions where one is asked for. */
#ifndef AUTOMAP_TUI_APP_COLON_VALUES_H
#define AUTOMAP_TUI_APP_COLON_VALUES_H

#include "tui/app/app.h"
#include "tui/views/host.h"

#include <stdbool.h>
#include <stddef.h>

/* The i-th such line; false: no i-th, and *i is reduced by their number. */
bool colon_value_line(struct app *a, int *i, struct colon_line *line);

/* Completes "role NAME", "role NAME=ROLE", "batch NAME:DIM" and "loss NAME": returns how many begin
 * with `text`, and in `most` their longest common prefix. O(instructions). */
int colon_complete_name(struct app *a, const char *text, char *most, size_t most_room);

#endif
