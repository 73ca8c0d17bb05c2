/* tui/watch/question.h - what a row under the cursor is to `w`, where it is more than an
 * instruction or a decision. Pointers are borrowed from the view that asks. */
#ifndef AUTOMAP_TUI_WATCH_QUESTION_H
#define AUTOMAP_TUI_WATCH_QUESTION_H

#include "engine/pipeline/pipeline.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/module/hlo.h"
#include "tui/watch/part.h"

#include <stdbool.h>
#include <stdint.h>

enum question_kind {
    QUESTION_DIM,  /* why is this dim split, or whole: asked by instruction or decision */
    QUESTION_PART, /* a folder of the tree, a row of the cost */
    QUESTION_COLLECTIVE,
    QUESTION_MEMORY,
    QUESTION_RESHARD, /* of `relaxed` */
    QUESTION_STAGE,   /* of `pipeline` */
};

struct question {
    enum question_kind kind;
    struct part part;   /* PART */
    hlo_id instruction; /* COLLECTIVE */
    hlo_value value;    /* MEMORY */
    uint32_t position;  /* MEMORY: of the schedule */
    bool alone;         /* MEMORY: without the values of its shape that live there */
    uint8_t storing;    /* MEMORY, alone: enum memory_storing */
    const struct relaxed_plan *relaxed; /* not NULL: the row is of that plan */
    uint32_t number;                    /* RESHARD: into its reshards */
    const struct pipeline *pipeline;    /* not NULL: the row is of a pipeline */
    const struct pipeline_plan *staged; /* its plan, as shown */
    uint32_t stage;
};

#endif
