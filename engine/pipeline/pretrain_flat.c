#include "engine/pipeline/pretrain_flat.h"

#include "engine/pipeline/environment.h"
#include "engine/pipeline/flat_net.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/lesson.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_net.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "rl/action_set.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/run.h"
#include "rl/save_agent.h"
#include "rl/serialize.h"
#include "rl/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KIND_FLAT_SCHOOL = 21,
    TELL_EVERY = 8, /* problems */
    SAVE_EVERY = 8, /* problems */
};
#define TOLERANCE 2e-4

/* A problem as a game of two decisions a cut: its device, then its point. */
struct flat_game {
    struct lesson *lesson;
    struct pipe_plan plan;
    uint32_t cut, device; /* of the cut; 0: to be decided */
    double length_ms;     /* at the end */
    float problem[FLAT_PARTITION];
};

/* Devices that leave one for each cut to come, or points that do. */
static void legal_flat(void *self, uint64_t *out)
{
    const struct flat_game *g = self;
    const struct environment *v = &g->lesson->v;
    uint32_t left = g->plan.stages - g->cut, more = 0;

    memset(out, 0, rl_words(FLAT_ACTIONS) * sizeof *out);
    if (g->device) {
        for (uint32_t j = g->plan.pivot[g->cut - 1] + 1; j <= v->in.points - left; j++)
            rl_put(out, j);
        return;
    }
    for (uint32_t d = v->in.devices; --d > g->plan.device[g->cut - 1];) {
        more += v->device_cut[d];
        if (v->device_cut[d] && more >= left)
            rl_put(out, FLAT_POINTS + d);
    }
}

/* A decision with one answer is none. */
static void skip_forced(struct flat_game *g)
{
    uint64_t legal[RL_WORDS_MAX];

    legal_flat(g, legal);
    if (!g->device && rl_count(legal, FLAT_ACTIONS) == 1)
        g->device = rl_nth(legal, 0) - FLAT_POINTS;
}

static void start_plan(void *self, struct rl_rng *rng)
{
    struct flat_game *g = self;
    const struct environment *v = &g->lesson->v;

    (void)rng;
    g->plan = (struct pipe_plan){.stages = v->stages};
    g->plan.pivot[v->stages] = v->in.points;
    g->plan.device[v->stages] = v->in.devices;
    g->cut = 1;
    g->device = 0;
    g->length_ms = INFINITY;
    skip_forced(g);
}

static struct rl_outcome play_flat(void *self, uint32_t action, struct rl_rng *rng)
{
    struct flat_game *g = self;
    const struct pipe_instance *in = &g->lesson->v.in;

    (void)rng;
    if (!g->device) {
        g->device = action - FLAT_POINTS;
        return (struct rl_outcome){0, RL_GOES_ON};
    }
    g->plan.device[g->cut] = g->device;
    g->plan.pivot[g->cut++] = action;
    g->device = 0;
    if (g->cut < g->plan.stages) {
        skip_forced(g);
        return (struct rl_outcome){0, RL_GOES_ON};
    }
    g->length_ms = pipe_length(in, &g->plan);
    return (struct rl_outcome){(float)(g->lesson->infer.ideal_ms / g->length_ms), RL_TERMINATED};
}

static void see_flat(void *self, float *out)
{
    const struct flat_game *g = self;

    memcpy(out, g->problem, sizeof g->problem);
    flat_observe_plan(&g->lesson->v.in, &g->plan, g->cut, g->device, out);
}

static struct rl_env flat_env(struct flat_game *g)
{
    return (struct rl_env){.self = g,
                           .observation_size = FLAT_OBSERVATION,
                           .action_count = FLAT_ACTIONS,
                           .reset = start_plan,
                           .step = play_flat,
                           .observe = see_flat,
                           .legal = legal_flat};
}

/* ---- a training ---- */

struct flat_school {
    struct pipe_net net; /* what is known of it; its parameters are the agent's until the end */
    struct flat_game game;
    struct rl_run run;
    struct pretrain_progress progress;
    double loss, gap; /* since the last point of the curve, summed */
    uint64_t updates, problems;
};

/* Options are in it: a state of another recipe is none of this training's. */
static void serialize_flat(struct rl_serializer *w, struct flat_school *c,
                           const struct pretrain_options *o)
{
    uint64_t wanted[] = {o->seed, o->environments, o->range, o->families}, is[4];

    memcpy(is, wanted, sizeof is);
    RL_ONE(w, is);
    w->failed |= memcmp(is, wanted, sizeof is) != 0;
    RL_ONE(w, c->progress.environments);
    RL_ONE(w, c->loss);
    RL_ONE(w, c->gap);
    RL_ONE(w, c->updates);
    RL_ONE(w, c->problems);
    pipe_net_serialize_curve(w, &c->net);
    RL_ONE(w, c->run.rng.s);
    if (w->pass == RL_READ) {
        rl_agent_free(c->run.agent);
        c->run.agent = NULL;
    }
    if (!w->failed)
        rl_agent_serialize(w, &c->run.agent);
    w->failed |= c->progress.environments > o->environments;
}

static int save_flat(struct flat_school *c, const struct pretrain_options *o, struct err *e)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    struct rl_bytes bytes;

    if (!o->state || !c->progress.environments)
        return 0;
    serialize_flat(&measure, c, o);
    if (rl_bytes_open(&bytes, measure.at, &w))
        return err_no_memory(e, "for the training's state");
    serialize_flat(&w, c, o);
    rl_bytes_seal(&bytes, KIND_FLAT_SCHOOL);
    int rc = hlo_file_write(o->state, bytes.data, bytes.size, FILE_REPLACE, e);
    rl_bytes_release(&bytes);
    return rc;
}

static void close_flat(struct flat_school *c)
{
    rl_run_free(&c->run);
    pipe_net_free(&c->net);
}

static int open_flat(struct flat_school *c, const struct pretrain_options *o)
{
    struct rl_settings s = *rl_preset("paper-pp");
    struct rl_env env = flat_env(&c->game);

    *c = (struct flat_school){0};
    memcpy(s.hidden, flat_hidden, sizeof s.hidden);
    c->net.seed = o->seed;
    c->net.environments = o->environments;
    c->net.temperature = 1;
    c->net.range = o->range;
    c->net.families = o->families;
    int code = flat_net_new(&c->net.flat);
    return code ? code : rl_run_new(&c->run, &env, &s, o->seed);
}

/* Of the shape and the widths that flat_net has room for. */
static bool is_flat(const struct rl_agent *a)
{
    const struct rl_shape *s = rl_agent_shape(a);

    return s->observation_size == FLAT_OBSERVATION && s->action_count == FLAT_ACTIONS &&
           s->context_count <= 1 &&
           !memcmp(rl_agent_settings(a)->hidden, flat_hidden, sizeof rl_agent_settings(a)->hidden);
}

/* A state that fits: the agent is such a one, and stands between two episodes. */
static bool resume_flat(struct flat_school *c, const struct pretrain_options *o)
{
    struct rl_serializer w;
    struct rl_bytes bytes = {0};
    bool ok = o->state && !rl_bytes_read(&bytes, o->state) &&
              !rl_bytes_check(bytes.data, bytes.size, KIND_FLAT_SCHOOL, &w);

    if (ok) {
        serialize_flat(&w, c, o);
        ok = !w.failed && w.at == w.size && is_flat(c->run.agent);
    }
    rl_bytes_release(&bytes);
    return ok;
}

static int enter_flat(struct flat_school *c, const struct pretrain_options *o)
{
    int code = open_flat(c, o);

    if (code)
        return code;
    c->progress.resumed = resume_flat(c, o);
    if (c->progress.resumed || !o->state)
        return RL_OK;
    close_flat(c);
    return open_flat(c, o);
}

/* The gap of the network's own plan, before it learns from the problem; none where the optimum is
 * not known. */
static int try_first(struct flat_school *c, struct err *e)
{
    struct pipe_exact_result best;
    struct rl_env env = flat_env(&c->game);
    struct rl_rng none;
    double reward;
    int code;

    pipe_exact_result(c->game.lesson->exact, &best);
    if (!best.found || best.ended)
        return 0;
    rl_rng_seed(&none, 0, 0);
    code = rl_run_trial(c->run.agent, &env, 0, &none, &reward);
    if (code)
        return err_set(e, ERR_MEMORY, "%s", rl_error_text(code));
    c->gap += c->game.length_ms / best.length_ms - 1;
    c->problems++;
    return 0;
}

static int explore_problem(struct flat_school *c, const struct pretrain_options *o, struct err *e)
{
    struct rl_step step;

    for (int n = 0; n < FLAT_EPISODES; n++) {
        do {
            int code = rl_run_step(&c->run, -1, &step);
            if (code)
                return err_set(e, ERR_INPUT, "%s", rl_error_text(code));
            if (step.updates > 0)
                c->loss += step.update.loss;
            c->updates += (uint64_t)step.updates;
        } while (step.end == RL_GOES_ON);
        if (o->stop && atomic_load(o->stop))
            return err_set(e, ERR_INFEASIBLE, "stopped");
    }
    return 0;
}

static int learn_problem(struct flat_school *c, const struct pretrain_options *o, struct err *e)
{
    struct lesson_choice choice = {&environment_ranges[o->range], o->families, o->seed,
                                   c->progress.environments, TOLERANCE};
    struct lesson lesson;
    struct rl_rng rng;
    int rc = lesson_new(&lesson, &choice, &rng, e);

    if (rc)
        return rc;
    c->game.lesson = &lesson;
    flat_observe_problem(&lesson.v.in, c->game.problem);
    start_plan(&c->game, NULL);
    rc = try_first(c, e);
    rc = rc ? rc : explore_problem(c, o, e);
    c->game.lesson = NULL;
    lesson_free(&lesson);
    return rc;
}

/* A point of the curve: of every so many problems, so that all fit. */
static void note_flat(struct flat_school *c, const struct pretrain_options *o)
{
    uint64_t every = (o->environments + PIPE_NET_CURVE_MOST - 1) / PIPE_NET_CURVE_MOST;
    struct pretrain_progress *p = &c->progress;
    struct rl_counts counts = rl_agent_counts(c->run.agent);

    p->states = counts.decisions;
    p->updates = counts.updates;
    p->loss = c->updates ? c->loss / (double)c->updates : 0;
    p->gap = pretrain_mean_gap(c->gap, c->problems);
    if ((p->environments % every && p->environments != o->environments) ||
        c->net.points == PIPE_NET_CURVE_MOST)
        return;
    c->net.loss = p->loss;
    c->net.curve[c->net.points++] = (struct pipe_net_point){p->environments, p->loss, p->gap};
    c->loss = c->gap = 0;
    c->updates = c->problems = 0;
}

static int stop_flat(const struct flat_school *c, const struct pretrain_options *o, struct err *e)
{
    uint64_t kept = c->progress.environments / SAVE_EVERY * SAVE_EVERY;

    if (!o->state || !kept)
        return err_set(e, ERR_INFEASIBLE, "stopped after %llu problems",
                       (unsigned long long)c->progress.environments);
    return err_set(e, ERR_INFEASIBLE,
                   "stopped; the same command goes on from the %llu problems in %.200s",
                   (unsigned long long)kept, o->state);
}

/* Episodes of a problem that was broken off would change what comes next: the state on disk stays
 * that of the last save. */
static int train_flat(struct flat_school *c, const struct pretrain_options *o,
                      void (*tell)(void *self, const struct pretrain_progress *p), void *self,
                      struct err *e)
{
    while (c->progress.environments < o->environments) {
        int rc = learn_problem(c, o, e);
        if (rc == ERR_INFEASIBLE && o->stop && atomic_load(o->stop))
            return stop_flat(c, o, e);
        if (rc)
            return rc;
        c->progress.environments++;
        note_flat(c, o);
        uint64_t done = c->progress.environments;
        if (tell && (done % TELL_EVERY == 0 || done == o->environments))
            tell(self, &c->progress);
        if (done % SAVE_EVERY == 0)
            rc = save_flat(c, o, e);
        if (rc)
            return rc;
    }
    return 0;
}

int pretrain_flat(const struct pretrain_options *o,
                  void (*tell)(void *self, const struct pretrain_progress *p), void *self,
                  struct pipe_net *out, struct err *e)
{
    struct flat_school *c = calloc(1, sizeof *c);
    int rc, code = c ? enter_flat(c, o) : RL_E_MEMORY;

    *out = (struct pipe_net){0};
    if (code) {
        rc = err_set(e, ERR_MEMORY, "%s", rl_error_text(code));
        goto out;
    }
    rc = train_flat(c, o, tell, self, e);
    if (rc)
        goto out;
    memcpy(c->net.flat.parameters, rl_agent_parameters(c->run.agent),
           c->net.flat.net.parameters * sizeof(float));
    *out = c->net;
    c->net = (struct pipe_net){0};
out:
    if (c)
        close_flat(c);
    free(c);
    return rc;
}
