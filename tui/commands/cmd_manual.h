/* tui/commands/cmd_manual.h - automap manual: the man page and shell completions, made from the
 * command table and from what each command says of itself. */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_MANUAL_H
#define AUTOMAP_TUI_COMMANDS_CMD_MANUAL_H

int cmd_manual(int argc, char **argv);

#endif
