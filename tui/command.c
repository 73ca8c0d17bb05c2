#include "tui/command.h"

#include <string.h>

const struct command commands[] = {
    {0},
};

const struct command *command_find(const char *name)
{
    for (const struct command *c = commands; c->name; c++) {
        if (!strcmp(c->name, name))
            return c;
    }
    return NULL;
}
