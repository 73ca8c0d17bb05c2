/* tui/views/pipeline_draw.h - the parts of view_pipeline.c; shared by it, pipeline_draw.c and
 * pipeline_watch.c only. */
#ifndef AUTOMAP_TUI_VIEWS_PIPELINE_DRAW_H
#define AUTOMAP_TUI_VIEWS_PIPELINE_DRAW_H

#include "engine/hybrid/hybrid_picture.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/simulation.h"
#include "engine/pipeline/timeline.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/views/panel.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/pipeline_learn.h"

struct pipeline_shown {
    const struct pipeline *pipeline;
    struct pipe_plan plan; /* over points of pipeline->all */
    enum pipe_schedule_kind kind;
    uint32_t stage;                /* under the cursor; its cut is the one behind it */
    struct pipe_schedule schedule; /* of plan and kind */
    bool signs;                    /* draw ░ and ▓: the theme gives blocks no colour */
    bool ascii;
};

/* Rows each would take. */
void pipeline_draw_stages(const struct pipeline_shown *s, const struct pane *p,
                          const struct head *h);
void pipeline_draw_schedule(const struct pipeline_shown *s, const struct pane *p, bool spaced);
/* C, A, W along the forward order with the cuts: of each part, or summed up and in percent. */
void pipeline_draw_course(const struct pipeline_shown *s, const struct pane *p, bool normalised);
void pipeline_draw_learner(const struct pipeline_shown *s, const struct learn_look *k,
                           const struct pane *p);
/* The network's answer beside the proof, and its scores along the model. `timed` false: pictures
 * have no clock. */
void pipeline_draw_network(const struct pipeline_shown *s, const struct pipeline_look *k,
                           bool timed, const struct pane *p);

/* Memory of the stage under the cursor over the schedule that is shown. */
enum { STAGE_COLUMNS = 256, STAGE_TOPS = 12 };
struct pipeline_memory {
    bool made;
    uint32_t stage;
    double rows[STAGE_COLUMNS][TIMELINE_KINDS]; /* bytes; the most in each part of the makespan */
    struct timeline_peak peak;
    struct timeline_top top[STAGE_TOPS];
    uint32_t tops;
};
int pipeline_memory_make(const struct pipeline_shown *s, struct pipeline_memory *out,
                         struct err *e) MUST_CHECK;
void pipeline_draw_memory(const struct pipeline_shown *s, const struct pipeline_memory *m,
                          const struct pane *p);

/* What the stages of a plan keep for the backward pass, chosen value by value. */
struct pipeline_kept {
    bool made; /* or found impossible */
    char trouble[160];
    struct hybrid_picture picture; /* of the plan as a hybrid one */
};
int pipeline_kept_make(const struct pipeline_shown *s, const struct pipeline_options *o,
                       const struct pipeline_plan *plan, struct pipeline_kept *out,
                       struct err *e) MUST_CHECK;
void pipeline_draw_kept(const struct pipeline_shown *s, const struct pipeline_kept *k,
                        const struct pane *p);
void pipeline_kept_release(struct pipeline_kept *k);

/* "encoder 14": the layer at a cut, in few words. */
void pipeline_layer_text(const struct pipeline *l, uint32_t point, char *out, size_t room);

#endif
