/* engine/live/ledger.h - what a person tried, as a table: a row for every act, from the start (row
 * 0) on, with the proven optimum under it. Rows form a tree: each starts from the row that was in
 * force when it was made. They are never rewritten; going back makes none.
 *
 * Made once an act, shared by snapshots. Immutable. */
#ifndef AUTOMAP_ENGINE_LIVE_LEDGER_H
#define AUTOMAP_ENGINE_LIVE_LEDGER_H

#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* Of one plan on one problem. */
struct ledger_figures {
    struct step_cost cost;
    struct memory_cost memory; /* of one device */
    uint32_t reduces;          /* all-reduces of a step, their local bytes */
    double reduced_bytes;
};

struct ledger_row {
    uint32_t number, from; /* from: its own number in row 0 */
    uint8_t verb;          /* enum command_verb; COMMAND_VERB_COUNT: the start */
    char text[96];         /* "pin @3=1", cut */
    class_id about;        /* the class of a pin or backtrack; CLASS_NONE: not of one */
    uint32_t pins;         /* in force */
    uint8_t decides;       /* enum game_kind: what the optimum is over */
    const struct problem *problem;
    struct live_problem *edited;   /* holds `problem`; NULL: the session's original */
    struct live_plan *optimum;     /* under its pins and options; NULL: none was found */
    struct ledger_figures figures; /* of the optimum */
};

/* A longer text may have been cut. */
enum { LEDGER_TEXT_MOST = 80 };

struct ledger {
    atomic_int references;
    uint32_t count, now; /* now: the index of the row in force */
    struct ledger_row rows[];
};

struct ledger *ledger_share(struct ledger *l); /* NULL ok, as below */
void ledger_release(struct ledger *l);

/* The row with this number; NULL: it was forgotten, or there is none. */
const struct ledger_row *ledger_find(const struct ledger *l, uint32_t number);
/* The row that row `r` is compared with: the one it starts from or, where that has no plan that
 * fits, the last before it that has; NULL: none. */
const struct ledger_row *ledger_before(const struct ledger *l, const struct ledger_row *r);
/* It has a plan, and one that fits. */
bool ledger_has_plan(const struct ledger_row *r);

/* What the pins in force cost, ms: the optimum under them against that of the row before them,
 * which differs in nothing but pins. NAN: there are none, or that row is not known or has no proven
 * plan that fits. */
double ledger_pins_cost(const struct ledger *l);

/* O(instructions). */
int ledger_figures_of(const struct problem *p, label *on, struct ledger_figures *out,
                      struct err *e) MUST_CHECK;

#endif
