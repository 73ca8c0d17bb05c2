/* tui/commands/fewer_print.h - the line under a step time that says when fewer devices take less
 * (engine/compare/fewer.h). */
#ifndef AUTOMAP_TUI_COMMANDS_FEWER_PRINT_H
#define AUTOMAP_TUI_COMMANDS_FEWER_PRINT_H

#include "engine/compare/fewer.h"
#include "engine/problem/problem.h"

#include <cjson/cJSON.h>

/* "  fewer devices   13.7 ms on 8 of the 16 devices: .."; nothing when none are faster, or on any
 * error. */
void fewer_print(const struct problem *p, const struct fewer_question *q);

/* Adds "fewer_devices": null when none are faster. */
void fewer_add_json(const struct problem *p, const struct fewer_question *q, cJSON *out);

#endif
