/* engine/place/lp.h - placement on any sets as an integer program in LP format, for any solver
 * (CBC, HiGHS, Gurobi, SCIP).
 *
 *     minimise T
 *     x[p,d] binary: position p is on device d;  y[h,d] in [0, 1]: d pays for net h
 *     sum over d of x[p,d] = 1;  y[h,d] >= x[a,d] - x[b,d] along a cycle through the pins of h
 *     sum over p of time x + sum over h of weight y <= T     (a core: time x alone)
 *     sum over p of bytes x <= memory
 *
 * (Tarnawski et al., section 5, with one variable a net in place of two an edge.) Pins are rows
 * and bounds. */
#ifndef AUTOMAP_ENGINE_PLACE_LP_H
#define AUTOMAP_ENGINE_PLACE_LP_H

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends to out (out->failed: no memory). ERR_USAGE: other rules than sums, passes together, no
 * copies, or several servers. Names: x_POSITION_DEVICE; a position is named after its first node in
 * a comment. O(pins x devices). */
int place_lp_write(const struct place_graph *g, const struct place_rules *r, struct str *out,
                   struct err *e) MUST_CHECK;

#endif
