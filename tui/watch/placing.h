/* tui/watch/placing.h - the operators of a model, or an operator graph of a file, placed on devices
 * (engine/place/) in a thread of its own, under the pins of the view. */
#ifndef AUTOMAP_TUI_WATCH_PLACING_H
#define AUTOMAP_TUI_WATCH_PLACING_H

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
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

/* What a plan is to make short. */
#define PLACING_OBJECTIVES(X)                      \
    X(STREAM, "stream")                            \
    X(BESIDE, "stream, transfers beside the work") \
    X(APART, "stream, passes apart")               \
    X(LATENCY, "latency of one sample")
enum placing_objective {
#define X(id, words) PLACING_##id,
    PLACING_OBJECTIVES(X)
#undef X
        PLACING_OBJECTIVE_COUNT
};
extern const char *const placing_objective_words[PLACING_OBJECTIVE_COUNT];
struct place_rules placing_rules(enum placing_objective o);

struct placing_asked {
    bool any_sets;
    enum placing_objective objective;
    uint32_t algorithm; /* index into place_algorithms (engine/place/solve.h) */
    struct placing_pin pin[PLACING_PINS_MOST];
    uint32_t pins;
};

/* An operator graph of a file. Jobs read it anew, for pins change it. */
struct placing_graph {
    char *text;
    size_t size;
    uint64_t fingerprint; /* of the graph as read */
    char words[96];       /* "235 operators   3 accelerators of 16 GB, 1 core" */
    uint32_t references;  /* UI thread */
};
/* *out NULL: the file is none, or cannot be read; a model's reader may say more. Errors: it is one,
 * with a fault; they name the file. */
int placing_graph_read(const char *path, struct placing_graph **out, struct err *e) MUST_CHECK;
struct placing_graph *placing_graph_share(struct placing_graph *g); /* one reference more */
void placing_graph_release(struct placing_graph *g);                /* one less; NULL is fine */

/* What is placed: one of the two. Both outlive the jobs. */
struct placing_source {
    const struct problem *problem;
    const struct placing_graph *graph;
};

struct placing;

struct placing_look {
    const struct place_graph *graph; /* NULL: not made yet; then constant, lives with the job */
    uint32_t version;                /* of the plan; 0: none yet */
    bool done;
    char trouble[256]; /* done without a plan: why */
};

/* `in_thread` false: all of it before this returns, for pictures. */
int placing_new(const struct placing_source *s, const struct placing_asked *asked, bool in_thread,
                struct placing **out, struct err *e) MUST_CHECK;
/* One that is done already, with the plan of a file (engine/place/place_file.h). */
int placing_of_file(const struct placing_source *s, const char *path, struct placing **out,
                    struct err *e) MUST_CHECK;
/* What the view is opened with for an operator graph without a model; both are taken over. */
struct place_opening {
    struct placing_graph *graph;
    struct placing *job; /* done, with the plan of a file; NULL: a search begins */
};

/* What was asked: of a file's, without its pins. */
struct placing_asked placing_question(const struct placing *j);
void placing_stop(struct placing *j); /* does not wait */
void placing_free(struct placing *j); /* stops and joins; NULL is fine */
void placing_look(struct placing *j, struct placing_look *out);
/* The newest plan, a copy of the caller's; NULL when there is none. */
int placing_take(struct placing *j, struct placement **out, struct err *e) MUST_CHECK;

#endif
