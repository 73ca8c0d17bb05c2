/* engine/hybrid/hybrid_export.h - a hybrid plan for other programs: its schedule as a trace, and
 * the settings of trainers that can be told uniform plans. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_EXPORT_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_EXPORT_H

#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/simulation.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct hybrid_form {
    const char *name;
    /* Appended. ERR_INFEASIBLE: a trainer cannot be told this plan; says why. */
    int (*write)(const struct hybrid *h, struct str *out, struct err *e);
};

/* json, trace (Chrome's format), stages and jax (export_stages.h), megatron, torchtitan, deepspeed.
 * `name` NULL: the first; NULL comes back for one that is unknown. */
const struct hybrid_form *hybrid_form_by_name(const char *name);

/* Its schedule as played, interleaved or not, in order of time: node 2 n is stage n. To be released
 * with pipe_schedule_free. */
int hybrid_schedule(const struct hybrid *h, struct pipe_schedule *out, struct err *e) MUST_CHECK;

#endif
