#include "tui/options/args.h"

#include "hlo/support/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_ROOM = 4096 };

void args_complain(const char *command, const char *format, ...)
{
    char raw[LINE_ROOM], line[LINE_ROOM];
    va_list args;

    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    text_clean(line, sizeof line, raw, strlen(raw));
    fprintf(stderr, "automap %s: %s; automap %s --help tells more\n", command, line, command);
}

int args_wrong(const char *option, const char *value, const char *expected)
{
    char line[LINE_ROOM];

    text_clean(line, sizeof line, value, strlen(value));
    fprintf(stderr, "automap: %s %s, expected %s\n", option, line[0] ? line : "has no value",
            expected);
    return -1;
}

const char *args_value(const char *name, int argc, char **argv, int *at)
{
    size_t length = strlen(name);

    if (strncmp(argv[*at], name, length))
        return NULL;
    if (argv[*at][length] == '=')
        return argv[*at] + length + 1;
    if (argv[*at][length])
        return NULL;
    return *at + 1 < argc ? argv[++*at] : "";
}

int args_mesh(struct cluster_mesh *m, const struct cluster *c, const char *text, struct err *e)
{
    if (!mesh_parse(m, c, text, e))
        return 0;
    err_in_file(e, "--mesh");
    return e->code = ERR_USAGE;
}
