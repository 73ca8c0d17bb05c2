/* A pipeline by the pretrained network: its best first decisions played out, then descent. */
#include "engine/pipeline/descent.h"
#include "engine/pipeline/flat_net.h"
#include "engine/pipeline/pipe_infer.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipe_search_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

struct answer {
    struct pipe_infer infer;
    bool ready; /* infer is */
    struct pipe_candidate first[PIPE_INFER_BEAMS];
    uint32_t count, next; /* of the first decisions; to play out */
    bool shared, descends;
    struct pipe_plan best; /* also one that does not fit: descent leads back to those that do */
    double value;
    struct pipe_descent descent;
};

static int answer_start(struct pipe_search *s, struct err *e)
{
    struct answer *a = mem_try(1, sizeof *a);

    s->self = a;
    if (!a)
        return err_no_memory(e, "for the network's pipeline");
    a->value = INFINITY;
    if (s->options.net && s->options.net->flat.parameters && !flat_takes(s->goal.in))
        return err_set(
            e, ERR_INPUT,
            "the paper's network takes up to %d points and %d devices; here are %u and %u",
            FLAT_POINTS, FLAT_DEVICES, s->goal.in->points, s->goal.in->devices);
    int rc = pipe_infer_new(&a->infer, &s->goal, pipe_infer_stages(&s->goal), e);
    a->ready = !rc;
    if (rc)
        return rc;
    a->count = pipe_infer_first(&a->infer, s->options.net, PIPE_INFER_BEAMS, a->first);
    return rc;
}

static void answer_stop(struct pipe_search *s)
{
    struct answer *a = s->self;

    if (a->ready)
        pipe_infer_free(&a->infer);
    free(a);
    s->self = NULL;
}

static void price_answer(struct pipe_search *s, struct answer *a, const struct pipe_plan *p,
                         struct pipe_event *out)
{
    double value = pipe_goal_price(&s->goal, p);

    if (value < a->value) {
        a->value = value;
        a->best = *p;
    }
    pipe_search_priced(s, p, value, out);
}

/* False: that beginning leads nowhere, and nothing was priced. */
static bool play_out(struct pipe_search *s, struct answer *a, struct pipe_event *out)
{
    struct pipe_infer_state state;

    pipe_infer_start(&a->infer, &state);
    a->infer.known_ms = a->value < PIPE_UNFIT_MS ? a->value : INFINITY;
    pipe_infer_play(&a->infer, &state, a->first[a->next++]);
    if (!pipe_infer_finish(&a->infer, s->options.net, &state))
        return false;
    price_answer(s, a, &state.plan, out);
    return true;
}

static bool play_shares(struct pipe_search *s, struct answer *a, struct pipe_event *out)
{
    struct pipe_plan plan;

    a->shared = true;
    if (!pipe_infer_by_share(&a->infer, &plan))
        return false;
    price_answer(s, a, &plan, out);
    return true;
}

/* Each of the first decisions, the plan of equal shares, then descent from the best. */
static bool answer_step(struct pipe_search *s, struct pipe_event *out)
{
    struct answer *a = s->self;
    struct pipe_plan tried;
    double value;

    while (a->next < a->count) {
        if (play_out(s, a, out))
            return true;
    }
    if (!a->shared && play_shares(s, a, out))
        return true;
    if (!a->descends && isfinite(a->value))
        pipe_descent_start(&a->descent, &a->best, a->value);
    a->descends = true;
    if (!isfinite(a->value) || !pipe_descent_step(&a->descent, &s->goal, &tried, &value)) {
        s->done = true;
        return false;
    }
    pipe_search_priced(s, &tried, value, out);
    return true;
}

const struct pipe_search_ops pipe_ops_infer = {
    .start = answer_start, .stop = answer_stop, .step = answer_step};
