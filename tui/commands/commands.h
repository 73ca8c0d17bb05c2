/* tui/commands/commands.h - the subcommands of `automap`: their options, help and function.
 *
 * A command gets its own argv (argv[0] is its name) and returns an exit code
 * (tui/options/exit_code.h). A new one is a file of its own, a line here and a row in commands.c.
 */
#ifndef AUTOMAP_TUI_COMMANDS_COMMANDS_H
#define AUTOMAP_TUI_COMMANDS_COMMANDS_H

#include "tui/options/option.h"

struct command {
    const char *name;                 /* "plan"; of a part "bench read" */
    const char *usage;                /* arguments, as in the first line of its help */
    const char *summary;              /* one line, lower case, no full stop */
    const char *about;                /* a paragraph or more */
    const struct option_set *options; /* NULL: none */
    const char *notes;                /* behind the options; NULL: nothing */
    void (*print_more)(FILE *out);    /* tables at the end; NULL: none */
    int (*run)(int argc, char **argv);
    const struct command *const
        *parts; /* in place of run: the commands of this one; ends with NULL */
};

extern const struct command command_bench, command_calibrate, command_cast, command_cluster,
    command_convert, command_doctor, command_explain, command_explore, command_export,
    command_infer, command_inspect, command_manual, command_place, command_plan, command_pretrain,
    command_profile, command_replay, command_screen, command_search, command_teach, command_tour;

extern const struct command *const commands[]; /* ends with NULL */

const char *command_word(const struct command *c); /* the last word of its name */
const struct command *command_find(const struct command *const *list,
                                   const char *name); /* or NULL */

/* Runs it, or prints its help when that is asked for. An exit code. */
int command_run(const struct command *c, int argc, char **argv);

/* Prints completions for the last of `count` words after "automap", one a line, each with a tab and
 * a description; "+files" if a file name fits. */
void command_complete(int count, char **words);

#endif
