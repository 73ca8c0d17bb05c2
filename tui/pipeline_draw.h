/* tui/pipeline_draw.h - the parts of view_pipeline.c; shared by it and pipeline_draw.c only. */
#ifndef AUTOMAP_TUI_PIPELINE_DRAW_H
#define AUTOMAP_TUI_PIPELINE_DRAW_H

#include "tui/panel.h"
#include "tui/pipeline_job.h"

struct pipeline_shown {
    const struct pipeline *pipeline;
    struct pipe_plan plan;              /* over points of pipeline->all */
    enum pipe_schedule_kind kind;
    uint32_t stage;                     /* under the cursor; its cut is the one behind it */
    struct pipe_schedule schedule;      /* of plan and kind */
    bool signs;                         /* draw ░ and ▓: the theme gives blocks no colour */
    bool ascii;
};

/* Rows each would take. */
void pipeline_draw_stages(const struct pipeline_shown *s, const struct pane *p, const struct head *h);
void pipeline_draw_schedule(const struct pipeline_shown *s, const struct pane *p, bool spaced);
void pipeline_draw_course(const struct pipeline_shown *s, const struct pane *p); /* C, A, W with the cuts */
/* "encoder 14": the layer at a cut, in few words. */
void pipeline_layer_text(const struct pipeline *l, uint32_t point, char *out, size_t room);

#endif
