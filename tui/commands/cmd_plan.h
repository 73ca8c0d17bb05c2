/* tui/commands/cmd_plan.h - automap plan. */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_PLAN_H
#define AUTOMAP_TUI_COMMANDS_CMD_PLAN_H

int cmd_plan(int argc, char **argv);

#endif
