/* automap: finds how best to distribute the training of a neural network over a cluster. */
#include "hlo/support/mem.h"
#include "hlo/support/pages.h"
#include "hlo/support/text.h"
#include "rl/threads.h"
#include "tui/commands/commands.h"
#include "tui/files/examples.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(FILE *out)
{
    fputs("usage: automap [MODEL [CLUSTER]]\n       automap COMMAND [ARGUMENT ...]\n\n", out);
    for (size_t n = 0; commands[n]; n++)
        fprintf(out, "  %-10s %s\n", commands[n]->name, commands[n]->summary);
    fputs("\n  automap COMMAND --help   what a command takes\n", out);
}

/* No argument, an option, or a model: a file, or the name of a shipped one. */
static bool is_for_explorer(int argc, char **argv)
{
    char data[PATH_MAX], path[PATH_MAX];

    if (argc < 2 || argv[1][0] == '-')
        return true;
    bool shipped = file_data_dir(data, sizeof data);
    return examples_model_path(path, sizeof path, shipped ? data : NULL, argv[1]);
}

int main(int argc, char **argv)
{
    static char output[1 << 16]; /* a stream without memory for its buffer loses what is printed */
    cJSON_Hooks hooks = {.malloc_fn = mem_alloc, .free_fn = free};

    pages_begin();
    rl_threads_stop();
    setvbuf(stdout, output, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof output);
    cJSON_InitHooks(&hooks);  /* a tree that lacks a leaf would be written as if it were whole */
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a full disk: an error, not an end */
    if (argc >= 2 && !strcmp(argv[1], "--version")) {
        puts("automap " AUTOMAP_VERSION);
        return fflush(stdout) ? EXIT_INPUT : EXIT_OK;
    }
    if (argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        print_help(stdout);
        return fflush(stdout) ? EXIT_INPUT : EXIT_OK;
    }
    const struct command *c = argc >= 2 ? command_find(commands, argv[1]) : NULL;
    if (!c && is_for_explorer(argc, argv))
        return command_run(&command_explore, argc, argv);
    if (!c) {
        char name[256]; /* without what a terminal would obey */
        text_clean(name, sizeof name, argv[1], strlen(argv[1]));
        fprintf(stderr,
                "automap: no command, file or example named \"%s\"; automap --help lists the "
                "commands\n",
                name);
        return EXIT_USAGE;
    }
    errno = 0;
    int code = command_run(c, argc - 1, argv + 1);
    if (code == EXIT_OK && errno == ENOMEM) { /* printf loses lines then and sets no flag */
        fputs("automap: memory ran out on the way; what was printed is not whole\n", stderr);
        return EXIT_INPUT;
    }
    if ((fflush(stdout) || ferror(stdout)) && code == EXIT_OK) {
        fputs("automap: cannot write to standard output\n", stderr);
        return EXIT_INPUT;
    }
    return code;
}
