/* tui/options/args.h - what all commands do alike with their arguments. */
#ifndef AUTOMAP_TUI_OPTIONS_ARGS_H
#define AUTOMAP_TUI_OPTIONS_ARGS_H

#include "engine/cluster/mesh.h"

/* One line on standard error: "automap COMMAND: ...; automap COMMAND --help tells more". What a
 * terminal would obey is taken out: an argument may be a name that came from a file. */
void args_complain(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for an option many commands take: "automap: OPTION VALUE, expected ...". Returns -1. */
int args_wrong(const char *option, const char *value, const char *expected);

/* What --mesh says, for a cluster that is read already: ERR_USAGE when it is no mesh of its
 * devices. */
int args_mesh(struct cluster_mesh *m, const struct cluster *c, const char *text,
              struct err *e) MUST_CHECK;

/* The value of option `name` given as "NAME VALUE" or "NAME=VALUE"; NULL when argv[*at] is another
 * option. A missing value is "". */
const char *args_value(const char *name, int argc, char **argv, int *at);

#endif
