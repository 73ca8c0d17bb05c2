/* tui/watch/figures.h - the figures of a problem that a person changes while it is searched:
 * cluster, mesh, training. Each is one command of a session (engine/live/command.h). */
#ifndef AUTOMAP_TUI_WATCH_FIGURES_H
#define AUTOMAP_TUI_WATCH_FIGURES_H

#include "engine/problem/problem.h"

struct figure {
    const char *name;    /* as on screen: "network bandwidth" */
    const char *command; /* "cluster network.bandwidth=": the value comes behind */
    const char *summary;
};

/* The i-th that this problem has; false: no i-th. */
bool figure_at(const struct problem *p, size_t i, struct figure *out);
/* Its value as the command takes it: "25 Gbit/s". */
void figure_print(const struct problem *p, size_t i, char *out, size_t room);

/* What differs from problem `a` to `b`: "network bandwidth 25 Gbit/s to 100 Gbit/s", several with
 * commas; a mesh only where nothing else does. False: no figure does. */
bool figure_change(const struct problem *a, const struct problem *b, char *out, size_t room);

#endif
