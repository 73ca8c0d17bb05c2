/* tui/views/view_hybrid.h - the state of view_hybrid.c; shared by it and hybrid_acts.c only. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_HYBRID_H
#define AUTOMAP_TUI_VIEWS_VIEW_HYBRID_H

#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "tui/views/hybrid_draw.h"
#include "tui/views/panel.h"
#include "tui/watch/hybrid_job.h"
#include "tui/watch/watch.h"

#include <stdbool.h>
#include <stdint.h>

/* What stands below the stages, or below the timeline where there is room for both. */
enum hybrid_part {
    PART_TIMELINE,
    PART_MEMORY,
    PART_MESHES,
    PART_KINDS,
    PART_PINS,
    PART_KEPT,
    PART_WHY,
    PART_COUNT
};

struct hybrid_view {
    struct hybrid_job *job;
    bool starts; /* the job is being left; then another begins with what is asked */
    struct hybrid_asked asked;
    struct hybrid_shot *shot;
    struct hybrid_shown shown;
    enum hybrid_part part;
    uint32_t asked_stage, asked_version; /* of the last question */
    uint32_t said;                       /* changes that were told */
    uint32_t words;                      /* version of the plan the words are of */
    class_id class;                      /* the words are about it; CLASS_NONE: the plan */
    char about[NAME_ROOM];
    char *text;
};

enum hybrid_act {
    HYBRID_VIEW_LEFT,
    HYBRID_VIEW_RIGHT,
    HYBRID_VIEW_EARLIER,
    HYBRID_VIEW_LATER,
    HYBRID_VIEW_NEXT_MESH,
    HYBRID_VIEW_LAST_MESH,
    HYBRID_VIEW_TAKE,
    HYBRID_VIEW_PART,
    HYBRID_VIEW_CUT,
    HYBRID_VIEW_KEEP,
    HYBRID_VIEW_DEVICES,
    HYBRID_VIEW_SERVER,
    HYBRID_VIEW_PIN_TENSOR,
    HYBRID_VIEW_PIN_DATA,
    HYBRID_VIEW_PIN_CLASS,
    HYBRID_VIEW_UNPIN,
    HYBRID_VIEW_STAGES,
    HYBRID_VIEW_BATCHES,
    HYBRID_VIEW_SCHEDULE,
    HYBRID_VIEW_RECOMPUTE,
    HYBRID_VIEW_ZERO,
    HYBRID_VIEW_TENSOR,
    HYBRID_VIEW_DATA,
    HYBRID_VIEW_ALIKE,
    HYBRID_VIEW_RESET,
    HYBRID_VIEW_WHY,
    HYBRID_VIEW_CELL,
    HYBRID_VIEW_SAVE,
    HYBRID_VIEW_BACK
};
/* Leaves the job; another begins with what is asked. */
void hybrid_view_start(struct panel *p);
/* Pins, or options of the search: each begins another one. A plan is shown. False: the action is
 * none of them. */
bool hybrid_view_pin(struct panel *p, int action);
bool hybrid_view_option(struct panel *p, int action);

#endif
