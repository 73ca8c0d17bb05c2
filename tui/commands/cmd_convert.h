/* tui/commands/cmd_convert.h - automap convert IN OUT: a module from one form of HLO to another. */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_CONVERT_H
#define AUTOMAP_TUI_COMMANDS_CMD_CONVERT_H

int cmd_convert(int argc, char **argv);

#endif
