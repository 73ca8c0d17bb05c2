/* tests/unit/pipeline_layers.h - a made-up transformer as a pipeline problem: equal layers of
 * several points, cheap to cut between and dear inside, an embedding tied to the head. */
#ifndef AUTOMAP_TESTS_PIPELINE_LAYERS_H
#define AUTOMAP_TESTS_PIPELINE_LAYERS_H

#include "engine/pipeline/pipe_instance.h"
#include "rl/rng.h"

#include <stdio.h>

static inline int layers_new(struct pipe_instance *out, const char *cluster, uint32_t layers,
                             uint32_t points, double memory_share)
{
    struct pipe_options o = {.micro_batches = 16, .micro_batch = 16, .memory_share = memory_share};
    struct cluster c;
    struct rl_rng r;
    struct err e;
    char path[512];
    uint32_t uses[2] = {0, layers * points - 1};
    struct pipe_tie tie = {
        .uses = uses, .use_count = 2, .gradient_bytes = 125e6, .state_bytes = 500e6};

    rl_rng_seed(&r, 1, 0);
    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/clusters/%s.yaml", cluster);
    if (cluster_load(&c, path, &e) || pipe_instance_new(out, layers * points, &c, &o, &e))
        return -1;
    for (uint32_t i = 0; i < out->points; i++) {
        double work = 10.0 / points * (0.5 + rl_rng_unit(&r)),
               bytes = 96e6 / points * rl_rng_unit(&r);
        for (uint32_t k = 1; k <= out->devices; k++) {
            out->forward_ms[pipe_row(out, 0, k)][i + 1] = work * out->share[k];
            out->backward_ms[pipe_row(out, 0, k)][i + 1] = 2 * work * out->share[k];
        }
        out->gradient_bytes[i + 1] = bytes + (i ? 0 : 125e6);
        out->state_bytes[i + 1] = 4 * out->gradient_bytes[i + 1];
        out->stash_bytes[i + 1] = 1.2e9 / points;
        out->temporary_bytes[i] = 3e8;
        out->update_ms[0][i + 1] = out->gradient_bytes[i + 1] * 7 / 900e6;
        out->variables[i + 1] = i % 2 == 0;
        out->layer[i] = i / points;
        if (i)
            out->forward_bytes[i] = out->backward_bytes[i] =
                i % points ? 33.6e6 * (1.5 + 4 * rl_rng_unit(&r)) : 33.6e6;
    }
    return pipe_instance_tie(out, &tie, &e) || pipe_instance_finish(out, &e);
}

#endif
