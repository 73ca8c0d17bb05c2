#include "tui/commands/commands.h"

#include "hlo/support/mem.h"
#include "tui/options/args.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a command prints for --help, as text. Standard output goes to a file meanwhile. */
static bool help_of(const struct command *c, struct str *out)
{
    char name[64], option[] = "--help", *argv[] = {name, option, NULL};
    char line[512];
    FILE *file = tmpfile();

    if (!file)
        return false;
    snprintf(name, sizeof name, "%s", c->name);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    bool ok = kept >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0 && c->run(2, argv) == EXIT_OK;
    fflush(stdout);
    if (kept >= 0) {
        ok = dup2(kept, STDOUT_FILENO) >= 0 && ok;
        close(kept);
    }
    rewind(file);
    while (ok && fgets(line, sizeof line, file))
        str_add(out, line);
    fclose(file);
    return ok && !out->failed;
}

/* Text for roff: backslashes and hyphens escaped, no line that begins a request. */
static void print_roff(const char *text)
{
    bool first = true;

    for (; *text; text++) {
        if (first && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        first = *text == '\n';
    }
}

static int print_man(void)
{
    puts(".\\\" Made by `automap manual man`.\n.TH AUTOMAP 1\n.SH NAME\n"
         "automap \\- how to distribute the training of a neural network over a cluster\n"
         ".SH SYNOPSIS\n.B automap\n[\\fIMODEL\\fR [\\fICLUSTER\\fR]]\n.br\n.B automap\n"
         "\\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]\n"
         ".SH DESCRIPTION\n"
         "Reads the HLO of a training step and a description of the machines, searches for the "
         "best\n"
         "distribution, and shows the search while it runs. Without a command it opens the "
         "explorer;\n"
         "without a model, a start screen that offers the shipped examples.\n"
         ".PP\nMODEL is HLO as text, JSON or protobuf, also gzipped, \"-\" for standard input, or "
         "the name\n"
         "of a shipped example. CLUSTER is a YAML file. In the explorer ? shows all keys.\n"
         ".SH COMMANDS");
    for (const struct command *c = commands; c->name; c++) {
        struct str help = {0};
        if (!strcmp(c->name, "manual"))
            continue;
        printf(".SS %s\n", c->name);
        print_roff(c->summary);
        fputs(".\n.PP\n.nf\n", stdout);
        if (!help_of(c, &help)) {
            str_release(&help);
            fprintf(stderr, "automap manual: %s says nothing of itself\n", c->name);
            return EXIT_INPUT;
        }
        print_roff(help.text ? help.text : "");
        puts(".fi");
        str_release(&help);
    }
    puts(".SH EXIT STATUS\n0 done; 1 wrong usage; 2 a file is wrong or cannot be read or written;\n"
         "3 stopped by the user; 4 no feasible plan.\n"
         ".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/automap\nkeys and theme\n.TP\n"
         ".I $XDG_STATE_HOME/automap\nrecent files, history, journals of sessions\n"
         ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colour unless asked for");
    return EXIT_OK;
}

/* Calls `each` with every --option that a command's help names, once. */
static void each_option(const struct command *c,
                        void (*each)(const struct command *c, const char *option, size_t size))
{
    struct str help = {0}, seen = {0};

    if (help_of(c, &help) && help.text) {
        for (const char *at = help.text; (at = strstr(at, "--"));) {
            size_t size = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
            char key[80];
            if (size > 2 && size < sizeof key - 2) {
                snprintf(key, sizeof key, " %.*s ", (int)size, at);
                if (!seen.text || !strstr(seen.text, key)) {
                    str_add(&seen, key);
                    each(c, at, size);
                }
            }
            at += size;
        }
    }
    str_release(&help);
    str_release(&seen);
}

static void print_word(const struct command *c, const char *option, size_t size)
{
    (void)c;
    printf(" %.*s", (int)size, option);
}

static void print_fish_option(const struct command *c, const char *option, size_t size)
{
    printf("complete -c automap -n '__fish_seen_subcommand_from %s' -l %.*s\n", c->name,
           (int)size - 2, option + 2);
}

static int print_bash(void)
{
    puts("# bash completion for automap, made by `automap manual bash`\n_automap() {\n"
         "    local word=\"${COMP_WORDS[COMP_CWORD]}\" options=\"\"\n"
         "    case \"${COMP_WORDS[1]}\" in");
    for (const struct command *c = commands; c->name; c++) {
        printf("        %s) options=\"", c->name);
        each_option(c, print_word);
        puts("\" ;;");
    }
    fputs("    esac\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -f -W \"",
          stdout);
    for (const struct command *c = commands; c->name; c++)
        printf("%s ", c->name);
    puts("\" -- \"$word\"))\n    elif [[ \"$word\" == -* ]]; then\n"
         "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n    else\n"
         "        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\n"
         "complete -o filenames -F _automap automap");
    return EXIT_OK;
}

static int print_zsh(void)
{
    puts("#compdef automap\n# made by `automap manual zsh`\nlocal -a commands options\ncommands=(");
    for (const struct command *c = commands; c->name; c++)
        printf("    '%s:%s'\n", c->name, c->summary);
    puts(")\nif (( CURRENT == 2 )); then\n    _describe command commands\n    _files\n    "
         "return\nfi\n"
         "case $words[2] in");
    for (const struct command *c = commands; c->name; c++) {
        printf("    %s) options=(", c->name);
        each_option(c, print_word);
        puts(" ) ;;");
    }
    puts("esac\ncompadd -- $options\n_files");
    return EXIT_OK;
}

static int print_fish(void)
{
    puts("# fish completion for automap, made by `automap manual fish`");
    for (const struct command *c = commands; c->name; c++) {
        printf("complete -c automap -n __fish_use_subcommand -a %s -d '%s'\n", c->name, c->summary);
        each_option(c, print_fish_option);
    }
    return EXIT_OK;
}

int cmd_manual(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*print)(void);
    } kinds[] = {
        {"man", print_man}, {"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

    if (argc == 2 && !strcmp(argv[1], "--help")) {
        puts("usage: automap manual man|bash|zsh|fish\n\nPrints the man page, or the completions "
             "of a shell.");
        return EXIT_OK;
    }
    for (size_t k = 0; argc == 2 && k < sizeof kinds / sizeof *kinds; k++) {
        if (!strcmp(argv[1], kinds[k].name))
            return kinds[k].print();
    }
    args_complain("manual", "expected man, bash, zsh or fish");
    return EXIT_USAGE;
}
