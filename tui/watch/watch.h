/* tui/watch/watch.h - what the panels show of a search, computed once per snapshot: names, statuses
 * as the screen shows them, prices, times under the best plan.
 *
 * A `move` is what one decision decides: a class, or several alike of a series of layers, along one
 * mesh axis. All arrays belong to the watch and change only in watch_read. UI thread only. */
#ifndef AUTOMAP_TUI_WATCH_WATCH_H
#define AUTOMAP_TUI_WATCH_WATCH_H

#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/live/session.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/short_names.h"
#include "tui/watch/wave.h"

enum { MOVE_NONE = -1, CALM_PER_SECOND = 15 };

struct watch_move {
    char name[NAME_ROOM]; /* "decoder cross 0–5" */
    char stem[NAME_ROOM]; /* without layers: alike in a series */
    uint32_t dims;        /* of variables and inputs, all its classes */
    double saves_ms;      /* split alone against everything whole */
    double series_ms;     /* the same of its series, all split; where they exclude each other, */
    int series_only;      /* of this one, which saves most alone; MOVE_NONE: all are split */
    int8_t now;           /* -1 open, 0 whole, 1 split: in the episode shown */
    bool changed;         /* by the wave, or since the frame before */
    bool pinned;
    uint32_t classes;     /* how many */
    uint32_t best, exact; /* of them split in the best plan, in the optimum */
};

struct find_index;
struct tree;
struct relaxed_job;
struct pipeline_job;
struct placing;
struct fewer_job;
struct hybrid_job;
struct unstaged_job;

struct watch {
    const struct problem *problem; /* of the snapshot, which holds it */
    struct session *session;       /* borrowed */
    struct class_names names;
    const struct snapshot *shot; /* kept until the next read */
    bool is_stale; /* the session has gone on to another problem: a new watch is needed */

    struct live_moves *moves; /* kept */
    struct watch_move *move;  /* [move_count] */
    int move_count;
    bool is_slow; /* the present episode is shown, with its position; else the last finished one */
    int position; /* the move decided next; MOVE_NONE: none, or not shown */
    int cursor;   /* the move a person looks at */
    bool apart;   /* ... by itself; else with the series it is in */
    hlo_id here;  /* the instruction a person looks at; HLO_NONE: none yet */
    struct relaxed_job *relaxed;   /* NULL: nobody asked (tui/watch/relaxed_job.h) */
    struct pipeline_job *pipeline; /* the last one looked at; NULL: none (pipeline_job.h) */
    struct hybrid_job *hybrid;     /* the same of hybrid plans (hybrid_job.h) */
    struct placing *placing;       /* of a file, until its view takes it; NULL (placing.h) */
    struct loaded_plans loaded;    /* from files (plan_load.h) */
    struct fewer_job *fewer;       /* of fewer devices; NULL: not asked yet (fewer_job.h) */
    struct unstaged_job *unstaged; /* without stages; NULL: not asked yet (unstaged_job.h) */
    struct find_index *found;      /* every name of the module; NULL: nobody looked (find.h) */
    struct tree *tree;             /* the module as a person thinks of it (tui/watch/tree.h) */

    struct wave wave;               /* of the last decision, in slow motion */
    label *on, *open;               /* [classes] axes split, axes undecided, in the episode shown */
    struct live_plan *best, *exact; /* kept; NULL none */
    double *ms; /* [instructions] under the best plan; before there is one, with all whole */
    uint64_t ms_version;       /* changes with ms */
    struct memory_cost memory; /* of one device, under the same plan */
    double *scratch;           /* of the memory model */
};

/* The session outlives the watch. */
int watch_new(struct session *s, struct watch **out, struct err *e) MUST_CHECK;
void watch_free(struct watch *w);
void watch_read(struct watch *w); /* takes the newest snapshot */

/* Sends a command, such as "pin @3=1"; what is wrong with it comes back later (session_refused). */
void watch_send(struct watch *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A name in at most `columns`: whole, else long words cut to three letters ("dec cross 0–5"), else
 * without its size or layers ("dec cross"), else cut in the middle. Returns out. */
char *watch_short_name(char *out, size_t room, const char *name, int columns);

/* As short_names calls it (short_names.h). */
void watch_shorten(char out[static SHORT_NAME_ROOM], const char *name, int columns);

/* The same of a decision; where others would read alike, the words in which they differ
 * (short_names.h). O(moves). */
char *watch_move_name(const struct watch *w, int move, char *out, size_t room, int columns);

/* Decisions in a row with one stem, the layers of a series, end before this; what they are called
 * together; the first of those that `move` is in. O(length). */
int watch_series_end(const struct watch *w, int first);
int watch_series_begin(const struct watch *w, int move);
const char *watch_series_name(const struct watch *w, int first, int end);

/* "pin encoder self = 1" for "pin @3=1": a line of the log with the name of the decision in it, in
 * about `columns`. Returns `text` where it has none, else out. */
const char *watch_with_names(const struct watch *w, const char *text, int columns, char *out,
                             size_t room);

/* The move that decides class `k`; MOVE_NONE: none does. */
int watch_move_of(const struct watch *w, class_id k);
/* Of those that decide it the first along an axis that `on` [classes] splits it over; none: as
 * above. */
int watch_move_split(const struct watch *w, const label *on, class_id k);
/* Of an instruction: its first value with a dim that a move decides. */
int watch_move_of_instruction(const struct watch *w, hlo_id id);
/* The name a person reads of an entry parameter that is one array; NULL: `id` is none. */
const char *watch_parameter_name(const struct watch *w, hlo_id id);

/* -1 open, 0 whole, 1 split, -2: nothing to decide. */
int watch_status(const struct watch *w, hlo_id id);

/* Of a free value, called `name`: that every use makes the part it needs or, where making it takes
 * time, that every device makes it whole, and how long that is. */
void watch_say_free(const struct watch *w, hlo_value v, const char *name, char *out, size_t room);

/* Axes that dim `d` of a value is split over, and is undecided for, as far as the wave has come. */
label watch_on(const struct watch *w, dim_id d);
label watch_open(const struct watch *w, dim_id d);

/* The plan of the headline is one that nobody found: everything whole but the pins, until the
 * search finds a better one. */
bool watch_is_baseline(const struct watch *w);
/* What the plan is called whose milliseconds the screen shows: "best plan", "baseline" or, where
 * there is none, "all whole". */
const char *watch_plan_word(const struct watch *w);
const char *watch_best_word(const struct watch *w); /* above a column of it: "best", "base" */

/* Distance of the best plan from the optimum, in step time or, under the paper's reward, in reward.
 * 0: it is optimal. NAN: not known, or one of the two exceeds the memory limit. */
double watch_gap(const struct watch *w);
/* By game_kind, what is decided, in short: "optimum of both". */
extern const char *const watch_decides[3];
/* What exact found, where that fits: what choices are held against. NULL: there is none. */
const struct live_plan *watch_optimum(const struct watch *w);

/* Bytes of a device that plans must not exceed: the search's memory limit, or all a device has. */
double watch_memory_limit(const struct watch *w);
bool watch_is_limited(const struct watch *w); /* it is the search's */

#endif
