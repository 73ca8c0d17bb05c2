/* engine/cost/overlap.h - communication hidden behind computation.
 *
 * Reductions of gradients, and gathers of parameters stored in pieces, run in parallel with the
 * computation P of a step, since nothing in the passes needs them at once. Of their time c, a tenth
 * is exposed at the ends, and so is what exceeds 0.9 P. Where communication occupies a share s of
 * the compute units (NCCL's kernels on GPUs: 0.15; none on a torus of TPUs), it slows computation
 * by that share:
 *     step = P + rest + max(0, c - 0.9 P) + 0.1 c + s min(c, P)
 * Between c = 0.9 P and P that is not convex. The model takes the larger of its outer lines, at
 * most 1.5 % above it:
 *     step = P + rest + (0.1 + s) c + max(0, (1 - s) c - (0.9 - s) P)
 * The first three terms are sums over instructions, as all costs are, with the share `hidden` = 0.9
 * - s of c taken off. The last, the excess, belongs to the step as a whole; without it every sum is
 * a lower bound. Of stages of pipelines no more than c ever shows: a pass that much shorter than c
 * runs before it. Sources: 0.9 and 0.1 fit published FSDP runs; s: calculon's 15 % of the SMs. */
#ifndef AUTOMAP_ENGINE_COST_OVERLAP_H
#define AUTOMAP_ENGINE_COST_OVERLAP_H

struct overlap {
    double hidden;  /* share of c that every sum leaves out; 0: nothing overlaps */
    double taken;   /* s */
    int is_bounded; /* there is an excess: the overlap is not a fixed share */
};

struct cluster_group;

/* On devices of `g`: of `share` from 0 to 1 a fixed part is hidden; OVERLAP_AUTO (training.h): as
 * above. */
struct overlap overlap_on(const struct cluster_group *g, double share);

/* E: equals the excess where positive. A sum over instructions. */
static inline double overlap_balance(const struct overlap *o, double compute, double c)
{
    return (1 - o->taken) * c - o->hidden * compute;
}

/* The excess, ms, of a step with `compute` ms of computation and `c` ms of overlapping
 * communication. */
static inline double overlap_excess(const struct overlap *o, double compute, double c)
{
    double excess = o->is_bounded ? overlap_balance(o, compute, c) : 0;

    return excess > 0 ? excess : 0;
}

/* What of c shows beside one pass, ms. */
static inline double overlap_shown(const struct overlap *o, double compute, double c)
{
    double shown = (1 - o->hidden) * c + overlap_excess(o, compute, c);

    return shown < c ? shown : c;
}

#endif
