/* tui/options/stopping.h - how a command without a screen is asked to stop.
 *
 * Between begin and end, SIGINT, SIGTERM and SIGHUP set a flag that long computations poll; they
 * then return their best so far, and the command exits with EXIT_STOPPED. A second signal of the
 * same kind ends the process as usual. One command at a time; call from the main thread. */
#ifndef AUTOMAP_TUI_OPTIONS_STOPPING_H
#define AUTOMAP_TUI_OPTIONS_STOPPING_H

#include <stdatomic.h>
#include <stdbool.h>

const atomic_bool *stopping_begin(void);
/* Restores the previous handlers. True: a signal came. */
bool stopping_end(void);

#endif
