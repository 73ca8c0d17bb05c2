/* tui/views/place_run.h - the placement view's jobs, one after the other, and the plan it shows of
 * them. Private to view_place.c and place_run.c. UI thread. */
#ifndef AUTOMAP_TUI_VIEWS_PLACE_RUN_H
#define AUTOMAP_TUI_VIEWS_PLACE_RUN_H

#include "engine/place/placement.h"
#include "hlo/support/err.h"
#include "tui/views/panel.h"
#include "tui/views/place_draw.h"
#include "tui/watch/placing.h"
#include "tui/watch/watch.h"

#include <limits.h>
#include <stdbool.h>

struct place_view {
    struct placing_graph *graph; /* in place of the problem; NULL: the problem's */
    struct placing *job;
    struct placing_asked asked;
    struct placing_look found;
    bool starts; /* the job is being left; then another begins with what is asked */
    bool sweeps; /* every algorithm in turn, for the table */
    struct place_shown shown;
    uint32_t version;       /* of the plan shown */
    bool fresh;             /* figures of the cursor are of what is shown */
    char written[PATH_MAX]; /* what e found to be there: e again replaces it */
};

/* The job is left; the next one begins, with what is asked by then, when it has ended. */
void place_run_start(struct panel *p);
/* Every algorithm that answers the objective in turn, until the first one's turn again. */
void place_run_next_algorithm(struct place_view *v);

int place_run_open(struct panel *p, const void *arg, struct err *e) MUST_CHECK;
void place_run_close(struct panel *p);
bool place_run_is_live(const struct panel *p);

/* Takes the newest plan and works out what is shown at the cursor. False: there is nothing yet. */
bool place_run_refresh(struct panel *p);

/* Writes the plan as it is shown, moves by hand among it, as a split. ERR_IO. */
int place_run_export(const struct place_view *v, const char *path, bool overwrite,
                     struct err *e) MUST_CHECK;

#endif
