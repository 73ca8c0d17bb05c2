/* tui/app/script.h - drives the explorer from a program: for the command line, pictures, tours,
 * benchmarks and tests. */
#ifndef AUTOMAP_TUI_APP_SCRIPT_H
#define AUTOMAP_TUI_APP_SCRIPT_H

#include "hlo/support/err.h"
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/views/panel.h"
#include "tui/watch/doctored.h"
#include "tui/watch/watch.h"

/* Opens a model on a cluster (NULL or "": the default), each a path or the name of a shipped one,
 * instead of what is open; on an error nothing changes. Where app_setup.reads_beside says so, a
 * large file is read while the screen shows how far that is: then this returns at once. */
int app_load(struct app *a, const char *model, const char *cluster, struct err *e) MUST_CHECK;
/* Calls `then`, at once or when what is being read has taken its place and is drawn; never if that
 * fails. It is called again while it returns APP_AGAIN, each time once the search is at rest. */
enum { APP_AGAIN = 1 }; /* errors are negative */
int app_when_loaded(struct app *a, int (*then)(struct app *a, void *context, struct err *e),
                    void *context, struct err *e) MUST_CHECK;
/* What was wrong with the file that the program was to begin with; false: nothing. */
bool app_loading_error(const struct app *a, struct err *e);
/* A partitioned or compiled module, in the doctor's view over what is open; "" as NULL: none. */
int app_open_dump(struct app *a, const struct doctored_files *f, struct err *e) MUST_CHECK;
/* Reads a plan of the open model from a file, and opens the view that shows it. */
int app_load_plan(struct app *a, const char *path, struct err *e) MUST_CHECK;

/* As app_load for what a journal holds; its search continues where it stopped, bit for bit. `said`:
 * the message once it does; NULL: at which episode that is. */
int app_resume(struct app *a, const char *journal, const char *said, struct err *e) MUST_CHECK;
/* Plays a tour (tui/files/tour.h) instead of what is open; on an error nothing changes. */
int app_tour_begin(struct app *a, const char *name, struct err *e) MUST_CHECK;
/* Plays it up to step `step` (from 1) and completes the actions of that step. */
void app_tour_to(struct app *a, int step);

int app_open(struct app *a, const struct panel_ops *ops, const void *arg, struct err *e) MUST_CHECK;
bool app_command(struct app *a, const char *line); /* as typed after ':'; false: refused */
/* A line for the search ("episode 300"), carried out before this returns. */
int app_tell(struct app *a, const char *line, struct err *e) MUST_CHECK;
/* The same, but it returns when the search has taken the line, and nothing is looked at. */
int app_send(struct app *a, const char *line, struct err *e) MUST_CHECK;
/* Waits at most that long until the search of the open model needs a line to go on. False: it does
 * not yet. */
bool app_wait(struct app *a, double seconds);
/* Waits until everything that keys have sent is done, at most that long, and takes the result. */
void app_settle(struct app *a, double seconds);
/* What the view on top could not work out; 0: nothing. A person reads it in the message row. */
int app_failed(struct app *a, struct err *e) MUST_CHECK;
void app_touch(struct app *a);                /* something changed: draw */
struct watch *app_watch(const struct app *a); /* NULL: no search */

#endif
