/* tui/options/exit_code.h - what a command returns. */
#ifndef AUTOMAP_TUI_OPTIONS_EXIT_CODE_H
#define AUTOMAP_TUI_OPTIONS_EXIT_CODE_H

#include "hlo/support/err.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_USAGE = 1,      /* the command line is wrong */
    EXIT_INPUT = 2,      /* a file is wrong or cannot be read or written */
    EXIT_STOPPED = 3,    /* stopped by the user */
    EXIT_INFEASIBLE = 4, /* no feasible plan */
};

static inline int exit_code_of(const struct err *e)
{
    return e->code == ERR_INFEASIBLE ? EXIT_INFEASIBLE
           : e->code == ERR_USAGE    ? EXIT_USAGE
           : e->code == ERR_STOPPED  ? EXIT_STOPPED
                                     : EXIT_INPUT;
}

#endif
