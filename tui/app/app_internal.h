/* tui/app/app_internal.h - the application's state, shared by tui/app*.c only. */
#ifndef AUTOMAP_TUI_APP_APP_INTERNAL_H
#define AUTOMAP_TUI_APP_APP_INTERNAL_H

#include "engine/live/session.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/app/app.h"
#include "tui/app/user_command.h"
#include "tui/files/examples.h"
#include "tui/files/recent.h"
#include "tui/files/tour.h"
#include "tui/options/problem_args.h"
#include "tui/screen/edit.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/theme.h"
#include "tui/views/glossary.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/watch/placing.h"
#include "tui/watch/watch.h"

#include <limits.h>

enum { APP_DEPTH = 8, MESSAGE_ROOM = 512, LIVE_MS = 250 };

enum prompt { PROMPT_NONE, PROMPT_COMMAND, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_QUIT };

/* A tour that plays; script NULL: none. */
struct tour_state {
    struct tour *script;
    int step, item;   /* item: of the step's, done next */
    int until;        /* steps before this one are done on the way */
    bool taken, acts; /* by a person; a key comes from the tour itself */
};

/* Where a hint stands in the hint row, for clicks on it. */
struct hint_spot {
    int x, y, width;
    const struct key_table *table;
    int action;
};
enum { HINTS_MOST = 24, SPOTS_MOST = 512 };

struct loading;

/* Where a person was before going to what was found: C-o returns there. */
struct app_place {
    enum panel_id focus;
    hlo_id instruction; /* of the tree; HLO_NONE: a folder */
    int node;           /* that folder; -1: none */
    int move;           /* of the linkage groups */
};
enum { APP_PLACES = 16 };

struct app {
    struct app_setup setup;
    struct theme theme;
    struct scene scene;
    struct keymap *keymap;
    const struct key_table **tables;

    struct panel *placed[PANEL_COUNT]; /* NULL: not there */
    struct panel *stack[APP_DEPTH];    /* views over the main screen, the last on top */
    int depth;
    enum panel_id focus;
    bool zoom, mouse, jumping; /* jumping: rows show letters, the next key goes to one */
    bool wording;              /* words are explained where they stand; next to these cells: */
    int word_x, word_y;
    struct glossary_spot spot[SPOTS_MOST]; /* of the frame drawn last */
    int spots;
    int split;
    struct layout layout;
    struct rect top_area; /* of the view on top, as drawn last */

    uint32_t typed[KEYS_IN_A_ROW]; /* the beginning of a sequence */
    int typed_count;
    struct user_commands *user; /* NULL: none */
    enum prompt prompt;
    struct edit line;
    struct history history[3]; /* commands, searches, filters */
    char pattern[EDIT_ROOM];

    char message[MESSAGE_ROOM];
    unsigned message_style;
    struct grid grid;
    int width, height;
    bool dirty, done, theme_changed;
    double drawn_ms;
    enum app_wish wish;
    struct str wish_text;

    struct placing_graph *graph; /* an operator graph in place of a problem; NULL: none */
    struct problem *problem;     /* owned, as the two below */
    struct session *session;
    struct watch *watch;
    bool frozen; /* the view only */
    bool woken;  /* the session has a newer snapshot */
    double looked_ms;
    double asked_pace;  /* since the last snapshot; < 0: none */
    uint64_t refused;   /* the last refusal said */
    bool undoing;       /* an undo or redo was sent: what it did is said when it is done */
    uint32_t undo_acts; /* acts there were then */
    struct tour_state tour;
    struct recording *record; /* NULL: none (record.h) */
    struct hint_spot hints[HINTS_MOST];
    int hint_count;
    char model_name[128];
    struct shipped *shipped;    /* NULL: not asked for yet */
    struct recent recent;       /* its row on the start screen; path "": none */
    struct problem_args opened; /* options of the problem; its files are those below */
    char model_path[PATH_MAX], cluster_path[PATH_MAX]; /* as opened; cluster "": the default */
    struct {
        char path[PATH_MAX], cluster[PATH_MAX], before[PATH_MAX], kernels[PATH_MAX]; /* "": none */
    } dump;                  /* that the doctor's view shows */
    struct loading *loading; /* a file that is being read (loading.c); NULL: none */
    int (*then)(struct app *a, void *context, struct err *e); /* after it (script.h); NULL: done */
    void *then_context;
    struct err load_error;              /* code 0: none */
    struct app_place place[APP_PLACES]; /* the last at the end */
    uint32_t places;
    char news[160], told[160]; /* "": none */
    uint64_t proof[16];        /* optima whose proof was told: a hash of each, the last ones */
    uint32_t proofs;
    bool is_journaled;              /* the session keeps all acts by itself */
    uint32_t saved_acts;            /* of the session, when its pins were last saved */
    uint32_t warned_acts;           /* when a person was told that they are not */
    struct search_options searched; /* what the search began with */
    char journal[PATH_MAX];         /* of it; "": none */
};

/* Names of shipped models and clusters, read when they are first asked for. */
struct shipped {
    bool read;
    int models, clusters;
    char model[EXAMPLES_MOST][48], cluster[EXAMPLES_MOST][48];
};

extern const struct host app_host; /* tui/app/host.c */

void app_say(struct app *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void app_tell_news(struct app *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void app_say_err(struct app *a, const struct err *e);
void app_act(struct app *a, const struct key_table *t, int action); /* as if its key was typed */
void app_close_top(struct app *a);
void app_go_to(struct app *a,
               hlo_id id); /* closes all over the main screen; the graph goes there */
void app_go_to_node(struct app *a, int node);
void app_go_to_move(struct app *a, int move);  /* the linkage groups go there */
void app_ask(struct app *a, const char *text); /* the command line, with this typed already */
void app_note_saved(struct app *a);            /* the pins of now are in a file */
int app_set_theme(struct app *a, const char *name, struct err *e) MUST_CHECK;

void app_note_place(struct app *a); /* C-o will return to where one is */
void app_go_back(struct app *a);

/* The panel that gets keys; NULL: none. */
struct panel *app_top(const struct app *a);

void app_free_panel(struct panel *p); /* NULL allowed */
void app_drop_top(struct app *a);     /* closes the view on top, even the last */
void app_drop_placed(struct app *a, enum panel_id id);

bool app_is_kept(const struct app *a);     /* by a journal that is written */
int app_pins(const struct app *a);         /* decisions that are pinned */
int app_unsaved_pins(const struct app *a); /* those that leaving would lose */
/* As app_load, by a person: pins that would be lost are told of, and only the second time dropped.
 */
int app_load_instead(struct app *a, const char *model, const char *cluster,
                     struct err *e) MUST_CHECK;
void app_set_filter(struct app *a, struct panel *p, const char *pattern); /* "": none */

/* tui/app/loading.c */
void app_finish_loading(struct app *a); /* puts what was read in place, when it is all there */
void app_leave_loading(struct app *a);  /* does not wait */
void app_after_loading(struct app *a);
bool app_loading_key(struct app *a, uint32_t key);
double app_loading_next_ms(const struct app *a);
void app_draw_loading(struct app *a, const struct pane *p);

/* tui/app/app_prompt.c */
void app_prompt_open(struct app *a, enum prompt kind);
void app_prompt_key(struct app *a, uint32_t key);

/* tui/app/app_jump.c: where rows may stand, and the letter of row y of it (0: blank, or no letters
 * left). */
struct rect app_jump_area(const struct app *a);
char app_jump_letter(const struct app *a, const struct rect *r, int y);
void app_jump_begin(struct app *a);
void app_jump_key(struct app *a, uint32_t key); /* goes to its row; ends jumping */

/* tui/app/app_words.c: words of the glossary, explained where they stand on the screen. */
void app_words_begin(struct app *a);
bool app_words_key(struct app *a, uint32_t key); /* false: it ended, the key is for others */
void app_words_click(struct app *a, int x, int y);
void app_words_draw(struct app *a); /* over the frame */

/* tui/app/app_copy.c. The first: to the terminal's clipboard. The second: the problem that is open,
 * as "automap plan MODEL CLUSTER ..." for a shell, appended. The others: each says what it copied,
 * or why nothing. The command is the best plan's. */
void app_copy(struct app *a, const char *text, size_t size, const char *what);
void app_write_command(const struct app *a, struct str *out);
void app_copy_name(struct app *a);
void app_copy_line(struct app *a);
void app_copy_command(struct app *a);

/* tui/app/open.c */
void app_drop_problem(struct app *a);
void app_follow_edit(
    struct app *a); /* the session has another problem: everything is shown of that */

/* tui/app/steer.c: acts on the search, ACT_RUN to ACT_REDO. */
void app_steer(struct app *a, int action);

/* tui/app/app_tour.c */
int app_tour_rows(const struct app *a); /* the caption's, at the lower edge; 0: none */
void app_tour_draw(struct app *a, const struct pane *p);
bool app_tour_key(struct app *a, uint32_t key); /* true: it was for the tour */
void app_tour_tick(struct app *a);              /* does what can be done by now */
bool app_tour_is_busy(const struct app *a);
void app_tours(struct app *a); /* back to the tour that was left, else the list of tours */
void app_look(struct app *a);  /* takes the newest snapshot */

/* tui/app/app_draw.c */
void app_draw(struct app *a);

#endif
