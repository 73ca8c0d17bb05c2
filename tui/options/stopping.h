/* tui/options/stopping.h - how a command without a screen is told to end.
 *
 * Between begin and end, SIGINT, SIGTERM and SIGHUP set a flag that long computations look at; they
 * then hand over the best they have, and the command leaves with EXIT_STOPPED. A second signal of
 * the same kind ends the process as usual. One command at a time; call from the main thread. */
#ifndef AUTOMAP_TUI_OPTIONS_STOPPING_H
#define AUTOMAP_TUI_OPTIONS_STOPPING_H

#include <stdatomic.h>
#include <stdbool.h>

const atomic_bool *stopping_begin(void);
/* Puts the former handling back. True: a signal came. */
bool stopping_end(void);

#endif
