/* engine/pipeline/pipe_before.h - what no beginning of a pipeline is below: for m stages on the
 * devices before a cut, over points 0 .. i-1, the least of each of the four figures of a prefix
 * (pipe_exact.h), each over all beginnings. With X, Y, Z of what follows, no plan is shorter than
 *     max(f0 + X, f1 + Y, f2 + Z, f3)
 * Beginnings longer than a known plan by themselves, or that leave more work than the devices
 * behind them can do in its time, are left out; figures are infinite where none is left. A transfer
 * is counted where the devices on both sides are known, behind the first stage. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPE_BEFORE_H
#define AUTOMAP_ENGINE_PIPELINE_PIPE_BEFORE_H

#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"

#include <stdatomic.h>

/* What the nodes up to some place mean for all that may follow: with X, Y, Z of what follows,
 *     L = max(f0 + X, f1 + Y, f2 + Z, f3)
 * A node with F, B, R and steady time T behind them makes
 *     g = max(f0 + R, f1)   f0' = f0 + F   f1' = g + F + B   f2' = max(f0 + F + T, f2 - B)
 *     f3' = max(f3, g + F + T + B, f2 + R)
 * and f3 of all nodes is L. O(1) a node. */
struct pipe_prefix {
    double f0, f1, f2, f3;
};
struct pipe_prefix pipe_prefix_start(void);
void pipe_prefix_add(struct pipe_prefix *p, const struct pipe_node *node, double steady_ms);

struct pipe_before {
    uint32_t cuts, points, stages;
    struct pipe_prefix *least; /* [stages][cuts + 1][points + 1] */
};

struct pipe_before_ask {
    const struct pipe_instance *in;
    const uint32_t *position; /* [cuts + 1] devices at which a stage may begin, the ends included */
    uint32_t cuts, stages;    /* beginnings of 1 .. `stages` stages */
    double known_ms;
    const double *work;         /* [points + 1] prefix: the least work (ms x devices) of points */
    uint64_t looks, looks_most; /* stages looked at, counted up; past the most it is given up */
    const atomic_bool *stop;    /* NULL: never */
};

/* False: no memory, stopped or given up; then nothing is held. O(pairs of cuts x pairs of points),
 * of which `known_ms` leaves a few per cent. */
bool pipe_before_new(struct pipe_before_ask *ask, struct pipe_before *out);
void pipe_before_free(struct pipe_before *b);

static inline const struct pipe_prefix *pipe_before_of(const struct pipe_before *b, uint32_t stages,
                                                       uint32_t cut, uint32_t point)
{
    size_t row = (size_t)(stages - 1) * (b->cuts + 1) + cut;

    return &b->least[row * (b->points + 1) + point];
}

#endif
