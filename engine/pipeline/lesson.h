/* engine/pipeline/lesson.h - a generated problem with the exact value of every decision. Private to
 * pretraining. */
#ifndef AUTOMAP_ENGINE_PIPELINE_LESSON_H
#define AUTOMAP_ENGINE_PIPELINE_LESSON_H

#include "engine/pipeline/descent.h"
#include "engine/pipeline/environment.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_infer.h"
#include "hlo/support/err.h"
#include "rl/rng.h"

struct valued {
    double ms;
    uint32_t candidate; /* of infer */
};

struct lesson {
    struct environment v;
    struct pipe_goal goal;
    struct pipe_infer infer;
    struct pipe_exact *exact; /* solved */
    double known_ms;          /* a plan's L, easily had; INFINITY: none */
    struct valued *order; /* of the candidates looked at: L of the best completion, best first */
    size_t room;
};

/* Problem `number` of a seed. `tolerance`: of the exact values, in parts of a plan's L; 0: exact.
 * On error nothing is held. */
struct lesson_choice {
    const struct environment_range *range;
    uint32_t families; /* bits, environment.h; 0: all */
    uint64_t seed, number;
    double tolerance;
};
int lesson_new(struct lesson *l, const struct lesson_choice *c, struct rl_rng *rng,
               struct err *e) MUST_CHECK;
void lesson_free(struct lesson *l);

/* Looks at what may be decided and values all of it. False: nothing may, or no memory. */
bool lesson_value(struct lesson *l, const struct pipe_infer_state *s);

#endif
