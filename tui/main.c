/* automap: finds out how to distribute the training of a neural network over a cluster. */
#include "tui/command.h"

#include <stdio.h>
#include <string.h>

static void print_help(FILE *out)
{
    fputs("usage: automap COMMAND [ARGUMENT ...]\n\n", out);
    for (const struct command *c = commands; c->name; c++)
        fprintf(out, "  %-10s %s\n", c->name, c->summary);
    fputs("\n  automap COMMAND --help   what a command takes\n", out);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_help(stdout);
        return fflush(stdout) ? EXIT_INPUT : EXIT_OK;
    }
    const struct command *c = command_find(argv[1]);
    if (!c) {
        fprintf(stderr, "automap: no command named \"%s\"; automap --help lists them\n", argv[1]);
        return EXIT_USAGE;
    }
    int code = c->run(argc - 1, argv + 1);
    if (fflush(stdout) && code == EXIT_OK) {
        fputs("automap: cannot write to standard output\n", stderr);
        return EXIT_INPUT;
    }
    return code;
}
