#include "tui/command.h"

#include "tui/cmd_cluster.h"
#include "tui/cmd_convert.h"

#include <string.h>

const struct command commands[] = {
    {"cluster", "[FILE] [--devices N] [--mesh AxB] [--set PATH=VALUE] [--json]",
     "show a cluster and what collectives cost on it", cmd_cluster},
    {"convert", "IN OUT [--no-metadata] [--module N] [--max-bytes N]",
     "read HLO in any form, write it in another", cmd_convert},
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
