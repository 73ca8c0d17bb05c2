/* tui/commands/cmd_search.h - automap search and automap replay. */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_SEARCH_H
#define AUTOMAP_TUI_COMMANDS_CMD_SEARCH_H

int cmd_search(int argc, char **argv);
int cmd_replay(int argc, char **argv);

#endif
