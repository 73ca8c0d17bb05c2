/* engine/hybrid/written_out.h - a hybrid plan of a program in which loops that stages cut are
 * written out.
 *
 * The order of a step has loops of known trips unrolled (pipeline/unroll.h), so a cut may lie
 * between two trips: layers in a loop are cut like layers written out. A module of a stage then
 * needs its own trips alone. Here the program is written out (hlo_write_out) and the plan carried
 * over: every operation is the image of one of the first program's, at the same place of the same
 * loop's trip, and of the same stage and pass, which is checked; every dim is split as the dim that
 * it is an image of. Stacks of variables stay one variable, which every stage with a layer of it
 * reads whole. */
#ifndef AUTOMAP_ENGINE_HYBRID_WRITTEN_OUT_H
#define AUTOMAP_ENGINE_HYBRID_WRITTEN_OUT_H

#include "engine/hybrid/hybrid.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

struct written_out {
    const struct hybrid *plan; /* the given one where nothing is cut, else `own` */
    struct hybrid own;
    struct problem problem;
};

/* `h` must outlive it, and it must not move. ERR_INFEASIBLE where the program written out is
 * another one to the planner: loops left rolled up, other roles. As costly as problem_new. */
int written_out_new(const struct hybrid *h, struct written_out *out, struct err *e) MUST_CHECK;
void written_out_release(struct written_out *w);

#endif
