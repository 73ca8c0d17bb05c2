/* tui/views/class_view.h - the classroom's state, and how it is laid out; shared by view_class.c
 * and class_page.c only. */
#ifndef AUTOMAP_TUI_VIEWS_CLASS_VIEW_H
#define AUTOMAP_TUI_VIEWS_CLASS_VIEW_H

#include "engine/live/snapshot.h"
#include "engine/live/watched.h"
#include "rl/taught.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/views/class_draw.h"
#include "tui/views/panel.h"
#include "tui/watch/game_job.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLASS_PAGES = 3 };

struct classroom {
    enum class_part part;
    uint64_t decision; /* of the lesson shown: a new one begins at its first part, or whole */
    bool by_part;      /* a person goes part by part */
    struct list row;
    struct live_lesson now, last;       /* the decision shown and the one before it */
    struct live_lesson learned, before; /* the last two with an update, once they were seen */
    uint64_t learned_at;                /* the decision of the newer; 0: none yet */
    int page;                           /* of a small screen */
    bool alone;                         /* without the run before */
    struct game_job *game;              /* NULL: the search */
    struct game_look look;
    struct class_curves curves;
};

/* Of the search; NULL: none is open. */
const struct snapshot *class_shot(const struct panel *p);
/* The decision shown, of the game or of the search; NULL: none yet. */
const struct rl_lesson *class_lesson(const struct panel *p);
/* A decision not seen yet begins at its first part, or is shown whole. */
void class_follow(struct panel *p);
/* What is drawn. Without a game the search is open. */
struct class_shown class_shown_now(const struct panel *p);

/* Too small for all parts at once: a page at a time. */
bool class_is_small(int width, int height);
void class_draw(struct panel *p, const struct pane *pane);

#endif
