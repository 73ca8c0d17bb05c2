/* engine/pipeline/export.h - a pipeline plan for other programs. */
#ifndef AUTOMAP_ENGINE_PIPELINE_EXPORT_H
#define AUTOMAP_ENGINE_PIPELINE_EXPORT_H

#include "engine/pipeline/pipeline.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

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
