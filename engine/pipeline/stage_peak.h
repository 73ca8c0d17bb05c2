/* engine/pipeline/stage_peak.h - where a pipeline plan's memory peaks over its schedule, what lies
 * there, and which single change lowers it most. Counted as timeline.h does; the stage with most
 * bytes counts, on devices of different sizes that with the largest part of its limit. */
#ifndef AUTOMAP_ENGINE_PIPELINE_STAGE_PEAK_H
#define AUTOMAP_ENGINE_PIPELINE_STAGE_PEAK_H

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/simulation.h"
#include "engine/pipeline/timeline.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>

struct pipeline_peak {
    uint32_t stages, worst;
    struct timeline *timeline;     /* [stages] */
    struct timeline_peak *stage;   /* [stages] */
    struct pipe_schedule schedule; /* the options' */
};
/* O(stages x (operations + M x steps)). */
int pipeline_peak_new(const struct pipeline *l, const struct pipe_plan *p,
                      struct pipeline_peak *out, struct err *e) MUST_CHECK;
void pipeline_peak_release(struct pipeline_peak *k);

/* What can be changed alone. */
enum pipeline_change_kind {
    CHANGE_PIVOT,  /* a pivot to the next of the points solvers choose from */
    CHANGE_DEVICE, /* a device cut by one device */
    CHANGE_RECOMPUTE,
    CHANGE_SCHEDULE,
    CHANGE_MICRO_BATCHES, /* the next larger number that divides the batch */
};
struct pipeline_change {
    enum pipeline_change_kind kind;
    uint32_t cut; /* of the first two: stage cut - 1 and stage cut meet there */
    struct pipe_plan plan;
    uint32_t micro_batches;
    enum pipe_schedule_kind schedule;
    uint32_t worst; /* stage with it, its bytes, and these as part of its devices' memory */
    double peak, filled;
    double length_ms, makespan_ms;
};
/* Those that lower the worst stage's peak, lowest first, of equals the shortest; the caller frees
 * *out. Up to 4 stages + 4 plans are played. */
int pipeline_changes(const struct pipeline *l, const struct pipe_plan *p,
                     const struct pipeline_peak *now, struct pipeline_change **out, uint32_t *count,
                     struct err *e) MUST_CHECK;

/* All of it as text: peaks of the stages by kind, the `tops` largest values at the worst one's peak
 * with their source lines, and the change that lowers it most. Appended. */
int pipeline_peak_write(const struct pipeline *l, const struct pipe_plan *p, uint32_t tops,
                        struct str *out, struct err *e) MUST_CHECK;

/* {"stages": [{"bytes", "at_ms", bytes of each kind}], "worst", "change": the first of the changes,
 * or null}; a new object, the caller's; keys in engine/pipeline/README.md. */
int pipeline_peak_json(const struct pipeline *l, const struct pipe_plan *p, cJSON **out,
                       struct err *e) MUST_CHECK;

#endif
