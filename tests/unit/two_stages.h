/* tests/unit/two_stages.h - a pipeline of two stages, whatever was found: what one stage has to say
 * of another does not hang on the search. */
#ifndef AUTOMAP_TESTS_TWO_STAGES_H
#define AUTOMAP_TESTS_TWO_STAGES_H

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"

/* Half of the points on half of the devices. */
static inline void cut_in_two(const struct pipeline *l, struct pipeline_plan *out)
{
    struct pipe_plan p = pipe_plan_whole(&l->all);

    p.stages = 2;
    p.pivot[2] = p.pivot[1];
    p.device[2] = p.device[1];
    p.pivot[1] = l->all.points / 2;
    p.device[1] = l->all.devices / 2;
    pipeline_price(l, &p, out);
}

#endif
