/* tui/views/host.h - what a view may ask of the application that shows it.
 *
 * The application fills the table once (tui/app/host.c); views call the functions below with their
 * scene. A call that closes the view, goes to an instruction or opens a model frees the view, but
 * not its scene. All on the thread that draws. */
#ifndef AUTOMAP_TUI_VIEWS_HOST_H
#define AUTOMAP_TUI_VIEWS_HOST_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/keys.h"
#include "tui/views/panel.h"

struct app;

/* A line that may be typed after ':', as the finder offers it. */
struct colon_line {
    char text[128];
    const char *words, *keys; /* keys: of an action, or "" */
    bool takes;               /* more has to be typed */
    bool opens_view;          /* and does nothing else */
    bool again;               /* another line does the same */
    bool pins;                /* it pins `move` */
    bool split;
    int move;
};

/* What the application does for a view; call it by the names below. */
struct host {
    void (*say)(struct app *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
    void (*say_err)(struct app *a, const struct err *e);
    void (*touch)(struct app *a);
    int (*open)(struct app *a, const struct panel_ops *ops, const void *arg, struct err *e);
    void (*close)(struct app *a);
    void (*go_to)(struct app *a, hlo_id id);
    void (*go_to_node)(struct app *a, int node);
    void (*go_to_move)(struct app *a, int move);
    void (*act)(struct app *a, const struct key_table *t, int action);
    bool (*command)(struct app *a, const char *line);
    void (*ask)(struct app *a, const char *text);
    bool (*line)(struct app *a, int i, struct colon_line *line);
    int (*load)(struct app *a, const char *model, const char *cluster, struct err *e);
    int (*resume)(struct app *a, const char *journal, const char *said, struct err *e);
    int (*tour)(struct app *a, const char *name, struct err *e);
    void (*copy)(struct app *a, const char *text, size_t size, const char *what);
    void (*write_command)(const struct app *a, struct str *out);
    void (*note_saved)(struct app *a);
    void (*tell_news)(struct app *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
};

#define HOST(scene, does, ...) ((scene)->host->does((scene)->app, __VA_ARGS__))

/* The message row: as printf, or an error in its colour. */
#define host_say(scene, ...) HOST(scene, say, __VA_ARGS__)
#define host_say_err(scene, e) HOST(scene, say_err, e)
/* Something changed: draw another frame. */
#define host_touch(scene) ((scene)->host->touch((scene)->app))

/* Opens a view over this one; an error code of `e`. */
#define host_open(scene, ops, arg, e) HOST(scene, open, ops, arg, e)
/* Closes the view on top. */
#define host_close(scene) ((scene)->host->close((scene)->app))
/* Closes all views over the main screen and shows the instruction in the tree. */
#define host_go_to(scene, id) HOST(scene, go_to, id)
/* The same with a node of the tree, and with a decision in the linkage groups. */
#define host_go_to_node(scene, node) HOST(scene, go_to_node, node)
#define host_go_to_move(scene, move) HOST(scene, go_to_move, move)

/* Act as if an action's key was typed, or a line after ':' (false: refused, with a message); open
 * the command line with a text in it; get the i-th line it offers (false: no i-th). */
#define host_act(scene, table, action) HOST(scene, act, table, action)
#define host_command(scene, text) HOST(scene, command, text)
#define host_ask(scene, text) HOST(scene, ask, text)
#define host_line(scene, i, out) HOST(scene, line, i, out)

/* Open a model on a cluster, the search of a journal, or a tour, instead of what is open; on an
 * error nothing changes. They return an error code of `e`; a large file is read beside the screen,
 * so errors may come later, and what is `said` once the search goes on (NULL: where) does. */
#define host_load(scene, model, cluster, e) HOST(scene, load, model, cluster, e)
#define host_resume(scene, journal, said, e) HOST(scene, resume, journal, said, e)
#define host_tour(scene, name, e) HOST(scene, tour, name, e)

/* To the terminal's clipboard; `what` is named in the message. */
#define host_copy(scene, text, size, what) HOST(scene, copy, text, size, what)
/* "automap plan MODEL CLUSTER ...": the problem that is open, for a shell. Appended. */
#define host_write_command(scene, out) HOST(scene, write_command, out)
/* For a person who looks elsewhere, where the settings ask for it; as printf. */
#define host_tell_news(scene, ...) HOST(scene, tell_news, __VA_ARGS__)
/* The pins of now are in a file. */
#define host_note_saved(scene) ((scene)->host->note_saved((scene)->app))

#endif
