/* tui/watch/hybrid_job.h - a pipeline of split stages (engine/hybrid/) for the problem on screen:
 * searched in a thread of its own, which then answers what is asked about the plan and carries out
 * what a person changes in it; in a second one what other kinds of plans come to, and what the pins
 * cost. */
#ifndef AUTOMAP_TUI_WATCH_HYBRID_JOB_H
#define AUTOMAP_TUI_WATCH_HYBRID_JOB_H

#include "engine/decide/classes.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_others.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/pin_prices.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* A pin, as its words. */
struct hybrid_held {
    enum hybrid_wish_kind kind;
    char text[2 * HYBRID_LAYER_ROOM + 32];
};

struct hybrid_asked {
    struct hybrid_options options; /* pins, stop, watch and context are the job's */
    struct hybrid_held held[HYBRID_PINS_MOST];
    uint32_t held_count;
};

/* A plan as it was at some moment. Constant; shared by references. */
struct hybrid_shot {
    atomic_int references;
    struct hybrid_picture picture;
};
void hybrid_shot_release(struct hybrid_shot *s); /* NULL is fine */

/* Of one stage of the plan of `version`. */
struct hybrid_stage_answer {
    uint32_t version, stage; /* version 0: none yet */
    struct hybrid_other other[HYBRID_OTHERS_MOST];
    uint32_t others;
    bool looked;                 /* for others */
    double earlier_ms, later_ms; /* the step with the cut before it a section further; INFINITY: it
                                    cannot be, or does not fit; NAN: there is no cut */
};

struct hybrid_seen {
    uint32_t version;                          /* of the newest shot; 0: none yet */
    bool done;                                 /* the search */
    bool busy;                                 /* an answer or a change is on its way */
    bool by_hand;                              /* a person changed the plan */
    char trouble[256];                         /* done without a plan: why */
    uint32_t clash[HYBRID_PINS_MOST], clashes; /* pins that together leave no plan */
    struct hybrid_rival rival[HYBRID_RIVALS];
    bool has_rivals, has_prices;
    double price_ms[HYBRID_PINS_MOST], all_ms;           /* as hybrid_pin_prices has them */
    struct hybrid_limit_price limit[HYBRID_LIMITS_MOST]; /* as hybrid_limit_prices has them;
                                                            ms NAN: not yet */
    uint32_t limits;
    struct hybrid_stage_answer stage;
    char said[160];          /* about the last change */
    uint32_t changes, words; /* counted */
};

enum hybrid_change { HYBRID_CUT_EARLIER, HYBRID_CUT_LATER, HYBRID_TAKE_OTHER, HYBRID_TAKE_FOUND };

struct hybrid_job;

/* `p` must outlive it. `in_thread` false: all of it before this and every other call returns, for
 * pictures. */
int hybrid_job_new(const struct problem *p, const struct hybrid_asked *asked, bool in_thread,
                   struct hybrid_job **out, struct err *e) MUST_CHECK;
/* With the plan of a file (engine/hybrid/hybrid_file.h), not searched; it answers once it was
 * started. */
int hybrid_job_of_file(const struct problem *p, const char *path, struct hybrid_job **out,
                       struct err *e) MUST_CHECK;
/* One that runs already goes on. */
int hybrid_job_start(struct hybrid_job *j, bool in_thread, struct err *e) MUST_CHECK;
bool hybrid_job_is_file(const struct hybrid_job *j);
struct hybrid_asked hybrid_job_question(const struct hybrid_job *j);

void hybrid_job_stop(struct hybrid_job *j);    /* does not wait */
bool hybrid_job_is_over(struct hybrid_job *j); /* stopped, and can be freed without waiting */
/* Another user of it; hybrid_job_free is for each. UI thread. */
struct hybrid_job *hybrid_job_share(struct hybrid_job *j);
void hybrid_job_free(struct hybrid_job *j); /* the last stops and joins; NULL is fine */

void hybrid_job_look(struct hybrid_job *j, struct hybrid_seen *out);
/* The newest, one more reference; NULL: none yet. */
struct hybrid_shot *hybrid_job_shot(struct hybrid_job *j);

/* Other meshes of a stage and its cut moved: comes to seen.stage. Of several the last is answered.
 */
void hybrid_job_ask(struct hybrid_job *j, uint32_t stage);
/* Comes with a new shot, or what it was that cannot be in seen.said. `as`: of TAKE_OTHER.
 * TAKE_FOUND takes all changes back: the plan is the one that was found, or read, again. */
void hybrid_job_change(struct hybrid_job *j, enum hybrid_change change, uint32_t stage,
                       const struct hybrid_other *as);

/* All of engine/hybrid/hybrid_explain.h about the plan is to be written, or, of a class, that of
 * hybrid_why.h: seen.words counts up. What was written before is dropped. */
void hybrid_job_explain(struct hybrid_job *j, class_id class);
/* A copy of what was asked for last, of the caller's; NULL: not written yet. */
char *hybrid_job_words(struct hybrid_job *j);

/* The plan's file, as `automap search --plan` writes it, appended. Waits for what the thread is at:
 * some tenths of a second. */
int hybrid_job_text(struct hybrid_job *j, struct str *out, struct err *e) MUST_CHECK;

#endif
