/* tui/app/app.h - the explorer without a terminal: keys and times go in, grids come out. The loop
 * that joins it to a terminal is in tui/app/explore.c; tests and pictures use it as it is. One
 * thread. */
#ifndef AUTOMAP_TUI_APP_APP_H
#define AUTOMAP_TUI_APP_APP_H

#include "tui/app/panel.h"
#include "tui/options/problem_args.h"
#include "tui/screen/edit.h"
#include "tui/screen/theme.h"

struct app_setup {
    struct theme theme;
    bool ascii;
    enum key_mode mode;
    const struct yaml_doc *config; /* NULL: none. Its `keys` are applied; kept by the caller */
    const char *data_dir;          /* examples below it */
    const char *state_dir;         /* recent files below it; NULL: nothing is kept */
    int64_t today;                 /* seconds since 1970, for "yesterday" */
    struct problem_args problem; /* options for every model that is opened; its files are ignored */
    uint64_t seed;               /* of searches */
    bool keep_journal;           /* of every search, in sessions/ of state_dir */
};

int app_new(struct app **out, const struct app_setup *s, struct err *e) MUST_CHECK;
void app_free(struct app *a);

void app_resize(struct app *a, int width, int height);
void app_key(struct app *a, uint32_t key);
void app_pasted(struct app *a, uint32_t key); /* goes into a line being typed, else nowhere */
void app_click(struct app *a, int x, int y, bool twice);
void app_wheel(struct app *a, int x, int y, int steps);
void app_time(struct app *a, double now_ms);

/* Draws when something changed, live views at most four times a second. NULL: nothing to show. */
const struct grid *app_frame(struct app *a);
double app_next_ms(const struct app *a); /* when app_frame wants to be called; < 0: not by itself */

bool app_is_done(const struct app *a);

/* Readable when the search has news; -1: no search. app_woken says that it was, and was emptied. */
int app_wake_fd(const struct app *a);
void app_woken(struct app *a);
/* A line for the search ("episode 300"), carried out before this returns: for scripts and pictures.
 */
int app_tell(struct app *a, const char *line, struct err *e) MUST_CHECK;
/* Waits until what keys have sent is carried out, at most that long, and looks at the result. */
void app_settle(struct app *a, double seconds);

/* For views. */
void app_say(struct app *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void app_say_err(struct app *a, const struct err *e);
void app_touch(struct app *a); /* something changed: draw */
int app_open(struct app *a, const struct panel_ops *ops, const void *arg, struct err *e) MUST_CHECK;
void app_close_top(struct app *a);
void app_go_to(struct app *a,
               hlo_id id); /* closes all views over the main screen; the graph goes there */
void app_quit(struct app *a);
void app_copy(struct app *a, const char *text, size_t size,
              const char *what); /* to the terminal's clipboard */
/* "automap plan MODEL CLUSTER ...": the problem that is open, for a shell. Appended. */
void app_write_command(const struct app *a, struct str *out);
void app_note_saved(struct app *a);            /* the pins of now are in a file */
void app_ask(struct app *a, const char *text); /* the command line, with this typed already */
bool app_wants_mouse(const struct app *a);
void app_act(struct app *a, const struct key_table *t, int action); /* as if its key was typed */
const struct keymap *app_keymap(const struct app *a);
const struct theme *app_theme(const struct app *a);
int app_set_theme(struct app *a, const char *name, struct err *e) MUST_CHECK;
bool app_theme_changed(struct app *a); /* once after each change */
const struct app_setup *app_get_setup(const struct app *a);
bool app_command(struct app *a, const char *line); /* as typed after ':'; false: it said why not */

/* Plays a tour (tui/watch/tour.h) in place of what is open; on an error that stays. */
int app_tour_begin(struct app *a, const char *name, struct err *e) MUST_CHECK;

/* Plays it to step `step` (from 1) and to the end of what it does; for pictures. */
void app_tour_to(struct app *a, int step);

/* What the loop has to do for the application; reading takes it. */
struct watch *app_watch(const struct app *a); /* NULL: no search */
enum app_wish { APP_NOTHING, APP_STOP, APP_COPY, APP_REDRAW, APP_MOUSE };
enum app_wish app_take_wish(struct app *a, const char **text);

/* Opens a model on a cluster (NULL or "": the default), each a path or the name of a shipped one,
 * in place of what is open; on an error that stays. */
int app_load(struct app *a, const char *model, const char *cluster, struct err *e) MUST_CHECK;
/* The same with what a journal tells of: its search stands where it stood, bit for bit. */
int app_resume(struct app *a, const char *journal, struct err *e) MUST_CHECK;

#endif
