/* engine/hybrid/hybrid_older.h - plans of the older kinds as hybrid plans: a strict plan is one
 * stage over all devices, a pipeline one whose stages split the batch alone.
 *
 * Priced as hybrid plans are, which is not to the last digit what their own kind says: gradients go
 * in one message. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_OLDER_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_OLDER_H

#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* The plan of a file of any kind but placements, hybrid ones too. A pipeline is cut where it is,
 * inside layers too; devices that it leaves unused lie before the first stage then. ERR_INPUT: a
 * relaxed plan, or one over more than two axes or not over all devices; a pipeline whose operations
 * are in another order, or with more replicas than samples in a micro-batch. Errors name the file.
 */
int hybrid_older_load(const struct problem *p, const char *path, struct hybrid *out,
                      struct err *e) MUST_CHECK;

/* The same of a pipeline in memory, with its problem. */
int hybrid_of_pipeline(const struct pipeline *l, const struct pipeline_plan *from,
                       struct hybrid *out, struct err *e) MUST_CHECK;

#endif
