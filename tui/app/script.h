/* tui/app/script.h - the explorer driven by a program: what the command line asks for, pictures,
 * tours, benchmarks and tests. */
#ifndef AUTOMAP_TUI_APP_SCRIPT_H
#define AUTOMAP_TUI_APP_SCRIPT_H

#include "hlo/support/err.h"
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/views/panel.h"
#include "tui/watch/watch.h"

/* Opens a model on a cluster (NULL or "": the default), each a path or the name of a shipped one,
 * in place of what is open; on an error that stays. */
int app_load(struct app *a, const char *model, const char *cluster, struct err *e) MUST_CHECK;
/* A plan of the model that is open, from a file; the view that shows it is opened. */
/* A partitioned or compiled module, in the doctor's view over what is open. `cluster`, `before`
 * (the program before partitioning) NULL or "": none. */
int app_open_dump(struct app *a, const char *path, const char *cluster, const char *before,
                  struct err *e) MUST_CHECK;
int app_load_plan(struct app *a, const char *path, struct err *e) MUST_CHECK;
/* The same as app_load with what a journal tells of: its search stands where it stood, bit for bit.
 */
int app_resume(struct app *a, const char *journal, struct err *e) MUST_CHECK;
/* Plays a tour (tui/files/tour.h) in place of what is open; on an error that stays. */
int app_tour_begin(struct app *a, const char *name, struct err *e) MUST_CHECK;
/* Plays it to step `step` (from 1) and to the end of what it does. */
void app_tour_to(struct app *a, int step);

int app_open(struct app *a, const struct panel_ops *ops, const void *arg, struct err *e) MUST_CHECK;
bool app_command(struct app *a, const char *line); /* as typed after ':'; false: it said why not */
/* A line for the search ("episode 300"), carried out before this returns. */
int app_tell(struct app *a, const char *line, struct err *e) MUST_CHECK;
/* Waits until what keys have sent is carried out, at most that long, and looks at the result. */
void app_settle(struct app *a, double seconds);
void app_touch(struct app *a);                /* something changed: draw */
struct watch *app_watch(const struct app *a); /* NULL: no search */

#endif
