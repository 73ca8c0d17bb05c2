/* tui/views/schedule_draw.h - a pipeline's schedule as bars over time: a row for each group of
 * devices, its axis and legend below. Shared by the views of pipelines. */
#ifndef AUTOMAP_TUI_VIEWS_SCHEDULE_DRAW_H
#define AUTOMAP_TUI_VIEWS_SCHEDULE_DRAW_H

#include "engine/pipeline/simulation.h"
#include "tui/screen/grid.h"

#include <stddef.h>

struct schedule_shown {
    const struct pipe_schedule *schedule;
    uint32_t rows;           /* groups of devices: stage n is on row n mod rows */
    uint32_t cursor;         /* row */
    bool spaced;             /* a blank row behind each */
    bool signs;              /* draw ░ and ▓: the theme gives blocks no colour */
    const double (*sent)[2]; /* [stages] part of a pass, forward and backward, that its devices
                                spend sending each other; NULL: not told apart */
};

/* "micro-batches 0–7", "1 micro-batch". Returns out. */
char *schedule_batches_text(uint32_t micro_batches, char out[static 40]);

/* "enc 14" of "encoder/layer_014", "layer 3" of "model/layers/3", "17" of "layers[17]", "block 3"
 * of "block_003", "lin 2" of "linear_2"; `nameless` of a stage without layers. */
void schedule_layer_text(const char *layer, const char *nameless, char *out, size_t room);

/* Two rows more than bars. */
void schedule_draw(const struct schedule_shown *s, const struct pane *p);

#endif
