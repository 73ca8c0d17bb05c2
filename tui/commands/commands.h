/* tui/commands/commands.h - the subcommands of `automap`, one row each in commands.c.
 *
 * A command gets its own argv (argv[0] is its name) and returns an exit code
 * (tui/options/exit_code.h). */
#ifndef AUTOMAP_TUI_COMMANDS_COMMANDS_H
#define AUTOMAP_TUI_COMMANDS_COMMANDS_H

#include "tui/options/exit_code.h"

struct command {
    const char *name;
    const char *usage;   /* arguments, as in the first line of its help */
    const char *summary; /* one line, lower case, no full stop */
    int (*run)(int argc, char **argv);
};

extern const struct command commands[]; /* ends with name NULL */

const struct command *command_find(const char *name); /* NULL: none */

int cmd_bench(int argc, char **argv);
int cmd_cluster(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_explore(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_manual(int argc, char **argv);
int cmd_place(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_screen(int argc, char **argv);
int cmd_search(int argc, char **argv);
int cmd_teach(int argc, char **argv);
int cmd_tour(int argc, char **argv);

#endif
