/* tui/views/panel.h - a view as the application sees it: a table of functions. The application does
 * not know what a view shows; a view does not know where it is.
 *
 * A view is opened once, told of every new snapshot (read), drawn into whatever space it gets, and
 * given the actions of its own key table and the movements of the common one. All on one thread.
 * Only `draw` is required. No function may take longer than a frame. */
#ifndef AUTOMAP_TUI_VIEWS_PANEL_H
#define AUTOMAP_TUI_VIEWS_PANEL_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"

struct app;
struct host;
struct theme;
struct hlo_module;
struct live_plan;
struct relaxed_plan;
struct search_options;
struct cluster;
struct problem;
struct question;
struct watch;

/* What all views look at. Pointers are borrowed and stay valid until the next `read`. */
struct scene {
    const struct host *host; /* what the application does for a view: tui/views/host.h */
    struct app *app;
    const struct hlo_module *module; /* NULL: none is open */
    const struct cluster *cluster;   /* NULL: none */
    const struct problem *problem;   /* NULL: none */
    struct watch *watch;             /* the running search (tui/watch/watch.h); NULL: none */
    const char *model_name;          /* "" without module */
    const char *graph_words;         /* of an operator graph that is open without one; NULL */
    const struct keymap *keymap;
    const struct key_table *user_keys; /* of a person's own commands; NULL: none */
    const struct theme *theme;
    const struct grid *grid;             /* what was drawn last */
    const struct problem *base;          /* as it was opened, before a person's edits */
    const struct search_options *search; /* the search began with; NULL: none */
    const char *journal;                 /* of the search; "": it keeps none */
    const char *data_dir, *state_dir;    /* examples; recent files and sessions; NULL: none */
    int64_t today;                       /* seconds since 1970 */
    bool ascii;                          /* signs are exchanged later; plots are drawn anew */
    double now_ms;                       /* monotonic */
};

enum panel_place {
    PLACE_LAYOUT, /* beside others, where tui/screen/layout.h says; the core draws its head */
    PLACE_FULL,   /* the whole screen below the title row; draws its own head */
    PLACE_BARE,   /* the whole screen */
    PLACE_START,  /* the whole screen, indented; hints in the last row, message above them */
    PLACE_DIALOG, /* over the lower half of what is there */
};

/* Row 1, where a view over the whole screen is of something else than the search. */
enum about_state { ABOUT_RUNS, ABOUT_STANDS, ABOUT_IS_DONE };
struct panel_about {
    const char *name; /* instead of the model and its cluster; NULL: those */
    char words[64];   /* behind that name */
    char what[80];    /* "pipeline × mesh · eager" */
    enum about_state state;
    char pace[32];  /* the word of the state: "done", "20 decisions/s" */
    char where[48]; /* "at episode 27 of 400"; "": nowhere */
};

struct panel {
    const struct panel_ops *ops;
    struct scene *scene;
    void *state;          /* ops->size bytes, zeroed before open */
    bool focus;           /* keys go here */
    struct match *filter; /* NULL: none; owned by the application */
    int width, height;    /* of the room drawn last, head not counted */
};

struct panel_ops {
    const char *name;  /* in commands and as prefix of actions: "graph" */
    const char *title; /* "Graph" */
    enum panel_place place;
    enum panel_id id; /* PLACE_LAYOUT: its number */
    const struct key_table *keys;
    const char *hints; /* actions in the hint row, "down=choose fold why": own, then common
                          ones; "=word" replaces the hint's word */
    bool types;        /* letters are text: hints show other keys */
    bool asks;         /* commands act on the view below it */
    bool of_search;    /* PLACE_FULL: the headline of the search stands above it; else, and without
                          one of its own, it begins in row 2 with its own */
    bool stays;        /* its state holds nothing of the problem: it stays open when that changes */
    bool is_of_then; /* PLACE_FULL: of another time; its rows 1 and 2 stay above views of plans that
                        are opened over it and have none of their own */
    bool anew;   /* needs nothing to be opened with: it is opened anew when the problem changes */
    size_t size; /* of its state */

    int (*open)(struct panel *p, const void *arg, struct err *e);
    void (*close)(struct panel *p);
    void (*read)(struct panel *p); /* a new snapshot or module */
    void *(*remember)(
        const struct panel *p); /* what it wants to know when it is opened anew for an edited
                                   problem; the caller's to free; NULL: nothing */
    void (*recall)(struct panel *p, const void *memory);
    void (*draw)(struct panel *p, const struct pane *pane);        /* below the head */
    bool (*about)(const struct panel *p, struct panel_about *out); /* PLACE_FULL: row 1; `out` comes
                                                                empty; false: that of the search */
    bool (*headline)(const struct panel *p, const struct pane *pane); /* row 2, instead of the
                                                                         search's; false: not now */
    void (*head)(const struct panel *p, struct head *h, char *note, size_t room); /* title, note */
    const struct list *(*list)(
        const struct panel *p); /* its rows: the head says where, when not all are in sight */
    int (*rows)(const struct panel *p, int width); /* rows it could fill; 0: any */

    bool (*key)(struct panel *p, uint32_t key); /* before the key table: typed text */
    bool (*act)(struct panel *p, int action);   /* an action of its own table */
    bool (*move)(struct panel *p, enum list_move move);
    bool (*works)(const struct panel *p, int action);         /* false: not now, no hint for it */
    void (*click)(struct panel *p, int x, int y, bool twice); /* in the pane's coordinates */
    bool (*find)(struct panel *p, const struct match *m,
                 int step); /* the next match from the cursor;
                               step 0: here or after */
    void (*filter)(
        struct panel *p); /* p->filter has changed: rows that do not match are left out */
    int (*move_here)(const struct panel *p); /* the decision that p, b and w speak of; MOVE_NONE */
    hlo_id (*instruction_here)(
        const struct panel *p); /* what w speaks of before the decision; HLO_NONE */
    void (*question_here)(const struct panel *p,
                          struct question *q); /* what w speaks of before both; `q` comes empty and
                                                  may stay so */
    struct live_plan *(*plan_here)(
        const struct panel *p); /* what e takes away and w asks about, of the problem that is open;
                                   NULL: the best */
    const struct relaxed_plan *(*relaxed_here)(
        const struct panel *p); /* the same, before that; NULL: plan_here */
    bool (*page)(const struct panel *p, struct str *out); /* what e writes instead of a plan, as
                               Markdown; false: nothing now; NULL: asked only whether */
    const char *(*export_line)(
        const struct panel *p); /* the command that e asks a file for instead; NULL: none now */
    void (*go_to)(struct panel *p, hlo_id id);       /* shows that instruction */
    void (*go_to_node)(struct panel *p, int node);   /* that node of the tree */
    void (*go_to_move)(struct panel *p, int move);   /* that decision */
    const char *(*name_here)(const struct panel *p); /* what Y copies; NULL: nothing */
    void (*message)(const struct panel *p, char *out, size_t room); /* about the cursor row */
    int (*dialog_rows)(const struct panel *p, int width);           /* PLACE_DIALOG */
    bool (*is_live)(const struct panel *p); /* wants frames while nothing is typed */
    int live_ms;                            /* between them; 0: 250 */
    void (*settle)(struct panel *p); /* waits for what it works on: for scripts and pictures */
    int (*failed)(const struct panel *p, struct err *e); /* what it could not work out, so what it
                               draws lacks something; 0: nothing */
};

#endif
