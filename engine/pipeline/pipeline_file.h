/* engine/pipeline/pipeline_file.h - pipeline plans as JSON, printed, kept in files and read back.
 *
 * Schema PIPELINE_SCHEMA; keys in engine/pipeline/README.md. Reading is as strict as for other
 * plans (engine/plan/plan_file.h): every key and type, model and cluster by fingerprint; costs are
 * not taken from the file but computed. Pivots are places in the forward order, held against the
 * name of the instruction behind the cut. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPELINE_FILE_H
#define AUTOMAP_ENGINE_PIPELINE_PIPELINE_FILE_H

#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#include <cjson/cJSON.h>

#define PIPELINE_SCHEMA "automap.pipeline/1"

/* A new object, to be deleted by the caller; NULL out of memory. */
cJSON *pipeline_json(const struct pipeline *l, const struct pipeline_plan *p);

int pipeline_file_save(const struct pipeline *l, const struct pipeline_plan *p, const char *path,
                       struct err *e) MUST_CHECK;

/* True when the file begins like a pipeline plan; false too when it cannot be read. */
bool pipeline_file_is(const char *path);

/* What is needed of a file before there is a problem: devices of its cluster. */
int pipeline_file_devices(const char *path, uint32_t *devices, struct err *e) MUST_CHECK;

/* Builds the pipeline with the options of the file and prices its plan. On success both are the
 * caller's. Errors name the file. */
int pipeline_file_load(const struct problem *p, const char *path, struct pipeline *out,
                       struct pipeline_plan *plan, struct err *e) MUST_CHECK;
int pipeline_file_parse(const struct problem *p, const char *text, size_t size,
                        struct pipeline *out, struct pipeline_plan *plan, struct err *e) MUST_CHECK;

#endif
