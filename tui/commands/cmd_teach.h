/* tui/commands/cmd_teach.h - `automap teach`: the learner on a game with a known answer, to watch
 * and to take apart. */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_TEACH_H
#define AUTOMAP_TUI_COMMANDS_CMD_TEACH_H

int cmd_teach(int argc, char **argv);

#endif
