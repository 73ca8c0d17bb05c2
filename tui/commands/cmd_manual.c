#include "tui/commands/commands.h"
#include "tui/options/option.h"

#include "tui/options/exit_code.h"

#include <stdio.h>
#include <string.h>

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

static void print_option(const struct option *o)
{
    char name[48];

    if (!o->help)
        return;
    fputs(".TP\n.B ", stdout);
    print_roff(option_spelling(o, name));
    if (o->value) {
        fputs(" \\fI", stdout);
        print_roff(o->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_roff(o->help);
    putchar('\n');
}

static void print_paragraphs(const char *text)
{
    puts(".PP");
    print_roff(text);
    putchar('\n');
}

static void print_command(const struct command *c, const char *section)
{
    struct option o;

    printf("%s %s\n.B automap %s\n\\fI", section, c->name, c->name);
    print_roff(c->usage);
    printf("\\fR%s\n", c->options ? " [OPTION ...]" : "");
    print_paragraphs(c->about);
    for (size_t i = 0; option_at(c->options, i, &o); i++)
        print_option(&o);
    if (c->notes)
        print_paragraphs(c->notes);
    if (c->print_more) {
        puts(".PP\nIts --help lists more.");
    }
    for (size_t n = 0; c->parts && c->parts[n]; n++) {
        fputs(".TP\n.B ", stdout);
        print_roff(command_word(c->parts[n]));
        fputs(" \\fI", stdout);
        print_roff(c->parts[n]->usage);
        puts("\\fR");
        print_roff(c->parts[n]->summary);
        putchar('\n');
    }
}

static void print_man(void)
{
    puts(".\\\" Made by `automap manual man`.\n.TH AUTOMAP 1\n.SH NAME\n"
         "automap \\- find how best to distribute the training of a neural network over a cluster\n"
         ".SH SYNOPSIS\n.B automap\n[\\fIMODEL\\fR [\\fICLUSTER\\fR]]\n.br\n.B automap\n"
         "\\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]\n"
         ".SH DESCRIPTION\n"
         "Reads the HLO of a training step and a description of the machines, searches for the "
         "best\n"
         "distribution, and shows the search while it runs. Without a command it opens the "
         "explorer;\n"
         "without a model, a start screen that offers the shipped examples.\n"
         ".PP\nMODEL is HLO as text, JSON or protobuf, or StableHLO as text, also gzipped, \"-\" "
         "for "
         "standard input, or "
         "the name\n"
         "of a shipped example. CLUSTER is a YAML file or the name of a shipped one. In the "
         "explorer "
         "? shows all keys.\n"
         ".SH COMMANDS");
    for (size_t n = 0; commands[n]; n++)
        print_command(commands[n], ".SS");
    puts(".SH EXIT STATUS\n0 done; 1 wrong usage; 2 a file is wrong or cannot be read or written;\n"
         "3 stopped by the user; 4 no feasible plan.\n"
         ".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/automap\nkeys and theme\n.TP\n"
         ".I $XDG_STATE_HOME/automap\nrecent files, history, journals of sessions\n"
         ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colour unless asked for");
}

/* The shells ask the program, which knows its tables: automap manual complete WORD ... */
static const char bash_script[] =
    "# bash completion for automap, made by `automap manual bash`\n"
    "_automap() {\n"
    "    local word=\"${COMP_WORDS[COMP_CWORD]}\" line\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        if [ \"$line\" = +files ]; then\n"
    "            [ \"$word\" = = ] && word=\n"
    "            while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -- "
    "\"$word\")\n"
    "            compopt -o filenames\n"
    "        else\n"
    "            COMPREPLY+=(\"${line%%$'\\t'*}\")\n"
    "        fi\n"
    "    done < <(\"$1\" manual complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
    "}\n"
    "complete -F _automap automap\n";

static const char zsh_script[] =
    "#compdef automap\n"
    "# zsh completion for automap, made by `automap manual zsh`\n"
    "local line files=0\n"
    "local -a values\n"
    "for line in \"${(@f)$(\"$words[1]\" manual complete -- \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\"; do\n"
    "    case $line in\n"
    "        '') ;;\n"
    "        +files) files=1 ;;\n"
    "        *$'\\t'*) values+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "        *) values+=(\"${line//:/\\\\:}\") ;;\n"
    "    esac\n"
    "done\n"
    "(( $#values )) && _describe value values\n"
    "if (( files )); then\n"
    "    [[ $PREFIX == -*=* ]] && compset -P '*='\n"
    "    _files\n"
    "fi\n";

static const char fish_script[] =
    "# fish completion for automap, made by `automap manual fish`\n"
    "function __automap_complete\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in ($words[1] manual complete -- $words[2..-1] 2>/dev/null)\n"
    "        if test \"$line\" = +files\n"
    "            __fish_complete_path (commandline -ct | string replace -r '^-.*=' '')\n"
    "        else\n"
    "            echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c automap -f -a '(__automap_complete)'\n";

static const char *const kinds[] = {"man", "bash", "zsh", "fish"};
static const struct option rows[] = {{"KIND", NAMES(kinds)}, {0}};
static const struct option_set options[] = {{.rows = rows}, {0}};

static int run_manual(int argc, char **argv)
{
    static const char *const scripts[] = {bash_script, zsh_script, fish_script};
    const char *kind = argc > 1 ? argv[1] : "";

    if (argc > 2 && !strcmp(kind, "complete") && !strcmp(argv[2], "--")) {
        command_complete(argc - 3, argv + 3);
        return EXIT_OK;
    }
    if (argc == 2 && !strcmp(kind, kinds[0])) {
        print_man();
        return EXIT_OK;
    }
    for (size_t k = 1; argc == 2 && k < sizeof kinds / sizeof *kinds; k++) {
        if (!strcmp(kind, kinds[k])) {
            fputs(scripts[k - 1], stdout);
            return EXIT_OK;
        }
    }
    return options_complain("manual", "expected man, bash, zsh or fish");
}

const struct command command_manual = {
    .name = "manual",
    .usage = "man|bash|zsh|fish",
    .summary = "print the man page, or completions for a shell",
    .about = "Prints the man page, or what makes a shell complete automap's commands, options and "
             "their values: it asks automap manual complete -- WORD ..., which prints what may "
             "stand in place of the last word.",
    .options = options,
    .run = run_manual,
};
