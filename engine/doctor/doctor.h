/* engine/doctor/doctor.h - what made each collective of a partitioned module, what it costs, and
 * how to be rid of it.
 *
 * Reads the module as it stands after XLA's partitioner, or compiled: a collective carries the
 * metadata of the instruction the partitioner was working on; its neighbours tell the pattern, the
 * pattern the cause. Patterns and rules: engine/doctor/README.md. */
#ifndef AUTOMAP_ENGINE_DOCTOR_DOCTOR_H
#define AUTOMAP_ENGINE_DOCTOR_DOCTOR_H

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/decide/partitioner.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

/* Constant, name, what it is. */
#define DOCTOR_CAUSES(X)                                                                       \
    X(OUTPUT, "output", "the result is asked for with another split than it has")              \
    X(RANDOM, "random", "random numbers that cannot be made in parts")                         \
    X(HOST, "host", "a call to the host runs on one device")                                   \
    X(ONE_DEVICE, "one-device", "a part that one device alone has, sent to all")               \
    X(BY_HAND, "by-hand", "written so in the program")                                         \
    X(PARTIAL, "partial-sum", "a summed dim is split: each device has a part of the sum")      \
    X(SCATTER, "scatter", "rows added by several devices into one table")                      \
    X(GATHER_ROWS, "gather-rows", "rows looked up in a table that is split by rows")           \
    X(GATHER_ANY, "gather-unprovable", "rows looked up by numbers that are data")              \
    X(HALO, "halo", "neighbouring rows of a split dim")                                        \
    X(ORDER, "device-order", "the same tiles on other devices")                                \
    X(UNSPLIT, "unsplittable-dim", "the operation works along the split dim")                  \
    X(RESHAPE, "reshape", "a reshape that cuts across the split dim")                          \
    X(REMAT, "full-remat", "replicated whole and cut again: no direct way between two splits") \
    X(WEIGHT, "weight-gather", "a weight stored in pieces, gathered for its use")              \
    X(OPERAND, "operand-gather", "one operand split along the contracted dim, the other not")  \
    X(DISPATCH, "dispatch", "the split moves between two dims of a batched product")           \
    X(MISMATCH, "mismatch", "two values meet with different splits")                           \
    X(CONSTRAINT, "constraint", "a sharding constraint asks for another split")                \
    X(LOOP, "loop", "split anew in every trip of a loop")                                      \
    X(UNKNOWN, "unknown", "cause not found")

enum doctor_cause {
#define X(id, name, words) DOCTOR_##id,
    DOCTOR_CAUSES(X)
#undef X
        DOCTOR_CAUSE_COUNT
};
extern const char *const doctor_cause_names[DOCTOR_CAUSE_COUNT];
extern const char *const doctor_cause_words[DOCTOR_CAUSE_COUNT];

enum doctor_verdict { DOCTOR_WANTED, DOCTOR_UNWANTED, DOCTOR_UNSURE, DOCTOR_VERDICT_COUNT };
extern const char *const doctor_verdict_names[DOCTOR_VERDICT_COUNT];

/* A collective's size on one device, once: what it holds, and what the device sends. */
struct doctor_traffic {
    enum collective_kind kind;
    double bytes, sent; /* result bytes; sent by the formulas of engine/cluster/collectives.h */
    double ms;          /* on the cluster */
    uint32_t group;     /* devices that take part; 0: not understood */
};

/* The program planned again with one of its shardings, or those around one collective, changed. */
struct doctor_planned {
    const char *change; /* what becomes what; NULL: not planned, or nothing is better */
    bool has_line;      /* of the sharding that changes */
    struct hlo_frame line;
    double now_ms, ms; /* collectives of a step in the plan: with the shardings as they are,
                          changed; not those of the dump, which XLA chose */
    double bytes;      /* of what is left */
    double saves_ms;   /* of the step, computing included */
    uint32_t count, now_count;
};

struct doctor_finding {
    hlo_id id;    /* the collective */
    hlo_id op;    /* the instruction it serves; HLO_NONE: not in this module */
    hlo_id asks;  /* the constraint that asked for the split; HLO_NONE: none found */
    hlo_id takes; /* what it sends, seen through moves; HLO_NONE */
    struct doctor_traffic once;
    double trips; /* of the loops around it; 1 outside; NAN: unknown */
    enum doctor_cause cause;
    enum doctor_verdict verdict;
    bool has_line;
    struct hlo_frame line;      /* the line to look at */
    const char *because, *cure; /* sentences; cure "": nothing to do */
    bool cure_is_priced;
    struct doctor_traffic cured; /* what is there once a step after the cure; bytes 0: nothing */
    double cured_trips;
    bool is_left_out; /* its constraint leaves out a mesh axis that is split over before and behind
                       */
    hlo_id speaker;   /* whose metadata it has: `id` but for joined collectives */
    struct doctor_planned planned;
};

/* Findings that say the same of collectives of one size. */
struct doctor_row {
    uint32_t first, times; /* findings[first .. first + times - 1] */
};

/* Of a step, all trips counted. */
struct doctor_total {
    double bytes, sent, ms;
    bool is_least; /* the trips of a loop are unknown: at least this */
};

/* Calls of one target whose work nobody knows: no rule of engine/kernels matches. */
enum { DOCTOR_OPAQUE_MOST = 64 };
struct doctor_opaque {
    hlo_id first;
    uint32_t count;
    double ms; /* a step, of all, by the bytes that they read and write */
    const char *target;
};

/* The changes that planning again has found, in one plan: nothing is saved twice. Where all of them
 * save less than one, those are left out that undo what the better ones save, and those that no
 * plan was made with: too many, stopped, or there is none. */
struct doctor_together {
    uint32_t changes;          /* of rows, each of one sharding or several, and ways in steps; 0:
                                  none, or they cannot be planned together */
    uint32_t offered;          /* the same of all that were found; changes + untried <= offered */
    uint32_t untried;          /* left out, and not because they undo anything */
    double now_ms, ms;         /* collectives of a step in the plan, as doctor_planned has them */
    double bytes;              /* of what is left */
    double saves_ms;           /* of the step, computing included */
    double memory_now, memory; /* bytes of a device */
    uint32_t count;            /* collectives that are left */
};

struct doctor {
    const struct hlo_module *m;
    struct cluster cluster;
    struct hlo_frames *frames;
    const struct hlo_module *before; /* NULL: not given */
    struct hlo_frames *before_frames;
    struct doctor_finding *findings; /* longest a step first */
    uint32_t count;
    struct doctor_row *rows; /* all findings, in their order */
    uint32_t row_count;
    uint32_t devices;
    bool has_compute;  /* the next three are known (doctor_compute) */
    double compute_ms; /* of a step on one device, without collectives */
    struct doctor_opaque *opaque;
    uint32_t opaque_count;
    struct doctor_together together;
    bool is_compiled; /* scheduled and fused: constraints are gone, types may have grown */
    struct partitioner *partitioner; /* private: as measured, what made the dump is not known */
    struct helper *helpers;          /* private: source lines of helper functions */
    size_t helper_count, helper_room;
    struct arena arena;
};

/* `m` must outlive it, `before` too: the program as it was before partitioning, in which the
 * constraints stand that compiled text has lost (NULL: not at hand). `c` NULL: default devices, as
 * many as the module is made for. ERR_INPUT when `c` has another number of devices or the module is
 * not partitioned; ERR_MEMORY; ERR_LIMIT. O(instructions log instructions). Free with
 * doctor_release. */
int doctor_new(const struct hlo_module *m, const struct hlo_module *before, const struct cluster *c,
               struct doctor *out, struct err *e) MUST_CHECK;
void doctor_release(struct doctor *d);

/* Plans the program that `d` was partitioned from again, with the shardings it asks for, and with
 * each of those around an unwanted collective free to be another of as many parts; what is best
 * goes to the findings' `planned`. `program` is the one before partitioning, a module of its own,
 * taken over also on error; its mesh is that of its shardings. Ends early when `stop` is set (NULL:
 * never). Nothing is found, and that is no
 * error, where `d` has no `before` or the program cannot be planned. ERR_MEMORY. At most
 * DOCTOR_PLANS_MOST solves of engine/relaxed that give a plan, and as many that give none. */
enum { DOCTOR_PLANS_MOST = 256 };
int doctor_replan(struct doctor *d, struct hlo_module *program, const atomic_bool *stop,
                  struct err *e) MUST_CHECK;

/* Prices what each device computes, with the cost model of plans, every loop as often as it runs,
 * and lists the calls that it cannot price. `copy` is d->m read once more, taken over also on
 * error; `kernels` a rule file or NULL. ERR_INPUT: that file; ERR_MEMORY. Nothing is known
 * afterwards, and that is no error, where the text cannot be priced. As costly as problem_new. */
int doctor_compute(struct doctor *d, struct hlo_module *copy, const char *kernels,
                   struct err *e) MUST_CHECK;
/* The same as `from`, of the same module, knows. ERR_MEMORY. */
int doctor_compute_as(struct doctor *d, const struct doctor *from, struct err *e) MUST_CHECK;

/* The lines of the collectives that compiling has joined into `f`, each once, without f->line; at
 * most `most`. 0: it is one alone. */
uint32_t doctor_joined(const struct doctor *d, const struct doctor_finding *f, uint32_t most,
                       struct hlo_frame out[]);

/* What findings[first .. first + times - 1] take now, and what is left of it after their changes:
 * where none is priced, what there is now. */
void doctor_sum(const struct doctor *d, const struct doctor_row *r, struct doctor_total *now,
                struct doctor_total *cured);

/* What became of the changes that are left out: ", the others undo them", "": none are. */
char *doctor_left_out(char *out, size_t room, const struct doctor_together *t);

/* The chain of source lines of an instruction without installed packages; `most` >= 1. */
uint32_t doctor_chain(const struct doctor *d, hlo_id id,
                      struct hlo_frame out[static HLO_FRAMES_MOST]);

#endif
