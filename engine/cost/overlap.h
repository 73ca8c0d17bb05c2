/* engine/cost/overlap.h - communication that computation hides.
 *
 * Reductions of gradients, and gathers of parameters that are stored in pieces, wait for nothing in
 * the passes and nothing at once for them, so they run beside the computation P of a step. Of their
 * time c a tenth shows at the ends, what passes 0.9 P shows, and where communication takes a part s
 * of the units that compute (NCCL's kernels on GPUs: 0.15; none on a torus of TPUs) that much of
 * it is paid in slower computation:
 *     step = P + rest + max(0, c - 0.9 P) + 0.1 c + s min(c, P)
 * Between c = 0.9 P and P that is not convex; the larger of its outer lines, at most 1.5 % above
 * it, is:
 *     step = P + rest + (0.1 + s) c + max(0, (1 - s) c - (0.9 - s) P)
 * The first three are sums over instructions, as all costs are, with a part `hidden` = 0.9 - s of c
 * taken off. The last is the excess, of the step as a whole; without it every sum is a lower bound.
 * Sources: 0.9 and 0.1 fit published FSDP runs; s: calculon's 15 % of the SMs. */
#ifndef AUTOMAP_ENGINE_COST_OVERLAP_H
#define AUTOMAP_ENGINE_COST_OVERLAP_H

struct overlap {
    double hidden;  /* part of c that every sum leaves out; 0: nothing overlaps */
    double taken;   /* s */
    int is_bounded; /* there is an excess: overlap is not a fixed part */
};

/* E: what the excess is where it is positive. A sum over instructions. */
static inline double overlap_balance(const struct overlap *o, double compute, double c)
{
    return (1 - o->taken) * c - o->hidden * compute;
}

/* The excess, ms, of a step that computes for `compute` and has `c` of communication beside it. */
static inline double overlap_excess(const struct overlap *o, double compute, double c)
{
    double excess = o->is_bounded ? overlap_balance(o, compute, c) : 0;

    return excess > 0 ? excess : 0;
}

#endif
