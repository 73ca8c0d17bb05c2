/* tui/screen/term.h - the terminal: the only user of curses.
 *
 * curses finds the terminal, decodes keys and mouse, and switches screens; drawing goes through
 * tui/screen/paint.h, because curses would have to redefine the terminal's palette to show a
 * theme's colours. Input comes from a pad, so reading never draws.
 *
 * term_close restores the terminal; so do exit and handlers of every signal that ends a process,
 * before the signal takes effect. While it is open, standard error goes to a file that term_close
 * prints. One terminal at a time; all functions on one thread, which must be the one that receives
 * signals (block them in others). */
#ifndef AUTOMAP_TUI_SCREEN_TERM_H
#define AUTOMAP_TUI_SCREEN_TERM_H

#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/paint.h"
#include "tui/screen/theme.h"

struct term;

struct term_options {
    const struct theme *theme;
    int depth;  /* enum colour_depth, or -1: what the terminal says */
    bool ascii; /* also taken where the locale is not UTF-8 or gives a line sign two columns */
    bool mouse;
};

/* What COLORTERM, TERM and NO_COLOR allow, and whether the locale shows our signs. Before or after
 * term_open. */
enum colour_depth term_best_depth(void);
bool term_shows_utf8(void);

int term_open(struct term **out, const struct term_options *o, struct err *e) MUST_CHECK;
void term_close(struct term *t); /* NULL ok */

void term_size(const struct term *t, int *width, int *height);
void term_set_theme(struct term *t, const struct theme *theme);
void term_set_mouse(struct term *t, bool on);

/* Brings the screen to `g`; returns the bytes written, -1 when the terminal is gone. */
long term_show(struct term *t, const struct grid *g);

/* Whether the terminal takes output without making us wait. */
bool term_is_ready(const struct term *t);

enum term_event_kind {
    TERM_KEY,
    TERM_PASTED, /* a key of a pasted text: never a command */
    TERM_MOUSE,
    TERM_RESIZE, /* also after a stop: draw */
    TERM_END,    /* a signal asks to end, or the terminal is gone */
};

enum term_button { TERM_PRESS, TERM_DOUBLE, TERM_WHEEL_UP, TERM_WHEEL_DOWN };

struct term_event {
    enum term_event_kind kind;
    uint32_t key;
    int x, y;
    enum term_button button;
    int signal; /* TERM_END */
};

/* Waits for input, for a byte on `wake_fd` (read and dropped; -1: none), or for the time. A
 * negative time: for ever. True: there was a byte on wake_fd. */
bool term_wait(struct term *t, int wake_fd, int timeout_ms);

/* The next event that is there; false: none. Stops the process here when asked to (C-z). */
bool term_next(struct term *t, struct term_event *event);

void term_stop(struct term *t); /* as C-z */
/* A line for the shell, which has the terminal until it ends; where it does not end well, until
 * Enter after that. Returns its status (waitpid). */
int term_run(struct term *t, const char *line);

/* Puts text on the clipboard of whoever looks at the terminal (OSC 52); at most 64 kB. */
void term_copy(struct term *t, const char *text);

/* A message of the terminal's own, outside the screen: OSC 9, or 777 with a title. `text` is one
 * line without controls. */
void term_notify(struct term *t, bool osc777, const char *text);

#endif
