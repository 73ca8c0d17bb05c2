/* tui/commands/cmd_explain.h - automap explain. */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_EXPLAIN_H
#define AUTOMAP_TUI_COMMANDS_CMD_EXPLAIN_H

int cmd_explain(int argc, char **argv);

#endif
