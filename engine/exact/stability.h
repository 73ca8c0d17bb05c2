/* engine/exact/stability.h - how far one figure may move, all others fixed, before another plan is
 * better, and which plan that is.
 *
 * Bandwidths: at a factor f the step of a plan is a + b / f, so the best step over all plans is a
 * lower envelope of lines in 1 / f. The search goes from the far end inwards: where the plan's line
 * crosses that of the best plan there, the best plan is computed again, until none is better. That
 * gives an exact breakpoint in few steps. Memory: below its peak the plan does not fit; above,
 * bisection to 0.1 % finds where a faster plan fits. Batch: whole sizes, by doubling and halving,
 * then bisection; this gives the first change found, since step times are not monotonic in sizes
 * that divide differently. With a memory limit the best plan is that of limit.h, proven or not, and
 * a breakpoint refers to the plans it finds. */
#ifndef AUTOMAP_ENGINE_EXACT_STABILITY_H
#define AUTOMAP_ENGINE_EXACT_STABILITY_H

#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#define STABILITY_FIGURES(X)        \
    X(LINK, "link bandwidth")       \
    X(NETWORK, "network bandwidth") \
    X(MEMORY, "memory")             \
    X(BATCH, "batch")

enum stability_figure {
#define X(id, name) STABILITY_##id,
    STABILITY_FIGURES(X)
#undef X
        STABILITY_COUNT
};
extern const char *const stability_names[STABILITY_COUNT];

#define STABILITY_FAR 64.0 /* range of factors: 1/64 to 64; of batches: 1/16 to 16 */

enum stability_end {
    STABILITY_HOLDS,     /* no other plan is better within the range */
    STABILITY_BREAKS,    /* beyond `value` another plan is better: on, step_ms */
    STABILITY_NO_LONGER, /* beyond `value` the plan is impossible or does not fit; on: the best plan
                            then, or NULL */
};

struct stability_side {
    uint8_t end;    /* enum stability_end */
    double value;   /* of the figure: bytes per second, bytes, samples */
    double step_ms; /* of the other plan there; at a bandwidth's breakpoint that of both */
    label *on;      /* [classes] the other plan; NULL: none */
};

struct stability {
    double now[STABILITY_COUNT]; /* 0: the figure does not matter here */
    struct stability_side down[STABILITY_COUNT], up[STABILITY_COUNT];
    bool is_best; /* no plan is better at the current figures */
};

struct stability_options {
    const label *on;        /* the plan */
    double limit;           /* bytes; INFINITY: none */
    bool variables, inputs; /* as in exact_options */
    int (*fix)(void *context, const struct problem *p, struct strict *s,
               struct err *e); /* as in batch_and_zero.h */
    void *context;
};

/* Reprices `p` many times and restores it before returning. */
int stability_of(struct problem *p, const struct stability_options *o, struct stability *out,
                 struct err *e) MUST_CHECK;
void stability_release(struct stability *s);

#endif
