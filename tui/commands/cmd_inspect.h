/* tui/commands/cmd_inspect.h - automap inspect: what a model file holds. */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_INSPECT_H
#define AUTOMAP_TUI_COMMANDS_CMD_INSPECT_H

int cmd_inspect(int argc, char **argv);

#endif
