/* tui/app/opening.h - a model that is being opened: first its files are read, at once or in a
 * thread of its own while the screen says how far that is (loading.c), then it takes the place of
 * what is open (open.c). Shared by these two files only. */
#ifndef AUTOMAP_TUI_APP_OPENING_H
#define AUTOMAP_TUI_APP_OPENING_H

#include "engine/live/journal.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "tui/app/app.h"
#include "tui/options/problem_args.h"

#include <limits.h>
#include <stdatomic.h>

struct doctored;
struct held;
struct placing_graph;
struct search_args;

/* Paths of what was asked for: a file, or the name of a shipped one. */
struct found {
    char model[PATH_MAX], cluster[PATH_MAX];
};

/* How far reading is; written by the thread that reads. */
enum reading_phase { READING_FILE, READING_ROLES, READING_PHASES };
struct opening_progress {
    _Atomic(enum reading_phase) phase;
    _Atomic uint32_t instructions; /* from READING_ROLES on */
    atomic_bool stop;              /* nobody waits any more: end where that is easy */
};

/* What is to be opened, and the journal of its search. */
struct opening {
    struct found f;
    char asked[256]; /* the cluster, as it was asked for */
    struct problem_args args;
    struct search_options search;
    char journal[PATH_MAX];        /* "": none */
    const struct journal_log *log; /* what it holds already; NULL: it is new */
    struct journal_log own_log;
    struct search_args *resumed; /* words of the journal, which `args` points to; NULL */
    char said[128];              /* once it goes on; "": where */

    struct opening_progress reading;
    /* what was read: one of these, or an error */
    struct held *held;
    struct placing_graph *graph; /* operators without a model */
    struct doctored *dump;       /* a module that cannot be planned, with the program `before` */
    char before[PATH_MAX], kernels[PATH_MAX];
    int rc;
    struct err err;

    /* Puts it in place of what is open; called with rc 0. */
    int (*finish)(struct app *a, struct opening *g, struct err *e);
};

void opening_read(struct opening *g); /* any thread */
void opening_free(struct opening *g);

/* Reads it, beside the screen where the application does so and the file is large, and finishes.
 * Takes `g`. Errors of reading beside come later: as a message, or where nothing is open by
 * app_loading_error. */
int loading_begin(struct app *a, struct opening *g, struct err *e) MUST_CHECK;

#endif
