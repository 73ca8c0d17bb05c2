/* tui/watch/memory_look.h - memory of one device under one plan, as a screen shows it: the course
 * of it, what is live at a position grouped by shape, and what single decisions would do to the
 * peak. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_MEMORY_LOOK_H
#define AUTOMAP_TUI_WATCH_MEMORY_LOOK_H

#include "engine/cost/memory.h"
#include "engine/decide/labels.h"
#include "engine/live/snapshot.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/watch/watch.h"

struct memory_curve {
    struct live_plan *plan;             /* kept; NULL: everything whole */
    double *total;                      /* [count] bytes along the schedule of the entry */
    double (*kinds)[MEMORY_KIND_COUNT]; /* [count] bytes */
    uint32_t count, peak;               /* positions; that of the highest */
};

/* plan NULL: everything whole. O(stored values + positions). */
int memory_curve_make(const struct watch *w, struct live_plan *plan, struct memory_curve *out,
                      struct err *e) MUST_CHECK;
void memory_curve_release(struct memory_curve *c);
/* The instruction at a position. */
hlo_id memory_at(const struct watch *w, uint32_t position);

/* Values live at one position that have one shape, one local size and one kind. */
struct memory_group {
    hlo_value value; /* the first made of them */
    uint8_t kind;    /* enum memory_kind */
    bool always;     /* arguments */
    uint32_t count;
    double bytes;         /* of all */
    uint32_t first, last; /* positions: made, needed until */
};

/* Largest first; state (parameters, moments) is one group. `inner`: bytes of a loop's or branch's
 * own values at that position. *out is the caller's. O(stored values + groups log groups). */
int memory_groups(const struct watch *w, const struct memory_curve *c, uint32_t position,
                  struct memory_group **out, size_t *count, double *inner,
                  struct err *e) MUST_CHECK;

/* The values of one group, largest first; up to `room`, returns how many. */
struct memory_value {
    hlo_value value;
    double bytes;
    uint32_t first, last;
    uint8_t storing; /* enum memory_storing: the value, or a second buffer of it */
};
uint32_t memory_group_values(const struct watch *w, const struct memory_curve *c, uint32_t position,
                             const struct memory_group *g, struct memory_value *out, uint32_t room);

/* What a value holds at one position, with all of its group or alone. */
struct memory_holding {
    struct memory_group group; /* alone: of that value, count 1; count 0: it holds nothing then */
    double total, peak;        /* bytes of all that lives there; at the peak of the step */
};
/* `storing`: of a value alone, which of its buffers. `on` [classes]. O(stored values + positions +
 * groups log groups). */
int memory_holding_of(const struct watch *w, const label *on, uint32_t position, hlo_value v,
                      bool alone, enum memory_storing storing, struct memory_holding *out,
                      struct err *e) MUST_CHECK;

/* One decision the other way round, all else staying but what it excludes. */
struct memory_flip {
    int move;
    bool split;           /* what it would become */
    double peak, step_ms; /* bytes; with it */
};

/* Prices decisions `from` .. `end` - 1 of the watch. O(stored values + terms) each. */
void memory_flips(const struct watch *w, const struct memory_curve *c, int from, int end,
                  struct memory_flip *out);

#endif
