/* engine/compare/kept_pipeline.h - the pipeline of replicas that is shortest when its stages keep
 * what they keep value by value (hybrid/by_value.h). */
#ifndef AUTOMAP_ENGINE_COMPARE_KEPT_PIPELINE_H
#define AUTOMAP_ENGINE_COMPARE_KEPT_PIPELINE_H

#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* The best plan to compute again in is neither the one for the limit nor the one without: of the
 * best pipelines (best_pipeline.h) within the limit, within a few larger ones and without, each
 * read as a hybrid plan and brought down to the limit, the one with the least step, in the
 * options' schedule. Its figures are those of hybrid plans. *out is allocated: kept_pipeline_free.
 * ERR_INFEASIBLE: none fits whatever it computes again, or `e` says why none could be read. */
int kept_pipeline_new(const struct problem *p, const struct pipeline_options *o,
                      struct hybrid **out, struct err *e) MUST_CHECK;
void kept_pipeline_free(struct hybrid *h); /* NULL ok */

/* One pipeline, read as a hybrid plan within the limit of `asked` and in its schedule, whose stages
 * keep what is best; it need not fit. *out as above. ERR_INPUT as hybrid_of_pipeline. */
int kept_pipeline_of(const struct pipeline_options *asked, const struct pipeline *l,
                     const struct pipeline_plan *plan, struct hybrid **out,
                     struct err *e) MUST_CHECK;

#endif
