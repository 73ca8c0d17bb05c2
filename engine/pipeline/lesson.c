#include "engine/pipeline/lesson.h"

#include "engine/pipeline/descent.h"
#include "engine/pipeline/pipe_exact.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_ENVIRONMENT = 16 /* and those behind it: one each */, DESCENT_MOST = 200 };
#define KNOWN_SLACK 1.4 /* of a plan's L: what is longer is worth no telling apart */

/* The optimum's programme over what is at most KNOWN_SLACK times a plan that is easily had. */
static int solve_lesson(struct lesson *l, double tolerance, struct err *e)
{
    struct pipe_exact_options o = {.device_cut = l->v.device_cut, .stages = l->v.stages};
    struct pipe_infer_state s;
    struct pipe_descent d;

    l->known_ms = INFINITY;
    pipe_infer_start(&l->infer, &s);
    if (pipe_infer_look(&l->infer, &s) && isfinite(l->infer.found_ms)) {
        pipe_descent_start(&d, &l->infer.found, l->infer.found_ms);
        pipe_descend(&d, &l->goal, DESCENT_MOST);
        l->known_ms = d.value;
        o.known_ms = KNOWN_SLACK * d.value;
        o.tolerance_ms = tolerance * d.value;
    }
    int rc = pipe_exact_new(&l->v.in, &o, &l->exact, e);
    while (!rc && pipe_exact_step(l->exact)) {
    }
    return rc;
}

int lesson_new(struct lesson *l, const struct lesson_choice *c, struct rl_rng *rng, struct err *e)
{
    memset(l, 0, sizeof *l);
    rl_rng_seed(rng, c->seed, STREAM_ENVIRONMENT + c->number);
    int rc = environment_new(&l->v, c->range, c->families, rng, e);
    if (rc)
        return rc;
    l->goal =
        (struct pipe_goal){.in = &l->v.in, .device_cut = l->v.device_cut, .stages = l->v.stages};
    rc = pipe_infer_new(&l->infer, &l->goal, l->v.stages, e);
    rc = rc ? rc : solve_lesson(l, c->tolerance, e);
    if (rc)
        lesson_free(l);
    return rc;
}

void lesson_free(struct lesson *l)
{
    pipe_infer_free(&l->infer);
    pipe_exact_free(l->exact);
    environment_free(&l->v);
    free(l->order);
    memset(l, 0, sizeof *l);
}

static int compare_values(const void *a, const void *b)
{
    const struct valued *p = a, *q = b;

    if (p->ms != q->ms)
        return p->ms < q->ms ? -1 : 1;
    return (p->candidate > q->candidate) - (p->candidate < q->candidate);
}

bool lesson_value(struct lesson *l, const struct pipe_infer_state *s)
{
    struct pipe_infer *f = &l->infer;
    uint32_t first = s->plan.device[s->cut - 1], left = f->stages - s->cut;

    if (!pipe_infer_look(f, s) || !mem_grow(&l->order, &l->room, 0, f->count))
        return false;
    for (uint32_t n = 0; n < f->count; n++) {
        struct pipe_infer_state next = *s;
        struct pipe_candidate c = f->candidate[n];
        pipe_infer_play(f, &next, c);
        l->order[n].ms = pipe_exact_behind(l->exact, &next.before, first, c.device, left, c.pivot);
        l->order[n].candidate = n;
    }
    qsort(l->order, f->count, sizeof *l->order, compare_values);
    return true;
}
