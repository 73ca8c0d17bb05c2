/* engine/pipeline/network_answer.h - the pretrained network's whole answer for a pipeline, and what
 * it sees on its way. */
#ifndef AUTOMAP_ENGINE_PIPELINE_NETWORK_ANSWER_H
#define AUTOMAP_ENGINE_PIPELINE_NETWORK_ANSWER_H

#include "engine/pipeline/pipe_infer.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pipeline.h"
#include "hlo/support/err.h"

enum { NETWORK_COLUMNS = 128, NETWORK_DECISIONS = 4 };

/* One pass: a decision is a cut of the model and one of the devices. The value of a candidate is
 * 1 / (1 + gap), with the gap that its score claims: temperature x (best score - score), where 1 is
 * the best of the decision; by the paper's network its Q over the best. Along the model, which is
 * cut into equal numbers of points. */
struct network_pass {
    uint32_t decisions; /* made; the first NETWORK_DECISIONS of them are described */
    uint32_t columns;   /* parts of the model: a point each, or NETWORK_COLUMNS */
    struct {
        uint32_t pivot, device, candidates; /* decided; scored */
        float value[NETWORK_COLUMNS];       /* of the best candidate in each part; 0: none there */
    } of[NETWORK_DECISIONS];
};

struct network_answer {
    bool found;
    struct pipe_plan plan; /* over points of `few`; as good as beams and descent make it */
    double length_ms;      /* its L */
    uint64_t plans;        /* priced */
    struct network_pass pass;
};

/* `net` NULL: plans of equal shares take its place. A problem that
 * the network cannot be asked about (one stage) has an answer without a pass, or none. O(stages x
 * points x device cuts) for each of PIPE_INFER_BEAMS passes, and a descent. ERR_MEMORY. */
int network_answer_make(const struct pipeline *l, const struct pipe_net *net,
                        struct network_answer *out, struct err *e) MUST_CHECK;

#endif
