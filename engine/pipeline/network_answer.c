#include "engine/pipeline/network_answer.h"

#include "engine/pipeline/descent.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipe_search_ops.h"
#include "engine/pipeline/space.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

/* The value that a score claims. Without a network scores are lengths: gaps are then shares of the
 * time that none goes below. */
static float claim_of(const struct pipe_infer *f, const struct pipe_net *net, float best,
                      float score)
{
    if (net && net->flat.parameters)
        return best > 0 ? fmaxf(0, score / best) : 1;
    double temperature = net ? net->temperature : 1 / f->ideal_ms;
    return (float)(1 / (1 + temperature * (double)(best - score)));
}

/* The values of one decision's candidates, the best of each part of the model. */
static void note_decision(const struct pipe_infer *f, const struct pipe_net *net,
                          struct network_pass *out, struct pipe_candidate taken)
{
    float best = -INFINITY;

    if (out->decisions++ >= NETWORK_DECISIONS)
        return;
    float *value = out->of[out->decisions - 1].value;
    out->of[out->decisions - 1].pivot = taken.pivot;
    out->of[out->decisions - 1].device = taken.device;
    out->of[out->decisions - 1].candidates = f->count;
    for (uint32_t n = 0; n < f->count; n++)
        best = fmaxf(best, f->score[n]);
    for (uint32_t n = 0; n < f->count; n++) {
        uint32_t column =
            (uint32_t)((uint64_t)f->candidate[n].pivot * out->columns / f->goal->in->points);
        value[column] = fmaxf(value[column], claim_of(f, net, best, f->score[n]));
    }
}

static int make_pass(const struct pipeline *l, const struct pipe_net *net, struct network_pass *out,
                     struct err *e)
{
    struct pipe_goal goal = {.in = &l->few,
                             .stages = l->options.stages,
                             .variables = true,
                             .pins = pipeline_pins(l, &l->few),
                             .stop = l->options.stop};
    struct pipe_infer f;
    struct pipe_infer_state s;
    struct pipe_candidate taken;
    int rc = pipe_infer_new(&f, &goal, pipe_infer_stages(&goal), e);

    if (rc)
        return rc;
    out->columns = l->few.points < NETWORK_COLUMNS ? l->few.points : NETWORK_COLUMNS;
    pipe_infer_start(&f, &s);
    while (s.cut < f.stages && pipe_infer_decide(&f, net, &s, &taken)) {
        note_decision(&f, net, out, taken);
        pipe_infer_play(&f, &s, taken);
    }
    pipe_infer_free(&f);
    return 0;
}

static int ask_network(const struct pipeline *l, const struct pipe_net *net,
                       struct network_answer *out, struct err *e)
{
    struct pipe_search_options o = {.algorithm = PIPE_SEARCH_INFER,
                                    .space = pipe_space_paper(),
                                    .net = net,
                                    .stop = l->options.stop};
    struct pipe_search *s;
    struct pipe_event event;

    o.space.stages = l->options.stages;
    o.space.pins = pipeline_pins(l, &l->few);
    int rc = pipe_search_new(&l->few, &o, &s, e);
    if (rc)
        return rc;
    while (!stop_asked(o.stop) && pipe_search_step(s, &event)) {
    }
    const struct pipe_best *best = pipe_search_best(s);
    out->found = isfinite(best->length_ms);
    out->plan = best->plan;
    out->length_ms = best->length_ms;
    out->plans = pipe_search_evaluations(s);
    pipe_search_free(s);
    return 0;
}

int network_answer_make(const struct pipeline *l, const struct pipe_net *net,
                        struct network_answer *out, struct err *e)
{
    *out = (struct network_answer){.length_ms = INFINITY};
    int rc = ask_network(l, net, out, e);
    rc = rc ? rc : make_pass(l, net, &out->pass, e);
    return rc == ERR_INFEASIBLE ? 0 : rc;
}
