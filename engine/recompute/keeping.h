/* engine/recompute/keeping.h - which values of a stretch of the forward pass to keep for its
 * backward pass and which to compute again, as a problem free of HLO.
 *
 * A value that is needed in the backward pass is kept, or computed again from values that are
 * kept or computed again themselves. Values lie in groups, the layers; while the backward pass is
 * in a group what it computed again there is held beside everything kept. At a price per byte the
 * best choice is a minimum cut; prices swept give a convex front, and two neighbours on it are
 * mixed group by group, the first groups computing more again. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_KEEPING_H
#define AUTOMAP_ENGINE_RECOMPUTE_KEEPING_H

#include "hlo/support/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keep_value {
    double bytes, ms;           /* kept; of computing it again */
    uint32_t reads, read_count; /* into edges: values before it that it is computed from */
    uint32_t group;
    bool is_needed; /* in the backward pass */
    bool is_held;   /* where it is used at all it is kept: nothing computes it again */
    bool is_passed; /* never in memory: where it is used it is computed again */
};

struct keep_problem {
    struct keep_value *values; /* operands before what reads them */
    uint32_t count;
    uint32_t *edges;
    uint32_t edge_count;
    uint32_t groups;
    size_t value_room, edge_room;
};

enum keep_state { KEEP_UNUSED, KEEP_KEPT, KEEP_AGAIN, KEEP_HOST };

struct keep_choice {
    double ms;     /* added to keeping all that is needed on the device */
    double bytes;  /* kept on the device */
    double beside; /* the most that one group holds of what it computed again; and what is on its
                      way to the host or back */
    double host_bytes; /* kept on the host */
    double host_ms;    /* in ms: what copies show */
    uint8_t *state;    /* [count] enum keep_state, owned */
};

void keep_problem_release(struct keep_problem *p);
void keep_choice_release(struct keep_choice *c);

struct keep_front {
    const struct keep_problem *problem;
    struct keep_choice *points; /* from most kept, the fastest, to least kept */
    uint32_t count;
    size_t room;
};

/* Every corner of the convex front of ms over bytes. One minimum cut for each. */
int keep_front_new(const struct keep_problem *p, struct keep_front *out, struct err *e) MUST_CHECK;
void keep_front_release(struct keep_front *f);

/* The fastest choice found with at most `room` bytes where each kept byte counts `times` over and
 * the rest once; *fits false: that of least memory. *bound_ms: no choice that fits adds less. */
int keep_within(const struct keep_front *f, double times, double room, struct keep_choice *out,
                bool *fits, double *bound_ms, struct err *e) MUST_CHECK;

/* A link to host memory. Copies there hide behind the forward pass of a micro-batch, copies back
 * behind its backward pass; what is longer shows. */
struct keep_host {
    double bytes_per_ms; /* each way */
    double forward_ms, backward_ms;
};

/* The same, and kept values may wait on the host, of the first groups first, which the backward
 * pass reads last; those of the last group never do. Three times the largest part of a group on the
 * host stays on the device: what is read, what is fetched behind it, and what is on its way out. */
int keep_within_host(const struct keep_front *f, double times, double room,
                     const struct keep_host *host, struct keep_choice *out, bool *fits,
                     double *bound_ms, struct err *e) MUST_CHECK;

/* keeping.c: each choice between two corners of the front, from the fastest on, until `each` wants
 * no more of them or fails; it owns what it is given. */
int keep_each(const struct keep_front *f,
              int (*each)(void *self, struct keep_choice *c, bool *enough, struct err *e),
              void *self, struct err *e) MUST_CHECK;
/* ms at so many bytes on the front's line; INFINITY: fewer than its last corner's. */
double keep_line(const struct keep_front *f, double bytes);

#endif
