/* tui/commands/hybrid_print.h - a hybrid plan on paper. */
#ifndef AUTOMAP_TUI_COMMANDS_HYBRID_PRINT_H
#define AUTOMAP_TUI_COMMANDS_HYBRID_PRINT_H

#include "engine/hybrid/hybrid.h"

/* `seconds` of the search on a processor; 0: it was read from a file. */
void hybrid_print(const struct hybrid *h, double seconds);

#endif
