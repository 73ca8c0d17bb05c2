/* engine/hybrid/hybrid_export.h - a hybrid plan for other programs: its schedule as a trace, and
 * uniform plans as settings of trainers. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_EXPORT_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_EXPORT_H

#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/simulation.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct hybrid_form {
    const char *name;
    int (*write)(const struct hybrid *h, struct str *out, struct err *e); /* by hybrid_write */
    bool is_run; /* somebody runs the plan's strict stages by it */
};

/* Appended. ERR_INFEASIBLE, and why: the form cannot express this plan, or would run one that fits
 * only with relaxed stages. */
int hybrid_write(const struct hybrid_form *f, const struct hybrid *h, struct str *out,
                 struct err *e) MUST_CHECK;

/* json, trace (Chrome's format), stages and jax (export_stages.h), megatron, torchtitan, deepspeed.
 * `name` NULL: the first; NULL comes back for one that is unknown. */
const struct hybrid_form *hybrid_form_by_name(const char *name);

/* Its simulated schedule, interleaved or not, in order of time: node 2 n is stage n. by_value: of
 * stages that keep what by_value.h chose, in its schedule. Release it with pipe_schedule_free. */
int hybrid_schedule(const struct hybrid *h, bool by_value, struct pipe_schedule *out,
                    struct err *e) MUST_CHECK;

#endif
