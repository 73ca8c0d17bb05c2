/* tui/commands/inspect_kernels.h - custom-calls of a module by target: how many, their share of all
 * bytes, who says what they do, and a rule to start from for those that nobody knows. */
#ifndef AUTOMAP_TUI_COMMANDS_INSPECT_KERNELS_H
#define AUTOMAP_TUI_COMMANDS_INSPECT_KERNELS_H

#include "tui/commands/inspect.h"

#include "hlo/support/mem.h"

/* Nothing where a module has none. Appended. */
void inspect_kernels_page(const struct inspection *in, struct str *out);
/* A key "kernels" with one object each, and a comma. Appended. */
void inspect_kernels_json(const struct inspection *in, struct str *out);

#endif
