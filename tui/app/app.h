/* tui/app/app.h - the explorer without a terminal: keys and times go in, grids come out. app_loop
 * connects it to a terminal; tui/app/script.h drives it from scripts, tests and pictures;
 * tui/views/host.h is what views may ask of it. One thread. */
#ifndef AUTOMAP_TUI_APP_APP_H
#define AUTOMAP_TUI_APP_APP_H

#include "engine/text/yaml.h"
#include "hlo/support/err.h"
#include "tui/files/config.h"
#include "tui/options/problem_args.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/theme.h"

struct app;
struct term;

struct app_setup {
    struct theme theme;
    bool ascii;
    enum key_mode mode;
    const struct yaml_doc *config; /* NULL: none. Its `keys` are applied; kept by the caller */
    const char *data_dir;          /* examples below it */
    const char *state_dir;         /* recent files below it; NULL: nothing is kept */
    int64_t today;                 /* seconds since 1970, for "yesterday" */
    struct problem_args problem;   /* options for every model opened; its file names are ignored */
    uint64_t seed;                 /* of searches */
    bool reads_beside;             /* a large file is read in a thread, while the screen is there */
    bool keep_recent;              /* add opened models to the list of recent ones */
    const struct user_command *commands; /* a person's own; kept by the caller */
    int command_count;
    enum notify_how notify; /* whether the terminal is told of news, and how */
    bool keep_journal;      /* keep a journal of every search, in sessions/ of state_dir */
};

int app_new(struct app **out, const struct app_setup *s, struct err *e) MUST_CHECK;
void app_free(struct app *a);

/* Passes on what is typed and draws, until the application ends (returns 0) or a signal asks the
 * program to end (returns the signal). */
int app_loop(struct app *a, struct term *t);

void app_resize(struct app *a, int width, int height);
void app_key(struct app *a, uint32_t key);
void app_pasted(struct app *a, uint32_t key); /* goes into a line being typed, else is ignored */
void app_click(struct app *a, int x, int y, bool twice);
void app_wheel(struct app *a, int x, int y, int steps);
void app_time(struct app *a, double now_ms);

/* Draws a frame if something changed, live views at most four times a second. NULL: nothing new. */
const struct grid *app_frame(struct app *a);
double app_next_ms(const struct app *a); /* when to call app_frame next; < 0: not before an event */
bool app_is_done(const struct app *a);
/* A descriptor that is readable when the search has news; -1: no search. Call app_woken after
 * draining it. */
int app_wake_fd(const struct app *a);
void app_woken(struct app *a);

bool app_wants_mouse(const struct app *a);
const struct theme *app_theme(const struct app *a);
bool app_theme_changed(struct app *a); /* once after each change */

/* What the loop must do for the application; reading it clears it. */
enum app_wish { APP_NOTHING, APP_STOP, APP_COPY, APP_REDRAW, APP_MOUSE, APP_RUN };

/* What happened that a person who looks elsewhere may want to know: a proof closed, a race ended;
 * NULL: nothing. Once each; the text stays until the next call. */
const char *app_take_news(struct app *a);
enum app_wish app_take_wish(struct app *a, const char **text);

#endif
