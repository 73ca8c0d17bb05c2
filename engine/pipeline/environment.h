/* engine/pipeline/environment.h - generated pipeline problems, for pretraining. Private to it. */
#ifndef AUTOMAP_ENGINE_PIPELINE_ENVIRONMENT_H
#define AUTOMAP_ENGINE_PIPELINE_ENVIRONMENT_H

#include "engine/pipeline/instance.h"
#include "hlo/support/err.h"
#include "rl/rng.h"

struct environment {
    struct pipe_instance in;
    uint32_t stages;
    uint8_t device_cut[PIPE_DEVICES_MOST + 1];
};
int environment_new(struct environment *v, struct rl_rng *rng, struct err *e) MUST_CHECK;
void environment_free(struct environment *v);

#endif
