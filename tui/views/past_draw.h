/* tui/views/past_draw.h - the time machine's state, and what is drawn of it; shared by view_past.c
 * and past_draw.c only. */
#ifndef AUTOMAP_TUI_VIEWS_PAST_DRAW_H
#define AUTOMAP_TUI_VIEWS_PAST_DRAW_H

#include "engine/live/ledger.h"
#include "engine/live/snapshot.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/watch/past_job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of the two moments: A is where a person is, B is marked. */
struct past_moment {
    const struct snapshot *shot; /* kept */
    uint64_t step, episode;
    struct ledger_figures figures; /* of its best plan */
    bool has_plan;
    struct err e; /* why its figures are not there; code 0: they are, or it has no plan */
};

struct past_view {
    struct past_job *job;
    struct past_look look;
    struct past_moment a, b;
    uint64_t episode; /* asked for; 0: before the first */
    uint64_t step;
    bool playing;
    int speed;
    int stops; /* what playing stops at */
    double played_ms;
    struct list list;  /* events */
    int branch;        /* the one that o opens */
    char typed[10];    /* the number of an episode; "": none */
    struct err failed; /* the first that did; code 0: nothing */
};

/* Best plans, the search, a person's acts, and a line for each branch. */
void past_draw_timeline(const struct panel *p, const struct pane *pane);
/* A beside B, and the difference in a sentence. */
void past_draw_figures(const struct panel *p, const struct pane *pane);
void past_draw_events(struct panel *p, const struct pane *pane);
/* The decisions of either best plan. */
void past_draw_vector(const struct panel *p, const struct pane *pane);
/* "B is 30.5 ms slower than A: .."; "" without two plans. Returns out. */
char *past_sentence(const struct past_view *v, char *out, size_t room);

#endif
