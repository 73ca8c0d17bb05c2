/* tui/watch/placing.h - the model's operators placed on the cluster's devices (engine/place/) in a
 * thread of its own, under the pins of the view. */
#ifndef AUTOMAP_TUI_WATCH_PLACING_H
#define AUTOMAP_TUI_WATCH_PLACING_H

#include "engine/place/graph.h"
#include "engine/place/placement.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#include <stdbool.h>
#include <stdint.h>

enum placing_pin_kind { PLACING_ON, PLACING_WITH, PLACING_OFF_HOST };
struct placing_pin {
    enum placing_pin_kind kind;
    uint32_t node, other; /* a device, a node, nothing */
};
enum { PLACING_PINS_MOST = 32 };

struct placing_asked {
    bool any_sets;
    struct placing_pin pin[PLACING_PINS_MOST];
    uint32_t pins;
};

struct placing;

struct placing_look {
    const struct place_graph *graph; /* NULL: not made yet; then constant, lives with the job */
    uint32_t version;                /* of the plan; 0: none yet */
    bool done;
    char trouble[256]; /* done without a plan: why */
};

/* `in_thread` false: all of it before this returns, for pictures. */
int placing_new(const struct problem *p, const struct placing_asked *asked, bool in_thread,
                struct placing **out, struct err *e) MUST_CHECK;
void placing_stop(struct placing *j); /* does not wait */
void placing_free(struct placing *j); /* stops and joins; NULL is fine */
void placing_look(struct placing *j, struct placing_look *out);
/* The newest plan, a copy of the caller's; NULL when there is none. */
int placing_take(struct placing *j, struct placement **out, struct err *e) MUST_CHECK;

#endif
