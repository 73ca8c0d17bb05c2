/* tui/views/memory_draw.h - the state of view_memory.c and how its parts are drawn; shared by
 * view_memory.c, memory_draw.c and memory_keep.c only. */
#ifndef AUTOMAP_TUI_VIEWS_MEMORY_DRAW_H
#define AUTOMAP_TUI_VIEWS_MEMORY_DRAW_H

#include "engine/live/snapshot.h"
#include "engine/plan/recompute_rows.h"
#include "hlo/module/hlo.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/watch/keep_job.h"
#include "tui/watch/memory_look.h"

enum { MEMORY_VALUES = 512 };

enum memory_list {
    MEMORY_LIST_GROUPS,
    MEMORY_LIST_FLIPS,
    MEMORY_LIST_VALUES,
    MEMORY_LIST_KEEP, /* rows of what is kept and computed again, */
    MEMORY_LIST_FRONT /* of a point of the front */
};

struct memory_view {
    struct memory_curve curve, other; /* other.total NULL: none */
    uint32_t cursor;                  /* position looked at */
    struct memory_group *groups;
    size_t group_count;
    double inner;              /* of a loop's or branch's own values there */
    struct memory_flip *flips; /* [flips_done] the lowest peak first, when all are done */
    int flips_done, flip_count;
    const struct live_moves *moves; /* the flips are of these; only compared */
    struct memory_value values[MEMORY_VALUES];
    uint32_t value_count;
    int opened;             /* group that `values` are of */
    enum memory_list shown; /* that has the cursor */
    struct list list[5];    /* enum memory_list */
    struct keep_job *keep;  /* NULL: not asked for */
    struct recompute_row *rows;
    uint32_t row_count;
    int64_t rows_of; /* point that the rows are of */
};

/* What the view's figures are in: GB, or where the peak is less than one MB, kB. */
struct memory_unit {
    double bytes;
    const char *name;
};
struct memory_unit memory_unit_of(const struct memory_curve *c);

/* Curves, and below them phases and the position looked at. Rows used. */
int memory_draw_curves(const struct scene *s, const struct memory_curve *curve,
                       const struct memory_curve *other, const uint32_t *cursor,
                       const struct pane *p, int rows);
void memory_draw_groups(const struct panel *p, const struct pane *pane);
void memory_draw_flips(const struct panel *p, const struct pane *pane);
void memory_draw_values(const struct panel *p, const struct pane *pane);
/* "models.py:44", without directories. */
void memory_write_source(const struct hlo_module *m, hlo_value v, char *out, size_t room);
void memory_select(const struct pane *pane, int y, bool own); /* own: its list has the cursor */
/* The other half of the view: what to keep. */
void memory_draw_keep(struct panel *p, const struct pane *pane);
void memory_keep_message(const struct panel *p, char *out, size_t room);
/* The row under the cursor; NULL: another list has it. */
const struct recompute_row *memory_row_here(const struct memory_view *v);
double memory_limit(const struct scene *s); /* bytes */

#endif
