/* engine/pipeline/export.h - a pipeline plan for other programs. */
#ifndef AUTOMAP_ENGINE_PIPELINE_EXPORT_H
#define AUTOMAP_ENGINE_PIPELINE_EXPORT_H

#include "engine/pipeline/pipeline.h"

/* The simulated schedule in Chrome's trace format (chrome://tracing, Perfetto): a row per stage and
 * per link, an event per pass, transfer and all-reduce. Times in us. Appended. ERR_LIMIT past
 * PIPE_TASKS_MOST passes. */
int pipeline_export_trace(const struct pipeline *l, const struct pipeline_plan *p, struct str *out,
                          struct err *e) MUST_CHECK;

/* A Python module for training code in JAX: devices and parameters of each stage, where the cuts
 * lie, the schedule; with a function that makes the mesh of a stage. Appended. */
int pipeline_export_jax(const struct pipeline *l, const struct pipeline_plan *p, struct str *out,
                        struct err *e) MUST_CHECK;

/* The plan file, read again and found to be the same. Appended. */
int pipeline_export_json(const struct pipeline *l, const struct pipeline_plan *p, struct str *out,
                         struct err *e) MUST_CHECK;

struct pipeline_form {
    const char *name; /* trace, jax, json */
    int (*write)(const struct pipeline *l, const struct pipeline_plan *p, struct str *out,
                 struct err *e);
};
/* NULL: the first; NULL comes back for one that is unknown. */
const struct pipeline_form *pipeline_form_by_name(const char *name);

/* Where an instruction runs, in words: every execution of it, forward and backward. Appended. */
int pipeline_explain(const struct pipeline *l, const struct pipeline_plan *p, hlo_id id,
                     struct str *out, struct err *e) MUST_CHECK;

#endif
