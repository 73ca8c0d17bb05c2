/* tui/views/class_draw.h - one decision of the learner and the update after it, drawn part by part:
 * of the search, or of a game. Shared by the classroom's files only. */
#ifndef AUTOMAP_TUI_VIEWS_CLASS_DRAW_H
#define AUTOMAP_TUI_VIEWS_CLASS_DRAW_H

#include "rl/settings.h"
#include "rl/taught.h"
#include "tui/screen/grid.h"

#include <stdbool.h>
#include <stdint.h>

struct game_look;
struct panel_about;
struct live_lesson;
struct str;
struct watch;

/* The parts of an update, in their order. */
enum class_part {
    CLASS_LOOK,
    CLASS_CHOOSE,
    CLASS_ACT,
    CLASS_STORE,
    CLASS_SAMPLE,
    CLASS_TARGET,
    CLASS_STEP,
    CLASS_COPY,
    CLASS_PARTS
};

struct class_shown {
    const struct rl_lesson *lesson; /* NULL: no decision yet */
    const struct rl_settings *settings;
    const struct live_lesson *live; /* of the search; NULL: of a game */
    const struct watch *watch;      /* with `live`: names of decisions */
    const char *const *actions;     /* names; NULL: numbers only */
    uint32_t action_count, inputs;
    const uint32_t *lesson_move;    /* the move each row of the sample decided; NULL: as `live` */
    const struct live_lesson *last; /* the decision before; of a game only `rl`; NULL: none */
    const struct rl_lesson *before; /* the update seen before; NULL: none */
    const uint32_t *before_move;
    int64_t top;          /* of the sample: the first row in sight */
    enum class_part part; /* the last one shown; what comes later is not yet */
    uint32_t row;         /* of the sample, under the cursor */
    bool focus;           /* on the sample */
};

/* A learner's run as a curve: x from 0. */
struct class_run {
    const double *x, *y, *best; /* best: NULL, or best so far */
    uint32_t count;
    const char *name;
};
struct class_runs {
    struct class_run now, before; /* before.count 0: there is none */
    double last_x, limit;         /* limit NAN: none */
    const char *limit_name, *unit, *title, *note;
    bool ascii;
};

/* Room for the curves of two runs of the search, [SERIES_POINTS] each. */
struct class_curves {
    double *x, *y, *mean, *best;
    double *old_x, *old_mean, *old_best;
};
void class_curves_new(struct class_curves *c);
void class_curves_free(struct class_curves *c);

/* A part of the learner that can be switched. */
struct class_switch {
    const char *name, *option; /* for a person; of rl_setting_table */
};
enum { CLASS_SWITCHES = 6 };
extern const struct class_switch class_switches[CLASS_SWITCHES];
/* The value that a switch has after the key: "on" or "off", "1" or "10". */
void class_switch_other(const struct rl_settings *s, int n, char out[static 16]);

/* "double off, n-step 10": what `now` has that `before` has not; "": nothing. Returns out. */
char *class_write_changes(const struct rl_settings *now, const struct rl_settings *before,
                          char *out, size_t room);

/* What two runs came to, for the table of switches. */
struct class_came_to {
    const struct rl_settings *now, *before; /* before NULL: there is none */
    char best[48], best_before[48];
};

void class_draw_choice(const struct class_shown *s, const struct pane *p);
void class_draw_update(const struct class_shown *s, const struct pane *p);
void class_draw_sample(const struct class_shown *s, const struct pane *p, int64_t top);
void class_draw_runs(const struct class_runs *r, const struct pane *p);
/* The run of the search, or of the game, beside the one before; `alone`: without that one. */
void class_draw_search_runs(const struct watch *w, struct class_curves *c, bool alone, bool ascii,
                            const struct pane *p);
void class_draw_game_runs(const struct game_look *k, bool alone, bool ascii, const struct pane *p);
void class_draw_switches(const struct class_came_to *c, const struct pane *p);
/* The head and the first rows of a table of two runs: what was switched. */
void class_write_settings(const char *name, const struct rl_settings *now,
                          const struct rl_settings *before, struct str *out);
/* What one step does, in a sentence. */
char *class_sentence(const struct class_shown *s, char *out, size_t room);

/* The game as a picture, and what its learner would do where that makes a map. */
void class_draw_game(const struct game_look *k, bool ascii, const struct pane *p);
void class_draw_learned(const struct game_look *k, const struct pane *p);
/* Of a game, row 1: it is what is looked at. Row 2: what it earns, what can be earned, and what a
 * hand in it did. Both return true. */
bool class_game_about(const struct game_look *k, struct panel_about *out);
bool class_draw_earned(const struct game_look *k, const struct pane *row);
const char *const *class_actions(const struct game_look *k); /* names; NULL: it has none */

#endif
