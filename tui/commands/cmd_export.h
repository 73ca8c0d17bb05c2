/* tui/commands/cmd_export.h - automap export: a plan in a form other programs take. */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_EXPORT_H
#define AUTOMAP_TUI_COMMANDS_CMD_EXPORT_H

int cmd_export(int argc, char **argv);

#endif
