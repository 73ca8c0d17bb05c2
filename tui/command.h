/* tui/command.h - the subcommands of `automap`, one row each in tui/command.c.
 *
 * A command gets its own argv (argv[0] is its name) and returns an exit code. */
#ifndef AUTOMAP_TUI_COMMAND_H
#define AUTOMAP_TUI_COMMAND_H

enum exit_code {
    EXIT_OK = 0,
    EXIT_USAGE = 1,      /* the command line is wrong */
    EXIT_INPUT = 2,      /* a file is wrong or cannot be read or written */
    EXIT_STOPPED = 3,    /* stopped by the user */
    EXIT_INFEASIBLE = 4, /* no feasible plan */
};

struct command {
    const char *name;
    const char *usage;   /* arguments, as in the first line of its help */
    const char *summary; /* one line, lower case, no full stop */
    int (*run)(int argc, char **argv);
};

extern const struct command commands[]; /* ends with name NULL */

const struct command *command_find(const char *name); /* NULL: none */

#endif
