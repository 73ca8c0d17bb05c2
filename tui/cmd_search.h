/* tui/cmd_search.h - automap search. */
#ifndef AUTOMAP_TUI_CMD_SEARCH_H
#define AUTOMAP_TUI_CMD_SEARCH_H

int cmd_search(int argc, char **argv);

#endif
