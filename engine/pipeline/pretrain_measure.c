/* What a network reaches on problems that no training draws. */
#include "engine/pipeline/descent.h"
#include "engine/pipeline/environment.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/lesson.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_infer.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pretrain.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/sort.h"
#include "rl/rng.h"

#include <math.h>
#include <stdlib.h>

enum { BEAMS = 8 };
#define HELD_OUT ((uint64_t)1 << 60) /* numbers of problems that no training comes to */

const char *const pretrain_way_names[PRETRAIN_WAY_COUNT] = {
#define X(id, text) text,
    PRETRAIN_WAYS(X)
#undef X
};

static double descended(struct lesson *l, const struct pipe_plan *p)
{
    struct pipe_descent d;

    pipe_descent_start(&d, p, pipe_goal_price(&l->goal, p));
    pipe_descend(&d, &l->goal, 0);
    return d.value;
}

/* L of one pass, of the best of the first decisions played out, and that plan after descent. */
static void play_lesson(struct lesson *l, const struct pipe_net *net, double *pass, double *beams,
                        double *descent)
{
    struct pipe_candidate first[BEAMS];
    uint32_t count = pipe_infer_first(&l->infer, net, BEAMS, first);
    struct pipe_infer_state s;
    struct pipe_plan best, share;

    best = l->infer.found; /* what the first look has found already */
    *pass = *beams = l->infer.found_ms;
    *descent = INFINITY;
    for (uint32_t n = 0; n < count; n++) {
        pipe_infer_start(&l->infer, &s);
        l->infer.known_ms = n ? *beams : INFINITY; /* as an answer does; the pass stands alone */
        pipe_infer_play(&l->infer, &s, first[n]);
        if (!pipe_infer_finish(&l->infer, net, &s))
            continue;
        double ms = pipe_length(&l->v.in, &s.plan);
        *pass = n ? *pass : fmin(*pass, ms);
        if (ms < *beams) {
            *beams = ms;
            best = s.plan;
        }
    }
    l->infer.known_ms = INFINITY;
    if (!isfinite(*beams))
        return;
    if (pipe_infer_by_share(&l->infer, &share) && pipe_length(&l->v.in, &share) < *beams)
        best = share;
    *descent = descended(l, &best);
}

/* True: the proof ended, gap[] holds every way's. */
static bool gaps_of(struct lesson *l, const struct pipe_net *net, double *gap)
{
    struct pipe_exact_result r;
    struct pipe_infer_state s;

    pipe_exact_result(l->exact, &r);
    if (!r.found || !r.certified)
        return false;
    play_lesson(l, net, &gap[PRETRAIN_PASS], &gap[PRETRAIN_BEAMS], &gap[PRETRAIN_ANSWER]);
    pipe_infer_start(&l->infer, &s);
    if (!isfinite(gap[PRETRAIN_PASS]) || !pipe_infer_finish(&l->infer, NULL, &s))
        return false;
    gap[PRETRAIN_GREEDY] = pipe_length(&l->v.in, &s.plan);
    gap[PRETRAIN_GREEDY_DESCENT] = descended(l, &s.plan);
    for (uint32_t k = 0; k < PRETRAIN_WAY_COUNT; k++)
        gap[k] = gap[k] / r.length_ms - 1;
    return true;
}

static void sum_up(double *gap, struct pretrain_gaps *out)
{
    for (int k = 0; k < PRETRAIN_WAY_COUNT; k++) {
        double *row = gap + (size_t)k * out->count;
        sort_doubles(row, out->count);
        for (uint32_t n = 0; n < out->count; n++)
            out->mean[k] += row[n] / out->count;
        out->high[k] = row[out->count * 95 / 100];
    }
}

int pretrain_measure(const struct pipe_net *net, uint32_t range, uint64_t seed, uint32_t count,
                     struct pretrain_gaps *out, struct err *e)
{
    double *all = mem_try((size_t)count * PRETRAIN_WAY_COUNT, sizeof *all);
    double *by_way = mem_try((size_t)count * PRETRAIN_WAY_COUNT, sizeof *all);
    int rc = all && by_way ? 0 : err_no_memory(e, "for the measurement");

    *out = (struct pretrain_gaps){0};
    for (uint32_t n = 0; n < count && !rc; n++) {
        struct lesson_choice choice = {&environment_ranges[range], 0, seed, HELD_OUT + n, 0};
        struct rl_rng rng;
        struct lesson l;
        rc = lesson_new(&l, &choice, &rng, e);
        if (rc)
            break;
        out->count += gaps_of(&l, net, all + (size_t)out->count * PRETRAIN_WAY_COUNT);
        lesson_free(&l);
    }
    for (uint32_t n = 0; n < out->count && !rc; n++) {
        for (uint32_t k = 0; k < PRETRAIN_WAY_COUNT; k++)
            by_way[(size_t)k * out->count + n] = all[(size_t)n * PRETRAIN_WAY_COUNT + k];
    }
    if (!rc && out->count)
        sum_up(by_way, out);
    free(all);
    free(by_way);
    return rc;
}
