/* tui/watch/versus.h - one plan against another in one sentence: which is faster, by how much, and
 * what explains most of it. */
#ifndef AUTOMAP_TUI_WATCH_VERSUS_H
#define AUTOMAP_TUI_WATCH_VERSUS_H

#include "engine/cost/step_tables.h"

#include <stddef.h>

struct versus_side {
    const char *name; /* "A", "row 3" */
    struct step_cost cost;
    double bytes; /* of its collectives, local, of one step */
};

/* "B is 30.5 ms slower than A: 3,095 MB of collectives instead of 773." Computing or communication,
 * whichever differs more the way the step does; bytes where both send some and they differ that way
 * too; neither where a side's are not known (NAN). Returns out. */
char *versus_sentence(const struct versus_side *a, const struct versus_side *b, char *out,
                      size_t room);

#endif
