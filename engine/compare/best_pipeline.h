/* engine/compare/best_pipeline.h - the pipeline that stands for its kind when kinds are compared.
 */
#ifndef AUTOMAP_ENGINE_COMPARE_BEST_PIPELINE_H
#define AUTOMAP_ENGINE_COMPARE_BEST_PIPELINE_H

#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* The shortest by simulation from the optimum of L, the best candidate and the closed form; with
 * forward passes run again where nothing fits without. Overlap and stop flag are the problem's.
 * ERR_INFEASIBLE, ERR_LIMIT: none, and `e` says why. Free with best_pipeline_free. */
int best_pipeline_new(const struct problem *p, const struct pipeline_options *o,
                      struct pipeline **out, struct pipeline_plan *plan, struct err *e) MUST_CHECK;
void best_pipeline_free(struct pipeline *l); /* NULL ok */

#endif
