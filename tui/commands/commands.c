#include "tui/commands/commands.h"

#include "tui/options/exit_code.h"

#include <string.h>

const struct command *const commands[] = {
    &command_bench,    &command_calibrate,
    &command_cast,     &command_cluster,
    &command_convert,  &command_doctor,
    &command_infer,    &command_inspect,
    &command_explore,  &command_export,
    &command_screen,   &command_tour,
    &command_explain,  &command_manual,
    &command_place,    &command_plan,
    &command_pretrain, &command_profile,
    &command_replay,   &command_search,
    &command_teach,    NULL,
};

const char *command_word(const struct command *c)
{
    const char *blank = strrchr(c->name, ' ');

    return blank ? blank + 1 : c->name;
}

const struct command *command_find(const struct command *const *list, const char *name)
{
    for (; *list; list++) {
        if (!strcmp(command_word(*list), name))
            return *list;
    }
    return NULL;
}

static void print_help(const struct command *c, FILE *out)
{
    fprintf(out, "usage: automap %s %s%s\n\n", c->name, c->usage,
            c->options ? " [OPTION ...]" : "");
    print_folded(c->about, 80, 0, out);
    if (c->options) {
        fputc('\n', out);
        options_print(c->options, out);
    }
    if (c->notes) {
        fputc('\n', out);
        print_folded(c->notes, 80, 0, out);
    }
    for (size_t n = 0; c->parts && c->parts[n]; n++)
        fprintf(out, "%s  %-8s %s\n           %s\n", n ? "" : "\n", command_word(c->parts[n]),
                c->parts[n]->usage, c->parts[n]->summary);
    if (c->print_more)
        c->print_more(out);
}

static bool asks_for_help(int argc, char **argv)
{
    for (int n = 1; n < argc; n++) {
        if (!strcmp(argv[n], "--help") || !strcmp(argv[n], "-h"))
            return true;
    }
    return false;
}

int command_run(const struct command *c, int argc, char **argv)
{
    const struct command *part = c->parts && argc > 1 ? command_find(c->parts, argv[1]) : NULL;

    if (part)
        return command_run(part, argc - 1, argv + 1);
    if (asks_for_help(argc, argv)) {
        print_help(c, stdout);
        return EXIT_OK;
    }
    if (!c->parts)
        return c->run(argc, argv);
    if (argc < 2) {
        print_help(c, stderr);
        return EXIT_USAGE;
    }
    return options_complain(c->name, "nothing of it is named \"%s\"", argv[1]);
}
