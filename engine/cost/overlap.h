/* engine/cost/overlap.h - communication hidden behind computation.
 *
 * Reductions of gradients, and gathers of parameters stored in pieces, run in parallel with the
 * computation P of a step, since nothing in the passes needs them at once. A tenth of the shorter
 * of both is exposed at the ends. Where communication occupies a share s of the compute units
 * (NCCL's kernels on GPUs: 0.15; none on a torus of TPUs), it slows computation by that share as
 * long as both run:
 *     step = rest + max(P, c) + (0.1 + s) min(P, c)
 * never longer than P + rest + c, never shorter than P or c alone. That is
 *     step = P + rest + (0.1 + s) c + max(0, (0.9 - s) (c - P))
 * The first three terms are sums over instructions, as all costs are, with the share `hidden` = 0.9
 * - s of c taken off. The last, the excess, belongs to the step as a whole; without it every sum is
 * a lower bound. Sources: a tenth fits published FSDP runs, whose c is below P; s: calculon's 15 %
 * of the SMs. */
#ifndef AUTOMAP_ENGINE_COST_OVERLAP_H
#define AUTOMAP_ENGINE_COST_OVERLAP_H

struct overlap {
    double hidden;  /* share of c that every sum leaves out; 0: nothing overlaps */
    int is_bounded; /* there is an excess: the overlap is not a fixed share */
};

struct cluster_group;

/* On devices of `g`: of `share` from 0 to 1 a fixed part is hidden; OVERLAP_AUTO (training.h): as
 * above. */
struct overlap overlap_on(const struct cluster_group *g, double share);

/* E: equals the excess where positive. A sum over instructions. */
static inline double overlap_balance(const struct overlap *o, double compute, double c)
{
    return o->hidden * (c - compute);
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
    return (1 - o->hidden) * c + overlap_excess(o, compute, c);
}

#endif
