/* engine/pipeline/environment.h - generated pipeline problems, for pretraining.
 *
 * Three families of arrays: entries drawn one by one (the paper's), transformers, CNNs. Sizes are
 * in ideal steps - all computation shared by all devices - because they matter more than shapes:
 * what crosses a cut, and what all devices reduce. */
#ifndef AUTOMAP_ENGINE_PIPELINE_ENVIRONMENT_H
#define AUTOMAP_ENGINE_PIPELINE_ENVIRONMENT_H

#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "rl/rng.h"

/* What a set of problems ranges over. */
struct environment_range {
    const char *summary;
    uint32_t points_least, points_most; /* log-uniform */
    uint32_t servers, devices;          /* exactly; 0: 1 to 8, 2 to 32 */
    uint32_t stages;                    /* exactly, one a server, cut between servers; 0: 2 to 6 */
    double transfer_most, reduce_most;  /* in ideal steps; from 0.003 on, log-uniform */
    bool rough; /* parts that do not shrink with replicas, once-a-step bytes, ties */
};

enum { ENVIRONMENT_WIDE, ENVIRONMENT_MIXED, ENVIRONMENT_C, ENVIRONMENT_RANGES };
extern const struct environment_range environment_ranges[ENVIRONMENT_RANGES];
extern const char *const environment_range_names[ENVIRONMENT_RANGES];

#define ENVIRONMENT_FAMILIES(X)                               \
    X(INDEPENDENT, "independent", "entries drawn one by one") \
    X(TRANSFORMER, "transformer", "layers of one template")   \
    X(CNN, "cnn", "levels: bytes fall, parameters rise")
enum {
#define X(id, name, summary) ENVIRONMENT_##id,
    ENVIRONMENT_FAMILIES(X)
#undef X
        ENVIRONMENT_FAMILY_COUNT
};

struct environment {
    struct pipe_instance in;
    uint32_t stages;
    uint8_t device_cut[PIPE_DEVICES_MOST + 1];
};
/* `families`: a bit for each that may be drawn; 0: all. */
int environment_new(struct environment *v, const struct environment_range *range, uint32_t families,
                    struct rl_rng *rng, struct err *e) MUST_CHECK;
void environment_free(struct environment *v);

#endif
